"""What checks of indices that the data decides cost: ``python benches/checks.py [DEVICE]``. The same kernels with checks, which is the default, and
without them, in one run."""

import sys

import numpy as np
from measure import interleaved

import parloop as pl
import parloop.loops as lp

INT, REAL = np.int32, np.float64


def reals(names, shape="n"):
    return lp.GlobalArg(names, REAL, shape=shape)


def integers(names, shape="n"):
    return lp.GlobalArg(names, INT, shape=shape)


def cases(n):
    """Kernels with their arguments."""
    rng = np.random.default_rng(1)
    i = np.arange(n)
    near = (i + rng.integers(-8, 8, n)).clip(0, n - 1).astype(INT)
    columns = (i[:, None] + np.array([-100, -2, -1, 0, 1, 2, 100])).clip(0, n - 1).astype(INT)
    gather = lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[p[i]]", [reals("a", "m"), integers("p"), reals("out"), ...], name="gather")
    yield "gather from neighbours", gather, {"a": rng.random(n), "p": near, "out": np.zeros(n)}
    yield "gather from anywhere", gather, {"a": rng.random(n), "p": rng.permutation(n).astype(INT), "out": np.zeros(n)}
    table = lp.make_kernel(
        "{[i]: 0<=i<n}",
        "<int32> k = x[i]*64 {id=k}\nout[i] = t[k] + (x[i]*64 - k)*(t[k+1] - t[k]) {dep=k}",
        [reals("t", "65"), reals("x, out"), ...],
        name="table",
    )
    yield "linear interpolation in a table", table, {"t": rng.random(65), "x": rng.random(n), "out": np.zeros(n)}
    rows = lp.make_kernel(
        "{[i,j]: 0<=i<n and 0<=j<7}",
        "y[i] = sum(j, v[i,j]*x[c[i,j]])",
        [reals("v", "n,7"), integers("c", "n,7"), reals("x, y"), ...],
        name="rows",
    )
    yield "matrix with 7 entries a row", rows, {"v": rng.random((n, 7)), "c": columns, "x": rng.random(n), "y": np.zeros(n)}
    sparse = lp.make_kernel(
        ["{[i]: 0<=i<n}", "[b, e] -> {[j]: b<=j<e}"],
        "for i\n<> b = r[i] {id=b}\n<> e = r[i+1] {id=e}\ny[i] = sum(j, v[j]*x[c[j]]) {dep=b:e}\nend",
        [reals("v", "z"), integers("c", "z"), reals("x, y"), integers("r", "n+1"), ...],
        name="sparse",
    )
    starts = np.arange(0, 7 * n + 1, 7, dtype=INT)
    yield "the same in compressed rows", sparse, {"v": rng.random(7 * n), "c": columns.ravel(), "x": rng.random(n), "y": np.zeros(n), "r": starts}
    flops = lp.make_kernel(
        "{[i]: 0<=i<n}",
        "<> s = a[p[i,0]]*a[p[i,1]] - a[p[i,2]]*a[p[i,3]]\nout[i] = sqrt(s*s + 1.0)*s + b[i]",
        [reals("a, b, out"), integers("p", "n,4"), ...],
        name="four",
    )
    yield "four gathers and a root", flops, {"a": rng.random(n), "b": rng.random(n), "p": np.stack([near] * 4, 1), "out": np.zeros(n)}


def main():
    device = sys.argv[1] if len(sys.argv) > 1 else "cpu:1"
    ctx = pl.Context(device)
    is_cpu = ctx.device.kind == "cpu"
    print(f"{ctx.device}\n{'milliseconds':34s} {'elements':>9s} {'unchecked':>10s} {'checked':>10s} {'ratio':>6s}")
    for n in (100, 1_000_000) if is_cpu else (100, 1_000_000, 10_000_000):
        for what, knl, arguments in cases(n):
            if not is_cpu:
                knl = lp.split_iname(knl, "i", 256, outer_tag="g.0", inner_tag="l.0")
                arguments = {name: ctx.array(value) for name, value in arguments.items()}
            kernels = {"unchecked": lp.set_options(knl, check_bounds=False), "checked": knl}

            def call(knl, arguments=arguments):
                knl(ctx, **arguments)
                ctx.synchronize()

            calls = {name: lambda knl=knl: call(knl) for name, knl in kernels.items()}
            for warm in calls.values():
                warm()
            times = interleaved(calls, 200 if n == 100 else 5, rounds=15)
            unchecked, checked = times["unchecked"] * 1e3, times["checked"] * 1e3
            print(f"{what:34s} {n:9,d} {unchecked:10.4f} {checked:10.4f} {checked / unchecked:6.2f}", flush=True)


if __name__ == "__main__":
    main()
