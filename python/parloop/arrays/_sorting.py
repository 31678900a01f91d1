"""Elements in order."""

from __future__ import annotations

import numpy as np

from .. import _order
from .._arithmetic import aligned, on_cpu
from .._parloop import Array
from ._device import Operand, as_array, from_host
from ._searching import take_along_axis


def argsort(x: Operand, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """The places of the elements along an axis in order; equal ones stay in theirs. Not-a-numbers come last, or first if it descends."""
    array = as_array(x)
    if array.ndim == 0:
        raise ValueError("an array without axes cannot be sorted")
    own = range(array.ndim)[axis]
    if on_cpu(array):
        host = array.numpy()
        if not descending:
            return from_host(array.context, np.argsort(host, axis=own, kind="stable"))
        # From behind and back, so that equal elements stay in order.
        places = np.flip(np.argsort(np.flip(host, own), axis=own, kind="stable"), own)
        return from_host(array.context, host.shape[own] - 1 - places)
    order = [*(other for other in range(array.ndim) if other != own), own]
    rows = aligned(array.transpose(tuple(order)))
    length = rows.shape[-1]
    found = _order.argsort(rows.reshape(rows.size // length if length else 0, length), descending).reshape(rows.shape)
    return found.transpose(tuple(order.index(other) for other in range(array.ndim)))


def sort(x: Operand, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """The elements along an axis in order; not-a-numbers come last, or first if it descends."""
    array = as_array(x)
    if on_cpu(array) and not descending:
        return from_host(array.context, np.sort(array.numpy(), axis=axis, kind="stable"))
    return take_along_axis(array, argsort(array, axis=axis, descending=descending), axis=axis)
