//! Instructions: what runs at each point of their inames.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_isl::Name;

use super::{Expr, Origin, Type};

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InstructionKind {
    /// `lhs = rhs`.
    Assign(Assignment),
    /// `a, b = f(x)`: a call with several results, or with arrays as results.
    Call(CallInstruction),
    /// C code.
    C(CInstruction),
    /// Everything before it completes, and is visible, before anything after it.
    Barrier {
        /// The work items that wait.
        scope: SyncScope,
        /// The memory that becomes visible.
        memory: MemoryKind,
    },
    /// A no-op, as an anchor for dependencies.
    Nop,
}

/// `lhs = rhs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Assignment {
    /// A variable, subscript, linear subscript, sub-array or look-up.
    pub lhs: Expr,
    /// Its value.
    pub rhs: Expr,
    /// How the write is made atomic.
    pub atomic: Option<Atomicity>,
    /// Set when the assignment declares its left side: `<>x = …`, `<float32> x = …`.
    pub declares: Option<TemporaryType>,
}

/// `a, [i]: b[i] = f(x)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallInstruction {
    /// The destinations of the results, in order; possibly none.
    pub lhs: Vec<Expr>,
    /// An [`Expr::Call`], or an [`Expr::Reduction`] of several results.
    pub rhs: Expr,
    /// For each result whether the assignment declares it.
    pub declares: Vec<Option<TemporaryType>>,
}

/// The promise that C code in instructions is right, without which it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TrustedC(());

impl TrustedC {
    /// Makes the promise.
    ///
    /// # Safety
    /// All code that is created or parsed with it becomes part of kernels as it is. It must be valid in the target's language, access no
    /// variables but those which its instruction names, within their bounds whenever the instruction runs, in whatever kernel it is put,
    /// and terminate.
    pub unsafe fn promise() -> TrustedC {
        TrustedC(())
    }
}

/// C code of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CCode {
    text: String,
    promise: TrustedC,
}

impl CCode {
    /// Creates code that is right, as promised.
    pub fn new(text: impl Into<String>, promise: TrustedC) -> CCode {
        CCode { text: text.into(), promise }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl InstructionKind {
    /// The promise that was made for its C code, if it has any.
    pub(crate) fn promise(&self) -> Option<TrustedC> {
        match self {
            InstructionKind::C(c) => Some(c.code.promise),
            _ => None,
        }
    }
}

/// C code, with what it reads and writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CInstruction {
    /// The code.
    pub code: CCode,
    /// Names in the text, and the expressions they are bound to: `(name in C, expression)`.
    pub bindings: Vec<(Name, Expr)>,
    /// Names of variables it reads.
    pub reads: BTreeSet<Name>,
    /// What it writes.
    pub writes: Vec<Expr>,
}

/// The type of a temporary that an assignment declares.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TemporaryType {
    /// `<>`: inferred.
    Inferred,
    /// `<float32>`.
    Given(Type),
}

/// Atomic writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atomicity {
    /// `atomic`: an atomic read-modify-write.
    Update,
    /// `atomic=init`: the initial value, visible to all updates that depend on it.
    Init,
}

/// Which work items wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SyncScope {
    /// Those of a group.
    Local,
    /// All of the launch.
    Global,
    /// Either (only in `nosync`).
    Any,
}

/// The memory that a barrier makes visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum MemoryKind {
    Local,
    Global,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// Its name, unique in the kernel.
    pub id: Name,
    /// What it does.
    pub kind: InstructionKind,
    /// Instructions that come before it.
    pub depends_on: BTreeSet<Name>,
    /// Whether dependencies may not be added automatically.
    pub depends_on_is_final: bool,
    /// Instructions with which it needs no barrier.
    pub nosync: BTreeSet<(Name, SyncScope)>,
    /// Groups it is part of.
    pub groups: BTreeSet<Name>,
    /// Groups it conflicts with: they may not be partially executed when it runs.
    pub conflicts: BTreeSet<Name>,
    /// The inames in which it runs.
    pub within_inames: BTreeSet<Name>,
    /// Whether inames may not be added automatically.
    pub within_inames_is_final: bool,
    /// Higher priorities go first where the dependencies leave a choice.
    pub priority: i32,
    /// It runs only where all of these hold.
    pub predicates: BTreeSet<Expr>,
    /// User-defined tags.
    pub tags: BTreeSet<Name>,
    /// When its instances ran in the kernel as it was created.
    pub origin: Arc<Origin>,
}

impl Instruction {
    /// An instruction that depends on nothing and runs once.
    pub fn bare(id: impl Into<Name>, kind: InstructionKind) -> Instruction {
        Instruction {
            id: id.into(),
            kind,
            depends_on: BTreeSet::new(),
            depends_on_is_final: false,
            nosync: BTreeSet::new(),
            groups: BTreeSet::new(),
            conflicts: BTreeSet::new(),
            within_inames: BTreeSet::new(),
            within_inames_is_final: false,
            priority: 0,
            predicates: BTreeSet::new(),
            tags: BTreeSet::new(),
            origin: Arc::default(),
        }
    }

    /// `lhs = rhs`.
    pub fn assign(id: impl Into<Name>, lhs: Expr, rhs: Expr) -> Instruction {
        Instruction::bare(id, InstructionKind::Assign(Assignment { lhs, rhs, atomic: None, declares: None }))
    }
}
