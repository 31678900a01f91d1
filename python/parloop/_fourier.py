"""Discrete Fourier transforms by portable kernels, for devices that have no library for them.

Powers of two by Stockham's algorithm, other lengths by Bluestein's, which is a convolution of twice the length.
"""

from __future__ import annotations

import functools

import numpy as np

from ._arithmetic import combined, mapped
from ._elementwise import compiled, with_complex
from ._operations import written
from ._parloop import Array, Context

_STAGE = """
GPUKERN void stage(const int64_t n, const int64_t half_length, const int64_t step, GPUGLMEM T *y, GPUGLMEM const T *x) {
    VECTORIZE_OVER(i, n)
        const int64_t pairs = half_length * step, row = i / pairs * pairs * 2, k = i % pairs, p = k / step, q = k % step;
        const T a = x[row + q + step * p], b = x[row + q + step * (p + half_length)];
        const R angle = (R)-3.14159265358979323846 * (R)p / (R)half_length, c = cos(angle), s = sin(angle);
        const R re = a.re - b.re, im = a.im - b.im;
        y[row + q + step * 2 * p] = make_T(a.re + b.re, a.im + b.im);
        y[row + q + step * (2 * p + 1)] = make_T(re * c - im * s, re * s + im * c);
    END_VECTORIZE
}
GPUKERN void chirp(const int64_t n, GPUGLMEM T *z) {
    VECTORIZE_OVER(i, n)
        const R angle = (R)-3.14159265358979323846 * (R)(i * i % (2 * n)) / (R)n;
        z[i] = make_T(cos(angle), sin(angle));
    END_VECTORIZE
}
"""


@functools.lru_cache(maxsize=2)
def _source(dtype: str) -> str:
    return with_complex(written(_STAGE, dtype), [dtype])


def transform(x: Array) -> Array:
    """The transforms of the rows of an array of two axes of complex numbers."""
    rows, length = x.shape
    if length & (length - 1) == 0:
        return _power_of_two(x.copy())
    wave = _chirp(x.context, length, x.dtype)
    longer = 1 << (2 * length - 2).bit_length()
    first = x.context.zeros((rows, longer), x.dtype)
    first[:, :length] = combined("multiply", x, wave, False)
    other = x.context.zeros((1, longer), x.dtype)
    back = mapped("conjugate", wave)
    other[0, :length] = back
    other[0, longer - length + 1 :] = back[:0:-1]
    product = combined("multiply", _power_of_two(first), _power_of_two(other), False)
    joined = mapped("conjugate", _power_of_two(mapped("conjugate", product)))
    scaled: Array = combined("multiply", combined("multiply", joined[:, :length], wave, False), 1.0 / longer, False)
    return scaled


def _chirp(context: Context, length: int, dtype: np.dtype[np.complexfloating]) -> Array:
    out = context.empty(length, dtype)
    compiled(context, _source(dtype.name), "chirp")(length, out.memory)
    return out


def _power_of_two(x: Array) -> Array:
    """Of rows without gaps, which are overwritten."""
    rows, length = x.shape
    other = x.context.empty(x.shape, x.dtype)
    half, step = length // 2, 1
    while half >= 1 and rows:
        compiled(x.context, _source(x.dtype.name), "stage")(x.size // 2, half, step, other.memory, x.memory)
        x, other = other, x
        half, step = half // 2, step * 2
    return x
