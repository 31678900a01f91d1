"""Matrices and extruded meshes on a GPU against CUDA by hand and CuPy: ``python benches/assembly_gpu.py [--small] [--parts …] [--json FILE]``.

Times are medians of event times around batches, in turns. The limit of an assembly counts each array once, and the numbers of the matrix
twice, over the bandwidth of a triad measured in the same run. Everything is compared with what the peer computed before it is timed.
"""

from __future__ import annotations

import argparse
import inspect
import json
import pathlib
import statistics
import sys
from collections.abc import Callable

import numpy as np
from measure import Comparison

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "assembly"))
from problems import SOURCES, Columns, Ours, Problem, column_loops, columns, short, square  # noqa: E402

import parloop as pl  # noqa: E402
import parloop.mesh as op2  # noqa: E402

Call = Callable[[], object]

#: Threads of a block, calls of a turn, turns, and calls before any is measured: a loop that has run for a while tries the other ways.
BLOCK, BATCH, ROUNDS, WARM_UP = 128, 10, 15, 100


def cuda_source() -> str:
    """The element kernels and the loops by hand."""
    elements = (SOURCES["laplace_p1"] + SOURCES["laplace_p2"]).replace("ELEMENT ", "static __device__ __forceinline__ ")
    return elements + (HERE / "assembly" / "hand.cu").read_text()


def inverse(nodes: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """A map turned round: where the entries of each target begin, and arity × cell + slot for each."""
    targets = nodes.ravel()
    first = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(targets, minlength=count), out=first[1:])
    return first, np.argsort(targets, kind="stable").astype(np.int32)


def least_bytes(problem: Problem, stored: int) -> int:
    """Maps, places and points once, numbers of the matrix read and written."""
    cells, arity = problem.nodes.shape
    return 4 * problem.corners.size + 4 * cells * arity * arity + 8 * problem.x.size + 16 * stored


class Gpu:
    """CuPy, the kernels by hand, and event times."""

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        self.module = cupy.RawModule(code=cuda_source(), options=("--std=c++14",))

    def kernel(self, name: str, items: int, *arguments: object, count_type: type = np.int32) -> Call:
        """A launch by hand with a thread for each item."""
        function, grid = self.module.get_function(name), ((items + BLOCK - 1) // BLOCK,)
        return lambda: function(grid, (BLOCK,), (count_type(items), *arguments))

    def milliseconds(self, calls: dict[str, Call], batch: int = BATCH, warm_up: int = WARM_UP) -> dict[str, float]:
        """The median time of each call on the device."""
        event, samples = self.cupy.cuda.Event, {name: [] for name in calls}
        for call in calls.values():
            for _ in range(warm_up):
                call()
            self.cupy.cuda.Device().synchronize()
        for _ in range(ROUNDS):
            for name, call in calls.items():
                start, end = event(), event()
                call()
                start.record()
                for _ in range(batch):
                    call()
                end.record()
                end.synchronize()
                samples[name].append(self.cupy.cuda.get_elapsed_time(start, end) / batch)
        return {name: statistics.median(times) for name, times in samples.items()}

    def bandwidth(self) -> float:
        """Bytes a second of a = b + s c over a gigabyte each."""
        n = 2**27
        a, b, c = (self.cupy.zeros(n) for _ in range(3))
        return 24e3 * n / self.milliseconds({"triad": self.kernel("triad", n, b, c, a, count_type=np.int64)}, warm_up=5)["triad"]

    def places(self, problem: Problem, starts: np.ndarray, found: np.ndarray):
        """Where the entries of each element are stored, row by row."""
        cupy, nodes = self.cupy, self.cupy.asarray(problem.nodes).astype(np.int64)
        rows = cupy.asarray(np.repeat(np.arange(problem.node_count), np.diff(starts)))
        keys = rows * problem.node_count + cupy.asarray(found)
        wanted = nodes[:, :, None] * problem.node_count + nodes[:, None, :]
        return cupy.searchsorted(keys, wanted.reshape(len(nodes), -1)).astype(np.int32)


def measure_assembly(table: Comparison, gpu: Gpu, ctx: pl.Context, problem: Problem, speed: float) -> None:
    """A Laplace matrix, by us and by hand in two ways."""
    cupy, ours = gpu.cupy, Ours(problem)
    starts, found = np.asarray(ours.sparsity.rowptr), np.asarray(ours.sparsity.colidx)
    loop = ours.loop(context=ctx)
    places, values = gpu.places(problem, starts, found), cupy.zeros(len(found))
    corners, x = cupy.asarray(problem.corners), cupy.asarray(problem.x)
    degree = problem.kernel.removeprefix("laplace_")
    by_column = cupy.ascontiguousarray(corners.T), cupy.ascontiguousarray(places.T)
    first, entries = map(cupy.asarray, inverse(problem.nodes, problem.node_count))
    hands = {
        "CUDA with atomics": gpu.kernel(f"atomics_{degree}", len(places), *by_column, x, values),
        "CUDA gathering by row": gpu.kernel(f"gather_{degree}", problem.node_count, first, entries, corners, places, x, values),
    }
    loop()
    expected = np.array(ours.mat.data_ro).ravel()
    for name, hand in hands.items():
        values.fill(0)
        hand()
        assert np.allclose(values.get(), expected, atol=1e-9), name
    times = gpu.milliseconds({"ours": loop, **hands})
    what = f"assembly, {problem.what}"
    for name in hands:
        table.row(f"{what}: {name}", times["ours"], times[name], "ms")
    table.row(f"{what}: the better of both", times["ours"], min(times[name] for name in hands), "ms")
    total = least_bytes(problem, len(found))
    table.row(f"{what}: limit ({total / 1e6:.0f} MB)", times["ours"], 1e3 * total / speed, "ms")


def definite(problem: Problem, ctx: pl.Context) -> Ours:
    """The Laplace matrix and a diagonal, which make it positive definite."""
    ours = Ours(problem)
    ours.loop(context=ctx)()
    ours.mat.inc_local_diagonal_entries(np.arange(problem.node_count), 0.1)
    return ours


def on_gpu(gpu: Gpu, ours: Ours):
    """The matrix for CuPy."""
    from cupyx.scipy.sparse import csr_matrix

    cupy, sparsity = gpu.cupy, ours.sparsity
    parts = cupy.array(ours.mat.data_ro).ravel(), cupy.array(sparsity.colidx), cupy.array(sparsity.rowptr).astype(np.int32)
    return csr_matrix(parts, shape=ours.mat.shape)


def measure_products(table: Comparison, gpu: Gpu, ctx: pl.Context, problem: Problem, speed: float) -> None:
    """y = A x against cuSPARSE."""
    from cupyx import cusparse

    ours = definite(problem, ctx)
    a, values = on_gpu(gpu, ours), np.random.default_rng(2).random(problem.node_count)
    x, y = op2.Dat(ours.nodes, values, name="x"), op2.Dat(ours.nodes, name="y")
    their_x, their_y = gpu.cupy.asarray(values), gpu.cupy.zeros(problem.node_count)

    def product() -> None:
        with ctx:
            ours.mat.mult(x, y)

    def by_cusparse() -> None:
        cusparse.spmv(a, their_x, their_y)

    product()
    by_cusparse()
    assert np.allclose(y.data_ro, their_y.get())
    times = gpu.milliseconds({"ours": product, "cusparse": by_cusparse})
    what = f"A x, {problem.what}"
    table.row(f"{what}: cuSPARSE", times["ours"], times["cusparse"], "ms")
    total = 12 * a.nnz + 20 * problem.node_count
    table.row(f"{what}: limit ({total / 1e6:.0f} MB)", times["ours"], 1e3 * total / speed, "ms")


def measure_solver(table: Comparison, gpu: Gpu, ctx: pl.Context, problem: Problem, iterations: int) -> None:
    """Conjugate gradients without preconditioner, a fixed number of iterations, for each of them."""
    from cupyx.scipy.sparse.linalg import cg

    ours = definite(problem, ctx)
    a, values = on_gpu(gpu, ours), np.random.default_rng(3).random(problem.node_count)
    x, right, their_right = op2.Dat(ours.nodes, name="x"), op2.Dat(ours.nodes, values, name="b"), gpu.cupy.asarray(values)
    tolerance = {"rtol" if "rtol" in inspect.signature(cg).parameters else "tol": 1e-300}

    def solve() -> None:
        with ctx:
            x.zero()
            done = op2.solve(ours.mat, x, right, preconditioner=None, rtol=1e-300, maxiter=iterations, progress=False)
        assert done.iterations == iterations, done

    def by_cupy():
        return cg(a, their_right, maxiter=iterations, **tolerance)[0]

    solve()
    assert np.allclose(x.data_ro, by_cupy().get(), rtol=1e-6)
    times = gpu.milliseconds({"ours": solve, "cupy": by_cupy}, batch=1, warm_up=3)
    table.row(f"CG iteration, {problem.what}: CuPy", times["ours"] / iterations, times["cupy"] / iterations, "ms")


def measure_columns(table: Comparison, gpu: Gpu, ctx: pl.Context, mesh: Columns) -> None:
    """An extruded mesh against the same cells as a flat one."""
    extruded, flat, *sums = column_loops(mesh, context=ctx)
    extruded()
    flat()
    assert np.allclose(sums[0].data_ro, sums[1].data_ro)
    times = gpu.milliseconds({"extruded": extruded, "flat": flat})
    what = f"extruded, {short(len(mesh.base))} columns × {mesh.layers} layers"
    table.row(f"{what}: flat", times["extruded"], times["flat"], "ms")


PARTS = ("assembly", "product", "solve", "extruded")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--small", action="store_true", help="a hundredth of the sizes")
    parser.add_argument("--triangles", type=int, default=4_000_000, help="for degree 1; a quarter of them for degree 2")
    parser.add_argument("--columns", type=int, default=10_000)
    parser.add_argument("--layers", type=int, default=100)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    if options.small:
        options.triangles, options.columns = 40_000, 100
    with pl.Context(options.device) as ctx:
        gpu = Gpu()
        speed = gpu.bandwidth()
        print(f"{ctx.device.model}, driver {ctx.device.driver}; parloop {pl.__version__}, CuPy {gpu.cupy.__version__}; triad {speed / 1e9:.0f} GB/s")
        table = Comparison()
        problems = [square(options.triangles), square(options.triangles // 4, 2)]
        for problem in problems if "assembly" in options.parts else []:
            measure_assembly(table, gpu, ctx, problem, speed)
        for problem in problems if "product" in options.parts else []:
            measure_products(table, gpu, ctx, problem, speed)
        if "solve" in options.parts:
            measure_solver(table, gpu, ctx, problems[0], 100)
        if "extruded" in options.parts:
            measure_columns(table, gpu, ctx, columns(options.columns, options.layers))
    if options.json:
        options.json.write_text(json.dumps(table.figures, indent=1))


if __name__ == "__main__":
    main()
