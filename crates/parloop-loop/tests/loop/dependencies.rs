//! Transformations of arguments, dependencies and barriers, and errors of misuse.

use std::collections::BTreeSet;

use parloop_loop::create::KernelBuilder;
use parloop_loop::matching::Query;
use parloop_loop::parse;
use parloop_loop::syntax::{ArgumentKind, InstructionKind, LoopKernel, MemoryKind, Shape, SyncScope};
use parloop_loop::transform::*;
use parloop_loop::{Name, Set};

fn three() -> LoopKernel {
    let text = "a[i] = 1 {id=first}\nb[i] = a[i] {id=second, dep=first}\nc[i] = 2 {id=third}";
    KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions(text).build_kernel().unwrap()
}

fn query(text: &str) -> Query {
    parse::query(text).unwrap()
}

fn ids(ids: &[&str]) -> BTreeSet<Name> {
    ids.iter().map(|id| Name::from(*id)).collect()
}

fn find<'a>(kernel: &'a LoopKernel, id: &str) -> &'a parloop_loop::syntax::Instruction {
    kernel.instructions.iter().find(|instruction| instruction.id == id).unwrap()
}

#[test]
fn a_dependency_is_added_to_all_that_match_but_not_to_itself() {
    let after = add_dependency(&three(), &query("id:third"), &query("id:*")).unwrap();
    assert_eq!(find(&after, "third").depends_on, ids(&["first", "second"]));
    assert_eq!(find(&after, "second").depends_on, ids(&["first"]));
}

#[test]
fn misuse_of_add_dependency_is_named() {
    let message = |dependents: &str, on: &str| add_dependency(&three(), &query(dependents), &query(on)).unwrap_err().to_string();
    assert_eq!(
        message("id:x", "id:first"),
        "no instruction of kernel `loopy_kernel` matches `id:x`, so there is nothing to add the dependency to"
    );
    assert_eq!(message("id:first", "id:x"), "no instruction of kernel `loopy_kernel` matches `id:x`, so there is nothing to depend on");
    assert_eq!(message("id:first", "id:third or id:second"), "instruction `first` cannot depend on `second`, which already depends on it");
}

#[test]
fn pairs_that_depend_on_each_other_need_no_barrier_when_it_is_said() {
    let after = add_nosync(&three(), &NoSync::between(SyncScope::Local, query("id:first"), query("id:*"))).unwrap();
    assert_eq!(find(&after, "second").nosync, BTreeSet::from([("first".into(), SyncScope::Local)]));
    assert!(find(&after, "third").nosync.is_empty() && find(&after, "first").nosync.is_empty());
    let forced = NoSync { force: true, both_ways: true, ..NoSync::between(SyncScope::Global, query("id:first"), query("id:third")) };
    let after = add_nosync(&three(), &forced).unwrap();
    assert_eq!(find(&after, "third").nosync, BTreeSet::from([("first".into(), SyncScope::Global)]));
    assert_eq!(find(&after, "first").nosync, BTreeSet::from([("third".into(), SyncScope::Global)]));
}

#[test]
fn misuse_of_add_nosync_is_named() {
    let between = |source: &str, sink: &str| NoSync::between(SyncScope::Any, query(source), query(sink));
    let message = |nosync: NoSync| add_nosync(&three(), &nosync).unwrap_err().to_string();
    assert_eq!(
        message(between("id:x", "id:first")),
        "no instruction of kernel `loopy_kernel` matches `id:x`, the source of the nosync pair"
    );
    assert_eq!(message(between("id:first", "id:x")), "no instruction of kernel `loopy_kernel` matches `id:x`, the sink of the nosync pair");
    assert_eq!(
        message(between("id:first", "id:third")),
        "no instruction that matches `id:third` depends on, or has a conflicting group with, one that matches `id:first`; use `force` if it is intended"
    );
    let empty_ok = NoSync { empty_ok: true, ..between("id:first", "id:third") };
    assert_eq!(add_nosync(&three(), &empty_ok).unwrap(), three());
}

#[test]
fn a_barrier_stands_between_what_it_was_given() {
    let after = add_barrier(&three(), &Barrier::global(query("id:first"), query("id:second"))).unwrap();
    let barrier = find(&after, "g_barrier");
    assert_eq!(barrier.kind, InstructionKind::Barrier { scope: SyncScope::Global, memory: MemoryKind::Global });
    assert_eq!(barrier.depends_on, ids(&["first"]));
    assert_eq!(find(&after, "second").depends_on, ids(&["first", "g_barrier"]));
    let local =
        Barrier { memory: Some(MemoryKind::Global), within_inames: ids(&["i"]), ..Barrier::local(query("id:first"), query("id:second")) };
    let after = add_barrier(&after, &local).unwrap();
    assert_eq!(find(&after, "l_barrier").kind, InstructionKind::Barrier { scope: SyncScope::Local, memory: MemoryKind::Global });
    assert_eq!(find(&after, "l_barrier").within_inames, ids(&["i"]));
}

#[test]
fn misuse_of_add_barrier_is_named() {
    let message = |barrier: Barrier| add_barrier(&three(), &barrier).unwrap_err().to_string();
    assert_eq!(
        message(Barrier::global(query("id:x"), query("id:second"))),
        "no instruction of kernel `loopy_kernel` matches `id:x`, so there is nothing before the barrier"
    );
    assert_eq!(
        message(Barrier::global(query("id:first"), query("id:x"))),
        "no instruction of kernel `loopy_kernel` matches `id:x`, so there is nothing to add the dependency to"
    );
    assert_eq!(
        message(Barrier::global(query("id:second"), query("id:first"))),
        "instruction `first` cannot depend on `g_barrier`, which already depends on it"
    );
    assert_eq!(
        message(Barrier { within_inames: ids(&["j"]), ..Barrier::global(query("id:first"), query("id:second")) }),
        "kernel `loopy_kernel` has no iname `j`; available: `i`"
    );
    assert_eq!(
        message(Barrier { scope: SyncScope::Any, ..Barrier::global(query("id:first"), query("id:second")) }),
        "a barrier is `local` (the work items of a group) or `global` (all work items), not `any`"
    );
}

#[test]
fn a_renamed_argument_has_its_name_in_expressions_shapes_and_domains() {
    let before = assume(&three(), "n >= 1").unwrap();
    let after = rename_argument(&rename_argument(&before, "n", "size").unwrap(), "a", "x").unwrap();
    assert!(after.domains[0].is_equal(&Set::parse("{[i]: 0<=i<size}").unwrap()).unwrap());
    assert_eq!(after.assumptions.params(), ["size"]);
    assert_eq!(find(&after, "second").rhs()[0].to_string(), "x[i]");
    let x = after.arguments.iter().find(|argument| argument.name == "x").unwrap();
    let ArgumentKind::Array { layout, .. } = &x.kind else { panic!("no array") };
    let Shape::Known(shape) = &layout.shape else { panic!("no shape") };
    assert_eq!(shape[0].to_string(), "size");
    assert_eq!(
        rename_argument(&before, "aa", "x").unwrap_err().to_string(),
        "kernel `loopy_kernel` has no argument `aa`; available: `a`, `b`, `c`, `n`"
    );
    assert_eq!(
        rename_argument(&before, "a", "i").unwrap_err().to_string(),
        "`i` is already a name in kernel `loopy_kernel`; choose another one"
    );
}

#[test]
fn arguments_are_ordered_as_named() {
    let order = |names: &[&str]| set_argument_order(&three(), &names.iter().map(|name| Name::from(*name)).collect::<Vec<_>>());
    let after = order(&["c", "n", "a", "b"]).unwrap();
    assert_eq!(after.arguments.iter().map(|argument| argument.name.as_str()).collect::<Vec<_>>(), ["c", "n", "a", "b"]);
    assert_eq!(order(&["c", "a"]).unwrap_err().to_string(), "the argument order of kernel `loopy_kernel` leaves out `b`, `n`");
    assert_eq!(order(&["c", "c"]).unwrap_err().to_string(), "argument `c` appears twice in the argument order");
    assert_eq!(order(&["x"]).unwrap_err().to_string(), "kernel `loopy_kernel` has no argument `x`; available: `a`, `b`, `c`, `n`");
}
