"""Elements of an array on a GPU that are selected by arrays on the same device: their places are found there too.

The host reads no more than the number of true elements of a mask, and the least and the largest of the places along an axis, which
must be inside of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _elementwise
from ._arithmetic import aligned, broadcast, check_device, combined, reduced
from ._order import argsort
from ._parloop import Array
from ._scan import flagged, ramp

_INT64 = np.dtype(np.int64)

#: Elements are moved as unsigned integers of their size; the largest are pairs.
_MOVED = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t", 16: "pair"}


def _mover(itemsize: int) -> str:
    element = _MOVED[itemsize]
    move = f"*(GPUGLMEM {element} *)(z + to[place]) = *(GPUGLMEM const {element} *)(x + place * {itemsize});"
    return f"""
typedef struct {{ uint64_t low; uint64_t high; }} pair;
GPUKERN void gather(const int64_t n, GPUGLMEM char *z, GPUGLMEM const char *x, GPUGLMEM const int64_t *at) {{
    VECTORIZE_OVER(i, n)
        *(GPUGLMEM {element} *)(z + i * {itemsize}) = *(GPUGLMEM const {element} *)(x + at[i]);
    END_VECTORIZE
}}
GPUKERN void scatter(const int64_t n, GPUGLMEM char *z, GPUGLMEM const char *x, GPUGLMEM const int64_t *to) {{
    VECTORIZE_OVER(place, n)
        {move}
    END_VECTORIZE
}}
GPUKERN void scatter_last(const int64_t n, GPUGLMEM char *z, GPUGLMEM const char *x, GPUGLMEM const int64_t *to, GPUGLMEM const int64_t *order) {{
    VECTORIZE_OVER(i, n)
        const int64_t place = order[i];
        if (i == n - 1 || to[order[i + 1]] != to[place]) {{
            {move}
        }}
    END_VECTORIZE
}}
"""


def gather(x: Array, places: Array) -> Array:
    """The elements at those bytes of the memory of `x`, in the shape of the places."""
    out = x.context.empty(places.shape, x.dtype)
    if out.size:
        kernel = _elementwise.compiled(x.context, _mover(x.dtype.itemsize), "gather")
        kernel(out.size, out.memory, x.memory, places.copy().memory)
    return out


def scatter(x: Array, places: Array, values: Array, distinct: bool) -> None:
    """Sets the elements at those bytes of the memory of `x`. Of several values for one element the last one stays."""
    if not places.size:
        return
    to, dense = places.copy().reshape(-1), values.copy()
    if distinct:
        _elementwise.compiled(x.context, _mover(x.dtype.itemsize), "scatter")(to.size, x.memory, dense.memory, to.memory)
        return
    order = argsort(to.reshape(1, -1))
    kernel = _elementwise.compiled(x.context, _mover(x.dtype.itemsize), "scatter_last")
    kernel(to.size, x.memory, dense.memory, to.memory, order.memory)


def nonzero(x: Array) -> tuple[Array, ...]:
    """The places along each axis of the elements that are not zero, in C order."""
    flags = x.context.empty(x.shape, np.bool_)
    _elementwise.run("positive", flags, [aligned(x)], [np.dtype(np.bool_)])
    rest = flagged(flags.reshape(-1))
    found: list[Array] = []
    for length in reversed(x.shape[1:]):
        found.append(combined("remainder", rest, length, False))
        rest = combined("floor_divide", rest, length, False)
    return (rest, *reversed(found)) if x.ndim else ()


class Selected(NamedTuple):
    """The bytes at which selected elements lie, in the shape of the selection."""

    places: Array
    #: Whether no element is selected twice.
    distinct: bool


class _Axis(NamedTuple):
    """A part of an index: elements in steps, or by an array."""

    length: int
    stride: int
    by: Array | None = None


def is_on_device(index: Any) -> bool:
    """Whether an index has arrays of a device in it."""
    if isinstance(index, tuple):
        return any(isinstance(item, Array) for item in index)
    return isinstance(index, Array)


def selected(x: Array, index: Any) -> Selected:
    """What `index`, in which there are arrays, selects."""
    parts, offset, distinct = _parts(x, index)
    by_array = [place for place, part in enumerate(parts) if part.by is not None]
    shape = np.broadcast_shapes(*(part.by.shape for part in parts if part.by is not None))
    places = ramp(x.context, 1, offset, 0, _INT64).reshape(())
    for part in parts:
        if part.by is not None:
            places = _sum(places, _inside(part.by, part.length, part.stride))
    places = broadcast(places, shape)
    # Arrays next to each other stay where they are in the index; else their axes come first.
    first = by_array[0] if by_array[-1] - by_array[0] + 1 == len(by_array) else 0
    before = [part for part in parts[:first] if part.by is None]
    after = [part for part in parts[first:] if part.by is None]
    axes = len(before) + len(shape) + len(after)
    places = places.reshape((1,) * len(before) + shape + (1,) * len(after))
    for axis, part in [*enumerate(before), *enumerate(after, len(before) + len(shape))]:
        column = ramp(x.context, part.length, 0, part.stride, _INT64)
        places = _sum(places, column.reshape((1,) * axis + (-1,) + (1,) * (axes - axis - 1)))
    return Selected(places, distinct)


def _sum(x: Array, y: Array) -> Array:
    out: Array = combined("add", x, y, False)
    return out


def _inside(by: Array, length: int, stride: int) -> Array:
    """How many bytes further the elements at these places along an axis are."""
    if by.size:
        least, most = int(reduced("min", by, None, None, False)), int(reduced("max", by, None, None, False))
        if least < -length or most >= length:
            raise IndexError(f"index {most if most >= length else least} is out of bounds for an axis with size {length}")
        if least < 0:
            counted = by.context.empty(by.shape, np.int64)
            _elementwise.run("from_end", counted, [aligned(by), np.int64(length)], [_INT64, _INT64])
            by = counted
    out: Array = combined("multiply", by, stride, False)
    return out


def _parts(x: Array, index: Any) -> tuple[list[_Axis], int, bool]:
    """The parts of an index, in order, the byte of the first element, and whether only masks select."""
    items = _items(x, index if isinstance(index, tuple) else (index,))
    parts: list[_Axis] = []
    offset, axis, distinct = x.offset, 0, True
    for item in items:
        if item is None:
            parts.append(_Axis(1, 0))
            continue
        if isinstance(item, Array) and item.dtype == np.bool_:
            if item.shape != x.shape[axis : axis + item.ndim]:
                raise IndexError(f"a mask of shape {item.shape} does not match the axes of shape {x.shape[axis : axis + item.ndim]}")
            if item.ndim == 0:
                parts.append(_Axis(1, 0, flagged(item.reshape(1))))
            for by in nonzero(item):
                parts.append(_Axis(x.shape[axis], x.strides[axis], by))
                axis += 1
            continue
        length, stride = x.shape[axis], x.strides[axis]
        axis += 1
        if isinstance(item, slice):
            start, stop, step = item.indices(length)
            parts.append(_Axis(len(range(start, stop, step)), stride * step))
            offset += start * stride if parts[-1].length else 0
            continue
        distinct = distinct and item.ndim == 0
        if item.dtype.kind not in "iu":
            raise IndexError(f"an index must be an array of integers or booleans, not of {item.dtype.name}")
        parts.append(_Axis(length, stride, item if item.dtype == _INT64 else _as_places(item)))
    return parts, offset, distinct


def _as_places(x: Array) -> Array:
    """The integers as places."""
    out = x.context.empty(x.shape, np.int64)
    _elementwise.run("positive", out, [aligned(x)], [_INT64])
    return out


def _items(x: Array, index: tuple[Any, ...]) -> list[Any]:
    """The index with arrays of the device for all that is not a slice or None, and slices for the axes that it does not name."""
    items: list[Any] = []
    for item in index:
        if item is None or item is Ellipsis or isinstance(item, slice):
            items.append(item)
            continue
        if isinstance(item, Array):
            check_device("index", x, item, ("the array", "the index"))
        else:
            host = np.asarray(item, dtype=np.int64 if isinstance(item, list) and not item else None)
            item = x.context.array(host.astype(np.int64) if host.dtype.kind in "iu" else host, copy=None)
        items.append(item)
    named = sum(item.ndim if isinstance(item, Array) and item.dtype == np.bool_ else item is not None and item is not Ellipsis for item in items)
    if named > x.ndim:
        raise IndexError(f"too many indices for array: it has {x.ndim} axes, but {named} were indexed")
    rest = [slice(None)] * (x.ndim - named)
    open_at = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(open_at) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    at = open_at[0] if open_at else len(items)
    return items[:at] + rest + items[at + 1 :]


