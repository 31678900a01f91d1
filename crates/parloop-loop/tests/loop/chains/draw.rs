//! Random choices that follow from a seed alone.

/// A stream of random numbers (SplitMix64): the same for the same seed, on every machine.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    pub fn seeded(seed: u64) -> Draw {
        let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
        draw.next();
        draw
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number from 0 to `count`, which is not included.
    pub fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count.max(1) as u64).unwrap()
    }

    /// True in one of this many draws.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// One of the list.
    pub fn of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    /// One of the list, if there is one.
    pub fn any<T: Clone>(&mut self, list: &[T]) -> Option<T> {
        (!list.is_empty()).then(|| self.of(list))
    }

    /// A place in the list, in proportion to the weights.
    pub fn weighted<T>(&mut self, list: &[(T, usize)]) -> usize {
        let mut rest = self.below(list.iter().map(|(_, weight)| weight).sum());
        list.iter().position(|(_, weight)| rest.checked_sub(*weight).map(|left| rest = left).is_none()).unwrap_or(0)
    }

    /// Some of the list, at least one, in random order.
    pub fn some<T: Clone>(&mut self, list: &[T], most: usize) -> Vec<T> {
        let mut list = list.to_vec();
        self.shuffle(&mut list);
        list.truncate(1 + self.below(most.min(list.len())));
        list
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}
