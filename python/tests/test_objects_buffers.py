"""Buffers: what they hand out and take back, how bytes come and go, growth under live views, and the lives of objects in them."""

import gc
import threading
import time

import numpy as np
import pytest
from conftest import DEVICES, open_context
from hypothesis import given, settings
from hypothesis import strategies as st

import parloop as pl
import parloop.objects as xo


class Item(xo.Struct):
    x = xo.Float64
    name = xo.String
    a = xo.Float64[:]


def item(**place):
    return Item(x=1, name="abc", a=[1, 2, 3], **place)


def message(call, error):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_allocations_are_first_fit_aligned_and_merged_when_freed(ctx):
    buffer = xo.Buffer(100, context=ctx)
    assert (buffer.capacity, buffer.get_free(), buffer.default_alignment, buffer.grow_step) == (100, 100, 8, None)
    first, second, third = (buffer.allocate(10) for _ in range(3))
    assert (first, second, third) == (0, 16, 32) and buffer.get_free() == 70
    assert buffer.allocate(3, align=False) == 10 and buffer.allocate(1, alignment=64) == 64
    buffer.free(second, 10)
    buffer.free(first, 10)
    assert [(chunk.start, chunk.end, chunk.size) for chunk in buffer.chunks][0] == (0, 10, 10)
    buffer.free(10, 3)
    assert repr(buffer.chunks[0]) == "Chunk(0, 32)" and buffer.allocate(32) == 0
    assert buffer.context is ctx and repr(buffer) == f"<Buffer on {ctx.device.name}: {100 - buffer.get_free()} of 100 bytes used, {buffer.get_free()} free>"


def test_a_full_buffer_grows_by_its_step_or_doubles(ctx):
    buffer = xo.Buffer(100, context=ctx, grow_step=1000)
    assert [buffer.allocate(48) for _ in range(3)] == [0, 48, 96] and buffer.capacity == 1100 and buffer.grow_step == 1000
    buffer = ctx.new_buffer(100)
    assert [buffer.allocate(48) for _ in range(5)] == [0, 48, 96, 144, 192] and buffer.capacity == 400
    assert buffer.allocate(1000) == 240 and buffer.capacity == 400 + 1000 + 7
    buffer.grow(100)
    assert buffer.capacity == 1507 and buffer.get_free() == 1507 - 5 * 48 - 1000
    assert not any(buffer.read(0, 1507)), "all of it is zero"


@pytest.mark.parametrize(
    "source",
    [
        b"abcdefgh",
        bytearray(b"abcdefgh"),
        memoryview(b"abcdefgh"),
        memoryview(b"a.b.c.d.e.f.g.h.")[::2],
        np.frombuffer(b"abcdefgh", "u1"),
        np.frombuffer(b"abcdefgh", "f8"),
        np.frombuffer(b"abcdefgh", ">i4").reshape(2, 1),
        np.frombuffer(b"aaccbbddeeggffhh", "S2").reshape(2, 2, 2).transpose(0, 2, 1)[..., :].astype("S1"),
    ],
    ids=lambda source: type(source).__name__,
)  # fmt: skip
def test_bytes_are_written_from_anything_that_has_some(ctx, source):
    buffer = ctx.new_buffer(32)
    buffer.write(source, 8)
    assert bytes(buffer.read(0, 32)) == b"abcdefgh".join([b"\0" * 8, b"\0" * 16])
    buffer.write(source, offset=20, nbytes=3)
    buffer.update_from_buffer(24, source)
    assert bytes(buffer.to_bytearray(16, 16)) == b"\0\0\0\0abc\0abcdefgh"


def test_bytes_are_copied_between_buffers_of_all_devices(ctx):
    source = ctx.new_buffer(16)
    source.write(b"0123456789abcdef")
    for name in DEVICES:
        target = open_context(name).new_buffer(32)
        target.write(source, 8)
        target.update_from_xbuffer(28, source, 12, 4)
        target.update_from_native(0, source, 2, 3)
        assert bytes(target.read(0, 32)) == b"234\0\0\0\0\0" + b"0123456789abcdef" + b"\0\0\0\0cdef"
        source.copy_to_native(target, 1, 10, 2)
        assert bytes(target.read(0, 4)) == b"2ab\0"
    source.update_from_xbuffer(2, source, 0, 8)
    assert bytes(source.read(0, 16)) == b"0101234567abcdef", "a copy may overlap"


def test_native_bytes_go_out_and_come_back(ctx):
    buffer = ctx.new_buffer(16)
    buffer.write(b"0123456789abcdef")
    native = buffer.to_native(4, 8)
    assert bytes(np.asarray(native).tobytes()) == b"456789ab" and bytes(np.asarray(buffer.copy_native(0, 2)).tobytes()) == b"01"
    native[0] = 0
    assert bytes(buffer.read(4, 1)) == b"4", "it is a copy"
    buffer.update_from_native(0, native, 1, 2)
    assert bytes(buffer.read(0, 4)) == b"5623"
    out, raw = np.zeros(8, "i1"), bytearray(8)
    buffer.copy_to_native(out, 2, 0, 4)
    buffer.copy_to_native(raw, 4, 0, 4)
    assert out.tobytes() == b"\0\0" + b"5623" + b"\0\0" and raw == b"\0\0\0\0" + b"5623"
    if ctx.device.kind != "cpu":
        array = ctx.zeros(8, "i1")
        buffer.copy_to_native(array, 0, 0, 4)
        assert array.numpy().tobytes() == b"5623\0\0\0\0"


def test_views_of_a_buffer_write_to_it(ctx):
    buffer = ctx.new_buffer(64)
    view = buffer.to_nplike(8, "float64", (2, 2))
    view[1, 0] = 1.5
    assert np.frombuffer(buffer.read(24, 8), "f8")[0] == 1.5
    buffer.update_from_nplike(8, "float64", np.array([[1, 2], [3, 4]], "i2"))
    assert np.asarray(view).tolist() == [[1, 2], [3, 4]] and buffer.to_nparray(8, np.float64, 4).tolist() == [1, 2, 3, 4]
    assert isinstance(buffer.to_nparray(0, "i1", 3), np.ndarray) and len(buffer.buffer) == 64
    assert np.asarray(buffer.to_pointer_arg(8, 8)).tobytes() == np.float64(1).tobytes()
    assert isinstance(view, np.ndarray if ctx.device.kind == "cpu" else pl.Array)


BAD = [
    (lambda b: b.read(60, 8), IndexError, "a read of 8 bytes at 60 does not fit into a buffer of 64 bytes"),
    (lambda b: b.read(0, 2**62), IndexError, f"a read of {2**62} bytes at 0 does not fit into a buffer of 64 bytes"),
    (lambda b: b.read(-1, 1), IndexError, "offset -1 is before the start of the buffer"),
    (lambda b: b.write(b"12345678", 60), IndexError, "a write of 8 bytes at 60 does not fit into a buffer of 64 bytes"),
    (lambda b: b.write(b"1234", 0, 8), IndexError, "8 bytes were requested, but the source has 4"),
    (lambda b: b.write(b, 1), IndexError, "a copy to of 64 bytes at 1 does not fit into a buffer of 64 bytes"),
    (lambda b: b.write(3), TypeError, "expected an array, a buffer or an object with the buffer protocol, not 3"),
    (lambda b: b.write("text"), TypeError, "expected an array, a buffer or an object with the buffer protocol, not text"),
    (lambda b: b.write(np.array([None])), TypeError, "an array of Python objects has no raw bytes"),
    (lambda b: b.update_from_xbuffer(0, b, 60, 8), IndexError, "a copy from of 8 bytes at 60 does not fit into a buffer of 64 bytes"),
    (lambda b: b.update_from_native(0, b"1234", 2, 4), IndexError, "bytes 2..6 were requested, but the source has 4"),
    (lambda b: b.copy_to_native(bytearray(4), 1, 0, 4), IndexError, "4 bytes at 1 were requested, but the destination has 4"),
    (lambda b: b.copy_to_native(np.zeros(4), 0, 0, 4), TypeError, "bytes can be copied only to an array with 1-byte elements; pass a view of it as int8"),
    (lambda b: b.to_nplike(8, "f8", 8), IndexError, "a view of 64 bytes at 8 does not fit into a buffer of 64 bytes"),
    (lambda b: b.to_nplike(0, "f8", (2**62, 4)), IndexError, f"a view of {2**64 - 1} bytes at 0 does not fit into a buffer of 64 bytes"),
    (lambda b: b.to_nplike(0, "f8", -1), TypeError, "a shape must be a non-negative integer or a tuple of them, not -1"),
    (lambda b: b.to_native(60, 8), IndexError, "a view of 8 bytes at 60 does not fit into a buffer of 64 bytes"),
    (lambda b: b.allocate(8, alignment=3), pl.errors.ObjectValueError, "the alignment 3 is not a power of two"),
    (lambda b: b.allocate(2**63 - 1), MemoryError, f"a buffer of more than {2**63 - 1} bytes was requested"),
    (lambda b: b.grow(2**63), MemoryError, f"a buffer of more than {2**63 - 1} bytes was requested"),
    (lambda b: b.allocate(-1), OverflowError, "can't convert negative int to unsigned"),
    (lambda b: b.free(0, 8), pl.errors.BufferFreeError, "bytes 0..8 of the buffer are already free; they were freed twice or never allocated"),
    (lambda b: b.free(24, 4), pl.errors.BufferFreeError, "bytes 24..28 of the buffer are not an allocation: they are part of the allocation of 8 bytes at 24"),
    (lambda b: b.free(28, 4), pl.errors.BufferFreeError, "bytes 28..32 of the buffer are not an allocation: they are part of the allocation of 8 bytes at 24"),
    (lambda b: b.free(1000, 8), pl.errors.BufferFreeError, "Cannot free outside of buffer: bytes 1000..1008 of a buffer of 64 bytes"),
    (lambda b: b.free(-1, 8), pl.errors.BufferFreeError, "Cannot free outside of buffer: offset -1"),
]


@pytest.mark.parametrize(("call", "error", "words"), BAD, ids=range(len(BAD)))
def test_what_a_buffer_cannot_do_is_refused_and_changes_nothing(ctx, call, error, words):
    buffer = ctx.new_buffer(64)
    kept = [buffer.allocate(24), buffer.allocate(8)]
    buffer.free(kept[0], 24)
    buffer.write(bytes(range(64)))
    assert message(lambda: call(buffer), error) == words
    assert bytes(buffer.read(0, 64)) == bytes(range(64)) and buffer.capacity == 64 and buffer.get_free() == 56


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from([1, 8, 64]), st.booleans()), max_size=40))
@settings(max_examples=60)
def test_no_two_allocations_share_a_byte(steps):
    buffer = open_context("cpu:1").new_buffer(64)
    taken = {}
    for size, alignment, frees in steps:
        if frees and taken:
            offset = next(iter(taken))
            buffer.free(offset, taken.pop(offset))
        elif size:
            offset = buffer.allocate(size, alignment=alignment)
            assert offset % alignment == 0 and offset + size <= buffer.capacity
            assert all(offset + size <= other or other + length <= offset for other, length in taken.items())
            taken[offset] = size
        assert buffer.get_free() == buffer.capacity - sum(taken.values()) == sum(chunk.size for chunk in buffer.chunks)


def test_as_many_frees_as_would_take_minutes_if_each_looked_at_all_chunks():
    buffer = open_context("cpu:1").new_buffer(1 << 20)
    offsets = [buffer.allocate(16) for _ in range(60_000)]
    for offset in offsets[::2]:
        buffer.free(offset, 16)
    assert len(buffer.chunks) >= 30_000
    for offset in offsets[1::2]:
        buffer.free(offset, 16)
    assert buffer.get_free() == buffer.capacity and len(buffer.chunks) == 1


def test_an_object_frees_its_memory_with_the_last_reference(ctx):
    buffer = ctx.new_buffer(500)
    made = item(_buffer=buffer)
    assert buffer.get_free() == 500 - made._size
    del made
    gc.collect()
    assert buffer.get_free() == 500


def test_parts_and_views_keep_the_memory_of_an_object(ctx):
    buffer = ctx.new_buffer(500)
    part = item(_buffer=buffer).a
    taken = 500 - buffer.get_free()
    assert taken > 0 and part[2] == 3
    view = part.to_nplike()
    del part
    part_of_view = view[1:]
    del view
    gc.collect()
    assert buffer.get_free() == 500 - taken
    part_of_view[0] = 7
    del part_of_view
    gc.collect()
    assert buffer.get_free() == 500


def test_a_buffer_lives_as_long_as_its_objects(ctx):
    made = item(_buffer=ctx.new_buffer(500))
    view = made.a.to_nplike()
    gc.collect()
    assert made.name == "abc"
    del made
    gc.collect()
    others = [ctx.new_buffer(500) for _ in range(10)]
    assert np.asarray(view).tolist() == [1, 2, 3] and len(others) == 10


USES = {
    "read a number": lambda made, part: made.x,
    "read a text": lambda made, part: made.name,
    "read an item": lambda made, part: part[0],
    "take a part": lambda made, part: made.a,
    "view": lambda made, part: part.to_nplike(),
    "copy to numpy": lambda made, part: np.asarray(part),
    "set a number": lambda made, part: setattr(made, "x", 2.0),
    "set an integer": lambda made, part: setattr(made, "x", 2),
    "set a text": lambda made, part: setattr(made, "name", "x"),
    "set an item": lambda made, part: part.__setitem__(0, 1.0),
    "set items": lambda made, part: part.__setitem__(slice(None), 1.0),
    "update": lambda made, part: made._update({"x": 1}),
    "copy": lambda made, part: Item(made),
    "size": lambda made, part: made._size,
    "bytes": lambda made, part: made._bytes(),
    "dict": lambda made, part: made._to_dict(),
    "repr": lambda made, part: repr(made),
    "pickle": lambda made, part: __import__("pickle").dumps(made),
    "offset": lambda made, part: made._get_offset("a"),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_an_object_whose_memory_was_freed_by_hand_cannot_be_used(ctx, use):
    buffer = ctx.new_buffer(500)
    made = item(_buffer=buffer)
    part = made.a
    len(part)
    buffer.free(made._offset, made._size)
    assert message(lambda: use(made, part), pl.errors.FreedError) in ("the memory of this Item object was freed", "the memory of this ArrNFloat64 object was freed")
    other = item(_buffer=buffer)
    del made, part
    gc.collect()
    assert other._to_dict() == item()._to_dict() and buffer.get_free() == 500 - other._size, "what was freed by hand is not freed again"


def test_memory_that_its_user_allocated_is_the_users_to_free(ctx):
    buffer = ctx.new_buffer(500)
    offset = buffer.allocate(200)
    made = item(_buffer=buffer, _offset=offset)
    assert made._offset == offset
    del made
    gc.collect()
    assert buffer.get_free() == 300 and Item._from_buffer(buffer, offset).name == "abc"
    buffer.free(offset, 200)


def test_views_follow_when_a_buffer_grows(ctx):
    buffer = ctx.new_buffer(200)
    made = item(_buffer=buffer)
    old = made.a.to_nplike()
    pieces, whole = [], buffer.buffer
    for step in range(30):
        buffer.grow(1 << step % 15)
        pieces.append(xo.Int64[:](range(step), _buffer=buffer))
        old[0] = step
        assert made.a[0] == step and made.a.to_nparray()[0] == step
        made.a[1] = -step
        assert old[1] == -step
        new = made.a.to_nplike()
        new[2] = step + 0.5
        assert old[2] == made.a[2] == step + 0.5
    assert [piece.to_nparray().tolist() for piece in pieces] == [list(range(step)) for step in range(30)]
    assert len(whole) == 200 and made.name == "abc"


def test_views_of_many_buffers_follow_each_their_own(cpu):
    buffers = [cpu.new_buffer(64) for _ in range(40)]
    arrays = [xo.Int64[:]([index, index], _buffer=buffer) for index, buffer in enumerate(buffers)]
    views = [array.to_nplike() for array in arrays]
    for buffer in buffers:
        buffer.grow(100_000)
    for index, view in enumerate(views):
        view[1] = 2 * index
    assert [array.to_nparray().tolist() for array in arrays] == [[index, 2 * index] for index in range(40)]


def test_arrays_lend_their_numbers_by_the_buffer_protocol_and_dlpack(ctx):
    made = xo.Float64[:1, :0]([[1, 2], [3, 4]], _context=ctx)
    if ctx.device.kind == "cpu":
        view = memoryview(made)
        assert view.tolist() == [[1, 2], [3, 4]] and view.strides == (8, 16) and not view.readonly
        shared = np.from_dlpack(made)
        shared[0, 0] = 9
        assert made[0, 0] == view[0, 0] == 9
        made._buffer.grow(10_000)
        made[1, 1] = 8
        assert view[1, 1] == shared[1, 1] == 8
    elif ctx.device.kind == "opencl":
        assert message(lambda: memoryview(made), BufferError) == "the array is not in host memory; use .to_nparray()"
        assert message(lambda: np.from_dlpack(made), BufferError) == "OpenCL memory cannot be exported through DLPack; copy with .to(\"cpu\") first"
    assert message(lambda: memoryview(xo.String[2](["a", "b"], _context=ctx)), TypeError) == "Arr2String holds objects; only arrays of numbers have a view"


def test_one_thread_launches_while_another_grows_the_buffer(ctx):
    source = """GPUKERN void bump(Item it) {
        VECTORIZE_OVER(i, Item_len_a(it)) for (int k = 0; k < 300; k++) Item_set_a(it, i, Item_get_a(it, i) + 1); END_VECTORIZE }"""
    grid = lambda it: (time.sleep(0.0001), 3)[1]  # noqa: E731 - gives other threads their turn in the middle of a call
    kernel = xo.build_kernels(ctx, {"bump": xo.Kernel(args=[xo.Arg(Item, name="it")], n_threads=grid)}, [source])["bump"]
    buffer = ctx.new_buffer(16)
    made = item(_buffer=buffer)
    failed = []

    def work(step):
        try:
            for _ in range(60):
                step()
        except BaseException as error:
            failed.append(error)

    def grow():
        buffer.grow(5000)
        buffer.free(buffer.allocate(100), 100)
        assert xo.Int64[:]([1, 2], _buffer=buffer)[1] == 2

    threads = [threading.Thread(target=work, args=(step,), daemon=True) for step in (lambda: kernel(it=made), grow)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not failed and not any(thread.is_alive() for thread in threads)
    assert made.a.to_nparray().tolist() == [1 + 18000, 2 + 18000, 3 + 18000]


def test_a_grid_that_grows_the_buffer_of_its_arguments_is_no_trap(ctx):
    source = "GPUKERN void set(Item it, const double to) { VECTORIZE_OVER(i, Item_len_a(it)) Item_set_a(it, i, to); END_VECTORIZE }"
    grid = lambda it, to: (it._buffer.grow(100_000), 3)[1]  # noqa: E731
    described = xo.Kernel(args=[xo.Arg(Item, name="it"), xo.Arg(xo.Float64, name="to")], n_threads=grid)
    kernel = xo.build_kernels(ctx, {"set": described}, [source])["set"]
    made = item(_context=ctx)
    kernel(it=made, to=4.0)
    assert made.a.to_nparray().tolist() == [4, 4, 4] and made._buffer.capacity > 100_000
