//! Strips of elements.

use std::collections::HashMap;

use parloop_mesh::plan::Strips;
use proptest::prelude::*;

use super::{Loop, loops, shuffled};

/// Whether two strips of one colour touch the same target.
fn is_shared(of: &Loop, bounds: &[usize], colours: usize) -> bool {
    let list = of.list();
    let mut touched: HashMap<(usize, (usize, i32)), usize> = HashMap::new();
    (0..bounds.len() - 1).any(|strip| {
        let targets = list[bounds[strip]..bounds[strip + 1]].iter().flat_map(|&element| of.touched(element));
        targets.into_iter().any(|target| *touched.entry((strip % colours, target)).or_insert(strip) != strip)
    })
}

proptest! {
    #[test]
    fn strips_are_found_exactly_where_those_of_one_colour_share_no_target(of in loops(2), colours in 1usize..4, each in 1usize..5) {
        let (elements, count) = (of.list().len(), colours * each);
        let bounds: Vec<usize> = (0..=count).map(|strip| elements * strip / count).collect();
        let found = Strips::new(&of.incidence(), colours, each);
        let expected = count <= elements && !is_shared(&of, &bounds, colours);
        prop_assert_eq!(found, expected.then_some(Strips { bounds, colours }));
    }
}

#[test]
fn a_mesh_in_order_has_strips_of_two_colours_and_a_shuffled_one_none() {
    let ordered = Loop::grid(40);
    let strips = Strips::new(&ordered.incidence(), 2, 8).expect("a strip has more than two rows of squares");
    assert_eq!(strips.count(), 16);
    let pairs: Vec<(usize, usize)> = strips.by_colour().collect();
    assert_eq!((pairs[0], pairs[1], pairs[8]), ((0, 200), (400, 600), (200, 400)));
    assert_eq!(Strips::new(&ordered.incidence(), 2, 64), None, "thinner than a row of squares");
    assert_eq!(
        Strips::new(&ordered.clone().renumbered(&shuffled(41 * 41)).incidence(), 2, 8),
        Some(strips),
        "the numbers of nodes do not matter"
    );
    let mut cells = ordered.clone();
    let order = shuffled(cells.count);
    let row = |&cell: &i32| ordered.tables[0].values[3 * cell as usize..][..3].to_vec();
    cells.tables[0].values = order.iter().flat_map(row).collect();
    assert_eq!(Strips::new(&cells.incidence(), 2, 8), None);
    assert_eq!(Strips::new(&ordered.incidence(), 2, 1 << 20), None, "more strips than elements");
    assert_eq!(Strips::new(&ordered.incidence(), 0, 1), None);
}

#[test]
fn a_ring_has_strips_of_two_colours_where_their_number_is_even() {
    let ring = Loop::one((0..90).flat_map(|edge| [edge, (edge + 1) % 90]).collect(), 2, 90);
    assert!(Strips::new(&ring.incidence(), 2, 3).is_some());
    assert_eq!(Strips::new(&ring.incidence(), 1, 2), None);
}
