"""Compilers: their messages, their absence, their death, and binaries for devices that are not present."""

import os

import kernels
import numpy as np
import pytest
from conftest import DEVICES, missing, open_context, run_python

import parloop as pl

BROKEN = "GPUKERN void broken(double *x) {\n    x[0] = nothing_of_that_name;\n}\n"


def message_of(ctx, source, error=pl.CompileError, **options):
    with pytest.raises(error) as caught:
        ctx.compile(source, **options)
    return str(caught.value)


def names(message, file, line):
    """Whether a message names that line of that file, in the form of any of the compilers."""
    return f"{file}:{line}:" in message or f"{file}({line}):" in message


# messages -------------------------------------------------------------------------------------------------------------------------


def test_messages_name_the_users_line_and_show_it(ctx):
    lines = message_of(ctx, BROKEN).splitlines()
    assert lines[0].startswith("the compiler ") and lines[0].endswith("rejected the source:")
    place = next(index for index, line in enumerate(lines) if "error" in line and "<source>" in line)
    assert "<source>:2:" in lines[place] or "<source>(2)" in lines[place]
    assert any("x[0] = nothing_of_that_name;" in line for line in lines[place + 1 : place + 3])
    assert lines[-1].endswith('(save_source_as="FILE" saves the full source passed to the compiler)')


def test_the_first_line_of_gccs_message_is_the_compilers_own(in_new_process):
    printed = in_new_process(
        f"""
        import parloop as pl
        try:
            pl.Context("cpu:1").compile({BROKEN!r})
        except pl.CompileError as error:
            print(error)
        """,
        env={"PARLOOP_CC": "gcc"},
    )
    first, second = printed.splitlines()[:2]
    assert first.startswith("the compiler ") and first.endswith("/gcc rejected the source:")
    # GCC says first in which function it is.
    assert second.startswith("<source>: In function 'broken':") or second.startswith("<source>:2:12: error: 'nothing_of_that_name'")
    assert "<source>:2:12: error: 'nothing_of_that_name' undeclared" in printed


def test_pocl_names_the_place_in_the_users_source():
    lines = message_of(open_context("opencl"), BROKEN).splitlines()
    if "PoCL" not in lines[0]:
        pytest.skip("needs PoCL: these are its words; CI runs this test on it as well")
    assert lines[1] == "error: <source>:2:12: use of undeclared identifier 'nothing_of_that_name'"
    assert lines[2:4] == ["    2 |     x[0] = nothing_of_that_name;", "      |            ^"]


BUILT_IN = """GPUKERN void k(double *x, long *n, const int64_t count) {
  VECTORIZE_OVER(i, count)
    x[0] = sin(0.0) + max(x[0], 1.0) + fmin((double2)(x[1], x[2]), 2.5).y;
    n[0] = max(n[0], 1L) + abs_diff(n[0], 0L) + convert_long_sat(1e30) - LONG_MAX + mul_hi(n[0], 1L << 40);
    n[1] = isnan(x[0]) + (clamp(n[1], 0L, 1L << 50) == 1L << 50) + MORE;
  END_VECTORIZE
}"""


@pytest.mark.parametrize("more", ["0", "(long)dot((double2)(1, 2), (double2)(3, 4)) + mad24(2, 3, 4) - 21"])
def test_built_in_functions_of_opencl_take_numbers_of_every_type_on_pocl(more):
    """PoCL's header of all of them is read only where a source uses one that we do not declare."""
    ctx = open_context("opencl")
    x, n = ctx.array(np.array([0.5, 2.0, 3.0])), ctx.array(np.array([1 << 41, 1 << 60], np.int64))
    ctx.compile(BUILT_IN.replace("MORE", more)).k(x=x, n=n, count=1)
    assert x.numpy()[0] == 3.5
    assert n.numpy().tolist() == [(1 << 42) + (1 << 17), 1]


def test_messages_name_the_file_and_the_source_of_several(ctx, tmp_path):
    file = tmp_path / "mine.c"
    file.write_text("\n\n" + BROKEN)
    assert names(message_of(ctx, file), file, 4)
    assert names(message_of(ctx, ["int fine;" if ctx.device.kind == "cpu" else "", BROKEN]), "<source 2>", 2)
    (tmp_path / "broken.h").write_text(BROKEN)
    assert names(message_of(ctx, '#include "broken.h"\n', include=[tmp_path]), tmp_path / "broken.h", 2)


def test_lines_after_a_header_keep_their_numbers(ctx, tmp_path):
    (tmp_path / "long.h").write_text("\n" * 100)
    assert names(message_of(ctx, f'#include "long.h"\n{BROKEN}', include=[tmp_path]), "<source>", 3)


def test_messages_say_where_the_full_source_was_saved(ctx, tmp_path):
    path = tmp_path / "full.c"
    assert message_of(ctx, BROKEN, save_source_as=path).endswith(f"the full source is in {path}")
    assert "nothing_of_that_name" in path.read_text()
    unwritable = tmp_path / "no" / "such" / "folder.c"
    message = message_of(ctx, kernels.AXPY, pl.errors.SourceError, save_source_as=unwritable)
    assert message.startswith(f"the full source could not be saved as {unwritable}: ")


def test_sources_that_cannot_be_read_are_named(ctx, tmp_path):
    path = tmp_path / "absent.c"
    expected = f"source file {path} could not be read: No such file or directory (os error 2)"
    assert message_of(ctx, path, pl.errors.SourceError) == expected
    assert message_of(ctx, str(path), pl.errors.SourceError) == expected
    binary = tmp_path / "binary.c"
    binary.write_bytes(b"\xff\xfe")
    assert f"source file {binary} could not be read" in message_of(ctx, binary, pl.errors.SourceError)
    for wrong in (3, None, [3]):
        with pytest.raises(TypeError, match="a source must be text or a path, not"):
            ctx.compile(wrong)
    with pytest.raises(ValueError, match="no source was given"):
        ctx.compile([])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("\nGPUKERN void k(struct S s) {}", "<source>:2: parameter `s` of `k` has type `struct S`, which is neither a scalar type nor a pointer"),
        ("GPUKERN void k(int a, int a) {}", "<source>:1: `k` has two parameters `a`"),
        ("GPUKERN void k(int a, ...) {}", "<source>:1: `k` takes a variable number of arguments"),
        ("GPUKERN struct S k(int a) {}", "<source>:1: `k` returns `struct S`, which is not a scalar type"),
        ("GPUKERN void k(void (*f)(int)) {}", "<source>:1: parameter `arg0` of `k` is neither a scalar nor a pointer"),
        ("GPUKERN void k(int n) {\nVECTORIZE_OVER(i, n)\nVECTORIZE_OVER(j, n) END_VECTORIZE END_VECTORIZE }",
         "<source>:3: VECTORIZE_OVER is nested inside another; write the inner loop as a plain `for`"),
        ("\n\n//vectorize_over i\n", "<source>:3: `//vectorize_over` takes an index and a count, not `i`"),
        ("//include_file nowhere.h for_context cpu_serial opencl cuda\n",
         "<source>:1: `//include_file`: nowhere.h was not found; add its folder to the include folders"),
    ],
)  # fmt: skip
def test_a_mistake_that_we_see_first_is_named_at_its_line(ctx, source, message):
    assert message_of(ctx, source, pl.errors.SourceError) == message


@pytest.mark.parametrize("returned", ["double", "double *", "const char *"])
def test_a_kernel_that_returns_something_is_for_a_cpu_only(gpu, returned):
    message = message_of(gpu, f"GPUKERN {returned}k(int a) {{ return 0; }}".replace("doublek", "double k"), pl.errors.SourceError)
    assert message == "<source>:1: kernel `k` returns a value, which is possible only on a CPU; write the result through a pointer"


def test_a_header_that_is_not_there_is_named(ctx):
    message = message_of(ctx, '\n#include "absent_header.h"\n', (pl.errors.SourceError, pl.CompileError))
    assert names(message, "<source>", 2) and "absent_header.h" in message


def test_headers_that_include_each_other_in_a_circle_are_an_error(ctx, tmp_path):
    (tmp_path / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text('#include "a.h"\n')
    message = message_of(ctx, '#include "a.h"\n', pl.errors.SourceError, include=[tmp_path])
    assert message.endswith("headers are nested more than 64 deep")


def test_a_source_without_kernels_is_a_program_without_kernels(ctx):
    prog = ctx.compile("#define NOTHING\n")
    assert prog.kernels == {}
    with pytest.raises(AttributeError) as caught:
        prog.anything()
    assert str(caught.value) == "the program has no kernel `anything`; it has none: mark one with GPUKERN"


# devices that are not present --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", kernels.ALL)
def test_every_kernel_compiles_for_cuda_without_a_gpu(nvrtc, name):
    cubin = pl.compile_for("cuda", "sm_90", kernels.ALL[name])
    assert cubin[:4] == b"\x7fELF" and int.from_bytes(cubin[18:20], "little") == 190


def test_messages_of_nvrtc_show_the_users_line(nvrtc):
    with pytest.raises(pl.CompileError) as caught:
        pl.compile_for("cuda", "sm_90", BROKEN)
    lines = str(caught.value).splitlines()
    assert '<source>(2): error: identifier "nothing_of_that_name" is undefined' in lines
    assert any(line.strip().endswith("x[0] = nothing_of_that_name;") for line in lines)


def test_an_architecture_that_nvrtc_does_not_know_is_named(nvrtc):
    with pytest.raises(pl.CompileError, match="sm_1"):
        pl.compile_for("cuda", "sm_1", kernels.AXPY)


def test_every_kernel_compiles_for_hip_without_a_gpu():
    """In a process of its own: the clang inside Debian's hiprtc and the one inside PoCL cannot share one."""
    result = run_python(
        """
        import sys
        sys.path.insert(0, sys.argv[0] or ".")
        import parloop as pl
        import kernels
        try:
            pl.compile_for("hip", "gfx90a", kernels.ONCE)
        except pl.errors.CompilerMissingError as error:
            print("MISSING", error)
            raise SystemExit
        units = {}
        for name, source in kernels.ALL.items():
            units.setdefault(name.split(" of ")[0], []).append(source)
        for name, sources in units.items():
            alone = len(sources) == 1
            binary = pl.compile_for("hip", "gfx90a", sources[0] if alone else kernels.together(sources), cpp=not alone)
            assert b"\\x7fELF" in binary[:4] or b"__CLANG_OFFLOAD_BUNDLE__" in binary[:64], (name, binary[:32])
        try:
            pl.compile_for("hip", "gfx90a", "GPUKERN void broken(double *x) {\\n x[0] = nothing_of_that_name;\\n}")
        except pl.CompileError as error:
            assert "<source>:2:9: error:" in str(error), error
        print("COMPILED", len(kernels.ALL))
        """,
        env={"PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])},
        timeout=300,
    )
    if result.startswith("MISSING"):
        missing(f"AMD's hiprtc ({result})")
    assert result.strip() == f"COMPILED {len(kernels.ALL)}"


def test_an_unknown_target_is_refused():
    with pytest.raises(ValueError, match='a target must be cpu, cuda or hip, not "metal"'):
        pl.compile_for("metal", "m1", kernels.AXPY)


# compilers and drivers that are missing -------------------------------------------------------------------------------------------


def failure(code, **env):
    """The class and the words of the error that `code` ends with, in a process of its own."""
    program = f"""
import parloop as pl
try:
    {code}
except pl.ParloopError as error:
    print(type(error).__name__)
    print(error)
"""
    return run_python(program, env=env).rstrip("\n").split("\n", 1)


COMPILE = f"pl.Context('cpu').compile({kernels.ONCE!r})"


def test_a_named_compiler_that_is_not_there_is_an_error(tmp_path):
    cache = str(tmp_path / "cache")
    kind, message = failure(COMPILE, PARLOOP_CC="no-such-compiler -O1", PARLOOP_CACHE_DIR=cache)
    assert kind == "CompilerMissingError"
    assert message == "no compiler for cpu kernels was found: tried no-such-compiler; PARLOOP_CC or CC names it: correct or unset it"


def test_without_any_compiler_the_error_says_how_to_get_one(tmp_path):
    kind, message = failure(COMPILE, PARLOOP_CC=None, CC=None, PATH="", PARLOOP_CACHE_DIR=str(tmp_path / "cache"))
    assert kind == "CompilerMissingError"
    assert message == (
        "no compiler for cpu kernels was found: tried cc, gcc, clang, ziglang (Python package); "
        "install one with `apt-get install gcc` or `pip install ziglang`, or name one in PARLOOP_CC"
    )


def script(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def test_a_compiler_that_is_killed_is_reported_and_tried_again(tmp_path):
    dying = script(tmp_path / "dying-cc", "kill -9 $$\n")
    kind, message = failure(COMPILE, PARLOOP_CC=str(dying), PARLOOP_CACHE_DIR=str(tmp_path / "cache"))
    assert (kind, message) == (
        "CompileError",
        f"the compiler {dying} was killed by signal 9 before it finished; compile again, with more free memory if it was signal 9",
    )
    once = script(tmp_path / "once-cc", f'[ -e {tmp_path}/tried ] && exec cc "$@"\ntouch {tmp_path}/tried\nkill -9 $$\n')
    printed = run_python(
        f"""
        import numpy as np, parloop as pl
        ctx = pl.Context("cpu")
        for attempt in range(2):
            try:
                prog = ctx.compile({kernels.ONCE!r})
                count = np.zeros(1, np.int32)
                prog.once(count)
                print(count[0])
            except pl.CompileError as error:
                print(type(error).__name__)
        """,
        env={"PARLOOP_CC": str(once), "PARLOOP_CACHE_DIR": str(tmp_path / "cache")},
    )
    assert printed.split() == ["CompileError", "1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exit 0\n", "failed: it reported success but wrote no output: No such file or directory (os error 2)"),
        ("echo my words >&2; exit 3\n", "rejected the source:\nmy words\n"),
    ],
)
def test_a_compiler_that_does_nothing_or_refuses_is_reported(tmp_path, text, expected):
    compiler = script(tmp_path / "odd-cc", text)
    kind, message = failure(COMPILE, PARLOOP_CC=str(compiler), PARLOOP_CACHE_DIR=str(tmp_path / "cache"))
    assert kind == "CompileError" and message.startswith(f"the compiler {compiler} {expected}")


def test_a_compiler_that_writes_rubbish_is_reported(tmp_path):
    text = 'while [ $# -gt 0 ]; do [ "$1" = -o ] && echo rubbish > "$2"; shift; done\n'
    compiler = script(tmp_path / "rubbish-cc", text)
    kind, message = failure(COMPILE, PARLOOP_CC=str(compiler), PARLOOP_CACHE_DIR=str(tmp_path / "cache"))
    assert kind == "DeviceError" and message.startswith("cpu: the compiled module could not be loaded: ")


@pytest.mark.parametrize("name", ["gpu", "cpu:x", "cpu:0", "cpu:-1", "opencl:x", "cuda:", "cuda:x", "", "CPU ", "hip:0.0", "cuda:0\0"])
def test_a_name_that_is_no_devices_name_is_refused(name):
    with pytest.raises(pl.DeviceError) as caught:
        pl.Context(name)
    if name:
        assert isinstance(caught.value, ValueError) or "driver" in str(caught.value)


def test_the_message_for_an_unknown_device_lists_the_forms_of_names():
    with pytest.raises(pl.errors.DeviceNotFoundError) as caught:
        pl.Device("gpu")
    assert str(caught.value) == (
        "unknown device `gpu`: valid names are `cpu`, `cpu:N` (N threads), `opencl`, `opencl:P.D` (platform, device), "
        "`cuda:I` and `hip:I`; `parloop devices` lists the devices found"
    )


def test_a_device_number_that_is_not_there_lists_those_that_are():
    open_context("opencl")
    with pytest.raises(pl.errors.DeviceNotFoundError) as caught:
        pl.Context("opencl:7.3")
    found = [device.name for device in pl.devices() if device.kind == "opencl"]
    verb = "is only" if len(found) == 1 else "are"
    assert str(caught.value) == f"device `opencl:7.3` not found: there {verb} {', '.join(found)}; run `parloop doctor` to see what is missing"


@pytest.mark.parametrize(("name", "kind", "library"), [("cuda:0", "cuda", "libcuda.so"), ("hip:0", "hip", "libamdhip64.so")])
def test_a_missing_driver_is_named_with_what_was_tried(name, kind, library):
    if any(device.kind == kind for device in pl.devices()):
        pytest.skip(f"there is a {kind} device here")
    with pytest.raises(pl.DeviceError) as caught:
        pl.Context(name)
    if isinstance(caught.value, pl.errors.DriverMissingError):
        assert isinstance(caught.value, OSError)
        assert str(caught.value).startswith(f"{kind} driver not found: none of ") and library in str(caught.value)
    else:
        assert f"device `{name}` not found" in str(caught.value)


def test_more_memory_than_there_is_is_an_error_and_the_device_lives_on(ctx):
    for size in (2**62, 2**60):
        with pytest.raises(MemoryError) as caught:
            ctx.empty(size, "uint8")
        assert isinstance(caught.value, pl.OutOfMemoryError)
    with pytest.raises(pl.OutOfMemoryError):
        ctx.empty((2**40, 2**40))
    assert ctx.zeros(4).numpy().tolist() == [0] * 4


def test_two_compilers_of_one_kind_in_one_process_are_refused_not_crashed():
    open_context("opencl")
    code = f"""
import parloop as pl
pl.Context("opencl").compile({kernels.ONCE!r})
try:
    pl.compile_for("hip", "gfx90a", {kernels.ONCE!r})
    print("compiled")
except pl.ParloopError as error:
    print(type(error).__name__)
"""
    result = run_python(code, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() in {"compiled", "CompileError", "CompilerMissingError", "DeviceError", "DriverMissingError"}


def test_sources_that_are_nested_too_deep_are_an_error():
    ctx, kernel = pl.Context("cpu:1"), "GPUKERN void k(double *x) { x[0] = 1; }\n"
    for source, message in (
        (
            f"GPUKERN void f(double {'(' * 30_000}*y{')' * 30_000}) {{}}",
            "<source>:1: a parameter of `f` is declared with more than 256 levels; use a typedef for a part of its type",
        ),
        (
            "#if 1\n" * 100_000 + kernel + "#endif\n" * 100_000,
            "<source>:500: conditional blocks are nested more than 500 deep (each `#elif` is one level); split them",
        ),
    ):
        with pytest.raises(pl.errors.SourceError) as caught:
            ctx.compile(source)
        assert str(caught.value) == message
    nested = "struct { " * 1000 + "int x; " + "} y; " * 1000
    x = np.zeros(1)
    ctx.compile(nested + kernel).k(x)
    assert x[0] == 1


# C++ ------------------------------------------------------------------------------------------------------------------------------

CPP = """
#include <cmath>
template <class T> T square(T x) { return x * x; }
inline double part(double x) { return x / 2; }
inline double part(int x) { return -x; }
GPUKERN void norms(const double *x, double *y, const int n) {
  VECTORIZE_OVER(i, n)
    if (x[i] == 3) return;
    y[i] = std::sqrt(square(x[i])) + part(1.0) + part(1);
  END_VECTORIZE
}
"""


def test_kernels_in_cpp_run_where_compilers_take_cpp(ctx):
    if ctx.device.kind == "opencl":
        told = "opencl does not support kernels in C++; write the kernel in C, or run it on cpu, cuda or hip"
        assert message_of(ctx, CPP, cpp=True) == told
        return
    x, y = ctx.array(np.arange(-5.0, 6)), ctx.zeros(11)
    ctx.compile(CPP, cpp=True).norms(x, y, 11)
    expected = np.abs(np.arange(-5.0, 6)) - 0.5
    expected[8] = 0
    assert y.numpy().tolist() == expected.tolist()


def test_functions_of_the_standard_library_are_called_from_python():
    source = """
    #include <array>
    #include <numeric>
    #include <vector>
    namespace { int count = 0; }
    double total(const double *x, int n) { std::vector<double> all(x, x + n); count++; return std::accumulate(all.begin(), all.end(), 0.0); }
    extern "C" int counted() { std::array<int, 1> one{count}; return one[0]; }
    int twice(int x) { return 2 * x; }
    int twice(float x) { return int(3 * x); }
    """
    program = pl.Context("cpu:1").compile(source, cpp=True)
    assert program.total(np.arange(5.0), 5) == 10 and program.counted() == 1
    with pytest.raises(pl.KernelNotFoundError):
        program.twice(3)


def test_a_program_with_openmp_is_dropped_while_its_threads_wait():
    # In a process of its own: threads whose code is unloaded end it.
    program = """if True:
        import gc, time, numpy as np, parloop as pl
        source = '''
        GPUKERN void f(double *x, const int64_t n) {
            #pragma omp parallel for num_threads(3)
            for (int64_t i = 0; i < n; i++) x[i] += 1;
        }'''
        for turn in range(3):
            x = np.zeros(30)
            kernel = pl.Context("cpu:1").compile(source, arguments=["-fopenmp", f"-DTURN={turn}"]).f
            kernel(x, 30)
            assert x.tolist() == [1] * 30
            del kernel
            gc.collect()
            time.sleep(0.05)
        print("done")
    """
    assert run_python(program) == "done\n"


@pytest.mark.parametrize(
    "source",
    [
        "#define real int\nstruct S { int a;\n#undef real\n#define real float\n};\nGPUKERN void f(real *x) { x[0] = 1; }",
        "#define real int\nstruct S { int a;\n#undef real\n#define real float\n};\nGPUKERN void f(double *x, real y) { x[0] = y; }",
        "void g(void) {\n#define real float\n}\ntypedef double real_;\n#ifndef real\n#define real double\n#endif\nGPUKERN void f(real *x) { x[0] = 1; }",
        "#define DEF(T) GPUKERN void f(T *x) { x[0] = 1; }\n#ifdef A\nGPUKERN void f(float *x) { x[0] = 1; }\n#else\nDEF(double)\n#endif",
    ],
    ids=["undefined", "undefined scalar", "in a body", "by a macro"],
)
@pytest.mark.parametrize("device", [name for name in DEVICES if name != "cpu:3"])
def test_what_is_read_otherwise_than_the_compiler_reads_it_is_refused(source, device):
    with pytest.raises((pl.CompileError, pl.errors.SourceError), match="f"):
        pl.Context(device).compile(source)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("c_type", "dtype"),
    [("double", "f8"), ("float", "f4"), ("int", "i4"), ("unsigned char", "u1"), ("int64_t", "i8"), ("uint64_t", "u8"), ("short", "i2")],
)
def test_types_by_names_of_the_source_are_taken_for_what_they_are(device, c_type, dtype):
    source = f"typedef {c_type} number;\nGPUKERN void f(number *x, const number y, const int n) {{ VECTORIZE_OVER(i, n) x[i] = y; END_VECTORIZE }}"
    ctx = pl.Context(device)
    x = ctx.array(np.zeros(3, dtype))
    ctx.compile(source).f(x, 7, 3)
    assert x.numpy().tolist() == [7, 7, 7]


def test_a_name_that_is_undefined_again_is_what_it_was():
    source = "#define double float\nvoid g(double *x) {}\n#undef double\nGPUKERN void f(double *x) { x[0] = 1; }"
    x = np.zeros(1)
    pl.Context("cpu:1").compile(source).f(x)
    assert x[0] == 1


@pytest.mark.parametrize("device", DEVICES)
def test_loops_that_macros_hide_cover_all_their_iterations(device):
    sources = [
        "#define TWICE(v) v *= 2\nGPUKERN void f(double *x, int n) { TWICE(n); VECTORIZE_OVER(i, n) x[i] += 1; END_VECTORIZE }",
        "#define LOOP(i, n) VECTORIZE_OVER(i, 2 * n)\nGPUKERN void f(double *x, int n) { LOOP(i, n) x[i] += 1; END_VECTORIZE }",
        "#define ALL(x, n) VECTORIZE_OVER(i, n) x[i] += 1; END_VECTORIZE\nGPUKERN void f(double *x, int n) { ALL(x, 2 * n) }",
    ]
    ctx = pl.Context(device)
    for source in sources:
        x = ctx.array(np.zeros(2500))
        ctx.compile(source).f(x, 1000)
        assert x.numpy().tolist() == [1] * 2000 + [0] * 500, source


def test_a_function_that_cannot_be_called_says_why():
    program = pl.Context("cpu:1").compile("struct S { int a; };\nvoid f(struct S s) {}\nvoid g(double *x) {}")
    with pytest.raises(pl.KernelNotFoundError, match="`f` cannot be called from the host: parameter `s` of `f`"):
        program.f


def test_a_name_that_a_header_defines_after_all_is_noticed():
    source = "#ifdef INT64_MAX\nGPUKERN void f(float *x) { x[0] = 1; }\n#else\nGPUKERN void f(double *x) { x[0] = 1; }\n#endif"
    with pytest.raises(pl.CompileError, match="INT64_MAX"):
        pl.Context("cpu:1").compile(source, arguments=["-UINT64_MAX"])


SKIPPED = [1.0, 1.0, 1.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "body",
    [
        "\n#ifdef NEVER\nif (i == 1) {\n#else\nif (i == 3) {\n#endif\nreturn; }\n",
        "\n#define THREE /* a\n} */ 3\nif (i == THREE) return;\n",
        "\n// C:\\dir\\\n}\nif (i == 3) return;\n",
        "if (i == 3) return /* done */;",
    ],
)
def test_a_return_ends_one_iteration_wherever_it_stands(ctx, body):
    source = f"GPUKERN void f(GPUGLMEM double *x, const int n) {{ VECTORIZE_OVER(i, n) {body} x[i] += 1; END_VECTORIZE }}"
    x = ctx.zeros(6)
    ctx.compile(source).f(x=x, n=6)
    assert x.numpy().tolist() == SKIPPED


@pytest.mark.parametrize(
    ("count", "ctype", "n", "expected"),
    [
        ("(n - 5) % 10", "unsigned", 3, 4),
        ("n + 11", "uint64_t", 2**64 - 1, 10),
        ("n / 1000000000000000000", "uint64_t", 2**64 - 1, 18),
        ("(n + 0u) / 429496729", "int", -1, 10),
        ("n - 5", "int", 3, 0),
    ],
)
def test_a_count_is_computed_as_c_computes_it(ctx, count, ctype, n, expected):
    source = f"GPUKERN void f(GPUGLMEM double *x, {ctype} n) {{ VECTORIZE_OVER(i, {count}) x[i] += 1; END_VECTORIZE }}"
    x = ctx.zeros(20)
    ctx.compile(source).f(x=x, n=n)
    assert x.numpy().tolist() == [1.0] * expected + [0.0] * (20 - expected)


@pytest.mark.parametrize("ctype", ["int_fast32_t", "time_t", "enum colour", "row"])
def test_an_array_is_refused_for_a_type_that_is_not_known(ctype):
    source = f"#include <time.h>\nenum colour {{ RED }}; typedef double row[2];\nGPUKERN void f({ctype} *x, int n) {{ }}"
    kernel = pl.Context("cpu:1").compile(source).f
    with pytest.raises(pl.ArgumentError, match=r"its type was not found in the source; pass memory, such as `array.memory`"):
        kernel(np.zeros(4, np.int32), 4)


def test_a_later_definition_wins_over_an_earlier_undefinition(ctx):
    source = "GPUKERN void f(GPUGLMEM double *x) {\n#ifdef A\nx[0] = A;\n#endif\n}"
    for arguments, expected in [(["-UA", "-DA=5"], 5), (["-DA=5", "-UA"], 0), (["-U", "A", "-D", "A=6"], 6)]:
        x = ctx.zeros(1)
        ctx.compile(source, arguments=arguments).f(x)
        assert x.numpy()[0] == expected


def test_a_header_that_the_environment_leads_to_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setenv("CPATH", str(tmp_path))
    for value in (11, 22):
        (tmp_path / "from_environment.h").write_text(f"#define VALUE {value}\n")
        program = pl.Context("cpu:1").compile("#include <from_environment.h>\nint f(void) { return VALUE; }")
        assert program.f() == value


def test_a_grid_that_never_ends_is_refused(gpu):
    kernel = gpu.compile("GPUKERN void f(GPUGLMEM double *x) { x[0] = 1; }").f
    with pytest.raises(pl.errors.LaunchError, match=r"work items are too many; at most 2\*\*48"):
        kernel.with_grid(2**63)(gpu.zeros(1))


def test_kernels_with_any_name_are_items_of_the_program(ctx):
    names = ["source", "origin", "kernels", "save", "describe"]
    text = "\n".join(f"GPUKERN void {name}(GPUGLMEM double *x) {{ x[0] = {value}; }}" for value, name in enumerate(names, start=1))
    prog = ctx.compile(text)
    for value, name in enumerate(names, start=1):
        x = ctx.zeros(1)
        prog[name](x)
        assert x.numpy()[0] == value and name in prog and prog[name].name == name
    assert "GPUKERN" in prog.source and prog.origin in ("compiled", "disk", "memory") and sorted(prog.kernels) == sorted(names)
    assert "nothing" not in prog and "__dict__" not in prog
    assert sorted(prog) == sorted(names) and list(prog) == list(prog.kernels) and len(prog) == len(names)
    empty = ctx.compile("GPUFUN double half(double x) { return x / 2; }")
    assert list(empty) == [] and len(empty) == 0 and empty
    with pytest.raises(pl.KernelNotFoundError, match="the program has no kernel `nothing`; it has"):
        prog["nothing"]


def test_the_number_of_errors_is_not_written_to_stderr(ctx, capfd):
    with pytest.raises(pl.CompileError, match="nothing"):
        ctx.compile("GPUKERN void f(GPUGLMEM double *x) { x[0] = nothing; }")
    os.write(2, b"written by the program\n")
    assert capfd.readouterr().err == "written by the program\n"
