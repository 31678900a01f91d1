//! Last writers: for each target, the entry that touches it last in the order of the loop.

use super::offset::Offset;
use super::{Incidence, PlanError};

/// For each target `element * slots + slot` of the last slot that leads to it, in the order of the elements; -1 where none does.
///
/// If only these slots are stored, no two elements store to one target, and each target gets what a loop over the elements in order
/// leaves there, whatever the order in which they run.
///
/// ```
/// use parloop_mesh::plan::{Elements, Incidence, Table, last_writers};
///
/// let triangles = Table { values: &[0, 1, 2, 1, 3, 2], arity: 3, set: 0, targets: 5, drops: false };
/// let last: Vec<i32> = last_writers(&Incidence::new(Elements::Range(0..2), &[triangles])?)?;
/// assert_eq!(last, [0, 3, 5, 4, -1]);
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
///
/// # Errors
/// The tables go to several sets, or `element * slots + slot` does not fit.
pub fn last_writers<T: Offset>(incidence: &Incidence) -> Result<Vec<T>, PlanError> {
    incidence.one_set("a list of last writers")?;
    let (elements, slots) = (incidence.elements(), incidence.slots());
    T::check("the largest entry of a list of last writers", elements.end().saturating_mul(slots))?;
    let mut last = vec![T::NOWHERE; incidence.targets()];
    for position in 0..elements.len() {
        let element = elements.at(position);
        incidence.visit_slots(element, |slot, target| last[target] = T::from_place(element * slots + slot));
    }
    Ok(last)
}
