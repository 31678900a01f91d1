#!/usr/bin/env python3
"""Runs test files of Firedrake with PyOP2 and with Parloop, and compares what passes.

    python scripts/firedrake-tests.py --tests ~/firedrake/tests --out results.json regression/test_assemble.py slate
    python scripts/firedrake-tests.py --tests ~/firedrake/tests --ranks 2 -m parallel regression/test_matrix_free.py

Run it with the Python of Firedrake's environment, in which Parloop is installed. Firedrake's tests are not part of its packages: take them from
its repository, of the same release. Names are relative to ``tests/firedrake``, or to ``tests`` if they begin with ``pyop2/``.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def run(file: Path, said: argparse.Namespace, with_parloop: bool) -> dict[str, object]:
    """Runs one file and returns the outcome of each test and the counts of loops."""
    with tempfile.TemporaryDirectory() as folder:
        xml, log = Path(folder, "results.xml"), Path(folder, "report")
        pytest = ["pytest", "-q", "-x" if said.stop else "-q", "--tb=short", f"--junitxml={xml}", "-p", "no:cacheprovider", str(file)]
        pytest += ["-m", said.mark] if said.mark else []
        pytest += ["-k", said.names] if said.names else []
        program = ["-m", "parloop.firedrake", "--device", said.device, "--report", "-m"] if with_parloop else ["-m"]
        # Of several processes only the first writes results.
        launch = ["mpiexec", "--oversubscribe", "-n", str(said.ranks)] if said.ranks > 1 else []
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        try:
            done = subprocess.run([*launch, sys.executable, *program, *pytest], capture_output=True, text=True, timeout=said.seconds,
                                  env=environment, cwd=file.parent, check=False)  # fmt: skip
            text = done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            return {"outcomes": {}, "parloop": 0, "pyop2": 0, "reasons": {}, "text": "took too long"}
        log.write_text(text)
        return {"outcomes": outcomes(xml), **loops(done.stderr), "text": text[-6000:]}


def outcomes(xml: Path) -> dict[str, str]:
    """passed, failed, error or skipped for each test."""
    if not xml.exists():
        return {}
    found = {}
    for case in ElementTree.parse(xml).iter("testcase"):
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        found[f"{case.get('classname')}::{case.get('name')}"] = min(kinds) if kinds else "passed"
    return found


def loops(text: str) -> dict[str, object]:
    """The counts of the reports at the end, of all processes together."""
    ran = re.findall(r"Parloop ran (\d+) loops, PyOP2 (\d+)\.", text)
    reasons: dict[str, int] = {}
    for block in re.findall(r"left to PyOP2 because\n((?: +\d+  .*\n?)+)", text):
        for count, reason in re.findall(r"^ +(\d+)  (.*)$", block, re.MULTILINE):
            reasons[reason] = reasons.get(reason, 0) + int(count)
    return {"parloop": sum(int(ours) for ours, _ in ran), "pyop2": sum(int(theirs) for _, theirs in ran), "reasons": reasons}


def compare(file: Path, said: argparse.Namespace) -> dict[str, object]:
    """Both runs of a file, and the tests whose outcomes differ."""
    theirs, ours = run(file, said, False), run(file, said, True)
    one, other = theirs["outcomes"], ours["outcomes"]
    assert isinstance(one, dict) and isinstance(other, dict)
    different = {name: [one.get(name), other.get(name)] for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
    entry = {"passed": sum(kind == "passed" for kind in one.values()), "tests": len(one), "different": different,
             "parloop": ours["parloop"], "pyop2": ours["pyop2"], "reasons": ours["reasons"]}  # fmt: skip
    if different or not one or not other:
        entry |= {"text_pyop2": theirs["text"], "text_parloop": ours["text"]}
    return entry


def main() -> int:
    """Runs all files and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=Path, required=True, help="folder `tests` of Firedrake's repository")
    parser.add_argument("--out", type=Path, help="file for the results, which is extended")
    parser.add_argument("--device", default="cpu:1")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=1, help="files that run at once")
    parser.add_argument("--seconds", type=float, default=600, help="the longest that a file may take")
    parser.add_argument("--stop", action="store_true", help="stop a file at its first failure")
    parser.add_argument("-m", dest="mark", help="only tests with these marks, as pytest's -m")
    parser.add_argument("-k", dest="names", help="only tests with these names, as pytest's -k")
    parser.add_argument("files", nargs="+")
    said = parser.parse_args()
    results = json.loads(said.out.read_text()) if said.out and said.out.exists() else {}
    paths = {name: (said.tests if name.startswith("pyop2/") else said.tests / "firedrake") / name for name in said.files}
    with concurrent.futures.ThreadPoolExecutor(said.at_once) as pool:
        jobs = {pool.submit(compare, path.resolve(), said): name for name, path in paths.items()}
        for job in concurrent.futures.as_completed(jobs):
            name, entry = jobs[job], job.result()
            results[name] = entry
            print(f"{name}: {entry['passed']} of {entry['tests']} pass, {len(entry['different'])} differ, {entry['parloop']} loops, "
                  f"{entry['pyop2']} left {entry['reasons'] or ''}", flush=True)  # fmt: skip
            if said.out:
                said.out.write_text(json.dumps(results, indent=1))
    return int(any(entry["different"] for entry in results.values()))


if __name__ == "__main__":
    sys.exit(main())
