//! Which elements of a loop touch which targets: the checked tables that every plan is made of.

use std::collections::HashSet;
use std::ops::Range;

use super::PlanError;
use super::offset::Offset;

/// One map as a plan sees it.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// Row-major: column `i` of element `e` is `values[e * arity + i]`.
    pub values: &'a [i32],
    /// How many columns a row has.
    pub arity: usize,
    /// The target set. Tables of one number go to the same set; the numbers themselves mean nothing.
    pub set: usize,
    /// How many elements the target set has.
    pub targets: usize,
    /// Whether negative values are allowed: they lead nowhere. Their slots are counted and have no target.
    pub drops: bool,
}

/// The elements that a loop runs over.
#[derive(Debug, Clone)]
pub enum Elements<'a> {
    /// All from a first one up to, but without, an end.
    Range(Range<usize>),
    /// The elements of a list, each once, in its order.
    List(&'a [i32]),
}

impl Elements<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Elements::Range(range) => range.len(),
            Elements::List(list) => list.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at a position of the loop, which must be below [`Elements::len`].
    pub(super) fn at(&self, position: usize) -> usize {
        match self {
            Elements::Range(range) => range.start + position,
            Elements::List(list) => list[position] as usize,
        }
    }

    /// One more than the largest element; 0 where there is none.
    pub(super) fn end(&self) -> usize {
        match self {
            Elements::Range(range) if range.is_empty() => 0,
            Elements::Range(range) => range.end,
            Elements::List(list) => list.iter().max().map_or(0, |&last| last as usize + 1),
        }
    }

    pub(super) fn check(&self) -> Result<(), PlanError> {
        if let Elements::List(list) = self
            && (!list.is_sorted_by(|before, after| before < after) || list.first().is_some_and(|&first| first < 0))
        {
            let mut seen = HashSet::with_capacity(list.len());
            if let Some((position, &element)) = list.iter().enumerate().find(|(_, element)| **element < 0 || !seen.insert(**element)) {
                return Err(PlanError::NotDistinct { position, element });
            }
        }
        fits("the number of elements", self.end()).map(drop)
    }
}

/// A numbering of the targets of one set: target `t` stands at place `places[t]`.
#[derive(Debug, Clone, Copy)]
pub struct Rank<'a> {
    /// The set, as [`Table::set`] has it.
    pub set: usize,
    /// A permutation.
    pub places: &'a [i32],
}

/// Which elements touch which targets, through one or several tables, to one or several sets.
///
/// The columns of all tables, one after another, are the *slots* of an element. Targets of several sets are numbered one set after another.
///
/// ```
/// use parloop_mesh::plan::{Elements, Incidence, Table};
///
/// // Two triangles that share an edge.
/// let triangles = Table { values: &[0, 1, 2, 1, 3, 2], arity: 3, set: 0, targets: 4, drops: false };
/// let incidence = Incidence::new(Elements::Range(0..2), &[triangles])?;
/// assert_eq!(incidence.slots(), 3);
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Incidence<'a> {
    elements: Elements<'a>,
    columns: Vec<Columns<'a>>,
    sets: Vec<Numbered>,
    slots: usize,
}

/// A table whose targets have found their place among those of all sets.
#[derive(Debug, Clone, Copy)]
struct Columns<'a> {
    values: &'a [i32],
    arity: usize,
    first: usize,
}

/// The targets of a set are those from `first`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbered {
    pub set: usize,
    pub first: usize,
    pub size: usize,
}

impl<'a> Incidence<'a> {
    /// Checks that each element has a row in each table, and that all of its values are targets, or negative where a table drops these.
    ///
    /// # Errors
    /// What is wrong with a table or with the elements, with its place.
    pub fn new(elements: Elements<'a>, tables: &[Table<'a>]) -> Result<Self, PlanError> {
        elements.check()?;
        let mut sets: Vec<Numbered> = Vec::new();
        let mut columns = Vec::with_capacity(tables.len());
        let mut slots = 0usize;
        for (number, table) in tables.iter().enumerate() {
            table.check(number, &elements)?;
            let first = match sets.iter().find(|known| known.set == table.set) {
                Some(known) if known.size != table.targets => {
                    let (set, found, before) = (table.set, table.targets, known.size);
                    return Err(PlanError::SetSize { table: number, set, found, before });
                }
                Some(known) => known.first,
                None => {
                    let first = sets.last().map_or(0, |last| last.first + last.size);
                    fits("the number of targets", first.saturating_add(table.targets))?;
                    sets.push(Numbered { set: table.set, first, size: table.targets });
                    first
                }
            };
            slots = slots.saturating_add(table.arity);
            columns.push(Columns { values: table.values, arity: table.arity, first });
        }
        i64::check("the number of entries", slots.saturating_mul(elements.end()))?;
        Ok(Self { elements, columns, sets, slots })
    }

    /// The elements of the loop.
    pub fn elements(&self) -> &Elements<'a> {
        &self.elements
    }

    /// How many targets an element has, the same one counted as often as it stands there.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// How many targets there are, in all sets.
    pub fn targets(&self) -> usize {
        self.sets.last().map_or(0, |last| last.first + last.size)
    }

    pub(super) fn sets(&self) -> &[Numbered] {
        &self.sets
    }

    /// Refuses tables to several sets.
    pub(super) fn one_set(&self, asked: &'static str) -> Result<(), PlanError> {
        if self.sets.len() > 1 { Err(PlanError::SeveralSets { asked, sets: self.sets.len() }) } else { Ok(()) }
    }

    /// Calls `with` for the target of each slot of an element of the loop, in order.
    #[inline]
    pub(super) fn visit(&self, element: usize, mut with: impl FnMut(usize)) {
        self.visit_slots(element, |_, target| with(target));
    }

    /// Calls `with` for each slot of an element of the loop that has a target, in order: the slot and the target.
    #[inline]
    pub(super) fn visit_slots(&self, element: usize, mut with: impl FnMut(usize, usize)) {
        let mut first = 0;
        for columns in &self.columns {
            for (column, &value) in columns.values[element * columns.arity..][..columns.arity].iter().enumerate() {
                if value >= 0 {
                    with(first + column, columns.first + value as usize);
                }
            }
            first += columns.arity;
        }
    }

    /// For each target, `label(position, slot)` of each place where it stands, in the order of the loop: starts and labels.
    ///
    /// # Errors
    /// There are more places than starts count.
    pub(super) fn rows<S: Offset, L: Offset>(&self, label: impl Fn(usize, usize) -> L) -> Result<(Vec<S>, Vec<L>), PlanError> {
        S::check("the number of entries", self.slots.saturating_mul(self.elements.len()))?;
        let mut starts = vec![S::ZERO; self.targets() + 1];
        let add = |start: &mut S, count: usize| *start = S::from_place(start.place() + count);
        for position in 0..self.elements.len() {
            self.visit(self.elements.at(position), |target| add(&mut starts[target + 1], 1));
        }
        for target in 1..starts.len() {
            let before = starts[target - 1].place();
            add(&mut starts[target], before);
        }
        let mut labels = vec![L::ZERO; starts[self.targets()].place()];
        for position in 0..self.elements.len() {
            self.visit_slots(self.elements.at(position), |slot, target| {
                labels[starts[target].place()] = label(position, slot);
                add(&mut starts[target], 1);
            });
        }
        // Each start has moved to the end of its row, which is the start of the next.
        starts.copy_within(0..self.targets(), 1);
        starts[0] = S::ZERO;
        Ok((starts, labels))
    }
}

impl Table<'_> {
    /// Refuses a table without a row for each element, or with values that are not targets.
    pub(super) fn check(&self, table: usize, elements: &Elements) -> Result<(), PlanError> {
        self.check_rows(table, elements)?;
        self.check_values(table, elements)
    }

    /// Refuses a table without a row for each element.
    pub(super) fn check_rows(&self, table: usize, elements: &Elements) -> Result<(), PlanError> {
        let &Self { values, arity, .. } = self;
        let whole = if arity == 0 { values.is_empty() } else { values.len() % arity == 0 };
        if !whole {
            return Err(PlanError::Shape { table, values: values.len(), arity });
        }
        if arity == 0 || elements.is_empty() {
            return Ok(());
        }
        let rows = values.len() / arity;
        if elements.end() > rows {
            return Err(PlanError::NoRow { table, element: elements.end() - 1, rows });
        }
        Ok(())
    }

    fn check_values(&self, table: usize, elements: &Elements) -> Result<(), PlanError> {
        let &Self { values, arity, targets, drops, .. } = self;
        if arity == 0 || elements.is_empty() {
            return Ok(());
        }
        // As unsigned numbers, negative values are too large as well.
        let limit = u32::try_from(targets).unwrap_or(u32::MAX).min(i32::MAX as u32 + 1);
        let is_wrong = |value: i32| value as u32 >= limit && !(drops && value < 0);
        if let Elements::Range(range) = elements {
            // The largest can be found in vectors; where one is wrong is found below. As a signed number, a negative one is small.
            let values = &values[range.start * arity..range.end * arity];
            let largest = match drops {
                true => values.iter().fold(-1, |largest, &value| largest.max(value)),
                false => values.iter().fold(0, |largest, &value| largest.max(value as u32)) as i32,
            };
            if !is_wrong(largest) {
                return Ok(());
            }
        }
        for position in 0..elements.len() {
            let row = elements.at(position);
            for (column, &value) in values[row * arity..][..arity].iter().enumerate() {
                if is_wrong(value) {
                    return Err(PlanError::OutOfRange { table, row, column, value, targets });
                }
            }
        }
        Ok(())
    }
}

/// The number as an index, or the error that says which one is too large.
pub(super) fn fits(what: &'static str, count: usize) -> Result<i32, PlanError> {
    i32::try_from(count).map_err(|_| PlanError::Overflow { what, count })
}

/// Refuses a rank or an order that does not have exactly the numbers `wanted`, each below `end` and each once.
pub(super) fn permutes(what: &'static str, given: &[i32], wanted: &Elements) -> Result<(), PlanError> {
    let wrong = |position| PlanError::NotPermutation { what, expected: wanted.len(), found: given.len(), position };
    let mut missing = vec![false; wanted.end()];
    for position in 0..wanted.len() {
        missing[wanted.at(position)] = true;
    }
    for (position, &number) in given.iter().enumerate() {
        match usize::try_from(number).ok().and_then(|number| missing.get_mut(number)) {
            Some(waits) if *waits => *waits = false,
            _ => return Err(wrong(position)),
        }
    }
    if given.len() == wanted.len() { Ok(()) } else { Err(wrong(given.len())) }
}
