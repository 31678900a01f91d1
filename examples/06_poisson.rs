//! Poisson's equation by finite elements of degree 1 and 2. `cargo run --release --example 06_poisson [SIZE]`.
//!
//! For each degree and device the matrix is assembled by a loop over the triangles of a square, boundary values are set, the system is solved
//! by conjugate gradients, and the solution is compared with the exact one: the error falls with the square of the width of the triangles for
//! degree 1 and with its cube for degree 2.

use std::collections::HashMap;
use std::error::Error;
use std::time::Instant;

use parloop::mesh::Access::{Inc, Read};
use parloop::mesh::{Dat, Dropped, Global, Kernel, Map, Mat, Set, SolveOptions, Sparsity, par_loop, solve};
use parloop::prelude::*;

/// What all kernels share: the functions of an element and their derivatives, and six points with weights that integrate polynomials of
/// degree 4 exactly. Nodes are the corners, then the middles of the edges.
const ELEMENT: &str = "
#include <math.h>
static const double pi = 3.14159265358979323846;
static const double points[6][3] = {
    {0.445948490915965, 0.445948490915965, 0.223381589678011 / 2}, {0.445948490915965, 0.10810301816807, 0.223381589678011 / 2},
    {0.10810301816807, 0.445948490915965, 0.223381589678011 / 2}, {0.091576213509771, 0.091576213509771, 0.109951743655322 / 2},
    {0.091576213509771, 0.816847572980458, 0.109951743655322 / 2}, {0.816847572980458, 0.091576213509771, 0.109951743655322 / 2}};
static void functions(double s, double t, double f[N][3]) {
    double l[3] = {1 - s - t, s, t}, g[3][2] = {{-1, -1}, {1, 0}, {0, 1}};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        f[i][0] = N == 3 ? l[i] : l[i] * (2 * l[i] - 1);
        for (int d = 0; d < 2; d++) f[i][d + 1] = N == 3 ? g[i][d] : (4 * l[i] - 1) * g[i][d];
        if (N > 3) {
            f[(i + 3) % N][0] = 4 * l[i] * l[j];
            for (int d = 0; d < 2; d++) f[(i + 3) % N][d + 1] = 4 * (l[i] * g[j][d] + l[j] * g[i][d]);
        }
    }
}
static double map(const double *x[2], double m[2][2]) {
    for (int d = 0; d < 2; d++)
        for (int e = 0; e < 2; e++) m[d][e] = x[e + 1][d] - x[0][d];
    return fabs(m[0][0] * m[1][1] - m[0][1] * m[1][0]);
}
static double solution(double x, double y) { return sin(pi * x) * sin(pi * y); }
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
}
void load(double *b, const double *x[2]) {
    double m[2][2], f[N][3], size = map(x, m);
    for (int q = 0; q < 6; q++) {
        double s = points[q][0], t = points[q][1];
        double px = x[0][0] + m[0][0] * s + m[0][1] * t, py = x[0][1] + m[1][0] * s + m[1][1] * t;
        functions(s, t, f);
        for (int i = 0; i < N; i++) b[i] += points[q][2] * size * 2 * pi * pi * solution(px, py) * f[i][0];
    }
}
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
}";

/// A square of triangles with the nodes of elements of a degree.
struct Square {
    cells: Set,
    corners: Map,
    coordinates: Dat,
    nodes: Set,
    element: Map,
    boundary: Vec<i32>,
}

impl Square {
    fn new(size: usize, degree: usize) -> Result<Square, MeshError> {
        let place = |i: usize, j: usize| (i * (size + 1) + j) as i32;
        let squares = (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
        let cells = squares.flat_map(|(i, j)| {
            let [a, b, c, d] = [place(i, j), place(i + 1, j), place(i + 1, j + 1), place(i, j + 1)];
            [[a, b, c], [a, c, d]]
        });
        let corners: Vec<[i32; 3]> = cells.collect();
        let points = (0..=size).flat_map(|i| (0..=size).flat_map(move |j| [i, j]));
        let mut points: Vec<f64> = points.map(|number| number as f64 / size as f64).collect();
        let (cells, vertices) = (Set::new(corners.len(), "cells")?, Set::new(points.len() / 2, "vertices")?);
        let coordinates = Dat::new(&vertices.data(2)?, &points, "coordinates")?;
        let map = Map::new(&cells, &vertices, 3, corners.as_flattened(), "corners")?;
        let (mut nodes, mut element, mut middles) = (vertices.clone(), map.clone(), HashMap::new());
        if degree == 2 {
            let mut values = Vec::new();
            for corner in &corners {
                values.extend(corner);
                for i in 0..3 {
                    let (a, b) = (corner[i] as usize, corner[(i + 1) % 3] as usize);
                    let next = points.len() / 2;
                    values.push(*middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                        points.extend([0, 1].map(|d| (points[2 * a + d] + points[2 * b + d]) / 2.0));
                        next as i32
                    }));
                }
            }
            nodes = Set::new(points.len() / 2, "nodes")?;
            element = Map::new(&cells, &nodes, 6, &values, "element")?;
        }
        let on_edge = |number: f64| number == 0.0 || number == 1.0;
        let is_boundary = |node: &i32| points[2 * *node as usize..][..2].iter().any(|&number| on_edge(number));
        let boundary = (0..nodes.size() as i32).filter(is_boundary).collect();
        Ok(Square { cells, corners: map, coordinates, nodes, element, boundary })
    }
}

/// Assembles and solves; the milliseconds of both, how many iterations, and the error.
fn run(square: &Square, context: &Context) -> Result<(f64, f64, usize, f64), MeshError> {
    let source = format!("#define N {}\n{ELEMENT}", square.element.arity());
    // SAFETY: the kernels stay inside of three corners of two numbers, and of as many nodes as the element has.
    let [stiffness, load, error] = ["stiffness", "load", "error"].map(|name| unsafe { Kernel::new(&source, name) });
    let on_nodes = square.nodes.data(1)?;
    let sparsity = Sparsity::new(&on_nodes, &on_nodes, &[(&square.element, &square.element)], "stiffness")?;
    let mat = Mat::zeros(&sparsity, DType::F64, "stiffness")?;
    let [u, b] = ["u", "b"].map(|name| Dat::zeros(&on_nodes, DType::F64, name));
    let (u, b, stiffness, load) = (u?, b?, stiffness?, load?);
    let (cells, corners) = (&square.cells, || square.coordinates.arg(Read, &square.corners));
    let dropped = Dropped { rows: square.boundary.clone().into(), columns: square.boundary.clone().into(), ..Dropped::default() };
    let assemble = || -> Result<(), MeshError> {
        mat.storage().zero(context)?;
        let blocks = mat.arg_without(Inc, &square.element, &square.element, &dropped)?;
        par_loop(&stiffness, cells, vec![blocks, corners()], context)?;
        b.zero()?;
        par_loop(&load, cells, vec![b.arg(Inc, &square.element), corners()], context)?;
        let (mut values, mut right, pattern) = (mat.storage().to_vec::<f64>()?, b.to_vec::<f64>()?, sparsity.pattern());
        for &node in &square.boundary {
            let place = pattern.row(node as usize).binary_search(&node).expect("the diagonal is stored");
            values[pattern.starts()[node as usize] as usize + place] = 1.0;
            right[node as usize] = 0.0;
        }
        mat.storage().write(&values)?;
        b.write(&right)
    };
    let options = SolveOptions { rtol: Some(1e-10), ..SolveOptions::default() };
    let solved = || {
        u.zero()?;
        solve(&mat, &u, &b, options, context, |_, _| true)
    };
    // The first time everything is compiled.
    assemble()?;
    solved()?;
    let start = Instant::now();
    assemble()?;
    let assembled = start.elapsed();
    let solution = solved()?;
    let time = start.elapsed() - assembled;
    let total = Global::new(1, &[0.0], "total")?;
    par_loop(&error?, cells, vec![total.arg(Inc), u.arg(Read, &square.element), corners()], context)?;
    let error = total.to_vec::<f64>()?[0].sqrt();
    Ok((assembled.as_secs_f64() * 1e3, time.as_secs_f64() * 1e3, solution.iterations(), error))
}

fn main() -> Result<(), Box<dyn Error>> {
    let size: usize = std::env::args().nth(1).map_or(Ok(32), |size| size.parse())?;
    println!("device         degree    nodes  assemble ms   solve ms  iterations       error   order");
    for device in Device::list() {
        let name = device.id().to_string();
        let context = Context::open(&name)?;
        for degree in [1, 2] {
            let (mut before, mut order) = (f64::NAN, f64::NAN);
            for size in [size / 4, size / 2, size] {
                let square = Square::new(size, degree)?;
                let (assembled, solved, iterations, error) = run(&square, &context)?;
                order = (before / error).log2();
                let shown = if order.is_finite() { format!("{order:.2}") } else { String::new() };
                let nodes = square.nodes.size();
                println!("{name:14} {degree:6} {nodes:8} {assembled:12.2} {solved:10.2} {iterations:11} {error:11.2e} {shown:>7}");
                before = error;
            }
            // The orders that theory promises.
            assert!(order > degree as f64 + 0.8, "{name}, degree {degree}: {order}");
        }
    }
    Ok(())
}
