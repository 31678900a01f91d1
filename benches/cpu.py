"""Calls, compilation, loops and import on the CPU, ours and our peers' in one run: ``make bench``.

Every figure is a median of interleaved rounds, so that a busy moment of the machine falls on all alike.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from measure import Table, at_least, at_most, interleaved

import parloop as pl

SOURCE = """
GPUKERN void axpy(const double a, GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
    VECTORIZE_OVER(i, n)
        y[i] += a * x[i];
    END_VECTORIZE
}
"""
HAND_WRITTEN = """
#include <stdint.h>
void axpy(const double a, const double *x, double *y, const int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
}
void axpy_threads(const double a, const double *x, double *y, const int64_t n, const int threads) {
    #pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
}
"""
NEW_PROCESS = """
import sys, time, numpy
start = time.perf_counter(); import parloop as pl; imported = time.perf_counter() - start
ctx = pl.Context("cpu")
start = time.perf_counter(); prog = ctx.compile(sys.argv[1]); compiled = time.perf_counter() - start
print(imported * 1e3, compiled * 1e3, prog.origin)
"""
XOBJECTS_NEW_PROCESS = """
import sys, time, numpy
start = time.perf_counter(); import xobjects as xo; imported = time.perf_counter() - start
ctx = xo.ContextCpu()
pointer = lambda name, const: xo.Arg(xo.Float64, pointer=True, const=const, name=name)
kernel = xo.Kernel(args=[xo.Arg(xo.Float64, name="a"), pointer("x", True), pointer("y", False), xo.Arg(xo.Int64, name="n")], n_threads="n")
start = time.perf_counter(); ctx.add_kernels(sources=[sys.argv[1]], kernels={"axpy": kernel}); compiled = time.perf_counter() - start
print(imported * 1e3, compiled * 1e3, "compiled")
"""
COMMENT_STYLE = """
/*gpukern*/ void axpy(const double a, /*gpuglmem*/ const double *x, /*gpuglmem*/ double *y, const int64_t n) {
    //vectorize_over i n
        y[i] += a * x[i];
    //end_vectorize
}
"""


def in_new_process(program, *arguments, runs=9):
    """Medians of what a program prints in processes of its own."""
    printed = []
    for _ in range(runs):
        done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
        if done.returncode:
            return None
        imported, compiled, origin = done.stdout.split()[-3:]
        printed.append((float(imported), float(compiled), origin))
    return statistics.median(p[0] for p in printed), statistics.median(p[1] for p in printed), printed[-1][2]


def build(folder):
    """The hand-written loop, as a function of ctypes and of cffi."""
    import cffi

    source = pathlib.Path(folder) / "axpy.c"
    library = pathlib.Path(folder) / "axpy.so"
    source.write_text(HAND_WRITTEN)
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", "-o", library, source], check=True)
    ffi = cffi.FFI()
    ffi.cdef(
        "void axpy(const double a, const double *x, double *y, const int64_t n);"
        "void axpy_threads(const double a, const double *x, double *y, const int64_t n, const int threads);"
    )
    # A module compiled by cffi, which is its fast way, beside the library for the loops.
    builder = cffi.FFI()
    builder.cdef("void axpy(const double a, const double *x, double *y, const int64_t n);")
    builder.set_source("_bench_axpy", HAND_WRITTEN, extra_compile_args=["-O3", "-march=native", "-fopenmp"], extra_link_args=["-fopenmp"])
    builder.compile(tmpdir=folder)
    sys.path.insert(0, folder)
    import _bench_axpy

    return ffi, ffi.dlopen(str(library)), _bench_axpy


def launches(table, ffi, compiled):
    print("calls from Python: y += a x over 10 doubles, on one thread")
    ctx = pl.Context("cpu:1")
    prog = ctx.compile(SOURCE)
    x, y, n = np.ones(10), np.zeros(10), 10
    px, py = compiled.ffi.from_buffer("double *", x), compiled.ffi.from_buffer("double *", y)
    axpy_kernel = prog.axpy
    calls = {
        "parloop, by keyword": lambda: prog.axpy(a=2.0, x=x, y=y, n=n),
        "parloop, by keyword, from a kept kernel": lambda: axpy_kernel(a=2.0, x=x, y=y, n=n),
        "parloop, by position": lambda: prog.axpy(2.0, x, y, n),
        "parloop, bound": prog.axpy.bind(a=2.0, x=x, y=y, n=n),
        "a bare cffi call": lambda: compiled.lib.axpy(2.0, px, py, n),
    }
    try:
        import numba

        @numba.njit
        def axpy(a, x, y, n):
            for i in range(n):
                y[i] += a * x[i]

        axpy(2.0, x, y, n)
        calls["numba's call of the same loop"] = lambda: axpy(2.0, x, y, n)
    except ImportError:
        pass
    try:
        import xobjects as xo

        xctx = xo.ContextCpu()
        pointer = lambda name, const: xo.Arg(xo.Float64, pointer=True, const=const, name=name)  # noqa: E731
        arguments = [xo.Arg(xo.Float64, name="a"), pointer("x", True), pointer("y", False), xo.Arg(xo.Int64, name="n")]
        xctx.add_kernels(sources=[COMMENT_STYLE], kernels={"axpy": xo.Kernel(args=arguments, n_threads="n")})
        calls["xobjects, by keyword"] = lambda: xctx.kernels.axpy(a=2.0, x=x, y=y, n=n)
    except ImportError:
        pass
    times = {name: t * 1e6 for name, t in interleaved(calls, 2000).items()}
    for name, t in times.items():
        table.row(name, t, "µs")
    keyword, bound = times["parloop, by keyword"], times["parloop, bound"]
    if "xobjects, by keyword" in times:
        table.row("parloop by keyword / xobjects", keyword / times["xobjects, by keyword"], "", "at most 1/10", (at_most, 0.1))
    if "numba's call of the same loop" in times:
        # Both are objects in a variable.
        kept = times["parloop, by keyword, from a kept kernel"]
        table.row("parloop by keyword, kept / numba", kept / times["numba's call of the same loop"], "", "at most 1", (at_most, 1.0))
        table.row("parloop by keyword / numba", keyword / times["numba's call of the same loop"], "")
    table.row("parloop bound / bare cffi", bound / times["a bare cffi call"], "", "at most 1", (at_most, 1.0))


def new_process(table):
    print("a new process, the same kernel, a warm cache")
    in_new_process(NEW_PROCESS, SOURCE, runs=1)
    imported, compiled, origin = in_new_process(NEW_PROCESS, SOURCE)
    assert origin == "disk", origin
    table.row("parloop: compile", compiled, "ms", "at most 3 ms", (at_most, 3.0))
    peer = in_new_process(XOBJECTS_NEW_PROCESS, COMMENT_STYLE, runs=3)
    if peer:
        table.row("xobjects: compile", peer[1], "ms")
        table.row("parloop / xobjects", compiled / peer[1], "")
    print("import, over that of numpy")
    table.row("parloop", imported, "ms", "at most 40 ms", (at_most, 40.0))
    if peer:
        table.row("xobjects", peer[0], "ms")


def loops(table, ffi, library):
    n = 10_000_000
    x, y = np.ones(n), np.zeros(n)
    px, py = ffi.from_buffer("double *", x), ffi.from_buffer("double *", y)
    most = len(os.sched_getaffinity(0))
    for threads in sorted({1, most}):
        print(f"axpy over 1e7 doubles, {threads} thread{'s' if threads > 1 else ''}")
        prog = pl.Context(f"cpu:{threads}").compile(SOURCE)
        calls = {"parloop": prog.axpy.bind(a=0.5, x=x, y=y, n=n)}
        if threads == 1:
            calls["hand-written C"] = lambda: library.axpy(0.5, px, py, n)
        else:
            calls["hand-written C with OpenMP"] = lambda: library.axpy_threads(0.5, px, py, n, threads)
        times = interleaved(calls, 10, rounds=21, pause=0.05)
        speeds = {name: 24 * n / t / 1e9 for name, t in times.items()}
        for name, speed in speeds.items():
            table.row(name, speed, "GB/s")
        ours, peer = speeds.values()
        table.row("parloop / hand-written", ours / peer, "", "at least 0.95", (at_least, 0.95))


def main():
    table = Table()
    model = pl.Device("cpu").model
    print(f"{model}; Python {sys.version.split()[0]}; numpy {np.__version__}; parloop {pl.__version__}")
    results = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # xobjects compiles in the current folder, and not in every one
        ffi, library, compiled = build(folder)
        launches(table, ffi, compiled)
        new_process(table)
        loops(table, ffi, library)
    if results:
        results.write_text(json.dumps(table.figures, indent=1))


if __name__ == "__main__":
    main()
