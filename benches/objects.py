"""Typed objects on the CPU, ours and xobjects' in one run: ``make bench``.

Every figure is a median of interleaved rounds, so that a busy moment of the machine falls on all alike.
"""

import ctypes
import json
import os
import random
import sys
import tempfile
import time

import numpy as np
import xobjects
from measure import Table, at_least, at_most, interleaved

import parloop as pl
import parloop.objects as xo


def structs(package):
    class Four(package.Struct):
        a = package.Float64
        b = package.Float64
        c = package.Int64
        d = package.Float64

    return Four


class CFour(ctypes.Structure):
    _fields_ = [("a", ctypes.c_double), ("b", ctypes.c_double), ("c", ctypes.c_int64), ("d", ctypes.c_double)]


def fields(table):
    print("a struct of four numbers")
    ours, theirs = structs(xo), structs(xobjects)
    made = interleaved({"ours": lambda: ours(a=1.0, b=2.0, c=3, d=4.0), "xobjects": lambda: theirs(a=1.0, b=2.0, c=3, d=4.0)}, 500)
    table.row("make it, parloop", made["ours"] * 1e6, "µs")
    table.row("make it, xobjects", made["xobjects"] * 1e6, "µs")
    table.row("make it: times faster than xobjects", made["xobjects"] / made["ours"], "", "at least 10", (at_least, 10))

    mine, peer, plain = ours(a=1.0, b=2.0, c=3, d=4.0), theirs(a=1.0, b=2.0, c=3, d=4.0), CFour(1, 2, 3, 4)

    def getter(item):
        def get():
            item.a; item.a; item.a; item.a; item.a; item.a; item.a; item.a; item.a; item.a  # noqa: B018, E702

        return get

    def setter(item):
        def put():
            item.a = 1.5; item.a = 1.5; item.a = 1.5; item.a = 1.5; item.a = 1.5  # noqa: E702
            item.a = 1.5; item.a = 1.5; item.a = 1.5; item.a = 1.5; item.a = 1.5  # noqa: E702

        return put

    for what, make in (("get", getter), ("set", setter)):
        took = interleaved({"ours": make(mine), "ctypes": make(plain)}, 2000, rounds=81)
        took |= interleaved({"xobjects": make(peer)}, 50)
        table.row(f"{what} a field, parloop", took["ours"] * 1e8, "ns")
        table.row(f"{what} a field, ctypes.Structure", took["ctypes"] * 1e8, "ns")
        table.row(f"{what} a field, xobjects", took["xobjects"] * 1e8, "ns")
        table.row(f"{what} a field: times faster than xobjects", took["xobjects"] / took["ours"], "", "at least 10", (at_least, 10))
        table.row(f"{what} a field: of ctypes", took["ours"] / took["ctypes"], "", "at most 1.5", (at_most, 1.5))


def arrays(table):
    print("arrays")
    values = np.random.default_rng(1).random(1_000_000)
    dynamic, static = xo.Float64[:], xo.Float64[1_000_000]
    their_dynamic, their_static = xobjects.Float64[:], xobjects.Float64[1_000_000]
    took = interleaved({"copy": values.copy, "dynamic": lambda: dynamic(values), "static": lambda: static(values)}, 5, rounds=61)
    took["xobjects dynamic"] = interleaved({"x": lambda: their_dynamic(values)}, 1, rounds=7)["x"]
    took["xobjects static"] = interleaved({"x": lambda: their_static(values)}, 1, rounds=3)["x"]
    for kind, name in (("dynamic", "Float64[:]"), ("static", "Float64[1000000]")):
        table.row(f"{name} from a million doubles, parloop", took[kind] * 1e3, "ms")
        table.row(f"{name} from a million doubles, xobjects", took[f"xobjects {kind}"] * 1e3, "ms")
        table.row(f"{name}: of a numpy copy", took[kind] / took["copy"], "", "at most 1.3", (at_most, 1.3))
    table.row("a numpy copy", took["copy"] * 1e3, "ms")
    numbers = [float(i) for i in range(100_000)]
    took = interleaved({"ours": lambda: dynamic(numbers)}, 3, rounds=15) | interleaved({"xobjects": lambda: their_dynamic(numbers)}, 1, rounds=3)
    table.row("Float64[:] from a list of 100,000, parloop", took["ours"] * 1e3, "ms")
    table.row("Float64[:] from a list of 100,000, xobjects", took["xobjects"] * 1e3, "ms")
    table.row("from a list: times faster than xobjects", took["xobjects"] / took["ours"], "", "at least 20", (at_least, 20))
    mine, peer = dynamic(10), their_dynamic(10)
    took = interleaved({"ours": lambda: mine[3], "xobjects": lambda: peer[3]}, 500)
    table.row("array[i], parloop", took["ours"] * 1e9, "ns")
    table.row("array[i], xobjects", took["xobjects"] * 1e9, "ns")


def frees(table):
    print("10,000 allocations freed in random order")
    times = []
    for seed in range(9):
        buffer = pl.Context("cpu:1").new_buffer(1 << 20)
        offsets = [buffer.allocate(96) for _ in range(10_000)]
        random.Random(seed).shuffle(offsets)
        start = time.perf_counter()
        for offset in offsets:
            buffer.free(offset, 96)
        times.append(time.perf_counter() - start)
    table.row("parloop", sorted(times)[len(times) // 2] * 1e3, "ms", "under 10", (at_most, 10))


def launches(table):
    print("a launch with a struct and a number, against one with an array and a number")
    ours = structs(xo)
    ctx = pl.Context("cpu:1")
    source = """
    GPUKERN void with_struct(Four s, const double by) { Four_set_a(s, by); }
    GPUKERN void with_array(GPUGLMEM double *x, const double by) { x[0] = by; }
    """
    ctx.add_kernels(
        sources=[source],
        kernels={
            "with_struct": xo.Kernel(args=[xo.Arg(ours, name="s"), xo.Arg(xo.Float64, name="by")]),
            "with_array": xo.Kernel(args=[xo.Arg(xo.Float64, pointer=True, name="x"), xo.Arg(xo.Float64, name="by")]),
        },
    )
    theirs = structs(xobjects)
    peer = xobjects.ContextCpu()
    os.chdir(tempfile.mkdtemp())  # xobjects compiles where it stands
    peer.add_kernels(
        sources=["void with_struct(Four s, const double by) { Four_set_a(s, by); }"],
        kernels={"with_struct": xobjects.Kernel(args=[xobjects.Arg(theirs, name="s"), xobjects.Arg(xobjects.Float64, name="by")])},
    )
    item, array, their_item = ours(a=1.0, _context=ctx), np.zeros(1), theirs(a=1.0, _context=peer)
    with_struct, with_array = ctx.kernels.with_struct, ctx.kernels.with_array
    took = interleaved(
        {"struct": lambda: with_struct(s=item, by=2.0), "array": lambda: with_array(x=array, by=2.0)}, 2000, rounds=81
    )
    took |= interleaved({"xobjects": lambda: peer.kernels.with_struct(s=their_item, by=2.0)}, 200)
    table.row("with a struct, parloop", took["struct"] * 1e6, "µs")
    table.row("with an array, parloop", took["array"] * 1e6, "µs")
    table.row("with a struct, xobjects", took["xobjects"] * 1e6, "µs")
    table.row("struct: of an array", took["struct"] / took["array"], "", "at most 1.2", (at_most, 1.2))


def main():
    table = Table()
    fields(table)
    arrays(table)
    frees(table)
    launches(table)
    if "--json" in sys.argv:
        print(json.dumps(table.figures, indent=1))


if __name__ == "__main__":
    main()
