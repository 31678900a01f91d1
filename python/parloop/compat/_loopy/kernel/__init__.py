"""Kernels."""

import enum

from ..translation_unit import LoopKernel as LoopKernel


class KernelState(enum.IntEnum):
    """The stage of compilation that a kernel has reached; it is ignored here."""

    INITIAL = 0
    CALLS_RESOLVED = 1
    PREPROCESSED = 2
    LINEARIZED = 3
