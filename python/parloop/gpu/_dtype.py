"""The types of elements, by the names that end the classes' names."""

from __future__ import annotations

import enum
import types
from typing import Any, Literal

import numpy as np


class dtype(enum.IntEnum):
    """The types of elements, each with its number and C's names.

    Examples
    --------
    >>> from parloop.gpu import dtype
    >>> dtype(2).name, dtype.double_alias.name
    ('int64', 'float64')
    """

    int16 = 0
    int32 = 1
    int64 = 2
    uint16 = 3
    uint32 = 4
    uint64 = 5
    float32 = 6
    float64 = 7
    complex64 = 8
    complex128 = 9
    short_alias = 0
    int_alias = 1
    long_alias = 2
    unsigned_short_alias = 3
    unsigned_alias = 4
    unsigned_int_alias = 4
    unsigned_long_alias = 5
    float_alias = 6
    double_alias = 7
    complex64_alias = 8
    complex128_alias = 9


SUPPORTED_DTYPES: tuple[str, ...] = tuple(kind.name for kind in dtype)

# An enumeration has no members with names like this one, but it is asked for as one.
dtype.__size__ = types.SimpleNamespace(name="__size__", value=len(SUPPORTED_DTYPES))  # type: ignore[attr-defined]


def buffer_format(element: np.dtype[Any]) -> str:
    """The format by which the buffer protocol names a type."""
    return np.empty(0, element).data.format


Order = Literal["C", "F"]
