"""Meshes and data on them as files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._parloop import DataTypeError, DataValueError, DatTypeError, MapValueError
from .._parloop import _Dat as Dat
from .._parloop import _Map as Map
from .._parloop import _write_vtk as write_vtk
from ._formats import Arrays, CellArrays, checked_fields, format_of
from ._meshio import require, translated
from ._processes import check_whole
from ._replaced import replaced
from ._shapes import shape_of

if TYPE_CHECKING:
    from ._mesh import Mesh

#: Our VTK writer's names of the cell types that it has.
_VTK = {
    "vertex": "vertex", "line": "line", "triangle": "triangle", "quad": "quadrilateral", "tetra": "tetrahedron", "wedge": "wedge",
    "hexahedron": "hexahedron",
}  # fmt: skip

#: What our VTK writer calls its own arguments, so that it cannot have fields of these names.
_RESERVED = {"path", "coordinates", "map", "shape"}


def write(mesh: Mesh, path: str | os.PathLike[str], fields: Mapping[str, Any]) -> None:
    """Write the cells of a mesh and data on them, and its regions where the format is Gmsh's."""
    if os.fsdecode(path).lower().endswith(".msh"):
        check_whole(mesh.vertices, "a file")
        _write_gmsh(mesh, os.fsdecode(path), fields)
    else:
        write_cells(path, mesh.coordinates, {name: mesh.maps[name] for name in mesh._connectivity.cell_types}, fields)


def write_cells(path: str | os.PathLike[str], coordinates: Dat, maps: Mapping[str, Map], fields: Mapping[str, Any]) -> None:
    """Write cells and data on them."""
    file = os.fsdecode(path)
    is_index = file.lower().endswith(".pvtu")
    if not is_index:
        check_whole(coordinates.dataset.set, "a file")
    on_points, on_cells = split_fields(coordinates, maps, fields)
    is_ours = len(maps) == 1 and next(iter(maps)) in _VTK and not _RESERVED & set(fields)
    if is_ours and file.lower().endswith((".vtu", ".pvtu")):
        name, map = next(iter(maps.items()))
        given = {key: dat[0] if isinstance(dat, Sequence) else dat for key, dat in fields.items()}
        with contextlib.nullcontext(file) if is_index else replaced(file) as place:
            write_vtk(place, coordinates, map, _VTK[name], **given)
        return
    if is_index:
        reserved = ", ".join(sorted(_RESERVED))
        raise DataValueError(f"a .pvtu file can have cells of one type ({', '.join(_VTK)}) and no fields named {reserved}; found cells {', '.join(maps)}")
    meshio = require("meshio", f"writing `{file}`")
    file_format = format_of(meshio, file)
    on_points, on_cells = checked_fields(file, file_format, on_points, on_cells)
    if file_format == "gmsh22":
        on_cells = _gmsh_tags([np.zeros(map.iterset.size, np.int32) for map in maps.values()])
    with replaced(file) as place, translated("write", file):
        blocks = [(name, map.values) for name, map in maps.items()]
        meshio.Mesh(padded(coordinates), blocks, point_data=on_points, cell_data=on_cells).write(place, file_format=file_format)


def padded(coordinates: Dat) -> npt.NDArray[np.float64]:
    """Coordinates with zeros as the third, which most formats want."""
    x = coordinates.data_ro.reshape(-1, coordinates.cdim)
    return np.pad(x, ((0, 0), (0, 3 - x.shape[1])))


def split_fields(coordinates: Dat, maps: Mapping[str, Map], fields: Mapping[str, Any]) -> tuple[Arrays, CellArrays]:
    """The numbers of fields on points, and those of fields on cells with an array for each cell type."""
    points, cells = coordinates.dataset.set, [map.iterset for map in maps.values()]
    on_points: Arrays = {}
    on_cells: CellArrays = {}
    for name, given in fields.items():
        dats = list(given) if isinstance(given, (list, tuple)) else [given]
        for dat in dats:
            if not isinstance(dat, Dat):
                raise DatTypeError(f"field `{name}` must be a Dat or a list of Dats on cells, not an object of type {type(dat).__name__}")
            if dat.dtype.kind == "c":
                raise DataTypeError(f"field `{name}` has type {dat.dtype}, which a file cannot hold; write its real and imaginary parts")
            if dat.dtype.kind not in "iuf" or dat.dtype == np.float16:
                other = "float32" if dat.dtype.kind == "f" else "integers"
                raise DataTypeError(f"field `{name}` has type {dat.dtype}, which a file cannot hold; write it as {other}")
        if len(dats) == 1 and dats[0].dataset.set is points:
            on_points[name] = dats[0].data_ro
            continue
        places = [dat.dataset.set for dat in dats]
        for place in places:
            if place not in [points, *cells]:
                known = ", ".join(f"`{each.name}`" for each in [points, *cells])
                raise MapValueError(f"field `{name}` is on set `{place.name}`, but the mesh has {known}")
        missing = [place.name for place in cells if place not in places]
        if missing or len(places) != len(cells):
            raise DataValueError(f"field `{name}` needs a Dat on each set of cells; {', '.join(missing) or 'one'} is missing or given twice")
        on_cells[name] = [dats[places.index(place)].data_ro for place in cells]
        if len({(part.dtype, part.shape[1:]) for part in on_cells[name]}) > 1:
            raise DataValueError(f"the parts of field `{name}` differ in type or dimension")
    return on_points, on_cells


def _gmsh_tags(groups: Sequence[npt.NDArray[np.int32]]) -> CellArrays:
    """The numbers that Gmsh's format has for each cell: of the group that it is in, or 0, and of its part of the geometry."""
    return {"gmsh:physical": list(groups), "gmsh:geometrical": [np.ones(len(tags), np.int32) for tags in groups]}


def _write_gmsh(mesh: Mesh, file: str, fields: Mapping[str, Any]) -> None:
    """Write all cells with their regions as physical groups, of which a cell has one at most."""
    tables, cell_types = mesh._connectivity.tables, mesh._connectivity.cell_types
    on_points, on_cells = split_fields(mesh.coordinates, {name: mesh.maps[name] for name in cell_types}, fields)
    # meshio 5.3 does not read files with fields on cells.
    on_points, _ = checked_fields(file, "gmsh22", on_points, on_cells)
    tags = {name: np.zeros(len(table), np.int32) for name, table in tables.items()}
    groups: dict[str, npt.NDArray[np.int64]] = {}
    points: list[tuple[int, npt.NDArray[np.int64]]] = []
    for region, parts in mesh._regions.parts.items():
        dims = sorted({0 if place == "vertices" else shape_of(place).dim for place in parts})
        if len(dims) > 1:
            raise DataValueError(f"a Gmsh group has one dimension, but region `{region}` has elements of {', '.join(parts)}")
        for place, ids in parts.items():
            groups[region] = np.array([len(groups) + 1 if region not in groups else groups[region][0], dims[0]])
            if place == "vertices":
                points.append((int(groups[region][0]), ids))
                continue
            taken = tags[place][ids]
            if taken.any():
                other = next(name for name, group in groups.items() if group[0] == taken[taken > 0][0])
                raise DataValueError(f"a cell in the Gmsh format has one group, but regions `{other}` and `{region}` share elements of {place}")
            tags[place][ids] = groups[region][0]
    blocks = [(name, table, tags[name]) for name, table in tables.items()]
    blocks += [("vertex", ids[:, None], np.full(len(ids), tag, np.int32)) for tag, ids in points]
    numbers = _gmsh_tags([tag for _, _, tag in blocks])
    meshio = require("meshio", f"writing `{file}`")
    with replaced(file) as place, translated("write", file):
        cells = [(name, table) for name, table, _ in blocks]
        meshio.Mesh(padded(mesh.coordinates), cells, point_data=on_points, cell_data=numbers, field_data=groups).write(place, file_format="gmsh22")
