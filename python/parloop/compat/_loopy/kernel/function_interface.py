"""Functions that kernels call."""

from ....loops import (
    ArrayArgDescriptor as ArrayArgDescriptor,
    Kernel as CallableKernel,
    ScalarCallable as ScalarCallable,
    ValueArgDescriptor as ValueArgDescriptor,
)

__all__ = ["ArrayArgDescriptor", "CallableKernel", "ScalarCallable", "ValueArgDescriptor"]
