//! `parloop.Array`: typed elements in the memory of a device.

use std::sync::{Arc, OnceLock};

use parloop_device as dev;
use parloop_device::{DType, DeviceKind};
use parloop_kernel as ker;
use parloop_object as obj;
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::context::Context;
use crate::device::Device;
use crate::dlpack;
use crate::error::Result;
use crate::foreign::{Foreign, stream_by_number};
use crate::html::html;
use crate::layout::Layout;
use crate::memory::Memory;
use crate::ndarray::{NdArray, as_array, as_contiguous, dtype_of, empty, numpy_dtype, typestr};
use crate::owner::{Owner, check_shared};
use crate::released::released;

/// An array in the memory of a context's device. Slices share its memory.
///
/// Operators, comparisons, reductions, indices and views are NumPy's: types of results, broadcasting, errors. Results are arrays of the
/// same context, and single numbers are NumPy's scalars. Operands are arrays of the same device, numbers, and NumPy's arrays, which
/// are copied to the device.
///
/// On a CPU NumPy does it, in the memory that both share. On a GPU kernels do it, which are compiled when first needed and kept in the
/// compile cache; nothing is copied to the host but the number that a reduction gives, and an index that is a mask or an array of
/// integers, whose places are found on the host. Where NumPy warns, of a division by zero for example, a GPU gives the same value
/// without a word: integers divided by zero are zero. What a float out of range, or not-a-number, becomes as an integer depends on the device.
///
/// An assignment converts to a type of the same kind or a higher one; `astype` converts to any.
///
/// >>> import numpy as np, parloop as pl
/// >>> x = pl.Context("cpu:1").array(np.arange(6.0))
/// >>> x[1::2].numpy()
/// array([1., 3., 5.])
/// >>> x[x > 3] += 10
/// >>> (2 * x.reshape(2, 3) + [0, 1, 2]).sum(axis=0).tolist()
/// [6.0, 32.0, 38.0]
#[pyclass(frozen, module = "parloop")]
#[derive(Clone)]
pub struct Array {
    pub context: ker::Context,
    pub memory: dev::Memory,
    pub dtype: DType,
    pub layout: Layout,
    pub writeable: bool,
    /// Keeps memory of other libraries alive.
    pub owner: Option<Arc<Owner>>,
    /// The buffer whose memory this is a part of, which may move.
    pub buffer: Option<obj::Buffer>,
    /// Holds the address of memory that grows, once it was given to others.
    pub held: Arc<OnceLock<dev::Export>>,
}

/// A shape that a user gave: an integer or a sequence of them.
pub fn shape_of(object: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    if let Ok(len) = object.extract::<usize>() {
        return Ok(vec![len]);
    }
    object
        .extract::<Vec<usize>>()
        .map_err(|_| PyTypeError::new_err(format!("a shape must be a non-negative integer or a tuple of them, not {object}")))
}

/// `parloop._indexing`.
pub fn indexing(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    Ok(MODULE.get_or_try_init(py, || py.import("parloop._indexing").map(Bound::unbind))?.bind(py))
}

/// Sets all elements of `part`, which can be written.
pub fn assign(py: Python<'_>, part: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    indexing(py)?.call_method1("assign", (part.clone(), value)).map(drop)
}

impl Array {
    pub fn empty(context: &ker::Context, shape: &[usize], dtype: DType) -> Result<Array> {
        let too_large = || dev::DeviceError::OutOfMemory { device: context.device().id().to_string(), asked: u64::MAX, free: None };
        let elements = shape.iter().try_fold(dtype.size(), |bytes, &len| bytes.checked_mul(len)).filter(|&n| n <= isize::MAX as usize);
        let memory = context.device().allocate(elements.ok_or_else(too_large)?)?;
        let layout = Layout::dense(shape, dtype.size());
        Ok(Array { context: context.clone(), memory, dtype, layout, writeable: true, owner: None, buffer: None, held: Arc::default() })
    }

    pub fn zero(&self, py: Python<'_>, context: &ker::Context) -> Result<()> {
        Ok(py.detach(|| {
            let _still = self.still();
            context.stream().fill(&self.memory, 0, self.memory.len(), 0)
        })?)
    }

    /// Elements of any object: shared where the device can use them in place, copied otherwise.
    pub fn from_object(context: &ker::Context, values: &Bound<'_, PyAny>, dtype: Option<DType>) -> Result<Array> {
        if let Ok(array) = values.cast::<Array>() {
            let array = array.get();
            if dtype.is_none_or(|dtype| dtype == array.dtype) {
                return array.moved_to(values.py(), context);
            }
            return Array::from_object(context, &array.to_numpy(values)?, dtype);
        }
        // NumPy converts what it can to a dtype that was requested, also from types and byte orders that no kernel takes.
        let is_converted = dtype.is_some() && NdArray::of(values)?.is_some_and(|array| array.dtype() != dtype);
        if !is_converted
            && let Some(foreign) = Foreign::of(values, context.stream())?
            && dtype.is_none_or(|dtype| dtype == foreign.dtype)
        {
            match &foreign.device {
                Some(device) if device.same(context.device()) => return Array::adopt(context, foreign),
                None if context.device().kind() == DeviceKind::Cpu => return Array::adopt(context, foreign),
                None => {}
                Some(device) => {
                    let source = ker::Context::on(device.default_stream()?);
                    return Array::adopt(&source, foreign)?.moved_to(values.py(), context);
                }
            }
        }
        let found = as_array(values, dtype)?;
        // `ascontiguousarray` makes an array of one element from a scalar; the shape is that of the values.
        let shape: Vec<usize> = found.getattr("shape")?.extract()?;
        let host = as_contiguous(&found)?;
        let Some(array) = NdArray::of(&host)? else { return Err(PyTypeError::new_err("numpy.asarray did not return an array").into()) };
        let Some(dtype) = array.dtype() else {
            return Err(PyTypeError::new_err(format!("dtype {} is not supported", array.dtype_name())).into());
        };
        let out = Array::empty(context, &shape, dtype)?;
        out.write_dense(values.py(), &array)?;
        Ok(out)
    }

    fn adopt(context: &ker::Context, foreign: Foreign<'_>) -> Result<Array> {
        // Along an axis with a negative stride the elements lie below the first one.
        let below = |(&len, &stride): (&usize, &isize)| (len as isize - 1).max(0) as usize * stride.min(0).unsigned_abs();
        let offset = if foreign.size() == 0 { 0 } else { foreign.shape.iter().zip(&foreign.strides).map(below).sum() };
        let layout = Layout { shape: foreign.shape.clone(), strides: foreign.strides.clone(), offset, itemsize: foreign.dtype.size() };
        let (_, end) = layout.span();
        // SAFETY: the protocol by which `foreign` was offered says that its elements live as long as `owner`, which is kept.
        let memory = unsafe { context.device().adopt_memory(foreign.pointer - offset as u64, end)? };
        let owner = Some(Arc::new(Owner::of(&foreign.owner)?));
        Ok(Array {
            context: context.clone(),
            memory,
            dtype: foreign.dtype,
            layout,
            writeable: foreign.writeable,
            owner,
            buffer: None,
            held: Arc::default(),
        })
    }

    /// As [`check_shared`].
    #[inline]
    pub fn check_shared(&self, py: Python<'_>) -> Result<()> {
        check_shared(py, self.owner.as_deref())
    }

    fn write_dense(&self, py: Python<'_>, values: &NdArray<'_, '_>) -> Result<()> {
        let len = values.size() * self.dtype.size();
        if len > 0 {
            // SAFETY: a contiguous array of that many bytes, borrowed by the caller.
            let bytes = unsafe { std::slice::from_raw_parts(values.pointer(), len) };
            py.detach(|| {
                let _still = self.still();
                self.context.stream().write(&self.memory, self.layout.offset, bytes)
            })?;
        }
        Ok(())
    }

    /// Keeps the memory of a buffer in place as long as the result lives. The GIL is released: the thread that grows the buffer may hold
    /// it.
    fn still(&self) -> Option<obj::Hold> {
        self.buffer.as_ref().map(obj::Buffer::hold)
    }

    /// The array on another context: itself on the same device, a copy on another.
    fn moved_to(&self, py: Python<'_>, context: &ker::Context) -> Result<Array> {
        if self.memory.device().same(context.device()) {
            return Ok(Array { context: context.clone(), ..self.clone() });
        }
        let out = Array::empty(context, &self.layout.shape, self.dtype)?;
        let host = self.copy_to_host(py)?;
        let host = as_contiguous(&host)?;
        if let Some(values) = NdArray::of(&host)? {
            out.write_dense(py, &values)?;
        }
        Ok(out)
    }

    /// A new NumPy array with the elements.
    pub fn copy_to_host<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        self.check_shared(py)?;
        let stream = self.context.stream();
        if self.layout.is_dense() {
            let host = empty(py, &self.layout.shape, self.dtype)?;
            let bytes = self.layout.size() * self.dtype.size();
            self.read_into(&host, self.layout.offset, bytes)?;
            return Ok(host);
        }
        let (low, high) = self.layout.span();
        let raw = empty(py, &[high - low], DType::U8)?;
        released(py, || stream.synchronize())?;
        self.read_into(&raw, low, high - low)?;
        let view = self.view_of_bytes(py, &raw, low)?;
        Ok(view.call_method0("copy")?)
    }

    fn read_into(&self, host: &Bound<'_, PyAny>, offset: usize, len: usize) -> Result<()> {
        let Some(array) = NdArray::of(host)? else { return Ok(()) };
        if len == 0 {
            return Ok(());
        }
        // SAFETY: `host` was just made with at least `len` bytes and is not shared yet.
        let bytes = unsafe { std::slice::from_raw_parts_mut(array.pointer(), len) };
        Ok(released(host.py(), || {
            let _still = self.still();
            self.context.stream().read(&self.memory, offset, bytes)
        })?)
    }

    /// The elements as a view of host bytes that begin at byte `low` of the memory.
    fn view_of_bytes<'py>(&self, py: Python<'py>, raw: &Bound<'py, PyAny>, low: usize) -> PyResult<Bound<'py, PyAny>> {
        let options = PyDict::new(py);
        options.set_item("shape", PyTuple::new(py, &self.layout.shape)?)?;
        options.set_item("dtype", self.dtype.name())?;
        options.set_item("buffer", raw)?;
        options.set_item("offset", self.layout.offset - low)?;
        options.set_item("strides", PyTuple::new(py, &self.layout.strides)?)?;
        py.import("numpy")?.getattr("ndarray")?.call((), Some(&options))
    }

    /// Makes a recording in progress keep the owner of the memory alive.
    pub fn keep_recorded(&self, stream: &dev::Stream) {
        if let Some(owner) = &self.owner {
            stream.keep_recorded(|| owner.clone());
        }
    }

    fn is_cpu(&self) -> bool {
        self.memory.device().kind() == DeviceKind::Cpu
    }

    pub fn to_numpy<'py>(&self, slf: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        if self.is_cpu() && !self.memory.is_empty() {
            return Ok(as_array(slf, None)?);
        }
        self.copy_to_host(slf.py())
    }

    /// The address stays valid as long as the array lives.
    pub fn hold(&self, py: Python<'_>) -> Result<()> {
        if self.held.get().is_some() {
            return Ok(());
        }
        let export = match &self.buffer {
            Some(buffer) => Some(py.detach(|| buffer.export())?),
            None => py.detach(|| self.memory.export())?,
        };
        if let Some(export) = export {
            let _ = self.held.set(export);
        }
        Ok(())
    }

    /// Makes the elements ready for a stream of the consumer's, by its number in DLPack: none is the default stream, and -1 requests no
    /// synchronisation.
    fn hand_over(&self, py: Python<'_>, number: Option<i64>) -> Result<()> {
        let (device, ours) = (self.memory.device(), self.context.stream());
        let theirs = match (device.kind(), number) {
            (_, Some(-1)) | (DeviceKind::Cpu | DeviceKind::OpenCl, None) => None,
            (_, None) => Some(device.default_stream()?),
            (_, Some(number)) => Some(stream_by_number(device, number)?),
        };
        py.detach(|| {
            if self.is_cpu() {
                return ours.synchronize();
            }
            // The consumer may use the memory on streams that nothing orders with its freeing.
            self.memory.note_foreign_use();
            theirs.map_or(Ok(()), |theirs| theirs.wait_for_stream(ours))
        })?;
        Ok(())
    }

    fn interface<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        self.check_shared(py)?;
        self.hold(py)?;
        let interface = PyDict::new(py);
        let address = if self.memory.is_empty() { 0 } else { self.memory.handle() + self.layout.offset as u64 };
        interface.set_item("version", 3)?;
        interface.set_item("shape", PyTuple::new(py, &self.layout.shape)?)?;
        interface.set_item("typestr", typestr(self.dtype))?;
        interface.set_item("data", (address, !self.writeable))?;
        interface.set_item("strides", PyTuple::new(py, &self.layout.strides)?)?;
        Ok(interface)
    }
}

#[pymethods]
impl Array {
    /// The length along each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.layout.shape)
    }

    /// The bytes from one element to the next along each axis.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.layout.strides)
    }

    /// The type of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numpy_dtype(py, self.dtype)
    }

    /// The number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.layout.shape.len()
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.layout.size()
    }

    /// The bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.layout.size() * self.dtype.size()
    }

    /// Where it lives and its copies run.
    #[getter]
    fn context(&self) -> Context {
        Context::from_kernel_context(self.context.clone())
    }

    /// The device whose memory it is in.
    #[getter]
    fn device(&self) -> Device {
        Device { inner: self.memory.device().clone() }
    }

    /// The memory it is in; its first element is `offset` bytes from the start.
    #[getter]
    fn memory(&self) -> Memory {
        Memory { inner: self.memory.clone(), owner: self.owner.clone(), buffer: self.buffer.clone(), writeable: self.writeable }
    }

    /// Bytes from the start of its memory to its first element.
    #[getter]
    fn offset(&self) -> usize {
        self.layout.offset
    }

    /// A NumPy array with the elements: a view on a CPU, a copy from a GPU.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        // On a CPU too, where it is not a copy: arithmetic goes this way, and would be done at once.
        slf.get().context.stream().refuse_recording(|| "a use of an array by the host".to_owned(), None)?;
        slf.get().to_numpy(slf.as_any())
    }

    /// The array on another context or device: itself if it is there already.
    fn to(&self, py: Python<'_>, context: &Bound<'_, PyAny>) -> Result<Array> {
        let context = Context::of(Some(context), py)?;
        self.moved_to(py, &context.inner)
    }

    /// A copy on the same context, without gaps.
    fn copy(&self, py: Python<'_>) -> Result<Array> {
        self.check_shared(py)?;
        let out = Array::empty(&self.context, &self.layout.shape, self.dtype)?;
        if self.layout.is_dense() {
            let bytes = self.layout.size() * self.dtype.size();
            self.keep_recorded(self.context.stream());
            py.detach(|| {
                let _still = self.still();
                self.context.stream().copy(&out.memory, 0, &self.memory, self.layout.offset, bytes)
            })?;
        } else {
            assign(py, &out, &Bound::new(py, self.clone())?.into_any())?;
        }
        Ok(out)
    }

    fn __len__(&self) -> PyResult<usize> {
        self.layout.shape.first().copied().ok_or_else(|| PyTypeError::new_err("an array without axes has no length"))
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        if !self.is_cpu() {
            return Err(pyo3::exceptions::PyAttributeError::new_err("the array is not in host memory; use .numpy()").into());
        }
        self.interface(py)
    }

    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        if !matches!(self.memory.device().kind(), DeviceKind::Cuda | DeviceKind::Hip) {
            return Err(pyo3::exceptions::PyAttributeError::new_err("the array is not in CUDA memory").into());
        }
        let interface = self.interface(py)?;
        // The consumer may use the memory on streams that nothing orders with its freeing.
        py.detach(|| self.memory.note_foreign_use());
        let handle = self.context.stream().handle();
        interface.set_item("stream", if handle == 0 { 1 } else { handle })?;
        Ok(interface)
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(slf: &Bound<'py, Self>, dtype: Option<&Bound<'py, PyAny>>, copy: Option<bool>) -> Result<Bound<'py, PyAny>> {
        let this = slf.get();
        if copy == Some(false) && !this.is_cpu() {
            return Err(PyValueError::new_err("the array is on a GPU and cannot be converted without a copy").into());
        }
        let host = if copy == Some(true) { this.copy_to_host(slf.py())? } else { this.to_numpy(slf.as_any())? };
        match dtype.filter(|dtype| !dtype.is_none()) {
            Some(dtype) if copy == Some(false) && !host.getattr("dtype")?.eq(dtype)? => {
                Err(PyValueError::new_err("conversion to another dtype needs a copy").into())
            }
            Some(dtype) => Ok(host.call_method1("astype", (dtype, "K", "unsafe", true, false))?),
            None => Ok(host),
        }
    }

    /// The elements for another library, by DLPack. On a GPU the stream that is named waits for the work of this array's.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> Result<Bound<'py, PyAny>> {
        let (this, py) = (slf.get(), slf.py());
        this.check_shared(py)?;
        let id = this.memory.device().id();
        let is_versioned = max_version.is_some_and(|(major, _)| major >= 1);
        let is_elsewhere = dl_device.is_some_and(|wanted| Some(wanted) != dlpack::device_code(id));
        let array = match (is_elsewhere, copy) {
            (false, None | Some(false)) => slf.clone(),
            (false, Some(true)) => Bound::new(py, this.copy(py)?)?,
            (true, None | Some(true)) if dl_device == Some(dlpack::HOST) => {
                let host = ker::Context::open("cpu:1")?;
                Bound::new(py, Array::from_object(&host, &this.copy_to_host(py)?, None)?)?
            }
            (true, _) => return Err(PyBufferError::new_err(format!("the array is on {id}; copy it with .to(…) first")).into()),
        };
        let is_copied = is_elsewhere || copy == Some(true);
        let this = array.get().clone();
        if !this.writeable && !is_versioned {
            let reason = "the array is read-only, which DLPack before 1.0 cannot express; request max_version=(1, 0) or pass a copy";
            return Err(PyBufferError::new_err(reason).into());
        }
        this.hold(py)?;
        this.hand_over(py, if is_elsewhere { None } else { stream })?;
        let form = dlpack::Form { is_versioned, is_read_only: !this.writeable, is_copied };
        let place = (this.memory.device().id(), this.memory.handle());
        Ok(dlpack::export(array.into_any(), place, &this.layout, this.dtype, &form)?)
    }

    fn __dlpack_device__(&self) -> PyResult<(i32, i32)> {
        dlpack::device_code(self.memory.device().id())
            .ok_or_else(|| PyBufferError::new_err("OpenCL memory cannot be exported through DLPack"))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.py(), "array", (slf, slf.get().context.is_recording()))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> Result<String> {
        let this = slf.get();
        let about = format!("<Array {} {:?} on {}", this.dtype, this.layout.shape, this.memory.device().id());
        if this.context.is_recording() {
            return Ok(format!("{about}>"));
        }
        let text: String = slf.py().import("parloop._shown")?.call_method1("array", (slf, ""))?.extract()?;
        Ok(format!("{about}: {text}>"))
    }
}

#[pymethods]
impl Context {
    /// An array with the values of `values`.
    ///
    /// Parameters
    /// ----------
    /// values : array_like
    ///     Numbers of the host, or an array of any library on any device. Nothing in a masked array may be masked.
    /// dtype : dtype, optional
    ///     The type of the elements; by default that of the values.
    /// copy : bool, optional
    ///     As in NumPy 2. True, the default, copies on every device. None shares the memory of the values where the device can use it in place,
    ///     and copies elsewhere: a CPU shares that of NumPy arrays, which cannot be resized as long as the array lives, and every device that of
    ///     its own arrays. False shares it or raises a ``ValueError``.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, parloop as pl
    /// >>> ctx, x = pl.Context("cpu:1"), np.zeros(2)
    /// >>> own, shared = ctx.array(x), ctx.array(x, copy=False)
    /// >>> x[0] = 5
    /// >>> own.numpy(), shared.numpy()
    /// (array([0., 0.]), array([5., 0.]))
    #[pyo3(signature = (values, dtype=None, *, copy=Some(true)), text_signature = "($self, values, dtype=None, *, copy=True)")]
    fn array(&self, values: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>, copy: Option<bool>) -> Result<Array> {
        let made = Array::from_object(&self.inner, values, dtype.map(dtype_of).transpose()?)?;
        let of_ours = values.cast::<Array>().is_ok_and(|given| given.get().memory.handle() == made.memory.handle());
        let is_shared = of_ours || made.owner.is_some();
        let device = self.inner.device();
        match copy {
            Some(true) if is_shared => {
                if !of_ours && device.kind() == DeviceKind::Cpu {
                    // Memory of the host, of which a recording takes no copies on any device.
                    self.inner.stream().refuse_recording(|| "a copy from the host".to_owned(), None)?;
                }
                let copied = made.copy(values.py())?;
                if !of_ours && !self.inner.is_recording() {
                    // The owner is free to reuse its memory as soon as this returns.
                    released(values.py(), || self.inner.stream().synchronize())?;
                }
                Ok(copied)
            }
            Some(false) if !is_shared => {
                let words = format!("these values cannot be used on device `{}` without a copy, but copy=False was given", device.id());
                Err(PyValueError::new_err(words).into())
            }
            _ => Ok(made),
        }
    }

    /// An array of zeros.
    #[pyo3(signature = (shape, dtype=None))]
    fn zeros(&self, py: Python<'_>, shape: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>) -> Result<Array> {
        let array = self.empty(py, shape, dtype)?;
        array.zero(py, &self.inner)?;
        Ok(array)
    }

    /// An array whose values are undefined.
    #[pyo3(signature = (shape, dtype=None))]
    fn empty(&self, py: Python<'_>, shape: &Bound<'_, PyAny>, dtype: Option<&Bound<'_, PyAny>>) -> Result<Array> {
        let dtype = dtype.map(dtype_of).transpose()?.unwrap_or(DType::F64);
        let shape = shape_of(shape)?;
        py.detach(|| Array::empty(&self.inner, &shape, dtype))
    }
}
