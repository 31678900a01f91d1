//! The user's kernels: a function in C or C++, or a loop kernel, that is called for each element.

mod matching;
mod passing;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use parloop_device::forked::Lock;
use parloop_device::{DType, DeviceKind};
use parloop_kernel::{LaneParam, Language, Param, ParamType, Pointee};
use parloop_loop::callable::{self, CFunction, SourceOptions};
use parloop_loop::error::LoopError;
use parloop_loop::syntax::{Argument, ArgumentKind, LoopKernel, Program, Type};
use parloop_loop::transform::{TransformError, merge, register_callable};

use crate::Result;
use crate::declare::arg::Arg;
use crate::declare::identity::{Id, Identity};
use crate::error::MeshError;
use crate::shape::Shape;

/// What loop kernels call the user's kernel by: its own name may mean something in their language.
pub(crate) const CALLABLE: &str = "pl_kernel";

/// What they call the form of it by that does so for the elements of a batch.
pub(crate) const CALLABLE_IN_LANES: &str = "pl_kernel_in_lanes";

/// What is done for each element: a function of the data of one element. Clones are the same kernel.
#[derive(Clone)]
pub struct Kernel {
    inner: Arc<Inner>,
}

struct Inner {
    id: Identity,
    name: String,
    body: Body,
    options: KernelOptions,
}

enum Body {
    C(Box<CFunction>),
    Loop(Box<Program>),
}

/// How a kernel in C or C++ is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct KernelOptions {
    /// What it is written in.
    pub language: Language,
    /// Lines in front of the source: `#include <math.h>`.
    pub headers: Vec<String>,
    /// Folders where included files are looked for.
    pub include_dirs: Vec<PathBuf>,
    /// Further arguments for the compiler of a CPU.
    pub arguments: Vec<String>,
}

impl KernelOptions {
    /// How its source is read.
    fn for_source(&self) -> SourceOptions {
        let KernelOptions { language, headers, include_dirs, arguments } = self.clone();
        SourceOptions { language, headers, folders: include_dirs, arguments }
    }

    /// Whether a source may include files that can change. Headers of the system, which no folder has, do not.
    fn reads_files(&self, source: &str) -> bool {
        let only_system = self.include_dirs.is_empty() && self.arguments.is_empty();
        let is_of_system = |line: &str| {
            let directive = line.trim_start().strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("include"));
            directive.is_some_and(|rest| rest.trim_start().starts_with('<'))
        };
        // A backslash joins lines, so that the word may be in two of them.
        let may_read = |line: &str| ["include", "import", "embed", "\\"].iter().any(|word| line.contains(word));
        let mut lines = source.lines().chain(self.headers.iter().flat_map(|header| header.lines()));
        lines.any(|line| may_read(line) && !(only_system && is_of_system(line)))
    }
}

/// What a kernel in C was made of: made of the same again it is the same kernel, with all that loops have worked out for it.
#[derive(PartialEq, Eq, Hash)]
struct KernelKey {
    source: String,
    name: String,
    options: KernelOptions,
}

/// More kernels than this are not remembered.
const MOST_KNOWN: usize = 1024;

static KNOWN: Lock<Option<HashMap<KernelKey, Kernel>>> = Lock::new(None);

/// What `with` makes of the kernels that are known.
fn known_kernels<R>(with: impl FnOnce(&mut HashMap<KernelKey, Kernel>) -> R) -> R {
    with(KNOWN.lock_or(|| None).get_or_insert_default())
}

impl Kernel {
    /// The function of that name in a source in C that needs no [`KernelOptions`]. See [`c`](Self::c).
    ///
    /// # Errors
    /// Those of [`c`](Self::c).
    ///
    /// # Safety
    /// As [`c`](Self::c).
    pub unsafe fn new(source: &str, name: &str) -> Result<Kernel> {
        // SAFETY: what is promised here.
        unsafe { Kernel::c(source, name, &KernelOptions::default()) }
    }

    /// The function of that name in a source in C. The source may have other functions, macros and constants, and runs on every device.
    /// One in C++ ([`KernelOptions::language`]) runs on cpu, cuda and hip; the function is a plain one, not a template.
    /// The same source again gives the same kernel.
    ///
    /// ```
    /// use parloop_mesh::{Kernel, KernelOptions};
    /// // SAFETY: loops pass at least one number.
    /// let twice = unsafe { Kernel::c("void twice(double *x) { x[0] *= 2; }", "twice", &KernelOptions::default())? };
    /// assert_eq!(twice.name(), "twice");
    /// # Ok::<(), parloop_mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// A mistake in the source, no function of that name, [`MeshError::Returns`].
    ///
    /// # Safety
    /// In every loop the function stays inside of what its parameters lead to, as many numbers as the arguments of the loop have for an
    /// element, and does not write through `const` pointers. It returns, and has no undefined behaviour in C. Headers and arguments of
    /// the compiler are part of it.
    pub unsafe fn c(source: &str, name: &str, options: &KernelOptions) -> Result<Kernel> {
        let known = KernelKey { source: source.to_owned(), name: name.to_owned(), options: options.clone() };
        let reads_files = options.reads_files(source);
        let before = known_kernels(|kernels| kernels.get(&known).cloned());
        if !reads_files && let Some(kernel) = before {
            return Ok(kernel);
        }
        // SAFETY: what is promised here.
        let kernel = unsafe { Kernel::read(source, name, options)? };
        // The compiler may read files by arguments of its own.
        let is_all_here = !reads_files || options.arguments.is_empty();
        if let Some(before) = before.filter(|before| is_all_here && before.is_same_code(&kernel)) {
            return Ok(before);
        }
        if is_all_here {
            known_kernels(|kernels| {
                if kernels.len() >= MOST_KNOWN {
                    kernels.clear();
                }
                kernels.insert(known, kernel.clone());
            });
        }
        Ok(kernel)
    }

    /// Whether both are the same text, included files and all.
    fn is_same_code(&self, other: &Kernel) -> bool {
        match (&self.inner.body, &other.inner.body) {
            (Body::C(own), Body::C(other)) => own == other,
            _ => false,
        }
    }

    /// # Safety
    /// As [`c`](Self::c).
    unsafe fn read(source: &str, name: &str, options: &KernelOptions) -> Result<Kernel> {
        // SAFETY: what is promised here; loops pass the numbers of their arguments.
        let function = unsafe { CFunction::parse_with(source, name, &options.for_source())? };
        if let Some(returns) = &function.signature().returns {
            return Err(MeshError::Returns { kernel: name.to_owned(), returns: returns.to_string() });
        }
        Ok(Kernel::of(name, Body::C(Box::new(function)), options.clone()))
    }

    /// The kernel of that name in a program of loop kernels. Its arguments are those of the loop, in order.
    ///
    /// # Errors
    /// [`MeshError::NoLoopKernel`].
    pub fn from_program(program: Program, name: &str) -> Result<Kernel> {
        if program.kernel(name).is_none() {
            let found = program.callables.keys().map(ToString::to_string).collect();
            return Err(MeshError::NoLoopKernel { asked: name.to_owned(), found });
        }
        Ok(Kernel::of(name, Body::Loop(Box::new(program)), KernelOptions::default()))
    }

    fn of(name: &str, body: Body, options: KernelOptions) -> Kernel {
        Kernel { inner: Arc::new(Inner { id: Identity::fresh(), name: name.to_owned(), body, options }) }
    }

    /// The number by which this kernel is known.
    pub fn id(&self) -> Id {
        self.inner.id.number()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// All that it is made of, the same in every process.
    pub(crate) fn text(&self) -> String {
        match &self.inner.body {
            Body::C(function) => format!("{function:?} {:?}", self.inner.options),
            Body::Loop(program) => format!("{program:?}"),
        }
    }

    /// Further arguments for the compiler of a CPU.
    pub(crate) fn build_options(&self) -> &[String] {
        &self.inner.options.arguments
    }

    /// Refuses arguments that the kernel does not take; behind them it may get the number of the layer.
    pub(crate) fn check(&self, args: &[Arg], gets_layer: bool) -> Result<()> {
        match &self.inner.body {
            Body::C(function) => matching::check(function.signature(), args, gets_layer),
            Body::Loop(program) => passing::check(self.own(program), args, gets_layer),
        }
    }

    /// Whether it can be given the memory of an argument that is only read, and not a copy. Pointers of C lead to private memory on OpenCL.
    pub(crate) fn reads_in_place(&self, index: usize, device: DeviceKind) -> bool {
        match &self.inner.body {
            Body::C(function) => {
                let is_const = |param: &Param| matches!(param.ty, ParamType::Pointer { constant: true, .. });
                device != DeviceKind::OpenCl && function.signature().params.get(index).is_some_and(is_const)
            }
            Body::Loop(_) => true,
        }
    }

    /// The type of the numbers that it takes for a parameter; `None` where it leaves that open, or has no such parameter.
    pub fn dtype(&self, index: usize) -> Option<DType> {
        match &self.inner.body {
            Body::C(function) => match function.signature().params.get(index)?.ty {
                ParamType::Scalar(dtype) => Some(dtype),
                ParamType::Pointer { to: Pointee::Scalar(dtype) | Pointee::Pointers(dtype) | Pointee::Rows(dtype, _), .. } => Some(dtype),
                _ => None,
            },
            Body::Loop(program) => match self.own(program).arguments.get(index)?.ty {
                Some(Type::Scalar(dtype)) => Some(dtype),
                _ => None,
            },
        }
    }

    /// The lengths of the axes along which it takes each argument; there are none where it takes a number by value.
    pub(crate) fn axes(&self, shape: &Shape) -> Vec<Vec<usize>> {
        let plain = shape.params.iter().map(|param| param.axes.clone());
        match &self.inner.body {
            Body::C(function) => {
                let params = function.signature().params.iter().zip(plain);
                params.map(|(param, plain)| if matches!(param.ty, ParamType::Scalar(_)) { Vec::new() } else { plain }).collect()
            }
            Body::Loop(program) => {
                let arguments = self.own(program).arguments.iter().zip(plain);
                let along = |(argument, plain): (&Argument, Vec<usize>)| match &argument.kind {
                    ArgumentKind::Array { layout, .. } => passing::axes(layout, &plain).unwrap_or(plain),
                    _ => Vec::new(),
                };
                arguments.map(along).collect()
            }
        }
    }

    /// The form of this kernel that does for `lanes` elements at once what it does for one, if it has one: arrays have the numbers of all of
    /// them, but for parameters that are the same for all elements.
    pub(crate) fn in_lanes(&self, shape: &Shape, lanes: usize) -> Option<CFunction> {
        let Body::C(function) = &self.inner.body else { return None };
        // What is defined there is not seen.
        if !self.inner.options.arguments.iter().all(|argument| is_harmless(argument)) || shape.layers.is_some_and(|layers| layers.is_passed)
        {
            return None;
        }
        let params: Vec<LaneParam> = (0..shape.params.len()).map(|param| shape.lane_param(param)).collect();
        function.in_lanes(lanes, &params).ok().map(|function| function.with_access(accesses(shape)))
    }

    fn own<'a>(&self, program: &'a Program) -> &'a LoopKernel {
        program.kernel(self.name()).expect("invariant: found when it was made")
    }

    /// The program with this kernel as a callable that does with its arguments what the shape says. `checked`: so are its own indices.
    pub(crate) fn register(&self, program: &Program, shape: &Shape, checked: bool) -> Result<Program, LoopError> {
        match &self.inner.body {
            Body::C(function) => {
                let mut function = (**function).clone().with_access(accesses(shape));
                if shape.params.iter().any(|param| param.in_place) {
                    function = function.keeping_const();
                }
                Ok(register_callable(program, CALLABLE, Arc::new(function), false).map_err(TransformError::from)?)
            }
            Body::Loop(own) => {
                let mut kernel = self.own(own).clone();
                let writes = shape.params.iter().map(|param| param.access.writes());
                for (argument, writes) in kernel.arguments.iter_mut().zip(writes) {
                    argument.is_input = Some(true);
                    argument.is_output = Some(writes);
                }
                kernel.name = CALLABLE.into();
                let mut own = own.with_kernel(kernel);
                let kernels: Vec<LoopKernel> = own.callables.values().filter_map(|callable| callable.kernel().cloned()).collect();
                for mut kernel in kernels.into_iter().filter(|kernel| checked || kernel.options.checked.is_none()) {
                    kernel.options.checked = Some(checked);
                    own = own.with_kernel(kernel);
                }
                own.entrypoints.clear();
                Ok(merge([program, &own]).map_err(TransformError::from)?)
            }
        }
    }
}

/// What a kernel in C does with its parameters.
fn accesses(shape: &Shape) -> impl Iterator<Item = callable::Access> {
    shape.params.iter().map(|param| if param.access.writes() { callable::Access::ReadWrite } else { callable::Access::Read })
}

/// Whether an argument of the compiler gives no name another meaning.
fn is_harmless(argument: &str) -> bool {
    ["-l", "-L", "-Wl,", "-O", "-f", "-m", "-g"].iter().any(|start| argument.starts_with(start))
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner.body {
            Body::C(function) => write!(f, "<Kernel {}>", function.signature()),
            Body::Loop(_) => write!(f, "<Kernel {}>", self.name()),
        }
    }
}
