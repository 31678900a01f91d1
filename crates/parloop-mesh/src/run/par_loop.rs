//! Loops: a kernel for each element of a set, checked when it is declared, run as often as wanted.

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

use parloop_device::forked::{Lock, Turn};
use parloop_device::{DeviceKind, Memory};
use parloop_kernel::{Context, KernelError};
use parloop_loop::error::LoopError;
use smallvec::SmallVec;

use super::job::{Making, machine_of};
use super::known::{self, Key};
use super::options::LoopOptions;
use super::scheme::{Situation, Way, ways};
use super::tune::{Run, Tuned};
use crate::Result;
use crate::access::Access;
use crate::declare::arg::{Arg, ArgData};
use crate::declare::map::Map;
use crate::declare::set::Set;
use crate::error::MeshError;
use crate::kernel::Kernel;
use crate::lower::{Machine, unwritten_argument};
use crate::shape::Shape;
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
    set: Set,
    args: Vec<Arg>,
    options: LoopOptions,
    /// The maps, by their numbers in the shape.
    maps: SmallVec<[Map; 4]>,
    /// The tables: which argument has each, whether the loop reads and writes it.
    tables: SmallVec<[Table; 8]>,
    /// Arguments whose tables the loop takes turns at, sorted so that no two loops wait for each other, and whether it writes them.
    turns: SmallVec<[Table; 8]>,
    /// What is known about it on the context where it ran last. The layouts of its tables there are settled.
    last: Lock<Option<(Context, Arc<Tuned>)>>,
}

#[derive(Clone, Copy, Debug)]
struct Table {
    arg: usize,
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
        for (index, arg) in args.iter().enumerate() {
            check_arg(index, arg, set)?;
        }
        check_conflicts(&args)?;
        kernel.check(&args)?;
        // On other devices there may be less of it.
        check_room(kernel, &args, DeviceKind::Cpu)?;
        let (mut maps, mut tables): (SmallVec<[Map; 4]>, SmallVec<[Table; 8]>) = Default::default();
        for (index, arg) in args.iter().enumerate() {
            if let Some(map) = arg.map.as_ref().filter(|map| !maps.contains(map)) {
                maps.push(map.clone());
            }
            match tables.iter_mut().find(|table| args[table.arg].storage().is_same(arg.storage())) {
                Some(table) => table.writes |= arg.access.writes(),
                None => tables.push(Table { arg: index, writes: arg.access.writes() }),
            }
        }
        let mut turns = tables.clone();
        turns.sort_by_key(|table| args[table.arg].storage().rank());
        let (kernel, set) = (kernel.clone(), set.clone());
        Ok(ParLoop { kernel, set, args, options, maps, tables, turns, last: Lock::default() })
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The set.
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// The arguments.
    pub fn args(&self) -> &[Arg] {
        &self.args
    }

    /// Runs the kernel for each element. Data moves to the context's device when it is not there.
    ///
    /// # Errors
    /// A mistake in the kernel's source; a plan that cannot run this loop; no room; what the device says.
    pub fn run(&self, context: &Context) -> Result<()> {
        if self.set.size() == 0 {
            return Ok(());
        }
        let tuned = self.tuned(context)?;
        let turns = self.turns.iter().map(|table| self.args[table.arg].storage().turn(table.writes));
        let _turns: SmallVec<[Turn<'_>; 8]> = turns.collect::<Result<_, _>>()?;
        let tables = self.tables.iter().map(|table| self.args[table.arg].storage().place(context, true, table.writes));
        let tables: SmallVec<[Memory; 8]> = tables.collect::<Result<_, _>>()?;
        let maps = self.maps.iter().map(|map| map.storage().place(context, true, false));
        let maps: SmallVec<[Memory; 4]> = maps.collect::<Result<_, _>>()?;
        let with = Run { tables: &tables, maps: &maps, context };
        let run = tuned.run(&with, self.set.size(), |shape| self.making(shape, context));
        run.map_err(|error| unwritten(self, &error).unwrap_or(error))
    }

    /// What ways to run it are made for.
    fn making<'a>(&'a self, shape: &'a Shape, context: &'a Context) -> Making<'a> {
        let LoopOptions { checked, deterministic, .. } = self.options;
        Making {
            kernel: &self.kernel,
            set: &self.set,
            args: &self.args,
            shape,
            context,
            checked,
            deterministic,
            known_order: OnceCell::new(),
        }
    }

    /// The source of each kernel that it launches on that context.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn code(&self, context: &Context) -> Result<Vec<String>> {
        Ok(self.tuned(context)?.best_known().code.clone())
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

    fn look_up(&self, context: &Context) -> Result<Arc<Tuned>> {
        let kind = context.device().kind();
        check_room(&self.kernel, &self.args, kind)?;
        let shape = Shape::of(&self.args, |arg| layout(arg, context), |index, arg| is_in_place(&self.kernel, index, arg, kind));
        let key = Key {
            kernel: self.kernel.id(),
            device: context.device().id(),
            stream: context.stream().handle(),
            shape,
            maps: self.maps.iter().map(Map::id).collect(),
            options: self.options,
        };
        known::get(&self.set, key, |key| Tuned::new(&self.making(&key.shape, context), &self.ways(&key.shape, context)?))
    }

    /// The ways to run it, the most promising first.
    fn ways(&self, shape: &Shape, context: &Context) -> Result<Vec<Way>> {
        let mut scattered = false;
        for map in &self.maps {
            scattered |= !map.is_local()?;
        }
        let situation = Situation {
            machine: machine_of(context),
            threads: context.device().properties().compute_units as usize,
            elements: self.set.size(),
            scattered,
            whole: self.set.indices().is_none(),
            options: self.options,
        };
        ways(shape, situation).map_err(|reason| MeshError::Plan {
            plan: self.options.plan.name(),
            kernel: self.kernel.name().to_owned(),
            device: context.device().id().to_string(),
            reason,
        })
    }
}

/// How the numbers of an argument lie in the memory of a context: as was settled, or as suits this loop.
fn layout(arg: &Arg, context: &Context) -> Layout {
    if matches!(arg.data, ArgData::Global(_)) {
        return Layout::Rows;
    }
    let row = arg.storage().count() * arg.dtype().size();
    // Rows that one or two wide loads fetch are as good as columns where neighbours are visited in turn, and better where they are not.
    let fits = row.is_power_of_two() && row <= 64;
    let preferred = match arg.map.is_none() && machine_of(context) == Machine::Gpu && !fits {
        true => Layout::Columns,
        false => Layout::Rows,
    };
    arg.storage().settle_layout(context, preferred)
}

/// The failed check of what a kernel must write, if the error is one.
fn unwritten(of: &ParLoop, error: &MeshError) -> Option<MeshError> {
    let MeshError::Loop(error) = error else { return None };
    let LoopError::Kernel(KernelError::Check { what, index: place, .. }) = &**error else { return None };
    let index = unwritten_argument(what.split('[').next()?)?;
    let (arg, place) = (of.args.get(index)?, usize::try_from(place - 1).ok()?);
    let (axes, all) = (arg.axes(), arg.arity() * arg.count());
    let mut rest = place % all;
    let mut entry: Vec<usize> = axes.iter().rev().map(|&length| (rest % length, rest /= length).0).collect();
    entry.reverse();
    let (kernel, name) = (of.kernel.name().to_owned(), arg.name().to_owned());
    Some(MeshError::Unwritten { kernel, index, name, element: place / all, entry })
}

/// More numbers than this that all elements read are read where they are; fewer are copied, since compilers can hold them in registers.
const MOST_COPIED: usize = 64;

/// Whether an argument has so many numbers, the same for all elements, that copies would be a waste.
fn is_large_table(arg: &Arg) -> bool {
    matches!(arg.data, ArgData::Global(_)) && arg.access == Access::Read && arg.count() > MOST_COPIED
}

fn is_in_place(kernel: &Kernel, index: usize, arg: &Arg, device: DeviceKind) -> bool {
    is_large_table(arg) && kernel.reads_in_place(index, device)
}

/// Bytes of an element's data that fit on the stack of a thread, twice, next to what the kernel has there.
const MOST_BYTES: usize = 512 << 10;

/// Refuses more data for each element than copies of it can be made of.
fn check_room(kernel: &Kernel, args: &[Arg], device: DeviceKind) -> Result<()> {
    let copied = || args.iter().enumerate().filter(|(index, arg)| !is_in_place(kernel, *index, arg, device));
    let bytes = |(_, arg): (usize, &Arg)| arg.arity().saturating_mul(arg.count()).saturating_mul(arg.dtype().size());
    let bytes = copied().map(bytes).fold(0, usize::saturating_add);
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let advice = match copied().find(|(_, arg)| is_large_table(arg)) {
        None => "pass less data for each element".to_owned(),
        Some((index, arg)) if kernel.reads_in_place(index, DeviceKind::Cpu) => {
            format!("on OpenCL kernels in C get copies of all data: use another device or a loop kernel, or pass less of `{}`", arg.name())
        }
        Some((index, arg)) => format!("declare argument {index} (`{}`) const, so that it is read where it is", arg.name()),
    };
    Err(MeshError::TooMuchForElement { kernel: kernel.name().to_owned(), bytes, most: MOST_BYTES, advice })
}

/// Whether an argument makes sense for elements of the set.
fn check_arg(index: usize, arg: &Arg, set: &Set) -> Result<()> {
    let name = || arg.name().to_owned();
    let dat = match &arg.data {
        ArgData::Global(global) => {
            if let Some(map) = &arg.map {
                return Err(MeshError::MapOfGlobal { index, name: name(), map: map.name().to_owned() });
            }
            let (kind, allowed): (_, &'static [Access]) = match global.is_constant() {
                true => ("a constant", &[Access::Read]),
                false => ("a global", &[Access::Read, Access::Inc, Access::Min, Access::Max]),
            };
            return match allowed.contains(&arg.access) {
                true => Ok(()),
                false => Err(MeshError::Mode { index, name: name(), access: arg.access, kind, allowed }),
            };
        }
        ArgData::Mat(..) => {
            const ALLOWED: &[Access] = &[Access::Write, Access::Inc];
            if !ALLOWED.contains(&arg.access) {
                return Err(MeshError::Mode { index, name: name(), access: arg.access, kind: "a matrix", allowed: ALLOWED });
            }
            let from = arg.map.as_ref().expect("invariant: a matrix is reached through maps").from();
            return match from == set.base() {
                true => Ok(()),
                false => Err(MeshError::WrongSet {
                    index,
                    name: name(),
                    data: "its maps begin at".to_owned(),
                    found: from.name().to_owned(),
                    through: "the loop is over".to_owned(),
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
    let wrong = |data: String, found: &Set, through: String, wanted: &Set| {
        let (found, wanted) = (found.name().to_owned(), wanted.name().to_owned());
        Err(MeshError::WrongSet { index, name: name(), data, found, through, wanted })
    };
    let (data, over) = (|| "the data is on".to_owned(), || "the loop is over".to_owned());
    match &arg.map {
        None if on != set.base() => wrong(data(), on, over(), set.base()),
        Some(map) if map.from() != set.base() => wrong(format!("the map `{}` begins at", map.name()), map.from(), over(), set.base()),
        Some(map) if map.to() != on => wrong(data(), on, format!("the map `{}` leads to", map.name()), map.to()),
        _ => Ok(()),
    }
}

/// Refuses the same data as two arguments when one element could read what another writes.
fn check_conflicts(args: &[Arg]) -> Result<()> {
    for (second, arg) in args.iter().enumerate() {
        for (first, other) in args[..second].iter().enumerate() {
            if !arg.access.writes() && !other.access.writes() {
                continue;
            }
            if !other.storage().is_same(arg.storage()) {
                // A plan knows tables, not their bytes, and on a GPU each has a copy of its own.
                if other.storage().overlaps(arg.storage()) {
                    return Err(MeshError::SharedMemory {
                        first_name: other.name().to_owned(),
                        first,
                        first_access: other.access,
                        second_name: arg.name().to_owned(),
                        second,
                        second_access: arg.access,
                    });
                }
                continue;
            }
            let both_direct = arg.map.is_none() && other.map.is_none() && !matches!(arg.data, ArgData::Global(_));
            // The plan keeps apart what goes through maps.
            let both_combine = arg.access == other.access && arg.access.is_reduction() && arg.map.is_some() == other.map.is_some();
            let apart = match (&arg.data, &other.data) {
                (ArgData::Component(_, here), ArgData::Component(_, there)) => here != there,
                _ => false,
            };
            if !(both_direct || both_combine || apart) {
                return Err(MeshError::Conflict {
                    name: arg.name().to_owned(),
                    first,
                    first_access: other.access,
                    second,
                    second_access: arg.access,
                });
            }
        }
    }
    Ok(())
}

impl fmt::Debug for ParLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<ParLoop {} over {}>", self.kernel.name(), self.set.name())
    }
}
