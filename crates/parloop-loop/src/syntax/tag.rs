//! Tags of inames: how a loop is run.

use parloop_isl::Name;

/// How an iname is run. An iname has at most one of these that places it (all but `Unrolled` hints and names); none means a plain loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InameTag {
    /// `g.N`: the index of the work-group along axis N.
    Group(u8),
    /// `l.N`: the index of the work item in its group along axis N.
    Local(u8),
    /// `l.auto`: a local axis that is chosen for it.
    LocalAuto,
    /// `unr`: the loop is written out.
    Unroll,
    /// `unr_hint`: the target's compiler is asked to unroll it.
    UnrollHint,
    /// `vec`: lanes of a vector.
    Vector,
    /// `ilp`, `ilp.unr`: written out innermost, with a private copy of what depends on it.
    Ilp,
    /// `ilp.seq`: as `ilp`, as a loop.
    IlpSequential,
    /// `for`: a loop.
    Loop,
    /// `ord`: a loop whose order matters.
    Ordered,
    /// A name of the user's, which says nothing to the compiler.
    Name(Name),
}

impl InameTag {
    /// Whether different values are run by different work items.
    pub fn is_parallel(&self) -> bool {
        matches!(self, InameTag::Group(_) | InameTag::Local(_) | InameTag::LocalAuto)
    }

    /// Whether different values run at once: on different work items, lanes or in instruction-level parallelism.
    pub fn is_concurrent(&self) -> bool {
        self.is_parallel() || matches!(self, InameTag::Vector | InameTag::Ilp | InameTag::IlpSequential)
    }
}
