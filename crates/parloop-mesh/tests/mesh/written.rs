//! What several elements write through a map: the last of them in the order of the set decides, on every device and by every plan.

use parloop_kernel::Context;
use parloop_mesh::{Access, Arg, Dat, Global, Kernel, Lanes, LoopOptions, Map, MeshError, ParLoop, PlanChoice, Set};

use crate::devices::everywhere;
use crate::kernels::kernel_of;

/// The next of a sequence of numbers without order, below `limit`.
fn next(state: &mut u64, limit: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) as usize) % limit
}

fn contexts() -> Vec<Context> {
    everywhere(&[1, 2, 3])
}

/// Runs a loop on each device, by each plan, one by one and in lanes; `run` makes its arguments anew and says what it left.
fn by_every_plan<R: PartialEq + std::fmt::Debug>(
    kernel: &Kernel,
    over: &Set,
    make: impl Fn() -> (Vec<Arg>, Box<dyn Fn() -> R>),
    expected: &R,
) {
    for context in contexts() {
        let mut ran = 0;
        for (plan, lanes, deterministic) in
            PlanChoice::ALL.iter().flat_map(|&plan| [(plan, Lanes::Auto, false), (plan, Lanes::Never, true), (plan, Lanes::Always, false)])
        {
            let options = LoopOptions { plan, lanes, deterministic, ..LoopOptions::default() };
            let (args, left) = make();
            match ParLoop::new(kernel, over, args, options).unwrap().run(&context) {
                Ok(()) => ran += 1,
                Err(MeshError::Plan { .. }) => continue,
                Err(error) => panic!("{options:?} on {context:?}: {error}"),
            }
            assert!(left() == *expected, "{options:?} on {context:?}");
        }
        assert!(ran >= 4, "{context:?}");
    }
}

#[test]
fn the_last_edge_of_a_line_decides_what_a_node_gets() {
    const N: usize = 4096;
    let (edges, nodes) = (Set::new(N, "edges").unwrap(), Set::new(N + 1, "nodes").unwrap());
    let ends: Vec<i32> = (0..N as i32).flat_map(|edge| [edge, edge + 1]).collect();
    let ends = Map::new(&edges, &nodes, 2, &ends, "ends").unwrap();
    let numbers: Vec<f64> = (0..N).map(|edge| edge as f64).collect();
    let number = Dat::new(&edges.data(1).unwrap(), &numbers, "number").unwrap();
    let mark = kernel_of("void mark(double *x[2], const double *e) { x[0][0] = 2 * e[0]; x[1][0] = 2 * e[0] + 1; }", "mark");
    let expected: Vec<f64> = (0..=N).map(|node| 2.0 * node as f64 - if node == N { 1.0 } else { 0.0 }).collect();
    let make = || {
        let x = Dat::new(&nodes.data(1).unwrap(), &vec![-1.0; N + 1], "x").unwrap();
        let args = vec![x.arg(Access::Write, &ends), number.arg(Access::Read, None)];
        (args, Box::new(move || x.to_vec::<f64>().unwrap()) as Box<dyn Fn() -> Vec<f64>>)
    };
    by_every_plan(&mark.unwrap(), &edges, make, &expected);
}

/// A loop over random maps with repeated entries, next to data that some plans cannot have.
fn random_maps(beside: Beside) {
    const N: usize = 3000;
    let mut state = 17 + beside as u64;
    for (arity, targets) in [(1, 50), (3, 900), (4, 20_000), (40, 4000)] {
        let (over, to) = (Set::new(N, "over").unwrap(), Set::new(targets, "to").unwrap());
        let mut values: Vec<i32> = (0..N * arity).map(|_| next(&mut state, targets) as i32).collect();
        for row in values.chunks_mut(arity).step_by(3) {
            row[arity - 1] = row[0];
        }
        let map = Map::new(&over, &to, arity, &values, "map").unwrap();
        let some: Vec<i64> = (0..N as i64).filter(|element| element % 4 != 1).collect();
        for over in [over.clone(), over.subset(&some).unwrap()] {
            let elements: Vec<usize> = match over.indices() {
                Some(indices) => indices.iter().map(|&element| element as usize).collect(),
                None => (0..N).collect(),
            };
            let (mut x, mut own, mut sum) = (vec![-1; 2 * targets], vec![3; N], 0);
            for &element in &elements {
                for slot in 0..arity {
                    let row = values[element * arity + slot] as usize;
                    (x[2 * row], x[2 * row + 1]) = ((100 * element + slot) as i64, -(element as i64));
                }
                if beside == Beside::Own {
                    own[element] += element as i64;
                }
                sum += if beside == Beside::Sum { element as i64 } else { 0 };
            }
            let last = match beside {
                Beside::Nothing => "",
                Beside::Own => "own[0] += e[0];",
                Beside::Sum => "own[0] += e[0];",
            };
            let source = format!(
                "void put(int64_t *x[{arity}], const int64_t *e, int64_t *own) {{
                for (int i = 0; i < {arity}; i++) {{ x[i][0] = 100 * e[0] + i; x[i][1] = -e[0]; }} {last} }}"
            );
            let put = kernel_of(&source, "put").unwrap();
            let numbers: Vec<i64> = (0..N as i64).collect();
            let make = || {
                let x = Dat::new(&to.data(2).unwrap(), &vec![-1i64; 2 * targets], "x").unwrap();
                let e = Dat::new(&over.base().data(1).unwrap(), &numbers, "e").unwrap();
                let own = Dat::new(&over.base().data(1).unwrap(), &[3i64; N], "own").unwrap();
                let sum = Global::new(1, &[0i64], "sum").unwrap();
                let third = match beside {
                    Beside::Nothing => own.arg(Access::Read, None),
                    Beside::Own => own.arg(Access::Rw, None),
                    Beside::Sum => sum.arg(Access::Inc),
                };
                let args = vec![x.arg(Access::Write, &map), e.arg(Access::Read, None), third];
                let left = move || [x.to_vec::<i64>().unwrap(), own.to_vec().unwrap(), sum.to_vec().unwrap()];
                (args, Box::new(left) as Box<dyn Fn() -> [Vec<i64>; 3]>)
            };
            by_every_plan(&put, &over, make, &[x, own, vec![sum]]);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Beside {
    Nothing,
    /// Data of the element that is changed in place: no element may be run twice.
    Own,
    /// A sum over all elements: targets cannot gather.
    Sum,
}

#[test]
fn the_last_element_of_random_maps_decides() {
    random_maps(Beside::Nothing);
}

#[test]
fn the_last_element_decides_next_to_data_that_is_changed_in_place() {
    random_maps(Beside::Own);
}

#[test]
fn the_last_element_decides_next_to_a_sum_over_all() {
    random_maps(Beside::Sum);
}
