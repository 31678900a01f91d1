//! The width that integers of generated code need for the sizes of a call: ranges of all indices, bounds and intermediate sums, computed
//! once from the lowered code as a list of operations that each call evaluates.
//!
//! Values read from memory have no known range; an index that comes from there is inside its array, whose extent a call knows.

use std::collections::HashMap;

use parloop_codegen::lower::tree::{
    AtomicChange, Axis, For, Function, FunctionKind, Op, ParamSource, Routine, Statement, Value, ValueKind,
};
use parloop_codegen::lower::{LaunchCode, Lowered};
use parloop_device::DType;
use parloop_ir::syntax::{Expr, Type, UnaryOp};
use parloop_isl::Name;

use super::call::CallPlan;
use super::formula::Values;
use super::formula::{Formula, FormulaOp};
use super::planned::GivenArgument;

/// The integers of code whose width sizes decide.
#[derive(Clone, Debug, Default)]
pub(super) struct Widths {
    nodes: Vec<Node>,
    checks: Vec<Check>,
}

/// A range that must fit a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Check {
    node: usize,
    dtype: DType,
    /// Whether it is an index, a limit or a size, for which no type is wide enough to be left out of account.
    is_index: bool,
}

/// A range made of others, which stand in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Unknown,
    Constant(i128),
    /// An integer of the call.
    Place(usize),
    Add(usize, usize),
    Subtract(usize, usize),
    Multiply(usize, usize),
    /// Towards minus infinity or towards zero.
    Divide(usize, usize),
    Remainder(usize, usize),
    Modulo(usize, usize),
    Min(usize, usize),
    Max(usize, usize),
    /// One or the other.
    Either(usize, usize),
    /// From the first to before the second.
    Turns(usize, usize),
    /// Converted to that type, with overflow truncated.
    Cut(usize, DType),
}

/// The least and the largest value; nothing where the first is above the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    least: i128,
    most: i128,
    /// Whether a conversion on the way loses digits.
    is_cut: bool,
}

/// An integer that does not fit its type in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooNarrow {
    pub(super) dtype: DType,
    pub(super) least: i128,
    pub(super) most: i128,
}

impl Range {
    fn new(least: i128, most: i128, is_cut: bool) -> Range {
        Range { least, most, is_cut }
    }

    fn is_empty(&self) -> bool {
        self.least > self.most
    }

    fn fits(&self, dtype: DType) -> bool {
        self.is_empty() || !self.is_cut && dtype.integer_range().is_none_or(|(least, most)| least <= self.least && self.most <= most)
    }

    /// The hull of a function that takes its extremes at those of its arguments.
    fn corners(self, other: Range, apply: impl Fn(i128, i128) -> i128) -> Range {
        let is_cut = self.is_cut || other.is_cut;
        if self.is_empty() || other.is_empty() {
            return Range::new(1, 0, is_cut);
        }
        let all = [(self.least, other.least), (self.least, other.most), (self.most, other.least), (self.most, other.most)];
        let (least, most) = all
            .into_iter()
            .map(|(a, b)| apply(a, b))
            .fold((i128::MAX, i128::MIN), |(least, most), value| (least.min(value), most.max(value)));
        Range::new(least, most, is_cut)
    }
}

impl Widths {
    /// What is asked of the integers of lowered code. `hosts` are the first and the last value of the inames that the host loops over.
    pub(super) fn of(lowered: &Lowered, plan: &CallPlan, hosts: &[(Name, Formula, Formula)]) -> Widths {
        let functions = lowered.functions.iter().map(|function| (&function.name, function)).collect();
        let mut finder = Finder {
            functions,
            plan,
            widths: Widths::default(),
            known: HashMap::new(),
            names: HashMap::new(),
            groups: Vec::new(),
            group_size: Vec::new(),
            depth: 0,
        };
        for launch in &lowered.launches {
            finder.launch(launch, hosts);
        }
        finder.widths.checks.sort_unstable_by_key(|check| (check.node, check.dtype.size(), check.is_index));
        finder.widths.checks.dedup();
        finder.widths
    }

    /// The first integer that does not fit its type with those sizes; of values that are not indices, those of 32 bits alone.
    pub(super) fn misfit(&self, values: &Values, indices_only: bool) -> Option<TooNarrow> {
        let mut ranges: Vec<Option<Range>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let range = node.evaluate(&ranges, values);
            ranges.push(range);
        }
        let misfit = |check: &Check| {
            let range = ranges[check.node].filter(|range| !range.fits(check.dtype) && (check.is_index || !indices_only))?;
            Some(TooNarrow { dtype: check.dtype, least: range.least, most: range.most })
        };
        self.checks.iter().find_map(misfit)
    }
}

impl Node {
    fn evaluate(&self, ranges: &[Option<Range>], values: &Values) -> Option<Range> {
        let exact = |value: i128| Some(Range::new(value, value, false));
        match *self {
            Node::Unknown => None,
            Node::Constant(value) => exact(value),
            Node::Place(place) => values.get(place).copied().flatten().and_then(|value| exact(value.into())),
            Node::Add(a, b) => Some(ranges[a]?.corners(ranges[b]?, i128::saturating_add)),
            Node::Subtract(a, b) => Some(ranges[a]?.corners(ranges[b]?, i128::saturating_sub)),
            Node::Multiply(a, b) => Some(ranges[a]?.corners(ranges[b]?, i128::saturating_mul)),
            Node::Divide(a, b) => {
                let (a, b) = (ranges[a]?, ranges[b]?);
                // A quotient is not larger than the dividend.
                if b.least > 0 {
                    let (floor, towards_zero) = (a.corners(b, i128::div_euclid), a.corners(b, |a, b| a / b));
                    return Some(Range::new(floor.least, towards_zero.most, floor.is_cut));
                }
                Some(a.corners(Range::new(-1, 1, b.is_cut), i128::saturating_mul))
            }
            Node::Remainder(a, b) => {
                let (a, largest) = (ranges[a]?, largest_rest(ranges[b])?);
                let (least, most) = (if a.least < 0 { -largest } else { 0 }, if a.most > 0 { largest } else { 0 });
                Some(Range::new(least.max(a.least.min(0)), most.min(a.most.max(0)), a.is_cut))
            }
            Node::Modulo(a, b) => {
                let (divisor, largest) = (ranges[b]?, largest_rest(ranges[b])?);
                let is_cut = divisor.is_cut || ranges[a].is_some_and(|range| range.is_cut);
                Some(Range::new(if divisor.least > 0 { 0 } else { -largest }, largest, is_cut))
            }
            Node::Min(a, b) => {
                let (a, b) = (ranges[a]?, ranges[b]?);
                Some(Range::new(a.least.min(b.least), a.most.min(b.most), a.is_cut || b.is_cut))
            }
            Node::Max(a, b) => {
                let (a, b) = (ranges[a]?, ranges[b]?);
                Some(Range::new(a.least.max(b.least), a.most.max(b.most), a.is_cut || b.is_cut))
            }
            Node::Either(a, b) => {
                let (a, b) = (ranges[a]?, ranges[b]?);
                Some(if a.is_empty() {
                    b
                } else if b.is_empty() {
                    a
                } else {
                    Range::new(a.least.min(b.least), a.most.max(b.most), a.is_cut || b.is_cut)
                })
            }
            Node::Turns(first, end) => {
                let (first, end) = (ranges[first]?, ranges[end]?);
                Some(Range::new(first.least, end.most.saturating_sub(1), first.is_cut || end.is_cut))
            }
            Node::Cut(inner, dtype) => {
                let range = ranges[inner]?;
                let (least, most) = dtype.integer_range()?;
                Some(if range.is_empty() || (least <= range.least && range.most <= most) { range } else { Range::new(least, most, true) })
            }
        }
    }
}

/// The largest rest of a division by that: one less than its largest size.
fn largest_rest(range: Option<Range>) -> Option<i128> {
    range.map(|range| range.least.saturating_abs().max(range.most.saturating_abs()).saturating_sub(1).max(0))
}

/// The use of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// An index, a limit of a loop, a size: it must be right to the last digit.
    Index,
    /// A number of the user, with the user's type.
    Number,
}

struct Finder<'a> {
    functions: HashMap<&'a Name, &'a Function>,
    plan: &'a CallPlan,
    widths: Widths,
    known: HashMap<Node, usize>,
    /// The ranges of variables in scope.
    names: HashMap<Name, usize>,
    groups: Vec<usize>,
    group_size: Vec<usize>,
    depth: usize,
}

/// Calls in calls beyond this are not looked into: their numbers are taken as unknown.
const DEEPEST: usize = 16;

impl Finder<'_> {
    fn node(&mut self, node: Node) -> usize {
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        let place = self.widths.nodes.len();
        self.widths.nodes.push(node);
        self.known.insert(node, place);
        place
    }

    fn constant(&mut self, value: i128) -> usize {
        self.node(Node::Constant(value))
    }

    fn unknown(&mut self) -> usize {
        self.node(Node::Unknown)
    }

    /// The operation on two ranges; unknown where one is.
    fn both(&mut self, make: fn(usize, usize) -> Node, a: usize, b: usize) -> usize {
        let is_unknown = |place: usize| self.widths.nodes[place] == Node::Unknown;
        // The rest of a division has a range whatever is divided.
        let needs_first = make(0, 0) != Node::Modulo(0, 0);
        if is_unknown(b) || is_unknown(a) && needs_first { self.unknown() } else { self.node(make(a, b)) }
    }

    fn check(&mut self, node: usize, dtype: DType, used: Use) {
        if self.widths.nodes[node] != Node::Unknown {
            self.widths.checks.push(Check { node, dtype, is_index: used == Use::Index });
        }
    }

    fn formula(&mut self, formula: &Formula) -> usize {
        match formula {
            Formula::Constant(value) => self.constant((*value).into()),
            Formula::Value(place) => self.node(Node::Place(*place)),
            Formula::Binary(op, left, right) => {
                let (left, right) = (self.formula(left), self.formula(right));
                let make = match op {
                    FormulaOp::Add => Node::Add,
                    FormulaOp::Subtract => Node::Subtract,
                    FormulaOp::Multiply => Node::Multiply,
                    FormulaOp::FloorDivide => Node::Divide,
                    FormulaOp::Modulo => Node::Modulo,
                    FormulaOp::Min => Node::Min,
                    FormulaOp::Max => Node::Max,
                };
                self.both(make, left, right)
            }
        }
    }

    fn launch(&mut self, launch: &LaunchCode, hosts: &[(Name, Formula, Formula)]) {
        let Some(&function) = self.functions.get(&launch.function) else { return };
        self.names.clear();
        for param in &launch.params {
            let (None, Some(dtype)) = (param.pointer, param.ty.scalar().filter(|dtype| dtype.is_integer())) else { continue };
            let node = match &param.source {
                ParamSource::HostIname(iname) => match hosts.iter().find(|(name, _, _)| name == iname) {
                    Some((_, first, last)) => {
                        let (first, last, one) = (self.formula(first), self.formula(last), self.constant(1));
                        let end = self.both(Node::Add, last, one);
                        self.both(Node::Turns, first, end)
                    }
                    None => self.unknown(),
                },
                _ => match self.plan.place(&param.name) {
                    Some(place) => self.node(Node::Place(place)),
                    None => self.unknown(),
                },
            };
            self.check(node, dtype, Use::Index);
            self.names.insert(param.name.clone(), node);
        }
        self.groups = launch.groups.iter().map(|size| self.size(size)).collect();
        self.group_size = launch.group_size.iter().map(|size| self.size(size)).collect();
        // On a language that launches tasks itself, the body is that of the task.
        let task: Name = format!("{}_task", function.name).into();
        let body = match self.functions.get(&task) {
            Some(task) if matches!(task.kind, FunctionKind::Task(_)) => &task.body,
            _ => &function.body,
        };
        self.statements(body);
    }

    /// The range of a size of the grid.
    fn size(&mut self, size: &Expr) -> usize {
        match self.plan.formula(size) {
            Ok(formula) => self.formula(&formula),
            Err(_) => self.unknown(),
        }
    }

    fn statements(&mut self, statements: &[Statement]) {
        let mut before: Vec<(Name, Option<usize>)> = Vec::new();
        for statement in statements {
            match statement {
                Statement::Declare(declaration) => {
                    let node = match &declaration.value {
                        Some(value) => self.value(value, Use::Number),
                        None => self.unknown(),
                    };
                    let node = if declaration.constant { node } else { self.unknown() };
                    before.push((declaration.name.clone(), self.names.insert(declaration.name.clone(), node)));
                }
                Statement::Alias { .. } | Statement::Barrier(_) | Statement::Text(_) | Statement::Comment(_) => {}
                Statement::Assign(place, value) => {
                    self.value(place, Use::Number);
                    self.value(value, Use::Number);
                }
                Statement::AtomicUpdate { place, change, .. } => {
                    self.value(place, Use::Number);
                    let (AtomicChange::Add(value) | AtomicChange::Compute { result: value, .. }) = change;
                    self.value(value, Use::Number);
                }
                Statement::Call(value) => {
                    self.value(value, Use::Number);
                }
                Statement::For(loop_) => self.turns(loop_),
                Statement::If(condition, yes, no) => {
                    self.value(condition, Use::Number);
                    self.statements(yes);
                    self.statements(no);
                }
                Statement::Groups { name, count, body } => {
                    let (zero, count) = (self.constant(0), self.value(count, Use::Index));
                    let node = self.both(Node::Turns, zero, count);
                    self.within(name, node, body);
                }
                Statement::Block(body) => self.statements(body),
                Statement::Launch { groups, .. } => groups.iter().for_each(|count| self.index(count)),
            }
        }
        for (name, node) in before.into_iter().rev() {
            self.restore(name, node);
        }
    }

    fn turns(&mut self, loop_: &For) {
        let (first, limit) = (self.value(&loop_.first, Use::Index), self.value(&loop_.limit, Use::Index));
        let (one, step) = (self.constant(1), self.constant(loop_.step.into()));
        let end = if loop_.inclusive { self.both(Node::Add, limit, one) } else { limit };
        let node = self.both(Node::Turns, first, end);
        if let Some(dtype) = loop_.first.ty.scalar() {
            // The variable goes beyond its last value before the loop ends.
            let beyond = self.both(Node::Add, node, step);
            for node in [first, limit, beyond] {
                self.check(node, dtype, Use::Index);
            }
        }
        self.within(&loop_.name, node, &loop_.body);
    }

    fn within(&mut self, name: &Name, node: usize, body: &[Statement]) {
        let before = self.names.insert(name.clone(), node);
        self.statements(body);
        self.restore(name.clone(), before);
    }

    fn restore(&mut self, name: Name, before: Option<usize>) {
        match before {
            Some(node) => drop(self.names.insert(name, node)),
            None => drop(self.names.remove(&name)),
        }
    }

    fn index(&mut self, value: &Value) {
        let node = self.value(value, Use::Index);
        if let Some(dtype) = value.ty.scalar() {
            self.check(node, dtype, Use::Index);
        }
    }

    /// The range of a value; what is inside it is looked at too.
    fn value(&mut self, value: &Value, used: Use) -> usize {
        match &value.kind {
            ValueKind::Int(number) => self.constant(*number),
            ValueKind::Bool(_) => self.constant(1),
            ValueKind::Name(name) => match self.names.get(name) {
                Some(&node) => node,
                None => self.unknown(),
            },
            ValueKind::Axis(axis) => self.axis(*axis),
            ValueKind::Element(_, indices) => {
                indices.iter().for_each(|index| self.index(index));
                self.unknown()
            }
            ValueKind::Pointer(_, offset) => {
                offset.iter().for_each(|offset| self.index(offset));
                self.unknown()
            }
            ValueKind::Unary(UnaryOp::Negate, inner) => {
                let (zero, inner) = (self.constant(0), self.value(inner, used));
                self.computed(Node::Subtract, zero, inner, &value.ty, used)
            }
            ValueKind::Binary(op, left, right) => {
                let (left, right) = (self.value(left, used), self.value(right, used));
                let make = match op {
                    Op::Add => Node::Add,
                    Op::Subtract => Node::Subtract,
                    Op::Multiply => Node::Multiply,
                    Op::Divide => Node::Divide,
                    Op::Remainder => Node::Remainder,
                    Op::ShiftRight => return self.shifted(left, right),
                    Op::BitAnd => return self.masked(left, right),
                    Op::ShiftLeft | Op::BitOr | Op::BitXor | Op::And | Op::Or => return self.unknown(),
                };
                self.computed(make, left, right, &value.ty, used)
            }
            ValueKind::Routine(routine, args) => {
                let nodes: Vec<usize> = args.iter().map(|arg| self.value(arg, used)).collect();
                let make = match routine {
                    Routine::Min => Node::Min,
                    Routine::Max => Node::Max,
                    Routine::FloorDivide => Node::Divide,
                    Routine::Modulo => Node::Modulo,
                    Routine::Power => return self.unknown(),
                };
                match nodes[..] {
                    [a, b] => self.computed(make, a, b, &value.ty, used),
                    _ => self.unknown(),
                }
            }
            ValueKind::Divisor { value: divisor, .. } => self.value(divisor, used),
            ValueKind::Choose(parts) => {
                self.value(&parts[0], Use::Number);
                let (yes, no) = (self.value(&parts[1], used), self.value(&parts[2], used));
                self.both(Node::Either, yes, no)
            }
            ValueKind::Cast(inner) => {
                let node = self.value(inner, used);
                match (value.ty.scalar(), inner.ty.scalar()) {
                    (Some(to), Some(from)) if to.is_integer() && (from.is_integer() || from == DType::Bool) => {
                        if self.widths.nodes[node] == Node::Unknown {
                            return node;
                        }
                        self.node(Node::Cut(node, to))
                    }
                    _ => self.unknown(),
                }
            }
            ValueKind::Call(function, args) => {
                self.call(function, args);
                self.unknown()
            }
            _ => {
                for child in value.children() {
                    self.value(child, Use::Number);
                }
                self.unknown()
            }
        }
    }

    /// The range of an operation, which must fit the type that it is computed in. Unsigned numbers, and those of the user's that are
    /// narrower or wider than 32 bits, are cut off where they do not.
    fn computed(&mut self, make: fn(usize, usize) -> Node, left: usize, right: usize, ty: &Type, used: Use) -> usize {
        let Some(dtype) = ty.scalar().filter(|dtype| dtype.is_integer()) else { return self.unknown() };
        let node = self.both(make, left, right);
        if self.widths.nodes[node] == Node::Unknown {
            return node;
        }
        let is_signed = dtype.integer_range().is_some_and(|(least, _)| least < 0);
        if is_signed && (used == Use::Index || dtype.size() == 4) {
            self.check(node, dtype, used);
            return node;
        }
        self.node(Node::Cut(node, dtype))
    }

    fn shifted(&mut self, left: usize, right: usize) -> usize {
        match self.widths.nodes[right] {
            Node::Constant(bits @ 0..=62) => {
                let divisor = self.constant(1 << bits);
                self.both(Node::Divide, left, divisor)
            }
            _ => self.unknown(),
        }
    }

    fn masked(&mut self, left: usize, right: usize) -> usize {
        match self.widths.nodes[right] {
            Node::Constant(mask) if mask >= 0 => {
                let divisor = self.constant(mask + 1);
                self.node(Node::Modulo(left, divisor))
            }
            _ => self.unknown(),
        }
    }

    fn axis(&mut self, axis: Axis) -> usize {
        let zero = self.constant(0);
        let count = match axis {
            Axis::Group(axis) => self.groups.get(usize::from(axis)).copied(),
            Axis::Local(axis) => self.group_size.get(usize::from(axis)).copied(),
        };
        match count {
            Some(count) => self.both(Node::Turns, zero, count),
            None => self.unknown(),
        }
    }

    /// A call: the numbers that a kernel is passed have their ranges in its function.
    fn call(&mut self, name: &Name, args: &[Value]) {
        let passed: Vec<usize> = args
            .iter()
            .map(|arg| {
                let node = self.value(arg, Use::Index);
                if let Some(dtype) = arg.ty.scalar().filter(|dtype| dtype.is_integer()) {
                    self.check(node, dtype, Use::Index);
                }
                node
            })
            .collect();
        let Some(&function) = self.functions.get(name).filter(|_| self.depth < DEEPEST) else { return };
        let params = function.params.iter().zip(passed).filter(|(param, _)| param.pointer.is_none());
        let names = params.map(|(param, node)| (param.name.clone(), node)).collect();
        let outside = std::mem::replace(&mut self.names, names);
        self.depth += 1;
        self.statements(&function.body);
        self.depth -= 1;
        self.names = outside;
    }
}

/// Whether an array has more elements than indices of that type count, from its first to its last.
pub(super) fn is_beyond(given: &GivenArgument, index: DType) -> bool {
    let GivenArgument::Array(array) = given else { return false };
    let Some((_, most)) = index.integer_range() else { return false };
    if array.shape.iter().any(|&length| length <= 0) {
        return false;
    }
    let steps = array.shape.iter().zip(&array.strides).map(|(&length, &stride)| i128::from(length - 1) * i128::from(stride).abs());
    let bytes = steps.fold(0i128, i128::saturating_add);
    bytes / array.size() as i128 > most
}
