//! Python objects whose memory is used here.

use std::ops::Deref;

use pyo3::prelude::*;
use pyo3::types::PyWeakrefReference;

use crate::ndarray::NdArray;

/// An object that owns memory, which it keeps as long as this lives.
pub struct Owner {
    object: Py<PyAny>,
    /// NumPy resizes no array to which there is a weak reference, not even with `refcheck=False`.
    _references: Vec<Py<PyWeakrefReference>>,
}

impl Owner {
    /// An object that keeps its memory by itself.
    pub fn steady(object: Py<PyAny>) -> Owner {
        Owner { object, _references: Vec::new() }
    }

    /// An object that may be a NumPy array, or a view of one.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Owner> {
        let mut references = Vec::new();
        let mut array = object.clone();
        while NdArray::with_any_mask(&array)?.is_some() {
            references.push(PyWeakrefReference::new(&array)?.unbind());
            array = array.getattr(pyo3::intern!(object.py(), "base"))?;
        }
        Ok(Owner { object: object.clone().unbind(), _references: references })
    }
}

impl Deref for Owner {
    type Target = Py<PyAny>;
    fn deref(&self) -> &Py<PyAny> {
        &self.object
    }
}
