//! What a kernel does with an argument.

use std::fmt;

/// What a kernel does with an argument, which decides what it finds there and what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// It reads; what it changes is not kept.
    Read,
    /// It writes every entry and reads none. Where several elements write one entry through a map, the last of them in the order of the
    /// set decides, on every device and by every plan. What such an entry gets if the kernel leaves it unwritten is not specified;
    /// checked mode finds these kernels.
    Write,
    /// It reads and writes. No two elements have an entry at the same time. Where several elements reach one entry through a map, the
    /// plan decides in which order, unless it is [`PlanChoice::Sequential`](crate::PlanChoice::Sequential): the result is that of one
    /// order, the same in every run of a loop with one plan, but not the same for all plans and numbers of threads. With
    /// [`LoopOptions::deterministic`](crate::LoopOptions::deterministic) it does not depend on the number of threads.
    Rw,
    /// It adds to zeros; the sums are added to the data.
    Inc,
    /// The smaller of the data and of what it leaves is kept.
    Min,
    /// The larger of the data and of what it leaves is kept.
    Max,
}

impl Access {
    /// All of them.
    pub const ALL: [Access; 6] = [Access::Read, Access::Write, Access::Rw, Access::Inc, Access::Min, Access::Max];

    /// Whether data is changed.
    pub fn writes(self) -> bool {
        self != Access::Read
    }

    /// Whether the values before the loop matter for the values after it, or are given to the kernel.
    pub fn reads(self) -> bool {
        self != Access::Write
    }

    /// Whether what different elements leave is combined, so that their order does not matter (but for rounding).
    pub fn is_reduction(self) -> bool {
        matches!(self, Access::Inc | Access::Min | Access::Max)
    }

    /// The name, as it is written in programs.
    pub fn name(self) -> &'static str {
        match self {
            Access::Read => "READ",
            Access::Write => "WRITE",
            Access::Rw => "RW",
            Access::Inc => "INC",
            Access::Min => "MIN",
            Access::Max => "MAX",
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
