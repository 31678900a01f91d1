"""Loop kernels on a GPU against the same written by hand in CUDA: ``python benches/loops_gpu.py [device]``. Medians of event times."""

import statistics
import sys

import numpy as np
from measure import Table, at_least

import parloop as pl
import parloop.loops as lp

HAND = """
extern "C" __global__ void __launch_bounds__(256) matmul(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n)
{
  __shared__ float at[16][16], bt[16][16];
  int i = blockIdx.x * 16 + threadIdx.y, j = blockIdx.y * 16 + threadIdx.x;
  float acc = 0;
  for (int ko = 0; ko < n; ko += 16)
  {
    __syncthreads();
    at[threadIdx.y][threadIdx.x] = a[i * n + ko + threadIdx.x];
    bt[threadIdx.y][threadIdx.x] = b[(ko + threadIdx.y) * n + j];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      acc += at[threadIdx.y][k] * bt[k][threadIdx.x];
  }
  c[i * n + j] = acc;
}
extern "C" __global__ void axpy(double alpha, const double *__restrict__ x, double *__restrict__ y, int n)
{
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] += alpha * x[i];
}
extern "C" __global__ void stencil(const double *__restrict__ u, double *__restrict__ v, int n)
{
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i < n - 2 && j < n - 2)
    v[(i + 1) * n + j + 1] = u[i * n + j + 1] + u[(i + 2) * n + j + 1] + u[(i + 1) * n + j] + u[(i + 1) * n + j + 2] - 4 * u[(i + 1) * n + j + 1];
}
"""


def seconds(ctx, call, rounds=21):
    times = []
    for _ in range(rounds):
        start = ctx.record()
        call()
        end = ctx.record()
        ctx.synchronize()
        times.append(end.since(start))
    return statistics.median(times)


def main():
    import cupy

    ctx = pl.Context(sys.argv[1] if len(sys.argv) > 1 else "cuda:0")
    print(ctx.device)
    table = Table()
    module = cupy.RawModule(code=HAND)

    n = 4096
    a, b = np.random.rand(n, n).astype(np.float32), np.random.rand(n, n).astype(np.float32)
    x, y = ctx.array(a), ctx.array(b)
    knl = lp.make_kernel("{[i,j,k]: 0<=i,j,k<n}", "c[i,j] = sum(k, a[i,k]*b[k,j])", [lp.GlobalArg("a,b", np.float32, shape="n,n"), ...])
    knl = lp.split_iname(knl, "i", 16, outer_tag="g.0", inner_tag="l.1")
    knl = lp.split_iname(knl, "j", 16, outer_tag="g.1", inner_tag="l.0")
    knl = lp.split_iname(knl, "k", 16)
    knl = lp.add_prefetch(knl, "a", ["k_inner", "i_inner"], default_tag="l.auto")
    knl = lp.add_prefetch(knl, "b", ["j_inner", "k_inner"], default_tag="l.auto")
    exact = lp.fix_parameters(knl, n=n)
    out = ctx.zeros((n, n), np.float32)
    exact(ctx, a=x, b=y, c=out)
    ca, cb, cc = cupy.asarray(a), cupy.asarray(b), cupy.empty((n, n), np.float32)
    grid, block = (n // 16, n // 16), (16, 16)
    hand = lambda: module.get_function("matmul")(grid, block, (ca, cb, cc, np.int32(n)))  # noqa: E731
    hand()
    assert np.allclose(out.numpy(), cc.get(), rtol=1e-3)
    ours, theirs = seconds(ctx, lambda: exact(ctx, a=x, b=y, c=out)), seconds(ctx, hand)
    open_n = seconds(ctx, lambda: knl(ctx, a=x, b=y, c=out))
    # What the kernel by hand takes for granted.
    whole_tiles = lp.assume(knl, "n % 16 = 0 and n >= 16")
    whole = seconds(ctx, lambda: whole_tiles(ctx, a=x, b=y, c=out))
    assert np.allclose(out.numpy(), cc.get(), rtol=1e-3)
    table.row("tiled matmul 4096, n fixed", 2 * n**3 / ours / 1e12, "TFLOP/s")
    table.row("tiled matmul 4096, any n", 2 * n**3 / open_n / 1e12, "TFLOP/s")
    table.row("  share of hand CUDA", theirs / ours, "x", "at least 0.9", (at_least, 0.9))
    table.row("  n a multiple of 16, as by hand: share of hand CUDA", theirs / whole, "x", "at least 0.9", (at_least, 0.9))
    table.row("  any n: share of hand CUDA", theirs / open_n, "x")

    n = 1 << 26
    u, v = ctx.zeros(n), ctx.zeros(n)
    axpy = lp.make_kernel("{[i]: 0<=i<n}", "y[i] = y[i] + alpha*x[i]", [lp.GlobalArg("x,y", np.float64), lp.ValueArg("alpha", np.float64), ...])
    axpy = lp.split_iname(axpy, "i", 256, outer_tag="g.0", inner_tag="l.0")
    axpy(ctx, alpha=2.0, x=u, y=v)
    cu, cv = cupy.zeros(n), cupy.zeros(n)
    hand = lambda: module.get_function("axpy")(((n + 255) // 256,), (256,), (2.0, cu, cv, np.int32(n)))  # noqa: E731
    hand()
    ours, theirs = seconds(ctx, lambda: axpy(ctx, alpha=2.0, x=u, y=v)), seconds(ctx, hand)
    table.row("axpy of 2^26", 24 * n / ours / 1e12, "TB/s")
    table.row("  share of hand CUDA", theirs / ours, "x", "at least 0.95", (at_least, 0.95))

    n = 8192
    u, v = ctx.zeros((n, n)), ctx.zeros((n, n))
    stencil = lp.make_kernel(
        "{[i,j]: 0<=i,j<n-2}",
        "v[i+1,j+1] = u[i,j+1] + u[i+2,j+1] + u[i+1,j] + u[i+1,j+2] - 4*u[i+1,j+1]",
        [lp.GlobalArg("u,v", np.float64, shape="n,n"), ...],
    )
    stencil = lp.split_iname(stencil, "i", 8, outer_tag="g.1", inner_tag="l.1")
    stencil = lp.split_iname(stencil, "j", 32, outer_tag="g.0", inner_tag="l.0")
    stencil(ctx, u=u, v=v)
    cu, cv = cupy.zeros((n, n)), cupy.zeros((n, n))
    hand = lambda: module.get_function("stencil")(((n + 31) // 32, (n + 7) // 8), (32, 8), (cu, cv, np.int32(n)))  # noqa: E731
    hand()
    ours, theirs = seconds(ctx, lambda: stencil(ctx, u=u, v=v)), seconds(ctx, hand)
    table.row("5-point stencil 8192^2", 16 * n * n / ours / 1e12, "TB/s")
    table.row("  share of hand CUDA", theirs / ours, "x", "at least 0.95", (at_least, 0.95))


if __name__ == "__main__":
    main()
