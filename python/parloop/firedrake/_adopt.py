"""Sets, maps and data of PyOP2 as ours.

A part of a set (core, owned) is a set of its own: maps begin there with a part of their tables, and data on it is a part of the array. Numbers of
data are shared with PyOP2, never copied. Sets and maps are remembered as long as PyOP2's live; tables of maps are copied once, since they are
checked when a map is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import mesh
from ._left import LeftToPyOP2
from ._weak import ByIdentity

#: The elements of a set from one number on, and how many.
Span = tuple[int, int]

_sets: ByIdentity[dict[Span, Any]] = ByIdentity()
_maps: ByIdentity[dict[Span, Any]] = ByIdentity()


def whole(of: Any) -> Span:
    """All elements of a set, ghosts too."""
    return 0, int(of.total_size)


def plain(of: Any) -> Any:
    """The set that the columns of an extruded set stand on, or the set itself."""
    return of.parent if type(of).__name__ == "ExtrudedSet" else of


def set_of(of: Any, span: Span) -> Any:
    """Some elements of a set of PyOP2's, as a set."""
    known = _sets.setdefault(of, dict)
    if (found := known.get(span)) is None:
        known[span] = found = _made_set(of, span)
    return found


def _made_set(of: Any, span: Span) -> Any:
    kind, (first, count) = type(of).__name__, span
    if kind == "ExtrudedSet":
        parent, layers = set_of(of.parent, span), of.layers_array
        given = int(layers[0, 1]) if of.constant_layers else layers[first : first + count]
        if of.constant_layers and layers[0, 0] != 0:
            raise LeftToPyOP2("the columns of an extruded set do not start at layer 0")
        return mesh.ExtrudedSet(parent, given, of._extruded_periodic)
    if kind == "Subset":
        return mesh.Subset(set_of(of.superset, whole(of.superset)), of.indices[first : first + count])
    if kind != "Set":
        raise LeftToPyOP2(f"a loop or a map over a {kind}")
    return mesh.Set(count, of.name)


def target_set(of: Any) -> Any:
    """The set that maps lead to, ghosts and all."""
    return set_of(plain(of), whole(of))


def map_of(of: Any, span: Span) -> Any:
    """A map of PyOP2's, from some elements of the set that it begins at."""
    known = _maps.setdefault(of, dict)
    if (found := known.get(span)) is None:
        known[span] = found = _made_map(of, span)
    return found


def _made_map(of: Any, span: Span) -> Any:
    kind, (first, count) = type(of).__name__, span
    if kind == "PermutedMap":
        return mesh.PermutedMap(map_of(of.map_, span), of.permutation)
    if kind == "ComposedMap":
        *others, begin = of.maps_
        return mesh.ComposedMap(*(map_of(other, whole(other.iterset)) for other in others), map_of(begin, span))
    if kind != "Map":
        raise LeftToPyOP2(f"a {kind}")
    values = of.values_with_halo[first : first + count]
    if values.size and values.min() < 0:
        raise LeftToPyOP2("a map with negative entries")
    ends = set_of(of.iterset, span), target_set(of.toset)
    return mesh.Map(*ends, of.arity, values, of.name, offset=of.offset, offset_quotient=of.offset_quotient)


class _InPlace:
    """Tells NumPy where the numbers of an array are, which it keeps."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def _shared(array: Any, access: str) -> Any:
    """The array, if its numbers can be shared: of a copy, neither side would see later changes of the other."""
    if array.dtype.kind not in "iuf" or not array.dtype.isnative:
        raise LeftToPyOP2(f"data of type {array.dtype}")
    flags = array.flags
    if not (flags.c_contiguous and flags.aligned):
        raise LeftToPyOP2("data that is not in C order")
    if flags.writeable:
        return array
    if access != "READ":
        raise LeftToPyOP2(f"{access} of data that is read-only")
    # Ours are made over memory that may be written, and a loop that reads does not write it.
    return np.asarray(_InPlace(array))


def dat_of(dat: Any, on: Any, array: Any, access: str) -> Any:
    """Numbers of PyOP2's data, all of them or of some elements, on a set of ours."""
    if int(np.prod(dat.dataset.dim)) == 0:
        raise LeftToPyOP2("data of dimension 0")
    return mesh.Dat(on**dat.dataset.dim, _shared(array, access), name=dat.name)


def global_of(of: Any, access: str) -> Any:
    """Numbers that all elements share."""
    return mesh.Global(of._data.size, _shared(of._data, access).reshape(-1), name=of.name)


def written_global(of: Any, base: Any, count: int, access: str, is_extruded: bool) -> tuple[Any, Any]:
    """Numbers that all elements share as data on one element, and a map that leads there from all `count` elements of a set."""
    one = mesh.Set(1, "one")
    dat = mesh.Dat(one**of._data.size, _shared(of._data, access).reshape(1, -1), name=of.name)
    return dat, mesh.Map(base, one, 1, np.zeros((count, 1), np.int32), "all_to_one", offset=[0] if is_extruded else None)
