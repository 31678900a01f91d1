//! The distinct targets of one row, in a piece of memory of the caller's.

/// Finds out whether a target is new in a row.
pub(super) trait DistinctFilter {
    /// Whether the target has not been given before in this row; false for negative ones.
    fn is_new(&mut self, target: i32) -> bool;
}

/// What a row leads to: the distinct targets, in a slice that has room for all of them.
pub(super) struct Row<'a, S> {
    pub seen: S,
    pub found: &'a mut [i32],
    pub count: usize,
}

impl<S: DistinctFilter> Row<'_, S> {
    #[inline]
    pub(super) fn insert(&mut self, target: i32) {
        if self.seen.is_new(target) {
            self.found[self.count] = target;
            self.count += 1;
        }
    }
}

/// A mark for each column of a range, for rows whose columns are near each other: the last row that had the column.
pub(super) struct Marks {
    first: u32,
    marks: Vec<u32>,
}

impl Marks {
    /// As many columns as the marks of a thread stay in a near cache for.
    pub(super) const MOST: usize = 1 << 16;

    pub(super) fn new() -> Self {
        Self { first: 0, marks: Vec::new() }
    }

    /// Marks for the columns from `first`, of which there are at most [`MOST`](Self::MOST). Marks of other rows may stay: each row has its own.
    pub(super) fn cover(&mut self, first: usize, count: usize) {
        self.first = first as u32;
        if self.marks.len() < count {
            self.marks.resize(count, 0);
        }
    }

    /// The marks for a row, which was not asked for before.
    pub(super) fn of_row(&mut self, row: usize) -> Marked<'_> {
        Marked { first: self.first, marks: &mut self.marks, mark: row as u32 + 1 }
    }
}

pub(super) struct Marked<'a> {
    first: u32,
    marks: &'a mut [u32],
    mark: u32,
}

impl DistinctFilter for Marked<'_> {
    #[inline]
    fn is_new(&mut self, target: i32) -> bool {
        // Negative targets are beyond the marks.
        match self.marks.get_mut((target as u32).wrapping_sub(self.first) as usize) {
            Some(mark) if *mark != self.mark => {
                *mark = self.mark;
                true
            }
            _ => false,
        }
    }
}

/// A small hash table, for rows with columns far from each other. It takes room for a row, not for all columns, and stays in the nearest cache.
pub(super) struct Table {
    /// -1 where it is free.
    slots: Vec<i32>,
}

impl Table {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new() }
    }

    /// Empties it and makes room for `most` targets.
    pub(super) fn of_row(&mut self, most: usize) -> Hashed<'_> {
        // At least a quarter of the slots stays free, so that searches are short.
        let length = (most + most / 3 + 1).next_power_of_two().max(16);
        if self.slots.len() < length {
            self.slots.resize(length, -1);
        }
        self.slots[..length].fill(-1);
        Hashed { slots: &mut self.slots[..length] }
    }
}

pub(super) struct Hashed<'a> {
    slots: &'a mut [i32],
}

impl DistinctFilter for Hashed<'_> {
    #[inline]
    fn is_new(&mut self, target: i32) -> bool {
        if target < 0 {
            return false;
        }
        // Rows that follow one another mostly have columns that do: they then collide in the same way, which processors predict. The
        // higher bits keep columns apart whose distances are powers of two.
        let mut place = target as usize + (target as usize >> 7) + (target as usize >> 14);
        loop {
            let last = self.slots.len() - 1;
            let slot = &mut self.slots[place & last];
            if *slot == target {
                return false;
            }
            if *slot < 0 {
                *slot = target;
                return true;
            }
            place += 1;
        }
    }
}

/// Rows up to this length are sorted by insertion.
const SHORT: usize = 24;

/// Puts the targets of a row in ascending order.
pub(super) fn sort(found: &mut [i32]) {
    if found.len() > SHORT {
        return found.sort_unstable();
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
}
