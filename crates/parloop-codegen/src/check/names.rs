//! Names that become part of code are names there, whoever made the kernel.

use parloop_ir::parse::is_name;
use parloop_ir::syntax::{InstructionKind, LoopKernel};
use parloop_isl::Name;

use super::CheckError;

pub(super) fn check(kernel: &LoopKernel) -> Result<(), CheckError> {
    let of_domains = kernel.domains.iter().flat_map(|domain| domain.params().iter().chain(domain.dims()));
    let of_temporaries = kernel.temporaries.values().flat_map(|temporary| [Some(&temporary.name), temporary.base_storage.as_ref()]);
    let of_instructions = kernel.instructions.iter().flat_map(|instruction| {
        let bound = match &instruction.kind {
            InstructionKind::C(c) => &c.bindings[..],
            _ => &[],
        };
        std::iter::once(&instruction.id).chain(bound.iter().map(|(name, _)| name))
    });
    let mut all = std::iter::once(&kernel.name)
        .chain(kernel.arguments.iter().map(|argument| &argument.name))
        .chain(kernel.inames.keys())
        .chain(kernel.temporaries.keys())
        .chain(of_temporaries.flatten())
        .chain(of_domains)
        .chain(of_instructions);
    match all.find(|name| !is_name(name)) {
        Some(name) => Err(CheckError::NotAName { name: Name::clone(name), kernel: kernel.name.clone() }),
        None => Ok(()),
    }
}
