//! Why types or descriptors cannot be found.

use parloop_isl::{IslError, Name};

use crate::callable::{CallableError, RecursiveCall};
use crate::layout::LayoutError;
use crate::names::Near;
use crate::substitution::ExpandSubstError;

/// Why types or descriptors cannot be found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InferError {
    /// Nobody knows a function of that name.
    #[error("function `{function}`, called in kernel `{kernel}`, is not known{near}; register it first, with a look-up or as a kernel")]
    UnknownFunction {
        /// The name.
        function: Name,
        /// Where it is called.
        kernel: Name,
        /// What may have been meant.
        near: Near,
    },
    /// A name that is nothing of the kernel's.
    #[error(
        "`{name}` in kernel `{kernel}` is no iname, argument, temporary or parameter; add it to the arguments, or check how it is written"
    )]
    UnknownName {
        /// The name.
        name: Name,
        /// The kernel.
        kernel: Name,
    },
    /// The type of a variable cannot be found.
    #[error("the type of `{name}` in kernel `{kernel}` cannot be found: {reason}")]
    Undetermined {
        /// The variable.
        name: Name,
        /// The kernel.
        kernel: Name,
        /// Why.
        reason: Reason,
    },
    /// An operation that two types do not have.
    #[error("`{expr}` in kernel `{kernel}`: there is no operation between {left} and {right}; convert one with `cast`")]
    NoOperation {
        /// The expression.
        expr: String,
        /// The kernel.
        kernel: Name,
        /// The one type.
        left: String,
        /// The other.
        right: String,
    },
    /// A field that the type does not have.
    #[error("`{expr}` in kernel `{kernel}`: {ty} has no field `{field}`{}", fields_are(.fields))]
    NoField {
        /// The expression.
        expr: String,
        /// The kernel.
        kernel: Name,
        /// Of what type.
        ty: String,
        /// The field.
        field: Name,
        /// The fields it has.
        fields: Vec<Name>,
    },
    /// A number that no type holds.
    #[error("integer {value} in kernel `{kernel}` does not fit any integer type; write it as a float")]
    IntegerTooLarge {
        /// The number.
        value: i128,
        /// The kernel.
        kernel: Name,
    },
    /// Several values where one is wanted.
    #[error("`{expr}` in kernel `{kernel}` gives {count} values, but one is wanted here; assign them in an instruction of their own")]
    SeveralValues {
        /// The expression.
        expr: String,
        /// The kernel.
        kernel: Name,
        /// How many.
        count: usize,
    },
    /// An expression that has no type.
    #[error("`{expr}` in kernel `{kernel}` is no value; {hint}")]
    NoValue {
        /// The expression.
        expr: String,
        /// The kernel.
        kernel: Name,
        /// What to do.
        hint: &'static str,
    },
    /// A callable cannot be used so.
    #[error(transparent)]
    Callable(#[from] CallableError),
    /// A kernel calls itself.
    #[error(transparent)]
    Recursive(#[from] RecursiveCall),
    /// A substitution rule cannot be expanded.
    #[error(transparent)]
    Rule(#[from] ExpandSubstError),
    /// An iname that sweeps a part of an array has no bounds that one expression says.
    #[error("`{iname}` sweeps `{array}` in kernel `{kernel}`, but its domain does not bound it by one expression on each side")]
    Unbounded {
        /// The iname.
        iname: Name,
        /// The array.
        array: Name,
        /// The kernel.
        kernel: Name,
    },
    /// The part of an array that inames sweep has no fixed strides.
    #[error(
        "`{part}` in kernel `{kernel}`: the index does not go on by the same distance for each step of `{iname}`; pack it into a temporary first"
    )]
    NotStrided {
        /// The part.
        part: String,
        /// The iname.
        iname: Name,
        /// The kernel.
        kernel: Name,
    },
    /// What an argument says of memory cannot be passed to a callee.
    #[error("`{array}` in kernel `{kernel}` has a {what} axis, along which no part of it can be passed to a function")]
    AxisNotPassed {
        /// The array.
        array: Name,
        /// The kernel.
        kernel: Name,
        /// `sep` or `vec`.
        what: &'static str,
    },
    /// A layout that says too little.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The solver.
    #[error(transparent)]
    Solver(#[from] IslError),
}

/// Why the type of a variable cannot be found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It is an input without a type.
    #[error("nothing is written to it; give it a dtype, or pass an array when the kernel is called")]
    NotWritten,
    /// Only text in C writes it.
    #[error("only C instructions write it; give it a dtype")]
    OnlyC,
    /// It depends on another.
    #[error("it is made of `{0}`, whose type is not known")]
    MadeOf(Name),
    /// It depends on itself alone.
    #[error("it is made of nothing but itself; give it a dtype")]
    OnlyItself,
}

fn fields_are(fields: &[Name]) -> String {
    match fields {
        [] => String::new(),
        names => format!("; it has {}", list(names)),
    }
}

fn list(names: &[Name]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
