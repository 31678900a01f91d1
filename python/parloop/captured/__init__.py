"""Loops of programs in a file: with their kernels, sets, maps and data, and with the numbers that they gave.

A capture is written by a program (`parloop.firedrake.capture`) and run again anywhere, without what made it: ``parloop rerun assembly.plz
--device cuda:0`` runs each loop, compares the numbers with those of the file, and prints times. The format is described in docs/guides/captures.md.

A capture has kernels in C, which are compiled and run: rerun only captures that you trust, as you would a program.
"""

from ._format import CaptureError as CaptureError
from ._rerun import Outcome as Outcome
from ._rerun import rerun as rerun
from ._write import Writer as Writer

__all__ = ["CaptureError", "Outcome", "Writer", "rerun"]
