"""``python -m parloop.firedrake script.py``: runs a program of Firedrake's with its loops on Parloop."""

from __future__ import annotations

import argparse
import sys

from .. import ParloopError
from .._program import run_module, run_script
from . import capture, report, stop, use

_EPILOG = """\
Runs the program unchanged. PyOP2 runs the loops that Parloop cannot; --report lists them at the end, with the reasons.

    python -m parloop.firedrake --device cpu:4 --report poisson.py
    python -m parloop.firedrake -m pytest tests/
"""


def main(arguments: list[str]) -> int:
    """Runs the program that the arguments name and returns its exit status."""
    parser = argparse.ArgumentParser("python -m parloop.firedrake", epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="device to run the loops on: cpu, cpu:4 (four threads), cuda:0, … (default: cpu)")
    parser.add_argument("--report", action="store_true", help="print which loops ran where, when the program ends")
    parser.add_argument("--capture", metavar="FILE", help="write the loops to a file that `parloop rerun` can run")
    parser.add_argument("-m", dest="is_module", action="store_true", help="the program is a module")
    parser.add_argument("program", help="a script, or with -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")
    said = parser.parse_args(arguments)
    program = [said.program, *said.arguments]
    sys.argv[:] = program
    try:
        use(said.device)
        if said.capture is not None:
            capture(said.capture)
    except (ParloopError, ImportError, RuntimeError, OSError) as error:
        print(f"parloop.firedrake: {error}", file=sys.stderr)
        return 1
    try:
        return run_module(program) if said.is_module else run_script(program)
    finally:
        if said.report:
            print(report(), file=sys.stderr)
        stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
