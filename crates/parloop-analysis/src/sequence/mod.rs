//! The order of a kernel: a tree of loops and instructions, found by rules and without search.
//!
//! `nest` decides which loop is inside which, `order` sorts each body by dependencies, `innermost` opens `ilp` and `vec` loops around as
//! few instructions as possible, `reduced` handles reductions that run in the loops of other instructions. For a kernel as created, with
//! every iname run as a loop, this order is its meaning ([`created`]).

mod error;
mod innermost;
mod nest;
mod order;
mod reduced;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parloop_ir::syntax::{Expr, LoopKernel, MemoryKind, Origin, SyncScope, TimeStep};
use parloop_isl::Name;

use crate::facts::Facts;

pub use error::{ComputedOutside, Names, SequenceError};

/// A step of a work item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// The body for each value of the iname, in order (unrolled, vectorised and `ilp` inames too: their tags say how).
    ///
    /// If it contains a barrier, all work items of the group must run the same iterations: the loop covers every value for any local
    /// inames, and the conditions of the domain guard the instructions instead.
    Loop {
        /// The iname.
        iname: Name,
        /// The body.
        body: Vec<Node>,
    },
    /// The instruction of that id. Barriers that are instructions are [`Node::Barrier`] instead.
    Run(Name),
    /// All work items of the group wait for each other; in a launch the scope is always local. A barrier for global memory is also one for
    /// local memory.
    Barrier {
        /// The work items that wait.
        scope: SyncScope,
        /// The memory that becomes visible.
        memory: MemoryKind,
    },
}

impl Node {
    /// Writes the tree, one line for each loop, instruction and barrier.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write(&self, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:1$}", "", 2 * depth)?;
        match self {
            Node::Loop { iname, body } => {
                writeln!(f, "for {iname}")?;
                body.iter().try_for_each(|node| node.write(depth + 1, f))
            }
            Node::Run(id) => writeln!(f, "run {id}"),
            Node::Barrier { scope, memory } => {
                let scope = if *scope == SyncScope::Global { "global" } else { "local" };
                let memory = if *memory == MemoryKind::Global { "global" } else { "local" };
                writeln!(f, "barrier {scope}, {memory} memory")
            }
        }
    }
}

/// The tree of loops, instructions and barriers that are instructions.
///
/// # Errors
/// If loops or dependencies cannot be ordered.
pub fn sequence(facts: &Facts<'_>) -> Result<Vec<Node>, SequenceError> {
    let nest = nest::nest(facts)?;
    order::order(facts, &nest)
}

/// Makes the current order the meaning of the kernel: each instruction records when its instances run. A kernel that cannot be ordered yet
/// stays unchanged.
pub fn created(kernel: LoopKernel) -> LoopKernel {
    let Ok(body) = sequence(&Facts::in_order(&kernel)) else { return kernel };
    let mut times = Times::default();
    times.find(&body, &mut Vec::new());
    let origins: Vec<Option<Origin>> = kernel
        .instructions
        .iter()
        .map(|instruction| {
            let mut origin = Origin::at(times.of.get(&instruction.id)?.clone());
            origin.of = reduced::times_in_loops(&kernel, instruction, &times);
            Some(origin)
        })
        .collect();
    let mut kernel = kernel;
    for (instruction, origin) in kernel.instructions.iter_mut().zip(origins) {
        if let Some(origin) = origin {
            Arc::make_mut(instruction).origin = Arc::new(origin);
        }
    }
    kernel
}

/// When the instructions of a tree run.
#[derive(Default)]
struct Times {
    of: HashMap<Name, Vec<TimeStep>>,
    /// The end of an iteration of each loop: the steps up to its value, and a position after everything in its body.
    ends: Vec<Vec<TimeStep>>,
}

impl Times {
    fn find(&mut self, body: &[Node], around: &mut Vec<TimeStep>) {
        for (place, node) in (0i64..).zip(body) {
            around.push(TimeStep::At(place));
            match node {
                Node::Loop { iname, body } => {
                    around.push(TimeStep::Loop(Expr::Variable(iname.clone())));
                    self.find(body, around);
                    let behind = i64::try_from(body.len()).unwrap_or(i64::MAX);
                    self.ends.push(around.iter().cloned().chain([TimeStep::At(behind)]).collect());
                    around.pop();
                }
                Node::Run(id) => drop(self.of.insert(id.clone(), around.clone())),
                Node::Barrier { .. } => {}
            }
            around.pop();
        }
    }
}

/// Whether every instruction has the times of the kernel's current order.
pub fn is_as_created(kernel: &LoopKernel) -> bool {
    created(kernel.clone()).instructions.iter().zip(&kernel.instructions).all(|(fresh, known)| fresh.origin == known.origin)
}
