//! Values of vectors: what is computed with them is computed with each lane. OpenCL has most operators for whole vectors.

use parloop_ir::promote::meet;
use parloop_ir::syntax::{BinaryOp, Target, Type, UnaryOp};

use super::LowerError;
use super::lane::{lane_count, lane_of, vector_of};
use super::number::{self, Typed};
use super::scope::Scope;
use super::tree::{Op, Value, ValueKind};

/// What is done with one lane of all operands.
type LaneOperation<'a, Scope> = dyn FnMut(&mut Scope, Vec<Typed>) -> Result<Typed, LowerError> + 'a;

impl Scope<'_> {
    /// The lanes of a vector, which is loaded once; a number as often.
    fn lanes(&mut self, typed: Typed, count: u8) -> Vec<Typed> {
        let weak = typed.weak;
        if let ValueKind::Vector(parts) = typed.value.kind {
            return parts.into_iter().map(|value| Typed { value, weak }).collect();
        }
        let value = self.loaded(typed.value);
        (0..count).map(|lane| Typed { value: lane_of(&value, lane), weak }).collect()
    }

    /// A value whose lanes are used one by one: a vector in memory is loaded once.
    pub(super) fn loaded(&mut self, value: Value) -> Value {
        match value.kind {
            ValueKind::Vector(_) => value,
            ValueKind::Element(..) if lane_count(&value.ty).is_some() && self.conditional == 0 => self.named(value, "vector"),
            _ => self.once(value, "vector"),
        }
    }

    /// An operation on each lane of operands, at least one of which is a vector.
    pub(super) fn each_lane(&mut self, operands: Vec<Typed>, operation: &mut LaneOperation<'_, Self>) -> Result<Typed, LowerError> {
        let count = operands.iter().find_map(|operand| lane_count(&operand.value.ty)).unwrap_or(1);
        if operands.iter().any(|operand| lane_count(&operand.value.ty).is_some_and(|other| other != count)) {
            return Err(self.refused("an operation on vectors of different lengths"));
        }
        let operands: Vec<Vec<Typed>> = operands.into_iter().map(|operand| self.lanes(operand, count)).collect();
        let mut parts = Vec::with_capacity(count.into());
        let mut weak = true;
        for lane in 0..usize::from(count) {
            let part = operation(self, operands.iter().map(|lanes| lanes[lane].clone()).collect())?;
            weak &= part.weak;
            parts.push(part.value);
        }
        Ok(Typed { value: vector_of(parts), weak })
    }

    /// `left op right` where one is a vector.
    pub(super) fn apply_to_lanes(&mut self, op: BinaryOp, left: Typed, right: Typed) -> Result<Typed, LowerError> {
        if let Some(whole) = self.whole(op, &left, &right) {
            return Ok(whole);
        }
        self.each_lane(vec![left, right], &mut |scope, operands| {
            let [left, right] = <[Typed; 2]>::try_from(operands).expect("invariant: two operands");
            scope.apply(op, left, right)
        })
    }

    /// The operation on whole vectors, where the target has it.
    fn whole(&self, op: BinaryOp, left: &Typed, right: &Typed) -> Option<Typed> {
        if self.target != Target::OpenCl {
            return None;
        }
        let lanes = lane_count(&left.value.ty).or(lane_count(&right.value.ty))?;
        let dtype = |typed: &Typed| match typed.value.ty {
            Type::Scalar(dtype) | Type::Vector(dtype, _) => Some(dtype),
            _ => None,
        };
        let literal = |typed: &Typed| typed.value.as_int();
        let (dtype, weak) = meet(dtype(left)?, left.weak, dtype(right)?, right.weak, [literal(left), literal(right)]);
        let op = match op {
            BinaryOp::Add => Op::Add,
            BinaryOp::Subtract => Op::Subtract,
            BinaryOp::Multiply => Op::Multiply,
            BinaryOp::Divide if dtype.is_float() => Op::Divide,
            BinaryOp::BitAnd => Op::BitAnd,
            BinaryOp::BitOr => Op::BitOr,
            BinaryOp::BitXor => Op::BitXor,
            _ => return None,
        };
        let ty = Type::vector(dtype, lanes).filter(|_| !weak)?;
        let (left, right) = (left.clone().to(&ty), right.clone().to(&ty));
        Some(Typed::strong(Value::new(ty, ValueKind::Binary(op, Box::new(left), Box::new(right)))))
    }

    /// `-v`, `~v`.
    pub(super) fn unary_of_lanes(&mut self, op: UnaryOp, operand: Typed) -> Result<Typed, LowerError> {
        self.each_lane(vec![operand], &mut |_, mut operands| {
            let Typed { value, weak } = operands.pop().expect("invariant: one operand");
            Ok(Typed { value: number::unary(op, value), weak })
        })
    }
}
