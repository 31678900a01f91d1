//! The slots of objects that PyO3 does not give them, or not fast enough: subclasses of its classes, made at run time.

use std::ffi::{CStr, c_int, c_void};

use pyo3::exceptions::PyBufferError;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use super::object::{ArrayObject, Object, from_made};
use crate::runtime_class::{make_class, run};

unsafe extern "C" {
    fn PyObject_GetBuffer(exporter: *mut PyObject, view: *mut c_void, flags: c_int) -> c_int;
}

/// `Py_bf_getbuffer`
const GET_BUFFER: c_int = 1;

/// The buffer protocol of arrays: that of the NumPy view of them, which the answer then holds.
unsafe extern "C" fn get_buffer(exporter: *mut PyObject, view: *mut c_void, flags: c_int) -> c_int {
    // SAFETY: Python holds the interpreter while it calls us, with a live object.
    let (py, exporter) = unsafe {
        let py = Python::assume_attached();
        (py, pyo3::Borrowed::from_ptr(py, exporter))
    };
    let array = exporter.cast::<ArrayObject>().map_err(PyErr::from).and_then(|array| {
        let view = ArrayObject::nplike(&array)?;
        if view.is_instance_of::<crate::array::Array>() {
            return Err(PyBufferError::new_err("the array is not in host memory; use .to_nparray()"));
        }
        Ok(view)
    });
    match array {
        // SAFETY: the request is passed on as it came.
        Ok(array) => unsafe { PyObject_GetBuffer(array.as_ptr(), view, flags) },
        Err(error) => {
            error.restore(py);
            -1
        }
    }
}

/// `tp_init` of all objects. PyO3's own would copy the named arguments into another dictionary first.
unsafe extern "C" fn init(object: *mut PyObject, args: *mut PyObject, named: *mut PyObject) -> c_int {
    // SAFETY: Python calls us attached, with a live object, a tuple, and a dictionary or null.
    let made = unsafe {
        let py = Python::assume_attached();
        let args = pyo3::Borrowed::from_ptr(py, args);
        let named = pyo3::Borrowed::from_ptr_or_opt(py, named);
        run::<Object>(object, |object| {
            let args = args.cast::<PyTuple>()?;
            let named = named.map(|named| named.cast::<PyDict>()).transpose()?;
            Object::initialise(object, &args, named.as_deref())?;
            Ok(py.None())
        })
    };
    if made.is_null() {
        return -1;
    }
    // SAFETY: the reference that `run` gave.
    unsafe { ffi::Py_DECREF(made) };
    0
}

/// `tp_new` of all objects: that of PyO3, without the arguments, which belong to `__init__`.
///
/// # Safety
/// As Python calls it, for a subclass of `base`.
unsafe fn new_of(base: *mut ffi::PyTypeObject, class: *mut ffi::PyTypeObject, args: *mut PyObject) -> *mut PyObject {
    // SAFETY: Python holds the interpreter while it calls us; `base` is a class of PyO3, whose `tp_new` makes objects of subclasses too.
    unsafe {
        let py = Python::assume_attached();
        let args = match from_made(py) {
            Ok(made) if made.as_ptr() == args => made.clone(),
            _ => PyTuple::empty(py),
        };
        let new: ffi::newfunc = std::mem::transmute(ffi::PyType_GetSlot(base, ffi::Py_tp_new));
        new(class, args.as_ptr(), std::ptr::null_mut())
    }
}

unsafe extern "C" fn new_object(class: *mut ffi::PyTypeObject, args: *mut PyObject, _named: *mut PyObject) -> *mut PyObject {
    // SAFETY: as Python calls it; only subclasses of `Object` have it.
    unsafe { new_of(Python::assume_attached().get_type::<Object>().as_type_ptr(), class, args) }
}

unsafe extern "C" fn new_array(class: *mut ffi::PyTypeObject, args: *mut PyObject, _named: *mut PyObject) -> *mut PyObject {
    // SAFETY: as Python calls it; only subclasses of `ArrayObject` have it.
    unsafe { new_of(Python::assume_attached().get_type::<ArrayObject>().as_type_ptr(), class, args) }
}

/// Puts the classes into the module: subclasses of those of PyO3 with the slots that it does not give them, or not fast enough.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let slot = |slot, pfunc| ffi::PyType_Slot { slot, pfunc };
    let end = || slot(0, std::ptr::null_mut());
    let mut object_slots = [slot(ffi::Py_tp_new, new_object as *mut c_void), slot(ffi::Py_tp_init, init as *mut c_void), end()];
    let mut array_slots = [
        slot(ffi::Py_tp_new, new_array as *mut c_void),
        slot(ffi::Py_tp_init, init as *mut c_void),
        slot(GET_BUFFER, get_buffer as *mut c_void),
        end(),
    ];
    module.add("_Object", subclass(&py.get_type::<Object>(), c"parloop._parloop._Object", &mut object_slots)?)?;
    module.add("_ArrayObject", subclass(&py.get_type::<ArrayObject>(), c"parloop._parloop._ArrayObject", &mut array_slots)?)
}

fn subclass(base: &Bound<'_, PyType>, name: &'static CStr, slots: &mut [ffi::PyType_Slot]) -> PyResult<Py<PyType>> {
    let size = base.getattr("__basicsize__")?.extract()?;
    // SAFETY: the lists of `register`, which end with an empty slot; the functions are ours and objects are as large as those of the base.
    unsafe { make_class(base, name, size, ffi::Py_TPFLAGS_BASETYPE, slots) }
}
