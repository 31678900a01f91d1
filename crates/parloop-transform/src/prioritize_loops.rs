//! `prioritize_loops`: sets which loops are outside which.

use std::collections::{BTreeMap, BTreeSet};

use parloop_ir::syntax::LoopKernel;
use parloop_isl::Name;

use super::replace::{self, InameError};

/// Why loops cannot be ordered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrioritizeLoopsError {
    /// A loop would be outside itself.
    #[error("loops cannot nest as {}: this and earlier priorities put each outside the next", chain(.cycle))]
    Cycle {
        /// The inames of the cycle, the first one again at the end.
        cycle: Vec<Name>,
    },
    /// Unknown iname.
    #[error(transparent)]
    Iname(#[from] InameError),
}

fn chain(inames: &[Name]) -> String {
    inames.iter().map(|iname| format!("`{iname}`")).collect::<Vec<String>>().join(", ")
}

/// Requires loops to nest in that order, the first one outermost. All priorities together must be consistent. In a kernel whose options
/// make them hints ([`KernelOptions::is_lenient`](parloop_ir::syntax::KernelOptions::is_lenient)), unknown inames and contradictions are
/// ignored.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, transform::prioritize_loops};
/// let kernel = KernelBuilder::new().domain("{[i,j]: 0<=i,j<n}").instructions("out[i,j] = 1").build_kernel()?;
/// let kernel = prioritize_loops(&kernel, &["j".into(), "i".into()])?;
/// assert!(prioritize_loops(&kernel, &["i".into(), "j".into()]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such iname, or the order contradicts itself or an earlier one.
pub fn prioritize_loops(kernel: &LoopKernel, inames: &[Name]) -> Result<LoopKernel, PrioritizeLoopsError> {
    let mut result = kernel.clone();
    if kernel.options.is_lenient() {
        // Hints: impossible ones are ignored when loops are nested.
        result.priorities.insert(inames.iter().filter(|iname| kernel.inames.contains_key(*iname)).cloned().collect());
        return Ok(result);
    }
    for iname in inames {
        replace::known(kernel, iname)?;
    }
    result.priorities.insert(inames.to_vec());
    match find_cycle(&result.priorities) {
        Some(cycle) => Err(PrioritizeLoopsError::Cycle { cycle }),
        None => Ok(result),
    }
}

/// Inames each of which is outside the next, by some chain, and the last of which is the first again.
fn find_cycle(chains: &BTreeSet<Vec<Name>>) -> Option<Vec<Name>> {
    let mut inside: BTreeMap<&Name, BTreeSet<&Name>> = BTreeMap::new();
    for pair in chains.iter().flat_map(|chain| chain.windows(2)) {
        inside.entry(&pair[0]).or_default().insert(&pair[1]);
    }
    let mut done = BTreeSet::new();
    inside.keys().find_map(|start| {
        let mut path: Vec<&Name> = Vec::new();
        let mut open: Vec<(&Name, usize)> = vec![(start, 0)];
        while let Some((iname, depth)) = open.pop() {
            path.truncate(depth);
            if let Some(first) = path.iter().position(|on_path| *on_path == iname) {
                path.push(iname);
                return Some(path[first..].iter().map(|iname| (*iname).clone()).collect());
            }
            if done.insert(iname) {
                path.push(iname);
                open.extend(inside.get(iname).into_iter().flatten().map(|next| (*next, depth + 1)));
            }
        }
        None
    })
}
