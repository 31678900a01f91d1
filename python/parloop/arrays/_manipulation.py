"""Arrays in other shapes and orders, joined and taken apart. What is possible in place shares the memory."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arithmetic import broadcast, on_cpu
from .._indexing import take as _take
from .._order import searched
from .._parloop import Array
from .._scan import ramp, scan
from ._creation import _set
from ._device import Operand, arrays_of, as_array, from_host, supported

_INT = np.dtype(np.int64)


def _axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} is out of bounds for an array of {ndim} axes")
    return axis % ndim if ndim else 0


def _view(x: Array, shape: Sequence[int], strides: Sequence[int], offset: int | None = None) -> Array:
    return x._view(list(shape), list(strides), (x.offset if offset is None else offset) if x.size else 0, x.dtype)


def broadcast_to(x: Operand, /, shape: Sequence[int]) -> Array:
    """The elements in another shape, which they are repeated to fill. The memory is shared, and read-only."""
    return broadcast(as_array(x), tuple(shape))


def broadcast_arrays(*arrays: Operand) -> list[Array]:
    """The arrays in the shape that they have together."""
    given = arrays_of("broadcast_arrays", arrays)
    shape = np.broadcast_shapes(*(x.shape for x in given))
    return [broadcast(x, shape) for x in given]


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together."""
    return np.broadcast_shapes(*shapes)


def expand_dims(x: Operand, /, axis: int | tuple[int, ...] = 0) -> Array:
    """The array with a further axis of length 1 at that place."""
    array = as_array(x)
    given = axis if isinstance(axis, tuple) else (axis,)
    ndim = array.ndim + len(given)
    places = {_axis(own, ndim) for own in given}
    if len(places) != len(given):
        raise ValueError(f"axes {given} contain a duplicate")
    lengths = iter(zip(array.shape, array.strides))
    pairs = [(1, 0) if place in places else next(lengths) for place in range(ndim)]
    return _view(array, [pair[0] for pair in pairs], [pair[1] for pair in pairs])


def squeeze(x: Operand, /, axis: int | tuple[int, ...] | None = None) -> Array:
    """The array without axes of length 1 that are named."""
    array = as_array(x)
    given = [own for own, length in enumerate(array.shape) if length == 1] if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = {_axis(own, array.ndim) for own in given}
    for own in gone:
        if array.shape[own] != 1:
            raise ValueError(f"axis {own} has length {array.shape[own]}; only axes of length 1 can be removed")
    kept = [own for own in range(array.ndim) if own not in gone]
    return _view(array, [array.shape[own] for own in kept], [array.strides[own] for own in kept])


def flip(x: Operand, /, axis: int | tuple[int, ...] | None = None) -> Array:
    """The elements in reverse order along axes, or along all."""
    array = as_array(x)
    given = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    turned = {_axis(own, array.ndim) for own in given}
    index = tuple(slice(None, None, -1) if own in turned else slice(None) for own in range(array.ndim))
    return array[index] if array.ndim else array.copy()


def flipud(x: Operand, /) -> Array:
    """The elements in reverse order along the first axis."""
    return flip(x, axis=0)


def fliplr(x: Operand, /) -> Array:
    """The elements in reverse order along the second axis."""
    return flip(x, axis=1)


def permute_dims(x: Operand, /, axes: Sequence[int]) -> Array:
    """The axes in another order."""
    return as_array(x).transpose(tuple(axes))


def transpose(x: Operand, /, axes: Sequence[int] | None = None) -> Array:
    """The axes in another order, by default reversed, as NumPy's function."""
    return as_array(x).transpose(None if axes is None else tuple(axes))


def swapaxes(x: Operand, axis1: int, axis2: int, /) -> Array:
    """The array with two axes exchanged."""
    array = as_array(x)
    order = list(range(array.ndim))
    first, second = _axis(axis1, array.ndim), _axis(axis2, array.ndim)
    order[first], order[second] = second, first
    return array.transpose(tuple(order)) if order else array


def moveaxis(x: Operand, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Array:
    """The array with axes moved to other places; the others stay in order."""
    array = as_array(x)
    sources = [_axis(own, array.ndim) for own in (source if isinstance(source, tuple) else (source,))]
    places = [_axis(own, array.ndim) for own in (destination if isinstance(destination, tuple) else (destination,))]
    if len(sources) != len(places):
        raise ValueError(f"moveaxis moves {len(sources)} axes to {len(places)} places; give the same number of both")
    order = [own for own in range(array.ndim) if own not in sources]
    for place, own in sorted(zip(places, sources)):
        order.insert(place, own)
    return array.transpose(tuple(order)) if order else array


def matrix_transpose(x: Operand, /) -> Array:
    """The last two axes exchanged."""
    array = as_array(x)
    if array.ndim < 2:
        raise ValueError(f"a matrix has two axes or more, not {array.ndim}")
    return swapaxes(array, -1, -2)


def reshape(x: Operand, /, shape: int | Sequence[int], *, copy: bool | None = None, order: str = "C") -> Array:
    """The elements in another shape, one length of which may be -1: in place where that is possible, unless `copy` says otherwise."""
    array = as_array(x)
    out = array.reshape(shape if isinstance(shape, int) else tuple(shape), order=order)
    is_copied = out.memory.handle != array.memory.handle
    if copy is False and is_copied and out.size:
        raise ValueError(f"an array of shape {array.shape} and strides {array.strides} cannot have shape {out.shape} without a copy")
    return out.copy() if copy and not is_copied else out


def ravel(x: Operand, /) -> Array:
    """The elements along one axis: in place where that is possible."""
    return as_array(x).ravel()


def concat(arrays: Sequence[Operand], /, axis: int | None = 0, *, dtype: Any = None) -> Array:
    """The arrays one after the other along an axis that they have; with `axis=None` the elements of all."""
    given = arrays_of("concat", arrays)
    if not given:
        raise ValueError("concat takes at least one array")
    if axis is None:
        given, axis = [x.reshape(-1) for x in given], 0
    first = given[0]
    own = _axis(axis, first.ndim)
    if not first.ndim:
        raise ValueError("arrays without axes cannot be concatenated; use stack")
    for x in given:
        if x.ndim != first.ndim or any(a != b for at, (a, b) in enumerate(zip(x.shape, first.shape)) if at != own):
            raise ValueError(f"arrays of shapes {first.shape} and {x.shape} cannot be concatenated along axis {own}; all other lengths must agree")
    found = supported(np.result_type(*(x.dtype for x in given)) if dtype is None else dtype)
    shape = [*first.shape]
    shape[own] = sum(x.shape[own] for x in given)
    out = first.context.empty(tuple(shape), found)
    at = 0
    for x in given:
        _set(out[(slice(None),) * own + (slice(at, at + x.shape[own]),)], x)
        at += x.shape[own]
    return out


concatenate = concat


def stack(arrays: Sequence[Operand], /, axis: int = 0) -> Array:
    """Arrays of one shape along a further axis."""
    given = arrays_of("stack", arrays)
    if not given:
        raise ValueError("stack takes at least one array")
    if any(x.shape != given[0].shape for x in given):
        raise ValueError(f"arrays of shapes {', '.join(str(x.shape) for x in given)} cannot be stacked; all must have the same shape")
    return concat([expand_dims(x, axis=axis) for x in given], axis=axis)


def _of_axes(arrays: Sequence[Operand], ndim: int) -> list[Array]:
    given = arrays_of("stack", arrays)
    return [x if x.ndim >= ndim else x.reshape((1,) * (ndim - x.ndim) + x.shape) for x in given]


def hstack(arrays: Sequence[Operand], /) -> Array:
    """The arrays one after the other along the second axis, or along the only one."""
    given = _of_axes(arrays, 1)
    return concat(given, axis=0 if given and given[0].ndim == 1 else 1)


def vstack(arrays: Sequence[Operand], /) -> Array:
    """The arrays one after the other along the first axis; those of one axis are rows."""
    return concat(_of_axes(arrays, 2), axis=0)


def column_stack(arrays: Sequence[Operand], /) -> Array:
    """The arrays one after the other along the second axis; those of one axis are columns."""
    return concat([x.reshape(-1, 1) if x.ndim < 2 else x for x in arrays_of("column_stack", arrays)], axis=1)


def append(x: Operand, values: Operand, /, axis: int | None = None) -> Array:
    """An array with values after it along an axis; without one, the elements of both."""
    return concat([x, values], axis=axis)


def unstack(x: Operand, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The parts along an axis, without it."""
    array = as_array(x)
    own = _axis(axis, array.ndim)
    if not array.ndim:
        raise ValueError("an array without axes has no parts")
    before = (slice(None),) * own
    return tuple(squeeze(array[before + (slice(at, at + 1),)], own) for at in range(array.shape[own]))


def roll(x: Operand, /, shift: int | tuple[int, ...], axis: int | tuple[int, ...] | None = None) -> Array:
    """The elements moved along axes, those at the end to the front; without an axis, all in C order."""
    array = as_array(x)
    if axis is None:
        total = sum(shift) if isinstance(shift, tuple) else shift
        return roll(array.reshape(-1), total, axis=0).reshape(array.shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,)
    # One shift for several axes, or several for one.
    count = max(len(axes), len(shifts))
    if {len(axes), len(shifts)} - {1, count}:
        raise ValueError(f"roll was given {len(shifts)} shifts for {len(axes)} axes; give the same number of both, or one shift")
    axes, shifts = axes * (count // len(axes)), shifts * (count // len(shifts))
    for own, by in zip((_axis(own, array.ndim) for own in axes), shifts):
        length = array.shape[own]
        by = by % length if length else 0
        before = (slice(None),) * own
        array = concat([array[before + (slice(length - by, None),)], array[before + (slice(None, length - by),)]], axis=own)
    return array.copy() if not axes else array


def tile(x: Operand, repetitions: int | Sequence[int], /) -> Array:
    """The array several times along each axis."""
    array = as_array(x)
    times = (repetitions,) if isinstance(repetitions, (int, np.integer)) else tuple(int(own) for own in repetitions)
    ndim = max(array.ndim, len(times))
    times = (1,) * (ndim - len(times)) + times
    shape = (1,) * (ndim - array.ndim) + array.shape
    array = array.reshape(tuple(length for own in shape for length in (1, own)))
    full = tuple(length for own, count in zip(shape, times) for length in (count, own))
    return broadcast(array, full).copy().reshape(tuple(own * count for own, count in zip(shape, times)))


def repeat(x: Operand, repeats: int | Operand, /, axis: int | None = None) -> Array:
    """Each element several times along an axis, or of all in C order."""
    array = as_array(x)
    if axis is None:
        array, axis = array.reshape(-1), 0
    own = _axis(axis, array.ndim)
    length = array.shape[own]
    if isinstance(repeats, (int, np.integer)):
        parts = expand_dims(array, axis=own + 1)
        shape = (*array.shape[: own + 1], int(repeats), *array.shape[own + 1 :])
        return broadcast(parts, shape).copy().reshape((*array.shape[:own], length * int(repeats), *array.shape[own + 1 :]))
    counts = as_array(np.asarray(repeats) if isinstance(repeats, (list, tuple)) else repeats, array.context)
    if on_cpu(array):
        return from_host(array.context, np.repeat(array.numpy(), counts.numpy(), axis=own))
    counts = broadcast(counts if counts.ndim else counts.reshape(1), (length,))
    ends = scan("add", counts.reshape(1, -1), _INT).reshape(-1)
    total = int(ends[-1]) if length else 0
    places = searched(ends, ramp(array.context, total, 0, 1, _INT), right=True)
    out: Array = _take(array, (slice(None),) * own + (places,))
    return out


def split(x: Operand, sections: int | Sequence[int], /, axis: int = 0) -> list[Array]:
    """Parts of equal length along an axis, or those between places; the memory is shared."""
    array = as_array(x)
    own = _axis(axis, array.ndim)
    length = array.shape[own]
    if isinstance(sections, int):
        if length % sections:
            raise ValueError(f"{length} elements cannot be split into {sections} equal parts")
        places = [length // sections * part for part in range(1, sections)]
    else:
        places = list(sections)
    return [array[(slice(None),) * own + (slice(first, last),)] for first, last in zip([0, *places], [*places, length])]


def atleast_1d(x: Operand, /) -> Array:
    """The array, or one of one axis for a number."""
    array = as_array(x)
    return array if array.ndim else array.reshape(1)


def atleast_2d(x: Operand, /) -> Array:
    """The array, or one of two axes for a number or a row."""
    return _of_axes([x], 2)[0]


def shape(x: Operand, /) -> tuple[int, ...]:
    """The lengths of the axes."""
    return as_array(x).shape


def ndim(x: Operand, /) -> int:
    """The number of axes."""
    return as_array(x).ndim


def size(x: Operand, /, axis: int | None = None) -> int:
    """The number of elements, or of those along an axis."""
    array = as_array(x)
    return array.size if axis is None else array.shape[_axis(axis, array.ndim)]


def diagonal(x: Operand, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices, the last two axes; the memory is shared."""
    array = as_array(x)
    if array.ndim < 2:
        raise ValueError(f"a matrix has two axes or more, not {array.ndim}")
    (rows, columns), (down, right) = array.shape[-2:], array.strides[-2:]
    row, column = builtins.max(-offset, 0), builtins.max(offset, 0)
    length = builtins.max(builtins.min(rows - row, columns - column), 0)
    at = array.offset + (row * down + column * right if length else 0)
    return _view(array, [*array.shape[:-2], length], [*array.strides[:-2], down + right], at)
