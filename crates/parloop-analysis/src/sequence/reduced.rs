//! Reductions that run in the loops of other instructions. `for i {t = a[i]}; s = sum(i, t)` sums each `t`, not the last one many times: a
//! temporary that each iteration of a loop sets is read at the end of the iteration by a reduction over that loop.

use std::collections::{BTreeMap, BTreeSet};

use parloop_ir::substitution::called_rules;
use parloop_ir::syntax::{Expr, Instruction, LoopKernel, TimeStep};
use parloop_isl::Name;

use super::Times;
use crate::access::accesses;

/// When an instruction reads temporaries that iterations of its reduction loops set.
pub(super) fn times_in_loops(kernel: &LoopKernel, instruction: &Instruction, times: &Times) -> BTreeMap<Name, Vec<TimeStep>> {
    let exprs = with_rules(kernel, instruction);
    let inames: BTreeSet<Name> = exprs.iter().flat_map(|expr| expr.reduction_inames()).collect();
    let mut found = BTreeMap::new();
    if inames.is_empty() {
        return found;
    }
    let mut read: BTreeSet<Name> = exprs.iter().flat_map(|expr| expr.variables()).collect();
    // A loop reads its bounds.
    let bounded = kernel.domains.iter().filter(|domain| domain.dims().iter().any(|dim| inames.contains(dim)));
    read.extend(bounded.flat_map(|domain| domain.params().iter().cloned()));
    let Some(own) = times.of.get(&instruction.id) else { return found };
    for writer in &kernel.instructions {
        let Some(when) = times.of.get(&writer.id) else { continue };
        for iname in inames.iter().filter(|iname| writer.within_inames.contains(*iname)) {
            let Some(end) = times.ends.iter().find(|end| is_end_of(end, when, iname)) else { continue };
            let is_known = |step: &TimeStep| match step {
                TimeStep::Loop(Expr::Variable(name)) => name == iname || instruction.within_inames.contains(name),
                _ => true,
            };
            let is_set_anew = |name: &Name| {
                let writes = accesses(kernel, writer).into_iter().filter(|access| access.write && access.name == *name);
                writes.flat_map(|access| access.indices.unwrap_or_default()).all(|index| !index.variables().contains(iname))
            };
            let is_temporary = |name: &&Name| kernel.temporaries.contains_key(*name) && read.contains(*name);
            if end.iter().all(is_known) && is_behind(own, end) {
                let written = writer.writes();
                for name in written.iter().filter(is_temporary).filter(|name| is_set_anew(name)) {
                    found.insert(name.clone(), end.clone());
                }
            }
        }
    }
    found
}

/// Whether a time is after the loop whose iterations end then, in the same body.
fn is_behind(when: &[TimeStep], end: &[TimeStep]) -> bool {
    let place = end.len() - 3;
    let at = |steps: &[TimeStep]| match steps.get(place) {
        Some(TimeStep::At(at)) => Some(*at),
        _ => None,
    };
    when.starts_with(&end[..place]) && matches!((at(when), at(end)), (Some(own), Some(of_loop)) if own > of_loop)
}

/// Whether a time is in an iteration, which ends then, of the loop over an iname.
fn is_end_of(end: &[TimeStep], when: &[TimeStep], iname: &Name) -> bool {
    let turn = &end[..end.len() - 1];
    when.starts_with(turn) && turn.last() == Some(&TimeStep::Loop(Expr::Variable(iname.clone())))
}

/// The expressions of an instruction, and those of the rules that it calls.
fn with_rules<'k>(kernel: &'k LoopKernel, instruction: &'k Instruction) -> Vec<&'k Expr> {
    let mut exprs = instruction.exprs();
    let called: BTreeSet<Name> = exprs.iter().flat_map(|expr| called_rules(expr, &kernel.substitutions)).collect();
    exprs.extend(called.iter().map(|name| &kernel.substitutions[name].body));
    exprs
}
