"""The same kernels on every device and in NumPy give the same numbers."""

import kernels
import numpy as np
import pytest
from conftest import SCALARS
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

SIZES = [0, 1, 2, 255, 256, 257, 1000, 65537, 300_001]


@pytest.mark.parametrize("n", SIZES)
def test_axpy_gives_the_numbers_of_numpy_for_every_size(ctx, n):
    prog = ctx.compile(kernels.AXPY)
    rng = np.random.default_rng(n)
    x, y = rng.random(n), rng.random(n)
    expected = y + 2.5 * x
    prog.axpy(2.5, x, y, n)
    # A compiler may fuse the product and the sum, which rounds once.
    np.testing.assert_allclose(y, expected, rtol=4e-16, atol=4e-16)


def test_a_count_smaller_than_the_array_leaves_the_rest_alone(ctx):
    y = np.zeros(1000)
    ctx.compile(kernels.AXPY).axpy(1.0, np.ones(1000), y, 777)
    assert y[:777].tolist() == [1.0] * 777 and not y[777:].any()


def test_a_negative_count_does_nothing(ctx):
    y = np.zeros(4)
    ctx.compile(kernels.AXPY).axpy(1.0, np.ones(4), y, -3)
    assert not y.any()


def test_a_compute_bound_polynomial_gives_the_numbers_of_numpy(ctx):
    n, degree = 10_001, 60
    x, y = np.linspace(-0.9, 0.9, n), np.zeros(n)
    ctx.compile(kernels.POLYNOMIAL).polynomial(x, y, degree, n)
    expected = np.polyval(1.0 / np.arange(degree + 1, 0, -1), x)
    np.testing.assert_allclose(y, expected, rtol=1e-13)


@pytest.mark.parametrize("c_type", kernels.ATOMIC_TYPES)
def test_atomic_add_makes_the_total_and_returns_what_was_there_before(ctx, c_type):
    dtype, n = SCALARS[c_type], 3000
    prog = ctx.compile(kernels.atomics(c_type))
    values, total, before = np.ones(n, dtype), np.array([7, 3, 9, 5], dtype), np.zeros(n, dtype)
    prog.add_all(values, total, before, n)
    wrapped = np.arange(3, 3 + n).astype(np.int64).astype(dtype)
    assert total.tolist() == [7, np.array(3 + n).astype(dtype), 9, 5]
    # Every intermediate total was seen exactly once, in whatever order the work was done.
    assert np.array_equal(np.sort(before), np.sort(wrapped))


@pytest.mark.parametrize("c_type", kernels.ATOMIC_TYPES)
def test_atomic_adds_to_neighbouring_elements_do_not_disturb_each_other(ctx, c_type):
    n = 1600
    bins = (np.arange(n) % 16).astype(np.int32)
    counts = np.zeros(16, SCALARS[c_type])
    ctx.compile(kernels.atomics(c_type)).histogram(bins, counts, n)
    assert counts.tolist() == [100] * 16


def test_atomic_add_of_negative_values(ctx):
    values, total, before = np.full(200, -1, np.int8), np.array([0, 100, 0], np.int8), np.zeros(200, np.int8)
    ctx.compile(kernels.atomics("int8_t")).add_all(values, total, before, 200)
    assert total.tolist() == [0, -100, 0]


def test_powers_and_nonzero(ctx):
    x = np.array([0.0, -0.25, 3.0, 1e-300])
    y = np.zeros((4, 6))
    ctx.compile(kernels.POWERS).powers(x, y, 4)
    expected = np.stack([x**2, x * x * x, (x + 1) ** 4, x != 0, np.abs(x) > 0.5, np.abs(x)], axis=1)
    np.testing.assert_allclose(y, expected, rtol=1e-15)


def test_helpers_and_constants_need_no_qualifiers(ctx):
    n = 1003
    x, y = np.linspace(0, 1, n), np.zeros(n)
    ctx.compile(kernels.HELPERS).helped(x, y, n)
    k = np.arange(n) % 8
    table, grid = np.array([3, 1, 4, 1]), np.array([[1.5, 2.5], [3.5, 4.5]])
    expected = -(0.5 * x + table[k % 4] + grid[k % 2, (k // 2) % 2] + (x + 1) * 2)
    np.testing.assert_allclose(y, expected, rtol=1e-15)


@pytest.mark.parametrize(("n", "m"), [(10, 1000), (1000, 10), (0, 5), (5, 0), (70_000, 3), (1, 1)])
def test_two_loops_of_different_counts_do_each_element_once(ctx, n, m):
    x, y = np.zeros(n), np.zeros(m)
    ctx.compile(kernels.TWO_LOOPS).two_loops(x, n, y, m)
    assert (x == 1).all() and (y == 10).all()


def test_counts_may_be_expressions_functions_memory_locals_and_literals(ctx):
    prog = ctx.compile(kernels.COUNTS)

    def hits(call, size=5000):
        array = np.zeros(size, np.int32)
        call(array)
        return array

    def ones(count, size=5000):
        return (np.arange(size) < count).astype(np.int32)

    assert np.array_equal(hits(lambda a: prog.by_expression(a, 1001, 4)), ones(4002))
    assert np.array_equal(hits(lambda a: prog.by_expression(a, 1, 0)), ones(2))
    assert np.array_equal(hits(lambda a: prog.by_function(a, 4001)), ones(2000))
    assert np.array_equal(hits(lambda a: prog.by_memory(a, np.array([4999]))), ones(4999))
    assert np.array_equal(hits(lambda a: prog.by_memory(a, np.array([0]))), ones(0))
    assert np.array_equal(hits(lambda a: prog.by_local(a, 4000)), ones(10))
    assert np.array_equal(hits(lambda a: prog.by_literal(a)), ones(7))


def test_a_kernel_without_loops_runs_once(ctx):
    count = np.zeros(1, np.int32)
    ctx.compile(kernels.ONCE).once(count)
    assert count[0] == 1


@pytest.mark.parametrize("grid", [None, 3])
def test_a_return_ends_its_iteration_and_no_other(ctx, grid):
    n = 10_007
    kernel = ctx.compile(kernels.RETURNS).returns
    kernel = kernel if grid is None else kernel.with_grid(grid)
    x, y = np.zeros(n), np.zeros(n)
    kernel(x, y, n)
    i = np.arange(n)
    assert np.array_equal(x, np.where(i % 3 == 0, 0, np.where(i % 3 == 1, 5, 6)))
    assert np.array_equal(y, np.where(i % 2 == 0, 0, i))


def test_kernels_may_be_static_and_have_prototypes(ctx):
    source = "GPUKERN void k(double *x);\nstatic double f(double x);\nGPUKERN static void k(double *x) { x[0] = f(1); }\n"
    x = np.zeros(1)
    ctx.compile(source + "static double f(double x) { return x + 1; }").k(x)
    assert x[0] == 2


def test_headers_that_a_condition_or_comment_hides_need_not_be_there(ctx):
    source = '#if 0\n#include "absent.h"\n#endif\n/*\n#include "absent.h"\n*/\nGPUKERN void k(double *x) { x[0] = 1; }'
    x = np.zeros(1)
    ctx.compile(source).k(x)
    assert x[0] == 1


@pytest.mark.parametrize("n", [1, 1000, 70_001])
def test_comment_marks_give_the_numbers_of_macros(ctx, n):
    x = np.linspace(-1, 1, n)
    by_comment, by_macro, where = np.zeros(n), np.zeros(n), np.zeros(n, np.int32)
    ctx.compile(kernels.COMMENT_STYLE).commented(x, by_comment, where, n)
    ctx.compile(kernels.MACRO_STYLE).commented(x, by_macro, np.zeros(n, np.int32), n)
    assert np.array_equal(by_comment, 2 * x) and np.array_equal(by_macro, by_comment)
    assert set(where) == {{"cpu": 1, "opencl": 2, "cuda": 3, "hip": 3}[ctx.device.kind]}


def test_a_comment_loop_is_split_over_the_threads():
    import parloop as pl

    source = """
    #include <pthread.h>
    /*gpukern*/ void who(uint64_t *thread, const int64_t n) {
        //vectorize_over i n
        double wait = 0; for (int k = 0; k < 300; k++) wait += sqrt(k + (double)i);
        thread[i] = (uint64_t)pthread_self() + (wait < 0);
        //end_vectorize
    }"""
    threads = np.zeros(200_000, np.uint64)
    pl.Context("cpu:3").compile(source).who(threads, threads.size)
    assert (threads != 0).all() and len(set(threads.tolist())) > 1


def test_include_file_marks_choose_by_context(ctx, tmp_path):
    (tmp_path / "cpu.h").write_text("#define WHERE 1\n")
    (tmp_path / "opencl.h").write_text("#define WHERE 2\n")
    (tmp_path / "cuda.h").write_text("#define WHERE 3\n")
    source = """
    //include_file cpu.h for_context cpu_serial cpu_openmp
    //include_file opencl.h for_context opencl
    //include_file cuda.h for_context cuda
    GPUKERN void where(int32_t *out) { out[0] = WHERE; }"""
    out = np.zeros(1, np.int32)
    ctx.compile(source, include=[tmp_path]).where(out)
    assert out[0] == {"cpu": 1, "opencl": 2, "cuda": 3, "hip": 3}[ctx.device.kind]


def test_several_sources_are_one_program(ctx):
    first = "double first(double x) { return x + 1; }"
    second = "GPUKERN void second(double *x) { x[0] = first(x[0]); }"
    x = np.zeros(1)
    ctx.compile([first, second]).second(x)
    assert x[0] == 1


def test_files_and_texts_can_be_mixed_and_find_headers_beside_them(ctx, tmp_path):
    (tmp_path / "beside.h").write_text('#include "deeper/inner.h"\n#define BESIDE (INNER + 2.0)\n')
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "inner.h").write_text("#pragma once\n#define INNER 40.0\n")
    file = tmp_path / "kernel.c"
    file.write_text('#include "beside.h"\n#include "beside.h"\nGPUKERN void k(double *x) { x[0] = BESIDE + more(); }\n')
    x = np.zeros(1)
    for path in (file, str(file)):
        ctx.compile(["double more(void) { return 0.5; }", path]).k(x)
        assert x[0] == 42.5
        x[:] = 0


@pytest.mark.parametrize("style", ["include", "argument", "joined argument"])
def test_headers_are_found_in_include_folders(ctx, tmp_path, style):
    (tmp_path / "mine.h").write_text("static inline double mine(double x) { return 3 * x; }\n")
    options = {
        "include": {"include": [tmp_path]},
        "argument": {"arguments": ["-I", str(tmp_path)]},
        "joined argument": {"arguments": [f"-I{tmp_path}"]},
    }[style]
    x = np.ones(1)
    ctx.compile('#include "mine.h"\n#include <math.h>\nGPUKERN void k(double *x) { x[0] = mine(x[0]); }', **options).k(x)
    assert x[0] == 3


def test_arguments_reach_the_compiler(ctx):
    x = np.zeros(1)
    prog = ctx.compile("GPUKERN void k(double *x) { x[0] = X; }", arguments=["-DX=3"])
    prog.k(x)
    assert x[0] == 3


def test_the_source_hook_changes_every_source(ctx):
    x = np.zeros(1)
    sources = ["#define A VALUE\n", "GPUKERN void k(double *x) { x[0] = A + VALUE; }"]
    seen = []

    def hook(text):
        seen.append(text)
        return text.replace("VALUE", "21")

    ctx.compile(sources, source_hook=hook).k(x)
    assert x[0] == 42 and seen == sources


def test_an_error_in_the_source_hook_is_the_callers(ctx):
    def hook(text):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ctx.compile(kernels.AXPY, source_hook=hook)


def test_the_full_source_can_be_saved(ctx, tmp_path):
    path = tmp_path / "full.c"
    prog = ctx.compile(kernels.AXPY, save_source_as=path)
    assert path.read_text() == prog.source
    assert '#line 1 "<source>"' in prog.source and "y[i] += a * x[i];" in prog.source


def scalar_values(dtype):
    dtype = np.dtype(dtype)
    return hnp.from_dtype(dtype, allow_nan=True, allow_infinity=True) if dtype.kind == "f" else hnp.from_dtype(dtype)


@pytest.mark.parametrize("c_type", [*SCALARS, "bool"])
def test_scalar_arguments_arrive_bit_by_bit(ctx, c_type):
    dtype = np.dtype(SCALARS.get(c_type, np.bool_))
    kernel = ctx.compile(kernels.store(c_type)).store

    @given(scalar_values(dtype))
    def check(value):
        for given_value in (value, value.item(), np.array(value)):
            out = np.zeros(3, dtype)
            kernel(given_value, out, 3)
            # A not-a-number is one in Python too, but its bits are the machine's business.
            assert np.isnan(out).all() if dtype.kind == "f" and np.isnan(value) else (out == value).all()
            if dtype.kind == "f":
                assert (np.signbit(out) == np.signbit(value)).all() or np.isnan(value)

    check()


@given(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False))
def test_integers_and_floats_convert_as_numpy_converts(integer, number):
    from conftest import open_context

    ctx = open_context("cpu:1")
    doubles, floats = np.zeros(1), np.zeros(1, np.float32)
    ctx.compile(kernels.store("double")).store(integer, doubles, 1)
    assert doubles[0] == np.float64(integer)
    with np.errstate(over="ignore"):
        narrow = np.float32(number)
    if np.isfinite(narrow) or np.isinf(number):
        ctx.compile(kernels.store("float")).store(number, floats, 1)
        assert floats[0] == narrow


@pytest.mark.parametrize(("c_type", "dtype"), [("size_t", np.uint64), ("unsigned long long", np.uint64), ("long long", np.int64), ("char", np.int8)])
def test_types_without_a_fixed_size_in_every_language_arrive_too(ctx, c_type, dtype):
    out = np.zeros(3, dtype)
    value = np.iinfo(dtype).max
    ctx.compile(kernels.store(c_type)).store(value, out, 3)
    assert out.tolist() == [value] * 3
