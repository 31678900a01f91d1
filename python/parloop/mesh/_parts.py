"""Things that consist of parts: a tuple with a type of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar, overload

Part = TypeVar("Part")


def listed(parts: Any, what: str, error: type[Exception]) -> list[Any]:
    """The parts that were given, of which there is at least one."""
    if isinstance(parts, (str, bytes)) or not isinstance(parts, Iterable):
        raise error(f"{what} needs several parts, not {kind(parts)}; pass a list")
    found = list(parts)
    if not found:
        raise error(f"{what} needs at least one part; the list is empty")
    return found


def kind(given: object) -> str:
    """What an object is, for messages."""
    return f"{given!r}" if isinstance(given, (str, bytes, int, float)) or given is None else f"an object of type {type(given).__name__}"


class Parts(Generic[Part]):
    """Parts in their order. Two are equal if they have the same class and equal parts."""

    _parts: tuple[Part, ...]

    @property
    def split(self) -> tuple[Part, ...]:
        """The parts as a tuple."""
        return self._parts

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts)

    @overload
    def __getitem__(self, index: int) -> Part: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Part, ...]: ...
    def __getitem__(self, index: int | slice) -> Part | tuple[Part, ...]:
        return self._parts[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parts) and type(self) is type(other) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash((type(self), self._parts))

    def __repr__(self) -> str:
        return f"{type(self).__name__}([{', '.join(map(repr, self._parts))}])"
