"""Arrays whose parts along a ``sep`` axis are arrays of their own: lists go in, and their members come out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...loops import Kernel, SeparateTag

__all__ = ["gather", "separate_axes", "spread"]


def separate_axes(kernel: Kernel) -> dict[str, tuple[int, list[int]]]:
    """The arguments that have one separate axis: that axis, and all others from the slowest to the fastest."""
    found = {}
    for arg in kernel.args:
        tags = getattr(arg, "dim_tags", None) or ()
        axes = [axis for axis, tag in enumerate(tags) if isinstance(tag, SeparateTag)]
        if len(axes) == 1:
            others = [axis for axis in range(len(tags)) if axis != axes[0]]
            levels = {axis: getattr(tags[axis], "layout_nesting_level", None) for axis in others}
            if None not in levels.values():
                others.sort(key=lambda axis: -levels[axis])  # type: ignore[operator]
            found[arg.name] = (axes[0], others)
    return found


def gather(value: Any, axis: int, others: list[int]) -> Any:
    """One array of several, which lie one behind the other in its memory, each in the order of its axes."""
    parts = [part.get() if hasattr(part, "get") and hasattr(part, "queue") else np.asarray(part) for part in value]
    order = [axis, *others]
    laid = np.ascontiguousarray(np.stack(parts, axis).transpose(order))
    return laid.transpose(np.argsort(order))


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
