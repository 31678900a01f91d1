"""Names of sets, maps and regions, and messages that suggest the one that was meant."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from .._parloop import NameTypeError

Value = TypeVar("Value")


def check_name(what: str, name: object) -> None:
    """Refuse names that are not text."""
    if not isinstance(name, str):
        raise NameTypeError(f"the name of a {what} must be a string, not an object of type {type(name).__name__}")


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """What to say about a name that is not known."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    meant = f'; did you mean "{near[0]}"?' if near else ""
    return f'unknown {what} "{name}"{meant} ({", ".join(names) or "there are none"})'


class Named(Mapping[str, Value]):
    """A read-only mapping that computes values at first use."""

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
