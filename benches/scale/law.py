"""The time of an iteration on many ranks, from measured pieces and figures of partitions.

An iteration has two exchanges of ghosts (q and adt, 40 bytes each) and two sums over all ranks:

    time = fixed + per cell × cells of the largest part × (1 + redundant) + 2 × exchange + 2 × sum
    exchange = neighbours × latency + ghosts × 40 bytes / bandwidth
    sum = ⌈log2 ranks⌉ × latency + ranks × 8 bytes / bandwidth

At a fixed number of ranks, the ghosts of a part and the share of edges that are run twice follow from its boundary: with s times as many
cells a part has √s times the ghosts, and 1/√s of the share. Exchanges that the core of a loop hides cost nothing; the table has both ends.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from partitions import Partition

#: Bytes of a ghost: four numbers of q and one of adt.
GHOST = 40
#: Exchanges, and sums, of an iteration.
TIMES = 2


class Pieces(NamedTuple):
    """What was measured on a machine, or is given for another: seconds, and bytes a second."""

    fixed: float
    per_cell: float
    latency: float
    bandwidth: float
    #: Ghosts that are exchanged, over those of one layer.
    depth: float


class Prediction(NamedTuple):
    """Seconds of an iteration."""

    compute: float
    exchange: float
    sums: float

    @property
    def least(self) -> float:
        """With all exchanges hidden."""
        return self.compute + self.sums

    @property
    def most(self) -> float:
        """With none hidden."""
        return self.compute + self.exchange + self.sums


def scaled(found: Partition, cells: float) -> Partition:
    """The figures of a mesh with another number of cells, by the law above."""
    more = cells / found.cells
    line = math.sqrt(more)
    return found._replace(
        cells=round(cells),
        most_cells=math.ceil(found.most_cells * more),
        ghosts=found.ghosts * line,
        most_ghosts=math.ceil(found.most_ghosts * line),
        redundant=found.redundant / line,
    )


def predicted(found: Partition, pieces: Pieces) -> Prediction:
    """The slowest rank: that with the most cells, ghosts and neighbours at once."""
    if found.parts == 1:
        return Prediction(pieces.fixed + pieces.per_cell * found.most_cells, 0.0, 0.0)
    exchange = found.most_neighbours * pieces.latency + found.most_ghosts * pieces.depth * GHOST / pieces.bandwidth
    sums = math.ceil(math.log2(found.parts)) * pieces.latency + found.parts * 8 / pieces.bandwidth
    compute = pieces.fixed + pieces.per_cell * found.most_cells * (1 + found.redundant)
    return Prediction(compute, TIMES * exchange, TIMES * sums)
