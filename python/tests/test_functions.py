"""Plain functions as kernels on a CPU: which can be called, and the pointers that they return."""

import ctypes
import pickle

import numpy as np
import pytest

import parloop as pl

API = """
typedef GPUGLMEM struct Cells_s *Cells;
GPUFUN GPUGLMEM double *Cells_getp(Cells c, int64_t i) { return (GPUGLMEM double *)c + i; }
GPUFUN Cells Cells_self(Cells c) { return c; }
double Cells_get(Cells c, int64_t i) { return *Cells_getp(c, i); }
"""

SOURCE = """
static inline double hidden(double x) { return 2 * x; }
double open_one(double x) { return hidden(x); }
"""


def test_static_functions_and_those_of_an_api_need_a_description(cpu):
    prog = cpu.compile(SOURCE, api=API, classes=["Cells"])
    assert list(prog.kernels) == ["open_one"]
    for name in ("hidden", "Cells_get", "Cells_getp"):
        with pytest.raises(AttributeError) as caught:
            getattr(prog, name)
        assert isinstance(caught.value, pl.KernelNotFoundError)
        assert str(caught.value) == (
            f"`{name}` is static, GPUFUN or part of an API, so it can be called from the host only if it is described; add a description"
        )


def test_any_function_that_is_described_is_called(cpu):
    described = {
        "hidden": pl.Kernel(args=[pl.Arg("float64", name="value")], ret="float64"),
        "element": pl.Kernel(c_name="Cells_get", args=[pl.Arg("Cells"), pl.Arg("int64")], ret=pl.Arg("float64")),
    }
    prog = cpu.compile(SOURCE, api=API, classes=["Cells"], kernels=described)
    assert prog.hidden(value=2.5) == 5
    assert prog.element(cpu.array(np.arange(3.0)).memory, 2) == 2


def test_a_described_function_is_no_kernel_on_a_gpu(gpu):
    with pytest.raises(pl.KernelNotFoundError) as caught:
        gpu.compile(SOURCE, kernels={"hidden": pl.Kernel()})
    assert str(caught.value) == f"`hidden` is a plain function: only a GPUKERN function can be launched on {gpu.device.name}"


def test_messages_name_the_api_and_the_source(cpu):
    for sources, name in (({"source": SOURCE, "api": "\nint x = ;"}, "<api>:2:"), ({"source": "\nint x = ;", "api": API}, "<source>:2:")):
        with pytest.raises(pl.CompileError) as caught:
            cpu.compile(**sources)
        assert name in str(caught.value)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float32", "float64", "complex128"])
def test_elements_are_read_through_a_returned_pointer(cpu, dtype):
    c_type = {"float32": "float", "float64": "double", "complex128": "double _Complex", "bool": "bool"}.get(dtype, f"{dtype}_t")
    prog = cpu.compile(f"#include <complex.h>\n{c_type} *at(const {c_type} *x, int64_t i) {{ return ({c_type} *)x + i; }}")
    x = np.array([1, 0, 3, 7]).astype(dtype)
    pointer = prog.at(x, 2)
    assert isinstance(pointer, pl.Pointer) and pointer == x.ctypes.data + 2 * x.itemsize and hash(pointer) == hash(int(pointer))
    assert pointer.dtype == x.dtype and pointer.class_name is None
    assert [pointer[i] for i in (-2, -1, 0, 1)] == x.tolist()
    assert type(pointer[0]) is type(x[0].item())
    assert repr(pointer) == f"<Pointer to {dtype} at {int(pointer):#x}>"


def test_pointers_to_text_to_anything_and_to_objects(cpu):
    source = """
    const char *text(void) { return "text"; }
    void *any(void *x) { return x; }
    struct S *other(struct S *s) { return s; }
    """
    described = {"itself": pl.Kernel(c_name="Cells_self", ret="Cells"), "place": pl.Kernel(c_name="Cells_getp", ret=pl.Arg("float64", pointer=True))}
    prog = cpu.compile(source, api=API, classes=["Cells"], kernels=described)
    text = prog.text()
    assert bytes([text[i] for i in range(4)]) == b"text" == ctypes.string_at(text)
    x = cpu.array(np.arange(3.0))
    for call, name, words in ((prog.any, None, "void"), (prog.itself, "Cells", "Cells"), (prog.other, "struct S", "struct S")):
        pointer = call(x.memory)
        assert pointer == x.memory.handle and (pointer.dtype, pointer.class_name) == (None, name)
        assert repr(pointer) == f"<Pointer to {words} at {int(pointer):#x}>"
        with pytest.raises(TypeError, match=f"^a pointer to {words} has no elements to read$"):
            pointer[0]
        null = call(None)
        assert null == 0 and not null and repr(null) == f"<null Pointer to {words}>"
    place = prog.place.bind(x.memory, 1)
    assert place()[1] == 2


def test_a_null_pointer_is_not_read():
    with pytest.raises(ValueError, match="^the pointer is null$"):
        pl.Pointer(0, "float64")[0]


def test_a_pointer_that_knows_how_many_elements_there_are_checks_its_index():
    values = np.arange(3.0)
    pointer = pl.Pointer(values.ctypes.data, values.dtype, count=3, owner=values)
    assert ([pointer[i] for i in range(3)], pointer.count, pointer.owner is values) == ([0.0, 1.0, 2.0], 3, True)
    for index in (3, -1):
        with pytest.raises(IndexError, match=f"^the pointer refers to 3 elements; element {index} does not exist$"):
            pointer[index]
    assert pl.Pointer(4096, "int32").count is None


def test_a_pointer_is_an_integer_in_every_other_way():
    pointer = pl.Pointer(4096, "int32")
    assert pointer == 4096 and {4096: 1}[pointer] == 1 and f"{pointer:x}" == "1000" and pointer + 8 == 4104
    assert ctypes.c_void_p(pointer).value == 4096
    again = pickle.loads(pickle.dumps(pointer))
    assert again == pointer and again.dtype == np.int32
    with pytest.raises(TypeError):
        iter(pointer)


def test_a_wrong_return_type_is_refused(cpu):
    source = "double *at(double *x) { return x; }"
    for ret, words in (("float64", "double"), (pl.Arg("float32", pointer=True), "float *"), (pl.Arg(None), "void"), ("Cells", "Cells")):
        with pytest.raises(pl.errors.SourceError) as caught:
            cpu.compile(source, classes=["Cells"], kernels={"at": pl.Kernel(ret=ret)})
        assert str(caught.value) == f"kernel `at` was described with return type {words}, but its source says `double * at(double * x)` (line 1)"
