//! Contexts: a device, a stream on it, and the way to arrays and programs.

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
/// let prog = ctx.compile(
///     "GPUKERN void axpy(const double a, GPUGLMEM const double *x, GPUGLMEM double *y, const int64_t n) {
///          VECTORIZE_OVER(i, n)
///              y[i] += a * x[i];
///          END_VECTORIZE
///      }",
/// )?;
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
    /// # Errors
    /// A mistake in the source at its line, with the compiler's words; a missing compiler.
    pub fn compile(&self, source: &str) -> Result<Program> {
        self.compile_with(&[Source::text(source)], &CompileOptions::default())
    }

    /// Compiles several sources as one, with options.
    ///
    /// # Errors
    /// As [`compile`](Self::compile), and where a description disagrees with the source.
    pub fn compile_with(&self, sources: &[Source], options: &CompileOptions) -> Result<Program> {
        Program::compile(&self.stream, sources, options, Cache::user())
    }

    /// As [`compile_with`](Self::compile_with), with a cache of one's own.
    ///
    /// # Errors
    /// As [`compile_with`](Self::compile_with).
    pub fn compile_cached(&self, sources: &[Source], options: &CompileOptions, cache: &Cache) -> Result<Program> {
        Program::compile(&self.stream, sources, options, cache)
    }

    /// Loads a program that [`Program::save`] wrote. No compiler is needed and no process started. Load only files that you trust as
    /// you trust a program: what is in them is run.
    ///
    /// ```
    /// use parloop_kernel::{Context, args};
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("twice.prog");
    /// let ctx = Context::open("cpu:1")?;
    /// ctx.compile("GPUKERN void twice(double *x, int n) { VECTORIZE_OVER(i, n) x[i] *= 2; END_VECTORIZE }")?.save(&path)?;
    ///
    /// let mut x = vec![1.0, 2.0];
    /// ctx.load(&path)?.kernel("twice")?.call(args![&mut x, 2])?;
    /// assert_eq!(x, [2.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`KernelError::ProgramFile`], [`KernelError::NoProgram`], [`KernelError::Damaged`], [`KernelError::OtherVersion`],
    /// [`KernelError::OtherTarget`]; what the driver says when it refuses the binary.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Program> {
        Program::load(&self.stream, path.as_ref())
    }

    /// An array with these values.
    ///
    /// # Errors
    /// When the device has no room.
    pub fn array<T: Element>(&self, values: &[T]) -> Result<Array<T>> {
        Array::from_slice(&self.stream, values)
    }

    /// An array of `len` zeros.
    ///
    /// # Errors
    /// When the device has no room.
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
