//! Block sums: what the elements of a block leave for one target is added up before it is added to the target.

use std::ops::Range;

use super::incidence::fits;
use super::{Incidence, PlanError, threads};

/// For each block of elements, which of the numbers that they leave are added together, and to which target.
///
/// A block has `size` elements that follow one another in the loop. Its *entries* are numbered `place * stride + slot`, where `place` is
/// that of the element in the block and the stride is the number of slots, or one more where that is even: neighbouring elements then
/// write to different banks of memory. Sums are of [six entries or two](BlockSums::WIDTHS): what is left of a sum of fewer is
/// [`none`](BlockSums::none), which stands for zero. A target with more than six entries has several sums.
///
/// ```
/// use parloop_mesh::plan::{BlockSums, Elements, Incidence, Table};
///
/// // Three triangles around a node, in one block: entries 0 to 2, 3 to 5 and 6 to 8.
/// let triangles = Table { values: &[0, 1, 2, 0, 2, 3, 0, 3, 1], arity: 3, set: 0, targets: 4, drops: false };
/// let BlockSums { sums: [six, two] } = BlockSums::new(&Incidence::new(Elements::Range(0..3), &[triangles])?, 3, 1)?;
/// assert_eq!((six.bounds, six.targets, six.entries), (vec![0, 1], vec![0], vec![0, 3, 6, 9, 9, 9]));
/// assert_eq!((two.bounds, two.targets, two.entries), (vec![0, 3], vec![1, 2, 3], vec![1, 8, 2, 4, 5, 7]));
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSums {
    /// The sums of each width.
    pub sums: [Sums; BlockSums::WIDTHS.len()],
}

/// The sums of one width.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums {
    /// Where the sums of each block begin; one more than there are blocks. Those of a block are ascending by target.
    pub bounds: Vec<i32>,
    /// The target of each sum.
    pub targets: Vec<i32>,
    /// The entries of each sum, as many as the width.
    pub entries: Vec<u16>,
}

impl Sums {
    /// The entries, two in a number: the first is in the lower half.
    pub fn pairs(&self) -> Vec<u32> {
        self.entries.as_chunks::<2>().0.iter().map(|&[first, second]| u32::from(first) | u32::from(second) << 16).collect()
    }
}

impl BlockSums {
    /// How many entries sums have: a corner of triangles has six, and what two elements share has two.
    pub const WIDTHS: [usize; 2] = [6, 2];

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
            let mut some = Found { none: none as u16, by_width: Default::default() };
            let mut left = Vec::with_capacity(none);
            blocks.iter().for_each(|block| some.add(incidence, block.clone(), &mut left));
            some
        })?;
        let mut sums: [Sums; BlockSums::WIDTHS.len()] = Default::default();
        for (which, all) in sums.iter_mut().enumerate() {
            all.bounds.push(0);
            for some in found.iter().map(|some| &some.by_width[which]) {
                let before = all.targets.len();
                for &end in &some.ends {
                    all.bounds.push(fits("the number of block sums", before + end)?);
                }
                all.targets.extend_from_slice(&some.targets);
                all.entries.extend_from_slice(&some.entries);
            }
        }
        Ok(BlockSums { sums })
    }
}

/// The sums of some blocks.
struct Found {
    none: u16,
    by_width: [OfWidth; BlockSums::WIDTHS.len()],
}

#[derive(Default)]
struct OfWidth {
    ends: Vec<usize>,
    targets: Vec<i32>,
    entries: Vec<u16>,
}

impl Found {
    /// Adds those of a block; `left` is memory to work in.
    fn add(&mut self, incidence: &Incidence, block: Range<usize>, left: &mut Vec<u64>) {
        let [most, few] = BlockSums::WIDTHS;
        let stride = BlockSums::stride(incidence.slots());
        left.clear();
        for (place, position) in block.enumerate() {
            incidence.visit_slots(incidence.elements().at(position), |slot, target| {
                left.push((target as u64) << 16 | (place * stride + slot) as u64);
            });
        }
        left.sort_unstable();
        for of_target in left.chunk_by(|one, other| one >> 16 == other >> 16) {
            for sum in of_target.chunks(most) {
                let which = usize::from(sum.len() <= few);
                let to = &mut self.by_width[which];
                to.targets.push((sum[0] >> 16) as i32);
                to.entries.extend(sum.iter().map(|&entry| entry as u16));
                to.entries.resize(to.targets.len() * BlockSums::WIDTHS[which], self.none);
            }
        }
        for some in &mut self.by_width {
            some.ends.push(some.targets.len());
        }
    }
}
