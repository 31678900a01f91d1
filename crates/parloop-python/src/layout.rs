//! Which elements of a memory an array has: shape and strides, and basic indexing (integers, slices, `...`, `None`) of them, as NumPy does it.

use parloop_kernel::{Order, dense_strides, first_gap};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};
use smallvec::SmallVec;

/// Which elements of a memory an array has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub shape: Vec<usize>,
    /// Bytes from one element to the next along each axis.
    pub strides: Vec<isize>,
    /// Bytes from the start of the memory to the first element.
    pub offset: usize,
    pub itemsize: usize,
}

/// Whether elements of that shape and these strides follow each other in that order without gaps ([`first_gap`]).
pub fn is_dense(shape: &[usize], strides: &[isize], itemsize: usize, order: Order) -> bool {
    let shape: SmallVec<[i64; 8]> = shape.iter().map(|&length| length as i64).collect();
    let strides: SmallVec<[i64; 8]> = strides.iter().map(|&stride| stride as i64).collect();
    first_gap(&shape, &strides, itemsize, order).is_none()
}

/// The order, `C` or `F`, in which elements follow each other without gaps; None where they have gaps.
#[pyfunction(name = "_dense_order")]
pub fn dense_order(shape: Vec<i64>, strides: Vec<i64>, itemsize: usize) -> Option<&'static str> {
    let orders = [("C", Order::C), ("F", Order::Fortran)];
    orders.into_iter().find(|&(_, order)| first_gap(&shape, &strides, itemsize, order).is_none()).map(|(name, _)| name)
}

/// The strides of elements without gaps, in order `C` or `F`.
#[pyfunction(name = "_dense_strides", signature = (shape, itemsize, order="C"))]
pub fn dense_strides_of<'py>(py: Python<'py>, shape: Vec<i64>, itemsize: usize, order: &str) -> PyResult<Bound<'py, PyTuple>> {
    let order = if order == "F" { Order::Fortran } else { Order::C };
    PyTuple::new(py, dense_strides(&shape, itemsize, order))
}

impl Layout {
    /// Elements one after the other in C order.
    pub fn dense(shape: &[usize], itemsize: usize) -> Layout {
        let lengths: SmallVec<[i64; 8]> = shape.iter().map(|&length| length as i64).collect();
        let strides = dense_strides(&lengths, itemsize, Order::C).into_iter().map(|stride| stride as isize).collect();
        Layout { shape: shape.to_vec(), strides, offset: 0, itemsize }
    }

    /// The number of elements.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the elements follow each other in C order without gaps.
    pub fn is_dense(&self) -> bool {
        self.is_dense_in(Order::C)
    }

    /// Whether the elements follow each other in that order without gaps.
    pub fn is_dense_in(&self, order: Order) -> bool {
        is_dense(&self.shape, &self.strides, self.itemsize, order)
    }

    /// The first byte and the end of the bytes that hold the elements.
    pub fn span(&self) -> (usize, usize) {
        if self.size() == 0 {
            return (self.offset, self.offset);
        }
        let (mut low, mut high) = (self.offset as isize, self.offset as isize);
        for (&len, &stride) in self.shape.iter().zip(&self.strides) {
            let reach = (len as isize - 1) * stride;
            if reach < 0 { low += reach } else { high += reach }
        }
        (low as usize, high as usize + self.itemsize)
    }

    /// Whether there is a stride for each axis and all elements are in a memory of that size.
    pub fn is_inside(&self, size: usize) -> bool {
        let empty = self.shape.contains(&0);
        let reach = |(&len, &stride): (&usize, &isize)| (len as i128 - 1).checked_mul(stride as i128);
        let Some(reaches) = self.shape.iter().zip(&self.strides).map(reach).collect::<Option<Vec<i128>>>() else { return false };
        let low = self.offset as i128 + reaches.iter().filter(|reach| **reach < 0).sum::<i128>();
        let high = self.offset as i128 + reaches.iter().filter(|reach| **reach > 0).sum::<i128>() + self.itemsize as i128;
        self.shape.len() == self.strides.len() && (if empty { self.offset <= size } else { low >= 0 && high <= size as i128 })
    }

    /// The layout that `index` selects.
    pub fn select(&self, index: &Bound<'_, PyAny>) -> PyResult<Layout> {
        let items: Vec<Bound<'_, PyAny>> = match index.cast::<PyTuple>() {
            Ok(tuple) => tuple.iter().collect(),
            Err(_) => vec![index.clone()],
        };
        let is_ellipsis = |item: &Bound<'_, PyAny>| item.is_instance_of::<PyEllipsis>();
        let used = items.iter().filter(|item| !item.is_none() && !is_ellipsis(item)).count();
        if used > self.shape.len() {
            let reason = format!("too many indices: the array has {} axes, but {used} were indexed", self.shape.len());
            return Err(PyIndexError::new_err(reason));
        }
        let mut out = Layout { shape: vec![], strides: vec![], offset: self.offset, itemsize: self.itemsize };
        let (mut axis, mut expanded) = (0, false);
        for item in &items {
            if item.is_none() {
                out.push(1, 0);
            } else if is_ellipsis(item) {
                if std::mem::replace(&mut expanded, true) {
                    return Err(PyIndexError::new_err("an index can have only one `...`"));
                }
                (0..self.shape.len() - used).for_each(|_| self.keep(&mut out, &mut axis));
            } else {
                self.select_axis(item, axis, &mut out)?;
                axis += 1;
            }
        }
        while axis < self.shape.len() {
            self.keep(&mut out, &mut axis);
        }
        if out.size() == 0 {
            // No element is anywhere, also not past the end.
            out.offset = self.offset;
        }
        Ok(out)
    }

    fn push(&mut self, len: usize, stride: isize) {
        self.shape.push(len);
        self.strides.push(stride);
    }

    fn keep(&self, out: &mut Layout, axis: &mut usize) {
        out.push(self.shape[*axis], self.strides[*axis]);
        *axis += 1;
    }

    fn select_axis(&self, item: &Bound<'_, PyAny>, axis: usize, out: &mut Layout) -> PyResult<()> {
        let (len, stride) = (self.shape[axis] as isize, self.strides[axis]);
        if let Ok(slice) = item.cast::<PySlice>() {
            let found = slice.indices(len)?;
            let first = if found.slicelength == 0 { 0 } else { found.start };
            out.offset = (out.offset as isize + first * stride) as usize;
            out.push(found.slicelength, stride * found.step);
            return Ok(());
        }
        let integer = if item.is_instance_of::<PyBool>() { None } else { item.extract::<isize>().ok() };
        let index = integer.ok_or_else(|| {
            if item.is_exact_instance_of::<PyInt>() {
                return PyIndexError::new_err(format!("index {item} is out of range for axis {axis} with {len} elements"));
            }
            PyTypeError::new_err(format!(
                "an index must be an integer, a slice, `...`, None, or an array of integers or booleans, not {}",
                type_name(item)
            ))
        })?;
        let place = if index < 0 { index + len } else { index };
        if !(0..len).contains(&place) {
            return Err(PyIndexError::new_err(format!("index {index} is out of range for axis {axis} with {len} elements")));
        }
        out.offset = (out.offset as isize + place * stride) as usize;
        Ok(())
    }
}

fn type_name(item: &Bound<'_, PyAny>) -> String {
    item.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string())
}
