"""Typed objects on a GPU: ``python benches/objects_gpu.py [device]``. Medians of interleaved rounds."""

import statistics
import sys
import time

import numpy as np
from measure import Table, at_least, at_most, interleaved

import parloop as pl
import parloop.objects as xo


class Four(xo.Struct):
    a = xo.Float64
    b = xo.Float64
    c = xo.Int64
    d = xo.Float64


class Triad(xo.Struct):
    n = xo.Int64
    a = xo.Float64[:]
    b = xo.Float64[:]
    c = xo.Float64[:]


SOURCE = """
GPUKERN void with_struct(Four s, const double by) { Four_set_a(s, by); }
GPUKERN void with_array(GPUGLMEM double *x, const double by) { x[0] = by; }
GPUKERN void by_functions(Triad t, const int64_t n) {
    VECTORIZE_OVER(i, n)
        Triad_set_a(t, i, Triad_get_b(t, i) + 3.0 * Triad_get_c(t, i));
    END_VECTORIZE
}
GPUKERN void by_pointers(GPUGLMEM double *a, GPUGLMEM const double *b, GPUGLMEM const double *c, const int64_t n) {
    VECTORIZE_OVER(i, n)
        a[i] = b[i] + 3.0 * c[i];
    END_VECTORIZE
}
"""


def seconds(ctx, call, rounds=15):
    """The device's own seconds for a call: median of events around it."""
    times = []
    for _ in range(rounds):
        start = ctx.record()
        call()
        end = ctx.record()
        ctx.synchronize()
        times.append(end.since(start))
    return statistics.median(times)


def main():
    ctx = pl.Context(sys.argv[1] if len(sys.argv) > 1 else "cuda:0")
    print(ctx.device)
    table = Table()
    pointer = {"pointer": True}
    ctx.add_kernels(
        sources=[SOURCE],
        kernels={
            "with_struct": xo.Kernel(args=[xo.Arg(Four, name="s"), xo.Arg(xo.Float64, name="by")]),
            "with_array": xo.Kernel(args=[xo.Arg(xo.Float64, **pointer, name="x"), xo.Arg(xo.Float64, name="by")]),
            "by_functions": xo.Kernel(args=[xo.Arg(Triad, name="t"), xo.Arg(xo.Int64, name="n")]),
            "by_pointers": xo.Kernel(args=[xo.Arg(xo.Float64, **pointer, name=name) for name in "abc"] + [xo.Arg(xo.Int64, name="n")]),
        },
    )
    k = ctx.kernels
    item, array = Four(a=1.0, _context=ctx), ctx.zeros(1)
    with_struct, with_array = k.with_struct, k.with_array
    took = interleaved({"struct": lambda: with_struct(s=item, by=2.0), "array": lambda: with_array(x=array, by=2.0)}, 500)
    ctx.synchronize()
    table.row("launch with a struct", took["struct"] * 1e6, "µs")
    table.row("launch with an array", took["array"] * 1e6, "µs")
    table.row("struct: of an array", took["struct"] / took["array"], "", "at most 1.2", (at_most, 1.2))
    took = interleaved({"make": lambda: Four(a=1.0, b=2.0, c=3, d=4.0, _context=ctx), "get": lambda: item.a}, 20)
    table.row("make a struct of four numbers", took["make"] * 1e6, "µs")
    table.row("get a field", took["get"] * 1e6, "µs")

    n = 1 << 26
    triad = Triad(n=n, a=n, b=n, c=n, _context=ctx)
    a, b, c = ctx.zeros(n), ctx.array(np.ones(n)), ctx.array(np.ones(n))
    k.by_functions(t=triad, n=n)
    k.by_pointers(a=a, b=b, c=c, n=n)
    functions = seconds(ctx, lambda: k.by_functions(t=triad, n=n))
    pointers = seconds(ctx, lambda: k.by_pointers(a=a, b=b, c=c, n=n))
    table.row("triad of 2^26 doubles by the C functions of a class", 24 * n / functions * 1e-9, "GB/s")
    table.row("triad of 2^26 doubles by plain pointers", 24 * n / pointers * 1e-9, "GB/s")
    table.row("functions: of pointers", pointers / functions, "", "at least 0.95", (at_least, 0.95))
    copies = []
    for _ in range(5):
        ctx.synchronize()
        start = time.perf_counter()
        copy = Triad(triad, _context=ctx)
        ctx.synchronize()
        copies.append(time.perf_counter() - start)
        del copy
    table.row("copy of a struct of 1.5 GiB on the device", 2 * triad._size / statistics.median(copies) * 1e-9, "GB/s")


if __name__ == "__main__":
    main()
