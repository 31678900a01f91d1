"""PyOP2's matrices: those of `parloop.mesh`, and grids of them between data of several parts. Equal sparsities are one object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ... import mesh
from ...errors import MapTypeError, MapValueError, ModeValueError
from ...mesh._mixed_mat import through_sets
from .arguments import Arg
from .configuration import configuration
from .data import Dat, Global
from .datatypes import as_cstr
from .identity import OneOfEqual, identities
from .mixed import MixedDat
from .mpi import internal_comm, is_shared
from .sets import GlobalDataSet

if TYPE_CHECKING:
    # Only checkers of types need it.
    from typing_extensions import Self

__all__ = ["Mat", "Sparsity"]

#: The row map, the column map and the regions of an extruded set over which they are used.
_Triple = tuple[Any, Any, Any]


def _triples(given: Any, dsets: tuple[Any, Any]) -> dict[tuple[int, int], frozenset[_Triple]]:
    """The maps and regions of each block."""
    blocks: dict[tuple[int, int], frozenset[_Triple]] = {
        (i, j): frozenset() for i in range(len(dsets[0])) for j in range(len(dsets[1]))
    }  # fmt: skip
    for place, entries in (given if isinstance(given, dict) else {(0, 0): given}).items():
        if place not in blocks:
            raise RuntimeError(f"maps are given for block {place}, but there are {len(dsets[0])} × {len(dsets[1])} blocks")
        has_global = any(isinstance(side[part], GlobalDataSet) for side, part in zip(dsets, place))
        found = set()
        for entry in entries:
            rows, columns, regions = (*tuple(entry), None)[:3]
            for map_ in (rows, columns):
                if not (isinstance(map_, mesh.Map) or (map_ is None and has_global)):
                    raise MapTypeError(f"a Map is needed, not {type(map_).__name__}")
            found.add((rows, columns, None if regions is None else tuple(sorted(regions, key=int))))
        blocks[place] = frozenset(found)
    return blocks


def _on_sets(rows: Any, columns: Any) -> tuple[Any, Any]:
    """The maps, with one to the set of Globals where there was none."""
    (row,), (column,) = through_sets([rows], [columns])
    return row, column


def _in_order(triples: frozenset[_Triple]) -> list[_Triple]:
    """Maps in an order that depends on nothing but them."""
    return sorted(triples, key=lambda triple: tuple("" if map_ is None else map_.name for map_ in triple[:2]) + (str(triple[2]),))


def _made(make: Any, triples: frozenset[_Triple]) -> Any:
    """A sparsity. PyOP2 has another error for maps that do not fit than for maps without values."""
    try:
        return make()
    except MapValueError as error:
        if all(_has_values(map_) for triple in triples for map_ in triple[:2] if map_ is not None):
            raise RuntimeError(str(error)) from None
        raise


class Sparsity(mesh.Sparsity, metaclass=OneOfEqual):
    """Which blocks of a matrix are stored. Between data sets of several parts it is a grid of sparsities."""

    @classmethod
    def _given(
        cls, dsets: Any, maps_and_regions: Any, name: Any = None, nest: Any = None, block_sparse: Any = None, diagonal_block: bool = True
    ) -> tuple[type, tuple[Any, ...], Any]:
        dsets = tuple(dsets) if isinstance(dsets, (tuple, list)) else (dsets, dsets)
        if len(dsets) != 2 or not all(isinstance(side, (mesh.DataSet, mesh.MixedDataSet)) for side in dsets):
            # The class itself says what is wrong.
            return cls, (dsets, {}, name, False, False, diagonal_block), None
        if any(is_shared(getattr(side, "comm", None)) for side in dsets):
            raise NotImplementedError("a matrix whose rows several processes have is not supported; parloop.mesh.distribute gives one")
        kind = MixedSparsity if any(isinstance(side, mesh.MixedDataSet) for side in dsets) else cls
        nest = bool(configuration["matnest"] if nest is None else nest)
        block_sparse = bool(configuration["block_sparsity"] if block_sparse is None else block_sparse)
        blocks = _triples(maps_and_regions, dsets)
        maps = tuple((place, frozenset((id(r), id(c), regions) for r, c, regions in blocks[place])) for place in blocks)
        is_named = name is None or isinstance(name, str)
        key = (identities(dsets), maps, nest, block_sparse, diagonal_block) if is_named else None
        return kind, (dsets, blocks, name, nest, block_sparse, diagonal_block), key

    def __new__(cls, dsets: Any, blocks: Any, name: Any, nest: bool, block_sparse: bool, diagonal_block: bool) -> Self:
        triples = blocks.get((0, 0), frozenset())
        # A pair without maps is that of two Globals, whose only block is on the diagonal and always stored.
        entries = [
            (*_on_sets(rows, columns), *(() if regions is None else (regions,)))
            for rows, columns, regions in _in_order(triples)
            if not rows is columns is None
        ]
        return _made(lambda: mesh.Sparsity.__new__(cls, dsets, entries, name), triples)  # type: ignore[no-any-return]

    def __init__(self, dsets: Any, blocks: Any, name: Any, nest: bool, block_sparse: bool, diagonal_block: bool) -> None:
        self.comm = internal_comm(getattr(self.dsets[0], "comm", None), self)
        self._maps_and_regions, self._nested = blocks, False
        self._block_sparse, self._diagonal_block = block_sparse, diagonal_block

    @property
    def dims(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """How many rows and columns a block of each part has."""
        return ((self.block_shape,),)

    @property
    def nnz(self) -> Any:
        """How many blocks each row has."""
        return np.diff(self.rowptr)

    @property
    def shape(self) -> tuple[int, int]:
        """One block."""
        return (1, 1)

    @property
    def nested(self) -> bool:
        """Whether it has several parts, each of which is a sparsity."""
        return False

    @property
    def rcmaps(self) -> dict[tuple[int, int], list[tuple[Any, Any]]]:
        """The pairs of maps of the only part."""
        return {(0, 0): self.maps}

    @property
    def iteration_regions(self) -> dict[tuple[int, int], list[Any]]:
        """The regions of each pair of maps of the only part."""
        return {(0, 0): [regions for _, _, regions in _in_order(self._maps_and_regions.get((0, 0), frozenset()))]}

    def __iter__(self) -> Iterator[Self]:
        yield self

    def __getitem__(self, index: Any) -> Self:
        if index not in (0, (0, 0)):
            raise IndexError(f"a sparsity has one part, not {index}")
        return self

    def __contains__(self, pair: Any) -> bool:
        return tuple(pair) in self.maps

    def __str__(self) -> str:
        return (
            f"OP2 Sparsity: dsets {self.dsets}, maps_and_regions {self._maps_and_regions}, name {self.name}, nested {self._nested}, "
            f"block_sparse {self._block_sparse}, diagonal_block {self._diagonal_block}"
        )

    def __repr__(self) -> str:
        return (
            f"Sparsity({self.dsets!r}, {self._maps_and_regions!r}, name={self.name!r}, nested={self._nested!r}, "
            f"block_sparse={self._block_sparse!r}, diagonal_block={self._diagonal_block!r})"
        )


class MixedSparsity(mesh.MixedSparsity):
    """Which blocks of a matrix between data of several parts are stored."""

    __str__, __repr__ = Sparsity.__str__, Sparsity.__repr__

    def __init__(self, dsets: Any, blocks: Any, name: Any, nest: bool, block_sparse: bool, diagonal_block: bool) -> None:
        self._maps_and_regions, self._nested = blocks, nest
        self._block_sparse, self._diagonal_block = block_sparse, diagonal_block
        self._ordered = {place: _in_order(triples) for place, triples in blocks.items()}
        super().__init__(dsets, self._ordered, name)
        self.comm = internal_comm(getattr(dsets[0], "comm", None), self)

    def _block(self, place: tuple[int, int], dsets: tuple[Any, Any]) -> Any:
        is_diagonal = self._dsets[0] is self._dsets[1] and place[0] == place[1]
        return Sparsity(dsets, self._entries[place], None, self._nested, self._block_sparse, is_diagonal)

    @property
    def dims(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """How many rows and columns a block of each part has."""
        return tuple(tuple(block.block_shape for block in row) for row in self.blocks)

    @property
    def nnz(self) -> Any:
        """How many blocks each row of each part has; where it is not nested, how many numbers each row of the whole has."""
        if self.nested:
            return tuple(np.diff(block.rowptr) for block in self)
        lengths = [sum(np.diff(block.rowptr) * block.block_shape[1] for block in row) for row in self.blocks]
        return np.concatenate([np.repeat(length, row[0].block_shape[0]) for length, row in zip(lengths, self.blocks)])

    @property
    def nested(self) -> bool:
        """Whether each part was asked to be a matrix; the parts of a monolithic one are stored in the same way."""
        return self._nested

    @property
    def rcmaps(self) -> dict[tuple[int, int], list[tuple[Any, Any]]]:
        """The pairs of maps of each part."""
        return self.maps

    @property
    def iteration_regions(self) -> dict[tuple[int, int], list[Any]]:
        """The regions of each pair of maps of each part."""
        return {place: [regions for _, _, regions in triples] for place, triples in self._ordered.items()}

    def __contains__(self, pair: Any) -> bool:
        return all((rows, columns) in self.maps[i, j] for i, rows in enumerate(pair[0]) for j, columns in enumerate(pair[1]))


Sparsity._others = (MixedSparsity,)


def _has_values(map_: Any) -> bool:
    """Whether a map has values."""
    try:
        map_.values_with_halo  # noqa: B018 - asking is enough
    except MapValueError:
        return False
    return True


class Mat(mesh.Mat, metaclass=OneOfEqual):
    """A sparse matrix. Between data of several parts it is a grid of matrices."""

    ASSEMBLED, INSERT_VALUES, ADD_VALUES = "ASSEMBLED", "INSERT_VALUES", "ADD_VALUES"

    @classmethod
    def _given(cls, sparsity: Any, dtype: Any = None, name: Any = None) -> tuple[type, tuple[Any, ...], Any]:
        return MixedMat if isinstance(sparsity, MixedSparsity) else cls, (sparsity, dtype, name), None

    def __new__(cls, sparsity: Any, dtype: Any = None, name: Any = None) -> Self:
        return super().__new__(cls, sparsity, dtype, name)

    def __init__(self, sparsity: Any, dtype: Any = None, name: Any = None) -> None:
        self.comm = sparsity.comm
        #: The matrix that it is a part of, where that is assembled as a whole.
        self._whole: Any = None
        self._state = Mat.ASSEMBLED

    @property
    def assembly_state(self) -> str:
        """What was done last: changes are made at once, and counted as PyOP2 counts them."""
        return self._state if self._whole is None else self._whole.assembly_state

    @assembly_state.setter
    def assembly_state(self, state: str) -> None:
        if self._whole is None:
            self._state = state
        else:
            self._whole.assembly_state = state

    def _change_to(self, state: str) -> None:
        """Notes a change of numbers. Between additions and other changes PyOP2 flushes."""
        if self.assembly_state not in (Mat.ASSEMBLED, state):
            (self if self._whole is None else self._whole)._flush_assembly()
        self.assembly_state = state

    def addto_values(self, rows: Any, cols: Any, values: Any) -> None:
        super().addto_values(rows, cols, values)
        self._change_to(Mat.ADD_VALUES)

    def set_values(self, rows: Any, cols: Any, values: Any) -> None:
        super().set_values(rows, cols, values)
        self._change_to(Mat.INSERT_VALUES)

    def set_local_diagonal_entries(self, rows: Any, diag_val: Any = 1.0, idx: Any = None) -> None:
        super().set_local_diagonal_entries(rows, diag_val, idx)
        self._change_to(Mat.INSERT_VALUES)

    def __call__(self, access: Any, path: Any, lgmaps: Any = None, unroll_map: bool = False) -> Any:
        _check_access(access)
        given = _on_sets(*path) if isinstance(path, (tuple, list)) and None in path else path
        return Arg(super().__call__(access, given, lgmaps, unroll_map), self, access, path, lgmaps)

    def mult(self, x: Any, y: Any = None, transposed: bool = False) -> Any:
        y = Dat(self.sparsity.dsets[1 if transposed else 0], dtype=self.dtype) if y is None else y
        return super().mult(x, y, transposed)

    def __matmul__(self, x: Any) -> Any:
        return self.mult(x)

    @property
    def ctype(self) -> str:
        """The type of the numbers in C."""
        return as_cstr(self.dtype)

    @property
    def dims(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """How many rows and columns a block of each part has."""
        return ((self.sparsity.block_shape,),)

    @property
    def blocks(self) -> list[list[Self]]:
        """The parts: itself."""
        return [[self]]

    @property
    def nbytes(self) -> int:
        """The bytes of the stored numbers."""
        return int(self.data_ro.nbytes)

    def assemble(self) -> None:
        """Notes that nothing is left to do: loops leave a matrix assembled."""
        if self._whole is not None:
            raise RuntimeError(f"matrix `{self.name}` is a part of `{self._whole.name}`, which is assembled as a whole")
        self._state = Mat.ASSEMBLED

    def _flush_assembly(self) -> None:
        pass

    def __iter__(self) -> Iterator[Self]:
        yield self

    def __getitem__(self, index: Any) -> Self:
        if index not in (0, (0, 0)):
            raise IndexError(f"a matrix has one part, not {index}")
        return self

    def __mul__(self, other: Any) -> Any:
        return self.mult(other)

    def __repr__(self) -> str:
        return f"Mat({self.sparsity!r}, {self.dtype!r}, {self.name!r})"

    def __str__(self) -> str:
        return f"OP2 Mat: {self.name}, sparsity ({self.sparsity}), datatype {self.dtype.name}"


def _check_access(access: Any) -> None:
    if access not in (mesh.WRITE, mesh.INC):
        raise ModeValueError(f"{access} is not possible for a matrix, only WRITE and INC")


class MixedMat(mesh.MixedMat):
    """A matrix between data of several parts."""

    __str__, __repr__, __mul__ = Mat.__str__, Mat.__repr__, Mat.__mul__

    def __init__(self, sparsity: Any, dtype: Any = None, name: Any = None) -> None:
        super().__init__(sparsity, dtype, name)
        self.comm = sparsity.comm
        self._state = Mat.ASSEMBLED
        if not sparsity.nested:
            for block in self:
                cast("Mat", block)._whole = self

    def _block(self, sparsity: Any, dtype: npt.DTypeLike | None, name: str) -> Any:
        return Mat(sparsity, dtype, name)

    def _product(self, to: Any) -> Any:
        if not isinstance(to, mesh.MixedDataSet):
            return Dat(to, dtype=self.dtype)
        return MixedDat(Global(part.dim, dtype=self.dtype) if isinstance(part, GlobalDataSet) else Dat(part, dtype=self.dtype) for part in to)

    def __call__(self, access: Any, path: Any, lgmaps: Any = None, unroll_map: bool = False) -> Any:
        _check_access(access)
        return Arg(super().__call__(access, path, lgmaps, unroll_map), self, access, path, lgmaps)

    @property
    def ctype(self) -> str:
        """The type of the numbers in C."""
        return as_cstr(self.dtype)

    @property
    def dims(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """How many rows and columns a block of each part has."""
        return tuple(tuple(block.sparsity.block_shape for block in row) for row in self.blocks)

    @property
    def assembly_state(self) -> str:
        """What was done last; of nested matrices the blocks say it."""
        return self._state

    @assembly_state.setter
    def assembly_state(self, state: str) -> None:
        self._state = state

    def assemble(self) -> None:
        """Notes that nothing is left to do: loops leave a matrix assembled."""
        self._state = Mat.ASSEMBLED
        if cast(MixedSparsity, self.sparsity).nested:
            for block in self:
                block.assemble()

    def _flush_assembly(self) -> None:
        pass

    @property
    def nbytes(self) -> int:
        """The bytes of the stored numbers."""
        return sum(int(block.data_ro.nbytes) for block in self)


Mat._others = (MixedMat,)
