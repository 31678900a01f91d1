"""Data and matrices as objects of PETSc's, over the same numbers of the host. Only this file imports petsc4py."""

from __future__ import annotations

import atexit
import contextlib
import copy
import functools
import gc
import importlib
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._parloop import DataTypeError, DataValueError, _Dat
from ._processes import check_whole

#: What there is of PETSc's for each of our matrices, as long as ours lives.
_HANDLES: weakref.WeakKeyDictionary[Any, _Handle] = weakref.WeakKeyDictionary()


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
        raise DataTypeError(f"PETSc is built for numbers of type {wanted}, but `{of.name}` has type {of.dtype.name}; use data of that type")
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
    check_whole(dat.dataset.set, "a vector of PETSc's")
    values = _writable(dat.data_ro) if access == "ro" or counts_changes else dat.data if access == "rw" else dat.data_wo
    made = over(values.reshape(-1), max(dat.cdim, 1))
    before = made.stateGet()
    known = values.tobytes() if access == "ro" else None
    try:
        yield made
    finally:
        # PETSc counts an access to `array` as a write.
        is_changed = _is_changed(made, before) and (known is None or values.tobytes() != known)
        if (is_changed or not made) and (access == "ro" or counts_changes):
            # What was written is there, also where the block raises, and other copies of it are old.
            dat.data  # noqa: B018 - asking for it says so
        made.destroy()
    if is_changed and access == "ro":
        raise _written(f"`{dat.name}`")


def _is_changed(made: Any, before: int) -> bool:
    # One that was destroyed does not say.
    return bool(made) and made.stateGet() != before


def _written(names: str) -> DataValueError:
    return DataValueError(f"a read-only vector of {names} was written to; use vec to write")


def _writable(values: Any, is_held: bool = True) -> Any:
    """An array over the same numbers that can be written: petsc4py takes no others, also to read. Without `is_held` others keep the numbers."""

    class Interface:
        __array_interface__ = {**values.__array_interface__, "data": (values.__array_interface__["data"][0], False)}
        held = values if is_held else None

    return np.asarray(Interface())


@contextlib.contextmanager
def mixed_vector(mixed: Any, access: str) -> Iterator[Any]:
    """The numbers of all parts, part after part, as a vector of PETSc's. It is a copy, which is put back at the end."""
    for part in mixed:
        _check_type(part)
        if isinstance(part, _Dat):
            check_whole(part.dataset.set, "a vector of PETSc's")
    parts = mixed.data_ro
    values = np.concatenate([part.reshape(-1) for part in parts])
    made = over(values)
    before = made.stateGet()
    try:
        yield made
        is_changed = access == "ro" and _is_changed(made, before) and values.tobytes() != b"".join(part.tobytes() for part in parts)
        if access != "ro":
            for part, end in zip(mixed.data, np.cumsum([part.size for part in parts])):
                part[...] = values[end - part.size : end].reshape(part.shape)
    finally:
        made.destroy()
    if is_changed and access == "ro":
        raise _written(", ".join(f"`{part.name}`" for part in mixed))


class _Handle:
    """A PETSc matrix for a Parloop matrix.

    PETSc's has the memory of ours, and ours has no place for PETSc's, so that neither can simply own the other: both would live for ever. This lives
    as long as our matrix, and keeps that alive while anybody else, in Python or in PETSc, has PETSc's.
    """

    def __init__(self, made: Any) -> None:
        self.made = made
        #: What tells whether PETSc's matrix is still as it was made.
        self.parts: Any = None
        #: Our matrix, while the PETSc matrix may be in use.
        self.held: Any = None
        self._given: Any = lambda: None

    def __del__(self) -> None:
        # Otherwise petsc4py 3.18 keeps it until it is told to clean up.
        self.made.destroy()

    def give(self, mat: Any) -> Any:
        """PETSc's matrix for others, the same object as long as they have it and did not destroy it."""
        self.made.stateIncrease()
        given = self._given()
        if not given:
            # Another object for the same matrix, which PETSc counts: that says whether anybody has it.
            given = copy.copy(self.made)
            self._given = weakref.ref(given)
        # Only now, as collecting garbage lets go of what nobody has.
        self.held = mat
        return given

    def is_used(self) -> bool:
        """Whether anybody else has PETSc's matrix."""
        return bool(self.made.getRefCount() > 1)


def _sweep() -> None:
    """Releases Parloop matrices whose handles are no longer referenced."""
    for kept in list(_HANDLES.values()):
        if not kept.is_used():
            kept.held = None


def _collected(phase: str, info: dict[str, int]) -> None:
    if phase == "start" and info["generation"] == 2:
        _sweep()


def _let_go() -> None:
    """PETSc's matrices that call Python must not go when Python is nearly gone: this crashes."""
    if _collected in gc.callbacks:
        gc.callbacks.remove(_collected)
    # Nests come after their blocks.
    for kept in reversed(list(_HANDLES.values())):
        if kept.is_used():
            # Others may let go of it later than that, so that it stays.
            kept.made.incRef()
        kept.made.destroy()
    _HANDLES.clear()


@functools.cache
def _begin() -> None:
    """Called with petsc4py imported, so that what is registered here runs before what it registered."""
    atexit.register(_let_go)
    gc.callbacks.append(_collected)


def _forget(mat: Any, name: str, found: str) -> DataValueError:
    """The error for a PETSc matrix that no longer matches ours; the next request creates another one."""
    # It may still have some of the memory.
    _HANDLES.pop(mat).made.setAttr("parloop", mat)
    return DataValueError(
        f"the handle of {name} was requested, but {found}, as `axpy` with another structure and `transpose` and `convert` in place do: later "
        f"changes by PETSc are not in {name}; use `axpy` with structure=SAME_NONZERO_PATTERN, pass a separate matrix for the result of `transpose` and "
        f"`convert`, and request the handle again to get the values of {name}"
    )


def nest(mat: Any) -> Any:
    """The nest of the matrices of PETSc's of the blocks of a MixedMat."""
    # PETSc checks the state of each block separately, so all are queried.
    blocks: list[list[Any]] = []
    wrong: list[DataValueError] = []
    for row in mat.blocks:
        blocks.append([])
        for block in row:
            try:
                blocks[-1].append(handle(block))
            except DataValueError as error:
                wrong.append(error)
    if wrong:
        # One error for all of them: what changes a nest changes many blocks.
        _HANDLES.pop(mat, None)
        raise wrong[0]
    addresses = [[block.handle for block in row] for row in blocks]
    kept = _HANDLES.get(mat)
    if kept is not None and _addresses(kept.made) != kept.parts:
        raise _forget(mat, f"`{mat.name}`", "PETSc changed the blocks or the type of its nest")
    if kept is None or kept.parts != addresses:
        kept = _HANDLES[mat] = _Handle(petsc().Mat().createNest(blocks, comm=petsc().COMM_SELF))
        kept.parts = addresses
    return kept.give(None)


def _addresses(made: Any) -> Any:
    if made.getType() != "nest":
        return None
    rows, columns = made.getNestSize()
    return [[made.getNestSubMatrix(row, column).handle for column in range(columns)] for row in range(rows)]


def handle(mat: Any) -> Any:
    """The matrix of PETSc's over the numbers of a Mat."""
    module = _check_type(mat)
    check_whole(mat.sparsity.dsets[0].set, "a matrix of PETSc's")
    _begin()
    _sweep()
    # The numbers may have been changed on a GPU, and may be changed by PETSc.
    values, is_single = mat.data, mat.sparsity.block_shape == (1, 1)
    kept = _HANDLES.get(mat)
    if kept is None:
        kept = _HANDLES[mat] = _Handle(_single(module, mat, values) if is_single else _blocked(module, mat))
    elif not (_is_over(kept.made, mat.sparsity, values) if is_single else kept.made.getType() == "python"):
        raise _forget(mat, f"`{mat.name}`", "PETSc changed the memory or the sparsity of its matrix")
    return kept.give(mat)


def _is_over(made: Any, sparsity: Any, values: Any) -> bool:
    """Whether a matrix of PETSc's has these numbers in its memory, and as many: a number that is changed there is changed in PETSc's."""
    if not made.isAssembled():
        made.assemble()
    if made.getType() != "seqaij" or made.getInfo()["nz_used"] != values.size:
        return False
    if not values.size:
        return True
    row, column, before = int(np.searchsorted(sparsity.rowptr, 0, "right")) - 1, int(sparsity.colidx[0]), values[:1].copy()
    try:
        for number in (1.0, 2.0):
            values[0] = number
            if made.getValue(row, column) != number:
                return False
    finally:
        values[:1] = before
    return True


def _single(module: Any, mat: Any, values: Any) -> Any:
    indices = tuple(np.ascontiguousarray(part, module.IntType) for part in (mat.sparsity.rowptr, mat.sparsity.colidx))
    # PETSc's matrix would keep the array, and that would keep ours.
    made = module.Mat().createAIJWithArrays(mat.shape, (*indices, _writable(values, is_held=False)), comm=module.COMM_SELF)
    made.assemble()
    # Otherwise PETSc moves numbers in our memory, such as when it sets rows to zero.
    made.setOption(module.Mat.Option.KEEP_NONZERO_PATTERN, True)
    made.setOption(module.Mat.Option.NEW_NONZERO_LOCATION_ERR, True)
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
