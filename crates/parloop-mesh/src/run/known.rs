//! A cache of loops by shape; entries are dropped with the set that they run over and with their maps.

use std::collections::HashMap;
use std::sync::Arc;

use parloop_device::DeviceId;
use parloop_device::forked::Lock;
use parloop_device::once::Once;
use smallvec::SmallVec;

use super::options::LoopOptions;
use super::tune::Tuned;
use crate::Result;
use crate::declare::identity::{self, Id};
use crate::declare::iteration::Stretch;
use crate::declare::set::Set;
use crate::shape::Shape;

/// What tells loops over one set apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub kernel: Id,
    pub device: DeviceId,
    pub stream: u64,
    pub shape: Shape,
    pub maps: SmallVec<[Id; 4]>,
    pub options: LoopOptions,
    pub stretch: Stretch,
}

/// What is known of a loop.
#[derive(Clone)]
enum Known {
    /// How it runs.
    Tuned(Arc<Tuned>),
    /// It has no elements here, and may run.
    Allowed,
}

type Loops = HashMap<Key, Known>;

/// The loops over each set.
static KNOWN: Lock<Option<HashMap<Id, Loops>>> = Lock::new(None);

/// The cached value for the loop of that key over a set, created on first use.
///
/// # Errors
/// Those of `make`.
pub fn get(set: &Set, key: Key, make: impl FnOnce(&Key) -> Result<Tuned>) -> Result<Arc<Tuned>> {
    watch();
    if let Some(Known::Tuned(tuned)) = find(set, &key) {
        return Ok(tuned);
    }
    // Made outside of the lock: compilation takes its time. Of two that are made at once one is kept.
    let tuned = Arc::new(make(&key)?);
    Ok(with(|known| match known.entry(set.id()).or_default().entry(key).or_insert(Known::Allowed) {
        Known::Tuned(earlier) => earlier.clone(),
        allowed => {
            *allowed = Known::Tuned(tuned.clone());
            tuned
        }
    }))
}

/// Checks that a loop without elements may run, on first use.
///
/// # Errors
/// Those of `check`.
pub fn allow(set: &Set, key: Key, check: impl FnOnce(&Key) -> Result<()>) -> Result<()> {
    watch();
    if find(set, &key).is_none() {
        check(&key)?;
        with(|known| {
            known.entry(set.id()).or_default().entry(key).or_insert(Known::Allowed);
        });
    }
    Ok(())
}

fn find(set: &Set, key: &Key) -> Option<Known> {
    with(|known| known.get(&set.id())?.get(key).cloned())
}

fn watch() {
    static WATCH: Once<()> = Once::new();
    WATCH.get_or_init(|| identity::when_dropped(forget));
}

/// Forgets the loops over a set, or through a map.
fn forget(id: Id) {
    let forgotten = with(|known| {
        let of_set = known.remove(&id);
        let through_map: Vec<_> = known.values_mut().flat_map(|loops| loops.extract_if(|key, _| key.maps.contains(&id))).collect();
        (of_set, through_map)
    });
    // Dropped outside of the lock: memory of devices is given back.
    drop(forgotten);
}

fn with<R>(what: impl FnOnce(&mut HashMap<Id, Loops>) -> R) -> R {
    what(KNOWN.lock_or(|| None).get_or_insert_default())
}
