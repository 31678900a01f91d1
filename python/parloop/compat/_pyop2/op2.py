"""PyOP2's programming interface, as far as it is there: what is missing is said when it is asked for."""

from __future__ import annotations

from typing import Any

from ...mesh import (
    ALL as ALL,
    INC as INC,
    MAX as MAX,
    MIN as MIN,
    ON_BOTTOM as ON_BOTTOM,
    ON_INTERIOR_FACETS as ON_INTERIOR_FACETS,
    ON_TOP as ON_TOP,
    READ as READ,
    RW as RW,
    WRITE as WRITE,
    Access as Access,
)
from .configuration import configuration as configuration
from .data import Constant as Constant, Dat as Dat, DatView as DatView, Global as Global
from .halos import Halo as Halo
from .kernels import (
    CStringLocalKernel as CStringLocalKernel,
    Kernel as Kernel,
    LoopyLocalKernel as LoopyLocalKernel,
    ParLoop as ParLoop,
    Parloop as Parloop,
    par_loop as par_loop,
    parloop as parloop,
)
from .logger import critical as critical, debug as debug, error as error, info as info, set_log_level as set_log_level, warning as warning
from .maps import ComposedMap as ComposedMap, Map as Map, PermutedMap as PermutedMap
from .matrices import Mat as Mat, Sparsity as Sparsity
from .mixed import MixedDat as MixedDat, MixedDataSet as MixedDataSet, MixedMap as MixedMap, MixedSet as MixedSet
from .mpi import COMM_WORLD as COMM_WORLD, MPI as MPI, collective as collective
from .sets import DataSet as DataSet, ExtrudedSet as ExtrudedSet, GlobalDataSet as GlobalDataSet, Set as Set, Subset as Subset

__all__ = [
    "ALL", "ComposedMap", "Constant", "Dat", "DatView", "DataSet", "ExtrudedSet", "Global", "GlobalDataSet", "Halo", "INC", "Kernel", "MAX", "MIN", "MPI", "Map", "Mat", "MixedDat",
    "MixedDataSet", "MixedMap", "MixedSet", "ON_BOTTOM", "ON_INTERIOR_FACETS", "ON_TOP", "ParLoop", "Parloop", "PermutedMap", "READ", "RW", "Set", "Sparsity", "Subset", "WRITE", "configuration",
    "critical", "debug", "error", "exit", "info", "init", "initialised", "par_loop", "parloop", "set_log_level", "warning",
]  # fmt: skip

_state = {"initialised": False}


def initialised() -> bool:
    """Whether `init` was called, and `exit` was not since."""
    return _state["initialised"]


def init(**settings: Any) -> None:
    """Changes settings. Nothing else has to be begun."""
    settings.pop("comm", None)
    configuration.reconfigure(**settings)
    set_log_level(configuration["log_level"])
    _state["initialised"] = True


def exit() -> None:
    """Takes the settings back."""
    configuration.reset()
    _state["initialised"] = False


_MISSING = {
    "arguments that are passed on as they are": ("PassthroughArg", "OpaqueType"),
    "loops made of their parts": ("GlobalKernel", "GlobalKernelArg", "DatKernelArg", "MapKernelArg", "MatKernelArg", "DatParloopArg", "GlobalParloopArg"),
}


def __getattr__(name: str) -> Any:
    for kind, names in _MISSING.items():
        if name in names:
            raise AttributeError(f"op2.{name} is not there: {kind} are not supported")
    raise AttributeError(f"module 'pyop2.op2' has no attribute {name!r}")
