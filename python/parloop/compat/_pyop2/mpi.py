"""One process: what PyOP2's programs ask of communicators."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = [
    "COMM_NULL", "COMM_SELF", "COMM_WORLD", "MPI", "PyOP2CommError", "collective", "comm_cache_keyval", "compilation_comm", "dup_comm",
    "internal_comm", "is_pyop2_comm", "temp_internal_comm",
]  # fmt: skip

_Function = TypeVar("_Function", bound=Callable[..., Any])
_KEYS = itertools.count(1)


class PyOP2CommError(ValueError):
    """A communicator that cannot be used."""


class Comm:
    """A communicator of one process. What was freed is equal to `COMM_NULL`."""

    rank = 0
    size = 1

    def __init__(self, name: str) -> None:
        self.name = name
        self._attributes: dict[int, Any] = {}
        self._is_null = False

    def Get_rank(self) -> int:
        """The number of this process."""
        return self.rank

    def Get_size(self) -> int:
        """How many processes there are."""
        return self.size

    def Get_name(self) -> str:
        """The name."""
        return self.name

    def Set_name(self, name: str) -> None:
        """Changes the name."""
        self.name = name

    def barrier(self) -> None:
        """Waits for nobody."""

    Barrier = barrier

    def bcast(self, value: Any, root: int = 0) -> Any:
        """The value."""
        return value

    def allreduce(self, value: Any, op: Any = None) -> Any:
        """The value: there are no others."""
        return value

    scan = reduce = allreduce

    def allgather(self, value: Any) -> list[Any]:
        """The value as the only one."""
        return [value]

    gather = allgather

    @staticmethod
    def Create_keyval(copy_fn: Any = None, delete_fn: Any = None) -> int:
        """A key for attributes of communicators. Functions that copy or delete attributes are not called."""
        return next(_KEYS)

    @staticmethod
    def Free_keyval(keyval: int) -> None:
        """Does nothing: keys cost nothing."""

    def Get_attr(self, keyval: int) -> Any:
        """The attribute of that key, or `None`."""
        return self._attributes.get(keyval)

    def Set_attr(self, keyval: int, value: Any) -> None:
        """Sets an attribute."""
        self._check()
        self._attributes[keyval] = value

    def Delete_attr(self, keyval: int) -> None:
        """Removes an attribute."""
        self._attributes.pop(keyval, None)

    def Dup(self, info: Any = None) -> Comm:
        """Another communicator of this process, with attributes of its own."""
        self._check()
        return Comm(f"{self.name}_DUP")

    def Split(self, color: int = 0, key: int = 0) -> Comm:
        """Another communicator of this process; `COMM_NULL` where the colour is `MPI.UNDEFINED`."""
        self._check()
        return COMM_NULL if color == MPI.UNDEFINED else Comm(f"{self.name}_SPLIT")

    def Split_type(self, split_type: int = 0, key: int = 0, info: Any = None) -> Comm:
        """Another communicator of this process."""
        return self.Split(0, key)

    def Free(self) -> None:
        """Drops the attributes; the communicator is equal to `COMM_NULL` from here on."""
        self._check()
        self._attributes.clear()
        self._is_null = True

    def _check(self) -> None:
        if self._is_null:
            raise PyOP2CommError(f"communicator {self.name!r} was freed, or is COMM_NULL; use another")

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Comm) and self._is_null and other._is_null)

    def __hash__(self) -> int:
        return id(type(self)) if self._is_null else id(self)

    def __bool__(self) -> bool:
        return not self._is_null

    def __repr__(self) -> str:
        return f"<communicator {self.name!r}{' (null)' if self._is_null else ''} of one process>"


COMM_WORLD, COMM_SELF, COMM_NULL = Comm("world"), Comm("self"), Comm("null")
COMM_NULL._is_null = True


class MPI:
    """The names of mpi4py that programs use."""

    Comm = Comm
    Intracomm = Comm
    COMM_WORLD = COMM_WORLD
    COMM_SELF = COMM_SELF
    COMM_NULL = COMM_NULL
    COMM_TYPE_SHARED = 0
    UNDEFINED = -32766
    # With one process the result of every operation is the value itself.
    SUM, PROD, MAX, MIN, LAND, LOR, BAND, BOR = "SUM", "PROD", "MAX", "MIN", "LAND", "LOR", "BAND", "BOR"
    Wtime = staticmethod(time.perf_counter)


#: The attribute of a communicator that has its caches by name.
comm_cache_keyval = Comm.Create_keyval()

#: Communicators of ours for those of other packages, by their handles.
_STAND_INS: dict[tuple[type, int], Comm] = {}


def collective(function: _Function) -> _Function:
    """The function: with one process every call is made by all."""
    return function


def internal_comm(comm: Any, obj: object = None) -> Any:
    """The communicator itself, or the one of all processes: with one process there is nothing to keep apart."""
    if comm is None:
        return COMM_WORLD
    if isinstance(comm, Comm) and comm == COMM_NULL:
        raise PyOP2CommError(f"communicator {comm.name!r} was freed, or is COMM_NULL; use another")
    return comm


def is_pyop2_comm(comm: Any) -> bool:
    """Whether it is a communicator of this module."""
    return isinstance(comm, Comm) and comm != COMM_NULL


def dup_comm(comm: Any) -> Any:
    """As `internal_comm`."""
    return internal_comm(comm)


def compilation_comm(comm: Any, obj: object = None) -> Any:
    """As `internal_comm`: one process compiles for itself."""
    return internal_comm(comm, obj)


class temp_internal_comm:
    """``with temp_internal_comm(comm) as inner:`` gives a communicator with attributes: `comm`, or one that stands for one of mpi4py's."""

    def __init__(self, comm: Any) -> None:
        self.user_comm = comm
        found = internal_comm(comm, self)
        if not isinstance(found, Comm):
            try:
                handle = (type(found), int(found.py2f()))
            except AttributeError:
                raise PyOP2CommError(f"a communicator is needed, not an object of type {type(found).__name__}") from None
            found = _STAND_INS.setdefault(handle, Comm(str(getattr(found, "name", "") or handle[1])))
        self.internal_comm: Comm = found

    def __enter__(self) -> Comm:
        return self.internal_comm

    def __exit__(self, *error: object) -> None:
        pass

