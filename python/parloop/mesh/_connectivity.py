"""Which sets a mesh has by name, the vertices of their elements, and tables between any two of them. Plain NumPy, no sets and maps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._parloop import MapValueError, SetValueError
from ._names import check_name, unknown
from ._shapes import CELL_TYPES, FACET_SHAPES, SHAPES, parts, shape_of
from ._topology import Entities, Ints, Sides, Table, find_entities, find_sides, locate, rows_of


class SideSet(NamedTuple):
    """The facets of the boundary, or those between two cells."""

    facets: Ints
    cells: Ints
    """One column for the boundary, two for interior facets."""
    local: Ints
    """Which facet of its first cell each one is."""
    vertices: Table


class Connectivity:
    """Tables of cells by type, and what follows from them, computed at first use."""

    def __init__(self, vertices: int, tables: dict[str, Table]) -> None:
        self.vertices, self.tables = vertices, tables
        self.dim = max((shape_of(name).dim for name in tables), default=0)
        self.cell_types = [name for name in tables if shape_of(name).dim == self.dim]
        shapes = {FACET_SHAPES[len(face)] for name in self.cell_types for face in shape_of(name).faces} if self.dim == 3 else set()
        alone = len(shapes) == 1
        self._faces = {"faces" if alone else f"{shape} faces": shape for shape in sorted(shapes, reverse=True)}
        facets = {1: ["vertices"], 2: ["edges"], 3: list(self._faces)}.get(self.dim, [])
        #: The names of boundary and interior facets, and the facets they are part of.
        self._sided = {name.replace(" faces", f" {side}") if " " in name else side: name for side in ("boundary", "interior") for name in facets}
        self._entities: dict[str, Entities] = {}
        self._sides: dict[str, Sides] = {}
        self._side_sets: dict[str, SideSet] = {}

    @property
    def names(self) -> list[str]:
        """The sets that there are, as they are called."""
        return ["vertices", *self.tables, *(["edges"] if self.dim > 1 else []), *self._faces, *self._sided]

    def cell_type(self) -> str:
        """The type of the cells, where there is only one."""
        if len(self.cell_types) == 1:
            return self.cell_types[0]
        if not self.cell_types:
            raise SetValueError("the mesh has vertices only, no cells")
        named = ", ".join(f'mesh.sets["{name}"]' for name in self.cell_types)
        raise SetValueError(f"the mesh has cells of several types, so `cells` is ambiguous; use one of {named}")

    def resolve(self, name: str) -> str:
        """The name of a set, with `cells` and `facets` replaced by what they are in this mesh."""
        check_name("set", name)
        if name == "cells":
            return self.cell_type()
        if name == "facets" and self.dim > 0:
            name = {1: "vertices", 2: "edges", 3: "faces"}[self.dim]
        if name in self.names:
            return name
        several = [known for known in self.names if known.endswith(" " + name)]
        if several:
            raise SetValueError(f"the mesh has {name} of several shapes; use one of {', '.join(several)}")
        if name in ("edges", "faces"):
            raise SetValueError(f"a mesh of dimension {self.dim} has no {name}; it has {', '.join(self.names)}")
        raise SetValueError(unknown("set", name, [*self.names, "cells", "facets"]))

    def shape(self, name: str) -> str:
        """The shape of the elements of a set."""
        if name in self.tables:
            return CELL_TYPES[name][0]
        return FACET_SHAPES[self.corners(name).shape[1]]

    def size(self, name: str) -> int:
        """How many elements a set has."""
        return self.vertices if name == "vertices" else len(self.corners(name))

    def corners(self, name: str) -> Table:
        """The vertices of each element of a set, without the further nodes of second-order cells."""
        if name in self.tables:
            return self.tables[name][:, : shape_of(name).corners]
        if name in self._sided:
            return self.side_set(name).vertices
        return self.entities(name).vertices

    def entities(self, name: str) -> Entities:
        """The vertices, edges or faces of all cells."""
        if name not in self._entities:
            tables = {cell_type: self.corners(cell_type) for cell_type in self.cell_types}
            if name == "vertices":
                found = Entities("vertex", np.arange(self.vertices)[:, None], {key: table.astype(np.int64) for key, table in tables.items()})
            else:
                found = find_entities(self._faces.get(name, "line"), tables, {key: CELL_TYPES[key][0] for key in tables})
            self._entities[name] = found
        return self._entities[name]

    def sides(self, name: str) -> Sides:
        """The cells on both sides of facets."""
        if name not in self._sides:
            entities = self.entities(name)
            sides = find_sides(entities)
            if (sides.number > 2).any():
                worst = int(sides.number.argmax())
                corners = ", ".join(map(str, entities.vertices[worst]))
                raise MapValueError(
                    f"the facet with vertices {corners} belongs to {sides.number[worst]} cells; in a conforming mesh it has at most two"
                )
            self._sides[name] = sides
        return self._sides[name]

    def side_set(self, name: str) -> SideSet:
        """The facets of the boundary, or those between cells, as their first cells see them."""
        if name not in self._side_sets:
            facets = self._sided[name]
            sides, shape = self.sides(facets), self.entities(facets).shape
            ids = np.flatnonzero(sides.number == (1 if name.endswith("boundary") else 2))
            vertices = np.empty((len(ids), SHAPES[shape].corners), np.int64)
            offset = 0
            for cell_type in self.cell_types:
                table = self.corners(cell_type)
                mine = (sides.first[ids] >= offset) & (sides.first[ids] < offset + len(table))
                local = parts(shape_of(cell_type), shape)
                if mine.any():
                    vertices[mine] = rows_of(table, local, sides.first[ids[mine]] - offset, sides.first_local[ids[mine]])
                offset += len(table)
            both = [sides.first[ids]] if name.endswith("boundary") else [sides.first[ids], sides.second[ids]]
            self._side_sets[name] = SideSet(ids, np.stack(both, axis=1), sides.first_local[ids], vertices)
        return self._side_sets[name]

    def facet_names(self) -> list[str]:
        """The names of the facets: one, but for cells that have triangles and quadrilaterals as faces."""
        return list(dict.fromkeys(self._sided.values()))

    def between(self, of: str, to: str) -> Table:
        """For each element of one set, elements of another; both names are resolved."""
        if to == "vertices":
            return self.tables[of] if of in self.tables else self.corners(of)
        if of in self.cell_types and to not in self.tables and to not in self._sided:
            return self.entities(to).cells[of]
        if of in self._sided and to == self._sided[of]:
            return self.side_set(of).facets[:, None]
        if to in self.cell_types:
            return self._cells_of(of, to)
        if of == "vertices":
            raise MapValueError(f"a vertex belongs to any number of `{to}`, so there is no map from `vertices` to `{to}`")
        return self._parts_of(of, to)

    def _parts_of(self, of: str, to: str) -> Table:
        shape, part = self.shape(of), self.shape(to)
        local = parts(SHAPES[shape], part)
        if not local or SHAPES[shape].dim < SHAPES[part].dim:
            raise MapValueError(f"there is no map from `{of}` to `{to}`: a {shape} has no {part}")
        rows = self.corners(of)[:, np.array(local)]
        found = locate(rows.reshape(-1, rows.shape[2]), self.corners(to)).reshape(rows.shape[:2])
        if (found < 0).any():
            row, column = np.argwhere(found < 0)[0]
            corners = ", ".join(map(str, rows[row, column]))
            raise MapValueError(f"there is no map from `{of}` to `{to}`: the {part} with vertices {corners} of element {row} is not in `{to}`")
        return found

    def _cells_of(self, of: str, to: str) -> Table:
        if len(self.cell_types) > 1:
            types = ", ".join(self.cell_types)
            raise MapValueError(f"there is no map from `{of}` to `{to}`: the cells behind them are of several types ({types})")
        if of in self._sided:
            return self.side_set(of).cells
        names = [name for name in self.facet_names() if of in self.tables and self.entities(name).shape == self.shape(of)]
        if not names:
            raise MapValueError(f"there is no map from `{of}` to `{to}`: elements of `{of}` belong to any number of cells")
        facets = self._parts_of(of, names[0])[:, 0]
        sides = self.sides(names[0])
        if (sides.number[facets] == 2).any():
            row = int(np.flatnonzero(sides.number[facets] == 2)[0])
            raise MapValueError(f'element {row} of `{of}` lies between two cells; use mesh.map("{of}", "facets") and the cells of `interior`')
        return sides.first[facets][:, None]
