"""Hybrid classes, linked arrays and JSON."""

import json

import numpy as np
import pytest
from conftest import DEVICES, open_context

import parloop as pl
import parloop.objects as xo


class Inner(xo.HybridClass):
    _xofields = {"a": xo.Float64, "v": xo.Float64[:]}


class Outer(xo.HybridClass):
    _xofields = {"inner": Inner, "n": xo.Field(xo.Int64, default=3), "name": xo.String, "ref": xo.Ref(Inner)}
    _rename = {"n": "number"}
    _skip_in_to_dict = ["name"]
    _store_in_to_dict = ["extra"]

    def __init__(self, extra=None, **named):
        super().__init__(**named)
        self.extra = extra


def inner(**place):
    return Inner(a=1.5, v=[1, 2, 3], **place)


def outer(**place):
    return Outer(inner={"a": 1, "v": [4, 5]}, name="out", extra="more", **place)


def host(array):
    return np.asarray(array.numpy() if hasattr(array, "numpy") else array).tolist()


def message(call, error):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_fields_are_attributes_and_arrays_are_views(ctx):
    item = inner(_context=ctx)
    item.v[1] = 20
    item.v += 1
    item.a = 7
    assert (item.a, host(item.v)) == (7, [2, 21, 4]) and isinstance(item.v, np.ndarray if ctx.device.kind == "cpu" else pl.Array)
    item.v = [1, 1, 1]
    assert host(item._xobject.v.to_nplike()) == [1, 1, 1] and item._context is ctx and item._buffer is item._xobject._buffer
    assert Inner._XoStruct.__name__ == "InnerData" and Inner._XoStruct._DressingClass is Inner


def test_inner_hybrids_are_dressed_and_share_the_memory(ctx):
    item = outer(_context=ctx)
    assert isinstance(item.inner, Inner) and host(item.inner.v) == [4, 5]
    item.inner.a = 9
    assert item._xobject.inner.a == 9 and item.inner._buffer is item._buffer
    item.inner = Inner(a=2, v=[7, 8], _context=ctx)
    assert (item._xobject.inner.a, host(item.inner.v)) == (2, [7, 8])


def test_fields_can_be_renamed_and_have_defaults(ctx):
    item = outer(_context=ctx)
    assert item.number == 3 and not hasattr(item, "n") and item._xobject.n == 3
    item.number = 8
    assert item._xobject.n == 8 and Outer(number=4, inner={"v": 0}, name="", _context=ctx).number == 4
    assert (Outer._xo_fnames, Outer._py_fnames) == (["inner", "n", "name", "ref"], ["inner", "number", "name", "ref"])


def test_references_must_be_in_the_same_buffer(ctx):
    item = outer(_buffer=ctx.new_buffer(500))
    near, far = inner(_buffer=item._buffer), inner(_context=ctx)
    item.ref = near
    near.a = 100
    assert item.ref is near and item._xobject.ref.a == 100
    words = "Cannot make a reference to an object in a different buffer."
    assert message(lambda: setattr(item, "ref", far), MemoryError) == words
    assert message(lambda: Outer(inner={"v": 0}, name="", ref=far, _context=ctx), MemoryError) == words
    item.ref = None
    assert item.ref is None and item._xobject.ref is None


def test_move_takes_the_data_elsewhere(ctx):
    for name in DEVICES:
        item = inner(_context=ctx)
        other = open_context(name)
        item.move(_context=other)
        assert item._context is other and (item.a, host(item.v)) == (1.5, [1, 2, 3])
        buffer = ctx.new_buffer(500)
        item.move(_buffer=buffer)
        assert item._buffer is buffer and host(item.v) == [1, 2, 3]
    item = outer(_context=ctx)
    assert message(item.inner.move, MemoryError) == "This object cannot be moved, likely because it lives within another. Please, make a copy."
    assert message(item.move, MemoryError) == "This object cannot be moved, as it contains references to other objects."


def test_copies_have_their_own_data_and_python_attributes(ctx):
    for name in DEVICES:
        other = open_context(name)
        item = outer(_context=ctx)
        item.inner.mark = "seen"
        copy = item.copy(_context=other)
        copy.inner.a = 50
        assert (item.inner.a, copy.inner.a, copy.extra, copy.inner.mark, copy._context) == (1, 50, "more", "seen", other)
    assert item.copy()._context is ctx


def test_dicts_hold_what_differs_from_the_defaults_and_make_the_object_again(ctx):
    item = outer(_context=ctx)
    found = item.to_dict()
    assert found["__class__"] == "Outer" and found["extra"] == "more" and "name" not in found and "number" not in found
    assert {**found["inner"], "v": host(found["inner"]["v"])} == {"__class__": "Inner", "a": 1.0, "v": [4, 5]}
    item.number = 6
    assert item.to_dict()["number"] == 6
    small = inner(_context=ctx)
    for text in (small.to_dict(), json.loads(json.dumps(small.to_dict(), cls=xo.JEncoder))):
        again = Inner.from_dict(text, _context=ctx)
        assert (again.a, host(again.v), again._context) == (1.5, [1, 2, 3], ctx)


def test_unknown_names_are_refused(ctx):
    assert message(lambda: Inner(v=0, b=1, _context=ctx), NameError) == "Invalid keyword argument `b`; the fields are a, v"
    assert Inner(v=1, b=2, _kwargs_name_check=False, _context=ctx).a == 0


def test_an_object_is_dressed_as_it_is(ctx):
    struct = Inner._XoStruct(a=3, v=[1], _context=ctx)
    item = Inner(_xobject=struct)
    item.a = 4
    assert struct.a == 4 and repr(item).startswith("Inner(a=4, v=")


def test_subclasses_keep_the_struct_or_have_their_own(ctx):
    class Same(Inner):
        def doubled(self):
            return 2 * self.a

    class Other(Inner):
        _xofields = {**Inner._xofields, "c": xo.Int64}
        _cname = "OtherName"

    assert Same._XoStruct is Inner._XoStruct and Same(a=2, v=0, _context=ctx).doubled() == 4
    assert Other._XoStruct.__name__ == "OtherName" and Other(c=5, v=0, _context=ctx).c == 5


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"_xofields": {"a": xo.Int8, "b": xo.Int8}, "_rename": {"a": "b"}}, "Cannot rename fields to names of other fields"),
        ({"_xofields": {"a": xo.Int8, "b": xo.Int8}, "_rename": {"a": "c", "b": "c"}}, "Two fields are renamed to the same name"),
    ],
)
def test_renames_that_clash_are_refused(body, words):
    assert message(lambda: type(xo.HybridClass)("Clash", (xo.HybridClass,), body), ValueError) == words


def test_a_hybrid_class_brings_kernels(ctx):
    class Counter(xo.HybridClass):
        _xofields = {"counts": xo.Int64[:]}
        _extra_c_sources = ["GPUKERN void count(CounterData c, int64_t by) { VECTORIZE_OVER(i, CounterData_len_counts(c)) CounterData_set_counts(c, i, CounterData_get_counts(c, i) + by); END_VECTORIZE }"]
        _kernels = {"count": xo.Kernel(args=[xo.Arg(xo.ThisClass, name="c"), xo.Arg(xo.Int64, name="by")])}

    item = Counter(counts=[1, 2], _context=ctx)
    item.compile_kernels()
    ctx.kernels.count(c=item, by=10)
    assert host(item.counts) == [11, 12]


def test_json_takes_numpy_and_device_values(ctx):
    values = {"a": np.arange(3), "b": np.float64(0.5), "c": np.bool_(True), "d": ctx.array(np.ones(2)), "e": [np.int8(1)]}
    assert json.loads(json.dumps(values, cls=xo.JEncoder)) == {"a": [0, 1, 2], "b": 0.5, "c": True, "d": [1, 1], "e": [1]}
    assert message(lambda: json.dumps(object(), cls=xo.JEncoder), TypeError).endswith("is not JSON serializable")


class Container:
    """Sets items twice as large as they are given."""

    def __init__(self, ctx, mode):
        self.array = ctx.array(np.arange(4.0)) if ctx.device.kind != "cpu" else np.arange(4.0)
        self.linked = xo.LinkedArray.from_array(self.array, mode=mode, container=self, container_setitem_name="set_items")

    def set_items(self, index, value):
        self.array[index] = 2 * np.asarray(value)


def test_a_linked_array_sets_items_by_its_container(ctx):
    container = Container(ctx, "setitem_from_container")
    linked = container.linked
    linked[1] = 10
    linked[2:] = [5, 6]
    assert host(container.array) == [0, 20, 10, 12] and host(linked[1:]) == [20, 10, 12] and len(linked) == 4
    linked += 1
    assert host(container.array) == [2, 42, 22, 26] and linked is container.linked
    with xo.BypassLinked(container):
        linked[0] = 7
    linked[3] = 1
    assert host(container.array) == [7, 42, 22, 2]
    assert host(linked * 2) == [14, 84, 44, 4] and host(1 + linked) == [8, 43, 23, 3] and host(-linked) == [-7, -42, -22, -2]
    copy = linked.copy()
    copy[0] = 0
    assert host(container.array)[0] == 7


def test_a_linked_array_may_be_read_only(ctx):
    container = Container(ctx, "readonly")

    def add():
        container.linked += 1

    for change in (lambda: container.linked.__setitem__(0, 1), add):
        assert message(change, ValueError) == "This array is read only"
    assert host(container.array) == [0, 1, 2, 3] and host(container.linked + 1) == [1, 2, 3, 4]
    free = Container(ctx, None)
    free.linked[0] = 5
    assert host(free.array) == [5, 1, 2, 3]


def test_linked_arrays_have_one_axis_and_a_known_mode(ctx):
    assert message(lambda: xo.LinkedArray.from_array(np.zeros((2, 2))), ValueError) == "a linked array must have one axis, not 2"
    assert message(lambda: Container(ctx, "other"), ValueError) == 'mode must be None, "readonly" or "setitem_from_container", not \'other\''


def test_a_copy_keeps_what_its_references_are_dressed_as():
    class Parent(xo.HybridClass):
        _xofields = {"a": xo.Float64}

    class Child(xo.HybridClass):
        _xofields = {"parent": xo.Ref(Parent._XoStruct), "b": xo.Float64}

    buffer = pl.Context("cpu:1").new_buffer()
    parent = Parent(a=2, _buffer=buffer)
    parent.label = "mother"
    child = Child(parent=parent, b=3, _buffer=buffer)
    same, other = child.copy(_buffer=buffer), child.copy()
    for copied in (same, other):
        assert isinstance(copied.parent, Parent) and (copied.parent.a, copied.parent.label, copied.b) == (2, "mother", 3)
    parent.a = 5
    assert same.parent.a == same._xobject.parent.a and other.parent.a == other._xobject.parent.a == 2


def test_names_with_an_underscore_and_frozen_classes_are_the_business_of_subclasses():
    class Material(xo.HybridClass):
        _xofields = {"z": xo.Float64}
        _frozen = False

        def __setattr__(self, name, value):
            if self._frozen:
                raise ValueError(f"frozen: {name}")
            super().__setattr__(name, value)

    class Collimator(xo.HybridClass):
        _xofields = {"material": Material}

    material = Material(z=6, _note="not a field")
    material._frozen = True
    assert Collimator(material=material).material.z == 6
