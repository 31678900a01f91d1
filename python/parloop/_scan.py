"""Numbers in order and running totals on a GPU.

A running total is found in blocks of 256 elements, then over the blocks, in an order that depends on the length alone.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from . import _functions
from ._elementwise import compiled, load, with_complex
from ._operations import C_TYPES, convert
from ._parloop import Array, Context

_BLOCK = 256


@functools.lru_cache(maxsize=32)
def _ramp(dtype: str) -> str:
    c_type = C_TYPES[dtype]
    wide = "double" if dtype == "float32" else c_type
    return f"""
GPUKERN void ramp(const int64_t n, GPUGLMEM {c_type} *z, const {wide} start, const {wide} step) {{
    VECTORIZE_OVER(i, n)
        z[i] = ({c_type})(start + ({wide})i * step);
    END_VECTORIZE
}}
"""


def ramp(context: Context, length: int, start: Any, step: Any, dtype: np.dtype[Any]) -> Array:
    """`start`, `start + step` and so on."""
    out = context.empty(length, dtype)
    if length:
        number = float if dtype.kind == "f" else int
        compiled(context, with_complex(_ramp(dtype.name), []), "ramp")(length, out.memory, number(start), number(step))
    return out


@functools.lru_cache(maxsize=256)
def _scan(name: str, source: str, computed: str) -> str:
    operation = _functions.operation(name, (computed, computed))
    c_type = C_TYPES[computed]
    element = load("x", "x_at + row * x_row + j * x_step", source)
    value = f"""const {C_TYPES[source]} given = {element};
            const {c_type} b = {convert("given", source, computed)};"""
    where = f"""const int64_t row = i / blocks, block = i % blocks, from = block * {_BLOCK};
        const int64_t to = from + {_BLOCK} < length ? from + {_BLOCK} : length;"""
    shape = "const int64_t n, const int64_t length, const int64_t blocks"
    elements = "GPUGLMEM const char *x, const int64_t x_at, const int64_t x_row, const int64_t x_step"
    text = f"""{operation.functions}
{c_type} joined(const {c_type} a, const {c_type} b) {{ return {operation.expression}; }}
GPUKERN void totals({shape}, GPUGLMEM {c_type} *z, {elements}) {{
    VECTORIZE_OVER(i, n)
        {where}
        {c_type} a;
        for (int64_t j = from; j < to; j++) {{
            {value}
            a = j == from ? b : joined(a, b);
        }}
        z[i] = a;
    END_VECTORIZE
}}
GPUKERN void running({shape}, GPUGLMEM {c_type} *z, GPUGLMEM const {c_type} *before, {elements}) {{
    VECTORIZE_OVER(i, n)
        {where}
        {c_type} a;
        if (block > 0) a = before[i - 1];
        for (int64_t j = from; j < to; j++) {{
            {value}
            a = j == 0 ? b : joined(a, b);
            z[row * length + j] = a;
        }}
    END_VECTORIZE
}}
"""
    return with_complex(text, [source, computed])


def scan(name: str, x: Array, dtype: np.dtype[Any]) -> Array:
    """The running totals, by NumPy's function `name` computed in `dtype`, along the second of two axes."""
    rows, length = x.shape
    out = x.context.empty((rows, length), dtype)
    if out.size == 0:
        return out
    blocks = -(-length // _BLOCK)
    source = _scan(name, x.dtype.name, dtype.name)
    elements = [x.memory, x.offset, *x.strides]
    before = out
    if blocks > 1:
        totals = x.context.empty((rows, blocks), dtype)
        compiled(x.context, source, "totals")(rows * blocks, length, blocks, totals.memory, *elements)
        before = scan(name, totals, dtype)
    compiled(x.context, source, "running")(rows * blocks, length, blocks, out.memory, before.memory, *elements)
    return out


_COMPACT = """
GPUKERN void compact(const int64_t n, GPUGLMEM int64_t *z, GPUGLMEM const uint8_t *flags, const int64_t at, const int64_t step,
                     GPUGLMEM const int64_t *count) {
    VECTORIZE_OVER(i, n)
        if (flags[at + i * step] != 0) z[count[i] - 1] = i;
    END_VECTORIZE
}
"""


def flagged(flags: Array) -> Array:
    """The places of those elements of one axis of truth values that are true. Their number is read by the host."""
    if flags.size == 0:
        return flags.context.empty(0, np.int64)
    count = scan("add", flags.reshape(1, -1), np.dtype(np.int64)).reshape(-1)
    out = flags.context.empty(int(count[-1]), np.int64)
    if out.size:
        compiled(flags.context, _COMPACT, "compact")(flags.size, out.memory, flags.memory, flags.offset, flags.strides[0], count.memory)
    return out
