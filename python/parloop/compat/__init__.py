"""Programs written for other packages, run on Parloop unchanged: ``python -m parloop.compat script.py``.

Each module of this package is named after a peer and says in `PROVIDES` which top-level names mean which modules of ours. After
`install()` an import of such a name gives our module, whether or not the peer is installed. Everything else is imported as ever.

>>> import parloop.compat
>>> parloop.compat.provided()["PybindGPU"]
'parloop.gpu'
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import pkgutil
import sys
from collections.abc import Sequence
from types import ModuleType

__all__ = ["install", "installed", "provided"]


@functools.cache
def provided() -> dict[str, str]:
    """The top-level names that are provided, and the module of ours that each means."""
    names: dict[str, str] = {}
    for found in pkgutil.iter_modules(__path__):
        if not found.name.startswith("_"):
            names.update(importlib.import_module(f"{__name__}.{found.name}").PROVIDES)
    return names


class _Alias(importlib.abc.Loader):
    """Puts a module of ours under another name."""

    def __init__(self, ours: str) -> None:
        self.ours = ours

    def exec_module(self, module: ModuleType) -> None:
        # The import system takes what it finds here in place of the empty module it made. Ours keeps its own `__spec__`.
        sys.modules[module.__name__] = importlib.import_module(self.ours)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the names that are provided, and their submodules."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        top, dot, rest = fullname.partition(".")
        ours = self.names.get(top)
        if ours is None or importlib.util.find_spec(ours + dot + rest) is None:
            return None
        return importlib.util.spec_from_loader(fullname, _Alias(ours + dot + rest))


def installed() -> bool:
    """Whether imports of the provided names mean our modules."""
    return any(isinstance(finder, _Finder) for finder in sys.meta_path)


def install() -> None:
    """Makes imports of the provided names mean our modules, from here on in this process."""
    if not installed():
        sys.meta_path.insert(0, _Finder(provided()))
