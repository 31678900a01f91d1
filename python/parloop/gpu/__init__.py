"""Light control of a GPU around device code of your own: the names of PyGPU (PybindGPU).

Devices are CUDA's where there is one, else HIP's, else the CPU: one device, number 0, on which everything works in host memory. All
is in the primary context, beside CUDA's runtime, CuPy and PyTorch.

No call raises for a device's error: one with nothing to return gives a `cudaError_t`, one with a value gives `(value, cudaError_t)`,
and arrays keep it for `last_status()`. Mistakes in the program, such as a buffer of another type, do raise.

>>> import ctypes, numpy
>>> from parloop.gpu import DeviceArray_int64, cudaGetDevice, cudaSetDevice
>>> cudaSetDevice(0)
<cudaError: code=0>
>>> cudaGetDevice()
(0, <cudaError: code=0>)
>>> A = numpy.array([1, 2, 3, 4, 5, 6])
>>> da = DeviceArray_int64(A)            # the host side is A
>>> da.allocate(), da.to_device()
(<cudaError: code=0>, <cudaError: code=0>)
>>> pointer = da.device_data()           # for device code: as it is to ctypes, int(pointer) to others
>>> ctypes.c_void_p(int(pointer)).value == pointer._as_parameter_.value
True
>>> da.to_host()
<cudaError: code=0>
"""

from __future__ import annotations

from typing import Any

from . import backend, gpuarray
from .backend import *  # noqa: F403 - the names of backend.__all__
from .gpuarray import SUPPORTED_DTYPES, Allocator, GPUArray, to_gpu

__all__ = [*backend.__all__, "SUPPORTED_DTYPES", "Allocator", "GPUArray", "backend", "gpuarray", "to_gpu"]


def __getattr__(name: str) -> Any:
    return getattr(backend, name)
