//! Every error of sets, maps, data and loops, word for word.

use parloop_device::{DType, Device};
use parloop_kernel::Context;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_mesh::{
    Access, Arg, ArgData, Dat, Global, Kernel, Lanes, LoopOptions, Map, MeshError, ParLoop, Part, PlanChoice, Set, Sizes, Storage,
};

use crate::kernels::kernel_of;

fn message<T: std::fmt::Debug>(result: Result<T, MeshError>) -> String {
    result.unwrap_err().to_string()
}

fn c(source: &str, name: &str) -> Kernel {
    kernel_of(source, name).unwrap_or_else(|error| panic!("{error}"))
}

/// Two cells of three nodes each, with data of one and two numbers.
struct Mesh {
    cells: Set,
    nodes: Set,
    corners: Map,
    area: Dat,
    at: Dat,
    factor: Global,
}

fn mesh() -> Mesh {
    let (cells, nodes) = (Set::new(2, "cells").unwrap(), Set::new(4, "nodes").unwrap());
    let corners = Map::new(&cells, &nodes, 3, &[0, 1, 2, 1, 2, 3], "corners").unwrap();
    let area = Dat::new(&cells.data(1).unwrap(), &[1.0, 2.0], "area").unwrap();
    let at = Dat::new(&nodes.data(2).unwrap(), &[0.0; 8], "at").unwrap();
    let factor = Global::new(1, &[2.0], "factor").unwrap();
    Mesh { cells, nodes, corners, area, at, factor }
}

fn refused(kernel: &Kernel, set: &Set, args: Vec<Arg>) -> String {
    message(ParLoop::new(kernel, set, args, LoopOptions::default()))
}

/// What is said of a kernel with one parameter, for one argument.
fn misfit(parameter: &str, mesh: &Mesh, arg: Arg) -> String {
    refused(&c(&format!("void k({parameter}) {{ }}"), "k"), &mesh.cells, vec![arg])
}

#[test]
fn sizes_of_sets_and_data_that_make_no_sense_are_refused() {
    let sizes = Sizes { core: 3, owned: 2, total: 5 };
    assert_eq!(message(Set::with_sizes(sizes, "cells")), "set `cells`: sizes must grow from core (3) to owned (2) to total (5)");
    assert_eq!(message(Set::new(1 << 31, "cells")), "set `cells` cannot have 2147483648 elements; a set has at most 2147483647");
    let cells = Set::new(2, "cells").unwrap();
    assert_eq!(message(cells.data([])), "`cells` has dimension []; every axis must have at least one entry");
    assert_eq!(
        message(cells.data([usize::MAX, 3])),
        "`cells` has dimension [18446744073709551615, 3]; at most 2147483647 numbers are allowed"
    );
    assert_eq!(message(Global::new(0, &[0.0; 0], "sum")), "`sum` has dimension [0]; every axis must have at least one entry");
    assert_eq!(
        message(Global::new([1 << 40, 1 << 40], &[0.0], "sum")),
        "`sum` has dimension [1099511627776, 1099511627776]; at most 2147483647 numbers are allowed"
    );
    let some = cells.subset(&[1]).unwrap();
    assert_eq!(message(some.data(1)), "data cannot be put on a subset of `cells`; put it on `cells` and loop over the subset");
    assert_eq!(message(Storage::zeros(DType::F64, usize::MAX, 3)), "18446744073709551615 × 3 numbers do not fit into memory");
}

#[test]
fn numbers_of_another_count_or_type_are_refused() {
    let Mesh { cells, area, factor, .. } = mesh();
    assert_eq!(message(Dat::new(&cells.data(2).unwrap(), &[0.0; 3], "x")), "4 numbers are needed, but 3 were given");
    assert_eq!(message(Global::new(2, &[0.0; 3], "x")), "2 numbers are needed, but 3 were given");
    assert_eq!(message(area.write(&[0.0; 3])), "2 numbers are needed, but 3 were given");
    assert_eq!(message(area.write(&[0i32; 2])), "numbers of type int32 were requested, but the data has type float64");
    assert_eq!(message(factor.to_vec::<f32>()), "numbers of type float32 were requested, but the data has type float64");
    let storage = Storage::zeros(DType::F64, 1, 2).unwrap();
    assert_eq!(message(Dat::around(&cells.data(2).unwrap(), storage, "x")), "4 numbers are needed, but 2 were given");
}

#[test]
fn subsets_and_maps_that_lead_outside_are_refused() {
    let Mesh { cells, nodes, .. } = mesh();
    assert_eq!(message(cells.subset(&[0, 2])), "index 2 is out of bounds for set `cells` with 2 elements");
    assert_eq!(message(cells.subset(&[-1])), "index -1 is out of bounds for set `cells` with 2 elements");
    let some = nodes.subset(&[3]).unwrap();
    assert_eq!(message(some.subset(&[1])), "index 1 is out of bounds for set `nodes_subset` with 1 elements");
    assert_eq!(message(cells.union(&some)), "subsets of `cells` and of `nodes` cannot be combined; both must be subsets of one set");
    assert_eq!(message(Map::new(&cells, &nodes, 0, &[], "none")), "map `none` has arity 0; the arity must be at least 1");
    assert_eq!(message(Map::new(&cells, &some, 1, &[0, 0], "m")), "map `m` cannot start or end at a subset of `nodes`; use `nodes`");
    assert_eq!(message(Map::new(&cells, &nodes, 2, &[0, 1, 2], "m")), "map `m` needs 2 × 2 values, but 3 were given");
    assert_eq!(message(Map::new(&cells, &nodes, 2, &[0, 1, 2, 4], "m")), "map `m`: entry [1, 1] is 4, but set `nodes` has 4 elements");
    assert_eq!(message(Map::new(&cells, &nodes, 2, &[0, -1, 2, 3], "m")), "map `m`: entry [0, 1] is -1, but set `nodes` has 4 elements");
}

#[test]
fn accesses_that_data_does_not_have_are_refused() {
    let mesh = mesh();
    let kernel = c("void k(double *x) { }", "k");
    for access in [Access::Write, Access::Rw] {
        assert_eq!(
            refused(&kernel, &mesh.cells, vec![mesh.factor.arg(access)]),
            format!("argument 0 (`factor`): {access} is not allowed for a global, only READ, INC, MIN, MAX")
        );
    }
    let gravity = Global::constant(1, &[9.81], "gravity").unwrap();
    assert_eq!(
        refused(&kernel, &mesh.cells, vec![gravity.arg(Access::Inc)]),
        "argument 0 (`gravity`): INC is not allowed for a constant, only READ"
    );
    let with_map = Arg::from(Part::new(ArgData::Global(mesh.factor.clone()), Access::Read, Some(mesh.corners.clone())));
    assert_eq!(refused(&kernel, &mesh.cells, vec![with_map]), "argument 0 (`factor`): a global has no map; omit `corners`");
    assert_eq!(
        refused(&kernel, &mesh.cells, vec![Arg::component(&mesh.at, 2, Access::Read, Some(&mesh.corners))]),
        "argument 0 (`at`): component 2 does not exist; an element has 2 numbers"
    );
}

#[test]
fn data_and_maps_of_other_sets_are_refused() {
    let mesh = mesh();
    let kernel = c("void k(double *x) { }", "k");
    assert_eq!(
        refused(&kernel, &mesh.cells, vec![mesh.at.arg(Access::Read, None)]),
        "argument 0 (`at`): the data is on set `nodes`, but the loop is over `cells`"
    );
    assert_eq!(
        refused(&kernel, &mesh.nodes, vec![mesh.at.arg(Access::Read, Some(&mesh.corners))]),
        "argument 0 (`at`): the map `corners` starts at set `cells`, but the loop is over `nodes`"
    );
    assert_eq!(
        refused(&kernel, &mesh.cells, vec![mesh.area.arg(Access::Read, Some(&mesh.corners))]),
        "argument 0 (`area`): the data is on set `cells`, but the map `corners` leads to `nodes`"
    );
}

#[test]
fn data_that_is_read_and_written_by_different_elements_is_refused() {
    let mesh = mesh();
    let kernel = c("void k(double *x, double *y) { }", "k");
    let (at, corners) = (&mesh.at, Some(&mesh.corners));
    let conflict = |first: Access, second: Access| {
        format!(
            "`at` is argument 0 with {first} and argument 1 with {second}: one element may read what another has written; copy it first, or use one argument"
        )
    };
    for (first, second) in [
        (Access::Inc, Access::Read),
        (Access::Read, Access::Write),
        (Access::Rw, Access::Rw),
        (Access::Inc, Access::Min),
        (Access::Write, Access::Write),
    ] {
        assert_eq!(refused(&kernel, &mesh.cells, vec![at.arg(first, corners), at.arg(second, corners)]), conflict(first, second));
    }
    // Directly and through a map: the plan keeps apart only what goes through maps.
    let own = Map::new(&mesh.nodes, &mesh.nodes, 1, &[1, 2, 3, 0], "next").unwrap();
    assert_eq!(
        refused(&kernel, &mesh.nodes, vec![at.arg(Access::Inc, None), at.arg(Access::Inc, Some(&own))]),
        conflict(Access::Inc, Access::Inc)
    );
    assert_eq!(
        refused(&kernel, &mesh.cells, vec![mesh.factor.arg(Access::Read), mesh.factor.arg(Access::Inc)]),
        conflict(Access::Read, Access::Inc).replace("`at`", "`factor`")
    );
    assert_eq!(
        refused(&kernel, &mesh.cells, vec![at.arg(Access::Inc, corners), Arg::component(at, 1, Access::Read, corners)]),
        conflict(Access::Inc, Access::Read)
    );
}

#[test]
fn data_in_common_memory_of_which_some_is_written_is_refused() {
    let Mesh { cells, nodes, corners, .. } = mesh();
    let memory = Device::open("cpu").unwrap().allocate_zeroed(12 * 8).unwrap();
    let storage = |first: usize, rows: usize, count: usize| {
        let part = memory.slice(8 * first, 8 * rows * count).unwrap();
        Storage::shared(DType::F64, rows, count, part, Box::new(())).unwrap()
    };
    let on_nodes = |first: usize, name: &str| Dat::around(&nodes.data(1).unwrap(), storage(first, 4, 1), name).unwrap();
    let on_cells = |first: usize, name: &str| Dat::around(&cells.data(1).unwrap(), storage(first, 2, 1), name).unwrap();
    let global = |first: usize, name: &str| Global::around(2, storage(first, 1, 2), name, false).unwrap();
    let kernel = c("void k(double *x, double *y) { }", "k");
    let shared = |first: Access, second: Access| {
        format!(
            "`a`, argument 0 with {first}, and `b`, argument 1 with {second}, share memory: one element may read what another has written; pass the same data for both, or copy one of them"
        )
    };
    let (a, inc, read, write, map) = (on_nodes(2, "a"), Access::Inc, Access::Read, Access::Write, Some(&corners));
    // The first or last of the bytes.
    for first in [0, 1, 4, 5] {
        let b = on_nodes(first, "b");
        assert_eq!(refused(&kernel, &cells, vec![a.arg(write, map), b.arg(read, map)]), shared(write, read));
        assert_eq!(refused(&kernel, &cells, vec![a.arg(read, map), b.arg(inc, map)]), shared(read, inc));
        assert_eq!(refused(&kernel, &cells, vec![a.arg(inc, map), b.arg(inc, map)]), shared(inc, inc));
        assert_eq!(refused(&kernel, &nodes, vec![a.arg(write, None), b.arg(read, None)]), shared(write, read));
    }
    // The same bytes are the same data.
    let b = on_nodes(2, "b");
    assert!(a.storage().is_same(b.storage()));
    let conflict = "`b` is argument 0 with WRITE and argument 1 with READ: one element may read what another has written; copy it first, or use one argument";
    assert_eq!(refused(&kernel, &cells, vec![a.arg(write, map), b.arg(read, map)]), conflict);
    assert_eq!(refused(&kernel, &cells, vec![a.arg(inc, map), on_cells(5, "b").arg(read, None)]), shared(inc, read));
    assert_eq!(refused(&kernel, &cells, vec![a.arg(read, map), on_cells(1, "b").arg(write, None)]), shared(read, write));
    assert_eq!(refused(&kernel, &cells, vec![a.arg(inc, map), global(3, "b").arg(read)]), shared(inc, read));
    assert_eq!(refused(&kernel, &cells, vec![a.arg(read, map), global(5, "b").arg(inc)]), shared(read, inc));
    assert_eq!(refused(&kernel, &cells, vec![global(0, "a").arg(read), global(1, "b").arg(inc)]), shared(read, inc));
    // Memory side by side, and memory that nobody writes.
    let fits = |args: Vec<Arg>| ParLoop::new(&kernel, &cells, args, LoopOptions::default()).unwrap();
    fits(vec![a.arg(write, map), on_nodes(6, "b").arg(read, map)]);
    fits(vec![a.arg(write, map), on_cells(0, "b").arg(read, None)]);
    fits(vec![a.arg(write, map), global(6, "b").arg(inc)]);
    fits(vec![a.arg(read, map), on_nodes(2, "b").arg(read, map)]);
}

#[test]
fn parameters_that_do_not_take_an_argument_show_both_sides() {
    let mesh = mesh();
    let (area, at) = (mesh.area.arg(Access::Read, None), mesh.at.arg(Access::Read, Some(&mesh.corners)));
    assert_eq!(
        refused(&c("void k(double *x, double *y) { }", "k"), &mesh.cells, vec![area.clone()]),
        "kernel `k` takes 2 arguments, but 1 were given"
    );
    assert_eq!(
        misfit("float x", &mesh, area.clone()),
        "argument 0 (`x`) of kernel `k` is declared `float x`, but Dat `area` of float64 with READ was given; both must have the same element type"
    );
    assert_eq!(
        misfit("float *x", &mesh, area.clone()),
        "argument 0 (`x`) of kernel `k` is declared `float * x`, but Dat `area` of float64 with READ was given; both must have the same element type"
    );
    assert_eq!(
        misfit("void *x", &mesh, area.clone()),
        "argument 0 (`x`) of kernel `k` is declared `void * x`, but Dat `area` of float64 with READ was given; declare a pointer to the element type of the data"
    );
    assert_eq!(
        misfit("double **x", &mesh, area.clone()),
        "argument 0 (`x`) of kernel `k` is declared `double ** x`, but Dat `area` of float64 with READ was given; only an argument through a map has pointers to rows; declare one pointer"
    );
    assert_eq!(
        misfit("double (*x)[2]", &mesh, area),
        "argument 0 (`x`) of kernel `k` is declared `double (*x)[2]`, but Dat `area` of float64 with READ was given; only an argument through a map has rows; declare one pointer"
    );
    assert_eq!(
        misfit("double x[3][3]", &mesh, at.clone()),
        "argument 0 (`x`) of kernel `k` is declared `double (*x)[3]`, but Dat `at` of float64 with READ through map `corners` was given; the row length must be the number of values per element"
    );
    assert_eq!(
        misfit("int **x", &mesh, at),
        "argument 0 (`x`) of kernel `k` is declared `int32_t ** x`, but Dat `at` of float64 with READ through map `corners` was given; both must have the same element type"
    );
    assert_eq!(
        misfit("const double *x", &mesh, mesh.area.arg(Access::Write, None)),
        "argument 0 (`x`) of kernel `k` is declared `const double * x`, but Dat `area` of float64 with WRITE was given; remove `const`, or pass it with READ"
    );
    assert_eq!(
        misfit("const double **x", &mesh, Arg::component(&mesh.at, 0, Access::Inc, Some(&mesh.corners))),
        "argument 0 (`x`) of kernel `k` is declared `const double ** x`, but component 0 of Dat `at` of float64 with INC through map `corners` was given; remove `const`, or pass it with READ"
    );
    assert_eq!(
        misfit("const double *x", &mesh, mesh.factor.arg(Access::Max)),
        "argument 0 (`x`) of kernel `k` is declared `const double * x`, but Global `factor` of float64 with MAX was given; remove `const`, or pass it with READ"
    );
}

fn loop_kernel(instructions: &str, data: &[Data]) -> Kernel {
    let builder = KernelBuilder::new().name("k").domain("{[i]: 0<=i<2}").instructions(instructions.to_owned());
    let program = data.iter().cloned().fold(builder, KernelBuilder::data).build().unwrap_or_else(|error| panic!("{error}"));
    Kernel::from_program(program, "k").unwrap()
}

#[test]
fn arrays_of_loop_kernels_that_do_not_take_an_argument_show_both_sides() {
    let mesh = mesh();
    let array = |shape: &str| Data::global("x").dtype("float64").shape(shape.to_owned());
    let at = mesh.at.arg(Access::Read, Some(&mesh.corners));
    let of = |instructions: &str, data: Data, arg: &Arg| refused(&loop_kernel(instructions, &[data]), &mesh.cells, vec![arg.clone()]);
    assert_eq!(
        of("<> y = x[i, 0] {inames=i}", array("2, 2"), &at),
        "argument 0 (`x`) of kernel `k` is declared `x: global float64[2, 2]`, but Dat `at` of float64 with READ through map `corners` was given; its axes must be those of the map and the data, or one axis for all numbers"
    );
    for turned in ["2, 3", "3, 2, 2"] {
        let error = of("<> y = 1 {inames=i}", array(turned), &at);
        assert!(error.ends_with("its axes must be those of the map and the data, or one axis for all numbers"), "{turned}: {error}");
    }
    assert_eq!(
        of("<> y = x[i, 0] {inames=i}", array("3, 2").dtype("int32"), &at),
        "argument 0 (`x`) of kernel `k` is declared `x: global int32[3, 2]`, but Dat `at` of float64 with READ through map `corners` was given; both must have the same element type"
    );
    assert_eq!(
        of("x[i] = 0 {inames=i}", array("6"), &at),
        "argument 0 (`x`) of kernel `k` is declared `x: global float64[6]`, but Dat `at` of float64 with READ through map `corners` was given; the kernel writes it; pass it with an access that writes"
    );
    assert_eq!(
        of("<> y = n + i {inames=i}", Data::value("n").dtype("int32"), &mesh.factor.arg(Access::Read)),
        "argument 0 (`n`) of kernel `k` is declared `n: value int32`, but Global `factor` of float64 with READ was given; both must have the same element type"
    );
    assert_eq!(refused(&loop_kernel("x[i] = 0", &[array("6")]), &mesh.cells, vec![]), "kernel `k` takes 1 arguments, but 0 were given");
}

#[test]
fn kernels_that_are_not_there_or_return_something_are_refused() {
    assert_eq!(
        message(kernel_of("double half(double *x) { return x[0] / 2; }", "half")),
        "kernel `half` returns double, but the kernel of a loop must return void; write results through its parameters"
    );
    assert_eq!(message(kernel_of("void one(double *x) { }", "two")), "the source has no function `two`; it has one");
    let program = KernelBuilder::new().name("one").domain("{[i]: 0<=i<2}").instructions("x[i] = 1.0").build().unwrap();
    assert_eq!(message(Kernel::from_program(program, "two")), "the program has no loop kernel `two`; it has one");
    assert_eq!(message(kernel_of("static int n = 3;", "k")), "the source has no function `k`; it has none");
}

#[test]
fn mistakes_in_a_kernel_are_shown_at_the_lines_of_its_source() {
    let mesh = mesh();
    let unknown = "#define HALF 0.5\nstatic double halved(double x) { return HALF * x; }\nvoid k(double *x) {\n    x[0] = halved(y);\n}\n";
    let unclosed = "void k(double *x) {\n    x[0] = (1.0 + 2.0;\n}\n";
    for context in ["cpu", "opencl"].iter().filter_map(|name| Context::open(name).ok()) {
        for (source, place, line) in [(unknown, "<halved>:4:", "    x[0] = halved(y);"), (unclosed, "<k>:2:", "    x[0] = (1.0 + 2.0;")] {
            let kernel = c(source, "k");
            let made = ParLoop::new(&kernel, &mesh.cells, vec![mesh.area.arg(Access::Rw, None)], LoopOptions::default()).unwrap();
            let message = message(made.run(&context));
            assert!(message.contains(place), "{context:?}: {message}");
            assert!(message.contains(line), "{context:?}: {message}");
        }
    }
}

#[test]
fn too_much_data_for_one_element_is_refused() {
    let mesh = mesh();
    let wide = Dat::new(&mesh.cells.data(100_000).unwrap(), &vec![0.0; 200_000], "wide").unwrap();
    assert_eq!(
        misfit("const double *x", &mesh, wide.arg(Access::Read, None)),
        "kernel `k` needs 800000 bytes per element, but the limit is 524288; pass less data for each element"
    );
}

#[test]
fn plans_that_cannot_run_a_loop_say_why() {
    let mesh = mesh();
    let bytes = Dat::zeros(&mesh.nodes.data(1).unwrap(), DType::U8, "bytes").unwrap();
    let (at, corners) = (&mesh.at, Some(&mesh.corners));
    let inc = at.arg(Access::Inc, corners);
    let of = |device: &str, plan: PlanChoice, deterministic: bool, source: &str, set: &Set, args: Vec<Arg>| {
        let context = Context::open(device).ok()?;
        let options = LoopOptions { plan, deterministic, ..LoopOptions::default() };
        let text = message(ParLoop::new(&c(source, "k"), set, args, options).unwrap().run(&context));
        let start = format!("plan `{}` cannot run kernel `k` on {}: ", plan.name(), context.device().id());
        Some(text.strip_prefix(&start).unwrap_or_else(|| panic!("{text}")).to_owned())
    };
    let one = "void k(double *x) { }";
    let two = "void k(double *x, double *y) { }";
    let (cpu, gpu) = ("cpu", "opencl");
    let cells = &mesh.cells;
    let repeated = "it runs elements more than once, so data that the kernel reads and writes in place would be wrong";
    let expect = |found: Option<String>, reason: &str| {
        if let Some(found) = found {
            assert_eq!(found, reason);
        }
    };
    expect(of(gpu, PlanChoice::Sequential, false, one, cells, vec![inc.clone()]), "a GPU does not run elements in order");
    expect(of(gpu, PlanChoice::Owner, false, one, cells, vec![inc.clone()]), "only the threads of a CPU own targets");
    expect(of(gpu, PlanChoice::Strips, false, one, cells, vec![inc.clone()]), "only the threads of a CPU run strips");
    let line: Vec<i32> = (0..5000).flat_map(|edge| [edge, edge + 1]).collect();
    let (edges, ends) = (Set::new(5000, "edges").unwrap(), Set::new(5001, "ends").unwrap());
    let line = Map::new(&edges, &ends, 2, &line, "line").unwrap();
    let x = Dat::zeros(&ends.data(1).unwrap(), DType::F64, "x").unwrap();
    for plan in [PlanChoice::Auto, PlanChoice::Strips] {
        let refused = |access: Access, checked: bool| {
            let options = LoopOptions { plan, checked, lanes: Lanes::Always, ..LoopOptions::default() };
            message(ParLoop::new(&c(one, "k"), &edges, vec![x.arg(access, &line)], options).unwrap().run(&Context::open("cpu:2").unwrap()))
        };
        assert!(refused(Access::Inc, true).ends_with("elements in vector lanes cannot be checked"));
        assert!(refused(Access::Rw, false).ends_with("but the kernel reads and writes data in place through a map"));
    }
    let (many, first) = (Set::new(5000, "many").unwrap(), Set::new(1, "first").unwrap());
    let to_first = Map::new(&many, &first, 1, &[0; 5000], "to_first").unwrap();
    let shared = Dat::zeros(&first.data(1).unwrap(), DType::F64, "shared").unwrap();
    expect(
        of(cpu, PlanChoice::Strips, false, one, &many, vec![shared.arg(Access::Inc, &to_first)]),
        "elements far from each other in their numbering write the same targets; use \"owner\" or \"colour\"",
    );
    expect(
        of(cpu, PlanChoice::Strips, true, one, cells, vec![inc.clone()]),
        "how many strips there are depends on the threads, but deterministic results are required",
    );
    expect(
        of(cpu, PlanChoice::Strips, false, one, cells, vec![at.arg(Access::Write, corners)]),
        "strips do not run in the order of the elements, but the last element that writes a target decides",
    );
    expect(of(cpu, PlanChoice::Gather, false, one, cells, vec![inc.clone()]), "targets gather only on GPUs");
    expect(of(cpu, PlanChoice::Atomic, false, one, cells, vec![inc.clone()]), "atomic additions are supported only on GPUs");
    expect(of(cpu, PlanChoice::Shared, false, one, cells, vec![inc.clone()]), "only the work items of a GPU share memory");
    let in_place = vec![inc.clone(), mesh.area.arg(Access::Rw, None)];
    expect(of(cpu, PlanChoice::Owner, false, two, cells, in_place.clone()), repeated);
    expect(of(gpu, PlanChoice::Gather, false, two, cells, in_place), repeated);
    expect(
        of(gpu, PlanChoice::Gather, false, two, cells, vec![inc.clone(), mesh.factor.arg(Access::Inc)]),
        "it runs elements more than once, so sums and extremes over all elements would be wrong",
    );
    expect(
        of(gpu, PlanChoice::Gather, false, two, cells, vec![inc.clone(), Arg::component(at, 1, Access::Inc, corners)]),
        "one argument is a component of another, so a target would be gathered twice",
    );
    expect(
        of(gpu, PlanChoice::Atomic, false, "void k(uint8_t *x) { }", cells, vec![bytes.arg(Access::Inc, corners)]),
        "only additions of 32-bit and 64-bit numbers are atomic",
    );
    expect(
        of(gpu, PlanChoice::Shared, false, "void k(uint8_t *x) { }", cells, vec![bytes.arg(Access::Inc, corners)]),
        "only additions of 32-bit and 64-bit numbers are atomic",
    );
    expect(
        of(gpu, PlanChoice::Shared, false, two, cells, vec![inc.clone(), mesh.factor.arg(Access::Inc)]),
        "sums and extremes over all elements are combined in the same memory",
    );
    let wide = Dat::zeros(&mesh.nodes.data(10_000).unwrap(), DType::F64, "wide").unwrap();
    expect(
        of(gpu, PlanChoice::Shared, false, one, cells, vec![wide.arg(Access::Inc, corners)]),
        "what a block of elements adds does not fit into the memory that it shares",
    );
    let many = Map::new(cells, &mesh.nodes, 513, &vec![0; 513 * cells.sizes().total], "many").unwrap();
    expect(
        of(gpu, PlanChoice::Shared, false, one, cells, vec![mesh.at.arg(Access::Inc, Some(&many))]),
        "an element leads to more targets than a block can number",
    );
    for plan in [PlanChoice::Atomic, PlanChoice::Shared] {
        expect(
            of(gpu, plan, true, one, cells, vec![inc.clone()]),
            "the order of atomic additions differs from run to run, but deterministic results are required",
        );
    }
}

#[test]
fn loops_that_lanes_cannot_run_say_why() {
    let mesh = mesh();
    let wide = Dat::new(&mesh.cells.data(65).unwrap(), &[0.0; 130], "wide").unwrap();
    let one = |parameters: &str| c(&format!("void k({parameters}) {{ }}"), "k");
    let refused = |kernel: Kernel, args: Vec<Arg>, options: LoopOptions| {
        let context = Context::open("cpu:2").unwrap();
        let message =
            message(ParLoop::new(&kernel, &mesh.cells, args, LoopOptions { lanes: Lanes::Always, ..options }).unwrap().run(&context));
        let start = format!("plan `{}` cannot run kernel `k` on cpu:2: ", options.plan.name());
        message.strip_prefix(&start).unwrap_or_else(|| panic!("{message}")).to_owned()
    };
    let (area, auto) = (vec![mesh.area.arg(Access::Write, None)], LoopOptions::default());
    let checked = LoopOptions { checked: true, ..auto };
    assert_eq!(refused(one("double *a"), area, checked), "elements in vector lanes cannot be checked");
    let through = |access| vec![mesh.at.arg(access, &mesh.corners)];
    let colour = LoopOptions { plan: PlanChoice::Colour, ..auto };
    assert_eq!(refused(one("double **x"), through(Access::Inc), colour), "blocks of one colour do not run in vector lanes");
    assert_eq!(
        refused(one("double **x"), through(Access::Rw), LoopOptions { plan: PlanChoice::Sequential, ..auto }),
        "elements in vector lanes run concurrently, but the kernel reads and writes data in place through a map"
    );
    assert_eq!(refused(one("double **x"), through(Access::Read), auto), "elements in vector lanes must write something");
    for access in [Access::Read, Access::Write] {
        let args = vec![mesh.area.arg(Access::Write, None), wide.arg(access, None)];
        assert_eq!(
            refused(c("void k(double *a, double *w) { if (a[0] > 0) a[0] = 0; }", "k"), args, auto),
            "elements in vector lanes may have at most 64 numbers per argument and write at most 64"
        );
    }
    // A kernel that has a form for vectors may have more.
    let large = Dat::new(&mesh.cells.data(1024).unwrap(), &[0.0; 2048], "large").unwrap();
    let with = |data: &Dat| vec![mesh.area.arg(Access::Write, None), data.arg(Access::Read, None)];
    let lanes = LoopOptions { lanes: Lanes::Always, ..auto };
    let wide = ParLoop::new(&one("double *a, const double *w"), &mesh.cells, with(&wide), lanes).unwrap();
    wide.run(&Context::open("cpu:1").unwrap()).unwrap();
    assert_eq!(
        refused(one("double *a, const double *w"), with(&large), auto),
        "elements in vector lanes may have at most 1024 numbers in all"
    );
}

#[test]
fn columns_of_compile_errors_are_those_of_the_kernel() {
    let cells = Set::new(4, "cells").unwrap();
    let x = Dat::new(&cells.data(1).unwrap(), &[1.0; 4], "x").unwrap();
    for text in [
        "void f(double *x) { x[0] = missing; }",
        "static inline void f(double *x) { x[0] = missing; }",
        "void f(double *x) {\n  x[0] = missing;\n}",
    ] {
        let kernel = c(text, "f");
        let args = vec![x.arg(Access::Rw, None)];
        let made = ParLoop::new(&kernel, &cells, args, LoopOptions::default()).unwrap();
        let error = made.run(&Context::open("cpu:1").unwrap()).unwrap_err().to_string();
        let (line, column) = text.lines().enumerate().find_map(|(line, text)| Some((line + 1, text.find("missing")? + 1))).unwrap();
        assert!(error.contains(&format!(":{line}:{column}: error:")), "{error}");
        let shown = error.lines().find(|shown| shown.contains("| ") && shown.contains("missing")).unwrap();
        assert_eq!(
            shown.split_once("| ").unwrap().1.trim_end(),
            text.lines().nth(line - 1).unwrap().replace("static inline", "             ")
        );
    }
}
