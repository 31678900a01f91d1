"""Matrices and extruded meshes on the CPU against plain C and SciPy: ``python benches/assembly.py [--small] [--parts …] [--json FILE]``.

One thread is compared by CPU time, so that other work on the machine counts little. What two threads gain is told by wall time, and by the
CPU time of the busier of both, which is that of all where the second one did not help. Medians of interleaved rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import sys
import time
from collections.abc import Callable

# SciPy's peers are on one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402
from measure import Comparison, interleaved  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "assembly"))
from problems import Columns, Hand, Ours, Problem, column_loops, columns, cube, short, shuffled, square  # noqa: E402

import parloop as pl  # noqa: E402
import parloop.mesh as op2  # noqa: E402

Call = Callable[[], object]

#: Seconds: CPU time of all threads, CPU time of the busier of two, wall time.
Times = dict[str, tuple[float, float, float]]

#: Seconds of a turn of calls, and seconds of calls before any is measured: a loop that has run for a while tries the other ways there are.
TURN, WARM_UP = 0.03, 6.0


def medians(calls: dict[str, Call], rounds: int, warm_up: float = WARM_UP) -> Times:
    """Median seconds of each call, in turns."""
    samples: dict[str, list[tuple[float, float, float]]] = {name: [] for name in calls}
    lengths: dict[str, int] = {}
    for name, call in calls.items():
        call()
        end = time.perf_counter() + warm_up
        while time.perf_counter() < end:
            call()
        start = time.process_time()
        call()
        lengths[name] = 1 + int(TURN / max(time.process_time() - start, 1e-6))
    clocks = time.process_time, time.thread_time, time.perf_counter
    for _ in range(rounds):
        for name, call in calls.items():
            # Threads of the turn before are given the time to go to sleep.
            time.sleep(0.005)
            call()
            before = [clock() for clock in clocks]
            for _ in range(lengths[name]):
                call()
            cpu, here, wall = ((clock() - start) / lengths[name] for clock, start in zip(clocks, before))
            samples[name].append((cpu, max(here, cpu - here), wall))
    return {name: tuple(map(statistics.median, zip(*times))) for name, times in samples.items()}


def threads(table: Comparison, what: str, times: Times) -> None:
    """The rows of two threads beside one."""
    (one_cpu, _, one_wall), (two_cpu, busier, two_wall) = times["one"], times["two"]
    table.row(f"{what}: two threads, one (wall)", 1e3 * two_wall, 1e3 * one_wall, "ms", 1.7)
    table.row(f"{what}: two threads, one (CPU, the busier)", 1e3 * busier, 1e3 * one_cpu, "ms", 1.7)
    table.row(f"{what}: two threads, one (CPU, both)", 1e3 * two_cpu, 1e3 * one_cpu, "ms")


def measure_sparsity(table: Comparison, hand: Hand, cells: int, rounds: int) -> None:
    """The pattern of linear triangles, on one thread, and with it the places of entries, which are found for the first loop."""
    ordered = square(cells)
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        for problem in (ordered, shuffled(ordered)):
            set_of_cells, nodes = op2.Set(len(problem.corners), "cells"), op2.Set(problem.node_count, "nodes")
            map = op2.Map(set_of_cells, nodes, 3, problem.corners, "cell_nodes")
            made = op2.Sparsity(nodes**1, map)
            starts, found = hand.sparsity(problem)
            assert np.array_equal(made.rowptr, starts) and np.array_equal(made.colidx, found)
            calls = {"ours": lambda: op2.Sparsity(nodes**1, map), "hand": lambda: hand.sparsity(problem)}
            times = medians(calls, rounds, warm_up=0.0)
            table.row(f"sparsity of {problem.what}", 1e3 * times["ours"][0], 1e3 * times["hand"][0], "ms", 0.667)

            # The loop reads nothing else, and is not run.
            empty = op2.Kernel("void empty(double *a) {}", "empty")

            def with_positions() -> None:
                op2.ParLoop(empty, set_of_cells, op2.Mat(op2.Sparsity(nodes**1, map))(op2.INC, (map, map)))

            calls = {"ours": with_positions, "hand": lambda: hand.places(problem, *hand.sparsity(problem))}
            times = medians(calls, rounds, warm_up=0.0)
            table.row(f"sparsity and places of {problem.what}", 1e3 * times["ours"][0], 1e3 * times["hand"][0], "ms", 0.667)
    finally:
        os.sched_setaffinity(0, allowed)


def measure_assembly(table: Comparison, hand: Hand, problems: list[Problem], rounds: int, plan: str) -> None:
    """Laplace matrices."""
    for problem in problems:
        ours = {n: Ours(problem) for n in (1, 2)}
        loops = {n: our.loop(context=pl.Context(f"cpu:{n}"), plan=plan if n > 1 else "auto") for n, our in ours.items()}
        sparsity = ours[1].sparsity
        starts, found = np.asarray(sparsity.rowptr), np.asarray(sparsity.colidx)
        values = np.zeros(len(found))
        by_hand = hand.assembly(problem, hand.places(problem, starts, found), values)
        by_hand()
        for n, loop in loops.items():
            loop()
            assert np.allclose(ours[n].mat.data_ro.ravel(), values, atol=1e-9), problem.what
        times = medians({"hand": by_hand, "one": loops[1], "two": loops[2]}, rounds)
        what = f"assembly, {problem.what}"
        table.row(f"{what}: C by hand", 1e3 * times["one"][0], 1e3 * times["hand"][0], "ms", 0.9)
        threads(table, what, times)


def definite(problem: Problem) -> Ours:
    """The Laplace matrix and a diagonal, which make it positive definite."""
    ours = Ours(problem)
    with pl.Context("cpu:1"):
        ours.loop()()
    ours.mat.inc_local_diagonal_entries(np.arange(problem.node_count), 0.1)
    return ours


def measure_products(table: Comparison, problems: list[Problem], rounds: int) -> None:
    """y = A x against SciPy's, into an array that is there."""
    from scipy.sparse import _sparsetools

    for problem in problems:
        ours = definite(problem)
        a = ours.mat.to_scipy()
        x, out = np.random.default_rng(2).random(problem.node_count), np.zeros(problem.node_count)
        dats = {n: (op2.Dat(ours.nodes, x, name="x"), op2.Dat(ours.nodes, name="y")) for n in (1, 2)}
        contexts = {n: pl.Context(f"cpu:{n}") for n in (1, 2)}

        def product(n: int) -> None:
            with contexts[n]:
                ours.mat.mult(*dats[n])

        for n in (1, 2):
            product(n)
            assert np.allclose(dats[n][1].data_ro, a @ x)
        calls = {
            "scipy": lambda: _sparsetools.csr_matvec(*a.shape, a.indptr, a.indices, a.data, x, out),
            "one": lambda: product(1),
            "two": lambda: product(2),
        }
        times = medians(calls, rounds, warm_up=0.2)
        what = f"A x, {problem.what}"
        table.row(f"{what}: SciPy", 1e3 * times["one"][0], 1e3 * times["scipy"][0], "ms", 0.95)
        threads(table, what, times)


def measure_solver(table: Comparison, problem: Problem, iterations: int, rounds: int) -> None:
    """Conjugate gradients without preconditioner, a fixed number of iterations, for each of them."""
    from scipy.sparse.linalg import cg

    ours = definite(problem)
    a, b = ours.mat.to_scipy(), np.random.default_rng(3).random(problem.node_count)
    x, right = op2.Dat(ours.nodes, name="x"), op2.Dat(ours.nodes, b, name="b")
    contexts = {n: pl.Context(f"cpu:{n}") for n in (1, 2)}

    def solve(n: int) -> None:
        with contexts[n]:
            x.zero()
            done = op2.solve(ours.mat, x, right, preconditioner=None, rtol=1e-300, maxiter=iterations, progress=False)
        assert done.iterations == iterations, done

    def by_scipy() -> np.ndarray:
        return cg(a, b, rtol=1e-300, maxiter=iterations)[0]

    solve(1)
    assert np.allclose(x.data_ro, by_scipy(), rtol=1e-6)
    times = medians({"scipy": by_scipy, "one": lambda: solve(1), "two": lambda: solve(2)}, rounds, warm_up=0.2)
    times = {name: tuple(seconds / iterations for seconds in each) for name, each in times.items()}
    what = f"CG iteration, {problem.what}"
    table.row(f"{what}: SciPy", 1e3 * times["one"][0], 1e3 * times["scipy"][0], "ms")
    threads(table, what, times)


def measure_columns(table: Comparison, hand: Hand, mesh: Columns, rounds: int) -> None:
    """An extruded mesh against the same cells as a flat one, and against C by hand."""
    if not hasattr(op2, "ExtrudedSet"):
        print("extruded sets are not in this package")
        return
    what = f"extruded, {short(len(mesh.base))} columns × {mesh.layers} layers"
    f, r = np.ones(len(mesh.x)), np.zeros(len(mesh.x))
    by_hand = hand.columns(mesh, f, r)
    by_hand()
    loops = {}
    for n in (1, 2):
        extruded, flat, *sums = column_loops(mesh, context=pl.Context(f"cpu:{n}"))
        for loop, found in zip((extruded, flat), sums):
            loop()
            assert np.allclose(found.data_ro, r)
        loops[n] = extruded, flat
    calls = {"hand": by_hand, "one": loops[1][0], "two": loops[2][0], "flat": loops[1][1], "flat, two": loops[2][1]}
    times = medians(calls, rounds)
    table.row(f"{what}: flat", 1e3 * times["one"][0], 1e3 * times["flat"][0], "ms", 2)
    table.row(f"{what}: flat, two threads (CPU)", 1e3 * times["two"][0], 1e3 * times["flat, two"][0], "ms", 2)
    table.row(f"{what}: C by hand", 1e3 * times["one"][0], 1e3 * times["hand"][0], "ms", 0.9)
    threads(table, what, times)


def measure_calls(table: Comparison) -> None:
    """What a loop with a matrix costs on ten cells, wall time."""
    numbers = np.arange(10, dtype=np.int32)
    triangles = np.stack([numbers, numbers + 1, numbers + 2], axis=1)
    x = np.stack([numbers_of(12), numbers_of(12) ** 2], axis=1)
    ours = Ours(Problem("P1 on ten triangles", "laplace_p1", triangles, triangles, x, 12))
    with pl.Context("cpu:1"):
        built = ours.loop()
        built()
        arguments = ours.mat(op2.INC, (ours.map, ours.map)), ours.x(op2.READ, ours.corners)

        def new() -> None:
            op2.par_loop(ours.kernel, ours.cells, ours.mat(op2.INC, (ours.map, ours.map)), ours.x(op2.READ, ours.corners))

        calls: dict[str, tuple[Call, float | None]] = {
            "a built ParLoop with a matrix on ten cells, a call": (built, 10),
            "building it of arguments that are there": (lambda: op2.ParLoop(ours.kernel, ours.cells, *arguments), 3),
            "building it and its arguments": (ours.loop, None),
            "par_loop of new arguments": (new, None),
        }
        times = interleaved({name: call for name, (call, _) in calls.items()}, 500, rounds=21)
    for name, (_, asked) in calls.items():
        table.row(name, 1e6 * times[name], None, "µs", asked)


def numbers_of(count: int) -> np.ndarray:
    return np.linspace(0, 1, count)


PARTS = ("sparsity", "assembly", "product", "solve", "extruded", "calls")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a hundredth of the sizes and few rounds")
    parser.add_argument("--triangles", type=int, default=1_000_000, help="for degree 1; a quarter of them for degree 2")
    parser.add_argument("--tetrahedra", type=int, default=500_000)
    parser.add_argument("--columns", type=int, default=10_000)
    parser.add_argument("--layers", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--plan", default="auto", help="of assembly on two threads; on a busy machine auto finds that one is faster")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    if options.small:
        options.triangles, options.tetrahedra, options.columns, options.rounds = 10_000, 5_000, 100, 5
    print(f"{pl.Device('cpu').model}, load {os.getloadavg()[0]:.1f}; Python {sys.version.split()[0]}; parloop {pl.__version__}")
    hand, table = Hand(), Comparison()
    linear, rounds = square(options.triangles), options.rounds
    steps: dict[str, Call] = {
        "sparsity": lambda: measure_sparsity(table, hand, options.triangles, min(rounds, 9)),
        "assembly": lambda: measure_assembly(
            table, hand, [linear, shuffled(linear), square(options.triangles // 4, 2), cube(options.tetrahedra)], rounds, options.plan
        ),
        "product": lambda: measure_products(table, [linear, square(options.triangles // 4, 2), cube(options.tetrahedra)], rounds),
        "solve": lambda: measure_solver(table, linear, 20, min(rounds, 9)),
        "extruded": lambda: measure_columns(table, hand, columns(options.columns, options.layers), rounds),
        "calls": lambda: measure_calls(table),
    }
    for part in options.parts:
        steps[part]()
    print(f"load at the end {os.getloadavg()[0]:.1f}")
    if options.json:
        options.json.write_text(json.dumps(table.figures, indent=1))


if __name__ == "__main__":
    main()
