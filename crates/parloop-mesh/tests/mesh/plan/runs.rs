//! Runs: elements that columns lead through stay together.

use std::borrow::Cow;

use parloop_mesh::plan::{Link, Runs, Share, between_runs};
use proptest::prelude::*;

proptest! {
    #[test]
    fn chains_are_in_one_run_and_runs_have_no_more_than_they_need(
        (size, step) in (1usize..60, 1usize..7),
        drawn in proptest::collection::vec((0usize..60, 0usize..6), 0..12),
    ) {
        let chains = drawn.iter().map(|&(first, steps)| [first, first + steps * step]).filter(|chain| chain[1] < size);
        let chains: Vec<[usize; 2]> = chains.collect();
        let runs = Runs::new(size, step, chains.iter().map(|chain| chain.map(|end| end as i32)));
        // An element and the next of its class are together if a chain goes from one to the other.
        for element in step..size {
            let is_joined = chains.iter().any(|&[first, last]| first < element && element <= last && first % step == element % step);
            prop_assert_eq!(runs.of(element) == runs.of(element - step), is_joined, "{} of {:?}", element, chains);
        }
        let mut firsts = Vec::new();
        for run in 0..runs.count() {
            let elements: Vec<i32> = runs.elements(run).collect();
            prop_assert!(elements.iter().all(|&element| runs.of(element as usize) == run as i32));
            prop_assert!(elements.windows(2).all(|pair| pair[1] - pair[0] == step as i32));
            firsts.push(elements[0]);
        }
        prop_assert!(firsts.is_sorted());
        prop_assert_eq!((0..runs.count()).map(|run| runs.elements(run).count()).sum::<usize>(), size);
    }
}

#[test]
fn a_share_of_runs_is_one_of_their_elements() {
    // 0, 2, 4 and 1, 3, and 5 alone.
    let runs = Runs::new(6, 2, [[0, 4], [1, 3]]);
    let share = Share { numbers: vec![1, 2, 0], core: 0, owned: 2, exec: 3 };
    assert_eq!(runs.elements_of(&share), Share { numbers: vec![1, 3, 5, 0, 2, 4], core: 0, owned: 3, exec: 6 });
    assert_eq!(runs.local(&share), [0, 0, 1, 2, 2, 2]);
}

#[test]
fn rows_between_runs_have_each_target_once() {
    let runs = Runs::new(6, 1, [[0, 2], [3, 5]]);
    let link = Link { from: 0, to: 1, arity: 3, values: &[0, 1, 3, 4, 5, 4] };
    assert_eq!(between_runs(&link, None, Some(&runs)), (2, Cow::Owned(vec![0, 1, 1, 1])));
    let back = Link { from: 1, to: 0, arity: 1, values: &[0, 0, 1, 1, 1, 1] };
    assert_eq!(between_runs(&back, Some(&runs), None), (2, Cow::Owned(vec![0, 1, 1, 1])));
    assert_eq!(between_runs(&back, None, None), (1, Cow::Borrowed(back.values)));
}
