//! Loop kernels as the kernels of mesh loops: their arrays take arguments along one axis, along two, or along those of the data.

use parloop_loop::create::{Data, KernelBuilder};
use parloop_mesh::{Access, Arg, Dat, Global, Kernel, LoopOptions, Map, MeshError, ParLoop, PlanChoice, Set};

use crate::devices::everywhere;

fn kernel(name: &str, domains: &[&str], instructions: &str, data: &[Data]) -> Kernel {
    let builder = KernelBuilder::new().name(name).domains(domains.iter().copied()).instructions(instructions.to_owned());
    let builder = data.iter().cloned().fold(builder, KernelBuilder::data);
    let program = builder.build().unwrap_or_else(|error| panic!("{error}"));
    Kernel::from_program(program, name).unwrap_or_else(|error| panic!("{error}"))
}

fn array(name: &str, shape: &str) -> Data {
    Data::global(name).dtype("float64").shape(shape)
}

/// Runs the loop by every plan on every device; `fresh` makes the arguments and gives what must be compared after it.
fn runs_everywhere(kernel: &Kernel, set: &Set, fresh: impl Fn() -> (Vec<Arg>, Dat), expected: &[f64]) {
    let mut ran = 0;
    for context in everywhere(&[1, 2]) {
        for plan in PlanChoice::ALL {
            for checked in [false, true] {
                let (args, result) = fresh();
                let options = LoopOptions { plan, checked, ..LoopOptions::default() };
                match ParLoop::new(kernel, set, args, options).unwrap_or_else(|error| panic!("{error}")).run(&context) {
                    Ok(()) => ran += 1,
                    Err(MeshError::Plan { .. }) => continue,
                    Err(error) => panic!("{error} by {options:?} on {context:?}"),
                }
                assert_eq!(result.to_vec::<f64>().unwrap(), expected, "{options:?} on {context:?}");
            }
        }
    }
    assert!(ran >= 16, "{ran}");
}

struct Strip {
    cells: Set,
    nodes: Set,
    corners: Map,
}

/// Triangles side by side, with the first node twice in the last.
fn strip() -> Strip {
    let (cells, nodes) = (Set::new(300, "cells").unwrap(), Set::new(302, "nodes").unwrap());
    let mut values: Vec<i32> = (0..300).flat_map(|cell| [cell, cell + 1, cell + 2]).collect();
    values[897..].copy_from_slice(&[0, 0, 301]);
    let corners = Map::new(&cells, &nodes, 3, &values, "corners").unwrap();
    Strip { cells, nodes, corners }
}

fn coordinates(strip: &Strip) -> Vec<f64> {
    (0..strip.nodes.size()).flat_map(|node| [node as f64, (node * 7 % 5) as f64]).collect()
}

/// The sum of the corners of each cell.
fn sums(strip: &Strip) -> Vec<f64> {
    let (at, corners) = (coordinates(strip), strip.corners.values().unwrap());
    corners.chunks(3).flat_map(|corners| [0, 1].map(|d| corners.iter().map(|&node| at[2 * node as usize + d]).sum())).collect()
}

/// What is added to each node: twice the number of the corner plus that of the component.
fn added(strip: &Strip) -> Vec<f64> {
    let mut sums = vec![1.0; 2 * strip.nodes.size()];
    for (entry, &node) in strip.corners.values().unwrap().iter().enumerate() {
        for d in 0..2 {
            sums[2 * node as usize + d] += (2 * (entry % 3) + d) as f64;
        }
    }
    sums
}

fn writes_sums(strip: &Strip, kernel: &Kernel) {
    let fresh = || {
        let total = Dat::new(&strip.cells.data(2).unwrap(), &vec![-1.0; 600], "total").unwrap();
        let at = Dat::new(&strip.nodes.data(2).unwrap(), &coordinates(strip), "at").unwrap();
        (vec![total.arg(Access::Write, None), at.arg(Access::Read, Some(&strip.corners))], total)
    };
    runs_everywhere(kernel, &strip.cells, fresh, &sums(strip));
}

fn adds(strip: &Strip, kernel: &Kernel) {
    let fresh = || {
        let sum = Dat::new(&strip.nodes.data(2).unwrap(), &vec![1.0; 604], "sum").unwrap();
        (vec![sum.arg(Access::Inc, Some(&strip.corners))], sum)
    };
    runs_everywhere(kernel, &strip.cells, fresh, &added(strip));
}

#[test]
fn arrays_of_two_axes_take_rows_and_numbers() {
    let strip = strip();
    let total = kernel("total", &["{[d,i]: 0<=d<2 and 0<=i<3}"], "t[d] = sum(i, x[i,d])", &[array("t", "2"), array("x", "3, 2")]);
    writes_sums(&strip, &total);
    let number = kernel("number", &["{[d,i]: 0<=d<2 and 0<=i<3}"], "x[i,d] = x[i,d] + 2*i + d", &[array("x", "3, 2")]);
    adds(&strip, &number);
}

#[test]
fn arrays_of_one_axis_take_all_numbers_row_by_row() {
    let strip = strip();
    let total = kernel("total", &["{[d,i]: 0<=d<2 and 0<=i<3}"], "t[d] = sum(i, x[2*i+d])", &[array("t", "2"), array("x", "6")]);
    writes_sums(&strip, &total);
    let number = kernel("number", &["{[z]: 0<=z<6}"], "x[z] = x[z] + z", &[array("x", "6")]);
    adds(&strip, &number);
}

#[test]
fn arrays_may_have_the_axes_of_the_data_behind_that_of_the_map() {
    let (cells, nodes) = (Set::new(5, "cells").unwrap(), Set::new(7, "nodes").unwrap());
    let ends = Map::new(&cells, &nodes, 2, &[0, 1, 2, 3, 3, 4, 6, 6, 5, 0], "ends").unwrap();
    let sums = kernel(
        "sums",
        &["{[i,a,b]: 0<=i<2 and 0<=a<2 and 0<=b<3}"],
        "t[a,b] = sum(i, x[i,a,b])",
        &[array("t", "2, 3"), array("x", "2, 2, 3")],
    );
    let values: Vec<f64> = (0..42).map(f64::from).collect();
    let rows: Vec<&[f64]> = values.chunks(6).collect();
    let map = ends.values().unwrap();
    let expected: Vec<f64> =
        map.chunks(2).flat_map(|pair| (0..6).map(|z| rows[pair[0] as usize][z] + rows[pair[1] as usize][z]).collect::<Vec<_>>()).collect();
    let fresh = || {
        let t = Dat::new(&cells.data([2, 3]).unwrap(), &[0.0; 30], "t").unwrap();
        let x = Dat::new(&nodes.data([2, 3]).unwrap(), &values, "x").unwrap();
        (vec![t.arg(Access::Write, None), x.arg(Access::Read, Some(&ends))], t)
    };
    runs_everywhere(&sums, &cells, fresh, &expected);
}

#[test]
fn loop_kernels_take_globals_and_components() {
    let strip = strip();
    let scaled = kernel(
        "scaled",
        &["{[i]: 0<=i<3}"],
        "y[0] = f[0] * sum(i, x[i,0]) {id=y}\ns[0] = s[0] + y[0] {dep=y}",
        &[array("y", "1"), array("x", "3, 1"), array("f", "1"), array("s", "1")],
    );
    let (at, corners) = (coordinates(&strip), strip.corners.values().unwrap());
    let expected: Vec<f64> =
        corners.chunks(3).map(|corners| 2.0 * corners.iter().map(|&node| at[2 * node as usize + 1]).sum::<f64>()).collect();
    for context in everywhere(&[1, 2]) {
        let y = Dat::new(&strip.cells.data(1).unwrap(), &vec![0.0; 300], "y").unwrap();
        let x = Dat::new(&strip.nodes.data(2).unwrap(), &at, "x").unwrap();
        let (f, s) = (Global::new(1, &[2.0], "f").unwrap(), Global::new(1, &[0.5], "s").unwrap());
        let component = Arg::component(&x, 1, Access::Read, Some(&strip.corners));
        let args = vec![y.arg(Access::Write, None), component, f.arg(Access::Read), s.arg(Access::Inc)];
        ParLoop::new(&scaled, &strip.cells, args, LoopOptions::default()).unwrap().run(&context).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(y.to_vec::<f64>().unwrap(), expected, "{context:?}");
        assert_eq!(s.to_vec::<f64>().unwrap(), [0.5 + expected.iter().sum::<f64>()], "{context:?}");
    }
}
