"""Ghost elements of sets that a program distributes itself, exchanged by its `Halo` objects in the order of PyOP2's loops.

Loops run the elements that this process owns. Before them, ghosts that are read through maps get the values of their owners, and ghosts that
are added to start from the identity; after them, what was added to ghosts goes to their owners, and Globals are reduced over all processes.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ... import mesh
from .arguments import Arg
from .mpi import is_shared, reduced
from .sets import Set

__all__ = ["Exchanged", "Halo", "exchanged", "needs_exchange"]

_COMBINING = (mesh.INC, mesh.MIN, mesh.MAX)


class Halo(abc.ABC):
    """How the ghosts of a set are exchanged: programs derive classes of their own.

    The methods get data and `op2.WRITE` (owners to ghosts), or the access of the loop that combined values in ghosts (`op2.INC`, `op2.MIN`,
    `op2.MAX`). The values, ghosts behind owned ones, are ``dat._data``.
    """

    @property
    @abc.abstractmethod
    def comm(self) -> Any:
        """The processes."""

    @property
    @abc.abstractmethod
    def local_to_global_numbering(self) -> Any:
        """For each element its number in the whole set."""

    @abc.abstractmethod
    def global_to_local_begin(self, dat: Any, insert_mode: Any) -> None:
        """Starts to send values of owners to ghosts."""

    @abc.abstractmethod
    def global_to_local_end(self, dat: Any, insert_mode: Any) -> None:
        """Waits for the values of owners."""

    @abc.abstractmethod
    def local_to_global_begin(self, dat: Any, insert_mode: Any) -> None:
        """Starts to send values of ghosts to their owners."""

    @abc.abstractmethod
    def local_to_global_end(self, dat: Any, insert_mode: Any) -> None:
        """Waits for the values of ghosts, and combines them with those of their owners."""


def _identity(dtype: np.dtype[Any], access: Any) -> Any:
    """The value that changes nothing when it is combined with another."""
    if access == mesh.INC:
        return 0
    limits = np.finfo(dtype) if dtype.kind in "fc" else np.iinfo(dtype)
    return limits.max if access == mesh.MIN else limits.min


class Exchanged:
    """Data whose ghosts a halo of the program's exchanges. Classes give `dataset`, `dtype`, `_data` and `halo_valid`."""

    dataset: Any
    dtype: Any
    _data: Any
    halo_valid: Any
    _halo_frozen = False

    def _halo(self) -> Any:
        return None if self._halo_frozen else self.dataset.halo

    def global_to_local_begin(self, access_mode: Any) -> None:
        """Starts to make ghosts ready for an access: those that are read get the values of their owners."""
        halo = self._halo()
        if halo is None:
            return
        if access_mode in (mesh.READ, mesh.RW) and not self.halo_valid:
            halo.global_to_local_begin(self, mesh.WRITE)
        elif access_mode in _COMBINING:
            self._data[self.dataset.size :] = _identity(self.dtype, access_mode)

    def global_to_local_end(self, access_mode: Any) -> None:
        """Waits for the ghosts."""
        halo = self._halo()
        if halo is None:
            return
        if access_mode in (mesh.READ, mesh.RW) and not self.halo_valid:
            halo.global_to_local_end(self, mesh.WRITE)
            self.halo_valid = True
        elif access_mode in _COMBINING:
            self.halo_valid = False

    def local_to_global_begin(self, insert_mode: Any) -> None:
        """Starts to send what was combined in ghosts to their owners."""
        halo = self._halo()
        if halo is not None:
            halo.local_to_global_begin(self, insert_mode)

    def local_to_global_end(self, insert_mode: Any) -> None:
        """Waits until owners have what was combined in ghosts, which are stale then."""
        halo = self._halo()
        if halo is not None:
            halo.local_to_global_end(self, insert_mode)
            self.halo_valid = False


def _parts(arg: Any) -> Iterator[Any]:
    """The data of an argument, part by part."""
    data = arg.data
    yield from data if isinstance(data, mesh.MixedDat) else (data,)


def needs_exchange(iterset: Any, args: tuple[Any, ...]) -> bool:
    """Whether other processes have a part in a loop."""
    if is_shared(getattr(iterset, "comm", None)):
        return True
    if not Set._has_halos:
        return False
    parts = (part for arg in args if isinstance(arg, Arg) for part in _parts(arg))
    return any(isinstance(part, Exchanged) and part.dataset.halo is not None for part in parts)


def exchanged(run: Callable[[], None], iterset: Any, args: tuple[Any, ...]) -> None:
    """Runs a loop over the elements that this process owns, with the exchanges that it needs. All processes must call it."""
    named = [arg for arg in args if isinstance(arg, Arg)]
    # Each once, as PyOP2 does: one loop accesses data in one way.
    indirect = {id(part): (part, arg.access) for arg in named if arg.map_ is not None for part in _parts(arg) if isinstance(part, Exchanged)}
    written = [part for arg in named if arg.access != mesh.READ for part in _parts(arg) if isinstance(part, Exchanged)]
    sums = {id(arg.data): arg.data for arg in named if isinstance(arg.data, mesh.Global) and arg.access == mesh.INC}
    extremes = [(arg.data, arg.access) for arg in named if isinstance(arg.data, mesh.Global) and arg.access in (mesh.MIN, mesh.MAX)]
    is_alone = not is_shared(iterset.comm)
    for part, access in indirect.values():
        part.global_to_local_begin(access)
    for part, access in indirect.values():
        part.global_to_local_end(access)
    before = [] if is_alone else [(total, total.data_ro.copy()) for total in sums.values()]
    for total, _ in before:
        total.data[...] = 0
    run()
    for part in written:
        part.halo_valid = False
    combined = [(part, access) for part, access in indirect.values() if access in _COMBINING]
    for part, access in combined:
        part.local_to_global_begin(access)
    if not is_alone:
        for total, start in before:
            total.data[...] = start + reduced(iterset.comm, total.data_ro, "SUM")
        for extreme, access in extremes:
            extreme.data[...] = reduced(iterset.comm, extreme.data_ro, "MIN" if access == mesh.MIN else "MAX")
    for part, access in combined:
        part.local_to_global_end(access)
