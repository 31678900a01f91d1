"""Functions in C, compiled and ready to be called."""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterable
from typing import Any

from ... import compile_for
from .caching import memory_cache
from .configuration import configuration
from .exceptions import CompilationError
from .libraries import load_libraries
from .mpi import COMM_WORLD

__all__ = ["load"]

#: PyOP2 compiles with -ffast-math. Of that, sums may be computed in another order; infinities, NaNs and small numbers keep their meaning.
_MATH = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")
_NUMBERS = itertools.count()
_FOLDERS: list[str] = []


def _folder() -> str:
    """The folder of this process's libraries, which goes with it."""
    if not _FOLDERS:
        _FOLDERS.append(tempfile.mkdtemp(prefix="parloop-pyop2-"))
        atexit.register(shutil.rmtree, _FOLDERS[0], ignore_errors=True)
    return _FOLDERS[0]


@memory_cache()
def _library(code: str, arguments: tuple[str, ...], comm: Any) -> str:
    """The path of a shared library with the functions of some C."""
    path = os.path.join(_folder(), f"{next(_NUMBERS)}.so")
    with open(path, "xb") as file:
        file.write(compile_for("cpu", "", code, arguments=arguments))
    return path


def load(
    jitmodule: Any, extension: str, fn_name: str, cppargs: Iterable[str] = (), ldargs: Iterable[str] = (), argtypes: Any = None,
    restype: Any = None, comm: Any = None,
) -> Any:  # fmt: skip
    """A function of C source, compiled by the system's C compiler, as one of ctypes.

    The same source is compiled once in a process. Sums may be computed in another order (``-fassociative-math``). `cppargs` and the setting `cflags` go to the compiler; the libraries that `ldargs` and the
    setting `ldflags` name are loaded into the process. Source in C++ and PyOP2's own code objects are not taken.

    >>> import ctypes
    >>> from parloop.compat._pyop2.compilation import load
    >>> twice = load("double twice(double x) { return 2 * x; }", "c", "twice", argtypes=[ctypes.c_double], restype=ctypes.c_double)
    >>> twice(21)
    42.0
    """
    if not isinstance(jitmodule, str):
        raise ValueError(f"C source as text is needed, not an object of type {type(jitmodule).__name__}")
    if extension != "c":
        raise CompilationError(f"source with the extension {extension!r} is not supported; only C, extension 'c', is")
    load_libraries([*ldargs, *shlex.split(configuration["ldflags"])])
    arguments = (*_MATH, *cppargs, *shlex.split(configuration["cflags"]))
    library = ctypes.CDLL(_library(jitmodule, arguments, COMM_WORLD if comm is None else comm))
    try:
        function = getattr(library, fn_name)
    except AttributeError:
        raise CompilationError(f"the source has no function `{fn_name}` that others can call; is its name right, and is it not static?") from None
    function.argtypes, function.restype = argtypes, restype
    return function
