"""Pickling: objects come back with their bytes, their buffers and their devices, in this process and in others."""

import copy
import os
import pickle
import textwrap

import numpy as np
import pytest

import parloop as pl
import parloop.objects as xo


class Point(xo.Struct):
    x = xo.Float64
    name = xo.Field(xo.String, default="point")


class Path(xo.Struct):
    points = Point[:]
    grid = xo.Float64[:1, :0]
    first = xo.Ref(Point)


class Choice(xo.UnionRef):
    _reftypes = (Point, xo.Float64[:])


class Matrix(xo.Array):
    _itemtype = xo.Float64
    _shape = (None, 2)


class Element(xo.HybridClass):
    _xofields = {"length": xo.Float64, "kicks": xo.Float64[:], "point": Point}

    def __init__(self, note=None, **named):
        super().__init__(**named)
        self.note = note


MAKERS = {
    "struct": lambda **place: Point(x=1.5, name="p", **place),
    "nested": lambda **place: Path(points=[{"x": 1}, {"x": 2}], grid=[[1, 2, 3], [4, 5, 6]], first={"x": 3}, **place),
    "array": lambda **place: xo.Int16[:]([1, 2, 3], **place),
    "fortran array": lambda **place: xo.Float64[:1, :0]([[1, 2], [3, 4]], **place),
    "static array": lambda **place: xo.Complex64[2, 2]([[1j, 2], [3, 4]], **place),
    "array of structs": lambda **place: Point[2]([{"x": 1}, {"x": 2}], **place),
    "array of references": lambda **place: xo.Ref(Point)[:]([{"x": 1}, None], **place),
    "array of unions": lambda **place: Choice[:]([Point(x=1), None, ("ArrNFloat64", [1, 2])], **place),
    "array of texts": lambda **place: xo.String[:](["a", "bc"], **place),
    "named array": lambda **place: Matrix([[1, 2]], **place),
    "union": lambda **place: Choice(Point(x=4), **place),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_an_object_comes_back_as_it_was(ctx, make, protocol):
    item = make(_context=ctx)
    again = pickle.loads(pickle.dumps(item, protocol))
    assert type(again) is type(item) and again._to_dict() == item._to_dict() and again._bytes() == item._bytes()
    assert again._context.device == ctx.device and again._buffer is not item._buffer


@pytest.mark.parametrize("text", [xo.String("abc"), xo.String.fixed(24)("abc"), xo.String(50)], ids=["fits", "fixed", "room"])
def test_a_text_comes_back_as_a_text(text):
    again = pickle.loads(pickle.dumps(text))
    assert isinstance(again, xo.String) and again.to_str() == text.to_str() and again._size == text._size


def test_types_come_back_as_themselves():
    for cls in (xo.Float64, xo.Bool, xo.String, xo.Float64[:], xo.Float64[:1, 3:0], Point, Point[:], Point[3][:], Matrix, Choice, Choice[:]):
        assert pickle.loads(pickle.dumps(cls)) is cls
    ref = xo.Ref(Point)
    assert pickle.loads(pickle.dumps(ref)) is ref is xo.Ref[Point] and ref._reftype is Point
    assert pickle.loads(pickle.dumps(xo.String.fixed(24)))._size == 24


def test_objects_of_one_buffer_come_back_in_one_buffer(ctx):
    buffer = ctx.new_buffer(300)
    first, hole, second = (Point(x=index, _buffer=buffer) for index in range(3))
    size = first._size
    del hole
    a, b = pickle.loads(pickle.dumps((first, second)))
    assert a._buffer is b._buffer and (a._offset, b._offset) == (first._offset, second._offset) and b.x == 2
    again = a._buffer
    assert (again.capacity, again.get_free(), again.default_alignment, again.grow_step) == (300, 300 - 2 * size, 8, None)
    assert [repr(chunk) for chunk in again.chunks] == [repr(chunk) for chunk in buffer.chunks]
    assert Point(_buffer=again)._offset == size, "the hole can be filled"
    a.x = 9
    assert first.x == 0


def test_a_buffer_comes_back_with_its_bytes_and_step(ctx):
    buffer = xo.Buffer(64, context=ctx, default_alignment=16, grow_step=128)
    offset = buffer.allocate(10)
    buffer.write(b"0123456789", offset)
    again = pickle.loads(pickle.dumps(buffer))
    assert bytes(again.read(0, 64)) == bytes(buffer.read(0, 64)) and again.allocate(1) == 16
    assert (again.default_alignment, again.grow_step, again.context.device) == (16, 128, ctx.device)


def test_copy_and_deepcopy_make_objects_of_their_own(ctx):
    item = MAKERS["nested"](_context=ctx)
    for again in (copy.deepcopy(item), copy.copy(item)):
        assert again._to_dict() == item._to_dict()
    deep = copy.deepcopy(item)
    deep.points[0].x = 77
    assert item.points[0].x == 1


def test_a_hybrid_comes_back_with_what_python_added(ctx):
    element = Element(length=2, kicks=[1, 2], point={"x": 3}, note=["kept"], _context=ctx)
    again = pickle.loads(pickle.dumps(element))
    assert (again.length, again.point.x, again.note) == (2, 3, ["kept"]) and np.asarray(again.kicks).tolist() == [1, 2]
    assert again._context.device == ctx.device
    again.length = 5
    assert element.length == 2


def test_a_pickle_is_read_by_another_process(ctx, tmp_path, in_new_process):
    module = tmp_path / "shapes_of_test.py"
    module.write_text(textwrap.dedent("""
        import parloop.objects as xo
        class Shape(xo.Struct):
            n = xo.Int64
            a = xo.Float64[:1, :0]
            r = xo.Ref(xo.Float64[:])[:]
    """))
    env = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])}
    file = tmp_path / "shape.pickle"
    in_new_process(f"""
        import pickle, parloop, shapes_of_test as s
        shape = s.Shape(n=1, a=[[1, 2], [3, 4]], r=[None, [5]], _context={ctx.device.name!r})
        pickle.dump([shape, shape.a], open({str(file)!r}, "wb"))
    """, env=env)
    printed = in_new_process(f"""
        import pickle
        shape, a = pickle.load(open({str(file)!r}, "rb"))
        print(shape._to_dict(), a[1, 0], a._buffer is shape._buffer, shape._context.device.name)
    """, env=env)
    assert printed.strip() == f"{{'n': 1, 'a': [[1.0, 2.0], [3.0, 4.0]], 'r': [None, [5.0]]}} 3.0 True {ctx.device.name}"


def test_a_pickle_of_another_version_or_class_is_refused(ctx):
    point = Point(x=1, _context=ctx)
    make, arguments = point.__reduce__()
    with pytest.raises(pl.errors.ObjectValueError) as caught:
        make(99, *arguments[1:])
    assert str(caught.value) == "the pickle of Point has format 99; this parloop reads format 2"
    with pytest.raises(pl.errors.ObjectValueError) as caught:
        make(arguments[0], arguments[1], "Point", (("", "Other"),), *arguments[4:])
    assert str(caught.value) == "the pickle holds Point as Other, but class Point has it as Point; the class has changed since"
    make, arguments = point._buffer.__reduce__()
    with pytest.raises(pl.errors.ObjectValueError) as caught:
        make(0, *arguments[1:])
    assert str(caught.value) == "the pickle of buffer has format 0; this parloop reads format 2"


CHANGES = {
    "type": ({"a": "xo.Float64", "b": "xo.Int64"}, {"a": "xo.Int64", "b": "xo.Int64"},
             "the pickle holds Shape.a as Float64, but class Shape has it as Int64; the class has changed since"),
    "nested": ({"a": "Inner"}, {"a": "Inner"}, "the pickle holds Shape.a.x as Float64, but class Shape has it as Int64; the class has changed since"),
    "item": ({"a": "xo.Float64[:]"}, {"a": "xo.Int64[:]"},
             "the pickle holds Shape.a as Float64[:], but class Shape has it as Int64[:]; the class has changed since"),
    "items of structs": ({"a": "Inner[:]"}, {"a": "Inner[:]"},
                         "the pickle holds Shape.a[].x as Float64, but class Shape has it as Int64; the class has changed since"),
    "order": ({"a": "xo.Float64[2, 2]"}, {"a": "xo.Float64[2:1, 2:0]"},
              "the pickle holds Shape.a as Float64[2, 2], but class Shape has it as Float64[2, 2] in order [1, 0]; the class has changed since"),
    "reference": ({"a": "xo.Ref(Inner)"}, {"a": "xo.Ref(Inner)"},
                  "the pickle holds Shape.a->.x as Float64, but class Shape has it as Int64; the class has changed since"),
    "name": ({"a": "xo.Float64"}, {"b": "xo.Float64"}, "the pickle holds Shape.a (Float64), which class Shape does not have; the class has changed since"),
    "more": ({"a": "xo.Float64"}, {"a": "xo.Float64", "b": "xo.Int8"},
             "class Shape has Shape.b (Int8), which the pickle does not hold; the class has changed since"),
    "places": ({"a": "xo.Float64", "b": "xo.Float64"}, {"b": "xo.Float64", "a": "xo.Float64"},
               "the fields of class Shape are in another order than in the pickle; the class has changed since"),
}


@pytest.mark.parametrize("before, after, message", CHANGES.values(), ids=CHANGES)
def test_a_class_that_was_changed_since_is_told_by_field(tmp_path, in_new_process, before, after, message):
    module, file = tmp_path / "changing_shapes.py", tmp_path / "shape.pickle"

    def write(fields, x):
        fields = "".join(f"\n    {name} = {kind}" for name, kind in fields.items())
        module.write_text(f"import parloop.objects as xo\nclass Inner(xo.Struct):\n    x = xo.{x}\nclass Shape(xo.Struct):{fields}\n")

    env = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]), "PYTHONDONTWRITEBYTECODE": "1"}
    write(before, "Float64")
    given = {name: "[]" if ":]" in kind else "None" for name, kind in before.items() if ":]" in kind or "Ref" in kind}
    named = ", ".join(f"{name}={value}" for name, value in given.items())
    in_new_process(f"import pickle, changing_shapes as s; pickle.dump(s.Shape({named}), open({str(file)!r}, 'wb'))", env=env)
    write(after, "Int64")
    printed = in_new_process(f"""
        import pickle, parloop
        try:
            print(pickle.load(open({str(file)!r}, "rb"))._to_dict())
        except parloop.errors.ObjectValueError as error:
            print(error)
    """, env=env)
    assert printed.strip() == message


@pytest.mark.parametrize("chunks", [[(0, 1000)], [(10, 5)], [(0, 20), (10, 30)], [(30, 40), (0, 10)]])
def test_a_pickled_buffer_that_makes_no_sense_is_refused(ctx, chunks):
    with pytest.raises(ValueError, match="^the chunks of the pickled buffer are invalid$"):
        xo.Buffer._from_state(ctx, bytes(64), chunks, 8, None)
