"""Meshes that several processes share: ``mpirun -n 4 python program.py``."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .._parloop import DataValueError, MeshFileError, SetValueError
from .._parloop import _Comm as Comm
from .._parloop import _Dat as Dat
from .._parloop import _distribute
from .._parloop import _Set as Set


class Distribution(NamedTuple):
    """How a set was dealt out."""

    owned: list[int]  #: how many elements each process owns
    imbalance: float  #: the most of them over the mean; 1 is perfect
    cut: int | None  #: pairs of neighbours that different processes own, where they were counted
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
    before, process = sys.excepthook, os.getpid()

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        before(kind, error, trace)
        if os.getpid() != process:  # a forked child ends alone
            return
        print(f"rank {comm.rank} of {comm.size} raised {kind.__name__}; all ranks are aborted", file=sys.stderr, flush=True)
        sys.stdout.flush()
        comm.abort(1)

    hook.ends_all = True  # type: ignore[attr-defined]
    sys.excepthook = hook


#: Errors that other processes raise as rank 0 does; all others are errors of files.
_KINDS = {kind.__name__: kind for kind in (ImportError, DataValueError, MeshFileError)}


def from_rank_0(comm: Comm, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What rank 0 makes, nested dicts of arrays and strings, on all processes; an error on rank 0 is raised on all of them."""
    sent, failed = b"", None
    if comm.rank == 0:
        try:
            sent = _packed({"made": make()})
        except BaseException as error:
            kind = next((name for name, kind in _KINDS.items() if isinstance(error, kind)), MeshFileError.__name__)
            sent, failed = _packed({"kind": kind, "message": str(error) or type(error).__name__}), error
    received = comm.broadcast_bytes(sent)
    if failed is not None:
        raise failed
    found = _unpacked(received)
    if "message" in found:
        raise _KINDS[found["kind"]](f"{found['message']} (on rank 0)")
    made: dict[str, Any] = found["made"]
    return made


def _packed(tree: dict[str, Any]) -> bytes:
    """Nested dicts of arrays and strings, as bytes: arrays by their places in a list."""
    arrays: list[npt.NDArray[Any]] = []

    def numbered(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: numbered(part) for name, part in value.items()}
        if isinstance(value, str):
            return value
        arrays.append(np.asarray(value))
        return len(arrays) - 1

    names = json.dumps(numbered(tree)).encode()
    file = io.BytesIO()
    np.savez(file, np.frombuffer(names, np.uint8), *arrays)
    return file.getvalue()


def _unpacked(data: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = [file[f"arr_{place}"] for place in range(len(file.files))]

    def found(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: found(part) for name, part in value.items()}
        return value if isinstance(value, str) else arrays[1 + value]

    tree: dict[str, Any] = found(json.loads(arrays[0].tobytes()))
    return tree
