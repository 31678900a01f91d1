"""Threads of Python that wait for each other: whoever waits lets the others go on."""

import pytest
from conftest import run_python

# A kernel runs in one thread until the main thread lets it end, and another thread does something for which it must wait for that
# kernel. If the wait held Python, the main thread would never get to let the kernel end.
SCRIPT = """
import faulthandler, threading, time
import numpy as np
import parloop as pl
import parloop.objects as xo

faulthandler.dump_traceback_later(60, exit=True)


class Cells(xo.Struct):
    n = xo.Int64
    a = xo.Float64[:]


ctx = pl.Context("cpu:1")
ctx.add_kernels(
    sources=['''
    GPUKERN void spin(Cells c, int64_t *flags) {
        volatile int64_t *seen = flags;
        seen[0] = 1;
        while (!seen[1]);
        Cells_set_n(c, 7);
    }
    GPUKERN void first(Cells c, double *out) { out[0] = Cells_get_a(c, 0); }'''],
    kernels={
        "spin": pl.Kernel(args=[pl.Arg(Cells, name="c"), pl.Arg(xo.Int64, pointer=True, name="flags")]),
        "first": pl.Kernel(args=[pl.Arg(Cells, name="c"), pl.Arg(xo.Float64, pointer=True, name="out")]),
    },
)
buffer = ctx.new_buffer(256)
cells = Cells(n=0, a=[1.0, 2.0], _buffer=buffer)
flags = np.zeros(2, np.int64)
launch = threading.Thread(target=ctx.kernels.spin, kwargs={"c": cells, "flags": flags})
launch.start()
while not flags[0]:
    time.sleep(0.001)
done = []
waiter = threading.Thread(target=lambda: done.append(%s))
waiter.start()
time.sleep(0.2)
assert not done
flags[1] = 1
waiter.join()
launch.join()
assert cells.n == 7 and list(cells.a) == [1, 2]
print("over")
"""


@pytest.mark.parametrize(
    "waits",
    [
        "buffer.grow(1000)",
        "buffer.allocate(1000)",
        "Cells(n=1, a=1000, _buffer=buffer)",
        "cells.a.to_nplike()",
        "buffer.to_nparray(0, 'u1', 8)",
        "ctx.kernels.first.bind(cells, np.zeros(1))",
    ],
)
def test_a_thread_that_waits_for_a_launch_lets_others_go_on(waits):
    assert run_python(SCRIPT % waits) == "over\n"


# At exit Python ends the threads that come back from a kernel, by unwinding their stacks: the library must have the unwinder of the system.
AT_EXIT = """
import threading, time
import numpy as np
import parloop as pl

ctx = pl.Context("{device}")
program = ctx.compile('''
GPUKERN void slow(double *x, const int64_t n) {{
    VECTORIZE_OVER(i, n) for (int j = 0; j < 20000; j++) x[i] = x[i] * 1.0000001 + 1; END_VECTORIZE
}}''')


def work(x):
    while True:
        program.slow(x=x, n=1000)


for _ in range(2):
    threading.Thread(target=work, args=(np.zeros(1000),), daemon=True).start()
time.sleep(0.3)
print("over")
"""


@pytest.mark.parametrize("device", ["cpu:1", "cpu:2"])
def test_a_program_ends_while_its_threads_run_kernels(device):
    assert run_python(AT_EXIT.format(device=device)) == "over\n"
