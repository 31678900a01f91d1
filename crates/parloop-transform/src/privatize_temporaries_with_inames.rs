//! `privatize_temporaries_with_inames`: gives a temporary a separate entry for each value of some inames. Inames whose values run
//! concurrently (`ilp`, `vec`) need that for every temporary that is written inside them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_analysis::axis::axis_base;
use parloop_analysis::dependence::{Dependences, Violation, elements_may_share_memory};
use parloop_analysis::facts::{Facts, Placement};
use parloop_ir::affine::from_affine;
use parloop_ir::domain::Forest;
use parloop_ir::fold;
use parloop_ir::matching::Query;
use parloop_ir::substitution::{ExpandSubstError, expand_subst};
use parloop_ir::syntax::{Expr, Instruction, InstructionKind, Layout, LoopKernel, Shape, SubArray};
use parloop_isl::{Affine, IslError, Name};

/// Why temporaries cannot be made private to values of inames.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PrivatizeError {
    /// Elements share memory, which an additional axis would separate.
    #[error(
        "elements of temporary `{temporary}` share memory through its strides, so it cannot have an entry for each value of an iname; give it its own layout"
    )]
    SharedElements {
        /// The temporary.
        temporary: Name,
    },
    /// Unknown iname.
    #[error("privatize_temporaries_with_inames: kernel `{kernel}` has no iname `{iname}`")]
    UnknownIname {
        /// The kernel.
        kernel: Name,
        /// The name.
        iname: Name,
    },
    /// Unknown temporary.
    #[error("privatize_temporaries_with_inames: kernel `{kernel}` has no temporary `{temporary}`")]
    UnknownTemporary {
        /// The kernel.
        kernel: Name,
        /// The name.
        temporary: Name,
    },
    /// Instructions would need different axes.
    #[error("temporary `{temporary}` needs one entry for each value of {}, by `{first}`, but of {}, by `{second}`", names(.first_inames), names(.second_inames))]
    Disagreement {
        /// The temporary.
        temporary: Name,
        /// An instruction that writes it.
        first: Name,
        /// Its inames.
        first_inames: BTreeSet<Name>,
        /// Another.
        second: Name,
        /// Its inames.
        second_inames: BTreeSet<Name>,
    },
    /// An instruction outside the inames uses the temporary.
    #[error(
        "temporary `{temporary}` needs one entry for each value of `{iname}`, but `{instruction}` uses it outside `{iname}`; run that instruction in the iname as well: add_inames_to_insn"
    )]
    Outside {
        /// The temporary.
        temporary: Name,
        /// The iname.
        iname: Name,
        /// The instruction.
        instruction: Name,
    },
    /// A loop bound cannot have indices.
    #[error(
        "temporary `{temporary}` needs one entry for each value of {}, but it is a bound of the loop over `{bounded}`, which is a single number; run `{bounded}` inside an ordinary loop", names(.inames)
    )]
    Limit {
        /// The temporary.
        temporary: Name,
        /// The inames.
        inames: BTreeSet<Name>,
        /// The iname that it bounds.
        bounded: Name,
    },
    /// A use that cannot get additional indices.
    #[error("temporary `{temporary}` needs one entry for each value of an iname, but `{instruction}` uses it {how}")]
    Whole {
        /// The temporary.
        temporary: Name,
        /// The instruction.
        instruction: Name,
        /// How.
        how: &'static str,
    },
    /// A value passes from one value of an iname to another.
    #[error("temporary `{temporary}` cannot have one entry for each value of {}: {violation}", names(.inames))]
    Carried {
        /// The temporary.
        temporary: Name,
        /// The inames.
        inames: BTreeSet<Name>,
        /// Two instances, of which one reads what the other writes.
        violation: Box<Violation>,
    },
    /// Initial values are those of one entry.
    #[error("temporary `{temporary}` cannot have one entry for each value of {}: it has an initializer", names(.inames))]
    Initialized {
        /// The temporary.
        temporary: Name,
        /// The inames.
        inames: BTreeSet<Name>,
    },
    /// A rule that is called does not fit.
    #[error(transparent)]
    Rule(#[from] ExpandSubstError),
    /// The solver failed.
    #[error(transparent)]
    Isl(#[from] IslError),
}

fn names(inames: &BTreeSet<Name>) -> String {
    if inames.is_empty() { "no iname".to_owned() } else { inames.iter().map(|iname| format!("`{iname}`")).collect::<Vec<_>>().join(", ") }
}

/// Gives each value of the inames its own entry in the temporaries that are written inside them and do not have one; in those of `only`, if
/// given.
///
/// # Errors
/// Unknown names, and uses of such a temporary without a definite entry.
///
/// ```
/// use parloop_loop::create::KernelBuilder;
/// use parloop_loop::transform::privatize_temporaries_with_inames;
/// let knl = KernelBuilder::new().domain("{[i,j]: 0<=i<n and 0<=j<4}").instructions("<>t = a[i,j]\nout[i,j] = 2*t").build_kernel()?;
/// let knl = privatize_temporaries_with_inames(&knl, &["j".into()].into(), None)?;
/// assert_eq!(knl.instructions[0].kind.to_string(), "t[j] = a[i, j]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn privatize_temporaries_with_inames(
    kernel: &LoopKernel,
    inames: &BTreeSet<Name>,
    only: Option<&BTreeSet<Name>>,
) -> Result<LoopKernel, PrivatizeError> {
    let missing = |name: &&Name| !kernel.inames.contains_key(*name);
    if let Some(iname) = inames.iter().find(missing) {
        return Err(PrivatizeError::UnknownIname { kernel: kernel.name.clone(), iname: iname.clone() });
    }
    if let Some(temporary) = only.into_iter().flatten().find(|name| !kernel.temporaries.contains_key(*name)) {
        return Err(PrivatizeError::UnknownTemporary { kernel: kernel.name.clone(), temporary: temporary.clone() });
    }
    let axes = further_axes(kernel, inames, only)?;
    if axes.is_empty() {
        return Ok(kernel.clone());
    }
    for domain in &kernel.domains {
        if let (Some((temporary, inames)), Some(bounded)) =
            (axes.iter().find(|(temporary, _)| domain.params().contains(temporary)), domain.dims().first())
        {
            let (temporary, inames, bounded) = (temporary.clone(), inames.clone(), bounded.clone());
            return Err(PrivatizeError::Limit { temporary, inames, bounded });
        }
    }
    let facts = Facts::of(kernel);
    if let Some(temporary) = axes.keys().find(|name| elements_may_share_memory(&facts, name)) {
        return Err(PrivatizeError::SharedElements { temporary: temporary.clone() });
    }
    let extents = Extents::of(kernel, axes.values().flatten())?;
    let mut result = kernel.clone();
    for (name, inames) in &axes {
        let temporary = result.temporaries.get_mut(name).expect("invariant: axes are those of temporaries");
        let mut lengths = match &temporary.layout.shape {
            Shape::Known(lengths) => lengths.clone(),
            Shape::Auto | Shape::Unknown => continue,
        };
        lengths.extend(inames.iter().map(|iname| extents.lengths[iname].clone()));
        temporary.layout = Layout::c_order(Shape::Known(lengths));
    }
    for instruction in &mut result.instructions {
        *instruction = extended(instruction, &axes, &extents)?;
    }
    check_values(kernel, &axes)?;
    Ok(result)
}

/// Values of a temporary must not pass from one of its entries to another.
fn check_values(kernel: &LoopKernel, axes: &BTreeMap<Name, BTreeSet<Name>>) -> Result<(), PrivatizeError> {
    if let Some((temporary, inames)) = axes.iter().find(|(name, _)| kernel.temporaries[*name].initializer.is_some()) {
        return Err(PrivatizeError::Initialized { temporary: temporary.clone(), inames: inames.clone() });
    }
    // The bodies of rules are read too.
    let expanded = if kernel.substitutions.is_empty() { Cow::Borrowed(kernel) } else { Cow::Owned(expand_subst(kernel, &Query::All)?) };
    let facts = Facts::of(&expanded);
    let dependences = Dependences::of(&facts);
    for (temporary, inames) in axes {
        if let Some(violation) = dependences.carried(temporary, inames)? {
            let (temporary, inames, violation) = (temporary.clone(), inames.clone(), Box::new(violation));
            return Err(PrivatizeError::Carried { temporary, inames, violation });
        }
    }
    Ok(())
}

/// [`privatize_temporaries_with_inames`] for all inames whose values run concurrently on one work item.
///
/// # Errors
/// As there.
pub fn privatize_for_concurrent_inames(kernel: &LoopKernel) -> Result<LoopKernel, PrivatizeError> {
    let concurrent = kernel.inames.iter().filter(|(_, iname)| Placement::of(&iname.tags) == Placement::Innermost);
    let concurrent: BTreeSet<Name> = concurrent.map(|(name, _)| name.clone()).collect();
    if concurrent.is_empty() { Ok(kernel.clone()) } else { privatize_temporaries_with_inames(kernel, &concurrent, None) }
}

/// For each temporary the inames that it gets axes for.
fn further_axes(
    kernel: &LoopKernel,
    inames: &BTreeSet<Name>,
    only: Option<&BTreeSet<Name>>,
) -> Result<BTreeMap<Name, BTreeSet<Name>>, PrivatizeError> {
    let mut axes: BTreeMap<Name, (Name, BTreeSet<Name>)> = BTreeMap::new();
    for instruction in &kernel.instructions {
        for lhs in instruction.lhs() {
            let Some(name) = lhs.written_name().filter(|name| kernel.temporaries.contains_key(*name)) else { continue };
            if only.is_some_and(|only| !only.contains(name)) {
                continue;
            }
            let used = lhs.variables();
            let wanted: BTreeSet<Name> =
                instruction.within_inames.iter().filter(|iname| inames.contains(*iname) && !used.contains(*iname)).cloned().collect();
            match axes.get(name) {
                Some((first, first_inames)) if *first_inames != wanted => {
                    return Err(PrivatizeError::Disagreement {
                        temporary: name.clone(),
                        first: first.clone(),
                        first_inames: first_inames.clone(),
                        second: instruction.id.clone(),
                        second_inames: wanted,
                    });
                }
                Some(_) => {}
                None => drop(axes.insert(name.clone(), (instruction.id.clone(), wanted))),
            }
        }
    }
    Ok(axes.into_iter().map(|(name, (_, inames))| (name, inames)).filter(|(_, inames)| !inames.is_empty()).collect())
}

/// How long the axes of inames are, and which entry a value has.
struct Extents {
    lengths: BTreeMap<Name, Expr>,
    indices: BTreeMap<Name, Expr>,
}

impl Extents {
    fn of<'n>(kernel: &LoopKernel, inames: impl Iterator<Item = &'n Name>) -> Result<Extents, PrivatizeError> {
        let forest = Forest::of(kernel);
        let mut extents = Extents { lengths: BTreeMap::new(), indices: BTreeMap::new() };
        for iname in inames {
            if extents.lengths.contains_key(iname) {
                continue;
            }
            let base = axis_base(&forest, iname)?;
            let largest = match forest.constant_bounds(iname) {
                (_, Some(largest)) => Affine::constant(largest),
                _ => forest.domain_of([iname])?.project_onto(std::slice::from_ref(iname))?.static_max(iname, &kernel.assumptions)?,
            };
            extents.lengths.insert(iname.clone(), from_affine(&largest.sub(&base)?.add(&Affine::constant(1))?));
            let index = fold::subtract(Expr::var(iname), from_affine(&base));
            extents.indices.insert(iname.clone(), index);
        }
        Ok(extents)
    }
}

fn extended(
    instruction: &Arc<Instruction>,
    axes: &BTreeMap<Name, BTreeSet<Name>>,
    extents: &Extents,
) -> Result<Arc<Instruction>, PrivatizeError> {
    let uses: BTreeSet<Name> = instruction.reads().union(&instruction.writes()).filter(|name| axes.contains_key(*name)).cloned().collect();
    if uses.is_empty() {
        return Ok(instruction.clone());
    }
    for name in &uses {
        if let Some(iname) = axes[name].iter().find(|iname| !instruction.within_inames.contains(*iname)) {
            return Err(PrivatizeError::Outside { temporary: name.clone(), iname: iname.clone(), instruction: instruction.id.clone() });
        }
    }
    let whole = |temporary: &Name, how| PrivatizeError::Whole { temporary: temporary.clone(), instruction: instruction.id.clone(), how };
    if let InstructionKind::C(code) = &instruction.kind
        && let Some(name) = code.reads.iter().find(|name| axes.contains_key(*name))
    {
        return Err(whole(name, "in C text"));
    }
    Ok(Arc::new(instruction.try_map_exprs(&mut |expr| extend(expr, axes, extents, &whole))?))
}

/// The expression with further indices for such temporaries.
fn extend(
    expr: &Expr,
    axes: &BTreeMap<Name, BTreeSet<Name>>,
    extents: &Extents,
    whole: &dyn Fn(&Name, &'static str) -> PrivatizeError,
) -> Result<Expr, PrivatizeError> {
    let further = |name: &Name| Some(axes.get(name)?.iter().map(|iname| extents.indices[iname].clone()));
    let mut inside = |child: &Expr| extend(child, axes, extents, whole);
    match expr {
        Expr::Variable(name) => Ok(match further(name) {
            Some(further) => Expr::subscript(name, further),
            None => expr.clone(),
        }),
        Expr::Subscript(aggregate, indices) => {
            let mut indices = indices.iter().map(&mut inside).collect::<Result<Vec<Expr>, _>>()?;
            match &**aggregate {
                Expr::Variable(name) => {
                    indices.extend(further(name).into_iter().flatten());
                    Ok(Expr::Subscript(aggregate.clone(), indices.into()))
                }
                aggregate => Ok(Expr::Subscript(Arc::new(inside(aggregate)?), indices.into())),
            }
        }
        Expr::LinearSubscript(aggregate, _) if aggregate.written_name().is_some_and(|name| axes.contains_key(name)) => {
            Err(whole(aggregate.written_name().expect("invariant: it was just found"), "with a linear index"))
        }
        Expr::SubArray(part) => {
            let mut indices = part.indices.iter().map(&mut inside).collect::<Result<Vec<Expr>, _>>()?;
            indices.extend(further(&part.array).into_iter().flatten());
            Ok(Expr::SubArray(Arc::new(SubArray { indices, ..(**part).clone() })))
        }
        _ => expr.try_map_children(&mut inside),
    }
}
