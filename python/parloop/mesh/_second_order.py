"""Nodes in the middle of edges, quadrilateral faces and hexahedra, which second-order elements and refined meshes share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._shapes import CELL_TYPES, SHAPES, parts
from ._topology import Table, find_entities, locate

#: The second-order type of each shape, with a node in the middle of each edge, each quadrilateral and each hexahedron.
SECOND_ORDER = {
    "line": "line3", "triangle": "triangle6", "quad": "quad9", "tetra": "tetra10", "pyramid": "pyramid14", "wedge": "wedge18",
    "hexahedron": "hexahedron27",
}  # fmt: skip


class SecondOrder(NamedTuple):
    """Cells with nodes in the middle. Nodes are numbered: vertices, edges, quadrilaterals, hexahedra."""

    vertices: int
    middles: list[Table]
    """The vertices in the middle of which the other nodes are: pairs, then fours, then eights."""
    cells: dict[str, Table]
    """The nodes of the cells of each first-order type: corners, then edges, quadrilaterals and centre in the order of the shape."""

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return self.vertices + sum(map(len, self.middles))

    def interpolate(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Values at all nodes from values at the vertices."""
        return np.concatenate([values, *(values[rows].mean(axis=1) for rows in self.middles)])

    def nodes_of(self, shape: str, rows: Table) -> Table:
        """All nodes of lines, faces or cells that are given by their vertices and are parts of the cells."""
        found, at = [rows.ravel()], self.vertices
        for part, middles in zip(("line", "quad", "hexahedron"), self.middles, strict=False):
            local = [tuple(range(8))] if part == shape == "hexahedron" else parts(SHAPES[shape], part)
            if local:
                found.append(at + locate(rows[:, np.array(local)].reshape(-1, middles.shape[1]), middles))
            at += len(middles)
        return np.concatenate(found)


def add_middles(vertices: int, tables: dict[str, Table]) -> SecondOrder:
    """Number the nodes of first-order cells of any types and dimensions, so that cells share those on shared edges and faces."""
    shapes = {name: CELL_TYPES[name][0] for name in tables}
    edges = find_entities("line", tables, shapes)
    quads = find_entities("quad", tables, shapes)
    middles = [edges.vertices, quads.vertices]
    at = [vertices, vertices + len(edges.vertices), vertices + len(edges.vertices) + len(quads.vertices)]
    cells = {}
    for name, table in tables.items():
        columns = [table, at[0] + edges.cells[name], at[1] + quads.cells[name]]
        if shapes[name] == "hexahedron":
            columns.append(at[2] + np.arange(len(table))[:, None])
            middles.append(table)
            at[2] += len(table)
        cells[name] = np.concatenate(columns, axis=1)
    return SecondOrder(vertices, middles, cells)


def local_nodes(shape: str, part: str) -> Table:
    """Which nodes of a second-order cell are on each of its edges or faces."""
    whole, rows = SHAPES[shape], []
    quads = parts(whole, "quad")
    for corners in parts(whole, part):
        inside = set(corners)
        edges = [whole.corners + i for i, edge in enumerate(whole.edges) if inside.issuperset(edge)]
        faces = [whole.corners + len(whole.edges) + i for i, face in enumerate(quads) if inside.issuperset(face)]
        rows.append([*corners, *edges, *faces])
    return np.array(rows)
