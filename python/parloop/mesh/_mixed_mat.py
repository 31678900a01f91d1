"""Matrices of blocks between data of several parts: a grid of ordinary matrices."""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .._parloop import DataSetTypeError, DataValueError, IndexValueError, MapTypeError, MapValueError, SparsityTypeError, _Access, _overlaps
from .._parloop import _Arg as Arg
from .._parloop import _Dat as Dat
from .._parloop import _DataSet as DataSet
from .._parloop import _Global as Global
from .._parloop import _Map as Map
from .._parloop import _Mat as Mat
from .._parloop import _Set as Set
from .._parloop import _Sparsity as Sparsity
from .._parloop import _Subset as Subset
from ._matrix import Change, checked_diagonal, checked_put, checked_zero_rows, clear_rows, converted, dense_part, integers, single
from ._mixed import GLOBAL_SET, GlobalDataSet, MixedDataSet, MixedMap, MixedSet
from ._mixed_dat import MixedDat
from ._names import check_name
from ._parts import kind
from ._petsc import nest

Side = MixedDataSet | DataSet
#: The maps of rows and columns of a block, followed by the regions of an extruded set, if given.
Entry = tuple[Any, ...]
Maps = MixedMap | Map | Sequence["Map | None"] | None


def _side(given: Any) -> Side:
    """The data set of one side of a matrix."""
    if isinstance(given, (DataSet, MixedDataSet)):
        return given
    if isinstance(given, Set):
        return given**1
    if isinstance(given, (MixedSet, list, tuple)):
        return MixedDataSet(given)
    raise DataSetTypeError(f"a MixedSparsity needs two data sets, not {kind(given)}; give a MixedDataSet or a DataSet")


def _sides(given: Any) -> tuple[Side, Side]:
    if not isinstance(given, (list, tuple)):
        return (_side(given),) * 2
    if len(given) != 2:
        raise DataSetTypeError(f"a MixedSparsity needs two data sets, but {len(given)} were given")
    return _side(given[0]), _side(given[1])


def maps_of(given: Maps, side: Side) -> tuple[Map | None, ...]:
    """One map for each part of a side."""
    if given is None or isinstance(given, Map):
        parts: tuple[Map | None, ...] = (given,)
    else:
        parts = (given if isinstance(given, MixedMap) else MixedMap(given)).split
    if len(parts) != len(side):
        raise MapValueError(f"a side of {len(side)} parts needs {len(side)} maps, not {len(parts)}")
    return parts


#: Maps to the set of Globals by the set that they begin at. A map keeps its set alive, so that few of them are kept.
_TO_GLOBAL: dict[int, Map] = {}
_MOST = 64


def _to_global(iterset: Set) -> Map:
    """The map by which every element leads to the Global."""
    found = _TO_GLOBAL.get(id(iterset))
    if found is None:
        if len(_TO_GLOBAL) >= _MOST:
            del _TO_GLOBAL[next(iter(_TO_GLOBAL))]
        found = _TO_GLOBAL[id(iterset)] = Map.to_first(iterset, GLOBAL_SET, f"{iterset.name}_to_global")
    return found


def through_sets(rows: Sequence[Map | None], columns: Sequence[Map | None]) -> tuple[list[Map], list[Map]]:
    """The maps, with one to the set of Globals where there was none."""
    found = next((map_ for map_ in (*rows, *columns) if map_ is not None), None)
    if found is None:
        raise MapValueError("a matrix argument needs at least one Map, which determines its iteration set")

    def filled(maps: Sequence[Map | None]) -> list[Map]:
        return [_to_global(found.iterset) if map_ is None else map_ for map_ in maps]

    return filled(rows), filled(columns)


def _by_block(maps: Any, rows: Side, columns: Side) -> dict[tuple[int, int], list[Entry]]:
    """The maps of each block, and the regions of an extruded set for which they are."""
    entries: dict[tuple[int, int], list[Entry]] = {(i, j): [] for i in range(len(rows)) for j in range(len(columns))}
    if isinstance(maps, Mapping):
        for place, given in maps.items():
            if place not in entries:
                raise MapValueError(f"maps were given for block {place}, but there are {len(rows)} × {len(columns)} blocks")
            for entry in given:
                row, column, *regions = _entry(entry)
                if row is None and column is None:
                    # Between Globals the only block is on the diagonal, which is stored.
                    continue
                (filled_row,), (filled_column,) = through_sets([row], [column])
                entries[place].append((filled_row, filled_column, *regions))
        return entries
    if isinstance(maps, (MixedMap, Map)):
        maps = [(maps, maps)]
    for entry in maps:
        row, column, *regions = _entry(entry)
        row_maps, column_maps = through_sets(maps_of(row, rows), maps_of(column, columns))
        for i, row_map in enumerate(row_maps):
            for j, column_map in enumerate(column_maps):
                entries[i, j].append((row_map, column_map, *regions))
    return entries


def _entry(given: Any) -> tuple[Any, ...]:
    """Maps for rows and columns, followed by the regions, if given."""
    if not isinstance(given, (list, tuple)) or len(given) not in (2, 3):
        raise MapTypeError(f"maps of a MixedSparsity must be pairs for rows and columns, not {kind(given)}")
    return (*_pair(given[:2]), *(regions for regions in given[2:] if regions is not None))


def _pair(given: Any) -> tuple[Any, Any]:
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise MapTypeError(f"a matrix argument needs two maps, for rows and columns, not {kind(given)}")
    for map_ in given:
        if not (map_ is None or isinstance(map_, (Map, MixedMap, list, tuple))):
            raise MapTypeError(f"expected a Map or a MixedMap, not {kind(map_)}")
    return given[0], given[1]


class MixedSparsity:
    """Which blocks of a matrix between data of several parts are stored: a grid of :class:`Sparsity`.

    Parameters
    ----------
    dsets
        A MixedDataSet for rows and columns, or one for each; one of them can be a DataSet.
    maps
        A MixedMap, pairs of MixedMaps for rows and columns, or for some blocks a list of pairs of maps by place: ``{(0, 1): [(rows, columns)]}``.
        Of extruded sets a pair may have a third entry, the regions whose targets meet. Blocks without maps store nothing but their
        diagonal, if they have one.
    name
        A name, if wanted.

    Examples
    --------
    >>> import parloop.mesh as op2
    >>> cells, nodes = op2.Set(2, "cells"), op2.Set(3, "nodes")
    >>> own = op2.Map(cells, cells, 1, [0, 1], "own")
    >>> ends = op2.Map(cells, nodes, 2, [0, 1, 1, 2], "ends")
    >>> sparsity = op2.MixedSparsity(op2.MixedDataSet([cells, nodes]), op2.MixedMap([own, ends]), "saddle")
    >>> sparsity
    <MixedSparsity 'saddle': 2 × 2 parts, 17 blocks stored>
    >>> sparsity[1, 1].nz
    7
    """

    def __init__(self, dsets: Any, maps: Any, name: str | None = None) -> None:
        if name is not None:
            check_name("sparsity", name)
        self._dsets = _sides(dsets)
        self._entries = _by_block(maps, *self._dsets)
        self._name = "mixed_sparsity" if name is None else name
        rows, columns = self._dsets
        self._blocks = tuple(tuple(self._block((i, j), (row, column)) for j, column in enumerate(columns)) for i, row in enumerate(rows))

    def _block(self, place: tuple[int, int], dsets: tuple[DataSet, DataSet]) -> Sparsity:
        return Sparsity(dsets, self._entries[place])

    @property
    def dsets(self) -> tuple[Side, Side]:
        """The data sets of rows and columns."""
        return self._dsets

    @property
    def maps(self) -> dict[tuple[int, int], list[tuple[Map, Map]]]:
        """The pairs of maps of each block."""
        return {place: [(entry[0], entry[1]) for entry in entries] for place, entries in self._entries.items()}

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def shape(self) -> tuple[int, int]:
        """How many parts rows and columns have."""
        return len(self._dsets[0]), len(self._dsets[1])

    @property
    def blocks(self) -> tuple[tuple[Sparsity, ...], ...]:
        """The sparsities of all parts, row by row."""
        return self._blocks

    @property
    def nz(self) -> int:
        """How many blocks are stored in all parts."""
        return sum(block.nz for block in self)

    def __iter__(self) -> Iterator[Sparsity]:
        for row in self._blocks:
            yield from row

    @overload
    def __getitem__(self, index: int) -> tuple[Sparsity, ...]: ...
    @overload
    def __getitem__(self, index: tuple[int, int]) -> Sparsity: ...
    def __getitem__(self, index: int | tuple[int, int]) -> Sparsity | tuple[Sparsity, ...]:
        return self._blocks[index[0]][index[1]] if isinstance(index, tuple) else self._blocks[index]

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<MixedSparsity {self.name!r}: {rows} × {columns} parts, {self.nz} blocks stored>"


class MixedMat:
    """A matrix between data of several parts: a grid of :class:`Mat`, each with numbers of its own.

    Parameters
    ----------
    sparsity
        A MixedSparsity.
    dtype
        The type of the numbers; ``float64`` unless said otherwise.
    name
        A name, if wanted.

    Notes
    -----
    ``mat(access, (rows, columns))`` with MixedMaps is an argument of a loop: the kernel gets one array, the rows of all parts by the columns of
    all parts. Rows and columns of the whole are numbered part after part.

    Examples
    --------
    >>> import numpy as np, parloop.mesh as op2
    >>> cells, nodes = op2.Set(1, "cells"), op2.Set(2, "nodes")
    >>> own = op2.Map(cells, cells, 1, [0], "own")
    >>> ends = op2.Map(cells, nodes, 2, [0, 1], "ends")
    >>> both = op2.MixedMap([own, ends])
    >>> mat = op2.MixedMat(op2.MixedSparsity(op2.MixedDataSet([cells, nodes]), both))
    >>> mat[0, 1].set_values([0], [0, 1], [[1.0, -1.0]])
    >>> mat.set_local_diagonal_entries(range(3))
    >>> mat.values.tolist()
    [[1.0, 1.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> x = op2.MixedDat([op2.Dat(cells, [1.0]), op2.Dat(nodes, [5.0, 2.0])])
    >>> [values.tolist() for values in (mat @ x).data_ro]
    [[4.0], [5.0, 2.0]]
    """

    def __init__(self, sparsity: MixedSparsity, dtype: npt.DTypeLike | None = None, name: str | None = None) -> None:
        if not isinstance(sparsity, MixedSparsity):
            raise SparsityTypeError(f"a MixedMat needs a MixedSparsity, not {kind(sparsity)}")
        if name is not None:
            check_name("matrix", name)
        self._sparsity = sparsity
        self._name = "mixed_mat" if name is None else name
        self._blocks = tuple(
            tuple(self._block(block, dtype, f"{self._name}[{i}, {j}]") for j, block in enumerate(row)) for i, row in enumerate(sparsity.blocks)
        )

    def _block(self, sparsity: Sparsity, dtype: npt.DTypeLike | None, name: str) -> Mat:
        return Mat(sparsity, dtype, name)

    def __call__(self, access: _Access, path: tuple[Maps, Maps], lgmaps: Any = None, unroll_map: bool = False) -> Arg:
        """An argument of a loop: for each element the block where the targets of two MixedMaps meet.

        `lgmaps` are pairs as those of :class:`Mat`, one for each block, row by row; ``None`` drops nothing.
        """
        rows, columns = through_sets(*(maps_of(given, side) for given, side in zip(_pair(path), self._sparsity.dsets)))
        dropped = [None] * (len(rows) * len(columns)) if lgmaps is None else list(lgmaps)
        if len(dropped) != len(rows) * len(columns):
            raise MapValueError(f"lgmaps are needed for {len(rows) * len(columns)} blocks, but {len(dropped)} were given")
        return Arg.grid(
            [
                [
                    Mat.__call__(self._blocks[i][j], access, (row, column), dropped[i * len(columns) + j], unroll_map)
                    for j, column in enumerate(columns)
                ]
                for i, row in enumerate(rows)
            ]
        )

    @property
    def sparsity(self) -> MixedSparsity:
        """Which blocks are stored."""
        return self._sparsity

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self._blocks[0][0].dtype

    @property
    def blocks(self) -> tuple[tuple[Mat, ...], ...]:
        """The matrices of all parts, row by row."""
        return self._blocks

    def __iter__(self) -> Iterator[Mat]:
        for row in self._blocks:
            yield from row

    @overload
    def __getitem__(self, index: int) -> tuple[Mat, ...]: ...
    @overload
    def __getitem__(self, index: tuple[int, int]) -> Mat: ...
    def __getitem__(self, index: int | tuple[int, int]) -> Mat | tuple[Mat, ...]:
        return self._blocks[index[0]][index[1]] if isinstance(index, tuple) else self._blocks[index]

    @property
    def nrows(self) -> int:
        """How many rows all parts have."""
        return sum(row[0].nrows for row in self._blocks)

    @property
    def ncols(self) -> int:
        """How many columns all parts have."""
        return sum(block.ncols for block in self._blocks[0])

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns all parts have."""
        return self.nrows, self.ncols

    @property
    def nblock_rows(self) -> int:
        """How many rows of blocks all parts have."""
        return sum(row[0].nblock_rows for row in self._blocks)

    @property
    def nblock_cols(self) -> int:
        """How many columns of blocks all parts have."""
        return sum(block.nblock_cols for block in self._blocks[0])

    @property
    def values(self) -> npt.NDArray[Any]:
        """All values, including zeros, as a dense host array."""
        return np.block([[block.values for block in row] for row in self._blocks])

    def to_scipy(self) -> Any:
        """A ``csr_matrix`` of SciPy's with a copy of the numbers of all parts. Those of one part share them: ``mat[i, j].to_scipy()``."""
        blocks = [[block.to_scipy() for block in row] for row in self._blocks]
        return importlib.import_module("scipy.sparse").bmat(blocks, format="csr")

    @property
    def handle(self) -> Any:
        """A nest of matrices of PETSc's over the numbers of the blocks, where petsc4py is installed. Ask for it again after a loop."""
        return nest(self)

    def assemble(self) -> None:
        """Does nothing: loops leave a matrix assembled."""

    def zero(self) -> None:
        """Sets all numbers to zero."""
        for block in self:
            block.zero()

    def _rows_of_parts(self, rows: Any) -> list[npt.NDArray[Any]]:
        """Rows of blocks by part: of a subset of the set of one part, or numbers that count through all parts."""
        sizes = [row[0].nblock_rows for row in self._blocks]
        if isinstance(rows, Subset):
            parts = [i for i, dataset in enumerate(self._sparsity.dsets[0]) if dataset.set == rows.superset]
            if len(parts) != 1:
                what = f"{len(parts)} parts of the rows of `{self.name}` are on the set `{rows.superset.name}` of the subset"
                raise IndexValueError(f"{what}; pass row numbers counted over all parts")
            return [rows.indices if i == parts[0] else np.zeros(0, np.int64) for i in range(len(sizes))]
        numbers = np.unique(integers(rows, f"rows of matrix `{self.name}`"))
        outside = numbers[(numbers < 0) | (numbers >= sum(sizes))]
        if outside.size:
            raise IndexValueError(f"matrix `{self.name}` has {sum(sizes)} rows of blocks, not one with number {outside[0]}")
        ends = np.cumsum(sizes)
        return [numbers[(numbers >= end - size) & (numbers < end)] - (end - size) for end, size in zip(ends, sizes)]

    def _diagonal(self, part: int) -> Mat:
        if part >= len(self._blocks[0]):
            rows, columns = self._sparsity.shape
            raise IndexValueError(f"matrix `{self.name}` has {rows} × {columns} parts, so the rows of part {part} have no diagonal")
        return self._blocks[part][part]

    def zero_rows(self, rows: Any, diag_val: complex = 1.0, idx: int | None = None) -> None:
        """Sets some rows of blocks to zero, except their diagonal. `rows` are numbers through all parts, or a Subset of the set of one."""
        changes: list[Change] = []
        idx = None if idx is None else operator.index(idx)
        for part, numbers in enumerate(self._rows_of_parts(rows)):
            if numbers.size:
                # A diagonal of zero need not be stored.
                diagonal = self._blocks[part][0] if single(self, diag_val) == 0 else self._diagonal(part)
                changes.append(checked_zero_rows(diagonal, numbers, diag_val, idx))
                changes += [functools.partial(clear_rows, other, numbers, idx) for other in self._blocks[part] if other is not diagonal]
        _make(changes)

    def set_local_diagonal_entries(self, rows: Any, diag_val: complex = 1.0, idx: int | None = None) -> None:
        """Sets the numbers on the diagonal of some rows of blocks."""
        self._change_diagonal(rows, diag_val, idx, False)

    def inc_local_diagonal_entries(self, rows: Any, diag_val: complex = 1.0, idx: int | None = None) -> None:
        """Adds to the numbers on the diagonal of some rows of blocks."""
        self._change_diagonal(rows, diag_val, idx, True)

    def _change_diagonal(self, rows: Any, value: complex, idx: int | None, adds: bool) -> None:
        idx, parts = None if idx is None else operator.index(idx), enumerate(self._rows_of_parts(rows))
        _make([checked_diagonal(self._diagonal(part), numbers, value, idx, adds) for part, numbers in parts if numbers.size])

    def addto_values(self, rows: Any, cols: Any, values: Any) -> None:
        """Adds a dense part to these rows and columns of the whole; negative ones are ignored. Every entry must be stored."""
        _make([checked_put(*block, True) for block in self._cut(rows, cols, values)])

    def set_values(self, rows: Any, cols: Any, values: Any) -> None:
        """Sets these rows and columns of the whole to a dense part; negative ones are ignored. Every entry must be stored."""
        _make([checked_put(*block, False) for block in self._cut(rows, cols, values)])

    def _cut(self, rows: Any, cols: Any, values: Any) -> Iterator[tuple[Mat, Any, Any, Any]]:
        """A dense part of the whole, cut into those of the blocks: a block, rows and columns in it, and their numbers."""
        rows, cols = integers(rows, f"rows of matrix `{self.name}`"), integers(cols, f"columns of matrix `{self.name}`")
        values = dense_part(self, rows, cols, converted(self, values))
        for numbers, size, what in ((rows, self.nrows, "row"), (cols, self.ncols, "column")):
            if numbers.size and numbers.max() >= size:
                raise IndexValueError(f"matrix `{self.name}` has {size} {what}s, not one with number {numbers.max()}")
        row_ends = np.cumsum([0] + [row[0].nrows for row in self._blocks])
        col_ends = np.cumsum([0] + [block.ncols for block in self._blocks[0]])
        for i, row in enumerate(self._blocks):
            here = (rows >= row_ends[i]) & (rows < row_ends[i + 1])
            for j, block in enumerate(row):
                there = (cols >= col_ends[j]) & (cols < col_ends[j + 1])
                if here.any() and there.any():
                    yield block, rows[here] - row_ends[i], cols[there] - col_ends[j], values[np.ix_(here, there)]

    def mult(self, x: MixedDat | Dat, y: MixedDat | Dat | None = None, transposed: bool = False) -> Any:
        """``y = A x`` on the current context, or with `transposed` ``y = Aᵀ x``; `y` is created if not given."""
        sides = self._sparsity.dsets
        (to, of), grid = (sides[::-1], list(zip(*self._blocks))) if transposed else (sides, [list(row) for row in self._blocks])
        if y is None:
            y = self._product(to)
        xs, ys = vectors(x, len(grid[0])), vectors(y, len(grid))
        if any(_overlaps(mine, theirs) for mine in ys for theirs in xs):
            raise DataValueError(f"the product with matrix `{self.name}` cannot overwrite the factor; pass a different y")
        for number, part in enumerate(ys):
            if any(_overlaps(part, block) for block in self):
                raise DataValueError(f"the product with matrix `{self.name}` cannot overwrite the matrix; pass a y other than `{part.name}`")
            if any(_overlaps(part, earlier) for earlier in ys[:number]):
                raise DataValueError(f"the product with matrix `{self.name}` needs separate memory for each part, but `{part.name}` appears twice in y")
        # All parts are checked before the first is written.
        self._check_vectors(xs, of)
        self._check_vectors(ys, to)
        for result, row in zip(ys, grid):
            sum_ = on_set(result)
            for number, (block, factor) in enumerate(zip(row, xs)):
                if number == 0:
                    block.mult(on_set(factor), sum_, transposed)
                else:
                    sum_ += block.mult(on_set(factor), None, transposed)
            if isinstance(result, Global):
                result.data = sum_.data_ro
        return y

    def _check_vectors(self, parts: Sequence[Dat | Global], side: Side) -> None:
        """Refuses parts of a factor or a product that are not on the data sets of a side."""
        for number, (part, wanted) in enumerate(zip(parts, side)):
            found = GlobalDataSet(part) if isinstance(part, Global) else part.dataset
            if found.set == wanted.set and found.dim == wanted.dim and part.dtype == self.dtype:
                continue
            what = "on another set" if found.set != wanted.set else "of another dimension" if found.dim != wanted.dim else "of another type"
            raise DataValueError(f"matrix `{self.name}` cannot be multiplied with `{part.name}`: part {number} of the matrix is {what}")

    def _product(self, to: Side) -> MixedDat | Dat:
        """Where to put a product."""
        return MixedDat(to, self.dtype) if isinstance(to, MixedDataSet) else Dat(to, dtype=self.dtype)

    def __matmul__(self, x: MixedDat | Dat) -> Any:
        """``mat @ mixed``: the product as new data."""
        return self.mult(x)

    def __repr__(self) -> str:
        rows, columns = self._sparsity.shape
        return f"<MixedMat {self.name!r}: {self.nrows} × {self.ncols} {self.dtype} in {rows} × {columns} parts, {self._sparsity.nz} blocks stored>"


def _make(changes: list[Change]) -> None:
    """Makes changes of several parts, all of which were checked before."""
    for change in changes:
        change()


def vectors(given: Any, parts: int) -> Sequence[Dat | Global]:
    """The parts of a factor or a product."""
    found: Sequence[Dat | Global] = given.split if isinstance(given, MixedDat) else [given] if isinstance(given, (Dat, Global)) else []
    if len(found) != parts:
        what = f"data of {len(found)} parts" if found else kind(given)
        raise DataValueError(f"a product with {parts} parts of a matrix needs data of {parts} parts, not {what}")
    return found


def on_set(part: Dat | Global) -> Dat:
    """A part as a Dat; a Global's numbers are copied to the set of Globals."""
    if isinstance(part, Global):
        return Dat(GlobalDataSet(part), part.data_ro.copy(), part.dtype, part.name)
    return part
