"""Mathematical functions of elements as portable C, in addition to the operators of `_operations`: what NumPy's function of that name does.

Functions of complex numbers are written out, since OpenCL and CUDA do not have them.
"""

from __future__ import annotations

import re

from . import _operations
from ._operations import C_TYPES, Operation, is_complex, is_float, is_unsigned, wide, written

#: Functions of one real number that every device has, by NumPy's names.
_REAL = {
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "log": "log",
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "sqrt": "sqrt",
    "cbrt": "cbrt",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "rint": "rint",
    "fabs": "fabs",
}

#: By the algorithms of W. Kahan, "Branch cuts for complex elementary functions" (1987). Infinities and NaN give what C's annex G says.
_COMPLEX = """
bool c_finite(R x) { return !isinf(x) && x == x; }
T c_exp(T a) {
    const R size = exp(a.re);
    if (a.im == 0) return make_T(size, a.im);
    if (isinf(a.re) && a.re > 0 && !c_finite(a.im)) return make_T(a.re, a.im - a.im);
    if (size == 0 && (isinf(a.re) || c_finite(a.im))) return make_T(copysign(size, cos(a.im)), copysign(size, sin(a.im)));
    return make_T(size * cos(a.im), size * sin(a.im));
}
R c_log_size(R x, R y) {
    const R size = hypot(x, y);
    if (size > (R)0.5 && size < (R)2) {
        const R most = fmax(fabs(x), fabs(y)), least = fmin(fabs(x), fabs(y));
        return log1p((most - 1) * (most + 1) + least * least) / 2;
    }
    if (isinf(size) && !isinf(x) && !isinf(y)) return log(hypot(x / 2, y / 2)) + log((R)2);
    return log(size);
}
T c_log(T a) { return make_T(c_log_size(a.re, a.im), atan2(a.im, a.re)); }
T c_sqrt(T a) {
    if (a.re == 0 && a.im == 0) return make_T(0, a.im);
    if (isinf(a.im)) return make_T(fabs(a.im), a.im);
    if (isinf(a.re)) {
        const R none = a.im == a.im ? 0 : a.im;
        return a.re > 0 ? make_T(a.re, a.im == a.im ? copysign((R)0, a.im) : a.im) : make_T(none, copysign(a.re, a.im));
    }
    R x = a.re, y = a.im, scale = 1;
    if (fabs(x) > (R)1e37 || fabs(y) > (R)1e37) { x /= 4; y /= 4; scale = 2; }
    else if (fabs(x) < (R)1e-30 && fabs(y) < (R)1e-30) { x *= (R)1208925819614629174706176.0; y *= (R)1208925819614629174706176.0; scale = (R)9.094947017729282379150390625e-13; }
    const R root = sqrt((fabs(x) + hypot(x, y)) / 2);
    const R other = root == 0 ? (R)0 : fabs(y) / (2 * root);
    return x >= 0 ? make_T(scale * root, copysign(scale * other, a.im)) : make_T(scale * other, copysign(scale * root, a.im));
}
T c_sinh(T a) {
    if (a.im == 0) return make_T(sinh(a.re), a.im);
    if (!c_finite(a.im) && (a.re == 0 || isinf(a.re))) return make_T(a.re, a.im - a.im);
    return make_T(sinh(a.re) * cos(a.im), cosh(a.re) * sin(a.im));
}
T c_cosh(T a) {
    if (a.im == 0) return make_T(cosh(a.re), copysign((R)1, a.re) * a.im);
    if (!c_finite(a.im) && a.re == 0) return make_T(a.im - a.im, a.re);
    if (!c_finite(a.im) && isinf(a.re)) return make_T(fabs(a.re), a.im - a.im);
    return make_T(cosh(a.re) * cos(a.im), sinh(a.re) * sin(a.im));
}
T c_tanh(T a) {
    if (a.im == 0) return make_T(tanh(a.re), a.im);
    if (isinf(a.re)) return make_T(copysign((R)1, a.re), copysign((R)0, c_finite(a.im) ? sin(2 * a.im) : a.im));
    if (!c_finite(a.im)) return make_T(a.re == 0 ? a.re : a.im - a.im, a.im - a.im);
    if (fabs(a.re) > 22) return make_T(copysign((R)1, a.re), 4 * sin(a.im) * cos(a.im) * exp(-2 * fabs(a.re)));
    const R slope = tan(a.im), s = sinh(a.re), beta = 1 + slope * slope, below = 1 + beta * s * s;
    if (isinf(slope)) return make_T(sqrt(1 + s * s) / s, 1 / slope);
    return make_T(beta * sqrt(1 + s * s) * s / below, slope / below);
}
T c_turned(T a) { return make_T(-a.im, a.re); }
T c_turned_back(T a) { return make_T(a.im, -a.re); }
T c_sin(T a) { return c_turned_back(c_sinh(c_turned(a))); }
T c_cos(T a) { return c_cosh(c_turned(a)); }
T c_tan(T a) { return c_turned_back(c_tanh(c_turned(a))); }
T c_arcsin_finite(T a) {
    const T below = c_sqrt(make_T(1 - a.re, -a.im)), above = c_sqrt(make_T(1 + a.re, a.im));
    return make_T(atan2(a.re, below.re * above.re - below.im * above.im), asinh(below.re * above.im - below.im * above.re));
}
T c_arcsinh(T a) {
    const R half_pi = (R)1.57079632679489661923;
    if (isinf(a.re)) return make_T(a.re, a.im != a.im ? a.im : copysign(isinf(a.im) ? half_pi / 2 : (R)0, a.im));
    if (isinf(a.im)) return a.re != a.re ? make_T(a.im, a.re) : make_T(copysign(a.im, a.re), copysign(half_pi, a.im));
    if (a.re != a.re) return make_T(a.re, a.im == 0 ? a.im : a.re);
    return c_turned_back(c_arcsin_finite(c_turned(a)));
}
T c_arcsin(T a) { return c_finite(a.re) && c_finite(a.im) ? c_arcsin_finite(a) : c_turned_back(c_arcsinh(c_turned(a))); }
T c_arccos(T a) {
    const R half_pi = (R)1.57079632679489661923;
    if (a.re == 0 && a.im != a.im) return make_T(half_pi, a.im);
    if (isinf(a.re) && isinf(a.im)) return make_T(a.re > 0 ? half_pi / 2 : half_pi * (R)1.5, -a.im);
    if (isinf(a.re) && a.im != a.im) return make_T(a.im, a.re);
    if (isinf(a.im) && a.re != a.re) return make_T(a.re, -a.im);
    const T below = c_sqrt(make_T(1 - a.re, -a.im)), above = c_sqrt(make_T(1 + a.re, a.im));
    return make_T(2 * atan2(below.re, above.re), asinh(above.re * below.im - above.im * below.re));
}
T c_arccosh(T a) {
    if (!c_finite(a.im) && (a.re == 0 || !c_finite(a.re))) {
        const T turned = c_arccos(a);
        return make_T(fabs(turned.im), copysign(turned.re, a.im));
    }
    const T below = c_sqrt(make_T(a.re - 1, a.im)), above = c_sqrt(make_T(a.re + 1, a.im));
    return make_T(asinh(below.re * above.re + below.im * above.im), 2 * atan2(below.im, above.re));
}
T c_arctanh(T a) {
    const R half_pi = (R)1.57079632679489661923;
    if (a.im != a.im) return make_T(a.re == 0 ? a.re : isinf(a.re) ? copysign((R)0, a.re) : a.im, a.im);
    const R size = hypot(a.re, a.im);
    if (size > (R)1e18) return make_T(isinf(size) ? copysign((R)0, a.re) : a.re / size / size, copysign(half_pi, a.im));
    const R rest = 1 - fabs(a.re);
    const R re = log1p(4 * fabs(a.re) / (rest * rest + a.im * a.im)) / 4;
    return make_T(copysign(re, a.re), atan2(2 * a.im, rest * (1 + fabs(a.re)) - a.im * a.im) / 2);
}
T c_arctan(T a) { return c_turned_back(c_arctanh(c_turned(a))); }
T c_expm1(T a) {
    if (isinf(a.re) && !c_finite(a.im)) return a.re < 0 ? make_T(-1, 0) : make_T(a.re, a.im - a.im);
    const R s = sin(a.im / 2);
    return make_T(expm1(a.re) * cos(a.im) - 2 * s * s, a.im == 0 ? a.im : exp(a.re) * sin(a.im));
}
T c_log1p(T a) {
    const R size = hypot(1 + a.re, a.im);
    const R re = size > (R)0.5 && size < (R)2 ? log1p(a.re * (2 + a.re) + a.im * a.im) / 2 : c_log_size(1 + a.re, a.im);
    return make_T(re, atan2(a.im, 1 + a.re));
}
T c_log2(T a) { const T l = c_log(a); return make_T(l.re / (R)0.69314718055994530942, l.im / (R)0.69314718055994530942); }
T c_log10(T a) { const T l = c_log(a); return make_T(l.re / (R)2.30258509299404568402, l.im / (R)2.30258509299404568402); }
T c_exp2(T a) { return c_exp(make_T(a.re * (R)0.69314718055994530942, a.im * (R)0.69314718055994530942)); }
T c_square(T a) { return make_T(a.re * a.re - a.im * a.im, a.re * a.im + a.im * a.re); }
T c_rint(T a) { return make_T(rint(a.re), rint(a.im)); }
T c_reciprocal(T a) {
    if (fabs(a.re) >= fabs(a.im)) {
        if (a.re == 0) return make_T(1 / fabs(a.re), 0 / fabs(a.re));
        const R ratio = a.im / a.re, scale = 1 / (a.re + a.im * ratio);
        return make_T(scale, -ratio * scale);
    }
    const R ratio = a.re / a.im, scale = 1 / (a.im + a.re * ratio);
    return make_T(ratio * scale, -scale);
}
T c_sign(T a) {
    if (a.re == 0 && a.im == 0) return make_T(0, 0);
    if (isinf(a.re) && isinf(a.im)) return make_T(a.re - a.re, a.im - a.im);
    if (isinf(a.re)) return make_T(copysign((R)1, a.re), 0);
    if (isinf(a.im)) return make_T(0, copysign((R)1, a.im));
    const R most = fmax(fabs(a.re), fabs(a.im)), re = a.re / most, im = a.im / most, size = hypot(re, im);
    return make_T(re / size, im / size);
}
"""

_CLASSES = {"isnan": ("isnan({0})", "||"), "isinf": ("isinf({0})", "||"), "isfinite": ("!isinf({0}) && !isnan({0})", "&&")}

_LOGADDEXP = """T op(T a, T b) {
    if (a == b) return a + log((T)2);
    const T d = a - b;
    if (d > 0) return a + log1p(exp(-d));
    if (d <= 0) return b + log1p(exp(d));
    return d;
}"""


def _needed(name: str) -> str:
    """The text of a function of complex numbers, after those that it calls."""
    texts = {text[text.index(" ") + 1 : text.index("(")]: text for text in re.split(r"\n(?=\w+ c_)", _COMPLEX.strip())}
    found: list[str] = []

    def add(own: str) -> None:
        for called in re.findall(r"\bc_\w+", texts[own].partition("{")[2]):
            add(called)
        if texts[own] not in found:
            found.append(texts[own])

    add(name)
    return "\n".join(found)


def _classified(name: str, dtype: str) -> Operation:
    """Whether a number is of a class that integers are never, or always, of."""
    text, joined = _CLASSES[name]
    if is_complex(dtype):
        return Operation(f"(uint8_t)(({text.format('a.re')}) {joined} ({text.format('a.im')}))", "bool")
    if is_float(dtype):
        return Operation(f"(uint8_t)({text.format('a')})", "bool")
    return Operation(f"(uint8_t){int(name == 'isfinite')}", "bool")


def _unary(name: str, dtype: str) -> Operation | None:
    c_type = C_TYPES[dtype]
    if name in _CLASSES:
        return _classified(name, dtype)
    if name == "logical_not":
        return Operation("(uint8_t)(a.re == 0 && a.im == 0)" if is_complex(dtype) else "(uint8_t)(a == 0)", "bool")
    if is_complex(dtype):
        if f"T c_{name}(" in _COMPLEX:
            return Operation(f"c_{name}(a)", dtype, written(_needed(f"c_{name}"), dtype))
        return None
    if name == "signbit":
        negative = "signbit(a) != 0" if is_float(dtype) else "0" if is_unsigned(dtype) else "a < 0"
        return Operation(f"(uint8_t)({negative})", "bool")
    if name == "sign":
        nothing = " : a" if is_float(dtype) else f" : ({c_type})0"
        negative = "0" if is_unsigned(dtype) else "a < 0"
        return Operation(f"(a > 0 ? ({c_type})1 : {negative} ? ({c_type})-1{nothing})", dtype)
    if name == "square":
        return _operations.binary("multiply", dtype, dtype)._replace(expression=_squared(dtype))
    if name == "reciprocal":
        return Operation("1 / a" if is_float(dtype) else f"(a == 0 ? ({c_type})0 : ({c_type})(1 / a))", dtype)
    if name == "deg2rad":
        return Operation(f"a * ({c_type})0.01745329251994329577", dtype)
    if name == "rad2deg":
        return Operation(f"a * ({c_type})57.2957795130823208768", dtype)
    if name in _REAL and is_float(dtype):
        return Operation(f"{_REAL[name]}(a)", dtype)
    return None


def _squared(dtype: str) -> str:
    if dtype == "bool" or is_float(dtype):
        return "a * a"
    return f"({C_TYPES[dtype]})(({wide(dtype)})a * ({wide(dtype)})a)"


def _shift(name: str, dtype: str) -> Operation:
    """Numbers of bits that are negative or too large shift everything out."""
    c_type, unsigned = C_TYPES[dtype], wide(dtype)
    bits = 8 if dtype == "bool" else int(dtype.lstrip("uint"))
    if name == "left_shift":
        return Operation(f"(({unsigned})b < {bits} ? ({c_type})(({unsigned})a << b) : ({c_type})0)", dtype)
    rest = f"({c_type})0" if is_unsigned(dtype) else f"(a < 0 ? ({c_type})-1 : ({c_type})0)"
    return Operation(f"(({unsigned})b < {bits} ? ({c_type})(a >> b) : {rest})", dtype)


def _truth(letter: str, dtype: str) -> str:
    return f"({letter}.re != 0 || {letter}.im != 0)" if is_complex(dtype) else f"({letter} != 0)"


def _binary(name: str, dtype: str) -> Operation | None:
    if name in ("logical_and", "logical_or", "logical_xor"):
        symbol = {"logical_and": "&&", "logical_or": "||", "logical_xor": "!="}[name]
        return Operation(f"(uint8_t)({_truth('a', dtype)} {symbol} {_truth('b', dtype)})", "bool")
    if name in ("left_shift", "right_shift"):
        return _shift(name, dtype)
    if name == "from_end":
        # A place that is counted from the end where it is negative.
        return Operation("(a < 0 ? a + b : a)", dtype)
    if name in ("fmax", "fmin"):
        symbol = ">=" if name == "fmax" else "<="
        other = " || b != b" if is_float(dtype) else ""
        return Operation(f"((a {symbol} b{other}) ? a : b)", dtype)
    if name == "fmod" and not is_float(dtype):
        zero = f"({C_TYPES[dtype]})0"
        is_minus = "" if is_unsigned(dtype) else " || b == -1"
        return Operation(f"(b == 0{is_minus} ? {zero} : ({C_TYPES[dtype]})(a % b))", dtype)
    if name == "logaddexp":
        return Operation("op(a, b)", dtype, written(_LOGADDEXP, dtype))
    if name == "heaviside":
        return Operation("(a != a ? a : a < 0 ? 0 : a > 0 ? 1 : b)", dtype)
    function = {"arctan2": "atan2", "copysign": "copysign", "hypot": "hypot", "nextafter": "nextafter", "fmod": "fmod"}.get(name)
    return Operation(f"{function}(a, b)", dtype) if function is not None else None


def operation(name: str, computed: tuple[str, ...]) -> Operation:
    """What NumPy's function of that name does with operands of these types."""
    if name == "where":
        return Operation("(a ? b : c)", computed[1])
    found = _unary(name, computed[0]) if len(computed) == 1 else _binary(name, computed[0])
    if found is not None:
        return found
    if len(computed) == 1:
        if name not in ("positive", "conjugate", "invert", "negative", "absolute"):
            raise TypeError(f"{name} is not defined for elements of type {computed[0]} on this device")
        return _operations.unary(name, computed[0])
    return _operations.binary(name, computed[0], computed[1])


def has_unary(name: str) -> bool:
    """Whether there is a kernel for NumPy's function of one operand of that name."""
    try:
        operation(name, ("float64",))
    except TypeError:
        return name in ("invert",)
    return True


#: NumPy's functions of two operands for which there are kernels.
BINARY = frozenset(
    """add subtract multiply divide floor_divide remainder power minimum maximum bitwise_and bitwise_or bitwise_xor less less_equal equal
    not_equal greater greater_equal logical_and logical_or logical_xor left_shift right_shift fmax fmin fmod logaddexp heaviside arctan2
    copysign hypot nextafter""".split()
)

#: Those whose result is a truth value, of operands of a type that holds both.
OF_COMMON_TYPE = frozenset(("logical_and", "logical_or", "logical_xor"))

