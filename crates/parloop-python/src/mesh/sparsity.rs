//! `parloop.mesh.Sparsity`: which blocks of a matrix are stored.

use parloop_mesh as mesh;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::dataset::DataSet;
use super::extruded::regions;
use super::given::{Integers, integers_array, name_of};
use super::map::Map;
use super::set::Set;
use crate::error::{Error, Result};
use crate::exceptions::Exception;
use crate::number::describe;

/// The stored blocks of matrices from data on one set to data on another: those where the targets of a pair of maps meet.
///
/// `dsets` are two data sets, or one for rows and columns; `maps` are pairs of maps, or one map for both. Where rows and columns are on one
/// set, the diagonal is stored too. Of extruded sets a pair may have a third entry: the regions whose targets meet, by default ``ALL``.
///
/// >>> import parloop.mesh as op2
/// >>> edges, nodes = op2.Set(2, "edges"), op2.Set(3, "nodes")
/// >>> ends = op2.Map(edges, nodes, 2, [[0, 1], [1, 2]], "ends")
/// >>> sparsity = op2.Sparsity(nodes ** 1, ends)
/// >>> sparsity.nz, sparsity.rowptr.tolist(), sparsity.colidx.tolist()
/// (7, [0, 2, 5, 7], [0, 1, 0, 1, 2, 1, 2])
#[pyclass(frozen, subclass, weakref, module = "parloop.mesh")]
pub struct Sparsity {
    pub inner: mesh::Sparsity,
    dsets: (Py<DataSet>, Py<DataSet>),
    maps: Vec<(Py<Map>, Py<Map>)>,
}

impl Sparsity {
    /// The sparsity that was given.
    pub fn of<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Result<&'a Bound<'py, Sparsity>> {
        object
            .cast::<Sparsity>()
            .map_err(|_| Exception::SparsityTypeError.error(format!("expected a Sparsity, not {}", describe(object))).into())
    }
}

/// One of the two sides of a matrix.
#[derive(Clone, Copy)]
pub enum Side {
    Rows,
    Columns,
}

impl Sparsity {
    /// The data set of one side.
    pub fn dataset<'py>(&self, py: Python<'py>, side: Side) -> Bound<'py, DataSet> {
        match side {
            Side::Rows => self.dsets.0.bind(py).clone(),
            Side::Columns => self.dsets.1.bind(py).clone(),
        }
    }
}

/// The data set that was given; a set has one number for each element.
fn dataset<'py>(object: &Bound<'py, PyAny>) -> Result<Bound<'py, DataSet>> {
    let dataset = match object.cast::<Set>() {
        Ok(set) => set.as_any().pow(1, object.py().None())?,
        Err(_) => object.clone(),
    };
    Ok(dataset.cast_into::<DataSet>().map_err(|error| {
        let found = describe(&error.into_inner());
        Exception::DataSetTypeError.error(format!("a sparsity needs two DataSets, not {found}"))
    })?)
}

/// The two data sets that were given, or one for rows and columns.
fn both_datasets<'py>(dsets: &Bound<'py, PyAny>) -> Result<(Bound<'py, DataSet>, Bound<'py, DataSet>)> {
    Ok(match dsets.cast::<PyTuple>() {
        Ok(both) if both.len() == 2 => (dataset(&both.get_item(0)?)?, dataset(&both.get_item(1)?)?),
        _ => (dataset(dsets)?, dataset(dsets)?),
    })
}

/// The integers of an array; one that 64 bits cannot hold is the largest that they can.
fn numbers(object: &Bound<'_, PyAny>, what: &str) -> Result<Vec<i64>> {
    let wrong = |found: String| -> Error {
        Exception::MapTypeError.error(format!("the {what} of a sparsity must be integers, not {found}")).into()
    };
    let integers = Integers::of(object, wrong)?;
    let mut found = Vec::with_capacity(integers.len()?);
    integers.each(&mut |_, value| {
        found.push(i64::try_from(value).unwrap_or(i64::MAX));
        Ok(())
    })?;
    Ok(found)
}

/// The regions of an extruded set that a pair of maps is for: what is third in it.
fn regions_of(object: &Bound<'_, PyAny>) -> Result<Vec<mesh::Region>> {
    match object.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 3 => regions(&pair.get_item(2)?),
        _ => Ok(vec![mesh::Region::All]),
    }
}

/// Two maps, or one for both.
pub fn pair<'py>(object: &Bound<'py, PyAny>) -> Result<(Bound<'py, Map>, Bound<'py, Map>)> {
    if let Ok(map) = object.cast::<Map>() {
        return Ok((map.clone(), map.clone()));
    }
    let wrong = || -> Error { Exception::MapTypeError.error(format!("expected a map or a pair of maps, not {}", describe(object))).into() };
    let items: Vec<Bound<'py, PyAny>> = object.try_iter().map_err(|_| wrong())?.collect::<PyResult<_>>()?;
    match &items[..] {
        [rows, columns] => Ok((Map::of(rows)?.clone(), Map::of(columns)?.clone())),
        // The third says on which part of an extruded set.
        [rows, columns, third] => {
            let found = (Map::of(rows)?.clone(), Map::of(columns)?.clone());
            regions(third)?;
            Ok(found)
        }
        _ => Err(wrong()),
    }
}

/// Whether an object is one pair of maps, with regions behind it or not; three maps are three pairs.
fn is_pair(object: &Bound<'_, PyAny>) -> bool {
    let Ok(items) = object.cast::<PyTuple>() else { return false };
    let is_map = |at: usize| items.get_item(at).is_ok_and(|item| item.cast::<Map>().is_ok());
    matches!(items.len(), 2 | 3) && is_map(0) && is_map(1) && !is_map(2)
}

#[pymethods]
impl Sparsity {
    #[new]
    #[pyo3(signature = (dsets, maps, name=None))]
    fn new<'py>(dsets: &Bound<'py, PyAny>, maps: &Bound<'py, PyAny>, name: Option<&Bound<'py, PyAny>>) -> Result<Sparsity> {
        let py = dsets.py();
        let (rows, columns) = both_datasets(dsets)?;
        // One map, one pair of maps, or several of either; a pair may have regions behind it.
        let pairs = match maps.cast::<Map>().is_ok() || is_pair(maps) {
            true => vec![(pair(maps)?, regions_of(maps)?)],
            false => {
                let items = maps.try_iter().map_err(|_| Exception::MapTypeError.error(format!("expected maps, not {}", describe(maps))))?;
                let with_regions = |item: Bound<'py, PyAny>| Ok((pair(&item)?, regions_of(&item)?));
                items.map(|item| with_regions(item?)).collect::<Result<Vec<_>>>()?
            }
        };
        let given = pairs.iter().map(|((rows, columns), regions)| Ok((rows.get().inner()?, columns.get().inner()?, &regions[..])));
        let given = given.collect::<Result<Vec<mesh::MapPair<'_>>>>()?;
        let (name, row_data, column_data) = (name_of(name, "sparsity")?, rows.get().mesh(), columns.get().mesh());
        let inner = py.detach(|| mesh::Sparsity::in_regions(&row_data, &column_data, &given, name))?;
        let maps = pairs.into_iter().map(|((rows, columns), _)| (rows.unbind(), columns.unbind())).collect();
        Ok(Sparsity { inner, dsets: (rows.unbind(), columns.unbind()), maps })
    }

    /// The sparsity of compressed rows that someone else made, as SciPy and PETSc have them.
    ///
    /// Row ``r`` has blocks in the columns ``colidx[rowptr[r]:rowptr[r + 1]]``, ascending. Loops may use every pair of maps whose targets meet
    /// in stored blocks.
    ///
    /// >>> import parloop.mesh as op2
    /// >>> nodes = op2.Set(3, "nodes")
    /// >>> op2.Sparsity.from_rows(nodes ** 1, [0, 2, 3, 4], [0, 1, 1, 2]).nz
    /// 4
    /// >>> op2.Sparsity.from_rows(nodes ** 1, [0, 2, 3, 4], [1, 0, 1, 2])
    /// Traceback (most recent call last):
    /// parloop.errors.MapValueError: the columns of row 0 must ascend, but 0 follows 1; sort them and remove duplicates
    #[staticmethod]
    #[pyo3(signature = (dsets, rowptr, colidx, name=None))]
    fn from_rows<'py>(
        dsets: &Bound<'py, PyAny>,
        rowptr: &Bound<'py, PyAny>,
        colidx: &Bound<'py, PyAny>,
        name: Option<&Bound<'py, PyAny>>,
    ) -> Result<Sparsity> {
        let (rows, columns) = both_datasets(dsets)?;
        let (starts, stored) = (numbers(rowptr, "row starts")?, numbers(colidx, "columns")?);
        // A value that does not fit is out of bounds of every set; the message shows the nearest value that fits.
        let narrow = |value: i64| i32::try_from(value).unwrap_or(if value < 0 { i32::MIN } else { i32::MAX });
        let stored: Vec<i32> = stored.into_iter().map(narrow).collect();
        let (name, row_data, column_data) = (name_of(name, "sparsity")?, &rows.get().mesh(), &columns.get().mesh());
        let made = dsets.py().detach(|| mesh::Sparsity::from_rows((row_data, column_data), starts, stored, name));
        let inner = made.map_err(|error| match error {
            mesh::MeshError::Making(_) => Error::from(Exception::MapValueError.error(error.to_string())),
            other => other.into(),
        })?;
        Ok(Sparsity { inner, dsets: (rows.unbind(), columns.unbind()), maps: Vec::new() })
    }

    /// The data sets of rows and columns.
    #[getter]
    fn dsets<'py>(&self, py: Python<'py>) -> (Bound<'py, DataSet>, Bound<'py, DataSet>) {
        (self.dsets.0.bind(py).clone(), self.dsets.1.bind(py).clone())
    }

    /// The pairs of maps.
    #[getter]
    fn maps<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, Map>, Bound<'py, Map>)> {
        self.maps.iter().map(|(rows, columns)| (rows.bind(py).clone(), columns.bind(py).clone())).collect()
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// How many rows and columns a block has.
    #[getter]
    fn block_shape(&self) -> (usize, usize) {
        (self.inner.rows().count(), self.inner.columns().count())
    }

    /// How many rows of blocks there are.
    #[getter]
    fn nrows(&self) -> usize {
        self.inner.pattern().rows()
    }

    /// How many columns of blocks there are.
    #[getter]
    fn ncols(&self) -> usize {
        self.inner.pattern().width()
    }

    /// How many blocks are stored.
    #[getter]
    fn nz(&self) -> usize {
        self.inner.pattern().stored()
    }

    /// Where the blocks of each row of blocks begin.
    #[getter]
    fn rowptr<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let starts: Vec<i32> = self.inner.pattern().starts().iter().map(|&start| start as i32).collect();
        integers_array(py, &starts)
    }

    /// The column of each block, row by row.
    #[getter]
    fn colidx<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        integers_array(py, self.inner.pattern().columns())
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let name = PyString::new(py, self.name()).repr()?;
        let (rows, columns) = self.block_shape();
        Ok(format!("<Sparsity {name}: {} of {} × {} blocks of {rows} × {columns}>", self.nz(), self.nrows(), self.ncols()))
    }
}
