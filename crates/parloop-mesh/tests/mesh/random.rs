//! Random loops over random meshes, on every device and by every plan, against the same loops element by element in Rust.

mod distributed;
mod mesh;
mod number;
mod reference;
mod spec;

use parloop_kernel::Context;
use parloop_mesh::{Lanes, LoopOptions, MeshError, ParLoop, PlanChoice};

use crate::devices::everywhere;
use crate::kernels::kernel_of;
use mesh::Mesh;
use number::Random;
use spec::Spec;

/// Elements of the set of a loop: none, one, around the sizes of blocks and chunks, and enough for several threads.
const SIZES: [usize; 8] = [0, 1, 7, 128, 129, 300, 700, 1500];

/// One element after another, every bit the same in every run, and batches in lanes.
fn ways() -> [LoopOptions; 3] {
    let plain = LoopOptions { lanes: Lanes::Never, ..LoopOptions::default() };
    let deterministic = LoopOptions { deterministic: true, ..LoopOptions::default() };
    [plain, deterministic, LoopOptions { lanes: Lanes::Always, ..LoopOptions::default() }]
}

/// What one kernel did over some meshes.
#[derive(Debug, Default)]
struct Seen {
    ran: usize,
    refused: usize,
    in_strips: usize,
}

fn check(seed: u64, spec: &Spec, contexts: &[Context], ways: &[LoopOptions], meshes: usize) -> Seen {
    let source = spec.source();
    let kernel = kernel_of(&source, "k").unwrap_or_else(|error| panic!("seed {seed}: {error}\n{source}"));
    let mut random = Random::new(seed ^ 0x5eed);
    let mut seen = Seen::default();
    for _ in 0..meshes {
        let elements = random.one_of(&SIZES);
        let mesh = Mesh::random(&mut random, spec, elements);
        let expected = reference::after(spec, &mesh, 2);
        for context in contexts {
            for plan in PlanChoice::ALL {
                for &options in ways {
                    let options = LoopOptions { plan, ..options };
                    let at = || format!("seed {seed} by {options:?} on {context:?} over {mesh:?}\n{source}");
                    let data = mesh.data(spec);
                    let made = ParLoop::new(&kernel, &mesh.over, data.args(spec, &mesh), options);
                    let made = made.unwrap_or_else(|error| panic!("{error}\n{}", at()));
                    match made.run(context).and_then(|()| made.run(context)) {
                        Ok(()) => {
                            seen.ran += 1;
                            let in_strips = || made.report(context).is_ok_and(|report| report.plans[0].name.starts_with("strips"));
                            seen.in_strips += usize::from(plan == PlanChoice::Strips && in_strips());
                        }
                        Err(MeshError::Plan { .. }) => {
                            seen.refused += 1;
                            continue;
                        }
                        Err(error) => panic!("{error}\n{}", at()),
                    }
                    for (table, expected) in expected.iter().enumerate() {
                        assert_eq!(data.values(table), *expected, "table {table}, {}", at());
                    }
                }
            }
        }
    }
    seen
}

/// Seeds from `first` on: `PARLOOP_MESH_CASES` of them, or some.
fn seeds(first: u64, some: u64) -> std::ops::Range<u64> {
    let asked = std::env::var("PARLOOP_MESH_CASES").ok().and_then(|text| text.parse().ok());
    first..first + asked.unwrap_or(some)
}

fn check_all(specs: impl Iterator<Item = (u64, Spec)>, ways: &[LoopOptions], meshes: usize) {
    let contexts = everywhere(&[1, 3]);
    let mut in_strips = 0;
    for (seed, spec) in specs {
        let seen = check(seed, &spec, &contexts, ways, meshes);
        // Every loop can be run by more than one plan on each device.
        assert!(seen.ran >= contexts.len() * meshes * 2 * ways.len().min(2), "seed {seed}: {seen:?}\n{}", spec.source());
        in_strips += seen.in_strips;
    }
    assert!(in_strips > 0, "no mesh was in order");
}

#[test]
fn random_loops_of_one_or_two_arguments_agree_with_plain_evaluation() {
    check_all(seeds(0, 6).map(|seed| (seed, Spec::random(seed, 1 + seed as usize % 2))), &ways(), 2);
}

#[test]
fn random_loops_of_three_to_five_arguments_agree_with_plain_evaluation() {
    check_all(seeds(100_000, 6).map(|seed| (seed, Spec::random(seed, 3 + seed as usize % 3))), &ways(), 2);
}

#[test]
fn random_loops_in_checked_mode_agree_with_plain_evaluation() {
    let checked = [LoopOptions { checked: true, ..LoopOptions::default() }];
    check_all(seeds(200_000, 5).map(|seed| (seed, Spec::random(seed, 1 + seed as usize % 4))), &checked, 2);
}

#[test]
fn loops_whose_arguments_share_data_agree_with_plain_evaluation() {
    check_all(Spec::sharing().into_iter().enumerate().map(|(index, spec)| (1000 + index as u64, spec)), &ways(), 2);
}

#[test]
fn data_that_moves_between_devices_from_loop_to_loop_stays_right() {
    // There and back, and from one device to another.
    let contexts = [everywhere(&[1, 3]), everywhere(&[3])].concat();
    for seed in [3, 104, 107, 111] {
        let spec = Spec::random(seed, 1 + seed as usize % 5);
        let kernel = kernel_of(&spec.source(), "k").unwrap();
        let mesh = Mesh::random(&mut Random::new(seed), &spec, 300);
        let data = mesh.data(&spec);
        let made = ParLoop::new(&kernel, &mesh.over, data.args(&spec, &mesh), LoopOptions::default()).unwrap();
        for (run, context) in contexts.iter().enumerate() {
            made.run(context).unwrap_or_else(|error| panic!("{error} on {context:?}\n{}", spec.source()));
            // Half of the time the host looks in between.
            if run % 2 == 1 {
                let expected = reference::after(&spec, &mesh, run + 1);
                for (table, expected) in expected.iter().enumerate() {
                    assert_eq!(data.values(table), *expected, "seed {seed}, table {table}, run {run}\n{}", spec.source());
                }
            }
        }
    }
}
