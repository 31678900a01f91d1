//! How Python sees objects and their parts.

use parloop_object as obj;
use parloop_object::View;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use super::buffer::{Buffer, offset_of};
use super::object::{ArrayObject, Body, MADE, Object, from_made};
use super::types::{ObjectType, Parts};
use crate::error::Result;

/// An object of the type's class, without its `__init__`.
fn make(py: Python<'_>, body: Body) -> Result<Bound<'_, PyAny>> {
    let ty = body.ty.clone_ref(py);
    let bind = ty.get().bind()?;
    let args = from_made(py)?;
    MADE.lock().unwrap_or_else(|e| e.into_inner()).push(body);
    let base = if matches!(ty.get().ty, obj::Type::Array(_)) { py.get_type::<ArrayObject>() } else { py.get_type::<Object>() };
    let class = bind.class.bind(py);
    // SAFETY: the class inherits from `base`, whose `tp_new` takes any arguments and makes objects of subclasses too.
    let object = unsafe {
        let new: ffi::newfunc = std::mem::transmute(ffi::PyType_GetSlot(base.as_type_ptr(), ffi::Py_tp_new));
        Bound::from_owned_ptr_or_err(py, new(class.as_type_ptr(), args.as_ptr(), std::ptr::null_mut()))?
    };
    if bind.post_init {
        object.call_method0("_post_init")?;
    }
    Ok(object)
}

/// Reads or writes numbers in place, without holding Python where they are not the host's: work of their device may have to end first.
pub fn waiting<T: Send>(py: Python<'_>, view: &View, work: impl FnOnce() -> T + Send) -> T {
    if view.buffer().host_pointer().is_some() { work() } else { py.detach(work) }
}

/// What Python sees of a part: numbers and texts themselves, what references refer to, objects otherwise.
pub fn wrap<'py>(py: Python<'py>, view: View, ty: &Py<ObjectType>, buffer: &Py<Buffer>) -> Result<Bound<'py, PyAny>> {
    match (&ty.get().ty, &ty.get().parts) {
        (obj::Type::Scalar(_), _) => ty.get().seen(py, waiting(py, &view, || view.scalar())?),
        (obj::Type::String(_), _) => Ok(PyString::new(py, &waiting(py, &view, || view.text())?).into_any()),
        (obj::Type::Ref(_), Parts::Target(target)) => match waiting(py, &view, || view.target())? {
            Some(found) => wrap(py, found, target, buffer),
            None => Ok(py.None().into_bound(py)),
        },
        (obj::Type::Union(union), Parts::Members(members)) => match waiting(py, &view, || view.target())? {
            Some(found) => {
                let id = union.typeid(found.ty()).unwrap_or(0);
                wrap(py, found, &members[id], buffer)
            }
            None => Ok(py.None().into_bound(py)),
        },
        _ => make(py, Body::new(view, ty.clone_ref(py), buffer.clone_ref(py))),
    }
}

#[pymethods]
impl Object {
    /// The object of this class that is at an offset of a buffer.
    #[classmethod]
    #[pyo3(signature = (buffer, offset=0))]
    fn _from_buffer<'py>(class: &Bound<'py, PyType>, buffer: &Bound<'py, Buffer>, offset: isize) -> Result<Bound<'py, PyAny>> {
        let py = class.py();
        let ty = class.getattr(pyo3::intern!(py, "_type"))?.cast_into::<ObjectType>()?.unbind();
        let view = View::at(&buffer.get().inner, offset_of(offset)?, &ty.get().ty)?;
        match ty.get().ty {
            // What is asked for is the reference itself.
            obj::Type::Union(_) => make(py, Body::new(view, ty, buffer.clone().unbind())),
            _ => wrap(py, view, &ty, &buffer.clone().unbind()),
        }
    }

    /// As `_from_buffer`, but always an object of the class: no text for a string.
    #[classmethod]
    fn _at<'py>(class: &Bound<'py, PyType>, buffer: &Bound<'py, Buffer>, offset: isize) -> Result<Bound<'py, PyAny>> {
        let py = class.py();
        let ty = class.getattr(pyo3::intern!(py, "_type"))?.cast_into::<ObjectType>()?.unbind();
        let view = View::at(&buffer.get().inner, offset_of(offset)?, &ty.get().ty)?;
        make(py, Body::new(view, ty, buffer.clone().unbind()))
    }

    /// What a reference refers to, None for null.
    fn _target<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let body = self.body()?;
        let (obj::Type::Union(union), Parts::Members(members)) = (&body.ty.get().ty, &body.ty.get().parts) else {
            return Err(PyTypeError::new_err("only a union reference refers to an object").into());
        };
        match waiting(py, &body.view, || body.view.target())? {
            Some(found) => {
                let id = union.typeid(found.ty()).unwrap_or(0);
                wrap(py, found, &members[id], &body.buffer)
            }
            None => Ok(py.None().into_bound(py)),
        }
    }

    /// The field at this position, as Python sees it.
    fn _field<'py>(&self, py: Python<'py>, index: usize) -> Result<Bound<'py, PyAny>> {
        let body = self.body()?;
        match body.ty.get().fields().get(index) {
            Some(part) => wrap(py, body.view.field_at(index)?, &part.ty, &body.buffer),
            None => Err(PyIndexError::new_err(format!("{} has no field {index}", body.ty.get().ty)).into()),
        }
    }
}
