"""PyOP2's names for loops over meshes. `python -m parloop.compat` makes ``import pyop2`` mean this package."""

from .op2 import *  # noqa: F403

__version__ = "2024.10"
__version_info__ = (2024, 10)
