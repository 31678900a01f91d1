//! `parloop.FftPlan`: Fourier transforms of arrays in place.

use parloop_device::{DType, DeviceError, DeviceKind, FftDirection};
use parloop_kernel as ker;
use parloop_kernel::{KernelError, Order, describe_array};
use parloop_object as obj;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::Array;
use crate::context::Context;
use crate::error::Result;
use crate::layout::Layout;
use crate::ndarray::{NdArray, numpy_dtype};

/// A Fourier transform in place, planned for one context, shape, type and order of elements. `Context.plan_FFT` makes it.
///
/// CPU threads share the lines that are transformed. On CUDA and HIP the device's own library (cuFFT, hipFFT) does it; the data of
/// an OpenCL device is copied to the host, transformed there and copied back. Along an axis without elements nothing is done.
#[pyclass(frozen, module = "parloop")]
pub struct FftPlan {
    inner: ker::FftPlan,
}

impl FftPlan {
    pub fn new(context: &ker::Context, data: &Bound<'_, PyAny>, axes: &Bound<'_, PyAny>) -> Result<FftPlan> {
        let data = Data::of(data)?;
        let dtype = data.dtype()?;
        let shape = &data.layout.shape;
        let axes = checked_axes(&axes_of(axes)?, shape.len())?;
        if let DataLocation::Array(array) = data.place {
            let (expected, found) = (context.device(), array.memory.device());
            if !expected.same(found) && (expected.kind(), found.kind()) != (DeviceKind::Cpu, DeviceKind::Cpu) {
                let (expected, found) = (expected.id().to_string(), found.id().to_string());
                return Err(DeviceError::OtherDevice { operation: "plan an FFT", expected, found }.into());
            }
        }
        let order = data.order().ok_or_else(|| KernelError::FftGaps { given: describe_array(dtype, shape, None) })?;
        let inner = data.py().detach(|| context.plan_fft_in(shape, &axes, dtype, order))?;
        Ok(FftPlan { inner })
    }

    fn run(&self, data: &Bound<'_, PyAny>, direction: FftDirection) -> Result<()> {
        let data = Data::of(data)?;
        let dtype = data.dtype()?;
        let plan = &self.inner;
        let layout = &data.layout;
        if dtype != plan.dtype() || layout.shape != plan.shape() || !layout.is_dense_in(plan.order()) {
            return Err(plan.misfit(describe_array(dtype, &layout.shape, data.order())).into());
        }
        match data.place {
            DataLocation::Array(Array { writeable: false, .. }) | DataLocation::Host { writeable: false, .. } => {
                Err(KernelError::FftReadOnly.into())
            }
            DataLocation::Array(array) => Ok(data.py().detach(|| {
                // The memory stays where it is while its address is used.
                let _hold = array.buffer.as_ref().map(obj::Buffer::hold);
                // SAFETY: as with kernels, a program that changes the array from another thread meanwhile gets undefined values.
                unsafe { plan.run_memory(&array.memory, array.layout.offset, direction) }
            })?),
            DataLocation::Host { address, .. } => {
                let len = layout.size() * dtype.size();
                Ok(data.py().detach(|| {
                    // SAFETY: the elements of an array that the caller's argument holds until this returns; they follow each other
                    // without gaps. As with kernels, who changes them meanwhile from another thread gets undefined values.
                    let bytes = if len == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(address as *mut u8, len) } };
                    plan.run_host(bytes, direction)
                })?)
            }
        }
    }
}

/// An array that a user gave, wherever it is.
struct Data<'a, 'py> {
    object: &'a Bound<'py, PyAny>,
    /// `None` for elements that no kernel takes.
    dtype: Option<DType>,
    layout: Layout,
    place: DataLocation<'a>,
}

enum DataLocation<'a> {
    Array(&'a Array),
    Host { address: usize, writeable: bool },
}

impl<'a, 'py> Data<'a, 'py> {
    fn of(object: &'a Bound<'py, PyAny>) -> Result<Data<'a, 'py>> {
        if let Ok(array) = object.cast::<Array>() {
            let array = array.get();
            array.check_shared(object.py())?;
            return Ok(Data { object, dtype: Some(array.dtype), layout: array.layout.clone(), place: DataLocation::Array(array) });
        }
        let Some(array) = NdArray::of(object)? else {
            let given = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!("an FFT needs a parloop.Array or a NumPy array, not {given}")).into());
        };
        let dtype = array.dtype();
        let shape = array.shape().iter().map(|&len| len as usize).collect();
        let layout = Layout { shape, strides: array.strides().to_vec(), offset: 0, itemsize: dtype.map_or(1, DType::size) };
        let place = DataLocation::Host { address: array.pointer() as usize, writeable: array.is_writeable() };
        Ok(Data { object, dtype, layout, place })
    }

    fn py(&self) -> Python<'py> {
        self.object.py()
    }

    fn dtype(&self) -> Result<DType> {
        match self.dtype {
            Some(dtype) if dtype.is_complex() => Ok(dtype),
            _ => Err(KernelError::FftType { dtype: self.object.getattr("dtype")?.to_string() }.into()),
        }
    }

    /// In which order the elements follow each other, if they do so without gaps.
    fn order(&self) -> Option<Order> {
        [Order::C, Order::Fortran].into_iter().find(|&order| self.layout.is_dense_in(order))
    }
}

/// The axes that a user gave: an integer or a sequence of them.
fn axes_of(object: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    if let Ok(axis) = object.extract::<i64>() {
        return Ok(vec![axis]);
    }
    object
        .extract::<Vec<i64>>()
        .map_err(|_| PyTypeError::new_err(format!("the axes of an FFT must be an integer or a sequence of integers, not {object}")))
}

/// Negative axes count from the end.
fn checked_axes(axes: &[i64], ndim: usize) -> Result<Vec<usize>> {
    let inside = |&axis: &i64| {
        let counted = if axis < 0 { axis.saturating_add(ndim as i64) } else { axis };
        usize::try_from(counted).ok().filter(|&counted| counted < ndim).ok_or(KernelError::FftAxis { axis, ndim })
    };
    Ok(axes.iter().map(inside).collect::<Result<_, _>>()?)
}

#[pymethods]
impl FftPlan {
    /// Transforms an array in place, as `numpy.fft.fftn` does along the planned axes.
    ///
    /// The array has the shape, dtype and order that were planned for; otherwise it is an error, and nothing changes. A NumPy array is
    /// copied to a GPU and back.
    fn transform(&self, data: &Bound<'_, PyAny>) -> Result<()> {
        self.run(data, FftDirection::Forward)
    }

    /// The inverse of `transform`, with the factor `1/N` of `numpy.fft.ifftn`.
    fn itransform(&self, data: &Bound<'_, PyAny>) -> Result<()> {
        self.run(data, FftDirection::Inverse)
    }

    /// The length along each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.shape())
    }

    /// The axes along which it transforms, none negative.
    #[getter]
    fn axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.axes())
    }

    /// The type of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numpy_dtype(py, self.inner.dtype())
    }

    /// `'C'` or `'F'`: whether the last or the first axis is the fastest in memory.
    #[getter]
    fn order(&self) -> &'static str {
        match self.inner.order() {
            Order::C => "C",
            Order::Fortran => "F",
        }
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }
}

#[pymethods]
impl Context {
    /// Plans Fourier transforms in place of arrays like `data`.
    ///
    /// Parameters
    /// ----------
    /// data : Array or numpy.ndarray
    ///     An array of complex64 or complex128 without gaps, in C or Fortran order. It is looked at, not changed.
    /// axes : int or sequence of int
    ///     The axes to transform along; negative ones count from the end.
    ///
    /// Returns
    /// -------
    /// FftPlan
    ///     Its `transform(array)` and `itransform(array)` work on arrays of that shape, dtype and order.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, parloop as pl
    /// >>> x = np.array([[1, 2], [3, 5]], complex)
    /// >>> plan = pl.Context("cpu").plan_FFT(x, axes=-1)
    /// >>> plan.transform(x)
    /// >>> x
    /// array([[ 3.+0.j, -1.+0.j],
    ///        [ 8.+0.j, -2.+0.j]])
    /// >>> plan.itransform(x)
    /// >>> x
    /// array([[1.+0.j, 2.+0.j],
    ///        [3.+0.j, 5.+0.j]])
    #[pyo3(name = "plan_FFT")]
    fn plan_fft(&self, data: &Bound<'_, PyAny>, axes: &Bound<'_, PyAny>) -> Result<FftPlan> {
        FftPlan::new(&self.inner, data, axes)
    }
}
