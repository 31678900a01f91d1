//! The state of a kernel while it is being created.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_ir::parse::{Draft, Which};
use parloop_ir::substitution::expand_calls;
use parloop_ir::syntax::{Instruction, LoopKernel, Offset, SubstitutionRule, SyncScope};
use parloop_isl::{Name, Set};
use parloop_transform::Fixed;

use super::data::{Data, Order};
use super::error::{CreateError, NameKind, Warning};

/// A set, or the text of one.
#[derive(Clone, Debug)]
pub enum DomainText {
    /// isl's notation: `{[i]: 0<=i<n}`.
    Text(String),
    /// A set.
    Set(Set),
}

impl From<Set> for DomainText {
    fn from(set: Set) -> DomainText {
        DomainText::Set(set)
    }
}

impl From<&str> for DomainText {
    fn from(text: &str) -> DomainText {
        DomainText::Text(text.to_owned())
    }
}

impl From<String> for DomainText {
    fn from(text: String) -> DomainText {
        DomainText::Text(text)
    }
}

/// Data of a kernel in the order given.
#[derive(Clone, Debug)]
pub enum Datum {
    /// Arguments or temporaries.
    Given(Data),
    /// An argument of which only the position is given.
    Named(String),
    /// An argument.
    Argument(parloop_ir::syntax::Argument),
    /// A temporary.
    Temporary(parloop_ir::syntax::Temporary),
}

/// References of an instruction to others, resolved once all exist.
#[derive(Clone, Debug, Default)]
pub struct Pending {
    pub depends_on: Vec<Which>,
    pub nosync: Vec<(Which, SyncScope)>,
    pub duplicate: Vec<(Name, Option<Name>)>,
}

/// A kernel that is being created.
pub struct Making {
    pub kernel: LoopKernel,
    pub domains: Vec<DomainText>,
    pub assumptions: Option<DomainText>,
    pub drafts: Vec<Draft>,
    pub rules: Vec<SubstitutionRule>,
    pub data: Vec<Datum>,
    /// Whether undeclared names become arguments.
    pub guess: bool,
    pub default_order: Order,
    pub default_offset: Offset,
    pub sequential: bool,
    pub fixed: BTreeMap<Name, Fixed>,
    /// One for each instruction of the kernel.
    pub pending: Vec<Pending>,
    /// Arrays with an explicit order of axes.
    pub ordered: BTreeSet<Name>,
    /// Arrays with automatic strides but an unknown number of axes.
    pub auto_strides: BTreeSet<Name>,
    pub warnings: Vec<Warning>,
}

impl Making {
    /// The instructions with substitution rules expanded.
    pub fn expanded(&self) -> Result<Vec<Arc<Instruction>>, CreateError> {
        if self.kernel.substitutions.is_empty() {
            return Ok(self.kernel.instructions.clone());
        }
        let expand = |instruction: &Arc<Instruction>| {
            let rules = &self.kernel.substitutions;
            let expanded = instruction.try_map_exprs(&mut |expr| expand_calls(expr, rules, &instruction.id, &|_| true))?;
            Ok(Arc::new(expanded))
        };
        self.kernel.instructions.iter().map(expand).collect()
    }

    /// The kind of each name.
    pub fn kinds(&self) -> BTreeMap<Name, NameKind> {
        let kernel = &self.kernel;
        let params = kernel.domains.iter().flat_map(|domain| domain.params()).chain(kernel.assumptions.params());
        let mut kinds: BTreeMap<Name, NameKind> = params.map(|param| (param.clone(), NameKind::Parameter)).collect();
        kinds.extend(kernel.substitutions.keys().map(|rule| (rule.clone(), NameKind::Substitution)));
        kinds.extend(kernel.temporaries.values().map(|temporary| (temporary.name.clone(), NameKind::of_temporary(temporary))));
        kinds.extend(kernel.arguments.iter().map(|argument| (argument.name.clone(), NameKind::of_argument(argument))));
        kinds.extend(kernel.inames.keys().map(|iname| (iname.clone(), NameKind::Iname)));
        kinds
    }

    /// Which instructions write each name.
    pub fn writers(&self) -> BTreeMap<Name, Vec<usize>> {
        let mut writers: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
        for (index, instruction) in self.kernel.instructions.iter().enumerate() {
            for name in instruction.writes() {
                writers.entry(name).or_default().push(index);
            }
        }
        writers
    }

    pub fn warn(&mut self, warning: Warning) {
        let name = warning.name();
        if !self.kernel.options.silenced.iter().any(|silenced| parloop_ir::matching::Glob::new(silenced).matches(&name)) {
            self.warnings.push(warning);
        }
    }
}
