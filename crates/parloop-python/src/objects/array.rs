//! Arrays of objects and numbers, and how they are indexed.

use parloop_object as obj;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};
use smallvec::SmallVec;

use super::edit::set;
use super::object::{ArrayObject, Body};
use super::types::Parts;
use super::wrap::wrap;
use crate::error::Result;
use crate::layout::Layout;

/// An index as the user gave it.
enum Index<'py> {
    /// One item.
    Item(SmallVec<[usize; 4]>),
    /// Several.
    Part(Bound<'py, PyAny>),
}

fn index_of<'py>(body: &Body, index: &Bound<'py, PyAny>) -> Result<Index<'py>> {
    let shape = &body.shape()?.shape;
    let mut given: SmallVec<[isize; 4]> = SmallVec::new();
    if let Ok(tuple) = index.cast::<PyTuple>() {
        for item in tuple.iter() {
            match integer(&item) {
                Some(item) => given.push(item),
                None => return Ok(Index::Part(index.clone())),
            }
        }
    } else {
        match integer(index) {
            Some(index) => given.push(index),
            None => return Ok(Index::Part(index.clone())),
        }
    }
    let outside = || obj::ObjectError::Index {
        path: body.ty.get().ty.name().into(),
        index: given.iter().map(|&i| i as i64).collect(),
        bounds: shape.to_vec(),
    };
    if given.len() > shape.len() {
        return Err(outside().into());
    }
    let mut found = SmallVec::new();
    for (&index, &dim) in given.iter().zip(shape) {
        let place = if index < 0 { index + dim as isize } else { index };
        if place < 0 || place as usize >= dim {
            return Err(outside().into());
        }
        found.push(place as usize);
    }
    if found.len() < shape.len() { Ok(Index::Part(index.clone())) } else { Ok(Index::Item(found)) }
}

fn integer(object: &Bound<'_, PyAny>) -> Option<isize> {
    if object.is_instance_of::<PyBool>() { None } else { object.extract::<isize>().ok() }
}

impl ArrayObject {
    pub fn nplike<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let base = slf.as_super();
        let body = base.get().body()?;
        body.view.check_alive()?;
        let obj::Type::Array(ty) = &body.ty.get().ty else { return Err(PyTypeError::new_err("this is not an array").into()) };
        let Some(dtype) = ty.item.scalar() else {
            return Err(PyTypeError::new_err(format!("{} holds objects; only arrays of numbers have a view", ty.name)).into());
        };
        let shape = body.shape()?;
        let layout = Layout {
            shape: shape.shape.to_vec(),
            strides: shape.strides.iter().map(|&stride| stride as isize).collect(),
            offset: body.view.offset() + shape.data,
            itemsize: dtype.size(),
        };
        body.buffer.get().view(slf.py(), slf.clone().into_any(), dtype, layout)
    }
}

#[pymethods]
impl ArrayObject {
    /// The number of items.
    fn __len__(slf: &Bound<'_, Self>) -> Result<usize> {
        Ok(slf.as_super().get().body()?.shape()?.count())
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let body = slf.as_super().get().body()?;
        let index = match index_of(body, index)? {
            Index::Item(index) => index,
            Index::Part(index) => return part(slf, body, &index),
        };
        let (obj::Type::Array(ty), Parts::Item(item)) = (&body.ty.get().ty, &body.ty.get().parts) else {
            return Err(PyTypeError::new_err("this is not an array").into());
        };
        let shape = body.shape()?;
        if let (Some(dtype), Some(at)) = (ty.item.scalar(), shape.position(&index)) {
            // SAFETY: the item lies inside the array.
            if let Some(number) = unsafe { body.load(slf.py(), at, dtype, item.get().is_numpy) } {
                return Ok(number?);
            }
        }
        body.view.check_alive()?;
        wrap(slf.py(), body.view.item_in(shape, &index)?, item, &body.buffer)
    }

    fn __setitem__<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> Result<()> {
        let body = slf.as_super().get().body()?;
        let index = match index_of(body, index)? {
            Index::Item(index) => index,
            Index::Part(index) => {
                let view = ArrayObject::nplike(slf)?;
                return Ok(view.set_item(index, value)?);
            }
        };
        let (obj::Type::Array(ty), Parts::Item(item)) = (&body.ty.get().ty, &body.ty.get().parts) else {
            return Err(PyTypeError::new_err("this is not an array").into());
        };
        let shape = body.shape()?;
        if let (Some(dtype), Some(at)) = (ty.item.scalar(), shape.position(&index)) {
            // SAFETY: the item lies inside the array.
            if unsafe { body.store(at, dtype, value) } {
                return Ok(());
            }
        }
        body.view.check_alive()?;
        let view = body.view.item_in(shape, &index)?;
        set(&view, item.get(), value)
    }

    /// The dimensions of the object.
    #[getter]
    fn _dims<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyTuple>> {
        Ok(PyTuple::new(slf.py(), &slf.as_super().get().body()?.shape()?.shape)?)
    }

    /// The distance between items, or between the words with their offsets, along each axis.
    #[getter]
    fn _steps<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyTuple>> {
        Ok(PyTuple::new(slf.py(), &slf.as_super().get().body()?.shape()?.strides)?)
    }

    /// Where in the buffer the item with this index is.
    fn _item_offset(slf: &Bound<'_, Self>, index: &Bound<'_, PyAny>) -> Result<usize> {
        let body = slf.as_super().get().body()?;
        match index_of(body, index)? {
            Index::Item(index) => Ok(body.view.item_in(body.shape()?, &index)?.offset()),
            Index::Part(_) => Err(PyIndexError::new_err("expected one integer for each axis").into()),
        }
    }

    /// A view of the numbers: a NumPy array on a CPU, a `parloop.Array` elsewhere. Writing to it writes to the object.
    fn to_nplike<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        ArrayObject::nplike(slf)
    }

    /// The numbers as a NumPy array: a view on a CPU, a copy from elsewhere.
    fn to_nparray<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let view = ArrayObject::nplike(slf)?;
        if !view.is_instance_of::<crate::array::Array>() {
            return Ok(view);
        }
        // One copy of the bytes as they lie, with the axes in their order in memory, then put right.
        let obj::Type::Array(ty) = &slf.as_super().get().body()?.ty.get().ty else { return Ok(view) };
        let order = PyTuple::new(slf.py(), &ty.order)?;
        let back =
            PyTuple::new(slf.py(), (0..ty.order.len()).map(|axis| ty.order.iter().position(|&place| place == axis).unwrap_or(axis)))?;
        let host = view.call_method1("transpose", (order,))?.call_method0("numpy")?;
        Ok(host.call_method1("transpose", (back,))?)
    }
}

/// Several items: a view of numbers, a list of objects.
fn part<'py>(slf: &Bound<'py, ArrayObject>, body: &Body, index: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    let is_numbers = matches!(&body.ty.get().ty, obj::Type::Array(ty) if ty.item.scalar().is_some());
    if is_numbers {
        return Ok(ArrayObject::nplike(slf)?.get_item(index)?);
    }
    if body.shape()?.shape.len() != 1 {
        return Err(PyIndexError::new_err("an array of objects with several axes needs one integer for each axis").into());
    }
    let slice = index.cast::<pyo3::types::PySlice>().map_err(|_| PyIndexError::new_err("an index must be an integer or a slice"))?;
    let found = slice.indices(body.shape()?.shape[0] as isize)?;
    let list = pyo3::types::PyList::empty(slf.py());
    let mut at = found.start;
    for _ in 0..found.slicelength {
        list.append(slf.get_item(at)?)?;
        at += found.step;
    }
    Ok(list.into_any())
}
