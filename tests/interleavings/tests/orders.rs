//! Locks, turns and the threads of a CPU device, in every order of their steps with few preemptions. `make interleavings` tries more.

use parloop_interleavings::crews::{self, Waiting};
use parloop_interleavings::{locks, turns};

#[test]
fn threads_have_the_value_of_a_lock_one_at_a_time() {
    assert!(locks::threads_have_the_value_one_at_a_time(2, 2, 3) > 100);
    assert!(locks::threads_have_the_value_one_at_a_time(3, 1, 2) > 100);
}

#[test]
fn a_signal_wakes_all_that_wait() {
    assert!(locks::a_signal_wakes_all_that_wait(2, 2) > 100);
}

#[test]
fn one_writes_or_several_read() {
    for writes in [&[true, true][..], &[true, false], &[true, false, false], &[false, true, true]] {
        assert!(turns::one_writes_or_several_read(writes, 2) > 10);
    }
}

#[test]
fn turns_at_several_are_taken_in_one_order() {
    assert!(turns::turns_at_several_are_taken_in_one_order(2) > 10);
}

#[test]
fn every_item_is_visited_once() {
    for waiting in [Waiting::Awake, Waiting::Asleep] {
        assert!(crews::every_item_is_visited_once(1, 2, 1, waiting, 3) > 100);
        assert!(crews::every_item_is_visited_once(1, 3, 2, waiting, 2) > 100);
        assert!(crews::every_item_is_visited_once(2, 3, 1, waiting, 1) > 100);
    }
}

#[test]
fn callers_share_one_crew() {
    for waiting in [Waiting::Awake, Waiting::Asleep] {
        assert!(crews::callers_share_one_crew(2, waiting, 1) > 100);
    }
}

#[test]
fn a_panic_reaches_the_caller() {
    for bad in [0, 1] {
        assert!(crews::a_panic_reaches_the_caller(bad, Waiting::Asleep, 2) > 100);
    }
}
