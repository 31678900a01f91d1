"""Loop kernels: ``python benches/loops.py``. Us and loopy in one run; CPU time for the way to the source, medians for the rest."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from measure import Table, at_least, at_most, interleaved

import parloop as pl
import parloop.loops as ours


def cpu_ms(make, rounds):
    """Milliseconds of CPU time: the first time, and the median of those after it."""
    times = []
    for _ in range(rounds + 1):
        start = time.process_time()
        make()
        times.append((time.process_time() - start) * 1e3)
    return times[0], statistics.median(times[1:])


def vector_add(lp, **said):
    data = [lp.GlobalArg("a,b", np.float32, shape="n"), ...]
    return lp.make_kernel("{[i]: 0<=i<n}", "out[i] = a[i] + b[i]", data, **said)


def matmul(lp, **said):
    data = [lp.GlobalArg("a,b", np.float32, shape="n,n"), ...]
    knl = lp.make_kernel("{[i,j,k]: 0<=i,j,k<n}", "c[i,j] = sum(k, a[i,k]*b[k,j])", data, **said)
    knl = lp.split_iname(knl, "i", 16, outer_tag="g.0", inner_tag="l.1")
    knl = lp.split_iname(knl, "j", 16, outer_tag="g.1", inner_tag="l.0")
    knl = lp.split_iname(knl, "k", 16)
    knl = lp.add_prefetch(knl, "a", ["k_inner", "i_inner"], default_tag="l.auto")
    return lp.add_prefetch(knl, "b", ["j_inner", "k_inner"], default_tag="l.auto")


def thirty(lp, **said):
    lines = ["<>t0 = a[i] + 1 {id=s0}"] + [f"<>t{i} = t{i - 1}*2 + a[i] {{id=s{i}}}" for i in range(1, 30)]
    data = [lp.GlobalArg("a", np.float64, shape="n"), ...]
    knl = lp.make_kernel("{[i]: 0<=i<n}", "\n".join([*lines, "out[i] = t29"]), data, **said)
    return lp.split_iname(knl, "i", 128, outer_tag="g.0", inner_tag="l.0")


def nests(lp, count, **said):
    domains = [f"{{[i{index}]: 0<=i{index}<n}}" for index in range(count)]
    return lp.make_kernel(domains, "\n".join(f"a{index}[i{index}] = i{index}" for index in range(count)), **said)


FIRST = """
import sys, time
import numpy, parloop.loops as lp
sys.path.insert(0, sys.argv[1])
import loops
make = getattr(loops, sys.argv[2])
start = time.process_time()
lp.generate_code(make(lp), target="opencl")
print((time.process_time() - start) * 1e3)
"""

IMPORT = """
import time, numpy
start = time.process_time()
import parloop.loops
print((time.process_time() - start) * 1e3)
"""


def in_new_processes(program, *arguments, runs=15):
    """The median of the number that a program prints in processes of its own, which find compiled modules."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-c", program, *arguments]
        run = lambda: float(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)  # noqa: E731
        run()
        return statistics.median(run() for _ in range(runs))


def generation(table):
    cases = [
        ("vector add", vector_add, 50, 1),
        ("tiled matmul", matmul, 20, 10),
        ("30 instructions", thirty, 20, 10),
    ]
    benches = os.path.dirname(os.path.abspath(__file__))
    for name, make, rounds, limit in cases:
        first = in_new_processes(FIRST, benches, make.__name__)
        _, again = cpu_ms(lambda make=make: ours.generate_code(make(ours), target="opencl"), rounds)
        held = f"at most {limit} ms", (at_most, limit)
        table.row(f"{name}: make, transform, generate, first in a process", first, "ms", *held)
        table.row(f"{name}: again", again, "ms", *held)
    many, _ = cpu_ms(lambda: ours.generate_code(nests(ours, 500), target="c"), 1)
    table.row("500 disjoint nests", many / 1e3, "s", "at most 1 s", (at_most, 1))


PEER = """
import time, sys, warnings, statistics
warnings.simplefilter("ignore")
sys.path.insert(0, {benches!r})
import numpy as np, loopy as lp
import importlib.util
text = open({bench!r}).read().split("FIRST = ")[0]
start = text.index("def vector_add"); body = text[start:]
exec(body)
# A cache of loopy's own on disk would hide what it does.
def once(make):
    knl = make(lp, target=lp.CTarget() if make is vector_add else lp.OpenCLTarget(), lang_version=(2018, 2))
    if make is matmul:
        # loopy refuses the kernel otherwise: its fetches use one group axis of two, and sizes must be numbers to mend that.
        knl = lp.add_inames_for_unused_hw_axes(lp.fix_parameters(knl, n=1024))
    lp.generate_code_v2(knl).device_code()
for make in (vector_add, matmul, thirty):
    times = []
    for _ in range(4):
        start = time.process_time(); once(make); times.append((time.process_time() - start) * 1e3)
    print(make.__name__, times[0], statistics.median(times[1:]))
"""


PEER_CALL = """
import time, warnings, statistics
warnings.simplefilter("ignore")
import numpy as np, loopy as lp
knl = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", [lp.GlobalArg("a", np.float64, shape="n"), ...], target=lp.ExecutableCTarget(), lang_version=(2018, 2))
a = np.arange(16.0)
# The executor is kept: a call of the program itself looks it up by all of the program, in milliseconds.
run = knl.executor()
run(a=a)
rounds = []
for _ in range(15):
    start = time.perf_counter()
    for _ in range(500):
        run(a=a)
    rounds.append((time.perf_counter() - start) / 500)
print("call", 0, statistics.median(rounds) * 1e6)
"""


def peer():
    """What loopy takes, in processes of its own: name -> (first, again)."""
    script = PEER.format(benches=os.path.dirname(os.path.abspath(__file__)), bench=os.path.abspath(__file__))
    rows = {}
    # Calls have loopy's caches.
    for program, settings in ((script, {"LOOPY_NO_CACHE": "1"}), (PEER_CALL, {})):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, **settings})
        if done.returncode:
            print("loopy did not run:", done.stderr.strip().splitlines()[-1:])
        for name, first, again in (line.split() for line in done.stdout.splitlines()):
            rows[name] = float(first), float(again)
    return rows


HAND = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
void axpy(double a, const double *restrict x, double *restrict y, int n) { for (int i = 0; i < n; ++i) y[i] += a * x[i]; }
void matmul_rows(const float *restrict a, const float *restrict b, float *restrict c, int n, int first, int last)
{
  for (int io = first; io < last; io += 16)
    for (int jo = 0; jo < n; jo += 16)
    {
      float acc[16][16] __attribute__((aligned(64))); memset(acc, 0, sizeof acc);
      float at[16][16] __attribute__((aligned(64))), bt[16][16] __attribute__((aligned(64)));
      for (int ko = 0; ko < n; ko += 16)
      {
        for (int i = 0; i < 16; ++i) for (int k = 0; k < 16; ++k) at[i][k] = a[(io + i) * n + ko + k];
        for (int k = 0; k < 16; ++k) for (int j = 0; j < 16; ++j) bt[k][j] = b[(ko + k) * n + jo + j];
        for (int i = 0; i < 16; ++i) for (int k = 0; k < 16; ++k) for (int j = 0; j < 16; ++j) acc[i][j] += at[i][k] * bt[k][j];
      }
      for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) c[(io + i) * n + jo + j] = acc[i][j];
    }
}
"""


def against_pocl(table):
    """The same tiles on all threads, ours and loopy's on PoCL, in turns."""
    try:
        import loopy
        import pyopencl as cl
    except ImportError as missing:
        return print("loopy on PoCL did not run:", missing)
    devices = [platform.get_devices() for platform in cl.get_platforms() if "Portable" in platform.name]
    if not devices:
        return print("loopy on PoCL did not run: PoCL is missing")
    import pyopencl.array

    warnings.simplefilter("ignore")
    n = 1024
    a, b = np.random.rand(n, n).astype(np.float32), np.random.rand(n, n).astype(np.float32)
    c = np.empty_like(a)
    cpu = pl.Context("cpu")
    tiled = ours.fix_parameters(matmul(ours), n=n)
    queue = cl.CommandQueue(cl.Context(devices[0][:1]))
    on_device = {"a": cl.array.to_device(queue, a), "b": cl.array.to_device(queue, b), "c": cl.array.empty(queue, (n, n), np.float32)}
    # As for the peer above.
    theirs = loopy.add_inames_for_unused_hw_axes(loopy.fix_parameters(matmul(loopy, lang_version=(2018, 2)), n=n))

    def on_pocl():
        theirs(queue, **on_device)
        queue.finish()

    tiled(cpu, a=a, b=b, c=c)
    on_pocl()
    assert np.allclose(c, a @ b, rtol=1e-3) and np.allclose(on_device["c"].get(), a @ b, rtol=1e-3)
    times = interleaved({"ours": lambda: tiled(cpu, a=a, b=b, c=c), "theirs": on_pocl}, number=1, rounds=15, pause=0.05)
    table.row(f"1024^3 matmul on {os.cpu_count()} threads", 2 * n**3 / times["ours"] / 1e9, "GFLOP/s")
    table.row("  loopy's on PoCL", 2 * n**3 / times["theirs"] / 1e9, "GFLOP/s")
    table.row("  ratio", times["theirs"] / times["ours"], "x", "at least 5", (at_least, 5))


def hand():
    import ctypes

    folder = tempfile.mkdtemp()
    source, library = os.path.join(folder, "hand.c"), os.path.join(folder, "hand.so")
    with open(source, "w") as file:
        file.write(HAND)
    subprocess.run(["cc", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", source, "-o", library], check=True)
    return ctypes.CDLL(library)


def running(table, them):
    import ctypes

    cpu = pl.Context("cpu:1")
    knl = ours.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")
    small = np.arange(16.0)
    with cpu:
        call = interleaved({"ours": lambda: knl(a=small)}, number=2000, rounds=21)["ours"] * 1e6
    table.row("call of a compiled kernel", call, "us")
    if "call" in them:
        table.row("  loopy's C executor", them["call"][1], "us")
        table.row("  ratio", call / them["call"][1], "x", "at most 0.1", (at_most, 0.1))

    functions = hand()
    n = 4_000_000
    x, y = np.random.rand(n), np.random.rand(n)
    axpy = ours.make_kernel("{[i]: 0<=i<n}", "y[i] = y[i] + alpha*x[i]")
    pointer = ctypes.c_void_p
    times = interleaved(
        {
            "ours": lambda: axpy(cpu, alpha=2.0, x=x, y=y),
            "hand": lambda: functions.axpy(ctypes.c_double(2.0), pointer(x.ctypes.data), pointer(y.ctypes.data), ctypes.c_int(n)),
        },
        number=5,
    )
    table.row("axpy of 4e6 on one thread, share of hand C", times["hand"] / times["ours"], "x", "at least 0.95", (at_least, 0.95))

    n = 1024
    a, b = np.random.rand(n, n).astype(np.float32), np.random.rand(n, n).astype(np.float32)
    c, d = np.empty_like(a), np.empty_like(a)
    tiled = ours.fix_parameters(matmul(ours), n=n)
    tiled(cpu, a=a, b=b, c=c)
    by_hand = lambda: functions.matmul_rows(pointer(a.ctypes.data), pointer(b.ctypes.data), pointer(d.ctypes.data), n, 0, n)  # noqa: E731
    by_hand()
    assert np.allclose(c, a @ b, rtol=1e-3) and np.allclose(d, a @ b, rtol=1e-3)
    times = interleaved({"ours": lambda: tiled(cpu, a=a, b=b, c=c), "hand": by_hand}, number=1, rounds=9)
    table.row("1024^3 matmul on one thread", 2 * n**3 / times["ours"] / 1e9, "GFLOP/s")
    table.row("  share of hand-tiled C", times["hand"] / times["ours"], "x", "at least 0.8", (at_least, 0.8))


def main():
    table = Table()
    imported = in_new_processes(IMPORT)
    table.row("import parloop.loops, over numpy", imported, "ms", "at most 40 ms", (at_most, 40))
    generation(table)
    them = peer()
    for name, (first, again) in them.items():
        if name != "call":
            table.row(f"loopy, {name}: first time", first, "ms")
            table.row(f"loopy, {name}: again", again, "ms")
    running(table, them)
    against_pocl(table)


if __name__ == "__main__":
    main()
