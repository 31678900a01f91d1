"""`parloop.mesh` on every device, against NumPy; and every error once, word for word."""

import importlib.util
import operator
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import parloop as pl
import parloop.loops as lp
import parloop.mesh as op2
from meshes import Mesh


def refuses(error, message):
    return pytest.raises(error, match="^" + re.escape(message) + "$")


@pytest.fixture
def mesh():
    return Mesh()


class TestSets:
    def test_a_set_has_sizes_and_a_name(self):
        cells = op2.Set((2, 5, 9), "cells")
        assert (cells.core_size, cells.size, cells.total_size, cells.sizes, cells.name) == (2, 5, 9, (2, 5, 9), "cells")
        assert op2.Set(3).sizes == (3, 3, 3) and op2.Set(np.int32(3)).size == 3
        assert len(cells) == 1 and list(cells) == [cells] and op2.Set(3).name != op2.Set(3).name
        assert repr(cells) == "Set((2, 5, 9), 'cells')" and repr(op2.Set(4, "n")) == "Set(4, 'n')"
        assert cells.indices == range(9)

    def test_a_subset_is_sorted_has_each_element_once_and_counts_in_subsets_of_it(self):
        cells = op2.Set((2, 5, 9), "cells")
        some = cells(7, 3, 3, 0)
        assert isinstance(some, op2.Subset) and some.superset is cells and some.indices.tolist() == [0, 3, 7]
        assert some.sizes == (1, 2, 3) and some.owned_indices.tolist() == [0, 3] and some.indices.dtype == np.int32
        assert some([1, 2]).indices.tolist() == [3, 7] and some(1).superset is cells
        assert op2.Subset(cells, np.array([4], np.uint64)).indices.tolist() == [4] and cells([]).size == 0

    @given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
    def test_the_algebra_of_subsets_is_that_of_sets(self, a, b):
        cells = op2.Set(10)
        one, other = op2.Subset(cells, sorted(a)), op2.Subset(cells, sorted(b))
        assert set(one.union(other).indices) == a | b
        assert set(one.intersection(other).indices) == a & b
        assert set(one.difference(other).indices) == a - b
        assert set(one.symmetric_difference(other).indices) == a ^ b
        assert one.union(cells) is cells and set(cells.difference(one).indices) == set(range(10)) - a

    def test_a_data_set_knows_its_dimension(self):
        nodes = op2.Set(4, "nodes")
        data = nodes ** (2, 3)
        assert (data.dim, data.cdim, data.set, data.size) == ((2, 3), 6, nodes, 4)
        assert data == op2.DataSet(nodes, [2, 3], "other") and data != nodes**6 and data in nodes and hash(data) == hash(nodes ** (2, 3))
        assert op2.Dat(data) in data and repr(nodes**2) == "DataSet(Set(4, 'nodes'), 2)"

    @pytest.mark.parametrize(
        ("make", "error", "message"),
        [
            (lambda s: op2.Set("a", "n"), pl.errors.SizeTypeError, "the size of set `n` must be an integer or three of them (core, owned, total), not 'a'"),
            (lambda s: op2.Set(True, "n"), pl.errors.SizeTypeError, "the size of set `n` must be an integer or three of them (core, owned, total), not True"),
            (lambda s: op2.Set((1, 2), "n"), pl.errors.SizeTypeError, "the size of set `n` must be an integer or three of them (core, owned, total), not (1, 2)"),
            (lambda s: op2.Set(-1, "n"), pl.errors.SetValueError, "set `n` cannot have -1 elements; a size must be at least 0"),
            (lambda s: op2.Set((3, 2, 1), "n"), pl.errors.SetValueError, "set `n`: sizes must grow from core (3) to owned (2) to total (1)"),
            (lambda s: op2.Set(2**40, "n"), pl.errors.SetValueError, "set `n` cannot have 1099511627776 elements; a set has at most 2147483647"),
            (lambda s: op2.Set(1, 2), pl.errors.NameTypeError, "a name must be a string, not an object of type int"),
            (lambda s: s(5), pl.errors.SubsetIndexOutOfBounds, "index 5 is out of bounds for set `s` with 5 elements"),
            (lambda s: s(-1), pl.errors.SubsetIndexOutOfBounds, "index -1 is out of bounds for set `s` with 5 elements"),
            (lambda s: s(0.5), pl.errors.IndexTypeError, "elements of set `s` must be integers, not float64"),
            (lambda s: op2.Subset(s, 3), pl.errors.IndexTypeError, "the elements of a subset must be a list, a tuple or an array, not an object of type int"),
            (lambda s: op2.Subset("s", []), pl.errors.SetTypeError, "expected a Set, not an object of type str"),
            (lambda s: s.union(op2.Set(5, "t")), pl.errors.SetValueError, "subsets of `s` and of `t` cannot be combined; both must be subsets of one set"),
            (lambda s: s**-1, pl.errors.DimTypeError, "the dimension of `s` must be a non-negative integer or a tuple of them, not -1"),
            (lambda s: s ** (2, "a"), pl.errors.DimTypeError, "the dimension of `s` must be a non-negative integer or a tuple of them, not (2, 'a')"),
            (lambda s: s(1) ** 2, pl.errors.SetTypeError, "data cannot be put on a subset of `s`; put it on `s` and loop over the subset"),
        ],
    )  # fmt: skip
    def test_what_is_no_set_is_refused(self, make, error, message):
        with refuses(error, message):
            make(op2.Set(5, "s"))

    def test_errors_are_builtins_too(self):
        assert issubclass(pl.errors.SetValueError, ValueError) and issubclass(pl.errors.MapTypeError, TypeError) and issubclass(pl.errors.SubsetIndexOutOfBounds, TypeError)
        assert issubclass(pl.errors.ModeValueError, op2.MeshError) and issubclass(op2.MeshError, pl.ParloopError)


class TestMaps:
    @pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", ">i4", ">u8"])
    def test_a_map_takes_integers_of_any_type(self, dtype):
        edges, nodes = op2.Set((1, 2, 3), "edges"), op2.Set(4, "nodes")
        ends = op2.Map(edges, nodes, 2, np.array([0, 1, 1, 2, 2, 3], dtype), "ends")
        assert ends.values.tolist() == [[0, 1], [1, 2]] and ends.values_with_halo.tolist() == [[0, 1], [1, 2], [2, 3]]
        assert (ends.iterset, ends.toset, ends.arity, ends.name, ends.shape) == (edges, nodes, 2, "ends", (3, 2))
        assert not ends.values.flags.writeable and ends.values.dtype == np.int32

    def test_cuthill_mckee_numbers_neighbours_side_by_side(self):
        order = np.random.default_rng(7).permutation(100)
        edges, nodes = op2.Set(99, "edges"), op2.Set(100, "nodes")
        line = op2.Map(edges, nodes, 2, np.stack([order[:-1], order[1:]], 1))
        numbers = line.reverse_cuthill_mckee()
        assert sorted(numbers) == list(range(100)) and (abs(np.diff(numbers[line.values], axis=1)) == 1).all()

    @pytest.mark.parametrize(
        ("make", "error", "message"),
        [
            (lambda e, n: op2.Map(e, n, 2, [0, 1, 1, 3], "m"), pl.errors.MapValueError, "map `m`: entry [1, 1] is 3, but set `n` has 3 elements"),
            (lambda e, n: op2.Map(e, n, 2, [0, -1, 1, 2], "m"), pl.errors.MapValueError, "map `m`: entry [0, 1] is -1, but set `n` has 3 elements"),
            (lambda e, n: op2.Map(e, n, 2, [0, 0, 2**32, 2], "m"), pl.errors.MapValueError, "map `m`: entry [1, 0] is 4294967296, but set `n` has 3 elements"),
            (lambda e, n: op2.Map(e, n, 2, [0, 1, 1], "m"), pl.errors.DataValueError, "map `m` needs 2 × 2 values, but 3 were given"),
            (lambda e, n: op2.Map(e, n, 2, [0.0, 1, 1, 2], "m"), pl.errors.MapTypeError, "the values of map `m` must be integers, not numbers of type float64"),
            (lambda e, n: op2.Map(e, n, 0, [], "m"), pl.errors.ArityTypeError, "the arity of map `m` must be a positive integer, not 0"),
            (lambda e, n: op2.Map(e, n, "a", [], "m"), pl.errors.ArityTypeError, "the arity of map `m` must be a positive integer, not 'a'"),
            (lambda e, n: op2.Map(e, 3, 1), pl.errors.SetTypeError, "expected a Set, not an object of type int"),
            (lambda e, n: op2.Map(e(1), n, 1, [0], "m"), pl.errors.SetTypeError, "map `m` cannot start or end at a subset of `e`; use `e`"),
            (lambda e, n: op2.Map(e, n, 1, name="m").values, pl.errors.MapValueError, "map `m` has no values, so a loop cannot use it"),
        ],
    )  # fmt: skip
    def test_what_is_no_map_is_refused(self, make, error, message):
        with refuses(error, message):
            make(op2.Set(2, "e"), op2.Set(3, "n"))


class TestData:
    def test_an_array_of_the_right_type_is_shared_and_others_are_copied(self):
        nodes = op2.Set(3, "nodes")
        values = np.arange(3.0)
        op2.Dat(nodes, values).data[1] = 7
        assert values.tolist() == [0, 7, 2]
        for other in (np.arange(6.0)[::2], np.arange(3), [0.0, 1.0, 2.0], values.astype(">f8")):
            dat = op2.Dat(nodes, other, dtype=float)
            dat.data[0] = 9
            assert other[0] == 0 and dat.data_ro[0] == 9
        frozen = np.arange(3.0)
        frozen.flags.writeable = False
        op2.Dat(nodes, frozen).data[0] = 5
        assert frozen[0] == 0

    def test_data_has_shapes_views_and_a_version(self):
        nodes = op2.Set((1, 2, 3), "nodes")
        dat = op2.Dat(nodes ** (2, 2), np.arange(12), "float32", "u")
        assert (dat.shape, dat.dim, dat.cdim, dat.dtype, dat.nbytes, dat.name) == ((3, 2, 2), (2, 2), 4, np.float32, 48, "u")
        assert dat.data_ro.shape == (2, 2, 2) and dat.data_ro_with_halos.shape == (3, 2, 2) and dat.dat_version == 0
        assert not dat.data_ro.flags.writeable and dat.halo_valid
        dat.data[0, 0, 0] = 5
        assert dat.dat_version == 1 and not dat.halo_valid
        dat.halo_valid = True
        assert dat.halo_valid and op2.Dat(nodes).shape == (3,) and op2.Dat(nodes**1).data_ro.tolist() == [0, 0]
        assert dat.dataset == nodes ** (2, 2) and repr(dat).startswith("Dat(DataSet(Set((1, 2, 3), 'nodes'), (2, 2)), [[[")
        assert repr(dat).endswith(", dtype=float32, name='u')")

    def test_a_copy_has_its_own_numbers(self):
        dat = op2.Dat(op2.Set(3, "nodes") ** 2, np.arange(6.0), name="u")
        copy = op2.Dat(dat)
        dat.data[:] = -1
        assert copy.data_ro.tolist() == [[0, 1], [2, 3], [4, 5]] and copy.name == "copy_of_u" and copy.halo_valid

    def test_a_component_is_a_view(self):
        dat = op2.Dat(op2.Set(2, "nodes") ** (2, 2), np.arange(8.0), name="u")
        part = dat[0, 1]
        part.data[:] = 9
        assert dat.data_ro.reshape(2, 4).tolist() == [[0, 9, 2, 3], [4, 9, 6, 7]] and part.name == "u[0, 1]" and part.parent is dat
        part.zero()
        assert part.data_ro.tolist() == [0, 0] and part.dat_version == dat.dat_version and part.halo_valid and part.cdim == 1

    def test_data_is_saved_and_loaded(self, tmp_path):
        nodes = op2.Set(3, "nodes")
        op2.Dat(nodes, [1.0, 2, 3]).save(tmp_path / "a")
        dat = op2.Dat(nodes, name="u")
        dat.load(tmp_path / "a.npy")
        dat.load(str(tmp_path / "a"))
        assert dat.data_ro.tolist() == [1, 2, 3]
        with refuses(pl.errors.DataValueError, f"`v` has shape (2,) without ghosts, but {tmp_path / 'a.npy'} has (3,)"):
            op2.Dat(op2.Set(2), name="v").load(tmp_path / "a.npy")

    def test_a_global_has_operators_and_a_version(self):
        g = op2.Global((2, 2), [[1.0, 2], [3, 4]], name="g")
        assert (g + g).data_ro.tolist() == [[2, 4], [6, 8]] and (1 - g).data_ro.tolist() == [[0, -1], [-2, -3]]
        assert (-g / 2).data_ro.tolist() == [[-0.5, -1], [-1.5, -2]] and g.inner(g) == 30 and (g.dim, g.cdim, g.nbytes) == ((2, 2), 4, 32)
        g *= 2
        assert g.data_ro.tolist() == [[2, 4], [6, 8]] and g.dat_version == 1
        g.data = [1, 2, 3, 4]
        g.zero()
        assert g.dat_version == 3 and not g.data_ro.any() and isinstance(op2.Constant(1, 2.0) * 3, op2.Constant)
        assert repr(op2.Global(1, 2, name="n")) == "Global(1, [2], dtype=int64, name='n')"

    @pytest.mark.parametrize(
        ("make", "error", "message"),
        [
            (lambda s: op2.Dat(s, [1, 2]), pl.errors.DataValueError, "5 numbers are needed, but 2 were given"),
            (lambda s: op2.Dat(s, [0.5] * 5, int), pl.errors.DataValueError, "numbers of type float64 do not all fit into int64; convert them first"),
            (lambda s: op2.Dat(s, [300] * 5, "int8"), pl.errors.DataValueError, "numbers of type int64 do not all fit into int8; convert them first"),
            (lambda s: op2.Dat(s, [1j] * 5, float), pl.errors.DataValueError, "numbers of type complex128 do not all fit into float64; convert them first"),
            (lambda s: op2.Dat(s, ["a"] * 5), pl.errors.DataTypeError, "numbers of type <U1 are not supported"),
            (lambda s: op2.Dat(s, dtype="foo"), pl.errors.DataTypeError, "data type 'foo' not understood"),
            (lambda s: op2.Dat(3), pl.errors.DataSetTypeError, "a Dat needs a Set or a DataSet, not an object of type int"),
            (lambda s: op2.Dat(s, name=3), pl.errors.NameTypeError, "a name must be a string, not an object of type int"),
            (lambda s: op2.Dat(s**2, name="u")[2], pl.errors.IndexValueError, "data `u` of dimension [2] has no component 2"),
            (lambda s: op2.Dat(s**2, name="u")["a"], pl.errors.IndexTypeError, "a component of `u` must be an integer, not an object of type str"),
            (lambda s: op2.Dat(s)(3), pl.errors.ModeValueError, "an access must be READ, WRITE, RW, INC, MIN or MAX, not an object of type int"),
            (lambda s: op2.Dat(s)(op2.READ, 3), pl.errors.MapTypeError, "expected a Map, not an object of type int"),
            (lambda s: op2.Dat(s, name="u")(op2.READ, op2.Map(s, op2.Set(2, "t"), 1)), pl.errors.MapValueError, "data `u` is on set `s`, but the map leads to `t`"),
            (lambda s: op2.Global(1, name="g")(op2.WRITE), pl.errors.ModeValueError, "WRITE is not allowed for `g`, which is a Global, only READ, INC, MIN, MAX"),
            (lambda s: op2.Constant(1, name="c")(op2.INC), pl.errors.ModeValueError, "INC is not allowed for `c`, which is a Constant, only READ"),
            (lambda s: op2.Global(0, name="g"), pl.errors.DimTypeError, "the dimension of `g` must be a positive integer or a tuple of them, not 0"),
            (lambda s: op2.Dat(s).copy_to(3), pl.errors.DatTypeError, "expected a Dat, not an object of type int"),
            (lambda s: op2.Dat(s).unfreeze_halo.__self__.freeze_halo(2), pl.errors.ModeValueError, "an access must be READ, WRITE, RW, INC, MIN or MAX, not an object of type int"),
        ],
    )  # fmt: skip
    def test_what_is_no_data_is_refused(self, make, error, message):
        with refuses(error, message):
            make(op2.Set(5, "s"))

    def test_frozen_data_is_used_with_one_access_only(self):
        dat = op2.Dat(op2.Set(2), name="u")
        with dat.frozen_halo(op2.INC):
            dat(op2.INC)
            with refuses(pl.errors.ModeValueError, "`u` is frozen for INC, so READ is not allowed; unfreeze it first"):
                dat(op2.READ)
            with refuses(pl.errors.ModeValueError, "`u` is already frozen"):
                dat.freeze_halo(op2.INC)
        dat(op2.READ)
        with refuses(pl.errors.ModeValueError, "`u` is not frozen"):
            dat.unfreeze_halo()


MIDPOINT = """
void midpoint(double p[2], double *x[2]) {
    for (int d = 0; d < 2; d++)
        p[d] = (x[0][d] + x[1][d] + x[2][d]) / 3;
}"""

AREA = """
static double cross(const double *a, const double *b, const double *c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}
void area(double *lumped, double *total, double *largest, const double *x) {
    double a = cross(x, x + 2, x + 4) / 2;
    for (int i = 0; i < 3; i++)
        lumped[i] += a / 3;
    total[0] += a;
    if (a > largest[0])
        largest[0] = a;
}"""


class TestLoops:
    def test_the_documented_example_runs_on_every_device(self, ctx, mesh):
        middle = op2.Dat(mesh.cells**2)
        with ctx:
            op2.par_loop(op2.Kernel(MIDPOINT, "midpoint"), mesh.cells, middle(op2.WRITE), mesh.x(op2.READ, mesh.map))
        np.testing.assert_allclose(middle.data_ro, mesh.coordinates[mesh.table].mean(1), rtol=1e-15)

    @pytest.mark.parametrize("deterministic", [False, True])
    def test_increments_sums_and_extremes_are_those_of_numpy(self, ctx, mesh, deterministic):
        lumped = op2.Dat(mesh.nodes, np.full(mesh.nodes.size, 0.25))
        total, largest = op2.Global(1, 10.0), op2.Global(1, -1.0)
        loop = op2.ParLoop(
            op2.Kernel(AREA, "area"), mesh.cells, lumped(op2.INC, mesh.map), total(op2.INC), largest(op2.MAX), mesh.x(op2.READ, mesh.map),
            deterministic=deterministic, context=ctx,
        )  # fmt: skip
        loop()
        loop.compute()
        expected = np.full(mesh.nodes.size, 0.25)
        np.add.at(expected, mesh.table, 2 * 0.5 / 3)
        np.testing.assert_allclose(lumped.data_ro, expected, rtol=1e-14)
        assert total.data_ro[0] == pytest.approx(10 + 2 * 0.5 * mesh.cells.size) and largest.data_ro[0] == 0.5
        assert lumped.dat_version == 2 and mesh.x.dat_version == 0

    @pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint32", "uint64"])
    def test_numbers_of_many_types_are_added_up(self, ctx, mesh, dtype):
        name = {"float32": "float", "float64": "double"}.get(dtype, dtype + "_t")
        count = op2.Dat(mesh.nodes, dtype=dtype)
        kernel = op2.Kernel(f"void k({name} *n) {{ for (int i = 0; i < 3; i++) n[i] += 1; }}", "k", headers=["#include <stdint.h>"])
        op2.par_loop(kernel, mesh.cells, count(op2.INC, mesh.map), context=ctx)
        assert count.data_ro.tolist() == np.bincount(mesh.table.ravel()).tolist()

    @pytest.mark.parametrize("form", ['#include "value.h"', '#include"value.h"', "#include <value.h>", "# include<value.h>", "/* a */ #include <value.h>"])
    @pytest.mark.parametrize("how", ["include_dirs", "headers", "opts"])
    def test_a_file_that_is_included_and_changes_is_another_kernel(self, tmp_path, form, how):
        if form.startswith("/*") and how != "opts":
            pytest.skip("only a compiler finds this one")
        cells = op2.Set(2)
        where = {"opts": {"opts": [f"-I{tmp_path}"]}}.get(how, {"include_dirs": [tmp_path]})

        def kernel():
            code = "void k(double *x) { x[0] = VALUE; }"
            if how == "headers":
                return op2.Kernel(code, "k", headers=[form], **where)
            return op2.Kernel(form + "\n" + code, "k", **where)

        for value in (1, 2, 3):
            (tmp_path / "value.h").write_text(f"#define VALUE {value}\n")
            x = op2.Dat(cells)
            op2.par_loop(kernel(), cells, x(op2.WRITE), context="cpu:1")
            assert x.data_ro.tolist() == [value, value]

    def test_minima_and_maxima_of_cells_reach_their_nodes(self, ctx, mesh):
        value = np.random.default_rng(2).integers(0, 1000, mesh.cells.size)
        on_cells = op2.Dat(mesh.cells, value, "int64")
        low, high = op2.Dat(mesh.nodes, np.full(mesh.nodes.size, 500), "int64"), op2.Dat(mesh.nodes, dtype="int64")
        kernel = op2.Kernel(
            "void k(int64_t **low, int64_t **high, int64_t *v) { for (int i = 0; i < 3; i++) { low[i][0] = low[i][0] < v[0] ? low[i][0] : v[0];"
            " high[i][0] = high[i][0] > v[0] ? high[i][0] : v[0]; } }", "k")  # fmt: skip
        op2.par_loop(kernel, mesh.cells, low(op2.MIN, mesh.map), high(op2.MAX, mesh.map), on_cells(op2.READ), context=ctx)
        least, most = np.full(mesh.nodes.size, 500), np.zeros(mesh.nodes.size, int)
        np.minimum.at(least, mesh.table, value[:, None])
        np.maximum.at(most, mesh.table, value[:, None])
        assert low.data_ro.tolist() == least.tolist() and high.data_ro.tolist() == most.tolist()

    def test_a_loop_over_a_subset_runs_for_its_elements_only(self, ctx):
        cells = op2.Set((10, 20, 30), "cells")
        x = op2.Dat(cells, dtype="int32")
        kernel = op2.Kernel("void k(int *x) { x[0] += 1; }", "k")
        op2.par_loop(kernel, cells(3, 7, 25), x(op2.RW), context=ctx)
        assert np.flatnonzero(x.data_ro_with_halos).tolist() == [3, 7]
        op2.par_loop(kernel, cells, x(op2.RW), context=ctx)
        assert x.data_ro_with_halos.sum() == 22
        op2.par_loop(kernel, cells([]), x(op2.RW), context=ctx)
        assert x.data_ro_with_halos.sum() == 22

    def test_a_component_is_all_that_a_kernel_sees(self, ctx, mesh):
        u = op2.Dat(mesh.nodes**3)
        op2.par_loop(op2.Kernel("void k(double *u) { u[0] = 7; }", "k"), mesh.nodes, u[1](op2.WRITE), context=ctx)
        assert (u.data_ro == [0, 7, 0]).all()
        op2.par_loop(op2.Kernel("void k(double *u) { u[0] += 1; u[1] += 1; u[2] += 1; }", "k"), mesh.cells, u[2](op2.INC, mesh.map), context=ctx)
        assert (u.data_ro[:, 2] == np.bincount(mesh.table.ravel())).all() and (u.data_ro[:, 1] == 7).all()

    def test_a_loop_kernel_is_a_kernel(self, ctx, mesh):
        program = lp.make_kernel(
            "{[i]: 0<=i<3}", "out[0] = sum(i, x[i])",
            [lp.GlobalArg("out", np.float64, shape=(1,)), lp.GlobalArg("x", np.float64, shape=(3,))], name="total")  # fmt: skip
        values = np.random.default_rng(3).random(mesh.nodes.size)
        on_nodes, on_cells = op2.Dat(mesh.nodes, values), op2.Dat(mesh.cells)
        op2.par_loop(op2.Kernel(program, "total"), mesh.cells, on_cells(op2.WRITE), on_nodes(op2.READ, mesh.map), context=ctx)
        np.testing.assert_allclose(on_cells.data_ro, values[mesh.table].sum(1), rtol=1e-15)

    def test_data_that_is_only_read_is_not_changed(self, ctx, mesh):
        before = mesh.x.data_ro.copy()
        out = op2.Dat(mesh.cells)
        kernel = op2.Kernel("void k(double *out, double *x) { x[0] = 99; out[0] = x[0] + x[1]; }", "k")
        op2.par_loop(kernel, mesh.cells, out(op2.WRITE), mesh.x(op2.READ, mesh.map), context=ctx)
        assert (mesh.x.data_ro == before).all() and mesh.x.dat_version == 0 and (out.data_ro == 99 + before[mesh.table[:, 0], 1]).all()

    def test_data_moves_when_it_must(self, ctx, mesh):
        u = op2.Dat(mesh.nodes, np.arange(float(mesh.nodes.size)))
        twice = op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice")
        op2.par_loop(twice, mesh.nodes, u(op2.RW), context=ctx)
        op2.par_loop(twice, mesh.nodes, u(op2.RW), context="cpu:1")
        u.data[0] = 5
        op2.par_loop(twice, mesh.nodes, u(op2.RW), context=ctx)
        expected = 8 * np.arange(float(mesh.nodes.size))
        expected[0] = 10
        assert (u.data_ro == expected).all()

    def test_data_that_is_replaced_is_not_fetched_and_what_is_not_shown_is_kept(self, gpu, tmp_path):
        def on_device(size, dim):
            x = op2.Dat(op2.Set(size) ** dim, np.zeros(size[-1] * dim))
            op2.par_loop(op2.Kernel(f"void k(double *x) {{ for (int i = 0; i < {dim}; i++) x[i] += 5; }}", "k"), x.dataset.set, x(op2.RW), context=gpu)
            return x

        # Old numbers of the host are what no transfer has overwritten.
        x = on_device((3, 3, 3), 2)
        array = x.data_wo
        assert (array == 0).all() and x.dat_version == 2
        array[:2] = 7
        assert x.data_ro.tolist() == [[7, 7], [7, 7], [0, 0]]
        op2.par_loop(op2.Kernel("void k(double *x) { x[0] += 1; }", "k"), x.dataset.set, x(op2.RW), context=gpu)
        assert x.data_ro.tolist() == [[8, 7], [8, 7], [1, 0]]
        assert (on_device((3, 3, 3), 1)[0].data_wo == 0).all() and (on_device((1, 2, 2), 2).data_wo_with_halos == 0).all()

        x = on_device((3, 3, 3), 2)
        x[0].data_wo[:] = 7
        assert x.data_ro.tolist() == [[7, 5]] * 3
        x = op2.Dat(op2.Set((1, 2, 3)), [1.0, 2.0, 3.0])
        op2.par_loop(op2.Kernel("void k(double *x) { x[0] += 5; }", "k"), x.dataset.set, x(op2.RW), context=gpu)
        x.zero()
        x.data_wo[:] = 7
        assert x.data_ro_with_halos.tolist() == [7, 7, 0]

        np.save(tmp_path / "x.npy", np.arange(3.0))
        x = on_device((3, 3, 3), 1)
        x.load(tmp_path / "x")
        assert x.data_ro.tolist() == [0, 1, 2]

    def test_a_global_that_is_replaced_is_not_fetched(self, gpu):
        cells, count = op2.Set(4), op2.Global(1, 10.0)
        counting = op2.ParLoop(op2.Kernel("void k(double *n) { n[0] += 1; }", "k"), cells, count(op2.INC), context=gpu)
        counting()
        assert count.data_wo[0] == 10
        count.data = 20
        counting()
        assert count.data_ro[0] == 24

    def test_results_of_arithmetic_on_a_gpu_have_all_numbers_and_their_ghosts(self, gpu):
        x = op2.Dat(op2.Set((1, 3, 5)) ** 3, np.arange(15.0))
        with gpu:
            x += 1
            y = x * 2
        assert y.data_ro.tolist() == (2 * (np.arange(9.0).reshape(3, 3) + 1)).tolist() and (y.data_ro_with_halos[3:] == 0).all()

    @pytest.mark.parametrize("kind", [op2.Global, op2.Constant])
    def test_a_large_table_is_read_where_it_is(self, ctx, kind):
        values, cells = np.random.default_rng(3).random(100_000), op2.Set(5000, "cells")
        places = np.random.default_rng(4).integers(0, 100_000, 5000, "int32")
        table, place, x = kind(100_000, values, name="table"), op2.Dat(cells, places), op2.Dat(cells)
        kernel = op2.Kernel("void look(const double *t, const int *p, double *x) { x[0] = t[p[0]]; }", "look")
        args = table(op2.READ), place(op2.READ), x(op2.WRITE)
        if ctx.device.kind == "opencl":
            message = "kernel `look` needs 800012 bytes per element, but the limit is 524288; on OpenCL, kernels in C get copies of all data: use another device or a loop kernel, or pass less of `table`"
            with refuses(op2.MeshError, message):
                op2.par_loop(kernel, cells, *args, context=ctx)
            kernel = op2.Kernel(lp.make_kernel("{:}", "x[0] = t[p[0]]", [
                lp.GlobalArg("t", float, shape=(100_000,)), lp.GlobalArg("p", np.int32, shape=(1,)), lp.GlobalArg("x", float, shape=(1,))
            ], name="look"), "look")  # fmt: skip
        op2.par_loop(kernel, cells, *args, context=ctx)
        assert (x.data_ro == values[places]).all() and table.dat_version == 0
        x.zero()
        if ctx.device.kind == "cpu":
            op2.par_loop(kernel, cells, *args, lanes=True, context=ctx)
            assert (x.data_ro == values[places]).all()

    def test_a_large_table_that_a_kernel_may_change_is_refused(self):
        cells, table = op2.Set(5, "cells"), op2.Global(100_000, np.zeros(100_000), name="table")
        kernel = op2.Kernel("void k(double *t, double *x) { t[0] = x[0]; }", "k")
        message = "kernel `k` needs 800008 bytes per element, but the limit is 524288; declare argument 0 (`table`) const, so that it is read in place"
        with refuses(op2.MeshError, message):
            op2.ParLoop(kernel, cells, table(op2.READ), op2.Dat(cells)(op2.RW))

    @pytest.mark.parametrize("plan", ["auto", "sequential", "owner", "strips", "colour", "gather", "atomic", "shared"])
    def test_every_plan_gives_the_same_sums_or_says_why_not(self, ctx, plan):
        mesh = Mesh(3000)
        count = op2.Dat(mesh.nodes, dtype="int32")
        kernel = op2.Kernel("void k(int *n) { for (int i = 0; i < 3; i++) n[i] += 1; }", "k")
        try:
            op2.par_loop(kernel, mesh.cells, count(op2.INC, mesh.map), plan=plan, context=ctx)
        except op2.MeshError as error:
            assert re.match(f"plan `{plan}` cannot run kernel `k` on ", str(error)) and plan != "auto"
        else:
            assert count.data_ro.tolist() == np.bincount(mesh.table.ravel()).tolist()

    def test_deterministic_sums_are_the_same_on_any_number_of_threads(self):
        mesh = Mesh(5000)
        weights = op2.Dat(mesh.cells, np.random.default_rng(4).random(mesh.cells.size))
        kernel = op2.Kernel("void k(double *n, double *s, double *w) { for (int i = 0; i < 3; i++) n[i] += w[0] / 3; s[0] += w[0]; }", "k")
        found = set()
        for name in ("cpu:1", "cpu:2", "cpu:3", "cpu:1"):
            sums, total = op2.Dat(mesh.nodes), op2.Global(1, 0.0)
            op2.par_loop(kernel, mesh.cells, sums(op2.INC, mesh.map), total(op2.INC), weights(op2.READ), deterministic=True, context=name)
            found.add((sums.data_ro.tobytes(), total.data_ro.tobytes()))
        assert len(found) == 1

    @pytest.mark.parametrize("lanes", [None, False, True])
    def test_elements_in_lanes_and_one_by_one_give_the_numbers_of_numpy(self, lanes):
        mesh = Mesh(3001)
        weights = np.random.default_rng(7).integers(-50, 50, mesh.cells.size).astype(float)
        kernel = op2.Kernel(
            """void k(const double *w, double *n, double *twice, double *total) {
                for (int i = 0; i < 3; i++) n[i] += w[0] > 0 ? w[0] : 1;
                twice[0] = 2*w[0]; total[0] += w[0];
            }""", "k")  # fmt: skip
        expected = np.zeros(mesh.nodes.size)
        np.add.at(expected, mesh.table, np.where(weights > 0, weights, 1)[:, None])
        for name in ("cpu:1", "cpu:2"):
            w, sums, twice, total = op2.Dat(mesh.cells, weights), op2.Dat(mesh.nodes), op2.Dat(mesh.cells), op2.Global(1, 0.0)
            args = w(op2.READ), sums(op2.INC, mesh.map), twice(op2.WRITE), total(op2.INC)
            op2.par_loop(kernel, mesh.cells, *args, lanes=lanes, context=name)
            assert (sums.data_ro == expected).all() and (twice.data_ro == 2 * weights).all() and total.data_ro[0] == weights.sum()
            loop = op2.ParLoop(kernel, mesh.cells, *args, lanes=lanes, context=name)
            loop()
            assert (sums.data_ro == 2 * expected).all()
            if lanes is not None:
                assert ("pl_b1" in loop.code()) == lanes

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({}, "elements run in vector lanes only on a CPU"),
            ({"checked": True, "context": "cpu:1"}, "elements in vector lanes cannot be checked"),
            ({"plan": "colour", "context": "cpu:1"}, "blocks of one colour do not run in vector lanes"),
        ],
    )
    def test_loops_that_lanes_cannot_run_are_refused(self, gpu, mesh, options, reason):
        kernel = op2.Kernel("void k(double *n) { n[0] += 1; n[1] += 1; n[2] += 1; }", "k")
        count, options = op2.Dat(mesh.nodes), {"context": gpu.device.name, "plan": "auto"} | options
        with refuses(op2.MeshError, f"plan `{options['plan']}` cannot run kernel `k` on {options['context']}: {reason}"):
            op2.par_loop(kernel, mesh.cells, count(op2.INC, mesh.map), lanes=True, **options)

    def test_threads_that_use_data_on_a_gpu_for_the_first_time_at_once_agree_on_its_layout(self, gpu):
        nodes, values = op2.Set(300, "nodes"), np.arange(900.0).reshape(300, 3)
        itself = op2.Map(nodes, nodes, 1, np.arange(300))
        copy = op2.Kernel("void copy(const double *x, double *y) { for (int i = 0; i < 3; i++) y[i] = x[i]; }", "copy")

        def copied(x, start, map):
            y = op2.Dat(nodes**3)
            loop = op2.ParLoop(copy, nodes, x(op2.READ, map), y(op2.WRITE), context=gpu)
            start.wait()
            loop()
            return np.array_equal(y.data_ro, values)

        with ThreadPoolExecutor(4) as pool:
            for _ in range(40):
                x, start = op2.Dat(nodes**3, values.copy()), threading.Barrier(4)
                assert all(pool.map(lambda map: copied(x, start, map), [None, itself, None, itself]))

    def test_a_checked_loop_says_what_is_left_unwritten(self, ctx):
        cells = op2.Set(3, "cells")
        kernel = op2.Kernel("void k(double *x, int *n) { x[0] = 1; if (n[0] != 1) x[1] = 1; }", "k")
        x, n = op2.Dat(cells**2, name="x"), op2.Dat(cells, [0, 1, 2], "int32")
        message = "kernel `k` leaves entry [1] of argument 0 (`x`) unwritten for element 1; write every entry of what is passed with WRITE, or pass it with RW"
        with refuses(pl.CheckError, message):
            op2.par_loop(kernel, cells, x(op2.WRITE), n(op2.READ), checked=True, context=ctx)

    def test_a_loop_shows_its_code(self, mesh):
        loop = op2.ParLoop(op2.Kernel(MIDPOINT, "midpoint"), mesh.cells, op2.Dat(mesh.cells**2)(op2.WRITE), mesh.x(op2.READ, mesh.map))
        assert "midpoint" in loop.code("cpu") and loop.kernel.name == "midpoint" and loop.iterset is mesh.cells
        assert loop.args[1].access == op2.READ and loop.args[1].map is mesh.map and loop.args[1].data is mesh.x
        assert re.fullmatch(r"<ParLoop midpoint over cells: dat_\d+\(WRITE\), x\(READ, corners\)>", repr(loop))

    @pytest.mark.parametrize(
        ("run", "error", "message"),
        [
            (lambda m, k: op2.par_loop(3, m.cells), pl.errors.KernelTypeError, "expected a Kernel, not an object of type int"),
            (lambda m, k: op2.par_loop(k, 3), pl.errors.SetTypeError, "expected a Set, not an object of type int"),
            (lambda m, k: op2.par_loop(k, m.nodes, m.x), pl.errors.DatTypeError, "argument 0 is an object of type Dat, not a number or data with an access, such as dat(op2.READ)"),
            (lambda m, k: op2.par_loop(k, m.nodes), pl.errors.KernelTypeError, "kernel `k` takes 1 arguments, but 0 were given"),
            (lambda m, k: op2.par_loop(k, m.cells, m.x(op2.RW)), pl.errors.MapValueError, "argument 0 (`x`): the data is on set `nodes`, but the loop is over `cells`"),
            (lambda m, k: op2.par_loop(k, m.nodes, m.x(op2.READ, m.map)), pl.errors.MapValueError, "argument 0 (`x`): the map `corners` starts at set `cells`, but the loop is over `nodes`"),
            (lambda m, k: op2.par_loop(k, m.nodes, op2.Dat(m.nodes, dtype="float32", name="f")(op2.RW)), pl.errors.KernelTypeError,
             "argument 0 (`x`) of kernel `k` is declared `double * x`, but Dat `f` of float32 with RW was given; both must have the same element type"),
            (lambda m, k: op2.par_loop(op2.Kernel("void k(double *a, double *b) {}", "k"), m.cells, m.x(op2.INC, m.map), m.x(op2.READ, m.map)), pl.errors.ModeValueError,
             "`x` is argument 0 with INC and argument 1 with READ: one element may read what another has written; copy it first, or use one argument"),
            (lambda m, k: (lambda values: op2.par_loop(op2.Kernel("void k(double *a, double *b) {}", "k"), m.nodes, op2.Dat(m.nodes, values[1:], name="a")(op2.WRITE), op2.Dat(m.nodes, values[:-1], name="b")(op2.READ)))(np.zeros(m.nodes.size + 1)), pl.errors.ModeValueError,
             "`a`, argument 0 with WRITE, and `b`, argument 1 with READ, share memory: one element may read what another has written; pass the same data for both, or copy one of them"),
            (lambda m, k: op2.Kernel("int k(double *x) { return 1; }", "k"), pl.errors.KernelTypeError,
             "kernel `k` returns int32_t, but the kernel of a loop must return void; write results through its parameters"),
            (lambda m, k: op2.Kernel(3, "k"), pl.errors.KernelTypeError, "the code of a kernel must be a string of C or a program of loop kernels, not an object of type int"),
            (lambda m, k: op2.Kernel("void k() {}"), pl.errors.NameTypeError, "a kernel in C needs the name of its function"),
            (lambda m, k: op2.par_loop(k, m.nodes, m.x(op2.RW), plan="magic"), ValueError,
             'unknown plan "magic" (plans: auto, sequential, owner, strips, colour, gather, atomic, shared)'),
            (lambda m, k: op2.par_loop(k, m.nodes, m.x(op2.RW), plan="atomics"), ValueError,
             'unknown plan "atomics"; did you mean "atomic"? (plans: auto, sequential, owner, strips, colour, gather, atomic, shared)'),
        ],
    )  # fmt: skip
    def test_what_does_not_fit_together_is_refused(self, mesh, run, error, message):
        with refuses(error, message):
            run(mesh, op2.Kernel("void k(double *x) { x[0] = 1; }", "k"))


class TestArithmetic:
    @pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv"])
    def test_operators_are_those_of_numpy(self, ctx, name):
        rng = np.random.default_rng(5)
        nodes, operator_of = op2.Set(40, "nodes"), getattr(operator, name)
        with ctx:
            a, b = (op2.Dat(nodes**3, rng.random(120) + 0.5) for _ in range(2))
            x, y = a.data_ro.copy(), b.data_ro.copy()
            for other, value in ((b, y), (2.5, 2.5), (a, x), (op2.Global(1, 1.5), 1.5), (op2.Global(3, [1.0, 2, 3]), [1.0, 2, 3])):
                np.testing.assert_allclose(operator_of(a, other).data_ro, operator_of(x, np.array(value)), rtol=1e-14)
            np.testing.assert_allclose(operator_of(2, a).data_ro, operator_of(2, x), rtol=1e-14)
            assert (a.data_ro == x).all()
            in_place = getattr(operator, "i" + name)
            for other, value in ((b, y), (3, 3.0)):
                a, x = in_place(a, other), in_place(x, value)
                np.testing.assert_allclose(a.data_ro, x, rtol=1e-14)
            a, x = in_place(a, a), in_place(x, x)
            np.testing.assert_allclose(a.data_ro, x, rtol=1e-14)

    @pytest.mark.parametrize(("dtype", "dim"), [("float32", 1), ("complex64", (2, 2)), ("complex128", 2)])
    def test_operators_keep_the_type(self, ctx, dtype, dim):
        nodes = op2.Set(7, "nodes")
        x = (np.arange(7 * np.prod(dim)) + 1).astype(dtype)
        with ctx:
            a = op2.Dat(nodes**dim, x.copy())
            assert (a + a).dtype == dtype and ((a * 2.5).data_ro.ravel() == x * np.array(2.5, dtype)).all()
            assert ((-a).data_ro.ravel() == -x).all() and ((+a).data_ro.ravel() == x).all()

    def test_integers_stay_integers(self, ctx):
        nodes = op2.Set(5, "nodes")
        with ctx:
            a = op2.Dat(nodes, [1, 2, 3, 4, 5], "int64")
            a *= 3
            a -= op2.Dat(nodes, [1] * 5, "int32")
            a += True
            assert a.data_ro.tolist() == [3, 6, 9, 12, 15] and (a + a).dtype == np.int64 and a.inner(a) == 495

    def test_inner_products_and_norms(self, ctx):
        nodes = op2.Set((3, 4, 6), "nodes")
        rng = np.random.default_rng(6)
        x, y = rng.random((2, 6, 2)) + 1j * rng.random((2, 6, 2))
        with ctx:
            a, b = op2.Dat(nodes**2, x.copy()), op2.Dat(nodes**2, y.copy())
            assert a.inner(b) == pytest.approx((x[:4] * y[:4].conj()).sum()) and a.norm == pytest.approx(np.linalg.norm(x[:4]))
            real = op2.Dat(nodes**2, x.real.copy())
            assert real.inner(real) == pytest.approx((x.real[:4] ** 2).sum()) and isinstance(real.inner(real), np.float64)
            single = op2.Dat(nodes**2, x.real.astype("float32"))
            assert isinstance(single.inner(real), np.float64) and isinstance(single.inner(single), np.float32)

    def test_multiples_are_added(self, ctx):
        nodes = op2.Set(4, "nodes")
        with ctx:
            y, x = op2.Dat(nodes, [1.0, 2, 3, 4]), op2.Dat(nodes, [1.0, 1, 1, 1])
            y.axpy(2, x)
            y.axpy(op2.Global(1, 0.5), x)
            y.axpy(1, y)
            assert y.data_ro.tolist() == [7, 9, 11, 13]
            y.maxpy([1, 2.0], [x, x])
            assert y.data_ro.tolist() == [10, 12, 14, 16]
            # It counts among its own summands as it was before.
            y.maxpy([1, 2, op2.Global(1, 0.5)], [x, y, y])
            assert y.data_ro.tolist() == [36, 43, 50, 57]

    @pytest.mark.parametrize(
        ("alphas", "others"),
        [
            ([1, 2], ["x", "wide"]),
            ([1, 2], ["x", "elsewhere"]),
            ([1, 2j], ["x", "x"]),
            ([1, "two"], ["x", "x"]),
            ([1, 1], ["x", 3]),
            ([1, 1], ["x", "complex"]),
        ],
    )
    def test_multiples_of_which_one_is_refused_leave_all_as_it_was(self, ctx, alphas, others):
        nodes = op2.Set(4, "nodes")
        x, y = op2.Dat(nodes, [1.0, 1, 1, 1]), op2.Dat(nodes, [1.0, 2, 3, 4])
        dats = {"x": x, "wide": op2.Dat(nodes**2), "elsewhere": op2.Dat(op2.Set(4, "t")), "complex": op2.Dat(nodes, dtype="complex128")}
        with ctx, pytest.raises((ValueError, TypeError)):
            y.maxpy(alphas, [dats.get(other, other) for other in others])
        assert y.data_ro.tolist() == [1, 2, 3, 4]

    def test_zeros_and_copies_of_subsets(self, ctx):
        nodes = op2.Set(5, "nodes")
        twice = op2.Kernel("void twice(double *x) { x[0] *= 2; x[1] *= 2; }", "twice")
        with ctx:
            a, b = op2.Dat(nodes**2, np.arange(10.0)), op2.Dat(nodes**2)
            op2.par_loop(twice, nodes, a(op2.RW))
            a.copy_to(b, subset=nodes(1, 3))
            a.zero(subset=nodes(0, 1))
            assert b.data_ro.tolist() == [[0, 0], [4, 6], [0, 0], [12, 14], [0, 0]]
            assert a.data_ro.tolist() == [[0, 0], [0, 0], [8, 10], [12, 14], [16, 18]]
            op2.par_loop(twice, nodes, a(op2.RW))
            a.copy_to(b)
            a.zero()
            assert b.data_ro[4].tolist() == [32, 36] and not a.data_ro.any() and a.halo_valid

    @pytest.mark.parametrize(
        ("run", "error", "message"),
        [
            (lambda i, x: i + 0.5, pl.errors.DataTypeError, "data `i` of int64 cannot hold results with 0.5; use data of a type that can"),
            (lambda i, x: i + x, pl.errors.DataTypeError, "data `i` of int64 cannot hold results with float64; use data of a type that can"),
            (lambda i, x: i / 2, pl.errors.DataTypeError, "data `i` of int64 cannot hold quotients; use data of a type that can"),
            (lambda i, x: x * 1j, pl.errors.DataTypeError, "data `x` of float64 cannot hold results with 0+1i; use data of a type that can"),
            (lambda i, x: i + 2**70, pl.errors.DataValueError, "1180591620717411303424 is out of range for int64, the type of data `i`"),
            (lambda i, x: x + op2.Dat(x.dataset.set**2, name="u"), pl.errors.DataValueError,
             "`x` has dimension [1], but `u` has [2]; both must have the same dimension and set"),
            (lambda i, x: x + op2.Dat(op2.Set(3, "t"), name="u"), pl.errors.MapValueError, "argument 2 (`u`): the data is on set `t`, but the loop is over `s`"),
            (lambda i, x: x + op2.Global(2), pl.errors.DataValueError, "1 numbers are needed, but 2 were given"),
            (lambda i, x: x.copy_to(i), pl.errors.DataTypeError, "numbers of type int64 were requested, but the data has type float64"),
            (lambda i, x: x.axpy(x, x), pl.errors.DataTypeError, "`x` cannot be a factor; use a number, or a global with one number"),
            (lambda i, x: x.maxpy([1], []), pl.errors.DataValueError, "1 factors were given for 0 Dats; give one for each"),
            (lambda i, x: x.zero(op2.Set(3, "t")(1)), pl.errors.MapValueError, "data `x` is on set `s`, but the subset is of `t`"),
            (lambda i, x: x.inner(3), pl.errors.DatTypeError, "expected a Dat, not an object of type int"),
            (lambda i, x: -op2.Dat(x.dataset, dtype="uint8", name="u"), pl.errors.DataTypeError,
             "data `u` of uint8 cannot hold negative numbers; use data of a type that can"),
        ],
    )  # fmt: skip
    def test_arithmetic_that_loses_something_is_refused(self, run, error, message):
        nodes = op2.Set(3, "s")
        with refuses(error, message):
            run(op2.Dat(nodes, [1, 2, 3], name="i"), op2.Dat(nodes, [1.0, 2, 3], name="x"))

    def test_other_objects_have_no_operators_with_data(self):
        x = op2.Dat(op2.Set(3))
        with pytest.raises(TypeError, match="unsupported operand"):
            x + "a"
        with refuses(TypeError, "a Dat can be combined with a number, a Global or a Dat, not with an object of type str"):
            x += "a"


class TestPictures:
    def test_a_vtk_file_has_the_mesh_and_its_fields(self, tmp_path, mesh):
        on_nodes, on_cells = op2.Dat(mesh.nodes, dtype="int64"), op2.Dat(mesh.cells**2, dtype="float32")
        op2.write_vtk(tmp_path / "a.vtu", mesh.x, mesh.map, height=on_nodes, speed=on_cells)
        text = (tmp_path / "a.vtu").read_text()
        assert all(words in text for words in ('Name="height"', 'Name="speed"', f'NumberOfPoints="{mesh.nodes.size}"', f'NumberOfCells="{mesh.cells.size}"'))

    @pytest.mark.parametrize(
        ("write", "error", "message"),
        [
            (lambda m: op2.write_vtk("/nowhere/a.vtu", m.x, m.map), pl.errors.MeshFileError, "cannot write `/nowhere/a.vtu`: No such file or directory (os error 2)"),
            (lambda m: op2.write_vtk("a", op2.Dat(m.cells**2), m.map), pl.errors.MapValueError, "the coordinates are on set `cells`, but the map leads to `nodes`"),
            (lambda m: op2.write_vtk("a", m.x, m.map, u=op2.Dat(op2.Set(3, "t"))), pl.errors.MapValueError, "field `u` is on set `t`, but the mesh has `nodes` and `cells`"),
            (lambda m: op2.write_vtk("a", m.x, m.map, u=op2.Dat(m.nodes, dtype=complex, name="u")), pl.errors.DataTypeError, "field `u` has type complex128, which VTK files do not support; write its real and imaginary parts"),
            (lambda m: op2.write_vtk("a", m.x, m.map, "wedge"), pl.errors.MapValueError, "cells with 6 corners were requested, but the map has arity 3"),
            (lambda m: op2.write_vtk("a", m.x, m.map, "ball"), ValueError,
             'unknown shape "ball"; use one of vertex, line, triangle, quadrilateral, tetrahedron, wedge, hexahedron'),
        ],
    )  # fmt: skip
    def test_what_cannot_be_written_is_refused(self, mesh, write, error, message):
        with refuses(error, message):
            write(mesh)

    @pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
    def test_data_on_nodes_and_cells_is_drawn(self, mesh):
        import matplotlib

        matplotlib.use("Agg")
        assert len(op2.Dat(mesh.nodes).plot(mesh.x, mesh.map).collections) == 1
        squares = op2.Map(op2.Set(1, "squares"), mesh.nodes, 4, [0, 1, 52, 51])
        assert len(op2.Dat(squares.iterset, [1.0]).plot(mesh.x, squares).collections[0].get_array()) == 2

    @pytest.mark.parametrize(
        ("draw", "error", "message"),
        [
            (lambda m: op2.Dat(m.nodes**2, name="u").plot(m.x, m.map), pl.errors.DataValueError, "`u` has 2 numbers for each element; select one with component="),
            (lambda m: op2.Dat(m.nodes).plot(op2.Dat(m.nodes), m.map), pl.errors.MapValueError, "the coordinates must be two numbers on each element of `nodes`, the target set of the map"),
            (lambda m: op2.Dat(op2.Set(3, "t"), name="u").plot(m.x, m.map), pl.errors.MapValueError, "`u` is on `t`, but the mesh has `nodes` and `cells`"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_drawn_is_refused(self, mesh, draw, error, message):
        with refuses(error, message):
            draw(mesh)

    def test_a_missing_matplotlib_is_said(self, mesh, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
        with refuses(ImportError, "drawing needs matplotlib, which is not installed; pip install parloop[plot]"):
            op2.Dat(mesh.nodes).plot(mesh.x, mesh.map)


DROP_IN = """
import numpy as np
from pyop2 import op2
from pyop2.exceptions import MapValueError
from pyop2.mpi import COMM_WORLD
op2.init(log_level="WARNING")
cells, nodes = op2.Set(2, "cells", comm=COMM_WORLD), op2.Set(4, "nodes")
m = op2.Map(cells, nodes, 3, np.array([[0, 1, 2], [1, 3, 2]]))
n = op2.Dat(nodes ** 1, dtype=np.int32)
k = op2.Kernel("static void k(int *n) { for (int i = 0; i < 3; i++) n[i]++; }", "k")
op2.par_loop(k, cells, n(op2.INC, m))
n += op2.Dat(nodes, [0.5] * 4)
g = op2.Global(1, 0, np.int32, comm=COMM_WORLD)
op2.ParLoop(op2.Kernel("static void s(int *g, int *n) { *g += *n; }", "s"), nodes, g(op2.INC), n(op2.READ)).compute()
try:
    op2.Dat(cells)(op2.READ, m)
except MapValueError:
    print(n.data_ro.tolist(), g.data_ro[0], (n / 2).dtype, str(nodes), op2.Dat(nodes) is op2.Dat(nodes)[0])
try:
    op2.PassthroughArg
except AttributeError as error:
    print(error)
"""


def test_a_program_written_for_pyop2_runs(tmp_path):
    (tmp_path / "program.py").write_text(DROP_IN)
    done = subprocess.run([sys.executable, "-m", "parloop.compat", "program.py"], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "[1, 2, 2, 1] 6 int32 OP2 Set: nodes with size 4 False\nop2.PassthroughArg is not there: arguments that are passed on as they are are not supported\n", done.stderr


def test_a_kernel_whose_types_options_decide_is_refused():
    source = "#ifndef real\n#define real double\n#endif\nvoid f(real *d) { d[0] = 1; }"
    cells = op2.Set(4)
    data = op2.Dat(cells)
    op2.par_loop(op2.Kernel(source, "f"), cells, data(op2.WRITE))
    assert (data.data_ro == 1).all()
    with pytest.raises(pl.errors.SourceError, match="`f` uses the type `real`, which has more than one definition"):
        op2.Kernel(source, "f", opts=["-Dreal=float"])


@pytest.mark.parametrize("operation", [lambda x, a: x + a, lambda x, a: a + x, lambda x, a: x * a, lambda x, a: a - x])
def test_an_array_is_not_added_to_data_number_by_number(operation):
    x = op2.Dat(op2.Set(3, "nodes"), np.arange(3.0))
    with pytest.raises(TypeError):
        operation(x, np.ones(3))
    assert (np.float64(2) * x).data_ro.tolist() == [0.0, 2.0, 4.0]


def test_an_array_and_a_global_are_added_once():
    total = op2.Global(2, [1.0, 2.0], name="total")
    assert (total + np.ones(2)).data_ro.tolist() == (np.ones(2) + total).data_ro.tolist() == [2.0, 3.0]
    assert (np.full(2, 5.0) - total).data_ro.tolist() == [4.0, 3.0] and (np.float64(2) * total).data_ro.tolist() == [2.0, 4.0]


def test_two_sets_of_one_name_are_told_apart():
    first, second = op2.Set(3, "cells"), op2.Set(3, "cells")
    with pytest.raises(pl.errors.MapValueError, match=r"the data is on set `cells`, but the loop is over another set named `cells`"):
        op2.par_loop(op2.Kernel("void f(double *x) {}", "f"), first, op2.Dat(second)(op2.RW))
