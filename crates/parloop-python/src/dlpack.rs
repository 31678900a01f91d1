//! DLPack, both ways: the structures, a capsule made from our memory, and elements read from somebody else's capsule.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use parloop_device::{DType, DeviceId};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::foreign::{Foreign, gpu_device};
use crate::layout::Layout;

#[repr(C)]
#[derive(Clone, Copy)]
struct DlDevice {
    kind: i32,
    id: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DlDataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: DlDevice,
    ndim: i32,
    dtype: DlDataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct DlManagedTensor {
    tensor: DlTensor,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DlManagedTensor)>,
}

const NAME: &CStr = c"dltensor";
const CPU: i32 = 1;
const CUDA: i32 = 2;
const CUDA_HOST: i32 = 3;
const ROCM: i32 = 10;

/// What a capsule of ours keeps alive.
struct Exported {
    managed: DlManagedTensor,
    shape: Vec<i64>,
    strides: Vec<i64>,
    _owner: Py<PyAny>,
}

/// DLPack's name for a device, if it has one.
pub fn device_code(id: DeviceId) -> Option<(i32, i32)> {
    match id {
        DeviceId::Cpu { .. } => Some((CPU, 0)),
        DeviceId::Cuda { index } => Some((CUDA, index as i32)),
        DeviceId::Hip { index } => Some((ROCM, index as i32)),
        DeviceId::OpenCl { .. } => None,
    }
}

/// A capsule for elements at `address` (of the memory's start) with `layout`; `owner` is kept alive.
pub fn export<'py>(owner: Bound<'py, PyAny>, id: DeviceId, address: u64, layout: &Layout, dtype: DType) -> PyResult<Bound<'py, PyAny>> {
    let Some((kind, index)) = device_code(id) else {
        return Err(PyBufferError::new_err("DLPack has no OpenCL memory that others can use; copy with .to(\"cpu\") first"));
    };
    let py = owner.py();
    let itemsize = dtype.size() as isize;
    let exported = Box::new(Exported {
        managed: DlManagedTensor {
            tensor: DlTensor {
                data: (address + layout.offset as u64) as *mut c_void,
                device: DlDevice { kind, id: index },
                ndim: layout.shape.len() as i32,
                dtype: dtype_code(dtype),
                shape: null_mut(),
                strides: null_mut(),
                byte_offset: 0,
            },
            manager: null_mut(),
            deleter: Some(delete_exported),
        },
        shape: layout.shape.iter().map(|&len| len as i64).collect(),
        strides: layout.strides.iter().map(|&stride| (stride / itemsize) as i64).collect(),
        _owner: owner.unbind(),
    });
    let exported = Box::into_raw(exported);
    // SAFETY: `exported` was just leaked from a box; the vectors it points into live as long as it does. The capsule, or whoever
    // consumes it, calls `delete_exported` once.
    unsafe {
        (*exported).managed.tensor.shape = (*exported).shape.as_mut_ptr();
        (*exported).managed.tensor.strides = (*exported).strides.as_mut_ptr();
        (*exported).managed.manager = exported.cast();
        let capsule = ffi::PyCapsule_New((&raw mut (*exported).managed).cast(), NAME.as_ptr(), Some(delete_capsule));
        if capsule.is_null() {
            drop(Box::from_raw(exported));
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

unsafe extern "C" fn delete_exported(managed: *mut DlManagedTensor) {
    // SAFETY: `manager` is the box that `export` leaked, and a deleter is called once.
    Python::attach(|_| drop(unsafe { Box::from_raw((*managed).manager.cast::<Exported>()) }));
}

unsafe extern "C" fn delete_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: Python gives us our own capsule; one that was consumed has another name and is its consumer's business.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast::<DlManagedTensor>();
            delete_exported(managed);
        }
    }
}

/// The elements behind an object with `__dlpack__`. The capsule is kept unconsumed, so that dropping it frees them.
pub fn import<'py>(object: &Bound<'py, PyAny>) -> PyResult<Foreign<'py>> {
    let capsule = object.call_method0("__dlpack__")?;
    // SAFETY: a capsule of this name holds a `DLManagedTensor`, by the protocol; it lives as long as the capsule.
    let tensor = unsafe {
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), NAME.as_ptr());
        if pointer.is_null() {
            return Err(PyErr::fetch(object.py()));
        }
        &(*pointer.cast::<DlManagedTensor>()).tensor
    };
    let dtype = dtype_from(tensor.dtype).ok_or_else(|| {
        let DlDataType { code, bits, lanes } = tensor.dtype;
        PyTypeError::new_err(format!("the DLPack type with code {code}, {bits} bits and {lanes} lanes is not supported"))
    })?;
    let device = match tensor.device.kind {
        CPU | CUDA_HOST => None,
        CUDA | ROCM => Some(gpu_device(tensor.device.id as usize)?),
        other => return Err(PyTypeError::new_err(format!("arrays of DLPack device type {other} are not supported"))),
    };
    let axes = |pointer: *mut i64| -> Vec<i64> {
        // SAFETY: `ndim` entries, by the protocol.
        (0..tensor.ndim as usize).map(|axis| unsafe { *pointer.add(axis) }).collect()
    };
    let shape: Vec<usize> = axes(tensor.shape).into_iter().map(|len| len as usize).collect();
    let strides = if tensor.strides.is_null() {
        Layout::dense(&shape, dtype.size()).strides
    } else {
        axes(tensor.strides).into_iter().map(|stride| stride as isize * dtype.size() as isize).collect()
    };
    let pointer = tensor.data as u64 + tensor.byte_offset;
    Ok(Foreign { device, pointer, dtype, shape, strides, writeable: true, owner: capsule })
}

fn dtype_code(dtype: DType) -> DlDataType {
    let code = match dtype {
        DType::Bool => 6,
        _ if dtype.is_complex() => 5,
        _ if dtype.is_float() => 2,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => 1,
        _ => 0,
    };
    DlDataType { code, bits: 8 * dtype.size() as u8, lanes: 1 }
}

fn dtype_from(found: DlDataType) -> Option<DType> {
    DType::ALL.into_iter().find(|&dtype| {
        let ours = dtype_code(dtype);
        (ours.code, ours.bits, ours.lanes) == (found.code, found.bits, found.lanes)
    })
}
