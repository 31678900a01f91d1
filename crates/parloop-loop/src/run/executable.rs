//! Kernels compiled for a context: their launches, and a call from Rust.

use std::sync::Arc;

use parloop_codegen::lower::tree::ParamSource;
use parloop_codegen::lower::{Code, GlobalTemporary, LaunchCode};
use parloop_codegen::schedule::ScheduleItem;
use parloop_device::forked::{Guard, Lock};
use parloop_device::{DType, DeviceKind, Memory};
use parloop_ir::fold;
use parloop_ir::layout::Axis;
use parloop_ir::syntax::{ArgumentKind, ClassType, LoopKernel, Target, Type};
use parloop_isl::Name;
use parloop_kernel::{Arg, CompileOptions, Context, Items, Kernel, Order, Scalar, Slot, Source, dense_strides};

use super::call::CallPlan;
use super::fields::PlannedField;
use super::formula::Formula;
use super::formula::Values;
use super::overlap::Location;
use super::planned::{GivenArgument, GivenArray, GivenObject, PlannedArg, PlannedKind};
use super::width::{TooNarrow, Widths, is_beyond};
use crate::error::LoopError;
use crate::prepare::{Generated, Wider};

/// A kernel compiled for one context. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Executable {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    context: Context,
    plan: CallPlan,
    launches: Vec<ReadyLaunch>,
    steps: Vec<ReadyStep>,
    globals: Vec<(GlobalTemporary, Formula)>,
    code: Code,
    index: DType,
    widths: Widths,
    /// How to regenerate it with 64-bit indices, if it has narrower ones.
    wider: Option<Wider>,
    /// The version with 64-bit indices, once a call needed it.
    wide: Lock<Option<Executable>>,
    /// Held by a call whose accesses are watched.
    shadow_turn: Lock<()>,
}

/// One launch, ready but for its arguments.
#[derive(Debug)]
pub struct ReadyLaunch {
    /// The compiled function.
    pub kernel: Kernel,
    /// What each of its parameters is.
    pub feeds: Vec<Feed>,
    groups: Vec<Formula>,
    group_size: Vec<Formula>,
    /// Parameters of which an alignment was promised, where the code relies on it.
    promised: Vec<(usize, u32)>,
    /// Whether pointers are buffers with offsets, as on OpenCL.
    is_by_offset: bool,
}

impl ReadyLaunch {
    /// Checks that pointers are aligned as was promised; `slots` are in the order of the parameters.
    ///
    /// # Errors
    /// [`RunError::Unaligned`](super::RunError::Unaligned).
    #[inline]
    pub fn check_alignment(&self, slots: &[Slot]) -> Result<(), LoopError> {
        match self.promised.as_slice() {
            [] => Ok(()),
            promised => promised.iter().try_for_each(|(index, bytes)| self.check_address(*index, *bytes, self.place(slots[*index]))),
        }
    }

    /// The address of a slot; where the device has none, the place in its buffer, which is aligned.
    fn place(&self, [address, offset]: Slot) -> u64 {
        if self.is_by_offset { offset } else { address }
    }

    fn check_address(&self, index: usize, promised: u32, address: u64) -> Result<(), LoopError> {
        if address.is_multiple_of(promised.into()) {
            return Ok(());
        }
        let signature = self.kernel.signature();
        let (kernel, argument) = (signature.name.as_str().into(), signature.params[index].name.as_str().into());
        Err(super::RunError::Unaligned { kernel, argument, address, promised }.into())
    }

    /// The same for arguments that have no slots yet. What is copied to the device first is aligned there.
    fn check_args(&self, args: &[Arg<'_>]) -> Result<(), LoopError> {
        for &(index, promised) in &self.promised {
            let address = match &args[index] {
                Arg::Memory { memory, .. } => self.place(self.kernel.pointer_slot(memory, 0)?),
                Arg::Host { bytes, .. } if self.kernel.is_cpu() => bytes.as_ptr() as u64,
                Arg::HostMut { bytes, .. } if self.kernel.is_cpu() => bytes.as_ptr() as u64,
                _ => continue,
            };
            self.check_address(index, promised, address)?;
        }
        Ok(())
    }
}

/// What a parameter of a launch is.
#[derive(Clone, Debug, PartialEq)]
pub enum Feed {
    /// That argument of the kernel.
    Argument(usize),
    /// One of the arrays that a `sep` axis makes of an argument.
    Separate(usize, Vec<u64>),
    /// An integer of that type: by its place among the integers of the call.
    Integer(DType, usize),
    /// The temporary of that number.
    Temporary(usize),
    /// The iname of a host loop, of that type, by its depth.
    HostIname(DType, usize),
}

#[derive(Debug)]
enum ReadyStep {
    Launch(usize),
    Loop { first: Formula, last: Formula, body: Vec<ReadyStep> },
}

/// What is done with each launch of a call: it gets the launch, its items and the values of the host loops around it.
pub type EachLaunch<'a> = dyn FnMut(&ReadyLaunch, Items, &[i64]) -> Result<(), LoopError> + 'a;

/// An argument of a call.
#[derive(Debug)]
pub enum LoopArg<'a> {
    /// A number.
    Scalar(Scalar),
    /// An array of that shape, in C order unless strides (in bytes) are given.
    Array {
        /// Its address space.
        arg: Arg<'a>,
        /// The lengths of its axes.
        shape: Vec<i64>,
        /// Its strides.
        strides: Option<Vec<i64>>,
    },
    /// A typed object.
    Object(Arg<'a>),
}

impl Executable {
    /// Compiles a kernel whose code was generated for the kind of the context's device.
    ///
    /// # Errors
    /// [`LoopError::Kernel`] with the compiler's message; [`LoopError::Run`] for sizes that the host cannot compute.
    pub fn compile(generated: &Generated, context: &Context) -> Result<Executable, LoopError> {
        let Generated { kernel, schedule, lowered, code, .. } = generated;
        let plan = CallPlan::of(kernel, &generated.bounds)?;
        let widths = Widths::of(lowered, &plan, &host_limits(generated, &plan)?);
        let wider = (kernel.index_type.size() < 8).then(|| generated.wider());
        if let Some(wider) = &wider
            && widths.misfit(&Values::new(), false).is_some()
        {
            // Some integer needs 64 bits whatever the sizes are.
            return Executable::compile(&wider.generate()?, context);
        }
        let options = CompileOptions {
            language: code.language,
            checked: kernel.options.is_checked(),
            guarded: true,
            check_sites: code.check_sites.clone(),
            arguments: own_flags(generated, context.device().kind())
                .map(str::to_owned)
                .chain(kernel.options.build_options().iter().cloned())
                .collect(),
            classes: plan.args().iter().filter_map(|arg| arg.kind.class()).flat_map(|class| class_names(class)).collect(),
            ..CompileOptions::default()
        };
        let source = Source::named(format!("<{}>", kernel.name), code.text.clone());
        // SAFETY: the code is lowered from a kernel that passed all checks, and calls check sizes; for C in it, which preambles, callables
        // and classes bring, and for options that take the place of a check, whoever made these vouched.
        let program = unsafe { context.compile_with(&[source], &options)? };
        let mut builder = Builder { plan: &plan, hosts: Vec::new(), generated, kind: context.device().kind() };
        let launches = code.launches.iter().map(|launch| builder.launch(launch, &program)).collect::<Result<Vec<_>, LoopError>>()?;
        let globals =
            code.globals.iter().map(|global| Ok((global.clone(), builder.formula(&global.size)?))).collect::<Result<_, LoopError>>()?;
        let mut steps = builder.steps(&schedule.steps)?;
        let mut launches = launches;
        if let Some(shadow) = &code.shadow {
            let (begin, next) = (launches.len(), launches.len() + 1);
            for launch in [&shadow.begin, &shadow.next] {
                launches.push(builder.launch(launch, &program)?);
            }
            steps = follow_launches(steps, next);
            steps.insert(0, ReadyStep::Launch(begin));
        }
        let inner = Inner {
            context: context.clone(),
            plan,
            launches,
            steps,
            globals,
            code: code.clone(),
            index: kernel.index_type,
            widths,
            wider,
            wide: Lock::new(None),
            shadow_turn: Lock::new(()),
        };
        Ok(Executable { inner: Arc::new(inner) })
    }

    /// The executable for a call with those sizes and arguments: this one, or one with 64-bit indices if sizes need them, which is compiled
    /// on the first such call.
    ///
    /// # Errors
    /// [`RunError::TooWide`](super::RunError::TooWide) if 64 bits are not enough, [`RunError::Range`](super::RunError::Range) for a number
    /// that does not fit its own type; errors of the compiler.
    pub fn for_call(&self, values: &Values, given: &[GivenArgument]) -> Result<Executable, LoopError> {
        let is_beyond = |given: &GivenArgument| is_beyond(given, self.inner.index);
        let fits = match self.inner.wider {
            Some(_) => !given.iter().any(is_beyond) && self.inner.widths.misfit(values, false).is_none() && self.sizes_fit(values),
            None => true,
        };
        let found = if fits { self.clone() } else { self.wide()? };
        found.inner.plan.check_integers(values)?;
        if found.inner.wider.is_none()
            && let Some(TooNarrow { dtype, least, most }) = found.inner.widths.misfit(values, true)
        {
            return Err(super::RunError::TooWide { kernel: found.inner.plan.kernel().clone(), dtype, least, most }.into());
        }
        Ok(found)
    }

    /// Whether temporaries in global memory have no more elements than indices count.
    fn sizes_fit(&self, values: &Values) -> bool {
        let most = self.inner.index.integer_range().map_or(i128::MAX, |(_, most)| most);
        self.inner.globals.iter().all(|(_, size)| size.evaluate(values).is_none_or(|size| i128::from(size) <= most))
    }

    /// The same with indices of 64 bits.
    pub(super) fn wide(&self) -> Result<Executable, LoopError> {
        let Some(wider) = &self.inner.wider else { return Ok(self.clone()) };
        let mut wide = self.inner.wide.lock_or(|| None);
        if let Some(wide) = &*wide {
            return Ok(wide.clone());
        }
        let made = Executable::compile(&wider.generate()?, &self.inner.context)?;
        Ok(wide.insert(made).clone())
    }

    /// The largest number of elements that its indices count, where wider ones can be had.
    pub(super) fn most_elements(&self) -> Option<u64> {
        self.inner.wider.as_ref()?;
        self.inner.index.integer_range().and_then(|(_, most)| u64::try_from(most).ok())
    }

    /// The context it was compiled for.
    pub fn context(&self) -> &Context {
        &self.inner.context
    }

    /// What a call needs.
    pub fn plan(&self) -> &CallPlan {
        &self.inner.plan
    }

    /// [`pointer_slot`](Self::pointer_slot) for the argument of that index, which errors name.
    ///
    /// # Errors
    /// As [`pointer_slot`](Self::pointer_slot).
    pub fn argument_slot(&self, index: usize, memory: &Memory, offset: usize) -> Result<Slot, LoopError> {
        self.pointer_slot(memory, offset).map_err(|error| match error {
            LoopError::Kernel(error) => error.of_argument(self.inner.plan.kernel(), &self.inner.plan.args()[index].name).into(),
            other => other,
        })
    }

    /// The slot of a pointer to the byte `offset` of device memory.
    ///
    /// # Errors
    /// When the memory is of another device, or has no such byte.
    pub fn pointer_slot(&self, memory: &Memory, offset: usize) -> Result<Slot, LoopError> {
        match self.inner.launches.first() {
            Some(launch) => Ok(launch.kernel.pointer_slot(memory, offset)?),
            None => Ok([0, 0]),
        }
    }

    /// Its source and launches.
    pub fn code(&self) -> &Code {
        &self.inner.code
    }

    /// Memory for the temporaries in global memory, for the sizes of a call.
    ///
    /// # Errors
    /// When it does not fit.
    pub fn temporaries(&self, values: &Values) -> Result<Vec<Memory>, LoopError> {
        let allocate = |(global, size): &(GlobalTemporary, Formula)| {
            let elements = size.evaluate(values).and_then(|size| u64::try_from(size).ok());
            let bytes = elements.and_then(|size| size.checked_mul(element_size(&global.ty))).and_then(|bytes| usize::try_from(bytes).ok());
            let bytes = bytes
                .ok_or_else(|| super::RunError::Overflow { kernel: self.inner.plan.kernel().clone(), argument: global.name.clone() })?;
            let memory = self.inner.context.device().allocate(bytes.max(1)).map_err(parloop_kernel::KernelError::from)?;
            if let Some(initializer) = &global.initializer {
                self.initialise(&memory, &initializer.bytes).map_err(parloop_kernel::KernelError::from)?;
            }
            Ok(memory)
        };
        self.inner.globals.iter().map(allocate).collect()
    }

    /// Initialises a temporary, in each replay if the call is recorded.
    fn initialise(&self, memory: &Memory, values: &[u8]) -> Result<(), parloop_device::DeviceError> {
        let (context, stream) = (&self.inner.context, self.inner.context.stream());
        if !context.is_recording() {
            return stream.write(memory, 0, values);
        }
        let kept = context.device().allocate(values.len())?;
        stream.write_at_once(&kept, 0, values)?;
        stream.copy(memory, 0, &kept, 0, values.len())
    }

    /// Visits the launches of a call in order: `run` gets each with its grid and the values of the host loops around it.
    ///
    /// # Errors
    /// The first that `run` gives; [`LoopError::Run`] for sizes that do not fit.
    #[inline]
    pub fn each_launch(&self, values: &Values, run: &mut EachLaunch<'_>) -> Result<(), LoopError> {
        if self.inner.context.is_recording() {
            self.inner.plan.check_recorded()?;
        }
        let _turn = self.shadow_turn();
        if let [ReadyStep::Launch(only)] = self.inner.steps[..] {
            let launch = &self.inner.launches[only];
            return run(launch, self.items(launch, values)?, &[]);
        }
        let mut values = values.clone();
        self.run_steps(&self.inner.steps, &mut values, &mut Vec::new(), run)
    }

    /// Shadow memory is the program's, so that one call at a time uses it.
    pub(super) fn shadow_turn(&self) -> Option<Guard<'_, ()>> {
        self.inner.code.shadow.as_ref()?;
        Some(self.inner.shadow_turn.lock_or(|| ()))
    }

    fn run_steps(&self, steps: &[ReadyStep], values: &mut Values, hosts: &mut Vec<i64>, run: &mut EachLaunch<'_>) -> Result<(), LoopError> {
        for step in steps {
            match step {
                ReadyStep::Launch(index) => {
                    let launch = &self.inner.launches[*index];
                    run(launch, self.items(launch, values)?, hosts)?;
                }
                ReadyStep::Loop { first, last, body } => {
                    let (first, last) = (self.size(first, values)?, self.size(last, values)?);
                    for value in first..=last {
                        values.push(Some(value));
                        hosts.push(value);
                        self.run_steps(body, values, hosts, run)?;
                        hosts.pop();
                        values.pop();
                    }
                }
            }
        }
        Ok(())
    }

    /// The items of a launch: work-groups for CPU threads to share, blocks for a GPU.
    fn items(&self, launch: &ReadyLaunch, values: &Values) -> Result<Items, LoopError> {
        let mut grid = [1u64; 3];
        for (axis, formula) in launch.groups.iter().enumerate() {
            grid[axis] = u64::try_from(self.size(formula, values)?.max(0)).expect("invariant: not negative");
        }
        if !launch.kernel.is_cpu() {
            let mut block = [1; 3];
            for (axis, formula) in launch.group_size.iter().enumerate() {
                // What is larger than any device allows is refused with the device's own limit.
                block[axis] = u32::try_from(self.size(formula, values)?).unwrap_or(u32::MAX);
            }
            return Ok(Items::Blocks { grid, block });
        }
        let groups =
            grid.iter().try_fold(1u64, |product, &groups| product.checked_mul(groups)).filter(|&groups| i64::try_from(groups).is_ok());
        Ok(Items::Line(groups.ok_or_else(|| self.overflow("the number of work-groups"))?))
    }

    fn overflow(&self, what: &str) -> super::RunError {
        super::RunError::Overflow { kernel: self.inner.plan.kernel().clone(), argument: what.into() }
    }

    fn size(&self, formula: &Formula, values: &Values) -> Result<i64, LoopError> {
        Ok(formula.evaluate(values).ok_or_else(|| self.overflow("the grid"))?)
    }

    /// Calls it with arguments by name. Sizes that are not given are inferred from shapes.
    ///
    /// # Errors
    /// If an argument is missing, unknown or does not match, or if the device fails.
    pub fn call(&self, args: &mut [(&str, LoopArg<'_>)]) -> Result<(), LoopError> {
        let plan = &self.inner.plan;
        let mut given = vec![GivenArgument::Missing; plan.args().len()];
        let mut places = vec![None; plan.args().len()];
        for (index, (name, arg)) in args.iter().enumerate() {
            let position = plan.position(name).ok_or_else(|| plan.unknown(name))?;
            if places[position].is_some() {
                return Err(super::RunError::GivenTwice { kernel: plan.kernel().clone(), argument: (*name).into() }.into());
            }
            arg.check_extent(plan.kernel(), name)?;
            given[position] = arg.given(plan, &plan.args()[position])?;
            places[position] = Some(index);
        }
        let values = plan.resolve(&given)?;
        if let Some(missing) =
            plan.args().iter().zip(&places).find_map(|(arg, place)| (place.is_none() && arg.kind.is_array()).then_some(arg))
        {
            return Err(super::RunError::Missing { kernel: plan.kernel().clone(), argument: missing.name.clone() }.into());
        }
        if plan.asks_apart() {
            let locate = |index: usize| self.locate(&args[places[index]?].1);
            plan.check_apart(&given, locate)?;
        }
        let ready = self.for_call(&values, &given)?;
        let plan = ready.plan();
        let temporaries = ready.temporaries(&values)?;
        ready.each_launch(&values, &mut |launch, items, hosts| {
            // One borrow of each argument for each launch, in the order of the launch's parameters.
            let mut passed: Vec<Arg<'_>> = Vec::with_capacity(launch.feeds.len());
            let mut free: Vec<Option<&mut LoopArg<'_>>> = args.iter_mut().map(|(_, arg)| Some(arg)).collect();
            for feed in &launch.feeds {
                passed.push(match feed {
                    Feed::Integer(_, place) => Arg::Scalar(Scalar::Int(plan.value(&values, *place)?.into())),
                    Feed::HostIname(_, depth) => Arg::Scalar(Scalar::Int(hosts[*depth].into())),
                    Feed::Temporary(index) => Arg::Memory { memory: &temporaries[*index], dtype: None, writable: true },
                    Feed::Argument(position) | Feed::Separate(position, _) => {
                        let arg = places[*position].and_then(|index| free[index].take());
                        let arg = arg.ok_or_else(|| super::RunError::Separate { argument: plan.args()[*position].name.clone() })?;
                        arg.reborrow(self.inner.context.device().kind())
                    }
                });
            }
            launch.check_args(&passed)?;
            launch.kernel.call_over(&mut passed, items)?;
            Ok(())
        })
    }
}

impl Executable {
    /// Where an argument is, as far as that is known before its kernel runs: memory of the device, or host memory that is used in place.
    fn locate(&self, arg: &LoopArg<'_>) -> Option<Location> {
        let slot = |memory: &Memory, offset: usize| self.pointer_slot(memory, offset).ok().map(|slot| self.location(slot));
        match arg {
            LoopArg::Array { arg: Arg::Memory { memory, .. }, .. } => slot(memory, 0),
            LoopArg::Array { arg: Arg::Host { bytes, .. }, .. } => Some((0, bytes.as_ptr() as u64)),
            LoopArg::Array { arg: Arg::HostMut { bytes, .. }, .. } => Some((0, bytes.as_ptr() as u64)),
            LoopArg::Object(Arg::Placed { object, .. }) => slot(object.memory(), object.offset()),
            _ => None,
        }
    }

    /// What a slot of a pointer says of where it leads.
    pub fn location(&self, [address, offset]: Slot) -> Location {
        match self.inner.context.device().kind() {
            DeviceKind::OpenCl => (address, offset),
            _ => (0, address),
        }
    }
}

impl LoopArg<'_> {
    fn given(&self, plan: &CallPlan, planned: &PlannedArg) -> Result<GivenArgument, super::RunError> {
        Ok(match self {
            LoopArg::Scalar(Scalar::Int(value)) => i64::try_from(*value).map_or(GivenArgument::Number, GivenArgument::Int),
            LoopArg::Scalar(_) => GivenArgument::Number,
            LoopArg::Object(arg) => GivenArgument::Object(given_object(plan, planned, arg)?),
            LoopArg::Array { arg, shape, strides } => {
                let dtype = match arg {
                    Arg::Memory { dtype, .. } => *dtype,
                    Arg::Host { dtype, .. } | Arg::HostMut { dtype, .. } => Some(*dtype),
                    _ => None,
                };
                let Some(dtype) = dtype else { return Err(plan.wrong_kind(planned)) };
                let strides = strides.clone().unwrap_or_else(|| dense_strides(shape, dtype.size(), Order::C));
                let held = match arg {
                    Arg::Memory { memory, .. } => Some(memory.len()),
                    Arg::Host { bytes, .. } => Some(bytes.len()),
                    Arg::HostMut { bytes, .. } => Some(bytes.len()),
                    _ => None,
                };
                let room = held.map(|bytes| (bytes / dtype.size()) as i64);
                let array =
                    GivenArray { dtype, numbers: 1, shape: shape.iter().copied().collect(), strides: strides.into_iter().collect(), room };
                GivenArgument::Array(array.in_elements(plan.kernel(), planned)?)
            }
        })
    }

    fn reborrow(&mut self, kind: DeviceKind) -> Arg<'_> {
        let seen = |dtype: DType| type_in_code(dtype, kind);
        match self {
            LoopArg::Scalar(value) => Arg::Scalar(*value),
            LoopArg::Object(arg) | LoopArg::Array { arg, .. } => match arg {
                Arg::Scalar(value) => Arg::Scalar(*value),
                Arg::Memory { memory, dtype, writable } => Arg::Memory { memory, dtype: dtype.map(seen), writable: *writable },
                Arg::Object { memory, offset, class, writable } => Arg::Object { memory, offset: *offset, class, writable: *writable },
                Arg::Placed { object, writable } => Arg::Placed { object: *object, writable: *writable },
                Arg::Host { bytes, dtype } => Arg::Host { bytes, dtype: seen(*dtype) },
                Arg::HostMut { bytes, dtype } => Arg::HostMut { bytes, dtype: seen(*dtype) },
                Arg::Text(text) => Arg::Text(text),
                _ => Arg::Null,
            },
        }
    }
}

/// What code declares arrays of a type as: truth values are bytes in OpenCL's.
pub(super) fn type_in_code(dtype: DType, kind: DeviceKind) -> DType {
    if dtype == DType::Bool && kind == DeviceKind::OpenCl { DType::U8 } else { dtype }
}

/// The names of a class and of those that it is made of.
fn class_names(class: &ClassType) -> impl Iterator<Item = String> {
    class.sources().iter().map(|source| source.class()).chain([class.name()]).map(|name| name.to_string())
}

/// What a call must know of an object.
fn given_object(plan: &CallPlan, planned: &PlannedArg, arg: &Arg<'_>) -> Result<GivenObject, super::RunError> {
    let (PlannedKind::Object { class, fields, is_located }, Arg::Placed { object, .. }) = (&planned.kind, arg) else {
        return Err(plan.wrong_kind(planned));
    };
    let (kernel, argument) = (plan.kernel(), &planned.name);
    if *class.name() != object.class() {
        let (expected, found, hint) = (class.name().clone(), object.class().into(), "");
        return Err(super::RunError::WrongClass { kernel: kernel.clone(), argument: argument.clone(), expected, found, hint });
    }
    let wrong = |field: &PlannedField, error: Box<dyn std::error::Error + Send + Sync>| super::RunError::Field {
        kernel: kernel.clone(),
        argument: argument.clone(),
        field: field.path.clone(),
        reason: error.to_string(),
    };
    let lengths = |field: &PlannedField| {
        let found = object.lengths(&field.path).map_err(|error| wrong(field, error))?;
        Ok(found.iter().map(|&length| length as i64).collect())
    };
    let extents = |field: &PlannedField| Ok(object.extents(&field.path).map_err(|error| wrong(field, error))?.into());
    GivenObject::of(fields, *is_located, lengths, extents)
}

impl<'a, T: parloop_device::Element> From<&'a parloop_kernel::Array<T>> for LoopArg<'a> {
    fn from(array: &'a parloop_kernel::Array<T>) -> Self {
        LoopArg::Array { shape: vec![array.len() as i64], arg: array.into(), strides: None }
    }
}

impl<'a, T: parloop_device::Element> From<&'a mut parloop_kernel::Array<T>> for LoopArg<'a> {
    fn from(array: &'a mut parloop_kernel::Array<T>) -> Self {
        LoopArg::Array { shape: vec![array.len() as i64], arg: array.into(), strides: None }
    }
}

impl<'a> LoopArg<'a> {
    /// A typed object: `LoopArg::object(&mut placed)` where the kernel writes to it, `LoopArg::object(&placed)` otherwise.
    pub fn object(object: impl Into<Arg<'a>>) -> LoopArg<'a> {
        LoopArg::Object(object.into())
    }

    /// An array of several axes, in C order.
    pub fn shaped(array: impl Into<Arg<'a>>, shape: &[i64]) -> LoopArg<'a> {
        LoopArg::Array { arg: array.into(), shape: shape.to_vec(), strides: None }
    }
}

macro_rules! scalars {
    ($($rust:ty),*) => { $(
        impl From<$rust> for LoopArg<'_> {
            fn from(value: $rust) -> Self {
                match Arg::from(value) {
                    Arg::Scalar(value) => LoopArg::Scalar(value),
                    other => LoopArg::Object(other),
                }
            }
        }
    )* };
}
scalars!(i32, i64, u32, u64, usize, f32, f64, bool);

struct Builder<'a> {
    plan: &'a CallPlan,
    /// The inames of host loops around the step at hand, outermost first.
    hosts: Vec<Name>,
    generated: &'a Generated,
    kind: DeviceKind,
}

impl Builder<'_> {
    fn launch(&self, launch: &LaunchCode, program: &parloop_kernel::Program) -> Result<ReadyLaunch, LoopError> {
        let hosts = self
            .generated
            .schedule
            .launches
            .iter()
            .find(|scheduled| scheduled.name == launch.function)
            .map(|scheduled| &scheduled.host_inames);
        let feeds = launch.params.iter().map(|param| {
            let position = |name: &Name| self.plan.position(name).ok_or_else(|| LoopError::from(self.plan.unknown(name)));
            let dtype = param.ty.scalar().unwrap_or(DType::I64);
            Ok(match &param.source {
                ParamSource::Argument(name) => Feed::Argument(position(name)?),
                ParamSource::Separate(name, index) => Feed::Separate(position(name)?, index.clone()),
                ParamSource::Offset(name) => Feed::Integer(dtype, self.integer(&parloop_ir::layout::offset_parameter(name))?),
                ParamSource::Stride(name, axis) => Feed::Integer(dtype, self.integer(&parloop_ir::layout::stride_parameter(name, *axis))?),
                ParamSource::Length(name, axis) => Feed::Integer(dtype, self.integer(&parloop_ir::layout::length_parameter(name, *axis))?),
                ParamSource::Temporary(name) => {
                    let index = self.generated.code.globals.iter().position(|global| global.name == *name);
                    Feed::Temporary(index.ok_or_else(|| LoopError::from(self.plan.unknown(name)))?)
                }
                ParamSource::HostIname(name) => {
                    let depth = hosts.and_then(|hosts| hosts.iter().position(|host| host == name));
                    Feed::HostIname(dtype, depth.ok_or_else(|| LoopError::from(self.plan.unknown(name)))?)
                }
            })
        });
        let feeds = feeds.map(|feed| feed.map(|feed| self.by_value(feed))).collect::<Result<_, LoopError>>()?;
        let groups = launch.groups.iter().map(|groups| self.formula(groups)).collect::<Result<_, _>>()?;
        let group_size = launch.group_size.iter().map(|size| self.formula(size)).collect::<Result<_, _>>()?;
        let kernel = program.kernel(&launch.function)?.clone();
        // OpenCL's code does not rely on it.
        let relies = self.kind != DeviceKind::OpenCl;
        let promised = launch.params.iter().enumerate().filter_map(|(index, param)| {
            let needed = param.pointer.and_then(|_| needed_alignment(&param.ty, self.kind));
            Some((index, param.alignment.filter(|_| relies).max(needed)?))
        });
        let promised = promised.collect();
        Ok(ReadyLaunch { kernel, feeds, groups, group_size, promised, is_by_offset: self.kind == DeviceKind::OpenCl })
    }

    /// Integers that shapes tell are passed from the list of integers.
    fn by_value(&self, feed: Feed) -> Feed {
        match feed {
            Feed::Argument(position) => match &self.plan.args()[position].kind {
                PlannedKind::Value { dtype, place: Some(place) } => Feed::Integer(*dtype, *place),
                _ => Feed::Argument(position),
            },
            other => other,
        }
    }

    fn integer(&self, name: &Name) -> Result<usize, LoopError> {
        self.plan.place(name).ok_or_else(|| self.plan.unknown(name).into())
    }

    fn formula(&self, expr: &parloop_ir::syntax::Expr) -> Result<Formula, LoopError> {
        let count = self.plan.integers();
        let place = &mut |name: &Name| {
            let host = || self.hosts.iter().position(|host| host == name).map(|depth| count + depth);
            self.plan.place(name).or_else(host)
        };
        Formula::of(expr, place)
            .map_err(|part| super::RunError::NoFormula { argument: self.plan.kernel().clone(), part: part.to_string() }.into())
    }

    fn steps(&mut self, steps: &[ScheduleItem]) -> Result<Vec<ReadyStep>, LoopError> {
        let mut ready = Vec::with_capacity(steps.len());
        for step in steps {
            ready.push(match step {
                ScheduleItem::Launch(index) => ReadyStep::Launch(*index),
                ScheduleItem::Loop { iname, body } => {
                    let (first, last) = self.generated.host_bounds(iname, &self.hosts)?;
                    let (first, last) = (self.formula(&first)?, self.formula(&last)?);
                    self.hosts.push(iname.clone());
                    let body = self.steps(body)?;
                    self.hosts.pop();
                    ReadyStep::Loop { first, last, body }
                }
            });
        }
        Ok(ready)
    }
}

/// The steps with another launch behind each.
fn follow_launches(steps: Vec<ReadyStep>, other: usize) -> Vec<ReadyStep> {
    let follow = |step| match step {
        ReadyStep::Launch(_) => vec![step, ReadyStep::Launch(other)],
        ReadyStep::Loop { first, last, body } => vec![ReadyStep::Loop { first, last, body: follow_launches(body, other) }],
    };
    steps.into_iter().flat_map(follow).collect()
}

/// The first and the last value of each iname that the host loops over, in terms of the integers of a call.
fn host_limits(generated: &Generated, plan: &CallPlan) -> Result<Vec<(Name, Formula, Formula)>, LoopError> {
    let mut found: Vec<(Name, Formula, Formula)> = Vec::new();
    for iname in generated.schedule.launches.iter().flat_map(|launch| &launch.host_inames) {
        if found.iter().any(|(known, _, _)| known == iname) {
            continue;
        }
        let (first, last) = generated.host_bounds(iname, &[])?;
        if let (Ok(first), Ok(last)) = (plan.formula(&first), plan.formula(&last)) {
            found.push((iname.clone(), first, last));
        }
    }
    Ok(found)
}

/// The bytes of an element.
fn element_size(ty: &Type) -> u64 {
    ty.size().map_or(16, |bytes| bytes as u64)
}

/// How vectors and records must be aligned for code of a device; records that are packed are not.
fn needed_alignment(ty: &Type, kind: DeviceKind) -> Option<u32> {
    let bytes = match ty {
        Type::Vector(dtype, lanes) => parloop_ir::functions::vector_alignment(*dtype, *lanes, target_of(kind)),
        Type::Record(record) => record.alignment(),
        _ => return None,
    };
    u32::try_from(bytes).ok().filter(|bytes| *bytes > 1)
}

/// What the device's compiler is told for generated code. gcc 12 with its induction-variable pass (`ivopts`) drops stores of loops over several
/// `restrict` pointers whose strides are products of sizes. Without the pass such loops are right; loops whose strides are numbers are right with
/// it and up to a tenth faster.
fn own_flags(generated: &Generated, kind: DeviceKind) -> impl Iterator<Item = &'static str> {
    let is_cpu = kind == DeviceKind::Cpu;
    let kernels = generated.program.callables.values().filter_map(|callable| callable.kernel());
    let careful = is_cpu && kernels.chain([&generated.kernel]).any(has_strides_of_sizes);
    // Nobody asks which operation raised a floating-point exception; results do not change.
    [(careful, "-fno-ivopts"), (is_cpu, "-fno-trapping-math")].into_iter().filter_map(|(is_told, flag)| is_told.then_some(flag))
}

/// Whether the distances along an axis of some array are known in a call only.
fn has_strides_of_sizes(kernel: &LoopKernel) -> bool {
    let arguments = kernel.arguments.iter().filter_map(|argument| match &argument.kind {
        ArgumentKind::Array { layout, .. } => Some((&argument.name, layout)),
        _ => None,
    });
    let temporaries = kernel.temporaries.values().map(|temporary| (&temporary.name, &temporary.layout));
    let is_number = |axis: &Axis| !matches!(axis, Axis::Stride(stride) if fold::as_int(stride).is_none());
    arguments.chain(temporaries).any(|(name, layout)| !layout.axes(name).is_ok_and(|axes| axes.iter().all(is_number)))
}

/// The kind of code that a device runs.
pub fn target_of(kind: DeviceKind) -> Target {
    match kind {
        DeviceKind::Cpu => Target::C,
        DeviceKind::OpenCl => Target::OpenCl,
        DeviceKind::Cuda => Target::Cuda,
        DeviceKind::Hip => Target::Hip,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use parloop_create::{Data, KernelBuilder};
    use parloop_forking::ends_well_in_a_child;

    use super::*;
    use crate::prelude::*;

    #[test]
    fn a_child_does_not_wait_for_threads_of_its_parent() {
        let x = Data::global("x").dtype("float64").shape("n");
        let program = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("x[i] = 2*x[i]").data(x).rest().build().unwrap();
        let executable = program.compile(&Context::open("cpu:1").unwrap()).unwrap();
        assert!(executable.inner.wider.is_some());
        let ((held, is_held), (end, ends)) = (channel(), channel::<()>());
        std::thread::scope(|scope| {
            let inner = &executable.inner;
            scope.spawn(move || {
                let _locks = (inner.wide.lock(), inner.shadow_turn.lock());
                held.send(()).unwrap();
                let _ = ends.recv();
            });
            is_held.recv().unwrap();
            let work = || {
                drop(executable.inner.shadow_turn.lock_or(|| ()));
                let mut numbers = [1.0, 2.0];
                executable.wide().is_ok_and(|wide| wide.call(crate::loop_args! { x: &mut numbers[..] }).is_ok()) && numbers == [2.0, 4.0]
            };
            assert!(ends_well_in_a_child(work));
            drop(end);
        });
    }
}
