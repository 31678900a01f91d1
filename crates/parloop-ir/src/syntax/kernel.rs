//! Kernels: domains, instructions and data under one name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::{Name, Set};

use super::{Argument, Expr, InameTag, Instruction, KernelOptions, Temporary};

/// The phase of a kernel; each phase forbids what an earlier one allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// As written.
    Parsed,
    /// No unknown calls are reachable.
    Resolved,
    /// Every name has a type.
    Typed,
    /// Every callee knows the layout, shape and address space of its arguments.
    Described,
    /// No reduction or scan is left in an expression.
    Realised,
}

/// Properties of an iname.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Iname {
    /// How it runs, and user-defined tags.
    pub tags: BTreeSet<InameTag>,
    /// How many of its first and last values get separate code, so that the code for those between needs fewer conditions.
    pub slabs: (u32, u32),
}

/// `f(x, y) := e`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SubstitutionRule {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<Name>,
    /// Its body.
    pub body: Expr,
}

/// A preamble of the code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Preamble {
    key: String,
    text: String,
}

impl Preamble {
    /// Creates a preamble. Preambles are sorted by `key`, and each key is written once.
    ///
    /// # Safety
    /// The text is inserted verbatim before the code. It must be valid in the target's language and not change the meaning of the code
    /// after it; its functions must behave as the callables that use them specify.
    pub unsafe fn new(key: impl Into<String>, text: impl Into<String>) -> Preamble {
        Preamble { key: key.into(), text: text.into() }
    }

    /// Its sort key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A kernel. Transformations return another kernel; nothing is changed in place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoopKernel {
    /// Its name, which is also the name of the function in the code.
    pub name: Name,
    /// The values of its inames: a forest. A parameter of a domain is an iname of another, an integer argument or temporary, or free.
    pub domains: Vec<Set>,
    /// Its instructions, in the order written.
    pub instructions: Vec<Arc<Instruction>>,
    /// Its arguments, in order.
    pub arguments: Vec<Argument>,
    /// Its own variables.
    pub temporaries: BTreeMap<Name, Temporary>,
    /// Its inames: exactly the dimensions of its domains.
    pub inames: BTreeMap<Name, Iname>,
    /// Its substitution rules.
    pub substitutions: BTreeMap<Name, SubstitutionRule>,
    /// Assumptions about the parameters: a set without dimensions.
    pub assumptions: Set,
    /// Chains of inames, outer first, in which loops must nest.
    pub priorities: BTreeSet<Vec<Name>>,
    /// A preamble of the code.
    pub preambles: BTreeSet<Preamble>,
    /// The type of indices.
    pub index_type: DType,
    /// The default type of arithmetic with literals, if given.
    pub default_type: Option<DType>,
    /// Options for code and checks.
    pub options: KernelOptions,
    /// Its phase.
    pub phase: Phase,
}

impl LoopKernel {
    /// Compares kernels by their text, which does not include the origins of their instructions.
    pub fn as_written(&self) -> LoopKernel {
        let mut kernel = self.clone();
        for instruction in &mut kernel.instructions {
            Arc::make_mut(instruction).origin = Arc::default();
        }
        kernel
    }
}
