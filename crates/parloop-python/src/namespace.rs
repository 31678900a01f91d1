//! `parloop.Array` in the Python array API standard and in NumPy's protocols: hooks into `parloop.arrays`, which does the work, and the
//! methods that NumPy's and CuPy's arrays share with it.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyEllipsis, PyTuple};

use crate::array::Array;
use crate::error::Result;

type Object<'py> = Bound<'py, PyAny>;

/// `parloop.arrays`.
fn namespace(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    Ok(MODULE.get_or_try_init(py, || py.import("parloop.arrays").map(Bound::unbind))?.bind(py))
}

/// `parloop.arrays._protocols`.
fn protocols(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    Ok(MODULE.get_or_try_init(py, || py.import("parloop.arrays._protocols").map(Bound::unbind))?.bind(py))
}

/// A method of NumPy's arrays, as the function of `parloop.arrays._protocols` of that name.
fn method<'py, T>(x: &Bound<'py, Array>, name: &str, arguments: T) -> PyResult<Object<'py>>
where
    T: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
{
    protocols(x.py())?.call_method1("method", (name, x, arguments.into_pyobject(x.py())?))
}

#[pymethods]
impl Array {
    /// The functions of the Python array API standard, for arrays of every device: `parloop.arrays`.
    #[pyo3(signature = (*, api_version=None))]
    fn __array_namespace__<'py>(slf: &Bound<'py, Self>, api_version: Option<Object<'py>>) -> PyResult<Object<'py>> {
        protocols(slf.py())?.call_method1("namespace", (api_version,))
    }

    /// NumPy's universal functions of this array.
    #[pyo3(signature = (ufunc, method, *inputs, **options))]
    fn __array_ufunc__<'py>(
        slf: &Bound<'py, Self>,
        ufunc: Object<'py>,
        method: Object<'py>,
        inputs: &Bound<'py, PyTuple>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Object<'py>> {
        protocols(slf.py())?.call_method1("ufunc", (ufunc, method, inputs, options))
    }

    /// NumPy's other functions of this array.
    fn __array_function__<'py>(
        slf: &Bound<'py, Self>,
        function: Object<'py>,
        types: Object<'py>,
        arguments: Object<'py>,
        options: Object<'py>,
    ) -> PyResult<Object<'py>> {
        protocols(slf.py())?.call_method1("function", (function, types, arguments, options))
    }

    /// The array on another device: itself if it is there already.
    #[pyo3(signature = (device, *, stream=None))]
    fn to_device<'py>(slf: &Bound<'py, Self>, device: Object<'py>, stream: Option<Object<'py>>) -> PyResult<Object<'py>> {
        protocols(slf.py())?.call_method1("to_device", (slf, device, stream))
    }

    /// The last two axes exchanged; the memory is shared.
    #[getter(mT)]
    fn matrix_transposed<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        namespace(slf.py())?.call_method1("matrix_transpose", (slf,))
    }

    /// A new NumPy array with the elements, as pyopencl's and CuPy's arrays have it.
    fn get<'py>(slf: &Bound<'py, Self>) -> Result<Object<'py>> {
        slf.get().copy_to_host(slf.py())
    }

    /// Sets all elements, as pyopencl's and CuPy's arrays do.
    fn set(slf: &Bound<'_, Self>, values: &Object<'_>) -> PyResult<()> {
        slf.set_item(PyEllipsis::get(slf.py()), values)
    }

    /// The place of the first largest element, of all or along an axis.
    #[pyo3(signature = (axis=None, *, keepdims=false))]
    fn argmax<'py>(slf: &Bound<'py, Self>, axis: Option<Object<'py>>, keepdims: bool) -> PyResult<Object<'py>> {
        method(slf, "argmax", (axis, keepdims))
    }

    /// The place of the first smallest element, of all or along an axis.
    #[pyo3(signature = (axis=None, *, keepdims=false))]
    fn argmin<'py>(slf: &Bound<'py, Self>, axis: Option<Object<'py>>, keepdims: bool) -> PyResult<Object<'py>> {
        method(slf, "argmin", (axis, keepdims))
    }

    /// The places of the elements along an axis in ascending order; equal ones stay in order.
    #[pyo3(signature = (axis=-1))]
    fn argsort<'py>(slf: &Bound<'py, Self>, axis: i64) -> PyResult<Object<'py>> {
        method(slf, "argsort", (axis,))
    }

    /// The sums of all elements up to each, along an axis or of all in C order.
    #[pyo3(signature = (axis=None, dtype=None))]
    fn cumsum<'py>(slf: &Bound<'py, Self>, axis: Option<Object<'py>>, dtype: Option<Object<'py>>) -> PyResult<Object<'py>> {
        method(slf, "cumsum", (axis, dtype))
    }

    /// The standard deviation of all elements, or along an axis.
    #[pyo3(signature = (axis=None, *, ddof=0.0, keepdims=false))]
    fn std<'py>(slf: &Bound<'py, Self>, axis: Option<Object<'py>>, ddof: f64, keepdims: bool) -> PyResult<Object<'py>> {
        method(slf, "std", (axis, ddof, keepdims))
    }

    /// The variance of all elements, or along an axis.
    #[pyo3(signature = (axis=None, *, ddof=0.0, keepdims=false))]
    fn var<'py>(slf: &Bound<'py, Self>, axis: Option<Object<'py>>, ddof: f64, keepdims: bool) -> PyResult<Object<'py>> {
        method(slf, "var", (axis, ddof, keepdims))
    }

    /// The array without axes of length 1, or without those that are named; the memory is shared.
    #[pyo3(signature = (axis=None))]
    fn squeeze<'py>(slf: &Bound<'py, Self>, axis: Option<Object<'py>>) -> PyResult<Object<'py>> {
        method(slf, "squeeze", (axis,))
    }

    /// The places of the elements that are not zero, one array for each axis.
    fn nonzero<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        protocols(slf.py())?.call_method1("method", ("nonzero", slf, PyTuple::empty(slf.py())))
    }

    /// The elements rounded to that many decimals, halves to even ones.
    #[pyo3(signature = (decimals=0))]
    fn round<'py>(slf: &Bound<'py, Self>, decimals: i64) -> PyResult<Object<'py>> {
        method(slf, "round", (decimals,))
    }

    /// The elements, but none below `min` or above `max`.
    #[pyo3(signature = (min=None, max=None))]
    fn clip<'py>(slf: &Bound<'py, Self>, min: Option<Object<'py>>, max: Option<Object<'py>>) -> PyResult<Object<'py>> {
        method(slf, "clip", (min, max))
    }

    /// Each element several times, along an axis or of all in C order.
    #[pyo3(signature = (repeats, axis=None))]
    fn repeat<'py>(slf: &Bound<'py, Self>, repeats: Object<'py>, axis: Option<Object<'py>>) -> PyResult<Object<'py>> {
        method(slf, "repeat", (repeats, axis))
    }

    /// The elements at places along an axis, or in C order.
    #[pyo3(signature = (indices, axis=None))]
    fn take<'py>(slf: &Bound<'py, Self>, indices: Object<'py>, axis: Option<Object<'py>>) -> PyResult<Object<'py>> {
        method(slf, "take", (indices, axis))
    }
}
