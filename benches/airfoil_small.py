"""The airfoil program on a mesh of 714 cells, again and again: ``python benches/airfoil_small.py [--runs N] [--json FILE]``.

Nine loops of some microseconds an iteration, on one thread. Each run is a process of its own, and all have one cache, which is empty at
first: what the first one finds out about the loops is kept there. An iteration is timed by CPU time, in turns with the same program in plain
C; a run is told by its medians.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "examples"), str(HERE / "airfoil")]

from measure import Comparison  # noqa: E402

#: Iterations of a turn.
TURN = 50


def one_run(third: int, across: int, iterations: int) -> dict[str, float]:
    """What one process measures."""
    from airfoil_loops import built_loops, example
    from airfoil_mesh import airfoil_mesh
    from hand import Hand

    import parloop as pl

    mesh = airfoil_mesh(third, across)
    hand, again = Hand(mesh), Hand(mesh)
    hand.iterate(iterations // 10)
    again.iterate(iterations // 10)
    with pl.Context("cpu:1") as context:
        flow = example.Airfoil(mesh)
        start = time.perf_counter()
        flow.step()
        first = time.perf_counter() - start
        built = built_loops(flow, context)

        def step() -> None:
            built["save_soln"]()
            for _ in range(2):
                built["adt_calc"]()
                built["res_calc"]()
                built["bres_calc"]()
                flow.rms.zero()
                built["update"]()

        # The same program in C on data of its own tells how far two runs of the same code are apart.
        calls = {"hand": lambda: hand.iterate(TURN), "again": lambda: again.iterate(TURN), "built": lambda: repeat(step), "par_loop": lambda: repeat(flow.step)}
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(iterations // TURN):
            for name, call in calls.items():
                before = time.process_time()
                call()
                times[name].append((time.process_time() - before) / TURN)
        wall = time.perf_counter() - start
    # Ways are tried in the first half.
    usual = {name: statistics.median(each[len(each) // 2 :]) for name, each in times.items()}
    # What the whole run took beyond that: compiling, ways that were tried, and other work of the machine.
    beyond = wall - iterations * sum(usual.values())
    return {"first": 1e3 * first, "beyond": 1e3 * beyond} | {name: 1e3 * seconds for name, seconds in usual.items()}


def repeat(step: Callable[[], None]) -> None:
    for _ in range(TURN):
        step()


def compiled(cache: str) -> int:
    """How many entries the cache has."""
    return sum(len(files) for _, _, files in os.walk(cache))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10, help="how many processes")
    parser.add_argument("--iterations", type=int, default=3000, help="of each run")
    parser.add_argument("--cells", nargs=2, type=int, default=(17, 14), metavar=("I", "J"), help="size of the mesh")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--one", action="store_true", help="measure in this process")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one_run(*options.cells, options.iterations)))
        return
    table, runs = Comparison(), []
    own = [sys.executable, __file__, "--one", "--iterations", str(options.iterations), "--cells", *map(str, options.cells)]
    with tempfile.TemporaryDirectory() as cache:
        for number in range(options.runs + 1):
            before = compiled(cache)
            done = subprocess.run(own, env=os.environ | {"PARLOOP_CACHE_DIR": cache}, check=True, capture_output=True, text=True)
            run = json.loads(done.stdout)
            told = "with an empty cache" if number == 0 else f"{number}"
            table.row(f"run {told}: an iteration of built loops, C by hand", run["built"], run["hand"], "ms", 0.9)
            table.row(f"run {told}: an iteration of calls of par_loop, C by hand", run["par_loop"], run["hand"], "ms")
            kept = compiled(cache) - before
            print(f"    first iteration {run['first']:.1f} ms, trying {run['beyond']:.0f} ms; {kept} new entries in the cache", flush=True)
            if number > 0:
                runs.append(run)
    for name in ("again", "built", "par_loop"):
        ratios = [run["hand"] / run[name] for run in runs]
        for what, values in ("ms", [run[name] for run in runs]), ("of C by hand in the same process", ratios):
            apart = 100 * (max(values) / min(values) - 1)
            print(f"{name}: {min(values):.4f} to {max(values):.4f} {what}, apart by {apart:.1f} % (asked: at most 10)")
    if options.json:
        options.json.write_text(json.dumps(runs, indent=1))


if __name__ == "__main__":
    main()
