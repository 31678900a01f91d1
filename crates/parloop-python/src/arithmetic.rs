//! Arithmetic and the other methods that `parloop.Array` shares with NumPy's arrays: hooks into `parloop._arithmetic` and
//! `parloop._indexing`, which do the work.

use pyo3::basic::CompareOp;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::array::{Array, indexing};
use crate::error::Result;
use crate::layout::Layout;
use crate::ndarray::dtype_of;

type Object<'py> = Bound<'py, PyAny>;

/// `parloop._arithmetic`.
fn arithmetic(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    Ok(MODULE.get_or_try_init(py, || py.import("parloop._arithmetic").map(Bound::unbind))?.bind(py))
}

/// `x op other`, by the name of NumPy's function.
fn binary<'py>(x: &Bound<'py, Array>, name: &str, other: &Object<'py>) -> PyResult<Object<'py>> {
    arithmetic(x.py())?.call_method1("binary", (name, x, other, false))
}

/// `other op x`.
fn reflected<'py>(x: &Bound<'py, Array>, name: &str, other: &Object<'py>) -> PyResult<Object<'py>> {
    arithmetic(x.py())?.call_method1("binary", (name, x, other, true))
}

/// `x op= other`.
fn in_place(x: &Bound<'_, Array>, name: &str, other: &Object<'_>) -> PyResult<()> {
    arithmetic(x.py())?.call_method1("in_place", (name, x, other)).map(drop)
}

fn unary<'py>(x: &Bound<'py, Array>, name: &str) -> PyResult<Object<'py>> {
    arithmetic(x.py())?.call_method1("unary", (name, x))
}

fn reduce<'py>(
    x: &Bound<'py, Array>,
    name: &str,
    axis: Option<Object<'py>>,
    dtype: Option<Object<'py>>,
    keepdims: bool,
) -> PyResult<Object<'py>> {
    arithmetic(x.py())?.call_method1("reduce", (name, x, axis, dtype, keepdims))
}

fn shaped<'py>(x: &Bound<'py, Array>, name: &str, arguments: &Bound<'py, PyTuple>) -> PyResult<Object<'py>> {
    indexing(x.py())?.call_method1(name, (x, arguments))
}

/// The one element as a NumPy scalar, for Python's own conversions.
fn only<'py>(x: &Bound<'py, Array>, method: &str) -> PyResult<Object<'py>> {
    x.call_method0("numpy")?.call_method0(method)
}

#[pymethods]
impl Array {
    /// NumPy's arrays leave operations with these arrays to us.
    #[classattr]
    #[allow(non_upper_case_globals)] // NumPy's name
    const __array_priority__: f64 = 1000.0;

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(slf, "add", other)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        reflected(slf, "add", other)
    }

    fn __iadd__(slf: &Bound<'_, Self>, other: &Object<'_>) -> PyResult<()> {
        in_place(slf, "add", other)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(slf, "subtract", other)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        reflected(slf, "subtract", other)
    }

    fn __isub__(slf: &Bound<'_, Self>, other: &Object<'_>) -> PyResult<()> {
        in_place(slf, "subtract", other)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(slf, "multiply", other)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        reflected(slf, "multiply", other)
    }

    fn __imul__(slf: &Bound<'_, Self>, other: &Object<'_>) -> PyResult<()> {
        in_place(slf, "multiply", other)
    }

    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(slf, "divide", other)
    }

    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        reflected(slf, "divide", other)
    }

    fn __itruediv__(slf: &Bound<'_, Self>, other: &Object<'_>) -> PyResult<()> {
        in_place(slf, "divide", other)
    }

    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(slf, "floor_divide", other)
    }

    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        reflected(slf, "floor_divide", other)
    }

    fn __ifloordiv__(slf: &Bound<'_, Self>, other: &Object<'_>) -> PyResult<()> {
        in_place(slf, "floor_divide", other)
    }

    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(slf, "remainder", other)
    }

    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        reflected(slf, "remainder", other)
    }

    fn __imod__(slf: &Bound<'_, Self>, other: &Object<'_>) -> PyResult<()> {
        in_place(slf, "remainder", other)
    }

    fn __pow__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>, modulo: Option<Object<'py>>) -> PyResult<Object<'py>> {
        if modulo.is_some() { Ok(slf.py().NotImplemented().into_bound(slf.py())) } else { binary(slf, "power", other) }
    }

    fn __rpow__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>, modulo: Option<Object<'py>>) -> PyResult<Object<'py>> {
        if modulo.is_some() { Ok(slf.py().NotImplemented().into_bound(slf.py())) } else { reflected(slf, "power", other) }
    }

    fn __ipow__(slf: &Bound<'_, Self>, other: &Object<'_>, _modulo: Option<Object<'_>>) -> PyResult<()> {
        in_place(slf, "power", other)
    }

    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(slf, "bitwise_and", other)
    }

    fn __rand__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        reflected(slf, "bitwise_and", other)
    }

    fn __iand__(slf: &Bound<'_, Self>, other: &Object<'_>) -> PyResult<()> {
        in_place(slf, "bitwise_and", other)
    }

    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(slf, "bitwise_or", other)
    }

    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        reflected(slf, "bitwise_or", other)
    }

    fn __ior__(slf: &Bound<'_, Self>, other: &Object<'_>) -> PyResult<()> {
        in_place(slf, "bitwise_or", other)
    }

    fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(slf, "bitwise_xor", other)
    }

    fn __rxor__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        reflected(slf, "bitwise_xor", other)
    }

    fn __ixor__(slf: &Bound<'_, Self>, other: &Object<'_>) -> PyResult<()> {
        in_place(slf, "bitwise_xor", other)
    }

    fn __lshift__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(slf, "left_shift", other)
    }

    fn __rlshift__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        reflected(slf, "left_shift", other)
    }

    fn __ilshift__(slf: &Bound<'_, Self>, other: &Object<'_>) -> PyResult<()> {
        in_place(slf, "left_shift", other)
    }

    fn __rshift__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(slf, "right_shift", other)
    }

    fn __rrshift__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        reflected(slf, "right_shift", other)
    }

    fn __irshift__(slf: &Bound<'_, Self>, other: &Object<'_>) -> PyResult<()> {
        in_place(slf, "right_shift", other)
    }

    fn __matmul__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        arithmetic(slf.py())?.call_method1("matmul", (slf, other, false))
    }

    fn __rmatmul__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        arithmetic(slf.py())?.call_method1("matmul", (slf, other, true))
    }

    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        unary(slf, "negative")
    }

    fn __pos__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        unary(slf, "positive")
    }

    fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        unary(slf, "absolute")
    }

    fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        unary(slf, "invert")
    }

    fn __richcmp__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>, op: CompareOp) -> PyResult<Object<'py>> {
        let name = match op {
            CompareOp::Lt => "less",
            CompareOp::Le => "less_equal",
            CompareOp::Eq => "equal",
            CompareOp::Ne => "not_equal",
            CompareOp::Gt => "greater",
            CompareOp::Ge => "greater_equal",
        };
        binary(slf, name, other)
    }

    fn __bool__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        if slf.get().layout.size() != 1 {
            let reason = "the truth value of an array that does not have exactly one element is undefined; use .any() or .all()";
            return Err(PyValueError::new_err(reason));
        }
        slf.call_method0("numpy")?.is_truthy()
    }

    fn __int__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        slf.py().get_type::<pyo3::types::PyInt>().call1((only(slf, "item")?,))
    }

    fn __float__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        slf.py().get_type::<pyo3::types::PyFloat>().call1((only(slf, "item")?,))
    }

    fn __complex__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        slf.py().get_type::<pyo3::types::PyComplex>().call1((only(slf, "item")?,))
    }

    fn __index__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        only(slf, "__index__")
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        indexing(slf.py())?.call_method1("elements", (slf,))
    }

    fn __contains__(slf: &Bound<'_, Self>, value: &Object<'_>) -> PyResult<bool> {
        indexing(slf.py())?.call_method1("contains", (slf, value))?.is_truthy()
    }

    /// The sum of all elements, or along an axis.
    #[pyo3(signature = (axis=None, dtype=None, *, keepdims=false))]
    fn sum<'py>(slf: &Bound<'py, Self>, axis: Option<Object<'py>>, dtype: Option<Object<'py>>, keepdims: bool) -> PyResult<Object<'py>> {
        reduce(slf, "sum", axis, dtype, keepdims)
    }

    /// The product of all elements, or along an axis.
    #[pyo3(signature = (axis=None, dtype=None, *, keepdims=false))]
    fn prod<'py>(slf: &Bound<'py, Self>, axis: Option<Object<'py>>, dtype: Option<Object<'py>>, keepdims: bool) -> PyResult<Object<'py>> {
        reduce(slf, "prod", axis, dtype, keepdims)
    }

    /// The mean of all elements, or along an axis.
    #[pyo3(signature = (axis=None, dtype=None, *, keepdims=false))]
    fn mean<'py>(slf: &Bound<'py, Self>, axis: Option<Object<'py>>, dtype: Option<Object<'py>>, keepdims: bool) -> PyResult<Object<'py>> {
        reduce(slf, "mean", axis, dtype, keepdims)
    }

    /// The smallest element, or along an axis; not-a-number if there is one.
    #[pyo3(signature = (axis=None, *, keepdims=false))]
    fn min<'py>(slf: &Bound<'py, Self>, axis: Option<Object<'py>>, keepdims: bool) -> PyResult<Object<'py>> {
        reduce(slf, "min", axis, None, keepdims)
    }

    /// The largest element, or along an axis; not-a-number if there is one.
    #[pyo3(signature = (axis=None, *, keepdims=false))]
    fn max<'py>(slf: &Bound<'py, Self>, axis: Option<Object<'py>>, keepdims: bool) -> PyResult<Object<'py>> {
        reduce(slf, "max", axis, None, keepdims)
    }

    /// Whether any element is not zero, of all or along an axis.
    #[pyo3(signature = (axis=None, *, keepdims=false))]
    fn any<'py>(slf: &Bound<'py, Self>, axis: Option<Object<'py>>, keepdims: bool) -> PyResult<Object<'py>> {
        reduce(slf, "any", axis, None, keepdims)
    }

    /// Whether no element is zero, of all or along an axis.
    #[pyo3(signature = (axis=None, *, keepdims=false))]
    fn all<'py>(slf: &Bound<'py, Self>, axis: Option<Object<'py>>, keepdims: bool) -> PyResult<Object<'py>> {
        reduce(slf, "all", axis, None, keepdims)
    }

    /// The sum of products over the last axis of this array and the last but one (or only) axis of the other, as `numpy.dot`.
    fn dot<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        arithmetic(slf.py())?.call_method1("dot", (slf, other))
    }

    /// A copy with elements of another type; with `copy=False` the array itself where it has that type.
    #[pyo3(signature = (dtype, copy=true))]
    fn astype<'py>(slf: &Bound<'py, Self>, dtype: &Object<'py>, copy: bool) -> PyResult<Object<'py>> {
        if !copy && dtype_of(dtype).is_ok_and(|dtype| dtype == slf.get().dtype) {
            return Ok(slf.clone().into_any());
        }
        indexing(slf.py())?.call_method1("astype", (slf, dtype))
    }

    /// The real parts; they share the memory.
    #[getter]
    fn real<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        indexing(slf.py())?.call_method1("real", (slf,))
    }

    /// The imaginary parts; they share the memory. Those of real numbers are new zeros.
    #[getter]
    fn imag<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        indexing(slf.py())?.call_method1("imag", (slf,))
    }

    /// The complex conjugates; an array of real numbers is its own.
    fn conj<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        if slf.get().dtype.is_complex() { unary(slf, "conjugate") } else { Ok(slf.clone().into_any()) }
    }

    /// Sets every element to one value.
    fn fill(slf: &Bound<'_, Self>, value: &Object<'_>) -> PyResult<()> {
        slf.set_item(pyo3::types::PyEllipsis::get(slf.py()), value)
    }

    /// The elements along one axis: a view where they have no gaps, else a copy.
    fn ravel<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        shaped(slf, "reshape", &PyTuple::new(slf.py(), [-1])?)
    }

    /// A copy of the elements along one axis.
    fn flatten(slf: &Bound<'_, Self>) -> PyResult<Array> {
        let this = slf.call_method0("copy")?.cast_into::<Array>()?.get().clone();
        let layout = Layout::dense(&[this.layout.size()], this.layout.itemsize);
        Ok(Array { layout, ..this })
    }

    /// The elements with another shape, one length of which may be -1: a view where that is possible, else a copy. They are counted in
    /// C order, with the last axis first, or with `order="F"` in that of Fortran, with the first axis first.
    #[pyo3(signature = (*shape, order=None))]
    fn reshape<'py>(slf: &Bound<'py, Self>, shape: &Bound<'py, PyTuple>, order: Option<&str>) -> PyResult<Object<'py>> {
        indexing(slf.py())?.call_method1("reshape", (slf, shape, order.unwrap_or("C")))
    }

    /// The axes in another order, by default reversed; the memory is shared.
    #[pyo3(signature = (*axes))]
    fn transpose<'py>(slf: &Bound<'py, Self>, axes: &Bound<'py, PyTuple>) -> PyResult<Object<'py>> {
        shaped(slf, "transpose", axes)
    }

    /// The axes in reverse order; the memory is shared.
    #[getter(T)]
    fn transposed<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        shaped(slf, "transpose", &PyTuple::empty(slf.py()))
    }

    /// One element as a number of Python: the only one, or that of an index.
    #[pyo3(signature = (*index))]
    fn item<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyTuple>) -> PyResult<Object<'py>> {
        shaped(slf, "item", index)
    }

    /// The elements as nested lists of Python's numbers.
    fn tolist<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        only(slf, "tolist")
    }

    /// Whether elements may be changed.
    #[getter]
    fn _writeable(&self) -> bool {
        self.writeable
    }

    /// An array of the same memory with another layout.
    fn _view(&self, shape: Vec<usize>, strides: Vec<isize>, offset: usize, dtype: &Object<'_>) -> Result<Array> {
        let dtype = dtype_of(dtype)?;
        let layout = Layout { shape, strides, offset, itemsize: dtype.size() };
        if !layout.is_inside(self.memory.len()) {
            return Err(PyValueError::new_err(format!("the layout {layout:?} is out of bounds of the memory")).into());
        }
        // Where several places are one element, a change of one would be a change of all.
        // An array without elements has none twice, whatever its strides are.
        let is_repeated =
            !layout.shape.contains(&0) && layout.shape.iter().zip(&layout.strides).any(|(&len, &stride)| len > 1 && stride == 0);
        Ok(Array { dtype, layout, writeable: self.writeable && !is_repeated, ..self.clone() })
    }
}
