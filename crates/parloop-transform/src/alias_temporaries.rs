//! `alias_temporaries`: temporaries that are not used at the same time share memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_ir::names::{Near, UniqueNames};
use parloop_ir::syntax::LoopKernel;
use parloop_isl::Name;

/// Why temporaries cannot share memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AliasTemporariesError {
    /// Unknown name.
    #[error("kernel `{kernel}` has no temporary `{name}`{near}")]
    UnknownTemporary {
        /// The kernel.
        kernel: Name,
        /// The name.
        name: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// It already shares memory.
    #[error("`{name}` already shares the memory `{storage}`; leave it out")]
    Shared {
        /// The temporary.
        name: Name,
        /// What it shares.
        storage: Name,
    },
    /// It has initial values, which another would overwrite.
    #[error("`{name}` has initial values, which another temporary would overwrite; leave it out")]
    Initialized {
        /// The temporary.
        name: Name,
    },
    /// An instruction uses two of them at once.
    #[error("instruction `{instruction}` uses both `{first}` and `{second}`, so they cannot share memory")]
    UsedTogether {
        /// The instruction.
        instruction: Name,
        /// The first.
        first: Name,
        /// The second.
        second: Name,
    },
}

/// Which temporaries share memory, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aliases {
    /// The temporaries.
    pub names: Vec<Name>,
    /// The prefix of the name of the memory.
    pub base_name_prefix: Name,
    /// Whether the schedule must keep their uses apart; if not, the kernel's dependencies do.
    pub synchronize_for_exclusive_use: bool,
}

impl Aliases {
    /// Those temporaries, separated by the schedule.
    pub fn of(names: impl IntoIterator<Item = Name>) -> Aliases {
        let base_name_prefix = Name::from("temp_storage");
        Aliases { names: names.into_iter().collect(), base_name_prefix, synchronize_for_exclusive_use: true }
    }
}

/// Makes temporaries share memory. Instructions of one never run between those of another.
///
/// # Errors
/// [`AliasTemporariesError`].
pub fn alias_temporaries(kernel: &LoopKernel, aliases: &Aliases) -> Result<LoopKernel, AliasTemporariesError> {
    for name in &aliases.names {
        let Some(temporary) = kernel.temporaries.get(name) else {
            let near = Near::of(name, kernel.temporaries.keys());
            return Err(AliasTemporariesError::UnknownTemporary { kernel: kernel.name.clone(), name: name.clone(), near });
        };
        if let Some(storage) = &temporary.base_storage {
            return Err(AliasTemporariesError::Shared { name: name.clone(), storage: storage.clone() });
        }
        if temporary.initializer.is_some() {
            return Err(AliasTemporariesError::Initialized { name: name.clone() });
        }
    }
    let mut result = kernel.clone();
    let mut names = UniqueNames::of_variables(kernel);
    for storage in kernel.temporaries.values().filter_map(|temporary| temporary.base_storage.as_ref()) {
        names.take(storage);
    }
    let storage = names.make(&aliases.base_name_prefix);
    for name in &aliases.names {
        if let Some(temporary) = result.temporaries.get_mut(name) {
            temporary.base_storage = Some(storage.clone());
        }
    }
    if aliases.synchronize_for_exclusive_use {
        keep_apart(&mut result, aliases)?;
    }
    Ok(result)
}

/// Puts the users of each temporary into a group that conflicts with those of the others.
fn keep_apart(kernel: &mut LoopKernel, aliases: &Aliases) -> Result<(), AliasTemporariesError> {
    let known = kernel.instructions.iter().flat_map(|instruction| instruction.groups.iter().chain(&instruction.conflicts).cloned());
    let mut names = UniqueNames::of(known.collect::<Vec<Name>>());
    let groups: Vec<Name> = aliases.names.iter().map(|name| names.make(&format!("tmpgrp_{name}"))).collect();
    for instruction in &mut kernel.instructions {
        let used: BTreeSet<Name> = instruction.reads().union(&instruction.writes()).cloned().collect();
        let mine: Vec<usize> = (0..groups.len()).filter(|&index| used.contains(&aliases.names[index])).collect();
        match mine.as_slice() {
            [] => {}
            [only] => {
                let changed = Arc::make_mut(instruction);
                changed.groups.insert(groups[*only].clone());
                changed.conflicts.extend(groups.iter().enumerate().filter(|(index, _)| index != only).map(|(_, group)| group.clone()));
            }
            [first, second, ..] => {
                let (first, second) = (aliases.names[*first].clone(), aliases.names[*second].clone());
                return Err(AliasTemporariesError::UsedTogether { instruction: instruction.id.clone(), first, second });
            }
        }
    }
    Ok(())
}
