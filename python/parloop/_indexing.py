"""Elements of `parloop.Array` by index, their assignment, and other views and copies of them.

On a GPU an index that is an array of integers or truth values becomes the places of the selected elements: on the device where the array
is one of the device, and on the host where it is one of NumPy's. The elements themselves stay on the device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import _elementwise, _selection
from ._arithmetic import aligned, check_device, may_overlap, on_cpu, result, same_elements
from ._parloop import Array, _dense_order, _dense_strides

# selection ------------------------------------------------------------------------------------------------------------------------

def _host_index(index: Any) -> Any:
    """A NumPy index: arrays of a device are copied to the host."""
    if isinstance(index, Array):
        return index.numpy()
    if isinstance(index, tuple):
        return tuple(_host_index(item) for item in index)
    if isinstance(index, list):
        return np.asarray([_host_index(item) for item in index], dtype=None if index else np.intp)
    return index


def _places(x: Array, index: Any) -> np.ndarray[Any, Any]:
    """The byte of each selected element, in the shape of the selection. NumPy itself selects, from the number of each element along
    each axis."""
    places: Any = None
    for axis, (length, stride) in enumerate(zip(x.shape, x.strides)):
        column = np.arange(length, dtype=np.int64).reshape((-1,) + (1,) * (x.ndim - axis - 1))
        own = np.broadcast_to(column, x.shape)[index] * stride
        places = own if places is None else places + own
    if places is None:
        places = np.zeros((), np.int64)[index]
    return np.asarray(places + x.offset)


def take(x: Array, index: Any) -> Any:
    """`x[index]` for an index with arrays in it: a copy."""
    if on_cpu(x):
        return result(x.context, x.numpy()[_host_index(index)])
    x = aligned(x)
    out = _selection.gather(x, _selected(x, index).places)
    return out if out.ndim else out.numpy()[()]


def put(x: Array, index: Any, value: Any) -> None:
    """`x[index] = value` for an index with arrays in it. Of several values for one element the last one stays."""
    if on_cpu(x):
        index = _host_index(index)
        host = x.numpy()
        new = np.empty(np.shape(host[index]), x.dtype)
        assign(x.context.array(new, copy=False), value)
        host[index] = new
        return
    _elementwise.check_aligned(x)
    found = _selected(x, index)
    values = x.context.empty(found.places.shape, x.dtype)
    assign(values, value)
    _selection.scatter(x, found.places, values, found.distinct)


def _selected(x: Array, index: Any) -> _selection.Selected:
    if _selection.is_on_device(index):
        return _selection.selected(x, index)
    return _selection.Selected(x.context.array(_places(x, _host_index(index)), copy=None), False)


# assignment -----------------------------------------------------------------------------------------------------------------------


def assign(x: Array, value: Any) -> None:
    """`x[...] = value`: broadcast, and converted to a type of the same kind or a higher one; integers that fit become any integers."""
    if isinstance(value, Array):
        check_device("assign", x, value, ("the array", "the value"))
        _check_cast(value.dtype, x.dtype)
        if not on_cpu(x):
            _assign_array(x, value)
            return
        value = value.numpy()
    host = _converted(value, x.dtype)
    host = _fitted(host, x.shape)
    if on_cpu(x):
        x.numpy()[...] = host
    elif x.size == 0:
        return
    elif _dense_order(x.shape, x.strides, x.dtype.itemsize) == "C":
        x.context.default_stream.write(x.memory, np.ascontiguousarray(np.broadcast_to(host, x.shape)), x.offset)
    elif host.ndim == 0:
        _elementwise.run("positive", x, [x.dtype.type(host[()])], [x.dtype])
    else:
        _elementwise.run("positive", x, [x.context.array(host, copy=None)], [x.dtype])


def _assign_array(x: Array, value: Array) -> None:
    while value.ndim > x.ndim and value.shape[0] == 1:
        value = value[0:1].reshape(value.shape[1:])
    if np.broadcast_shapes(value.shape, x.shape) != x.shape:
        raise ValueError(f"could not broadcast input array from shape {value.shape} into shape {x.shape}")
    if same_elements(x, value):
        return
    if may_overlap(x, value):
        value = _copy(value)
    _elementwise.run("positive", x, [aligned(value)], [value.dtype])


def _copy(x: Array) -> Array:
    out = x.context.empty(x.shape, x.dtype)
    _elementwise.run("positive", out, [aligned(x)], [x.dtype])
    return out


def _check_cast(source: np.dtype[Any], target: np.dtype[Any]) -> None:
    if not np.can_cast(source, target, "same_kind"):
        raise TypeError(f"Cannot cast array data from {source!r} to {target!r} according to the rule 'same_kind'; use .astype() first")


def _converted(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Values of the host as elements of that type."""
    is_array = isinstance(value, np.ndarray) and value.ndim > 0
    host = np.asarray(value)
    if host.dtype.kind not in "biufc":
        return np.asarray(value, dtype)
    if host.dtype.kind in "iu" and dtype.kind in "biu" and not is_array:
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        for extreme in (host.min(initial=0), host.max(initial=0)):
            if not least <= int(extreme) <= most:
                raise OverflowError(f"the integer {int(extreme)} does not fit into {dtype.name}")
        return host.astype(dtype)
    _check_cast(host.dtype, dtype)
    return host.astype(dtype)


def _fitted(host: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The values without axes of one element that the shape has not."""
    while host.ndim > len(shape) and host.shape[0] == 1:
        host = host[0]
    try:
        fits = np.broadcast_shapes(host.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"could not broadcast input array from shape {host.shape} into shape {shape}")
    return host


# views and copies -----------------------------------------------------------------------------------------------------------------


def astype(x: Array, dtype: Any) -> Array:
    """A copy with elements of another type."""
    target = np.dtype(dtype)
    if on_cpu(x):
        return x.context.array(x.numpy().astype(target), copy=None)
    out = x.context.empty(x.shape, target)
    _elementwise.run("positive", out, [aligned(x)], [target])
    return out


def real(x: Array) -> Array:
    """The real parts, in place."""
    return _part(x, 0) if x.dtype.kind == "c" else x


def imag(x: Array) -> Array:
    """The imaginary parts, in place; new zeros for real numbers."""
    return _part(x, 1) if x.dtype.kind == "c" else x.context.zeros(x.shape, x.dtype)


def _part(x: Array, which: int) -> Array:
    size = x.dtype.itemsize // 2
    return x._view(list(x.shape), list(x.strides), x.offset + which * size if x.size else 0, np.dtype(f"f{size}"))


def transpose(x: Array, axes: tuple[Any, ...]) -> Array:
    """The axes in another order."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = tuple(axes[0] or ())
    order = [int(axis) for axis in axes] if axes else list(reversed(range(x.ndim)))
    counted = [axis + x.ndim if axis < 0 else axis for axis in order]
    if sorted(counted) != list(range(x.ndim)):
        raise ValueError(f"axes {tuple(order)} do not name each of the array's {x.ndim} axes once")
    return x._view([x.shape[axis] for axis in counted], [x.strides[axis] for axis in counted], x.offset if x.size else 0, x.dtype)


def reshape(x: Array, shape: tuple[Any, ...], order: str = "C") -> Array:
    """Another shape, in place where that is possible."""
    if order not in ("C", "F", "A"):
        raise ValueError(f"the order of a shape is 'C', 'F' or 'A', not {order!r}")
    if order == "A":
        order = "F" if x.ndim > 1 and _dense_order(x.shape, x.strides, x.dtype.itemsize) == "F" else "C"
    if order == "F":
        lengths = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return transpose(reshape(transpose(x, ()), lengths[::-1]), ())
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    wanted = _complete(tuple(int(length) for length in shape), x.size)
    if wanted is None:
        raise ValueError(f"cannot reshape array of size {x.size} into shape {tuple(int(length) for length in shape)}")
    strides = _reshaped(x, wanted)
    if strides is None:
        x = x.copy()
        strides = _dense_strides(wanted, x.dtype.itemsize)
    return x._view(list(wanted), strides, x.offset if x.size else 0, x.dtype)


def _complete(shape: tuple[int, ...], size: int) -> tuple[int, ...] | None:
    """The shape with the open length filled in; None if it cannot be determined."""
    known = int(np.prod([length for length in shape if length != -1], dtype=object))
    if shape.count(-1) == 1 and known > 0 and size % known == 0:
        return tuple(size // known if length == -1 else length for length in shape)
    return shape if known == size and min(shape, default=0) >= 0 else None


def _reshaped(x: Array, wanted: tuple[int, ...]) -> Sequence[int] | None:
    """The strides with which the memory has the wanted shape; None where elements would have to move."""
    if x.size <= 1:
        return _dense_strides(wanted, x.dtype.itemsize)
    # From the back: every run of elements in one stride is cut into lengths of the wanted shape.
    joined = _elementwise.join_axes(x.shape, [x.strides])
    runs = list(zip(joined.shape, joined.strides[0]))
    strides: list[int] = []
    length, step = runs.pop()
    for part in reversed(wanted):
        if part == 1:
            strides.append(step)
            continue
        if length == 1:
            length, step = runs.pop()
        if length % part:
            return None
        strides.append(step)
        length, step = length // part, step * part
    return strides[::-1]


def item(x: Array, index: tuple[Any, ...]) -> Any:
    """One element as a Python number."""
    if not index:
        if x.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return x.numpy().item()
    if len(index) == 1 and isinstance(index[0], tuple):
        index = index[0]
    place: Any = index
    if len(index) == 1 and x.ndim != 1:
        place = np.unravel_index(range(x.size)[index[0]], x.shape)
    if len(place) != x.ndim:
        raise ValueError(f"an index of {len(place)} numbers was given for an array of {x.ndim} axes")
    return x[tuple(int(own) for own in place)].item()


def elements(x: Array) -> Iterator[Any]:
    """The parts along the first axis. Single numbers come from one copy of all of them."""
    if x.ndim == 0:
        raise TypeError("an array without axes cannot be iterated over")
    if x.ndim == 1:
        return iter(x.numpy())
    return (x[place] for place in range(len(x)))


def contains(x: Array, value: Any) -> bool:
    """Whether some element is equal."""
    found = x == value
    return bool(found.any()) if isinstance(found, (Array, np.ndarray, np.generic)) else bool(found)
