"""Everything that is made and dropped leaves the memory where it was.

Each kind is made some hundred times here, and `PARLOOP_LEAKS` times by `make leaks`.
"""

import gc
import os
import time

import numpy as np
import pytest
from conftest import DEVICES, missing

import parloop as pl
import parloop.loops as lp
import parloop.objects as xo
from parloop import mesh

COUNT = int(os.environ.get("PARLOOP_LEAKS", "0"))
SOURCE = "GPUKERN void k(double *x, const int64_t n) { VECTORIZE_OVER(i, n) x[i] += 1; END_VECTORIZE }"


class Leaf(xo.Struct):
    x = xo.Float64


class Node(xo.Struct):
    leaf = Leaf
    name = xo.Field(xo.String, default="node")
    data = xo.Float64[:]
    to = xo.Ref(Leaf)


class Either(xo.UnionRef):
    _reftypes = (Leaf, xo.Float64[:])


class Element(xo.HybridClass):
    _xofields = {"length": xo.Float64, "kicks": xo.Float64[:]}


NUMBERS = np.arange(100.0)


def edges(count=20):
    nodes, cells = mesh.Set(count + 1), mesh.Set(count)
    values = np.stack([np.arange(count), np.arange(1, count + 1)], axis=1).astype(np.int32)
    return nodes, cells, mesh.Map(cells, nodes, 2, values)


def node_kernel():
    return mesh.Kernel("static void k(double *a, const double *b) { a[0] += b[0]; }", "k")


def run_mesh_loop():
    nodes, cells, ends = edges()
    a, b = mesh.Dat(nodes), mesh.Dat(cells)
    mesh.par_loop(mesh.Kernel("static void add(double **a, const double *b) { a[0][0] += b[0]; a[1][0] += b[0]; }", "add"),
                  cells, a(mesh.INC, ends), b(mesh.READ))
    return a.data_ro.sum()


#: What is made, and how many of it in the short form; the others are as many as 100,000 would take a while.
MAKERS = {
    "struct": lambda ctx: Leaf(x=1, _context=ctx),
    "nested object": lambda ctx: Node(data=[1, 2], to={"x": 1}, _context=ctx),
    "object in a buffer": lambda ctx: Node(data=10, to=Leaf(x=1), _buffer=ctx.new_buffer(16)),
    "object array": lambda ctx: xo.Float64[:](100, _context=ctx),
    "view of an object": lambda ctx: xo.Float64[:](100, _context=ctx).to_nplike(),
    "long object": lambda ctx: xo.Float64[:](100_000, _context=ctx).to_nplike(),
    "string": lambda ctx: xo.String("text", _context=ctx),
    "union": lambda ctx: Either(Leaf(x=2), _context=ctx),
    "hybrid": lambda ctx: Element(length=1, kicks=[1, 2], _context=ctx),
    "buffer": lambda ctx: ctx.new_buffer(1000),
    "buffer that grows": lambda ctx: [(buffer := ctx.new_buffer(16)).grow(100_000), buffer],
    "copied object": lambda ctx: Node(Node(data=[1], to={"x": 1}), _context=ctx),
    "context": lambda ctx: pl.Context(ctx.device.name),
    "array": lambda ctx: ctx.array(NUMBERS),
    "zeros": lambda ctx: ctx.zeros(100),
    "array to host": lambda ctx: ctx.array(NUMBERS).numpy(),
    "kernel": lambda ctx: ctx.compile(SOURCE).k,
    "call": lambda ctx: ctx.compile(SOURCE).k(ctx.zeros(10), 10),
    "bound kernel": lambda ctx: ctx.compile(SOURCE).k.bind(ctx.zeros(10), 10),
}
#: Those without a device.
OTHERS = {
    "class": lambda: type(xo.Struct)("Made", (xo.Struct,), {"x": xo.Float64, "data": xo.Float64[:]})(data=[1]),
    "loop kernel": lambda: lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]"),
    "loop call": lambda: lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")(pl.Context("cpu:1"), a=NUMBERS),
    "set and map": edges,
    "dat": lambda: mesh.Dat(mesh.Set(100)).data.sum(),
    "mesh kernel": node_kernel,
    "mesh loop": run_mesh_loop,
}
SLOW = {"kernel": 20, "call": 20, "bound kernel": 20, "class": 20, "loop kernel": 20, "loop call": 100, "mesh loop": 50, "mesh kernel": 10}


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def check(name, make):
    """Memory may grow at first, while pools and caches fill; then no more."""
    count = max(100, (COUNT or 2000) // (SLOW.get(name, 1) if not COUNT else 1))
    start = time.perf_counter()

    def grown(rounds):
        before = resident()
        for _ in range(rounds):
            make()
        gc.collect()
        return resident() - before

    grown(max(count // 5, 50))
    # What the collector and the allocator do takes pages now and then: a leak takes them every time.
    allowed = 2 << 20 if COUNT else 1 << 20
    found = [grown(count)]
    while found[-1] > allowed and len(found) < 4:
        found.append(grown(count))
    if COUNT:
        print(f"{name}: {count} made, {found} bytes more, {time.perf_counter() - start:.1f} s")
    assert found[-1] <= allowed, f"{name}: {found} bytes more after {count} each"


@pytest.mark.parametrize("device", [name for name in DEVICES if name not in ("cpu", "cpu:3")])
@pytest.mark.parametrize("name", MAKERS)
def test_what_is_made_on_a_device_and_dropped_leaves_no_memory_behind(device, name):
    try:
        ctx = pl.Context(device)
    except pl.DeviceError as error:
        missing(f"device {device} ({error})")
    check(name, lambda: MAKERS[name](ctx))


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_made_and_dropped_leaves_no_memory_behind(name):
    check(name, OTHERS[name])
