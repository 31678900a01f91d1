//! Models of turns at data.

use loom::cell::UnsafeCell;
use loom::sync::Arc;

use crate::forked::{Turn, Turns};
use crate::{explore, spawn};

/// Data that threads take turns at.
#[derive(Default)]
struct Data {
    turns: Turns,
    value: UnsafeCell<u32>,
}

impl Data {
    fn new() -> Data {
        let data = Data::default();
        drop(data.turns.try_take(true).expect("nobody forks"));
        data
    }

    fn turn(&self, writes: bool) -> Turn<'_> {
        self.turns.take(writes).expect("nobody forks")
    }

    fn read(&self) -> u32 {
        self.value.with(|value| {
            // SAFETY: loom ends the model if another thread could write it.
            unsafe { *value }
        })
    }

    /// Uses the value as a turn allows.
    fn visit(&self, writes: bool) {
        let before = self.read();
        if writes {
            self.value.with_mut(|value| {
                // SAFETY: loom ends the model if another thread could use it.
                unsafe { *value = before + 1 }
            });
        }
    }
}

/// One thread for each entry, which takes a turn to read or to write: nobody writes while another uses the data, and all come to their turn.
pub fn one_writes_or_several_read(writes: &'static [bool], preemptions: usize) -> usize {
    explore(&format!("one writes or several read, {writes:?}"), preemptions, move || {
        let data = Arc::new(Data::new());
        let work = |data: Arc<Data>, writes: bool| {
            move || {
                let _turn = data.turn(writes);
                data.visit(writes);
            }
        };
        let others: Vec<_> = writes[1..].iter().map(|&writes| spawn(work(data.clone(), writes))).collect();
        work(data.clone(), writes[0])();
        others.into_iter().for_each(|other| other.join().expect("it had its turn"));
        let _turn = data.turn(false);
        let written = writes.iter().filter(|&&writes| writes).count();
        assert_eq!(data.read() as usize, written);
    })
}

/// Two threads that copy from one to the other, each in another direction, as copies and loops over mesh data do.
pub fn turns_at_several_are_taken_in_one_order(preemptions: usize) -> usize {
    explore("turns at several are taken in one order", preemptions, || {
        let both = Arc::new([Data::new(), Data::new()]);
        let copy = |both: Arc<[Data; 2]>, from: usize| {
            move || {
                let mut order = [(&both[from], false), (&both[1 - from], true)];
                order.sort_by_key(|(data, _)| data.turns.rank());
                let _turns = order.map(|(data, writes)| data.turn(writes));
                order.iter().for_each(|(data, writes)| data.visit(*writes));
            }
        };
        let other = spawn(copy(both.clone(), 0));
        copy(both.clone(), 1)();
        other.join().expect("it had its turns");
    })
}
