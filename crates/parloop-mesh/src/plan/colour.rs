//! Colouring: elements, or blocks of elements, of one colour share no target and may run at the same time.

use super::incidence::permutes;
use super::{Elements, Incidence, PlanError};

/// How many colours one pass over the groups can tell apart: the bits of a mask.
const COLOURS: usize = u64::BITS as usize;

/// How often the groups that found no colour are tried with further colours, before the rest is coloured in one pass. It bounds the work
/// where very many elements share one target.
const PASSES: usize = 8;

/// Elements by colour: colour `c` is `order[bounds[c]..bounds[c + 1]]`, ascending.
///
/// ```
/// use parloop_mesh::plan::{Coloured, Elements, Incidence, Table};
///
/// let edges = Table { values: &[0, 1, 1, 2, 2, 3], arity: 2, set: 0, targets: 4, drops: false };
/// let coloured = Coloured::new(&Incidence::new(Elements::Range(0..3), &[edges])?);
/// assert_eq!((coloured.order, coloured.bounds), (vec![0, 2, 1], vec![0, 2, 3]));
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coloured {
    /// Elements.
    pub order: Vec<i32>,
    /// Where each colour starts in `order`; one more than there are colours.
    pub bounds: Vec<i32>,
}

impl Coloured {
    /// Colours the elements of a loop, so that the colours are about equally large where that takes no further colours.
    pub fn new(incidence: &Incidence) -> Self {
        let (mut order, bounds) = Groups { incidence, order: None, size: 1 }.by_colour();
        for position in &mut order {
            *position = incidence.elements().at(*position as usize) as i32;
        }
        Self { order, bounds }
    }

    /// How many colours there are.
    pub fn colours(&self) -> usize {
        self.bounds.len() - 1
    }
}

/// Blocks of elements, by colour.
///
/// Block `b` is `order[block_bounds[b]..block_bounds[b + 1]]`, or these elements themselves where there is no order. Colour `c` has the
/// blocks `blocks[colour_bounds[c]..colour_bounds[c + 1]]`, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// The elements one after another, where they are not in a row as numbered.
    pub order: Option<Vec<i32>>,
    /// Where each block starts; one more than there are blocks.
    pub block_bounds: Vec<i32>,
    /// Where each colour starts in `blocks`; one more than there are colours.
    pub colour_bounds: Vec<i32>,
    /// Blocks.
    pub blocks: Vec<i32>,
}

impl Blocks {
    /// Cuts the elements, in the given order or else ascending, into blocks of `size` (the last may be shorter) and colours these.
    ///
    /// # Errors
    /// The size is 0, or the order does not have each element of the loop exactly once.
    pub fn new(incidence: &Incidence, order: Option<&[i32]>, size: usize) -> Result<Self, PlanError> {
        if size == 0 {
            return Err(PlanError::EmptyBlocks);
        }
        if let Some(order) = order {
            permutes("order", order, incidence.elements())?;
        }
        let groups = Groups { incidence, order, size };
        let (blocks, colour_bounds) = groups.by_colour();
        let (order, first) = match (order, incidence.elements()) {
            (Some(order), _) => (Some(order.to_vec()), 0),
            (None, Elements::List(list)) => (Some(list.to_vec()), 0),
            (None, Elements::Range(range)) => (None, if range.is_empty() { 0 } else { range.start }),
        };
        let bound = |block: usize| (first + (block * size).min(incidence.elements().len())) as i32;
        let mut block_bounds: Vec<i32> = (0..groups.len()).map(bound).collect();
        block_bounds.push((first + incidence.elements().len()) as i32);
        Ok(Self { order, block_bounds, colour_bounds, blocks })
    }

    /// How many colours there are.
    pub fn colours(&self) -> usize {
        self.colour_bounds.len() - 1
    }
}

/// Groups of `size` elements in a row: what gets a colour. Single elements are groups of one.
struct Groups<'a, 'b> {
    incidence: &'b Incidence<'a>,
    order: Option<&'b [i32]>,
    size: usize,
}

/// How far a colouring is.
struct Colouring {
    /// For each target, the colours of this pass that touch it.
    used: Vec<u64>,
    /// For each group, its colour.
    colours: Vec<u32>,
    /// The groups without a colour.
    left: Vec<u32>,
}

impl Groups<'_, '_> {
    fn len(&self) -> usize {
        self.incidence.elements().len().div_ceil(self.size)
    }

    #[inline]
    fn visit(&self, group: usize, mut with: impl FnMut(usize)) {
        let first = group * self.size;
        // The last group may be shorter; no sum here can overflow, since the size may be any number.
        let count = self.size.min(self.incidence.elements().len() - first);
        for position in first..first + count {
            let element = self.order.map_or_else(|| self.incidence.elements().at(position), |order| order[position] as usize);
            self.incidence.visit(element, &mut with);
        }
    }

    /// Groups sorted by colour, and where each colour starts.
    fn by_colour(&self) -> (Vec<i32>, Vec<i32>) {
        let (colours, count) = self.colour();
        let mut bounds = vec![0i32; count + 1];
        for &colour in &colours {
            bounds[colour as usize + 1] += 1;
        }
        for colour in 0..count {
            bounds[colour + 1] += bounds[colour];
        }
        let mut next = bounds.clone();
        let mut sorted = vec![0i32; colours.len()];
        for (group, &colour) in colours.iter().enumerate() {
            let place = &mut next[colour as usize];
            sorted[*place as usize] = group as i32;
            *place += 1;
        }
        (sorted, bounds)
    }

    /// The colour of each group, and how many colours there are.
    fn colour(&self) -> (Vec<u32>, usize) {
        let mut found = Colouring { used: vec![0; self.incidence.targets()], colours: vec![0; self.len()], left: Vec::new() };
        let mut count = self.pass(0..self.len(), 0, &mut found);
        if found.left.is_empty() {
            self.balance(&mut found, count);
        }
        for _ in 1..PASSES {
            if found.left.is_empty() {
                return (found.colours, count);
            }
            let again = std::mem::take(&mut found.left);
            for &group in &again {
                self.visit(group as usize, |target| found.used[target] = 0);
            }
            count += self.pass(again.iter().map(|&group| group as usize), count, &mut found);
        }
        count += self.stack(count, &mut found);
        (found.colours, count)
    }

    /// Gives each group the first of the 64 colours from `first` that none of its targets has; groups that find none are left.
    /// Returns how many colours are used. Where any group is left it is all of them, so that colours have no gaps.
    fn pass(&self, groups: impl Iterator<Item = usize>, first: usize, found: &mut Colouring) -> usize {
        let mut count = 0;
        for group in groups {
            let mut taken = 0u64;
            self.visit(group, |target| taken |= found.used[target]);
            let colour = taken.trailing_ones() as usize;
            if colour == COLOURS {
                found.left.push(group as u32);
                continue;
            }
            self.visit(group, |target| found.used[target] |= 1 << colour);
            found.colours[group] = (first + colour) as u32;
            count = count.max(colour + 1);
        }
        count
    }

    /// Moves groups of large colours to smaller ones that are free for them; the number of colours stays.
    fn balance(&self, Colouring { used, colours, .. }: &mut Colouring, count: usize) {
        if count < 2 {
            return;
        }
        let all = u64::MAX >> (COLOURS - count);
        let mean = colours.len() / count;
        let mut sizes = [0usize; COLOURS];
        for &colour in colours.iter() {
            sizes[colour as usize] += 1;
        }
        for (group, of_group) in colours.iter_mut().enumerate() {
            let from = *of_group as usize;
            if sizes[from] <= mean {
                continue;
            }
            let mut taken = 0u64;
            self.visit(group, |target| taken |= used[target]);
            let mut free = all & !taken;
            let mut smallest: Option<usize> = None;
            while free != 0 {
                let to = free.trailing_zeros() as usize;
                free &= free - 1;
                if sizes[to] < smallest.map_or(mean, |known| sizes[known]) {
                    smallest = Some(to);
                }
            }
            if let Some(to) = smallest {
                self.visit(group, |target| used[target] = used[target] & !(1 << from) | 1 << to);
                sizes[from] -= 1;
                sizes[to] += 1;
                *of_group = to as u32;
            }
        }
    }

    /// Gives each group that is left the colour after the last one of its targets, from `first`: one pass, whatever the number of colours.
    fn stack(&self, first: usize, found: &mut Colouring) -> usize {
        let mut next = vec![0u32; self.incidence.targets()];
        let mut count = 0;
        for &group in &found.left {
            let mut colour = 0;
            self.visit(group as usize, |target| colour = colour.max(next[target]));
            self.visit(group as usize, |target| next[target] = colour + 1);
            found.colours[group as usize] = first as u32 + colour;
            count = count.max(colour as usize + 1);
        }
        count
    }
}
