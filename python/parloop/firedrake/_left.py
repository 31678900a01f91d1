"""Why a loop is left to PyOP2."""

from __future__ import annotations


class LeftToPyOP2(Exception):
    """Parloop does not take a loop; the text says why, in words that do not differ from loop to loop."""


class OutOfPlace(Exception):
    """The numbers of a matrix cannot be changed where PETSc has them; the text says why."""
