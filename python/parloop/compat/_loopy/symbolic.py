"""Expressions as objects of pymbolic's where that is installed, with the further classes that kernels need."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._parloop import _loop_expression_tree
from .isl_helpers import (
    aff_to_expr as aff_to_expr,
    pw_aff_to_expr as pw_aff_to_expr,
    qpolynomial_to_expr as qpolynomial_to_expr,
    simplify_via_aff as simplify_via_aff,
)
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
            raise LoopyError(f"a number cannot be cast to {type}, which is not a type of numbers")
        object.__setattr__(self, "type", to_loopy_type(type))
        object.__setattr__(self, "child", child)



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



@expr_dataclass()
class SubArrayRef(_Expression):
    """Part of an array, as an argument or a result of a call."""

    swept_inames: tuple[Any, ...]
    subscript: Any


@expr_dataclass()
class LinearSubscript(_Expression):
    """An element by its place in memory."""

    aggregate: Any
    index: Any


@expr_dataclass()
class ResolvedFunction(_Expression):
    """The name of a function that is known."""

    function: Any

    @property
    def name(self) -> str:
        """The name."""
        return text(self.function)


def _mapper(module: str, name: str) -> Any:
    """A class of pymbolic's mappers, or an empty one where pymbolic is not installed."""
    return getattr(importlib.import_module(f"pymbolic.mapper{module}"), name) if _p else object


_MAPPED = {TypeCast: "type_cast", Reduction: "reduction", SubArrayRef: "sub_array_ref", LinearSubscript: "linear_subscript"}
for _class, _name in (*_MAPPED.items(), (ResolvedFunction, "resolved_function")):
    _class.mapper_method = f"map_{_name}"  # type: ignore[attr-defined]


class _Combining:
    """What mappers that gather do with the further classes."""

    def map_reduction(self, expr: Any, *args: Any, **named: Any) -> Any:
        parts = expr.expr if isinstance(expr.expr, tuple) else (expr.expr,)
        return self.combine([self.rec(part, *args, **named) for part in parts])  # type: ignore[attr-defined]

    def map_type_cast(self, expr: Any, *args: Any, **named: Any) -> Any:
        return self.rec(expr.child, *args, **named)  # type: ignore[attr-defined]

    def map_sub_array_ref(self, expr: Any, *args: Any, **named: Any) -> Any:
        return self.rec(expr.subscript, *args, **named)  # type: ignore[attr-defined]

    def map_linear_subscript(self, expr: Any, *args: Any, **named: Any) -> Any:
        return self.combine([self.rec(expr.aggregate, *args, **named), self.rec(expr.index, *args, **named)])  # type: ignore[attr-defined]

    def map_resolved_function(self, expr: Any, *args: Any, **named: Any) -> Any:
        return self.rec(expr.function, *args, **named)  # type: ignore[attr-defined]


class CombineMapper(_Combining, _mapper("", "CombineMapper")):  # type: ignore[misc]
    """Gathers something from all parts of an expression."""


class IdentityMapper(_mapper("", "IdentityMapper")):  # type: ignore[misc]
    """Makes an equal expression, part by part."""

    def map_reduction(self, expr: Any, *args: Any, **named: Any) -> Any:
        parts = tuple(self.rec(part, *args, **named) for part in expr.expr) if isinstance(expr.expr, tuple) else self.rec(expr.expr, *args, **named)
        return Reduction(expr.operation, expr.inames, parts, expr.allow_simultaneous)

    def map_type_cast(self, expr: Any, *args: Any, **named: Any) -> Any:
        return type(expr)(expr.type, self.rec(expr.child, *args, **named))

    def map_sub_array_ref(self, expr: Any, *args: Any, **named: Any) -> Any:
        return SubArrayRef(expr.swept_inames, self.rec(expr.subscript, *args, **named))

    def map_linear_subscript(self, expr: Any, *args: Any, **named: Any) -> Any:
        return LinearSubscript(self.rec(expr.aggregate, *args, **named), self.rec(expr.index, *args, **named))

    def map_resolved_function(self, expr: Any, *args: Any, **named: Any) -> Any:
        return expr


class WalkMapper(_mapper("", "WalkMapper")):  # type: ignore[misc]
    """Visits all parts of an expression."""

    def map_reduction(self, expr: Any, *args: Any, **named: Any) -> None:
        if self.visit(expr, *args, **named):
            for part in expr.expr if isinstance(expr.expr, tuple) else (expr.expr,):
                self.rec(part, *args, **named)

    def map_type_cast(self, expr: Any, *args: Any, **named: Any) -> None:
        if self.visit(expr, *args, **named):
            self.rec(expr.child, *args, **named)

    def map_sub_array_ref(self, expr: Any, *args: Any, **named: Any) -> None:
        if self.visit(expr, *args, **named):
            self.rec(expr.subscript, *args, **named)

    def map_linear_subscript(self, expr: Any, *args: Any, **named: Any) -> None:
        if self.visit(expr, *args, **named):
            self.rec(expr.aggregate, *args, **named)
            self.rec(expr.index, *args, **named)

    def map_resolved_function(self, expr: Any, *args: Any, **named: Any) -> None:
        self.visit(expr, *args, **named)


class SubstitutionMapper(IdentityMapper, _mapper(".substitutor", "SubstitutionMapper")):  # type: ignore[misc]
    """Puts expressions in the place of names."""


class _Names(CombineMapper):
    """Collects the names of variables; inames of reductions are not among them."""

    def combine(self, values: Any) -> frozenset[str]:
        return frozenset().union(*values)

    def map_constant(self, expr: Any) -> frozenset[str]:
        return frozenset()

    def map_variable(self, expr: Any) -> frozenset[str]:
        return frozenset([expr.name])

    def map_call(self, expr: Any) -> frozenset[str]:
        return self.combine([self.rec(part) for part in expr.parameters])

    def map_call_with_kwargs(self, expr: Any) -> frozenset[str]:
        return self.combine([self.rec(part) for part in (*expr.parameters, *expr.kw_parameters.values())])

    def map_reduction(self, expr: Any) -> frozenset[str]:
        return super().map_reduction(expr) - frozenset(expr.inames)  # type: ignore[no-any-return]

    def map_slice(self, expr: Any) -> frozenset[str]:
        return self.combine([self.rec(part) for part in expr.children if part is not None])


def get_dependencies(expr: Any) -> frozenset[str]:
    """The names that an expression, or each of several, uses."""
    if isinstance(expr, (tuple, list, set, frozenset)):
        return frozenset().union(*map(get_dependencies, expr))
    return frozenset() if isinstance(expr, (int, float, complex, str, np.generic)) else _Names()(expr)


class StringifyMapper:
    """Writes an expression as kernels do."""

    def __call__(self, expr: Any, *unused: Any, **named: Any) -> str:
        return text(expr)


def is_expression_equal(a: Any, b: Any) -> bool:
    """Whether two expressions are the same polynomial of what they are made of, or the same otherwise."""
    if a == b:
        return True
    if not _p:
        return text(a) == text(b)
    distribute = importlib.import_module("pymbolic.mapper.distributor").distribute
    return _terms(distribute(a)) == _terms(distribute(b))


def _terms(expression: Any) -> dict[Any, Any]:
    """The terms of a sum: for the factors of each, how often they stand there, its coefficient."""
    found: dict[Any, Any] = {}
    for term in expression.children if isinstance(expression, _p.Sum) else (expression,):
        coefficient, factors = _factors(term)
        key = frozenset(factors.items())
        found[key] = found.get(key, 0) + coefficient
    return {key: coefficient for key, coefficient in found.items() if coefficient != 0}


def _factors(term: Any) -> tuple[Any, dict[Any, int]]:
    if isinstance(term, (int, float, complex, np.generic)):
        return term, {}
    if isinstance(term, _p.Power) and isinstance(term.exponent, int) and term.exponent > 0:
        coefficient, factors = _factors(term.base)
        return coefficient**term.exponent, {factor: count * term.exponent for factor, count in factors.items()}
    if not isinstance(term, _p.Product):
        return 1, {term: 1}
    coefficient = 1
    counted: dict[Any, int] = {}
    for child in term.children:
        number, factors = _factors(child)
        coefficient = coefficient * number
        for factor, count in factors.items():
            counted[factor] = counted.get(factor, 0) + count
    return coefficient, counted


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
