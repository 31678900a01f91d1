//! Accesses that only the data orders, watched in checked mode on a CPU: each tells shadow memory which element it touches, how, and when
//! its instance ran in the kernel as created. What is not watched: private variables, fields of objects, what functions and other kernels
//! do with pointers, and instructions that stand for several instances.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use parloop_analysis::dependence::Doubt;
use parloop_device::DType;
use parloop_ir::matching::Glob;
use parloop_ir::syntax::{AddressSpace, Atomicity, Expr, Instruction, InstructionKind, LoopKernel, Target, Time, TimeStep, Type};
use parloop_isl::Name;

use super::number::{self, Typed};
use super::scope::Scope;
use super::tree::{Function, FunctionKind, Op, Statement, Touch, TouchKind, Value, ValueKind};
use super::{LaunchCode, LowerError, ShadowCode};

/// More steps than a mask has bits are not compared.
const MOST_STEPS: usize = 32;

/// What is watched of a kernel.
#[derive(Debug)]
pub(super) struct Shadow {
    /// The variables, and how many of the kept steps must be the same for accesses to depend on each other.
    turns: BTreeMap<Name, usize>,
    /// The steps of times in which instances differ.
    kept: Vec<usize>,
    /// Whether a watched variable is updated in one step by some instruction.
    has_updates: bool,
}

impl Shadow {
    /// What is to be watched; `None` if nothing is.
    pub(super) fn of(kernel: &LoopKernel, doubts: &BTreeSet<Doubt>, target: Target) -> Option<Rc<Shadow>> {
        if !kernel.options.checked || target != Target::C {
            return None;
        }
        let mut turns: BTreeMap<Name, usize> = BTreeMap::new();
        for doubt in doubts {
            for variable in sharing_memory(kernel, &doubt.variable) {
                let turn = turns.entry(variable).or_insert(doubt.turn);
                *turn = doubt.turn.min(*turn);
            }
        }
        let of_instruction = |instruction: &Instruction| {
            let touched: BTreeSet<Name> = instruction.reads().into_iter().chain(instruction.writes()).collect();
            touched.iter().filter(|name| turns.contains_key(*name)).filter_map(|name| plain_time(instruction, name)).collect::<Vec<_>>()
        };
        let times: Vec<Vec<TimeStep>> = kernel.instructions.iter().flat_map(|instruction| of_instruction(instruction)).collect();
        let length = times.iter().map(Vec::len).max()?;
        let differs = |step: &usize| times.iter().any(|time| at(time, *step) != at(&times[0], *step)) || is_loop(&times[0], *step);
        let kept: Vec<usize> = (0..length).filter(differs).collect();
        for turn in turns.values_mut() {
            *turn = kept.iter().filter(|step| **step < *turn).count();
        }
        let updates = |instruction: &Instruction| match &instruction.kind {
            InstructionKind::Assign(assignment) => {
                assignment.atomic.is_some() && instruction.writes().iter().any(|name| turns.contains_key(name))
            }
            _ => false,
        };
        let has_updates = kernel.instructions.iter().any(|instruction| updates(instruction));
        (kept.len() <= MOST_STEPS).then(|| Rc::new(Shadow { turns, kept, has_updates }))
    }

    /// The functions that the host calls before the first launch of a call, and between two.
    pub(super) fn functions(&self, kernel: &Name) -> ([Function; 2], ShadowCode) {
        // The last write; of reads and of updates three each.
        let records = if self.has_updates { 7 } else { 4 };
        let texts =
            [("begin", format!("PARLOOP_SHADOW_BEGIN({}, {records});", self.kept.len())), ("next", "PARLOOP_SHADOW_NEXT();".to_owned())];
        let functions = texts.map(|(what, text)| Function {
            name: format!("{kernel}_shadow_{what}").into(),
            kind: FunctionKind::Launched(Vec::new()),
            params: Vec::new(),
            body: vec![Statement::Text(text)],
        });
        let [begin, next] = functions.clone().map(|function| LaunchCode {
            function: function.name,
            params: Vec::new(),
            groups: Vec::new(),
            group_size: Vec::new(),
        });
        (functions, ShadowCode { begin, next })
    }
}

/// Work items passed a barrier.
pub(super) fn barrier() -> Statement {
    Statement::Text("PARLOOP_SHADOW_BARRIER();".into())
}

fn at(time: &[TimeStep], step: usize) -> TimeStep {
    time.get(step).cloned().unwrap_or(TimeStep::At(0))
}

fn is_loop(time: &[TimeStep], step: usize) -> bool {
    matches!(time.get(step), Some(TimeStep::Loop(_)))
}

/// The variable, and those that have the same memory.
fn sharing_memory(kernel: &LoopKernel, variable: &Name) -> Vec<Name> {
    match kernel.temporaries.get(variable).and_then(|temporary| temporary.base_storage.as_ref()) {
        None => vec![variable.clone()],
        storage => {
            kernel.temporaries.values().filter(|other| other.base_storage.as_ref() == storage).map(|other| other.name.clone()).collect()
        }
    }
}

/// When the instances of an instruction ran, if it is known as values of the instances themselves.
fn plain_time(instruction: &Instruction, variable: &Name) -> Option<Vec<TimeStep>> {
    if instruction.origin.commutes.contains(variable) {
        return None;
    }
    let [time] = <[Time; 1]>::try_from(instruction.origin.times_for(variable)).ok()?;
    (time.given.is_empty() && time.names().iter().all(|name| !name.ends_with('\''))).then_some(time.steps)
}

impl Scope<'_> {
    /// What tells shadow memory of an access, if it is to be known.
    pub(super) fn touch(&mut self, expr: &Expr, place: &Value, writes: bool) -> Result<Option<Value>, LowerError> {
        let Some(shadow) = self.shadow.clone() else { return Ok(None) };
        let Some(variable) = expr.written_name() else { return Ok(None) };
        let Some(&turn) = shadow.turns.get(variable) else { return Ok(None) };
        let Some(instruction) = self.instructions.get(&self.instruction).map(|instruction| (*instruction).clone()) else { return Ok(None) };
        let space = self.array(variable)?.space;
        if !matches!(place.kind, ValueKind::Element(..)) || !matches!(space, AddressSpace::Global | AddressSpace::Local) {
            return Ok(None);
        }
        let Some(steps) = plain_time(&instruction, variable).filter(|steps| self.are_known(steps)) else { return Ok(None) };
        let indices: &[Expr] = match expr {
            Expr::Subscript(_, indices) => indices,
            Expr::LinearSubscript(_, index) => std::slice::from_ref(index),
            _ => &[],
        };
        let mut values = indices.iter().map(|index| self.wide_value(index)).collect::<Result<Vec<_>, _>>()?;
        let (mut site, mut loops) = (format!("{}\n{variable}", instruction.id), 0);
        for (number, &step) in shadow.kept.iter().enumerate() {
            site.push('\n');
            values.push(match at(&steps, step) {
                TimeStep::At(place) => number::int(&DType::I64.into(), place.into()),
                TimeStep::Loop(value) => {
                    site.push_str(&value.to_string());
                    loops |= 1u32 << number;
                    self.wide_value(&value)?
                }
            });
        }
        let kind = match &instruction.kind {
            InstructionKind::Assign(assignment) if assignment.atomic == Some(Atomicity::Update) && assignment.lhs == *expr => {
                TouchKind::Update
            }
            InstructionKind::Assign(assignment) if writes && assignment.atomic.is_some() => TouchKind::Update,
            _ if writes => TouchKind::Write,
            _ => TouchKind::Read,
        };
        let touch = Touch {
            kind,
            place: place.clone(),
            site,
            group: self.group.clone().map_or(number::int(&DType::I64.into(), 0), |group| Value::name(DType::I64, group)),
            item: self.item(),
            own: self.races_on_purpose(&instruction),
            loops,
            is_local: space == AddressSpace::Local,
            axes: indices.len(),
            turn,
            values,
        };
        Ok(Some(Value::new(DType::Bool, ValueKind::Touch(Box::new(touch)))))
    }

    /// Whether the values of loops can be computed from what is in scope.
    fn are_known(&self, steps: &[TimeStep]) -> bool {
        let names = Time::of(steps.to_vec()).names();
        names.iter().all(|name| self.inames.contains_key(name) || self.numbers.contains_key(name))
    }

    fn wide_value(&mut self, expr: &Expr) -> Result<Value, LowerError> {
        Ok(Typed::strong(self.index(expr)?).to(&DType::I64.into()))
    }

    /// The number of the work item in its group.
    fn item(&self) -> Value {
        let wide: Type = DType::I64.into();
        let mut item = number::int(&wide, 0);
        let mut before: i128 = 1;
        for (axis, &size) in self.group_size.iter().enumerate() {
            if let Some(index) = u8::try_from(axis).ok().and_then(|axis| self.axis_index.get(&axis)) {
                let index = Typed::strong(index.clone()).to(&wide);
                let index = if before == 1 { index } else { number::binary(Op::Multiply, index, number::int(&wide, before)) };
                item = if item.as_int() == Some(0) { index } else { number::binary(Op::Add, item, index) };
            }
            before *= i128::from(size);
        }
        item
    }

    /// A number of its own for an instruction whose instances may race with each other, 0 for others.
    fn races_on_purpose(&self, instruction: &Instruction) -> usize {
        let name = format!("write_race({})", instruction.id);
        let is_silenced = self.kernel.options.silenced.iter().any(|pattern| Glob::new(pattern).matches(&name));
        let place = self.kernel.instructions.iter().position(|other| other.id == instruction.id);
        place.filter(|_| is_silenced).map_or(0, |place| place + 1)
    }
}
