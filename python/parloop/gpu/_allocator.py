"""Allocators: memory of the host, page-locked or not, and of the device."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import _parloop
from . import _device
from ._device import attempt
from ._dtype import SUPPORTED_DTYPES
from ._memory import Allocation
from ._pointer import POINTERS, pointer_wrapper
from ._status import SUCCESS, cudaError_t


def _count(elements: int) -> int:
    count = operator.index(elements)
    if count < 0:
        raise ValueError(f"the number of elements must not be negative: {count}")
    return count


class HostAllocator:
    """Memory of the host.

    Examples
    --------
    >>> from parloop.gpu import HostAllocator_int32
    >>> allocator = HostAllocator_int32()
    >>> int(allocator.ptr())
    0
    >>> allocator.allocate(4)
    >>> allocator.ptr().is_safe()
    True
    """

    _element: np.dtype[Any]

    def __init__(self) -> None:
        self._values: np.ndarray[Any, Any] | None = None

    def allocate(self, elements: int) -> None:
        """Memory for this many elements, in place of what it had; pointers to that keep it."""
        self._values = np.empty(_count(elements), self._element)

    def ptr(self) -> pointer_wrapper:
        """Where the memory is; 0 before `allocate`."""
        values = self._values
        if values is None:
            return POINTERS[self._element.name]()
        pointer: pointer_wrapper = POINTERS[self._element.name]._to(values.ctypes.data, values.size, values, safe=True)
        return pointer

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {0 if self._values is None else self._values.size} elements>"


class PagelockedAllocator(HostAllocator):
    """Page-locked memory of the host, which the device copies from and to at full speed.

    Examples
    --------
    >>> from parloop.gpu import PagelockedAllocator_float32
    >>> allocator = PagelockedAllocator_float32()
    >>> allocator.allocate(4)
    <cudaError: code=0>
    """

    def allocate(self, elements: int) -> cudaError_t:  # type: ignore[override]
        """Memory for this many elements, in place of what it had; pointers to that keep it."""
        count = _count(elements)
        nbytes = max(count * self._element.itemsize, 1)
        pinned, status = attempt(_allocate_pinned, nbytes)
        if status == SUCCESS:
            self._values = np.asarray(pinned)[: count * self._element.itemsize].view(self._element)
        return status


def _allocate_pinned(nbytes: int) -> _parloop.PinnedMemory:
    device = _device.current_device()
    if nbytes >= 2**63:
        raise _parloop.OutOfMemoryError(f"{device.name}: {nbytes} bytes of page-locked memory were requested")
    return device.allocate_pinned(nbytes)


class DeviceAllocator:
    """Memory of this thread's device.

    Examples
    --------
    >>> from parloop.gpu import DeviceAllocator_float32
    >>> allocator = DeviceAllocator_float32()
    >>> allocator.allocate(4)
    <cudaError: code=0>
    >>> int(allocator.ptr()) != 0
    True
    """

    _element: np.dtype[Any]

    def __init__(self) -> None:
        self._owner: Allocation | None = None
        self._size = 0

    def allocate(self, elements: int) -> cudaError_t:
        """Memory for this many elements, in place of what it had; pointers to that keep it."""
        count = _count(elements)
        owner, status = attempt(lambda: Allocation(_device.current_device(), count * self._element.itemsize))
        if status == SUCCESS:
            self._owner, self._size = owner, count
            _device.holders.add(self)
        return status

    def ptr(self) -> pointer_wrapper:
        """Where the memory is; 0 before `allocate`."""
        kind = POINTERS[self._element.name]
        if self._owner is None or self._size == 0:
            return kind()
        memory = self._owner.memory
        pointer: pointer_wrapper = kind._to(memory.handle, self._size, self._owner, device=_device.ordinal_of(memory.device))
        return pointer

    def _forget(self, device: _parloop.Device) -> None:
        if self._owner is not None and self._owner.memory.device == device:
            self._owner, self._size = None, 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._size} elements>"


def _typed(base: type, name: str) -> type:
    doc = f"A `{base.__name__}` of {name} elements."
    return type(f"{base.__name__}_{name}", (base,), {"_element": np.dtype(name), "__doc__": doc, "__module__": "parloop.gpu"})


ALLOCATORS: dict[str, type] = {
    kind.__name__: kind
    for name in SUPPORTED_DTYPES
    for kind in (_typed(HostAllocator, name), _typed(PagelockedAllocator, name), _typed(DeviceAllocator, name))
}
