"""Small things that programs written for loopy use."""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

__all__ = ["LoopyKeyBuilder", "Optional", "is_integer", "memoize_on_disk"]

_F = TypeVar("_F", bound=Callable[..., Any])


def is_integer(value: object) -> bool:
    """Whether it is an integer."""
    return isinstance(value, (int, np.integer))


class _Missing:
    """Stands for a value that is not there."""

    def __reduce__(self) -> str:
        return "_MISSING"


_MISSING = _Missing()


class Optional:
    """A value that may not be there."""

    def __init__(self, value: object = _MISSING) -> None:
        self.has_value = value is not _MISSING
        self._value = value

    @property
    def value(self) -> object:
        """The value."""
        if not self.has_value:
            raise AttributeError("there is no value")
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Optional) and self.has_value == other.has_value and self._value == other._value

    def __hash__(self) -> int:
        return hash((self.has_value, self._value))

    def __repr__(self) -> str:
        return f"Optional({self._value!r})" if self.has_value else "Optional()"

    def update_persistent_hash(self, key_hash: Any, key_builder: Any) -> None:
        """Adds what it is to a key of a cache on disk."""
        key_builder.rec(key_hash, (self._value,) if self.has_value else ())


_KeyBuilder: Any = importlib.import_module("pytools.persistent_dict").KeyBuilder if importlib.util.find_spec("pytools") else object


class LoopyKeyBuilder(_KeyBuilder):  # type: ignore[misc]
    """Makes keys of caches on disk: pytools' own, which knows programs by their texts."""


def memoize_on_disk(function: _F, key_builder_t: Any = LoopyKeyBuilder) -> _F:
    """A function whose results are kept on disk, and found again for equal arguments in later processes.

    Its source is part of the key, so that another version of it is another function. Arguments and results must be picklable.
    """
    source = inspect.getsource(function)

    @functools.wraps(function)
    def kept(*args: Any, **named: Any) -> Any:
        key = (function.__module__, function.__qualname__, source, args, sorted(named.items()))
        path = _directory() / hashlib.sha256(pickle.dumps(key, protocol=4)).hexdigest()
        if path.exists():
            with path.open("rb") as file:
                return pickle.load(file)
        result = function(*args, **named)
        # Written whole before it gets its name, so that nobody reads half of it.
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as whole:
            pickle.dump(result, whole, protocol=4)
        os.replace(whole.name, path)
        return result

    return kept  # type: ignore[return-value]


def _directory() -> Path:
    caches = os.environ.get("PARLOOP_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    found = Path(caches) / "parloop" / "memoized"
    found.mkdir(parents=True, exist_ok=True, mode=0o700)
    return found
