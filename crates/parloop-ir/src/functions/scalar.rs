//! Functions that a user describes in a table: the types they take and return, and their names in the target's code.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use parloop_isl::Name;

use crate::callable::{
    ArgDescriptor, ArgDescriptors, ArgId, ArgTypes, CallSite, Callable, CallableError, FunctionLookup, Inference, TypeName,
};
use crate::promote::combine;
use crate::syntax::{Preamble, Target, Type};

/// A scalar function with versions for several types.
///
/// ```
/// use parloop_device::DType;
/// use parloop_loop::callable::{Callable, ScalarFunction};
/// // SAFETY: these are functions of C's `math.h`.
/// let log2 = unsafe {
///     ScalarFunction::new("log2")
///         .version([DType::F32.into()], [DType::F32.into()], "log2f")
///         .version([DType::F64.into()], [DType::F64.into()], "log2")
/// };
/// assert_eq!(log2.name(), "log2");
/// assert!(log2.types().is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarFunction {
    name: Name,
    versions: Vec<Version>,
    preambles: Vec<Preamble>,
    name_in_target: Option<Name>,
    types: Option<ArgTypes>,
    descriptors: Option<ArgDescriptors>,
}

#[derive(Clone, Debug, PartialEq)]
struct Version {
    args: Vec<Type>,
    results: Vec<Type>,
    in_target: Name,
}

impl ScalarFunction {
    /// A function without versions.
    pub fn new(name: impl Into<Name>) -> ScalarFunction {
        let name = name.into();
        ScalarFunction { name, versions: Vec::new(), preambles: Vec::new(), name_in_target: None, types: None, descriptors: None }
    }

    /// Adds a version that takes and returns those types. If several match a call, the first one is used.
    ///
    /// # Safety
    /// In the target's code, with its preamble, that name is a function that takes and returns numbers of these types. It accesses no
    /// shared memory, and it returns.
    pub unsafe fn version(
        mut self,
        args: impl IntoIterator<Item = Type>,
        results: impl IntoIterator<Item = Type>,
        name_in_target: impl Into<Name>,
    ) -> ScalarFunction {
        let (args, results) = (args.into_iter().collect(), results.into_iter().collect());
        self.versions.push(Version { args, results, in_target: name_in_target.into() });
        self
    }

    /// Adds a preamble to code that calls it.
    pub fn preamble(mut self, preamble: Preamble) -> ScalarFunction {
        self.preambles.push(preamble);
        self
    }

    /// The version that takes exactly these types, else the first that they can be converted to without loss.
    fn best(&self, args: &[&Type]) -> Option<&Version> {
        let fits = |version: &&Version| {
            version.args.len() == args.len()
                && version.args.iter().zip(args).all(|(takes, given)| combine(takes, given).as_ref() == Some(takes))
        };
        let exact = self.versions.iter().find(|version| version.args.iter().eq(args.iter().copied()));
        exact.or_else(|| self.versions.iter().find(fits))
    }
}

// SAFETY: the caller that adds a version guarantees it.
unsafe impl Callable for ScalarFunction {
    fn name(&self) -> &Name {
        &self.name
    }

    fn name_in_target(&self) -> Option<&Name> {
        self.name_in_target.as_ref()
    }

    fn types(&self) -> Option<&ArgTypes> {
        self.types.as_ref()
    }

    fn descriptors(&self) -> Option<&ArgDescriptors> {
        self.descriptors.as_ref()
    }

    fn with_types(&self, types: &ArgTypes, inference: &mut dyn Inference) -> Result<Arc<dyn Callable>, CallableError> {
        let count = types.keys().filter(|id| !matches!(id, ArgId::Position(place) if *place < 0)).count();
        let args: Option<Vec<&Type>> = (0..count).map(|place| types.get(&ArgId::argument(place))).collect();
        let Some(args) = args else {
            return Ok(Arc::new(ScalarFunction { types: Some(types.clone()), name_in_target: None, ..self.clone() }));
        };
        let Some(version) = self.best(&args) else {
            if self.versions.iter().any(|version| version.args.len() > args.len()) {
                return Ok(Arc::new(ScalarFunction { types: Some(types.clone()), name_in_target: None, ..self.clone() }));
            }
            let types: Vec<String> = args.iter().map(|ty| TypeName((*ty).clone()).to_string()).collect();
            return Err(CallableError::NoVersion { function: self.name.clone(), types: types.join(", "), target: inference.target() });
        };
        let args = version.args.iter().enumerate().map(|(place, ty)| (ArgId::argument(place), ty.clone()));
        let results = version.results.iter().enumerate().map(|(place, ty)| (ArgId::result(place), ty.clone()));
        let types = args.chain(results).collect();
        Ok(Arc::new(ScalarFunction { types: Some(types), name_in_target: Some(version.in_target.clone()), ..self.clone() }))
    }

    fn with_descriptors(
        &self,
        descriptors: &ArgDescriptors,
        site: &CallSite<'_>,
        _inference: &mut dyn Inference,
    ) -> Result<Arc<dyn Callable>, CallableError> {
        let takes = self.types.iter().flatten().filter(|(id, _)| matches!(id, ArgId::Position(place) if *place >= 0)).count();
        if takes != site.args.len() || self.name_in_target.is_none() {
            let counts: Vec<String> = self.versions.iter().map(|version| version.args.len().to_string()).collect();
            return Err(CallableError::ArgumentCount { function: self.name.clone(), takes: counts.join(" or "), found: site.args.len() });
        }
        Ok(Arc::new(ScalarFunction { descriptors: Some(descriptors.clone()), ..self.clone() }))
    }

    fn preambles(&self, _target: Target) -> Result<Vec<Preamble>, CallableError> {
        Ok(self.preambles.clone())
    }

    fn is_same(&self, other: &dyn Callable) -> bool {
        other.as_any().downcast_ref::<ScalarFunction>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Checks that no argument is an array.
pub(super) fn only_values(function: &Name, descriptors: &ArgDescriptors) -> Result<(), CallableError> {
    match descriptors.iter().find(|(_, descriptor)| matches!(descriptor, ArgDescriptor::Array { .. })) {
        Some((id, _)) => Err(CallableError::Misfit {
            function: function.clone(),
            reason: format!("{id} is part of an array, but the function takes numbers"),
        }),
        None => Ok(()),
    }
}

type Mangle = dyn Fn(Target, &str, &[Type]) -> Option<ScalarFunction> + Send + Sync;

/// A look-up that matches the name, the number of arguments and their types: loopy's `register_function_mangler`.
#[derive(Clone)]
pub struct Mangler {
    function: Arc<Mangle>,
}

impl Mangler {
    /// Calls `function` with a name and types; it returns a callable with a version for exactly those.
    pub fn new(function: impl Fn(Target, &str, &[Type]) -> Option<ScalarFunction> + Send + Sync + 'static) -> Mangler {
        Mangler { function: Arc::new(function) }
    }
}

impl fmt::Debug for Mangler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mangler").finish_non_exhaustive()
    }
}

impl FunctionLookup for Mangler {
    fn find(&self, _target: Option<Target>, _name: &str) -> Result<Option<Arc<dyn Callable>>, CallableError> {
        Ok(None)
    }

    fn find_typed(&self, target: Target, name: &str, types: &[Type]) -> Result<Option<Arc<dyn Callable>>, CallableError> {
        Ok((self.function)(target, name, types).map(|function| Arc::new(function) as Arc<dyn Callable>))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
