"""A chart of measured ratios against the peers, from the figures of benches/RESULTS.md: ``python benches/chart.py``.

Writes docs/_static/ratios.svg. Every number comes from a table of that file; a row that is not there is an error. A range in a table is drawn
as a range. Bars to the right of 1 are faster than the peer, bars to the left slower.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Literal, NamedTuple

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
CHART = HERE.parent / "docs" / "_static" / "ratios.svg"


class Bar(NamedTuple):
    """One row of the chart: how many times as fast as the peer, from the lowest to the highest that was measured."""

    peer: str
    what: str
    low: float
    high: float


#: Peer, what, heading of the section, beginning of the row, columns of the two times (ours, the peer's), of a ratio
#: alone, or "inverse": the first column is our time over the peer's.
ROWS: list[tuple[str, str, str, str, tuple[int, ...] | Literal["inverse"]]] = [
    ("xobjects", "launch a CPU kernel", "## CPU: 2 ×", "launch, two arrays and two scalars by keyword", (1, 2)),
    ("xobjects", "make a struct", "## Typed objects on the CPU", "make a struct of four numbers", (3,)),
    ("numba", "launch a CPU kernel", "## CPU: 2 ×", "the same from a kept kernel object", (1, 2)),
    ("loopy", "tiled matmul: text to source", "## Loop kernels on the CPU", "tiled matmul, first in a process", (1, 2)),
    ("loopy", "call a compiled kernel", "## Loop kernels on the CPU", "call of a compiled kernel", (1, 2)),
    ("PyOP2", "call a mesh loop", "## Mesh loops on the CPU", "the same built once, direct", (3,)),
    ("PyOP2", "1e6 triangles, shuffled", "## Mesh loops on the CPU", "INC over 1e6 triangles, shuffled", (3,)),
    ("PyOP2", "1e6 triangles, ordered", "## Mesh loops on the CPU", "INC over 1e6 triangles, ordered", (3,)),
    ("CuPy", "launch a CUDA kernel", "## GPU: NVIDIA H200", "4 arguments, by keyword", "inverse"),
    ("CuPy", "CG iteration, P1", "## Matrices and columns on an NVIDIA H200", "a CG iteration, P1: CuPy", (3,)),
    ("cuSPARSE", "matrix times vector, P1", "## Matrices and columns on an NVIDIA H200", "A x, P1: cuSPARSE", (3,)),
    ("SciPy", "matrix times vector, P1", "## Matrices and columns on the CPU", "A x, P1: SciPy", (3,)),
    ("CUDA by hand", "tiled matmul, 4096", "## GPU: NVIDIA H200", "tiled matmul, 4096, float32", (2,)),
    ("CUDA by hand", "assembly, P1", "## Matrices and columns on an NVIDIA H200", "assembly, P1 on 4e6 triangles", (3,)),
    ("C by hand", "axpy, two threads", "## CPU: 2 ×", "axpy, 1e7 doubles, 2 threads", (3,)),
]

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)(?:(?:–| to )(\d+(?:\.\d+)?))?")
_UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


def bars(text: str) -> list[Bar]:
    """The rows of the chart, read from the text of RESULTS.md."""
    return [_bar(text, *row) for row in ROWS]


def _bar(text: str, peer: str, what: str, section: str, row: str, columns: tuple[int, ...] | Literal["inverse"]) -> Bar:
    start = text.find("\n" + section)
    if start < 0:
        raise ValueError(f"RESULTS.md has no section {section!r}")
    end = text.find("\n## ", start + 1)
    for line in text[start : end if end > 0 else len(text)].splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| " + row):
            if columns == "inverse":
                low, high = _range(cells[1])
                return Bar(peer, what, 1 / high, 1 / low)
            if len(columns) == 1:
                low, high = _range(cells[columns[0]])
                return Bar(peer, what, low, high)
            (ours_low, ours_high), (low, high) = (_seconds(cells[column]) for column in columns)
            return Bar(peer, what, low / ours_high, high / ours_low)
    raise ValueError(f"the section {section!r} of RESULTS.md has no row {row!r}")


def _range(cell: str) -> tuple[float, float]:
    found = _NUMBER.search(cell)
    if found is None:
        raise ValueError(f"no number in {cell!r}")
    return float(found[1]), float(found[2] or found[1])


def _seconds(cell: str) -> tuple[float, float]:
    found = re.search(_NUMBER.pattern + r" (ns|µs|ms|s)\b", cell)
    if found is None:
        raise ValueError(f"no time in {cell!r}")
    unit = _UNITS[found[3]]
    return float(found[1]) * unit, float(found[2] or found[1]) * unit


def svg(rows: list[Bar]) -> str:
    """The chart, on a logarithmic axis."""
    left, width, height, top = 300, 400, 22, 34
    low, high = math.log10(0.5), math.log10(400)

    def place(ratio: float) -> float:
        return round(left + width * (math.log10(ratio) - low) / (high - low), 1)

    bottom = top + height * len(rows)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {bottom + 44}" font-family="sans-serif" font-size="13">',
        f'<rect width="800" height="{bottom + 44}" fill="#ffffff"/>',
        f'<text x="{left}" y="18" font-weight="bold" fill="#222">times as fast as the peer, measured</text>',
    ]
    for tick in (1, 3, 10, 30, 100, 300):
        x = place(tick)
        colour = "#555" if tick == 1 else "#ddd"
        out.append(f'<line x1="{x}" y1="{top - 4}" x2="{x}" y2="{bottom}" stroke="{colour}"/>')
        out.append(f'<text x="{x}" y="{bottom + 16}" text-anchor="middle" fill="#555">{tick}</text>')
    for number, bar in enumerate(rows):
        y = top + height * number
        middle = math.sqrt(bar.low * bar.high)
        begin, end = sorted((place(1), place(middle)))
        colour = "#2a7f62" if middle >= 0.995 else "#b5651d"
        shown = f"{bar.low:.3g}" if bar.low == bar.high else f"{bar.low:.3g}–{bar.high:.3g}"
        out.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end" fill="#222"><tspan font-weight="bold">{bar.peer}</tspan> {bar.what}</text>')
        out.append(f'<rect x="{begin}" y="{y + 4}" width="{max(round(end - begin, 1), 1)}" height="{height - 8}" fill="{colour}"/>')
        if bar.low != bar.high:
            out.append(f'<line x1="{place(bar.low)}" y1="{y + 11}" x2="{place(bar.high)}" y2="{y + 11}" stroke="#111" stroke-width="1.5"/>')
        out.append(f'<text x="{max(place(bar.high), place(1)) + 6}" y="{y + 15}" fill="#222">{shown}</text>')
    out.append(f'<text x="8" y="{bottom + 36}" fill="#555">From the tables of benches/RESULTS.md, which name the machines, versions and commands. Made by benches/chart.py.</text>')
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    CHART.write_text(svg(bars(RESULTS.read_text())))
    print(f"wrote {CHART}")
