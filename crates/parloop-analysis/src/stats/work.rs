//! The work of a kernel: operations by kind and type, accesses to arrays, and how much of each array is accessed.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use parloop_device::DType;
use parloop_ir::affine::to_affine;
use parloop_ir::domain::Forest;
use parloop_ir::program::Program;
use parloop_ir::substitution::expand_calls;
use parloop_ir::syntax::{ArgumentKind, BinaryOp, Expr, Instruction, LoopKernel, SubstitutionRule, Type, UnaryOp};
use parloop_isl::{Name, Set};

use super::count::Count;
use super::error::{StatsError, only_numbers};
use crate::infer::TypeReader;

/// A kind of operation, as it is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Operation {
    /// Additions and subtractions.
    Add,
    Multiply,
    Divide,
    Power,
    Shift,
    /// `&`, `|`, `^`, `~`.
    Bits,
    /// The minimum or maximum of two numbers.
    MinMax,
    /// A call to that function.
    Call(Name),
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Add => "add",
            Operation::Multiply => "mul",
            Operation::Divide => "div",
            Operation::Power => "pow",
            Operation::Shift => "shift",
            Operation::Bits => "bw",
            Operation::MinMax => "maxmin",
            Operation::Call(name) => return write!(f, "func:{name}"),
        })
    }
}

/// Whether memory is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Direction {
    Load,
    Store,
}

/// The work of a kernel, each number in terms of its sizes.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Operations by kind and type.
    pub operations: BTreeMap<(Operation, DType), Count>,
    /// Elements of arguments that are read and written, by array and direction.
    pub accesses: BTreeMap<(Name, Direction), Count>,
    /// Elements of arguments that are accessed at least once, by array and direction; `None` if indices are not affine.
    pub footprints: BTreeMap<(Name, Direction), Option<Count>>,
    /// Those elements.
    pub touched: BTreeMap<(Name, Direction), Option<Set>>,
    /// The types of the arguments.
    pub types: BTreeMap<Name, DType>,
}

impl Work {
    /// Counts the work of a kernel, after types are inferred and reductions are realised. `rules` are its substitution rules before
    /// expansion: the value of a rule is computed once in a loop, however often it is used there.
    ///
    /// # Errors
    /// If a type is missing, or if the solver fails.
    pub fn of(program: &Program, kernel: &LoopKernel, rules: &BTreeMap<Name, SubstitutionRule>) -> Result<Work, StatsError> {
        only_numbers(kernel)?;
        let forest = Forest::of(kernel);
        // Another pass reports rules that cannot be expanded.
        let expanded =
            |rule: &SubstitutionRule| Some((rule.parameters.clone(), expand_calls(&rule.body, rules, &rule.name, &|_| true).ok()?));
        let mut counter = Counter {
            kernel,
            reader: TypeReader::new(program, kernel),
            work: Work::default(),
            touched: BTreeMap::new(),
            rules: rules.values().filter_map(expanded).filter(|(_, body)| !operations(body).is_empty()).collect(),
            computed: HashSet::new(),
        };
        for argument in &kernel.arguments {
            if let (ArgumentKind::Array { .. }, Some(Type::Scalar(dtype))) = (&argument.kind, &argument.ty) {
                counter.work.types.insert(argument.name.clone(), *dtype);
            }
        }
        for instruction in &kernel.instructions {
            let within: Vec<Name> = instruction.within_inames.iter().cloned().collect();
            let domain = forest.domain_of(&within)?.project_onto(&within)?.join(&kernel.assumptions)?;
            counter.instruction(instruction, &domain, &within)?;
        }
        for (key, touched) in std::mem::take(&mut counter.touched) {
            let touched = touched.map(|set| set.simplify()).transpose()?;
            let count = touched.as_ref().map(|set| Count::points(set, 1)).transpose()?;
            counter.work.footprints.insert(key.clone(), count);
            counter.work.touched.insert(key, touched);
        }
        Ok(counter.work)
    }
}

struct Counter<'a> {
    kernel: &'a LoopKernel,
    reader: TypeReader<'a>,
    work: Work,
    /// The accessed elements; `None` if unknown.
    touched: BTreeMap<(Name, Direction), Option<Set>>,
    /// The bodies of rules, with the names of their parameters.
    rules: Vec<(Vec<Name>, Expr)>,
    /// Values computed by rules, with the loops around them.
    computed: HashSet<(Vec<Name>, Expr)>,
}

impl Counter<'_> {
    fn instruction(&mut self, instruction: &Instruction, domain: &Set, within: &[Name]) -> Result<(), StatsError> {
        let point = Count::points(domain, 1)?;
        for expr in instruction.rhs() {
            self.expr(expr, domain, &point, within)?;
        }
        for lhs in instruction.lhs() {
            self.access(lhs, Direction::Store, domain, &point)?;
        }
        Ok(())
    }

    fn expr(&mut self, expr: &Expr, domain: &Set, point: &Count, within: &[Name]) -> Result<(), StatsError> {
        let is_of_rule = self.rules.iter().any(|(parameters, body)| stands_for(body, expr, parameters, &mut BTreeMap::new()));
        if is_of_rule && !self.computed.insert((within.to_vec(), expr.clone())) {
            return Ok(());
        }
        let operations = operations(expr);
        if !operations.is_empty()
            && let Some(dtype) = self.reader.type_of(expr)?.scalar()
        {
            for operation in operations {
                self.work.operations.entry((operation, dtype)).or_insert_with(Count::zero).add(point.clone());
            }
        }
        match expr {
            Expr::Subscript(..) | Expr::LinearSubscript(..) | Expr::SubArray(_) => self.access(expr, Direction::Load, domain, point),
            _ => expr.children().into_iter().try_for_each(|child| self.expr(child, domain, point, within)),
        }
    }

    /// Index arithmetic is not counted; reads in an index are.
    fn access(&mut self, place: &Expr, direction: Direction, domain: &Set, point: &Count) -> Result<(), StatsError> {
        let Some(array) = place.written_name() else { return Ok(()) };
        for child in place.children() {
            let mut inner = Vec::new();
            child.visit(&mut |expr| {
                if matches!(expr, Expr::Subscript(..)) {
                    inner.push(expr);
                }
            });
            for access in inner {
                self.access(access, Direction::Load, domain, point)?;
            }
        }
        if !self.work.types.contains_key(array) {
            return Ok(());
        }
        let key = (array.clone(), direction);
        self.work.accesses.entry(key.clone()).or_insert_with(Count::zero).add(point.clone());
        let elements = match place {
            Expr::Subscript(_, indices) => self.image(indices, domain)?,
            _ => None,
        };
        let known = self.touched.remove(&key);
        let joined = match (known, elements) {
            (None, elements) => elements,
            (Some(Some(known)), Some(elements)) if known.dims().len() == elements.dims().len() => Some(known.union(&elements)?),
            _ => None,
        };
        self.touched.insert(key, joined);
        Ok(())
    }

    /// The elements that affine indices reach over a domain.
    fn image(&self, indices: &[Expr], domain: &Set) -> Result<Option<Set>, StatsError> {
        let mut functions = Vec::with_capacity(indices.len());
        for (axis, index) in indices.iter().enumerate() {
            let Some(affine) = to_affine(index) else { return Ok(None) };
            let known = |name: &Name| domain.has_dim(name) || !self.kernel.temporaries.contains_key(name);
            if !affine.names().iter().all(known) {
                return Ok(None);
            }
            functions.push((Name::from(format!("axis_{axis}").as_str()), affine));
        }
        Ok(Some(domain.image(&functions)?))
    }
}

/// Whether an expression is the body of a rule with arguments for its parameters, written or expanded.
fn stands_for<'a>(body: &Expr, expr: &'a Expr, parameters: &[Name], given: &mut BTreeMap<Name, &'a Expr>) -> bool {
    if let Expr::Variable(name) = body
        && parameters.contains(name)
    {
        return **given.entry(name.clone()).or_insert(expr) == *expr;
    }
    let (inner, other) = (body.children(), expr.children());
    let outermost = |expr: &Expr| expr.map_children(&mut |_| Expr::int(0));
    inner.len() == other.len()
        && std::mem::discriminant(body) == std::mem::discriminant(expr)
        && outermost(body) == outermost(expr)
        && inner.into_iter().zip(other).all(|(body, expr)| stands_for(body, expr, parameters, given))
}

/// How the outermost operators of an expression are counted.
pub(super) fn operations(expr: &Expr) -> Vec<Operation> {
    match expr {
        Expr::Binary(op, ..) => operation(*op).into_iter().collect(),
        Expr::Chain(chain) => chain.rest.iter().filter_map(|(op, _)| operation(*op)).collect(),
        Expr::Unary(UnaryOp::BitNot, _) => vec![Operation::Bits],
        Expr::Min(operands) | Expr::Max(operands) if operands.len() > 1 => vec![Operation::MinMax],
        Expr::Call(call) => vec![Operation::Call(call.function.clone())],
        _ => Vec::new(),
    }
}

/// How an operator is counted.
fn operation(op: BinaryOp) -> Option<Operation> {
    Some(match op {
        BinaryOp::Add | BinaryOp::Subtract => Operation::Add,
        BinaryOp::Multiply => Operation::Multiply,
        BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Modulo => Operation::Divide,
        BinaryOp::Power => Operation::Power,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => Operation::Shift,
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => Operation::Bits,
        BinaryOp::And | BinaryOp::Or => return None,
    })
}
