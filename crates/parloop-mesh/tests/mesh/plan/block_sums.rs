//! Patches of elements, and what the elements of a block add up.

use std::collections::HashMap;

use parloop_mesh::plan::{BlockSums, Elements, Incidence, PlanError, patches};
use proptest::prelude::*;

use super::{Loop, loops, shuffled};

proptest! {
    #[test]
    fn a_block_adds_each_entry_once_to_its_target(of in loops(1), size in 1usize..40, threads in 1usize..4) {
        let BlockSums { sums } = BlockSums::new(&of.incidence(), size, threads).expect("one set");
        let slots = of.slots();
        let (stride, none) = (BlockSums::stride(slots), BlockSums::none(size, slots));
        let list = of.list();
        for (width, sums) in BlockSums::WIDTHS.into_iter().zip(&sums) {
            prop_assert_eq!(sums.bounds.len(), list.len().div_ceil(size) + 1);
            prop_assert_eq!(sums.bounds[0], 0);
            prop_assert_eq!(*sums.bounds.last().unwrap() as usize, sums.targets.len());
            prop_assert_eq!(sums.entries.len(), sums.targets.len() * width);
        }
        for (block, elements) in list.chunks(size).enumerate() {
            let mut expected: HashMap<i32, Vec<u16>> = HashMap::new();
            for (place, &element) in elements.iter().enumerate() {
                for (slot, (_, target)) in of.targets(element) {
                    expected.entry(target).or_default().push((place * stride + slot) as u16);
                }
            }
            let mut found: HashMap<i32, Vec<u16>> = HashMap::new();
            let mut counts: HashMap<i32, usize> = HashMap::new();
            for (width, sums) in BlockSums::WIDTHS.into_iter().zip(&sums) {
                let of_block = sums.bounds[block] as usize..sums.bounds[block + 1] as usize;
                prop_assert!(sums.targets[of_block.clone()].is_sorted());
                for sum in of_block {
                    let entries = &sums.entries[sum * width..(sum + 1) * width];
                    prop_assert!(usize::from(entries[0]) < none);
                    let entries = entries.iter().copied().filter(|&entry| usize::from(entry) != none);
                    found.entry(sums.targets[sum]).or_default().extend(entries);
                    *counts.entry(sums.targets[sum]).or_default() += 1;
                }
            }
            for entries in found.values_mut().chain(expected.values_mut()) {
                entries.sort_unstable();
            }
            // No target has more sums than it needs: each is one atomic addition.
            let needed = expected.iter().map(|(&target, entries)| (target, entries.len().div_ceil(BlockSums::WIDTHS[0]))).collect();
            prop_assert_eq!(counts, needed);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn patches_have_each_element_once_however_many_threads_grow_them(of in loops(2), size in 1usize..40) {
        let order = patches(&of.incidence(), size, 1).expect("few entries");
        let mut sorted = order.clone();
        sorted.sort_unstable();
        let mut expected = of.list();
        expected.sort_unstable();
        prop_assert_eq!(sorted, expected);
        prop_assert!(order.chunks(size).all(|patch| patch.is_sorted()));
        prop_assert_eq!(order, patches(&of.incidence(), size, 3).expect("few entries"));
    }
}

/// Targets that blocks of this many elements of a list touch, on average for each element.
fn touched(of: &Loop, list: &[i32], size: usize) -> f64 {
    let incidence = Incidence::new(Elements::List(list), &of.tables()).expect("a grid");
    // No node of a grid has more than six triangles, and so more than one sum.
    let BlockSums { sums } = BlockSums::new(&incidence, size, 1).expect("a grid");
    sums.iter().map(|sums| sums.targets.len()).sum::<usize>() as f64 / list.len() as f64
}

#[test]
fn patches_of_a_grid_touch_fewer_targets_than_its_rows() {
    let n = 200;
    let of = Loop::grid(n);
    let rows: Vec<i32> = (0..2 * n * n).collect();
    let order = patches(&of.incidence(), 128, 2).expect("a grid");
    // 64 squares have 2 × 65 nodes in a row and 9 × 9 in a square.
    assert!(touched(&of, &rows, 128) > 1.0);
    assert!(touched(&of, &order, 128) < 0.7, "{}", touched(&of, &order, 128));
    // An order without locality has no patches to offer, but loses nothing.
    let shuffled = shuffled(order.len());
    let incidence = Incidence::new(Elements::List(&shuffled), &of.tables()).expect("a grid");
    assert_eq!(patches(&incidence, 128, 2).expect("a grid").len(), order.len());
}

#[test]
fn a_target_that_all_elements_touch_does_not_slow_patches_down() {
    // Going through all elements for each of them would take hours.
    let count = 400_000;
    let of = Loop::one((0..count).flat_map(|element| [0, 1 + element, 2 + element]).collect(), 3, count as usize + 2);
    let order = patches(&of.incidence(), 128, 1).expect("few entries");
    assert_eq!(order, (0..count).collect::<Vec<_>>());
}

#[test]
fn elements_with_too_many_slots_have_no_block_sums() {
    let of = Loop::one((0..600).collect(), 600, 600);
    let error = BlockSums::new(&of.incidence(), 128, 1).unwrap_err();
    assert_eq!(error, PlanError::BlockEntries { count: 128 * 601 });
    assert!(BlockSums::new(&of.incidence(), 100, 1).is_ok());
}
