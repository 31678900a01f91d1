"""By xobjects' name: see `context`."""

from .context import ContextCpu as ContextCpu
from .context import XBuffer as BufferByteArray
from .context import XBuffer as BufferNumpy
from .kernel import BuiltKernel as KernelCpu

__all__ = ["BufferByteArray", "BufferNumpy", "ContextCpu", "KernelCpu"]
