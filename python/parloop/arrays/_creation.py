"""New arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from .. import _elementwise
from .._arithmetic import aligned, broadcast, combined, on_cpu
from .._indexing import assign
from .._indexing import astype as _astype
from .._parloop import Array, Context
from .._scan import ramp
from ._device import DeviceLike, Operand, arrays_of, as_array, context_of, from_host, supported

Shape: TypeAlias = "int | Sequence[int]"

_FLOAT, _INT = np.dtype(np.float64), np.dtype(np.int64)


def _shape(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, (int, np.integer)):
        return (int(shape),)
    return tuple(int(length) for length in shape)


def _made(context: Context, shape: tuple[int, ...], dtype: np.dtype[Any], value: Any, order: str = "C") -> Array:
    """An array in which every element has a value, or zero, or none."""
    if order == "F" and len(shape) > 1:
        return _made(context, shape[::-1], dtype, value).transpose()
    if value is None or value == 0 and not isinstance(value, np.ndarray):
        # That of a drop-in's context may be this function.
        return Context.empty(context, shape, dtype) if value is None else Context.zeros(context, shape, dtype)
    out = context.empty(shape, dtype)
    if on_cpu(out):
        out.numpy()[...] = value
    else:
        number: Any = np.asarray(value).astype(dtype)[()]
        _elementwise.run("positive", out, [number], [dtype])
    return out


def empty(shape: Shape, dtype: Any = None, *, device: DeviceLike = None, order: str = "C") -> Array:
    """An array whose elements have any values."""
    return _made(context_of(device), _shape(shape), supported(_FLOAT if dtype is None else dtype), None, order)


def zeros(shape: Shape, dtype: Any = None, *, device: DeviceLike = None, order: str = "C") -> Array:
    """An array of zeros."""
    return _made(context_of(device), _shape(shape), supported(_FLOAT if dtype is None else dtype), 0, order)


def ones(shape: Shape, dtype: Any = None, *, device: DeviceLike = None, order: str = "C") -> Array:
    """An array of ones."""
    return _made(context_of(device), _shape(shape), supported(_FLOAT if dtype is None else dtype), 1, order)


def full(shape: Shape, fill_value: Any, dtype: Any = None, *, device: DeviceLike = None) -> Array:
    """An array in which every element has one value."""
    if isinstance(fill_value, Array):
        out = context_of(device if device is not None else fill_value.context).empty(_shape(shape), supported(dtype or fill_value.dtype))
        _set(out, fill_value)
        return out
    host = np.asarray(fill_value)
    found = supported(host.dtype if dtype is None else dtype)
    with np.errstate(all="ignore"):
        return _made(context_of(device), _shape(shape), found, host.astype(found)[()] if host.dtype != found else host[()])


def _set(out: Array, values: Array) -> None:
    """All elements, converted to whatever type the array has."""
    if on_cpu(out):
        out.numpy()[...] = values.numpy()
    else:
        _elementwise.run("positive", out, [aligned(values)], [out.dtype])


def _like(x: Operand, dtype: Any, device: DeviceLike, value: Any, shape: Any = None) -> Array:
    array = as_array(x)
    context = array.context if device is None else context_of(device)
    return _made(context, array.shape if shape is None else _shape(shape), supported(array.dtype if dtype is None else dtype), value)


def empty_like(x: Operand, /, dtype: Any = None, *, device: DeviceLike = None, shape: Any = None) -> Array:
    """An array of the shape and type of another, whose elements have any values."""
    return _like(x, dtype, device, None, shape)


def zeros_like(x: Operand, /, dtype: Any = None, *, device: DeviceLike = None, shape: Any = None) -> Array:
    """An array of zeros of the shape and type of another."""
    return _like(x, dtype, device, 0, shape)


def ones_like(x: Operand, /, dtype: Any = None, *, device: DeviceLike = None, shape: Any = None) -> Array:
    """An array of ones of the shape and type of another."""
    return _like(x, dtype, device, 1, shape)


def full_like(x: Operand, /, fill_value: Any, dtype: Any = None, *, device: DeviceLike = None) -> Array:
    """An array of the shape and type of another, in which every element has one value."""
    array = as_array(x)
    return full(array.shape, fill_value, dtype=array.dtype if dtype is None else dtype, device=array.context if device is None else device)


def asarray(obj: Any, /, dtype: Any = None, *, device: DeviceLike = None, copy: bool | None = None) -> Array:
    """An array of numbers, lists of them, or an array of any library: that itself where no copy is needed, unless `copy` says otherwise."""
    if isinstance(obj, Array):
        return _asarray_of_ours(obj, dtype, device, copy)
    context = context_of(device)
    if isinstance(obj, (list, tuple)) and _has_arrays(obj):
        if copy is False:
            raise ValueError("a list of arrays cannot become one array without a copy")
        parts = [asarray(item, device=_context_in(obj) if device is None else device) for item in obj]
        out = parts[0].context.empty((len(parts), *parts[0].shape), np.result_type(*(part.dtype for part in parts)))
        for place, part in enumerate(parts):
            _set(out[place : place + 1].reshape(part.shape), part)
        return out if dtype is None else _astype(out, supported(dtype))
    is_foreign = not isinstance(obj, np.ndarray) and hasattr(obj, "__dlpack__")
    if is_foreign:
        out = context.array(obj, None if dtype is None else supported(dtype), copy=None)
        return out.copy() if copy else out
    host = np.asarray(obj, None if dtype is None else supported(dtype))
    is_new = host is not obj and not (hasattr(obj, "__array_interface__") or hasattr(obj, "__buffer__") or isinstance(obj, memoryview))
    if copy is False and (is_new or not context.device.kind == "cpu"):
        raise ValueError(f"an array of {type(obj).__name__} on device `{context.device.name}` cannot be created without a copy")
    if copy and not is_new:
        host = host.copy(order="K")
    return from_host(context, host)


def _asarray_of_ours(x: Array, dtype: Any, device: DeviceLike, copy: bool | None) -> Array:
    context = x.context if device is None else context_of(device)
    moves = context.device != x.device and not (on_cpu(x) and context.device.kind == "cpu")
    target = x.dtype if dtype is None else supported(dtype)
    if copy is False and (moves or target != x.dtype):
        raise ValueError("conversion to another device or dtype needs a copy")
    there = x if context is x.context or context.device == x.device else x.to(context)
    if target != there.dtype:
        return _astype(there, target)
    return there.copy() if copy and not moves else there


def _has_arrays(items: Sequence[Any]) -> bool:
    return any(isinstance(item, Array) or isinstance(item, (list, tuple)) and _has_arrays(item) for item in items)


def _context_in(items: Sequence[Any]) -> Context | None:
    for item in items:
        found = item.context if isinstance(item, Array) else _context_in(item) if isinstance(item, (list, tuple)) else None
        if found is not None:
            return found
    return None


def array(obj: Any, dtype: Any = None, *, device: DeviceLike = None, copy: bool | None = True) -> Array:
    """As `asarray`, but a copy unless `copy` says otherwise, as NumPy's function."""
    return asarray(obj, dtype, device=device, copy=copy)


def copy(x: Operand, /) -> Array:
    """A copy of an array."""
    return as_array(x).copy()


def from_dlpack(x: Any, /, *, device: DeviceLike = None, copy: bool | None = None) -> Array:
    """An array of another library, by DLPack: in place where the device can use its memory."""
    if isinstance(x, Array):
        return _asarray_of_ours(x, None, device, copy)
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack takes an array with __dlpack__, not {type(x).__name__}")
    return asarray(x, device=device, copy=copy)


def arange(start: Any, /, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: DeviceLike = None) -> Array:
    """Numbers in equal steps from `start`, or zero, up to `stop`, which is not among them."""
    if stop is None:
        start, stop = 0, start
    context = context_of(device)
    found = supported(np.arange(0 * start, 0 * stop, step).dtype if dtype is None else dtype)
    if context.device.kind == "cpu":
        return from_host(context, np.arange(start, stop, step, dtype=found))
    if step == 0:
        raise ZeroDivisionError("arange: the step must not be zero")
    length = max(math.ceil((stop - start) / step), 0)
    if found.kind not in "iuf":
        raise TypeError(f"arange supports integers and real numbers, not {found.name}")
    start = found.type(start)
    with np.errstate(all="ignore"):
        delta = found.type(start + step) - start if found.kind == "f" else int(step)
    return ramp(context, length, start, delta, found)


def linspace(
    start: Any, stop: Any, /, num: int = 50, *, dtype: Any = None, device: DeviceLike = None, endpoint: bool = True
) -> Array:
    """`num` numbers in equal steps from `start` to `stop`, which is the last one unless `endpoint` is false."""
    context = context_of(device)
    is_complex = isinstance(start, complex) or isinstance(stop, complex)
    found = supported((np.complex128 if is_complex else _FLOAT) if dtype is None else dtype)
    if context.device.kind == "cpu":
        return from_host(context, np.linspace(start, stop, num, endpoint=endpoint, dtype=found))
    if found.kind == "c":
        out = context.empty(num, found)
        for part, first, last in ((out.real, complex(start).real, complex(stop).real), (out.imag, complex(start).imag, complex(stop).imag)):
            assign(part, linspace(first, last, num, dtype=part.dtype, device=context, endpoint=endpoint))
        return out
    steps = num - 1 if endpoint else num
    out = ramp(context, num, start, (float(stop) - float(start)) / steps if steps > 0 else 0.0, _FLOAT)
    if endpoint and num > 1:
        assign(out[-1:], float(stop))
    return out if found == _FLOAT else _astype(out, found)


def eye(n_rows: int, n_cols: int | None = None, /, k: int = 0, *, dtype: Any = None, device: DeviceLike = None) -> Array:
    """A matrix of zeros, with ones on its diagonal, or on the `k`-th above it."""
    columns = n_rows if n_cols is None else n_cols
    out = zeros((n_rows, columns), dtype, device=device)
    row, column = max(-k, 0), max(k, 0)
    length = min(n_rows - row, columns - column)
    if length > 0:
        size = out.dtype.itemsize
        diagonal = out._view([length], [(columns + 1) * size], (row * columns + column) * size, out.dtype)
        assign(diagonal, np.ones((), out.dtype)[()])
    return out


def identity(n: int, dtype: Any = None, *, device: DeviceLike = None) -> Array:
    """A square matrix of zeros with ones on its diagonal."""
    return eye(n, dtype=dtype, device=device)


def _triangle(x: Operand, k: int, name: str) -> Array:
    array = as_array(x)
    if array.ndim < 2:
        raise ValueError(f"{name} takes an array of matrices, which has two axes or more, not {array.ndim}")
    if on_cpu(array):
        return from_host(array.context, getattr(np, name)(array.numpy(), k))
    rows = ramp(array.context, array.shape[-2], 0, 1, _INT).reshape(-1, 1)
    columns = ramp(array.context, array.shape[-1], -k, 1, _INT)
    kept = combined("less_equal" if name == "tril" else "greater_equal", columns, rows, False)
    out = array.context.empty(array.shape, array.dtype)
    types = [np.dtype(np.bool_), array.dtype, array.dtype]
    nothing: Any = np.zeros((), array.dtype)[()]
    _elementwise.run("where", out, [broadcast(kept, array.shape), aligned(array), nothing], types)
    return out


def tril(x: Operand, /, k: int = 0) -> Array:
    """The lower triangles of matrices, up to the `k`-th diagonal; zeros elsewhere."""
    return _triangle(x, k, "tril")


def triu(x: Operand, /, k: int = 0) -> Array:
    """The upper triangles of matrices, from the `k`-th diagonal; zeros elsewhere."""
    return _triangle(x, k, "triu")


def meshgrid(*arrays: Operand, indexing: str = "xy") -> list[Array]:
    """The coordinates of all points of a grid, from those along each axis; with "xy" the first two axes are exchanged."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', not {indexing!r}")
    given = arrays_of("meshgrid", arrays)
    order = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        order[0], order[1] = 1, 0
    shape = [0] * len(given)
    for own, x in zip(order, given):
        shape[own] = x.size
    columns = [x.reshape((1,) * own + (-1,) + (1,) * (len(given) - own - 1)) for own, x in zip(order, given)]
    return [broadcast(column, tuple(shape)).copy() for column in columns]
