"""Values of objects as short text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: A value is cut to this many characters, and this many of all fields are shown.
_VALUE, _ALL = 48, 160


def shown(value: Any) -> str:
    """A value in one line; the middle of long arrays, and the end of long text, is left out."""
    if hasattr(value, "to_nparray") and isinstance(getattr(value, "_shape", None), tuple):
        try:
            value = value.to_nparray()
        except (TypeError, ValueError):
            pass
    if isinstance(value, np.ndarray) or hasattr(value, "numpy"):
        host = value if isinstance(value, np.ndarray) else value.numpy()
        text = np.array2string(host, threshold=6, edgeitems=2, separator=", ", max_line_width=10**6).replace("\n", "")
    else:
        text = " ".join(repr(value).split())
    return text if len(text) <= _VALUE else f"{text[: _VALUE - 1]}…"


def shortened(fields: Sequence[tuple[str, Any]]) -> str:
    """Fields with their values, as many as have room.

    >>> shortened([("n", 3), ("x", np.arange(100.0))])
    'n=3, x=[ 0.,  1., ..., 98., 99.]'
    """
    parts: list[str] = []
    for number, (name, value) in enumerate(fields):
        part = f"{name}={shown(value)}"
        if parts and sum(map(len, parts)) + len(part) > _ALL:
            return f"{', '.join(parts)}, … {len(fields) - number} more"
        parts.append(part)
    return ", ".join(parts)
