"""PETSc's types of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

ScalarType = np.float64
RealType = np.float64
IntType = np.int32


def __getattr__(name: str) -> Any:
    raise AttributeError(f"PETSc.{name} is not available: petsc4py is not installed, and only its types of numbers have a stand-in")
