"""Uniform refinement."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .._parloop import SetValueError
from ._regions import fill
from ._second_order import SecondOrder, add_middles
from ._topology import Ints, Table

if TYPE_CHECKING:
    from ._mesh import Mesh

#: Corners of tensor cells in VTK's order, as steps along the axes.
_TENSOR: dict[str, list[tuple[int, ...]]] = {
    "line": [(0,), (1,)],
    "quad": [(0, 0), (1, 0), (1, 1), (0, 1)],
    "hexahedron": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)],
}

_TRIANGLE = [[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]]

#: The tetrahedra at the corners.
_TETRA = [[0, 4, 6, 7], [4, 1, 5, 8], [6, 5, 2, 9], [7, 8, 9, 3]]
#: What they leave is an octahedron; its three diagonals, and the other four nodes around each.
_DIAGONALS = [((4, 9), (6, 5, 8, 7)), ((6, 8), (4, 5, 9, 7)), ((7, 5), (4, 8, 9, 6))]


def refine(mesh: Mesh) -> Mesh:
    """The mesh with every cell cut in half along each direction."""
    tables = mesh._connectivity.tables
    wrong = [name for name in tables if name not in ("vertex", "line", "triangle", "quad", "tetra", "hexahedron")]
    if wrong:
        raise SetValueError(f"cells of type {', '.join(wrong)} cannot be refined, only line, triangle, quad, tetra and hexahedron")
    nodes = add_middles(mesh.vertices.size, tables)
    points = nodes.interpolate(mesh._points)
    cut = {name: children(name, nodes.cells[name], points) for name in tables}
    each = {name: cut[name].shape[1] for name in tables}
    regions = {
        name: {place: _inside(mesh, nodes, ids) if place == "vertices" else _followers(ids, each[place]) for place, ids in region.items()}
        for name, region in mesh._regions.parts.items()
    }
    return type(mesh)(
        points,
        {name: rows.reshape(-1, rows.shape[2]) for name, rows in cut.items()},
        regions=regions,
        point_data={name: nodes.interpolate(dat.data_ro) for name, dat in mesh.point_data.items() if dat.dtype.kind == "f"},
        cell_data={
            name: {place: np.repeat(dat.data_ro, each[place], axis=0) for place, dat in values.items()} for name, values in mesh.cell_data.items()
        },
        name=mesh.name,
    )


def _followers(ids: Ints, each: int) -> Ints:
    return (each * ids[:, None] + np.arange(each)).ravel()


def _inside(mesh: Mesh, nodes: SecondOrder, ids: Ints) -> Ints:
    """The vertices of a region, and the nodes of what it stands for."""
    connectivity = mesh._connectivity
    filled = [nodes.nodes_of(connectivity.shape(name), connectivity.corners(name)[inside]) for name, inside in fill(ids, connectivity).items()]
    return np.unique(np.concatenate([ids, *filled]))


def children(kind: str, nodes: Table, points: npt.NDArray[np.float64]) -> Table:
    """For each cell the corners of its children: an array of cells, children and corners."""
    if kind == "vertex":
        return nodes[:, None, :]
    if kind == "triangle":
        return nodes[:, np.array(_TRIANGLE)]
    if kind in _TENSOR:
        return nodes[:, np.array(_tensor_children(kind))]
    inner = np.array([_around(pair, ring) for pair, ring in _DIAGONALS])
    pairs = np.array([pair for pair, _ in _DIAGONALS])
    lengths = ((points[nodes[:, pairs[:, 0]]] - points[nodes[:, pairs[:, 1]]]) ** 2).sum(axis=2)
    chosen = inner[lengths.argmin(axis=1)]
    corner = nodes[:, np.array(_TETRA)]
    rest = np.take_along_axis(nodes, chosen.reshape(len(nodes), 16), axis=1).reshape(len(nodes), 4, 4)
    return np.concatenate([corner, rest], axis=1)


def _tensor_children(kind: str) -> list[list[int]]:
    """The corners of children among the nodes of a second-order line, quadrilateral or hexahedron."""
    corners = np.array(_TENSOR[kind])
    nodes = add_middles(len(corners), {kind: np.arange(len(corners))[None, :]})
    places = np.rint(2 * nodes.interpolate(corners.astype(np.float64))[nodes.cells[kind][0]]).astype(int)
    where = {tuple(place): i for i, place in enumerate(places.tolist())}
    boxes = itertools.product((0, 1), repeat=corners.shape[1])
    return [[where[tuple(b + c for b, c in zip(box[::-1], corner, strict=True))] for corner in _TENSOR[kind]] for box in boxes]


def _around(pair: tuple[int, ...], ring: tuple[int, ...]) -> list[list[int]]:
    """Four tetrahedra around a diagonal, each turned as its parent."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    nodes = add_middles(4, {"tetra": np.arange(4)[None, :]})
    places = nodes.interpolate(corners)[nodes.cells["tetra"][0]]
    found = []
    for a, b in zip(ring, ring[1:] + ring[:1], strict=True):
        cell = [*pair, a, b]
        if np.linalg.det(places[cell[1:]] - places[cell[0]]) < 0:
            cell[2:] = cell[:1:-1]
        found.append(cell)
    return found
