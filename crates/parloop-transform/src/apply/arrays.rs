//! Steps on arrays: arguments, temporaries, and what is fetched or computed into them.

use std::str::FromStr;

use parloop_ir::parse;
use parloop_ir::step::{Arguments, StepValue, TransformStep};
use parloop_ir::syntax::{Expr, InameTag, LoopKernel};
use parloop_isl::Name;

use super::{ApplyError, address_space, done, is_given_as_none, query};
use crate::{Aliases, AxisSplit, AxisTags, BaseStorage, FetchTag, Precompute, Prefetch};

type Done = Result<LoopKernel, ApplyError>;

/// The indices of an array in texts such as `"i, :"`.
fn footprint(step: &TransformStep, arguments: &Arguments<'_>, argument: &'static str) -> Result<Vec<Vec<Expr>>, ApplyError> {
    let texts: Vec<&str> = match arguments.get(argument) {
        None => return Ok(Vec::new()),
        Some(StepValue::Text(text)) => vec![text],
        Some(StepValue::List(items)) => {
            let texts: Option<Vec<&str>> = items.iter().map(StepValue::as_text).collect();
            texts.ok_or_else(|| arguments.wrong(argument, "indices such as \"i, :\""))?
        }
        Some(_) => return Err(arguments.wrong(argument, "indices such as \"i, :\"").into()),
    };
    let read = |text: &&str| match parse::expression(&format!("a[{text}]")) {
        Ok(Expr::Subscript(_, indices)) => Ok(indices.to_vec()),
        Ok(_) => Err(arguments.wrong(argument, "indices such as \"i, :\"").into()),
        Err(error) => Err(ApplyError::Text { step: step.name.clone(), argument, error }),
    };
    texts.iter().map(read).collect()
}

/// Names, some of which may be omitted.
fn open_names(arguments: &Arguments<'_>, argument: &'static str) -> Result<Vec<Option<Name>>, ApplyError> {
    match arguments.get(argument) {
        Some(StepValue::List(items)) if items.contains(&StepValue::None) => {
            let name = |item: &StepValue| match item {
                StepValue::None => Ok(None),
                other => other.as_text().map(|text| Some(text.into())).ok_or_else(|| arguments.wrong(argument, "names").into()),
            };
            items.iter().map(name).collect()
        }
        _ => Ok(arguments.optional_names(argument)?.unwrap_or_default().into_iter().map(Some).collect()),
    }
}

/// `default_tag=l.auto`; `otherwise` if not given.
fn fetch_tag(step: &TransformStep, arguments: &Arguments<'_>, position: usize, otherwise: FetchTag) -> Result<FetchTag, ApplyError> {
    if is_given_as_none(step, position, "default_tag") {
        return Ok(FetchTag::Untagged);
    }
    match arguments.optional_text("default_tag")? {
        None => Ok(otherwise),
        Some(text) => {
            let tag = InameTag::from_str(text);
            tag.map(FetchTag::Given).map_err(|error| ApplyError::Tag { step: step.name.clone(), argument: "default_tag", error })
        }
    }
}

pub(super) fn add_prefetch(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let names = [
        "var_name",
        "sweep_inames",
        "dim_arg_names",
        "default_tag",
        "rule_name",
        "temporary_name",
        "temporary_address_space",
        "footprint_subscripts",
        "fetch_bounding_box",
        "fetch_outer_inames",
        "prefetch_insn_id",
        "within",
    ];
    let arguments = Arguments::of(step, &names)?;
    let sweep = arguments.optional_names("sweep_inames")?.unwrap_or_default();
    // `a[i, :]` names the array and selects what is fetched.
    let named = parse::expression(arguments.text("var_name")?);
    let named = named.map_err(|error| ApplyError::Text { step: step.name.clone(), argument: "var_name", error })?;
    let wrong = || ApplyError::from(arguments.wrong("var_name", "an array, or one with indices such as `a[i, :]`"));
    let (array, indices) = match &named {
        Expr::Variable(array) => (array, None),
        Expr::Subscript(array, indices) => (array.written_name().ok_or_else(wrong)?, Some(indices.to_vec())),
        _ => return Err(wrong()),
    };
    let mut what = Prefetch::new(array, sweep);
    what.default_tag = fetch_tag(step, &arguments, 3, what.default_tag)?;
    what.footprint = footprint(step, &arguments, "footprint_subscripts")?;
    if let Some(indices) = indices {
        if !what.footprint.is_empty() {
            return Err(arguments.wrong("var_name", "an array without indices, where footprint_subscripts are given").into());
        }
        what.footprint.push(indices);
    }
    what.inames = open_names(&arguments, "dim_arg_names")?;
    what.outer_inames = arguments.optional_names("fetch_outer_inames")?.map(|names| names.into_iter().collect());
    what.bounding_box = arguments.flag("fetch_bounding_box", false)?;
    what.temporary = arguments.optional_text("temporary_name")?.map(Into::into);
    what.space = address_space(&arguments, "temporary_address_space")?;
    what.rule = arguments.optional_text("rule_name")?.map(Into::into);
    what.instruction_id = arguments.optional_text("prefetch_insn_id")?.map(Into::into);
    what.within = query(kernel, step, &arguments, "within")?;
    done(step, crate::add_prefetch(kernel, &what))
}

pub(super) fn precompute(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let names = [
        "subst_use",
        "sweep_inames",
        "within",
        "storage_axes",
        "temporary_name",
        "precompute_inames",
        "precompute_outer_inames",
        "storage_axis_to_tag",
        "default_tag",
        "dtype",
        "fetch_bounding_box",
        "temporary_address_space",
        "compute_insn_id",
    ];
    let arguments = Arguments::of(step, &names)?;
    let sweep = arguments.optional_names("sweep_inames")?.unwrap_or_default();
    let (rule, footprint) = rule_use(step, &arguments)?;
    let mut what = Precompute::new(rule, sweep);
    what.footprint = footprint;
    what.within = query(kernel, step, &arguments, "within")?;
    what.storage_axes = arguments.optional_names("storage_axes")?;
    what.temporary = arguments.optional_text("temporary_name")?.map(Into::into);
    what.inames = open_names(&arguments, "precompute_inames")?;
    what.outer_inames = arguments.optional_names("precompute_outer_inames")?.map(|names| names.into_iter().collect());
    what.default_tag = fetch_tag(step, &arguments, 8, what.default_tag)?;
    if arguments.get("storage_axis_to_tag").is_some() {
        for (axis, tag) in arguments.map("storage_axis_to_tag")? {
            let (Some(axis), Some(text)) = (axis.as_text(), tag.as_text()) else {
                return Err(arguments.wrong("storage_axis_to_tag", "axes with their tags").into());
            };
            let tag = InameTag::from_str(text);
            let tag = tag.map_err(|error| ApplyError::Tag { step: step.name.clone(), argument: "storage_axis_to_tag", error })?;
            what.axis_tags.insert(axis.into(), tag);
        }
    }
    if let Some(name) = arguments.optional_text("dtype")? {
        what.ty = Some(parse::type_name(name).ok_or_else(|| arguments.wrong("dtype", "a type such as `float32`"))?);
    }
    what.bounding_box = arguments.flag("fetch_bounding_box", false)?;
    what.space = address_space(&arguments, "temporary_address_space")?;
    what.instruction_id = arguments.optional_text("compute_insn_id")?.map(Into::into);
    done(step, crate::precompute(kernel, &what))
}

/// `f`, or uses of it that say what is computed: `"f(i, 0)"`, `["f(i, 0)", "f(i, 1)"]`.
fn rule_use(step: &TransformStep, arguments: &Arguments<'_>) -> Result<(Name, Vec<Vec<Expr>>), ApplyError> {
    let wrong = || ApplyError::from(arguments.wrong("subst_use", "the name of a rule, or uses of one such as \"f(i, 0)\""));
    let texts: Vec<&str> = match arguments.get("subst_use") {
        Some(StepValue::List(items)) => items.iter().map(StepValue::as_text).collect::<Option<_>>().ok_or_else(wrong)?,
        _ => vec![arguments.text("subst_use")?],
    };
    let mut found: Option<Name> = None;
    let mut uses = Vec::new();
    for text in texts {
        let expr = parse::expression(text).map_err(|error| ApplyError::Text { step: step.name.clone(), argument: "subst_use", error })?;
        let name = match expr {
            Expr::Variable(name) => name,
            Expr::Call(call) => {
                uses.push(call.args.clone());
                call.function.clone()
            }
            _ => return Err(wrong()),
        };
        if found.replace(name.clone()).is_some_and(|before| before != name) {
            return Err(wrong());
        }
    }
    Ok((found.ok_or_else(wrong)?, uses))
}

pub(super) fn alias_temporaries(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["names", "base_name_prefix", "synchronize_for_exclusive_use"])?;
    let mut aliases = Aliases::of(arguments.names("names")?);
    if let Some(prefix) = arguments.optional_text("base_name_prefix")? {
        aliases.base_name_prefix = prefix.into();
    }
    aliases.synchronize_for_exclusive_use = arguments.flag("synchronize_for_exclusive_use", true)?;
    done(step, crate::alias_temporaries(kernel, &aliases))
}

pub(super) fn rename_argument(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["old_name", "new_name"])?;
    done(step, crate::rename_argument(kernel, arguments.text("old_name")?, arguments.text("new_name")?))
}

pub(super) fn set_argument_order(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["arg_names"])?;
    done(step, crate::set_argument_order(kernel, &arguments.names("arg_names")?))
}

pub(super) fn set_array_axis_names(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["ary_names", "dim_names"])?;
    done(step, crate::set_array_axis_names(kernel, &arguments.names("ary_names")?, &arguments.names("dim_names")?))
}

pub(super) fn set_temporary_address_space(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["temp_var_names", "address_space"])?;
    let names = arguments.names("temp_var_names")?;
    arguments.text("address_space")?;
    let space =
        address_space(&arguments, "address_space")?.ok_or_else(|| arguments.wrong("address_space", "`private`, `local` or `global`"))?;
    done(step, crate::set_temporary_address_space(kernel, &names, space))
}

pub(super) fn tag_array_axes(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["ary_names", "dim_tags"])?;
    let wrong = || ApplyError::from(arguments.wrong("dim_tags", "tags such as \"N0,N1\", as a string, a list, or keyed by axis name"));
    let tags = match arguments.get("dim_tags") {
        Some(StepValue::Text(text)) => AxisTags::parse(text),
        Some(StepValue::List(items)) => {
            let texts: Option<Vec<String>> = items.iter().map(|item| item.as_text().map(str::to_owned)).collect();
            AxisTags::Text(texts.ok_or_else(wrong)?)
        }
        Some(StepValue::Map(entries)) => {
            let named = |(axis, tag): &(StepValue, StepValue)| Some((axis.as_text()?.into(), tag.as_text()?.to_owned()));
            AxisTags::ByName(entries.iter().map(named).collect::<Option<_>>().ok_or_else(wrong)?)
        }
        _ => return Err(wrong()),
    };
    done(step, crate::tag_array_axes(kernel, &arguments.names("ary_names")?, &tags))
}

pub(super) fn split_array_axis(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["array_names", "axis_nr", "count", "order"])?;
    let inner_first = match arguments.optional_text("order")? {
        None | Some("C") => false,
        Some("F") => true,
        Some(_) => return Err(arguments.wrong("order", "`C` or `F`").into()),
    };
    let axis = usize::try_from(arguments.int("axis_nr")?).map_err(|_| arguments.wrong("axis_nr", "the number of an axis, from 0"))?;
    let split = AxisSplit { axis, length: arguments.int("count")?, inner_first };
    done(step, crate::split_array_axis(kernel, &arguments.names("array_names")?, &split))
}

pub(super) fn simplify_indices(kernel: &LoopKernel, step: &TransformStep) -> Done {
    Arguments::of(step, &[])?;
    done(step, crate::simplify_indices(kernel))
}

pub(super) fn privatize_temporaries_with_inames(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["privatizing_inames", "only_var_names"])?;
    let inames = arguments.names("privatizing_inames")?.into_iter().collect();
    let only = arguments.optional_names("only_var_names")?.map(|names| names.into_iter().collect());
    done(step, crate::privatize_temporaries_with_inames(kernel, &inames, only.as_ref()))
}

pub(super) fn allocate_temporaries_for_base_storage(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["only_address_space", "aliased", "max_nbytes"])?;
    let how = BaseStorage { only_space: address_space(&arguments, "only_address_space")?, aliased: arguments.flag("aliased", true)? };
    // Memory that is not shared has no common size to limit.
    arguments.optional_int("max_nbytes")?;
    done(step, crate::allocate_temporaries_for_base_storage(kernel, how))
}

pub(super) fn remove_unused_arguments(kernel: &LoopKernel, step: &TransformStep) -> Done {
    Arguments::of(step, &[])?;
    Ok(crate::remove_unused_arguments(kernel))
}

pub(super) fn add_padding(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["variable", "axis", "elements"])?;
    let number = |argument| -> Result<u64, ApplyError> {
        u64::try_from(arguments.int(argument)?).map_err(|_| arguments.wrong(argument, "a non-negative number").into())
    };
    let axis = usize::try_from(number("axis")?).unwrap_or(usize::MAX);
    done(step, crate::add_padding(kernel, &arguments.text("variable")?.into(), axis, number("elements")?))
}

pub(super) fn concatenate_arrays(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["array_names", "new_name", "axis_nr"])?;
    let axis = match arguments.get("axis_nr") {
        None => 0,
        Some(_) => usize::try_from(arguments.int("axis_nr")?).map_err(|_| arguments.wrong("axis_nr", "an axis, counted from 0"))?,
    };
    done(step, crate::concatenate_arrays(kernel, &arguments.names("array_names")?, &arguments.text("new_name")?.into(), axis))
}

pub(super) fn to_batched(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["nbatches", "batch_varying_args", "batch_iname_prefix"])?;
    let count = match arguments.get("nbatches") {
        Some(StepValue::Int(count)) => Expr::int(*count),
        _ => {
            let count = parse::expression(arguments.text("nbatches")?);
            count.map_err(|error| ApplyError::Text { step: step.name.clone(), argument: "nbatches", error })?
        }
    };
    let mut batches = crate::Batches::of(count, arguments.names("batch_varying_args")?);
    if let Some(prefix) = arguments.optional_text("batch_iname_prefix")? {
        batches.prefix = prefix.into();
    }
    done(step, crate::to_batched(kernel, &batches))
}

pub(super) fn unprivatize_temporaries_with_inames(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["inames", "only_var_names"])?;
    let inames = arguments.names("inames")?.into_iter().collect();
    let only = arguments.optional_names("only_var_names")?.map(|names| names.into_iter().collect());
    done(step, crate::unprivatize_temporaries_with_inames(kernel, &inames, only.as_ref()))
}

pub(super) fn buffer_array(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let names = [
        "var_name",
        "buffer_inames",
        "init_expression",
        "within",
        "default_tag",
        "temporary_name",
        "temporary_address_space",
        "fetch_bounding_box",
    ];
    let arguments = Arguments::of(step, &names)?;
    let mut what = crate::Buffer::of(arguments.text("var_name")?, arguments.optional_names("buffer_inames")?.unwrap_or_default());
    what.init = match arguments.get("init_expression") {
        None | Some(StepValue::None) => None,
        Some(StepValue::Int(value)) => Some(Expr::int(*value)),
        Some(StepValue::Float(value)) => Some(Expr::Literal(parloop_ir::syntax::Literal::Float(value.to_bits(), None))),
        Some(_) => {
            let value = parse::expression(arguments.text("init_expression")?);
            Some(value.map_err(|error| ApplyError::Text { step: step.name.clone(), argument: "init_expression", error })?)
        }
    };
    what.within = query(kernel, step, &arguments, "within")?;
    what.default_tag = match fetch_tag(step, &arguments, usize::MAX, FetchTag::Untagged)? {
        FetchTag::Given(tag) => Some(tag),
        _ => None,
    };
    what.temporary = arguments.optional_text("temporary_name")?.map(Into::into);
    what.space = address_space(&arguments, "temporary_address_space")?;
    what.bounding_box = arguments.flag("fetch_bounding_box", false)?;
    done(step, crate::buffer_array(kernel, &what))
}
