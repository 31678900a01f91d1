"""Programs written for other packages, run on Parloop unchanged: ``python -m parloop.compat script.py``.

Each module of this package is named after a peer and says in `PROVIDES` which top-level names mean which modules of ours. After
`install()` an import of such a name gives our module, whether or not the peer is installed. Everything else is imported as ever.
`install("pyop2", "xobjects")` and `--only pyop2,xobjects` choose among them.

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
def _by_peer() -> dict[str, dict[str, str]]:
    """What each module of this package provides, by the module's name."""
    peers = (found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_"))
    return {peer: importlib.import_module(f"{__name__}.{peer}").PROVIDES for peer in peers}


def provided(*names: str) -> dict[str, str]:
    """The top-level names that are provided, and the module of ours that each means; of these peers, or of all.

    >>> import parloop.compat
    >>> parloop.compat.provided("xobjects")
    {'xobjects': 'parloop.compat._xobjects'}
    """
    chosen: dict[str, str] = {}
    for name in names:
        found = next((provides for peer, provides in _by_peer().items() if name == peer or name in provides), None)
        if found is None:
            known = ", ".join(sorted(provided()))
            raise ValueError(f"parloop.compat does not provide {name!r}; it provides {known}")
        chosen.update(found)
    if names:
        return chosen
    return {name: module for provides in _by_peer().values() for name, module in provides.items()}


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


def _finder() -> _Finder | None:
    return next((finder for finder in sys.meta_path if isinstance(finder, _Finder)), None)


def installed() -> dict[str, str]:
    """The names whose imports mean our modules in this process, and these modules; nothing before `install`."""
    finder = _finder()
    return {} if finder is None else dict(finder.names)


def install(*names: str) -> None:
    """Makes imports mean our modules, from here on in this process: of these peers, or of all that are provided.

    Further calls add to what is there. A peer that was imported before cannot be replaced; then nothing is.

    Raises
    ------
    ValueError
        For a name that is not provided.
    ImportError
        Where one of the names that are to be replaced was imported as another module before.
    """
    chosen = provided(*names)
    for name, ours in chosen.items():
        present = sys.modules.get(name)
        if present is not None and present.__name__ != ours:
            origin = getattr(present, "__file__", None) or "elsewhere"
            hint = f"call parloop.compat.install({', '.join(map(repr, names))}) first"
            if not names:
                hint += ", or give it the names that are to be replaced"
            raise ImportError(f"{name} was imported from {origin} before; {hint}", name=name)
    finder = _finder()
    if finder is None:
        finder = _Finder({})
        sys.meta_path.insert(0, finder)
    finder.names.update(chosen)
