"""Elements by their values and by their places."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _selection
from .._arithmetic import on_cpu
from .._indexing import astype as _astype
from .._indexing import take as _take
from .._order import searched
from .._parloop import Array
from .._scan import ramp
from ._device import Operand, arrays_of, as_array, common_context, from_host
from ._elementwise import choose, combine, isnan, logical_and, logical_or
from ._manipulation import flip, matrix_transpose
from ._statistics import max as _max
from ._statistics import min as _min

_INT = np.dtype(np.int64)


def _place_of(name: str, x: Operand, axis: int | None, keepdims: bool) -> Array:
    array = as_array(x)
    if on_cpu(array):
        return from_host(array.context, getattr(np, name)(array.numpy(), axis=axis, keepdims=keepdims))
    if array.size == 0:
        getattr(np, name)(np.empty(array.shape, array.dtype), axis=axis)
    if axis is None:
        found = _place_of(name, array.reshape(-1), 0, False)
        return found.reshape((1,) * array.ndim) if keepdims else found
    own = range(array.ndim)[axis]
    extreme = (_max if name == "argmax" else _min)(array, axis=own, keepdims=True)
    same = combine("equal", array, extreme)
    if array.dtype.kind in "fc":
        # Not-a-number is the extreme where there is one.
        same = logical_or(same, logical_and(isnan(array), isnan(extreme)))
    length = array.shape[own]
    places = ramp(array.context, length, 0, 1, _INT).reshape((-1,) + (1,) * (array.ndim - own - 1))
    return _min(choose(same, places, np.int64(length)), axis=own, keepdims=keepdims)


def argmax(x: Operand, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """The place of the first largest element, of all or along an axis."""
    return _place_of("argmax", x, axis, keepdims)


def argmin(x: Operand, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """The place of the first smallest element, of all or along an axis."""
    return _place_of("argmin", x, axis, keepdims)


def nonzero(x: Operand, /) -> tuple[Array, ...]:
    """The places of the elements that are not zero, one array for each axis. The host reads their number."""
    array = as_array(x)
    if array.ndim == 0:
        raise ValueError("nonzero takes an array of one axis or more; use reshape(x, (1,)) for a number")
    if on_cpu(array):
        return tuple(from_host(array.context, places) for places in np.nonzero(array.numpy()))
    return _selection.nonzero(array)


def flatnonzero(x: Operand, /) -> Array:
    """The places, in C order, of the elements that are not zero."""
    return nonzero(as_array(x).reshape(-1))[0]


def argwhere(x: Operand, /) -> Array:
    """The places of the elements that are not zero, one in each row."""
    found = nonzero(x)
    out = found[0].context.empty((len(found), found[0].size), _INT)
    for axis, places in enumerate(found):
        out[axis] = places
    return matrix_transpose(out)


def where(condition: Operand, x1: Operand | None = None, x2: Operand | None = None, /) -> Any:
    """Elements of the first array where the condition holds, of the second elsewhere; without both, `nonzero(condition)`."""
    if x1 is None and x2 is None:
        return nonzero(condition)
    if x1 is None or x2 is None:
        raise ValueError("where takes both x1 and x2, or neither of them")
    return choose(condition, x1, x2)


def searchsorted(x1: Operand, x2: Operand, /, side: str = "left", sorter: Operand | None = None) -> Array:
    """Where each element of `x2` is to be inserted into `x1`, whose elements are in order, to keep them so: before equal ones, or after."""
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right', not {side!r}")
    context = common_context("searchsorted", (x1, x2, sorter))
    first, second = as_array(x1, context), as_array(x2, context)
    if first.ndim != 1:
        raise ValueError(f"searchsorted searches an array of one axis, not of {first.ndim}")
    order = None if sorter is None else as_array(sorter, context)
    if on_cpu(first):
        options: Any = {"side": side, "sorter": None if order is None else order.numpy()}
        return from_host(context, np.searchsorted(first.numpy(), second.numpy(), **options))
    if order is not None:
        first = _take(first, order)
    dtype = np.result_type(first.dtype, second.dtype)
    first, second = (x if x.dtype == dtype else _astype(x, dtype) for x in (first, second))
    return searched(first, second, side == "right")


def digitize(x: Operand, bins: Operand, /, right: bool = False) -> Array:
    """The number of the bin, between neighbouring elements of `bins`, that each element is in. Bins ascend, or descend."""
    array, edges = arrays_of("digitize", (x, bins))
    if on_cpu(array):
        return from_host(array.context, np.digitize(array.numpy(), edges.numpy(), right=right))
    # The host reads the first and the last edge, to know which way they go.
    if edges.size > 1 and edges[0] > edges[-1]:
        side = "left" if not right else "right"
        found = searchsorted(flip(edges), array, side=side)
        return combine("subtract", edges.size, found)
    return searchsorted(edges, array, side="left" if right else "right")


def take(x: Operand, indices: Operand, /, axis: int | None = None) -> Array:
    """The elements at places along an axis, which may be left out for an array of one."""
    array, places = arrays_of("take", (x, np.asarray(indices) if isinstance(indices, (list, tuple)) else indices))
    if axis is None:
        if array.ndim != 1:
            raise ValueError(f"axis is required for an array with {array.ndim} axes")
        axis = 0
    own = range(array.ndim)[axis]
    out: Array = _take(array, (slice(None),) * own + (_one_axis(places),))
    return out if places.ndim else out.reshape((*array.shape[:own], *array.shape[own + 1 :]))


def _one_axis(places: Array) -> Array:
    """An index without axes would select a view."""
    return places if places.ndim else places.reshape(1)


def take_along_axis(x: Operand, indices: Operand, /, axis: int = -1) -> Array:
    """The elements along an axis at places that differ from row to row, as `argsort` gives them."""
    array, places = arrays_of("take_along_axis", (x, indices))
    own = range(array.ndim)[axis]
    if on_cpu(array):
        lengths = np.broadcast_shapes(*(other.shape[:own] + (1,) + other.shape[own + 1 :] for other in (array, places)))
        shaped = np.broadcast_to(places.numpy(), (*lengths[:own], places.shape[own], *lengths[own + 1 :]))
        values = np.broadcast_to(array.numpy(), (*lengths[:own], array.shape[own], *lengths[own + 1 :]))
        return from_host(array.context, np.take_along_axis(values, shaped, axis=own))
    index: list[Any] = []
    for other, length in enumerate(array.shape):
        if other == own:
            index.append(places)
        else:
            shape = (1,) * other + (-1,) + (1,) * (array.ndim - other - 1)
            index.append(ramp(array.context, length, 0, 1, _INT).reshape(shape))
    out: Array = _take(array, tuple(index))
    return out


def extract(condition: Operand, x: Operand, /) -> Array:
    """The elements for which the condition holds, along one axis."""
    mask, array = arrays_of("extract", (condition, x))
    return take(array.reshape(-1), flatnonzero(mask), axis=0)


def interp(x: Operand, xp: Operand, fp: Operand, /, left: float | None = None, right: float | None = None) -> Array:
    """The values at `x` of the function that is linear between the points `xp`, which ascend, where it has the values `fp`."""
    at, points, values = arrays_of("interp", (x, xp, fp))
    if on_cpu(at):
        return from_host(at.context, np.interp(at.numpy(), points.numpy(), values.numpy(), left, right))
    shape = at.shape
    at = _astype(at.reshape(-1), np.float64)
    points, values = _astype(points, np.float64), _astype(values, np.float64)
    last = points.size - 1
    upper = combine("minimum", combine("maximum", searchsorted(points, at, side="right"), 1), last)
    lower = combine("subtract", upper, 1)
    x0, x1, y0, y1 = _take(points, lower), _take(points, upper), _take(values, lower), _take(values, upper)
    out = y0 + (at - x0) * ((y1 - y0) / (x1 - x0)) if last > 0 else at * 0 + values
    out = choose(combine("less", at, points[:1]), values[:1] if left is None else left, out)
    out = choose(combine("greater_equal", at, points[-1:]), values[-1:], out)
    if right is not None:
        out = choose(combine("greater", at, points[-1:]), right, out)
    return out.reshape(shape)


def unravel_index(indices: Operand, shape: tuple[int, ...], /) -> tuple[Array, ...]:
    """Places in C order as places along each axis."""
    rest = as_array(indices)
    found = []
    for length in reversed(shape):
        found.append(combine("remainder", rest, length))
        rest = combine("floor_divide", rest, length)
    return tuple(reversed(found))

