//! Plans of random loops: through one or several tables, to one or two sets, over ranges and over lists.

mod block_sums;
mod colour;
mod errors;
mod inverse;
mod last;
mod order;
mod owner;
mod runs;
mod share;
mod sparsity;
mod strips;

use parloop_mesh::plan::{Elements, Incidence, Table};
use proptest::prelude::*;

/// A loop that owns its tables.
#[derive(Debug, Clone)]
struct Loop {
    elements: Option<Vec<i32>>,
    count: usize,
    tables: Vec<Owning>,
}

#[derive(Debug, Clone)]
struct Owning {
    values: Vec<i32>,
    arity: usize,
    set: usize,
    targets: usize,
    drops: bool,
}

impl Owning {
    fn table(&self) -> Table<'_> {
        Table { values: &self.values, arity: self.arity, set: self.set, targets: self.targets, drops: self.drops }
    }
}

impl Loop {
    fn one(values: Vec<i32>, arity: usize, targets: usize) -> Self {
        Self { elements: None, count: values.len() / arity, tables: vec![Owning { values, arity, set: 0, targets, drops: false }] }
    }

    /// Triangles of a grid of `n` by `n` squares.
    fn grid(n: i32) -> Self {
        let node = |i: i32, j: i32| j * (n + 1) + i;
        let square = |i: i32, j: i32| [node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j), node(i + 1, j + 1), node(i, j + 1)];
        let values = (0..n).flat_map(|j| (0..n).flat_map(move |i| square(i, j))).collect();
        Self::one(values, 3, ((n + 1) * (n + 1)) as usize)
    }

    /// The same with the targets numbered in another way.
    fn renumbered(mut self, numbers: &[i32]) -> Self {
        for table in &mut self.tables {
            table.values.iter_mut().for_each(|value| *value = numbers[*value as usize]);
        }
        self
    }

    fn tables(&self) -> Vec<Table<'_>> {
        self.tables.iter().map(Owning::table).collect()
    }

    fn incidence(&self) -> Incidence<'_> {
        let elements = self.elements.as_deref().map_or(Elements::Range(0..self.count), Elements::List);
        Incidence::new(elements, &self.tables()).expect("a sound loop")
    }

    fn list(&self) -> Vec<i32> {
        self.elements.clone().unwrap_or_else(|| (0..self.count as i32).collect())
    }

    /// How many slots an element has.
    fn slots(&self) -> usize {
        self.tables.iter().map(|table| table.arity).sum()
    }

    /// Slot, set and target of each slot of an element that leads to a target.
    fn targets(&self, element: i32) -> Vec<(usize, (usize, i32))> {
        let row = |table: &Owning| -> Vec<(usize, i32)> {
            table.values[element as usize * table.arity..][..table.arity].iter().map(|&value| (table.set, value)).collect()
        };
        self.tables.iter().flat_map(row).enumerate().filter(|&(_, (_, target))| target >= 0).collect()
    }

    /// Set and target of each slot of an element that leads to a target.
    fn touched(&self, element: i32) -> Vec<(usize, i32)> {
        self.targets(element).into_iter().map(|(_, target)| target).collect()
    }
}

/// A fixed shuffle of `0..n`.
fn shuffled(n: usize) -> Vec<i32> {
    let mut numbers: Vec<i32> = (0..n as i32).collect();
    let mut state = 12345u64;
    for last in (1..n).rev() {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        numbers.swap(last, (state >> 33) as usize % (last + 1));
    }
    numbers
}

fn is_permutation(numbers: &[i32]) -> bool {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.iter().copied().eq(0..numbers.len() as i32)
}

/// Loops of up to `sets` target sets; each set has at least one element, and some tables lead nowhere in places.
fn loops(sets: usize) -> impl Strategy<Value = Loop> {
    (prop::collection::vec(1usize..24, sets), 0usize..50).prop_flat_map(move |(sizes, count)| {
        let table = (0..sizes.len(), 0usize..4).prop_flat_map(move |(set, arity)| {
            let targets = sizes[set];
            any::<bool>().prop_flat_map(move |drops| {
                // Slots that lead nowhere are about as many as lead to any one target, and at least a fifth.
                let least = if drops { -1 - targets as i32 / 4 } else { 0 };
                let values = prop::collection::vec(least..targets as i32, count * arity);
                values.prop_map(move |values| Owning { values, arity, set, targets, drops })
            })
        });
        let listed = prop::option::of(prop::collection::vec(any::<bool>(), count));
        (prop::collection::vec(table, 1..4), listed).prop_map(move |(tables, listed)| {
            let elements = listed.map(|listed| (0..count as i32).filter(|&element| listed[element as usize]).collect());
            Loop { elements, count, tables }
        })
    })
}
