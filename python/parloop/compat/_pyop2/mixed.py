"""PyOP2's sets, data sets, maps and data of several parts: those of `parloop.mesh`, of which equal ones are one object."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ... import mesh
from ...mesh._petsc import over
from .arguments import Arg
from .data import Dat, Global
from .datatypes import as_cstr
from .identity import OneOfEqual, identities
from .mpi import internal_comm
from .sets import GlobalDataSet
from .vector import Vec, is_for_petsc

__all__ = ["MixedDat", "MixedDataSet", "MixedMap", "MixedSet"]


def _comm(parts: Iterable[Any], owner: object) -> Any:
    """The communicator of the first part that has one."""
    return internal_comm(next((part.comm for part in parts if hasattr(part, "comm")), None), owner)


def _listed(parts: Any) -> Any:
    """The parts of a list, a tuple or a generator; the class itself says what is wrong with others."""
    return list(parts) if isinstance(parts, Iterable) and not isinstance(parts, str) else parts


def _halos(parts: Iterable[Any]) -> tuple[Any, ...] | None:
    halos = tuple(getattr(part, "halo", None) for part in parts)
    return halos if any(halo is not None for halo in halos) else None


class MixedSet(mesh.MixedSet, metaclass=OneOfEqual):
    """Several sets."""

    def __init__(self, sets: Any) -> None:
        super().__init__(sets)
        layers: list[Any] = [getattr(part, "layers", None) for part in self]
        if not all(np.array_equal(each, layers[0]) for each in layers if each is not None):
            raise AssertionError(f"the sets of a MixedSet must have the same layers, but those of {self.name} have {layers}")
        self.comm = _comm(self, self)

    @classmethod
    def _given(cls, sets: Any) -> tuple[type, tuple[Any, ...], Any]:
        sets = _listed(sets)
        return cls, (sets,), identities(sets) if isinstance(sets, list) else None

    @property
    def _sets(self) -> tuple[Any, ...]:
        return self.split

    @property
    def halo(self) -> tuple[Any, ...] | None:
        """The halos of the sets, or `None` where none has one."""
        return _halos(self)

    @property
    def layers(self) -> Any:
        """The layers of the first set."""
        return getattr(self[0], "layers", None)

    @property
    def constrained_size(self) -> int:
        """The constrained elements of all sets."""
        return sum(getattr(part, "constrained_size", 0) for part in self)

    def __pow__(self, dim: Any) -> MixedDataSet:
        return MixedDataSet(self, dim)

    def __str__(self) -> str:
        return f"OP2 MixedSet composed of Sets: {self.split}"

    def __repr__(self) -> str:
        return f"MixedSet({self.split!r})"


class MixedDataSet(mesh.MixedDataSet, metaclass=OneOfEqual):
    """Several data sets."""

    def __init__(self, arg: Any, dims: Any = None) -> None:
        super().__init__(arg, dims)
        self.comm = _comm(self, self)

    @classmethod
    def _given(cls, arg: Any, dims: Any = None) -> tuple[type, tuple[Any, ...], Any]:
        parts = mesh.MixedDataSet(arg, dims).split
        return cls, (parts,), identities(parts)

    @property
    def _dsets(self) -> tuple[Any, ...]:
        return self.split

    @property
    def set(self) -> MixedSet:
        return MixedSet(part.set for part in self)

    def __getattr__(self, name: str) -> Any:
        # What a data set does not have, its set has.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.set, name)

    def __str__(self) -> str:
        return f"OP2 MixedDataSet composed of DataSets: {self.split}"

    def __repr__(self) -> str:
        return f"MixedDataSet({self.split!r})"


class MixedMap(mesh.MixedMap, metaclass=OneOfEqual):
    """Several maps from one set."""

    def __init__(self, maps: Any) -> None:
        super().__init__(maps)
        self.comm = _comm(self, self)

    @classmethod
    def _given(cls, maps: Any) -> tuple[type, tuple[Any, ...], Any]:
        maps = _listed(maps)
        return cls, (maps,), identities(maps) if isinstance(maps, list) else None

    @property
    def toset(self) -> MixedSet:
        return MixedSet(super().toset)

    @property
    def offset(self) -> tuple[Any, ...]:
        """The offsets of the maps."""
        return tuple(0 if part is None else getattr(part, "offset", None) for part in self)

    @property
    def offset_quotient(self) -> tuple[Any, ...]:
        """The quotients of offsets of the maps."""
        return tuple(0 if part is None else getattr(part, "offset_quotient", None) for part in self)

    def __str__(self) -> str:
        return f"OP2 MixedMap composed of Maps: {self.split}"

    def __repr__(self) -> str:
        return f"MixedMap({self.split!r})"


class MixedDat(mesh.MixedDat):
    """Data of several parts."""

    def __init__(self, mdset_or_dats: Any) -> None:
        super().__init__(mdset_or_dats)
        self.comm = _comm(self, self)
        # The vector of all parts; `vec_wo` leaves in it what was there.
        self._vector = np.zeros(sum(values.size for values in self.data_ro), self.dtype)

    def _copied(self, part: Any) -> Any:
        return part.duplicate() if isinstance(part, mesh.Global) else Dat(part)

    def _zeros(self, dataset: Any, dtype: Any) -> Any:
        return Dat(dataset, dtype=dtype)

    def _zero_global(self, dim: Any, dtype: Any) -> Any:
        return Global(dim, dtype=dtype)

    def __call__(self, access: Any, path: Any = None) -> Any:
        return Arg(super().__call__(access, path), self, access, path)

    @property
    def dataset(self) -> MixedDataSet:
        return MixedDataSet([part.dataset if isinstance(part, (mesh.Dat, Global)) else GlobalDataSet(part) for part in self])

    @property
    def ctype(self) -> str:
        """The type of the numbers in C."""
        return as_cstr(self.dtype)

    @property
    def _data(self) -> tuple[Any, ...]:
        return self.data_with_halos

    def increment_dat_version(self) -> None:
        """Says that the numbers were changed."""
        self.data  # noqa: B018 - asking for it counts, and brings what a GPU has

    def zero(self, subset: Any = None) -> None:
        if subset is not None:
            raise NotImplementedError("a subset is of one set, and this data is on several; call zero of the part")
        super().zero()

    def copy(self, other: Any, subset: Any = None) -> None:  # type: ignore[override]
        if subset is not None:
            raise NotImplementedError("a subset is of one set, and this data is on several; call copy of the part")
        super().copy_to(other)

    @contextlib.contextmanager
    def _vec(self, reads: bool, writes: bool) -> Iterator[Any]:
        """The numbers of all parts as one vector, which are put back where they may have been written."""
        if reads:
            self._vector[:] = np.concatenate([values.ravel() for values in self.data_ro])
        yield over(self._vector) if is_for_petsc(self) else Vec(_Whole(self._vector))
        if writes:
            start = 0
            for values in self.data_wo:
                values[...] = self._vector[start : start + values.size].reshape(values.shape)
                start += values.size

    @property
    def vec(self) -> contextlib.AbstractContextManager[Any]:
        """A vector to read and write."""
        return self._vec(True, True)

    @property
    def vec_ro(self) -> contextlib.AbstractContextManager[Any]:
        """A vector to read."""
        return self._vec(True, False)

    @property
    def vec_wo(self) -> contextlib.AbstractContextManager[Any]:
        """A vector to write."""
        return self._vec(False, True)

    def __str__(self) -> str:
        return f"OP2 MixedDat composed of Dats: {self.split}"

    def __repr__(self) -> str:
        return f"MixedDat({self.split!r})"


class _Whole:
    """The array of a vector."""

    def __init__(self, data: Any) -> None:
        self.data = self.data_ro = data


