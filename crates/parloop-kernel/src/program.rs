//! Programs: from sources to compiled kernels. Read `Program::compile` for the order of things.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parloop_device::{Compiler, DeviceError, DeviceKind, Module, ModuleBinary, Stream};

use crate::cache::{Cache, Origin};
use crate::error::{KernelError, Result};
use crate::grid::Grid;
use crate::kernel::Kernel;
use crate::options::CompileOptions;
use crate::prepare::{Prepared, symbol};
use crate::signature::Signature;
use crate::source::Source;

/// Compiled sources and the kernels in them. Clones are the same program.
#[derive(Clone)]
pub struct Program {
    inner: Arc<Inner>,
}

struct Inner {
    kernels: BTreeMap<String, Kernel>,
    /// Functions that cannot be launched on this device.
    helpers: Vec<String>,
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
        let is_cpu = stream.device().kind() == DeviceKind::Cpu;
        let mut kernels = BTreeMap::new();
        let mut helpers = Vec::new();
        for signature in &prepared.functions {
            if !signature.is_kernel && !is_cpu {
                helpers.push(signature.name.clone());
                continue;
            }
            let function = module.function(&symbol(&signature.name, stream.device().kind()))?;
            let kernel = Kernel::new(signature.clone(), function, stream.clone(), Grid::Auto, None)?;
            kernels.insert(signature.name.clone(), kernel);
        }
        for description in &options.kernels {
            let c_name = description.c_name.as_ref().unwrap_or(&description.name);
            let found = || kernels.keys().cloned().collect();
            let Some(kernel) = kernels.get(c_name) else {
                return Err(missing(c_name, &helpers, stream, found()));
            };
            let signature = description.check(kernel.signature())?;
            let kernel = Kernel::new(signature, kernel.function().clone(), stream.clone(), description.grid.clone(), description.block)?;
            kernels.insert(description.name.clone(), kernel);
        }
        Ok(Program { inner: Arc::new(Inner { kernels, helpers, module, source: prepared.source, origin }) })
    }

    /// The kernel of that name.
    ///
    /// # Errors
    /// [`KernelError::NoSuchKernel`], [`KernelError::NotAKernel`].
    pub fn kernel(&self, name: &str) -> Result<&Kernel> {
        let inner = &*self.inner;
        let found = || inner.kernels.keys().cloned().collect();
        let device = inner.module.device();
        inner.kernels.get(name).ok_or_else(|| match inner.helpers.iter().any(|helper| helper == name) {
            true => KernelError::NotAKernel { name: name.into(), device: device.id().to_string() },
            false => KernelError::NoSuchKernel { asked: name.into(), found: found() },
        })
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
    Ok(Prepared::new(sources, &CompileOptions::default(), target)?.functions)
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

fn missing(c_name: &str, helpers: &[String], stream: &Stream, found: Vec<String>) -> KernelError {
    if helpers.iter().any(|helper| helper == c_name) {
        return KernelError::NotAKernel { name: c_name.into(), device: stream.device().id().to_string() };
    }
    KernelError::NoSuchKernel { asked: c_name.into(), found }
}
