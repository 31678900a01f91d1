//! `parloop.objects.Buffer`: memory in which objects are placed.

use parloop_device::DType;
use parloop_kernel as ker;
use parloop_object as obj;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyMemoryView};

use crate::array::{Array, shape_of};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exceptions::Exception;
use crate::html::html;
use crate::layout::Layout;
use crate::ndarray::{NdArray, as_array, as_contiguous, dtype_of};
use crate::numpy_api;
use crate::owner::Owner;

/// Memory of a context in which objects are placed. It grows when it must; objects keep their offsets and views stay valid.
///
/// >>> import parloop as pl, parloop.objects as xo
/// >>> buffer = pl.Context("cpu").new_buffer(capacity=64)
/// >>> offset = buffer.allocate(100)
/// >>> buffer.write(b"hello", offset)
/// >>> bytes(buffer.to_bytearray(offset, 5))
/// b'hello'
/// >>> buffer.free(offset, 100)
/// >>> buffer.capacity, buffer.get_free()
/// (171, 171)
#[pyclass(frozen, subclass, weakref, module = "parloop.objects")]
pub struct Buffer {
    pub inner: obj::Buffer,
    /// The context as the user knows it.
    pub context: Py<PyAny>,
}

/// The bytes, the free chunks, the alignment and the step of a buffer.
type State<'py> = (Bound<'py, PyBytes>, Vec<(usize, usize)>, usize, Option<usize>);

/// A free part of a buffer.
#[pyclass(frozen, get_all, module = "parloop.objects")]
pub struct Chunk {
    start: usize,
    end: usize,
}

#[pymethods]
impl Chunk {
    #[getter]
    fn size(&self) -> usize {
        self.end - self.start
    }

    fn __repr__(&self) -> String {
        format!("Chunk({}, {})", self.start, self.end)
    }
}

/// An offset that a user gave.
pub fn offset_of(offset: isize) -> Result<usize> {
    usize::try_from(offset)
        .map_err(|_| Exception::MemoryRangeError.error(format!("offset {offset} is before the start of the buffer")).into())
}

/// The bytes behind an object: a NumPy array (a copy of what is not contiguous), bytes, or anything with the buffer protocol.
fn with_bytes<T>(source: &Bound<'_, PyAny>, use_them: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
    if let Ok(bytes) = source.cast::<PyBytes>() {
        return use_them(bytes.as_bytes());
    }
    let array = if NdArray::of(source)?.is_some() {
        source.clone()
    } else if let Ok(array) = source.cast::<Array>() {
        array.get().to_numpy(source)?
    } else {
        let numpy = source.py().import("numpy")?;
        let refuse = |()| PyTypeError::new_err(format!("expected an array, a buffer or an object with the buffer protocol, not {source}"));
        let found = numpy.call_method1("frombuffer", (source, "u1"));
        let is_array = source.hasattr("__array__")? || source.hasattr("__array_interface__")?;
        if found.is_err() && !is_array && !source.is_instance_of::<PyList>() && !source.is_instance_of::<PyMemoryView>() {
            return Err(refuse(()).into());
        }
        found.or_else(|_| as_array(source, None)).map_err(|_| refuse(()))?
    };
    if array.getattr("dtype")?.getattr("hasobject")?.is_truthy()? {
        return Err(PyTypeError::new_err("an array of Python objects has no raw bytes").into());
    }
    let dense = as_contiguous(&array)?;
    let Some(found) = NdArray::of(&dense)? else { return Err(PyTypeError::new_err("NumPy did not return an array").into()) };
    let len: usize = dense.getattr("nbytes")?.extract()?;
    // SAFETY: a contiguous array of that many bytes, held by `dense`; who changes them meanwhile from another thread gets undefined
    // values, and a resize is refused or is the user's `refcheck=False`.
    use_them(if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(found.pointer(), len) } })
}

/// Whether objects in buffers of a context stay until they are freed by hand, as its class says by `_keeps_objects`.
pub fn context_keeps_objects(context: &Bound<'_, PyAny>) -> PyResult<bool> {
    if context.is_exact_instance_of::<Context>() {
        return Ok(false);
    }
    let said = context.getattr_opt(pyo3::intern!(context.py(), "_keeps_objects"))?;
    said.map_or(Ok(false), |said| said.is_truthy())
}

impl Buffer {
    pub fn new(py: Python<'_>, context: &Bound<'_, PyAny>, inner: obj::Buffer) -> PyResult<Py<Buffer>> {
        Py::new(py, Buffer { inner, context: context.clone().unbind() })
    }

    pub fn kernel_context(&self) -> &ker::Context {
        self.inner.context()
    }

    /// A view of elements: a NumPy array on a CPU, an `Array` elsewhere. It keeps `owner` alive.
    pub fn view<'py>(&self, py: Python<'py>, owner: Bound<'py, PyAny>, dtype: DType, layout: Layout) -> Result<Bound<'py, PyAny>> {
        let capacity = self.inner.capacity();
        if !layout.is_inside(capacity) {
            let len = layout.shape.iter().try_fold(layout.itemsize, |len, &dim| len.checked_mul(dim)).unwrap_or(usize::MAX);
            return Err(obj::BufferError::OutOfBounds { what: "a view", offset: layout.offset, len, capacity }.into());
        }
        if self.inner.host_pointer().is_some() {
            let export = Bound::new(py, Export { _owner: owner.unbind(), guard: py.detach(|| self.inner.export())? })?;
            // The address that is held, which may be another one than before.
            let base = export.get().guard.host_pointer().unwrap_or(std::ptr::dangling_mut());
            // SAFETY: the elements lie inside the buffer, whose address stays good as long as the export lives.
            return Ok(unsafe { numpy_api::view(export.into_any(), base, dtype, &layout)? });
        }
        let array = Array {
            context: self.kernel_context().clone(),
            // SAFETY: as with other views of Python, a program that makes the buffer grow while another thread uses the array gets
            // undefined values; work that is queued is waited for.
            memory: unsafe { self.inner.memory() },
            dtype,
            layout,
            writeable: true,
            owner: Some(std::sync::Arc::new(Owner::steady(owner.unbind()))),
            buffer: Some(self.inner.clone()),
            held: Default::default(),
        };
        Ok(Bound::new(py, array)?.into_any())
    }
}

#[pymethods]
impl Buffer {
    /// A buffer of a context; all of it is zero.
    #[new]
    #[pyo3(signature = (capacity=obj::DEFAULT_CAPACITY, context=None, default_alignment=None, grow_step=None))]
    fn make(
        py: Python<'_>,
        capacity: usize,
        context: Option<&Bound<'_, PyAny>>,
        default_alignment: Option<usize>,
        grow_step: Option<usize>,
    ) -> Result<Buffer> {
        let (context, kernel) = Context::object_of(context, py)?;
        let alignment = default_alignment.unwrap_or(obj::SLOT);
        let inner = py.detach(|| obj::Buffer::with_options(&kernel, capacity, alignment, grow_step))?;
        if context_keeps_objects(&context)? {
            inner.keep_objects();
        }
        Ok(Buffer { inner, context: context.unbind() })
    }

    /// The context it belongs to.
    #[getter]
    fn context(&self, py: Python<'_>) -> Py<PyAny> {
        self.context.clone_ref(py)
    }

    /// Its size in bytes, free and taken.
    #[getter]
    fn capacity(&self) -> usize {
        self.inner.capacity()
    }

    /// What allocations are aligned to.
    #[getter]
    fn default_alignment(&self) -> usize {
        self.inner.alignment()
    }

    /// By how much it grows where that is enough; None doubles it.
    #[getter]
    fn grow_step(&self) -> Option<usize> {
        self.inner.grow_step()
    }

    /// The free parts, in order.
    #[getter]
    fn chunks(&self) -> Vec<Chunk> {
        self.inner.chunks().into_iter().map(|(start, end)| Chunk { start, end }).collect()
    }

    /// All its bytes: a NumPy array on a CPU, an `Array` elsewhere.
    #[getter]
    fn buffer<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let this = slf.get();
        this.view(slf.py(), slf.clone().into_any(), DType::I8, Layout::dense(&[this.inner.capacity()], 1))
    }

    /// The bytes that are free.
    fn get_free(&self) -> usize {
        self.inner.free_bytes()
    }

    /// Takes `size` bytes and returns their offset. `alignment` is a power of two; `align=False` packs.
    #[pyo3(signature = (size, align=true, alignment=None))]
    fn allocate(&self, py: Python<'_>, size: usize, align: bool, alignment: Option<usize>) -> Result<usize> {
        let alignment = if align { alignment.unwrap_or(self.inner.alignment()) } else { 1 };
        Ok(py.detach(|| self.inner.allocate_aligned(size, alignment))?)
    }

    /// Frees what was allocated. Freeing it twice, or something else, is an error.
    fn free(&self, py: Python<'_>, offset: isize, size: usize) -> Result<()> {
        let Ok(offset) = usize::try_from(offset) else {
            let reason = format!("Cannot free outside of buffer: offset {offset}");
            return Err(Exception::BufferFreeError.error(reason).into());
        };
        Ok(py.detach(|| self.inner.free(offset, size))?)
    }

    /// Adds that many bytes.
    fn grow(&self, py: Python<'_>, capacity: usize) -> Result<()> {
        Ok(py.detach(|| self.inner.grow(capacity))?)
    }

    /// Writes `nbytes` of an array, of bytes, or of another buffer (from its beginning), at `offset`.
    #[pyo3(signature = (source, offset=0, nbytes=None))]
    fn write(&self, source: &Bound<'_, PyAny>, offset: isize, nbytes: Option<usize>) -> Result<()> {
        let offset = offset_of(offset)?;
        if let Ok(source) = source.cast::<Buffer>() {
            let (py, source) = (source.py(), &source.get().inner);
            return Ok(py.detach(|| self.inner.copy_from(offset, source, 0, nbytes.unwrap_or(source.capacity())))?);
        }
        with_bytes(source, |bytes| {
            let len = nbytes.unwrap_or(bytes.len());
            if len > bytes.len() {
                let reason = format!("{len} bytes were requested, but the source has {}", bytes.len());
                return Err(Exception::MemoryRangeError.error(reason).into());
            }
            Ok(source.py().detach(|| self.inner.write(offset, &bytes[..len]))?)
        })
    }

    /// A copy of the bytes there.
    fn read<'py>(&self, py: Python<'py>, offset: isize, nbytes: usize) -> Result<Bound<'py, PyByteArray>> {
        let (offset, capacity) = (offset_of(offset)?, self.inner.capacity());
        // Looked at before room is made for them.
        if offset.checked_add(nbytes).is_none_or(|end| end > capacity) {
            return Err(obj::BufferError::OutOfBounds { what: "a read", offset, len: nbytes, capacity }.into());
        }
        let mut failed = Ok(());
        let bytes = PyByteArray::new_with(py, nbytes, |bytes| {
            failed = py.detach(|| self.inner.read(offset, bytes));
            Ok(())
        })?;
        failed?;
        Ok(bytes)
    }

    /// Copies bytes of a Python buffer (bytes, bytearray, memoryview, NumPy array) to `offset`.
    fn update_from_buffer(&self, offset: isize, source: &Bound<'_, PyAny>) -> Result<()> {
        self.write(source, offset, None)
    }

    /// Copies an array's values to `offset`, converted to `dest_dtype`.
    fn update_from_nplike(&self, py: Python<'_>, offset: isize, dest_dtype: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Result<()> {
        let array = if let Ok(array) = value.cast::<Array>() { array.get().to_numpy(value)? } else { as_array(value, None)? };
        let options = PyDict::new(py);
        options.set_item("copy", false)?;
        let array = array.call_method("astype", (dest_dtype,), Some(&options))?;
        self.write(&as_contiguous(&array)?, offset, None)
    }

    /// Copies bytes of another buffer, on the device where both are on the same one.
    fn update_from_xbuffer(&self, offset: isize, source: &Bound<'_, Buffer>, source_offset: isize, nbytes: usize) -> Result<()> {
        let (to, from, py, source) = (offset_of(offset)?, offset_of(source_offset)?, source.py(), &source.get().inner);
        Ok(py.detach(|| self.inner.copy_from(to, source, from, nbytes))?)
    }

    /// Copies bytes of what `to_native`, `buffer` or another buffer gives.
    fn update_from_native(&self, offset: isize, source: &Bound<'_, PyAny>, source_offset: isize, nbytes: usize) -> Result<()> {
        if let Ok(source) = source.cast::<Buffer>() {
            return self.update_from_xbuffer(offset, source, source_offset, nbytes);
        }
        let (offset, start) = (offset_of(offset)?, offset_of(source_offset)?);
        with_bytes(source, |bytes| match start.checked_add(nbytes).and_then(|end| bytes.get(start..end)) {
            Some(part) => Ok(source.py().detach(|| self.inner.write(offset, part))?),
            None => {
                let reason = format!("bytes {start}..{} were requested, but the source has {}", start.saturating_add(nbytes), bytes.len());
                Err(Exception::MemoryRangeError.error(reason).into())
            }
        })
    }

    /// A copy of the bytes there, where they are: a NumPy array on a CPU, an `Array` elsewhere.
    fn to_native<'py>(slf: &Bound<'py, Self>, offset: isize, nbytes: usize) -> Result<Bound<'py, PyAny>> {
        let mut layout = Layout::dense(&[nbytes], 1);
        layout.offset = offset_of(offset)?;
        let view = slf.get().view(slf.py(), slf.clone().into_any(), DType::I8, layout)?;
        Ok(view.call_method0("copy")?)
    }

    /// As `to_native`.
    fn copy_native<'py>(slf: &Bound<'py, Self>, offset: isize, nbytes: usize) -> Result<Bound<'py, PyAny>> {
        Buffer::to_native(slf, offset, nbytes)
    }

    /// Copies bytes of this buffer to another one, or into a NumPy array or `Array` of bytes.
    fn copy_to_native(
        slf: &Bound<'_, Self>,
        dest: &Bound<'_, PyAny>,
        dest_offset: isize,
        source_offset: isize,
        nbytes: usize,
    ) -> Result<()> {
        let this = slf.get();
        let (start, from) = (offset_of(dest_offset)?, offset_of(source_offset)?);
        if let Ok(dest) = dest.cast::<Buffer>() {
            let (py, dest) = (dest.py(), &dest.get().inner);
            return Ok(py.detach(|| dest.copy_from(start, &this.inner, from, nbytes))?);
        }
        let mut layout = Layout::dense(&[nbytes], 1);
        layout.offset = from;
        let view = this.view(slf.py(), slf.clone().into_any(), DType::I8, layout)?;
        let dest = if NdArray::of(dest)?.is_some() || dest.is_instance_of::<Array>() {
            dest.clone()
        } else {
            slf.py().import("numpy")?.call_method1("frombuffer", (dest, "i1"))?
        };
        let (itemsize, len): (usize, usize) = (dest.getattr("dtype")?.getattr("itemsize")?.extract()?, dest.len()?);
        if itemsize != 1 {
            return Err(PyTypeError::new_err("bytes can be copied only to an array with 1-byte elements; pass a view of it as int8").into());
        }
        if start.checked_add(nbytes).is_none_or(|end| end > len) {
            let reason = format!("{nbytes} bytes at {start} were requested, but the destination has {len}");
            return Err(Exception::MemoryRangeError.error(reason).into());
        }
        let slice = pyo3::types::PySlice::new(slf.py(), start as isize, (start + nbytes) as isize, 1);
        Ok(dest.set_item(slice, view)?)
    }

    /// A view of the elements there: a NumPy array on a CPU, an `Array` elsewhere. Writing to it writes to the buffer.
    #[pyo3(signature = (offset, dtype, shape))]
    fn to_nplike<'py>(
        slf: &Bound<'py, Self>,
        offset: isize,
        dtype: &Bound<'py, PyAny>,
        shape: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>> {
        let dtype = dtype_of(dtype)?;
        let mut layout = Layout::dense(&shape_of(shape)?, dtype.size());
        layout.offset = offset_of(offset)?;
        slf.get().view(slf.py(), slf.clone().into_any(), dtype, layout)
    }

    /// The elements there as a NumPy array: a view on a CPU, a copy from elsewhere.
    #[pyo3(signature = (offset, dtype, shape))]
    fn to_nparray<'py>(
        slf: &Bound<'py, Self>,
        offset: isize,
        dtype: &Bound<'py, PyAny>,
        shape: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>> {
        let view = Buffer::to_nplike(slf, offset, dtype, shape)?;
        if view.is_instance_of::<Array>() { Ok(view.call_method0("numpy")?) } else { Ok(view) }
    }

    /// A copy of the bytes there.
    fn to_bytearray<'py>(&self, py: Python<'py>, offset: isize, nbytes: usize) -> Result<Bound<'py, PyByteArray>> {
        self.read(py, offset, nbytes)
    }

    /// The bytes there as an argument for a kernel.
    fn to_pointer_arg<'py>(slf: &Bound<'py, Self>, offset: isize, nbytes: usize) -> Result<Bound<'py, PyAny>> {
        let mut layout = Layout::dense(&[nbytes], 1);
        layout.offset = offset_of(offset)?;
        slf.get().view(slf.py(), slf.clone().into_any(), DType::I8, layout)
    }

    /// Bytes and what is taken of them, for pickling.
    fn _state<'py>(&self, py: Python<'py>) -> Result<State<'py>> {
        let bytes = self.read(py, 0, self.inner.capacity())?;
        let bytes = PyBytes::new(py, &bytes.to_vec());
        Ok((bytes, self.inner.chunks(), self.inner.alignment(), self.inner.grow_step()))
    }

    /// A buffer with these bytes, of which only the chunks are free.
    #[staticmethod]
    fn _from_state(
        py: Python<'_>,
        context: &Bound<'_, PyAny>,
        bytes: &[u8],
        chunks: Vec<(usize, usize)>,
        alignment: usize,
        grow_step: Option<usize>,
    ) -> Result<Buffer> {
        let (context, kernel) = Context::object_of(Some(context), py)?;
        let inner = obj::Buffer::with_options(&kernel, bytes.len(), alignment, grow_step)?;
        if context_keeps_objects(&context)? {
            inner.keep_objects();
        }
        inner.write(0, bytes)?;
        inner.take_all_but(&chunks).map_err(|()| PyValueError::new_err("the chunks of the pickled buffer are invalid"))?;
        Ok(Buffer { inner, context: context.unbind() })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Ok(slf.py().import("parloop.objects._pickle")?.call_method1("reduce_buffer", (slf,))?)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.py(), "buffer", (slf,))
    }

    fn __repr__(&self) -> String {
        let (free, capacity) = (self.inner.free_bytes(), self.inner.capacity());
        let used = capacity.saturating_sub(free);
        format!("<Buffer on {}: {used} of {capacity} bytes used, {free} free>", self.kernel_context().device().id())
    }
}

/// What a NumPy view of a buffer holds: as long as it lives, its address stays good.
#[pyclass(frozen, module = "parloop._parloop", name = "_Export")]
pub struct Export {
    _owner: Py<PyAny>,
    guard: parloop_device::Export,
}

#[pymethods]
impl Context {
    /// A buffer for objects; all of it is zero.
    #[pyo3(signature = (capacity=obj::DEFAULT_CAPACITY))]
    fn new_buffer(slf: &Bound<'_, Self>, capacity: usize) -> Result<Py<Buffer>> {
        let context = &slf.get().inner;
        let inner = slf.py().detach(|| obj::Buffer::new(context, capacity)).map_err(Error::from)?;
        Ok(Buffer::new(slf.py(), slf.as_any(), inner)?)
    }
}
