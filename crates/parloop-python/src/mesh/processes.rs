//! `parloop.mesh.Comm` and `parloop.mesh.distribute`: meshes that several processes share.

use parloop_mesh as mesh;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::dat::Dat;
use super::given::{Integers, integers_array};
use super::set::Set;
use crate::error::{Error, Result};
use crate::exceptions::Exception;
use crate::ndarray::numpy_dtype;
use crate::number::describe;

/// Processes that work together, each known by its rank.
///
/// ``Comm.world()`` are all that ``mpirun`` started, or this process alone; no package is needed. An mpi4py communicator is accepted
/// wherever one is expected.
///
/// >>> import parloop.mesh as op2
/// >>> world = op2.Comm.world()
/// >>> world.rank < world.size
/// True
#[pyclass(frozen, weakref, module = "parloop.mesh")]
pub struct Comm {
    inner: mesh::Comm,
}

impl Comm {
    pub fn mesh(&self) -> &mesh::Comm {
        &self.inner
    }

    /// The processes that were given: ours, a communicator of mpi4py's, or without any the world.
    fn of(object: Option<&Bound<'_, PyAny>>, py: Python<'_>) -> Result<mesh::Comm> {
        let Some(object) = object.filter(|object| !object.is_none()) else {
            return Ok(py.detach(mesh::Comm::world).map_err(mesh::MeshError::from)?);
        };
        if let Ok(comm) = object.cast::<Comm>() {
            return Ok(comm.get().inner.clone());
        }
        let wrong = || -> Error {
            Exception::MeshError.error(format!("expected a Comm or an mpi4py communicator, not {}", describe(object))).into()
        };
        let module: String = object.get_type().getattr("__module__")?.extract()?;
        if module != "mpi4py.MPI" {
            return Err(wrong());
        }
        let api = py.import("mpi4py.MPI")?;
        if !object.is_instance(&api.getattr("Comm")?)? || object.call_method1("__eq__", (api.getattr("COMM_NULL")?,))?.is_truthy()? {
            return Err(wrong());
        }
        let handle: usize = api.call_method1("_handleof", (object,))?.extract()?;
        // SAFETY: mpi4py says that it is the handle of a communicator, which its object keeps; the library that it uses is loaded.
        Ok(py.detach(|| unsafe { mesh::Comm::from_handle(handle) }).map_err(mesh::MeshError::from)?)
    }
}

#[pymethods]
impl Comm {
    /// All processes that were started together.
    #[staticmethod]
    fn world(py: Python<'_>) -> Result<Comm> {
        Ok(Comm { inner: Comm::of(None, py)? })
    }

    /// The processes of a communicator of mpi4py's.
    #[new]
    fn new(comm: &Bound<'_, PyAny>) -> Result<Comm> {
        Ok(Comm { inner: Comm::of(Some(comm), comm.py())? })
    }

    /// Which of the processes this one is.
    #[getter]
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    /// How many there are.
    #[getter]
    fn size(&self) -> usize {
        self.inner.size()
    }

    /// The name of the MPI library that is used, if there is one.
    #[getter]
    fn library(&self) -> Option<&'static str> {
        self.inner.library()
    }

    /// Waits for all.
    fn barrier(&self, py: Python<'_>) -> Result<()> {
        Ok(py.detach(|| self.inner.barrier()).map_err(mesh::MeshError::from)?)
    }

    /// The bytes of each process, on all of them.
    fn gather_bytes<'py>(&self, py: Python<'py>, data: &[u8]) -> Result<Vec<Bound<'py, PyBytes>>> {
        let all = py.detach(|| self.inner.gather_all(data)).map_err(mesh::MeshError::from)?;
        Ok(all.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }

    /// The bytes of one process, on all of them; those of the others are ignored.
    #[pyo3(signature = (data, root=0))]
    fn broadcast_bytes<'py>(&self, py: Python<'py>, data: &[u8], root: usize) -> Result<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.inner.broadcast(data, root)).map_err(mesh::MeshError::from)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Ends all processes at once.
    #[pyo3(signature = (code=1))]
    fn abort(&self, code: i32) {
        self.inner.abort(code)
    }

    fn __repr__(&self) -> String {
        format!("<Comm: rank {} of {}>", self.inner.rank(), self.inner.size())
    }
}

/// Distributes the elements of a set with everything tied to it; see `parloop.mesh.distribute`.
#[pyfunction]
#[pyo3(name = "_distribute")]
pub fn distribute<'py>(
    set: &Bound<'py, PyAny>,
    by: &Bound<'py, PyAny>,
    coordinates: Option<&Bound<'py, PyAny>>,
    comm: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyDict>> {
    let py = set.py();
    let (set, comm) = (Set::of(set)?.get(), Comm::of(comm, py)?);
    let points = coordinates.filter(|coordinates| !coordinates.is_none()).map(Dat::of).transpose()?;
    let wrong = |reason: String| -> Error {
        Exception::SetValueError.error(format!("set `{}` cannot be distributed: {reason}", set.mesh().name())).into()
    };
    let mut ranks = Vec::new();
    let by = match by.cast::<PyString>() {
        Ok(name) => match (name.to_str()?, points) {
            ("graph", None) => mesh::By::Graph,
            ("coordinates", Some(points)) => {
                points.get().check_shared(py)?;
                mesh::By::Coordinates(points.get().mesh())
            }
            ("coordinates", None) => {
                return Err(wrong("by=\"coordinates\" needs coordinates=, a Dat on the set or on one that a map leads to".into()));
            }
            ("graph", Some(_)) => return Err(wrong("coordinates were given but are not used; pass by=\"coordinates\"".into())),
            (other, _) => {
                return Err(wrong(format!("unknown partitioning {other:?}; use \"graph\", \"coordinates\" or an array of ranks")));
            }
        },
        Err(_) => {
            let integers = Integers::of(by, |found| wrong(format!("ranks must be integers, not numbers of type {found}")))?;
            integers.each(&mut |place, value| {
                ranks.push(u32::try_from(value).map_err(|_| wrong(format!("element {place} is assigned to rank {value}")))?);
                Ok(())
            })?;
            mesh::By::Ranks(&ranks)
        }
    };
    let whole = set.mesh();
    let found = py.detach(|| mesh::distribute(whole, by, &comm))?;
    report(py, &found, &comm)
}

/// What is said about a set that was dealt out.
pub fn report<'py>(py: Python<'py>, report: &mesh::Report, comm: &mesh::Comm) -> Result<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("owned", &report.owned)?;
    found.set_item("imbalance", report.imbalance())?;
    found.set_item("cut", report.cut)?;
    found.set_item("neighbours", report.neighbours)?;
    found.set_item("ghosts", report.ghosts)?;
    found.set_item("comm", Bound::new(py, Comm { inner: comm.clone() })?)?;
    Ok(found)
}

#[pymethods]
impl Set {
    /// The processes that share the set, once it is distributed; this one alone before.
    #[getter(_processes)]
    fn processes(&self) -> Comm {
        Comm { inner: self.mesh().halo().map_or_else(mesh::Comm::alone, |halo| halo.comm().clone()) }
    }

    /// Whether processes share the set.
    #[getter]
    fn is_distributed(&self) -> bool {
        self.mesh().halo().is_some()
    }

    /// How many elements all processes have together; of a subset only this process knows its own.
    #[getter]
    fn global_size(&self) -> usize {
        let set = self.mesh();
        match (set.halo(), set.indices()) {
            (Some(halo), None) => halo.whole(),
            _ => set.size(),
        }
    }

    /// For each element, including ghosts, its number before the set was distributed.
    #[getter]
    fn global_numbers<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let set = self.mesh();
        let numbers = |element: i32| set.halo().map_or(element, |halo| halo.numbers()[element as usize]);
        let all: Vec<i32> = match set.indices() {
            Some(indices) => indices.iter().copied().map(numbers).collect(),
            None => (0..set.sizes().total as i32).map(numbers).collect(),
        };
        integers_array(py, &all)
    }

    /// For each row of data on the set, including ghosts, its number before the set was distributed, and how many rows all processes have together.
    #[getter(_global_rows)]
    fn global_rows<'py>(&self, py: Python<'py>) -> Result<(Bound<'py, PyAny>, usize)> {
        let set = self.mesh();
        match set.row_halo() {
            Some(halo) => Ok((integers_array(py, halo.numbers())?, halo.whole())),
            None => Ok((integers_array(py, &(0..set.rows() as i32).collect::<Vec<_>>())?, set.owned_rows())),
        }
    }
}

#[pymethods]
impl Dat {
    /// Updates stale ghosts from their owners. Collective: all processes must call it.
    fn renew_ghosts(&self, py: Python<'_>) -> Result<()> {
        self.check_shared(py)?;
        Ok(py.detach(|| self.mesh().renew_ghosts())?)
    }

    /// The numbers of all processes, in the order that the set had before it was distributed, on every process. Collective: all processes
    /// must call it.
    fn gather<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        this.check_shared(py)?;
        let bytes = py.detach(|| this.mesh().gather_bytes())?;
        let numpy = py.import("numpy")?;
        let numbers = numpy.call_method1("frombuffer", (PyBytes::new(py, &bytes), numpy_dtype(py, this.mesh().dtype())?))?;
        let set = this.mesh().dataset().set();
        let rows = set.row_halo().map_or(set.owned_rows(), mesh::Halo::whole);
        Ok(numbers.call_method1("reshape", (this.shape_of(rows),))?.call_method0("copy")?)
    }
}
