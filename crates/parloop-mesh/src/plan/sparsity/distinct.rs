//! The distinct targets of one row.

/// A small hash table with a list of what is in it. It takes room for a row, not for all columns, and stays in the nearest cache.
pub(super) struct Distinct {
    /// -1 where it is free; a power of two of them.
    slots: Vec<i32>,
    /// How many bits of a hash are left.
    shift: u32,
    found: Vec<i32>,
}

impl Distinct {
    pub(super) fn new() -> Self {
        Self { slots: vec![-1; 16], shift: 28, found: Vec::new() }
    }

    /// Empties it and makes room for `most` targets.
    pub(super) fn clear(&mut self, most: usize) {
        let bits = (2 * most).next_power_of_two().trailing_zeros().clamp(4, 32);
        self.shift = 32 - bits;
        self.slots.clear();
        self.slots.resize(1 << bits, -1);
        self.found.clear();
    }

    /// Adds a target; a negative one is left out.
    #[inline]
    pub(super) fn insert(&mut self, target: i32) {
        if target < 0 {
            return;
        }
        let last = self.slots.len() - 1;
        let mut place = ((target as u32).wrapping_mul(0x9e37_79b9) >> self.shift) as usize;
        loop {
            let slot = &mut self.slots[place & last];
            if *slot == target {
                return;
            }
            if *slot < 0 {
                *slot = target;
                self.found.push(target);
                return;
            }
            place += 1;
        }
    }

    /// The targets, ascending.
    pub(super) fn sorted(&mut self) -> &[i32] {
        self.found.sort_unstable();
        &self.found
    }
}
