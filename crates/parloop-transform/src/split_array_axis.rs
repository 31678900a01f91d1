//! `split_array_axis`: splits an axis of an array in two, with an inner axis of given length.

use std::sync::Arc;

use parloop_ir::fold;
use parloop_ir::syntax::{BinaryOp, DimTag, Expr, Layout, LoopKernel, Shape, Stride};
use parloop_isl::{IslError, Name};

use super::arrays::{UnknownArray, layout_of, set_layout};
use super::simplify_indices::simplified;

/// Which axis is split, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisSplit {
    /// The axis, counted from 0.
    pub axis: usize,
    /// The length of the inner axis.
    pub length: i64,
    /// Whether the inner axis comes first, as in Fortran.
    pub inner_first: bool,
}

/// Why an axis cannot be split.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitArrayAxisError {
    /// Unknown array.
    #[error("{0}")]
    UnknownArray(#[from] UnknownArray),
    /// Unknown axis.
    #[error("array `{array}` has no axis {axis}; it has {axes}, counted from 0")]
    NoAxis {
        /// The array.
        array: Name,
        /// The axis.
        axis: usize,
        /// How many it has.
        axes: usize,
    },
    /// The shape is not known.
    #[error("the shape of array `{array}` is unknown; give it one")]
    NoShape {
        /// The array.
        array: Name,
    },
    /// The length is not positive.
    #[error("the inner axis of `{array}` would have length {length}; it must be at least 1")]
    Length {
        /// The array.
        array: Name,
        /// The length.
        length: i64,
    },
    /// The axis has no stride that could be split.
    #[error("axis {axis} of array `{array}` is {what}; only axes with their own stride can be split")]
    NoStride {
        /// The array.
        array: Name,
        /// The axis.
        axis: usize,
        /// What it is.
        what: &'static str,
    },
    /// It is used without indices.
    #[error("instruction `{instruction}` uses `{array}` {how}, so its axes cannot change")]
    OtherUse {
        /// The array.
        array: Name,
        /// The instruction, or the rule.
        instruction: Name,
        /// How.
        how: &'static str,
    },
    /// It has initial values, laid out for its axes.
    #[error("`{array}` has initial values, whose layout follows its current axes")]
    Initialized {
        /// The array.
        array: Name,
    },
    /// The solver failed.
    #[error("{0}")]
    Solver(#[from] IslError),
}

/// Splits an axis of arrays: `a[i]` becomes `a[i//4, i % 4]`, with elements in the same positions. Callers must pass arrays of the changed
/// shape; the last part may be longer than the axis was.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::{AxisSplit, split_array_axis};
/// let program = make_kernel("{[o, i]: 0<=o<n and 0<=i<4}", "a[4*o + i] = 1")?;
/// let split = AxisSplit { axis: 0, length: 4, inner_first: false };
/// let kernel = split_array_axis(program.entry().unwrap(), &["a".into()], &split)?;
/// assert_eq!(kernel.instructions[0].lhs()[0].to_string(), "a[o, i]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SplitArrayAxisError`].
pub fn split_array_axis(kernel: &LoopKernel, arrays: &[Name], split: &AxisSplit) -> Result<LoopKernel, SplitArrayAxisError> {
    let mut result = kernel.clone();
    for array in arrays {
        let layout = split.layout(array, layout_of(kernel, array)?)?;
        if kernel.temporaries.get(array).is_some_and(|temporary| temporary.initializer.is_some()) {
            return Err(SplitArrayAxisError::Initialized { array: array.clone() });
        }
        set_layout(&mut result, array, layout);
        for instruction in &mut result.instructions {
            let id = instruction.id.clone();
            *instruction = Arc::new(instruction.try_map_exprs(&mut |expr| split.rewrite(kernel, array, &id, expr))?);
        }
        for rule in result.substitutions.values_mut() {
            rule.body = split.rewrite(kernel, array, &rule.name, &rule.body)?;
        }
    }
    Ok(result)
}

impl AxisSplit {
    fn layout(&self, array: &Name, old: &Layout) -> Result<Layout, SplitArrayAxisError> {
        if self.length < 1 {
            return Err(SplitArrayAxisError::Length { array: array.clone(), length: self.length });
        }
        let Shape::Known(lengths) = &old.shape else { return Err(SplitArrayAxisError::NoShape { array: array.clone() }) };
        if self.axis >= lengths.len() {
            return Err(SplitArrayAxisError::NoAxis { array: array.clone(), axis: self.axis, axes: lengths.len() });
        }
        let blocks = fold::add(lengths[self.axis].clone(), Expr::int(self.length - 1));
        let outer_length = fold::floor_divide(blocks, Expr::int(self.length));
        let shape = self.in_place_of(lengths, outer_length, Expr::int(self.length));
        let dim_tags = self.dim_tags(array, old.tags(lengths.len()))?;
        let axis_names = old.axis_names.as_ref().map(|names| {
            let name = &names[self.axis];
            self.in_place_of(names, format!("{name}_outer").into(), format!("{name}_inner").into())
        });
        Ok(Layout { shape: Shape::Known(shape), dim_tags, fortran_order: false, offset: old.offset.clone(), axis_names })
    }

    /// The inner part keeps the place of the axis in memory; the outer one is next, and all slower axes move on.
    fn dim_tags(&self, array: &Name, mut tags: Vec<DimTag>) -> Result<Vec<DimTag>, SplitArrayAxisError> {
        let none = |what| Err(SplitArrayAxisError::NoStride { array: array.clone(), axis: self.axis, what });
        let (outer, inner) = match tags[self.axis].clone() {
            DimTag::Separate => return none("separate"),
            DimTag::Vector => return none("a vector"),
            DimTag::Stride(Stride::Auto) => return none("an axis whose stride each call determines"),
            DimTag::Stride(Stride::Fixed(stride)) => {
                (Stride::Fixed(fold::multiply(stride.clone(), Expr::int(self.length))), Stride::Fixed(stride))
            }
            DimTag::Stride(Stride::Nested { level: own, pad_to }) => {
                for tag in &mut tags {
                    if let DimTag::Stride(Stride::Nested { level, .. }) = tag
                        && *level > own
                    {
                        *level += 1;
                    }
                }
                (Stride::Nested { level: own + 1, pad_to: 1 }, Stride::Nested { level: own, pad_to })
            }
        };
        Ok(self.in_place_of(&tags, DimTag::Stride(outer), DimTag::Stride(inner)))
    }

    fn in_place_of<T: Clone>(&self, items: &[T], outer: T, inner: T) -> Vec<T> {
        let mut all = items.to_vec();
        let pair = if self.inner_first { [inner, outer] } else { [outer, inner] };
        all.splice(self.axis..=self.axis, pair);
        all
    }

    fn rewrite(&self, kernel: &LoopKernel, array: &Name, place: &Name, expr: &Expr) -> Result<Expr, SplitArrayAxisError> {
        let other = |how| SplitArrayAxisError::OtherUse { array: array.clone(), instruction: place.clone(), how };
        let is_array = |expr: &Expr| *expr == Expr::var(array);
        expr.try_rewrite(&mut |inner| match inner {
            Expr::Subscript(aggregate, indices) if is_array(aggregate) => {
                let indices: Vec<Expr> = indices.iter().map(|index| self.rewrite(kernel, array, place, index)).collect::<Result<_, _>>()?;
                let Some(index) = indices.get(self.axis) else { return Err(other("with too few indices")) };
                let part = |op| simplified(kernel, &Expr::binary(op, index.clone(), Expr::int(self.length)));
                let (block, rest) = (part(BinaryOp::FloorDivide)?, part(BinaryOp::Modulo)?);
                Ok(Some(Expr::subscript(array.clone(), self.in_place_of(&indices, block, rest))))
            }
            Expr::LinearSubscript(aggregate, _) if is_array(aggregate) => Err(other("with a linear index")),
            Expr::SubArray(part) if part.array == *array => Err(other("as an argument of a call")),
            inner if is_array(inner) => Err(other("without indices")),
            _ => Ok(None),
        })
    }
}
