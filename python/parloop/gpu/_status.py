"""Status codes: what a device call answers instead of raising."""

from __future__ import annotations

import threading

from .. import _parloop

SUCCESS = 0
INVALID_VALUE = 1
OUT_OF_MEMORY = 2
INVALID_CONFIGURATION = 9
INSUFFICIENT_DRIVER = 35
INVALID_DEVICE = 101
INVALID_HANDLE = 400
NOT_READY = 600
UNKNOWN = 999

# Code: (name, meaning), as the CUDA runtime numbers them; the driver's numbers are the same where both have one.
_CODES = {
    SUCCESS: ("cudaSuccess", "no error"),
    INVALID_VALUE: ("cudaErrorInvalidValue", "invalid argument"),
    OUT_OF_MEMORY: ("cudaErrorMemoryAllocation", "out of memory"),
    3: ("cudaErrorInitializationError", "initialization error"),
    4: ("cudaErrorCudartUnloading", "driver shutting down"),
    INVALID_CONFIGURATION: ("cudaErrorInvalidConfiguration", "invalid configuration argument"),
    12: ("cudaErrorInvalidPitchValue", "invalid pitch argument"),
    INSUFFICIENT_DRIVER: ("cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"),
    46: ("cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"),
    98: ("cudaErrorInvalidDeviceFunction", "invalid device function"),
    100: ("cudaErrorNoDevice", "no CUDA-capable device is detected"),
    INVALID_DEVICE: ("cudaErrorInvalidDevice", "invalid device ordinal"),
    200: ("cudaErrorInvalidKernelImage", "device kernel image is invalid"),
    201: ("cudaErrorDeviceUninitialized", "invalid device context"),
    209: ("cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"),
    214: ("cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"),
    INVALID_HANDLE: ("cudaErrorInvalidResourceHandle", "invalid resource handle"),
    500: ("cudaErrorSymbolNotFound", "named symbol not found"),
    NOT_READY: ("cudaErrorNotReady", "device not ready"),
    700: ("cudaErrorIllegalAddress", "an illegal memory access was encountered"),
    701: ("cudaErrorLaunchOutOfResources", "too many resources requested for launch"),
    702: ("cudaErrorLaunchTimeout", "the launch timed out and was terminated"),
    709: ("cudaErrorContextIsDestroyed", "context is destroyed"),
    710: ("cudaErrorAssert", "device-side assert triggered"),
    716: ("cudaErrorMisalignedAddress", "misaligned address"),
    719: ("cudaErrorLaunchFailure", "unspecified launch failure"),
    800: ("cudaErrorNotPermitted", "operation not permitted"),
    801: ("cudaErrorNotSupported", "operation not supported"),
    UNKNOWN: ("cudaErrorUnknown", "unknown error"),
}
_UNRECOGNIZED = "unrecognized error code"


class Status:
    """A code that a library answers; 0 is success. Compares with integers, and is true when it is an error."""

    __slots__ = ("_code",)
    _shown = "status"

    def __init__(self, code: int = SUCCESS) -> None:
        self._code = int(code)

    def as_int(self) -> int:
        """The code."""
        return self._code

    def __int__(self) -> int:
        return self._code

    def __index__(self) -> int:
        return self._code

    def __bool__(self) -> bool:
        return self._code != SUCCESS

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Status):
            return type(self) is type(other) and self._code == other._code
        return self._code == other if isinstance(other, int) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._code)

    def __repr__(self) -> str:
        return f"<{self._shown}: code={self._code}>"


class cudaError_t(Status):
    """The status of a device call.

    Examples
    --------
    >>> from parloop.gpu import cudaError_t, cudaGetErrorName
    >>> cudaError_t(0)
    <cudaError: code=0>
    >>> int(cudaError_t(2)), cudaGetErrorName(cudaError_t(2))
    (2, 'cudaErrorMemoryAllocation')
    """

    __slots__ = ()
    _shown = "cudaError"


class nvmlReturn_t(Status):
    """The status of an NVML call."""

    __slots__ = ()
    _shown = "nvmlReturn"


class _LastError(threading.local):
    code = SUCCESS


_last = _LastError()


def failed(code: int) -> cudaError_t:
    """The status of a call that failed, remembered as the thread's last error."""
    _last.code = code
    return cudaError_t(code)


def driver_code(error: BaseException) -> int | None:
    """The number that a driver answered with, if the error is a driver's."""
    return getattr(error, "code", None)


def code_of(error: _parloop.DeviceError) -> int:
    """The code that stands for an error of a device."""
    kinds = (
        (_parloop.OutOfMemoryError, OUT_OF_MEMORY),
        (_parloop.DriverMissingError, INSUFFICIENT_DRIVER),
        (_parloop.DeviceNotFoundError, INVALID_DEVICE),
        (_parloop.MemoryRangeError, INVALID_VALUE),
        (_parloop.OtherDeviceError, INVALID_HANDLE),
        (_parloop.LaunchError, INVALID_CONFIGURATION),
    )
    for kind, code in kinds:
        if isinstance(error, kind):
            return code
    return driver_code(error) or UNKNOWN


def cudaGetLastError() -> cudaError_t:
    """The last error of this thread's device calls, which is then forgotten.

    Examples
    --------
    >>> from parloop import gpu
    >>> gpu.cudaSetDevice(9999)
    <cudaError: code=101>
    >>> gpu.cudaGetLastError(), gpu.cudaGetLastError()
    (<cudaError: code=101>, <cudaError: code=0>)
    """
    code, _last.code = _last.code, SUCCESS
    return cudaError_t(code)


def cudaPeekAtLastError() -> cudaError_t:
    """The last error of this thread's device calls; it is kept."""
    return cudaError_t(_last.code)


def cudaGetErrorName(error: cudaError_t | int) -> str:
    """The name of a status.

    Examples
    --------
    >>> from parloop import gpu
    >>> gpu.cudaGetErrorName(gpu.cudaSetDevice(9999))
    'cudaErrorInvalidDevice'
    """
    return _CODES.get(int(error), (_UNRECOGNIZED, _UNRECOGNIZED))[0]


def cudaGetErrorString(error: cudaError_t | int) -> str:
    """What a status means, in words.

    Examples
    --------
    >>> from parloop import gpu
    >>> gpu.cudaGetErrorString(gpu.cudaError_t(2))
    'out of memory'
    """
    return _CODES.get(int(error), (_UNRECOGNIZED, _UNRECOGNIZED))[1]
