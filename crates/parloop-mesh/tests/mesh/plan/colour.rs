//! Colouring.

use std::collections::HashMap;

use parloop_mesh::plan::{Blocks, Coloured, Elements, Incidence};
use proptest::prelude::*;

use super::{Loop, loops, shuffled};

/// Asserts that no target is touched by two groups of one colour, and that each element of the loop is in one group.
fn assert_sound<'a>(of: &Loop, colours: impl IntoIterator<Item = Vec<&'a [i32]>>) {
    let mut seen = Vec::new();
    for (colour, groups) in colours.into_iter().enumerate() {
        let mut toucher: HashMap<(usize, i32), usize> = HashMap::new();
        assert!(!groups.is_empty(), "colour {colour} is empty");
        for (group, elements) in groups.into_iter().enumerate() {
            for &element in elements {
                seen.push(element);
                for target in of.touched(element) {
                    assert_eq!(*toucher.entry(target).or_insert(group), group, "colour {colour} touches {target:?} twice");
                }
            }
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, of.list());
}

fn assert_coloured(of: &Loop) -> Coloured {
    let coloured = Coloured::new(&of.incidence());
    let of_colour = |bounds: &[i32]| &coloured.order[bounds[0] as usize..bounds[1] as usize];
    assert!(coloured.bounds.windows(2).all(|bounds| of_colour(bounds).is_sorted()));
    assert_sound(of, coloured.bounds.windows(2).map(|bounds| of_colour(bounds).chunks(1).collect()));
    coloured
}

fn assert_blocks(of: &Loop, blocks: &Blocks, size: usize) {
    let as_numbered: Vec<i32> = (0..of.count as i32).collect();
    let order = blocks.order.as_deref().unwrap_or(&as_numbered);
    let bounds = &blocks.block_bounds;
    let block = |block: &i32| &order[bounds[*block as usize] as usize..bounds[*block as usize + 1] as usize];
    let full = bounds.windows(2).rev().skip(1).all(|bounds| bounds[1] - bounds[0] == size as i32);
    assert!(full, "a block other than the last is not full: {bounds:?}");
    assert_sound(
        of,
        blocks.colour_bounds.windows(2).map(|bounds| blocks.blocks[bounds[0] as usize..bounds[1] as usize].iter().map(block).collect()),
    );
}

proptest! {
    #[test]
    fn elements_of_one_colour_share_no_target_and_each_has_one(of in loops(2)) {
        assert_coloured(&of);
    }

    #[test]
    fn blocks_of_one_colour_share_no_target_and_each_element_is_in_one(of in loops(2), size in 1usize..9) {
        let blocks = Blocks::new(&of.incidence(), None, size).expect("a size");
        prop_assert_eq!(blocks.order.as_ref(), of.elements.as_ref());
        assert_blocks(&of, &blocks, size);
    }

    #[test]
    fn blocks_follow_the_order_that_is_given(of in loops(1), size in 1usize..9) {
        let list = of.list();
        let order: Vec<i32> = shuffled(list.len()).into_iter().map(|position| list[position as usize]).collect();
        let blocks = Blocks::new(&of.incidence(), Some(&order), size).expect("a size");
        prop_assert_eq!(blocks.order.as_deref(), Some(&order[..]));
        assert_blocks(&of, &blocks, size);
    }
}

#[test]
fn a_grid_needs_few_colours_of_about_equal_size() {
    let of = Loop::grid(40);
    let coloured = assert_coloured(&of);
    assert!((6..=9).contains(&coloured.colours()), "{} colours", coloured.colours());
    let mean = of.count / coloured.colours();
    let sizes: Vec<usize> = coloured.bounds.windows(2).map(|bounds| (bounds[1] - bounds[0]) as usize).collect();
    assert!(sizes.iter().all(|size| (mean / 2..=2 * mean).contains(size)), "{sizes:?}");
}

#[test]
fn a_target_of_more_elements_than_a_mask_has_bits_gets_a_colour_for_each() {
    // 150 edges from a hub, and 150 more that touch only the rim.
    let spokes = (0..150).flat_map(|end| [150, end]);
    let rim = (0..150).flat_map(|end| [end, (end + 1) % 150]);
    let coloured = assert_coloured(&Loop::one(spokes.chain(rim).collect(), 2, 151));
    assert!((150..=153).contains(&coloured.colours()), "{} colours", coloured.colours());
}

#[test]
fn very_many_elements_of_one_target_get_a_colour_each() {
    // More than all passes have colours for.
    let coloured = assert_coloured(&Loop::one(vec![0; 3000], 1, 1));
    assert_eq!(coloured.colours(), 3000);
    assert_eq!(coloured.order, (0..3000).collect::<Vec<i32>>());
}

#[test]
fn blocks_of_a_range_are_numbers_of_elements() {
    let of = Loop::grid(2);
    let blocks = Blocks::new(&Incidence::new(Elements::Range(2..7), &of.tables()).expect("a sound loop"), None, 2).expect("a size");
    assert_eq!((blocks.order, blocks.block_bounds), (None, vec![2, 4, 6, 7]));
}

#[test]
fn loops_over_nothing_have_no_colours() {
    let of = Loop::one(vec![], 3, 5);
    assert_eq!(Coloured::new(&of.incidence()), Coloured { order: vec![], bounds: vec![0] });
    let blocks = Blocks::new(&of.incidence(), None, usize::MAX).expect("a size");
    assert_eq!(blocks, Blocks { order: None, block_bounds: vec![0], colour_bounds: vec![0], blocks: vec![] });
}

#[test]
fn one_block_may_be_larger_than_the_loop() {
    let of = Loop::grid(2);
    let blocks = Blocks::new(&of.incidence(), None, usize::MAX).expect("a size");
    assert_eq!((blocks.block_bounds, blocks.blocks), (vec![0, 8], vec![0]));
}
