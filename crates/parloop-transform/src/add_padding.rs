//! `add_padding`: pads the stride of an axis.

use parloop_analysis::dependence::elements_share_memory;
use parloop_analysis::facts::Facts;
use parloop_ir::fold;
use parloop_ir::syntax::{DimTag, Layout, LoopKernel, Stride};
use parloop_isl::Name;

use super::arrays::{UnknownArray, layout_of, set_layout};

/// Why an array cannot be padded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddPaddingError {
    /// Unknown array.
    #[error("{0}")]
    UnknownArray(#[from] UnknownArray),
    /// The axis does not exist, or has no stride.
    #[error(
        "axis {axis} of `{array}` is {what}; only an axis with a stride that is computed from other axes, or is a constant, can be padded"
    )]
    NoStride {
        /// The array.
        array: Name,
        /// The axis, counted from 0.
        axis: usize,
        /// What it is.
        what: &'static str,
    },
    /// Elements share memory.
    #[error("elements of `{array}` share memory through its strides, and the kernel writes to it, so padding would change the results")]
    SharedElements {
        /// The array.
        array: Name,
    },
    /// The multiple is zero.
    #[error("`{array}` cannot be padded to multiples of 0 elements")]
    Zero {
        /// The array.
        array: Name,
    },
}

/// Rounds the stride of an axis up to a multiple of the given number of elements. Callers must pass arrays with these strides.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::add_padding;
/// let program = make_kernel("{[i, j]: 0<=i<n and 0<=j<36}", "a[i, j] = 1")?;
/// let kernel = add_padding(program.entry().unwrap(), &"a".into(), 0, 16)?;
/// assert!(kernel.to_string().contains("a: global [n, 36] {dim_tags=[nested(1, 16), N0]}"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`AddPaddingError`].
pub fn add_padding(kernel: &LoopKernel, array: &Name, axis: usize, elements: u64) -> Result<LoopKernel, AddPaddingError> {
    if elements == 0 {
        return Err(AddPaddingError::Zero { array: array.clone() });
    }
    let layout = layout_of(kernel, array)?;
    let none = |what| AddPaddingError::NoStride { array: array.clone(), axis, what };
    let axes = layout.axis_count().ok_or_else(|| none("unknown"))?;
    let mut tags = layout.tags(axes);
    let tag = match tags.get(axis).ok_or_else(|| none("out of range"))? {
        DimTag::Stride(Stride::Nested { level, pad_to }) => {
            DimTag::Stride(Stride::Nested { level: *level, pad_to: least_common_multiple(*pad_to, elements) })
        }
        DimTag::Stride(Stride::Fixed(stride)) => {
            let stride = fold::as_int(stride)
                .and_then(|stride| u64::try_from(stride).ok())
                .ok_or_else(|| none("an axis whose stride is not a constant"))?;
            let padded = stride.div_ceil(elements) * elements;
            // Axes outside it would have to move.
            let is_outer = |other: &DimTag| match other {
                DimTag::Stride(Stride::Fixed(other)) => fold::as_int(other).is_none_or(|other| other as u64 > stride),
                DimTag::Stride(_) => true,
                _ => false,
            };
            if padded != stride && tags.iter().enumerate().any(|(at, other)| at != axis && is_outer(other)) {
                return Err(none("inside another"));
            }
            DimTag::Stride(Stride::Fixed(parloop_ir::syntax::Expr::int(padded as i64)))
        }
        DimTag::Stride(Stride::Auto) => return Err(none("an axis whose stride each call determines")),
        DimTag::Separate => return Err(none("separate")),
        DimTag::Vector => return Err(none("a vector")),
    };
    if tags[axis] != tag && elements_share_memory(&Facts::of(kernel), array) {
        return Err(AddPaddingError::SharedElements { array: array.clone() });
    }
    tags[axis] = tag;
    let padded = Layout { dim_tags: tags, ..layout.clone() };
    let mut result = kernel.clone();
    set_layout(&mut result, array, padded);
    Ok(result)
}

fn least_common_multiple(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one.max(1), other);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    one.max(1) / a * other
}
