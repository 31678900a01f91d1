"""Arrays whose parts along a ``sep`` axis are arrays of their own: lists go in, and their members come out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...loops import Kernel, SeparateTag

__all__ = ["gather", "separate_axes", "spread"]


def separate_axes(kernel: Kernel) -> dict[str, int]:
    """The arguments that have one separate axis, with that axis."""
    found = {}
    for arg in kernel.args:
        axes = [axis for axis, tag in enumerate(getattr(arg, "dim_tags", None) or ()) if isinstance(tag, SeparateTag)]
        if len(axes) == 1:
            found[arg.name] = axes[0]
    return found


def gather(value: Any, axis: int) -> Any:
    """One array of several, which lie one behind the other in its memory."""
    parts = [part.get() if hasattr(part, "get") and hasattr(part, "queue") else np.asarray(part) for part in value]
    if parts[0].ndim > 1 and all(part.flags.f_contiguous and not part.flags.c_contiguous for part in parts):
        # Each keeps its order.
        stacked = np.stack([part.T for part in parts])
        return np.moveaxis(stacked.transpose(0, *range(stacked.ndim - 1, 0, -1)), 0, axis)
    return np.moveaxis(np.stack(parts), 0, axis)


def spread(given: Any, result: Any, axis: int) -> list[Any]:
    """The parts of a result: the members of what was given, with the numbers in them, or arrays of their own."""
    device = hasattr(result, "queue") and hasattr(result, "get")
    host = np.moveaxis(result.get() if device else np.asarray(result), axis, 0)
    if not isinstance(given, (list, tuple)):
        if device:
            import pyopencl.array as cla

            return [cla.to_device(result.queue, part.copy(order="K")) for part in host]
        return [part.copy(order="K") for part in host]
    for part, numbers in zip(given, host):
        if hasattr(part, "queue") and hasattr(part, "set"):
            if part.size:
                part.set(np.ascontiguousarray(numbers))
        else:
            part[...] = numbers
    return list(given)
