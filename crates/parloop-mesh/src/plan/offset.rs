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

impl Offset for i32 {
    const ZERO: i32 = 0;
    const NOWHERE: i32 = -1;
    const MOST: usize = i32::MAX as usize;

    fn from_place(place: usize) -> i32 {
        place as i32
    }

    fn place(self) -> usize {
        self as usize
    }
}

impl Offset for i64 {
    const ZERO: i64 = 0;
    const NOWHERE: i64 = -1;
    const MOST: usize = i64::MAX as usize;

    fn from_place(place: usize) -> i64 {
        place as i64
    }

    fn place(self) -> usize {
        self as usize
    }
}
