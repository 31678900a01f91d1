//! Why a kernel cannot be ordered.

use std::fmt;

use parloop_isl::{IslError, Name};

/// A temporary that an instruction computes outside loops in which it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedOutside {
    /// The temporary.
    pub temporary: Name,
    /// The instruction that computes it.
    pub writer: Name,
    /// The instruction that reads it.
    pub reader: Name,
    /// The loops, outermost first.
    pub loops: Vec<Name>,
}

/// Advice for a loop that is needed in two places: open loops around the instruction that computes a temporary, or duplicate the loop.
fn advice(iname: &Name, second: &Name, outside: Option<&ComputedOutside>) -> String {
    let Some(ComputedOutside { temporary, writer, reader, loops }) = outside else {
        return format!("give one of them its own loop: duplicate_inames(\"{iname}\", within=\"id:{second}\")");
    };
    let inames = loops.iter().map(Name::as_str).collect::<Vec<_>>().join(", ");
    format!(
        "`{writer}` computes `{temporary}`, which `{reader}` reads; put it inside {} too, with a `for {inames}` block or \
         add_inames_to_insn(\"{inames}\", \"id:{writer}\")",
        Nest(loops)
    )
}

/// Why the loops and instructions of a kernel cannot be ordered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SequenceError {
    /// Two instructions need the same loop in two places of the nest.
    #[error(
        "iname `{iname}` would have to be one loop in two places: `{first}` runs in {}, `{second}` runs in {}; {}",
        Nest(first_nest),
        Nest(second_nest),
        advice(.iname, .second, .outside.as_deref())
    )]
    Nesting {
        /// The iname.
        iname: Name,
        /// An instruction inside it.
        first: Name,
        /// Its loops, outermost first.
        first_nest: Vec<Name>,
        /// Another instruction inside it.
        second: Name,
        /// Its loops, outermost first.
        second_nest: Vec<Name>,
        /// A temporary that one computes for the other outside some of its loops, if any.
        outside: Option<Box<ComputedOutside>>,
    },
    /// The user's order of loops is impossible: the outer loop is needed inside.
    #[error("loops cannot nest as `{outer}`, `{inner}`: `{instruction}` runs in `{inner}` and not in `{outer}`; change prioritize_loops")]
    Priority {
        /// The requested outer loop.
        outer: Name,
        /// The requested inner loop.
        inner: Name,
        /// An instruction in the inner loop only.
        instruction: Name,
    },
    /// The user's loop priorities and the bounds contradict each other.
    #[error("loops {} cannot be ordered: each must be outside another; change prioritize_loops", Names(.inames))]
    PriorityCycle {
        /// The inames.
        inames: Vec<Name>,
    },
    /// An iname's bounds need another that is not around it.
    #[error(
        "the bounds of `{iname}` need `{bound}`, but `{instruction}` runs in `{iname}` and not in a loop over `{bound}`; add `{bound}` to its inames"
    )]
    BoundOutside {
        /// The iname.
        iname: Name,
        /// The iname in its bounds.
        bound: Name,
        /// The instruction.
        instruction: Name,
    },
    /// A loop's bound is written inside the loop.
    #[error("the bounds of `{iname}` need `{variable}`, which `{instruction}` writes inside that loop; write it before the loop")]
    BoundWritten {
        /// The iname.
        iname: Name,
        /// The variable in its bounds.
        variable: Name,
        /// The instruction that writes it.
        instruction: Name,
    },
    /// A loop's bound is never written.
    #[error("the bounds of `{iname}` need `{variable}`, which is never written; assign it before the loop")]
    BoundUndefined {
        /// The iname.
        iname: Name,
        /// The variable in its bounds.
        variable: Name,
    },
    /// An instruction depends on one that does not exist.
    #[error("`{instruction}` depends on `{dependency}`, which is not an instruction in the kernel")]
    UnknownDependency {
        /// The instruction.
        instruction: Name,
        /// What it depends on.
        dependency: Name,
    },
    /// An instruction runs in an iname that does not exist.
    #[error("`{instruction}` runs in `{iname}`, which is not an iname in the kernel")]
    UnknownIname {
        /// The instruction.
        instruction: Name,
        /// The name.
        iname: Name,
    },
    /// Instructions form a dependency cycle.
    #[error("instructions {} form a dependency cycle; remove one of the dependencies", Names(.instructions))]
    DependencyCycle {
        /// The instructions, each of which depends on the next, the last on the first.
        instructions: Vec<Name>,
    },
    /// A loop would have to be both before and after something else.
    #[error(
        "loops over {} cannot be ordered: `{first}` depends on `{first_dependency}`, and `{second}` depends on `{second_dependency}`, so each would \
         have to come before the other; give one instruction its own loop: duplicate_inames(\"{}\", within=\"id:{first}\")",
        Names(.loops),
        .loops.first().map_or("", |iname| iname)
    )]
    LoopCycle {
        /// The inames of the loops.
        loops: Vec<Name>,
        /// An instruction.
        first: Name,
        /// What it depends on.
        first_dependency: Name,
        /// Another instruction.
        second: Name,
        /// What that depends on.
        second_dependency: Name,
    },
    /// An instruction may not run while a group is partially executed, and the group cannot finish without it.
    #[error(
        "`{instruction}` conflicts with group `{group}`, which has started and cannot finish before it; add dependencies that separate them"
    )]
    GroupConflict {
        /// The instruction.
        instruction: Name,
        /// The group.
        group: Name,
    },
    /// A barrier that not all work items reach.
    #[error("barrier `{barrier}` has a condition, but all work items of a group must reach it; remove the condition")]
    ConditionalBarrier {
        /// The id of the barrier.
        barrier: Name,
    },
    /// A barrier inside an unrolled innermost, or vector loop.
    #[error("barrier `{barrier}` is inside `{iname}`, whose iterations run in lockstep; move the barrier out of that loop")]
    BarrierInside {
        /// The id of the barrier.
        barrier: Name,
        /// The iname.
        iname: Name,
    },
    /// The solver failed.
    #[error(transparent)]
    Isl(#[from] IslError),
}

/// Names in backquotes, with commas.
pub struct Names<'a>(pub &'a [Name]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.0.iter().enumerate() {
            write!(f, "{}`{name}`", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// Names of loops, outermost first.
struct Nest<'a>(&'a [Name]);

impl fmt::Display for Nest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            0 => f.write_str("no loop"),
            1 => write!(f, "loop {}", Names(self.0)),
            _ => write!(f, "loops {}", Names(self.0)),
        }
    }
}
