"""Sets, maps, data and matrices of several parts, against NumPy."""

import operator
import os

import numpy as np
import pytest

import parloop as pl
import parloop.mesh as op2
from devices import DEVICES, opened

@pytest.fixture(params=DEVICES)
def context(request):
    with opened(request.param) as context:
        yield context


class Line:
    """Cells in a row and the nodes between them: one number on each cell, two on each node."""

    def __init__(self, n=5):
        self.cells, self.nodes = op2.Set(n, "cells"), op2.Set(n + 1, "nodes")
        self.own = op2.Map(self.cells, self.cells, 1, np.arange(n), "own")
        self.ends = op2.Map(self.cells, self.nodes, 2, [[i, i + 1] for i in range(n)], "ends")
        self.both = op2.MixedMap([self.own, self.ends])
        self.dataset = op2.MixedDataSet([self.cells, self.nodes**2])
        self.p = op2.Dat(self.cells, np.arange(1.0, n + 1), name="p")
        self.v = op2.Dat(self.nodes**2, np.arange(2.0 * n + 2).reshape(n + 1, 2) - 3, name="v")
        self.u = op2.MixedDat([self.p, self.v])

    @property
    def local(self):
        """What a kernel gets of `u` for each cell: five numbers."""
        v = self.v.data_ro[self.ends.values].reshape(self.cells.size, 4)
        return np.column_stack([self.p.data_ro, v])

    @property
    def places(self):
        """Where the five numbers of each cell are in the whole."""
        nodes = self.cells.size + (2 * self.ends.values[:, :, None] + np.arange(2)).reshape(-1, 4)
        return np.column_stack([np.arange(self.cells.size), nodes])


@pytest.fixture
def line():
    return Line()


# Sets, data sets and maps


def test_a_mixed_set_is_the_tuple_of_its_sets():
    a, b = op2.Set((1, 2, 4), "a"), op2.Set(3, "b")
    mixed = op2.MixedSet(iter([a, b, a]))
    assert mixed.split == (a, b, a) and list(mixed) == [a, b, a] and len(mixed) == 3 and mixed[1:] == (b, a)
    assert mixed.sizes == (1 + 3 + 1, 2 + 3 + 2, 4 + 3 + 4) and mixed.name == ("a", "b", "a")
    assert mixed == op2.MixedSet([a, b, a]) and hash(mixed) == hash(op2.MixedSet([a, b, a])) and mixed != op2.MixedSet([b, a, a]) and mixed != a
    assert repr(op2.MixedSet([b])) == "MixedSet([Set(3, 'b')])"
    assert mixed**2 == op2.MixedDataSet([a**2, b**2, a**2]) and (mixed ** (1, 2, (3, 4))).dim == ((1,), (2,), (3, 4))


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda a: op2.MixedSet("ab"), pl.errors.SetTypeError, "a MixedSet needs several parts, not 'ab'; pass a list"),
        (lambda a: op2.MixedSet([]), pl.errors.SetTypeError, "a MixedSet needs at least one part; the list is empty"),
        (lambda a: op2.MixedSet([a, 3]), pl.errors.SetTypeError, "part 1 of a MixedSet is 3; give a Set"),
        (lambda a: op2.MixedDataSet([a, None]), pl.errors.DataSetTypeError, "part 1 of a MixedDataSet is None; give a Set or a DataSet"),
        (lambda a: op2.MixedDataSet([a, a**1], 2), pl.errors.DataSetTypeError, "part 1 of a MixedDataSet with dims is a DataSet, which has a dimension; omit dims"),
        (lambda a: op2.MixedDataSet([a, a], [1]), pl.errors.SetValueError, "a MixedDataSet of 2 sets needs 2 dims, not 1; one integer applies to all sets"),
        (lambda a: op2.MixedDataSet([a, a], "2"), pl.errors.DimTypeError, "the dims of a MixedDataSet must be an integer or one dimension for each set, not '2'"),
        (lambda a: op2.MixedMap([a]), pl.errors.MapTypeError, "part 0 of a MixedMap is an object of type Set; give a Map, or None where the part of the data is a Global"),
        (lambda a: op2.MixedMap([None]), pl.errors.MapTypeError, "a MixedMap needs at least one Map, which determines its iteration set"),
        (lambda a: op2.GlobalDataSet(a), pl.errors.DataSetTypeError, "a GlobalDataSet needs a Global, not an object of type Set"),
        (lambda a: op2.MixedDat([a, "b"]), pl.errors.DataSetTypeError, "part 1 of a MixedDat is 'b'; give a Dat, a Global, a DataSet or a Set"),
    ],
)  # fmt: skip
def test_what_is_not_a_part_is_refused(make, error, text):
    with pytest.raises(error) as caught:
        make(op2.Set(3, "a"))
    assert str(caught.value) == text


def test_a_mixed_map_leads_from_one_set(line):
    assert line.both.iterset is line.cells and line.both.toset == op2.MixedSet([line.cells, line.nodes])
    assert (line.both.arity, line.both.arities, line.both.arange) == (3, (1, 2), (0, 1, 3)) and line.both.name == ("own", "ends")
    assert all((found == map_.values).all() for found, map_ in zip(line.both.values, (line.own, line.ends)))
    assert line.both == op2.MixedMap((line.own, line.ends)) != op2.MixedMap((line.ends, line.own))
    elsewhere = op2.Map(line.nodes, line.nodes, 1, np.arange(line.nodes.size), "elsewhere")
    with pytest.raises(pl.errors.MapValueError) as caught:
        op2.MixedMap([line.own, elsewhere])
    assert str(caught.value) == "the maps of a MixedMap must start at one set: `own` starts at `cells`, but `elsewhere` at `nodes`"


# Data


def test_mixed_data_is_the_tuple_of_its_data(line):
    assert line.u.split == (line.p, line.v) and line.u[1] is line.v and line.u[:1] == (line.p,) and len(line.u) == 2
    assert line.u.dataset == line.dataset and line.u in line.dataset and line.u not in op2.MixedDataSet([line.cells, line.nodes])
    assert (line.u.dim, line.u.cdim, line.u.shape, line.u.nbytes) == (((1,), (2,)), 3, ((5,), (6, 2)), 17 * 8)
    assert line.u.name == ("p", "v") and line.u.dtype == np.float64 and line.u == op2.MixedDat([line.p, line.v])
    assert repr(line.u) == f"MixedDat([{line.p!r}, {line.v!r}])"
    line.u.data[0][:] = 7
    assert (line.p.data_ro == 7).all() and not line.u.data_ro[1].flags.writeable


def test_zeros_are_made_on_sets_and_copies_of_mixed_data(line):
    zeros = op2.MixedDat(line.dataset, np.float32)
    assert zeros.dtype == np.float32 and zeros.dataset == line.dataset and not any(values.any() for values in zeros.data_ro)
    copy = op2.MixedDat(line.u)
    assert copy != line.u and all((a == b).all() for a, b in zip(copy.data_ro, line.u.data_ro))
    copy.zero()
    assert line.u.norm > 0 == copy.norm
    line.u.copy_to(copy)
    assert copy.norm == line.u.norm
    with pytest.raises(pl.errors.DataValueError, match="the parts of a MixedDat must have the same type: `p` has float64, but `k` has int32"):
        op2.MixedDat([line.p, op2.Dat(line.nodes, dtype=np.int32, name="k")])


def test_arithmetic_is_that_of_the_parts(line):
    p, v = line.p.data_ro.copy(), line.v.data_ro.copy()
    w = op2.MixedDat([op2.Dat(line.cells, p + 1), op2.Dat(line.nodes**2, v * v + 1)])

    def same(mixed, first, second):
        return np.allclose(mixed.data_ro[0], first) and np.allclose(mixed.data_ro[1], second)

    assert same(line.u + w, 2 * p + 1, v + v * v + 1) and same(line.u - w, -1, v - v * v - 1)
    assert same(line.u * w, p * (p + 1), v * (v * v + 1)) and same(line.u / w, p / (p + 1), v / (v * v + 1))
    assert same(3 - line.u, 3 - p, 3 - v) and same(2 / w, 2 / (p + 1), 2 / (v * v + 1)) and same(line.u * np.float64(2), 2 * p, 2 * v) and same(np.float64(2) * line.u, 2 * p, 2 * v)
    assert same(-line.u, -p, -v) and same(+line.u, p, v) and (+line.u)[0] is not line.p
    assert same(line.u + op2.Global(1, 2.0), p + 2, v + 2) and same(line.u + [w[0], w[1]], 2 * p + 1, v + v * v + 1)
    part = line.u
    part += w
    part -= 1
    part *= 2
    part /= w
    assert part is line.u and same(part, 2 * (2 * p) / (p + 1), 2 * (v + v * v) / (v * v + 1))


def numbers(mixed):
    return [values.tolist() for values in mixed.data_ro]


@pytest.mark.parametrize("operation", [operator.iadd, operator.isub, operator.imul, operator.itruediv])
def test_a_factor_that_is_a_part_keeps_its_number_as_the_parts_change(context, operation):
    s, shared = op2.Set(2, "s"), np.array([2.0])

    def made():
        return op2.MixedDat([op2.Dat(s, [8.0, 6.0]), op2.Global(1, 2.0), op2.Dat(s, [1.0, 3.0])])

    u = made()
    expected = [operation(values.copy(), 2.0).tolist() for values in u.data_ro]
    assert numbers(operation(u, u[1])) == expected
    u = op2.MixedDat([op2.Global(1, shared), *made()[::2]])
    assert numbers(operation(u, op2.Global(1, shared))) == [expected[1], expected[0], expected[2]]


def test_sums_read_factors_and_parts_before_they_change_them(context):
    s, shared = op2.Set(2, "s"), np.array([2.0])
    u = op2.MixedDat([op2.Global(1, 2.0), op2.Dat(s, [1.0, 3.0])])
    ones = op2.MixedDat([op2.Global(1, 5.0), op2.Dat(s, [1.0, 1.0])])
    u.axpy(u[0], ones)
    assert numbers(u) == [[12], [3, 5]]
    u.maxpy([u[0], u[0]], [ones, ones])
    assert numbers(u) == [[12 + 2 * 12 * 5], [3 + 24, 5 + 24]]
    u = op2.MixedDat([op2.Global(1, shared), op2.Dat(s, [1.0, 3.0])])
    u.axpy(op2.Global(1, shared), ones)
    assert numbers(u) == [[12], [3, 5]]
    u = op2.MixedDat([op2.Dat(s, [1.0, 2.0]), op2.Dat(s, [10.0, 20.0])])
    u.axpy(2.0, op2.MixedDat(u[::-1]))
    assert numbers(u) == [[21, 42], [12, 24]]
    u.maxpy([1.0, 2.0], [op2.MixedDat([op2.Dat(s, [1.0, 1.0]), op2.Dat(s, [1.0, 1.0])]), u])
    assert numbers(u) == [[64, 127], [37, 73]]


def test_parts_in_another_order_are_read_before_they_change(context):
    s = op2.Set(2, "s")

    def made():
        return op2.MixedDat([op2.Dat(s, [1.0, 2.0]), op2.Dat(s, [10.0, 20.0]), op2.Dat(s, [3.0, 4.0])])

    u = made()
    u += u[::-1]
    assert numbers(u) == [[4, 6], [20, 40], [4, 6]]
    u = made()
    u.copy_to(op2.MixedDat([u[1], u[2], u[0]]))
    assert numbers(u) == [[3, 4], [1, 2], [10, 20]]
    u = made()
    u += u
    u.copy_to(u)
    assert numbers(u) == [[2, 4], [20, 40], [6, 8]]


def test_one_part_cannot_get_the_numbers_of_two(line):
    r = op2.Dat(line.cells, name="r")
    two = op2.MixedDat([line.p, 2 * line.p])
    with pytest.raises(pl.errors.DataValueError) as caught:
        two.copy_to(op2.MixedDat([r, r]))
    assert str(caught.value) == "`r` appears twice among the destinations, but cannot hold the values of both" and r.norm == 0
    op2.MixedDat([line.p, line.p]).copy_to(op2.MixedDat([r, r]))
    assert r.data_ro.tolist() == line.p.data_ro.tolist()


@pytest.mark.parametrize(
    "change",
    [
        lambda u, s: operator.iadd(u, [op2.Global(1, 1.0), op2.Dat(s), op2.Dat(s)]),
        lambda u, s: operator.isub(u, [op2.Global(1, 1.0), op2.Dat(s), op2.Dat(u[2].dataset, dtype=np.complex128)]),
        lambda u, s: operator.imul(u, [op2.Global(1, 3.0), op2.Dat(s), op2.Dat(u[2].dataset.set)]),
        lambda u, s: operator.itruediv(u, [op2.Global(1, 3.0), 2.0, "two"]),
        lambda u, s: operator.imul(u, op2.Global(2, [3.0, 4.0])),
        lambda u, s: u.axpy(2.0, [op2.Global(1, 1.0), op2.Dat(s, [1.0, 1.0]), op2.Dat(s)]),
        lambda u, s: u.axpy(2.0, [op2.Global(1, 1.0), op2.Dat(s, [1.0, 1.0]), 1.0]),
        lambda u, s: u.axpy(op2.Global(2, [1.0, 2.0]), u),
        lambda u, s: u.maxpy([1.0, "two"], [u, u]),
        lambda u, s: u.maxpy([1.0, 2.0], [u, [op2.Global(1, 1.0), op2.Dat(s), op2.Dat(s)]]),
        lambda u, s: op2.MixedDat([op2.Global(1, 1.0), op2.Dat(s), op2.Dat(s)]).copy_to(u),
        lambda u, s: op2.MixedDat([op2.Global(1, 1.0), op2.Dat(s), op2.Dat(u[2].dataset.set**2)]).copy_to([*u[:2], u[2].dataset.set]),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_last_part_changes_no_part(change):
    s, t = op2.Set(2, "s"), op2.Set(3, "t")
    u = op2.MixedDat([op2.Global(1, 2.0), op2.Dat(s, [1.0, 2.0]), op2.Dat(t**2, np.ones((3, 2)))])
    before = numbers(u)
    with pytest.raises((ValueError, TypeError, OverflowError)):
        change(u, s)
    assert numbers(u) == before


def test_inner_products_and_sums_are_those_of_all_numbers(line):
    p, v = line.p.data_ro.copy(), line.v.data_ro.copy()
    assert line.u.norm == pytest.approx(np.sqrt((p**2).sum() + (v**2).sum()))
    w = 2 * line.u
    assert w.inner(line.u) == pytest.approx(2 * line.u.norm**2)
    w.axpy(-1, line.u)
    w.maxpy([2.0, op2.Global(1, 3.0)], [line.u, line.u])
    assert np.allclose(w.data_ro[0], 6 * p) and np.allclose(w.data_ro[1], 6 * v)
    with pytest.raises(pl.errors.DataValueError, match="maxpy needs a factor for each summand, but got 1 factors and 2 summands"):
        w.maxpy([1.0], [line.u, line.u])


def test_complex_inner_products_conjugate_as_those_of_one_part(line):
    a = op2.MixedDat([op2.Dat(line.cells, np.arange(5) + 2j), op2.Global(2, [1 + 1j, 3 - 2j])])
    b = op2.MixedDat([op2.Dat(line.cells, 1j - np.arange(5)), op2.Global(2, [2 - 5j, 1j])])
    assert a.inner(b) == pytest.approx(a[0].inner(b[0]) + a[1].inner(b[1])) and a.inner(a) == pytest.approx(a.norm**2)


def test_parts_can_be_globals(line, tmp_path):
    r = op2.Global(2, [3.0, 4.0], name="r")
    u = op2.MixedDat([line.p, r])
    assert u.dataset == op2.MixedDataSet([line.cells**1, op2.GlobalDataSet(r)]) and u.dim == ((1,), (2,)) and u.halo_valid
    assert u.norm == pytest.approx(np.sqrt(25 + 55)) and u.inner(u) == pytest.approx(80)
    w = u + u
    assert isinstance(w[1], op2.Global) and w[1].data_ro.tolist() == [6, 8] and op2.MixedDat(u.dataset)[1].data_ro.tolist() == [0, 0]
    w.axpy(-1.0, u)
    w *= 2
    assert w[1].data_ro.tolist() == [6, 8] and r.data_ro.tolist() == [3, 4] and op2.MixedDat(u)[1].data_ro.tolist() == [3, 4]
    w.save(tmp_path / "w")
    u.load(tmp_path / "w")
    assert r.data_ro.tolist() == [6, 8]
    u.zero()
    assert u.norm == 0
    with pytest.raises(pl.errors.DataValueError, match="part 1 is a Global, but its counterpart is an object of type Dat"):
        u + line.u


def test_parts_that_do_not_fit_are_refused(line):
    with pytest.raises(pl.errors.DataValueError, match="expected data of 2 parts, not 1"):
        line.u + op2.MixedDat([line.p])
    with pytest.raises(pl.errors.DataValueError, match="expected data of 2 parts, not an object of type Dat; pass a MixedDat"):
        line.u.inner(line.p)
    with pytest.raises(TypeError):
        line.u + "one"
    with pytest.raises(pl.errors.MapTypeError, match="data of 2 parts needs a MixedMap, not the Map `own`"):
        line.u(op2.READ, line.own)
    with pytest.raises(pl.errors.MapValueError, match="data of 2 parts needs a MixedMap with the same number of maps, not 1"):
        line.u(op2.READ, [line.own])
    with pytest.raises(pl.errors.MapValueError, match="part `r` is a Global, which is the same for all elements; use None instead of map `ends`"):
        op2.MixedDat([line.p, op2.Global(1, 0.0, name="r")])(op2.READ, line.both)


def test_files_have_all_parts_one_after_the_other(line, tmp_path):
    expected = line.u.data_ro
    line.u.save(tmp_path / "u")
    assert np.load(tmp_path / "u.npy").tolist() == [*expected[0], *expected[1].ravel()]
    other = op2.MixedDat(line.dataset)
    other.load(tmp_path / "u.npy")
    assert all((a == b).all() for a, b in zip(other.data_ro, expected))
    with pytest.raises(pl.errors.DataValueError, match="have 5 numbers without ghosts, but .*u.npy has 17"):
        op2.MixedDat([line.cells]).load(tmp_path / "u")
    np.save(tmp_path / "f.npy", np.full(17, 0.5))
    with pytest.raises(pl.errors.DataValueError, match="numbers of type float64 do not all fit into int32"):
        op2.MixedDat(line.dataset, np.int32).load(tmp_path / "f")


def test_halos_are_those_of_the_parts(line):
    assert line.u.halo_valid
    line.p.halo_valid = False
    assert not line.u.halo_valid
    line.u.halo_valid = True
    assert line.p.halo_valid and line.v.halo_valid
    with line.u.frozen_halo(op2.INC):
        with pytest.raises(pl.errors.ModeValueError):
            line.v(op2.READ, line.ends)
    line.v(op2.READ, line.ends)
    version = line.u.dat_version
    line.u.data
    assert line.u.dat_version == version + 2


# Loops


def test_a_kernel_gets_the_parts_one_after_the_other(context, line):
    seen = op2.Dat(line.cells**5, name="seen")
    look = op2.Kernel("void look(double *seen, const double *u) { for (int i = 0; i < 5; i++) seen[i] = u[i]; }", "look")
    op2.par_loop(look, line.cells, seen(op2.WRITE), line.u(op2.READ, line.both))
    assert np.array_equal(seen.data_ro, line.local)


def test_increments_are_added_to_each_part(context, line):
    result = op2.MixedDat(line.dataset)
    add = op2.Kernel("void add(double *r, const double *u) { for (int i = 0; i < 5; i++) r[i] += (i + 1) * u[i]; }", "add")
    op2.par_loop(add, line.cells, result(op2.INC, line.both), line.u(op2.READ, line.both))
    expected = np.zeros(17)
    np.add.at(expected, line.places, line.local * np.arange(1, 6))
    assert np.allclose(np.concatenate([values.ravel() for values in result.data_ro]), expected)
    assert result[0].dat_version == 1 == result[1].dat_version


def test_parts_are_written_and_changed_in_place(context, line):
    left = op2.MixedMap([line.own, op2.Map(line.cells, line.nodes, 1, np.arange(5), "left")])
    expected = [line.p.data_ro + 1, line.v.data_ro * 2]
    expected[1][-1] = line.v.data_ro[-1]
    change = op2.Kernel("void change(double *u) { u[0] += 1; u[1] *= 2; u[2] *= 2; }", "change")
    op2.par_loop(change, line.cells, line.u(op2.RW, left))
    assert all(np.array_equal(a, b) for a, b in zip(line.u.data_ro, expected))


def test_data_on_one_set_is_used_directly(context):
    s = op2.Set(4, "s")
    mixed = op2.MixedDat([op2.Dat(s, np.arange(4.0)), op2.Dat(s**2, np.ones((4, 2)))])
    op2.par_loop(op2.Kernel("void sum(double *m) { m[0] += m[1] + m[2]; }", "sum"), s, mixed(op2.RW))
    assert mixed[0].data_ro.tolist() == [2, 3, 4, 5]


def test_a_global_among_the_parts_is_summed_up(context, line):
    r = op2.Global(2, [1.0, 0.0], name="r")
    mixed = op2.MixedDat([op2.Dat(line.nodes, name="n"), r])
    count = op2.Kernel("void count(double *m, const double *p) { m[0] += 1; m[1] += 1; m[2] += p[0]; m[3] += 1; }", "count")
    op2.par_loop(count, line.cells, mixed(op2.INC, op2.MixedMap([line.ends, None])), line.p(op2.READ))
    assert mixed[0].data_ro.tolist() == [1, 2, 2, 2, 2, 1] and r.data_ro.tolist() == [16, 5]


def test_several_mixed_arguments_stand_beside_others(context, line):
    total = op2.Global(1, 0.0, name="total")
    code = "void work(const double *u, double *total, const double *v[2], const double *w) { for (int i = 0; i < 5; i++) total[0] += u[i] * w[i]; total[0] += v[1][0]; }"
    op2.par_loop(op2.Kernel(code, "work"), line.cells, line.u(op2.READ, line.both), total(op2.INC), line.v(op2.READ, line.ends), line.u(op2.READ, line.both))
    assert total.data_ro[0] == pytest.approx((line.local**2).sum() + line.v.data_ro[line.ends.values[:, 1], 0].sum())


# Matrices


OUTER = "void outer(double a[5][5], const double *u) { for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j++) a[i][j] += u[i] * (u[j] + j); }"


def whole(line):
    expected = np.zeros((17, 17))
    for places, u in zip(line.places, line.local):
        np.add.at(expected, np.ix_(places, places), np.outer(u, u + np.arange(5)))
    return expected


def random_mat(line, seed=0):
    """A matrix with numbers in all stored places, and its dense form."""
    mat = op2.MixedMat(op2.MixedSparsity(line.dataset, line.both), name="a")
    generator = np.random.default_rng(seed)
    for block in mat:
        block.data[...] = generator.random(block.data_ro.shape)
    return mat, mat.values


def test_a_mixed_sparsity_is_a_grid_of_sparsities(line):
    sparsity = op2.MixedSparsity(line.dataset, line.both, "grid")
    assert sparsity.shape == (2, 2) and sparsity.dsets == (line.dataset, line.dataset) and sparsity.name == "grid"
    assert [block.nz for block in sparsity] == [5, 10, 10, 16] and sparsity.nz == 41 and sparsity[0] == sparsity.blocks[0]
    assert sparsity[1, 0].dsets == (line.nodes**2, line.cells**1) and sparsity.maps[1, 0] == [(line.ends, line.own)]
    assert repr(sparsity) == "<MixedSparsity 'grid': 2 × 2 parts, 41 blocks stored>"
    some = op2.MixedSparsity((line.dataset, line.dataset), {(0, 1): [(line.own, line.ends)]})
    assert [block.nz for block in some] == [5, 10, 0, 6]
    tall = op2.MixedSparsity((line.dataset, line.cells), [(line.both, line.own)])
    assert tall.shape == (2, 1) and [block.block_shape for block in tall] == [(1, 1), (2, 1)]


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda x: op2.MixedSparsity("x", x.both), pl.errors.DataSetTypeError, "a MixedSparsity needs two data sets, not 'x'; give a MixedDataSet or a DataSet"),
        (lambda x: op2.MixedSparsity((x.dataset,) * 3, x.both), pl.errors.DataSetTypeError, "a MixedSparsity needs two data sets, but 3 were given"),
        (lambda x: op2.MixedSparsity(x.dataset, {(0, 2): []}), pl.errors.MapValueError, "maps were given for block (0, 2), but there are 2 × 2 blocks"),
        (lambda x: op2.MixedSparsity(x.dataset, [(x.own, x.both)]), pl.errors.MapValueError, "a side of 2 parts needs 2 maps, not 1"),
        (lambda x: op2.MixedSparsity(x.dataset, [("own", x.both)]), pl.errors.MapTypeError, "expected a Map or a MixedMap, not 'own'"),
        (lambda x: op2.MixedMat(x.dataset), pl.errors.SparsityTypeError, "a MixedMat needs a MixedSparsity, not an object of type MixedDataSet"),
        (lambda x: random_mat(x)[0](op2.INC, (x.both, x.both), []), pl.errors.MapValueError, "lgmaps are needed for 4 blocks, but 0 were given"),
        (lambda x: random_mat(x)[0].mult(x.p), pl.errors.DataValueError, "a product with 2 parts of a matrix needs data of 2 parts, not data of 1 parts"),
        (lambda x: random_mat(x)[0].mult(x.u, x.u), pl.errors.DataValueError, "the product with matrix `a` cannot overwrite the factor; pass a different y"),
        (lambda x: random_mat(x)[0].zero_rows([11]), pl.errors.IndexValueError, "matrix `a` has 11 rows of blocks, not one with number 11"),
        (lambda x: random_mat(x)[0].set_values([0], [17], [1]), pl.errors.IndexValueError, "matrix `a` has 17 columns, not one with number 17"),
    ],
)  # fmt: skip
def test_what_does_not_fit_a_mixed_matrix_is_refused(line, make, error, text):
    with pytest.raises(error) as caught:
        make(line)
    assert str(caught.value) == text


def test_products_are_those_of_the_whole(context, line):
    mat, dense = random_mat(line)
    assert mat.shape == dense.shape == (17, 17) and (mat.nblock_rows, mat.nblock_cols) == (11, 11)
    u = np.concatenate([values.ravel() for values in line.u.data_ro])
    for product, expected in ((mat @ line.u, dense @ u), (mat.mult(line.u, transposed=True), dense.T @ u)):
        assert np.allclose(np.concatenate([values.ravel() for values in product.data_ro]), expected)
    y = op2.MixedDat(line.dataset)
    assert mat.mult(line.u, y) is y and np.allclose(y.data_ro[0], (dense @ u)[:5])
    wide = op2.MixedMat(op2.MixedSparsity((line.cells, line.dataset), [(line.own, line.both)]))
    wide[0, 0].set_local_diagonal_entries(range(5), 2.0)
    assert (wide @ line.u).data_ro.tolist() == (2 * line.p.data_ro).tolist()
    assert np.allclose(mat.to_scipy() @ u, dense @ u)


def test_a_product_needs_a_place_for_each_part(line):
    r = op2.Dat(line.cells, name="r")
    twice = op2.MixedDataSet([line.cells, line.cells])
    mat = op2.MixedMat(op2.MixedSparsity(twice, op2.MixedMap([line.own, line.own])), name="a")
    with pytest.raises(pl.errors.DataValueError) as caught:
        mat.mult(op2.MixedDat(twice), op2.MixedDat([r, r]))
    assert str(caught.value) == "the product with matrix `a` needs separate memory for each part, but `r` appears twice in y"
    assert (mat @ op2.MixedDat([r, r])).norm == 0


@pytest.mark.parametrize(
    "make, what",
    [
        (lambda x: op2.Dat(x.cells**2, name="w"), "on another set"),
        (lambda x: op2.Dat(x.nodes, name="w"), "of another dimension"),
        (lambda x: op2.Global(2, [0.0, 0.0], name="w"), "on another set"),
    ],
)  # fmt: skip
def test_a_product_that_is_refused_changes_nothing(line, make, what):
    mat, _ = random_mat(line)
    other, y = op2.MixedDat([op2.Dat(line.cells, np.ones(5)), make(line)]), op2.MixedDat(line.dataset)
    for x, to in ((line.u, other), (other, y)):
        with pytest.raises(pl.errors.DataValueError) as caught:
            mat.mult(x, to)
        assert str(caught.value) == f"matrix `a` cannot be multiplied with `w`: part 1 of the matrix is {what}"
    assert other[0].data_ro.tolist() == [1] * 5 and y.norm == 0
    with pytest.raises(pl.errors.DataValueError, match="part 0 of the matrix is of another type"):
        mat @ op2.MixedDat(line.dataset, np.float32)


def test_rows_and_entries_are_changed_by_their_numbers_in_the_whole(line):
    mat, dense = random_mat(line)
    mat.zero_rows([1, 6], 3.0)
    dense[[1, 7, 8]] = 0
    dense[[1, 7, 8], [1, 7, 8]] = 3
    assert np.array_equal(mat.values, dense)
    mat.zero_rows(line.nodes(0), 2.0, idx=1)
    dense[6], dense[6, 6] = 0, 2
    mat.set_local_diagonal_entries([0, 5], 9.0)
    mat.inc_local_diagonal_entries([0], 1.0)
    dense[[0, 5, 6], [0, 5, 6]] = [10, 9, 9]
    mat.addto_values([2, 9, -1], [2, 9], [[1, 2], [3, 4], [5, 6]])
    dense[np.ix_([2, 9], [2, 9])] += [[1, 2], [3, 4]]
    mat.set_values([3], [3, 11], [[7, 8]])
    dense[3, [3, 11]] = [7, 8]
    assert np.allclose(mat.values, dense)
    mat.zero()
    assert not mat.values.any()
    twice = op2.MixedDataSet([line.cells, line.cells])
    with pytest.raises(pl.errors.IndexValueError, match="2 parts of the rows of `b` are on the set `cells` of the subset; pass row numbers"):
        op2.MixedMat(op2.MixedSparsity(twice, [line.own] * 0), name="b").zero_rows(line.cells(0))


@pytest.mark.parametrize(
    "change, text",
    [
        (lambda a: a.zero_rows([0, 2], 3.0, idx=1), "a block of matrix `a[1, 1]` has no component 1; it has 1 rows"),
        (lambda a: a.zero_rows([0, 2], 0.0, idx=1), "a block of matrix `a[1, 0]` has no component 1; it has 1 rows"),
        (lambda a: a.zero_rows([0, 4]), "matrix `a` has 3 × 2 parts, so the rows of part 2 have no diagonal"),
        (lambda a: a.set_local_diagonal_entries([0, 2], 3.0, 1), "a block of matrix `a[1, 1]` has no component 1; it has 1 rows"),
        (lambda a: a.inc_local_diagonal_entries([0, 4], 3.0), "matrix `a` has 3 × 2 parts, so the rows of part 2 have no diagonal"),
        (lambda a: a.set_values([0], [0, 5], [[5, 6]]), "matrix `a[0, 1]` does not store a block in row 0 and column 1"),
        (lambda a: a.addto_values([0, 5], [0], [[5], [6]]), "matrix `a[1, 0]` does not store a block in row 1 and column 0"),
    ],
)  # fmt: skip
def test_what_does_not_fit_a_later_part_of_a_matrix_changes_no_part(change, text):
    s = op2.Set(2, "s")
    own = op2.Map(s, s, 1, [0, 1], "own")
    columns = op2.MixedDataSet([s**2, s])
    mat = op2.MixedMat(op2.MixedSparsity((op2.MixedDataSet([*columns, s**2]), columns), {(0, 0): [(own, own)], (1, 1): [(own, own)]}), name="a")
    for block in mat:
        block.data[...] = 1
    before = mat.values
    with pytest.raises(pl.errors.IndexValueError) as caught:
        change(mat)
    assert str(caught.value) == text and np.array_equal(mat.values, before)
    with pytest.raises(TypeError):
        mat.zero_rows([0], idx=0.5)
    assert np.array_equal(mat.values, before)


def test_a_mixed_matrix_is_assembled_as_a_whole(context, line):
    mat = op2.MixedMat(op2.MixedSparsity(line.dataset, line.both))
    op2.par_loop(op2.Kernel(OUTER, "outer"), line.cells, mat(op2.INC, (line.both, line.both)), line.u(op2.READ, line.both))
    mat.assemble()
    assert np.allclose(mat.values, whole(line))
    assert np.allclose(mat[1, 0].values, whole(line)[5:, :5])


def test_rows_and_columns_that_are_dropped_get_nothing(context, line):
    mat = op2.MixedMat(op2.MixedSparsity(line.dataset, line.both))
    cells, nodes = np.arange(5), np.arange(6)
    nodes[0] = -1
    lgmaps = [(cells, cells), (cells, nodes), (nodes, cells), (nodes, nodes)]
    op2.par_loop(op2.Kernel(OUTER, "outer"), line.cells, mat(op2.INC, (line.both, line.both), lgmaps), line.u(op2.READ, line.both))
    expected = whole(line)
    expected[5:7] = 0
    expected[:, 5:7] = 0
    assert np.allclose(mat.values, expected)


def test_one_side_can_have_one_part(context, line):
    mat = op2.MixedMat(op2.MixedSparsity((line.dataset, line.cells), [(line.both, line.own)]))
    row = op2.Kernel("void column(double a[5][1], const double *u) { for (int i = 0; i < 5; i++) a[i][0] += u[i]; }", "column")
    op2.par_loop(row, line.cells, mat(op2.INC, (line.both, line.own)), line.u(op2.READ, line.both))
    expected = np.zeros((17, 5))
    for cell, (places, u) in enumerate(zip(line.places, line.local)):
        expected[places, cell] += u
    assert np.allclose(mat.values, expected)


def test_rows_and_columns_can_be_globals(context, line):
    r = op2.Global(1, 2.0, name="r")
    u = op2.MixedDat([line.p, r])
    maps = op2.MixedMap([line.own, None])
    mat = op2.MixedMat(op2.MixedSparsity(u.dataset, maps))
    border = op2.Kernel("void border(double a[2][2], const double *p) { a[0][0] += p[0]; a[0][1] += 1; a[1][0] += 2; a[1][1] += 3; }", "border")
    op2.par_loop(border, line.cells, mat(op2.INC, (maps, maps)), line.p(op2.READ))
    p = line.p.data_ro
    expected = np.block([[np.diag(p), np.ones((5, 1))], [np.full((1, 5), 2.0), np.full((1, 1), 15.0)]])
    assert np.allclose(mat.values, expected)
    product = mat @ u
    assert np.allclose(product[0].data_ro, p * p + 2) and isinstance(product[1], op2.Global) and product[1].data_ro.tolist() == [2 * p.sum() + 30]


def test_blocks_of_globals_need_no_maps(line):
    r = op2.Global(2, [0.0, 0.0], name="r")
    dataset = op2.MixedDataSet([line.cells, op2.GlobalDataSet(r)])
    sparsity = op2.MixedSparsity(dataset, {(0, 1): [(line.own, None)], (1, 1): [(None, None)]})
    assert [block.nz for block in sparsity] == [5, 5, 0, 1] and sparsity[1, 1].block_shape == (2, 2)
    with pytest.raises(pl.errors.MapValueError, match="a matrix argument needs at least one Map, which determines its iteration set"):
        op2.MixedMat(op2.MixedSparsity(op2.MixedDataSet([op2.GlobalDataSet(r)]), {}))(op2.INC, (None, None))


@pytest.mark.parametrize("method, preconditioner", [("cg", "jacobi"), ("cg", None), ("gmres", "jacobi"), ("gmres", None)])
def test_systems_of_several_parts_are_solved_as_scipy_solves_them(context, line, method, preconditioner):
    sparse = pytest.importorskip("scipy.sparse.linalg")
    mat = op2.MixedMat(op2.MixedSparsity(line.dataset, line.both), name="a")
    skew = 0 if method == "cg" else 1
    code = f"""void local(double a[5][5]) {{
      for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
          a[i][j] += (i == j) * (6 + i) - 0.5 + {skew} * (i < j);
    }}"""
    op2.par_loop(op2.Kernel(code, "local"), line.cells, mat(op2.INC, (line.both, line.both)))
    x, b = op2.MixedDat(line.dataset), np.concatenate([values.ravel() for values in line.u.data_ro])
    solution = op2.solve(mat, x, line.u, method, preconditioner, rtol=1e-12)
    found = np.concatenate([values.ravel() for values in x.data_ro])
    assert solution.converged and solution.residuals[-1] <= 1e-12 * np.linalg.norm(b)
    assert np.allclose(found, sparse.spsolve(mat.to_scipy().tocsc(), b), rtol=1e-9)
    assert np.array_equal(np.concatenate([values.ravel() for values in line.u.data_ro]), b)


def test_a_saddle_point_problem_with_a_multiplier_is_solved(context, line):
    """The means of neighbours under a constraint on their sum."""
    sparse = pytest.importorskip("scipy.sparse.linalg")
    multiplier = op2.Global(1, 0.0, name="multiplier")
    data = op2.MixedDataSet([line.nodes, op2.GlobalDataSet(multiplier)])
    maps = op2.MixedMap([line.ends, None])
    mat = op2.MixedMat(op2.MixedSparsity(data, maps), name="saddle")
    code = "void local(double a[3][3]) { a[0][0] += 2; a[0][1] -= 1; a[1][0] -= 1; a[1][1] += 2; a[0][2] += 1; a[1][2] += 1; a[2][0] += 1; a[2][1] += 1; }"
    op2.par_loop(op2.Kernel(code, "local"), line.cells, mat(op2.INC, (maps, maps)))
    x, b = op2.MixedDat([op2.Dat(line.nodes), multiplier]), op2.MixedDat([op2.Dat(line.nodes, np.arange(6.0)), op2.Global(1, 6.0)])
    assert op2.solve(mat, x, b, "gmres", None, rtol=1e-12).converged
    expected = sparse.spsolve(mat.to_scipy().tocsc(), np.arange(7.0))
    assert np.allclose(x[0].data_ro, expected[:6]) and np.allclose(multiplier.data_ro, expected[6:])
    with pytest.raises(pl.errors.DataValueError, match="`saddle` cannot be solved: its diagonal has zeros, and the Jacobi preconditioner divides by the diagonal"):
        op2.solve(mat, x, b, "gmres")
    with pytest.raises(pl.errors.DataValueError, match="conjugate gradients need a positive definite matrix, but this one is not; use GMRES"):
        op2.solve(mat, op2.MixedDat(data), b, "cg", None)


def overlapping():
    """Two parts on one set over an array, and two others over the same array that begin elsewhere."""
    nodes, values = op2.Set(3, "nodes"), np.arange(1.0, 9)
    parts = [op2.Dat(nodes, values[:3], name="a"), op2.Dat(nodes, values[3:6], name="b")]
    return nodes, values, op2.MixedDat(parts), lambda *starts: op2.MixedDat([op2.Dat(nodes, values[at : at + 3]) for at in starts])


@pytest.mark.parametrize("starts", [(3, 0), (0, 3), (1, 2), (2, 4), (0, 1)])
def test_arithmetic_in_place_reads_what_was_there_before_in_whatever_data_has_the_memory(starts):
    changes = {
        "iadd": lambda u, v: u.__iadd__(v),
        "axpy": lambda u, v: u.axpy(1.0, v),
        "maxpy": lambda u, v: u.maxpy([0.5, 0.5], [v, [part + 0 for part in v]]),
    }
    for name, change in changes.items():
        _, values, u, over = overlapping()
        v, before = over(*starts), values.copy()
        change(u, v)
        assert np.array_equal(u[0].data_ro, before[:3] + before[starts[0] : starts[0] + 3]), name
        assert np.array_equal(u[1].data_ro, before[3:6] + before[starts[1] : starts[1] + 3]), name
    _, values, u, over = overlapping()
    v, before = over(*starts), values.copy()
    if abs(starts[0] - starts[1]) < 3:
        with pytest.raises(pl.errors.DataValueError, match="appears twice among the destinations, but cannot hold the values of both"):
            u.copy_to(v)
    else:
        u.copy_to(v)
        assert np.array_equal(values[starts[0] : starts[0] + 3], before[:3]) and np.array_equal(values[starts[1] : starts[1] + 3], before[3:6])


def test_a_factor_in_the_memory_of_a_part_keeps_its_number():
    nodes, values, u, _ = overlapping()
    u.axpy(op2.Global(1, values[1:2]), op2.MixedDat([op2.Dat(nodes, np.ones(3)), op2.Dat(nodes, np.ones(3))]))
    assert values.tolist() == [3, 4, 5, 6, 7, 8, 7, 8]


def test_products_and_solutions_are_not_put_where_they_are_read(line):
    mat, dense = random_mat(line)
    values = np.arange(1.0, 30)
    x = op2.MixedDat([op2.Dat(line.cells, values[:5]), op2.Dat(line.nodes**2, values[5:17].reshape(6, 2))])
    cells, nodes = op2.Dat(line.cells, values[15:20]), op2.Dat(line.nodes**2, np.zeros((6, 2)))
    with pytest.raises(pl.errors.DataValueError, match="the product with matrix `a` cannot overwrite the factor; pass a different y"):
        mat.mult(x, op2.MixedDat([cells, nodes]))
    with pytest.raises(pl.errors.DataValueError, match="`a` cannot be solved: x and b share memory"):
        op2.solve(mat, op2.MixedDat([cells, nodes]), x, "gmres")
    twice = op2.MixedDat([op2.Dat(line.cells, values[15:20]), op2.Dat(line.nodes**2, values[16:28].reshape(6, 2), name="w")])
    with pytest.raises(pl.errors.DataValueError, match="needs separate memory for each part, but `w` appears twice in y"):
        mat.mult(line.u, twice)
    with pytest.raises(pl.errors.DataValueError, match="`a` cannot be solved: two parts of x share memory"):
        op2.solve(mat, twice, line.u, "gmres")
    inside = op2.Dat(line.cells, mat[1, 0].data.reshape(-1)[:5], name="inside")
    assert np.shares_memory(inside.data_ro, mat[1, 0].data_ro)
    with pytest.raises(pl.errors.DataValueError, match="cannot overwrite the matrix; pass a y other than `inside`"):
        mat.mult(x, op2.MixedDat([inside, nodes]))
    product = mat.mult(x, op2.MixedDat([op2.Dat(line.cells, values[17:22]), nodes]))
    assert np.allclose(np.concatenate([part.ravel() for part in product.data_ro]), dense @ np.arange(1.0, 18))
    first = mat[0, 0]
    with pytest.raises(pl.MeshError, match="it shares memory with the factor; use other data"):
        first.mult(op2.Dat(line.cells, values[:5]), op2.Dat(line.cells, values[4:9]))


def test_solvers_refuse_parts_that_do_not_fit(line):
    mat, _ = random_mat(line)
    x = op2.MixedDat(line.dataset)
    with pytest.raises(pl.errors.DataValueError, match="a product with 2 parts of a matrix needs data of 2 parts, not data of 1 parts"):
        op2.solve(mat, line.p, line.u)
    with pytest.raises(pl.MeshError, match="`a\\[0, 0\\]` cannot be multiplied with `v`: it is on a different set than the matrix"):
        op2.solve(mat, op2.MixedDat([line.v, line.p]), line.u)
    with pytest.raises(pl.errors.DataValueError, match="`a` cannot be solved: x and b share memory; copy one of them"):
        op2.solve(mat, op2.MixedDat([x[0], line.v]), line.u)
    narrow = op2.MixedMat(op2.MixedSparsity((line.dataset, op2.MixedDataSet([line.cells])), [(line.both, op2.MixedMap([line.own]))]), name="narrow")
    with pytest.raises(pl.errors.DataValueError, match="`narrow` cannot be solved: it is not square"):
        op2.solve(narrow, line.p, line.u)


# Extruded sets


@pytest.fixture
def columns():
    """Two columns of three cells: four vertices of each, and one middle."""
    cells = op2.ExtrudedSet(op2.Set(2, "edges"), 4)
    vertices, middles = op2.Set(12, "vertices"), op2.Set(6, "middles")
    corners = op2.Map(cells, vertices, 4, [[0, 1, 4, 5], [4, 5, 8, 9]], "corners", offset=[1, 1, 1, 1])
    centre = op2.Map(cells, middles, 1, [[0], [3]], "centre", offset=[1])
    return cells, op2.MixedDataSet([vertices, middles]), op2.MixedMap([corners, centre])


def targets(column, layer):
    """The rows of the five targets of a cell in the whole."""
    return [4 * column + layer, 4 * column + layer + 1, 4 * column + layer + 4, 4 * column + layer + 5, 12 + 3 * column + layer]


def test_the_sizes_of_mixed_data_on_columns_count_cells():
    wall, s = op2.ExtrudedSet(op2.Set((1, 2, 3), "base"), 4), op2.Set((4, 5, 6), "s")
    mixed = op2.MixedDataSet([wall, s**2])
    assert (mixed.core_size, mixed.size, mixed.total_size) == (1 + 4, 2 * 3 + 5, 3 * 3 + 6)
    assert [len(values) for values in op2.MixedDat(mixed).data_with_halos] == [9, 6] and mixed.set.sizes == (5, 7, 9)


def test_mixed_arguments_are_those_of_each_cell_of_a_column(context, columns):
    cells, dataset, maps = columns
    x, mat = op2.MixedDat(dataset), op2.MixedMat(op2.MixedSparsity(dataset, maps))
    code = "void add(double *x, double a[5][5]) { for (int i = 0; i < 5; i++) { x[i] += i + 1; for (int j = 0; j < 5; j++) a[i][j] += 10 * i + j; } }"
    op2.par_loop(op2.Kernel(code, "add"), cells, x(op2.INC, maps), mat(op2.INC, (maps, maps)))
    vector, matrix = np.zeros(18), np.zeros((18, 18))
    for column in range(2):
        for layer in range(3):
            places = targets(column, layer)
            vector[places] += np.arange(1, 6)
            matrix[np.ix_(places, places)] += 10 * np.arange(5)[:, None] + np.arange(5)
    assert np.array_equal(np.concatenate(x.data_ro), vector) and np.array_equal(mat.values, matrix)


def test_a_mixed_sparsity_can_be_that_of_some_regions(columns):
    _, dataset, maps = columns
    bottom = op2.MixedSparsity(dataset, [(maps, maps, [op2.ON_BOTTOM])])
    corners = maps[0]
    assert bottom[0, 0].nz == op2.Sparsity(dataset[0], [(corners, corners, [op2.ON_BOTTOM])]).nz < op2.MixedSparsity(dataset, maps)[0, 0].nz
    assert bottom[1, 0].nz == 8 and bottom.maps[0, 0] == [(corners, corners)]
    some = op2.MixedSparsity(dataset, {(1, 0): [(maps[1], corners, [op2.ON_TOP])], (0, 1): [(corners, maps[1])]})
    assert [block.nz for block in some] == [12, 24, 8, 6]


def test_all_cells_of_a_column_lead_to_a_global(context, columns):
    cells, dataset, maps = columns
    dataset, maps = op2.MixedDataSet([dataset[1], op2.GlobalDataSet(op2.Global(1, 0.0))]), op2.MixedMap([maps[1], None])
    mat = op2.MixedMat(op2.MixedSparsity(dataset, maps))
    op2.par_loop(op2.Kernel("void one(double a[2][2]) { a[0][1] += 1; a[1][1] += 1; }", "one"), cells, mat(op2.INC, (maps, maps)))
    assert mat[0, 1].values.ravel().tolist() == [1] * 6 and mat[1, 1].values.tolist() == [[6]]
