"""The mesh around a NACA0012 profile: quadrilaterals in a C shape, of any size.

The upper half plane of squares, cut in three along its lower side, is bent around the profile by squaring complex numbers: the left and
the right third meet behind the trailing edge, and the middle third is the wall. ``airfoil_mesh.rs`` makes the same numbers.

``python examples/airfoil_mesh.py I J FILE`` writes a mesh as text.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int32]
Reals = NDArray[np.float64]

#: Half the extent of the plane before it is bent.
EXTENT = 3.0
WALL, FAR = 1, 2


class Mesh(NamedTuple):
    """Coordinates and tables of a mesh; every row of a table belongs to one cell or edge."""

    x: Reals  # of nodes, two each
    cell_nodes: Integers  # four, in a circle
    edge_nodes: Integers  # two
    edge_cells: Integers  # two, one on each side
    bedge_nodes: Integers  # two, of edges with a cell on one side only
    bedge_cells: Integers  # that cell
    bound: Integers  # WALL or FAR, for each of those edges

    def __str__(self) -> str:
        nodes, cells, edges, bedges = map(len, (self.x, self.cell_nodes, self.edge_nodes, self.bound))
        return f"{cells:,} cells, {nodes:,} nodes, {edges:,} edges and {bedges:,} on the boundary"


def airfoil_mesh(third: int, across: int) -> Mesh:
    """A mesh with `third` cells along each third of its lower side and `across` cells from the profile outwards.

    Examples
    --------
    >>> print(airfoil_mesh(40, 60))
    7,200 cells, 7,381 nodes, 14,260 edges and 280 on the boundary
    """
    if third < 1 or across < 1:
        raise ValueError(f"a mesh has at least one cell along each third and one across, not {third} and {across}")
    return Mesh(coordinates(third, across), *tables(third, across))


def coordinates(third: int, across: int) -> Reals:
    """Where the nodes are, to six decimals, row by row."""
    along = 3 * third
    u = -EXTENT + np.arange(along + 1) * (2 * EXTENT / along)
    u[-1] = EXTENT
    low = np.zeros(along + 1)
    inside = slice(third + 1, 2 * third)
    low[inside] = spline(*profile(), u[inside])
    v = low + (EXTENT - low) * (np.arange(across + 1) / across)[:, None]
    x = np.stack([u * u - v * v, 2.0 * u * v], axis=-1).reshape(-1, 2)
    # The published residuals are of a mesh that was printed. Adding zero makes -0.0 plain.
    return np.rint(x * 1e6) / 1e6 + 0.0


def profile() -> tuple[list[float], list[float]]:
    """The surface of the profile in the plane before it is bent, from left to right."""
    right = []
    for k in range(100):
        sine = math.sin(k * (math.pi / 2) / 99)
        x = sine * sine
        y = -0.127125232 + x * (-0.357907906 + x * (0.291984971 - x * 0.105174696))
        y = 0.594689181 * (0.298222773 * math.sqrt(x) + x * y) if k < 99 else 0.0
        right.append(square_root(x - 0.0077, y))
    surface = [(-u, v) for u, v in right[:0:-1]] + right
    return [u for u, _ in surface], [v for _, v in surface]


def square_root(a: float, b: float) -> tuple[float, float]:
    """The root of a + ib in the upper right quarter, for b >= 0, by operations that every machine rounds alike."""
    size = math.sqrt(a * a + b * b)
    if a >= 0.0:
        real = math.sqrt((size + a) / 2)
        return real, b / (2 * real)
    imaginary = math.sqrt((size - a) / 2)
    return b / (2 * imaginary), imaginary


def spline(x: list[float], y: list[float], at: Reals) -> Reals:
    """The cubic spline through points, without knots at the second and the last but one."""
    n = len(x)
    h = [x[i + 1] - x[i] for i in range(n - 1)]
    slope = [(y[i + 1] - y[i]) / h[i] for i in range(n - 1)]
    # Second derivatives at inner points: a system with three diagonals, whose outer rows say that the third derivative does not jump.
    first, last = h[0] / h[1], h[-1] / h[-2]
    below = [0.0] + h[1 : n - 2]
    middle = [2 * (h[i - 1] + h[i]) for i in range(1, n - 1)]
    above = h[1 : n - 2] + [0.0]
    right = [6 * (slope[i] - slope[i - 1]) for i in range(1, n - 1)]
    middle[0] += h[0] * (1 + first)
    above[0] -= h[0] * first
    middle[-1] += h[-1] * (1 + last)
    below[-1] -= h[-1] * last
    for i in range(1, n - 2):
        factor = below[i] / middle[i - 1]
        middle[i] -= factor * above[i - 1]
        right[i] -= factor * right[i - 1]
    inner = [0.0] * (n - 2)
    inner[-1] = right[-1] / middle[-1]
    for i in range(n - 4, -1, -1):
        inner[i] = (right[i] - above[i] * inner[i + 1]) / middle[i]
    second = [(1 + first) * inner[0] - first * inner[1], *inner, (1 + last) * inner[-1] - last * inner[-2]]

    knots, widths, moments = np.array(x), np.array(h), np.array(second)
    i = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, n - 2)
    t = at - knots[i]
    linear = np.array(slope)[i] - widths[i] * (2 * moments[i] + moments[i + 1]) / 6
    cubic = (moments[i + 1] - moments[i]) / (6 * widths[i])
    return np.array(y)[i] + t * (linear + t * (moments[i] / 2 + t * cubic))


def tables(third: int, across: int) -> tuple[Integers, ...]:
    """Cells, inner edges and edges of the boundary, in the order in which the published residuals were computed."""
    along = 3 * third
    i, j = np.meshgrid(np.arange(along, dtype=np.int32), np.arange(across, dtype=np.int32))

    def node(i, j):
        return i + j * np.int32(along + 1)

    def cell(i, j):
        return i + j * np.int32(along)

    def columns(*parts):
        return np.stack(np.broadcast_arrays(*parts), axis=-1).astype(np.int32, copy=False)

    cells = columns(node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)).reshape(-1, 4)

    # Up to three edges for each cell: below it, where the outer thirds meet; above it; to its right.
    cut = columns(node(i, 0), node(i + 1, 0), cell(along - 1 - i, 0), cell(i, 0))
    up = columns(node(i, j + 1), node(i + 1, j + 1), cell(i, j), cell(i, j + 1))
    right = columns(node(i + 1, j), node(i + 1, j + 1), cell(i + 1, j), cell(i, j))
    there = np.stack([(j == 0) & (i < third), j < across - 1, i < along - 1], axis=-1)
    edges = np.stack([cut, up, right], axis=2)[there]

    i, j = np.arange(third, 2 * third), np.arange(across)
    wall = columns(node(i + 1, 0), node(i, 0), cell(i, 0), WALL)
    right = columns(node(along, j + 1), node(along, j), cell(along - 1, j), FAR)
    i, j = np.arange(along)[::-1], j[::-1]
    top = columns(node(i, across), node(i + 1, across), cell(i, across - 1), FAR)
    left = columns(node(0, j), node(0, j + 1), cell(0, j), FAR)
    bedges = np.concatenate([wall, right, top, left])
    return tuple(np.ascontiguousarray(table) for table in (cells, edges[:, :2], edges[:, 2:], bedges[:, :2], bedges[:, 2:3], bedges[:, 3:]))


def write(mesh: Mesh, path: str) -> None:
    """Write a mesh as text: the counts, then a line for each node, cell, edge and edge of the boundary."""
    with open(path, "w") as file:
        print(len(mesh.x), len(mesh.cell_nodes), len(mesh.edge_nodes), len(mesh.bound), file=file)
        np.savetxt(file, mesh.x, fmt="%f")
        np.savetxt(file, mesh.cell_nodes, fmt="%d")
        np.savetxt(file, np.hstack([mesh.edge_nodes, mesh.edge_cells]), fmt="%d")
        np.savetxt(file, np.hstack([mesh.bedge_nodes, mesh.bedge_cells, mesh.bound]), fmt="%d")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(f"usage: {sys.argv[0]} I J FILE")
    made = airfoil_mesh(int(sys.argv[1]), int(sys.argv[2]))
    write(made, sys.argv[3])
    print(f"{sys.argv[3]}: {made}")
