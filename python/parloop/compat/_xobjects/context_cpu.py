"""By xobjects' name: see `context`."""

from .context import ContextCpu as ContextCpu
from .context import Buffer as BufferByteArray
from .context import Buffer as BufferNumpy

__all__ = ["BufferByteArray", "BufferNumpy", "ContextCpu"]
