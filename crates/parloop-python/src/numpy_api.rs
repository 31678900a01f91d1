//! NumPy's own C functions, from the table that every version since 1.7 offers: for views of memory, which by way of Python cost
//! microseconds.

use std::ffi::{c_int, c_void};

use parloop_device::DType;
use pyo3::exceptions::PyImportError;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyCapsule;

use crate::layout::Layout;

type NewArray = unsafe extern "C" fn(
    class: *mut PyObject,
    axes: c_int,
    shape: *const isize,
    kind: c_int,
    strides: *const isize,
    data: *mut c_void,
    itemsize: c_int,
    flags: c_int,
    like: *mut PyObject,
) -> *mut PyObject;
type DescribeKind = unsafe extern "C" fn(kind: c_int) -> *mut PyObject;
type NewScalar = unsafe extern "C" fn(data: *mut c_void, description: *mut PyObject, base: *mut PyObject) -> *mut PyObject;
type SetBase = unsafe extern "C" fn(array: *mut PyObject, base: *mut PyObject) -> c_int;

type Version = unsafe extern "C" fn() -> std::ffi::c_uint;
type Endianness = unsafe extern "C" fn() -> c_int;

/// `PyArray_GetNDArrayCVersion`, which stands first in every table.
const VERSION: usize = 0;
/// Versions of the binary interface: NumPy 1 and NumPy 2.
const KNOWN_VERSIONS: [std::ffi::c_uint; 2] = [0x0100_0009, 0x0200_0000];
const ENDIANNESS: usize = 210;
/// `NPY_CPU_LITTLE`
const LITTLE: c_int = 1;
const FEATURES: usize = 211;
/// The functions of NumPy 1.7, of which `PyArray_SetBaseObject` is one.
const NEEDED_FEATURES: std::ffi::c_uint = 7;

/// Places in the table, which never change.
const CLASS: usize = 2;
const DESCRIBE_KIND: usize = 45;
const NEW_SCALAR: usize = 60;
const NEW: usize = 93;
const SET_BASE: usize = 282;
/// `NPY_ARRAY_WRITEABLE`
const WRITEABLE: c_int = 0x400;

struct Api {
    class: *mut PyObject,
    describe_kind: DescribeKind,
    new_scalar: NewScalar,
    new: NewArray,
    set_base: SetBase,
}

// SAFETY: the table and the class live as long as the process, and the functions are called while Python is held.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

fn api(py: Python<'_>) -> PyResult<&'static Api> {
    static API: PyOnceLock<Api> = PyOnceLock::new();
    API.get_or_try_init(py, || {
        let module = py.import("numpy._core._multiarray_umath").or_else(|_| py.import("numpy.core._multiarray_umath"))?;
        let capsule = module.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?;
        let table = capsule.pointer_checked(None)?.as_ptr().cast::<*mut c_void>();
        // SAFETY: the first function of the table is this one in every version, and the others are there in the versions that it names.
        unsafe {
            let version = std::mem::transmute::<*mut c_void, Version>(*table.add(VERSION))();
            if !KNOWN_VERSIONS.contains(&version) {
                let reason =
                    format!("NumPy has ABI version {version:#x}, but this package supports the ABI of NumPy 1 and 2; install one of these");
                return Err(PyImportError::new_err(reason));
            }
            let features = std::mem::transmute::<*mut c_void, Version>(*table.add(FEATURES))();
            if features < NEEDED_FEATURES {
                let reason =
                    format!("NumPy has C API version {features:#x}, but {NEEDED_FEATURES:#x} is needed; install NumPy 1.23 or later");
                return Err(PyImportError::new_err(reason));
            }
            if std::mem::transmute::<*mut c_void, Endianness>(*table.add(ENDIANNESS))() != LITTLE {
                return Err(PyImportError::new_err(
                    "NumPy was built for a machine with another byte order; install a build for this machine",
                ));
            }
        }
        // SAFETY: the table has these entries, of these types, in every NumPy of the versions 1 and 2; its capsule lives with NumPy.
        unsafe {
            Ok(Api {
                class: (*table.add(CLASS)).cast(),
                describe_kind: std::mem::transmute::<*mut c_void, DescribeKind>(*table.add(DESCRIBE_KIND)),
                new_scalar: std::mem::transmute::<*mut c_void, NewScalar>(*table.add(NEW_SCALAR)),
                new: std::mem::transmute::<*mut c_void, NewArray>(*table.add(NEW)),
                set_base: std::mem::transmute::<*mut c_void, SetBase>(*table.add(SET_BASE)),
            })
        }
    })
}

/// Fails where NumPy's objects are not as they are read here.
pub fn check(py: Python<'_>) -> PyResult<()> {
    api(py).map(drop)
}

/// A NumPy array over the elements at `base` plus the layout's offset. It holds `owner`.
///
/// # Safety
/// The elements are there, and may be written, as long as `owner` lives.
pub unsafe fn view<'py>(owner: Bound<'py, PyAny>, base: *mut u8, dtype: DType, layout: &Layout) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the caller guarantees it.
    unsafe { view_with(owner, base, dtype, layout, WRITEABLE) }
}

/// A NumPy array, as [`view`] gives it, that cannot be written.
///
/// # Safety
/// The elements are there as long as `owner` lives.
pub unsafe fn read_only_view<'py>(owner: Bound<'py, PyAny>, base: *mut u8, dtype: DType, layout: &Layout) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the caller guarantees it.
    unsafe { view_with(owner, base, dtype, layout, 0) }
}

/// # Safety
/// The elements are there, and may be written if the flags say so, as long as `owner` lives.
unsafe fn view_with<'py>(
    owner: Bound<'py, PyAny>,
    base: *mut u8,
    dtype: DType,
    layout: &Layout,
    flags: c_int,
) -> PyResult<Bound<'py, PyAny>> {
    let py = owner.py();
    let api = api(py)?;
    let shape: smallvec::SmallVec<[isize; 4]> = layout.shape.iter().map(|&dim| dim as isize).collect();
    let kind = number_of(dtype);
    // SAFETY: shape and strides have as many entries as there are axes; NumPy copies them, works out the other flags itself, and keeps
    // the owner, whose reference it takes over, also when it fails.
    unsafe {
        let data = base.add(layout.offset).cast();
        let array =
            (api.new)(api.class, shape.len() as c_int, shape.as_ptr(), kind, layout.strides.as_ptr(), data, 0, flags, std::ptr::null_mut());
        let array = Bound::from_owned_ptr_or_err(py, array)?;
        if (api.set_base)(array.as_ptr(), owner.into_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(array)
    }
}

/// The NumPy scalar whose bytes these are.
pub fn scalar(py: Python<'_>, mut bytes: [u64; 2], dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    let api = api(py)?;
    // SAFETY: two words hold the longest number; NumPy copies them, and the description is let go after that.
    unsafe {
        let description = Bound::from_owned_ptr_or_err(py, (api.describe_kind)(number_of(dtype)))?;
        let scalar = (api.new_scalar)(bytes.as_mut_ptr().cast(), description.as_ptr(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(py, scalar)
    }
}

/// NumPy's number of a type.
fn number_of(dtype: DType) -> c_int {
    match dtype {
        DType::Bool => 0,
        DType::I8 => 1,
        DType::U8 => 2,
        DType::I16 => 3,
        DType::U16 => 4,
        DType::I32 => 5,
        DType::U32 => 6,
        // `long` is 64 bits wide on all our platforms, and is what NumPy calls int64.
        DType::I64 => 7,
        DType::U64 => 8,
        DType::F32 => 11,
        DType::F64 => 12,
        DType::C64 => 14,
        DType::C128 => 15,
    }
}

/// A NumPy array of that shape in C order, whose elements have any values.
pub fn empty<'py>(py: Python<'py>, shape: &[usize], dtype: DType) -> PyResult<Bound<'py, PyAny>> {
    let api = api(py)?;
    let lengths: smallvec::SmallVec<[isize; 4]> = shape.iter().map(|&length| length as isize).collect();
    let (axes, kind, null) = (lengths.len() as c_int, number_of(dtype), std::ptr::null_mut());
    // SAFETY: the shape has as many entries as there are axes; without data NumPy allocates it, and fails where that is not possible.
    unsafe {
        let array = (api.new)(api.class, axes, lengths.as_ptr(), kind, std::ptr::null(), std::ptr::null_mut(), 0, 0, null);
        Bound::from_owned_ptr_or_err(py, array)
    }
}
