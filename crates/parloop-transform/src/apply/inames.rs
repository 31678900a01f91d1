//! Steps on inames, domains and parameters.

use std::collections::BTreeMap;
use std::str::FromStr;

use parloop_ir::step::{Arguments, StepValue, TransformStep};
use parloop_ir::syntax::{InameTag, LoopKernel};
use parloop_isl::{Name, Relation};

use super::{ApplyError, done, query, tags, wrong};
use crate::{Duplicate, Fixed, Join, Rename, Split, Tags};

type Done = Result<LoopKernel, ApplyError>;

pub(super) fn assume(kernel: &LoopKernel, step: &TransformStep) -> Done {
    // In a file the condition may be unquoted, as several words.
    let arguments = Arguments::of(step, &["assumptions"])?;
    done(step, crate::assume(kernel, arguments.text("assumptions")?))
}

pub(super) fn split_iname(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let (iname, split) = split(kernel, step, "inner_length")?;
    done(step, crate::split_iname(kernel, &iname, &split))
}

pub(super) fn chunk_iname(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let (iname, split) = split(kernel, step, "num_chunks")?;
    done(step, crate::chunk_iname(kernel, &iname, &split))
}

fn split(kernel: &LoopKernel, step: &TransformStep, length: &'static str) -> Result<(Name, Split), ApplyError> {
    let names = ["split_iname", length, "outer_iname", "inner_iname", "outer_tag", "inner_tag", "slabs", "do_tagged_check", "within"];
    let arguments = Arguments::of(step, &names)?;
    let mut split = Split::by(arguments.int(length)?).within(query(kernel, step, &arguments, "within")?);
    if let Some(name) = arguments.optional_text("outer_iname")? {
        split = split.outer_name(name);
    }
    if let Some(name) = arguments.optional_text("inner_iname")? {
        split = split.inner_name(name);
    }
    for tag in tags(step, &arguments, "outer_tag")? {
        split = split.outer(tag);
    }
    for tag in tags(step, &arguments, "inner_tag")? {
        split = split.inner(tag);
    }
    if let Some(slabs) = arguments.get("slabs") {
        let (first, last) = pair(slabs).ok_or_else(|| arguments.wrong("slabs", "two non-negative numbers"))?;
        split = split.slabs(first, last);
    }
    if !arguments.flag("do_tagged_check", true)? {
        split = split.of_any_tag();
    }
    Ok((arguments.text("split_iname")?.into(), split))
}

fn pair(value: &StepValue) -> Option<(u32, u32)> {
    match value {
        StepValue::List(items) => match &items[..] {
            [first, last] => Some((first.as_int()?.try_into().ok()?, last.as_int()?.try_into().ok()?)),
            _ => None,
        },
        _ => None,
    }
}

/// `tag_inames {i: g.0}`, `tag_inames "i:g.0, j:l.0"`, `tag_inames i=g.0 j=l.0`.
pub(super) fn tag_inames(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let is_option = |name: &Name| name == "iname_to_tag" || name == "ignore_nonexistent" || name == "force";
    let (named, tagged): (Vec<_>, Vec<_>) = step.keywords.iter().cloned().partition(|(name, _)| is_option(name));
    let plain = TransformStep { keywords: named, ..step.clone() };
    let arguments = Arguments::of(&plain, &["iname_to_tag", "force", "ignore_nonexistent"])?;
    let failed = |error: crate::TagInamesError| ApplyError::Failed { step: step.name.clone(), error: Box::new(error) };
    let mut tags = match arguments.get("iname_to_tag") {
        None => Tags::default(),
        Some(StepValue::Text(text)) => Tags::from_str(text).map_err(failed)?,
        Some(StepValue::Map(entries)) => add_tags(step, Tags::default(), entries)?,
        Some(StepValue::List(items)) => {
            let pairs: Option<Vec<(StepValue, StepValue)>> = items.iter().map(two).collect();
            add_tags(step, Tags::default(), &pairs.ok_or_else(|| arguments.wrong("iname_to_tag", "pairs of an iname and its tag"))?)?
        }
        Some(_) => return Err(arguments.wrong("iname_to_tag", "inames with their tags").into()),
    };
    let entries: Vec<(StepValue, StepValue)> = tagged.into_iter().map(|(name, tag)| (StepValue::Text(name.to_string()), tag)).collect();
    tags = add_tags(step, tags, &entries)?;
    if arguments.flag("ignore_nonexistent", false)? {
        tags = tags.missing_ok();
    }
    done(step, crate::tag_inames(kernel, &tags))
}

fn two(value: &StepValue) -> Option<(StepValue, StepValue)> {
    match value {
        StepValue::List(items) => match &items[..] {
            [a, b] => Some((a.clone(), b.clone())),
            _ => None,
        },
        _ => None,
    }
}

fn add_tags(step: &TransformStep, mut tags: Tags, entries: &[(StepValue, StepValue)]) -> Result<Tags, ApplyError> {
    for (iname, choice) in entries {
        let iname = iname.as_text().ok_or_else(|| wrong(step, "iname_to_tag", "names of inames", iname))?;
        // An empty string means no tag.
        let choices = if *choice == StepValue::None { vec![Name::from("")] } else { choice.as_names().unwrap_or_default() };
        if choices.is_empty() {
            return Err(wrong(step, "iname_to_tag", "tags", choice));
        }
        for tag in choices {
            let with = tags.with_text(iname, &tag);
            tags = with.map_err(|error| ApplyError::Failed { step: step.name.clone(), error: Box::new(error) })?;
        }
    }
    Ok(tags)
}

pub(super) fn untag_inames(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["iname_to_untag", "tag"])?;
    let unwanted: Vec<InameTag> = tags(step, &arguments, "tag")?;
    let is_unwanted = |tag: &InameTag| unwanted.is_empty() || unwanted.contains(tag);
    done(step, crate::untag_inames(kernel, arguments.text("iname_to_untag")?, &is_unwanted))
}

pub(super) fn prioritize_loops(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["loop_priority"])?;
    done(step, crate::prioritize_loops(kernel, &arguments.names("loop_priority")?))
}

pub(super) fn remove_unused_inames(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["inames"])?;
    let inames = arguments.optional_names("inames")?;
    done(step, crate::remove_unused_inames(kernel, inames.as_deref()))
}

pub(super) fn map_domain(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["transform_map"])?;
    let map = Relation::parse(arguments.text("transform_map")?);
    let map = map.map_err(|error| ApplyError::Failed { step: step.name.clone(), error: Box::new(error) })?;
    done(step, crate::map_domain(kernel, &map))
}

/// `fix_parameters n=16`, `fix_parameters {n: 16}`.
pub(super) fn fix_parameters(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let mut values: BTreeMap<Name, Fixed> = BTreeMap::new();
    let given = step.keywords.iter().map(|(name, value)| (name.clone(), value));
    let mut all: Vec<(Name, &StepValue)> = given.collect();
    for argument in &step.args {
        let StepValue::Map(entries) = argument else { return Err(wrong(step, "values", "names with numbers", argument)) };
        for (name, value) in entries {
            let name = name.as_text().ok_or_else(|| wrong(step, "values", "names with numbers", name))?;
            all.push((name.into(), value));
        }
    }
    for (name, value) in all {
        let fixed = match value {
            StepValue::Int(number) => Fixed::from(*number),
            StepValue::Float(number) => Fixed::from(*number),
            _ => return Err(wrong(step, &name, "a number", value)),
        };
        values.insert(name, fixed);
    }
    done(step, crate::fix_parameters(kernel, &values))
}

pub(super) fn join_inames(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["inames", "new_iname", "tag", "within"])?;
    let mut join = Join::of(arguments.names("inames")?).within(query(kernel, step, &arguments, "within")?);
    if let Some(name) = arguments.optional_text("new_iname")? {
        join = join.named(name);
    }
    for tag in tags(step, &arguments, "tag")? {
        join = join.tag(tag);
    }
    done(step, crate::join_inames(kernel, &join))
}

pub(super) fn duplicate_inames(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["inames", "within", "new_inames", "suffix", "tags"])?;
    let mut duplicate = Duplicate::of(arguments.names("inames")?).within(query(kernel, step, &arguments, "within")?);
    if let Some(names) = arguments.optional_names("new_inames")? {
        duplicate = duplicate.named(names);
    }
    if let Some(suffix) = arguments.optional_text("suffix")? {
        duplicate = duplicate.suffix(suffix);
    }
    if arguments.get("tags").is_some() {
        for (iname, tag) in arguments.map("tags")? {
            let (Some(iname), Some(text)) = (iname.as_text(), tag.as_text()) else {
                return Err(arguments.wrong("tags", "inames with their tags").into());
            };
            let tag = InameTag::from_str(text).map_err(|error| ApplyError::Tag { step: step.name.clone(), argument: "tags", error })?;
            duplicate = duplicate.tag(iname, tag);
        }
    }
    done(step, crate::duplicate_inames(kernel, &duplicate))
}

fn rename(kernel: &LoopKernel, step: &TransformStep, arguments: &Arguments<'_>) -> Result<Rename, ApplyError> {
    let mut rename = Rename::default().within(query(kernel, step, arguments, "within")?);
    if arguments.flag("existing_ok", false)? {
        rename = rename.existing_ok();
    }
    if !arguments.flag("preserve_tags", true)? {
        rename = rename.without_tags();
    }
    Ok(rename)
}

pub(super) fn rename_iname(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["old_iname", "new_iname", "existing_ok", "within", "preserve_tags"])?;
    let rename = rename(kernel, step, &arguments)?;
    done(step, crate::rename_iname(kernel, arguments.text("old_iname")?, arguments.text("new_iname")?, &rename))
}

pub(super) fn rename_inames(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["old_inames", "new_iname", "existing_ok", "within"])?;
    let rename = rename(kernel, step, &arguments)?;
    done(step, crate::rename_inames(kernel, &arguments.names("old_inames")?, arguments.text("new_iname")?, &rename))
}

pub(super) fn rename_inames_in_batch(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["batches"])?;
    let mut batches = BTreeMap::new();
    for (new, old) in arguments.map("batches")? {
        let (Some(new), Some(old)) = (new.as_text(), old.as_names()) else {
            return Err(arguments.wrong("batches", "a mapping from inames to the inames they replace").into());
        };
        batches.insert(new.into(), old);
    }
    done(step, crate::rename_inames_in_batch(kernel, &batches))
}

pub(super) fn affine_map_inames(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["old_inames", "new_inames", "equations"])?;
    let equations = arguments.names("equations")?;
    let equations: Vec<&str> = equations.iter().map(Name::as_str).collect();
    done(step, crate::affine_map_inames(kernel, &arguments.names("old_inames")?, &arguments.names("new_inames")?, &equations))
}

pub(super) fn split_reduction_inward(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["inames", "within"])?;
    done(step, crate::split_reduction_inward(kernel, &arguments.names("inames")?, &query(kernel, step, &arguments, "within")?))
}

pub(super) fn split_reduction_outward(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["inames", "within"])?;
    done(step, crate::split_reduction_outward(kernel, &arguments.names("inames")?, &query(kernel, step, &arguments, "within")?))
}

pub(super) fn make_reduction_inames_unique(kernel: &LoopKernel, step: &TransformStep) -> Done {
    let arguments = Arguments::of(step, &["inames", "within"])?;
    let inames = arguments.optional_names("inames")?;
    done(step, crate::make_reduction_inames_unique(kernel, inames.as_deref(), &query(kernel, step, &arguments, "within")?))
}
