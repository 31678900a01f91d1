"""Arguments of loops, with the names that PyOP2 has for what they are made of."""

from __future__ import annotations

from typing import Any

from ... import mesh

__all__ = ["Arg", "native_arguments"]


class Arg:
    """Which data a loop gets, through which map, and what is done with it."""

    __slots__ = ("access", "data", "lgmaps", "map_", "native")

    def __init__(self, native: mesh.Arg, data: Any, access: Any, map_: Any = None, lgmaps: Any = None) -> None:
        self.native, self.data, self.access, self.map_, self.lgmaps = native, data, access, map_, lgmaps

    @property
    def map(self) -> Any:
        """As `map_`."""
        return self.map_

    @property
    def maps(self) -> tuple[Any, ...]:
        """The maps: two of a matrix, one of other data, or none."""
        return tuple(self.map_) if isinstance(self.map_, tuple) else () if self.map_ is None else (self.map_,)

    @property
    def dtype(self) -> Any:
        """The type of the numbers."""
        return self.data.dtype

    def __repr__(self) -> str:
        return repr(self.native)


def native_arguments(args: tuple[Any, ...]) -> list[Any]:
    """The arguments that loops of `parloop.mesh` take."""
    return [arg.native if isinstance(arg, Arg) else arg for arg in args]
