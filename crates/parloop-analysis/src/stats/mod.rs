//! Statistics: how many operations a kernel does and how many bytes it moves, in terms of its sizes.

mod count;
mod error;
mod polynomial;
mod tally;
mod work;

pub use count::{Count, Counted};
pub use error::StatsError;
pub use polynomial::Polynomial;
pub use tally::{Access, Granularity, Selection, Strides, Tally, turns};
pub use work::{Direction, Operation, Work};
