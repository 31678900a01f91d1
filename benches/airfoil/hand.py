"""The airfoil program by hand in C, called through ctypes: ``python benches/airfoil/hand.py [I J [ITERATIONS]]`` checks and times it."""

from __future__ import annotations

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "examples"))
from airfoil_mesh import Mesh, airfoil_mesh  # noqa: E402

#: What kernels of the CPU devices are compiled with.
FLAGS = ["-O3", "-march=native", "-std=gnu11", "-fPIC", "-shared", "-fno-math-errno", "-fno-semantic-interposition"]
LOOPS = ("save_soln", "adt_calc", "res_calc", "bres_calc", "update")
TABLES = ("x", "cell_nodes", "edge_nodes", "edge_cells", "bedge_nodes", "bedge_cells", "bound")


def compile_c(source: str | pathlib.Path, folder: str) -> ctypes.CDLL:
    """A library of a C file, compiled with the flags of our own kernels."""
    library = pathlib.Path(folder, pathlib.Path(source).stem + ".so")
    subprocess.run([os.environ.get("CC", "cc"), *FLAGS, "-o", library, source, "-lm"], check=True)
    return ctypes.CDLL(str(library))


class CMesh(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("nodes", "cells", "edges", "bedges")] + [(name, ctypes.c_void_p) for name in TABLES]


class CState(ctypes.Structure):
    _fields_ = [("qinf", ctypes.c_double * 4)] + [(name, ctypes.c_void_p) for name in ("q", "qold", "res", "adt")]


class Hand:
    """The program in C on one mesh: its state, and its loops as calls."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh, self.cells = mesh, len(mesh.cell_nodes)
        with tempfile.TemporaryDirectory() as folder:
            self.library = compile_c(HERE / "hand.c", folder)
        self.library.run.restype = self.library.iterate.restype = self.library.update.restype = ctypes.c_double
        self.q, self.qold, self.res = (np.zeros((self.cells, 4)) for _ in range(3))
        self.adt = np.zeros(self.cells)
        counts = len(mesh.x), self.cells, len(mesh.edge_nodes), len(mesh.bound)
        self.c_mesh = CMesh(*counts, *(getattr(mesh, name).ctypes.data for name in TABLES))
        self.c_state = CState((0.0,) * 4, *(array.ctypes.data for array in (self.q, self.qold, self.res, self.adt)))
        self.both = ctypes.byref(self.c_mesh), ctypes.byref(self.c_state)
        self.cpu, self.wall = (ctypes.c_double * len(LOOPS))(), (ctypes.c_double * len(LOOPS))()
        self.library.start(*self.both)

    def run(self, iterations: int) -> float:
        """sqrt(rms / cells) after some more iterations."""
        return self.library.run(*self.both, iterations, self.cpu, self.wall)

    def iterate(self, iterations: int) -> float:
        """As `run`, without a look at the clock around each loop."""
        return self.library.iterate(*self.both, iterations)

    def loop(self, name: str) -> None:
        """One of the loops, once."""
        getattr(self.library, name)(*self.both)


def main() -> None:
    third, across = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (40, 60)
    iterations = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    hand = Hand(airfoil_mesh(third, across))
    print(hand.mesh)
    done = 0
    for mark in sorted({min(1, iterations), min(100, iterations), iterations}):
        print(f"iteration {mark:5}: {hand.run(mark - done):.13e}")
        done = mark
    for name, cpu, wall in zip(LOOPS, hand.cpu, hand.wall):
        print(f"{name:10} {1e3 * cpu / iterations:9.3f} ms of CPU time, {1e3 * wall / iterations:9.3f} ms an iteration")


if __name__ == "__main__":
    main()
