//! A loop made ready for one context: its code, its plan in the memory of the device, and its launches.

mod gpu;
mod packed;
#[cfg(test)]
mod tests;
mod threads;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use parloop_device::forked::Lock;
use parloop_device::{DType, DeviceKind, Element, Memory, as_bytes};
use parloop_kernel::{Context, KernelError};
use parloop_loop::run::{Executable, Repeat};
use smallvec::SmallVec;

use super::scheme::{Order, SHORTEST_STRIP, Scheme, Strategy};
use super::written::{What, Written, written};
use crate::Result;
use crate::declare::arg::Part;
use crate::declare::identity::Id;
use crate::declare::iteration::{Iteration, Visited};
use crate::declare::map::Map;
use crate::declare::meeting::Meeting;
use crate::declare::moves::Moves;
use crate::kernel::Kernel;
use crate::lower::{Apart, Array, Batches, Form, Machine, Number};
use crate::plan::{Elements, Incidence, Offset, Strips, Table, element_order, last_writers};
use crate::shape::{PartShape, Shape, maps_of, stored_by};
use packed::Packed;

/// On what kind of machine a context runs elements.
pub fn machine_of(context: &Context) -> Machine {
    match context.device().kind() {
        DeviceKind::Cpu => Machine::Threads,
        DeviceKind::OpenCl | DeviceKind::Cuda | DeviceKind::Hip => Machine::Gpu,
    }
}

/// A plan that is ready to run. Loops of one shape share it, whatever their data.
#[derive(Debug)]
pub struct Job {
    /// The strategy that it follows.
    pub strategy: Strategy,
    /// The source of each kernel that is launched.
    pub code: Vec<String>,
    steps: Vec<LaunchGroup>,
    /// What the plan keeps in the memory of the device.
    own: Vec<Memory>,
    /// Which of that is written in each run.
    scratch: Vec<usize>,
    /// A run has exclusive use of the scratch memory.
    turn: Lock<()>,
}

/// Some launches, and the memory they get.
#[derive(Debug)]
struct LaunchGroup {
    repeat: Repeat,
    memory: SmallVec<[Source; 8]>,
}

/// Which memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Table(usize),
    Map(usize),
    Own(usize),
}

impl Job {
    /// Launches all steps on the memory of the tables and maps.
    pub fn run(&self, tables: &[Memory], maps: &[Memory], context: &Context) -> Result<()> {
        if self.scratch.is_empty() {
            return self.launch(tables, maps, &self.own);
        }
        if context.is_recording() {
            // Replays come at any time, also when someone else runs the job.
            return self.launch(tables, maps, &self.with_new_scratch()?);
        }
        let _turn = self.turn.lock_or(|| ());
        self.launch(tables, maps, &self.own)
    }

    fn launch(&self, tables: &[Memory], maps: &[Memory], own: &[Memory]) -> Result<()> {
        for step in &self.steps {
            let memory: SmallVec<[&Memory; 12]> = step
                .memory
                .iter()
                .map(|source| match *source {
                    Source::Table(table) => &tables[table],
                    Source::Map(map) => &maps[map],
                    Source::Own(place) => &own[place],
                })
                .collect();
            step.repeat.run(&memory)?;
        }
        Ok(())
    }

    fn with_new_scratch(&self) -> Result<Vec<Memory>> {
        let mut own = self.own.clone();
        for &place in &self.scratch {
            own[place] = own[place].device().allocate(own[place].len()).map_err(KernelError::from)?;
        }
        Ok(own)
    }
}

/// What a job is made for.
pub struct Making<'a> {
    pub kernel: &'a Kernel,
    pub iteration: &'a Iteration,
    pub parts: &'a [Part],
    pub shape: &'a Shape,
    pub context: &'a Context,
    pub checked: bool,
    pub deterministic: bool,
    /// See [`order`](Making::order): several strategies want it.
    pub known_order: OnceCell<Option<Arc<[i32]>>>,
    /// See [`strips`](Making::strips).
    pub known_strips: OnceCell<Option<Strips>>,
}

impl Making<'_> {
    /// The job that runs the loop by that strategy.
    pub fn make(&self, strategy: Strategy) -> Result<Job> {
        let Strategy { scheme, batches, order } = strategy;
        let mut maker = Maker {
            making: self,
            batches,
            code: Vec::new(),
            steps: Vec::new(),
            own: Vec::new(),
            scratch: Vec::new(),
            renumbered: HashMap::new(),
            packed: Vec::new(),
            partials: HashMap::new(),
            groups: 0,
        };
        if order == Order::Packed {
            maker.pack()?;
        }
        match (scheme, machine_of(self.context)) {
            (Scheme::Free, Machine::Threads) => maker.chunks(order)?,
            (Scheme::Sequential, _) => maker.one_group(order)?,
            (Scheme::Owner, _) => maker.owned()?,
            (Scheme::Strips, _) => maker.strips()?,
            (Scheme::Colour, Machine::Threads) => maker.blocks()?,
            (Scheme::Free, Machine::Gpu) => maker.items(Apart::Order)?,
            (Scheme::Atomic, _) => maker.items(Apart::Atomic)?,
            (Scheme::Colour, Machine::Gpu) => maker.colours()?,
            (Scheme::Gather, _) => maker.targets()?,
            (Scheme::Shared, _) => maker.block_sums()?,
        }
        maker.unpack()?;
        maker.combine()?;
        let Maker { code, steps, own, scratch, .. } = maker;
        Ok(Job { strategy, code, steps, own, scratch, turn: Lock::default() })
    }

    fn elements(&self) -> Elements<'_> {
        self.iteration.elements()
    }

    /// The maps of the loop, by their numbers in the shape.
    fn maps(&self) -> SmallVec<[Map; 4]> {
        maps_of(self.parts)
    }

    /// The elements such that those which lead to the same places follow one another, if their numbers do not have it so.
    fn order(&self) -> Result<Option<Arc<[i32]>>> {
        if let Some(known) = self.known_order.get() {
            return Ok(known.clone());
        }
        let order = self.find_order()?;
        Ok(self.known_order.get_or_init(|| order.map(Arc::from)).clone())
    }

    /// Strips that share no targets, where elements can be cut into them.
    pub fn strips(&self) -> Result<Option<&Strips>> {
        if self.known_strips.get().is_none() {
            _ = self.known_strips.set(self.find_strips()?);
        }
        Ok(self.known_strips.get().and_then(Option::as_ref))
    }

    fn find_strips(&self) -> Result<Option<Strips>> {
        // Elements that write no row of a matrix in common have no entry in common either, and rows are fewer.
        let written = self.parts.iter().zip(&self.shape.parts).filter(|(_, shape)| shape.can_meet()).map(|(part, _)| part);
        let of_part = |part: &Part| part.meeting().map(|meeting| meeting.rows.clone()).or_else(|| part.map.clone());
        let mut maps: Vec<Map> = Vec::new();
        for map in written.filter_map(of_part) {
            if !maps.iter().any(|known| known.id() == map.id()) {
                maps.push(map);
            }
        }
        let values = maps.iter().map(|map| Ok(self.iteration.targets(map)?.into_vec())).collect::<Result<Vec<_>>>()?;
        let incidence = Incidence::new(self.elements(), &self.tables(maps.iter().zip(&values)))?;
        let threads = self.context.device().properties().compute_units as usize;
        Ok(threads::COUNTS_OF_STRIPS.iter().find_map(|&(colours, each)| {
            let each = each * threads;
            (self.iteration.count() >= SHORTEST_STRIP * colours * each).then(|| Strips::new(&incidence, colours, each)).flatten()
        }))
    }

    /// Maps and their values as plans see them.
    fn tables<'a>(&self, maps: impl Iterator<Item = (&'a Map, &'a Vec<i32>)>) -> Vec<Table<'a>> {
        let mut sets: Vec<Id> = Vec::new();
        let table = |(map, values): (&'a Map, &'a Vec<i32>)| {
            let set = map.to().id();
            let known = sets.iter().position(|&known| known == set);
            let set = known.unwrap_or_else(|| {
                sets.push(set);
                sets.len() - 1
            });
            Table { values, arity: map.slots(self.iteration.height()), set, targets: map.to().sizes().total, drops: map.drops() }
        };
        maps.map(table).collect()
    }

    fn find_order(&self) -> Result<Option<Vec<i32>>> {
        if !self.shape.is_flat() {
            return Ok(None);
        }
        let maps = self.maps();
        let first = self.shape.meeting_maps();
        for number in first.iter().copied().chain(0..maps.len()) {
            let map = &maps[number];
            // Rows of a matrix are ordered by the map that leads to them.
            if !map.is_by_visit() && !map.is_local()? {
                let values = map.values()?;
                let table = Table { values: &values, arity: map.arity(), set: 0, targets: map.to().sizes().total, drops: false };
                let incidence = Incidence::new(self.elements(), &[table])?;
                return Ok(Some(element_order(&incidence, Some(&map.reverse_cuthill_mckee()?))?));
            }
        }
        Ok(None)
    }
}

/// A loop kernel that is compiled.
struct Ready {
    executable: Executable,
    written: Arc<Written>,
}

struct Maker<'a> {
    making: &'a Making<'a>,
    batches: Batches,
    code: Vec<String>,
    steps: Vec<LaunchGroup>,
    own: Vec<Memory>,
    scratch: Vec<usize>,
    /// Maps to elements with better numbers.
    renumbered: HashMap<usize, Vec<i32>>,
    packed: Vec<Packed>,
    /// Where each group leaves its part of a number that is combined.
    partials: HashMap<usize, usize>,
    /// How many groups all launches have.
    groups: usize,
}

impl Maker<'_> {
    fn upload<T: Element>(&mut self, values: &[T]) -> Result<Source> {
        self.upload_bytes(as_bytes(values))
    }

    /// The targets of a map for the elements of a list.
    fn upload_rows(&mut self, map: usize, list: &[i32]) -> Result<Source> {
        let (values, slots) = (self.map_values(map)?, self.making.shape.maps[map].slots);
        let rows: Vec<i32> = list.iter().flat_map(|&element| &values[element as usize * slots..][..slots]).copied().collect();
        self.upload(&rows)
    }

    fn upload_bytes(&mut self, bytes: &[u8]) -> Result<Source> {
        let context = self.making.context;
        // Drivers give no memory of no bytes, and kernels still want an address.
        let memory = context.device().allocate(bytes.len().max(4)).map_err(KernelError::from)?;
        context.stream().write_at_once(&memory, 0, bytes).map_err(KernelError::from)?;
        self.own.push(memory);
        Ok(Source::Own(self.own.len() - 1))
    }

    fn executable(&mut self, form: &Form) -> Result<Ready> {
        let Making { kernel, shape, context, checked, .. } = self.making;
        self.compiled(
            Some(kernel),
            What::Loop { shape: (*shape).clone(), form: form.clone(), machine: machine_of(context), checked: *checked },
        )
    }

    fn compiled(&mut self, kernel: Option<&Kernel>, what: What) -> Result<Ready> {
        let written = written(kernel, what, self.making.context)?;
        self.code.push(written.generated.code.text.clone());
        Ok(Ready { executable: Executable::compile(&written.generated, self.making.context)?, written })
    }

    /// One launch, with what the form needs besides tables and maps.
    fn step(&mut self, ready: &Ready, numbers: &[(Number, i64)], arrays: &[(Array, Source)]) -> Result<()> {
        let (executable, lowered) = (&ready.executable, &ready.written.lowered);
        let value = |number: Number| match numbers.iter().find(|(known, _)| *known == number) {
            Some((_, value)) => *value,
            None => self.value(number),
        };
        let given: Vec<(&str, i64)> = lowered
            .numbers
            .iter()
            .filter(|(name, _)| executable.plan().position(name).is_some())
            .map(|(name, number)| (name.as_str(), value(*number)))
            .collect();
        let repeat = executable.repeat(&given)?;
        let names = repeat.arrays().to_vec();
        let array = |name: &str| lowered.arrays.iter().find(|(known, _)| known.as_str() == name).map(|(_, array)| *array);
        let memory = names.iter().map(|name| {
            let array = array(name).expect("invariant: the loop kernel takes these arrays");
            match arrays.iter().find(|(known, _)| *known == array) {
                Some((_, source)) => Ok(*source),
                None => self.source(array),
            }
        });
        let memory = memory.collect::<Result<_>>()?;
        self.steps.push(LaunchGroup { repeat, memory });
        Ok(())
    }

    /// What a number is that is the same in all launches.
    fn value(&self, number: Number) -> i64 {
        match number {
            Number::StoredRows(table) => stored_by(&self.making.maps())[table].storage().rows() as i64,
            Number::Visits => self.making.iteration.each().map_or(0, i64::from),
            Number::Bottom => self.lowest().map_or(0, |lowest| lowest.first.into()),
            Number::Cells => self.lowest().map_or(0, |lowest| lowest.column.cells.into()),
            Number::Rows(table) => {
                let parts = self.making.parts.iter().zip(&self.making.shape.parts);
                let mut of_table = parts.filter(|(_, shape)| shape.table == table).map(|(part, _)| part.storage().rows() as i64);
                of_table.next().expect("invariant: every table has an argument")
            }
            Number::First | Number::Groups | Number::Begin | Number::Count => unreachable!("invariant: launches say it"),
        }
    }

    /// Where an array is that is the same in all launches.
    fn source(&mut self, array: Array) -> Result<Source> {
        match array {
            Array::Table(table) => Ok(self.table(table)),
            // Where maps are renumbered, each has a table of its own.
            Array::Stored(table) => match self.renumbered.get(&table).cloned() {
                Some(values) => self.upload(&values),
                None => Ok(Source::Map(table)),
            },
            Array::Order(map) => {
                let order = self.making.maps()[map].route().order;
                self.upload(&order.expect("invariant: the map is permuted"))
            }
            Array::Offsets(map) => self.upload(self.moves(map).offsets()),
            Array::Quotients(map) => self.upload(self.moves(map).quotients().unwrap_or(&[])),
            Array::Kept(part) => {
                let kept = self.kept(part)?;
                self.upload_bytes(&kept)
            }
            Array::Columns => {
                let columns = self.columns();
                self.upload(&columns)
            }
            Array::Heights => {
                let heights = self.heights();
                self.upload(&heights)
            }
            Array::Partial(part) => {
                if let Some(&own) = self.partials.get(&part) {
                    return Ok(Source::Own(own));
                }
                let shape = &self.making.shape.parts[part];
                let bytes = self.groups.max(1) * shape.count * shape.dtype.size();
                let own = self.allocate_scratch(bytes)?;
                self.partials.insert(part, own);
                Ok(Source::Own(own))
            }
            Array::Map(_)
            | Array::Last(_)
            | Array::Bounds
            | Array::List
            | Array::Masks
            | Array::Starts
            | Array::Entries
            | Array::SumBounds(..)
            | Array::SumTargets(..)
            | Array::SumEntries(..) => {
                unreachable!("invariant: launches say where it is")
            }
        }
    }

    /// Which rows, and behind them which columns, each visit has of a matrix: 1, or 0 where it is dropped.
    fn kept(&self, part: usize) -> Result<Vec<u8>> {
        let (iteration, part) = (self.making.iteration, &self.making.parts[part]);
        let (Some(Meeting { rows, columns, dropped }), Some(block)) = (part.meeting(), part.block()) else { return Ok(Vec::new()) };
        let sides = [(rows, block.rows, &dropped.single_rows), (columns, block.columns, &dropped.single_columns)];
        let mut lines = Vec::new();
        for (map, each, singles) in sides {
            let mut is_dropped = vec![false; map.to().sizes().total * each];
            for place in singles.iter().filter_map(|&single| usize::try_from(single).ok()) {
                if let Some(mark) = is_dropped.get_mut(place) {
                    *mark = true;
                }
            }
            let of_target = |target: &i32| (0..each).map(|line| u8::from(!is_dropped[*target as usize * each + line])).collect::<Vec<_>>();
            let kept: Vec<u8> = iteration.targets(map)?.iter().flat_map(of_target).collect();
            lines.push((kept, map.slots(iteration.height()) * each));
        }
        let of_visit = |visit: usize| lines.iter().flat_map(move |(kept, count)| &kept[visit * count..][..*count]).copied();
        Ok((0..iteration.total()).flat_map(of_visit).collect())
    }

    /// What is visited of the first column, where all are alike.
    fn lowest(&self) -> Option<Visited> {
        self.making.iteration.each().map(|_| self.making.iteration.column(0))
    }

    fn moves(&self, map: usize) -> Moves {
        self.making.maps()[map].moves().expect("invariant: its targets move").clone()
    }

    /// What is visited of each column.
    fn visited_columns(&self) -> impl Iterator<Item = Visited> {
        let iteration = self.making.iteration;
        (0..iteration.set().base().sizes().total).map(|column| iteration.column(column))
    }

    /// The column of each visit.
    fn columns(&self) -> Vec<i32> {
        let numbered = self.visited_columns().enumerate();
        numbered.flat_map(|(column, visited)| std::iter::repeat_n(column as i32, visited.count as usize)).collect()
    }

    /// What is known of each column, in the order of `Tall`.
    fn heights(&self) -> Vec<i32> {
        let known = |Visited { column, first, start, .. }: Visited| [first - start, column.bottom, column.cells, column.before];
        self.visited_columns().flat_map(known).collect()
    }

    /// Memory that is written in each run.
    fn allocate_scratch(&mut self, bytes: usize) -> Result<usize> {
        self.own.push(self.making.context.device().allocate(bytes).map_err(KernelError::from)?);
        self.scratch.push(self.own.len() - 1);
        Ok(self.own.len() - 1)
    }

    /// Calls `with` with what elements touch through the maps of these numbers.
    fn touched<R>(&self, numbers: &[usize], with: impl FnOnce(&Incidence<'_>, &[Table<'_>]) -> Result<R>) -> Result<R> {
        self.touched_by(self.making.elements(), numbers, with)
    }

    /// Calls `with` with what these elements touch through the maps of these numbers.
    fn touched_by<R>(
        &self,
        elements: Elements<'_>,
        numbers: &[usize],
        with: impl FnOnce(&Incidence<'_>, &[Table<'_>]) -> Result<R>,
    ) -> Result<R> {
        let maps = self.making.maps();
        let values = numbers.iter().map(|&number| self.map_values(number)).collect::<Result<Vec<_>>>()?;
        let tables = self.making.tables(numbers.iter().map(|&number| &maps[number]).zip(&values));
        with(&Incidence::new(elements, &tables)?, &tables)
    }

    /// How writes are kept apart by colours, which are not in the order of the elements.
    fn apart_by_order(&self) -> Apart {
        if self.making.shape.parts.iter().any(PartShape::last_decides) { Apart::Last } else { Apart::Order }
    }

    /// For each map through which data is only written, who writes each row last.
    fn last_writers(&mut self) -> Result<Vec<(Array, Source)>> {
        let mut arrays = Vec::new();
        for map in self.making.shape.last_deciding_maps() {
            let last = match self.making.shape.offsets {
                DType::I64 => self.last_writers_of::<i64>(map)?,
                _ => self.last_writers_of::<i32>(map)?,
            };
            arrays.push((Array::Last(map), last));
        }
        Ok(arrays)
    }

    fn last_writers_of<T: Offset + Element>(&mut self, map: usize) -> Result<Source> {
        let last: Vec<T> = self.touched(&[map], |incidence, _| Ok(last_writers(incidence)?))?;
        self.upload(&last)
    }

    /// The second step of sums and extremes over all elements.
    fn combine(&mut self) -> Result<()> {
        let reduced: Vec<(usize, PartShape)> =
            self.making.shape.parts.iter().cloned().enumerate().filter(|(_, part)| part.is_reduced()).collect();
        for (index, part) in reduced {
            let ready = self.compiled(None, What::Combine { part: part.clone(), machine: machine_of(self.making.context) })?;
            let arrays = [(Array::Table(0), Source::Table(part.table)), (Array::Partial(0), Source::Own(self.partials[&index]))];
            self.step(&ready, &[(Number::Count, self.groups as i64)], &arrays)?;
        }
        Ok(())
    }
}
