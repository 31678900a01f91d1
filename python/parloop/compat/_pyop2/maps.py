"""PyOP2's maps: those of `parloop.mesh`, with values of floats cut to integers as PyOP2 does."""

from __future__ import annotations

from typing import Any

import numpy as np
from typing_extensions import Self

from ... import DataValueError, MapTypeError, MapValueError, mesh
from .datatypes import IntType

__all__ = ["ComposedMap", "Map", "PermutedMap"]


def _whole(values: Any, rows: int) -> Any:
    """The values as integers, cut as PyOP2 does. A map of no elements needs none."""
    if values is None:
        return [] if rows == 0 else None
    values = np.asarray(values)
    if values.dtype.kind in "iu":
        return values
    try:
        return values.astype(IntType)
    except (TypeError, ValueError) as error:
        raise DataValueError(f"the values of a map are integers: {error}") from None


class Map(mesh.Map):
    """For each element of one set, elements of another. Offsets of extruded sets are not taken."""

    dtype = IntType
    _offset = None
    _offset_quotient = None

    def __new__(
        cls, iterset: Any, toset: Any, arity: Any, values: Any = None, name: Any = None, offset: Any = None, offset_quotient: Any = None
    ) -> Self:
        if offset is not None and len(offset):
            raise NotImplementedError("maps of extruded sets are not supported; leave out `offset`")
        return super().__new__(cls, iterset, toset, arity, _whole(values, getattr(iterset, "total_size", 1)), name)

    def __init__(
        self, iterset: Any, toset: Any, arity: Any, values: Any = None, name: Any = None, offset: Any = None, offset_quotient: Any = None
    ) -> None:
        self.comm = toset.comm
        self.offset = None
        self.offset_quotient = None

    @property
    def arities(self) -> tuple[int, ...]:
        """The arity, as of the only part."""
        return (self.arity,)

    @property
    def arange(self) -> tuple[int, ...]:
        """Where the parts begin and end."""
        return (0, self.arity)

    @property
    def split(self) -> tuple[Self, ...]:
        """Itself, as its only part."""
        return (self,)

    def __str__(self) -> str:
        return f"OP2 Map: {self.name} from ({self.iterset}) to ({self.toset}) with arity {self.arity}"

    def __repr__(self) -> str:
        return f"Map({self.iterset!r}, {self.toset!r}, {self.arity!r}, None, {self.name!r}, None, None)"


class PermutedMap(Map):
    """A map whose values are in another order: the one at `permutation[0]` first."""

    def __new__(cls, map_: Any, permutation: Any) -> Self:
        permutation = np.asarray(permutation, IntType)
        if sorted(permutation.tolist()) != list(range(map_.arity)):
            raise MapValueError(f"a permutation of a map of arity {map_.arity} has the numbers 0 to {map_.arity - 1}, not {permutation}")
        values = map_.values_with_halo[:, permutation]
        return mesh.Map.__new__(cls, map_.iterset, map_.toset, map_.arity, values, f"{map_.name}_permuted")

    def __init__(self, map_: Any, permutation: Any) -> None:
        self.comm = map_.comm
        self.map_ = map_
        self.permutation = np.asarray(permutation, IntType)
        self.offset = self.offset_quotient = None


class ComposedMap(Map):
    """A map of the elements that other maps lead to: `ComposedMap(a, b, c)` leads where `a` leads from where `b` leads from where `c` leads."""

    def __new__(cls, *maps_: Any, name: Any = None) -> Self:
        for after, before in zip(maps_, maps_[1:]):
            if before.toset != after.iterset:
                raise MapTypeError(f"map `{before.name}` leads to `{before.toset.name}`, but `{after.name}` begins at `{after.iterset.name}`")
            if before.arity != 1:
                raise MapTypeError(f"all maps but the first have arity 1, but `{before.name}` has {before.arity}")
        places = maps_[-1].values_with_halo
        for map_ in reversed(maps_[:-1]):
            places = map_.values_with_halo[places[:, 0]]
        name = name or "_".join(map_.name for map_ in maps_)
        return mesh.Map.__new__(cls, maps_[-1].iterset, maps_[0].toset, maps_[0].arity, places, name)

    def __init__(self, *maps_: Any, name: Any = None) -> None:
        self.comm = maps_[0].comm
        self.maps_ = maps_
        self.offset = self.offset_quotient = None
