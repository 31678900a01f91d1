#!/usr/bin/env python3
"""Runs test files of Firedrake with PyOP2 and with Parloop, and compares what passes.

    python scripts/firedrake-tests.py run --out pyop2.json ~/firedrake/tests/firedrake/slate/test_slac.py
    python scripts/firedrake-tests.py run --device cpu:1 --out parloop.json ~/firedrake/tests/firedrake/slate/test_slac.py
    python scripts/firedrake-tests.py compare pyop2.json parloop.json

Run it with the Python of Firedrake's environment, in which Parloop is installed, under ``mpiexec`` for several processes. Firedrake's tests are not
part of its packages: take them from its repository, of the same release. Files that are in the results already are skipped, so that a run that
was broken off can be continued.
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
from pathlib import Path
from typing import Any


class Watch:
    """A plugin of pytest: the outcome of each test, and the loops of each file."""

    def __init__(self, report: Any, out: Path, keep: bool) -> None:
        self.report, self.out, self.keep = report, out, keep
        self.results = json.loads(out.read_text()) if out.exists() else {}
        self.file, self.outcomes, self.texts = "", {}, {}
        self.before = self._counts()

    def _counts(self) -> tuple[int, int, collections.Counter[str]]:
        report = self.report()
        return report.parloop_runs, report.pyop2_runs, collections.Counter(report.reasons)

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        file = nodeid.split("::")[0]
        if file != self.file:
            self.finish()
            self.file, self.outcomes, self.texts = file, {}, {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid] = report.outcome
            if report.outcome == "failed":
                self.texts[report.nodeid] = report.longreprtext[-3000:]

    def pytest_sessionfinish(self) -> None:
        self.finish()

    def finish(self) -> None:
        """Writes down what is known about the file that ended."""
        now = self._counts()
        if self.outcomes:
            self.results[self.file] = {"outcomes": self.outcomes, "texts": self.texts, "parloop": now[0] - self.before[0],
                                       "pyop2": now[1] - self.before[1], "reasons": dict(now[2] - self.before[2])}  # fmt: skip
            if self.keep:
                self.out.write_text(json.dumps(self.results, indent=1))
        self.before = now


def run(said: argparse.Namespace) -> int:
    """Runs the files in this process."""
    import pytest

    # MPI is initialised by this.
    from firedrake import COMM_WORLD

    import parloop.firedrake

    if said.device:
        parloop.firedrake.use(said.device)
    watch = Watch(parloop.firedrake.report, said.out, COMM_WORLD.rank == 0)
    files = [file for file in said.files if str(Path(file).resolve().relative_to(said.root.resolve())) not in watch.results]
    COMM_WORLD.barrier()
    marks = [word for mark in said.mark for word in ("-m", mark)]
    # mpi-pytest would start processes of its own for tests of several.
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:mpi-pytest", "-W", "ignore", "--tb=short", "--continue-on-collection-errors"]
    return int(pytest.main([*options, "--rootdir", str(said.root), *marks, *files], plugins=[watch]))


def compare(said: argparse.Namespace) -> int:
    """Prints a line for each file; the result is 1 where a test passes with one of them only."""
    one, other = (json.loads(Path(name).read_text()) for name in said.files)
    total: collections.Counter[str] = collections.Counter()
    for file in sorted(one.keys() & other.keys()):
        theirs, ours = one[file]["outcomes"], other[file]["outcomes"]
        different = [test for test in theirs.keys() | ours.keys() if theirs.get(test) != ours.get(test)]
        passed = sum(outcome == "passed" for outcome in theirs.values())
        print(f"| {file} | {passed} of {len(theirs)} | {len(different)} | {other[file]['parloop']} | {other[file]['pyop2']} |")
        for test in different:
            print(f"    {test}: {theirs.get(test)} with PyOP2, {ours.get(test)} with Parloop")
        for reason, count in other[file]["reasons"].items():
            print(f"    {count} left: {reason}")
        counts = {kind: other[file][kind] for kind in ("parloop", "pyop2")}
        total += collections.Counter(files=1, tests=len(theirs), passed=passed, different=len(different), **counts)
    print(dict(total))
    return int(total["different"] > 0)


def main() -> int:
    """Runs or compares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "compare"])
    parser.add_argument("--out", type=Path, help="file for the results, which is extended")
    parser.add_argument("--device", help="device for Parloop; PyOP2 runs all loops without")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="what names in the results are relative to")
    parser.add_argument("-m", dest="mark", action="append", default=[], help="only tests with these marks, as pytest's -m")
    parser.add_argument("files", nargs="+")
    said = parser.parse_args()
    return run(said) if said.what == "run" else compare(said)


if __name__ == "__main__":
    sys.exit(main())
