//! Sums of numbers that round: the same bits in every run and on any number of threads.

use parloop_kernel::Context;
use parloop_mesh::{Access, Arg, Dat, Global, Kernel, LoopOptions, Map, MeshError, ParLoop, PlanChoice, Set};

use crate::devices::gpus;
use crate::kernels::kernel_of;

const N: usize = 40_000;
const NODES: usize = 9_000;

/// What a loop left, bit by bit.
type Bits = Vec<u64>;

struct Case {
    name: &'static str,
    source: &'static str,
    /// Which of: sums on nodes, the sum over all, a counter of each element.
    args: fn(&Data) -> Vec<Arg>,
}

struct Data {
    weights: Dat,
    sums: Dat,
    total: Global,
    own: Dat,
    ends: Map,
}

const CASES: [Case; 4] = [
    Case {
        name: "through_a_map",
        source: "void through_a_map(const double *w, double *x[2]) { x[0][0] += w[0] / 3; x[0][1] += w[0] * w[0]; x[1][0] -= w[0] * 1.1; x[1][1] += 0.1; }",
        args: |data| vec![data.weights.arg(Access::Read, None), data.sums.arg(Access::Inc, Some(&data.ends))],
    },
    Case {
        name: "over_all",
        source: "void over_all(const double *w, double *t) { t[0] += w[0] / 3; t[1] += w[0] * w[0]; }",
        args: |data| vec![data.weights.arg(Access::Read, None), data.total.arg(Access::Inc)],
    },
    Case {
        name: "both",
        source: "void both(const double *w, double *x[2], double *t) { x[0][0] += w[0] / 3; x[0][1] += 0.1; x[1][0] -= w[0]; x[1][1] += w[0] * w[0]; t[0] += w[0] * 0.7; t[1] += 0.1; }",
        args: |data| vec![data.weights.arg(Access::Read, None), data.sums.arg(Access::Inc, Some(&data.ends)), data.total.arg(Access::Inc)],
    },
    // The element's own data is changed in place, so that no element may be run twice.
    Case {
        name: "in_place",
        source: "void in_place(double *own, double *x[2], double *t) { x[0][0] += own[0] / 3; x[0][1] += 0.1; x[1][0] -= own[0]; x[1][1] += own[0] * own[0]; t[0] += own[0]; t[1] += 0.1; own[0] *= 1.1; }",
        args: |data| vec![data.own.arg(Access::Rw, None), data.sums.arg(Access::Inc, Some(&data.ends)), data.total.arg(Access::Inc)],
    },
];

fn mesh() -> (Set, Set, Map) {
    let (edges, nodes) = (Set::new(N, "edges").unwrap(), Set::new(NODES, "nodes").unwrap());
    // Neighbours mostly, and now and then a node far away.
    let end = |edge: usize, end: usize| if edge.is_multiple_of(17) { edge * 7919 % NODES } else { (edge * NODES / N + end * 3) % NODES };
    let values: Vec<i32> = (0..N).flat_map(|edge| [end(edge, 0) as i32, end(edge, 1) as i32]).collect();
    let ends = Map::new(&edges, &nodes, 2, &values, "ends").unwrap();
    (edges, nodes, ends)
}

/// Runs a loop twice in a row on fresh data; `None` where the plan is refused.
fn bits(case: &Case, mesh: &(Set, Set, Map), kernel: &Kernel, plan: PlanChoice, context: &Context) -> Option<Bits> {
    let (edges, nodes, ends) = mesh;
    let values: Vec<f64> = (0..N).map(|edge| ((edge * 2_654_435_761) % 1_000_003) as f64 / 9973.0 - 31.4).collect();
    let data = Data {
        weights: Dat::new(&edges.data(1).unwrap(), &values, "weights").unwrap(),
        sums: Dat::new(&nodes.data(2).unwrap(), &vec![0.3; 2 * NODES], "sums").unwrap(),
        total: Global::new(2, &[0.7, 1e3], "total").unwrap(),
        own: Dat::new(&edges.data(1).unwrap(), &values, "own").unwrap(),
        ends: ends.clone(),
    };
    let options = LoopOptions { plan, deterministic: true, ..LoopOptions::default() };
    let made = ParLoop::new(kernel, edges, (case.args)(&data), options).unwrap();
    match made.run(context).and_then(|()| made.run(context)) {
        Ok(()) => {}
        Err(MeshError::Plan { .. }) => return None,
        Err(error) => panic!("{}: {error}", case.name),
    }
    let all = [data.sums.to_vec::<f64>().unwrap(), data.total.to_vec().unwrap(), data.own.to_vec().unwrap()].concat();
    Some(all.into_iter().map(f64::to_bits).collect())
}

#[test]
fn deterministic_loops_give_the_same_bits_on_any_number_of_threads() {
    let contexts: Vec<Context> = ["cpu:1", "cpu:2", "cpu:5"].iter().map(|name| Context::open(name).unwrap()).collect();
    let mesh = mesh();
    for case in CASES {
        let kernel = kernel_of(case.source, case.name).unwrap();
        for plan in [PlanChoice::Auto, PlanChoice::Owner, PlanChoice::Colour] {
            let first = bits(&case, &mesh, &kernel, plan, &contexts[0]);
            for context in &contexts {
                for _ in 0..2 {
                    assert!(first == bits(&case, &mesh, &kernel, plan, context), "{} by {plan:?} on {context:?}", case.name);
                }
            }
        }
    }
}

#[test]
fn deterministic_loops_give_the_same_bits_in_every_run_on_a_gpu() {
    let mesh = mesh();
    for (case, context) in CASES.iter().flat_map(|case| gpus().into_iter().map(move |context| (case, context))) {
        let kernel = kernel_of(case.source, case.name).unwrap();
        for plan in [PlanChoice::Auto, PlanChoice::Gather, PlanChoice::Colour] {
            let first = bits(case, &mesh, &kernel, plan, &context);
            for _ in 0..3 {
                assert!(first == bits(case, &mesh, &kernel, plan, &context), "{} by {plan:?}", case.name);
            }
        }
    }
}
