"""The types of numbers that programs written for PyOP2 ask PETSc for. Vectors, matrices and solvers are not here."""

from . import PETSc as PETSc

__all__ = ["PETSc"]
