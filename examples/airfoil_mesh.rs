//! The mesh around a NACA0012 profile: quadrilaterals in a C shape, of any size. A module of the example `05_airfoil`.
//!
//! The upper half plane of squares, cut in three along its lower side, is bent around the profile by squaring complex numbers: the left
//! and the right third meet behind the trailing edge, and the middle third is the wall. `airfoil_mesh.py` makes the same numbers.

use std::f64::consts::FRAC_PI_2;

/// Half the extent of the plane before it is bent.
const EXTENT: f64 = 3.0;
pub const WALL: i32 = 1;
pub const FAR: i32 = 2;

/// Coordinates and tables of a mesh, row by row; every row of a table belongs to one cell or edge.
#[derive(Debug, Default)]
pub struct Mesh {
    /// Of nodes, two each.
    pub x: Vec<f64>,
    /// Four for each cell, in a circle.
    pub cell_nodes: Vec<i32>,
    pub edge_nodes: Vec<i32>,
    /// Two for each edge, one on each side.
    pub edge_cells: Vec<i32>,
    /// Two for each edge with a cell on one side only.
    pub bedge_nodes: Vec<i32>,
    pub bedge_cells: Vec<i32>,
    /// `WALL` or `FAR` for each of those edges.
    pub bound: Vec<i32>,
}

impl Mesh {
    /// A mesh with `third` cells along each third of its lower side and `across` cells from the profile outwards, each at least one.
    pub fn new(third: i32, across: i32) -> Mesh {
        assert!(third > 0 && across > 0, "a mesh has at least one cell along each third and one across, not {third} and {across}");
        let mut mesh = Mesh { x: coordinates(third as usize, across as usize), ..Mesh::default() };
        mesh.add_cells_and_edges(third, across);
        mesh.add_boundary(third, across);
        mesh
    }

    pub fn nodes(&self) -> usize {
        self.x.len() / 2
    }

    pub fn cells(&self) -> usize {
        self.cell_nodes.len() / 4
    }

    pub fn edges(&self) -> usize {
        self.edge_nodes.len() / 2
    }

    pub fn bedges(&self) -> usize {
        self.bound.len()
    }

    /// In the order in which the published residuals were computed.
    fn add_cells_and_edges(&mut self, third: i32, across: i32) {
        let along = 3 * third;
        let node = |i, j| i + j * (along + 1);
        let cell = |i, j| i + j * along;
        for j in 0..across {
            for i in 0..along {
                self.cell_nodes.extend([node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)]);
                if j == 0 && i < third {
                    // Where the outer thirds meet.
                    self.add_edge([node(i, 0), node(i + 1, 0)], [cell(along - 1 - i, 0), cell(i, 0)]);
                }
                if j < across - 1 {
                    self.add_edge([node(i, j + 1), node(i + 1, j + 1)], [cell(i, j), cell(i, j + 1)]);
                }
                if i < along - 1 {
                    self.add_edge([node(i + 1, j), node(i + 1, j + 1)], [cell(i + 1, j), cell(i, j)]);
                }
            }
        }
    }

    fn add_boundary(&mut self, third: i32, across: i32) {
        let along = 3 * third;
        let node = |i, j| i + j * (along + 1);
        let cell = |i, j| i + j * along;
        for i in third..2 * third {
            self.add_bedge([node(i + 1, 0), node(i, 0)], cell(i, 0), WALL);
        }
        for j in 0..across {
            self.add_bedge([node(along, j + 1), node(along, j)], cell(along - 1, j), FAR);
        }
        for i in (0..along).rev() {
            self.add_bedge([node(i, across), node(i + 1, across)], cell(i, across - 1), FAR);
        }
        for j in (0..across).rev() {
            self.add_bedge([node(0, j), node(0, j + 1)], cell(0, j), FAR);
        }
    }

    fn add_edge(&mut self, nodes: [i32; 2], cells: [i32; 2]) {
        self.edge_nodes.extend(nodes);
        self.edge_cells.extend(cells);
    }

    fn add_bedge(&mut self, nodes: [i32; 2], cell: i32, bound: i32) {
        self.bedge_nodes.extend(nodes);
        self.bedge_cells.push(cell);
        self.bound.push(bound);
    }
}

/// Where the nodes are, to six decimals, row by row.
fn coordinates(third: usize, across: usize) -> Vec<f64> {
    let along = 3 * third;
    let step = 2.0 * EXTENT / along as f64;
    let mut u: Vec<f64> = (0..=along).map(|i| -EXTENT + i as f64 * step).collect();
    u[along] = EXTENT;
    let mut low = vec![0.0; along + 1];
    let spline = Spline::new(&profile());
    for i in third + 1..2 * third {
        low[i] = spline.at(u[i]);
    }
    // The published residuals are of a mesh that was printed. Adding zero makes -0.0 plain.
    let printed = |x: f64| (x * 1e6).round_ties_even() / 1e6 + 0.0;
    let mut x = Vec::with_capacity(2 * (along + 1) * (across + 1));
    for j in 0..=across {
        for (&u, &low) in u.iter().zip(&low) {
            let v = low + (EXTENT - low) * (j as f64 / across as f64);
            x.extend([printed(u * u - v * v), printed(2.0 * u * v)]);
        }
    }
    x
}

/// The surface of the profile in the plane before it is bent, from left to right.
fn profile() -> Vec<(f64, f64)> {
    let right: Vec<(f64, f64)> = (0..100)
        .map(|k| {
            let sine = (f64::from(k) * FRAC_PI_2 / 99.0).sin();
            let x = sine * sine;
            let y = -0.127125232 + x * (-0.357907906 + x * (0.291984971 - x * 0.105174696));
            let y = if k < 99 { 0.594689181 * (0.298222773 * x.sqrt() + x * y) } else { 0.0 };
            square_root(x - 0.0077, y)
        })
        .collect();
    let left = right[1..].iter().rev().map(|&(u, v)| (-u, v));
    left.chain(right.iter().copied()).collect()
}

/// The root of a + ib in the upper right quarter, for b >= 0, by operations that every machine rounds alike.
fn square_root(a: f64, b: f64) -> (f64, f64) {
    let size = (a * a + b * b).sqrt();
    if a >= 0.0 {
        let real = ((size + a) / 2.0).sqrt();
        (real, b / (2.0 * real))
    } else {
        let imaginary = ((size - a) / 2.0).sqrt();
        (b / (2.0 * imaginary), imaginary)
    }
}

/// A cubic spline through points, without knots at the second and the last but one.
struct Spline {
    x: Vec<f64>,
    /// Of each piece: value, slope, half the second and a sixth of the third derivative at its left end.
    pieces: Vec<[f64; 4]>,
}

impl Spline {
    fn new(points: &[(f64, f64)]) -> Spline {
        let h: Vec<f64> = points.windows(2).map(|p| p[1].0 - p[0].0).collect();
        let slope: Vec<f64> = points.windows(2).zip(&h).map(|(p, h)| (p[1].1 - p[0].1) / h).collect();
        let second = second_derivatives(&h, &slope);
        let piece = |i: usize| {
            let linear = slope[i] - h[i] * (2.0 * second[i] + second[i + 1]) / 6.0;
            [points[i].1, linear, second[i] / 2.0, (second[i + 1] - second[i]) / (6.0 * h[i])]
        };
        Spline { x: points.iter().map(|p| p.0).collect(), pieces: (0..h.len()).map(piece).collect() }
    }

    fn at(&self, x: f64) -> f64 {
        let i = self.x.partition_point(|&knot| knot <= x).saturating_sub(1).min(self.pieces.len() - 1);
        let (t, [value, linear, square, cubic]) = (x - self.x[i], self.pieces[i]);
        value + t * (linear + t * (square + t * cubic))
    }
}

/// At inner points a system with three diagonals gives them; its outer rows say that the third derivative does not jump.
fn second_derivatives(h: &[f64], slope: &[f64]) -> Vec<f64> {
    let n = h.len() - 1;
    let (first, last) = (h[0] / h[1], h[n] / h[n - 1]);
    let mut below: Vec<f64> = (0..n).map(|i| if i > 0 { h[i] } else { 0.0 }).collect();
    let mut middle: Vec<f64> = (0..n).map(|i| 2.0 * (h[i] + h[i + 1])).collect();
    let mut above: Vec<f64> = (0..n).map(|i| if i < n - 1 { h[i + 1] } else { 0.0 }).collect();
    let mut right: Vec<f64> = (0..n).map(|i| 6.0 * (slope[i + 1] - slope[i])).collect();
    middle[0] += h[0] * (1.0 + first);
    above[0] -= h[0] * first;
    middle[n - 1] += h[n] * (1.0 + last);
    below[n - 1] -= h[n] * last;
    for i in 1..n {
        let factor = below[i] / middle[i - 1];
        middle[i] -= factor * above[i - 1];
        right[i] -= factor * right[i - 1];
    }
    let mut second = vec![0.0; n + 2];
    second[n] = right[n - 1] / middle[n - 1];
    for i in (0..n - 1).rev() {
        second[i + 1] = (right[i] - above[i] * second[i + 2]) / middle[i];
    }
    second[0] = (1.0 + first) * second[1] - first * second[2];
    second[n + 1] = (1.0 + last) * second[n] - last * second[n - 1];
    second
}
