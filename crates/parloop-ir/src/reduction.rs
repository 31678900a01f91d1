//! The meaning of reductions: the initial value, how to combine two partial results, and the types.

use parloop_device::DType;
use parloop_isl::Name;

use crate::syntax::{BinaryOp, CompareOp, Expr, Literal, ReductionOp, Type};

/// Why a reduction is not possible.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReductionError {
    /// The result for an empty domain is unknown.
    #[error("reduction `{op}` over values of type {ty}: there is no initial value; use numbers that can be ordered")]
    NoNeutralElement {
        /// The reduction.
        op: ReductionOp,
        /// The type of its operands.
        ty: Type,
    },
    /// The reduction is not registered.
    #[error(
        "`reduce({name}, …)`: unknown reduction; the reductions are sum, product, max, min, any, all, argmax, argmin, segmented_sum and segmented_product"
    )]
    UnknownOperation {
        /// Its name.
        name: Name,
    },
}

impl ReductionOp {
    /// The number of values it takes at each point, which is also the number of results.
    pub fn arity(&self) -> usize {
        match self {
            ReductionOp::ArgMax | ReductionOp::ArgMin | ReductionOp::SegmentedSum | ReductionOp::SegmentedProduct => 2,
            _ => 1,
        }
    }

    /// Whether the order of its points matters: of equal values the first keeps its index, and segments have a start.
    pub fn has_order(&self) -> bool {
        self.arity() == 2
    }

    /// Whether its initial value depends on the types of its operands.
    pub fn needs_types(&self) -> bool {
        use ReductionOp::{Product, SegmentedProduct, SegmentedSum, Sum};
        !matches!(self, Sum | Product | SegmentedSum | SegmentedProduct)
    }

    /// The types of the results, for the types of the operands.
    pub fn result_types(&self, operands: &[Type]) -> Vec<Type> {
        match self {
            ReductionOp::Any | ReductionOp::All => vec![DType::Bool.into()],
            _ => operands.to_vec(),
        }
    }

    /// The results for an empty domain, with these types; types may be missing if [`needs_types`](Self::needs_types) is false. For a vector
    /// it is the number in each lane.
    ///
    /// # Errors
    /// [`ReductionError::NoNeutralElement`]: complex numbers have no maximum, and the neutral element of a registered reduction is unknown
    /// here.
    pub fn neutral(&self, types: Option<&[Type]>) -> Result<Vec<Expr>, ReductionError> {
        let Some(types) = types else {
            let start = if matches!(self, ReductionOp::Product | ReductionOp::SegmentedProduct) { 1 } else { 0 };
            return Ok([Expr::int(start), Expr::int(0)].into_iter().take(self.arity()).collect());
        };
        let missing = || ReductionError::NoNeutralElement { op: self.clone(), ty: types[0].clone() };
        let lane = |ty: &Type| match ty {
            Type::Scalar(dtype) => Ok(*dtype),
            Type::Vector(dtype, _) if matches!(self, ReductionOp::Sum | ReductionOp::Product) => Ok(*dtype),
            _ => Err(missing()),
        };
        let dtypes = types.iter().map(lane).collect::<Result<Vec<DType>, _>>()?;
        let first = dtypes[0];
        Ok(match self {
            ReductionOp::Sum => vec![number(0.0, first)],
            ReductionOp::Product => vec![number(1.0, first)],
            ReductionOp::Any => vec![Expr::Literal(Literal::Bool(false))],
            ReductionOp::All => vec![Expr::Literal(Literal::Bool(true))],
            ReductionOp::Max => vec![smallest(first).ok_or_else(missing)?],
            ReductionOp::Min => vec![largest(first).ok_or_else(missing)?],
            ReductionOp::ArgMax => vec![smallest(first).ok_or_else(missing)?, number(0.0, dtypes[1])],
            ReductionOp::ArgMin => vec![largest(first).ok_or_else(missing)?, number(0.0, dtypes[1])],
            ReductionOp::SegmentedSum => vec![number(0.0, first), number(0.0, dtypes[1])],
            ReductionOp::SegmentedProduct => vec![number(1.0, first), number(0.0, dtypes[1])],
            ReductionOp::Custom(_) => return Err(missing()),
        })
    }

    /// Combines two partial results, the first of which comes from earlier points. Of equal values the first keeps its index.
    ///
    /// # Errors
    /// [`ReductionError::UnknownOperation`] for a registered reduction that does not exist.
    pub fn combine(&self, left: &[Expr], right: &[Expr]) -> Result<Vec<Expr>, ReductionError> {
        let (a, b) = (left[0].clone(), right[0].clone());
        let pick = |op: CompareOp| {
            let is_better = Expr::compare(op, b.clone(), a.clone());
            vec![Expr::choose(is_better.clone(), b.clone(), a.clone()), Expr::choose(is_better, right[1].clone(), left[1].clone())]
        };
        let segment = |op: BinaryOp| {
            let starts = Expr::compare(CompareOp::NotEqual, right[1].clone(), Expr::int(0));
            let joined = Expr::binary(op, a.clone(), b.clone());
            vec![Expr::choose(starts, b.clone(), joined), Expr::binary(BinaryOp::BitOr, left[1].clone(), right[1].clone())]
        };
        Ok(match self {
            ReductionOp::Sum => vec![Expr::binary(BinaryOp::Add, a, b)],
            ReductionOp::Product => vec![Expr::binary(BinaryOp::Multiply, a, b)],
            ReductionOp::Max => vec![Expr::Max([a, b].into())],
            ReductionOp::Min => vec![Expr::Min([a, b].into())],
            ReductionOp::Any => vec![Expr::binary(BinaryOp::Or, a, b)],
            ReductionOp::All => vec![Expr::binary(BinaryOp::And, a, b)],
            ReductionOp::ArgMax => pick(CompareOp::Greater),
            ReductionOp::ArgMin => pick(CompareOp::Less),
            ReductionOp::SegmentedSum => segment(BinaryOp::Add),
            ReductionOp::SegmentedProduct => segment(BinaryOp::Multiply),
            ReductionOp::Custom(name) => return Err(ReductionError::UnknownOperation { name: name.clone() }),
        })
    }
}

/// A small integer as a literal of that type.
fn number(value: f64, dtype: DType) -> Expr {
    match dtype {
        DType::Bool => Expr::Literal(Literal::Bool(value != 0.0)),
        DType::F32 | DType::C64 => Expr::Literal(Literal::Float(value.to_bits(), Some(DType::F32))),
        DType::F64 | DType::C128 => Expr::Literal(Literal::Float(value.to_bits(), Some(DType::F64))),
        integer => Expr::Literal(Literal::Int(value as i128, Some(integer))),
    }
}

fn smallest(dtype: DType) -> Option<Expr> {
    extreme(dtype, f64::NEG_INFINITY, |(least, _)| least)
}

fn largest(dtype: DType) -> Option<Expr> {
    extreme(dtype, f64::INFINITY, |(_, most)| most)
}

fn extreme(dtype: DType, float: f64, integer: fn((i128, i128)) -> i128) -> Option<Expr> {
    match dtype {
        DType::F32 | DType::F64 => Some(Expr::Literal(Literal::Float(float.to_bits(), Some(dtype)))),
        DType::Bool | DType::C64 | DType::C128 => None,
        _ => dtype.integer_range().map(|range| Expr::Literal(Literal::Int(integer(range), Some(dtype)))),
    }
}

impl std::fmt::Display for ReductionOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ReductionOp::Sum => "sum",
            ReductionOp::Product => "product",
            ReductionOp::Max => "max",
            ReductionOp::Min => "min",
            ReductionOp::Any => "any",
            ReductionOp::All => "all",
            ReductionOp::ArgMax => "argmax",
            ReductionOp::ArgMin => "argmin",
            ReductionOp::SegmentedSum => "segmented_sum",
            ReductionOp::SegmentedProduct => "segmented_product",
            ReductionOp::Custom(name) => name,
        })
    }
}
