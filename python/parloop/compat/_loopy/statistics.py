"""What kernels do, counted: operations, accesses to memory, barriers and launches, and which elements are touched."""

from __future__ import annotations

import enum
import importlib
import importlib.util
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ... import _parloop
from ...loops import Kernel, Program, infer_unknown_types
from ...loops._expressions import text
from ...loops._types import NumpyType, to_type
from .diagnostic import LoopyError, LoopyWarning
from .symbolic import _terms, parse

__all__ = [
    "CountGranularity",
    "MemAccess",
    "Op",
    "Sync",
    "ToCountMap",
    "count",
    "gather_access_footprint_bytes",
    "gather_access_footprints",
    "get_mem_access_map",
    "get_op_map",
    "get_synchronization_map",
]


class CountGranularity(enum.Enum):
    """What one counted thing stands for."""

    WORKITEM = 0
    SUBGROUP = 1
    WORKGROUP = 2


class _Count:
    """A number in terms of the sizes of a kernel."""

    def __init__(self, counted: Any) -> None:
        self._counted = counted

    def eval_with_dict(self, param_dict: Mapping[str, Any]) -> int:
        """The number for these sizes."""
        value, exact = self._counted.evaluate({name: int(number) for name, number in param_dict.items() if np.ndim(number) == 0})
        if not exact:
            warnings.warn(f"{value} is a bound: counting {self} would take too long", LoopyWarning, stacklevel=2)
        return int(value)

    def __add__(self, other: Any) -> _Count:
        return self if isinstance(other, int) and other == 0 else _Count(self._counted + other._counted)

    __radd__ = __add__

    def __mul__(self, factor: int) -> _Count:
        return _Count(self._counted * int(factor))

    __rmul__ = __mul__

    def __str__(self) -> str:
        return str(self._counted)

    def __repr__(self) -> str:
        return f"<count {self}>"


class _Key:
    """What is counted, by its parts; those that are `None` were not said."""

    _parts: tuple[str, ...] = ()

    def _identity(self) -> tuple[Any, ...]:
        return (type(self), *(getattr(self, name) for name in self._parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        said = ((name, getattr(self, name)) for name in self._parts)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in said if value is not None)})"

    def copy(self, **changed: Any) -> Any:
        """The same with other parts."""
        return type(self)(**{**{name: getattr(self, name) for name in self._parts}, **changed})


def _granularity(given: Any) -> CountGranularity | None:
    if given is not None and not isinstance(given, CountGranularity):
        raise ValueError(f"count_granularity is a CountGranularity or None, not {given!r}")
    return given


class Op(_Key):
    """A kind of operation: add, mul, div, pow, shift, bw, maxmin, func:NAME."""

    _parts = ("dtype", "name", "count_granularity", "kernel_name", "tags")

    def __init__(
        self, dtype: Any = None, name: str | None = None, count_granularity: Any = None, kernel_name: str | None = None, tags: Any = None
    ) -> None:
        self.dtype: NumpyType | None = to_type(dtype)
        self.name, self.count_granularity, self.kernel_name = name, _granularity(count_granularity), kernel_name
        self.tags = None if tags is None else frozenset(tags)


class Sync(_Key):
    """A kind of synchronisation: kernel_launch, barrier_local or barrier_global."""

    _parts = ("kind", "kernel_name")

    def __init__(self, kind: str | None = None, kernel_name: str | None = None) -> None:
        self.kind, self.kernel_name = kind, kernel_name


class MemAccess(_Key):
    """A way in which memory is accessed.

    `lid_strides` and `gid_strides` have the number of elements between what neighbours along an axis of the hardware touch, by axis;
    `None` where the index is not affine.
    """

    _parts = (
        "mtype",
        "dtype",
        "lid_strides",
        "gid_strides",
        "direction",
        "variable",
        "variable_tags",
        "count_granularity",
        "kernel_name",
    )

    def __init__(
        self,
        mtype: str | None = None,
        dtype: Any = None,
        lid_strides: Mapping[int, Any] | None = None,
        gid_strides: Mapping[int, Any] | None = None,
        direction: str | None = None,
        variable: str | None = None,
        *,
        variable_tags: Any = None,
        count_granularity: Any = None,
        kernel_name: str | None = None,
    ) -> None:
        if direction not in (None, "load", "store"):
            raise ValueError(f"direction is load or store, not {direction!r}")
        self.mtype, self.direction, self.variable, self.kernel_name = mtype, direction, variable, kernel_name
        self.dtype: NumpyType | None = to_type(dtype)
        self.lid_strides = None if lid_strides is None else dict(lid_strides)
        self.gid_strides = None if gid_strides is None else dict(gid_strides)
        self.variable_tags = frozenset(variable_tags or ())
        self.count_granularity = _granularity(count_granularity)

    def _identity(self) -> tuple[Any, ...]:
        strides = (_canonical(self.lid_strides), _canonical(self.gid_strides))
        rest = (self.mtype, self.dtype, self.direction, self.variable, self.variable_tags, self.count_granularity, self.kernel_name)
        return (MemAccess, *strides, *rest)


def _canonical(strides: Mapping[int, Any] | None) -> Any:
    """Strides so that `2*m` and `m*2` are the same."""
    if strides is None:
        return None
    return frozenset((axis, None if stride is None else frozenset(_terms(stride).items())) for axis, stride in strides.items())


class ToCountMap(Mapping[Any, _Count]):
    """Numbers of things, by what they are."""

    def __init__(self, count_map: Mapping[Any, _Count] | None = None) -> None:
        self.count_map = dict(count_map or {})

    def __getitem__(self, key: Any) -> _Count:
        found: _Count = self.count_map[key]
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.count_map)

    def __len__(self) -> int:
        return len(self.count_map)

    def __add__(self, other: ToCountMap) -> ToCountMap:
        both = dict(self.count_map)
        for key, number in other.count_map.items():
            both[key] = both[key] + number if key in both else number
        return ToCountMap(both)

    def filter_by(self, **wanted: Any) -> ToCountMap:
        """Those whose parts are among the given ones: ``filter_by(direction=["load"])``. A part that a key does not have fits nothing."""
        return self.filter_by_func(lambda key: all(_fits(key, name, values) for name, values in wanted.items()))

    def filter_by_func(self, func: Callable[[Any], bool]) -> ToCountMap:
        """Those that a function chooses."""
        return ToCountMap({key: number for key, number in self.count_map.items() if func(key)})

    def group_by(self, *names: str) -> ToCountMap:
        """Added up by these parts, all others left out."""
        found: dict[Any, _Count] = {}
        for key, number in self.count_map.items():
            group = type(key)(**{name: getattr(key, name) for name in names})
            found[group] = found[group] + number if group in found else number
        return ToCountMap(found)

    def to_bytes(self) -> ToCountMap:
        """Bytes in the place of elements."""
        return ToCountMap({key: number * key.dtype.itemsize for key, number in self.count_map.items()})

    def sum(self) -> Any:
        """All added up."""
        total: Any = _Count(_parloop._count_loop_points("{ [] : 1 = 0 }"))
        for number in self.count_map.values():
            total = total + number
        return total

    def eval_and_sum(self, params: Mapping[str, Any] | None = None) -> int:
        """All added up, for these sizes."""
        return sum(number.eval_with_dict(params or {}) for number in self.count_map.values())

    def __str__(self) -> str:
        return "\n".join(f"{key} : {number}" for key, number in self.count_map.items())

    def __repr__(self) -> str:
        return f"ToCountMap({self.count_map!r})"


def _fits(key: Any, name: str, values: Any) -> bool:
    if not hasattr(key, name):
        return False
    wanted = list(values) if isinstance(values, (list, tuple, set, frozenset)) else [values]
    if name == "dtype":
        wanted = [to_type(value) for value in wanted]
    return getattr(key, name) in wanted


def _entries(program: Program | Kernel, entrypoint: str | None) -> tuple[Program, list[str]]:
    if isinstance(program, Kernel):
        return program.program, [program.name]
    return program, [entrypoint] if entrypoint else sorted(program.entrypoints)


def _subgroup(given: Any) -> int | None:
    """How many work items run together; 32 stands for what is to be guessed."""
    if given is None or is_number(given):
        return None if given is None else int(given)
    if given == "guess":
        warnings.warn("the size of a subgroup is taken to be 32", LoopyWarning, stacklevel=3)
        return 32
    raise ValueError(f'subgroup_size is a number, "guess" or None, not {given!r}')


def is_number(value: Any) -> bool:
    """Whether it is an integer."""
    return isinstance(value, (int, np.integer))


def get_op_map(
    program: Program | Kernel,
    numpy_types: bool = True,
    count_redundant_work: bool = False,
    count_within_subscripts: bool = True,
    subgroup_size: Any = None,
    entrypoint: str | None = None,
    within: Any = None,
) -> ToCountMap:
    """How many operations of each kind and type are done, for each subgroup."""
    whole, names = _entries(program, entrypoint)
    found = ToCountMap()
    for name in names:
        tally = whole._tally(name, _subgroup(subgroup_size), count_redundant_work, True, count_within_subscripts, _query(within))
        found += ToCountMap(
            {Op(dtype, kind, CountGranularity.SUBGROUP, name): _Count(number) for kind, dtype, number in tally["operations"]}
        )
    return found


def get_mem_access_map(
    program: Program | Kernel,
    numpy_types: bool = True,
    count_redundant_work: bool = False,
    subgroup_size: Any = None,
    entrypoint: str | None = None,
    within: Any = None,
) -> ToCountMap:
    """How many elements of local and global arrays are read and written, with strides along the axes of the hardware."""
    whole, names = _entries(program, entrypoint)
    found = ToCountMap()
    for name in names:
        tally = whole._tally(name, _subgroup(subgroup_size), count_redundant_work, False, True, _query(within))
        for (space, dtype, variable, direction, granularity), (local, group), number in tally["accesses"]:
            key = MemAccess(
                space,
                dtype,
                {axis: None if stride is None else parse(stride) for axis, stride in local},
                {axis: None if stride is None else parse(stride) for axis, stride in group},
                direction,
                variable,
                count_granularity=CountGranularity[granularity.upper()],
                kernel_name=name,
            )
            found += ToCountMap({key: _Count(number)})
    return found


def get_synchronization_map(program: Program | Kernel, subgroup_size: Any = None, entrypoint: str | None = None) -> ToCountMap:
    """How many barriers each work item meets, and how many launches there are."""
    whole, names = _entries(program, entrypoint)
    found = ToCountMap()
    for name in names:
        for kind, number in whole._synchronizations(name):
            found += ToCountMap({Sync(kind, name): _Count(number)})
    return found


def gather_access_footprints(
    program: Program | Kernel, ignore_uncountable: bool = False, entrypoint: str | None = None
) -> dict[tuple[str, str], Any]:
    """Which elements of each argument are read and written: sets of islpy's, or their texts where that is not installed."""
    whole, names = _entries(program, entrypoint)
    found: dict[tuple[str, str], Any] = {}
    for name in names:
        for array, direction, touched in whole._touched(name):
            if touched is None:
                if ignore_uncountable:
                    continue
                raise LoopyError(f"which elements of {array!r} are touched ({direction}) is not known: an index is not affine")
            found[array, direction] = _set(touched)
    return found


def _set(written: str) -> Any:
    return importlib.import_module("islpy").Set(written) if importlib.util.find_spec("islpy") else written


def gather_access_footprint_bytes(
    program: Program | Kernel, ignore_uncountable: bool = False, entrypoint: str | None = None
) -> dict[tuple[str, str], _Count]:
    """How many bytes of each argument are read and written at least once."""
    whole, names = _entries(program, entrypoint)
    whole = infer_unknown_types(whole)
    sizes = {arg.name: np.dtype(arg.dtype).itemsize for name in names for arg in whole[name].args if arg.dtype is not None}
    touched = gather_access_footprints(program, ignore_uncountable, entrypoint)
    return {key: count(None, points) * sizes[key[0]] for key, points in touched.items()}


def count(kernel: Any, points: Any, space: Any = None) -> _Count:
    """How many points a set has, in terms of its parameters."""
    return _Count(_parloop._count_loop_points(str(points)))


def _query(within: Any) -> str | None:
    return None if within is None else text(within) if not isinstance(within, str) else within
