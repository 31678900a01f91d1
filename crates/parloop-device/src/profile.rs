//! Profiles: the time of everything that is launched while a profile is active. Without a profile a launch pays one relaxed load.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::error::Result;
use crate::event::Event;
use crate::forked::Lock;
use crate::identity::DeviceId;

/// How many profiles there are.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// All of them, of every thread.
static PROFILES: Lock<Vec<Weak<State>>> = Lock::new(Vec::new());

thread_local! {
    /// What the work of this thread is part of, the outermost first.
    static SPANS: RefCell<Vec<Arc<str>>> = const { RefCell::new(Vec::new()) };
}

/// Pairs of events that are kept before their times are taken, which waits for the device.
const MOST_PENDING: usize = 4096;

/// Whether there is a profile.
#[inline]
pub fn is_on() -> bool {
    UNDER_WAY.load(Ordering::Relaxed) != 0
}

/// What was launched under one name on one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfileRow {
    /// How often.
    pub calls: u64,
    /// How long all of it took.
    pub seconds: f64,
    /// The bytes that all calls moved at least, if that is known of each.
    pub bytes: Option<u64>,
    /// The floating-point operations of all calls, if they are known of each.
    pub flops: Option<u64>,
}

/// What one call does, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The bytes that it moves at least.
    pub bytes: Option<u64>,
    /// Its floating-point operations.
    pub flops: Option<u64>,
}

/// How long something took.
pub(crate) enum Took {
    /// By the host's clock, where it is over when the call returns.
    Host(Duration),
    /// Between two events of its stream.
    Device(Event, Event),
}

type Key = (DeviceId, Arc<str>);

#[derive(Default)]
struct State {
    table: Lock<Table>,
}

#[derive(Default)]
struct Table {
    rows: HashMap<Key, ProfileRow>,
    pending: Vec<(Key, Event, Event)>,
}

impl Table {
    fn row(&mut self, key: Key) -> &mut ProfileRow {
        self.rows.entry(key).or_insert_with(|| ProfileRow { bytes: Some(0), flops: Some(0), ..ProfileRow::default() })
    }

    /// Takes the times of what was queued; waits until it is done.
    fn settle(&mut self) -> Result<()> {
        for (key, start, end) in std::mem::take(&mut self.pending) {
            let seconds = end.since(&start)?;
            self.row(key).seconds += seconds;
        }
        Ok(())
    }

    fn count(&mut self, key: Key, work: Work) {
        let row = self.row(key);
        let add = |all: Option<u64>, one: Option<u64>| Some(all?.saturating_add(one?));
        (row.calls, row.bytes, row.flops) = (row.calls + 1, add(row.bytes, work.bytes), add(row.flops, work.flops));
    }
}

/// A profile of everything that any thread launches on any device as long as it lives.
///
/// ```
/// use parloop_device::Profile;
/// let profile = Profile::start();
/// // Launches go here.
/// assert!(profile.rows()?.is_empty());
/// # Ok::<(), parloop_device::DeviceError>(())
/// ```
pub struct Profile {
    state: Arc<State>,
}

impl Profile {
    /// Starts the profile.
    pub fn start() -> Profile {
        let state = Arc::new(State::default());
        let mut all = PROFILES.lock_or(Vec::new);
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(&state));
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        Profile { state }
    }

    /// What was launched so far, by device and name, the longest first. Waits for what is queued.
    ///
    /// # Errors
    /// When work on a device failed.
    pub fn rows(&self) -> Result<Vec<(DeviceId, String, ProfileRow)>> {
        let mut table = self.state.table.lock_or(Table::default);
        table.settle()?;
        let mut rows: Vec<_> = table.rows.iter().map(|((device, name), row)| (*device, name.to_string(), row.clone())).collect();
        rows.sort_by(|(_, one, a), (_, other, b)| b.seconds.total_cmp(&a.seconds).then_with(|| one.cmp(other)));
        Ok(rows)
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Profile of {} names>", self.state.table.lock_or(Table::default).rows.len())
    }
}

/// All launches of this thread as one call of that name, until it is dropped.
#[must_use]
pub struct Span {
    device: DeviceId,
    name: Arc<str>,
    /// What the call does.
    pub work: Work,
}

/// Begins a span on a device, if there is a profile.
#[inline]
pub fn span(device: DeviceId, name: impl FnOnce() -> String) -> Option<Span> {
    if is_on() { Some(begin(device, &name())) } else { None }
}

#[cold]
fn begin(device: DeviceId, name: &str) -> Span {
    let name: Arc<str> = name.into();
    // A thread that ends has no spans.
    let _ = SPANS.try_with(|spans| spans.borrow_mut().push(name.clone()));
    Span { device, name, work: Work::default() }
}

impl Drop for Span {
    fn drop(&mut self) {
        let _ = SPANS.try_with(|spans| drop(spans.borrow_mut().pop()));
        let key = (self.device, self.name.clone());
        // A span inside another is a part of that one's call.
        if outermost().is_none() {
            each(|table| table.count(key.clone(), self.work));
        }
    }
}

/// The outermost span of this thread.
fn outermost() -> Option<Arc<str>> {
    SPANS.try_with(|spans| spans.borrow().first().cloned()).ok().flatten()
}

/// Counts something that was launched.
#[cold]
pub(crate) fn took(device: DeviceId, name: &str, took: &Took) {
    let span = outermost();
    let key = (device, span.clone().unwrap_or_else(|| name.into()));
    each(|table| {
        if span.is_none() {
            table.count(key.clone(), Work::default());
        }
        match took {
            Took::Host(time) => table.row(key.clone()).seconds += time.as_secs_f64(),
            Took::Device(start, end) => {
                table.pending.push((key.clone(), start.clone(), end.clone()));
                if table.pending.len() >= MOST_PENDING {
                    // A failure is that of the work, and is reported where that is waited for.
                    let _ = table.settle();
                }
            }
        }
    });
}

fn each(mut change: impl FnMut(&mut Table)) {
    let profiles: Vec<Arc<State>> = PROFILES.lock_or(Vec::new).iter().filter_map(Weak::upgrade).collect();
    profiles.iter().for_each(|state| change(&mut state.table.lock_or(Table::default)));
}
