//! Memory accesses: every read and write of a variable, with its indices and conditions.

use parloop_ir::syntax::{
    ArgumentKind, Atomicity, BinaryOp, Expr, Instruction, InstructionKind, LoopKernel, Type, UnaryOp, lane, lane_name,
};
use parloop_isl::Name;

/// One read or write in an instruction.
#[derive(Clone, Debug)]
pub struct Access<'k> {
    /// The variable; `p.x` for a field of an object.
    pub name: Name,
    /// Its indices; none for a whole variable.
    pub indices: Option<&'k [Expr]>,
    /// The component of the element, if it is one of a vector or record.
    pub component: Option<Name>,
    /// The inames that sweep it.
    pub swept: &'k [Name],
    /// Whether it is a write.
    pub write: bool,
    /// Part of an atomic write.
    pub atomic: bool,
    /// Part of an atomic update that commutes with others of its kind.
    pub update: Option<Update>,
    /// The conditions under which it happens: `(condition, value)`.
    pub conditions: Vec<(&'k Expr, bool)>,
    /// As written in the instruction; `None` if C code declares it by name.
    pub expr: Option<&'k Expr>,
}

/// An update `x = x op e` that commutes with others of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// By `+`, `*`, `&`, `|`, `^`, `and` or `or`; `-` is a sum too.
    By(BinaryOp),
    /// By `min`.
    Min,
    /// By `max`.
    Max,
}

impl Access<'_> {
    /// Whether two accesses are of different components of elements.
    pub fn is_beside(&self, other: &Access<'_>) -> bool {
        matches!((&self.component, &other.component), (Some(one), Some(two)) if one != two)
    }

    /// Whether a write sets all that a read of the same element sees.
    pub fn sets(&self, read: &Access<'_>) -> bool {
        self.component.is_none() || self.component == read.component
    }
}

impl Update {
    /// Classifies `lhs = rhs`, and finds where it reads its left side.
    fn of<'k>(lhs: &Expr, rhs: &'k Expr) -> Option<(Update, &'k Expr)> {
        let one_of = |operands: &'k [Expr]| operands.iter().find(|operand| *operand == lhs);
        match rhs {
            Expr::Min(operands) => Some((Update::Min, one_of(operands)?)),
            Expr::Max(operands) => Some((Update::Max, one_of(operands)?)),
            Expr::Binary(op, ..) => {
                let op = if *op == BinaryOp::Subtract { BinaryOp::Add } else { *op };
                use BinaryOp::{Add, And, BitAnd, BitOr, BitXor, Multiply, Or};
                let is_any_order = matches!(op, Add | Multiply | BitAnd | BitOr | BitXor | And | Or);
                Some((Update::By(op), is_any_order.then(|| operand_of(op, lhs, rhs))??))
            }
            Expr::Chain(chain) => {
                let op =
                    if matches!(chain.rest.first()?.0, BinaryOp::Add | BinaryOp::Subtract) { BinaryOp::Add } else { BinaryOp::Multiply };
                Some((Update::By(op), operand_of(op, lhs, rhs)?))
            }
            _ => None,
        }
    }

    /// Whether two accesses belong to updates that commute.
    pub fn commute(one: &Access<'_>, other: &Access<'_>) -> bool {
        one.update.is_some() && one.update == other.update
    }
}

/// The operand of nested operations of one kind that is the left side; not one that is subtracted or a divisor.
fn operand_of<'k>(op: BinaryOp, lhs: &Expr, rhs: &'k Expr) -> Option<&'k Expr> {
    let takes = |other: BinaryOp| other == op || (op, other) == (BinaryOp::Add, BinaryOp::Subtract);
    match rhs {
        rhs if rhs == lhs => Some(rhs),
        Expr::Binary(other, left, right) if takes(*other) => {
            let right = (*other == op).then(|| operand_of(op, lhs, right));
            operand_of(op, lhs, left).or_else(|| right.flatten())
        }
        Expr::Chain(chain) if chain.rest.iter().all(|(other, _)| takes(*other)) => {
            let rest = chain.rest.iter().filter(|(other, _)| *other == op).map(|(_, operand)| operand);
            std::iter::once(&chain.first).chain(rest).find_map(|operand| operand_of(op, lhs, operand))
        }
        _ => None,
    }
}

/// All accesses of an instruction of a kernel, in no particular order. Reads include inames and parameters.
pub fn accesses<'k>(kernel: &'k LoopKernel, instruction: &'k Instruction) -> Vec<Access<'k>> {
    let mut walk = Walk { kernel, found: Vec::new(), conditions: Vec::new() };
    for predicate in &instruction.predicates {
        walk.reads(predicate);
    }
    walk.conditions.extend(instruction.predicates.iter().map(|predicate| (predicate, true)));
    for lhs in instruction.lhs() {
        walk.write(lhs);
    }
    match &instruction.kind {
        InstructionKind::Assign(assignment) => {
            walk.reads(&assignment.rhs);
            if let Some(kind) = assignment.atomic {
                let update = Update::of(&assignment.lhs, &assignment.rhs).filter(|_| kind == Atomicity::Update);
                walk.mark_atomic(&assignment.lhs, kind == Atomicity::Update, update);
            }
        }
        InstructionKind::Call(call) => walk.reads(&call.rhs),
        InstructionKind::C(code) => {
            code.bindings.iter().for_each(|(_, expr)| walk.reads(expr));
            for name in &code.reads {
                walk.found.push(Access {
                    name: name.clone(),
                    indices: None,
                    component: None,
                    swept: &[],
                    write: false,
                    atomic: false,
                    update: None,
                    conditions: walk.conditions.clone(),
                    expr: None,
                });
            }
        }
        InstructionKind::Barrier { .. } | InstructionKind::Nop => {}
    }
    walk.found
}

/// The name that identifies memory: a variable, or a field of an object.
fn path(expr: &Expr) -> Option<Name> {
    match expr {
        Expr::Variable(name) => Some(name.clone()),
        Expr::Lookup(aggregate, field) => Some(format!("{}.{field}", path(aggregate)?).into()),
        Expr::Subscript(aggregate, _) => path(aggregate),
        _ => None,
    }
}

/// The components of elements of a type, as accesses name them; none for numbers.
pub fn component_names(ty: &Type) -> Vec<Name> {
    match ty {
        Type::Vector(_, lanes) => (0..*lanes).map(|place| lane_name(place, 4)).collect(),
        Type::Record(record) => record.fields().iter().map(|field| component_name(&field.name)).collect(),
        _ => Vec::new(),
    }
}

/// The name of a component in accesses: one for each lane of a vector, `x` for `s0`.
fn component_name(field: &Name) -> Name {
    lane(field, 16).map_or_else(|| field.clone(), |place| lane_name(place, 4))
}

struct Walk<'k> {
    kernel: &'k LoopKernel,
    found: Vec<Access<'k>>,
    conditions: Vec<(&'k Expr, bool)>,
}

impl<'k> Walk<'k> {
    fn push(&mut self, expr: &'k Expr, name: Name, indices: Option<&'k [Expr]>, write: bool) {
        let swept: &[Name] = match expr {
            Expr::SubArray(part) => &part.inames,
            _ => &[],
        };
        self.found.push(Access {
            name,
            indices,
            component: None,
            swept,
            write,
            atomic: false,
            update: None,
            conditions: self.conditions.clone(),
            expr: Some(expr),
        });
    }

    fn write(&mut self, lhs: &'k Expr) {
        self.access(lhs, true);
    }

    fn reads(&mut self, expr: &'k Expr) {
        self.access(expr, false);
    }

    fn access(&mut self, expr: &'k Expr, write: bool) {
        match expr {
            Expr::Variable(name) => self.push(expr, name.clone(), Some(&[]), write),
            Expr::Subscript(aggregate, indices) => {
                match path(aggregate) {
                    Some(name) => {
                        // `p.x[i].y[j]`: the inner indices also narrow the location, but are left out; the whole field is the safe answer.
                        let simple = !aggregate.any(&mut |part| matches!(part, Expr::Subscript(..)));
                        self.push(expr, name, simple.then_some(&**indices), write);
                        self.indices_inside(aggregate);
                    }
                    None => self.access(aggregate, write),
                }
                indices.iter().for_each(|index| self.reads(index));
            }
            Expr::LinearSubscript(aggregate, index) => {
                match path(aggregate) {
                    Some(name) => self.push(expr, name, None, write),
                    None => self.access(aggregate, write),
                }
                self.reads(index);
            }
            Expr::Lookup(aggregate, field) if !self.is_of_object(aggregate) => {
                let first = self.found.len();
                self.access(aggregate, write);
                // The element itself is noted first.
                if let Some(access) = self.found.get_mut(first).filter(|access| access.expr == Some(&**aggregate)) {
                    access.component = Some(component_name(field));
                }
            }
            Expr::Lookup(aggregate, _) => match path(expr) {
                Some(name) => {
                    self.push(expr, name, Some(&[]), write);
                    self.indices_inside(aggregate);
                }
                None => self.access(aggregate, write),
            },
            Expr::SubArray(part) => {
                self.push(expr, part.array.clone(), Some(&part.indices), write);
                part.indices.iter().for_each(|index| self.reads(index));
            }
            Expr::If(parts) => {
                self.reads(&parts[0]);
                self.under(&parts[0], true, &parts[1]);
                self.under(&parts[0], false, &parts[2]);
            }
            Expr::Binary(BinaryOp::And, left, right) => {
                self.reads(left);
                self.under(left, true, right);
            }
            Expr::Binary(BinaryOp::Or, left, right) => {
                self.reads(left);
                self.under(left, false, right);
            }
            _ => expr.children().into_iter().for_each(|child| self.reads(child)),
        }
    }

    /// Whether a field is one of an object; others are components of vectors, records or complex numbers.
    fn is_of_object(&self, aggregate: &Expr) -> bool {
        let is_object = |name: &Name| {
            let mut arguments = self.kernel.arguments.iter();
            arguments.any(|argument| argument.name == *name && argument.kind == ArgumentKind::Object)
        };
        aggregate.written_name().is_some_and(is_object)
    }

    fn under(&mut self, condition: &'k Expr, value: bool, expr: &'k Expr) {
        self.conditions.push((condition, value));
        self.reads(expr);
        self.conditions.pop();
    }

    fn indices_inside(&mut self, aggregate: &'k Expr) {
        match aggregate {
            Expr::Subscript(inner, indices) => {
                self.indices_inside(inner);
                indices.iter().for_each(|index| self.reads(index));
            }
            Expr::Lookup(inner, _) => self.indices_inside(inner),
            _ => {}
        }
    }

    fn mark_atomic(&mut self, lhs: &'k Expr, update: bool, kind: Option<(Update, &'k Expr)>) {
        for access in &mut self.found {
            access.atomic |= access.expr == Some(lhs);
            // Other reads of the variable are separate.
            let is_part = |operand: &Expr| access.expr.is_some_and(|expr| std::ptr::eq(expr, operand) || (access.write && expr == lhs));
            access.update = kind.filter(|(_, operand)| is_part(operand)).map(|(update, _)| update);
        }
        if update && !self.found.iter().any(|access| !access.write && access.expr == Some(lhs)) {
            let written = self.found.iter().find(|access| access.write).cloned();
            self.found.extend(written.map(|access| Access { write: false, ..access }));
        }
    }
}

/// Affine expressions that are not 0 where a condition has the value; like [`constraints_of`], they hold only if their names are integers.
pub fn gaps_of(condition: &Expr, value: bool, found: &mut Vec<parloop_isl::Affine>) {
    use parloop_ir::affine::to_affine;
    use parloop_ir::syntax::CompareOp::{Equal, NotEqual};
    match (condition, value) {
        (Expr::Unary(UnaryOp::Not, operand), _) => gaps_of(operand, !value, found),
        (Expr::Binary(BinaryOp::And, left, right), true) | (Expr::Binary(BinaryOp::Or, left, right), false) => {
            gaps_of(left, value, found);
            gaps_of(right, value, found);
        }
        (Expr::Compare(Equal, left, right), false) | (Expr::Compare(NotEqual, left, right), true) => {
            if let (Some(left), Some(right)) = (to_affine(left), to_affine(right)) {
                found.extend(left.sub(&right));
            }
        }
        (Expr::Compare(..), _) => {}
        // A number as a condition is true where it is not 0.
        (other, true) => found.extend(to_affine(other)),
        _ => {}
    }
}

/// The affine constraints that hold where a condition has the value; fewer where a part is not affine. They hold only if their names are
/// integers ([`Facts::is_integer`](crate::facts::Facts::is_integer)).
pub fn constraints_of(condition: &Expr, value: bool, found: &mut Vec<parloop_isl::Constraint>) {
    use parloop_ir::syntax::CompareOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    use parloop_isl::{Affine, Constraint};
    match (condition, value) {
        (Expr::Unary(UnaryOp::Not, operand), _) => constraints_of(operand, !value, found),
        (Expr::Binary(BinaryOp::And, left, right), true) | (Expr::Binary(BinaryOp::Or, left, right), false) => {
            constraints_of(left, value, found);
            constraints_of(right, value, found);
        }
        (Expr::Compare(op, left, right), _) => {
            let (Some(left), Some(right)) = (parloop_ir::affine::to_affine(left), parloop_ir::affine::to_affine(right)) else { return };
            let op = if value {
                *op
            } else {
                match op {
                    Equal => NotEqual,
                    NotEqual => Equal,
                    Less => GreaterEqual,
                    LessEqual => Greater,
                    Greater => LessEqual,
                    GreaterEqual => Less,
                }
            };
            let less = |small: &Affine, large: &Affine, by: i64| large.sub(small)?.sub(&Affine::constant(by));
            let constraint = match op {
                Equal => left.sub(&right).map(Constraint::zero),
                Less => less(&left, &right, 1).map(Constraint::not_negative),
                LessEqual => less(&left, &right, 0).map(Constraint::not_negative),
                Greater => less(&right, &left, 1).map(Constraint::not_negative),
                GreaterEqual => less(&right, &left, 0).map(Constraint::not_negative),
                NotEqual => return,
            };
            found.extend(constraint);
        }
        // A number as a condition is false where it is 0.
        (other, false) => found.extend(parloop_ir::affine::to_affine(other).map(Constraint::zero)),
        (other, true) => {
            if parloop_ir::affine::to_affine(other).is_some_and(|affine| affine.as_constant() == Some(0)) {
                found.push(Constraint::not_negative(Affine::constant(-1)));
            }
        }
    }
}
