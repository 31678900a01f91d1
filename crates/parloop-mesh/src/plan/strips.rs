//! Strips: elements cut into runs one after another, of which those of one colour share no target.

use super::Incidence;

/// Elements one after another, cut into strips. Strip `s` has colour `s % colours`, and no two strips of one colour share a target: all of them
/// may run at the same time, each in order, and then those of the next colour. Elements whose numbers follow their places in the mesh have it
/// so: strips lie side by side, and each touches its neighbours alone.
///
/// ```
/// use parloop_mesh::plan::{Elements, Incidence, Strips, Table};
///
/// // Eight edges in a row over nine nodes, two strips of each colour.
/// let ends: Vec<i32> = (0..8).flat_map(|edge| [edge, edge + 1]).collect();
/// let edges = Table { values: &ends, arity: 2, set: 0, targets: 9, drops: false };
/// let strips = Strips::new(&Incidence::new(Elements::Range(0..8), &[edges])?, 2, 2).unwrap();
/// assert_eq!((strips.bounds, strips.colours), (vec![0, 2, 4, 6, 8], 2));
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strips {
    /// Where each strip starts among the elements of the loop; one more than there are strips.
    pub bounds: Vec<usize>,
    /// How many colours there are.
    pub colours: usize,
}

impl Strips {
    /// This many strips of each of this many colours, about equally long; nothing where two strips of one colour share a target, or where there are
    /// more strips than elements or than 16 bits count.
    pub fn new(incidence: &Incidence, colours: usize, each: usize) -> Option<Self> {
        let (count, elements) = (colours.checked_mul(each)?, incidence.elements());
        let none = u16::try_from(count).ok()?;
        if count == 0 || count > elements.len() {
            return None;
        }
        let bounds: Vec<usize> = (0..=count).map(|strip| (elements.len() as u128 * strip as u128 / count as u128) as usize).collect();
        // For each target and colour, the strip that touches it; no strip has the number `count`.
        let mut touched = vec![none; incidence.targets().checked_mul(colours)?];
        for (strip, pair) in bounds.windows(2).enumerate() {
            let (number, colour) = (strip as u16, strip % colours);
            let mut is_shared = false;
            for position in pair[0]..pair[1] {
                incidence.visit(elements.at(position), |target| {
                    let known = &mut touched[target * colours + colour];
                    is_shared |= *known != none && *known != number;
                    *known = number;
                });
            }
            if is_shared {
                return None;
            }
        }
        Some(Self { bounds, colours })
    }

    /// How many strips there are.
    pub fn count(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The bounds of all strips, those of the first colour first.
    pub fn by_colour(&self) -> impl Iterator<Item = (usize, usize)> {
        let of_colour = |colour: usize| (colour..self.count()).step_by(self.colours);
        (0..self.colours).flat_map(of_colour).map(|strip| (self.bounds[strip], self.bounds[strip + 1]))
    }
}
