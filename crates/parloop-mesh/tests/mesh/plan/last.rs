//! Last writers.

use parloop_mesh::plan::last_writers;
use proptest::prelude::*;

use super::loops;

proptest! {
    #[test]
    fn a_last_writer_is_what_a_loop_in_order_leaves(of in loops(1)) {
        let slots = of.slots() as i32;
        let mut expected = vec![-1; of.tables[0].targets];
        for element in of.list() {
            for (slot, (_, target)) in of.targets(element) {
                expected[target as usize] = element * slots + slot as i32;
            }
        }
        prop_assert_eq!(last_writers::<i64>(&of.incidence()).expect("one set"), expected.iter().map(|&entry| i64::from(entry)).collect::<Vec<_>>());
        prop_assert_eq!(last_writers::<i32>(&of.incidence()).expect("one set"), expected);
    }
}
