"""What partitions of a mesh into many parts have: real ones, by bisection of coordinates, counted with NumPy."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]


class Partition(NamedTuple):
    """Figures of one partition. Ghosts are those of one layer: cells on the other side of edges that were cut."""

    parts: int
    cells: int
    most_cells: int  #: of a part
    ghosts: float  #: mean of the parts
    most_ghosts: int
    neighbours: float
    most_neighbours: int
    redundant: float  #: edges that a part runs besides its own, over its own; mean of the parts


def bisected(points: Numbers, parts: int) -> Numbers:
    """The part of each point: the points are halved across their longest side, again and again."""
    owners = np.empty(len(points), np.int64)
    rest = [(np.arange(len(points)), 0, parts)]
    while rest:
        members, first, count = rest.pop()
        if count == 1:
            owners[members] = first
            continue
        low = count // 2
        own = points[members]
        middle = len(members) * low // count
        order = np.argpartition(own[:, np.argmax(np.ptp(own, axis=0))], middle)
        rest += [(members[order[:middle]], first, low), (members[order[middle:]], first + low, count - low)]
    return owners


def partition(centres: Numbers, edge_cells: Numbers, parts: int) -> Partition:
    """Partitions a mesh and counts."""
    owners = bisected(centres, parts)
    sides = owners[edge_cells]
    cut = sides[:, 0] != sides[:, 1]
    here, there = edge_cells[cut], sides[cut]
    # Who has which cell as a ghost, and who has whom as a neighbour: both ways across every cut.
    holders, cells = np.concatenate([there[:, 0], there[:, 1]]), np.concatenate([here[:, 1], here[:, 0]])
    ghosts = np.bincount(np.unique(holders * len(owners) + cells) // len(owners), minlength=parts)
    others = np.concatenate([there[:, 1], there[:, 0]])
    neighbours = np.bincount(np.unique(holders * parts + others) // parts, minlength=parts)
    edges = len(edge_cells) / parts
    return Partition(
        parts,
        len(owners),
        int(np.bincount(owners, minlength=parts).max()),
        float(ghosts.mean()),
        int(ghosts.max()),
        float(neighbours.mean()),
        int(neighbours.max()),
        # An edge that is cut is run by both; one of them owns it.
        float(cut.sum() / parts / edges),
    )


def partitions(centres: Numbers, edge_cells: Numbers, counts: Iterable[int]) -> list[Partition]:
    """Partitions into each number of parts; by processes that share the mesh, which `fork` does not copy."""
    global _mesh
    _mesh = centres, edge_cells
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        return pool.map(_partition, counts, chunksize=1)


_mesh: tuple[Numbers, Numbers]


def _partition(parts: int) -> Partition:
    return partition(*_mesh, parts)
