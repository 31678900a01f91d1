//! Owner-computes: targets are cut into parts, and each part runs all elements that touch it and keeps only what is its own.

use super::incidence::{Numbered, fits, permutes};
use super::{Elements, Incidence, PlanError, Rank};

/// The slots of one word of a mask.
const WORD: usize = u32::BITS as usize;

/// The most parts that can be asked for.
const MOST_PARTS: usize = 1 << 24;

/// Which elements each part runs, and which of their slots are its own.
///
/// Part `p` runs `list[bounds[p]..bounds[p + 1]]`, ascending, so that a target gets its contributions in the order of the elements however
/// many parts there are. Every slot of every element belongs to exactly one part. So does slot 0: what must happen once for an element
/// (direct writes, reductions) happens where bit 0 is set. A slot that leads nowhere belongs to the first part of its element. Elements
/// without slots stand in one part, with an empty mask.
///
/// ```
/// use parloop_mesh::plan::{Elements, Incidence, Owned, Table};
///
/// // Three edges in a row over four nodes: part 0 has nodes 0 and 1, part 1 has 2 and 3; both run the edge between.
/// let edges = Table { values: &[0, 1, 1, 2, 2, 3], arity: 2, set: 0, targets: 4, drops: false };
/// let owned = Owned::new(&Incidence::new(Elements::Range(0..3), &[edges])?, 2, &[])?;
/// assert_eq!(owned.bounds, [0, 2, 4]);
/// assert_eq!(owned.list, [0, 1, 1, 2]);
/// assert_eq!(owned.masks, [0b11, 0b01, 0b10, 0b11]);
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Owned {
    /// Where the elements of each part start in `list`; one more than there are parts.
    pub bounds: Vec<i32>,
    /// Elements.
    pub list: Vec<i32>,
    /// For each entry of `list`, `words` words: the slots whose targets the part owns. Slot `s` is bit `s % 32` of word `s / 32`.
    pub masks: Vec<u32>,
    /// How many words a mask has: one for each 32 slots, and at least one.
    pub words: usize,
    /// How often an element is run, on average; 1 means that no work is repeated.
    pub redundancy: f64,
}

impl Owned {
    /// Cuts the targets of each set into parts of about equal numbers of entries, each contiguous in the rank of the set, or as numbered
    /// where it has none.
    ///
    /// # Errors
    /// No parts or too many, a rank that is not a permutation, a list that is too long for 32 bits.
    pub fn new(incidence: &Incidence, parts: usize, ranks: &[Rank]) -> Result<Self, PlanError> {
        if parts == 0 || parts > MOST_PARTS {
            return Err(PlanError::Parts { parts, most: MOST_PARTS });
        }
        let owners = Owners { of: cut(incidence, parts, ranks)?, incidence, parts };
        let count = incidence.elements().len();
        let mut ends = vec![0usize; parts + 1];
        let mut shares = Shares::new(incidence.slots());
        for position in 0..count {
            owners.share(position, &mut shares);
            shares.each(|part, _| ends[part + 1] += 1);
        }
        for part in 0..parts {
            ends[part + 1] += ends[part];
        }
        fits("the number of elements of all parts", ends[parts])?;
        let bounds = ends.iter().map(|&bound| bound as i32).collect();
        let words = shares.words;
        let (mut list, mut masks) = (vec![0i32; ends[parts]], vec![0u32; ends[parts] * words]);
        let redundancy = if count == 0 { 1.0 } else { ends[parts] as f64 / count as f64 };
        for position in 0..count {
            let element = incidence.elements().at(position) as i32;
            owners.share(position, &mut shares);
            shares.each(|part, mask| {
                let place = ends[part];
                ends[part] += 1;
                list[place] = element;
                match mask {
                    [word] => masks[place] = *word,
                    mask => masks[place * words..][..words].copy_from_slice(mask),
                }
            });
        }
        Ok(Self { bounds, list, masks, words, redundancy })
    }

    /// The mask of an entry of `list`.
    ///
    /// # Panics
    /// There is no such entry.
    pub fn mask(&self, place: usize) -> &[u32] {
        &self.masks[place * self.words..][..self.words]
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        self.bounds.len() - 1
    }
}

/// The part that owns each target.
fn cut(incidence: &Incidence, parts: usize, ranks: &[Rank]) -> Result<Vec<u32>, PlanError> {
    if let Some(rank) = ranks.iter().find(|rank| !incidence.sets().iter().any(|known| known.set == rank.set)) {
        return Err(PlanError::UnknownSet { set: rank.set });
    }
    let mut owners = vec![0u32; incidence.targets()];
    // The owners hold the entries of each target until the parts are known.
    for position in 0..incidence.elements().len() {
        incidence.visit(incidence.elements().at(position), |target| owners[target] += 1);
    }
    for &Numbered { set, first, size } in incidence.sets() {
        let part_of = &mut owners[first..first + size];
        let entries: u64 = part_of.iter().map(|&count| u64::from(count)).sum();
        let mut before = 0u64;
        let mut assign = |weight: &mut u32| {
            let entries_here = u64::from(*weight);
            // A target belongs to the part in which the middle of its entries lies.
            let middle = 2 * before + entries_here;
            *weight = (middle * parts as u64).checked_div(2 * entries).unwrap_or(0).min(parts as u64 - 1) as u32;
            before += entries_here;
        };
        match ranks.iter().find(|rank| rank.set == set) {
            None => part_of.iter_mut().for_each(assign),
            Some(rank) => {
                permutes("rank", rank.places, &Elements::Range(0..size))?;
                let mut ranked = vec![0u32; size];
                for (target, &place) in rank.places.iter().enumerate() {
                    ranked[place as usize] = target as u32;
                }
                ranked.iter().for_each(|&target| assign(&mut part_of[target as usize]));
            }
        }
    }
    Ok(owners)
}

struct Owners<'a, 'b> {
    of: Vec<u32>,
    incidence: &'b Incidence<'a>,
    parts: usize,
}

impl Owners<'_, '_> {
    /// Finds the parts that an element belongs to.
    #[inline]
    fn share(&self, position: usize, shares: &mut Shares) {
        let elements = self.incidence.elements();
        shares.clear();
        let mut with_target = 0;
        self.incidence.visit_slots(elements.at(position), |slot, target| {
            shares.add(self.of[target], slot);
            with_target += 1;
        });
        if with_target < shares.slots || with_target == 0 {
            self.share_rest(position, shares);
        }
    }

    /// Gives the slots that lead nowhere to the first part of an element, or to any where it has none.
    #[cold]
    fn share_rest(&self, position: usize, shares: &mut Shares) {
        let elements = self.incidence.elements();
        if shares.parts.is_empty() {
            shares.open((position as u64 * self.parts as u64 / elements.len() as u64) as u32);
        }
        let first = shares.parts[0];
        for slot in 0..shares.slots {
            if !shares.is_owned(slot) {
                shares.add(first, slot);
            }
        }
    }
}

/// Distinct parts of an element, with the slots that each owns.
struct Shares {
    slots: usize,
    words: usize,
    parts: Vec<u32>,
    masks: Vec<u32>,
}

impl Shares {
    fn new(slots: usize) -> Self {
        Self { slots, words: slots.div_ceil(WORD).max(1), parts: Vec::new(), masks: Vec::new() }
    }

    fn clear(&mut self) {
        self.parts.clear();
        self.masks.clear();
    }

    /// Adds a part that owns no slot yet.
    #[inline]
    fn open(&mut self, part: u32) {
        self.parts.push(part);
        self.masks.resize(self.masks.len() + self.words, 0);
    }

    #[inline]
    fn add(&mut self, part: u32, slot: usize) {
        let known = self.parts.iter().position(|&known| known == part);
        let known = known.unwrap_or_else(|| {
            self.open(part);
            self.parts.len() - 1
        });
        self.masks[known * self.words + slot / WORD] |= 1 << (slot % WORD);
    }

    fn is_owned(&self, slot: usize) -> bool {
        self.masks.chunks_exact(self.words).any(|mask| mask[slot / WORD] & 1 << (slot % WORD) != 0)
    }

    #[inline]
    fn each(&self, mut with: impl FnMut(usize, &[u32])) {
        for (&part, mask) in self.parts.iter().zip(self.masks.chunks_exact(self.words)) {
            with(part as usize, mask);
        }
    }
}
