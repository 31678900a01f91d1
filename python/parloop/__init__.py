"""Parloop: write a kernel once; run it on CPU threads, OpenCL, CUDA and HIP devices.

>>> import numpy as np, parloop as pl
>>> ctx = pl.Context("cpu")
>>> prog = ctx.compile('''
... GPUKERN void axpy(const double a, GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
...     VECTORIZE_OVER(i, n)
...         y[i] += a * x[i];
...     END_VECTORIZE
... }''')
>>> x, y = np.arange(4.0), np.ones(4)
>>> prog.axpy(a=2.0, x=x, y=y, n=x.size)
>>> y
array([1., 3., 5., 7.])
"""

import sys as _sys
import typing as _typing

if _sys.platform != "linux":
    raise ImportError(f"parloop runs on Linux only, and this system is {_sys.platform}")

from . import _parloop
from . import errors as errors
from ._description import Arg as Arg
from ._description import Kernel as Kernel
from ._description import Source as Source
from ._parloop import (
    ArgumentError as ArgumentError,
    Array as Array,
    BoundKernel as BoundKernel,
    Buffer as Buffer,
    CheckError as CheckError,
    Chunk as Chunk,
    CompileError as CompileError,
    CompiledKernel as CompiledKernel,
    Context as Context,
    Device as Device,
    DeviceError as DeviceError,
    Event as Event,
    FftPlan as FftPlan,
    Field as Field,
    KernelNotFoundError as KernelNotFoundError,
    LoopError as LoopError,
    Memory as Memory,
    MeshError as MeshError,
    ObjectError as ObjectError,
    OutOfMemoryError as OutOfMemoryError,
    ParloopError as ParloopError,
    PinnedMemory as PinnedMemory,
    Program as Program,
    Recording as Recording,
    RecordingError as RecordingError,
    Stream as Stream,
    compile_for as compile_for,
    current_context as current_context,
    devices as devices,
    __version__ as __version__,
)
from ._pointer import Pointer as Pointer
from ._profile import Profile as Profile
from ._profile import ProfileRow as ProfileRow
from ._profile import profile as profile
from ._progress import Progress as Progress
from ._progress import progress as progress

__all__ = [
    "Arg", "ArgumentError", "Array", "BoundKernel", "Buffer", "CheckError", "Chunk", "CompileError", "CompiledKernel", "Context", "Device",
    "DeviceError", "Event", "FftPlan", "Field", "Kernel", "KernelNotFoundError", "LoopError", "Memory", "MeshError", "ObjectError",
    "OutOfMemoryError", "ParloopError", "PinnedMemory", "Pointer", "Profile", "ProfileRow", "Program", "Progress", "Recording",
    "RecordingError", "Source", "Stream", "__version__", "compile_for", "current_context", "devices", "errors", "profile", "progress",
]  # fmt: skip

if not _typing.TYPE_CHECKING:  # with it, type checkers would accept any name

    def __getattr__(name: str) -> object:
        if name not in errors.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import warnings

        warnings.warn(f"parloop.{name} is deprecated; use parloop.errors.{name}", DeprecationWarning, stacklevel=2)
        return getattr(errors, name)


_parloop.add_package_folders([folder for folder in _sys.path if folder.endswith("-packages")])


def _give_pocl_a_cache() -> None:
    """PoCL has no devices where it cannot write compiled kernels; then they go to a folder that lasts as long as the process."""
    import os

    if os.environ.get("POCL_CACHE_DIR") or _parloop._unwritable_pocl_cache() is None:
        return
    import atexit
    import shutil
    import tempfile

    try:
        folder = tempfile.mkdtemp(prefix="parloop-pocl-")
    except OSError:
        return
    os.environ["POCL_CACHE_DIR"] = folder
    process = os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == process else None)


_give_pocl_a_cache()


def _warn_of_unknown_variables() -> None:
    names = _parloop.unknown_variables()
    if names:
        import warnings

        warnings.warn(f"environment variables that parloop does not know have no effect: {', '.join(names)}", stacklevel=3)


_warn_of_unknown_variables()
