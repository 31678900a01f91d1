//! Strategies that are used only for meshes of some size, each by itself.

use super::*;
use crate::access::Access;
use crate::declare::arg::{Arg, flattened};
use crate::declare::dat::Dat;
use crate::declare::global::Global;
use crate::declare::layers::Region;
use crate::declare::set::Set;
use crate::kernel::KernelOptions;
use crate::lower::Batches;
use crate::run::options::LoopOptions;
use crate::run::scheme::Order;
use crate::run::strategy_cache::{LoopTraits, StrategyEntry};
use crate::run::tune::{Run, Tuned};
use crate::shape::{Loop, offsets_for};
use crate::storage::{Layout, Storage};

/// A ring of nodes and edges whose numbers have no order: enough that their order is looked at.
const N: usize = 5003;

/// What is numbered `i` along the ring.
fn number(i: usize) -> usize {
    i * 1931 % N
}

fn kernel_of(source: &str, name: &str) -> Kernel {
    // SAFETY: the functions stay inside of what the loops below pass.
    unsafe { Kernel::c(source, name, &KernelOptions::default()).unwrap() }
}

struct Ring {
    edges: Set,
    weight: Vec<f64>,
    ends: Map,
    values: Vec<i32>,
}

impl Ring {
    fn new() -> Ring {
        let (edges, nodes) = (Set::new(N, "edges").unwrap(), Set::new(N, "nodes").unwrap());
        let mut values = vec![0; 2 * N];
        for i in 0..N {
            let edge = number(7 * i % N);
            (values[2 * edge], values[2 * edge + 1]) = (number(i) as i32, number((i + 1) % N) as i32);
        }
        let ends = Map::new(&edges, &nodes, 2, &values, "ends").unwrap();
        assert!(!ends.is_local().unwrap());
        Ring { edges, weight: (0..N).map(|i| 1.0 + (i % 13) as f64).collect(), ends, values }
    }

    fn run(&self, kernel: &Kernel, over: &Set, args: &[Arg], context: &Context, strategy: Strategy) {
        let iteration = Iteration::new(over, Region::All).unwrap();
        let (params, parts) = flattened(args.to_vec());
        let (parts, shape) = (
            &parts[..],
            Shape::of(&Loop { iteration: &iteration, params: &params, parts: &parts, passes_layer: false }, |_| Layout::Rows, |_| false),
        );
        let making = Making {
            kernel,
            iteration: &iteration,
            parts,
            shape: &shape,
            context,
            checked: false,
            deterministic: false,
            known_order: OnceCell::new(),
            known_strips: OnceCell::new(),
        };
        let job = making.make(strategy).unwrap();
        assert!(job.code.iter().any(|code| code.contains("pl_list")), "{strategy:?}\n{:?}", job.code);
        assert_eq!(job.code.iter().any(|code| code.contains("permute")), strategy.order == Order::Packed, "{strategy:?}");
        let place = |storage: &Storage, writes| storage.place(context, true, writes).unwrap();
        let tables: Vec<Memory> = parts.iter().map(|part| place(part.storage(), part.access.writes())).collect();
        job.run(&tables, &[place(self.ends.storage(), false)], context).unwrap();
    }
}

#[test]
fn elements_in_a_better_order_leave_what_they_leave_in_their_own() {
    let ring = Ring::new();
    let some: Vec<i64> = (0..N as i64).filter(|i| i % 3 > 0).collect();
    let source = "void all(const double *w, double *x[2], const double *y[2], double *twice, double *sum,
                            int *least[2], float *z[2]) {
        x[0][0] += w[0]; x[1][1] -= y[0][0]; twice[0] = w[0] + y[1][0]; sum[0] += w[0];
        if (w[0] < least[1][0]) least[1][0] = w[0];
        z[0][0] += 2 * w[0]; }";
    let kernel = kernel_of(source, "all");
    for over in [ring.edges.clone(), ring.edges.subset(&some).unwrap()] {
        let (mut x, mut twice, mut sum) = (vec![0.5; 2 * N], vec![0.0; N], 0.0);
        let (mut least, mut z) = (vec![7; N], vec![0.25f32; 3 * N]);
        for edge in (0..N).filter(|edge| over.indices().is_none() || edge % 3 > 0) {
            let (first, second, w) = (ring.values[2 * edge] as usize, ring.values[2 * edge + 1] as usize, ring.weight[edge]);
            x[2 * first] += w;
            x[2 * second + 1] -= first as f64;
            twice[edge] = w + second as f64;
            sum += w;
            least[second] = least[second].min(w as i32);
            z[3 * first + 2] += 2.0 * w as f32;
        }
        let strategies = [
            (Scheme::Sequential, Order::Near),
            (Scheme::Sequential, Order::Packed),
            (Scheme::Owner, Order::Given),
            (Scheme::Owner, Order::Packed),
        ];
        for (scheme, order, batches) in
            strategies.into_iter().flat_map(|(scheme, order)| [Batches::Single, Batches::Calls].map(|batches| (scheme, order, batches)))
        {
            for name in ["cpu:1", "cpu:3"] {
                let (context, nodes) = (Context::open(name).unwrap(), ring.ends.to());
                let numbers: Vec<f64> = (0..N).map(|i| i as f64).collect();
                let w = Dat::new(&ring.edges.data(1).unwrap(), &ring.weight, "w").unwrap();
                let x_here = Dat::new(&nodes.data(2).unwrap(), &vec![0.5; 2 * N], "x").unwrap();
                let y = Dat::new(&nodes.data(1).unwrap(), &numbers, "y").unwrap();
                let twice_here = Dat::new(&ring.edges.data(1).unwrap(), &vec![0.0; N], "twice").unwrap();
                let sum_here = Global::new(1, &[0.0], "sum").unwrap();
                let least_here = Dat::new(&nodes.data(1).unwrap(), &[7; N], "least").unwrap();
                let z_here = Dat::new(&nodes.data(3).unwrap(), &vec![0.25f32; 3 * N], "z").unwrap();
                let args = [
                    w.arg(Access::Read, None),
                    x_here.arg(Access::Inc, &ring.ends),
                    y.arg(Access::Read, &ring.ends),
                    twice_here.arg(Access::Write, None),
                    sum_here.arg(Access::Inc),
                    least_here.arg(Access::Min, &ring.ends),
                    z_here.component(2, Access::Inc, &ring.ends),
                ];
                ring.run(&kernel, &over, &args, &context, Strategy { scheme, batches, order });
                let at = format!("{scheme:?} {order:?} {batches:?} {name}");
                assert_eq!(x_here.to_vec::<f64>().unwrap(), x, "{at}");
                assert_eq!(twice_here.to_vec::<f64>().unwrap(), twice, "{at}");
                assert_eq!(sum_here.to_vec::<f64>().unwrap(), [sum], "{at}");
                assert_eq!(least_here.to_vec::<i32>().unwrap(), least, "{at}");
                assert_eq!(z_here.to_vec::<f32>().unwrap(), z, "{at}");
            }
        }
    }
}

#[test]
fn elements_that_never_meet_are_ordered_too() {
    let ring = Ring::new();
    let kernel = kernel_of("void mid(double *m, const double *y[2]) { m[0] = y[0][0] + y[1][0]; }", "mid");
    let expected: Vec<f64> = ring.values.chunks(2).map(|pair| f64::from(pair[0] + pair[1])).collect();
    for batches in [Batches::Single, Batches::Calls] {
        let context = Context::open("cpu:3").unwrap();
        let numbers: Vec<f64> = (0..N).map(|i| i as f64).collect();
        let m = Dat::new(&ring.edges.data(1).unwrap(), &vec![0.0; N], "m").unwrap();
        let y = Dat::new(&ring.ends.to().data(1).unwrap(), &numbers, "y").unwrap();
        let args = [m.arg(Access::Write, None), y.arg(Access::Read, &ring.ends)];
        let strategy = Strategy { scheme: Scheme::Free, batches, order: Order::Near };
        ring.run(&kernel, &ring.edges, &args, &context, strategy);
        assert_eq!(m.to_vec::<f64>().unwrap(), expected, "{batches:?}");
    }
}

#[test]
fn the_best_way_is_found_kept_and_known_to_the_next_process() {
    let ring = Ring::new();
    // Another kernel in each run of this test, so that nothing is kept for it.
    let source = format!("void add(double *x[1], double *w) {{ x[0][0] += w[0]; x[1][0] += w[0]; /* {} */ }}", std::process::id());
    let kernel = kernel_of(&source, "add");
    let (context, iteration) = (Context::open("cpu:1").unwrap(), Iteration::new(&ring.edges, Region::All).unwrap());
    let x = Dat::zeros(&ring.ends.to().data(1).unwrap(), parloop_device::DType::F64, "x").unwrap();
    let w = Dat::new(&ring.edges.data(1).unwrap(), &ring.weight, "w").unwrap();
    let (params, parts) = flattened(vec![x.arg(Access::Inc, &ring.ends), w.arg(Access::Read, None)]);
    let shape =
        Shape::of(&Loop { iteration: &iteration, params: &params, parts: &parts, passes_layer: false }, |_| Layout::Rows, |_| false);
    let making = |shape| Making {
        kernel: &kernel,
        iteration: &iteration,
        parts: &parts,
        shape,
        context: &context,
        checked: false,
        deterministic: false,
        known_order: OnceCell::new(),
        known_strips: OnceCell::new(),
    };
    let strategies = [Strategy::from(Scheme::Sequential), Strategy { batches: Batches::Calls, ..Scheme::Sequential.into() }];
    let kept = || {
        let (options, elements) = (LoopOptions::default(), N);
        StrategyEntry::of(&LoopTraits {
            kernel: &kernel,
            shape: &shape,
            options,
            elements,
            scattered: true,
            whole: true,
            context: &context,
        })
    };
    assert_eq!(kept().recall(&strategies), None);
    let tables = [x.storage(), w.storage()].map(|storage| storage.place(&context, true, true).unwrap());
    let maps = [ring.ends.storage().place(&context, true, false).unwrap()];
    let with = Run { tables: &tables, maps: &maps, context: &context };
    let tuned = Tuned::new(&making(&shape), &strategies, kept).unwrap();
    let (mut runs, start) = (0, std::time::Instant::now());
    while kept().recall(&strategies).is_none() {
        assert!(start.elapsed() < std::time::Duration::from_secs(120), "no strategy was kept after {runs} runs");
        for _ in 0..1000 {
            tuned.run(&with, making).unwrap();
        }
        runs += 1000;
    }
    // Whatever ran, every run counted once.
    let total: f64 = x.to_vec::<f64>().unwrap().iter().sum();
    assert_eq!(total, 2.0 * f64::from(runs) * ring.weight.iter().sum::<f64>());
    let strategy = kept().recall(&strategies).unwrap();
    assert_eq!(tuned.best_known().code, making(&shape).make(strategy).unwrap().code);
    // The next process has it from the beginning.
    assert_eq!(Tuned::new(&making(&shape), &strategies, kept).unwrap().best_known().code, tuned.best_known().code);
    assert_eq!(kept().recall(&strategies[..0]), None);
}

#[test]
fn offsets_are_wide_where_slots_are_more_than_32_bits_count() {
    assert_eq!(offsets_for(21_474_836, 100), DType::I32);
    assert_eq!(offsets_for(21_474_837, 100), DType::I64);
    assert_eq!(
        (offsets_for(i32::MAX as usize, 1), offsets_for(1 << 31, 1), offsets_for(usize::MAX, 3)),
        (DType::I32, DType::I64, DType::I64)
    );
}

#[test]
fn loops_with_wide_offsets_leave_what_others_leave() {
    let nodes = Set::new(7, "nodes").unwrap();
    let edges = Set::new(7, "edges").unwrap();
    let values: Vec<i32> = (0..7).flat_map(|edge| [edge, (edge + 3) % 7]).collect();
    let ends = Map::new(&edges, &nodes, 2, &values, "ends").unwrap();
    let kernel = kernel_of("void both(double *x, int *y) { x[0] += 1; x[1] += 2; y[0] = 1; y[1] = 2; }", "both");
    let gpus = ["opencl", "cuda"].into_iter().filter_map(|name| Context::open(name).ok());
    for context in [Context::open("cpu:2").unwrap()].into_iter().chain(gpus) {
        let scheme = if machine_of(&context) == Machine::Threads { Scheme::Colour } else { Scheme::Gather };
        let x = Dat::new(&nodes.data(1).unwrap(), &[0.5; 7], "x").unwrap();
        let y = Dat::new(&nodes.data(1).unwrap(), &[0; 7], "y").unwrap();
        let (params, parts) = flattened(vec![x.arg(Access::Inc, &ends), y.arg(Access::Write, &ends)]);
        let iteration = Iteration::new(&edges, Region::All).unwrap();
        let of = Loop { iteration: &iteration, params: &params, parts: &parts, passes_layer: false };
        let narrow = Shape::of(&of, |_| Layout::Rows, |_| false);
        assert_eq!((narrow.offsets, narrow.index), (DType::I32, DType::I32));
        let shape = Shape { offsets: DType::I64, index: DType::I64, ..narrow };
        let (kernel, iteration, known_order) = (&kernel, &iteration, OnceCell::new());
        let making = Making {
            kernel,
            iteration,
            parts: &parts,
            shape: &shape,
            context: &context,
            checked: false,
            deterministic: false,
            known_order,
            known_strips: OnceCell::new(),
        };
        let job = making.make(Strategy { scheme, batches: Batches::Single, order: Order::Given }).unwrap();
        let place = |storage: &Storage, writes| storage.place(&context, true, writes).unwrap();
        let tables: Vec<Memory> = parts.iter().map(|part| place(part.storage(), true)).collect();
        job.run(&tables, &[place(ends.storage(), false)], &context).unwrap();
        assert_eq!(x.to_vec::<f64>().unwrap(), [3.5; 7], "{context:?}");
        // Node 3 is the first end of edge 3, after it was the second of edge 0.
        assert_eq!(y.to_vec::<i32>().unwrap(), [2, 2, 2, 1, 1, 1, 1], "{context:?}");
        assert!(job.code.iter().any(|code| code.contains("long") || code.contains("int64_t")), "{:?}", job.code);
    }
}
