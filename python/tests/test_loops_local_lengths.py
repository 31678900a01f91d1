"""Inames on local axes whose length only a call knows."""

import numpy as np
import pytest

import parloop as pl
import parloop.loops as lp


def rows(tags):
    args = [lp.GlobalArg("a,out", np.float64, shape="n,m"), ...]
    return lp.tag_inames(lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<m}", "out[i,j] = 2*a[i,j] + j", args), tags)


@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (7, 33), (0, 5), (5, 0), (40, 1)])
@pytest.mark.parametrize("tags", ["i:g.0, j:l.0", "j:l.0", "i:l.1, j:l.0", "j:g.0, i:l.0"])
def test_a_call_tells_the_size_of_groups(ctx, tags, shape):
    knl = rows(tags)
    a = np.arange(np.prod(shape), dtype=float).reshape(shape)
    _, (out,) = knl(ctx, a=a)
    np.testing.assert_array_equal(np.asarray(out), 2 * a + np.arange(shape[1]))


def test_one_kernel_serves_all_lengths(ctx):
    knl = rows("i:g.0, j:l.0")
    for m in (5, 2, 64, 1, 17):
        a = np.random.default_rng(m).random((3, m))
        np.testing.assert_array_equal(np.asarray(knl(ctx, a=a)[1][0]), 2 * a + np.arange(m))


def test_a_longer_iname_on_the_same_axis_decides(ctx):
    args = [lp.GlobalArg("a", np.float64, shape="n"), lp.GlobalArg("b", np.float64, shape="m"), lp.GlobalArg("c", np.float64, shape="5"), ...]
    knl = lp.make_kernel(["{[i]: 0<=i<n}", "{[j]: 0<=j<m}", "{[k]: 0<=k<5}"], "a[i] = i\nb[j] = 2*j\nc[k] = 3*k", args)
    knl = lp.tag_inames(knl, "i:l.0, j:l.0, k:l.0")
    for n, m in [(3, 8), (8, 3), (1, 1), (0, 2), (2, 0)]:
        a, b, c = np.full(n, -1.0), np.full(m, -1.0), np.full(5, -1.0)
        knl(ctx, a=a, b=b, c=c)
        for array, factor in ((a, 1), (b, 2), (c, 3)):
            np.testing.assert_array_equal(array, factor * np.arange(len(array)))


def test_work_items_wait_for_each_other(ctx):
    """What one item writes, another one reads."""
    args = [lp.GlobalArg("a,b,out", np.float64, shape="n,m"), ...]
    statements = "b[i,j] = 3*a[i,j] {id=put}\nout[i,j2] = b[i,m-1-j2] {dep=put}"
    knl = lp.tag_inames(lp.make_kernel("{[i,j,j2]: 0<=i<n and 0<=j,j2<m}", statements, args), "i:g.0, j:l.0, j2:l.0")
    assert "barrier(" in knl.code("opencl")
    for m in (1, 2, 64, 33):
        a, out = np.random.default_rng(m).random((5, m)), np.zeros((5, m))
        knl(ctx, a=a, b=np.zeros((5, m)), out=out)
        np.testing.assert_array_equal(out, 3 * a[:, ::-1])


def test_a_private_value_that_lives_across_a_barrier(ctx):
    statements = "for j\n<> t = 2*a[j] {id=t}\n... lbarrier {id=wait, dep=t}\nout[j] = t {dep=wait}\nend"
    knl = lp.tag_inames(lp.make_kernel("{[j]: 0<=j<m}", statements, [lp.GlobalArg("a,out", np.float64, shape="m"), ...]), "j:l.0")
    a, out = np.random.default_rng(0).random(20), np.zeros(20)
    if ctx.device.kind == "cpu":
        with pytest.raises(pl.LoopError, match="`t` needs a copy for each work item along l.0, but their number `max.*m.*` is only known when the kernel is called"):
            knl(ctx, a=a, out=out)
    else:
        knl(ctx, a=a, out=out)
        np.testing.assert_array_equal(out, 2 * a)


def test_sums_inside_work_items(ctx):
    args = [lp.GlobalArg("a", np.float64, shape="n,m"), lp.GlobalArg("out", np.float64, shape="n"), ...]
    knl = lp.tag_inames(lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<m}", "out[i] = sum(j, a[i,j])", args), "i:l.0")
    a = np.arange(15.0).reshape(3, 5)
    np.testing.assert_array_equal(np.asarray(knl(ctx, a=a)[1][0]), a.sum(axis=1))
    with pytest.raises(pl.errors.LoopReductionError, match="the number of values of `j` must be constant to reserve local memory, but it is `m`"):
        lp.tag_inames(lp.untag_inames(knl, "i"), "i:g.0, j:l.0")(ctx, a=a)


@pytest.mark.parametrize("tags", ["i:g.0, j:l.0", "j:g.0, i:l.0"])
def test_lengths_that_differ_between_groups(ctx, tags):
    knl = lp.make_kernel("{[i,j]: 0<=i<n and i<=j<n}", "out[i,j] = i + 10*j", [lp.GlobalArg("out", np.float64, shape="n,n"), ...])
    out = np.full((7, 7), -1.0)
    lp.tag_inames(knl, tags)(ctx, out=out)
    np.testing.assert_array_equal(out, np.fromfunction(lambda i, j: np.where(j >= i, i + 10 * j, -1), (7, 7)))


@pytest.mark.parametrize("m", [0, 1, 6])
def test_values_are_kept_from_one_launch_to_the_next(ctx, m):
    statements = "<> t = 2*a[i,j] {id=t}\n... gbarrier {id=wait, dep=t}\nout[i,j] = t {dep=wait}"
    knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<m}", statements, [lp.GlobalArg("a,out", np.float64, shape="n,m"), ...])
    knl, a = lp.tag_inames(knl, "i:g.0, j:l.0"), np.arange(3.0 * m).reshape(3, m)
    if ctx.device.kind == "cpu":
        with pytest.raises(pl.LoopError, match="`t` needs a copy for each work item along l.0"):
            knl(ctx, a=a)
    else:
        np.testing.assert_array_equal(np.asarray(knl(ctx, a=a)[1][0]), 2 * a)


def test_groups_that_the_device_does_not_have_are_an_error(ctx):
    knl, size = rows("i:g.0, j:l.0"), 10_000_000
    a = np.ones((1, size))
    if ctx.device.kind == "cpu":
        np.testing.assert_array_equal(knl(ctx, a=a)[1][0], 2 * a + np.arange(size))
    else:
        with pytest.raises(pl.ParloopError, match="work items"):
            knl(ctx, a=a)


def test_the_code_does_not_promise_a_size():
    knl = rows("i:g.0, j:l.0")
    assert "reqd_work_group_size" not in knl.code("opencl") and "if (" in knl.code("opencl")
    assert "__launch_bounds__" not in knl.code("cuda")
    with pytest.raises(pl.LoopError, match="only known when the kernel is called; split the iname or fix its parameters"):
        knl.code("ispc")


def test_checked_mode_tells_work_items_apart():
    args = [lp.GlobalArg("a", np.float64, shape="n*m"), lp.GlobalArg("p", np.int32, shape="n,m"), ...]
    knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<m}", "a[p[i,j]] = i + j", args, silenced_warnings=["write_race(*)"], options=lp.Options(checked=True))
    knl = lp.tag_inames(knl, "i:l.1, j:l.0")
    p = np.random.default_rng(1).permutation(12).astype(np.int32).reshape(3, 4)
    a = np.zeros(12)
    knl("cpu:2", a=a, p=p)
    np.testing.assert_array_equal(a[p], np.add.outer(np.arange(3), np.arange(4)))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
@pytest.mark.parametrize("tags", [None, "j:l.0", "j:g.0"])
@pytest.mark.parametrize("domain, k, p", [("0<=j<100*k and j<50", 5, 0), ("0<=j<k+p", 100, 100), ("0<=j<p-k+99", 50, 20)])
def test_bounds_of_narrow_parameters_are_not_cut_off(ctx, dtype, tags, domain, k, p):
    args = [lp.GlobalArg("out", np.float64, shape="200"), lp.ValueArg("k,p", dtype), ...]
    knl = lp.make_kernel(f"{{[j]: {domain}}}", "out[j] = j + 1", args, assumptions="0<=k<=100 and 0<=p<=100")
    out = np.zeros(200)
    (lp.tag_inames(knl, tags) if tags else knl)(ctx, out=out, k=k, p=p)
    end = {"0<=j<100*k and j<50": min(100 * k, 50), "0<=j<k+p": k + p, "0<=j<p-k+99": p - k + 99}[domain]
    np.testing.assert_array_equal(out, np.where(np.arange(200) < end, np.arange(200) + 1, 0))
