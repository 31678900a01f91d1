"""What programs written for PyOP2 import: sets, maps, data, kernels and parallel loops."""

import importlib.util

PROVIDES = {"pyop2": "parloop.compat._pyop2"}

# PyOP2 needs PETSc, and its programs import it for its types of numbers. Where it is installed it is left alone.
if importlib.util.find_spec("petsc4py") is None:
    PROVIDES["petsc4py"] = "parloop.compat._petsc4py"
