//! Statistics: how many operations a kernel does and how many bytes it moves, in terms of its sizes.

mod count;
mod polynomial;
mod work;

pub use count::{Count, Counted};
pub use polynomial::Polynomial;
pub use work::{Direction, Operation, Work};
