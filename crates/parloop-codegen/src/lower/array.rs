//! Data of a kernel in code: its storage and its copies.

use parloop_ir::layout::Axis;
use parloop_ir::syntax::{AddressSpace, Expr, Type};
use parloop_isl::Name;

/// How data is stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Storage {
    /// A variable that is one number.
    Number,
    /// A pointer, or an array without axes of its own: one index.
    Flat,
    /// Separate arrays for the indices along the `sep` axes, of those lengths.
    Separate(Vec<u64>),
}

/// Data of the kernel: where an element of it is.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// Its name in the code.
    pub(super) name: Name,
    pub(super) ty: Type,
    pub(super) space: AddressSpace,
    pub(super) axes: Vec<Axis>,
    pub(super) lengths: Option<Vec<Expr>>,
    pub(super) offset: Expr,
    pub(super) storage: Storage,
    /// What there is a copy for each value of, and of how many.
    pub(super) widened: Vec<(Copies, u64)>,
}

/// What a private variable has copies for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Copies {
    /// Work items along a local axis, where they are a loop.
    Axis(u8),
    /// Values of an iname that run at once, from that one on.
    Iname(Name, i64),
}

impl Array {
    /// The element type: a vector axis is the lanes of a vector, which are addressed one by one.
    pub(super) fn element(&self) -> Type {
        self.ty.clone()
    }
}
