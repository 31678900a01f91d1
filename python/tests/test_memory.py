"""Memory that moves, goes or is overwritten while somebody uses it. What would end the interpreter runs in a process of its own."""

import numpy as np
import pytest
from conftest import open_context, run_python

import parloop as pl
import parloop.mesh as op2
import parloop.objects as xo
from parloop.gpu import DeviceArray_float64

FILL = "GPUKERN void fill(double *x, const double a, const int64_t n) { VECTORIZE_OVER(i, n) x[i] = a; END_VECTORIZE }"


def taken(array):
    """Gives an array other memory, and frees what it had; `resize` with `refcheck=False` does so too, where it is not refused."""
    array.__setstate__((1, (1,), np.dtype(float), False, bytes(8)))


class Number(xo.Struct):
    n = xo.Int64


class Refers(xo.Struct):
    r = xo.Ref(Number)


class Listed(xo.Struct):
    n = xo.Int64
    a = xo.Float64[:]


def test_a_field_is_used_while_another_thread_makes_the_memory_move():
    # Without addresses to reserve every growth moves the memory.
    run_python("""
        import resource, threading
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        import parloop as pl, parloop.objects as xo

        class S(xo.Struct):
            n = xo.Int64
            a = xo.Float64[4]

        ctx = pl.Context("cpu:1")
        for _ in range(60):
            buffer = ctx.new_buffer(1_000_000)
            s, done = S(n=0, _buffer=buffer), []

            def write():
                k = 0
                while not done:
                    k += 1
                    s.n = k
                    s.a[1] = float(k)
                    assert (s.n, s.a[1]) == (k, k)

            thread = threading.Thread(target=write)
            thread.start()
            for size in (2_000_000, 5_000_000, 20_000_000):
                buffer.grow(size)
            done.append(1)
            thread.join()
    """)


@pytest.mark.parametrize("move", ["buffer.grow(30_000)", "buffer.buffer"])
def test_no_assignment_to_a_field_is_lost_while_the_memory_moves(move):
    lost = run_python(f"""
        import threading, parloop as pl, parloop.objects as xo

        class S(xo.Struct):
            n = xo.Int64

        ctx, lost = pl.Context("cpu:1"), 0
        for _ in range(300):
            buffer = ctx.new_buffer(500_000)
            s, done, bad = S(n=0, _buffer=buffer), [], []

            def write():
                k = 0
                while not done:
                    for _ in range(50):
                        k += 1
                        s.n = k
                        if s.n != k:
                            bad.append(k)

            thread = threading.Thread(target=write)
            thread.start()
            {move}
            done.append(1)
            thread.join()
            lost += bool(bad)
        print(lost)
    """)
    assert lost.strip() == "0"


@pytest.mark.parametrize("use", ["v[:] = 1.0", "v.numpy()", "v.copy()", "ctx.default_stream.fill(v.memory, 0)"])
def test_a_view_of_a_buffer_is_used_while_another_thread_grows_the_buffer(use):
    open_context("opencl")
    run_python(f"""
        import threading, parloop as pl

        ctx = pl.Context("opencl")
        for _ in range(150):
            buffer = ctx.new_buffer(100_000)
            v, done = buffer.to_nplike(buffer.allocate(64), "f8", (8,)), []

            def run():
                while not done:
                    {use}

            thread = threading.Thread(target=run)
            thread.start()
            for _ in range(5):
                buffer.grow(100_000)
            done.append(1)
            thread.join()
    """)


class Producer:
    def __init__(self, array, **options):
        self.capsule = array.__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        return self.capsule


@pytest.mark.parametrize("options", [{}, {"max_version": (1, 0)}])
def test_a_dlpack_capsule_is_used_once(cpu, options):
    producer = Producer(np.full(1000, 7.0), **options)
    array = cpu.array(producer)
    assert '"used_dltensor' in repr(producer.capsule)
    with pytest.raises(BufferError, match="the DLPack capsule was already used"):
        cpu.array(producer)
    with pytest.raises(ValueError):
        np.from_dlpack(producer)
    del producer
    assert array.sum() == 7000


def test_what_a_capsule_holds_is_freed_with_the_array_made_of_it(cpu):
    freed = []

    class Watched(np.ndarray):
        def __del__(self):
            freed.append(len(self))

    array = cpu.array(Producer(np.ones(1000).view(Watched), max_version=(1, 0)), copy=False)
    assert not freed
    del array
    assert freed == [1000]
    copied = cpu.array(Producer(np.ones(1000).view(Watched), max_version=(1, 0)))
    assert freed == [1000, 1000] and copied.sum() == 1000


def test_data_notices_that_its_numpy_array_has_other_memory():
    run_python("""
        import numpy as np, parloop as pl, parloop.mesh as op2

        N = 5_000_000
        cells = op2.Set(N)
        kernel = op2.Kernel("void k(double *a) { a[0] += 1; }", "k")
        ctx = pl.Context("cpu:1")
        for view in (lambda x: x, lambda x: x[:]):
            x = np.zeros(N)
            dat = op2.Dat(cells, view(x))
            loop = op2.ParLoop(kernel, cells, dat(op2.RW), context=ctx)
            with ctx.recording() as steps:
                loop()
            steps()
            other = op2.Dat(cells)
            x.__setstate__((1, (1,), np.dtype(float), False, bytes(8)))
            uses = [
                loop, steps,
                lambda: op2.par_loop(kernel, cells, dat(op2.RW)),
                lambda: dat.data_ro, lambda: dat.data, lambda: dat.norm, lambda: dat.zero(), lambda: dat.copy(other), lambda: other.copy(dat),
                lambda: dat.__iadd__(1), lambda: dat + other, lambda: other.__iadd__(dat), lambda: dat.inner(other), lambda: -dat,
                lambda: op2.Dat(dat), lambda: other.axpy(2, dat),
            ]
            for use in uses:
                try:
                    use()
                except ValueError as error:
                    assert "was resized" in str(error), error
                else:
                    raise AssertionError(use)
    """)


def test_new_data_may_be_where_memory_was_that_an_array_lost():
    x = np.zeros(1000)
    old = op2.Dat(op2.Set(1000), x)
    taken(x)
    arrays = [np.full(1000, float(i)) for i in range(50)]
    dats = [op2.Dat(op2.Set(1000), array) for array in arrays]
    assert [dat.data_ro[0] for dat in dats] == list(range(50))
    del old


def test_memory_notices_that_its_numpy_array_has_other_memory():
    run_python("""
        import numpy as np, parloop as pl

        ctx = pl.Context("cpu:1")
        prog = ctx.compile("GPUKERN void k(double *x) { x[4000000] = 1; }")
        for view in (lambda x: x, lambda x: x[:], lambda x: x[::2], lambda x: x.reshape(-1, 5)):
            x = np.zeros(5_000_000)
            array = ctx.array(view(x), copy=False)
            memory, host, other = array.memory, np.zeros(4), ctx.zeros(4).memory
            with ctx.recording() as steps:
                ctx.default_stream.fill(memory, 1)
                ctx.default_stream.copy(other, memory, 8)
            x.__setstate__((1, (1,), np.dtype(float), False, bytes(8)))
            stream = ctx.default_stream
            uses = [
                lambda: stream.fill(memory, 1), lambda: stream.read(memory, host), lambda: stream.write(memory, host),
                lambda: stream.copy(memory, other, 8), lambda: stream.copy(other, memory, 8), lambda: prog.k(memory), lambda: array.sum(),
                lambda: stream.fill(memory.slice(8, 8), 1), lambda: prog.k.bind(memory), steps,
            ]
            for use in uses:
                try:
                    use()
                except ValueError as error:
                    assert "was resized" in str(error), error
                else:
                    raise AssertionError(use)
    """)


def test_kept_calls_notice_that_an_array_has_fewer_bytes_or_is_a_view_of_other_memory():
    run_python(f"""
        import numpy as np, parloop as pl

        ctx = pl.Context("cpu:1")
        prog = ctx.compile("{FILL}")

        def shrink(x):
            x.dtype = np.int8
            x.resize(len(x) // 8, refcheck=False)

        def replace(x):
            x.__setstate__((1, (1,), np.dtype(float), False, bytes(8)))

        for view, change in ((lambda x: x, shrink), (lambda x: x[:], replace), (lambda x: x[:], shrink)):
            x = np.ones(5_000_000)
            bound = prog.fill.bind(view(x), 1.0, len(x))
            with ctx.recording() as steps:
                prog.fill(view(x), 1.0, len(x))
            bound(), steps()
            change(x)
            for call in (bound, steps):
                try:
                    call()
                except ValueError as error:
                    assert "array `x` was resized after it was" in str(error), error
                else:
                    raise AssertionError(call)
    """)


def test_an_array_that_another_arguments_code_resizes_is_an_error():
    run_python(f"""
        import numpy as np, parloop as pl

        ctx = pl.Context("cpu:1")
        prog = ctx.compile("{FILL.replace("const double a", "const double a, const double *y")}")

        class Hook:
            def change(self):
                x.__setstate__((1, (1,), np.dtype(float), False, bytes(8)))

        class Float(Hook):
            def __float__(self):
                self.change()
                return 2.0

        class Array(Hook):
            @property
            def __array_interface__(self):
                self.change()
                return KEPT.__array_interface__

        class Pack(Hook):
            def __dlpack__(self, **options):
                self.change()
                return KEPT.__dlpack__()

            def __dlpack_device__(self):
                return (1, 0)

        class Offers:
            @property
            def __array_interface__(self):
                return x.__array_interface__

        class Sub(np.ndarray):
            pass

        KEPT = np.zeros(3)
        for view in (lambda x: x, lambda x: x[:], lambda x: x.view(Sub)):
            for a, y in ((Float(), KEPT), (2.0, Array()), (2.0, Pack())):
                for call in (prog.fill, prog.fill.bind):
                    x = np.ones(5_000_000)
                    try:
                        call(view(x), a, y, 5_000_000)
                    except ValueError as error:
                        assert "was resized" in str(error), error
                    else:
                        raise AssertionError((view, a, y, call))
        x = np.ones(5)
        prog.fill(Offers(), np.float32(2), KEPT, 3)
        assert x.tolist() == [2, 2, 2, 1, 1]
    """)


def test_an_object_is_made_of_arrays_as_they_are_in_the_end():
    run_python("""
        import numpy as np, parloop as pl, parloop.objects as xo

        class S(xo.Struct):
            a = xo.Float64[:]
            b = xo.Float64

        x = np.ones(5_000_000)

        class Hook:
            def __float__(self):
                x.__setstate__((1, (1,), np.dtype(float), False, bytes(8)))
                return 2.0

        try:
            S(a=x, b=Hook())
        except ValueError as error:
            assert "was resized" in str(error), error
        else:
            raise AssertionError
    """)


def test_memory_that_was_lent_is_not_lent_again_when_it_is_gone():
    array = np.ones(1000)
    lent = DeviceArray_float64(array)
    assert np.asarray(lent).sum() == 1000
    with pytest.raises(ValueError, match="cannot resize"):
        array.resize(10, refcheck=False)
    taken(array)
    with pytest.raises(BufferError, match="the NumPy array that owns the memory was resized"):
        memoryview(lent)


def test_an_array_that_says_it_is_its_own_base_is_an_array(cpu):
    class Own(np.ndarray):
        @property
        def base(self):
            return self

    assert cpu.array(np.arange(3.0).view(Own)).sum() == 3


def test_an_object_whose_header_was_overwritten_goes_into_no_checked_kernel(cpu):
    buffer = cpu.new_buffer(400)
    s = Listed(n=1, a=[1, 2, 3], _buffer=buffer)
    arguments = [xo.Arg(Listed, name="s"), xo.Arg(xo.Int64, name="i")]
    for checked, name in ((True, "set_checked"), (False, "set_plain")):
        source = f"GPUKERN void {name}(Listed s, const int64_t i) {{ Listed_set_a(s, i, 1); }}"
        cpu.add_kernels(sources=[source], kernels={name: xo.Kernel(args=arguments)}, checked=checked)
        cpu.kernels[name](s=s, i=2)
    words = np.frombuffer(buffer.read(s._offset, s._get_size()), "i8")
    length = s._offset + 8 * words.tolist().index(3)
    buffer.write(np.array([10**9]), length)
    with pytest.raises(pl.ObjectError, match="its bytes are invalid"):
        cpu.kernels.set_checked(s=s, i=5 * 10**8)
    buffer.write(np.array([3]), length)
    buffer.write(np.array([10**9]), s._offset)
    for name in ("set_checked", "set_plain"):
        with pytest.raises(pl.ObjectError, match="its bytes are invalid"):
            cpu.kernels[name](s=s, i=2)


def test_a_checked_kernel_gets_no_reference_to_what_was_freed(cpu):
    buffer = cpu.new_buffer(64)
    s = Number(n=1, _buffer=buffer)
    m = Refers(r=s, _buffer=buffer)
    source = "GPUKERN void set_through(Refers m) { Refers_set_r_n(m, 5); }"
    cpu.add_kernels(sources=[source], kernels={"set_through": xo.Kernel(args=[xo.Arg(Refers, name="m")])}, checked=True)
    cpu.kernels.set_through(m=m)
    assert s.n == 5
    buffer.free(s._offset, 8)
    with pytest.raises(pl.errors.FreedError):
        cpu.kernels.set_through(m=m)


def test_types_are_not_nested_without_end():
    ty = Number
    with pytest.raises(Exception, match="is nested 257 types deep; the limit is 256"):
        for i in range(20_000):
            ty = type(f"Deep{i}", (xo.Struct,), {"r": ty})
    assert ty().r is not None
    with pytest.raises(Exception, match="is nested 257 types deep"):
        xo.Ref(ty)


def test_a_reference_to_an_object_that_was_freed_by_hand_is_an_error(ctx):
    buffer = ctx.new_buffer(64)
    s = Number(n=1, _buffer=buffer)
    m = Refers(r=s, _buffer=buffer)
    assert m.r.n == 1
    buffer.free(s._offset, 8)
    other = Number(n=5, _buffer=buffer)
    for use in (lambda: m.r, lambda: m.r.n, lambda: Refers(m)):
        with pytest.raises(pl.errors.FreedError):
            use()
    m.r = other
    m.r.n = 7
    assert other.n == 7


def test_an_object_that_another_arguments_code_frees_is_not_written(cpu):
    buffer, made = cpu.new_buffer(64), []
    s = Number(n=1, _buffer=buffer)
    arguments = [xo.Arg(Number, name="s"), xo.Arg(xo.Float64, name="v")]
    source = "GPUKERN void set_late(Number s, const double v) { Number_set_n(s, (int64_t)v); }"
    cpu.add_kernels(sources=[source], kernels={"set_late": xo.Kernel(args=arguments)})

    class Frees:
        def __float__(self):
            buffer.free(s._offset, 8)
            made.append(Number(n=5, _buffer=buffer))
            return 3.0

    with pytest.raises(pl.errors.FreedError):
        cpu.kernels.set_late(s=s, v=Frees())
    assert made[0].n == 5


def test_two_dats_over_one_array_are_one_on_every_device(ctx):
    cells = op2.Set(4)
    add = op2.Kernel("void k(double *a) { a[0] += 1; }", "k")
    x = np.zeros(4)
    first, second = op2.Dat(cells, x), op2.Dat(cells, x[:])
    for dat in (first, second, first):
        op2.par_loop(add, cells, dat(op2.RW), context=ctx)
    assert first.data_ro.tolist() == second.data_ro.tolist() == x.tolist() == [3.0] * 4
    second += first
    assert first.data_ro.tolist() == [6.0] * 4


def test_dats_that_share_a_part_of_their_memory_are_refused_on_a_device_with_its_own(gpu):
    cells, wide = op2.Set(4), op2.Set(2)
    add = op2.Kernel("void k(double *a) { a[0] += 1; }", "k")
    x = np.zeros(6)
    first = op2.Dat(cells, x[:4])
    for other in (op2.Dat(cells, x[2:]), op2.Dat(wide**2, x[:4].reshape(2, 2))):
        op2.par_loop(add, cells, first(op2.RW), context="cpu:1")
        with pytest.raises(pl.DeviceError, match="shares memory with data of a different shape or type"):
            op2.par_loop(add, cells, first(op2.RW), context=gpu)
        del other
    op2.par_loop(add, cells, first(op2.RW), context=gpu)
    assert first.data_ro.tolist() == [3.0] * 4


def test_integers_that_do_not_fit_are_not_cut_by_arithmetic():
    cells = op2.Set(2)
    dat = op2.Dat(cells, np.array([1, 1], "i4"))
    words = "1099511627781 is not a number of type int32"
    large = op2.Dat(cells, np.array([2**40 + 5] * 2))
    for use in (lambda: dat.__iadd__(large), lambda: dat + large, lambda: dat.axpy(1, large), lambda: dat * op2.Global(1, 2**40 + 5)):
        with pytest.raises(Exception) as caught:
            use()
        assert "1099511627781" in str(caught.value) and "int32" in str(caught.value), words
    assert dat.data_ro.tolist() == [1, 1]
    with pytest.raises(Exception, match="18446744073709551615"):
        op2.Dat(cells, np.array([1, 1])).__iadd__(op2.Dat(cells, np.array([0, 2**64 - 1], "u8")))
    dat += op2.Dat(cells, np.array([5, -6]))
    dat *= op2.Global(1, 2, dtype="int64")
    assert dat.data_ro.tolist() == [12, -10]
    assert op2.Dat(cells, np.array([2**62] * 2)).norm == 2**62.5
    assert op2.Dat(op2.Set(4), np.array([True] * 4)).norm == 2


def test_an_object_is_converted_to_an_array_once(cpu):
    class Grows:
        asked = 0

        def __array__(self, dtype=None, copy=None):
            Grows.asked += 1
            return np.full(5 if Grows.asked % 2 else 10, 7.0)

    assert cpu.array(Grows()).numpy().tolist() == [7.0] * 5
    assert Grows.asked == 1


@pytest.mark.parametrize("ty", ["long double *", "_Atomic int *", "wchar_t *", "double **", "double ***", "Thing **"])
def test_a_pointer_to_what_no_array_holds_takes_no_array(ty):
    cpu = open_context("cpu:1")
    prog = cpu.compile(f"#include <stddef.h>\ntypedef struct {{ double a; }} Thing;\nGPUKERN void f({ty} x) {{ (void)x; }}")
    for dtype in ("f8", "i4", "u8", "i1"):
        with pytest.raises(TypeError) as caught:
            prog.f(np.zeros(4, dtype))
        assert f"is declared `{ty}`" in str(caught.value)
    prog.f(None)
    prog.f(cpu.zeros(4).memory)


def test_a_pointer_to_a_struct_takes_an_array_of_its_numbers():
    cpu = open_context("cpu:1")
    prog = cpu.compile("typedef struct { double a, b; } Pair;\nGPUKERN void f(Pair *x) { x[1].a = 3; }")
    x = np.zeros(4)
    prog.f(x)
    assert x.tolist() == [0, 0, 3, 0]


def test_rows_of_a_length_that_the_source_leaves_open_take_an_array_of_their_numbers():
    cpu = open_context("cpu:1")
    prog = cpu.compile("GPUKERN void f(double x[][N]) { x[1][0] = 3; }", arguments=["-DN=2"])
    x = np.zeros(4)
    prog.f(x)
    assert x.tolist() == [0, 0, 3, 0]
    with pytest.raises(TypeError):
        prog.f(np.zeros(4, "f4"))


def test_a_word_of_c_means_what_the_source_says():
    cpu = open_context("cpu:1")
    prog = cpu.compile("#define double float\nGPUKERN void f(double *x) { x[0] = 1; }")
    x = np.zeros(2, "f4")
    prog.f(x)
    assert x.tolist() == [1, 0]
    with pytest.raises(TypeError):
        prog.f(np.zeros(2))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, ZeroDivisionError])
def test_what_an_array_raises_is_not_swallowed(cpu, error):
    class Raises:
        @property
        def __cuda_array_interface__(self):
            raise error

    prog = cpu.compile("GPUKERN void f(double *x) { x[0] = 1; }")
    for use in (lambda: prog.f(Raises()), lambda: cpu.array(Raises())):
        with pytest.raises(error):
            use()


def test_a_setting_that_cannot_be_is_no_missing_device():
    out = run_python(
        """
        import parloop as pl
        try:
            pl.Context("cpu:1").compile("GPUKERN void f(double *x) { x[0] = 1; }")
        except pl.errors.SettingError as error:
            print(isinstance(error, ValueError), isinstance(error, pl.DeviceError), error)
        """,
        env={"PARLOOP_CHECKED": "maybe"},
    )
    assert out.startswith("True False the environment variable PARLOOP_CHECKED is `maybe`")


@pytest.mark.parametrize("index", [2**63, -(2**63) - 1, 10**30])
def test_an_index_beyond_all_integers_is_out_of_range(ctx, index):
    with pytest.raises(IndexError, match="is out of range for axis 0 with 3 elements"):
        ctx.zeros(3)[index]


def test_a_source_that_is_no_unicode_says_so(cpu):
    with pytest.raises(ValueError, match="a source must be UTF-8 text, but this one is not: .*surrogates not allowed"):
        cpu.compile("GPUKERN void f(double *x) { /* \ud800 */ }")


def test_contexts_may_be_left_in_any_order():
    first, second = pl.Context("cpu:1"), pl.Context("cpu:2")
    before = pl.current_context()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert pl.current_context() is second
    second.__exit__(None, None, None)
    assert pl.current_context().device.name == before.device.name


def test_a_kernel_of_a_mesh_is_shown_with_all_its_stars():
    cells = op2.Set(2)
    dat = op2.Dat(cells)
    kernel = op2.Kernel("void k(double ***a) { }", "k")
    with pytest.raises(Exception, match=r"double \*\*\*"):
        op2.par_loop(kernel, cells, dat(op2.RW))
