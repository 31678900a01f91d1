"""Mesh loops on the CPU: what a call costs, and loops against plain C: ``python benches/mesh.py [--json FILE]``.

Loops are compared by the CPU time of the calling thread, so that other work on the machine counts little; what two threads gain is told
by wall time and by the CPU time of both. Medians of interleaved rounds. Where PyOP2 can be imported, the same loops run by it in turns with
ours (``pyop2_loops.py`` says how it is installed). Elsewhere its figures are those once measured on a quiet machine with two cores.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pyop2_loops
from measure import Table, at_least, at_most, interleaved

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "examples"), str(HERE / "airfoil")]
from airfoil_mesh import airfoil_mesh  # noqa: E402
from hand import Hand, compile_c  # noqa: E402
from airfoil_loops import built_loops, example  # noqa: E402

import parloop as pl  # noqa: E402
import parloop.mesh as op2  # noqa: E402
from parloop.mesh import INC, READ, WRITE  # noqa: E402

Call = Callable[[], object]

#: Seconds of a turn of calls, and of calls before any is measured.
TURN, WARM_UP = 0.02, 1.0

#: Microseconds, as measured elsewhere: a cached call, a built loop. Printed where PyOP2 cannot be measured.
PYOP2 = {"direct": (281, 184), "indirect": (346, 218), "reduction": (444, 180), "Dat +=": (403,), "inner": (741,)}

LUMP = """
void lump(double **area, double **x) {
    double a = 0.5 * fabs((x[1][0] - x[0][0]) * (x[2][1] - x[0][1]) - (x[2][0] - x[0][0]) * (x[1][1] - x[0][1])) / 3.0;
    for (int i = 0; i < 3; i++) area[i][0] += a;
}"""
LUMP_BY_HAND = """
#include <math.h>
#include <stdint.h>
void lump(int64_t n, const int32_t *restrict map, const double *restrict x, double *restrict area) {
    for (int64_t c = 0; c < n; c++) {
        const int32_t *m = map + 3 * c;
        const double *p = x + 2 * m[0], *q = x + 2 * m[1], *r = x + 2 * m[2];
        double a = 0.5 * fabs((q[0] - p[0]) * (r[1] - p[1]) - (r[0] - p[0]) * (q[1] - p[1])) / 3.0;
        for (int i = 0; i < 3; i++) area[m[i]] += a;
    }
}"""


def cpu_and_wall(calls: dict[str, Call], rounds: int) -> dict[str, tuple[float, float, float]]:
    """Median seconds of each call, in turns: CPU time of this thread, CPU time of all threads, wall time.

    A turn is a run of calls one after another, as programs that step through time make them, of at least ``TURN`` seconds.
    """
    samples: dict[str, list[tuple[float, float, float]]] = {name: [] for name in calls}
    lengths: dict[str, int] = {}
    for name, call in calls.items():
        # A loop that has run for a while tries the other ways there are.
        end = time.perf_counter() + WARM_UP
        while time.perf_counter() < end:
            call()
        start = time.perf_counter()
        call()
        lengths[name] = 1 + int(TURN / (time.perf_counter() - start))
    clocks = time.thread_time, time.process_time, time.perf_counter
    for _ in range(rounds):
        for name, call in calls.items():
            # Threads of the turn before are given the time to go to sleep.
            time.sleep(0.01)
            call()
            before = [clock() for clock in clocks]
            for _ in range(lengths[name]):
                call()
            samples[name].append(tuple((clock() - start) / lengths[name] for clock, start in zip(clocks, before)))
    return {name: tuple(map(statistics.median, zip(*times))) for name, times in samples.items()}


def tiny_calls(table: Table, peer: ModuleType | None) -> None:
    """What a call costs beyond the loop itself."""
    print("calls on a set of ten elements, on one thread")
    with pl.Context("cpu:1"):
        points, pairs = op2.Set(10, "points"), op2.Set(10, "pairs")
        ends = op2.Map(pairs, points, 2, np.stack([np.arange(10), (np.arange(10) + 1) % 10], axis=1).astype(np.int32), "ends")
        a, b, c = (op2.Dat(points, np.ones(10), np.float64, name=name) for name in "abc")
        total = op2.Global(1, 0.0, name="total")
        loops = {
            "direct": (op2.Kernel("void twice(double *b, const double *a) { b[0] = 2 * a[0]; }", "twice"), points, b, (WRITE,), a, (READ,)),
            "indirect": (
                op2.Kernel("void spread(double **c, const double *a) { c[0][0] += a[0]; c[1][0] -= a[0]; }", "spread"),
                pairs,
                c,
                (INC, ends),
                op2.Dat(pairs, np.ones(10), np.float64, name="d"),
                (READ,),
            ),
            "reduction": (op2.Kernel("void sum(double *s, const double *a) { s[0] += a[0]; }", "sum"), points, total, (INC,), a, (READ,)),
        }
        calls: dict[str, Call] = {}
        for name, (kernel, over, first, how_first, second, how_second) in loops.items():
            calls[f"par_loop, {name}"] = lambda k=kernel, s=over, f=first, hf=how_first, g=second, hg=how_second: op2.par_loop(
                k, s, f(*hf), g(*hg)
            )
            calls[f"built ParLoop, {name}"] = op2.ParLoop(kernel, over, first(*how_first), second(*how_second))

        def add() -> None:
            nonlocal b
            b += a

        calls["Dat +="] = add
        calls["inner"] = lambda: a.inner(b)
        for call in calls.values():
            call()
        theirs = {f"{name}: PyOP2": call for name, call in pyop2_loops.tiny_calls(peer).items()} if peer else {}
        numbers = dict.fromkeys(calls, 1000) | dict.fromkeys(theirs, 100)
        times = {name: 1e6 * t for name, t in interleaved(calls | theirs, numbers, rounds=21).items()}
    wanted = {"par_loop": 5.0, "built ParLoop": 1.5, "Dat +=": 3.0}
    for name in calls:
        kind, _, loop = name.partition(", ")
        elsewhere = PYOP2[loop or kind][1 if kind == "built ParLoop" else 0]
        limit = wanted.get(kind)
        verdict = (f"at most {limit:g} µs", (at_most, limit)) if limit else (None, None)
        table.row(name if peer else f"{name} (PyOP2, elsewhere: {elsewhere} µs)", times[name], "µs", *verdict)
        if peer:
            beside(table, name, times[name], times[f"{name}: PyOP2"], "µs")


def beside(table: Table, what: str, ours: float, theirs: float, unit: str) -> None:
    """The rows of PyOP2 below a row of ours."""
    table.row(f"{what}: PyOP2", theirs, unit)
    table.row(f"{what}: PyOP2 / parloop", theirs / ours, "")


def first_calls(table: Table, peer: ModuleType | None) -> None:
    """What a program waits for before its loops run as above."""
    print("in processes of their own, over `import numpy`, wall time")
    times = pyop2_loops.in_new_processes(["parloop", "pyop2"] if peer else ["parloop"])
    rows = "import", "first par_loop, source not seen before", "next par_loop, source not seen before", "first par_loop, in the cache on disk"
    for what, *measured in zip(rows, *times.values()):
        table.row(what, measured[0], "ms")
        if peer:
            beside(table, what, *measured, "ms")


def compare(table: Table, what: str, threads: dict[int, Call], hand: Call, rounds: int, peer: Call | None = None) -> None:
    """One loop on one and on several threads against plain C on one, and against PyOP2, which has one."""
    calls = {"hand": hand} | {f"{n}": call for n, call in threads.items()} | ({"PyOP2": peer} if peer else {})
    times = cpu_and_wall(calls, rounds)
    table.row(f"{what}: C by hand", 1e3 * times["hand"][0], "ms")
    table.row(f"{what}: one thread", 1e3 * times["1"][0], "ms")
    table.row(f"{what}: C by hand / one thread", times["hand"][0] / times["1"][0], "", "at least 0.95", (at_least, 0.95))
    if peer:
        beside(table, what, 1e3 * times["1"][0], 1e3 * times["PyOP2"][0], "ms")
    for n in threads:
        if n > 1:
            verdict = ("at least 1.7", (at_least, 1.7)) if n == 2 else (None, None)
            table.row(f"{what}: {n} threads, times as fast (wall)", times["1"][2] / times[f"{n}"][2], "", *verdict)
            table.row(f"{what}: {n} threads, CPU time of all / of one", times[f"{n}"][1] / times["1"][1], "")


def triangles(table: Table, counts: list[int], peer: ModuleType | None) -> None:
    """An indirect increment over a million triangles, numbered in order and at random."""
    across, up = 1000, 500
    i, j = np.meshgrid(np.arange(across), np.arange(up))
    corner = (i + j * (across + 1)).ravel()
    right, above = corner + 1, corner + across + 1
    ordered = np.stack([corner, right, above, right, above + 1, above], axis=1).reshape(-1, 3).astype(np.int32)
    x = np.stack(np.meshgrid(np.linspace(0, 2, across + 1), np.linspace(0, 1, up + 1)), axis=-1).reshape(-1, 2)
    random = np.random.default_rng(1)
    places = random.permutation(len(x)).astype(np.int32)
    shuffled = places[ordered][random.permutation(len(ordered))]
    moved = np.empty_like(x)
    moved[places] = x

    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "lump.c")
        source.write_text(LUMP_BY_HAND)
        by_hand = compile_c(source, folder).lump
    for name, numbering, at in (("ordered", ordered, x), ("shuffled", shuffled, moved)):
        area = np.zeros(len(at))
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (numbering, at, area)]
        count = ctypes.c_int64(len(numbering))

        def hand(count=count, pointers=pointers) -> None:
            by_hand(count, *pointers)

        cells, nodes = op2.Set(len(numbering), "cells"), op2.Set(len(at), "nodes")
        cell_nodes = op2.Map(cells, nodes, 3, numbering, "cell_nodes")
        kernel = op2.Kernel(LUMP, "lump")
        threads: dict[int, Call] = {}
        for n in counts:
            lumped, coordinates = op2.Dat(nodes, dtype=np.float64), op2.Dat(nodes**2, at)
            arguments = lumped(INC, cell_nodes), coordinates(READ, cell_nodes)
            threads[n] = op2.ParLoop(kernel, cells, *arguments, context=pl.Context(f"cpu:{n}"))
            threads[n]()
            assert abs(lumped.data_ro.sum() - 2.0) < 1e-9, lumped.data_ro.sum()
        theirs = pyop2_loops.lump(peer, numbering, at) if peer else None
        compare(table, f"INC over 1e6 triangles, {name}", threads, hand, rounds=31, peer=theirs)


def airfoil(table: Table, counts: list[int], third: int, across: int) -> None:
    """Each loop of the airfoil program."""
    mesh = airfoil_mesh(third, across)
    print(f"the airfoil program: {mesh}")
    hand = Hand(mesh)
    expected = hand.run(2)
    loops: dict[int, dict[str, Call]] = {}
    for n in counts:
        with pl.Context(f"cpu:{n}") as ctx:
            flow = example.Airfoil(mesh)
            flow.step()
            flow.step()
            assert abs(flow.residual / expected - 1) < 1e-9, (n, flow.residual, expected)
            loops[n] = built_loops(flow, ctx)
    for name in loops[1]:
        compare(table, name, {n: loops[n][name] for n in counts}, lambda name=name: hand.loop(name), rounds=15)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", nargs=2, type=int, default=(400, 600), metavar=("I", "J"), help="size of the airfoil mesh")
    parser.add_argument("--threads", nargs="+", type=int, default=[2], metavar="N", help="how many threads, besides one")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    table = Table()
    counts = sorted({1, *(min(n, len(os.sched_getaffinity(0))) for n in options.threads)})
    print(f"{pl.Device('cpu').model}; Python {sys.version.split()[0]}; parloop {pl.__version__}")
    peer = pyop2_loops.load()
    tiny_calls(table, peer)
    first_calls(table, peer)
    triangles(table, counts, peer)
    airfoil(table, counts, *options.cells)
    if options.json:
        options.json.write_text(json.dumps(table.figures, indent=1))


if __name__ == "__main__":
    main()
