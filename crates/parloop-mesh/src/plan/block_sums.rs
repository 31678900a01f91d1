//! Block sums: what the elements of a block leave for one target is added up before it is added to the target.

use std::ops::Range;

use super::incidence::fits;
use super::{Incidence, PlanError, threads};

/// For each block of elements, which of the numbers that they leave are added together, and to which target.
///
/// A block has `size` elements that follow one another in the loop. Its *entries* are numbered `place * stride + slot`, where `place` is
/// that of the element in the block and the stride is the number of slots, or one more where that is even: neighbouring elements then
/// write to different banks of memory. Block `b` has the sums from `bounds[b]` to `bounds[b + 1]`, ascending by target. A sum is of two
/// entries; where there is only one, the other is [`none`](BlockSums::none), which stands for zero. A target with more entries has several sums.
///
/// ```
/// use parloop_mesh::plan::{BlockSums, Elements, Incidence, Table};
///
/// // Two triangles that share an edge, in one block: entries 0 to 2 and 3 to 5.
/// let triangles = Table { values: &[0, 1, 2, 1, 3, 2], arity: 3, set: 0, targets: 4, drops: false };
/// let sums = BlockSums::new(&Incidence::new(Elements::Range(0..2), &[triangles])?, 2, 1)?;
/// assert_eq!(sums.bounds, [0, 4]);
/// assert_eq!(sums.targets, [0, 1, 2, 3]);
/// assert_eq!(sums.entries, [[0, 6], [1, 3], [2, 5], [4, 6]]);
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSums {
    /// Where the sums of each block begin; one more than there are blocks.
    pub bounds: Vec<i32>,
    /// The target of each sum.
    pub targets: Vec<i32>,
    /// The entries of each sum.
    pub entries: Vec<[u16; 2]>,
}

impl BlockSums {
    /// The distance between the entries of neighbouring elements with this many slots.
    pub const fn stride(slots: usize) -> usize {
        slots | 1
    }

    /// The entry that stands for zero, in blocks of this many elements with this many slots.
    pub const fn none(size: usize, slots: usize) -> usize {
        size * BlockSums::stride(slots)
    }

    /// The sums of blocks of this many elements.
    ///
    /// # Errors
    /// The tables go to several sets, there are more entries in a block than 16 bits count or more sums than 31 bits do, or no thread can be
    /// started.
    pub fn new(incidence: &Incidence, size: usize, most_threads: usize) -> Result<BlockSums, PlanError> {
        incidence.one_set("a list of block sums")?;
        let none = BlockSums::none(size.max(1), incidence.slots());
        if none > usize::from(u16::MAX) {
            return Err(PlanError::BlockEntries { count: none });
        }
        let count = incidence.elements().len();
        let blocks: Vec<Range<usize>> = (0..count).step_by(size.max(1)).map(|first| first..count.min(first + size.max(1))).collect();
        let each = blocks.len().div_ceil(most_threads.max(1)).max(1);
        let found = threads::each(blocks.chunks(each).collect(), |blocks| {
            let mut some = Sums { none: none as u16, ends: Vec::new(), targets: Vec::new(), entries: Vec::new() };
            let mut left = Vec::with_capacity(none);
            blocks.iter().for_each(|block| some.add(incidence, block.clone(), &mut left));
            some
        })?;
        let mut bounds = vec![0];
        for some in &found {
            let before = bounds[bounds.len() - 1] as usize;
            for &end in &some.ends {
                bounds.push(fits("the number of block sums", before + end)?);
            }
        }
        let (targets, entries): (Vec<_>, Vec<_>) = found.into_iter().map(|some| (some.targets, some.entries)).unzip();
        Ok(BlockSums { bounds, targets: targets.concat(), entries: entries.concat() })
    }
}

/// The sums of some blocks.
struct Sums {
    none: u16,
    ends: Vec<usize>,
    targets: Vec<i32>,
    entries: Vec<[u16; 2]>,
}

impl Sums {
    /// Adds those of a block; `left` is memory to work in.
    fn add(&mut self, incidence: &Incidence, block: Range<usize>, left: &mut Vec<u64>) {
        let stride = BlockSums::stride(incidence.slots());
        left.clear();
        for (place, position) in block.enumerate() {
            incidence.visit_slots(incidence.elements().at(position), |slot, target| {
                left.push((target as u64) << 16 | (place * stride + slot) as u64);
            });
        }
        left.sort_unstable();
        for of_target in left.chunk_by(|one, other| one >> 16 == other >> 16) {
            for sum in of_target.chunks(2) {
                self.targets.push((sum[0] >> 16) as i32);
                self.entries.push([sum[0] as u16, sum.get(1).map_or(self.none, |&second| second as u16)]);
            }
        }
        self.ends.push(self.targets.len());
    }
}
