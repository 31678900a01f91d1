"""Named parts of a mesh, and which vertices, facets or cells they are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from .._parloop import IndexTypeError, SetValueError
from ._connectivity import Connectivity
from ._names import check_name, unknown
from ._topology import Ints, locate


def check_regions(given: Mapping[str, Mapping[str, npt.ArrayLike]], connectivity: Connectivity) -> dict[str, dict[str, Ints]]:
    """The elements of each region, by the set they are in: `vertices` or a cell type."""
    regions: dict[str, dict[str, Ints]] = {}
    places = ["vertices", *connectivity.tables]
    for name, elements in given.items():
        check_name("region", name)
        if not isinstance(elements, Mapping):
            raise IndexTypeError(f"region `{name}` must be a dict from sets to elements, not an object of type {type(elements).__name__}")
        regions[name] = {}
        for place, indices in elements.items():
            check_name("set", place)
            if place not in places:
                raise SetValueError(f"region `{name}`: {unknown('set', place, places)}")
            array = np.asarray(indices).ravel()
            if array.dtype.kind not in "iu" and array.size:
                raise IndexTypeError(f"elements of region `{name}` must be integers, not {array.dtype}")
            array, size = np.unique(array.astype(np.int64)), connectivity.size(place)
            if array.size and (array[0] < 0 or array[-1] >= size):
                wrong = array[0] if array[0] < 0 else array[-1]
                raise SetValueError(f"region `{name}` has element {wrong}, but set `{place}` has {size} elements")
            if array.size:
                regions[name][place] = array
    return regions


def fill(vertices: Ints, connectivity: Connectivity) -> dict[str, Ints]:
    """The lines, faces and cells that a region of vertices stands for: those whose vertices are all in it.

    Facets count where they are on the boundary or were given. Cells do not count if all of the vertices are on the boundary, as
    the cell in a corner of a mesh has all of its vertices there.
    """
    inside = np.zeros(connectivity.vertices, bool)
    inside[vertices] = True
    sides = [name for name in connectivity.names if name.endswith("boundary")]
    rim = np.zeros(connectivity.vertices, bool)
    for name in sides:
        rim[connectivity.corners(name)] = True
    solid = not rim[vertices].all()
    names = [name for name in connectivity.tables if solid or name not in connectivity.cell_types]
    tables = {name: connectivity.tables[name] for name in names} | {name: connectivity.corners(name) for name in sides}
    return {name: np.flatnonzero(inside[table].all(axis=1)) for name, table in tables.items()}


class RegionTable:
    """The regions of one mesh."""

    def __init__(self, regions: dict[str, dict[str, Ints]], connectivity: Connectivity) -> None:
        self.parts, self._connectivity = regions, connectivity

    def find(self, name: str) -> dict[str, Ints]:
        """The elements of a region by set."""
        check_name("region", name)
        if name not in self.parts:
            raise SetValueError(unknown("region", name, self.parts))
        return self.parts[name]

    def home(self, name: str) -> str:
        """The one set that the elements of a region are in."""
        places = list(self.find(name))
        if len(places) == 1:
            return places[0]
        if not places:
            raise SetValueError(f"region `{name}` is empty; give its set with on=")
        raise SetValueError(f"region `{name}` has elements of {', '.join(places)}; select one with on=")

    def elements(self, name: str, on: str) -> Ints:
        """The elements of a set that belong to a region; the name of the set is resolved."""
        region, connectivity = self.find(name), self._connectivity
        if on in region and on != "vertices" or not region:
            return region.get(on, np.zeros(0, np.int64))
        if on == "vertices":
            touched = [connectivity.tables[place][ids].ravel() if place != "vertices" else ids for place, ids in region.items()]
            return np.unique(np.concatenate(touched).astype(np.int64))
        alike = [place for place in region if place != "vertices" and connectivity.shape(place) == connectivity.shape(on)]
        if alike:
            rows = np.concatenate([connectivity.corners(place)[region[place]] for place in alike])
            found = locate(rows, connectivity.corners(on))
            return np.unique(found[found >= 0])
        if "vertices" in region:
            inside = np.zeros(connectivity.vertices, bool)
            inside[region["vertices"]] = True
            return np.flatnonzero(inside[connectivity.corners(on)].all(axis=1))
        shapes = " and ".join(sorted(region))
        raise SetValueError(f"region `{name}` has elements of {shapes}, of which none is a {connectivity.shape(on)} of `{on}`")

    def describe(self, name: str) -> str:
        """The name of a region and what it has."""
        return f"{name} ({', '.join(f'{len(ids)} {place}' for place, ids in self.parts[name].items()) or 'empty'})"
