"""Matrices over compressed rows and numbers that somebody else made."""

import numpy as np
import pytest

import parloop as pl
import parloop.mesh as op2

KERNEL = """
void add(double *a, const double *w) {
    for (int i = 0; i < ROWS; i++) for (int j = 0; j < COLUMNS; j++) a[i * COLUMNS + j] += w[0] * (1 + i) + (1 + j) / 16.0;
}
"""


def random_case(seed, dims=(1, 1), arities=(3, 4)):
    """Two maps from cells, and compressed rows that have more than their targets need."""
    random = np.random.default_rng(seed)
    cells, rows, columns = op2.Set(int(random.integers(1, 60)), "cells"), op2.Set(17, "rows"), op2.Set(23, "columns")
    maps = [
        op2.Map(cells, to, arity, random.integers(0, to.size, (cells.size, arity)), to.name)
        for to, arity in zip((rows, columns), arities, strict=True)
    ]
    stored = random.random((rows.size, columns.size)) < 0.2
    for row, column in zip(maps[0].values, maps[1].values, strict=True):
        stored[np.ix_(row, column)] = True
    starts = np.concatenate([[0], np.cumsum(stored.sum(1))])
    weights = op2.Dat(cells, random.random(cells.size), name="w")
    return cells, (rows ** dims[0], columns ** dims[1]), maps, (starts, np.nonzero(stored)[1]), weights


def expected(dsets, maps, weights, dropped=((), ())):
    """What the kernel adds up to, in NumPy."""
    (rows, height), (columns, width) = ((dset.set.size, dset.cdim) for dset in dsets)
    dense = np.zeros((rows * height, columns * width))
    for row, column, weight in zip(maps[0].values, maps[1].values, weights.data_ro, strict=True):
        wide = [(at[:, None] * dim + np.arange(dim)).ravel() for at, dim in ((row, height), (column, width))]
        block = weight * (1 + np.arange(wide[0].size))[:, None] + (1 + np.arange(wide[1].size)) / 16.0
        for i, at in enumerate(wide[0]):
            for j, beside in enumerate(wide[1]):
                if at not in dropped[0] and beside not in dropped[1]:
                    dense[at, beside] += block[i, j]
    return dense


def kernel_of(dims, arities):
    defines = f"#define ROWS {dims[0] * arities[0]}\n#define COLUMNS {dims[1] * arities[1]}\n"
    return op2.Kernel(defines + KERNEL, "add")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("dims", [(1, 1), (2, 3)])
def test_loops_find_their_blocks_in_given_rows(seed, dims):
    cells, dsets, maps, (starts, columns), weights = random_case(seed, dims)
    mat = op2.Mat(op2.Sparsity.from_rows(dsets, starts, columns), float)
    op2.par_loop(kernel_of(dims, (3, 4)), cells, mat(op2.INC, maps), weights(op2.READ))
    assert np.allclose(mat.values, expected(dsets, maps, weights), rtol=1e-13, atol=1e-13)
    assert np.array_equal(mat.sparsity.rowptr, starts) and np.array_equal(mat.sparsity.colidx, columns)


@pytest.mark.parametrize("seed", range(4))
def test_scipy_finds_the_same_numbers_at_the_same_places(seed):
    sparse = pytest.importorskip("scipy.sparse")
    cells, dsets, maps, (starts, columns), weights = random_case(seed)
    values = np.zeros(columns.size)
    op2.par_loop(
        kernel_of((1, 1), (3, 4)), cells,
        op2.Mat(op2.Sparsity.from_rows(dsets, starts, columns), data=values)(op2.INC, maps), weights(op2.READ),
    )  # fmt: skip
    rows, beside = np.repeat(maps[0].values, 4, axis=1).ravel(), np.tile(maps[1].values, (1, 3)).ravel()
    blocks = weights.data_ro[:, None, None] * (1 + np.arange(3))[:, None] + (1 + np.arange(4)) / 16.0
    wanted = sparse.coo_matrix((blocks.ravel(), (rows, beside)), shape=(17, 23)).tocsr()
    found = sparse.csr_matrix((values, columns, starts), shape=(17, 23))
    assert abs(found - wanted).max() < 1e-12


@pytest.mark.parametrize("dims", [(1, 1), (2, 3)])
def test_rows_and_columns_with_negative_numbers_get_nothing(dims):
    cells, dsets, maps, (starts, columns), weights = random_case(5, dims)
    dropped = ({2, 3, 7}, {0, 5, 6})
    lgmaps = [np.array([-1 if n in gone else n for n in range(dset.set.size * dset.cdim)]) for dset, gone in zip(dsets, dropped, strict=True)]
    mat = op2.Mat(op2.Sparsity.from_rows(dsets, starts, columns), float)
    op2.par_loop(kernel_of(dims, (3, 4)), cells, mat(op2.INC, maps, lgmaps=lgmaps, unroll_map=True), weights(op2.READ))
    assert np.allclose(mat.values, expected(dsets, maps, weights, dropped), rtol=1e-13, atol=1e-13)


def test_numbers_are_added_in_place_to_those_that_are_there():
    cells, dsets, maps, (starts, columns), weights = random_case(3)
    values = np.arange(columns.size, dtype=float)
    mat = op2.Mat(op2.Sparsity.from_rows(dsets, starts, columns), data=values)
    before = mat.values.copy()
    op2.par_loop(kernel_of((1, 1), (3, 4)), cells, mat(op2.INC, maps), weights(op2.READ))
    assert mat.data_ro.ctypes.data == values.ctypes.data
    assert np.allclose(mat.values, before + expected(dsets, maps, weights), rtol=1e-13, atol=1e-13)


def test_a_pair_that_is_not_stored_is_an_error():
    nodes, edges = op2.Set(3, "nodes"), op2.Set(1, "edges")
    ends = op2.Map(edges, nodes, 2, [0, 1], "ends")
    mat = op2.Mat(op2.Sparsity.from_rows(nodes**1, [0, 1, 2, 3], [0, 1, 2]), float)
    add = op2.Kernel("void add(double *a) { a[0] += 1; }", "add")
    with pytest.raises(pl.MeshError, match="the pattern has no block in row 0 and column 1"):
        op2.par_loop(add, edges, mat(op2.INC, (ends, ends)))


@pytest.mark.parametrize(
    "starts, columns, message",
    [
        ([], [], "row starts must ascend from 0 to 0, the number of stored columns, but entry 0 is missing"),
        ([1, 1, 1, 1], [0], "row starts must ascend from 0 to 1, the number of stored columns, but entry 0 is 1"),
        ([0, 2, 1, 2], [0, 1], "row starts must ascend from 0 to 2, the number of stored columns, but entry 2 is 1"),
        ([0, 1, 2, 5], [0, 1], "row starts must ascend from 0 to 2, the number of stored columns, but entry 3 is 5"),
        ([0, 1, 1, 1], [0, 1], "row starts must ascend from 0 to 2, the number of stored columns, but entry 3 is 1"),
        ([0, 1, 2, 3], [0, 3, 1], "row 1 has column 3, but the matrix has 3 columns"),
        ([0, 1, 2, 3], [0, -1, 1], "row 1 has column -1, but the matrix has 3 columns"),
        ([0, 1, 2, 3], [0, 2**40, 1], "row 1 has column 2147483647, but the matrix has 3 columns"),
        ([0, 2, 2, 2], [1, 1], "the columns of row 0 must ascend, but 1 follows 1; sort them and remove duplicates"),
        ([0, 1], [0], "sparsity `s` has 1 rows, but set `nodes` has 3 elements; give the start of each row and the end of the last"),
    ],
)
def test_rows_that_are_not_those_of_a_matrix_are_refused(starts, columns, message):
    nodes = op2.Set(3, "nodes")
    with pytest.raises(pl.errors.MapValueError) as error:
        op2.Sparsity.from_rows(nodes**1, starts, columns, "s")
    assert str(error.value) == message


def test_numbers_of_another_count_or_kind_are_refused():
    nodes = op2.Set(3, "nodes")
    sparsity = op2.Sparsity.from_rows(nodes**1, [0, 1, 2, 3], [0, 1, 2])
    with pytest.raises(pl.errors.DataValueError, match="3 numbers are needed, but 2 were given"):
        op2.Mat(sparsity, data=np.zeros(2))
    with pytest.raises(pl.errors.MapTypeError, match="the row starts of a sparsity must be integers, not float64"):
        op2.Sparsity.from_rows(nodes**1, [0.0, 1.0, 2.0, 3.0], [0, 1, 2])
    assert op2.Mat(sparsity, data=[1, 2, 3], dtype=float).values.tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 3]]
