"""Attributes that are probably misspelt fields."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .._parloop import UnknownFieldError


def _edits(a: str, b: str) -> int:
    """How many characters must be inserted, removed, replaced or exchanged with their neighbour to make one of the other."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        earlier, before, row = before, row, [i + 1]
        for j, y in enumerate(b):
            row.append(min(before[j] + (x != y), before[j + 1] + 1, row[j] + 1))
            if i and j and x == b[j - 1] and y == a[i - 1]:
                row[-1] = min(row[-1], earlier[j - 1] + 1)
    return row[-1]


def misspelt(name: str, fields: Iterable[str]) -> str | None:
    """The field that was probably meant by a name that is not one.

    One edit away for names of four or five characters, two for longer ones. Names that differ in digits only (`k1`, `k2`) are different
    names.

    >>> misspelt("lenght", ["length", "x"]), misspelt("k1l", ["k0l"]), misspelt("y", ["x"])
    ('length', None, None)
    """
    found: list[tuple[int, str]] = []
    for field in fields:
        shorter = min(len(name), len(field))
        limit = 2 if shorter >= 6 else 1
        if shorter < 4 or abs(len(name) - len(field)) > limit or re.sub(r"\d", "", name) == re.sub(r"\d", "", field):
            continue
        edits = _edits(name.casefold(), field.casefold())
        if edits <= limit:
            found.append((edits, field))
    return min(found)[1] if found else None


def check_name(item: Any, name: str, fields: Iterable[str]) -> None:
    """Refuses to set an attribute that is probably a misspelt field.

    Private names, attributes of the class, and attributes that the object has already are never refused.
    """
    if name.startswith("_") or name in item.__dict__ or hasattr(type(item), name):
        return
    meant = misspelt(name, fields)
    if meant is not None:
        kind = type(item).__name__
        raise UnknownFieldError(
            f"{kind} has no field `{name}`; did you mean `{meant}`? (for an attribute of that name, write `{name} = None` in the class body)"
        )


def check(item: Any, name: str) -> None:
    """As `check_name`, for a struct."""
    check_name(item, name, item._field_names)
