//! Owner-computes.

use std::collections::HashMap;

use parloop_mesh::plan::{Owned, Rank};
use proptest::prelude::*;

use super::{Loop, loops, shuffled};

/// The part that owns each target, from the masks; asserts that no two parts own one target.
fn owners(of: &Loop, owned: &Owned) -> HashMap<(usize, i32), usize> {
    let mut owners = HashMap::new();
    for part in 0..owned.parts() {
        for place in owned.bounds[part] as usize..owned.bounds[part + 1] as usize {
            for (slot, target) in of.targets(owned.list[place]) {
                if owned.masks[place] & 1 << slot != 0 {
                    assert_eq!(*owners.entry(target).or_insert(part), part, "two parts write {target:?}");
                }
            }
        }
    }
    owners
}

proptest! {
    #[test]
    fn each_slot_of_each_element_belongs_to_one_part_and_each_target_too(of in loops(2), parts in 1usize..9) {
        let owned = Owned::new(&of.incidence(), parts, &[]).expect("few slots");
        prop_assert_eq!(owned.parts(), parts);
        let slots = of.slots();
        let all = (1u32 << slots) - 1;
        let mut masks: HashMap<i32, u32> = HashMap::new();
        let mut visits: HashMap<i32, usize> = HashMap::new();
        for part in 0..parts {
            let range = owned.bounds[part] as usize..owned.bounds[part + 1] as usize;
            prop_assert!(owned.list[range.clone()].is_sorted_by(|before, after| before < after));
            for place in range {
                let mask = masks.entry(owned.list[place]).or_default();
                prop_assert_eq!(*mask & owned.masks[place], 0);
                prop_assert!(owned.masks[place] != 0 || slots == 0, "an element runs where it writes nothing");
                *mask |= owned.masks[place];
                *visits.entry(owned.list[place]).or_default() += 1;
            }
        }
        let mut run: Vec<i32> = masks.keys().copied().collect();
        run.sort_unstable();
        prop_assert_eq!(run, of.list());
        prop_assert!(masks.values().all(|&mask| mask == all));
        if slots == 0 {
            prop_assert!(visits.values().all(|&count| count == 1));
        }
        owners(&of, &owned);
    }

    #[test]
    fn parts_are_contiguous_in_the_rank(of in loops(1), parts in 1usize..9) {
        let places = shuffled(of.tables[0].targets);
        let owned = Owned::new(&of.incidence(), parts, &[Rank { set: 0, places: &places }]).expect("few slots");
        let mut by_place: Vec<(i32, usize)> =
            owners(&of, &owned).into_iter().map(|((_, target), part)| (places[target as usize], part)).collect();
        by_place.sort_unstable();
        prop_assert!(by_place.is_sorted_by_key(|&(_, part)| part), "{by_place:?}");
    }

    #[test]
    fn a_target_gets_its_elements_in_the_same_order_whatever_the_parts(of in loops(1), parts in 2usize..9) {
        let contributions = |parts: usize| {
            let owned = Owned::new(&of.incidence(), parts, &[]).expect("few slots");
            let mut got: HashMap<(usize, i32), Vec<i32>> = HashMap::new();
            for (&element, mask) in owned.list.iter().zip(&owned.masks) {
                for (slot, target) in of.targets(element).into_iter().filter(|(slot, _)| mask & 1 << slot != 0) {
                    got.entry(target).or_default().push(element * 32 + slot as i32);
                }
            }
            got
        };
        prop_assert_eq!(contributions(parts), contributions(1));
    }

    #[test]
    fn slots_that_lead_nowhere_add_no_part_to_an_element(of in loops(2), parts in 1usize..9) {
        let owned = Owned::new(&of.incidence(), parts, &[]).expect("parts");
        let owners = owners(&of, &owned);
        for element in of.list() {
            let mut expected: Vec<usize> = of.touched(element).iter().map(|target| owners[target]).collect();
            expected.sort_unstable();
            expected.dedup();
            let runs = |part: &usize| owned.list[owned.bounds[*part] as usize..owned.bounds[part + 1] as usize].contains(&element);
            let found: Vec<usize> = (0..parts).filter(runs).collect();
            match expected.is_empty() {
                true => prop_assert_eq!(found.len(), 1),
                false => prop_assert_eq!(found, expected),
            }
        }
    }

    #[test]
    fn masks_of_several_words_have_the_bits_of_masks_of_one(of in loops(1), parts in 1usize..9) {
        // The same loop with many more slots, which lead where the others do.
        let mut wide = of.clone();
        while wide.slots() > 0 && wide.slots() <= 100 {
            wide.tables.extend(of.tables.clone());
        }
        let narrow = Owned::new(&of.incidence(), parts, &[]).expect("parts");
        let wide_owned = Owned::new(&wide.incidence(), parts, &[]).expect("parts");
        prop_assert_eq!(wide_owned.words, wide.slots().div_ceil(32).max(1));
        prop_assert_eq!(&wide_owned.bounds, &narrow.bounds);
        prop_assert_eq!(&wide_owned.list, &narrow.list);
        for (place, mask) in wide_owned.masks.chunks(wide_owned.words).enumerate() {
            for slot in 0..wide.slots() {
                let expected = narrow.masks[place] >> (slot % of.slots()) & 1;
                prop_assert_eq!(mask[slot / 32] >> (slot % 32) & 1, expected);
            }
        }
    }
}

#[test]
fn a_mask_has_a_word_for_each_32_slots() {
    for (slots, masks) in
        [(32, vec![u32::MAX]), (33, vec![u32::MAX, 1]), (64, vec![u32::MAX; 2]), (100, vec![u32::MAX, u32::MAX, u32::MAX, 15])]
    {
        let owned = Owned::new(&Loop::one(vec![0; slots], slots, 1).incidence(), 1, &[]).expect("parts");
        assert_eq!((owned.words, owned.masks), (masks.len(), masks));
    }
}

#[test]
fn an_element_that_leads_nowhere_runs_once_and_has_all_of_its_slots() {
    let mut of = Loop::one(vec![-1, -1, 0, -1, -1, 1], 2, 2);
    of.tables[0].drops = true;
    let owned = Owned::new(&of.incidence(), 2, &[]).expect("parts");
    assert_eq!((owned.bounds, owned.list, owned.masks), (vec![0, 2, 3], vec![0, 1, 2], vec![0b11; 3]));
}

#[test]
fn parts_of_a_grid_have_about_equal_work_and_little_of_it_twice() {
    let of = Loop::grid(64);
    let owned = Owned::new(&of.incidence(), 4, &[]).expect("few slots");
    let mut entries = [0u32; 4];
    for (part, entries) in entries.iter_mut().enumerate() {
        let range = owned.bounds[part] as usize..owned.bounds[part + 1] as usize;
        *entries = owned.masks[range].iter().map(|mask| mask.count_ones()).sum();
    }
    let mean = 3 * 2 * 64 * 64 / 4;
    assert!(entries.iter().all(|count| count.abs_diff(mean) <= 6), "{entries:?} of {mean}");
    assert_eq!(owned.redundancy, owned.list.len() as f64 / of.count as f64);
    assert!(owned.redundancy < 1.06, "{}", owned.redundancy);
}

#[test]
fn one_part_runs_each_element_once() {
    let of = Loop::grid(3);
    let owned = Owned::new(&of.incidence(), 1, &[]).expect("few slots");
    assert_eq!(owned.list, of.list());
    assert_eq!(owned.redundancy, 1.0);
}

#[test]
fn elements_without_targets_are_shared_evenly() {
    let mut of = Loop::one(vec![], 3, 5);
    of.count = 8;
    of.tables[0].arity = 0;
    let owned = Owned::new(&of.incidence(), 4, &[]).expect("few slots");
    assert_eq!(owned.bounds, [0, 2, 4, 6, 8]);
    assert_eq!(owned.masks, [0; 8]);
}
