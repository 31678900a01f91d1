//! Slices and whole arrays in calls: `y[:, 0] = f(x)` becomes `[i]: y[i, 0] = f([i_0]: x[i_0])` with separate inames.

use std::collections::BTreeMap;
use std::sync::Arc;

use parloop_ir::affine::{from_affine, to_affine};
use parloop_ir::names::UniqueNames;
use parloop_ir::syntax::{Assignment, Call, CallInstruction, Expr, Iname, Instruction, InstructionKind, Shape, SubArray};
use parloop_isl::{Affine, Constraint, Name, Set};

use super::checks::layouts;
use super::error::CreateError;
use super::making::Making;

/// Turns slices, and arrays that are passed or assigned whole, into sub-arrays, and the assignments into call instructions.
pub(super) fn realise_slices(making: &mut Making) -> Result<(), CreateError> {
    let mut shapes: BTreeMap<Name, Shape> = BTreeMap::new();
    for (name, layout) in layouts(&making.kernel) {
        shapes.insert(name.clone(), layout.shape.clone());
    }
    let mut names = UniqueNames::of_variables(&making.kernel);
    let mut domains = Vec::new();
    for index in 0..making.kernel.instructions.len() {
        let instruction = &making.kernel.instructions[index];
        if !instruction
            .exprs()
            .into_iter()
            .any(|expr| expr.any(&mut |inner| matches!(inner, Expr::Call(_) | Expr::Slice(_) | Expr::SubArray(_))))
        {
            continue;
        }
        let mut realiser = Realiser { making, shapes: &shapes, names: &mut names, domains: &mut domains, instruction };
        let kind = realiser.kind(&instruction.kind)?;
        for predicate in &instruction.predicates {
            realiser.refuse_slices(predicate)?;
        }
        if kind != instruction.kind {
            Arc::make_mut(&mut making.kernel.instructions[index]).kind = kind;
        }
    }
    for domain in &domains {
        making.kernel.inames.extend(domain.dims().iter().map(|iname| (iname.clone(), Iname::default())));
    }
    making.kernel.domains.extend(domains);
    Ok(())
}

struct Realiser<'a> {
    making: &'a Making,
    shapes: &'a BTreeMap<Name, Shape>,
    names: &'a mut UniqueNames,
    domains: &'a mut Vec<Set>,
    instruction: &'a Instruction,
}

impl Realiser<'_> {
    fn kind(&mut self, kind: &InstructionKind) -> Result<InstructionKind, CreateError> {
        match kind {
            InstructionKind::Assign(assignment) => self.assignment(assignment),
            InstructionKind::Call(call) => {
                let lhs = call.lhs.iter().map(|lhs| self.left_side(lhs, &call.rhs)).collect::<Result<_, _>>()?;
                Ok(InstructionKind::Call(CallInstruction { lhs, rhs: self.visit(&call.rhs)?, declares: call.declares.clone() }))
            }
            other => Ok(other.clone()),
        }
    }

    fn assignment(&mut self, assignment: &Assignment) -> Result<InstructionKind, CreateError> {
        let lhs = self.left_side(&assignment.lhs, &assignment.rhs)?;
        let rhs = self.visit(&assignment.rhs)?;
        let takes_arrays = matches!(&rhs, Expr::Call(call) if call.args.iter().any(|arg| matches!(arg, Expr::SubArray(_))));
        match (&lhs, &rhs) {
            (Expr::SubArray(_), Expr::Call(_)) => {}
            (Expr::SubArray(_), _) => return Err(CreateError::ArrayAssignment { instruction: self.instruction.id.clone() }),
            _ if takes_arrays && assignment.atomic.is_none() => {}
            _ => return Ok(InstructionKind::Assign(Assignment { lhs, rhs, ..assignment.clone() })),
        }
        Ok(InstructionKind::Call(CallInstruction { lhs: vec![lhs], rhs, declares: vec![assignment.declares.clone()] }))
    }

    /// A left side takes an array where the right side is a call.
    fn left_side(&mut self, lhs: &Expr, rhs: &Expr) -> Result<Expr, CreateError> {
        let by_call = matches!(rhs, Expr::Call(call) if !self.is_rule(&call.function));
        match self.part(lhs)? {
            Some(part) if by_call => Ok(part),
            Some(_) if matches!(lhs, Expr::Subscript(..)) => Err(CreateError::ArrayAssignment { instruction: self.instruction.id.clone() }),
            _ => {
                lhs.children().into_iter().try_for_each(|child| self.refuse_slices(child))?;
                Ok(lhs.clone())
            }
        }
    }

    fn is_rule(&self, function: &Name) -> bool {
        self.making.kernel.substitutions.contains_key(function)
    }

    fn visit(&mut self, expr: &Expr) -> Result<Expr, CreateError> {
        match expr {
            Expr::Call(call) if !self.is_rule(&call.function) => {
                let args = call.args.iter().map(|arg| self.argument(arg)).collect::<Result<_, _>>()?;
                let keywords =
                    call.keywords.iter().map(|(name, arg)| Ok((name.clone(), self.argument(arg)?))).collect::<Result<_, CreateError>>()?;
                Ok(Expr::Call(Arc::new(Call { args, keywords, ..(**call).clone() })))
            }
            Expr::Subscript(array, indices) if indices.iter().any(|index| matches!(index, Expr::Slice(_))) => {
                let name = array.written_name().cloned().unwrap_or_else(|| "a".into());
                Err(CreateError::SliceOutsideCall { instruction: self.instruction.id.clone(), name, slice: expr.clone() })
            }
            _ => expr.try_map_children(&mut |child| self.visit(child)),
        }
    }

    fn argument(&mut self, arg: &Expr) -> Result<Expr, CreateError> {
        match self.part(arg)? {
            Some(part) => Ok(part),
            None => self.visit(arg),
        }
    }

    /// The part of an array that a slice, or the name of an array alone, stands for.
    fn part(&mut self, expr: &Expr) -> Result<Option<Expr>, CreateError> {
        match expr {
            Expr::Variable(name) => match self.shapes.get(name) {
                Some(Shape::Known(lengths)) if !lengths.is_empty() => {
                    let whole: Vec<Expr> = lengths.iter().map(|_| Expr::Slice(Arc::new([None, None, None]))).collect();
                    self.sweep(name, &whole).map(Some)
                }
                _ => Ok(None),
            },
            Expr::Subscript(array, indices) if indices.iter().any(|index| matches!(index, Expr::Slice(_))) => match &**array {
                Expr::Variable(name) => self.sweep(name, indices).map(Some),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn sweep(&mut self, array: &Name, indices: &[Expr]) -> Result<Expr, CreateError> {
        let id = || self.instruction.id.clone();
        let Some(Shape::Known(lengths)) = self.shapes.get(array) else {
            return Err(CreateError::SliceOfUnknown { instruction: id(), name: array.clone() });
        };
        if lengths.len() != indices.len() {
            let access = Expr::subscript(array, indices.iter().cloned());
            let (axes, found) = (lengths.len(), indices.len());
            return Err(CreateError::IndexCount { name: array.clone(), axes, found, instruction: id(), access });
        }
        let (mut inames, mut places, mut constraints) = (Vec::new(), Vec::new(), Vec::new());
        for (index, length) in indices.iter().zip(lengths) {
            let Expr::Slice(parts) = index else {
                self.refuse_slices(index)?;
                places.push(index.clone());
                continue;
            };
            let iname = self.names.make("i");
            let (place, limits) = limits(parts, length, &iname).map_err(|wrong| wrong.error(id(), index, length))?;
            inames.push(iname);
            places.push(place);
            constraints.extend(limits);
        }
        self.domains.push(Set::bounded(&inames, constraints));
        Ok(Expr::SubArray(Arc::new(SubArray { inames, array: array.clone(), indices: places })))
    }

    fn refuse_slices(&self, expr: &Expr) -> Result<(), CreateError> {
        let mut found = None;
        expr.visit(&mut |inner| {
            if let Expr::Subscript(array, indices) = inner
                && indices.iter().any(|index| matches!(index, Expr::Slice(_)))
            {
                found = Some((array.written_name().cloned().unwrap_or_else(|| "a".into()), inner.clone()));
            }
        });
        match found {
            Some((name, slice)) => Err(CreateError::SliceOutsideCall { instruction: self.instruction.id.clone(), name, slice }),
            None => Ok(()),
        }
    }
}

/// Why the bounds of a slice are invalid.
enum Wrong {
    Step,
    Negative,
    NotAffine,
}

impl Wrong {
    fn error(self, instruction: Name, slice: &Expr, length: &Expr) -> CreateError {
        let slice = slice.clone();
        match self {
            Wrong::Step => CreateError::SliceStep { instruction, slice },
            Wrong::Negative => CreateError::SliceNegative { instruction, slice },
            Wrong::NotAffine => CreateError::SliceNotAffine { instruction, slice, length: length.clone() },
        }
    }
}

/// `start:stop:step` of an axis: the index for the iname, and what bounds the iname: `0 <= |step| * i < |stop - start|`.
fn limits(parts: &[Option<Expr>; 3], length: &Expr, iname: &Name) -> Result<(Expr, [Constraint; 2]), Wrong> {
    let affine = |expr: &Expr| to_affine(expr).ok_or(Wrong::NotAffine);
    let step = match &parts[2] {
        None => 1,
        Some(step) => {
            affine(step).ok().and_then(|step| step.as_constant()).filter(|&step| step != 0 && step != i64::MIN).ok_or(Wrong::Step)?
        }
    };
    let one = Affine::constant(1);
    let overflow = |_| Wrong::NotAffine;
    let start = match &parts[0] {
        Some(start) => affine(start)?,
        None if step > 0 => Affine::constant(0),
        None => affine(length)?.sub(&one).map_err(overflow)?,
    };
    let stop = match &parts[1] {
        Some(stop) => affine(stop)?,
        None if step > 0 => affine(length)?,
        None => Affine::constant(-1),
    };
    // Downwards, -1 is the place before the first element; anything else below 0 is counted from the end in Python, which isl cannot know.
    let lowest_stop = if step > 0 { 0 } else { -1 };
    if start.as_constant().is_some_and(|start| start < 0) || stop.as_constant().is_some_and(|stop| stop < lowest_stop) {
        return Err(Wrong::Negative);
    }
    let extent = if step > 0 { stop.sub(&start) } else { start.sub(&stop) }.map_err(overflow)?;
    let steps = Affine::name(iname).scale(step.abs()).map_err(overflow)?;
    let below = extent.sub(&steps).and_then(|rest| rest.sub(&one)).map_err(overflow)?;
    let place = Affine::name(iname).scale(step).and_then(|steps| steps.add(&start)).map_err(overflow)?;
    Ok((from_affine(&place), [Constraint::not_negative(Affine::name(iname)), Constraint::not_negative(below)]))
}
