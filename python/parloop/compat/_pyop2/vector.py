"""A vector over the numbers of data, in the place of PETSc's where that is not installed or has other numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...mesh._petsc import installed, petsc

if TYPE_CHECKING:
    # Only checkers of types need it.
    from typing_extensions import Self


def is_for_petsc(dat: Any) -> bool:
    """Whether PETSc is there and has vectors of these numbers."""
    return installed() and bool(dat.dtype == petsc().ScalarType)


class Vec:
    """The numbers of this process's elements as a vector. Changes are made to the data itself."""

    def __init__(self, dat: Any) -> None:
        self._dat = dat

    @property
    def array(self) -> npt.NDArray[Any]:
        """The numbers, which may be changed."""
        flat: npt.NDArray[Any] = self._dat.data.reshape(-1)
        return flat

    @property
    def array_r(self) -> npt.NDArray[Any]:
        """The numbers, to look at."""
        flat: npt.NDArray[Any] = self._dat.data_ro.reshape(-1)
        return flat

    @property
    def local_size(self) -> int:
        """How many numbers this process has."""
        return int(self.array_r.size)

    size = local_size

    def norm(self) -> float:
        """The square root of the sum of squares."""
        return float(np.linalg.norm(self.array_r))

    def set(self, value: Any) -> None:
        """Sets all numbers to one."""
        self.array[:] = value

    def __iadd__(self, other: Any) -> Self:
        self.array[:] += other.array_r if isinstance(other, Vec) else other
        return self

    def __isub__(self, other: Any) -> Self:
        self.array[:] -= other.array_r if isinstance(other, Vec) else other
        return self

    def __imul__(self, other: Any) -> Self:
        self.array[:] *= other.array_r if isinstance(other, Vec) else other
        return self
