"""Arrays with two sides: one on the host, one on the device."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from .. import _parloop
from .._parloop import _dense_order
from . import _device
from ._device import attempt
from ._dtype import SUPPORTED_DTYPES, Order, buffer_format
from ._memory import Side
from ._pointer import POINTERS, host_array, pointer_wrapper
from ._status import INVALID_VALUE, SUCCESS, cudaError_t, failed

_FORMS = "a buffer; a size; a shape; a pointer and a shape; or two addresses (host, device) and a shape"


def shape_of(shape: SupportsIndex | Sequence[SupportsIndex]) -> tuple[int, ...]:
    """A shape that a user gave: an integer or a sequence of them."""
    try:
        given: Any = shape if isinstance(shape, (list, tuple)) else [shape]
        lengths = tuple(operator.index(n) for n in given)
    except TypeError:
        raise TypeError(f"a shape must be an integer or a list of integers, not {shape!r}") from None
    if any(n < 0 for n in lengths):
        raise ValueError(f"a shape cannot have negative lengths: {lengths}")
    return lengths


class DeviceArray(_parloop._HostBuffer):
    """An array on the host and its counterpart on a device.

    The host side is lent by the buffer protocol: `numpy.asarray(array)` shares its memory. The device side is there after
    `allocate()`. A status is returned by each call that moves data, and kept for `last_status()`.

    The forms of the constructor:

    - `DeviceArray_<dtype>(buffer)`: the host side is the buffer's memory, in its order (C, F or any strides)
    - `DeviceArray_<dtype>(size)` and `DeviceArray_<dtype>(shape, flag_c_contiguous=1)`: a new host side, in order F if the flag is 0
    - `DeviceArray_<dtype>(pointer, shape, flag_c_contiguous=1)`: the host side is what the pointer leads to; the device side, if the
      pointer is to device memory
    - `DeviceArray_<dtype>(host_addr, device_addr, shape, flag_c_contiguous=1)`: both sides are memory of others

    Where the host side has gaps, the device side has none: it is packed in C order, as `device_strides()` says.

    Raises
    ------
    TypeError
        If the buffer's or pointer's elements are of another type.

    Examples
    --------
    >>> import numpy
    >>> from parloop.gpu import DeviceArray_int64
    >>> A = numpy.array([1, 2, 3, 4, 5, 6])
    >>> da = DeviceArray_int64(A)
    >>> da.to_device()          # there is no device side yet
    <cudaError: code=1>
    >>> da.allocate(), da.to_device()
    (<cudaError: code=0>, <cudaError: code=0>)
    >>> A[:] = 0
    >>> da.to_host()
    <cudaError: code=0>
    >>> A
    array([1, 2, 3, 4, 5, 6])
    """

    _element: np.dtype[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        flag = kwargs.pop("flag_c_contiguous", None)
        given = [*args, *(kwargs.pop(name) for name in ("a", "host_addr", "device_addr", "l") if name in kwargs)]
        if kwargs:
            raise TypeError(f"{type(self).__name__} has no argument {next(iter(kwargs))!r}; it takes {_FORMS}")
        pointers = [isinstance(value, pointer_wrapper) for value in given]
        addresses = len(given) >= 3 and (not pointers[0] or pointers[1])
        places = 3 if addresses else 2 if pointers[:1] == [True] else 1
        if flag is None and len(given) == places + 1 and isinstance(given[-1], int):
            flag = given.pop()
        if len(given) != places:
            raise TypeError(f"{type(self).__name__} takes {_FORMS}")
        order: Order = "C" if flag is None or flag else "F"
        self._side: Side | None = None
        self._status = cudaError_t(SUCCESS)
        self._host = self._make(given, order)
        self._order = _dense_order(self._host.shape, self._host.strides, self._element.itemsize) or "C"
        self._lend(self._host, buffer_format(self._element))
        _device.holders.add(self)

    def _make(self, given: list[Any], order: Order) -> np.ndarray[Any, Any]:
        """The host side, and the device side if it is given."""
        first = given[0]
        if len(given) == 3:
            shape = shape_of(given[2])
            self._adopt(given[1], shape, order)
            host = int(first)
            return self._at(host, shape, order, first) if host else self._new(shape, order)
        if isinstance(first, pointer_wrapper):
            return self._from_pointer(first, shape_of(given[1]), order)
        if isinstance(first, (list, tuple)) or hasattr(first, "__index__") and not isinstance(first, np.ndarray):
            return self._new(shape_of(first), order)
        return self._from_buffer(first)

    def _new(self, shape: tuple[int, ...], order: Order) -> np.ndarray[Any, Any]:
        return np.empty(shape, self._element, order)

    def _adopt(self, place: int | pointer_wrapper, shape: tuple[int, ...], order: Order) -> None:
        """Makes memory of others the device side; a pointer knows its device and owner."""
        if not int(place):
            return
        ordinal, owner = (place._on, place._owner) if isinstance(place, pointer_wrapper) else (None, None)
        device = _device.current_device() if ordinal is None else _device.devices()[ordinal]
        self._side, self._status = attempt(lambda: Side.adopt(int(place), shape, self._element, order, owner, device))

    def _at(self, address: int, shape: tuple[int, ...], order: Order, owner: Any) -> np.ndarray[Any, Any]:
        if not address and 0 not in shape:
            raise ValueError("the host pointer is null: allocate memory for it first")
        return host_array(address, shape, self._element, order, owner)

    def _from_pointer(self, pointer: pointer_wrapper, shape: tuple[int, ...], order: Order) -> np.ndarray[Any, Any]:
        if pointer._element is not None and pointer._element != self._element:
            raise TypeError(f"{type(self).__name__} holds {self._element} elements, but the pointer refers to {pointer._element}")
        asked = int(np.prod(shape, dtype=object)) if shape else 1
        if pointer._count and asked > pointer._count:
            raise ValueError(f"shape {shape} has {asked} elements, but the pointer refers to {pointer._count}")
        if pointer._on is None:
            return self._at(int(pointer), shape, order, pointer._owner)
        self._adopt(pointer, shape, order)
        return self._new(shape, order)

    def _from_buffer(self, buffer: Any) -> np.ndarray[Any, Any]:
        if not isinstance(buffer, np.ndarray):
            try:
                buffer = np.asarray(memoryview(buffer))
            except TypeError:
                raise TypeError(f"{type(self).__name__} takes {_FORMS}, not {type(buffer).__name__}") from None
        if buffer.dtype != self._element:
            found = buffer.dtype.name if buffer.dtype.isnative else f"{buffer.dtype.name} in another byte order"
            convert = f"convert the buffer with .astype({self._element.name!r})"
            other = f"use DeviceArray_{found}, or " if found in SUPPORTED_DTYPES else ""
            raise TypeError(f"{type(self).__name__} holds {self._element} elements, but the buffer has {found}: {other}{convert}")
        return np.asarray(buffer)

    @classmethod
    def _on_device(cls, side: Side, host: np.ndarray[Any, Any] | None = None) -> DeviceArray:
        """An array whose device side is there already."""
        if host is None:
            host = np.empty(side.shape, side.element, side.order or "C")
        array: DeviceArray = ARRAYS[f"DeviceArray_{side.element.name}"](host)
        array._side = side
        return array

    def _note(self, status: cudaError_t) -> cudaError_t:
        self._status = status
        return status

    def _forget(self, device: _parloop.Device) -> None:
        if self._side is not None and self._side.memory.device == device:
            self._side = None

    def allocate(self) -> cudaError_t:
        """Makes the device side on this thread's device, unless there is one."""
        if self._side is not None:
            return self._note(cudaError_t(SUCCESS))
        side, status = attempt(lambda: Side.allocate(_device.current_device(), self._host.shape, self._element, self._order))
        self._side = side
        return self._note(status)

    def allocated(self) -> bool:
        """Whether there is a device side."""
        return self._side is not None

    def to_device(self) -> cudaError_t:
        """Copies the host side to the device; code 1 when there is no device side."""
        if self._side is None:
            return self._note(failed(INVALID_VALUE))
        return self._note(attempt(self._side.write, self._host)[1])

    def to_host(self) -> cudaError_t:
        """Copies the device side to the host; code 1 when there is no device side.

        Raises
        ------
        ValueError
            If the host side is read-only.
        """
        if not self._host.flags.writeable:
            raise ValueError("the host buffer is read-only, but to_host() would write to it; create the array from a writable buffer")
        if self._side is None:
            return self._note(failed(INVALID_VALUE))
        return self._note(attempt(self._side.read, self._host)[1])

    def set(self, values: Any) -> cudaError_t:
        """Copies values to the device side and leaves the host side alone.

        Parameters
        ----------
        values
            An array of the same shape and type, or the address (or pointer) of as many elements in the device side's order.
        """
        if self._side is None:
            return self._note(failed(INVALID_VALUE))
        if isinstance(values, (int, pointer_wrapper)):
            if int(values) == 0 and self.size():
                return self._note(failed(INVALID_VALUE))
            values = host_array(int(values), self._side.shape, self._element, self._side.order or "C")
        values = self._from_buffer(values)
        if values.shape != self._host.shape:
            raise ValueError(f"the array has shape {self._host.shape}, but the values have shape {values.shape}")
        return self._note(attempt(self._side.write, values)[1])

    def set_val(self, index: int, value: Any) -> cudaError_t:
        """Sets one element of the device side, by its place in memory; code 1, and nothing is changed, if there is no such place."""
        place = operator.index(index)
        if self._side is None or not 0 <= place < self.size():
            return self._note(failed(INVALID_VALUE))
        return self._note(attempt(self._side.write_element, place, value)[1])

    def last_status(self) -> cudaError_t:
        """The status of the last call that moved data or allocated memory."""
        return self._status

    def host_data(self) -> pointer_wrapper:
        """Where the host side is."""
        host = self._host
        count = host.size if host.flags.forc else min(host.size, 1)
        pointer: pointer_wrapper = POINTERS[self._element.name]._to(host.ctypes.data, count, host, safe=True)
        return pointer

    def device_data(self) -> pointer_wrapper:
        """Where the device side is; 0 before `allocate()`."""
        kind, side = POINTERS[self._element.name], self._side
        if side is None:
            return kind()
        count = side.size if side.order else min(side.size, 1)
        pointer: pointer_wrapper = kind._to(side.address, count, side, device=side.device.id)
        return pointer

    def shape(self) -> list[int]:
        """The length along each axis."""
        return list(self._host.shape)

    def strides(self) -> list[int]:
        """The bytes from one element to the next along each axis of the host side."""
        return list(self._host.strides)

    def device_strides(self) -> list[int]:
        """The same of the device side; they differ only where the host side has gaps. Empty before `allocate()`."""
        return [] if self._side is None else list(self._side.strides)

    def size(self) -> int:
        """The number of elements."""
        return self._host.size

    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self._host.nbytes

    def __repr__(self) -> str:
        where = "not allocated" if self._side is None else f"on {self._side.memory.device.name}"
        return f"<{type(self).__name__} {self.shape()}: {where}, last status {int(self._status)}>"


ARRAYS: dict[str, type[DeviceArray]] = {
    f"DeviceArray_{name}": type(
        f"DeviceArray_{name}",
        (DeviceArray,),
        {"_element": np.dtype(name), "__doc__": f"A `DeviceArray` of {name} elements.", "__module__": "parloop.gpu"},
    )
    for name in SUPPORTED_DTYPES
}
