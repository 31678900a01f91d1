//! The address space of temporaries that do not declare one: private, unless an instruction writes it from the work items of a group
//! (local) or from several groups (global).

use std::collections::{BTreeMap, BTreeSet};

use parloop_ir::syntax::{AddressSpace, LoopKernel, Temporary};
use parloop_isl::Name;

use crate::facts::{Facts, Placement};

/// Why the address space of a temporary is ambiguous.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// Some, but not all, of the axes are in the index.
    #[error(
        "`{instruction}` writes temporary `{temporary}` at an index that uses {which} inames, but not `{missing}`, along which the instruction also runs in parallel: work items \
         would overwrite each other's values; use `{missing}` in the index, or choose its memory with set_temporary_address_space"
    )]
    PartlySpread {
        /// The instruction.
        instruction: Name,
        /// The temporary.
        temporary: Name,
        /// `local` or `group`.
        which: &'static str,
        /// An iname that is not in the index.
        missing: Name,
    },
    /// Temporaries that share memory are in different address spaces.
    #[error(
        "temporaries `{first}` and `{second}` share memory, but `{first}` is {} and `{second}` is {} memory; choose their memory with set_temporary_address_space",
        space_name(*first_space),
        space_name(*second_space)
    )]
    Sharing {
        /// A temporary.
        first: Name,
        /// Its address space.
        first_space: AddressSpace,
        /// Another.
        second: Name,
        /// Its address space.
        second_space: AddressSpace,
    },
    /// Instructions use a temporary in different ways.
    #[error(
        "temporary `{temporary}` is {} memory by `{first}`, but {} memory by `{second}`; choose its memory with set_temporary_address_space",
        space_name(*first_space),
        space_name(*second_space)
    )]
    Disagreement {
        /// The temporary.
        temporary: Name,
        /// An instruction.
        first: Name,
        /// The address space that its index implies.
        first_space: AddressSpace,
        /// Another.
        second: Name,
        /// The address space that its index implies.
        second_space: AddressSpace,
    },
}

fn space_name(space: AddressSpace) -> &'static str {
    match space {
        AddressSpace::Private => "private",
        AddressSpace::Local => "local",
        AddressSpace::Global => "global",
        AddressSpace::Constant => "constant",
    }
}

/// Assigns an address space to each temporary.
///
/// # Errors
/// If the indices are ambiguous.
pub fn address_spaces(kernel: &LoopKernel) -> Result<LoopKernel, SpaceError> {
    if kernel.temporaries.values().all(|temporary| temporary.space.is_some()) {
        check_sharing(kernel)?;
        return Ok(kernel.clone());
    }
    let facts = Facts::of(kernel);
    let mut result = kernel.clone();
    for (name, temporary) in &mut result.temporaries {
        if temporary.space.is_none() {
            temporary.space = Some(space_of(&facts, name)?);
        }
    }
    check_sharing(&result)?;
    Ok(result)
}

/// Temporaries that share memory are in one address space.
fn check_sharing(kernel: &LoopKernel) -> Result<(), SpaceError> {
    let mut known: BTreeMap<&Name, (&Name, AddressSpace)> = BTreeMap::new();
    for temporary in kernel.temporaries.values() {
        let (Some(storage), Some(space)) = (&temporary.base_storage, temporary.space) else { continue };
        let &mut (first, first_space) = known.entry(storage).or_insert((&temporary.name, space));
        if first_space != space {
            let (first, second) = (first.clone(), temporary.name.clone());
            return Err(SpaceError::Sharing { first, first_space, second, second_space: space });
        }
    }
    Ok(())
}

fn space_of(facts: &Facts<'_>, name: &Name) -> Result<AddressSpace, SpaceError> {
    let names = sharing(facts, name);
    let mut known: Option<(usize, AddressSpace)> = None;
    for writer in names.iter().flat_map(|&name| facts.writers.get(name).into_iter().flatten().copied()) {
        let space = wanted_by(facts, writer, name, &names)?;
        match known {
            Some((first, first_space)) if first_space != space => {
                let id = |at: usize| facts.kernel.instructions[at].id.clone();
                return Err(SpaceError::Disagreement {
                    temporary: name.clone(),
                    first: id(first),
                    first_space,
                    second: id(writer),
                    second_space: space,
                });
            }
            Some(_) => {}
            None => known = Some((writer, space)),
        }
    }
    let has_values = facts.kernel.temporaries[name].initializer.is_some();
    Ok(known.map_or(if has_values { AddressSpace::Global } else { AddressSpace::Private }, |(_, space)| space))
}

/// Moves temporaries whose lengths only a call knows to global memory, which the host allocates; `None` if nothing changes. Each work item
/// would need its own, so this applies only to kernels with a single work item. Temporaries that share their memory move too.
pub fn open_temporaries(kernel: &LoopKernel) -> Option<LoopKernel> {
    let is_open = |temporary: &Temporary| {
        let is_array = temporary.layout.lengths().is_some_and(|lengths| !lengths.is_empty());
        temporary.space == Some(AddressSpace::Private) && is_array && temporary.layout.static_lengths().is_none()
    };
    let is_alone = || kernel.inames.values().all(|iname| !Placement::of(&iname.tags).is_parallel());
    if !kernel.temporaries.values().any(is_open) || !is_alone() {
        return None;
    }
    let opened = || kernel.temporaries.values().filter(|temporary| is_open(temporary));
    let storages: BTreeSet<&Name> = opened().filter_map(|temporary| temporary.base_storage.as_ref()).collect();
    let mut result = kernel.clone();
    let moves = |temporary: &Temporary| temporary.base_storage.as_ref().is_some_and(|storage| storages.contains(storage));
    result
        .temporaries
        .values_mut()
        .filter(|temporary| is_open(temporary) || moves(temporary))
        .for_each(|temporary| temporary.space = Some(AddressSpace::Global));
    Some(result)
}

/// The temporary, and those that share its memory.
fn sharing<'f>(facts: &'f Facts<'_>, name: &'f Name) -> BTreeSet<&'f Name> {
    let base = facts.kernel.temporaries[name].base_storage.as_ref();
    let others = facts.kernel.temporaries.values().filter(|other| base.is_some() && other.base_storage.as_ref() == base);
    others.map(|other| &other.name).chain([name]).collect()
}

fn wanted_by(facts: &Facts<'_>, writer: usize, temporary: &Name, names: &BTreeSet<&Name>) -> Result<AddressSpace, SpaceError> {
    let instruction = &facts.kernel.instructions[writer];
    let lhs = instruction.lhs();
    let writes = lhs.iter().filter(|lhs| lhs.written_name().is_some_and(|written| names.contains(written)));
    let used: BTreeSet<Name> = writes.flat_map(|lhs| lhs.variables()).collect();
    let mut space = AddressSpace::Private;
    for (which, wanted) in [("local", AddressSpace::Local), ("group", AddressSpace::Global)] {
        let is_axis = |iname: &&Name| match facts.placement(iname) {
            Placement::Local(_) | Placement::LocalAuto => which == "local",
            Placement::Group(_) => which == "group",
            _ => false,
        };
        let axes: Vec<&Name> = instruction.within_inames.iter().filter(is_axis).collect();
        let missing = axes.iter().find(|iname| !used.contains(**iname));
        let some_used = axes.iter().any(|iname| used.contains(*iname));
        match missing {
            Some(missing) if some_used => {
                return Err(SpaceError::PartlySpread {
                    instruction: instruction.id.clone(),
                    temporary: temporary.clone(),
                    which,
                    missing: (*missing).clone(),
                });
            }
            None if some_used => space = space.max(wanted),
            _ => {}
        }
    }
    Ok(space)
}
