"""What may be passed for a parameter, what is refused and with which words, and that nothing runs when anything is refused."""

import array
import ctypes
import decimal
import fractions

import kernels
import numpy as np
import pytest
from conftest import SCALARS, open_context, run_python

import parloop as pl
import parloop.loops as lp
from parloop import mesh

SIGNATURE = "(double a, const double * x, double * y, int64_t n)"
ADD = "GPUKERN void add(const double *x, double *y, const int64_t n) { VECTORIZE_OVER(i, n) y[i] += x[i]; END_VECTORIZE }"
TEXT = """
GPUKERN void text(const char *s, uint8_t *out) {
    int i = 0;
    for (; s[i]; i++) out[i] = s[i];
    out[i] = 255;
}"""


@pytest.fixture
def axpy(ctx):
    return ctx.compile(kernels.AXPY).axpy


@pytest.fixture
def add(ctx):
    return ctx.compile(ADD).add


def words(call, error):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, pl.ParloopError)
    return str(caught.value)


# by position and by name ---------------------------------------------------------------------------------------------------------


def test_arguments_go_by_position_by_name_and_mixed(axpy):
    x, y = np.ones(4), np.zeros(4)
    axpy(1.0, x, y, 4)
    axpy(a=1.0, x=x, y=y, n=4)
    axpy(n=4, y=y, x=x, a=1.0)
    axpy(1.0, x, n=4, y=y)
    axpy(*[1.0, x], **{"n": 4, "y": y})
    assert y.tolist() == [5.0] * 4


def test_names_need_not_be_the_interned_strings(axpy):
    y = np.zeros(2)
    names = ["".join([name]) for name in "axyn"]
    named = dict(zip(["".join(list(name)) + "" for name in names], [3.0, np.ones(2), y, 2], strict=True))
    axpy(**{bytes(name, "ascii").decode(): value for name, value in named.items()})
    assert y.tolist() == [3.0, 3.0]


def test_a_wrong_count_is_named(axpy):
    y = np.zeros(2)
    message = words(lambda: axpy(1.0, np.ones(2), y, 2, 5), TypeError)
    assert message == f"kernel `axpy` takes 4 arguments {SIGNATURE}, but 5 were given"


def test_an_unknown_name_is_named(axpy):
    message = words(lambda: axpy(1.0, np.ones(2), np.zeros(2), m=2), TypeError)
    assert message == f"kernel `axpy` has no argument `m`; its arguments are {SIGNATURE}"


def test_an_argument_given_twice_is_named(axpy):
    message = words(lambda: axpy(1.0, np.ones(2), np.zeros(2), 2, a=2.0), TypeError)
    assert message == "kernel `axpy` was given argument `a` twice"


def test_a_missing_argument_is_named(axpy):
    message = words(lambda: axpy(1.0, np.ones(2), n=2), TypeError)
    assert message == "kernel `axpy` needs argument `y` (double *)"


# scalars --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("c_type", [name for name in SCALARS if "int" in name])
def test_integers_are_checked_at_the_edges_of_their_type(ctx, c_type):
    dtype = SCALARS[c_type]
    store = ctx.compile(kernels.store(c_type)).store
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    for value in (low, high, np.array(high, dtype)[()]):
        out = np.zeros(1, dtype)
        store(value, out, 1)
        assert out[0] == value
    out = np.full(1, 7, dtype)
    for value in (low - 1, high + 1, 10**50):
        message = words(lambda value=value: store(value, out, 1), OverflowError)
        assert message == f"argument `value` of kernel `store` is declared `{c_type}`, but {value} does not fit into {np.dtype(dtype)}"
    assert out[0] == 7


def test_a_number_with_a_fraction_is_no_integer(ctx):
    store = ctx.compile(kernels.store("int32_t")).store
    message = words(lambda: store(1.0, np.zeros(1, np.int32), 1), TypeError)
    assert message == "argument `value` of kernel `store` is declared `int32_t`, but the number 1.0 was given"


@pytest.mark.parametrize(
    "value",
    [3, 3.0, True, np.float32(3), np.float16(3), np.int8(3), np.uint64(3), np.bool_(True), np.longdouble(3), np.array(3.0), np.array(3),
     fractions.Fraction(3), decimal.Decimal(3), 10**200],
    ids=lambda value: f"{type(value).__name__} {value}"[:24],
)  # fmt: skip
def test_every_kind_of_number_is_taken_for_a_double(ctx, value):
    out = np.zeros(1)
    ctx.compile(kernels.store("double")).store(value, out, 1)
    assert out[0] == float(value)


def test_an_array_of_one_element_of_ours_without_axes_is_a_number_too(ctx):
    out = np.zeros(1)
    ctx.compile(kernels.store("double")).store(np.array(2.5).reshape(()), out, 1)
    assert out[0] == 2.5


@pytest.mark.parametrize("value", [1j, "3", b"3", None, [3.0], np.ones(1), np.ones((1, 1)), object(), np.datetime64(5, "ns"), np.str_("3")])
def test_what_is_no_number_is_refused_for_a_double(ctx, value):
    out = np.zeros(1)
    with pytest.raises(pl.ArgumentError, match="argument `value` of kernel `store` is declared `double`"):
        ctx.compile(kernels.store("double")).store(value, out, 1)
    assert out[0] == 0


def test_an_object_of_another_type_is_named(ctx):
    message = words(lambda: ctx.compile(kernels.store("double")).store([3.0], np.zeros(1), 1), TypeError)
    expected = "argument `value` of kernel `store` is declared `double`, but an object of type list was given; pass a single value"
    assert message == expected


def test_an_object_that_is_its_own_item_is_refused_without_recursion(ctx):
    class Endless:
        ndim = 0

        def item(self):
            return self

        __index__ = __float__ = item

    with pytest.raises(pl.ArgumentError):
        ctx.compile(kernels.store("double")).store(Endless(), np.zeros(1), 1)


def test_a_number_too_large_for_a_float_is_refused_and_infinity_is_kept(ctx):
    store = ctx.compile(kernels.store("float")).store
    out = np.zeros(1, np.float32)
    with pytest.raises(pl.errors.ArgumentRangeError):
        store(1e39, out, 1)
    store(float("inf"), out, 1)
    assert np.isinf(out[0])


def test_truth_values_are_zero_or_one_only(ctx):
    store = ctx.compile(kernels.store("bool")).store
    out = np.zeros(1, np.bool_)
    for value, expected in ((True, True), (0, False), (1, True), (np.bool_(True), True)):
        store(value, out, 1)
        assert out[0] == expected
    for value, error in ((2, pl.errors.ArgumentRangeError), (-1, pl.errors.ArgumentRangeError), (1.0, pl.ArgumentError)):
        with pytest.raises(error):
            store(value, out, 1)


def test_complex_numbers_go_to_complex_parameters_of_a_cpu(cpu):
    prog = cpu.compile("""
    #include <complex.h>
    double complex turn(double complex z, float complex w, const double _Complex *more) { return z * I + w + more[0]; }""")
    assert prog.turn(2 + 1j, 0.5, np.array([10j])) == (2 + 1j) * 1j + 0.5 + 10j
    assert prog.turn(np.complex64(2 + 1j), 1, np.array([0j])) == 1j * (2 + 1j) + 1
    with pytest.raises(pl.errors.ArgumentRangeError):
        prog.turn(0, 1e39 + 0j, np.array([0j]))
    with pytest.raises(pl.ArgumentError):
        prog.turn("1j", 0, np.array([0j]))


# null, text and bytes -------------------------------------------------------------------------------------------------------------


def test_none_is_the_null_pointer(ctx):
    k = ctx.compile("GPUKERN void k(const double *x, int32_t *out) { out[0] = x == 0 ? 1 : 2; }").k
    out = np.zeros(1, np.int32)
    k(None, out)
    assert out[0] == 1
    k(np.ones(1), out)
    assert out[0] == 2


def test_none_is_no_number(axpy):
    message = words(lambda: axpy(None, np.ones(1), np.zeros(1), 1), TypeError)
    assert message.startswith("argument `a` of kernel `axpy` is declared `double`, but an object of type NoneType was given")


@pytest.mark.parametrize("value", ["grün", b"gr\xc3\xbcn", np.frombuffer(b"gr\xc3\xbcn\0", np.int8), bytearray(b"gr\xc3\xbcn\0")])
def test_text_and_bytes_are_passed_for_const_char(ctx, value):
    out = np.zeros(16, np.uint8)
    ctx.compile(TEXT).text(value, out)
    assert bytes(out[:6]) == "grün".encode() + b"\xff"


def test_empty_text_is_one_zero_byte(ctx):
    for value in ("", b""):
        out = np.zeros(16, np.uint8)
        ctx.compile(TEXT).text(value, out)
        assert out[0] == 255


def test_text_is_refused_where_it_could_be_written_or_is_no_text(ctx):
    prog = ctx.compile("GPUKERN void k(char *s) { s[0] = 1; }\nGPUKERN void d(const double *s) { }")
    message = words(lambda: prog.k("text"), TypeError)
    assert message == "argument `s` of kernel `k` is declared `char *`, but text was given; declare it `const char *`"
    with pytest.raises(pl.ArgumentError, match="but text was given"):
        prog.d("text")
    with pytest.raises(pl.ArgumentError):
        prog.k(b"text")
    with pytest.raises(pl.ArgumentError, match="an array of uint8 was given"):
        prog.d(b"12345678")


def test_text_with_a_zero_inside_is_refused(ctx):
    with pytest.raises(ValueError, match="cannot contain a NUL character"):
        ctx.compile(TEXT).text("a\0b", np.zeros(4, np.uint8))


# arrays of other libraries --------------------------------------------------------------------------------------------------------


class OnlyDlpack:
    """An array that offers itself through DLPack and nothing else."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class OnlyInterface:
    """An array that offers itself through `__array_interface__` and nothing else."""

    def __init__(self, values):
        self.values = values

    @property
    def __array_interface__(self):
        return self.values.__array_interface__


WRITABLE = {
    "array.array": lambda: array.array("d", [0.0] * 8),
    "memoryview": lambda: memoryview(array.array("d", [0.0] * 8)),
    "ctypes": lambda: (ctypes.c_double * 8)(),
    "DLPack": lambda: OnlyDlpack(np.zeros(8)),
    "array interface": lambda: OnlyInterface(np.zeros(8)),
    "subclass": lambda: np.zeros(8).view(np.recarray),
    "memmap": lambda: np.zeros(8).view(np.memmap),
}


def values_of(holder):
    return np.asarray(getattr(holder, "values", holder)).tolist()


@pytest.mark.parametrize("kind", WRITABLE)
def test_buffers_of_every_kind_are_read_and_written_in_place(add, kind):
    source, target = WRITABLE[kind](), WRITABLE[kind]()
    add(np.arange(8.0), source, 8)
    assert values_of(source) == list(range(8))
    add(source, target, 8)
    assert values_of(target) == list(range(8))


def test_bytes_like_objects_are_bytes(ctx):
    k = ctx.compile("GPUKERN void k(const uint8_t *x, uint8_t *y, int64_t n) { VECTORIZE_OVER(i, n) y[i] = x[i] + 1; END_VECTORIZE }").k
    for source in (b"abc", bytearray(b"abc"), memoryview(b"abc"), np.frombuffer(b"abc", np.uint8)):
        target = bytearray(3)
        k(source, target, 3)
        assert target == b"bcd"
    with pytest.raises(pl.ArgumentError):
        k(b"abc", b"abc", 3)


def test_an_array_in_fortran_order_is_passed_as_it_lies_in_memory(add):
    x, y = np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.zeros(6)
    add(x, y, 6)
    assert y.tolist() == x.ravel("K").tolist() == [0, 3, 1, 4, 2, 5]
    z = np.zeros((2, 3), order="F")
    add(np.arange(6.0), z, 6)
    assert z.tolist() == [[0, 2, 4], [1, 3, 5]]


def test_arrays_of_one_or_no_element_are_contiguous(add):
    y = np.zeros(10)
    add(np.ones((1, 1)).T, y[4:5], 1)
    add(np.ones(10)[::3][:1], y[6:7:2], 1)
    add(np.array(5.0), y[9:], 1)
    add(np.ones(0), y[:0], 0)
    assert y.tolist() == [0, 0, 0, 0, 1, 0, 1, 0, 0, 5]


# what is refused ------------------------------------------------------------------------------------------------------------------


def refused(add, x, y, error):
    before = np.array(y, copy=True) if isinstance(y, np.ndarray) else None
    message = words(lambda: add(x, y, 2), error)
    assert before is None or np.array_equal(y, before)
    return message


def test_a_wrong_dtype_is_refused(add):
    for x, name in ((np.ones(2, np.float32), "float32"), (np.ones(2, np.int64), "int64"), (np.ones(2, ">f8"), ">f8")):
        message = refused(add, x, np.zeros(2), TypeError)
        assert message == f"argument `x` of kernel `add` is declared `const double *`, but an array of {name} was given; convert it first"
    for x in (np.array([None, 1]), np.ones(2, "f2"), np.array(["a", "b"]), np.zeros(2, [("a", "f8")]), np.ones(2, "M8[s]")):
        assert "convert it first" in refused(add, x, np.zeros(2), TypeError)
    for wrap in (OnlyDlpack, OnlyInterface):
        assert "an array of float32 was given" in refused(add, wrap(np.ones(2, np.float32)), np.zeros(2), TypeError)


def test_a_number_for_an_array_and_an_array_for_a_number_are_refused(add):
    message = refused(add, 3.0, np.zeros(2), TypeError)
    assert message == "argument `x` of kernel `add` is declared `const double *`, but an object of type float was given; pass an array"
    assert "an object of type list was given; pass an array" in refused(add, [1.0, 2.0], np.zeros(2), TypeError)
    with pytest.raises(pl.ArgumentError, match="pass a single value"):
        add(np.ones(2), np.zeros(2), np.ones(2, np.int64))


def test_a_read_only_array_is_refused_where_it_could_be_written(add):
    y = np.zeros(2)
    y.flags.writeable = False
    message = refused(add, np.ones(2), y, ValueError)
    assert message == "argument `y` of kernel `add` is declared `double *`, but the array is read-only; declare it const or pass a copy"
    target = np.zeros(2)
    add(y, target, 2)
    for wrap in (OnlyInterface, lambda values: memoryview(values)):
        assert "the array is read-only" in refused(add, np.ones(2), wrap(y), ValueError)


def test_memory_of_a_read_only_file_is_refused_by_every_route(tmp_path):
    # A write to such memory is a segmentation fault.
    cpu = pl.Context("cpu:1")
    path = tmp_path / "numbers"
    np.arange(512.0).tofile(path)
    mapped = np.memmap(path, np.float64, mode="r")
    zero = cpu.compile("GPUKERN void z(double *x, const int64_t n) { VECTORIZE_OVER(i, n) x[i] = 0; END_VECTORIZE }").z
    total = cpu.compile("GPUFUN double get(const double *x) { return x[1]; } GPUKERN double g(const double *x) { return get(x); }").g
    array = cpu.array(mapped, copy=False)
    routes = {
        "array": (mapped, array, array[2:], array.reshape(2, 256), cpu.array(array, copy=False), array.to("cpu:1"), cpu.array(mapped[1:], copy=False), OnlyInterface(array)),
        "memory": (array.memory, array[2:].memory, array.memory.slice(0, 64), array.memory.slice(0, 64).slice(8, 8)),
    }
    for given, all_given in routes.items():
        for x in all_given:
            for call in (lambda: zero(x, 8), lambda: zero.bind(x, 8)):
                message = words(call, pl.errors.ArgumentValueError)
                assert message == f"argument `x` of kernel `z` is declared `double *`, but the {given} is read-only; declare it const or pass a copy"
    assert total(array.memory) == 1 and array.memory.readonly and not cpu.zeros(1).memory.readonly


class OldDlpack(OnlyDlpack):
    """An array of a library that was written before DLPack 1.0."""

    def __dlpack__(self, stream=None):
        return self.values.__dlpack__()


class OldDlpackOfNumpy(OldDlpack):
    """The same, where NumPy sees the elements too, as those of a tensor on the host."""

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_dlpack_says_what_is_read_only(add):
    if np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("this NumPy has no DLPack of version 1.0")
    values = np.zeros(2)
    values.flags.writeable = False
    assert "the array is read-only" in refused(add, np.ones(2), OnlyDlpack(values), ValueError)
    target = np.zeros(2)
    add(OnlyDlpack(values), OnlyDlpack(target), 2)


def test_dlpack_of_the_old_form_may_be_written_where_numpy_may_write_it(add):
    values = np.zeros(2)
    # The old form cannot say whether the elements are immutable.
    assert "the array is read-only" in refused(add, np.ones(2), OldDlpack(values), ValueError)
    assert values.tolist() == [0, 0]
    target = np.zeros(2)
    add(OldDlpack(np.ones(2)), OldDlpackOfNumpy(target), 2)
    assert target.tolist() == [1, 1]


def test_arrow_data_is_immutable(cpu):
    pa = pytest.importorskip("pyarrow")
    prog = cpu.compile("""
        GPUKERN void z(double *x, const int64_t n) { VECTORIZE_OVER(i, n) x[i] = 0; END_VECTORIZE }
        GPUKERN void copy(const double *x, double *y, const int64_t n) { VECTORIZE_OVER(i, n) y[i] = x[i]; END_VECTORIZE }""")
    values = pa.array([1.0, 2.0, 3.0])
    array = cpu.array(values, copy=False)
    for x in (values, array, array[:2], array.memory):
        with pytest.raises(pl.errors.ArgumentValueError, match="is read-only; declare it const or pass a copy"):
            prog.z(x=x, n=2)
    assert values.to_pylist() == [1, 2, 3]
    copy = np.zeros(3)
    prog.copy(values, copy, 3)
    assert copy.tolist() == [1, 2, 3]


class FakeCuda:
    """An array that offers itself through `__cuda_array_interface__`."""

    def __init__(self, **interface):
        self.__cuda_array_interface__ = {"version": 3, "shape": (2,), "typestr": "<f8", "data": (64, False), "strides": None, **interface}


def test_a_cuda_array_interface_that_cannot_be_is_refused(cpu):
    for interface, error, message in (
        ({"stream": 0}, ValueError, "stream 0 is ambiguous; use 1 for the legacy default stream or 2 for the per-thread default stream"),
        ({"mask": np.zeros(2, bool)}, TypeError, "an array with a mask was given, but kernels ignore masks; pass its data without the mask"),
        (
            {"shape": (2**62, 8)},
            BufferError,
            "an array of shape [4611686018427387904, 8] with strides [64, 8] at address 0x40 was offered, which is invalid",
        ),
        (
            {"strides": (2**62,), "shape": (4,)},
            BufferError,
            "an array of shape [4] with strides [4611686018427387904] at address 0x40 was offered, which is invalid",
        ),
        ({"data": (0, False)}, BufferError, "an array of shape [2] with strides [8] at address 0x0 was offered, which is invalid"),
        ({"strides": (8, 8)}, BufferError, "an array of shape [2] with strides [8, 8] at address 0x40 was offered, which is invalid"),
    ):
        with pytest.raises(error) as caught:
            cpu.array(FakeCuda(**interface))
        assert str(caught.value) == message
    assert cpu.array(FakeCuda(shape=(0,), data=(0, False))).shape == (0,)


def test_masked_elements_are_refused(add, ctx):
    masked = np.ma.masked_array(np.arange(2.0), [False, True])
    message = "a masked array with masked elements was given, but masks are not supported; pass `x.filled(…)`, `x.compressed()` or `x.data`"
    cells = mesh.Set(2)
    knl = lp.make_kernel("{[i]: 0 <= i < 2}", "out[i] = 2*a[i]")
    for call in (
        lambda: add(masked, np.zeros(2), 2),
        lambda: add(np.zeros(2), masked, 2),
        lambda: ctx.array(masked),
        lambda: ctx.array(masked, dtype="float32"),
        lambda: mesh.Dat(cells, masked),
        lambda: mesh.Dat(cells, masked, "float32"),
        lambda: knl(ctx, a=masked),
    ):
        with pytest.raises(ValueError) as caught:
            call()
        assert message in str(caught.value)
    whole, y = np.ma.masked_array(np.ones(2), [False, False]), np.ma.masked_array(np.zeros(2))
    add(whole, y, 2)
    assert y.tolist() == [1, 1] and ctx.array(whole).tolist() == [1, 1]
    assert knl(ctx, a=whole)[1][0].tolist() == [2, 2]
    add(masked.filled(5), y, 2)
    assert y.tolist() == [1, 6]


def test_complex_numbers_lie_at_multiples_of_one_part():
    cpu = pl.Context("cpu:1")
    twice = cpu.compile("GPUKERN void twice(float _Complex *x, int64_t n) { VECTORIZE_OVER(i, n) x[i] *= 2; END_VECTORIZE }").twice
    room = np.zeros(64, np.uint8)
    for offset in (0, 4, 8, 12):
        x = room[offset : offset + 24].view(np.complex64)
        x[:] = [1 + 1j, 2, 3j]
        twice(x, 3)
        twice(cpu.array(x, copy=False), 3)
        assert x.tolist() == [4 + 4j, 8, 12j]
        knl = lp.make_kernel("{[i]: 0 <= i < 3}", "out[i] = 2*a[i]")
        assert knl(cpu, a=x)[1][0].tolist() == [8 + 8j, 16, 24j]
    with pytest.raises(pl.errors.ArgumentValueError, match="not aligned to its element type"):
        twice(room[2:26].view(np.complex64), 3)


def test_a_numpy_of_another_binary_interface_is_refused():
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("this NumPy has its table elsewhere")
    code = """
    import ctypes, numpy
    from numpy._core import _multiarray_umath as umath
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(lambda: 0x03000000)
    table = (ctypes.c_void_p * 300)()
    table[0] = ctypes.cast(version, ctypes.c_void_p).value
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    umath._ARRAY_API = new(ctypes.addressof(table), None, None)
    import parloop as pl
    try:
        pl.Context("cpu:1").array(numpy.zeros(3))
    except ImportError as error:
        print(error)
    """
    expected = "NumPy has ABI version 0x3000000, but this package supports the ABI of NumPy 1 and 2; install one of these\n"
    assert run_python(code) == expected


def test_streams_do_not_write_to_read_only_memory(cpu):
    values = np.arange(4.0)
    values.flags.writeable = False
    memory, other, stream = cpu.array(values, copy=False).memory, cpu.zeros(4).memory, cpu.default_stream
    calls = {
        "a copy into the memory": [
            lambda: stream.write(memory, np.zeros(4)),
            lambda: stream.write_pinned(memory, cpu.pinned(32)),
            lambda: stream.copy(memory, other, 32),
        ],
        "a fill of the memory": [lambda: stream.fill(memory)],
    }
    for operation, all_calls in calls.items():
        for call in all_calls:
            assert words(call, ValueError) == f"{operation} failed: the memory is read-only; use the memory of a copy"
    stream.copy(other, memory, 32)
    assert values.tolist() == [0, 1, 2, 3]


def test_an_array_with_gaps_is_refused(add):
    message = refused(add, np.ones(4)[::2], np.zeros(2), ValueError)
    assert message == "argument `x` of kernel `add` is declared `const double *`, but the array is not contiguous; pass a contiguous copy"
    for x in (np.ones((4, 4))[:, 1], np.ones(4)[::-1], np.broadcast_to(1.0, 4), np.ones((4, 4))[1:3, 1:3]):
        for wrap in (lambda values: values, OnlyInterface):
            assert "not contiguous" in refused(add, wrap(x), np.zeros(2), ValueError)
    assert "not contiguous" in refused(add, np.ones(2), np.zeros(4)[::2], ValueError)
    assert "not contiguous" in refused(add, OnlyDlpack(np.ones(4)[::2]), np.zeros(2), ValueError)


def test_elements_at_odd_addresses_are_refused_on_a_cpu_and_copied_elsewhere(ctx, add, is_cpu):
    x = np.frombuffer(b"\0" + np.arange(3.0).tobytes(), np.float64, offset=1)
    y = np.zeros(3)
    if is_cpu:
        for given in (x, OnlyInterface(x), ctx.array(x, copy=False)):
            message = words(lambda given=given: add(given, y, 3), ValueError)
            assert message == (
                "argument `x` of kernel `add` is declared `const double *`, but the array is not aligned to its element type; "
                "pass a copy"
            )
        assert not y.any()
        add(ctx.array(x), y, 3)
    else:
        add(x, y, 3)
    assert y.tolist() == [0, 1, 2]


@pytest.mark.parametrize("wrong", range(4))
def test_nothing_runs_and_nothing_changes_when_any_argument_is_wrong(axpy, wrong):
    x, y = np.ones(4), np.zeros(4)
    arguments = [2.0, x, y, 4]
    arguments[wrong] = [1j, np.ones(4, np.int8), np.zeros(4, np.int8), 2**70][wrong]
    with pytest.raises(pl.ArgumentError):
        axpy(*arguments)
    assert not y.any() and (x == 1).all()


# arrays of ours -------------------------------------------------------------------------------------------------------------------


def test_arrays_of_the_device_and_of_the_host_can_be_mixed(ctx, add):
    x, y = ctx.array(np.arange(5.0)), ctx.zeros(5)
    add(x, y, 5)
    add(np.ones(5), y, 5)
    host = np.zeros(5)
    add(y, host, 5)
    assert host.tolist() == y.numpy().tolist() == [1, 2, 3, 4, 5]


def test_memory_of_the_device_is_taken_as_it_is(ctx, add):
    memory = ctx.zeros(4).memory
    add(np.arange(4.0), memory, 4)
    out = np.zeros(4)
    ctx.default_stream.read(memory, out)
    assert out.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("start", [0, 1, 3, 16, 59])
def test_a_slice_at_any_offset_is_the_slice(ctx, add, start):
    x = ctx.zeros(64)
    part = x[start : start + 5]
    add(np.arange(1.0, 6.0), part, 5)
    expected = np.zeros(x.size)
    expected[start : start + 5] = np.arange(1, 6)
    assert np.array_equal(x.numpy(), expected)
    assert part.numpy().tolist() == [1, 2, 3, 4, 5]
    target = ctx.zeros(5)
    add(part, target, 5)
    assert target.numpy().tolist() == [1, 2, 3, 4, 5]


def test_slices_of_slices_are_counted_from_the_start(ctx, add):
    x = ctx.zeros(64)
    add(np.ones(3), x[2:][5:][:3], 3)
    assert np.flatnonzero(x.numpy()).tolist() == [7, 8, 9]


def test_elements_of_four_bytes_may_begin_between_eight(ctx):
    add = ctx.compile(ADD.replace("double", "float")).add
    x = ctx.array(np.arange(16, dtype=np.float32))
    add(x[3:7], x[9:13], 4)
    assert x.numpy()[8:14].tolist() == [8, 12, 14, 16, 18, 13]


def test_overlapping_slices_are_one_memory(ctx):
    k = ctx.compile("GPUKERN void k(const double *x, double *y, const int64_t n) { VECTORIZE_OVER(i, n) y[2 * i] = x[2 * i] + 10; END_VECTORIZE }").k
    x = ctx.array(np.arange(8.0))
    k(x[1:], x[2:], 3)
    assert x.numpy().tolist() == [0, 1, 11, 3, 13, 5, 15, 7]


def test_a_part_of_memory_is_taken_from_its_first_byte(ctx, add):
    memory = ctx.zeros(8).memory
    part = memory.slice(8, 48).slice(16, 16)
    assert part.offset == (24 if ctx.device.kind == "opencl" else 0)
    assert part.handle == memory.handle + 24 - part.offset
    add(np.ones(2), part, 2)
    out = np.zeros(8)
    ctx.default_stream.read(memory, out)
    assert np.flatnonzero(out).tolist() == [3, 4]
    step = add.bind(np.ones(2) if ctx.device.kind == "cpu" else ctx.array(np.ones(2)), part, 2)
    del part, memory
    step()


def test_empty_slices_are_passed_from_any_offset(ctx, add):
    x = ctx.zeros(64)
    add(x[7:7], x[9:9], 0)
    assert not x.numpy().any()


def test_arrays_of_ours_are_checked_like_others(ctx, add):
    assert "an array of float32 was given" in words(lambda: add(ctx.zeros(2, "float32"), np.zeros(2), 2), TypeError)
    assert "not contiguous" in words(lambda: add(ctx.zeros(4)[::2], np.zeros(2), 2), ValueError)


def test_an_array_of_another_device_is_refused(gpu):
    host = open_context("cpu")
    elsewhere = gpu.zeros(2)
    message = words(lambda: host.compile(ADD).add(elsewhere, np.zeros(2), 2), pl.errors.OtherDeviceError)
    assert message == f"argument `x` of kernel `add` is on device `{gpu.device.name}`, but the kernel runs on `cpu`; copy it there first"
    with pytest.raises(pl.errors.OtherDeviceError):
        gpu.compile(ADD).add(host.zeros(2), np.zeros(2), 2)


def test_arrays_of_cpus_with_other_thread_counts_are_one_memory():
    one, three = open_context("cpu:1"), open_context("cpu:3")
    x = one.array(np.ones(3))
    try:
        three.compile(ADD).add(x, x, 3)
    except pl.errors.OtherDeviceError:
        pytest.fail("all CPU devices share the host's memory")
    assert x.numpy().tolist() == [2, 2, 2]


# the same array twice -------------------------------------------------------------------------------------------------------------


def test_the_same_array_for_two_parameters_is_one_array(add):
    x = np.arange(4.0)
    add(x, x, 4)
    assert x.tolist() == [0, 2, 4, 6]
    add(x, x.view(), 4)
    assert x.tolist() == [0, 4, 8, 12]


def test_the_same_array_first_written_then_read_is_copied_back(ctx):
    k = ctx.compile("GPUKERN void k(double *y, const double *x, int64_t n) { VECTORIZE_OVER(i, n) y[i] = 2 * x[i]; END_VECTORIZE }").k
    x = np.arange(4.0)
    k(x, x, 4)
    assert x.tolist() == [0, 2, 4, 6]


def test_arrays_that_overlap_in_part_are_refused_on_a_gpu(gpu):
    x = np.arange(10.0)
    message = words(lambda: gpu.compile(ADD).add(x[:6], x[2:8], 6), ValueError)
    assert message == "arguments `x` and `y` of kernel `add` overlap partially; pass a copy of one of them"
    assert x.tolist() == list(range(10))
    k = gpu.compile(
        "GPUKERN void k(const double *a, const double *b, double *c, int n) { VECTORIZE_OVER(i, n) c[i] = a[i] + b[i]; END_VECTORIZE }"
    ).k
    out = np.zeros(3)
    k(x[:3], x[2:5], out, 3)
    assert out.tolist() == [2, 4, 6]


def test_neighbouring_arrays_do_not_overlap(add):
    x = np.arange(8.0)
    add(x[:4], x[4:], 4)
    assert x.tolist() == [0, 1, 2, 3, 4, 6, 8, 10]


def test_a_host_array_is_copied_back_unless_it_is_const(gpu):
    source = "GPUKERN void k(const double *x, double *y) { ((GPUGLMEM double *)x)[0] = 5; y[0] = 5; }"
    x, y = np.zeros(1), np.zeros(1)
    gpu.compile(source).k(x, y)
    assert (x[0], y[0]) == (0, 5)
