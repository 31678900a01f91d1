"""PyOP2's matrices: those of `parloop.mesh`. Matrices of several parts are not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from typing_extensions import Self

from ... import MapTypeError, MapValueError, ModeValueError, mesh
from .datatypes import as_cstr
from .mpi import internal_comm

__all__ = ["Mat", "Sparsity"]


def _pairs(maps: Any) -> list[tuple[Any, Any]]:
    """The pairs of maps of the only block, each once, in an order that depends on nothing but them."""
    if isinstance(maps, dict):
        if set(maps) != {(0, 0)}:
            raise NotImplementedError("matrices of several parts are not supported")
        (maps,) = maps.values()
    found: list[tuple[Any, Any]] = []
    for entry in maps:
        rows, columns = tuple(entry)[:2]
        for map_ in (rows, columns):
            if not isinstance(map_, mesh.Map):
                raise MapTypeError(f"a Map is needed, not {type(map_).__name__}")
        if (rows, columns) not in found:
            found.append((rows, columns))
    return sorted(found, key=lambda pair: (pair[0].name, pair[1].name))


class Sparsity(mesh.Sparsity):
    """Which blocks of a matrix are stored."""

    def __new__(cls, dsets: Any, maps_and_regions: Any, name: Any = None, nest: Any = None, block_sparse: Any = None) -> Self:
        dsets = dsets if isinstance(dsets, tuple) else (dsets, dsets)
        pairs = _pairs(maps_and_regions)
        try:
            return super().__new__(cls, dsets, pairs, name)
        except MapValueError as error:
            # PyOP2 has another error for maps that do not fit than for maps without values.
            if all(_has_values(map_) for pair in pairs for map_ in pair):
                raise RuntimeError(str(error)) from None
            raise

    def __init__(self, dsets: Any, maps_and_regions: Any, name: Any = None, nest: Any = None, block_sparse: Any = None) -> None:
        self.comm = internal_comm(getattr(self.dsets[0], "comm", None), self)

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
        """Whether it has several parts."""
        return False

    @property
    def rcmaps(self) -> dict[tuple[int, int], list[tuple[Any, Any]]]:
        """The pairs of maps of the only part."""
        return {(0, 0): self.maps}

    def __iter__(self) -> Iterator[Self]:
        yield self

    def __getitem__(self, index: Any) -> Self:
        if index not in (0, (0, 0)):
            raise IndexError(f"a sparsity has one part, not {index}")
        return self

    def __contains__(self, pair: Any) -> bool:
        return tuple(pair) in self.maps


def _has_values(map_: Any) -> bool:
    """Whether a map has values."""
    try:
        map_.values_with_halo  # noqa: B018 - asking is enough
    except MapValueError:
        return False
    return True


class Mat(mesh.Mat):
    """A sparse matrix."""

    ASSEMBLED, INSERT_VALUES, ADD_VALUES = "ASSEMBLED", "INSERT_VALUES", "ADD_VALUES"

    def __new__(cls, sparsity: Any, dtype: Any = None, name: Any = None) -> Self:
        return super().__new__(cls, sparsity, dtype, name)

    def __init__(self, sparsity: Any, dtype: Any = None, name: Any = None) -> None:
        self.comm = sparsity.comm
        self.assembly_state = Mat.ASSEMBLED

    def __call__(self, access: Any, path: Any, lgmaps: Any = None, unroll_map: bool = False) -> Any:
        if access not in (mesh.WRITE, mesh.INC):
            raise ModeValueError(f"{access} is not possible for a matrix, only WRITE and INC")
        return super().__call__(access, path, lgmaps, unroll_map)

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
        """Does nothing: loops leave a matrix assembled."""
        self.assembly_state = Mat.ASSEMBLED

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
