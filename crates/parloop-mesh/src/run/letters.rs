//! Messages of halos that are kept between exchanges, with their memory.

use std::collections::HashMap;

use parloop_device::forked::Lock;
use parloop_device::once::Once;
use parloop_mpi::Messages;

use crate::declare::halo::Halo;
use crate::declare::identity::{self, Id};

/// More messages of a halo than this are not kept: there are as many as exchanges at the same time.
const MOST: usize = 8;

/// The messages of each halo that are not in flight.
static IDLE: Lock<Option<HashMap<Id, Vec<Messages>>>> = Lock::new(None);

fn idle<R>(with: impl FnOnce(&mut HashMap<Id, Vec<Messages>>) -> R) -> R {
    with(IDLE.lock_or(|| None).get_or_insert_default())
}

/// Messages of a halo, with the lengths of the last exchange.
pub fn take(halo: &Halo) -> Messages {
    idle(|idle| idle.get_mut(&halo.id()).and_then(Vec::pop)).unwrap_or_default()
}

/// Keeps messages that have arrived for the next exchange. They go with the halo.
pub fn keep(halo: &Halo, messages: Messages) {
    static WATCH: Once<()> = Once::new();
    WATCH.get_or_init(|| identity::when_dropped(|halo| drop(idle(|idle| idle.remove(&halo)))));
    let too_many = idle(|idle| {
        let of_halo = idle.entry(halo.id()).or_default();
        if of_halo.len() < MOST {
            of_halo.push(messages);
            return None;
        }
        Some(messages)
    });
    drop(too_many);
}
