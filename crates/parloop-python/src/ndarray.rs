//! NumPy arrays, read in place: the layout of an array object is part of NumPy's binary interface, and reading it costs nanoseconds
//! where asking through Python costs microseconds.

use std::ffi::{c_char, c_int};

use parloop_device::DType;
use pyo3::exceptions::PyValueError;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyMemoryView, PyType};

use crate::numpy_api;

/// `PyArrayObject_fields`, the same in NumPy 1 and 2.
#[repr(C)]
struct ArrayFields {
    head: PyObject,
    data: *mut c_char,
    nd: c_int,
    dimensions: *const isize,
    strides: *const isize,
    base: *mut PyObject,
    descr: *const DescrStart,
    flags: c_int,
}

/// The beginning of `PyArray_Descr`, the same in NumPy 1 and 2.
#[repr(C)]
struct DescrStart {
    head: PyObject,
    typeobj: *mut PyObject,
    kind: c_char,
    ty: c_char,
    byteorder: c_char,
    flags: c_char,
    type_num: c_int,
}

const CONTIGUOUS: c_int = 0x1 | 0x2;
const WRITEABLE: c_int = 0x400;

static NDARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// `numpy.ndarray`, whose objects are as they are read here.
fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let import = || {
        numpy_api::check(py)?;
        Ok::<_, PyErr>(py.import("numpy")?.getattr("ndarray")?.cast_into::<PyType>()?.unbind())
    };
    Ok(NDARRAY.get_or_try_init(py, import)?.bind(py))
}

/// Fails for a masked array with masked elements: whoever takes its memory sees them.
fn refuse_masked(object: &Bound<'_, PyAny>) -> PyResult<()> {
    static MODULE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let module = match MODULE.get(py) {
        Some(module) => module.bind(py),
        None => match py.import("sys")?.getattr("modules")?.get_item("numpy.ma") {
            Ok(module) => MODULE.get_or_init(py, || module.unbind()).bind(py),
            // If the module is not imported, there are no masked arrays.
            Err(_) => return Ok(()),
        },
    };
    if object.is_instance(&module.getattr("MaskedArray")?)? && module.call_method1("is_masked", (object,))?.is_truthy()? {
        let reason =
            "a masked array with masked elements was given, but masks are not supported; pass `x.filled(…)`, `x.compressed()` or `x.data`";
        return Err(PyValueError::new_err(reason));
    }
    Ok(())
}

/// A NumPy array, borrowed.
#[derive(Clone, Copy)]
pub struct NdArray<'a, 'py> {
    object: &'a Bound<'py, PyAny>,
}

impl<'a, 'py> NdArray<'a, 'py> {
    /// The array behind `object`, if its class is `numpy.ndarray` itself.
    pub fn exactly(object: &'a Bound<'py, PyAny>) -> PyResult<Option<NdArray<'a, 'py>>> {
        let class = class(object.py())?;
        Ok(object.get_type_ptr().cast::<PyObject>().eq(&class.as_ptr()).then_some(NdArray { object }))
    }

    /// The array behind `object`, if it is one. A masked array with masked elements is an error.
    pub fn of(object: &'a Bound<'py, PyAny>) -> PyResult<Option<NdArray<'a, 'py>>> {
        if let Some(array) = NdArray::exactly(object)? {
            return Ok(Some(array));
        }
        let found = NdArray::with_any_mask(object)?;
        if found.is_some() {
            refuse_masked(object)?;
        }
        Ok(found)
    }

    /// The array behind `object`, if it is one, whatever is masked of it.
    pub fn with_any_mask(object: &'a Bound<'py, PyAny>) -> PyResult<Option<NdArray<'a, 'py>>> {
        Ok(object.is_instance(class(object.py())?)?.then_some(NdArray { object }))
    }

    fn fields(&self) -> &ArrayFields {
        // SAFETY: `of` checked that this is an ndarray, whose objects begin with these fields; the borrow keeps it alive.
        unsafe { &*self.object.as_ptr().cast::<ArrayFields>() }
    }

    /// The address of the first element.
    pub fn pointer(&self) -> *mut u8 {
        self.fields().data.cast()
    }

    /// The type of its elements, if it is one of ours in native byte order.
    pub fn dtype(&self) -> Option<DType> {
        // SAFETY: an array always has a descr, which begins with these fields.
        let descr = unsafe { &*self.fields().descr };
        if descr.byteorder as u8 == b'>' {
            return None;
        }
        Some(match descr.type_num {
            0 => DType::Bool,
            1 => DType::I8,
            2 => DType::U8,
            3 => DType::I16,
            4 => DType::U16,
            5 => DType::I32,
            6 => DType::U32,
            7 | 9 => DType::I64,
            8 | 10 => DType::U64,
            11 => DType::F32,
            12 => DType::F64,
            14 => DType::C64,
            15 => DType::C128,
            _ => return None,
        })
    }

    /// The length along each axis.
    pub fn shape(&self) -> &[isize] {
        // SAFETY: `dimensions` has `nd` entries; it may be null when there are none.
        unsafe { axes(self.fields().dimensions, self.fields().nd) }
    }

    /// The bytes from one element to the next along each axis.
    pub fn strides(&self) -> &[isize] {
        // SAFETY: as in `shape`.
        unsafe { axes(self.fields().strides, self.fields().nd) }
    }

    /// The number of elements.
    pub fn size(&self) -> usize {
        self.shape().iter().product::<isize>() as usize
    }

    /// The array, or other object, whose memory it is a view of: what it was made with, not what a subclass calls `base`.
    pub fn base(&self) -> Option<Bound<'py, PyAny>> {
        // SAFETY: null, or a live object that the array holds.
        unsafe { Bound::from_borrowed_ptr_or_opt(self.object.py(), self.fields().base) }
    }

    /// Where its memory begins, and the bytes of all elements.
    pub fn extent(&self) -> PyResult<(usize, usize)> {
        let descr = self.fields().descr;
        // SAFETY: an array always has a descr, which begins with these fields and is a live object.
        let itemsize = match unsafe { (*descr).type_num } {
            0..=2 => 1,
            3 | 4 => 2,
            5 | 6 | 11 => 4,
            7..=10 | 12 | 14 => 8,
            15 => 16,
            _ => {
                // SAFETY: as above.
                let descr = unsafe { pyo3::Borrowed::from_ptr(self.object.py(), descr.cast_mut().cast::<PyObject>()) };
                descr.getattr("itemsize")?.extract()?
            }
        };
        Ok((self.pointer() as usize, self.size().wrapping_mul(itemsize)))
    }

    /// Whether the elements follow each other without gaps, in C or Fortran order.
    pub fn is_contiguous(&self) -> bool {
        self.fields().flags & CONTIGUOUS != 0
    }

    /// Whether elements may be changed.
    pub fn is_writeable(&self) -> bool {
        self.fields().flags & WRITEABLE != 0
    }

    /// The name of its dtype, for messages.
    pub fn dtype_name(&self) -> String {
        self.object.getattr("dtype").map_or_else(|_| "unknown".into(), |dtype| dtype.to_string())
    }
}

/// # Safety
/// `pointer` has `count` entries, or `count` is 0.
unsafe fn axes<'a>(pointer: *const isize, count: c_int) -> &'a [isize] {
    if count <= 0 {
        return &[];
    }
    // SAFETY: the caller guarantees it.
    unsafe { std::slice::from_raw_parts(pointer, count as usize) }
}

/// An empty NumPy array.
pub fn empty<'py>(py: Python<'py>, shape: &[usize], dtype: DType) -> PyResult<Bound<'py, PyAny>> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    EMPTY.import(py, "numpy", "empty")?.call1((pyo3::types::PyTuple::new(py, shape)?, dtype.name()))
}

/// `numpy.asarray(object)`, or with a dtype. Bytes are bytes, where NumPy reads text of fixed length.
pub fn as_array<'py>(object: &Bound<'py, PyAny>, dtype: Option<DType>) -> PyResult<Bound<'py, PyAny>> {
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if object.is_instance_of::<PyBytes>() {
        return as_array(&PyMemoryView::from(object)?.into_any(), dtype);
    }
    if NdArray::exactly(object)?.is_none() {
        refuse_masked(object)?;
    }
    AS_ARRAY.import(object.py(), "numpy", "asarray")?.call1((object, dtype.map(DType::name)))
}

/// `numpy.ascontiguousarray(object)`.
pub fn as_contiguous<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static AS_CONTIGUOUS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    AS_CONTIGUOUS.import(object.py(), "numpy", "ascontiguousarray")?.call1((object,))
}

/// The dtype that a user named: a `numpy.dtype`, a scalar class or a name.
pub fn dtype_of(object: &Bound<'_, PyAny>) -> PyResult<DType> {
    static DTYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let dtype = DTYPE.import(object.py(), "numpy", "dtype")?.call1((object,))?;
    let name: String = dtype.getattr("name")?.extract()?;
    DType::from_name(&name).ok_or_else(|| {
        let names: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
        pyo3::exceptions::PyTypeError::new_err(format!("dtype {name} is not supported; use one of {}", names.join(", ")))
    })
}

/// The `numpy.dtype` of a type.
pub fn numpy_dtype(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    static DTYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    DTYPE.import(py, "numpy", "dtype")?.call1((dtype.name(),))
}

/// The type string of the array interfaces, such as `<f8`.
pub fn typestr(dtype: DType) -> String {
    let kind = match dtype {
        DType::Bool => 'b',
        _ if dtype.is_complex() => 'c',
        _ if dtype.is_float() => 'f',
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 'u',
        _ => 'i',
    };
    format!("{}{kind}{}", if dtype.size() == 1 { '|' } else { '<' }, dtype.size())
}

/// The type that a type string names.
pub fn from_typestr(text: &str) -> Option<DType> {
    DType::ALL.into_iter().find(|dtype| typestr(*dtype)[1..] == *text.get(1..).unwrap_or_default()).filter(|_| !text.starts_with('>'))
}
