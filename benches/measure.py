"""What the benchmarks share: medians of interleaved rounds, and a table with verdicts."""

import statistics
import time


def interleaved(calls, number, rounds=41, pause=0.0):
    """The median seconds of each call, measured in turns, with a pause in which the threads of the one before go to sleep.

    `number` says how many calls make a turn, for all of them or by name.
    """
    numbers = number if isinstance(number, dict) else dict.fromkeys(calls, number)
    samples = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            time.sleep(pause)
            start = time.perf_counter()
            for _ in range(numbers[name]):
                call()
            samples[name].append((time.perf_counter() - start) / numbers[name])
    return {name: statistics.median(times) for name, times in samples.items()}


class Table:
    def __init__(self):
        self.figures = {}

    def row(self, what, value, unit, target=None, limit=None):
        """`target` says in words what the figure should be, `limit` is the number behind it."""
        verdict = "" if limit is None else ("   holds: " if limit[0](value, limit[1]) else "   DOES NOT HOLD: ") + target
        print(f"  {what:58s} {value:10.3f} {unit}{verdict}", flush=True)
        self.figures[what] = value


def at_most(value, bound):
    return value <= bound


def at_least(value, bound):
    return value >= bound


class Comparison:
    """One table of us and our peers: what, ours, theirs, how many times as fast we are, and what is asked."""

    def __init__(self):
        self.figures = {}
        print(f"{'what':68s} {'ours':>10s} {'peer':>10s} {'':3s} {'peer/ours':>9s}   asked")

    def row(self, what, ours, peer, unit, asked=None):
        """`asked` is what the last column should be at least; without a peer, what ours should be at most."""
        ratio = None if peer is None else peer / ours
        verdict = ""
        if asked is not None:
            holds = ours <= asked if ratio is None else ratio >= asked
            verdict = f"{'at most' if ratio is None else 'at least'} {asked:g}{'' if holds else ': DOES NOT HOLD'}"
        numbers = f"{ours:10.3f} {'' if peer is None else f'{peer:.3f}':>10s} {unit:3s} {'' if ratio is None else f'{ratio:.2f}':>9s}"
        print(f"{what:68s} {numbers}   {verdict}".rstrip(), flush=True)
        self.figures[what] = {"ours": ours, "peer": peer, "unit": unit, "ratio": ratio}
