"""Launches and bandwidth on a CUDA device, ours, CuPy's and the bare driver's in one process: ``python benches/gpu.py``.

Every figure is a median. Launches are timed in batches smaller than the device's queue, so that the launch is measured and not the
wait for room. The bare driver is a compiled loop around ``cuLaunchKernel`` in this very process: what a launch costs differs from
process to process by more than we add to it. (The same loop in Rust: ``cargo bench -p parloop-device --bench cuda_launch``.)
"""

import ctypes
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
import parloop as pl

try:
    import cupy as cp
except ImportError:
    cp = None

BATCH, ROUNDS, TURNS = 200, 51, 7
NAMES16 = [f"p{i}" for i in range(14)]
SOURCE = """
GPUKERN void four(const int64_t n, const double a, GPUGLMEM const double *x, GPUGLMEM double *y) {
    VECTORIZE_OVER(i, n) y[i] += a * x[i]; END_VECTORIZE
}
GPUKERN void sixteen(const int64_t n, const double a, %s) {
    VECTORIZE_OVER(i, n) p13[i] += a * p0[i]; END_VECTORIZE
}
GPUKERN void triad(const int64_t n, const double s, GPUGLMEM const double *b, GPUGLMEM const double *c, GPUGLMEM double *a) {
    VECTORIZE_OVER(i, n) a[i] = b[i] + s * c[i]; END_VECTORIZE
}
""" % ", ".join(f"GPUGLMEM double *{name}" for name in NAMES16)

CUPY_SOURCE = """
extern "C" __global__ void four(const long long n, const double a, const double *x, double *y) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void sixteen(const long long n, const double a, %s) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p13[i] += a * p0[i];
}
extern "C" __global__ void triad(const long long n, const double s, const double *b, const double *c, double *a) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = b[i] + s * c[i];
}
""" % ", ".join(f"double *{name}" for name in NAMES16)


BARE = """
#include <time.h>
typedef int (*Launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
double bare(Launch launch, void *function, int count, void **args) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < count; i++)
        if (launch(function, 1, 1, 1, 32, 1, 1, 0, 0, args, 0)) return -1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return ((end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)) / count;
}
"""


class BareDriver:
    """``cuLaunchKernel`` in a compiled loop, on the context that is current in this thread."""

    def __init__(self, arch, folder):
        source, library = pathlib.Path(folder, "bare.c"), pathlib.Path(folder, "bare.so")
        source.write_text(BARE)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
        self.loop = ctypes.CDLL(str(library)).bare
        self.loop.restype = ctypes.c_double
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.image = pl.compile_for("cuda", arch, SOURCE)
        self.module = ctypes.c_void_p()
        assert self.driver.cuModuleLoadData(ctypes.byref(self.module), self.image) == 0

    def launch_us(self, name, arrays, synchronize):
        function = ctypes.c_void_p()
        assert self.driver.cuModuleGetFunction(ctypes.byref(function), self.module, name.encode()) == 0
        values = [ctypes.c_int64(32), ctypes.c_double(1.0), *(ctypes.c_uint64(array.memory.handle) for array in arrays)]
        args = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        samples = []
        for _ in range(ROUNDS):
            ns = self.loop(self.driver.cuLaunchKernel, function, BATCH, args)
            assert ns > 0
            samples.append(ns)
            synchronize()
        return statistics.median(samples) / 1e3


def launch_us(call, synchronize):
    samples = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(BATCH):
            call()
        samples.append((time.perf_counter() - start) / BATCH)
        synchronize()
    return statistics.median(samples) * 1e6


def device_ms(ctx, call, rounds=21):
    samples = []
    for _ in range(rounds):
        start = ctx.record()
        call()
        samples.append(ctx.record().since(start))
    return statistics.median(samples) * 1e3


def row(what, value, unit, against=None):
    ratio = "" if against is None else f"   {value / against:6.2f} × CuPy"
    print(f"{what:44s} {value:10.2f} {unit}{ratio}", flush=True)


def main():
    ctx = pl.Context("cuda:0")
    print(f"{ctx.device.model}, driver {ctx.device.driver}; parloop {pl.__version__}; {'CuPy ' + cp.__version__ if cp else 'no CuPy'}")
    prog = ctx.compile(SOURCE)
    n = 32
    x, y = ctx.zeros(n), ctx.zeros(n)
    sixteen = [ctx.zeros(n) for _ in NAMES16]
    # Calls as a user writes them: every argument by its own name, none unpacked.
    here = {"prog": prog, "n": n, "np": np, **dict(zip(NAMES16, sixteen))}
    by_name = eval(f"lambda: prog.sixteen(n=n, a=1.0, {', '.join(f'{p}={p}' for p in NAMES16)})", here)
    by_position = eval(f"lambda: prog.sixteen(n, 1.0, {', '.join(NAMES16)})", here)
    ours = {
        "4 arguments, by keyword": lambda: prog.four(n=n, a=1.0, x=x, y=y),
        "4 arguments, by position": lambda: prog.four(n, 1.0, x, y),
        "4 arguments, bound": prog.four.bind(n, 1.0, x, y),
        "16 arguments, by keyword": by_name,
        "16 arguments, by position": by_position,
        "16 arguments, bound": prog.sixteen.bind(n, 1.0, *sixteen),
    }
    peer = {}
    if cp:
        module = cp.RawModule(code=CUPY_SOURCE)
        four, wide, triad = (module.get_function(name) for name in ("four", "sixteen", "triad"))
        cx, cy = cp.zeros(n), cp.zeros(n)
        number, factor = np.int64(n), np.float64(1.0)
        there = {"wide": wide, "number": number, "factor": factor, **{name: cp.zeros(n) for name in NAMES16}}
        theirs = eval(f"lambda: wide((1,), (32,), (number, factor, {', '.join(NAMES16)}))", there)
        peer["4"] = launch_us(lambda: four((1,), (32,), (number, factor, cx, cy)), cp.cuda.Device().synchronize)
        peer["16"] = launch_us(theirs, cp.cuda.Device().synchronize)
        row("launch, CuPy RawKernel, 4 arguments", peer["4"], "µs")
        row("launch, CuPy RawKernel, 16 arguments", peer["16"], "µs")
    samples = {what: [] for what in ours}
    bare = {"4": [], "16": []}
    with tempfile.TemporaryDirectory() as folder:
        driver = BareDriver(ctx.device.arch, folder)
        for _ in range(TURNS):
            for what, call in ours.items():
                samples[what].append(launch_us(call, ctx.synchronize))
            bare["4"].append(driver.launch_us("four", (x, y), ctx.synchronize))
            bare["16"].append(driver.launch_us("sixteen", sixteen, ctx.synchronize))
    for what, times in samples.items():
        row("launch, parloop, " + what, statistics.median(times), "µs", peer.get(what.split()[0]))
    for count, drivers in bare.items():
        row(f"launch, bare cuLaunchKernel, {count} arguments", statistics.median(drivers), "µs")
        for how in ("by keyword", "by position", "bound"):
            ratios = [ours_us / driver_us for ours_us, driver_us in zip(samples[f"{count} arguments, {how}"], drivers)]
            print(f"    parloop {how} / bare: {statistics.median(ratios):.2f}   (each turn: {', '.join(f'{r:.2f}' for r in ratios)})")

    n = 2**27
    b, c, a = ctx.array(np.full(n, 2.0)), ctx.array(np.full(n, 3.0)), ctx.zeros(n)
    ms = device_ms(ctx, lambda: prog.triad(n=n, s=0.5, b=b, c=c, a=a))
    assert a[0] == 3.5 and a[n - 1] == 3.5
    speed = 24 * n / ms / 1e6
    if cp:
        cb, cc, ca = cp.asarray(b), cp.asarray(c), cp.asarray(a)
        blocks = ((n + 255) // 256,)
        raw_ms = device_ms(ctx, lambda: triad(blocks, (256,), (np.int64(n), np.float64(0.5), cb, cc, ca)))
        fused = cp.ElementwiseKernel("float64 b, float64 c, float64 s", "float64 a", "a = b + s * c", "triad_elementwise")
        fused_ms = device_ms(ctx, lambda: fused(cb, cc, 0.5, ca))
        row("triad of 2^27 doubles, CuPy RawKernel", 24 * n / raw_ms / 1e6, "GB/s")
        row("triad of 2^27 doubles, CuPy ElementwiseKernel", 24 * n / fused_ms / 1e6, "GB/s")
        row("triad of 2^27 doubles, parloop", speed, "GB/s", 24 * n / min(raw_ms, fused_ms) / 1e6)
    else:
        row("triad of 2^27 doubles, parloop", speed, "GB/s")


if __name__ == "__main__":
    main()
