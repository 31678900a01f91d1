"""Pointers as objects that can be set: each holds a `parloop.Pointer`."""

from __future__ import annotations

import ctypes
import operator
from typing import Any

import numpy as np

from .._pointer import Pointer
from . import _device
from ._dtype import SUPPORTED_DTYPES, Order


class _HostBytes:
    """Host memory at an address, for NumPy; keeps the owner of the memory."""

    def __init__(self, address: int, nbytes: int, owner: Any, readonly: bool = False) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": (nbytes,), "typestr": "|u1", "data": (address, readonly)}


def host_array(address: int, shape: tuple[int, ...], element: Any, order: Order = "C", owner: Any = None) -> np.ndarray[Any, Any]:
    """The elements at an address of the host as a NumPy array."""
    element = np.dtype(element)
    count = int(np.prod(shape, dtype=object)) if shape else 1
    if count == 0:
        return np.empty(shape, element, order)
    raw = np.asarray(_HostBytes(address, count * element.itemsize, owner))
    values: np.ndarray[Any, Any] = np.ndarray(shape, element, buffer=raw, order=order)
    return values


class pointer_wrapper:
    """An address.

    A pointer to host memory that this process controls is safe and can be read with `get()`. Any pointer gives its raw address by
    `int(pointer)`, and can be passed to a function of `ctypes` as it is.

    Parameters
    ----------
    address : int
        Where it points.

    Examples
    --------
    >>> import ctypes
    >>> from parloop.gpu import pointer_wrapper_float64
    >>> pointer = pointer_wrapper_float64()
    >>> pointer
    <pointer_wrapper_float64, is_safe=0, addr=0>
    >>> pointer.create(3)
    >>> pointer.is_safe(), pointer.get(2)
    (True, 0.0)
    >>> ctypes.cast(pointer, ctypes.c_void_p).value == int(pointer)
    True
    """

    _element: np.dtype[Any] | None = None

    _pointer: Pointer
    #: Whether it leads to host memory that this process controls.
    _safe: bool
    #: The number of the device whose memory it is.
    _on: int | None

    def __init__(self, address: int = 0) -> None:
        self._set(address)

    def _set(self, address: int, count: int = 0, owner: Any = None, *, safe: bool = False, device: int | None = None) -> None:
        self._pointer = Pointer(address, self._element, count=count, owner=owner)
        self._safe, self._on = safe, device

    @classmethod
    def _to(cls, address: int, count: int, owner: Any, *, safe: bool = False, device: int | None = None) -> Any:
        """A pointer to `count` elements that live as long as `owner`, on the host or on a device."""
        pointer = cls()
        pointer._set(address, count, owner, safe=safe, device=device)
        return pointer

    @property
    def _address(self) -> int:
        return int(self._pointer)

    @property
    def _count(self) -> int:
        return self._pointer.count or 0

    @property
    def _owner(self) -> Any:
        return self._pointer.owner

    def create(self, count: int) -> None:
        """Points to `count` new elements on the host, all zero."""
        values = np.zeros(operator.index(count), self._type())
        self._set(values.ctypes.data, values.size, values, safe=True)

    def destroy(self) -> None:
        """Lets go of what `create` made; the address is not used any more."""
        self._set(0)

    def is_safe(self) -> bool:
        """Whether it points to host memory that this process controls."""
        return self._safe

    def get(self, index: int = 0) -> Any:
        """The element `index` places on.

        Raises
        ------
        ValueError
            If the pointer is not safe: device memory is copied to the host first.
        IndexError
            If there is no such element.
        """
        if not self._safe or not self._address:
            raise ValueError("only a safe pointer to host memory can be read; copy device memory with to_host() first")
        return self._pointer[index]

    def print_address(self) -> None:
        """Prints the address."""
        print(f"Address of ptr is {self._address:#x}" if self._address else "Address of ptr is (nil)")

    def _type(self) -> np.dtype[Any]:
        if self._element is None:
            raise TypeError("this pointer has no element type; use a pointer_wrapper_<dtype>")
        return self._element

    def __int__(self) -> int:
        return self._address

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self._pointer)

    def _interface(self, on_host: bool, name: str) -> dict[str, Any]:
        known = self._element is not None and self._count > 0
        if not known or on_host != (self._on is None or _device.kind() == "cpu"):
            raise AttributeError(name)
        return {"version": 3, "shape": (self._count,), "typestr": self._type().str, "data": (self._address, False)}

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._interface(True, "__array_interface__")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self._interface(False, "__cuda_array_interface__"), "stream": 1}

    @property
    def device(self) -> Ordinal:
        """The device whose memory it points to."""
        if self._on is None:
            raise AttributeError("device")
        return Ordinal(self._on)

    def __eq__(self, other: object) -> bool:
        return self._pointer == other._pointer if isinstance(other, pointer_wrapper) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._pointer)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, is_safe={int(self._safe)}, addr={self._address}>"


class Ordinal:
    """The number of a device, as other array libraries ask for it: `.id`."""

    def __init__(self, number: int) -> None:
        self.id = number

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return self.id == other.id if isinstance(other, Ordinal) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<Device {self.id}: {_device.devices()[self.id].model}>"


POINTERS: dict[str, type[pointer_wrapper]] = {
    name: type(
        f"pointer_wrapper_{name}",
        (pointer_wrapper,),
        {"_element": np.dtype(name), "__doc__": f"An address of {name} elements; see `pointer_wrapper`.", "__module__": "parloop.gpu"},
    )
    for name in SUPPORTED_DTYPES
}
