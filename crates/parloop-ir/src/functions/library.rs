//! Functions of the library: `make_tuple`, `indexof`, `indexof_vec`; those of vectors are in `vector.rs`, random numbers in `random123.rs`.

use std::any::Any;
use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::Name;

use super::scalar::only_values;
use super::{RandomFunction, VectorFunction};
use crate::callable::{ArgDescriptors, ArgId, ArgTypes, CallSite, Callable, CallableError, Emitted, Inference};
use crate::syntax::{Expr, Preamble, Target, Type};

/// The names of these functions.
pub(super) const NAMES: &[&str] = &["make_tuple", "indexof", "indexof_vec", "dot", "make_float4", "philox4x32", "threefry4x32"];

/// The function of that name.
pub(super) fn find(name: &str) -> Option<Arc<dyn Callable>> {
    match name {
        "make_tuple" => Some(Arc::new(MakeTuple::new())),
        "indexof" => Some(Arc::new(IndexOf::new(false))),
        "indexof_vec" => Some(Arc::new(IndexOf::new(true))),
        _ => {
            let of_vectors = VectorFunction::find(name).map(|function| Arc::new(function) as Arc<dyn Callable>);
            of_vectors.or_else(|| RandomFunction::find(name).map(|function| Arc::new(function) as Arc<dyn Callable>))
        }
    }
}

/// `a, b = make_tuple(x, y)`: as many results as arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct MakeTuple {
    name: Name,
    types: Option<ArgTypes>,
    descriptors: Option<ArgDescriptors>,
}

impl MakeTuple {
    /// Without types.
    pub fn new() -> MakeTuple {
        MakeTuple { name: "make_tuple".into(), types: None, descriptors: None }
    }
}

impl Default for MakeTuple {
    fn default() -> MakeTuple {
        MakeTuple::new()
    }
}

// SAFETY: it emits no function calls.
unsafe impl Callable for MakeTuple {
    fn name(&self) -> &Name {
        &self.name
    }

    fn name_in_target(&self) -> Option<&Name> {
        Some(&self.name)
    }

    fn types(&self) -> Option<&ArgTypes> {
        self.types.as_ref()
    }

    fn descriptors(&self) -> Option<&ArgDescriptors> {
        self.descriptors.as_ref()
    }

    fn with_types(&self, types: &ArgTypes, _inference: &mut dyn Inference) -> Result<Arc<dyn Callable>, CallableError> {
        let mut all = ArgTypes::new();
        for (id, ty) in types {
            match id {
                ArgId::Position(place) if *place >= 0 => {
                    all.insert(id.clone(), ty.clone());
                    all.insert(ArgId::result(*place as usize), ty.clone());
                }
                ArgId::Position(_) => {}
                ArgId::Keyword(name) => {
                    let reason = format!("it takes no keyword arguments, but `{name}` is given");
                    return Err(CallableError::Misfit { function: self.name.clone(), reason });
                }
            }
        }
        Ok(Arc::new(MakeTuple { types: Some(all), ..self.clone() }))
    }

    fn with_descriptors(
        &self,
        descriptors: &ArgDescriptors,
        _site: &CallSite<'_>,
        _inference: &mut dyn Inference,
    ) -> Result<Arc<dyn Callable>, CallableError> {
        only_values(&self.name, descriptors)?;
        Ok(Arc::new(MakeTuple { descriptors: Some(descriptors.clone()), ..self.clone() }))
    }

    fn emit_call(&self, site: &CallSite<'_>) -> Result<Emitted, CallableError> {
        match site.args.len() {
            1 => Ok(Emitted::argument(0)),
            found => Err(CallableError::ResultCount { function: self.name.clone(), gives: found.to_string(), found: 1 }),
        }
    }

    fn emit_call_insn(&self, site: &CallSite<'_>) -> Result<(Emitted, bool), CallableError> {
        if site.results.len() != site.args.len() {
            let gives = site.args.len().to_string();
            return Err(CallableError::ResultCount { function: self.name.clone(), gives, found: site.results.len() });
        }
        Ok((Emitted::Tuple((0..site.args.len()).map(Emitted::argument).collect()), false))
    }

    fn preambles(&self, _target: Target) -> Result<Vec<Preamble>, CallableError> {
        Ok(Vec::new())
    }

    fn is_builtin(&self) -> bool {
        true
    }

    fn is_same(&self, other: &dyn Callable) -> bool {
        other.as_any().downcast_ref::<MakeTuple>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `indexof(a[i, j])`: the position of the element in memory; `indexof_vec` counts the lanes of vectors too.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexOf {
    name: Name,
    lanes: bool,
    types: Option<ArgTypes>,
    descriptors: Option<ArgDescriptors>,
}

impl IndexOf {
    /// Without types.
    pub fn new(lanes: bool) -> IndexOf {
        IndexOf { name: if lanes { "indexof_vec" } else { "indexof" }.into(), lanes, types: None, descriptors: None }
    }
}

// SAFETY: it emits no function calls.
unsafe impl Callable for IndexOf {
    fn name(&self) -> &Name {
        &self.name
    }

    fn name_in_target(&self) -> Option<&Name> {
        Some(&self.name)
    }

    fn types(&self) -> Option<&ArgTypes> {
        self.types.as_ref()
    }

    fn descriptors(&self) -> Option<&ArgDescriptors> {
        self.descriptors.as_ref()
    }

    fn with_types(&self, types: &ArgTypes, _inference: &mut dyn Inference) -> Result<Arc<dyn Callable>, CallableError> {
        let mut types = types.clone();
        types.insert(ArgId::result(0), Type::Scalar(DType::I32));
        Ok(Arc::new(IndexOf { types: Some(types), ..self.clone() }))
    }

    fn with_descriptors(
        &self,
        descriptors: &ArgDescriptors,
        site: &CallSite<'_>,
        _inference: &mut dyn Inference,
    ) -> Result<Arc<dyn Callable>, CallableError> {
        match site.args {
            [Expr::Subscript(..)] => Ok(Arc::new(IndexOf { descriptors: Some(descriptors.clone()), ..self.clone() })),
            [_] => {
                Err(CallableError::Misfit { function: self.name.clone(), reason: "its argument must be a subscript such as `a[i]`".into() })
            }
            _ => Err(CallableError::ArgumentCount { function: self.name.clone(), takes: "1".into(), found: site.args.len() }),
        }
    }

    fn emit_call(&self, _site: &CallSite<'_>) -> Result<Emitted, CallableError> {
        Ok(Emitted::IndexOf { id: ArgId::argument(0), lanes: self.lanes })
    }

    fn emit_call_insn(&self, site: &CallSite<'_>) -> Result<(Emitted, bool), CallableError> {
        Ok((self.emit_call(site)?, true))
    }

    fn preambles(&self, _target: Target) -> Result<Vec<Preamble>, CallableError> {
        Ok(Vec::new())
    }

    fn is_builtin(&self) -> bool {
        true
    }

    fn is_same(&self, other: &dyn Callable) -> bool {
        other.as_any().downcast_ref::<IndexOf>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
