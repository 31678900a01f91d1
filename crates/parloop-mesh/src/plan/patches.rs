//! Patches: an order of elements in which those that follow one another touch few targets.

use std::collections::VecDeque;
use std::ops::Range;

use super::{Incidence, PlanError, threads};

/// Elements among which patches are grown by one thread; it does not depend on the number of threads, so that the order does not either.
const STRETCH: usize = 1 << 16;

/// Targets that more elements touch are skipped: they do not tell which elements are close, and looking through them takes quadratic time.
const MOST_NEIGHBOURS: usize = 256;

/// The elements of a loop, such that each `size` of them that follow one another are a patch of the mesh: few targets lie at its border.
/// Patches are grown from element to neighbour, and neighbours are elements that touch a common target. Those of a patch should be near
/// together in the given order, since only some thousands of elements are looked at a time; a patch has them in that order, so that
/// neighbouring work items read what is near together.
///
/// ```
/// use parloop_mesh::plan::{Elements, Incidence, Table, patches};
///
/// // Two rows of four edges each over two rows of nodes, numbered in turn: an edge of one row, an edge of the other.
/// let edges = [0, 1, 5, 6, 1, 2, 6, 7, 2, 3, 7, 8, 3, 4, 8, 9];
/// let edges = Table { values: &edges, arity: 2, set: 0, targets: 10, drops: false };
/// let order = patches(&Incidence::new(Elements::Range(0..8), &[edges])?, 4, 1)?;
/// assert_eq!(order, [0, 2, 4, 6, 1, 3, 5, 7]);
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
///
/// # Errors
/// There are too many entries, or no thread can be started.
pub fn patches(incidence: &Incidence, size: usize, most_threads: usize) -> Result<Vec<i32>, PlanError> {
    let (starts, positions): (Vec<i64>, Vec<i32>) = incidence.rows(|position, _| position as i32)?;
    let neighbours = Neighbours { incidence, starts, positions };
    let count = incidence.elements().len();
    let stretches: Vec<Range<usize>> = (0..count).step_by(STRETCH).map(|first| first..count.min(first + STRETCH)).collect();
    let each = stretches.len().div_ceil(most_threads.max(1)).max(1);
    let tasks: Vec<&[Range<usize>]> = stretches.chunks(each).collect();
    let grown = threads::each(tasks, |stretches| {
        stretches.iter().flat_map(|stretch| Growth::new(&neighbours, stretch.clone()).grow(size)).collect::<Vec<i32>>()
    })?;
    Ok(grown.concat())
}

struct Neighbours<'a, 'b> {
    incidence: &'b Incidence<'a>,
    /// The positions of the elements that touch each target.
    starts: Vec<i64>,
    positions: Vec<i32>,
}

impl Neighbours<'_, '_> {
    /// Calls `with` for the position of each element that touches a target of the one at a position, as often as it does.
    fn each(&self, position: usize, mut with: impl FnMut(usize)) {
        self.incidence.visit(self.incidence.elements().at(position), |target| {
            let row = self.starts[target] as usize..self.starts[target + 1] as usize;
            if row.len() > MOST_NEIGHBOURS {
                return;
            }
            self.positions[row].iter().for_each(|&neighbour| with(neighbour as usize));
        });
    }
}

/// Patches that grow among the elements at some positions.
struct Growth<'a, 'b, 'c> {
    neighbours: &'c Neighbours<'a, 'b>,
    among: Range<usize>,
    /// The patch that has taken each element, or sees it at its border: 0 is none. An element that was seen and not taken is free again.
    seen_by: Vec<u32>,
    is_taken: Vec<bool>,
    /// The first element that may be free.
    next: usize,
}

impl<'a, 'b, 'c> Growth<'a, 'b, 'c> {
    fn new(neighbours: &'c Neighbours<'a, 'b>, among: Range<usize>) -> Self {
        let count = among.len();
        Growth { neighbours, among, seen_by: vec![0; count], is_taken: vec![false; count], next: 0 }
    }

    /// All elements, patch by patch.
    fn grow(mut self, size: usize) -> Vec<i32> {
        let mut order = Vec::with_capacity(self.among.len());
        let mut border: VecDeque<u32> = VecDeque::new();
        let mut patch = 0;
        while order.len() < self.among.len() {
            patch += 1;
            // A patch begins beside the last one, so that no gaps are left behind.
            let first = border.iter().copied().min();
            border.clear();
            border.extend(first);
            let begin = order.len();
            let end = self.among.len().min(begin + size.max(1));
            while order.len() < end {
                let place = border.pop_front().map_or_else(|| self.free(), |place| place as usize);
                self.take(place, patch, &mut border);
                order.push(place as i32);
            }
            order[begin..].sort_unstable();
        }
        let elements = self.neighbours.incidence.elements();
        order.iter().map(|&place| elements.at(self.among.start + place as usize) as i32).collect()
    }

    /// The first element that no patch has.
    fn free(&mut self) -> usize {
        while self.is_taken[self.next] {
            self.next += 1;
        }
        self.next
    }

    /// A patch takes an element, and sees its neighbours.
    fn take(&mut self, place: usize, patch: u32, border: &mut VecDeque<u32>) {
        self.is_taken[place] = true;
        let Growth { neighbours, among, seen_by, is_taken, .. } = self;
        neighbours.each(among.start + place, |neighbour| {
            if !among.contains(&neighbour) {
                return;
            }
            let neighbour = neighbour - among.start;
            if !is_taken[neighbour] && seen_by[neighbour] != patch {
                seen_by[neighbour] = patch;
                border.push_back(neighbour as u32);
            }
        });
    }
}
