//! Dependences: the only module that decides which instances of instructions depend on each other.
//!
//! `element_access` has accesses as relations from instances to elements, `pair` combines two of them, `time` compares when instances ran in the
//! kernel as created, `path` when they run in a schedule. The queries build on these: `order` (does a schedule keep the order of every two
//! instances that depend on each other?), `meet` (where is a barrier needed?), `moves` (may a read move, may loops be fused?), `private`
//! (may each value of an iname have its own copy of a variable?). An undecidable case is reported as a doubt, never as yes or no.

mod element_access;
mod local;
mod meet;
mod moves;
mod opaque;
mod order;
mod order_loss;
mod overlap;
mod pair;
mod path;
mod private;
mod time;
mod violation;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use parloop_isl::{Affine, IslError, Name};

use crate::axis::axis_base;
use crate::facts::{Facts, Placement};
use opaque::Opaque;

pub use element_access::ElementAccess;
pub use meet::Turn;
pub use moves::Mover;
pub use order::Outcome;
pub use overlap::{elements_may_share_memory, elements_share_memory};
pub use path::{Path, Paths};
pub use violation::{Cause, Doubt, Instance, Violation};

/// The accesses of a kernel's instructions to variables that some of them write, and queries about them.
pub struct Dependences<'f, 'k> {
    facts: &'f Facts<'k>,
    /// Values of loops as created that are not affine in the current inames.
    opaque: Opaque,
    /// By what is accessed: a storage, or a field of an object in it.
    touches: BTreeMap<Name, Vec<ElementAccess<'k>>>,
    /// For each instruction, what it accesses.
    touched: Vec<BTreeSet<Name>>,
    /// The axes along which work items differ.
    axes: BTreeSet<Placement>,
    /// The values of inames for work item 0, cached.
    bases: RefCell<HashMap<Name, Affine>>,
}

impl<'f, 'k> Dependences<'f, 'k> {
    /// Indexes the kernel.
    pub fn of(facts: &'f Facts<'k>) -> Dependences<'f, 'k> {
        let opaque = Opaque::of(facts.kernel);
        let touches = element_access::collect(facts, &opaque);
        let mut touched = vec![BTreeSet::new(); facts.kernel.instructions.len()];
        for (key, all) in &touches {
            for touch in all {
                touched[touch.at].insert(key.clone());
            }
        }
        let inames = facts.kernel.instructions.iter().flat_map(|instruction| &instruction.within_inames);
        let axes = inames.map(|iname| facts.placement(iname)).filter(|placement| placement.is_parallel()).collect();
        Dependences { facts, opaque, touches, touched, axes, bases: RefCell::default() }
    }

    /// The iname of an instruction along an axis.
    fn along(&self, instruction: usize, axis: Placement) -> Option<&'k Name> {
        self.facts.kernel.instructions[instruction].within_inames.iter().find(|iname| self.facts.placement(iname) == axis)
    }

    /// The value of an iname for work item 0.
    fn base(&self, iname: &Name) -> Result<Affine, IslError> {
        if let Some(base) = self.bases.borrow().get(iname) {
            return Ok(base.clone());
        }
        let base = axis_base(&self.facts.forest, iname)?;
        self.bases.borrow_mut().insert(iname.clone(), base.clone());
        Ok(base)
    }
}
