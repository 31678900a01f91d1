"""Kernels that take objects, and classes with C functions of their own."""

import gc

import numpy as np
import pytest
from conftest import DEVICES, missing, open_context, run_python

import parloop as pl
import parloop.objects as xo
from parloop import Arg, Kernel


class Cells(xo.Struct):
    n = xo.Int64
    a = xo.Float64[:]
    ref = xo.Ref(xo.Float64[:])


class Faces(xo.Struct):
    n = xo.Int64


SOURCE = """
GPUKERN void scale(Cells c, const double by) {
    VECTORIZE_OVER(i, Cells_len_a(c))
        Cells_set_a(c, i, by * Cells_get_a(c, i));
    END_VECTORIZE
}
GPUKERN void add(const Cells from, Cells to) {
    VECTORIZE_OVER(i, Cells_len_a(from))
        Cells_set_a(to, i, Cells_get_a(to, i) + Cells_get_a(from, i));
    END_VECTORIZE
}
GPUKERN void double_ref(Cells c) {
    VECTORIZE_OVER(i, Cells_len_ref(c))
        Cells_set_ref(c, i, 2 * Cells_get_ref(c, i));
    END_VECTORIZE
}
GPUKERN void first(const Cells RESTRICT c, double *out) { VECTORIZE_OVER(i, 1) out[0] = c == NULL ? -1 : Cells_get_a(c, 0); END_VECTORIZE }
GPUKERN void raw(double *a, const int64_t n) { VECTORIZE_OVER(i, n) a[i] += 1; END_VECTORIZE }
"""
CELLS = Arg(Cells, name="c")
KERNELS = {
    "scale": Kernel(args=[CELLS, Arg(xo.Float64, name="by")]),
    "add": Kernel(args=[Arg(Cells, name="from", const=True), Arg(Cells, name="to")]),
    "double_ref": Kernel(args=[CELLS]),
    "first": Kernel(args=[Arg(Cells, name="c", const=True), Arg(xo.Float64, pointer=True, name="out")]),
    "raw": Kernel(args=[Arg(xo.Float64, pointer=True, name="a"), Arg(xo.Int64, name="n")]),
}


def cells(**place):
    return Cells(n=3, a=[1, 2, 3], ref=[4, 5], **place)


def numbers(item):
    return item.to_nparray().tolist()


def words(call, error):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


@pytest.fixture
def k(ctx):
    if "scale" not in ctx.kernels:
        ctx.add_kernels(sources=[SOURCE], kernels=KERNELS)
    return ctx.kernels


def others(ctx):
    """A context on the CPU, and on another device for each kind that there is."""
    return [open_context(name) for name in DEVICES if open_context(name) is not ctx]


def test_an_object_is_passed_from_where_it_is(ctx, k):
    buffer = ctx.new_buffer(16)
    kept = [xo.Int8[:](5, _buffer=buffer), cells(_buffer=buffer), cells(_buffer=buffer, _offset="packed")]
    for item in kept[1:]:
        k.scale(c=item, by=3.0)
        assert numbers(item.a) == [3, 6, 9] and item._to_dict()["ref"] == [4, 5]
    assert kept[0]._to_dict() == [0] * 5
    assert k.scale.signature == "void scale(Cells c, double by)" and k.first.signature == "void first(const Cells c, double * out)"


def test_references_are_followed(ctx, k):
    item = cells(_context=ctx)
    k.double_ref(c=item)
    assert numbers(item.ref) == [8, 10]


def test_objects_of_other_devices_are_copied_there_and_back(ctx, k):
    for other in others(ctx):
        item = cells(_context=other)
        k.scale(c=item, by=2.0)
        k.double_ref(c=item)
        assert (numbers(item.a), numbers(item.ref), item.n) == ([2, 4, 6], [8, 10], 3)
        near = cells(_context=ctx)
        k.add(**{"from": item, "to": near})
        assert numbers(near.a) == [3, 6, 9] and numbers(item.a) == [2, 4, 6]


def test_the_same_object_can_be_given_twice(ctx, k):
    for item in [cells(_context=context) for context in [ctx, *others(ctx)]]:
        k.add(**{"from": item, "to": item})
        assert numbers(item.a) == [2, 4, 6]


def test_none_is_no_object(k):
    out = np.zeros(1)
    k.first(c=None, out=out)
    assert out[0] == -1


def test_memory_is_taken_for_an_object_as_it_is(ctx, k):
    item, out = cells(_context=ctx), np.zeros(1)
    memory = ctx.device.allocate(item._size)
    ctx.default_stream.write(memory, np.frombuffer(item._bytes(), "u1"))
    k.first(c=memory, out=out)
    assert out[0] == 1


def test_arrays_of_numbers_are_pointers_to_them(ctx, k):
    for context in [ctx, *others(ctx)]:
        item = cells(_context=context)
        k.raw(a=item.a, n=3)
        k.raw(a=item.ref, n=2)
        assert (numbers(item.a), numbers(item.ref)) == ([2, 3, 4], [5, 6])
    item = cells(_context=ctx)
    k.raw(a=item.a.to_nplike(), n=3)
    assert numbers(item.a) == [2, 3, 4]


def test_a_text_is_a_pointer_to_its_characters(ctx):
    source = "GPUKERN void second(const char *text, double *out) { VECTORIZE_OVER(i, 1) out[0] = text[1]; END_VECTORIZE }"
    out = np.zeros(1)
    ctx.compile(source).second(xo.String("abc", _context=ctx), out)
    assert out[0] == ord("b")


def test_a_hybrid_stands_for_its_struct(ctx, k):
    class Dressed(xo.HybridClass):
        _cname = "Cells"
        _xofields = {"n": xo.Int64, "a": xo.Float64[:], "ref": xo.Ref(xo.Float64[:])}

    item = Dressed(a=[1, 2], _context=ctx)
    k.scale(c=item, by=5.0)
    assert np.asarray(item.a).tolist() == [5, 10]


def test_a_class_written_again_with_the_same_fields_is_the_same_class(ctx, k):
    again = type(xo.Struct)("Cells", (xo.Struct,), {"n": xo.Int64, "a": xo.Float64[:], "ref": xo.Ref(xo.Float64[:])})
    item = again(a=[1], _context=ctx)
    k.scale(c=item, by=4.0)
    assert numbers(item.a) == [4]


def test_objects_that_do_not_fit_are_refused_and_unchanged(ctx, k):
    item, out = cells(_context=ctx), np.zeros(1)
    before = item._bytes()
    other = type(xo.Struct)("Cells", (xo.Struct,), {"a": xo.Float64})
    assert words(lambda: k.scale(c=Faces(_context=ctx), by=1.0), TypeError) == (
        "argument `c` of kernel `scale` is declared `Cells`, but an object of class `Faces` was given"
    )
    assert words(lambda: k.scale(c=other(_context=ctx), by=1.0), TypeError) == (
        "argument `c` of kernel `scale` is declared `Cells`, but an object of class `Cells` was given; it is another class of that name; add the kernel "
        "again with the current one"
    )
    assert words(lambda: k.raw(a=item, n=3), TypeError) == "argument `a` of kernel `raw` is declared `double *`, but an object of class `Cells` was given"
    assert words(lambda: k.raw(a=xo.Float32[:](3, _context=ctx), n=3), TypeError) == (
        "argument `a` of kernel `raw` is declared `double *`, but an array of float32 was given; convert it first"
    )
    assert "pass a single value" in words(lambda: k.scale(c=item, by=item), TypeError)
    for given in (np.zeros(3), 3.0, [1.0], "text"):
        message = words(lambda given=given: k.first(c=given, out=out), TypeError)
        assert message.startswith("argument `c` of kernel `first` is declared `const Cells`, but ")
        assert message.endswith("pass an object of that class" if not isinstance(given, str) else "declare it `const char *`")
    assert item._bytes() == before


def test_a_freed_object_is_refused(ctx, k):
    item = cells(_buffer=ctx.new_buffer(500))
    step = k.scale.bind(c=item, by=2.0)
    item._buffer.free(item._offset, item._size)
    for call in (lambda: k.scale(c=item, by=2.0), step, lambda: k.raw(a=item.a, n=3)):
        assert words(call, pl.errors.FreedError) == "the memory of this Cells object was freed"


def test_a_bound_kernel_keeps_its_objects_and_sees_them_where_they_are(ctx, k):
    buffer = ctx.new_buffer(200)
    item = cells(_buffer=buffer)
    step = k.scale.bind(c=item, by=2.0)
    step()
    if ctx.device.kind == "cpu":
        buffer.grow(100_000)
        step()
        assert numbers(item.a) == [4, 8, 12]
    else:
        message = words(lambda: buffer.grow(100_000), pl.DeviceError)
        assert message.endswith("because its address is held by 1 view; drop the views first, or create it with its full length")
        step()
    offset, free = item._offset, buffer.get_free()
    del item
    gc.collect()
    assert buffer.get_free() == free
    step()
    assert numbers(Cells._from_buffer(buffer, offset).a) == [8, 16, 24]
    del step
    gc.collect()
    assert buffer.get_free() > free
    buffer.grow(1000)


def test_objects_of_another_device_cannot_be_bound(ctx, k):
    other = open_context(DEVICES[-1] if ctx.device.kind == "cpu" else "cpu:1")
    message = words(lambda: k.scale.bind(c=cells(_context=other), by=2.0), ValueError)
    assert message == "argument `c` of kernel `scale` is an object of another device, which cannot be bound, because each call would copy it; copy it there first"


def test_kernels_are_found_by_name(ctx, k):
    assert k["scale"] is k.scale and "scale" in dir(k) and repr(k).startswith("<kernels ")
    message = words(lambda: k.nothing, AttributeError)
    assert message.startswith("no kernel `nothing` was added to the context; it has ") and "scale" in message
    assert repr(pl.Context("cpu:1").kernels) == "<kernels none>"
    assert words(lambda: pl.Context("cpu:1").kernels.x, pl.KernelNotFoundError) == "no kernel `x` was added to the context; it has none"


def test_the_options_of_add_kernels_reach_the_compiler(ctx, tmp_path):
    (tmp_path / "seven.h").write_text("#define SEVEN 7\n")
    (tmp_path / "file.c").write_text("GPUFUN double of_file(void) { return 10000; }\n")
    source = '#include "seven.h"\nGPUKERN void sum(double *x) { VECTORIZE_OVER(i, 1) x[0] = FOO + SEVEN + BAR + XX + of_file(); END_VECTORIZE }'
    seen, saved = [], tmp_path / "full.c"

    def change(text):
        seen.append(text)
        return text.replace("XX", "1000")

    ctx.add_kernels(
        sources=[tmp_path / "file.c", source],
        kernels={"total": Kernel(c_name="sum", args=[Arg(xo.Float64, pointer=True, name="values")])},
        apply_to_source=[change, lambda text: text.replace("30", "40")],
        save_source_as=saved,
        extra_headers=["#define FOO 30"],
        extra_compile_args=["-DBAR=200"],
        extra_classes=[Cells],
        include=[tmp_path],
    )
    x = np.zeros(1)
    ctx.kernels.total(values=x)
    assert x[0] == 40 + 7 + 200 + 1000 + 10000
    assert any("of_file" in text for text in seen) and "Cells_get_a" in saved.read_text() and "sum" not in ctx.kernels


def test_sources_may_be_open_files_and_named_texts(ctx, tmp_path):
    (tmp_path / "one.txt").write_text("GPUFUN double one(void) { return 1; }")
    with open(tmp_path / "one.txt") as file:
        source = xo.Source("GPUKERN void get_one(double *x) { x[0] = one(); }", name="<mine>")
        built = xo.build_kernels(ctx, {"get_one": Kernel(n_threads=1)}, [file, source])
    x = np.zeros(1)
    built["get_one"](x=x)
    assert x[0] == 1
    bad = xo.Source("GPUKERN void k(Cells c) {\n  return 1 +;\n}", name="<mine>")
    assert "<mine>" in words(lambda: xo.build_kernels(ctx, {"k": Kernel(args=[CELLS])}, [bad]), pl.ParloopError)


def test_descriptions_are_checked_against_the_source(ctx):
    wrong = Kernel(args=[Arg(xo.Float64, pointer=True), Arg(xo.Float64)])
    message = words(lambda: ctx.add_kernels(sources=[SOURCE], kernels={"scale": wrong}, extra_classes=[Cells]), ValueError)
    assert message == "kernel `scale` was described with argument 1 as `double *`, but its source says `void scale(Cells c, double by)` (line 2)"
    message = words(lambda: ctx.add_kernels(sources=[SOURCE], kernels={"nothing": Kernel(args=[CELLS])}), AttributeError)
    assert message == "the program has no kernel `nothing`; it has add, double_ref, first, raw, scale"


@pytest.mark.parametrize("atype", ["Cells", Cells, None], ids=["name", "class", "nothing"])
def test_a_description_names_a_class(ctx, atype):
    described = Kernel(args=[Arg(atype, name="cells"), Arg("float64")])
    api = [cls._gen_c_api() for cls in (xo.Float64[:], Cells)]
    prog = ctx.compile(SOURCE, api=api, classes=[xo.Float64[:], Cells], kernels={"scale": described})
    item = cells(_context=ctx)
    prog.scale(cells=item, by=5.0)
    assert numbers(item.a) == [5, 10, 15]


def test_a_class_may_be_written_in_c_alone(ctx):
    source = """typedef GPUGLMEM struct Pair_s *Pair;
    GPUFUN GPUGLMEM double *Pair_getp(const Pair p, int64_t i) { return (GPUGLMEM double *)p + i; }
    GPUKERN void swap(Pair p) { VECTORIZE_OVER(i, 1) double first = *Pair_getp(p, 0); *Pair_getp(p, 0) = *Pair_getp(p, 1); *Pair_getp(p, 1) = first; END_VECTORIZE }"""
    prog, memory, out = ctx.compile(source, classes=["Pair"]), ctx.device.allocate(16), np.zeros(2)
    ctx.default_stream.write(memory, np.array([1.0, 2.0]))
    prog.swap(memory)
    ctx.default_stream.read(memory, out)
    assert out.tolist() == [2, 1]
    assert words(lambda: prog.swap(cells(_context=ctx)), TypeError) == "argument `p` of kernel `swap` is declared `Pair`, but an object of class `Cells` was given"


def test_a_type_that_is_not_among_the_classes_is_refused(ctx):
    message = words(lambda: ctx.compile(SOURCE), pl.errors.SourceError)
    assert message == (
        "<source>:2: parameter `c` of `scale` has type `Cells`, which is neither a scalar type nor a pointer; name it among the classes if it "
        "is a pointer to an opaque struct"
    )


class Circle(xo.Struct):
    r = xo.Float64
    _extra_c_sources = ["GPUFUN double Circle_area(Circle c, const double scale) { return 3 * scale * Circle_get_r(c) * Circle_get_r(c); }"]


class Square(xo.Struct):
    a = xo.Float64
    _extra_c_sources = ["GPUFUN double Square_area(Square s, const double scale) { return scale * Square_get_a(s) * Square_get_a(s); }"]


class Shape(xo.UnionRef):
    _reftypes = (Circle, Square)
    _methods = [xo.Method(c_name="area", args=[Arg(xo.Float64, name="scale")], ret=Arg(xo.Float64))]


class Drawing(xo.Struct):
    shapes = Shape[:]
    _depends_on = [Faces]
    _extra_c_sources = [
        """GPUKERN void areas(Drawing d, double *out) {
            VECTORIZE_OVER(i, Drawing_len_shapes(d)) out[i] = Shape_area(Drawing_getp1_shapes(d, i), 2.0); END_VECTORIZE }
        GPUFUN int64_t of_faces(Faces f) { return Faces_get_n(f); }"""
    ]
    _kernels = {"areas": Kernel(args=[Arg(xo.ThisClass, name="drawing"), Arg(xo.Float64, pointer=True, name="out")])}


def test_classes_bring_their_kernels_sources_and_unions_their_methods(ctx):
    drawing = Drawing(shapes=[Circle(r=1), Square(a=2), Circle(r=3)], _context=ctx)
    drawing.compile_kernels(only_if_needed=True)
    kernel, out = ctx.kernels.areas, np.zeros(3)
    kernel(drawing=drawing, out=out)
    assert out.tolist() == [6, 8, 54] and Drawing._kernels["areas"].args[0].atype is Drawing
    drawing.compile_kernels(only_if_needed=True)
    assert ctx.kernels.areas is kernel
    Drawing.compile_class_kernels(ctx)
    assert ctx.kernels.areas is not kernel


def test_a_union_without_a_target_has_no_method_in_checked_mode(ctx):
    drawing = Drawing(shapes=2, _context=ctx)
    built = xo.build_kernels(ctx, Drawing._kernels, [], extra_classes=[Drawing], checked=True)
    message = words(lambda: built["areas"](drawing=drawing, out=np.zeros(2)), pl.CheckError)
    assert message.startswith("kernel `areas`: ") and "Shape" in message


def test_classes_come_in_the_order_of_their_needs_and_cycles_are_refused():
    from parloop.objects._kernels import sort_classes

    names = [cls.__name__ for cls in sort_classes([Drawing])]
    assert names.index("Circle") < names.index("Shape") < names.index("ArrNShape") < names.index("Drawing") and "Faces" in names

    class Left(xo.Struct):
        a = xo.Int64

    class Right(xo.Struct):
        left = Left

    Left._depends_on = [Right]
    assert words(lambda: sort_classes([Left]), ValueError) == "Class dependencies have cycles: Left -> Right -> Left"


class Rect(xo.Struct):
    a = xo.Float64
    b = xo.Float64
    v = xo.Float64[:]
    by_source = xo.CMethod("double Rect_by_source(Rect self, double by) { return by * Rect_get_a(self); }")
    by_header = xo.CMethod(header="double Rect_by_header(Rect self, const double by)", body="return by + Rect_get_b(self);")
    elsewhere = xo.CMethod(header="double Rect_elsewhere(Rect self);")
    by_body = xo.CMethod(body="return Rect_get_a(self) + n;", args=[Arg(xo.Int64, name="n")], ret=xo.Float64)
    without_result = xo.CMethod("void Rect_without_result(Rect self, double a) { Rect_set_a(self, a); }")
    area = xo.CProperty(body="return Rect_get_a(self) * Rect_get_b(self);", ret=Arg(xo.Float64))
    is_flat = xo.CProperty("bool Rect_is_flat(Rect self) { return Rect_get_b(self) == 0; }")
    twice = xo.CFunction("int64_t Rect_twice(int64_t x) { return 2 * x; }")
    scale = xo.CKernel("void Rect_scale(Rect self, double by) { VECTORIZE_OVER(i, Rect_len_v(self)) Rect_set_v(self, i, by * Rect_get_v(self, i)); END_VECTORIZE }")
    fill = xo.CKernel(body="VECTORIZE_OVER(i, Rect_len_v(self)) Rect_set_v(self, i, i); END_VECTORIZE")
    _extra_c_sources = ["GPUFUN double Rect_elsewhere(Rect self) { return 100 + Rect_get_a(self); }"]


def test_c_functions_are_methods_properties_and_functions(ctx):
    rect = Rect(a=2, b=3, v=[1, 2, 3], _context=ctx)
    assert (rect.by_source(10.0), rect.by_source(by=10.0), rect.by_header(1.0), rect.elsewhere(), rect.by_body(n=5)) == (20, 20, 4, 102, 7)
    assert (rect.area, rect.is_flat, rect.twice(4)) == (6, False, 8) and Rect.twice(x=5, _context=ctx) == 10
    rect.scale(by=10.0)
    assert numbers(rect.v) == [10, 20, 30]
    rect.fill()
    rect.without_result(8.0)
    assert numbers(rect.v) == [0, 1, 2] and rect.area == 24 and isinstance(rect.is_flat, bool)
    assert repr(rect.by_source) == "<C function Rect_by_source>"
    assert words(lambda: setattr(rect, "area", 1), AttributeError) == "area is computed and cannot be set"


def test_c_functions_that_say_nothing_or_too_much_are_refused(ctx):
    message = "a C function needs its source, a header (with or without a body), or a body"
    for arguments in ({}, {"source": "x", "body": "y"}, {"source": "x", "header": "y"}):
        assert words(lambda arguments=arguments: xo.CMethod(**arguments), TypeError) == message
    body = {"a": xo.Int64, "f": xo.CMethod("nothing here")}
    assert words(lambda: type(xo.Struct)("S", (xo.Struct,), body), ValueError) == "S.f: no function was found in `nothing here`"
    if ctx.device.kind != "cpu":
        body = {"a": xo.Int64, "f": xo.CMethod("GPUGLMEM int64_t *S_f(S self) { return S_getp_a(self); }")}
        made = type(xo.Struct)("S", (xo.Struct,), body)(a=1, _context=ctx)
        assert words(made.f, TypeError) == "S.f: a result of type `GPUGLMEM int64_t *` cannot be returned from a GPU; return a number"


class Base(xo.Struct):
    x = xo.Float64
    twice = xo.CMethod("double Base_twice(Base self) { return 2 * Base_get_x(self); }")
    seven = xo.CFunction("int32_t Base_seven(void) { return 7; }")


def test_c_methods_belong_to_their_own_class(ctx):
    class Derived(Base):
        y = xo.Float64

    item = Derived(x=1, _context=ctx)
    assert words(item.twice, TypeError) == "Base_twice takes objects of Base, not of Derived; define twice for that class as well"
    assert item.seven() == 7 and Base(x=2, _context=ctx).twice() == 4


def test_parts_and_wholes_of_another_device_are_not_written_at_once(ctx):
    source = "GPUKERN void both(double *a, Cells c) { VECTORIZE_OVER(i, 1) a[0] = 9; Cells_set_n(c, 5); END_VECTORIZE }"
    kernel = xo.build_kernels(ctx, {"both": Kernel(args=[Arg(xo.Float64, pointer=True, name="a"), CELLS])}, [source])["both"]
    near, far = cells(_context=ctx), cells(_context=open_context(DEVICES[-1] if ctx.device.kind == "cpu" else "cpu:1"))
    kernel(a=near.a, c=near)
    assert (near.n, near.a[0]) == (5, 9)
    assert words(lambda: kernel(a=far.a, c=far), ValueError) == (
        "the ArrNFloat64 and the Cells of another device overlap, and the kernel writes to them; copy the whole object to its device first"
    )
    assert far._to_dict() == cells()._to_dict()


class Orders(xo.Struct):
    rows = xo.Float64[:, :]
    columns = xo.Float64[:1, :0]


class Columns(xo.Float64[:1, :0]):
    pass


class NamedOrders(xo.Struct):
    rows = xo.Float64[:, :]
    columns = Columns


def test_array_classes_of_another_order_need_a_name_of_their_own(ctx):
    described = {"get": Kernel(args=[Arg(Orders, name="o"), Arg(xo.Float64, pointer=True, name="out")])}
    assert words(lambda: xo.build_kernels(ctx, described, ["GPUKERN void get(Orders o, double *out) {}"]), ValueError) == (
        "two classes with different layouts are named ArrNxMFloat64; kernels identify classes by name, so rename one of them "
        "(for arrays: `class Other(ArrNxMFloat64): pass`)"
    )
    source = """GPUKERN void get(NamedOrders o, double *out) { VECTORIZE_OVER(i, 1)
        out[0] = ArrNxMFloat64_get(NamedOrders_getp_rows(o), 0, 1); out[1] = Columns_get(NamedOrders_getp_columns(o), 0, 1); END_VECTORIZE }"""
    described = {"get": Kernel(args=[Arg(NamedOrders, name="o"), Arg(xo.Float64, pointer=True, name="out")])}
    built = xo.build_kernels(ctx, described, [source])
    out = np.zeros(2)
    built["get"](o=NamedOrders(rows=[[1, 2], [3, 4]], columns=[[1, 2], [3, 4]], _context=ctx), out=out)
    assert out.tolist() == [2, 2]


def test_checked_mode_finds_bad_indices_and_null_references(ctx):
    source = """GPUKERN void set(Cells c, int64_t i) { VECTORIZE_OVER(j, 1) Cells_set_a(c, i, 7.0); END_VECTORIZE }
    GPUKERN void through(Cells c) { VECTORIZE_OVER(j, 1) Cells_set_ref(c, 1, 7.0); END_VECTORIZE }"""
    described = {"set": Kernel(args=[CELLS, Arg(xo.Int64, name="i")]), "through": Kernel(args=[CELLS])}
    built = xo.build_kernels(ctx, described, [source], checked=True)
    item, empty = cells(_context=ctx), Cells(a=0, _context=ctx)
    built["set"](c=item, i=2)
    built["through"](c=item)
    before = item._bytes()
    assert words(lambda: built["set"](c=item, i=3), pl.CheckError) == "kernel `set`: index 3 is outside 0..3 of Cells.a"
    assert words(lambda: built["set"](c=item, i=-1), IndexError) == "kernel `set`: index -1 is outside 0..3 of Cells.a"
    assert words(lambda: built["set"](c=empty, i=0), pl.CheckError) == "kernel `set`: index 0 is outside 0..0 of Cells.a"
    assert words(lambda: built["through"](c=empty), pl.CheckError) == "kernel `through`: the reference Cells.ref is null"
    assert item._bytes() == before and (numbers(item.a), numbers(item.ref)) == ([1, 2, 7], [4, 7])


def test_the_c_functions_of_a_class_can_be_called_on_a_cpu(cpu):
    described = Cells._gen_kernels()
    chosen = {name: described[name] for name in ("Cells_get_n", "Cells_set_n", "Cells_get_a", "Cells_set_a", "Cells_len_a", "Cells_len_ref", "Cells_dim_a", "Cells_get_ref", "Cells_size")}
    cpu.add_kernels(kernels=chosen)
    item, k = cells(_context=cpu), cpu.kernels
    assert (k.Cells_get_n(obj=item), k.Cells_get_a(obj=item, i0=1), k.Cells_len_a(obj=item), k.Cells_len_ref(obj=item)) == (3, 2.0, 3, 2)
    assert (k.Cells_dim_a(obj=item, axis=0), k.Cells_get_ref(obj=item, i0=1), k.Cells_size(obj=item)) == (3, 5.0, item._size)
    k.Cells_set_n(obj=item, value=9)
    k.Cells_set_a(obj=item, i0=0, value=7.5)
    assert (item.n, item.a[0]) == (9, 7.5)
    assert "double Cells_get_a(const Cells obj, int64_t i0);" in Cells._gen_c_decl() and Cells._get_c_api() == Cells._gen_c_api()


def test_classes_compile_for_cuda_without_a_gpu(nvrtc):
    sources = [cls._gen_c_api() for cls in (xo.Float64[:], Cells)]
    assert pl.compile_for("cuda", "sm_90", [*sources, SOURCE], classes=["ArrNFloat64", "Cells"])[:4] == b"\x7fELF"


def test_classes_compile_for_hip_without_a_gpu():
    sources = [xo.Float64[:]._gen_c_api(), Cells._gen_c_api(), SOURCE]
    code = f"""
        import parloop as pl
        try:
            pl.compile_for("hip", "gfx90a", "GPUKERN void k(double *x) {{ x[0] = 1; }}")
        except pl.errors.CompilerMissingError as error:
            print("MISSING", error)
            raise SystemExit
        print(len(pl.compile_for("hip", "gfx90a", {sources!r}, classes=["ArrNFloat64", "Cells"])) > 0)
    """
    printed = run_python(code)
    if printed.startswith("MISSING"):
        missing(f"AMD's hiprtc ({printed})")
    assert printed.strip() == "True"


def test_kernels_are_kept_in_a_file_and_loaded_without_a_compiler(ctx, tmp_path):
    source = "GPUKERN void more(Cells c, int64_t by) { VECTORIZE_OVER(i, 1) Cells_set_n(c, Cells_get_n(c) + by); END_VECTORIZE }"
    described = {"more": Kernel(args=[CELLS, Arg(xo.Int64, name="by")])}
    path = tmp_path / "kernels.bin"
    xo.build_kernels(ctx, described, [source], save_as=path)
    item = cells(_context=ctx)
    before = item.n
    loaded = xo.load_kernels(ctx, path, described)
    loaded["more"](c=item, by=3)
    assert item.n == before + 3
    assert words(lambda: loaded["more"](c=Orders(rows=(1, 1), columns=(1, 1), _context=ctx), by=3), TypeError) == (
        "argument `c` of kernel `more` is declared `Cells`, but an object of class `Orders` was given"
    )


THRICE = """
GPUKERN void thrice(GPUGLMEM double *x, const int n) { VECTORIZE_OVER(i, n) x[i] *= 3; END_VECTORIZE }
GPUKERN void origin(GPUGLMEM double *x, const int n) { VECTORIZE_OVER(i, n) x[i] = 0; END_VECTORIZE }
"""


def test_signatures_of_added_kernels_are_read_from_the_source(ctx):
    x = ctx.array(np.arange(3.0), copy=True)
    ctx.kernels.clear()
    ctx.add_kernels(sources=[THRICE])
    assert sorted(ctx.kernels) == ["origin", "thrice"]
    ctx.kernels.thrice(x=x, n=3)
    assert x.numpy().tolist() == [0, 3, 6]
    ctx.kernels["origin"](x=x, n=3)
    assert x.numpy().tolist() == [0, 0, 0]
    ctx.kernels.clear()
    ctx.add_kernels(sources=[THRICE], kernels=["thrice"])
    assert list(ctx.kernels) == ["thrice"]
    ctx.kernels.clear()
    ctx.add_kernels(sources=[THRICE], kernels={"three": Kernel(c_name="thrice", n_threads="n")})
    x = ctx.array(np.ones(3), copy=True)
    ctx.kernels.three(x=x, n=3)
    assert list(ctx.kernels) == ["three"] and x.numpy().tolist() == [3, 3, 3]
    with pytest.raises(pl.KernelNotFoundError, match="the program has no kernel `twice`; it has origin, thrice"):
        ctx.add_kernels(sources=[THRICE], kernels=["twice"])
    ctx.kernels.clear()
