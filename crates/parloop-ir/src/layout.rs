//! What a [`Layout`] says about memory: the number of axes, the stride of each, sizes, and where an element is.
//!
//! Strides and sizes are counted in numbers, not in bytes. A vector axis of three takes the space of four, as `float3` does. A separate
//! axis takes no space: each of its indices is a separate array.

use parloop_isl::Name;

use crate::fold;
use crate::syntax::{DimTag, Expr, Layout, Offset, Shape, Stride};

/// Why a layout does not determine where an element is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// Neither shape nor axes are given.
    #[error("array `{array}`: the number of axes is unknown; give it a shape")]
    UnknownAxes {
        /// The array.
        array: Name,
    },
    /// The length of an axis is needed but not given.
    #[error("array `{array}`: the length of axis {axis} is needed but unknown; give it a shape, or strides")]
    UnknownLength {
        /// The array.
        array: Name,
        /// The axis, counted from 0.
        axis: usize,
    },
    /// Shape and axes differ in number.
    #[error("array `{array}` has {lengths} axes in its shape, but {tags} dim tags")]
    AxesDiffer {
        /// The array.
        array: Name,
        /// The number of lengths.
        lengths: usize,
        /// The number of descriptions.
        tags: usize,
    },
    /// The number of indices does not match the number of axes.
    #[error("array `{array}` has {axes} axes, but is used with {indices} indices")]
    WrongIndices {
        /// The array.
        array: Name,
        /// Its axes.
        axes: usize,
        /// The indices.
        indices: usize,
    },
    /// The array has more than one vector axis.
    #[error("array `{array}` has two vector axes, {first} and {second}; tag one of them differently")]
    TwoVectorAxes {
        /// The array.
        array: Name,
        /// The first.
        first: usize,
        /// The second.
        second: usize,
    },
    /// No vector has that length.
    #[error("array `{array}`: vector axis {axis} has length `{length}`, but vectors have 2, 3, 4, 8 or 16 lanes")]
    VectorLength {
        /// The array.
        array: Name,
        /// The axis.
        axis: usize,
        /// Its length.
        length: Expr,
    },
    /// A given stride is not a whole number of vectors.
    #[error("array `{array}`: the stride `{stride}` of axis {axis} is not a multiple of the vector width, {width}")]
    StrideInsideVector {
        /// The array.
        array: Name,
        /// The axis.
        axis: usize,
        /// Its stride.
        stride: Expr,
        /// The size of a vector.
        width: u64,
    },
    /// Two axes at one nesting level.
    #[error("array `{array}`: axes {first} and {second} both have nesting level {level}; use each of the levels 0, 1, … once")]
    SameLevel {
        /// The array.
        array: Name,
        /// The first.
        first: usize,
        /// The second.
        second: usize,
        /// The level.
        level: usize,
    },
}

/// What an index along an axis does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Axis {
    /// It advances by that many numbers.
    Stride(Expr),
    /// It chooses the array.
    Separate,
    /// It chooses the lane.
    Vector,
}

/// The location of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementLocation {
    /// Its index in memory, from the beginning of the buffer (including the offset); counted in vectors if there is a lane, else in
    /// numbers.
    pub index: Expr,
    /// The indices along the separate axes, in order: which of the arrays it is in.
    pub separate: Vec<Expr>,
    /// Which lane of the vector.
    pub lane: Option<Expr>,
}

/// A number that a call reads from the array and passes to the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// The stride of that axis, in numbers.
    Stride(usize),
    /// Where the array begins in its buffer, in numbers.
    Offset,
}

impl Layout {
    /// The number of axes, if known.
    ///
    /// ```
    /// use parloop_loop::syntax::{Expr, Layout, Shape};
    /// assert_eq!(Layout::c_order(Shape::Known(vec![Expr::var("n"), Expr::int(3)])).axis_count(), Some(2));
    /// assert_eq!(Layout::c_order(Shape::Auto).axis_count(), None);
    /// ```
    pub fn axis_count(&self) -> Option<usize> {
        match &self.shape {
            Shape::Known(lengths) => Some(lengths.len()),
            _ if !self.dim_tags.is_empty() => Some(self.dim_tags.len()),
            _ => self.axis_names.as_ref().map(Vec::len),
        }
    }

    /// The lengths of its axes, if known.
    pub fn lengths(&self) -> Option<&[Expr]> {
        match &self.shape {
            Shape::Known(lengths) => Some(lengths),
            _ => None,
        }
    }

    /// The lengths of its axes, if all are constants.
    pub fn static_lengths(&self) -> Option<Vec<u64>> {
        self.lengths()?.iter().map(|length| fold::as_int(length).and_then(|value| u64::try_from(value).ok())).collect()
    }

    /// The dim tag of each axis: as given, or in C or Fortran order.
    pub fn tags(&self, axes: usize) -> Vec<DimTag> {
        if self.dim_tags.len() == axes {
            return self.dim_tags.clone();
        }
        let level = |axis: usize| if self.fortran_order { axis } else { axes - 1 - axis };
        (0..axes).map(|axis| DimTag::Stride(Stride::Nested { level: level(axis), pad_to: 1 })).collect()
    }

    /// What an index along each axis does.
    ///
    /// ```
    /// use parloop_loop::layout::Axis;
    /// use parloop_loop::syntax::{Expr, Layout, Shape};
    /// let layout = Layout::c_order(Shape::Known(vec![Expr::var("n"), Expr::int(4)]));
    /// assert_eq!(layout.axes(&"a".into())?, [Axis::Stride(Expr::int(4)), Axis::Stride(Expr::int(1))]);
    /// # Ok::<(), parloop_loop::layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// If the number of axes, or a length that a stride needs, is unknown, or if the dim tags do not form a layout.
    pub fn axes(&self, array: &Name) -> Result<Vec<Axis>, LayoutError> {
        let tags = self.checked_tags(array)?;
        let mut found: Vec<Axis> = Vec::with_capacity(tags.len());
        for (axis, tag) in tags.iter().enumerate() {
            found.push(match tag {
                DimTag::Separate => Axis::Separate,
                DimTag::Vector => Axis::Vector,
                DimTag::Stride(Stride::Fixed(stride)) => Axis::Stride(stride.clone()),
                DimTag::Stride(Stride::Auto) => Axis::Stride(Expr::var(stride_parameter(array, axis))),
                DimTag::Stride(Stride::Nested { .. }) => Axis::Stride(Expr::int(1)),
            });
        }
        let mut stride = Expr::int(self.vector_width(array)?.map_or(1, |width| width as i64));
        let mut inner: Option<usize> = None;
        for (axis, pad_to) in nested_axes(&tags) {
            if let Some(inner) = inner {
                stride = fold::multiply(stride, self.length(array, inner)?);
            }
            stride = fold::round_up(stride, pad_to);
            found[axis] = Axis::Stride(stride.clone());
            inner = Some(axis);
        }
        Ok(found)
    }

    /// The location of `array[indices]`.
    ///
    /// ```
    /// use parloop_loop::syntax::{BinaryOp, Expr, Layout, Shape};
    /// let layout = Layout::c_order(Shape::Known(vec![Expr::var("n"), Expr::int(4)]));
    /// let place = layout.place(&"a".into(), &[Expr::var("i"), Expr::int(3)])?;
    /// let row = Expr::binary(BinaryOp::Multiply, Expr::int(4), Expr::var("i"));
    /// assert_eq!(place.index, Expr::binary(BinaryOp::Add, row, Expr::int(3)));
    /// # Ok::<(), parloop_loop::layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// As [`axes`](Self::axes), and if the number of indices does not match the number of axes.
    pub fn place(&self, array: &Name, indices: &[Expr]) -> Result<ElementLocation, LayoutError> {
        let axes = self.axes(array)?;
        if axes.len() != indices.len() {
            return Err(LayoutError::WrongIndices { array: array.clone(), axes: axes.len(), indices: indices.len() });
        }
        let width = self.vector_width(array)?;
        let mut place = ElementLocation { index: self.offset(array), separate: Vec::new(), lane: None };
        for (number, (axis, index)) in axes.into_iter().zip(indices).enumerate() {
            match axis {
                Axis::Separate => place.separate.push(index.clone()),
                Axis::Vector => place.lane = Some(index.clone()),
                Axis::Stride(stride) => {
                    let stride = whole_vectors(array, number, stride, width)?;
                    place.index = fold::add(place.index, fold::multiply(stride, index.clone()));
                }
            }
        }
        Ok(place)
    }

    /// How many numbers one of its arrays takes from its beginning to its last element; numbers before the offset are not counted.
    ///
    /// # Errors
    /// As [`axes`](Self::axes), and if the length of an axis is unknown.
    pub fn size(&self, array: &Name) -> Result<Expr, LayoutError> {
        let tags = self.checked_tags(array)?;
        let axes = self.axes(array)?;
        let width = self.vector_width(array)?.map_or(1, |width| width as i64);
        let nested = nested_axes(&tags);
        let strided = axes.iter().filter(|axis| matches!(axis, Axis::Stride(_))).count();
        if nested.len() == strided {
            return match nested.last() {
                None => Ok(Expr::int(width)),
                Some(&(axis, _)) => match &axes[axis] {
                    Axis::Stride(stride) => Ok(fold::multiply(stride.clone(), self.length(array, axis)?)),
                    _ => Ok(Expr::int(width)),
                },
            };
        }
        let mut size = Expr::int(width);
        for (number, axis) in axes.into_iter().enumerate() {
            if let Axis::Stride(stride) = axis {
                let last = fold::subtract(self.length(array, number)?, Expr::int(1));
                size = fold::add(size, fold::multiply(stride, last));
            }
        }
        Ok(size)
    }

    /// [`size`](Self::size), if it is a constant.
    ///
    /// # Errors
    /// As [`size`](Self::size).
    pub fn static_size(&self, array: &Name) -> Result<Option<u64>, LayoutError> {
        Ok(fold::as_int(&self.size(array)?).and_then(|size| u64::try_from(size).ok()))
    }

    /// The number of scalars in a vector, if there is a vector axis: its length, or 4 for 3.
    ///
    /// # Errors
    /// If there are two vector axes, or one with an invalid length.
    pub fn vector_width(&self, array: &Name) -> Result<Option<u64>, LayoutError> {
        let mut axes = self.dim_tags.iter().enumerate().filter(|(_, tag)| matches!(tag, DimTag::Vector)).map(|(axis, _)| axis);
        let Some(axis) = axes.next() else { return Ok(None) };
        if let Some(second) = axes.next() {
            return Err(LayoutError::TwoVectorAxes { array: array.clone(), first: axis, second });
        }
        let length = self.length(array, axis)?;
        match fold::as_int(&length) {
            Some(3) => Ok(Some(4)),
            Some(width @ (2 | 4 | 8 | 16)) => Ok(Some(width as u64)),
            _ => Err(LayoutError::VectorLength { array: array.clone(), axis, length }),
        }
    }

    /// The lengths of its separate axes, in order.
    ///
    /// # Errors
    /// If one is unknown.
    pub fn separate_lengths(&self, array: &Name) -> Result<Vec<Expr>, LayoutError> {
        let axes = self.dim_tags.iter().enumerate().filter(|(_, tag)| matches!(tag, DimTag::Separate));
        axes.map(|(axis, _)| self.length(array, axis)).collect()
    }

    /// Where the array begins in its buffer.
    pub fn offset(&self, array: &Name) -> Expr {
        match &self.offset {
            Offset::Zero => Expr::int(0),
            Offset::Auto => Expr::var(offset_parameter(array)),
            Offset::Given(offset) => offset.clone(),
        }
    }

    /// The numbers that each call reads from the array, by the names that [`axes`](Self::axes) and [`place`](Self::place) use.
    pub fn hidden_parameters(&self, array: &Name) -> Vec<(Name, Hidden)> {
        let strides = self.dim_tags.iter().enumerate().filter(|(_, tag)| matches!(tag, DimTag::Stride(Stride::Auto)));
        let mut found: Vec<(Name, Hidden)> = strides.map(|(axis, _)| (stride_parameter(array, axis), Hidden::Stride(axis))).collect();
        if self.offset == Offset::Auto {
            found.push((offset_parameter(array), Hidden::Offset));
        }
        found
    }

    /// The lengths that each call reads from the array where the shape does not give them, for code that checks indices.
    pub fn unknown_lengths(&self, array: &Name) -> Vec<Name> {
        match self.lengths() {
            Some(_) => Vec::new(),
            // If the axes are unknown, a single length covers the whole array.
            None => (0..self.axis_count().unwrap_or(1)).map(|axis| length_parameter(array, axis)).collect(),
        }
    }

    fn checked_tags(&self, array: &Name) -> Result<Vec<DimTag>, LayoutError> {
        let axes = self.axis_count().ok_or_else(|| LayoutError::UnknownAxes { array: array.clone() })?;
        if !self.dim_tags.is_empty() && self.dim_tags.len() != axes {
            return Err(LayoutError::AxesDiffer { array: array.clone(), lengths: axes, tags: self.dim_tags.len() });
        }
        let tags = self.tags(axes);
        let nested = nested_levels(&tags);
        for pair in nested.windows(2) {
            if pair[0].0 == pair[1].0 {
                return Err(LayoutError::SameLevel { array: array.clone(), first: pair[0].1, second: pair[1].1, level: pair[0].0 });
            }
        }
        Ok(tags)
    }

    fn length(&self, array: &Name, axis: usize) -> Result<Expr, LayoutError> {
        let length = self.lengths().and_then(|lengths| lengths.get(axis));
        length.cloned().ok_or_else(|| LayoutError::UnknownLength { array: array.clone(), axis })
    }
}

/// The name of the stride of an axis that each call determines.
pub fn stride_parameter(array: &Name, axis: usize) -> Name {
    format!("{array}_stride{axis}").into()
}

/// The name of the length of an axis that each call determines.
pub fn length_parameter(array: &Name, axis: usize) -> Name {
    format!("{array}_length{axis}").into()
}

/// The name of the offset that each call determines.
pub fn offset_parameter(array: &Name) -> Name {
    format!("{array}_offset").into()
}

/// (level, axis, padding) of the nested axes, the fastest varying first.
fn nested_levels(tags: &[DimTag]) -> Vec<(usize, usize, u64)> {
    let mut found: Vec<(usize, usize, u64)> = (tags.iter().enumerate())
        .filter_map(|(axis, tag)| match tag {
            DimTag::Stride(Stride::Nested { level, pad_to }) => Some((*level, axis, *pad_to)),
            _ => None,
        })
        .collect();
    found.sort_unstable();
    found
}

fn nested_axes(tags: &[DimTag]) -> Vec<(usize, u64)> {
    nested_levels(tags).into_iter().map(|(_, axis, pad_to)| (axis, pad_to)).collect()
}

/// A stride in vectors, if there are any.
fn whole_vectors(array: &Name, axis: usize, stride: Expr, width: Option<u64>) -> Result<Expr, LayoutError> {
    let Some(width) = width else { return Ok(stride) };
    match fold::as_int(&stride) {
        Some(value) if value % width as i64 != 0 => Err(LayoutError::StrideInsideVector { array: array.clone(), axis, stride, width }),
        _ => Ok(fold::floor_divide(stride, Expr::int(width as i64))),
    }
}
