"""Numbers that Python sees as NumPy scalars, and that take whatever NumPy's own types convert."""

from __future__ import annotations

from typing import Any

from parloop.objects._scalar import Scalar


class NumpyScalar(Scalar):
    """The type of a number. Fields and items of this type are NumPy scalars."""

    def __init__(self, dtype: str, c_type: str) -> None:
        super().__init__(dtype, c_type, is_numpy=True)

    def __reduce__(self) -> Any:
        return _by_name, (self.__name__,)


Float64 = NumpyScalar("float64", "double")
Float32 = NumpyScalar("float32", "float")
Int64 = NumpyScalar("int64", "int64_t")
UInt64 = NumpyScalar("uint64", "uint64_t")
Int32 = NumpyScalar("int32", "int32_t")
UInt32 = NumpyScalar("uint32", "uint32_t")
Int16 = NumpyScalar("int16", "int16_t")
UInt16 = NumpyScalar("uint16", "uint16_t")
Int8 = NumpyScalar("int8", "int8_t")
UInt8 = NumpyScalar("uint8", "uint8_t")
Complex64 = NumpyScalar("complex64", "float _Complex")
Complex128 = NumpyScalar("complex128", "double _Complex")

_scalars = {scalar.__name__: scalar for scalar in list(globals().values()) if isinstance(scalar, NumpyScalar)}


def _by_name(name: str) -> NumpyScalar:
    return _scalars[name]


def is_scalar(atype: Any) -> bool:
    return isinstance(atype, Scalar)


class Void:
    """Stands for no value."""

    _c_type = "void"
    _size = None
