"""Residuals on a mesh that processes share, against PyOP2 in the same run: ``mpirun -n 2 python benches/processes.py`` where Firedrake is installed.

A step adds the residual of Laplace's equation up, through the map from triangles to nodes, and moves the field by it; so ghosts are exchanged in every
step. PyOP2 has Firedrake's mesh, sets and halos, Parloop its own; each process has one thread. Steps on few triangles are calls and messages; the loop that
moves the field has none. Times are those of the slowest process, medians of turns in which both are measured one after the other. That both end with the same
field is asserted.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import firedrake
import numpy as np
import pyop2.op2 as peer
from measure import Comparison
from mpi4py import MPI

import parloop as pl
import parloop.mesh as op2

Step = Callable[[], object]
Key = tuple[str, int]

#: Squares along an edge where calls take all the time.
FEW = 2

#: The kernel of each degree. ``X(i, c)``, ``U(i)`` and ``R(i)`` are a coordinate of a corner, and numbers of a node, as each system hands them over.
RESIDUALS = {
    1: """
    double gx[3], gy[3], ux = 0.0, uy = 0.0;
    for (int i = 0; i < 3; i++) { gx[i] = Y[(i + 1) % 3][(i + 2) % 3]; gy[i] = Z[(i + 2) % 3][(i + 1) % 3]; }
    for (int i = 0; i < 3; i++) { ux += gx[i] * U(i); uy += gy[i] * U(i); }
    for (int i = 0; i < 3; i++) R(i) += (gx[i] * ux + gy[i] * uy) / (2.0 * twice);
""",
    2: """
    static const int edges[3][2] = {{0, 1}, {1, 2}, {2, 0}};
    double gx[3], gy[3];
    for (int i = 0; i < 3; i++) { gx[i] = Y[(i + 1) % 3][(i + 2) % 3]; gy[i] = Z[(i + 2) % 3][(i + 1) % 3]; }
    for (int q = 0; q < 3; q++) {
        double l[3] = {0.5, 0.5, 0.5}, dx[6], dy[6], ux = 0.0, uy = 0.0;
        l[q] = 0.0;
        for (int i = 0; i < 3; i++) {
            int a = edges[i][0], b = edges[i][1];
            dx[i] = (4.0 * l[i] - 1.0) * gx[i]; dy[i] = (4.0 * l[i] - 1.0) * gy[i];
            dx[3 + i] = 4.0 * (l[a] * gx[b] + l[b] * gx[a]); dy[3 + i] = 4.0 * (l[a] * gy[b] + l[b] * gy[a]);
        }
        for (int i = 0; i < 6; i++) { ux += dx[i] * U(i); uy += dy[i] * U(i); }
        for (int i = 0; i < 6; i++) R(i) += (dx[i] * ux + dy[i] * uy) / (6.0 * twice);
    }
""",
}
START = """
    double Y[3][3], Z[3][3];
    for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) { Y[i][j] = X(i, 1) - X(j, 1); Z[i][j] = X(i, 0) - X(j, 0); }
    double twice = fabs(Z[1][0] * Y[2][0] - Z[2][0] * Y[1][0]);
"""
#: Where Firedrake has the corners, and the middles of edges (0, 1), (1, 2) and (2, 0), among the nodes of a triangle.
FLAT = """#include <math.h>
static const int order[2][6] = {{0, 1, 2}, {0, 3, 5, 1, 4, 2}};
#define X(i, c) x[2 * (i) + (c)]
#define U(i) u[order[DEGREE - 1][i]]
#define R(i) r[order[DEGREE - 1][i]]
"""
TABLES = "#define X(i, c) x[i][c]\n#define U(i) u[i][0]\n#define R(i) r[i][0]\n"
MOVE = "void move(double *u, double *r) { u[0] -= 0.01 * r[0]; r[0] = 0.0; }"


def source(degree: int, header: str, arguments: str) -> str:
    return f"#define DEGREE {degree}\n{header}\nvoid residual({arguments}) {{{START}{RESIDUALS[degree]}}}"


def start_of(at: np.ndarray) -> np.ndarray:
    return np.sin(3.0 * at[:, 0]) + at[:, 1] ** 2


class Theirs:
    """PyOP2 on Firedrake's mesh."""

    def __init__(self, cells: int, degree: int) -> None:
        mesh = firedrake.UnitSquareMesh(cells, cells, diagonal="right")
        space = firedrake.FunctionSpace(mesh, "CG", degree)
        at = firedrake.Function(firedrake.VectorFunctionSpace(mesh, "CG", degree)).interpolate(firedrake.SpatialCoordinate(mesh))
        self.u, r, self.comm = firedrake.Function(space).dat, firedrake.Function(space).dat, mesh.comm
        self.u.data_wo_with_halos[:] = start_of(at.dat.data_ro_with_halos)
        x, nodes = mesh.coordinates.dat, mesh.coordinates.cell_node_map()
        text = source(degree, FLAT, "double *r, const double *x, const double *u")
        self.residual, self.move = peer.Kernel(text, "residual"), peer.Kernel(MOVE, "move")
        self.arguments = (r, space.cell_node_map(), x, nodes)
        self.cells, self.nodes = mesh.cell_set, space.node_set
        self.loops = (peer.ParLoop(self.residual, *self.of_residual()), peer.ParLoop(self.move, *self.of_move()))

    def of_residual(self):
        r, map, x, nodes = self.arguments
        return self.cells, r(peer.INC, map), x(peer.READ, nodes), self.u(peer.READ, map)

    def of_move(self):
        return self.nodes, self.u(peer.RW), self.arguments[0](peer.RW)

    def step(self) -> None:
        for loop in self.loops:
            loop()

    def called(self) -> None:
        peer.par_loop(self.residual, *self.of_residual())
        self.call_move()

    def call_move(self) -> None:
        peer.par_loop(self.move, *self.of_move())

    def norm(self) -> float:
        return self.comm.allreduce(float((self.u.data_ro**2).sum()))


class Ours:
    """The same by Parloop."""

    def __init__(self, cells: int, degree: int) -> None:
        mesh = op2.box_mesh((cells, cells))
        space, corners = mesh.space(degree), mesh.maps["triangle"]
        self.u = op2.Dat(space.nodes, start_of(space.coordinates.data_ro))
        r = op2.Dat(space.nodes, np.zeros(space.nodes.size))
        op2.distribute(mesh.cells, "coordinates", coordinates=mesh.coordinates)
        text = source(degree, TABLES, "double **r, double **x, double **u")
        self.residual, self.move = op2.Kernel(text, "residual"), op2.Kernel(MOVE, "move")
        self.arguments = (r, space.map, mesh.coordinates, corners)
        self.cells, self.nodes = mesh.cells, space.nodes
        self.loops = (op2.ParLoop(self.residual, *self.of_residual()), op2.ParLoop(self.move, *self.of_move()))

    def of_residual(self):
        r, map, x, nodes = self.arguments
        return self.cells, r(op2.INC, map), x(op2.READ, nodes), self.u(op2.READ, map)

    def of_move(self):
        return self.nodes, self.u(op2.RW), self.arguments[0](op2.RW)

    def step(self) -> None:
        for loop in self.loops:
            loop()

    def called(self) -> None:
        op2.par_loop(self.residual, *self.of_residual())
        self.call_move()

    def call_move(self) -> None:
        op2.par_loop(self.move, *self.of_move())

    def norm(self) -> float:
        return MPI.COMM_WORLD.allreduce(float((self.u.data_ro**2).sum()))


def medians(steps: dict[Key, Step], turns: int, seconds: float) -> dict[Key, float]:
    """Median seconds of a step on the slowest process, in turns of about so many seconds."""
    world = MPI.COMM_WORLD
    lengths = {}
    for name, step in steps.items():
        for _ in range(50):
            step()
        begun = time.perf_counter()
        step()
        lengths[name] = world.allreduce(1 + int(seconds / (time.perf_counter() - begun)), MPI.MAX)
    samples: dict[Key, list[float]] = {name: [] for name in steps}
    for _ in range(turns):
        for name, step in steps.items():
            world.barrier()
            begun = time.perf_counter()
            for _ in range(lengths[name]):
                step()
            samples[name].append(world.allreduce(time.perf_counter() - begun, MPI.MAX) / lengths[name])
    return {name: statistics.median(times) for name, times in samples.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=707, help="squares along an edge; each has two triangles")
    parser.add_argument("--turns", type=int, default=15)
    options = parser.parse_args()
    is_first = MPI.COMM_WORLD.rank == 0
    table = Comparison() if is_first else None
    with pl.Context("cpu:1"):
        for degree in (1, 2):
            for cells in (options.cells, FEW):
                theirs, ours = Theirs(cells, degree), Ours(cells, degree)
                for _ in range(10):
                    theirs.step()
                    ours.step()
                assert np.isclose(theirs.norm(), ours.norm(), rtol=1e-12), (theirs.norm(), ours.norm())
                # What is measured: ours, theirs, and how many times as fast ours should be.
                pairs = {"step, loops built": (ours.step, theirs.step, 1.0)}
                if cells == FEW:
                    pairs["step, loops called"] = (ours.called, theirs.called, 1.0)
                    pairs["loop without messages, built"] = (ours.loops[1], theirs.loops[1], 50.0)
                    pairs["loop without messages, called"] = (ours.call_move, theirs.call_move, 50.0)
                steps = {(what, whose): pair[whose] for what, pair in pairs.items() for whose in (0, 1)}
                found = medians(steps, options.turns, 0.2)
                scale, unit = (1e6, "µs") if cells == FEW else (1e3, "ms")
                for what, (_, _, asked) in pairs.items():
                    if table is not None:
                        row = f"degree {degree}, {2 * cells * cells:,} triangles: {what}"
                        table.row(row, scale * found[what, 0], scale * found[what, 1], unit, asked)


if __name__ == "__main__":
    main()
