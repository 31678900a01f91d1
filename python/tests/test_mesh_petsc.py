"""Data and matrices as objects of PETSc's, over the same memory. These tests need petsc4py."""

import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

import parloop as pl
import parloop.mesh as op2

pytest.importorskip("petsc4py")
from parloop.mesh._petsc import installed, petsc  # noqa: E402 - it begins PETSc, which is to be skipped where it is missing

if not installed():
    pytest.skip("petsc4py is a stand-in", allow_module_level=True)

PETSc = petsc()


@pytest.fixture
def opencl():
    """A context whose memory is not the host's. These tests run without the others' fixtures, which need more than Debian's packages."""
    try:
        return pl.Context("opencl")
    except pl.DeviceError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"no OpenCL device found: {error}")


def line(n=6, dim=1):
    """A matrix on the nodes of a line, by cells that add up."""
    cells, nodes = op2.Set(n - 1, "cells"), op2.Set(n, "nodes")
    ends = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(n - 1)], "ends")
    mat = op2.Mat(op2.Sparsity(nodes**dim, ends), name="a")
    size = 2 * dim
    code = f"void cell(double *a) {{ for (int i = 0; i < {size}; i++) for (int j = 0; j < {size}; j++) a[i * {size} + j] += (i == j ? 3 + i : -0.5 * (i + 1)); }}"
    op2.par_loop(op2.Kernel(code, "cell"), cells, mat(op2.INC, (ends, ends)))
    return nodes, mat


def test_vectors_share_the_memory_of_data():
    nodes = op2.Set((3, 4, 6), "nodes")
    x = op2.Dat(nodes**2, np.arange(12.0).reshape(6, 2), name="x")
    with x.vec_ro as v:
        assert isinstance(v, PETSc.Vec) and v.local_size == 8 and v.block_size == 2 and v.norm() == np.linalg.norm(np.arange(8.0))
    with x.vec as v:
        v.scale(2)
        assert x.data_ro[1].tolist() == [4, 6], "it is the same memory"
    assert x.data_ro_with_halos.ravel().tolist() == [0, 2, 4, 6, 8, 10, 12, 14, 8, 9, 10, 11], "ghosts are not part of it"
    before = x.dat_version
    with x.vec_wo as v:
        v.set(1)
    assert x.dat_version > before and x.norm == 8**0.5
    with pytest.raises(pl.errors.DataValueError, match="a read-only vector of `x` was written to; use vec"), x.vec_ro as v:
        v.set(2)
    with pytest.raises(pl.errors.DataTypeError, match="PETSc is built for numbers of type float64, but `y` has type float32; use data of that type"):
        op2.Dat(nodes, dtype="float32", name="y").vec.__enter__()


def test_a_vector_has_what_a_device_left(opencl):
    nodes = op2.Set(5, "nodes")
    x, twice = op2.Dat(nodes, np.arange(5.0)), op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice")
    op2.par_loop(twice, nodes, x(op2.RW), context=opencl)
    with x.vec as v:
        assert v.array_r.tolist() == [0, 2, 4, 6, 8]
        v.shift(1)
    op2.par_loop(twice, nodes, x(op2.RW), context=opencl)
    assert x.data_ro.tolist() == [2, 6, 10, 14, 18]


@pytest.mark.parametrize("dim", [1, 2])
def test_matrices_are_those_of_petsc(dim):
    nodes, mat = line(dim=dim)
    handle, dense = mat.handle, mat.values
    assert isinstance(handle, PETSc.Mat) and handle is mat.handle and handle.getSize() == mat.shape
    x, y = op2.Dat(nodes**dim, np.arange(1.0, 6 * dim + 1).reshape(-1, dim)), op2.Dat(nodes**dim)
    with x.vec_ro as from_, y.vec_wo as to:
        handle.mult(from_, to)
    assert np.allclose(y.data_ro.ravel(), dense @ x.data_ro.ravel())
    with x.vec_ro as from_, y.vec_wo as to:
        handle.multTranspose(from_, to)
    assert np.allclose(y.data_ro.ravel(), dense.T @ x.data_ro.ravel())
    assert np.allclose(handle.getDiagonal().array_r, np.diag(dense))
    mat.set_local_diagonal_entries([0], 100.0)
    assert np.allclose(mat.handle.getDiagonal().array_r[:dim], 100), "PETSc sees changes"
    if dim == 1:
        handle.setValue(1, 1, 50.0)
        handle.assemble()
        assert mat.values[1, 1] == 50, "and so do we those of PETSc"


@pytest.mark.parametrize("dim", [1, 2])
def test_solvers_of_petsc_take_them(dim):
    nodes, mat = line(dim=dim)
    x, b = op2.Dat(nodes**dim), op2.Dat(nodes**dim, np.arange(1.0, 6 * dim + 1).reshape(-1, dim))
    ksp = PETSc.KSP().create(comm=PETSc.COMM_SELF)
    for factor in (1.0, 3.0):
        mat.data[...] *= factor
        ksp.setOperators(mat.handle)
        ksp.setType("gmres")
        ksp.getPC().setType("jacobi" if dim == 2 else "lu")
        ksp.setTolerances(rtol=1e-12)
        with b.vec_ro as right, x.vec_wo as solution:
            ksp.solve(right, solution)
        assert np.allclose(mat.values @ x.data_ro.ravel(), b.data_ro.ravel()), "numbers that were changed are factored again"


def test_data_and_matrices_of_several_parts_are_vectors_and_nests():
    nodes, mat = line()
    cells = op2.Set(2, "cells")
    u = op2.MixedDat([op2.Dat(cells, [1.0, 2.0]), op2.Dat(nodes, np.arange(6.0))])
    with u.vec as v:
        assert v.array_r.tolist() == [1, 2, 0, 1, 2, 3, 4, 5]
        v.scale(2)
    assert u[0].data_ro.tolist() == [2, 4] and u[1].data_ro[5] == 10
    with pytest.raises(pl.errors.DataValueError, match=f"a read-only vector of `{u[0].name}`, `{u[1].name}` was written to"), u.vec_ro as v:
        v.set(0)
    assert u[0].data_ro.tolist() == [2, 4], "a copy"
    own = op2.Map(cells, cells, 1, [0, 1], "own")
    some = op2.Map(cells, nodes, 1, [1, 4], "some")
    both = op2.MixedMap([own, some])
    grid = op2.MixedMat(op2.MixedSparsity(u.dataset, both))
    for block in grid:
        block.data[...] = np.arange(1.0, block.data.size + 1)
    nest = grid.handle
    assert nest.getType() == "nest" and nest.getSize() == grid.shape
    result = nest.createVecLeft()
    with u.vec_ro as whole:
        nest.mult(whole, result)
        assert np.allclose(result.array_r, grid.values @ whole.array_r)


def test_rows_of_zeros_leave_other_rows_alone():
    _, mat = line()
    wanted = mat.values
    wanted[0] = 0
    wanted[0, 0] = 1
    mat.handle.zeroRows([0], 1.0)
    assert np.array_equal(mat.values, wanted)
    with pytest.raises(PETSc.Error):
        mat.handle.setValue(0, 5, 1.0)


def dense(handle):
    rows, columns = handle.getSize()
    return [[handle.getValue(row, column) for column in range(columns)] for row in range(rows)]


@pytest.mark.parametrize("change", [lambda h: h.axpy(1.0, h.duplicate(copy=True)), lambda h: h.transpose(), lambda h: h.convert("dense")])
@pytest.mark.parametrize("is_kept", [True, False])
def test_a_handle_that_left_the_memory_is_not_given_again(change, is_kept):
    _, mat = line()
    before = mat.values
    handle = mat.handle
    change(handle)
    if not is_kept:
        del handle
    with pytest.raises(pl.errors.DataValueError, match="the handle of `a` was requested, but PETSc changed the memory or the sparsity of its matrix"):
        mat.handle  # noqa: B018 - it raises
    assert np.array_equal(mat.values, before) and np.array_equal(dense(mat.handle), before), "then there is a new one"
    mat.data[...] = 9
    assert dense(mat.handle)[0][:3] == [9, 9, 0]


def test_a_matrix_is_looked_at_whatever_it_has():
    _, mat = line()
    mat.data[0] = np.nan
    handle = mat.handle
    assert mat.handle is handle and np.isnan(mat.data_ro[0]), "looking at memory leaves it as it was"
    handle.setValue(1, 1, 50.0)
    assert mat.handle is handle and mat.values[1, 1] == 50, "also before it is assembled"
    nodes = op2.Set(3, "nodes")
    empty = op2.Mat(op2.Sparsity(nodes, op2.Map(op2.Set(0, "none"), nodes, 1, np.zeros((0, 1), int))))
    assert empty.handle.getSize() == (3, 3) and empty.handle.getSize() == (3, 3)


@pytest.mark.parametrize("dim", [1, 2])
def test_a_handle_that_was_destroyed_is_made_again(dim):
    _, mat = line(dim=dim)
    mat.handle.destroy()
    handle = mat.handle
    handle.destroy()
    assert mat.handle.getSize() == mat.shape and mat.handle.getDiagonal().sum() == np.trace(mat.values)
    grid = mixed()
    grid.handle.destroy()
    grid[0, 0].handle.destroy()
    assert grid.handle.getSize() == grid.shape


def mixed():
    cells, nodes = op2.Set(2, "cells"), op2.Set(6, "nodes")
    both = op2.MixedMap([op2.Map(cells, cells, 1, [0, 1], "own"), op2.Map(cells, nodes, 1, [1, 4], "some")])
    return op2.MixedMat(op2.MixedSparsity(op2.MixedDataSet([cells, nodes]), both))


def test_a_nest_has_the_blocks_that_there_are():
    grid = mixed()
    for block in grid:
        block.data[...] = np.arange(1.0, block.data.size + 1)
    nest = grid.handle
    assert grid.handle is nest
    block = grid[0, 0].handle
    block.axpy(1.0, block.duplicate(copy=True))
    with pytest.raises(pl.errors.DataValueError, match="PETSc changed the memory or the sparsity of its matrix"):
        grid.handle  # noqa: B018 - it raises
    grid[0, 0].data[...] = 7
    x, y = grid.handle.createVecs()
    x.set(1)
    grid.handle.mult(x, y)
    assert np.allclose(y.array_r, grid.values.sum(axis=1))
    for change, found in ((lambda h: h.transpose(), "the memory or the sparsity of its matrix"), (lambda h: h.convert("aij"), "the blocks or the type of its nest")):
        change(grid.handle)
        with pytest.raises(pl.errors.DataValueError, match=f"the handle of `mixed_mat.*` was requested, but PETSc changed {found}"):
            grid.handle  # noqa: B018 - it raises
        assert grid.handle.getType() == "nest", "one error for all blocks"
        grid.handle.mult(x, y)
        assert np.allclose(y.array_r, grid.values.sum(axis=1))


@pytest.mark.parametrize("dim", [1, 2])
def test_handles_keep_matrices_and_nothing_else_does(dim):
    _, mat = line(dim=dim)
    lives, handle, wanted = weakref.ref(mat), mat.handle, mat.values.sum(axis=1)
    del mat
    gc.collect()
    x, y = handle.createVecs()
    x.set(1)
    handle.mult(x, y)
    assert np.allclose(y.array_r, wanted)
    ksp = PETSc.KSP().create(comm=PETSc.COMM_SELF)
    ksp.setOperators(handle)
    del handle
    gc.collect()
    assert lives() is not None and lives().handle == ksp.getOperators()[0], "PETSc has it"
    ksp.destroy()
    gc.collect()
    assert lives() is None
    _, mat = line(dim=dim)
    lives = weakref.ref(mat)
    mat.handle  # noqa: B018 - it is made
    del mat
    gc.collect()
    assert lives() is None


def test_what_is_set_for_a_handle_stays_as_long_as_the_matrix():
    _, mat = line()
    mat.handle.setNullSpace(PETSc.NullSpace().create(constant=True, comm=PETSc.COMM_SELF))
    gc.collect()
    line()[1].handle  # noqa: B018 - another one is made
    assert mat.handle.getNullSpace().hasConstant()


def test_nests_keep_the_matrices_of_their_blocks():
    grid = mixed()
    lives, nest = [weakref.ref(block) for block in grid], grid.handle
    for block in grid:
        block.data[...] = 2
    wanted = grid.values.sum(axis=1)
    del grid, block
    gc.collect()
    x, y = nest.createVecs()
    x.set(1)
    nest.mult(x, y)
    assert np.allclose(y.array_r, wanted)
    nest.destroy()
    gc.collect()
    assert [live() for live in lives] == [None] * 4


@pytest.mark.parametrize("held", ["", "h = A.handle", "op2.h = A.handle", "op2.k = petsc().KSP().create(petsc().COMM_SELF); op2.k.setOperators(A.handle)"])
def test_matrices_that_live_at_the_end_do_not_crash(held):
    code = f"""
import parloop.mesh as op2
from parloop.mesh._petsc import petsc
cells, nodes = op2.Set(1), op2.Set(2)
A = op2.Mat(op2.Sparsity(nodes**2, op2.Map(cells, nodes, 2, [[0, 1]])))
op2.A, x = A, A.handle.createVecs()
{held}
print("end")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_a_vector_that_is_written_in_a_block_that_raises_is_seen_on_a_device(opencl):
    nodes = op2.Set(3, "nodes")
    x, twice = op2.Dat(nodes, np.ones(3)), op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice")
    op2.par_loop(twice, nodes, x(op2.RW), context=opencl)
    with pytest.raises(KeyError), x.vec_ro as v:
        v.set(7)
        raise KeyError
    assert x.data_ro.tolist() == [7, 7, 7]
    op2.par_loop(twice, nodes, x(op2.RW), context=opencl)
    assert x.data_ro.tolist() == [14, 14, 14]


def test_a_vector_that_is_only_read_is_read_by_any_name():
    x, u = op2.Dat(op2.Set(2), [1.0, 2.0], name="x"), op2.MixedDat([op2.Dat(op2.Set(1), [4.0]), op2.Dat(op2.Set(2), [1.0, np.nan])])
    version = x.dat_version
    with x.vec_ro as v:
        # PETSc counts this as writing.
        assert v.array.sum() == 3 and v.array_r.sum() == 3
    with u.vec_ro as v:
        assert v.array[0] == 4
    assert x.dat_version == version
    with pytest.raises(pl.errors.DataValueError, match="a read-only vector of `x` was written to; use vec to write"), x.vec_ro as v:
        v.array[1] = 5
    with x.vec_ro as v:
        v.destroy()


def test_without_petsc4py_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "petsc4py", None)
    with pytest.raises(ImportError, match="petsc4py is not installed; install it with `apt-get install python3-petsc4py` or `pip install petsc4py`"):
        op2.Dat(op2.Set(1)).vec.__enter__()
