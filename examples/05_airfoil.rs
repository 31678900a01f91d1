//! The flow around an airfoil, as parallel loops over an unstructured mesh. `cargo run --release --example 05_airfoil [I J ITERATIONS DEVICE…]`.
//!
//! A finite-volume solver of the Euler equations on a NACA0012 profile, the standard test of such loops. Its residuals are known, so a run
//! proves itself. The whole solver is the five kernels and `Airfoil`.

use std::error::Error;
use std::time::Instant;

use parloop::mesh::Access::{Inc, Read, Rw, Write};
use parloop::mesh::{Dat, Global, Kernel, KernelOptions, LoopOptions, Map, MeshError, ParLoop, Set};
use parloop::prelude::*;

use airfoil_mesh::Mesh;

mod airfoil_mesh;

// The kernels: what happens at one cell or edge. An argument that comes through a map is a table of pointers, one for each entry of the
// map. A state q is density, two momenta and energy.

const SAVE_SOLN: &str = "
void save_soln(const double *q, double *qold) {
    for (int n = 0; n < 4; n++) qold[n] = q[n];
}";

/// Single-precision numbers in doubles, as in the program whose residuals are published.
macro_rules! with_gas {
    ($kernel:literal) => {
        concat!("static const double gam = 1.4f, gm1 = 1.4f - 1.0f, cfl = 0.9f, eps = 0.05f;\n", $kernel)
    };
}

/// Area over time step of a cell.
const ADT_CALC: &str = with_gas!(
    "
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
}"
);

/// What flows through an edge from one cell to the other.
const RES_CALC: &str = with_gas!(
    "
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
}"
);

/// The same at the boundary: only pressure at the wall, the undisturbed flow far away.
const BRES_CALC: &str = with_gas!(
    "
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
}"
);

const UPDATE: &str = "
void update(const double *qold, double *q, double *res, const double *adt, double *rms) {
    double adti = 1.0 / adt[0];
    for (int n = 0; n < 4; n++) {
        double del = adti * res[n];
        q[n] = qold[n] - del;
        res[n] = 0.0;
        rms[0] += del * del;
    }
}";

/// The solver on one mesh. An iteration saves the state and does two stages of a Runge-Kutta scheme.
struct Airfoil {
    save_soln: ParLoop,
    /// The loops of a stage, but for the last.
    stage: [ParLoop; 3],
    update: ParLoop,
    rms: Global,
    cells: usize,
}

impl Airfoil {
    fn new(mesh: &Mesh) -> Result<Airfoil, MeshError> {
        let nodes = Set::new(mesh.nodes(), "nodes")?;
        let cells = Set::new(mesh.cells(), "cells")?;
        let edges = Set::new(mesh.edges(), "edges")?;
        let bedges = Set::new(mesh.bedges(), "bedges")?;

        let cell_nodes = Map::new(&cells, &nodes, 4, &mesh.cell_nodes, "cell_nodes")?;
        let edge_nodes = Map::new(&edges, &nodes, 2, &mesh.edge_nodes, "edge_nodes")?;
        let edge_cells = Map::new(&edges, &cells, 2, &mesh.edge_cells, "edge_cells")?;
        let bedge_nodes = Map::new(&bedges, &nodes, 2, &mesh.bedge_nodes, "bedge_nodes")?;
        let bedge_cells = Map::new(&bedges, &cells, 1, &mesh.bedge_cells, "bedge_cells")?;

        let far = undisturbed();
        let x = Dat::new(&nodes.data(2)?, &mesh.x, "x")?;
        let bound = Dat::new(&bedges.data(1)?, &mesh.bound, "bound")?;
        let q = Dat::new(&cells.data(4)?, &far.repeat(mesh.cells()), "q")?;
        let qold = Dat::zeros(&cells.data(4)?, DType::F64, "qold")?;
        let res = Dat::zeros(&cells.data(4)?, DType::F64, "res")?;
        let adt = Dat::zeros(&cells.data(1)?, DType::F64, "adt")?;
        let far = Global::new(4, &far, "far")?;
        let rms = Global::new(1, &[0.0], "rms")?;

        let build = |source, name, set, args| {
            // SAFETY: the kernels use as many numbers as their loops have for each element.
            let kernel = unsafe { Kernel::c(source, name, &KernelOptions::default())? };
            ParLoop::new(&kernel, set, args, LoopOptions::default())
        };
        Ok(Airfoil {
            save_soln: build(SAVE_SOLN, "save_soln", &cells, vec![q.arg(Read, None), qold.arg(Write, None)])?,
            stage: [
                build(ADT_CALC, "adt_calc", &cells, vec![x.arg(Read, Some(&cell_nodes)), q.arg(Read, None), adt.arg(Write, None)])?,
                build(
                    RES_CALC,
                    "res_calc",
                    &edges,
                    vec![
                        x.arg(Read, Some(&edge_nodes)),
                        q.arg(Read, Some(&edge_cells)),
                        adt.arg(Read, Some(&edge_cells)),
                        res.arg(Inc, Some(&edge_cells)),
                    ],
                )?,
                build(
                    BRES_CALC,
                    "bres_calc",
                    &bedges,
                    vec![
                        x.arg(Read, Some(&bedge_nodes)),
                        q.arg(Read, Some(&bedge_cells)),
                        adt.arg(Read, Some(&bedge_cells)),
                        res.arg(Inc, Some(&bedge_cells)),
                        bound.arg(Read, None),
                        far.arg(Read),
                    ],
                )?,
            ],
            update: build(
                UPDATE,
                "update",
                &cells,
                vec![qold.arg(Read, None), q.arg(Write, None), res.arg(Rw, None), adt.arg(Read, None), rms.arg(Inc)],
            )?,
            rms,
            cells: mesh.cells(),
        })
    }

    fn step(&self, ctx: &Context) -> Result<(), MeshError> {
        self.save_soln.run(ctx)?;
        for _ in 0..2 {
            for each in &self.stage {
                each.run(ctx)?;
            }
            self.rms.storage().zero(ctx)?;
            self.update.run(ctx)?;
        }
        Ok(())
    }

    /// How much the last stage changed the flow: the root of the mean square.
    fn residual(&self) -> Result<f64, MeshError> {
        Ok((self.rms.to_vec::<f64>()?[0] / self.cells as f64).sqrt())
    }
}

/// The flow far away, at Mach 0.4.
fn undisturbed() -> [f64; 4] {
    let (gam, mach) = (f64::from(1.4_f32), f64::from(0.4_f32));
    let u = gam.sqrt() * mach;
    [1.0, u, 0.0, 1.0 / (gam - 1.0) + 0.5 * u * u]
}

/// What is known of a mesh at an iteration: residuals of a program in plain C, and of the largest mesh as published.
fn known(third: i32, across: i32, iteration: usize) -> Option<f64> {
    match (third, across, iteration) {
        (40, 60, 1) => Some(5.4179228525e-3),
        (40, 60, 100) => Some(4.2540646733e-4),
        (40, 60, 1000) => Some(1.8763100626e-6),
        (100, 150, 1) => Some(3.8147777958e-3),
        (100, 150, 100) => Some(5.0963964282e-4),
        (100, 150, 1000) => Some(5.1029673364e-5),
        (400, 600, 1000) => Some(1.060114637578e-4),
        _ => None,
    }
}

/// Runs the flow on one device and prints a line for each residual.
fn solve(device: &str, mesh: &Mesh, (third, across): (i32, i32), iterations: usize) -> Result<(), Box<dyn Error>> {
    let ctx = Context::open(device)?;
    println!("\n{device}: {}\n  iteration  residual          deviation", ctx.device().properties().name);
    let flow = Airfoil::new(mesh)?;
    let mut start = Instant::now();
    for iteration in 1..=iterations {
        flow.step(&ctx)?;
        let known = known(third, across, iteration);
        if iteration % 100 == 0 || known.is_some() || iteration == iterations {
            let found = flow.residual()?;
            let deviation = known.map(|known| found / known - 1.0);
            let said = deviation.map_or(String::new(), |deviation| format!("  {:+.1e} %", 100.0 * deviation));
            println!("  {iteration:9}  {found:.10e}{said}");
            if deviation.is_some_and(|deviation| deviation.abs() > 1e-7) {
                return Err(format!("{device}: the residual at iteration {iteration} is not the known one").into());
            }
        }
        if iteration == 1 {
            // The first iteration compiled.
            start = Instant::now();
        }
    }
    println!("  {:.3} ms an iteration", 1e3 * start.elapsed().as_secs_f64() / iterations.saturating_sub(1).max(1) as f64);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (third, across, iterations) = match &words[..] {
        [] => (40, 60, 100),
        [third, across, iterations, ..] => (third.parse()?, across.parse()?, iterations.parse()?),
        _ => return Err("usage: 05_airfoil [I J ITERATIONS DEVICE…]".into()),
    };
    if third < 1 || across < 1 {
        return Err(format!("I and J are at least 1, not {third} and {across}").into());
    }
    let mesh = Mesh::new(third, across);
    println!("{} cells, {} nodes, {} edges and {} on the boundary", mesh.cells(), mesh.nodes(), mesh.edges(), mesh.bedges());
    let named = words.get(3..).unwrap_or_default().to_vec();
    let devices = if named.is_empty() { Device::list().iter().map(|device| device.id().to_string()).collect() } else { named };
    for device in devices {
        solve(&device, &mesh, (third, across), iterations)?;
    }
    Ok(())
}
