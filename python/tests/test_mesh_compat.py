"""The drop-in for PyOP2: mixed things, one object for equal ones, caches, compiled functions and small linear algebra."""

import ctypes
import gc
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import parloop as pl
from devices import opened
from parloop.compat._pyop2 import caching, exceptions, op2
from parloop.compat._pyop2.compilation import load
from parloop.compat._pyop2.mpi import COMM_NULL, COMM_SELF, COMM_WORLD, MPI, PyOP2CommError, comm_cache_keyval, internal_comm, temp_internal_comm


@pytest.fixture
def sets():
    return op2.Set(3, "a"), op2.Set(4, "b")


@pytest.fixture
def maps(sets):
    a, b = sets
    return op2.Map(a, a, 1, [0, 1, 2], "own"), op2.Map(a, b, 2, [0, 1, 1, 2, 2, 3], "ends")


# One object for equal arguments


def test_equal_sets_maps_and_sparsities_are_one_object(sets, maps):
    a, b = sets
    assert a**2 is a**2 and a**2 is op2.DataSet(a, (2,)) and a**2 is not a**1 and a**2 is not b**2
    assert op2.MixedSet([a, b]) is op2.MixedSet(iter((a, b))) and op2.MixedSet([a, b]) is not op2.MixedSet([b, a])
    assert op2.MixedMap(maps) is op2.MixedMap(list(maps)) and op2.MixedMap(maps).toset is op2.MixedSet([a, b])
    mixed = op2.MixedSet([a, b])
    assert mixed**1 is op2.MixedDataSet([a, b]) and (mixed**1).set is mixed and mixed**1 is not mixed**2
    (own, ends), one = maps, b**1
    assert op2.Sparsity((one, one), [(ends, ends, None)]) is op2.Sparsity([one, one], {(0, 0): [(ends, ends, None), (ends, ends, None)]})
    assert op2.Sparsity((one, one), [(ends, ends, None)]) is not op2.Sparsity((b**2, b**2), [(ends, ends, None)])


def test_data_with_a_global_is_on_one_data_set(sets):
    d = op2.MixedDat([op2.Dat(sets[0]), op2.Global(2, [0.0, 0.0])])
    held = d.dataset
    assert d.dataset is held and d[1].dataset is d[1].dataset and held.dim == ((1,), (2,))


def test_objects_that_nobody_holds_are_made_again(sets):
    a, _ = sets
    name = (a**5).name
    gc.collect()
    assert (a**5).name != name


def test_a_second_set_of_the_same_sizes_is_another(sets):
    a, _ = sets
    assert op2.Set(3)**2 is not op2.Set(3)**2 and a**2 is not op2.Set(3, "a")**2


# Mixed things


def test_mixed_things_have_the_texts_of_pyop2(sets, maps):
    a, b = sets
    mixed = op2.MixedSet(sets)
    assert str(mixed) == f"OP2 MixedSet composed of Sets: {(a, b)}" and repr(mixed) == f"MixedSet({(a, b)!r})"
    assert eval(repr(mixed**2), vars(op2)).dim == ((2,), (2,)) and str(op2.MixedMap(maps)) == f"OP2 MixedMap composed of Maps: {maps}"
    dat = op2.MixedDat(mixed)
    assert str(dat) == f"OP2 MixedDat composed of Dats: {dat.split}" and eval(repr(dat), {**vars(op2), "dtype": np.dtype}).cdim == 2
    assert mixed.halo is None and mixed.layers is None and mixed.comm is COMM_WORLD and (mixed**1).sizes == (7, 7, 7)


def test_mixed_data_is_one_vector(sets):
    d = op2.MixedDat([op2.Dat(sets[0], [1.0, 2.0, 3.0]), op2.Dat(sets[1]), op2.Global(1, 5.0)])
    with d.vec_ro as v:
        assert v.array_r.tolist() == [1, 2, 3, 0, 0, 0, 0, 5] and v.norm() == pytest.approx(39**0.5)
    with d.vec as v:
        v *= 2
    assert d.data_ro[0].tolist() == [2, 4, 6] and d[2].data_ro.tolist() == [10]
    with d.vec_wo as v:
        v.array[:] = 1
    assert d.norm == pytest.approx(8**0.5) and all(isinstance(part, (op2.Dat, op2.Global)) for part in 1 - d)
    with pytest.raises(NotImplementedError, match="call zero of the part"):
        d.zero(subset=sets[0](0))


def test_a_copy_of_mixed_data_has_copies_of_constants(sets):
    d = op2.MixedDat([op2.Dat(sets[0], [1.0, 2.0, 3.0]), op2.Constant(1, 5.0)])
    copy = op2.MixedDat(d)
    assert copy[1] is not d[1] and [values.tolist() for values in copy.data_ro] == [[1, 2, 3], [5]]


def test_matrices_of_several_parts_are_matrices(sets, maps):
    mixed, both = op2.MixedSet(sets) ** 1, op2.MixedMap(maps)
    blocks = {(i, j): [(row, column, None)] for i, row in enumerate(both) for j, column in enumerate(both)}
    sparsity = op2.Sparsity((mixed, mixed), blocks)
    assert isinstance(sparsity, op2.Sparsity) and sparsity is op2.Sparsity((mixed, mixed), blocks) and sparsity.shape == (2, 2) and sparsity.nested
    assert sparsity[1, 0] is op2.Sparsity((mixed[1], mixed[0]), [(maps[1], maps[0], None)], diagonal_block=False) and both in [both]
    assert (both, both) in sparsity and sparsity.rcmaps[0, 1] == [(maps[0], maps[1])] and sparsity.dims == (((1, 1), (1, 1)),) * 2
    mat = op2.Mat(sparsity, name="m")
    assert isinstance(mat, op2.Mat) and mat.dtype == np.float64 and [block.name for block in mat] == ["m[0, 0]", "m[0, 1]", "m[1, 0]", "m[1, 1]"]
    mat[0, 0].set_local_diagonal_entries(range(3), 2.0)
    product = mat * op2.MixedDat([op2.Dat(sets[0], [1.0, 2.0, 3.0]), op2.Dat(sets[1])])
    assert isinstance(product, op2.MixedDat) and product.data_ro[0].tolist() == [2, 4, 6]
    whole = op2.Mat(op2.Sparsity((mixed, mixed), blocks, nest=False))
    assert not whole.sparsity.nested and whole.values.shape == (7, 7)
    assert whole.sparsity.nnz.tolist() == [3, 3, 3, 3, 5, 5, 3] and [nnz.tolist() for nnz in sparsity.nnz][3] == [2, 3, 3, 2]
    with pytest.raises(RuntimeError, match="maps are given for block .*, but there are 2 × 2 blocks"):
        op2.Sparsity((mixed, mixed), {(2, 0): []})
    with pytest.raises(exceptions.ModeValueError):
        mat(op2.READ, (both, both))


def test_rows_and_columns_of_a_matrix_can_be_globals(sets, maps):
    (a, b), (own, ends), g = sets, maps, op2.Global(1, 0.0)
    row = op2.Mat(op2.Sparsity((op2.GlobalDataSet(g), b**1), [(None, ends, None)]))
    add = op2.Kernel("static void add(double *m) { m[0] += 1; m[1] += 2; }", "add")
    op2.par_loop(add, a, row(op2.INC, (None, ends)))
    assert row.values.tolist() == [[1, 3, 3, 2]]
    one = op2.Mat(op2.Sparsity((op2.GlobalDataSet(g),) * 2, [(None, None, None)]))
    assert one.values.tolist() == [[0]]


def test_loops_take_mixed_arguments(sets, maps):
    mixed, both = op2.MixedSet(sets) ** 1, op2.MixedMap(maps)
    blocks = {(i, j): [(row, column, None)] for i, row in enumerate(both) for j, column in enumerate(both)}
    for nest in (True, False):
        mat, x = op2.Mat(op2.Sparsity((mixed, mixed), blocks, nest=nest)), op2.MixedDat(mixed)
        count = op2.Kernel("static void count(double a[3][3], double *x) { for (int i = 0; i < 3; i++) { x[i] += 1; for (int j = 0; j < 3; j++) a[i][j] += i; } }", "count")
        op2.par_loop(count, sets[0], mat(op2.INC, (both, both)), x(op2.INC, both))
        assert x.data_ro[0].tolist() == [1, 1, 1] and x.data_ro[1].tolist() == [1, 2, 2, 1]
        assert np.array_equal(mat[1, 1].values, [[1, 1, 0, 0], [2, 3, 1, 0], [0, 2, 3, 1], [0, 0, 2, 2]]) and not mat[0, 1].values.any()


def test_arguments_say_what_they_are_made_of(sets, maps):
    d = op2.Dat(sets[1] ** 2)
    arg = d(op2.READ, maps[1])
    assert (arg.data, arg.access, arg.map_, arg.map, arg.maps) == (d, op2.READ, maps[1], maps[1], (maps[1],)) and d(op2.READ).map_ is None
    assert op2.DatView(d, 1)(op2.READ, maps[1]).map_ is maps[1] and op2.Global(1, 0.0)(op2.READ).map_ is None


@pytest.mark.parametrize("device", ["cpu:1", "opencl"])
def test_counting_a_change_keeps_the_numbers_of_a_device(device):
    context = opened(device)
    s = op2.Set(2, "s")
    dat, part, total = op2.Dat(s, [1.0, 2.0]), op2.Dat(s**2, [[3.0, 4.0], [5.0, 6.0]]), op2.Global(1, 1.0)
    mixed = op2.MixedDat([part, op2.Global(1, 7.0)])
    add = op2.Kernel("void add(double *x) { x[0] += 10; }", "add")
    with context:
        for arg in (dat(op2.RW), part(op2.RW), total(op2.INC), mixed[1](op2.INC)):
            op2.par_loop(add, s, arg)
    for data, parts in ((dat, 1), (total, 1), (mixed, 2)):
        version = data.dat_version
        data.increment_dat_version()
        assert data.dat_version == version + parts
    assert dat.data_ro.tolist() == [11, 12] and total.data_ro.tolist() == [21]
    assert [values.tolist() for values in mixed.data_ro] == [[[13, 4], [15, 6]], [27]]


def test_a_component_is_data_too(sets, tmp_path):
    d = op2.Dat(sets[0] ** 2, np.arange(6.0).reshape(3, 2))
    view = op2.DatView(d, 1)
    assert view.nbytes == 24 and view.split == (view,) and len(view) == 1 and view[0] is view and view.ctype == "double"
    view += op2.Dat(sets[0], [1.0, 1.0, 1.0])
    view *= 2
    assert d.data_ro[:, 1].tolist() == [4, 8, 12] and d.data_ro[:, 0].tolist() == [0, 2, 4]
    assert view.norm == pytest.approx(np.linalg.norm([4, 8, 12])) and view.inner(op2.DatView(d, 0)) == 64
    other = op2.Dat(sets[0])
    view.copy(other, subset=sets[0](0, 2))
    assert other.data_ro.tolist() == [4, 0, 12]
    view.save(tmp_path / "view")
    view.zero()
    view.load(tmp_path / "view")
    assert d.data_ro[:, 1].tolist() == [4, 8, 12]
    with pytest.raises(exceptions.DataValueError, match="a component has one number for each element"):
        view += d


# Communicators and caches


def test_communicators_of_one_process_have_attributes_until_they_are_freed():
    comm = COMM_WORLD.Dup()
    key = MPI.Comm.Create_keyval()
    comm.Set_attr(key, [1])
    assert comm.Get_attr(key) == [1] and COMM_WORLD.Get_attr(key) is None and comm != COMM_WORLD and comm.allreduce(3, MPI.SUM) == 3
    assert COMM_WORLD.Split(color=MPI.UNDEFINED) == COMM_NULL and internal_comm(None) is COMM_WORLD
    comm.Free()
    assert comm == COMM_NULL and comm.Get_attr(key) is None
    with pytest.raises(PyOP2CommError, match="was freed, or is COMM_NULL"):
        internal_comm(comm)
    with pytest.raises(PyOP2CommError, match="a communicator is needed, not an object of type str"):
        temp_internal_comm("world")


@pytest.fixture
def comm():
    comm = COMM_WORLD.Dup()
    yield comm
    comm.Free()


def counted(decorator):
    calls = []

    def function(*args, comm=None, **options):
        calls.append(args)
        return (args, options)

    return decorator(function), calls


def test_a_cache_in_memory_gives_the_same_object_for_each_communicator(comm):
    function, calls = counted(caching.memory_cache())
    assert function(1, comm=comm) is function(1, comm=comm) and len(calls) == 1
    assert function(1, comm=COMM_SELF) == function(1, comm=comm) and len(calls) == 2
    assert len(comm.Get_attr(comm_cache_keyval)["DEFAULT_CACHE"]) == 1
    caching.clear_memory_cache(comm)
    function(1, comm=comm)
    assert len(calls) == 3
    with pytest.raises(TypeError, match="none is among its arguments; pass comm="):
        function(1)


def test_keys_are_exact(comm):
    function, calls = counted(caching.memory_cache())

    class Thing:
        def __repr__(self):
            return "thing"

    things = Thing(), Thing()
    for given in (1, True, 1.0, "1", [1], np.arange(2000), np.arange(1, 2001), *things):
        function(given, comm=comm)
        function(given, comm=comm)
    assert len(calls) == 9
    other, more = counted(caching.memory_cache())
    other(1, comm=comm)
    assert len(more) == 1


def test_a_cache_on_disk_gives_equal_objects(comm, tmp_path):
    function, calls = counted(caching.disk_only_cache(cachedir=tmp_path))
    first, second = function("x", comm=comm, n=2), function("x", comm=comm, n=2)
    assert first == second and first is not second and len(calls) == 1 and len(os.listdir(tmp_path)) == 1
    assert function("x", comm=comm, n=3) != first and len(calls) == 2
    with pytest.raises(exceptions.HashError, match="an object of type object has no text that tells it apart"):
        function(object(), comm=comm)
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[:-3])
    assert function("x", comm=comm, n=2) == first and len(calls) == 3


def test_memory_stands_before_the_disk(comm, tmp_path):
    function, calls = counted(caching.memory_and_disk_cache(cachedir=tmp_path))
    first = function("x", comm=comm)
    assert function("x", comm=comm) is first
    caching.clear_memory_cache(comm)
    assert function("x", comm=comm) == first and len(calls) == 1
    elsewhere, again = counted(caching.memory_and_disk_cache(cachedir=tmp_path / "elsewhere"))
    elsewhere("x", comm=comm)
    assert len(again) == 1


def test_a_write_that_fails_leaves_nothing(tmp_path):
    files = caching.DictLikeDiskAccess(tmp_path)
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        files["a"] = lambda: None
    assert os.listdir(tmp_path) == [] and "a" not in files
    files["a"] = 3
    assert files["a"] == 3 and len(files) == 1
    del files["a"]
    assert "a" not in files


def test_a_kernel_that_is_made_again_is_read_once(sets):
    code = "static void once(double *x) { x[0] = 3; }"
    made = [op2.Kernel(code, "once")._made for _ in range(2)]
    assert made[0] is made[1] and op2.Kernel(code.replace("3", "4"), "once")._made is not made[0]


# Functions in C


def test_a_function_of_c_source_is_called():
    code = "#include <math.h>\nstatic double half(double x) { return x / 2; }\nvoid root(double *x, int n) { for (int i = 0; i < n; i++) x[i] = half(sqrt(x[i])); }"
    root, x = load(code, "c", "root", argtypes=[ctypes.c_void_p, ctypes.c_int], comm=COMM_WORLD), np.array([4.0, 16.0])
    root(x.ctypes.data, 2)
    assert x.tolist() == [1, 2]
    number = "int number() { return NUMBER; }"
    assert load(number, "c", "number", cppargs=["-DNUMBER=3"], restype=ctypes.c_int)() == 3
    assert load(number, "c", "number", cppargs=["-DNUMBER=4"], restype=ctypes.c_int)() == 4


def test_what_cannot_be_loaded_is_said():
    with pytest.raises(exceptions.CompilationError, match="nothing_like_this"):
        load("int f() { return nothing_like_this; }", "c", "f")
    with pytest.raises(exceptions.CompilationError, match="the source has no function `g` that others can call; is its name right, and is it not static?"):
        load("static int g() { return 1; }\nint f() { return g(); }", "c", "g")
    with pytest.raises(exceptions.CompilationError, match="source with the extension 'cpp' is not supported; only C, extension 'c', is"):
        load("", "cpp", "f")
    with pytest.raises(ValueError, match="C source as text is needed, not an object of type int"):
        load(3, "c", "f")
    with pytest.raises(exceptions.CompilationError, match="library 'no_such_library' was not found in /nowhere; install it, or name its folder with -L"):
        load("int f() { return 1; }", "c", "f", ldargs=["-L/nowhere", "-lno_such_library"])
    with pytest.raises(exceptions.CompilationError, match="linker argument '-static' is not supported; give -lname, -Lfolder or the path of a shared library"):
        load("int f() { return 1; }", "c", "f", ldargs=["-static"])


def test_libraries_that_are_named_are_called(tmp_path, sets):
    (tmp_path / "answer.c").write_text("double answer(double x) { return x + 42; }")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", tmp_path / "libanswer.so", tmp_path / "answer.c"], check=True)
    code = "double answer(double); double ask(double x) { return answer(x); }"
    assert load(code, "c", "ask", ldargs=[f"-L{tmp_path}", "-lanswer"], argtypes=[ctypes.c_double], restype=ctypes.c_double)(1) == 43
    d = op2.Dat(sets[0], [0.0, 1.0, 2.0])
    kernel = op2.Kernel("double answer(double); static void ask(double *x) { x[0] = answer(x[0]); }", "ask", ldargs=[f"-L{tmp_path}", "-lanswer"])
    op2.par_loop(kernel, sets[0], d(op2.RW))
    assert d.data_ro.tolist() == [42, 43, 44]


PROGRAM = """
import loopy, numpy as np
from pyop2 import op2
from pyop2.codegen.rep2loopy import INVCallable, SolveCallable
from pyop2.configuration import target

def kernel(line, callable_, names, n):
    shapes = {"A": (n, n), "B": (n, n), "x": (n,), "b": (n,)}
    k = loopy.make_kernel(["{ : }"], line, [loopy.GlobalArg(name, dtype=np.float64, shape=shapes[name]) for name in names], target=target, name="k")
    k = loopy.register_callable(k, callable_.name, callable_())
    return op2.Kernel(loopy.generate_code_v2(k).device_code(), "k", ldargs=[])

s, n = op2.Set(20), 5
matrices, right = np.random.default_rng(1).normal(size=(20, n, n)), np.random.default_rng(2).normal(size=(20, n))
matrices[3, 0, 0] = 0
A, B, b, x = op2.Dat(s ** (n, n), matrices), op2.Dat(s ** (n, n)), op2.Dat(s ** n, right), op2.Dat(s ** n)
op2.par_loop(kernel("B[:,:] = inverse(A[:,:])", INVCallable, "BA", n), s, B(op2.WRITE), A(op2.READ))
op2.par_loop(kernel("x[:] = solve(A[:,:], b[:])", SolveCallable, "xAb", n), s, x(op2.WRITE), A(op2.READ), b(op2.READ))
print(np.allclose(B.data_ro, np.linalg.inv(matrices)), np.allclose(x.data_ro, np.linalg.solve(matrices, right[:, :, None])[:, :, 0]))
"""


def test_loop_kernels_invert_and_solve(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "parloop.compat", "program.py"], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "True True\n", done.stderr


def test_missing_names_are_said():
    with pytest.raises(AttributeError, match="op2.PassthroughArg is not there"):
        op2.PassthroughArg
