"""Host memory for whole arrays, by shape and type."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from .. import _parloop
from ._allocator import ALLOCATORS
from ._device_array import ARRAYS, shape_of
from ._dtype import SUPPORTED_DTYPES
from ._pointer import pointer_wrapper
from ._status import SUCCESS, cudaError_t


class UnsupportedDataType(_parloop.ParloopError, TypeError):
    """The elements are of a type that device arrays do not have, or the values are not an array."""


def name_of(element: Any) -> str:
    """The name of a type that a user gave."""
    try:
        name: str = np.dtype(element).name
    except TypeError:
        name = str(element)
    if name not in SUPPORTED_DTYPES:
        raise UnsupportedDataType(f"{name} elements are not supported; use one of {', '.join(SUPPORTED_DTYPES)}")
    return name


class ShapedAllocator:
    """Host memory for an array of one shape and type."""

    _family: str

    def __init__(self, shape: int | Sequence[int], dtype: Any) -> None:
        self._shape = list(shape_of(shape))
        self._dtype = name_of(dtype)
        self._size = prod(self._shape)
        self._alloc = ALLOCATORS[f"{self._family}_{self._dtype}"]()
        self._status: cudaError_t = self._alloc.allocate(self._size) or cudaError_t(SUCCESS)

    def last_status(self) -> cudaError_t:
        """Whether the memory could be had."""
        return self._status

    def get(self) -> np.ndarray[Any, Any]:
        """The memory as a NumPy array."""
        return np.asarray(ARRAYS[f"DeviceArray_{self._dtype}"](self.ptr(), self._shape))

    def ptr(self) -> pointer_wrapper:
        """Where the memory is."""
        pointer: pointer_wrapper = self._alloc.ptr()
        return pointer

    def __repr__(self) -> str:
        return f"<{self._family} {self._dtype} {self._shape}>"


class HostAllocator(ShapedAllocator):
    """Host memory for an array of one shape and type.

    Examples
    --------
    >>> from parloop.gpu.gpuarray import GPUArray, HostAllocator
    >>> allocator = HostAllocator((2, 3), "float64")
    >>> allocator.get()[...] = 1
    >>> array = GPUArray(allocator=allocator)
    >>> array.to_device()
    <cudaError: code=0>
    >>> float(array[1, 2])
    1.0
    """

    _family = "HostAllocator"


class PagelockedAllocator(ShapedAllocator):
    """Page-locked host memory for an array of one shape and type."""

    _family = "PagelockedAllocator"
