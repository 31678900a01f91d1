//! Loops on every device and by every plan, against the same loop in Rust.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use parloop_kernel::Context;
use parloop_mesh::{Access, Arg, Dat, Global, Kernel, Lanes, LoopOptions, Map, MeshError, ParLoop, PlanChoice, Set};

use crate::kernels::kernel_of;

fn contexts() -> Vec<Context> {
    ["cpu:1", "cpu:2", "opencl", "cuda"].iter().filter_map(|name| Context::open(name).ok()).collect()
}

fn c(source: &str, name: &str) -> Kernel {
    kernel_of(source, name).unwrap_or_else(|error| panic!("{error}"))
}

fn run(kernel: &Kernel, set: &Set, args: Vec<Arg>, options: LoopOptions, context: &Context) {
    let made = ParLoop::new(kernel, set, args, options).unwrap_or_else(|error| panic!("{error}"));
    made.run(context).unwrap_or_else(|error| panic!("{error} on {context:?} by {options:?}"));
}

/// Edges of a ring of nodes, in an order of their own.
fn ring(nodes: usize) -> Vec<i32> {
    let n = nodes as i32;
    (0..n).flat_map(|edge| [(edge * 7) % n, (edge * 7 + 1) % n]).collect()
}

#[test]
fn increments_through_a_map_add_up_by_every_plan() {
    let n = 5000;
    let (edges, nodes) = (Set::new(n, "edges").unwrap(), Set::new(n, "nodes").unwrap());
    let ends = Map::new(&edges, &nodes, 2, &ring(n), "ends").unwrap();
    let weight: Vec<f64> = (0..n).map(|i| 1.0 + (i % 13) as f64).collect();
    let mut expected = vec![0.5; 2 * n];
    for (edge, pair) in ring(n).chunks(2).enumerate() {
        expected[2 * pair[0] as usize] += weight[edge];
        expected[2 * pair[1] as usize + 1] -= weight[edge];
    }
    let kernel = c("static void add(const double *w, double *x[2]) { x[0][0] += w[0]; x[1][1] -= w[0]; }", "add");
    let mut ran = 0;
    for context in contexts() {
        for plan in PlanChoice::ALL {
            for deterministic in [false, true] {
                let w = Dat::new(&edges.data(1).unwrap(), &weight, "w").unwrap();
                let x = Dat::new(&nodes.data(2).unwrap(), &vec![0.5; 2 * n], "x").unwrap();
                let options = LoopOptions { plan, deterministic, ..LoopOptions::default() };
                let args = vec![w.arg(Access::Read, None), x.arg(Access::Inc, Some(&ends))];
                match ParLoop::new(&kernel, &edges, args, options).unwrap().run(&context) {
                    Ok(()) => {
                        assert_eq!(x.to_vec::<f64>().unwrap(), expected, "{context:?} {options:?}");
                        ran += 1;
                    }
                    Err(MeshError::Plan { .. }) => {}
                    Err(error) => panic!("{error} on {context:?} by {options:?}"),
                }
            }
        }
    }
    assert!(ran >= 2 * 8, "{ran}");
}

#[test]
fn sums_and_extremes_over_all_elements_are_combined() {
    let n = 3001;
    let cells = Set::new(n, "cells").unwrap();
    let values: Vec<f64> = (0..n).map(|i| ((i * 31) % 997) as f64 - 300.0).collect();
    let kernel = c(
        "void all(double *x, double *sum, double *least, double *most) {
            sum[0] += x[0]; sum[1] += 1;
            if (x[0] < *least) *least = x[0];
            if (x[0] > *most) *most = x[0];
            x[0] += 1;
        }",
        "all",
    );
    for context in contexts() {
        let x = Dat::new(&cells.data(1).unwrap(), &values, "x").unwrap();
        let sum = Global::new(2, &[10.0, 20.0], "sum").unwrap();
        let (least, most) = (Global::new(1, &[-200.0], "least").unwrap(), Global::new(1, &[1e3], "most").unwrap());
        let args = vec![x.arg(Access::Rw, None), sum.arg(Access::Inc), least.arg(Access::Min), most.arg(Access::Max)];
        run(&kernel, &cells, args, LoopOptions::default(), &context);
        assert_eq!(sum.to_vec::<f64>().unwrap(), [10.0 + values.iter().sum::<f64>(), 20.0 + n as f64], "{context:?}");
        assert_eq!(least.to_vec::<f64>().unwrap(), [-300.0], "{context:?}");
        assert_eq!(most.to_vec::<f64>().unwrap(), [1e3], "{context:?}");
        assert_eq!(x.to_vec::<f64>().unwrap(), values.iter().map(|x| x + 1.0).collect::<Vec<_>>());
    }
}

#[test]
fn a_recorded_sequence_is_replayed_and_the_host_sees_its_results() {
    let n = 100;
    let cells = Set::new(n, "cells").unwrap();
    let (add, total) =
        (c("void add(double *x) { x[0] += 1; }", "add"), c("void total(double *x, double *sum) { sum[0] += x[0]; }", "total"));
    for context in contexts() {
        let x = Dat::new(&cells.data(1).unwrap(), &vec![1.0; n], "x").unwrap();
        let sum = Global::new(1, &[5.0], "sum").unwrap();
        let recording = context.recording().unwrap();
        sum.storage().zero(&context).unwrap();
        run(&add, &cells, vec![x.arg(Access::Rw, None)], LoopOptions::default(), &context);
        run(&total, &cells, vec![x.arg(Access::Read, None), sum.arg(Access::Inc)], LoopOptions::default(), &context);
        let replay = recording.finish().unwrap();
        assert_eq!(x.to_vec::<f64>().unwrap(), vec![1.0; n], "recording runs nothing, {context:?}");
        replay.run().unwrap();
        assert_eq!(sum.to_vec::<f64>().unwrap(), [200.0], "{context:?}");
        replay.run().unwrap();
        assert_eq!(sum.to_vec::<f64>().unwrap(), [300.0], "{context:?}");
        x.write(&vec![10.0; n]).unwrap();
        replay.run().unwrap();
        assert_eq!(sum.to_vec::<f64>().unwrap(), [1100.0], "what the host wrote in between is seen, {context:?}");
        assert_eq!(x.to_vec::<f64>().unwrap(), vec![11.0; n], "{context:?}");
    }
}

#[test]
fn batches_in_lanes_give_what_single_elements_give() {
    let n = 5003;
    let (edges, nodes) = (Set::new(n, "edges").unwrap(), Set::new(n, "nodes").unwrap());
    let ends = Map::new(&edges, &nodes, 2, &ring(n), "ends").unwrap();
    let weight: Vec<f64> = (0..n).map(|i| 1.0 + (i % 13) as f64).collect();
    let kernel = c(
        "static void all(const double *w, double *x[2], double *twice, double *sum, double *most) {
            x[0][0] += w[0]; x[1][1] -= w[0]; twice[0] = 2*w[0]; sum[0] += w[0]; if (w[0] > most[0]) most[0] = w[0];
        }",
        "all",
    );
    for name in ["cpu:1", "cpu:3"] {
        let context = Context::open(name).unwrap();
        for plan in [PlanChoice::Sequential, PlanChoice::Owner] {
            for part in [edges.clone(), edges.subset(&(0..n as i64).filter(|i| i % 3 > 0).collect::<Vec<_>>()).unwrap()] {
                let results = [Lanes::Never, Lanes::Always].map(|lanes| {
                    let w = Dat::new(&edges.data(1).unwrap(), &weight, "w").unwrap();
                    let x = Dat::new(&nodes.data(2).unwrap(), &vec![0.5; 2 * n], "x").unwrap();
                    let twice = Dat::new(&edges.data(1).unwrap(), &vec![0.0; n], "twice").unwrap();
                    let (sum, most) = (Global::new(1, &[0.0], "sum").unwrap(), Global::new(1, &[0.0], "most").unwrap());
                    let args = vec![
                        w.arg(Access::Read, None),
                        x.arg(Access::Inc, Some(&ends)),
                        twice.arg(Access::Write, None),
                        sum.arg(Access::Inc),
                        most.arg(Access::Max),
                    ];
                    run(&kernel, &part, args, LoopOptions { plan, lanes, ..LoopOptions::default() }, &context);
                    [x.to_vec::<f64>().unwrap(), twice.to_vec().unwrap(), sum.to_vec().unwrap(), most.to_vec().unwrap()]
                });
                assert!(results[0][2][0] > 1000.0);
                assert_eq!(results[0], results[1], "{context:?} {plan:?}");
            }
        }
    }
}

/// A kernel as form compilers write them: tables, loops over points, temporary arrays, a choice, functions of the C library, a Global.
const OF_A_FORM: &str = "
    void residual(double *restrict A, double const *restrict x, double const *restrict u, double const *restrict k, double *restrict most,
                  double *restrict energy) {
        double weights[3] = { 0.25, 0.5, 0.25 }; double at[2 * 3] = { 1.0, 0.5, 0.0, 0.0, 0.5, 1.0 };
        double length, t0, t1; double flux[2];
        length = fabs(x[2] + -1.0 * x[0]) + sqrt(1.0 + x[1] * x[1]) + pow(x[3] > 0.0 ? x[3] : -x[3], 2.0);
        for (int32_t j = 0; j <= 1; ++j) flux[j] = (double) (0.0);
        for (int32_t p = 0; p <= 2; ++p) {
            t0 = (double) (0.0);
            for (int32_t i = 0; i <= 1; ++i) t0 = t0 + at[p + 3 * i] * u[i];
            t1 = weights[p] * (length * t0 + k[1]);
            for (int32_t j = 0; j <= 1; ++j) flux[j] = flux[j] + at[p + 3 * j] * t1;
        }
        for (int32_t j = 0; j <= 1; ++j) A[j] = A[j] + flux[j] / k[0];
        most[0] = most[0] > length ? most[0] : length;
        energy[0] += length * u[0];
    }";

#[test]
fn kernels_of_form_compilers_run_in_vectors_with_the_same_results() {
    let n = 5003;
    let (edges, nodes) = (Set::new(n, "edges").unwrap(), Set::new(n, "nodes").unwrap());
    let ends = Map::new(&edges, &nodes, 2, &ring(n), "ends").unwrap();
    let kernel = c(OF_A_FORM, "residual");
    let number = |i: usize| ((i * 7919) % 1009) as f64 / 31.0 - 15.0;
    for name in ["cpu:1", "cpu:3"] {
        let context = Context::open(name).unwrap();
        for plan in [PlanChoice::Sequential, PlanChoice::Owner] {
            for part in [edges.clone(), edges.subset(&(0..n as i64).filter(|i| i % 3 > 0).collect::<Vec<_>>()).unwrap()] {
                let results = [Lanes::Never, Lanes::Always].map(|lanes| {
                    let x = Dat::new(&nodes.data(2).unwrap(), &(0..2 * n).map(number).collect::<Vec<_>>(), "x").unwrap();
                    let u = Dat::new(&nodes.data(1).unwrap(), &(0..n).map(|i| number(i + 5)).collect::<Vec<_>>(), "u").unwrap();
                    let left = Dat::new(&nodes.data(1).unwrap(), &vec![0.0; n], "left").unwrap();
                    let k = Global::new(2, &[1.5, -0.25], "k").unwrap();
                    let (most, energy) = (Global::new(1, &[0.0], "most").unwrap(), Global::new(1, &[0.0], "energy").unwrap());
                    let args = vec![
                        left.arg(Access::Inc, Some(&ends)),
                        x.arg(Access::Read, Some(&ends)),
                        u.arg(Access::Read, Some(&ends)),
                        k.arg(Access::Read),
                        most.arg(Access::Max),
                        energy.arg(Access::Inc),
                    ];
                    let made = ParLoop::new(&kernel, &part, args, LoopOptions { plan, lanes, ..LoopOptions::default() }).unwrap();
                    let code = made.code(&context).unwrap().concat();
                    assert_eq!(code.contains("pl_lanes_residual("), lanes == Lanes::Always, "{code}");
                    made.run(&context).unwrap();
                    [left.to_vec::<f64>().unwrap(), most.to_vec().unwrap(), energy.to_vec().unwrap()]
                });
                let [single, batches] = results;
                for (single, batches) in single.iter().zip(&batches) {
                    let largest = single.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
                    assert!(largest > 1.0);
                    for (one, other) in single.iter().zip(batches) {
                        assert!((one - other).abs() <= 1e-13 * largest, "{one} {other} {context:?} {plan:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_host_does_not_change_data_while_it_is_recorded() {
    let cells = Set::new(2, "cells").unwrap();
    let x = Dat::new(&cells.data(1).unwrap(), &[1.0, 2.0], "x").unwrap();
    let context = Context::open("cpu:1").unwrap();
    let recording = context.recording().unwrap();
    let message = x.write(&[3.0, 4.0]).unwrap_err().to_string();
    assert_eq!(
        message,
        "cpu:1: a change of data by the host cannot be recorded; do it before the recording begins or after it is finished"
    );
    assert!(recording.finish().is_err());
    assert_eq!(x.to_vec::<f64>().unwrap(), [1.0, 2.0]);
}

#[test]
fn a_mesh_in_order_is_run_in_whole_ranges_by_its_owners() {
    let n = 20_011;
    let (edges, nodes) = (Set::new(n, "edges").unwrap(), Set::new(n + 1, "nodes").unwrap());
    let line: Vec<i32> = (0..n as i32).flat_map(|edge| [edge, edge + 1]).collect();
    let ends = Map::new(&edges, &nodes, 2, &line, "ends").unwrap();
    let weight: Vec<f64> = (0..n).map(|i| 1.0 + (i % 13) as f64).collect();
    let kernel = c(
        "void add(const double *w, double *x[2], double *twice, double *sum) { x[0][0] += w[0]; x[1][0] -= w[0]; twice[0] = 2*w[0]; sum[0] += w[0]; }",
        "add",
    );
    let mut expected = vec![0.0; n + 1];
    for (edge, w) in weight.iter().enumerate() {
        expected[edge] += w;
        expected[edge + 1] -= w;
    }
    for (name, lanes) in [("cpu:1", Lanes::Never), ("cpu:3", Lanes::Never), ("cpu:3", Lanes::Always)] {
        let context = Context::open(name).unwrap();
        let w = Dat::new(&edges.data(1).unwrap(), &weight, "w").unwrap();
        let x = Dat::new(&nodes.data(1).unwrap(), &vec![0.0; n + 1], "x").unwrap();
        let twice = Dat::new(&edges.data(1).unwrap(), &vec![0.0; n], "twice").unwrap();
        let sum = Global::new(1, &[0.0], "sum").unwrap();
        let args = vec![w.arg(Access::Read, None), x.arg(Access::Inc, &ends), twice.arg(Access::Write, None), sum.arg(Access::Inc)];
        let options = LoopOptions { plan: PlanChoice::Owner, lanes, ..LoopOptions::default() };
        let made = ParLoop::new(&kernel, &edges, args, options).unwrap();
        let code = made.code(&context).unwrap();
        assert!(!code[0].contains("pl_list") && code[1].contains("pl_masks"), "{}", code[0]);
        made.run(&context).unwrap();
        assert_eq!(x.to_vec::<f64>().unwrap(), expected, "{context:?} {lanes:?}");
        assert_eq!(twice.to_vec::<f64>().unwrap(), weight.iter().map(|w| 2.0 * w).collect::<Vec<_>>(), "{context:?} {lanes:?}");
        assert_eq!(sum.to_vec::<f64>().unwrap(), [weight.iter().sum::<f64>()], "{context:?} {lanes:?}");
    }
}

#[test]
fn a_mesh_in_order_is_run_in_strips_which_need_no_lists_and_no_masks() {
    // Triangles of a grid that is closed to a ring in both directions, cells in order and nodes in none.
    let (n, shift) = (60, 1237);
    let node = |i: usize, j: usize| ((j % n * n + i % n) * shift % (n * n)) as i32;
    let square = |cell: usize| {
        let (i, j) = (cell % n, cell / n);
        [node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j), node(i + 1, j + 1), node(i, j + 1)]
    };
    let values: Vec<i32> = (0..n * n).flat_map(square).collect();
    let (cells, nodes) = (Set::new(2 * n * n, "cells").unwrap(), Set::new(n * n, "nodes").unwrap());
    let corners = Map::new(&cells, &nodes, 3, &values, "corners").unwrap();
    let some: Vec<i64> = (0..2 * n as i64 * n as i64).filter(|cell| cell % 5 != 0).collect();
    let weight: Vec<f64> = (0..2 * n * n).map(|cell| 1.0 + (cell % 13) as f64).collect();
    let kernel = c(
        "void add(const double *w, double *x, double *most, double *twice, double *sum) {
            for (int i = 0; i < 3; i++) { x[i] += (i + 1)*w[0]; most[i] = most[i] > w[0] ? most[i] : w[0]; }
            twice[0] += 2*w[0]; sum[0] += w[0];
        }",
        "add",
    );
    for over in [cells.clone(), cells.subset(&some).unwrap()] {
        let elements: Vec<usize> = match over.indices() {
            Some(indices) => indices.iter().map(|&cell| cell as usize).collect(),
            None => (0..over.size()).collect(),
        };
        let (mut x, mut most, mut twice) = (vec![0.0; n * n], vec![0.0; n * n], vec![0.0; 2 * n * n]);
        for &cell in &elements {
            for (i, &node) in values[3 * cell..][..3].iter().enumerate() {
                x[node as usize] += (i + 1) as f64 * weight[cell];
                most[node as usize] = f64::max(most[node as usize], weight[cell]);
            }
            twice[cell] += 2.0 * weight[cell];
        }
        let sum: f64 = elements.iter().map(|&cell| weight[cell]).sum();
        for (name, plan, lanes) in [
            ("cpu:2", PlanChoice::Auto, Lanes::Never),
            ("cpu:3", PlanChoice::Strips, Lanes::Never),
            ("cpu:3", PlanChoice::Strips, Lanes::Always),
            ("cpu:1", PlanChoice::Strips, Lanes::Auto),
        ] {
            let context = Context::open(name).unwrap();
            let dat = |set: &Set, values: &[f64], name: &str| Dat::new(&set.data(1).unwrap(), values, name).unwrap();
            let w = dat(&cells, &weight, "w");
            let (added, greatest) = (dat(&nodes, &vec![0.0; n * n], "x"), dat(&nodes, &vec![0.0; n * n], "most"));
            let (doubled, total) = (dat(&cells, &vec![0.0; 2 * n * n], "twice"), Global::new(1, &[0.0], "sum").unwrap());
            let args = vec![
                w.arg(Access::Read, None),
                added.arg(Access::Inc, &corners),
                greatest.arg(Access::Max, &corners),
                doubled.arg(Access::Rw, None),
                total.arg(Access::Inc),
            ];
            let made = ParLoop::new(&kernel, &over, args, LoopOptions { plan, lanes, ..LoopOptions::default() }).unwrap();
            assert!(made.report(&context).unwrap().plans[0].name.starts_with("strips"), "{:?}", made.report(&context));
            let code = made.code(&context).unwrap();
            assert!(!code[0].contains("pl_masks") && code[0].contains("pl_list") == over.indices().is_some(), "{}", code[0]);
            made.run(&context).unwrap();
            let at = format!("{over:?} on {name} by {plan:?} {lanes:?}");
            assert_eq!(added.to_vec::<f64>().unwrap(), x, "{at}");
            assert_eq!(greatest.to_vec::<f64>().unwrap(), most, "{at}");
            assert_eq!(doubled.to_vec::<f64>().unwrap(), twice, "{at}");
            assert_eq!(total.to_vec::<f64>().unwrap(), [sum], "{at}");
        }
    }
}

#[test]
fn numbers_stay_right_while_ways_to_run_a_loop_are_tried() {
    // A ring without order, so that there are many ways; sums of whole numbers are exact in any of them.
    let n = 50_021;
    let number = |i: usize| (i % n * 20_011 % n) as i32;
    let (edges, nodes) = (Set::new(n, "edges").unwrap(), Set::new(n, "nodes").unwrap());
    let values: Vec<i32> = (0..n).flat_map(|i| [number(7 * i), number(7 * i + 1)]).collect();
    let ends = Map::new(&edges, &nodes, 2, &values, "ends").unwrap();
    let weight: Vec<f64> = (0..n).map(|i| 1.0 + (i % 13) as f64).collect();
    let mut once = vec![0.0; n];
    for (edge, w) in weight.iter().enumerate() {
        once[values[2 * edge] as usize] += w;
        once[values[2 * edge + 1] as usize] -= 2.0 * w;
    }
    let kernel = c("void add(const double *w, double *x[2]) { x[0][0] += w[0]; x[1][0] -= 2*w[0]; }", "add");
    for name in ["cpu:1", "cpu:3"] {
        let context = Context::open(name).unwrap();
        let w = Dat::new(&edges.data(1).unwrap(), &weight, "w").unwrap();
        let x = Dat::new(&nodes.data(1).unwrap(), &vec![0.0; n], "x").unwrap();
        let args = vec![w.arg(Access::Read, None), x.arg(Access::Inc, &ends)];
        let made = ParLoop::new(&kernel, &edges, args, LoopOptions::default()).unwrap();
        for round in 1..=400 {
            made.run(&context).unwrap();
            if round % 20 == 0 {
                let expected: Vec<f64> = once.iter().map(|x| x * f64::from(round)).collect();
                assert_eq!(x.to_vec::<f64>().unwrap(), expected, "round {round} on {name}");
            }
        }
    }
}

/// Runs `x += y` with ones in `y` often, while the host looks at `x`.
fn add_while_the_host_looks(context: &Context, replayed: bool) {
    let n = 20_000;
    let cells = Set::new(n, "cells").unwrap();
    let add = c("void add(double *x, const double *y) { x[0] += y[0]; }", "add");
    let [x, y] = ["x", "y"].map(|name| Dat::new(&cells.data(1).unwrap(), &vec![0.0; n], name).unwrap());
    let args = vec![x.arg(Access::Rw, None), y.arg(Access::Read, None)];
    let adding = ParLoop::new(&add, &cells, args, LoopOptions::default()).unwrap();
    let replay = replayed.then(|| {
        let recording = context.recording().unwrap();
        adding.run(context).unwrap();
        recording.finish().unwrap()
    });
    for round in 1..=50 {
        // It goes to the device after the loop has said that it writes `x`.
        y.write(&vec![1.0; n]).unwrap();
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    x.storage().host().unwrap();
                }
            });
            let result = match &replay {
                None => adding.run(context),
                Some(replay) => replay.run().map_err(MeshError::from),
            };
            is_done.store(true, Ordering::Relaxed);
            result.unwrap();
        });
        assert!(x.to_vec::<f64>().unwrap() == vec![round as f64; n], "round {round}, replayed: {replayed}, {context:?}");
    }
}

#[test]
fn what_the_host_looks_at_while_loops_run_is_not_taken_for_what_they_leave() {
    for context in contexts() {
        add_while_the_host_looks(&context, false);
        add_while_the_host_looks(&context, true);
    }
}

#[test]
fn threads_that_run_one_kernel_on_data_of_their_own_do_not_mix_their_sums() {
    let n = 20_000;
    let cells = Set::new(n, "cells").unwrap();
    let sum_up =
        c("void sum_up(const double *x, double *sum, double *most) { sum[0] += x[0]; if (x[0] > most[0]) most[0] = x[0]; }", "sum_up");
    for context in contexts() {
        thread::scope(|scope| {
            for number in 1..=4 {
                let (context, cells, sum_up) = (&context, &cells, &sum_up);
                scope.spawn(move || {
                    let value = f64::from(number);
                    let x = Dat::new(&cells.data(1).unwrap(), &vec![value; n], "x").unwrap();
                    let (sum, most) = (Global::new(1, &[0.0], "sum").unwrap(), Global::new(1, &[0.0], "most").unwrap());
                    let args = vec![x.arg(Access::Read, None), sum.arg(Access::Inc), most.arg(Access::Max)];
                    let made = ParLoop::new(sum_up, cells, args, LoopOptions::default()).unwrap();
                    let recording = context.recording().unwrap();
                    made.run(context).unwrap();
                    let replay = recording.finish().unwrap();
                    for round in 1..=100 {
                        made.run(context).unwrap();
                        replay.run().unwrap();
                        let expected = f64::from(2 * round) * value * n as f64;
                        assert_eq!(sum.to_vec::<f64>().unwrap(), [expected], "round {round} of {number}, {context:?}");
                        assert_eq!(most.to_vec::<f64>().unwrap(), [value], "round {round} of {number}, {context:?}");
                    }
                });
            }
        });
    }
}
