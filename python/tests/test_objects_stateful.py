"""Buffers and objects against a model in Python: whatever is made, changed, shared, copied and freed, in one thread or in several."""

import copy
import gc
import pickle
import threading

import numpy as np
import pytest
from conftest import missing
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import parloop as pl
import parloop.objects as xo


class Leaf(xo.Struct):
    x = xo.Float64
    n = xo.Int32


class Node(xo.Struct):
    leaf = Leaf
    name = xo.Field(xo.String, default="")
    data = xo.Float64[:]
    to = xo.Ref(Leaf)


NUMBERS = st.floats(-1e6, 1e6)
SHORT = st.integers(0, 40)
#: Long enough that buffers of all kinds grow.
LENGTHS = st.one_of(SHORT, st.integers(0, 3000), st.just(100_000))
#: A text ends with its last character that is not NUL.
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
PICKS = st.integers(0, 1 << 20)


class Memory:
    """The memory of an object, which lives as long as the object, its views and whatever refers to it."""

    def __init__(self, buffer, size):
        self.buffer, self.size = buffer, size
        #: The memory that its reference keeps, or None.
        self.keeps = None

    def chain(self):
        """Whatever it keeps, in order; ends before memory that has been named already."""
        found, at = [], self.keeps
        while at is not None and at not in found:
            found.append(at)
            at = at.keeps
        return found


class Entry:
    """An object and what it should show."""

    def __init__(self, item, value):
        self.item, self.value, self.views = item, value, []
        self.memory = Memory(item._buffer, item._size)
        #: The entry whose leaf `to` is, if it is shared with one.
        self.refers_to = None

    def keep_a_copied_leaf(self):
        self.memory.keeps = Memory(self.memory.buffer, Leaf._size)

    def expected(self):
        value = copy.deepcopy(self.value)
        if self.refers_to is not None:
            value["to"] = copy.deepcopy(self.refers_to.value["leaf"])
        return value


class Objects(RuleBasedStateMachine):
    device = "cpu:1"

    def __init__(self):
        super().__init__()
        self.ctx = pl.Context(self.device)
        self.buffers = [self.ctx.new_buffer(64), xo.Buffer(100, context=self.ctx, grow_step=4096)]
        self.entries = []
        #: The memory of all objects, also of those that were dropped.
        self.memories = []

    def add(self, entry):
        self.entries.append(entry)
        self.memories.append(entry.memory)
        return entry

    def pick(self, number):
        return self.entries[number % len(self.entries)]

    @rule(buffer=st.integers(0, 2), x=NUMBERS, n=st.integers(-(2**31), 2**31 - 1), name=TEXTS, length=LENGTHS)
    def make(self, buffer, x, n, name, length):
        place = {"_context": self.ctx} if buffer == 2 else {"_buffer": self.buffers[buffer]}
        data = np.arange(float(length))
        item = Node(leaf={"x": x, "n": n}, name=name, data=data, **place)
        self.add(Entry(item, {"leaf": {"x": x, "n": n}, "name": name, "data": data, "to": None}))

    @precondition(lambda self: self.entries)
    @rule(which=PICKS, x=NUMBERS)
    def change_a_number(self, which, x):
        entry = self.pick(which)
        entry.item.leaf.x = x
        entry.value["leaf"]["x"] = x

    @precondition(lambda self: self.entries)
    @rule(which=PICKS, at=PICKS, x=NUMBERS)
    def change_an_item(self, which, at, x):
        entry = self.pick(which)
        if len(entry.value["data"]) == 0:
            return
        at %= len(entry.value["data"])
        entry.item.data[at] = x
        entry.value["data"][at] = x

    @precondition(lambda self: self.entries)
    @rule(which=PICKS, text=TEXTS)
    def change_the_text(self, which, text):
        entry = self.pick(which)
        try:
            entry.item.name = text
            entry.value["name"] = text
        except pl.errors.ObjectValueError:
            pass  # too long for its room, and nothing has changed

    @precondition(lambda self: self.entries)
    @rule(which=PICKS, to=PICKS)
    def refer(self, which, to):
        """In one buffer the leaf is shared; of another it is copied."""
        entry, target = self.pick(which), self.pick(to)
        entry.item.to = target.item.leaf
        if entry.item._buffer is target.item._buffer:
            entry.refers_to, entry.memory.keeps = target, target.memory
        else:
            entry.refers_to, entry.value["to"] = None, copy.deepcopy(target.value["leaf"])
            entry.keep_a_copied_leaf()

    @precondition(lambda self: self.entries)
    @rule(which=PICKS)
    def refer_to_nothing(self, which):
        entry = self.pick(which)
        entry.item.to = None
        entry.refers_to, entry.value["to"], entry.memory.keeps = None, None, None

    @precondition(lambda self: self.entries)
    @rule(which=PICKS)
    def take_a_view(self, which):
        entry = self.pick(which)
        if self.ctx.device.kind == "cpu":
            entry.views.append(entry.item.data.to_nparray())

    @precondition(lambda self: any(entry.views for entry in self.entries))
    @rule(which=PICKS, x=NUMBERS)
    def change_through_a_view(self, which, x):
        with_views = [entry for entry in self.entries if entry.views]
        entry = with_views[which % len(with_views)]
        entry.views[which % len(entry.views)][...] = x
        entry.value["data"][...] = x

    @precondition(lambda self: any(entry.views for entry in self.entries))
    @rule(which=PICKS)
    def drop_views(self, which):
        self.pick(which).views.clear()

    @rule(buffer=st.integers(0, 1), nbytes=st.integers(0, 100_000))
    def grow(self, buffer, nbytes):
        before = self.buffers[buffer].capacity
        self.buffers[buffer].grow(nbytes)
        assert self.buffers[buffer].capacity == before + nbytes

    @precondition(lambda self: len(self.entries) < 12 and self.entries)
    @rule(which=PICKS, buffer=st.integers(0, 2))
    def copy(self, which, buffer):
        entry = self.pick(which)
        place = {"_context": self.ctx} if buffer == 2 else {"_buffer": self.buffers[buffer]}
        item = Node(entry.item, **place)
        again = self.add(Entry(item, entry.expected()))
        if buffer != 2 and self.buffers[buffer] is entry.item._buffer:
            again.refers_to, again.memory.keeps = entry.refers_to, entry.memory.keeps
        elif entry.refers_to is entry:
            # What refers to a part of itself does so in the copy.
            again.refers_to = again
        elif entry.memory.keeps is not None:
            again.keep_a_copied_leaf()

    @precondition(lambda self: self.entries)
    @rule(which=PICKS)
    def pickle(self, which):
        entry = self.pick(which)
        again = pickle.loads(pickle.dumps(entry.item))
        assert again._buffer is not entry.item._buffer
        self.check(again, entry.expected())

    @precondition(lambda self: self.entries)
    @rule(which=PICKS)
    def drop(self, which):
        entry = self.entries.pop(which % len(self.entries))
        for other in self.entries:
            if other.refers_to is entry:
                # What is referred to lives on.
                other.value["to"], other.refers_to = copy.deepcopy(entry.value["leaf"]), None

    @precondition(lambda self: len(self.entries) > 1)
    @rule(x=NUMBERS, lengths=st.lists(st.integers(0, 20_000), min_size=1, max_size=4))
    def change_all_at_once(self, x, lengths):
        """Each object by a thread of its own, while others make objects in the same buffers."""
        failures, made = [], []

        def guarded(work, *arguments):
            try:
                work(*arguments)
            except BaseException as failure:  # noqa: BLE001
                failures.append(failure)

        def change(entry, value):
            for step in range(20):
                entry.item.leaf.x = value + step
                for view in entry.views:
                    view += 1
            entry.value["leaf"]["x"] = value + 19
            entry.value["data"] += 20 * len(entry.views)

        def make(buffer):
            for length in lengths:
                made.append((xo.Float64[:](np.full(length, x), _buffer=buffer), length))

        threads = [threading.Thread(target=guarded, args=(change, entry, x + index)) for index, entry in enumerate(self.entries)]
        threads += [threading.Thread(target=guarded, args=(make, buffer)) for buffer in self.buffers]
        [thread.start() for thread in threads]
        [thread.join(60) for thread in threads]
        assert not failures, failures
        assert not any(thread.is_alive() for thread in threads)
        for item, length in made:
            assert np.array_equal(item.to_nparray(), np.full(length, x))

    def check(self, item, value):
        assert item.leaf._to_dict() == value["leaf"] and item.name == value["name"]
        assert np.array_equal(item.data.to_nparray(), value["data"])
        assert (item.to is None) == (value["to"] is None)
        assert value["to"] is None or item.to._to_dict() == value["to"]

    @invariant()
    def all_show_what_they_should(self):
        for entry in self.entries:
            self.check(entry.item, entry.expected())
            for view in entry.views:
                assert np.array_equal(view, entry.value["data"])

    @invariant()
    def objects_and_free_parts_do_not_overlap(self):
        for buffer in self.buffers:
            taken = [(entry.item._offset, entry.item._offset + entry.item._size) for entry in self.entries if entry.item._buffer is buffer]
            parts = sorted(taken + [(chunk.start, chunk.end) for chunk in buffer.chunks])
            assert all(before[1] <= after[0] for before, after in zip(parts, parts[1:], strict=False))
            assert all(0 <= start <= end <= buffer.capacity for start, end in parts)

    def teardown(self):
        """Nothing that is dropped stays in a buffer, but for objects that refer to each other in a cycle and what they refer to."""
        self.entries.clear()
        gc.collect()
        cycles = [memory for memory in self.memories if memory.keeps is not memory and memory in memory.chain()]
        stay = {kept for memory in cycles for kept in [memory, *memory.chain()]}
        for buffer in self.buffers:
            used = sum(memory.size for memory in stay if memory.buffer is buffer)
            assert buffer.get_free() == buffer.capacity - used


@pytest.mark.parametrize("device", ["cpu:1", "cpu:2", "opencl"])
def test_buffers_and_objects_do_what_a_model_does(device):
    try:
        pl.Context(device)
    except pl.DeviceError as error:
        missing(f"device {device} ({error})")

    class Machine(Objects):
        pass

    Machine.device = device
    Machine.TestCase.settings = settings(max_examples=15 if device == "opencl" else 25, stateful_step_count=30)
    Machine.TestCase().runTest()


def test_a_cycle_of_references_lives_as_long_as_its_buffer_unless_it_is_broken():
    buffer = pl.Context("cpu:1").new_buffer(4096)

    def cycle():
        first, second = (Node(leaf={"x": x, "n": 1}, data=[x], _buffer=buffer) for x in (1.0, 2.0))
        first.to, second.to = second.leaf, first.leaf
        return first

    first = cycle()
    gc.collect()
    assert first.to.x == 2.0 and buffer.get_free() == buffer.capacity - 2 * first._size
    first.to = None
    gc.collect()
    assert buffer.get_free() == buffer.capacity - first._size
    del first
    assert buffer.get_free() == buffer.capacity
    size = cycle()._size
    gc.collect()
    assert buffer.get_free() == buffer.capacity - 2 * size
