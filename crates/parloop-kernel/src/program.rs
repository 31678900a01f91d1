//! Programs: from sources to compiled kernels. Read `Program::compile` for the order of things.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parloop_device::{Compiler, Device, DeviceError, DeviceKind, Module, ModuleBinary, Stream};

use crate::cache::{Cache, Origin};
use crate::check::Check;
use crate::error::{KernelError, Result};
use crate::grid::Grid;
use crate::kernel::{Compiled, Kernel};
use crate::options::CompileOptions;
use crate::parse::{Dialect, parse};
use crate::prepare::{Helper, Prepared, symbol};
use crate::signature::Signature;
use crate::source::{Source, join};

/// Compiled sources and the kernels in them. Clones are the same program.
#[derive(Clone)]
pub struct Program {
    inner: Arc<Inner>,
}

struct Inner {
    kernels: BTreeMap<String, Kernel>,
    /// Functions that cannot be called on this device.
    helpers: Vec<Helper>,
    module: Module,
    source: String,
    origin: Origin,
}

impl Program {
    pub(crate) fn compile(stream: &Stream, sources: &[Source], options: &CompileOptions, cache: &Cache) -> Result<Program> {
        let device = stream.device();
        let prepared = Prepared::new(sources, options, device.kind())?;
        prepared.save(options)?;
        let compiler = device.compiler().map_err(|error| prepared.explain(error, options))?;
        let build = |cache: &Cache| prepared.build(&*compiler, options, cache);
        let (binary, origin) = build(cache)?;
        let module = match device.load(&binary) {
            // A driver may refuse a binary that was right for another; it is compiled again, once.
            Err(DeviceError::Load { .. }) if origin != Origin::Compiled => device.load(&prepared.build_fresh(&*compiler, options)?)?,
            loaded => loaded?,
        };
        Program::link(prepared, module, stream, options, origin)
    }

    fn link(prepared: Prepared, module: Module, stream: &Stream, options: &CompileOptions, origin: Origin) -> Result<Program> {
        let check = if options.checked { Some(Arc::new(Check::new(&module, &options.check_sites)?)) } else { None };
        let mut kernels = BTreeMap::new();
        for signature in &prepared.functions {
            let function = module.function(&symbol(&signature.name, stream.device().kind()))?;
            let compiled = Compiled { signature: signature.clone(), function, check: check.clone() };
            kernels.insert(signature.name.clone(), Kernel::new(compiled, stream.clone(), Grid::Auto, None)?);
        }
        for description in &options.kernels {
            let c_name = description.c_name();
            let kernel = kernels.get(c_name).ok_or_else(|| missing(c_name, &kernels, &prepared.helpers, stream.device()))?;
            let compiled = Compiled { signature: description.check(kernel.signature())?, ..kernel.compiled().clone() };
            let kernel = Kernel::new(compiled, stream.clone(), description.grid.clone(), description.block)?;
            kernels.insert(description.name.clone(), kernel);
        }
        Ok(Program { inner: Arc::new(Inner { kernels, helpers: prepared.helpers, module, source: prepared.source, origin }) })
    }

    /// The kernel of that name.
    ///
    /// # Errors
    /// [`KernelError::NoSuchKernel`], [`KernelError::NotAKernel`], [`KernelError::NotDescribed`].
    pub fn kernel(&self, name: &str) -> Result<&Kernel> {
        let Inner { kernels, helpers, module, .. } = &*self.inner;
        kernels.get(name).ok_or_else(|| missing(name, kernels, helpers, module.device()))
    }

    /// All its kernels, by name.
    pub fn kernels(&self) -> impl Iterator<Item = (&str, &Kernel)> {
        self.inner.kernels.iter().map(|(name, kernel)| (name.as_str(), kernel))
    }

    /// The full source, as the compiler was given it.
    pub fn source(&self) -> &str {
        &self.inner.source
    }

    /// Whether it was compiled or found in the cache.
    pub fn origin(&self) -> Origin {
        self.inner.origin
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.kernels().map(|(name, _)| name).collect();
        write!(f, "<Program {} on {}>", names.join(", "), self.inner.module.device().id())
    }
}

/// The functions that sources define, as `target` would see them; nothing is compiled.
///
/// ```
/// use parloop_kernel::{DeviceKind, Source, signatures};
/// let found = signatures(&[Source::text("GPUKERN void f(const double *x, int n) {}")], DeviceKind::Cuda)?;
/// assert_eq!(found[0].to_string(), "void f(const double * x, int32_t n)");
/// # Ok::<(), parloop_kernel::KernelError>(())
/// ```
///
/// # Errors
/// A mistake in the source, at its line.
pub fn signatures(sources: &[Source], target: DeviceKind) -> Result<Vec<Signature>> {
    Ok(parse(&join(sources, target, &[])?, Dialect { target, classes: &[], checked: false })?.functions)
}

/// Compiles sources for a target whose device need not be here; what comes out is what that device loads.
///
/// ```no_run
/// use parloop_kernel::{CompileOptions, Source, compile_for};
/// let compiler = parloop_device::cuda::compiler("sm_90")?;
/// let source = Source::text("GPUKERN void f(double *x) { x[0] = 1; }");
/// let cubin = compile_for(parloop_device::DeviceKind::Cuda, &*compiler, &[source], &CompileOptions::default())?;
/// # Ok::<(), parloop_kernel::KernelError>(())
/// ```
///
/// # Errors
/// As [`Context::compile`](crate::Context::compile).
pub fn compile_for(target: DeviceKind, compiler: &dyn Compiler, sources: &[Source], options: &CompileOptions) -> Result<ModuleBinary> {
    let prepared = Prepared::new(sources, options, target)?;
    prepared.save(options)?;
    prepared.build(compiler, options, Cache::user()).map(|(binary, _)| binary)
}

/// Why there is no kernel of that name.
fn missing(name: &str, kernels: &BTreeMap<String, Kernel>, helpers: &[Helper], device: &Device) -> KernelError {
    match helpers.iter().find(|helper| helper.name == name) {
        Some(helper) if helper.is_kernel || device.kind() == DeviceKind::Cpu => KernelError::NotDescribed { name: name.into() },
        Some(_) => KernelError::NotAKernel { name: name.into(), device: device.id().to_string() },
        None => KernelError::NoSuchKernel { asked: name.into(), found: kernels.keys().cloned().collect() },
    }
}
