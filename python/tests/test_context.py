"""Contexts, devices, streams, events and memory."""

import contextvars
import threading

import kernels
import numpy as np
import pytest
from conftest import FOUND, open_context, run_python

import parloop as pl

SCALE = "GPUKERN void scale(double *x, const double by, const int32_t n) { VECTORIZE_OVER(i, n) x[i] *= by; END_VECTORIZE }"


# which context --------------------------------------------------------------------------------------------------------------------


def test_the_innermost_with_block_is_the_current_context(ctx):
    outer = pl.Context("cpu:1")
    assert pl.current_context().device.name == "cpu"
    with outer as entered:
        assert entered is outer
        assert pl.current_context().device == outer.device
        with ctx:
            assert pl.current_context().device == ctx.device
            with outer:
                assert pl.current_context().device == outer.device
            assert pl.current_context().device == ctx.device
        assert pl.current_context().device == outer.device
    assert pl.current_context().device.name == "cpu"


def test_an_error_inside_a_with_block_closes_it():
    with pytest.raises(KeyError), pl.Context("cpu:3"):
        raise KeyError
    assert pl.current_context().device.name == "cpu"


def test_a_with_block_is_of_its_own_thread_and_task():
    seen = []
    with pl.Context("cpu:3"):
        thread = threading.Thread(target=lambda: seen.append(pl.current_context().device.name))
        thread.start()
        thread.join()
        inside = contextvars.copy_context()
    assert seen == ["cpu"]
    assert inside.run(lambda: pl.current_context().device.name) == "cpu:3"


def test_the_environment_names_the_default_device():
    ask = "import parloop as pl; print(pl.Context().device.name, pl.current_context().device.name)"
    assert run_python(ask, env={"PARLOOP_DEVICE": "cpu:2"}).split() == ["cpu:2"] * 2
    assert run_python(ask, env={"PARLOOP_DEVICE": ""}).split() == ["cpu"] * 2
    result = run_python(ask, env={"PARLOOP_DEVICE": "gpu"}, check=False)
    assert result.returncode == 1 and "unknown device `gpu`" in result.stderr
    inside = "import parloop as pl\nwith pl.Context('cpu:1'): print(pl.current_context().device.name)"
    assert run_python(inside, env={"PARLOOP_DEVICE": "cpu:2"}).strip() == "cpu:1"


def test_a_context_is_made_from_names_devices_and_streams(ctx):
    device = ctx.device
    for made in (pl.Context(device.name), pl.Context(device), pl.Context(ctx.stream()), ctx.on(ctx.stream())):
        assert made.device == device
        x = np.ones(3)
        made.compile(SCALE).scale(x, 2.0, 3)
        assert x.tolist() == [2, 2, 2]
    assert repr(ctx) == f"<Context on {device.name}: {device.model}>"
    assert pl.Context(None).device.name == "cpu"


@pytest.mark.parametrize("wrong", [3, 1.5, [], object()])
def test_a_context_of_anything_else_is_refused(wrong):
    with pytest.raises(TypeError, match="a context needs a device name, a Device, a Stream or a pyopencl queue, not "):
        pl.Context(wrong)


# devices --------------------------------------------------------------------------------------------------------------------------


def test_devices_are_listed_cpu_first_and_open_by_their_names():
    assert FOUND[0].name == "cpu"
    for device in FOUND:
        again = pl.Device(device.name)
        assert again == device and hash(again) == hash(device)
        assert (again.model, again.arch, again.kind) == (device.model, device.arch, device.kind)
    assert pl.Device("cpu:1") != pl.Device("cpu:3") and pl.Device("cpu:1") == pl.Device("cpu:1")


def test_properties_are_of_the_kinds_they_say(ctx):
    device = ctx.device
    assert device.kind in ("cpu", "opencl", "cuda", "hip") and device.name.startswith(device.kind)
    for number in ("compute_units", "simd_width", "memory_total", "max_allocation", "max_block", "memory_alignment"):
        assert getattr(device, number) > 0, number
    assert 0 < device.memory_free <= device.memory_total
    assert all(limit > 0 for limit in device.max_block_dims + device.max_grid)
    assert device.uuid is None or len(device.uuid) == 16
    assert device.pci is None or len(device.pci) == 3
    assert repr(device) == f"<Device {device.name}: {device.model}>"
    assert device.shared_memory >= 0 and device.driver and device.arch


def test_a_cpu_device_has_as_many_units_as_threads():
    assert pl.Device("cpu:3").compute_units == 3 and pl.Device("cpu:1").compute_units == 1


# memory ---------------------------------------------------------------------------------------------------------------------------


def test_memory_is_written_read_copied_filled_and_cut(ctx):
    stream, device = ctx.default_stream, ctx.device
    size = 64
    memory, other = device.allocate(size), device.allocate(size)
    assert memory.nbytes == len(memory) == size and memory.device == device and memory.handle != 0
    values = np.arange(size, dtype=np.uint8)
    stream.write(memory, values)
    stream.fill(other, 7)
    stream.copy(other, memory, 10, 3, 5)
    out = np.zeros(size, np.uint8)
    stream.read(other, out)
    expected = np.full(size, 7, np.uint8)
    expected[3:13] = values[5:15]
    assert np.array_equal(out, expected)
    part = memory.slice(21, 8)
    stream.fill(part, 1)
    stream.fill(memory, 2, size - 3)
    stream.read(memory, out)
    values[21:29] = 1
    values[-3:] = 2
    assert np.array_equal(out, values)


def test_bytes_outside_memory_are_refused(ctx):
    stream, memory = ctx.default_stream, ctx.device.allocate(16)
    for call in (
        lambda: stream.write(memory, np.zeros(17, np.uint8)),
        lambda: stream.read(memory, np.zeros(8, np.uint8), 9),
        lambda: stream.fill(memory, 0, 0, 17),
        lambda: stream.copy(memory, memory, 8, 9, 0),
        lambda: memory.slice(0, 17),
        lambda: memory.slice(2**63, 2**63),
    ):
        with pytest.raises(IndexError) as caught:
            call()
        assert isinstance(caught.value, pl.errors.MemoryRangeError)
    with pytest.raises(pl.errors.MemoryRangeError) as caught:
        stream.write(memory, np.zeros(17, np.uint8))
    assert str(caught.value).endswith("bytes 0..0+17 were requested, but the memory has 16 bytes")


def test_arrays_that_cannot_be_copied_are_refused(ctx):
    stream, memory = ctx.default_stream, ctx.device.allocate(16)
    read_only = np.zeros(1)
    read_only.flags.writeable = False
    for array, error, words in (
        ([1.0], TypeError, "expected a NumPy array, not list"),
        (np.zeros(4)[::2], ValueError, "not contiguous"),
        (read_only, ValueError, "read-only"),
        (np.array([None]), TypeError, "dtype object is not supported"),
    ):
        with pytest.raises(error, match=words):
            stream.read(memory, array)


def test_memory_of_no_bytes_is_fine(ctx):
    memory = ctx.device.allocate(0)
    ctx.default_stream.write(memory, np.zeros(0))
    ctx.default_stream.fill(memory)
    assert len(memory) == 0 and len(memory.slice(0, 0)) == 0


def test_memory_of_another_device_is_refused(gpu):
    host = open_context("cpu")
    with pytest.raises(pl.errors.OtherDeviceError):
        gpu.default_stream.fill(host.device.allocate(8))


def test_pinned_memory_is_host_memory_that_is_copied_asynchronously(ctx):
    pinned = ctx.pinned(80)
    view = np.asarray(pinned)
    assert (view.dtype, view.shape, pinned.nbytes) == (np.uint8, (80,), 80) and not view.any()
    assert view.ctypes.data == pinned.pointer
    doubles = view.view(np.float64)
    doubles[:] = np.arange(10)
    x = ctx.zeros(10)
    ctx.default_stream.write_pinned(x.memory, pinned)
    pinned.wait()
    assert x.numpy().tolist() == list(range(10))
    del pinned
    assert doubles.tolist() == list(range(10))


# streams and events ---------------------------------------------------------------------------------------------------------------


def test_work_on_a_stream_is_done_in_order(ctx):
    stream = ctx.stream()
    scale = ctx.compile(SCALE).scale.on(stream)
    x = pl.Context(stream).array(np.ones(100_000))
    for step in range(1, 6):
        scale(x, float(step), x.size)
    event = stream.record()
    event.wait()
    assert event.query() and stream.idle
    assert (x.numpy() == 120).all()


def test_one_stream_waits_for_an_event_of_another(ctx):
    first, second = ctx.stream(), ctx.stream()
    assert first.device == second.device == ctx.device
    scale = ctx.compile(SCALE).scale
    x = ctx.array(np.ones(200_000))
    ctx.synchronize()
    for _ in range(10):
        scale.on(first)(x, 2.0, x.size)
    second.wait(first.record())
    scale.on(second)(x, 0.5, x.size)
    second.synchronize()
    assert (x.numpy() == 512).all()


def test_time_between_events_is_not_negative_and_grows(ctx):
    stream = ctx.stream()
    scale = ctx.compile(SCALE).scale.on(stream)
    x = ctx.array(np.ones(500_000))
    ctx.synchronize()
    start, middle = stream.record(), ctx.device.event()
    for _ in range(5):
        scale(x, 1.0, x.size)
    assert stream.record(middle).device == ctx.device
    for _ in range(5):
        scale(x, 1.0, x.size)
    end = stream.record()
    end.wait()
    assert start.since(start) == 0
    assert 0 < middle.since(start) <= end.since(start)
    assert end.since(start) == pytest.approx(end.since(middle) + middle.since(start), abs=1e-6)


def test_an_event_that_was_not_recorded_has_no_time(ctx):
    with pytest.raises(pl.DeviceError, match="the event has not been recorded; record it on a stream first"):
        ctx.record().since(ctx.device.event())


def test_reprs_of_streams_events_and_memory_name_the_device(ctx):
    for thing in (ctx.default_stream, ctx.record(), ctx.device.allocate(8), ctx.pinned(8)):
        assert repr(thing).startswith("<") or type(thing).__name__ in repr(thing)


# pyopencl -------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def pyopencl():
    open_context("opencl")
    return pytest.importorskip("pyopencl")


def test_a_pyopencl_queue_and_buffer_are_used_without_a_copy(pyopencl):
    cl = pyopencl
    theirs = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    queue = cl.CommandQueue(theirs)
    ctx = pl.Context(queue)
    assert ctx.device.kind == "opencl"
    values = np.arange(10.0)
    buffer = cl.Buffer(theirs, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
    memory = ctx.device.adopt_memory(buffer.int_ptr, buffer.size, buffer)
    assert memory.handle == buffer.int_ptr and memory.nbytes == 80
    ctx.compile(SCALE).scale(memory, 3.0, 10)
    out = np.zeros(10)
    cl.enqueue_copy(queue, out, buffer)
    assert out.tolist() == (3 * values).tolist()
    del buffer, queue
    ctx.compile(SCALE).scale(memory, 2.0, 10)
    ctx.default_stream.read(memory, out)
    assert out.tolist() == (6 * values).tolist()


def test_more_bytes_than_an_adopted_buffer_has_are_refused(pyopencl):
    cl = pyopencl
    theirs = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    ctx = pl.Context(cl.CommandQueue(theirs))
    buffer = cl.Buffer(theirs, cl.mem_flags.READ_WRITE, 64)
    with pytest.raises(pl.errors.MemoryRangeError):
        ctx.device.adopt_memory(buffer.int_ptr, 65)
    other = cl.Buffer(cl.Context([cl.get_platforms()[0].get_devices()[0]]), cl.mem_flags.READ_WRITE, 64)
    with pytest.raises(pl.DeviceError, match="a buffer of another context"):
        ctx.device.adopt_memory(other.int_ptr, 64)


def test_arrays_and_programs_work_on_a_pyopencl_queue(pyopencl):
    cl = pyopencl
    theirs = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    ctx = pl.Context(cl.CommandQueue(theirs))
    x = ctx.array(np.ones(1000))
    y = ctx.zeros(1000)
    ctx.compile(kernels.AXPY).axpy(2.0, x, y, 1000)
    assert (y.numpy() == 2).all()
    with pytest.raises(pl.errors.OtherDeviceError):
        open_context("opencl").compile(kernels.AXPY).axpy(2.0, x, y, 1000)


def test_memory_of_the_host_is_adopted_by_its_address(cpu):
    values = np.ones(4)
    memory = cpu.device.adopt_memory(values.ctypes.data, values.nbytes, values)
    cpu.compile(SCALE).scale(memory, 5.0, 4)
    assert values.tolist() == [5] * 4
    assert cpu.device.adopt_memory(values.ctypes.data, 0).nbytes == 0
