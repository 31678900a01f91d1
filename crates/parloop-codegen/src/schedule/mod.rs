//! Schedules: the order in which instructions run, as trees of loops, one tree for each launch.
//!
//! This module has the data and its printing; `barrier` synchronises, `launches` splits, `sizes` measures.

mod barrier;
mod callee;
mod error;
mod keep;
mod launches;
mod local_axes;
mod sizes;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use parloop_analysis::dependence::Dependences;
use parloop_analysis::facts::Facts;
use parloop_analysis::sequence::sequence;
use parloop_ir::program::Program;
use parloop_ir::syntax::{Expr, Instruction, LoopKernel, SyncScope};
use parloop_isl::Name;

pub(crate) use callee::callee_axes;
pub use error::ScheduleError;
pub use local_axes::{LocalAxesError, assign_automatic_axes};
pub use sizes::Sizes;

pub use parloop_analysis::facts::Placement;
pub use parloop_analysis::sequence::Node;

use barrier::Pass;

/// A kernel with a position for each of its instructions.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The kernel as scheduled: if values are live across launches, it has additional temporaries and instructions.
    pub kernel: LoopKernel,
    /// The launches, in the order in which they are first run.
    pub launches: Vec<Launch>,
    /// What the host does: each launch once, in loops where a global barrier was inside one.
    pub steps: Vec<ScheduleItem>,
    /// The accesses whose indices are checked as the kernel runs, whatever its options say, with the axes along which they are.
    pub guarded: BTreeMap<Expr, BTreeSet<usize>>,
    /// The temporaries in which values are kept from one launch to another.
    pub slots: BTreeSet<Name>,
}

/// One function on the device, run by a grid of work items.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The name of the function: the kernel's, with a number from the second on.
    pub name: Name,
    /// What each work item does.
    pub body: Vec<Node>,
    /// How many work-groups there are along each axis, in terms of the kernel's parameters; at most three, none when no iname is tagged.
    pub groups: Vec<Expr>,
    /// How many work items a group has along each axis: numbers, or in terms of the kernel's parameters; at most three.
    pub group_size: Vec<Expr>,
    /// The inames of host loops around the launch, outermost first: it is passed their values.
    pub host_inames: Vec<Name>,
}

/// An item of the host schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleItem {
    /// The launch of that index.
    Launch(usize),
    /// The steps for each value of the iname, whose bounds are known to the host.
    Loop {
        /// The iname.
        iname: Name,
        /// The body.
        body: Vec<ScheduleItem>,
    },
}

/// Schedules a kernel of the program.
///
/// # Errors
/// Loops or dependencies that have no order; see [`ScheduleError`].
pub fn schedule(program: &Program, kernel: &LoopKernel) -> Result<Schedule, ScheduleError> {
    let facts = Facts::of_typed(program, kernel);
    let body = sequence(&facts)?;
    let dependences = Dependences::of(&facts);
    let pass = Pass { scope: SyncScope::Global, only_check: !kernel.options.insert_global_barriers };
    let body = barrier::insert(&facts, &dependences, pass, body, &[])?;
    let (mut launches, steps) = launches::split(&facts, body)?;
    if launches.len() > 1 && !program.entrypoints.contains(&kernel.name) {
        return Err(ScheduleError::BarrierInCallee { kernel: kernel.name.clone() });
    }
    match keep::keep(program, &facts, &mut launches, &steps)? {
        None => {
            finish_launches(program, &facts, &dependences, &mut launches)?;
            Ok(Schedule { kernel: kernel.clone(), launches, steps, guarded: BTreeMap::new(), slots: BTreeSet::new() })
        }
        Some(made) => {
            let slots = made.temporaries.keys().filter(|name| !kernel.temporaries.contains_key(*name)).cloned().collect();
            let kernel = made;
            let facts = Facts::of_typed(program, &kernel);
            finish_launches(program, &facts, &Dependences::of(&facts), &mut launches)?;
            Ok(Schedule { kernel, launches, steps, guarded: BTreeMap::new(), slots })
        }
    }
}

/// Local barriers and sizes.
fn finish_launches(
    program: &Program,
    facts: &Facts<'_>,
    dependences: &Dependences<'_, '_>,
    launches: &mut [Launch],
) -> Result<(), ScheduleError> {
    let pass = Pass { scope: SyncScope::Local, only_check: false };
    for launch in launches {
        let body = std::mem::take(&mut launch.body);
        launch.body = barrier::insert(facts, dependences, pass, body, &launch.host_inames)?;
        barrier::check_uniform(facts, &launch.body, &mut Vec::new())?;
        let ids = launch.instructions();
        let instructions = ids.into_iter().filter_map(|id| facts.position.get(id)).map(|&at| &*facts.kernel.instructions[at]);
        let Sizes { groups, group_size } = sizes::group_and_local_sizes(program, facts, instructions)?;
        (launch.groups, launch.group_size) = (groups, group_size);
    }
    Ok(())
}

impl Schedule {
    /// The kernel's instructions by id.
    pub fn instructions(&self) -> HashMap<&Name, &Arc<Instruction>> {
        self.kernel.instructions.iter().map(|instruction| (&instruction.id, instruction)).collect()
    }
}

impl Launch {
    /// The ids of the instructions that it runs, in order.
    pub fn instructions(&self) -> Vec<&Name> {
        fn collect<'a>(nodes: &'a [Node], ids: &mut Vec<&'a Name>) {
            for node in nodes {
                match node {
                    Node::Loop { body, .. } => collect(body, ids),
                    Node::Run(id) => ids.push(id),
                    Node::Barrier { .. } => {}
                }
            }
        }
        let mut ids = Vec::new();
        collect(&self.body, &mut ids);
        ids
    }
}

/// A tree, one line for each loop, instruction and barrier.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            self.write_step(step, 0, f)?;
        }
        Ok(())
    }
}

impl Schedule {
    fn write_step(&self, step: &ScheduleItem, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:1$}", "", 2 * depth)?;
        match step {
            ScheduleItem::Launch(index) => {
                let launch = &self.launches[*index];
                writeln!(f, "launch {}", launch.name)?;
                launch.body.iter().try_for_each(|node| node.write(depth + 1, f))
            }
            ScheduleItem::Loop { iname, body } => {
                writeln!(f, "on the host: for {iname}")?;
                body.iter().try_for_each(|step| self.write_step(step, depth + 1, f))
            }
        }
    }
}
