"""Discrete Fourier transforms: the extension `fft` of the standard. Those of NumPy on a CPU, of the device's library on CUDA and HIP,
and portable kernels on OpenCL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _fourier
from .._arithmetic import mapped, on_cpu
from .._indexing import astype as _astype
from .._parloop import Array
from ._creation import _set
from ._device import DeviceLike, Operand, as_array, context_of, from_host, supported
from ._elementwise import conj, multiply
from ._elementwise import real as _real
from ._manipulation import concat
from ._manipulation import roll as _roll

_NORMS = ("backward", "ortho", "forward")


def _check(norm: str) -> None:
    if norm not in _NORMS:
        raise ValueError(f"norm must be one of {', '.join(map(repr, _NORMS))}, not {norm!r}")


def _complex_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.complex64 if dtype in (np.float32, np.complex64) else np.complex128)


def _fitted(x: Array, length: int, axis: int) -> Array:
    """As many elements along an axis, with zeros for those that are missing."""
    found = x.shape[axis]
    before = (slice(None),) * axis
    if length <= found:
        return x[before + (slice(0, length),)] if length < found else x
    out = x.context.zeros((*x.shape[:axis], length, *x.shape[axis + 1 :]), x.dtype)
    _set(out[before + (slice(0, found),)], x)
    return out


def _line(x: Array, length: int, axis: int, norm: str, inverse: bool) -> Array:
    """The transform along one axis, of complex numbers, not on a CPU."""
    if length < 1:
        raise ValueError(f"a transform needs at least one element, not {length}")
    x = _fitted(x, length, axis)
    order = [*(own for own in range(x.ndim) if own != axis), axis]
    rows = x.transpose(tuple(order))
    flat = rows.reshape(rows.size // length, length)
    if flat.size:
        if inverse:
            flat = mapped("conjugate", flat)
        if x.device.kind == "opencl":
            flat = _fourier.transform(flat)
        else:
            flat = flat.copy()
            flat.context.plan_FFT(flat, axes=(1,)).transform(flat)
        if inverse:
            flat = mapped("conjugate", flat)
    power = {"backward": float(inverse), "ortho": 0.5, "forward": float(not inverse)}[norm]
    if power:
        flat = multiply(flat, float(length) ** -power)
    return flat.reshape(rows.shape).transpose(tuple(order.index(own) for own in range(x.ndim)))


def _by_numpy(name: str, x: Array, *arguments: Any, **options: Any) -> Array:
    function: Callable[..., Any] = getattr(np.fft, name)
    out = function(x.numpy(), *arguments, **options)
    # NumPy 1 computes in double precision.
    single = x.dtype in (np.float32, np.complex64)
    return from_host(x.context, out.astype(np.complex64 if out.dtype.kind == "c" else np.float32) if single else out)


def _one(name: str, x: Operand, n: int | None, axis: int, norm: str) -> Array:
    _check(norm)
    array = as_array(x)
    if on_cpu(array):
        return _by_numpy(name, array, n=n, axis=axis, norm=norm)
    own = range(array.ndim)[axis]
    return _line(_astype(array, _complex_type(array.dtype)), array.shape[own] if n is None else n, own, norm, name == "ifft")


def fft(x: Operand, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The transform along an axis, of `n` elements."""
    return _one("fft", x, n, axis, norm)


def ifft(x: Operand, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse transform along an axis, of `n` elements."""
    return _one("ifft", x, n, axis, norm)


def _lengths(x: Array, s: Sequence[int] | None, axes: Sequence[int] | None) -> list[tuple[int, int]]:
    """The axes and the lengths along them."""
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    own = [range(x.ndim)[axis] for axis in axes]
    lengths = [x.shape[axis] for axis in own] if s is None else [x.shape[axis] if n == -1 else n for n, axis in zip(s, own)]
    if len(lengths) != len(own):
        raise ValueError(f"{len(lengths)} lengths were given for {len(own)} axes")
    return list(zip(own, lengths))


def _several(name: str, x: Operand, s: Sequence[int] | None, axes: Sequence[int] | None, norm: str) -> Array:
    _check(norm)
    array = as_array(x)
    along = _lengths(array, s, axes)
    if on_cpu(array):
        return _by_numpy(name, array, s=[length for _, length in along], axes=[axis for axis, _ in along], norm=norm)
    out = _astype(array, _complex_type(array.dtype))
    for axis, length in reversed(along):
        out = _line(out, length, axis, norm, name == "ifftn")
    return out


def fftn(x: Operand, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward") -> Array:
    """The transform along several axes, or all."""
    return _several("fftn", x, s, axes, norm)


def ifftn(x: Operand, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward") -> Array:
    """The inverse transform along several axes, or all."""
    return _several("ifftn", x, s, axes, norm)


def fft2(x: Operand, /, *, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str = "backward") -> Array:
    """The transform along two axes."""
    return fftn(x, s=s, axes=axes, norm=norm)


def ifft2(x: Operand, /, *, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str = "backward") -> Array:
    """The inverse transform along two axes."""
    return ifftn(x, s=s, axes=axes, norm=norm)


def _first_half(x: Array, axis: int) -> Array:
    part: Array = x[(slice(None),) * axis + (slice(0, x.shape[axis] // 2 + 1),)]
    return part.copy()


def rfft(x: Operand, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The transform of real numbers: the frequencies that are not negative."""
    array = as_array(x)
    if on_cpu(array):
        _check(norm)
        return _by_numpy("rfft", array, n=n, axis=axis, norm=norm)
    return _first_half(fft(array, n=n, axis=axis, norm=norm), range(array.ndim)[axis])


def _whole(x: Array, length: int, axis: int) -> Array:
    """All frequencies of real numbers, from those that are not negative."""
    half = length // 2 + 1
    x = _fitted(x, half, axis)
    before = (slice(None),) * axis
    rest = x[before + (slice(1, length - half + 1),)]
    return concat([x, conj(rest[before + (slice(None, None, -1),)])], axis=axis)


def irfft(x: Operand, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse of `rfft`: `n` real numbers."""
    array = as_array(x)
    own = range(array.ndim)[axis]
    length = 2 * (array.shape[own] - 1) if n is None else n
    if on_cpu(array):
        _check(norm)
        return _by_numpy("irfft", array, n=length, axis=own, norm=norm)
    out = _astype(array, _complex_type(array.dtype))
    # The imaginary parts at frequency zero, and at half the sampling frequency, belong to no real numbers.
    for place in [0, *([length // 2] if length % 2 == 0 and length // 2 < out.shape[own] else [])]:
        part = out.imag[(slice(None),) * own + (slice(place, place + 1),)]
        part[...] = 0.0
    return _real(ifft(_whole(out, length, own), axis=own, norm=norm)).copy()


def rfftn(x: Operand, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward") -> Array:
    """The transform of real numbers along several axes: along the last of them the frequencies that are not negative."""
    _check(norm)
    array = as_array(x)
    along = _lengths(array, s, axes)
    if on_cpu(array):
        return _by_numpy("rfftn", array, s=[length for _, length in along], axes=[axis for axis, _ in along], norm=norm)
    *others, (axis, length) = along
    out = rfft(array, n=length, axis=axis, norm=norm)
    return fftn(out, s=[n for _, n in others], axes=[own for own, _ in others], norm=norm) if others else out


def irfftn(x: Operand, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward") -> Array:
    """The inverse of `rfftn`."""
    _check(norm)
    array = as_array(x)
    along = _lengths(array, s, axes)
    *others, (axis, length) = along
    if s is None:
        length = 2 * (array.shape[axis] - 1)
    if on_cpu(array):
        return _by_numpy("irfftn", array, s=[*(n for _, n in others), length], axes=[own for own, _ in along], norm=norm)
    out = ifftn(array, s=[n for _, n in others], axes=[own for own, _ in others], norm=norm) if others else array
    return irfft(out, n=length, axis=axis, norm=norm)


def _other(norm: str) -> str:
    _check(norm)
    return {"backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]


def hfft(x: Operand, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The transform of numbers that are the conjugates of those from behind: `n` real numbers."""
    return irfft(conj(x), n=n, axis=axis, norm=_other(norm))


def ihfft(x: Operand, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse of `hfft`."""
    return conj(rfft(x, n=n, axis=axis, norm=_other(norm)))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: DeviceLike = None) -> Array:
    """The frequencies of a transform of `n` samples that are `d` apart."""
    return _of_numpy(np.fft.fftfreq(n, d), dtype, device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: DeviceLike = None) -> Array:
    """The frequencies of a transform of `n` real samples that are `d` apart."""
    return _of_numpy(np.fft.rfftfreq(n, d), dtype, device)


def _of_numpy(values: Any, dtype: Any, device: DeviceLike) -> Array:
    return from_host(context_of(device), values if dtype is None else values.astype(supported(dtype)))


def _shifted(x: Operand, axes: int | Sequence[int] | None, sign: int) -> Array:
    array = as_array(x)
    own = tuple(range(array.ndim)) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    lengths = [array.shape[axis] for axis in own]
    shifts = tuple(length // 2 if sign > 0 else -(length // 2) for length in lengths)
    return _roll(array, shifts, axis=own) if own else array.copy()


def fftshift(x: Operand, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """The frequencies in order, with zero in the middle."""
    return _shifted(x, axes, 1)


def ifftshift(x: Operand, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """The inverse of `fftshift`."""
    return _shifted(x, axes, -1)
