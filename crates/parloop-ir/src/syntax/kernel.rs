//! Kernels: domains, instructions and data under one name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::{Name, Set};

use super::{Argument, Expr, InameTag, Instruction, KernelOptions, Temporary};

/// How far a kernel has come; each phase forbids what an earlier one allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// As written.
    Parsed,
    /// No unknown call that generation would reach.
    Resolved,
    /// No untyped name.
    Typed,
    /// Every callee knows layout, shape and address space of its arguments.
    Described,
    /// No reduction or scan is left in an expression.
    Realised,
}

/// What is known of an iname.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Iname {
    /// How it is run, and names of the user's.
    pub tags: BTreeSet<InameTag>,
    /// How many of its first and last values get code of their own, so that the code for those between needs fewer conditions.
    pub slabs: (u32, u32),
}

/// `f(x, y) := e`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SubstitutionRule {
    /// Its name.
    pub name: Name,
    /// Names that stand for what it is called with.
    pub parameters: Vec<Name>,
    /// What it stands for.
    pub body: Expr,
}

/// Text in front of the code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Preamble {
    key: String,
    text: String,
}

impl Preamble {
    /// That text, at a place among the others that `key` says: they are sorted by it, and one of each is written.
    ///
    /// # Safety
    /// The text is put in front of the code as it is. It is right in the target's language, and does not change what the code behind it
    /// means; its functions do what the callables that call them say.
    pub unsafe fn new(key: impl Into<String>, text: impl Into<String>) -> Preamble {
        Preamble { key: key.into(), text: text.into() }
    }

    /// Where it stands among the others.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// One kernel. Transformations make others of it; nothing is changed in place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoopKernel {
    /// Its name, which is that of the function in the code.
    pub name: Name,
    /// The values of its inames: a forest. A parameter of a domain is an iname of another, an integer argument or temporary, or free.
    pub domains: Vec<Set>,
    /// What is done, in the order written.
    pub instructions: Vec<Arc<Instruction>>,
    /// What it is called with, in order.
    pub arguments: Vec<Argument>,
    /// Its own variables.
    pub temporaries: BTreeMap<Name, Temporary>,
    /// Its inames: exactly the dimensions of its domains.
    pub inames: BTreeMap<Name, Iname>,
    /// Names for expressions.
    pub substitutions: BTreeMap<Name, SubstitutionRule>,
    /// What is promised of the parameters: a set without dimensions.
    pub assumptions: Set,
    /// Chains of inames, outer first, that loops must nest in.
    pub priorities: BTreeSet<Vec<Name>>,
    /// Text in front of the code.
    pub preambles: BTreeSet<Preamble>,
    /// The type of indices.
    pub index_type: DType,
    /// The type that arithmetic of literals starts from, if given.
    pub default_type: Option<DType>,
    /// Choices about code and checks.
    pub options: KernelOptions,
    /// How far it has come.
    pub phase: Phase,
}

impl LoopKernel {
    /// The kernel as its text has it: when its instructions ran as it was created is not part of that.
    pub fn as_written(&self) -> LoopKernel {
        let mut kernel = self.clone();
        for instruction in &mut kernel.instructions {
            Arc::make_mut(instruction).origin = Arc::default();
        }
        kernel
    }
}
