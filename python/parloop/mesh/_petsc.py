"""Data and matrices as objects of PETSc's, over the same numbers of the host. Only this file imports petsc4py."""

from __future__ import annotations

import contextlib
import importlib
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._parloop import DataTypeError, DataValueError

#: The PETSc matrix of each of ours, as long as ours lives.
_HANDLES: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def installed() -> bool:
    """Whether petsc4py is installed, and not a stand-in for its types of numbers."""
    try:
        return hasattr(petsc(), "Vec")
    except ImportError:
        return False


def petsc() -> Any:
    """The module `petsc4py.PETSc`."""
    try:
        package = importlib.import_module("petsc4py")
    except ImportError:
        raise ImportError("petsc4py is not installed; install it with `apt-get install python3-petsc4py` or `pip install petsc4py`") from None
    if "petsc4py.PETSc" not in sys.modules and hasattr(package, "init"):
        # Otherwise PETSc would take the arguments of the program for its own.
        package.init([])
    return importlib.import_module("petsc4py.PETSc")


def _check_type(of: Any) -> Any:
    module = petsc()
    if of.dtype != module.ScalarType:
        wanted = np.dtype(module.ScalarType).name
        raise DataTypeError(f"PETSc is built for numbers of type {wanted}, but `{of.name}` has {of.dtype.name}; make data of that type")
    return module


def over(values: Any, bsize: int = 1) -> Any:
    """A vector of PETSc's over a flat array that can be written."""
    module = petsc()
    return module.Vec().createWithArray(values, bsize=bsize, comm=module.COMM_SELF)


@contextlib.contextmanager
def vector(dat: Any, access: str, counts_changes: bool = False) -> Iterator[Any]:
    """The numbers of this process's elements as a vector of PETSc's; `access` is ``"rw"``, ``"ro"`` or ``"wo"``.

    With `counts_changes` the data has changed only where PETSc says that the vector has, and only at the end.
    """
    _check_type(dat)
    values = _writable(dat.data_ro) if access == "ro" or counts_changes else dat.data if access == "rw" else dat.data_wo
    made = over(values.reshape(-1), max(dat.cdim, 1))
    before = made.stateGet()
    try:
        yield made
        is_changed = made.stateGet() != before
        if is_changed and (access == "ro" or counts_changes):
            # What was written is there, and other copies of it are old.
            dat.data  # noqa: B018 - asking for it says so
        if is_changed and access == "ro":
            raise DataValueError(f"a vector of `{dat.name}` that is only read was written; use vec")
    finally:
        made.destroy()


def _writable(values: Any) -> Any:
    """An array over the same numbers that can be written: petsc4py takes no others, also to read."""

    class Interface:
        __array_interface__ = {**values.__array_interface__, "data": (values.__array_interface__["data"][0], False)}
        held = values

    return np.asarray(Interface())


@contextlib.contextmanager
def mixed_vector(mixed: Any, access: str) -> Iterator[Any]:
    """The numbers of all parts, part after part, as a vector of PETSc's. It is a copy, which is put back at the end."""
    for part in mixed:
        _check_type(part)
    parts = mixed.data_ro
    values = np.concatenate([part.reshape(-1) for part in parts])
    made = over(values)
    try:
        yield made
        if access != "ro":
            for part, end in zip(mixed.data, np.cumsum([part.size for part in parts])):
                part[...] = values[end - part.size : end].reshape(part.shape)
    finally:
        made.destroy()


def nest(mat: Any) -> Any:
    """The nest of the matrices of PETSc's of the blocks of a MixedMat."""
    # PETSc looks at the state of each block by itself, so that all are asked for.
    blocks = [[handle(block) for block in row] for row in mat.blocks]
    made = _HANDLES.get(mat)
    if made is None:
        made = _HANDLES[mat] = petsc().Mat().createNest(blocks, comm=petsc().COMM_SELF)
    made.stateIncrease()
    return made


def handle(mat: Any) -> Any:
    """The matrix of PETSc's over the numbers of a Mat."""
    module = _check_type(mat)
    # The numbers may have been changed on a GPU, and may be changed by PETSc.
    values = mat.data
    made = _HANDLES.get(mat)
    if made is None:
        made = _HANDLES[mat] = _single(module, mat, values) if mat.sparsity.block_shape == (1, 1) else _blocked(module, mat)
    made.stateIncrease()
    return made


def _single(module: Any, mat: Any, values: Any) -> Any:
    indices = tuple(np.ascontiguousarray(part, module.IntType) for part in (mat.sparsity.rowptr, mat.sparsity.colidx))
    made = module.Mat().createAIJWithArrays(mat.shape, (*indices, values), comm=module.COMM_SELF)
    made.assemble()
    return made


def _blocked(module: Any, mat: Any) -> Any:
    """PETSc has blocks column by column, so that it cannot have these in place: it is given what they do."""
    made = module.Mat().createPython(mat.shape, Blocks(weakref.ref(mat)), comm=module.COMM_SELF)
    made.setBlockSizes(*mat.sparsity.block_shape)
    made.setUp()
    return made


class Blocks:
    """What a matrix of blocks does with vectors of PETSc's."""

    def __init__(self, mat: Any) -> None:
        self._mat = mat

    def _scipy(self) -> Any:
        return self._mat().to_scipy()

    def mult(self, mat: Any, x: Any, y: Any) -> None:
        """``y = A x``"""
        y.array[:] = self._scipy() @ x.array_r

    def multTranspose(self, mat: Any, x: Any, y: Any) -> None:
        """``y = Aᵀ x``"""
        y.array[:] = self._scipy().T @ x.array_r

    def getDiagonal(self, mat: Any, diagonal: Any) -> None:
        """The numbers on the diagonal."""
        diagonal.array[:] = self._scipy().diagonal()
