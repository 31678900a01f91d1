//! Changing the expressions of a layout: lengths, strides and offsets.

use parloop_ir::syntax::{DimTag, Expr, Layout, Offset, Shape, Stride};

/// The layout with each of its expressions changed.
pub(super) fn in_layout(layout: &Layout, change: &dyn Fn(&Expr) -> Expr) -> Layout {
    let shape = match &layout.shape {
        Shape::Known(lengths) => Shape::Known(lengths.iter().map(change).collect()),
        shape => shape.clone(),
    };
    let tag = |tag: &DimTag| match tag {
        DimTag::Stride(Stride::Fixed(stride)) => DimTag::Stride(Stride::Fixed(change(stride))),
        tag => tag.clone(),
    };
    let offset = match &layout.offset {
        Offset::Given(offset) => Offset::Given(change(offset)),
        offset => offset.clone(),
    };
    Layout { shape, dim_tags: layout.dim_tags.iter().map(tag).collect(), offset, ..layout.clone() }
}
