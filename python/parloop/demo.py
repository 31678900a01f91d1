"""A tour of the devices found: ``python -m parloop.demo``.

Runs one memory-bound and one compute-bound kernel on each of them, checks the results against NumPy, and prints a table.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

import parloop as pl

#: Device, its model, the kernel, seconds, the rate in words, the share of the copy bandwidth.
Row = tuple[str, str, str, float, str, float]

SOURCE = """
GPUKERN void copy(GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
    VECTORIZE_OVER(i, n)
        y[i] = x[i];
    END_VECTORIZE
}
GPUKERN void axpy(const double a, GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
    VECTORIZE_OVER(i, n)
        y[i] += a * x[i];
    END_VECTORIZE
}
#define STEP v = v * 0.999 + 0.001;
#define STEPS8 STEP STEP STEP STEP STEP STEP STEP STEP
#define STEPS64 STEPS8 STEPS8 STEPS8 STEPS8 STEPS8 STEPS8 STEPS8 STEPS8
GPUKERN void iterate(GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
    VECTORIZE_OVER(i, n)
        double v = x[i];
        STEPS64 STEPS64 STEPS64 STEPS64
        y[i] = v;
    END_VECTORIZE
}
"""
ITERATIONS = 256


def seconds(ctx: pl.Context, call: Callable[[], object], repeats: int = 9) -> float:
    """The median time of a call on the device, after two to warm up."""
    samples = []
    for round in range(repeats + 2):
        ctx.synchronize()
        start = time.perf_counter()
        call()
        ctx.synchronize()
        if round >= 2:
            samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def measure(device: pl.Device, say: Callable[[str], None]) -> list[Row]:
    """Rows of the table for one device; `say` is told what is done."""
    ctx = pl.Context(device)
    is_gpu = device.simd_width >= 32
    n = 2**26 if is_gpu else 2**24
    say(f"{device.name}: compiling")
    prog = ctx.compile(SOURCE)
    host = np.linspace(0.0, 1.0, n)
    x, y = ctx.array(host, copy=None), ctx.zeros(n)

    say(f"{device.name}: measuring its copy bandwidth")
    copy = seconds(ctx, prog.copy.bind(x=x, y=y, n=n))
    assert np.array_equal(y.numpy(), host)
    # A CPU reads a line of its cache before it writes to it, so that its copy moves three times a double.
    bandwidth = (16 if is_gpu else 24) * n / copy

    say(f"{device.name}: axpy over {n} doubles")
    y = ctx.zeros(n)
    prog.axpy(a=0.5, x=x, y=y, n=n)
    if not np.allclose(y.numpy(), 0.5 * host, rtol=1e-15):
        raise SystemExit(f"{device.name}: axpy gives wrong results")
    axpy = seconds(ctx, prog.axpy.bind(a=0.5, x=x, y=y, n=n))

    m = n if is_gpu else n // 16
    say(f"{device.name}: {ITERATIONS} multiply-adds on each of {m} doubles")
    prog.iterate(x=x, y=y, n=m)
    checked = slice(0, m, max(1, m // 2**18))
    expected = host[checked].copy()
    for _ in range(ITERATIONS):
        expected *= 0.999
        expected += 0.001
    if not np.allclose(y.numpy()[checked], expected, rtol=1e-12):
        raise SystemExit(f"{device.name}: iterate gives wrong results")
    iterate = seconds(ctx, prog.iterate.bind(x=x, y=y, n=m))
    return [
        (device.name, device.model, "axpy", axpy, f"{24 * n / axpy / 1e9:.1f} GB/s", 24 * n / axpy / bandwidth),
        (device.name, device.model, "iterate", iterate, f"{2 * ITERATIONS * m / iterate / 1e9:.1f} GFLOP/s", (16 if is_gpu else 24) * m / iterate / bandwidth),
    ]


def table(rows: list[Row]) -> str:
    """Text of the rows, in columns."""
    header = ("device", "", "kernel", "ms", "rate", "of copy bandwidth")
    lines = [header] + [(name, model[:40], kernel, f"{t * 1e3:.3f}", rate, f"{share:.0%}") for name, model, kernel, t, rate, share in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    text = ["  ".join(cell.ljust(width) if i < 3 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))) for line in lines]
    text.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join(text)


def main() -> None:
    devices = pl.devices()
    print("devices found:")
    for device in devices:
        print(f"  {device.name:12} {device.model}")
    rows: list[Row] = []
    with pl.progress(total=4 * len(devices), desc="demo", show=True, delay=0.0) as steps:
        for device in devices:
            rows += measure(device, lambda text: steps.update(note=text))
    print()
    print(table(rows))
    print("\nThe copy is a separate kernel; an in-place update can be faster, so shares above 100 % are possible.")
    print("Every result was checked against NumPy. Run `parloop doctor` to see how to enable more devices.")


if __name__ == "__main__":
    main()
