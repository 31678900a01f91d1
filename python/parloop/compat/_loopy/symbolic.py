"""Expressions as objects of pymbolic's where that is installed, with the further classes that kernels need."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._parloop import _loop_expression_tree
from ...loops._expressions import build, text


_p: Any = importlib.import_module("pymbolic.primitives") if importlib.util.find_spec("pymbolic") else None
_Node: Any = _p.ExpressionNode if _p else object


def expr_dataclass(init: bool = True) -> Callable[[type], Any]:
    """Makes a class an expression: pymbolic's own decorator, where that is installed."""
    return _p.expr_dataclass(init=init) if _p else dataclasses.dataclass(frozen=True, init=init)


class _Expression(_Node):  # type: ignore[misc]
    def make_stringifier(self, originating_stringifier: Any = None) -> Any:
        return _Stringifier()


class _Stringifier:
    """Writes an expression as kernels do."""

    def __call__(self, expression: Any, *unused: Any, **named: Any) -> str:
        return text(expression)

    rec = __call__


@expr_dataclass(init=False)
class TypeCast(_Expression):
    """The value of an expression in another type."""

    type: Any
    child: Any

    def __init__(self, type: Any, child: Any) -> None:  # noqa: A002
        from .diagnostic import LoopyError
        from .types import to_loopy_type

        if np.dtype(getattr(type, "numpy_dtype", type)).kind not in "biufc":
            raise LoopyError(f"a number cannot be cast to {type}, which is no type of numbers")
        object.__setattr__(self, "type", to_loopy_type(type))
        object.__setattr__(self, "child", child)

    mapper_method = "map_type_cast"


@expr_dataclass(init=False)
class Reduction(_Expression):
    """A reduction of an expression over inames."""

    operation: Any
    inames: tuple[str, ...]
    expr: Any
    allow_simultaneous: bool

    def __init__(self, operation: Any, inames: Any, expr: Any, allow_simultaneous: bool = False) -> None:
        if isinstance(inames, str):
            inames = tuple(name.strip() for name in inames.split(","))
        elif not isinstance(inames, tuple):
            inames = tuple(inames) if isinstance(inames, (list, set, frozenset)) else (inames,)
        object.__setattr__(self, "operation", operation)
        object.__setattr__(self, "inames", tuple(text(name) for name in inames))
        object.__setattr__(self, "expr", expr)
        object.__setattr__(self, "allow_simultaneous", allow_simultaneous)

    mapper_method = "map_reduction"


@expr_dataclass()
class SubArrayRef(_Expression):
    """Part of an array, as an argument or a result of a call."""

    swept_inames: tuple[Any, ...]
    subscript: Any
    mapper_method = "map_sub_array_ref"


@expr_dataclass()
class LinearSubscript(_Expression):
    """An element by its place in memory."""

    aggregate: Any
    index: Any
    mapper_method = "map_linear_subscript"


@expr_dataclass()
class ResolvedFunction(_Expression):
    """The name of a function that is known."""

    function: Any
    mapper_method = "map_resolved_function"

    @property
    def name(self) -> str:
        """The name."""
        return text(self.function)


SPECIAL: dict[str, Any] = {
    "cast": TypeCast,
    "reduction": lambda operation, inames, operands, simultaneous: Reduction(
        operation, tuple(inames), operands[0] if len(operands) == 1 else tuple(operands), simultaneous
    ),
    "sub_array": lambda inames, subscript: SubArrayRef(tuple(inames), subscript),
    "linear": LinearSubscript,
    "resolved": ResolvedFunction,
}


def parse(expression: str) -> Any:
    """The expression that a text is."""
    return build(_loop_expression_tree(expression), SPECIAL)
