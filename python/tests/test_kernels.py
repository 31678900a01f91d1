"""Kernels as objects: descriptions, grids, streams, bound calls, threads and processes."""

import gc
import os
import sys
import threading
import weakref

import kernels
import numpy as np
import pytest
from conftest import open_context

import parloop as pl

SCALE = "GPUKERN void scale(double *x, const double by, const int32_t n) { VECTORIZE_OVER(i, n) x[i] *= by; END_VECTORIZE }"
SAYS = "`void scale(double * x, double by, int32_t n)` (line 1)"


def described(ctx, source=SCALE, name="scale", **options):
    return ctx.compile(source, kernels={name: pl.Kernel(**options)})


# descriptions ---------------------------------------------------------------------------------------------------------------------


def test_a_description_gives_a_kernel_other_names(ctx):
    args = [pl.Arg("float64", pointer=True, name="values"), pl.Arg(np.float64), pl.Arg(np.dtype("int32"), name="count")]
    prog = described(ctx, name="grow", c_name="scale", args=args, n_threads="count")
    x = np.ones(3)
    prog.grow(values=x, by=3.0, count=3)
    assert x.tolist() == [3, 3, 3]
    assert prog.grow.argument_names == ["values", "by", "count"]
    prog.scale(x=x, by=2.0, n=3)
    assert x.tolist() == [6, 6, 6]


def test_a_description_may_leave_types_to_the_source(ctx):
    prog = described(ctx, args=[pl.Arg(pointer=True), pl.Arg(), pl.Arg()])
    x = np.ones(2)
    prog.scale(x, 2.0, 2)
    assert x.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"args": [pl.Arg("float64", pointer=True)]}, "1 arguments"),
        ({"args": [pl.Arg("float32", pointer=True), pl.Arg("float64"), pl.Arg("int32")]}, "argument 1 as `float *`"),
        ({"args": [pl.Arg("float64"), pl.Arg("float64"), pl.Arg("int32")]}, "argument 1 as `double`"),
        ({"args": [pl.Arg("float64", pointer=True, const=True), pl.Arg("float64"), pl.Arg("int32")]}, "argument 1 as `const double *`"),
        ({"args": [pl.Arg("float64", pointer=True), pl.Arg("float64"), pl.Arg("int64")]}, "argument 3 as `int64_t`"),
        ({"args": [pl.Arg("float64", pointer=True), pl.Arg(pointer=True), pl.Arg("int32")]}, "argument 2 as `… *`"),
        ({"args": [pl.Arg(pointer=True), pl.Arg(name="x"), pl.Arg()]}, "two arguments `x`"),
        ({"ret": "float64"}, "return type double"),
        ({"ret": pl.Arg("int32")}, "return type int32_t"),
    ],
)
def test_a_description_that_disagrees_with_the_source_is_refused(ctx, options, what):
    with pytest.raises(pl.errors.SourceError) as caught:
        described(ctx, **options)
    assert str(caught.value) == f"kernel `scale` was described with {what}, but its source says {SAYS}"


def test_a_description_of_what_is_not_there_names_what_is(ctx):
    with pytest.raises(pl.KernelNotFoundError) as caught:
        described(ctx, name="grow")
    assert str(caught.value) == "the program has no kernel `grow`; it has scale"


def test_a_size_is_given_once():
    with pytest.raises(TypeError, match="grid and n_threads are the same"):
        pl.Kernel(grid=3, n_threads=3)


def test_descriptions_show_what_they_say():
    arg = pl.Arg("float64", pointer=True, name="x", const=True)
    assert repr(arg) == "Arg('float64', pointer=True, name='x', const=True)"
    assert repr(pl.Kernel(args=[arg], grid="n", block=32)) == f"Kernel(args=[{arg!r}], grid='n', block=32)"
    assert pl.Kernel(n_threads="n").grid == pl.Kernel(grid="n").n_threads == "n"


def test_kernels_say_what_they_are(ctx):
    prog = ctx.compile(SCALE)
    name = ctx.device.name
    assert repr(prog) == f"<Program scale on {name}>"
    assert repr(prog.scale) == f"<Kernel void scale(double * x, double by, int32_t n) on {name}>"
    assert prog.scale.signature == "void scale(double * x, double by, int32_t n)"
    assert (prog.scale.name, prog.scale.argument_names) == ("scale", ["x", "by", "n"])
    assert list(prog.kernels) == ["scale"] and prog.kernels["scale"] is prog.scale
    assert repr(prog.scale.bind(ctx.zeros(1), 1.0, 1)).startswith("<bound <Kernel void scale")


def test_a_kernel_that_is_not_there_is_an_attribute_error_that_names_what_is(ctx):
    prog = ctx.compile(SCALE)
    with pytest.raises(AttributeError) as caught:
        prog.scalar  # noqa: B018
    assert isinstance(caught.value, pl.KernelNotFoundError)
    assert str(caught.value) == "the program has no kernel `scalar`; it has scale"
    assert not hasattr(prog, "__wrapped__")


def test_kernels_are_made_by_compile_only():
    for cls in (pl.CompiledKernel, pl.BoundKernel):
        with pytest.raises(TypeError):
            cls()
        with pytest.raises(TypeError, match="kernels are created by Context.compile and bind"):
            cls(object())


# grids ----------------------------------------------------------------------------------------------------------------------------

GRIDS = {
    "an integer": 100,
    "a name": "n",
    "a tuple": (10, 10),
    "a tuple of names": ("n", 2, 1),
    "a function": lambda x, by, n: n,
    "a function of a tuple": lambda **given: (given["n"], 2),
    "fewer than the loop": 3,
    "more than the loop": 5000,
}


@pytest.mark.parametrize("kind", GRIDS)
def test_every_kind_of_grid_does_each_iteration_once(ctx, kind):
    for kernel in (ctx.compile(SCALE).scale.with_grid(GRIDS[kind]), described(ctx, grid=GRIDS[kind]).scale):
        x = np.ones(100)
        kernel(x, 2.0, 100)
        assert x.tolist() == [2.0] * 100
        array = ctx.array(np.ones(100))
        kernel.bind(array, 2.0, 100)()
        assert array.numpy().tolist() == [2.0] * 100


def test_a_grid_of_nothing_does_nothing(ctx):
    for grid in (0, lambda **given: 0, (0, 4)):
        x = np.ones(4)
        ctx.compile(SCALE).scale.with_grid(grid)(x, 2.0, 4)
        assert x.tolist() == [1] * 4


def test_a_grid_that_names_no_integer_argument_is_refused(ctx):
    scale = ctx.compile(SCALE).scale
    for name in ("m", "x", "by"):
        with pytest.raises(pl.errors.LaunchError) as caught:
            scale.with_grid(name)
        expected = f"the grid of kernel `scale`: `{name}` is not an integer argument of (double * x, double by, int32_t n)"
        assert str(caught.value) == expected
    with pytest.raises(ValueError, match="the grid names `m`, which is not an argument"):
        scale.with_grid(("m", 1))(np.ones(1), 1.0, 1)


@pytest.mark.parametrize("grid", [-1, 1.5, None, (), (1, 2, 3, 4), object()])
def test_what_is_no_grid_is_refused(ctx, grid):
    with pytest.raises((TypeError, ValueError)):
        ctx.compile(SCALE).scale.with_grid(grid)


def test_an_error_in_a_grid_function_is_the_callers_and_nothing_runs(ctx):
    def grid(**given):
        raise KeyError("mine")

    x = np.ones(2)
    with pytest.raises(KeyError, match="mine"):
        ctx.compile(SCALE).scale.with_grid(grid)(x, 2.0, 2)
    for bad in (lambda **given: -1, lambda **given: "n", lambda **given: (1, 1, 1, 1)):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            ctx.compile(SCALE).scale.with_grid(bad)(x, 2.0, 2)
    assert x.tolist() == [1, 1]


def test_a_block_is_heeded_and_one_too_large_is_refused(ctx, is_cpu):
    x = np.ones(1000)
    for block in (1, 7, 64):
        ctx.compile(SCALE).scale.with_grid("n", block=block)(x, 2.0, 1000)
    assert x.tolist() == [8.0] * 1000
    if is_cpu:
        return
    for block in (0, 2**20):
        with pytest.raises(pl.errors.LaunchError, match=f"a block of {block} work items was requested"):
            described(ctx, grid="n", block=block).scale(x, 2.0, 1000)
    assert x.tolist() == [8.0] * 1000


# streams --------------------------------------------------------------------------------------------------------------------------


def test_a_kernel_runs_on_the_stream_it_is_given(ctx):
    stream = ctx.stream()
    scale = ctx.compile(SCALE).scale.on(stream)
    x = ctx.array(np.ones(1000))
    ctx.synchronize()
    for _ in range(5):
        scale(x, 2.0, 1000)
    stream.synchronize()
    assert stream.idle
    assert x.numpy().tolist() == [32.0] * 1000
    host = np.ones(10)
    scale.with_grid(10)(host, 2.0, 10)
    assert host.tolist() == [2.0] * 10


def test_a_grid_stays_with_a_kernel_on_another_stream(ctx):
    stream = ctx.stream()
    for grid in (lambda **given: 0, (0, 1), 0):
        x = np.ones(4)
        ctx.compile(SCALE).scale.with_grid(grid).on(stream)(x, 2.0, 4)
        assert x.tolist() == [1] * 4


def test_a_stream_of_another_device_is_refused(gpu):
    with pytest.raises(pl.errors.OtherDeviceError):
        gpu.compile(SCALE).scale.on(open_context("cpu").stream())


# bound calls ----------------------------------------------------------------------------------------------------------------------


def test_a_bound_call_repeats(ctx):
    x = ctx.array(np.ones(100))
    step = ctx.compile(SCALE).scale.bind(x, n=100, by=2.0)
    for _ in range(10):
        assert step() is None
    assert x.numpy().tolist() == [1024.0] * 100


def test_a_bound_call_takes_no_more_arguments(ctx):
    step = ctx.compile(SCALE).scale.bind(ctx.zeros(1), 1.0, 1)
    for call in (lambda: step(1), lambda: step(n=1)):
        with pytest.raises(TypeError, match="a bound kernel already has its arguments"):
            call()


def test_a_bound_call_keeps_its_arrays_alive(ctx):
    for make in (lambda: ctx.array(np.ones(4)), lambda: ctx.array(np.ones(7))[3:]):
        array = make()
        held = array.copy()
        step = ctx.compile("GPUKERN void k(const double *x, double *out) { out[0] += x[3]; }").k.bind(array, held)
        del array
        gc.collect()
        junk = [ctx.array(np.full(4, 7.0)) for _ in range(10)]
        step()
        step()
        assert held.numpy()[0] == 3
        del junk


def test_a_bound_call_keeps_host_arrays_and_texts_alive(cpu):
    class Array(np.ndarray):
        pass

    values = np.ones(4).view(Array)
    alive = weakref.ref(values)
    prog = cpu.compile("double k(const double *x, const char *s) { return x[3] + s[0]; }")
    step = prog.k.bind(values, "".join(["A", "text"]))
    del values
    gc.collect()
    assert alive() is not None and step() == 1 + ord("A")
    del step
    gc.collect()
    assert alive() is None


def test_a_bound_call_refuses_an_array_that_was_resized(cpu):
    x = np.ones(10)
    step = cpu.compile(SCALE).scale.bind(x, 2.0, 10)
    x.resize(100_000, refcheck=False)
    with pytest.raises(ValueError, match="array `x` was resized after it was bound; bind it again"):
        step()


def test_a_buffer_that_is_bound_cannot_be_resized(cpu):
    values = bytearray(8)
    step = cpu.compile("GPUKERN void k(uint8_t *x) { x[0] += 1; }").k.bind(values)
    with pytest.raises(BufferError):
        values.extend(bytes(100_000))
    step()
    assert values[0] == 1


def test_host_arrays_cannot_be_bound_on_a_gpu(gpu):
    scale = gpu.compile(SCALE).scale
    with pytest.raises(ValueError, match="^argument `x` of kernel `scale` is a host array, which cannot be bound on a GPU, because each call would copy it; copy it once with ctx.array"):
        scale.bind(np.ones(4), 2.0, 4)
    scale.bind(np.ones(0), 2.0, 0)()


def test_wrong_arguments_are_refused_when_they_are_bound(ctx):
    scale = ctx.compile(SCALE).scale
    with pytest.raises(pl.ArgumentError, match="kernel `scale` needs argument `n`"):
        scale.bind(ctx.zeros(1), 1.0)
    with pytest.raises(pl.ArgumentError, match="an array of float32"):
        scale.bind(ctx.zeros(1, "float32"), 1.0, 1)
    with pytest.raises(pl.ArgumentError, match="has no argument `m`"):
        scale.bind(ctx.zeros(1), 1.0, m=1)


# functions ------------------------------------------------------------------------------------------------------------------------

RETURNS = {
    "bool": True, "int8_t": -128, "int16_t": -32768, "int32_t": -(2**31), "int64_t": -(2**63), "uint8_t": 255, "uint16_t": 65535,
    "uint32_t": 2**32 - 1, "uint64_t": 2**64 - 1, "float": 0.5, "double": 0.1, "double _Complex": 1 + 2j, "float _Complex": 0.5 - 2j,
}  # fmt: skip


@pytest.mark.parametrize("c_type", RETURNS)
def test_functions_return_every_scalar_type_on_a_cpu(cpu, c_type):
    value = RETURNS[c_type]
    prog = cpu.compile(f"{c_type} same(const {c_type} value) {{ return value; }}")
    assert prog.same(value) == value and type(prog.same(value)) is type(value)
    assert prog.same.bind(value)() == value


def test_a_function_with_loops_returns_the_value_of_all_of_them(cpu):
    prog = cpu.compile("double sum(const double *x, int64_t n) { double s = 0; VECTORIZE_OVER(i, n) s += x[i]; END_VECTORIZE return s; }")
    assert prog.sum(np.arange(100_000.0), 100_000) == sum(range(100_000))
    assert prog.sum(np.ones(1), 0) == 0


def test_plain_functions_cannot_be_launched_on_a_gpu(gpu):
    prog = gpu.compile("double f(double x) { return x; }\nGPUKERN void k(double *x) { x[0] = f(x[0]); }")
    with pytest.raises(pl.KernelNotFoundError) as caught:
        prog.f(1.0)
    assert str(caught.value) == f"`f` is a plain function: only a GPUKERN function can be launched on {gpu.device.name}"
    with pytest.raises(pl.errors.SourceError, match="kernel `k` returns a value, which is possible only on a CPU; write the result through a pointer"):
        gpu.compile("GPUKERN double k(double x) { return x; }")


@pytest.mark.parametrize(
    "name",
    ["main", "free", "sin", "step", "dot", "clamp", "select", "random", "this", "new", "kernel", "global", "half", "index", "read", "min"],
)
def test_a_kernel_may_have_any_name(ctx, name):
    prog = ctx.compile(f"GPUKERN void {name}(double *x) {{ x[0] += 1; }}")
    x = np.zeros(1)
    getattr(prog, name)(x)
    assert x[0] == 1 and list(prog.kernels) == [name]


def test_a_helper_may_have_the_name_of_a_built_in_function(ctx):
    source = """
    #ifndef GUARD
    #define GUARD
    GPUFUN double mix(double a, double b) { return 10 * a + b; }
    double clamp(double a) { return a > 1 ? 1 : a; }
    #endif
    #if 0
    double cos(double x) { return 77; }
    #endif
    GPUKERN void k(double *x) { x[0] = mix(clamp(5), 3) + cos(0.0); }"""
    x = np.zeros(1)
    ctx.compile(source).k(x)
    assert x[0] == 14


# threads and processes ------------------------------------------------------------------------------------------------------------


def test_other_threads_run_while_a_kernel_does_on_a_cpu(cpu):
    """The kernel tells that it runs, and another Python thread answers; without an answer it gives up after a while."""
    source = """
    int32_t answered(volatile int32_t *running, volatile int32_t *answer) {
        running[0] = 1;
        for (int64_t k = 0; k < 2000000000 && !answer[0]; k++) { }
        return answer[0];
    }"""
    kernel = cpu.compile(source).answered
    running, answer, over = np.zeros(1, np.int32), np.zeros(1, np.int32), threading.Event()

    def reply():
        while not running[0] and not over.is_set():
            pass
        answer[0] = 1

    thread = threading.Thread(target=reply)
    thread.start()
    seen = kernel(running, answer)
    over.set()
    thread.join()
    assert seen == 1


def test_other_threads_run_while_a_kernel_does_on_a_gpu(gpu):
    source = """
    GPUKERN void long_sum(double *out, int64_t limit) {
        double sum = 0;
        for (int64_t k = 0; k < limit; k++) sum += 1.0 / (k + 1.0);
        out[0] = sum;
    }"""
    kernel = gpu.compile(source).long_sum
    count, over, started = [0], threading.Event(), threading.Event()

    def work():
        started.set()
        while not over.is_set():
            count[0] += 1

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    # So long that no thread is interrupted by chance between the two readings.
    sys.setswitchinterval(0.1)
    try:
        out = np.zeros(1)
        before = count[0]
        kernel(out, 50_000_000)
        after = count[0]
    finally:
        sys.setswitchinterval(interval)
        over.set()
        thread.join()
    assert out[0] > 18 and after > before + 1000


def test_eight_threads_call_one_kernel_at_once(ctx):
    scale = ctx.compile(SCALE).scale
    results, errors = {}, []

    def work(index):
        try:
            x = np.ones(501 + index)
            mine = ctx.array(np.ones(501 + index))
            for _ in range(20):
                scale(x, 1.0 + index, x.size)
                scale(x, 1.0 / (1.0 + index), x.size)
                scale(mine, float(index), 0)
            scale(x, float(index), x.size)
            results[index] = x
        except BaseException as error:  # noqa: BLE001 - shown below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not errors
    for index in range(8):
        np.testing.assert_allclose(results[index], np.full(501 + index, float(index)), rtol=1e-12)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_runs_kernels_on_threads(in_new_process):
    printed = in_new_process(f"""
        import os, warnings
        import numpy as np, parloop as pl
        warnings.simplefilter("ignore")
        source = {kernels.AXPY!r}
        contexts = [pl.Context("cpu"), pl.Context("cpu:3")]
        kernels = [ctx.compile(source).axpy for ctx in contexts]
        n = 500_000
        def check():
            for kernel in kernels + [pl.Context("cpu:2").compile(source).axpy]:
                y = np.zeros(n)
                kernel(2.0, np.ones(n), y, n)
                assert (y == 2).all()
        check()
        child = os.fork()
        if child == 0:
            check()
            grandchild = os.fork()
            if grandchild == 0:
                check()
                os._exit(7)
            _, status = os.waitpid(grandchild, 0)
            os._exit(os.waitstatus_to_exitcode(status))
        _, status = os.waitpid(child, 0)
        check()
        print("child", os.waitstatus_to_exitcode(status))
    """)
    assert printed.strip() == "child 7"


def test_programs_and_kernels_outlive_their_context(ctx):
    name = ctx.device.name
    kernel = pl.Context(name).compile(SCALE).scale
    gc.collect()
    x = np.ones(3)
    kernel(x, 2.0, 3)
    assert x.tolist() == [2, 2, 2]


ONES = "GPUKERN void ones(double *x, const int64_t n) { VECTORIZE_OVER(i, n) x[i] = 1; END_VECTORIZE }"


@pytest.mark.parametrize("form", ["array", "part", "memory", "part of memory"])
def test_a_grid_function_that_makes_a_buffer_grow_leaves_no_stale_address(ctx, is_cpu, form):
    buffer = ctx.new_buffer(1024)
    offset = buffer.allocate(80)
    whole = buffer.to_nplike(0, "float64", (128,))
    buffer.to_nplike(offset, "float64", (10,))[...] = 0
    first = offset // 8
    x = {
        "array": lambda: buffer.to_nplike(offset, "float64", (10,)),
        "part": lambda: whole[first : first + 10],
        "memory": lambda: whole if is_cpu else whole.memory,
        "part of memory": lambda: whole[first : first + 10] if is_cpu else whole.memory.slice(offset, 80),
    }[form]()
    del whole

    def grid(x, n):
        buffer.grow(1 << 20)
        return n

    ctx.compile(ONES).ones.with_grid(grid)(x, 10)
    start = 0 if form == "memory" else offset
    assert buffer.to_nparray(start, "float64", (10,)).tolist() == [1] * 10


def test_a_grid_function_that_resizes_an_array_leaves_no_stale_address(cpu):
    x = np.zeros(10)

    def grid(n, **_):
        x.resize(1_000_000, refcheck=False)
        return n

    ones = cpu.compile(ONES).ones.with_grid(grid)
    ones(x, 10)
    assert x[:10].tolist() == [1] * 10


def test_a_missing_argument_is_named_before_the_grid_function_is_called(cpu):
    ones = cpu.compile(ONES).ones.with_grid(lambda x, n: n + 1)
    with pytest.raises(pl.ArgumentError, match="^kernel `ones` needs argument `n` .int64_t.$"):
        ones(np.zeros(1))
