//! Arguments and temporaries: their address space and layout.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::Name;

use super::{Expr, Type};

/// An address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum AddressSpace {
    /// Private to one work item.
    Private,
    /// Shared by one work-group.
    Local,
    /// Shared by the device.
    Global,
    /// Shared by the device, read-only.
    Constant,
}

/// The lengths of an array's axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Inferred from its use.
    Auto,
    /// Unknown: bounds cannot be checked.
    Unknown,
    /// Given.
    Known(Vec<Expr>),
}

/// The stride of an axis, in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stride {
    /// Computed: the product of the lengths of all axes of a lower nesting level (0 varies fastest), rounded up to a multiple of `pad_to`
    /// elements.
    Nested {
        /// The level.
        level: usize,
        /// The multiple; 1 is none.
        pad_to: u64,
    },
    /// Given by this expression.
    Fixed(Expr),
    /// Determined by the array passed in each call.
    Auto,
}

/// The memory layout of an axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DimTag {
    /// With a stride.
    Stride(Stride),
    /// `sep`: each index is a separate array.
    Separate,
    /// `vec`: each index is a lane of a vector.
    Vector,
}

/// Where an array begins in its memory, in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Offset {
    /// At its beginning.
    Zero,
    /// Determined by the array passed in each call.
    Auto,
    /// There.
    Given(Expr),
}

/// The shape and memory layout of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The lengths of its axes.
    pub shape: Shape,
    /// One for each axis; empty while the number of axes is unknown, or for the default, C order.
    pub dim_tags: Vec<DimTag>,
    /// Whether the axes are in Fortran order if `dim_tags` is empty.
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
        /// Its layout.
        layout: Layout,
        /// The guaranteed alignment of its beginning in bytes, if any: code relies on it, and each call checks it.
        alignment: Option<u32>,
    },
    /// A number, passed by value.
    Value,
    /// A typed object, whose class is the argument's type.
    Object,
    /// An image with that many axes; only OpenCL has these.
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
    /// Whether its value on entry matters; `None`: inferred from the instructions.
    pub is_input: Option<bool>,
    /// Whether it is written; `None`: inferred from the instructions.
    pub is_output: Option<bool>,
    /// User-defined tags.
    pub tags: BTreeSet<Name>,
}

/// Initial values of a temporary: elements in C order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Initializer {
    /// The type of the elements.
    pub dtype: DType,
    /// The lengths of the axes.
    pub shape: Vec<usize>,
    /// The elements, in the machine's byte order.
    pub bytes: Arc<[u8]>,
}

/// A variable of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Temporary {
    /// Its name.
    pub name: Name,
    /// The type of its elements, once known.
    pub ty: Option<Type>,
    /// Its memory layout.
    pub layout: Layout,
    /// The address space; `None`: inferred from its use.
    pub space: Option<AddressSpace>,
    /// Its initial values.
    pub initializer: Option<Initializer>,
    /// Whether it is never written.
    pub read_only: bool,
    /// The name of the memory that it shares with other temporaries.
    pub base_storage: Option<Name>,
    /// User-defined tags.
    pub tags: BTreeSet<Name>,
}
