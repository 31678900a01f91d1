//! `add_inames_for_unused_hw_axes`: runs instructions on all hardware axes that others use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_ir::matching::Query;
use parloop_ir::syntax::{InameTag, LoopKernel};
use parloop_isl::Name;

/// Why an axis cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusedAxesError {
    /// Several inames have the axis.
    #[error(
        "`{instruction}` does not use hardware axis {axis}, which {} have; choose one with add_inames_to_insn",
        .inames.iter().map(|iname| format!("`{iname}`")).collect::<Vec<_>>().join(" and ")
    )]
    Ambiguous {
        /// The instruction.
        instruction: Name,
        /// `g.0`, `l.1` …
        axis: InameTag,
        /// The inames.
        inames: BTreeSet<Name>,
    },
}

/// Runs each instruction that a query selects in an iname of every hardware axis that some instruction uses, so that all work items do the
/// same.
///
/// ```
/// use parloop_loop::{create::make_kernel, matching::Query, transform::*};
/// let program = make_kernel("{[i]: 0<=i<16}", "<>t = 2 {id=t}\na[i] = t*b[i] {dep=t}")?;
/// let kernel = tag_inames(program.entry().unwrap(), &"i:l.0".parse()?)?;
/// let kernel = add_inames_for_unused_hw_axes(&kernel, &Query::All)?;
/// assert!(kernel.instructions[0].within_inames.contains("i"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If several inames are on an axis that an instruction does not use.
pub fn add_inames_for_unused_hw_axes(kernel: &LoopKernel, within: &Query) -> Result<LoopKernel, UnusedAxesError> {
    let axis_of = |iname: &Name| {
        let tags = kernel.inames.get(iname).into_iter().flat_map(|iname| &iname.tags);
        tags.into_iter().find(|tag| matches!(tag, InameTag::Group(_) | InameTag::Local(_))).cloned()
    };
    let mut axes: BTreeMap<InameTag, BTreeSet<Name>> = BTreeMap::new();
    for iname in kernel.instructions.iter().flat_map(|instruction| &instruction.within_inames) {
        if let Some(axis) = axis_of(iname) {
            axes.entry(axis).or_default().insert(iname.clone());
        }
    }
    let mut result = kernel.clone();
    for instruction in &mut result.instructions {
        if !within.matches(kernel, instruction) {
            continue;
        }
        let used: BTreeSet<InameTag> = instruction.within_inames.iter().filter_map(axis_of).collect();
        for (axis, inames) in axes.iter().filter(|(axis, _)| !used.contains(axis)) {
            let mut all = inames.iter();
            match (all.next(), all.next()) {
                (Some(iname), None) => drop(Arc::make_mut(instruction).within_inames.insert(iname.clone())),
                _ => {
                    let (instruction, axis, inames) = (instruction.id.clone(), axis.clone(), inames.clone());
                    return Err(UnusedAxesError::Ambiguous { instruction, axis, inames });
                }
            }
        }
    }
    Ok(result)
}
