"""Expressions as Python objects: how they are written as text, and built from the trees that kernels give."""

from __future__ import annotations

import functools
import importlib
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["Reduction", "SubArrayRef", "TypeCast", "build", "text", "variable"]


class _Parts:
    """An expression of named parts that do not change. (Dataclasses would add milliseconds to the import.)"""

    def __init__(self, **parts: Any) -> None:
        self.__dict__.update(parts)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable; create another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable; create another one")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={part!r}' for name, part in vars(self).items())})"

    def __str__(self) -> str:
        return text(self)


class TypeCast(_Parts):
    """The value of an expression in another type.

    >>> import numpy as np, parloop.loops as lp
    >>> str(lp.TypeCast(np.float32, "a[i] + 1"))
    'cast(float32, a[i] + 1)'
    """

    dtype: Any
    child: Any

    def __init__(self, dtype: Any, child: Any) -> None:
        super().__init__(dtype=dtype, child=child)


class Reduction(_Parts):
    """A reduction of an expression over inames.

    >>> import parloop.loops as lp
    >>> str(lp.Reduction("sum", ("i", "j"), "a[i, j]"))
    'reduce(sum, (i, j), a[i, j])'
    """

    operation: Any
    inames: Any
    expr: Any
    allow_simultaneous: bool

    def __init__(self, operation: Any, inames: Any, expr: Any, allow_simultaneous: bool = False) -> None:
        super().__init__(operation=operation, inames=inames, expr=expr, allow_simultaneous=allow_simultaneous)


class SubArrayRef(_Parts):
    """Part of an array, as an argument or a result of a call: ``[i]: a[i, j]``."""

    swept_inames: Any
    subscript: Any

    def __init__(self, swept_inames: Any, subscript: Any) -> None:
        super().__init__(swept_inames=swept_inames, subscript=subscript)


def text(expression: Any) -> str:
    """An expression as kernels write it. Objects of pymbolic's, and others with the same classes, are read by their parts.

    >>> import parloop.loops as lp
    >>> from parloop.loops._expressions import text
    >>> text(3), text("a[i]")
    ('3', 'a[i]')
    """
    if isinstance(expression, str):
        return expression
    if isinstance(expression, tuple):
        return "(" + ", ".join(map(text, expression)) + ("," if len(expression) == 1 else "") + ")"
    if isinstance(expression, (numbers.Number, bool)) or hasattr(expression, "dtype") and not hasattr(expression, "child"):
        return _number(expression)
    for base in type(expression).__mro__:
        writer = _WRITERS.get(base.__name__)
        if writer is not None:
            return writer(expression)
    return str(expression)


def _number(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    plain = value.item() if dtype is not None else value
    if isinstance(plain, complex):
        return f"({_number(plain.real)} + {_number(plain.imag)}*1j)"
    if isinstance(plain, float) and plain != plain:
        return f"cast({dtype or 'float64'}, NAN)"
    if isinstance(plain, float) and plain in (float("inf"), float("-inf")):
        written = "HUGE_VAL" if plain > 0 else "-HUGE_VAL"
    else:
        written = repr(plain)
    if dtype is not None and str(dtype) not in ("float64", "bool"):
        return f"cast({dtype}, {written})"
    return f"({written})" if written.startswith("-") else written


def _operand(expression: Any) -> str:
    """In parentheses, unless it is one word or closed by itself."""
    written = text(expression)
    closed = written.replace("_", "").replace(".", "").isalnum() or _is_closed(written)
    return written if closed else f"({written})"


def _is_closed(written: str) -> bool:
    """Whether it is `name(…)` or `name[…]` or `(…)` as a whole."""
    if not written or written[-1] not in ")]":
        return False
    start = 0
    while start < len(written) and (written[start].isalnum() or written[start] in "_."):
        start += 1
    depth = 0
    for at, letter in enumerate(written[start:], start):
        depth += letter in "([{"
        depth -= letter in ")]}"
        if depth == 0:
            return at == len(written) - 1
    return False


def _joined(operator: str) -> Callable[[Any], str]:
    return lambda node: operator.join(map(_operand, node.children))


def _two(operator: str, left: str, right: str) -> Callable[[Any], str]:
    return lambda node: f"{_operand(getattr(node, left))} {operator} {_operand(getattr(node, right))}"


def _subscript(node: Any) -> str:
    index = node.index if isinstance(node.index, tuple) else (node.index,)
    return f"{_operand(node.aggregate)}[{', '.join(map(text, index))}]"


def _call(node: Any) -> str:
    named = getattr(node, "kw_parameters", {})
    parts = [*map(text, node.parameters), *(f"{name}={text(value)}" for name, value in dict(named).items())]
    return f"{text(node.function)}({', '.join(parts)})"


def _slice(node: Any) -> str:
    start, stop, step = (*node.children, None, None, None)[:3]
    return ":".join("" if part is None else text(part) for part in ((start, stop) if step is None else (start, stop, step)))


def _type_name(kind: Any) -> str:
    import numpy as np

    return str(np.dtype(getattr(kind, "numpy_dtype", kind)).name)


def _cast(node: Any) -> str:
    return f"cast({_type_name(getattr(node, 'type', None) or node.dtype)}, {text(node.child)})"


def _reduction(node: Any) -> str:
    inames = [node.inames] if isinstance(node.inames, str) else list(node.inames)
    swept = f"({', '.join(map(text, inames))})" if len(inames) != 1 else text(inames[0])
    operands = node.expr if isinstance(node.expr, tuple) else (node.expr,)
    operation = node.operation if isinstance(node.operation, str) else str(node.operation)
    name = "simul_reduce" if node.allow_simultaneous else "reduce"
    return f"{name}({operation}, {swept}, {', '.join(map(text, operands))})"


_WRITERS: dict[str, Callable[[Any], str]] = {
    "Variable": lambda node: str(node.name),
    "ResolvedFunction": lambda node: text(node.function),
    "Sum": _joined(" + "),
    "Product": _joined(" * "),
    "Quotient": _two("/", "numerator", "denominator"),
    "FloorDiv": _two("//", "numerator", "denominator"),
    "Remainder": _two("%", "numerator", "denominator"),
    "Power": _two("**", "base", "exponent"),
    "LeftShift": _two("<<", "shiftee", "shift"),
    "RightShift": _two(">>", "shiftee", "shift"),
    "BitwiseNot": lambda node: f"~{_operand(node.child)}",
    "BitwiseOr": _joined(" | "),
    "BitwiseXor": _joined(" ^ "),
    "BitwiseAnd": _joined(" & "),
    "LogicalNot": lambda node: f"not {_operand(node.child)}",
    "LogicalOr": _joined(" or "),
    "LogicalAnd": _joined(" and "),
    "Comparison": lambda node: f"{_operand(node.left)} {getattr(node.operator, 'value', node.operator)} {_operand(node.right)}",
    "If": lambda node: f"({_operand(node.then)} if {_operand(node.condition)} else {_operand(node.else_)})",
    "Min": lambda node: f"min({', '.join(map(text, node.children))})",
    "Max": lambda node: f"max({', '.join(map(text, node.children))})",
    "Subscript": _subscript,
    "Lookup": lambda node: f"{_operand(node.aggregate)}.{node.name}",
    "Call": _call,
    "CallWithKwargs": _call,
    "Slice": _slice,
    "NaN": lambda node: "NAN" if node.data_type is None else f"cast({_type_name(node.data_type)}, NAN)",
    "CommonSubexpression": lambda node: f"cse({text(node.child)}" + (f', "{node.prefix}")' if node.prefix else ")"),
    "TypeCast": _cast,
    "TypeAnnotation": _cast,
    "Reduction": _reduction,
    "SubArrayRef": lambda node: f"[{', '.join(text(iname) for iname in node.swept_inames)}]: {text(node.subscript)}",
    "LinearSubscript": lambda node: f"{_operand(node.aggregate)}[[{text(node.index)}]]",
}


def build(tree: Any, special: Mapping[str, Callable[..., Any]] | None = None) -> Any:
    """The expression of a tree as an object of pymbolic's if that is installed, else the tree itself.

    `special` makes what pymbolic has no class for: ``cast``, ``reduction``, ``sub_array``, ``linear`` and ``resolved``.
    """
    primitives = _pymbolic()
    return tree if primitives is None else _Builder(primitives, {**_PLAIN, **(special or {})}).build(tree)


@functools.cache
def _pymbolic() -> Any:
    """The module of pymbolic's classes, if it is installed."""
    from importlib.util import find_spec

    return importlib.import_module("pymbolic.primitives") if find_spec("pymbolic") else None


def variable(name: str) -> Any:
    """A name as an expression."""
    primitives = _pymbolic()
    return name if primitives is None else primitives.Variable(name)


_PLAIN: dict[str, Callable[..., Any]] = {
    "cast": lambda dtype, child: TypeCast(dtype, child),
    "reduction": lambda operation, inames, operands, simultaneous: Reduction(
        operation, tuple(inames), operands[0] if len(operands) == 1 else tuple(operands), simultaneous
    ),
    "sub_array": lambda inames, subscript: SubArrayRef(tuple(inames), subscript),
    "linear": lambda aggregate, index: ("linear", aggregate, index),
    "resolved": lambda function: function,
}


class _Builder:
    """Makes pymbolic's objects, node by node."""

    def __init__(self, p: Any, special: Mapping[str, Callable[..., Any]]) -> None:
        self.p, self.special = p, special

    def build(self, tree: Any) -> Any:
        p, kind, parts = self.p, tree[0], tree[1:]
        two = {"/": p.Quotient, "//": p.FloorDiv, "%": p.Remainder, "**": p.Power, "<<": p.LeftShift, ">>": p.RightShift}
        many = {"&": p.BitwiseAnd, "|": p.BitwiseOr, "^": p.BitwiseXor, "and": p.LogicalAnd, "or": p.LogicalOr}
        if kind == "number":
            return parts[0] if parts[1] is None else self.typed(*parts)
        if kind == "text":
            return parts[0]
        if kind == "variable":
            return p.Variable(parts[0])
        if kind in two:
            return two[kind](self.build(parts[0]), self.build(parts[1]))
        if kind in many:
            return many[kind](self.flat(kind, tree))
        if kind == "+":
            return p.Sum(self.flat(kind, tree))
        if kind == "*":
            return p.Product(self.flat(kind, tree))
        if kind == "-":
            return p.Sum((self.build(parts[0]), p.Product((-1, self.build(parts[1])))))
        method: Callable[..., Any] = getattr(self, "build_" + {"~": "bitnot", "not": "not_", "if": "if_"}.get(kind, kind))
        return method(*parts)

    def all(self, trees: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(map(self.build, trees))

    def flat(self, kind: str, tree: Any) -> tuple[Any, ...]:
        """The operands of operators of one kind that stand side by side."""
        left, right = tree[1], tree[2]
        return (*(self.flat(kind, left) if left[0] == kind else (self.build(left),)), self.build(right))

    def build_chain(self, first: Any, rest: Sequence[Any]) -> Any:
        """A long sum or product: operators that commute stay side by side."""
        if rest[0][0] in "+-":
            terms = (self.build(term) if operator == "+" else self.p.Product((-1, self.build(term))) for operator, term in rest)
            return self.p.Sum((self.build(first), *terms))
        two = {"/": self.p.Quotient, "//": self.p.FloorDiv, "%": self.p.Remainder}
        factors = [self.build(first)]
        for operator, factor in rest:
            if operator == "*":
                factors.append(self.build(factor))
            else:
                left = factors[0] if len(factors) == 1 else self.p.Product(tuple(factors))
                factors = [two[operator](left, self.build(factor))]
        return factors[0] if len(factors) == 1 else self.p.Product(tuple(factors))

    def typed(self, value: Any, dtype: str) -> Any:
        import numpy as np

        return np.dtype(dtype).type(value)

    def build_negate(self, operand: Any) -> Any:
        built = self.build(operand)
        return -built if isinstance(built, (int, float)) else self.p.Product((-1, built))

    def build_not_(self, operand: Any) -> Any:
        return self.p.LogicalNot(self.build(operand))

    def build_bitnot(self, operand: Any) -> Any:
        return self.p.BitwiseNot(self.build(operand))

    def build_compare(self, operator: str, left: Any, right: Any) -> Any:
        return self.p.Comparison(self.build(left), operator, self.build(right))

    def build_subscript(self, aggregate: Any, indices: Sequence[Any]) -> Any:
        built = self.all(indices)
        return self.p.Subscript(self.build(aggregate), built[0] if len(built) == 1 else built)

    def build_linear(self, aggregate: Any, index: Any) -> Any:
        return self.special["linear"](self.build(aggregate), self.build(index))

    def build_slice(self, parts: Sequence[Any]) -> Any:
        return self.p.Slice(tuple(None if part is None else self.build(part) for part in parts))

    def build_sub_array(self, inames: Sequence[str], array: str, indices: Sequence[Any]) -> Any:
        subscript = self.build_subscript(("variable", array), indices)
        return self.special["sub_array"](tuple(map(self.p.Variable, inames)), subscript)

    def build_lookup(self, aggregate: Any, name: str) -> Any:
        return self.p.Lookup(self.build(aggregate), name)

    def build_min(self, items: Sequence[Any]) -> Any:
        return self.p.Min(self.all(items))

    def build_max(self, items: Sequence[Any]) -> Any:
        return self.p.Max(self.all(items))

    def build_if_(self, parts: Sequence[Any]) -> Any:
        return self.p.If(*self.all(parts))

    def build_cast(self, dtype: str, child: Any) -> Any:
        return self.special["cast"](dtype, self.build(child))

    def build_call(self, name: str, resolved: bool, args: Sequence[Any], named: Sequence[tuple[str, Any]]) -> Any:
        function = self.p.Variable(name)
        function = self.special["resolved"](function) if resolved else function
        if named:
            return self.p.CallWithKwargs(function, self.all(args), {key: self.build(value) for key, value in named})
        return self.p.Call(function, self.all(args))

    def build_reduction(self, operation: str, inames: Sequence[str], operands: Sequence[Any], simultaneous: bool) -> Any:
        return self.special["reduction"](operation, inames, self.all(operands), simultaneous)

    def build_cse(self, child: Any, prefix: str | None) -> Any:
        return self.p.CommonSubexpression(self.build(child), prefix, self.p.cse_scope.EVALUATION)

    def build_tuple(self, items: Sequence[Any]) -> Any:
        return self.all(items)
