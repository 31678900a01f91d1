//! Classes with slots that PyO3 does not give them, or not fast enough: subclasses of ours, made at run time.
//!
//! - *Calls* without a tuple and a dictionary, by Python's vectorcall protocol. PyO3 gives classes the older protocol, for which Python
//!   builds both containers at each call: 0.5 µs of a launch by keyword. Python 3.10 has all of it (`__vectorcalloffset__` since 3.9),
//!   though its stable headers name it only from 3.12 on, so the names stand here.
//! - *Attributes* that are looked up as in any object, with words of our own only when there is none.

use std::any::Any;
use std::ffi::{CStr, c_char, c_int, c_ulong, c_void};
use std::sync::Mutex;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{self, Py_ssize_t, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// The C signature of a vectorcall.
pub type Vectorcall =
    unsafe extern "C" fn(callable: *mut PyObject, args: *const *mut PyObject, flagged_count: usize, names: *mut PyObject) -> *mut PyObject;

/// The C signature of an attribute's look-up.
pub type GetAttribute = unsafe extern "C" fn(object: *mut PyObject, name: *mut PyObject) -> *mut PyObject;

unsafe extern "C" {
    fn PyVectorcall_Call(callable: *mut PyObject, args: *mut PyObject, named: *mut PyObject) -> *mut PyObject;
}

/// `PyMemberDef`.
#[repr(C)]
struct Member {
    name: *const c_char,
    kind: c_int,
    offset: Py_ssize_t,
    flags: c_int,
    doc: *const c_char,
}

const HAVE_VECTORCALL: c_ulong = 1 << 11;
/// `Py_T_PYSSIZET`
const SSIZE_MEMBER: c_int = 19;
const READ_ONLY: c_int = 1;
/// Set in a count when the slot before the first argument may be overwritten.
const OFFSET_FLAG: usize = 1 << (usize::BITS - 1);

/// The C signature of the making of an object.
pub type NewObject = unsafe extern "C" fn(class: *mut ffi::PyTypeObject, args: *mut PyObject, named: *mut PyObject) -> *mut PyObject;

/// What a run-time class adds to its base.
#[derive(Clone, Copy)]
pub enum Slot {
    /// Objects are called through this function, which each of them holds.
    Call(Vectorcall),
    /// The same, where Python makes the objects, by the second function: see [`RuntimeClass::new_object`].
    CallOfMade(Vectorcall, NewObject),
    /// Attributes are looked up by this function.
    GetAttribute(GetAttribute),
}

/// A subclass of a class of ours, under its name.
pub struct RuntimeClass {
    class: Py<PyType>,
    /// Where objects hold the function that calls them.
    call: Option<(usize, Vectorcall)>,
}

impl RuntimeClass {
    pub fn new(base: Bound<'_, PyType>, name: &'static CStr, slot: Slot) -> PyResult<RuntimeClass> {
        let size: usize = base.getattr("__basicsize__")?.extract()?;
        let end = ffi::PyType_Slot { slot: 0, pfunc: std::ptr::null_mut() };
        match slot {
            Slot::GetAttribute(function) => {
                let mut slots = [ffi::PyType_Slot { slot: ffi::Py_tp_getattro, pfunc: function as *mut c_void }, end];
                // SAFETY: one slot and the end, in objects of the same size.
                let class = unsafe { make_class(&base, name, size, 0, &mut slots)? };
                Ok(RuntimeClass { class, call: None })
            }
            Slot::Call(function) | Slot::CallOfMade(function, _) => {
                let offset = size.next_multiple_of(align_of::<Vectorcall>());
                let none = || Member { name: std::ptr::null(), kind: 0, offset: 0, flags: 0, doc: std::ptr::null() };
                let name_of_slot = c"__vectorcalloffset__".as_ptr();
                let member = Member { name: name_of_slot, kind: SSIZE_MEMBER, offset: offset as Py_ssize_t, flags: READ_ONLY, ..none() };
                // Python keeps pointers into the list of members, so that it is never freed; there is one for each class of ours.
                let members: &'static mut [Member; 2] = Box::leak(Box::new([member, none()]));
                let mut slots = [
                    ffi::PyType_Slot { slot: ffi::Py_tp_members, pfunc: members.as_mut_ptr().cast() },
                    ffi::PyType_Slot { slot: ffi::Py_tp_call, pfunc: PyVectorcall_Call as *mut c_void },
                    end,
                    end,
                ];
                let mut flags = HAVE_VECTORCALL;
                if let Slot::CallOfMade(_, new) = slot {
                    slots[2] = ffi::PyType_Slot { slot: ffi::Py_tp_new, pfunc: new as *mut c_void };
                    flags |= ffi::Py_TPFLAGS_BASETYPE;
                }
                // SAFETY: the members are leaked above, and objects have room for the function behind what the base needs.
                let class = unsafe { make_class(&base, name, offset + size_of::<Vectorcall>(), flags, &mut slots)? };
                Ok(RuntimeClass { class, call: Some((offset, function)) })
            }
        }
    }

    /// An object of the class, which its base makes of `value` (with [`Handoff::take`]).
    pub fn make<'py, T: Any + Send>(&self, py: Python<'py>, value: T) -> PyResult<Bound<'py, PyAny>> {
        let handoff = Bound::new(py, Handoff(Mutex::new(Some(Box::new(value)))))?;
        let object = self.class.bind(py).call1((handoff,))?;
        // SAFETY: an object of this class, which nobody has seen yet.
        unsafe { self.equip(object.as_ptr()) };
        Ok(object)
    }

    /// Makes an object as the base does, for a class of [`Slot::CallOfMade`]; null after an error.
    ///
    /// # Safety
    /// As Python calls a class: `class` is this one or a subclass, `args` a tuple, `named` a dictionary or null.
    pub unsafe fn new_object(
        &self,
        base: &Bound<'_, PyType>,
        class: *mut ffi::PyTypeObject,
        args: *mut PyObject,
        named: *mut PyObject,
    ) -> *mut PyObject {
        // SAFETY: our classes all have this slot, of this type.
        let object = unsafe {
            let new = ffi::PyType_GetSlot(base.as_type_ptr(), ffi::Py_tp_new);
            std::mem::transmute::<*mut c_void, NewObject>(new)(class, args, named)
        };
        if !object.is_null() {
            // SAFETY: an object of that class, which nobody has seen yet.
            unsafe { self.equip(object) };
        }
        object
    }

    /// Puts the function into an object that is called through it.
    ///
    /// # Safety
    /// The object is of this class or a subclass, and nobody else has seen it.
    unsafe fn equip(&self, object: *mut PyObject) {
        if let Some((offset, function)) = self.call {
            // SAFETY: objects of this class have room for the pointer at `offset`.
            unsafe { object.cast::<u8>().add(offset).cast::<Option<Vectorcall>>().write(Some(function)) };
        }
    }

    pub fn class<'py>(&self, py: Python<'py>) -> &Bound<'py, PyType> {
        self.class.bind(py)
    }
}

/// A class with these slots.
///
/// # Safety
/// The list of slots ends with an empty one and each fits its number; what they point at is never freed; objects have `size` bytes, no
/// fewer than those of the base.
pub unsafe fn make_class(
    base: &Bound<'_, PyType>,
    name: &'static CStr,
    size: usize,
    flags: c_ulong,
    slots: &mut [ffi::PyType_Slot],
) -> PyResult<Py<PyType>> {
    let py = base.py();
    let mut spec = ffi::PyType_Spec {
        name: name.as_ptr(),
        basicsize: size as c_int,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | flags) as _,
        slots: slots.as_mut_ptr(),
    };
    let bases = pyo3::types::PyTuple::new(py, [base])?;
    // SAFETY: the specification is complete, its text and members live forever, its list of slots has an end, and objects are no
    // smaller than those of the base.
    let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpecWithBases(&mut spec, bases.as_ptr()))? };
    Ok(class.cast_into::<PyType>()?.unbind())
}

/// A value on its way from Rust into an object of a run-time class.
#[pyclass(frozen)]
pub struct Handoff(Mutex<Option<Box<dyn Any + Send>>>);

impl Handoff {
    /// The value; the error of a user who calls the class.
    pub fn take<T: Any>(object: &Bound<'_, PyAny>) -> PyResult<T> {
        let handoff = object.cast::<Handoff>().ok();
        let value = handoff.and_then(|handoff| handoff.get().0.lock().unwrap_or_else(|e| e.into_inner()).take());
        let value = value.and_then(|value| value.downcast::<T>().ok());
        value.map(|value| *value).ok_or_else(|| PyTypeError::new_err("programs and kernels are created by Context.compile and bind"))
    }
}

/// The arguments of a vectorcall, borrowed: first those by position, then those by name.
#[derive(Clone, Copy)]
pub struct Arguments<'a> {
    values: &'a [*mut PyObject],
    positional: usize,
    names: *mut PyObject,
}

impl<'a> Arguments<'a> {
    /// # Safety
    /// The arguments of a vectorcall, which live for `'a`.
    pub unsafe fn new(args: *const *mut PyObject, flagged_count: usize, names: *mut PyObject) -> Arguments<'a> {
        let positional = flagged_count & !OFFSET_FLAG;
        // SAFETY: `names` is null or a tuple, by the protocol.
        let named = if names.is_null() { 0 } else { unsafe { ffi::PyTuple_Size(names) as usize } };
        let count = positional + named;
        // SAFETY: `args` has that many entries, by the protocol; it may be null when there are none.
        let values = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(args, count) } };
        Arguments { values, positional, names }
    }

    /// The tuple of the names, if there are any.
    pub fn names<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyTuple>> {
        // SAFETY: null or a live tuple, by the protocol.
        unsafe { Bound::from_borrowed_ptr_or_opt(py, self.names) }.and_then(|names| names.cast_into().ok())
    }

    /// Those by name, as a dictionary.
    pub fn named_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, value) in self.named() {
            // SAFETY: the arguments of a call and their names live until it is over.
            let (name, value) = unsafe { (Bound::from_borrowed_ptr(py, name), Bound::from_borrowed_ptr(py, value)) };
            dict.set_item(name, value)?;
        }
        Ok(dict)
    }

    /// Those by name, in the order of their names.
    pub fn named_values(&self) -> &'a [*mut PyObject] {
        &self.values[self.positional..]
    }

    /// Whether there are none at all.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Those by position.
    pub fn positional(&self) -> &'a [*mut PyObject] {
        &self.values[..self.positional]
    }

    /// Names and values of those by name.
    pub fn named(&self) -> impl Iterator<Item = (*mut PyObject, *mut PyObject)> + use<'a> {
        let names = self.names;
        // SAFETY: the tuple of names has as many entries as there are values after the positional ones.
        self.values[self.positional..]
            .iter()
            .enumerate()
            .map(move |(index, &value)| unsafe { (ffi::PyTuple_GetItem(names, index as Py_ssize_t), value) })
    }
}

/// Runs the body of a vectorcall: errors become Python's, and a panic becomes an error instead of unwinding into C.
///
/// # Safety
/// Python calls us, attached, with a live `callable`.
pub unsafe fn run<T: pyo3::PyClass>(callable: *mut PyObject, body: impl FnOnce(&Bound<'_, T>) -> PyResult<Py<PyAny>>) -> *mut PyObject {
    // SAFETY: Python holds the interpreter while it calls us.
    let py = unsafe { Python::assume_attached() };
    // What a panic leaves behind is not looked at again.
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        // SAFETY: `callable` is a live object, borrowed by the caller.
        let callable = unsafe { pyo3::Borrowed::from_ptr(py, callable) };
        let callable = callable.cast::<T>()?;
        body(&callable)
    }));
    match result {
        Ok(Ok(value)) => value.into_ptr(),
        Ok(Err(error)) => {
            error.restore(py);
            std::ptr::null_mut()
        }
        Err(_) => {
            pyo3::exceptions::PySystemError::new_err("parloop failed inside a call; please report it").restore(py);
            std::ptr::null_mut()
        }
    }
}
