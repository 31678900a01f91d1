//! Schedules of kernels that are built by hand: nests, orders and their errors.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_loop::schedule::{Schedule, ScheduleError};
use parloop_loop::sequence::SequenceError;
use parloop_loop::syntax::{Expr, Iname, InameTag, Instruction, KernelOptions, LoopKernel, Phase, Program};
use parloop_loop::{Name, Set};

pub fn names(text: &str) -> Vec<Name> {
    text.split_whitespace().map(Name::from).collect()
}

/// `id: writes = reads` in inames, after other instructions.
pub fn instruction(id: &str, inames: &str, after: &str) -> Instruction {
    let mut made = Instruction::assign(id, Expr::subscript(format!("out_{id}"), [Expr::int(0)]), Expr::int(0));
    made.within_inames = names(inames).into_iter().collect();
    made.depends_on = names(after).into_iter().collect();
    made
}

/// A kernel over domains without bounds: `"i j"`, or `"n -> i j"` with parameters.
pub fn kernel(domains: &[&str], instructions: Vec<Instruction>) -> LoopKernel {
    let domain = |text: &str| match text.split_once("->") {
        Some((params, dims)) => Set::universe(&names(params), &names(dims)),
        None => Set::universe(&[], &names(text)),
    };
    let domains: Vec<Set> = domains.iter().map(|text| domain(text)).collect();
    let inames = domains.iter().flat_map(|domain| domain.dims().iter().cloned()).map(|name| (name, Iname::default())).collect();
    LoopKernel {
        name: "knl".into(),
        domains,
        instructions: instructions.into_iter().map(Arc::new).collect(),
        arguments: Vec::new(),
        temporaries: BTreeMap::new(),
        inames,
        substitutions: BTreeMap::new(),
        assumptions: Set::universe(&[], &[]),
        priorities: BTreeSet::new(),
        preambles: BTreeSet::new(),
        index_type: parloop_device::DType::I32,
        default_type: None,
        options: KernelOptions::default(),
        phase: Phase::Realised,
    }
}

pub fn tagged(mut kernel: LoopKernel, tags: &[(&str, InameTag)]) -> LoopKernel {
    for (iname, tag) in tags {
        kernel.inames.get_mut(*iname).unwrap().tags.insert(tag.clone());
    }
    kernel
}

pub fn schedule(kernel: &LoopKernel) -> Result<Schedule, ScheduleError> {
    parloop_loop::schedule::schedule(&Program::of(kernel.clone()), kernel)
}

/// The tree, without the line of the launch.
fn tree(kernel: &LoopKernel) -> String {
    schedule(kernel).unwrap().to_string().replace("launch knl\n", "")
}

fn error(kernel: &LoopKernel) -> String {
    schedule(kernel).unwrap_err().to_string()
}

#[test]
fn instructions_of_one_iname_share_a_loop() {
    let kernel = kernel(&["i"], vec![instruction("a", "i", ""), instruction("b", "i", "a")]);
    assert_eq!(tree(&kernel), "  for i\n    run a\n    run b\n");
}

#[test]
fn a_loop_around_more_instructions_is_outside() {
    let kernel = kernel(&["j i"], vec![instruction("a", "i", ""), instruction("b", "i j", "a"), instruction("c", "i", "b")]);
    assert_eq!(tree(&kernel), "  for i\n    run a\n    for j\n      run b\n    run c\n");
}

#[test]
fn loops_around_the_same_instructions_nest_as_declared_or_as_asked() {
    let mut kernel = kernel(&["i j k"], vec![instruction("a", "i j k", "")]);
    assert_eq!(tree(&kernel), "  for i\n    for j\n      for k\n        run a\n");
    kernel.priorities.insert(names("k i"));
    assert_eq!(tree(&kernel), "  for j\n    for k\n      for i\n        run a\n");
    kernel.priorities.insert(names("i k"));
    assert_eq!(error(&kernel), "loops `i`, `k` cannot be ordered: each must be outside another; change prioritize_loops");
}

#[test]
fn a_loop_is_inside_of_what_bounds_it() {
    let kernel = kernel(&["i -> j", "i"], vec![instruction("a", "i j", "")]);
    assert_eq!(tree(&kernel), "  for i\n    for j\n      run a\n");
}

#[test]
fn an_instruction_outside_of_a_bound_of_its_loop_is_an_error() {
    let kernel = kernel(&["i", "i -> j"], vec![instruction("a", "i j", ""), instruction("b", "j", "")]);
    assert!(
        matches!(schedule(&kernel), Err(ScheduleError::Sequence(SequenceError::BoundOutside { instruction, .. })) if instruction == "b")
    );
}

#[test]
fn unrolled_loops_are_inner_and_parallel_inames_are_no_loops() {
    let mut kernel = kernel(&["u i g l"], vec![instruction("a", "u i g l", "")]);
    kernel.domains = vec![Set::parse("{[u,i,g,l]: 0<=u<4 and 0<=i<n and 0<=g<n and 0<=l<16}").unwrap()];
    let kernel = tagged(kernel, &[("u", InameTag::Unroll), ("g", InameTag::Group(0)), ("l", InameTag::Local(0))]);
    assert_eq!(tree(&kernel), "  for i\n    for u\n      run a\n");
}

#[test]
fn an_impossible_priority_names_the_instruction_in_the_way() {
    let mut kernel = kernel(&["i j"], vec![instruction("a", "i", ""), instruction("b", "i j", "")]);
    kernel.priorities.insert(names("j i"));
    assert_eq!(error(&kernel), "loops cannot nest as `j`, `i`: `a` runs in `i` and not in `j`; change prioritize_loops");
}

#[test]
fn a_loop_at_two_places_is_an_error_that_proposes_a_duplicate() {
    let kernel = kernel(&["i j"], vec![instruction("a", "i", ""), instruction("b", "i j", ""), instruction("c", "j", "")]);
    assert_eq!(
        error(&kernel),
        "iname `j` would have to be one loop in two places: `b` runs in loops `i`, `j`, `c` runs in loop `j`; give one of them its own loop: duplicate_inames(\"j\", within=\"id:c\")"
    );
}

#[test]
fn dependencies_decide_the_order_then_priority_then_the_text() {
    let mut urgent = instruction("urgent", "j", "");
    urgent.priority = 5;
    let kernel = kernel(
        &["i j k"],
        vec![
            instruction("late", "", "loop_k"),
            instruction("x", "i", ""),
            instruction("loop_k", "k", ""),
            urgent,
            instruction("last", "", ""),
        ],
    );
    assert_eq!(tree(&kernel), "  for j\n    run urgent\n  for i\n    run x\n  for k\n    run loop_k\n  run late\n  run last\n");
}

#[test]
fn a_loop_before_and_after_something_is_an_error_that_proposes_a_duplicate() {
    let kernel = kernel(&["i j"], vec![instruction("a", "i", ""), instruction("b", "j", "a"), instruction("c", "i", "b")]);
    assert_eq!(
        error(&kernel),
        "loops over `i`, `j` cannot be ordered: `c` depends on `b`, and `b` depends on `a`, so each would have to come before the other; give one instruction its own loop: duplicate_inames(\"i\", within=\"id:c\")"
    );
}

#[test]
fn a_circle_of_dependencies_is_named() {
    let kernel = kernel(&["i"], vec![instruction("a", "i", "b"), instruction("b", "i", "a")]);
    assert_eq!(error(&kernel), "instructions `a`, `b` form a dependency cycle; remove one of the dependencies");
    let kernel = self::kernel(&["i"], vec![instruction("a", "i", "nobody")]);
    assert_eq!(error(&kernel), "`a` depends on `nobody`, which is not an instruction in the kernel");
}

#[test]
fn ilp_and_vec_loops_are_opened_inside_of_the_loops_in_their_instructions() {
    let part = |array: &str| Expr::subscript(array, [Expr::var("v")]);
    let mut init = Instruction::assign("init", part("acc"), Expr::int(0));
    let mut add = Instruction::assign("add", part("acc"), Expr::subscript("a", [Expr::var("k"), Expr::var("v")]));
    let mut twice = Instruction::assign("twice", part("b"), part("acc"));
    let mut other = Instruction::assign("other", part("c"), Expr::subscript("b", [Expr::int(0)]));
    for (made, inames, after) in [(&mut init, "v", ""), (&mut add, "v k", "init"), (&mut twice, "v k", "add"), (&mut other, "v k", "twice")]
    {
        made.within_inames = names(inames).into_iter().collect();
        made.depends_on = names(after).into_iter().collect();
    }
    let kernel = tagged(kernel(&["v k"], vec![init, add, twice, other]), &[("v", InameTag::Vector)]);
    // `add` and `twice` use what the same lane made; `other` uses what lane 0 made.
    assert_eq!(tree(&kernel), "  for v\n    run init\n  for k\n    for v\n      run add\n      run twice\n    for v\n      run other\n");
}

#[test]
fn a_group_is_finished_before_what_conflicts_with_it() {
    let grouped = |id: &str, group: &str, conflicts: &str, after: &str| {
        let mut made = instruction(id, "", after);
        made.groups = names(group).into_iter().collect();
        made.conflicts = names(conflicts).into_iter().collect();
        made
    };
    let made = kernel(
        &["i"],
        vec![grouped("a1", "g", "h", ""), grouped("b1", "h", "g", ""), grouped("b2", "h", "g", "b1"), grouped("a2", "g", "h", "a1")],
    );
    assert_eq!(tree(&made), "  run a1\n  run a2\n  run b1\n  run b2\n");
    let made = kernel(&["i"], vec![grouped("a1", "g", "", ""), grouped("b", "", "g", "a1"), grouped("a2", "g", "", "b")]);
    assert!(
        matches!(schedule(&made), Err(ScheduleError::Sequence(SequenceError::GroupConflict { instruction, group })) if instruction == "b" && group == "g")
    );
}

#[test]
fn five_hundred_nests_take_no_time() {
    let domains: Vec<String> = (0..500).map(|at| format!("i{at} j{at}")).collect();
    let domains: Vec<&str> = domains.iter().map(String::as_str).collect();
    let instructions = (0..500)
        .map(|at| {
            let after = if at == 0 { String::new() } else { format!("s{}", at - 1) };
            instruction(&format!("s{at}"), &format!("i{at} j{at}"), &after)
        })
        .collect();
    let kernel = kernel(&domains, instructions);
    let start = std::time::Instant::now();
    let made = schedule(&kernel).unwrap();
    assert_eq!(made.launches[0].instructions().len(), 500);
    assert!(start.elapsed().as_millis() < 500, "{:?}", start.elapsed());
}
