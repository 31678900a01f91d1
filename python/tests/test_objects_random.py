"""Objects of random classes: Python and C on every device see the same values, and no way of copying changes them."""

import pickle

import pytest
from conftest import DEVICES, open_context
from hypothesis import given, settings
from random_objects import MOST, changed, kernels, leaves, objects, seen_by_c

import parloop.objects as xo


@given(objects())
@settings(max_examples=60)
def test_python_reads_back_what_it_made(made):
    cls, value = made
    for name in DEVICES:
        item = cls(value, _context=open_context(name))
        assert item._to_dict() == value
        assert cls(**item._to_dict())._to_dict() == value
        assert cls(item)._bytes() == item._bytes()


@given(objects())
@settings(max_examples=30)
def test_copies_to_other_devices_and_back_are_equal(made):
    cls, value = made
    first = cls(value, _context=open_context(DEVICES[0]))
    item = first
    for name in DEVICES:
        buffer = open_context(name).new_buffer(16)
        kept = xo.Float64[:](3, _buffer=buffer)
        item = cls(item, _buffer=buffer)
        assert item._to_dict() == value
        assert cls(item, _buffer=buffer, _offset="packed")._to_dict() == value
        assert kept.to_nparray().tolist() == [0, 0, 0]
    assert cls(item, _context=first._context)._to_dict() == value


@given(objects())
@settings(max_examples=30)
def test_values_given_later_are_read_back_and_bad_ones_change_nothing(made):
    cls, value = made
    for name in (DEVICES[0], DEVICES[-1]):
        item = cls(value, _context=open_context(name))
        item._update(value)
        assert item._to_dict() == value
        before = item._bytes()
        with pytest.raises(TypeError):
            item._update({**value, "zz": 1})
        assert item._bytes() == before
        for field in cls._fields:
            setattr(item, field.name, value[field.name])
        assert item._to_dict() == value


@given(objects())
@settings(max_examples=6)
def test_c_reads_and_changes_what_python_made(made):
    cls, value = made
    found = list(leaves(cls, value, "o"))
    whole = len(found) <= MOST
    found = found[:MOST]
    text, described = kernels(cls, found)
    for name in DEVICES:
        context = open_context(name)
        built = xo.build_kernels(context, described, [text])
        item = cls(value, _context=context)
        seen, wanted = seen_by_c(built, item, found)
        assert seen == wanted
        built["change"](o=item)
        if whole:
            assert item._to_dict() == changed(cls, value)
        # Objects with references: see `test_a_struct_at_the_beginning_of_another_is_taken_back_from_a_copy`.
        for other in {DEVICES[0], DEVICES[-1]} - {name}:
            foreign = cls(value, _context=open_context(other))
            built["change"](o=foreign)
            assert foreign._to_dict() == item._to_dict()


class Inner(xo.Struct):
    a = xo.Int64
    ref = xo.Ref(xo.Float64[:])


class Outer(xo.Struct):
    inner = Inner


def test_a_struct_at_the_beginning_of_another_is_taken_back_from_a_copy(gpu):
    source = "GPUKERN void change(Outer o) { Outer_set_inner_a(o, 7); }"
    built = xo.build_kernels(open_context("cpu:1"), {"change": xo.Kernel(args=[xo.Arg(Outer, name="o")], n_threads=1)}, [source])
    item = Outer(inner={"a": 1}, _context=gpu)
    built["change"](o=item)
    assert item.inner.a == 7


class Part(xo.Struct):
    flag = xo.Bool
    name = xo.String
    values = xo.Int16[:, 2]


class Union(xo.UnionRef):
    _reftypes = (Part, xo.Float64[:])


class Whole(xo.Struct):
    x = xo.Complex64
    part = Part
    parts = Part[2]
    ref = xo.Ref(Part)
    union = Union
    unions = Union[:]
    refs = xo.Ref(xo.Float32[:])[2]
    texts = xo.String[:]
    turned = xo.Float64[:1, :0]


PART = {"flag": True, "name": "à", "values": [[1, 2], [3, 4], [5, 6]]}
WHOLE = {
    "x": 1 + 2j,
    "part": PART,
    "parts": [PART, {**PART, "name": "longer than the other"}],
    "ref": PART,
    "union": ("Part", PART),
    "unions": [None, ("ArrNFloat64", [1.5, 2.5]), ("Part", PART)],
    "refs": [None, [0.5]],
    "texts": ["", "a", "bc"],
    "turned": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
}


def test_c_reads_and_changes_an_object_with_everything(ctx):
    found = list(leaves(Whole, WHOLE, "o"))
    text, described = kernels(Whole, found)
    built = xo.build_kernels(ctx, described, [text])
    item = Whole(WHOLE, _context=ctx)
    seen, wanted = seen_by_c(built, item, found)
    assert len(found) > 60 and seen == wanted
    built["change"](o=item)
    assert item._to_dict() == changed(Whole, WHOLE)


def test_an_object_with_everything_is_pickled(ctx):
    item = Whole(WHOLE, _context=ctx)
    again = pickle.loads(pickle.dumps(item))
    assert type(again) is Whole and again._to_dict() == WHOLE and again._bytes() == item._bytes()
    assert again._context.device == ctx.device
