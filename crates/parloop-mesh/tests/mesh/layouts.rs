//! Tables that lie column by column on GPUs for some loops and row by row for others: whoever comes first decides, and all agree.

use std::sync::Barrier;
use std::thread;

use parloop_kernel::Context;
use parloop_mesh::{Access, Dat, Kernel, LoopOptions, Map, ParLoop, Set};

use crate::devices::gpus;
use crate::kernels::kernel_of;

const N: usize = 300;
const THREADS: usize = 8;

/// Rows of three numbers: by itself a loop over them prefers columns, and one through a map rows.
struct Case {
    nodes: Set,
    itself: Map,
    copy: Kernel,
    values: Vec<f64>,
}

impl Case {
    fn new() -> Case {
        let nodes = Set::new(N, "nodes").unwrap();
        let itself = Map::new(&nodes, &nodes, 1, &(0..N as i32).collect::<Vec<_>>(), "itself").unwrap();
        let copy = kernel_of("void copy(const double *x, double *y) { for (int i = 0; i < 3; i++) y[i] = x[i]; }", "copy").unwrap();
        Case { nodes, itself, copy, values: (0..3 * N).map(|i| i as f64).collect() }
    }

    fn data(&self, name: &str) -> Dat {
        Dat::new(&self.nodes.data(3).unwrap(), &self.values, name).unwrap()
    }

    fn zeros(&self) -> Dat {
        Dat::new(&self.nodes.data(3).unwrap(), &vec![0.0; 3 * N], "y").unwrap()
    }

    fn copying(&self, x: &Dat, y: &Dat, through: bool) -> ParLoop {
        let map = through.then_some(&self.itself);
        let args = vec![x.arg(Access::Read, map), y.arg(Access::Write, None)];
        ParLoop::new(&self.copy, &self.nodes, args, LoopOptions::default()).unwrap()
    }
}

#[test]
fn code_that_was_looked_at_before_the_data_had_a_layout_is_right_afterwards() {
    let case = Case::new();
    for context in gpus() {
        let (x, y, z) = (case.data("x"), case.zeros(), case.zeros());
        let direct = case.copying(&x, &y, false);
        direct.code(&context).unwrap();
        case.copying(&x, &z, true).run(&context).unwrap();
        direct.run(&context).unwrap();
        assert!(y.to_vec::<f64>().unwrap() == case.values, "{context:?}");
        assert!(z.to_vec::<f64>().unwrap() == case.values, "{context:?}");
    }
}

#[test]
fn zeros_that_are_set_before_a_loop_runs_do_not_change_the_layout_it_was_made_for() {
    let case = Case::new();
    let one = kernel_of("void one(double *x) { x[1] += 1; }", "one").unwrap();
    for context in gpus() {
        let x = case.data("x");
        let adding = ParLoop::new(&one, &case.nodes, vec![x.arg(Access::Rw, None)], LoopOptions::default()).unwrap();
        adding.code(&context).unwrap();
        x.storage().zero(&context).unwrap();
        adding.run(&context).unwrap();
        let expected: Vec<f64> = (0..3 * N).map(|i| if i % 3 == 1 { 1.0 } else { 0.0 }).collect();
        assert!(x.to_vec::<f64>().unwrap() == expected, "{context:?}");
    }
}

#[test]
fn loops_that_use_data_on_a_gpu_for_the_first_time_at_once_agree_on_its_layout() {
    let case = Case::new();
    for context in gpus() {
        // Compiled once, so that all threads reach the data at about the same time.
        for (through, first) in [(false, false), (false, true), (true, false), (true, true)] {
            let (x, y) = (case.data("x"), case.zeros());
            case.copying(&x, &case.zeros(), first).run(&context).unwrap();
            case.copying(&x, &y, through).run(&context).unwrap();
        }
        for round in 0..200 {
            let (x, start) = (case.data("x"), Barrier::new(THREADS));
            thread::scope(|scope| {
                for number in 0..THREADS {
                    let (case, x, start, context) = (&case, &x, &start, &context);
                    scope.spawn(move || first_use(case, x, number % 2 == 0, start, context, round));
                }
            });
        }
    }
}

fn first_use(case: &Case, x: &Dat, through: bool, start: &Barrier, context: &Context, round: usize) {
    let y = case.zeros();
    let copying = case.copying(x, &y, through);
    start.wait();
    copying.run(context).unwrap();
    assert!(y.to_vec::<f64>().unwrap() == case.values, "round {round}, through a map: {through}, {context:?}");
}

#[test]
fn copies_between_data_of_different_layouts_have_the_same_numbers() {
    let case = Case::new();
    for context in gpus() {
        for (first, second) in [(false, true), (true, false), (true, true), (false, false)] {
            let (x, y) = (case.data("x"), case.zeros());
            case.copying(&x, &case.zeros(), first).run(&context).unwrap();
            case.copying(&y, &case.zeros(), second).run(&context).unwrap();
            x.copy_to(&y).unwrap();
            assert!(y.to_vec::<f64>().unwrap() == case.values, "{context:?}");
        }
    }
}
