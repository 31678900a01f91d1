"""PyOP2's maps: those of `parloop.mesh`, with values of floats cut to integers as PyOP2 does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import mesh
from ...errors import DataValueError
from .datatypes import IntType

if TYPE_CHECKING:
    # Only checkers of types need it.
    from typing_extensions import Self

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
    """For each element of one set, elements of another."""

    dtype = IntType

    @property
    def _offset(self) -> Any:
        return self.offset

    @property
    def _offset_quotient(self) -> Any:
        return self.offset_quotient

    def __new__(
        cls, iterset: Any, toset: Any, arity: Any, values: Any = None, name: Any = None, offset: Any = None, offset_quotient: Any = None
    ) -> Self:
        return super().__new__(cls, iterset, toset, arity, _whole(values, getattr(iterset, "total_size", 1)), name, offset, offset_quotient)

    def __init__(
        self, iterset: Any, toset: Any, arity: Any, values: Any = None, name: Any = None, offset: Any = None, offset_quotient: Any = None
    ) -> None:
        self.comm = toset.comm

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
        return f"Map({self.iterset!r}, {self.toset!r}, {self.arity!r}, None, {self.name!r}, {self.offset!r}, {self.offset_quotient!r})"


class PermutedMap(mesh.PermutedMap, Map):
    """A map whose values are in another order: the one at `permutation[0]` first."""

    def __new__(cls, map_: Any, permutation: Any) -> Self:
        return mesh.PermutedMap.__new__(cls, map_, np.asarray(permutation, IntType), f"{map_.name}_permuted")

    def __init__(self, map_: Any, permutation: Any) -> None:
        self.comm = map_.comm


class ComposedMap(mesh.ComposedMap, Map):
    """A map of the elements that other maps lead to: `ComposedMap(a, b, c)` leads where `a` leads from where `b` leads from where `c` leads."""

    def __new__(cls, *maps_: Any, name: Any = None) -> Self:
        return mesh.ComposedMap.__new__(cls, *maps_, name=name or "_".join(map_.name for map_ in maps_))

    def __init__(self, *maps_: Any, name: Any = None) -> None:
        self.comm = maps_[0].comm
