"""Recordings: what is called is written down, replays do it, and what cannot be recorded says so. On every device that is here."""

import gc
import threading
import weakref

import numpy as np
import pytest

import parloop as pl
import parloop.loops as lp
import parloop.objects as xo

SOURCE = """
GPUKERN void add(GPUGLMEM double *x, const double a, const int64_t n) {
    VECTORIZE_OVER(i, n)
        x[i] += a;
    END_VECTORIZE
}
GPUKERN void axpy(const double a, GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
    VECTORIZE_OVER(i, n)
        y[i] = a * x[i] + y[i];
    END_VECTORIZE
}
"""
LATER = "do it before the recording begins or after it is finished"


@pytest.fixture
def prog(ctx):
    return ctx.compile(SOURCE)


def refused(ctx, work, what, hint=LATER):
    """The work is refused in these words, the recording is of no use, and the context works on."""
    name = ctx.device.name
    with pytest.raises(pl.RecordingError) as caught:
        with ctx.recording() as steps:
            work()
    assert str(caught.value) == f"{name}: {what} cannot be recorded; {hint}"
    assert repr(steps) == f"<Recording on {name}, abandoned>"
    with pytest.raises(pl.RecordingError) as caught:
        steps()
    assert str(caught.value) == f"{name}: the recording was abandoned after an error; record again"
    # A program that goes on after the error does not get a replay of the rest.
    with pytest.raises(pl.RecordingError) as caught:
        with ctx.recording():
            with pytest.raises(pl.RecordingError):
                work()
    assert str(caught.value) == f"{name}: the recording was abandoned, because {what} cannot be recorded; leave that out and record again"
    ctx.synchronize()


def test_a_replay_does_what_the_calls_do_and_recording_does_nothing(ctx, prog):
    def calls(x, y):
        prog.add(x=x, a=0.5, n=1000)
        prog.axpy(2.0, x, y, 1000)
        prog.axpy(a=-1.0, x=y, y=x, n=900)

    values = np.arange(1000.0)
    x, y = ctx.array(values.copy()), ctx.zeros(1000)
    for _ in range(3):
        calls(x, y)
    u, v = ctx.array(values.copy()), ctx.zeros(1000)
    with ctx.recording() as steps:
        calls(u, v)
        assert len(steps) == 3
        assert repr(steps) == f"<Recording on {ctx.device.name}, in progress: 3 steps>"
    np.testing.assert_array_equal(u.numpy(), values)
    for _ in range(3):
        assert steps() is None
    np.testing.assert_array_equal(u.numpy(), x.numpy())
    np.testing.assert_array_equal(v.numpy(), y.numpy())
    assert len(steps) == 3


def test_arrays_are_recorded_by_reference_and_numbers_by_value(ctx, prog):
    x, y, a = ctx.array(np.array([1.0, 2.0])), ctx.zeros(2), 10.0
    with ctx.recording() as steps:
        prog.axpy(a=a, x=x, y=y, n=2)
    a = 11.0
    x[...] = [3.0, a]
    steps()
    assert y.tolist() == [30.0, 110.0]
    y[0] = 0.0
    steps()
    assert y.tolist() == [30.0, 220.0]


def test_bound_kernels_copies_and_fills_are_recorded(ctx, prog):
    x, y = ctx.array(np.array([1.0, 2.0, 3.0])), ctx.zeros(3)
    add = prog.add.bind(x=x, a=1.0, n=3)
    with ctx.recording() as steps:
        assert add() is None
        ctx.default_stream.copy(y.memory, x.memory, 16, dst_offset=8)
        add()
        ctx.default_stream.fill(x.memory, offset=16)
        made = x.copy()
        zeros = ctx.zeros(2)
    assert len(steps) == 6
    steps()
    assert (x.tolist(), y.tolist()) == ([3.0, 4.0, 0.0], [0.0, 2.0, 3.0])
    assert (made.tolist(), zeros.tolist()) == ([3.0, 4.0, 0.0], [0.0, 0.0])


def test_a_replay_keeps_what_it_uses(ctx):
    def record():
        prog = ctx.compile(SOURCE)
        host = np.array([1.0, 2.0])
        # On a CPU this shares the memory of NumPy's.
        x, y, total = ctx.array(host, copy=None), ctx.zeros(2), ctx.zeros(2)
        bound = prog.add.bind(x=x, a=1.0, n=2)
        with ctx.recording() as steps:
            bound()
            ctx.default_stream.copy(y.memory, x.memory, 16)
            copied = y.copy()
            prog.axpy(a=1.0, x=copied, y=total, n=2)
        return steps, total

    steps, total = record()
    gc.collect()
    others = [ctx.array(np.full(2, np.nan)) for _ in range(64)]
    steps()
    steps()
    assert total.tolist() == [5.0, 7.0]
    assert len(others) == 64


def test_a_dropped_replay_lets_go(ctx, prog):
    class Owner(np.ndarray):
        pass

    host = np.zeros(4).view(Owner)
    ref = weakref.ref(host)
    x = ctx.array(host, copy=None)
    with ctx.recording() as steps:
        prog.add(x=x, a=1.0, n=4)
    del host, x
    for _ in range(1000):
        steps()
    gc.collect()
    if ctx.device.kind == "cpu":
        assert ref() is not None
    ctx.synchronize()
    del steps
    gc.collect()
    assert ref() is None


def test_numpy_arrays_are_recorded_in_place_on_a_cpu(cpu):
    prog = cpu.compile(SOURCE)
    x = np.arange(3.0)
    with cpu.recording() as steps:
        prog.add(x=x, a=1.0, n=3)
    x[0] = 10.0
    steps()
    assert x.tolist() == [11.0, 2.0, 3.0]
    x.resize(100_000, refcheck=False)
    with pytest.raises(ValueError) as caught:
        steps()
    assert str(caught.value) == "array `x` was resized after it was recorded; record it again"


def test_host_arrays_for_a_gpu_are_refused(gpu):
    prog = gpu.compile(SOURCE)
    x = np.arange(3.0)
    hint = "pass an array of the context"
    refused(gpu, lambda: prog.add(x=x, a=1.0, n=3), "host data for argument `x` of kernel `add`", hint)
    assert x.tolist() == [0.0, 1.0, 2.0]
    twice = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", name="twice")
    refused(gpu, lambda: twice(gpu, a=x), "host data for argument `a` of kernel `twice`", hint)


def test_what_needs_the_host_is_refused(ctx, prog):
    x = ctx.array(np.arange(4.0))
    stream, event = ctx.default_stream, ctx.record()
    refused(ctx, x.numpy, "a use of an array by the host")
    refused(ctx, x.tolist, "a use of an array by the host")
    refused(ctx, lambda: x[0], "a copy to the host")
    refused(ctx, lambda: stream.read(x.memory, np.zeros(4)), "a copy to the host")
    refused(ctx, lambda: stream.write(x.memory, np.zeros(4)), "a copy from the host")
    for values in ([1.0, 2.0], np.ones(2), np.ones(4)[::2], memoryview(np.ones(2))):
        refused(ctx, lambda values=values: ctx.array(values), "a copy from the host")
    refused(ctx, ctx.synchronize, "a wait of the host")
    refused(ctx, ctx.record, "an event")
    refused(ctx, lambda: stream.wait(event), "a wait for an event")
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_transform_is_refused(ctx):
    x = ctx.array(np.ones(4, complex))
    try:
        plan = ctx.plan_FFT(x, axes=0)
    except pl.errors.DriverMissingError as error:
        pytest.skip(str(error))
    refused(ctx, lambda: plan.transform(x), "a Fourier transform")


def test_another_replay_is_refused(ctx):
    with ctx.recording() as steps:
        pass
    refused(ctx, steps, "a replay", "call what it does instead")


def test_a_function_that_returns_a_value_is_refused(cpu):
    prog = cpu.compile("double half(double x) { return x / 2; }")
    refused(cpu, lambda: prog.half(x=1.0), "kernel `half`, which returns a value,", "let it write to an array")


def test_arithmetic_is_recorded_where_kernels_do_it(ctx, is_cpu):
    x, y = ctx.array(np.arange(3.0)), ctx.array(np.ones(3))
    if is_cpu:
        refused(ctx, lambda: x + y, "a use of an array by the host")
        refused(ctx, lambda: x.__iadd__(y), "a use of an array by the host")
        refused(ctx, lambda: x.fill(1.0), "a use of an array by the host")
        assert x.tolist() == [0.0, 1.0, 2.0]
        return
    with ctx.recording() as steps:
        total = 2.0 * x + y
        x += 1.0
    steps()
    steps()
    assert (total.tolist(), x.tolist()) == ([3.0, 5.0, 7.0], [2.0, 3.0, 4.0])


def test_loop_kernels_are_recorded(ctx):
    twice = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    a, out = ctx.array(np.arange(5.0)), ctx.zeros(5)
    with ctx.recording() as steps:
        event, (result,) = twice(ctx, a=a, out=out)
        _, (made,) = twice(ctx, a=out)
    assert len(steps) == 2
    with pytest.raises(pl.DeviceError, match="the event has not been recorded"):
        event.wait()
    assert out.tolist() == [0.0] * 5
    a[...] = np.arange(5.0) + 1
    steps()
    assert out.tolist() == [2.0, 4.0, 6.0, 8.0, 10.0]
    np.testing.assert_array_equal(np.asarray(made), [4.0, 8.0, 12.0, 16.0, 20.0])
    np.testing.assert_array_equal(np.asarray(result), out.numpy())


def test_numpy_arrays_of_loop_kernels_are_watched(cpu):
    twice = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    a, out = np.arange(5.0), np.zeros(5)
    with cpu.recording() as steps:
        twice(cpu, a=a, out=out)
    a += 1
    steps()
    assert out.tolist() == [2.0, 4.0, 6.0, 8.0, 10.0]
    out.resize(100_000, refcheck=False)
    with pytest.raises(ValueError) as caught:
        steps()
    assert str(caught.value) == "array `out` was resized after it was recorded; record it again"


def test_a_loop_kernel_with_several_launches_and_temporaries_is_recorded(ctx):
    """A global barrier makes two launches, and the temporary between them belongs to the recording."""
    knl = lp.make_kernel(
        "{[i, j]: 0<=i,j<n}",
        """
        t[i] = a[i] + 1  {id=first}
        ... gbarrier {id=wait, dep=first}
        out[j] = 2*t[n-1-j]  {dep=wait}
        """,
        [lp.GlobalArg("a", np.float64, shape=("n",)), lp.GlobalArg("out", np.float64, shape=("n",)),
         lp.TemporaryVariable("t", np.float64, shape=("n",), address_space=lp.AddressSpace.GLOBAL), "..."],
    )  # fmt: skip
    knl = lp.tag_inames(knl, "i:g.0, j:g.0")
    a, out = ctx.array(np.arange(4.0)), ctx.zeros(4)
    with ctx.recording() as steps:
        knl(ctx, a=a, out=out)
    assert len(steps) == 2
    steps()
    assert out.tolist() == [8.0, 6.0, 4.0, 2.0]


def test_the_first_values_of_a_temporary_are_there_in_each_replay(ctx):
    knl = lp.make_kernel(
        "{[i]: 0<=i<4}",
        """
        t[i] = t[i] + a[i]  {id=first}
        out[i] = t[i]  {dep=first}
        """,
        [lp.GlobalArg("a", np.float64, shape=(4,)), lp.GlobalArg("out", np.float64, shape=(4,)),
         lp.TemporaryVariable("t", initializer=np.arange(4.0), address_space=lp.AddressSpace.GLOBAL, read_only=False)],
    )  # fmt: skip
    a, out = ctx.array(np.ones(4)), ctx.zeros(4)
    with ctx.recording() as steps:
        knl(ctx, a=a, out=out)
    steps()
    steps()
    assert out.tolist() == [1.0, 2.0, 3.0, 4.0]


class Cells(xo.Struct):
    n = xo.Int64
    x = xo.Float64[:]


def test_objects_are_recorded_by_reference(ctx):
    ctx.add_kernels(
        sources=["GPUKERN void grow(Cells c) { VECTORIZE_OVER(i, Cells_get_n(c)) Cells_set_x(c, i, Cells_get_x(c, i) + 1); END_VECTORIZE }"],
        kernels={"grow": xo.Kernel(args=[xo.Arg(Cells, name="c")])},
    )
    cells = Cells(n=3, x=[1, 2, 3], _context=ctx)
    with ctx.recording() as steps:
        ctx.kernels.grow(c=cells)
    cells.x[0] = 10.0
    steps()
    steps()
    assert [cells.x[i] for i in range(3)] == [12.0, 4.0, 5.0]
    # The buffer cannot move under the recording.
    others = [Cells(n=1, x=[0.0] * 100, _context=ctx) for _ in range(10)]
    steps()
    assert [cells.x[i] for i in range(3)] == [13.0, 5.0, 6.0]
    assert len(others) == 10


def test_objects_are_not_made_while_recording(ctx):
    refused(ctx, lambda: Cells(n=3, x=[1, 2, 3], _context=ctx), "a copy from the host")


def test_a_recording_inside_another_is_refused(ctx, prog):
    x = ctx.zeros(1)
    with ctx.recording() as steps:
        with pytest.raises(pl.RecordingError) as caught:
            with ctx.recording():
                pass
        assert str(caught.value) == f"{ctx.device.name}: this thread is already recording this stream; finish that recording first"
        prog.add(x=x, a=1.0, n=1)
    steps()
    assert x.tolist() == [1.0]


def test_a_recording_is_entered_once_and_called_when_it_is_finished(ctx):
    name = ctx.device.name
    steps = ctx.recording()
    assert repr(steps) == f"<Recording on {name}, not begun>"
    with pytest.raises(pl.RecordingError) as caught:
        steps()
    assert str(caught.value) == f"{name}: nothing has been recorded; enter the recording with `with`"
    x = ctx.zeros(2)
    with steps:
        with pytest.raises(pl.RecordingError) as caught:
            steps()
        assert str(caught.value) == f"{name}: the recording is not finished; call it after its `with` block"
        ctx.default_stream.fill(x.memory, 1)
    with pytest.raises(pl.RecordingError) as caught:
        with steps:
            pass
    assert str(caught.value) == f"{name}: a recording can be entered once; create another with `ctx.recording()`"
    steps()
    assert steps.is_graph == (ctx.device.kind in ("cuda", "hip"))
    assert repr(steps) == f"<Recording on {name}: 1 step{', one graph' if steps.is_graph else ''}>"
    assert x.numpy().view(np.uint8).tolist() == [1] * 16


def test_an_exception_in_the_block_abandons_the_recording(ctx, prog):
    x = ctx.zeros(1)
    with pytest.raises(ZeroDivisionError):
        with ctx.recording() as steps:
            prog.add(x=x, a=1.0, n=1)
            1 / 0  # noqa: B018 - for its exception
    assert (len(steps), bool(steps)) == (0, True)
    prog.add(x=x, a=2.0, n=1)
    assert x.tolist() == [2.0]


def test_a_wrong_argument_leaves_the_recording_as_it_was(ctx, prog):
    x = ctx.zeros(1)
    with ctx.recording() as steps:
        prog.add(x=x, a=1.0, n=1)
        with pytest.raises(pl.ArgumentError):
            prog.add(x=x, a="text", n=1)
    steps()
    assert (len(steps), x.tolist()) == (1, [1.0])


def test_an_array_can_be_shown_while_recording(ctx):
    x = ctx.zeros(2)
    with ctx.recording() as steps:
        assert repr(x) == f"<Array float64 [2] on {ctx.device.name}>"
    assert len(steps) == 0


def test_other_threads_work_as_ever(ctx, prog):
    seen = []

    def work():
        x = ctx.array(np.zeros(2))
        prog.add(x=x, a=1.0, n=2)
        seen.append(x.tolist())

    with ctx.recording() as steps:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert (seen, len(steps)) == ([[1.0, 1.0]], 0)


def test_checks_are_made_by_the_replay(ctx):
    source = "GPUKERN void at(GPUGLMEM double *x, const int64_t i) { if (PARLOOP_CHECK(i < 2, 0, i, 2)) x[i] += 1; }"
    prog = ctx.compile(source, checked=True, check_sites=["x"])
    x = ctx.zeros(2)
    with ctx.recording() as steps:
        prog.at(x=x, i=1)
        prog.at(x=x, i=5)
    with pytest.raises(pl.CheckError) as caught:
        steps()
    assert str(caught.value) == "kernel `at`: index 5 is outside 0..2 of x"
    assert x.tolist() == [0.0, 1.0]
