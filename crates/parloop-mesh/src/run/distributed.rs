//! Loops over distributed sets: ghosts that are read are updated from their owners while the elements that need none run, then the others
//! run; Globals are reduced in the order of the ranks.
//!
//! What is written through maps is computed by the owner of each target: it also runs the elements of others that lead there (the ghosts up to
//! `Halo::exec`), so that nothing is sent back; of sums, contributions are sent to the owners where that is faster. Where the order of elements matters, all of them run in the order of the whole set. Sums over all
//! elements leave the ghosts out; where these cannot be told apart, a loop is rehearsed for its sums on copies of what it writes. Only what is
//! read and written at once through a map (RW) cannot be computed twice: processes run such loops one after another, each with what the last one left.

use std::time::Instant;

use parloop_device::forked::Turn;
use parloop_device::once::Once;
use parloop_device::{DeviceKind, refuse_recording};
use parloop_kernel::{Context, KernelError};
use parloop_mpi::Comm;
use smallvec::SmallVec;

use super::combine::combine;
use super::contributions::{AlikeLoops, AlikePart, Contributions};
use super::exchange::{Exchange, Location, Tables, find_ghosts, stale, zero_ghosts};
use super::options::LoopOptions;
use super::staged::Table;
use crate::Result;
use crate::access::Access;
use crate::declare::arg::{ArgData, Part};
use crate::declare::dat::Dat;
use crate::declare::global::Global;
use crate::declare::iteration::{Iteration, Stretch};
use crate::declare::mat::Mat;
use crate::error::MeshError;
use crate::storage::Storage;

/// A loop as its processes run it together.
pub struct Distributed<L> {
    comm: Comm,
    scheme: DistributedScheme,
    /// Parts whose ghosts are read, each table once.
    needed: SmallVec<[usize; 4]>,
    /// What it needs to send contributions to the owners of their targets, where that can be done.
    sending: Option<Sending>,
    /// Parts that are written, each table once.
    written: SmallVec<[usize; 4]>,
    /// Sums over all elements.
    sums: Vec<Sum>,
    /// Copies of what is written, where the loop is rehearsed for its sums.
    copies: Vec<(usize, ArgData)>,
    /// Extremes over all elements: their parts.
    extremes: SmallVec<[usize; 1]>,
    /// The loops over parts of the set, made when they are first needed.
    loops: [Once<L>; Stretch::ALL.len()],
}

/// How a loop is run by several processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DistributedScheme {
    /// Nothing is written through maps.
    Owned,
    /// Owners of targets compute them.
    Redundant,
    /// The same, in the order of the whole set.
    Ordered,
    /// One process after another.
    InTurn,
}

/// What a loop needs that sends contributions to the owners of their targets.
struct Sending {
    /// Parts whose ghosts are read, each table once: elements of others are not run.
    needed: SmallVec<[usize; 4]>,
    /// Parts that are added to through maps, each table once.
    targets: SmallVec<[usize; 4]>,
    alike: AlikeLoops,
}

/// A sum over all elements: the contribution of the elements of this process, and that of ghosts, which is discarded.
struct Sum {
    part: usize,
    own: Global,
    ghosts: Global,
}

/// What a distributed loop runs: loops over parts of its set.
pub trait Stretched {
    /// Refuses what cannot run, before anything is sent: all processes refuse it then, and none waits for another. `is_idle`: the process has no
    /// elements in any of the loops, but others have, and find mistakes in the kernel.
    ///
    /// # Errors
    /// Those of a loop that can be known before it runs.
    fn prepare(&self, context: &Context, is_idle: bool) -> Result<()>;

    /// Whether it has no elements.
    fn is_empty(&self) -> bool;

    /// Runs it. The caller holds the locks of all data.
    ///
    /// # Errors
    /// Those of a loop.
    fn run_in_turn(&self, context: &Context) -> Result<()>;
}

/// A loop as it was declared.
pub struct LoopDescription<'a> {
    pub kernel: &'a str,
    pub iteration: &'a Iteration,
    pub parts: &'a [Part],
    pub options: LoopOptions,
}

/// The distributed table of a part, if it is one.
fn table(part: &Part) -> Option<Table<'_>> {
    match &part.data {
        ArgData::Dat(dat) | ArgData::Component(dat, _) => Some(Table { halo: dat.dataset().set().row_halo()?, storage: dat.storage() }),
        ArgData::Global(_) | ArgData::Mat(..) => None,
    }
}

/// Whether elements of one process may lead to those of another: the cells of a column lead to the element below them without a map.
fn is_indirect(part: &Part) -> bool {
    part.map.as_ref().is_some_and(|map| !map.is_identity())
}

impl Sending {
    /// Only sums can be completed by their owners, and only where nothing else of the data is needed.
    fn of(declared: &LoopDescription<'_>) -> Option<Sending> {
        let parts = declared.parts;
        let is_target = |part: &Part| is_indirect(part) && part.access.writes();
        let is_sum = |part: &Part| part.access == Access::Inc && matches!(part.data, ArgData::Dat(_));
        let targets = tables(parts, is_target);
        let is_shared = |part: &Part| targets.iter().any(|&target| parts[target].storage().is_same(part.storage()));
        let is_suited = parts.iter().all(|part| match part.data {
            ArgData::Mat(..) => false,
            _ => !(is_target(part) || is_shared(part)) || is_sum(part),
        });
        is_suited.then(|| {
            let part = |part: &Part| AlikePart {
                access: part.access,
                is_mapped: part.map.is_some(),
                arity: part.arity(),
                dtype: part.dtype(),
                count: part.count(),
            };
            let alike =
                AlikeLoops { kernel: declared.kernel.to_owned(), parts: parts.iter().map(part).collect(), region: declared.options.region };
            let needed = tables(parts, |part| is_indirect(part) && part.access.reads() && part.access != Access::Inc);
            Sending { needed, targets, alike }
        })
    }
}

impl<L: Stretched> Distributed<L> {
    /// How processes run it together; `None` where the set is not distributed.
    ///
    /// # Errors
    /// [`MeshError::Distributed`]: combinations of accesses that no order of the processes serves.
    pub fn of(declared: &LoopDescription<'_>) -> Result<Option<Distributed<L>>> {
        let Some(halo) = declared.iteration.set().halo() else { return Ok(None) };
        let parts = declared.parts;
        let wrong = |reason: &'static str| {
            let (kernel, set) = (declared.kernel.to_owned(), declared.iteration.set().name().to_owned());
            Err(MeshError::Distributed { kernel, set, reason })
        };
        let through = |access: Access| parts.iter().any(|part| is_indirect(part) && part.access == access);
        let adds_up = parts.iter().any(|part| matches!(part.data, ArgData::Global(_)) && part.access == Access::Inc);
        let scheme = if through(Access::Rw) {
            if through(Access::Write) {
                return wrong("it has both WRITE and RW arguments through maps; use two loops");
            }
            if parts.iter().any(|part| matches!(part.data, ArgData::Mat(..))) {
                return wrong("it adds to a matrix and has an RW argument through a map; use two loops");
            }
            DistributedScheme::InTurn
        } else if through(Access::Write) {
            DistributedScheme::Ordered
        } else if parts.iter().any(|part| is_indirect(part) && part.access.writes()) {
            if declared.options.deterministic { DistributedScheme::Ordered } else { DistributedScheme::Redundant }
        } else {
            DistributedScheme::Owned
        };
        let reads_ghosts = |part: &Part| {
            let is_reached = is_indirect(part) || matches!(scheme, DistributedScheme::Redundant | DistributedScheme::Ordered);
            let is_read = part.access.reads() && part.access != Access::Inc;
            // In turn, what one process adds to is what the last one left.
            is_reached && is_read || scheme == DistributedScheme::InTurn && is_indirect(part)
        };
        let mut sums = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            if let (ArgData::Global(global), Access::Inc) = (&part.data, part.access) {
                let scratch = || Global::around(global.axes(), Storage::zeros(global.dtype(), 1, global.count())?, global.name(), false);
                sums.push(Sum { part: index, own: scratch()?, ghosts: scratch()? });
            }
        }
        let mut copies = Vec::new();
        if scheme == DistributedScheme::Ordered && adds_up {
            for (index, part) in parts.iter().enumerate().filter(|(_, part)| part.access.writes()) {
                copies.extend(copy_of(part)?.map(|copy| (index, copy)));
            }
        }
        let is_extreme = |part: &Part| matches!(part.data, ArgData::Global(_)) && matches!(part.access, Access::Min | Access::Max);
        Ok(Some(Distributed {
            comm: halo.comm().clone(),
            scheme,
            needed: tables(parts, reads_ghosts),
            sending: if scheme == DistributedScheme::Redundant { Sending::of(declared) } else { None },
            written: tables(parts, |part| part.access.writes()),
            sums,
            copies,
            extremes: parts.iter().enumerate().filter(|(_, part)| is_extreme(part)).map(|(index, _)| index).collect(),
            loops: std::array::from_fn(|_| Once::new()),
        }))
    }

    /// The parts of a loop over part of the set: sums have places of their own.
    pub fn parts(&self, parts: &[Part], stretch: Stretch) -> Vec<Part> {
        let mut parts = parts.to_vec();
        for sum in &self.sums {
            let is_lost = matches!(stretch, Stretch::Ghosts | Stretch::Ordered);
            parts[sum.part].data = ArgData::Global(if is_lost { &sum.ghosts } else { &sum.own }.clone());
        }
        if self.scheme == DistributedScheme::Ordered && stretch == Stretch::Owned {
            self.copies.iter().for_each(|(part, copy)| parts[*part].data = copy.clone());
        }
        parts
    }

    /// Fills the copies of what is written with its numbers.
    fn fill_copies(&self, parts: &[Part]) -> Result<()> {
        for (part, copy) in &self.copies {
            if let ArgData::Dat(copy) | ArgData::Component(copy, _) = copy {
                copy.storage().copy_from(parts[*part].storage())?;
            }
        }
        Ok(())
    }

    /// Runs it; `make` makes the loop over part of the set. All processes must call it.
    ///
    /// # Errors
    /// Those of loops; what MPI says; in checked mode [`MeshError::Mismatch`].
    pub fn run(&self, declared: &LoopDescription<'_>, context: &Context, make: impl Fn(Stretch) -> L) -> Result<()> {
        refuse_recording(|| "a loop over a distributed set".to_owned()).map_err(KernelError::from)?;
        if declared.options.checked {
            self.check_alike(declared)?;
        }
        if matches!(self.scheme, DistributedScheme::Redundant | DistributedScheme::Ordered) {
            find_ghosts(declared.iteration.set())?;
        }
        let parts = declared.parts;
        let location = Location::of(context);
        let sending = self.sending.as_ref().zip(declared.iteration.set().halo());
        let contributions = match sending {
            Some((sending, halo)) => sending.alike.next(halo, matches!(location, Location::Host))?,
            None => Contributions::Recomputed,
        };
        let begun = Instant::now();
        let _turns = self.turns(parts)?;
        for sum in &self.sums {
            sum.own.storage().zero(context)?;
        }
        let loop_over = |stretch: Stretch| self.loops[stretch as usize].get_or_init(|| make(stretch));
        let run = |stretch: Stretch| loop_over(stretch).run_in_turn(context);
        let prepare = |stretches: &[Stretch]| {
            let is_idle = stretches.iter().all(|&stretch| loop_over(stretch).is_empty());
            stretches.iter().try_for_each(|&stretch| loop_over(stretch).prepare(context, is_idle))
        };
        match (self.scheme, sending) {
            (DistributedScheme::InTurn, _) => {
                prepare(&[Stretch::Owned])?;
                self.run_in_turn(parts, location, &run)?;
            }
            (_, Some((sending, _))) if contributions == Contributions::Sent => {
                prepare(&[Stretch::Core, Stretch::Border])?;
                self.run_and_send(sending, parts, context, &run)?;
            }
            (scheme, _) => {
                let stale = self.stale(&self.needed, parts)?;
                let nothing_to_wait_for = stale.is_empty();
                let rest: &[Stretch] = match scheme {
                    DistributedScheme::Owned if nothing_to_wait_for => &[Stretch::Owned],
                    DistributedScheme::Redundant if nothing_to_wait_for && self.sums.is_empty() => &[Stretch::Exec],
                    DistributedScheme::Ordered => &[Stretch::Ordered],
                    DistributedScheme::Owned => &[Stretch::Core, Stretch::Border],
                    DistributedScheme::Redundant if self.sums.is_empty() => &[Stretch::Core, Stretch::Rest],
                    DistributedScheme::Redundant | DistributedScheme::InTurn => &[Stretch::Core, Stretch::Border, Stretch::Ghosts],
                };
                let rehearsed: &[Stretch] = if self.copies.is_empty() { &[] } else { &[Stretch::Owned] };
                prepare(&[rest, rehearsed].concat())?;
                let start = || profiled(SEND, context, || Exchange::start(stale, &self.comm, location));
                let exchange = if nothing_to_wait_for { None } else { Some(start()?) };
                let (first, rest) = if rest[0] == Stretch::Core { (Some(rest[0]), &rest[1..]) } else { (None, rest) };
                first.map_or(Ok(()), run)?;
                if let Some(exchange) = exchange {
                    profiled(RECEIVE, context, || exchange.finish())?;
                }
                if !self.copies.is_empty() {
                    self.fill_copies(parts)?;
                    run(Stretch::Owned)?;
                }
                rest.iter().try_for_each(|&stretch| run(stretch))?;
            }
        }
        for &part in &self.written {
            parts[part].storage().set_ghosts_fresh(false);
        }
        if let Some((sending, halo)) = sending {
            sending.alike.took(halo, contributions, begun.elapsed());
        }
        self.combine(parts)
    }

    /// Runs each element once, and sends what it adds to targets of others to their owners: while the core runs, unless it runs while ghosts that
    /// are read are updated.
    fn run_and_send(&self, sending: &Sending, parts: &[Part], context: &Context, run: &dyn Fn(Stretch) -> Result<()>) -> Result<()> {
        let location = Location::of(context);
        let targets = || -> Tables<'_> { sending.targets.iter().filter_map(|&part| table(&parts[part])).collect() };
        let stale = self.stale(&sending.needed, parts)?;
        targets().iter().try_for_each(zero_ghosts)?;
        let send = || profiled(SEND, context, || Exchange::start_sums(targets(), &self.comm));
        // Where a loop fails, the others get what there is: they would wait for it, while this process goes on to another loop or to its end.
        if stale.is_empty() {
            let border = run(Stretch::Border);
            let sums = send()?;
            let core = border.and_then(|()| run(Stretch::Core));
            profiled(RECEIVE, context, || sums.finish())?;
            return core;
        }
        let exchange = profiled(SEND, context, || Exchange::start(stale, &self.comm, location))?;
        let core = run(Stretch::Core);
        profiled(RECEIVE, context, || exchange.finish())?;
        let border = core.and_then(|()| run(Stretch::Border));
        let sums = send()?;
        profiled(RECEIVE, context, || sums.finish())?;
        border
    }

    /// Turns at all tables: those that are exchanged are written.
    fn turns<'a>(&self, parts: &'a [Part]) -> Result<SmallVec<[Turn<'a>; 8]>> {
        let mut tables: SmallVec<[(&Storage, bool); 8]> = SmallVec::new();
        for (index, part) in parts.iter().enumerate() {
            let writes = part.access.writes() || self.needed.contains(&index);
            match tables.iter_mut().find(|(known, _)| known.is_same(part.storage())) {
                Some((_, known)) => *known |= writes,
                None => tables.push((part.storage(), writes)),
            }
        }
        tables.sort_by_key(|(storage, _)| storage.rank());
        Ok(tables.into_iter().map(|(storage, writes)| storage.turn(writes)).collect::<Result<_, _>>()?)
    }

    fn stale<'a>(&self, needed: &[usize], parts: &'a [Part]) -> Result<Tables<'a>> {
        stale(needed.iter().filter_map(|&part| table(&parts[part])), &self.comm)
    }

    /// One process after another, each with up-to-date ghosts, whose values are sent back to their owners.
    fn run_in_turn(&self, parts: &[Part], location: Location<'_>, run: &dyn Fn(Stretch) -> Result<()>) -> Result<()> {
        // A table may be read by one part and written by another.
        let is_needed = |part: usize| self.needed.iter().any(|&needed| parts[needed].storage().is_same(parts[part].storage()));
        let indirect: Vec<usize> = self.written.iter().copied().filter(|&part| is_needed(part)).collect();
        for rank in 0..self.comm.size() {
            Exchange::start(self.stale(&self.needed, parts)?, &self.comm, location)?.finish()?;
            if rank == self.comm.rank() {
                run(Stretch::Owned)?;
            }
            let back = indirect.iter().filter_map(|&part| table(&parts[part])).collect();
            Exchange::start_back(back, &self.comm, rank, location)?.finish()?;
        }
        Ok(())
    }

    /// Combines sums and extremes of all processes, in the order of the ranks.
    fn combine(&self, parts: &[Part]) -> Result<()> {
        let sums = self.sums.iter().map(|sum| (&parts[sum.part], sum.own.storage()));
        let extremes = self.extremes.iter().map(|&part| (&parts[part], parts[part].storage()));
        let all: Vec<(&Part, &Storage)> = sums.chain(extremes).collect();
        if all.is_empty() {
            return Ok(());
        }
        let mut own = Vec::new();
        for (_, storage) in &all {
            storage.pack(&[0], &mut own)?;
        }
        let of_ranks = self.comm.gather_alike(&own)?;
        let (first, others) = of_ranks.split_at(own.len());
        let (mut result, mut place) = (first.to_vec(), 0);
        for (part, storage) in all {
            let bytes = place..place + storage.row_bytes();
            for other in others.chunks_exact(own.len().max(1)) {
                combine(part.dtype(), part.access, &mut result[bytes.clone()], &other[bytes.clone()]);
            }
            if part.access == Access::Inc {
                let mut before = Vec::new();
                part.storage().pack(&[0], &mut before)?;
                combine(part.dtype(), Access::Inc, &mut before, &result[bytes.clone()]);
                result[bytes.clone()].copy_from_slice(&before);
            }
            part.storage().unpack(&[0], &result[bytes.clone()])?;
            place = bytes.end;
        }
        Ok(())
    }

    /// Refuses loops that differ between the processes, which would wait for each other or exchange what does not belong together.
    fn check_alike(&self, declared: &LoopDescription<'_>) -> Result<()> {
        let told = |part: &Part| {
            let through = part.map.as_ref().map_or_else(String::new, |map| format!(", {}", map.name()));
            let is_needed = self.needed.iter().any(|&needed| declared.parts[needed].storage().is_same(part.storage()));
            let is_stale = is_needed && !part.storage().are_ghosts_settled();
            format!("{}({}{through}){}", part.name(), part.access, if is_stale { " with stale ghosts" } else { "" })
        };
        let args = declared.parts.iter().map(told).collect::<Vec<_>>().join(", ");
        let own = format!("kernel `{}` over `{}` with {args}", declared.kernel, declared.iteration.set().name());
        let own = if declared.options.deterministic { format!("deterministic {own}") } else { own };
        let all = self.comm.gather_all(own.as_bytes())?;
        match all.iter().position(|other| other != own.as_bytes()) {
            None => Ok(()),
            Some(other) => {
                let others = String::from_utf8_lossy(&all[other]).into_owned();
                Err(MeshError::Mismatch { rank: self.comm.rank(), own, other, others })
            }
        }
    }
}

/// Data of the same kind as that of a part; none of what all elements share.
fn copy_of(part: &Part) -> Result<Option<ArgData>> {
    let alike = |dat: &Dat| Dat::zeros(dat.dataset(), dat.dtype(), dat.name());
    Ok(match &part.data {
        ArgData::Dat(dat) => Some(ArgData::Dat(alike(dat)?)),
        ArgData::Component(dat, component) => Some(ArgData::Component(alike(dat)?, *component)),
        ArgData::Mat(mat, meeting) => Some(ArgData::Mat(Mat::zeros(mat.sparsity(), mat.dtype(), mat.name())?, meeting.clone())),
        ArgData::Global(_) => None,
    })
}

/// The parts of distributed tables that are wanted, each table once.
fn tables(parts: &[Part], is_wanted: impl Fn(&Part) -> bool) -> SmallVec<[usize; 4]> {
    let mut found: SmallVec<[usize; 4]> = SmallVec::new();
    for (index, part) in parts.iter().enumerate() {
        let is_known = |found: &SmallVec<[usize; 4]>| found.iter().any(|&known| parts[known].storage().is_same(part.storage()));
        if table(part).is_some() && is_wanted(part) && !is_known(&found) {
            found.push(index);
        }
    }
    found
}

/// The rows of profiles that exchanges have.
const SEND: &str = "halo exchange: send";
const RECEIVE: &str = "halo exchange: receive";

/// Has profiles count what the host does for loops on a CPU; on a GPU they count the kernels that move rows.
fn profiled<T>(name: &str, context: &Context, work: impl FnOnce() -> Result<T>) -> Result<T> {
    match context.device().kind() {
        DeviceKind::Cpu => context.stream().timed(name, work),
        DeviceKind::OpenCl | DeviceKind::Cuda | DeviceKind::Hip => work(),
    }
}
