"""Meshes and element kernels of the assembly benchmarks, and the same loops by hand in C."""

from __future__ import annotations

import ctypes
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import parloop.mesh as op2

HERE = pathlib.Path(__file__).resolve().parent

#: As a careful program is compiled. Our own kernels have `-fwrapv` too.
FLAGS = ["-O3", "-march=native", "-std=gnu11", "-fPIC", "-shared", "-fno-math-errno", "-fno-semantic-interposition"]

#: Each adds to what it is given. `ELEMENT` says on a GPU that they run there, and is empty elsewhere.
LAPLACE_P1 = """
ELEMENT void laplace_p1(double *a, const double *x) {
    double g[3][2], d = (x[2] - x[0]) * (x[5] - x[1]) - (x[4] - x[0]) * (x[3] - x[1]), scale = 0.5 / fabs(d);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        g[i][0] = x[2 * j + 1] - x[2 * k + 1];
        g[i][1] = x[2 * k] - x[2 * j];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a[3 * i + j] += scale * (g[i][0] * g[j][0] + g[i][1] * g[j][1]);
}"""

#: Three points in the middles of the edges are exact. The derivatives of the six functions there stand in a table.
LAPLACE_P2 = """
ELEMENT void laplace_p2(double *a, const double *x) {
    const double s[3][6][2] = {
        {{-1, -1}, {1, 0}, {0, -1}, {0, -2}, {0, 2}, {0, 2}},
        {{1, 1}, {1, 0}, {0, 1}, {-2, -2}, {2, 2}, {-2, -2}},
        {{-1, -1}, {-1, 0}, {0, 1}, {2, 0}, {2, 0}, {-2, 0}}};
    double m00 = x[2] - x[0], m10 = x[3] - x[1], m01 = x[4] - x[0], m11 = x[5] - x[1], d = m00 * m11 - m01 * m10;
    double scale = 1.0 / (6.0 * fabs(d));
    double c00 = scale * (m01 * m01 + m11 * m11), c01 = -scale * (m00 * m01 + m10 * m11), c11 = scale * (m00 * m00 + m10 * m10);
    for (int q = 0; q < 3; q++)
        for (int i = 0; i < 6; i++) {
            double u = c00 * s[q][i][0] + c01 * s[q][i][1], v = c01 * s[q][i][0] + c11 * s[q][i][1];
            for (int j = 0; j < 6; j++) a[6 * i + j] += u * s[q][j][0] + v * s[q][j][1];
        }
}"""

LAPLACE_TETRA = """
ELEMENT void laplace_tetra(double *a, const double *x) {
    double m[3][3], g[4][3];
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++) m[i][d] = x[3 * (i + 1) + d] - x[d];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        for (int d = 0; d < 3; d++) {
            int e = (d + 1) % 3, f = (d + 2) % 3;
            g[i + 1][d] = m[j][e] * m[k][f] - m[j][f] * m[k][e];
        }
    }
    double det = m[0][0] * g[1][0] + m[0][1] * g[1][1] + m[0][2] * g[1][2], scale = 1.0 / (6.0 * fabs(det));
    for (int d = 0; d < 3; d++) g[0][d] = -g[1][d] - g[2][d] - g[3][d];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) a[4 * i + j] += scale * (g[i][0] * g[j][0] + g[i][1] * g[j][1] + g[i][2] * g[j][2]);
}"""

#: A hexahedron's share of its volume for each corner, times the field.
LUMP = """
ELEMENT void lump(double *r, const double *x, const double *f) {
    double u[3], v[3], w[3];
    for (int d = 0; d < 3; d++) {
        u[d] = x[3 + d] - x[d];
        v[d] = x[9 + d] - x[d];
        w[d] = x[12 + d] - x[d];
    }
    double volume = u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
    for (int i = 0; i < 8; i++) r[i] += 0.125 * volume * f[i];
}"""

SOURCES = {"laplace_p1": LAPLACE_P1, "laplace_p2": LAPLACE_P2, "laplace_tetra": LAPLACE_TETRA, "lump": LUMP}


def kernel(name: str) -> op2.Kernel:
    """An element kernel for our loops."""
    return op2.Kernel("#include <math.h>\n" + SOURCES[name].replace("ELEMENT ", ""), name)


class Problem(NamedTuple):
    """A mesh and the element whose matrix is assembled on it."""

    what: str
    kernel: str
    corners: np.ndarray
    nodes: np.ndarray
    x: np.ndarray
    node_count: int


def square(cells: int, degree: int = 1) -> Problem:
    """About so many triangles in a square, numbered in order."""
    side = max(2, round((cells / 2) ** 0.5))
    mesh = op2.box_mesh((side, side), "triangle")
    space = mesh.space(degree)
    corners, x = np.ascontiguousarray(mesh.maps["triangle"].values), np.ascontiguousarray(mesh.coordinates.data_ro)
    what = f"P{degree} on {short(len(corners))} triangles"
    return Problem(what, f"laplace_p{degree}", corners, np.ascontiguousarray(space.map.values), x, space.nodes.size)


def cube(cells: int) -> Problem:
    """About so many tetrahedra in a cube, numbered in order."""
    side = max(2, round((cells / 6) ** (1 / 3)))
    mesh = op2.box_mesh((side, side, side), "tetra")
    corners, x = np.ascontiguousarray(mesh.maps["tetra"].values), np.ascontiguousarray(mesh.coordinates.data_ro)
    return Problem(f"P1 on {short(len(corners))} tetrahedra", "laplace_tetra", corners, corners, x, len(x))


def shuffled(problem: Problem) -> Problem:
    """The same mesh with cells and nodes numbered at random; for elements whose nodes are the corners."""
    random = np.random.default_rng(1)
    places = random.permutation(problem.node_count).astype(np.int32)
    cells = places[problem.corners][random.permutation(len(problem.corners))]
    x = np.empty_like(problem.x)
    x[places] = problem.x
    return Problem(f"{problem.what}, shuffled", problem.kernel, cells, cells, x, problem.node_count)


class Ours:
    """The matrix of a problem and the loop that assembles it."""

    def __init__(self, problem: Problem) -> None:
        self.kernel = kernel(problem.kernel)
        self.cells, self.nodes = op2.Set(len(problem.nodes), "cells"), op2.Set(problem.node_count, "nodes")
        corners = op2.Set(len(problem.x), "corners")
        self.map = op2.Map(self.cells, self.nodes, problem.nodes.shape[1], problem.nodes, "cell_nodes")
        self.corners = op2.Map(self.cells, corners, problem.corners.shape[1], problem.corners, "cell_corners")
        self.x = op2.Dat(corners ** problem.x.shape[1], problem.x, name="x")
        self.sparsity = op2.Sparsity(self.nodes**1, self.map)
        self.mat = op2.Mat(self.sparsity, name="a")

    def loop(self, **options) -> op2.ParLoop:
        """The loop; each call adds the matrix once more."""
        return op2.ParLoop(self.kernel, self.cells, self.mat(op2.INC, (self.map, self.map)), self.x(op2.READ, self.corners), **options)


class Columns(NamedTuple):
    """Hexahedra over a square of quadrilaterals: the map of the base, what it grows by from layer to layer, and points."""

    base: np.ndarray
    layers: int
    x: np.ndarray

    @property
    def flat(self) -> np.ndarray:
        """The corners of all cells, column by column."""
        return np.ascontiguousarray((self.base[:, None, :] + np.arange(self.layers, dtype=np.int32)[None, :, None]).reshape(-1, 8))


def columns(count: int, layers: int) -> Columns:
    """About so many columns of hexahedra; the vertices of a column follow one another from bottom to top."""
    side = max(2, round(count**0.5))
    mesh = op2.box_mesh((side, side), "quad")
    below = (layers + 1) * np.asarray(mesh.maps["quad"].values)
    base = np.concatenate([below, below + 1], axis=1).astype(np.int32)
    points = np.asarray(mesh.coordinates.data_ro)
    heights = np.linspace(0, 1, layers + 1)
    x = np.concatenate([np.repeat(points, layers + 1, axis=0), np.tile(heights, len(points))[:, None]], axis=1)
    return Columns(base, layers, np.ascontiguousarray(x))


def column_loops(mesh: Columns, **options) -> tuple[op2.ParLoop, op2.ParLoop, op2.Dat, op2.Dat]:
    """The loop over an extruded set, the same over a flat one, and what each adds to."""
    bases, vertices = op2.Set(len(mesh.base), "columns"), op2.Set(len(mesh.x), "vertices")
    extruded, flat = op2.ExtrudedSet(bases, mesh.layers + 1), op2.Set(len(mesh.base) * mesh.layers, "cells")
    x, f = op2.Dat(vertices**3, mesh.x, name="x"), op2.Dat(vertices, np.ones(len(mesh.x)), name="f")
    sums = op2.Dat(vertices, name="r"), op2.Dat(vertices, name="s")
    maps = op2.Map(extruded, vertices, 8, mesh.base, "base", offset=np.ones(8, np.int32)), op2.Map(flat, vertices, 8, mesh.flat, "corners")
    loops = [
        op2.ParLoop(kernel("lump"), cells, r(op2.INC, map), x(op2.READ, map), f(op2.READ, map), **options)
        for cells, map, r in zip((extruded, flat), maps, sums)
    ]
    return (*loops, *sums)


def address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def bound(function, counts: list[int], arrays: list[np.ndarray]) -> Callable[[], object]:
    """A call of a C function, which keeps its arrays."""
    arguments = *map(ctypes.c_int64, counts), *map(address, arrays)
    return lambda arrays=arrays: function(*arguments)


class Hand:
    """The loops by hand."""

    def __init__(self) -> None:
        elements = "".join(SOURCES.values()).replace("ELEMENT ", "static inline ")
        with tempfile.TemporaryDirectory() as folder:
            source, library = pathlib.Path(folder, "hand.c"), pathlib.Path(folder, "hand.so")
            source.write_text("#include <math.h>\n" + elements + (HERE / "hand.c").read_text())
            subprocess.run([os.environ.get("CC", "cc"), *FLAGS, "-o", library, source, "-lm"], check=True)
            self.library = ctypes.CDLL(str(library))
        self.library.sparsity.restype = ctypes.c_int64

    def sparsity(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        """Where rows begin, and the columns of all rows."""
        cells, nodes = len(problem.corners), problem.node_count
        starts, found = np.empty(nodes + 1, np.int32), np.empty(9 * cells + nodes, np.int32)
        stored = self.library.sparsity(nodes, cells, address(problem.corners), address(starts), address(found))
        return starts, found[:stored]

    def places(self, problem: Problem, starts: np.ndarray, found: np.ndarray) -> np.ndarray:
        """Where the entries of each element are stored."""
        cells, arity = problem.nodes.shape
        places = np.empty((cells, arity * arity), np.int32)
        self.library.find_places(ctypes.c_int64(cells), arity, address(problem.nodes), address(starts), address(found), address(places))
        return places

    def assembly(self, problem: Problem, places: np.ndarray, values: np.ndarray) -> Callable[[], object]:
        """A call that adds the matrix of the problem to `values`."""
        function = getattr(self.library, "assemble_" + problem.kernel.removeprefix("laplace_"))
        return bound(function, [len(places)], [problem.corners, places, problem.x, values])

    def columns(self, mesh: Columns, f: np.ndarray, r: np.ndarray) -> Callable[[], object]:
        """A call that adds the loop over columns to `r`."""
        return bound(self.library.columns, [len(mesh.base), mesh.layers], [mesh.base, mesh.x, f, r])


def short(count: int) -> str:
    """A count as people say it: 250000 is 2.5e5."""
    digits, power = f"{count:.1e}".split("e")
    return f"{float(digits):g}e{int(power)}"
