"""Random programs on meshes that processes share, against the same programs on one process.

Each process runs every program twice, on the whole mesh and on its part of it, and compares all numbers bit by bit: they are small integers, of
every type, so that no order of additions changes them. To look for faults for a while:

    mpirun -n 3 python python/tests/random_processes.py --device opencl --seconds 600

``--first N --cases 1`` repeats program N of a run; its steps are printed where something differs.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import pathlib
import sys
import tempfile
import time
import traceback

import numpy as np
import parloop as pl
import parloop.mesh as op2
from parloop.mesh import INC, MAX, MIN, READ, RW, WRITE

C_TYPES = {"int64": "long", "int32": "int", "float64": "double", "float32": "float", "uint8": "unsigned char"}
#: The types and components of data; each set has two of each.
KINDS = [("int64", 1), ("int64", 3), ("float64", 1), ("float64", 2), ("float32", 3), ("int32", 1)]
#: Data that no kernel touches.
MOVED = [("complex128", 2), ("complex64", 1), ("uint8", 3), ("bool", 1), ("int16", 5), ("float32", 20)]


class Signature:
    """A kernel that adds up what it reads, and what it does with the sum."""

    def __init__(self, rng, number):
        self.args = []
        for _ in range(rng.integers(1, 5)):
            way = rng.choice(["direct", "map", "global"], p=[0.35, 0.5, 0.15])
            if way == "global":
                self.args.append((way, 0, (str(rng.choice(["int64", "float64"])), int(rng.integers(1, 3))), None, [READ, INC, MIN, MAX][rng.integers(4)]))
                continue
            kind = KINDS[rng.integers(len(KINDS))]
            component = int(rng.integers(kind[1])) if kind[1] > 1 and rng.random() < 0.25 else None
            access = [READ, WRITE, RW, INC, MIN, MAX][rng.choice(6, p=[0.35, 0.15, 0.1, 0.2, 0.1, 0.1])]
            if way == "direct" and access in (MIN, MAX):
                access = RW
            self.args.append((str(way), int(rng.integers(1, 4)) if way == "map" else 0, kind, component, access))
        self.name = f"k{number}"
        self.kernel = op2.Kernel(self.source(number), self.name)

    def source(self, number):
        params, reads, writes = [], [], []
        for place, (way, arity, (dtype, dim), component, access) in enumerate(self.args):
            count = max(arity, 1) * (1 if component is not None else dim)
            x, kind = f"a{place}", C_TYPES[dtype]
            params.append(f"{'const ' if access is READ else ''}{kind} *{x}")
            loop = f"  for (int i = 0; i < {count}; i++) "
            if access is READ or (access is RW and way == "direct"):
                reads.append(f"{loop}s += (long){x}[i] * (i + {place + 3});")
            value = {
                INC: f"{x}[i] += ({kind})((s + 7 * i) % 5);",
                WRITE: f"{x}[i] = ({kind})((s + i) % 101);",
                MIN: f"{{ long v = (s * 31 + i) % 1009 - 500; if ((double)v < (double){x}[i]) {x}[i] = ({kind})v; }}",
                MAX: f"{{ long v = (s * 17 + i) % 1009 - 500; if ((double)v > (double){x}[i]) {x}[i] = ({kind})v; }}",
                RW: f"{x}[i] = ({kind})(((long){x}[i] * 3 + s + i) % 1009);"
                if way == "direct"  # in any order
                else f"{x}[i] = ({kind})((((long){x}[i] % 97) + 97 + (s + i) % 97) % 97);",
                READ: "",
            }[access]
            if value:
                writes.append(loop + value)
        body = [f"  long s = {number};", *reads, "  s = (s % 1009 + 1009) % 1009;", *writes]
        return f"void {self.name}({', '.join(params)}) {{\n" + "\n".join(body) + "\n}"


class Matrix:
    """A kernel that adds to a matrix."""

    def __init__(self, rng, number):
        self.arities, self.dims = rng.integers(1, 4, 2).tolist(), rng.integers(1, 3, 2).tolist()
        rows, columns = (arity * dim for arity, dim in zip(self.arities, self.dims, strict=True))
        text = f"""void m{number}(double a[{rows}][{columns}], const long *u) {{
  for (int i = 0; i < {rows}; i++) for (int j = 0; j < {columns}; j++) a[i][j] += (((u[0] + {number} + 3 * i + j) % 7) + 7) % 7; }}"""
        self.of = {INC: op2.Kernel(text, f"m{number}"), WRITE: op2.Kernel(text.replace("+=", "="), f"m{number}")}


class Side:
    """Sets, maps and data of one mesh; the same for the same seed."""

    def __init__(self, rng):
        # Parts of the large ones are renumbered.
        most = int(rng.choice([4, 12, 60, 6000], p=[0.3, 0.3, 0.35, 0.05]))
        sizes = [int(rng.integers(0 if rng.random() < 0.15 else 1, most + 1)) for _ in range(3)]
        self.sets = [op2.Set(size, name) for size, name in zip(sizes, "abc", strict=True)]
        self.maps, through = [], []
        for source in range(3):
            for target in range(3):
                for arity in (1, 2, 3):
                    if rng.random() < 0.4 and (sizes[target] or not sizes[source]):
                        values = self.table(rng, sizes[source], sizes[target], arity)
                        self.maps.append(op2.Map(self.sets[source], self.sets[target], arity, values, f"m{source}{target}{arity}"))
                        through += [(self.maps[-1], source, target)] if arity == 1 else []
        for first, source, middle in through[:3]:
            onward = [one for one in self.maps if one.iterset is self.sets[middle]]
            if onward and rng.random() < 0.6:
                self.maps.append(op2.ComposedMap(onward[rng.integers(len(onward))], first, name=f"composed{source}"))
        for one in list(self.maps):
            if one.arity > 1 and rng.random() < 0.2:
                self.maps.append(op2.PermutedMap(one, rng.permutation(one.arity).tolist()))
        self.dats = []
        for place, of in enumerate(self.sets):
            for copy in range(2):
                for dtype, dim in KINDS + MOVED:
                    values = rng.integers(0, 2 if dtype == "bool" else 50, (of.size, dim) if dim > 1 else of.size).astype(dtype)
                    self.dats.append(op2.Dat(of**dim, values, name=f"{'abc'[place]}{dtype}x{dim}_{copy}"))
        self.globals = [op2.Global(dim, rng.integers(0, 50, dim).astype(dtype), name=f"g{dtype}{dim}{copy}") for copy in range(2) for dtype in ("int64", "float64") for dim in (1, 2)]
        self.subsets = [op2.Subset(of, np.flatnonzero(rng.random(of.size) < 0.5)) for of in self.sets]
        self.of_subset = {id(part): of for part, of in zip(self.subsets, self.sets, strict=True)}
        self.loops, self.held, self.mats = [], [], []

    @staticmethod
    def table(rng, rows, targets, arity):
        if rng.random() < 0.5:
            return rng.integers(0, max(targets, 1), (rows, arity))
        near = np.arange(rows)[:, None] * targets // max(rows, 1) + rng.integers(-2, 3, (rows, arity))
        return np.clip(near, 0, max(targets - 1, 0))

    def on(self, place):
        return self.dats[place].dataset.set


class Case:
    """One program, on the whole mesh and on the parts of all processes."""

    def __init__(self, seed, world, contexts, signatures, matrices, held_views, end):
        self.seed, self.world, self.contexts, self.end = seed, world, contexts, end
        self.signatures, self.matrices, self.held_views = signatures, matrices, held_views
        self.rng = np.random.default_rng([seed, 1])
        self.own = np.random.default_rng([seed, 2, world.rank])
        self.whole, self.part = (Side(np.random.default_rng([seed, 0])) for _ in range(2))
        self.both = (self.whole, self.part)
        self.steps = []

    def run(self):
        self.deal()
        actions = [self.loop] * 12 + [self.again] * 3 + [self.write] * 3 + [self.look] * 3 + [self.arithmetic] * 3
        actions += [self.hold, self.release, self.matrix, self.checkpoint, self.late, self.component, self.number]
        for _ in range(self.rng.integers(3, 25)):
            if is_over(self.world, self.end):
                break
            actions[self.rng.integers(len(actions))]()
        for place in range(len(self.whole.dats)):
            self.same(place)
        for one, other in zip(self.whole.globals, self.part.globals, strict=True):
            assert one.data_ro.tolist() == other.data_ro.tolist(), (one.name, one.data_ro, other.data_ro)

    def say(self, *words):
        self.steps.append(" ".join(map(str, words)))

    def chosen(self, among):
        return among[self.rng.integers(len(among))] if among else None

    def deal(self):
        rng, size = self.rng, self.world.size
        first = int(rng.integers(3))
        count = self.whole.sets[first].size
        by = rng.choice(["graph", "random", "blocks", "one", "coordinates"])
        self.say("deal", "abc"[first], by, [of.size for of in self.whole.sets], [(m.name, m.iterset.name, m.toset.name, m.arity) for m in self.whole.maps])
        options = {}
        if by == "coordinates":
            if count == 0:
                by = "graph"
            else:
                options["coordinates"] = self.part.dats[[dat.name for dat in self.part.dats].index(f"{'abc'[first]}float64x2_1")]
        given = {"random": rng.integers(0, size, count), "blocks": np.arange(count) * size // max(count, 1), "one": np.full(count, rng.integers(size))}
        op2.distribute(self.part.sets[first], given.get(by, str(by)), **options)

    def numbers(self, place):
        """The numbers of a set's elements in the whole, ghosts and all."""
        return np.asarray(self.part.on(place).global_numbers)

    def same(self, place):
        one, other = self.whole.dats[place], self.part.dats[place]
        with self.context():
            if self.rng.random() < 0.5:
                found, expected = other.gather(), one.data_ro
            elif self.rng.random() < 0.7:
                found, expected = other.data_ro_with_halos, one.data_ro[self.numbers(place)]
            else:
                found, expected = other.data_ro, one.data_ro[self.numbers(place)[: self.part.on(place).size]]
        assert found.dtype == expected.dtype and found.shape == expected.shape, (one.name, found.shape, expected.shape)
        if not np.array_equal(found, expected):
            raise AssertionError(f"{one.name} differs: {found.tolist()} instead of {expected.tolist()}")

    def context(self):
        """A process may compute elsewhere than the others."""
        return self.contexts[self.own.integers(len(self.contexts))]

    # -- loops

    def arguments(self, signature, of):
        """Which data and maps serve a signature over a set: indices, so that both sides have the same."""
        rng, used, found = self.rng, {}, []
        for way, arity, (dtype, dim), component, access in signature.args:
            if way == "global":
                fitting = [i for i, g in enumerate(self.whole.globals) if g.dtype == dtype and g.cdim == dim and ("g", i) not in used]
                if not fitting:
                    return None
                place = self.chosen(fitting)
                used["g", place] = access
                found.append(("global", place, None, None, access))
                continue
            maps = [i for i, m in enumerate(self.whole.maps) if m.iterset is self.whole.sets[of] and m.arity == arity] if way == "map" else [None]
            through = self.chosen(maps)
            if not maps:
                return None
            target = self.whole.sets[of] if through is None else self.whole.maps[through].toset

            def fits(i):
                dat = self.whole.dats[i]
                if dat.dataset.set is not target or dat.dtype != dtype or dat.cdim != dim:
                    return False
                for other_way, other_component, other_access in used.get(i, []):
                    apart = component is not None and other_component is not None and component != other_component
                    if access is READ and other_access is READ or apart:
                        continue
                    if access is other_access and access in (INC, MIN, MAX) and way == other_way and rng.random() < 0.7:
                        continue
                    return False
                return True

            place = self.chosen([i for i in range(len(self.whole.dats)) if fits(i)])
            if place is None:
                return None
            used.setdefault(place, []).append((way, component, access))
            found.append((way, place, through, component, access))
        return found

    def loop(self):
        rng = self.rng
        for _ in range(8):
            signature, of = self.chosen(self.signatures), int(rng.integers(3))
            found = self.arguments(signature, of)
            if found is not None:
                break
        else:
            return
        is_subset = rng.random() < 0.25
        options = {"deterministic": True} if rng.random() < 0.2 else {"checked": True} if rng.random() < 0.05 else {}
        subset = int(rng.choice([i for i, part in enumerate(self.whole.subsets) if self.whole.of_subset[id(part)] is self.whole.sets[of]])) if is_subset else None
        self.say("loop", signature.name, "over", "abc"[of], f"subset {subset}" if is_subset else "", options, [(way, place, self.whole.dats[place].name if way != "global" else "", through, component, access) for way, place, through, component, access in found])
        loops = []
        for side in self.both:
            args = []
            for way, place, through, component, access in found:
                if way == "global":
                    args.append(side.globals[place](access))
                else:
                    dat = side.dats[place] if component is None else side.dats[place][component]
                    args.append(dat(access, side.maps[through]) if through is not None else dat(access))
            over = side.sets[of] if subset is None else side.subsets[subset]
            try:
                loops.append(op2.ParLoop(signature.kernel, over, *args, **options))
            except pl.MeshError as error:
                if side is self.part and "use two loops" in str(error):
                    self.say("refused")
                    return
                raise
        self.call(*loops)
        if rng.random() < 0.5:
            self.whole.loops.append(loops[0])
            self.part.loops.append(loops[1])

    def call(self, one, other):
        with WHOLE:
            one()
        with self.context():
            other()

    def again(self):
        if self.whole.loops:
            place = int(self.rng.integers(len(self.whole.loops)))
            self.say("again", place)
            self.call(self.whole.loops[place], self.part.loops[place])

    # -- the host

    def dat(self, moved=True):
        fitting = [i for i, dat in enumerate(self.whole.dats) if moved or dat.dtype.kind in "if"]
        return int(self.chosen(fitting))

    def values(self, place, factor, add):
        """Numbers for all rows by their numbers."""
        dat = self.whole.dats[place]
        rows = self.whole.on(place).size
        shape = (rows, dat.cdim) if dat.cdim > 1 else (rows,)
        numbers = (np.arange(rows * dat.cdim).reshape(shape) * factor + add) % (2 if dat.dtype == bool else 47)
        return numbers.astype(dat.dtype)

    def write(self):
        place, way = self.dat(), self.chosen(["all", "some", "halos", "wo", "wo_halos", "ghosts wrong"])
        factor, add, k = (int(n) for n in self.rng.integers(1, 40, 3))
        values = self.values(place, factor, add)
        self.say("write", place, self.whole.dats[place].name, way)
        mine, size = self.numbers(place), self.part.on(place).size
        one, other = self.whole.dats[place], self.part.dats[place]
        if way == "some":
            one.data[np.arange(len(values)) % 3 == k % 3] = values[np.arange(len(values)) % 3 == k % 3]
            rows = mine[:size] % 3 == k % 3
            other.data[rows] = values[mine[:size]][rows]
            return
        one.data[...] = values
        if way == "all":
            other.data[...] = values[mine[:size]]
        elif way == "wo":
            other.data_wo[...] = values[mine[:size]]
        elif way == "halos":
            other.data_with_halos[...] = values[mine]
        elif way == "wo_halos":
            other.data_wo_with_halos[...] = values[mine]
        else:
            wrong = values[mine]
            wrong[size:] = 1
            other.data_with_halos[...] = wrong

    def look(self):
        place = self.dat()
        self.say("look", place, self.whole.dats[place].name)
        self.same(place)

    def hold(self):
        """Some processes keep an array that may be written."""
        place = self.dat(moved=False)
        kind = self.chosen(["data", "data_with_halos", "column"])
        self.say("hold", place, kind)

        def taken(dat):
            return dat.data_with_halos if kind == "data_with_halos" else dat[0].data if kind == "column" and dat.cdim > 1 else dat.data

        one, other = taken(self.whole.dats[place]), taken(self.part.dats[place])
        self.whole.held.append((place, one))
        self.part.held.append((place, other if self.own.random() < 0.6 else None))

    def release(self):
        """One of these arrays is written, or let go."""
        if not self.whole.held:
            return
        number = int(self.rng.integers(len(self.whole.held)))
        place, one = self.whole.held[number]
        if self.held_views and self.rng.random() < 0.6:
            # Only rows of processes that have it, which the others must know.
            other = self.part.held[number][1]
            size, mine = self.part.on(place).size, self.numbers(place)
            own = mine[:size].astype(np.int32) if other is not None else np.zeros(0, np.int32)
            if not self.part.on(place).is_distributed:
                own = np.arange(size, dtype=np.int32)
                if other is None:
                    other = self.part.dats[place].data
                    other = other[:, 0] if one.ndim == 1 and other.ndim == 2 else other
            rows = np.unique(np.concatenate([np.frombuffer(part, np.int32) for part in self.world.gather_bytes(own.tobytes())]))
            add = int(self.rng.integers(1, 9))
            self.say("write held", place, add, rows.tolist())
            one[rows] += add
            if other is not None:
                other[: len(own)] += add
            return
        self.say("let go", place)
        del self.whole.held[number], self.part.held[number]

    def component(self):
        wide = [i for i, dat in enumerate(self.whole.dats) if dat.cdim > 1 and dat.dtype.kind in "if"]
        place = int(self.chosen(wide))
        at, way = int(self.rng.integers(self.whole.dats[place].cdim)), self.chosen(["zero", "data"])
        self.say("component", place, at, way)
        for side in self.both:
            view = side.dats[place][at]
            if way == "zero":
                view.zero()
            else:
                view.data[...] = np.asarray(side.on(place).global_numbers)[: side.on(place).size] % 11

    def number(self):
        place, value = int(self.rng.integers(len(self.whole.globals))), int(self.rng.integers(50))
        self.say("number", place, value)
        for side in self.both:
            side.globals[place].data = value if side.globals[place].cdim == 1 else [value, value + 1]

    def arithmetic(self):
        rng = self.rng
        place = int(self.chosen([i for i, dat in enumerate(self.whole.dats) if dat.dtype != bool]))
        dat = self.whole.dats[place]
        alike = [i for i, other in enumerate(self.whole.dats) if i != place and other.dataset.set is dat.dataset.set and (other.dtype, other.cdim) == (dat.dtype, dat.cdim)]
        other = int(self.chosen(alike))
        way = self.chosen(["zero", "zero subset", "copy", "copy subset", "+=", "*=", "copied", "inner", "axpy", "new", "swap"])
        subsets = [i for i, part in enumerate(self.whole.subsets) if self.whole.of_subset[id(part)] is dat.dataset.set]
        subset = int(self.chosen(subsets))
        self.say("arithmetic", way, place, dat.name, other, subset)
        results = []
        for side, context in zip(self.both, (WHOLE, self.context()), strict=True):
            one, two = side.dats[place], side.dats[other]
            with context:
                if way == "zero":
                    one.zero()
                elif way == "zero subset":
                    one.zero(side.subsets[subset])
                elif way == "copy":
                    two.copy_to(one)
                elif way == "copy subset":
                    two.copy_to(one, side.subsets[subset])
                elif way == "+=":
                    one += two
                    self.small(one)
                elif way == "*=":
                    one *= 2
                    self.small(one)
                elif way == "copied":
                    # The copy stands in the place of the original, whose arrays may be written still.
                    side.dats[place] = op2.Dat(one)
                    side.loops.clear()
                    side.held[:] = [(held, array) for held, array in side.held if held != place]
                elif way == "inner":
                    results.append(complex(one.inner(two)))
                elif way == "axpy":
                    one.axpy(2, two)
                    self.small(one)
                elif way == "new":
                    side.dats[place] = one + two
                    self.small(side.dats[place])
                    side.loops.clear()
                    side.held[:] = [(held, array) for held, array in side.held if held != place]
                else:
                    side.dats[place], side.dats[other] = two, one
                    side.held[:] = [(held, array) for held, array in side.held if held not in (place, other)]
        if results:
            assert results[0] == results[1] or dat.dtype in (np.float32, np.complex64) and np.isclose(*results, rtol=1e-4), results

    def small(self, dat):
        """Numbers that every type has exactly, every other time: these are changed where they are."""
        if len(self.steps) % 2 or dat.dtype.kind == "c":
            array = dat.data
            if dat.dtype.kind == "c":
                array.real %= 97
                array.imag %= 97
            else:
                array %= 97

    def late(self):
        """Data and subsets that are made when the mesh is distributed."""
        rng = self.rng
        place = self.dat()
        k = int(rng.integers(2, 5))
        self.say("late", place, k)
        values = self.values(place, 3, k)
        for side in self.both:
            old = side.dats[place]
            numbers = np.asarray(old.dataset.set.global_numbers)
            side.dats[place] = op2.Dat(old.dataset, values[numbers].copy(), name=old.name)
            side.loops.clear()
            side.held[:] = [(held, array) for held, array in side.held if held != place]
            of = [old.dataset.set.name == one.name for one in side.sets].index(True)
            chosen = np.flatnonzero(numbers % k == 0)
            side.subsets.append(op2.Subset(side.sets[of], chosen))
            if k == 3 and side.subsets:
                last = side.subsets[-1]
                side.subsets[-1] = last.union(side.subsets[of]) if len(side.subsets) % 2 else side.subsets[of].difference(last)
            side.of_subset[id(side.subsets[-1])] = side.sets[of]

    def checkpoint(self):
        places = sorted(set(int(n) for n in self.rng.integers(0, len(self.whole.dats), 3)))
        suffix = self.chosen([".npz", ".h5"])
        self.say("checkpoint", places, suffix)
        path = FOLDER / f"step{self.seed}{suffix}"
        names = {f"d{place}": place for place in places}
        op2.save(path, **{name: self.part.dats[place] for name, place in names.items()}, g=self.part.globals[0])
        for place in places:
            self.part.dats[place].zero()
        op2.load(path, **{name: self.part.dats[place] for name, place in names.items()}, g=self.part.globals[0])
        copies = {name: op2.Dat(self.whole.dats[place].dataset, dtype=self.whole.dats[place].dtype) for name, place in names.items()}
        op2.load(path, **copies)
        for name, place in names.items():
            assert np.array_equal(copies[name].data_ro, self.whole.dats[place].data_ro), (name, place)
        self.world.barrier()

    def matrix(self):
        rng = self.rng
        matrix, of = self.chosen(self.matrices), int(rng.integers(3))
        maps = [[i for i, m in enumerate(self.whole.maps) if m.iterset is self.whole.sets[of] and m.arity == arity] for arity in matrix.arities]
        if not all(maps):
            return
        rows, columns = (int(self.chosen(fitting)) for fitting in maps)
        u = [dat.name for dat in self.whole.dats].index(f"{'abc'[of]}int64x1_0") if any(dat.name == f"{'abc'[of]}int64x1_0" for dat in self.whole.dats) else None
        if u is None:
            return
        fill, access = int(rng.integers(1, 9)), self.chosen([INC, INC, WRITE])
        subset = of if rng.random() < 0.3 else None
        options = {"deterministic": True} if rng.random() < 0.2 else {}
        self.say("matrix", rows, columns, of, access, subset, options)
        found = []
        for side, context in zip(self.both, (WHOLE, self.context()), strict=True):
            m, n = side.maps[rows], side.maps[columns]
            mat = op2.Mat(op2.Sparsity((m.toset ** matrix.dims[0], n.toset ** matrix.dims[1]), [(m, n)]), float)
            x, y = op2.Dat(n.toset ** matrix.dims[1]), op2.Dat(m.toset ** matrix.dims[0])
            with context:
                over = side.sets[of] if subset is None else side.subsets[subset]
                op2.par_loop(matrix.of[access], over, mat(access, (m, n)), side.dats[u](READ), **options)
                numbers = np.asarray(n.toset.global_numbers)[: n.toset.size]
                x.data[...] = (numbers % 5 + fill) if matrix.dims[1] == 1 else (numbers % 5 + fill)[:, None] * [1, 2]
                mat.mult(x, y)
                found.append((y.gather(), mat.mult(y, transposed=True).gather()))
        for one, other in zip(*found, strict=True):
            assert np.array_equal(one, other), f"{other.tolist()} instead of {one.tolist()}"


WHOLE = pl.Context("cpu:1")
FOLDER = pathlib.Path(tempfile.gettempdir())


def is_over(world, end):
    """Whether the time has come for one of the processes: all agree."""
    return b"1" in world.gather_bytes(b"1" if time.monotonic() > end else b"0")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu:1", help="where parts are computed; several, separated by commas, are chosen from step by step; with a slash, one for each rank")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1 << 40)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--kernels", type=int, default=24, help="how many kernels programs choose from")
    parser.add_argument("--pool", type=int, default=0, help="which kernels these are")
    parser.add_argument("--folder", type=pathlib.Path, help="where checkpoints are written")
    given = parser.parse_args(arguments)
    world = op2.Comm.world()
    # All write to the folder of the first.
    global FOLDER
    FOLDER = pathlib.Path(os.fsdecode(world.broadcast_bytes(os.fsencode(given.folder or tempfile.mkdtemp()))))
    devices = given.device.split("/")
    devices = devices[world.rank % len(devices)].split(",")
    contexts = [pl.Context(name) for name in devices]
    is_host = all(name.startswith("cpu") for name in given.device.replace("/", ",").split(","))
    rng = np.random.default_rng([given.pool, 5])
    signatures = [Signature(rng, number) for number in range(given.kernels)]
    matrices = [Matrix(rng, number) for number in range(3)]
    end, seed, steps = time.monotonic() + given.seconds, given.first, 0
    while seed < given.first + given.cases and not is_over(world, end):
        faulthandler.dump_traceback_later(300, exit=True)
        case = None
        try:
            case = Case(seed, world, contexts, signatures, matrices, is_host, end)
            case.run()
        except BaseException:
            text = f"rank {world.rank} of {world.size}, program {seed}:\n" + "\n".join(case.steps if case else []) + "\n" + traceback.format_exc()
            for signature in signatures:
                if case and case.steps and f"loop {signature.name} " in "\n".join(case.steps[-1:]):
                    text += signature.source(int(signature.name[1:]))
            print(text, file=sys.stderr, flush=True)
            with contextlib.suppress(Exception):
                world.abort(1)
            os._exit(1)
        steps += len(case.steps)
        seed += 1
    faulthandler.cancel_dump_traceback_later()
    if world.rank == 0:
        print(f"{seed - given.first} programs with {steps} steps on {world.size} processes, {given.device}: all numbers agree", flush=True)


if __name__ == "__main__":
    main()
