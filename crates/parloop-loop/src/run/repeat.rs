//! A kernel with fixed numbers, for many calls: each call passes only memory.

use std::sync::Arc;

use parloop_device::once::Once;
use parloop_device::{DType, Memory};
use parloop_isl::Name;
use parloop_kernel::{Arg, Items, Kernel, Scalar};
use smallvec::SmallVec;

use super::RunError;
use super::executable::{Executable, Feed, type_in_code};
use super::formula::Formula;
use super::formula::Values;
use super::planned::{GivenArgument, PlannedArg, PlannedKind};
use crate::error::LoopError;

/// A kernel compiled for one context with all its integers known.
#[derive(Clone, Debug)]
pub struct Repeat {
    arrays: Vec<Name>,
    launches: Vec<Launch>,
    /// The most bytes of each array that its indices reach, where wider ones can be had.
    reach: Vec<u64>,
    wide: Arc<Once<Repeat>>,
    executable: Executable,
    values: Values,
}

#[derive(Clone, Debug)]
struct Launch {
    kernel: Kernel,
    items: Items,
    feeds: Vec<RepeatFeed>,
}

/// What a parameter of a launch is.
#[derive(Clone, Copy, Debug)]
enum RepeatFeed {
    Integer(i64),
    Array {
        place: usize,
        dtype: DType,
    },
    /// How many elements of this many bytes there are.
    Length {
        place: usize,
        bytes: usize,
    },
}

/// The length of an array of unknown extent, for checks: all that its memory holds along its only axis; unknown with more axes.
fn length_of(arrays: &[Name], arg: &PlannedArg) -> RepeatFeed {
    let place = arrays.iter().position(|name| *name == arg.name);
    match (&arg.kind, place) {
        (PlannedKind::Array { dtype, numbers, strides, .. }, Some(place)) if matches!(strides[..], [Some(Formula::Constant(1))]) => {
            RepeatFeed::Length { place, bytes: dtype.size() * numbers }
        }
        _ => RepeatFeed::Integer(i64::MAX),
    }
}

impl Executable {
    /// Fixes the integers. The kernel may have no other numbers as arguments, and no memory of its own.
    ///
    /// # Errors
    /// [`RunError::Missing`] for an integer that is not given, or another argument that is not an array of numbers.
    pub fn repeat(&self, integers: &[(&str, i64)]) -> Result<Repeat, LoopError> {
        let plan = self.plan();
        let mut given = vec![GivenArgument::Missing; plan.args().len()];
        for &(name, value) in integers {
            given[plan.position(name).ok_or_else(|| plan.unknown(name))?] = GivenArgument::Int(value);
        }
        let values = plan.resolve_integers(&given)?;
        let executable = self.for_call(&values, &[])?;
        executable.repeat_with(values)
    }

    fn repeat_with(&self, values: Values) -> Result<Repeat, LoopError> {
        let plan = self.plan();
        let missing = |name: &Name| RunError::Missing { kernel: plan.kernel().clone(), argument: name.clone() };
        let (mut arrays, mut reach) = (Vec::new(), Vec::new());
        for arg in plan.args() {
            match &arg.kind {
                PlannedKind::Array { dtype, numbers, .. } => {
                    arrays.push(arg.name.clone());
                    reach.extend(self.most_elements().map(|most| most.saturating_mul((dtype.size() * numbers) as u64)));
                }
                PlannedKind::Value { place: Some(_), .. } => {}
                PlannedKind::Value { place: None, .. } | PlannedKind::Object { .. } => return Err(missing(&arg.name).into()),
            }
        }
        let kind = self.context().device().kind();
        let mut launches = Vec::new();
        self.each_launch(&values, &mut |launch, items, hosts| {
            let feeds = launch.feeds.iter().map(|feed| match feed {
                Feed::Integer(_, place) => match (values[*place], plan.length_at(*place)) {
                    (Some(value), _) => Ok(RepeatFeed::Integer(value)),
                    (None, Some(position)) => Ok(length_of(&arrays, &plan.args()[position])),
                    (None, None) => Err(missing(plan.kernel())),
                },
                Feed::HostIname(_, depth) => Ok(RepeatFeed::Integer(hosts[*depth])),
                Feed::Argument(position) => {
                    let arg = &plan.args()[*position];
                    let place = arrays.iter().position(|name| *name == arg.name).ok_or_else(|| missing(&arg.name))?;
                    match arg.kind {
                        PlannedKind::Array { dtype, .. } => Ok(RepeatFeed::Array { place, dtype: type_in_code(dtype, kind) }),
                        _ => Err(missing(&arg.name)),
                    }
                }
                Feed::Separate(position, _) => Err(RunError::Separate { argument: plan.args()[*position].name.clone() }),
                Feed::Temporary(_) => Err(missing(plan.kernel())),
            });
            launches.push(Launch { kernel: launch.kernel.clone(), items, feeds: feeds.collect::<Result<_, _>>()? });
            Ok(())
        })?;
        Ok(Repeat { arrays, launches, reach, wide: Arc::default(), executable: self.clone(), values })
    }
}

impl Repeat {
    /// The names of the arrays, in the order in which [`run`](Self::run) takes their memory.
    pub fn arrays(&self) -> &[Name] {
        &self.arrays
    }

    /// Launches on that memory, which must be as large as the kernel needs: what it has of it is not known here.
    ///
    /// # Errors
    /// When memory is of another device, or the device fails.
    pub fn run(&self, memory: &[&Memory]) -> Result<(), LoopError> {
        if self.reach.iter().zip(memory).any(|(&reach, memory)| memory.len() as u64 > reach) {
            return self.wide()?.run(memory);
        }
        let _turn = self.executable.shadow_turn();
        for launch in &self.launches {
            let feed = |feed: &RepeatFeed| match *feed {
                RepeatFeed::Integer(value) => Arg::Scalar(Scalar::Int(value.into())),
                RepeatFeed::Length { place, bytes } => Arg::Scalar(Scalar::Int((memory[place].len() / bytes) as i128)),
                RepeatFeed::Array { place, dtype } => Arg::Memory { memory: memory[place], dtype: Some(dtype), writable: true },
            };
            let mut args: SmallVec<[Arg<'_>; 16]> = launch.feeds.iter().map(feed).collect();
            launch.kernel.call_over(&mut args, launch.items)?;
        }
        Ok(())
    }

    /// The same with indices of 64 bits, for memory that others do not reach.
    fn wide(&self) -> Result<&Repeat, LoopError> {
        if let Some(wide) = self.wide.get() {
            return Ok(wide);
        }
        let made = self.executable.wide()?.repeat_with(self.values.clone())?;
        Ok(self.wide.get_or_init(|| made))
    }
}
