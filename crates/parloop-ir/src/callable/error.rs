//! Errors of callables and of the inference of types and descriptors; each can be the cause of the other.

use parloop_device::Language;
use parloop_isl::{IslError, Name};

use super::ArgId;
use crate::layout::LayoutError;
use crate::names::Near;
use crate::substitution::ExpandSubstError;
use crate::syntax::{Target, Type};

/// Why a callable cannot be used in this way.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallableError {
    /// The call does not match the function.
    #[error("call to `{function}`: {reason}")]
    Misfit {
        /// The function.
        function: Name,
        /// What does not match, and what would.
        reason: String,
    },
    /// Too many or too few arguments.
    #[error("`{function}` takes {takes} arguments, but is called with {found}")]
    ArgumentCount {
        /// The function.
        function: Name,
        /// How many it takes.
        takes: String,
        /// How many the call has.
        found: usize,
    },
    /// Too many or too few results.
    #[error("`{function}` returns {gives} results, but the call expects {found}")]
    ResultCount {
        /// The function.
        function: Name,
        /// How many it returns.
        gives: String,
        /// How many the call expects.
        found: usize,
    },
    /// It is written in a language that the target does not support.
    #[error("`{function}` is written in {language}, which target {target} does not support; write it in C, or run it on cpu, cuda or hip")]
    Language {
        /// The function.
        function: Name,
        /// The language.
        language: Language,
        /// The target.
        target: Target,
    },
    /// It has no version for these types.
    #[error("`{function}` has no version for {types} on target {target}")]
    NoVersion {
        /// The function.
        function: Name,
        /// The types of the arguments.
        types: String,
        /// The target.
        target: Target,
    },
    /// The target does not have it.
    #[error("function `{function}` is not available on target {target}")]
    NotOnTarget {
        /// The function.
        function: Name,
        /// The target.
        target: Target,
    },
    /// An array has a different type from the callee's parameter.
    #[error("call to `{function}`: {id} (`{parameter}`) must be an array of {expected}, but an array of {found} is passed")]
    ArrayType {
        /// The function.
        function: Name,
        /// Which argument.
        id: ArgId,
        /// Its name in the callee.
        parameter: Name,
        /// The type in the callee.
        expected: TypeName,
        /// The type that is passed.
        found: TypeName,
    },
    /// An array has a different number of axes from the callee's parameter.
    #[error(
        "call to `{function}`: {id} (`{parameter}`) must have {expected} axes, `{there}`, but an array with {found} is passed, `{here}`"
    )]
    Rank {
        /// The function.
        function: Name,
        /// Which argument.
        id: ArgId,
        /// Its name in the callee.
        parameter: Name,
        /// How many axes it has in the callee.
        expected: usize,
        /// Its shape in the callee.
        there: Box<str>,
        /// How many are passed.
        found: usize,
        /// The shape that is passed.
        here: Box<str>,
    },
    /// The callee cannot take an array with this memory layout.
    #[error("call to `{function}`: {id} is declared as `{there}`, which {wants}, but {here} is passed")]
    Rows {
        /// The function.
        function: Name,
        /// Which argument.
        id: ArgId,
        /// The parameter, as declared in the callee.
        there: Box<str>,
        /// What it takes.
        wants: Box<str>,
        /// The array that is passed.
        here: Box<str>,
    },
    /// A number is passed where an array is expected, or vice versa.
    #[error("call to `{function}`: {id} (`{parameter}`) must be {expected}, but {found} is passed")]
    Kind {
        /// The function.
        function: Name,
        /// Which argument.
        id: ArgId,
        /// Its name in the callee.
        parameter: Name,
        /// What is expected.
        expected: &'static str,
        /// What is passed.
        found: &'static str,
    },
    /// An argument that is updated in place is passed in and assigned to different locations.
    #[error(
        "call to `{function}`: `{parameter}` is updated in place, but the call passes `{given}` and assigns the result to `{taken}`; copy one to the other first"
    )]
    InPlace {
        /// The function.
        function: Name,
        /// The parameter.
        parameter: Name,
        /// The argument.
        given: String,
        /// The result.
        taken: String,
    },
    /// A kernel cannot be called inside an expression.
    #[error("kernel `{function}` cannot be called inside an expression; assign its results in a separate instruction")]
    KernelInExpression {
        /// The kernel.
        function: Name,
    },
    /// Code is requested before its types and descriptors are known.
    #[error("`{function}` is called before its types and descriptors are known; this is a bug in the compiler; please report it")]
    NotReady {
        /// The function.
        function: Name,
    },
    /// The called kernel is invalid with these arguments.
    #[error("in kernel `{function}`, as called here: {error}")]
    Inside {
        /// The kernel.
        function: Name,
        /// The mistake.
        error: Box<InferError>,
    },
    /// An error from an object of another language.
    #[error("`{function}`: {message}")]
    Foreign {
        /// The function.
        function: Name,
        /// Its message.
        message: String,
    },
}

/// A kernel calls itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}` calls itself: {}", path.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" calls "))]
pub struct RecursiveCall {
    /// The kernel.
    pub kernel: Name,
    /// The kernels on the path.
    pub path: Vec<Name>,
}

/// A type, or "unknown", for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName(pub Type);

impl std::fmt::Display for TypeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Type::Scalar(dtype) => write!(f, "{dtype}"),
            Type::Vector(dtype, lanes) => write!(f, "{dtype}x{lanes}"),
            Type::Record(record) => write!(f, "record {}", record.name()),
            Type::Class(class) => write!(f, "{}", class.name()),
            Type::Opaque(opaque) => write!(f, "{}", opaque.name()),
        }
    }
}

/// Why types or descriptors cannot be inferred.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InferError {
    /// Unknown function.
    #[error("unknown function `{function}` in kernel `{kernel}`{near}; register it first, with a look-up or as a kernel")]
    UnknownFunction {
        /// The name.
        function: Name,
        /// Where it is called.
        kernel: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// Unknown name.
    #[error(
        "`{name}` in kernel `{kernel}` is not an iname, argument, temporary or parameter; add it to the arguments, or check its spelling"
    )]
    UnknownName {
        /// The name.
        name: Name,
        /// The kernel.
        kernel: Name,
    },
    /// The type of a variable cannot be inferred.
    #[error("cannot infer the type of `{name}` in kernel `{kernel}`: {reason}")]
    Undetermined {
        /// The variable.
        name: Name,
        /// The kernel.
        kernel: Name,
        /// Why.
        reason: Reason,
    },
    /// Two types cannot be combined.
    #[error("`{expr}` in kernel `{kernel}`: {left} and {right} cannot be combined; convert one with `cast`")]
    NoOperation {
        /// The expression.
        expr: String,
        /// The kernel.
        kernel: Name,
        /// The left type.
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
    /// An operation that vectors or records do not have.
    #[error("`{expr}` in kernel `{kernel}`: {ty} {problem}")]
    Components {
        /// The expression.
        expr: String,
        /// The kernel.
        kernel: Name,
        /// The type.
        ty: String,
        /// What cannot be done with it, and what to do.
        problem: &'static str,
    },
    /// A value that its destination cannot hold.
    #[error("`{lhs}` in kernel `{kernel}` is of type {to} and cannot hold a value of type {from}{}", components_hint(.from))]
    NoConversion {
        /// The destination.
        lhs: String,
        /// The kernel.
        kernel: Name,
        /// The type of the destination.
        to: String,
        /// The type of the value.
        from: String,
    },
    /// An integer that does not fit any type.
    #[error("integer {value} in kernel `{kernel}` does not fit any integer type; write it as a float")]
    IntegerTooLarge {
        /// The number.
        value: i128,
        /// The kernel.
        kernel: Name,
    },
    /// Several values where one is expected.
    #[error("`{expr}` in kernel `{kernel}` returns {count} values, but only one is expected here; assign them in a separate instruction")]
    SeveralValues {
        /// The expression.
        expr: String,
        /// The kernel.
        kernel: Name,
        /// How many.
        count: usize,
    },
    /// An expression that has no type.
    #[error("`{expr}` in kernel `{kernel}` is not a value; {hint}")]
    NoValue {
        /// The expression.
        expr: String,
        /// The kernel.
        kernel: Name,
        /// What to do.
        hint: &'static str,
    },
    /// A callable cannot be used in this way.
    #[error(transparent)]
    Callable(#[from] CallableError),
    /// A kernel calls itself.
    #[error(transparent)]
    Recursive(#[from] RecursiveCall),
    /// A substitution rule cannot be expanded.
    #[error(transparent)]
    Rule(#[from] ExpandSubstError),
    /// An iname that sweeps part of an array does not have a single lower and a single upper bound.
    #[error("`{iname}` sweeps `{array}` in kernel `{kernel}`, but its domain does not give it a single lower and a single upper bound")]
    Unbounded {
        /// The iname.
        iname: Name,
        /// The array.
        array: Name,
        /// The kernel.
        kernel: Name,
    },
    /// The swept part of an array does not have fixed strides.
    #[error(
        "`{part}` in kernel `{kernel}`: the index does not advance by a constant stride along `{iname}`; pack it into a temporary first"
    )]
    NotStrided {
        /// The part.
        part: String,
        /// The iname.
        iname: Name,
        /// The kernel.
        kernel: Name,
    },
    /// The axis of an argument cannot be passed to a callee.
    #[error("`{array}` in kernel `{kernel}` has a {what} axis, so no part along that axis can be passed to a function")]
    AxisNotPassed {
        /// The array.
        array: Name,
        /// The kernel.
        kernel: Name,
        /// `sep` or `vec`.
        what: &'static str,
    },
    /// An incomplete layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The solver.
    #[error(transparent)]
    Solver(#[from] IslError),
}

/// Why the type of a variable cannot be inferred.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It is an input without a type.
    #[error("it is never written; give it a dtype, or pass an array when the kernel is called")]
    NotWritten,
    /// Only C instructions write it.
    #[error("only C instructions write it; give it a dtype")]
    OnlyC,
    /// It depends on another.
    #[error("it is computed from `{0}`, whose type is unknown")]
    MadeOf(Name),
    /// It depends only on itself.
    #[error("it is computed only from itself; give it a dtype")]
    OnlyItself,
}

fn components_hint(from: &str) -> &'static str {
    if from.starts_with("record ") { "; assign its fields one by one" } else { "; assign its components, such as `.x`" }
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
