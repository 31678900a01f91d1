//! Whether each value of some inames may have its own copy of a temporary.

use std::collections::BTreeSet;

use parloop_ir::syntax::TimeStep;
use parloop_isl::{IslError, Name};

use super::element_access::{self, ElementAccess};
use super::order_loss::{difference, push_if_possible};
use super::pair::{Pair, Side};
use super::violation::{Cause, Violation};
use super::{Dependences, time};

impl<'k> Dependences<'_, 'k> {
    /// A value that, as created, one value of the inames writes and another reads: copies would lose it. `None` if each read sees what was
    /// written for its own values.
    ///
    /// # Errors
    /// If the solver fails.
    pub fn carried(&self, temporary: &Name, inames: &BTreeSet<Name>) -> Result<Option<Violation>, IslError> {
        let Some(touches) = self.touches.get(&element_access::storage(self.facts, temporary)) else { return Ok(None) };
        let own: Vec<&ElementAccess<'k>> = touches.iter().filter(|touch| touch.access.name == *temporary).collect();
        let times: Option<Vec<Vec<TimeStep>>> = own.iter().map(|touch| self.time_for(touch.at, &touch.root)).collect();
        let timed: Vec<(&ElementAccess<'k>, &[TimeStep])> = own.iter().copied().zip(times.iter().flatten().map(Vec::as_slice)).collect();
        for (place, read) in own.iter().enumerate().filter(|(_, touch)| !touch.access.write) {
            if let Some(&(_, at)) = timed.get(place)
                && self.is_covered(read, at, &timed, (0, inames))?
            {
                continue;
            }
            for write in own.iter().filter(|touch| touch.access.write) {
                if let Some(violation) = self.carries(write, read, inames)? {
                    return Ok(Some(violation));
                }
            }
        }
        Ok(None)
    }

    fn carries(&self, write: &ElementAccess<'k>, read: &ElementAccess<'k>, inames: &BTreeSet<Name>) -> Result<Option<Violation>, IslError> {
        let origin = |touch: &ElementAccess<'k>| self.facts.kernel.instructions[touch.at].origin.times_for(&touch.root);
        let (early, late) = (origin(write), origin(read));
        for (early, late) in early.iter().flat_map(|early| late.iter().map(move |late| (early, late))) {
            let mut pair = Pair::new(self, write, read);
            pair.times = Some((early, late));
            pair.same.extend(self.repeated(write.at, read.at, early));
            if pair.is_apart()? {
                continue;
            }
            let mut ways = Vec::new();
            for iname in inames {
                let later = difference(&pair, iname)?;
                push_if_possible(&mut ways, &[], &[later.clone(), later.scale(-1)?], || Cause::Copies(iname.clone()))?;
            }
            if ways.is_empty() {
                continue;
            }
            let touching = pair.touching()?;
            for earlier in time::compare(&pair, (Side::First, &early.steps), (Side::Second, &late.steps))?.earlier {
                let ordered = touching.constrain(&earlier)?;
                for (way, cause) in &ways {
                    let lost = ordered.constrain(way)?;
                    if !lost.is_empty()? {
                        return Ok(Some(Violation::of(&pair, &lost, cause.clone())?));
                    }
                }
            }
        }
        Ok(None)
    }
}
