"""Small things that programs written for loopy use."""

from __future__ import annotations

import numpy as np


def is_integer(value: object) -> bool:
    """Whether it is an integer."""
    return isinstance(value, (int, np.integer))


class Optional:
    """A value that may not be there."""

    _missing = object()

    def __init__(self, value: object = _missing) -> None:
        self.has_value = value is not Optional._missing
        self._value = value

    @property
    def value(self) -> object:
        """The value."""
        if not self.has_value:
            raise AttributeError("there is no value")
        return self._value
