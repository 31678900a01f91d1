"""Meshes that no process holds as a whole: each gives a slice of every set, and gets its part of the mesh."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .._parloop import SetValueError, _distribute_slices
from .._parloop import _Comm as Comm
from .._parloop import _Dat as Dat
from .._parloop import _Map as Map
from .._parloop import _Set as Set
from ._processes import Distribution, end_all_when_one_raises


class MeshPart:
    """What this process has of a mesh that was given in slices: sets, maps and data are attributes.

    Attributes
    ----------
    sets, maps, data : dict
        The same by their names.
    distribution : Distribution
        How the set was dealt out.
    """

    def __init__(self, sets: dict[str, Set], maps: dict[str, Map], data: dict[str, Dat], distribution: Distribution):
        self.sets, self.maps, self.data, self.distribution = sets, maps, data, distribution

    def __getattr__(self, name: str) -> Any:
        for known in (vars(self).get(kind, {}) for kind in ("sets", "maps", "data")):
            if name in known:
                return known[name]
        raise AttributeError(f"the mesh has no set, map or data {name!r}")

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self.sets, *self.maps, *self.data]

    def __repr__(self) -> str:
        comm = self.distribution.comm
        sizes = ", ".join(f"{name} {each.size:,} of {each.global_size:,}" for name, each in self.sets.items())
        return f"<MeshPart of rank {comm.rank} of {comm.size}: {sizes}; maps: {', '.join(self.maps) or 'none'}; data: {', '.join(self.data) or 'none'}>"


def distribute_slices(
    set: str,
    *,
    maps: Mapping[str, tuple[str, str, npt.ArrayLike]],
    data: Mapping[str, tuple[str, npt.ArrayLike]] | None = None,
    sizes: Mapping[str, int] | None = None,
    by: Literal["coordinates"] | npt.ArrayLike = "coordinates",
    coordinates: str | None = None,
    comm: Any = None,
) -> MeshPart:
    """Deals out a mesh that no process holds as a whole.

    Each process gives a slice of every set: consecutive elements, those of rank 0 first, as many as it likes. It never has more of the mesh than its slices
    and its part. For meshes that fit into a process, :func:`distribute` is simpler, and can keep neighbours together by their graph. All processes must
    call it.

    Parameters
    ----------
    set : str
        The set that is dealt out, mostly the cells; all others follow it through maps.
    maps : dict of name to (from, to, values)
        For each element of the slice of a set, elements of another one, as numbers in the whole set: an array with a row for each.
    data : dict of name to (set, values)
        Numbers on each element of the slice.
    sizes : dict of name to int, optional
        How many elements the slices of sets have that no map begins at and no data is on.
    by : "coordinates" or array of integers
        Elements that are near each other stay together (recursive bisection), or the rank of each element of the slice is given.
    coordinates : str, optional
        The name of the data with coordinates, of type float64, on the set or on one that a map leads to.
    comm : Comm or a communicator of mpi4py, optional
        The processes, by default all that were started together.

    Examples
    --------
    >>> import numpy as np, parloop.mesh as op2
    >>> comm = op2.Comm.world()
    >>> def slice_of(count):  # what this process reads, of a file for instance
    ...     return np.arange(count * comm.rank // comm.size, count * (comm.rank + 1) // comm.size)
    >>> edges, nodes = slice_of(99), slice_of(100)
    >>> part = op2.distribute_slices(
    ...     "edges",
    ...     maps={"ends": ("edges", "nodes", np.stack([edges, edges + 1], axis=1))},
    ...     data={"x": ("nodes", nodes * 0.5)},
    ...     coordinates="x",
    ... )
    >>> part.edges.global_size, part.x.gather()[-1]
    (99, np.float64(49.5))
    """
    comm = Comm.world() if comm is None else comm if isinstance(comm, Comm) else Comm(comm)
    if comm.size > 1:
        end_all_when_one_raises(comm)
    prepared, failed, message = None, None, ""
    try:
        prepared = _prepared(set, maps, {} if data is None else data, {} if sizes is None else sizes, by, coordinates)
    except BaseException as error:
        failed, message = error, str(error) or type(error).__name__
    # The others would wait for a process that raises.
    messages = comm.gather_bytes(message.encode(errors="backslashreplace"))
    if failed is not None:
        raise failed
    for rank, message in enumerate(messages):
        if message:
            raise SetValueError(f"{message.decode()} (on rank {rank})")
    assert prepared is not None
    found = _distribute_slices(*prepared, comm)
    sets = {name: each for (name, _), each in zip(prepared.sets, found["sets"], strict=True)}
    known_maps = {entry[0]: each for entry, each in zip(prepared.maps, found["maps"], strict=True)}
    known_data = {entry[0]: each for entry, each in zip(prepared.data, found["data"], strict=True)}
    return MeshPart(sets, known_maps, known_data, Distribution(**found["distribution"]))


class _Prepared(NamedTuple):
    """A mesh as the core takes it, with sets and data by their places."""

    sets: list[tuple[str, int]]
    maps: list[tuple[str, int, int, int, bytes]]
    data: list[tuple[str, int, list[int], Any, bytes]]
    set: int
    by: int | list[int]


def _prepared(
    dealt: str, maps: Mapping[str, Any], data: Mapping[str, Any], sizes: Mapping[str, int], by: Any, coordinates: str | None
) -> _Prepared:
    """What was given, checked."""
    counts: dict[str, int] = {}

    def count(name: str, rows: int, what: str) -> None:
        if counts.setdefault(name, rows) != rows:
            raise SetValueError(f"set `{name}`: {what} has {rows} rows for the slice of this process, but {counts[name]} elements were given before")

    for what, given in (("maps", maps), ("data", data), ("sizes", sizes)):
        if not isinstance(given, Mapping):
            raise SetValueError(f"{what} must be a dict by names, not {given!r}")
        for name in given:
            _check_name(name, what)
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not 0 <= size <= _MOST:
            raise SetValueError(f"the size of set `{name}` must be an integer from 0 to {_MOST}, not {size!r}")
        count(name, int(size), "sizes")
    tables = {name: _table(name, given) for name, given in maps.items()}
    for name, (begin, _, values) in tables.items():
        count(begin, len(values), f"map `{name}`")
    fields = {name: _field(name, given) for name, given in data.items()}
    for name, (on, numbers) in fields.items():
        count(on, len(numbers), f"data `{name}`")
    for name, (_, end, _) in tables.items():
        if end not in counts:
            raise SetValueError(f"map `{name}` leads to set `{end}`, whose size is not known; give it as sizes={{{end!r}: ...}} or put data on it")
    _check_name(dealt, "set")
    if dealt not in counts:
        raise SetValueError(f"there is no set `{dealt}`; sets are {', '.join(f'`{name}`' for name in counts) or 'none'}")
    used: dict[str, str] = {}
    for kind, names in (("set", counts), ("map", tables), ("data", fields)):
        for name in names:
            if name in used:
                raise SetValueError(f"`{name}` is the name of a {used[name]} and of a {kind}")
            used[name] = kind
    places = {name: place for place, name in enumerate(counts)}
    rows = [(name, places[begin], places[end], values.shape[1], values.tobytes()) for name, (begin, end, values) in tables.items()]
    fields_by_place = [(name, places[on], list(each.shape[1:]) or [1], each.dtype, each.tobytes()) for name, (on, each) in fields.items()]
    return _Prepared(list(counts.items()), rows, fields_by_place, places[dealt], _partition(dealt, counts[dealt], list(fields), by, coordinates))


#: Elements have numbers of 32 bits.
_MOST = np.iinfo(np.int32).max
#: What a part has besides its sets, maps and data.
_TAKEN = ("sets", "maps", "data", "distribution")


def _check_name(name: Any, where: str) -> None:
    if not isinstance(name, str):
        raise SetValueError(f"{where}: names must be strings, not {name!r}")
    if name in _TAKEN:
        raise SetValueError(f"{where}: a mesh has an attribute `{name}` already; use another name")


def _table(name: str, given: Any) -> tuple[str, str, npt.NDArray[np.int32]]:
    """The sets and the values of a map."""
    if not (isinstance(given, (tuple, list)) and len(given) == 3):
        raise SetValueError(f"map `{name}` must be given as (from, to, values)")
    begin, end, values = given[0], given[1], np.asarray(given[2])
    for each in (begin, end):
        _check_name(each, f"map `{name}`")
    if values.ndim == 1 and not values.size:
        raise SetValueError(f"map `{name}` has no rows in the slice of this process: give an array of shape (0, arity)")
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.ndim != 2 or values.shape[1] == 0:
        raise SetValueError(f"the values of map `{name}` must be an array with a row for each element, not of shape {values.shape}")
    if values.dtype.kind not in "iu" and values.size:
        raise SetValueError(f"the values of map `{name}` must be integers, not numbers of type {values.dtype}")
    if values.size and (values.min() < 0 or values.max() > _MOST):
        row, column = np.argwhere((values < 0) | (values > _MOST))[0]
        raise SetValueError(f"map `{name}`: entry [{row}, {column}] of its slice is {values[row, column]}, which is not an element of set `{end}`")
    return begin, end, np.ascontiguousarray(values, np.int32)


def _field(name: str, given: Any) -> tuple[str, npt.NDArray[Any]]:
    """The set and the numbers of data."""
    if not (isinstance(given, (tuple, list)) and len(given) == 2):
        raise SetValueError(f"data `{name}` must be given as (set, values)")
    _check_name(given[0], f"data `{name}`")
    numbers = np.asarray(given[1])
    if numbers.ndim == 0:
        raise SetValueError(f"data `{name}` must be an array with a row for each element, not {given[1]!r}")
    if 0 in numbers.shape[1:]:
        raise SetValueError(f"data `{name}` has no numbers for an element: its shape is {numbers.shape}")
    # Other processes get the bytes.
    numbers = np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("="))
    Dat(Set(0, "none"), dtype=numbers.dtype, name=name)  # types that cannot be data are refused here, before others are told that all is well
    return given[0], numbers


def _partition(dealt: str, size: int, data: list[str], by: Any, coordinates: str | None) -> int | list[int]:
    """The place of the coordinates, or the rank of each element."""
    if isinstance(by, str):
        if by != "coordinates":
            raise SetValueError(f'set `{dealt}` cannot be distributed by {by!r}: use "coordinates" or an array of ranks')
        if coordinates not in data:
            raise SetValueError(f'by="coordinates" needs coordinates=, the name of one of the data: {", ".join(data) or "none was given"}')
        return data.index(coordinates)
    if coordinates is not None:
        raise SetValueError('coordinates were given but are not used; pass by="coordinates"')
    ranks = np.asarray(by)
    if ranks.shape != (size,) or (size and ranks.dtype.kind not in "iu"):
        raise SetValueError(f"set `{dealt}`: {size} ranks are needed as integers, one for each element of the slice, not {ranks.dtype} of shape {ranks.shape}")
    if size and (ranks.min() < 0 or ranks.max() > _MOST):
        raise SetValueError(f"set `{dealt}`: ranks are from 0 on, not from {ranks.min()} to {ranks.max()}")
    return [int(rank) for rank in ranks]
