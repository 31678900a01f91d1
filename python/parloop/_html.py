"""Pieces of HTML for notebooks: tables, text, and code with its words coloured."""

from __future__ import annotations

import html
import importlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["array", "code", "device", "preformatted", "source", "table", "text"]


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
    """C as HTML, coloured by Pygments where that is installed, and by what is here otherwise."""
    try:
        pygments, lexers, formatters = map(importlib.import_module, ("pygments", "pygments.lexers", "pygments.formatters"))
    except ImportError:
        return f"<pre>{_coloured(source)}</pre>"
    return str(pygments.highlight(source, lexers.CLexer(), formatters.HtmlFormatter(noclasses=True)))


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


def array(found: Any) -> str:
    """An array: what it is, and its numbers where they are few, or those at its ends."""
    import numpy as np

    about = f"Array, {found.dtype}, shape {tuple(found.shape)}, on {found.device.name}"
    if found.ndim not in (1, 2) or found.size == 0 or found.size > 1_000_000:
        return f"<div>{text(about)}{preformatted(found.numpy()) if 0 < found.size <= 1_000_000 else ''}</div>"
    values = np.atleast_2d(found.numpy())

    def ends(length: int) -> list[int | None]:
        return list(range(length)) if length <= 10 else [*range(4), None, *range(length - 4, length)]

    def shown(row: int | None, column: int | None) -> str:
        return "…" if row is None or column is None else f"{values[row, column]:.6g}" if values.dtype.kind in "fc" else str(values[row, column])

    rows = [[shown(row, column) for column in ends(values.shape[1])] for row in ends(values.shape[0])]
    return table((), rows, caption=about)
