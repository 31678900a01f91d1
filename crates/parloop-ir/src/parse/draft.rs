//! Drafts: instructions as written, before names are chosen and patterns are resolved. `create` completes them.

use std::collections::BTreeSet;
use std::ops::Range;

use parloop_isl::Name;

use crate::matching::{Glob, Query};
use crate::syntax::{Expr, Instruction, InstructionKind, SubstitutionRule, SyncScope};

/// The contents of a text of instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Instructions, in the order written.
    pub drafts: Vec<Draft>,
    /// `f(x) := e`, in the order written; each name once.
    pub substitutions: Vec<SubstitutionRule>,
}

/// Instructions selected by a name with `*` and `?`, or by a query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Which {
    /// `dep=a*`: by id; a name that is not a pattern must exist.
    Named(Glob),
    /// `dep_query=writes:a`: those that match, possibly none.
    Query(Query),
}

/// The inames in which an instruction runs, as far as given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Within {
    /// Not given: inferred from what it uses.
    #[default]
    Auto,
    /// `inames=+i:j`: these, and those inferred.
    Added(BTreeSet<Name>),
    /// `inames=i:j`, or inside `for i, j`: only these.
    Final(BTreeSet<Name>),
}

/// One instruction as written, with the options of the blocks around it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Draft {
    /// Its position in the text, in bytes.
    pub span: Range<usize>,
    /// `id=`.
    pub id: Option<Name>,
    /// `id_prefix=`: the prefix of a generated id. Never together with `id`.
    pub id_prefix: Option<Name>,
    /// What it does.
    pub kind: InstructionKind,
    /// `dep=` and `dep_query=`.
    pub depends_on: Vec<Which>,
    /// Whether dependencies may not be added automatically: `dep=*a:b`.
    pub depends_on_is_final: bool,
    /// `nosync=` and `nosync_query=`.
    pub nosync: Vec<(Which, SyncScope)>,
    /// `groups=`.
    pub groups: BTreeSet<Name>,
    /// `conflicts=`.
    pub conflicts: BTreeSet<Name>,
    /// `inames=` and `for`.
    pub within: Within,
    /// `priority=`.
    pub priority: i32,
    /// `if=`, and the conditions of the blocks around it.
    pub predicates: BTreeSet<Expr>,
    /// `tags=`.
    pub tags: BTreeSet<Name>,
    /// `dup=i->j:k`: inames to duplicate for this instruction only, with the name of the copy if given.
    pub duplicate: Vec<(Name, Option<Name>)>,
}

impl Draft {
    /// A draft without options.
    pub fn bare(span: Range<usize>, kind: InstructionKind) -> Draft {
        Draft {
            span,
            id: None,
            id_prefix: None,
            kind,
            depends_on: Vec::new(),
            depends_on_is_final: false,
            nosync: Vec::new(),
            groups: BTreeSet::new(),
            conflicts: BTreeSet::new(),
            within: Within::Auto,
            priority: 0,
            predicates: BTreeSet::new(),
            tags: BTreeSet::new(),
            duplicate: Vec::new(),
        }
    }

    /// The instruction, if it is complete: it has an id, refers to others by id, and duplicates no inames. Printed instructions are read
    /// this way.
    pub fn exact(&self) -> Option<Instruction> {
        let named = |which: &Which| match which {
            Which::Named(glob) => glob.as_name().cloned(),
            Which::Query(_) => None,
        };
        if !self.duplicate.is_empty() {
            return None;
        }
        let (within_inames, within_inames_is_final) = match &self.within {
            Within::Auto => (BTreeSet::new(), false),
            Within::Added(inames) => (inames.clone(), false),
            Within::Final(inames) => (inames.clone(), true),
        };
        Some(Instruction {
            id: self.id.clone()?,
            kind: self.kind.clone(),
            depends_on: self.depends_on.iter().map(named).collect::<Option<_>>()?,
            depends_on_is_final: self.depends_on_is_final,
            nosync: self.nosync.iter().map(|(which, scope)| Some((named(which)?, *scope))).collect::<Option<_>>()?,
            groups: self.groups.clone(),
            conflicts: self.conflicts.clone(),
            within_inames,
            within_inames_is_final,
            priority: self.priority,
            predicates: self.predicates.clone(),
            tags: self.tags.clone(),
            origin: Default::default(),
        })
    }
}
