//! The work of a kernel: operations by kind and type, accesses to arrays, and how much of each array is accessed.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use parloop_device::DType;
use parloop_ir::affine::to_affine;
use parloop_ir::domain::Forest;
use parloop_ir::program::Program;
use parloop_ir::syntax::{ArgumentKind, BinaryOp, Expr, Instruction, LoopKernel, Type, UnaryOp};
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
    /// Counts the work of a kernel, after types are inferred and reductions are realised. Expressions that are written several times in the
    /// same loops, by rules for instance, are computed once, as compilers do.
    ///
    /// # Errors
    /// If a type is missing, or if the solver fails.
    pub fn of(program: &Program, kernel: &LoopKernel) -> Result<Work, StatsError> {
        only_numbers(kernel)?;
        let forest = Forest::of(kernel);
        let mut counter = Counter {
            kernel,
            reader: TypeReader::new(program, kernel),
            work: Work::default(),
            touched: BTreeMap::new(),
            written: kernel.instructions.iter().flat_map(|instruction| instruction.lhs()).filter_map(Expr::written_name).collect(),
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
    /// The variables that the kernel writes.
    written: HashSet<&'a Name>,
    /// Values that were computed, and where.
    computed: HashSet<(Computed, Expr)>,
}

/// Where equal expressions have one value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Computed {
    /// Everywhere in these loops, since the kernel does not change what is read.
    InLoops(Vec<Name>),
    /// In that instruction.
    InInstruction(Name),
}

/// How often an instruction runs, and where.
struct Runs<'a> {
    instruction: &'a Name,
    within: &'a [Name],
    domain: &'a Set,
    point: Count,
}

impl Counter<'_> {
    fn instruction(&mut self, instruction: &Instruction, domain: &Set, within: &[Name]) -> Result<(), StatsError> {
        let runs = Runs { instruction: &instruction.id, within, domain, point: Count::points(domain, 1)? };
        for expr in instruction.rhs() {
            self.expr(expr, &runs)?;
        }
        for lhs in instruction.lhs() {
            self.access(lhs, Direction::Store, &runs)?;
        }
        Ok(())
    }

    fn expr(&mut self, expr: &Expr, runs: &Runs<'_>) -> Result<(), StatsError> {
        let operations = operations(expr);
        if !operations.is_empty() {
            let changes = expr.any(&mut |part| matches!(part, Expr::Variable(name) if self.written.contains(name)));
            let place = if changes { Computed::InInstruction(runs.instruction.clone()) } else { Computed::InLoops(runs.within.to_vec()) };
            if !self.computed.insert((place, expr.clone())) {
                return Ok(());
            }
            if let Some(dtype) = self.reader.type_of(expr)?.scalar() {
                for operation in operations {
                    self.work.operations.entry((operation, dtype)).or_insert_with(Count::zero).add(runs.point.clone());
                }
            }
        }
        match expr {
            Expr::Subscript(..) | Expr::LinearSubscript(..) | Expr::SubArray(_) => self.access(expr, Direction::Load, runs),
            _ => expr.children().into_iter().try_for_each(|child| self.expr(child, runs)),
        }
    }

    /// Index arithmetic is not counted; reads in an index are.
    fn access(&mut self, place: &Expr, direction: Direction, runs: &Runs<'_>) -> Result<(), StatsError> {
        let Some(array) = place.written_name() else { return Ok(()) };
        for child in place.children() {
            let mut inner = Vec::new();
            child.visit(&mut |expr| {
                if matches!(expr, Expr::Subscript(..)) {
                    inner.push(expr);
                }
            });
            for access in inner {
                self.access(access, Direction::Load, runs)?;
            }
        }
        if !self.work.types.contains_key(array) {
            return Ok(());
        }
        let key = (array.clone(), direction);
        self.work.accesses.entry(key.clone()).or_insert_with(Count::zero).add(runs.point.clone());
        let elements = match place {
            Expr::Subscript(_, indices) => self.image(indices, runs.domain)?,
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
