"""`parloop.gpu`: the same on CUDA, HIP and the CPU."""

import ctypes
import gc
import hashlib
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import parloop
from parloop import gpu
from parloop.gpu import _device, gpuarray

DTYPES = ["int16", "int32", "int64", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128"]
ON_CPU = _device.kind() == "cpu"


def device_array(values):
    """A DeviceArray of the values' type with both sides filled."""
    array = getattr(gpu, f"DeviceArray_{values.dtype.name}")(values)
    assert array.allocate() == 0
    assert array.to_device() == 0
    return array


@pytest.fixture(scope="module")
def twice():
    """A function of a device pointer to int64 elements and their number: doubles them on the device."""
    context = parloop.Context(_device.devices()[0])
    program = context.compile("""
    GPUKERN void twice(GPUGLMEM int64_t *x, const int64_t n) {
        VECTORIZE_OVER(i, n)
            x[i] *= 2;
        END_VECTORIZE
    }""")

    def call(pointer, n):
        program.twice(x=pointer, n=n)
        context.synchronize()

    return call


# Names and statuses


def test_every_documented_name_is_there():
    plain = """cudaSetDevice cudaGetDevice cudaGetDeviceCount cudaDeviceSynchronize cudaDeviceReset cudaDeviceProp nvmlInit nvmlShutdown
    nvmlDevice cudaStream_t cudaEvent_t cudaEventRecord cudaEventSynchronize cudaEventElapsedTime cudaGetErrorName cudaGetErrorString
    cudaGetLastError cudaError_t cudaStreamSynchronize cudaStreamWaitEvent cudaStreamQuery cudaEventQuery GPUArray to_gpu dtype
    SUPPORTED_DTYPES Allocator use_hip cuda_enabled major_version minor_version release_version nvmlReturn_t""".split()
    families = ["DeviceArray", "pointer_wrapper", "ptr_wrapper", "HostAllocator", "PagelockedAllocator", "DeviceAllocator"]
    typed = [f"{family}_{dtype}" for family in families for dtype in DTYPES]
    assert [name for name in plain + typed if not hasattr(gpu, name)] == []
    assert list(gpu.SUPPORTED_DTYPES) == DTYPES


def test_a_status_shows_its_code_and_converts_to_an_integer():
    status = gpu.cudaError_t(2)
    assert repr(gpu.cudaError_t(0)) == "<cudaError: code=0>"
    assert (int(status), status.as_int(), status == 2, bool(status), bool(gpu.cudaError_t(0))) == (2, 2, True, True, False)
    assert gpu.cudaGetErrorName(status) == "cudaErrorMemoryAllocation"
    assert gpu.cudaGetErrorString(status) == "out of memory"
    assert gpu.cudaGetErrorName(gpu.cudaError_t(123456)) == "unrecognized error code"


def test_an_unknown_device_is_a_status_and_leaves_the_current_one():
    count, error = gpu.cudaGetDeviceCount()
    assert count >= 1 and error == 0
    assert gpu.cudaSetDevice(0) == 0
    for unknown in (count, -1):
        assert gpu.cudaSetDevice(unknown) == 101
    assert repr(gpu.cudaGetDevice()) == "(0, <cudaError: code=0>)"


def test_the_last_error_is_returned_once_and_belongs_to_its_thread():
    gpu.cudaSetDevice(10_000)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(int(gpu.cudaGetLastError())))
    thread.start()
    thread.join()
    assert seen == [0]
    assert gpu.cudaPeekAtLastError() == 101
    assert [int(gpu.cudaGetLastError()), int(gpu.cudaGetLastError())] == [101, 0]


def test_a_device_that_is_no_number_raises():
    with pytest.raises(TypeError):
        gpu.cudaSetDevice("0")


def test_properties_are_those_of_the_device():
    for number, device in enumerate(_device.devices()):
        properties = gpu.cudaDeviceProp(number)
        assert properties.last_status() == 0
        assert properties.name() == device.model
        assert properties.uuid() == (device.uuid or bytes(16)).hex()
        pci = (properties.pciDomainID(), properties.pciBusID(), properties.pciDeviceID())
        assert pci == (device.pci or (0, 0, 0))


def test_properties_of_an_unknown_device_are_empty_with_a_status():
    properties = gpu.cudaDeviceProp(10_000)
    assert (properties.name(), properties.uuid(), properties.pciBusID()) == ("", "0" * 32, 0)
    assert properties.last_status() == 101


def test_the_devices_are_not_opened_by_the_import():
    code = "import parloop.gpu; from parloop.gpu import *; print(parloop.gpu._device.devices.cache_info().currsize)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "0\n"


def test_the_variable_chooses_the_cpu_where_there_is_a_gpu(monkeypatch):
    monkeypatch.setenv("PARLOOP_DEVICE", "cpu:1")
    code = "from parloop import gpu; print(gpu.cudaGetDeviceCount(), gpu.cuda_enabled, gpu.to_gpu([1, 2]))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.startswith("(1, <cudaError: code=0>) False <GPUArray int64 (2,): cpu:1 at 0x")


def test_nvml_answers_with_a_status_and_never_raises():
    while gpu.nvmlShutdown() == 0:
        pass
    assert gpu.nvmlShutdown() == 1
    idle = gpu.nvmlDevice(0)
    assert (idle.utilization_rates(), idle.memory_info(), int(idle.last_status())) == ((0, 0), (0, 0, 0), 1)
    status = gpu.nvmlInit()
    if status != 0:
        assert repr(status) == "<nvmlReturn: code=12>"
        return
    assert gpu.nvmlInit() == 0
    assert gpu.nvmlShutdown() == 0
    free, total, used = gpu.nvmlDevice(0).memory_info()
    assert 0 < free + used <= total
    assert gpu.nvmlDevice(10_000).last_status() != 0
    assert gpu.nvmlShutdown() == 0
    assert gpu.nvmlShutdown() == 1


# Streams and events


def test_events_measure_milliseconds():
    start, end = gpu.cudaEvent_t(), gpu.cudaEvent_t()
    assert (start.last_status(), end.last_status()) == (0, 0)
    assert gpu.cudaEventRecord(start) == 0
    time.sleep(0.05)
    assert gpu.cudaEventRecord(end) == 0
    assert gpu.cudaEventSynchronize(end) == 0
    milliseconds, error = gpu.cudaEventElapsedTime(start, end)
    assert error == 0
    assert 40 < milliseconds < 5000


def test_an_event_that_was_not_recorded_is_done_but_has_no_time():
    fresh, recorded, untimed = gpu.cudaEvent_t(), gpu.cudaEvent_t(), gpu.cudaEvent_t(2)
    assert gpu.cudaEventRecord(recorded) == gpu.cudaEventRecord(untimed) == 0
    assert (gpu.cudaEventQuery(fresh), gpu.cudaEventSynchronize(fresh)) == (0, 0)
    assert gpu.cudaEventElapsedTime(fresh, recorded) == (0.0, 400)
    assert gpu.cudaEventElapsedTime(recorded, untimed) == (0.0, 400)


def test_a_stream_records_waits_and_ends():
    first, second, event = gpu.cudaStream_t(), gpu.cudaStream_t(1), gpu.cudaEvent_t()
    assert gpu.cudaStreamWaitEvent(second, event) == 0
    assert gpu.cudaEventRecord(event, first) == 0
    assert gpu.cudaStreamWaitEvent(second, event) == 0
    assert gpu.cudaStreamSynchronize(second) == 0
    assert gpu.cudaStreamQuery(second) == gpu.cudaStreamQuery() == gpu.cudaEventQuery(event) == 0
    assert (int(first) == 0) == ON_CPU
    assert first.__cuda_stream__() == (0, int(first.get()))


def test_flags_that_do_not_exist_are_a_status():
    stream, event = gpu.cudaStream_t(77), gpu.cudaEvent_t(64)
    assert (stream.last_status(), event.last_status()) == (1, 1)
    assert gpu.cudaStreamSynchronize(stream) == gpu.cudaEventRecord(event) == gpu.cudaEventSynchronize(event) == 400


def test_something_else_than_a_stream_or_an_event_raises():
    with pytest.raises(TypeError, match="a stream must be a cudaStream_t, or None for the default stream, not str"):
        gpu.cudaStreamSynchronize("s")
    with pytest.raises(TypeError, match="an event must be a cudaEvent_t, not int"):
        gpu.cudaEventRecord(3)


# Two-sided arrays


def test_the_round_trip_changes_the_callers_array(twice):
    A = np.array([1, 2, 3, 4, 5, 6])
    da = gpu.DeviceArray_int64(A)
    da.allocate()
    da.to_device()
    twice(da.device_data(), 6)
    assert A.tolist() == [1, 2, 3, 4, 5, 6]
    da.to_host()
    assert A.tolist() == [2, 4, 6, 8, 10, 12]
    assert repr(da.last_status()) == "<cudaError: code=0>"


@pytest.mark.skipif(not ON_CPU, reason="code of the host cannot use device memory")
def test_the_round_trip_calls_functions_of_ctypes():
    A = np.array([1, 2, 3, 4, 5, 6])
    da = device_array(A)
    memset = ctypes.CDLL(None).memset
    memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    memset(da.device_data(), 0, 16)
    memset(int(da.device_data()) + 40, 0, 8)
    da.to_host()
    assert A.tolist() == [0, 0, 3, 4, 5, 0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_goes_to_the_device_and_back(dtype):
    values = np.arange(12).astype(dtype).reshape(3, 4)
    expected = values.copy()
    array = device_array(values)
    values[...] = 0
    assert array.to_host() == 0
    assert np.array_equal(values, expected)
    assert (array.shape(), array.strides(), array.size(), array.nbytes()) == ([3, 4], list(values.strides), 12, values.nbytes)
    assert np.asarray(array).dtype == values.dtype


@pytest.mark.parametrize("order", ["C", "F"])
def test_both_sides_have_the_order_of_the_buffer(order):
    values = np.array(np.arange(6.0).reshape(2, 3), order=order)
    array = device_array(values)
    assert array.strides() == array.device_strides() == list(values.strides)
    flat = gpu.DeviceArray_float64(array.device_data(), [6])
    assert flat.to_host() == 0
    assert np.asarray(flat).tolist() == values.ravel("K").tolist()


def test_a_buffer_with_gaps_is_packed_on_the_device_and_its_gaps_stay():
    whole = np.arange(24.0).reshape(4, 6)
    expected = whole.copy()
    part = whole[::-2, 1::2]
    array = device_array(part)
    assert array.device_strides() == [24, 8]
    packed = gpu.DeviceArray_float64(array.device_data(), [6])
    packed.to_host()
    assert np.asarray(packed).tolist() == expected[::-2, 1::2].ravel().tolist()
    whole[...] = -1
    assert array.to_host() == 0
    assert np.array_equal(part, expected[::-2, 1::2])
    part[...] = -1
    assert (whole == -1).all()


def test_copies_before_allocate_are_an_error_and_touch_nothing():
    values = np.array([1.0, 2.0])
    array = gpu.DeviceArray_float64(values)
    for call in (array.to_device, array.to_host, lambda: array.set(values), lambda: array.set_val(0, 5)):
        assert call() == 1
        assert array.last_status() == 1
    assert values.tolist() == [1.0, 2.0]
    assert (int(array.device_data()), array.allocated()) == (0, False)
    assert gpu.cudaGetLastError() == 1


def test_allocate_twice_keeps_the_first_memory():
    array = device_array(np.arange(3))
    address = int(array.device_data())
    assert array.allocate() == 0
    assert int(array.device_data()) == address != 0


def test_a_buffer_of_another_type_raises_and_names_both_types():
    with pytest.raises(TypeError) as error:
        gpu.DeviceArray_int64(np.zeros(2))
    assert str(error.value) == (
        "DeviceArray_int64 holds int64 elements, but the buffer has float64: "
        "use DeviceArray_float64, or convert the buffer with .astype('int64')"
    )
    with pytest.raises(TypeError, match="float64 in another byte order"):
        gpu.DeviceArray_float64(np.zeros(2, ">f8"))
    with pytest.raises(TypeError, match="but the buffer has uint8: convert"):
        gpu.DeviceArray_float64(b"12345678")


def test_arguments_that_fit_no_form_raise():
    for arguments, named in [((), {}), ((None,), {}), (("abc",), {}), ((1, 2, 3, 4, 5), {}), ((3,), {"colour": 1}), ((1.5,), {})]:
        with pytest.raises(TypeError, match="DeviceArray_float64"):
            gpu.DeviceArray_float64(*arguments, **named)
    with pytest.raises(ValueError, match="negative"):
        gpu.DeviceArray_float64([2, -1])


def test_the_host_side_shares_memory_and_keeps_it_alive():
    values = np.arange(5.0)
    alive = weakref.ref(values)
    array = gpu.DeviceArray_float64(values)
    assert np.shares_memory(np.asarray(array), values)
    view = memoryview(array)
    del values, array
    gc.collect()
    assert alive() is not None
    assert view.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    del view
    gc.collect()
    assert alive() is None


def test_any_buffer_can_be_the_host_side():
    values = memoryview(bytearray(16)).cast("d")
    array = gpu.DeviceArray_float64(values)
    np.asarray(array)[:] = [1.5, 2.5]
    assert values.tolist() == [1.5, 2.5]


@pytest.mark.parametrize(("flag", "strides"), [(1, [24, 8]), (0, [8, 16])])
def test_a_shape_makes_a_host_side_in_the_order_asked_for(flag, strides):
    for array in (gpu.DeviceArray_float64([2, 3], flag), gpu.DeviceArray_float64((2, 3), flag_c_contiguous=flag)):
        assert (array.shape(), array.strides()) == ([2, 3], strides)
        view = memoryview(array)
        assert (view.shape, view.strides, view.format, view.readonly) == ((2, 3), tuple(strides), "d", False)
    assert gpu.DeviceArray_int16(7).shape() == [7]


def test_a_buffer_request_that_cannot_be_met_is_refused():
    straight, fortran = gpu.DeviceArray_float64([2, 3]), gpu.DeviceArray_float64([2, 3], 0)
    hashlib.sha256(straight)
    with pytest.raises(BufferError, match="has strides, but the consumer did not request strides"):
        hashlib.sha256(fortran)
    with pytest.raises(BufferError):
        hashlib.sha256(gpu.DeviceArray_float64(np.zeros(8)[::2]))
    constant = np.zeros(3)
    constant.flags.writeable = False
    locked = gpu.DeviceArray_float64(constant)
    assert memoryview(locked).readonly
    assert not np.asarray(locked).flags.writeable
    with pytest.raises((BufferError, TypeError), match="read-only|writable"):
        (ctypes.c_double * 3).from_buffer(locked)


def test_to_host_refuses_a_read_only_buffer():
    values = np.arange(3.0)
    values.flags.writeable = False
    array = device_array(values)
    with pytest.raises(ValueError, match="the host buffer is read-only, but to_host\\(\\) would write to it"):
        array.to_host()


def test_an_array_over_a_pointer_uses_its_memory():
    allocator = gpu.PagelockedAllocator_float64()
    assert allocator.allocate(10) == 0
    array, clone = (gpu.DeviceArray_float64(allocator.ptr(), [5, 2]) for _ in range(2))
    np.asarray(array)[...] = np.arange(10.0).reshape(5, 2)
    assert np.array_equal(np.asarray(clone), np.arange(10.0).reshape(5, 2))
    del allocator
    gc.collect()
    assert (array.allocate(), array.to_device(), clone.allocate(), clone.to_device()) == (0, 0, 0, 0)
    np.asarray(array)[...] = 0
    assert array.to_host() == 0
    assert np.asarray(clone)[4].tolist() == [8.0, 9.0]


def test_a_pointer_that_does_not_fit_the_array_raises():
    allocator = gpu.HostAllocator_float64()
    with pytest.raises(ValueError, match="null"):
        gpu.DeviceArray_float64(allocator.ptr(), [2])
    allocator.allocate(4)
    with pytest.raises(ValueError, match=r"shape \(5,\) has 5 elements, but the pointer refers to 4"):
        gpu.DeviceArray_float64(allocator.ptr(), [5])
    with pytest.raises(TypeError, match="DeviceArray_int32 holds int32 elements, but the pointer refers to float64"):
        gpu.DeviceArray_int32(allocator.ptr(), [2])


def test_two_addresses_are_both_sides():
    values, target = np.arange(4), device_array(np.zeros(4, np.int64))
    array = gpu.DeviceArray_int64(values.ctypes.data, int(target.device_data()), [2, 2])
    assert array.to_device() == 0
    target.to_host()
    assert np.asarray(target).tolist() == [0, 1, 2, 3]
    assert array.allocated() and array.shape() == [2, 2]


def test_set_changes_the_device_side_only():
    values = np.zeros(4, np.int32)
    array = device_array(values)
    source = np.arange(4, dtype=np.int32)
    assert array.set(source.ctypes.data) == 0
    assert values.tolist() == [0, 0, 0, 0]
    array.to_host()
    assert values.tolist() == [0, 1, 2, 3]
    assert array.set(source[::-1]) == 0
    array.to_host()
    assert values.tolist() == [3, 2, 1, 0]
    with pytest.raises(ValueError, match="shape"):
        array.set(source[:2])
    with pytest.raises(TypeError, match="int32 elements, but the buffer has float64"):
        array.set(np.zeros(4))


def test_set_val_sets_one_element_of_the_device_side_by_its_place_in_memory():
    values = np.zeros((2, 3), order="F")
    array = device_array(values)
    assert array.set_val(1, 5) == 0
    assert array.set_val(6, 9) == 1
    assert array.set_val(-1, 9) == 1
    assert values.sum() == 0
    array.to_host()
    assert values.tolist() == [[0, 0, 0], [5, 0, 0]]


def test_set_val_refuses_a_value_that_does_not_fit():
    array = device_array(np.zeros(2, np.uint16))
    with pytest.raises(OverflowError, match="65536 does not fit into uint16"):
        array.set_val(0, 65536)
    with pytest.raises(TypeError):
        array.set_val(0, 1.5)


def test_too_much_memory_is_status_2():
    endless = np.broadcast_to(np.zeros(1), (2**50,))
    array = gpu.DeviceArray_float64(endless)
    assert (array.allocate(), array.last_status(), array.allocated(), array.to_device()) == (2, 2, False, 1)
    allocator = gpu.DeviceAllocator_float64()
    assert allocator.allocate(8) == 0
    before = int(allocator.ptr())
    for elements in (2**50, 2**61, 2**80):
        assert allocator.allocate(elements) == 2
        assert gpu.cudaGetLastError() == 2
    assert int(allocator.ptr()) == before


def test_empty_arrays_work():
    values = np.zeros((0, 3))
    array = device_array(values)
    assert (array.to_host(), array.nbytes(), int(array.device_data())) == (0, 0, 0)
    assert np.asarray(array).shape == (0, 3)
    assert gpu.to_gpu(values)[:, 1].get().shape == (0,)


def test_reset_takes_the_device_sides_and_leaves_the_host_sides():
    values = np.arange(3)
    array, allocator, gpu_array = device_array(values), gpu.DeviceAllocator_int16(), gpu.to_gpu(np.arange(2.0))
    allocator.allocate(3)
    assert gpu.cudaDeviceReset() == 0
    assert (array.allocated(), int(array.device_data()), int(allocator.ptr()), gpu_array.ptr) == (False, 0, 0, 0)
    assert array.to_device() == 1
    assert (array.allocate(), array.to_device(), array.to_host()) == (0, 0, 0)
    assert values.tolist() == [0, 1, 2]


# Pointers and allocators


def test_a_host_pointer_gives_its_elements():
    values = np.array([1.5, 2.5, 3.5])
    pointer = gpu.DeviceArray_float64(values).host_data()
    assert isinstance(pointer, gpu.pointer_wrapper_float64)
    assert int(pointer) == values.ctypes.data
    assert (pointer.is_safe(), pointer.get(), pointer.get(2)) == (True, 1.5, 3.5)
    with pytest.raises(IndexError, match="3 elements; element 3 does not exist"):
        pointer.get(3)


def test_a_device_pointer_is_not_read_by_the_host():
    pointer = device_array(np.arange(3)).device_data()
    assert not pointer.is_safe()
    with pytest.raises(ValueError, match="only a safe pointer to host memory can be read"):
        pointer.get()


def test_a_pointer_keeps_its_memory_alive():
    pointer = device_array(np.arange(4)).device_data()
    gc.collect()
    again = gpu.DeviceArray_int64(pointer, [4])
    again.to_host()
    assert np.asarray(again).tolist() == [0, 1, 2, 3]


def test_a_pointer_is_an_argument_of_ctypes():
    source = gpu.DeviceArray_int64(np.arange(4)).host_data()
    target = gpu.pointer_wrapper_int64()
    target.create(4)
    move = ctypes.CDLL(None).memmove
    move.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    move.restype = ctypes.c_void_p
    assert move(target, source, 32) == int(target) == ctypes.c_void_p(int(target)).value
    assert [target.get(i) for i in range(4)] == [0, 1, 2, 3]
    target.destroy()
    assert (int(target), target.is_safe()) == (0, False)


def test_print_address_prints_it(capsys):
    gpu.pointer_wrapper_int16(4096).print_address()
    gpu.pointer_wrapper_int16().print_address()
    assert capsys.readouterr().out == "Address of ptr is 0x1000\nAddress of ptr is (nil)\n"
    assert repr(gpu.pointer_wrapper_int16(4096)) == "<pointer_wrapper_int16, is_safe=0, addr=4096>"


@pytest.mark.parametrize("family", ["HostAllocator", "PagelockedAllocator", "DeviceAllocator"])
def test_an_allocator_points_nowhere_until_it_allocates(family):
    allocator = getattr(gpu, f"{family}_float32")()
    assert int(allocator.ptr()) == 0
    assert allocator.allocate(100) in (None, 0)
    first = allocator.ptr()
    assert int(first) != 0
    assert first.is_safe() == (family != "DeviceAllocator")
    assert allocator.allocate(100) in (None, 0)
    assert int(allocator.ptr()) != int(first)
    assert allocator.allocate(0) in (None, 0)
    with pytest.raises(ValueError, match="must not be negative"):
        allocator.allocate(-1)


# GPUArray


def test_to_gpu_and_get_round_trip_through_the_callers_array():
    values = np.arange(6).reshape(2, 3)
    array = gpu.to_gpu(values)
    values[...] = 0
    assert array.get().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert values.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (array.shape, array.dtype, array.size, array.nbytes, array.ndim, len(array)) == ((2, 3), np.int64, 6, 48, 2, 2)
    assert array.ptr == int(array.device_data) != 0


def test_get_with_copy_leaves_the_host_side():
    values = np.zeros(3)
    array = gpu.GPUArray(values)
    assert array.set(np.ones(3)) == 0
    assert array.get(copy=True).tolist() == [1, 1, 1]
    assert values.tolist() == [0, 0, 0]


def test_values_that_are_read_only_go_to_the_device_and_come_back_as_a_copy():
    values = np.arange(3.0)
    values.flags.writeable = False
    assert gpu.to_gpu(values).get().tolist() == [0, 1, 2]


def test_copy_makes_a_host_side_of_its_own():
    values = np.arange(3.0)
    array = gpu.GPUArray(values, copy=True)
    values[:] = 7
    array.to_device()
    assert array.get().tolist() == [0, 1, 2]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.complex64, "int16", np.dtype("float64")])
def test_a_shape_makes_an_array_whose_get_is_its_host_side(order, dtype):
    array = gpu.GPUArray(shape=(2, 3, 4), dtype=dtype, order=order)
    expected = np.arange(24).reshape(2, 3, 4).astype(dtype)
    array.get()[...] = expected
    array.to_device()
    assert np.array_equal(array.get(copy=True), expected)
    assert array.strides == np.empty((2, 3, 4), dtype, order).strides
    assert gpu.GPUArray((3,)).dtype == np.float64


def test_parts_share_the_device_memory():
    array = gpu.to_gpu(np.arange(24).reshape(4, 6))
    part = array[1:, ::2]
    assert (part.shape, part.strides, part.ptr) == ((3, 3), (48, 16), array.ptr + 48)
    part[0] = [-1, -2, -3]
    part.set_val(8, 99)
    expected = np.arange(24).reshape(4, 6)
    expected[1:, ::2][0] = [-1, -2, -3]
    expected[3, 4] = 99
    assert np.array_equal(array.get(), expected)
    assert np.array_equal(part.get(), expected[1:, ::2])
    assert np.array_equal(part[::-1, 1].get(), expected[1:, ::2][::-1, 1])
    assert (array[3, 4], array[-1, -1]) == (99, 23)
    assert [row.get().tolist() for row in array][0] == [0, 1, 2, 3, 4, 5]


def test_a_part_outlives_its_whole():
    part = gpu.to_gpu(np.arange(10))[3:5]
    gc.collect()
    assert part.get().tolist() == [3, 4]


def test_a_part_takes_values_from_the_device():
    x, y = gpu.to_gpu(np.arange(4.0)), gpu.to_gpu(np.full(4, 9.0))
    x[1:3] = y[:2]
    assert x.get().tolist() == [0, 9, 9, 3]
    reverse = x[::-1]
    reverse.set(np.array([1.0, 2.0, 3.0, 4.0]))
    assert x.get().tolist() == [4, 3, 2, 1]
    with pytest.raises(IndexError, match="index 4 is out of range"):
        x[4]


def test_a_copy_of_a_part_is_packed_and_separate():
    array = gpu.to_gpu(np.arange(6.0))
    copy = array[::2].copy()
    copy[0] = 100
    assert (copy.strides, copy.get().tolist(), array.get().tolist()) == ((8,), [100, 2, 4], [0, 1, 2, 3, 4, 5])


def test_another_gpu_array_is_adopted_without_a_copy():
    first = gpu.to_gpu(np.arange(6).reshape(3, 2))
    for second in (gpu.GPUArray(first), gpu.GPUArray(allocator=gpu.Allocator(first))):
        assert second.ptr == first.ptr
        second.set_val(0, 43)
        assert (second.get()[0, 0], first[0, 0]) == (43, 43)
        assert first._device_array._host[0, 0] == 0


def test_an_allocator_keeps_the_order_and_the_memory_of_its_array():
    values = np.array(np.arange(6).reshape(3, 2), order="F")
    array = gpu.GPUArray(allocator=gpu.Allocator(gpu.to_gpu(values)))
    gc.collect()
    assert np.array_equal(array.get(), values)
    with pytest.raises(ValueError, match="not contiguous"):
        gpu.Allocator(gpu.to_gpu(np.arange(6))[::2])


@pytest.mark.parametrize("kind", [gpuarray.HostAllocator, gpuarray.PagelockedAllocator])
def test_host_memory_of_an_allocator_is_the_host_side(kind):
    allocator = kind((3, 5), np.float64)
    array = gpu.GPUArray(allocator=allocator)
    array.get()[...] = 3
    assert array.to_device() == 0
    allocator.get()[...] = 0
    assert (array.get() == 3).all() and (allocator.get() == 3).all()
    assert int(array.host_data) == int(allocator.ptr())


def test_page_locked_memory_can_be_the_device_side():
    pinned = gpuarray.PagelockedAllocator((4,), "int32")
    array = gpu.GPUArray(allocator=gpu.Allocator(pinned))
    assert array.set(np.arange(4, dtype=np.int32)) == 0
    gpu.cudaDeviceSynchronize()
    assert pinned.get().tolist() == [0, 1, 2, 3]


def test_kernels_take_the_array_as_it_is(twice):
    array = gpu.to_gpu(np.arange(4))
    twice(array, 4)
    twice(array[2:], 2)
    assert array.get().tolist() == [0, 2, 8, 12]


def test_other_libraries_see_the_device_memory():
    array = gpu.to_gpu(np.arange(6.0).reshape(2, 3))
    interface = array.__array_interface__ if ON_CPU else array.__cuda_array_interface__
    assert interface["data"] == (array.ptr, False)
    assert (interface["shape"], interface["strides"], interface["typestr"], interface["version"]) == ((2, 3), (24, 8), "<f8", 3)
    assert hasattr(array, "__cuda_array_interface__") != hasattr(array, "__array_interface__")
    array.set(np.full((2, 3), 5.0))
    assert np.asarray(array).tolist() == [[5.0] * 3] * 2
    shared = parloop.Context(_device.devices()[0]).array(array, copy=False)
    shared[0] = 1
    assert array[0, 2] == 1.0


def test_an_array_of_cupy_is_adopted_without_a_copy():
    cupy = pytest.importorskip("cupy")
    if ON_CPU:
        pytest.skip("there is no GPU")
    theirs = cupy.arange(6).reshape(3, 2)
    for ours in (gpu.GPUArray(theirs), gpu.GPUArray(allocator=gpu.Allocator(theirs))):
        assert ours.ptr == theirs.data.ptr
        ours.set_val(0, 43)
        assert (int(theirs[0, 0]), ours.get()[0, 0]) == (43, 43)
    back = cupy.asarray(gpu.to_gpu(np.arange(3)))
    assert back.tolist() == [0, 1, 2]


def test_a_type_that_is_not_supported_raises():
    with pytest.raises(gpuarray.UnsupportedDataType, match="bool elements are not supported; use one of int16"):
        gpu.GPUArray(np.zeros(2, bool))
    with pytest.raises(gpuarray.UnsupportedDataType, match="not str"):
        gpu.GPUArray("abc")
    with pytest.raises(TypeError, match="one of an array, a shape and an allocator"):
        gpu.GPUArray((2,), allocator=gpu.Allocator(gpu.to_gpu(np.zeros(2))))
    with pytest.raises(ValueError, match="order must be 'C' or 'F', not 'K'"):
        gpu.GPUArray((2,), order="K")


def test_set_refuses_another_shape_or_type():
    array = gpu.to_gpu(np.zeros(3))
    with pytest.raises(ValueError, match="shape"):
        array.set(np.zeros(4))
    with pytest.raises(TypeError, match="float64 elements, but the buffer has int64"):
        array.set(np.zeros(3, np.int64))
    with pytest.raises(TypeError, match="takes a NumPy array, not list"):
        array.set([1, 2, 3])
