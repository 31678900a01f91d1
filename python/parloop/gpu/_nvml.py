"""NVML: how busy NVIDIA devices are and how much of their memory is used, by all processes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .. import _parloop
from ._status import driver_code, nvmlReturn_t

_SUCCESS = 0
_UNINITIALIZED = 1
_LIBRARY_NOT_FOUND = 12
_UNKNOWN = 999

# NVML counts its initialisations; each of ours is one object.
_open: list[Any] = []


def _attempt(call: Callable[[], Any]) -> tuple[Any, nvmlReturn_t]:
    try:
        return call(), nvmlReturn_t(_SUCCESS)
    except _parloop.DriverMissingError:
        return None, nvmlReturn_t(_LIBRARY_NOT_FOUND)
    except _parloop.DeviceError as error:
        return None, nvmlReturn_t(driver_code(error) or _UNKNOWN)


def nvmlInit() -> nvmlReturn_t:
    """Initialises NVML; the code is 12 where it is not installed."""
    nvml, status = _attempt(_parloop._Nvml)
    if nvml is not None:
        _open.append(nvml)
    return status


def nvmlShutdown() -> nvmlReturn_t:
    """Gives back one initialisation; the code is 1 when there was none."""
    if not _open:
        return nvmlReturn_t(_UNINITIALIZED)
    _open.pop()
    return nvmlReturn_t(_SUCCESS)


class nvmlDevice:
    """A device as NVML numbers it, which is by its place on the PCI bus and not by `CUDA_VISIBLE_DEVICES`.

    Parameters
    ----------
    device : int
        Its number.

    Examples
    --------
    >>> from parloop import gpu
    >>> device = gpu.nvmlDevice(0)
    >>> gpu_percent, memory_percent = device.utilization_rates()
    >>> free, total, used = device.memory_info()
    >>> device.last_status() == 0 or total == 0
    True
    """

    def __init__(self, device: int) -> None:
        self._index = operator.index(device)
        self._status = nvmlReturn_t(_SUCCESS)
        self.memory_info()

    def _ask(self, question: str, without: tuple[int, ...]) -> Any:
        if not _open:
            self._status = nvmlReturn_t(_UNINITIALIZED)
            return without
        if not 0 <= self._index < 2**32:
            self._status = nvmlReturn_t(2)
            return without
        answer, self._status = _attempt(lambda: getattr(_open[-1], question)(self._index))
        return without if answer is None else answer

    def get(self) -> int:
        """Its number."""
        return self._index

    def utilization_rates(self) -> tuple[int, int]:
        """(kernels, memory): the percentage of time in which each was in use; zeros when it is not known."""
        rates: tuple[int, int] = self._ask("utilization_rates", (0, 0))
        return rates

    def memory_info(self) -> tuple[int, int, int]:
        """(free, total, used) bytes; zeros when they are not known."""
        info: tuple[int, int, int] = self._ask("memory_info", (0, 0, 0))
        return info

    def last_status(self) -> nvmlReturn_t:
        """The status of the last call."""
        return self._status

    def __repr__(self) -> str:
        return f"<nvmlDevice {self._index}: {self._status}>"
