//! What scheduling and checking ask of a kernel again and again, looked up once: where inames live, how they are run, who writes what.

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
    /// A loop around as few instructions as can be, as often as it takes: `ilp` and `vec`.
    Innermost,
    /// The index of the work-group along that axis.
    Group(u8),
    /// The index of the work item in its group along that axis.
    Local(u8),
    /// A local axis that is yet to be chosen.
    LocalAuto,
}

impl Placement {
    /// What the tags of an iname make of it.
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

    /// Whether different values are run by different work items.
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
    /// Where each iname has its bounds.
    pub forest: Forest<'k>,
    /// For each iname its place in the order of declaration.
    pub declared: HashMap<&'k Name, usize>,
    /// What each instruction writes.
    pub writes: Vec<BTreeSet<Name>>,
    /// The names that each instruction reads.
    pub reads: Vec<BTreeSet<Name>>,
    /// The arguments by name.
    pub arguments: HashMap<&'k Name, &'k Argument>,
    /// The instructions that write a variable, in order.
    pub writers: HashMap<Name, Vec<usize>>,
    /// Where its calls have their types.
    pub program: Option<&'k Program>,
}

impl<'k> Facts<'k> {
    /// Of that kernel.
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

    /// Of a kernel of that program, whose calls have types.
    pub fn of_typed(program: &'k Program, kernel: &'k LoopKernel) -> Facts<'k> {
        Facts { program: Some(program), ..Facts::of(kernel) }
    }

    /// With every iname as a loop: the kernel as it would run in order.
    pub fn in_order(kernel: &'k LoopKernel) -> Facts<'k> {
        let mut facts = Facts::of(kernel);
        facts.placement.values_mut().for_each(|placement| *placement = Placement::Loop);
        facts
    }

    /// How the iname is run; names that are not inames are loops.
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

    /// Whether the name is that of an integer that stays what it is while an instruction runs: an iname, or a parameter that has no other
    /// type. Only such names may be reasoned about as integers: `0 < x and x < 1` holds for numbers that are none.
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

    /// How many values an iname has, if constraints on it alone say so.
    pub fn constant_length(&self, iname: &Name) -> Option<i64> {
        let (lower, upper) = self.forest.constant_bounds(iname);
        upper?.checked_sub(lower?)?.checked_add(1)
    }
}
