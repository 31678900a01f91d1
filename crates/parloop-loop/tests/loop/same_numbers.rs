//! Transformed kernels give the numbers of the plain ones, on every device, for sizes that divide and sizes that do not.

use std::collections::{BTreeMap, BTreeSet};

use parloop_isl::Relation;
use parloop_kernel::Context;
use parloop_loop::Name;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::parse;
use parloop_loop::run::LoopArg;
use parloop_loop::syntax::{InameTag, LoopKernel, Program, SyncScope};
use parloop_loop::transform::*;

use crate::run::{contexts, executable};

type Transformation = fn(LoopKernel) -> LoopKernel;

/// What is computed over rows of 12 numbers.
const PLAIN: &str = "out[i,j] = 2*a[i,j] + i - j {id=plain}";
const SUMS: &str = "out[i,j] = sum(k, a[i,k]*(k + j)) {id=sums}";
const TWO: &str = "<> t = 3*a[i,j] {id=t}\nout[i,j] = t + j {id=out, dep=t}";
const APART: &str = "out[i,j] = a[i,j] {id=first}\nout[k,l] = 2*out[k,l] + l {id=second, dep=first}";
const RULES: &str = "f(x) := a[i,x] + j\nout[i,j] = f(j) {id=first}\nout[i,j] = out[i,j] + f(11 - j) {id=second, dep=first}";

const RECTANGLE: &str = "{[i,j]: 0<=i<n and 0<=j<12}";
const TRIANGLE: &str = "{[i,j]: 0<=i<n and 0<=j<=i and j<12}";
const CUBE: &str = "{[i,j,k]: 0<=i<n and 0<=j,k<12}";
const TWICE: &str = "{[i,j,k,l]: 0<=i,k<n and 0<=j,l<12}";

fn kernel(domain: &str, instructions: &str) -> LoopKernel {
    let data = Data::global("a, out").dtype("float64").shape("n, 12");
    KernelBuilder::new().domain(domain).instructions(instructions).data(data).rest().build_kernel().unwrap()
}

const SIZES: [i64; 4] = [1, 5, 16, 33];

/// What a kernel makes of the same numbers, for each size.
fn numbers(kernel: &LoopKernel, context: &Context, sizes: &[i64]) -> Vec<Vec<f64>> {
    let executable = executable(&Program::of(kernel.clone()), context);
    let one = |n: i64| {
        let a: Vec<f64> = (0..12 * n).map(|index| f64::from(i32::try_from(1 + index * 7 % 31).unwrap())).collect();
        let (a, mut out) = (context.array(&a).unwrap(), context.zeros::<f64>(a.len()).unwrap());
        let shape = [n, 12];
        executable.call(&mut [("a", LoopArg::shaped(&a, &shape)), ("out", LoopArg::shaped(&mut out, &shape))]).unwrap();
        out.to_vec().unwrap()
    };
    sizes.iter().map(|&n| one(n)).collect()
}

#[track_caller]
fn assert_same_numbers(domain: &str, instructions: &str, transformations: &[Transformation]) {
    let plain = kernel(domain, instructions);
    let contexts = contexts();
    let expected = numbers(&plain, &contexts[0], &SIZES);
    assert!(expected.iter().all(|numbers| numbers.iter().any(|&value| value != 0.0)));
    for transformation in transformations {
        let transformed = transformation(plain.clone());
        for context in &contexts {
            assert_eq!(numbers(&transformed, context, &SIZES), expected, "on {:?}", context.device());
        }
    }
}

fn split(kernel: &LoopKernel, iname: &str, split: Split) -> LoopKernel {
    split_iname(kernel, iname, &split).unwrap()
}

fn names(names: &[&str]) -> Vec<Name> {
    names.iter().map(|name| Name::from(*name)).collect()
}

#[test]
fn split_loops_compute_the_same() {
    let transformations: &[Transformation] = &[
        |kernel| split(&kernel, "i", Split::by(4)),
        |kernel| split(&split(&kernel, "i", Split::by(16)), "i_inner", Split::by(3)),
        |kernel| split(&split(&kernel, "i", Split::by(4).outer(InameTag::Group(0)).inner(InameTag::Local(0))), "j", Split::by(5)),
        |kernel| split(&kernel, "j", Split::by(5).inner(InameTag::Unroll).slabs(0, 1)),
    ];
    assert_same_numbers(RECTANGLE, PLAIN, transformations);
    assert_same_numbers(TRIANGLE, PLAIN, transformations);
    assert_same_numbers(RECTANGLE, TWO, &transformations[..2]);
    assert_same_numbers(RECTANGLE, RULES, &transformations[..1]);
}

#[test]
fn split_reductions_compute_the_same() {
    assert_same_numbers(
        CUBE,
        SUMS,
        &[
            |kernel| split(&kernel, "k", Split::by(5)),
            |kernel| split(&split(&kernel, "k", Split::by(5)), "i", Split::by(4).outer(InameTag::Group(0)).inner(InameTag::Local(0))),
            |kernel| {
                let kernel = split(&kernel, "k", Split::by(4));
                split_reduction_inward(&kernel, &names(&["k_inner"]), &parse::query("id:sums").unwrap()).unwrap()
            },
        ],
    );
}

#[test]
fn tagged_and_ordered_loops_compute_the_same() {
    assert_same_numbers(
        RECTANGLE,
        PLAIN,
        &[
            |kernel| tag_inames(&kernel, &"i:g.0, j:l.0".parse().unwrap()).unwrap(),
            |kernel| tag_inames(&kernel, &"i:g.0, j:unr".parse().unwrap()).unwrap(),
            |kernel| prioritize_loops(&kernel, &names(&["j", "i"])).unwrap(),
        ],
    );
}

#[test]
fn chunked_joined_and_mapped_loops_compute_the_same() {
    assert_same_numbers(
        RECTANGLE,
        PLAIN,
        &[
            |kernel| chunk_iname(&kernel, "i", &Split::by(4).outer(InameTag::Group(0))).unwrap(),
            |kernel| chunk_iname(&kernel, "j", &Split::by(5)).unwrap(),
            |kernel| join_inames(&kernel, &Join::of(["i", "j"])).unwrap(),
            |kernel| {
                split(
                    &join_inames(&kernel, &Join::of(["i", "j"]).named("ij")).unwrap(),
                    "ij",
                    Split::by(32).outer(InameTag::Group(0)).inner(InameTag::Local(0)),
                )
            },
            |kernel| map_domain(&kernel, &Relation::parse("{[i,j] -> [t,x]: t = i + j and x = j}").unwrap()).unwrap(),
            |kernel| affine_map_inames(&kernel, &names(&["i"]), &names(&["b"]), &["b = n - 1 - i"]).unwrap(),
        ],
    );
    assert_same_numbers(TRIANGLE, PLAIN, &[|kernel| join_inames(&kernel, &Join::of(["i", "j"])).unwrap()]);
}

#[test]
fn duplicated_renamed_and_fused_loops_compute_the_same() {
    assert_same_numbers(
        TWICE,
        APART,
        &[
            |kernel| rename_iname(&kernel, "l", "j", &Rename::default().existing_ok()).unwrap(),
            |kernel| rename_iname(&kernel, "k", "row", &Rename::default()).unwrap(),
            |kernel| {
                let candidates: BTreeSet<Name> = ["i".into(), "k".into()].into();
                let groups = get_kennedy_unweighted_fusion_candidates(&kernel, &candidates, "ifused").unwrap();
                assert_eq!(groups.len(), 1);
                rename_inames_in_batch(&kernel, &groups).unwrap()
            },
            |kernel| remove_unused_inames(&kernel, None).unwrap(),
        ],
    );
    assert_same_numbers(
        RECTANGLE,
        RULES,
        &[|kernel| duplicate_inames(&kernel, &Duplicate::of(["i", "j"]).within(parse::query("id:second").unwrap())).unwrap()],
    );
}

#[test]
fn assumed_and_fixed_parameters_compute_the_same() {
    assert_same_numbers(RECTANGLE, PLAIN, &[|kernel| assume(&kernel, "n >= 1").unwrap()]);
    let plain = kernel(RECTANGLE, PLAIN);
    let fixed = fix_parameters(&plain, &BTreeMap::from([("n".into(), 7.into())])).unwrap();
    for context in contexts() {
        assert_eq!(numbers(&fixed, &context, &[7]), numbers(&plain, &context, &[7]));
    }
}

#[test]
fn more_dependencies_and_barriers_compute_the_same() {
    let query = |text: &str| parse::query(text).unwrap();
    let plain = kernel(TWICE, APART);
    let parallel = tag_inames(&plain, &"i:g.0, k:g.0".parse().unwrap()).unwrap();
    let apart = add_barrier(&parallel, &Barrier::global(query("id:first"), query("id:second"))).unwrap();
    let without = add_nosync(&parallel, &NoSync::between(SyncScope::Global, query("id:first"), query("id:second"))).unwrap();
    let more = add_dependency(&plain, &query("id:second"), &query("id:first")).unwrap();
    let renamed = rename_argument(&rename_argument(&plain, "out", "x").unwrap(), "x", "out").unwrap();
    let ordered = set_argument_order(&plain, &names(&["n", "out", "a"])).unwrap();
    for context in contexts() {
        let expected = numbers(&plain, &context, &SIZES);
        for kernel in [&apart, &without, &more, &renamed, &ordered] {
            assert_eq!(numbers(kernel, &context, &SIZES), expected);
        }
    }
}
