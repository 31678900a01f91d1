//! The plans by which a loop can run without conflicting writes, and the choice among them.

use super::options::{Lanes, LoopOptions, PlanChoice};
use crate::access::Access;
use crate::lower::{Batches, Machine, can_number_entries, shared_numbers};
use crate::shape::{PartShape, Reach, Shape};

/// How writes that can meet are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// No two elements meet: any of them at any time.
    Free,
    /// See [`PlanChoice::Sequential`].
    Sequential,
    /// See [`PlanChoice::Owner`].
    Owner,
    /// See [`PlanChoice::Strips`].
    Strips,
    /// See [`PlanChoice::Colour`].
    Colour,
    /// See [`PlanChoice::Gather`].
    Gather,
    /// See [`PlanChoice::Atomic`].
    Atomic,
    /// See [`PlanChoice::Shared`].
    Shared,
}

/// How a loop is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strategy {
    pub scheme: Scheme,
    pub batches: Batches,
    pub order: Order,
}

/// The order in which elements run and data is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// As they are numbered. Owners order theirs by themselves.
    Given,
    /// Elements that lead to the same places are run one after another, whatever their numbers are.
    Near,
    /// As [`Near`](Order::Near), on copies of the data in which these places are near too, if there is room for them.
    Packed,
}

impl From<Scheme> for Strategy {
    fn from(scheme: Scheme) -> Strategy {
        Strategy { scheme, batches: Batches::Single, order: Order::Given }
    }
}

/// The strategies to try, the most promising first; or why the chosen one cannot be used. On threads each scheme is also tried in
/// lanes, unless results must be bitwise reproducible: vectors may round differently.
pub fn strategies(shape: &Shape, at: Situation) -> Result<Vec<Strategy>, &'static str> {
    let refused = |scheme| lanes_refusal(shape, scheme, at);
    let (mut found, mut reason) = (Vec::new(), None);
    for scheme in candidates(shape, at)? {
        match at.options.lanes {
            Lanes::Always => match refused(scheme) {
                None => found.extend(in_batches(shape, scheme, at)),
                Some(why) => reason = reason.or(Some(why)),
            },
            // One thread of several is the last resort.
            Lanes::Auto if scheme == Scheme::Sequential && at.threads > 1 => found.push(scheme.into()),
            Lanes::Auto if refused(scheme).is_none() && !at.options.deterministic => {
                let batches = in_batches(shape, scheme, at);
                // Kernels that compute much for each element gain the most, and they gather what is scattered anyway.
                let is_promising = scheme != Scheme::Free && at.elements >= FEW;
                let place = batches.iter().position(|strategy| is_promising && strategy.batches == Batches::Vectors).map_or(0, |_| 1);
                found.extend(batches[..place].iter().copied().chain([scheme.into()]).chain(batches[place..].iter().copied()));
            }
            Lanes::Auto | Lanes::Never => found.push(scheme.into()),
        }
    }
    if at.elements < FEWEST {
        // No strategy is much better than another.
        found.truncate(1);
    } else if gains_from_order(shape, at) {
        let better = |&strategy: &Strategy| orders(shape, strategy.scheme, at).iter().map(move |&order| Strategy { order, ..strategy });
        let better: Vec<Strategy> = found.iter().flat_map(better).collect();
        found.extend(better);
    }
    match reason {
        Some(reason) if found.is_empty() => Err(reason),
        _ => Ok(found),
    }
}

/// The other orders that promise something.
fn orders(shape: &Shape, scheme: Scheme, at: Situation) -> &'static [Order] {
    // Copies are in order, the tables themselves are not.
    let both_ways = |part: &PartShape| {
        part.reach == Reach::Direct && shape.parts.iter().any(|other| other.table == part.table && other.map().is_some())
    };
    // A copy of a matrix would be read and written once more than its blocks.
    let can_pack = at.whole && !shape.parts.iter().any(|part| both_ways(part) || part.block.is_some());
    match scheme {
        Scheme::Free => &[Order::Near],
        Scheme::Sequential if at.threads > 1 => &[],
        Scheme::Sequential if !can_pack => &[Order::Near],
        Scheme::Sequential => &[Order::Packed],
        Scheme::Owner if can_pack => &[Order::Packed],
        _ => &[],
    }
}

/// Whether another order of the elements may be taken, and promises to fetch less from memory.
fn gains_from_order(shape: &Shape, at: Situation) -> bool {
    let may = at.options.plan == PlanChoice::Auto && !at.options.deterministic && !at.options.checked;
    // What the last of several elements leaves depends on their order.
    let combines = shape.parts.iter().all(|part| !part.can_meet() || part.access.is_reduction());
    at.scattered && at.machine == Machine::Threads && may && combines && shape.is_flat()
}

/// The strategies that run several elements at a time by that scheme.
fn in_batches(shape: &Shape, scheme: Scheme, at: Situation) -> Vec<Strategy> {
    let strategy = |batches: Batches| Strategy { batches, ..scheme.into() };
    let vectors = (at.has_vectors && shape.layers.is_none()).then(|| strategy(Batches::Vectors));
    let calls = (most_numbers(shape) <= MOST_OF_CALLS).then(|| strategy(Batches::Calls));
    vectors.into_iter().chain(calls).collect()
}

/// Elements of more numbers than this, in an argument or written, are not run by calls in lanes: compilers make no vectors of them.
const MOST_OF_CALLS: usize = 64;

/// Elements of more numbers than this, all together, are not run in vectors: a batch of them leaves the nearest cache.
const MOST_OF_VECTORS: usize = 1024;

/// The most numbers of an argument that is copied, or of all that are written.
fn most_numbers(shape: &Shape) -> usize {
    let copied = shape.params.iter().filter(|param| !param.in_place).map(|param| param.size).max().unwrap_or(0);
    copied.max(written_numbers(shape))
}

/// How many numbers of an element are written.
fn written_numbers(shape: &Shape) -> usize {
    let numbers = |part: &PartShape| part.count * part.map().map_or(1, |map| shape.maps[map].slots);
    shape.parts.iter().filter(|part| part.access.writes()).map(numbers).sum()
}

/// Why elements cannot be run in the lanes of vectors: those of a batch are all run before any of them is kept.
fn lanes_refusal(shape: &Shape, scheme: Scheme, at: Situation) -> Option<&'static str> {
    let all = shape.params.iter().filter(|param| !param.in_place).map(|param| param.size).sum::<usize>();
    if at.machine != Machine::Threads {
        Some("elements run in vector lanes only on a CPU")
    } else if at.options.checked {
        Some("elements in vector lanes cannot be checked")
    } else if shape.parts.iter().any(|part| part.can_meet() && part.access == Access::Rw) {
        Some("elements in vector lanes run concurrently, but the kernel reads and writes data in place through a map")
    } else if written_numbers(shape) == 0 {
        Some("elements in vector lanes must write something")
    } else if scheme == Scheme::Colour {
        Some("blocks of one colour do not run in vector lanes")
    } else if most_numbers(shape) <= MOST_OF_CALLS {
        None
    } else if !at.has_vectors || shape.layers.is_some() {
        Some("elements in vector lanes may have at most 64 numbers per argument and write at most 64")
    } else if all > MOST_OF_VECTORS {
        Some("elements in vector lanes may have at most 1024 numbers in all")
    } else {
        None
    }
}

/// Loops of fewer elements than this are run in order on one thread of a CPU.
const FEWEST: usize = 64;

/// Loops of fewer elements than this are run so at first: what each costs is not known, and other strategies take longer to compile.
const FEW: usize = 1024;

/// Elements of a strip, at least.
pub const SHORTEST_STRIP: usize = 16;

/// Matrices of at least this many elements are first assembled by the plan that takes longer to make, and less to run.
const MANY: usize = 1 << 15;

/// Where and how a loop is to be run, as far as the choice depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    pub machine: Machine,
    pub threads: usize,
    pub elements: usize,
    /// Bytes of memory that the work items of a block share.
    pub shared: usize,
    /// Whether neighbouring elements lead to places far from each other.
    pub scattered: bool,
    /// Whether the loop is over all elements of a set.
    pub whole: bool,
    /// Whether elements can be cut into strips that share no targets.
    pub strips: bool,
    /// Whether the loop is over part of a distributed set: others have parts where strips may be possible.
    pub is_part: bool,
    /// Whether the kernel has a form for vectors.
    pub has_vectors: bool,
    pub options: LoopOptions,
}

/// The schemes to try.
fn candidates(shape: &Shape, at: Situation) -> Result<Vec<Scheme>, &'static str> {
    let meets = shape.parts.iter().any(|part| part.can_meet());
    let possible = |scheme: Scheme| refusal(shape, scheme, at).is_none();
    let chosen = match at.options.plan {
        PlanChoice::Auto => {
            return Ok(match at.machine {
                _ if !meets => vec![Scheme::Free],
                Machine::Threads => threads(at, possible),
                Machine::Gpu => gpu(shape, at, possible),
            });
        }
        PlanChoice::Sequential => Scheme::Sequential,
        _ if !meets => Scheme::Free,
        PlanChoice::Owner => Scheme::Owner,
        PlanChoice::Strips => Scheme::Strips,
        PlanChoice::Colour => Scheme::Colour,
        PlanChoice::Gather => Scheme::Gather,
        PlanChoice::Atomic => Scheme::Atomic,
        PlanChoice::Shared => Scheme::Shared,
    };
    if at.options.deterministic && matches!(chosen, Scheme::Atomic | Scheme::Shared) {
        return Err("the order of atomic additions differs from run to run, but deterministic results are required");
    }
    match refusal(shape, chosen, at) {
        // All of them are one strip.
        None if chosen == Scheme::Strips && !at.strips && at.elements < fewest_in_strips(at.threads) => Ok(vec![Scheme::Sequential]),
        None if chosen == Scheme::Strips && !at.strips => Ok(vec![without_strips(possible)]),
        None => Ok(vec![chosen]),
        Some(reason) => Err(reason),
    }
}

/// Whether a loop is run in strips where elements can be cut into them.
pub fn wants_strips(shape: &Shape, at: Situation) -> bool {
    candidates(shape, Situation { strips: true, ..at }).is_ok_and(|found| found.contains(&Scheme::Strips))
}

/// How several threads run a loop that is not run in strips.
fn without_strips(possible: impl Fn(Scheme) -> bool) -> Scheme {
    if possible(Scheme::Owner) { Scheme::Owner } else { Scheme::Colour }
}

/// Fewer elements than this are not cut into strips.
fn fewest_in_strips(threads: usize) -> usize {
    2 * SHORTEST_STRIP * threads
}

fn threads(at: Situation, possible: impl Fn(Scheme) -> bool) -> Vec<Scheme> {
    // For bitwise reproducible results the plan is the same for any number of threads: another order, or other code, may round differently.
    let is_deterministic = at.options.deterministic;
    let in_order = at.elements < FEWEST || (at.threads == 1 && !is_deterministic);
    // Strips are run once and need no masks, so that nothing is gained by owners.
    let parallel = if at.strips && possible(Scheme::Strips) { Scheme::Strips } else { without_strips(possible) };
    match at.elements < FEW {
        _ if in_order => vec![Scheme::Sequential],
        true if is_deterministic => vec![Scheme::Sequential],
        true => vec![Scheme::Sequential, parallel],
        false if is_deterministic => vec![parallel],
        false => vec![parallel, Scheme::Sequential],
    }
}

fn gpu(shape: &Shape, at: Situation, possible: impl Fn(Scheme) -> bool) -> Vec<Scheme> {
    let has_matrix = shape.parts.iter().any(|part| part.block.is_some());
    // An element that is gathered is run for each of its targets: edges twice, but triangles three times and cubes of third order 64 times.
    let runs = shape.parts.iter().filter(|part| part.can_meet()).filter_map(PartShape::map).map(|map| shape.maps[map].slots).max();
    let is_gathered_cheaply = runs.is_none_or(|runs| runs <= 2);
    let order: &[Scheme] = match (at.options.deterministic, has_matrix) {
        (true, _) => &[Scheme::Gather, Scheme::Colour],
        // Planning sums takes longer than planning nothing.
        (false, true) if at.elements < MANY => &[Scheme::Atomic, Scheme::Shared, Scheme::Gather],
        (false, true) => &[Scheme::Shared, Scheme::Atomic, Scheme::Gather],
        (false, false) if is_gathered_cheaply => &[Scheme::Gather, Scheme::Atomic, Scheme::Shared],
        (false, false) => &[Scheme::Atomic, Scheme::Shared, Scheme::Gather],
    };
    let mut found: Vec<Scheme> = order.iter().copied().filter(|&scheme| possible(scheme)).collect();
    if at.options.deterministic {
        found.truncate(1);
    }
    if found.is_empty() {
        found.push(Scheme::Colour);
    }
    found
}

/// Why a loop cannot be run by that strategy.
fn refusal(shape: &Shape, scheme: Scheme, at: Situation) -> Option<&'static str> {
    let writes = || shape.parts.iter().filter(|part| part.access.writes());
    let met = || writes().filter(|part| part.can_meet());
    // An element is run more than once, so that what it changes of its own must not be read by its other runs.
    let is_read = |part: &PartShape| shape.parts.iter().any(|other| other.access.reads() && other.overlaps(part));
    let repeats_safely = writes().all(|part| part.reach != Reach::Direct || !is_read(part)) && met().all(|part| part.access != Access::Rw);
    match (scheme, at.machine) {
        (Scheme::Free | Scheme::Colour, _) => None,
        (Scheme::Sequential, Machine::Gpu) => Some("a GPU does not run elements in order"),
        (Scheme::Sequential, Machine::Threads) => None,
        (Scheme::Owner, Machine::Gpu) => Some("only the threads of a CPU own targets"),
        (Scheme::Strips, Machine::Gpu) => Some("only the threads of a CPU run strips"),
        (Scheme::Strips, _) if at.options.deterministic => {
            Some("how many strips there are depends on the threads, but deterministic results are required")
        }
        (Scheme::Strips, _) if shape.parts.iter().any(PartShape::last_decides) => {
            Some("strips do not run in the order of the elements, but the last element that writes a target decides")
        }
        (Scheme::Strips, _) if !at.strips && !at.is_part && at.elements >= fewest_in_strips(at.threads) => {
            Some("elements far from each other in their numbering write the same targets; use \"owner\" or \"colour\"")
        }
        (Scheme::Strips, _) => None,
        (Scheme::Gather, Machine::Threads) => Some("targets gather only on GPUs"),
        (Scheme::Atomic, Machine::Threads) => Some("atomic additions are supported only on GPUs"),
        (Scheme::Shared, Machine::Threads) => Some("only the work items of a GPU share memory"),
        (Scheme::Owner, _) | (Scheme::Gather, _) if !repeats_safely => {
            Some("it runs elements more than once, so data that the kernel reads and writes in place would be wrong")
        }
        // An element whose blocks are all dropped has no target that would run it.
        (Scheme::Gather, _) if met().any(|part| part.drops) && writes().any(|part| part.reach == Reach::Direct) => {
            Some("blocks of a matrix are dropped, so no target would write the data of the elements themselves")
        }
        (Scheme::Gather, _) if shape.parts.iter().any(|part| part.is_reduced()) => {
            Some("it runs elements more than once, so sums and extremes over all elements would be wrong")
        }
        (Scheme::Gather, _) if met().any(|part| met().any(|other| part.overlaps(other) && !part.is_alike(other))) => {
            Some("one argument is a component of another, so a target would be gathered twice")
        }
        (Scheme::Shared, _) if at.options.checked => Some("sums in shared memory cannot be checked"),
        (Scheme::Shared, _) if shape.parts.iter().any(|part| part.is_reduced()) => {
            Some("sums and extremes over all elements are combined in the same memory")
        }
        (Scheme::Shared, _) if met().filter_map(PartShape::map).any(|map| !can_number_entries(shape.maps[map].slots)) => {
            Some("an element leads to more targets than a block can number")
        }
        (Scheme::Shared, _) if shared_bytes(shape) > at.shared => {
            Some("what a block of elements adds does not fit into the memory that it shares")
        }
        (Scheme::Atomic | Scheme::Shared, _) if met().any(|part| part.access != Access::Inc || !can_add(part.dtype)) => {
            Some("only additions of 32-bit and 64-bit numbers are atomic")
        }
        _ => None,
    }
}

/// The bytes that a block of elements leaves in the memory that it shares.
fn shared_bytes(shape: &Shape) -> usize {
    let bytes_of = |part: &PartShape| {
        let slots = part.map().map_or(0, |map| shape.maps[map].slots);
        shared_numbers(slots, part.count) * part.dtype.size()
    };
    shape.parts.iter().filter(|part| part.can_meet()).map(bytes_of).sum()
}

/// Whether devices add such numbers atomically.
fn can_add(dtype: parloop_device::DType) -> bool {
    use parloop_device::DType::{F32, F64, I32, I64, U32, U64};
    matches!(dtype, F32 | F64 | I32 | I64 | U32 | U64)
}
