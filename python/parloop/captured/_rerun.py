"""Running the loops of a capture again: are the numbers the same, and how long does it take?"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import mesh
from .._parloop import Context, MeshError, ParloopError
from ._build import Stored, build
from ._format import read

#: How far results may be from those of the file, as a part of the largest number, by the size of a number in bytes.
_TOLERANCE = {8: 1e-12, 4: 1e-5}

#: How long a recording should take that is replayed on a device, in seconds, and how many runs it has at most.
_RECORDED, _TOGETHER = 20e-3, 1000


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of one loop."""

    kernel: str
    elements: int
    #: The largest difference from the numbers of the file, as a part of the largest of them.
    difference: float
    is_same: bool
    #: The time of a run, the shortest of all that were measured.
    seconds: float
    #: Why the plan that was asked for cannot run it; empty where it ran.
    refused: str = ""


def rerun(path: str | os.PathLike[str], device: str | Context = "cpu", repeat: int = 10, plan: str | None = None) -> list[Outcome]:
    """Runs each loop of a capture, compares its numbers with those of the file, and measures some more runs.

    The kernels of a capture are code that is compiled and run here.

    Parameters
    ----------
    path : path
        The capture.
    device : str or Context
        Where loops run.
    repeat : int
        How many times runs are measured after the one that is compared: one run on a CPU, a recording of several on other devices.
    plan : str, optional
        The plan of all loops, as of :class:`parloop.mesh.ParLoop`; chosen for each loop if none is given.
    """
    if repeat < 1:
        raise ValueError(f"repeat must be at least 1, not {repeat}")
    context = device if isinstance(device, Context) else Context(device)
    return [_outcome(stored, context, repeat, plan) for stored in build(read(path))]


def _outcome(stored: Stored, context: Context, repeat: int, plan: str | None) -> Outcome:
    run = stored.loop.made(context, plan)
    try:
        run()
    except MeshError as error:
        if plan is None:
            raise
        return Outcome(stored.loop.source.name, stored.loop.set.size, float("nan"), False, float("nan"), str(error))
    is_same, difference = True, 0.0
    for data, wanted in stored.wanted:
        found = data.data_ro_with_halos if isinstance(data, mesh.Dat) else data.data_ro
        apart, tolerance = _difference(found, wanted), _TOLERANCE.get(wanted.dtype.itemsize, 0.0) if wanted.dtype.kind == "f" else 0.0
        is_same, difference = is_same and apart <= tolerance, max(difference, apart)
    seconds = [_timed(run, context) for _ in range(repeat)]
    if context.device.kind != "cpu":
        # What the host needs to launch them is not part of their time.
        together = max(1, min(_TOGETHER, int(_RECORDED / min(seconds))))
        with context.recording() as recording:
            for _ in range(together):
                run()
        recording()
        seconds = [_timed(recording, context) / together for _ in range(repeat)]
    return Outcome(stored.loop.source.name, stored.loop.set.size, difference, is_same, min(seconds))


def _timed(run: Callable[[], None], context: Context) -> float:
    context.synchronize()
    begin = time.perf_counter()
    run()
    context.synchronize()
    return time.perf_counter() - begin


def _difference(found: Any, wanted: Any) -> float:
    """The largest difference of two arrays as a part of the largest number; infinite where only one has a number."""
    found, wanted = np.asarray(found).reshape(-1), wanted.reshape(-1)
    if found.shape != wanted.shape or not np.array_equal(np.isfinite(found), np.isfinite(wanted)):
        return float("inf")
    finite = np.isfinite(wanted)
    if not np.array_equal(found[~finite], wanted[~finite], equal_nan=True):
        return float("inf")
    found, wanted = found[finite].astype(float), wanted[finite].astype(float)
    apart, largest = np.abs(found - wanted).max(initial=0.0), np.abs(wanted).max(initial=0.0)
    return float(apart / largest) if apart else 0.0


def command(arguments: list[str]) -> int:
    """``parloop rerun``: prints a line for each loop; fails where numbers differ."""
    parser = argparse.ArgumentParser("parloop rerun", description="Runs the loops of a capture, compares the results with the recorded ones and times them. Its kernels are code: run only captures that you trust.")
    parser.add_argument("capture", help="a file written by parloop.firedrake.capture")
    parser.add_argument("--device", default="cpu", help="device to run the loops on (default: cpu)")
    parser.add_argument("--repeat", type=int, default=10, help="number of timed runs (default: 10)")
    parser.add_argument("--plan", help="plan of all loops, such as shared or atomic (default: chosen for each loop)")
    said = parser.parse_args(arguments)
    try:
        outcomes = rerun(said.capture, said.device, said.repeat, said.plan)
    except (ParloopError, OSError, ValueError) as error:
        print(f"parloop rerun: {error}", file=sys.stderr)
        return 1
    print(f"{'elements':>10} {'ms':>10} {'difference':>11}  kernel")
    for one in outcomes:
        if one.refused:
            print(f"{one.elements:>10} {'':>10} {'':>11}  {one.kernel}  refused: {one.refused}")
            continue
        told = "" if one.is_same else "  differs"
        print(f"{one.elements:>10} {one.seconds * 1e3:>10.4f} {one.difference:>11.1e}  {one.kernel}{told}")
    refused = sum(bool(one.refused) for one in outcomes)
    different = sum(not one.is_same for one in outcomes) - refused
    print(f"{len(outcomes)} loops, {different} with results that differ from the file" + (f", {refused} that the plan cannot run" if refused else ""))
    return 1 if different or refused else 0
