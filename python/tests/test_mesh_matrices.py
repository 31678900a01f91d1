"""Sparse matrices on meshes: what is stored, what loops leave, products and solvers, against NumPy."""

import os

import numpy as np
import pytest

import parloop as pl
import parloop.mesh as op2

DEVICES = ["cpu:1", "cpu:2", "opencl"]


@pytest.fixture(params=DEVICES)
def context(request):
    try:
        context = pl.Context(request.param)
    except pl.DeviceError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))
    with context:
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


def test_products_are_those_of_numpy(context):
    mesh, mat, expected = laplace()
    x = op2.Dat(mesh.vertices, np.arange(mesh.vertices.size, dtype=float))
    np.testing.assert_allclose((mat @ x).data_ro, expected @ x.data_ro, atol=1e-12)
    y = op2.Dat(mesh.vertices)
    assert mat.mult(x, y, transposed=True) is y
    np.testing.assert_allclose(y.data_ro, expected.T @ x.data_ro, atol=1e-12)
    with pytest.raises(pl.MeshError, match="is in the memory of what is multiplied"):
        mat.mult(x, x)
    with pytest.raises(pl.MeshError, match="another dimension"):
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
    with pytest.raises(pl.IndexValueError, match="stores no block in row 0 and column 15"):
        mat.set_values([0], [15], [[1.0]])
    with pytest.raises(pl.IndexValueError, match="has 16 rows of blocks, not one with number 16"):
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
    with pytest.raises(ValueError, match='unknown method "lu"; the methods are "cg" and "gmres"'):
        op2.solve(mat, x, b, "lu")
    with pytest.raises(pl.DataTypeError, match="solve takes a Mat, not ndarray"):
        op2.solve(np.eye(2), x, b)
    with pytest.raises(pl.DataValueError, match="maxiter is -1, but must be at least 0"):
        op2.solve(mat, x, b, maxiter=-1)
    with pytest.raises(pl.DataValueError, match="restart is 0, but must be at least 1"):
        op2.solve(mat, x, b, "gmres", restart=0)
    for tolerance in (-1, np.nan, np.inf):
        with pytest.raises(pl.DataValueError, match="rtol and atol must be finite and not negative"):
            op2.solve(mat, x, b, rtol=tolerance)
    whole = op2.Dat(mesh.vertices, np.ones(mesh.vertices.size, int), name="whole")
    with pytest.raises(pl.DataValueError, match="matrix `laplace` cannot be multiplied with `whole`: it has another type"):
        op2.solve(mat, x, whole)
    with pytest.raises(pl.DataValueError, match="x and b share memory"):
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
    with pytest.raises(pl.DataValueError, match="it is in the memory of the matrix"):
        mat.mult(op2.Dat(mesh.vertices), inside)


def test_sparsities_say_what_does_not_fit():
    cells, nodes, posts = op2.Set(2, "cells"), op2.Set(3, "nodes"), op2.Set(4, "posts")
    ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2]], "ends")
    with pytest.raises(pl.MapValueError, match="the map `ends` leads to set `nodes`, but it must lead to set `posts`"):
        op2.Sparsity((nodes**1, posts**1), (ends, ends))
    with pytest.raises(pl.MapTypeError):
        op2.Sparsity(nodes**1, [3])
    with pytest.raises(pl.DataSetTypeError):
        op2.Sparsity(3, ends)
    with pytest.raises(pl.SparsityTypeError):
        op2.Mat(nodes)
    mat = op2.Mat(op2.Sparsity(nodes, ends))
    with pytest.raises(pl.ModeValueError, match="READ is not possible for a matrix, only WRITE, INC"):
        op2.par_loop(op2.Kernel("void f(double *a) {}", "f"), cells, mat(op2.READ, (ends, ends)))
