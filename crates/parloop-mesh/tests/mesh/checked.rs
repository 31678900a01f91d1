//! Checked mode: what a kernel leaves unwritten, and indices outside of arrays.

use parloop_device::Element;
use parloop_kernel::Context;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_mesh::{Access, Arg, Dat, Kernel, Lanes, LoopOptions, Map, MeshError, ParLoop, PlanChoice, Region, Set};

use crate::devices::everywhere;
use crate::kernels::kernel_of;

const CHECKED: LoopOptions =
    LoopOptions { plan: PlanChoice::Auto, deterministic: false, checked: true, lanes: Lanes::Auto, region: Region::All, pass_layer: false };

fn contexts() -> Vec<Context> {
    everywhere(&[1, 2])
}

fn c(source: &str, name: &str) -> Kernel {
    kernel_of(source, name).unwrap_or_else(|error| panic!("{error}"))
}

fn message(kernel: &Kernel, set: &Set, args: Vec<Arg>, context: &Context) -> String {
    ParLoop::new(kernel, set, args, CHECKED).unwrap().run(context).unwrap_err().to_string()
}

#[test]
fn an_entry_of_a_direct_argument_that_is_left_unwritten_is_named() {
    let cells = Set::new(40, "cells").unwrap();
    let some = c("void some(const int *n, double *x) { x[0] = 0; x[2] = 1; if (n[0] != 33) x[1] = n[0]; }", "some");
    for context in contexts() {
        let n = Dat::new(&cells.data(1).unwrap(), &(0..40).collect::<Vec<i32>>(), "n").unwrap();
        let x = Dat::new(&cells.data(3).unwrap(), &[7.0; 120], "x").unwrap();
        let args = vec![n.arg(Access::Read, None), x.arg(Access::Write, None)];
        assert_eq!(
            message(&some, &cells, args.clone(), &context),
            "kernel `some` leaves entry [1] of argument 1 (`x`) unwritten for element 33; write every entry of what is passed with WRITE, or pass it with RW",
        );
        // Without checks the number is what it was.
        x.write(&[7.0; 120]).unwrap();
        ParLoop::new(&some, &cells, args, LoopOptions::default()).unwrap().run(&context).unwrap();
        assert_eq!(x.to_vec::<f64>().unwrap()[99..102], [0.0, 7.0, 1.0], "{context:?}");
    }
}

#[test]
fn an_entry_of_an_argument_through_a_map_that_is_left_unwritten_is_named() {
    let (cells, nodes) = (Set::new(3, "cells").unwrap(), Set::new(6, "nodes").unwrap());
    let ends = Map::new(&cells, &nodes, 2, &[0, 1, 2, 3, 4, 5], "ends").unwrap();
    let kernel = c("void ends(const int *n, int **x) { x[0][0] = x[0][1] = x[1][0] = 3; if (n[0] < 2) x[1][1] = 1; }", "ends");
    for context in contexts() {
        for plan in [PlanChoice::Auto, PlanChoice::Sequential, PlanChoice::Owner, PlanChoice::Colour, PlanChoice::Gather] {
            let n = Dat::new(&cells.data(1).unwrap(), &[0, 1, 2], "n").unwrap();
            let x = Dat::new(&nodes.data(2).unwrap(), &[0; 12], "x").unwrap();
            let args = vec![n.arg(Access::Read, None), x.arg(Access::Write, Some(&ends))];
            let error = ParLoop::new(&kernel, &cells, args, LoopOptions { plan, ..CHECKED }).unwrap().run(&context).unwrap_err();
            match error {
                MeshError::Plan { .. } => {}
                MeshError::Unwritten { kernel, index, name, element, entry } => {
                    assert_eq!(
                        (&*kernel, index, &*name, element, &entry[..]),
                        ("ends", 1, "x", "2".to_owned(), &[1, 1][..]),
                        "{context:?}"
                    );
                }
                error => panic!("{error}"),
            }
        }
    }
}

/// Writes each of the values that mark unwritten numbers, and is not taken for one that writes nothing.
fn every_value_counts_as_written<T: Element>(ty: &str, values: &[T], context: &Context) {
    let cells = Set::new(values.len(), "cells").unwrap();
    let copy = c(&format!("void copy(const {ty} *x, {ty} *y) {{ y[0] = x[0]; }}"), "copy");
    let x = Dat::new(&cells.data(1).unwrap(), values, "x").unwrap();
    let y = Dat::zeros(&cells.data(1).unwrap(), T::DTYPE, "y").unwrap();
    let args = vec![x.arg(Access::Read, None), y.arg(Access::Write, None)];
    ParLoop::new(&copy, &cells, args.clone(), CHECKED).unwrap().run(context).unwrap_or_else(|error| panic!("{ty}: {error}"));
    let nothing = c(&format!("void nothing(const {ty} *x, {ty} *y) {{ }}"), "nothing");
    let error = ParLoop::new(&nothing, &cells, args, CHECKED).unwrap().run(context).unwrap_err();
    assert!(matches!(error, MeshError::Unwritten { .. }), "{ty}: {error}");
}

#[test]
fn no_value_is_taken_for_one_that_was_not_written() {
    for context in contexts() {
        every_value_counts_as_written("double", &[0.0, 1.0, f64::NAN, -0.0], &context);
        every_value_counts_as_written("float", &[0.0f32, 1.0, f32::INFINITY], &context);
        every_value_counts_as_written("uint8_t", &(0..=255).collect::<Vec<u8>>(), &context);
        every_value_counts_as_written("int64_t", &[0i64, 1, -1], &context);
    }
}

#[test]
fn checked_loops_give_the_same_numbers() {
    let (edges, nodes) = (Set::new(500, "edges").unwrap(), Set::new(40, "nodes").unwrap());
    let table: Vec<i32> = (0..1000).map(|entry| entry * 7 % 40).collect();
    let ends = Map::new(&edges, &nodes, 2, &table, "ends").unwrap();
    let kernel = c("void k(double *w, int *x) { w[0] = 2; x[0] += 1; x[1] += 2; }", "k");
    let mut expected = vec![0; 40];
    table.iter().enumerate().for_each(|(entry, &node)| expected[node as usize] += 1 + entry as i32 % 2);
    for context in contexts() {
        let w = Dat::zeros(&edges.data(1).unwrap(), parloop_device::DType::F64, "w").unwrap();
        let x = Dat::new(&nodes.data(1).unwrap(), &[0; 40], "x").unwrap();
        let args = vec![w.arg(Access::Write, None), x.arg(Access::Inc, Some(&ends))];
        ParLoop::new(&kernel, &edges, args, CHECKED).unwrap().run(&context).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(x.to_vec::<i32>().unwrap(), expected, "{context:?}");
        assert_eq!(w.to_vec::<f64>().unwrap(), [2.0; 500], "{context:?}");
    }
}

#[test]
fn an_index_of_a_loop_kernel_outside_of_its_array_is_an_error() {
    let cells = Set::new(10, "cells").unwrap();
    let program = KernelBuilder::new()
        .name("pick")
        .instructions("y[0] = x[n[0]]")
        .data(Data::global("y").dtype("float64").shape("1"))
        .data(Data::global("x").dtype("float64").shape("3"))
        .data(Data::global("n").dtype("int32").shape("1"))
        .build()
        .unwrap();
    let pick = Kernel::from_program(program, "pick").unwrap();
    for context in contexts() {
        let y = Dat::new(&cells.data(1).unwrap(), &[0.0; 10], "y").unwrap();
        let x = Dat::new(&cells.data(3).unwrap(), &[0.0; 30], "x").unwrap();
        let n = Dat::new(&cells.data(1).unwrap(), &[0, 1, 2, 0, 1, 2, 0, 5, 2, 1], "n").unwrap();
        let args = vec![y.arg(Access::Write, None), x.arg(Access::Read, None), n.arg(Access::Read, None)];
        assert_eq!(message(&pick, &cells, args, &context), "kernel `loop_pick`: index 5 is outside 0..3 of x[n[0]], axis 0");
    }
}

#[test]
#[ignore = "tells what its environment says"]
fn what_the_environment_says() {
    println!("CHECKED {}", LoopOptions::default().checked);
}

#[test]
fn the_environment_turns_checks_on() {
    for (value, told) in [(None, "CHECKED false"), (Some("0"), "CHECKED false"), (Some(""), "CHECKED false"), (Some("1"), "CHECKED true")] {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "checked::what_the_environment_says", "--ignored", "--nocapture"]).env_remove("PARLOOP_CHECKED");
        command.envs(value.map(|value| ("PARLOOP_CHECKED", value)));
        let output = command.output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains(told), "{value:?}: {output:?}");
    }
}

#[test]
fn an_integer_divided_by_zero_in_a_kernel_in_c_is_reported_on_a_cpu() {
    let cells = Set::new(40, "cells").unwrap();
    let kernel = c("void part(const int *n, int *x) {\n    int m = n[0] - 33;\n    x[0] = 1000 / m;\n}", "part");
    for threads in ["cpu:1", "cpu:2"] {
        let context = Context::open(threads).unwrap();
        let n = Dat::new(&cells.data(1).unwrap(), &(0..40).collect::<Vec<i32>>(), "n").unwrap();
        let x = Dat::new(&cells.data(1).unwrap(), &[7; 40], "x").unwrap();
        let error = message(&kernel, &cells, vec![n.arg(Access::Read, None), x.arg(Access::Write, None)], &context);
        assert!(error.contains("integer division by zero in line 3 of"), "{error}");
    }
}
