//! Functions of vectors: `make_float4(a, b, c, d)` and `dot(a, b)`.

use std::any::Any;
use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::Name;

use super::scalar::only_values;
use crate::callable::{ArgDescriptors, ArgId, ArgTypes, CallSite, Callable, CallableError, Emitted, Inference, TypeName};
use crate::parse::type_name;
use crate::promote::promote;
use crate::syntax::{BinaryOp, Preamble, Target, Type};

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A vector of its arguments.
    Make(DType, u8),
    /// The sum of the products of lanes.
    Dot,
}

/// `make_float4` and its like, and `dot`.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorFunction {
    name: Name,
    kind: Kind,
    types: Option<ArgTypes>,
    descriptors: Option<ArgDescriptors>,
}

impl VectorFunction {
    /// The function of that name: `make_` with the name of a type of vectors, or `dot`.
    ///
    /// ```
    /// use parloop_loop::callable::{Callable, VectorFunction};
    /// assert_eq!(VectorFunction::find("make_uint2").unwrap().name(), "make_uint2");
    /// assert!(VectorFunction::find("make_uint5").is_none());
    /// ```
    pub fn find(name: &str) -> Option<VectorFunction> {
        let kind = match name.strip_prefix("make_").map(type_name) {
            Some(Some(Type::Vector(dtype, lanes))) => Kind::Make(dtype, lanes),
            _ if name == "dot" => Kind::Dot,
            _ => return None,
        };
        Some(VectorFunction { name: name.into(), kind, types: None, descriptors: None })
    }

    fn arity(&self) -> usize {
        match self.kind {
            Kind::Make(_, lanes) => lanes.into(),
            Kind::Dot => 2,
        }
    }

    fn wrong_count(&self, found: usize) -> CallableError {
        CallableError::ArgumentCount { function: self.name.clone(), takes: self.arity().to_string(), found }
    }

    fn misfit(&self, reason: String) -> CallableError {
        CallableError::Misfit { function: self.name.clone(), reason }
    }

    fn lanes(&self) -> u8 {
        match (&self.kind, self.types.as_ref().and_then(|types| types.get(&ArgId::argument(0)))) {
            (Kind::Make(_, lanes), _) | (Kind::Dot, Some(Type::Vector(_, lanes))) => *lanes,
            _ => 0,
        }
    }

    /// The types of arguments and result, for the types of all arguments.
    fn typed(&self, args: &[&Type]) -> Result<ArgTypes, CallableError> {
        let (takes, gives) = match (self.kind, args) {
            (Kind::Make(dtype, lanes), args) => {
                if let Some(wrong) = args.iter().find(|ty| ty.scalar().is_none_or(DType::is_complex)) {
                    return Err(self.misfit(format!("its arguments must be real numbers, not {}", TypeName((*wrong).clone()))));
                }
                (Type::Scalar(dtype), Type::Vector(dtype, lanes))
            }
            (Kind::Dot, [Type::Vector(a, lanes), Type::Vector(b, others)]) if lanes == others => {
                let dtype = promote(*a, *b);
                (Type::Vector(dtype, *lanes), Type::Scalar(dtype))
            }
            (Kind::Dot, args) => {
                let found: Vec<String> = args.iter().map(|ty| TypeName((*ty).clone()).to_string()).collect();
                return Err(self.misfit(format!("it takes two vectors of the same length, not {}", found.join(" and "))));
            }
        };
        let mut types: ArgTypes = (0..args.len()).map(|place| (ArgId::argument(place), takes.clone())).collect();
        types.insert(ArgId::result(0), gives);
        Ok(types)
    }
}

// SAFETY: it emits no function calls.
unsafe impl Callable for VectorFunction {
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
        for id in types.keys() {
            match id {
                ArgId::Position(place) if *place >= self.arity() as i32 => return Err(self.wrong_count(*place as usize + 1)),
                ArgId::Position(_) => {}
                ArgId::Keyword(name) => return Err(self.misfit(format!("it takes no keyword arguments, but `{name}` is given"))),
            }
        }
        let args: Option<Vec<&Type>> = (0..self.arity()).map(|place| types.get(&ArgId::argument(place))).collect();
        let types = match (args, self.kind) {
            (Some(args), _) => self.typed(&args)?,
            (None, Kind::Make(dtype, lanes)) => [(ArgId::result(0), Type::Vector(dtype, lanes))].into(),
            (None, Kind::Dot) => types.clone(),
        };
        Ok(Arc::new(VectorFunction { types: Some(types), ..self.clone() }))
    }

    fn with_descriptors(
        &self,
        descriptors: &ArgDescriptors,
        site: &CallSite<'_>,
        _inference: &mut dyn Inference,
    ) -> Result<Arc<dyn Callable>, CallableError> {
        if site.args.len() != self.arity() {
            return Err(self.wrong_count(site.args.len()));
        }
        only_values(&self.name, descriptors)?;
        Ok(Arc::new(VectorFunction { descriptors: Some(descriptors.clone()), ..self.clone() }))
    }

    fn emit_call(&self, _site: &CallSite<'_>) -> Result<Emitted, CallableError> {
        if let Kind::Make(..) = self.kind {
            return Ok(Emitted::Vector((0..self.arity()).map(Emitted::argument).collect()));
        }
        let product = |lane: u8| {
            let factors = [0, 1].map(|place| Emitted::Lane(ArgId::argument(place), lane));
            Emitted::Operator(BinaryOp::Multiply, Box::new(factors))
        };
        let sum = |sum: Emitted, product: Emitted| Emitted::Operator(BinaryOp::Add, Box::new([sum, product]));
        (0..self.lanes()).map(product).reduce(sum).ok_or_else(|| CallableError::NotReady { function: self.name.clone() })
    }

    fn emit_call_insn(&self, site: &CallSite<'_>) -> Result<(Emitted, bool), CallableError> {
        if site.results.len() != 1 {
            return Err(CallableError::ResultCount { function: self.name.clone(), gives: "1".into(), found: site.results.len() });
        }
        Ok((self.emit_call(site)?, true))
    }

    fn preambles(&self, _target: Target) -> Result<Vec<Preamble>, CallableError> {
        Ok(Vec::new())
    }

    fn is_builtin(&self) -> bool {
        true
    }

    fn is_same(&self, other: &dyn Callable) -> bool {
        other.as_any().downcast_ref::<VectorFunction>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
