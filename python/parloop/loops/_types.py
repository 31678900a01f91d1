"""Types of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["NumpyType", "to_type"]


class NumpyType:
    """A `numpy.dtype`, as functions written in Python are given it.

    >>> import numpy as np, parloop.loops as lp
    >>> lp.NumpyType(np.float32).numpy_dtype
    dtype('float32')
    """

    def __init__(self, dtype: Any, target: Any = None) -> None:
        self.dtype: np.dtype[Any] = np.dtype(getattr(dtype, "numpy_dtype", dtype))

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype itself."""
        return self.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    def is_integral(self) -> bool:
        """Whether it is an integer."""
        return self.dtype.kind in "iu"

    def is_complex(self) -> bool:
        """Whether it is a complex number."""
        return self.dtype.kind == "c"

    def involves_complex(self) -> bool:
        """Whether it is a complex number."""
        return self.dtype.kind == "c"

    def with_target(self, target: Any) -> NumpyType:
        """The same: a type is the same on all targets."""
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumpyType) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"np:{self.dtype!r}"


def to_type(dtype: Any, allow_auto: bool = False, allow_none: bool = False, **unused: Any) -> Any:
    """A `NumpyType` of anything that names a dtype."""
    from ._data import auto

    if dtype is None or dtype is auto or isinstance(dtype, NumpyType):
        return dtype
    if getattr(dtype, "dtype", None) is not None and not isinstance(dtype, (np.dtype, type)):
        dtype = dtype.dtype
    return NumpyType(dtype)
