//! `add_prefetch`: fetches what a sweep reads of an array into a temporary.
//!
//! It extracts a substitution rule for the reads and precomputes it; this module has what is specific to arrays.

use std::collections::BTreeSet;

use parloop_ir::affine::to_affine;
use parloop_ir::matching::Query;
use parloop_ir::names::UniqueNames;
use parloop_ir::substitution::{ExpandSubstError, expand_calls};
use parloop_ir::syntax::{AddressSpace, Expr, Iname, Layout, LoopKernel, Type};
use parloop_isl::{Affine, Constraint, Name, Set};

use super::arrays::{UnknownArray, layout_of};
use super::extract_subst::{ExtractSubst, ExtractSubstError, extract_subst};
use super::precompute::{FetchTag, Precompute, PrecomputeError, precompute};

/// What to fetch, for which sweep, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefetch {
    /// The array.
    pub array: Name,
    /// The inames over which the reads are swept.
    pub sweep_inames: Vec<Name>,
    /// Indices that select what is fetched, where `:` is the whole axis; empty: those of all reads in the selected instructions.
    pub footprint: Vec<Vec<Expr>>,
    /// Names for the loops that fetch, one for each axis; those that are not given are `a_dim_0` and so on.
    pub inames: Vec<Option<Name>>,
    /// The inames around these loops. `None`: those that the reads depend on.
    pub outer_inames: Option<BTreeSet<Name>>,
    /// How these loops run.
    pub default_tag: FetchTag,
    /// Whether the whole bounding box may be fetched if the footprint is not convex.
    pub bounding_box: bool,
    /// The name of the temporary; `None`: `a_fetch`.
    pub temporary: Option<Name>,
    /// The memory of the temporary; `None`: inferred from its use.
    pub space: Option<AddressSpace>,
    /// The name of the intermediate rule for a read; `None`: `a_fetch_rule`. The instruction has the same name.
    pub rule: Option<Name>,
    /// The id of the instruction that fetches.
    pub instruction_id: Option<Name>,
    /// The instructions whose reads are replaced.
    pub within: Query,
}

impl Prefetch {
    /// All reads of an array over a sweep, with defaults for everything else.
    pub fn new(array: impl Into<Name>, sweep_inames: impl IntoIterator<Item = impl Into<Name>>) -> Prefetch {
        Prefetch {
            array: array.into(),
            sweep_inames: sweep_inames.into_iter().map(Into::into).collect(),
            footprint: Vec::new(),
            inames: Vec::new(),
            outer_inames: None,
            default_tag: FetchTag::AsSweep,
            bounding_box: false,
            temporary: None,
            space: None,
            rule: None,
            instruction_id: None,
            within: Query::All,
        }
    }
}

/// Why an array cannot be fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddPrefetchError {
    /// Unknown array.
    #[error("{0}")]
    UnknownArray(#[from] UnknownArray),
    /// No instruction reads it.
    #[error("no selected instruction of kernel `{kernel}` reads `{array}`")]
    NotRead {
        /// The kernel.
        kernel: Name,
        /// The array.
        array: Name,
    },
    /// A footprint with the wrong number of indices.
    #[error("`{array}` has {axes} axes, but a footprint has {indices} indices")]
    FootprintIndices {
        /// The array.
        array: Name,
        /// Its axes.
        axes: usize,
        /// The indices.
        indices: usize,
    },
    /// A footprint with a name that the kernel does not have.
    #[error(
        "`{footprint}` selects what to fetch, but kernel `{kernel}` has no iname `{name}`; its inames are {}; {}",
        quoted(.inames),
        select(.reads)
    )]
    FootprintName {
        /// The kernel.
        kernel: Name,
        /// The footprint.
        footprint: String,
        /// The name.
        name: Name,
        /// The inames of the kernel.
        inames: Vec<Name>,
        /// The reads of the array.
        reads: Vec<String>,
    },
    /// A slice that is not the whole axis.
    #[error("index {axis} of a footprint of `{array}` selects part of an axis; only the whole axis, `:`, can be fetched")]
    PartialSlice {
        /// The array.
        array: Name,
        /// The axis, counted from 0.
        axis: usize,
    },
    /// The length of a whole axis is not affine.
    #[error("the length of axis {axis} of `{array}` is unknown or not affine, so `:` cannot be resolved; write the indices")]
    AxisLength {
        /// The array.
        array: Name,
        /// The axis, counted from 0.
        axis: usize,
    },
    /// More names than axes.
    #[error("`{array}` has {axes} axes, but {given} loop names were given")]
    TooManyNames {
        /// The array.
        array: Name,
        /// Its axes.
        axes: usize,
        /// The names.
        given: usize,
    },
    /// The rule for a read cannot be created.
    #[error(transparent)]
    Extract(#[from] ExtractSubstError),
    /// The values cannot be precomputed.
    #[error("fetching `{array}`: {reason}{}", choose(.reason, .reads))]
    Precompute {
        /// The array.
        array: Name,
        /// Why not.
        reason: PrecomputeError,
        /// The reads of which one may have been meant.
        reads: Vec<String>,
    },
    /// A call does not match its rule.
    #[error(transparent)]
    Rule(#[from] ExpandSubstError),
}

/// Fetches what a sweep reads of an array into a temporary, from which the instructions then read.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::{Prefetch, add_prefetch};
/// let program = make_kernel("{[o, i]: 0<=o<n and 0<=i<16}", "b[o, i] = a[16*o + 15 - i]")?;
/// let kernel = add_prefetch(program.entry().unwrap(), &Prefetch::new("a", ["i"]))?;
/// assert_eq!(kernel.instructions[0].rhs()[0].to_string(), "a[a_dim_0 + 16*o]");
/// assert_eq!(kernel.instructions[1].rhs()[0].to_string(), "a_fetch[-i + 15]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`AddPrefetchError`].
pub fn add_prefetch(kernel: &LoopKernel, what: &Prefetch) -> Result<LoopKernel, AddPrefetchError> {
    let original = kernel;
    let layout = layout_of(kernel, &what.array)?;
    let axes = axis_count(kernel, what, layout)?;
    check_footprint(kernel, what)?;
    if what.inames.len() > axes {
        return Err(AddPrefetchError::TooManyNames { array: what.array.clone(), axes, given: what.inames.len() });
    }
    let mut names = UniqueNames::of_variables(kernel);
    let rule = what.rule.clone().unwrap_or_else(|| names.make(&format!("{}_fetch_rule", what.array)));
    let temporary = what.temporary.clone().unwrap_or_else(|| names.make(&format!("{}_fetch", what.array)));
    let parameters: Vec<Name> = (0..axes).map(|axis| names.make(&parameter_name(what, layout, axis))).collect();

    let template = match axes {
        0 => Expr::var(what.array.clone()),
        _ => Expr::subscript(what.array.clone(), parameters.iter().map(Expr::var)),
    };
    let extract = ExtractSubst { name: rule.clone(), template, parameters, within: what.within.clone() };
    let ready = extract_subst(kernel, &extract).map_err(|error| match error {
        ExtractSubstError::NoMatch { kernel, .. } => AddPrefetchError::NotRead { kernel, array: what.array.clone() },
        error => error.into(),
    })?;
    let ty = type_of(kernel, &what.array);
    let Sweep { mut kernel, sweep_inames, footprint, helpers } = whole_axes(ready, what, layout, axes)?;
    let ahead = Precompute {
        footprint,
        inames: what.inames.clone(),
        outer_inames: what.outer_inames.clone(),
        default_tag: what.default_tag.clone(),
        bounding_box: what.bounding_box,
        temporary: Some(temporary),
        ty,
        space: what.space,
        instruction_id: what.instruction_id.clone(),
        within: what.within.clone(),
        ..Precompute::new(rule.clone(), sweep_inames)
    };
    let failed = |reason| {
        let reads = match (&reason, what.footprint.is_empty()) {
            // Reads that are far apart have no common footprint.
            (PrecomputeError::Unbounded { .. }, true) => Some(reads(original, what)).filter(|reads| reads.len() > 1),
            (PrecomputeError::UnusedSweep { .. }, false) => Some(reads(original, what)),
            _ => None,
        };
        let reads = reads.unwrap_or_default();
        AddPrefetchError::Precompute { array: what.array.clone(), reason, reads }
    };
    kernel = precompute(&kernel, &ahead).map_err(failed)?;
    kernel.inames.retain(|iname, _| !helpers.contains(iname));
    kernel.domains.retain(|domain| domain.dims().is_empty() || !domain.dims().iter().all(|dim| helpers.contains(dim)));
    forget_rule(&mut kernel, &rule)?;
    Ok(kernel)
}

/// How to fetch one of several reads.
fn choose(reason: &PrecomputeError, reads: &[String]) -> String {
    let Some(last) = reads.last() else { return String::new() };
    if matches!(reason, PrecomputeError::UnusedSweep { .. }) {
        return format!(", or {}", select(reads));
    }
    format!(
        "; {} are fetched together; to fetch only one, write its indices, as in `add_prefetch \"{last}\"`",
        quoted(reads).replace(", ", " and ")
    )
}

/// How to select a read.
fn select(reads: &[String]) -> String {
    let calls: Vec<String> = reads.iter().map(|read| format!("`add_prefetch \"{read}\"`")).collect();
    format!("to fetch one read, write its indices as the kernel has them: {}", calls.join(" or "))
}

fn quoted(names: &[impl std::fmt::Display]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Names in a footprint must be those of the kernel: of an iname that was split there are only the parts.
fn check_footprint(kernel: &LoopKernel, what: &Prefetch) -> Result<(), AddPrefetchError> {
    let is_known = |name: &Name| {
        kernel.inames.contains_key(name)
            || kernel.temporaries.contains_key(name)
            || kernel.arguments.iter().any(|argument| argument.name == *name)
            || kernel.domains.iter().any(|domain| domain.params().contains(name))
    };
    for indices in &what.footprint {
        let names = indices.iter().flat_map(Expr::variables);
        if let Some(name) = names.into_iter().find(|name| !is_known(name)) {
            let footprint = Expr::subscript(what.array.clone(), indices.iter().cloned()).to_string();
            let (kernel_name, inames) = (kernel.name.clone(), kernel.inames.keys().cloned().collect());
            return Err(AddPrefetchError::FootprintName { kernel: kernel_name, footprint, name, inames, reads: reads(kernel, what) });
        }
    }
    Ok(())
}

/// The reads of the array with different indices.
fn reads(kernel: &LoopKernel, what: &Prefetch) -> Vec<String> {
    let mut reads: Vec<String> = Vec::new();
    let selected = kernel.instructions.iter().filter(|instruction| what.within.matches(kernel, instruction));
    for expr in selected.flat_map(|instruction| instruction.rhs()).chain(kernel.substitutions.values().map(|rule| &rule.body)) {
        expr.visit(&mut |inner| {
            if let Expr::Subscript(array, _) = inner
                && **array == Expr::var(&what.array)
                && !reads.contains(&inner.to_string())
            {
                reads.push(inner.to_string());
            }
        });
    }
    reads
}

fn type_of(kernel: &LoopKernel, array: &Name) -> Option<Type> {
    match kernel.temporaries.get(array) {
        Some(temporary) => temporary.ty.clone(),
        None => kernel.arguments.iter().find(|argument| argument.name == *array)?.ty.clone(),
    }
}

/// The number of axes: of the shape if known, else of the first read.
fn axis_count(kernel: &LoopKernel, what: &Prefetch, layout: &Layout) -> Result<usize, AddPrefetchError> {
    if let Some(axes) = layout.axis_count() {
        return Ok(axes);
    }
    let mut found = None;
    for instruction in &kernel.instructions {
        for expr in instruction.exprs() {
            expr.visit(&mut |inner| match inner {
                Expr::Subscript(array, indices) if **array == Expr::var(&what.array) => found = found.or(Some(indices.len())),
                _ => {}
            });
        }
    }
    found.ok_or_else(|| AddPrefetchError::NotRead { kernel: kernel.name.clone(), array: what.array.clone() })
}

fn parameter_name(what: &Prefetch, layout: &Layout, axis: usize) -> String {
    match (what.inames.get(axis), &layout.axis_names) {
        (Some(Some(name)), _) => name.to_string(),
        (_, Some(names)) if axis < names.len() => format!("{}_dim_{}", what.array, names[axis]),
        _ => format!("{}_dim_{axis}", what.array),
    }
}

/// A kernel in which separate, temporary inames sweep whole axes.
struct Sweep {
    kernel: LoopKernel,
    sweep_inames: Vec<Name>,
    footprint: Vec<Vec<Expr>>,
    helpers: BTreeSet<Name>,
}

fn whole_axes(kernel: LoopKernel, what: &Prefetch, layout: &Layout, axes: usize) -> Result<Sweep, AddPrefetchError> {
    let mut names = UniqueNames::of_variables(&kernel);
    let mut sweep = Sweep { kernel, sweep_inames: what.sweep_inames.clone(), footprint: Vec::new(), helpers: BTreeSet::new() };
    for indices in &what.footprint {
        if indices.len() != axes {
            return Err(AddPrefetchError::FootprintIndices { array: what.array.clone(), axes, indices: indices.len() });
        }
        let mut plain = Vec::with_capacity(axes);
        for (axis, index) in indices.iter().enumerate() {
            let Expr::Slice(parts) = index else {
                plain.push(index.clone());
                continue;
            };
            if parts.iter().any(Option::is_some) {
                return Err(AddPrefetchError::PartialSlice { array: what.array.clone(), axis });
            }
            let length = layout.lengths().and_then(|lengths| to_affine(lengths.get(axis)?));
            let iname = names.make(&format!("{}_fetch_axis_{axis}", what.array));
            let domain = length.and_then(|length| range(&iname, &length));
            let domain = domain.ok_or_else(|| AddPrefetchError::AxisLength { array: what.array.clone(), axis })?;
            sweep.kernel.domains.push(domain);
            sweep.kernel.inames.insert(iname.clone(), Iname::default());
            sweep.sweep_inames.push(iname.clone());
            plain.push(Expr::var(&iname));
            sweep.helpers.insert(iname);
        }
        sweep.footprint.push(plain);
    }
    Ok(sweep)
}

/// `0 <= iname < length`.
fn range(iname: &Name, length: &Affine) -> Option<Set> {
    let value = Affine::name(iname.clone());
    let below = length.sub(&value).ok()?.sub(&Affine::constant(1)).ok()?;
    Some(Set::bounded(std::slice::from_ref(iname), vec![Constraint::not_negative(value), Constraint::not_negative(below)]))
}

/// Reads outside the footprint become plain reads again.
fn forget_rule(kernel: &mut LoopKernel, rule: &Name) -> Result<(), ExpandSubstError> {
    let Some(rule) = kernel.substitutions.get(rule).cloned() else { return Ok(()) };
    let rules = [(rule.name.clone(), rule.clone())].into();
    for instruction in &mut kernel.instructions {
        let expand = &mut |expr: &Expr| expand_calls(expr, &rules, &instruction.id, &|_| true);
        *instruction = std::sync::Arc::new(instruction.try_map_exprs(expand)?);
    }
    for other in kernel.substitutions.values_mut() {
        other.body = expand_calls(&other.body, &rules, &other.name, &|_| true)?;
    }
    kernel.substitutions.remove(&rule.name);
    Ok(())
}
