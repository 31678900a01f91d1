"""Elements by arrays of indices, assignment with conversion, other views and copies: on every device what NumPy gives."""

import numpy as np
import pytest
from conftest import open_context
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import parloop as pl
from parloop import _parloop

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128"]


def sources(ctx):
    """Each pair of types is a kernel that takes its time to compile, which a CPU does not need."""
    return DTYPES if ctx.device.kind == "cpu" else ["bool", "int8", "uint64", "float32", "complex128"]


def ramp(shape, dtype=np.int32):
    return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape)


def on_device(ctx, index):
    """The index with its arrays on the device."""
    if isinstance(index, tuple):
        return tuple(on_device(ctx, item) for item in index)
    return ctx.array(index) if isinstance(index, np.ndarray) and index.ndim else index


@st.composite
def advanced(draw):
    """A shape and an index with arrays in it: a mask, or integers mixed with slices, None and `...`."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    kind = draw(st.sampled_from(["mask", "partial mask", "integers", "mixed", "list"]))
    if kind == "mask":
        return shape, draw(hnp.arrays(bool, shape))
    if kind == "partial mask":
        return shape, draw(hnp.arrays(bool, shape[:1]))
    if kind == "integers":
        return shape, draw(hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3)))
    if kind == "list":
        return shape, draw(st.lists(st.integers(-shape[0], shape[0] - 1), min_size=1, max_size=4))
    result_shape = draw(hnp.array_shapes(min_dims=1, max_dims=2, max_side=3))
    items = []
    for length in shape:
        integers = hnp.arrays(draw(st.sampled_from(["int64", "int8", "uint8"])), result_shape, elements=st.integers(0, length - 1))
        items.append(draw(st.one_of(integers, st.slices(length), st.integers(-length, length - 1))))
    if not any(isinstance(item, np.ndarray) for item in items):
        items[0] = np.zeros(result_shape, np.int64)
    for extra in draw(st.lists(st.just(None), max_size=2)):
        items.insert(draw(st.integers(0, len(items))), extra)
    if draw(st.booleans()):
        items.append(Ellipsis)
    return shape, tuple(items)


# selection ------------------------------------------------------------------------------------------------------------------------


def test_arrays_of_indices_select_what_numpy_selects(ctx):
    @settings(max_examples=150)
    @given(advanced(), st.booleans())
    def check(case, device_index):
        shape, index = case
        values = ramp(shape)
        wanted = values[index]
        found = ctx.array(values.copy())[on_device(ctx, index) if device_index else index]
        if isinstance(found, pl.Array):
            assert found.shape == wanted.shape and found.device == ctx.device
            assert np.array_equal(found.numpy(), wanted)
        else:
            assert np.ndim(wanted) == 0 and found == wanted and found.dtype == wanted.dtype

    check()


def test_arrays_of_indices_change_what_numpy_changes(ctx):
    @settings(max_examples=150)
    @given(advanced(), st.sampled_from(["scalar", "numpy", "device"]))
    def check(case, kind):
        shape, index = case
        values = ramp(shape)
        x = ctx.array(values.copy())
        chosen = values[index]
        new = -1 - np.arange(np.size(chosen), dtype=np.int32).reshape(np.shape(chosen))
        new = {"scalar": -7, "numpy": new, "device": ctx.array(new)}[kind]
        x[on_device(ctx, index)] = new
        values[index] = new.numpy() if isinstance(new, pl.Array) else new
        assert np.array_equal(x.numpy(), values)

    check()


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_every_size_are_selected_and_set(ctx, dtype):
    values = (ramp((4, 5)) % 7).astype(dtype)
    x = ctx.array(values.copy())
    for own in (x, values):
        own[[0, 2], 1:3] = own[[1, 3], 2:4]
        own[own == 1] = 0
    assert np.array_equal(x.numpy(), values) and x[[3, 0]].dtype == values.dtype
    assert np.array_equal(x.T[::-1][[0, 4, 0]].numpy(), values.T[::-1][[0, 4, 0]])


def test_of_several_values_for_one_element_the_last_one_stays(ctx):
    x = ctx.zeros(4, "int64")
    x[np.array([1, 2, 1, 1, 0])] = np.arange(10, 15)
    assert x.tolist() == [14, 13, 11, 0]
    places = np.random.default_rng(0).integers(0, 50, 5000)
    y, wanted = ctx.zeros(50, "int64"), np.zeros(50, np.int64)
    y[places] = np.arange(5000)
    wanted[places] = np.arange(5000)
    assert y.tolist() == wanted.tolist()


def test_selected_elements_are_a_copy_and_can_be_changed_in_place(ctx):
    x = ctx.array(np.arange(6.0))
    part = x[[1, 2]]
    part[...] = 9
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    x[x > 3] += 10
    x[[0, 1]] *= 2
    assert x.tolist() == [0, 2, 2, 3, 14, 15]


def test_truth_values_are_masks_without_axes(ctx):
    values = ramp((2, 3))
    x = ctx.array(values)
    for index in (True, False, np.bool_(True), (True, 0), np.array(True)):
        assert np.array_equal(x[index].numpy(), values[index])


@pytest.mark.parametrize(
    "index",
    [[5], np.array([0, -4]), ([0], [7]), np.zeros(2, bool), np.zeros((3, 5), bool), np.array([0.5]), ["a"], ([0, 1], [0, 1, 2]), ([0], [0], [0])],
)
def test_arrays_that_are_no_index_are_refused_and_nothing_changes(ctx, index):
    values = ramp((3, 4))
    x = ctx.array(values.copy())
    with pytest.raises(IndexError):
        values[index]
    with pytest.raises(IndexError):
        x[index]
    with pytest.raises(IndexError):
        x[index] = 1
    assert np.array_equal(x.numpy(), values)


# assignment -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", DTYPES)
def test_values_of_the_same_kind_are_converted_and_others_refused(ctx, target):
    for source in sources(ctx):
        values = (np.arange(4) % 2 * 3).astype(source)
        for given_value in (values, ctx.array(values)):
            x = ctx.zeros((2, 4), target)
            if np.can_cast(source, target, "same_kind"):
                x[1] = given_value
                assert np.array_equal(x[1].numpy(), values.astype(target)) and not x[0].numpy().any()
                x[:, ::2] = given_value[:2]
                assert np.array_equal(x[0, ::2].numpy(), values[:2].astype(target))
            else:
                with pytest.raises(TypeError) as caught:
                    x[1] = given_value
                words = f"Cannot cast array data from {np.dtype(source)!r} to {np.dtype(target)!r} according to the rule 'same_kind'; use .astype() first"
                assert str(caught.value) == words
                assert not x.numpy().any()


def test_single_numbers_and_lists_are_assigned_where_they_fit(ctx):
    for dtype in ("int8", "uint8", "int64", "uint64"):
        limits = np.iinfo(dtype)
        x = ctx.zeros(3, dtype)
        x[0], x[1], x[2] = limits.min, limits.max, np.int64(5)
        assert x.tolist() == [limits.min, limits.max, 5]
        x[:] = [1, 2, 3]
        assert x.tolist() == [1, 2, 3]
        for wrong in (limits.max + 1, limits.min - 1):
            with pytest.raises(OverflowError) as caught:
                x[0] = wrong
            if abs(wrong) < 2**63:
                assert str(caught.value) == f"the integer {wrong} does not fit into {dtype}"
        with pytest.raises(TypeError):
            x[0] = 1.5
        assert x.tolist() == [1, 2, 3]
    y = ctx.zeros(2, "float32")
    y[0], y[1] = True, 2**40
    assert y.tolist() == [1, 2.0**40]
    with pytest.raises(TypeError):
        y[0] = 1j
    z = ctx.zeros(2, "complex64")
    z[:] = [1, 2j]
    assert z.tolist() == [1, 2j]
    truth = ctx.zeros(2, "bool")
    truth[0], truth[1] = 1, False
    assert truth.tolist() == [True, False]
    with pytest.raises(OverflowError, match="^the integer 2 does not fit into bool$"):
        truth[0] = 2


def test_an_assignment_reads_everything_before_it_writes(ctx):
    for change in (lambda x, y: x.__setitem__(slice(1, None), y[:-1]), lambda x, y: x.__setitem__(slice(None), y[::-1]), lambda x, y: x.__setitem__(..., y)):
        values = np.arange(1000.0)
        x = ctx.array(values.copy())
        change(x, x)
        change(values, values)
        assert np.array_equal(x.numpy(), values)


def test_assignments_broadcast(ctx):
    values = np.zeros((2, 3, 4))
    x = ctx.array(values.copy())
    for index, shape in ((..., (3, 1)), ((slice(None), 1), (4,)), ((0, ..., slice(None, None, 2)), (1, 1, 2)), ((slice(None, None, -1),), (2, 1, 1))):
        for new in (ramp(shape, float) + 1, ctx.array(ramp(shape, float) + 1)):
            x[index] = new
            values[index] = new.numpy() if isinstance(new, pl.Array) else new
            assert np.array_equal(x.numpy(), values)
    for wrong in (np.zeros(3), ctx.zeros(3), ctx.zeros((2, 2, 3, 4))):
        with pytest.raises(ValueError):
            x[...] = wrong
    with pytest.raises(ValueError, match=r"^could not broadcast input array from shape \(3,\) into shape \(2, 3, 4\)$"):
        x[...] = np.zeros(3)
    assert np.array_equal(x.numpy(), values)


def test_an_array_of_another_device_is_not_assigned(gpu):
    x = gpu.zeros(2)
    with pytest.raises(pl.errors.OtherDeviceError) as caught:
        x[:] = open_context("cpu:1").zeros(2)
    name = gpu.device.name
    how = f"copy one of them first, with .to('{name}') for instance"
    assert str(caught.value) == f"assign: the value is on device `cpu:1`, but the array is on `{name}`; {how}"
    with pytest.raises(pl.errors.OtherDeviceError, match=f"^index: the index is on device `cpu:1`, but the array is on `{name}`; "):
        x[open_context("cpu:1").array([1])]


def test_fill_sets_every_element(ctx):
    x = ctx.array(ramp((3, 4), float))
    x[:, ::2].fill(5)
    assert x[:, ::2].tolist() == [[5, 5]] * 3 and x[:, 1].tolist() == [1, 5, 9]
    x.fill(2.5)
    assert (x == 2.5).all()


# conversion -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.filterwarnings("ignore")
def test_elements_of_every_type_become_every_other(ctx, target):
    for source in sources(ctx):
        values = np.array([0, 1, 2, 100] + [-3, -1] * (np.dtype(source).kind in "ifc")).astype(source)
        if np.dtype(source).kind in "fc":
            values = values + np.array(0.75, source)
        found = ctx.array(values).astype(target)
        assert found.dtype == target and np.array_equal(found.numpy(), values.astype(target))


def test_astype_copies_and_refuses_what_no_kernel_takes(ctx):
    x = ctx.array(ramp((3, 4)))
    y = x[:, ::2].astype("int32")
    y[...] = 0
    assert x[0, 2] == 2 and y.shape == (3, 2)
    with pytest.raises(TypeError, match="dtype float16 is not supported"):
        x.astype("float16")


def test_real_and_imaginary_parts_are_views(ctx):
    values = ramp((2, 3), complex) * (1 + 2j)
    x = ctx.array(values.copy())
    assert np.array_equal(x.real.numpy(), values.real) and np.array_equal(x.imag.numpy(), values.imag)
    x.imag[0] = 7
    x.real[:, 1] += 100
    values.imag[0] = 7
    values.real[:, 1] += 100
    assert np.array_equal(x.numpy(), values) and np.array_equal(x.conj().numpy(), values.conj())
    assert x.real.dtype == np.float64 and ctx.zeros(2, "complex64").imag.dtype == np.float32
    y = ctx.array([1.0, 2.0])
    assert y.real is y and y.conj() is y and y.imag.tolist() == [0, 0]
    assert ctx.zeros((0, 2), complex).imag.shape == (0, 2)


# shapes ---------------------------------------------------------------------------------------------------------------------------


@st.composite
def reshapes(draw):
    """A view of some array, and shapes with as many elements."""
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=6))
    values = ramp(shape)
    index = draw(hnp.basic_indices(shape, allow_newaxis=True)) if shape else ()
    order = draw(st.permutations(range(np.ndim(values[index]))))
    size = np.size(values[index])
    divisors = [number for number in range(1, size + 1) if size % number == 0] or [0]
    first = draw(st.sampled_from(divisors))
    rest = size // first if first else 0
    second = draw(st.sampled_from([number for number in range(1, rest + 1) if rest % number == 0] or [0]))
    wanted = (first, 1, second, rest // second if second else 0)
    return values, index, order, draw(st.permutations(wanted)), draw(st.booleans())


def test_reshape_and_transpose_give_numpys_elements(ctx):
    @settings(max_examples=100)
    @given(reshapes())
    def check(case):
        values, index, order, shape, open_length = case
        x = ctx.array(values.copy())[index]
        wanted = values[index]
        if not isinstance(x, pl.Array):
            return
        x, wanted = x.transpose(*order), wanted.transpose(order)
        assert x.shape == wanted.shape and np.array_equal(x.numpy(), wanted)
        if open_length and 0 not in shape:
            shape = [-1, *shape[1:]]
        found = x.reshape(*shape)
        assert np.array_equal(found.numpy(), wanted.reshape(shape)) and found.shape == wanted.reshape(shape).shape
        assert np.array_equal(x.ravel().numpy(), wanted.ravel()) and np.array_equal(x.flatten().numpy(), wanted.flatten())
        assert np.array_equal(x.copy().numpy(), wanted) and np.array_equal(x.T.numpy(), wanted.T)

    check()


def test_views_share_memory_where_they_can(ctx):
    x = ctx.array(ramp((4, 6)))
    for view in (x.reshape(24), x.reshape((2, 2, -1)), x.ravel(), x.T, x.transpose(1, 0), x.transpose((1, 0)), x.transpose(None), x[::2].reshape(2, 3, 2)):
        assert view.memory.handle == x.memory.handle
    x.reshape(-1)[5] = 100
    x.T[0, 1] = 200
    assert x[0, 5] == 100 and x[1, 0] == 200
    for copy in (x.T.reshape(-1), x[:, ::2].reshape(2, -1)[..., :0:-1].reshape(-1), x.flatten()):
        copy[0] = -1
        assert (x >= 0).all()


def test_shapes_that_do_not_fit_are_refused(ctx):
    x = ctx.zeros((2, 3))
    for shape in ((4,), (-1, 4), (-1, -1), (-2, 3), (0, -1), (7,)):
        with pytest.raises(ValueError) as caught:
            x.reshape(shape)
        assert str(caught.value) == f"cannot reshape array of size 6 into shape {shape}"
    for axes in ((0,), (0, 0), (0, 2), (0, 1, 2)):
        with pytest.raises(ValueError) as caught:
            x.transpose(axes)
        assert str(caught.value) == f"axes {axes} do not name each of the array's 2 axes once"
    assert ctx.zeros((0, 3)).reshape(3, 0).shape == (3, 0) and ctx.zeros((0, 3)).T.shape == (3, 0)


def test_a_view_outside_the_memory_is_refused(ctx):
    x = ctx.zeros(4)
    for shape, strides, offset in (([5], [8], 0), ([4], [8], 8), ([4], [-8], 0), ([2**60], [2**60], 0), ([2], [8, 8], 0), ([0], [8], 64)):
        with pytest.raises(ValueError, match="is out of bounds of the memory"):
            x._view(shape, strides, offset, "float64")


# Python's own protocols -----------------------------------------------------------------------------------------------------------


def test_one_element_is_a_number_of_python(ctx):
    for values in (np.array([[3]]), np.array(2.5), np.array([1 + 0j]), np.array([True])):
        x = ctx.array(values)
        assert x.item() == values.item() and type(x.item()) is type(values.item())
        assert bool(x) is bool(values.item()) and complex(x) == complex(values.item())
        if values.dtype.kind != "c":
            assert float(x) == float(values.item()) and int(x) == int(values.item())
    x = ctx.array(ramp((2, 3)))
    assert (x.item(4), x.item(-1), x.item(1, 2), x.item((0, 1))) == (4, 5, 5, 1)
    assert type(x.item(1, 2)) is int and x.tolist() == [[0, 1, 2], [3, 4, 5]] and ctx.array(2.0).tolist() == 2
    assert [10, 20, 30][ctx.array(1)] == 20


def test_several_elements_are_no_number(ctx):
    x = ctx.array(ramp((2, 3)))
    for convert in (float, int, complex, lambda x: x.item(), lambda x: x.item(1, 2, 3)):
        with pytest.raises((TypeError, ValueError)):
            convert(x)
    for values in (x, x[:0]):
        with pytest.raises(ValueError) as caught:
            bool(values)
        assert str(caught.value) == "the truth value of an array that does not have exactly one element is undefined; use .any() or .all()"
    with pytest.raises(TypeError):
        [1, 2][ctx.array([1])]
    with pytest.raises(IndexError):
        x.item(6)
    with pytest.raises(ValueError) as caught:
        x.item(1, 2, 3)
    assert str(caught.value) == "an index of 3 numbers was given for an array of 2 axes"
    with pytest.raises(ValueError) as caught:
        x.item()
    assert str(caught.value) == "can only convert an array of size 1 to a Python scalar"


def test_iteration_goes_along_the_first_axis(ctx):
    x = ctx.array(ramp((2, 3)))
    assert [row.tolist() for row in x] == [[0, 1, 2], [3, 4, 5]]
    assert [type(value) for value in x[0]] == [np.int32] * 3 and list(x[1]) == [3, 4, 5]
    first, second = x
    assert second.tolist() == [3, 4, 5]
    with pytest.raises(TypeError, match="^an array without axes cannot be iterated over$"):
        iter(ctx.array(1.0))


def test_membership_is_equality_of_some_element(ctx):
    x = ctx.array(ramp((2, 3)))
    assert 4 in x and 6 not in x and 4.0 in x and "a" not in x and None not in x


def test_a_number_on_the_device_is_an_argument_of_a_kernel(ctx):
    prog = ctx.compile("GPUKERN void set(double *x, double by, int64_t n) { VECTORIZE_OVER(i, n) x[i] = by; END_VECTORIZE }")
    x = ctx.zeros(3)
    prog.set(x, ctx.array(2.5), x.size)
    assert x.tolist() == [2.5] * 3


@pytest.mark.parametrize(
    "shape, strides, order",
    [
        ((2, 3), (24, 8), "C"),
        ((2, 3), (8, 16), "F"),
        ((2, 3), (48, 16), None),
        ((3,), (-8,), None),
        # Strides of axes with one element, and of arrays with none, do not matter.
        ((1, 3, 1), (5, 8, -7), "C"),
        ((0, 3), (1, 2), "C"),
        ((), (), "C"),
    ],
)
def test_arrays_without_gaps_are_told_from_others(shape, strides, order):
    assert _parloop._dense_order(shape, strides, 8) == order
