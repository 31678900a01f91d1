"""Meshes from files, through meshio."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from .._parloop import MeshError, MeshFileError
from .._parloop import _Comm as Comm
from ._guarded import read
from ._mesh import Mesh
from ._meshio import require, translated
from ._processes import end_all_when_one_raises, from_rank_0
from ._shapes import CELL_TYPES, shape_of
from ._topology import Ints

#: Numbers of groups, as formats call them. 0 is not a group.
_TAGS = ("gmsh:physical", "medit:ref", "nastran:ref", "netgen:index", "tetgen:ref", "avsucd:material", "su2:tag")

Parts = dict[str, dict[str, list[Ints]]]


def read_mesh(path: str | os.PathLike[str], file_format: str | None = None, *, comm: Any = None) -> Mesh:
    """Read a mesh from a file of any format that meshio reads (``pip install parloop[mesh]``).

    Gmsh, VTK, XDMF, Abaqus, Exodus, MED, Medit, Nastran, STL, SU2, TetGen and others.

    Parameters
    ----------
    path : path
        The file; its ending says in which format it is.
    file_format : str, optional
        meshio's name of the format, where the ending does not say it.
    comm : Comm or a communicator of mpi4py, optional
        Processes that read the mesh together: rank 0 reads the file and sends its contents to the others, which need neither the file nor
        meshio. All of them must call it, and all have the whole mesh until :func:`distribute` is called. By default every process reads the
        file by itself.

    Returns
    -------
    Mesh
        With the cells of each type, their order kept; regions from physical groups, cell sets and point sets, with groups that have a
        number only by this number (``"3"``); and the data of the file. A third coordinate that is zero everywhere is left out where
        all cells have dimension 2.

    Raises
    ------
    MeshFileError
        If the file does not exist or cannot be read, has no points, has cells of types that are not supported, or indices and coordinates
        that are not those of a mesh. With ``comm``, on all processes.
    ImportError
        If meshio is not installed.

    Examples
    --------
    >>> import os, tempfile, parloop.mesh as op2
    >>> path = os.path.join(tempfile.mkdtemp(), "plate.msh")
    >>> op2.box_mesh((4, 4)).write(path)
    >>> mesh = op2.read_mesh(path)
    >>> mesh.cells, mesh.coordinates.cdim, mesh.region("left").size
    (Set(32, 'triangle'), 2, 4)
    """
    if comm is None:
        return _made(path, _contents(path, file_format))
    together = comm if isinstance(comm, Comm) else Comm(comm)
    if together.size == 1:
        return _made(path, _contents(path, file_format))
    end_all_when_one_raises(together)
    return _made(path, from_rank_0(together, lambda: _contents(path, file_format)))


def _made(path: str | os.PathLike[str], contents: dict[str, Any]) -> Mesh:
    try:
        return Mesh(**contents)
    except MeshFileError:
        raise
    except MeshError as error:
        raise MeshFileError(f"cannot read `{os.fsdecode(path)}`: {error}") from error


def _contents(path: str | os.PathLike[str], file_format: str | None) -> dict[str, Any]:
    """What the file has, as a mesh takes it."""
    try:
        file = os.fsdecode(path)
    except TypeError:
        raise MeshFileError(f"the path of a mesh must be a string, not an object of type {type(path).__name__}") from None
    meshio = require("meshio", "reading a mesh")
    if not os.path.isfile(file):
        raise MeshFileError(f"cannot read `{file}`: no such file")
    with translated("read", file):
        _check_vtu(file)
        found = read(meshio, file, file_format)
    try:
        return _converted(found, file)
    except MeshFileError:
        raise
    except MeshError as error:
        raise MeshFileError(f"cannot read `{file}`: {error}") from error


def _check_vtu(file: str) -> None:
    """meshio does not read VTK's files without cells."""
    if file.lower().endswith(".vtu"):
        with open(file, "rb") as opened:
            if re.search(rb"""<Piece[^>]*\sNumberOfCells=["']0["']""", opened.read(4096)):
                raise ValueError("it has no cells")


def _converted(found: Any, file: str) -> dict[str, Any]:
    if np.size(found.points) == 0:
        raise MeshFileError(f"cannot read `{file}`: it has no points")
    types = [block.type for block in found.cells]
    wrong = sorted({name for name in types if name not in CELL_TYPES})
    if wrong:
        raise MeshFileError(f"cannot read `{file}`: cells of type {', '.join(wrong)} are not supported, only {', '.join(CELL_TYPES)}")
    blocks = [(name, np.asarray(block.data)) for name, block in zip(types, found.cells, strict=True)]
    tables = {name: np.concatenate([table for other, table in blocks if other == name]) for name in dict.fromkeys(types)}
    with translated("read", file):
        regions = _regions(found, blocks)
    return {
        "points": np.asarray(found.points),
        "cells": tables,
        "regions": {name: {place: np.concatenate(ids) for place, ids in parts.items()} for name, parts in regions.items()},
        "point_data": {name: values for name, values in found.point_data.items() if _is_data(values)},
        "cell_data": {name: joined for name, values in found.cell_data.items() if (joined := _joined(types, values))},
        "name": os.path.basename(file),
    }


def _is_data(values: npt.ArrayLike) -> bool:
    array = np.asarray(values)
    return array.dtype.kind in "iufc" and 0 not in array.shape[1:]


def _joined(types: list[str], values: list[npt.ArrayLike]) -> dict[str, npt.NDArray[Any]]:
    """Data of blocks as data of cell types."""
    if not all(map(_is_data, values)):
        return {}
    return {
        name: np.concatenate([np.asarray(part) for other, part in zip(types, values, strict=True) if other == name]) for name in dict.fromkeys(types)
    }


def _regions(found: Any, blocks: list[tuple[str, npt.NDArray[Any]]]) -> Parts:
    """The elements of each region; blocks of one type are counted through."""
    regions: Parts = {}
    begins, counted = [], dict.fromkeys((name for name, _ in blocks), 0)
    for name, table in blocks:
        begins.append(counted[name])
        counted[name] += len(table)

    def add(region: object, place: str, ids: Ints) -> None:
        if len(ids):
            regions.setdefault(str(region), {}).setdefault(place, []).append(ids)

    for region, ids in found.point_sets.items():
        add(region, "vertices", np.asarray(ids, np.int64).ravel())
    # Sets that a format makes for itself, as Gmsh's bounding entities, are not regions.
    sets = {region: members for region, members in found.cell_sets.items() if not str(region).startswith("gmsh:")}
    for region, members in sets.items():
        for (name, _), begin, ids in zip(blocks, begins, members, strict=True):
            if ids is not None:
                add(region, name, begin + np.asarray(ids, np.int64).ravel())
    named = {}
    for group, value in found.field_data.items():
        if np.size(value) == 2:
            named[int(value[0]), int(value[1])] = group
    for key in (key for key in _TAGS if key in found.cell_data):
        for (name, _), begin, tags in zip(blocks, begins, found.cell_data[key], strict=True):
            for tag in np.unique(tags):
                group = named.get((int(tag), shape_of(name).dim), int(tag))
                if tag != 0 and group not in sets:
                    add(group, name, begin + np.flatnonzero(tags == tag))
    # MED: a number stands for several groups.
    for groups, values, places in (
        (getattr(found, "cell_tags", {}), found.cell_data.get("cell_tags", []), list(zip([name for name, _ in blocks], begins, strict=True))),
        (getattr(found, "point_tags", {}), [found.point_data.get("point_tags", [])], [("vertices", 0)]),
    ):
        for (place, begin), tags in zip(places, values, strict=False):
            for tag, names in groups.items():
                for group in names:
                    add(group, place, begin + np.flatnonzero(np.asarray(tags) == tag))
    return regions
