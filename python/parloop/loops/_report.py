"""What a kernel does, and how near a call came to what its device can do."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import Context
from .._parloop import LoopError, _LoopProgram

__all__ = ["Limits", "Report", "get_mem_access_map", "get_op_map", "limits", "report"]

_STREAM = """
GPUKERN void triad(GPUGLMEM double *a, GPUGLMEM const double *b, GPUGLMEM const double *c, const int64_t n) {
    VECTORIZE_OVER(i, n)
        a[i] = b[i] + 3.0 * c[i];
    END_VECTORIZE
}
GPUKERN void fused(GPUGLMEM REAL *a, const int64_t n) {
    VECTORIZE_OVER(i, n)
        REAL x[8];
        for (int k = 0; k < 8; ++k) x[k] = a[i] + k;
        for (int j = 0; j < 256; ++j)
            for (int k = 0; k < 8; ++k) x[k] = x[k] * (REAL)0.999 + (REAL)0.5;
        a[i] = x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7];
    END_VECTORIZE
}
"""


class Limits(NamedTuple):
    """What was measured of a device."""

    #: Bytes a second that go to and from memory.
    bandwidth: float
    #: Multiplications and additions a second, by dtype.
    flops: dict[str, float]


_measured: dict[str, Limits] = {}


def limits(context: Context) -> Limits:
    """What the context's device can do, measured once: a triad of arrays, and chains of multiplications and additions.

    >>> import parloop as pl, parloop.loops as lp
    >>> lp.limits(pl.Context("cpu:1")).bandwidth > 1e8
    True
    """
    name = context.device.name
    if name not in _measured:
        on_cpu = name.startswith("cpu")
        n = 1 << (22 if on_cpu else 26)
        a, b, c = (context.zeros(n) for _ in range(3))
        program = context.compile(_STREAM.replace("REAL", "double"))
        bandwidth = 24 * n / _seconds(context, lambda: program.triad(a=a, b=b, c=c, n=n))
        flops = {}
        items = 1 << (14 if on_cpu else 22)
        for dtype, c_name in (("float64", "double"), ("float32", "float")):
            program = context.compile(_STREAM.replace("REAL", c_name))
            x = context.zeros(items, np.dtype(dtype))
            flops[dtype] = items * 8 * 256 * 2 / _seconds(context, lambda p=program, x=x: p.fused(a=x, n=items))
        _measured[name] = Limits(bandwidth, flops)
    return _measured[name]


def _seconds(context: Context, call: Any) -> float:
    times = []
    call()
    for _ in range(7):
        start = context.record()
        call()
        end = context.record()
        context.synchronize()
        times.append(end.since(start))
    # Whatever else runs on the machine makes a run longer, never shorter.
    return max(min(times), 1e-9)


class Report(NamedTuple):
    """How a call went. Bytes are those of elements that are touched at least once."""

    kernel: str
    device: str
    seconds: float
    bytes: int
    flops: int
    exact: bool
    #: The shares of what was measured; None where it is more than that: data in caches, or a measurement that was disturbed.
    bandwidth_share: float | None
    flops_share: float | None
    #: What may make it slow, if anything is known of that.
    advice: str | None = None

    def __str__(self) -> str:
        about = "" if self.exact else "at most "

        def told(share: float | None) -> str:
            return "above the measured limit" if share is None else f"{share:.0%} of the measured limit"

        return (
            f"{self.kernel} on {self.device}: {self.seconds * 1e3:.3f} ms, "
            f"{about}{self.bytes / self.seconds / 1e9:.1f} GB/s ({told(self.bandwidth_share)}), "
            f"{about}{self.flops / self.seconds / 1e9:.1f} GFLOP/s ({told(self.flops_share)})" + (f"\n{self.advice}" if self.advice else "")
        )


def report(program: _LoopProgram) -> Report:
    """Time, bytes and operations of the last call, and their share of what the device was measured to do.

    >>> import numpy as np, parloop as pl, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "y[i] = y[i] + 2*x[i]")
    >>> event, (y,) = knl(pl.Context("cpu:1"), x=np.ones(1000), y=np.ones(1000))
    >>> r = knl.report()
    >>> r.bytes, r.flops, r.exact
    (24000, 2000, True)
    """
    last = program._last_call()
    if last is None:
        raise ValueError("the kernel has not been called; call it before requesting a report")
    seconds, sizes, device, typed = last
    seconds = max(seconds, 1e-9)
    counts = _counts(typed, sizes)
    able = limits(Context(device))
    most = able.flops.get({"complex64": "float32", "float32": "float32"}.get(counts.main_type, "float64"), 1.0)
    bandwidth_share, flops_share = (share if share <= 1 else None for share in (counts.bytes / seconds / able.bandwidth, counts.flops / seconds / most))
    advice = _advice(typed, device)
    return Report(typed._entrypoints[0], device, seconds, counts.bytes, counts.flops, counts.exact, bandwidth_share, flops_share, advice)


def _advice(typed: _LoopProgram, device: str) -> str | None:
    """What a CPU does with groups that are made for a GPU."""
    found = typed._loops_over_items() if device.startswith("cpu") else None
    if found is None:
        return None
    items, loops = (", ".join(f"`{name}`" for name in names) for names in found)
    return (
        f"on a CPU the items of a group are a loop: {items} runs inside {loops}, and values that each item adds up there are loaded and "
        'stored each time; compare with plain loops in large blocks of constant size: split_iname(fix_parameters(knl, …), …, 512, outer_tag="g.0")'
    )


class _Counts(NamedTuple):
    bytes: int
    flops: int
    exact: bool
    #: That of most operations.
    main_type: str


def _counts(typed: _LoopProgram, sizes: dict[str, int]) -> _Counts:
    """The bytes that a call touches and the floating-point operations that it does, for these sizes."""
    work = typed._work(sizes)
    exact, total_bytes = True, 0
    by_type: dict[str, int] = {}
    for _, dtype, (_, (number, is_exact)) in work["operations"]:
        if dtype.startswith(("float", "complex")):
            by_type[dtype] = by_type.get(dtype, 0) + number * (4 if dtype.startswith("complex") else 1)
            exact &= is_exact
    for _, dtype, _, count in work["footprints"]:
        if count is None:
            exact = False
            continue
        number, is_exact = count[1]
        total_bytes += number * np.dtype(dtype).itemsize
        exact &= is_exact
    main_type = max(by_type, key=lambda dtype: by_type[dtype], default="float64")
    return _Counts(total_bytes, sum(by_type.values()), exact, main_type)


def known_counts(typed: _LoopProgram, sizes: dict[str, int]) -> tuple[int | None, int | None]:
    """Bytes and operations of a call for a profile; None where they cannot be counted exactly."""
    try:
        counts = _counts(typed, sizes)
    except LoopError:
        return None, None
    return (counts.bytes, counts.flops) if counts.exact else (None, None)


def get_op_map(program: _LoopProgram) -> dict[tuple[str, str], str]:
    """How many operations of each kind and type a kernel does, in terms of its sizes.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i,j]: 0<=i<n and 0<=j<=i}", "a[i,j] = a[i,j]*2", [lp.GlobalArg("a", np.float64, shape="n,n"), ...])
    >>> lp.get_op_map(knl)
    {('mul', 'float64'): 'n^2/2 + n/2'}
    """
    return {(kind, dtype): text for kind, dtype, (text, _) in program._work()["operations"]}


def get_mem_access_map(program: _LoopProgram) -> dict[tuple[str, str, str], str]:
    """How many elements of each array a kernel reads and writes, in terms of its sizes.

    >>> import numpy as np, parloop.loops as lp
    >>> knl = lp.make_kernel("{[i]: 0<=i<n}", "b[i] = a[i] + a[i]", [lp.GlobalArg("a,b", np.float64, shape="n"), ...])
    >>> lp.get_mem_access_map(knl)
    {('a', 'float64', 'load'): '2*(n)', ('b', 'float64', 'store'): 'n'}
    """
    return {(array, dtype, way): text for array, dtype, way, (text, _) in program._work()["accesses"]}
