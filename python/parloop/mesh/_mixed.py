"""Sets, data sets and maps of several parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._parloop import DataSetTypeError, DimTypeError, MapTypeError, MapValueError, SetTypeError, SetValueError
from .._parloop import _DataSet as DataSet
from .._parloop import _Global as Global
from .._parloop import _Map as Map
from .._parloop import _Set as Set
from ._parts import Parts, kind, listed

#: The set on which Globals are: it has one element.
GLOBAL_SET = Set(1, "global")


class GlobalDataSet(DataSet):
    """The data set of a :class:`Global`: its dimension, on a set of one element.

    Rows or columns of a matrix can be on it, and so can parts of a :class:`MixedDataSet`.

    Examples
    --------
    >>> import parloop.mesh as op2
    >>> op2.GlobalDataSet(op2.Global(2, [1.0, 2.0], name="force"))
    GlobalDataSet('force', 2)
    """

    def __new__(cls, of: Global) -> GlobalDataSet:
        if not isinstance(of, Global):
            raise DataSetTypeError(f"a GlobalDataSet needs a Global, not {kind(of)}")
        return super().__new__(cls, GLOBAL_SET, of.dim, of.name)

    def __repr__(self) -> str:
        return f"GlobalDataSet({self.name!r}, {self.dim[0] if len(self.dim) == 1 else self.dim})"


class MixedSet(Parts[Set]):
    """Several sets. Data can be put on it; loops cannot run over it.

    Parameters
    ----------
    sets
        The sets, at least one. A set can occur more than once.

    Examples
    --------
    >>> import parloop.mesh as op2
    >>> mixed = op2.MixedSet([op2.Set(3, "cells"), op2.Set(4, "nodes")])
    >>> mixed.size, mixed.name, mixed[1]
    (7, ('cells', 'nodes'), Set(4, 'nodes'))
    >>> (mixed ** (1, 2)).dim
    ((1,), (2,))
    """

    def __init__(self, sets: Iterable[Set]) -> None:
        parts = listed(sets, "a MixedSet", SetTypeError)
        for number, part in enumerate(parts):
            if not isinstance(part, Set):
                raise SetTypeError(f"part {number} of a MixedSet is {kind(part)}; give a Set")
        self._parts = tuple(parts)

    @property
    def core_size(self) -> int:
        """How many elements of all sets touch nothing of other processes."""
        return sum(part.core_size for part in self)

    @property
    def size(self) -> int:
        """How many elements of all sets are of this process."""
        return sum(part.size for part in self)

    @property
    def total_size(self) -> int:
        """How many elements all sets have with the ghosts."""
        return sum(part.total_size for part in self)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """`core_size`, `size` and `total_size`."""
        return self.core_size, self.size, self.total_size

    @property
    def name(self) -> tuple[str, ...]:
        """The names of the sets."""
        return tuple(part.name for part in self)

    def __pow__(self, dim: Any) -> MixedDataSet:
        """Data of these dimensions: an integer for all sets, or one dimension for each."""
        return MixedDataSet(self, dim)


class MixedDataSet(Parts[DataSet]):
    """Several data sets: the parts of a :class:`MixedDat`, or the blocks of rows or columns of a :class:`MixedMat`.

    Parameters
    ----------
    parts
        A :class:`MixedSet`, or a list of Sets and DataSets; a Set has one number for each element.
    dims
        An integer for all sets, or a dimension for each. It cannot be given for DataSets, which have theirs.

    Examples
    --------
    >>> import parloop.mesh as op2
    >>> cells, nodes = op2.Set(3, "cells"), op2.Set(4, "nodes")
    >>> op2.MixedDataSet([cells, nodes ** 2])
    MixedDataSet([DataSet(Set(3, 'cells'), 1), DataSet(Set(4, 'nodes'), 2)])
    >>> op2.MixedDataSet([cells, nodes], 2).cdim
    4
    """

    def __init__(self, parts: Iterable[Set | DataSet], dims: Any = None) -> None:
        found = listed(parts, "a MixedDataSet", DataSetTypeError)
        self._parts = tuple(_data_sets(found) if dims is None else _with_dims(found, dims))

    @property
    def dim(self) -> tuple[tuple[int, ...], ...]:
        """The dimension of each part."""
        return tuple(part.dim for part in self)

    @property
    def cdim(self) -> int:
        """The numbers on one element of each part, summed up."""
        return sum(part.cdim for part in self)

    @property
    def name(self) -> tuple[str, ...]:
        """The names of the parts."""
        return tuple(part.name for part in self)

    @property
    def set(self) -> MixedSet:
        """The sets of the parts."""
        return MixedSet(part.set for part in self)

    @property
    def core_size(self) -> int:
        """As that of `set`."""
        return self.set.core_size

    @property
    def size(self) -> int:
        """How many rows of the data of all parts are of this process: one for each element, or for each cell of an extruded set."""
        return sum(part.size for part in self)

    @property
    def total_size(self) -> int:
        """How many rows all parts have with the ghosts."""
        return sum(part.total_size for part in self)

    def __contains__(self, data: object) -> bool:
        """Whether data of several parts is on this data set."""
        return getattr(data, "dataset", None) == self


def _data_sets(parts: list[Any]) -> Iterable[DataSet]:
    for number, part in enumerate(parts):
        if not isinstance(part, (Set, DataSet)):
            raise DataSetTypeError(f"part {number} of a MixedDataSet is {kind(part)}; give a Set or a DataSet")
        yield part if isinstance(part, DataSet) else part**1


def _with_dims(parts: list[Any], dims: Any) -> Iterable[DataSet]:
    for number, part in enumerate(parts):
        if not isinstance(part, Set):
            why = "a DataSet, which has a dimension; omit dims" if isinstance(part, DataSet) else f"{kind(part)}; give a Set"
            raise DataSetTypeError(f"part {number} of a MixedDataSet with dims is {why}")
    if isinstance(dims, (int, np.integer)):
        dims = [dims] * len(parts)
    elif isinstance(dims, str) or not isinstance(dims, Iterable):
        raise DimTypeError(f"the dims of a MixedDataSet must be an integer or one dimension for each set, not {kind(dims)}")
    dims = list(dims)
    if len(dims) != len(parts):
        raise SetValueError(f"a MixedDataSet of {len(parts)} sets needs {len(parts)} dims, not {len(dims)}; one integer applies to all sets")
    return [part**dim for part, dim in zip(parts, dims)]


class MixedMap(Parts["Map | None"]):
    """Several maps from one set: how its elements lead to the parts of a :class:`MixedDat`.

    Parameters
    ----------
    maps
        The maps, at least one; ``None`` stands for a part that is a Global.

    Examples
    --------
    >>> import parloop.mesh as op2
    >>> cells, nodes = op2.Set(2, "cells"), op2.Set(3, "nodes")
    >>> own = op2.Map(cells, cells, 1, [0, 1], "own")
    >>> ends = op2.Map(cells, nodes, 2, [0, 1, 1, 2], "ends")
    >>> both = op2.MixedMap([own, ends])
    >>> both.arity, both.arange, both.iterset
    (3, (0, 1, 3), Set(2, 'cells'))
    """

    def __init__(self, maps: Iterable[Map | None]) -> None:
        parts = listed(maps, "a MixedMap", MapTypeError)
        for number, part in enumerate(parts):
            if part is not None and not isinstance(part, Map):
                raise MapTypeError(f"part {number} of a MixedMap is {kind(part)}; give a Map, or None where the part of the data is a Global")
        found = [part for part in parts if part is not None]
        if not found:
            raise MapTypeError("a MixedMap needs at least one Map, which determines its iteration set")
        for part in found[1:]:
            if part.iterset != found[0].iterset:
                begins = f"`{found[0].name}` starts at `{found[0].iterset.name}`, but `{part.name}` at `{part.iterset.name}`"
                raise MapValueError(f"the maps of a MixedMap must start at one set: {begins}")
        self._parts = tuple(parts)
        self._iterset: Set = found[0].iterset

    @property
    def iterset(self) -> Set:
        """The set that all maps lead from."""
        return self._iterset

    @property
    def toset(self) -> MixedSet:
        """The sets that the maps lead to."""
        return MixedSet(GLOBAL_SET if part is None else part.toset for part in self)

    @property
    def arities(self) -> tuple[int, ...]:
        """The arity of each map; 1 for a Global."""
        return tuple(1 if part is None else part.arity for part in self)

    @property
    def arity(self) -> int:
        """The arities summed up."""
        return sum(self.arities)

    @property
    def arange(self) -> tuple[int, ...]:
        """Where each map's targets begin among those of all maps, and where the last ones end."""
        return (0, *np.cumsum(self.arities).tolist())

    @property
    def values(self) -> tuple[npt.NDArray[np.int32] | None, ...]:
        """The values of each map for the elements of this process."""
        return tuple(None if part is None else part.values for part in self)

    @property
    def values_with_halo(self) -> tuple[npt.NDArray[np.int32] | None, ...]:
        """The values of each map for all elements, ghosts and all."""
        return tuple(None if part is None else part.values_with_halo for part in self)

    @property
    def name(self) -> tuple[str | None, ...]:
        """The names of the maps."""
        return tuple(None if part is None else part.name for part in self)
