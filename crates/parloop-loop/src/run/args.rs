//! Arguments of calls from Rust: [`loop_args!`](crate::loop_args) and what can stand in it; and programs compiled in one step.

use parloop_device::Element;
use parloop_ir::program::Program;
use parloop_isl::Name;
use parloop_kernel::{Arg, Context, Order, checked_by_environment, dense_strides};

use super::{Executable, LoopArg, RunError, target_of};
use crate::error::LoopError;
use crate::prepare::{Generated, generate};

/// The arguments of a call, by name: numbers, `&array`, `&mut array`, slices of the host, any of them with a shape (`(&array, [n, m])`), or a
/// [`LoopArg`](crate::run::LoopArg).
///
/// ```
/// use parloop_kernel::Context;
/// use parloop_loop::{create::{Data, KernelBuilder}, loop_args, prelude::*};
/// let ctx = Context::open("cpu:1")?;
/// let scale = KernelBuilder::new()
///     .domain("{[i]: 0<=i<n}")
///     .instructions("out[i] = c*a[i]")
///     .data(Data::global("a, out").dtype("float64"))
///     .data(Data::value("c").dtype("float64"))
///     .rest()
///     .build()?
///     .compile(&ctx)?;
/// let (a, mut out) = (ctx.array(&[1.0, 2.0, 3.0])?, ctx.zeros::<f64>(3)?);
/// scale.call(loop_args! { a: &a, c: 2.0, out: &mut out })?;
/// assert_eq!(out.to_vec()?, [2.0, 4.0, 6.0]);
/// # Ok::<(), parloop_loop::error::LoopError>(())
/// ```
#[macro_export]
macro_rules! loop_args {
    ($($name:ident: $arg:expr),* $(,)?) => { &mut [$((stringify!($name), $crate::run::LoopArg::from($arg))),*] };
}

/// Compilation as methods of programs.
pub trait Compile {
    /// Its kernel, compiled for a context.
    ///
    /// # Errors
    /// If code cannot be generated ([`generate`](crate::prepare::generate)), or does not compile.
    fn compile(&self, context: &Context) -> Result<Executable, LoopError>;

    /// The code of a kernel of the program for the device of a context; with every index checked if its options enable it, or by default if
    /// the environment does ([`checked_by_environment`]).
    ///
    /// # Errors
    /// If code cannot be generated.
    fn generate_for(&self, entry: &str, context: &Context) -> Result<Generated, LoopError>;
}

impl Compile for Program {
    fn compile(&self, context: &Context) -> Result<Executable, LoopError> {
        Executable::compile(&self.generate_for(self.only_entry()?, context)?, context)
    }

    fn generate_for(&self, entry: &str, context: &Context) -> Result<Generated, LoopError> {
        let target = target_of(context.device().kind());
        // An invalid value of the variable is always reported.
        let by_environment = checked_by_environment().map_err(LoopError::from)?;
        let is_said = self.kernel(entry).is_some_and(|kernel| kernel.options.checked.is_some());
        if is_said || !by_environment {
            return generate(self, entry, target);
        }
        generate(&with_checks(self, true), entry, target)
    }
}

/// The program with all of its kernels in checked mode, or with none.
pub fn with_checks(program: &Program, checked: bool) -> Program {
    let mut with = program.clone();
    for kernel in program.callables.values().filter_map(|callable| callable.kernel()) {
        let mut kernel = kernel.clone();
        kernel.options.checked = Some(checked);
        with = with.with_kernel(kernel);
    }
    with
}

impl LoopArg<'_> {
    /// Checks that the memory of an array holds every element that its shape and strides name.
    pub(super) fn check_extent(&self, kernel: &Name, argument: &str) -> Result<(), RunError> {
        let LoopArg::Array { arg, shape, strides } = self else { return Ok(()) };
        let (found, size) = match arg {
            Arg::Memory { memory, dtype: Some(dtype), .. } => (memory.len(), dtype.size()),
            Arg::Host { bytes, dtype } => (bytes.len(), dtype.size()),
            Arg::HostMut { bytes, dtype } => (bytes.len(), dtype.size()),
            _ => return Ok(()),
        };
        let (kernel, argument) = (kernel.clone(), Name::from(argument));
        let strides = strides.clone().unwrap_or_else(|| dense_strides(shape, size, Order::C));
        if shape.len() != strides.len() || shape.iter().any(|&length| length < 0) {
            return Err(RunError::BadShape { kernel, argument, shape: shape.clone(), strides });
        }
        if shape.contains(&0) {
            return Ok(());
        }
        let steps = shape.iter().zip(&strides).map(|(&length, &stride)| i128::from(length - 1) * i128::from(stride));
        let (before, behind) = steps
            .fold((0i128, size as i128), |(before, behind), step| (before.saturating_add(step.min(0)), behind.saturating_add(step.max(0))));
        if before < 0 {
            return Err(RunError::BadShape { kernel, argument, shape: shape.clone(), strides });
        }
        match u64::try_from(behind).unwrap_or(u64::MAX) {
            needed if needed > found as u64 => Err(RunError::TooSmall { kernel, argument, shape: shape.clone(), needed, found }),
            _ => Ok(()),
        }
    }
}

/// An array of several axes, in C order.
impl<'a, A: Into<Arg<'a>>, const N: usize> From<(A, [i64; N])> for LoopArg<'a> {
    fn from((array, shape): (A, [i64; N])) -> Self {
        LoopArg::shaped(array, &shape)
    }
}

macro_rules! host_arrays {
    ($($borrowed:ty),*) => { $(
        /// An array of one axis in the host's memory.
        impl<'a, T: Element> From<$borrowed> for LoopArg<'a> {
            fn from(values: $borrowed) -> Self {
                LoopArg::Array { shape: vec![values.len() as i64], arg: values.into(), strides: None }
            }
        }
    )* };
}
host_arrays!(&'a [T], &'a mut [T], &'a Vec<T>, &'a mut Vec<T>);
