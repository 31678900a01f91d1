//! Expressions and instructions as values that compose: `Expr::var("a").at(["i"]) + 1`.

use std::ops::{Add, BitAnd, Mul, Rem, Shr, Sub};
use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::Name;

use super::{
    Atomicity, BinaryOp, CompareOp, Expr, Instruction, InstructionKind, Literal, Reduction, ReductionOp, SubArray, SyncScope,
    TemporaryType, Type,
};

impl From<i64> for Expr {
    fn from(value: i64) -> Expr {
        Expr::int(value)
    }
}

impl From<i32> for Expr {
    fn from(value: i32) -> Expr {
        Expr::int(value.into())
    }
}

impl From<usize> for Expr {
    fn from(value: usize) -> Expr {
        Expr::Literal(Literal::Int(value as i128, None))
    }
}

/// That variable.
impl From<&Name> for Expr {
    fn from(name: &Name) -> Expr {
        Expr::Variable(name.clone())
    }
}

/// That variable.
impl From<&str> for Expr {
    fn from(name: &str) -> Expr {
        Expr::var(name)
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident $op:ident;)*) => {$(
        impl<T: Into<Expr>> $operator<T> for Expr {
            type Output = Expr;

            fn $method(self, other: T) -> Expr {
                Expr::binary(BinaryOp::$op, self, other.into())
            }
        }
    )*};
}

operators! {
    Add add Add;
    Sub sub Subtract;
    Mul mul Multiply;
    Rem rem Modulo;
    Shr shr ShiftRight;
    BitAnd bitand BitAnd;
}

impl Expr {
    /// `self[indices]`.
    ///
    /// ```
    /// use parloop_loop::syntax::Expr;
    /// let entry = Expr::var("a").at([Expr::var("i") * 2 + "k", Expr::int(0)]);
    /// assert_eq!((entry % 3).to_string(), "a[i*2 + k, 0] % 3");
    /// ```
    pub fn at(self, indices: impl IntoIterator<Item = impl Into<Expr>>) -> Expr {
        Expr::Subscript(Arc::new(self), indices.into_iter().map(Into::into).collect())
    }

    /// `self // divisor`, towards minus infinity.
    pub fn floor_divide(self, divisor: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::FloorDivide, self, divisor.into())
    }

    /// `self == other`.
    pub fn equals(self, other: impl Into<Expr>) -> Expr {
        Expr::compare(CompareOp::Equal, self, other.into())
    }

    /// `self >= other`.
    pub fn at_least(self, other: impl Into<Expr>) -> Expr {
        Expr::compare(CompareOp::GreaterEqual, self, other.into())
    }

    /// `self and other`.
    pub fn and(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::And, self, other.into())
    }

    /// `min(self, other)`.
    pub fn min(self, other: impl Into<Expr>) -> Expr {
        Expr::Min([self, other.into()].into())
    }

    /// `max(self, other)`.
    pub fn max(self, other: impl Into<Expr>) -> Expr {
        Expr::Max([self, other.into()].into())
    }

    /// `sum(iname, self)` and similar.
    pub fn reduced(self, op: ReductionOp, iname: impl Into<Name>) -> Expr {
        Expr::Reduction(Arc::new(Reduction { op, inames: vec![iname.into()], operands: vec![self], simultaneous: false }))
    }

    /// `[inames]: array[indices]`: part of an array, for a call.
    pub fn sub_array(inames: Vec<Name>, array: impl Into<Name>, indices: impl IntoIterator<Item = Expr>) -> Expr {
        Expr::SubArray(Arc::new(SubArray { inames, array: array.into(), indices: indices.into_iter().collect() }))
    }
}

impl Instruction {
    /// Runs after exactly these instructions.
    pub fn after(mut self, ids: impl IntoIterator<Item = impl Into<Name>>) -> Instruction {
        self.depends_on.extend(ids.into_iter().map(Into::into));
        self.depends_on_is_final = true;
        self
    }

    /// Runs in exactly these inames.
    pub fn within(mut self, inames: impl IntoIterator<Item = impl Into<Name>>) -> Instruction {
        self.within_inames.extend(inames.into_iter().map(Into::into));
        self.within_inames_is_final = true;
        self
    }

    /// Runs only where the condition holds.
    pub fn when(mut self, condition: Option<Expr>) -> Instruction {
        self.predicates.extend(condition);
        self
    }

    /// Needs no barrier of that scope with instructions whose ids match the pattern.
    pub fn without_barriers(mut self, ids: impl Into<Name>, scope: SyncScope) -> Instruction {
        self.nosync.insert((ids.into(), scope));
        self
    }

    /// An assignment that declares its left side as a number of that type; others stay as they are.
    pub fn declaring(mut self, dtype: DType) -> Instruction {
        if let InstructionKind::Assign(assignment) = &mut self.kind {
            assignment.declares = Some(TemporaryType::Given(Type::Scalar(dtype)));
        }
        self
    }

    /// An assignment whose write is atomic; others stay as they are.
    pub fn atomic(mut self, atomicity: Option<Atomicity>) -> Instruction {
        if let InstructionKind::Assign(assignment) = &mut self.kind {
            assignment.atomic = atomicity;
        }
        self
    }
}
