"""Linear algebra: the extension `linalg` of the standard.

On a CPU NumPy does it. On other devices products, norms and what follows from a decomposition into triangles have kernels; eigenvalues,
singular values and orthogonal factors do not, and raise `NoDeviceVersionError`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .. import _matrices
from .._arithmetic import broadcast, on_cpu
from .._indexing import astype as _astype
from .._parloop import Array
from ._creation import eye as _eye
from ._device import Operand, arrays_of, as_array, from_host, no_device_version
from ._elementwise import abs as _abs
from ._elementwise import combine, conj, log, multiply, sign, sqrt, subtract
from ._elementwise import pow as _pow
from ._manipulation import concat, expand_dims, moveaxis
from ._manipulation import diagonal as diagonal
from ._manipulation import matrix_transpose as matrix_transpose
from ._products import matmul as matmul
from ._products import outer as _outer
from ._products import tensordot as tensordot
from ._products import vecdot as vecdot
from ._statistics import any as _any
from ._statistics import max as _max
from ._statistics import min as _min
from ._statistics import prod as _prod
from ._statistics import sum as _sum

LinAlgError = np.linalg.LinAlgError


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: Array
    S: Array
    Vh: Array


def _matrices_of(function: str, x: Operand) -> Array:
    """Matrices of floating-point numbers."""
    array = as_array(x)
    if array.ndim < 2:
        raise LinAlgError(f"{function} takes matrices, which have two axes or more, not {array.ndim}")
    return array if array.dtype.kind in "fc" else _astype(array, np.float64)


def _square(function: str, x: Operand) -> Array:
    array = _matrices_of(function, x)
    if array.shape[-1] != array.shape[-2]:
        raise LinAlgError(f"{function} takes square matrices, not of shape {array.shape[-2:]}")
    return array


def _flat(x: Array) -> Array:
    """The matrices along one axis."""
    return x.reshape((math.prod(x.shape[:-2]), *x.shape[-2:]))


def cholesky(x: Operand, /, *, upper: bool = False) -> Array:
    """The triangular factors of matrices that are Hermitian and positive: x = L L^H, or with `upper` x = U^H U."""
    array = _square("cholesky", x)
    if on_cpu(array):
        lower = from_host(array.context, np.linalg.cholesky(array.numpy()))
    else:
        found, failed = _matrices.cholesky(_flat(array))
        if failed.size and bool(_any(failed)):
            raise LinAlgError("cholesky: a matrix is not positive definite")
        lower = found.reshape(array.shape)
    return conj(matrix_transpose(lower)) if upper else lower


def cross(x1: Operand, x2: Operand, /, *, axis: int = -1) -> Array:
    """The cross products of vectors of three elements along an axis."""
    first, second = arrays_of("cross", (x1, x2))
    if first.shape[axis] != 3 or second.shape[axis] != 3:
        raise ValueError(f"cross takes vectors of 3 elements, not of {first.shape[axis]} and {second.shape[axis]}")
    shape = np.broadcast_shapes(first.shape, second.shape)
    a, b = (moveaxis(broadcast(x, shape), axis, -1) for x in (first, second))
    places = ((1, 2), (2, 0), (0, 1))
    parts = [subtract(multiply(a[..., i : i + 1], b[..., j : j + 1]), multiply(a[..., j : j + 1], b[..., i : i + 1])) for i, j in places]
    return moveaxis(concat(parts, axis=-1), -1, axis)


def _determinant(array: Array) -> tuple[Array, Array]:
    """The diagonals of the factors U, and the signs of the orders of rows."""
    factors, _, order = _matrices.decompose(_flat(array))
    return diagonal(factors), order


def det(x: Operand, /) -> Array:
    """The determinants of matrices."""
    array = _square("det", x)
    if on_cpu(array):
        return from_host(array.context, np.linalg.det(array.numpy()))
    along, order = _determinant(array)
    return multiply(_prod(along, axis=1), _astype(order, array.dtype)).reshape(array.shape[:-2])


def slogdet(x: Operand, /) -> SlogdetResult:
    """The signs of the determinants of matrices, and the logarithms of their absolute values."""
    array = _square("slogdet", x)
    if on_cpu(array):
        both = np.linalg.slogdet(array.numpy())
        return SlogdetResult(from_host(array.context, both[0]), from_host(array.context, both[1]))
    along, order = _determinant(array)
    signs = multiply(_prod(sign(along), axis=1), _astype(order, array.dtype))
    return SlogdetResult(signs.reshape(array.shape[:-2]), _sum(log(_abs(along)), axis=1).reshape(array.shape[:-2]))


def _solved(array: Array, right: Array) -> Array:
    """Of matrices and right-hand sides that are matrices, with the same further axes."""
    factors, rows, _ = _matrices.decompose(_flat(array))
    if factors.size and bool(_any(combine("equal", diagonal(factors), 0))):
        raise LinAlgError("a matrix is singular")
    return _matrices.substitute(factors, rows, _flat(right)).reshape(right.shape)


def solve(x1: Operand, x2: Operand, /) -> Array:
    """The solutions of systems of linear equations with the matrices `x1`; `x2` is a vector if it has one axis, else matrices."""
    first, second = arrays_of("solve", (x1, x2))
    array = _square("solve", first)
    dtype = np.result_type(array.dtype, second.dtype)
    is_vector = second.ndim == 1
    right = _astype(expand_dims(second, 1) if is_vector else second, dtype)
    if on_cpu(array):
        out = from_host(array.context, np.linalg.solve(array.numpy().astype(dtype), right.numpy()))
    else:
        batch = np.broadcast_shapes(array.shape[:-2], right.shape[:-2])
        matrices = broadcast(_astype(array, dtype), batch + array.shape[-2:])
        out = _solved(matrices, broadcast(right, batch + right.shape[-2:]).copy())
    return out.reshape(out.shape[:-1]) if is_vector else out


def inv(x: Operand, /) -> Array:
    """The inverses of matrices."""
    array = _square("inv", x)
    if on_cpu(array):
        return from_host(array.context, np.linalg.inv(array.numpy()))
    unit = _eye(array.shape[-1], dtype=array.dtype, device=array.context)
    return _solved(array, broadcast(unit, array.shape).copy())


def matrix_power(x: Operand, n: int, /) -> Array:
    """The powers of matrices; negative ones are those of the inverses."""
    array = as_array(x)
    if n == 0:
        unit = _eye(array.shape[-1], dtype=array.dtype, device=array.context)
        return broadcast(unit, array.shape).copy()
    square = inv(array) if n < 0 else array
    found: Array | None = None
    rest = abs(n)
    while rest:
        if rest % 2:
            found = square if found is None else matmul(found, square)
        rest //= 2
        if rest:
            square = matmul(square, square)
    assert found is not None
    return found.copy() if found is array else found


def outer(x1: Operand, x2: Operand, /) -> Array:
    """The products of each element of one vector with each of another."""
    first, second = arrays_of("outer", (x1, x2))
    if first.ndim != 1 or second.ndim != 1:
        raise ValueError(f"outer takes arrays of one axis, not of {first.ndim} and {second.ndim}")
    return _outer(first, second)


def trace(x: Operand, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sums of the diagonals of matrices."""
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vector_norm(x: Operand, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, ord: float = 2) -> Array:
    """The norms of vectors along axes, or of all elements."""
    array = as_array(x)
    if array.dtype.kind not in "fc":
        array = _astype(array, np.float64)
    sizes = _abs(array)
    options: Any = {"axis": axis, "keepdims": keepdims}
    if ord == math.inf:
        return _max(sizes, **options)
    if ord == -math.inf:
        return _min(sizes, **options)
    if ord == 0:
        return _sum(_astype(combine("not_equal", sizes, 0), sizes.dtype), **options)
    if ord == 1:
        return _sum(sizes, **options)
    if ord == 2:
        return sqrt(_sum(multiply(sizes, sizes), **options))
    return _pow(_sum(_pow(sizes, float(ord)), **options), 1.0 / float(ord))


def matrix_norm(x: Operand, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> Array:
    """The norms of matrices: "fro", "nuc", or 1, 2, infinity, or the negative of these."""
    array = _matrices_of("matrix_norm", x)
    if on_cpu(array):
        return from_host(array.context, np.linalg.norm(array.numpy(), ord, axis=(-2, -1), keepdims=keepdims))  # type: ignore[arg-type, call-overload, unused-ignore]
    if ord in ("fro", None):
        return vector_norm(array, axis=(-2, -1), keepdims=keepdims)
    if ord not in (1, -1, math.inf, -math.inf):
        no_device_version(f"linalg.matrix_norm with ord={ord!r}", array.device)
    across = -2 if ord in (1, -1) else -1
    sums = _sum(_abs(array), axis=across, keepdims=True)
    out = (_max if float(ord) > 0 else _min)(sums, axis=(-2, -1), keepdims=True)
    return out if keepdims else out.reshape(array.shape[:-2])


def norm(x: Operand, /, ord: float | str | None = None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """The norms of vectors or matrices, as NumPy's function."""
    array = as_array(x)
    if ord is None or isinstance(axis, int) or array.ndim == 1:
        return vector_norm(array, axis=axis, keepdims=keepdims, ord=2 if ord is None else float(ord))
    return matrix_norm(array if axis is None else moveaxis(array, axis, (-2, -1)), ord=ord, keepdims=keepdims)


# on a CPU alone -------------------------------------------------------------------------------------------------------------------


def _on_cpu(function: str, x: Operand) -> Array:
    array = _matrices_of(f"linalg.{function}", x)
    if not on_cpu(array):
        no_device_version(f"linalg.{function}", array.device)
    return array


def eigh(x: Operand, /) -> EighResult:
    """The eigenvalues and eigenvectors of Hermitian matrices. On a CPU."""
    array = _on_cpu("eigh", x)
    return EighResult(*(from_host(array.context, part) for part in np.linalg.eigh(array.numpy())))


def eigvalsh(x: Operand, /) -> Array:
    """The eigenvalues of Hermitian matrices. On a CPU."""
    array = _on_cpu("eigvalsh", x)
    return from_host(array.context, np.linalg.eigvalsh(array.numpy()))


def qr(x: Operand, /, *, mode: str = "reduced") -> QRResult:
    """The orthogonal and triangular factors of matrices. On a CPU."""
    array = _on_cpu("qr", x)
    return QRResult(*(from_host(array.context, part) for part in np.linalg.qr(array.numpy(), mode)))  # type: ignore[call-overload, unused-ignore]


def svd(x: Operand, /, *, full_matrices: bool = True) -> SVDResult:
    """The singular values of matrices, and their vectors. On a CPU."""
    array = _on_cpu("svd", x)
    return SVDResult(*(from_host(array.context, part) for part in np.linalg.svd(array.numpy(), full_matrices)))


def svdvals(x: Operand, /) -> Array:
    """The singular values of matrices. On a CPU."""
    array = _on_cpu("svdvals", x)
    return from_host(array.context, np.linalg.svd(array.numpy(), compute_uv=False))


def matrix_rank(x: Operand, /, *, rtol: float | Operand | None = None) -> Array:
    """The numbers of singular values of matrices above `rtol` times the largest. On a CPU."""
    array = _on_cpu("matrix_rank", x)
    sizes = np.linalg.svd(array.numpy(), compute_uv=False)
    least = max(array.shape[-2:]) * np.finfo(array.dtype).eps if rtol is None else as_array(rtol).numpy()
    return from_host(array.context, (sizes > np.max(sizes, axis=-1, keepdims=True, initial=0) * np.asarray(least)[..., None]).sum(axis=-1))


def pinv(x: Operand, /, *, rtol: float | Operand | None = None) -> Array:
    """The pseudo-inverses of matrices. On a CPU."""
    array = _on_cpu("pinv", x)
    least = max(array.shape[-2:]) * np.finfo(array.dtype).eps if rtol is None else as_array(rtol).numpy()
    return from_host(array.context, np.linalg.pinv(array.numpy(), least))
