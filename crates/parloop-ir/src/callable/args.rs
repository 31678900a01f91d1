//! Which of a kernel's arguments a call passes in and gets back.

use std::collections::BTreeSet;

use parloop_isl::Name;

use super::ArgId;
use crate::syntax::{ArgumentKind, LoopKernel};

/// The kernel arguments that a call passes in and those that it gets back; an argument may be both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelArgs {
    /// Positions of the arguments that a call passes in, in order: the first is the call's argument 0.
    pub inputs: Vec<usize>,
    /// Positions of the arguments that a call gets back, in order: the first is the call's result −1.
    pub outputs: Vec<usize>,
}

/// The kernel arguments that a call passes in and gets back: as declared, else as the instructions read and write them.
pub fn kernel_args(kernel: &LoopKernel) -> KernelArgs {
    let mut reads: BTreeSet<Name> = BTreeSet::new();
    let mut writes: BTreeSet<Name> = BTreeSet::new();
    if kernel.arguments.iter().any(|argument| argument.is_input.is_none() || argument.is_output.is_none()) {
        for instruction in &kernel.instructions {
            reads.extend(instruction.reads());
            writes.extend(instruction.writes());
        }
    }
    let mut found = KernelArgs::default();
    for (place, argument) in kernel.arguments.iter().enumerate() {
        let is_number = matches!(argument.kind, ArgumentKind::Value);
        let output = !is_number && argument.is_output.unwrap_or_else(|| writes.contains(&argument.name));
        let input = is_number || argument.is_input.unwrap_or_else(|| !output || reads.contains(&argument.name));
        if input {
            found.inputs.push(place);
        }
        if output {
            found.outputs.push(place);
        }
    }
    found
}

impl KernelArgs {
    /// The position of the argument with that id in a call.
    pub fn place(&self, kernel: &LoopKernel, id: &ArgId) -> Option<usize> {
        match id {
            ArgId::Position(place) if *place >= 0 => self.inputs.get(*place as usize).copied(),
            ArgId::Position(place) => self.outputs.get(usize::try_from(-1 - i64::from(*place)).ok()?).copied(),
            ArgId::Keyword(name) => kernel.arguments.iter().position(|argument| argument.name == *name),
        }
    }

    /// The ids by which a call may refer to the argument at that position.
    pub(super) fn ids(&self, place: usize) -> impl Iterator<Item = ArgId> {
        let input = self.inputs.iter().position(|input| *input == place).map(ArgId::argument);
        let output = self.outputs.iter().position(|output| *output == place).map(ArgId::result);
        input.into_iter().chain(output)
    }
}
