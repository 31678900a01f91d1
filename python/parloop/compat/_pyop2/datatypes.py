"""PyOP2's types of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["IntType", "RealType", "ScalarType", "as_cstr", "dtype_limits"]

IntType = np.dtype(np.int32)
RealType = np.dtype(np.float64)
ScalarType = np.dtype(np.float64)

_C_NAMES = {
    "bool": "unsigned char", "int": "int", "int8": "char", "int16": "short", "int32": "int", "int64": "long long", "uint8": "unsigned char",
    "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long", "float32": "float", "float64": "double",
    "complex128": "double complex",
}  # fmt: skip


def as_cstr(dtype: Any) -> str:
    """The name of a type in C."""
    return _C_NAMES[np.dtype(dtype).name]


def dtype_limits(dtype: Any) -> tuple[Any, Any]:
    """The least and the largest number of a type."""
    kind = np.dtype(dtype).kind
    if kind not in "iuf":
        raise ValueError(f"{dtype} has no limits")
    info: Any = np.finfo(dtype) if kind == "f" else np.iinfo(dtype)
    return info.min, info.max
