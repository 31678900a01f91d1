"""Objects of classes as arguments of kernels, by the protocol that typed objects follow."""

import kernels
import numpy as np
import pytest
from conftest import missing, run_python

import parloop as pl

CELLS = """
typedef GPUGLMEM struct Cells_s *Cells;
GPUFUN int64_t Cells_len(const Cells c) { return *(GPUGLMEM const int64_t *)c; }
GPUFUN GPUGLMEM double *Cells_getp(const Cells c, int64_t i) { return (GPUGLMEM double *)((GPUGLMEM char *)c + 8 + 8 * i); }
"""

SOURCE = """
GPUKERN void scale(Cells c, const double by) {
    VECTORIZE_OVER(i, Cells_len(c))
        *Cells_getp(c, i) *= by;
    END_VECTORIZE
}
GPUKERN void first(const Cells RESTRICT c, double *out) { out[0] = c == NULL ? -1 : *Cells_getp(c, 0); }
"""


class Cells:
    """A count and as many doubles, from any byte of a memory on."""

    _c_type = "Cells"
    name = "Cells"
    writable = True

    def __init__(self, ctx, values, offset=0):
        self.stream, self.offset = ctx.default_stream, offset
        self.memory = ctx.device.allocate(offset + 8 + 8 * len(values))
        self.stream.write(self.memory, np.array([len(values)]), offset)
        self.stream.write(self.memory, np.array(values, float), offset + 8)

    @property
    def __parloop_object__(self):
        return self.memory, self.offset, self.name, self.writable

    @property
    def values(self):
        out = np.zeros(self.memory.nbytes // 8 - self.offset // 8 - 1)
        self.stream.read(self.memory, out, self.offset + 8)
        return out.tolist()


@pytest.fixture
def prog(ctx):
    return ctx.compile([CELLS, SOURCE], classes=["Cells"])


def words(call, error):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("offset", [0, 8, 40])
def test_an_object_is_passed_from_where_it_is(ctx, prog, offset):
    cells, out = Cells(ctx, [1, 2, 3], offset), np.zeros(1)
    prog.scale(cells, by=3.0)
    assert cells.values == [3, 6, 9]
    prog.first(cells, out)
    assert out[0] == 3
    assert prog.scale.signature == "void scale(Cells c, double by)"
    assert prog.first.signature == "void first(const Cells c, double * out)"


def test_none_is_no_object(prog):
    out = np.zeros(1)
    prog.first(None, out)
    assert out[0] == -1


def test_memory_is_taken_for_an_object_as_it_is(ctx, prog):
    cells, out = Cells(ctx, [7]), np.zeros(1)
    prog.first(cells.memory, out)
    assert out[0] == 7


def test_a_bound_call_keeps_its_objects_memory(ctx, prog):
    cells = Cells(ctx, [1, 2], 16)
    step, memory = prog.scale.bind(cells, 2.0), cells.memory
    step()
    assert cells.values == [2, 4]
    del cells
    step()
    out = np.zeros(2)
    ctx.default_stream.read(memory, out, 24)
    assert out.tolist() == [4, 8]


def test_another_class_and_a_read_only_object_are_refused(ctx, prog):
    cells, out = Cells(ctx, [1]), np.zeros(1)
    cells.name = "Faces"
    message = words(lambda: prog.first(cells, out), TypeError)
    assert message == "argument `c` of kernel `first` is declared `const Cells`, but an object of class `Faces` was given"
    cells.name, cells.writable = "Cells", False
    prog.first(cells, out)
    message = words(lambda: prog.scale(cells, 2.0), ValueError)
    assert message == "argument `c` of kernel `scale` is declared `Cells`, but the object is read-only; declare it const or pass a copy"
    assert cells.values == [1]


@pytest.mark.parametrize("given", [np.zeros(3), 3.0, [1.0], "text"], ids=repr)
def test_what_is_no_object_is_refused_for_one(prog, given):
    out = np.zeros(1)
    message = words(lambda: prog.first(given, out), TypeError)
    assert message.startswith("argument `c` of kernel `first` is declared `const Cells`, but ")
    assert message.endswith("pass an object of that class" if not isinstance(given, str) else "declare it `const char *`")


def test_an_object_for_an_array_or_a_number_is_refused(ctx, prog):
    cells = Cells(ctx, [1])
    message = words(lambda: prog.first(cells, cells), TypeError)
    assert message == "argument `out` of kernel `first` is declared `double *`, but an object of class `Cells` was given; pass an array"
    assert "pass a single value" in words(lambda: prog.scale(cells, cells), TypeError)


def test_an_object_outside_its_memory_is_refused(ctx, prog):
    cells = Cells(ctx, [1])
    cells.offset = 17
    assert words(lambda: prog.scale(cells, 2.0), IndexError) == "argument: bytes 17..17+0 were asked for, but the memory has 16 bytes"
    cells.memory = None
    words(lambda: prog.scale(cells, 2.0), TypeError)


@pytest.mark.parametrize("atype", ["Cells", Cells], ids=["name", "class"])
def test_a_description_names_a_class(ctx, atype):
    described = pl.Kernel(args=[pl.Arg(atype, name="cells"), pl.Arg("float64")])
    prog = ctx.compile([CELLS, SOURCE], classes=["Cells"], kernels={"scale": described})
    cells = Cells(ctx, [2])
    prog.scale(cells=cells, by=5.0)
    assert cells.values == [10]
    wrong = pl.Kernel(args=[pl.Arg("float64", pointer=True), pl.Arg("float64")])
    message = words(lambda: ctx.compile([CELLS, SOURCE], classes=["Cells"], kernels={"scale": wrong}), ValueError)
    assert message == "kernel `scale` was described with argument 1 as `double *`, but its source says `void scale(Cells c, double by)` (line 2)"


def test_a_type_that_is_not_among_the_classes_is_refused(ctx):
    message = words(lambda: ctx.compile([CELLS, SOURCE]), pl.SourceError)
    assert message == (
        "<source 2>:2: parameter `c` of `scale` has type `Cells`, which is no scalar type and no pointer; name it among the classes if it "
        "is a pointer to an opaque struct"
    )


def test_classes_compile_for_cuda_without_a_gpu(nvrtc):
    assert pl.compile_for("cuda", "sm_90", [CELLS, SOURCE], classes=["Cells"])[:4] == b"\x7fELF"


def test_classes_compile_for_hip_without_a_gpu():
    code = f"""
        import parloop as pl
        try:
            pl.compile_for("hip", "gfx90a", {kernels.ONCE!r})
        except pl.CompilerMissingError as error:
            print("MISSING", error)
            raise SystemExit
        print(len(pl.compile_for("hip", "gfx90a", [{CELLS!r}, {SOURCE!r}], classes=["Cells"])) > 0)
    """
    printed = run_python(code)
    if printed.startswith("MISSING"):
        missing(f"AMD's hiprtc ({printed})")
    assert printed.strip() == "True"
