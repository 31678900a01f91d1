"""Indices that data decides are checked in every call: nothing outside an array is read or written, whatever the data is."""

import re

import numpy as np
import parloop.loops as lp
import parloop.mesh as op2
import parloop.objects as xo
import pytest

import parloop as pl

INT, REAL = np.int32, np.float64
OUTSIDE = [5, -1, 6, 2**31 - 1, -(2**31)]


def reals(names, shape="n"):
    return lp.GlobalArg(names, REAL, shape=shape)


def integers(names, shape="n"):
    return lp.GlobalArg(names, INT, shape=shape)


def kernel(instructions, *data, domain="{[i]: 0<=i<n}", **said):
    return lp.make_kernel(domain, instructions, [*data, ...], name="k", **said)


READS = {
    "array": kernel("out[i] = a[p[i]]", reals("a", "m"), integers("p"), reals("out")),
    "temporary": kernel("<int32> t = p[i] {id=t}\nout[i] = a[t] {dep=t}", reals("a", "m"), integers("p"), reals("out")),
    "sum": kernel("out[i] = a[sum(j, q[i, j])]", reals("a", "m"), integers("q", "n,2"), reals("out"), domain="{[i,j]: 0<=i<n and 0<=j<2}"),
    "shifted": kernel("out[i] = a[p[i] - 3 + i]", reals("a", "m"), integers("p"), reals("out")),
    "condition": kernel("out[i] = 1.0 {if=a[p[i]] < 1e30}", reals("a", "m"), integers("p"), reals("out")),
    "choice": kernel("out[i] = if(a[p[i]] < 1e30, 1.0, 2.0)", reals("a", "m"), integers("p"), reals("out")),
    "nested": kernel("out[i] = a[p[p[i]]]", reals("a", "m"), integers("p", "m"), reals("out")),
    "flat": kernel("out[i] = a[[p[i]]]", reals("a", "m"), integers("p"), reals("out")),
    "unknown length": kernel("out[i] = a[p[i]]", lp.GlobalArg("a", REAL, shape=None), integers("p"), reals("out")),
    "rule": lp.make_kernel("{[i]: 0<=i<n}", "f(x) := a[p[x]]\nout[i] = f(i)", [reals("a", "m"), integers("p"), reals("out"), ...], name="k"),
    "loop": kernel(
        "for i\n<> b = p[i] {id=b}\nout[i] = sum(j, a[j]) {dep=b}\nend",
        *(reals("a", "m"), integers("p"), reals("out")),
        domain=["{[i]: 0<=i<n}", "[b] -> {[j]: b<=j<=b}"],
    ),
    "loop from": kernel(
        "for i\n<> b = p[i] {id=b}\nout[i] = sum(j, a[j + b]) {dep=b}\nend",
        *(reals("a", "m"), integers("p"), reals("out")),
        domain=["{[i]: 0<=i<n}", "[b] -> {[j]: 0<=j<1+b-b}"],
    ),
}


def fenced(values):
    """The values, with others in front of them and behind them that no kernel may touch."""
    whole = np.full(len(values) + 16, 1e30, values.dtype)
    whole[8:-8] = values
    return whole, whole[8:-8]


@pytest.mark.parametrize("bad", OUTSIDE)
@pytest.mark.parametrize("form", READS)
def test_a_read_outside_is_an_error_and_reads_nothing(ctx, form, bad):
    knl = READS[form]
    whole, a = fenced(np.arange(5.0))
    given, index = ("q", np.array([[0, 0], [bad, 0], [1, 1]], INT)) if form == "sum" else ("p", np.array([0, bad, 2], INT))
    if form == "shifted":
        index += np.array([3, 2 * (abs(bad) < 100), 1], INT)
        bad = int(index[1]) - 2
    if form == "nested":
        index = np.array([0, bad, 2, 0, 0], INT)
    out = np.full(3, 7.0)
    with pytest.raises(pl.CheckError, match=re.escape(f"index {bad} is outside 0..5 of ")):
        knl(ctx, a=a, out=out, **{given: index})
    assert (out < 1e30).all()
    assert (whole[:8] == 1e30).all() and (whole[-8:] == 1e30).all()


@pytest.mark.parametrize("form", READS)
def test_reads_inside_give_the_values(ctx, form):
    index = np.array([[4, 0], [0, 0], [1, 1]], INT) if form == "sum" else np.array([4, 0, 2], INT)
    index = index - np.arange(3, dtype=INT) + 3 if form == "shifted" else index
    index = np.array([1, 2, 0, 0, 0], INT) if form == "nested" else index
    expected = {"condition": [1, 1, 1], "choice": [1, 1, 1], "nested": [2, 0, 1]}.get(form, [4, 0, 2])
    out = np.zeros(3)
    READS[form](ctx, a=np.arange(5.0), out=out, **{"q" if form == "sum" else "p": index})
    np.testing.assert_array_equal(out, expected)


WRITES = {
    "array": kernel("c[p[i]] = a[i]", reals("c", "m"), integers("p"), reals("a")),
    "temporary": kernel("<int32> t = p[i] {id=t}\nc[t] = a[i] {dep=t}", reals("c", "m"), integers("p"), reals("a")),
    "update": kernel("c[p[i]] = c[p[i]] + a[i]", reals("c", "m"), integers("p"), reals("a")),
    "atomic": kernel(
        "c[p[i]] = c[p[i]] + a[i] {atomic}", lp.GlobalArg("c", REAL, shape="m", for_atomic=True), integers("p"), reals("a")
    ),
    "flat": kernel("c[[p[i]]] = a[i]", reals("c", "m"), integers("p"), reals("a")),
    "loop": kernel(
        "for i\n<> b = p[i] {id=b}\nc[j] = a[i] {dep=b}\nend",
        *(reals("c", "m"), integers("p"), reals("a")),
        domain=["{[i]: 0<=i<n}", "[b] -> {[j]: b<=j<=b}"],
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("bad", OUTSIDE)
@pytest.mark.parametrize("form", WRITES)
def test_a_write_outside_is_an_error_and_writes_nothing_there(ctx, form, bad):
    whole, c = fenced(np.zeros(5))
    with pytest.raises(pl.CheckError, match=re.escape(f"index {bad} is outside 0..5 of c")):
        WRITES[form](ctx, c=c, a=np.ones(3), p=np.array([0, bad, 2], INT))
    assert (whole[:8] == 1e30).all() and (whole[-8:] == 1e30).all()
    _, c = fenced(np.zeros(5))
    WRITES[form](ctx, c=c, a=np.ones(3), p=np.array([0, 4, 2], INT))
    np.testing.assert_array_equal(c, [1, 0, 1, 0, 1])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_indices_of_every_type_are_compared_as_they_are(ctx, dtype):
    # With a signed integer, one of 64 bits without a sign becomes a float, as in NumPy.
    second = "p[i]" if dtype is np.uint64 else "p[i] + 0*i"
    knl = kernel(f"out[i] = a[p[i]] + a[{second}]", reals("a", "m"), lp.GlobalArg("p", dtype, shape="n"), reals("out"))
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    for bad in {5, int(most), int(least) if least else 6}:
        out = np.zeros(2)
        with pytest.raises(pl.CheckError, match=r"is outside 0\.\.5 of a\[p\[i\]"):
            knl(ctx, a=np.ones(5), p=np.array([0, bad], dtype), out=out)
        np.testing.assert_array_equal(out, [2, 0] if ctx.device.kind == "cpu" else [0, 0])


@pytest.mark.parametrize("space", ["private", "local", "global"])
def test_temporaries_are_arrays_too(ctx, space):
    temporary = lp.TemporaryVariable("t", REAL, shape=(4,), address_space=getattr(lp.AddressSpace, space.upper()))
    knl = lp.make_kernel(
        ["{[i]: 0<=i<n}", "{[j]: 0<=j<4}"],
        "for i\nt[j] = j {id=t}\nout[i] = t[p[i]] {dep=t}\nend",
        [integers("p"), reals("out"), temporary, ...],
        name="k",
    )
    out = np.zeros(3)
    knl(ctx, p=np.array([3, 0, 1], INT), out=out)
    np.testing.assert_array_equal(out, [3, 0, 1])
    for bad in (4, -1, 1000):
        with pytest.raises(pl.CheckError, match=re.escape(f"index {bad} is outside 0..4 of t[p[i]], axis 0")):
            knl(ctx, p=np.array([3, bad, 1], INT), out=out)


def csr():
    return lp.make_kernel(
        ["{[i]: 0<=i<n}", "[b, e] -> {[j]: b<=j<e}"],
        "for i\n<> b = r[i] {id=b}\n<> e = r[i+1] {id=e}\ny[i] = sum(j, v[j]*x[c[j]]) {dep=b:e}\nend",
        [reals("v", "z"), integers("c", "z"), reals("x", "m"), integers("r", "n+1"), reals("y"), ...],
        name="spmv",
    )


@pytest.mark.parametrize("tags", [None, "g.0", "l.0"])
def test_rows_of_a_sparse_matrix(ctx, tags):
    knl = csr() if tags is None else lp.tag_inames(csr(), f"i:{tags}") if tags == "g.0" else lp.split_iname(csr(), "i", 4, outer_tag="g.0", inner_tag="l.0")
    rows, columns = np.array([0, 2, 2, 5], INT), np.array([0, 3, 1, 2, 3], INT)
    values, x = np.arange(1.0, 6.0), np.array([1.0, 10.0, 100.0, 1000.0])
    y = np.zeros(3)
    knl(ctx, v=values, c=columns, x=x, r=rows, y=y)
    np.testing.assert_array_equal(y, [2001.0, 0.0, 5430.0])
    for change, message in [
        ({"r": np.array([0, 2, 2, 6], INT)}, "index 5 is outside 0..5 of v[j], axis 0"),
        ({"r": np.array([-3, 2, 2, 5], INT)}, "is outside 0..5 of v[j], axis 0"),
        ({"c": np.array([0, 3, 1, 4, 3], INT)}, "index 4 is outside 0..4 of x[c[j]], axis 0"),
        ({"c": np.array([0, -1, 1, 2, 3], INT)}, "index -1 is outside 0..4 of x[c[j]], axis 0"),
    ]:
        with pytest.raises(pl.CheckError, match=re.escape(message)):
            knl(ctx, **{"v": values, "c": columns, "x": x, "r": rows, "y": y, **change})
    # Limits far outside of a row that has no elements are not indices.
    knl(ctx, v=values, c=columns, x=x, r=np.array([7, 3, 2, -1], INT), y=y)
    np.testing.assert_array_equal(y, [0.0, 0.0, 0.0])


def test_a_limit_that_changes_inside_the_loop_does_not_outrun_its_check(cpu):
    knl = lp.make_kernel(
        ["{[i]: 0<=i<n}", "[e] -> {[j]: 0<=j<e}"],
        "for i\n<int32> e = p[i] {id=e}\nfor j\ny[j] = 1.0 {id=y, dep=e}\nend\nend",
        [integers("p"), reals("y", "m"), ...],
        name="k",
    )
    whole, y = fenced(np.zeros(4))
    knl(cpu, p=np.array([2, 4], INT), y=y)
    np.testing.assert_array_equal(y, np.ones(4))
    with pytest.raises(pl.CheckError, match=re.escape("index 4 is outside 0..4 of y[j], axis 0")):
        knl(cpu, p=np.array([2, 12], INT), y=y)
    assert (whole[:8] == 1e30).all() and (whole[-8:] == 1e30).all()


@pytest.mark.parametrize("tag", ["vec", "unr", "ilp"])
def test_lanes_and_unrolled_loops_are_checked(ctx, tag):
    knl = lp.split_iname(READS["array"], "i", 4, inner_tag=tag)
    index = np.array([0, 1, 2, 3, 4, 0, 1, 2], INT)
    _, a = fenced(np.arange(5.0))
    out = np.zeros(8)
    knl(ctx, a=a, p=index, out=out)
    np.testing.assert_array_equal(out, index)
    index[5] = 9
    with pytest.raises(pl.CheckError, match=re.escape("index 9 is outside 0..5 of a[p[")):
        knl(ctx, a=a, p=index, out=out)
    assert out[5] == 0


def test_an_empty_array_has_no_index(ctx):
    with pytest.raises(pl.CheckError, match=re.escape("index 0 is outside 0..0 of a[p[i]], axis 0")):
        READS["array"](ctx, a=np.zeros(0), p=np.zeros(1, INT), out=np.zeros(1))


def test_called_kernels_check_what_they_are_passed(ctx):
    inner = lp.make_function(
        "{[j]: 0<=j<3}",
        "y[j] = x[q[j]]",
        [lp.GlobalArg("x, y", REAL, shape="3"), lp.GlobalArg("q", INT, shape="3"), ...],
        name="inner",
    )
    outer = lp.make_kernel(
        "{[i,j,k,l]: 0<=i<n and 0<=j,k,l<3}",
        "[j]: out[i, j] = inner([k]: a[i, k], [l]: p[i, l])",
        [reals("a, out", "n,3"), integers("p", "n,3"), ...],
        name="outer",
    )
    knl = lp.merge([outer, inner])
    whole, a = fenced(np.arange(6.0))
    index = np.array([[2, 1, 0], [0, 0, 2]], INT)
    out = np.zeros((2, 3))
    for program in (knl, lp.inline_callable_kernel(knl, "inner")):
        program(ctx, a=a.reshape(2, 3), p=index, out=out)
        np.testing.assert_array_equal(out, [[2, 1, 0], [3, 3, 5]])
        bad = index.copy()
        bad[1, 1] = 3
        with pytest.raises(pl.CheckError, match=r"index \d is outside 0\.\.\d of "):
            program(ctx, a=a.reshape(2, 3), p=bad, out=out)


def test_rows_that_begin_where_the_data_says(ctx):
    knl = lp.make_kernel(
        "{[i,j,k]: 0<=i<n and 0<=j,k<3}",
        "[k]: out[i, k] = twice([j]: a[p[i], j])",
        [reals("a", "m,3"), integers("p"), reals("out", "n,3"), ...],
        name="k",
    )
    knl = lp.merge([knl, lp.make_function("{[j]: 0<=j<3}", "y[j] = 2*x[j]", name="twice")])
    whole, a = fenced(np.arange(6.0))
    out = np.zeros((2, 3))
    knl(ctx, a=a.reshape(2, 3), p=np.array([1, 0], INT), out=out)
    np.testing.assert_array_equal(out, [[6, 8, 10], [0, 2, 4]])
    for bad in (2, -1):
        with pytest.raises(pl.CheckError, match=re.escape(f"index {bad} is outside 0..2 of ")):
            knl(ctx, a=a.reshape(2, 3), p=np.array([1, bad], INT), out=out)


def test_fields_of_objects(ctx):
    class Table(xo.Struct):
        x = xo.Float64[:]

    knl = lp.make_kernel(
        "{[i]: 0<=i<n}", "out[i] = t.x[p[i]]", [lp.ObjectArg("t", Table), integers("p"), reals("out"), ...], name="k"
    )
    table = Table(x=np.arange(4.0), _context=ctx)
    out = np.zeros(2)
    knl(ctx, t=table, p=np.array([3, 1], INT), out=out)
    np.testing.assert_array_equal(out, [3, 1])
    for bad in (4, -1):
        with pytest.raises(pl.CheckError, match=re.escape(f"index {bad} is outside 0..4 of t.x[p[i]], axis 0")):
            knl(ctx, t=table, p=np.array([3, bad], INT), out=out)


def test_items_that_have_sizes_of_their_own(ctx):
    class Row(xo.Struct):
        x = xo.Float64[:]

    class Rows(xo.Struct):
        rows = Row[:]

    knl = lp.make_kernel(
        ["{[i]: 0<=i<n}", "{[j]: 0<=j<m}"],
        "out[i] = sum(j, t.rows.x[i, j])",
        [lp.ObjectArg("t", Rows), lp.ValueArg("m", INT), reals("out"), ...],
        name="k",
    )
    rows = Rows(rows=[{"x": [1.0, 2.0, 3.0]}, {"x": [10.0]}], _context=ctx)
    out = np.zeros(2)
    knl(ctx, t=rows, m=1, out=out)
    np.testing.assert_array_equal(out, [1, 10])
    with pytest.raises(pl.CheckError, match=re.escape("is outside 0..1 of t.rows.x[i, j], axis 1")):
        knl(ctx, t=rows, m=2, out=out)


def test_what_references_inside_of_arrays_lead_to_is_refused():
    class Point(xo.Struct):
        x = xo.Float64

    class Points(xo.Struct):
        points = xo.Ref[Point][:]

    with pytest.raises(pl.LoopError, match="points.x"):
        lp.make_kernel("{[i]: 0<=i<n}", "out[i] = t.points.x[i]", [lp.ObjectArg("t", Points), reals("out"), ...], name="k").code()


def test_the_author_can_vouch_for_the_indices(ctx):
    knl = lp.set_options(READS["array"], check_bounds=False)
    assert "CHECK" in READS["array"].code() and "CHECK" not in knl.code()
    out = np.zeros(2)
    knl(ctx, a=np.arange(5.0), p=np.array([4, 1], INT), out=out)
    np.testing.assert_array_equal(out, [4, 1])


def test_a_kernel_of_a_mesh_loop_checks_what_its_data_decides(ctx):
    pick = lp.make_kernel(
        "{[i]: 0<=i<1}",
        "y[i] = x[which[0]]",
        [lp.GlobalArg("y", REAL, shape=(1,)), lp.GlobalArg("x", REAL, shape=(3,)), lp.GlobalArg("which", INT, shape=(1,))],
        name="pick",
    )
    cells, nodes = op2.Set(4), op2.Set(6)
    corners = op2.Map(cells, nodes, 3, [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]])
    x, y = op2.Dat(nodes, np.arange(6.0)), op2.Dat(cells)
    for wrong in (None, 3, -1):
        which = op2.Dat(cells, np.array([0, 2, wrong or 1, 1], INT), dtype=INT)
        arguments = (y(op2.WRITE), x(op2.READ, corners), which(op2.READ))
        if wrong is None:
            op2.par_loop(op2.Kernel(pick, "pick"), cells, *arguments, context=ctx)
            np.testing.assert_array_equal(y.data_ro, [0, 3, 3, 4])
        else:
            with pytest.raises(pl.CheckError, match=re.escape(f"index {wrong} is outside 0..3 of x[which[0]], axis 0")):
                op2.par_loop(op2.Kernel(pick, "pick"), cells, *arguments, context=ctx)


def test_limits_that_only_some_items_set_are_read_by_those_alone(ctx):
    """The last group has an item that does not exist, whose limits are never set."""
    knl = kernel(
        "for i\n<> b = q[i] {id=b}\n<> e = q[i] + 2 {id=e}\nout[i] = sum(j, a[j]) {dep=b:e}\nend",
        *(reals("a", "m"), integers("q"), reals("out")),
        domain=["{[i]: 0<=i<n}", "[b,e] -> {[j]: 0<=j and b<=j<e}"],
    )
    knl = lp.split_iname(knl, "i", 3, inner_tag="l.0", outer_tag="g.0")
    whole, out = fenced(np.zeros(5))
    knl(ctx, a=np.arange(40.0) + 1, q=np.ones(5, INT), out=out)
    assert (out == 5).all() and (whole[:8] == 1e30).all() and (whole[-8:] == 1e30).all()


def test_a_field_inside_a_loop_that_the_data_limits_is_checked(ctx):
    class Row(xo.Struct):
        x = xo.Float64[:]

    knl = kernel(
        "for i\n<> e = p[i] {id=e}\nfor j\nt.x[i] = 3.0 {dep=e}\nend\nend",
        *(lp.ObjectArg("t", Row), integers("p")),
        domain=["{[i]: 0<=i<n}", "[e] -> {[j]: 0<=j<e}"],
    )
    row = Row(x=np.zeros(4), _context=ctx)
    behind = Row(x=np.full(20, 7.0), _buffer=row._buffer)
    with pytest.raises(pl.CheckError, match=r"index \d+ is outside 0\.\.4 of t\.x\[i\]"):
        knl(ctx, t=row, p=np.ones(40, INT))
    assert list(behind.x) == [7.0] * 20
    # A loop without iterations uses no element.
    knl(ctx, t=row, p=np.array([1, 1, 1, 1, 0, 0], INT))
    assert list(row.x) == [3.0] * 4


@pytest.mark.parametrize("factor, begin", [(4, 2**30), (2, 2**31 - 2)])
def test_indices_of_loops_that_the_data_limits_do_not_wrap(ctx, factor, begin):
    knl = kernel(
        f"for i\n<> b = p[i] {{id=b}}\na[{factor}*j] = 5.0 {{dep=b}}\nend",
        *(reals("a", "m"), integers("p")),
        domain=["{[i]: 0<=i<n}", "[b] -> {[j]: b<=j<b+1}"],
        silenced_warnings=["*"],
    )
    whole, a = fenced(np.zeros(10))
    with pytest.raises(pl.CheckError, match=f"index {factor * begin} is outside 0..10"):
        knl(ctx, a=a, p=np.array([begin], INT))
    assert (a == 0).all() and (whole[:8] == 1e30).all() and (whole[-8:] == 1e30).all()


def test_limits_have_as_many_bits_as_the_data(ctx):
    knl = kernel(
        "for i\n<> b = p[i] {id=b}\na[j] = 5.0 {dep=b}\nend",
        *(reals("a", "m"), lp.GlobalArg("p", np.int64, shape="n")),
        domain=["{[i]: 0<=i<n}", "[b] -> {[j]: b<=j<b+1}"],
        silenced_warnings=["*"],
    )
    a = np.zeros(3)
    with pytest.raises(pl.CheckError, match=f"index {2**32 + 1} is outside 0..3"):
        knl(ctx, a=a, p=np.array([2**32 + 1], np.int64))
    assert (a == 0).all()
    knl(ctx, a=a, p=np.array([1], np.int64))
    assert list(a) == [0, 5, 0]


def test_the_limit_after_the_largest_integer_is_not_the_smallest(ctx):
    knl = kernel(
        "for i\n<> b = p[i] {id=b}\n<> f = b - 3 {id=f,dep=b}\nout[i] = sum(j, a[j]) {dep=f}\nend",
        *(reals("a", "m"), integers("p"), reals("out")),
        domain=["{[i]: 0<=i<n}", "[b,f] -> {[j]: f<=j<=b}"],
    )
    with pytest.raises(pl.CheckError, match="is outside 0..10"):
        knl(ctx, a=np.ones(10), p=np.array([2**31 - 1], INT), out=np.zeros(1))


@pytest.mark.parametrize(
    "dtype, k, index, condition, length",
    [
        (np.uint8, 3, "k-5", "k-5>=0", 300),
        (np.uint32, 3, "k-5", "k-5>=0", 300),
        (np.int8, 100, "2*k", "2*k<10", 100),
        (np.int32, 2**30, "4*k", "4*k<10", 300),
        (np.int64, 2**62, "k", "4*k<10", 300),
    ],
)
def test_a_condition_that_wraps_proves_nothing(cpu, dtype, k, index, condition, length):
    """On devices where overflow is undefined the condition may have either value; NumPy's is that of a CPU."""
    data = (reals("a", "m"), lp.ValueArg("k", dtype))
    knl = kernel(f"a[{index}] = 5.0*i {{if={condition}}}", *data, domain="{[i]: 0<=i<3}", silenced_warnings=["*"])
    whole, a = fenced(np.zeros(length))
    with pytest.raises((pl.CheckError, pl.errors.LoopIndexError), match="out of bounds|is outside"):
        knl(cpu, a=a, k=k)
    assert (a == 0).all() and (whole[:8] == 1e30).all() and (whole[-8:] == 1e30).all()


def test_conditions_that_cannot_wrap_prove_an_index(ctx):
    """Without a check as the kernel runs: `n - 1` is not negative where there is an `i`."""
    knl = kernel("out[i] = a[i+1] - a[i] {if=i < n-1}", reals("a, out"))
    assert "pl_inside" not in knl.code()
    out = np.zeros(4)
    knl(ctx, a=np.array([1.0, 2.0, 4.0, 8.0]), out=out)
    assert list(out) == [1, 2, 4, 0]


@pytest.mark.parametrize("rows, columns, row", [(1, 2, 0), (0, 3, 0), (2, 3, 7)])
def test_what_does_not_fit_a_called_kernel_is_not_passed_to_it(ctx, rows, columns, row):
    inner = lp.make_function("{[j]: 0<=j<3}", "x[j] = 5.0 + j", [reals("x", "3"), ...], name="fill")
    outer = lp.make_kernel(
        "{[i,j]: 0<=i<n and 0<=j<3}", "[j]: a[p[i], j] = fill() {if=p[i] < 100}", [reals("a", "m,c"), integers("p"), ...], name="outer"
    )
    whole, flat = fenced(np.zeros(rows * columns))
    with pytest.raises(pl.CheckError, match="is outside"):
        lp.merge([outer, inner])(ctx, a=flat.reshape(rows, columns), p=np.array([row], INT))
    assert (flat == 0).all() and (whole[:8] == 1e30).all() and (whole[-8:] == 1e30).all()


def test_a_limit_in_an_array_without_axes_is_data(ctx):
    """It changes inside the kernel."""
    knl = lp.make_kernel(
        ["[t] -> {[i]: 0<=i<t}", "[t,n] -> {[j]: 0<=j<1 and t<=n}"],
        "for i\nt = 1 {id=A}\nfor j\na[i] = 5.0 {id=w,dep=A}\nend\nt = 900 {id=B,dep=w}\nend",
        [reals("a"), lp.GlobalArg("t", INT, shape=()), lp.ValueArg("n", INT)],
        name="k",
        silenced_warnings=["*"],
    )
    whole, a = fenced(np.zeros(3))
    with pytest.raises(pl.CheckError, match=r"index \d+ is outside 0\.\.3 of a\[i\]"):
        knl(ctx, a=a, t=np.array(900, INT), n=3)
    assert (whole[:8] == 1e30).all() and (whole[-8:] == 1e30).all()


def test_an_array_without_axes_is_an_index(ctx):
    knl = kernel("out[i] = a[t]", reals("a", "m"), lp.GlobalArg("t", INT, shape=()), reals("out"))
    out = np.zeros(2)
    knl(ctx, a=np.arange(3.0), t=np.array(1, INT), out=out)
    assert list(out) == [1, 1]
    with pytest.raises(pl.CheckError, match="index 3 is outside 0..3"):
        knl(ctx, a=np.arange(3.0), t=np.array(3, INT), out=out)


def test_a_recorded_call_follows_no_references(cpu):
    class Row(xo.Struct):
        x = xo.Float64[:]

    class Holder(xo.Struct):
        row = xo.Ref[Row]

    knl = kernel("t.row.x[i] = 3.0", lp.ObjectArg("t", Holder))
    holder = Holder(row=Row(x=np.zeros(5)), _context=cpu)
    with pytest.raises(pl.LoopError, match="field `row.x` of argument `t` cannot be recorded"), cpu.recording():
        knl(cpu, t=holder, n=5)
    direct = kernel("t.x[i] = 3.0", lp.ObjectArg("t", Row))
    with cpu.recording() as steps:
        direct(cpu, t=holder.row, n=5)
    steps()
    assert list(holder.row.x) == [3.0] * 5


@pytest.mark.parametrize(
    "instructions, value",
    [
        ("<> t = p[i] + 1 {id=t}\na[t] = 5.0 {dep=t}", 2**31 - 1),
        ("<> t = p[i] + 1 {id=t}\na[t] = 5.0 {dep=t,if=p[i] >= 0}", 2**31 - 1),
        ("<> t = -p[i] {id=t}\na[t] = 5.0 {dep=t}", -(2**31)),
        ("<> t = p[i]*p[i] {id=t}\na[t] = 5.0 {dep=t}", 65535),
        ("a[abs(p[i])] = 5.0", -(2**31)),
    ],
)
def test_an_index_is_compared_whatever_its_overflow_means(ctx, instructions, value):
    """Compilers for OpenCL and CUDA take for granted that signed integers do not overflow, and that such an index is positive."""
    knl = kernel(instructions, reals("a", "m"), integers("p"), silenced_warnings=["*"])
    whole, a = fenced(np.zeros(3))
    with pytest.raises(pl.CheckError, match=r"is outside 0\.\.3"):
        knl(ctx, a=a, p=np.array([value, 1, 0], INT))
    assert (whole[:8] == 1e30).all() and (whole[-8:] == 1e30).all()
