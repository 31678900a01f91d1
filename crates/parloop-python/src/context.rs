//! `parloop.Context`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parloop_device as dev;
use parloop_kernel as ker;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::array::{Array, shape_of};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::fft::FftPlan;
use crate::memory::PinnedMemory;
use crate::ndarray::dtype_of;
use crate::objects::buffer::Buffer;
use crate::program::{Program, classes_in, classes_of, described_anew, kernel_descriptions, sources_of};
use crate::recording::Recording;
use crate::stream::{Event, Stream};

/// A device with a stream: where arrays live and kernels run.
///
/// `Context()` is the device of `PARLOOP_DEVICE`, or the CPU with all its threads; `Context("cuda:0")` names one; a `Device`, a
/// `Stream` or a pyopencl queue does as well. Inside `with ctx:` it is the default of everything.
///
/// >>> import numpy as np, parloop as pl
/// >>> ctx = pl.Context("cpu:1")
/// >>> prog = ctx.compile('''
/// ... GPUKERN void twice(GPUGLMEM double *x, const int64_t n) {
/// ...     VECTORIZE_OVER(i, n)
/// ...         x[i] *= 2;
/// ...     END_VECTORIZE
/// ... }''')
/// >>> x = np.arange(3.0)
/// >>> prog.twice(x=x, n=3)
/// >>> x
/// array([0., 2., 4.])
#[pyclass(frozen, subclass, weakref, module = "parloop")]
#[derive(Clone)]
pub struct Context {
    pub inner: ker::Context,
    /// The foreign queue behind an adopted stream.
    _owner: Option<Arc<Py<PyAny>>>,
    /// The kernels that were added to it, made when they are first asked for.
    kernels: Arc<PyOnceLock<Py<PyAny>>>,
}

impl Context {
    /// The context that a user named, or the current one.
    pub fn of(object: Option<&Bound<'_, PyAny>>, py: Python<'_>) -> Result<Context> {
        match object.filter(|object| !object.is_none()) {
            None => Ok(current_context(py)?.get().clone()),
            Some(object) => match object.cast::<Context>() {
                Ok(context) => Ok(context.get().clone()),
                Err(_) => Context::new(py, Some(object)),
            },
        }
    }

    pub fn from_kernel_context(inner: ker::Context) -> Context {
        Context { inner, _owner: None, kernels: Arc::new(PyOnceLock::new()) }
    }

    /// The context that a user named, or the current one, as the object that it is.
    pub fn object_of<'py>(object: Option<&Bound<'py, PyAny>>, py: Python<'py>) -> Result<(Bound<'py, PyAny>, ker::Context)> {
        let context = match object.filter(|object| !object.is_none()) {
            None => current_context(py)?,
            Some(object) => match object.cast::<Context>() {
                Ok(context) => context.clone(),
                Err(_) => Bound::new(py, Context::new(py, Some(object))?)?,
            },
        };
        let kernel = context.get().inner.clone();
        Ok((context.into_any(), kernel))
    }

    fn from_opencl_queue(queue: &Bound<'_, PyAny>) -> Result<Context> {
        let handle: u64 = queue.getattr("int_ptr")?.extract()?;
        let context: u64 = queue.getattr("context")?.getattr("int_ptr")?.extract()?;
        // SAFETY: pyopencl's objects hold live handles, and `queue` is kept with the context.
        let (_, stream) = unsafe { dev::opencl::adopt(context, handle)? };
        Ok(Context {
            inner: ker::Context::on(stream),
            _owner: Some(Arc::new(queue.clone().unbind())),
            kernels: Arc::new(PyOnceLock::new()),
        })
    }
}

/// The stack of contexts that `with` blocks opened, innermost last.
fn stack(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static STACK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || {
        let options = PyDict::new(py);
        options.set_item("default", PyTuple::empty(py))?;
        Ok::<_, PyErr>(py.import("contextvars")?.getattr("ContextVar")?.call(("parloop_contexts",), Some(&options))?.unbind())
    };
    Ok(STACK.get_or_try_init(py, make)?.bind(py))
}

/// Whether any context was ever entered: most programs have none, and looking costs more than the rest.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// The context of the innermost `with ctx:`, else of `PARLOOP_DEVICE`, else of the CPU.
#[pyfunction]
pub fn current_context(py: Python<'_>) -> Result<Bound<'_, Context>> {
    if !ENTERED.load(Ordering::Relaxed) {
        return default_context(py);
    }
    let open = stack(py)?.call_method0(pyo3::intern!(py, "get"))?.cast_into::<PyTuple>()?;
    match open.len() {
        0 => default_context(py),
        count => Ok(open.get_item(count - 1)?.cast_into::<Context>()?),
    }
}

/// The context for which nothing is said.
static DEFAULT: std::sync::Mutex<Option<Py<Context>>> = std::sync::Mutex::new(None);

/// Says which context is meant where nothing is said, for programs of packages that have one of their own.
#[pyfunction]
#[pyo3(name = "_set_default_context")]
pub fn set_default_context(context: Py<Context>) {
    *DEFAULT.lock().unwrap_or_else(|e| e.into_inner()) = Some(context);
}

/// The context for which nothing is said: one object, of the `PARLOOP_DEVICE` of the moment when it is first needed.
fn default_context(py: Python<'_>) -> Result<Bound<'_, Context>> {
    if let Some(context) = &*DEFAULT.lock().unwrap_or_else(|e| e.into_inner()) {
        return Ok(context.bind(py).clone());
    }
    let context = Bound::new(py, Context::new(py, None)?)?;
    *DEFAULT.lock().unwrap_or_else(|e| e.into_inner()) = Some(context.clone().unbind());
    Ok(context)
}

#[pymethods]
impl Context {
    #[new]
    #[pyo3(signature = (device=None))]
    fn new(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> Result<Context> {
        let inner = match device.filter(|device| !device.is_none()) {
            None => py.detach(ker::Context::from_env)?,
            Some(device) => {
                if let Ok(name) = device.extract::<String>() {
                    py.detach(|| ker::Context::open(&name))?
                } else if let Ok(device) = device.cast::<Device>() {
                    ker::Context::on(device.get().inner.default_stream()?)
                } else if let Ok(stream) = device.cast::<Stream>() {
                    ker::Context::on(stream.get().inner.clone())
                } else if device.hasattr("int_ptr")? && device.hasattr("context")? {
                    return Context::from_opencl_queue(device);
                } else {
                    let given = device.get_type().name()?;
                    return Err(PyTypeError::new_err(format!(
                        "a context is made from a device's name, a Device, a Stream or a pyopencl queue, not {given}"
                    ))
                    .into());
                }
            }
        };
        Ok(Context { inner, _owner: None, kernels: Arc::new(PyOnceLock::new()) })
    }

    /// Its device.
    #[getter]
    fn device(&self) -> Device {
        Device { inner: self.inner.device().clone() }
    }

    /// The stream its kernels run on.
    #[getter]
    fn default_stream(&self) -> Stream {
        Stream { inner: self.inner.stream().clone() }
    }

    /// A further stream of its device.
    fn stream(&self) -> Result<Stream> {
        Ok(Stream { inner: self.inner.device().create_stream()? })
    }

    /// A context on the same device and another stream.
    fn on(&self, stream: &Stream) -> Context {
        Context { inner: ker::Context::on(stream.inner.clone()), _owner: self._owner.clone(), kernels: Arc::new(PyOnceLock::new()) }
    }

    /// Records an event on its stream.
    fn record(&self) -> Result<Event> {
        Ok(Event { inner: self.inner.stream().record()? })
    }

    /// Records what is called inside `with ctx.recording() as steps:`, to do it again and again by `steps()`.
    ///
    /// Kernels that are called on this context, copies and fills are written down in order and **not done**. `steps()` then does them
    /// all: as one graph of the driver's on CUDA and HIP, as a prepared list elsewhere. Numbers are recorded by value, arrays by
    /// reference: each call of `steps` sees what is in them then, and `steps` keeps them alive.
    ///
    /// What needs the host in the middle cannot be recorded and is an error: copies from and to the host, a host array given to a
    /// kernel on a GPU, events, waiting, kernels that return a value, Fourier transforms, arithmetic of arrays that NumPy does.
    ///
    /// The recording is of this thread's work; other threads work on as ever. A thread records a context once at a time.
    ///
    /// Returns
    /// -------
    /// Recording
    ///     To enter with `with`, and to call afterwards.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, parloop as pl
    /// >>> ctx = pl.Context("cpu:1")
    /// >>> prog = ctx.compile("GPUKERN void add(double *x, double a, int n) { VECTORIZE_OVER(i, n) x[i] += a; END_VECTORIZE }")
    /// >>> x = ctx.zeros(2)
    /// >>> with ctx.recording() as steps:
    /// ...     prog.add(x=x, a=1.0, n=2)
    /// ...     prog.add(x=x, a=0.5, n=1)
    /// >>> len(steps), x.numpy()
    /// (2, array([0., 0.]))
    /// >>> steps(); steps()
    /// >>> x.numpy()
    /// array([3., 2.])
    fn recording(&self) -> Recording {
        Recording::new(self.inner.clone())
    }

    /// Waits until all work queued so far is done.
    fn synchronize(&self, py: Python<'_>) -> Result<()> {
        Ok(py.detach(|| self.inner.synchronize())?)
    }

    /// Compiles portable C.
    ///
    /// Parameters
    /// ----------
    /// source : str, path, or a list of them
    ///     Text, or files (`pathlib.Path`, or a string that ends in `.c`, `.h`, `.cl` or `.cu`).
    /// kernels : dict of Kernel, optional
    ///     Descriptions that are checked against the source, and grids.
    /// include : list of path, optional
    ///     Folders in which `#include` looks for your headers.
    /// arguments : list of str, optional
    ///     Further arguments for the target's compiler.
    /// api : str, path, or a list of them, optional
    ///     Sources in front of the others, of whose functions only those that `kernels` describes can be called.
    /// classes : list of class or str, optional
    ///     Classes of `parloop.objects`, or just names of types that are pointers to opaque structs; what is passed there is an object
    ///     of that class.
    /// checked : bool, optional
    ///     Whether bad indices and null references in the accessors of classes are errors (`CheckError`); each launch is then waited
    ///     for. Left out, it is what the environment variable `PARLOOP_CHECKED` says.
    /// check_sites : list of str, optional
    ///     What each site of `PARLOOP_CHECK(ok, site, index, limit)` checks, in words.
    /// source_hook : callable, optional
    ///     Changes each source's text before anything else.
    /// save_source_as : path, optional
    ///     Where to write the full source that the compiler is given.
    #[pyo3(signature = (source, *, kernels=None, include=vec![], arguments=vec![], api=None, classes=vec![], checked=None,
                        check_sites=vec![], source_hook=None, save_source_as=None))]
    #[allow(clippy::too_many_arguments)] // the surface of one Python call; each goes to a field of the options
    fn compile<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        kernels: Option<&Bound<'py, PyDict>>,
        include: Vec<PathBuf>,
        arguments: Vec<String>,
        api: Option<&Bound<'py, PyAny>>,
        classes: Vec<Bound<'py, PyAny>>,
        checked: Option<bool>,
        check_sites: Vec<String>,
        source_hook: Option<&Bound<'py, PyAny>>,
        save_source_as: Option<PathBuf>,
    ) -> Result<Bound<'py, PyAny>> {
        let (classes, types) = classes_of(&classes)?;
        let api = api.filter(|api| api.len().is_ok_and(|count| count > 0));
        let mut sources = api.map(|api| sources_of(api, source_hook)).transpose()?.unwrap_or_default();
        sources = sources.into_iter().map(ker::Source::api).collect();
        sources.extend(sources_of(source, source_hook)?);
        let described = kernels.map(|kernels| kernel_descriptions(kernels, &classes)).transpose()?.unwrap_or_default();
        let mut options = ker::CompileOptions {
            include_folders: include,
            arguments,
            kernels: described.iter().map(|(description, _)| description.clone()).collect(),
            classes,
            check_sites,
            save_source_as,
            ..Default::default()
        };
        options.checked = checked.unwrap_or(options.checked);
        let program = py.detach(|| self.inner.compile_with(&sources, &options))?;
        Program::make(py, program, described, &types)
    }

    /// Loads a program that `Program.save` wrote; no compiler is needed. Load only files that you trust: what is in them is run.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file.
    /// kernels : dict of Kernel, optional
    ///     Further descriptions of what is in it.
    #[pyo3(signature = (path, kernels=None))]
    fn load<'py>(&self, py: Python<'py>, path: PathBuf, kernels: Option<&Bound<'py, PyDict>>) -> Result<Bound<'py, PyAny>> {
        let program = py.detach(|| self.inner.load(path))?;
        let described = kernels.map(|kernels| described_anew(&program, kernels)).transpose()?.unwrap_or_default();
        let descriptions: Vec<ker::KernelDescription> = described.iter().map(|(description, _)| description.clone()).collect();
        let types = kernels.map(classes_in).transpose()?.unwrap_or_default();
        Program::make(py, program.describe(&descriptions)?, described, &types)
    }

    /// An array with the values of `values`. On a CPU it shares the memory of a NumPy array.
    #[pyo3(signature = (values, dtype=None))]
    fn array(&self, values: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>) -> Result<Array> {
        Array::from_object(&self.inner, values, dtype.map(dtype_of).transpose()?)
    }

    /// An array of zeros.
    #[pyo3(signature = (shape, dtype=None))]
    fn zeros(&self, py: Python<'_>, shape: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>) -> Result<Array> {
        let array = self.empty(py, shape, dtype)?;
        array.zero(&self.inner)?;
        Ok(array)
    }

    /// An array whose values are undefined.
    #[pyo3(signature = (shape, dtype=None))]
    fn empty(&self, py: Python<'_>, shape: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>) -> Result<Array> {
        let dtype = dtype.map(dtype_of).transpose()?.unwrap_or(dev::DType::F64);
        let shape = shape_of(shape)?;
        py.detach(|| Array::empty(&self.inner, &shape, dtype))
    }

    /// A buffer for objects; all of it is zero.
    #[pyo3(signature = (capacity=parloop_object::DEFAULT_CAPACITY))]
    fn new_buffer(slf: &Bound<'_, Self>, capacity: usize) -> Result<Py<Buffer>> {
        let inner = parloop_object::Buffer::new(&slf.get().inner, capacity).map_err(Error::from)?;
        Ok(Buffer::new(slf.py(), slf.as_any(), inner)?)
    }

    /// The kernels that were added to it: `ctx.kernels.name(…)` or `ctx.kernels["name"](…)`.
    #[getter]
    fn kernels(&self, py: Python<'_>) -> Result<Py<PyAny>> {
        let make = || Ok::<_, PyErr>(py.import("parloop.objects._kernels")?.call_method0("KernelDict")?.unbind());
        Ok(self.kernels.get_or_try_init(py, make)?.clone_ref(py))
    }

    /// Compiles kernels that may take objects, and adds them to `ctx.kernels`. See `parloop.objects.add_kernels`.
    #[pyo3(signature = (*args, **named))]
    fn add_kernels(slf: &Bound<'_, Self>, args: &Bound<'_, PyTuple>, named: Option<&Bound<'_, PyDict>>) -> Result<()> {
        let add = slf.py().import("parloop.objects._kernels")?.getattr("add_kernels")?;
        let mut all = vec![slf.clone().into_any()];
        all.extend(args.iter());
        add.call(PyTuple::new(slf.py(), all)?, named)?;
        Ok(())
    }

    /// Plans Fourier transforms in place of arrays like `data`.
    ///
    /// Parameters
    /// ----------
    /// data : Array or numpy.ndarray
    ///     An array of complex64 or complex128 without gaps, in C or Fortran order. It is looked at, not changed.
    /// axes : int or sequence of int
    ///     The axes to transform along; negative ones count from the end.
    ///
    /// Returns
    /// -------
    /// FftPlan
    ///     Its `transform(array)` and `itransform(array)` work on arrays of that shape, dtype and order.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, parloop as pl
    /// >>> x = np.array([[1, 2], [3, 5]], complex)
    /// >>> plan = pl.Context("cpu").plan_FFT(x, axes=-1)
    /// >>> plan.transform(x)
    /// >>> x
    /// array([[ 3.+0.j, -1.+0.j],
    ///        [ 8.+0.j, -2.+0.j]])
    /// >>> plan.itransform(x)
    /// >>> x
    /// array([[1.+0.j, 2.+0.j],
    ///        [3.+0.j, 5.+0.j]])
    #[pyo3(name = "plan_FFT")]
    fn plan_fft(&self, data: &Bound<'_, PyAny>, axes: &Bound<'_, PyAny>) -> Result<FftPlan> {
        FftPlan::new(&self.inner, data, axes)
    }

    /// Page-locked host memory of so many zero bytes.
    fn pinned(&self, nbytes: usize) -> Result<PinnedMemory> {
        Ok(PinnedMemory { inner: self.inner.device().allocate_pinned(nbytes)? })
    }

    fn __enter__(slf: Bound<'_, Self>) -> Result<Bound<'_, Self>> {
        ENTERED.store(true, Ordering::Relaxed);
        let stack = stack(slf.py())?;
        let open = stack.call_method0("get")?;
        stack.call_method1("set", (open.add((&slf,))?,))?;
        Ok(slf)
    }

    fn __exit__(&self, py: Python<'_>, _kind: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>, _trace: &Bound<'_, PyAny>) -> Result<()> {
        let stack = stack(py)?;
        let open = stack.call_method0("get")?.cast_into::<PyTuple>()?;
        stack.call_method1("set", (open.get_slice(0, open.len().saturating_sub(1)),))?;
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }
}
