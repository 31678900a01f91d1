//! Kernels as callables: how they are specialised for a call.

use std::any::Any;
use std::sync::Arc;

use parloop_isl::Name;

use super::args::{KernelArgs, kernel_args};
use super::emit::{CallSite, Emitted, check_in_place};
use super::error::TypeName;
use super::{ArgDescriptor, ArgDescriptors, ArgId, ArgTypes, Callable, CallableError, Inference};
use crate::syntax::{Argument, ArgumentKind, Layout, LoopKernel, Preamble, Shape, Target};

/// A kernel that can be called.
#[derive(Clone, Debug, PartialEq)]
pub struct CallableKernel {
    name: Name,
    kernel: LoopKernel,
    types: Option<ArgTypes>,
    descriptors: Option<ArgDescriptors>,
    added: Vec<Name>,
}

impl CallableKernel {
    /// Wraps the kernel, without types.
    pub fn of(kernel: LoopKernel) -> CallableKernel {
        CallableKernel { name: kernel.name.clone(), kernel, types: None, descriptors: None, added: Vec::new() }
    }

    /// Checks that the call has as many arguments and results as the kernel.
    ///
    /// # Errors
    /// [`CallableError`] with both numbers.
    pub fn check_call(&self, args: usize, results: usize) -> Result<(), CallableError> {
        let places = kernel_args(&self.kernel);
        let names = |places: &[usize]| {
            let names: Vec<String> = places.iter().map(|place| format!("`{}`", self.kernel.arguments[*place].name)).collect();
            if names.is_empty() { "0".to_owned() } else { format!("{} ({})", names.len(), names.join(", ")) }
        };
        if args != places.inputs.len() {
            return Err(CallableError::ArgumentCount { function: self.name.clone(), takes: names(&places.inputs), found: args });
        }
        if results != places.outputs.len() {
            return Err(CallableError::ResultCount { function: self.name.clone(), gives: names(&places.outputs), found: results });
        }
        Ok(())
    }

    fn unknown_argument(&self, id: &ArgId, places: &KernelArgs) -> CallableError {
        let names: Vec<String> = places.inputs.iter().map(|place| format!("`{}`", self.kernel.arguments[*place].name)).collect();
        CallableError::Misfit { function: self.name.clone(), reason: format!("it has no {id}; its arguments are {}", names.join(", ")) }
    }

    /// Its arguments with the types of a call; a number keeps its declared type, an array must have it.
    fn arguments_with(&self, types: &ArgTypes, places: &KernelArgs) -> Result<Vec<Argument>, CallableError> {
        let mut arguments = self.kernel.arguments.clone();
        for (id, ty) in types {
            let place = places.place(&self.kernel, id).ok_or_else(|| self.unknown_argument(id, places))?;
            let argument = &mut arguments[place];
            match (&argument.ty, &argument.kind) {
                (None, _) => argument.ty = Some(ty.clone()),
                (Some(declared), ArgumentKind::Array { .. } | ArgumentKind::Object) if declared != ty => {
                    return Err(CallableError::ArrayType {
                        function: self.name.clone(),
                        id: id.clone(),
                        parameter: argument.name.clone(),
                        expected: TypeName(declared.clone()),
                        found: TypeName(ty.clone()),
                    });
                }
                _ => {}
            }
        }
        Ok(arguments)
    }
}

/// The types of all arguments of a kernel under each id that a call may use.
fn types_of(kernel: &LoopKernel, places: &KernelArgs) -> ArgTypes {
    let typed = kernel.arguments.iter().enumerate().filter_map(|(place, argument)| Some((place, argument.ty.clone()?)));
    typed.flat_map(|(place, ty)| places.ids(place).map(move |id| (id, ty.clone())).collect::<Vec<_>>()).collect()
}

// SAFETY: a kernel is lowered with its own checks.
unsafe impl Callable for CallableKernel {
    fn name(&self) -> &Name {
        &self.name
    }

    fn name_in_target(&self) -> Option<&Name> {
        Some(&self.kernel.name)
    }

    fn types(&self) -> Option<&ArgTypes> {
        self.types.as_ref()
    }

    fn descriptors(&self) -> Option<&ArgDescriptors> {
        self.descriptors.as_ref()
    }

    fn with_types(&self, types: &ArgTypes, inference: &mut dyn Inference) -> Result<Arc<dyn Callable>, CallableError> {
        let places = kernel_args(&self.kernel);
        let arguments = self.arguments_with(types, &places)?;
        let kernel = inference.kernel_types(&LoopKernel { arguments, ..self.kernel.clone() })?;
        let types = types_of(&kernel, &places);
        Ok(Arc::new(CallableKernel { kernel, types: Some(types), ..self.clone() }))
    }

    fn with_descriptors(
        &self,
        descriptors: &ArgDescriptors,
        site: &CallSite<'_>,
        inference: &mut dyn Inference,
    ) -> Result<Arc<dyn Callable>, CallableError> {
        self.check_call(site.args.len(), site.results.len())?;
        let places = kernel_args(&self.kernel);
        for (place, argument) in self.kernel.arguments.iter().enumerate() {
            if let [given, taken] = &places.ids(place).collect::<Vec<_>>()[..] {
                check_in_place(&self.name, &argument.name, site, [given, taken])?;
            }
        }
        let mut described = crate::callable::CalleeNames::of(&self.kernel, &places, site);
        let mut arguments = self.kernel.arguments.clone();
        for (id, descriptor) in descriptors {
            let place = places.place(&self.kernel, id).ok_or_else(|| self.unknown_argument(id, &places))?;
            let argument = &self.kernel.arguments[place];
            let kind = self.described_kind(id, argument, descriptor, &mut described)?;
            arguments[place].kind = kind;
        }
        let (new_arguments, added) = described.added(site);
        arguments.extend(new_arguments);
        let assumptions = crate::callable::callee_assumptions(&self.kernel, &places, site, &described, inference)?;
        let kernel = inference.kernel_descriptors(&LoopKernel { arguments, assumptions, ..self.kernel.clone() })?;
        let places = kernel_args(&kernel);
        let descriptors = kernel.arguments.iter().enumerate().flat_map(|(place, argument)| {
            let descriptor = match &argument.kind {
                ArgumentKind::Array { space, layout, .. } => ArgDescriptor::Array { space: Some(*space), layout: layout.clone() },
                _ => ArgDescriptor::Value,
            };
            places.ids(place).map(move |id| (id, descriptor.clone())).collect::<Vec<_>>()
        });
        let (descriptors, types) = (descriptors.collect(), types_of(&kernel, &places));
        Ok(Arc::new(CallableKernel { name: self.name.clone(), kernel, types: Some(types), descriptors: Some(descriptors), added }))
    }

    fn added_arguments(&self) -> &[Name] {
        &self.added
    }

    fn emit_call(&self, _site: &CallSite<'_>) -> Result<Emitted, CallableError> {
        Err(CallableError::KernelInExpression { function: self.name.clone() })
    }

    fn emit_call_insn(&self, site: &CallSite<'_>) -> Result<(Emitted, bool), CallableError> {
        self.check_call(site.args.len(), site.results.len())?;
        let places = kernel_args(&self.kernel);
        let args = (0..self.kernel.arguments.len()).filter_map(|place| {
            let id = places.ids(place).next()?;
            let is_number = matches!(id, ArgId::Position(position) if position < 0) && !site.is_part(&id);
            Some(if is_number { Emitted::Address(id) } else { Emitted::Arg(id) })
        });
        Ok((Emitted::Call(self.kernel.name.clone(), args.collect()), false))
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
        let Some(other) = other.as_any().downcast_ref::<CallableKernel>() else { return false };
        self.name == other.name
            && self.types == other.types
            && self.descriptors == other.descriptors
            && (self.kernel == other.kernel || self.kernel == LoopKernel { name: self.kernel.name.clone(), ..other.kernel.clone() })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl CallableKernel {
    /// The kind of an argument as passed by the caller, in the callee's names.
    fn described_kind(
        &self,
        id: &ArgId,
        argument: &Argument,
        descriptor: &ArgDescriptor,
        names: &mut crate::callable::CalleeNames,
    ) -> Result<ArgumentKind, CallableError> {
        let kind = |expected, found| CallableError::Kind {
            function: self.name.clone(),
            id: id.clone(),
            parameter: argument.name.clone(),
            expected,
            found,
        };
        match (&argument.kind, descriptor) {
            (ArgumentKind::Array { space: own, layout: declared, alignment }, ArgDescriptor::Array { space, layout }) => {
                if let (Some(expected), Some(found)) = (declared.axis_count(), layout.axis_count())
                    && expected != found
                {
                    return Err(CallableError::Rank {
                        function: self.name.clone(),
                        id: id.clone(),
                        parameter: argument.name.clone(),
                        expected,
                        there: shape_text(declared).into(),
                        found,
                        here: shape_text(layout).into(),
                    });
                }
                let layout = Layout { axis_names: declared.axis_names.clone(), ..names.translate(layout) };
                Ok(ArgumentKind::Array { space: space.unwrap_or(*own), layout, alignment: *alignment })
            }
            (ArgumentKind::Array { .. }, ArgDescriptor::Value) => Err(kind("an array", "a number")),
            (ArgumentKind::Value, ArgDescriptor::Array { .. }) => Err(kind("a number", "an array")),
            (other, _) => Ok(other.clone()),
        }
    }
}

fn shape_text(layout: &Layout) -> String {
    match &layout.shape {
        Shape::Known(lengths) => {
            let lengths: Vec<String> = lengths.iter().map(ToString::to_string).collect();
            format!("({})", lengths.join(", "))
        }
        Shape::Auto | Shape::Unknown => "?".into(),
    }
}
