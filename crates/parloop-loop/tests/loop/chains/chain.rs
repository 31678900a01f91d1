//! Draws a case from a seed: a kernel that has a meaning, and transformations that apply to it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use parloop_loop::file::LoopFile;
use parloop_loop::parse;
use parloop_loop::prelude::*;
use parloop_loop::syntax::{Program, Target};
use parloop_loop::transform::apply;

use super::arguments::Changes;
use super::case::Case;
use super::draw::Draw;
use super::oracle::{Numbers, meaning};
use super::sample::Sample;
use super::steps::draw_step;
use super::verify::{Outcome, kind, refused_step};

/// A case that is ready to run.
pub struct Drawn {
    pub case: Case,
    pub program: Program,
    pub changes: Changes,
    pub meaning: Vec<Numbers>,
}

/// What is told while a case is drawn.
pub trait Listener {
    /// A transformation was tried: as a case that ends with it, and why it was refused.
    fn tried(&mut self, case: &Case, refused: Option<Outcome>);
}

/// The case of a seed; a failure if a transformation panics.
pub fn draw(seed: u64, listener: &mut dyn Listener) -> Result<Drawn, (Case, Outcome)> {
    let mut draw = Draw::seeded(seed);
    let (case, program, meaning) = (0..500).find_map(|_| kernel(&mut draw)).expect("one of many kernels has a meaning");
    let mut changes = Changes::of(&program);
    // What there is after each step, so that one that cannot be scheduled is taken back.
    let mut done = vec![(case, program)];
    for _ in 0..draw.of(&[0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4]) {
        for _ in 0..4 {
            let (case, program) = done.last().unwrap();
            let Some(line) = draw_step(&mut draw, program, &case.sizes) else { break };
            let mut next = case.clone();
            next.steps.push(line.clone());
            let step = parse::step(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
            let applied = catch_unwind(AssertUnwindSafe(|| apply(program, &step)));
            match applied.map_err(|_| ()) {
                Err(()) => return Err((next, super::worker::panicked())),
                Ok(Err(error)) => listener.tried(&next, Some(refused_step(&step, &error))),
                Ok(Ok(program)) => {
                    listener.tried(&next, None);
                    done.push((next, program));
                    // At times the steps that follow make it possible.
                    if draw.one_in(3) || generates(done.last().unwrap(), listener)? {
                        break;
                    }
                    done.pop();
                }
            }
        }
    }
    while done.len() > 1 && !generates(done.last().unwrap(), listener)? {
        done.pop();
    }
    let (case, program) = done.pop().unwrap();
    case.steps.iter().for_each(|line| changes.add(&parse::step(line).unwrap()));
    Ok(Drawn { case, program, changes, meaning })
}

/// Whether there is code for it.
fn generates((case, program): &(Case, Program), listener: &mut dyn Listener) -> Result<bool, (Case, Outcome)> {
    match catch_unwind(AssertUnwindSafe(|| program.generate(Target::C))).map_err(|_| ()) {
        Err(()) => Err((case.clone(), super::worker::panicked())),
        Ok(Ok(_)) => Ok(true),
        Ok(Err(error)) => {
            let refused = Outcome::Refused { stage: "generation".to_owned(), kind: kind(&error), message: error.to_string() };
            listener.tried(case, Some(refused));
            Ok(false)
        }
    }
}

/// A kernel, if it can be created and generated and its numbers are small.
fn kernel(draw: &mut Draw) -> Option<(Case, Program, Vec<Numbers>)> {
    let Sample { text, sizes } = Sample::draw(draw);
    let case = Case { kernel: text, sizes, steps: Vec::new() };
    let file = LoopFile::parse(&case.kernel).unwrap_or_else(|error| panic!("{error}\n{case}"));
    let program = file.untransformed().ok()?;
    program.generate(Target::C).ok()?;
    let meaning = meaning(&case).ok()?;
    Some((case, program, meaning))
}
