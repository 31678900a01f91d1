//! Indices that are in bounds or not depending on the numbers of a call, as formulas: each call checks them before anything runs.

use std::collections::BTreeMap;
use std::fmt::Write;

use parloop_codegen::check::CallBound;
use parloop_ir::affine::from_affine;
use parloop_isl::{Affine, Constraint, ConstraintKind, Name};

use super::RunError;
use super::formula::{Formula, Values};

/// An index that is out of bounds for some numbers of a call.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    bound: CallBound,
    /// It is outside where all conditions of one of these lists hold.
    outside: Vec<Vec<(Formula, ConstraintKind)>>,
    /// The numbers that decide.
    numbers: Vec<(Name, usize)>,
}

impl Reach {
    pub(super) fn of(bound: &CallBound, place: impl Fn(&Name) -> Option<usize>) -> Result<Reach, RunError> {
        let condition = |constraint: &Constraint| {
            let formula = Formula::of(&from_affine(&constraint.affine), &mut |name| place(name))
                .map_err(|part| RunError::NoFormula { argument: bound.access.as_str().into(), part: part.to_string() })?;
            Ok((formula, constraint.kind))
        };
        let piece = |piece: &Vec<Constraint>| piece.iter().map(condition).collect::<Result<Vec<_>, RunError>>();
        let outside = bound.outside.pieces().iter().map(piece).collect::<Result<_, _>>()?;
        let numbers = bound.points.params().iter().filter_map(|name| Some((name.clone(), place(name)?))).collect();
        Ok(Reach { bound: bound.clone(), outside, numbers })
    }

    /// Checks that the index is inside for those numbers.
    pub(super) fn check(&self, kernel: &Name, values: &Values) -> Result<(), RunError> {
        for piece in &self.outside {
            let mut all = true;
            for (formula, kind) in piece {
                let holds = match (formula.evaluate(values), kind) {
                    (Some(value), ConstraintKind::Zero) => value == 0,
                    (Some(value), ConstraintKind::NotNegative) => value >= 0,
                    // An unknown number is reported as missing elsewhere.
                    (None, _) if self.numbers.iter().any(|(_, place)| values[*place].is_none()) => return Ok(()),
                    (None, _) => {
                        let (kernel, argument) = (kernel.clone(), self.bound.access.as_str().into());
                        return Err(RunError::Overflow { kernel, argument });
                    }
                };
                all &= holds;
            }
            if all {
                return Err(self.out_of_bounds(kernel, values));
            }
        }
        Ok(())
    }

    fn out_of_bounds(&self, kernel: &Name, values: &Values) -> RunError {
        let known: BTreeMap<&Name, i64> = self.numbers.iter().filter_map(|(name, place)| Some((name, values[*place]?))).collect();
        let CallBound { access, instruction, axis, index, length, points, .. } = &self.bound;
        let fixed: Vec<Constraint> = known
            .iter()
            .filter_map(|(name, value)| Affine::name((*name).clone()).sub(&Affine::constant(*value)).ok().map(Constraint::zero))
            .collect();
        let point = points.constrain(&fixed).and_then(|points| points.sample()).ok().flatten().unwrap_or_default();
        let at = |affine: &Affine| affine.evaluate(&|name| known.get(name).copied().or_else(|| point.get(name).copied()));
        let mut numbers = String::new();
        for (name, value) in &known {
            let comma = if numbers.is_empty() { "" } else { ", " };
            let _ = write!(numbers, "{comma}{name} = {value}");
        }
        RunError::OutOfBounds {
            kernel: kernel.clone(),
            access: access.clone(),
            instruction: instruction.clone(),
            axis: *axis,
            index: at(index).unwrap_or_default(),
            length: length.as_ref().and_then(at),
            numbers,
        }
    }
}
