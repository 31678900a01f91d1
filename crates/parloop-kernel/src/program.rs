//! Programs: from sources to compiled kernels. Read `Program::compile` for the order of things.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use parloop_device::{Compiler, Device, DeviceError, DeviceKind, Language, Module, ModuleBinary, Stream};

use crate::cache::{Cache, Origin};
use crate::check::Check;
use crate::description::KernelDescription;
use crate::error::{KernelError, Result};
use crate::files::Files;
use crate::grid::Grid;
use crate::kernel::{Compiled, Kernel};
use crate::options::CompileOptions;
use crate::parse::{Dialect, parse};
use crate::prepare::{Helper, Prepared, symbol};
use crate::recalled::prepare;
use crate::saved::{SavedKernel, SavedProgram};
use crate::signature::{ParamType, Signature};
use crate::source::{Source, join};

/// Compiled sources and the kernels in them. Clones are the same program.
#[derive(Clone)]
pub struct Program {
    inner: Arc<Inner>,
    /// What can be called, by its name in the source and by those it was described with.
    kernels: Arc<BTreeMap<String, Kernel>>,
}

struct Inner {
    /// What can be called, as the source declares it, by its name there.
    functions: BTreeMap<String, Compiled>,
    /// Functions that cannot be called on this device.
    helpers: Vec<Helper>,
    stream: Stream,
    binary: ModuleBinary,
    source: String,
    origin: Origin,
}

impl Program {
    /// # Safety
    /// As [`Context::compile_cached`](crate::Context::compile_cached).
    pub(crate) unsafe fn compile(stream: &Stream, sources: &[Source], options: &CompileOptions, cache: &Cache) -> Result<Program> {
        let device = stream.device();
        let prepared = prepare(sources, options, device.kind(), cache)?;
        prepared.save(options)?;
        let compiler = device.compiler_of(options.language).map_err(|error| prepared.explain(error, options))?;
        let (mut binary, origin) = prepared.build(&*compiler, options, cache)?;
        // SAFETY: the caller vouches for the source, and the cache for what it has kept of the same source.
        let module = match unsafe { device.load(&binary) } {
            // A driver may refuse a binary that was right for another; it is compiled again, once.
            Err(DeviceError::Load { .. }) if origin != Origin::Compiled => {
                binary = prepared.build_fresh(&*compiler, options)?;
                // SAFETY: compiled from that source.
                unsafe { device.load(&binary)? }
            }
            loaded => loaded?,
        };
        let functions = link(&module, prepared.functions, prepared.is_recorded.then_some(&options.check_sites))?;
        let Prepared { helpers, source, .. } = prepared;
        Program::around(Inner { functions, helpers, stream: stream.clone(), binary, source, origin })?.describe(&options.kernels)
    }

    /// # Safety
    /// As [`Context::load`](crate::Context::load).
    pub(crate) unsafe fn load(stream: &Stream, path: &Path) -> Result<Program> {
        let saved = SavedProgram::read(path)?;
        saved.check_target(stream.device(), path)?;
        let SavedProgram { check_sites, functions, kernels: described, binary, .. } = saved;
        let binary = ModuleBinary { bytes: binary };
        // SAFETY: the caller vouches for the file.
        let module = unsafe { stream.device().load(&binary)? };
        let functions = link(&module, functions, check_sites.as_ref())?;
        let (helpers, source, stream) = (Vec::new(), String::new(), stream.clone());
        let program = Program::around(Inner { functions, helpers, stream, binary, source, origin: Origin::File })?;
        let mut kernels = (*program.kernels).clone();
        for SavedKernel { name, signature, grid, block } in described {
            let function = program.inner.functions.get(&signature.name).ok_or_else(|| KernelError::Damaged { path: path.to_owned() })?;
            let compiled = Compiled { signature, ..function.clone() };
            kernels.insert(name, Kernel::new(compiled, program.inner.stream.clone(), grid, block)?);
        }
        Ok(Program { kernels: Arc::new(kernels), ..program })
    }

    /// A program whose kernels are as the source declares them.
    fn around(inner: Inner) -> Result<Program> {
        let kernel = |(name, compiled): (&String, &Compiled)| {
            Ok((name.clone(), Kernel::new(compiled.clone(), inner.stream.clone(), Grid::Auto, None)?))
        };
        let kernels = inner.functions.iter().map(kernel).collect::<Result<_>>()?;
        Ok(Program { inner: Arc::new(inner), kernels: Arc::new(kernels) })
    }

    /// Writes the program to a file, with which [`Context::load`](crate::Context::load) has it again without a compiler: for this kind
    /// of device and architecture, and for this version of parloop. The source is not part of it.
    ///
    /// # Errors
    /// [`KernelError::ProgramFile`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let inner = &*self.inner;
        let (device, check) = (inner.stream.device(), inner.functions.values().find_map(|function| function.check.as_ref()));
        let kernel = |(name, kernel): (&String, &Kernel)| {
            let (grid, block) = kernel.grid();
            SavedKernel { name: name.clone(), signature: kernel.signature().clone(), grid: grid.clone(), block }
        };
        let saved = SavedProgram {
            kind: device.kind(),
            target: device.binary_target(),
            check_sites: check.map(|check| check.sites().to_vec()),
            functions: inner.functions.values().map(|function| function.signature.clone()).collect(),
            kernels: self.kernels.iter().map(kernel).collect(),
            binary: inner.binary.bytes.clone(),
        };
        saved.write(path.as_ref())
    }

    /// The same program with kernels under these descriptions as well; on a CPU, of functions that could be called before.
    ///
    /// # Errors
    /// [`KernelError::Description`] where a description disagrees with the source; as [`kernel`](Self::kernel).
    pub fn describe(&self, descriptions: &[KernelDescription]) -> Result<Program> {
        let Inner { functions, helpers, stream, .. } = &*self.inner;
        let mut kernels = (*self.kernels).clone();
        for description in descriptions {
            let c_name = description.c_name();
            let function = functions.get(c_name).ok_or_else(|| missing(c_name, functions.keys(), helpers, stream.device()))?;
            let compiled = Compiled { signature: description.check(&function.signature)?, ..function.clone() };
            let kernel = Kernel::new(compiled, stream.clone(), description.grid.clone(), description.block)?;
            kernels.insert(description.name.clone(), kernel);
        }
        Ok(Program { inner: self.inner.clone(), kernels: Arc::new(kernels) })
    }

    /// The same program without the descriptions of these names; what the source itself calls so is as the source declares it.
    ///
    /// # Errors
    /// As [`describe`](Self::describe).
    pub fn forget(&self, names: &[String]) -> Result<Program> {
        let mut kernels = (*self.kernels).clone();
        for name in names {
            match self.inner.functions.get(name).cloned() {
                Some(compiled) => kernels.insert(name.clone(), Kernel::new(compiled, self.inner.stream.clone(), Grid::Auto, None)?),
                None => kernels.remove(name),
            };
        }
        Ok(Program { inner: self.inner.clone(), kernels: Arc::new(kernels) })
    }

    /// The classes whose objects its functions take or return.
    pub fn classes(&self) -> BTreeSet<&str> {
        let types = self.inner.functions.values().flat_map(|function| {
            let Signature { params, returns, .. } = &function.signature;
            params.iter().map(|param| &param.ty).chain(returns)
        });
        types.filter_map(ParamType::class).collect()
    }

    /// The kernel of that name.
    ///
    /// # Errors
    /// [`KernelError::NoSuchKernel`], [`KernelError::NotAKernel`], [`KernelError::NotDescribed`].
    pub fn kernel(&self, name: &str) -> Result<&Kernel> {
        let Inner { helpers, stream, .. } = &*self.inner;
        self.kernels.get(name).ok_or_else(|| missing(name, self.kernels.keys(), helpers, stream.device()))
    }

    /// All its kernels, by name.
    pub fn kernels(&self) -> impl Iterator<Item = (&str, &Kernel)> {
        self.kernels.iter().map(|(name, kernel)| (name.as_str(), kernel))
    }

    /// The full source, as the compiler was given it; empty for a program that was loaded from a file.
    pub fn source(&self) -> &str {
        &self.inner.source
    }

    /// Whether it was compiled, found in the cache or loaded from a file.
    pub fn origin(&self) -> Origin {
        self.inner.origin
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.kernels().map(|(name, _)| name).collect();
        write!(f, "<Program {} on {}>", names.join(", "), self.inner.stream.device().id())
    }
}

/// The functions that sources in C define, as `target` would see them; nothing is compiled. `classes` are types that are pointers to opaque
/// structs.
///
/// ```
/// use parloop_kernel::{DeviceKind, Source, signatures};
/// let found = signatures(&[Source::text("GPUKERN void f(const double *x, int n) {}")], DeviceKind::Cuda, &[])?;
/// assert_eq!(found[0].to_string(), "void f(const double * x, int32_t n)");
/// # Ok::<(), parloop_kernel::KernelError>(())
/// ```
///
/// # Errors
/// A mistake in the source, at its line.
pub fn signatures(sources: &[Source], target: DeviceKind, classes: &[String]) -> Result<Vec<Signature>> {
    signatures_in(Language::C, sources, target, classes)
}

/// As [`signatures`], of sources in that language.
///
/// # Errors
/// A mistake in the source, at its line.
pub fn signatures_in(language: Language, sources: &[Source], target: DeviceKind, classes: &[String]) -> Result<Vec<Signature>> {
    let joined = join(sources, target, &[], &Files::default())?;
    Ok(parse(&joined, Dialect { target, language, classes, checked: false, arguments: &[], wanted: &[] })?.functions)
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
    let cache = Cache::user();
    let prepared = prepare(sources, options, target, cache)?;
    prepared.save(options)?;
    prepared.build(compiler, options, cache).map(|(binary, _)| binary)
}

/// The functions of a module, by their names in the source.
fn link(module: &Module, signatures: Vec<Signature>, check_sites: Option<&Vec<String>>) -> Result<BTreeMap<String, Compiled>> {
    let check = check_sites.map(|sites| Check::new(module, sites)).transpose()?.map(Arc::new);
    let compiled = |signature: Signature| {
        let function = module.function(&symbol(&signature.name, module.device().kind()))?.named(&signature.name);
        Ok((signature.name.clone(), Compiled { signature, function, check: check.clone() }))
    };
    signatures.into_iter().map(compiled).collect()
}

/// Why there is no kernel of that name.
fn missing<'a>(name: &str, found: impl Iterator<Item = &'a String>, helpers: &[Helper], device: &Device) -> KernelError {
    match helpers.iter().find(|helper| helper.name == name) {
        Some(Helper { refused: Some(reason), .. }) => KernelError::NotCallable { name: name.into(), reason: reason.clone() },
        Some(helper) if helper.is_kernel || device.kind() == DeviceKind::Cpu => KernelError::NotDescribed { name: name.into() },
        Some(_) => KernelError::NotAKernel { name: name.into(), device: device.id().to_string() },
        None => KernelError::NoSuchKernel { asked: name.into(), found: found.cloned().collect() },
    }
}
