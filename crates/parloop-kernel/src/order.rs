//! In which order the elements of an array follow each other, and whether they do so without gaps.

use std::fmt;

/// The order in which the elements of an array follow each other in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last axis is the fastest.
    #[default]
    C,
    /// The first axis is the fastest.
    Fortran,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Order::C => "C",
            Order::Fortran => "Fortran",
        })
    }
}

/// Where the elements of an array do not follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The axis.
    pub axis: usize,
    /// The bytes from one element to the next along it that would leave no gap.
    pub expected: i64,
}

/// The bytes from one element to the next along each axis of an array without gaps. Axes without elements count as if they had one, and
/// what is too large for 64 bits is the largest number.
///
/// ```
/// use parloop_kernel::{Order, dense_strides, first_gap};
/// assert_eq!(dense_strides(&[2, 3], 8, Order::C), [24, 8]);
/// assert_eq!(dense_strides(&[2, 3], 8, Order::Fortran), [8, 16]);
/// assert_eq!(first_gap(&[2, 3], &[24, 8], 8, Order::C), None);
/// assert_eq!(first_gap(&[2, 3], &[32, 8], 8, Order::C).map(|gap| (gap.axis, gap.expected)), Some((0, 24)));
/// ```
pub fn dense_strides(shape: &[i64], itemsize: usize, order: Order) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    steps(shape, itemsize, order).for_each(|(axis, step)| strides[axis] = step);
    strides
}

/// The fastest axis along which elements of that shape and these strides do not follow each other in that order; `None` where they have no
/// gaps. Strides of axes with one element do not matter, and none of an array without elements. There is a stride for each axis.
pub fn first_gap(shape: &[i64], strides: &[i64], itemsize: usize, order: Order) -> Option<Gap> {
    if shape.contains(&0) {
        return None;
    }
    let (axis, expected) = steps(shape, itemsize, order).find(|&(axis, step)| shape[axis] != 1 && strides[axis] != step)?;
    Some(Gap { axis, expected })
}

/// The axes of an array without gaps, the fastest first, and the bytes from one element to the next along each.
fn steps(shape: &[i64], itemsize: usize, order: Order) -> impl Iterator<Item = (usize, i64)> {
    let mut next = i64::try_from(itemsize).unwrap_or(i64::MAX);
    let axes = (0..shape.len()).map(move |place| match order {
        Order::C => shape.len() - 1 - place,
        Order::Fortran => place,
    });
    axes.map(move |axis| {
        let step = next;
        next = step.saturating_mul(shape[axis].max(1));
        (axis, step)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_with_one_element_and_arrays_without_any_have_no_gaps() {
        let gaps = |shape: &[i64], strides: &[i64]| {
            [Order::C, Order::Fortran].map(|order| first_gap(shape, strides, 8, order).map(|gap| (gap.axis, gap.expected)))
        };
        assert_eq!(gaps(&[], &[]), [None, None]);
        assert_eq!(gaps(&[3], &[8]), [None, None]);
        assert_eq!(gaps(&[3], &[-8]), [Some((0, 8)), Some((0, 8))]);
        assert_eq!(gaps(&[2, 3], &[24, 8]), [None, Some((0, 8))]);
        assert_eq!(gaps(&[2, 3], &[8, 16]), [Some((1, 8)), None]);
        assert_eq!(gaps(&[2, 1, 3], &[24, 77, 8]), [None, Some((0, 8))]);
        assert_eq!(gaps(&[1, 3], &[77, 8]), [None, None]);
        assert_eq!(gaps(&[0, 3], &[1, 2]), [None, None]);
        assert_eq!(gaps(&[i64::MAX, 2, 2], &[32, 16, 8]), [None, Some((0, 8))]);
    }
}
