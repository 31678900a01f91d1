"""Bad input: each message word for word, and nothing is changed by what is refused."""

import copy
import re

import numpy as np
import pytest
from conftest import open_context

import parloop as pl
import parloop.objects as xo


class Inner(xo.Struct):
    k = xo.Int8
    name = xo.String


class Box(xo.Struct):
    x = xo.Float64
    n = xo.Int32
    text = xo.String
    after = xo.Int64
    a = xo.Float64[:]
    m = xo.Int16[2, 2]
    inner = Inner
    ref = xo.Ref(Inner)
    flag = xo.Bool


GOOD = {"x": 1.5, "n": 2, "text": "abc", "after": 7, "a": [1.0, 2.0, 3.0], "m": [[1, 2], [3, 4]], "inner": {"k": 1, "name": "in"}, "ref": None, "flag": True}

#: A field, a value that it cannot take, the error and its words when an object is made and when the field is set.
FIELDS = [
    ("x", "text", pl.errors.ObjectTypeError, "Box.x: Float64 was requested, but an object of type str was given"),
    ("x", None, pl.errors.ObjectTypeError, "Box.x: Float64 was requested, but an object of type NoneType was given"),
    ("x", [1], pl.errors.ObjectTypeError, "Box.x: Float64 was requested, but an object of type list was given"),
    ("x", 1j, pl.errors.ObjectRangeError, "Box.x: 0+1i does not fit into float64"),
    ("n", 2**31, pl.errors.ObjectRangeError, "Box.n: 2147483648 does not fit into int32"),
    ("n", 1.5, pl.errors.ObjectRangeError, "Box.n: 1.5 does not fit into int32"),
    ("n", float("nan"), pl.errors.ObjectRangeError, "Box.n: NaN does not fit into int32"),
    ("after", 2**63, pl.errors.ObjectRangeError, "Box.after: 9223372036854775808 does not fit into int64"),
    ("flag", 2, pl.errors.ObjectRangeError, "Box.flag: 2 does not fit into bool"),
    ("text", 1.5, pl.errors.ObjectTypeError, "Box.text: String was requested, but an object of type float was given"),
    ("text", b"bytes", pl.errors.ObjectTypeError, "Box.text: String was requested, but an object of type bytes was given"),
    ("text", "\ud800", UnicodeEncodeError, "'utf-8' codec can't encode character '\\ud800' in position 0: surrogates not allowed"),
    ("a", "text", pl.errors.ObjectTypeError, "Box.a: ArrNFloat64 was requested, but an object of type str was given"),
    ("a", 1.5, pl.errors.ObjectTypeError, "Box.a: ArrNFloat64 was requested, but an object of type float was given"),
    ("a", [1, "x", 2], pl.errors.ObjectTypeError, "Box.a: ArrNFloat64 was requested, but an object of type str was given"),
    ("a", np.array(["x"] * 3), pl.errors.ObjectTypeError, "Box.a: ArrNFloat64 was requested, but an object of type ndarray was given"),
    ("a", -1, ValueError, "ArrNFloat64 cannot have -1 items along an axis"),
    ("m", [[1, 2], [3]], pl.errors.ObjectValueError, "the lists for Arr2x2Int16 have different lengths along one axis"),
    ("m", [[1, 2, 3]] * 2, pl.errors.ObjectValueError, "Box.m has shape (2, 2), but the value has shape (2, 3)"),
    ("m", np.zeros((2, 2, 1)), pl.errors.ObjectValueError, "Box.m has shape (2, 2), but the value has shape (2, 2, 1)"),
    ("m", np.full((2, 2), 40000), pl.errors.ObjectRangeError, "Box.m[0, 0]: 40000 does not fit into int16"),
    ("inner", 3, pl.errors.ObjectTypeError, "Box.inner: Inner was requested, but an object of type int was given"),
    ("inner", {"z": 1}, pl.errors.UnknownFieldError, "Box.inner: Inner has no field `z`; its fields are k, name"),
    ("inner", {"k": 300, "name": ""}, pl.errors.ObjectRangeError, "Box.inner.k: 300 does not fit into int8"),
    ("inner", (1, "x", 3), pl.errors.ObjectTypeError, "Box.inner: Inner has 2 fields, but 3 values were given"),
    ("ref", 3, pl.errors.ObjectTypeError, "Box.ref: Inner was requested, but an object of type int was given"),
    ("ref", xo.Float64[:](3), pl.errors.ObjectTypeError, "Box.ref has type Inner, but an object of ArrNFloat64 was given"),
]


def message(call, error):
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value).__mro__.index(error) <= 1
    return str(caught.value)


@pytest.mark.parametrize(("name", "value", "error", "words"), FIELDS, ids=[f"{name}-{index}" for index, (name, *_) in enumerate(FIELDS)])
def test_a_field_refuses_what_it_cannot_take_and_nothing_is_changed(ctx, name, value, error, words):
    buffer = ctx.new_buffer(1000)
    box = Box(**GOOD, _buffer=buffer)
    before, free = buffer.read(0, 1000), buffer.get_free()
    assert message(lambda: Box(**{**GOOD, name: value}, _buffer=buffer), error) == words
    found = {
        message(lambda: setattr(box, name, value), error),
        message(lambda: box._update({**GOOD, name: value}), error),
        message(lambda: box._update({"x": 9.0, name: value}), error),
    }
    # Where only a field is given, the type of its value may stand for it.
    known = {words, words.removeprefix(f"Box.{name}: "), re.sub(r"^(Box\.\w+): \w+ ", r"\1 ", words), re.sub(r"^\w+ ", f"Box.{name} ", words)}
    assert found <= known
    assert (buffer.read(0, 1000), buffer.get_free(), buffer.capacity) == (before, free, 1000) and box._to_dict() == GOOD


def test_a_longer_text_does_not_reach_its_neighbour(ctx):
    box = Box(**GOOD, _context=ctx)
    before = box._bytes()
    words = "Box.text: text of 8 bytes does not fit into a string with room for 7; its size is fixed at creation"
    assert message(lambda: setattr(box, "text", "12345678"), pl.errors.ObjectValueError) == words
    assert message(lambda: box._update({"after": 8, "text": "12345678"}), pl.errors.ObjectValueError) == words
    assert box._bytes() == before and (box.text, box.after) == ("abc", 7)
    box.text = "1234567"
    assert (box.text, box.after) == ("1234567", 7)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda box: setattr(box, "a", [1, 2]), pl.errors.ObjectValueError, "Box.a has shape (3), but the value has shape (2)"),
        (lambda box: setattr(box, "a", 4), pl.errors.ObjectValueError, "Box.a has shape (3), but the value has shape (4)"),
        (lambda box: box.a.__setitem__(3, 1), pl.errors.ObjectIndexError, "ArrNFloat64: index [3] is out of bounds for shape (3)"),
        (lambda box: box.a.__setitem__(-4, 1), pl.errors.ObjectIndexError, "ArrNFloat64: index [-4] is out of bounds for shape (3)"),
        (lambda box: box.a.__setitem__(0, "x"), pl.errors.ObjectTypeError, "Float64 was requested, but an object of type str was given"),
        (lambda box: box.m.__setitem__((0, 0), 40000), pl.errors.ObjectRangeError, "Int16: 40000 does not fit into int16"),
        (lambda box: box.m[0, 2], pl.errors.ObjectIndexError, "Arr2x2Int16: index [0, 2] is out of bounds for shape (2, 2)"),
        (lambda box: box.m[0, 0, 0], pl.errors.ObjectIndexError, "Arr2x2Int16: index [0, 0, 0] is out of bounds for shape (2, 2)"),
        (lambda box: box.a._get_offset(3), pl.errors.ObjectIndexError, "ArrNFloat64: index [3] is out of bounds for shape (3)"),
        (lambda box: box.m._get_offset(1), IndexError, "expected one integer for each axis"),
        (lambda box: box._get_offset("y"), pl.errors.UnknownFieldError, "Box has no field `y`; its fields are x, n, text, after, a, m, inner, ref, flag"),
        (lambda box: box._update({"y": 1}), pl.errors.UnknownFieldError, "Box has no field `y`; its fields are x, n, text, after, a, m, inner, ref, flag"),
        (lambda box: box._update(3), pl.errors.ObjectTypeError, "Box was requested, but an object of type int was given"),
        (lambda box: delattr(box, "x"), AttributeError, "Field x cannot be deleted"),
        (lambda box: box.__init__(**GOOD), RuntimeError, "the object is already initialised"),
        (lambda box: setattr(box, "n", 10**40), pl.errors.ObjectRangeError, f"{10**40} does not fit into any numeric type"),
        (lambda box: Box.x.__get__(Inner(k=1, name="")), TypeError, "the field belongs to Box, not to this object"),
    ],
    ids=range(17),
)
def test_a_part_refuses_what_it_cannot_take_and_nothing_is_changed(ctx, change, error, words):
    box = Box(**GOOD, _context=ctx)
    before = box._bytes()
    assert message(lambda: change(box), error) == words
    assert box._bytes() == before


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda **place: Box(**GOOD, y=1, **place), pl.errors.UnknownFieldError, "Box has no field `y`; its fields are x, n, text, after, a, m, inner, ref, flag"),
        (lambda **place: Box({**GOOD, 1: 1}, **place), pl.errors.UnknownFieldError, "Box has no field `1`; its fields are x, n, text, after, a, m, inner, ref, flag"),
        (lambda **place: Box(**place), pl.errors.ObjectValueError, "Box.a needs a value, because its size depends on it"),
        (lambda **place: Box(GOOD, x=1, **place), pl.errors.ObjectTypeError, "Box takes fields by name or one value, not both"),
        (lambda **place: Box(*range(10), **place), pl.errors.ObjectTypeError, "Box has 9 fields, but 10 values were given"),
        (lambda **place: Box("text", **place), pl.errors.ObjectTypeError, "Box was requested, but an object of type str was given"),
        (lambda **place: xo.Float64[:](3, x=1, **place), TypeError, "ArrNFloat64 takes no arguments ['x']"),
        (lambda **place: xo.Float64[:](**place), pl.errors.ObjectValueError, "ArrNFloat64 needs a value, because its size depends on it"),
        (lambda **place: xo.Float64[:, :](3, **place), pl.errors.ObjectValueError, "ArrNxMFloat64 leaves 2 dimensions open, but 1 were given"),
        (lambda **place: xo.Float64[3](4, **place), pl.errors.ObjectValueError, "Arr3Float64 leaves 0 dimensions open, but 1 were given"),
        (lambda **place: xo.Float64[:](np.zeros((2, 2)), **place), pl.errors.ObjectValueError, "ArrNFloat64 has shape (:), but the value has shape (2, 2)"),
        (lambda **place: xo.Float64[:](x for x in [1]), pl.errors.ObjectTypeError, "ArrNFloat64 was requested, but an object of type generator was given"),
        (lambda **place: xo.Float64[:](2**62, **place), pl.errors.ObjectValueError, "array `ArrNFloat64` is too large to address"),
        (lambda **place: xo.Float64[:](2**50, **place), pl.OutOfMemoryError, None),
        (lambda **place: xo.Int8[:](xo.Int64[:]([300]), **place), pl.errors.ObjectRangeError, "ArrNInt8[0]: 300 does not fit into int8"),
        (lambda **place: xo.Int64[:](np.array([0.5]), **place), pl.errors.ObjectRangeError, "ArrNInt64[0]: 0.5 does not fit into int64"),
        (lambda **place: xo.String(-1, **place), ValueError, "a string cannot have room for -1 bytes"),
        (lambda **place: xo.String("a", "b", **place), TypeError, "String takes one value, but 2 were given"),
        (lambda **place: xo.String.fixed(16)("12345678", **place), pl.errors.ObjectValueError, None),
        (lambda **place: Inner(xo.Float64[:](3), **place), pl.errors.ObjectTypeError, "Inner has type Inner, but an object of ArrNFloat64 was given"),
    ],
    ids=range(20),
)  # fmt: skip
def test_what_cannot_be_made_is_refused_and_takes_no_memory(ctx, make, error, words):
    buffer = ctx.new_buffer(1000)
    found = message(lambda: make(_buffer=buffer), error)
    assert words is None or found == words
    assert (buffer.get_free(), buffer.capacity) == (1000, 1000) and not any(buffer.read(0, 1000))
    assert message(lambda: make(_context=ctx), error)


def test_a_place_that_does_not_exist_is_refused(ctx):
    buffer, other = ctx.new_buffer(100), open_context("cpu:1" if ctx.device.name != "cpu:1" else "cpu:3")
    make = lambda **place: xo.Float64[2](**place)  # noqa: E731
    assert message(lambda: make(_offset=8), ValueError) == "Cannot set `_offset` without `_buffer`"
    assert message(lambda: make(_buffer=buffer, _context=other), ValueError) == f"Mismatched buffer ({buffer!r}) and context ({other!r}): give one of them"
    assert message(lambda: make(_buffer=3), TypeError) == "_buffer must be a Buffer, not 3"
    assert message(lambda: make(_context=3), TypeError) == "a context needs a device name, a Device, a Stream or a pyopencl queue, not int"
    assert message(lambda: make(_buffer=buffer, _offset="there"), ValueError) == '_offset must be "aligned", "packed" or a number, not there'
    assert message(lambda: make(_buffer=buffer, _offset=-8), pl.errors.MemoryRangeError) == "offset -8 is before the start of the buffer"
    assert message(lambda: make(_buffer=buffer, _offset=90), pl.errors.MemoryRangeError) == "an object of 16 bytes at 90 does not fit into a buffer of 100 bytes"
    assert message(lambda: make(_buffer=buffer, _offset=2**63 - 1), pl.errors.MemoryRangeError).startswith("an object of 16 bytes at ")
    assert buffer.get_free() == 100
    assert make(_buffer=buffer, _context=ctx)._buffer is buffer


def test_bytes_that_are_no_object_are_noticed(ctx):
    buffer = ctx.new_buffer(64)
    buffer.write(b"\xff" * 64)
    words = "its bytes are invalid ({}); they were overwritten or never held such an object"
    assert message(lambda: Box._from_buffer(buffer, 0), pl.errors.ObjectValueError) == "Box: " + words.format("its size")
    assert message(lambda: Box._from_buffer(buffer, 60), pl.errors.MemoryRangeError) == "a read of 8 bytes at 60 does not fit into a buffer of 64 bytes"
    assert message(lambda: Box._from_buffer(buffer, -8), pl.errors.MemoryRangeError) == "offset -8 is before the start of the buffer"
    buffer.write(np.array([1000]))
    assert message(lambda: Box._from_buffer(buffer, 0), pl.errors.ObjectValueError) == "Box: " + words.format("it extends past the end of its buffer")


def test_a_size_that_does_not_cover_the_fields_is_noticed(ctx):
    class Wide(xo.Struct):
        table = xo.Float64[4_000_000]
        a = xo.Float64
        tail = xo.Float64[:]

    buffer = ctx.new_buffer(64)
    buffer.write(np.array([64, 0, 0, 0, 0, 0, 0, 0]))
    words = "Wide: its bytes are invalid (its size); they were overwritten or never held such an object"
    assert message(lambda: Wide._from_buffer(buffer, 0), pl.errors.ObjectValueError) == words
    assert message(lambda: setattr(Wide._from_buffer(buffer, 0), "a", 1.0), pl.errors.ObjectValueError) == words

    class Nested(xo.Struct):
        a = xo.Float64
        wide = Wide

    class Pointing(xo.Struct):
        to = xo.Ref(Wide)

    buffer.write(np.array([64, 0, 48, 0, 0, 0, 0, 0]))
    assert message(lambda: Nested._from_buffer(buffer, 0), pl.errors.ObjectValueError).startswith("Nested: its bytes are invalid (its size)")
    buffer.write(np.array([8, 56, 0, 0, 0, 0, 0, 0]))
    assert message(lambda: Pointing._from_buffer(buffer, 0).to, pl.errors.ObjectValueError) == words


@pytest.mark.parametrize("word", range(8))
@pytest.mark.parametrize("value", [-1, 0, 2**40, 2**63 - 1, -(2**63), 17])
def test_an_overwritten_object_is_read_wrongly_or_not_at_all_but_never_outside_its_buffer(ctx, word, value):
    class Odd(xo.Struct):
        texts = xo.String[:]
        grid = xo.Float64[:, :]
        ref = xo.Ref(xo.Int64[:])

    buffer = ctx.new_buffer(400)
    odd = Odd(texts=["a", "b"], grid=[[1, 2]], ref=[1], _buffer=buffer)
    buffer.write(np.array([value]), odd._offset + 8 * word)
    for use in (odd._to_dict, lambda: repr(odd), lambda: Odd(odd), lambda: odd.grid.to_nparray(), lambda: odd._update({"grid": [[1, 2]]}), lambda: odd.ref and odd.ref[0]):
        try:
            use()
        except (pl.ObjectError, pl.DeviceError, UnicodeDecodeError):
            pass


def test_an_object_that_was_never_made_says_so():
    bare = Box.__new__(Box)
    for use in (lambda: bare.x, lambda: repr(bare), lambda: bare._buffer, lambda: setattr(bare, "x", 1)):
        assert message(use, RuntimeError) == "the object is not initialised; call super().__init__() first"


def test_lists_that_change_while_they_are_read_are_no_danger(ctx):
    class Shrinking(list):
        def __len__(self):
            return super().__len__() + 3

    assert message(lambda: xo.Float64[:](Shrinking([1.0])), pl.errors.ObjectValueError) == "the lists for ArrNFloat64 have different lengths along one axis"

    class Evil:
        def __init__(self, values):
            self.values = values

        def __float__(self):
            self.values.clear()
            return 1.0

        __index__ = None

    values = [1.0]
    values += [Evil(values)] * 5
    with pytest.raises((pl.ObjectError, TypeError)):
        xo.Float64[:](values, _context=ctx)


def test_a_class_whose_body_fails_leaves_nothing_behind():
    with pytest.raises(TypeError, match="^Broken.b: 'x' is not a type of parloop.objects$"):
        type(xo.Struct)("Broken", (xo.Struct,), {"a": xo.Int64, "b": xo.Field("x")})
    field = xo.Field(xo.Int64, default=2)
    first, second = (type(xo.Struct)(name, (xo.Struct,), {"a": field}) for name in ("First", "Second"))
    assert (first().a, second().a) == (2, 2) and copy.copy(first(a=3)).a == 3


class Magnet(xo.Struct):
    length = xo.Float64
    k1 = xo.Float64
    n = xo.Int32


class HybridMagnet(xo.HybridClass):
    _xofields = {"length": xo.Float64, "k1": xo.Float64, "inner": xo.Float64}
    _rename = {"inner": "strength"}
    lengths = None

    def __init__(self, **named):
        self.comment = "set before there is a struct"
        super().__init__(**named)


@pytest.mark.parametrize("kind", [Magnet, HybridMagnet])
def test_an_attribute_that_is_nearly_a_field_is_an_error(kind):
    magnet = kind(length=2)
    for name in ["lenght", "Length", "legth", "lengthh"]:
        with pytest.raises(AttributeError) as caught:
            setattr(magnet, name, 3)
        advice = f"(for an attribute of that name, write `{name} = None` in the class body)"
        assert str(caught.value) == f"{kind.__name__} has no field `{name}`; did you mean `length`? {advice}"
        assert isinstance(caught.value, pl.errors.UnknownFieldError)
        assert not hasattr(magnet, name)
    magnet.length = 4
    assert magnet.length == 4
    # Other names are Python's own.
    magnet.k2, magnet._lenght, magnet.m, magnet.colour = 1, 2, 3, "red"
    assert (magnet.k2, magnet._lenght, magnet.m, magnet.colour) == (1, 2, 3, "red")


def test_renamed_fields_and_attributes_of_the_class_are_known():
    magnet = HybridMagnet(length=1, strength=5)
    assert magnet.comment == "set before there is a struct"
    magnet.lengths = [1, 2]
    assert magnet.lengths == [1, 2]
    with pytest.raises(AttributeError, match="did you mean `strength`"):
        magnet.strenght = 3
