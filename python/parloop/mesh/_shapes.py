"""Reference cells: dimension, corners, and the corners of their edges and faces, in VTK's order.

Cell types have meshio's names. A second-order cell begins with the corners of its first-order shape.
"""

from __future__ import annotations

from typing import NamedTuple

Local = tuple[int, ...]


class Shape(NamedTuple):
    """What is known about a shape: edges and faces are tuples of corners, faces turned outwards."""

    dim: int
    corners: int
    edges: tuple[Local, ...]
    faces: tuple[Local, ...]


_RING3: tuple[Local, ...] = ((0, 1), (1, 2), (2, 0))
_RING4: tuple[Local, ...] = ((0, 1), (1, 2), (2, 3), (3, 0))

SHAPES = {
    "vertex": Shape(0, 1, (), ()),
    "line": Shape(1, 2, ((0, 1),), ()),
    "triangle": Shape(2, 3, _RING3, ((0, 1, 2),)),
    "quad": Shape(2, 4, _RING4, ((0, 1, 2, 3),)),
    "tetra": Shape(3, 4, ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)), ((0, 1, 3), (1, 2, 3), (2, 0, 3), (0, 2, 1))),
    "pyramid": Shape(3, 5, (*_RING4, (0, 4), (1, 4), (2, 4), (3, 4)), ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))),
    "wedge": Shape(
        3,
        6,
        (*_RING3, (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)),
        ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    ),
    "hexahedron": Shape(
        3,
        8,
        (*_RING4, (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)),
        ((0, 4, 7, 3), (1, 2, 6, 5), (0, 1, 5, 4), (3, 7, 6, 2), (0, 3, 2, 1), (4, 5, 6, 7)),
    ),
}

#: The first-order shape and the number of nodes of each cell type.
CELL_TYPES = {name: (name, shape.corners) for name, shape in SHAPES.items()} | {
    "line3": ("line", 3),
    "triangle6": ("triangle", 6),
    "quad8": ("quad", 8),
    "quad9": ("quad", 9),
    "tetra10": ("tetra", 10),
    "pyramid13": ("pyramid", 13),
    "pyramid14": ("pyramid", 14),
    "wedge15": ("wedge", 15),
    "wedge18": ("wedge", 18),
    "hexahedron20": ("hexahedron", 20),
    "hexahedron27": ("hexahedron", 27),
}

#: The shape of a face, an edge or a vertex by its number of corners.
FACET_SHAPES = {1: "vertex", 2: "line", 3: "triangle", 4: "quad"}


def shape_of(cell_type: str) -> Shape:
    """The first-order shape of a cell type."""
    return SHAPES[CELL_TYPES[cell_type][0]]


def parts(shape: Shape, of: str) -> tuple[Local, ...]:
    """The corners of the vertices, edges, triangular or quadrilateral faces of a shape."""
    if of == "vertex":
        return tuple((corner,) for corner in range(shape.corners))
    if of == "line":
        return shape.edges
    return tuple(face for face in shape.faces if len(face) == SHAPES[of].corners)
