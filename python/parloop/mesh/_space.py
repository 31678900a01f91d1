"""Nodes of continuous finite elements of degree 1 and 2."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._parloop import DataValueError, MapValueError
from .._parloop import _Dat as Dat
from .._parloop import _Map as Map
from .._parloop import _Set as Set
from .._parloop import _Subset as Subset
from ._refine import children
from ._regions import fill
from ._second_order import SECOND_ORDER, add_middles, local_nodes
from ._shapes import CELL_TYPES, FACET_SHAPES, SHAPES, parts
from ._topology import Ints, Table, locate
from ._write import write_cells

if TYPE_CHECKING:
    from ._mesh import Mesh


#: Finds where the nodes are from where the vertices are.
Place = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]


class Space:
    """The nodes of continuous finite elements on the cells of a mesh; made by :meth:`Mesh.space`.

    Attributes
    ----------
    degree : int
        1 or 2.
    nodes : Set
        Of degree 1 these are the vertices of the cells, of degree 2 also the middles of edges, of quadrilaterals and of hexahedra. The
        vertices come first, in the order of the mesh.
    map : Map
        From cells to their nodes, in VTK's order: corners, then edges, then quadrilateral faces, then the centre.
    coordinates : Dat
        Where the nodes are. Nodes between vertices follow when the mesh was moved: each access returns the same Dat, with
        new numbers if those of ``mesh.coordinates`` are others.

    Notes
    -----
    The nodes of a triangle of degree 2 are its corners 0, 1, 2 and the middles of (0, 1), (1, 2), (2, 0). Those of a tetrahedron are 0,
    1, 2, 3 and the middles of (0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3). On second-order meshes, degree 2 has the nodes of the mesh
    itself, which may lie on curves, and degree 1 the corners. Vertices that belong to no cell are not nodes.

    Examples
    --------
    >>> import parloop.mesh as op2
    >>> space = op2.box_mesh((1, 1)).space(2)
    >>> space
    <Space of degree 2: 9 nodes, 6 for each of 2 triangle>
    >>> space.map.values.tolist()
    [[0, 1, 3, 4, 7, 6], [0, 3, 2, 6, 8, 5]]
    >>> space.coordinates.data_ro[space.region("left").indices].tolist()
    [[0.0, 0.0], [0.0, 1.0], [0.0, 0.5]]
    """

    def __init__(self, mesh: Mesh, degree: int, nodes: Set, table: Map, of_vertex: Ints, place: Place | None = None) -> None:
        self.mesh, self.degree, self.nodes, self.map = mesh, degree, nodes, table
        self._of_vertex = of_vertex  # the node of each vertex of the mesh, or -1
        self._place = place  # where nodes are for coordinates of the vertices, unless they are the vertices
        self._placed_by = np.zeros(0)
        if place is not None:
            self._placed_by = mesh._points.copy()
            x = np.ascontiguousarray(place(self._placed_by))
            self._coordinates = Dat(nodes ** x.shape[1], x, name="coordinates of nodes")

    @property
    def coordinates(self) -> Dat:
        """Where the nodes are."""
        if self._place is None:
            return self.mesh.coordinates
        points = self.mesh._points
        if not np.array_equal(points, self._placed_by, equal_nan=True):
            self._placed_by = points.copy()
            self._coordinates.data[...] = self._place(self._placed_by).reshape(self._coordinates.data_ro.shape)
        return self._coordinates

    @property
    def boundary(self) -> Subset:
        """All nodes on the boundary of the mesh."""
        connectivity = self.mesh._connectivity
        found = [self._of_rows(connectivity.corners(name)) for name in connectivity.names if name.endswith("boundary")]
        return self._subset(found)

    def region(self, name: str) -> Subset:
        """The nodes on a region of the mesh.

        For a region of cells, faces or edges these are all nodes on them. For a region of vertices these are the vertices, and the nodes
        of boundary facets whose vertices are all in the region; where the region is not a part of the boundary, also those of such cells.
        """
        connectivity = self.mesh._connectivity
        found: list[Table] = []
        for place, ids in self.mesh._regions.find(name).items():
            if place == "vertices":
                found.append(self._of_vertex[ids])
                for filled, inside in fill(ids, connectivity).items():
                    if filled in connectivity.cell_types:
                        found.append(self.map.values[inside].ravel())
                    else:
                        found.append(self._of_rows(connectivity.corners(filled)[inside]))
            elif place in connectivity.cell_types:
                found.append(self.map.values[ids].ravel())
            else:
                found.append(self._of_rows(connectivity.corners(place)[ids]))
        return self._subset(found)

    def _subset(self, found: list[Table]) -> Subset:
        nodes = np.unique(np.concatenate([np.zeros(0, np.int64), *found]))
        return Subset(self.nodes, nodes[nodes >= 0].astype(np.int32))

    def _of_rows(self, rows: Table) -> Table:
        """The nodes of vertices, edges or faces that are given by their vertices."""
        width = rows.shape[1]
        if width == 1 or self.degree == 1:
            return self._of_vertex[rows.ravel()]
        shape, table = CELL_TYPES[self.mesh.cell_type][0], self.mesh._connectivity.corners(self.mesh.cell_type)
        touched = np.zeros(self.mesh.vertices.size, bool)
        touched[rows] = True
        near = np.flatnonzero(touched[table].sum(axis=1) >= width)
        local = parts(SHAPES[shape], FACET_SHAPES[width])
        found = locate(rows, table[near][:, np.array(local)].reshape(-1, width)) if local else np.full(len(rows), -1)
        if (found < 0).any():
            corners = ", ".join(map(str, rows[int(np.flatnonzero(found < 0)[0])]))
            raise MapValueError(f"the element with vertices {corners} is not an edge or a face of any cell, so it has no nodes")
        cells, which = near[found // len(local)], found % len(local)
        result: Table = np.take_along_axis(self.map.values[cells], local_nodes(shape, FACET_SHAPES[width])[which], axis=1).ravel()
        return result

    def write(self, path: str | os.PathLike[str], /, **fields: Any) -> None:
        """Write the nodes and data on them, or on the cells, to a file, as cells of this degree, without regions; see :meth:`Mesh.write`."""
        shape = CELL_TYPES[self.mesh.cell_type][0]
        write_cells(path, self.coordinates, {shape if self.degree == 1 else SECOND_ORDER[shape]: self.map}, fields)

    def plot(self, dat: Dat, ax: Any = None, component: int | None = None, **options: Any) -> Any:
        """Draw data on the nodes of triangles or quadrilaterals in a plane with matplotlib; of degree 2 on the refined mesh."""
        if dat.dataset.set is not self.nodes:
            raise MapValueError(f"`{dat.name}` is on `{dat.dataset.set.name}`, but the space has `{self.nodes.name}`")
        table = self.map
        if self.degree == 2:
            rows = children(CELL_TYPES[self.mesh.cell_type][0], self.map.values, self.coordinates.data_ro.reshape(-1, self.coordinates.cdim))
            table = Map(Set(rows.shape[0] * rows.shape[1], "parts"), self.nodes, rows.shape[2], rows.reshape(-1, rows.shape[2]), "parts nodes")
        return dat.plot(self.coordinates, table, ax, component, **options)

    def __repr__(self) -> str:
        cells = self.map.iterset
        return f"<Space of degree {self.degree}: {self.nodes.size} nodes, {self.map.arity} for each of {cells.size} {cells.name}>"


def make_space(mesh: Mesh, degree: int) -> Space:
    """The nodes of one degree on the cells of a mesh."""
    cell_type = mesh.cell_type
    shape = CELL_TYPES[cell_type][0]
    if mesh.dim == 0:
        raise DataValueError("a mesh of points has no finite elements")
    connectivity = mesh._connectivity
    if degree == 2 and cell_type == SECOND_ORDER[shape] or degree == 1 and cell_type == shape:
        table = connectivity.tables[cell_type].astype(np.int64)
        if len(_used(mesh, table)) == mesh.vertices.size:
            return Space(mesh, degree, mesh.vertices, mesh.maps[cell_type], np.arange(mesh.vertices.size))
        return _packed(mesh, degree, table)
    if degree == 2 and cell_type != shape:
        raise DataValueError(f"cells of type {cell_type} do not have all nodes of degree 2; use {SECOND_ORDER[shape]}")
    table = connectivity.corners(cell_type).astype(np.int64)
    if degree == 1:
        return _packed(mesh, degree, table)
    used = _used(mesh, table)
    of_vertex = np.full(mesh.vertices.size, -1)
    of_vertex[used] = np.arange(len(used))
    nodes = add_middles(len(used), {cell_type: of_vertex[table]})
    return _made(mesh, 2, nodes.cells[cell_type], of_vertex, lambda x: nodes.interpolate(x[used]))


def _used(mesh: Mesh, table: Table) -> Ints:
    """The vertices that cells have."""
    used = np.zeros(mesh.vertices.size, bool)
    used[table] = True
    return np.flatnonzero(used)


def _packed(mesh: Mesh, degree: int, table: Table) -> Space:
    """Those vertices that cells use, in their order."""
    used = _used(mesh, table)
    of_vertex = np.full(mesh.vertices.size, -1)
    of_vertex[used] = np.arange(len(used))
    return _made(mesh, degree, of_vertex[table], of_vertex, lambda x: x[used])


def _made(mesh: Mesh, degree: int, table: Table, of_vertex: Ints, place: Place) -> Space:
    # Every node belongs to a cell.
    nodes = Set(int(table.max()) + 1 if table.size else 0, f"nodes of degree {degree}")
    cells = Map(mesh.cells, nodes, table.shape[1], table, f"{mesh.cell_type} nodes of degree {degree}")
    return Space(mesh, degree, nodes, cells, of_vertex, place)
