//! `parloop.mesh.Global` and `parloop.mesh.Constant`: numbers that all elements share.

use parloop_mesh as mesh;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::access::Access;
use super::arg::Arg;
use super::given::{dim_of, name_of};
use super::shown::ShownNumbers;
use super::values::{Purpose, converted, dtype_given, host_view, storage, to_host, warn_of_copy};
use crate::context::current_context;
use crate::error::Result;
use crate::exceptions::Exception;
use crate::html::html;
use crate::ndarray::{NdArray, numpy_dtype};
use crate::recording::check_storage;

/// Values that all elements of a loop share: read by each element, or reduced (sum, minimum, maximum).
///
/// >>> import parloop.mesh as op2
/// >>> total = op2.Global(1, 2.0, name="total")
/// >>> (total + 3).data_ro
/// array([5.])
#[pyclass(frozen, subclass, weakref, module = "parloop.mesh")]
pub struct Global {
    pub inner: mesh::Global,
}

/// Numbers that all elements of a loop share and no loop changes.
///
/// >>> import parloop.mesh as op2
/// >>> gravity = op2.Constant(3, [0, 0, -9.81], name="gravity")
/// >>> gravity.data_ro
/// array([ 0.  ,  0.  , -9.81])
#[pyclass(frozen, subclass, extends = Global, module = "parloop.mesh")]
pub struct Constant;

impl Global {
    fn make<'py>(
        dim: &Bound<'py, PyAny>,
        data: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        name: Option<&Bound<'py, PyAny>>,
        is_constant: bool,
    ) -> Result<Global> {
        let py = dim.py();
        if let Ok(other) = dim.cast::<Global>() {
            let inner = &other.get().inner;
            let name = name.map_or_else(|| Ok(format!("copy_of_{}", inner.name())), |name| name_of(Some(name), "global"))?;
            let values = Global::shown(other, Purpose::Look)?.call_method0("copy")?;
            let storage = storage(py, Some(&values), None, 1, inner.count())?;
            return Ok(Global { inner: mesh::Global::around(inner.axes(), storage, name, is_constant)? });
        }
        let name = name_of(name, if is_constant { "constant" } else { "global" })?;
        let axes = dim_of(dim, &name, 1)?;
        let storage = storage(py, data, dtype_given(dtype)?, 1, axes.iter().product())?;
        Ok(Global { inner: mesh::Global::around(&axes[..], storage, name, is_constant)? })
    }

    fn shown<'py>(slf: &Bound<'py, Self>, purpose: Purpose) -> Result<Bound<'py, PyAny>> {
        let inner = &slf.get().inner;
        let memory = to_host(slf.py(), inner.storage(), purpose)?;
        // SAFETY: the object keeps its storage, which has as many numbers as its axes say.
        unsafe { host_view(slf.as_any().clone(), memory, inner.dtype(), inner.axes(), purpose.writes()) }
    }

    /// Numbers of the same kind with these values.
    fn like<'py>(slf: &Bound<'py, Self>, values: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let inner = &slf.get().inner;
        let storage = storage(slf.py(), Some(values), Some(inner.dtype()), 1, inner.count())?;
        let global = Global { inner: mesh::Global::around(inner.axes(), storage, inner.name(), inner.is_constant())? };
        if inner.is_constant() {
            return Ok(Bound::new(slf.py(), PyClassInitializer::from(global).add_subclass(Constant))?.into_any());
        }
        Ok(Bound::new(slf.py(), global)?.into_any())
    }

    fn operate<'py>(slf: &Bound<'py, Self>, name: &str, other: &Bound<'py, PyAny>, is_turned: bool) -> Result<Bound<'py, PyAny>> {
        let (own, other) = (Global::shown(slf, Purpose::Look)?, operand(other)?);
        if other.cast::<super::dat::Dat>().is_ok() {
            return Ok(slf.py().NotImplemented().into_bound(slf.py()));
        }
        let pair = if is_turned { (other, own) } else { (own, other) };
        let values = slf.py().import("operator")?.call_method1(name, pair)?;
        Global::like(slf, &Global::fitting(slf, &values)?)
    }

    fn change<'py>(slf: &Bound<'py, Self>, name: &str, other: &Bound<'py, PyAny>) -> Result<()> {
        let values = slf.py().import("operator")?.call_method1(name, (Global::shown(slf, Purpose::Look)?, operand(other)?))?;
        Global::write(slf, &Global::fitting(slf, &values)?)
    }

    /// The values, if the type of these numbers holds them and they are as many.
    fn fitting<'py>(slf: &Bound<'py, Self>, values: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let inner = &slf.get().inner;
        let values = converted(values, Some(inner.dtype()))?;
        let found = NdArray::of(&values)?.map_or(0, |array| array.size());
        match found == inner.count() {
            true => Ok(values),
            false => Err(mesh::MeshError::Length { asked: inner.count(), found }.into()),
        }
    }

    fn few_numbers<'py>(slf: &Bound<'py, Self>) -> Result<Option<ShownNumbers<'py>>> {
        let inner = &slf.get().inner;
        ShownNumbers::of(slf.py(), inner.storage(), None, inner.axes())
    }

    fn write<'py>(slf: &Bound<'py, Self>, values: &Bound<'py, PyAny>) -> Result<()> {
        let values = Global::fitting(slf, values)?.call_method1("reshape", (PyTuple::new(slf.py(), slf.get().inner.axes())?,))?;
        Ok(Global::shown(slf, Purpose::Replace)?.set_item(slf.py().Ellipsis(), values)?)
    }
}

/// The other operand: the values of a `Global`, or the object itself.
fn operand<'py>(other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    match other.cast::<Global>() {
        Ok(other) => Global::shown(other, Purpose::Look),
        Err(_) => Ok(other.clone()),
    }
}

#[pymethods]
impl Global {
    /// NumPy defers operators to us; otherwise it would create an array of Globals.
    #[classattr]
    #[pyo3(name = "__array_ufunc__")]
    fn array_ufunc(py: Python<'_>) -> Py<PyAny> {
        py.None()
    }

    #[new]
    #[pyo3(signature = (dim, data=None, dtype=None, name=None))]
    fn new<'py>(
        dim: &Bound<'py, PyAny>,
        data: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        name: Option<&Bound<'py, PyAny>>,
    ) -> Result<Global> {
        Global::make(dim, data, dtype, name, false)
    }

    /// An argument of a loop.
    fn __call__<'py>(slf: &Bound<'py, Self>, access: &Bound<'py, PyAny>) -> Result<Arg> {
        let access = Access::of(access)?;
        let (kind, allowed) = match slf.get().inner.is_constant() {
            true => ("a Constant", &[Access::READ][..]),
            false => ("a Global", &[Access::READ, Access::INC, Access::MIN, Access::MAX][..]),
        };
        if !allowed.contains(&access) {
            let allowed: Vec<&str> = allowed.iter().map(|&access| mesh::Access::from(access).name()).collect();
            let (name, access) = (slf.get().inner.name(), mesh::Access::from(access).name());
            let message = format!("{access} is not allowed for `{name}`, which is {kind}, only {}", allowed.join(", "));
            return Err(Exception::ModeValueError.error(message).into());
        }
        Ok(Arg::new(mesh::Arg::global(&slf.get().inner, access.into()), slf.as_any(), access, None))
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The type of the numbers.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numpy_dtype(py, self.inner.dtype())
    }

    /// The lengths of the axes.
    #[getter]
    fn dim<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.axes())
    }

    /// How many numbers.
    #[getter]
    fn cdim(&self) -> usize {
        self.inner.count()
    }

    /// The lengths of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.dim(py)
    }

    /// The bytes of the numbers.
    #[getter]
    fn nbytes(&self) -> usize {
        self.inner.count() * self.inner.dtype().size()
    }

    /// The numbers, which may be changed through the array; an assignment replaces them.
    #[getter]
    fn data<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Global::shown(slf, Purpose::Change)
    }

    #[setter]
    fn set_data<'py>(slf: &Bound<'py, Self>, values: &Bound<'py, PyAny>) -> Result<()> {
        Global::write(slf, values)
    }

    /// The numbers, to look at.
    #[getter]
    fn data_ro<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Global::shown(slf, Purpose::Look)
    }

    /// The values, all of which must be written; entries that are not written keep stale values.
    #[getter]
    fn data_wo<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Global::shown(slf, Purpose::Replace)
    }

    /// How often the numbers were, or may have been, changed.
    #[getter]
    fn dat_version(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.inner.storage().version())
    }

    /// Sets all numbers to zero on the current context, so it can be recorded and a loop there need not wait.
    fn zero(&self, py: Python<'_>) -> Result<()> {
        let context = current_context(py)?;
        let context = &context.get().inner;
        check_storage(py, self.inner.storage())?;
        Ok(py.detach(|| self.inner.storage().zero(context))?)
    }

    /// Returns a copy. ``total.copy(other)`` is a deprecated alias of `copy_to`.
    #[pyo3(signature = (other=None))]
    fn copy<'py>(slf: &Bound<'py, Self>, other: Option<&Bound<'py, Global>>) -> Result<Bound<'py, PyAny>> {
        match other {
            None => Global::duplicate(slf),
            Some(other) => {
                warn_of_copy(slf.py())?;
                Global::copy_to(slf, other)?;
                Ok(slf.py().None().into_bound(slf.py()))
            }
        }
    }

    /// Copies the numbers into another of the same dimension.
    fn copy_to<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, Global>) -> Result<()> {
        Global::write(other, &Global::shown(slf, Purpose::Look)?)
    }

    /// Another with the same numbers.
    fn duplicate<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Global::like(slf, &Global::shown(slf, Purpose::Look)?.call_method0("copy")?)
    }

    /// The inner product with another; its values are conjugated.
    fn inner<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Ok(slf.py().import("numpy")?.call_method1("vdot", (operand(other)?, Global::shown(slf, Purpose::Look)?))?)
    }

    fn __pos__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Global::duplicate(slf)
    }

    fn __neg__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Global::like(slf, &Global::shown(slf, Purpose::Look)?.neg()?)
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Global::operate(slf, "add", other, false)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Global::operate(slf, "add", other, true)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Global::operate(slf, "sub", other, false)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Global::operate(slf, "sub", other, true)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Global::operate(slf, "mul", other, false)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Global::operate(slf, "mul", other, true)
    }

    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Global::operate(slf, "truediv", other, false)
    }

    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Global::operate(slf, "truediv", other, true)
    }

    fn __iadd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<()> {
        Global::change(slf, "add", other)
    }

    fn __isub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<()> {
        Global::change(slf, "sub", other)
    }

    fn __imul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<()> {
        Global::change(slf, "mul", other)
    }

    fn __itruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<()> {
        Global::change(slf, "truediv", other)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let (values, is_whole) = Global::few_numbers(slf)?.map(|shown| (shown.values, shown.is_whole)).unzip();
        Ok(html(slf.py(), "global_numbers", (slf, values, is_whole))?)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> Result<String> {
        let (py, inner) = (slf.py(), &slf.get().inner);
        let dim = match inner.axes() {
            [only] => only.to_string(),
            axes => PyTuple::new(py, axes)?.repr()?.to_string(),
        };
        let begin = format!("{}({dim}, ", if inner.is_constant() { "Constant" } else { "Global" });
        let values = match Global::few_numbers(slf)? {
            Some(shown) if shown.is_whole => shown.values.call_method0("tolist")?.to_string(),
            Some(shown) => shown.text(&begin)?,
            None => "...".to_owned(),
        };
        Ok(format!("{begin}{values}, dtype={}, name={})", inner.dtype(), PyString::new(py, inner.name()).repr()?))
    }
}

#[pymethods]
impl Constant {
    #[new]
    #[pyo3(signature = (dim, data=None, dtype=None, name=None))]
    fn new<'py>(
        dim: &Bound<'py, PyAny>,
        data: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        name: Option<&Bound<'py, PyAny>>,
    ) -> Result<PyClassInitializer<Constant>> {
        Ok(PyClassInitializer::from(Global::make(dim, data, dtype, name, true)?).add_subclass(Constant))
    }
}
