//! `parloop._parloop._HostBuffer`: a class for Python classes to inherit from whose objects lend host memory by the buffer protocol.
//!
//! The stable interface of Python 3.10 has no buffer slots and so PyO3 offers none for it, though the interpreter takes them in a type's
//! specification since 3.9. As in `runtime_class.rs` they are added by a subclass made at run time, and their names stand here.

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::OnceLock;

use parloop_kernel::Order;
use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi::{self, Py_ssize_t, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::layout::is_dense;
use crate::ndarray::NdArray;
use crate::owner::Owner;
use crate::runtime_class::make_class;

/// `Py_buffer`, the same from Python 3.10 on.
#[repr(C)]
struct Buffer {
    buf: *mut c_void,
    obj: *mut PyObject,
    len: Py_ssize_t,
    itemsize: Py_ssize_t,
    readonly: c_int,
    ndim: c_int,
    format: *mut c_char,
    shape: *mut Py_ssize_t,
    strides: *mut Py_ssize_t,
    suboffsets: *mut Py_ssize_t,
    internal: *mut c_void,
}

/// `Py_bf_getbuffer`
const GET_BUFFER: c_int = 1;
const WRITABLE: c_int = 0x1;
const FORMAT: c_int = 0x4;
const SHAPE: c_int = 0x8;
const STRIDES: c_int = 0x10 | SHAPE;
const C_CONTIGUOUS: c_int = 0x20 | STRIDES;
const F_CONTIGUOUS: c_int = 0x40 | STRIDES;
const ANY_CONTIGUOUS: c_int = 0x80 | STRIDES;

/// The memory that is lent. It never changes, so that pointers into it are good for as long as the object lives.
struct Lent {
    /// Keeps the memory alive.
    owner: Owner,
    address: usize,
    shape: Vec<Py_ssize_t>,
    strides: Vec<Py_ssize_t>,
    itemsize: usize,
    format: CString,
    readonly: bool,
}

impl Lent {
    fn size(&self) -> Py_ssize_t {
        self.shape.iter().product()
    }

    fn is_c_dense(&self) -> bool {
        self.is_dense(Order::C)
    }

    fn is_f_dense(&self) -> bool {
        self.is_dense(Order::Fortran)
    }

    fn is_dense(&self, order: Order) -> bool {
        let shape: Vec<usize> = self.shape.iter().map(|&length| length as usize).collect();
        is_dense(&shape, &self.strides, self.itemsize, order)
    }

    /// Why a request cannot be met.
    fn refusal(&self, flags: c_int) -> Option<&'static str> {
        let asked = |what: c_int| flags & what == what;
        if asked(WRITABLE) && self.readonly {
            return Some("the host memory is read-only");
        }
        if asked(C_CONTIGUOUS) && !self.is_c_dense() {
            return Some("the host memory is not contiguous in C order");
        }
        if asked(F_CONTIGUOUS) && !self.is_f_dense() {
            return Some("the host memory is not contiguous in Fortran order");
        }
        if asked(ANY_CONTIGUOUS) && !self.is_c_dense() && !self.is_f_dense() {
            return Some("the host memory is not contiguous");
        }
        if !asked(STRIDES) && !self.is_c_dense() {
            return Some("the host memory has strides, but the consumer did not request strides");
        }
        None
    }
}

/// An object that lends host memory by the buffer protocol, once it was told which.
#[pyclass(frozen, subclass, module = "parloop._parloop", name = "_HostBuffer")]
pub struct HostBuffer {
    lent: OnceLock<Lent>,
}

#[pymethods]
impl HostBuffer {
    /// Subclasses have arguments of their own.
    #[new]
    #[pyo3(signature = (*_arguments, **_named))]
    fn new(_arguments: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> HostBuffer {
        HostBuffer { lent: OnceLock::new() }
    }

    /// Lends the memory of a NumPy array, whose elements have this `struct` format, for the rest of the object's life.
    fn _lend(&self, array: &Bound<'_, PyAny>, format: &str) -> PyResult<()> {
        let found = NdArray::of(array)?.ok_or_else(|| PyTypeError::new_err("only the memory of a NumPy array can be shared"))?;
        let lent = Lent {
            owner: Owner::of(array)?,
            address: found.pointer() as usize,
            shape: found.shape().to_vec(),
            strides: found.strides().to_vec(),
            itemsize: array.getattr("itemsize")?.extract()?,
            format: CString::new(format).map_err(|_| PyValueError::new_err("a format cannot contain a zero byte"))?,
            readonly: !found.is_writeable(),
        };
        self.lent.set(lent).map_err(|_| PyRuntimeError::new_err("the object already shares its memory"))
    }
}

/// The `bf_getbuffer` of the class.
unsafe extern "C" fn get_buffer(exporter: *mut PyObject, view: *mut Buffer, flags: c_int) -> c_int {
    if view.is_null() {
        PyBufferError::new_err("the buffer request has no view to fill").restore(
            // SAFETY: Python holds the interpreter while it calls us.
            unsafe { Python::assume_attached() },
        );
        return -1;
    }
    // SAFETY: Python calls us attached, with a live object and a place for one answer.
    let (py, view) = unsafe { (Python::assume_attached(), &mut *view) };
    view.obj = std::ptr::null_mut();
    // SAFETY: `exporter` is a live object, borrowed for the call.
    let exporter = unsafe { pyo3::Borrowed::from_ptr(py, exporter) };
    match fill(&exporter, view, flags) {
        Ok(()) => 0,
        Err(error) => {
            error.restore(py);
            -1
        }
    }
}

fn fill(exporter: &Bound<'_, PyAny>, view: &mut Buffer, flags: c_int) -> PyResult<()> {
    let object = exporter.cast::<HostBuffer>()?;
    let lent = object.get().lent.get().ok_or_else(|| PyBufferError::new_err("the object has no host memory"))?;
    if !lent.owner.seen().is_there(exporter.py())? {
        return Err(PyBufferError::new_err("the NumPy array that owns the memory was resized; create the object again"));
    }
    if let Some(reason) = lent.refusal(flags) {
        return Err(PyBufferError::new_err(reason));
    }
    let asked = |what: c_int| flags & what == what;
    view.buf = lent.address as *mut c_void;
    view.len = lent.size() * lent.itemsize as Py_ssize_t;
    view.itemsize = lent.itemsize as Py_ssize_t;
    view.readonly = c_int::from(lent.readonly);
    // A consumer that does not request a shape gets a row of bytes.
    view.ndim = if asked(SHAPE) { lent.shape.len() as c_int } else { 1 };
    view.format = if asked(FORMAT) { lent.format.as_ptr().cast_mut() } else { std::ptr::null_mut() };
    view.shape = if asked(SHAPE) { lent.shape.as_ptr().cast_mut() } else { std::ptr::null_mut() };
    view.strides = if asked(STRIDES) { lent.strides.as_ptr().cast_mut() } else { std::ptr::null_mut() };
    view.suboffsets = std::ptr::null_mut();
    view.internal = std::ptr::null_mut();
    // The answer holds the object, and with it all that the pointers lead to.
    view.obj = exporter.clone().into_ptr();
    Ok(())
}

/// Puts the class into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let base = module.py().get_type::<HostBuffer>();
    let mut slots = [
        ffi::PyType_Slot { slot: GET_BUFFER, pfunc: get_buffer as *mut c_void },
        ffi::PyType_Slot { slot: 0, pfunc: std::ptr::null_mut() },
    ];
    let size = base.getattr("__basicsize__")?.extract()?;
    // SAFETY: one slot, of ours, and the end; objects are as large as those of the base.
    let class = unsafe { make_class(&base, c"parloop._parloop._HostBuffer", size, ffi::Py_TPFLAGS_BASETYPE, &mut slots)? };
    module.add("_HostBuffer", class)
}
