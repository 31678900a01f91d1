//! Orders of targets and elements.

use parloop_mesh::plan::{cuthill_mckee, element_order, locality};
use proptest::prelude::*;

use super::{Loop, is_permutation, loops, shuffled};

/// The largest distance in rank of two targets of one element.
fn bandwidth(of: &Loop, rank: &[i32]) -> u32 {
    let spread = |row: &[i32]| {
        let places = row.iter().map(|&target| rank[target as usize]);
        places.clone().max().unwrap_or(0).abs_diff(places.min().unwrap_or(0))
    };
    of.tables[0].values.chunks(of.tables[0].arity).map(spread).max().unwrap_or(0)
}

proptest! {
    #[test]
    fn a_rank_has_each_place_once_and_untouched_targets_last(of in loops(1)) {
        let rank = cuthill_mckee(&of.incidence()).expect("one set");
        prop_assert_eq!(rank.len(), of.tables[0].targets);
        prop_assert!(is_permutation(&rank), "{rank:?}");
        let mut touched = vec![false; rank.len()];
        for element in of.list() {
            of.touched(element).iter().for_each(|&(_, target)| touched[target as usize] = true);
        }
        let count = touched.iter().filter(|touched| **touched).count();
        prop_assert!(rank.iter().zip(&touched).all(|(&place, &touched)| touched == ((place as usize) < count)));
    }

    #[test]
    fn an_element_order_has_each_element_once_by_the_smallest_place_of_its_targets(of in loops(1), ranked in any::<bool>()) {
        let places = shuffled(of.tables[0].targets);
        let rank = ranked.then_some(&places[..]);
        let order = element_order(&of.incidence(), rank).expect("one set");
        let place = |target: i32| rank.map_or(target, |rank| rank[target as usize]);
        let key = |element: &i32| (of.touched(*element).iter().map(|&(_, t)| place(t)).min().unwrap_or(i32::MAX), *element);
        let mut expected = of.list();
        expected.sort_by_key(key);
        prop_assert_eq!(order, expected);
    }
}

#[test]
fn a_shuffled_grid_gets_a_narrow_band_again() {
    let n = 30;
    let targets = 31 * 31;
    let of = Loop::grid(n).renumbered(&shuffled(targets));
    let as_numbered: Vec<i32> = (0..targets as i32).collect();
    assert!(bandwidth(&of, &as_numbered) > 500);
    let rank = cuthill_mckee(&of.incidence()).expect("one set");
    // As numbered by rows the band is n + 2; levels of a triangulation from a corner are up to 2 n + 1 long.
    assert!(bandwidth(&of, &rank) <= 2 * n as u32 + 2, "{}", bandwidth(&of, &rank));
}

#[test]
fn components_are_ranked_one_after_another() {
    // Two paths, 0 - 2 - 4 and 1 - 3 - 5, and the lone target 6.
    let of = Loop::one(vec![0, 2, 1, 3, 2, 4, 3, 5], 2, 7);
    let rank = cuthill_mckee(&of.incidence()).expect("one set");
    assert_eq!(bandwidth(&of, &rank), 1);
    assert_eq!(rank[6], 6);
}

#[test]
fn a_grid_is_local_and_a_shuffled_one_is_not() {
    let of = Loop::grid(100);
    assert!(locality(&of.tables()[0]).is_local());
    let numbers = shuffled(101 * 101);
    let targets_shuffled = of.clone().renumbered(&numbers);
    let measured = locality(&targets_shuffled.tables()[0]);
    assert!(!measured.is_local());
    assert!((0.4..0.6).contains(&measured.spread), "{measured:?}");

    let mut elements_shuffled = of.clone();
    let row = |element: i32| of.tables[0].values[3 * element as usize..][..3].to_vec();
    elements_shuffled.tables[0].values = shuffled(of.count).into_iter().flat_map(row).collect();
    let measured = locality(&elements_shuffled.tables()[0]);
    assert!(!measured.is_local());
    assert!(measured.spread < 0.02 && measured.jump > 0.2, "{measured:?}");

    let rank = cuthill_mckee(&targets_shuffled.incidence()).expect("one set");
    let order = element_order(&targets_shuffled.incidence(), Some(&rank)).expect("one set");
    let row = |element: i32| targets_shuffled.tables[0].values[3 * element as usize..][..3].to_vec();
    let mut reordered = targets_shuffled.clone().renumbered(&rank);
    reordered.tables[0].values = order.into_iter().flat_map(row).map(|target| rank[target as usize]).collect();
    assert!(locality(&reordered.tables()[0]).is_local());
}

#[test]
fn tables_of_nothing_are_local() {
    let mut of = Loop::one(vec![], 3, 5);
    assert!(locality(&of.tables()[0]).is_local());
    of.tables[0].arity = 0;
    assert!(locality(&of.tables()[0]).is_local());
}
