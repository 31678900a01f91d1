"""meshio, which is installed or not, and which prints and exits where an error is due."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import warnings
from collections.abc import Iterator
from typing import Any

from .._parloop import MeshFileError


def require(package: str, what: str) -> Any:
    """The package, or an error that says how to get it."""
    try:
        found = importlib.import_module(package)
    except ImportError:
        raise ImportError(f"{what} needs {package}, which is not installed; pip install parloop[mesh]") from None
    if package == "meshio":
        # meshio 5.3 knows the nodes of these types but not their dimension, and fails on files that have them.
        dimensions = getattr(importlib.import_module("meshio._mesh"), "topological_dimension", {})
        for cell_type in ("pyramid13", "wedge15"):
            dimensions.setdefault(cell_type, 3)
    return found


@contextlib.contextmanager
def translated(verb: str, file: str) -> Iterator[None]:
    """Makes a :exc:`MeshFileError` of whatever goes wrong inside, and Python's warnings of what meshio prints."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            yield
    except ImportError as error:
        install = "parloop[mesh]" if error.name in ("meshio", "h5py") else error.name
        raise ImportError(f"cannot {verb} `{file}`: this format needs {error.name}, which is not installed; pip install {install}") from None
    except (Exception, SystemExit) as error:
        said = _plain(printed.getvalue()) if isinstance(error, SystemExit) else _plain(str(error))
        raise MeshFileError(f"cannot {verb} `{file}`: {said or type(error).__name__}") from error
    if said := _plain(printed.getvalue()):
        warnings.warn(f"meshio, while trying to {verb} `{file}`: {said}", stacklevel=4)


def _plain(text: str) -> str:
    """Text on one line, without marks of colour and words that the message has anyhow."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return re.sub(r"\b(Warning|Error|Info): ", "", " ".join(text.split()))
