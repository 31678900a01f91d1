//! Facts about a kernel that scheduling and checks use repeatedly, computed once: where inames are, how they run, and what writes what.

use std::collections::{BTreeSet, HashMap};

use parloop_device::DType;
use parloop_ir::domain::Forest;
use parloop_ir::program::Program;
use parloop_ir::syntax::{Argument, ArgumentKind, InameTag, LoopKernel, Type};
use parloop_isl::{IslError, Name, Set};

/// How an iname becomes code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Placement {
    /// A loop.
    Loop,
    /// A loop around as few instructions as possible, opened as often as necessary: `ilp` and `vec`.
    Innermost,
    /// The index of the work-group along that axis.
    Group(u8),
    /// The index of the work item in its group along that axis.
    Local(u8),
    /// A local axis that is yet to be chosen.
    LocalAuto,
}

impl Placement {
    /// The placement that the tags of an iname give.
    pub fn of(tags: &BTreeSet<InameTag>) -> Placement {
        let placement = tags.iter().find_map(|tag| match tag {
            InameTag::Group(axis) => Some(Placement::Group(*axis)),
            InameTag::Local(axis) => Some(Placement::Local(*axis)),
            InameTag::LocalAuto => Some(Placement::LocalAuto),
            InameTag::Vector | InameTag::Ilp | InameTag::IlpSequential => Some(Placement::Innermost),
            _ => None,
        });
        placement.unwrap_or(Placement::Loop)
    }

    /// Whether different values run on different work items.
    pub fn is_parallel(self) -> bool {
        matches!(self, Placement::Group(_) | Placement::Local(_) | Placement::LocalAuto)
    }
}

/// Look-ups into one kernel.
pub struct Facts<'k> {
    /// The kernel.
    pub kernel: &'k LoopKernel,
    /// The position of each instruction.
    pub position: HashMap<&'k Name, usize>,
    /// How each iname is run.
    pub placement: HashMap<&'k Name, Placement>,
    /// The domain of each iname.
    pub forest: Forest<'k>,
    /// The position of each iname in the order of declaration.
    pub declared: HashMap<&'k Name, usize>,
    /// What each instruction writes.
    pub writes: Vec<BTreeSet<Name>>,
    /// The names that each instruction reads.
    pub reads: Vec<BTreeSet<Name>>,
    /// The arguments by name.
    pub arguments: HashMap<&'k Name, &'k Argument>,
    /// The instructions that write a variable, in order.
    pub writers: HashMap<Name, Vec<usize>>,
    /// The program with the types of its calls.
    pub program: Option<&'k Program>,
}

impl<'k> Facts<'k> {
    /// Indexes the kernel.
    pub fn of(kernel: &'k LoopKernel) -> Facts<'k> {
        let position = kernel.instructions.iter().enumerate().map(|(at, instruction)| (&instruction.id, at)).collect();
        let placement = kernel.inames.iter().map(|(name, iname)| (name, Placement::of(&iname.tags))).collect();
        let declared = kernel.domains.iter().flat_map(|domain| domain.dims()).enumerate().map(|(place, iname)| (iname, place)).collect();
        let writes: Vec<BTreeSet<Name>> = kernel.instructions.iter().map(|instruction| instruction.writes()).collect();
        let reads = kernel.instructions.iter().map(|instruction| instruction.reads()).collect();
        let mut writers: HashMap<Name, Vec<usize>> = HashMap::new();
        for (at, names) in writes.iter().enumerate() {
            for name in names {
                writers.entry(name.clone()).or_default().push(at);
            }
        }
        let arguments = kernel.arguments.iter().map(|argument| (&argument.name, argument)).collect();
        Facts { kernel, position, placement, forest: Forest::of(kernel), declared, writes, reads, arguments, writers, program: None }
    }

    /// Computes the facts of a kernel in a program, whose calls have types.
    pub fn of_typed(program: &'k Program, kernel: &'k LoopKernel) -> Facts<'k> {
        Facts { program: Some(program), ..Facts::of(kernel) }
    }

    /// Treats every iname as a loop: the kernel as it would run sequentially.
    pub fn in_order(kernel: &'k LoopKernel) -> Facts<'k> {
        let mut facts = Facts::of(kernel);
        facts.placement.values_mut().for_each(|placement| *placement = Placement::Loop);
        facts
    }

    /// How the iname runs; names that are not inames are loops.
    pub fn placement(&self, iname: &Name) -> Placement {
        self.placement.get(iname).copied().unwrap_or(Placement::Loop)
    }

    /// The parameters of the domain that an iname is a dimension of.
    pub fn bound_names(&self, iname: &Name) -> &'k [Name] {
        match self.forest.home(iname) {
            Some(at) => self.kernel.domains[at].params(),
            None => &[],
        }
    }

    /// The points of some inames and of all that their bounds need.
    pub fn domain<'n>(&self, inames: impl IntoIterator<Item = &'n Name>) -> Result<Set, IslError> {
        self.forest.domain_of(inames)
    }

    /// Whether the name is an integer that does not change while an instruction runs: an iname, or a parameter that has no other type. Only
    /// such names may be treated as integers: `0 < x and x < 1` can hold for other numbers.
    pub fn is_integer(&self, name: &Name) -> bool {
        if self.kernel.inames.contains_key(name) {
            return true;
        }
        let is_integer = |ty: &Type| ty.scalar().is_some_and(DType::is_integer);
        match self.arguments.get(name) {
            Some(argument) => argument.kind == ArgumentKind::Value && argument.ty.as_ref().is_none_or(is_integer),
            None => !self.kernel.temporaries.contains_key(name),
        }
    }

    /// Whether a parameter of a domain has a value that the kernel computes or reads from memory, which may change as it runs.
    pub fn is_computed(&self, name: &Name) -> bool {
        self.kernel.temporaries.contains_key(name) || self.arguments.get(name).is_some_and(|argument| argument.kind != ArgumentKind::Value)
    }

    /// The number of values of an iname, if constraints on it alone determine it.
    pub fn constant_length(&self, iname: &Name) -> Option<i64> {
        let (lower, upper) = self.forest.constant_bounds(iname);
        upper?.checked_sub(lower?)?.checked_add(1)
    }
}
