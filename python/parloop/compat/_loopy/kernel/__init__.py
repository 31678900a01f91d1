"""Kernels."""

import enum

from ..translation_unit import LoopKernel as LoopKernel


class KernelState(enum.IntEnum):
    """How far a kernel has come; here it says nothing."""

    INITIAL = 0
    CALLS_RESOLVED = 1
    PREPROCESSED = 2
    LINEARIZED = 3
