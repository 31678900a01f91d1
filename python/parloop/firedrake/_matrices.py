"""Matrices of PyOP2 as ours: data on the stored blocks of PETSc's matrix.

The numbers of a matrix with one row for each element are used where PETSc has them. Blocks lie otherwise in PETSc's memory than in ours, so that
they are fetched before a loop and stored after it, by an index that is made once.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .. import mesh
from . import _petsc
from ._adopt import target_set
from ._left import OutOfPlace
from ._weak import ByIdentity


@dataclasses.dataclass(frozen=True)
class Rows:
    """The blocks that PETSc stores for one matrix, or for one block of a mixed one, and where their numbers are."""

    #: Where rows of blocks start, and their columns.
    starts: Any
    columns: Any
    #: For each number, block by block and each row by row, its place in PETSc's array; None where the order is the same.
    index: Any
    #: The row and the column of PETSc's matrix where it begins.
    begin: tuple[int, int]


@dataclasses.dataclass
class _Structure:
    """A sparsity of ours with what it was made of; matrices of one sparsity of PyOP2's share it, and with it the positions of their elements."""

    rows: Rows
    sparsity: Any


@dataclasses.dataclass
class Adopted:
    """A Parloop matrix over the values of a PETSc matrix."""

    mat: Any
    handle: Any
    kind: str
    address: int
    state: int
    values: Any
    rows: Rows

    def is_there(self) -> bool:
        """Whether PETSc still has the same entries at the same place."""
        if not self.handle.handle or self.handle.getType() != self.kind or _petsc.structure_state(self.handle) != self.state:
            return False
        return _petsc.address(self.handle) == self.address

    def fetch(self) -> None:
        """Before a loop: the numbers that PETSc has."""
        if self.rows.index is not None:
            own = self.mat.data
            own.reshape(-1)[...] = self.values[self.rows.index]

    def store(self) -> None:
        """After a loop: PETSc gets the numbers."""
        if self.rows.index is not None:
            self.values[self.rows.index] = self.mat.data_ro.reshape(-1)
        _petsc.changed(self.handle, self.address)

    def dropped(self, lgmaps: Any) -> list[Any]:
        """For each row and each column of the matrix a number, negative where the matrix gets nothing."""
        both = zip(lgmaps, self.mat.shape, self.rows.begin, strict=True)
        return [_local(_numbers_of(lgmap, size), begin) for lgmap, size, begin in both]


def _numbers_of(lgmap: Any, size: int) -> Any:
    """A PETSc number for each row."""
    if not lgmap.handle:
        # PETSc's matrices that were transposed or converted in place have none, and take numbers as they are.
        return np.arange(size, dtype=np.int32)
    numbers = np.asarray(lgmap.indices)
    if numbers.size == size:
        return numbers
    # The map of a block of a mixed matrix has a number for each row where others have one for each block, and PETSc looks rows up there.
    numbers = np.asarray(lgmap.block_indices)
    if numbers.size == size:
        return numbers
    raise OutOfPlace("a local-to-global map whose size differs from the matrix")


def _local(numbers: Any, begin: int) -> Any:
    """Numbers of PETSc's rows, as those of the matrix of ours, which must be the same but for what is dropped."""
    own = np.arange(numbers.size, dtype=np.int32)
    dropped = numbers < 0
    if not (dropped | (numbers - begin == own)).all():
        raise OutOfPlace("a local-to-global map that is not the identity")
    own[dropped] = -1
    return own


_adopted: ByIdentity[Adopted] = ByIdentity()
_structures: ByIdentity[_Structure] = ByIdentity()


def adopt(mat: Any) -> Adopted:
    """A matrix of PyOP2's, or a block of a mixed one."""
    known = _adopted.get(mat)
    return known if known is not None and known.is_there() else _adopted.set(mat, _made(mat))


def _made(mat: Any) -> Adopted:
    if mat.comm.size > 1:
        raise OutOfPlace("a matrix on several processes")
    is_block = type(mat).__name__ == "MatBlock"
    handle = mat._parent.handle if is_block else mat.handle
    kind = _petsc.check_type(handle)
    dims = mat.dims[0][0]
    sets = tuple(data.set for data in mat.sparsity.dsets)
    # Where rows are left out of the matrix (constrained ones), they are behind all others.
    counts = tuple(int(of.total_size) for of in sets)
    if is_block:
        rows = _of_block(handle, mat, dims, counts)
    elif kind == "seqbaij":
        rows = _of_blocks(handle, dims, counts)
    elif dims == (1, 1):
        starts, columns = _petsc.compressed_rows(handle)
        rows = Rows(_padded(starts, counts[0]), columns, None, (0, 0))
    else:
        rows = _grouped(_petsc.compressed_rows(handle), dims, counts, (0, 0))
    structure = _structure(mat.sparsity, rows, sets, dims)
    where, state = _petsc.address(handle), _petsc.structure_state(handle)
    stored = int(handle.getInfo()["nz_used"])
    values = _petsc.numbers(handle, where, stored)
    own = values if rows.index is None else np.zeros(rows.columns.size * dims[0] * dims[1], values.dtype)
    if own.size == 0:
        raise OutOfPlace("a matrix without entries")
    return Adopted(mesh.Mat(structure.sparsity, name=mat.name if not is_block else "block", data=own), handle, kind, where, state, values, structure.rows)


def _structure(of: Any, rows: Rows, sets: tuple[Any, ...], dims: tuple[int, int]) -> _Structure:
    known = _structures.get(of)
    if known is not None and np.array_equal(known.rows.starts, rows.starts) and np.array_equal(known.rows.columns, rows.columns):
        same = known.rows.index is rows.index or (
            known.rows.index is not None and rows.index is not None and np.array_equal(known.rows.index, rows.index)
        )
        if same and known.rows.begin == rows.begin:
            return known
    dsets = tuple(target_set(on) ** dim for on, dim in zip(sets, dims, strict=True))
    return _structures.set(of, _Structure(rows, mesh.Sparsity.from_rows(dsets, rows.starts, rows.columns)))


def _padded(starts: Any, count: int) -> Any:
    """Where rows start; rows behind those of PETSc's matrix are empty."""
    if starts.size > count + 1:
        raise OutOfPlace("a matrix with more rows than elements")
    return np.concatenate([starts, np.full(count + 1 - starts.size, starts[-1], starts.dtype)])


def _of_blocks(handle: Any, dims: tuple[int, int], counts: tuple[int, ...]) -> Rows:
    """Of a matrix of blocks, each of which PETSc has column by column."""
    height, width = dims
    if handle.getBlockSize() != height or height != width:
        raise OutOfPlace("a matrix whose block size differs from the data")
    starts, columns = _petsc.compressed_rows(handle, blocks=True)
    inside = np.arange(height * width).reshape(width, height).T.reshape(-1)
    index = (np.arange(columns.size)[:, None] * (height * width) + inside).reshape(-1)
    return Rows(_padded(starts, counts[0]), columns, index, (0, 0))


def _of_block(handle: Any, mat: Any, dims: tuple[int, int], counts: tuple[int, ...]) -> Rows:
    """Of one block of a mixed matrix, whose rows have those of other blocks beside it."""
    if handle.getType() != "seqaij":
        raise OutOfPlace(f"a block of a matrix of PETSc's type {handle.getType()}")
    ranges = []
    for lgmap, count, dim in zip(mat.local_to_global_maps, counts, dims, strict=True):
        numbers = _numbers_of(lgmap, count * dim)
        # Rows that are left out of the matrix have negative ones.
        numbers = numbers[numbers >= 0]
        begin = int(numbers[0]) if numbers.size else 0
        if not np.array_equal(numbers, np.arange(begin, begin + numbers.size)):
            raise OutOfPlace("a block of a mixed matrix whose rows do not follow one another")
        ranges.append((begin, numbers.size))
    rows, columns = ranges
    return _grouped(_petsc.compressed_rows(handle), dims, counts, (rows[0], columns[0]), (rows[1], columns[1]))


def _grouped(
    scalar: tuple[Any, Any], dims: tuple[int, int], counts: tuple[int, ...], begin: tuple[int, int], size: tuple[int, int] | None = None
) -> Rows:
    """The blocks of rows that PETSc stores one by one: `dims` rows and columns make a block."""
    starts, columns = scalar
    (height, width), (first, left) = dims, begin
    count = starts.size - 1 if size is None else size[0]
    starts = starts[first : first + count + 1].astype(np.int64)
    if count % height:
        raise OutOfPlace("a matrix whose rows are not whole blocks")
    entries = np.arange(starts[0], starts[-1])
    mine = columns[starts[0] : starts[-1]].astype(np.int64) - left
    row = np.repeat(np.arange(count), np.diff(starts))
    if size is not None:
        inside = (mine >= 0) & (mine < size[1])
        entries, mine, row = entries[inside], mine[inside], row[inside]
    # Number [block row][row in the block][block][column in the block], as PETSc has them, and all rows of a block row alike.
    in_row = np.bincount(row, minlength=count).reshape(-1, height)
    if (in_row != in_row[:, :1]).any() or (in_row % width).any():
        raise OutOfPlace("a matrix that stores parts of blocks")
    per_row = in_row[:, 0] // width
    block_starts = np.concatenate([[0], np.cumsum(per_row)])
    block_row = np.repeat(np.arange(count // height), per_row)
    place = np.arange(block_starts[-1]) - block_starts[block_row]
    number = block_starts[block_row] * height * width
    down = np.arange(height)[:, None] * (per_row[block_row] * width)[:, None, None]
    order = number[:, None, None] + down + (place * width)[:, None, None] + np.arange(width)
    found = mine[order]
    block_columns = found[:, 0, 0] // width
    if not np.array_equal(found, np.broadcast_to((block_columns * width)[:, None, None] + np.arange(width), found.shape)):
        raise OutOfPlace("a matrix that stores parts of blocks")
    return Rows(_padded(block_starts, counts[0]), block_columns, entries[order].reshape(-1), begin)
