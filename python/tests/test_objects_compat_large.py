"""What large programs that were written for xobjects, such as xtrack, expect of it."""

import ctypes
import json
import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import parloop as pl
import parloop.compat._xobjects as xo


class Element(xo.Struct):
    length = xo.Float64
    order = xo.Int32
    knl = xo.Float64[:]


def cpu_kernel(source, args, **options):
    """A kernel of a CPU context from C."""
    context = options.pop("context", None) or xo.ContextCpu()
    description = xo.Kernel(args=args, c_name="run", **options)
    return context.build_kernels(sources=[source], kernel_descriptions={"run": description})["run"]


def test_numbers_of_fields_and_items_are_numpy_scalars():
    for context in (xo.ContextCpu(), xo.ContextPyopencl()):
        element = Element(length=2.5, order=3, knl=[1, 2], _context=context)
        assert type(element.length) is np.float64 and element.length == 2.5
        assert type(element.order) is np.int32 and element.order == 3
        assert type(element.knl[1]) is np.float64 and element.knl[1] == 2.0
    for scalar in (xo.Int8, xo.UInt8, xo.Int16, xo.UInt16, xo.UInt32, xo.Int64, xo.UInt64, xo.Float32):
        assert type(scalar[2]([1, 2])[0]) is scalar._dtype.type
    assert pickle.loads(pickle.dumps(xo.Float64)) is xo.Float64
    assert type(pickle.loads(pickle.dumps(Element(knl=3))).length) is np.float64


def test_numbers_are_taken_as_numpy_converts_them():
    element = Element(length=[0.5], order=1e3, knl=np.array([1, 2], dtype=np.int64))
    assert (element.length, element.order, element.knl.to_nparray().tolist()) == (0.5, 1000, [1.0, 2.0])
    element.order = 7.9
    element.length = np.array([[4]])
    assert (element.order, element.length) == (7, 4.0)
    assert xo.Int64[:]([1.7, -1.7]).to_nparray().tolist() == xo.Int64[:](np.array([1.7, -1.7])).to_nparray().tolist() == [1, -1]
    with pytest.raises(pl.errors.ObjectRangeError):
        element.order = 1e20
    with pytest.raises(pl.errors.ObjectTypeError):
        element.length = [1.0, 2.0]


def test_objects_stay_in_their_buffer_until_they_are_freed():
    buffer = xo.ContextCpu().new_buffer(1024)
    element = Element(length=1.5, knl=4, _buffer=buffer)
    offset, size, free = element._offset, element._size, buffer.get_free()
    del element
    assert buffer.get_free() == free
    assert Element._from_buffer(buffer, offset).length == 1.5
    buffer.free(offset, size)
    assert buffer.get_free() == free + size
    own = Element(knl=1)._buffer
    assert isinstance(own, xo.context.XBuffer) and Element._from_buffer(own, 0).length == 0
    # Objects of parloop.objects go with their last holder.
    plain = pl.Context("cpu:1").new_buffer(1024)
    free = plain.get_free()
    del_me = pl.objects.Float64[4](_buffer=plain)
    del del_me
    assert plain.get_free() == free


def test_what_was_freed_is_not_read_again():
    element = Element(knl=1, _buffer=xo.ContextCpu().new_buffer(256))
    element._buffer.free(element._offset, element._size)
    with pytest.raises(pl.errors.FreedError):
        element.length


@pytest.mark.parametrize("threads", [0, 2])
def test_lines_are_for_the_context_that_they_name(threads):
    source = """
        void run(GPUGLMEM int32_t *out) {
            out[0] = 0;
            out[0] += 1; //only_for_context cpu_serial
            out[0] += 2; //only_for_context cpu_openmp
            out[0] += 4; //only_for_context opencl cuda
        }"""
    kernel = cpu_kernel(source, [xo.Arg(xo.Int32, pointer=True, name="out")], context=xo.ContextCpu(omp_num_threads=threads))
    out = np.zeros(1, np.int32)
    kernel(out=out)
    assert out[0] == (2 if threads else 1)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_openmp_has_as_many_threads_as_the_context(threads):
    source = """
        void run(GPUGLMEM int32_t *out) {
            out[0] = 0;
            #pragma omp parallel
            {
                #pragma omp atomic
                out[0] += 1;
            }
        }"""
    kernel = cpu_kernel(source, [xo.Arg(xo.Int32, pointer=True, name="out")], context=xo.ContextCpu(omp_num_threads=threads))
    out = np.zeros(1, np.int32)
    kernel(out=out)
    assert out[0] == threads


def test_a_built_kernel_has_its_description_and_threads_can_be_set():
    args = [xo.Arg(xo.Float64, pointer=True, name="x"), xo.Arg(xo.Int32, name="n")]
    source = "GPUKERN void run(GPUGLMEM double *x, int32_t n) { VECTORIZE_OVER(i, n) x[i] += 1; END_VECTORIZE }"
    for context in (xo.ContextCpu(), xo.ContextPyopencl()):
        description = xo.Kernel(args=args, c_name="run")
        kernel = context.build_kernels(sources=[source], kernel_descriptions={"grow": description})["grow"]
        assert kernel.description is description and description.pyname == "grow" and kernel.num_args == 2
        assert kernel.context is context and "x[i] += 1" in kernel.source and kernel.source == kernel.specialized_source
        assert [arg.get_c_type() for arg in kernel.description.args] == ["double*", "int32_t"]
        kernel.description.n_threads = 5
        x = context.nparray_to_context_array(np.zeros(5))
        kernel(x=x, n=5.0)
        assert context.nparray_from_context_array(x).tolist() == [1] * 5


def test_a_kernel_is_named_before_it_is_there_and_nothing_is_compiled_where_that_is_asked():
    context = xo.ContextCpu()
    run = context.kernels.run
    run.set_n_threads(3)
    with pytest.raises(KeyError):
        run(x=1)
    with pytest.raises(ValueError, match="Kernels can only be called with named arguments; 1 without a name were given to run"):
        run(1)
    description = xo.Kernel(args=[xo.Arg(Element, name="el")], c_name="run")
    context.add_kernels(sources=["this is not C"], kernels={"run": description}, compile=False)
    assert description.get_classes() == [Element]
    with pytest.raises(ValueError, match="Kernel run is not compiled yet"):
        run(el=Element(knl=1))


UNREADABLE = """
    #define NAME(A) CONCAT(A, _twice)
    #define CONCAT(A, B) CONCAT_(A, B)
    #define CONCAT_(A, B) A##B
    GPUFUN
    #ifdef XO_CONTEXT_CL
    __attribute__((noinline))
    #endif
    void NAME(x)(GPUGLMEM double *x, int64_t n) {
        for (int64_t i = 0; i < n; i++) {
    #ifdef MORE
            if (x[i] > 1) {
    #else
            if (x[i] > 0) {
    #endif
                x[i] *= 2;
            }
        }
    }
    #define BEGIN {
    GPUFUN void broken(void) BEGIN if (1) { } }
    GPUKERN void run(GPUGLMEM double *x, const int64_t n) {
    #ifdef XO_CONTEXT_CPU
        x_twice(x, n);
    #else
        if (get_global_id(0) == 0) { x_twice(x, n); }
    #endif
    }
"""


def test_a_described_kernel_is_found_where_the_text_around_it_cannot_be_read():
    args = [xo.Arg(xo.Float64, pointer=True, name="x"), xo.Arg(xo.Int64, name="n")]
    for context in (xo.ContextCpu(), xo.ContextCpu(omp_num_threads=2), xo.ContextPyopencl()):
        kernel = cpu_kernel(UNREADABLE, args, context=context, n_threads=1)
        x = context.nparray_to_context_array(np.array([-1.0, 1.0, 2.0]))
        kernel(x=x, n=3)
        assert context.nparray_from_context_array(x).tolist() == [-1, 2, 4]


def test_a_description_that_the_source_contradicts_is_still_an_error():
    args = [xo.Arg(xo.Float32, pointer=True, name="x"), xo.Arg(xo.Int64, name="n")]
    with pytest.raises(pl.errors.SourceError):
        cpu_kernel(UNREADABLE, args)


def test_functions_take_pointers_to_any_memory_on_opencl():
    source = """
        GPUFUN double sum(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
        #define GET(NAME) get_##NAME
        GPUFUN double get_length(void) { return 100; }
        GPUKERN void run(GPUGLMEM double *x) {
            double own[2];
            own[0] = 1; own[1] = 2;
            atomicAdd(&x[2], sum(own, 2) + sum(x, 2) + GET(length)());
        }"""
    context = xo.ContextPyopencl()
    kernel = cpu_kernel(source, [xo.Arg(xo.Float64, pointer=True, name="x")], context=context, n_threads=1)
    x = context.nparray_to_context_array(np.array([10.0, 20.0, 0.0]))
    kernel(x=x)
    assert context.nparray_from_context_array(x).tolist() == [10, 20, 133]


def test_a_header_may_include_itself(tmp_path):
    (tmp_path / "own.h").write_text('#ifndef OWN_H\n#define OWN_H\n#include "own.h"\nGPUFUN int one(void) { return 1; }\n#endif\n')
    kernel = xo.ContextCpu().build_kernels(
        sources=['#include "own.h"\nint run(void) { return one(); }'],
        kernel_descriptions={"run": xo.Kernel(args=[], ret=xo.Arg(xo.Int32))},
        extra_compile_args=[f"-I{tmp_path}"],
    )["run"]
    assert kernel() == 1


def test_packages_that_offer_c_sources_are_found_and_not_imported(tmp_path):
    package, described = tmp_path / "offering", tmp_path / "offering-1.0.dist-info"
    for folder in (package, described):
        folder.mkdir()
    (package / "__init__.py").write_text("raise ImportError('imported')\n")
    (package / "value.h").write_text("#define VALUE 7\n")
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: offering\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text("[xobjects]\ninclude = offering\n")
    program = """
        import sys
        import parloop.compat._xobjects as xo
        source = '#include <offering/value.h>\\nint run(void) { return VALUE; }'
        kernels = xo.ContextCpu().build_kernels(sources=[source], kernel_descriptions={"run": xo.Kernel(args=[], ret=xo.Arg(xo.Int32))})
        print(kernels["run"](), "offering" in sys.modules)
    """
    search = os.pathsep.join([str(tmp_path), *sys.path])
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.split() == ["7", "False"], done.stderr


def test_kernels_of_a_shared_library_are_called_by_their_symbols(tmp_path):
    source = tmp_path / "made.c"
    source.write_text(
        "#include <stdint.h>\n"
        "void scale(double *el, double by, int32_t *count) { el[0] *= by; count[0] += 1; }\n"
        "double half(double x) { return x / 2; }\n"
    )
    context = xo.ContextCpu()
    path = xo.context._module_file("made", tmp_path)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(path), str(source)], check=True)

    class Point(xo.Struct):
        x = xo.Float64

    args = [xo.Arg(Point, name="el"), xo.Arg(xo.Float64, name="by"), xo.Arg(xo.Int32, pointer=True, name="count")]
    descriptions = {
        "scale": xo.Kernel(args=args),
        "halved": xo.Kernel(args=[xo.Arg(xo.Float64, name="x")], c_name="half", ret=xo.Arg(xo.Float64)),
    }
    kernels = context.kernels_from_file("made", descriptions, containing_dir=tmp_path)
    point, count = Point(x=3), np.zeros(1, np.int32)
    kernels["scale"](el=point, by=2, count=count)
    assert (point.x, count[0], kernels["halved"](x=5)) == (6.0, 1, 2.5)
    assert kernels["scale"].description is descriptions["scale"]
    with pytest.raises(TypeError, match="argument `count` of scale is an array of int32; one of float64 was given"):
        kernels["scale"](el=point, by=2, count=np.zeros(1))
    with pytest.raises(TypeError, match="argument `el` of scale is an object of Point; one of Element was given"):
        kernels["scale"](el=Element(knl=1), by=2, count=count)
    with pytest.raises(pl.KernelNotFoundError, match="has no function `missing`; build the kernels from source"):
        context.kernels_from_file("made", {"missing": xo.Kernel(args=[])}, containing_dir=tmp_path)
    assert ctypes.sizeof(ctypes.c_double) == Point._size


def library_kernel(folder, source, args, *, options=(), **described):
    """A kernel of a shared library that another compiler made."""
    text = folder / "library.c"
    text.write_text("#include <stdint.h>\n" + source)
    path = xo.context._module_file("library", folder)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(path), str(text), *options], check=True)
    description = xo.Kernel(args=args, c_name="run", **described)
    return xo.ContextCpu().kernels_from_file("library", {"run": description}, containing_dir=folder)["run"]


def point_class(kind, *names):
    return type("Point", (xo.Struct,), {name: kind for name in names})


def test_a_library_is_not_passed_an_object_of_another_class_of_that_name(tmp_path):
    declared, same, other = point_class(xo.Float64, "x", "y"), point_class(xo.Float64, "x", "y"), point_class(xo.Int64, "x")
    kernel = library_kernel(tmp_path, "void run(double *p) { p[1] = 7; }", [xo.Arg(declared, name="p")])
    point = same(x=1, y=2)
    kernel(p=point)
    assert point.y == 7
    message = "argument `p` of kernel `run` is declared `Point`, but an object of class `Point` was given; it is another class of that name"
    for value in (other(x=1), type("Point", (), {})()):
        with pytest.raises(pl.ArgumentError, match=message):
            kernel(p=value)


def test_a_library_writes_to_no_array_that_is_read_only(tmp_path):
    x = np.zeros(3)
    x.flags.writeable = False
    source = "double run(double *x) { return x[0] += 1; }"
    args = [xo.Arg(xo.Float64, pointer=True, name="x")]
    message = r"argument `x` of kernel `run` is declared `double \*`, but the array is read-only; declare it const or pass a copy"
    for kernel in (library_kernel(tmp_path, source, args), cpu_kernel(source, args, ret=xo.Arg(xo.Float64))):
        with pytest.raises(pl.errors.ArgumentValueError, match=message):
            kernel(x=x)
    assert x[0] == 0
    args = [xo.Arg(xo.Float64, pointer=True, name="x", const=True)]
    assert library_kernel(tmp_path, "double run(const double *x) { return x[0] + 1; }", args, ret=xo.Arg(xo.Float64))(x=x) == 1


def test_a_library_returns_pointers_as_kernels_from_source_do(tmp_path):
    described = dict(args=[xo.Arg(xo.Float64, pointer=True, name="x")], ret=xo.Arg(xo.Float64, pointer=True))
    source = "double *run(double *x) { return x ? x + 1 : x; }"
    x = np.arange(4.0)
    for kernel in (library_kernel(tmp_path, source, **described), cpu_kernel(source, **described)):
        found = kernel(x=x)
        assert type(found) is pl.Pointer and (found, found.dtype, found[1]) == (x.ctypes.data + 8, np.float64, 2.0)
        null = kernel(x=None)
        assert type(null) is pl.Pointer and null == 0
    point = point_class(xo.Float64, "x")
    kernel = library_kernel(tmp_path, "void *run(void *p) { return p; }", [xo.Arg(point, name="p")], ret=xo.Arg(point))
    assert kernel(p=point(x=1)).class_name == "Point"


@pytest.mark.parametrize("prebuilt", [False, True])
def test_integers_that_do_not_fit_are_not_passed_to_kernels(tmp_path, prebuilt):
    def kernel(kind):
        source = f"{kind._c_type} run({kind._c_type} n) {{ return n; }}"
        args, ret = [xo.Arg(kind, name="n")], xo.Arg(kind)
        return library_kernel(tmp_path, source, args, ret=ret) if prebuilt else cpu_kernel(source, args, ret=ret)

    run = kernel(xo.Int32)
    for value in (np.int64(2**32 + 2), np.uint64(2**63), np.array(2**32), np.float64(1e20), np.longdouble(-1e20), np.inf, 2**32 + 2):
        with pytest.raises(pl.errors.ArgumentRangeError, match="argument `n` of kernel `run` is declared `int32_t`, but .* does not fit into int32"):
            run(n=value)
    for value in (np.nan, np.float32(np.nan)):
        with pytest.raises(pl.errors.ArgumentValueError, match="but nan does not fit into int32"):
            run(n=value)
    for value, passed in ((np.int64(-(2**31)), -(2**31)), (2**31 - 0.5, 2**31 - 1), (np.float64(-7.9), -7), (np.array(5), 5), (True, 1)):
        assert run(n=value) == passed
    run = kernel(xo.UInt64)
    assert run(n=np.uint64(2**64 - 1)) == run(n=2**64 - 1) == 2**64 - 1
    for value in (np.int8(-1), 2**64, np.float64(2.0**64)):
        with pytest.raises(pl.errors.ArgumentRangeError, match="does not fit into uint64"):
            run(n=value)


def test_a_library_that_was_compiled_again_is_loaded_again(tmp_path):
    kernels = [library_kernel(tmp_path, f"int32_t run(void) {{ return {value}; }}", [], ret=xo.Arg(xo.Int32)) for value in (1, 2, 3)]
    assert [kernel() for kernel in kernels] == [1, 2, 3]


def test_a_library_that_did_not_change_is_loaded_once(tmp_path):
    source = "int32_t run(void) { static int32_t calls; return ++calls; }"
    first = library_kernel(tmp_path, source, [], ret=xo.Arg(xo.Int32))
    second = xo.ContextCpu().kernels_from_file("library", {"run": first.description}, containing_dir=tmp_path)["run"]
    assert (first(), second()) == (1, 2)


def test_a_library_that_finds_others_by_its_place_is_loaded_from_there(tmp_path):
    (tmp_path / "other.c").write_text("int other(void) { return 5; }")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "libother.so", "other.c"], cwd=tmp_path, check=True)
    options = [f"-L{tmp_path}", "-lother", "-Wl,-rpath,$ORIGIN"]
    source = "int other(void);\nint32_t run(void) { return other(); }"
    assert library_kernel(tmp_path, source, [], options=options, ret=xo.Arg(xo.Int32))() == 5
    with pytest.raises(ImportError, match="was compiled again after it was loaded, .* start Python again, or give the library another name"):
        library_kernel(tmp_path, source.replace("other();", "-other();"), [], options=options, ret=xo.Arg(xo.Int32))


def test_a_library_that_cannot_be_loaded_is_named(tmp_path):
    path = xo.context._module_file("damaged", tmp_path)
    path.write_bytes(b"\x7fELF and nothing more")
    with pytest.raises(OSError, match=f"{path} cannot be loaded: "):
        xo.ContextCpu().kernels_from_file("damaged", {"run": xo.Kernel(args=[])}, containing_dir=tmp_path)


def test_kernels_that_were_kept_are_loaded_again(tmp_path):
    source = "double run(double x) { return 2 * x; }"
    described = {"run": xo.Kernel(args=[xo.Arg(xo.Float64, name="x")], ret=xo.Arg(xo.Float64))}
    context = xo.ContextCpu()
    context.build_kernels(described, module_name="kept", containing_dir=tmp_path, sources=[source], save_source_as="kept.c")
    assert "2 * x" in (tmp_path / "kept.c").read_text()
    assert context.kernels_from_file("kept", described, containing_dir=tmp_path)["run"](x=4) == 8


def test_internals_that_programs_build_upon():
    class Base(xo.HybridClass):
        _xofields = {"a": xo.Float64, "el": Element}

    assert xo.hybrid_class._build_xofields_dict((Base,), {}) == {"a": xo.Float64, "el": Element}
    assert isinstance(Element, xo.struct.MetaStruct) and xo.array.is_array(xo.Float64[:])

    class Union(xo.UnionRef):
        _reftypes = [Element]

    assert Union._reftypes + [1] == [Element, 1]
    assert Element.length.get_default() == 0 and xo.Field(xo.Int64, default=3).get_default() == 3
    assert Element(knl=[1, 2])._offsets == {2: Element(knl=2)._get_offset("knl")}
    context = xo.ContextCpu()
    before = context._allocations
    buffer = context.new_buffer()
    assert context._allocations == before + 1 and list(context._buffers) == [buffer]
    assert xo.context_cpu.cdef_from_kernel(xo.Kernel([xo.Arg(Element, name="el")], c_name="f")) == "void f(Element);"


def test_names_that_are_stored_without_a_value_are_left_out_of_dicts():
    class Named(xo.HybridClass):
        _xofields = {"a": xo.Float64}
        _store_in_to_dict = ["label", "note"]
        label = None
        note = "kept"

    assert Named(a=2).to_dict() == {"__class__": "Named", "a": 2.0, "note": "kept"}
    assert json.loads(json.dumps(Named(a=2).to_dict(), cls=xo.JEncoder))["a"] == 2.0


def run_script(folder, text, *options):
    path = folder / "script.py"
    path.write_text(textwrap.dedent(text))
    command = [sys.executable, "-m", "parloop.compat", *options, str(path)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)


def test_a_default_context_that_is_replaced_takes_effect(tmp_path):
    done = run_script(tmp_path, """
        import xobjects as xo
        other = xo.ContextCpu()
        before = xo.typeutils.context_default
        xo.typeutils.context_default = other
        assert xo.Float64[3]()._context is other
        xo.typeutils.context_default = before
        assert xo.Float64[3]()._context is before
    """)
    assert (done.stderr, done.returncode) == ("", 0)


LINE = """
    import numpy as np, xobjects as xo, xtrack as xt

    assert xo.__name__ == "parloop.compat._xobjects"
    for context in (xo.ContextCpu(), xo.ContextCpu(omp_num_threads=2)):
        line = xt.Line(
            elements=[xt.Drift(length=2.0), xt.Multipole(knl=[0, 0.5], ksl=[0, 0]), xt.Drift(length=1.0), xt.Multipole(knl=[0, -0.5], ksl=[0, 0])],
            element_names=["d1", "q1", "d2", "q2"],
        )
        line.particle_ref = xt.Particles(p0c=6500e9, mass0=xt.PROTON_MASS_EV)
        line.build_tracker(_context=context)
        x, px = np.linspace(-1e-3, 1e-3, 9), np.linspace(1e-5, -1e-5, 9)
        particles = xt.Particles(p0c=6500e9, x=x, px=px, _context=context)
        line.track(particles, num_turns=10)
        for _ in range(10):
            for length, k in ((2, 0.5), (1, -0.5)):
                x = x + length * px
                px = px - k * x
        assert np.all(particles.state == 1) and np.all(particles.at_turn == 10)
        assert np.allclose(particles.x, x, rtol=1e-8, atol=0) and np.allclose(particles.px, px, rtol=1e-8, atol=0)
        print("tracked on", context)
"""


def test_a_line_of_four_elements_is_tracked(tmp_path):
    pytest.importorskip("xtrack", reason="xtrack is not installed")
    done = run_script(tmp_path, LINE, "--only", "xobjects")
    assert done.stdout.splitlines()[-2:] == ["tracked on ContextCpu", "tracked on ContextCpu:2"], done.stdout + done.stderr


def test_arrays_of_a_gpu_keep_the_order_of_those_of_the_host():
    context = xo.ContextPyopencl()
    host = np.asfortranarray(np.arange(24.0).reshape(4, 3, 2)) * (1 + 1j)
    there, work = context.nparray_to_context_array(host), context.zeros(host.shape, dtype=np.complex128, order="F")
    assert there.strides == work.strides == host.strides
    # A plan that was made for one is for the other too.
    plan = context.plan_FFT(there, axes=(0, 1, 2))
    work.T[:, :, :] = there.T
    plan.transform(work)
    np.testing.assert_allclose(work.get(), np.fft.fftn(host), rtol=1e-12, atol=1e-12)


def test_numbers_of_arrays_of_a_gpu_are_numbers_of_the_host():
    context = xo.ContextPyopencl()
    there = context.nparray_to_context_array(np.array([1, 2, 3]))
    assert context.nparray_from_context_array(there[1]) == 2 and float(context.nparray_from_context_array(there.sum())) == 6.0
    assert context.nparray_from_context_array(there).tolist() == [1, 2, 3]


def test_libraries_of_a_gpu_are_the_namespace_of_arrays():
    context = xo.ContextPyopencl()
    lib, host = context.nplike_lib, np.random.default_rng(5).normal(size=(6, 8))
    x = context.nparray_to_context_array(host)
    edges = np.linspace(-2.0, 2.0, 9)
    there = lib.linspace(-2.0, 2.0, 9)
    assert isinstance(there, pl.Array) and there.device == context.device
    pairs = [
        (there, edges),
        (lib.digitize(x, there, right=True), np.digitize(host, edges, right=True)),
        (lib.tile(x, (2, 1)), np.tile(host, (2, 1))),
        (lib.hstack([x, lib.zeros((lib.shape(x)[0], 2))]), np.hstack([host, np.zeros((6, 2))])),
        (lib.ravel(lib.flip(x, axis=0)), np.ravel(np.flip(host, axis=0))),
        (lib.meshgrid(there, x[0])[1], np.meshgrid(edges, host[0])[1]),
        (lib.histogram(x[0], there, density=True)[0], np.histogram(host[0], edges, density=True)[0]),
        (lib.interp(x[1], there, lib.exp(there)), np.interp(host[1], edges, np.exp(edges))),
        (lib.fft.rfft(x, n=16), np.fft.rfft(host, n=16)),
        (context.splike_lib.fft.irfft(context.splike_lib.fft.rfft(x, axis=0), n=6, axis=0), host),
        (lib.fft.rfftfreq(16), np.fft.rfftfreq(16)),
        (lib.atleast_2d(x.mean(axis=1)).T, np.atleast_2d(host.mean(axis=1)).T),
        (lib.transpose(lib.tile(lib.arange(3), (2, 1))), np.tile(np.arange(3), (2, 1)).T),
        (lib.where(x[0] > 0)[0], np.where(host[0] > 0)[0]),
        (lib.zeros_like(x, dtype=lib.int64), np.zeros_like(host, dtype=np.int64)),
    ]
    for found, expected in pairs:
        assert isinstance(found, pl.Array) and found.device == context.device and found.dtype == expected.dtype
        np.testing.assert_allclose(found.get(), expected, rtol=1e-12, atol=1e-12)
    drawn = lib.random.default_rng(3).standard_normal(1000)
    assert drawn.device == context.device and abs(float(drawn.mean())) < 0.2


def test_the_source_decides_how_wide_an_integer_is_that_is_passed_by_value():
    source = "GPUKERN void run(const int32_t n, GPUGLMEM int64_t *out, uint8_t b) { VECTORIZE_OVER(i, n) out[i] = n + b; END_VECTORIZE }"
    args = [xo.Arg(xo.Int64, name="n"), xo.Arg(xo.Int64, pointer=True, name="out"), xo.Arg(xo.UInt32, name="b")]
    for context in (xo.ContextCpu(), xo.ContextCpu(omp_num_threads=2), xo.ContextPyopencl()):
        kernel = context.build_kernels(sources=[source], kernel_descriptions={"run": xo.Kernel(args=args, c_name="run", n_threads="n")})["run"]
        out = context.zeros(4, dtype=np.int64)
        kernel(n=4, out=out, b=3)
        assert out.tolist() == [7, 7, 7, 7]
        with pytest.raises(pl.errors.ArgumentRangeError, match="argument `b` of kernel `run` is declared `uint8_t`, but 300 does not fit into uint8"):
            kernel(n=4, out=out, b=300)
    # Pointers and other numbers are as wide as described, or the description is wrong.
    wrong = [xo.Arg(xo.Int32, name="n"), xo.Arg(xo.Int32, pointer=True, name="out"), xo.Arg(xo.UInt8, name="b")]
    with pytest.raises(pl.errors.SourceError, match="kernel `run` was described with argument 2 as `int32_t"):
        cpu_kernel(source, wrong)


SPACE_CHARGE = """
    import numpy as np, xobjects as xo, xtrack as xt, xfields as xf
    found = []
    for context in (xo.ContextCpu(omp_num_threads=2), xo.ContextPyopencl()):
        rng = np.random.default_rng(1)
        beam = xt.Particles(_context=context, p0c=26e9, x=3e-3 * rng.standard_normal(500), y=2e-3 * rng.standard_normal(500),
            zeta=0.2 * rng.standard_normal(500), weight=2e8)
        profile = xf.LongitudinalProfileQGaussian(_context=context, number_of_particles=1e11, sigma_z=0.2, z0=0.0, q_parameter=1.0)
        element = xf.SpaceChargeBiGaussian(_context=context, update_on_track=True, length=10.0, longitudinal_profile=profile, sigma_x=1.0, sigma_y=1.0)
        grid = xf.SpaceCharge3D(_context=context, length=10.0, x_range=(-0.02, 0.02), y_range=(-0.02, 0.02), z_range=(-1.0, 1.0),
            nx=16, ny=12, nz=8, solver="FFTSolver3D", gamma0=27.7)
        for each in (element, grid):
            each.track(beam)
        found.append([context.nparray_from_context_array(values) for values in (beam.px, beam.py, beam.delta)])
    for own, other in zip(*found):
        assert np.abs(own).max() > 0
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-12 * np.abs(own).max())
    print("same")
"""


def test_space_charge_of_xfields_has_the_same_numbers_on_opencl_and_threads(tmp_path):
    """Both take the same formula for the complex error function, which one thread does not."""
    pytest.importorskip("xfields", reason="xfields is not installed")
    done = run_script(tmp_path, SPACE_CHARGE, "--only", "xobjects")
    assert done.stdout.splitlines()[-1:] == ["same"], done.stdout + done.stderr
