"""The flow around an airfoil, as parallel loops over an unstructured mesh: ``python examples/05_airfoil.py --help``. Under ``mpirun -n 4`` four
processes share it.

A finite-volume solver of the Euler equations on a NACA0012 profile, the standard test of such loops. Its residuals are public, so a run
proves itself. The whole solver is the five kernels and `Airfoil.step`; the rest of this file is the mesh, a table and a picture.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from decimal import Decimal

import numpy as np
from airfoil_mesh import Mesh, airfoil_mesh

import parloop as pl
import parloop.mesh as op2
from parloop.mesh import INC, READ, RW, WRITE

# The kernels: what happens at one cell or edge. An argument that comes through a map is a table of pointers, one for each entry of the
# map. A state q is density, two momenta and energy.

GAS = """
/* Single-precision numbers in doubles, as in the program whose residuals are published. */
static const double gam = 1.4f, gm1 = 1.4f - 1.0f, cfl = 0.9f, eps = 0.05f;
"""

save_soln = op2.Kernel(
    """
void save_soln(const double *q, double *qold) {
    for (int n = 0; n < 4; n++) qold[n] = q[n];
}""",
    "save_soln",
)

adt_calc = op2.Kernel(
    GAS
    + """
/* Area over time step of a cell. */
void adt_calc(double **x, const double *q, double *adt) {
    double ri = 1.0 / q[0], u = ri * q[1], v = ri * q[2];
    double c = sqrt(gam * gm1 * (ri * q[3] - 0.5 * (u * u + v * v)));
    double sum = 0.0;
    for (int a = 0; a < 4; a++) {
        int b = (a + 1) % 4;
        double dx = x[b][0] - x[a][0], dy = x[b][1] - x[a][1];
        sum += fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);
    }
    adt[0] = sum / cfl;
}""",
    "adt_calc",
)

res_calc = op2.Kernel(
    GAS
    + """
/* What flows through an edge from one cell to the other. */
void res_calc(double **x, double **q, double **adt, double **res) {
    double dx = x[0][0] - x[1][0], dy = x[0][1] - x[1][1];
    double ri1 = 1.0 / q[0][0], ri2 = 1.0 / q[1][0];
    double p1 = gm1 * (q[0][3] - 0.5 * ri1 * (q[0][1] * q[0][1] + q[0][2] * q[0][2]));
    double p2 = gm1 * (q[1][3] - 0.5 * ri2 * (q[1][1] * q[1][1] + q[1][2] * q[1][2]));
    double v1 = ri1 * (q[0][1] * dy - q[0][2] * dx);
    double v2 = ri2 * (q[1][1] * dy - q[1][2] * dx);
    double mu = 0.5 * (adt[0][0] + adt[1][0]) * eps;
    double f[4];
    f[0] = 0.5 * (v1 * q[0][0] + v2 * q[1][0]);
    f[1] = 0.5 * (v1 * q[0][1] + p1 * dy + v2 * q[1][1] + p2 * dy);
    f[2] = 0.5 * (v1 * q[0][2] - p1 * dx + v2 * q[1][2] - p2 * dx);
    f[3] = 0.5 * (v1 * (q[0][3] + p1) + v2 * (q[1][3] + p2));
    for (int n = 0; n < 4; n++) {
        f[n] += mu * (q[0][n] - q[1][n]);
        res[0][n] += f[n];
        res[1][n] -= f[n];
    }
}""",
    "res_calc",
)

bres_calc = op2.Kernel(
    GAS
    + """
/* The same at the boundary: only pressure at the wall, the undisturbed flow far away. */
void bres_calc(double **x, double **q, double **adt, double **res, const int *bound, const double *far) {
    double dx = x[0][0] - x[1][0], dy = x[0][1] - x[1][1];
    double ri1 = 1.0 / q[0][0];
    double p1 = gm1 * (q[0][3] - 0.5 * ri1 * (q[0][1] * q[0][1] + q[0][2] * q[0][2]));
    if (bound[0] == 1) {
        res[0][1] += p1 * dy;
        res[0][2] -= p1 * dx;
    } else {
        double ri2 = 1.0 / far[0];
        double p2 = gm1 * (far[3] - 0.5 * ri2 * (far[1] * far[1] + far[2] * far[2]));
        double v1 = ri1 * (q[0][1] * dy - q[0][2] * dx);
        double v2 = ri2 * (far[1] * dy - far[2] * dx);
        double mu = adt[0][0] * eps;
        res[0][0] += 0.5 * (v1 * q[0][0] + v2 * far[0]) + mu * (q[0][0] - far[0]);
        res[0][1] += 0.5 * (v1 * q[0][1] + p1 * dy + v2 * far[1] + p2 * dy) + mu * (q[0][1] - far[1]);
        res[0][2] += 0.5 * (v1 * q[0][2] - p1 * dx + v2 * far[2] - p2 * dx) + mu * (q[0][2] - far[2]);
        res[0][3] += 0.5 * (v1 * (q[0][3] + p1) + v2 * (far[3] + p2)) + mu * (q[0][3] - far[3]);
    }
}""",
    "bres_calc",
)

update = op2.Kernel(
    """
void update(const double *qold, double *q, double *res, const double *adt, double *rms) {
    double adti = 1.0 / adt[0];
    for (int n = 0; n < 4; n++) {
        double del = adti * res[n];
        q[n] = qold[n] - del;
        res[n] = 0.0;
        rms[0] += del * del;
    }
}""",
    "update",
)


class Airfoil:
    """The solver on one mesh, in the context that is in force."""

    def __init__(self, mesh: Mesh) -> None:
        gam, mach = float(np.float32(1.4)), float(np.float32(0.4))
        u = math.sqrt(gam) * mach
        far = [1.0, u, 0.0, 1.0 / (gam - 1.0) + 0.5 * u * u]

        self.nodes = op2.Set(len(mesh.x), "nodes")
        self.cells = op2.Set(len(mesh.cell_nodes), "cells")
        self.edges = op2.Set(len(mesh.edge_nodes), "edges")
        self.bedges = op2.Set(len(mesh.bound), "bedges")

        self.cell_nodes = op2.Map(self.cells, self.nodes, 4, mesh.cell_nodes, "cell_nodes")
        self.edge_nodes = op2.Map(self.edges, self.nodes, 2, mesh.edge_nodes, "edge_nodes")
        self.edge_cells = op2.Map(self.edges, self.cells, 2, mesh.edge_cells, "edge_cells")
        self.bedge_nodes = op2.Map(self.bedges, self.nodes, 2, mesh.bedge_nodes, "bedge_nodes")
        self.bedge_cells = op2.Map(self.bedges, self.cells, 1, mesh.bedge_cells, "bedge_cells")

        self.x = op2.Dat(self.nodes**2, mesh.x, name="x")
        self.bound = op2.Dat(self.bedges, mesh.bound, np.int32, name="bound")
        self.q = op2.Dat(self.cells**4, np.tile(far, (len(mesh.cell_nodes), 1)), name="q")
        self.qold = op2.Dat(self.cells**4, dtype=np.float64, name="qold")
        self.res = op2.Dat(self.cells**4, dtype=np.float64, name="res")
        self.adt = op2.Dat(self.cells, dtype=np.float64, name="adt")
        self.far = op2.Global(4, far, name="far")
        self.rms = op2.Global(1, 0.0, name="rms")

    def step(self) -> None:
        """One iteration: two stages of a Runge-Kutta scheme."""
        x, q, qold, adt, res, rms = self.x, self.q, self.qold, self.adt, self.res, self.rms
        edge_nodes, edge_cells = self.edge_nodes, self.edge_cells
        bedge_nodes, bedge_cells = self.bedge_nodes, self.bedge_cells

        op2.par_loop(save_soln, self.cells, q(READ), qold(WRITE))
        for _ in range(2):
            op2.par_loop(adt_calc, self.cells, x(READ, self.cell_nodes), q(READ), adt(WRITE))
            op2.par_loop(res_calc, self.edges, x(READ, edge_nodes), q(READ, edge_cells), adt(READ, edge_cells), res(INC, edge_cells))
            op2.par_loop(
                bres_calc,
                self.bedges,
                x(READ, bedge_nodes),
                q(READ, bedge_cells),
                adt(READ, bedge_cells),
                res(INC, bedge_cells),
                self.bound(READ),
                self.far(READ),
            )
            rms.zero()
            op2.par_loop(update, self.cells, qold(READ), q(WRITE), res(RW), adt(READ), rms(INC))

    @property
    def residual(self) -> float:
        """How much the last stage changed the flow: the root of the mean square."""
        return math.sqrt(self.rms.data_ro[0] / self.cells.global_size)

    @property
    def pressure(self) -> np.ndarray:
        """The pressure in each cell; it is 1 far away."""
        density, along, up, energy = self.q.gather().T
        return (float(np.float32(1.4)) - 1.0) * (energy - 0.5 * (along**2 + up**2) / density)


# Reference values: residuals of the mesh with 720,000 cells are published, those of the small ones are of a program in plain C.

SIZES = {"small": (40, 60), "medium": (100, 150), "large": (400, 600)}
KNOWN = {
    SIZES["small"]: {1: "5.4179228525e-03", 100: "4.2540646733e-04", 1000: "1.8763100626e-06"},
    SIZES["medium"]: {1: "3.8147777958e-03", 100: "5.0963964282e-04", 1000: "5.1029673364e-05"},
    SIZES["large"]: {
        100: "5.02186e-04",
        200: "3.41746e-04",
        300: "2.63430e-04",
        400: "2.16288e-04",
        500: "1.84659e-04",
        600: "1.60866e-04",
        700: "1.42253e-04",
        800: "1.27627e-04",
        900: "1.15810e-04",
        1000: "1.060114637578e-04",
    },
}


def agrees(found: float, known: str) -> bool:
    """Whether a residual is within 1e-5 % of a known one, besides what its last digit leaves open."""
    last_digit = 10.0 ** Decimal(known).as_tuple().exponent
    return abs(found - float(known)) <= 1e-7 * float(known) + 0.5 * last_digit


def say(text: str) -> None:
    """Prints once, however many processes there are."""
    if op2.Comm.world().rank == 0:
        print(text, flush=True)


def solve(device: str, mesh: Mesh, iterations: int, known: dict[int, str]) -> tuple[Airfoil, float, bool]:
    """The flow on one device, milliseconds an iteration, and whether all residuals agree with what is known."""
    say(f"\n{device}: {pl.Device(device).model}\n  iteration  residual          known             deviation")
    rows, right, spent = [], True, 0.0
    with pl.Context(device) as ctx:
        flow = Airfoil(mesh)
        op2.distribute(flow.cells)  # where mpirun started several processes
        flow.step()  # compiles
        for done in pl.progress(range(1, iterations + 1), desc=f"  {device}", show=None if op2.Comm.world().rank == 0 else False):
            if done > 1:
                start = time.perf_counter()
                flow.step()
                spent += time.perf_counter() - start
            if done % 100 == 0 or done in known or done == iterations:
                start = time.perf_counter()
                ctx.synchronize()
                spent += time.perf_counter() - start
                rows.append((done, flow.residual))
    for done, found in rows:
        line = f"  {done:9}  {found:.10e}"
        if done in known:
            right &= agrees(found, known[done])
            line += f"  {known[done]:16}  {100 * (found / float(known[done]) - 1):+.1e} %{'' if agrees(found, known[done]) else '  WRONG'}"
        say(line)
    return flow, 1e3 * spent / max(1, iterations - 1), right


def draw(flow: Airfoil, mesh: Mesh, path: str) -> None:
    """A picture of the pressure around the profile."""
    try:
        from matplotlib.collections import PolyCollection
        from matplotlib.colors import TwoSlopeNorm
        from matplotlib.figure import Figure
    except ImportError:
        say("\nNo picture: it needs matplotlib (pip install parloop[plot]).")
        return
    corners, pressure = mesh.x[mesh.cell_nodes], flow.pressure
    middle = corners.mean(axis=1)
    near = (np.abs(middle[:, 0] - 0.5) < 1.3) & (np.abs(middle[:, 1]) < 0.95)
    figure = Figure(figsize=(10, 6.5), layout="constrained")
    axes = figure.subplots()
    cells = PolyCollection(corners[near], array=pressure[near], cmap="RdBu_r", norm=TwoSlopeNorm(1.0), edgecolors="face", linewidths=0.2)
    axes.set_facecolor("0.25")  # what no cell covers: the profile
    axes.add_collection(cells)
    axes.set(xlim=(-0.6, 1.6), ylim=(-0.7, 0.7), aspect="equal", title="Pressure around NACA0012 at Mach 0.4")
    figure.colorbar(cells, ax=axes, label="pressure, 1 far away", shrink=0.8)
    if op2.Comm.world().rank == 0:
        figure.savefig(path, dpi=150)
    say(f"\nThe pressure around the profile is in {path}.")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The flow around an airfoil on any device.")
    sizes = ", ".join(f"{name} ({3 * i * j:,})" for name, (i, j) in SIZES.items())
    parser.add_argument("--cells", nargs="+", default=["small"], metavar="SIZE", help=f"{sizes}, or two numbers I J for 3·I·J cells")
    parser.add_argument("--iterations", type=int, default=1000, metavar="N")
    parser.add_argument("--device", nargs="+", metavar="NAME", help="devices to run on, one after another; all that are found")
    parser.add_argument("--picture", default="airfoil.png", metavar="FILE", help="where the picture goes; nowhere if empty")
    options = parser.parse_args()
    if len(options.cells) == 1 and options.cells[0] in SIZES:
        options.cells = SIZES[options.cells[0]]
    elif len(options.cells) == 2 and all(word.isdigit() and int(word) > 0 for word in options.cells):
        options.cells = tuple(map(int, options.cells))
    else:
        parser.error(f"--cells takes {', '.join(SIZES)} or two positive numbers, not {' '.join(options.cells)}")
    if options.iterations < 1:
        parser.error(f"--iterations takes a positive number, not {options.iterations}")
    return options


def main() -> None:
    options = arguments()
    mesh = airfoil_mesh(*options.cells)
    say(str(mesh))
    times, all_right = {}, True
    for device in options.device or [device.name for device in pl.devices()]:
        flow, times[device], right = solve(device, mesh, options.iterations, KNOWN.get(options.cells, {}))
        all_right &= right
    say("\n  device          ms an iteration")
    for device, ms in times.items():
        say(f"  {device:14}  {ms:15.3f}")
    if options.picture:
        draw(flow, mesh, options.picture)
    if not all_right:
        sys.exit("Residuals differ from what is known.")


if __name__ == "__main__":
    main()
