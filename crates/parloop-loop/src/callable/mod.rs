//! Callables: everything that an expression can call, as one trait.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parloop_isl::Name;

use crate::syntax::{AddressSpace, Expr, Layout, LoopKernel, Preamble, Target, Type};

mod kernel;

pub use kernel::CallableKernel;

/// Which argument or result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArgId {
    /// Counted from 0: an argument; −1, −2 …: the first, the second result.
    Position(i32),
    /// An argument by name.
    Keyword(Name),
}

/// The types of arguments and results that are known.
pub type ArgTypes = BTreeMap<ArgId, Type>;

/// What a callee must know of an argument beyond its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArgDescriptor {
    /// A number.
    Value,
    /// An array, or a part of one: its shape, strides and place.
    Array {
        /// Which memory.
        space: AddressSpace,
        /// Shape and strides as the caller has them (strides fixed, in elements).
        layout: Layout,
    },
}

/// The descriptors of arguments and results that are known.
pub type ArgDescriptors = BTreeMap<ArgId, ArgDescriptor>;

/// What a call becomes in the code: to be widened by the writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Emitted {
    /// An expression (a call of `name_in_target`, an operator, …) whose leaves are typed already.
    Expr(Expr),
    /// Text in C, as it stands.
    Text(String),
}

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
}

/// Something that can be called in an expression or as an instruction.
///
/// It starts without types. `with_types` makes a specialisation for types, `with_descriptors` one for shapes, strides and address
/// spaces; each is an entry of its own in [`Program::callables`](crate::syntax::Program::callables).
pub trait Callable: fmt::Debug + Send + Sync {
    /// Its name as the user calls it.
    fn name(&self) -> &Name;

    /// Its name in the target's code, once it is known.
    fn name_in_target(&self) -> Option<&Name>;

    /// The types it is specialised for.
    fn types(&self) -> Option<&ArgTypes>;

    /// The descriptors it is specialised for.
    fn descriptors(&self) -> Option<&ArgDescriptors>;

    /// Specialised for these types, with those of the results filled in. Types of arguments may be missing: the callable says what it can.
    fn with_types(&self, types: &ArgTypes, target: Target) -> Result<Arc<dyn Callable>, CallableError>;

    /// Specialised for these descriptors.
    fn with_descriptors(&self, descriptors: &ArgDescriptors, target: Target) -> Result<Arc<dyn Callable>, CallableError>;

    /// Whether code can be made of a call of it.
    fn is_ready(&self) -> bool {
        self.types().is_some() && self.descriptors().is_some() && self.name_in_target().is_some()
    }

    /// Text in front of code that calls it.
    fn preambles(&self, target: Target) -> Result<Vec<Preamble>, CallableError>;

    /// The kernel that it is.
    fn kernel(&self) -> Option<&LoopKernel> {
        None
    }

    /// The same with that kernel in it.
    fn with_kernel(&self, kernel: LoopKernel) -> Arc<dyn Callable>;

    /// Whether it is the same as another: equal specialisations share one entry.
    fn is_same(&self, other: &dyn Callable) -> bool;

    /// For [`is_same`](Self::is_same).
    fn as_any(&self) -> &dyn Any;
}

impl PartialEq for dyn Callable {
    fn eq(&self, other: &dyn Callable) -> bool {
        self.is_same(other)
    }
}

/// Finds functions by name.
pub trait FunctionLookup: fmt::Debug + Send + Sync {
    /// The callable of that name, if it knows one.
    fn find(&self, target: Target, name: &str) -> Result<Option<Arc<dyn Callable>>, CallableError>;

    /// For comparison of programs.
    fn as_any(&self) -> &dyn Any;
}

impl PartialEq for dyn FunctionLookup {
    fn eq(&self, other: &dyn FunctionLookup) -> bool {
        std::ptr::addr_eq(self, other)
    }
}
