"""A line of four elements in xtrack: building its tracker and tracking, with Parloop's drop-in and with xobjects.

    python benches/xtrack_line.py [--particles 100000] [--turns 100]

Needs xtrack and xobjects (with setuptools, for its compiler). Building is CPU time with that of compilers, cold and with a warm cache; tracking on one
thread is CPU time, on two threads wall time, the median of five. Every measurement is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time


def worker(threads: int, particles: int, turns: int) -> None:
    """Prints the seconds of building and tracking."""
    import numpy as np
    import xobjects as xo
    import xtrack as xt

    context = xo.ContextCpu(omp_num_threads=threads) if threads > 1 else xo.ContextCpu()
    line = xt.Line(elements=[xt.Multipole(knl=[0, 1e-2]), xt.Drift(length=5.0), xt.Multipole(knl=[0, -1e-2]), xt.Drift(length=5.0)])
    line.particle_ref = xt.Particles(p0c=6.5e12)

    def cpu() -> float:
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    start = cpu()
    line.build_tracker(_context=context, use_prebuilt_kernels=False)
    bunch = xt.Particles(_context=context, p0c=6.5e12, x=np.random.default_rng(3).normal(0, 1e-4, particles))
    line.track(bunch, num_turns=1)
    built, clock, times = cpu() - start, time.perf_counter if threads > 1 else time.process_time, []
    for _ in range(5):
        start = clock()
        line.track(bunch, num_turns=turns)
        times.append(clock() - start)
    print(json.dumps([built, statistics.median(times)]))


def measured(drop_in: bool, threads: int, options: argparse.Namespace, cache: str) -> list[float]:
    arguments = [__file__, "--worker", str(threads), "--particles", str(options.particles), "--turns", str(options.turns)]
    command = [sys.executable, "-W", "ignore", *(["-m", "parloop.compat"] if drop_in else []), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | {"PARLOOP_CACHE_DIR": cache})
    return json.loads(done.stdout.strip().splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--particles", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.particles, options.turns)
        return
    with tempfile.TemporaryDirectory() as cache:
        cold, _ = measured(True, 1, options, cache)
        warm, one = measured(True, 1, options, cache)
        _, two = measured(True, 2, options, cache)
        theirs, their_one = measured(False, 1, options, cache)
    print(f"building: cold {cold:.2f} s, warm {warm:.2f} s, xobjects {theirs:.2f} s of CPU time ({theirs / cold:.1f} ×)")
    print(f"tracking: {1e3 * one:.1f} ms, xobjects {1e3 * their_one:.1f} ms of CPU time ({their_one / one:.2f} ×); two threads {1e3 * two:.1f} ms ({one / two:.2f} ×)")


if __name__ == "__main__":
    main()
