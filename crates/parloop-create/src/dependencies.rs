//! Dependencies: patterns and queries become ids; readers depend on the only writer; or instructions follow each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_ir::names::Near;
use parloop_ir::parse::Which;
use parloop_ir::syntax::{Instruction, LoopKernel};
use parloop_isl::Name;

use super::error::{CreateError, Warning};
use super::making::Making;

/// Makes each instruction depend on the one before it, if requested.
pub(super) fn add_sequential(making: &mut Making) -> Result<(), CreateError> {
    if !making.sequential {
        return Ok(());
    }
    let mut before: Option<Name> = None;
    for instruction in &mut making.kernel.instructions {
        let instruction = Arc::make_mut(instruction);
        instruction.depends_on.extend(before.replace(instruction.id.clone()));
        instruction.depends_on_is_final = true;
    }
    Ok(())
}

/// Resolves `dep=`, `dep_query=`, `nosync=` and `nosync_query=`.
pub(super) fn resolve(making: &mut Making) -> Result<(), CreateError> {
    let kernel = &making.kernel;
    let ids: BTreeSet<Name> = kernel.instructions.iter().map(|instruction| instruction.id.clone()).collect();
    // An option of loopy that drops dependencies on instructions of other kernels.
    let strict = !kernel.options.is_false("check_dep_resolution");
    let lookup = Lookup { kernel, ids: &ids };
    let mut found = Vec::with_capacity(making.pending.len());
    for (instruction, pending) in kernel.instructions.iter().zip(&making.pending) {
        let id = || instruction.id.clone();
        let (mut depends_on, mut nosync) = (BTreeSet::new(), BTreeSet::new());
        for which in &pending.depends_on {
            let matched = lookup.find(which, instruction);
            if matched.contains(&instruction.id) {
                return Err(CreateError::DependsOnItself { instruction: id() });
            }
            if matched.is_empty() && strict {
                let (pattern, near) = lookup.describe(which);
                return Err(CreateError::UnknownDependency { instruction: id(), pattern, near });
            }
            depends_on.extend(matched);
        }
        for (which, scope) in &pending.nosync {
            let matched = lookup.find(which, instruction);
            if matched.is_empty() && strict {
                let (pattern, near) = lookup.describe(which);
                return Err(CreateError::UnknownNosync { instruction: id(), pattern, near });
            }
            nosync.extend(matched.into_iter().map(|other| (other, *scope)));
        }
        found.push((depends_on, nosync));
    }
    for (instruction, (depends_on, nosync)) in making.kernel.instructions.iter_mut().zip(found) {
        if !depends_on.is_empty() || !nosync.is_empty() {
            let instruction = Arc::make_mut(instruction);
            instruction.depends_on.extend(depends_on);
            instruction.nosync.extend(nosync);
        }
    }
    Ok(())
}

struct Lookup<'a> {
    kernel: &'a LoopKernel,
    ids: &'a BTreeSet<Name>,
}

impl Lookup<'_> {
    /// The selected instructions; patterns and queries do not select the instruction itself.
    fn find(&self, which: &Which, of: &Instruction) -> Vec<Name> {
        let others = || self.kernel.instructions.iter().filter(|other| other.id != of.id);
        match which {
            Which::Named(glob) => match glob.as_name() {
                Some(name) => self.ids.get(name).cloned().into_iter().collect(),
                None => others().filter(|other| glob.matches(&other.id)).map(|other| other.id.clone()).collect(),
            },
            Which::Query(query) => others().filter(|other| query.matches(self.kernel, other)).map(|other| other.id.clone()).collect(),
        }
    }

    fn describe(&self, which: &Which) -> (String, Near) {
        match which {
            Which::Named(glob) => (glob.to_string(), Near::of(glob.as_str(), self.ids)),
            Which::Query(query) => (query.to_string(), Near::of("", self.ids)),
        }
    }
}

/// Makes readers of a variable depend on its writer, if there is only one and their dependencies are not final. A loop reads its bounds.
pub(super) fn add_single_writers(making: &mut Making) -> Result<(), CreateError> {
    let writers = making.writers();
    let expanded = making.expanded()?;
    let bounds = data_dependent_bounds(&making.kernel);
    let mut unwritten: BTreeSet<Name> = BTreeSet::new();
    let mut added: Vec<BTreeSet<Name>> = Vec::with_capacity(expanded.len());
    for (index, instruction) in expanded.iter().enumerate() {
        let mut depends_on = BTreeSet::new();
        let mut reads = instruction.reads();
        if !bounds.is_empty() {
            let loops = instruction.within_inames.iter().cloned().chain(instruction.reduction_inames());
            reads.extend(loops.filter_map(|iname| bounds.get(&iname)).flatten().cloned());
        }
        for name in reads {
            match writers.get(&name).map(Vec::as_slice) {
                Some(&[writer]) if writer != index && !instruction.depends_on_is_final => {
                    depends_on.insert(making.kernel.instructions[writer].id.clone());
                }
                None if making.kernel.temporaries.get(&name).is_some_and(|temporary| temporary.initializer.is_none()) => {
                    unwritten.insert(name);
                }
                _ => {}
            }
        }
        added.push(depends_on);
    }
    drop(expanded);
    for (instruction, depends_on) in making.kernel.instructions.iter_mut().zip(added) {
        if !depends_on.is_subset(&instruction.depends_on) {
            Arc::make_mut(instruction).depends_on.extend(depends_on);
        }
    }
    for name in unwritten {
        making.warn(Warning::ReadNotWritten { name });
    }
    Ok(())
}

/// The temporaries that bound each iname.
fn data_dependent_bounds(kernel: &LoopKernel) -> BTreeMap<Name, Vec<Name>> {
    let mut bounds = BTreeMap::new();
    for domain in &kernel.domains {
        let temporaries: Vec<Name> = domain.params().iter().filter(|param| kernel.temporaries.contains_key(*param)).cloned().collect();
        if !temporaries.is_empty() {
            bounds.extend(domain.dims().iter().map(|iname| (iname.clone(), temporaries.clone())));
        }
    }
    bounds
}
