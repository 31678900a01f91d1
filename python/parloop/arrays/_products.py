"""Products of vectors and matrices, which are a part of the standard without its extension `linalg`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._arithmetic import broadcast, matrix_product, on_cpu
from .._parloop import Array
from ._device import Operand, arrays_of, from_host
from ._elementwise import conj, divide, multiply, subtract
from ._manipulation import concat
from ._statistics import mean
from ._statistics import sum as _sum


def matmul(x1: Operand, x2: Operand, /) -> Array:
    """The products of matrices, the last two axes; an array of one axis is a row in front and a column behind."""
    first, second = arrays_of("matmul", (x1, x2))
    out: Array = matrix_product(first, second, False)
    return out


def tensordot(x1: Operand, x2: Operand, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Array:
    """The sums of products over axes: the last ones of the first array and the first ones of the second, or those that are named."""
    first, second = arrays_of("tensordot", (x1, x2))
    if isinstance(axes, int):
        own, other = tuple(range(first.ndim - axes, first.ndim)), tuple(range(axes))
    else:
        own = tuple(range(first.ndim)[axis] for axis in axes[0])
        other = tuple(range(second.ndim)[axis] for axis in axes[1])
    if on_cpu(first):
        return from_host(first.context, np.tensordot(first.numpy(), second.numpy(), axes=(own, other)))
    lengths = [tuple(x.shape[axis] for axis in gone) for x, gone in ((first, own), (second, other))]
    if lengths[0] != lengths[1]:
        raise ValueError(f"the lengths {lengths[0]} and {lengths[1]} of the axes over which tensordot sums differ")
    kept = [axis for axis in range(first.ndim) if axis not in own]
    rest = [axis for axis in range(second.ndim) if axis not in other]
    shape = tuple(first.shape[axis] for axis in kept) + tuple(second.shape[axis] for axis in rest)
    length = int(np.prod(lengths[0], dtype=np.int64))
    rows = int(np.prod([first.shape[axis] for axis in kept], dtype=np.int64))
    columns = int(np.prod([second.shape[axis] for axis in rest], dtype=np.int64))
    left = first.transpose((*kept, *own)) if first.ndim else first
    right = second.transpose((*other, *rest)) if second.ndim else second
    return matmul(left.reshape(rows, length), right.reshape(length, columns)).reshape(shape)


def vecdot(x1: Operand, x2: Operand, /, *, axis: int = -1) -> Array:
    """The sums of the products of the conjugates of the first array with the second, along an axis."""
    first, second = arrays_of("vecdot", (x1, x2))
    shape = np.broadcast_shapes(first.shape, second.shape)
    if first.shape[axis] != second.shape[axis]:
        raise ValueError(f"the lengths {first.shape[axis]} and {second.shape[axis]} of axis {axis} differ")
    dtype = np.result_type(first.dtype, second.dtype)
    left = conj(first) if first.dtype.kind == "c" else first
    return _sum(multiply(broadcast(left, shape), second), axis=axis, dtype=dtype)


def dot(x1: Operand, x2: Operand, /) -> Array:
    """The sum of products over the last axis of the first array and the last but one, or only, axis of the second, as NumPy's function."""
    first, second = arrays_of("dot", (x1, x2))
    if not first.ndim or not second.ndim:
        return multiply(first, second)
    return tensordot(first, second, axes=((-1,), (-2 if second.ndim > 1 else -1,)))


def outer(x1: Operand, x2: Operand, /) -> Array:
    """The products of each element of the first array with each of the second."""
    first, second = arrays_of("outer", (x1, x2))
    return multiply(first.reshape(-1, 1), second.reshape(1, -1))


def cov(m: Operand, /, y: Operand | None = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None) -> Array:
    """The covariances of variables, which are rows of `m` and `y`, or columns where `rowvar` is false, as NumPy's function."""
    given = arrays_of("cov", [m] if y is None else [m, y])
    for x in given:
        if x.ndim > 2:
            raise ValueError(f"cov takes arrays with at most two axes, not {x.ndim}")
    found = np.result_type(np.float64, *(x.dtype for x in given))
    rows = [x.reshape(1, -1) if x.ndim < 2 else x if rowvar or x.shape[0] == 1 else x.transpose() for x in given]
    values = concat([row.astype(found) for row in rows], axis=0)
    count = values.shape[1] - (ddof if ddof is not None else 0 if bias else 1)
    apart = subtract(values, mean(values, axis=1, keepdims=True))
    other = apart.transpose()
    out = matmul(apart, conj(other) if found.kind == "c" else other)
    out = divide(out, float(max(count, 0)))
    return out.reshape(()) if out.size == 1 else out
