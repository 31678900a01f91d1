"""The numbers and compressed rows of PETSc matrices, in place. Only this file calls PETSc's C functions."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from ..mesh._petsc import petsc
from ._left import OutOfPlace

#: For each type of matrix the functions that hand out its numbers, and take them back.
_ARRAYS = {
    "seqaij": ("MatSeqAIJGetArray", "MatSeqAIJRestoreArray"),
    "seqbaij": ("MatSeqBAIJGetArray", "MatSeqBAIJRestoreArray"),
}


@functools.cache
def _library() -> Any:
    # The module is linked with PETSc's library, so that names are found there too.
    return ctypes.CDLL(petsc().__file__)


def _call(name: str, mat: Any, *args: Any) -> None:
    if error := getattr(_library(), name)(ctypes.c_void_p(mat.handle), *args):
        raise RuntimeError(f"PETSc's {name} failed with error {error}")


def check_type(mat: Any) -> str:
    """The type of a matrix, if its numbers can be used in place."""
    kind = str(mat.getType())
    if kind not in _ARRAYS:
        raise OutOfPlace(f"a matrix of PETSc's type {kind}")
    return kind


def address(mat: Any) -> int:
    """Where the numbers of a matrix are."""
    where = ctypes.c_void_p()
    _call(_ARRAYS[mat.getType()][0], mat, ctypes.byref(where))
    return where.value or 0


def changed(mat: Any, where: int) -> None:
    """Tells PETSc that the numbers of a matrix were changed in place."""
    _call(_ARRAYS[mat.getType()][1], mat, ctypes.byref(ctypes.c_void_p(where)))


def structure_state(mat: Any) -> int:
    """A number that changes when other entries are stored."""
    state = ctypes.c_int64()
    _call("MatGetNonzeroState", mat, ctypes.byref(state))
    return state.value


class _Numbers:
    """Tells NumPy where the numbers of a matrix are, and keeps the matrix."""

    def __init__(self, mat: Any, where: int, count: int) -> None:
        self.mat = mat
        self.__array_interface__ = {"version": 3, "shape": (count,), "typestr": np.dtype(petsc().ScalarType).str, "data": (where, False)}


def numbers(mat: Any, where: int, count: int) -> Any:
    """The numbers of a matrix as an array over the same memory, which keeps the matrix."""
    return np.asarray(_Numbers(mat, where, count))


def compressed_rows(mat: Any, blocks: bool = False) -> tuple[Any, Any]:
    """Where rows start, and the columns of what they store; of blocks, if requested."""
    starts, columns = mat.getRowIJ(compressed=blocks)
    if starts is None or columns is None:
        raise OutOfPlace("a PETSc matrix whose rows are unknown")
    return np.array(starts), np.array(columns)
