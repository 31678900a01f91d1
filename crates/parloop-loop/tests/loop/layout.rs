//! Memory layout of arrays.

use parloop_loop::Name;
use parloop_loop::fold;
use parloop_loop::layout::{Hidden, LayoutError};
use parloop_loop::syntax::{DimTag, Expr, Layout, Offset, Shape, Stride};
use proptest::prelude::*;

fn nested(level: usize, pad_to: u64) -> DimTag {
    DimTag::Stride(Stride::Nested { level, pad_to })
}

fn layout(lengths: &[i64], dim_tags: Vec<DimTag>) -> Layout {
    Layout { dim_tags, ..Layout::c_order(Shape::Known(lengths.iter().map(|&length| Expr::int(length)).collect())) }
}

fn index_of(layout: &Layout, indices: &[i64]) -> i64 {
    let indices: Vec<Expr> = indices.iter().map(|&index| Expr::int(index)).collect();
    fold::as_int(&layout.place(&"a".into(), &indices).unwrap().index).unwrap()
}

#[test]
fn c_and_fortran_order_count_from_the_last_and_the_first_axis() {
    let c = layout(&[2, 3, 5], vec![]);
    assert_eq!(index_of(&c, &[1, 2, 4]), 29);
    assert_eq!(index_of(&c, &[1, 0, 0]), 15);
    let f = Layout { fortran_order: true, ..c };
    assert_eq!(index_of(&f, &[1, 0, 0]), 1);
    assert_eq!(index_of(&f, &[0, 0, 1]), 6);
}

#[test]
fn padding_makes_the_next_stride_a_multiple() {
    let padded = layout(&[4, 17], vec![nested(1, 16), nested(0, 1)]);
    assert_eq!(index_of(&padded, &[1, 0]), 32);
    assert_eq!(padded.static_size(&"a".into()).unwrap(), Some(128));
}

#[test]
fn a_vector_of_three_takes_the_room_of_four() {
    let vectors = layout(&[10, 3], vec![nested(0, 1), DimTag::Vector]);
    let place = vectors.place(&"a".into(), &[Expr::var("i"), Expr::int(2)]).unwrap();
    assert_eq!(place.index, Expr::var("i"));
    assert_eq!(place.lane, Some(Expr::int(2)));
    assert_eq!(vectors.static_size(&"a".into()).unwrap(), Some(40));
}

#[test]
fn separate_axes_choose_the_array_and_take_no_room() {
    let split = layout(&[10, 3], vec![nested(0, 1), DimTag::Separate]);
    let place = split.place(&"a".into(), &[Expr::var("i"), Expr::int(2)]).unwrap();
    assert_eq!((place.index, place.separate), (Expr::var("i"), vec![Expr::int(2)]));
    assert_eq!(split.static_size(&"a".into()).unwrap(), Some(10));
    assert_eq!(split.separate_lengths(&"a".into()).unwrap(), [Expr::int(3)]);
}

#[test]
fn given_strides_reach_to_the_last_element() {
    let fixed = layout(&[3, 4], vec![DimTag::Stride(Stride::Fixed(Expr::int(10))), DimTag::Stride(Stride::Fixed(Expr::int(2)))]);
    assert_eq!(index_of(&fixed, &[2, 3]), 26);
    assert_eq!(fixed.static_size(&"a".into()).unwrap(), Some(27));
}

#[test]
fn strides_and_offsets_of_the_call_are_named_after_the_array() {
    let auto = Layout { offset: Offset::Auto, ..layout(&[3, 4], vec![DimTag::Stride(Stride::Auto), nested(0, 1)]) };
    let place = auto.place(&"a".into(), &[Expr::int(1), Expr::int(0)]).unwrap();
    assert_eq!(place.index, fold::add(Expr::var("a_offset"), Expr::var("a_stride0")));
    let names: Vec<(Name, Hidden)> = auto.hidden_parameters(&"a".into());
    assert_eq!(names, [("a_stride0".into(), Hidden::Stride(0)), ("a_offset".into(), Hidden::Offset)]);
}

#[test]
fn one_axis_needs_no_length() {
    let unknown = Layout { dim_tags: vec![nested(0, 1)], ..Layout::c_order(Shape::Unknown) };
    assert_eq!(unknown.place(&"a".into(), &[Expr::var("i")]).unwrap().index, Expr::var("i"));
    assert_eq!(unknown.size(&"a".into()).unwrap_err(), LayoutError::UnknownLength { array: "a".into(), axis: 0 });
}

#[test]
fn what_is_no_layout_says_why() {
    let message = |layout: Layout| layout.place(&"a".into(), &[Expr::int(0), Expr::int(0)]).unwrap_err().to_string();
    assert_eq!(message(Layout::c_order(Shape::Auto)), "array `a`: the number of axes is unknown; give it a shape");
    assert_eq!(
        message(Layout { dim_tags: vec![nested(1, 1), nested(0, 1)], ..Layout::c_order(Shape::Unknown) }),
        "array `a`: the length of axis 1 is needed but unknown; give it a shape, or strides"
    );
    assert_eq!(message(layout(&[3, 3], vec![nested(0, 1)])), "array `a` has 2 axes in its shape, but 1 dim tags");
    assert_eq!(message(layout(&[3], vec![])), "array `a` has 1 axes, but is used with 2 indices");
    assert_eq!(
        message(layout(&[4, 4], vec![DimTag::Vector, DimTag::Vector])),
        "array `a` has two vector axes, 0 and 1; tag one of them differently"
    );
    assert_eq!(
        message(layout(&[5, 4], vec![DimTag::Vector, nested(0, 1)])),
        "array `a`: vector axis 0 has length `5`, but vectors have 2, 3, 4, 8 or 16 lanes"
    );
    assert_eq!(
        message(layout(&[4, 4], vec![DimTag::Vector, DimTag::Stride(Stride::Fixed(Expr::int(6)))])),
        "array `a`: the stride `6` of axis 1 is not a multiple of the vector width, 4"
    );
    assert_eq!(
        message(layout(&[4, 4], vec![nested(0, 1), nested(0, 1)])),
        "array `a`: axes 0 and 1 both have nesting level 0; use each of the levels 0, 1, … once"
    );
}

proptest! {
    #[test]
    fn no_two_elements_share_a_place_and_all_are_inside(
        lengths in prop::collection::vec(1i64..4, 1..4), seed in any::<u64>(), pad_to in 1u64..5
    ) {
        let mut levels: Vec<usize> = (0..lengths.len()).collect();
        levels.rotate_left((seed as usize) % lengths.len());
        let layout = layout(&lengths, levels.iter().map(|&level| nested(level, pad_to)).collect());
        let size = layout.static_size(&"a".into()).unwrap().unwrap() as i64;
        let mut seen = std::collections::BTreeSet::new();
        let count: i64 = lengths.iter().product();
        for mut number in 0..count {
            let indices: Vec<i64> = lengths.iter().map(|length| { let index = number % length; number /= length; index }).collect();
            let place = index_of(&layout, &indices);
            prop_assert!((0..size).contains(&place));
            prop_assert!(seen.insert(place));
        }
    }
}
