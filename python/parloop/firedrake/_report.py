"""Which loops Parloop ran, and which it left to PyOP2, with the reasons."""

from __future__ import annotations

import collections
import dataclasses

#: More kernels than this are summed up in the last line of a table.
_MOST_LINES = 20


@dataclasses.dataclass
class Ran:
    """The runs of one kernel."""

    runs: int = 0
    seconds: float = 0.0


class Report:
    """Counts of loops, by kernel and by reason."""

    def __init__(self) -> None:
        self.by_parloop: dict[str, Ran] = {}
        self.by_pyop2: dict[str, Ran] = {}
        self.reasons: collections.Counter[str] = collections.Counter()

    def ran(self, kernel: str, seconds: float) -> None:
        """Parloop ran a loop."""
        self._add(self.by_parloop, kernel, seconds)

    def left(self, kernel: str, reason: str, seconds: float) -> None:
        """PyOP2 ran a loop."""
        self._add(self.by_pyop2, kernel, seconds)
        self.reasons[reason] += 1

    @staticmethod
    def _add(kernels: dict[str, Ran], kernel: str, seconds: float) -> None:
        of = kernels.setdefault(kernel, Ran())
        of.runs += 1
        of.seconds += seconds

    @property
    def parloop_runs(self) -> int:
        """How many loops Parloop ran."""
        return sum(kernel.runs for kernel in self.by_parloop.values())

    @property
    def pyop2_runs(self) -> int:
        """How many loops PyOP2 ran."""
        return sum(kernel.runs for kernel in self.by_pyop2.values())

    def __str__(self) -> str:
        lines = [f"Parloop ran {self.parloop_runs} loops, PyOP2 {self.pyop2_runs}."]
        for title, kernels in (("Parloop", self.by_parloop), ("PyOP2", self.by_pyop2)):
            if kernels:
                lines += ["", f"{'runs':>8} {'seconds':>10}  kernel ({title})", *_table(kernels)]
        if self.reasons:
            lines += ["", f"{'loops':>8}  left to PyOP2 because"]
            lines += [f"{count:>8}  {reason}" for reason, count in self.reasons.most_common()]
        return "\n".join(lines)


def _table(kernels: dict[str, Ran]) -> list[str]:
    """A line for each kernel, those that took longest first."""
    ordered = sorted(kernels.items(), key=lambda item: -item[1].seconds)
    lines = [f"{of.runs:>8} {of.seconds:>10.4f}  {name}" for name, of in ordered[:_MOST_LINES]]
    if others := [of for _, of in ordered[_MOST_LINES:]]:
        lines.append(f"{sum(of.runs for of in others):>8} {sum(of.seconds for of in others):>10.4f}  {len(others)} others")
    return lines
