"""Between expressions and the affine functions and polynomials of islpy and namedisl."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Mapping
from typing import Any

from .diagnostic import ExpressionToAffineConversionError

__all__ = ["aff_to_expr", "pw_aff_to_expr", "qpolynomial_to_expr", "simplify_via_aff", "subst_into_pwaff", "subst_into_pwqpolynomial"]


def _isl() -> Any:
    return importlib.import_module("islpy")


def _primitives() -> Any:
    return importlib.import_module("pymbolic.primitives")


def _plain(given: Any) -> Any:
    """An object of islpy's: itself, or what one of namedisl's stands for."""
    return given.as_isl() if hasattr(given, "as_isl") else given


def aff_to_expr(aff: Any) -> Any:
    """An affine function as an expression: the constant, then names, then integer divisions."""
    isl, plain = _isl(), _plain(aff)
    denominator = plain.get_denominator_val().to_python()
    total: Any = (plain.get_constant_val() * denominator).to_python()
    kinds = [isl.dim_type.param, isl.dim_type.in_]
    for kind in kinds:
        for place in range(plain.dim(kind)):
            coefficient = (plain.get_coefficient_val(kind, place) * denominator).to_python()
            if coefficient:
                name = plain.get_dim_name(kind, place)
                total = _plus(total, coefficient, _primitives().Variable(name))
    for place in range(plain.dim(isl.dim_type.div)):
        coefficient = (plain.get_coefficient_val(isl.dim_type.div, place) * denominator).to_python()
        if coefficient:
            total = _plus(total, coefficient, _floor(plain.get_div(place)))
    return total if denominator == 1 else total // denominator


def _floor(aff: Any) -> Any:
    denominator = aff.get_denominator_val()
    whole = aff_to_expr(aff.scale_val(denominator))
    return whole // denominator.to_python()


def _plus(total: Any, coefficient: int, term: Any) -> Any:
    product = term if coefficient == 1 else coefficient * term
    return product if isinstance(total, int) and total == 0 else total + product


def pw_aff_to_expr(pw_aff: Any) -> Any:
    """A function by pieces as an expression: the last piece is that of all other points."""
    pieces = [(_plain(where), _plain(value)) for where, value in (_plain(pw_aff).get_pieces())]
    result = aff_to_expr(pieces[-1][1])
    for where, value in reversed(pieces[:-1]):
        result = _primitives().If(_condition(where), aff_to_expr(value), result)
    return result


def _condition(where: Any) -> Any:
    """The points of a set, as a condition."""
    p = _primitives()
    parts = []
    for piece in where.get_basic_sets():
        all_of = []
        for constraint in piece.get_constraints():
            expression = aff_to_expr(constraint.get_aff())
            if constraint.is_equality() and isinstance(expression, p.Variable):
                all_of.append(p.Comparison(expression, "==", 0))
            else:
                all_of.append(p.Comparison(expression, "==" if constraint.is_equality() else ">=", 0))
        parts.append(all_of[0] if len(all_of) == 1 else p.LogicalAnd(tuple(all_of)))
    return parts[0] if len(parts) == 1 else p.LogicalOr(tuple(parts))


def qpolynomial_to_expr(qpoly: Any) -> Any:
    """A polynomial as an expression; fractions as one integer division, since its values are whole."""
    isl, plain = _isl(), _plain(qpoly)
    terms: list[tuple[int, int, Any]] = []
    for term in plain.get_terms():
        value = term.get_coefficient_val()
        factors = []
        for kind in (isl.dim_type.param, isl.dim_type.set):
            for place in range(term.dim(kind)):
                power = term.get_exp(kind, place)
                if power:
                    name = _primitives().Variable(plain.get_space().get_dim_name(kind, place))
                    factors.append(name if power == 1 else name**power)
        for place in range(term.dim(isl.dim_type.div)):
            power = term.get_exp(isl.dim_type.div, place)
            if power:
                floor = _floor(term.get_div(place))
                factors.append(floor if power == 1 else floor**power)
        product: Any = 1
        for factor in factors:
            product = factor if isinstance(product, int) else product * factor
        denominator = value.get_den_val()
        terms.append(((value * denominator).to_python(), denominator.to_python(), product))
    common = math.lcm(*(denominator for _, denominator, _ in terms)) if terms else 1
    total: Any = 0
    for numerator, denominator, product in terms:
        coefficient = numerator * (common // denominator)
        total = total + coefficient if isinstance(product, int) else _plus(total, coefficient, product)
    return total if common == 1 else total // common


def simplify_via_aff(expr: Any) -> Any:
    """An affine expression with the coefficients of each name gathered; names stay in the order in which they stand.

    Raises
    ------
    ExpressionToAffineConversionError
        For one that is not affine.
    """
    constant, terms = _affine(expr)
    total: Any = 0
    for term, coefficient in terms.items():
        if coefficient:
            total = _plus(total, coefficient, term)
    return total if constant == 0 else constant if isinstance(total, int) and total == 0 else total + constant


def _affine(expr: Any) -> tuple[int, dict[Any, int]]:
    p = _primitives()
    if isinstance(expr, int):
        return expr, {}
    if isinstance(expr, p.Variable):
        return 0, {expr: 1}
    if isinstance(expr, p.Sum):
        constant = 0
        terms: dict[Any, int] = {}
        for child in expr.children:
            more, others = _affine(child)
            constant += more
            for term, coefficient in others.items():
                terms[term] = terms.get(term, 0) + coefficient
        return constant, terms
    if isinstance(expr, p.Product):
        factor, rest = 1, []
        for child in expr.children:
            constant, terms = _affine(child)
            if terms:
                rest.append((constant, terms))
            else:
                factor *= constant
        if len(rest) <= 1:
            constant, terms = rest[0] if rest else (1, {})
            return factor * constant, {term: factor * coefficient for term, coefficient in terms.items()}
    if isinstance(expr, (p.FloorDiv, p.Remainder)) and isinstance(expr.denominator, int):
        inner = simplify_via_aff(expr.numerator)
        if isinstance(inner, int):
            return (inner // expr.denominator if isinstance(expr, p.FloorDiv) else inner % expr.denominator), {}
        return 0, {type(expr)(inner, expr.denominator): 1}
    raise ExpressionToAffineConversionError(f"{expr} is not affine")


def _substituted(space: Any, given: Any, values: Mapping[str, Any]) -> str:
    """The text of something with expressions in the place of its parameters, for the parameters of a space."""
    from ...loops._expressions import text

    written = str(given)
    body = written[written.index("{") :].replace("[] ->", "")
    names = sorted(values, key=len, reverse=True)
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, names)) + r")\b") if names else None
    # A coefficient stands directly in front of a name.
    body = re.sub(r"(\d)([A-Za-z_])", r"\1*\2", body)
    if pattern is not None:
        body = pattern.sub(lambda found: f"({text(values[found.group(1)])})", body)
    plain = _plain(space)
    kind = _isl().dim_type.param
    if hasattr(plain, "get_dim_name"):
        parameters = [plain.get_dim_name(kind, place) for place in range(plain.dim(kind))]
    else:
        parameters = sorted(space.dim_names(importlib.import_module("namedisl").DimType.param))
    return f"[{', '.join(parameters)}] -> {body}"


def subst_into_pwaff(new_space: Any, pwaff: Any, subst_dict: Mapping[str, Any]) -> Any:
    """A function by pieces with expressions in the place of its parameters."""
    made = _substituted(new_space, pwaff, subst_dict)
    return importlib.import_module("namedisl").make_pw_aff(made) if hasattr(pwaff, "as_isl") else _isl().PwAff(made)


def subst_into_pwqpolynomial(new_space: Any, poly: Any, subst_dict: Mapping[str, Any]) -> Any:
    """A polynomial by pieces with expressions in the place of its parameters."""
    made = _substituted(new_space, poly, subst_dict)
    return importlib.import_module("namedisl").make_pw_qpolynomial(made) if hasattr(poly, "as_isl") else _isl().PwQPolynomial(made)
