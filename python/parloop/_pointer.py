"""Addresses with the type of what is there."""

from __future__ import annotations

import ctypes
import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


class Pointer(int):
    """An address in host memory, such as a function returns, and what is there.

    It is the integer, with the type of what it points at. Elements are read as ctypes reads them: where nothing is known of how many there
    are or whether the memory is still there, a wrong index or a pointer that outlived its memory reads anything or ends the process.

    Parameters
    ----------
    address : int
        Where it points.
    dtype : numpy dtype, optional
        The type of the elements there, if they are scalars.
    class_name : str, optional
        The name of the C type there, if it is another.
    count : int, optional
        How many elements there are, if that is known: indices are then checked.
    owner : object, optional
        What the memory belongs to. It lives as long as the pointer.

    Examples
    --------
    >>> import numpy as np, parloop as pl
    >>> prog = pl.Context("cpu:1").compile("double *at(double *x, int64_t i) { return x + i; }")
    >>> x = np.arange(4.0)
    >>> p = prog.at(x, 1)
    >>> p == x.ctypes.data + 8, p.dtype, p[0], p[2]
    (True, dtype('float64'), 1.0, 3.0)
    """

    dtype: np.dtype[Any] | None
    class_name: str | None
    count: int | None
    owner: object

    def __new__(
        cls,
        address: SupportsIndex,
        dtype: npt.DTypeLike | None = None,
        class_name: str | None = None,
        *,
        count: int | None = None,
        owner: object = None,
    ) -> Pointer:
        pointer = super().__new__(cls, operator.index(address))
        pointer.dtype = None if dtype is None else np.dtype(dtype)
        pointer.class_name = class_name
        pointer.count, pointer.owner = count, owner
        return pointer

    def __getitem__(self, index: SupportsIndex) -> Any:
        """The element `index` places on, which is checked where the number of elements is known."""
        if self.dtype is None:
            raise TypeError(f"a pointer to {self.class_name or 'void'} has no elements to read")
        if not self:
            raise ValueError("the pointer is null")
        which = operator.index(index)
        if self.count is not None and not 0 <= which < self.count:
            raise IndexError(f"the pointer refers to {self.count} elements; element {which} does not exist")
        place = int(self) + which * self.dtype.itemsize
        element = (ctypes.c_char * self.dtype.itemsize).from_address(place)
        return np.frombuffer(memoryview(element), self.dtype)[0].item()

    #: There is no last element.
    __iter__ = None

    def __repr__(self) -> str:
        what = self.class_name or (self.dtype.name if self.dtype is not None else "void")
        return f"<Pointer to {what} at {int(self):#x}>" if self else f"<null Pointer to {what}>"
