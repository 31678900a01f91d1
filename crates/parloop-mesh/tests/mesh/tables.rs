//! Tables that all elements read: large ones where they are, small ones as copies.

use parloop_kernel::{Context, DeviceKind};
use parloop_loop::create::{Data, KernelBuilder};
use parloop_mesh::{Access, Dat, Global, Kernel, Lanes, LoopOptions, Map, MeshError, ParLoop, PlanChoice, Set};

use crate::devices::everywhere;
use crate::kernels::kernel_of;

const N: usize = 3000;
const LARGE: usize = 100_000;

fn is_opencl(context: &Context) -> bool {
    context.device().kind() == DeviceKind::OpenCl
}

fn values(count: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 31) % 997) as f64).collect()
}

/// Where each element looks.
fn places(count: usize) -> Vec<i32> {
    (0..N).map(|i| (i * 7919 % count) as i32).collect()
}

/// What each element finds there.
fn found(count: usize) -> Vec<f64> {
    let values = values(count);
    places(count).iter().map(|&place| values[place as usize]).collect()
}

const LOOK_UP: &str = "
static double entry(const double *table, int place) { return table[place]; }
void look_up(const double *table, const int *place, double *x) { const double *t = table + 0; x[0] += entry(t, place[0]) + 1; }";

#[test]
fn a_large_table_is_read_where_it_is() {
    let cells = Set::new(N, "cells").unwrap();
    let kernel = kernel_of(LOOK_UP, "look_up").unwrap();
    let expected: Vec<f64> = found(LARGE).iter().map(|value| value + 1.0).collect();
    let tables = [Global::new(LARGE, &values(LARGE), "table").unwrap(), Global::constant([100, 1000], &values(LARGE), "table").unwrap()];
    let place = Dat::new(&cells.data(1).unwrap(), &places(LARGE), "place").unwrap();
    for context in everywhere(&[1, 2]).iter().filter(|context| !is_opencl(context)) {
        for (table, lanes) in tables.iter().zip([Lanes::Auto, Lanes::Never]).chain([(&tables[0], Lanes::Always)]) {
            if lanes == Lanes::Always && context.device().kind() != DeviceKind::Cpu {
                continue;
            }
            for checked in [false, true].into_iter().filter(|checked| !checked || lanes != Lanes::Always) {
                let x = Dat::new(&cells.data(1).unwrap(), &[0.0; N], "x").unwrap();
                let args = vec![table.arg(Access::Read), place.arg(Access::Read, None), x.arg(Access::Rw, None)];
                let options = LoopOptions { lanes, checked, ..LoopOptions::default() };
                let made = ParLoop::new(&kernel, &cells, args, options).unwrap();
                assert!(made.code(context).unwrap().iter().all(|code| !code.contains("pl_t0") && !code.contains("pl_p0")));
                made.run(context).unwrap();
                assert!(x.to_vec::<f64>().unwrap() == expected, "{context:?} {options:?}");
                assert!(table.to_vec::<f64>().unwrap() == values(LARGE) && table.storage().version() == 0);
            }
        }
    }
}

#[test]
fn a_table_that_is_read_where_it_is_cannot_be_passed_on_without_const() {
    let cells = Set::new(N, "cells").unwrap();
    let source = "void spoil(double *t) { t[0] = 1; }\nvoid k(const double *t, double *x) {\n  spoil(t);\n  x[0] = t[0];\n}";
    let table = Global::new(LARGE, &values(LARGE), "table").unwrap();
    let x = Dat::new(&cells.data(1).unwrap(), &[0.0; N], "x").unwrap();
    let args = vec![table.arg(Access::Read), x.arg(Access::Write, None)];
    let made = ParLoop::new(&kernel_of(source, "k").unwrap(), &cells, args, LoopOptions::default()).unwrap();
    for context in everywhere(&[1]).iter().filter(|context| !is_opencl(context)) {
        let message = made.run(context).unwrap_err().to_string();
        assert!(message.contains("spoil(t);") && ["<spoil>:3", "<spoil>(3)"].iter().any(|place| message.contains(place)), "{message}");
        assert!(table.to_vec::<f64>().unwrap() == values(LARGE));
    }
}

#[test]
fn a_large_table_serves_every_plan() {
    let (edges, nodes) = (Set::new(N, "edges").unwrap(), Set::new(N, "nodes").unwrap());
    let ends: Vec<i32> = (0..2 * N).map(|entry| (entry * 13 % N) as i32).collect();
    let map = Map::new(&edges, &nodes, 2, &ends, "ends").unwrap();
    let kernel =
        kernel_of("void add(const double *t, const int *place, double *x[2]) { x[0][0] += t[place[0]]; x[1][0] -= 1; }", "add").unwrap();
    let table = Global::constant(LARGE, &values(LARGE), "table").unwrap();
    let place = Dat::new(&edges.data(1).unwrap(), &places(LARGE), "place").unwrap();
    let mut expected = vec![0.0; N];
    for (pair, value) in ends.chunks(2).zip(found(LARGE)) {
        expected[pair[0] as usize] += value;
        expected[pair[1] as usize] -= 1.0;
    }
    for context in everywhere(&[1, 3]).iter().filter(|context| !is_opencl(context)) {
        for plan in PlanChoice::ALL {
            let x = Dat::new(&nodes.data(1).unwrap(), &[0.0; N], "x").unwrap();
            let args = vec![table.arg(Access::Read), place.arg(Access::Read, None), x.arg(Access::Inc, &map)];
            match ParLoop::new(&kernel, &edges, args, LoopOptions { plan, ..LoopOptions::default() }).unwrap().run(context) {
                Ok(()) => assert!(x.to_vec::<f64>().unwrap() == expected, "{context:?} {plan:?}"),
                Err(MeshError::Plan { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn a_loop_kernel_reads_a_large_table_where_it_is_on_every_device() {
    let cells = Set::new(N, "cells").unwrap();
    let program = KernelBuilder::new()
        .name("look_up")
        .instructions("x[0] = table[place[0] // 1000, place[0] % 1000]")
        .data(Data::global("table").dtype("float64").shape("100, 1000"))
        .data(Data::global("place").dtype("int32").shape("1"))
        .data(Data::global("x").dtype("float64").shape("1"))
        .build()
        .unwrap();
    let kernel = Kernel::from_program(program, "look_up").unwrap();
    let table = Global::constant([100, 1000], &values(LARGE), "table").unwrap();
    let place = Dat::new(&cells.data(1).unwrap(), &places(LARGE), "place").unwrap();
    let expected = found(LARGE);
    for context in everywhere(&[1, 2]) {
        for checked in [false, true] {
            let x = Dat::new(&cells.data(1).unwrap(), &[0.0; N], "x").unwrap();
            let args = vec![table.arg(Access::Read), place.arg(Access::Read, None), x.arg(Access::Write, None)];
            let made = ParLoop::new(&kernel, &cells, args, LoopOptions { checked, ..LoopOptions::default() }).unwrap();
            made.run(&context).unwrap_or_else(|error| panic!("{error}"));
            assert!(made.code(&context).unwrap().iter().all(|code| !code.contains("pl_t0")), "{context:?}");
            assert!(x.to_vec::<f64>().unwrap() == expected, "{context:?}");
        }
    }
}

#[test]
fn small_tables_and_those_that_a_kernel_may_change_are_copies() {
    let cells = Set::new(N, "cells").unwrap();
    let kernel = kernel_of("void add(double *t, double *x) { t[7] += 1; x[0] = t[7]; t[0] = 5; }", "add").unwrap();
    for context in everywhere(&[1, 2]) {
        for count in [8, 64, 65, 1000] {
            let table = Global::new(count, &values(count), "table").unwrap();
            let x = Dat::new(&cells.data(1).unwrap(), &[0.0; N], "x").unwrap();
            let args = vec![table.arg(Access::Read), x.arg(Access::Write, None)];
            ParLoop::new(&kernel, &cells, args, LoopOptions::default()).unwrap().run(&context).unwrap();
            assert!(x.to_vec::<f64>().unwrap() == vec![values(8)[7] + 1.0; N], "{context:?} {count}");
            assert!(table.to_vec::<f64>().unwrap() == values(count), "{context:?} {count}");
        }
        let (table, place) =
            (Global::new(1000, &values(1000), "table").unwrap(), Dat::new(&cells.data(1).unwrap(), &places(1000), "place"));
        let x = Dat::new(&cells.data(1).unwrap(), &[0.0; N], "x").unwrap();
        let args = vec![table.arg(Access::Read), place.unwrap().arg(Access::Read, None), x.arg(Access::Rw, None)];
        ParLoop::new(&kernel_of(LOOK_UP, "look_up").unwrap(), &cells, args, LoopOptions::default()).unwrap().run(&context).unwrap();
        let expected: Vec<f64> = found(1000).iter().map(|value| value + 1.0).collect();
        assert!(x.to_vec::<f64>().unwrap() == expected, "{context:?}");
    }
}

#[test]
fn a_table_that_is_too_large_for_copies_says_what_to_do() {
    let cells = Set::new(N, "cells").unwrap();
    let table = Global::new(LARGE, &values(LARGE), "table").unwrap();
    let x = Dat::new(&cells.data(1).unwrap(), &[0.0; N], "x").unwrap();
    let args = vec![table.arg(Access::Read), x.arg(Access::Write, None)];
    let of = |parameter: &str| kernel_of(&format!("void k({parameter}, double *x) {{ x[0] = t[3]; }}"), "k").unwrap();
    let start = "kernel `k` needs 800008 bytes per element, but the limit is 524288;";
    let refused = ParLoop::new(&of("double *t"), &cells, args.clone(), LoopOptions::default()).unwrap_err().to_string();
    assert_eq!(refused, format!("{start} declare argument 0 (`table`) const, so that it is read in place"));
    for context in everywhere(&[]).iter().filter(|context| is_opencl(context)) {
        let made = ParLoop::new(&of("double const t[]"), &cells, args.clone(), LoopOptions::default()).unwrap();
        let advice = "on OpenCL, kernels in C get copies of all data: use another device or a loop kernel, or pass less of `table`";
        assert_eq!(made.run(context).unwrap_err().to_string(), format!("{start} {advice}"));
    }
}
