//! Loops: a kernel for each element of a set, checked when it is declared, run as often as wanted.

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

use parloop_device::forked::{Lock, Turn};
use parloop_device::{DeviceKind, Memory, profile};
use parloop_kernel::{Context, KernelError};
use parloop_loop::error::LoopError;
use smallvec::SmallVec;

use super::distributed::{Distributed, LoopDescription, Stretched};
use super::job::{Making, machine_of};
use super::known::{self, Key};
use super::options::LoopOptions;
use super::report::{LoopReport, least_bytes};
use super::scheme::{Situation, Strategy, strategies, wants_strips};
use super::strategy_cache::{LoopTraits, StrategyEntry};
use super::tune::{Run, Tuned};
use crate::Result;
use crate::access::Access;
use crate::declare::arg::{Arg, ArgData, Param, Part, axes, flattened};
use crate::declare::iteration::{Iteration, Stretch};
use crate::declare::layers::Region;
use crate::declare::map::Map;
use crate::declare::set::Set;
use crate::error::MeshError;
use crate::kernel::Kernel;
use crate::lower::{LANES, Machine, unwritten_part};
use crate::shape::{Loop, Shape, maps_of, stored_by};
use crate::storage::Layout;

/// A kernel over a set with its arguments, ready to be run often.
///
/// ```
/// use parloop_kernel::Context;
/// use parloop_mesh::{Access, Dat, Kernel, KernelOptions, LoopOptions, Map, ParLoop, Set};
/// let (edges, nodes) = (Set::new(3, "edges")?, Set::new(4, "nodes")?);
/// let ends = Map::new(&edges, &nodes, 2, &[0, 1, 1, 2, 2, 3], "ends")?;
/// let degree = Dat::new(&nodes.data(1)?, &[0.0; 4], "degree")?;
/// let source = "void count(double *degree) { degree[0] += 1; degree[1] += 1; }";
/// // SAFETY: the map leads to two nodes.
/// let count = unsafe { Kernel::c(source, "count", &KernelOptions::default())? };
/// let counting = ParLoop::new(&count, &edges, vec![degree.arg(Access::Inc, Some(&ends))], LoopOptions::default())?;
/// counting.run(&Context::open("cpu")?)?;
/// assert_eq!(degree.to_vec::<f64>()?, [1.0, 2.0, 2.0, 1.0]);
/// # Ok::<(), parloop_mesh::MeshError>(())
/// ```
pub struct ParLoop {
    kernel: Kernel,
    iteration: Iteration,
    /// What the kernel gets for each of its parameters.
    params: Vec<Param>,
    parts: Vec<Part>,
    options: LoopOptions,
    /// The maps, by their numbers in the shape.
    maps: SmallVec<[Map; 4]>,
    /// Those whose tables they are made of.
    stored: SmallVec<[Map; 4]>,
    /// The tables: which part has each, whether the loop reads and writes it.
    tables: SmallVec<[Table; 8]>,
    /// Parts whose tables the loop takes turns at, sorted so that no two loops wait for each other, and whether it writes them.
    turns: SmallVec<[Table; 8]>,
    /// What is known about it on the context where it ran last. The layouts of its tables there are settled.
    last: Lock<Option<(Context, Arc<Tuned>)>>,
    /// The last context on which it was found that it may run, where it has no elements.
    empty_on: Lock<Option<Context>>,
    /// Whether it runs over part of a distributed set.
    is_part: bool,
    /// How processes run it together, over a distributed set.
    distributed: Option<Box<Distributed<ParLoop>>>,
}

#[derive(Clone, Copy, Debug)]
struct Table {
    part: usize,
    writes: bool,
}

/// Runs a kernel for each element of a set once.
///
/// # Errors
/// Those of [`ParLoop::new`] and [`ParLoop::run`].
pub fn par_loop(kernel: &Kernel, set: &Set, args: Vec<Arg>, context: &Context) -> Result<()> {
    ParLoop::new(kernel, set, args, LoopOptions::default())?.run(context)
}

impl ParLoop {
    /// Checks that kernel, set and arguments fit together.
    ///
    /// # Errors
    /// Which argument does not fit, and why.
    pub fn new(kernel: &Kernel, set: &Set, args: Vec<Arg>, options: LoopOptions) -> Result<ParLoop> {
        let (set, args) = (set.current(), args.into_iter().map(Arg::current).collect::<Result<Vec<_>>>()?);
        for (index, arg) in args.iter().enumerate() {
            arg.parts().iter().try_for_each(|part| check_part(index, part, set, options.region))?;
        }
        let iteration = Iteration::new(set, options.region)?;
        // Before places are found: an element cannot have so many.
        let blocks = args
            .iter()
            .flat_map(Arg::parts)
            .filter_map(|part| Some(part.block()?.shape().iter().fold(part.dtype().size(), |bytes, length| bytes.saturating_mul(*length))));
        refuse_bytes(kernel, blocks.fold(0, usize::saturating_add), || "pass less data for each element".to_owned())?;
        let args = args.into_iter().map(|arg| arg.with_numbers()?.on(&iteration)).collect::<Result<Vec<_>>>()?;
        check_conflicts(&args)?;
        kernel.check(&args, options.pass_layer)?;
        if options.pass_layer && iteration.layers().is_none() {
            return Err(MeshError::NoLayers { set: set.name().to_owned() });
        }
        let (params, parts) = flattened(args);
        let made = ParLoop::around(kernel.clone(), iteration, params, parts, options);
        // On other devices there may be less of it.
        made.check_room(DeviceKind::Cpu)?;
        let distributed = Distributed::of(&made.declared())?.map(Box::new);
        Ok(ParLoop { distributed, ..made })
    }

    fn around(kernel: Kernel, iteration: Iteration, params: Vec<Param>, parts: Vec<Part>, options: LoopOptions) -> ParLoop {
        let mut tables: SmallVec<[Table; 8]> = SmallVec::new();
        for (index, part) in parts.iter().enumerate() {
            match tables.iter_mut().find(|table| parts[table.part].storage().is_same(part.storage())) {
                Some(table) => table.writes |= part.access.writes(),
                None => tables.push(Table { part: index, writes: part.access.writes() }),
            }
        }
        let mut turns = tables.clone();
        turns.sort_by_key(|table| parts[table.part].storage().rank());
        let maps = maps_of(&parts);
        let stored = stored_by(&maps);
        ParLoop {
            kernel,
            iteration,
            params,
            parts,
            options,
            maps,
            stored,
            tables,
            turns,
            last: Lock::default(),
            empty_on: Lock::default(),
            is_part: false,
            distributed: None,
        }
    }

    fn declared(&self) -> LoopDescription<'_> {
        LoopDescription { kernel: self.kernel.name(), iteration: &self.iteration, parts: &self.parts, options: self.options }
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The set.
    pub fn set(&self) -> &Set {
        self.iteration.set()
    }

    /// The parts of its arguments, one after another.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Runs the kernel for each element. Data moves to the context's device when it is not there. A loop over a distributed set must be run by
    /// all of its processes.
    ///
    /// # Errors
    /// A mistake in the kernel's source; a plan that cannot run this loop; no room; what the device says.
    pub fn run(&self, context: &Context) -> Result<()> {
        if let Some(distributed) = &self.distributed {
            // The exchange uses tables first, and must not decide how they are stored.
            for part in &self.parts {
                let _ = layout(part, context);
            }
            return distributed.run(&self.declared(), context, |stretch| self.stretch(distributed, stretch));
        }
        let count = self.iteration.count();
        if count == 0 {
            return Ok(());
        }
        let tuned = self.tuned(context)?;
        let turns = self.turns.iter().map(|table| self.parts[table.part].storage().turn(table.writes));
        let _turns: SmallVec<[Turn<'_>; 8]> = turns.collect::<Result<_, _>>()?;
        self.run_tuned(&tuned, count, context)
    }

    /// The loop over part of a distributed set.
    fn stretch(&self, distributed: &Distributed<ParLoop>, stretch: Stretch) -> ParLoop {
        let (iteration, parts) = (self.iteration.on(stretch), distributed.parts(&self.parts, stretch));
        ParLoop { is_part: true, ..ParLoop::around(self.kernel.clone(), iteration, self.params.clone(), parts, self.options) }
    }

    /// Refuses data that was replaced by its local part, immediately and before each replay. The caller holds its lock.
    fn check_current(&self, context: &Context) -> Result<(), KernelError> {
        let dats = self.parts.iter().filter_map(|part| match &part.data {
            ArgData::Dat(dat) | ArgData::Component(dat, _) => Some(dat),
            ArgData::Global(_) | ArgData::Mat(..) => None,
        });
        for dat in dats {
            dat.check_current()?;
            // Storages of our own are refused by themselves.
            if context.is_recording() && dat.storage().owner().is_some() {
                let asked = dat.clone();
                dat.storage().ask_before_replay(context, move || asked.check_current());
            }
        }
        Ok(())
    }

    fn run_tuned(&self, tuned: &Tuned, count: usize, context: &Context) -> Result<()> {
        self.check_current(context)?;
        let tables = self.tables.iter().map(|table| self.parts[table.part].storage().place(context, true, table.writes));
        let tables: SmallVec<[Memory; 8]> = tables.collect::<Result<_, _>>()?;
        let maps = self.stored.iter().map(|map| map.storage().place(context, true, false));
        let maps: SmallVec<[Memory; 4]> = maps.collect::<Result<_, _>>()?;
        let with = Run { tables: &tables, maps: &maps, context };
        let mut span = profile::span(context.device().id(), || self.kernel.name().to_owned());
        if let Some(span) = &mut span {
            span.work.bytes = u64::try_from(least_bytes(&self.parts, &self.stored, count)).ok();
        }
        let run = tuned.run(&with, |shape| self.making(shape, context));
        run.map_err(|error| unwritten(self, &error).unwrap_or(error))
    }

    /// What its strategies are made for.
    fn making<'a>(&'a self, shape: &'a Shape, context: &'a Context) -> Making<'a> {
        let LoopOptions { checked, deterministic, .. } = self.options;
        Making {
            kernel: &self.kernel,
            iteration: &self.iteration,
            parts: &self.parts,
            shape,
            context,
            checked,
            deterministic,
            known_order: OnceCell::new(),
            known_strips: OnceCell::new(),
        }
    }

    /// The source of each kernel that it launches on that context.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn code(&self, context: &Context) -> Result<Vec<String>> {
        Ok(self.tuned(context)?.best_known().code.clone())
    }

    /// How it runs on that context: its plans with the times of those that were tried, and the bytes that a run moves at least.
    ///
    /// ```
    /// use parloop_kernel::Context;
    /// use parloop_mesh::{Access, Dat, Kernel, LoopOptions, ParLoop, Set};
    /// let cells = Set::new(1000, "cells")?;
    /// let x = Dat::new(&cells.data(1)?, &[1.0; 1000], "x")?;
    /// // SAFETY: a cell has one number.
    /// let twice = unsafe { Kernel::new("void twice(double *x) { x[0] *= 2; }", "twice")? };
    /// let doubling = ParLoop::new(&twice, &cells, vec![x.arg(Access::Rw, None)], LoopOptions::default())?;
    /// let context = Context::open("cpu:1")?;
    /// doubling.run(&context)?;
    /// let report = doubling.report(&context)?;
    /// assert_eq!((report.runs, report.bytes), (1, 2 * 8 * 1000));
    /// assert_eq!(report.plans[0].name, "free");
    /// # Ok::<(), parloop_mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn report(&self, context: &Context) -> Result<LoopReport> {
        let (tuned, elements) = (self.tuned(context)?, self.iteration.count());
        let (runs, last) = tuned.runs();
        Ok(LoopReport {
            kernel: self.kernel.name().to_owned(),
            set: self.set().name().to_owned(),
            elements,
            device: context.device().id().to_string(),
            bytes: least_bytes(&self.parts, &self.stored, elements),
            plans: tuned.strategies(),
            last,
            runs,
        })
    }

    fn tuned(&self, context: &Context) -> Result<Arc<Tuned>> {
        let mut last = self.last.lock_or(|| None);
        if let Some((known, tuned)) = &*last
            && known.is_same(context)
        {
            return Ok(tuned.clone());
        }
        let tuned = self.look_up(context)?;
        *last = Some((context.clone(), tuned.clone()));
        Ok(tuned)
    }

    fn key(&self, context: &Context) -> Result<Key> {
        Ok(Key {
            kernel: self.kernel.id(),
            device: context.device().id(),
            stream: context.stream().handle(),
            shape: self.shape(context)?,
            maps: self.maps.iter().map(Map::id).collect(),
            options: self.options,
            stretch: self.iteration.stretch(),
        })
    }

    fn look_up(&self, context: &Context) -> Result<Arc<Tuned>> {
        known::get(self.iteration.set(), self.key(context)?, |key| {
            let (shape, scattered) = (&key.shape, self.is_scattered()?);
            let making = self.making(shape, context);
            let strategies = self.strategies(&making, scattered)?;
            let kept = || {
                let (kernel, options, elements) = (&self.kernel, self.options, self.iteration.count());
                StrategyEntry::of(&LoopTraits {
                    kernel,
                    shape,
                    options,
                    elements,
                    scattered,
                    whole: self.iteration.list().is_none(),
                    context,
                })
            };
            Tuned::new(&making, &strategies, kept)
        })
    }

    /// Its shape on that context.
    fn shape(&self, context: &Context) -> Result<Shape> {
        let kind = context.device().kind();
        self.check_room(kind)?;
        let of = Loop { iteration: &self.iteration, params: &self.params, parts: &self.parts, passes_layer: self.options.pass_layer };
        Ok(Shape::of(&of, |part| layout(part, context), |param| self.is_in_place(param, kind)))
    }

    /// Its strategies, the most promising first.
    fn strategies(&self, making: &Making<'_>, scattered: bool) -> Result<Vec<Strategy>> {
        let Making { shape, context, .. } = *making;
        let mut situation = Situation {
            machine: machine_of(context),
            threads: context.device().properties().compute_units as usize,
            elements: self.iteration.count(),
            shared: usize::try_from(context.device().properties().shared_memory).unwrap_or(usize::MAX),
            scattered,
            whole: self.iteration.list().is_none(),
            strips: false,
            is_part: self.is_part,
            has_vectors: machine_of(context) == Machine::Threads && self.kernel.in_lanes(shape, LANES).is_some(),
            options: self.options,
        };
        situation.strips = wants_strips(shape, situation) && making.strips()?.is_some();
        strategies(shape, situation).map_err(|reason| MeshError::Plan {
            plan: self.options.plan.name(),
            kernel: self.kernel.name().to_owned(),
            device: context.device().id().to_string(),
            reason,
        })
    }

    /// Whether neighbouring elements lead to places far from each other.
    fn is_scattered(&self) -> Result<bool> {
        for map in &self.maps {
            if !map.is_local()? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The layout of a part in the memory of a context: as already decided, or as suits this loop.
fn layout(part: &Part, context: &Context) -> Layout {
    if matches!(part.data, ArgData::Global(_)) {
        return Layout::Rows;
    }
    let row = part.storage().count() * part.dtype().size();
    // Rows that one or two wide loads fetch are as good as columns where neighbours are visited in turn, and better where they are not.
    let fits = row.is_power_of_two() && row <= 64;
    let preferred = match part.map.is_none() && machine_of(context) == Machine::Gpu && !fits {
        true => Layout::Columns,
        false => Layout::Rows,
    };
    part.storage().settle_layout(context, preferred)
}

/// The failed check of what a kernel must write, if the error is one.
fn unwritten(of: &ParLoop, error: &MeshError) -> Option<MeshError> {
    let MeshError::Loop(error) = error else { return None };
    let LoopError::Kernel(KernelError::Check { what, index: place, .. }) = &**error else { return None };
    let part = unwritten_part(what.split('[').next()?)?;
    let (index, param) = of.params.iter().enumerate().find(|(_, param)| param.parts.contains(&part))?;
    let (parts, place) = (&of.parts[param.parts.clone()], usize::try_from(place - 1).ok()?);
    let axes = axes(parts.iter().map(Part::axes), param.across, parts[0].block().is_some());
    let all = axes.iter().product::<usize>();
    let mut rest = place % all;
    let mut entry: Vec<usize> = axes.iter().rev().map(|&length| (rest % length, rest /= length).0).collect();
    entry.reverse();
    let (kernel, name) = (of.kernel.name().to_owned(), of.parts[part].name().to_owned());
    Some(MeshError::Unwritten { kernel, index, name, element: of.iteration.told(place / all), entry })
}

/// More numbers than this that all elements read are read where they are; fewer are copied, since compilers can hold them in registers.
const MOST_COPIED: usize = 64;

/// Bytes of an element's data that fit on the stack of a thread, twice, next to what the kernel has there.
const MOST_BYTES: usize = 512 << 10;

impl ParLoop {
    /// The only part of a parameter that has so many numbers, the same for all elements, that copies would be a waste.
    fn large_table(&self, param: usize) -> Option<&Part> {
        let [part] = &self.parts[self.params[param].parts.clone()] else { return None };
        let is_large = matches!(part.data, ArgData::Global(_)) && part.access == Access::Read && part.count() > MOST_COPIED;
        is_large.then_some(part)
    }

    fn is_in_place(&self, param: usize, device: DeviceKind) -> bool {
        self.large_table(param).is_some() && self.kernel.reads_in_place(param, device)
    }

    /// Refuses more data for each element than copies of it can be made of.
    fn check_room(&self, device: DeviceKind) -> Result<()> {
        let copied = || (0..self.params.len()).filter(|&param| !self.is_in_place(param, device));
        let bytes_of = |part: &Part| part.arity().saturating_mul(part.count()).saturating_mul(part.dtype().size());
        let parts = copied().flat_map(|param| &self.parts[self.params[param].parts.clone()]);
        let bytes = parts.map(bytes_of).fold(0, usize::saturating_add);
        let advice = || match copied().find_map(|param| Some((param, self.large_table(param)?.name()))) {
            None => "pass less data for each element".to_owned(),
            Some((param, name)) if self.kernel.reads_in_place(param, DeviceKind::Cpu) => {
                format!("on OpenCL, kernels in C get copies of all data: use another device or a loop kernel, or pass less of `{name}`")
            }
            Some((param, name)) => format!("declare argument {param} (`{name}`) const, so that it is read in place"),
        };
        refuse_bytes(&self.kernel, bytes, advice)
    }
}

/// Refuses more bytes for each element than have room.
fn refuse_bytes(kernel: &Kernel, bytes: usize, advice: impl FnOnce() -> String) -> Result<()> {
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    Err(MeshError::TooMuchForElement { kernel: kernel.name().to_owned(), bytes, most: MOST_BYTES, advice: advice() })
}

/// Whether a part of an argument makes sense for elements of the set.
fn check_part(index: usize, part: &Part, set: &Set, region: Region) -> Result<()> {
    let name = || part.name().to_owned();
    let dat = match &part.data {
        ArgData::Global(global) => {
            if let Some(map) = &part.map {
                return Err(MeshError::MapOfGlobal { index, name: name(), map: map.name().to_owned() });
            }
            let (kind, allowed): (_, &'static [Access]) = match global.is_constant() {
                true => ("a constant", &[Access::Read]),
                false => ("a global", &[Access::Read, Access::Inc, Access::Min, Access::Max]),
            };
            return match allowed.contains(&part.access) {
                true => Ok(()),
                false => Err(MeshError::Mode { index, name: name(), access: part.access, kind, allowed }),
            };
        }
        ArgData::Mat(_, meeting) => {
            const ALLOWED: &[Access] = &[Access::Write, Access::Inc];
            if !ALLOWED.contains(&part.access) {
                return Err(MeshError::Mode { index, name: name(), access: part.access, kind: "a matrix", allowed: ALLOWED });
            }
            let from = meeting.rows.from();
            return match begins_at(from, set) {
                true => Ok(()),
                false => Err(MeshError::WrongSet {
                    index,
                    name: name(),
                    data: "its maps start at".to_owned(),
                    found: from.name().to_owned(),
                    through: through("the loop is over".to_owned(), from, set.base()),
                    wanted: set.base().name().to_owned(),
                }),
            };
        }
        ArgData::Dat(dat) => dat,
        ArgData::Component(dat, component) => {
            let count = dat.dataset().count();
            if *component >= count {
                return Err(MeshError::Component { index, name: name(), component: *component, count });
            }
            dat
        }
    };
    let on = dat.dataset().set();
    let wrong = |data: String, found: &Set, over: String, wanted: &Set| {
        let through = through(over, found, wanted);
        let (found, wanted) = (found.name().to_owned(), wanted.name().to_owned());
        Err(MeshError::WrongSet { index, name: name(), data, found, through, wanted })
    };
    let (data, over) = (|| "the data is on".to_owned(), || "the loop is over".to_owned());
    match &part.map {
        // Data on the set that columns stand on is the same in all layers.
        None if on != set.base() && on != set.plain() => wrong(data(), on, over(), set.base()),
        None if on.layers().is_some() && region == Region::InteriorFacets => Err(MeshError::DirectOnFacets { index, name: name() }),
        Some(map) if !begins_at(map.from(), set) => wrong(format!("the map `{}` starts at", map.name()), map.from(), over(), set.base()),
        Some(map) if map.to().layers().is_some() => {
            Err(MeshError::MapToExtruded { map: map.name().to_owned(), set: map.to().name().to_owned() })
        }
        Some(map) if map.to() != on => wrong(data(), on, format!("the map `{}` leads to", map.name()), map.to()),
        _ => Ok(()),
    }
}

/// What leads to another set than the one that was found: two sets may have one name.
fn through(what: String, found: &Set, wanted: &Set) -> String {
    if found.name() == wanted.name() { format!("{what} another set named") } else { what }
}

/// Whether elements of a set have rows in maps that begin at another: itself, or the set that its columns stand on.
fn begins_at(from: &Set, set: &Set) -> bool {
    from == set.base() || (from == set.plain() && set.layers().is_some())
}

/// Refuses the same data as two arguments when one element could read what another writes.
fn check_conflicts(args: &[Arg]) -> Result<()> {
    let numbered = || args.iter().enumerate().flat_map(|(number, arg)| arg.parts().iter().map(move |part| (number, part)));
    for (place, (second, part)) in numbered().enumerate() {
        for (first, other) in numbered().take(place) {
            if !part.access.writes() && !other.access.writes() {
                continue;
            }
            if !other.storage().is_same(part.storage()) {
                // A plan knows tables, not their bytes, and on a GPU each has a copy of its own.
                if other.storage().overlaps(part.storage()) {
                    return Err(MeshError::SharedMemory {
                        first_name: other.name().to_owned(),
                        first,
                        first_access: other.access,
                        second_name: part.name().to_owned(),
                        second,
                        second_access: part.access,
                    });
                }
                continue;
            }
            let both_direct = part.map.is_none() && other.map.is_none() && !matches!(part.data, ArgData::Global(_));
            // The plan keeps apart what goes through maps.
            let both_combine = part.access == other.access && part.access.is_reduction() && part.map.is_some() == other.map.is_some();
            let apart = match (&part.data, &other.data) {
                (ArgData::Component(_, here), ArgData::Component(_, there)) => here != there,
                _ => false,
            };
            if !(both_direct || both_combine || apart) {
                return Err(MeshError::Conflict {
                    name: part.name().to_owned(),
                    first,
                    first_access: other.access,
                    second,
                    second_access: part.access,
                });
            }
        }
    }
    Ok(())
}

impl Stretched for ParLoop {
    fn is_empty(&self) -> bool {
        self.iteration.count() == 0
    }

    fn prepare(&self, context: &Context, is_idle: bool) -> Result<()> {
        if !self.is_empty() || is_idle && machine_of(context) == Machine::Threads {
            return self.tuned(context).map(drop);
        }
        // Other processes have elements here, and refuse the loop if it must be.
        let mut allowed_on = self.empty_on.lock_or(|| None);
        if !allowed_on.as_ref().is_some_and(|known| known.is_same(context)) {
            known::allow(self.iteration.set(), self.key(context)?, |key| {
                self.strategies(&self.making(&key.shape, context), self.is_scattered()?).map(drop)
            })?;
            *allowed_on = Some(context.clone());
        }
        Ok(())
    }

    fn run_in_turn(&self, context: &Context) -> Result<()> {
        match self.iteration.count() {
            0 => Ok(()),
            count => self.run_tuned(&*self.tuned(context)?, count, context),
        }
    }
}

impl fmt::Debug for ParLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<ParLoop {} over {}>", self.kernel.name(), self.set().name())
    }
}
