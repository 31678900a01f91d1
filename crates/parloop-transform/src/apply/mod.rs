//! The table of transformations by name, for text and for Python: a [`TransformStep`] in, a transformed program out.

mod arrays;
mod inames;
mod instructions;
mod reductions;

use std::error::Error;
use std::str::FromStr;

use parloop_ir::matching::Query;
use parloop_ir::parse::{self, ParseError, nearest};
use parloop_ir::program::Program;
use parloop_ir::step::{Arguments, StepError, StepValue, TransformStep};
use parloop_ir::syntax::{AddressSpace, InameTag, LoopKernel, TagError};
use parloop_isl::Name;

/// Why a step fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum ApplyError {
    #[error("unknown transformation `{name}`{}", .nearest.as_ref().map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default())]
    Unknown { name: Name, nearest: Option<String> },
    #[error("`{step}` needs one of the kernels {kernels}; choose it with `in_kernel=NAME`")]
    Which { step: Name, kernels: String },
    #[error("`{step}`: no kernel `{name}` in the program")]
    NoKernel { step: Name, name: Name },
    #[error(transparent)]
    Arguments(#[from] StepError),
    #[error("`{step}`: argument `{argument}`: {error}")]
    Text { step: Name, argument: &'static str, error: ParseError },
    #[error("`{step}`: argument `{argument}`: {error}")]
    Tag { step: Name, argument: &'static str, error: TagError },
    #[error("`{step}`: `{argument}` is `{query}`, which matches no instruction of kernel `{kernel}`; its instructions are {ids}")]
    NothingFound { step: Name, argument: &'static str, query: Query, kernel: Name, ids: String },
    #[error("{step}: {error}")]
    Failed { step: Name, error: Box<dyn Error + Send + Sync> },
}

type ApplyStep = fn(&LoopKernel, &TransformStep) -> Result<LoopKernel, ApplyError>;

/// Every transformation of one kernel, by name.
const TABLE: &[(&str, ApplyStep)] = &[
    ("add_barrier", instructions::add_barrier),
    ("add_dependency", instructions::add_dependency),
    ("add_inames_for_unused_hw_axes", instructions::add_inames_for_unused_hw_axes),
    ("add_inames_to_insn", instructions::add_inames_to_insn),
    ("add_nosync", instructions::add_nosync),
    ("add_padding", arrays::add_padding),
    ("add_prefetch", arrays::add_prefetch),
    ("affine_map_inames", inames::affine_map_inames),
    ("alias_temporaries", arrays::alias_temporaries),
    ("allocate_temporaries_for_base_storage", arrays::allocate_temporaries_for_base_storage),
    ("assignment_to_subst", instructions::assignment_to_subst),
    ("assume", inames::assume),
    ("buffer_array", arrays::buffer_array),
    ("chunk_iname", inames::chunk_iname),
    ("collect_common_factors_on_increment", instructions::collect_common_factors_on_increment),
    ("concatenate_arrays", arrays::concatenate_arrays),
    ("duplicate_inames", inames::duplicate_inames),
    ("expand_subst", instructions::expand_subst),
    ("extract_subst", instructions::extract_subst),
    ("fix_parameters", inames::fix_parameters),
    ("join_inames", inames::join_inames),
    ("make_reduction_inames_unique", inames::make_reduction_inames_unique),
    ("map_domain", inames::map_domain),
    ("precompute", arrays::precompute),
    ("prioritize_loops", inames::prioritize_loops),
    ("privatize_temporaries_with_inames", arrays::privatize_temporaries_with_inames),
    ("reduction_arg_to_subst_rule", instructions::reduction_arg_to_subst_rule),
    ("remove_inames_from_insn", instructions::remove_inames_from_insn),
    ("remove_instructions", instructions::remove_instructions),
    ("remove_predicates_from_insn", instructions::remove_predicates_from_insn),
    ("remove_unused_arguments", arrays::remove_unused_arguments),
    ("remove_unused_inames", inames::remove_unused_inames),
    ("rename_argument", arrays::rename_argument),
    ("rename_iname", inames::rename_iname),
    ("rename_inames", inames::rename_inames),
    ("rename_inames_in_batch", inames::rename_inames_in_batch),
    ("set_argument_order", arrays::set_argument_order),
    ("set_array_axis_names", arrays::set_array_axis_names),
    ("set_instruction_priority", instructions::set_instruction_priority),
    ("set_temporary_address_space", arrays::set_temporary_address_space),
    ("simplify_indices", arrays::simplify_indices),
    ("split_array_axis", arrays::split_array_axis),
    ("split_iname", inames::split_iname),
    ("split_reduction_inward", inames::split_reduction_inward),
    ("split_reduction_outward", inames::split_reduction_outward),
    ("tag_array_axes", arrays::tag_array_axes),
    ("tag_inames", inames::tag_inames),
    ("tag_instructions", instructions::tag_instructions),
    ("to_batched", arrays::to_batched),
    ("unprivatize_temporaries_with_inames", arrays::unprivatize_temporaries_with_inames),
    ("untag_inames", inames::untag_inames),
];

/// Transformations that need more of the program than the kernel.
const OF_PROGRAMS: [&str; 3] = ["inline_callable_kernel", "pack_and_unpack_args_for_call", "realize_reduction"];

/// Applies a transformation to the only kernel of a program, or to the one that `in_kernel=NAME` selects.
///
/// ```
/// use parloop_loop::{create::make_kernel, parse::step, transform::apply};
/// let program = make_kernel("{[i]: 0<=i<n}", "a[i] = 2")?;
/// let program = apply(&program, &step("split_iname i 16 inner_tag=l.0")?)?;
/// assert!(program.entry().unwrap().inames.contains_key("i_inner"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the transformation is unknown, its arguments are invalid, or it is not possible.
pub fn apply(program: &Program, step: &TransformStep) -> Result<Program, ApplyError> {
    if step.name == "inline_callable_kernel" {
        let arguments = Arguments::of(step, &["function_name"])?;
        let inlined = super::inline_callable_kernel(program, arguments.text("function_name")?);
        return inlined.map_err(|error| ApplyError::Failed { step: step.name.clone(), error: Box::new(error) });
    }
    let mut step = step.clone();
    let given = step.keywords.iter().position(|(name, _)| name == "in_kernel").map(|at| step.keywords.remove(at).1);
    let name = match &given {
        Some(value) => value.as_text().map(Name::from).ok_or_else(|| wrong(&step, "in_kernel", "the name of a kernel", value))?,
        None => only_kernel(program, &step)?,
    };
    let kernel = program.kernel(&name).ok_or_else(|| ApplyError::NoKernel { step: step.name.clone(), name: name.clone() })?;
    match step.name.as_str() {
        "pack_and_unpack_args_for_call" => {
            let arguments = Arguments::of(&step, &["call_name"])?;
            done(&step, super::pack_and_unpack_args_for_call(program, &name, arguments.text("call_name")?))
        }
        "realize_reduction" => reductions::realize_reduction(program, &name, &step),
        _ => Ok(program.with_kernel(apply_to_kernel(kernel, &step)?)),
    }
}

/// Applies a transformation to a kernel.
///
/// # Errors
/// As [`apply`].
pub fn apply_to_kernel(kernel: &LoopKernel, step: &TransformStep) -> Result<LoopKernel, ApplyError> {
    match TABLE.iter().find(|(name, _)| *name == step.name.as_str()) {
        Some((_, apply)) => apply(kernel, step),
        None => {
            let nearest = nearest(&step.name, TABLE.iter().map(|(name, _)| *name).chain(OF_PROGRAMS));
            Err(ApplyError::Unknown { name: step.name.clone(), nearest })
        }
    }
}

/// The names of all transformations of [`apply`].
pub fn known_steps() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name).chain(OF_PROGRAMS)
}

fn only_kernel(program: &Program, step: &TransformStep) -> Result<Name, ApplyError> {
    let kernels = || program.callables.iter().filter(|(_, callable)| callable.kernel().is_some()).map(|(name, _)| name);
    let mut candidates: Vec<&Name> =
        if program.entrypoints.is_empty() { kernels().collect() } else { program.entrypoints.iter().collect() };
    match (candidates.pop(), candidates.is_empty()) {
        (Some(name), true) => Ok(name.clone()),
        _ => {
            let names: Vec<String> = kernels().map(|name| format!("`{name}`")).collect();
            Err(ApplyError::Which { step: step.name.clone(), kernels: names.join(", ") })
        }
    }
}

fn wrong(step: &TransformStep, argument: &str, expected: &'static str, found: &StepValue) -> ApplyError {
    StepError::WrongType { step: step.name.clone(), argument: argument.into(), expected, found: found.describe() }.into()
}

/// The result of a transformation, with the step's name in errors.
fn done<T, E: Error + Send + Sync + 'static>(step: &TransformStep, result: Result<T, E>) -> Result<T, ApplyError> {
    result.map_err(|error| ApplyError::Failed { step: step.name.clone(), error: Box::new(error) })
}

/// A query that must select some instruction; all if not given.
fn query(kernel: &LoopKernel, step: &TransformStep, arguments: &Arguments<'_>, argument: &'static str) -> Result<Query, ApplyError> {
    finds(kernel, step, argument, read_query(step, arguments, argument)?)
}

/// The query, if it finds an instruction of the kernel. A misspelt query would silently leave the kernel unchanged; kernels of the drop-in
/// for loopy accept that, since programs written for loopy apply one list of transformations to many kernels.
fn finds(kernel: &LoopKernel, step: &TransformStep, argument: &'static str, query: Query) -> Result<Query, ApplyError> {
    let is_found = query == Query::All || kernel.instructions.iter().any(|instruction| query.matches(kernel, instruction));
    if is_found || kernel.options.is_lenient() {
        return Ok(query);
    }
    let ids: Vec<String> = kernel.instructions.iter().take(IDS_SHOWN).map(|instruction| format!("`{}`", instruction.id)).collect();
    let more = kernel.instructions.len().saturating_sub(IDS_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let ids = format!("{}{more}", ids.join(", "));
    Err(ApplyError::NothingFound { step: step.name.clone(), argument, query, kernel: kernel.name.clone(), ids })
}

/// How many ids of instructions a message lists.
const IDS_SHOWN: usize = 20;

/// A query as written; all instructions if not given.
fn read_query(step: &TransformStep, arguments: &Arguments<'_>, argument: &'static str) -> Result<Query, ApplyError> {
    let text = arguments.optional_text(argument)?.unwrap_or("");
    parse::query(text).map_err(|error| ApplyError::Text { step: step.name.clone(), argument, error })
}

/// Tags, as one text or as a list.
fn tags(step: &TransformStep, arguments: &Arguments<'_>, argument: &'static str) -> Result<Vec<InameTag>, ApplyError> {
    let Some(names) = arguments.optional_names(argument)? else { return Ok(Vec::new()) };
    let tag = |name: &Name| InameTag::from_str(name).map_err(|error| ApplyError::Tag { step: step.name.clone(), argument, error });
    names.iter().map(tag).collect()
}

fn address_space(arguments: &Arguments<'_>, argument: &'static str) -> Result<Option<AddressSpace>, ApplyError> {
    match arguments.optional_text(argument)? {
        None | Some("auto") => Ok(None),
        Some("private") => Ok(Some(AddressSpace::Private)),
        Some("local") => Ok(Some(AddressSpace::Local)),
        Some("global") => Ok(Some(AddressSpace::Global)),
        Some("constant") => Ok(Some(AddressSpace::Constant)),
        Some(_) => Err(arguments.wrong(argument, "`private`, `local`, `global` or `auto`").into()),
    }
}

/// Whether an argument was given as none, which for some differs from not given.
fn is_given_as_none(step: &TransformStep, position: usize, argument: &str) -> bool {
    step.args.get(position) == Some(&StepValue::None)
        || step.keywords.iter().any(|(name, value)| name == argument && *value == StepValue::None)
}
