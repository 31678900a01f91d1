"""Shapes, strides and orders, by xobjects' names."""

from __future__ import annotations

from typing import Any

from parloop.objects._array import Array as Array
from parloop.objects._array import iter_index as iter_index


def get_shape_from_array(value: Any, nd: int) -> tuple[int, ...]:
    """The shape of a value taken as an array with `nd` axes."""
    shape = getattr(value, "shape", getattr(value, "_shape", None))
    if shape is not None:
        return tuple(shape)
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return ()
    if len(value) == 0 or nd <= 1:
        return (len(value),)
    inner = {get_shape_from_array(item, nd - 1) for item in value}
    if len(inner) > 1:
        raise ValueError(f"{value} does not have a consistent shape in dimension {nd}")
    return (len(value), *inner.pop())


def get_c_strides(shape: Any, itemsize: int) -> tuple[int, ...]:
    """Strides with the last axis the fastest."""
    return get_strides(shape, tuple(range(len(shape))), itemsize)


def get_f_strides(shape: Any, itemsize: int) -> tuple[int, ...]:
    """Strides with the first axis the fastest."""
    return get_strides(shape, tuple(reversed(range(len(shape)))), itemsize)


def get_strides(shape: Any, order: Any, itemsize: int) -> tuple[int, ...]:
    """Strides with the axes from the slowest to the fastest in `order`."""
    strides = [0] * len(shape)
    step = itemsize
    for axis in reversed(list(order)):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def mk_order(order: Any, shape: Any) -> Any:
    """The order that "C", "F" or a list of axes means."""
    axes = list(range(len(shape)))
    return {"C": axes, "F": axes[::-1]}.get(order, order) if isinstance(order, str) else order


def get_offset(index: Any, strides: Any) -> int:
    """Where an item is."""
    return sum(i * stride for i, stride in zip(index, strides, strict=False))


def is_array(atype: Any) -> bool:
    return isinstance(atype, type) and issubclass(atype, Array)
