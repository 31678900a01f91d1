"""By xobjects' name: see `context`."""

from typing import Any

import numpy as np

from parloop.objects import LinkedArray as LinkedArrayCpu

from .context import ContextCpu as ContextCpu
from .context import XBuffer as BufferByteArray
from .context import XBuffer as BufferNumpy
from .kernel import BuiltKernel as KernelCpu
from .scalar import _scalars

__all__ = ["BufferByteArray", "BufferNumpy", "ContextCpu", "KernelCpu", "LinkedArrayCpu"]


def dtype2ctype(dtype: Any) -> str:
    """The name in C of a type of NumPy's."""
    name = np.dtype(dtype).name
    return next(str(scalar._c_type) for scalar in _scalars.values() if scalar._dtype.name == name)


def nplike_to_numpy(array: Any) -> Any:
    """A copy as a NumPy array."""
    return np.array(array)


def cdef_from_kernel(kernel: Any, pyname: str | None = None) -> str:
    """The prototype of a described kernel."""
    returned = "void" if kernel.ret is None else kernel.ret.get_c_type()
    return f"{returned} {kernel.c_name or pyname}({','.join(arg.get_c_type() for arg in kernel.args)});"
