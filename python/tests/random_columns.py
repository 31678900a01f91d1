"""Random programs on columns that processes share, against the same programs on one process.

Each process runs every program twice, on the whole mesh and on its part of it, and compares all numbers bit by bit: they are small integers. To look
for faults for a while:

    mpirun -n 3 python python/tests/random_columns.py --seconds 600

``--first N --cases 1`` repeats program N; its steps are printed where something differs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
import traceback

import numpy as np
import parloop as pl
import parloop.mesh as op2
from parloop.mesh import INC, MAX, MIN, READ, RW, WRITE

REGIONS = [op2.ALL, op2.ON_BOTTOM, op2.ON_TOP, op2.ON_INTERIOR_FACETS]
WHOLE = pl.Context("cpu:1")
#: What one of the processes does with data through a map: most programs read and add.
ACCESSES = [READ, READ, READ, INC, INC, WRITE, RW, MIN, MAX]
LOOPS, REFUSED = [0], [0]
TYPES = {"int64": "long", "float64": "double"}


def kernel_of(args, number):
    """A kernel that adds up what it reads, and what it does with the sum. Arguments are how many numbers there are, their type and access."""
    params, reads, writes = [], [], []
    for place, (count, dtype, access) in enumerate(args):
        x, kind = f"a{place}", TYPES[dtype]
        params.append(f"{'const ' if access is READ else ''}{kind} *{x}")
        loop = f"  for (int i = 0; i < {count}; i++) "
        if access is READ:
            reads.append(f"{loop}s += (long){x}[i] * (i + {place + 3});")
        writes.append(
            {
                READ: "",
                INC: f"{loop}{x}[i] += ({kind})((s + 7 * i) % 5);",
                WRITE: f"{loop}{x}[i] = ({kind})((s + i) % 101);",
                RW: f"{loop}{x}[i] = ({kind})((((long){x}[i] % 97) + 97 + (s + i) % 97) % 97);",
                MIN: f"{loop}{{ long v = (s * 31 + i) % 1009 - 500; if ((double)v < (double){x}[i]) {x}[i] = ({kind})v; }}",
                MAX: f"{loop}{{ long v = (s * 17 + i) % 1009 - 500; if ((double)v > (double){x}[i]) {x}[i] = ({kind})v; }}",
            }[access]
        )
    body = [f"  long s = {number} + layer;", *reads, "  s = (s % 1009 + 1009) % 1009;", *writes]
    return f"void k({', '.join([*params, 'int layer'])}) {{\n" + "\n".join(line for line in body if line) + "\n}"


class Side:
    """Columns over the cells and the facets of a mesh, with nodes, maps and data; the same for the same seed."""

    def __init__(self, rng, extrudes_late):
        cells, facets, points = (int(rng.integers(1, rng.choice([3, 12, 40]))) for _ in range(3))
        self.cells, self.facets, self.points = op2.Set(cells, "cells"), op2.Set(facets, "facets"), op2.Set(points, "points")
        sides = op2.Map(self.facets, self.cells, 2, rng.integers(0, cells, (facets, 2)), "sides")
        inside = op2.Map(self.facets, self.cells, 1, rng.integers(0, cells, facets), "inside")
        near = np.clip(np.arange(cells)[:, None] * points // cells + rng.integers(-1, 2, (cells, 2)), 0, points - 1)
        below = op2.Map(self.cells, self.points, 2, near, "below")
        self.periodic = bool(rng.random() < 0.25)
        if rng.random() < 0.5:
            layers = int(rng.integers(2, 7))
            self.heights, self.layers = np.full(cells, layers - 1), layers
        else:
            bottom = rng.integers(0, 3, cells)
            self.heights = rng.integers(0, 5, cells)
            self.layers = np.stack([bottom, bottom + self.heights + 1], 1)
        # Facets see the columns of cells, so that they are not higher than these.
        first = inside.values.ravel()
        if isinstance(self.layers, int):
            self.side_layers = int(rng.integers(2, self.layers + 1))
        else:
            self.side_layers = np.stack([np.zeros(facets, int), rng.integers(0, self.heights[first] + 1) + 1], 1)
        self.late = extrudes_late
        self.columns = None if extrudes_late else op2.ExtrudedSet(self.cells, self.layers, extruded_periodic=self.periodic)
        self.walls = None if extrudes_late else op2.ExtrudedSet(self.facets, self.side_layers)
        above = self.cells if extrudes_late or rng.random() < 0.5 else self.columns
        nodes, values, offset = self.numbered(rng, near)
        quotient = None
        if self.periodic and rng.random() < 0.5:
            # The second half of the slots is a cell higher; around the column, it is the lowest again.
            quotient = [0] * (len(offset) // 2) + [1] * (len(offset) - len(offset) // 2)
            values = np.array(values)
            cells_here = np.maximum(self.heights, 1)
            values[:, len(offset) // 2 :] += np.where(cells_here > 1, 1, 0)[:, None] * np.array(offset)[len(offset) // 2 :]
        self.nodes = op2.Set(nodes, "nodes")
        corners = op2.Map(above, self.nodes, len(offset), values, "corners", offset=offset, offset_quotient=quotient)
        turned = op2.PermutedMap(corners, rng.permutation(len(offset)).tolist())
        # Maps from columns, and from walls.
        self.maps = {"columns": [corners, turned, below], "walls": [sides]}
        if quotient is None:
            self.maps["walls"].append(op2.ComposedMap(corners, inside))
        self.dats = [
            op2.Dat(on**dim, rng.integers(0, 50, (on.size, dim) if dim > 1 else on.size), dtype, name=f"{on.name}{dim}{dtype}{copy}")
            for on in (self.cells, self.facets, self.points, self.nodes)
            for dim in (1, 2)
            for dtype in TYPES
            for copy in range(2)
        ]
        self.later = [rng.integers(0, 50, (int(self.heights.sum()), dim) if dim > 1 else int(self.heights.sum())) for dim in (1, 2)]
        self.of_subset = np.flatnonzero(rng.random(cells) < 0.5)
        self.globals = [op2.Global(1, 30, dtype, name=f"g{dtype}") for dtype in TYPES]
        if not extrudes_late:
            self.add_cells()

    def numbered(self, rng, near):
        """How many nodes there are, the lowest of each column, and how far it is to the next."""
        points, tallest = self.points.size, max(int(self.heights.max(initial=0)), 1)
        way = rng.choice(["columns", "several", "layers", "any"])
        if way == "any":
            arity = int(rng.integers(1, 4))
            return 120, rng.integers(30, 90, (len(near), arity)), rng.integers(-3, 4, arity).tolist()
        if way == "layers":
            return points * (tallest + 1), np.concatenate([near, near + points], 1), [points] * 4
        # This many nodes for each layer of a point, and one more on top.
        each = 1 if way == "columns" else int(rng.integers(2, 4))
        height = each * tallest + 1
        lowest = near * height
        return points * height, np.concatenate([lowest, lowest + each, lowest + each // 2], 1), [each] * 6

    def extrude(self):
        """Columns over a distributed set."""
        layers, sides = self.layers, self.side_layers
        self.columns = op2.ExtrudedSet(self.cells, layers if isinstance(layers, int) else layers[self.cells.global_numbers], extruded_periodic=self.periodic)
        self.walls = op2.ExtrudedSet(self.facets, sides if isinstance(sides, int) else sides[self.facets.global_numbers])
        self.add_cells()

    def add_cells(self):
        rows = self.columns._global_rows[0]
        for dim, values in zip((1, 2), self.later, strict=True):
            self.dats += [op2.Dat(self.columns**dim, values[rows], dtype, name=f"columns{dim}{dtype}") for dtype in TYPES]
        chosen = np.flatnonzero(np.isin(self.cells.global_numbers, self.of_subset))
        self.subset = op2.Subset(self.columns, chosen)


class Case:
    """One program, on the whole mesh and on the parts of all processes."""

    def __init__(self, seed, world):
        self.rng, self.world, self.steps = np.random.default_rng([seed, 1]), world, []
        late = bool(self.rng.random() < 0.3)
        self.whole, self.part = (Side(np.random.default_rng([seed, 0]), late) for _ in range(2))

    def run(self):
        rng, size = self.rng, self.world.size
        on = ["cells", "facets", "points"][rng.integers(3)]
        count = getattr(self.whole, on).size
        by = rng.choice(["graph", "random", "blocks", "one"])
        given = {"random": rng.integers(0, size, count), "blocks": np.arange(count) * size // count, "one": np.full(count, rng.integers(size))}
        self.steps.append(f"deal {on} {by} late={self.whole.late} heights={self.whole.heights.tolist()} periodic={self.whole.periodic}")
        self.steps.append(f"corners {self.whole.maps['columns'][0].values.tolist()} {self.whole.maps['columns'][0].offset} {self.whole.nodes.size}")
        op2.distribute(getattr(self.part, on), given.get(by, by))
        if self.whole.late:
            self.whole.extrude()
            self.part.extrude()
        for _ in range(rng.integers(3, 12)):
            self.matrix() if rng.random() < 0.1 else self.loop()
        for one, other in zip(self.whole.dats, self.part.dats, strict=True):
            self.same(one, other)

    def same(self, one, other):
        expected = one.data_ro
        if self.rng.random() < 0.5:
            found = other.gather()
        else:
            found, expected = other.data_ro_with_halos, expected[other.dataset.set._global_rows[0]]
        assert found.shape == expected.shape, (one.name, found.shape, expected.shape)
        assert np.array_equal(found, expected), f"{one.name} differs: {found.tolist()} instead of {expected.tolist()}"

    def loop(self):
        rng = self.rng
        over = str(rng.choice(["columns", "columns", "walls", "subset"]))
        region = REGIONS[rng.choice(4, p=[0.55, 0.15, 0.15, 0.15])]
        height, at = 2 if region == op2.ON_INTERIOR_FACETS else 1, "walls" if over == "walls" else "columns"
        base = self.whole.facets if at == "walls" else self.whole.cells
        used, args, told = [], [], []
        for _ in range(rng.integers(1, 5)):
            way = rng.choice(["map", "map", "cell", "base", "global"])
            if way == "global":
                place = int(rng.integers(2))
                access = [READ, INC, MIN, MAX][rng.integers(4)]
                if ("g", place) not in used:
                    used.append(("g", place))
                    args.append((way, place, None, access))
                    told.append((1, self.whole.globals[place].dtype.name, access))
                continue
            through = int(rng.integers(len(self.whole.maps[at]))) if way == "map" else None
            on = self.whole.maps[at][through].toset if way == "map" else base if way == "base" else self.whole.columns
            if way == "cell" and (at == "walls" or height == 2):
                continue
            fitting = [i for i, dat in enumerate(self.whole.dats) if dat.dataset.set is on and i not in used]
            if not fitting:
                continue
            place = int(rng.choice(fitting))
            used.append(place)
            access = ACCESSES[rng.integers(len(ACCESSES))]
            if way == "cell" and access in (MIN, MAX):
                access = RW
            arity = self.whole.maps[at][through].arity * height if way == "map" else 1
            args.append((str(way), place, through, access))
            told.append((arity * self.whole.dats[place].cdim, self.whole.dats[place].dtype.name, access))
        if not args:
            return
        kernel = op2.Kernel(kernel_of(told, int(rng.integers(3))), "k")
        options = {"deterministic": True} if rng.random() < 0.2 else {}
        self.steps.append(f"loop over {over} {region} {options} {[(w, self.whole.dats[p].name if w != 'global' else p, m, a) for w, p, m, a in args]}")
        loops = []
        for side in (self.whole, self.part):
            passed = []
            for way, place, through, access in args:
                data = side.globals[place] if way == "global" else side.dats[place]
                passed.append(data(access, side.maps[at][through]) if way == "map" else data(access))
            try:
                loops.append(op2.ParLoop(kernel, getattr(side, over), *passed, iteration_region=region, pass_layer_arg=True, **options))
            except pl.MeshError as error:
                leaves_its_set = side is self.whole and "in a column of" in str(error)
                known = "use two loops" in str(error) or side.late and ("before calling distribute" in str(error) or "in a column of" in str(error))
                if not leaves_its_set and not (side is self.part and known):
                    raise
                loops.append(None)
        # A process without columns has nothing to refuse.
        if b"0" in self.world.gather_bytes(b"0" if None in loops else b"1"):
            self.steps.append("refused")
            REFUSED[0] += 1
            return
        LOOPS[0] += 1
        with WHOLE:
            loops[0]()
        loops[1]()
        for one, other in zip(self.whole.globals, self.part.globals, strict=True):
            assert one.data_ro.tolist() == other.data_ro.tolist(), (one.name, one.data_ro, other.data_ro)
        for place in {place for way, place, _, access in args if way != "global" and access is not READ}:
            self.same(self.whole.dats[place], self.part.dats[place])

    def matrix(self):
        rng = self.rng
        if self.whole.maps["columns"][0].iterset is not self.whole.columns:
            return
        region, number = REGIONS[rng.integers(4)], int(rng.integers(5))
        over = str(rng.choice(["columns", "subset"]))
        arity = self.whole.maps["columns"][0].arity * (2 if region == op2.ON_INTERIOR_FACETS else 1)
        text = f"void m(double a[{arity}][{arity}]) {{ for (int i = 0; i < {arity}; i++) for (int j = 0; j < {arity}; j++) a[i][j] += ({number} + 3 * i + j) % 7; }}"
        self.steps.append(f"matrix {region} {over}")
        found = []
        for side in (self.whole, self.part):
            corners, nodes = side.maps["columns"][0], side.nodes
            mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(corners, corners, [region])]), float)
            x, y = op2.Dat(nodes), op2.Dat(nodes)
            op2.par_loop(op2.Kernel(text, "m"), getattr(side, over), mat(INC, (corners, corners)), iteration_region=region)
            x.data[...] = nodes.global_numbers[: nodes.size] % 5 + number
            mat.mult(x, y)
            found.append((y.gather(), mat.mult(y, transposed=True).gather()))
        for one, other in zip(*found, strict=True):
            assert np.array_equal(one, other), f"{other.tolist()} instead of {one.tolist()}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1 << 40)
    parser.add_argument("--seconds", type=float, default=1e9)
    given = parser.parse_args(arguments)
    world = op2.Comm.world()
    end, seed, steps = time.monotonic() + given.seconds, given.first, 0
    while seed < given.first + given.cases and b"1" not in world.gather_bytes(b"1" if time.monotonic() > end else b"0"):
        case = None
        try:
            case = Case(seed, world)
            case.run()
        except BaseException:
            told = "\n".join(case.steps if case else [])
            print(f"rank {world.rank} of {world.size}, program {seed}:\n{told}\n{traceback.format_exc()}", file=sys.stderr, flush=True)
            with contextlib.suppress(Exception):
                world.abort(1)
            os._exit(1)
        steps += len(case.steps)
        seed += 1
    if world.rank == 0:
        print(f"{seed - given.first} programs with {steps} steps on {world.size} processes, {LOOPS[0]} loops, {REFUSED[0]} refused: all numbers agree", flush=True)


if __name__ == "__main__":
    main()
