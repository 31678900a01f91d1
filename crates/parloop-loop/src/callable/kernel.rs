//! Kernels as callables.

use std::any::Any;
use std::sync::Arc;

use parloop_isl::Name;

use super::{ArgDescriptors, ArgTypes, Callable, CallableError};
use crate::syntax::{LoopKernel, Preamble, Target};

/// A kernel that can be called.
#[derive(Clone, Debug, PartialEq)]
pub struct CallableKernel {
    kernel: LoopKernel,
    types: Option<ArgTypes>,
    descriptors: Option<ArgDescriptors>,
    name_in_target: Option<Name>,
}

impl CallableKernel {
    /// That kernel, without types.
    pub fn of(kernel: LoopKernel) -> CallableKernel {
        CallableKernel { kernel, types: None, descriptors: None, name_in_target: None }
    }
}

impl Callable for CallableKernel {
    fn name(&self) -> &Name {
        &self.kernel.name
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

    fn with_types(&self, _types: &ArgTypes, _target: Target) -> Result<Arc<dyn Callable>, CallableError> {
        todo!()
    }

    fn with_descriptors(&self, _descriptors: &ArgDescriptors, _target: Target) -> Result<Arc<dyn Callable>, CallableError> {
        todo!()
    }

    fn preambles(&self, _target: Target) -> Result<Vec<Preamble>, CallableError> {
        Ok(self.kernel.preambles.iter().cloned().collect())
    }

    fn kernel(&self) -> Option<&LoopKernel> {
        Some(&self.kernel)
    }

    fn with_kernel(&self, kernel: LoopKernel) -> Arc<dyn Callable> {
        Arc::new(CallableKernel { kernel, ..self.clone() })
    }

    fn is_same(&self, other: &dyn Callable) -> bool {
        other.as_any().downcast_ref::<CallableKernel>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
