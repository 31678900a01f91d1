"""Fourier transforms: what numpy.fft gives, in place, on every device."""

import itertools

import numpy as np
import pytest
from conftest import missing, open_context
from hypothesis import example, given
from hypothesis import strategies as st

import parloop as pl

DTYPES = ["complex64", "complex128"]
TOLERANCE = {"complex64": 2e-5, "complex128": 1e-12}
SHAPES = [(1,), (2,), (13,), (64,), (101,), (4, 6), (1, 7), (7, 1), (3, 17), (2, 3, 5), (4, 1, 6), (2, 3, 2, 5), (0,), (3, 0), (0, 0, 2)]


@pytest.fixture
def fft(ctx):
    """The context, or a skip where a GPU's library is missing."""
    try:
        ctx.plan_FFT(np.zeros(2, complex), 0)
    except pl.errors.DriverMissingError as error:
        if ctx.device.kind == "opencl":
            raise
        missing(str(error))
    return ctx


def noise(shape, dtype="complex128", order="C"):
    random = np.random.default_rng(np.atleast_1d(shape))
    values = random.standard_normal(shape) + 1j * random.standard_normal(shape)
    return np.array(values, dtype=dtype, order=order)


def expected(values, axes, inverse=False):
    """Axes without elements, which numpy refuses, are left alone."""
    axes = [axis for axis in axes if values.shape[axis] > 0]
    return (np.fft.ifftn if inverse else np.fft.fftn)(values, axes=axes) if axes else values


def assert_close(found, wanted, dtype):
    scale = np.abs(wanted).max(initial=1)
    assert found.shape == wanted.shape and found.dtype == dtype
    assert np.abs(found - wanted).max(initial=0) <= TOLERANCE[dtype] * scale


def subsets(ndim):
    return itertools.chain.from_iterable(itertools.combinations(range(ndim), count) for count in range(ndim + 1))


# against numpy.fft ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", "CF")
def test_every_shape_and_set_of_axes_gives_what_numpy_gives(fft, dtype, order):
    for shape in SHAPES:
        values = noise(shape, dtype, order)
        for axes in subsets(len(shape)):
            plan = fft.plan_FFT(values, axes)
            host = values.copy(order)
            plan.transform(host)
            assert_close(host, expected(values, axes), dtype)
            plan.itransform(host)
            assert_close(host, values, dtype)
            # An array of a GPU is made in C order, and its transpose is in Fortran order.
            array = fft.array(values.copy()) if order == "C" else fft.array(values.T.copy()).T
            plan.itransform(array)
            assert_close(array.numpy(), expected(values, axes, inverse=True), dtype)
            plan.transform(array)
            assert_close(array.numpy(), values, dtype)


def shapes_and_axes():
    # No shape is longer than what numpy does in a moment.
    shapes = st.lists(st.integers(1, 40), min_size=1, max_size=4).filter(lambda shape: np.prod(shape) <= 20_000).map(tuple)
    return shapes.flatmap(lambda shape: st.tuples(st.just(shape), st.permutations(range(-len(shape), 0)).map(lambda axes: axes[: len(axes) // 2 + 1])))


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_shapes_give_what_numpy_gives(fft, dtype):
    @given(shapes_and_axes(), st.sampled_from("CF"), st.booleans())
    @example(((1009,), [-1]), "C", False)
    @example(((2, 4096), [-1]), "C", True)
    @example(((513, 33), [-2]), "C", False)
    @example(((40, 3, 40), [-2]), "F", True)
    def check(case, order, inverse):
        shape, axes = case
        values = noise(shape, dtype, order)
        host = values.copy(order)
        plan = fft.plan_FFT(host, axes)
        (plan.itransform if inverse else plan.transform)(host)
        assert_close(host, expected(values, axes, inverse), dtype)

    check()


def test_axes_are_an_integer_or_any_sequence_of_them(fft):
    values = noise((3, 4, 5))
    for axes in (1, -2, np.int64(1), [1], (-2,), np.array([1]), range(1, 2)):
        plan = fft.plan_FFT(values, axes)
        assert plan.axes == (1,)
        x = fft.array(values.copy())
        plan.transform(x)
        assert_close(x.numpy(), np.fft.fft(values, axis=1), "complex128")
    assert fft.plan_FFT(values, ()).axes == ()
    assert fft.plan_FFT(values, (-1, 0)).axes == (2, 0)


def test_a_part_of_an_array_is_transformed_and_the_rest_left_alone(fft):
    values = noise((6, 8))
    x = fft.array(values.copy())
    plan = fft.plan_FFT(x[2:4], 1)
    plan.transform(x[2:4])
    assert_close(x[2:4].numpy(), np.fft.fft(values[2:4], axis=1), "complex128")
    assert np.array_equal(x[:2].numpy(), values[:2]) and np.array_equal(x[4:].numpy(), values[4:])


def test_work_queued_before_and_after_keeps_its_order(fft):
    prog = fft.compile("GPUKERN void grow(double *x, int64_t n) { VECTORIZE_OVER(i, n) x[i] *= 2; END_VECTORIZE }")
    values = noise((50, 40))
    x = fft.array(values.copy())
    plan = fft.plan_FFT(x, (0, 1))
    for _ in range(3):
        prog.grow(x.memory, 2 * values.size)
        plan.transform(x)
        prog.grow(x.memory, 2 * values.size)
        plan.itransform(x)
    assert_close(x.numpy(), 64 * values, "complex128")


def test_a_plan_outlives_the_array_and_the_context_it_was_made_with(fft):
    values = noise(12)
    plan = pl.Context(fft.device.name).plan_FFT(fft.array(values.copy()), 0)
    x = fft.array(values.copy())
    plan.transform(x)
    assert_close(x.numpy(), np.fft.fft(values), "complex128")


def test_a_plan_of_another_stream_is_ordered_with_it(fft):
    values = noise((64, 64))
    ctx = fft.on(fft.stream())
    x = ctx.array(values.copy())
    plan = ctx.plan_FFT(x, (0, 1))
    plan.transform(x)
    assert_close(x.numpy(), np.fft.fft2(values), "complex128")


def test_elements_at_odd_addresses_are_transformed(fft):
    values = noise(10)
    odd = np.frombuffer(bytearray(161), np.uint8)[1:].view(np.complex128)
    odd[:] = values
    fft.plan_FFT(values, 0).transform(odd)
    assert_close(np.array(odd), np.fft.fft(values), "complex128")


def test_a_plan_tells_what_it_was_planned_for(fft):
    plan = fft.plan_FFT(np.zeros((2, 3), "complex64", order="F"), (1, 0))
    assert (plan.shape, plan.axes, plan.dtype, plan.order) == ((2, 3), (1, 0), np.complex64, "F")
    assert repr(plan) == f"<FftPlan along axes [1, 0] of complex64 of shape [2, 3] in Fortran order on {fft.device.name}>"


# what is refused ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        (2, "an FFT along axis 2 was requested, but the data has 2 axes; use axes 0 to 1"),
        (-3, "an FFT along axis -3 was requested, but the data has 2 axes; use axes 0 to 1"),
        ((0, 5), "an FFT along axis 5 was requested, but the data has 2 axes; use axes 0 to 1"),
        (-(2**63), f"an FFT along axis {-(2**63)} was requested, but the data has 2 axes; use axes 0 to 1"),
        ((1, 0, -1), "an FFT along axis 1 was requested twice; name each axis once"),
        ((0, 0), "an FFT along axis 0 was requested twice; name each axis once"),
    ],
)
def test_axes_that_are_not_there_or_are_named_twice_are_refused(fft, axes, words):
    with pytest.raises(pl.errors.ArgumentValueError) as caught:
        fft.plan_FFT(np.zeros((2, 3), complex), axes)
    assert str(caught.value) == words
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("axes", ["a", 1.5, None, (0.5,), 2**70])
def test_what_is_no_axis_is_refused(fft, axes):
    with pytest.raises(TypeError) as caught:
        fft.plan_FFT(np.zeros((2, 3), complex), axes)
    assert str(caught.value) == f"the axes of an FFT must be an integer or a sequence of integers, not {axes}"


def test_data_that_cannot_be_transformed_is_refused(fft):
    def message(data, error):
        with pytest.raises(error) as caught:
            fft.plan_FFT(data, 0)
        return str(caught.value)

    words = "an FFT of {} was requested, but only complex64 and complex128 can be transformed; convert the data first"
    for dtype in ("float64", "int32", ">c16", "clongdouble"):
        assert message(np.zeros(4, dtype), pl.ArgumentError) == words.format(np.dtype(dtype))
    assert message(fft.zeros(4), pl.ArgumentError) == words.format("float64")
    assert message([1j, 2j], TypeError) == "an FFT needs a parloop.Array or a NumPy array, not list"
    gaps = "an FFT of non-contiguous complex128 of shape [3] was requested, but only contiguous data, in C or Fortran order, can be transformed; pass a copy"
    assert message(noise(6)[::2], pl.errors.ArgumentValueError) == gaps
    assert message(fft.array(noise(6))[::2], pl.errors.ArgumentValueError) == gaps


def test_data_that_is_not_as_planned_is_refused_and_not_changed(fft):
    plan = fft.plan_FFT(noise((2, 3)), 1)
    start = "this FFT was planned for complex128 of shape [2, 3] in C order, but "
    end = " was given; plan one for that, or convert the data"
    cases = [
        (noise((2, 3), "complex64"), "complex64 of shape [2, 3] in C order"),
        (noise((3, 2)), "complex128 of shape [3, 2] in C order"),
        (noise(6), "complex128 of shape [6] in C order"),
        (noise((2, 3), order="F"), "complex128 of shape [2, 3] in Fortran order"),
        (noise((2, 6))[:, ::2], "non-contiguous complex128 of shape [2, 3]"),
        (fft.array(noise((2, 6)))[:, ::2], "non-contiguous complex128 of shape [2, 3]"),
    ]
    for data, words in cases:
        for run in (plan.transform, plan.itransform):
            before = np.array(data)
            with pytest.raises(pl.errors.ArgumentValueError) as caught:
                run(data)
            assert str(caught.value) == start + words + end
            assert np.array_equal(np.array(data), before)


def test_read_only_data_is_refused(fft):
    values = noise(4)
    plan = fft.plan_FFT(values, 0)
    values.flags.writeable = False
    for data in [values] + ([fft.array(values, copy=False)] if fft.device.kind == "cpu" else []):
        with pytest.raises(pl.errors.ArgumentValueError, match="^an FFT works in place, but the data is read-only; pass a copy$"):
            plan.transform(data)


def test_arrays_of_another_device_are_refused(gpu):
    x = open_context("cpu:1").array(noise(4))
    name = gpu.device.name
    with pytest.raises(pl.errors.OtherDeviceError) as caught:
        gpu.plan_FFT(x, 0)
    assert str(caught.value) == f"plan an FFT: this belongs to device `cpu:1`, but the work is on `{name}`; copy it there first"
    try:
        plan = gpu.plan_FFT(x.numpy(), 0)
    except pl.errors.DriverMissingError as error:
        missing(str(error))
    with pytest.raises(pl.errors.OtherDeviceError) as caught:
        plan.transform(x)
    assert str(caught.value) == f"transform: this belongs to device `cpu:1`, but the work is on `{name}`; copy it there first"


def test_cpu_devices_share_their_memory(cpu):
    values = noise((20, 30))
    x = open_context("cpu:1").array(values.copy())
    cpu.plan_FFT(x, 0).transform(x)
    assert_close(x.numpy(), np.fft.fft(values, axis=0), "complex128")


def test_plans_are_used_by_many_threads(fft):
    from concurrent.futures import ThreadPoolExecutor

    values = noise((40, 50))
    plan = fft.plan_FFT(values, (0, 1))
    wanted = np.fft.fft2(values)

    def work(_):
        own = values.copy()
        plan.transform(own)
        return np.abs(own - wanted).max()

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(work, range(20))) < 1e-10
