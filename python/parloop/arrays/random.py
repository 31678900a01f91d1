"""Random numbers, made on the device: the same ones on every device for a seed, but for the last digits of logarithms and sines.

Each number is a hash of the seed and of how many were made before it (SplitMix64), so that work items do not depend on each other.
"""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._elementwise import compiled, with_complex
from .._parloop import Array
from ._creation import _shape
from ._device import DeviceLike, Operand, as_array, context_of, supported
from ._elementwise import add, multiply
from ._searching import take as _take
from ._sorting import argsort

_SOURCE = """
uint64_t mixed(const uint64_t seed, const uint64_t count) {
    uint64_t z = seed + (count + 1) * 0x9E3779B97F4A7C15UL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9UL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBUL;
    return z ^ (z >> 31);
}
double unit(const uint64_t bits) { return (double)(bits >> 11) * (1.0 / 9007199254740992.0); }
GPUKERN void uniform(const int64_t n, GPUGLMEM double *z, const uint64_t seed, const uint64_t count) {
    VECTORIZE_OVER(i, n)
        z[i] = unit(mixed(seed, count + (uint64_t)i));
    END_VECTORIZE
}
GPUKERN void normal(const int64_t n, GPUGLMEM double *z, const uint64_t seed, const uint64_t count) {
    VECTORIZE_OVER(i, n)
        const double u = unit(mixed(seed, count + 2 * (uint64_t)i)), v = unit(mixed(seed, count + 2 * (uint64_t)i + 1));
        z[i] = sqrt(-2.0 * log(1.0 - u)) * cos(6.28318530717958647693 * v);
    END_VECTORIZE
}
GPUKERN void exponential(const int64_t n, GPUGLMEM double *z, const uint64_t seed, const uint64_t count) {
    VECTORIZE_OVER(i, n)
        z[i] = -log(1.0 - unit(mixed(seed, count + (uint64_t)i)));
    END_VECTORIZE
}
GPUKERN void below(const int64_t n, GPUGLMEM int64_t *z, const uint64_t seed, const uint64_t count, const int64_t low, const uint64_t width) {
    VECTORIZE_OVER(i, n)
        const uint64_t bits = mixed(seed, count + (uint64_t)i);
        z[i] = (int64_t)((uint64_t)low + (width == 0 ? bits : bits % width));
    END_VECTORIZE
}
"""


class Generator:
    """Random numbers from a seed, or from one of the system.

    >>> import parloop.arrays as xp
    >>> a, b = xp.random.default_rng(1), xp.random.default_rng(1)
    >>> bool(xp.all(a.random(5) == b.random(5)))
    True
    """

    def __init__(self, seed: int | None = None, *, device: DeviceLike = None) -> None:
        self._device = device
        self._lock = threading.Lock()
        self.seed(seed)

    def seed(self, seed: int | None = None) -> None:
        """Begins again with a seed."""
        with self._lock:
            self._seed = (secrets.randbits(64) if seed is None else int(seed) * 0xD1342543DE82EF95 + 1) % 2**64
            self._count = 0

    def _made(self, kernel: str, size: Any, dtype: Any, device: DeviceLike, each: int = 1, *arguments: int) -> Array:
        context = context_of(self._device if device is None else device)
        out = context.empty(() if size is None else _shape(size), np.int64 if kernel == "below" else np.float64)
        with self._lock:
            count = self._count
            self._count += each * out.size
        if out.size:
            compiled(context, with_complex(_SOURCE, []), kernel)(out.size, out.memory, self._seed, count % 2**64, *arguments)
        return out if dtype is None or supported(dtype) == out.dtype else out.astype(supported(dtype))

    def random(self, size: Any = None, dtype: Any = None, *, device: DeviceLike = None) -> Array:
        """Numbers from 0 up to, but without, 1, all as likely."""
        return self._made("uniform", size, dtype, device)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None, *, device: DeviceLike = None) -> Array:
        """Numbers from `low` to `high`, all as likely."""
        return add(multiply(self._made("uniform", _sized(size, low, high), None, _at(device, low, high)), high - low), low)

    def standard_normal(self, size: Any = None, dtype: Any = None, *, device: DeviceLike = None) -> Array:
        """Numbers of the normal distribution with mean 0 and standard deviation 1."""
        return self._made("normal", size, dtype, device, 2)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, *, device: DeviceLike = None) -> Array:
        """Numbers of the normal distribution with that mean and standard deviation."""
        return add(multiply(self._made("normal", _sized(size, loc, scale), None, _at(device, loc, scale), 2), scale), loc)

    def exponential(self, scale: Any = 1.0, size: Any = None, *, device: DeviceLike = None) -> Array:
        """Numbers of the exponential distribution with that mean."""
        return multiply(self._made("exponential", _sized(size, scale), None, _at(device, scale)), scale)

    def integers(self, low: int, high: int | None = None, size: Any = None, dtype: Any = None, *, device: DeviceLike = None) -> Array:
        """Integers from `low`, or zero, up to, but without, `high`, all as likely."""
        if high is None:
            low, high = 0, low
        if high <= low:
            raise ValueError(f"there are no integers in the half-open interval [{low}, {high})")
        return self._made("below", size, dtype, device, 1, int(low), int(high) - int(low))

    def permutation(self, x: int | Operand, /, *, device: DeviceLike = None) -> Array:
        """The elements along the first axis, or the numbers up to `x`, in any order."""
        length = int(x) if isinstance(x, (int, np.integer)) else as_array(x).shape[0]
        order = argsort(self.random(length, device=device if isinstance(x, (int, np.integer)) else as_array(x).context))
        return order if isinstance(x, (int, np.integer)) else _take(as_array(x), order, axis=0)

    def choice(self, x: int | Operand, size: Any = None, replace: bool = True, *, device: DeviceLike = None) -> Array:
        """Elements of one axis, or numbers up to `x`, chosen with or without putting them back."""
        array = None if isinstance(x, (int, np.integer)) else as_array(x)
        length = int(x) if isinstance(x, (int, np.integer)) else as_array(x).shape[0]
        where: DeviceLike = device if array is None else array.context
        if replace:
            places = self.integers(0, length, size, device=where)
        else:
            shape = () if size is None else _shape(size)
            count = int(np.prod(shape, dtype=np.int64))
            if count > length:
                raise ValueError(f"{count} of {length} elements cannot be chosen without replacement")
            places = self.permutation(length, device=where)[:count].reshape(shape)
        return places if array is None else _take(array, places, axis=0)


def _sized(size: Any, *given: Any) -> Any:
    """The shape of numbers of which each has its own parameters."""
    return size if size is not None else np.broadcast_shapes(*(np.shape(own) if not isinstance(own, Array) else own.shape for own in given))


def _at(device: DeviceLike, *given: Any) -> DeviceLike:
    return next(itertools.chain((own.context for own in given if isinstance(own, Array)), [device])) if device is None else device


_shared = Generator()

seed = _shared.seed
uniform = _shared.uniform
normal = _shared.normal
standard_normal = _shared.standard_normal
exponential = _shared.exponential
permutation = _shared.permutation
choice = _shared.choice
random = random_sample = _shared.random


def default_rng(seed: int | None = None, *, device: DeviceLike = None) -> Generator:
    """Random numbers from a seed, or from one of the system."""
    return Generator(seed, device=device)


def rand(*shape: int, device: DeviceLike = None) -> Array:
    """Numbers from 0 up to, but without, 1, as NumPy's function."""
    return _shared.random(shape, device=device)


def randn(*shape: int, device: DeviceLike = None) -> Array:
    """Numbers of the standard normal distribution, as NumPy's function."""
    return _shared.standard_normal(shape, device=device)


def randint(low: int, high: int | None = None, size: Sequence[int] | int | None = None, dtype: Any = None, *, device: DeviceLike = None) -> Array:
    """Integers from `low`, or zero, up to, but without, `high`, as NumPy's function."""
    return _shared.integers(low, high, size, dtype, device=device)
