"""Meshes that several processes share: ``mpirun -n 4 python program.py``."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Any, Literal, NamedTuple

import numpy.typing as npt

from .._parloop import SetValueError
from .._parloop import _Comm as Comm
from .._parloop import _Dat as Dat
from .._parloop import _distribute
from .._parloop import _Set as Set


class Distribution(NamedTuple):
    """How a set was dealt out."""

    owned: list[int]  #: how many elements each process owns
    imbalance: float  #: the most of them over the mean; 1 is perfect
    cut: int  #: pairs of neighbours that different processes own
    neighbours: int  #: processes with which this one exchanges ghosts
    ghosts: int  #: ghosts of the set that this process has
    comm: Comm  #: the processes


def distribute(
    set: Set, by: Literal["graph", "coordinates"] | npt.ArrayLike = "graph", *, coordinates: Dat | None = None, comm: Any = None
) -> Distribution:
    """Deals the elements of a set out to processes, with all sets that maps connect with it, the maps, their subsets and all data on them.

    Every process has the whole mesh before, and its part afterwards: sets, maps and data that the program holds stand for the part from then on,
    so that the loops of the program stay as they are. Arrays are taken, and matrices and loops made, afterwards. Where there is one process
    nothing changes. All processes must call it.

    Parameters
    ----------
    set : Set
        The set that is dealt out, mostly the cells.
    by : "graph", "coordinates" or array of integers
        Neighbours stay together (METIS); elements that are near each other do (recursive bisection); or the rank of each element is given.
    coordinates : Dat, optional
        For ``by="coordinates"``, on the set or on one that a map leads to.
    comm : Comm or a communicator of mpi4py, optional
        The processes, by default all that were started together.

    Notes
    -----
    With several processes, an uncaught exception aborts all of them, after its message and the rank are printed; with
    ``PARLOOP_MPI_ERRORS=return`` it does not.

    Examples
    --------
    >>> import parloop.mesh as op2
    >>> mesh = op2.box_mesh((8, 8))
    >>> op2.distribute(mesh.cells).owned == [mesh.cells.size]  # unless mpirun started several processes
    True
    """
    found = Distribution(**_distribute(set, by, coordinates, comm))
    if found.comm.size > 1:
        end_all_when_one_raises(found.comm)
    return found


def check_whole(set: Set, what: str) -> None:
    """Refuses something that needs all elements of a set, where processes share it."""
    if set.is_distributed:
        raise SetValueError(f"{what} needs all of set `{set.name}`, which is distributed; use the result of gather()")


def end_all_when_one_raises(comm: Comm) -> None:
    """The others would wait for the messages of a process that ended."""
    if os.environ.get("PARLOOP_MPI_ERRORS") == "return" or getattr(sys.excepthook, "ends_all", False):
        return
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        before(kind, error, trace)
        print(f"rank {comm.rank} of {comm.size} raised {kind.__name__}; all ranks are aborted", file=sys.stderr, flush=True)
        sys.stdout.flush()
        comm.abort(1)

    hook.ends_all = True  # type: ignore[attr-defined]
    sys.excepthook = hook
