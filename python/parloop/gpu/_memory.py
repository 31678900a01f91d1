"""Device memory with a layout: one side of an array."""

from __future__ import annotations

import operator
import sys
from typing import Any

import numpy as np

from .. import _parloop
from .._parloop import _dense_order, _dense_strides
from . import _device
from ._dtype import Order
from ._pointer import Ordinal

_CONTEXTS: dict[_parloop.Device, _parloop.Context] = {}


def context_on(device: _parloop.Device) -> _parloop.Context:
    """The context on a device's default stream."""
    context = _CONTEXTS.get(device)
    if context is None:
        context = _CONTEXTS[device] = _parloop.Context(device)
    return context


class Allocation:
    """Memory of a device that keeps the promises of `cudaMalloc` and `cudaFree`.

    Every stream may use it at once, and it is freed after all work on the device is done: device code that is not ours uses it on
    streams that we do not know of.
    """

    def __init__(self, device: _parloop.Device, nbytes: int) -> None:
        if nbytes > sys.maxsize:
            raise _parloop.OutOfMemoryError(f"{device.name}: {nbytes} bytes of memory were requested")
        self.memory = device.allocate(nbytes)
        if device.kind != "cpu":
            device.default_stream.synchronize()

    def __del__(self) -> None:
        memory = getattr(self, "memory", None)
        if memory is not None and memory.device.kind != "cpu":
            try:
                memory.device.synchronize()
            except _parloop.DeviceError:
                pass  # the device is broken or gone, and a destructor cannot report errors


def _checked(value: Any, element: np.dtype[Any]) -> Any:
    """A value for one element; NumPy would cut a fraction off and, before its version 2, wrap integers around."""
    if element.kind not in "iu":
        return value
    number, limits = operator.index(value), np.iinfo(element)
    if not limits.min <= number <= limits.max:
        raise OverflowError(f"{number} does not fit into {element}")
    return number


class Side:
    """Elements in the memory of a device: from `offset` bytes on, with these strides."""

    def __init__(
        self, memory: _parloop.Memory, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], element: np.dtype[Any]
    ) -> None:
        self.memory = memory
        self.offset = offset
        self.shape = shape
        self.strides = strides
        self.element = element
        self.order = _dense_order(shape, strides, element.itemsize)
        self.owner: Any = None
        self._array: _parloop.Array | None = None

    @classmethod
    def allocate(cls, device: _parloop.Device, shape: tuple[int, ...], element: np.dtype[Any], order: Order) -> Side:
        """New memory; its content is undefined."""
        nbytes = element.itemsize
        for length in shape:
            nbytes *= length
        owner = Allocation(device, nbytes)
        side = cls(owner.memory, 0, shape, _dense_strides(shape, element.itemsize, order), element)
        side.owner = owner
        return side

    @classmethod
    def adopt(cls, address: int, shape: tuple[int, ...], element: np.dtype[Any], order: Order, owner: Any, device: _parloop.Device) -> Side:
        """Memory of others at an address of a device."""
        nbytes = element.itemsize
        for length in shape:
            nbytes *= length
        memory = device.adopt_memory(address, nbytes, owner)
        side = cls(memory, 0, shape, _dense_strides(shape, element.itemsize, order), element)
        side.owner = owner
        return side

    @classmethod
    def of_array(cls, array: _parloop.Array, owner: Any = None) -> Side:
        """The memory of an array, shared."""
        side = cls(array.memory, array.offset, array.shape, array.strides, array.dtype)
        side.owner = owner
        side._array = array
        return side

    @property
    def device(self) -> Ordinal:
        """The device, by its number."""
        return Ordinal(_device.ordinal_of(self.memory.device))

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for length in self.shape:
            count *= length
        return count

    @property
    def address(self) -> int:
        """Where the first element is; 0 when there is none."""
        return int(self.memory.handle) + self.offset if self.size else 0

    @property
    def interface(self) -> dict[str, Any]:
        """The array interface's description."""
        return {
            "version": 3,
            "shape": self.shape,
            "strides": self.strides,
            "typestr": self.element.str,
            "data": (self.address, self.memory.readonly),
        }

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self.memory.device.kind != "cpu":
            raise AttributeError("__array_interface__")
        return self.interface

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.memory.device.kind == "cpu":
            raise AttributeError("__cuda_array_interface__")
        return {**self.interface, "stream": 1}

    def array(self) -> _parloop.Array:
        """The elements as an array that shares the memory."""
        if self._array is None:
            context = context_on(self.memory.device)
            self._array = context.array(self, copy=False) if self.size else context.empty(self.shape, self.element)
        return self._array

    def _fits(self, host: np.ndarray[Any, Any]) -> bool:
        """Whether the bytes on both sides are in the same order, without gaps."""
        if self.order is None or not host.flags.forc:
            return False
        return all(n == 1 or a == b for n, a, b in zip(self.shape, self.strides, host.strides))

    def write(self, host: np.ndarray[Any, Any]) -> None:
        """Copies the elements of a host array of the same shape and type to the device."""
        if self.size == 0:
            return
        stream = self.memory.device.default_stream
        if self._fits(host):
            stream.write(self.memory, host, self.offset)
        elif self.order is not None:
            stream.write(self.memory, np.array(host, order=self.order), self.offset)
        else:
            self.array()[...] = host

    def read(self, host: np.ndarray[Any, Any]) -> None:
        """Copies the elements to a host array of the same shape and type."""
        if self.size == 0:
            return
        stream = self.memory.device.default_stream
        if self._fits(host):
            stream.read(self.memory, host, self.offset)
        elif self.order is not None:
            packed = np.empty(self.shape, self.element, self.order)
            stream.read(self.memory, packed, self.offset)
            host[...] = packed
        else:
            host[...] = self.array().numpy()

    def write_element(self, place: int, value: Any) -> None:
        """Sets one element: the `place`-th in memory, or in C order where there are gaps."""
        cell = np.array([_checked(value, self.element)], self.element)
        if self.order is not None:
            self.memory.device.default_stream.write(self.memory, cell, self.offset + place * self.element.itemsize)
        else:
            self.array()[tuple(int(i) for i in np.unravel_index(place, self.shape))] = cell[0]
