"""Poisson's equation by finite elements of degree 1 and 2: ``python examples/06_poisson.py --help``.

The mesh is made, written to a file and read back, as a mesh from a generator would be. For each degree and device the matrix is assembled
by a loop over the triangles, boundary values are set, the system is solved by conjugate gradients, and the solution is compared with the
exact one: the error falls with the square of the width of the triangles for degree 1 and with its cube for degree 2.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from pathlib import Path

import numpy as np

import parloop as pl
import parloop.mesh as op2
from parloop.mesh import INC, READ

# What all kernels share: the functions of an element and their derivatives at a point of the reference triangle, and six points with
# weights that integrate polynomials of degree 4 exactly.
ELEMENT = """
#include <math.h>
#define N {nodes}
static const double pi = 3.14159265358979323846;
static const double points[6][3] = {{
    {{0.445948490915965, 0.445948490915965, 0.223381589678011 / 2}}, {{0.445948490915965, 0.10810301816807, 0.223381589678011 / 2}},
    {{0.10810301816807, 0.445948490915965, 0.223381589678011 / 2}}, {{0.091576213509771, 0.091576213509771, 0.109951743655322 / 2}},
    {{0.091576213509771, 0.816847572980458, 0.109951743655322 / 2}}, {{0.816847572980458, 0.091576213509771, 0.109951743655322 / 2}}}};

/* The value and the two derivatives of each function. Nodes are the corners, then the middles of the edges. */
static void functions(double s, double t, double f[N][3]) {{
    double l[3] = {{1 - s - t, s, t}}, g[3][2] = {{{{-1, -1}}, {{1, 0}}, {{0, 1}}}};
    for (int i = 0; i < 3; i++) {{
        int j = (i + 1) % 3;
        if (N == 3) {{
            f[i][0] = l[i];
            for (int d = 0; d < 2; d++) f[i][d + 1] = g[i][d];
        }} else {{
            f[i][0] = l[i] * (2 * l[i] - 1);
            f[(i + 3) % N][0] = 4 * l[i] * l[j];
            for (int d = 0; d < 2; d++) {{
                f[i][d + 1] = (4 * l[i] - 1) * g[i][d];
                f[(i + 3) % N][d + 1] = 4 * (l[i] * g[j][d] + l[j] * g[i][d]);
            }}
        }}
    }}
}}

/* The matrix from the reference triangle to the triangle, and its determinant. */
static double map(const double *x[2], double m[2][2]) {{
    for (int d = 0; d < 2; d++)
        for (int e = 0; e < 2; e++) m[d][e] = x[e + 1][d] - x[0][d];
    return fabs(m[0][0] * m[1][1] - m[0][1] * m[1][0]);
}}

static double solution(double x, double y) {{ return sin(pi * x) * sin(pi * y); }}
"""

STIFFNESS = """
void stiffness(double a[N][N], const double *x[2]) {
    double m[2][2], f[N][3], g[N][2];
    double size = map(x, m), d = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    for (int q = 0; q < 6; q++) {
        functions(points[q][0], points[q][1], f);
        for (int i = 0; i < N; i++) {
            g[i][0] = (m[1][1] * f[i][1] - m[1][0] * f[i][2]) / d;
            g[i][1] = (m[0][0] * f[i][2] - m[0][1] * f[i][1]) / d;
        }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) a[i][j] += points[q][2] * size * (g[i][0] * g[j][0] + g[i][1] * g[j][1]);
    }
}"""

LOAD = """
void load(double *b, const double *x[2]) {
    double m[2][2], f[N][3], size = map(x, m);
    for (int q = 0; q < 6; q++) {
        double s = points[q][0], t = points[q][1];
        double px = x[0][0] + m[0][0] * s + m[0][1] * t, py = x[0][1] + m[1][0] * s + m[1][1] * t;
        functions(s, t, f);
        for (int i = 0; i < N; i++) b[i] += points[q][2] * size * 2 * pi * pi * solution(px, py) * f[i][0];
    }
}"""

ERROR = """
void error(double *e, const double *u, const double *x[2]) {
    double m[2][2], f[N][3], size = map(x, m);
    for (int q = 0; q < 6; q++) {
        double s = points[q][0], t = points[q][1];
        double px = x[0][0] + m[0][0] * s + m[0][1] * t, py = x[0][1] + m[1][0] * s + m[1][1] * t;
        double here = -solution(px, py);
        functions(s, t, f);
        for (int i = 0; i < N; i++) here += u[i] * f[i][0];
        e[0] += points[q][2] * size * here * here;
    }
}"""


class Poisson:
    """Poisson's equation on a mesh with elements of a degree; the solution is zero on the boundary."""

    def __init__(self, mesh: op2.Mesh, degree: int) -> None:
        self.mesh, self.space = mesh, mesh.space(degree)
        element = ELEMENT.format(nodes=self.space.map.arity)
        self.stiffness, self.load, self.error_kernel = (
            op2.Kernel(element + source, name) for source, name in ((STIFFNESS, "stiffness"), (LOAD, "load"), (ERROR, "error"))
        )
        nodes, self.cells = self.space.nodes, mesh.cells
        self.boundary = self.space.boundary.indices
        self.mat = op2.Mat(op2.Sparsity(nodes**1, self.space.map), name="stiffness")
        self.u, self.b = op2.Dat(nodes, name="u"), op2.Dat(nodes, name="b")
        # Rows and columns of the boundary get nothing from the loops.
        self.numbers = np.arange(nodes.size, dtype=np.int32)
        self.numbers[self.boundary] = -1

    def assemble(self) -> None:
        """The matrix and the right-hand side."""
        corners = (self.mesh.coordinates, self.mesh.maps["triangle"])
        self.mat.zero()
        path = (self.space.map, self.space.map)
        op2.par_loop(self.stiffness, self.cells, self.mat(INC, path, lgmaps=(self.numbers, self.numbers)), corners[0](READ, corners[1]))
        self.b.zero()
        op2.par_loop(self.load, self.cells, self.b(INC, self.space.map), corners[0](READ, corners[1]))
        self.mat.set_local_diagonal_entries(self.boundary)
        self.b.data[self.boundary] = 0

    def solve(self) -> op2.Solution:
        """Conjugate gradients from zero."""
        self.u.zero()
        return op2.solve(self.mat, self.u, self.b, rtol=1e-10)

    def error(self) -> float:
        """The norm of the difference to the exact solution."""
        total = op2.Global(1, 0.0)
        args = self.u(READ, self.space.map), self.mesh.coordinates(READ, self.mesh.maps["triangle"])
        op2.par_loop(self.error_kernel, self.cells, total(INC), *args)
        return math.sqrt(float(total.data_ro[0]))


def from_file(size: int, folder: Path) -> op2.Mesh:
    """A square of triangles, by way of a file."""
    path = folder / f"square{size}.vtu"
    op2.box_mesh((size, size), "triangle").write(path)
    return op2.read_mesh(path)


def timed(what: object) -> float:
    """The milliseconds that a call takes the second time, when everything is compiled."""
    what()  # type: ignore[operator]
    start = time.perf_counter()
    what()  # type: ignore[operator]
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=32, help="triangles along a side of the finest mesh (default 32)")
    parser.add_argument("--picture", default="poisson.png", help="file for the picture (default poisson.png; empty for none)")
    args = parser.parse_args()
    names = [device.name for device in pl.devices()]
    with tempfile.TemporaryDirectory() as folder:
        meshes = [from_file(size, Path(folder)) for size in (args.size // 4, args.size // 2, args.size)]
        print(f"{'device':14} {'degree':>6} {'nodes':>8} {'assemble ms':>12} {'solve ms':>9} {'iterations':>10} {'error':>10} {'order':>6}")
        for name in names:
            with pl.Context(name):
                for degree in (1, 2):
                    before = math.nan
                    for mesh in meshes:
                        problem = Poisson(mesh, degree)
                        assembled, solved = timed(problem.assemble), timed(problem.solve)
                        solution, error = problem.solve(), problem.error()
                        order = math.log2(before / error)
                        nodes = problem.space.nodes.size
                        print(
                            f"{name:14} {degree:6} {nodes:8} {assembled:12.2f} {solved:9.2f} {solution.iterations:10} {error:10.2e} "
                            + (f"{order:6.2f}" if math.isfinite(order) else "")
                        )
                        before = error
                    # The orders that theory promises.
                    assert order > degree + 0.8, (name, degree, order)
        if args.picture:
            problem = Poisson(meshes[-1], 1)
            problem.assemble()
            problem.solve()
            try:
                import matplotlib

                matplotlib.use("Agg")
            except ImportError:
                print("matplotlib is not installed, so there is no picture")
                return
            ax = meshes[-1].plot(problem.u)
            ax.set_title("Poisson's equation on a square")
            ax.figure.savefig(args.picture, dpi=120)
            print(f"wrote {args.picture}")


if __name__ == "__main__":
    main()
