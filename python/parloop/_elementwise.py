"""Kernels over the elements of arrays on a GPU: their text, their compilation, and their launch.

A kernel is made for an operation, the types of its operands and the number of axes; lengths, strides and single values are arguments.
Axes that are adjacent in all operands are merged, so most kernels have one axis.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from . import _functions, _operations
from ._operations import C_TYPES, Operation, convert, is_complex, real_of
from ._parloop import Array, CompiledKernel, Context, Device

#: An operand: an array of the device, or a NumPy scalar.
Operand: TypeAlias = "Array | np.generic[Any]"


class Form(NamedTuple):
    """How a kernel sees an operand."""

    dtype: str
    is_array: bool


class Axes(NamedTuple):
    """The lengths along axes, and for each array the bytes from one element to the next."""

    shape: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]


def join_axes(shape: Sequence[int], strides: Sequence[Sequence[int]]) -> Axes:
    """The same elements, in the same order, along as few axes as possible."""
    lengths: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for axis in reversed(range(len(shape))):
        if shape[axis] == 1:
            continue
        if lengths and all(own[axis] == done[-1] * lengths[-1] for own, done in zip(strides, steps)):
            lengths[-1] *= shape[axis]
            continue
        lengths.append(shape[axis])
        for own, done in zip(strides, steps):
            done.append(own[axis])
    return Axes(tuple(reversed(lengths)), tuple(tuple(reversed(done)) for done in steps))


def broadcast_strides(array: Array, shape: Sequence[int]) -> tuple[int, ...]:
    """The strides with which an array has this shape, which is one that it can be broadcast to."""
    missing = len(shape) - array.ndim
    own = (0 if length == 1 else stride for length, stride in zip(array.shape, array.strides))
    return (*([0] * missing), *own)


# text -----------------------------------------------------------------------------------------------------------------------------


def place(index: str, axes: int, prefix: str = "") -> str:
    """C statements that make of `index` the places `{prefix}i0` and so on along axes, whose lengths are `{prefix}d0` and so on."""
    lines = [f"int64_t {prefix}rest = {index};"] if axes > 1 else []
    for axis in reversed(range(1, axes)):
        lines.append(f"const int64_t {prefix}i{axis} = {prefix}rest % {prefix}d{axis}; {prefix}rest /= {prefix}d{axis};")
    if axes:
        lines.append(f"const int64_t {prefix}i0 = {prefix}rest;" if axes > 1 else f"const int64_t {prefix}i0 = {index};")
    return "\n        ".join(lines)


def offset(name: str, axes: int, prefix: str = "") -> str:
    """A C expression: how many bytes further an element is along these axes."""
    return "".join(f" + {prefix}i{axis} * {name}_{prefix}s{axis}" for axis in range(axes))


def load(name: str, at: str, dtype: str) -> str:
    """A C expression: the element of an array at that byte."""
    element = f"*(GPUGLMEM const {C_TYPES[dtype]} *)({name} + {at})"
    return f"(uint8_t)({element} != 0)" if dtype == "bool" else element


def strides(name: str, axes: int, prefix: str = "") -> list[str]:
    """The parameters for the strides of an array."""
    return [f"const int64_t {name}_{prefix}s{axis}" for axis in range(axes)]


def _value_parameters(name: str, dtype: str) -> list[str]:
    c_type = C_TYPES[real_of(dtype)]
    return [f"const {c_type} {name}_re", f"const {c_type} {name}_im"] if is_complex(dtype) else [f"const {c_type} {name}_value"]


def _value(name: str, dtype: str) -> str:
    return f"make_{C_TYPES[dtype]}({name}_re, {name}_im)" if is_complex(dtype) else f"{name}_value"


def with_complex(text: str, dtypes: Sequence[str]) -> str:
    """A source, with complex numbers where it needs them. Products are not joined with sums: NumPy does not either."""
    contract = "#ifdef PARLOOP_OPENCL\n#pragma OPENCL FP_CONTRACT OFF\n#endif\n"
    return contract + (_operations.COMPLEX if any(is_complex(dtype) for dtype in dtypes) else "") + text


def kernel_text(name: str, operation: Operation, forms: Sequence[Form], computed: Sequence[str], out: str, axes: int) -> str:
    """The source of a kernel that sets every element of `z` to `operation` of the operands, each converted to its `computed` type."""
    parameters = ["const int64_t n", *(f"const int64_t d{axis}" for axis in range(1, axes))]
    parameters += ["GPUGLMEM char *z", "const int64_t z_at", *strides("z", axes)]
    lines = [place("i", axes)]
    for letter, form, dtype in zip("abc", forms, computed):
        if form.is_array:
            array = f"{letter}m"
            parameters += [f"GPUGLMEM const char *{array}", f"const int64_t {array}_at", *strides(array, axes)]
            value = load(array, f"{array}_at{offset(array, axes)}", form.dtype)
        else:
            parameters += _value_parameters(letter, form.dtype)
            value = _value(letter, form.dtype)
        lines.append(f"const {C_TYPES[form.dtype]} {letter}_given = {value};")
        lines.append(f"const {C_TYPES[dtype]} {letter} = {convert(f'{letter}_given', form.dtype, dtype)};")
    lines.append(f"const {C_TYPES[operation.result]} result = {operation.expression};")
    lines.append(f"*(GPUGLMEM {C_TYPES[out]} *)(z + z_at{offset('z', axes)}) = {convert('result', operation.result, out)};")
    body = "\n        ".join(line for line in lines if line)
    return f"{operation.functions}\nGPUKERN void {name}({', '.join(parameters)}) {{\n    VECTORIZE_OVER(i, n)\n        {body}\n    END_VECTORIZE\n}}\n"


@functools.lru_cache(maxsize=1024)
def _source(name: str, forms: tuple[Form, ...], computed: tuple[str, ...], out: str, axes: int) -> str:
    operation = _functions.operation(name, computed)
    text = kernel_text("elementwise", operation, forms, computed, out, axes)
    return with_complex(text, [*(form.dtype for form in forms), *computed, out])


# launch ---------------------------------------------------------------------------------------------------------------------------

#: Products and sums are rounded one by one on every device.
ARGUMENTS = {"cuda": ["--fmad=false"], "hip": ["-ffp-contract=off"], "opencl": [], "cpu": []}
_MOST_DEVICES = 16
_MOST_KERNELS = 1024
_compiled: dict[Device, dict[tuple[str, str], tuple[CompiledKernel, int]]] = {}


def compiled(context: Context, source: str, name: str) -> CompiledKernel:
    """The kernel of that name, to be launched on the context's stream; compiled once for each device."""
    device, stream = context.device, context.default_stream
    kernels = _compiled.get(device)
    if kernels is None:
        while len(_compiled) >= _MOST_DEVICES:
            _compiled.pop(next(iter(_compiled)), None)
        kernels = _compiled.setdefault(device, {})
    found = kernels.get((source, name))
    if found is None:
        kernel = context.compile(source, arguments=ARGUMENTS[device.kind]).kernels[name]
        while len(kernels) >= _MOST_KERNELS:
            kernels.pop(next(iter(kernels)), None)
        found = kernels[source, name] = (kernel, stream.handle)
    kernel, handle = found
    return kernel if handle == stream.handle else kernel.on(stream)


def is_aligned(x: Array) -> bool:
    """Whether all elements lie at addresses at which a GPU can read and write them."""
    size = min(x.dtype.itemsize, 8)
    first = x.offset + (x.memory.handle if x.device.kind in ("cuda", "hip") else 0)
    return first % size == 0 and all(stride % size == 0 for length, stride in zip(x.shape, x.strides) if length > 1)


def check_aligned(x: Array) -> None:
    """An array of another library may have elements between those addresses; a copy can be read, but only the array itself be changed."""
    if not is_aligned(x):
        raise ValueError("the array is not aligned: its elements are not at multiples of their size; change a copy")


def run(name: str, out: Array, operands: Sequence[Operand], computed: Sequence[np.dtype[Any]]) -> None:
    """Sets every element of `out` to NumPy's function `name` of the operands, each converted to its `computed` type first.

    Arrays have shapes that can be broadcast to that of `out`, and share no memory with it unless element by element.
    """
    if out.size == 0:
        return
    check_aligned(out)
    arrays = [out, *(operand for operand in operands if isinstance(operand, Array))]
    axes = join_axes(out.shape, [broadcast_strides(array, out.shape) for array in arrays])
    forms = tuple(Form(operand.dtype.name, isinstance(operand, Array)) for operand in operands)
    source = _source(name, forms, tuple(dtype.name for dtype in computed), out.dtype.name, len(axes.shape))
    steps = iter(axes.strides)
    arguments: list[Any] = [out.size, *axes.shape[1:], out.memory, out.offset, *next(steps)]
    for operand in operands:
        if isinstance(operand, Array):
            arguments += [operand.memory, operand.offset, *next(steps)]
        elif is_complex(operand.dtype.name):
            arguments += [operand.real, operand.imag]
        else:
            arguments.append(int(operand) if operand.dtype.name == "bool" else operand)
    compiled(out.context, source, "elementwise")(*arguments)
