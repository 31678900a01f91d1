//! Changes of objects and their parts to what Python gives.

use parloop_object as obj;
use parloop_object::{Value, View};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::convert::{BorrowedOwners, position_by_text, value_of};
use super::object::Object;
use super::types::ObjectType;
use super::wrap::waiting;
use crate::error::Result;

#[pymethods]
impl Object {
    /// Gives it another value of the same size.
    fn _update(&self, value: &Bound<'_, PyAny>) -> Result<()> {
        let body = self.body()?;
        set(&body.view, body.ty.get(), value)
    }
}

/// Fields by name, and no others: those left out keep their values.
fn given_fields<'a, 'py>(ty: &ObjectType, dict: &Bound<'py, PyDict>, keep: &mut BorrowedOwners<'py>) -> Result<Value<'a>> {
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
    let mut keep = BorrowedOwners::default();
    if let obj::Type::Scalar(_) = ty.ty
        && let Some(scalar) = ty.number(value)?
    {
        return Ok(waiting(value.py(), view, || view.set(Value::Scalar(scalar)))?);
    }
    let py = value.py();
    let value = match (&ty.ty, value.cast::<PyDict>()) {
        (obj::Type::Struct(_), Ok(dict)) => given_fields(ty, dict, &mut keep)?,
        _ => value_of(ty, value, &mut keep)?,
    };
    keep.check(py)?;
    // Where its buffer must grow it may have to wait for launches.
    Ok(py.detach(|| view.set(value))?)
}
