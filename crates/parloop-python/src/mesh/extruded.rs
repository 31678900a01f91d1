//! `parloop.mesh.ExtrudedSet`: columns of cells over the elements of a set, and which of them a loop visits.

use parloop_mesh as mesh;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::given::{Integers, integer, integers_array};
use super::set::Set;
use crate::error::{Error, Result};
use crate::exceptions::Exception;
use crate::number::describe;

/// Which cells of each column of an extruded set a loop visits.
#[pyclass(frozen, eq, eq_int, hash, module = "parloop.mesh")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[allow(non_camel_case_types, clippy::upper_case_acronyms)] // they are Python's constants
pub enum Region {
    /// All of them.
    ALL,
    /// The lowest.
    ON_BOTTOM,
    /// The highest.
    ON_TOP,
    /// The facets between two cells: the kernel gets the data of the cell below and then of the cell above.
    ON_INTERIOR_FACETS,
}

impl From<Region> for mesh::Region {
    fn from(region: Region) -> mesh::Region {
        match region {
            Region::ALL => mesh::Region::All,
            Region::ON_BOTTOM => mesh::Region::Bottom,
            Region::ON_TOP => mesh::Region::Top,
            Region::ON_INTERIOR_FACETS => mesh::Region::InteriorFacets,
        }
    }
}

impl Region {
    /// The region that was given; none is all.
    pub fn of(object: Option<&Bound<'_, PyAny>>) -> Result<mesh::Region> {
        match object.filter(|object| !object.is_none()) {
            None => Ok(mesh::Region::All),
            Some(object) => match object.cast::<Region>() {
                Ok(region) => Ok((*region.get()).into()),
                Err(_) => Err(Exception::ModeValueError
                    .error(format!("a region must be ALL, ON_BOTTOM, ON_TOP or ON_INTERIOR_FACETS, not {}", describe(object)))
                    .into()),
            },
        }
    }
}

#[pymethods]
impl Region {
    fn __repr__(&self) -> &'static str {
        match self {
            Region::ALL => "ALL",
            Region::ON_BOTTOM => "ON_BOTTOM",
            Region::ON_TOP => "ON_TOP",
            Region::ON_INTERIOR_FACETS => "ON_INTERIOR_FACETS",
        }
    }
}

/// Columns of cells over the elements of a set.
///
/// `layers` is the number of layers of vertices, one more than of cells, or an array with two numbers for each element: its lowest layer, and
/// one more than its highest. Of a periodic set the cell above the highest of a column is its lowest.
///
/// Sizes count columns. Cells are reached through maps with an `offset`, which says how far each target moves from a cell to the next above
/// it; data on the set has a row for each cell.
///
/// >>> import parloop.mesh as op2
/// >>> edges = op2.Set(2, "edges")
/// >>> cells = op2.ExtrudedSet(edges, 4)
/// >>> vertices = op2.Set(12, "vertices")
/// >>> corners = op2.Map(cells, vertices, 4, [[0, 1, 4, 5], [4, 5, 8, 9]], "corners", offset=[1, 1, 1, 1])
/// >>> count = op2.Dat(vertices, dtype="int32")
/// >>> add = op2.Kernel("void add(int *n) { for (int i = 0; i < 4; i++) n[i] += 1; }", "add")
/// >>> op2.par_loop(add, cells, count(op2.INC, corners))
/// >>> count.data_ro.reshape(3, 4).tolist()
/// [[1, 2, 2, 1], [2, 4, 4, 2], [1, 2, 2, 1]]
#[pyclass(frozen, subclass, extends = Set, module = "parloop.mesh")]
pub struct ExtrudedSet {
    parent: Py<PyAny>,
}

/// Two numbers for each element.
fn bounds(parent: &mesh::Set, layers: &Bound<'_, PyAny>) -> Result<Vec<[i32; 2]>> {
    let wrong = |found: String| -> Error {
        let message =
            format!("the layers over set `{}` must be an integer or an array with two for each element, not {found}", parent.name());
        Exception::SizeTypeError.error(message).into()
    };
    let integers = Integers::of(layers, wrong)?;
    if integers.len()? != 2 * parent.sizes().total {
        let message = format!(
            "the layers over set `{}` must be {} × 2 numbers, but {} were given",
            parent.name(),
            parent.sizes().total,
            integers.len()?
        );
        return Err(Exception::SizeTypeError.error(message).into());
    }
    let mut found = Vec::with_capacity(integers.len()?);
    integers.each(&mut |_, value| {
        let wrong = || Exception::SizeTypeError.error(format!("a layer over set `{}` must fit in 32 bits, not {value}", parent.name()));
        found.push(i32::try_from(value).map_err(|_| wrong())?);
        Ok(())
    })?;
    Ok(found.chunks(2).map(|pair| [pair[0], pair[1]]).collect())
}

#[pymethods]
impl ExtrudedSet {
    #[new]
    #[pyo3(signature = (parent, layers, extruded_periodic=false))]
    fn new(parent: &Bound<'_, PyAny>, layers: &Bound<'_, PyAny>, extruded_periodic: bool) -> Result<PyClassInitializer<ExtrudedSet>> {
        let set = Set::of(parent)?.get().mesh();
        let inner = match integer(layers) {
            Some(layers) => set.extruded(usize::try_from(layers).unwrap_or(0), extruded_periodic)?,
            None => set.extruded_between(&bounds(set, layers)?, extruded_periodic)?,
        };
        let extruded = ExtrudedSet { parent: parent.clone().unbind() };
        Ok(PyClassInitializer::from(Set::around(inner, None)).add_subclass(extruded))
    }

    /// The set that the columns stand on.
    #[getter]
    fn parent<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.parent.bind(py).clone()
    }

    /// Whether all columns are alike.
    #[getter]
    fn constant_layers(slf: &Bound<'_, Self>) -> bool {
        layers_of(slf).cells().is_some()
    }

    /// Whether the cell above the highest of a column is its lowest.
    #[getter]
    fn extruded_periodic(slf: &Bound<'_, Self>) -> bool {
        layers_of(slf).is_periodic()
    }

    /// How many layers of vertices each column has, where all are alike.
    #[getter]
    fn layers(slf: &Bound<'_, Self>) -> Result<usize> {
        let cells = layers_of(slf).cells();
        Ok(cells.ok_or_else(|| PyValueError::new_err("the columns have different numbers of layers; see layers_array"))? + 1)
    }

    /// For each column its lowest layer and one more than its highest; one row where all are alike.
    #[getter]
    fn layers_array<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let layers = layers_of(slf);
        let pairs: Vec<i32> = match (layers.cells(), layers.bounds()) {
            (Some(cells), _) => vec![0, cells as i32 + 1],
            (None, bounds) => bounds.unwrap_or_default().as_flattened().to_vec(),
        };
        Ok(integers_array(slf.py(), &pairs)?.call_method1("reshape", (-1, 2))?)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> Result<String> {
        let parent = slf.get().parent.bind(slf.py()).repr()?;
        Ok(match layers_of(slf).cells() {
            Some(cells) => format!("ExtrudedSet({parent}, {})", cells + 1),
            None => format!("<ExtrudedSet over {parent}: {} cells>", slf.as_super().get().mesh().rows()),
        })
    }
}

fn layers_of<'a>(set: &'a Bound<'_, ExtrudedSet>) -> &'a mesh::Layers {
    set.as_super().get().mesh().layers().expect("invariant: the set is extruded")
}

/// The regions that were given: one, or several.
pub fn regions(object: &Bound<'_, PyAny>) -> Result<Vec<mesh::Region>> {
    if object.is_none() || object.cast::<Region>().is_ok() {
        return Ok(vec![Region::of(Some(object))?]);
    }
    let wrong = |_| Exception::ModeValueError.error(format!("expected regions, not {}", describe(object)));
    let regions: Vec<mesh::Region> = object.try_iter().map_err(wrong)?.map(|item| Region::of(Some(&item?))).collect::<Result<_>>()?;
    Ok(if regions.is_empty() { vec![mesh::Region::All] } else { regions })
}
