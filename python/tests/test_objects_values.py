"""What objects can be made from, and how their parts are read and changed."""

import numpy as np
import pytest
from conftest import DEVICES, open_context
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import parloop as pl
import parloop.objects as xo


class Point(xo.Struct):
    x = xo.Float64
    n = xo.Field(xo.Int32, default=-1)


class Poly(xo.Struct):
    name = xo.Field(xo.String, default="poly")
    points = Point[:]
    first = Point
    weights = xo.Field(xo.Float64[:], default_factory=lambda: [0.5, 0.5])


POINT = {"x": 1.5, "n": 2}
POLY = {"name": "p", "points": [POINT, POINT], "first": POINT, "weights": [1.0]}
ORDERS = [xo.Float64[:, :, :], xo.Float64[:2, :1, :0], xo.Float64[:1, :2, :0], xo.Float64[2, 3, 4], xo.Float64[2:2, 3:0, 4:1], xo.Float64[:0, 3:2, 4:1]]
CUBE = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("cls", ORDERS, ids=lambda cls: f"{cls.__name__}{cls._order}")
@pytest.mark.parametrize(
    "value",
    [
        CUBE,
        CUBE.tolist(),
        tuple(tuple(map(tuple, plane)) for plane in CUBE.tolist()),
        np.asfortranarray(CUBE),
        CUBE.transpose(2, 0, 1).copy().transpose(1, 2, 0),
        CUBE[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
        np.repeat(CUBE, 2, axis=1)[:, ::2],
        CUBE.astype(">f8"),
        CUBE.astype("f4"),
        CUBE.astype("f2"),
        CUBE.astype("g"),
        CUBE.astype("i1"),
        CUBE.astype(">u2"),
        CUBE.astype("O"),
        [list(map(np.array, plane)) for plane in CUBE.tolist()],
    ],
    ids=lambda value: "",
)
def test_an_array_of_any_order_has_the_values_that_it_was_given(ctx, cls, value):
    item = cls(value, _context=ctx)
    assert item.to_nparray().tolist() == CUBE.tolist()
    assert item[1, 2, 3] == 23.0 and item[-1, 0, -4] == 12.0
    again = ORDERS[0](item, _context=ctx)
    assert again.to_nparray().flags.c_contiguous and again.to_nparray().tolist() == CUBE.tolist()


@given(hnp.arrays(hnp.integer_dtypes() | hnp.unsigned_integer_dtypes() | hnp.boolean_dtypes(), hnp.array_shapes(min_dims=2, max_dims=2, max_side=4)), st.permutations(range(2)), st.data())
@settings(max_examples=60)
def test_numpy_arrays_of_any_type_and_strides_are_converted_or_refused(array, order, data):
    target = data.draw(st.sampled_from([xo.Int8, xo.UInt16, xo.Int64, xo.UInt64, xo.Float64, xo.Complex128, xo.Bool]))
    view = array[:: data.draw(st.sampled_from([1, -1, 2])), :: data.draw(st.sampled_from([1, -1]))].transpose(data.draw(st.permutations(range(2))))
    cls = target[tuple(slice(None, place) for place in order)]
    low, high = (0, 1) if target is xo.Bool else (np.iinfo(target._dtype).min, np.iinfo(target._dtype).max) if target._dtype.kind in "iu" else (None, None)
    fits = low is None or all(int(low) <= int(number) <= int(high) for number in view.ravel())
    for name in (DEVICES[0], DEVICES[-1]):
        if fits:
            assert np.array_equal(cls(view, _context=open_context(name)).to_nparray(), view.astype(target._dtype))
        else:
            with pytest.raises(pl.errors.ObjectRangeError):
                cls(view, _context=open_context(name))


def test_arrays_come_from_ranges_tuples_devices_and_objects_of_other_devices(ctx):
    expected = [0.0, 1.0, 2.0]
    for value in (range(3), (0, 1, 2), [0, np.float32(1), True + 1], {0: 1, 1: 2}.keys() | {2}, ctx.array(np.arange(3)), ctx.array(np.arange(6.0))[::2] / 2):
        assert xo.Float64[:](value, _context=ctx).to_nparray().tolist() == expected
    for name in DEVICES:
        foreign = xo.Int16[3](expected, _context=open_context(name))
        assert xo.Float64[:](foreign, _context=ctx).to_nparray().tolist() == expected
        assert xo.Int16[:](foreign, _context=ctx).to_nparray().tolist() == expected


@pytest.mark.parametrize(
    ("cls", "args", "shape"),
    [
        (xo.Float64[:], (3,), (3,)),
        (xo.Float64[:], (np.int32(3),), (3,)),
        (xo.Float64[:], ((3,),), (3,)),
        (xo.Float64[:], (0,), (0,)),
        (xo.Float64[:, 2], (3,), (3, 2)),
        (xo.Float64[:, 2, :], (3, 4), (3, 2, 4)),
        (xo.Float64[:, 2, :], ((3, 4),), (3, 2, 4)),
        (xo.Float64[3], (), (3,)),
        (xo.Float64[3], (3,), (3,)),
        (xo.Float64[:, 3], ([],), (0, 3)),
        (xo.Float64[:, :], ([[], []],), (2, 0)),
        (xo.Int8[:1, :0], ((2, 0),), (2, 0)),
    ],
)
def test_arrays_made_from_dimensions_are_zero(ctx, cls, args, shape):
    buffer = ctx.new_buffer(64)
    buffer.write(b"\xff" * 64)
    item = cls(*args, _buffer=buffer)
    assert item._shape == item.shape == shape and len(item) == np.prod(shape)
    assert not item.to_nparray().any() and item.to_nparray().shape == shape


@pytest.mark.parametrize(
    "make",
    [
        lambda **place: Poly(**POLY, **place),
        lambda **place: Poly(POLY, **place),
        lambda **place: Poly("p", [(1.5, 2), Point(x=1.5, n=2)], (1.5, 2), (1.0,), **place),
        lambda **place: Poly(("p", Point[:]([POINT, POINT]), Point(POINT), np.ones(1)), **place),
        lambda **place: Poly(Poly(POLY), **place),
        lambda **place: Poly({"weights": (1.0,), "first": Point(POINT), "points": [POINT] * 2, "name": xo.String("p")}, **place),
        lambda **place: Poly(Poly(POLY, _context="cpu:1").copy(), **place),
    ],
    ids=["names", "dict", "positions", "tuple", "object", "mixed", "copy"],
)
def test_a_struct_comes_from_names_a_dict_positions_or_an_object(ctx, make):
    item = make(_context=ctx)
    assert item._to_dict() == POLY and item._context is ctx


def test_defaults_stand_for_what_is_left_out_also_inside(ctx):
    item = Poly(points=2, _context=ctx)
    assert item._to_dict() == {"name": "poly", "points": [{"x": 0.0, "n": -1}] * 2, "first": {"x": 0.0, "n": -1}, "weights": [0.5, 0.5]}
    assert Point[3](_context=ctx)._to_dict() == [{"x": 0.0, "n": -1}] * 3
    assert Point(_context=ctx).n == -1 and Poly(points=[{}], _context=ctx).points[0].n == -1


def test_a_default_factory_is_called_for_each_object():
    calls = []

    class Counted(xo.Struct):
        a = xo.Field(xo.Int64, default_factory=lambda: calls.append(1) or len(calls))

    assert [Counted().a, Counted().a, Counted(a=7).a] == [1, 2, 7] and len(calls) == 2


def test_before_and_after_its_making_a_class_has_a_word(ctx):
    class Sized(xo.Struct):
        n = xo.Int64
        a = xo.Float64[:]

        @classmethod
        def _pre_init(cls, n=1, **named):
            return (), {"n": n, "a": n, **named}

        def _post_init(self):
            self.seen = self.n

    item = Sized(n=3, _context=ctx)
    assert (len(item.a), item.seen) == (3, 3) and len(Sized(_context=ctx).a) == 1
    assert Sized._from_buffer(item._buffer, item._offset).seen == 3


def test_parts_are_changed_in_place(ctx):
    item = Poly(**POLY, _context=ctx)
    item.first.x, item.points[1].n, item.weights[0], item.name = 9.5, 8, 7.5, "longest"
    item.points[0] = {"x": 3.0}
    assert item._to_dict() == {"name": "longest", "points": [{"x": 3.0, "n": 2}, {"x": 1.5, "n": 8}], "first": {"x": 9.5, "n": 2}, "weights": [7.5]}
    item.first = Point(x=-1)
    item.points = [POINT, (0.0, 0)]
    item.weights = np.array([4], "i1")
    assert item._to_dict() == {"name": "longest", "points": [POINT, {"x": 0.0, "n": 0}], "first": {"x": -1.0, "n": -1}, "weights": [4.0]}
    item._update({"first": {"n": 5}, "name": "x"})
    assert item.first._to_dict() == {"x": -1.0, "n": 5} and item.name == "x"
    item._update(Poly(**{**POLY, "name": "7 bytes"}))
    assert item._to_dict() == {**POLY, "name": "7 bytes"}


def test_arrays_of_numbers_are_sliced_like_numpy(ctx):
    item = xo.Float64[:1, :0](np.arange(12).reshape(3, 4), _context=ctx)
    item[1:, ::2] = 100
    item[0] = [7, 7, 7, 7]
    assert np.asarray(item).tolist() == [[7, 7, 7, 7], [100, 5, 100, 7], [100, 9, 100, 11]]
    assert np.asarray(item[:, 1]).tolist() == [7, 5, 9] and np.asarray(item[2]).tolist() == [100, 9, 100, 11]
    assert item[0, 0] == 7.0 and type(item[0, 0]) is float
    assert np.asarray(item, dtype="i4").dtype == np.int32 and np.sum(np.asarray(item)) == 460
    assert list(xo.Int64[:]([1, 2], _context=ctx)) == [1, 2]


def test_arrays_of_objects_are_indexed_sliced_and_iterated(ctx):
    points = Point[:]([(1, 1), (2, 2), (3, 3)], _context=ctx)
    assert [point.x for point in points] == [1, 2, 3] and [point.x for point in points[::-2]] == [3, 1]
    assert points[-1].n == 3 and len(points) == 3
    grid = Point[:, 2](2, _context=ctx)
    grid[1, 1].x = 5
    assert [point.x for point in grid] == [0, 0, 0, 5] and list(grid._iter_index()) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert grid._get_offset((1, 0)) - grid._offset == grid._data_offset + grid._strides[0]
    texts = xo.String[:](["a", "b"], _context=ctx)
    texts[0] = "cc"
    assert list(texts) == ["cc", "b"] and "cc" in texts


@pytest.mark.parametrize(
    ("scalar", "value", "kind"),
    [(xo.Float64, 1.5, float), (xo.Float32, 0.5, float), (xo.UInt64, 2**64 - 1, int), (xo.Int8, -128, int), (xo.Bool, True, bool), (xo.Complex128, 1 - 2j, complex), (xo.Complex64, 1j, complex)],
)
def test_numbers_are_read_as_numbers_of_python(ctx, scalar, value, kind):
    class One(xo.Struct):
        a = scalar
        b = scalar[2]

    item = One(a=value, b=[value, 0], _context=ctx)
    assert item.a == item.b[0] == value and type(item.a) is type(item.b[0]) is kind
    item.a, item.b[0] = item.b[1], scalar(1)
    assert (item.a, item.b[0]) == (0, 1)


@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.float32(3), np.array(3), np.array([3])[0], True + 2], ids=repr)
def test_numbers_of_any_kind_are_taken_if_they_fit(ctx, value):
    class One(xo.Struct):
        i = xo.Int16
        f = xo.Float32

    item = One(i=value, f=value, _context=ctx)
    assert (item.i, item.f) == (3, 3.0)
    item.i, item.f = value, value
    assert (item.i, item.f) == (3, 3.0)


def test_a_read_only_field_is_set_once(ctx):
    class Fixed(xo.Struct):
        a = xo.Field(xo.Int64, readonly=True)

    item = Fixed(a=3, _context=ctx)
    with pytest.raises(AttributeError, match="^Field a is read-only$"):
        item.a = 4
    assert item.a == 3


def test_a_struct_is_a_mapping_of_its_fields(ctx):
    item = Point(**POINT, _context=ctx)
    assert dict(**{name: item[name] for name in item}) == POINT and "x" in item and "y" not in item
    assert repr(item) == "Point(x=1.5, n=2)"
    assert repr(Poly(**POLY, _context=ctx)).startswith("Poly(")
    with pytest.raises(KeyError, match="Point has no field `y`"):
        item["y"]


def test_copies_are_independent_and_where_they_should_be(ctx):
    item = Poly(**POLY, _context=ctx)
    for name in DEVICES:
        other = open_context(name)
        copy = item.copy(_context=other)
        copy.first.x = 100
        assert copy._context is other and item.first.x == 1.5 and copy.first.x == 100
        assert item.to(other)._to_dict() == POLY and item.to(name)._context.device == other.device
    near = item.copy(_buffer=item._buffer)
    assert near._buffer is item._buffer and near._offset != item._offset and item.copy()._context is ctx


def test_objects_go_where_they_are_told(ctx):
    buffer = ctx.new_buffer(1000)
    first = Point(_buffer=buffer)
    packed = xo.Int8[3](_buffer=buffer, _offset="packed")
    assert (first._offset, packed._offset, packed._size) == (0, 16, 8)
    assert Point(_buffer=buffer, _offset="aligned")._offset == 24
    at = Point(x=4, _buffer=buffer, _offset=101)
    assert at._offset == 101 and Point._from_buffer(buffer, 101).x == 4
    with ctx:
        assert Point()._context is ctx
