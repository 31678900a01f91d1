//! Numbers for arrays: brought to the type and the order of the array that takes them.

use std::borrow::Cow;

use parloop_device::DType;
use parloop_kernel::Scalar;
use smallvec::SmallVec;

use crate::error::ObjectError;
use crate::path::Path;
use crate::scalar;
use crate::types::strides_of;
use crate::value::Elements;
use crate::view::{Result, indices, indices_in};

/// The same numbers as another type.
///
/// # Errors
/// The first number that does not fit.
pub(crate) fn convert(elements: Elements<'_>, dtype: DType, path: &Path<'_>) -> Result<Elements<'static>> {
    let size = elements.dtype.size();
    let mut bytes = Vec::with_capacity(elements.count() * dtype.size());
    for index in indices(&elements.shape) {
        let at = elements.position(&index);
        let value = scalar::from_bytes(&elements.bytes[at..at + size], elements.dtype);
        let fits = scalar::to_bytes(value, dtype).map_err(|_| out_of_range(&path.item(&index), value, dtype))?;
        bytes.extend_from_slice(&fits[..dtype.size()]);
    }
    Ok(Elements::dense(Cow::Owned(bytes), dtype, elements.shape))
}

/// The same numbers side by side from `start` on, with the axes from the slowest to the fastest in `order`. Numbers that lie so
/// already are not copied.
pub(crate) fn gather<'a>(elements: Elements<'a>, order: &[usize]) -> Elements<'a> {
    let size = elements.dtype.size();
    let wanted = strides_of(&elements.shape, order, size).unwrap_or_default();
    let axes = elements.shape.iter().zip(&elements.strides).zip(&wanted);
    if elements.count() == 0 || axes.clone().all(|((&dim, &stride), &wanted)| dim == 1 || stride == wanted as isize) {
        return elements;
    }
    let mut bytes = Vec::with_capacity(elements.count() * size);
    let (Some((&fast, slow)), true) = (order.split_last(), elements.is_sound()) else { return elements };
    let (steps, stride) = (elements.shape[fast], elements.strides[fast]);
    let mut outer = elements.shape.clone();
    outer[fast] = 1;
    let order: SmallVec<[usize; 4]> = slow.iter().copied().chain([fast]).collect();
    for index in indices_in(&outer, &order) {
        let mut at = elements.position(&index) as isize;
        for _ in 0..steps {
            bytes.extend_from_slice(&elements.bytes[at as usize..at as usize + size]);
            at += stride;
        }
    }
    let strides = wanted.iter().map(|&stride| stride as isize).collect();
    Elements { bytes: Cow::Owned(bytes), start: 0, strides, ..elements }
}

pub(crate) fn out_of_range(path: &Path<'_>, value: Scalar, dtype: DType) -> ObjectError {
    ObjectError::OutOfRange { path: path.to_string(), value: value.to_string(), dtype }
}
