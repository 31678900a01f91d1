//! Inverses.

use parloop_mesh::plan::Inverse;
use proptest::prelude::*;

use super::{Loop, loops};

proptest! {
    #[test]
    fn an_inverse_has_each_slot_of_each_element_once_in_the_row_of_its_target(of in loops(1)) {
        let incidence = of.incidence();
        let inverse = Inverse::new(&incidence).expect("one set");
        let slots = incidence.slots() as i32;
        let mut found = Vec::new();
        for row in 0..inverse.rows() {
            let entries = inverse.row(row);
            prop_assert!(entries.is_sorted_by(|before, after| before < after), "row {row} is {entries:?}");
            for &entry in entries {
                let (element, slot) = (entry / slots, entry % slots);
                let target = inverse.target(row) as i32;
                prop_assert!(of.targets(element).contains(&(slot as usize, (0, target))), "slot {slot} of {element} is not of {target}");
                found.push(entry);
            }
        }
        found.sort_unstable();
        let entries = |&element: &i32| of.targets(element).into_iter().map(move |(slot, _)| element * slots + slot as i32);
        let expected: Vec<i32> = of.list().iter().flat_map(entries).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn an_inverse_lists_its_targets_where_fewer_than_half_have_entries(of in loops(1)) {
        let inverse = Inverse::new(&of.incidence()).expect("one set");
        let mut touched: Vec<i32> = of.list().iter().flat_map(|&element| of.touched(element)).map(|(_, target)| target).collect();
        touched.sort_unstable();
        touched.dedup();
        let targets = of.tables[0].targets;
        if 2 * touched.len() < targets {
            prop_assert_eq!(inverse.rows(), touched.len());
            prop_assert_eq!(inverse.targets, Some(touched));
        } else {
            prop_assert_eq!(inverse.rows(), targets);
            prop_assert_eq!(inverse.targets, None);
        }
    }
}

#[test]
fn slots_count_the_columns_of_all_tables_one_after_another() {
    let mut of = Loop::one(vec![0, 1, 1, 2], 2, 3);
    let boundary = Loop::one(vec![2, 0], 1, 3);
    of.tables.extend(boundary.tables);
    let inverse = Inverse::new(&of.incidence()).expect("one set");
    assert_eq!(inverse.starts, [0, 2, 4, 6]);
    assert_eq!(inverse.entries, [0, 5, 1, 3, 2, 4]);
}

#[test]
fn an_inverse_of_no_elements_has_no_rows() {
    let inverse = Inverse::new(&Loop::one(vec![], 3, 5).incidence()).expect("one set");
    assert_eq!(inverse, Inverse { targets: Some(vec![]), starts: vec![0], entries: vec![] });
}
