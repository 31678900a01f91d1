"""Random meshes in slices, against the same meshes that every process has as a whole.

Sets, maps and data are random, and so are the slices, of which some are empty. All that a process gets must be the same in both ways: which elements, in
which order, the rows of maps, and the numbers on ghosts. To look for faults for a while:

    mpirun -n 3 python python/tests/random_slices.py --seconds 600

``--first N --cases 1`` repeats mesh N of a run.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import parloop.mesh as op2

TYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8, np.complex128]


class Random:
    """A mesh: sizes of sets, maps between them and data on them, all connected with set `s0`."""

    def __init__(self, rng: np.random.Generator):
        count = int(rng.integers(1, 5))
        self.sizes = [int(rng.integers(1, 40)) if rng.random() < 0.8 else int(rng.integers(100, 400)) for _ in range(count)]
        ends = [(int(rng.integers(later)), later) if rng.random() < 0.5 else (later, int(rng.integers(later))) for later in range(1, count)]
        ends += [tuple(int(end) for end in rng.integers(count, size=2)) for _ in range(rng.integers(0, 3))]
        ends = [ends[place] for place in rng.permutation(len(ends))]
        self.maps = {}
        for number, (begin, end) in enumerate(ends):
            arity = int(rng.integers(1, 5))
            if rng.random() < 0.5:  # neighbours have numbers that are close to each other
                near = np.arange(self.sizes[begin])[:, np.newaxis] * self.sizes[end] // self.sizes[begin] + np.arange(arity)
                values = near % self.sizes[end]
            else:
                values = rng.integers(0, self.sizes[end], (self.sizes[begin], arity))
            self.maps[f"m{number}"] = (begin, end, values)
        self.data = {"x": (0, rng.integers(0, 9, (self.sizes[0], int(rng.integers(1, 4)))).astype(float))}
        led_to = [end for begin, end, _ in self.maps.values() if begin == 0]
        if led_to and rng.random() < 0.5:
            on = led_to[int(rng.integers(len(led_to)))]
            self.data["x"] = (on, rng.normal(size=(self.sizes[on], int(rng.integers(1, 4)))))
        for number in range(rng.integers(0, 4)):
            on = int(rng.integers(count))
            shape = (self.sizes[on], *(int(length) for length in rng.integers(1, 4, rng.integers(0, 3))))
            self.data[f"d{number}"] = (on, rng.integers(0, 100, shape).astype(TYPES[rng.integers(len(TYPES))]))

    def ordered(self) -> list[str]:
        """The maps in the order in which `distribute` finds them, from the set on."""
        sets, maps = [0], []
        for place in sets:
            for name, (begin, end, _) in self.maps.items():
                if place in (begin, end) and name not in maps:
                    maps.append(name)
                    sets += [known for known in (begin, end) if known not in sets]
        return maps


def compare(seed: int, comm: op2.Comm) -> None:
    rng = np.random.default_rng(seed)
    mesh = Random(rng)
    by = rng.integers(0, comm.size, mesh.sizes[0]) if rng.random() < 0.4 else "coordinates"
    cuts = [np.concatenate([[0], np.sort(rng.integers(0, size + 1, comm.size - 1)), [size]]) for size in mesh.sizes]
    here = [slice(int(cut[comm.rank]), int(cut[comm.rank + 1])) for cut in cuts]

    sets = [op2.Set(size, f"s{place}") for place, size in enumerate(mesh.sizes)]
    maps = {name: op2.Map(sets[begin], sets[end], values.shape[1], values, name) for name, (begin, end, values) in mesh.maps.items()}
    data = {name: op2.Dat(sets[on] ** (values.shape[1:] or 1), values.copy(), values.dtype, name) for name, (on, values) in mesh.data.items()}
    whole = op2.distribute(sets[0], by, coordinates=data["x"] if isinstance(by, str) else None, comm=comm)

    part = op2.distribute_slices(
        "s0",
        sizes={f"s{place}": slice.stop - slice.start for place, slice in enumerate(here)},
        maps={name: (f"s{mesh.maps[name][0]}", f"s{mesh.maps[name][1]}", mesh.maps[name][2][here[mesh.maps[name][0]]]) for name in mesh.ordered()},
        data={name: (f"s{on}", values[here[on]]) for name, (on, values) in mesh.data.items()},
        by=by if isinstance(by, str) else by[here[0]],
        coordinates="x" if isinstance(by, str) else None,
        comm=comm,
    )
    assert part.distribution._replace(cut=None, comm=None) == whole._replace(cut=None, comm=None), (seed, part.distribution, whole)
    for place, known in enumerate(sets):
        own = part.sets[f"s{place}"]
        assert (own.core_size, own.size, own.total_size, own.global_size) == (known.core_size, known.size, known.total_size, known.global_size), (seed, place)
        assert np.array_equal(own.global_numbers, known.global_numbers), (seed, place)
    for name, known in maps.items():
        assert np.array_equal(part.maps[name].values_with_halo, known.values_with_halo), (seed, name)
    for name, known in data.items():
        own = part.data[name]
        assert own.dtype == known.dtype and np.array_equal(own.data_ro_with_halos, known.data_ro_with_halos), (seed, name)
        assert np.array_equal(own.gather(), mesh.data[name][1].reshape(own.gather().shape)), (seed, name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="the number of the first mesh")
    parser.add_argument("--cases", type=int, default=10**9, help="how many meshes at most")
    parser.add_argument("--seconds", type=float, default=10.0, help="for how long")
    options = parser.parse_args()
    comm, start, done = op2.Comm.world(), time.monotonic(), 0
    while done < options.cases:
        # Rank 0 has the clock.
        if comm.broadcast_bytes(b"" if time.monotonic() - start < options.seconds else b"end"):
            break
        compare(options.first + done, comm)
        done += 1
    if comm.rank == 0:
        print(f"{done} meshes on {comm.size} processes: all parts are the same")


if __name__ == "__main__":
    main()
