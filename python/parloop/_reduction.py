"""Reductions and products of arrays on a GPU.

A reduction is done in stages, each of which leaves one value for 256, in an order that depends on the shape alone: the same array gives
the same bits every time.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _operations
from ._elementwise import compiled, join_axes, load, offset, place, strides, with_complex
from ._operations import C_TYPES, convert
from ._parloop import Array, _dense_strides

_TOGETHER = 256


@functools.lru_cache(maxsize=1024)
def _stage(name: str, source: str, computed: str, kept: int, reduced: int) -> str:
    """One work item for each part of each result, with the axes that are kept and those that go."""
    operation = _operations.binary(name, computed, computed)
    c_type = C_TYPES[computed]
    parameters = ["const int64_t n", "const int64_t parts", "const int64_t length"]
    parameters += [f"const int64_t k_d{axis}" for axis in range(1, kept)] + [f"const int64_t r_d{axis}" for axis in range(1, reduced)]
    parameters += ["GPUGLMEM char *z", "GPUGLMEM const char *x", "const int64_t x_at"]
    parameters += strides("x", kept, "k_") + strides("x", reduced, "r_")
    element = load("x", f"base{offset('x', reduced, 'r_')}", source)
    first, further = (
        f"""{place(index, reduced, "r_")}
            const {C_TYPES[source]} given = {element};
            const {c_type} b = {convert("given", source, computed)};"""
        for index in ("part", "j")
    )
    text = f"""{operation.functions}
GPUKERN void reduction({", ".join(parameters)}) {{
    VECTORIZE_OVER(i, n)
        const int64_t part = i % parts;
        {place("i / parts", kept, "k_")}
        const int64_t base = x_at{offset("x", kept, "k_")};
        {c_type} a;
        {{
            {first}
            a = b;
        }}
        for (int64_t j = part + parts; j < length; j += parts) {{
            {further}
            const {c_type} result = {operation.expression};
            a = result;
        }}
        *(GPUGLMEM {c_type} *)(z + i * (int64_t)sizeof({c_type})) = a;
    END_VECTORIZE
}}
"""
    return with_complex(text, [source, computed])


def reduce(name: str, x: Array, axes: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """NumPy's function `name` of all elements along `axes`, of which there are some, computed in `dtype`. Those axes are gone."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    shape = tuple(x.shape[axis] for axis in kept)
    results = int(np.prod(shape, dtype=np.int64))
    while True:
        outer = join_axes([x.shape[axis] for axis in kept], [[x.strides[axis] for axis in kept]])
        inner = join_axes([x.shape[axis] for axis in axes], [[x.strides[axis] for axis in axes]])
        length = int(np.prod(inner.shape, dtype=np.int64))
        parts = -(-length // _TOGETHER)
        out = x.context.empty((results, parts), dtype)
        source = _stage(name, x.dtype.name, dtype.name, len(outer.shape), len(inner.shape))
        sizes = [results * parts, parts, length, *outer.shape[1:], *inner.shape[1:]]
        compiled(x.context, source, "reduction")(*sizes, out.memory, x.memory, x.offset, *outer.strides[0], *inner.strides[0])
        if parts == 1:
            return out._view(list(shape), _dense_strides(shape, dtype.itemsize), 0, dtype)
        x, kept, axes = out, [0], [1]


@functools.lru_cache(maxsize=64)
def _part_of_range(computed: str) -> str:
    """One work item for each part of each range of elements that follow each other."""
    plus = _operations.binary("add", computed, computed)
    c_type = C_TYPES[computed]
    arrays = ", ".join(f"GPUGLMEM const char *{name}, const int64_t {name}_at" for name in ("x", "begins", "ends"))
    begin, end = (load(name, f"{name}_at + i / {_TOGETHER} * 8", "int64") for name in ("begins", "ends"))
    text = f"""{plus.functions}
GPUKERN void ranges(const int64_t n, GPUGLMEM {c_type} *z, {arrays}) {{
    VECTORIZE_OVER(i, n)
        const int64_t end = {end};
        const uint8_t zero = 0;
        {c_type} a = {convert("zero", "uint8", computed)};
        for (int64_t j = {begin} + i % {_TOGETHER}; j < end; j += {_TOGETHER}) {{
            const {c_type} b = {load("x", f"x_at + j * (int64_t)sizeof({c_type})", computed)};
            const {c_type} result = {plus.expression};
            a = result;
        }}
        z[i] = a;
    END_VECTORIZE
}}
"""
    return with_complex(text, [computed])


def sums_of_ranges(x: Array, begins: Array, ends: Array) -> Array:
    """The sums of the elements from each of `begins` up to each of `ends`: of one axis each, without gaps, the last two of 64-bit integers."""
    parts = x.context.empty((begins.size, _TOGETHER), x.dtype)
    if not parts.size:
        return x.context.zeros(begins.size, x.dtype)
    given = [part for array in (x, begins, ends) for part in (array.memory, array.offset)]
    compiled(x.context, _part_of_range(x.dtype.name), "ranges")(parts.size, parts.memory, *given)
    return reduce("add", parts, [1], x.dtype)


@functools.lru_cache(maxsize=256)
def _product(first: str, second: str, computed: str, axes: int) -> str:
    """One work item for each result: a row of a matrix of the first array with a column of one of the second, along `axes` of matrices."""
    times, plus = _operations.binary("multiply", computed, computed), _operations.binary("add", computed, computed)
    c_type = C_TYPES[computed]
    parameters = ["const int64_t n", "const int64_t rows", "const int64_t columns", "const int64_t length"]
    parameters += [f"const int64_t b_d{axis}" for axis in range(1, axes)]
    parameters += ["GPUGLMEM char *z", "GPUGLMEM const char *x", "const int64_t x_at", *strides("x", axes, "b_")]
    parameters += ["const int64_t x_row", "const int64_t x_step"]
    parameters += ["GPUGLMEM const char *y", "const int64_t y_at", *strides("y", axes, "b_")]
    parameters += ["const int64_t y_step", "const int64_t y_column"]
    text = f"""
{c_type} plus({c_type} a, {c_type} b) {{ return {plus.expression}; }}
{c_type} times({c_type} a, {c_type} b) {{ return {times.expression}; }}
GPUKERN void product({", ".join(parameters)}) {{
    VECTORIZE_OVER(i, n)
        {place("i / (rows * columns)", axes, "b_")}
        const int64_t row = x_at + ((i / columns) % rows) * x_row{offset("x", axes, "b_")};
        const int64_t column = y_at + (i % columns) * y_column{offset("y", axes, "b_")};
        const uint8_t zero = 0;
        {c_type} sum = {convert("zero", "uint8", computed)};
        for (int64_t j = 0; j < length; j++) {{
            const {C_TYPES[first]} x_given = {load("x", "row + j * x_step", first)};
            const {C_TYPES[second]} y_given = {load("y", "column + j * y_step", second)};
            const {c_type} both = times({convert("x_given", first, computed)}, {convert("y_given", second, computed)});
            sum = plus(sum, both);
        }}
        *(GPUGLMEM {c_type} *)(z + i * (int64_t)sizeof({c_type})) = sum;
    END_VECTORIZE
}}
"""
    return with_complex(text, [first, second, computed])


def product(x: Array, y: Array, dtype: np.dtype[Any]) -> Array:
    """The products of matrices, the last two axes, whose inner lengths and further axes are equal."""
    (rows, length), columns = x.shape[-2:], y.shape[-1]
    out = x.context.empty((*x.shape[:-2], rows, columns), dtype)
    if out.size and length == 0:
        return x.context.zeros(out.shape, dtype)
    if out.size:
        batch = join_axes(x.shape[:-2], [x.strides[:-2], y.strides[:-2]])
        kernel = compiled(x.context, _product(x.dtype.name, y.dtype.name, dtype.name, len(batch.shape)), "product")
        sizes = [out.size, rows, columns, length, *batch.shape[1:]]
        first = [x.memory, x.offset, *batch.strides[0], *x.strides[-2:]]
        kernel(*sizes, out.memory, *first, y.memory, y.offset, *batch.strides[1], *y.strides[-2:])
    return out
