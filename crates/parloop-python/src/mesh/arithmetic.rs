//! Operators of `parloop.mesh.Dat` and other arithmetic on whole data.

use parloop_kernel::{self as ker, Scalar};
use parloop_mesh::{self as mesh, Operand, Operation, Rounding, Sides};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::dat::Dat;
use super::global::Global;
use super::set::Set;
use super::values::{Purpose, host_view, to_host, warn_of_copy};
use crate::array::Array;
use crate::context::current_context;
use crate::error::Result;
use crate::exceptions::Exception;
use crate::loops::number;
use crate::ndarray::NdArray;
use crate::number::describe;
use crate::recording::check_storage;
use crate::released::released;

/// The other side of an operator.
enum Other<'a, 'py> {
    Dat(&'a Bound<'py, Dat>),
    Global(&'a Bound<'py, Global>),
    Number(Scalar),
}

impl<'a, 'py> Other<'a, 'py> {
    /// What was given; `None` when data has no operators with it.
    fn of(object: &'a Bound<'py, PyAny>) -> Result<Option<Other<'a, 'py>>> {
        if let Ok(dat) = object.cast::<Dat>() {
            return Ok(Some(Other::Dat(dat)));
        }
        if let Ok(global) = object.cast::<Global>() {
            return Ok(Some(Other::Global(global)));
        }
        Ok(number(object)?.map(Other::Number))
    }

    fn check_shared(&self, py: Python<'_>) -> Result<()> {
        match self {
            Other::Dat(dat) => dat.get().check_shared(py),
            Other::Global(global) => check_storage(py, global.get().inner.storage()),
            Other::Number(_) => Ok(()),
        }
    }

    fn operand(&self) -> Operand<'_> {
        match self {
            Other::Dat(dat) => Operand::Dat(dat.get().mesh()),
            Other::Global(global) => Operand::Global(&global.get().inner),
            Other::Number(number) => Operand::Number(*number),
        }
    }
}

/// What data is multiplied with.
fn factor<'a, 'py>(alpha: &'a Bound<'py, PyAny>) -> Result<Other<'a, 'py>> {
    let wrong = || PyTypeError::new_err(format!("a factor must be a number or a Global, not {}", describe(alpha)));
    Ok(Other::of(alpha)?.ok_or_else(wrong)?)
}

/// Whether an operand is an array, of NumPy's or of ours, or a list.
fn is_array(object: &Bound<'_, PyAny>) -> Result<bool> {
    Ok(object.is_instance_of::<Array>() || object.is_instance_of::<PyList>() || NdArray::of(object)?.is_some())
}

/// What to write in place of an operator with an array.
fn of_array(dat: &Dat, other: &Bound<'_, PyAny>) -> PyErr {
    let (name, kind) = (dat.mesh().name(), describe(other));
    PyTypeError::new_err(format!(
        "Dat `{name}` can be combined with a number, a Global or a Dat, not with {kind}; \
         use its numbers (dat.data_ro, or dat.data to change them), or make a Dat of the array (op2.Dat(dat.dataset, array))"
    ))
}

fn rounding(truncate: bool) -> Rounding {
    if truncate { Rounding::Truncate } else { Rounding::Refuse }
}

fn operation(name: &str) -> Result<Operation> {
    match name {
        "add" => Ok(Operation::Add),
        "sub" => Ok(Operation::Subtract),
        "mul" => Ok(Operation::Multiply),
        "truediv" => Ok(Operation::Divide),
        _ => Err(PyTypeError::new_err(format!("unknown operation {name:?}")).into()),
    }
}

impl Dat {
    /// Runs `work` on the current context without holding Python.
    fn compute<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&ker::Context) -> mesh::Result<T> + Send) -> Result<T> {
        let context = current_context(py)?;
        let context = &context.get().inner;
        Ok(released(py, || work(context))?)
    }

    /// Zeros of the same kind and class.
    fn alike<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, Dat>> {
        let (py, this) = (slf.py(), slf.get());
        if slf.as_any().is_exact_instance_of::<Dat>() {
            return Ok(Bound::new(py, this.like(py, this.mesh().zeros_alike()?))?);
        }
        let made = slf.get_type().call1((slf.getattr("dataset")?, py.None(), slf.getattr("dtype")?))?;
        Ok(made.cast_into::<Dat>()?)
    }

    fn combine<'py>(
        slf: &Bound<'py, Self>,
        operation: Operation,
        other: &Bound<'py, PyAny>,
        is_turned: bool,
        rounding: Rounding,
    ) -> Result<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let Some(other) = Other::of(other)? else {
            // Python would say that the types are not supported, and NumPy that a Dat has no ufuncs; neither says what to do.
            return if is_array(other)? { Err(of_array(this, other).into()) } else { Ok(py.NotImplemented().into_bound(py)) };
        };
        let sides = Sides { other: other.operand(), is_turned, rounding };
        let result = Dat::alike(slf)?;
        this.check_shared(py)?;
        other.check_shared(py)?;
        let into = result.get().mesh();
        this.compute(py, |context| this.mesh().combine_into(into, operation, sides, context))?;
        Ok(result.into_any())
    }

    fn update(slf: &Bound<'_, Self>, operation: Operation, other: &Bound<'_, PyAny>, rounding: Rounding) -> Result<()> {
        let this = slf.get();
        let Some(found) = Other::of(other)? else {
            return Err(match is_array(other)? {
                true => of_array(this, other),
                false => {
                    PyTypeError::new_err(format!("a Dat can be combined with a number, a Global or a Dat, not with {}", describe(other)))
                }
            }
            .into());
        };
        let operand = found.operand();
        this.check_shared(slf.py())?;
        found.check_shared(slf.py())?;
        this.compute(slf.py(), |context| this.mesh().update(operation, operand, rounding, context))
    }
}

/// The set of a subset that was given, checked to be one of the data's.
fn subset_of<'a>(dat: &mesh::Dat, subset: &'a Bound<'_, PyAny>) -> Result<&'a mesh::Set> {
    let set = Set::of(subset)?.get().mesh();
    let on = dat.dataset().set();
    if set.base() == on {
        return Ok(set);
    }
    let message = format!("data `{}` is on set `{}`, but the subset is of `{}`", dat.name(), on.name(), set.base().name());
    Err(Exception::MapValueError.error(message).into())
}

#[pymethods]
impl Dat {
    /// Sets the values to zero: all, including ghosts, or those of a subset.
    #[pyo3(signature = (subset=None))]
    fn zero<'py>(slf: &Bound<'py, Self>, subset: Option<&Bound<'py, PyAny>>) -> Result<()> {
        let this = slf.get();
        this.check_shared(slf.py())?;
        match subset.filter(|subset| !subset.is_none()) {
            None => {
                slf.py().detach(|| this.mesh().zero())?;
                this.set_ghosts_valid(slf.py(), true);
                Ok(())
            }
            Some(subset) => {
                let subset = subset_of(this.mesh(), subset)?;
                this.compute(slf.py(), |context| this.mesh().zero_on(subset, context))
            }
        }
    }

    /// Returns a copy. ``dat.copy(other)`` is a deprecated alias of `copy_to`.
    #[pyo3(signature = (other=None, subset=None))]
    fn copy<'py>(
        slf: &Bound<'py, Self>,
        other: Option<&Bound<'py, PyAny>>,
        subset: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>> {
        match other {
            None => Ok(slf.py().get_type::<Dat>().call1((slf,))?),
            Some(other) => {
                warn_of_copy(slf.py())?;
                Dat::copy_to(slf, other, subset)?;
                Ok(slf.py().None().into_bound(slf.py()))
            }
        }
    }

    /// Copies the values into another: all, including ghosts, or those of a subset.
    #[pyo3(signature = (other, subset=None))]
    fn copy_to<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>, subset: Option<&Bound<'py, PyAny>>) -> Result<()> {
        let (this, other) = (slf.get(), Dat::of(other)?.get());
        this.check_shared(slf.py())?;
        other.check_shared(slf.py())?;
        match subset.filter(|subset| !subset.is_none()) {
            None => {
                slf.py().detach(|| this.mesh().copy_to(other.mesh()))?;
                other.take_validity(slf.py(), this);
                Ok(())
            }
            Some(subset) => {
                let subset = subset_of(this.mesh(), subset)?;
                this.compute(slf.py(), |context| this.mesh().copy_on(other.mesh(), subset, context))
            }
        }
    }

    /// The inner product with another; its values are conjugated.
    fn inner<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let (py, this, other) = (slf.py(), slf.get(), Dat::of(other)?.get());
        this.check_shared(py)?;
        other.check_shared(py)?;
        let sum = this.compute(py, |context| this.mesh().inner(other.mesh(), context))?;
        let memory = to_host(py, sum.storage(), Purpose::Look)?.clone();
        let (dtype, owner) = (sum.dtype(), Bound::new(py, Global { inner: sum })?);
        // SAFETY: the object keeps the storage of the one number.
        Ok(unsafe { host_view(owner.into_any(), &memory, dtype, &[1], false)? }.get_item(0)?)
    }

    /// The square root of the inner product with itself.
    #[getter]
    fn norm(&self, py: Python<'_>) -> Result<f64> {
        self.check_shared(py)?;
        self.compute(py, |context| self.mesh().norm(context))
    }

    /// Adds a multiple of another: ``self += alpha * other``.
    fn axpy<'py>(slf: &Bound<'py, Self>, alpha: &Bound<'py, PyAny>, other: &Bound<'py, PyAny>) -> Result<()> {
        let (this, other) = (slf.get(), Dat::of(other)?.get());
        let alpha = factor(alpha)?;
        let factor = alpha.operand();
        this.check_shared(slf.py())?;
        other.check_shared(slf.py())?;
        alpha.check_shared(slf.py())?;
        this.compute(slf.py(), |context| this.mesh().axpy(factor, other.mesh(), context))
    }

    /// Adds multiples of others: ``self += alphas[0] * others[0] + alphas[1] * others[1] + ...``.
    ///
    /// Nothing changes if one of them does not match. The data itself may be among the others.
    fn maxpy<'py>(slf: &Bound<'py, Self>, alphas: &Bound<'py, PyAny>, others: &Bound<'py, PyAny>) -> Result<()> {
        let alphas = alphas.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        let others = others.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        if alphas.len() != others.len() {
            let message = format!("{} factors were given for {} Dats; give one for each", alphas.len(), others.len());
            return Err(Exception::DataValueError.error(message).into());
        }
        let this = slf.get();
        let mut summands = Vec::with_capacity(others.len());
        for (alpha, other) in alphas.iter().zip(&others) {
            summands.push((factor(alpha)?, Dat::of(other)?.get()));
        }
        this.check_shared(slf.py())?;
        for (alpha, other) in &summands {
            other.check_shared(slf.py())?;
            alpha.check_shared(slf.py())?;
        }
        let summands: Vec<_> = summands.iter().map(|(alpha, other)| (alpha.operand(), other.mesh())).collect();
        this.compute(slf.py(), |context| this.mesh().maxpy(&summands, context))
    }

    /// `self op other`, or reversed; `truncate` drops the fractional part of results that the type cannot hold.
    #[pyo3(name = "_combine", signature = (operation, other, turned=false, truncate=false))]
    fn combine_by_name<'py>(
        slf: &Bound<'py, Self>,
        operation: &str,
        other: &Bound<'py, PyAny>,
        turned: bool,
        truncate: bool,
    ) -> Result<Bound<'py, PyAny>> {
        Dat::combine(slf, self::operation(operation)?, other, turned, rounding(truncate))
    }

    /// `self op= other`; `truncate` drops the fractional part of results that the type cannot hold.
    #[pyo3(name = "_update", signature = (operation, other, truncate=false))]
    fn update_by_name<'py>(slf: &Bound<'py, Self>, operation: &str, other: &Bound<'py, PyAny>, truncate: bool) -> Result<()> {
        Dat::update(slf, self::operation(operation)?, other, rounding(truncate))
    }

    /// NumPy defers operators to us; otherwise it would create an array of Dats.
    #[classattr]
    #[pyo3(name = "__array_ufunc__")]
    fn array_ufunc(py: Python<'_>) -> Py<PyAny> {
        py.None()
    }

    fn __pos__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        Ok(slf.get_type().call1((slf,))?)
    }

    fn __neg__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let result = Dat::alike(slf)?;
        let into = result.get().mesh();
        this.check_shared(py)?;
        this.compute(py, |context| this.mesh().negate_into(into, context))?;
        Ok(result.into_any())
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Dat::combine(slf, Operation::Add, other, false, Rounding::Refuse)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Dat::combine(slf, Operation::Add, other, true, Rounding::Refuse)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Dat::combine(slf, Operation::Subtract, other, false, Rounding::Refuse)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Dat::combine(slf, Operation::Subtract, other, true, Rounding::Refuse)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Dat::combine(slf, Operation::Multiply, other, false, Rounding::Refuse)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Dat::combine(slf, Operation::Multiply, other, true, Rounding::Refuse)
    }

    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Dat::combine(slf, Operation::Divide, other, false, Rounding::Refuse)
    }

    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        Dat::combine(slf, Operation::Divide, other, true, Rounding::Refuse)
    }

    fn __iadd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<()> {
        Dat::update(slf, Operation::Add, other, Rounding::Refuse)
    }

    fn __isub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<()> {
        Dat::update(slf, Operation::Subtract, other, Rounding::Refuse)
    }

    fn __imul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<()> {
        Dat::update(slf, Operation::Multiply, other, Rounding::Refuse)
    }

    fn __itruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Result<()> {
        Dat::update(slf, Operation::Divide, other, Rounding::Refuse)
    }
}
