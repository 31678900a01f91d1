//! The shape of a launch, as data. `module.rs` makes one that a function allows.

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// On a CPU: the function is called for parts of `0..range` by several threads.
    pub range: u64,
    /// On a GPU: blocks along each axis.
    pub grid: [u32; 3],
    /// On a GPU: work items of a block along each axis.
    pub block: [u32; 3],
    /// On a GPU: dynamic shared memory of a block, in bytes.
    pub shared: u32,
}
