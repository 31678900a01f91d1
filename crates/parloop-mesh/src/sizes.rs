//! How many elements a set has, by whose they are.

/// How many elements: those that need no data of other processes, those of this process, and with the copies of others' elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// Elements that touch nothing of other processes.
    pub core: usize,
    /// Elements of this process; the core is the first of them.
    pub owned: usize,
    /// Those and the ghosts: copies of elements that others own, behind them.
    pub total: usize,
}
