"""Programs: kernels and what they call."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from .._html import preformatted, source
from .._parloop import LoopError, _LoopProgram
from .._parloop import _fuse_loop_kernels as _fuse
from .._parloop import _make_loop_program as _make
from .._parloop import _merge_loop_programs as _merge
from .._parloop import _read_loop_program as _read
from ._data import auto
from ._kernel import Kernel
from ._targets import TargetBase, target_named

if TYPE_CHECKING:
    from ._report import Report

__all__ = ["LoopWarning", "Options", "Program", "apply", "fused", "make_function", "make_kernel", "merge", "of_class", "read_kernel", "then", "with_tags"]

_P = TypeVar("_P", "Program", Kernel)
_Made = TypeVar("_Made", bound="Program")


class LoopWarning(UserWarning):
    """What may be a mistake in a kernel."""


class Options:
    """Choices about code and checks, as `set_options` and `make_kernel` take them.

    >>> import parloop.loops as lp
    >>> lp.Options(return_dict=True)
    Options(return_dict=True)
    """

    def __init__(self, **said: Any) -> None:
        self.__dict__.update(said)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return False

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Program(_LoopProgram):
    """Kernels and what they call. Made by `make_kernel`; transformations make others of it; a call runs it.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    >>> event, (out,) = knl(a=np.arange(4.0))
    >>> out
    array([0., 2., 4., 6.])
    """

    _kernel_class = Kernel
    _target_said: TargetBase | None = None
    # How it was made, step by step, so that it can be made again elsewhere: names of methods and their arguments.
    _history: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    # Objects that tags of inames, and of the kernels, stand for.
    _tag_objects: Mapping[str, Any] = MappingProxyType({})
    _kernel_tags: Mapping[str, frozenset[Any]] = MappingProxyType({})

    def report(self) -> Report:
        """How the last call went: time, GB/s, GFLOP/s and their share of what the device was measured to do.

        >>> import numpy as np, parloop as pl, parloop.loops as lp
        >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "y[i] = y[i] + 2*x[i]")
        >>> event, (y,) = knl(pl.Context("cpu:1"), x=np.ones(1000), y=np.ones(1000))
        >>> print(knl.report())  # doctest: +ELLIPSIS
        loopy_kernel on cpu:1: ... ms, ... GB/s (... the measured limit), ... GFLOP/s (... the measured limit)
        """
        from ._report import report

        return report(self)

    def code(self, target: Any = None, entrypoint: str | None = None) -> str:
        """The source for a target: c, opencl, cuda, hip or ispc.

        >>> import numpy as np, parloop.loops as lp
        >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", [lp.GlobalArg("a", np.float32), ...])
        >>> print(knl.code("c").split("{")[0].split("\\n")[-2])
        void loopy_kernel(float const *__restrict__ a, int32_t const n, float *__restrict__ out)
        """
        if entrypoint is None and len(self._entrypoints) > 1:
            return "\n".join(self._code(target_name(target), name) for name in self._entrypoints)
        return self._code(target_name(target), entrypoint)

    def _repr_html_(self) -> str:
        try:
            found = self.code()
        except LoopError:
            # Without types there is no code yet.
            return preformatted(self)
        return source(", ".join(self._entrypoints), found)

    @property
    def entrypoints(self) -> frozenset[str]:
        """The names of the kernels that are called from outside."""
        return frozenset(self._entrypoints)

    @property
    def target(self) -> TargetBase | None:
        """What code is written for, if it was said."""
        said = self._target_said
        return said if said is not None and said._name == self._target else target_named(self._target)

    @property
    def default_entrypoint(self) -> Kernel:
        """The only kernel that is called from outside."""
        names = self._entrypoints or [name for name, is_kernel, _ in self._callables if is_kernel]
        if len(names) != 1:
            raise LoopError(f"the program has {len(names)} entry points, {', '.join(names)}; select one: program[name]")
        return self[names[0]]

    def __getitem__(self, name: str) -> Kernel:
        """The kernel of that name."""
        return self._kernel_class(self, name)

    @property
    def callables_table(self) -> Mapping[str, Any]:
        """All that can be called, by name: kernels, functions written in Python, and the names of the target's own."""
        return {name: self[name] if is_kernel else found or name for name, is_kernel, found in self._callables}

    @property
    def scoped_functions(self) -> Mapping[str, Any]:
        """`callables_table` by its older name."""
        return self.callables_table

    def with_kernel(self, kernel: Kernel) -> Program:
        """With a kernel in the place of the one of its name."""
        made = then(self, "_with_kernel", kernel.program, kernel.name)
        made._tag_objects = {**self._tag_objects, **kernel.program._tag_objects}
        return with_tags(made, kernel.name, kernel.tags)

    def with_entrypoints(self, names: str | Iterable[str]) -> Program:
        """With those kernels, and no others, called from outside."""
        split = [name.strip() for name in names.split(",")] if isinstance(names, str) else sorted(names)
        return then(self, "_with_entrypoints", split)

    def copy(self, target: Any = None) -> Program:
        """The same, for another target if one is given."""
        return self if target is None else then(self, "_with_target", target_name(target) or "c")

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> Any:
        if not self._history:
            raise TypeError("a program created by a call cannot be pickled; pickle the one that was called")
        return replay, (type(self), self._history, self._target_said, dict(self._tag_objects), dict(self._kernel_tags))

    def __iter__(self) -> Iterator[str]:
        raise TypeError("a program is not a sequence; take its kernels by name: program[name]")


def of_class(like: Program, made: _LoopProgram) -> Program:
    """What Rust made, as an object of the class of `like`."""
    program = type(like)(made)
    if like._target_said is not None:
        program._target_said = like._target_said
    program._tag_objects, program._kernel_tags = like._tag_objects, like._kernel_tags
    return program


def then(program: Program, method: str, *args: Any) -> Program:
    """What a method of Rust's makes of a program, with the step added to its history."""
    found = getattr(program, method)(*args)
    made = of_class(program, found[0] if isinstance(found, tuple) else found)
    made._history = (*program._history, (method, _snapshot(args)))
    return made


def _snapshot(value: Any) -> Any:
    """Copies containers, so later changes by the caller have no effect here."""
    if isinstance(value, dict):
        return {key: _snapshot(item) for key, item in value.items()}
    if type(value) in (list, tuple, set):
        return type(value)(map(_snapshot, value))
    return value


def replay(
    into: type[Program], history: Any, target: TargetBase | None, tags: dict[str, Any], kernel_tags: dict[str, frozenset[Any]]
) -> Program:
    """Makes a program again, step by step."""
    (first, (given,)), *steps = history
    makers: dict[str, Callable[..., Any]] = {
        "make": lambda given: _make(given)[0],
        "read": lambda given: _read(*given),
        "merge": _merge,
        "fuse": lambda given: _fuse(*given),
    }
    program = into(makers[first](given))
    for method, args in steps:
        found = getattr(program, method)(*args)
        program = into(found[0] if isinstance(found, tuple) else found)
    program._history, program._target_said = tuple(history), target
    program._tag_objects, program._kernel_tags = tags, kernel_tags
    return program


def with_tags(program: Program, kernel: str, tags: Iterable[Any]) -> Program:
    """With these objects as the tags of a kernel."""
    made = of_class(program, program)
    made._history = program._history
    made._kernel_tags = {**program._kernel_tags, kernel: frozenset(tags)}
    return made


def target_name(target: Any) -> str | None:
    """The name by which Rust knows a target."""
    return target if target is None or isinstance(target, str) else str(target._name)


def apply(program: _P, step: str, *args: Any, **named: Any) -> _P:
    """Does the transformation of that name on a program, or on one kernel of it. What is `None` counts as not given."""
    given = {key: value for key, value in named.items() if value is not None}
    if isinstance(program, Kernel):
        whole = then(program.program, "_apply", step, args, {**given, "in_kernel": program.name})
        return type(program)(whole, program.name)
    return then(program, "_apply", step, args, given)


def make_kernel(domains: Any, instructions: Any, kernel_data: Iterable[Any] | None = None, **said: Any) -> Program:
    """A program of one kernel: what to compute for each point of its domains.

    Parameters
    ----------
    domains : str or list of str
        Sets of integers in isl's notation: ``"{[i,j]: 0<=i,j<n}"``.
    instructions : str or list
        One a line: ``"c[i,j] = sum(k, a[i,k]*b[k,j])"``; also `Assignment` and its like.
    kernel_data : list, optional
        Arguments and temporaries; ``...`` stands for all others. Everything is found from the instructions when it is not given.
    name, assumptions, default_order, default_offset, fixed_parameters, options, target, seq_dependencies, index_dtype : optional
        See the guide.
    tags : set, optional
        Objects that the kernel carries along; they say nothing to the compiler.

    Examples
    --------
    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,k]: 0<=i,k<n}", "y[i] = sum(k, a[i,k]*x[k])")
    >>> event, (y,) = knl(a=np.eye(3), x=np.array([1.0, 2.0, 3.0]))
    >>> y
    array([1., 2., 3.])
    """
    return build(Program, domains, instructions, kernel_data, said, function=False)


def make_function(domains: Any, instructions: Any, kernel_data: Iterable[Any] | None = None, **said: Any) -> Program:
    """As `make_kernel`, for a kernel that others call.

    >>> import numpy as np, parloop.loops as lp
    >>> twice = lp.make_function("{[i]: 0<=i<4}", "y[i] = 2*x[i]", name="twice")
    >>> knl = lp.make_kernel("{[i]: 0<=i<4}", "[i]: b[i] = twice([i]: a[i])", [lp.GlobalArg("a,b", shape=(4,))])
    >>> event, (b,) = lp.merge([knl, twice])(a=np.arange(4.0))
    >>> b
    array([0., 2., 4., 6.])
    """
    return build(Program, domains, instructions, kernel_data, said, function=True)


def read_kernel(path: str | os.PathLike[str], trusted: bool = False) -> Program:
    """The program of a `.loop` file, after the transformations that the file lists.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : bool, optional
        Accept C code in the file (``preamble`` lines and instructions ``... c``) and options that replace checks. Such a file can do
        whatever a program can.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile, parloop.loops as lp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "twice.loop")
    ...     _ = path.write_text("kernel twice\\ndomain {[i]: 0 <= i < n}\\ninstructions\\n  out[i] = 2*a[i]\\n\\nsplit_iname i 4\\n")
    ...     knl = lp.read_kernel(path)
    >>> event, (out,) = knl(a=np.arange(3.0))
    >>> out
    array([0., 2., 4.])
    """
    text = Path(path).read_text(encoding="utf-8")
    made = Program(_read(text, trusted))
    made._history = (("read", ((text, trusted),)),)
    return made


# Options that this compiler ignores.
_WITHOUT_MEANING = {"lang_version", "flags", "silenced_warnings", "symbol_manglers", "preamble_generators", "applied_iname_rewrites"}


def build(
    into: type[_Made], domains: Any, instructions: Any, data: Iterable[Any] | None, said: dict[str, Any], function: bool
) -> _Made:
    """Makes a program as an object of that class."""
    described = {key: "auto" if value is auto else value for key, value in said.items() if value is not None and key not in _WITHOUT_MEANING}
    target = described.get("target")
    if target is not None:
        described["target"] = target_name(target)
    tags = described.pop("tags", None)
    options = _options(said.get("options"))
    silenced = said.get("silenced_warnings")
    if silenced:
        options["silenced_warnings"] = silenced.split(";") if isinstance(silenced, str) else list(silenced)
    described["options"] = options
    index = described.get("index_dtype")
    if index is not None:
        described["index_dtype"] = getattr(index, "numpy_dtype", index)
    described.update(domains=_several(domains), function=function)
    described["instructions"], rules = _instruction_texts(instructions)
    if data is not None or rules:
        items = ["..."] if data is None else [data] if isinstance(data, str) else list(data)
        described["data"] = [item._describe() if hasattr(item, "_describe") else _loose(item) for item in [*items, *rules]]
    program, found = _make(described)
    for name, message in found:
        warnings.warn(f"{name}: {message}", LoopWarning, stacklevel=4)
    made = into(program)
    made._history = (("make", (_snapshot(described),)),)
    if tags:
        names = made._entrypoints or [name for name, is_kernel, _ in made._callables if is_kernel]
        made = with_tags(made, names[0], tags)  # type: ignore[assignment]
    generators = said.get("preamble_generators")
    if generators:
        made = then(made, "_with_preambles", generated_preambles(made, generators))  # type: ignore[assignment]
    if isinstance(target, TargetBase):
        made._target_said = target
    return made


class _PreambleInfo:
    """What a generator of texts can ask."""

    def __init__(self, program: Program) -> None:
        self.kernel, self.target = program, program.target
        self.seen_functions: frozenset[Any] = frozenset()
        self.seen_dtypes: frozenset[Any] = frozenset()


def generated_preambles(program: Program, generators: Iterable[Callable[[Any], Iterable[tuple[str, str]]]]) -> list[tuple[str, str]]:
    """The texts that functions give for the front of a program's code."""
    info = _PreambleInfo(program)
    return [(str(key), str(value)) for generator in generators for key, value in generator(info)]


def _options(given: Any) -> dict[str, Any]:
    """Options as a dictionary; `"no_numpy,return_dict"` is one too."""
    if given is None or isinstance(given, dict):
        return dict(given or {})
    if isinstance(given, Options):
        return dict(vars(given))
    return {name.strip(): True for name in str(given).split(",") if name.strip()}


def _several(given: Any) -> list[Any]:
    """One text or object, or several."""
    return [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)


def _instruction_texts(given: Any) -> tuple[list[str], list[Any]]:
    """The lines, and the substitution rules among the objects."""
    items = _several(given)
    rules = [item for item in items if hasattr(item, "_describe")]
    return [str(item) for item in items if not hasattr(item, "_describe")], rules


def _loose(item: Any) -> Any:
    """A name whose use says what it is; `...` stays as it is."""
    return item if item is ... or item == "..." else {"kind": "named", "name": str(item)}


def merge(programs: Iterable[Program]) -> Program:
    """One program with the kernels and functions of all. Calls that one could not resolve find the kernels of the others.

    >>> import numpy as np, parloop.loops as lp
    >>> twice = lp.make_function("{[j]: 0<=j<4}", "y[j] = 2*x[j]", name="twice")
    >>> knl = lp.make_kernel(
    ...     "{[i,k]: 0<=i,k<4}", "[i]: out[i] = twice([k]: a[k])", [lp.GlobalArg("a,out", np.float64, shape="4"), ...], name="doubled"
    ... )
    >>> lp.merge([knl, twice])(a=np.arange(4.0))[1][0]
    array([0., 2., 4., 6.])
    """
    items = list(programs)
    if not items:
        raise LoopError("merge needs at least one program")
    made = of_class(items[0], _merge(items))
    made._history = (("merge", (items,)),)
    made._tag_objects = {name: tag for item in items for name, tag in item._tag_objects.items()}
    made._kernel_tags = {name: tags for item in items for name, tags in item._kernel_tags.items()}
    return made


def fused(kernels: list[tuple[Program, str]], suffixes: list[str], flows: list[tuple[str, int, int]]) -> Program:
    """One kernel of several; see `fuse_kernels`."""
    if not kernels:
        raise LoopError("fuse_kernels needs at least one kernel")
    made = of_class(kernels[0][0], _fuse(kernels, suffixes, flows))
    made._history = (("fuse", ((kernels, suffixes, flows),)),)
    made._tag_objects = {name: tag for item, _ in kernels for name, tag in item._tag_objects.items()}
    return made
