//! DLPack, both ways and in both forms: the structures, a capsule made from our memory, and elements read from another owner's capsule.
//!
//! The versioned form, since DLPack 1.0, says whether the elements may be written. The old one does not.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use parloop_device::{DType, Device, DeviceId, Stream};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Error;
use crate::foreign::{Foreign, stream_number};
use crate::layout::Layout;
use crate::ndarray::{NdArray, as_array};
use crate::number::describe;

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
#[derive(Clone, Copy)]
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

#[repr(C)]
#[derive(Clone, Copy)]
struct DlVersion {
    major: u32,
    minor: u32,
}

#[repr(C)]
struct DlManagedTensorVersioned {
    version: DlVersion,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DlManagedTensorVersioned)>,
    flags: u64,
    tensor: DlTensor,
}

const NAME: &CStr = c"dltensor";
const NAME_VERSIONED: &CStr = c"dltensor_versioned";
/// The names of capsules whose tensors were taken.
const USED: &CStr = c"used_dltensor";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";
const VERSION: DlVersion = DlVersion { major: 1, minor: 0 };
const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;
const CPU: i32 = 1;
const CUDA: i32 = 2;
const CUDA_HOST: i32 = 3;
const ROCM: i32 = 10;
const ROCM_HOST: i32 = 11;
const CUDA_MANAGED: i32 = 13;

/// The CPU, as a consumer names it.
pub const HOST: (i32, i32) = (CPU, 0);

/// What a capsule of ours keeps alive. Only the form that the consumer takes is used.
struct Exported {
    old: DlManagedTensor,
    versioned: DlManagedTensorVersioned,
    shape: Vec<i64>,
    strides: Vec<i64>,
    _owner: Py<PyAny>,
}

/// What a consumer is told of the elements.
pub struct Form {
    pub is_versioned: bool,
    pub is_read_only: bool,
    pub is_copied: bool,
}

/// DLPack's name for a device, if it has one.
pub fn device_code(id: DeviceId) -> Option<(i32, i32)> {
    match id {
        DeviceId::Cpu { .. } => Some(HOST),
        DeviceId::Cuda { index } => Some((CUDA, index as i32)),
        DeviceId::Hip { index } => Some((ROCM, index as i32)),
        DeviceId::OpenCl { .. } => None,
    }
}

/// A capsule for elements at `address` (of the memory's start) with `layout`; `owner` is kept alive.
pub fn export<'py>(
    owner: Bound<'py, PyAny>,
    (id, address): (DeviceId, u64),
    layout: &Layout,
    dtype: DType,
    form: &Form,
) -> PyResult<Bound<'py, PyAny>> {
    let Some((kind, index)) = device_code(id) else {
        return Err(PyBufferError::new_err("OpenCL memory cannot be exported through DLPack; copy with .to(\"cpu\") first"));
    };
    let py = owner.py();
    let itemsize = dtype.size() as isize;
    let tensor = DlTensor {
        data: (address + layout.offset as u64) as *mut c_void,
        device: DlDevice { kind, id: index },
        ndim: layout.shape.len() as i32,
        dtype: dtype_code(dtype),
        shape: null_mut(),
        strides: null_mut(),
        byte_offset: 0,
    };
    let flags = if form.is_read_only { READ_ONLY } else { 0 } | if form.is_copied { IS_COPIED } else { 0 };
    let exported = Box::into_raw(Box::new(Exported {
        old: DlManagedTensor { tensor, manager: null_mut(), deleter: Some(delete_old) },
        versioned: DlManagedTensorVersioned { version: VERSION, manager: null_mut(), deleter: Some(delete_versioned), flags, tensor },
        shape: layout.shape.iter().map(|&len| len as i64).collect(),
        strides: layout.strides.iter().map(|&stride| (stride / itemsize) as i64).collect(),
        _owner: owner.unbind(),
    }));
    // SAFETY: `exported` was just leaked from a box; the vectors it points into live as long as it does. The capsule, or whoever
    // consumes it, calls the deleter of its form once.
    unsafe {
        let (shape, strides) = ((*exported).shape.as_mut_ptr(), (*exported).strides.as_mut_ptr());
        for tensor in [&mut (*exported).old.tensor, &mut (*exported).versioned.tensor] {
            (tensor.shape, tensor.strides) = (shape, strides);
        }
        (*exported).old.manager = exported.cast();
        (*exported).versioned.manager = exported.cast();
        let (pointer, name): (*mut c_void, _) = match form.is_versioned {
            true => ((&raw mut (*exported).versioned).cast(), NAME_VERSIONED),
            false => ((&raw mut (*exported).old).cast(), NAME),
        };
        let capsule = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(delete_capsule));
        if capsule.is_null() {
            drop(Box::from_raw(exported));
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

unsafe extern "C" fn delete_old(managed: *mut DlManagedTensor) {
    // SAFETY: a deleter is called once, with what it is the deleter of.
    unsafe { delete_exported((*managed).manager) };
}

unsafe extern "C" fn delete_versioned(managed: *mut DlManagedTensorVersioned) {
    // SAFETY: as above.
    unsafe { delete_exported((*managed).manager) };
}

/// # Safety
/// `manager` is the box that `export` leaked, and this is called once.
unsafe fn delete_exported(manager: *mut c_void) {
    // A consumer may live on after Python; the elements then stay.
    // SAFETY: the caller guarantees it.
    Python::try_attach(|_| drop(unsafe { Box::from_raw(manager.cast::<Exported>()) }));
}

unsafe extern "C" fn delete_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: Python gives us our own capsule; one that was consumed has another name and is its consumer's business.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            delete_old(ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast());
        } else if ffi::PyCapsule_IsValid(capsule, NAME_VERSIONED.as_ptr()) == 1 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, NAME_VERSIONED.as_ptr()).cast());
        }
    }
}

/// A tensor that was taken out of its capsule, whose deleter is called when this goes.
#[pyclass(frozen, module = "parloop._parloop", name = "_Tensor")]
struct ImportedTensor {
    managed: Managed,
}

enum Managed {
    Old(*mut DlManagedTensor),
    Versioned(*mut DlManagedTensorVersioned),
}

// SAFETY: a deleter may be called by any thread, and here it is called by one that holds Python; nothing else is done with the pointer
// after the tensor was read.
unsafe impl Send for ImportedTensor {}
// SAFETY: as above.
unsafe impl Sync for ImportedTensor {}

impl Drop for ImportedTensor {
    fn drop(&mut self) {
        // SAFETY: the tensor was taken by the protocol, which says that its consumer calls its deleter once.
        unsafe {
            match self.managed {
                Managed::Old(managed) => (*managed).deleter.into_iter().for_each(|delete| delete(managed)),
                Managed::Versioned(managed) => (*managed).deleter.into_iter().for_each(|delete| delete(managed)),
            }
        }
    }
}

impl ImportedTensor {
    /// Takes the tensor out of a capsule, which from then on says by its name that it was used.
    fn of(capsule: &Bound<'_, PyAny>) -> PyResult<ImportedTensor> {
        // SAFETY: a capsule of one of these names holds that structure, by the protocol, and was not used before. Later versions begin
        // with the version and the deleter, so that the version may be read before anything else.
        unsafe {
            let is_named = |name: &CStr| ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) == 1;
            let pointer = |name: &CStr| ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr());
            let (managed, used) = if is_named(NAME_VERSIONED) {
                let managed = pointer(NAME_VERSIONED).cast::<DlManagedTensorVersioned>();
                let DlVersion { major, minor } = (*managed).version;
                if major != VERSION.major {
                    let reason =
                        format!("DLPack 1.0 was requested, but the array has version {major}.{minor}; convert it to a NumPy array");
                    return Err(PyBufferError::new_err(reason));
                }
                (Managed::Versioned(managed), USED_VERSIONED)
            } else if is_named(NAME) {
                (Managed::Old(pointer(NAME).cast()), USED)
            } else if is_named(USED) || is_named(USED_VERSIONED) {
                let reason = "the DLPack capsule was already used; a capsule can be used once, so request another from the producer";
                return Err(PyBufferError::new_err(reason));
            } else {
                return Err(PyTypeError::new_err(format!("__dlpack__ returned {}, not a DLPack capsule", describe(capsule))));
            };
            if ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) != 0 {
                return Err(PyErr::fetch(capsule.py()));
            }
            Ok(ImportedTensor { managed })
        }
    }

    /// The tensor, and the flags where it has some.
    fn tensor(&self) -> (&DlTensor, Option<u64>) {
        // SAFETY: the structure lives until its deleter is called.
        unsafe {
            match self.managed {
                Managed::Old(managed) => (&(*managed).tensor, None),
                Managed::Versioned(managed) => (&(*managed).tensor, Some((*managed).flags)),
            }
        }
    }
}

/// The elements behind an object with `__dlpack__`, ready for work on `stream`. The capsule is used up, and the elements live as long as
/// their owner.
pub fn import<'py>(object: &Bound<'py, PyAny>, stream: &Stream) -> PyResult<Foreign<'py>> {
    let taken = Bound::new(object.py(), ImportedTensor::of(&ask(object, stream)?)?)?;
    let (tensor, flags) = taken.get().tensor();
    let mut found = elements(tensor, taken.as_any())?;
    found.writeable = match flags {
        Some(flags) => flags & READ_ONLY == 0,
        None => found.size() == 0 || numpy_may_write(object, found.pointer)?,
    };
    Ok(found)
}

/// The capsule of an object, in the versioned form where it knows that.
fn ask<'py>(object: &Bound<'py, PyAny>, stream: &Stream) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let options = PyDict::new(py);
    if let Some(number) = number_for(object, stream)? {
        options.set_item("stream", number)?;
    }
    options.set_item("max_version", (VERSION.major, VERSION.minor))?;
    match object.call_method("__dlpack__", (), Some(&options)) {
        // Written before the versioned form: there is no such argument.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            options.del_item("max_version")?;
            object.call_method("__dlpack__", (), Some(&options))
        }
        answer => answer,
    }
}

/// The stream on which a GPU's elements must be ready: ours, or the default stream of another device, from which they are copied.
fn number_for(object: &Bound<'_, PyAny>, stream: &Stream) -> PyResult<Option<u64>> {
    if !object.hasattr("__dlpack_device__")? {
        return Ok(None);
    }
    let (kind, id): (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
    let Some(device) = open_device(kind, id)? else { return Ok(None) };
    if device.same(stream.device()) {
        return Ok(Some(stream_number(stream)));
    }
    Ok(Some(stream_number(&device.default_stream().map_err(Error::from)?)))
}

/// A device by DLPack's name; none is the host.
fn open_device(kind: i32, id: i32) -> PyResult<Option<Device>> {
    let name = match kind {
        CPU | CUDA_HOST | ROCM_HOST => return Ok(None),
        CUDA | CUDA_MANAGED => format!("cuda:{id}"),
        ROCM => format!("hip:{id}"),
        other => return Err(PyTypeError::new_err(format!("arrays of DLPack device type {other} are not supported"))),
    };
    Ok(Some(Device::open(&name).map_err(Error::from)?))
}

/// Where the elements of a tensor are.
fn elements<'py>(tensor: &DlTensor, owner: &Bound<'py, PyAny>) -> PyResult<Foreign<'py>> {
    let dtype = dtype_from(tensor.dtype).ok_or_else(|| {
        let DlDataType { code, bits, lanes } = tensor.dtype;
        PyTypeError::new_err(format!("the DLPack type with code {code}, {bits} bits and {lanes} lanes is not supported"))
    })?;
    let device = open_device(tensor.device.kind, tensor.device.id)?;
    let axes = |pointer: *mut i64| -> Vec<i64> {
        // SAFETY: `ndim` entries, by the protocol.
        (0..tensor.ndim.max(0) as usize).map(|axis| unsafe { *pointer.add(axis) }).collect()
    };
    let impossible = || PyBufferError::new_err("DLPack offered a tensor with an invalid shape or strides");
    if tensor.ndim < 0 || tensor.ndim > 0 && tensor.shape.is_null() {
        return Err(impossible());
    }
    let shape: Vec<usize> = axes(tensor.shape).into_iter().map(usize::try_from).collect::<Result<_, _>>().map_err(|_| impossible())?;
    let strides = if tensor.strides.is_null() {
        None
    } else {
        let in_bytes = |stride: i64| (stride as isize).checked_mul(dtype.size() as isize);
        Some(axes(tensor.strides).into_iter().map(in_bytes).collect::<Option<Vec<isize>>>().ok_or_else(impossible)?)
    };
    if strides.is_none() && shape.iter().try_fold(dtype.size(), |bytes, &len| bytes.checked_mul(len)).is_none() {
        return Err(impossible());
    }
    let strides = strides.unwrap_or_else(|| Layout::dense(&shape, dtype.size()).strides);
    let pointer = (tensor.data as u64).checked_add(tensor.byte_offset).ok_or_else(impossible)?;
    Foreign { device, pointer, dtype, shape, strides, writeable: false, owner: owner.clone() }.checked()
}

/// Whether NumPy sees the same elements and may write them: the old form cannot say whether they are immutable, as those of Arrow are.
fn numpy_may_write(object: &Bound<'_, PyAny>, pointer: u64) -> PyResult<bool> {
    let Ok(seen) = as_array(object, None) else { return Ok(false) };
    Ok(NdArray::of(&seen)?.is_some_and(|array| array.is_writeable() && array.pointer() as u64 == pointer))
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
