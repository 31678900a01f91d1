"""Arrays on the device, in the manner of PyCUDA: `GPUArray` and `to_gpu`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _parloop
from .._parloop import _dense_order
from . import _device
from ._device import attempt
from ._device_array import ARRAYS, DeviceArray, shape_of
from ._dtype import SUPPORTED_DTYPES, Order, dtype
from ._memory import Side, context_on
from ._pointer import Ordinal, pointer_wrapper
from ._shaped_allocator import HostAllocator, PagelockedAllocator, ShapedAllocator, UnsupportedDataType, name_of
from ._status import cudaError_t

__all__ = [
    "SUPPORTED_DTYPES",
    "Allocator",
    "GPUArray",
    "HostAllocator",
    "PagelockedAllocator",
    "UnsupportedDataType",
    "dtype",
    "to_gpu",
]


def _order_of(order: str) -> Order:
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C' or 'F', not {order!r}")
    return "C" if order == "C" else "F"


class Allocator:
    """Device memory of another owner, for `GPUArray(allocator=…)`, with its own host side.

    Parameters
    ----------
    data : GPUArray, CuPy array or PagelockedAllocator
        Whose memory it is. Page-locked memory is used by the device in place.
    host_data : numpy.ndarray, optional
        The host side.
    """

    def __init__(self, data: Any, host_data: np.ndarray[Any, Any] | None = None) -> None:
        self.data = data
        self._order: Order = "C"
        if isinstance(data, ShapedAllocator):
            self._shape, self._dtype, self._pointer = list(data._shape), data._dtype, data.ptr()
        else:
            array = data if isinstance(data, GPUArray) else GPUArray(data)
            order = _dense_order(array.shape, array.strides, array.dtype.itemsize)
            if order is None:
                raise ValueError("the device array is not contiguous; pass a copy")
            self._order = order
            self._shape, self._dtype, self._pointer = list(array.shape), array.dtype.name, array.device_data
        if host_data is None:
            host_data = np.empty(self._shape, self._dtype, self._order)
        self.host_data: np.ndarray[Any, Any] = host_data

    def ptr(self) -> pointer_wrapper:
        """Where the device memory is."""
        return self._pointer

    def host_ptr(self) -> int:
        """Where the host side is."""
        return int(self.host_data.ctypes.data)


class GPUArray:
    """An array on the device, with a host side to move it from and to.

    Indexing gives a part that shares the device memory; an index for every axis gives a number.

    Parameters
    ----------
    array : numpy.ndarray, GPUArray, CuPy array, tuple or int
        A NumPy array becomes the host side (`to_device()` copies it); the memory of an array that is on the device already is shared;
        a shape gives undefined elements.
    dtype : optional
        The type of the elements where a shape is given; float64 if left out.
    order : 'C' or 'F', optional
        The order of the elements where a shape is given.
    allocator : Allocator, HostAllocator or PagelockedAllocator, optional
        Whose memory to use, in place of the array.
    copy : bool
        Copy the values instead of sharing their memory.
    shape : tuple, optional
        Another name for the first argument.

    Examples
    --------
    >>> import numpy as np
    >>> from parloop.gpu import GPUArray, to_gpu
    >>> x = to_gpu(np.arange(6.0).reshape(2, 3))
    >>> x.shape, x.dtype, x.nbytes
    ((2, 3), dtype('float64'), 48)
    >>> x[:, 1].get()
    array([1., 4.])
    >>> x[0] = 7
    >>> x.get()
    array([[7., 7., 7.],
           [3., 4., 5.]])
    >>> y = GPUArray(x)           # the same device memory
    >>> y.ptr == x.ptr
    True
    """

    def __init__(
        self,
        array: Any = None,
        dtype: Any = None,
        order: str | None = None,
        allocator: Any = None,
        copy: bool = False,
        *,
        shape: Any = None,
    ) -> None:
        given = array if shape is None else shape
        if (array is not None) + (shape is not None) + (allocator is not None) != 1:
            raise TypeError("GPUArray takes exactly one of an array, a shape and an allocator")
        if dtype is not None and (allocator is not None or not isinstance(given, (tuple, list, int, np.integer))):
            raise TypeError("a dtype can be given only with a shape; arrays and allocators have their own")
        checked = None if order is None else _order_of(order)
        self._allocator = allocator
        if allocator is not None:
            self._device_array = self._from_allocator(allocator, checked)
        elif isinstance(given, np.ndarray):
            values = given.copy(order="K") if copy else given
            self._device_array = ARRAYS[f"DeviceArray_{name_of(values.dtype)}"](values)
            self._device_array.allocate()
        elif isinstance(given, (tuple, list, int, np.integer)):
            name = name_of("float64" if dtype is None else dtype)
            self._device_array = ARRAYS[f"DeviceArray_{name}"](list(shape_of(given)), int(checked != "F"))
            self._device_array.allocate()
        else:
            self._device_array = self._sharing(given, copy)

    @staticmethod
    def _from_allocator(allocator: Any, order: str | None) -> DeviceArray:
        kind = ARRAYS[f"DeviceArray_{name_of(allocator._dtype)}"]
        flag = int((order or getattr(allocator, "_order", "C")) != "F")
        if isinstance(allocator, ShapedAllocator):
            array = kind(allocator.ptr(), list(allocator._shape), flag)
            array.allocate()
            return array
        return kind(allocator.host_ptr(), allocator.ptr(), list(allocator._shape), flag)

    @staticmethod
    def _sharing(given: Any, copy: bool) -> DeviceArray:
        """An array whose device side is the memory of an array that is on a device."""
        if isinstance(given, GPUArray):
            given._device_array.allocate()
            side = given._side()
        elif isinstance(given, _parloop.Array):
            side = Side.of_array(given)
        elif hasattr(given, "__cuda_array_interface__") and _device.kind() != "cpu":
            ordinal = int(getattr(getattr(given, "device", None), "id", None) or 0)
            side = Side.of_array(context_on(_device.devices()[ordinal]).array(given, copy=None), given)
        else:
            raise UnsupportedDataType(
                f"a GPUArray takes a NumPy array, an array on the device or a shape (a tuple or a list), not {type(given).__name__}"
            )
        name_of(side.element)
        if side.memory.device not in _device.devices():
            raise ValueError(f"the array is on {side.memory.device.name}, which is not one of the {_device.kind()} devices in use")
        return DeviceArray._on_device(Side.of_array(side.array().copy()) if copy else side)

    @classmethod
    def _of(cls, device_array: DeviceArray) -> GPUArray:
        array = cls.__new__(cls)
        array._allocator = None
        array._device_array = device_array
        return array

    def _side(self) -> Side:
        side = self._device_array._side
        if side is None:
            raise ValueError(f"the array has no device memory (last status {self.last_status}); see allocate()")
        return side

    @property
    def shape(self) -> tuple[int, ...]:
        """The length along each axis."""
        shape: tuple[int, ...] = self._device_array._host.shape
        return shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._device_array._host.ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._device_array._element

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from one element to the next along each axis, on the device."""
        side = self._device_array._side
        return self._device_array._host.strides if side is None else side.strides

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._device_array.size()

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self._device_array.nbytes()

    @property
    def host_data(self) -> pointer_wrapper:
        """Where the host side is."""
        return self._device_array.host_data()

    @property
    def device_data(self) -> pointer_wrapper:
        """Where the device side is."""
        return self._device_array.device_data()

    @property
    def ptr(self) -> int:
        """The address of the device side."""
        return int(self.device_data)

    @property
    def device(self) -> Ordinal:
        """The device it is on."""
        return self._side().device

    @property
    def last_status(self) -> cudaError_t:
        """The status of the last call that moved data or allocated memory."""
        return self._device_array.last_status()

    def allocate(self) -> cudaError_t:
        """Makes the device side, unless there is one."""
        return self._device_array.allocate()

    def to_host(self) -> cudaError_t:
        """Copies the device side to the host side."""
        return self._device_array.to_host()

    def to_device(self) -> cudaError_t:
        """Copies the host side to the device side."""
        return self._device_array.to_device()

    def set_val(self, index: int, value: Any) -> cudaError_t:
        """Sets one element on the device, by its place in memory."""
        return self._device_array.set_val(index, value)

    def get(self, copy: bool = False) -> np.ndarray[Any, Any]:
        """The values: copied to the host side, which is returned. With `copy`, or where the host side is read-only, a new array.

        Examples
        --------
        >>> import numpy as np
        >>> from parloop.gpu import to_gpu
        >>> a = np.arange(3)
        >>> numpy_again = to_gpu(a).get()
        >>> np.shares_memory(a, numpy_again)
        True
        """
        host = self._device_array._host
        if copy or not host.flags.writeable:
            values = np.empty_like(host)
            side = self._device_array._side
            if side is not None:
                self._device_array._note(attempt(side.read, values)[1])
            return values
        self._device_array.to_host()
        return np.asarray(self._device_array)

    def set(self, values: np.ndarray[Any, Any]) -> cudaError_t:
        """Copies a NumPy array of the same shape and type to the device side; the host side stays."""
        if not isinstance(values, np.ndarray):
            raise TypeError(f"set() takes a NumPy array, not {type(values).__name__}")
        return self._device_array.set(values)

    def copy(self) -> GPUArray:
        """A copy on the device, without gaps in C order."""
        return GPUArray(self, copy=True)

    def __len__(self) -> int:
        return len(self._device_array._host)

    def __getitem__(self, index: Any) -> Any:
        part, status = attempt(lambda: self._side().array()[index])
        self._device_array._note(status)
        if not isinstance(part, _parloop.Array):
            return part
        return GPUArray._of(DeviceArray._on_device(Side.of_array(part, self._side())))

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(value, GPUArray):
            value = value._side().array()
        array = self._side().array()
        self._device_array._note(attempt(array.__setitem__, index, value)[1])

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._side().__array_interface__

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._side().__cuda_array_interface__

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        values: np.ndarray[Any, Any] = self._side().array().__array__(dtype, copy)
        return values

    def __dlpack__(self, **options: Any) -> Any:
        return self._side().array().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self._side().array().__dlpack_device__()
        return device

    def __repr__(self) -> str:
        side = self._device_array._side
        where = "not allocated" if side is None else f"{side.memory.device.name} at {self.ptr:#x}"
        return f"<GPUArray {self.dtype} {self.shape}: {where}>"


def to_gpu(values: Any) -> GPUArray:
    """A NumPy array (or what `numpy.asarray` makes one of) as an array on the device, with its values.

    Examples
    --------
    >>> import numpy as np
    >>> from parloop.gpu import to_gpu
    >>> to_gpu(np.array([1, 2, 3]))[1:].get()
    array([2, 3])
    """
    array = GPUArray(np.asarray(values))
    array.to_device()
    return array
