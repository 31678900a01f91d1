"""Types of elements, what they can hold, and what the namespace says of itself."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._indexing import astype as _astype
from .._parloop import Array, Device, devices
from ._device import DeviceLike, Operand, as_array, context_of, default_device, supported

DType: TypeAlias = "np.dtype[Any]"
_bool: TypeAlias = builtins.bool

bool = np.dtype(np.bool_)
int8 = np.dtype(np.int8)
int16 = np.dtype(np.int16)
int32 = np.dtype(np.int32)
int64 = np.dtype(np.int64)
uint8 = np.dtype(np.uint8)
uint16 = np.dtype(np.uint16)
uint32 = np.dtype(np.uint32)
uint64 = np.dtype(np.uint64)
float32 = np.dtype(np.float32)
float64 = np.dtype(np.float64)
complex64 = np.dtype(np.complex64)
complex128 = np.dtype(np.complex128)

_ALL = (bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, complex64, complex128)
_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


class FloatInfo(NamedTuple):
    """What `finfo` returns."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class IntegerInfo(NamedTuple):
    """What `iinfo` returns."""

    bits: int
    max: int
    min: int
    dtype: DType


def _type_of(given: Any) -> DType:
    return given.dtype if isinstance(given, (Array, np.ndarray, np.generic)) else np.dtype(given)


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a type of floating-point numbers."""
    found = np.finfo(_type_of(type))
    numbers = (float(found.eps), float(found.max), float(found.min), float(found.tiny))
    return FloatInfo(found.bits, *numbers, np.dtype(found.dtype))


def iinfo(type: Any, /) -> IntegerInfo:
    """The limits of a type of integers."""
    dtype = _type_of(type)
    found = np.iinfo(dtype)
    return IntegerInfo(found.bits, int(found.max), int(found.min), dtype)


def isdtype(dtype: Any, kind: Any) -> _bool:
    """Whether a type is of a kind, such as "integral", or one of several kinds or types."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, own) for own in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"unknown kind of types {kind!r}; use one of {', '.join(map(repr, _KINDS))}, or a type")
        return np.dtype(dtype).kind in _KINDS[kind]
    return _bool(np.dtype(dtype) == np.dtype(kind))


def can_cast(from_: Any, to: Any, /) -> _bool:
    """Whether every value of a type, or of an array's, is kept in another one."""
    return np.can_cast(_type_of(from_), np.dtype(to))


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The type of the result of an operation with these arrays, types and numbers."""
    if not arrays_and_dtypes:
        raise ValueError("result_type takes at least one array or type")
    given = [own if type(own) in (_bool, int, float, complex) else _type_of(own) for own in arrays_and_dtypes]
    # A number gets the kind that it has beside arrays of any length.
    known = [np.empty(0, own) if isinstance(own, np.dtype) else own for own in given]
    return np.result_type(*known)


def astype(x: Operand, dtype: Any, /, *, copy: _bool = True, device: DeviceLike = None) -> Array:
    """The elements as another type: a copy, or with `copy=False` the array itself where it has that type."""
    array = as_array(x)
    if device is not None:
        array = array.to(context_of(device))
    target = supported(dtype)
    return array if not copy and array.dtype == target else _astype(array, target)


class Info:
    """What the namespace says of itself."""

    def capabilities(self) -> dict[str, Any]:
        """What is there that the standard leaves open."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self) -> Device:
        """The device of arrays that are made without `device=`."""
        return default_device()

    def devices(self) -> list[Device]:
        """The devices that arrays can be on."""
        own = default_device()
        return [own, *(device for device in devices() if device != own)]

    def default_dtypes(self, *, device: DeviceLike = None) -> dict[str, DType]:
        """The types of elements that are made without `dtype=`."""
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: DeviceLike = None, kind: Any = None) -> dict[str, DType]:
        """The types of elements, or those of a kind."""
        return {dtype.name: dtype for dtype in _ALL if kind is None or isdtype(dtype, kind)}


def __array_namespace_info__() -> Info:
    """What the namespace says of itself."""
    return Info()
