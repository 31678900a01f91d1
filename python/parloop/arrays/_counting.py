"""How often values are among the elements of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arithmetic import on_cpu
from .._indexing import astype as _astype
from .._indexing import take as _take
from .._parloop import Array
from .._reduction import sums_of_ranges
from .._scan import ramp
from ._creation import linspace
from ._device import Operand, as_array, common_context, from_host
from ._elementwise import combine
from ._searching import searchsorted
from ._sorting import argsort, sort
from ._statistics import max as _max
from ._statistics import min as _min
from ._statistics import sum as _sum

_INT = np.dtype(np.int64)


def bincount(x: Operand, /, weights: Operand | None = None, minlength: int = 0) -> Array:
    """How often each number from zero on is among the elements, or the sum of the weights there. The host reads the largest."""
    array = as_array(x)
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise TypeError(f"bincount counts integers along one axis, not {array.dtype.name} along {array.ndim}")
    context = common_context("bincount", (x, weights))
    if on_cpu(array):
        given = None if weights is None else as_array(weights, context).numpy()
        return from_host(context, np.bincount(array.numpy(), given, minlength))
    if array.size and int(_min(array)) < 0:
        raise ValueError("bincount counts non-negative integers")
    length = max(int(_max(array)) + 1 if array.size else 0, minlength)
    order = argsort(array)
    edges = searchsorted(_astype(_take(array, order), _INT), ramp(context, length + 1, 0, 1, _INT))
    if weights is None:
        return combine("subtract", edges[1:], edges[:-1])
    return sums_of_ranges(_take(_astype(as_array(weights, context), np.float64), order), edges[:-1], edges[1:])


def histogram(
    x: Operand, /, bins: Any = 10, range: tuple[float, float] | None = None, density: bool | None = None, weights: Operand | None = None
) -> tuple[Array, Array]:
    """How many elements are in each bin, or the sum of their weights, and the edges of the bins.

    With `density` the counts are divided by the number of all that were counted and by the widths of the bins, so that the integral is one.
    The host reads the extremes where no range is given.
    """
    context = common_context("histogram", (x, bins, weights))
    array = as_array(x, context).reshape(-1)
    counted = None if weights is None else as_array(np.asarray(weights) if isinstance(weights, (list, tuple)) else weights, context).reshape(-1)
    if counted is not None and counted.size != array.size:
        raise ValueError(f"histogram was given {counted.size} weights for {array.size} elements; give one for each")
    if on_cpu(array):
        given: Any = None if counted is None else counted.numpy()
        normed: Any = density
        counts, edges = np.histogram(array.numpy(), bins.numpy() if isinstance(bins, Array) else bins, range, normed, given)
        return from_host(context, counts), from_host(context, edges)
    edges_on_device = _edges(array, bins, range)
    order = None if counted is None else argsort(array)
    ordered = sort(array) if order is None else _take(array, order)
    places = searchsorted(ordered, edges_on_device[:-1])
    last = searchsorted(ordered, edges_on_device[-1:], side="right")
    ends = context.empty(places.size, _INT)
    ends[:-1] = places[1:]
    ends[-1:] = last
    if counted is not None:
        found = sums_of_ranges(_take(counted, order), places, ends)
    else:
        found = combine("subtract", ends, places)
    if density:
        widths = combine("subtract", edges_on_device[1:], edges_on_device[:-1])
        found = combine("divide", combine("divide", found, widths), _sum(found))
    return found, edges_on_device


def _edges(array: Array, bins: Any, range: tuple[float, float] | None) -> Array:
    """The edges of bins that are counted or listed."""
    if not isinstance(bins, (int, np.integer)):
        return as_array(np.asarray(bins) if isinstance(bins, (list, tuple)) else bins, array.context)
    if bins < 1:
        raise ValueError(f"histogram needs at least one bin, not {bins}")
    low, high = range if range is not None else (float(_min(array)), float(_max(array))) if array.size else (0.0, 1.0)
    return linspace(low - (low == high) / 2, high + (low == high) / 2, int(bins) + 1, device=array.context)
