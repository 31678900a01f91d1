"""A mesh: sets of vertices, cells and facets, maps between them, coordinates, named regions and data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .._html import preformatted
from .._parloop import DataValueError, MapTypeError, MapValueError, SetValueError
from .._parloop import _Dat as Dat
from .._parloop import _Map as Map
from .._parloop import _Set as Set
from .._parloop import _Subset as Subset
from ._connectivity import Connectivity
from ._names import Named, check_name, unknown
from ._picture import picture
from ._refine import refine
from ._regions import RegionTable, check_regions
from ._shapes import CELL_TYPES, shape_of
from ._space import Space, make_space
from ._topology import Table
from ._write import write


class Mesh:
    """Vertices, cells of one or several types between them, regions and data.

    :func:`read_mesh` and :func:`box_mesh` make meshes; this makes one of arrays.

    Parameters
    ----------
    points : array
        The coordinates of the vertices, a row for each. Trailing columns that are zero everywhere are left out down to the dimension of
        the cells.
    cells : dict of arrays
        For each cell type the vertices of its cells, a row for each, in VTK's order: ``vertex``, ``line``, ``triangle``, ``quad``,
        ``tetra``, ``pyramid``, ``wedge``, ``hexahedron``, and the second-order types of meshio (``triangle6``, ``tetra10``, …), whose
        nodes are all vertices of the mesh. Types of the highest dimension are the cells; others are, mostly, parts of the boundary.
    regions : dict, optional
        For each name the elements that belong to it, by their set: ``{"wall": {"line": [3, 4]}, "tip": {"vertices": [7]}}``.
    point_data, cell_data : dict, optional
        Numbers by name: an array for all vertices, or a dict that has an array for each cell type.
    name : str, optional
        What it is called when it is printed.

    Attributes
    ----------
    dim : int
        The dimension of the cells.
    vertices : Set
        All vertices, including the further nodes of second-order cells.
    coordinates : Dat
        The coordinates of the vertices; it may be changed to move the mesh. Nodes of spaces follow.
    sets : mapping
        Sets by name: ``vertices``, the cell types, and ``edges``, ``faces``, ``boundary`` and ``interior`` (facets with one and with two
        cells), ``cells`` and ``facets`` (what these are in this mesh). Cells with triangles and quadrilaterals as faces have ``triangle
        faces``, ``quad faces`` and so on instead.
    maps : mapping
        The maps from the cells of each type to their vertices.
    regions : mapping
        Regions by name, as subsets of the set that their elements are in.
    point_data : dict of Dats
        Data on vertices.
    cell_data : dict of dicts of Dats
        Data on cells, by name and cell type.

    Examples
    --------
    >>> import parloop.mesh as op2
    >>> mesh = op2.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], {"triangle": [[0, 1, 2], [0, 2, 3]], "line": [[0, 1]]},
    ...                 regions={"ground": {"line": [0]}})
    >>> mesh
    <Mesh: 2 triangle, 1 line on 4 vertices in 2 dimensions
      regions: ground (1 line)>
    >>> mesh.maps["triangle"].values.tolist()
    [[0, 1, 2], [0, 2, 3]]
    >>> mesh.map("edges", "vertices").values.tolist()
    [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]
    >>> mesh.region("ground", on="vertices").indices.tolist()
    [0, 1]
    """

    def __init__(
        self,
        points: npt.ArrayLike,
        cells: Mapping[str, npt.ArrayLike],
        *,
        regions: Mapping[str, Mapping[str, npt.ArrayLike]] | None = None,
        point_data: Mapping[str, npt.ArrayLike] | None = None,
        cell_data: Mapping[str, Mapping[str, npt.ArrayLike]] | None = None,
        name: str = "",
    ) -> None:
        check_name("mesh", name)
        self.name = name
        if not isinstance(cells, Mapping):
            raise MapTypeError(f"cells must be a dict from cell types to tables, not an object of type {type(cells).__name__}")
        tables = {cell_type: _check_cells(cell_type, table) for cell_type, table in cells.items()}
        x = _check_points(points, max((shape_of(cell_type).dim for cell_type in tables), default=0))
        self._sets = {"vertices": Set(len(x), "vertices")}
        self._maps: dict[tuple[str, str], Map] = {}
        self._spaces: dict[int, Space] = {}
        for cell_type, table in tables.items():
            made = Set(len(table), cell_type)
            self._sets[cell_type] = made
            self._maps[cell_type, "vertices"] = Map(made, self.vertices, table.shape[1], table, f"{cell_type} vertices")
        self._connectivity = Connectivity(len(x), {cell_type: self._maps[cell_type, "vertices"].values for cell_type in tables})
        self.dim = self._connectivity.dim
        self.coordinates = Dat(self.vertices ** x.shape[1], x, name="coordinates")
        self._regions = RegionTable(check_regions(regions or {}, self._connectivity), self._connectivity)
        self.sets = Named(lambda: self._connectivity.names, self._set)
        self.maps = Named(lambda: list(self._connectivity.tables), self._cell_map)
        self.regions = Named(lambda: self._regions.parts, self.region)
        self.point_data = {key: _make_dat(self.vertices, values, key) for key, values in (point_data or {}).items()}
        self.cell_data = {
            key: {cell_type: _make_dat(self._set(cell_type), part, key) for cell_type, part in values.items()}
            for key, values in (cell_data or {}).items()
        }

    @property
    def _points(self) -> npt.NDArray[np.float64]:
        """The coordinates, a row for each vertex in one dimension too."""
        return self.coordinates.data_ro.reshape(-1, self.coordinates.cdim)

    @property
    def vertices(self) -> Set:
        """All vertices."""
        return self._sets["vertices"]

    @property
    def cells(self) -> Set:
        """The cells, where all are of one type."""
        return self._set("cells")

    @property
    def cell_type(self) -> str:
        """The type of the cells, where all are of one type."""
        return self._connectivity.cell_type()

    @property
    def boundary(self) -> Set:
        """The facets that belong to one cell only."""
        return self._set("boundary")

    def _set(self, name: str) -> Set:
        known = self._connectivity.resolve(name)
        if known not in self._sets:
            self._check_whole(f"set `{known}`")
            self._sets[known] = Set(self._connectivity.size(known), known)
        return self._sets[known]

    def _check_whole(self, what: str) -> None:
        """Refuses to make something of the whole mesh where this process has a part of it."""
        if any(made.is_distributed for made in self._sets.values()):
            raise SetValueError(f"{what} needs the whole mesh, but the mesh is distributed; create it before distributing the mesh")

    def _cell_map(self, cell_type: str) -> Map:
        check_name("cell type", cell_type)
        if cell_type not in self._connectivity.tables:
            raise MapValueError(unknown("cell type", cell_type, self._connectivity.tables) + "; mesh.map() makes other maps")
        return self._maps[cell_type, "vertices"]

    def map(self, of: str, to: str) -> Map:
        """The map from one set to another, by their names.

        Parameters
        ----------
        of, to : str
            Names of :attr:`sets`. To ``vertices`` from anything; from cells and faces to their ``edges`` and ``faces``; from ``boundary``
            and ``interior`` to the one and the two ``cells`` they belong to, and to ``facets``; from lines or faces that a file has to
            ``facets``, ``boundary`` and ``cells``.

        Notes
        -----
        Edges begin at the lower vertex. Facets of the ``boundary`` are turned outwards: the cell is to the left of an edge, and the
        normal of a face by the right-hand rule points out of the cell. ``interior`` facets are turned out of their first cell. Edges and
        faces of a cell are in VTK's order; those of a triangle are (0, 1), (1, 2), (2, 0).

        Examples
        --------
        >>> import parloop.mesh as op2
        >>> mesh = op2.box_mesh((1, 1))
        >>> mesh.map("cells", "edges").values.tolist()
        [[0, 3, 2], [2, 4, 1]]
        >>> mesh.map("boundary", "vertices").values.tolist(), mesh.map("boundary", "cells").values.ravel().tolist()
        ([[0, 1], [2, 0], [1, 3], [3, 2]], [0, 1, 0, 1])
        >>> mesh.map("interior", "cells").values.tolist()
        [[0, 1]]
        """
        begin, end = self._connectivity.resolve(of), self._connectivity.resolve(to)
        if begin == end:
            raise MapValueError(f"a map needs two different sets, but both are `{begin}`")
        if (begin, end) not in self._maps:
            self._check_whole(f"the map from `{begin}` to `{end}`")
            table = self._connectivity.between(begin, end)
            self._maps[begin, end] = Map(self._set(begin), self._set(end), table.shape[1], table, f"{begin} {end}")
        return self._maps[begin, end]

    def region(self, name: str, on: str | None = None) -> Subset:
        """A region as a part of a set.

        Parameters
        ----------
        name : str
            One of :attr:`regions`.
        on : str, optional
            The set whose elements are requested; by default, the set of the region. On ``vertices`` these are all
            vertices of its elements. On other sets, as ``boundary``, they are the same lines or faces there; or, for a region of
            vertices, those whose vertices are all inside.

        Examples
        --------
        >>> import parloop.mesh as op2
        >>> mesh = op2.box_mesh((2, 2), "quad")
        >>> mesh.region("left")
        <Subset of Set(8, 'line'): 2 elements>
        >>> mesh.region("left", on="vertices").indices.tolist()
        [0, 3, 6]
        """
        place = self._connectivity.resolve(on) if on is not None else self._regions.home(name)
        part, elements = self._set(place), self._regions.elements(name, place)
        if part.is_distributed:
            elements = np.flatnonzero(np.isin(part.global_numbers, elements))
        return Subset(part, elements.astype(np.int32))

    def data(self, name: str, on: str | None = None) -> Dat:
        """Data of the mesh by its name; `on` says on which set it is where there are several."""
        check_name("field", name)
        found = {"vertices": self.point_data[name]} if name in self.point_data else {}
        found |= self.cell_data.get(name, {})
        if not found:
            raise DataValueError(unknown("data", name, dict.fromkeys([*self.point_data, *self.cell_data])))
        if on is None and len(found) > 1:
            raise DataValueError(f"data `{name}` is on {', '.join(found)}; select one with on=")
        place = next(iter(found)) if on is None else self._connectivity.resolve(on)
        if place not in found:
            raise DataValueError(f"data `{name}` is on {', '.join(found)}, not on `{place}`")
        return found[place]

    def space(self, degree: int = 1) -> Space:
        """The nodes of continuous finite elements of degree 1 or 2; see :class:`Space`. The same object each time."""
        if isinstance(degree, bool) or degree not in (1, 2):
            raise DataValueError(f"a space must have degree 1 or 2, not {degree!r}")
        if degree not in self._spaces:
            self._check_whole(f"the space of degree {degree}")
            self._spaces[degree] = make_space(self, degree)
        return self._spaces[degree]

    def refine(self) -> Mesh:
        """A mesh whose cells are those of this one cut in half along each direction: 2, 4 or 8 for each.

        Lines, triangles, quadrilaterals, tetrahedra and hexahedra can be refined, also several types in one mesh. Regions and cell data
        follow; point data of floating type is interpolated, other point data is left out. Vertices of this mesh keep their numbers, and
        cell ``i`` becomes cells ``n*i`` to ``n*i + n - 1``. Tetrahedra are cut along the shortest diagonal inside.

        Examples
        --------
        >>> import parloop.mesh as op2
        >>> op2.box_mesh((1, 1)).refine()
        <Mesh: 8 triangle, 8 line on 9 vertices in 2 dimensions
          regions: left (2 line), right (2 line), bottom (2 line), top (2 line)>
        """
        self._check_whole("a refined mesh")
        return refine(self)

    def write(self, path: str | os.PathLike[str], /, **fields: Any) -> None:
        """Write the mesh and data on it to a file; its ending says in which format.

        Parameters
        ----------
        path : path
            A file for ParaView (``.vtu``) needs nothing else where all cells are of one first-order type. Everything else is written by
            meshio (``pip install parloop[mesh]``). Gmsh's files (``.msh``) get the regions as physical groups. A file that is there
            is replaced when the new one is complete.
        **fields : Dat, or a list of them
            Data on vertices or cells by the names that the viewer shows. In a mesh with cells of several types, data on cells is a
            list of Dats, one for each type. Data that a format cannot have is an error.

        Examples
        --------
        >>> import os, tempfile, parloop.mesh as op2
        >>> mesh = op2.box_mesh((2, 2))
        >>> mesh.write(os.path.join(tempfile.mkdtemp(), "plate.vtu"), temperature=op2.Dat(mesh.vertices))
        """
        write(self, path, fields)

    def plot(self, dat: Dat, ax: Any = None, component: int | None = None, **options: Any) -> Any:
        """Draw data on the vertices or cells of triangles or quadrilaterals in a plane, or on a space of triangles, with matplotlib."""
        for space in self._spaces.values():
            if dat.dataset.set is space.nodes and space.nodes is not self.vertices:
                return space.plot(dat, ax, component, **options)
        return dat.plot(self.coordinates, self._cell_map(self.cell_type), ax, component, **options)

    def _repr_html_(self) -> str:
        return f"<div>{preformatted(self)}{picture(self)}</div>"

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(table)} {name}" for name, table in sorted(self._connectivity.tables.items(), key=_falling))
        width = self.coordinates.cdim
        lines = [f"{counts + ' on ' if counts else ''}{self.vertices.size} vertices in {width} dimension{'s' * (width > 1)}"]
        if self._regions.parts:
            lines.append("regions: " + ", ".join(map(self._regions.describe, self._regions.parts)))
        if self.point_data:
            lines.append("point data: " + ", ".join(self.point_data))
        if self.cell_data:
            lines.append("cell data: " + ", ".join(f"{name} ({', '.join(parts)})" for name, parts in self.cell_data.items()))
        return f"<Mesh{' ' + self.name if self.name else ''}: " + "\n  ".join(lines) + ">"


def _falling(block: tuple[str, Table]) -> int:
    return -shape_of(block[0]).dim


def _check_cells(cell_type: str, table: npt.ArrayLike) -> Table:
    check_name("cell type", cell_type)
    if cell_type not in CELL_TYPES:
        raise SetValueError(unknown("cell type", cell_type, CELL_TYPES))
    array, arity = np.asarray(table), CELL_TYPES[cell_type][1]
    if array.size == 0:
        return np.zeros((0, arity), np.int32)
    if array.dtype.kind not in "iu":
        raise MapTypeError(f"the vertices of `{cell_type}` must be integers, not numbers of type {array.dtype}")
    if array.ndim != 2 or array.shape[1] != arity:
        raise MapValueError(f"a cell of type `{cell_type}` has {arity} vertices, but the table has shape {array.shape}")
    return array


def _check_points(points: npt.ArrayLike, dim: int) -> npt.NDArray[np.float64]:
    """The coordinates without trailing columns that are zero everywhere, but at least as many as cells have dimensions."""
    given = np.asarray(points)
    if given.dtype.kind not in "iuf" and given.size:
        raise DataValueError(f"coordinates must be real numbers, not {given.dtype}")
    if given.ndim != 2 or given.shape[1] not in (1, 2, 3):
        raise DataValueError(f"points must be rows of one, two or three coordinates, not an array of shape {given.shape}")
    x = np.array(given, np.float64)
    if not np.isfinite(x).all():
        raise DataValueError(f"point {int(np.flatnonzero(~np.isfinite(x).all(axis=1))[0])} has coordinates that are not finite")
    if x.shape[1] < dim:
        raise DataValueError(f"points have {x.shape[1]} coordinate{'s' * (x.shape[1] > 1)}, but cells have dimension {dim}")
    while x.shape[1] > max(dim, 1) and len(x) and not x[:, -1].any():
        x = x[:, :-1]
    return np.ascontiguousarray(x)


def _make_dat(place: Set, values: npt.ArrayLike, name: str) -> Dat:
    array = np.asarray(values)
    if array.shape[:1] != (place.size,):
        raise DataValueError(f"data `{name}` has shape {array.shape}, but set `{place.name}` has {place.size} elements")
    array = np.array(array, array.dtype.newbyteorder("="))
    return Dat(place ** array.shape[1:] if array.ndim > 1 else place, array, name=name)
