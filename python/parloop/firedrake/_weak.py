"""What is known about objects of others, for as long as they live and no longer."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class ByIdentity(Generic[T]):
    """A value for each object, known by the object itself and not by what it is equal to.

    An entry goes with its object. A value must not hold the object, or both stay.
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[weakref.ref[Any], T]] = {}

    def get(self, key: Any) -> T | None:
        """The value of an object, if there is one."""
        entry = self._entries.get(id(key))
        return entry[1] if entry is not None and entry[0]() is key else None

    def set(self, key: Any, value: T) -> T:
        """Keeps a value for an object."""
        number, entries = id(key), self._entries

        def forget(reference: weakref.ref[Any]) -> None:
            # Another object may have got the number by now.
            if (entry := entries.get(number)) is not None and entry[0] is reference:
                del entries[number]

        entries[number] = (weakref.ref(key, forget), value)
        return value

    def setdefault(self, key: Any, make: Callable[[], T]) -> T:
        """The value of an object, made where there is none."""
        found = self.get(key)
        return self.set(key, make()) if found is None else found

    def pop(self, key: Any) -> None:
        """Forgets an object."""
        if self.get(key) is not None:
            del self._entries[id(key)]

    def __len__(self) -> int:
        return len(self._entries)
