"""Functions written in Python that kernels can call, and the questions that the compiler asks of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._dim_tags import dim_tag
from ._expressions import text, variable
from ._instructions import CallInstruction
from ._targets import TargetBase, target_named
from ._types import NumpyType

__all__ = ["ArrayArgDescriptor", "CallMangleInfo", "Lookup", "ScalarCallable", "ValueArgDescriptor"]


class ValueArgDescriptor:
    """An argument of a call that is a number."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return "ValueArgDescriptor()"


class ArrayArgDescriptor:
    """An argument of a call that is an array, or part of one."""

    def __init__(self, shape: Any = None, address_space: Any = None, dim_tags: Any = None) -> None:
        self.shape, self.address_space, self.dim_tags = shape, address_space, dim_tags

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.shape, self.address_space, self.dim_tags))

    def __repr__(self) -> str:
        return f"ArrayArgDescriptor(shape={self.shape!r}, address_space={self.address_space!r}, dim_tags={self.dim_tags!r})"


class CallMangleInfo:
    """What a mangler says of a call: the function's name in the target's code, and the types of results and arguments."""

    def __init__(self, target_name: str, result_dtypes: Iterable[Any], arg_dtypes: Iterable[Any] | None) -> None:
        self.target_name, self.result_dtypes, self.arg_dtypes = target_name, tuple(result_dtypes), tuple(arg_dtypes or ())


class ScalarCallable:
    """A function of numbers that a class of yours describes.

    A subclass says in `with_types` which types it takes and gives. Arguments are 0, 1, …; results are -1, -2, ….

    >>> import numpy as np, parloop.loops as lp
    >>> class Log2(lp.ScalarCallable):
    ...     def with_types(self, arg_id_to_dtype, ctx):
    ...         if 0 not in arg_id_to_dtype:
    ...             return self.copy(arg_id_to_dtype=arg_id_to_dtype), ctx
    ...         single = arg_id_to_dtype[0].numpy_dtype == np.float32
    ...         dtype = lp.NumpyType(np.float32 if single else np.float64)
    ...         return self.copy(name_in_target="log2f" if single else "log2", arg_id_to_dtype={0: dtype, -1: dtype}), ctx
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "y[i] = log2(x[i])")
    >>> knl = lp.register_callable(knl, "log2", Log2("log2"))
    >>> event, (y,) = knl(x=np.array([1.0, 2.0, 8.0]))
    >>> y
    array([0., 1., 3.])
    """

    def __init__(
        self,
        name: str,
        arg_id_to_dtype: Mapping[Any, Any] | None = None,
        arg_id_to_descr: Mapping[Any, Any] | None = None,
        name_in_target: str | None = None,
    ) -> None:
        self.name = name
        self.arg_id_to_dtype = arg_id_to_dtype
        self.arg_id_to_descr = arg_id_to_descr
        self.name_in_target = name_in_target

    def copy(self, **changed: Any) -> Any:
        """The same with some attributes changed."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.__dict__.update(changed)
        return made

    def with_types(self, arg_id_to_dtype: Mapping[Any, Any], clbl_inf_ctx: Any) -> Any:
        """The function for these types, as a pair with the context; subclasses say it."""
        raise TypeError(f"{type(self).__name__} does not specify its types: define a method with_types(self, arg_id_to_dtype, clbl_inf_ctx)")

    def with_descrs(self, arg_id_to_descr: Mapping[Any, Any], clbl_inf_ctx: Any) -> Any:
        """The function for arguments of these shapes and places."""
        return self.copy(arg_id_to_descr=dict(arg_id_to_descr)), clbl_inf_ctx

    def generate_preambles(self, target: TargetBase) -> Iterable[tuple[str, str]]:
        """Pairs of a key, by which they are sorted, and a text in front of the code."""
        return ()

    def is_ready_for_codegen(self) -> bool:
        """Whether code can be made of calls."""
        return self.arg_id_to_dtype is not None and self.name_in_target is not None

    def _key(self) -> tuple[Any, ...]:
        def items(mapping: Mapping[Any, Any] | None) -> Any:
            return None if mapping is None else tuple(sorted(((str(key), str(value)) for key, value in mapping.items())))

        return type(self), self.name, self.name_in_target, items(self.arg_id_to_dtype), items(self.arg_id_to_descr)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScalarCallable) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class _Context:
    """What a function can ask while it is specialised."""

    def __init__(self, target: str) -> None:
        self.target = target_named(target)


def _target(name: str) -> TargetBase:
    target = target_named(name)
    assert target is not None
    return target


def _answer(answer: Any) -> Any:
    """Today's convention returns a pair with the context, the older one the function alone."""
    return answer[0] if isinstance(answer, tuple) else answer


def with_types(function: Any, types: Mapping[Any, Any], target: str) -> tuple[Any, str | None, dict[Any, Any]]:
    """Asks for the function of these types: it, its name in the target's code and all types."""
    given = {key: NumpyType(dtype) if not isinstance(dtype, str) else dtype for key, dtype in types.items()}
    typed = _answer(function.with_types(given, _Context(target)))
    known = typed.arg_id_to_dtype
    if known is None:
        known = given
    return typed, typed.name_in_target, {key: getattr(dtype, "numpy_dtype", dtype) for key, dtype in known.items()}


def with_descriptors(function: Any, described: Mapping[Any, Mapping[str, Any]], target: str) -> tuple[Any, str | None]:
    """Asks for the function of these descriptors."""
    from ._data import AddressSpace

    def descriptor(parts: Mapping[str, Any]) -> Any:
        if not parts:
            return ValueArgDescriptor()
        space = parts.get("address_space")
        place = AddressSpace[space.upper()] if space and space.upper() in AddressSpace.__members__ else None
        return ArrayArgDescriptor(tuple(parts.get("shape", ())), place, tuple(map(dim_tag, parts["dim_tags"])))

    arrays = {key: descriptor(parts) for key, parts in described.items()}
    # A function of numbers that is told of none may refuse any description.
    given = {key: value for key, value in arrays.items() if isinstance(value, ArrayArgDescriptor)} if function.arg_id_to_dtype else {}
    done = _answer(function.with_descrs(given, _Context(target)))
    return done, done.name_in_target


def preambles(function: Any, target: str) -> list[tuple[str, str]]:
    """Asks for texts in front of the code."""
    found = function.generate_preambles(_target(target)) if hasattr(function, "generate_preambles") else ()
    return [(str(key), str(value)) for key, value in found]


class _Call:
    """A call as `emit_call` sees it: parameters that stand for the arguments."""

    def __init__(self, function: Any, count: int) -> None:
        self.function = variable(str(function.name))
        self.parameters = tuple(variable(f"_argument_{place}") for place in range(count))


class _Instruction(CallInstruction):
    """An instruction as `emit_call_insn` sees it."""

    def __init__(self, function: Any, count: int, results: list[bool]) -> None:
        self._said = {}
        self.expression = _Call(function, count)
        self.assignees = tuple(variable(f"_result_{place}") for place in range(len(results)))


class _Code(str):
    """An expression as it stands in the code."""

    @property
    def expr(self) -> _Code:
        return self


def _as_it_is(expression: Any, *unused: Any, **named: Any) -> _Code:
    return _Code(text(expression))


def emit_call(function: Any, count: int, results: list[bool], target: str) -> tuple[str, bool] | None:
    """Asks what a call inside an expression becomes; none for `name(arguments)`."""
    method = getattr(function, "emit_call", None)
    if method is None:
        return None
    return text(method(_as_it_is, _Call(function, count), _target(target))), True


def emit_call_insn(function: Any, count: int, results: list[bool], target: str) -> tuple[str, bool] | None:
    """Asks what a call as an instruction becomes; none for the usual one."""
    method = getattr(function, "emit_call_insn", None)
    if method is None:
        return None
    emitted, returns = method(_Instruction(function, count, results), _target(target), _as_it_is)
    return text(emitted), bool(returns)


class Lookup:
    """Functions and symbols that are found by asking Python."""

    def __init__(
        self,
        functions: Callable[[Any, str], Any] | None = None,
        symbols: Iterable[Callable[[Any, str], Any]] = (),
        manglers: Iterable[Callable[..., Any]] = (),
    ) -> None:
        self.functions, self.symbols, self.manglers = functions, tuple(symbols), tuple(manglers)

    def find(self, target: str | None, name: str) -> Any:
        """The function of that name."""
        return self.functions(target_named(target), name) if self.functions is not None else None

    def symbol(self, name: str) -> tuple[Any, str] | None:
        """The type and the text of a symbol."""
        for mangler in self.symbols:
            found = mangler(None, name)
            if found is not None:
                dtype, written = found
                return getattr(dtype, "numpy_dtype", dtype), written
        return None

    def mangle(self, target: str, name: str, types: list[Any]) -> tuple[str, list[Any], list[Any]] | None:
        """The function for a name and types."""
        given = tuple(NumpyType(dtype) for dtype in types)
        for mangler in self.manglers:
            found = mangler(_Context(target), name, given)
            if found is not None:
                results = [getattr(dtype, "numpy_dtype", dtype) for dtype in found.result_dtypes]
                args = [getattr(dtype, "numpy_dtype", dtype) for dtype in found.arg_dtypes or given]
                return found.target_name, args, results
        return None
