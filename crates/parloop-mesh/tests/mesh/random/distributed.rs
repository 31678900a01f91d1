//! Random loops over random meshes that processes share, against the same loops element by element in one.

use parloop_kernel::Context;
use parloop_mesh::{By, Comm, LoopOptions, MeshError, ParLoop, distribute};
use parloop_mpirun::launchers;

use super::mesh::Mesh;
use super::number::Random;
use super::spec::{OVER, Spec};
use super::{SIZES, reference};
use crate::devices::gpus;
use crate::kernels::kernel_of;

/// What a process saw.
#[derive(Default)]
struct Seen {
    ran: usize,
    refused: usize,
}

fn check(seed: u64, spec: &Spec, comm: &Comm, context: &Context, seen: &mut Seen) {
    let source = spec.source();
    let kernel = kernel_of(&source, "k").unwrap_or_else(|error| panic!("seed {seed}: {error}\n{source}"));
    let mut random = Random::new(seed ^ 0x5eed);
    for turn in 0..3 {
        let elements = random.one_of(&SIZES);
        let mesh = Mesh::whole(&mut random, spec, elements);
        let expected = reference::after(spec, &mesh, 2);
        let data = mesh.data(spec);
        let ranks: Vec<u32> = (0..elements).map(|_| random.below(comm.size()) as u32).collect();
        let by = if turn % 2 == 0 { By::Graph } else { By::Ranks(&ranks) };
        distribute(&mesh.sets[OVER], by, comm).unwrap();
        let options = LoopOptions { deterministic: turn == 2, checked: turn == 1 && seed.is_multiple_of(3), ..LoopOptions::default() };
        let at = || format!("seed {seed}, turn {turn} on rank {} over {mesh:?}\n{source}", comm.rank());
        let made = match ParLoop::new(&kernel, &mesh.over, data.args(spec, &mesh), options) {
            Err(MeshError::Distributed { .. }) => {
                seen.refused += 1;
                continue;
            }
            made => made.unwrap_or_else(|error| panic!("{error}\n{}", at())),
        };
        made.run(context).and_then(|()| made.run(context)).unwrap_or_else(|error| panic!("{error}\n{}", at()));
        for (table, expected) in expected.iter().enumerate() {
            assert_eq!(data.gathered(table), *expected, "table {table}, {}", at());
        }
        seen.ran += 1;
    }
}

#[test]
fn random_loops_of_several_processes_agree_with_plain_evaluation() {
    for launcher in launchers() {
        let ranks = if launcher.abi == "Mpich" { 2 } else { 3 };
        launcher.passes(ranks, "random::distributed::worker_random");
    }
}

#[test]
fn random_loops_of_processes_that_share_a_gpu_agree_with_plain_evaluation() {
    for launcher in launchers() {
        let ranks = if launcher.abi == "Mpich" { 3 } else { 2 };
        launcher.passes(ranks, "random::distributed::worker_random_on_gpus");
    }
}

#[test]
#[ignore = "a process of random_loops_of_processes_that_share_a_gpu_agree_with_plain_evaluation"]
fn worker_random_on_gpus() {
    let (comm, mut seen) = (Comm::world().unwrap(), Seen::default());
    for context in gpus() {
        for seed in super::seeds(310_000, 2) {
            check(seed, &Spec::random(seed, 1 + seed as usize % 4), &comm, &context, &mut seen);
        }
    }
    println!("done");
}

#[test]
#[ignore = "a process of random_loops_of_several_processes_agree_with_plain_evaluation"]
fn worker_random() {
    let (comm, context) = (Comm::world().unwrap(), Context::open("cpu:1").unwrap());
    let mut seen = Seen::default();
    for seed in super::seeds(300_000, 4) {
        check(seed, &Spec::random(seed, 1 + seed as usize % 4), &comm, &context, &mut seen);
    }
    for (seed, spec) in Spec::sharing().into_iter().enumerate().step_by(6) {
        check(seed as u64, &spec, &comm, &context, &mut seen);
    }
    assert!(seen.ran > 4 * seen.refused, "{} of {} were refused", seen.refused, seen.ran);
    println!("done");
}
