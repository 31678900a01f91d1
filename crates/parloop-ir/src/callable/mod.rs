//! Callables: everything that an expression or an instruction can call, as one trait, and name look-up.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parloop_device::Language;
use parloop_isl::{Name, Set};

use crate::syntax::{AddressSpace, Layout, LoopKernel, Preamble, Target, Type};

mod args;
mod callee;
mod emit;
mod error;
mod kernel;
mod sub_array;

pub use args::{KernelArgs, kernel_args};
pub use callee::{CalleeNames, callee_assumptions, variables_of};
pub use emit::{CallSite, Emitted, check_in_place, plain_call};
pub use error::{CallableError, InferError, Reason, RecursiveCall, TypeName};
pub use kernel::CallableKernel;
pub use sub_array::{Extent, Part, extent, part, same_place};

/// Identifies an argument or result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArgId {
    /// A position: 0, 1 … are arguments; −1, −2 … are the first and second result.
    Position(i32),
    /// A keyword argument.
    Keyword(Name),
}

impl ArgId {
    /// The argument at that position, counted from 0.
    pub fn argument(place: usize) -> ArgId {
        ArgId::Position(i32::try_from(place).unwrap_or(i32::MAX))
    }

    /// The result at that position, counted from 0.
    pub fn result(place: usize) -> ArgId {
        ArgId::Position(i32::try_from(place).map_or(i32::MIN, |place| -1 - place))
    }
}

impl fmt::Display for ArgId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgId::Position(place) if *place >= 0 => write!(f, "argument {}", i64::from(*place) + 1),
            ArgId::Position(place) => write!(f, "result {}", -i64::from(*place)),
            ArgId::Keyword(name) => write!(f, "argument `{name}`"),
        }
    }
}

/// The types of arguments and results that are known.
pub type ArgTypes = BTreeMap<ArgId, Type>;

/// What a callee must know about an argument beyond its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArgDescriptor {
    /// A number.
    Value,
    /// An array or part of an array: its shape, strides and position.
    Array {
        /// The address space; `None` for a temporary whose address space is not inferred yet.
        space: Option<AddressSpace>,
        /// Shape and strides in the caller's terms (strides fixed, in elements).
        layout: Layout,
    },
}

/// The descriptors of arguments and results that are known.
pub type ArgDescriptors = BTreeMap<ArgId, ArgDescriptor>;

/// Services for a callable while it is specialised.
pub trait Inference {
    /// The target of the generated code.
    fn target(&self) -> Target;

    /// Infers the types of all names and calls of the kernel; if types of arguments are missing, as many as possible.
    ///
    /// # Errors
    /// If types cannot be inferred.
    fn kernel_types(&mut self, kernel: &LoopKernel) -> Result<LoopKernel, CallableError>;

    /// Adds descriptors to all calls of the kernel.
    ///
    /// # Errors
    /// If they cannot be inferred.
    fn kernel_descriptors(&mut self, kernel: &LoopKernel) -> Result<LoopKernel, CallableError>;

    /// Adds an assumption about its parameters to the current kernel, which its callers must satisfy. Returns whether it was added.
    fn assume(&mut self, _condition: &Set) -> bool {
        false
    }
}

/// Something that can be called in an expression or as an instruction.
///
/// It starts without types. `with_types` makes a specialisation for types, `with_descriptors` one for shapes, strides and address spaces;
/// each is a separate entry in [`Program::callables`](crate::program::Program::callables), and equal ones share an entry. Once everything
/// is known, the writer calls [`emit_call`](Self::emit_call) or [`emit_call_insn`](Self::emit_call_insn) what to write.
///
/// # Safety
/// The emitted code calls functions that exist in the target's code with matching types. These access only the memory that the call passes
/// to them: they read arguments and write results within the shapes of their [descriptors](Self::descriptors), and return.
pub unsafe trait Callable: fmt::Debug + Send + Sync {
    /// The name by which the user calls it.
    fn name(&self) -> &Name;

    /// Its name in the target's code, once it is known.
    fn name_in_target(&self) -> Option<&Name>;

    /// The types it is specialised for: what each argument is converted to, and what each result is.
    fn types(&self) -> Option<&ArgTypes>;

    /// The descriptors it is specialised for.
    fn descriptors(&self) -> Option<&ArgDescriptors>;

    /// Specialised for these types, with those of the results filled in. Types may be missing: the callable fills in what it can. Types of
    /// results are included where the caller knows what they are assigned to.
    ///
    /// # Errors
    /// [`CallableError`] if it cannot be called with these types.
    fn with_types(&self, types: &ArgTypes, inference: &mut dyn Inference) -> Result<Arc<dyn Callable>, CallableError>;

    /// Specialised for these descriptors, which are in the names of the calling kernel.
    ///
    /// # Errors
    /// [`CallableError`] if shapes, strides or memory do not match.
    fn with_descriptors(
        &self,
        descriptors: &ArgDescriptors,
        site: &CallSite<'_>,
        inference: &mut dyn Inference,
    ) -> Result<Arc<dyn Callable>, CallableError>;

    /// Names of the caller whose values [`with_descriptors`](Self::with_descriptors) needs as additional arguments, after the others.
    fn added_arguments(&self) -> &[Name] {
        &[]
    }

    /// Whether code can be generated for a call.
    fn is_ready(&self) -> bool {
        self.types().is_some() && self.descriptors().is_some() && self.name_in_target().is_some()
    }

    /// What a call inside an expression becomes; its value is the first result.
    ///
    /// # Errors
    /// [`CallableError`] if it cannot be called inside an expression.
    fn emit_call(&self, site: &CallSite<'_>) -> Result<Emitted, CallableError> {
        emit::plain_call(self.name(), self.name_in_target(), site)
    }

    /// What a call as an instruction becomes, and whether the first result is its return value. The callee writes the other results: their
    /// addresses are among the arguments. `a, b = f(c, d)` is `a = f(c, d, &b)` if so, else `f(c, d, &a, &b)`.
    ///
    /// # Errors
    /// [`CallableError`] if it cannot be called as an instruction.
    fn emit_call_insn(&self, site: &CallSite<'_>) -> Result<(Emitted, bool), CallableError> {
        emit::plain_call_insn(self.name(), self.name_in_target(), site)
    }

    /// Code that must precede calls to it.
    ///
    /// # Errors
    /// [`CallableError`] if there is none for the target.
    fn preambles(&self, target: Target) -> Result<Vec<Preamble>, CallableError>;

    /// The language of that code. C code for a CPU is also valid C++, and is compiled as the language that its callables need.
    fn language(&self) -> Language {
        Language::C
    }

    /// The kernel, if it is one.
    fn kernel(&self) -> Option<&LoopKernel> {
        None
    }

    /// The same callable with that kernel; a callable that is not a kernel becomes one.
    fn with_kernel(&self, kernel: LoopKernel) -> Arc<dyn Callable> {
        Arc::new(CallableKernel::of(kernel))
    }

    /// Whether a call with vectors is the same call for each lane. What it emits is then for numbers.
    fn is_lanewise(&self) -> bool {
        false
    }

    /// Whether it belongs to the target or the library, so that a user's registration overrides it.
    fn is_builtin(&self) -> bool {
        false
    }

    /// Whether it equals another: equal specialisations share one entry. The name of its entry and
    /// [`added_arguments`](Self::added_arguments) do not count.
    fn is_same(&self, other: &dyn Callable) -> bool;

    /// For [`is_same`](Self::is_same).
    fn as_any(&self) -> &dyn Any;
}

impl PartialEq for dyn Callable {
    fn eq(&self, other: &dyn Callable) -> bool {
        self.is_same(other)
    }
}

/// A name that stands for a value in the target's code, such as `INFINITY`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its type.
    pub ty: Type,
    /// How it is written.
    pub text: String,
}

/// Finds functions by name. Only [`find`](Self::find) must be implemented.
pub trait FunctionLookup: fmt::Debug + Send + Sync {
    /// The callable of that name, if there is one; `target` is `None` while no target is chosen.
    ///
    /// # Errors
    /// Any error of the look-up.
    fn find(&self, target: Option<Target>, name: &str) -> Result<Option<Arc<dyn Callable>>, CallableError>;

    /// The callable for that name and those argument types, used when no callable is found by name alone.
    ///
    /// # Errors
    /// Any error of the look-up.
    fn find_typed(&self, target: Target, name: &str, types: &[Type]) -> Result<Option<Arc<dyn Callable>>, CallableError> {
        let _ = (target, name, types);
        Ok(None)
    }

    /// The value of a name that is not a variable of the kernel.
    ///
    /// # Errors
    /// Any error of the look-up.
    fn symbol(&self, target: Option<Target>, name: &str) -> Result<Option<Symbol>, CallableError> {
        let _ = (target, name);
        Ok(None)
    }

    /// For comparing programs.
    fn as_any(&self) -> &dyn Any;
}

impl PartialEq for dyn FunctionLookup {
    fn eq(&self, other: &dyn FunctionLookup) -> bool {
        std::ptr::addr_eq(self, other)
    }
}
