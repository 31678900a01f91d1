"""Functions of elements, by the names of the standard and by NumPy's."""

from __future__ import annotations

import builtins
from typing import Any, Protocol

import numpy as np

from .. import _elementwise
from .._arithmetic import aligned, broadcast, combined, mapped, on_cpu
from .._arithmetic import single_of_half as _single_of_half
from .._indexing import imag as _imag
from .._indexing import real as _real
from .._parloop import Array
from ._device import Operand, arrays_of, as_array, common_context, from_host


class Unary(Protocol):
    """A function of one array."""

    __name__: str

    def __call__(self, x: Operand, /) -> Array: ...


class Binary(Protocol):
    """A function of two arrays, of which one may be a number."""

    __name__: str

    def __call__(self, x1: Operand, x2: Operand, /) -> Array: ...


def _unary(name: str, ufunc: str, doc: str) -> Unary:
    def function(x: Operand, /) -> Array:
        return mapped(ufunc, as_array(x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def combine(ufunc: str, x1: Operand, x2: Operand) -> Array:
    """NumPy's function of two operands, as an array."""
    if not isinstance(x1, Array) and not isinstance(x2, Array):
        # The one that is an array in the standard has the word on the type.
        context = common_context(ufunc, ())
        if isinstance(x1, (np.ndarray, np.generic)) or not isinstance(x2, (np.ndarray, np.generic)):
            x1 = as_array(x1, context)
        else:
            x2 = as_array(x2, context)
    if isinstance(x1, Array):
        out = combined(ufunc, x1, x2, False)
    else:
        assert isinstance(x2, Array)
        out = combined(ufunc, x2, x1, True)
    if out is NotImplemented:
        raise TypeError(f"{ufunc} takes arrays and numbers, not {type(x1).__name__} and {type(x2).__name__}")
    array: Array = out
    return array


def _binary(name: str, ufunc: str, doc: str) -> Binary:
    def function(x1: Operand, x2: Operand, /) -> Array:
        return combine(ufunc, x1, x2)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


abs = _unary("abs", "absolute", "The absolute values.")
acos = _unary("acos", "arccos", "The arc cosines.")
acosh = _unary("acosh", "arccosh", "The inverse hyperbolic cosines.")
asin = _unary("asin", "arcsin", "The arc sines.")
asinh = _unary("asinh", "arcsinh", "The inverse hyperbolic sines.")
atan = _unary("atan", "arctan", "The arc tangents.")
atanh = _unary("atanh", "arctanh", "The inverse hyperbolic tangents.")
bitwise_invert = _unary("bitwise_invert", "invert", "The integers with every bit changed.")
cbrt = _unary("cbrt", "cbrt", "The cube roots.")
cos = _unary("cos", "cos", "The cosines.")
cosh = _unary("cosh", "cosh", "The hyperbolic cosines.")
deg2rad = _unary("deg2rad", "deg2rad", "Angles in degrees as radians.")
exp = _unary("exp", "exp", "The exponentials.")
exp2 = _unary("exp2", "exp2", "The powers of two.")
expm1 = _unary("expm1", "expm1", "The exponentials less one, exact for small numbers.")
fabs = _unary("fabs", "fabs", "The absolute values of real numbers, as floating-point numbers.")
isfinite = _unary("isfinite", "isfinite", "Whether each is neither infinite nor not-a-number.")
isinf = _unary("isinf", "isinf", "Whether each is infinite.")
isnan = _unary("isnan", "isnan", "Whether each is not-a-number.")
log = _unary("log", "log", "The natural logarithms.")
log1p = _unary("log1p", "log1p", "The natural logarithms of one plus each, exact for small numbers.")
log2 = _unary("log2", "log2", "The logarithms to base 2.")
log10 = _unary("log10", "log10", "The logarithms to base 10.")
logical_not = _unary("logical_not", "logical_not", "Whether each is zero.")
negative = _unary("negative", "negative", "Each with the other sign.")
positive = _unary("positive", "positive", "A copy of each.")
rad2deg = _unary("rad2deg", "rad2deg", "Angles in radians as degrees.")
reciprocal = _unary("reciprocal", "reciprocal", "One divided by each.")
sign = _unary("sign", "sign", "-1, 0 or 1; of a complex number, the number divided by its absolute value.")
signbit = _unary("signbit", "signbit", "Whether the sign bit is set, that of a negative zero too.")
sin = _unary("sin", "sin", "The sines.")
sinh = _unary("sinh", "sinh", "The hyperbolic sines.")
sqrt = _unary("sqrt", "sqrt", "The square roots.")
square = _unary("square", "square", "The squares.")
tan = _unary("tan", "tan", "The tangents.")
tanh = _unary("tanh", "tanh", "The hyperbolic tangents.")

add = _binary("add", "add", "The sums.")
atan2 = _binary("atan2", "arctan2", "The angles of points with these y and x coordinates.")
bitwise_and = _binary("bitwise_and", "bitwise_and", "The bits that are set in both.")
bitwise_left_shift = _binary("bitwise_left_shift", "left_shift", "The bits of the first, further left by the second.")
bitwise_or = _binary("bitwise_or", "bitwise_or", "The bits that are set in either.")
bitwise_right_shift = _binary("bitwise_right_shift", "right_shift", "The bits of the first, further right by the second.")
bitwise_xor = _binary("bitwise_xor", "bitwise_xor", "The bits that are set in one of both.")
copysign = _binary("copysign", "copysign", "The absolute values of the first with the signs of the second.")
divide = _binary("divide", "divide", "The quotients.")
equal = _binary("equal", "equal", "Whether both are equal.")
floor_divide = _binary("floor_divide", "floor_divide", "The quotients, rounded down.")
fmax = _binary("fmax", "fmax", "The larger of both that is not not-a-number.")
fmin = _binary("fmin", "fmin", "The smaller of both that is not not-a-number.")
fmod = _binary("fmod", "fmod", "The remainders, with the signs of the first.")
greater = _binary("greater", "greater", "Whether the first is greater.")
greater_equal = _binary("greater_equal", "greater_equal", "Whether the first is greater, or both are equal.")
heaviside = _binary("heaviside", "heaviside", "0 for negative numbers, 1 for positive ones, the second for zero.")
hypot = _binary("hypot", "hypot", "The lengths of vectors with these coordinates.")
less = _binary("less", "less", "Whether the first is less.")
less_equal = _binary("less_equal", "less_equal", "Whether the first is less, or both are equal.")
logaddexp = _binary("logaddexp", "logaddexp", "The logarithms of the sums of the exponentials.")
logical_and = _binary("logical_and", "logical_and", "Whether both are true.")
logical_or = _binary("logical_or", "logical_or", "Whether either is true.")
logical_xor = _binary("logical_xor", "logical_xor", "Whether one of both is true.")
maximum = _binary("maximum", "maximum", "The larger; not-a-number where either is.")
minimum = _binary("minimum", "minimum", "The smaller; not-a-number where either is.")
multiply = _binary("multiply", "multiply", "The products.")
nextafter = _binary("nextafter", "nextafter", "The numbers that follow the first towards the second.")
not_equal = _binary("not_equal", "not_equal", "Whether both differ.")
pow = _binary("pow", "power", "The first to the power of the second.")
remainder = _binary("remainder", "remainder", "The remainders, with the signs of the second.")
subtract = _binary("subtract", "subtract", "The differences.")

absolute, arccos, arccosh, arcsin, arcsinh, arctan, arctanh = abs, acos, acosh, asin, asinh, atan, atanh
invert, bitwise_not, degrees, radians = bitwise_invert, bitwise_invert, rad2deg, deg2rad
arctan2, left_shift, right_shift, mod, power, true_divide = atan2, bitwise_left_shift, bitwise_right_shift, remainder, pow, divide


def _rounded(name: str, x: Operand) -> Array:
    """Integers are whole already."""
    array = as_array(x)
    return array.copy() if array.dtype.kind in "biu" else mapped(name, array)


def ceil(x: Operand, /) -> Array:
    """The numbers rounded up."""
    return _rounded("ceil", x)


def floor(x: Operand, /) -> Array:
    """The numbers rounded down."""
    return _rounded("floor", x)


def trunc(x: Operand, /) -> Array:
    """The numbers rounded towards zero."""
    return _rounded("trunc", x)


def rint(x: Operand, /) -> Array:
    """The nearest whole numbers, the even ones of two."""
    return _rounded("rint", x)


def round(x: Operand, /, decimals: int = 0) -> Array:
    """The numbers rounded to that many decimals, halves to even ones."""
    array = as_array(x)
    if decimals == 0 or (array.dtype.kind in "biu" and decimals > 0):
        return _rounded("rint", array)
    if on_cpu(array):
        return from_host(array.context, np.round(array.numpy(), decimals))
    if array.dtype.kind in "biu":
        unit = 10**-decimals
        return multiply(rint(divide(array, unit)), unit).astype(array.dtype)
    scale = 10.0 ** builtins.abs(decimals)
    if decimals < 0:
        return multiply(rint(divide(array, scale)), scale)
    return divide(rint(multiply(array, scale)), scale)


def conj(x: Operand, /) -> Array:
    """The complex conjugates."""
    array = as_array(x)
    return mapped("conjugate", array) if array.dtype.kind == "c" else array.copy()


conjugate = conj


def real(x: Operand, /) -> Array:
    """The real parts."""
    return _real(as_array(x))


def imag(x: Operand, /) -> Array:
    """The imaginary parts."""
    return _imag(as_array(x))


def angle(x: Operand, /) -> Array:
    """The angles of complex numbers."""
    array = as_array(x)
    return atan2(imag(array), real(array))


def choose(condition: Operand, x1: Operand, x2: Operand) -> Array:
    """Elements of the first array where the condition holds, of the second elsewhere."""
    context = common_context("where", (condition, x1, x2))
    dtype = _common_type(x1, x2)
    cond = as_array(condition, context)
    first, second = (as_array(x, context) for x in (x1, x2))
    if on_cpu(cond):
        hosts = [x.numpy().astype(dtype, copy=False) for x in (first, second)]
        return from_host(context, np.where(cond.numpy(), *hosts))
    shape = np.broadcast_shapes(cond.shape, first.shape, second.shape)
    out = context.empty(shape, dtype)
    operands = [broadcast(aligned(x), shape) for x in (cond, first, second)]
    _elementwise.run("where", out, operands, [np.dtype(np.bool_), dtype, dtype])
    return out


def _common_type(*operands: Any) -> np.dtype[Any]:
    probes = [np.empty(0, x.dtype) if isinstance(x, (Array, np.ndarray, np.generic)) else x for x in operands]
    return _single_of_half(np.result_type(*probes))


def clip(x: Operand, /, min: Operand | None = None, max: Operand | None = None) -> Array:
    """The elements, but none below `min` or above `max`, in the type of `x`."""
    array = arrays_of("clip", [x, *(bound for bound in (min, max) if isinstance(bound, Array))])[0]
    out = array
    for bound, name in ((min, "maximum"), (max, "minimum")):
        if bound is not None:
            out = combined(name, out, _bound(bound, array.dtype), False)
    if out.dtype != array.dtype:
        out = out.astype(array.dtype)
    return out.copy() if out is array else out


def _bound(bound: Any, dtype: np.dtype[Any]) -> Any:
    """A Python integer beyond the range of a type bounds no more than the end of the range does."""
    if isinstance(bound, int) and not isinstance(bound, bool) and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min if bound < limits.min else limits.max if bound > limits.max else bound
    return bound


def isclose(x1: Operand, x2: Operand, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Array:
    """Whether both differ by at most `atol + rtol * abs(x2)`."""
    context = common_context("isclose", (x1, x2))
    first, second = as_array(x1, context), as_array(x2, context)
    if on_cpu(first):
        return from_host(context, np.isclose(first.numpy(), second.numpy(), rtol, atol, equal_nan))
    near = less_equal(abs(subtract(first, second)), add(atol, multiply(rtol, abs(second))))
    out = logical_or(logical_and(near, isfinite(second)), equal(first, second))
    return logical_or(out, logical_and(isnan(first), isnan(second))) if equal_nan else out


def nan_to_num(x: Operand, /, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Array:
    """The numbers, with others for not-a-number and the infinities; those are the largest by default."""
    array = as_array(x)
    if array.dtype.kind == "c":
        out = array.copy()
        for part in (out.real, out.imag):
            part[...] = nan_to_num(part, nan, posinf, neginf)
        return out
    if array.dtype.kind != "f":
        return array.copy()
    limits = np.finfo(array.dtype)
    kind = array.dtype.type
    out = choose(isnan(array), kind(nan), array)
    out = choose(equal(out, kind(np.inf)), kind(limits.max if posinf is None else posinf), out)
    return choose(equal(out, kind(-np.inf)), kind(limits.min if neginf is None else neginf), out)
