"""y += a x on a device: ``python examples/01_axpy.py cuda:0``."""

import sys

import numpy as np
import parloop as pl

ctx = pl.Context(sys.argv[1] if len(sys.argv) > 1 else None)
prog = ctx.compile("""
GPUKERN void axpy(const double a, GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
    VECTORIZE_OVER(i, n)
        y[i] += a * x[i];
    END_VECTORIZE
}""")

# Host arrays: used in place on a CPU, copied there and back on a GPU.
x, y = np.arange(1e6), np.ones(1_000_000)
prog.axpy(a=2.0, x=x, y=y, n=x.size)
assert np.array_equal(y, 1 + 2 * x)

# Device arrays, and a call that is checked once and repeated at almost no cost.
dx, dy = ctx.array(x), ctx.zeros(x.size)
step = prog.axpy.bind(a=0.5, x=dx, y=dy, n=x.size)
for _ in range(4):
    step()
assert np.array_equal(dy.numpy(), 2 * x)
print(f"{ctx}: y[-1] = {y[-1]}")
