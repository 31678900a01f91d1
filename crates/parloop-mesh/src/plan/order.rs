//! Orders that keep what is used together near together: reverse Cuthill-McKee of targets, elements after their targets, and a measure
//! that says whether they would pay.

use super::incidence::permutes;
use super::{Elements, Incidence, PlanError, Table};

/// Sets smaller than this stay in a near cache in any order.
const SMALL: usize = 4096;

/// The reverse Cuthill-McKee rank of the targets of one set: `rank[t]` is the place of target `t`.
///
/// Two targets are neighbours when an element touches both. Targets that no element touches come last.
///
/// ```
/// use parloop_mesh::plan::{Elements, Incidence, Table, cuthill_mckee};
///
/// // A path 2 – 0 – 3 – 1: neighbours get places next to each other.
/// let edges = Table { values: &[2, 0, 0, 3, 3, 1], arity: 2, set: 0, targets: 4, drops: false };
/// let rank = cuthill_mckee(&Incidence::new(Elements::Range(0..3), &[edges])?)?;
/// assert!(edges.values.chunks(2).all(|edge| rank[edge[0] as usize].abs_diff(rank[edge[1] as usize]) == 1));
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
///
/// # Errors
/// The tables go to several sets.
pub fn cuthill_mckee(incidence: &Incidence) -> Result<Vec<i32>, PlanError> {
    incidence.one_set("a rank")?;
    let mut walk = Walk::new(incidence)?;
    for target in 0..incidence.targets() {
        if !walk.seen[target] && walk.degree(target) > 0 {
            walk.component(target);
        }
    }
    let mut rank = vec![-1i32; incidence.targets()];
    for (place, &target) in walk.order.iter().rev().enumerate() {
        rank[target as usize] = place as i32;
    }
    let untouched = rank.iter_mut().filter(|place| **place < 0);
    for (place, untouched) in (walk.order.len()..).zip(untouched) {
        *untouched = place as i32;
    }
    Ok(rank)
}

/// The elements of a loop by the smallest rank of their targets, or the smallest target where there is no rank; among equals ascending.
/// Elements without targets come last.
///
/// # Errors
/// The tables go to several sets, or the rank is not a permutation of the targets.
pub fn element_order(incidence: &Incidence, rank: Option<&[i32]>) -> Result<Vec<i32>, PlanError> {
    incidence.one_set("an element order")?;
    if let Some(rank) = rank {
        permutes("rank", rank, &Elements::Range(0..incidence.targets()))?;
    }
    let (elements, last) = (incidence.elements(), incidence.targets());
    let mut keys = vec![0u32; elements.len()];
    let mut starts = vec![0u32; last + 2];
    for (position, key) in keys.iter_mut().enumerate() {
        let mut smallest = last;
        incidence.visit(elements.at(position), |target| {
            smallest = smallest.min(rank.map_or(target, |rank| rank[target] as usize));
        });
        *key = smallest as u32;
        starts[smallest + 1] += 1;
    }
    for key in 0..=last {
        starts[key + 1] += starts[key];
    }
    let mut order = vec![0i32; elements.len()];
    for (position, &key) in keys.iter().enumerate() {
        let place = &mut starts[key as usize];
        order[*place as usize] = elements.at(position) as i32;
        *place += 1;
    }
    Ok(order)
}

/// How near together the targets lie that are used one after another, as shares of the number of targets; see [`locality`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Locality {
    /// How far the targets of an element lie apart, in the mean: what a rank of the targets can better.
    pub spread: f64,
    /// How far it is from an element's first target to that of the next element, in the mean: what an order of elements can better.
    pub jump: f64,
    targets: usize,
}

impl Locality {
    /// Whether the numbering is about as good as a mesh allows, so that reordering would not pay.
    ///
    /// The layers of a good numbering have about n^(1/2) targets in two dimensions and n^(2/3) in three; a few of the latter are the limit.
    pub fn is_local(&self) -> bool {
        self.targets < SMALL || self.spread.max(self.jump) <= 4.0 / (self.targets as f64).cbrt()
    }
}

/// Measures the locality of a table on a sample of its rows.
pub fn locality(table: &Table) -> Locality {
    const RUN: usize = 64;
    const RUNS: usize = 512;
    let rows = table.values.len().checked_div(table.arity).unwrap_or(0);
    let row = |element: usize| &table.values[element * table.arity..][..table.arity];
    let stride = (rows / RUNS).max(RUN);
    let (mut spread, mut jump, mut rows_seen, mut jumps_seen) = (0u64, 0u64, 0u64, 0u64);
    for start in (0..rows).step_by(stride) {
        let mut before: Option<i32> = None;
        for element in start..rows.min(start + RUN) {
            let mut values = row(element).iter().copied().filter(|&value| value >= 0);
            let Some(first) = values.next() else {
                continue;
            };
            let (least, most) = values.fold((first, first), |(least, most), value| (least.min(value), most.max(value)));
            spread += u64::from(most.abs_diff(least));
            rows_seen += 1;
            if let Some(before) = before {
                jump += u64::from(first.abs_diff(before));
                jumps_seen += 1;
            }
            before = Some(first);
        }
    }
    let share = |sum: u64, count: u64| sum as f64 / (count.max(1) as f64 * table.targets.max(1) as f64);
    Locality { spread: share(spread, rows_seen), jump: share(jump, jumps_seen), targets: table.targets }
}

/// A walk through the targets, level by level.
struct Walk<'a, 'b> {
    incidence: &'b Incidence<'a>,
    /// The positions of the elements that touch each target.
    starts: Vec<i64>,
    positions: Vec<i32>,
    seen: Vec<bool>,
    /// An element shows its targets once.
    shown: Vec<bool>,
    /// The targets in the order in which they were found.
    order: Vec<i32>,
    /// The positions of the elements that the walk through this component has shown.
    passed: Vec<i32>,
}

impl<'a, 'b> Walk<'a, 'b> {
    fn new(incidence: &'b Incidence<'a>) -> Result<Self, PlanError> {
        let (starts, positions) = incidence.rows(|position, _| position as i32)?;
        Ok(Self {
            incidence,
            starts,
            positions,
            seen: vec![false; incidence.targets()],
            shown: vec![false; incidence.elements().len()],
            order: Vec::with_capacity(incidence.targets()),
            passed: Vec::new(),
        })
    }

    /// How many elements touch a target: it stands for the number of neighbours, which would have to be counted.
    fn degree(&self, target: usize) -> i64 {
        self.starts[target + 1] - self.starts[target]
    }

    /// Adds the component of a target, from a start at its border: the least connected target of those farthest from the given one.
    /// Looking for a still farther one costs a sweep each time and makes levels hardly shorter.
    fn component(&mut self, target: usize) {
        let first = self.order.len();
        let last = self.sweep(target);
        let far = self.order[last..].iter().copied().min_by_key(|&target| self.degree(target as usize));
        // Where all are neighbours of the first target, any start makes the same levels.
        if let Some(far) = far.filter(|_| last > first + 1) {
            self.forget(first);
            self.sweep(far as usize);
        }
        self.passed.clear();
    }

    /// Adds the component of a target, level by level from it; returns where the last level starts in the order.
    fn sweep(&mut self, start: usize) -> usize {
        let mut next = self.order.len();
        let mut last = next;
        self.seen[start] = true;
        self.order.push(start as i32);
        while next < self.order.len() {
            last = next;
            let end = self.order.len();
            while next < end {
                self.show(self.order[next] as usize);
                next += 1;
            }
        }
        last
    }

    /// Adds the neighbours of a target that are not yet seen, the least connected first.
    fn show(&mut self, target: usize) {
        let first = self.order.len();
        for entry in self.starts[target] as usize..self.starts[target + 1] as usize {
            let position = self.positions[entry] as usize;
            if std::mem::replace(&mut self.shown[position], true) {
                continue;
            }
            self.passed.push(position as i32);
            let (seen, order) = (&mut self.seen, &mut self.order);
            self.incidence.visit(self.incidence.elements().at(position), |neighbour| {
                if !std::mem::replace(&mut seen[neighbour], true) {
                    order.push(neighbour as i32);
                }
            });
        }
        let starts = &self.starts;
        self.order[first..].sort_by_key(|&found| starts[found as usize + 1] - starts[found as usize]);
    }

    /// Takes back what was added to the order from `first`.
    fn forget(&mut self, first: usize) {
        for target in self.order.drain(first..) {
            self.seen[target as usize] = false;
        }
        for position in self.passed.drain(..) {
            self.shown[position as usize] = false;
        }
    }
}
