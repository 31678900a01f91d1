"""What several processes cost and gain: ``python benches/scale.py`` starts itself again under mpirun.

A halo exchange against the same messages by calls of MPI in C, and iterations of the airfoil by one and by two processes of one thread each.
Both sides of a comparison run one after the other in one go; read the ratios.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MPIRUN = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]


def airfoil(third: int, across: int):
    """The airfoil program on a mesh, with its cells dealt out."""
    sys.path.insert(0, str(HERE.parent / "examples"))
    import parloop.mesh as op2
    from airfoil_mesh import airfoil_mesh

    flow = importlib.import_module("05_airfoil").Airfoil(airfoil_mesh(third, across))
    return flow, op2.distribute(flow.cells)


def worker(cells: tuple[int, int], turns: int) -> None:
    """One process: prints what it measured as a line of JSON."""
    import parloop as pl

    with pl.Context("cpu:1"):
        flow, found = airfoil(*cells)
        comm, times = found.comm, []
        for _ in range(turns if comm.size > 1 else 0):
            flow.q.halo_valid = False
            comm.barrier()
            start = time.perf_counter()
            flow.q.renew_ghosts()
            times.append(1e6 * (time.perf_counter() - start))
        for _ in range(30):
            flow.step()
        steps = []
        for _ in range(20):
            comm.barrier()
            start = time.perf_counter()
            flow.step()
            steps.append(1e3 * (time.perf_counter() - start))
        own = {
            "exchange": statistics.median(times) if times else 0.0,
            "step": statistics.median(steps),
            "ghosts": flow.cells.total_size - flow.cells.size,
            "owned": flow.cells.size,
        }
        if comm.rank == 0:
            print(json.dumps(own))


def start(ranks: int, *arguments: str) -> str:
    return subprocess.run([*MPIRUN, "-n", str(ranks), *arguments], check=True, capture_output=True, text=True).stdout.strip().splitlines()[-1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", nargs=2, type=int, default=[200, 300])
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args()
    if options.worker:
        worker(tuple(options.cells), options.turns)
        return
    again = [sys.executable, __file__, "--worker", "--cells", *map(str, options.cells), "--turns", str(options.turns)]
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/exchange"
        subprocess.run(["mpicc.openmpi", "-O2", "-o", program, str(HERE / "scale" / "exchange.c")], check=True)
        for _ in range(3):
            two = json.loads(start(2, *again))
            hand = float(start(2, program, str(two["ghosts"]), str(two["ghosts"]), str(two["owned"]), str(options.turns)))
            one = json.loads(start(1, *again))
            print(
                f"exchange of {two['ghosts']} ghosts: {two['exchange']:.1f} µs, in C {hand:.1f} µs ({two['exchange'] / hand:.2f} ×); "
                f"iteration: {one['step']:.2f} ms by one process, {two['step']:.2f} ms by two ({one['step'] / two['step']:.2f} ×)"
            )


if __name__ == "__main__":
    main()
