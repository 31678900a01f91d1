//! Runs a case on devices and compares its numbers with their meaning.

use parloop_device::DeviceKind;
use parloop_kernel::{Context, KernelError};
use parloop_loop::error::LoopError;
use parloop_loop::file::LoopFile;
use parloop_loop::parse;
use parloop_loop::prelude::*;
use parloop_loop::prepare::Generated;
use parloop_loop::run::{Executable, target_of, with_checks};
use parloop_loop::syntax::Program;
use parloop_loop::transform::{ApplyError, TransformStep, apply};

use super::arguments::{Arguments, Changes};
use super::case::Case;
use super::oracle::{self, Numbers};
use super::reverse::reversed;

/// What became of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The numbers are those of the kernel as created.
    Same,
    /// An error, from a transformation, from generation or from the call.
    Refused { stage: String, kind: String, message: String },
    /// Other numbers.
    Wrong { device: String, message: String },
    /// A panic, a crash, or a compiler that does not take the code.
    Failed { device: String, what: String, message: String },
    /// The kernel has no meaning, or cannot be generated as created.
    Invalid { message: String },
}

impl Outcome {
    pub fn is_failure(&self) -> bool {
        matches!(self, Outcome::Wrong { .. } | Outcome::Failed { .. })
    }

    /// On which device it failed.
    pub fn device(&self) -> Option<&str> {
        match self {
            Outcome::Wrong { device, .. } | Outcome::Failed { device, .. } => Some(device),
            _ => None,
        }
    }
}

/// Where a case runs.
pub struct TestDevice {
    pub name: &'static str,
    context: Context,
    /// Work-groups and their items run from the last to the first.
    reverse: bool,
}

pub const TEST_DEVICES: [&str; 4] = ["cpu:1", "cpu:2", "cpu:1 in reverse", "opencl"];

impl TestDevice {
    /// Those that are here.
    pub fn all() -> Vec<TestDevice> {
        let open = |name: &'static str| {
            let reverse = name.ends_with("in reverse");
            let context = Context::open(name.split(' ').next().unwrap_or(name)).ok()?;
            Some(TestDevice { name, context, reverse })
        };
        TEST_DEVICES.into_iter().filter_map(open).collect()
    }
}

/// The name of an error, with those of the errors in it: `Check.VariableAccessNotOrdered`.
pub fn kind(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    let mut rest = text.as_str();
    let mut names = Vec::new();
    loop {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        names.push(&rest[..end]);
        match rest[end..].strip_prefix('(') {
            Some(inner) if inner.starts_with(|c: char| c.is_ascii_uppercase()) => rest = inner,
            _ => return names.join("."),
        }
    }
}

/// The error of a step without what `apply` says around it.
pub fn refused_step(step: &TransformStep, error: &ApplyError) -> Outcome {
    let kind = match error {
        ApplyError::Failed { error, .. } => kind(error),
        other => kind(other),
    };
    Outcome::Refused { stage: step.name.to_string(), kind, message: error.to_string() }
}

fn refused(stage: &str, error: &LoopError) -> Outcome {
    Outcome::Refused { stage: stage.to_owned(), kind: kind(error), message: error.to_string() }
}

/// Runs the chain of a case, and what it makes.
pub fn verify(case: &Case, places: &[TestDevice], only: Option<&str>) -> Outcome {
    let invalid = |message: String| Outcome::Invalid { message };
    let meaning = match oracle::meaning(case) {
        Ok(meaning) => meaning,
        Err(message) => return invalid(message),
    };
    let program = match LoopFile::parse(&case.kernel).map_err(|error| error.to_string()) {
        Ok(file) => file.untransformed().map_err(|error| error.to_string()),
        Err(message) => Err(message),
    };
    let mut program = match program {
        Ok(program) => program,
        Err(message) => return invalid(message),
    };
    let mut changes = Changes::of(&program);
    for line in &case.steps {
        let step = match parse::step(line) {
            Ok(step) => step,
            Err(error) => return invalid(format!("{line}: {error}")),
        };
        program = match apply(&program, &step) {
            Ok(next) => next,
            Err(error) => return refused_step(&step, &error),
        };
        changes.add(&step);
    }
    run(case, &program, &changes, &meaning, places, only)
}

/// The stage at which the data decides against a chain.
const CONFLICT: &str = "checked run";

/// Runs a program that a chain made.
pub fn run(case: &Case, program: &Program, changes: &Changes, meaning: &[Numbers], places: &[TestDevice], only: Option<&str>) -> Outcome {
    let mut generated: Option<(DeviceKind, Generated)> = None;
    let mut outcome = None;
    let mut collides = false;
    for place in places.iter().filter(|place| only.is_none_or(|only| only == place.name)) {
        let kind = place.context.device().kind();
        if case.is_huge() && kind != DeviceKind::Cpu {
            continue;
        }
        if generated.as_ref().is_none_or(|(known, _)| *known != kind) {
            generated = match program.generate(target_of(kind)) {
                Ok(code) => Some((kind, code)),
                Err(error) => {
                    outcome.get_or_insert(refused("generation", &error));
                    continue;
                }
            };
        }
        let Some((_, code)) = &generated else { continue };
        // What only the data decides is decided by a checked run first: where it finds a conflict, no numbers are promised.
        if !code.doubts.is_empty() && kind == DeviceKind::Cpu && !collides {
            match with_checks(program, true).generate(target_of(kind)) {
                Ok(checked) => match run_on(place, &checked, case, changes, meaning) {
                    Outcome::Refused { stage, kind, message } if stage == CONFLICT => {
                        collides = true;
                        outcome.get_or_insert(Outcome::Refused { stage, kind, message });
                    }
                    other if other.is_failure() => return other,
                    _ => {}
                },
                Err(error) => {
                    return Outcome::Failed { device: place.name.to_owned(), what: "checked".to_owned(), message: error.to_string() };
                }
            }
        }
        if collides {
            continue;
        }
        match run_on(place, code, case, changes, meaning) {
            other if other.is_failure() => return other,
            other => _ = outcome.get_or_insert(other),
        }
    }
    outcome.unwrap_or(Outcome::Invalid { message: "no device".to_owned() })
}

fn run_on(place: &TestDevice, generated: &Generated, case: &Case, changes: &Changes, meaning: &[Numbers]) -> Outcome {
    let device = place.name.to_owned();
    let mut code = std::borrow::Cow::Borrowed(generated);
    if place.reverse {
        match reversed(&generated.code.text) {
            Some(text) => code.to_mut().code.text = text,
            None => return Outcome::Same,
        }
    }
    let failed = |what: &str, message: String| Outcome::Failed { device: device.clone(), what: what.to_owned(), message };
    let executable = match Executable::compile(&code, &place.context) {
        Ok(executable) => executable,
        Err(error @ LoopError::Kernel(_)) => return failed("compiler", format!("{error}\n{}", code.code.text)),
        Err(error) => return refused("call", &error),
    };
    for (&size, expected) in case.sizes.iter().zip(meaning).filter(|(size, _)| changes.fixed.is_none_or(|fixed| fixed == **size)) {
        let mut arguments = match Arguments::new(&place.context, case, &generated.kernel, changes, size) {
            Ok(arguments) => arguments,
            Err(message) => return Outcome::Refused { stage: "call".to_owned(), kind: "Layout".to_owned(), message },
        };
        match arguments.call(&executable, size) {
            Ok(()) => {}
            Err(error @ LoopError::Kernel(KernelError::Conflict { .. })) => return refused(CONFLICT, &error),
            Err(error @ LoopError::Kernel(_)) => return failed("device", format!("{error}\n{}", code.code.text)),
            Err(error) => return refused("call", &error),
        }
        if let Err(message) = arguments.compare(expected) {
            return Outcome::Wrong { device, message: format!("for n = {size}: {message}\n{}", code.code.text) };
        }
    }
    Outcome::Same
}
