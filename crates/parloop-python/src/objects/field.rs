//! `parloop.objects.Field`: a field of a struct, as it is declared and as Python's descriptor of it.

use std::sync::OnceLock;

use parloop_device::DType;
use parloop_object as obj;
use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::edit::set;
use super::object::Object;
use super::types::ObjectType;
use super::wrap::wrap;
use crate::error::Result;

/// A field of a struct: its type, and what it gets when nothing is given.
///
/// Parameters
/// ----------
/// ftype
///     A type of `parloop.objects`.
/// default
///     The value of objects that are made without one.
/// readonly : bool
///     Whether it can be set after an object is made.
/// default_factory : callable
///     Makes the default anew for each object.
#[pyclass(frozen, module = "parloop.objects")]
pub struct Field {
    #[pyo3(get)]
    ftype: Py<PyAny>,
    #[pyo3(get)]
    default: Py<PyAny>,
    #[pyo3(get)]
    default_factory: Py<PyAny>,
    #[pyo3(get)]
    readonly: bool,
    bound: OnceLock<BoundField>,
}

/// A field of a certain struct.
struct BoundField {
    owner: Py<ObjectType>,
    ty: Py<ObjectType>,
    name: Py<PyString>,
    index: usize,
    /// The number and its offset, where it is one.
    scalar: Option<(DType, usize)>,
}

#[pymethods]
impl Field {
    #[new]
    #[pyo3(signature = (ftype, default=None, readonly=false, default_factory=None))]
    fn new(py: Python<'_>, ftype: Py<PyAny>, default: Option<Py<PyAny>>, readonly: bool, default_factory: Option<Py<PyAny>>) -> Field {
        let or_none = |value: Option<Py<PyAny>>| value.unwrap_or_else(|| py.None());
        Field { ftype, default: or_none(default), default_factory: or_none(default_factory), readonly, bound: OnceLock::new() }
    }

    /// Makes it the field at a position of a struct, for the rest of its life.
    fn _set_owner(&self, owner: &Bound<'_, ObjectType>, index: usize) -> PyResult<()> {
        let part = owner.get().fields().get(index).ok_or_else(|| PyRuntimeError::new_err("no such field"))?;
        let scalar = match (&owner.get().ty, part.ty.get().ty.scalar()) {
            (obj::Type::Struct(ty), Some(dtype)) => match ty.fields[index].place {
                obj::FieldPlace::At(at) => Some((dtype, at)),
                obj::FieldPlace::Indirect(_) => None,
            },
            _ => None,
        };
        let py = owner.py();
        let bound = BoundField { owner: owner.clone().unbind(), ty: part.ty.clone_ref(py), name: part.name.clone_ref(py), index, scalar };
        self.bound.set(bound).map_err(|_| PyRuntimeError::new_err("the field already belongs to a struct; create one for each struct"))
    }

    /// Whether it belongs to a struct.
    #[getter]
    fn _is_bound(&self) -> bool {
        self.bound.get().is_some()
    }

    /// Its position in the struct; None for a field that belongs to none.
    #[getter]
    fn index(&self) -> Option<usize> {
        self.bound.get().map(|bound| bound.index)
    }

    /// Its name.
    #[getter]
    fn name(&self, py: Python<'_>) -> Option<Py<PyString>> {
        self.bound.get().map(|bound| bound.name.clone_ref(py))
    }

    /// Where it is, or where its offset stands, from the struct's beginning.
    #[getter]
    fn offset(&self) -> Option<usize> {
        self.place().map(|(at, _)| at)
    }

    /// Whether its offset stands in the struct, instead of the field itself.
    #[getter]
    fn is_reference(&self) -> Option<bool> {
        self.place().map(|(_, indirect)| indirect)
    }

    /// What an object gets that is made without a value for it.
    fn get_default<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if !self.default_factory.is_none(py) {
            return self.default_factory.bind(py).call0();
        }
        match self.default.is_none(py) {
            true => self.ftype.bind(py).call0(),
            false => Ok(self.default.bind(py).clone()),
        }
    }

    fn __get__<'py>(slf: &Bound<'py, Self>, instance: &Bound<'py, PyAny>, _class: Option<&Bound<'py, PyAny>>) -> Result<Bound<'py, PyAny>> {
        if instance.is_none() {
            return Ok(slf.clone().into_any());
        }
        slf.get().get(instance)
    }

    fn __set__(&self, instance: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Result<()> {
        let (object, bound) = self.of(instance)?;
        let body = object.body()?;
        if self.readonly {
            let name = bound.name.bind(instance.py());
            return Err(PyAttributeError::new_err(format!("Field {name} is read-only")).into());
        }
        if let Some((dtype, at)) = bound.scalar {
            // SAFETY: the field lies inside the object.
            if unsafe { body.store(at, dtype, value) } {
                return Ok(());
            }
        }
        set(&body.view.field_at(bound.index)?, bound.ty.get(), value).map_err(|error| self.named(error))
    }

    /// See `_ObjectType`.
    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        visit.call(&self.ftype)?;
        visit.call(&self.default)?;
        visit.call(&self.default_factory)?;
        let Some(bound) = self.bound.get() else { return Ok(()) };
        visit.call(&bound.owner)?;
        visit.call(&bound.ty)
    }

    fn __delete__(&self, instance: &Bound<'_, PyAny>) -> Result<()> {
        let (_, bound) = self.of(instance)?;
        Err(PyAttributeError::new_err(format!("Field {} cannot be deleted", bound.name.bind(instance.py()))).into())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        match self.bound.get() {
            Some(bound) => format!("<field {} {} of {}>", bound.index, bound.name.bind(py), bound.owner.get().ty),
            None => "<field>".into(),
        }
    }
}

impl Field {
    fn place(&self) -> Option<(usize, bool)> {
        let bound = self.bound.get()?;
        let obj::Type::Struct(ty) = &bound.owner.get().ty else { return None };
        Some(match ty.fields[bound.index].place {
            obj::FieldPlace::At(at) => (at, false),
            obj::FieldPlace::Indirect(at) => (at, true),
        })
    }

    /// The object and the field, if they belong together.
    #[inline]
    fn of<'a>(&'a self, instance: &'a Bound<'_, PyAny>) -> Result<(&'a Object, &'a BoundField)> {
        let bound = self.bound.get().ok_or_else(|| PyRuntimeError::new_err("the field does not belong to a struct"))?;
        let object = instance.cast::<Object>()?.get();
        if object.body()?.ty.as_ptr() != bound.owner.as_ptr() {
            return Err(PyTypeError::new_err(format!("the field belongs to {}, not to this object", bound.owner.get().ty)).into());
        }
        Ok((object, bound))
    }

    #[inline]
    fn get<'py>(&self, instance: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let (object, bound) = self.of(instance)?;
        let body = object.body()?;
        if let Some((dtype, at)) = bound.scalar {
            // SAFETY: the field lies inside the object.
            if let Some(number) = unsafe { body.load(instance.py(), at, dtype, bound.ty.get().is_numpy) } {
                return Ok(number?);
            }
        }
        wrap(instance.py(), body.view.field_at(bound.index)?, &bound.ty, &body.buffer)
    }

    /// The error with the name of the field, where it names only a type.
    fn named(&self, error: crate::error::Error) -> crate::error::Error {
        let error: PyErr = error.into();
        let Some(bound) = self.bound.get() else { return error.into() };
        Python::attach(|py| {
            let message = error.value(py).to_string();
            let ty = bound.ty.get().ty.name();
            match message.strip_prefix(ty) {
                Some(rest) if rest.starts_with(" was requested") => {
                    let named = format!("{}.{}: {message}", bound.owner.get().ty, bound.name.bind(py));
                    PyErr::from_type(error.get_type(py), named).into()
                }
                Some(rest) if rest.starts_with([':', ' ', '.', '[']) => {
                    let named = format!("{}.{}{rest}", bound.owner.get().ty, bound.name.bind(py));
                    PyErr::from_type(error.get_type(py), named).into()
                }
                _ => error.into(),
            }
        })
    }
}

/// Puts the class into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Field>()
}
