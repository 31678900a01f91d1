"""By xobjects' name: see `context`."""

from .context import ContextPyopencl as ContextPyopencl
