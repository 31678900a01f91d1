"""``python -m parloop.compat script.py``: runs a program with our modules under the names of their peers."""

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

from . import install, provided

_USAGE = """\
usage: python -m parloop.compat [--only name,...] script.py [argument ...]
       python -m parloop.compat [--only name,...] -m module [argument ...]

Runs a Python program unchanged, with Parloop in place of the packages it was written for.
{provided}
--only takes the names that are to be replaced; the others are imported as ever.

Example: a script that begins with `import PybindGPU`, and a test suite

    python -m parloop.compat roundtrip.py
    python -m parloop.compat -m pytest tests/
"""


def _usage() -> str:
    lines = (f"    import {name:<12} is {module}\n" for name, module in sorted(provided().items()))
    return _USAGE.format(provided="".join(lines))


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


def _run_module(arguments: list[str]) -> int:
    if not arguments:
        print("parloop.compat: -m needs the name of a module", file=sys.stderr)
        return 2
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


def _run_script(arguments: list[str]) -> int:
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


def _chosen(arguments: list[str]) -> tuple[list[str] | None, list[str]]:
    """The names after `--only`, None without it, and the other arguments."""
    option, equals, names = arguments[0].partition("=")
    if option != "--only":
        return None, arguments
    if not equals:
        names = arguments[1] if len(arguments) > 1 else ""
    return [name for name in names.split(",") if name], arguments[1 if equals else 2 :]


def _wrong(reason: str) -> int:
    print(f"parloop.compat: {reason}\n\n{_usage()}", end="", file=sys.stderr)
    return 2


def main(arguments: list[str]) -> int:
    """Runs the program that the arguments name and returns its exit status."""
    if arguments and arguments[0] in ("-h", "--help"):
        print(_usage(), end="")
        return 0
    only, arguments = _chosen(arguments) if arguments else (None, arguments)
    if only == []:
        return _wrong("--only needs the names that are to be replaced")
    if not arguments:
        print(_usage(), end="", file=sys.stderr)
        return 2
    if arguments[0] != "-m" and arguments[0].startswith("-"):
        return _wrong(f"unknown option {arguments[0]}")
    try:
        install(*(only or ()))
    except ValueError as error:
        return _wrong(str(error))
    except ImportError as error:
        print(f"parloop.compat: {error}", file=sys.stderr)
        return 1
    return _run_module(arguments[1:]) if arguments[0] == "-m" else _run_script(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
