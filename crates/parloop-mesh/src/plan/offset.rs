//! Numbers that say where something is in a plan's arrays: 32 bits wide, or 64 where there is more than those count.

use super::PlanError;

/// An integer of the width that a plan's offsets have.
pub trait Offset: Copy + PartialEq + std::fmt::Debug {
    /// None.
    const ZERO: Self;

    /// What stands for no entry.
    const NOWHERE: Self;

    /// The largest number.
    const MOST: usize;

    /// The number, which is at most [`MOST`](Self::MOST).
    fn from_place(place: usize) -> Self;

    /// The number, which is not negative.
    fn place(self) -> usize;

    /// Refuses a number that is too large.
    ///
    /// # Errors
    /// [`PlanError::Overflow`].
    fn check(what: &'static str, count: usize) -> Result<(), PlanError> {
        if count <= Self::MOST { Ok(()) } else { Err(PlanError::Overflow { what, count }) }
    }
}

macro_rules! offsets {
    ($($integer:ty),*) => {$(
        impl Offset for $integer {
            const ZERO: $integer = 0;
            const NOWHERE: $integer = -1;
            const MOST: usize = <$integer>::MAX as usize;

            fn from_place(place: usize) -> $integer {
                place as $integer
            }

            fn place(self) -> usize {
                self as usize
            }
        }
    )*};
}

offsets!(i32, i64);
