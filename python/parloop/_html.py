"""Pieces of HTML for notebooks: tables, text, and code with its words coloured."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _shown

__all__ = [
    "array", "buffer", "code", "context", "dat", "device", "global_numbers", "kernel", "mesh_map", "mesh_set", "numbers", "par_loop", "preformatted", "source", "table", "text",
]  # fmt: skip


def text(value: object) -> str:
    """Text as HTML."""
    return html.escape(str(value))


def preformatted(value: object) -> str:
    """Text whose columns stand below each other."""
    return f"<pre>{text(value)}</pre>"


def table(head: Sequence[object], rows: Iterable[Sequence[object]], caption: object = "") -> str:
    """A table; numbers are on the right.

    >>> table(["n"], [[1]])
    '<table><thead><tr><th>n</th></tr></thead><tbody><tr><td style="text-align: right">1</td></tr></tbody></table>'
    """

    def cell(value: object) -> str:
        side = "right" if isinstance(value, (int, float)) else "left"
        return f'<td style="text-align: {side}">{text(value)}</td>'

    titles = "".join(f"<th>{text(title)}</th>" for title in head)
    body = "".join(f"<tr>{''.join(cell(value) for value in row)}</tr>" for row in rows)
    above = f"<caption>{text(caption)}</caption>" if caption else ""
    top = f"<thead><tr>{titles}</tr></thead>" if head else ""
    return f"<table>{above}{top}<tbody>{body}</tbody></table>"


_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int int8_t int16_t int32_t int64_t long "
    "restrict return short signed sizeof static struct switch typedef uint8_t uint16_t uint32_t uint64_t union unsigned void volatile while "
    "bool __global __kernel __local __private __restrict__ __shared__ __device__ __global__ GPUKERN GPUFUN GPUGLMEM VECTORIZE_OVER END_VECTORIZE"
).split()
_TOKENS = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|(?P<directive>^[ \t]*#[^\n]*)"
    r"|(?P<number>\b(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)[fFlLuU]*\b)|(?P<word>\b[A-Za-z_]\w*\b)",
    re.DOTALL | re.MULTILINE,
)
_COLOURS = {"comment": "#6a737d", "string": "#22863a", "directive": "#b08800", "number": "#005cc5", "word": "#d73a49"}


def code(source: str) -> str:
    """C as HTML, with coloured words."""
    return f"<pre>{_coloured(source)}</pre>"


def _coloured(source: str) -> str:
    """C with coloured words.

    >>> _coloured("int n = 3; // so many")
    '<span style="color: #d73a49">int</span> n = <span style="color: #005cc5">3</span>; <span style="color: #6a737d">// so many</span>'
    """
    out, end = [], 0
    for token in _TOKENS.finditer(source):
        kind, found = token.lastgroup or "", token.group()
        if kind == "word" and found not in _WORDS:
            continue
        out += [text(source[end : token.start()]), f'<span style="color: {_COLOURS[kind]}">{text(found)}</span>']
        end = token.end()
    return "".join([*out, text(source[end:])])


def source(title: str, found: str) -> str:
    """A title above code; long code is cut."""
    lines = found.splitlines()
    shown = "\n".join(lines[:200]) + (f"\n// … and {len(lines) - 200} more lines" if len(lines) > 200 else "")
    return f"<div><code>{text(title)}</code>{code(shown)}</div>"


def device(found: Any) -> str:
    """A device and what it can do."""
    gib = f"{found.memory_total / 2**30:.1f} GiB"
    rows = [("model", found.model), ("kind", found.kind), ("architecture", found.arch), ("driver", found.driver)]
    rows += [("compute units", str(found.compute_units)), ("memory", gib), ("work items of a block", f"at most {found.max_block}")]
    return table((), rows, caption=f"device {found.name}")


def numbers(values: np.ndarray[Any, Any], is_whole: bool, caption: str) -> str:
    """A table of numbers, of long axes those at both ends; as text where there are more than two axes. See `parloop._shown` for those that are not all."""
    if values.ndim not in (1, 2) or values.size == 0:
        return f"<div>{text(caption)}{preformatted(_shown.text(values, is_whole)) if values.size else ''}</div>"
    rows = np.atleast_2d(values)
    longest, edge = (10, 4) if is_whole else (2 * _shown.EDGE, _shown.EDGE)

    def ends(length: int) -> list[int | None]:
        return list(range(length)) if length <= longest else [*range(edge), None, *range(length - edge, length)]

    def shown(row: int | None, column: int | None) -> str:
        return "…" if row is None or column is None else f"{rows[row, column]:.6g}" if rows.dtype.kind in "fc" else str(rows[row, column])

    body = [[shown(row, column) for column in ends(rows.shape[1])] for row in ends(rows.shape[0])]
    return table((), body, caption=caption)


def array(found: Any, is_recorded: bool) -> str:
    """An array: what it is, and its numbers, or those at its ends; not while work on its context is recorded."""
    about = f"Array, {found.dtype}, shape {tuple(found.shape)}, on {found.device.name}"
    return f"<div>{text(about)}</div>" if is_recorded else numbers(*_shown.of_array(found), about)


def context(found: Any) -> str:
    """A context: its device and the stream it works on."""
    return f"<div><code>{text(found)}</code>{device(found.device)}</div>"


def buffer(found: Any) -> str:
    """A buffer: where it is, and how full."""
    free, capacity = found.get_free(), found.capacity
    rows = [("device", found.context.device.name), ("capacity", f"{capacity} bytes"), ("used", f"{capacity - free} bytes"), ("free", f"{free} bytes")]
    return table((), rows, caption="Buffer")


def kernel(found: Any) -> str:
    """A compiled kernel: its declaration."""
    return f"<div><code>{text(found)}</code>{code(found.signature)}</div>"


def mesh_set(found: Any) -> str:
    """A set of a mesh: the elements of this process."""
    rows: list[tuple[str, object]] = [("elements", found.size), ("core", found.core_size), ("with ghosts", found.total_size)]
    rows += [(name, getattr(found, attribute).name) for name, attribute in (("subset of", "superset"), ("extruded from", "parent")) if hasattr(found, attribute)]
    return table((), rows, caption=f"{type(found).__name__} {found.name}")


def mesh_map(found: Any, values: np.ndarray[Any, Any] | None) -> str:
    """A map between two sets, and where it leads from its first and last elements if it has a table."""
    caption = f"{type(found).__name__} {found.name}: {found.iterset.name} → {found.toset.name}, arity {found.arity}"
    return f"<div>{text(caption)}</div>" if values is None else numbers(values.reshape(-1, found.arity), True, caption)


def dat(found: Any, values: np.ndarray[Any, Any] | None, is_whole: bool | None) -> str:
    """Data on a set, with some of its numbers where they can be read."""
    caption = f"Dat {found.name} on {found.dataset.set.name}, {found.dtype}, shape {tuple(found.shape)}"
    if values is None:
        return f"<div>{text(caption)}</div>"
    # One number for each element stands below that of the element before.
    return numbers(values.reshape(-1, 1) if values.ndim == 1 else values, bool(is_whole), caption)


def global_numbers(found: Any, values: np.ndarray[Any, Any] | None, is_whole: bool | None) -> str:
    """Numbers that all elements share."""
    caption = f"{type(found).__name__} {found.name}, {found.dtype}, shape {tuple(found.shape)}"
    return f"<div>{text(caption)}</div>" if values is None else numbers(values, bool(is_whole), caption)


def par_loop(found: Any) -> str:
    """A loop over a set: its kernel and its arguments."""
    rows = [(number, repr(arg)) for number, arg in enumerate(found.args)]
    return table(("", "argument"), rows, caption=f"ParLoop of kernel {found.kernel.name} over {found.iterset.name}")
