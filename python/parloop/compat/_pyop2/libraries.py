"""Libraries that kernels and functions in C call: what a linker is told, done by loading them into the process."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from collections.abc import Iterable
from pathlib import Path

from .exceptions import CompilationError

__all__ = ["load_libraries"]


def load_libraries(ldargs: Iterable[str]) -> None:
    """Makes the functions of libraries known to code that is loaded later.

    ``-lname`` loads a library, searched for in the folders of ``-Lfolder`` first; a path of a shared library loads that file. ``-Wl,-rpath``
    is taken for ``-L``. Anything else is an error.
    """
    folders: list[str] = []
    names: list[str] = []
    arguments = iter(ldargs)
    for argument in arguments:
        flag, value = argument[:2], argument[2:]
        if flag in ("-L", "-l"):
            (folders if flag == "-L" else names).append(value or next(arguments, ""))
        elif argument.startswith("-Wl,-rpath,"):
            folders.append(argument.removeprefix("-Wl,-rpath,"))
        elif not argument.startswith("-") and ".so" in Path(argument).name:
            names.append(argument)
        else:
            raise CompilationError(f"linker argument {argument!r} is not supported; give -lname, -Lfolder or the path of a shared library")
    for name in names:
        _load(name, folders)


def _load(name: str, folders: list[str]) -> None:
    beside = [os.path.join(folder, f"lib{name}.so") for folder in folders]
    given = [name] if os.sep in name or ".so" in name else [path for path in beside if os.path.exists(path)]
    found = given[0] if given else ctypes.util.find_library(name)
    if found is None:
        raise CompilationError(f"library {name!r} was not found{' in ' + ', '.join(folders) if folders else ''}; install it, or name its folder with -L")
    try:
        ctypes.CDLL(found, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise CompilationError(f"library {name!r} cannot be loaded: {error}") from None
