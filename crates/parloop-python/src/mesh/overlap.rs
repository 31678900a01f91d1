//! Whether two things of a mesh have numbers in common.

use parloop_mesh::Storage;
use pyo3::prelude::*;

use super::dat::Dat;
use super::global::Global;
use super::mat::Mat;

/// Where the numbers of data or of a matrix are.
fn storage<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Storage> {
    if let Ok(dat) = object.cast::<Dat>() {
        return Some(dat.get().mesh().storage());
    }
    if let Ok(global) = object.cast::<Global>() {
        return Some(global.get().inner.storage());
    }
    object.cast::<Mat>().ok().map(|mat| mat.get().inner.storage())
}

/// Whether a change of one Dat, Global or Mat may be a change of the other: they are the same, or over memory that both have a part of.
/// Other objects have no numbers of a mesh.
#[pyfunction]
#[pyo3(name = "_overlaps")]
pub fn overlaps(one: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> bool {
    matches!((storage(one), storage(other)), (Some(one), Some(other)) if one.overlaps(other))
}
