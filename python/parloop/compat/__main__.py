"""``python -m parloop.compat script.py``: runs a program with our modules under the names of their peers."""

from __future__ import annotations

import sys

from .._program import run_module, run_script
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
    if arguments == ["-m"]:
        print("parloop.compat: -m needs the name of a module", file=sys.stderr)
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
    return run_module(arguments[1:]) if arguments[0] == "-m" else run_script(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
