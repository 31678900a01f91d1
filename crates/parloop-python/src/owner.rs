//! Python objects whose memory is used here, and whether NumPy arrays still have the memory that they had.

use std::ops::Deref;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyWeakrefReference;
use smallvec::SmallVec;

use crate::error::Result;
use crate::ndarray::NdArray;

/// NumPy makes a view of a view a view of the first array; only subclasses make chains.
const LONGEST_CHAIN: usize = 64;

/// The memory of a NumPy array, and of the arrays that it is a view of, as it was at one time. `__setstate__`, and `resize` with
/// `refcheck=False`, give an array other memory and free what it had.
///
/// Before memory that was taken earlier is used, its user checks whether it is still valid. A change by another thread while a kernel runs
/// cannot be detected.
#[derive(Default)]
pub struct ArrayExtents {
    arrays: SmallVec<[ArrayExtent; 1]>,
}

struct ArrayExtent {
    array: Py<PyAny>,
    /// Where it was, and how many bytes.
    extent: (usize, usize),
}

impl ArrayExtents {
    /// The memory of an object, as far as it is NumPy's.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<ArrayExtents> {
        let mut arrays = SmallVec::new();
        let mut next = Some(object.clone());
        while let Some(object) = next.take()
            && let Some(array) = NdArray::with_any_mask(&object)?
        {
            if arrays.len() == LONGEST_CHAIN {
                let reason = format!("the array is a chain of more than {LONGEST_CHAIN} views; pass a copy");
                return Err(PyValueError::new_err(reason));
            }
            let extent = array.extent()?;
            next = array.base();
            arrays.push(ArrayExtent { array: object.unbind(), extent });
        }
        Ok(ArrayExtents { arrays })
    }

    /// Whether the arrays have the memory that they had.
    #[inline]
    pub fn is_there(&self, py: Python<'_>) -> PyResult<bool> {
        for seen in &self.arrays {
            match NdArray::with_any_mask(seen.array.bind(py))? {
                Some(array) if array.extent()? == seen.extent => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Fails with what `reason` says where an array has other memory.
    #[inline]
    pub fn check(&self, py: Python<'_>, reason: impl FnOnce() -> String) -> PyResult<()> {
        if self.is_there(py)? { Ok(()) } else { Err(PyValueError::new_err(reason())) }
    }

    /// Whether nothing of it is NumPy's.
    pub fn is_empty(&self) -> bool {
        self.arrays.is_empty()
    }
}

/// An object that owns memory, which it keeps as long as this lives.
pub struct Owner {
    object: Py<PyAny>,
    seen: ArrayExtents,
    /// NumPy resizes no array to which there is a weak reference, not even with `refcheck=False`.
    _references: Vec<Py<PyWeakrefReference>>,
}

impl Owner {
    /// An object that keeps its memory by itself.
    pub fn steady(object: Py<PyAny>) -> Owner {
        Owner { object, seen: ArrayExtents::default(), _references: Vec::new() }
    }

    /// An object that may be a NumPy array, or a view of one.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Owner> {
        let (py, seen) = (object.py(), ArrayExtents::of(object)?);
        let reference = |seen: &ArrayExtent| Ok::<_, PyErr>(PyWeakrefReference::new(seen.array.bind(py))?.unbind());
        let references = seen.arrays.iter().map(reference).collect::<PyResult<_>>()?;
        Ok(Owner { object: object.clone().unbind(), seen, _references: references })
    }

    /// The memory, as it was when this was made.
    pub fn seen(&self) -> &ArrayExtents {
        &self.seen
    }
}

impl Deref for Owner {
    type Target = Py<PyAny>;
    fn deref(&self) -> &Py<PyAny> {
        &self.object
    }
}

/// Fails when the NumPy array whose memory this is has other memory: `__setstate__` gives it some, though not `resize` (see [`Owner`]).
#[inline]
pub fn check_shared(py: Python<'_>, owner: Option<&Owner>) -> Result<()> {
    let Some(owner) = owner else { return Ok(()) };
    let reason =
        || "the NumPy array whose memory this array shares was resized; create the array again with ctx.array(…, copy=None)".to_owned();
    Ok(owner.seen().check(py, reason)?)
}
