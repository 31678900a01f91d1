//! Python's values as arguments of transformations: numbers, text, sequences and mappings; anything else by its text.

use parloop_loop::transform::StepValue;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyType};

use super::components::component_type;
use crate::ndarray::dtype_of;

/// The value for a step. Sets become lists in the order of their texts.
pub fn step_value(value: &Bound<'_, PyAny>) -> PyResult<StepValue> {
    if value.is_none() {
        return Ok(StepValue::None);
    }
    // `AddressSpace.LOCAL` is an integer too, but its name is what it says.
    if value.get_type().name()? == "AddressSpace" {
        return Ok(StepValue::Text(value.getattr("name")?.str()?.to_string().to_lowercase()));
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(StepValue::Bool(flag.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(match value.extract::<i64>() {
            Ok(number) => StepValue::Int(number),
            Err(_) => StepValue::Text(value.str()?.to_string()),
        });
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(StepValue::Float(value.extract()?));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(StepValue::Text(text.to_str()?.to_owned()));
    }
    if let Ok(entries) = value.cast::<PyDict>() {
        let entries = entries.iter().map(|(key, value)| Ok((step_value(&key)?, step_value(&value)?)));
        return Ok(StepValue::Map(entries.collect::<PyResult<_>>()?));
    }
    if let Ok(number) = value.call_method0("__index__") {
        return step_value(&number);
    }
    if let Ok(class) = value.cast::<PyType>() {
        let name = class.name()?.to_string();
        return Ok(StepValue::Text(if name == "auto" { name } else { dtype_of(value)?.name().to_owned() }));
    }
    let kind = value.get_type().name()?.to_string();
    if kind.ends_with("DType") || kind == "dtype" || kind == "NumpyType" {
        let dtype = if kind == "NumpyType" { value.getattr("dtype")? } else { value.clone() };
        if let Some(ty) = component_type(&dtype)? {
            return Ok(StepValue::Text(ty.to_string()));
        }
        return Ok(StepValue::Text(dtype_of(&dtype)?.name().to_owned()));
    }
    match kind.as_str() {
        "list" | "tuple" => Ok(StepValue::List(value.try_iter()?.map(|item| step_value(&item?)).collect::<PyResult<_>>()?)),
        "set" | "frozenset" | "dict_keys" | "dict_values" | "generator" => {
            let mut items = value.try_iter()?.map(|item| step_value(&item?)).collect::<PyResult<Vec<_>>>()?;
            items.sort_by_key(StepValue::describe);
            Ok(StepValue::List(items))
        }
        // Mappings and expressions of other packages.
        _ if value.hasattr("items")? && value.hasattr("keys")? => {
            let entries = value.call_method0("items")?.try_iter()?.map(|entry| {
                let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = entry?.extract()?;
                Ok((step_value(&key)?, step_value(&value)?))
            });
            Ok(StepValue::Map(entries.collect::<PyResult<_>>()?))
        }
        _ => Ok(StepValue::Text(value.str()?.to_string())),
    }
}
