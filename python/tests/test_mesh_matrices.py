"""Sparse matrices on meshes: what is stored, what loops leave, products and solvers, against NumPy."""

import pickle
import re
import sys
import types
from types import SimpleNamespace

import numpy as np
import pytest

import parloop as pl
import parloop.mesh as op2
from devices import DEVICES, opened


@pytest.fixture(params=DEVICES)
def context(request):
    with opened(request.param) as context:
        yield context


LAPLACE = """
void laplace(double a[3][3], const double *x[2]) {
    double d = (x[1][0] - x[0][0]) * (x[2][1] - x[0][1]) - (x[2][0] - x[0][0]) * (x[1][1] - x[0][1]);
    double g[3][2] = {{x[1][1] - x[2][1], x[2][0] - x[1][0]}, {x[2][1] - x[0][1], x[0][0] - x[2][0]}, {x[0][1] - x[1][1], x[1][0] - x[0][0]}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[i][j] += (g[i][0] * g[j][0] + g[i][1] * g[j][1]) / (2 * d);
}
"""


def laplace(n=6):
    """The stiffness matrix of a square of triangles, by a loop and by NumPy."""
    mesh = op2.box_mesh((n, n), "triangle")
    corners = mesh.maps["triangle"]
    mat = op2.Mat(op2.Sparsity(mesh.vertices**1, corners), name="laplace")
    op2.par_loop(op2.Kernel(LAPLACE, "laplace"), mesh.cells, mat(op2.INC, (corners, corners)), mesh.coordinates(op2.READ, corners))
    x, expected = mesh.coordinates.data_ro, np.zeros((mesh.vertices.size,) * 2)
    for cell in corners.values:
        p = x[cell]
        grad = np.linalg.inv(np.column_stack([np.ones(3), p]))[1:]
        expected[np.ix_(cell, cell)] += grad.T @ grad * abs(np.linalg.det(np.column_stack([np.ones(3), p]))) / 2
    return mesh, mat, expected


def test_a_stiffness_matrix_is_that_of_a_plain_loop(context):
    mesh, mat, expected = laplace()
    np.testing.assert_allclose(mat.values, expected, atol=1e-13)
    assert mat.shape == expected.shape and mat.sparsity.nz == np.count_nonzero(expected) + np.count_nonzero(
        [expected[i, j] == 0 for i, row in enumerate(np.split(mat.sparsity.colidx, mat.sparsity.rowptr[1:-1])) for j in row]
    )
    mat.zero()
    assert not mat.values.any()


def test_what_is_stored_shares_its_memory_with_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    _, mat, expected = laplace()
    other = mat.to_scipy()
    assert isinstance(other, sparse.csr_matrix)
    np.testing.assert_allclose(other.toarray(), expected, atol=1e-13)
    other.data[:] = 2
    assert mat.data_ro.max() == mat.data_ro.min() == 2


@pytest.mark.parametrize("dim", [1, 2])
def test_what_scipy_does_with_the_structure_does_not_reach_the_matrix(dim):
    sparse = pytest.importorskip("scipy.sparse")
    nodes, edges = op2.Set(4, "nodes"), op2.Set(3, "edges")
    ends = op2.Map(edges, nodes, 2, [[0, 1], [1, 2], [2, 3]], "ends")
    mat = op2.Mat(op2.Sparsity(nodes**dim, ends), name="a")
    mat.data[...] = np.arange(1.0, 1 + mat.data.size).reshape(mat.data.shape)
    mat.data[1:3] = 0
    before, other = mat.values.copy(), mat.to_scipy()
    message = "eliminate_zeros would move the values of matrix `a`, which shares this memory; use to_scipy().copy() to change the sparsity"
    with pytest.raises(pl.errors.DataValueError, match=re.escape(message)):
        other.eliminate_zeros()
    other.sum_duplicates()
    other.sort_indices()
    with pytest.raises(ValueError, match="read-only"):
        other.indices[0] = 3
    assert np.array_equal(mat.values, before) and np.array_equal(other.toarray(), before)
    copied = other.copy()
    copied.eliminate_zeros()
    assert copied.nnz < other.nnz and np.array_equal(copied.toarray(), before) and np.array_equal(mat.values, before)
    x = np.arange(4.0 * dim)
    for same in (other @ x, sparse.csc_matrix(other) @ x, (other + other) @ x / 2, pickle.loads(pickle.dumps(other)) @ x):
        np.testing.assert_allclose(same, before @ x)


def test_products_are_those_of_numpy(context):
    mesh, mat, expected = laplace()
    x = op2.Dat(mesh.vertices, np.arange(mesh.vertices.size, dtype=float))
    np.testing.assert_allclose((mat @ x).data_ro, expected @ x.data_ro, atol=1e-12)
    y = op2.Dat(mesh.vertices)
    assert mat.mult(x, y, transposed=True) is y
    np.testing.assert_allclose(y.data_ro, expected.T @ x.data_ro, atol=1e-12)
    with pytest.raises(pl.MeshError, match="shares memory with the factor"):
        mat.mult(x, x)
    with pytest.raises(pl.MeshError, match="a different dimension"):
        mat.mult(op2.Dat(mesh.vertices**2))


@pytest.mark.parametrize("dims", [(1, 1), (2, 2), (1, 3)])
def test_blocks_lie_row_by_row_for_the_kernel(context, dims):
    cells, nodes, posts = op2.Set(3), op2.Set(4), op2.Set(5)
    rows = op2.Map(cells, nodes, 2, [[0, 1], [1, 2], [2, 3]])
    columns = op2.Map(cells, posts, 2, [[4, 0], [1, 1], [0, 3]])
    mat = op2.Mat(op2.Sparsity((nodes ** dims[0], posts ** dims[1]), (rows, columns)), np.int64)
    height, width = 2 * dims[0], 2 * dims[1]
    kernel = op2.Kernel(f"void fill(long *a) {{ for (int i = 0; i < {height * width}; i++) a[i] += i + 1; }}", "fill")
    op2.par_loop(kernel, cells, mat(op2.INC, (rows, columns)))
    expected, block = np.zeros(mat.shape, int), np.arange(1, height * width + 1).reshape(height, width)
    for cell in range(3):
        row = (rows.values[cell][:, None] * dims[0] + np.arange(dims[0])).ravel()
        column = (columns.values[cell][:, None] * dims[1] + np.arange(dims[1])).ravel()
        np.add.at(expected, np.ix_(row, column), block)
    assert (mat.values == expected).all()
    assert repr(mat).startswith("<Mat 'mat_")


def test_negative_numbers_of_rows_and_columns_drop_them(context):
    cells, nodes = op2.Set(2), op2.Set(3)
    ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2]])
    mat = op2.Mat(op2.Sparsity(nodes, ends))
    kernel = op2.Kernel("void ones(double *a) { for (int i = 0; i < 4; i++) a[i] += 1; }", "ones")
    op2.par_loop(kernel, cells, mat(op2.INC, (ends, ends), lgmaps=([0, -1, 2], [0, 1, -1])))
    assert mat.values.tolist() == [[1, 1, 0], [0, 0, 0], [0, 1, 0]]


def test_rows_and_entries_can_be_changed_by_themselves():
    _, mat, expected = laplace(3)
    mat.set_local_diagonal_entries([0, 2], 7)
    mat.inc_local_diagonal_entries([2], 1)
    expected[0, 0], expected[2, 2] = 7, 8
    mat.zero_rows([1, 5], 3)
    expected[[1, 5]] = 0
    expected[1, 1] = expected[5, 5] = 3
    mat.addto_values([0, -1], [0, 1], [[1.0, 2.0], [3.0, 4.0]])
    expected[0, 0] += 1
    expected[0, 1] += 2
    mat.set_values([4], [4], [[9.0]])
    expected[4, 4] = 9
    np.testing.assert_allclose(mat.values, expected, atol=1e-13)
    with pytest.raises(pl.errors.IndexValueError, match="does not store a block in row 0 and column 15"):
        mat.set_values([0], [15], [[1.0]])
    with pytest.raises(pl.errors.IndexValueError, match="has 16 rows of blocks, not one with number 16"):
        mat.zero_rows([16])


@pytest.mark.parametrize("method", ["cg", "gmres"])
@pytest.mark.parametrize("preconditioner", ["jacobi", None])
def test_systems_are_solved(context, method, preconditioner):
    mesh, mat, expected = laplace()
    mat.inc_local_diagonal_entries(np.arange(mesh.vertices.size), 0.5)
    wanted = np.sin(np.arange(mesh.vertices.size))
    x, b = op2.Dat(mesh.vertices), op2.Dat(mesh.vertices, (expected + 0.5 * np.eye(wanted.size)) @ wanted)
    solution = op2.solve(mat, x, b, method, preconditioner, rtol=1e-12)
    assert solution.converged and len(solution.residuals) == solution.iterations + 1
    np.testing.assert_allclose(x.data_ro, wanted, atol=1e-9)
    assert op2.solve(mat, x, b, method, maxiter=0).iterations == 0


def test_solvers_refuse_what_they_cannot_do():
    mesh, mat, _ = laplace(2)
    x, b = op2.Dat(mesh.vertices), op2.Dat(mesh.vertices, np.ones(mesh.vertices.size))
    with pytest.raises(ValueError, match='unknown method "lu"; use "cg" or "gmres"'):
        op2.solve(mat, x, b, "lu")
    with pytest.raises(pl.errors.DataTypeError, match="solve takes a Mat or a MixedMat, not ndarray"):
        op2.solve(np.eye(2), x, b)
    with pytest.raises(pl.errors.DataValueError, match="maxiter is -1, but must be at least 0"):
        op2.solve(mat, x, b, maxiter=-1)
    with pytest.raises(pl.errors.DataValueError, match="restart is 0, but must be at least 1"):
        op2.solve(mat, x, b, "gmres", restart=0)
    for tolerance in (-1, np.nan, np.inf):
        with pytest.raises(pl.errors.DataValueError, match="rtol and atol must be finite and non-negative"):
            op2.solve(mat, x, b, rtol=tolerance)
    whole = op2.Dat(mesh.vertices, np.ones(mesh.vertices.size, int), name="whole")
    with pytest.raises(pl.errors.DataValueError, match="matrix `laplace` cannot be multiplied with `whole`: it has a different type than the matrix"):
        op2.solve(mat, x, whole)
    with pytest.raises(pl.errors.DataValueError, match="x and b share memory"):
        op2.solve(mat, op2.Dat(mesh.vertices, b.data), b)
    mat.zero()
    with pytest.raises(pl.MeshError, match="its diagonal has zeros"):
        op2.solve(mat, x, b)


def test_solvers_norms_and_inner_products_cannot_be_recorded(context):
    mesh, mat, _ = laplace(2)
    mat.inc_local_diagonal_entries(np.arange(mesh.vertices.size), 0.5)
    x, b = op2.Dat(mesh.vertices), op2.Dat(mesh.vertices, np.ones(mesh.vertices.size))
    for step in (lambda: op2.solve(mat, x, b), lambda: op2.solve(mat, x, b, "gmres"), lambda: b.norm, lambda: b.inner(x)):
        with pytest.raises(pl.RecordingError, match="cannot be recorded"), context.recording():
            step()
    assert op2.solve(mat, x, b).converged


def test_a_product_into_the_memory_of_the_matrix_is_refused():
    mesh, mat, _ = laplace(2)
    inside = op2.Dat(mesh.vertices, mat.data.reshape(-1)[: mesh.vertices.size])
    with pytest.raises(pl.errors.DataValueError, match="it shares memory with the matrix"):
        mat.mult(op2.Dat(mesh.vertices), inside)


def test_sparsities_say_what_does_not_fit():
    cells, nodes, posts = op2.Set(2, "cells"), op2.Set(3, "nodes"), op2.Set(4, "posts")
    ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2]], "ends")
    with pytest.raises(pl.errors.MapValueError, match="the map `ends` leads to set `nodes`, but it must lead to set `posts`"):
        op2.Sparsity((nodes**1, posts**1), (ends, ends))
    with pytest.raises(pl.errors.MapTypeError):
        op2.Sparsity(nodes**1, [3])
    with pytest.raises(pl.errors.DataSetTypeError):
        op2.Sparsity(3, ends)
    with pytest.raises(pl.errors.SparsityTypeError):
        op2.Mat(nodes)
    mat = op2.Mat(op2.Sparsity(nodes, ends))
    with pytest.raises(pl.errors.ModeValueError, match="READ is not allowed for a matrix, only WRITE, INC"):
        op2.par_loop(op2.Kernel("void f(double *a) {}", "f"), cells, mat(op2.READ, (ends, ends)))


def line_of_nodes(dtype=float, dim=1, name="mat"):
    """A matrix of three nodes in a line, all zero."""
    cells, nodes = op2.Set(2, "cells"), op2.Set(3, "nodes")
    ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2]], "ends")
    return op2.Mat(op2.Sparsity(nodes**dim, ends), dtype, name), ends


def test_entries_keep_their_numbers():
    mat, _ = line_of_nodes(np.int64)
    mat.set_local_diagonal_entries([0], 2**53 + 1)
    mat.inc_local_diagonal_entries([1], 2.0)
    mat.set_values([2], [1, 2], [2**62 + 1, -(2**63)])
    assert mat.values.tolist() == [[2**53 + 1, 0, 0], [0, 2, 0], [0, 2**62 + 1, -(2**63)]]
    mat, _ = line_of_nodes(complex)
    mat.set_local_diagonal_entries([0, 2], 1j)
    mat.zero_rows([1], 2 - 1j)
    assert mat.values.diagonal().tolist() == [1j, 2 - 1j, 1j]
    mat, _ = line_of_nodes(np.float32)
    mat.set_local_diagonal_entries(mat.sparsity.dsets[0].set(0, 2), 2**70)
    mat.set_values([0, 1], [1], [True, 0.1])
    assert mat.values[:2].tolist() == [[2**70, 1, 0], [0, np.float32(0.1), 0]] and mat.values[2, 2] == 2**70
    mat, _ = line_of_nodes(bool)
    mat.set_local_diagonal_entries([1])
    assert mat.values.diagonal().tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("dtype", "change", "error", "message"),
    [
        (int, lambda m: m.set_local_diagonal_entries([0], 0.5), pl.errors.DataValueError, "matrix `mat` has type int64, which cannot hold 0.5"),
        (int, lambda m: m.inc_local_diagonal_entries([0], 2.0**63), pl.errors.DataValueError,
         "matrix `mat` has type int64, which cannot hold 9.223372036854776e.18"),
        (int, lambda m: m.zero_rows([0], float("nan")), pl.errors.DataValueError, "matrix `mat` has type int64, which cannot hold nan"),
        (int, lambda m: m.set_values([0], [0, 1], [[2, 1.7]]), pl.errors.DataValueError, "matrix `mat` has type int64, which cannot hold 1.7"),
        (int, lambda m: m.set_values([0], [0], [[1j]]), pl.errors.DataTypeError, "matrix `mat` has type int64, which cannot hold complex numbers"),
        (np.int8, lambda m: m.addto_values([0], [0], np.array([[300]])), pl.errors.DataValueError, "matrix `mat` has type int8, which cannot hold 300"),
        (np.uint8, lambda m: m.set_values([0, 1], [0], [1, -1]), pl.errors.DataValueError, "matrix `mat` has type uint8, which cannot hold -1"),
        (bool, lambda m: m.set_local_diagonal_entries([0], 2), pl.errors.DataValueError, "matrix `mat` has type bool, which cannot hold 2.*"),
        (np.float32, lambda m: m.set_values([0], [0], [[1e300]]), pl.errors.DataValueError, "matrix `mat` has type float32, which cannot hold 1e\\+300"),
        (float, lambda m: m.set_values([0], [0], [["1"]]), pl.errors.DataTypeError, "the entries of matrix `mat` must be numbers of type float64, not an object of type list"),
        (float, lambda m: m.set_values([0, 1], [0], [[1], [2, 3]]), pl.errors.DataTypeError,
         "the entries of matrix `mat` must be numbers of type float64, not an object of type list"),
        (float, lambda m: m.set_values([0], [0, 1], [1, None]), pl.errors.DataTypeError, "the entries of matrix `mat` must be numbers of type float64, not an object of type list"),
        (float, lambda m: m.zero_rows([[0], [1, 2]]), pl.errors.IndexTypeError, "rows of matrix `mat` must be given by integer index, not object"),
        (float, lambda m: m.set_values([0], [0, 1], [[1.0], [2.0]]), pl.errors.DataValueError,
         r"1 rows and 2 columns of matrix `mat` need an array of shape \(1, 2\), not \(2, 1\)"),
        (float, lambda m: m.addto_values([0], [0, 1], [1.0]), pl.errors.DataValueError,
         r"1 rows and 2 columns of matrix `mat` need an array of shape \(1, 2\), not \(1,\)"),
        (float, lambda m: m.addto_values([0], [0.5], [1.0]), pl.errors.IndexTypeError, "columns of matrix `mat` must be given by integer index, not float64"),
        (float, lambda m: m.set_values([np.uint64(2**64 - 1)], [0], [1.0]), pl.errors.IndexValueError, "rows of matrix `mat` have no index 18446744073709551615"),
        (float, lambda m: m.set_local_diagonal_entries([False, False, True]), pl.errors.IndexTypeError,
         r"rows of matrix `mat` must be given by index, not by a boolean mask; use np.flatnonzero\(mask\)"),
        (float, lambda m: m.zero_rows([1.7]), pl.errors.IndexTypeError, "rows of matrix `mat` must be given by integer index, not float64"),
        (float, lambda m: m.set_local_diagonal_entries(op2.Set(7, "other")(1, 2)), pl.errors.IndexValueError,
         "the rows of matrix `mat` are on set `nodes`, but the subset is of set `other`"),
    ],
)  # fmt: skip
def test_changes_that_cut_numbers_or_mean_other_entries_are_refused(dtype, change, error, message):
    mat, _ = line_of_nodes(dtype)
    mat.data[:] = 1
    with pytest.raises(error, match=f"^{message}$"):
        change(mat)
    assert (mat.data_ro == 1).all()


def test_changes_of_mixed_matrices_are_checked_before_any_part_is_changed():
    cells, nodes = op2.Set(2, "cells"), op2.Set(3, "nodes")
    ends, own = op2.Map(cells, nodes, 2, [[0, 1], [1, 2]], "ends"), op2.Map(cells, cells, 1, [0, 1], "own")
    both = op2.MixedMap([own, ends])
    mat = op2.MixedMat(op2.MixedSparsity(op2.MixedDataSet([cells, nodes]), both), int, "mixed")
    with pytest.raises(pl.errors.DataValueError, match="matrix `mixed` has type int64, which cannot hold 1.5"):
        mat.set_values([0], [0, 2], [[1, 1.5]])
    with pytest.raises(pl.errors.DataValueError, match=r"1 rows and 2 columns of matrix `mixed` need an array of shape \(1, 2\), not \(2, 1\)"):
        mat.set_values([0], [0, 2], [[1], [2]])
    with pytest.raises(pl.errors.IndexTypeError, match="rows of matrix `mixed` must be given by integer index, not float64"):
        mat.zero_rows([0.5])
    assert not mat.values.any()
    row = op2.MixedMat(op2.MixedSparsity((op2.MixedDataSet([cells, nodes]), cells), [(both, own)]), name="tall")
    for block in row:
        block.data[:] = 2
    row.zero_rows([0, 3], 0)
    assert row.values.tolist() == [[0, 0], [0, 2], [2, 0], [0, 0], [0, 2]]
    with pytest.raises(pl.errors.IndexValueError, match="matrix `tall` has 2 × 1 parts, so the rows of part 1 have no diagonal"):
        row.zero_rows([3])


def test_rows_without_a_diagonal_can_be_zero():
    cells, nodes, posts = op2.Set(1, "cells"), op2.Set(2, "nodes"), op2.Set(3, "posts")
    maps = op2.Map(cells, nodes, 2, [[0, 1]]), op2.Map(cells, posts, 2, [[2, 1]])
    mat = op2.Mat(op2.Sparsity((nodes, posts), maps), name="mat")
    mat.data[:] = 3
    mat.zero_rows([0], 0.0)
    assert mat.values.tolist() == [[0, 0, 0], [0, 3, 3]]
    with pytest.raises(pl.errors.IndexValueError, match="matrix `mat` does not store a block in row 0 and column 0"):
        mat.zero_rows([0])
    with pytest.raises(pl.errors.IndexValueError, match="a block of matrix `mat` has no component 1; it has 1 rows"):
        mat.zero_rows([0], 0, 1)
    assert mat.values.tolist() == [[0, 0, 0], [0, 3, 3]]


@pytest.mark.parametrize(
    ("dim", "lgmaps", "unrolled", "error", "message"),
    [
        (1, ([-1], [0, 1, 2]), False, pl.errors.MapValueError, "lgmaps need a number for each row of blocks of matrix `mat`, 3 in total, but 1 were given"),
        (1, ([0, 1, 2], []), False, pl.errors.MapValueError, "lgmaps need a number for each column of blocks of matrix `mat`, 3 in total, but 0 were given"),
        (1, ([0, 1, 2], [0, 1, 2, -1]), False, pl.errors.MapValueError,
         "lgmaps need a number for each column of blocks of matrix `mat`, 3 in total, but 4 were given"),
        (2, ([0, 1, 2, 3, 4, 5], [0, 1, 2]), False, pl.errors.MapValueError,
         "lgmaps need a number for each row of blocks of matrix `mat`, 3 in total, but 6 were given; with unroll_map=True they need one for each row"),
        (2, ([0, 1, 2], [0, 1, 2]), True, pl.errors.MapValueError, "lgmaps need a number for each row of matrix `mat`, 6 in total, but 3 were given"),
        (1, ([[-1, 0, 1]], [0, 1, 2]), False, pl.errors.MapValueError, r"lgmaps must be one-dimensional, but the one for the rows of matrix `mat` has shape \(1, 3\)"),
        (1, ([0, 1, 2], -1), False, pl.errors.MapValueError, r"lgmaps must be one-dimensional, but the one for the columns of matrix `mat` has shape \(\)"),
        (1, ([0.0, 1.0, -1.0], None), False, pl.errors.MapTypeError, "lgmaps must have integers for the rows of matrix `mat`, not float64"),
        (1, ([True, True, False], None), False, pl.errors.MapTypeError, "lgmaps must have integers for the rows of matrix `mat`, not bool"),
        (1, ([[0], [1, 2]], None), False, pl.errors.MapTypeError, "lgmaps must have integers for the rows of matrix `mat`, not an object of type list"),
        (1, ([0, 1, -1],), False, pl.errors.MapValueError, "lgmaps must be two lists, one for rows and one for columns, but 1 were given"),
        (1, 5, False, pl.errors.MapTypeError, "lgmaps must be two lists, one for rows and one for columns, not 5"),
        (1, {0: 1}, False, pl.errors.MapTypeError, "lgmaps must be two lists, one for rows and one for columns, not an object of type dict"),
    ],
)  # fmt: skip
def test_lists_of_rows_and_columns_that_do_not_fit_are_refused(dim, lgmaps, unrolled, error, message):
    mat, ends = line_of_nodes(dim=dim)
    with pytest.raises(error, match=f"^{message}$"):
        mat(op2.INC, (ends, ends), lgmaps=lgmaps, unroll_map=unrolled)


class Numbers:
    """As PETSc's objects: a number for each row, and one for each block of rows."""

    indices, block_indices = np.array([0, 1, -1, -1, 4, 5]), np.array([0, -1, 2])


@pytest.mark.parametrize(
    ("lgmaps", "unrolled"),
    [
        (([0, -1, 2], np.array([0, -1, 2])), False),
        ((np.array([0, 1, -1, -1, 4, 5]), [0, 0, -7, -1, 0, 0]), True),
        ([([0, -1, 2], [0, -1, 2])], False),
        ((Numbers(), Numbers()), False),
        ((Numbers(), Numbers()), True),
    ],
)
def test_blocks_of_rows_are_dropped_by_numbers_of_blocks_or_of_rows(lgmaps, unrolled):
    mat, ends = line_of_nodes(dim=2)
    kernel = op2.Kernel("void ones(double *a) { for (int i = 0; i < 16; i++) a[i] += 1; }", "ones")
    op2.par_loop(kernel, ends.iterset, mat(op2.INC, (ends, ends), lgmaps=lgmaps, unroll_map=unrolled))
    expected = np.zeros((6, 6))
    expected[:2, :2] = expected[4:, 4:] = 1
    assert (mat.values == expected).all()


def test_single_rows_and_columns_of_blocks_are_dropped(context):
    mat, ends = line_of_nodes(dim=2)
    kernel = op2.Kernel("void ones(double *a) { for (int i = 0; i < 16; i++) a[i] += 1; }", "ones")
    lists = ([0, -1, 2, 3, 4, 5], [0, 1, 2, 3, -1, 5])
    op2.par_loop(kernel, ends.iterset, mat(op2.INC, (ends, ends), lgmaps=lists, unroll_map=True))
    expected = np.zeros((6, 6))
    expected[:4, :4] += 1
    expected[2:, 2:] += 1
    expected[1, :] = expected[:, 4] = 0
    np.testing.assert_array_equal(mat.values, expected)


def test_lists_of_one_side_alone_drop_nothing_of_the_other():
    mat, ends = line_of_nodes()
    kernel = op2.Kernel("void ones(double *a) { for (int i = 0; i < 4; i++) a[i] += 1; }", "ones")
    op2.par_loop(kernel, ends.iterset, mat(op2.INC, (ends, ends), lgmaps=(None, [0, -1, 2])))
    assert mat.values.tolist() == [[1, 0, 0], [1, 0, 1], [0, 0, 1]]


def test_three_maps_are_three_pairs_and_what_is_third_else_must_be_regions():
    cells, nodes = op2.Set(1, "cells"), op2.Set(4, "nodes")
    maps = [op2.Map(cells, nodes, 2, [[0, end]], f"to {end}") for end in (1, 2, 3)]
    for given in (tuple(maps), maps):
        sparsity = op2.Sparsity(nodes, given)
        assert len(sparsity.maps) == 3 and sparsity.colidx[: sparsity.rowptr[1]].tolist() == [0, 1, 2, 3]
    assert op2.Sparsity(nodes, (maps[0], maps[1], op2.ALL)).nz == 7
    with pytest.raises(pl.errors.ModeValueError, match="expected regions, not an object of type int"):
        op2.Sparsity(nodes, (maps[0], maps[1], 3))
    mat = op2.Mat(op2.Sparsity(nodes, maps))
    with pytest.raises(pl.errors.ModeValueError, match="expected regions, not an object of type int"):
        mat(op2.INC, (maps[0], maps[0], 3))


def test_values_of_maps_are_shown_as_they_were_given():
    cells, nodes = op2.Set(1, "cells"), op2.Set(2, "nodes")
    with pytest.raises(pl.errors.MapValueError, match=f"map `m`: entry \\[0, 0\\] is {2**63 + 1}, but set `nodes` has 2 elements"):
        op2.Map(cells, nodes, 1, np.array([[2**63 + 1]], np.uint64), "m")


# Views for other libraries --------------------------------------------------------------------------------------------------------


class Torch(types.ModuleType):
    """What is asked of PyTorch, by NumPy: arrays by DLPack, and tensors of three arrays."""

    def __init__(self):
        super().__init__("torch")
        self.from_dlpack = lambda array: SimpleNamespace(numbers=np.from_dlpack(array), device="cpu")
        self.tensor = lambda values, device: np.array(values)
        self.sparse_csr_tensor = lambda *parts, size: ("csr", *parts, size)
        self.sparse_bsr_tensor = lambda *parts, size: ("bsr", *parts, size)


@pytest.mark.parametrize("dim, form", [(1, "csr"), (2, "bsr")])
def test_pytorch_gets_the_numbers_themselves(monkeypatch, dim, form):
    nodes, edges = op2.Set(3, "nodes"), op2.Set(2, "edges")
    ends = op2.Map(edges, nodes, 2, [[0, 1], [1, 2]], "ends")
    mat = op2.Mat(op2.Sparsity(nodes**dim, ends), name="a")
    monkeypatch.setitem(sys.modules, "torch", Torch())
    with pl.Context("cpu:1"):
        found, rows, columns, values, size = mat.to_torch()
        assert (found, size) == (form, mat.shape) and rows.tolist() == [0, 2, 5, 7] and columns.tolist() == [0, 1, 0, 1, 2, 1, 2]
        assert np.shares_memory(values.numbers, mat.data_ro) and values.numbers.shape == mat.data_ro.shape
        version = mat.data_ro.sum()
        values.numbers[...] += 1
        assert mat.data_ro.sum() == version + mat.data_ro.size
        assert mat.to_torch()[1] is rows, "indices are copied once"


def test_views_for_other_libraries_say_what_they_need(monkeypatch):
    nodes = op2.Set(3, "nodes")
    own = op2.Map(nodes, nodes, 1, [0, 1, 2], "own")
    mat, blocks = op2.Mat(op2.Sparsity(nodes**1, own), name="a"), op2.Mat(op2.Sparsity(nodes**2, own), name="b")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pl.Context("cpu:1"):
        with pytest.raises(ImportError, match="torch is not installed; install it with `pip install torch`"):
            mat.to_torch()
        with pytest.raises(pl.errors.DataValueError, match="CuPy needs data on CUDA, but `a` is on cpu:1; use it inside"):
            mat.to_cupy()
        with pytest.raises(pl.errors.DataValueError, match="CuPy does not support block matrices, but the blocks of `b` are 2 × 2; use to_torch or to_scipy"):
            blocks.to_cupy()


def test_cupy_and_pytorch_share_the_memory_of_a_gpu():
    try:
        context = pl.Context("cuda")
    except pl.DeviceError as error:
        pytest.skip(str(error))
    nodes, edges = op2.Set(4, "nodes"), op2.Set(3, "edges")
    ends = op2.Map(edges, nodes, 2, [[0, 1], [1, 2], [2, 3]], "ends")
    mat = op2.Mat(op2.Sparsity(nodes**1, ends), name="a")
    add = op2.Kernel("void add(double a[2][2]) { a[0][0] += 2; a[0][1] -= 1; a[1][0] -= 1; a[1][1] += 2; }", "add")
    with context:
        op2.par_loop(add, edges, mat(op2.INC, (ends, ends)))
        for name, view in (("cupy", "to_cupy"), ("torch", "to_torch")):
            library = pytest.importorskip(name)
            shared = getattr(mat, view)()
            op2.par_loop(add, edges, mat(op2.INC, (ends, ends)))
            ones = library.ones(4, dtype=library.float64, **({} if name == "cupy" else {"device": "cuda"}))
            product = (shared @ ones).tolist()
            assert np.allclose(product, mat.values.sum(axis=1)) and any(product), "a loop changes what the view has"
