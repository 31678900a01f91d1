//! `parloop.Context`.

use std::path::PathBuf;
use std::sync::Arc;

use parloop_device as dev;
use parloop_kernel as ker;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::array::{Array, shape_of};
use crate::device::Device;
use crate::error::Result;
use crate::memory::PinnedMemory;
use crate::ndarray::dtype_of;
use crate::program::{Program, described_anew, kernel_descriptions, sources_of};
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
#[pyclass(frozen, module = "parloop")]
#[derive(Clone)]
pub struct Context {
    pub inner: ker::Context,
    /// The foreign queue behind an adopted stream.
    _owner: Option<Arc<Py<PyAny>>>,
}

impl Context {
    /// The context that a user named, or the current one.
    pub fn of(object: Option<&Bound<'_, PyAny>>, py: Python<'_>) -> Result<Context> {
        match object.filter(|object| !object.is_none()) {
            None => Ok(current_context(py)?),
            Some(object) => match object.cast::<Context>() {
                Ok(context) => Ok(context.get().clone()),
                Err(_) => Context::new(py, Some(object)),
            },
        }
    }

    pub fn from_kernel_context(inner: ker::Context) -> Context {
        Context { inner, _owner: None }
    }

    fn from_opencl_queue(queue: &Bound<'_, PyAny>) -> Result<Context> {
        let handle: u64 = queue.getattr("int_ptr")?.extract()?;
        let context: u64 = queue.getattr("context")?.getattr("int_ptr")?.extract()?;
        // SAFETY: pyopencl's objects hold live handles, and `queue` is kept with the context.
        let (_, stream) = unsafe { dev::opencl::adopt(context, handle)? };
        Ok(Context { inner: ker::Context::on(stream), _owner: Some(Arc::new(queue.clone().unbind())) })
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

/// The context of the innermost `with ctx:`, else of `PARLOOP_DEVICE`, else of the CPU.
#[pyfunction]
pub fn current_context(py: Python<'_>) -> Result<Context> {
    let open = stack(py)?.call_method0("get")?.cast_into::<PyTuple>()?;
    match open.iter().last() {
        Some(context) => Ok(context.cast::<Context>()?.get().clone()),
        None => Context::new(py, None),
    }
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
        Ok(Context { inner, _owner: None })
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
        Context { inner: ker::Context::on(stream.inner.clone()), _owner: self._owner.clone() }
    }

    /// Records an event on its stream.
    fn record(&self) -> Result<Event> {
        Ok(Event { inner: self.inner.stream().record()? })
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
    /// classes : list of str, optional
    ///     Names of types that are pointers to opaque structs; what is passed there is an object of that class.
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
        classes: Vec<String>,
        checked: Option<bool>,
        check_sites: Vec<String>,
        source_hook: Option<&Bound<'py, PyAny>>,
        save_source_as: Option<PathBuf>,
    ) -> Result<Bound<'py, PyAny>> {
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
        Program::make(py, program, described)
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
        Program::make(py, program.describe(&descriptions)?, described)
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

    /// Page-locked host memory of so many zero bytes.
    fn pinned(&self, nbytes: usize) -> Result<PinnedMemory> {
        Ok(PinnedMemory { inner: self.inner.device().allocate_pinned(nbytes)? })
    }

    fn __enter__(slf: Bound<'_, Self>) -> Result<Bound<'_, Self>> {
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
