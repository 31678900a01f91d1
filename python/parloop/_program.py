"""Running another Python program in this process, as `python script.py` and `python -m module` do."""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import io
import os
import runpy
import sys
import types
import zipfile
from collections.abc import Callable
from types import TracebackType
from typing import Any


def _own_frames(frame: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this file and of `runpy`, which a program run by python itself does not have."""
    hidden = {__file__, runpy.__file__, "<frozen runpy>"}
    while frame is not None and frame.tb_frame.f_code.co_filename in hidden:
        frame = frame.tb_next
    return frame


def _run(program: Callable[[], Any]) -> int:
    try:
        program()
    except SystemExit:
        raise
    except BaseException as error:
        trace = _own_frames(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def run_module(arguments: list[str]) -> int:
    """Runs the module that the first argument names, with the others as its own, and returns the exit status."""
    name = arguments[0]
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None:
        print(f"{sys.executable}: No module named {name}", file=sys.stderr)
        return 1
    sys.argv[:] = arguments
    return _run(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))


def _run_source(path: str) -> None:
    """Runs a file as python does: in a module that stays `__main__`, with the path in full. `runpy` does neither."""
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=builtins, __loader__=loader, __cached__=None)
    sys.modules["__main__"] = module
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, module.__dict__)


def run_script(arguments: list[str]) -> int:
    """Runs the file that the first argument names, with the others as its own, and returns the exit status."""
    script = arguments[0]
    if not os.path.exists(script):
        print(f"{sys.executable}: can't open file {os.path.abspath(script)!r}: [Errno 2] No such file or directory", file=sys.stderr)
        return 2
    sys.argv[:] = arguments
    if os.path.isfile(script) and not getattr(sys.flags, "safe_path", False):
        # Where this module was run from goes, and the script's folder takes its place.
        sys.path[0] = os.path.dirname(os.path.realpath(script))
    if script.endswith(".pyc") or os.path.isdir(script) or zipfile.is_zipfile(script):
        return _run(lambda: runpy.run_path(script, run_name="__main__"))
    return _run(lambda: _run_source(os.path.abspath(script)))
