//! Why a kernel cannot be ordered.

use std::fmt;

use parloop_ir::syntax::{Expr, Instruction, LoopKernel};
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
    /// Two instructions as the user wrote them, of which one at least has a reduction, need the same loop in two places of the nest.
    #[error(
        "iname `{iname}` would have to be one loop in two places: `{first}` runs in {}, `{second}` runs in {}; give one of them its own \
         loop: duplicate_inames(\"{iname}\", within=\"{within}\")",
        Nest(first_nest),
        Nest(second_nest)
    )]
    ReductionNesting {
        /// The iname.
        iname: Name,
        /// The text of an instruction inside it.
        first: String,
        /// Its loops, outermost first.
        first_nest: Vec<Name>,
        /// The text of another instruction inside it.
        second: String,
        /// Its loops, outermost first.
        second_nest: Vec<Name>,
        /// A query that finds the second one.
        within: String,
    },
    /// The loop of a reduction has to end before another instruction that runs in the same loop.
    #[error(
        "`{needs}` needs `{needed}`, which is known when the loop over `{iname}` has ended, but runs in the same loop; give it its own: \
         duplicate_inames(\"{iname}\", within=\"{within}\")"
    )]
    ReductionOrder {
        /// The iname.
        iname: Name,
        /// The text of an instruction.
        needs: String,
        /// The text of the instruction with the reduction.
        needed: String,
        /// A query that finds the first one.
        within: String,
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

impl SequenceError {
    /// The error in terms of the kernel that the user has, whose reductions are not realised: instructions that were made of these are not
    /// known there.
    pub fn in_terms_of(self, written: &LoopKernel) -> SequenceError {
        self.translated(written).unwrap_or(self)
    }

    fn translated(&self, written: &LoopKernel) -> Option<SequenceError> {
        let source = |id: &Name| source_of(written, id);
        match self {
            SequenceError::Nesting { iname, first, first_nest, second, second_nest, outside: None } => {
                let (one, other) = (source(first)?, source(second)?);
                let is_known = one.id == *first && other.id == *second || one.id == other.id || !written.inames.contains_key(iname);
                (!is_known).then(|| SequenceError::ReductionNesting {
                    iname: iname.clone(),
                    first: text_of(one),
                    first_nest: first_nest.clone(),
                    second: text_of(other),
                    second_nest: second_nest.clone(),
                    within: query_for(written, other),
                })
            }
            SequenceError::LoopCycle { loops: inames, first, first_dependency, second, second_dependency } => {
                let [iname] = &inames[..] else { return None };
                let [needs, needed, again, last] = [first, first_dependency, second, second_dependency].map(source);
                let (needs, needed) = (needs?, needed?);
                let is_reduction = needed.id == again?.id && needed.id == last?.id && needs.id != needed.id;
                (is_reduction && written.inames.contains_key(iname)).then(|| SequenceError::ReductionOrder {
                    iname: iname.clone(),
                    needs: text_of(needs),
                    needed: text_of(needed),
                    within: query_for(written, needs),
                })
            }
            _ => None,
        }
    }
}

/// The instruction with that id, or the one whose reduction it was made of: its id begins with that of the instruction.
fn source_of<'a>(written: &'a LoopKernel, id: &Name) -> Option<&'a Instruction> {
    let all = || written.instructions.iter().map(|instruction| &**instruction);
    let is_made_of = |instruction: &&Instruction| {
        let rest = id.strip_prefix(instruction.id.as_str());
        rest.is_some_and(|rest| rest.starts_with('_')) && !instruction.reduction_inames().is_empty()
    };
    all().find(|instruction| instruction.id == *id).or_else(|| all().filter(is_made_of).max_by_key(|instruction| instruction.id.len()))
}

/// `a, b = c`, as it was written.
fn text_of(instruction: &Instruction) -> String {
    let lhs: Vec<String> = instruction.lhs().into_iter().map(Expr::to_string).collect();
    let rhs = instruction.rhs().first().map(|rhs| rhs.to_string()).unwrap_or_default();
    format!("{} = {rhs}", lhs.join(", "))
}

/// A query that finds that instruction alone, by what it writes if no other writes it.
fn query_for(written: &LoopKernel, instruction: &Instruction) -> String {
    let writes = |other: &Instruction, name: &Name| other.lhs().into_iter().any(|lhs| lhs.written_name() == Some(name));
    let is_only = |name: &&Name| written.instructions.iter().all(|other| other.id == instruction.id || !writes(other, name));
    match instruction.lhs().into_iter().filter_map(Expr::written_name).find(is_only) {
        Some(name) => format!("writes:{name}"),
        None => format!("id:{}", instruction.id),
    }
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
