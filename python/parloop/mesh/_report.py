"""How a loop runs: the plan, its alternatives with their times, and its share of the memory bandwidth."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import Context

__all__ = ["LoopReport", "PlanReport"]


class PlanReport(NamedTuple):
    """A plan by which a loop can run."""

    #: The plan, and what else distinguishes it from others: `owner`, `owner, lanes`.
    plan: str
    #: `chosen`, `best so far`, `slower` or `not tried`.
    state: str
    #: The median time of its trial runs.
    seconds: float | None


class LoopReport(NamedTuple):
    """How a loop runs on a device. See `ParLoop.report`."""

    kernel: str
    set: str
    elements: int
    device: str
    #: The plans, the most promising first.
    plans: tuple[PlanReport, ...]
    #: How often loops of this kind ran: the same kernel, set, maps and kinds of arguments.
    runs: int
    #: How long a run takes: the last one on a CPU, elsewhere the shortest of those that were waited for, or the median of trial runs.
    seconds: float | None
    #: The bytes that a run moves at least: each number that is touched and each entry of the maps, once for each direction.
    bytes: int
    #: The share of the measured bandwidth of memory; None where it was not timed, or is faster than memory because the data stays in caches.
    bandwidth_share: float | None

    @property
    def plan(self) -> str:
        """The plan that is used."""
        return next(plan.plan for plan in self.plans if plan.state in ("chosen", "best so far"))

    def _rates(self, seconds: float | None) -> tuple[str, str]:
        if seconds is None:
            return "", ""
        return f"{seconds * 1e3:.4g} ms", f"{self.bytes / seconds / 1e9:.3g} GB/s"

    def __str__(self) -> str:
        time, rate = self._rates(self.seconds)
        if self.seconds is None:
            speed = "not timed yet"
        elif self.bandwidth_share is None:
            speed = f"{time} a run, {rate}: above the memory bandwidth, so the data fits in cache"
        else:
            speed = f"{time} a run, {rate}, {self.bandwidth_share:.0%} of the memory bandwidth"
        lines = [
            f"loop {self.kernel} over {self.set} ({self.elements} elements) on {self.device}: {self.runs} runs",
            f"  {speed} (at least {self.bytes} bytes)",
        ]
        rows = [("plan", "time", "rate", "")] + [(plan.plan, *self._rates(plan.seconds), plan.state) for plan in self.plans]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        for row in rows:
            lines.append("  " + "  ".join([row[0].ljust(widths[0]), row[1].rjust(widths[1]), row[2].rjust(widths[2]), row[3]]).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from .._html import preformatted

        return preformatted(str(self))


def made(described: dict[str, Any]) -> LoopReport:
    """The report of what Rust knows about a loop."""
    plans = tuple(PlanReport(*plan) for plan in described.pop("plans"))
    timed = [plan.seconds for plan in plans if plan.seconds is not None and plan.state in ("chosen", "best so far")]
    last: float | None = described.pop("last")
    seconds = last if last is not None else timed[0] if timed else None
    share = None
    if seconds is not None:
        from ..loops import limits  # a third of the time of importing meshes

        found = described["bytes"] / max(seconds, 1e-9) / limits(Context(described["device"])).bandwidth
        share = found if found <= 1 else None
    return LoopReport(**described, plans=plans, seconds=seconds, bandwidth_share=share)
