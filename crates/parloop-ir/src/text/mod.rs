//! Complete kernels as text: the form in which they are printed, and read from `.loop` files.

mod instructions;
mod kernel;
mod options;

use parloop_device::DType;
use parloop_isl::Name;

pub use instructions::InstructionText;
pub use options::{read as read_option, read_trusted as read_trusted_option};

use crate::parse::Datum;
use crate::syntax::{Iname, KernelOptions, Phase, Preamble, Target};

/// A kernel as written in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelText {
    /// Its name.
    pub name: Name,
    /// Whether it is only called by others: `function` instead of `kernel`.
    pub is_function: bool,
    /// Its domains, in isl's notation.
    pub domains: Vec<String>,
    /// Assumptions about parameters.
    pub assumptions: Vec<String>,
    /// Its inames with tags.
    pub inames: Vec<(Name, Iname)>,
    /// Chains of inames in which loops must nest.
    pub priorities: Vec<Vec<Name>>,
    /// The type of indices.
    pub index_type: Option<DType>,
    /// The default type of arithmetic with literals.
    pub default_type: Option<DType>,
    /// Options for code and checks.
    pub options: KernelOptions,
    /// A preamble of the code.
    pub preambles: Vec<Preamble>,
    /// The target of the generated code.
    pub target: Option<Target>,
    /// Whether each instruction depends on the one before it.
    pub sequential: bool,
    /// Its phase; if given, nothing is inferred.
    pub phase: Option<Phase>,
    /// Arguments and temporaries.
    pub data: Vec<Datum>,
    /// Whether names that are not declared become arguments.
    pub rest: bool,
    /// Instructions and substitution rules.
    pub instructions: InstructionText,
}

impl KernelText {
    /// An empty kernel.
    pub fn named(name: impl Into<Name>) -> KernelText {
        KernelText {
            name: name.into(),
            is_function: false,
            domains: Vec::new(),
            assumptions: Vec::new(),
            inames: Vec::new(),
            priorities: Vec::new(),
            index_type: None,
            default_type: None,
            options: KernelOptions::default(),
            preambles: Vec::new(),
            target: None,
            sequential: false,
            phase: None,
            data: Vec::new(),
            rest: false,
            instructions: InstructionText::default(),
        }
    }
}
