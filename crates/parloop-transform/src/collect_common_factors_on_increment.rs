//! `collect_common_factors_on_increment`: multiplies by common factors of all terms of an accumulation once, where the sum is used.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_analysis::dependence::Dependences;
use parloop_analysis::facts::Facts;
use parloop_analysis::infer;
use parloop_device::DType;
use parloop_ir::names::Near;
use parloop_ir::program::Program;
use parloop_ir::syntax::{Assignment, BinaryOp, Expr, Instruction, InstructionKind, Literal, LoopKernel, Type};
use parloop_isl::{IslError, Name};

use super::arrays::type_of_temporary;

/// Why factors cannot be collected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CollectFactorsError {
    /// Unknown name.
    #[error("kernel `{kernel}` has no temporary `{variable}`{near}; only sums in temporaries can be changed")]
    UnknownTemporary {
        /// The kernel.
        kernel: Name,
        /// The name.
        variable: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// No instruction adds to it.
    #[error("no instruction of kernel `{kernel}` adds to `{variable}`")]
    NoIncrement {
        /// The kernel.
        kernel: Name,
        /// The variable.
        variable: Name,
    },
    /// A value that is neither 0 nor a sum.
    #[error("`{instruction}` sets `{variable}` to `{value}`, which is neither 0 nor `{variable}` plus a term")]
    NotIncrement {
        /// The variable.
        variable: Name,
        /// The instruction.
        instruction: Name,
        /// What it is set to.
        value: String,
    },
    /// A use that cannot be multiplied.
    #[error("`{variable}` {what}, where it cannot be multiplied by the factors")]
    NotScalable {
        /// The variable.
        variable: Name,
        /// How it is used.
        what: String,
    },
    /// Without the factors another type might be inferred.
    #[error("the type of `{variable}` is unknown; declare it, since it would be inferred from the remaining terms")]
    UnknownType {
        /// The variable.
        variable: Name,
    },
    /// The solver failed.
    #[error(transparent)]
    Isl(#[from] IslError),
}

/// Moves the common factors of all terms added to a temporary to the uses of the sum. Only factors that are the same for all terms of a sum
/// are moved. Floating-point results may round differently.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::collect_common_factors_on_increment;
/// let text = "<float64>s = 0 {id=s, inames=i}\ns = s + w[i]*a[i, j]*x[j] {id=add, dep=s}\ny[i] = s {dep=add}";
/// let program = make_kernel("{[i, j]: 0<=i, j<n}", text)?;
/// let kernel = collect_common_factors_on_increment(program.entry().unwrap(), &"s".into())?;
/// assert_eq!(kernel.instructions[1].kind.to_string(), "s = s + a[i, j]*x[j]");
/// assert_eq!(kernel.instructions[2].kind.to_string(), "y[i] = s*w[i]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CollectFactorsError`].
pub fn collect_common_factors_on_increment(kernel: &LoopKernel, variable: &Name) -> Result<LoopKernel, CollectFactorsError> {
    if !kernel.temporaries.contains_key(variable) {
        let near = Near::of(variable, kernel.temporaries.keys());
        return Err(CollectFactorsError::UnknownTemporary { kernel: kernel.name.clone(), variable: variable.clone(), near });
    }
    check_uses(kernel, variable)?;
    let mut common: Option<Vec<Expr>> = None;
    for instruction in kernel.instructions.iter().filter(|instruction| instruction.writes().contains(variable)) {
        match change_of(instruction, variable)? {
            Change::Zero => {}
            Change::Add(terms) => {
                for (_, term) in &terms {
                    let factors = factors_of(term);
                    common = Some(match common {
                        None => factors,
                        Some(known) => shared(known, &factors),
                    });
                }
            }
        }
    }
    let Some(mut common) = common else {
        return Err(CollectFactorsError::NoIncrement { kernel: kernel.name.clone(), variable: variable.clone() });
    };
    // A variable that is written may have another value where the sum is used.
    let written: BTreeSet<Name> = kernel.instructions.iter().flat_map(|instruction| instruction.writes()).collect();
    common.retain(|factor| factor.variables().is_disjoint(&written) && factor.reduction_inames().is_empty());
    let ty = type_of_sum(kernel, variable)?;
    let mut usable = Vec::with_capacity(common.len());
    for factor in common {
        if !rounds(kernel, ty.as_ref(), &factor) && is_one_for_each_sum(kernel, variable, &factor)? {
            usable.push(factor);
        }
    }
    let common = usable;
    if common.is_empty() {
        return Ok(kernel.clone());
    }
    let mut result = kernel.clone();
    result.temporaries.entry(variable.clone()).and_modify(|temporary| temporary.ty = ty);
    for instruction in &mut result.instructions {
        let is_writer = instruction.writes().contains(variable);
        if is_writer {
            if let (Change::Add(terms), InstructionKind::Assign(assignment)) = (change_of(instruction, variable)?, &instruction.kind) {
                let mut rhs = assignment.lhs.clone();
                for (op, term) in terms {
                    rhs = Expr::binary(op, rhs, product(without(factors_of(&term), &common)));
                }
                let kind = InstructionKind::Assign(Assignment { rhs, ..assignment.clone() });
                *instruction = Arc::new(Instruction { kind, ..(**instruction).clone() });
            }
        } else if instruction.reads().contains(variable) {
            let scale = |expr: &Expr| scaled(expr, variable, &common);
            *instruction = Arc::new(instruction.map_exprs(&mut |expr| scale(expr)));
        }
    }
    Ok(result)
}

/// What an instruction does to the variable.
enum Change {
    Zero,
    /// Terms that are added or subtracted.
    Add(Vec<(BinaryOp, Expr)>),
}

fn change_of(instruction: &Instruction, variable: &Name) -> Result<Change, CollectFactorsError> {
    let wrong =
        |value: String| CollectFactorsError::NotIncrement { variable: variable.clone(), instruction: instruction.id.clone(), value };
    let InstructionKind::Assign(assignment) = &instruction.kind else { return Err(wrong("a call".into())) };
    let is_zero = match &assignment.rhs {
        Expr::Literal(Literal::Int(0, _)) => true,
        Expr::Literal(Literal::Float(bits, _)) => f64::from_bits(*bits) == 0.0,
        _ => false,
    };
    if is_zero {
        return Ok(Change::Zero);
    }
    let mut terms = Vec::new();
    collect(&assignment.rhs, BinaryOp::Add, &mut terms);
    let own = terms.iter().position(|(op, term)| *op == BinaryOp::Add && *term == assignment.lhs);
    let is_used = |term: &Expr| term.variables().contains(variable);
    match own {
        Some(at) => {
            terms.remove(at);
            match terms.iter().any(|(_, term)| is_used(term)) {
                true => Err(wrong(assignment.rhs.to_string())),
                false => Ok(Change::Add(terms)),
            }
        }
        None => Err(wrong(assignment.rhs.to_string())),
    }
}

/// The terms of nested sums and differences.
fn collect(expr: &Expr, sign: BinaryOp, terms: &mut Vec<(BinaryOp, Expr)>) {
    let other = |op: BinaryOp| if (op == BinaryOp::Add) == (sign == BinaryOp::Add) { BinaryOp::Add } else { BinaryOp::Subtract };
    match expr {
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), left, right) => {
            collect(left, sign, terms);
            collect(right, other(*op), terms);
        }
        Expr::Chain(chain) if chain.rest.iter().all(|(op, _)| matches!(op, BinaryOp::Add | BinaryOp::Subtract)) => {
            collect(&chain.first, sign, terms);
            chain.rest.iter().for_each(|(op, term)| collect(term, other(*op), terms));
        }
        _ => terms.push((sign, expr.clone())),
    }
}

/// The factors of nested products.
fn factors_of(expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::Binary(BinaryOp::Multiply, left, right) => factors_of(left).into_iter().chain(factors_of(right)).collect(),
        Expr::Chain(chain) if chain.rest.iter().all(|(op, _)| *op == BinaryOp::Multiply) => {
            std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, factor)| factor)).flat_map(factors_of).collect()
        }
        _ => vec![expr.clone()],
    }
}

/// The factors that both have, as often as both have them.
fn shared(known: Vec<Expr>, factors: &[Expr]) -> Vec<Expr> {
    let mut left = factors.to_vec();
    known.into_iter().filter(|factor| left.iter().position(|other| other == factor).map(|at| left.remove(at)).is_some()).collect()
}

fn without(mut factors: Vec<Expr>, common: &[Expr]) -> Vec<Expr> {
    for factor in common {
        if let Some(at) = factors.iter().position(|other| other == factor) {
            factors.remove(at);
        }
    }
    factors
}

fn product(factors: Vec<Expr>) -> Expr {
    factors.into_iter().reduce(|left, right| Expr::binary(BinaryOp::Multiply, left, right)).unwrap_or_else(|| Expr::int(1))
}

/// The type of the sum: without the factors another one might be inferred.
fn type_of_sum(kernel: &LoopKernel, variable: &Name) -> Result<Option<Type>, CollectFactorsError> {
    let known = type_of_temporary(kernel, variable);
    // loopy infers the type of what is left.
    match known.is_some() || kernel.options.is_lenient() {
        true => Ok(known),
        false => Err(CollectFactorsError::UnknownType { variable: variable.clone() }),
    }
}

/// Whether a sum of integers would be made of other numbers.
fn rounds(kernel: &LoopKernel, sum: Option<&Type>, factor: &Expr) -> bool {
    let is_integer = |ty: &Type| ty.scalar().is_some_and(DType::is_integer);
    let is_known = infer::type_of(&Program::empty(), kernel, factor).is_ok_and(|ty| is_integer(&ty));
    sum.is_some_and(is_integer) && !is_known
}

/// Whether a factor is the same for all terms between a zero and a use of the sum.
fn is_one_for_each_sum(kernel: &LoopKernel, variable: &Name, factor: &Expr) -> Result<bool, CollectFactorsError> {
    let inames: BTreeSet<Name> = factor.variables().into_iter().filter(|name| kernel.inames.contains_key(name)).collect();
    let touches = |instruction: &&Arc<Instruction>| instruction.writes().contains(variable) || instruction.reads().contains(variable);
    if !kernel.instructions.iter().filter(touches).all(|instruction| inames.is_subset(&instruction.within_inames)) {
        return Ok(false);
    }
    Ok(inames.is_empty() || Dependences::of(&Facts::of(kernel)).carried(variable, &inames)?.is_none())
}

/// All uses of the variable must be numbers in expressions.
fn check_uses(kernel: &LoopKernel, variable: &Name) -> Result<(), CollectFactorsError> {
    let refused = |what: String| Err(CollectFactorsError::NotScalable { variable: variable.clone(), what });
    if let Some(rule) = kernel.substitutions.values().find(|rule| rule.body.variables().contains(variable)) {
        return refused(format!("is used in rule `{}`", rule.name));
    }
    if let Some(domain) = kernel.domains.iter().find(|domain| domain.params().contains(variable)) {
        return refused(format!("bounds loops in {domain}"));
    }
    for instruction in &kernel.instructions {
        let is_whole = |part: &Expr| match part {
            Expr::SubArray(part) => part.array == *variable,
            Expr::LinearSubscript(aggregate, _) => **aggregate == Expr::var(variable),
            _ => false,
        };
        if instruction.exprs().into_iter().any(|expr| expr.any(&mut |part| is_whole(part))) {
            return refused(format!("is passed to a call in `{}`", instruction.id));
        }
        let is_condition = instruction.predicates.iter().any(|predicate| predicate.variables().contains(variable));
        if is_condition && instruction.writes().contains(variable) {
            return refused(format!("is a condition of `{}`, which adds to it", instruction.id));
        }
    }
    Ok(())
}

fn scaled(expr: &Expr, variable: &Name, common: &[Expr]) -> Expr {
    let is_sum = match expr {
        Expr::Variable(name) => name == variable,
        Expr::Subscript(aggregate, _) => **aggregate == Expr::var(variable),
        _ => false,
    };
    match is_sum {
        true => common.iter().fold(expr.clone(), |left, factor| Expr::binary(BinaryOp::Multiply, left, factor.clone())),
        false => expr.map_children(&mut |child| scaled(child, variable, common)),
    }
}
