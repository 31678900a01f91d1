"""Python's numbers as arguments of mesh loops, and arrays as operands of data."""

import re

import numpy as np
import pytest

import parloop as pl
import parloop.loops as lp
import parloop.mesh as op2

POINTER = "void step(double *x, const double *dt, const int *n) { x[0] += n[0] * dt[0]; }"
VALUE = "void step(double *x, double dt, const int n) { x[0] += n * dt; }"


@pytest.fixture
def nodes():
    return op2.Set(5, "nodes")


@pytest.mark.parametrize("source", [POINTER, VALUE])
def test_a_number_is_read_by_every_element(ctx, nodes, source):
    x = op2.Dat(nodes, np.arange(5.0))
    kernel = op2.Kernel(source, "step")
    for dt, n in [(0.5, 2), (np.float32(0.25), np.int64(4)), (1, True), (np.array(2.0), 1)]:
        before = x.data_ro.copy()
        op2.par_loop(kernel, nodes, x(op2.RW), dt, n, context=ctx)
        np.testing.assert_array_equal(x.data_ro, before + float(dt) * int(n))
    loop = op2.ParLoop(kernel, nodes, x(op2.RW), 0.5, 3, context=ctx)
    before = x.data_ro.copy()
    loop()
    loop()
    np.testing.assert_array_equal(x.data_ro, before + 3)
    assert loop.args[1:] == (0.5, 3)
    assert "0.5, 3>" in repr(loop)


def test_data_of_one_number_is_taken_by_value(ctx, nodes):
    x, y, shift = op2.Dat(nodes, np.arange(5.0)), op2.Dat(nodes), op2.Global(1, 10.0)
    nearest = op2.Map(nodes, nodes, 1, [[4], [3], [2], [1], [0]])
    kernel = op2.Kernel("void sum(double *y, double x, double opposite, double shift) { y[0] = x + 2*opposite + shift; }", "sum")
    op2.par_loop(kernel, nodes, y(op2.WRITE), x(op2.READ), x(op2.READ, nearest), shift(op2.READ), context=ctx)
    np.testing.assert_array_equal(y.data_ro, np.arange(5) + 2 * np.arange(5)[::-1] + 10)


def test_a_number_goes_to_a_loop_kernel(ctx, nodes):
    x = op2.Dat(nodes, np.arange(5.0))
    knl = lp.make_kernel("{[i]: 0<=i<1}", "x[i] = x[i] + dt", [lp.GlobalArg("x", np.float64, shape=(1,)), lp.ValueArg("dt", np.float64)], name="step")
    op2.par_loop(op2.Kernel(knl, "step"), nodes, x(op2.RW), 0.5, context=ctx)
    np.testing.assert_array_equal(x.data_ro, np.arange(5) + 0.5)


def test_another_number_needs_no_compilation(ctx, nodes):
    x = op2.Dat(nodes, np.zeros(5))
    kernel = op2.Kernel("void add_number(double *x, double dt) { x[0] += dt; }", "add_number")
    codes = set()
    for k in range(4):
        loop = op2.ParLoop(kernel, nodes, x(op2.RW), k / 2, context=ctx)
        loop()
        codes.add(str(loop.code()))
    assert len(codes) == 1
    np.testing.assert_array_equal(x.data_ro, np.full(5, 3.0))


@pytest.mark.parametrize(
    "source, args, error, message",
    [
        ("void f(double *x, int n) {}", (1.5,), pl.errors.DataValueError, "argument 1 of kernel `f` has type int32, which cannot hold 1.5"),
        ("void f(double *x, int n) {}", (2**40,), pl.errors.DataValueError, f"argument 1 of kernel `f` has type int32, which cannot hold {2**40}"),
        ("void f(double *x, double t) {}", (1j,), pl.errors.DataValueError, "argument 1 of kernel `f` has type float64, which cannot hold 1j"),
        ("void f(double *x, double t) {}", ("1",), pl.errors.DatTypeError, "argument 1 is an object of type str, not a number or data with an access, such as dat(op2.READ)"),
        ("void f(double *x, double t) {}", (op2.Global(1, 2.0),), pl.errors.DatTypeError, "argument 1 is an object of type Global, not a number or data with an access, such as dat(op2.READ)"),
        ("void f(double *x) {}", (0.5,), pl.errors.KernelTypeError, "kernel `f` takes 1 arguments, but 2 were given"),
    ],
)
def test_what_does_not_fit_is_an_error(nodes, source, args, error, message):
    x = op2.Dat(nodes, np.zeros(5))
    with pytest.raises(error) as caught:
        op2.par_loop(op2.Kernel(source, "f"), nodes, x(op2.RW), *args, context="cpu:1")
    assert str(caught.value) == message


def test_only_one_number_that_is_read_is_taken_by_value(nodes):
    x, pairs, total = op2.Dat(nodes, np.zeros(5)), op2.Dat(nodes**2), op2.Global(1, 0.0)
    kernel = op2.Kernel("void f(double *x, double t) {}", "f")
    for argument, advice in [
        (pairs(op2.READ), "it has several numbers per element; declare a pointer"),
        (total(op2.INC), "only an argument passed with READ can be taken by value; declare a pointer"),
    ]:
        with pytest.raises(pl.errors.KernelTypeError, match=advice):
            op2.par_loop(kernel, nodes, x(op2.RW), argument, context="cpu:1")


def test_operators_with_arrays_say_what_to_do():
    x, numbers = op2.Dat(op2.Set(3), name="x"), np.arange(3.0)
    array = pl.Context("cpu:1").array(numbers)
    for other, kind in ((numbers, "ndarray"), (array, "Array"), ([1.0, 2.0, 3.0], "list")):
        words = f"Dat `x` can be combined with a number, a Global or a Dat, not with an object of type {kind}; use its numbers (dat.data_ro, or dat.data to change them), or make a Dat of the array (op2.Dat(dat.dataset, array))"
        for operate in (lambda other=other: x + other, lambda other=other: other * x, lambda other=other: other - x, lambda other=other: x.__itruediv__(other)):
            with pytest.raises(TypeError, match=f"^{re.escape(words)}$"):
                operate()
    assert (np.float64(2) * op2.Dat(op2.Set(3), numbers)).data_ro.tolist() == (numbers + numbers).tolist()
    assert (numbers + op2.Dat(op2.Set(3), numbers).data_ro).tolist() == [0, 2, 4]
