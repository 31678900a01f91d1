//! Data-dependent accesses, watched in checked mode on a CPU: each records in shadow memory which element it accesses, how, and when its
//! instance ran in the kernel as created. Not watched are fields of objects, and whole arrays that functions are passed; the order of
//! private variables, of lanes and of instructions that stand for several instances is decided at compile time.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use parloop_analysis::dependence::Doubt;
use parloop_ir::syntax::{Instruction, InstructionKind, LoopKernel, Target, Time, TimeStep};
use parloop_isl::Name;

use super::tree::{Function, FunctionKind, Statement};
use super::{LaunchCode, ShadowCode};

/// More steps than a mask has bits are not compared.
const MOST_STEPS: usize = 32;

/// What is watched of a kernel.
#[derive(Debug)]
pub(super) struct Shadow {
    /// The variables, and how many of the kept steps must be the same for accesses to depend on each other.
    pub(super) turns: BTreeMap<Name, usize>,
    /// The steps of times in which instances differ.
    pub(super) kept: Vec<usize>,
    /// Whether a watched variable is updated in one step by some instruction.
    has_updates: bool,
}

impl Shadow {
    /// What is to be watched; `None` if nothing is.
    pub(super) fn of(kernel: &LoopKernel, doubts: &BTreeSet<Doubt>, target: Target) -> Option<Rc<Shadow>> {
        if !kernel.options.is_checked() || target != Target::C {
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

pub(super) fn at(time: &[TimeStep], step: usize) -> TimeStep {
    time.get(step).cloned().unwrap_or(TimeStep::At(0))
}

pub(super) fn is_loop(time: &[TimeStep], step: usize) -> bool {
    matches!(time.get(step), Some(TimeStep::Loop(_)))
}

/// The variable, and those that have the same memory.
pub(super) fn sharing_memory(kernel: &LoopKernel, variable: &Name) -> Vec<Name> {
    match kernel.temporaries.get(variable).and_then(|temporary| temporary.base_storage.as_ref()) {
        None => vec![variable.clone()],
        storage => {
            kernel.temporaries.values().filter(|other| other.base_storage.as_ref() == storage).map(|other| other.name.clone()).collect()
        }
    }
}

/// When the instances of an instruction ran, if it is known as values of the instances themselves.
pub(super) fn plain_time(instruction: &Instruction, variable: &Name) -> Option<Vec<TimeStep>> {
    if instruction.origin.commutes.contains(variable) {
        return None;
    }
    let [time] = <[Time; 1]>::try_from(instruction.origin.times_for(variable)).ok()?;
    time.is_own().then_some(time.steps)
}
