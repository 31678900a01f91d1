"""The bytes of objects, word by word, and what classes say of their objects."""

import enum
import gc
import struct
import weakref
from typing import Any, ClassVar

import numpy as np
import pytest
from random_objects import ALL_SCALARS

import parloop as pl
import parloop.objects as xo

NULL = -(2**63)


def words(item):
    """The bytes of an object as signed words."""
    data = item._bytes()
    assert len(data) == item._size
    return list(struct.unpack(f"<{len(data) // 8}q", data))


def text(value, size):
    """The words of a text with its size in front."""
    data = value.encode().ljust(size - 8, b"\0")
    return [size, *struct.unpack(f"<{len(data) // 8}q", data)]


def doubles(*values):
    return list(struct.unpack(f"<{len(values)}q", struct.pack(f"<{len(values)}d", *values)))


@pytest.mark.parametrize("scalar", ALL_SCALARS, ids=repr)
def test_a_number_is_its_native_bytes_at_the_start_of_a_slot(ctx, scalar):
    class Two(xo.Struct):
        a = scalar
        b = scalar

    slot = max(8, scalar._dtype.itemsize)
    item = Two(a=1, b=0, _context=ctx)
    assert Two._size == item._size == 2 * slot
    assert item._bytes() == np.array(1, scalar._dtype).tobytes().ljust(2 * slot, b"\0")
    assert (item.a, item.b) == (1, 0)
    item.b = 1
    assert item._bytes()[slot : slot + scalar._size] == scalar(1).tobytes()


@pytest.mark.parametrize(("value", "size"), [("", 16), ("abc", 16), ("1234567", 16), ("12345678", 24), ("é" * 4, 24)])
def test_a_string_is_its_size_its_bytes_a_nul_and_padding(ctx, value, size):
    item = xo.String(value, _context=ctx)
    assert words(item) == text(value, size) and item.to_str() == value
    assert item.to_bytes() == value.encode().ljust(size - 8, b"\0")


def test_a_string_can_reserve_room(ctx):
    item = xo.String(20, _context=ctx)
    assert (item._size, item.to_str()) == (28, "")
    item.update("x" * 19)
    assert item == "x" * 19 and item._size == 28


def test_fields_of_static_size_follow_each_other_in_slots(ctx):
    class Mixed(xo.Struct):
        a = xo.Int8
        b = xo.Int16
        c = xo.Float32
        d = xo.Float64

    assert [field.offset for field in Mixed._fields] == [0, 8, 16, 24] and Mixed._size == 32
    item = Mixed(a=-1, b=2, c=1.5, d=2.5, _context=ctx)
    assert item._bytes() == struct.pack("<b7xh6xf4xd", -1, 2, 1.5, 2.5)
    assert [item._get_offset(name) - item._offset for name in "abcd"] == [0, 8, 16, 24]


def test_a_struct_with_dynamic_fields_holds_its_size_and_their_offsets(ctx):
    class Dynamic(xo.Struct):
        first = xo.Float64[:]
        x = xo.Int64
        second = xo.String
        third = xo.Int64[:]

    item = Dynamic(first=[1, 2], x=7, second="ab", third=[5], _context=ctx)
    # its size, x, where the second and the third dynamic field are; the first follows at once
    assert words(item) == [104, 7, 64, 80, 32, 2, *doubles(1, 2), *text("ab", 16), 24, 1, 5]
    assert Dynamic._size is None
    assert [field.is_reference for field in Dynamic._fields] == [False, False, True, True]
    assert [field.name for field in Dynamic._s_fields] == ["x"] and [field.name for field in Dynamic._d_fields] == ["first", "second", "third"]


ARRAYS = [
    # class, value, words
    (xo.Float64[2], [1, 2], doubles(1, 2)),
    (xo.Int8[3], [1, 2, 3], [0x030201]),
    (xo.Int16[2, 3], [[1, 2, 3], [4, 5, 6]], [0x0004000300020001, 0x00060005]),
    (xo.Int64[:], [5, 6], [32, 2, 5, 6]),
    (xo.Int8[:], [1, 2, 3], [24, 3, 0x030201]),
    (xo.Int64[:, 2], [[1, 2], [3, 4]], [64, 2, 16, 8, 1, 2, 3, 4]),
    (xo.Int64[:, :], [[1, 2, 3]], [64, 1, 3, 24, 8, 1, 2, 3]),
    (xo.Int64[:1, :0], [[1, 2], [3, 4], [5, 6]], [88, 3, 2, 8, 24, 1, 3, 5, 2, 4, 6]),
    (xo.Int64[2:1, 3:0], [[1, 2, 3], [4, 5, 6]], [1, 4, 2, 5, 3, 6]),
    (xo.Int64[:0, 2:2, 2:1], [[[1, 2], [3, 4]]], [72, 1, 32, 8, 16, 1, 3, 2, 4]),
    (xo.String[2], ["a", "bcdefghi"], [64, 24, 40, *text("a", 16), *text("bcdefghi", 24)]),
    (xo.String[:], ["a", "b"], [64, 2, 32, 48, *text("a", 16), *text("b", 16)]),
    (xo.Int64[:][2], [[1], [2, 3]], [80, 24, 48, 24, 1, 1, 32, 2, 2, 3]),
]


@pytest.mark.parametrize(("cls", "value", "expected"), ARRAYS, ids=lambda value: getattr(value, "__name__", ""))
def test_an_array_is_its_size_dimensions_strides_offsets_and_items(ctx, cls, value, expected):
    item = cls(value, _context=ctx)
    assert words(item) == expected
    assert item._to_dict() == value


def test_references_count_from_their_own_slot_and_null_is_the_least_number(ctx):
    class Line(xo.Struct):
        n = xo.Int64
        ref = xo.Ref(xo.Int64[:])

    buffer = ctx.new_buffer(400)
    points = xo.Int64[:]([1, 2], _buffer=buffer)
    line = Line(n=1, ref=points, _buffer=buffer)
    assert words(line) == [1, points._offset - (line._offset + 8)]
    line.ref = None
    assert words(line) == [1, NULL] and line.ref is None
    assert words(Line(_context=ctx)) == [0, NULL]


def test_unions_hold_an_offset_and_the_number_of_a_member(ctx):
    class One(xo.Struct):
        a = xo.Int64

    class Any(xo.UnionRef):
        _reftypes = (One, xo.Float64[:])

    class Holder(xo.Struct):
        n = xo.Int64
        any = Any

    buffer = ctx.new_buffer(400)
    array = xo.Float64[:](2, _buffer=buffer)
    holder = Holder(n=1, any=array, _buffer=buffer)
    assert words(holder) == [1, array._offset - (holder._offset + 8), 1]
    holder.any = One(a=5)
    assert words(holder)[2] == 0 and holder.any.a == 5 and holder.any._buffer is buffer
    holder.any = None
    assert words(holder) == [1, NULL, -1] and holder.any is None
    assert words(Any(_context=ctx)) == [NULL, -1]
    assert (Any._size, xo.Ref(One)._size) == (16, 8)


def test_array_classes_have_the_usual_names_and_are_made_once():
    class Item(xo.Struct):
        a = xo.Int64

    assert [cls.__name__ for cls in (xo.Float64[:], xo.Float64[3], xo.Float64[:, 3, :], Item[2, 3], xo.String[:])] == [
        "ArrNFloat64", "Arr3Float64", "ArrNx3xMFloat64", "Arr2x3Item", "ArrNString"]  # fmt: skip
    assert xo.Float64[:, 3] is xo.Float64[:, 3] and Item[:] is Item[:]
    assert xo.Float64[:1, :0] is not xo.Float64[:, :]
    assert xo.Float64[:1, :0]._order == (1, 0)


def test_a_class_that_nobody_uses_is_freed():
    def make():
        class Passing(xo.Struct):
            a = xo.Field(xo.Int64, default_factory=lambda: 1)
            b = xo.Ref(xo.Float64[:])
            c = xo.String[:]

        class Either(xo.UnionRef):
            _reftypes = (Passing,)

        assert Either[:]([Passing(c=1), None])[0].a == 1
        return [weakref.ref(cls) for cls in (Passing, Either, Passing[:], Either[:])]

    classes = make()
    gc.collect()
    assert [cls() for cls in classes] == [None] * 4


def test_classes_say_what_all_their_objects_have():
    cls = xo.Float64[2, 3]
    assert (cls._size, cls._shape, cls._strides, cls._is_static_shape, cls._is_static_type, cls._get_n_items()) == (48, (2, 3), (24, 8), True, True, 6)
    assert xo.Float64[2:1, 3:0]._strides == (8, 16)
    dynamic = xo.String[:, 2]
    assert (dynamic._size, dynamic._shape, dynamic._is_static_shape, dynamic._is_static_type, dynamic._dshape_idx) == (None, (None, 2), False, False, [0])
    assert not dynamic._has_refs and xo.Ref(xo.Float64[:])[:]._has_refs
    assert cls([[1, 2, 3], [4, 5, 6]])._strides == (24, 8) and cls([[1, 2, 3], [4, 5, 6]]).dtype == np.float64


def test_a_named_array_class_can_be_written_out(ctx):
    class Matrix(xo.Array):
        _itemtype = xo.Float64
        _shape = (None, 3)
        _order = "F"

    class Special(Matrix):
        def total(self):
            return float(np.sum(self.to_nparray()))

    item = Matrix([[1, 2, 3], [4, 5, 6]], _context=ctx)
    assert words(item) == [80, 2, 8, 16, *doubles(1, 4, 2, 5, 3, 6)]
    assert Matrix.__name__ == Matrix._c_type == "Matrix" and "Matrix_get" in Matrix._gen_c_api()
    assert Special([[1, 2, 3]], _context=ctx).total() == 6
    with pytest.raises(ValueError, match="^array Wrong needs a _shape$"):

        class Wrong(xo.Array):
            _itemtype = xo.Float64


def test_fields_are_inherited_and_may_be_replaced(ctx):
    class Base(xo.Struct):
        a = xo.Int64
        b = xo.Field(xo.Float64, default=2.5)

        def twice(self):
            return 2 * self.a

    class Derived(Base):
        c = xo.Int8
        a = xo.Float64

    item = Derived(a=1.5, c=3, _context=ctx)
    assert (item.a, item.b, item.c, item.twice()) == (1.5, 2.5, 3, 3.0)
    assert [field.name for field in Derived._fields] == ["a", "b", "c"] and [field.name for field in Base._fields] == ["a", "b"]
    base = Base(a=3, _context=ctx)
    assert (base.a, base.b) == (3, 2.5) and words(base) == [3, *doubles(2.5)]


def test_fields_tell_what_they_are():
    class Some(xo.Struct):
        a = xo.Field(xo.Int64, default=3, readonly=True)
        b = xo.String
        c = xo.Field(xo.Float64[:], default_factory=lambda: [1.0])

    a, b, c = Some._fields
    assert (a.name, a.index, a.offset, a.default, a.readonly, a.ftype, a.is_reference) == ("a", 0, 8, 3, True, xo.Int64, False)
    assert (b.name, b.index, c.index, c.is_reference, c.default_factory()) == ("b", 1, 2, True, [1.0])
    assert Some.a is a and repr(a) == "<field 0 a of Some>" and repr(xo.Field(xo.Int8)) == "<field>"
    assert (repr(Some), repr(xo.Float64[:]), repr(xo.Ref(Some)), repr(xo.Float64)) == ("<struct Some>", "<array ArrNFloat64>", "<ref RefSome>", "Float64")


def test_scalars_convert_values():
    assert xo.Int8(3) == 3 and isinstance(xo.Float32(0.5), np.float32)
    assert [scalar._size for scalar in ALL_SCALARS] == [8, 4, 8, 8, 4, 4, 2, 2, 1, 1, 1, 8, 16]
    assert [scalar._c_type for scalar in ALL_SCALARS[:4]] == ["double", "float", "int64_t", "uint64_t"]


def test_inspection_says_the_size_before_an_object_is_made():
    class Some(xo.Struct):
        a = xo.Int64
        b = xo.String

    assert Some._inspect_args(a=1, b="abc").size == Some(a=1, b="abc")._size
    assert xo.Float64[:]._inspect_args(5).size == 16 + 40 and xo.Float64[:]._inspect_args([1.0, 2.0, 3.0]).shape == (3,)
    assert xo.String._inspect_args("12345678").size == 24 and xo.String._inspect_args(10).size == 18
    assert xo.Ref(Some)._inspect_args().size == 8 and xo.Float32._inspect_args().size == 4


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: xo.Float64[-1], ValueError, "a dimension cannot be negative: -1"),
        (lambda: xo.Float64[1:2:3], TypeError, "a dimension must be n, :, or n:position in the order, not slice(1, 2, 3)"),
        (lambda: xo.Float64[()], pl.errors.ObjectValueError, "array `ArrFloat64` has 0 axes; an array must have 1 to 16"),
        (lambda: xo.Float64[:0, :0], pl.errors.ObjectValueError, "array `ArrNxMFloat64`: the order [0, 0] is not a permutation of its 2 axes"),
        (lambda: xo.Float64[2**40, 2**40], pl.errors.ObjectValueError, f"array `Arr{2**40}x{2**40}Float64` is too large to address"),
        (lambda: xo.String.fixed(0), ValueError, "String needs a positive integer"),
        (lambda: type(xo.Struct)("1x", (xo.Struct,), {}), pl.errors.ObjectValueError,
         "`1x` is not a valid name for a struct: C names consist of letters, digits and underscores and do not start with a digit"),
        (lambda: type(xo.Struct)("S", (xo.Struct,), {"a": xo.Field(3)}), TypeError, "S.a: 3 is not a type of parloop.objects"),
        (lambda: type(xo.UnionRef)("U", (xo.UnionRef,), {"_reftypes": (xo.Float64[:], xo.Float64[:])}), pl.errors.ObjectValueError,
         "union reference `U` has two members `ArrNFloat64`"),
        (lambda: type(xo.UnionRef)("U", (xo.UnionRef,), {"_reftypes": (xo.Ref(xo.Float64[:]),)}), pl.errors.ObjectValueError,
         "union reference `U` cannot have the reference `RefArrNFloat64` as a member"),
    ],
    ids=range(10),
)  # fmt: skip
def test_types_that_cannot_be_are_refused(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("wrong", "shown", "instead"),
    [
        (float, "float", "xo.Float64"), (int, "int", "xo.Int64"), (bool, "bool", "xo.Bool"), (complex, "complex", "xo.Complex128"), (str, "str", "xo.String"),
        (np.float32, "float32", "xo.Float32"), (np.dtype("f8"), "dtype('float64')", "xo.Float64"), (np.dtype("u2"), "dtype('uint16')", "xo.UInt16"),
        ("float64", "'float64'", "xo.Float64"), ("<i4", "'<i4'", "xo.Int32"), ("Float64[:]", "'Float64[:]'", "xo.Float64[:]"),
    ],
)  # fmt: skip
def test_a_type_of_others_is_not_a_field(wrong, shown, instead):
    with pytest.raises(TypeError) as caught:
        type(xo.Struct)("S", (xo.Struct,), {"m": wrong})
    assert str(caught.value) == f"S.m: {shown} is not a type of parloop.objects; write `m = {instead}`"


def test_a_type_that_no_field_can_have_names_those_that_there_are():
    for wrong in (np.float16, np.dtype("f2"), np.dtype([("a", "f8")])):
        with pytest.raises(TypeError, match=r"is not a type of parloop.objects; write `m = …` with one of its types: Float64, Float32, .*, String, arrays, structs$"):
            type(xo.Struct)("S", (xo.Struct,), {"m": wrong})


def test_an_annotation_is_not_a_field():
    def words(shown, instead):
        return f"S.m: the annotation `{shown}` does not make a field; write `m = {instead}` (annotate an attribute of Python's own as ClassVar)"

    for wrong, shown, instead in [(float, "float", "xo.Float64"), ("float", "float", "xo.Float64"), (xo.Int8, "Int8", "xo.Int8"), ("xo.Int8[3]", "xo.Int8[3]", "xo.Int8[3]"),
                                  (np.int16, "int16", "xo.Int16"), (np.dtype("f4"), "dtype('float32')", "xo.Float32"), ("str", "str", "xo.String")]:  # fmt: skip
        for body in ({}, {"m": 1.0}):
            with pytest.raises(TypeError) as caught:
                type(xo.Struct)("S", (xo.Struct,), {"__annotations__": {"m": wrong}, **body})
            assert str(caught.value) == words(shown, instead)
    with pytest.raises(TypeError, match="^S.m: the annotation `ArrNFloat64` does not make a field; write `m = …` with one of its types"):
        type(xo.Struct)("S", (xo.Struct,), {"__annotations__": {"m": xo.Float64[:]}})


def test_attributes_of_pythons_own_are_no_fields():
    class S(xo.Struct):
        m: Any = xo.Float64
        n: ClassVar[int] = 3
        cache: dict
        unit = "GeV"
        axis = "d"
        count = 3
        table = np.zeros(3)
        _dtype = np.dtype("f8")
        _scale: float = 2.0

        class Kind(enum.IntEnum):
            ONE = 1

    assert [field.name for field in S._fields] == ["m"] and (S.n, S.unit, S._scale) == (3, "GeV", 2.0)
