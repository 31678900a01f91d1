"""Names of sets, maps and regions, and messages that suggest the one that was meant."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

Value = TypeVar("Value")


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """What to say about a name that is not known."""
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    meant = f'; did you mean "{near[0]}"?' if near else ""
    return f"unknown {what} {_quoted(name)}{meant} ({', '.join(names) if names else 'there are none'})"


def _quoted(name: object) -> str:
    return f'"{name}"' if isinstance(name, str) else repr(name)


class Named(Mapping[str, Value]):
    """A read-only mapping that finds values when they are first asked for."""

    def __init__(self, names: Callable[[], Iterable[str]], find: Callable[[str], Value]) -> None:
        self._names, self._find = names, find

    def __getitem__(self, name: str) -> Value:
        return self._find(name)

    def __contains__(self, name: object) -> bool:
        return name in list(self._names())

    def get(self, name: str, default: Value | None = None) -> Value | None:  # type: ignore[override]
        """The value, or a default for an unknown name."""
        return self._find(name) if name in self else default

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(list(self._names()))

    def __repr__(self) -> str:
        return f"<{', '.join(self._names())}>"
