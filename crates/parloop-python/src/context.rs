//! `parloop.Context`. What it makes (arrays, buffers, programs, plans, recordings) is beside the types of these.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parloop_device as dev;
use parloop_kernel as ker;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::device::Device;
use crate::error::Result;
use crate::html::html;
use crate::memory::PinnedMemory;
use crate::released::released;
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

/// Sets the default context, for programs of packages that have their own.
#[pyfunction]
#[pyo3(name = "_set_default_context")]
pub fn set_default_context(context: Py<Context>) {
    *DEFAULT.lock().unwrap_or_else(|e| e.into_inner()) = Some(context);
}

/// The default context: one object, for the value of `PARLOOP_DEVICE` at first use.
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
                        "a context needs a device name, a Device, a Stream or a pyopencl queue, not {given}"
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

    /// Waits until all work queued so far is done.
    fn synchronize(&self, py: Python<'_>) -> Result<()> {
        Ok(released(py, || self.inner.synchronize())?)
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

    /// Page-locked host memory of this many zero bytes.
    fn pinned(&self, py: Python<'_>, nbytes: usize) -> Result<PinnedMemory> {
        Ok(PinnedMemory { inner: py.detach(|| self.inner.device().allocate_pinned(nbytes))? })
    }

    fn __enter__(slf: Bound<'_, Self>) -> Result<Bound<'_, Self>> {
        ENTERED.store(true, Ordering::Relaxed);
        let stack = stack(slf.py())?;
        let open = stack.call_method0("get")?;
        stack.call_method1("set", (open.add((&slf,))?,))?;
        Ok(slf)
    }

    /// Removes itself, even if contexts that were entered later are still open.
    fn __exit__(slf: &Bound<'_, Self>, _kind: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>, _trace: &Bound<'_, PyAny>) -> Result<()> {
        let stack = stack(slf.py())?;
        let open = stack.call_method0("get")?.cast_into::<PyTuple>()?;
        let mut left: Vec<Bound<'_, PyAny>> = open.iter().collect();
        if let Some(own) = left.iter().rposition(|context| context.is(slf)) {
            left.remove(own);
        }
        stack.call_method1("set", (PyTuple::new(slf.py(), left)?,))?;
        Ok(())
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.py(), "context", (slf,))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }
}
