"""Where arrays are made, and operands of functions as arrays of one device."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NoReturn, TypeAlias

import numpy as np

from .._arithmetic import check_device
from .._operations import C_TYPES
from .._parloop import Array, Context, Device
from ..errors import NoDeviceVersionError as NoDeviceVersionError

#: What the keyword `device` takes: a device, a context, or the name of a device.
DeviceLike: TypeAlias = "Device | Context | str | None"

#: What a function takes for an array: a Parloop array, a NumPy array or a number.
Operand: TypeAlias = "Array | np.ndarray[Any, Any] | np.generic[Any] | bool | int | float | complex"

_contexts: dict[str, Context] = {}
_default: list[str | Device | Context] = [os.environ.get("PARLOOP_ARRAYS_DEVICE") or "cpu"]


def default_device(device: DeviceLike = None) -> Device:
    """The device of arrays that are made without `device=`; with an argument, that one from here on.

    It is a CPU at first, or the device that the environment variable `PARLOOP_ARRAYS_DEVICE` names.

    >>> import parloop.arrays as xp
    >>> xp.default_device("cpu:1").kind
    'cpu'
    >>> xp.zeros(3).device.kind
    'cpu'
    """
    if device is not None:
        context_of(device)
        _default[0] = device
    return context_of(None).device


def context_of(device: DeviceLike) -> Context:
    """The context of a device, or of the default one."""
    if device is None:
        device = _default[0]
    if isinstance(device, Context):
        return device
    name = device if isinstance(device, str) else device.name
    found = _contexts.get(name)
    if found is None:
        found = _contexts[name] = Context(device)
    return found


def is_array(value: object) -> bool:
    """Whether a value counts as an array in the standard: ours, and NumPy's scalars, which operators give where no axes are left."""
    return isinstance(value, (Array, np.ndarray, np.generic))


def as_array(value: Operand, context: Context | None = None) -> Array:
    """A value as an array: on its own device if it is one of ours, else in the context, or on the default device."""
    if isinstance(value, Array):
        return value
    if not isinstance(value, (np.ndarray, np.generic, bool, int, float, complex)):
        raise TypeError(f"an array was expected, not {type(value).__name__}; create one with parloop.arrays.asarray")
    host = np.asarray(value)
    return (context or context_of(None)).array(host, copy=None)


def arrays_of(function: str, values: Iterable[Operand]) -> list[Array]:
    """Values as arrays of one device, that of the first array among them."""
    given = list(values)
    context = common_context(function, given)
    return [as_array(value, context) for value in given]


def common_context(function: str, values: Iterable[Any]) -> Context:
    """The context of the first array; all must be on one device."""
    arrays = [(f"operand {number}", value) for number, value in enumerate(values, 1) if isinstance(value, Array)]
    for name, array in arrays[1:]:
        check_device(function, arrays[0][1], array, (arrays[0][0], name))
    return arrays[0][1].context if arrays else context_of(None)


def from_host(context: Context, values: Any) -> Array:
    """What NumPy made, as an array of the context, in C or Fortran order as it was; half precision becomes single precision."""
    host = np.asarray(values)
    if host.dtype == np.float16:
        host = host.astype(np.float32)
    if host.flags.f_contiguous and not host.flags.c_contiguous:
        return context.array(host.T, copy=None).transpose()
    return context.array(host, copy=None)


def supported(dtype: Any) -> np.dtype[Any]:
    """A type of elements that arrays have."""
    found = np.dtype(dtype)
    if found.name not in C_TYPES:
        raise TypeError(f"arrays of dtype {found.name} are not supported; use one of {', '.join(C_TYPES)}")
    native: np.dtype[Any] = found.newbyteorder("=")
    return native


def no_device_version(function: str, device: Device) -> NoReturn:
    """For functions that only a CPU has: nothing is copied to the host without being asked."""
    raise NoDeviceVersionError(f"{function} has no version for device `{device.name}`; use it on a CPU: x.to('cpu') copies the array there")

