"""Everything but `GPUArray`: device control, streams, events, two-sided arrays, pointers and allocators."""

from __future__ import annotations

from typing import Any

from . import _device
from ._allocator import ALLOCATORS
from ._device import (
    cudaDeviceProp,
    cudaDeviceReset,
    cudaDeviceSynchronize,
    cudaGetDevice,
    cudaGetDeviceCount,
    cudaSetDevice,
)
from ._device_array import ARRAYS
from ._dtype import dtype
from ._nvml import nvmlDevice, nvmlInit, nvmlShutdown
from ._pointer import POINTERS, pointer_wrapper
from ._status import (
    cudaError_t,
    cudaGetErrorName,
    cudaGetErrorString,
    cudaGetLastError,
    cudaPeekAtLastError,
    nvmlReturn_t,
)
from ._stream import (
    cudaEvent_t,
    cudaEventElapsedTime,
    cudaEventQuery,
    cudaEventRecord,
    cudaEventSynchronize,
    cudaStream_t,
    cudaStreamQuery,
    cudaStreamSynchronize,
    cudaStreamWaitEvent,
)

# The version of PybindGPU whose names these are.
major_version = 0
minor_version = 2
release_version = 1

_TYPED: dict[str, type] = {
    **ARRAYS,
    **ALLOCATORS,
    **{kind.__name__: kind for kind in POINTERS.values()},
    # The shorter name that PybindGPU gives the same classes.
    **{f"ptr_wrapper_{name}": kind for name, kind in POINTERS.items()},
}
globals().update(_TYPED)

__all__ = [
    "cudaDeviceProp",
    "cudaDeviceReset",
    "cudaDeviceSynchronize",
    "cudaError_t",
    "cudaEventElapsedTime",
    "cudaEventQuery",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaEvent_t",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaSetDevice",
    "cudaStreamQuery",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
    "cudaStream_t",
    "dtype",
    "major_version",
    "minor_version",
    "nvmlDevice",
    "nvmlInit",
    "nvmlReturn_t",
    "nvmlShutdown",
    "pointer_wrapper",
    "release_version",
    *_TYPED,
]


def __getattr__(name: str) -> Any:
    # Both query the devices, so they are evaluated lazily; for that reason they are not in `__all__`.
    if name == "use_hip":
        return _device.kind() == "hip"
    if name == "cuda_enabled":
        return _device.kind() in ("cuda", "hip")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
