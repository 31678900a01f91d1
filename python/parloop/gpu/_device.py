"""Which devices there are, which of them the thread uses, and what they are."""

from __future__ import annotations

import functools
import operator
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

from .. import _parloop
from ._status import INVALID_DEVICE, SUCCESS, code_of, cudaError_t, failed


def _open_all(kind: str) -> tuple[_parloop.Device, ...]:
    devices: list[_parloop.Device] = []
    try:
        while True:
            devices.append(_parloop.Device(f"{kind}:{len(devices)}"))
    except _parloop.DeviceError:
        return tuple(devices)


@functools.cache
def devices() -> tuple[_parloop.Device, ...]:
    """CUDA's devices, else HIP's, else the CPU alone. `PARLOOP_DEVICE=cpu` chooses the CPU where there are GPUs."""
    wanted = os.environ.get("PARLOOP_DEVICE", "")
    if wanted.split(":")[0] == "cpu":
        return (_parloop.Device(wanted),)
    return _open_all("cuda") or _open_all("hip") or (_parloop.Device("cpu"),)


def kind() -> str:
    """`cuda`, `hip` or `cpu`: whose devices are used."""
    name: str = devices()[0].kind
    return name


class _Current(threading.local):
    ordinal = 0


_current = _Current()


def current_ordinal() -> int:
    """The number of the thread's device."""
    return _current.ordinal


def current_device() -> _parloop.Device:
    """The thread's device."""
    return devices()[_current.ordinal]


def ordinal_of(device: _parloop.Device) -> int:
    """The number of a device."""
    return devices().index(device)


def attempt(call: Callable[..., Any], *arguments: Any) -> tuple[Any, cudaError_t]:
    """The value of a device call and its status; the value is None when it failed."""
    try:
        return call(*arguments), cudaError_t(SUCCESS)
    except _parloop.DeviceError as error:
        return None, failed(code_of(error))
    finally:
        _return_to_current()


def _return_to_current() -> None:
    """Makes the context of the thread's device current again: work on an array of another device enters that device's."""
    if len(devices()) > 1:
        try:
            current_device().default_stream.idle  # noqa: B018 - every question to a device enters its context
        except _parloop.DeviceError:
            pass  # it will be met, and told, by the next call for that device


# Everything with memory on a device, which a reset takes away: objects with `_forget(device)`.
holders: weakref.WeakSet[Any] = weakref.WeakSet()


def cudaSetDevice(device: int) -> cudaError_t:
    """Makes a device the one that this thread's calls are for.

    Its primary context becomes the thread's current one, as it does for CUDA's runtime, so that other libraries in the process use
    the same device.

    Examples
    --------
    >>> from parloop import gpu
    >>> gpu.cudaSetDevice(0)
    <cudaError: code=0>
    >>> gpu.cudaGetDevice()
    (0, <cudaError: code=0>)
    """
    ordinal = operator.index(device)
    if not 0 <= ordinal < len(devices()):
        return failed(INVALID_DEVICE)
    # Asking for the free memory makes the device's context and enters it.
    before, _current.ordinal = _current.ordinal, ordinal
    _, status = attempt(lambda: devices()[ordinal].memory_free)
    if status != SUCCESS:
        _current.ordinal = before
    return status


def cudaGetDevice() -> tuple[int, cudaError_t]:
    """The number of this thread's device, and the status."""
    return _current.ordinal, cudaError_t(SUCCESS)


def cudaGetDeviceCount() -> tuple[int, cudaError_t]:
    """How many devices there are, and the status. Without a GPU it is one: the CPU."""
    return len(devices()), cudaError_t(SUCCESS)


def cudaDeviceSynchronize() -> cudaError_t:
    """Waits for all work on this thread's device."""
    return attempt(lambda: current_device().synchronize())[1]


def cudaDeviceReset() -> cudaError_t:
    """Waits for all work on this thread's device and takes the device memory of all arrays and allocators there.

    Arrays are as before `allocate()`; their host sides stay. The primary context stays too, since other libraries in the process
    may use it.
    """
    device = current_device()
    _, status = attempt(device.synchronize)
    for holder in list(holders):
        holder._forget(device)
    return status


class cudaDeviceProp:
    """What a device is.

    Parameters
    ----------
    device : int
        Its number. `last_status()` says whether there is such a device.

    Examples
    --------
    >>> from parloop import gpu
    >>> prop = gpu.cudaDeviceProp(0)
    >>> prop.last_status()
    <cudaError: code=0>
    >>> len(prop.uuid())
    32
    """

    def __init__(self, device: int) -> None:
        ordinal = operator.index(device)
        found = 0 <= ordinal < len(devices())
        self._device: _parloop.Device | None = devices()[ordinal] if found else None
        self._status = cudaError_t(SUCCESS) if found else failed(INVALID_DEVICE)

    def get(self) -> _parloop.Device | None:
        """The device itself, with all that is known of it."""
        return self._device

    def last_status(self) -> cudaError_t:
        """Whether the device was found."""
        return self._status

    def name(self) -> str:
        """The maker's name for it."""
        return "" if self._device is None else self._device.model

    def uuid(self) -> str:
        """Its identity, 32 hexadecimal digits; zeros where it has none."""
        found = None if self._device is None else self._device.uuid
        return (found or bytes(16)).hex()

    def _pci(self) -> tuple[int, int, int]:
        found = None if self._device is None else self._device.pci
        return found or (0, 0, 0)

    def pciBusID(self) -> int:
        """Its bus on the PCI bus; 0 for a CPU."""
        return self._pci()[1]

    def pciDeviceID(self) -> int:
        """Its number on the bus; 0 for a CPU."""
        return self._pci()[2]

    def pciDomainID(self) -> int:
        """Its PCI domain; 0 for a CPU."""
        return self._pci()[0]

    def __repr__(self) -> str:
        return f"<cudaDeviceProp: {self.name() or 'no device'}>"
