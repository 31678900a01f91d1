"""`with pl.profile() as p:` on every device and from every layer."""

import importlib.util
import threading

import numpy as np
import pytest
from conftest import missing

import parloop as pl
import parloop.loops as lp
import parloop.mesh as op2

TWICE = "GPUKERN void twice(GPUGLMEM double *x, const int n) { VECTORIZE_OVER(i, n) x[i] *= 2; END_VECTORIZE }"


def by_name(profile):
    return {row.kernel: row for row in profile.table}


def test_every_layer_is_measured(ctx):
    prog, x = ctx.compile(TWICE), ctx.zeros(1000)
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i] + 1", name="affine")
    nodes, edges = op2.Set(1000, "nodes"), op2.Set(999, "edges")
    ends = op2.Map(edges, nodes, 2, np.stack([np.arange(999), np.arange(1, 1000)], axis=1))
    y = op2.Dat(nodes)
    count = op2.ParLoop(op2.Kernel("void count(double *y) { y[0] += 1; y[1] += 1; }", "count"), edges, y(op2.INC, ends), context=ctx)
    # Compilation, and what else is done once, is done before.
    prog.twice(x=x, n=1000)
    knl(ctx, a=np.ones(1000))
    count()
    with pl.profile() as p:
        for _ in range(3):
            prog.twice(x=x, n=1000)
        for _ in range(2):
            knl(ctx, a=np.ones(1000))
        count()
        assert by_name(p)["twice"].calls == 3
    found = by_name(p)
    assert {name: row.calls for name, row in found.items()} == {"twice": 3, "affine": 2, "count": 1}
    for row in found.values():
        assert row.device == ctx.device.name and row.total > 0
        assert row.mean == pytest.approx(row.total / row.calls)
    assert sum(row.share for row in found.values()) == pytest.approx(1)
    assert [row.total for row in p.table] == sorted((row.total for row in p.table), reverse=True)
    # Both read and write each number once; the loop reads and writes the nodes, and reads the map.
    assert (found["affine"].bytes, found["affine"].flops) == (2 * 2 * 8000, 2 * 2000)
    assert (found["count"].bytes, found["count"].flops) == (2 * 8000 + 4 * 2 * 999, None)
    assert (found["twice"].bytes, found["twice"].flops) == (None, None)
    assert p.seconds > 0


def test_nothing_is_measured_outside_of_the_block():
    ctx = pl.Context("cpu:1")
    prog, x = ctx.compile(TWICE), np.ones(10)
    p = pl.profile()
    prog.twice(x=x, n=10)
    assert p.table == [] and str(p) == "nothing was launched"
    with p:
        pass
    prog.twice(x=x, n=10)
    assert p.table == []
    with pytest.raises(ValueError, match="a profile is made for one block"), p:
        pass


def test_profiles_nest_and_see_all_threads():
    ctx = pl.Context("cpu:1")
    prog = ctx.compile(TWICE)

    def work():
        with ctx:
            for _ in range(5):
                prog.twice(x=np.ones(10), n=10)

    with pl.profile() as outer:
        work()
        with pl.profile() as inner:
            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert (outer.table[0].calls, inner.table[0].calls) == (20, 15)


def test_an_error_ends_the_profile():
    ctx = pl.Context("cpu:1")
    prog = ctx.compile(TWICE)
    with pytest.raises(ZeroDivisionError), pl.profile() as p:
        prog.twice(x=np.ones(10), n=10)
        raise ZeroDivisionError
    prog.twice(x=np.ones(10), n=10)
    assert p.table[0].calls == 1


def test_replays_are_measured(ctx):
    prog, x = ctx.compile(TWICE), ctx.array(np.ones(100))
    with ctx.recording() as steps:
        prog.twice(x=x, n=100)
        prog.twice(x=x, n=100)
    with pl.profile() as p:
        for _ in range(3):
            steps()
        ctx.synchronize()
    row = p.table[0]
    assert (row.kernel, row.calls) in [("twice", 6), ("replay", 3)]


def test_a_fourier_transform_is_measured():
    plan = pl.Context("cpu:1").plan_FFT(np.zeros(64, complex), (0,))
    data = np.ones(64, complex)
    with pl.profile() as p:
        plan.transform(data)
    assert by_name(p)["fft"].calls == 1


def test_a_profile_is_shown_as_a_table():
    ctx = pl.Context("cpu:1")
    prog = ctx.compile(TWICE)
    with pl.profile() as p:
        prog.twice(x=np.ones(10), n=10)
    head, row = str(p).splitlines()
    assert head.split() == ["kernel", "device", "calls", "total", "ms", "mean", "µs", "share", "GB/s", "GFLOP/s"]
    assert row.split()[:3] == ["twice", "cpu:1", "1"] and row.split()[5] == "100.0%"
    assert p._repr_html_().startswith("<table><thead><tr><th>kernel</th>") and "twice" in p._repr_html_()
    assert repr(p).startswith("<Profile of 1 kernels: 1 calls, ")


def test_a_roofline_is_drawn():
    if importlib.util.find_spec("matplotlib") is None:
        missing("matplotlib")
    import matplotlib

    matplotlib.use("Agg")
    ctx = pl.Context("cpu:1")
    knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i] + 1", name="affine")
    with pl.profile() as p:
        knl(ctx, a=np.ones(1000))
    ax = p.plot()
    assert [text.get_text() for text in ax.texts] == ["affine"]
    points = [line for line in ax.lines if len(line.get_xdata()) == 1]
    assert points[0].get_xdata()[0] == pytest.approx(2000 / 16000)
    with pl.profile() as empty:
        pass
    with pytest.raises(ValueError, match="known counts"):
        empty.plot()
