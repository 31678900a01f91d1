//! `fix_parameters`: replaces parameters and arguments by numbers.

use std::collections::BTreeMap;
use std::sync::Arc;

use parloop_device::DType;
use parloop_ir::fold;
use parloop_ir::names::Near;
use parloop_ir::syntax::{Argument, ArgumentKind, BinaryOp, Expr, Literal, LoopKernel, Temporary, Type};
use parloop_isl::{Affine, IslError, Name, Set};

use super::layouts::in_layout;
use super::rewrite::{self, Scope};

/// The number that a parameter is fixed to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Fixed {
    Int(i64),
    Float(f64),
}

impl From<i64> for Fixed {
    fn from(value: i64) -> Fixed {
        Fixed::Int(value)
    }
}

impl From<i32> for Fixed {
    fn from(value: i32) -> Fixed {
        Fixed::Int(value.into())
    }
}

impl From<f64> for Fixed {
    fn from(value: f64) -> Fixed {
        Fixed::Float(value)
    }
}

/// Why a parameter cannot be fixed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FixParametersError {
    /// Unknown parameter.
    #[error("kernel `{kernel}` has no parameter or scalar argument `{name}`{near}")]
    Unknown {
        /// The kernel.
        kernel: Name,
        /// The name.
        name: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// The name is not a scalar argument.
    #[error("`{name}` is {what} of kernel `{kernel}`, which cannot be fixed")]
    NoNumber {
        /// The kernel.
        kernel: Name,
        /// The name.
        name: Name,
        /// `an array`, `a temporary`, …
        what: &'static str,
    },
    /// A parameter of a domain must be an integer.
    #[error("`{name}` bounds a loop or has an integer type, so it must be fixed to an integer, not to {value}")]
    NoInteger {
        /// The name.
        name: Name,
        /// The number.
        value: f64,
    },
    /// The number does not fit the type of the argument.
    #[error("`{name}` is of type {dtype}, which does not hold {value}")]
    DoesNotFit {
        /// The name.
        name: Name,
        /// The number.
        value: i64,
        /// The type.
        dtype: &'static str,
    },
    /// The value contradicts the assumptions.
    #[error("kernel `{kernel}` assumes `{assumptions}`, so `{name}` cannot be {value}")]
    Contradiction {
        /// The kernel.
        kernel: Name,
        /// What is assumed.
        assumptions: String,
        /// The name.
        name: Name,
        /// The number.
        value: i64,
    },
    /// A query about the domains failed.
    #[error(transparent)]
    Isl(#[from] IslError),
}

/// Replaces parameters or arguments by numbers: in domains, assumptions, shapes and all expressions. Fixed arguments are removed from the
/// list of arguments.
///
/// ```
/// use std::collections::BTreeMap;
/// use parloop_loop::{create::KernelBuilder, Set, transform::fix_parameters};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("out[i] = 2*a[i]").build_kernel()?;
/// let kernel = fix_parameters(&kernel, &BTreeMap::from([("n".into(), 32.into())]))?;
/// assert_eq!(kernel.domains[0], Set::parse("{[i]: 0<=i<32}")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a name is not known or is not a number that is passed, a parameter of a domain is to be something other than an integer, or an
/// assumption says otherwise.
pub fn fix_parameters(kernel: &LoopKernel, values: &BTreeMap<Name, Fixed>) -> Result<LoopKernel, FixParametersError> {
    let mut result = kernel.clone();
    for (name, value) in values {
        result = fix_parameter(&result, name, *value)?;
    }
    Ok(result)
}

fn fix_parameter(kernel: &LoopKernel, name: &Name, value: Fixed) -> Result<LoopKernel, FixParametersError> {
    let in_set = |set: &Set| set.params().contains(name);
    let bounds_loops = kernel.domains.iter().any(in_set) || in_set(&kernel.assumptions);
    let literal = literal(kernel, name, value, bounds_loops)?;
    let by = BTreeMap::from([(name.clone(), literal.clone())]);
    let mut result = rewrite::rewrite(kernel, &Scope::whole(kernel), &mut |expr, _| {
        Ok::<_, FixParametersError>(if expr == Expr::Variable(name.clone()) { literal.clone() } else { expr })
    })?;
    if let Fixed::Int(value) = value {
        let number = Affine::constant(value);
        let fix = |set: &Set| if in_set(set) { set.substitute(name, &number) } else { Ok(set.clone()) };
        result.domains = kernel.domains.iter().map(fix).collect::<Result<_, _>>()?;
        result.assumptions = fix(&kernel.assumptions)?;
        if in_set(&kernel.assumptions) && result.assumptions.is_empty()? {
            let (kernel, assumptions) = (kernel.name.clone(), kernel.assumptions.to_string());
            return Err(FixParametersError::Contradiction { kernel, assumptions, name: name.clone(), value });
        }
    }
    for instruction in &mut result.instructions {
        let origin = instruction.origin.map(&|expr| expr.substitute(&by));
        Arc::make_mut(instruction).origin = Arc::new(origin);
    }
    result.arguments =
        kernel.arguments.iter().filter(|argument| argument.name != *name).map(|argument| in_argument(argument, &by)).collect();
    result.temporaries = kernel
        .temporaries
        .iter()
        .map(|(name, temporary)| {
            (name.clone(), Temporary { layout: in_layout(&temporary.layout, &|expr| folded(&expr.substitute(&by))), ..temporary.clone() })
        })
        .collect();
    Ok(result)
}

/// The number as an expression, of the type that the argument has.
fn literal(kernel: &LoopKernel, name: &Name, value: Fixed, bounds_loops: bool) -> Result<Expr, FixParametersError> {
    let argument = kernel.arguments.iter().find(|argument| argument.name == *name);
    let other = |what| Err(FixParametersError::NoNumber { kernel: kernel.name.clone(), name: name.clone(), what });
    match argument.map(|argument| &argument.kind) {
        Some(ArgumentKind::Value) => {}
        Some(ArgumentKind::Array { .. }) => return other("an array"),
        Some(ArgumentKind::Object) => return other("an object"),
        Some(ArgumentKind::Image(_)) => return other("an image"),
        None if kernel.inames.contains_key(name) => return other("an iname"),
        None if kernel.temporaries.contains_key(name) => return other("a temporary"),
        None if bounds_loops => {}
        None => {
            let known = kernel.arguments.iter().filter(|argument| argument.kind == ArgumentKind::Value).map(|argument| &argument.name);
            let known = known.chain(kernel.domains.iter().flat_map(Set::params).filter(|param| !kernel.inames.contains_key(*param)));
            return Err(FixParametersError::Unknown { kernel: kernel.name.clone(), name: name.clone(), near: Near::of(name, known) });
        }
    }
    let dtype = argument.and_then(|argument| argument.ty.as_ref()).and_then(Type::scalar);
    let integral = bounds_loops || dtype.is_some_and(DType::is_integer);
    let plain = match value {
        Fixed::Float(value) if integral => return Err(FixParametersError::NoInteger { name: name.clone(), value }),
        Fixed::Float(value) => Literal::Float(value.to_bits(), dtype.filter(|dtype| dtype.is_float())),
        Fixed::Int(value) if dtype.is_some_and(DType::is_float) => Literal::Float((value as f64).to_bits(), dtype),
        Fixed::Int(value) => Literal::Int(value.into(), dtype.filter(|dtype| dtype.is_integer())),
    };
    if let (Fixed::Int(value), Some(dtype)) = (value, dtype)
        && dtype.integer_range().is_some_and(|(least, most)| !(least..=most).contains(&value.into()))
    {
        return Err(FixParametersError::DoesNotFit { name: name.clone(), value, dtype: dtype.name() });
    }
    Ok(match dtype {
        Some(dtype) if !dtype.is_integer() && !dtype.is_float() => Expr::Cast(dtype.into(), Arc::new(Expr::Literal(plain))),
        _ => Expr::Literal(plain),
    })
}

fn in_argument(argument: &Argument, by: &BTreeMap<Name, Expr>) -> Argument {
    let fixed = |expr: &Expr| folded(&expr.substitute(by));
    let kind = match &argument.kind {
        ArgumentKind::Array { space, layout, alignment } => {
            ArgumentKind::Array { space: *space, layout: in_layout(layout, &fixed), alignment: *alignment }
        }
        kind => kind.clone(),
    };
    Argument { kind, ..argument.clone() }
}

/// With sums, products and quotients of integers computed.
fn folded(expr: &Expr) -> Expr {
    let inner = expr.map_children(&mut folded);
    match &inner {
        Expr::Binary(op, left, right) => {
            let compute = match op {
                BinaryOp::Add => fold::add,
                BinaryOp::Subtract => fold::subtract,
                BinaryOp::Multiply => fold::multiply,
                BinaryOp::FloorDivide => fold::floor_divide,
                _ => return inner,
            };
            compute((**left).clone(), (**right).clone())
        }
        _ => inner,
    }
}
