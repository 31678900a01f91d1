//! Every transformation that files and Python know, by name: the numbers stay the same, on every device, for sizes that divide, sizes
//! that do not, and random ones.

use std::collections::BTreeSet;

use parloop_kernel::Context;
use parloop_loop::Name;
use parloop_loop::file::LoopFile;
use parloop_loop::prelude::*;
use parloop_loop::run::LoopArg;
use parloop_loop::syntax::Program;
use parloop_loop::transform::{get_kennedy_unweighted_fusion_candidates, known_steps, rename_inames_in_batch};

use crate::run::contexts;

/// What each kernel works on: `a` and `out` of `n` rows of 12 numbers, and a number `c`.
const DATA: &str = "data\n  a, out: global float64[n, 12]\n  n, c: value int32\n  ...\n";

const RECTANGLE: &str = "domain {[i, j]: 0 <= i < n and 0 <= j < 12}\n";
const TRIANGLE: &str = "domain {[i, j]: 0 <= i < n and 0 <= j <= i and j < 12}\n";
const CUBE: &str = "domain {[i, j, k]: 0 <= i < n and 0 <= j, k < 12}\n";
const TWICE: &str = "domain {[i, j, k, l]: 0 <= i, k < n and 0 <= j, l < 12}\n";

const PLAIN: (&str, &str) = (RECTANGLE, "  out[i, j] = c*a[i, j] + i - j {id=plain}\n");
const PART: (&str, &str) = (TRIANGLE, PLAIN.1);
const SUMS: (&str, &str) = (CUBE, "  out[i, j] = sum(k, a[i, k]*(k + j)) {id=sums}\n");
const RULES: (&str, &str) =
    (RECTANGLE, "  f(x) := a[i, x] + c\n  out[i, j] = f(j) {id=first}\n  out[i, j] = out[i, j] + f(11 - j) {id=second, dep=first}\n");
const RULE_OF_J: (&str, &str) =
    (RECTANGLE, "  f(x) := a[i, x] + j\n  out[i, j] = f(j) {id=first}\n  out[i, j] = out[i, j] + f(11 - j) {id=second, dep=first}\n");
const APART: (&str, &str) = (TWICE, "  out[i, j] = a[i, j] {id=first}\n  out[k, l] = 2*out[k, l] + l {id=second, dep=first}\n");
const TWO: (&str, &str) = (RECTANGLE, "  <> t = 3*a[i, j] {id=t}\n  out[i, j] = t + j {id=out, dep=t}\n");
const ROW: (&str, &str) =
    (CUBE, "  <float64> t[k] = 3*a[i, k] {id=t, inames=i:k}\n  out[i, j] = t[11 - j] + j {id=out, dep=t, inames=i:j}\n");
const TABLE_OF_ROW: (&str, &str) = (
    "domain {[i, j, k, l]: 0 <= i < n and 0 <= j, k, l < 12}\n",
    "  <float64> t[k, l] = a[i, k]*l {id=t, inames=i:k:l}\n  out[i, j] = t[11 - j, j] {id=out, dep=t, inames=i:j}\n",
);
const ROWS: (&str, &str) = (
    "domain {[i, j, k, l, m]: 0 <= i < n and 0 <= j, k, l, m < 12}\n",
    "  <float64> s[k] = a[i, 11 - k] {id=s1, inames=i:k}\n  out[i, j] = s[11 - j] {id=s2, dep=s1, inames=i:j}\n  \
     <float64> t[l] = 2*a[i, l] {id=t1, dep=s2, inames=i:l}\n  out[i, m] = out[i, m] + t[11 - m] {id=t2, dep=s2:t1, inames=i:m}\n",
);
const UNUSED: (&str, &str) = (RECTANGLE, "  <float64> u = 2*a[i, j] {id=unused}\n  out[i, j] = a[i, j] + 1 {id=used, inames=i:j}\n");
const OUTER: (&str, &str) = (RECTANGLE, "  <float64> t = 2*i {id=t, inames=i}\n  out[i, j] = t + a[i, j] {id=out, dep=t}\n");
const WITHIN: (&str, &str) = (RECTANGLE, "  <float64> t = 2*i {id=t, inames=i:j}\n  out[i, j] = t + a[i, j] {id=out, dep=t}\n");
const DIVIDED: (&str, &str) = (RECTANGLE, "  out[(12*i + j)//12, (12*i + j) % 12] = a[i, j] {id=plain}\n");
const FILLED: (&str, &str) =
    (ROW.0, "  <float64> t[k] = 3*a[i, k] {id=fill, inames=i:k}\n  out[i, j] = t[11 - j] {id=out, dep=fill, inames=i:j}\n");
const CALLED: (&str, &str) = (
    CUBE,
    "  [j]: out[i, j] = scale([k]: a[i, k], 2.0) {id=call}\n\nfunction scale\ndomain {[l]: 0 <= l < 12}\ndata\n  from: global float64[12]\n  \
     by: value float64\n  to: global float64[12]\ninstructions\n  to[l] = by*from[l] + l\n",
);

const GUARDED: (&str, &str) = (RECTANGLE, "  out[i, j] = a[i, j] + j {id=plain, if=n > 0}\n");
const WEIGHTED: (&str, &str) = (
    CUBE,
    "  <float64> s = 0 {id=s, inames=i:j}\n  s = s + a[i, j]*a[i, k] {id=one, dep=s, inames=i:j:k}\n  \
     s = s - k*a[i, j] {id=two, dep=one, inames=i:j:k}\n  out[i, j] = s {id=out, dep=two, inames=i:j}\n",
);
const ADDED: (&str, &str) =
    (CUBE, "  out[i, j] = c {id=set, inames=i:j}\n  out[i, j] = out[i, j] + k*a[i, 11 - j] {id=add, dep=set, inames=i:j:k}\n");

/// Transformations that change what a kernel is given; they have tests of their own.
const OTHER_ARGUMENTS: [&str; 1] = ["to_batched"];

/// Transformations by their names, each with a kernel and the lines that use it.
const TABLE: &[((&str, &str), &[&str])] = &[
    (APART, &[]),
    (ADDED, &["buffer_array out [j]"]),
    (ADDED, &["buffer_array out [i, j]"]),
    (ADDED, &["buffer_array out [] within=id:add"]),
    (ADDED, &["split_iname j 4", "tag_inames i=g.0", "buffer_array out [j_inner] default_tag=for"]),
    (ADDED, &["tag_inames i=g.0 j=l.0", "buffer_array out [j] default_tag=l.auto temporary_address_space=local"]),
    (CALLED, &["pack_and_unpack_args_for_call scale"]),
    (CALLED, &["pack_and_unpack_args_for_call scale", "inline_callable_kernel scale"]),
    (GUARDED, &["remove_predicates_from_insn [\"n > 0\"] id:plain"]),
    (OUTER, &["tag_inames i=g.0 j=l.0", "add_inames_for_unused_hw_axes"]),
    (ROWS, &["concatenate_arrays [s, t] u"]),
    (ROWS, &["concatenate_arrays [t, s] s"]),
    (TABLE_OF_ROW, &["add_padding t 0 16"]),
    (TWO, &["privatize_temporaries_with_inames j", "unprivatize_temporaries_with_inames j"]),
    (WEIGHTED, &["collect_common_factors_on_increment s"]),
    (APART, &["tag_inames i=g.0 k=g.0", "add_barrier first second"]),
    (APART, &["add_dependency second first"]),
    (OUTER, &["add_inames_to_insn j t"]),
    (APART, &["tag_inames i=g.0 k=g.0", "add_nosync global first second"]),
    (SUMS, &["add_prefetch a k"]),
    (
        SUMS,
        &[
            "split_iname i 4 outer_tag=g.0 inner_tag=l.0",
            "tag_inames j=l.1",
            "split_iname k 5",
            "add_prefetch a [i_inner, k_inner] default_tag=l.auto",
        ],
    ),
    (SUMS, &["tag_inames i=g.0 j=l.0", "add_prefetch a k default_tag=l.auto"]),
    (PLAIN, &["affine_map_inames i b \"b = n - 1 - i\""]),
    (ROWS, &["alias_temporaries [s, t]"]),
    (ROWS, &["alias_temporaries [s, t]", "allocate_temporaries_for_base_storage"]),
    (FILLED, &["assignment_to_subst t"]),
    (PLAIN, &["split_iname i 4 outer_tag=g.0 inner_tag=l.0", "assume \"n >= 1\""]),
    (PLAIN, &["chunk_iname i 4 outer_tag=g.0"]),
    (PLAIN, &["chunk_iname j 5"]),
    (RULES, &["duplicate_inames [i, j] within=\"id:second\""]),
    (RULE_OF_J, &["duplicate_inames [i, j] within=\"id:second\""]),
    (RULES, &["expand_subst"]),
    (SUMS, &["extract_subst e \"a[i, k]*(k + x)\" x"]),
    (RULES, &["extract_subst e \"c\" []", "precompute e"]),
    // A line `assume` directly after a kernel would belong to it.
    (PLAIN, &["tag_instructions mine", "assume \"n >= 1\""]),
    (PLAIN, &["fix_parameters c=3"]),
    (PLAIN, &["fix_parameters n=7"]),
    (PLAIN, &["join_inames [i, j]"]),
    (PART, &["join_inames [i, j]"]),
    (PLAIN, &["join_inames [i, j] ij", "split_iname ij 32 outer_tag=g.0 inner_tag=l.0"]),
    (SUMS, &["make_reduction_inames_unique"]),
    (PLAIN, &["map_domain \"{[i, j] -> [t, x]: t = i + j and x = j}\""]),
    (RULES, &["precompute f j"]),
    (RULES, &["tag_inames i=g.0 j=l.0", "precompute f j default_tag=l.auto"]),
    (RULES, &["split_iname j 5 inner_tag=l.0", "precompute f j_inner default_tag=l.auto fetch_bounding_box=True"]),
    (PLAIN, &["prioritize_loops [j, i]"]),
    (TWO, &["privatize_temporaries_with_inames j t"]),
    (SUMS, &["reduction_arg_to_subst_rule k"]),
    (WITHIN, &["remove_inames_from_insn j t"]),
    (UNUSED, &["remove_instructions unused"]),
    (TWO, &["remove_unused_arguments"]),
    (APART, &["rename_inames [l] j existing_ok=True", "remove_unused_inames"]),
    (APART, &["remove_unused_inames"]),
    (PLAIN, &["rename_argument a x", "rename_argument x a"]),
    (APART, &["rename_argument out x", "rename_argument x out"]),
    (APART, &["rename_iname l j existing_ok=True"]),
    (APART, &["rename_iname k row"]),
    (APART, &["rename_inames [l] j existing_ok=True"]),
    (APART, &["rename_inames_in_batch {rows: [i, k], cols: [j, l]}"]),
    (PLAIN, &["set_argument_order [n, out, c, a]"]),
    (APART, &["set_argument_order [n, out, c, a]"]),
    (ROW, &["set_array_axis_names t column"]),
    (TWO, &["set_instruction_priority id:t 5"]),
    (ROW, &["tag_inames i=g.0 k=l.0 j=l.0", "set_temporary_address_space t local"]),
    (ROW, &["set_temporary_address_space t global"]),
    (DIVIDED, &["simplify_indices"]),
    (ROW, &["split_array_axis t 0 4"]),
    (PLAIN, &["split_iname i 4"]),
    (PART, &["split_iname i 4"]),
    (TWO, &["split_iname i 4"]),
    (RULE_OF_J, &["split_iname i 4"]),
    (PLAIN, &["split_iname i 16", "split_iname i_inner 3"]),
    (PART, &["split_iname i 16", "split_iname i_inner 3"]),
    (TWO, &["split_iname i 16", "split_iname i_inner 3"]),
    (PLAIN, &["split_iname i 16", "split_iname i_inner 3 inner_tag=unr"]),
    (PLAIN, &["split_iname i 4 outer_tag=g.0 inner_tag=l.0", "split_iname j 5"]),
    (PART, &["split_iname i 4 outer_tag=g.0 inner_tag=l.0", "split_iname j 5"]),
    (PLAIN, &["split_iname j 5 inner_tag=unr slabs=[0, 1]"]),
    (PART, &["split_iname j 5 inner_tag=unr slabs=[0, 1]"]),
    (SUMS, &["split_iname k 5"]),
    (SUMS, &["split_iname k 5", "split_iname i 4 outer_tag=g.0 inner_tag=l.0"]),
    (SUMS, &["split_iname k 5", "split_iname i 8 outer_tag=g.0 inner_tag=l.0"]),
    (SUMS, &["split_iname k 4", "split_reduction_inward k_inner"]),
    (SUMS, &["split_iname k 4", "split_reduction_inward k_inner within=\"id:sums\""]),
    (SUMS, &["split_iname k 4", "split_reduction_outward k_outer"]),
    (TABLE_OF_ROW, &["tag_array_axes t \"N0,N1\""]),
    (PLAIN, &["tag_inames i=g.0 j=l.0"]),
    (PLAIN, &["tag_inames i=g.0 j=unr"]),
    (PLAIN, &["tag_inames j=unr"]),
    (SUMS, &["tag_inames i=g.0 k=l.0"]),
    (PLAIN, &["tag_instructions mine"]),
    (PLAIN, &["tag_inames i=g.0 j=unr", "untag_inames i g.0"]),
    (CALLED, &["inline_callable_kernel scale"]),
    (SUMS, &["realize_reduction"]),
];

fn program((domain, instructions): (&str, &str), steps: &[&str]) -> Result<Program, String> {
    let (body, callees) = instructions.split_once("\n\n").unwrap_or((instructions, ""));
    let text = format!("kernel f\n{domain}{DATA}instructions\n{body}\n{callees}\n\n{}\n", steps.join("\n"));
    let file = LoopFile::parse(&text).map_err(|error| format!("{error}\n{text}"))?;
    file.program().map_err(|error| format!("{error}\n{text}"))
}

/// What a program makes of the same numbers, for each size.
fn numbers(program: &Program, context: &Context, sizes: &[i64]) -> Result<Vec<Vec<f64>>, String> {
    let executable = program.compile(context).map_err(|error| error.to_string())?;
    let one = |n: i64| {
        let a: Vec<f64> = (0..12 * n).map(|index| f64::from(i32::try_from(1 + index * 7 % 31).unwrap())).collect();
        let (a, mut out) = (context.array(&a).unwrap(), context.zeros::<f64>(a.len()).unwrap());
        let shape = [n, 12];
        let mut args = vec![("a", LoopArg::shaped(&a, &shape)), ("out", LoopArg::shaped(&mut out, &shape))];
        args.extend(executable.plan().position("c").map(|_| ("c", LoopArg::from(3))));
        executable.call(&mut args).map_err(|error| error.to_string())?;
        drop(args);
        Ok(out.to_vec().unwrap())
    };
    sizes.iter().map(|&n| one(n)).collect()
}

/// Sizes below 70, among them 1 and a multiple of all lengths of blocks: the same ones each time, others for each row of the table. A
/// size that a step fixes is the only one.
fn sizes(row: usize) -> Vec<i64> {
    let fixed = TABLE[row].1.iter().find_map(|step| step.strip_prefix("fix_parameters n="));
    if let Some(size) = fixed {
        return vec![size.parse().unwrap()];
    }
    let mut state = row as u64 + 1;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(state >> 33).unwrap() % 69 + 1
    };
    vec![1, 5, 16, 33, 48, random(), random(), random()]
}

#[test]
fn every_transformation_is_in_the_table() {
    let tested: BTreeSet<&str> = TABLE.iter().flat_map(|(_, steps)| steps.iter()).filter_map(|step| step.split(' ').next()).collect();
    let untested: Vec<&str> = known_steps().filter(|name| !tested.contains(name) && !OTHER_ARGUMENTS.contains(name)).collect();
    assert!(untested.is_empty(), "{untested:?}");
}

/// How the numbers of a row differ.
fn differences(row: usize, contexts: &[Context]) -> Result<String, String> {
    let ((kernel, steps), sizes) = (TABLE[row], sizes(row));
    let (plain, transformed) = (program(kernel, &[])?, program(kernel, steps)?);
    let expected = numbers(&plain, &contexts[0], &sizes)?;
    assert!(expected.iter().all(|numbers| numbers.iter().any(|&value| value != 0.0)), "{steps:?} has nothing to compare");
    let mut wrong = String::new();
    for context in contexts {
        let found = numbers(&transformed, context, &sizes)?;
        for ((n, found), expected) in sizes.iter().zip(&found).zip(&expected).filter(|((_, found), expected)| found != expected) {
            wrong.push_str(&format!("for n = {n} on {:?}: {found:?}, but {expected:?} is expected\n", context.device()));
        }
    }
    Ok(wrong)
}

#[test]
fn no_transformation_changes_the_numbers() {
    let contexts = contexts();
    let mut wrong = String::new();
    for (row, (_, steps)) in TABLE.iter().enumerate() {
        let message = differences(row, &contexts).unwrap_or_else(|error| error);
        if !message.is_empty() {
            wrong.push_str(&format!("---- {steps:?}\n{message}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn loops_that_may_be_fused_compute_the_same() {
    let plain = program(APART, &[]).unwrap();
    let kernel = plain.entry().unwrap();
    let candidates: BTreeSet<Name> = ["i".into(), "k".into()].into();
    let groups = get_kennedy_unweighted_fusion_candidates(kernel, &candidates, "ifused").unwrap();
    assert_eq!(groups.len(), 1);
    let fused = plain.with_kernel(rename_inames_in_batch(kernel, &groups).unwrap());
    for context in contexts() {
        assert_eq!(numbers(&fused, &context, &[1, 5, 16, 33]).unwrap(), numbers(&plain, &context, &[1, 5, 16, 33]).unwrap());
    }
}
