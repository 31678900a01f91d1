"""Matrices whose numbers PETSc keeps in a way of its own: on several processes, of other types, with rows left out.

A loop adds into a matrix of ours that has the entries which its elements touch, rows of other processes among them. After it, PETSc gets them
row by row through its own function, which knows local-to-global maps, dropped rows, and which process owns what.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .. import mesh
from ..mesh._described import Loop, MatArg, Source
from ..mesh._petsc import petsc
from ._left import LeftToPyOP2
from ._weak import ByIdentity


@dataclasses.dataclass(frozen=True)
class Over:
    """The elements whose entries are collected."""

    #: As a set of ours, and the region of an extruded one.
    set: Any
    region: str
    #: PyOP2's map to the rows: what is known about them lives as long as it does.
    row_map: Any


@dataclasses.dataclass(frozen=True)
class _TouchedEntries:
    """The entries that the elements touch, as compressed rows of single numbers."""

    sparsity: Any
    #: By the numbers of these it is known, so that it keeps them.
    known_by: tuple[Any, ...]
    starts: Any
    columns: Any
    #: The rows that have any.
    rows: Any
    #: Where the numbers are among ours.
    index: Any


_known: ByIdentity[dict[Any, _TouchedEntries]] = ByIdentity()


@dataclasses.dataclass
class Collected:
    """A Parloop matrix whose numbers are given to PETSc after each loop."""

    mat: Any
    handle: Any
    access: str
    touched: _TouchedEntries

    def is_there(self) -> bool:
        """Whether PETSc still has the matrix."""
        return bool(self.handle.handle)

    def fetch(self) -> None:
        """Before a loop: nothing was added yet."""
        self.mat.zero()

    def store(self) -> None:
        """After a loop: PETSc gets the numbers."""
        touched, mode = self.touched, petsc().InsertMode
        values = self.mat.data_ro.reshape(-1)[touched.index]
        addv = mode.ADD_VALUES if self.access == "INC" else mode.INSERT_VALUES
        self.handle.setValuesLocalIJV(touched.starts, touched.columns, values, addv, touched.rows)

    def dropped(self) -> tuple[Any, Any]:
        """For each row and each column a number that is not negative: PETSc drops what it is not to get."""
        return _every(self.mat)


def collect(mat: Any, access: str, over: Over, maps: tuple[Any, Any], dims: tuple[int, int]) -> Collected:
    """A matrix of ours for what a loop does to one of PyOP2's through these maps of ours."""
    scalar = np.dtype(petsc().ScalarType)
    if scalar.kind != "f":
        raise LeftToPyOP2(f"a matrix of {scalar}")
    known, key = _known.setdefault(over.row_map, dict), (id(maps[0]), id(maps[1]), id(over.set), over.region, dims)
    if (touched := known.get(key)) is None:
        known[key] = touched = _touched(over, maps, dims, scalar)
    return Collected(mesh.Mat(touched.sparsity, scalar, name="collected"), mat.handle, access, touched)


def _touched(over: Over, maps: tuple[Any, Any], dims: tuple[int, int], scalar: Any) -> _TouchedEntries:
    dsets = tuple(map_.toset**dim for map_, dim in zip(maps, dims, strict=True))
    region = getattr(mesh, over.region)
    sparsity = mesh.Sparsity(dsets, (*maps, (region,)) if over.region != "ALL" else maps)
    if sparsity.nz == 0:
        raise LeftToPyOP2("a matrix without entries")
    # A diagonal is stored too, and a subset is not all of its set: what is touched shows when everything that is touched is set to one.
    mat = mesh.Mat(sparsity, scalar)
    mat.zero()
    sides = 2 if over.region == "ON_INTERIOR_FACETS" else 1
    count = sides * sides * maps[0].arity * maps[1].arity * dims[0] * dims[1]
    code = f"void touch(double *entries) {{ for (int i = 0; i < {count}; i++) entries[i] = 1; }}"
    Loop(Source(code, "touch"), over.set, (MatArg(mat, "WRITE", maps, _every(mat)),), over.region).made(None)()
    blocks = np.flatnonzero(mat.data_ro.reshape(-1, dims[0] * dims[1])[:, 0])
    rowptr, colidx = np.asarray(sparsity.rowptr), np.asarray(sparsity.colidx)
    return _as_single_numbers(sparsity, (*maps, over.set), blocks, (np.searchsorted(rowptr, blocks, "right") - 1, colidx[blocks]), dims)


def _every(mat: Any) -> tuple[Any, Any]:
    """The numbers of all rows and of all columns."""
    rows, columns = mat.shape
    return np.arange(rows, dtype=np.int32), np.arange(columns, dtype=np.int32)


def _as_single_numbers(sparsity: Any, known_by: tuple[Any, ...], blocks: Any, places: tuple[Any, Any], dims: tuple[int, int]) -> _TouchedEntries:
    """Rows of single numbers of the blocks that were touched, which are at these rows and columns of blocks, in order of rows."""
    (height, width), (row, column) = dims, places
    number = petsc().IntType
    rows, per_row = np.unique(row, return_counts=True)
    first = np.concatenate([[0], np.cumsum(per_row)])
    # For each row of blocks its rows one after another, and in each of them all of its blocks.
    of_row = np.repeat(np.arange(rows.size), per_row)
    place = np.arange(blocks.size) - first[of_row]
    down, across = np.arange(height)[:, None], np.arange(width)
    at = (first[of_row] * height * width + place * width)[:, None, None] + down * (per_row[of_row] * width)[:, None, None] + across
    index = np.empty(blocks.size * height * width, np.int64)
    index[at] = (blocks * height * width)[:, None, None] + down * width + across
    columns = np.empty(index.size, number)
    columns[at] = np.broadcast_to((column * width)[:, None, None] + across, at.shape)
    starts = np.concatenate([[0], np.cumsum(np.repeat(per_row * width, height))]).astype(number)
    single_rows = (rows[:, None] * height + np.arange(height)).reshape(-1).astype(number)
    return _TouchedEntries(sparsity, known_by, starts, columns, single_rows, index)
