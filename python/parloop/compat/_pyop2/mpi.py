"""One process: what PyOP2's programs ask of communicators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["COMM_NULL", "COMM_SELF", "COMM_WORLD", "MPI", "collective", "internal_comm"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Comm:
    """A communicator of one process."""

    rank = 0
    size = 1
    name = "world"

    def Get_rank(self) -> int:
        """The number of this process."""
        return self.rank

    def Get_size(self) -> int:
        """How many processes there are."""
        return self.size

    def barrier(self) -> None:
        """Waits for nobody."""

    Barrier = barrier

    def bcast(self, value: Any, root: int = 0) -> Any:
        """The value."""
        return value

    def allreduce(self, value: Any, op: Any = None) -> Any:
        """The value: there are no others."""
        return value

    def allgather(self, value: Any) -> list[Any]:
        """The value as the only one."""
        return [value]

    gather = allgather


COMM_WORLD = COMM_SELF = Comm()
COMM_NULL = None


class MPI:
    """The names of mpi4py that programs use."""

    Comm = Comm
    COMM_WORLD = COMM_WORLD
    COMM_SELF = COMM_SELF
    COMM_NULL = COMM_NULL


def collective(function: _Function) -> _Function:
    """The function: with one process every call is made by all."""
    return function


def internal_comm(comm: Comm | None, obj: object = None) -> Comm:
    """The communicator, or the one of all processes."""
    return COMM_WORLD if comm is None else comm
