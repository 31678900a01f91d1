"""Numbers as text: the middle of long arrays is left out, as NumPy does it, and is not fetched from the device."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ._parloop import Array

__all__ = ["array", "of_array", "text"]

#: Up to this many elements are shown, and this many at each end of longer axes.
WHOLE, EDGE = 1000, 3


def text(values: np.ndarray[Any, Any], is_whole: bool, prefix: str = "", separator: str = " ") -> str:
    """Elements as NumPy prints them. Those that are not all are what `of_array` gives.

    >>> text(np.arange(7), False, separator=", ")
    '[0, 1, 2, ..., 4, 5, 6]'
    """
    width = np.get_printoptions()["linewidth"] + len(prefix)
    threshold = values.size if is_whole else 0
    return np.array2string(values, max_line_width=width, threshold=threshold, edgeitems=EDGE, prefix=prefix, separator=separator)


def array(x: Array, prefix: str) -> str:
    """The elements of an array as text that begins behind the prefix."""
    return text(*of_array(x), prefix)


def of_array(x: Array | np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], bool]:
    """The elements that are shown of an array, and whether these are all. An axis of seven stands for a longer one, of whose middle it has one."""
    if isinstance(x, np.ndarray):
        return (x, True) if x.size <= WHOLE else (x[np.ix_(*(range(n) if n <= 2 * EDGE else (*range(EDGE + 1), *range(n - EDGE, n)) for n in x.shape))], False)
    if x.size <= WHOLE:
        return x.__array__(copy=True), True
    out = np.zeros([min(length, 2 * EDGE + 1) for length in x.shape], x.dtype)
    rows, last = x.shape[:-1], _ends(x.shape[-1])
    # What lies between the elements of a part is read too, so that only neighbours are read together.
    together = x.strides[-1] == x.dtype.itemsize
    parts = [last[:EDGE], last[EDGE:]] if together and x.shape[-1] > 2 * EDGE else [last] if together else [[place] for place in last]
    for row in itertools.product(*(_ends(length) for length in rows)):
        for part in parts:
            (to, begin), (_, end) = part[0], part[-1]
            index = (*(slice(found, found + 1) for _, found in row), slice(begin, end + 1))
            place: tuple[Any, ...] = (*(at for at, _ in row), slice(to, to + len(part)))
            out[place] = x[index].__array__(copy=True).reshape(-1)
    return out, False


def _ends(length: int) -> list[tuple[int, int]]:
    """The indices of an axis that are shown, each after its index among them."""
    if length <= 2 * EDGE:
        return [(at, at) for at in range(length)]
    return [(at, at) for at in range(EDGE)] + [(EDGE + 1 + at, length - EDGE + at) for at in range(EDGE)]
