//! Arguments and temporaries: where values live and how they lie in memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::Name;

use super::{Expr, Type};

/// Which memory, seen by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum AddressSpace {
    /// Of one work item.
    Private,
    /// Of one work-group.
    Local,
    /// Of the device.
    Global,
    /// Of the device, never written.
    Constant,
}

/// The lengths of an array's axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// To be found from how it is used.
    Auto,
    /// Not known: no bounds can be checked.
    Unknown,
    /// Given.
    Known(Vec<Expr>),
}

/// The distance in memory between neighbours along an axis, in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stride {
    /// To be computed: the product of the lengths of all axes of a lower nesting level (0 varies fastest), rounded up to a multiple of `pad_to` elements.
    Nested {
        /// The level.
        level: usize,
        /// The multiple; 1 is none.
        pad_to: u64,
    },
    /// Given by this expression.
    Fixed(Expr),
    /// Found in each call from the array that is passed.
    Auto,
}

/// How an axis lies in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DimTag {
    /// At a distance.
    Stride(Stride),
    /// `sep`: each index is an array of its own.
    Separate,
    /// `vec`: each index is a lane of a vector.
    Vector,
}

/// Where an array begins in its memory, in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Offset {
    /// At its beginning.
    Zero,
    /// Found in each call from the array that is passed.
    Auto,
    /// There.
    Given(Expr),
}

/// Shape and place of an array's elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The lengths of its axes.
    pub shape: Shape,
    /// One for each axis; empty while the number of axes is not known, or for C order by default.
    pub dim_tags: Vec<DimTag>,
    /// Whether the axes vary in Fortran's order where `dim_tags` is empty.
    pub fortran_order: bool,
    /// Where it begins.
    pub offset: Offset,
    /// Names of the axes, if given.
    pub axis_names: Option<Vec<Name>>,
}

impl Layout {
    /// An array of that shape in C order.
    pub fn c_order(shape: Shape) -> Layout {
        Layout { shape, dim_tags: Vec::new(), fortran_order: false, offset: Offset::Zero, axis_names: None }
    }

    /// A number.
    pub fn scalar() -> Layout {
        Layout::c_order(Shape::Known(Vec::new()))
    }
}

/// What an argument is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentKind {
    /// An array in global or constant memory (in private or local memory for a kernel that is called by another).
    Array {
        /// Which memory.
        space: AddressSpace,
        /// How it lies there.
        layout: Layout,
        /// The least alignment in bytes of its beginning, if that is promised: code relies on it, and a call checks it.
        alignment: Option<u32>,
    },
    /// A number, passed by value.
    Value,
    /// A typed object, whose class is the argument's type.
    Object,
    /// An image, which only OpenCL has: so many axes.
    Image(u8),
}

/// One argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Argument {
    /// Its name.
    pub name: Name,
    /// The type of its elements, once known.
    pub ty: Option<Type>,
    /// What it is.
    pub kind: ArgumentKind,
    /// Whether its value on entry matters; `None`: as the instructions say.
    pub is_input: Option<bool>,
    /// Whether it is written; `None`: as the instructions say.
    pub is_output: Option<bool>,
    /// Names of the user's.
    pub tags: BTreeSet<Name>,
}

/// Values that a temporary has from the beginning: elements in C order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Initializer {
    /// The type of the elements.
    pub dtype: DType,
    /// The lengths of the axes.
    pub shape: Vec<usize>,
    /// The elements, in the machine's byte order.
    pub bytes: Arc<[u8]>,
}

/// A variable of the kernel's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Temporary {
    /// Its name.
    pub name: Name,
    /// The type of its elements, once known.
    pub ty: Option<Type>,
    /// How it lies in memory.
    pub layout: Layout,
    /// Which memory; `None`: found from how it is used.
    pub space: Option<AddressSpace>,
    /// The values that it has from the beginning.
    pub initializer: Option<Initializer>,
    /// Whether it is never written.
    pub read_only: bool,
    /// Memory that it shares with other temporaries of this name.
    pub base_storage: Option<Name>,
    /// Names of the user's.
    pub tags: BTreeSet<Name>,
}
