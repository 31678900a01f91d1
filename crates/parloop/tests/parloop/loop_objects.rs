//! Typed objects as arguments of loop kernels, on every device that is here.

use parloop::loops::{Program as LoopProgram, class_type};
use parloop::prelude::*;

#[derive(Object, Clone, Debug, PartialEq)]
struct Beam {
    charge: f64,
    x: Vec<f64>,
    px: Vec<f64>,
    name: String,
}

#[derive(Object)]
struct Other {
    x: Vec<f64>,
}

#[derive(Object)]
struct Cell {
    weight: f32,
    at: [f64; 2],
}

#[derive(Object)]
struct Grid {
    cells: Vec<Cell>,
}

fn contexts() -> Vec<Context> {
    let devices = Device::list();
    if std::env::var("CI").is_ok_and(|ci| ci == "true") {
        assert!(devices.iter().any(|device| device.kind() == DeviceKind::OpenCl), "CI needs an OpenCL device (PoCL)");
    }
    devices.iter().map(|device| Context::on(device.default_stream().unwrap())).collect()
}

fn drift() -> LoopProgram {
    KernelBuilder::new()
        .name("drift")
        .domain("{[i]: 0<=i<n}")
        .instructions("beam.x[i] = beam.x[i] + l*beam.px[i]*beam.charge")
        .data(Data::object("beam").dtype(class_type(&Beam::object_type()).unwrap()))
        .data(Data::value("l").dtype("float64"))
        .rest()
        .build()
        .unwrap()
        .split_iname("i", Split::by(16).outer(InameTag::Group(0)).inner(InameTag::Local(0)))
        .unwrap()
}

fn beam(count: usize) -> Beam {
    let x = (0..count).map(|i| i as f64).collect();
    Beam { charge: 2.0, x, px: vec![0.5; count], name: "probe".into() }
}

#[test]
fn fields_are_read_and_written_in_place_on_every_device() {
    for ctx in contexts() {
        let drift = drift().compile(&ctx).unwrap();
        for count in [0, 1, 16, 37] {
            let mut placed = ctx.place(&beam(count)).unwrap();
            drift.call(loop_args! { beam: LoopArg::object(&mut placed), l: 3.0 }).unwrap();
            let moved = Beam { x: (0..count).map(|i| i as f64 + 3.0).collect(), ..beam(count) };
            assert_eq!(placed.get().unwrap(), moved);
        }
    }
}

#[test]
fn items_of_arrays_of_structs_are_reached_by_all_indices_at_the_end() {
    let program = KernelBuilder::new()
        .name("move")
        .domain("{[i,j]: 0<=i<n and 0<=j<2}")
        .instructions("g.cells.at[i,j] = g.cells.at[i,j] + g.cells.weight[i]")
        .data(Data::object("g").dtype(class_type(&Grid::object_type()).unwrap()))
        .rest()
        .build()
        .unwrap();
    for ctx in contexts() {
        let cells = (0..5).map(|i| Cell { weight: i as f32, at: [1.0, 2.0] }).collect();
        let mut grid = ctx.place(&Grid { cells }).unwrap();
        program.compile(&ctx).unwrap().call(loop_args! { g: LoopArg::object(&mut grid) }).unwrap();
        let at: Vec<[f64; 2]> = grid.get().unwrap().cells.iter().map(|cell| cell.at).collect();
        assert_eq!(at, [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 5.0], [5.0, 6.0]]);
    }
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_runs() {
    let ctx = Context::open("cpu").unwrap();
    let drift = drift().compile(&ctx).unwrap();
    let mut placed = ctx.place(&beam(4)).unwrap();
    let other = ctx.place(&Other { x: vec![1.0] }).unwrap();
    let message = |result: Result<(), LoopError>| result.unwrap_err().to_string();
    assert_eq!(
        message(drift.call(loop_args! { beam: LoopArg::object(&other), l: 1.0 })),
        "kernel `drift`: argument `beam` must be an object of class `Beam`, but an object of class `Other` was passed"
    );
    assert_eq!(
        message(drift.call(loop_args! { beam: LoopArg::object(&mut placed), l: 1.0, n: 5 })),
        "kernel `drift`: field `x` of argument `beam` has 4 elements along axis 0, but 5 are needed; pass a longer object, or bound the loops"
    );
    assert_eq!(
        message(drift.call(loop_args! { beam: 3.0, l: 1.0, n: 5 })),
        "kernel `drift`: argument `beam` must be an object of class Beam"
    );
    assert_eq!(
        message(drift.call(loop_args! { l: 1.0, n: 4 })),
        "kernel `drift`: argument `beam` is missing, and cannot be inferred from the arrays that were passed"
    );
    let unwritable = message(drift.call(loop_args! { beam: LoopArg::object(&placed), l: 1.0 }));
    assert!(unwritable.contains("beam"), "{unwritable}");
    assert_eq!(placed.get().unwrap(), beam(4));
}
