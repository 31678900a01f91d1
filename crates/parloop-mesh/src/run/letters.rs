//! Messages of halos that are kept between exchanges, with their memory.

use std::collections::HashMap;

use parloop_device::forked::Lock;
use parloop_device::once::Once;
use parloop_mpi::Messages;

use crate::Result;
use crate::declare::halo::Halo;
use crate::declare::identity::{self, Id};

/// More messages of a halo than this are not kept: there are as many as exchanges of different lengths, and at the same time.
const MOST: usize = 8;

/// The messages of each halo that are not in flight.
static IDLE: Lock<Option<HashMap<Id, Vec<Messages>>>> = Lock::new(None);

fn idle<R>(with: impl FnOnce(&mut HashMap<Id, Vec<Messages>>) -> R) -> R {
    with(IDLE.lock_or(|| None).get_or_insert_default())
}

/// Messages of a halo with these lengths, laid out: those of an exchange like this one, if there are any, which need no new requests.
///
/// # Errors
/// What MPI says.
pub fn take(halo: &Halo, letters: &[(usize, usize, usize)]) -> Result<Messages> {
    let known = idle(|idle| {
        let of_halo = idle.get_mut(&halo.id())?;
        let like_this = of_halo.iter().rposition(|messages| messages.have(letters));
        // The one that was used longest ago goes where there are many others.
        let place = like_this.or((of_halo.len() >= MOST).then_some(0))?;
        Some(of_halo.remove(place))
    });
    let mut messages = known.unwrap_or_default();
    messages.lay_out(letters)?;
    Ok(messages)
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
