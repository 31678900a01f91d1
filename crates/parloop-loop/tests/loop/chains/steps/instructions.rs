//! Transformations of instructions, their order and their expressions.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_loop::Name;
use parloop_loop::matching::Query;
use parloop_loop::syntax::{Expr, Instruction, LoopKernel};
use parloop_loop::transform;

use super::{View, list};

fn two_ids(view: &mut View<'_>) -> Option<(String, String)> {
    let ids = view.ids();
    let some = view.draw.some(&ids, 2);
    let [one, other] = &some[..] else { return None };
    // Mostly as they are written, so that there is no circle.
    let place = |id: &String| ids.iter().position(|known| known == id);
    let (first, last) = if place(one) < place(other) { (one, other) } else { (other, one) };
    Some(if view.draw.one_in(6) { (last.clone(), first.clone()) } else { (first.clone(), last.clone()) })
}

pub(super) fn add_barrier(view: &mut View<'_>) -> Option<String> {
    let (first, last) = two_ids(view)?;
    let local = view.maybe(2, |_| "synchronization_kind=local".to_owned());
    let within = view.maybe(3, |view| format!("within_inames={}", list(&view.nested())));
    Some(format!("{first} {last}{local}{within}"))
}

pub(super) fn add_dependency(view: &mut View<'_>) -> Option<String> {
    let (first, last) = two_ids(view)?;
    Some(format!("{last} {first}"))
}

/// The memory that an instruction reads, also in rules and as limits of its loops, and what it writes.
struct Memory {
    id: String,
    reads: BTreeSet<Name>,
    writes: BTreeSet<Name>,
}

impl Memory {
    /// Of all instructions.
    fn of(kernel: &LoopKernel) -> Vec<Memory> {
        let Ok(kernel) = transform::expand_subst(kernel, &Query::All) else { return Vec::new() };
        let storage = |name: Name| kernel.temporaries.get(&name).and_then(|known| known.base_storage.clone()).unwrap_or(name);
        let limits = |iname: &Name| kernel.domains.iter().find(|domain| domain.has_dim(iname)).map_or(&[][..], |domain| domain.params());
        let of_instruction = |instruction: &Arc<Instruction>| {
            let reduced = instruction.reduction_inames();
            let limits = instruction.within_inames.iter().chain(&reduced).flat_map(limits).cloned();
            Memory {
                id: instruction.id.to_string(),
                reads: instruction.reads().into_iter().chain(limits).map(storage).collect(),
                writes: instruction.writes().into_iter().map(storage).collect(),
            }
        };
        kernel.instructions.iter().map(of_instruction).collect()
    }
}

/// Two instructions that share nothing that either writes: what is promised is true.
pub(super) fn add_nosync(view: &mut View<'_>) -> Option<String> {
    let (first, last) = two_ids(view)?;
    let all = Memory::of(view.kernel);
    let of = |id: &String| all.iter().find(|memory| memory.id == *id);
    let (one, other) = (of(&first)?, of(&last)?);
    let meets = |a: &BTreeSet<_>, b: &BTreeSet<_>| !a.is_disjoint(b);
    if meets(&one.writes, &other.writes) || meets(&one.writes, &other.reads) || meets(&one.reads, &other.writes) {
        return None;
    }
    let scope = view.draw.of(&["local", "global", "any"]);
    Some(format!("{scope} {first} {last} force=True bidirectional=True"))
}

pub(super) fn add_inames_to_insn(view: &mut View<'_>) -> Option<String> {
    Some(format!("{} {}", view.iname()?, view.id()?))
}

pub(super) fn remove_inames_from_insn(view: &mut View<'_>) -> Option<String> {
    let all: Vec<(String, String)> = view
        .kernel
        .instructions
        .iter()
        .flat_map(|instruction| instruction.within_inames.iter().map(|iname| (iname.to_string(), instruction.id.to_string())))
        .collect();
    let (iname, id) = view.draw.any(&all)?;
    Some(format!("{iname} {id}"))
}

/// An instruction that writes what nothing reads: that it is not needed is the caller's promise.
pub(super) fn remove_instructions(view: &mut View<'_>) -> Option<String> {
    let all = Memory::of(view.kernel);
    let is_temporary = |name: &Name| !view.kernel.arguments.iter().any(|argument| argument.name == *name);
    let is_dead = |own: &&Memory| {
        let is_read = |other: &Memory| other.id != own.id && !other.reads.is_disjoint(&own.writes);
        !own.writes.is_empty() && own.writes.iter().all(is_temporary) && !all.iter().any(is_read)
    };
    let dead: Vec<String> = all.iter().filter(is_dead).map(|memory| memory.id.clone()).collect();
    view.draw.any(&dead)
}

pub(super) fn set_instruction_priority(view: &mut View<'_>) -> Option<String> {
    Some(format!("id:{} {}", view.id()?, view.draw.of(&[-5, 5, 9])))
}

pub(super) fn tag_instructions(view: &mut View<'_>) -> Option<String> {
    Some(format!("mine within=\"id:{}\"", view.id()?))
}

pub(super) fn assignment_to_subst(view: &mut View<'_>) -> Option<String> {
    let (temporaries, arrays, written) = (view.temporaries(), view.arrays(), view.written());
    let temporary = view.draw.any(&temporaries);
    let array = view.draw.any(&arrays).filter(|(name, _)| written.contains(name) && view.draw.one_in(4));
    let (name, _) = array.or(temporary)?;
    let extra = view.maybe(3, |view| format!("extra_arguments={}", list(&view.nested())));
    let retain = view.maybe(4, |_| "force_retain_argument=True".to_owned());
    let within = view.within();
    Some(format!("{name}{extra}{retain}{within}"))
}

pub(super) fn expand_subst(view: &mut View<'_>) -> Option<String> {
    (!view.kernel.substitutions.is_empty()).then(|| view.within().trim_start().to_owned())
}

/// A rule for a read of an array: of any element, or of exactly that one.
pub(super) fn extract_subst(view: &mut View<'_>) -> Option<String> {
    let reads = view.reads();
    let read = view.draw.any(&reads)?;
    let Expr::Subscript(array, indices) = &read else { return None };
    let rule = view.fresh("e");
    let within = view.within();
    if view.draw.one_in(4) {
        return Some(format!("{rule} \"{read}\" []{within}"));
    }
    let parameters: Vec<String> = (0..indices.len()).map(|at| format!("u{at}")).collect();
    Some(format!("{rule} \"{array}{}\" {}{within}", list(&parameters), list(&parameters)))
}

pub(super) fn reduction_arg_to_subst_rule(view: &mut View<'_>) -> Option<String> {
    let inames = view.reduction_inames();
    let iname = view.draw.any(&inames)?;
    let within = view.within();
    Some(format!("{iname}{within}"))
}

pub(super) fn realize_reduction(view: &mut View<'_>) -> Option<String> {
    if view.reduction_inames().is_empty() {
        return None;
    }
    let id = view.id()?;
    let only = view.maybe(4, |_| format!("insn_id_filter=[{id}]"));
    let scan = view.draw.of(&["", "", " force_scan=True", " automagic_scans_ok=True"]);
    Some(format!("{only}{scan}").trim_start().to_owned())
}

pub(super) fn inline_callable_kernel(view: &mut View<'_>) -> Option<String> {
    let others: Vec<String> = view.program.callables.keys().filter(|name| **name != view.kernel.name).map(ToString::to_string).collect();
    view.draw.any(&others)
}

pub(super) fn add_inames_for_unused_hw_axes(_: &mut View<'_>) -> Option<String> {
    Some(String::new())
}

pub(super) fn pack_and_unpack_args_for_call(view: &mut View<'_>) -> Option<String> {
    inline_callable_kernel(view)
}
