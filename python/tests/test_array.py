"""Arrays: where their elements are, what indexing selects, and how they go to and from other libraries."""

import gc

import numpy as np
import pytest
from conftest import open_context
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import parloop as pl
from parloop import mesh

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128"]


# making ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_goes_there_and_back(ctx, dtype):
    values = np.arange(-3, 9).astype(dtype).reshape(3, 4)
    x = ctx.array(values)
    assert (x.dtype, x.shape, x.ndim, x.size, x.nbytes) == (values.dtype, (3, 4), 2, 12, values.nbytes)
    assert x.strides == values.strides and x.offset == 0 and len(x) == 3
    assert np.array_equal(x.numpy(), values) and x.numpy().dtype == values.dtype
    assert x.device == ctx.device and x.context.device == ctx.device


def test_an_array_is_a_copy_on_every_device(ctx):
    values = np.arange(4.0)
    for given in (values, values[::1], ctx.array(values), ctx.array(values, copy=None), memoryview(values), [0.0, 1.0, 2.0, 3.0]):
        for own in (ctx.array(given), ctx.array(given, copy=True), ctx.array(given, "float64")):
            values[0], own[1] = 9, 8
            assert own.tolist() == [0, 8, 2, 3] and values.tolist() == [9, 1, 2, 3]
            values[0] = 0
            assert np.array_equal(given.numpy() if isinstance(given, pl.Array) else given, [0, 1, 2, 3])
    values.flags.writeable = False
    ctx.array(values)[0] = 5
    assert ctx.array(np.arange(6.0).reshape(2, 3).T).strides == (16, 8)


def test_memory_is_shared_only_where_that_is_requested(ctx, is_cpu):
    values = np.arange(4.0)
    x = ctx.array(values, copy=None)
    values[0] = 9
    assert x[0] == (9 if is_cpu else 0)
    x[1] = 8
    assert values[1] == (8 if is_cpu else 1)
    shared = ctx.array(values, copy=None)
    for again in (ctx.array(shared, copy=None), ctx.array(shared, copy=False)):
        again[2] = 7
        assert shared[2] == 7
    apart = ctx.array(shared)
    apart[2] = 5
    assert shared[2] == 7
    needed = f"these values cannot be used on device `{ctx.device.name}` without a copy, but copy=False was given"
    refused = [([1.0], None), (values, "float32"), (shared, "float32")] + ([] if is_cpu else [(values, None)])
    for given, dtype in refused:
        with pytest.raises(ValueError) as caught:
            ctx.array(given, dtype, copy=False)
        assert str(caught.value) == needed
    if is_cpu:
        ctx.array(values, copy=False)[3] = 6
        assert values[3] == 6


def test_an_array_keeps_what_it_shares_alive(cpu):
    x = cpu.array(np.full(1000, 3.0), copy=False)
    part = x[10:]
    del x
    gc.collect()
    junk = [np.full(1000, 7.0) for _ in range(20)]
    assert (part.numpy() == 3).all() and len(junk) == 20
    view = part.numpy()
    del part
    gc.collect()
    assert (view == 3).all()


def test_arrays_are_made_from_whatever_numpy_takes(ctx):
    for values in ([1, 2, 3], (1.0, 2.0), [[1], [2]], range(3), 5, 2.5, 1j, True, [], np.float32(3), bytearray(b"ab"), b"ab", memoryview(b"ab")):
        expected = np.frombuffer(values, np.uint8) if isinstance(values, bytes) else np.asarray(values)
        x = ctx.array(values)
        assert x.shape == expected.shape and x.dtype == expected.dtype and np.array_equal(x.numpy(), expected)


def test_a_dtype_that_is_asked_for_is_given(ctx):
    for values in ([1, 2], np.arange(2), np.ones(2, "f2"), np.ones(2, ">f8"), np.ones(2), np.arange(4.0)[::2], ctx.array([1, 2])):
        for dtype in ("float32", np.float64, np.dtype("int16")):
            x = ctx.array(values, dtype=dtype)
            assert x.dtype == dtype and np.array_equal(x.numpy(), np.asarray(values).astype(dtype))


@pytest.mark.parametrize("values", [np.ones(2, ">f8"), np.ones(2, "f2"), np.array(["a"]), np.array([None]), np.zeros(1, "M8[s]"), "text"])
def test_elements_that_no_kernel_takes_are_refused(ctx, values):
    with pytest.raises(TypeError, match="is not supported"):
        ctx.array(values)


def test_dtypes_that_no_kernel_takes_are_refused(ctx):
    with pytest.raises(TypeError, match="dtype float16 is not supported; use one of bool, int8, "):
        ctx.zeros(3, "float16")
    with pytest.raises(TypeError):
        ctx.zeros(3, "no such type")


def test_zeros_are_zero_and_empty_has_its_shape(ctx):
    for shape in (5, (5,), (2, 3), [4], (), 0, (0, 3), np.int64(5)):
        for dtype in ("float64", "int8"):
            expected = np.zeros(shape, dtype)
            x = ctx.zeros(shape, dtype)
            assert x.shape == expected.shape and not x.numpy().any() and x.numpy().shape == expected.shape
            assert ctx.empty(shape, dtype=dtype).shape == expected.shape
    assert ctx.zeros(1).dtype == np.float64


@pytest.mark.parametrize("shape", [-1, (2, -1), 1.5, "3", None, (None,)])
def test_what_is_no_shape_is_refused(ctx, shape):
    with pytest.raises(TypeError, match="a shape must be a non-negative integer or a tuple of them"):
        ctx.zeros(shape)


def test_arrays_without_axes_are_arrays(ctx):
    x = ctx.array(3.5)
    assert (x.shape, x.ndim, x.size, x.nbytes) == ((), 0, 1, 8)
    assert x[()] == 3.5 and x.numpy().shape == () and float(x.numpy()) == 3.5
    x[()] = 4
    assert x[...] == 4 and x[None].shape == (1,)
    assert x.copy().numpy() == 4
    with pytest.raises(TypeError, match="an array without axes has no length"):
        len(x)


def test_arrays_without_elements_are_arrays(ctx):
    for values in (np.zeros(0), np.zeros((0, 3), np.int8), np.zeros((2, 0))):
        x = ctx.array(values)
        assert x.shape == values.shape and x.size == 0 and x.numpy().shape == values.shape
        assert x.copy().shape == values.shape and x.to("cpu:1").shape == values.shape
        x[...] = 5
        assert x[..., None].shape == (*values.shape, 1)
        assert "[]" in repr(x)
    assert ctx.zeros(5)[5:].numpy().tolist() == []


def test_fortran_order_keeps_its_elements(ctx):
    values = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    x = ctx.array(values)
    assert np.array_equal(x.numpy(), values) and x[1, 2] == 5
    assert np.array_equal(ctx.array(values.T).numpy(), values.T)
    assert np.array_equal(ctx.array(values[:, ::-1]).numpy(), values[:, ::-1])


# indexing -------------------------------------------------------------------------------------------------------------------------


def arrays_and_indices():
    shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)
    return shapes.flatmap(lambda shape: st.tuples(st.just(shape), hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True)))


def test_indexing_selects_what_numpy_selects(ctx):
    @given(arrays_and_indices())
    def check(case):
        shape, index = case
        values = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
        x = ctx.array(values.copy())
        expected, found = values[index], x[index]
        if isinstance(found, pl.Array):
            assert found.shape == expected.shape
            assert np.array_equal(found.numpy(), expected)
            assert np.array_equal(found.copy().numpy(), expected)
        else:
            assert found == expected and np.ndim(expected) == 0

    check()


def test_assignment_changes_what_numpy_changes(ctx):
    @given(arrays_and_indices(), st.booleans())
    def check(case, with_array):
        shape, index = case
        values = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
        x = ctx.array(values.copy())
        new = np.full(values[index].shape, -7, np.int32) + np.arange(max(values[index].size, 1))[: values[index].size].reshape(values[index].shape)
        x[index] = ctx.array(new.astype(np.int32)) if with_array else new
        values[index] = new
        assert np.array_equal(x.numpy(), values)

    check()


def test_slices_share_the_memory_of_their_array(ctx):
    x = ctx.array(np.arange(24.0).reshape(4, 6))
    part = x[1:3, ::2]
    part[0, 1] = 100
    assert x[1, 2] == 100
    assert (part.offset, part.strides) == (48, (48, 16))
    part[:, 0] = [5, 6]
    assert x[1:3, 0].numpy().tolist() == [5, 6]


def test_indices_out_of_range_are_named(ctx):
    x = ctx.zeros((3, 4))
    for index, words in (
        (3, "index 3 is out of range for axis 0 with 3 elements"),
        ((0, -5), "index -5 is out of range for axis 1 with 4 elements"),
        ((0, 0, 0), "too many indices: the array has 2 axes, but 3 were indexed"),
        ((..., ...), "an index can have only one `...`"),
    ):
        with pytest.raises(IndexError) as caught:
            x[index]
        assert str(caught.value) == words
        with pytest.raises(IndexError):
            x[index] = 1


@pytest.mark.parametrize(("index", "kind"), [(1.0, "float"), ("a", "str"), ((0, 1j), "complex"), (np.float64(1), "float64")])
def test_other_indices_are_refused(ctx, index, kind):
    words = f"an index must be an integer, a slice, `...`, None, or an array of integers or booleans, not {kind}"
    x = ctx.zeros((3, 4))
    with pytest.raises(TypeError) as caught:
        x[index]
    assert str(caught.value) == words
    with pytest.raises(TypeError):
        x[index] = 1


def test_an_assignment_that_does_not_fit_changes_nothing(ctx):
    x = ctx.array(np.arange(4.0))
    for value in ([1, 2, 3], "text", np.zeros((2, 2))):
        with pytest.raises(ValueError):
            x[:] = value
        with pytest.raises(ValueError):
            x[::2] = value
    assert x.numpy().tolist() == [0, 1, 2, 3]


def test_arrays_are_iterated_like_sequences(ctx):
    assert [float(value) for value in ctx.array([1.0, 2.0])] == [1, 2]
    assert [row.numpy().tolist() for row in ctx.array([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]


def test_a_read_only_array_stays_one(cpu):
    values = np.arange(3.0)
    values.flags.writeable = False
    x = cpu.array(values, copy=False)
    with pytest.raises(ValueError, match="the array is read-only"):
        x[0] = 1
    assert not x.numpy().flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__()
    y = x.copy()
    y[0] = 1
    assert values[0] == 0 and y[0] == 1


# to and from others ---------------------------------------------------------------------------------------------------------------


def test_arrays_move_between_devices(ctx):
    values = np.arange(12.0).reshape(3, 4)
    host = open_context("cpu:1")
    x = host.array(values).to(ctx)
    assert x.device == ctx.device and np.array_equal(x.numpy(), values)
    part = x[1:, ::2].to("cpu:3")
    assert part.device.name == "cpu:3" and np.array_equal(part.numpy(), values[1:, ::2])
    assert np.array_equal(ctx.array(part).numpy(), values[1:, ::2])
    assert x.to(ctx.device).device == ctx.device


def test_an_array_that_is_there_already_is_not_copied(ctx):
    x = ctx.array(np.zeros(3))
    same, copy = x.to(ctx), x.copy()
    x[0] = 5
    assert same[0] == 5 and copy[0] == 0


def test_numpy_sees_a_view_on_a_cpu_and_a_copy_elsewhere(ctx, is_cpu):
    x = ctx.array(np.arange(3.0))
    for view in (x.numpy(), np.asarray(x)):
        view[0] = 7
        assert x[0] == (7 if is_cpu else 0)
        x[0] = 0
    copy = np.array(x)
    copy[0] = 7
    assert x[0] == 0


def test_the_array_method_heeds_dtype_and_copy(ctx, is_cpu):
    x = ctx.array(np.arange(3.0))
    assert x.__array__(np.dtype("int32")).dtype == np.int32
    assert np.asarray(x, dtype="float32").tolist() == [0, 1, 2]
    copy = x.__array__(copy=True)
    copy[0] = 9
    assert x[0] == 0
    if is_cpu:
        view = x.__array__(copy=False)
        view[0] = 5
        assert x[0] == 5
        with pytest.raises(ValueError):
            x.__array__(np.dtype("int32"), copy=False)
    else:
        with pytest.raises(ValueError, match="the array is on a GPU and cannot be converted without a copy"):
            x.__array__(copy=False)


def test_dlpack_shares_the_memory_of_a_cpu(cpu):
    x = cpu.array(np.arange(12.0).reshape(3, 4))
    for part in (x, x[1:, ::2], x[2:2], x[1]):
        theirs = np.from_dlpack(part)
        assert np.array_equal(theirs, part.numpy()) and theirs.shape == part.shape
    theirs = np.from_dlpack(x)
    x[0, 0] = 99
    assert theirs[0, 0] == 99
    del x
    gc.collect()
    assert theirs[0, 0] == 99 and theirs[2, 3] == 11
    copied = np.from_dlpack(cpu.array(np.zeros(2)), copy=True) if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else None
    assert copied is None or copied.tolist() == [0, 0]


def test_a_capsule_nobody_takes_is_freed(cpu):
    for _ in range(100):
        cpu.array(np.zeros(1000)).__dlpack__()
    assert cpu.zeros(1).__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        cpu.zeros(1).__dlpack__(dl_device=(2, 0))


def test_dlpack_is_versioned_where_the_consumer_knows_that(cpu):
    x = cpu.array(np.arange(3.0))
    for options, name in (
        ({}, "dltensor"),
        ({"max_version": None}, "dltensor"),
        ({"max_version": (0, 8)}, "dltensor"),
        ({"max_version": (1, 0)}, "dltensor_versioned"),
        ({"max_version": (2, 1)}, "dltensor_versioned"),
    ):
        assert f'"{name}"' in repr(x.__dlpack__(**options))
    for stream in (None, -1):
        x.__dlpack__(stream=stream)
    with pytest.raises(ValueError, match="^stream 1 was given, but cpu(:[13])? has no such stream; pass None$"):
        x.__dlpack__(stream=1)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="this NumPy has no DLPack of version 1.0")
def test_dlpack_hands_on_what_is_read_only_and_copies_when_asked(ctx, is_cpu):
    values = np.arange(6.0).reshape(2, 3)
    values.flags.writeable = False
    x = ctx.array(values, copy=None)
    if is_cpu:
        theirs = np.from_dlpack(x)
        assert not theirs.flags.writeable and np.shares_memory(theirs, values)
        assert not ctx.array(Dlpack(x), copy=False)._writeable and ctx.array(Dlpack(x))._writeable
        with pytest.raises(BufferError, match="^the array is read-only, which DLPack before 1.0 cannot express; request max_version=.1, 0. or pass a copy$"):
            x.__dlpack__()
        copy = np.from_dlpack(x, copy=True)
        assert copy.flags.writeable and not np.shares_memory(copy, values)
        x.__dlpack__(copy=True)
    else:
        with pytest.raises(BufferError, match="the array is on .*; copy it with .to"):
            x.__dlpack__(dl_device=(1, 0), copy=False)
    host = np.from_dlpack(x, device="cpu", copy=None if is_cpu else True)
    assert host.tolist() == values.tolist()


class Dlpack:
    """An array that offers itself through DLPack and nothing else, and what it was requested."""

    def __init__(self, array):
        self.array, self.asked = array, []

    def __dlpack__(self, **options):
        self.asked.append(options)
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_are_asked_for_dlpack_on_our_stream(ctx):
    if ctx.device.kind == "opencl":
        pytest.skip("OpenCL memory cannot be exported through DLPack")
    stream = ctx.stream()
    for context, number in ((ctx, 1), (ctx.on(stream), stream.handle)):
        given = Dlpack(ctx.array(np.arange(3.0)))
        x = context.array(given, copy=False)
        expected = {"cpu": {}, "cuda": {"stream": number}, "hip": {"stream": 0 if context is ctx else number}}[ctx.device.kind]
        assert given.asked == [{"max_version": (1, 0), **expected}]
        x[0] = 7
        assert given.array[0] == 7 and x.tolist() == [7, 1, 2]
        own = context.array(given)
        own[1] = 8
        assert given.array.tolist() == [7, 1, 2] and own.tolist() == [7, 8, 2]


def test_opencl_memory_has_no_dlpack():
    x = open_context("opencl").zeros(2)
    for call in (x.__dlpack__, x.__dlpack_device__):
        with pytest.raises(BufferError, match="OpenCL memory cannot be exported through DLPack"):
            call()


def test_interfaces_are_there_only_where_they_are_true(ctx, is_cpu):
    x = ctx.array(np.arange(6.0).reshape(2, 3))[1]
    assert hasattr(x, "__array_interface__") == is_cpu
    assert hasattr(x, "__cuda_array_interface__") == (ctx.device.kind in ("cuda", "hip"))
    if is_cpu:
        interface = x.__array_interface__
        assert (interface["shape"], interface["typestr"], interface["strides"]) == ((3,), "<f8", (8,))
        assert interface["data"] == (x.memory.handle + 24, False)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (), (0,), (1001,), (50_000,), (200, 300), (2, 3000), (2000, 2), (30, 20, 10), (2, 20, 3, 40)])
def test_reprs_show_elements_as_numpy_does(ctx, shape):
    values = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    for host in (values, values.T, values[..., ::-1] if shape else values):
        x = ctx.array(values, copy=None)
        x = x.transpose() if host.base is values.base and host.shape != values.shape else x
        if host.shape == values.shape and shape and host.strides != values.strides:
            x = x[..., ::-1]
        text = np.array2string(np.asarray(x.numpy()), edgeitems=3, threshold=1000)
        assert repr(x) == f"<Array int32 {list(x.shape)} on {ctx.device.name}: {text}>"


def test_a_repr_while_work_is_recorded_shows_no_elements_and_records_nothing(ctx):
    x = ctx.zeros(5)
    with ctx.recording() as steps:
        assert repr(x) == f"<Array float64 [5] on {ctx.device.name}>" and "shape (5,)" in x._repr_html_()
    assert len(steps) == 0


def test_a_numpy_array_is_not_resized_while_its_memory_is_shared(cpu):
    def refused(host):
        with pytest.raises(ValueError, match="cannot resize"):
            host.resize(10_000_000, refcheck=False)

    host = np.arange(1000.0)
    def share(host):
        return cpu.array(host, copy=False)

    for use in (share, lambda host: share(host[10:20]), lambda host: share(host)[5:].memory.slice(0, 8), lambda host: share(host)[::2]):
        shared = use(host)
        refused(host)
        del shared
        gc.collect()
        host.resize(host.size, refcheck=False)
    cells = mesh.Set(1000)
    dat = mesh.Dat(cells, host)
    refused(host)
    assert dat.data_ro[7] == 7
    del dat
    gc.collect()
    host.resize(10, refcheck=False)


def test_an_array_notices_that_the_numpy_array_behind_it_was_resized(cpu):
    prog = cpu.compile("GPUKERN void add(double *x, const int64_t n) { VECTORIZE_OVER(i, n) x[i] += 1; END_VECTORIZE }")
    words = "the NumPy array whose memory this array shares was resized; create the array again with ctx.array(…, copy=None)"
    for size in (0, 3, 10_000_000):
        host = np.arange(1000.0)
        array = cpu.array(host, copy=False)
        part, memory, bound = array[10:20], array.memory, prog.add.bind(array, 1000)
        bound()
        # A resize is refused; this gives the array other memory too.
        host.__setstate__((1, (size,), host.dtype, False, bytes(8 * size)))
        for use in (lambda: prog.add(array, 1000), lambda: prog.add(part, 10), lambda: array.numpy(), lambda: np.asarray(part), array.copy, array.__dlpack__, lambda: prog.add(memory, 1000)):
            with pytest.raises(ValueError) as caught:
                use()
            assert str(caught.value) == words
        with pytest.raises(ValueError, match="^array `x` was resized after it was bound; bind it again$"):
            bound()
    backwards = np.arange(10.0)
    array = cpu.array(backwards[::-1], copy=False)
    prog.add(cpu.array(backwards[2:7], copy=False), 5)
    assert array.numpy().tolist() == [9, 8, 7, 7, 6, 5, 4, 3, 1, 0]
