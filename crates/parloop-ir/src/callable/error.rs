//! Why a callable cannot be used.

use parloop_isl::Name;

use super::{ArgId, InferError};
use crate::syntax::{Target, Type};

/// Why a callable cannot be used so.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallableError {
    /// The call does not fit the function.
    #[error("call of `{function}`: {reason}")]
    Misfit {
        /// The function.
        function: Name,
        /// What does not fit, and what would.
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
    #[error("`{function}` gives {gives} results, but the call takes {found}")]
    ResultCount {
        /// The function.
        function: Name,
        /// How many it gives.
        gives: String,
        /// How many the call takes.
        found: usize,
    },
    /// A type it has no version for.
    #[error("`{function}` has no version for {types} on target {target}")]
    NoVersion {
        /// The function.
        function: Name,
        /// The types of the arguments.
        types: String,
        /// The target.
        target: Target,
    },
    /// The target does not know it.
    #[error("function `{function}` is not known on target {target}")]
    NotOnTarget {
        /// The function.
        function: Name,
        /// The target.
        target: Target,
    },
    /// An array of one type is passed where the callee says another.
    #[error("call of `{function}`: {id} (`{parameter}`) is an array of {expected} there, but one of {found} is passed")]
    ArrayType {
        /// The function.
        function: Name,
        /// Which argument.
        id: ArgId,
        /// Its name there.
        parameter: Name,
        /// The type there.
        expected: TypeName,
        /// The type here.
        found: TypeName,
    },
    /// An array with another number of axes than the callee's.
    #[error("call of `{function}`: {id} (`{parameter}`) has {expected} axes there, `{there}`, but {found} are passed, `{here}`")]
    Rank {
        /// The function.
        function: Name,
        /// Which argument.
        id: ArgId,
        /// Its name there.
        parameter: Name,
        /// How many axes it has there.
        expected: usize,
        /// Its shape there.
        there: Box<str>,
        /// How many are passed.
        found: usize,
        /// The shape here.
        here: Box<str>,
    },
    /// An array whose rows the callee cannot take as they lie in memory.
    #[error("call of `{function}`: {id} is `{there}` there, which {wants}, but {here} is passed")]
    Rows {
        /// The function.
        function: Name,
        /// Which argument.
        id: ArgId,
        /// The parameter, as it is declared there.
        there: Box<str>,
        /// What it takes.
        wants: Box<str>,
        /// The array here.
        here: Box<str>,
    },
    /// A number where an array is wanted, or an array where a number is.
    #[error("call of `{function}`: {id} (`{parameter}`) is {expected} there, but {found} is passed")]
    Kind {
        /// The function.
        function: Name,
        /// Which argument.
        id: ArgId,
        /// Its name there.
        parameter: Name,
        /// What is wanted.
        expected: &'static str,
        /// What is passed.
        found: &'static str,
    },
    /// What is changed in place is given and taken at two places.
    #[error(
        "call of `{function}`: `{parameter}` is changed in place there, but `{given}` is given and `{taken}` taken; copy the one to the other first"
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
    /// It is a kernel, which cannot be part of an expression.
    #[error("kernel `{function}` cannot be called inside an expression: assign its results in an instruction of their own")]
    KernelInExpression {
        /// The kernel.
        function: Name,
    },
    /// Code is asked of it before its types and descriptors are known.
    #[error("`{function}` is called before its types and descriptors are known; this is a mistake of the compiler, please report it")]
    NotReady {
        /// The function.
        function: Name,
    },
    /// The kernel that is called has a mistake with these arguments.
    #[error("in kernel `{function}`, as it is called here: {error}")]
    Inside {
        /// The kernel.
        function: Name,
        /// The mistake.
        error: Box<InferError>,
    },
    /// What an object of another language says.
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
    /// Through which kernels.
    pub path: Vec<Name>,
}

/// A type, or that it is not known, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName(pub Type);

impl std::fmt::Display for TypeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Type::Scalar(dtype) => write!(f, "{dtype}"),
            Type::Vector(dtype, lanes) => write!(f, "{dtype}x{lanes}"),
            Type::Class(class) => write!(f, "{}", class.name),
            Type::Opaque(name) => write!(f, "{name}"),
        }
    }
}
