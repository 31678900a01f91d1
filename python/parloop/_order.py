"""Sorting and searching on a GPU: a merge sort of places, stable, in which every element finds its rank in the neighbouring block.

Not-a-numbers come last, and complex numbers are ordered by their real parts, then by their imaginary ones.
"""

from __future__ import annotations

import functools

import numpy as np

from ._elementwise import compiled, load, with_complex
from ._operations import C_TYPES, is_complex, is_float
from ._parloop import Array
from ._scan import ramp


def _before(dtype: str) -> str:
    """A C function: whether `a` is ordered before `b`."""
    c_type = C_TYPES[dtype]
    if is_complex(dtype):
        return f"""
int before(const {c_type} a, const {c_type} b) {{
    if (a.re < b.re) return a.im == a.im || b.im != b.im;
    if (a.re > b.re) return b.im != b.im && a.im == a.im;
    if (a.re == b.re || (a.re != a.re && b.re != b.re)) return a.im < b.im || (b.im != b.im && a.im == a.im);
    return b.re != b.re;
}}
"""
    nothing = " || (b != b && a == a)" if is_float(dtype) else ""
    return f"int before(const {c_type} a, const {c_type} b) {{ return a < b{nothing}; }}\n"


@functools.lru_cache(maxsize=64)
def _merge(dtype: str, descending: bool) -> str:
    value, middle = "before(found, own)", "before(own, found)"
    if descending:
        value, middle = middle, value
    c_type = C_TYPES[dtype]
    text = f"""{_before(dtype)}
GPUKERN void merge(const int64_t n, const int64_t length, const int64_t width, GPUGLMEM int64_t *z, GPUGLMEM const int64_t *p,
                   GPUGLMEM const char *x, const int64_t x_at, const int64_t x_row, const int64_t x_step) {{
    VECTORIZE_OVER(i, n)
        const int64_t base = i / length * length, row = x_at + i / length * x_row, k = i % length;
        const int64_t block = k / width, first = (block % 2 == 0 ? block + 1 : block - 1) * width;
        const {c_type} own = {load("x", "row + p[i] * x_step", dtype)};
        int64_t low = first < length ? first : length, high = first + width < length ? first + width : length;
        const int64_t from = low;
        while (low < high) {{
            const int64_t at = low + (high - low) / 2;
            const {c_type} found = {load("x", "row + p[base + at] * x_step", dtype)};
            const int goes = block % 2 == 0 ? {value} : !{middle};
            if (goes) low = at + 1;
            else high = at;
        }}
        z[base + (block % 2 == 0 ? k : k - width) + low - from] = p[i];
    END_VECTORIZE
}}
"""
    return with_complex(text, [dtype])


@functools.lru_cache(maxsize=64)
def _search(dtype: str, right: bool) -> str:
    c_type = C_TYPES[dtype]
    goes = "!before(own, found)" if right else "before(found, own)"
    text = f"""{_before(dtype)}
GPUKERN void search(const int64_t n, const int64_t length, GPUGLMEM int64_t *z, GPUGLMEM const char *x, const int64_t x_at, const int64_t x_step,
                    GPUGLMEM const char *v) {{
    VECTORIZE_OVER(i, n)
        const {c_type} own = {load("v", f"i * (int64_t)sizeof({c_type})", dtype)};
        int64_t low = 0, high = length;
        while (low < high) {{
            const int64_t at = low + (high - low) / 2;
            const {c_type} found = {load("x", "x_at + at * x_step", dtype)};
            if ({goes}) low = at + 1;
            else high = at;
        }}
        z[i] = low;
    END_VECTORIZE
}}
"""
    return with_complex(text, [dtype])


def argsort(x: Array, descending: bool = False) -> Array:
    """The places of the elements of each row of an array of two axes in order; equal ones stay in theirs."""
    rows, length = x.shape
    places = ramp(x.context, length, 0, 1, np.dtype(np.int64))
    if rows != 1 or not length:
        every = x.context.empty((rows, length), np.int64)
        every[...] = places
        places = every
    other = x.context.empty((rows, length), np.int64)
    width = 1
    while width < length and rows:
        kernel = compiled(x.context, _merge(x.dtype.name, descending), "merge")
        kernel(x.size, length, width, other.memory, places.memory, x.memory, x.offset, *x.strides)
        places, other = other, places
        width *= 2
    return places.reshape(rows, length)


def searched(x: Array, values: Array, right: bool) -> Array:
    """Where each of `values` is to be inserted into `x`, one axis of elements in order and of the same type, to keep them in order: before
    equal elements, or after them."""
    out = x.context.empty(values.shape, np.int64)
    if out.size:
        dense = values.copy()
        kernel = compiled(x.context, _search(x.dtype.name, right), "search")
        kernel(out.size, x.size, out.memory, x.memory, x.offset if x.size else 0, x.strides[0], dense.memory)
    return out
