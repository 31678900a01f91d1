"""Reductions of arrays: sums, extremes, means, truth."""

from __future__ import annotations

import builtins
from typing import Any, TypeAlias

import numpy as np

from .._arithmetic import aligned, broadcast, on_cpu, reduced
from .._indexing import astype as _astype
from .._parloop import Array
from .._scan import scan
from ._device import Operand, arrays_of, as_array, from_host, supported
from ._elementwise import abs as _abs
from ._elementwise import combine, isclose, multiply, sqrt, subtract

Axis: TypeAlias = "int | tuple[int, ...] | None"


def _reduced(name: str, x: Operand, axis: Axis, dtype: Any, keepdims: bool) -> Array:
    return reduced(name, as_array(x), axis, None if dtype is None else supported(dtype), keepdims)


def sum(x: Operand, /, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """The sum of all elements, or along axes."""
    return _reduced("sum", x, axis, dtype, keepdims)


def prod(x: Operand, /, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """The product of all elements, or along axes."""
    return _reduced("prod", x, axis, dtype, keepdims)


def min(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The smallest element, or along axes; not-a-number if there is one."""
    return _reduced("min", x, axis, None, keepdims)


def max(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The largest element, or along axes; not-a-number if there is one."""
    return _reduced("max", x, axis, None, keepdims)


def any(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Whether any element is not zero, of all or along axes."""
    return _reduced("any", x, axis, None, keepdims)


def all(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Whether no element is zero, of all or along axes."""
    return _reduced("all", x, axis, None, keepdims)


def mean(x: Operand, /, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """The mean of all elements, or along axes."""
    return _reduced("mean", x, axis, dtype, keepdims)


amin, amax = min, max


def _axes(x: Array, axis: Axis) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)


def _count(x: Array, axis: Axis) -> int:
    return int(np.prod([x.shape[own] for own in _axes(x, axis)], dtype=np.int64))


def var(x: Operand, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The variance of all elements, or along axes; the sum of squares is divided by their number less `correction`."""
    array = as_array(x)
    if on_cpu(array):
        return from_host(array.context, np.var(array.numpy(), axis=axis, ddof=correction, keepdims=keepdims))  # type: ignore[call-overload, unused-ignore]
    if array.dtype.kind in "biu":
        array = _astype(array, np.float64)
    deviation = _abs(subtract(array, mean(array, axis=axis, keepdims=True)))
    total = sum(multiply(deviation, deviation), axis=axis, keepdims=keepdims)
    return combine("divide", total, builtins.max(_count(array, axis) - correction, 0.0))


def std(x: Operand, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The standard deviation of all elements, or along axes."""
    return sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def count_nonzero(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """How many elements are not zero, of all or along axes."""
    array = as_array(x)
    return sum(array if array.dtype == np.bool_ else combine("not_equal", array, 0), axis=axis, dtype=np.int64, keepdims=keepdims)


def _cumulative(name: str, x: Operand, axis: int | None, dtype: Any, include_initial: bool) -> Array:
    array = as_array(x)
    if axis is None:
        if array.ndim != 1:
            raise ValueError(f"axis is required for an array with {array.ndim} axes: results accumulate along one axis")
        axis = 0
    ufunc = "add" if name == "cumsum" else "multiply"
    found = getattr(np.ones(1, array.dtype), name)(dtype=None if dtype is None else supported(dtype)).dtype
    own = range(array.ndim)[axis]
    if on_cpu(array):
        host = getattr(np, name)(array.numpy(), axis=own, dtype=found)
        if include_initial:
            shape = [*host.shape[:own], 1, *host.shape[own + 1 :]]
            host = np.concatenate([np.full(shape, name == "cumprod", found), host], axis=own)
        return from_host(array.context, host)
    order = [*(other for other in range(array.ndim) if other != own), own]
    rows = array.transpose(order)
    length = rows.shape[-1]
    flat = aligned(rows).reshape(rows.size // length if length else 0, length)
    out = scan(ufunc, flat, found).reshape(rows.shape)
    if include_initial:
        more = array.context.empty((*rows.shape[:-1], length + 1), found)
        more[..., :1] = found.type(name == "cumprod")
        more[..., 1:] = out
        out = more
    return out.transpose([order.index(other) for other in range(array.ndim)])


def cumulative_sum(x: Operand, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """The sum of all elements up to each along an axis, with `include_initial` after a zero."""
    return _cumulative("cumsum", x, axis, dtype, include_initial)


def cumulative_prod(x: Operand, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """The product of all elements up to each along an axis, with `include_initial` after a one."""
    return _cumulative("cumprod", x, axis, dtype, include_initial)


def cumsum(x: Operand, /, axis: int | None = None, dtype: Any = None) -> Array:
    """The sum of all elements up to each, along an axis or of all in C order, as NumPy's function."""
    array = as_array(x)
    return cumulative_sum(array.reshape(-1) if axis is None else array, axis=axis, dtype=dtype)


def cumprod(x: Operand, /, axis: int | None = None, dtype: Any = None) -> Array:
    """The product of all elements up to each, along an axis or of all in C order, as NumPy's function."""
    array = as_array(x)
    return cumulative_prod(array.reshape(-1) if axis is None else array, axis=axis, dtype=dtype)


def diff(x: Operand, /, n: int = 1, axis: int = -1, *, prepend: Operand | None = None, append: Operand | None = None) -> Array:
    """The differences of elements that follow each other along an axis, `n` times."""
    array = as_array(x)
    own = range(array.ndim)[axis]
    ends = [as_array(end, array.context) for end in (prepend, append) if end is not None]
    if ends:
        parts = arrays_of("diff", [*([prepend] if prepend is not None else []), array, *([append] if append is not None else [])])
        array = _joined(parts, own)
    for _ in range(n):
        before = (slice(None),) * own
        ufunc = "not_equal" if array.dtype == np.bool_ else "subtract"
        array = combine(ufunc, array[before + (slice(1, None),)], array[before + (slice(None, -1),)])
    return array


def trapezoid(y: Operand, /, x: Operand | None = None, dx: Operand = 1.0, axis: int = -1) -> Array:
    """The integral along an axis by the trapezoidal rule, between points `x`, or points at a distance of `dx`."""
    values = as_array(y)
    own = range(values.ndim)[axis]
    steps: Operand = dx
    if x is not None:
        points = as_array(x, values.context)
        steps = diff(points, axis=own if points.ndim > 1 else 0)
        if steps.ndim == 1:
            steps = steps.reshape((-1,) + (1,) * (values.ndim - own - 1))
    before = (slice(None),) * own
    both = combine("add", values[before + (slice(1, None),)], values[before + (slice(None, -1),)])
    return sum(combine("divide", multiply(steps, both), 2.0), axis=own)


def _joined(parts: list[Array], axis: int) -> Array:
    shaped = [part if part.ndim else part.reshape((1,) * parts[0].ndim) for part in parts]
    length = builtins.sum(part.shape[axis] for part in shaped)
    first = shaped[0].shape
    out = parts[0].context.empty((*first[:axis], length, *first[axis + 1 :]), np.result_type(*(part.dtype for part in parts)))
    at = 0
    for part in shaped:
        out[(slice(None),) * axis + (slice(at, at + part.shape[axis]),)] = part
        at += part.shape[axis]
    return out


def allclose(x1: Operand, x2: Operand, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements differ by at most `atol + rtol * abs(x2)`. The host reads the answer."""
    return bool(all(isclose(x1, x2, rtol, atol, equal_nan)))


def array_equal(x1: Operand, x2: Operand, /) -> bool:
    """Whether both have the same shape and equal elements. The host reads the answer."""
    first, second = arrays_of("array_equal", (x1, x2))
    return first.shape == second.shape and bool(all(combine("equal", first, second)))


def ptp(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The largest less the smallest element, of all or along axes."""
    array = as_array(x)
    return subtract(max(array, axis=axis, keepdims=keepdims), min(array, axis=axis, keepdims=keepdims))


def average(x: Operand, /, axis: Axis = None, weights: Operand | None = None) -> Array:
    """The mean of all elements, or along axes, each counted with its weight."""
    if weights is None:
        return mean(x, axis=axis)
    array, counted = arrays_of("average", (x, weights))
    return combine("divide", sum(multiply(array, counted), axis=axis), sum(broadcast(counted, array.shape), axis=axis))
