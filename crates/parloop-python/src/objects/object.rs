//! `_Object` and `_ArrayObject`: what objects of all classes of `parloop.objects` are made of.

use std::sync::{Mutex, OnceLock};

use parloop_device::DType;
use parloop_object as obj;
use parloop_object::{ArrayShape, KnownLengths, View};
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::buffer::Buffer;
use super::number::{decoded, encoded};
use super::types::{ObjectType, Parts};
use crate::error::Result;

/// An object in a buffer.
#[pyclass(frozen, subclass, weakref, module = "parloop._parloop", name = "_Object")]
pub struct Object {
    pub body: OnceLock<Body>,
}

/// Where an object is and what it is.
pub struct Body {
    pub view: View,
    pub ty: Py<ObjectType>,
    pub buffer: Py<Buffer>,
    /// Of an array, which never changes it.
    shape: OnceLock<ArrayShape>,
    /// Of its fields, which never change either.
    lengths: KnownLengths,
}

impl Body {
    pub fn new(view: View, ty: Py<ObjectType>, buffer: Py<Buffer>) -> Body {
        Body { view, ty, buffer, shape: OnceLock::new(), lengths: KnownLengths::default() }
    }

    pub fn shape(&self) -> Result<&ArrayShape> {
        match self.shape.get() {
            Some(shape) => Ok(shape),
            None => {
                let shape = self.view.array_shape()?;
                Ok(self.shape.get_or_init(|| shape))
            }
        }
    }

    /// The lengths along the axes on a path of fields.
    pub fn lengths(&self, path: &str) -> Result<obj::Lengths> {
        Ok(self.lengths.of(&self.view, path)?)
    }

    /// Its bytes, and those of what references on a path of fields lead to.
    pub fn extents(&self, path: &str) -> Result<obj::Extents> {
        Ok(self.lengths.extents(&self.view, path)?)
    }

    /// The number at this place of it, as Python's own or as NumPy's, by its address; `None` where that needs the long way.
    ///
    /// # Safety
    /// The number lies inside the object.
    #[inline]
    pub unsafe fn load<'py>(&self, py: Python<'py>, at: usize, dtype: DType, is_numpy: bool) -> Option<PyResult<Bound<'py, PyAny>>> {
        // SAFETY: the object lies inside the buffer, the number inside the object, and two words hold the longest number.
        let bytes = self.touch(|base| unsafe {
            let (at, mut bytes) = (base.add(at), [0u64; 2]);
            match dtype.size() {
                8 => bytes[0] = at.cast::<u64>().read_unaligned(),
                4 => bytes[0] = at.cast::<u32>().read_unaligned().into(),
                size => at.copy_to_nonoverlapping(bytes.as_mut_ptr().cast(), size),
            }
            bytes
        });
        bytes.map(|bytes| decoded(py, bytes, dtype, is_numpy))
    }

    /// Writes a number at this place of it, by its address; whether that was done, or needs the long way.
    ///
    /// # Safety
    /// As [`load`](Self::load).
    #[inline]
    pub unsafe fn store(&self, at: usize, dtype: DType, value: &Bound<'_, PyAny>) -> bool {
        let Some(bytes) = encoded(dtype, value) else { return false };
        // SAFETY: as in `load`; `encoded` gives bytes for numbers of eight bytes alone.
        self.touch(|base| unsafe { base.add(at).cast::<u64>().write_unaligned(bytes) }).is_some()
    }

    /// Uses the bytes of a living object in host memory, where nobody moves them.
    #[inline]
    fn touch<T>(&self, work: impl FnOnce(*mut u8) -> T) -> Option<T> {
        if self.view.owner().is_some_and(|owner| owner.is_freed()) {
            return None;
        }
        // SAFETY: the object lies inside the buffer.
        self.view.buffer().touch(|base| work(unsafe { base.add(self.view.offset()) }))
    }
}

impl Object {
    /// Whether it has fields, and none of them has its name in this very string. Names in programs and in class bodies are shared.
    #[inline]
    fn has_other_fields(&self, py: Python<'_>, name: &Bound<'_, PyString>) -> bool {
        let Some(body) = self.body.get() else { return false };
        match &body.ty.bind(py).get().parts {
            Parts::Fields(fields) => fields.iter().all(|field| field.name.as_ptr() != name.as_ptr()),
            _ => false,
        }
    }
}

/// What Python's own way to set an attribute returned.
fn generic_set(py: Python<'_>, code: i32) -> PyResult<()> {
    if code == 0 { Ok(()) } else { Err(PyErr::fetch(py)) }
}

/// An array in a buffer.
#[pyclass(frozen, subclass, extends = Object, module = "parloop._parloop", name = "_ArrayObject")]
pub struct ArrayObject;

impl Object {
    #[inline]
    pub fn body(&self) -> Result<&Body> {
        self.body.get().ok_or_else(|| PyRuntimeError::new_err("the object is not initialised; call super().__init__() first").into())
    }
}

/// Bodies on their way into objects of Python classes. Making one may make others meanwhile: the last one in is the first one out.
pub static MADE: Mutex<Vec<Body>> = Mutex::new(Vec::new());

/// The arguments by which `__new__` knows that a body waits for it.
pub fn from_made(py: Python<'_>) -> PyResult<&Bound<'_, PyTuple>> {
    static ARGUMENTS: PyOnceLock<Py<PyTuple>> = PyOnceLock::new();
    let make = || Ok::<_, PyErr>(PyTuple::new(py, ["a body was made"])?.unbind());
    Ok(ARGUMENTS.get_or_try_init(py, make)?.bind(py))
}

pub fn taken(args: &Bound<'_, PyTuple>) -> PyResult<OnceLock<Body>> {
    let body = if args.is(from_made(args.py())?) { MADE.lock().unwrap_or_else(|e| e.into_inner()).pop() } else { None };
    Ok(body.map_or_else(OnceLock::new, OnceLock::from))
}

#[pymethods]
impl Object {
    fn __setattr__(slf: &Bound<'_, Self>, name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        if slf.get().has_other_fields(py, name) {
            py.import("parloop.objects._names")?.call_method1("check", (slf, name))?;
        }
        // SAFETY: the object, the name and the value are alive.
        generic_set(py, unsafe { ffi::PyObject_GenericSetAttr(slf.as_ptr(), name.as_ptr(), value.as_ptr()) })
    }

    fn __delattr__(slf: &Bound<'_, Self>, name: &Bound<'_, PyString>) -> PyResult<()> {
        // SAFETY: the object and the name are alive; no value removes the attribute.
        generic_set(slf.py(), unsafe { ffi::PyObject_GenericSetAttr(slf.as_ptr(), name.as_ptr(), std::ptr::null_mut()) })
    }

    /// Arguments belong to `__init__`.
    #[new]
    #[pyo3(signature = (*args, **_named))]
    fn new(args: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> PyResult<Object> {
        Ok(Object { body: taken(args)? })
    }

    /// The buffer that holds it.
    #[getter]
    fn _buffer(&self, py: Python<'_>) -> Result<Py<Buffer>> {
        Ok(self.body()?.buffer.clone_ref(py))
    }

    /// Where in the buffer it is.
    #[getter]
    fn _offset(&self) -> Result<usize> {
        Ok(self.body()?.view.offset())
    }

    /// The context it lives on.
    #[getter]
    fn _context(&self, py: Python<'_>) -> Result<Py<PyAny>> {
        Ok(self.body()?.buffer.get().context.clone_ref(py))
    }

    /// Its bytes, counted.
    fn _get_size(&self) -> Result<usize> {
        let view = &self.body()?.view;
        view.check_alive()?;
        Ok(view.size()?)
    }

    /// Where in the buffer the field at this position is.
    fn _field_offset(&self, index: usize) -> Result<usize> {
        Ok(self.body()?.view.field_at(index)?.offset())
    }

    /// A text, as a string has it.
    fn _text(&self) -> Result<String> {
        Ok(self.body()?.view.text()?)
    }

    /// The bytes of the object itself.
    fn _bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, pyo3::types::PyBytes>> {
        Ok(pyo3::types::PyBytes::new(py, &self.body()?.view.to_bytes()?))
    }
}

#[pymethods]
impl ArrayObject {
    #[new]
    #[pyo3(signature = (*args, **_named))]
    fn new(args: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> PyResult<PyClassInitializer<ArrayObject>> {
        Ok(PyClassInitializer::from(Object { body: taken(args)? }).add_subclass(ArrayObject))
    }
}
