//! Programs: from sources to compiled kernels. Read `Program::compile` for the order of things.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use parloop_device::{CompileError, Compiler, DType, DeviceError, DeviceKind, Module, ModuleBinary, Stream};

use crate::cache::{Cache, Key, Origin};
use crate::error::{KernelError, Result};
use crate::grid::Grid;
use crate::kernel::Kernel;
use crate::parse::parse;
use crate::prelude::prelude;
use crate::reserved::is_reserved;
use crate::signature::{Param, ParamType, Signature};
use crate::source::{Source, join};

/// A change of every source's text before anything else is done with it.
pub type SourceHook = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// How a program is compiled. The default is right for most.
#[derive(Clone, Default)]
pub struct CompileOptions {
    /// Folders in which `#include` looks for the user's headers.
    pub include_folders: Vec<PathBuf>,
    /// Further arguments for the target's compiler.
    pub arguments: Vec<String>,
    /// Descriptions that the source must agree with, and grids.
    pub kernels: Vec<KernelDescription>,
    /// Changes each source's text first.
    pub source_hook: Option<SourceHook>,
    /// Where to write what the compiler is given.
    pub save_source_as: Option<PathBuf>,
}

impl fmt::Debug for CompileOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompileOptions")
            .field("include_folders", &self.include_folders)
            .field("arguments", &self.arguments)
            .field("kernels", &self.kernels)
            .field("source_hook", &self.source_hook.is_some())
            .field("save_source_as", &self.save_source_as)
            .finish()
    }
}

/// A kernel as its caller describes it; what is given must agree with the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelDescription {
    /// The name it is called by.
    pub name: String,
    /// Its name in the source, if that is another.
    pub c_name: Option<String>,
    /// Its parameters: types, and names where they are given.
    pub params: Option<Vec<DescribedParam>>,
    /// What it returns, if it is said: `Some(None)` is void.
    pub returns: Option<Option<DType>>,
    /// How many work items it is launched with.
    pub grid: Grid,
    /// Work items of a block.
    pub block: Option<u32>,
}

/// A described parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedParam {
    /// The name it is given by; the source's if it is not said.
    pub name: Option<String>,
    /// Its scalar type, or that of what it points at; `None` leaves it to the source.
    pub dtype: Option<DType>,
    /// Whether it is a pointer.
    pub pointer: bool,
    /// Whether what it points at is only read; `None` leaves it to the source.
    pub constant: Option<bool>,
}

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

/// A program for a target, not compiled yet.
struct Prepared {
    functions: Vec<Signature>,
    source: String,
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

impl Prepared {
    fn new(sources: &[Source], options: &CompileOptions, target: DeviceKind) -> Result<Prepared> {
        let hooked: Vec<Source>;
        let sources = match &options.source_hook {
            Some(hook) => {
                hooked = sources.iter().cloned().map(|source| source.map_text(|text| hook(text))).collect();
                &hooked
            }
            None => sources,
        };
        let joined = join(sources, target, &options.all_include_folders())?;
        let parsed = parse(&joined, target)?;
        let mut source = prelude(target, parsed.needs);
        for name in &parsed.renamed {
            source.push_str(&format!("#define {name} parloop_user_{name}\n"));
        }
        source.push_str(&parsed.text);
        if target == DeviceKind::Cpu {
            source.push_str("#line 1 \"<entries>\"\n");
            parsed.functions.iter().for_each(|function| source.push_str(&cpu_entry(function)));
        }
        Ok(Prepared { functions: parsed.functions, source })
    }

    fn save(&self, options: &CompileOptions) -> Result<()> {
        let Some(path) = &options.save_source_as else { return Ok(()) };
        std::fs::write(path, &self.source).map_err(|e| KernelError::SaveSource { path: path.clone(), reason: e.to_string() })
    }

    fn build(&self, compiler: &dyn Compiler, options: &CompileOptions, cache: &Cache) -> Result<(ModuleBinary, Origin)> {
        let (arguments, files) = (options.arguments.join("\0"), options.argument_files());
        let key = Key::of(&[self.source.as_bytes(), arguments.as_bytes(), &files, compiler.identity().as_bytes()]);
        let made = cache.get_or_make(key, || compiler.compile(&self.source, &options.arguments));
        let (bytes, origin) = made.map_err(|error| self.explain(error, options))?;
        Ok((ModuleBinary { bytes: bytes.to_vec() }, origin))
    }

    fn build_fresh(&self, compiler: &dyn Compiler, options: &CompileOptions) -> Result<ModuleBinary> {
        let bytes = compiler.compile(&self.source, &options.arguments).map_err(|error| self.explain(error, options))?;
        Ok(ModuleBinary { bytes })
    }

    /// Shows the source line under each message of the compiler that names one.
    fn explain(&self, error: CompileError, options: &CompileOptions) -> KernelError {
        let error = match error {
            CompileError::Refused { compiler, log } => {
                let mut log = crate::explain::with_source_lines(&log, &self.source);
                if options.save_source_as.is_none() {
                    log.push_str("(save_source_as=\"FILE\" keeps the full source that the compiler was given)");
                }
                CompileError::Refused { compiler, log }
            }
            other => other,
        };
        KernelError::Compile { error, saved: options.save_source_as.clone() }
    }
}

impl CompileOptions {
    /// The include folders, with those given as compiler arguments.
    fn all_include_folders(&self) -> Vec<PathBuf> {
        let mut folders = self.include_folders.clone();
        let mut arguments = self.arguments.iter();
        while let Some(argument) = arguments.next() {
            match ["-I", "-isystem", "-iquote"].iter().find_map(|flag| argument.strip_prefix(flag)) {
                Some("") => folders.extend(arguments.next().map(PathBuf::from)),
                Some(folder) => folders.push(folder.into()),
                None => {}
            }
        }
        folders
    }

    /// The contents of the files that compiler arguments name (`-include file.h`, `library.so`), as one hash.
    fn argument_files(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for argument in &self.arguments {
            if let Ok(content) = std::fs::read(argument) {
                hasher.update(blake3::hash(&content).as_bytes());
            }
        }
        hasher.finalize().into()
    }
}

impl KernelDescription {
    /// The signature under the described names, if description and source agree.
    fn check(&self, found: &Signature) -> Result<Signature> {
        let disagree =
            |what: String| KernelError::Description { kernel: self.name.clone(), what, source_says: found.to_string(), line: found.line };
        if let Some(returns) = self.returns
            && returns != found.returns
        {
            return Err(disagree(format!("return type {}", returns.map_or("void", DType::c_name))));
        }
        let mut signature = found.clone();
        if let Some(described) = &self.params {
            if described.len() != found.params.len() {
                return Err(disagree(format!("{} arguments", described.len())));
            }
            for (index, (described, param)) in described.iter().zip(&mut signature.params).enumerate() {
                described.check(param).map_err(|what| disagree(format!("argument {} as {what}", index + 1)))?;
                if let Some(name) = &described.name {
                    param.name = name.clone();
                }
            }
            let repeated = |(index, param): (usize, &Param)| signature.position(&param.name) != Some(index);
            if let Some(index) = signature.params.iter().enumerate().position(repeated) {
                return Err(disagree(format!("two arguments `{}`", signature.params[index].name)));
            }
        }
        Ok(signature)
    }
}

impl DescribedParam {
    fn check(&self, param: &Param) -> Result<(), String> {
        use crate::signature::Pointee;
        let agrees = match &param.ty {
            ParamType::Scalar(dtype) => !self.pointer && self.dtype.is_none_or(|described| described == *dtype),
            ParamType::Pointer { to, constant } => {
                let same_type = match (to, self.dtype) {
                    (Pointee::Scalar(dtype), Some(described)) => *dtype == described,
                    (Pointee::Char, Some(described)) => described.size() == 1,
                    _ => true,
                };
                self.pointer && same_type && self.constant.is_none_or(|described| described == *constant || !described)
            }
        };
        if agrees { Ok(()) } else { Err(format!("`{self}`")) }
    }
}

impl fmt::Display for DescribedParam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constant = if self.constant == Some(true) { "const " } else { "" };
        let dtype = self.dtype.map_or("…", DType::c_name);
        let pointer = if self.pointer { " *" } else { "" };
        write!(f, "{constant}{dtype}{pointer}")
    }
}

fn missing(c_name: &str, helpers: &[String], stream: &Stream, found: Vec<String>) -> KernelError {
    if helpers.iter().any(|helper| helper == c_name) {
        return KernelError::NotAKernel { name: c_name.into(), device: stream.device().id().to_string() };
    }
    KernelError::NoSuchKernel { asked: c_name.into(), found }
}

/// The symbol of a kernel in a compiled module.
fn symbol(name: &str, target: DeviceKind) -> String {
    match target {
        DeviceKind::Cpu => format!("parloop_entry_{name}"),
        _ if is_reserved(name, target) => format!("parloop_user_{name}"),
        _ => name.to_owned(),
    }
}

/// The entry through which a CPU calls a function: arguments, then the whole range, then a place for the returned value.
fn cpu_entry(function: &Signature) -> String {
    let read = |(index, param): (usize, &Param)| match &param.ty {
        ParamType::Scalar(dtype) => format!("*({} *)args[{index}]", dtype.c_name()),
        ParamType::Pointer { .. } => format!("*(void **)args[{index}]"),
    };
    let arguments: Vec<String> = function.params.iter().enumerate().map(read).collect();
    let (name, count) = (&function.name, function.params.len());
    let result = function.returns.map_or(String::new(), |dtype| format!("*({} *)args[{}] = ", dtype.c_name(), count + 1));
    format!(
        "void parloop_entry_{name}(void **args, int64_t begin, int64_t end) {{ \
         parloop_this = (parloop_part){{begin, end, *(int64_t *)args[{count}]}}; {result}{name}({}); }}\n",
        arguments.join(", ")
    )
}
