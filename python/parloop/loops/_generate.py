"""Code, types and checks of programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from .._parloop import LoopError
from ._callable import Lookup
from ._kernel import Kernel
from ._program import Options, Program, build, generated_preambles, target_name, then
from ._targets import TargetBase

_P = TypeVar("_P", Program, Kernel)
_Made = TypeVar("_Made", bound=Program)

__all__ = [
    "GeneratedCode",
    "add_and_infer_dtypes",
    "add_dtypes",
    "generate_code",
    "generate_code_v2",
    "get_one_linearized_kernel",
    "get_one_scheduled_kernel",
    "infer_unknown_types",
    "make_einsum",
    "preprocess_kernel",
    "preprocess_program",
    "register_callable",
    "register_callable_kernel",
    "register_function_lookup",
    "register_function_manglers",
    "register_preamble_generators",
    "register_symbol_manglers",
    "set_options",
]


def _lifted(change: Callable[[Program], Program], given: _P) -> _P:
    """Changes a program, or the program of a kernel."""
    if isinstance(given, Kernel):
        return type(given)(change(given.program), given.name)
    return change(given)


def generate_code(program: Program, target: Any = None) -> str:
    """The source of a program for a target: c, opencl, cuda, hip or ispc.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", [lp.GlobalArg("a", np.float32), ...])
    >>> "get_global_id" in lp.generate_code(lp.tag_inames(knl, "i:g.0"), "opencl") or "get_group_id" in lp.generate_code(
    ...     lp.tag_inames(knl, "i:g.0"), "opencl")
    True
    """
    return program.code(target)


class GeneratedCode:
    """What `generate_code_v2` gives."""

    def __init__(self, program: Program, target: Any) -> None:
        self._device = program.code(target)
        self._host = "\n".join(program._schedule(target_name(target), name) for name in program.entrypoints)

    def device_code(self) -> str:
        """The source of all kernels."""
        return self._device

    def host_code(self) -> str:
        """The launches, in order; the runtime makes them, so that there is no source."""
        return self._host

    def all_code(self) -> str:
        """Both."""
        return f"{self._device}\n{self._host}"


def generate_code_v2(program: Program | Kernel, target: Any = None) -> GeneratedCode:
    """The code of a program, as an object with `device_code` and `host_code`."""
    if isinstance(program, Kernel):
        program = program.program.with_entrypoints([program.name])
    return GeneratedCode(program, target)


def add_dtypes(program: _P, types: Mapping[str, Any]) -> _P:
    """Gives arguments and temporaries types; a key may have several names with commas between them.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> lp.add_dtypes(knl, {"a,out": np.float32}).default_entrypoint.arg_dict["a"].dtype
    dtype('float32')
    """
    split = {name.strip(): getattr(dtype, "numpy_dtype", dtype) for names, dtype in types.items() for name in names.split(",")}

    def change(whole: Program) -> Program:
        _, unknown = whole._with_types(split)
        if unknown:
            raise LoopError(f"the program has no argument or temporary {', '.join(unknown)}")
        return then(whole, "_with_types", split)

    return _lifted(change, program)


def infer_unknown_types(program: _P, expect_completion: bool = False) -> _P:
    """Finds the types that follow from others; all must be found if `expect_completion`."""
    return _lifted(lambda whole: then(whole, "_with_inferred_types", not expect_completion), program)


def add_and_infer_dtypes(program: _P, types: Mapping[str, Any], expect_completion: bool = False) -> _P:
    """`add_dtypes`, then `infer_unknown_types`.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> lp.add_and_infer_dtypes(knl, {"a": np.float32}).default_entrypoint.arg_dict["out"].dtype
    dtype('float32')
    """
    return infer_unknown_types(add_dtypes(program, types), expect_completion)


def set_options(program: _P, *args: Any, **said: Any) -> _P:
    """Says how code is made and checked: ``return_dict``, ``checked``, ``annotate_inames``, ``build_options`` ….

    ``checked`` is True, False, or None to leave it to the environment variable ``PARLOOP_CHECKED``.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.set_options(lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]"), return_dict=True)
    >>> sorted(knl(a=np.ones(2))[1])
    ['out']
    """
    for given in args:
        if isinstance(given, str):
            said.update({name.strip(): True for name in given.split(",") if name.strip()})
        else:
            said.update(vars(given) if isinstance(given, Options) else given)
    return _lifted(lambda whole: then(whole, "_with_options", said), program)


def preprocess_program(program: Program) -> Program:
    """Finds types, realises reductions and decides where temporaries live."""
    return then(program, "_prepared")


def preprocess_kernel(program: _P) -> _P:
    """`preprocess_program` by its older name."""
    return _lifted(preprocess_program, program)


def get_one_linearized_kernel(program: _P, *unused: Any) -> _P:
    """A program of which a schedule can be made; `Program.code` shows it."""
    return preprocess_kernel(program)


def get_one_scheduled_kernel(program: _P, *unused: Any) -> _P:
    """`get_one_linearized_kernel` by its older name."""
    return preprocess_kernel(program)


def register_callable(program: Program, function_identifier: str, callable_: Any, redefining_not_ok: bool = True) -> Program:
    """Lets kernels call a `ScalarCallable`, or a kernel, by a name."""
    if isinstance(callable_, Kernel):
        return register_callable_kernel(program, callable_, function_identifier)
    if isinstance(callable_, Program):
        return register_callable_kernel(program, callable_, function_identifier)
    return then(program, "_register_callable", function_identifier, callable_, not redefining_not_ok)


def register_callable_kernel(program: Program, callee: Any, name: Any = None) -> Program:
    """Lets kernels call the kernel of another program; by its own name if no other is given.

    >>> import numpy as np, parloop.loops as lp
    >>> twice = lp.make_function("{[i]: 0<=i<4}", "y[i] = 2*x[i]", name="twice")
    >>> knl = lp.make_kernel("{[i]: 0<=i<4}", "[i]: b[i] = twice([i]: a[i])", [lp.GlobalArg("a,b", shape=(4,))])
    >>> lp.register_callable_kernel(knl, twice)(a=np.arange(4.0))[1][0]
    array([0., 2., 4., 6.])
    """
    if isinstance(callee, str):
        # The older order of arguments: the name, then the kernel.
        callee, name = name, callee
    kernel = callee if isinstance(callee, Kernel) else callee.default_entrypoint
    return then(program, "_register_kernel", name or kernel.name, kernel.program, kernel.name)


def register_function_lookup(program: Program, lookup: Callable[[TargetBase | None, str], Any]) -> Program:
    """Lets a function of a target and a name find callables; it returns `None` for names that it does not know."""
    return then(program, "_register_lookup", Lookup(functions=lookup))


def register_function_manglers(program: Program, manglers: Iterable[Callable[..., Any]]) -> Program:
    """Lets functions of a kernel, a name and types say what is called; each returns a `CallMangleInfo` or `None`."""
    return then(program, "_register_lookup", Lookup(manglers=manglers))


def register_symbol_manglers(program: Program, manglers: Iterable[Callable[[Any, str], Any]]) -> Program:
    """Lets functions of a kernel and a name say what a symbol stands for: a pair of a type and a text, or `None`."""
    return then(program, "_register_lookup", Lookup(symbols=manglers))


def register_preamble_generators(program: Program, generators: Iterable[Callable[[Any], Iterable[tuple[str, str]]]]) -> Program:
    """Puts the texts that functions give in front of the code, sorted by their keys."""
    return then(program, "_with_preambles", generated_preambles(program, generators))


def make_einsum(spec: str, arg_names: str | Iterable[str], **said: Any) -> Program:
    """A kernel that sums products, in Einstein's notation.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_einsum("ij,j->i", "a,x")
    >>> knl(a=np.eye(2), x=np.array([1.0, 2.0]))[1][0]
    array([1., 2.])
    """
    return einsum(Program, spec, arg_names, said)


def einsum(into: type[_Made], spec: str, arg_names: str | Iterable[str], said: dict[str, Any]) -> _Made:
    """`make_einsum` for a class of programs."""
    names = [name.strip() for name in arg_names.split(",")] if isinstance(arg_names, str) else list(arg_names)
    inputs, arrow, output = spec.replace(" ", "").partition("->")
    operands = inputs.split(",")
    if len(operands) != len(names):
        raise LoopError(f"{spec!r} has {len(operands)} operands, but {len(names)} names were given: {', '.join(names)}")
    letters = "".join(dict.fromkeys("".join(operands)))
    if not arrow:
        output = "".join(sorted(letter for letter in letters if "".join(operands).count(letter) == 1))
    if len(set(output)) != len(output):
        raise LoopError(f"{spec!r} repeats an index in its result")
    lost = sorted(set(output) - set(letters))
    if lost:
        raise LoopError(f"{spec!r} has {', '.join(lost)} in its result but in no operand")
    summed = [letter for letter in letters if letter not in output]
    product = " * ".join(f"{name}[{', '.join(indices)}]" if indices else name for name, indices in zip(names, operands))
    value = f"sum(({', '.join(summed)}), {product})" if len(summed) > 1 else f"sum({summed[0]}, {product})" if summed else product
    result = f"out[{', '.join(output)}]" if output else "out"
    bounds = " and ".join(f"0<={letter}<N{letter}" for letter in letters)
    domain = f"{{[{', '.join(letters)}]: {bounds}}}" if letters else "{:}"
    if not output and "kernel_data" not in said:
        from ._data import GlobalArg

        said["kernel_data"] = [GlobalArg("out", shape=()), ...]
    data = said.pop("kernel_data", None)
    return build(into, domain, f"{result} = {value}", data, said, function=False)
