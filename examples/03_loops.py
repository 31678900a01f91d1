"""One matrix product, transformed in two ways, on every device: ``python examples/03_loops.py``."""

import time

import numpy as np
import parloop as pl
import parloop.loops as lp

n = 200
product = lp.make_kernel(
    "{[i,j,k]: 0<=i,j,k<n}",
    "c[i,j] = sum(k, a[i,k]*b[k,j])",
    [lp.GlobalArg("a,b,c", np.float32, shape="n,n"), ...],
    name="product",
    assumptions="n >= 1",
)

# A row for each work-group, an element for each of its items, 64 at once.
rows = lp.split_iname(product, "j", 64, outer_tag="g.1", inner_tag="l.0")
rows = lp.tag_inames(rows, {"i": "g.0"})

# A tile of 16 by 16 for each work-group, which fetches tiles of both factors into local memory.
tiles = lp.split_iname(product, "i", 16, outer_tag="g.0", inner_tag="l.1")
tiles = lp.split_iname(tiles, "j", 16, outer_tag="g.1", inner_tag="l.0")
tiles = lp.split_iname(tiles, "k", 16)
tiles = lp.add_prefetch(tiles, "a", ["k_inner", "i_inner"])
tiles = lp.add_prefetch(tiles, "b", ["j_inner", "k_inner"])
print(tiles.code("opencl"))


def best_time(knl, ctx, a, b):
    """The product, and the best time of three in milliseconds."""
    a, b, c = ctx.array(a), ctx.array(b), ctx.zeros((n, n), np.float32)
    times = []
    for _ in range(4):
        start = time.perf_counter()
        event, _ = knl(ctx, a=a, b=b, c=c)
        event.wait()
        times.append(time.perf_counter() - start)
    return c.numpy(), 1e3 * min(times[1:])


# Small integers, so that every order of the sums gives the same floats.
a = (np.arange(n * n) % 7 - 3).reshape(n, n).astype(np.float32)
b = (np.arange(n * n) % 5 - 2).reshape(n, n).astype(np.float32)
found, plain = best_time(product, pl.Context("cpu:1"), a, b)
assert np.array_equal(found, a @ b)
print(f"{'ms':<12} {'plain':>9} {'rows':>9} {'tiles':>9}\n{'cpu:1':<12} {plain:>9.3f}")
for device in pl.devices():
    line = f"{device.name:<12} {'':>9}"
    for knl in rows, tiles:
        found, ms = best_time(knl, pl.Context(device.name), a, b)
        assert np.array_equal(found, a @ b), device
        line += f" {ms:>9.3f}"
    print(line)
