//! Steps on instructions, their order and their expressions.

use parloop_ir::matching::{Glob, Query};
use parloop_ir::parse;
use parloop_ir::step::{Arguments, StepValue, TransformStep};
use parloop_ir::syntax::{LoopKernel, MemoryKind, SyncScope};

use super::{ApplyError, done, finds, query, read_query};
use crate::{AssignmentToSubst, Barrier, ExtractSubst, NoSync, ReductionArgToSubstRule};

type Done = Result<LoopKernel, ApplyError>;

pub(super) fn add_dependency(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["insn_match", "depends_on"])?;
    // An empty query would find every instruction; here both are needed.
    arguments.text("insn_match")?;
    arguments.text("depends_on")?;
    let (dependents, depends_on) = (id_or_query(step, &arguments, "insn_match")?, id_or_query(step, &arguments, "depends_on")?);
    done(step, crate::add_dependency(kernel, &dependents, &depends_on))
}

/// A query; a plain name selects the instruction with that id.
fn id_or_query(step: &TransformStep, arguments: &Arguments<'_>, argument: &'static str) -> Result<Query, ApplyError> {
    match arguments.optional_text(argument)? {
        Some(text) if parse::is_name(text) && text != "all" => Ok(Query::Id(Glob::new(text))),
        _ => read_query(step, arguments, argument),
    }
}

pub(super) fn add_nosync(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["scope", "source", "sink", "bidirectional", "force", "empty_ok"])?;
    let scope = match arguments.text("scope")? {
        "local" => SyncScope::Local,
        "global" => SyncScope::Global,
        "any" => SyncScope::Any,
        _ => return Err(arguments.wrong("scope", "`local`, `global` or `any`").into()),
    };
    let between = NoSync::between(scope, id_or_query(step, &arguments, "source")?, id_or_query(step, &arguments, "sink")?);
    let nosync = NoSync {
        both_ways: arguments.flag("bidirectional", false)?,
        force: arguments.flag("force", false)?,
        empty_ok: arguments.flag("empty_ok", false)?,
        ..between
    };
    done(step, crate::add_nosync(kernel, &nosync))
}

pub(super) fn add_barrier(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let names = ["insn_before", "insn_after", "id_based_on", "tags", "synchronization_kind", "mem_kind", "within_inames"];
    let arguments = Arguments::of(step, &names)?;
    let (before, after) = (id_or_query(step, &arguments, "insn_before")?, id_or_query(step, &arguments, "insn_after")?);
    let mut barrier = match arguments.optional_text("synchronization_kind")?.unwrap_or("global") {
        "global" => Barrier::global(before, after),
        "local" => Barrier::local(before, after),
        _ => return Err(arguments.wrong("synchronization_kind", "`local` or `global`").into()),
    };
    barrier.memory = match arguments.optional_text("mem_kind")? {
        None => None,
        Some("local") => Some(MemoryKind::Local),
        Some("global") => Some(MemoryKind::Global),
        Some(_) => return Err(arguments.wrong("mem_kind", "`local` or `global`").into()),
    };
    barrier.id = arguments.optional_text("id_based_on")?.map(Into::into);
    barrier.tags = arguments.optional_names("tags")?.unwrap_or_default().into_iter().collect();
    barrier.within_inames = arguments.optional_names("within_inames")?.unwrap_or_default().into_iter().collect();
    done(step, crate::add_barrier(kernel, &barrier))
}

pub(super) fn assignment_to_subst(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["lhs_name", "extra_arguments", "within", "force_retain_argument"])?;
    let what = AssignmentToSubst {
        extra_arguments: arguments.optional_names("extra_arguments")?.unwrap_or_default(),
        within: query(kernel, step, &arguments, "within")?,
        force_retain_argument: arguments.flag("force_retain_argument", false)?,
        ..AssignmentToSubst::of(arguments.text("lhs_name")?)
    };
    done(step, crate::assignment_to_subst(kernel, &what))
}

pub(super) fn reduction_arg_to_subst_rule(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["inames", "subst_rule_name", "within"])?;
    let what = ReductionArgToSubstRule {
        rule: arguments.optional_text("subst_rule_name")?.map(Into::into),
        within: query(kernel, step, &arguments, "within")?,
        ..ReductionArgToSubstRule::over(arguments.names("inames")?)
    };
    done(step, crate::reduction_arg_to_subst_rule(kernel, &what))
}

pub(super) fn expand_subst(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["within"])?;
    done(step, crate::expand_subst(kernel, &query(kernel, step, &arguments, "within")?))
}

pub(super) fn extract_subst(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["subst_name", "template", "parameters", "within"])?;
    let template = parse::expression(arguments.text("template")?);
    let template = template.map_err(|error| ApplyError::Text { step: step.name.clone(), argument: "template", error })?;
    let parameters = arguments.optional_names("parameters")?.unwrap_or_default();
    let what = ExtractSubst {
        within: query(kernel, step, &arguments, "within")?,
        ..ExtractSubst::new(arguments.text("subst_name")?, template, parameters)
    };
    done(step, crate::extract_subst(kernel, &what))
}

/// A required query, which must select something.
fn needed_query(kernel: &LoopKernel, step: &TransformStep, arguments: &Arguments<'_>, argument: &'static str) -> Result<Query, ApplyError> {
    arguments.text(argument)?;
    finds(kernel, step, argument, id_or_query(step, arguments, argument)?)
}

pub(super) fn add_inames_to_insn(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["inames", "insn_match"])?;
    let query = needed_query(kernel, step, &arguments, "insn_match")?;
    done(step, crate::add_inames_to_insn(kernel, &arguments.names("inames")?, &query))
}

pub(super) fn remove_inames_from_insn(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["inames", "insn_match"])?;
    let query = needed_query(kernel, step, &arguments, "insn_match")?;
    done(step, crate::remove_inames_from_insn(kernel, &arguments.names("inames")?, &query))
}

/// `remove_instructions "id:a or id:b"`, or a list of ids.
pub(super) fn remove_instructions(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["insn_ids"])?;
    let Some(StepValue::List(_)) = arguments.get("insn_ids") else {
        return Ok(crate::remove_instructions(kernel, &needed_query(kernel, step, &arguments, "insn_ids")?));
    };
    let ids = arguments.names("insn_ids")?;
    let queries = ids.into_iter().map(|id| Query::Id(Glob::new(id)));
    let any = queries.reduce(|left, right| Query::Or(Box::new(left), Box::new(right)));
    let Some(query) = any else { return Ok(kernel.clone()) };
    Ok(crate::remove_instructions(kernel, &finds(kernel, step, "insn_ids", query)?))
}

pub(super) fn set_instruction_priority(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["insn_match", "priority"])?;
    let priority = i32::try_from(arguments.int("priority")?).map_err(|_| arguments.wrong("priority", "a 32-bit number"))?;
    Ok(crate::set_instruction_priority(kernel, &needed_query(kernel, step, &arguments, "insn_match")?, priority))
}

pub(super) fn tag_instructions(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["new_tag", "within"])?;
    Ok(crate::tag_instructions(kernel, &arguments.text("new_tag")?.into(), &query(kernel, step, &arguments, "within")?))
}

pub(super) fn add_inames_for_unused_hw_axes(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["within"])?;
    done(step, crate::add_inames_for_unused_hw_axes(kernel, &query(kernel, step, &arguments, "within")?))
}

pub(super) fn remove_predicates_from_insn(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["predicates", "insn_match"])?;
    let texts = arguments.names("predicates")?;
    let read = |text: &parloop_isl::Name| {
        parse::expression(text).map_err(|error| ApplyError::Text { step: step.name.clone(), argument: "predicates", error })
    };
    let predicates = texts.iter().map(read).collect::<Result<_, _>>()?;
    Ok(crate::remove_predicates_from_insn(kernel, &predicates, &needed_query(kernel, step, &arguments, "insn_match")?))
}

pub(super) fn collect_common_factors_on_increment(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["var_name"])?;
    done(step, crate::collect_common_factors_on_increment(kernel, &arguments.text("var_name")?.into()))
}
