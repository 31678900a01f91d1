//! `_Object`: what objects of all classes of `parloop.objects` are made of, and how Python sees their parts.

use std::sync::{Mutex, OnceLock};

use parloop_object as obj;
use parloop_object::{ArrayShape, KnownLengths, Value, View};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use super::array::ArrayObject;
use super::buffer::{Buffer, offset_of};
use super::convert::{Keep, position_by_text, scalar_of, value_of};
use super::number::number;
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

    /// Where it is in host memory now, if it is there and alive.
    #[inline]
    pub fn host(&self) -> Option<*mut u8> {
        match self.view.owner() {
            Some(owner) if owner.is_freed() => None,
            // SAFETY: the object lies inside the buffer.
            _ => self.view.buffer().host_pointer().map(|base| unsafe { base.add(self.view.offset()) }),
        }
    }
}

impl Object {
    #[inline]
    pub fn body(&self) -> Result<&Body> {
        self.body.get().ok_or_else(|| PyRuntimeError::new_err("the object was not made yet: call super().__init__() first").into())
    }
}

/// Bodies on their way into objects of Python classes. Making one may make others meanwhile: the last one in is the first one out.
static MADE: Mutex<Vec<Body>> = Mutex::new(Vec::new());

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

/// What Python sees of a part: numbers and texts themselves, what references refer to, objects otherwise.
pub fn wrap<'py>(py: Python<'py>, view: View, ty: &Py<ObjectType>, buffer: &Py<Buffer>) -> Result<Bound<'py, PyAny>> {
    match (&ty.get().ty, &ty.get().parts) {
        (obj::Type::Scalar(_), _) => Ok(number(py, view.scalar()?)?),
        (obj::Type::String(_), _) => Ok(PyString::new(py, &view.text()?).into_any()),
        (obj::Type::Ref(_), Parts::Target(target)) => match view.target()? {
            Some(found) => wrap(py, found, target, buffer),
            None => Ok(py.None().into_bound(py)),
        },
        (obj::Type::Union(union), Parts::Members(members)) => match view.target()? {
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
    /// Arguments belong to `__init__`.
    #[new]
    #[pyo3(signature = (*args, **_named))]
    fn new(args: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> PyResult<Object> {
        Ok(Object { body: taken(args)? })
    }

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

    /// Gives it another value of the same size.
    fn _update(&self, value: &Bound<'_, PyAny>) -> Result<()> {
        let body = self.body()?;
        set(&body.view, body.ty.get(), value)
    }

    /// What a reference refers to, None for null.
    fn _target<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let body = self.body()?;
        let (obj::Type::Union(union), Parts::Members(members)) = (&body.ty.get().ty, &body.ty.get().parts) else {
            return Err(PyTypeError::new_err("only a union refers to something").into());
        };
        match body.view.target()? {
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

/// Fields by name, and no others: those left out keep their values.
fn given_fields<'a, 'py>(ty: &ObjectType, dict: &Bound<'py, PyDict>, keep: &mut Keep<'py>) -> Result<Value<'a>> {
    let mut fields = Vec::new();
    for (name, value) in dict {
        let index = position_by_text(ty, &name)?;
        let part = ty.fields()[index].ty.get();
        let value = match value.cast::<PyDict>() {
            Ok(dict) if matches!(part.ty, obj::Type::Struct(_)) => given_fields(part, dict, keep)?,
            _ => value_of(part, &value, keep)?,
        };
        fields.push((index, value));
    }
    Ok(Value::Fields(fields))
}

/// Changes a part to what Python gives.
pub fn set(view: &View, ty: &ObjectType, value: &Bound<'_, PyAny>) -> Result<()> {
    let mut keep = Keep::new();
    if let obj::Type::Scalar(_) = ty.ty
        && let Some(scalar) = scalar_of(value)?
    {
        return Ok(view.set(Value::Scalar(scalar))?);
    }
    let value = match (&ty.ty, value.cast::<PyDict>()) {
        (obj::Type::Struct(_), Ok(dict)) => given_fields(ty, dict, &mut keep)?,
        _ => value_of(ty, value, &mut keep)?,
    };
    Ok(view.set(value)?)
}
