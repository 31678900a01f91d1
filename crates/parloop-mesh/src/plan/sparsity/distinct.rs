//! The distinct targets of one row.

/// A small hash table with a list of what is in it. It takes room for a row, not for all columns, and stays in the nearest cache.
pub(super) struct Distinct {
    /// -1 where it is free.
    slots: Vec<i32>,
    /// How many of the slots are used, as a power of two.
    bits: u32,
    /// What is in the table; room for more after `count`.
    found: Vec<i32>,
    count: usize,
}

/// Rows up to this length are sorted by insertion.
const SHORT: usize = 24;

impl Distinct {
    pub(super) fn new() -> Self {
        Self { slots: vec![-1; 16], bits: 4, found: Vec::new(), count: 0 }
    }

    /// Empties it and makes room for `most` targets.
    pub(super) fn clear(&mut self, most: usize) {
        // At least a quarter of the slots stays free, so that searches are short.
        self.bits = (most + most / 3 + 1).next_power_of_two().trailing_zeros().clamp(4, 32);
        if self.slots.len() < 1 << self.bits {
            self.slots.resize(1 << self.bits, -1);
        }
        if self.found.len() < most {
            self.found.resize(most, 0);
        }
        self.slots[..1 << self.bits].fill(-1);
        self.count = 0;
    }

    /// Calls `with` with what adds a target, if it is not negative. There must be room for all that are different.
    #[inline]
    pub(super) fn add(&mut self, with: impl FnOnce(&mut Adding<'_>)) {
        let mut adding = Adding { slots: &mut self.slots[..1 << self.bits], found: &mut self.found, count: self.count };
        with(&mut adding);
        self.count = adding.count;
    }

    /// The targets, ascending.
    pub(super) fn sorted(&mut self) -> &[i32] {
        let found = &mut self.found[..self.count];
        if found.len() > SHORT {
            found.sort_unstable();
            return found;
        }
        for end in 1..found.len() {
            let value = found[end];
            let mut place = end;
            while place > 0 && found[place - 1] > value {
                found[place] = found[place - 1];
                place -= 1;
            }
            found[place] = value;
        }
        found
    }
}

/// The table while targets are added, apart from its owner so that it can stay in registers.
pub(super) struct Adding<'a> {
    slots: &'a mut [i32],
    found: &'a mut [i32],
    count: usize,
}

impl Adding<'_> {
    #[inline]
    pub(super) fn insert(&mut self, target: i32) {
        if target < 0 {
            return;
        }
        // Rows that follow one another mostly have columns that do: they then collide in the same ways, which processors foresee. The
        // higher bits keep columns apart whose distances are powers of two.
        let mut place = target as usize + (target as usize >> 7) + (target as usize >> 14);
        loop {
            let last = self.slots.len() - 1;
            let slot = &mut self.slots[place & last];
            if *slot == target {
                return;
            }
            if *slot < 0 {
                *slot = target;
                self.found[self.count] = target;
                self.count += 1;
                return;
            }
            place += 1;
        }
    }
}
