"""Profiles: which kernels a program spends its time in."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, NamedTuple

from ._html import table as html_table
from ._parloop import Context, _Profile

__all__ = ["Profile", "ProfileRow", "profile"]


class ProfileRow(NamedTuple):
    """What was launched under one name on one device."""

    kernel: str
    device: str
    calls: int
    #: Seconds of all calls, and of one on average.
    total: float
    mean: float
    #: The share of the time of all kernels.
    share: float
    #: The bytes that all calls moved at least, and their floating-point operations, where these are known.
    bytes: int | None
    flops: int | None


class Profile:
    """A table of the kernels that were launched in a `with` block. See `profile`."""

    def __init__(self) -> None:
        self._native: _Profile | None = None
        self._began = 0.0
        #: Seconds that the block took.
        self.seconds = 0.0

    def __enter__(self) -> Profile:
        if self._native is not None:
            raise ValueError("a profile is made for one block; make another one")
        self._native, self._began = _Profile(), time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._native is not None
        self._native.stop()
        self.seconds = time.perf_counter() - self._began

    @property
    def table(self) -> list[ProfileRow]:
        """The kernels, the longest first; inside of the block those so far."""
        rows = self._native.rows() if self._native is not None else []
        everything = sum(row[3] for row in rows) or 1.0
        return [
            ProfileRow(kernel, device, calls, total, total / max(calls, 1), total / everything, moved, flops)
            for device, kernel, calls, total, moved, flops in rows
        ]

    def _texts(self) -> list[tuple[str, ...]]:
        def rate(amount: int | None, seconds: float) -> str:
            return "" if not amount or not seconds else f"{amount / seconds / 1e9:.3g}"

        return [
            (row.kernel, row.device, str(row.calls), f"{row.total * 1e3:.4g}", f"{row.mean * 1e6:.4g}", f"{row.share:.1%}", rate(row.bytes, row.total), rate(row.flops, row.total))
            for row in self.table
        ]

    def __str__(self) -> str:
        rows = [_HEAD, *self._texts()]
        if len(rows) == 1:
            return "nothing was launched"
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
        side = [str.ljust, str.ljust] + [str.rjust] * (len(_HEAD) - 2)
        return "\n".join("  ".join(put(text, width) for put, text, width in zip(side, row, widths)).rstrip() for row in rows)

    def __repr__(self) -> str:
        table = self.table
        return f"<Profile of {len(table)} kernels: {sum(row.calls for row in table)} calls, {sum(row.total for row in table) * 1e3:.4g} ms>"

    def _repr_html_(self) -> str:
        return html_table(_HEAD, self._texts())

    def plot(self, ax: Any = None) -> Any:
        """Draws a roofline: operations for each byte against operations a second, under what the device was measured to do.

        Kernels whose bytes and operations are known are drawn: loop kernels whose counts are. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where it is drawn; by default in a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError("Profile.plot needs matplotlib, which is not installed; pip install parloop[plot]") from None
        import numpy as np

        from .loops import limits

        known = [row for row in self.table if row.bytes and row.flops and row.total]
        if not known:
            raise ValueError("no kernel of the profile has known counts of bytes and operations; loop kernels have them")
        if ax is None:
            _, ax = plt.subplots()
        intensities = [row.flops / row.bytes for row in known if row.flops and row.bytes]
        around = np.geomspace(min(intensities) / 10, max(intensities) * 10, 100)
        for device in dict.fromkeys(row.device for row in known):
            able = limits(Context(device))
            top = max(able.flops.values())
            ax.plot(around, np.minimum(around * able.bandwidth, top) / 1e9, label=f"{device}: {able.bandwidth / 1e9:.3g} GB/s, {top / 1e9:.3g} GFLOP/s")
        for row, intensity in zip(known, intensities):
            ax.plot([intensity], [(row.flops or 0) / row.total / 1e9], "o")
            ax.annotate(row.kernel, (intensity, (row.flops or 0) / row.total / 1e9))
        ax.set(xscale="log", yscale="log", xlabel="operations for each byte", ylabel="GFLOP/s", title="Roofline")
        ax.legend()
        return ax


_HEAD = ("kernel", "device", "calls", "total ms", "mean µs", "share", "GB/s", "GFLOP/s")


def profile() -> Profile:
    """Measures every kernel that is launched in a block, by any layer, on any device and thread.

    On a CPU the time is that of the host's clock, elsewhere that between events before and after each launch. A mesh loop and a call of a
    loop kernel are one call each, however many launches they need; a replay of a graph is one call named ``replay``. Without a profile
    nothing is measured.

    Returns
    -------
    Profile
        Its `table` has a row for each kernel and device; `str` and notebooks show it; `plot` draws a roofline.

    Examples
    --------
    >>> import numpy as np, parloop as pl
    >>> ctx = pl.Context("cpu:1")
    >>> prog = ctx.compile("GPUKERN void twice(double *x, int n) { VECTORIZE_OVER(i, n) x[i] *= 2; END_VECTORIZE }")
    >>> with pl.profile() as p:
    ...     for _ in range(3):
    ...         prog.twice(x=np.ones(100), n=100)
    >>> p.table[0].kernel, p.table[0].device, p.table[0].calls, p.table[0].share
    ('twice', 'cpu:1', 3, 1.0)
    """
    return Profile()
