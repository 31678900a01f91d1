"""Transformations of data; all others are in one place."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from .... import loops
from ....loops import AddressSpace, Kernel, Program
from ....loops._transform import *  # noqa: F403
from ..diagnostic import LoopyError

_P = TypeVar("_P", Program, Kernel)


def _entry(kernel: Program | Kernel) -> Kernel:
    return kernel if isinstance(kernel, Kernel) else kernel.default_entrypoint


def _array(kernel: Program | Kernel, name: str) -> Any:
    entry = _entry(kernel)
    found = {**entry.arg_dict, **entry.temporary_variables}.get(name)
    if found is None or not hasattr(found, "shape"):
        raise LoopyError(f"kernel {entry.name!r} has no array {name!r}")
    return found


def _itemsize(array: Any) -> int:
    if array.dtype is None:
        raise LoopyError(f"the type of {array.name!r} is not known, so its bytes cannot be counted; give it a dtype")
    return int(np.dtype(array.dtype).itemsize)


def add_padding(kernel: _P, variable: str, axis: int, align_bytes: int) -> _P:  # type: ignore[no-redef]
    """Makes the stride of an axis of an array a multiple of this many bytes."""
    itemsize = _itemsize(_array(kernel, variable))
    if align_bytes % itemsize:
        raise LoopyError(f"{align_bytes} bytes are not a multiple of the {itemsize} bytes of an element of {variable!r}")
    return loops.add_padding(kernel, variable, axis, align_bytes // itemsize)


def find_padding_multiple(kernel: Program | Kernel, variable: str, axis: int, align_bytes: int, allowed_waste: float = 0.1) -> int:
    """The smallest number of steps along an axis whose bytes, rounded up to a multiple of `align_bytes`, waste no more than that share."""
    array = _array(kernel, variable)
    shape = array.shape if isinstance(array.shape, tuple) else ()
    inner = shape[axis + 1 :] if array.order != "F" else shape[:axis]
    if not all(isinstance(length, int) for length in inner) or axis >= len(shape):
        raise LoopyError(f"the stride of axis {axis} of {variable!r} is not a constant, so that no padding can be found for it")
    stride = _itemsize(array) * int(np.prod(inner, dtype=np.int64))
    multiple = 1
    while True:
        needed = multiple * stride
        padded = -(-needed // align_bytes) * align_bytes
        if (padded - needed) / padded <= allowed_waste:
            return multiple
        multiple += 1


def split_array_dim(
    kernel: _P, arrays_and_axes: Any, count: int, auto_split_inames: bool = True, split_kwargs: dict[str, Any] | None = None
) -> _P:
    """Splits axes of arrays, and the inames that stand there as indices, into parts of `count`."""
    pairs = [arrays_and_axes] if isinstance(arrays_and_axes, tuple) else list(arrays_and_axes)
    for name, axis in pairs if auto_split_inames else ():
        for iname in sorted(_indices(_entry(kernel), name, axis)):
            if iname in _entry(kernel).all_inames():
                kernel = loops.split_iname(kernel, iname, count, **(split_kwargs or {}))
    for name, axis in pairs:
        kernel = loops.split_array_axis(kernel, name, axis, count)
    return kernel


def _indices(kernel: Kernel, array: str, axis: int) -> set[str]:
    """The inames that are the index of an array along an axis, in instructions and rules."""
    from ..symbolic import WalkMapper

    found: set[str] = set()

    class Finder(WalkMapper):
        def map_subscript(self, expr: Any) -> None:
            index = expr.index if isinstance(expr.index, tuple) else (expr.index,)
            if getattr(expr.aggregate, "name", None) == array and axis < len(index) and hasattr(index[axis], "name"):
                found.add(index[axis].name)
            super().map_subscript(expr)

    for insn in kernel.instructions:
        for part in (*insn.assignees, *([insn.expression] if insn.assignees else [])):
            Finder()(part)
    for rule in kernel.substitutions.values():
        Finder()(rule.expression)
    return found & kernel.all_inames()


def add_padding_to_avoid_bank_conflicts(kernel: _P, device: Any) -> _P:
    """Makes the rows of temporaries in local memory one element longer where neighbours along a column would be in one bank of memory: where
    a row is a multiple of 32 words, or a whole part of that.
    """
    entry = _entry(loops.preprocess_kernel(kernel))
    for temporary in entry.temporary_variables.values():
        shape = temporary.shape
        if temporary.address_space != AddressSpace.LOCAL or not isinstance(shape, tuple) or len(shape) < 2:
            continue
        if not isinstance(shape[-1], int) or shape[-1] < 2 or 32 % shape[-1] and shape[-1] % 32:
            continue
        # A row of an odd number of elements: the next one begins in another bank.
        strides = [1]
        for length in reversed(shape[1:]):
            strides.insert(0, strides[0] * (length + 1 if strides[0] == 1 else length))
        kernel = loops.tag_array_axes(kernel, temporary.name, ",".join(f"stride:{stride}" for stride in strides))
    return kernel
