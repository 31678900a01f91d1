"""Pieces of HTML for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

__all__ = ["preformatted", "table", "text"]


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
    return f"<table>{above}<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
