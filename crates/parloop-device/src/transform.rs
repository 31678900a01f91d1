//! What a Fourier transform is asked to do, as data.

use crate::dtype::DType;

/// Which way a transform goes. Neither way scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FftDirection {
    /// With `exp(-2πi jk/n)`.
    Forward,
    /// With `exp(+2πi jk/n)`.
    Inverse,
}

/// Complex elements one after the other in C order, and the axes along which they are transformed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FftShape {
    /// The length along each axis.
    pub lengths: Vec<usize>,
    /// The axes to transform, each once, in ascending order.
    pub axes: Vec<usize>,
    /// [`DType::C64`] or [`DType::C128`].
    pub dtype: DType,
}

impl FftShape {
    /// The bytes of all elements; `None` when no memory could hold them, or when this is nothing that can be transformed.
    pub(crate) fn checked_bytes(&self) -> Option<usize> {
        let ascending = self.axes.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = self.axes.last().is_none_or(|&axis| axis < self.lengths.len());
        let bytes = self.lengths.iter().try_fold(self.dtype.size(), |bytes, &len| bytes.checked_mul(len));
        bytes.filter(|&bytes| ascending && inside && self.dtype.is_complex() && bytes <= isize::MAX as usize)
    }
}
