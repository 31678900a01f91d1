"""PyOP2's sets: those of `parloop.mesh` with communicators, equality by sizes and name, and PyOP2's texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import mesh
from .identity import OneOfEqual
from .mpi import internal_comm

if TYPE_CHECKING:
    # Only checkers of types need it.
    from typing_extensions import Self

__all__ = ["DataSet", "ExtrudedSet", "GlobalDataSet", "Set", "Subset"]


class Set(mesh.Set):
    """Elements of one kind, and how ghosts of them are exchanged where other processes own some."""

    layers: Any = None
    partition_size = 1024
    _extruded = False
    _extruded_periodic = False
    #: Whether there ever was a halo.
    _has_halos = False

    def __new__(cls, size: Any, name: Any = None, halo: Any = None, comm: Any = None, constrained_size: int = 0) -> Self:
        return super().__new__(cls, size, name)

    def __init__(self, size: Any, name: Any = None, halo: Any = None, comm: Any = None, constrained_size: int = 0) -> None:
        self.halo = halo
        Set._has_halos |= halo is not None
        self.comm = internal_comm(comm, self)
        self.constrained_size = constrained_size

    def __call__(self, *indices: Any) -> Subset:
        return Subset(self, super().__call__(*indices).indices) if not isinstance(self, Subset) else self._part(indices)

    def __pow__(self, dim: Any) -> DataSet:
        return DataSet(self, dim)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Set) and (self.sizes, self.name) == (other.sizes, other.name)

    def __hash__(self) -> int:
        return hash((self.sizes, self.name))

    def __getitem__(self, index: int) -> Self:
        if index != 0:
            raise IndexError(f"a Set has one part, not {index}")
        return self

    @property
    def split(self) -> tuple[Self, ...]:
        """Itself, as its only part."""
        return (self,)

    def _named(self, made: Any) -> Any:
        """A set that the algebra gave, as one of PyOP2's."""
        return made if isinstance(made, Set) else Subset(made.superset, made.indices)

    def union(self, other: Any) -> Any:
        return self._named(super().union(other))

    def intersection(self, other: Any) -> Any:
        return self._named(super().intersection(other))

    def difference(self, other: Any) -> Any:
        return self._named(super().difference(other))

    def symmetric_difference(self, other: Any) -> Any:
        return self._named(super().symmetric_difference(other))

    def __str__(self) -> str:
        return f"OP2 Set: {self.name} with size {self.size}"

    def __repr__(self) -> str:
        return f"Set({self.sizes}, {self.name!r})"


class ExtrudedSet(mesh.ExtrudedSet, Set):
    """Columns of cells over the elements of a set. What it does not have itself, the set below it has."""

    _extruded = True

    def __new__(cls, parent: Any, layers: Any, extruded_periodic: bool = False) -> Self:
        if not isinstance(parent, Set):
            raise TypeError(f"an extruded set stands on a Set, not on {type(parent).__name__}")
        return mesh.ExtrudedSet.__new__(cls, parent, layers, extruded_periodic)

    def __init__(self, parent: Any, layers: Any, extruded_periodic: bool = False) -> None:
        self.comm = parent.comm
        self.halo = parent.halo
        self.constrained_size = parent.constrained_size

    # PyOP2's sets say here that they have none.
    layers = mesh.ExtrudedSet.layers

    @property
    def _extruded_periodic(self) -> bool:  # type: ignore[override]
        return self.extruded_periodic

    def __contains__(self, other: object) -> bool:
        return other is self.parent

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __pow__(self, dim: Any) -> DataSet:
        raise NotImplementedError("PyOP2 puts no data on an ExtrudedSet; put it on a Set with an element for each entry")

    def __str__(self) -> str:
        return f"OP2 ExtrudedSet: {self.name} with size {self.size} ({self.layers_array} layers)"

    def __repr__(self) -> str:
        return f"ExtrudedSet({self.parent!r}, {self.layers_array!r})"


class Subset(mesh.Subset, Set):
    """Some elements of a set."""

    @property
    def layers(self) -> Any:
        """The layers of the set that it is a part of."""
        return self.superset.layers  # type: ignore[attr-defined]

    @property
    def layers_array(self) -> Any:
        """The layers of the columns that it has."""
        superset: Any = self.superset
        return superset.layers_array if superset.constant_layers else superset.layers_array[self.indices]

    def __new__(cls, superset: Any, indices: Any) -> Self:
        return mesh.Subset.__new__(cls, superset, indices)

    def __init__(self, superset: Any, indices: Any) -> None:
        self.comm = superset.comm
        self.halo = superset.halo

    def _part(self, indices: tuple[Any, ...]) -> Subset:
        chosen = indices[0] if len(indices) == 1 and hasattr(indices[0], "__len__") else list(indices)
        return Subset(self, chosen)

    def __pow__(self, dim: Any) -> DataSet:
        raise NotImplementedError("data cannot be put on a Subset; put it on its superset and loop over the subset")

    @property
    def _indices(self) -> Any:
        return self.indices

    def __str__(self) -> str:
        return f"OP2 Subset: {self.name} with sizes {self.sizes}"

    def __repr__(self) -> str:
        return f"Subset({self.superset!r}, {self.indices!r})"


class DataSet(mesh.DataSet, metaclass=OneOfEqual):
    """A set with the dimension of data on it. That of a set and a dimension is one object as long as it lives, with the name it was first given."""

    @classmethod
    def _given(
        cls, iter_set: Any, dim: Any = 1, name: Any = None, apply_local_global_filter: bool = False
    ) -> tuple[type, tuple[Any, ...], Any]:
        axes = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
        is_plain = all(isinstance(axis, (int, np.integer)) for axis in axes) and (name is None or isinstance(name, str))
        return cls, (iter_set, dim, name), (id(iter_set), tuple(map(int, axes))) if is_plain else None

    def __new__(cls, iter_set: Any, dim: Any = 1, name: Any = None, apply_local_global_filter: bool = False) -> Self:
        return super().__new__(cls, iter_set, dim, name)

    def __init__(self, iter_set: Any, dim: Any = 1, name: Any = None, apply_local_global_filter: bool = False) -> None:
        self.comm = iter_set.comm
        self.halo = iter_set.halo

    def __hash__(self) -> int:
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataSet) and (self.set, self.dim) == (other.set, other.dim)

    def __getitem__(self, index: int) -> Self:
        if index != 0:
            raise IndexError(f"a DataSet has one part, not {index}")
        return self

    def __getattr__(self, name: str) -> Any:
        # What a data set does not have, its set has.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.set, name)

    @property
    def split(self) -> tuple[Self, ...]:
        """Itself, as its only part."""
        return (self,)

    def __str__(self) -> str:
        return f"OP2 DataSet: {self.name} on set {self.set}, with dim {self.dim}"

    def __repr__(self) -> str:
        return f"DataSet({self.set!r}, {self.dim!r}, {self.name!r})"


class GlobalDataSet(mesh.GlobalDataSet, DataSet):
    """The data set of a Global."""

    def __init__(self, global_: Any) -> None:
        self.comm = internal_comm(getattr(global_, "comm", None), self)
        self.halo = None
        self._global = global_

    @classmethod
    def _given(cls, global_: Any) -> tuple[type, tuple[Any, ...], Any]:  # type: ignore[override]
        return cls, (global_,), None

    def __hash__(self) -> int:
        return super().__hash__()

    def __str__(self) -> str:
        return f"OP2 GlobalDataSet: {self.name} on Global {self._global}"

    def __repr__(self) -> str:
        return f"GlobalDataSet({self._global!r})"
