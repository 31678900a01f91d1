"""What PyOP2's programs ask of communicators: mpi4py where a launcher started several processes, and one process of ours elsewhere."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..._parloop import _Comm

__all__ = [
    "COMM_NULL", "COMM_SELF", "COMM_WORLD", "MPI", "PyOP2CommError", "collective", "comm_cache_keyval", "compilation_comm", "dup_comm",
    "internal_comm", "is_pyop2_comm", "is_shared", "reduced", "temp_internal_comm",
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
        return _NULL if color == _OneProcess.UNDEFINED else Comm(f"{self.name}_SPLIT")

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


_NULL = Comm("null")
_NULL._is_null = True


class _OneProcess:
    """The names of mpi4py that programs use."""

    Comm = Comm
    Intracomm = Comm
    COMM_WORLD = Comm("world")
    COMM_SELF = Comm("self")
    COMM_NULL = _NULL
    COMM_TYPE_SHARED = 0
    UNDEFINED = -32766
    # With one process the result of every operation is the value itself.
    SUM, PROD, MAX, MIN, LAND, LOR, BAND, BOR = "SUM", "PROD", "MAX", "MIN", "LAND", "LOR", "BAND", "BOR"
    Wtime = staticmethod(time.perf_counter)


def _processes() -> Any:
    """mpi4py where there are several processes."""
    size = _Comm.world().size
    if size == 1:
        return _OneProcess
    try:
        from mpi4py import MPI
    except ImportError as error:
        reason = f"{size} processes were started together; programs of PyOP2 need mpi4py for the same MPI (pip install parloop[mpi]), but: {error}"
        raise ImportError(reason) from error
    return MPI


#: mpi4py, or what stands for it in one process.
MPI: Any = _processes()
COMM_WORLD, COMM_SELF, COMM_NULL = MPI.COMM_WORLD, MPI.COMM_SELF, MPI.COMM_NULL

#: The attribute of a communicator that has its caches by name.
comm_cache_keyval = MPI.Comm.Create_keyval()

#: The same attribute, by the type of communicators.
_CACHE_KEYVALS: dict[type, int] = {MPI.Comm: comm_cache_keyval}


def _is_null(comm: Any) -> bool:
    return bool(comm == (_NULL if isinstance(comm, Comm) else MPI.COMM_NULL))


def is_shared(comm: Any) -> bool:
    """Whether a communicator has several processes."""
    return comm is not None and not isinstance(comm, Comm) and int(comm.Get_size()) > 1


def reduced(comm: Any, values: Any, operation: str) -> Any:
    """The values of all processes combined, entry by entry: ``"SUM"``, ``"MIN"`` or ``"MAX"``."""
    if not is_shared(comm):
        return values
    values = np.asarray(values, order="C")
    result = np.empty_like(values)
    comm.Allreduce(values, result, op=getattr(MPI, operation))
    return result


def collective(function: _Function) -> _Function:
    """The function, which all processes call together."""
    return function


def internal_comm(comm: Any, obj: object = None) -> Any:
    """The communicator itself, or the one of all processes. Our own messages use a communicator of their own, so that nothing is duplicated."""
    if comm is None:
        return COMM_WORLD
    if _is_null(comm):
        raise PyOP2CommError(f"communicator {getattr(comm, 'name', 'null')!r} was freed, or is COMM_NULL; use another")
    return comm


def is_pyop2_comm(comm: Any) -> bool:
    """Whether it is a communicator that this module hands out."""
    return isinstance(comm, (Comm, MPI.Comm)) and not _is_null(comm)


def dup_comm(comm: Any) -> Any:
    """As `internal_comm`."""
    return internal_comm(comm)


def compilation_comm(comm: Any, obj: object = None) -> Any:
    """As `internal_comm`: the cache of compiled code keeps all but one process of a machine waiting."""
    return internal_comm(comm, obj)


def cache_keyval(comm: Any) -> int:
    """The attribute that has the caches of a communicator."""
    kind: Any = next((known for known in _CACHE_KEYVALS if isinstance(comm, known)), type(comm))
    if kind not in _CACHE_KEYVALS:
        _CACHE_KEYVALS[kind] = kind.Create_keyval()
    return _CACHE_KEYVALS[kind]


class temp_internal_comm:
    """``with temp_internal_comm(comm) as inner:`` gives a communicator with attributes."""

    def __init__(self, comm: Any) -> None:
        self.user_comm = comm
        self.internal_comm = internal_comm(comm, self)
        if not hasattr(self.internal_comm, "Get_attr"):
            raise PyOP2CommError(f"a communicator is needed, not an object of type {type(comm).__name__}")

    def __enter__(self) -> Any:
        return self.internal_comm

    def __exit__(self, *error: object) -> None:
        pass
