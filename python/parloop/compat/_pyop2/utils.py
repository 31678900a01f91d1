"""Small things that programs take from PyOP2."""

from __future__ import annotations

from functools import cached_property as cached_property
from typing import Any

import numpy as np

from .exceptions import DataTypeError, DataValueError

__all__ = ["as_tuple", "cached_property", "verify_reshape"]


def as_tuple(item: Any, type: Any = None, length: int | None = None) -> tuple[Any, ...]:
    """The item as a tuple of `length` items of that type."""
    if item is None:
        items: tuple[Any, ...] = ()
    elif isinstance(item, str) or not hasattr(item, "__iter__"):
        items = (item,) * (length or 1)
    else:
        items = tuple(item)
    if length is not None and len(items) != length:
        raise ValueError(f"{length} items are needed, but {len(items)} were given")
    if type is not None and not all(isinstance(item, type) for item in items):
        raise TypeError(f"items must be of {type}")
    return items


def verify_reshape(data: Any, dtype: Any, shape: tuple[int, ...], allow_none: bool = False) -> np.ndarray[Any, Any]:
    """The data as an array of that type and shape."""
    if data is None:
        if allow_none:
            return np.empty(0, dtype)
        raise DataValueError("data is needed")
    try:
        array = np.asarray(data, dtype)
    except ValueError as error:
        raise DataValueError(str(error)) from None
    except TypeError as error:
        raise DataTypeError(str(error)) from None
    if array.size != np.prod(shape, dtype=int):
        raise DataValueError(f"{np.prod(shape, dtype=int)} numbers are needed, but {array.size} were given")
    return array.reshape(shape)
