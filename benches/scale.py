"""What several processes cost and gain: ``python benches/scale.py`` starts itself again under mpirun.

A halo exchange against the same messages by calls of MPI in C; iterations of the airfoil by one process and by several of one thread each, against
the prediction from their pieces (``scale/law.py``); and that prediction for up to 10,000 ranks, from figures of real partitions
(``scale/partitions.py``). Both sides of a comparison run one after the other in one go; read the ratios.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MPIRUN = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]
#: A mesh whose iterations take as long as their calls.
TINY = (10, 15)
#: Messages over sockets, which the system moves while a loop runs; in shared memory, processes themselves copy them.
SOCKETS = ["--mca", "pml", "ob1", "--mca", "btl", "self,tcp"]
RANKS = (10, 30, 100, 300, 1000, 3000, 10000)

sys.path[:0] = [str(HERE / "scale"), str(HERE.parent / "examples")]


def airfoil(third: int, across: int):
    """The airfoil program on a mesh."""
    from airfoil_mesh import airfoil_mesh

    return importlib.import_module("05_airfoil").Airfoil(airfoil_mesh(third, across))


def timed(comm, turns: int, what, before=lambda: None) -> float:
    """The median of seconds, from the time that all processes are there."""
    times = []
    for _ in range(turns):
        before()
        comm.barrier()
        start = time.perf_counter()
        what()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def worker(cells: tuple[int, int], turns: int, by: str) -> None:
    """One process: prints what it measured as a line of JSON. Alone, it has the mesh by itself, at the same time as the others."""
    import parloop as pl
    import parloop.mesh as op2

    with pl.Context("cpu:1"):
        comm, own = op2.Comm.world(), {"exchange": 0.0}
        flow = airfoil(*cells)
        if by != "alone":
            op2.distribute(flow.cells, by, coordinates=flow.x if by == "coordinates" else None)
        if flow.cells.is_distributed:

            def make_stale() -> None:
                flow.q.halo_valid = False

            own["exchange"] = timed(comm, turns, flow.q.renew_ghosts, make_stale)
        for _ in range(30):
            flow.step()
        own |= {
            "step": timed(comm, 20, flow.step),
            "ghosts": flow.cells.total_size - flow.cells.size,
            "owned": flow.cells.size,
        }
        if flow.cells.is_distributed:
            own["before"], own["within"] = exposed(comm, flow)
        if comm.rank == 0:
            print(json.dumps(own))


def exposed(comm, flow, turns: int = 300) -> tuple[float, float]:
    """Medians of seconds: an exchange before a loop over edges, and what the same loop spends with messages if it does the exchange itself, which its core then
    hides. All processes start together; between exchanges the loop has the caches, as in programs."""
    import parloop as pl
    import parloop.mesh as op2

    kernel, cells = importlib.import_module("05_airfoil").res_calc, flow.edge_cells
    reads = [dat(op2.READ, map) for dat, map in ((flow.x, flow.edge_nodes), (flow.q, cells), (flow.adt, cells))]
    loop = op2.ParLoop(kernel, flow.edges, *reads, flow.res(op2.INC, cells))
    before, within = [], []
    for _ in range(turns):
        flow.q.halo_valid = False
        comm.barrier()
        start = time.perf_counter()
        flow.q.renew_ghosts()
        before.append(time.perf_counter() - start)
        loop()
        flow.q.halo_valid = False
        comm.barrier()
        with pl.profile() as profile:
            loop()
        within.append(sum(row.mean for row in profile.table if row.kernel.startswith("halo exchange")))
    return statistics.median(before), statistics.median(within)


def start(ranks: int, *arguments: str, over: list[str] | None = None) -> str:
    return subprocess.run([*MPIRUN, *(over or []), "-n", str(ranks), *arguments], check=True, capture_output=True, text=True).stdout.strip().splitlines()[-1]


def again(cells: tuple[int, int], turns: int, ranks: int, by: str = "graph", over: list[str] | None = None) -> dict[str, float]:
    """What processes of this program measure."""
    arguments = [sys.executable, __file__, "--worker", by, "--cells", *map(str, cells), "--turns", str(turns)]
    return json.loads(start(ranks, *arguments, over=over))


def hidden(found: dict[str, float]) -> str:
    """What the core of a loop hides of an exchange."""
    return f"before a loop {1e6 * found['before']:.1f} µs, within {1e6 * found['within']:.1f} µs ({1 - found['within'] / found['before']:.0%} hidden)"


def compare_exchange(cells: tuple[int, int], turns: int) -> None:
    """An exchange against C, three times."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/exchange"
        subprocess.run(["mpicc.openmpi", "-O2", "-o", program, str(HERE / "scale" / "exchange.c")], check=True)
        for _ in range(3):
            two = again(cells, turns, 2)
            rows = [str(two["ghosts"]), str(two["ghosts"]), str(two["owned"]), str(turns)]
            plain, threads = (1e-6 * float(start(2, program, *rows, *option)) for option in ([], ["threads"]))
            one, sockets = again(cells, turns, 1), again(cells, turns, 2, over=SOCKETS)
            print(
                f"exchange of {two['ghosts']} ghosts: {1e6 * two['exchange']:.1f} µs, in C {1e6 * plain:.1f} µs ({two['exchange'] / plain:.2f} ×), "
                f"in C with MPI_THREAD_MULTIPLE {1e6 * threads:.1f} µs ({two['exchange'] / threads:.2f} ×); "
                f"{hidden(two)}, {hidden(sockets)} over sockets; "
                f"iteration: {1e3 * one['step']:.2f} ms by one process, {1e3 * two['step']:.2f} ms by two ({one['step'] / two['step']:.2f} ×)"
            )


def figures(cells: tuple[int, int], counts):
    """Real partitions of a mesh into so many parts each, by a process each."""
    from airfoil_mesh import airfoil_mesh
    from partitions import partitions

    mesh = airfoil_mesh(*cells)
    centres = mesh.x[mesh.cell_nodes].mean(axis=1)
    return partitions(centres, mesh.edge_cells, counts)


def compare_prediction(cells: tuple[int, int], turns: int):
    """The pieces of this machine, and predictions from them against what was measured. Returns the pieces."""
    from law import GHOST, Pieces, predicted, scaled

    third, across = cells
    total, few = 3 * third * across, 3 * TINY[0] * TINY[1]
    pieces = None
    print(f"\nprediction and measurement, {total:,} cells dealt out by coordinates, processes of one thread on {os.cpu_count()} cores")
    print(f"{'ranks':>6} {'cells/rank':>11} {'ghosts':>7} {'all hidden':>11} {'none hidden':>12} {'measured':>9}  measured / none hidden")
    for ranks in (count for count in (2, 4, 8, 16) if count <= (os.cpu_count() or 1)):
        # As many cells as a rank has, by each of as many processes that share the machine but not the mesh.
        part = (max(1, third // ranks), across)
        alone, calls = again(part, turns, ranks, "alone"), again(TINY, turns, ranks, "alone")
        together, little = again(cells, turns, ranks, "coordinates"), again(TINY, turns, ranks, "coordinates")
        per_cell = (alone["step"] - calls["step"]) / (3 * part[0] * part[1] - few)
        rows = max(together["ghosts"] - little["ghosts"], 1) * 32
        found = figures(cells, [ranks])[0]
        pieces = Pieces(
            fixed=calls["step"] - per_cell * few,
            per_cell=per_cell,
            latency=little["exchange"] / max(found.most_neighbours, 1),
            bandwidth=rows / max(together["exchange"] - little["exchange"], 1e-9),
            depth=together["ghosts"] / found.ghosts,
        )
        guess = predicted(scaled(found, total), pieces)
        ratio = together["step"] / guess.most
        print(
            f"{ranks:>6} {total // ranks:>11,} {together['ghosts']:>7,} {1e3 * guess.least:>8.2f} ms {1e3 * guess.most:>9.2f} ms "
            f"{1e3 * together['step']:>6.2f} ms  {ratio:.2f}"
        )
    if pieces is not None:
        print(
            f"pieces: {1e6 * pieces.fixed:.0f} µs of calls and {1e9 * pieces.per_cell:.1f} ns a cell; {1e6 * pieces.latency:.1f} µs and "
            f"{1e-9 * pieces.bandwidth:.1f} GB/s for messages of {GHOST} bytes a ghost; ghosts are {pieces.depth:.1f} times one layer"
        )
        if pieces.fixed < 0:
            print("the machine was busy: calls cannot take less than no time, so the times below mean nothing; repeat on idle cores")
    return pieces


def predict(options, pieces) -> None:
    """The table for many ranks of another machine, whose network is given."""
    from law import predicted, scaled

    sizes = [size for size in ((100, 150), (200, 300), (400, 600), (800, 1200), (1600, 2400), (2500, 4000)) if 3 * size[0] * size[1] <= options.largest]
    measured = [figures(size, RANKS) for size in sizes[-3:]]
    largest = measured[-1]
    pieces = pieces._replace(latency=options.latency, bandwidth=options.bandwidth)
    print(f"\nthe law: ghosts of a part grow as the square root of its cells. Mean ghosts of a part, counted / by the law from {largest[0].cells:,} cells:")
    print(f"{'cells':>11} " + " ".join(f"{ranks:>13,}" for ranks in RANKS) + " ranks")
    for row in measured:
        by_law = [scaled(top, one.cells) for one, top in zip(row, largest, strict=True)]
        print(f"{row[0].cells:>11,} " + " ".join(f"{one.ghosts:>6.0f} /{law.ghosts:>5.0f}" for one, law in zip(row, by_law, strict=True)))
    print(
        f"\nan iteration of {options.wanted:,.0f} cells: latency {1e6 * options.latency:.1f} µs and {1e-9 * options.bandwidth:.0f} GB/s given, "
        f"{1e6 * pieces.fixed:.0f} µs of calls and {1e9 * pieces.per_cell:.1f} ns a cell measured"
    )
    columns = ("ranks", "cells/rank", "ghosts", "neighbours", "compute", "exchange", "sums", "all hidden", "none hidden", "efficiency")
    print(" ".join(f"{name:>11}" for name in columns))
    alone = pieces.fixed + pieces.per_cell * options.wanted
    for found in largest:
        wanted = scaled(found, options.wanted)
        guess = predicted(wanted, pieces)
        times = (guess.compute, guess.exchange, guess.sums, guess.least, guess.most)
        efficiency = [alone / (found.parts * value) for value in (guess.most, guess.least)]
        print(
            f"{found.parts:>11,} {wanted.most_cells:>11,} {round(wanted.most_ghosts * pieces.depth):>11,} {wanted.most_neighbours:>11} "
            + " ".join(f"{1e3 * value:>8.3f} ms" for value in times)
            + f" {efficiency[0]:>5.0%}–{efficiency[1]:.0%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", nargs=2, type=int, default=[200, 300], help="the mesh that is run: cells along a third, and across")
    parser.add_argument("--turns", type=int, default=2000, help="exchanges that are timed")
    parser.add_argument("--wanted", type=float, default=1e8, help="cells of the mesh that is predicted")
    parser.add_argument("--largest", type=float, default=3e6, help="cells of the largest mesh that is partitioned")
    parser.add_argument("--latency", type=float, default=2e-6, help="seconds of a message of the predicted network")
    parser.add_argument("--bandwidth", type=float, default=10e9, help="bytes a second that a rank sends there")
    parser.add_argument("--worker", choices=("graph", "coordinates", "alone"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    cells = tuple(options.cells)
    if options.worker:
        worker(cells, options.turns, options.worker)
        return
    compare_exchange(cells, options.turns)
    pieces = compare_prediction(cells, options.turns)
    if pieces is None:
        print("no prediction: it needs pieces that two cores or more measure")
        return
    predict(options, pieces)


if __name__ == "__main__":
    main()
