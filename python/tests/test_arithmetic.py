"""Arithmetic of arrays: on every device what NumPy gives, or NumPy's error."""

import operator
import os
import warnings

import kernels
import numpy as np
import pytest
from conftest import missing, open_context, run_python
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import parloop as pl
import parloop.arrays as xp

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128"]
#: One of each way in which code is made.
SOME_DTYPES = ["bool", "int8", "int64", "uint8", "uint64", "float32", "complex128"]
BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
IN_PLACE = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
}
UNARY = {"-": operator.neg, "+": operator.pos, "abs": abs, "~": operator.invert}
#: What arrays raise; NumPy's own are of one of these.
ERRORS = (TypeError, ValueError, OverflowError, IndexError)


def examples(ctx, count=12):
    """A kernel for each pair of types takes its time to compile, which a CPU does not need."""
    return settings(max_examples=count if ctx.device.kind == "cpu" else count // 2)


def host(value):
    return value.numpy() if isinstance(value, pl.Array) else value


def outcome(function, *operands):
    """What a function returns, or the kind of error it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*operands)
    except ERRORS as error:
        return next(kind for kind in ERRORS if isinstance(error, kind))


def assert_same(found, wanted, exact=True):
    if isinstance(wanted, type):
        assert found is wanted
        return
    assert not isinstance(found, type), f"{found} instead of {wanted}"
    assert isinstance(found, pl.Array) == bool(np.ndim(wanted)), f"{type(found)} instead of {type(wanted)}"
    found, wanted = np.asarray(host(found)), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype.kind in "fc" and not exact:
        precision = 1e-5 if wanted.dtype in (np.float32, np.complex64) else 1e-12
        scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=1) if wanted.dtype.kind == "c" else 0
        np.testing.assert_allclose(found, wanted, rtol=precision, atol=precision * scale, equal_nan=True)
    else:
        np.testing.assert_array_equal(found, wanted)
        if wanted.dtype.kind == "f":
            known = ~np.isnan(wanted)
            assert np.array_equal(np.signbit(found[known]), np.signbit(wanted[known]))


def special_values(dtype):
    """Values at which operations differ, and some between."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.unique(np.array([limits.min, limits.min + 1, 0, 1, 2, 3, 7, 100, limits.max - 1, limits.max] + [-1, -2, -3, -7] * (dtype.kind == "i"), dtype))
    if dtype.kind == "f":
        return np.array([-np.inf, -1e30, -7.5, -2, -1, -0.3, -0.0, 0.0, 0.3, 1, 2, 3.5, 1e30, np.inf, np.nan], dtype)
    return np.array([0, 1, -1, 1j, -1j, 1 + 1j, 2.5 - 3j, -4 + 0.5j, 1e-3 + 1e3j, 30], dtype)


def is_exact(symbol, dtype):
    """Whether every correct implementation gives the same bits."""
    kind = np.dtype(dtype).kind
    return not (symbol.startswith("**") or kind == "c" and symbol[0] in "*/" or kind == "c" and symbol == "abs")


def operands_for(symbol, dtype):
    first, second = np.meshgrid(special_values(dtype), special_values(dtype))
    if symbol == "**" and np.dtype(dtype).kind == "i":
        second = np.abs(np.maximum(second, -100))
    if symbol == "**" and np.dtype(dtype).kind == "c":
        second = np.where(np.abs(second) > 10, 3, second).astype(dtype)
        first = np.where(np.abs(first) > 100, 2, first).astype(dtype)
    return np.ascontiguousarray(first), np.ascontiguousarray(second)


# operators ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("symbol", BINARY)
def test_operators_give_numpys_values_at_the_limits_of_every_type(ctx, symbol):
    for dtype in DTYPES if symbol in ("+", "//", "%", "**") else SOME_DTYPES:
        first, second = operands_for(symbol, dtype)
        found = outcome(BINARY[symbol], ctx.array(first), ctx.array(second))
        assert_same(found, outcome(BINARY[symbol], first, second), is_exact(symbol, dtype))


@pytest.mark.parametrize("symbol", UNARY)
def test_signs_and_inversion_give_numpys_values_at_the_limits_of_every_type(ctx, symbol):
    for dtype in DTYPES:
        values = special_values(dtype)
        assert_same(outcome(UNARY[symbol], ctx.array(values)), outcome(UNARY[symbol], values), is_exact(symbol, dtype))


def elements(dtype, low=-50, high=50):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind in "iu":
        return st.integers(max(low, np.iinfo(dtype).min), high)
    parts = st.integers(4 * low, 4 * high).map(lambda value: value / 4)
    return parts if dtype.kind == "f" else st.builds(complex, parts, parts)


#: From an array to one of the same shape whose elements are apart, reversed, or in another order.
LAYOUTS = {
    "dense": lambda make, values: make(values.copy()),
    "stepped": lambda make, values: make(np.repeat(values[..., None], 2, axis=-1))[..., 0],
    "reversed": lambda make, values: make(values[::-1].copy())[::-1] if values.ndim else make(values.copy()),
    "transposed": lambda make, values: make(values.T.copy()).T,
    "part": lambda make, values: make(np.pad(values, 1))[(slice(1, -1),) * values.ndim],
}


@st.composite
def arrays(draw, shape, dtypes=st.sampled_from(SOME_DTYPES)):
    """An array of the host, and a function that puts it on a context in some layout."""
    dtype = draw(dtypes)
    values = draw(hnp.arrays(dtype, shape, elements=elements(dtype)))
    layout = draw(st.sampled_from(list(LAYOUTS)))

    def place(ctx):
        array = LAYOUTS[layout](ctx.array, values)
        # An array without axes is a number once it is indexed.
        return array if isinstance(array, pl.Array) else ctx.array(values.copy())

    return values, place


SHAPES = hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4, min_side=0)


@pytest.mark.parametrize("symbol", ["+", "-", "/", "//", "<", "&"])
def test_operators_broadcast_and_mix_types_as_numpy_does(ctx, symbol):
    @examples(ctx, 12)
    @given(SHAPES.flatmap(lambda shapes: st.tuples(*(arrays(shape) for shape in shapes.input_shapes))), st.booleans())
    def check(pair, other_is_numpy):
        (first, place_first), (second, place_second) = pair
        other = second if other_is_numpy else place_second(ctx)
        wanted = outcome(BINARY[symbol], first, second)
        exact = is_exact(symbol, getattr(wanted, "dtype", "float64"))
        assert_same(outcome(BINARY[symbol], place_first(ctx), other), wanted, exact)
        if other_is_numpy:
            assert_same(outcome(BINARY[symbol], other, place_first(ctx)), outcome(BINARY[symbol], second, first), exact)

    check()


NUMBERS = st.one_of(
    st.booleans(),
    st.integers(-3, 5),
    st.sampled_from([300, -200, 2**40, 2**63, -(2**63), 2**64 - 1]),
    st.sampled_from([0.0, 0.5, -2.25, 3.0]),
    st.sampled_from([1j, 2 - 1j]),
    st.sampled_from([np.int8(3), np.uint64(7), np.int64(-4), np.float32(0.5), np.float64(2), np.complex64(1j), np.bool_(True)]),
)


@pytest.mark.parametrize("symbol", ["*", "/", "//", "<", "!=", "**"])
def test_single_numbers_have_the_types_that_numpy_gives_them(ctx, symbol):
    @examples(ctx, 12)
    @given(arrays((2, 3)), NUMBERS, st.booleans())
    def check(array, number, reflected):
        values, place = array
        if symbol == "**":
            values = np.abs(values).astype(values.dtype)
            x, number = ctx.array(values), min(number, 3) if not isinstance(number, complex | np.complexfloating) else number
        else:
            x = place(ctx)
        pair, wanted_pair = ((number, x), (number, values)) if reflected else ((x, number), (values, number))
        wanted = outcome(BINARY[symbol], *wanted_pair)
        assert_same(outcome(BINARY[symbol], *pair), wanted, is_exact(symbol, getattr(wanted, "dtype", "float64")))

    check()


@pytest.mark.parametrize("symbol", IN_PLACE)
def test_operators_in_place_change_what_numpy_changes(ctx, symbol):
    @examples(ctx, 10)
    @given(arrays((3, 4)), arrays(st.sampled_from([(3, 4), (4,), (1, 4), (), (2, 4), (2, 3, 4)])), st.booleans())
    def check(target, operand, other_is_numpy):
        (values, place), (other, place_other) = target, operand
        if symbol == "**=":
            other = np.abs(other).astype(other.dtype) % 4 if other.dtype.kind not in "bc" else other
            place_other = lambda ctx: ctx.array(other.copy())  # noqa: E731
            values = (np.abs(values) + 1).astype(values.dtype)
            place = lambda ctx: ctx.array(values.copy())  # noqa: E731
        x, wanted = place(ctx), values.copy()
        same = x
        found = outcome(IN_PLACE[symbol], x, other if other_is_numpy else place_other(ctx))
        wanted_outcome = outcome(IN_PLACE[symbol], wanted, other)
        if isinstance(wanted_outcome, type):
            assert found is wanted_outcome
        else:
            assert found is same
        assert_same(x, wanted, is_exact(symbol, wanted.dtype))

    check()


def test_operators_in_place_read_everything_before_they_write(ctx):
    for change in (
        lambda x: operator.iadd(x[1:], x[:-1]),
        lambda x: operator.isub(x, x[::-1]),
        lambda x: operator.imul(x, x),
        lambda x: operator.iadd(x[::2], x[1::2]),
        lambda x: operator.iadd(x, x[3:4]),
    ):
        values = np.arange(1.0, 1001.0)
        x = ctx.array(values.copy())
        change(x)
        change(values)
        assert np.array_equal(x.numpy(), values)


def test_operators_in_place_work_on_parts(ctx):
    values = np.arange(24.0).reshape(4, 6)
    x = ctx.array(values.copy())
    for own in (x, values):
        own[1:3, ::2] += 100
        own[:, 1] *= own[:, 2]
        own.T[5] -= 1
    assert np.array_equal(x.numpy(), values)


def test_a_read_only_array_is_not_changed_in_place(cpu):
    values = np.arange(3.0)
    values.flags.writeable = False
    x = cpu.array(values, copy=False)
    with pytest.raises(ValueError, match="^the array is read-only$"):
        x += 1
    assert (x + 1).tolist() == [1, 2, 3]


def test_results_stay_on_the_device_and_stream_of_the_array(ctx):
    own = ctx.on(ctx.stream())
    x = own.array(np.arange(4.0))
    for result in (x + 1, 1 / (x + 1), x < 2, -x, x.astype("int32"), x[[0, 1]], x.reshape(2, 2).sum(axis=0)):
        assert result.device == ctx.device
        assert result.context.default_stream.handle == own.default_stream.handle
    assert (x + 1).tolist() == [1, 2, 3, 4]


def test_numpy_on_the_left_gives_an_array_of_the_device(ctx):
    x = ctx.array(np.arange(3.0))
    for left in (np.arange(3.0), np.float64(2), np.int32(2), np.ones((2, 1)), np.array(3.0)):
        for symbol in ("-", "/", "<", "=="):
            found = BINARY[symbol](left, x)
            assert isinstance(found, pl.Array) and found.device == ctx.device
            assert_same(found, BINARY[symbol](left, np.arange(3.0)))


def test_lists_are_arrays_too(ctx):
    x = ctx.array([1, 2, 3])
    assert (x + [10, 20, 30]).tolist() == [11, 22, 33]
    assert ((1, 2, 4) == x).tolist() == [True, True, False]


@pytest.mark.parametrize("other", ["text", None, object(), np.array(["a"]), np.array([None]), {1: 2}])
def test_what_is_no_number_is_refused(ctx, other):
    x = ctx.array([1.0, 2.0])
    for symbol in ("+", "*", "<", "//", "**"):
        with pytest.raises(TypeError):
            BINARY[symbol](x, other)
    with pytest.raises(TypeError) as caught:
        x += other
    assert str(caught.value) == f"unsupported operand type(s) for +=: 'Array' and '{type(other).__name__}'"
    if not isinstance(other, np.ndarray):
        assert (x == other) is False and (x != other) is True
    assert x.tolist() == [1, 2]


def test_arrays_of_two_devices_have_no_sum(gpu):
    x, y = gpu.array([1.0, 2.0]), open_context("cpu:1").array([1.0, 2.0])
    name = gpu.device.name
    for first, second in ((x, y), (y, x)):
        with pytest.raises(pl.errors.OtherDeviceError) as caught:
            first + second
        there = first.device.name
        how = f"copy one of them first, with .to('{there}') for instance"
        assert str(caught.value) == f"add: operand 2 is on device `{second.device.name}`, but operand 1 is on `{there}`; {how}"
        for other in (lambda first=first, second=second: xp.where([True, False], first, second), lambda first=first, second=second: xp.stack([np.ones(2), first, second])):
            with pytest.raises(pl.errors.OtherDeviceError, match=f": operand 3 is on device `{second.device.name}`, but operand 2 is on `{there}`; "):
                other()
    with pytest.raises(pl.errors.OtherDeviceError):
        x[:] = y
    assert name in (x.device.name,) and x.tolist() == [1, 2]


def test_cpu_arrays_of_different_threads_have_a_sum(cpu):
    x, y = cpu.array([1.0, 2.0]), open_context("cpu:1").array([10.0, 20.0])
    assert (x + y).tolist() == [11, 22] and (x + y).device == cpu.device


def test_shapes_that_do_not_fit_are_refused(ctx):
    x = ctx.zeros((2, 3))
    with pytest.raises(ValueError):
        x + ctx.zeros(2)
    with pytest.raises(ValueError):
        x += np.zeros((2, 2, 3))
    small = ctx.zeros(3)
    with pytest.raises(ValueError):
        small += ctx.zeros((2, 3))
    if ctx.device.kind != "cpu":
        with pytest.raises(ValueError) as caught:
            small += x
        assert str(caught.value) == "the result has shape (2, 3), which does not fit into the array's shape (3,)"


def test_integers_to_negative_powers_are_refused(ctx):
    for other in (-1, np.array([1, -1, 2]), ctx.array([1, -1, 2])):
        with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed."):
            ctx.array([1, 2, 3]) ** other
    assert (ctx.array([1.0, 2.0]) ** -1).tolist() == [1, 0.5]


def test_division_of_integers_by_zero_gives_zero(ctx):
    x = ctx.array(np.array([-7, 0, 7], np.int32))
    assert (x // 0).tolist() == [0, 0, 0] and (x % 0).tolist() == [0, 0, 0]
    least = ctx.array(np.array([-(2**31)], np.int32))
    assert (least // -1).tolist() == [-(2**31)] and (least % -1).tolist() == [0] and (-least).tolist() == [-(2**31)]


def test_arrays_without_axes_give_scalars(ctx):
    x = ctx.array(3.0)
    for found, wanted in ((x + 1, 4.0), (2 * x, 6.0), (-x, -3.0), (x < 5, True), (x.sum(), 3.0), (x.mean(axis=None), 3.0), (x.max(), 3.0)):
        assert isinstance(found, np.generic) and found == wanted
    x += 1
    assert x[()] == 4


def test_arrays_without_elements_have_results_without_elements(ctx):
    x = ctx.zeros((0, 3))
    assert (x + 1).shape == (0, 3) and (x < x).dtype == np.bool_ and (-x).shape == (0, 3)
    assert (x + np.zeros((1, 3))).shape == (0, 3)
    x += 1
    assert x.sum() == 0 and x.prod() == 1 and not x.any() and x.all() and x.sum(axis=0).tolist() == [0, 0, 0]
    for name in ("min", "max"):
        with pytest.raises(ValueError, match="zero-size array to reduction operation"):
            getattr(x, name)()


def test_many_axes_are_one_or_several(ctx):
    values = np.arange(2**7, dtype=np.int32).reshape((2,) * 7)
    x = ctx.array(values)
    order = (3, 0, 6, 1, 5, 2, 4)
    assert np.array_equal((x.transpose(order) + x).numpy(), values.transpose(order) + values)
    assert np.array_equal((x.transpose(order)[:, ::-1] * x[0]).numpy(), values.transpose(order)[:, ::-1] * values[0])


def test_elements_at_odd_addresses_are_read_but_not_changed(gpu):
    values = np.arange(4.0)
    raw = gpu.array(np.frombuffer(b"\0" + values.tobytes(), np.uint8).copy())
    x = raw._view([4], [8], 1, "float64")
    assert (x + 1).tolist() == [1, 2, 3, 4] and (-x).tolist() == [0, -1, -2, -3] and x.sum() == 6 and x[[1, 3]].tolist() == [1, 3]
    words = "the array is not aligned: its elements are not at multiples of their size; change a copy"
    for change in (lambda: operator.iadd(x, 1), lambda: x.__setitem__([0], 1), lambda: x[::2].__setitem__(0, 1) or x[::2].__setitem__(..., 1)):
        with pytest.raises(ValueError) as caught:
            change()
        assert str(caught.value) == words


# comparisons ----------------------------------------------------------------------------------------------------------------------


def test_integers_without_a_common_type_are_compared_exactly(ctx):
    signed = np.array([-1, 0, 2**62, 2**63 - 1, -(2**63)], np.int64)
    unsigned = np.array([0, 1, 2**62, 2**63, 2**64 - 1], np.uint64)
    first, second = np.meshgrid(signed, unsigned)
    for symbol in ("<", "<=", "==", "!=", ">", ">="):
        assert_same(BINARY[symbol](ctx.array(first), ctx.array(second)), BINARY[symbol](first, second))
        assert_same(BINARY[symbol](ctx.array(second), ctx.array(first)), BINARY[symbol](second, first))


def test_complex_numbers_are_compared_by_real_then_imaginary_part(ctx):
    values = np.array([0, 1, 1j, 1 + 1j, complex(np.nan, 0), complex(0, np.nan)])
    first, second = np.meshgrid(values, values)
    for symbol in ("<", "<=", "==", "!=", ">", ">="):
        assert_same(BINARY[symbol](ctx.array(first), ctx.array(second)), BINARY[symbol](first, second))


def test_arrays_are_no_keys(ctx):
    with pytest.raises(TypeError, match="unhashable type"):
        hash(ctx.zeros(3))


# reductions -----------------------------------------------------------------------------------------------------------------------

REDUCTIONS = ["sum", "prod", "min", "max", "mean", "any", "all"]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_every_type_give_what_numpy_gives(ctx, name):
    for dtype in SOME_DTYPES:
        values = np.where(special_values(dtype) == special_values(dtype), special_values(dtype), 1).astype(dtype)
        if np.dtype(dtype).kind == "f":
            values = values[np.isfinite(values) & (np.abs(values) < 1e20)]
        wanted = outcome(getattr(values, name))
        assert_same(outcome(getattr(ctx.array(values), name)), wanted, exact=False)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_along_axes_give_what_numpy_gives(ctx, name):
    shapes = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5)
    axes = st.one_of(st.none(), st.integers(-3, 2), st.tuples(st.integers(-3, 2)), st.tuples(st.integers(0, 1), st.just(-1)))

    @examples(ctx, 12)
    @given(shapes.flatmap(lambda shape: arrays(shape, st.sampled_from(["bool", "uint8", "float32"]))), axes, st.booleans())
    def check(array, axis, keepdims):
        values, place = array
        wanted = outcome(lambda: getattr(values, name)(axis=axis, keepdims=keepdims))
        assert_same(outcome(lambda: getattr(place(ctx), name)(axis=axis, keepdims=keepdims)), wanted, exact=False)

    check()


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 1000, 65_536, 65_537, 300_000])
def test_long_sums_are_right_and_the_same_every_time(ctx, size):
    values = np.random.default_rng(size).standard_normal(size)
    x = ctx.array(values)
    assert x.sum() == x.sum() == x.copy().sum()
    assert abs(x.sum() - values.sum()) <= 1e-12 * np.abs(values).sum()
    assert ctx.array(np.arange(size)).sum() == size * (size - 1) // 2
    assert x.max() == values.max() and x.min() == values.min()
    narrow = values.astype(np.float32)
    assert abs(float(ctx.array(narrow).sum()) - narrow.sum(dtype=np.float64)) <= 2e-5 * np.abs(narrow).sum(dtype=np.float64)


def test_sums_are_made_in_the_type_that_is_asked_for(ctx):
    x = ctx.array(np.full(1000, 100, np.int8))
    assert x.sum() == 100_000 and x.sum().dtype == np.int64
    assert x.sum(dtype=np.int8) == np.full(1000, 100, np.int8).sum(dtype=np.int8)
    assert x.mean(dtype="float32").dtype == np.float32 and x.prod(0, "float64") == np.inf


def test_not_a_number_is_the_least_and_the_largest(ctx):
    for values in ([1.0, np.nan, 2.0], [np.nan], [1.0, 2.0, np.nan], [np.nan, 1.0]):
        x = ctx.array(values)
        assert np.isnan(x.min()) and np.isnan(x.max()) and np.isnan(x.sum()) and x.any() and x.all()


def test_axes_that_are_not_there_are_refused(ctx):
    x = ctx.zeros((2, 3))
    for axis in (2, -3, (0, 0), (0, 5), "a"):
        with pytest.raises((ValueError, TypeError)):
            x.sum(axis=axis)


def test_reductions_give_scalars_of_numpys(ctx):
    x = ctx.array(np.arange(6, dtype=np.float32).reshape(2, 3))
    for name in REDUCTIONS:
        wanted = getattr(x.numpy(), name)()
        found = getattr(x, name)()
        assert isinstance(found, np.generic) and found.dtype == wanted.dtype and found == wanted


# products -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "int8", "float64", "complex64"])
@pytest.mark.parametrize(("first", "second"), [((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((3, 4), (4, 2)), ((2, 3, 4), (4, 5)), ((2, 3), (4, 3, 2)), ((0,), (0,)), ((2, 0), (0, 3))])
def test_dot_is_numpys(ctx, dtype, first, second):
    random = np.random.default_rng(1)
    a, b = (random.integers(-3, 4, shape).astype(dtype) for shape in (first, second))
    wanted = a.dot(b)
    for other in (ctx.array(b), b):
        assert_same(ctx.array(a).dot(other), wanted, exact=False)
    assert_same(ctx.array(a.T.copy()).T.dot(ctx.array(b)), wanted, exact=False)
    if a.ndim <= 2 and b.ndim <= 2:
        assert_same(ctx.array(a) @ ctx.array(b), a @ b, exact=False)
        assert_same(a @ ctx.array(b), a @ b, exact=False)


def test_long_dot_products_are_right(ctx):
    values = np.random.default_rng(0).standard_normal((2, 100_000))
    x, y = ctx.array(values[0]), ctx.array(values[1])
    assert abs(x.dot(y) - values[0].dot(values[1])) < 1e-9
    assert x.dot(2.0).tolist() == (2 * values[0]).tolist()


def test_products_that_do_not_fit_are_refused(ctx):
    x = ctx.zeros((2, 3))
    for other in (ctx.zeros(2), ctx.zeros((2, 3))):
        with pytest.raises(ValueError):
            x.dot(other)
        with pytest.raises(ValueError):
            x @ other
    with pytest.raises(TypeError):
        x.dot("text")
    if ctx.device.kind != "cpu":
        with pytest.raises(ValueError) as caught:
            x.dot(ctx.zeros(2))
        assert str(caught.value) == "shapes (2, 3) and (2,) do not fit: 3 (axis 1) is not 2 (axis 0)"
        with pytest.raises(ValueError) as caught:
            ctx.zeros((2, 2, 3)) @ x
        assert str(caught.value) == "shapes (2, 2, 3) and (2, 3) do not fit: 3 (axis 2) is not 2 (axis 0)"
        with pytest.raises(TypeError) as caught:
            x.dot("text")
        assert str(caught.value) == "dot takes arrays and numbers, not str"


# kernels --------------------------------------------------------------------------------------------------------------------------


def test_every_kernel_compiles_for_cuda(nvrtc):
    sources = list(kernels.arithmetic())
    assert len(sources) > 300
    for begin in range(0, len(sources), 50):
        pl.compile_for("cuda", "sm_90", kernels.together(sources[begin : begin + 50]), arguments=["--fmad=false", "--Ofast-compile=max"])


def test_kernels_compile_for_hip_without_a_gpu():
    """In a process of its own: the clang inside Debian's hiprtc and the one inside PoCL cannot share one."""
    result = run_python(
        """
        import parloop as pl
        import kernels
        try:
            pl.compile_for("hip", "gfx90a", kernels.ONCE)
        except pl.errors.CompilerMissingError as error:
            print("MISSING", error)
            raise SystemExit
        pl.compile_for("hip", "gfx90a", kernels.together(list(kernels.arithmetic())[::3]), arguments=["-ffp-contract=off"], cpp=True)
        print("COMPILED")
        """,
        env={"PYTHONPATH": os.path.dirname(__file__)},
        timeout=300,
    )
    if result.startswith("MISSING"):
        missing(f"AMD's hiprtc ({result})")
    assert result.strip() == "COMPILED"


def test_truth_values_to_the_power_of_two_have_numpys_type(ctx):
    values = np.array([True, False])
    for exponent in (2, 3, np.int64(2)):
        assert_same(ctx.array(values) ** exponent, values**exponent, True)
