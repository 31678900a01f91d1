"""The distinct elements of an array. The host reads their number."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import _selection
from .._arithmetic import on_cpu
from .._indexing import take as _take
from .._parloop import Array
from .._scan import flagged, ramp, scan
from ._device import Operand, arrays_of, as_array, from_host
from ._elementwise import combine, logical_and
from ._manipulation import concat
from ._searching import searchsorted
from ._sorting import argsort

_INT = np.dtype(np.int64)


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: Array
    inverse_indices: Array


def unique_all(x: Operand, /) -> UniqueAll:
    """The distinct elements in order, where each is first, which of them each element is, and how often it is there."""
    array = as_array(x)
    flat = array.reshape(-1)
    if on_cpu(array):
        found = np.unique(flat.numpy(), return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
        values, indices, inverse, counts = (from_host(array.context, part) for part in found)
        return UniqueAll(values, indices, inverse.reshape(array.shape), counts)
    context = array.context
    if not flat.size:
        nothing = context.empty(0, _INT)
        return UniqueAll(flat.copy(), nothing, nothing.reshape(array.shape), nothing)
    order = argsort(flat)
    ordered: Array = _take(flat, order)
    is_first = context.empty(flat.size, np.bool_)
    is_first[:1] = True
    is_first[1:] = combine("not_equal", ordered[1:], ordered[:-1])
    starts = flagged(is_first)
    numbers = combine("subtract", scan("add", is_first.reshape(1, -1), _INT).reshape(-1), 1)
    inverse = context.empty(flat.size, _INT)
    _selection.scatter(inverse, combine("multiply", order, _INT.itemsize), numbers, distinct=True)
    ends = concat([starts[1:], ramp(context, 1, flat.size, 0, _INT)])
    return UniqueAll(_take(ordered, starts), _take(order, starts), inverse.reshape(array.shape), combine("subtract", ends, starts))


def unique_counts(x: Operand, /) -> UniqueCounts:
    """The distinct elements in order, and how often each is there."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Operand, /) -> UniqueInverse:
    """The distinct elements in order, and which of them each element is."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Operand, /) -> Array:
    """The distinct elements in order."""
    return unique_all(x).values


def unique(x: Operand, /) -> Array:
    """The distinct elements in order; not-a-number is one of them once, as of NumPy's function."""
    array = as_array(x)
    values = unique_values(array)
    if array.dtype.kind != "f" or not values.size:
        return values
    # Not-a-numbers are last: all but one of them go.
    count = int(combine("not_equal", values, values).sum())
    return values[: values.size - count + 1] if count > 1 else values


def isin(x1: Operand, x2: Operand, /, *, invert: bool = False) -> Array:
    """Whether each element of the first array is among those of the second."""
    first, second = arrays_of("isin", (x1, x2))
    if on_cpu(first):
        return from_host(first.context, np.isin(first.numpy(), second.numpy(), invert=invert))
    values = second.reshape(-1)
    dtype = np.result_type(first.dtype, second.dtype)
    first, values = first.astype(dtype), values.astype(dtype)
    if not values.size:
        found = first.context.zeros(first.shape, np.bool_)
    else:
        ordered = _take(values, argsort(values))
        at = searchsorted(ordered, first)
        inside = combine("less", at, ordered.size)
        near = _take(ordered, combine("minimum", at, ordered.size - 1).reshape(-1)).reshape(first.shape)
        found = logical_and(inside, combine("equal", near, first))
    return combine("equal", found, False) if invert else found
