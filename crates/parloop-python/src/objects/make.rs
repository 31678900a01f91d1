//! Making objects: from the arguments of a class to an object in its place.

use parloop_device::DeviceKind;
use parloop_object as obj;
use parloop_object::{Home, Placement, Value, View};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use super::buffer::{Buffer, context_keeps_objects, offset_of};
use super::convert::{BorrowedOwners, default_of, fields_and_more, fields_of, plain_fields, value_of};
use super::object::{Body, Object};
use super::types::ObjectType;
use crate::context::Context;
use crate::error::Result;
use crate::exceptions::Exception;

/// Where a user wants a new object.
#[derive(Default)]
struct Destination<'py> {
    context: Option<Bound<'py, PyAny>>,
    buffer: Option<Bound<'py, PyAny>>,
    offset: Option<Bound<'py, PyAny>>,
}

impl<'py> Destination<'py> {
    /// Takes one of the named arguments, if it is about the placement.
    fn offer(&mut self, name: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        let py = name.py();
        let same = |known: &Bound<'py, PyString>| Ok::<_, PyErr>(known.is(name) || known.as_any().eq(name)?);
        let place = if same(pyo3::intern!(py, "_context"))? {
            &mut self.context
        } else if same(pyo3::intern!(py, "_buffer"))? {
            &mut self.buffer
        } else if same(pyo3::intern!(py, "_offset"))? {
            &mut self.offset
        } else {
            return Ok(false);
        };
        *place = Some(value.clone()).filter(|value| !value.is_none());
        Ok(true)
    }

    /// Takes the placement out of the named arguments.
    fn take(named: Option<&Bound<'py, PyDict>>) -> PyResult<Destination<'py>> {
        let mut wanted = Destination::default();
        let Some(named) = named else { return Ok(wanted) };
        let py = named.py();
        let pop = |name: &Bound<'py, PyString>| -> PyResult<Option<Bound<'py, PyAny>>> {
            match named.get_item(name)? {
                Some(value) => {
                    named.del_item(name)?;
                    Ok(Some(value).filter(|value| !value.is_none()))
                }
                None => Ok(None),
            }
        };
        wanted.context = pop(pyo3::intern!(py, "_context"))?;
        wanted.buffer = pop(pyo3::intern!(py, "_buffer"))?;
        wanted.offset = pop(pyo3::intern!(py, "_offset"))?;
        Ok(wanted)
    }

    fn placement(&self) -> Result<Placement> {
        let Some(offset) = &self.offset else { return Ok(Placement::Aligned) };
        match offset.extract::<String>().as_deref() {
            Ok("aligned") => Ok(Placement::Aligned),
            Ok("packed") => Ok(Placement::Packed),
            _ => match offset.extract::<isize>() {
                Ok(offset) => Ok(Placement::At(offset_of(offset)?)),
                Err(_) => Err(PyValueError::new_err(format!("_offset must be \"aligned\", \"packed\" or a number, not {offset}")).into()),
            },
        }
    }

    fn place(
        &self,
        py: Python<'py>,
        keep: &BorrowedOwners<'_>,
        make: impl FnOnce(Home<'_>) -> std::result::Result<View, obj::ObjectError> + Send,
    ) -> Result<(View, Py<Buffer>)> {
        let Some(buffer) = &self.buffer else {
            if self.offset.is_some() {
                return Err(PyValueError::new_err("Cannot set `_offset` without `_buffer`").into());
            }
            let (context, kernel) = Context::object_of(self.context.as_ref(), py)?;
            keep.check(py)?;
            let view = match kernel.device().kind() {
                DeviceKind::Cpu => make(Home::Own(&kernel))?,
                _ => py.detach(|| make(Home::Own(&kernel)))?,
            };
            if context_keeps_objects(&context)? {
                view.buffer().keep_objects();
            }
            let buffer = Buffer::new(py, &context, view.buffer().clone())?;
            return Ok((view, buffer));
        };
        let buffer = buffer.cast::<Buffer>().map_err(|_| PyTypeError::new_err(format!("_buffer must be a Buffer, not {buffer}")))?;
        if let Some(context) = &self.context
            && !buffer.get().context.bind(py).is(context)
        {
            let reason = format!("Mismatched buffer ({buffer}) and context ({context}): give one of them");
            return Err(PyValueError::new_err(reason).into());
        }
        // Where the buffer must grow it may have to wait for launches.
        let (home, placement) = (&buffer.get().inner, self.placement()?);
        keep.check(py)?;
        let view = py.detach(|| make(Home::In(home, placement)))?;
        Ok((view, buffer.clone().unbind()))
    }
}

/// The value that the arguments of a class mean.
fn value_from<'a, 'py>(
    ty: &ObjectType,
    args: &Bound<'py, PyTuple>,
    named: Option<&Bound<'py, PyDict>>,
    keep: &mut BorrowedOwners<'py>,
) -> Result<Value<'a>> {
    let py = args.py();
    let named = named.filter(|named| !named.is_empty());
    if let obj::Type::Struct(_) = ty.ty {
        return match (args.len(), named) {
            (0, Some(named)) => fields_of(ty, named, keep),
            (0, None) => fields_of(ty, &PyDict::new(py), keep),
            (1, None) => value_of(ty, &args.get_item(0)?, keep),
            (_, None) => value_of(ty, args.as_any(), keep),
            _ => Err(Exception::ObjectTypeError.error(format!("{} takes fields by name or one value, not both", ty.ty)).into()),
        };
    }
    if let Some(named) = named {
        let names = named.keys();
        return Err(PyTypeError::new_err(format!("{} takes no arguments {names}", ty.ty)).into());
    }
    match (args.len(), &ty.ty) {
        (0, _) => default_of(ty, keep, py),
        (1, _) => value_of(ty, &args.get_item(0)?, keep),
        (_, obj::Type::Array(_) | obj::Type::Union(_)) => value_of(ty, args.as_any(), keep),
        (count, _) => Err(PyTypeError::new_err(format!("{} takes one value, but {count} were given", ty.ty)).into()),
    }
}

impl Object {
    /// What `__init__` does.
    pub fn initialise<'py>(slf: &Bound<'py, Self>, args: &Bound<'py, PyTuple>, named: Option<&Bound<'py, PyDict>>) -> Result<()> {
        let py = slf.py();
        let class = slf.get_type();
        let ty = class.getattr(pyo3::intern!(py, "_type"))?.cast_into::<ObjectType>()?;
        let bind = ty.get().bind()?;
        let by_name = named.filter(|_| args.is_empty() && !bind.pre_init);
        let mut wanted = Destination::default();
        let of = &ty.get().ty;
        let (view, buffer) = match (by_name, &ty.get().plain, &ty.get().ty) {
            (Some(named), Some(defaults), _) => {
                let bytes = plain_fields(ty.get(), defaults, named, |name, value| Ok(wanted.offer(name, value)?))?;
                wanted.place(py, &BorrowedOwners::default(), |home| of.make_of_bytes(&bytes, home))?
            }
            (Some(named), None, obj::Type::Struct(_)) => {
                let mut keep = BorrowedOwners::default();
                let value = fields_and_more(ty.get(), named, &mut keep, |name, value| Ok(wanted.offer(name, value)?))?;
                wanted.place(py, &keep, |home| of.make(value, home))?
            }
            _ => {
                let mut keep = BorrowedOwners::default();
                let (wanted, value) = Object::value_of_arguments(&class, ty.get(), args, named, &mut keep)?;
                wanted.place(py, &keep, |home| of.make(value, home))?
            }
        };
        if slf.get().body.set(Body::new(view, ty.clone().unbind(), buffer)).is_err() {
            return Err(PyRuntimeError::new_err("the object is already initialised").into());
        }
        if bind.post_init {
            slf.call_method0("_post_init")?;
        }
        Ok(())
    }

    fn value_of_arguments<'a, 'py>(
        class: &Bound<'py, PyType>,
        ty: &ObjectType,
        args: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
        keep: &mut BorrowedOwners<'py>,
    ) -> Result<(Destination<'py>, Value<'a>)> {
        let wanted = Destination::take(named)?;
        if !ty.bind()?.pre_init {
            return Ok((wanted, value_from(ty, args, named, keep)?));
        }
        let changed = class.call_method("_pre_init", args, named)?;
        let (args, named): (Bound<'_, PyTuple>, Bound<'_, PyDict>) = changed.extract()?;
        let value = value_from(ty, &args, Some(&named), keep)?;
        keep.push(args.into_any());
        keep.push(named.into_any());
        Ok((wanted, value))
    }
}
