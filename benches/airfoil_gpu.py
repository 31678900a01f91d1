"""The airfoil program on a GPU, as parallel loops and by hand in CUDA: ``python benches/airfoil_gpu.py [--device NAME] [--json FILE]``.

Times are medians of event times around batches of iterations. The limit counts each array once a loop: 656 bytes for a cell, 64 for a
node and 32 for an edge in each iteration, over the bandwidth of a triad measured in the same run. Every program has to reach the known
residual at iteration 100 before it is timed.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import statistics
import sys
from collections.abc import Callable

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "examples"), str(HERE / "airfoil")]
from airfoil_mesh import Mesh, airfoil_mesh  # noqa: E402
from airfoil_loops import built_loops, example  # noqa: E402

import parloop as pl  # noqa: E402

#: Cells along a third and across, and the residual at iteration 100 by `benches/airfoil/hand.c`; of the first 5.02186e-04 is published.
SIZES = {"720k": (400, 600, 5.0218612497e-04), "2.88M": (800, 1200, 4.3677790945e-04)}
BLOCK, BATCH, ROUNDS = 128, 20, 15


class Hand:
    """The program by hand, its loop over edges with atomics or gathering by target."""

    def __init__(self, ctx: pl.Context, program: pl.Program, mesh: Mesh, how: str) -> None:
        gam, mach = float(np.float32(1.4)), float(np.float32(0.4))
        u = math.sqrt(gam) * mach
        far = [1.0, u, 0.0, 1.0 / (gam - 1.0) + 0.5 * u * u]
        cells, edges, bedges = len(mesh.cell_nodes), len(mesh.edge_nodes), len(mesh.bound)
        x, cell_nodes, edge_nodes, edge_cells, bedge_nodes, bedge_cells, bound = map(ctx.array, mesh)
        q, qold, res, adt = ctx.array(np.tile(far, (cells, 1))), ctx.zeros((cells, 4)), ctx.zeros((cells, 4)), ctx.zeros(cells)
        self.rms, self.cells = ctx.zeros(1), cells

        def kernel(name: str, items: int, *arguments: object) -> Callable[[], object]:
            return program.kernels[name].with_grid(items, BLOCK).bind(items, *arguments)

        if how == "gather":
            first, sides = map(ctx.array, sides_of_cells(mesh.edge_cells, cells))
            res_calc = kernel("res_calc_gather", cells, first, sides, edge_nodes, edge_cells, x, q, adt, res)
        else:
            res_calc = kernel("res_calc_atomics", edges, edge_nodes, edge_cells, x, q, adt, res)
        self.loops = {
            "save_soln": kernel("save_soln", cells, q, qold),
            "adt_calc": kernel("adt_calc", cells, cell_nodes, x, q, adt, self.rms),
            "res_calc": res_calc,
            "bres_calc": kernel("bres_calc", bedges, bedge_nodes, bedge_cells, bound, x, q, adt, res, far[1], far[3]),
            "update": kernel("update", cells, qold, q, res, adt, self.rms),
        }
        save_soln, *stage = self.loops.values()
        self.steps = [save_soln, *stage, *stage]

    def step(self) -> None:
        for loop in self.steps:
            loop()

    @property
    def residual(self) -> float:
        return math.sqrt(self.rms.numpy()[0] / self.cells)


def sides_of_cells(edge_cells: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """The map from edges to cells, inverted: where the entries of a cell begin, and twice an edge plus its side for each."""
    targets = edge_cells.ravel()
    first = np.zeros(cells + 1, np.int32)
    np.cumsum(np.bincount(targets, minlength=cells), out=first[1:])
    return first, np.argsort(targets, kind="stable").astype(np.int32)


def milliseconds(ctx: pl.Context, call: Callable[[], object], batch: int = BATCH) -> float:
    """The median time of a call on the device, a batch at a time."""
    samples = []
    for _ in range(ROUNDS):
        start = ctx.record()
        for _ in range(batch):
            call()
        end = ctx.record()
        ctx.synchronize()
        samples.append(1e3 * end.since(start) / batch)
    return statistics.median(samples)


def recorded(ctx: pl.Context, step: Callable[[], object]) -> Callable[[], object]:
    with ctx.recording() as steps:
        step()
    return steps


def bandwidth(ctx: pl.Context, program: pl.Program) -> float:
    """Bytes a second of a = b + s c over a gigabyte each."""
    n = 2**27
    a, b, c = ctx.zeros(n), ctx.zeros(n), ctx.zeros(n)
    return 24e3 * n / milliseconds(ctx, program.triad.with_grid(n, BLOCK).bind(n, 0.5, b, c, a), batch=5)


def checked(name: str, flow, known: float) -> float:
    """The residual after 100 iterations, which has to be the known one."""
    for _ in range(100):
        flow.step()
    found = flow.residual
    if not abs(found - known) <= 1e-7 * known:
        sys.exit(f"{name}: the residual at iteration 100 is {found:.10e}, not {known:.10e}")
    return found


def measure(ctx: pl.Context, program: pl.Program, size: str, speed: float) -> dict[str, object]:
    """A table for one mesh."""
    third, across, known = SIZES[size]
    mesh = airfoil_mesh(third, across)
    total = 656 * len(mesh.cell_nodes) + 64 * len(mesh.x) + 32 * len(mesh.edge_nodes)
    limit = 1e3 * total / speed
    print(f"\n{mesh}\n  least traffic {total / 1e6:.1f} MB an iteration, limit {limit:.3f} ms at {speed / 1e9:.0f} GB/s")
    print(f"  {'ms an iteration':28} {'by stream':>10} {'replayed':>10} {'limit/best':>11} {'residual at 100':>18}")
    figures: dict[str, object] = {"bytes": total, "limit_ms": limit}

    programs: dict[str, Callable[[], object]] = {
        "CUDA by hand, atomics": lambda: Hand(ctx, program, mesh, "atomics"),
        "CUDA by hand, gather": lambda: Hand(ctx, program, mesh, "gather"),
        "par_loop": lambda: example.Airfoil(mesh),
    }
    for name, make in programs.items():
        flow = make()
        found = checked(name, flow, known)
        stream, replay = milliseconds(ctx, flow.step), milliseconds(ctx, recorded(ctx, flow.step))
        print(f"  {name:28} {stream:10.3f} {replay:10.3f} {limit / min(stream, replay):11.2f} {found:18.9e}", flush=True)
        loops = flow.loops if isinstance(flow, Hand) else built_loops(flow, ctx)
        times = {loop: 1e3 * milliseconds(ctx, call) for loop, call in loops.items()}
        print("    µs: " + " · ".join(f"{loop} {time:.0f}" for loop, time in times.items()), flush=True)
        figures[name] = {"stream_ms": stream, "replay_ms": replay, "residual": found, "loops_us": times}
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--cells", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    with pl.Context(options.device) as ctx:
        print(f"{ctx.device.model}, driver {ctx.device.driver}; parloop {pl.__version__}")
        program = ctx.compile((HERE / "airfoil" / "hand.cu").read_text())
        speed = bandwidth(ctx, program)
        figures = {size: measure(ctx, program, size, speed) for size in options.cells}
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
