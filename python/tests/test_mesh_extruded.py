"""Loops over columns of cells, against the same cells one by one in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import parloop
import parloop.mesh as op2
from devices import DEVICES, opened

REGIONS = [op2.ALL, op2.ON_BOTTOM, op2.ON_TOP, op2.ON_INTERIOR_FACETS]


def columns_of(seed: int, varied: bool) -> tuple[op2.Set, op2.ExtrudedSet, np.ndarray]:
    """A set, columns over it, and for each its lowest layer and how many cells it has."""
    random = np.random.default_rng(seed)
    base = op2.Set(int(random.integers(1, 40)), "base")
    if varied:
        bottom, cells = random.integers(0, 3, base.size), random.integers(0, 6, base.size)
        return base, op2.ExtrudedSet(base, np.stack([bottom, bottom + cells + 1], axis=1)), np.stack([bottom, cells], axis=1)
    cells = int(random.integers(1, 7))
    return base, op2.ExtrudedSet(base, cells + 1), np.array([[0, cells]] * base.size)


def visited(cells: int, region: op2.Region) -> range:
    if region == op2.ON_BOTTOM:
        return range(min(cells, 1))
    if region == op2.ON_TOP:
        return range(max(cells - 1, 0), cells)
    return range(cells - 1 if region == op2.ON_INTERIOR_FACETS else cells)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("varied", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_random_columns(device: str, varied: bool, seed: int) -> None:
    random = np.random.default_rng(100 + seed)
    base, extruded, columns = columns_of(seed, varied)
    arity, to = int(random.integers(1, 5)), op2.Set(300, "to")
    offset = random.integers(-3, 4, arity)
    values = random.integers(30, 270, (base.size, arity))
    corners = op2.Map(extruded, to, arity, values, offset=offset)
    x = op2.Dat(to, random.integers(-9, 9, 300), dtype=float)
    w = op2.Dat(base, random.integers(-9, 9, base.size), dtype=float)
    for region in REGIONS:
        slots = arity * (2 if region == op2.ON_INTERIOR_FACETS else 1)
        kernel = op2.Kernel(
            f"void k(double *y, double *x, double *w, double *s, int layer) {{ for (int i = 0; i < {slots}; i++) y[i] += w[0] * x[i] + layer * i; s[0] += layer; }}",
            "k",
        )
        for chosen in (extruded, extruded(*range(0, base.size, 2))):
            y, s = op2.Dat(to), op2.Dat(base)
            op2.par_loop(kernel, chosen, y(op2.INC, corners), x(op2.READ, corners), w(op2.READ), s(op2.INC), iteration_region=region,
                         pass_layer_arg=True, context=opened(device))  # fmt: skip
            expected, sums = np.zeros(300), np.zeros(base.size)
            for column in range(base.size) if chosen is extruded else range(0, base.size, 2):
                bottom, cells = columns[column]
                for layer in visited(cells, region):
                    for slot in range(slots):
                        target = values[column, slot % arity] + offset[slot % arity] * (layer + slot // arity)
                        expected[target] += w.data_ro[column] * x.data_ro[target] + (layer + bottom) * slot
                    sums[column] += layer + bottom
            np.testing.assert_array_equal(y.data_ro, expected)
            np.testing.assert_array_equal(s.data_ro, sums)


@pytest.mark.parametrize("device", DEVICES)
def test_matrices_and_several_parts(device: str) -> None:
    edges = op2.Set(6, "edges")
    wall = op2.ExtrudedSet(edges, 4)
    points, middles = op2.Set(7 * 4, "points"), op2.Set(6 * 3, "middles")
    corners = op2.Map(wall, points, 4, [[4 * e, 4 * e + 1, 4 * e + 4, 4 * e + 5] for e in range(6)], offset=[1] * 4)
    middle = op2.Map(wall, middles, 1, [3 * e for e in range(6)], offset=[1])
    mat = op2.Mat(op2.Sparsity((points**1, points**1), [(corners, corners, [op2.ALL])]))
    fill = op2.Kernel("void fill(double a[4][4]) { for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) a[i][j] += i + 10 * j; }", "fill")
    op2.par_loop(fill, wall, mat(op2.INC, (corners, corners)), context=opened(device))
    x, m = op2.Dat(points), op2.Dat(middles)
    number = op2.Kernel("void number(double *xm, int layer) { for (int i = 0; i < 5; i++) xm[i] += i + layer; }", "number")
    both = op2.Arg.mixed([x(op2.INC, corners), m(op2.INC, middle)])
    op2.par_loop(number, wall, both, pass_layer_arg=True, context=opened(device))
    dense, on_points, on_middles = np.zeros((28, 28)), np.zeros(28), np.zeros(18)
    for edge in range(6):
        for layer in range(3):
            targets = corners.values[edge] + layer
            dense[np.ix_(targets, targets)] += np.arange(4)[:, None] + 10 * np.arange(4)
            on_points[targets] += np.arange(4) + layer
            on_middles[3 * edge + layer] += 4 + layer
    np.testing.assert_array_equal(mat.values, dense)
    np.testing.assert_array_equal(x.data_ro, on_points)
    np.testing.assert_array_equal(m.data_ro, on_middles)


def test_what_a_set_says_of_itself() -> None:
    edges = op2.Set(3, "edges")
    wall = op2.ExtrudedSet(edges, 5)
    assert (wall.size, wall.layers, wall.parent, wall.constant_layers, (wall**2).size) == (3, 5, edges, True, 12)
    assert wall.layers_array.tolist() == [[0, 5]]
    cliff = op2.ExtrudedSet(edges, [[0, 3], [1, 2], [2, 6]], extruded_periodic=True)
    assert (cliff.constant_layers, cliff.extruded_periodic, op2.Dat(cliff).shape) == (False, True, (5,))
    with pytest.raises(ValueError, match="the columns have different numbers of layers"):
        cliff.layers
    assert repr(cliff) == "<ExtrudedSet over Set(3, 'edges'): 5 cells>"


def test_what_makes_no_sense_is_refused() -> None:
    edges, points = op2.Set(3, "edges"), op2.Set(6, "points")
    with pytest.raises(parloop.errors.SizeTypeError, match="give at least 2"):
        op2.ExtrudedSet(edges, 1)
    with pytest.raises(parloop.errors.SizeTypeError, match="must fit in 32 bits, not 1099511627776"):
        op2.ExtrudedSet(op2.Set(1), [[0, 2**40]])
    with pytest.raises(parloop.errors.MapValueError, match="but no offset; give both"):
        op2.Map(edges, points, 1, [0, 1, 2], offset_quotient=[1])
    with pytest.raises(parloop.errors.SetTypeError, match="data on the cells of set"):
        op2.Sparsity(op2.ExtrudedSet(edges, 4) ** 1, [])
    with pytest.raises(parloop.errors.SizeTypeError, match="3 × 2 numbers, but 4 were given"):
        op2.ExtrudedSet(edges, [[0, 1], [0, 1]])
    wall = op2.ExtrudedSet(edges, 4)
    with pytest.raises(parloop.errors.MapValueError, match="2 offsets were given for 1 slots"):
        op2.Map(wall, points, 1, [0, 1, 2], offset=[1, 1])
    steep = op2.Map(wall, points, 1, [0, 1, 4], "steep", offset=[1])
    x, add = op2.Dat(points), op2.Kernel("void add(double *x) { x[0] += 1; }", "add")
    with pytest.raises(parloop.errors.MapValueError, match="slot 0 of element 2 leads to 6 in a column of 3 cells"):
        op2.par_loop(add, wall, x(op2.INC, steep))
    with pytest.raises(parloop.errors.SetTypeError, match="is not extruded"):
        op2.par_loop(add, points, x(op2.INC), iteration_region=op2.ON_TOP)
    with pytest.raises(parloop.errors.MapTypeError, match="at least two maps"):
        op2.ComposedMap(steep)
    with pytest.raises(parloop.errors.MapValueError, match="not a permutation of the 1 slots"):
        op2.PermutedMap(steep, [1])


def test_a_check_names_the_column_and_the_layer() -> None:
    wall = op2.ExtrudedSet(op2.Set(2, "edges"), 6)
    points = op2.Set(12, "points")
    x = op2.Dat(points)
    up = op2.Map(wall, points, 1, [0, 6], offset=[1])
    some = op2.Kernel("void some(double *x, int layer) { if (layer != 4) x[0] = 1; }", "some")
    with pytest.raises(parloop.CheckError, match="unwritten for element 0, layer 4;"):
        op2.par_loop(some, wall, x(op2.WRITE, up), pass_layer_arg=True, checked=True, context="cpu:1")


@pytest.mark.parametrize("device", DEVICES)
def test_what_all_cells_share_is_one_row_on_facets_too(device: str) -> None:
    wall = op2.ExtrudedSet(op2.Set(3, "edges"), 5)
    points, one = op2.Set(15, "points"), op2.Set(1, "one")
    up, shared = op2.Map(wall, points, 1, [0, 5, 10], offset=[1]), op2.Map.to_first(wall, one)
    mat = op2.Mat(op2.Sparsity((points**1, one**1), [(up, shared, [op2.ON_INTERIOR_FACETS])]))
    fill = op2.Kernel("void fill(double a[2][1], double *g) { a[0][0] += 1; a[1][0] += 10; g[0] += 1; }", "fill")
    count = op2.Dat(one)
    op2.par_loop(fill, wall, mat(op2.INC, (up, shared)), count(op2.INC, shared), iteration_region=op2.ON_INTERIOR_FACETS, context=opened(device))
    assert count.data_ro.tolist() == [9]
    assert mat.values.reshape(3, 5).tolist() == [[1, 11, 11, 10, 0]] * 3


@pytest.mark.parametrize("device", ["cpu:1", "cpu:2"])
@pytest.mark.parametrize("cells", [1, 7, 129, 300])
@pytest.mark.parametrize("periodic", [False, True])
def test_columns_in_the_lanes_of_vectors_have_the_numbers_of_cells_one_by_one(device: str, cells: int, periodic: bool) -> None:
    random = np.random.default_rng(cells)
    base = op2.Set(70, "base")
    extruded = op2.ExtrudedSet(base, cells + 1, extruded_periodic=periodic)
    to = op2.Set(71 * (2 * cells + 3), "to")
    # Targets that move up by one, by two and downwards, and one that all cells of a column share.
    starts = (2 * cells + 3) * np.arange(base.size)[:, None] + np.array([0, 1, cells, 2 * cells + 3])
    corners = op2.Map(extruded, to, 4, starts, "corners", offset=[1, 2, -1, 0])
    x = op2.Dat(to, random.integers(-9, 9, to.size), dtype=float)
    of_cell, of_column = op2.Dat(extruded, random.integers(-9, 9, base.size * cells), dtype=float), op2.Dat(base, np.arange(70.0))
    code = """void k(double *sum, double *least, double *last, double *own, double *below, double *total, const double *x, const double *c, int layer) {
        for (int i = 0; i < 4; i++) { sum[i] += c[0] * x[i] + layer; least[i] = fmin(least[i], x[i] - layer); last[i] = c[0] + 10 * i + 100 * layer; }
        own[0] = 2 * x[0] + layer; below[0] += x[1]; total[0] += x[2];
    }"""
    kernel = op2.Kernel("#include <math.h>\n" + code, "k")
    for region in (op2.ALL, op2.ON_TOP):
        found = {}
        for lanes in (False, True):
            data = [op2.Dat(to), op2.Dat(to), op2.Dat(to), op2.Dat(extruded), op2.Dat(of_column), op2.Global(1, 0.0)]
            sum_, least, last, own, below, total = data
            with opened(device):
                for written in ([], [last(op2.WRITE, corners)]):
                    # Where the last one decides, cells are kept in order; where none does, slot by slot.
                    given = kernel if written else op2.Kernel("#include <math.h>\n" + code.replace("double *last, ", "").replace(
                        " last[i] = c[0] + 10 * i + 100 * layer;", ""), "k")  # fmt: skip
                    op2.par_loop(given, extruded, sum_(op2.INC, corners), least(op2.MIN, corners), *written, own(op2.WRITE), below(op2.INC),
                                 total(op2.INC), x(op2.READ, corners), of_cell(op2.READ), iteration_region=region, pass_layer_arg=True,
                                 lanes=lanes)  # fmt: skip
            found[lanes] = [each.data_ro.copy() for each in data]
        for one, other in zip(found[False], found[True]):
            assert np.array_equal(one, other)


def test_matrices_over_columns_are_assembled_in_the_lanes_of_vectors() -> None:
    base, layers = op2.Set(20, "base"), 140
    extruded, to = op2.ExtrudedSet(base, layers), op2.Set(21 * layers, "to")
    starts = layers * np.arange(20)[:, None] + np.array([0, 1, layers, layers + 1])
    corners = op2.Map(extruded, to, 4, starts, "corners", offset=[1, 1, 1, 1])
    kernel = op2.Kernel("void k(double *a, int layer) { for (int i = 0; i < 16; i++) a[i] += i + layer; }", "k")
    dropped = np.where(np.arange(to.size) % 7 == 0, -1, np.arange(to.size))
    for lgmaps in (None, (dropped, dropped)):
        values = {}
        for lanes in (False, True):
            mat = op2.Mat(op2.Sparsity(to**1, corners))
            op2.par_loop(kernel, extruded, mat(op2.INC, (corners, corners), lgmaps=lgmaps), pass_layer_arg=True, lanes=lanes, context="cpu:1")
            values[lanes] = mat.data_ro.copy()
        assert np.array_equal(values[False], values[True]) and values[True].any()
