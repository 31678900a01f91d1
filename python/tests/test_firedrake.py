"""Programs of Firedrake's with their loops on Parloop give the numbers that PyOP2 gives. These tests need Firedrake."""

import ctypes
import gc
import shutil
import subprocess
import sys
import weakref

import numpy as np
import pytest

pytest.importorskip("firedrake", reason="Firedrake is not installed; see docs/guides/firedrake.md")
import firedrake as fd  # noqa: E402 - it is skipped where it is missing
from pyop2 import op2  # noqa: E402

import parloop as pl  # noqa: E402
import parloop.firedrake as on_parloop  # noqa: E402
from parloop.captured import rerun  # noqa: E402


@pytest.fixture(autouse=True)
def without_hook():
    yield
    on_parloop.stop()


def numbers(result):
    """The numbers of a form that was assembled, or of other results."""
    if isinstance(result, fd.matrix.MatrixBase):
        handle = result.petscmat
        if handle.getType() == "nest":
            return np.concatenate([np.asarray(block.values).ravel() for block in result.M])
        return handle.convert("dense", fd.PETSc.Mat()).getDenseArray().copy()
    if isinstance(result, (fd.Function, fd.Cofunction)):
        return np.concatenate([np.asarray(dat.data_ro).ravel().copy() for dat in result.dat])
    return np.array(result, dtype=float)


def same(compute, device="cpu:2", left=()):
    """Computes with PyOP2 and then with Parloop, compares, and checks that only these reasons left loops to PyOP2."""
    on_parloop.stop()
    wanted = numbers(compute())
    on_parloop.use(device)
    found = numbers(compute())
    report = on_parloop.report()
    on_parloop.stop()
    scale = max(np.abs(wanted).max(initial=0), 1e-300)
    assert found.shape == wanted.shape and np.abs(found - wanted).max(initial=0) <= 1e-12 * scale
    assert set(report.reasons) <= set(left), str(report)
    assert report.parloop_runs > 0, str(report)
    return report


def space(family="CG", degree=1, cells=6, quadrilateral=False):
    return fd.FunctionSpace(fd.UnitSquareMesh(cells, cells, quadrilateral=quadrilateral), family, degree)


def some(V, seed=1):
    f = fd.Function(V)
    for place, dat in enumerate(f.dat):
        dat.data[...] = np.random.default_rng(seed + place).random(dat.data.shape)
    return f


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("quadrilateral", [False, True])
def test_vectors_functionals_and_matrices(degree, quadrilateral):
    V = space("CG", degree, quadrilateral=quadrilateral)
    u, v, f = fd.TrialFunction(V), fd.TestFunction(V), some(V)
    same(lambda: fd.assemble(f * v * fd.dx + fd.inner(fd.grad(f), fd.grad(v)) * fd.dx))
    same(lambda: fd.assemble(f * f * fd.dx + f * fd.ds))
    same(lambda: fd.assemble(fd.inner(fd.grad(u), fd.grad(v)) * fd.dx + fd.Constant(3.0) * u * v * fd.ds))


def test_matrices_with_boundary_conditions():
    V = space("CG", 2)
    u, v = fd.TrialFunction(V), fd.TestFunction(V)
    bcs = [fd.DirichletBC(V, 1.0, (1, 2)), fd.DirichletBC(V, 0.0, 3)]
    same(lambda: fd.assemble(fd.inner(fd.grad(u), fd.grad(v)) * fd.dx, bcs=bcs))


@pytest.mark.parametrize("mat_type", ["aij", "baij"])
@pytest.mark.parametrize("component", [None, 1])
def test_matrices_of_vectors(mat_type, component):
    V = fd.VectorFunctionSpace(fd.UnitSquareMesh(5, 4), "CG", 1)
    u, v = fd.TrialFunction(V), fd.TestFunction(V)
    bcs = [fd.DirichletBC(V if component is None else V.sub(component), 0, 1)]
    form = fd.inner(fd.sym(fd.grad(u)), fd.sym(fd.grad(v))) * fd.dx + u[0] * v[1] * fd.dx
    same(lambda: fd.assemble(form, bcs=bcs, mat_type=mat_type))


@pytest.mark.parametrize("mat_type", ["aij", "nest"])
def test_mixed_matrices(mat_type):
    mesh = fd.UnitSquareMesh(4, 5)
    W = fd.VectorFunctionSpace(mesh, "CG", 2) * fd.FunctionSpace(mesh, "CG", 1)
    (u, p), (v, q) = fd.TrialFunctions(W), fd.TestFunctions(W)
    form = (fd.inner(fd.grad(u), fd.grad(v)) - p * fd.div(v) + q * fd.div(u)) * fd.dx
    bcs = [fd.DirichletBC(W.sub(0), fd.Constant((0, 0)), 1)]
    same(lambda: fd.assemble(form, bcs=bcs, mat_type=mat_type))
    f = some(W)
    same(lambda: fd.assemble(fd.inner(f, fd.TestFunction(W)) * fd.dx))


@pytest.mark.parametrize("mat_type", ["aij", "nest"])
@pytest.mark.parametrize("order", [0, 1])
def test_mixed_matrices_with_conditions_on_components(mat_type, order):
    mesh = fd.UnitSquareMesh(4, 5)
    spaces = [fd.VectorFunctionSpace(mesh, "CG", 2), fd.FunctionSpace(mesh, "CG", 1), fd.VectorFunctionSpace(mesh, "DG", 1)]
    W = fd.MixedFunctionSpace(spaces if order == 0 else spaces[::-1])
    u, v = fd.TrialFunction(W), fd.TestFunction(W)
    form = fd.inner(u, v) * fd.dx + sum(u[i] * v[j] * (1 + i + 3 * j) * fd.dx for i in range(5) for j in range(5))
    place = 0 if order == 0 else 2
    bcs = [fd.DirichletBC(W.sub(place).sub(1), 0, 1), fd.DirichletBC(W.sub(1), 0, 2)]
    same(lambda: fd.assemble(form, bcs=bcs, mat_type=mat_type))


def test_rectangular_matrices():
    mesh = fd.UnitSquareMesh(4, 3)
    V, Q = fd.VectorFunctionSpace(mesh, "CG", 2), fd.FunctionSpace(mesh, "DG", 1)
    same(lambda: fd.assemble(fd.div(fd.TrialFunction(V)) * fd.TestFunction(Q) * fd.dx))


def test_matrices_that_are_written():
    mesh = fd.UnitSquareMesh(4, 3)
    for V, W in (
        (fd.FunctionSpace(mesh, "CG", 1), fd.FunctionSpace(mesh, "CG", 2)),
        (fd.VectorFunctionSpace(mesh, "CG", 2), fd.VectorFunctionSpace(mesh, "DG", 1)),
    ):
        same(lambda V=V, W=W: fd.assemble(fd.interpolate(fd.TrialFunction(V), W)))


def test_interior_facets():
    V = space("DG", 1)
    u, v, n, f = fd.TrialFunction(V), fd.TestFunction(V), fd.FacetNormal(V.mesh()), some(V)
    same(lambda: fd.assemble(fd.inner(fd.jump(u, n), fd.jump(v, n)) * fd.dS + fd.avg(u) * fd.avg(v) * fd.dS))
    same(lambda: fd.assemble(fd.jump(f) * fd.jump(v) * fd.dS + f * v * fd.ds(1)))


def test_extruded_meshes():
    mesh = fd.ExtrudedMesh(fd.UnitSquareMesh(3, 2), 4)
    V = fd.FunctionSpace(mesh, "CG", 2)
    u, v, f = fd.TrialFunction(V), fd.TestFunction(V), some(V)
    same(lambda: fd.assemble(fd.inner(fd.grad(u), fd.grad(v)) * fd.dx, bcs=[fd.DirichletBC(V, 0, "bottom")]))
    same(lambda: fd.assemble(f * v * fd.dx + f * v * fd.ds_t + f * v * fd.ds_b + f * v * fd.ds_v))
    D = fd.FunctionSpace(mesh, "DG", 1)
    g, w = some(D), fd.TestFunction(D)
    same(lambda: fd.assemble(fd.jump(g) * fd.jump(w) * fd.dS_h + fd.jump(g) * fd.jump(w) * fd.dS_v))
    same(lambda: fd.assemble(fd.jump(fd.TrialFunction(D)) * fd.jump(w) * (fd.dS_h + fd.dS_v)))


def test_interpolation_and_projection():
    V = space("CG", 2)
    x, y = fd.SpatialCoordinate(V.mesh())
    same(lambda: fd.Function(V).interpolate(fd.sin(3 * x) * y))
    report = same(lambda: fd.Function(V).project(x * y, solver_parameters={"ksp_rtol": 1e-14}))
    assert report.parloop_runs >= 2


def test_the_real_space():
    mesh = fd.UnitSquareMesh(3, 3)
    R = fd.FunctionSpace(mesh, "R", 0)
    c, V = fd.Function(R).assign(2.5), fd.FunctionSpace(mesh, "DG", 1)
    v = fd.TestFunction(V)
    same(lambda: fd.assemble(c * v * fd.dx + fd.avg(c) * fd.avg(v) * fd.dS))
    same(lambda: fd.assemble(fd.TestFunction(R) * c * fd.dx))


def test_numbers_are_added_to_those_of_globals():
    cells = op2.Set(100, "cells")
    x = op2.Dat(cells, np.random.default_rng(0).random(100))

    def compute(access, start, code):
        g = op2.Global(1, start, dtype=float, comm=fd.COMM_WORLD)
        op2.par_loop(op2.Kernel(f"void k(double *g, const double *x) {{ {code} }}", "k"), cells, g(access), x(op2.READ))
        return g.data_ro.copy()

    same(lambda: compute(op2.INC, 7.0, "g[0] += x[0];"))
    same(lambda: compute(op2.MIN, 0.5, "g[0] = fmin(g[0], x[0]);"))
    same(lambda: compute(op2.MAX, 0.5, "g[0] = fmax(g[0], x[0]);"))


def test_subsets_views_and_maps_of_maps():
    cells, nodes, facets = op2.Set(20, "cells"), op2.Set(21, "nodes"), op2.Set(9, "facets")
    ends = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(20)], "ends")
    inside = op2.Map(facets, cells, 1, [[2 * i] for i in range(9)], "inside")
    values = np.random.default_rng(0).random((21, 3))

    def compute(iterset, map_, direct=False):
        x = op2.Dat(nodes**3, values.copy())
        y = op2.Dat(nodes**1, np.zeros(21))
        kernel = op2.Kernel("void k(double *y, const double *x) { y[0] += x[1]; y[1] += 2 * x[0]; }", "k")
        op2.par_loop(kernel, iterset, y(op2.INC, map_), op2.DatView(x, 1)(op2.READ, map_))
        return y.data_ro.copy()

    same(lambda: compute(cells, ends))
    same(lambda: compute(cells([1, 4, 5]), ends))
    same(lambda: compute(cells, op2.PermutedMap(ends, [1, 0])))
    same(lambda: compute(facets, op2.ComposedMap(ends, inside)))


@pytest.mark.parametrize("sizes", [(0, 5, 5), (2, 5, 5), (5, 5, 5), (2, 4, 5)])
def test_all_parts_of_a_set_are_run_once(sizes):
    cells, nodes = op2.Set(sizes, "cells"), op2.Set(6, "nodes")
    ends = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(5)], "ends")

    def compute():
        x, y = op2.Dat(nodes, np.zeros(6)), op2.Dat(cells, np.arange(5.0))
        kernel = op2.Kernel("void k(double *x, double *y) { x[0] += 1; x[1] += y[0]; y[0] += 10; }", "k")
        op2.par_loop(kernel, cells, x(op2.INC, ends), y(op2.RW))
        return np.concatenate([x.data_ro, y.data_ro_with_halos])

    same(compute)


def test_what_a_kernel_does_not_write_is_zero_as_with_pyop2():
    cells, nodes = op2.Set(4, "cells"), op2.Set(8, "nodes")
    both = op2.Map(cells, nodes, 2, np.arange(8).reshape(4, 2), "both")

    def compute():
        x = op2.Dat(nodes, np.full(8, 5.0))
        op2.par_loop(op2.Kernel("void k(double *x) { x[0] = 1; }", "k"), cells, x(op2.WRITE, both))
        return x.data_ro.copy()

    same(compute)
    assert compute().tolist() == [1, 0] * 4


def test_kernels_that_keep_values_or_cannot_be_compiled_are_left_to_pyop2():
    cells = op2.Set(6, "cells")

    def compute(code, **options):
        x = op2.Dat(cells, np.zeros(6))
        op2.par_loop(op2.Kernel(code, "k", **options), cells, x(op2.RW))
        return x.data_ro.copy()

    on_parloop.use("cpu")
    found = compute("void k(double *x) { static int n = 0; x[0] = n++; }")
    assert found.tolist() == list(range(6))
    assert dict(on_parloop.report().reasons) == {"a kernel that keeps values between calls": 1}


def test_user_code_does_what_it_does_in_pyop2():
    nodes = op2.Set(5)
    found = []
    for device in (None, "cpu"):
        if device:
            on_parloop.use(device)
        x = op2.Dat(nodes, np.arange(5.0))
        op2.par_loop(op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice", user_code="x[0] = 7;"), nodes, x(op2.RW))
        found.append(x.data_ro.tolist())
    assert found[0] == found[1] == [0, 2, 4, 6, 8] and not on_parloop.report().reasons


def test_nothing_is_kept_alive():
    on_parloop.use("cpu")

    def run():
        V = space("CG", 1)
        u, v = fd.TrialFunction(V), fd.TestFunction(V)
        f = some(V)
        A, b = fd.assemble(fd.inner(fd.grad(u), fd.grad(v)) * fd.dx), fd.assemble(f * v * fd.dx)
        nodes = V.dof_dset.set
        return [weakref.ref(thing) for thing in (nodes, f.dat, b.dat, A.M, V.cell_node_map())]

    references = run()
    gc.collect()
    gc.collect()
    assert [reference() for reference in references] == [None] * 5


def test_a_matrix_is_assembled_again_with_other_conditions_and_coefficients():
    V = space("CG", 1)
    u, v = fd.TrialFunction(V), fd.TestFunction(V)
    f, g = some(V), fd.Function(V).assign(2.0)
    forms = [(1 + c * c) * fd.inner(fd.grad(u), fd.grad(v)) * fd.dx for c in (f, g)]
    left, right = fd.DirichletBC(V, 0, 1), fd.DirichletBC(V, 0, 2)
    cases = [(form, bcs) for form in forms for bcs in ([], [left], [left, right], [right])]
    expected = [numbers(fd.assemble(form, bcs=bcs)) for form, bcs in cases]
    on_parloop.use("cpu")
    out = {len(bcs): fd.assemble(form, bcs=bcs) for form, bcs in cases}
    for _ in range(3):
        for (form, bcs), wanted in zip(cases, expected):
            assert np.allclose(numbers(fd.assemble(form, bcs=bcs, tensor=out[len(bcs)])), wanted, rtol=1e-12, atol=1e-14)
    assert not on_parloop.report().reasons


def test_coefficients_of_a_matrix_that_lives_are_not_kept_alive():
    on_parloop.use("cpu")
    V = space("CG", 1)
    u, v = fd.TrialFunction(V), fd.TestFunction(V)
    A = fd.assemble(u * v * fd.dx)

    def run():
        f = some(V)
        fd.assemble(f * f * u * v * fd.dx, tensor=A)
        return weakref.ref(f.dat), weakref.ref(f.dat._data.base if f.dat._data.base is not None else f.dat._data)

    references = run()
    # Firedrake itself keeps the form that a matrix was assembled from last.
    fd.assemble(u * v * fd.dx, tensor=A)
    gc.collect()
    gc.collect()
    assert [reference() for reference in references] == [None] * 2


def test_a_matrix_is_assembled_again_in_place():
    V = space("CG", 1)
    u, v, c = fd.TrialFunction(V), fd.TestFunction(V), fd.Constant(1.0)
    on_parloop.use("cpu:2")
    A = fd.assemble(c * u * v * fd.dx)
    first, state = numbers(A), A.petscmat.stateGet()
    c.assign(3.0)
    fd.assemble(c * u * v * fd.dx, tensor=A)
    assert np.allclose(numbers(A), 3 * first, rtol=1e-13) and A.petscmat.stateGet() > state


@pytest.mark.parametrize("kind", ["transposed", "dense", "baij", "aijperm", "aijsell"])
def test_a_matrix_that_was_changed_in_place_is_assembled_again(kind):
    V = space("CG", 1)
    f, x = some(V), some(V)
    form = (1 + f * f) * fd.TrialFunction(V) * fd.TestFunction(V) * fd.dx

    def compute():
        A = fd.assemble(form)
        fd.assemble(form, tensor=A)
        if kind == "transposed":
            A.petscmat.transpose()
        else:
            A.petscmat.convert(kind)
        found = []
        for bcs in ([], [fd.DirichletBC(V, 0, 1)], []):
            fd.assemble(form, tensor=A, bcs=bcs)
            with x.dat.vec_ro as vector:
                found.append((A.petscmat * vector).array.copy())
        return found

    expected = compute()
    on_parloop.use("cpu:2")
    for own, right in zip(compute(), expected, strict=True):
        assert np.allclose(own, right, rtol=1e-12, atol=1e-14)


def test_data_goes_to_a_device_with_memory_of_its_own_and_comes_back():
    try:
        context = pl.Context("opencl")
    except pl.DeviceError as error:
        pytest.skip(str(error))
    V = space("CG", 1, cells=3)
    u, v, f = fd.TrialFunction(V), fd.TestFunction(V), some(V)

    def compute():
        found = []
        for factor in (1.0, 2.5):
            f.dat.data[...] = factor * np.arange(f.dat.data.size)
            found += [fd.assemble(f * f * fd.dx), *numbers(fd.assemble(f * v * fd.dx))]
        A = fd.assemble(u * v * fd.dx, bcs=fd.DirichletBC(V, 0, 1))
        fd.assemble(3 * u * v * fd.dx, tensor=A)
        return np.array([*found, *numbers(A).ravel()])

    same(compute, context)


def test_a_device_sees_writes_and_the_host_sees_results_that_pyop2_does_not_count():
    try:
        on_parloop.use(pl.Context("opencl"))
    except pl.DeviceError as error:
        pytest.skip(str(error))
    nodes = op2.Set(5, "nodes")
    x, y, other = (op2.Dat(nodes, np.full(5, value), name=name) for value, name in ((1.0, "x"), (0.0, "y"), (4.0, "other")))
    kernel = op2.Kernel("void twice(double *y, const double *x) { y[0] = 2 * x[0]; }", "twice")

    def twice():
        op2.par_loop(kernel, nodes, y(op2.WRITE), x(op2.READ))

    kept, result = x.data, y.data_ro
    with x.vec as vector:
        pass
    address = x._kernel_args_[0]
    twice()
    assert result.tolist() == [2] * 5
    version = x.dat_version
    other.copy(x)
    twice()
    assert result.tolist() == [8] * 5
    kept[:] = 5
    twice()
    assert result.tolist() == [10] * 5
    ctypes.memset(address, 0, 5 * 8)
    twice()
    assert result.tolist() == [0] * 5 and x.dat_version == version
    vector.set(7)
    twice()
    assert result.tolist() == [14] * 5
    assert on_parloop.report().pyop2_runs == 0


def test_a_global_is_written_by_the_last_element():
    cells = op2.Set(100, "cells")
    x = op2.Dat(cells, np.random.default_rng(0).random(100))

    def compute(access, code, iterset=cells):
        g = op2.Global(2, [3.0, 4.0], dtype=float, comm=fd.COMM_WORLD)
        local = op2.Kernel(f"void k(double *g, const double *x) {{ {code} }}", "k", accesses=(access, op2.READ), dtypes=(np.dtype(float),) * 2)
        kernel = op2.GlobalKernel(local, (op2.GlobalKernelArg((2,)), op2.DatKernelArg((1,))), subset=iterset is not cells)
        op2.Parloop(kernel, iterset, [op2.GlobalParloopArg(g), op2.DatParloopArg(x)])()
        return g.data_ro.copy()

    same(lambda: compute(op2.WRITE, "g[0] = x[0];"))
    same(lambda: compute(op2.RW, "g[0] = 0.5 * g[0] + x[0];"))
    same(lambda: compute(op2.WRITE, "g[1] = x[0];", cells([3, 8, 20])))


def test_kernels_are_linked_with_libraries():
    cells = op2.Set(10, "cells")

    def compute():
        x = op2.Dat(cells, np.arange(10.0))
        code = "extern double ddot_(const int *, const double *, const int *, const double *, const int *);\n"
        code += "void k(double *x) { int one = 1; x[0] = ddot_(&one, x, &one, x, &one); }"
        op2.par_loop(op2.Kernel(code, "k", ldargs=["-l:libblas.so.3"]), cells, x(op2.RW))
        return x.data_ro.copy()

    same(compute)
    assert compute().tolist() == [i * i for i in range(10)]


def test_dense_systems_of_slate():
    V = space("DG", 1)
    u, v, f = fd.TrialFunction(V), fd.TestFunction(V), some(V)
    A, b = fd.Tensor(u * v * fd.dx + fd.inner(fd.grad(u), fd.grad(v)) * fd.dx), fd.Tensor(f * v * fd.dx)
    same(lambda: fd.assemble(A.inv))
    same(lambda: fd.assemble(A.solve(b)))


def test_kernels_of_loopy_that_leave_out_an_axis_of_length_one():
    V = space("DG", 1)

    def compute():
        f, g = some(V), fd.Function(V)
        fd.par_loop(("{[i]: 0 <= i < 3}", "g[i] = g[i] + 2*f[i]"), fd.dx, {"g": (g, fd.INC), "f": (f, fd.READ)})
        return g

    same(compute)


@pytest.mark.parametrize("mat_type", ["dense", "is"])
def test_matrices_that_petsc_fills(mat_type):
    V = fd.VectorFunctionSpace(fd.UnitSquareMesh(3, 4), "CG", 1)
    u, v = fd.TrialFunction(V), fd.TestFunction(V)
    form = fd.inner(fd.grad(u), fd.grad(v)) * fd.dx + u[0] * v[1] * fd.dx

    def compute():
        return fd.assemble(form, mat_type=mat_type).petscmat.convert("aij", fd.PETSc.Mat()).convert("dense").getDenseArray().copy()

    same(compute)


def test_matrices_of_restricted_spaces():
    V = fd.VectorFunctionSpace(fd.UnitSquareMesh(3, 4), "CG", 1)
    W = fd.RestrictedFunctionSpace(V, boundary_set=[1, 2])
    u, v = fd.TrialFunction(W), fd.TestFunction(W)
    same(lambda: fd.assemble(fd.inner(fd.grad(u), fd.grad(v)) * fd.dx + u[0] * v[1] * fd.dx))


PARALLEL = """
from firedrake import *
import numpy as np, sys
import parloop.firedrake

def numbers(A):
    mat = A.petscmat
    blocks = [mat] if mat.getType() != "nest" else [mat.getNestSubMatrix(i, j) for i in range(2) for j in range(2)]
    # The rows of this process, each by its columns.
    return np.concatenate([np.concatenate([np.ravel(part) for part in block.convert("aij", PETSc.Mat()).getValuesCSR()]) for block in blocks])

def matrices(mesh):
    V, U, Q = FunctionSpace(mesh, "CG", 2), VectorFunctionSpace(mesh, "CG", 1), FunctionSpace(mesh, "DG", 1)
    u, v, p, q = TrialFunction(V), TestFunction(V), TrialFunction(U), TestFunction(U)
    yield assemble(inner(grad(u), grad(v)) * dx + u * v * ds, bcs=DirichletBC(V, 0, 1))
    for mat_type in "aij", "baij":
        yield assemble(inner(grad(p), grad(q)) * dx + p[0] * q[1] * dx, bcs=DirichletBC(U.sub(1), 0, 1), mat_type=mat_type)
        yield assemble(inner(p, q) * dx, bcs=DirichletBC(U, 0, 2), mat_type=mat_type)
    yield assemble(div(p) * TestFunction(Q) * dx)
    W = U * Q
    (a, b), (c, d) = TrialFunctions(W), TestFunctions(W)
    for mat_type in "aij", "nest":
        bcs = [DirichletBC(W.sub(0).sub(1), 0, 1), DirichletBC(W.sub(0), 0, 2)]
        yield assemble((inner(grad(a), grad(c)) + b * div(c) + 3 * d * div(a) + b * d) * dx, bcs=bcs, mat_type=mat_type)
    yield assemble(interpolate(TrialFunction(U), VectorFunctionSpace(mesh, "DG", 1)))
    yield assemble(interpolate(TrialFunction(FunctionSpace(mesh, "CG", 1)), V))

# The same meshes both times: another one may be distributed in another way.
mesh = UnitSquareMesh(5, 4)
e = ExtrudedMesh(mesh, 3)

def compute():
    V, D, (x, y) = FunctionSpace(mesh, "CG", 2), FunctionSpace(mesh, "DG", 1), SpatialCoordinate(mesh)
    f, g, v, w = Function(V).interpolate(sin(3 * x) * y), Function(D).interpolate(x * x - y), TestFunction(V), TestFunction(D)
    found = [assemble(f * f * dx), assemble(inner(grad(f), grad(v)) * dx).dat.norm, assemble(avg(g) * dS)]
    found.append(assemble(jump(g) * jump(w) * dS + g * w * ds(1)).dat.norm)
    h = Function(FunctionSpace(e, "CG", 1)).interpolate(SpatialCoordinate(e)[2])
    found += [assemble(h * h * dx), assemble(h * TestFunction(h.function_space()) * ds_v).dat.norm]
    t, s = TrialFunction(D), w
    all_matrices = [*matrices(mesh), assemble(jump(t) * jump(s) * dS + t * s * ds(1))]
    E = FunctionSpace(e, "DG", 1)
    t, s = TrialFunction(E), TestFunction(E)
    all_matrices.append(assemble(t * s * dx + jump(t) * jump(s) * (dS_h + dS_v) + t * s * ds_t))
    V = FunctionSpace(e, "CG", 1)
    all_matrices.append(assemble(inner(grad(TrialFunction(V)), grad(TestFunction(V))) * dx, bcs=DirichletBC(V, 0, "bottom")))
    # Again into the same matrix: nothing is left of the first time.
    assemble(3 * inner(grad(TrialFunction(V)), grad(TestFunction(V))) * dx, tensor=all_matrices[-1])
    return np.concatenate([np.array(found), *map(numbers, all_matrices)])

wanted = compute()
parloop.firedrake.use("cpu:1")
found, report = compute(), parloop.firedrake.report()
assert found.shape == wanted.shape and abs(found - wanted).max() <= 1e-12 * abs(wanted).max(), abs(found - wanted).max()
# A process without elements of a part runs no loop over it.
assert not report.reasons and COMM_WORLD.allreduce(report.parloop_runs) > 80, str(report)
print("same on", COMM_WORLD.rank)
"""


@pytest.mark.skipif(shutil.which("mpiexec") is None, reason="mpiexec is not installed")
@pytest.mark.parametrize("ranks", [2, 3])
def test_several_processes(tmp_path, ranks):
    script = tmp_path / "parallel.py"
    script.write_text(PARALLEL)
    command = ["mpiexec", "--oversubscribe", "-n", str(ranks), sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {f"same on {rank}" for rank in range(ranks)} <= set(done.stdout.splitlines())


def test_a_capture_is_run_again(tmp_path):
    file, V = tmp_path / "loops.plz", space("CG", 2)
    u, v, f = fd.TrialFunction(V), fd.TestFunction(V), some(V)
    on_parloop.use("cpu:2")
    with on_parloop.capture(file):
        for _ in range(2):
            fd.assemble(f * v * fd.dx)
            fd.assemble(fd.inner(fd.grad(u), fd.grad(v)) * fd.dx, bcs=fd.DirichletBC(V, 0, 1))
    outcomes = rerun(file, "cpu:1", 1)
    assert [outcome.is_same for outcome in outcomes] == [True, True]


def test_the_command_runs_a_program_and_reports(tmp_path):
    script = tmp_path / "poisson.py"
    script.write_text(
        "import sys\nfrom firedrake import *\nV = FunctionSpace(UnitSquareMesh(8, 8), 'CG', 2)\nu, v = TrialFunction(V), TestFunction(V)\n"
        "x, y = SpatialCoordinate(V.mesh())\nw = Function(V)\n"
        "solve(inner(grad(u), grad(v)) * dx == 2 * (x * (1 - x) + y * (1 - y)) * v * dx, w, bcs=DirichletBC(V, 0, 'on_boundary'),\n"
        "      solver_parameters={'ksp_type': 'preonly', 'pc_type': 'lu'})\n"
        "print(sys.argv[1:], errornorm(x * (1 - x) * y * (1 - y), w) < 1e-4)\n"
    )
    command = [sys.executable, "-m", "parloop.firedrake", "--device", "cpu:1", "--report", str(script), "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "['7'] True"
    assert "Parloop ran" in done.stderr and ", PyOP2 0." in done.stderr, done.stderr
