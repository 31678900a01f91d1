"""Numbers: the types that structs and arrays are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._parloop import Buffer, _ObjectType


class FieldType:
    """A type that is an object of Python and no class. In the body of a struct it is a field, whose values type checkers know nothing of."""

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any = None) -> Any: ...
        def __set__(self, instance: Any, value: Any) -> None: ...


class Scalar(FieldType):
    """The type of a number. Call it to convert a value; index it to make an array type: `Float64[:]`, `Float64[3, 4]`.

    >>> import parloop.objects as xo
    >>> xo.Float64[3, 4]
    <array Arr3x4Float64>
    >>> xo.Int8(3)
    np.int8(3)
    """

    def __init__(self, dtype: str, c_type: str, is_numpy: bool = False) -> None:
        self._type = _ObjectType.scalar(dtype, is_numpy)
        self._dtype = np.dtype(dtype)
        self._c_type = c_type
        self._size = self._dtype.itemsize
        self.__name__ = self._type.name

    _has_refs = False

    def __call__(self, value: Any = 0) -> Any:
        return self._dtype.type(value)

    def __getitem__(self, shape: Any) -> Any:
        from ._array import array_class

        return array_class(self, shape)

    def _inspect_args(self, value: Any = 0) -> Info:
        return Info(size=self._size)

    def _from_buffer(self, buffer: Buffer, offset: int = 0) -> Any:
        return np.frombuffer(buffer.to_bytearray(offset, self._size), dtype=self._dtype)[0]

    def _to_buffer(self, buffer: Buffer, offset: int, value: Any, info: Any = None) -> None:
        buffer.update_from_buffer(offset, self._dtype.type(value).tobytes())

    def __repr__(self) -> str:
        return self.__name__

    def __reduce__(self) -> str:
        return _PUBLIC[self.__name__]


class Info:
    """What is known of an object before it is made: its size, and more by name."""

    def __init__(self, **known: Any) -> None:
        self.__dict__.update(known)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Info) and self.__dict__ == other.__dict__

    def __repr__(self) -> str:
        return f"Info({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


Float64 = Scalar("float64", "double")
Float32 = Scalar("float32", "float")
Int64 = Scalar("int64", "int64_t")
UInt64 = Scalar("uint64", "uint64_t")
Int32 = Scalar("int32", "int32_t")
UInt32 = Scalar("uint32", "uint32_t")
Int16 = Scalar("int16", "int16_t")
UInt16 = Scalar("uint16", "uint16_t")
Int8 = Scalar("int8", "int8_t")
UInt8 = Scalar("uint8", "uint8_t")
Bool = Scalar("bool", "bool")
Complex64 = Scalar("complex64", "float _Complex")
Complex128 = Scalar("complex128", "double _Complex")

_PUBLIC = {scalar.__name__: name for name, scalar in list(globals().items()) if isinstance(scalar, Scalar)}
