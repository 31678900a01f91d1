//! Contexts: a device and a stream on it, which create arrays and programs.

use std::fmt;
use std::path::Path;

use parloop_device::{Device, Element, Stream};

use crate::array::Array;
use crate::cache::Cache;
#[cfg(doc)]
use crate::error::KernelError;
use crate::error::Result;
use crate::options::CompileOptions;
use crate::program::Program;
use crate::source::Source;

/// A device with a stream: where arrays live and kernels run. Clones are the same context.
///
/// ```
/// use parloop_kernel::{Context, args};
/// let ctx = Context::open("cpu")?;
/// let source = "GPUKERN void axpy(const double a, GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
///          VECTORIZE_OVER(i, n)
///              y[i] += a * x[i];
///          END_VECTORIZE
///      }";
/// // SAFETY: all calls pass `n` elements of `x` and of `y`.
/// let prog = unsafe { ctx.compile(source)? };
/// let (x, mut y) = (ctx.array(&[1.0, 2.0, 3.0])?, ctx.array(&[10.0, 10.0, 10.0])?);
/// prog.kernel("axpy")?.call(args![2.0, &x, &mut y, x.len()])?;
/// assert_eq!(y.to_vec()?, [12.0, 14.0, 16.0]);
/// # Ok::<(), parloop_kernel::KernelError>(())
/// ```
#[derive(Clone)]
pub struct Context {
    stream: Stream,
}

impl Context {
    /// A context on the default stream of the device of that name.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn open(device: &str) -> Result<Context> {
        Ok(Context { stream: Device::open(device)?.default_stream()? })
    }

    /// The context of `$PARLOOP_DEVICE`, or of the CPU with all its threads.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn from_env() -> Result<Context> {
        let name = std::env::var("PARLOOP_DEVICE").ok().filter(|name| !name.is_empty());
        Context::open(name.as_deref().unwrap_or("cpu"))
    }

    /// A context on that stream.
    pub fn on(stream: Stream) -> Context {
        Context { stream }
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        self.stream.device()
    }

    /// Its stream.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Whether both are the same stream of the same device.
    pub fn is_same(&self, other: &Context) -> bool {
        self.device().same(other.device()) && self.stream.handle() == other.stream.handle()
    }

    /// Compiles portable C; kernels and their arguments come from the source.
    ///
    /// C is not checked as Rust is, and its kernels are called by safe functions, which check types, devices and constness of arguments
    /// against the signature, but cannot see what the kernel does with them. What they cannot see is promised here, once.
    ///
    /// # Errors
    /// A mistake in the source at its line, with the compiler's words; a missing compiler.
    ///
    /// # Safety
    /// For every call of a kernel of the program, with the arguments and the grid that it is given:
    /// - it reads and writes memory that its arguments lead to, and its own: no index is beyond the end, and no null pointer is followed
    ///   where null is passed;
    /// - it does not write through a pointer that its signature declares `const`;
    /// - its work items do not race, with each other or with other work on the same memory that is not ordered by a stream;
    /// - it returns, does not unwind or jump over frames of its caller, and has no other undefined behaviour in C.
    ///
    /// Compiler arguments, headers and class sources that the program is compiled with are part of it. In checked mode
    /// ([`CompileOptions::checked`]) the functions that check do not rely on the first of these; other C does.
    pub unsafe fn compile(&self, source: &str) -> Result<Program> {
        // SAFETY: what is promised here.
        unsafe { self.compile_with(&[Source::text(source)], &CompileOptions::default()) }
    }

    /// Compiles several sources as one, with options.
    ///
    /// # Errors
    /// As [`compile`](Self::compile), and where a description disagrees with the source.
    ///
    /// # Safety
    /// As [`compile`](Self::compile), of all sources together. Descriptions of kernels say what the kernels do.
    pub unsafe fn compile_with(&self, sources: &[Source], options: &CompileOptions) -> Result<Program> {
        // SAFETY: what is promised here.
        unsafe { Program::compile(&self.stream, sources, options, Cache::user()) }
    }

    /// As [`compile_with`](Self::compile_with), with a given cache.
    ///
    /// # Errors
    /// As [`compile_with`](Self::compile_with).
    ///
    /// # Safety
    /// As [`compile_with`](Self::compile_with). Nothing else writes binaries of other sources to the folder of the cache.
    pub unsafe fn compile_cached(&self, sources: &[Source], options: &CompileOptions, cache: &Cache) -> Result<Program> {
        // SAFETY: what is promised here.
        unsafe { Program::compile(&self.stream, sources, options, cache) }
    }

    /// Loads a program that [`Program::save`] wrote. No compiler is needed and no process started.
    ///
    /// Loading a file runs code that is in it, before any kernel is called: load only files that you trust as you trust a program. A
    /// file that another user could have written is refused: it and its folder must belong to us or to root, and nobody else may write to
    /// them or rename a folder on the way.
    ///
    /// ```
    /// use parloop_kernel::{Context, args};
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("twice.prog");
    /// let ctx = Context::open("cpu:1")?;
    /// let source = "GPUKERN void twice(double *x, int n) { VECTORIZE_OVER(i, n) x[i] *= 2; END_VECTORIZE }";
    /// // SAFETY: all calls pass `n` elements.
    /// unsafe { ctx.compile(source)? }.save(&path)?;
    ///
    /// let mut x = vec![1.0, 2.0];
    /// // SAFETY: the file is ours, and all calls pass `n` elements.
    /// unsafe { ctx.load(&path)? }.kernel("twice")?.call(args![&mut x, 2])?;
    /// assert_eq!(x, [2.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`KernelError::ProgramFile`], [`KernelError::NoProgram`], [`KernelError::Damaged`], [`KernelError::OtherVersion`],
    /// [`KernelError::OtherTarget`]; what the driver says when it refuses the binary.
    ///
    /// # Safety
    /// Opening the file runs code that is in it. [`Program::save`] wrote it, and nobody changed it since; for its kernels what
    /// [`compile`](Self::compile) asks for holds.
    pub unsafe fn load(&self, path: impl AsRef<Path>) -> Result<Program> {
        // SAFETY: what is promised here.
        unsafe { Program::load(&self.stream, path.as_ref()) }
    }

    /// An array with these values.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn array<T: Element>(&self, values: &[T]) -> Result<Array<T>> {
        Array::from_slice(&self.stream, values)
    }

    /// An array of `len` zeros.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Array<T>> {
        Array::zeros(&self.stream, len)
    }

    /// Waits for all work queued so far.
    ///
    /// # Errors
    /// The failure of that work.
    pub fn synchronize(&self) -> Result<()> {
        Ok(self.stream.synchronize()?)
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Context on {}: {}>", self.device().id(), self.device().properties().name)
    }
}
