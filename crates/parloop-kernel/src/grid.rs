//! Grids: how many work items a launch has, given, named or read from the kernel's own loops.

/// How many work items a kernel is launched with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Grid {
    /// As many as the counts of the kernel's `VECTORIZE_OVER` loops say; one for a kernel without loops.
    #[default]
    Auto,
    /// This many.
    Items(u64),
    /// As many as the argument of this name says.
    Argument(String),
    /// This many along each axis.
    Axes([u64; 3]),
}
