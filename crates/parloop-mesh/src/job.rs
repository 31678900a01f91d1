//! A loop made ready for one context: its code, its plan in the memory of the device, and its launches.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use parloop_device::{DeviceKind, Memory, as_bytes};
use parloop_kernel::{Context, KernelError};
use parloop_loop::run::{Executable, Repeat, target_of};
use parloop_loop::syntax::Program;
use smallvec::SmallVec;

use crate::Result;
use crate::arg::Arg;
use crate::identity::Id;
use crate::kernel::Kernel;
use crate::lower::{self, Apart, BLOCK, EACH, Form, Machine, Visits, names};
use crate::map::Map;
use crate::plan::{Blocks, Coloured, Elements, Incidence, Inverse, Owned, Rank, Table, element_order};
use crate::scheme::{Scheme, Way};
use crate::set::Set;
use crate::shape::{ArgShape, Shape};

/// On what kind of machine a context runs elements.
pub fn machine_of(context: &Context) -> Machine {
    match context.device().kind() {
        DeviceKind::Cpu => Machine::Threads,
        DeviceKind::OpenCl | DeviceKind::Cuda | DeviceKind::Hip => Machine::Gpu,
    }
}

/// One way to run a loop, ready.
#[derive(Debug)]
pub struct Job {
    /// The source of each kernel that is launched.
    pub code: Vec<String>,
    steps: Vec<Step>,
    /// What the plan keeps in the memory of the device.
    own: Vec<Memory>,
}

/// Some launches, and the memory they get.
#[derive(Debug)]
struct Step {
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
    pub fn run(&self, tables: &[Memory], maps: &[Memory]) -> Result<()> {
        for step in &self.steps {
            let memory: SmallVec<[&Memory; 12]> = step
                .memory
                .iter()
                .map(|source| match *source {
                    Source::Table(table) => &tables[table],
                    Source::Map(map) => &maps[map],
                    Source::Own(own) => &self.own[own],
                })
                .collect();
            step.repeat.run(&memory)?;
        }
        Ok(())
    }
}

/// What a job is made for.
pub struct Making<'a> {
    pub kernel: &'a Kernel,
    pub set: &'a Set,
    pub args: &'a [Arg],
    pub shape: &'a Shape,
    pub context: &'a Context,
    pub checked: bool,
    pub deterministic: bool,
}

impl Making<'_> {
    /// The job that runs the loop that way.
    pub fn make(&self, way: Way) -> Result<Job> {
        let Way { scheme, lanes, ordered } = way;
        let mut maker =
            Maker { making: self, lanes, code: Vec::new(), steps: Vec::new(), own: Vec::new(), partials: HashMap::new(), groups: 0 };
        match (scheme, machine_of(self.context)) {
            (Scheme::Free, Machine::Threads) => maker.chunks(ordered)?,
            (Scheme::Sequential, _) => maker.one_group(ordered)?,
            (Scheme::Owner, _) => maker.owned()?,
            (Scheme::Colour, Machine::Threads) => maker.blocks()?,
            (Scheme::Free, Machine::Gpu) => maker.items(Apart::Order)?,
            (Scheme::Atomic, _) => maker.items(Apart::Atomic)?,
            (Scheme::Colour, Machine::Gpu) => maker.colours()?,
            (Scheme::Gather, _) => maker.targets()?,
        }
        maker.combine()?;
        Ok(Job { code: maker.code, steps: maker.steps, own: maker.own })
    }

    fn elements(&self) -> Elements<'_> {
        let size = self.set.size();
        match self.set.indices() {
            Some(indices) => Elements::List(&indices[..size]),
            None => Elements::Range(0..size),
        }
    }

    /// The maps of the loop, by their numbers in the shape.
    fn maps(&self) -> Vec<&Map> {
        let mut maps: Vec<&Map> = Vec::new();
        for map in self.args.iter().filter_map(|arg| arg.map.as_ref()) {
            if !maps.contains(&map) {
                maps.push(map);
            }
        }
        maps
    }

    /// The elements such that those which lead to the same places follow one another, if their numbers do not have it so.
    fn order(&self) -> Result<Option<Vec<i32>>> {
        let maps = self.maps();
        let first = self.shape.meeting_maps();
        for number in first.iter().copied().chain(0..maps.len()) {
            let map = maps[number];
            if !map.is_local()? {
                let values = map.values()?;
                let table = Table { values: &values, arity: map.arity(), set: 0, targets: map.to().sizes().total };
                let incidence = Incidence::new(self.elements(), &[table])?;
                return Ok(Some(element_order(&incidence, Some(&map.reverse_cuthill_mckee()?))?));
            }
        }
        Ok(None)
    }
}

/// Elements that a thread runs at a time, where any order will do. It depends on the number of elements alone, since sums are cut there.
fn chunk(elements: usize) -> usize {
    (elements / 256).clamp(256, 8192)
}

/// Parts of an owner-computes plan: some for each thread, since few parts share few elements; by the number of elements alone where sums
/// are cut there and every bit counts.
fn parts(elements: usize, threads: usize, deterministic: bool) -> usize {
    match deterministic {
        true => (elements / 16384).clamp(2, 64),
        false => (4 * threads).min(elements / 256).clamp(2, 1024),
    }
}

/// The longest run of a part's elements with numbers one after another, whose targets it owns all: their places in the list.
fn longest_run(owned: &Owned, part: Range<usize>, whole: u32) -> Range<usize> {
    let (mut longest, mut run) = (part.start..part.start, part.start..part.start);
    for place in part {
        let follows = run.end == place && place > run.start && owned.list[place] == owned.list[place - 1] + 1;
        run = if owned.masks[place] != whole {
            place + 1..place + 1
        } else if follows {
            run.start..place + 1
        } else {
            place..place + 1
        };
        if run.len() > longest.len() {
            longest = run.clone();
        }
    }
    longest
}

/// Elements of a block of one colour.
const COLOUR_BLOCK: usize = 256;

/// Which elements a launch visits.
#[derive(Clone, Copy)]
enum Visited<'a> {
    Range,
    List(&'a [i32]),
    ListWithMaps(&'a [i32]),
}

impl Visited<'_> {
    fn visits(self) -> Visits {
        match self {
            Visited::Range => Visits::Range,
            Visited::List(_) => Visits::List,
            Visited::ListWithMaps(_) => Visits::ListWithMaps,
        }
    }
}

struct Maker<'a> {
    making: &'a Making<'a>,
    lanes: bool,
    code: Vec<String>,
    steps: Vec<Step>,
    own: Vec<Memory>,
    /// Where each group leaves its part of a number that is combined.
    partials: HashMap<usize, usize>,
    /// How many groups all launches have.
    groups: usize,
}

impl Maker<'_> {
    fn upload(&mut self, values: &[i32]) -> Result<Source> {
        self.upload_bytes(as_bytes(values))
    }

    fn upload_bytes(&mut self, bytes: &[u8]) -> Result<Source> {
        let context = self.making.context;
        // Drivers give no memory of no bytes, and kernels still want an address.
        let memory = context.device().allocate(bytes.len().max(4)).map_err(KernelError::from)?;
        context.stream().write_at_once(&memory, 0, bytes).map_err(KernelError::from)?;
        self.own.push(memory);
        Ok(Source::Own(self.own.len() - 1))
    }

    fn executable(&mut self, form: &Form) -> Result<Executable> {
        let Making { kernel, shape, context, checked, .. } = self.making;
        let program = lower::lower(kernel, shape, form, machine_of(context), *checked)?;
        self.compiled(&program)
    }

    fn compiled(&mut self, program: &Program) -> Result<Executable> {
        let generated = program.generate(target_of(self.making.context.device().kind()))?;
        self.code.push(generated.code.text.clone());
        Ok(Executable::compile(&generated, self.making.context)?)
    }

    /// One launch, with what the form needs besides tables and maps.
    fn step(&mut self, executable: &Executable, integers: &[(&str, i64)], arrays: &[(String, Source)]) -> Result<()> {
        let mut given: Vec<(String, i64)> = integers.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        given.push((names::ELEMENTS.to_owned(), self.making.set.base().sizes().total as i64));
        for arg in self.making.args.iter().zip(&self.making.shape.args) {
            let name = names::rows(arg.1.table);
            if executable.plan().position(&name).is_some() && !given.iter().any(|(known, _)| *known == name) {
                given.push((name, arg.0.storage().rows() as i64));
            }
        }
        let given: Vec<(&str, i64)> = given
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .filter(|(name, _)| executable.plan().position(name).is_some())
            .collect();
        let repeat = executable.repeat(&given)?;
        let memory = repeat.arrays().to_vec();
        let memory = memory.iter().map(|name| self.source(name, arrays)).collect::<Result<_>>()?;
        self.steps.push(Step { repeat, memory });
        Ok(())
    }

    fn source(&mut self, name: &str, arrays: &[(String, Source)]) -> Result<Source> {
        if let Some((_, source)) = arrays.iter().find(|(known, _)| *known == name) {
            return Ok(*source);
        }
        let number = |prefix: &str| name.strip_prefix(prefix).and_then(|number| number.parse::<usize>().ok());
        if let Some(table) = number("pl_dat") {
            return Ok(Source::Table(table));
        }
        if let Some(map) = number("pl_map") {
            return Ok(Source::Map(map));
        }
        let arg = number("pl_partial").expect("invariant: a loop kernel has no other arrays");
        if let Some(&own) = self.partials.get(&arg) {
            return Ok(Source::Own(own));
        }
        let shape = &self.making.shape.args[arg];
        let bytes = self.groups.max(1) * shape.count * shape.dtype.size();
        let memory = self.making.context.device().allocate(bytes).map_err(KernelError::from)?;
        self.own.push(memory);
        self.partials.insert(arg, self.own.len() - 1);
        Ok(Source::Own(self.own.len() - 1))
    }

    /// Groups of elements between bounds, all at the same time or some after others: `launches` are ranges of groups.
    fn groups(&mut self, bounds: &[i32], launches: &[i32], visited: Visited<'_>, masks: Option<&[u32]>) -> Result<()> {
        self.groups = bounds.len() - 1;
        let apart = if masks.is_some() { Apart::Mask } else { Apart::Order };
        let executable = self.executable(&Form::Elements { visits: visited.visits(), apart, lanes: self.lanes })?;
        let pairs: Vec<i32> = bounds.windows(2).flatten().copied().collect();
        let mut arrays = self.visited(visited)?;
        arrays.push((names::BOUNDS.to_owned(), self.upload(&pairs)?));
        if let Some(masks) = masks {
            arrays.push((names::MASKS.to_owned(), self.upload_bytes(as_bytes(masks))?));
        }
        for pair in launches.windows(2) {
            let integers = [(names::FIRST, pair[0].into()), (names::GROUPS, (pair[1] - pair[0]).into())];
            self.step(&executable, &integers, &arrays)?;
        }
        Ok(())
    }

    /// What a launch reads to know its elements.
    fn visited(&mut self, visited: Visited<'_>) -> Result<Vec<(String, Source)>> {
        let mut arrays = Vec::new();
        if let Visited::List(list) | Visited::ListWithMaps(list) = visited {
            arrays.push((names::LIST.to_owned(), self.upload(list)?));
        }
        if let Visited::ListWithMaps(list) = visited {
            for (number, map) in self.making.maps().into_iter().enumerate() {
                let (values, arity) = (map.values()?, map.arity());
                let rows: Vec<i32> = list.iter().flat_map(|&element| &values[element as usize * arity..][..arity]).copied().collect();
                arrays.push((names::map(number), self.upload(&rows)?));
            }
        }
        Ok(arrays)
    }

    fn chunks(&mut self, ordered: bool) -> Result<()> {
        let size = self.making.set.size();
        let bounds: Vec<i32> = (0..size).step_by(chunk(size)).chain([size]).map(|bound| bound as i32).collect();
        self.all_elements(&bounds, ordered)
    }

    fn one_group(&mut self, ordered: bool) -> Result<()> {
        self.all_elements(&[0, self.making.set.size() as i32], ordered)
    }

    /// All elements, as they are numbered or in a better order.
    fn all_elements(&mut self, bounds: &[i32], ordered: bool) -> Result<()> {
        let order = if ordered { self.making.order()? } else { None };
        let visited = match (&order, self.making.set.indices()) {
            (Some(order), _) => Visited::ListWithMaps(order),
            (None, Some(list)) => Visited::List(list),
            (None, None) => Visited::Range,
        };
        self.groups(bounds, &[0, bounds.len() as i32 - 1], visited, None)
    }

    /// Calls `with` with what elements touch through the maps of these numbers.
    fn touched<R>(&self, numbers: &[usize], with: impl FnOnce(&Incidence<'_>, &[Table<'_>]) -> Result<R>) -> Result<R> {
        let maps = self.making.maps();
        let values = numbers.iter().map(|&number| maps[number].values()).collect::<Result<Vec<_>>>()?;
        let sets: Vec<Id> = numbers.iter().map(|&number| maps[number].to().id()).collect();
        let tables: Vec<Table<'_>> = numbers
            .iter()
            .zip(&values)
            .zip(&sets)
            .map(|((&number, values), set)| Table {
                values,
                arity: maps[number].arity(),
                set: sets.iter().position(|known| known == set).expect("invariant: it is in the list"),
                targets: maps[number].to().sizes().total,
            })
            .collect();
        with(&Incidence::new(self.making.elements(), &tables)?, &tables)
    }

    fn owned(&mut self) -> Result<()> {
        let making = self.making;
        let threads = making.context.device().properties().compute_units as usize;
        let parts = parts(making.set.size(), threads, making.deterministic);
        let (maps, meeting) = (making.maps(), making.shape.meeting_maps());
        let owned = self.touched(&meeting, |incidence, tables| {
            // A numbering without locality would have every part run most elements.
            let mut places: Vec<(usize, Arc<[i32]>)> = Vec::new();
            for (table, &number) in tables.iter().zip(&meeting) {
                if !maps[number].is_local()? && !places.iter().any(|(set, _)| *set == table.set) {
                    places.push((table.set, maps[number].reverse_cuthill_mckee()?));
                }
            }
            let ranks: Vec<Rank<'_>> = places.iter().map(|(set, places)| Rank { set: *set, places }).collect();
            Ok(Owned::new(incidence, parts, &ranks)?)
        })?;
        match making.deterministic {
            true => self.groups(&owned.bounds, &[0, parts as i32], Visited::List(&owned.list), Some(&owned.masks)),
            false => self.inside_then_border(&owned),
        }
    }

    /// Runs first, part by part, elements whose targets the part owns all, which need no masks; then the others. Where nearly all of a part
    /// are elements one after another, they need no list either. Sums are not in the order of the elements any more.
    fn inside_then_border(&mut self, owned: &Owned) -> Result<()> {
        let slots: usize = self.making.shape.meeting_maps().iter().map(|&map| self.making.shape.maps[map]).sum();
        let whole = u32::MAX >> (u32::BITS - slots as u32);
        let parts: Vec<Range<usize>> = owned.bounds.windows(2).map(|pair| pair[0] as usize..pair[1] as usize).collect();
        let runs: Vec<Range<usize>> = parts.iter().map(|part| longest_run(owned, part.clone(), whole)).collect();
        let in_runs: usize = runs.iter().map(Range::len).sum();
        let listed = self.making.set.indices().is_some() || 10 * in_runs < 9 * owned.list.len();
        let turns = if listed { self.turns()? } else { None };
        let has_border = match listed {
            true => owned.masks.iter().any(|&mask| mask != whole),
            false => in_runs < owned.list.len(),
        };
        let (mut list, mut masks, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
        for inside in [true, false] {
            for (number, part) in parts.iter().enumerate() {
                if inside && !listed {
                    let first = owned.list.get(runs[number].start).copied().unwrap_or(0);
                    pairs.extend([first, first + runs[number].len() as i32]);
                    continue;
                }
                let is_inside = |place: usize| match listed {
                    true => owned.masks[place] == whole,
                    false => runs[number].contains(&place),
                };
                let mut places: Vec<usize> = part.clone().filter(|&place| is_inside(place) == inside).collect();
                if let Some(turns) = &turns {
                    places.sort_unstable_by_key(|&place| turns[owned.list[place] as usize]);
                }
                pairs.push(list.len() as i32);
                list.extend(places.iter().map(|&place| owned.list[place]));
                masks.extend(places.iter().map(|&place| owned.masks[place]));
                pairs.push(list.len() as i32);
            }
        }
        let launches = if has_border { 2 } else { 1 };
        self.groups = launches * parts.len();
        let visited = if turns.is_some() && !self.making.checked { Visited::ListWithMaps(&list) } else { Visited::List(&list) };
        let mut arrays = self.visited(visited)?;
        arrays.push((names::BOUNDS.to_owned(), self.upload(&pairs)?));
        arrays.push((names::MASKS.to_owned(), self.upload_bytes(as_bytes(&masks))?));
        let inside =
            Form::Elements { visits: if listed { visited.visits() } else { Visits::Range }, apart: Apart::Order, lanes: self.lanes };
        let border = Form::Elements { visits: visited.visits(), apart: Apart::Mask, lanes: false };
        for (first, form) in [(0, inside), (parts.len(), border)].into_iter().take(launches) {
            let executable = self.executable(&form)?;
            self.step(&executable, &[(names::FIRST, first as i64), (names::GROUPS, parts.len() as i64)], &arrays)?;
        }
        Ok(())
    }

    /// For each element of the base set the turn in which it is best run, if that is not as they are numbered.
    fn turns(&self) -> Result<Option<Vec<u32>>> {
        Ok(self.making.order()?.map(|order| {
            let mut turns = vec![0; self.making.set.base().sizes().total];
            for (turn, &element) in order.iter().enumerate() {
                turns[element as usize] = turn as u32;
            }
            turns
        }))
    }

    fn blocks(&mut self) -> Result<()> {
        let blocks = self.touched(&self.making.shape.meeting_maps(), |incidence, _| Ok(Blocks::new(incidence, None, COLOUR_BLOCK)?))?;
        let elements = self.making.elements();
        let (mut list, mut bounds) = (Vec::with_capacity(elements.len()), vec![0]);
        for &block in &blocks.blocks {
            let (begin, end) = (blocks.block_bounds[block as usize], blocks.block_bounds[block as usize + 1]);
            for place in begin..end {
                let place = place as usize;
                list.push(match (&blocks.order, &elements) {
                    (Some(order), _) => order[place],
                    (None, Elements::Range(range)) => (range.start + place) as i32,
                    (None, Elements::List(list)) => list[place],
                });
            }
            bounds.push(list.len() as i32);
        }
        self.groups(&bounds, &blocks.colour_bounds, Visited::List(&list), None)
    }

    /// A work item for each element.
    fn items(&mut self, apart: Apart) -> Result<()> {
        let size = self.making.set.size();
        let list = self.making.set.indices().map(<[i32]>::to_vec);
        self.launches(&[0, size as i32], list.as_deref(), apart)
    }

    fn colours(&mut self) -> Result<()> {
        let coloured = self.touched(&self.making.shape.meeting_maps(), |incidence, _| Ok(Coloured::new(incidence)))?;
        self.launches(&coloured.bounds, Some(&coloured.order), Apart::Order)
    }

    fn launches(&mut self, bounds: &[i32], list: Option<&[i32]>, apart: Apart) -> Result<()> {
        let each = if self.making.shape.args.iter().any(ArgShape::is_reduced) { EACH } else { 1 };
        let blocks = |pair: &[i32]| ((pair[1] - pair[0]) as usize).div_ceil(BLOCK * each);
        self.groups = bounds.windows(2).map(blocks).sum();
        let executable = self.executable(&Form::Elements { visits: list.is_some().into(), apart, lanes: self.lanes })?;
        let arrays = match list {
            Some(list) => vec![(names::LIST.to_owned(), self.upload(list)?)],
            None => vec![],
        };
        let mut first = 0;
        for pair in bounds.windows(2) {
            let integers = [(names::BEGIN, pair[0].into()), (names::COUNT, (pair[1] - pair[0]).into()), (names::FIRST, first)];
            self.step(&executable, &integers, &arrays)?;
            first += blocks(pair) as i64;
        }
        Ok(())
    }

    /// A work item for each target, set by set.
    fn targets(&mut self) -> Result<()> {
        let all = self.making.shape.meeting_maps();
        let maps: Vec<Set> = self.making.maps().iter().map(|map| map.to().clone()).collect();
        let mut done: Vec<&Set> = Vec::new();
        for &number in &all {
            let set = &maps[number];
            if done.contains(&set) {
                continue;
            }
            let together: Vec<usize> = all.iter().copied().filter(|&other| maps[other] == *set).collect();
            let inverse = self.touched(&together, |incidence, _| Ok(Inverse::new(incidence)?))?;
            let form = Form::Targets { maps: together, listed: inverse.targets.is_some(), writes_direct: done.is_empty() };
            let executable = self.executable(&form)?;
            let mut arrays = vec![
                (names::STARTS.to_owned(), self.upload(&inverse.starts)?),
                (names::ENTRIES.to_owned(), self.upload(&inverse.entries)?),
            ];
            if let Some(targets) = &inverse.targets {
                arrays.push((names::LIST.to_owned(), self.upload(targets)?));
            }
            self.step(&executable, &[(names::COUNT, inverse.rows() as i64)], &arrays)?;
            done.push(set);
        }
        Ok(())
    }

    /// The second step of sums and extremes over all elements.
    fn combine(&mut self) -> Result<()> {
        let reduced: Vec<(usize, ArgShape)> =
            self.making.shape.args.iter().cloned().enumerate().filter(|(_, arg)| arg.is_reduced()).collect();
        for (index, arg) in reduced {
            let program = lower::combine(&arg, machine_of(self.making.context))?;
            let executable = self.compiled(&program)?;
            let arrays = [(names::table(0), Source::Table(arg.table)), (names::partial(0), Source::Own(self.partials[&index]))];
            self.step(&executable, &[(names::COUNT, self.groups as i64)], &arrays)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Access;
    use crate::dat::Dat;
    use crate::global::Global;
    use crate::kernel::KernelOptions;

    /// A ring of nodes and edges whose numbers have no order: enough that their order is looked at.
    const N: usize = 5003;

    /// What is numbered `i` along the ring.
    fn number(i: usize) -> usize {
        i * 1931 % N
    }

    struct Ring {
        edges: Set,
        weight: Vec<f64>,
        ends: Map,
        values: Vec<i32>,
    }

    impl Ring {
        fn new() -> Ring {
            let (edges, nodes) = (Set::new(N, "edges").unwrap(), Set::new(N, "nodes").unwrap());
            let mut values = vec![0; 2 * N];
            for i in 0..N {
                let edge = number(7 * i % N);
                (values[2 * edge], values[2 * edge + 1]) = (number(i) as i32, number((i + 1) % N) as i32);
            }
            let ends = Map::new(&edges, &nodes, 2, &values, "ends").unwrap();
            assert!(!ends.is_local().unwrap());
            Ring { edges, weight: (0..N).map(|i| 1.0 + (i % 13) as f64).collect(), ends, values }
        }

        fn run(&self, kernel: &Kernel, over: &Set, args: &[Arg], context: &Context, way: Way) {
            let shape = Shape::of(args, |_| crate::storage::Layout::Rows);
            let making = Making { kernel, set: over, args, shape: &shape, context, checked: false, deterministic: false };
            let job = making.make(way).unwrap();
            assert!(job.code[0].contains("pl_list"), "{way:?}\n{}", job.code[0]);
            let place = |storage: &crate::storage::Storage, writes| storage.place(context, crate::storage::Layout::Rows, true, writes).unwrap();
            let tables: Vec<Memory> = args.iter().map(|arg| place(arg.storage(), arg.access.writes())).collect();
            job.run(&tables, &[place(self.ends.storage(), false)]).unwrap();
        }
    }

    #[test]
    fn elements_in_a_better_order_leave_what_they_leave_in_their_own() {
        let ring = Ring::new();
        let some: Vec<i64> = (0..N as i64).filter(|i| i % 3 > 0).collect();
        let source = "void all(const double *w, double *x[2], const double *y[2], double *twice, double *sum) {
            x[0][0] += w[0]; x[1][1] -= y[0][0]; twice[0] = w[0] + y[1][0]; sum[0] += w[0]; }";
        let kernel = Kernel::c(source, "all", &KernelOptions::default()).unwrap();
        for over in [ring.edges.clone(), ring.edges.subset(&some).unwrap()] {
            let (mut x, mut twice, mut sum) = (vec![0.5; 2 * N], vec![0.0; N], 0.0);
            for edge in (0..N).filter(|edge| over.indices().is_none() || edge % 3 > 0) {
                let (first, second, w) = (ring.values[2 * edge] as usize, ring.values[2 * edge + 1] as usize, ring.weight[edge]);
                x[2 * first] += w;
                x[2 * second + 1] -= first as f64;
                twice[edge] = w + second as f64;
                sum += w;
            }
            for (scheme, lanes) in [(Scheme::Sequential, false), (Scheme::Sequential, true), (Scheme::Owner, false), (Scheme::Owner, true)] {
                for name in ["cpu:1", "cpu:3"] {
                    let (context, nodes) = (Context::open(name).unwrap(), ring.ends.to());
                    let numbers: Vec<f64> = (0..N).map(|i| i as f64).collect();
                    let w = Dat::new(&ring.edges.data(1).unwrap(), &ring.weight, "w").unwrap();
                    let x_here = Dat::new(&nodes.data(2).unwrap(), &vec![0.5; 2 * N], "x").unwrap();
                    let y = Dat::new(&nodes.data(1).unwrap(), &numbers, "y").unwrap();
                    let twice_here = Dat::new(&ring.edges.data(1).unwrap(), &vec![0.0; N], "twice").unwrap();
                    let sum_here = Global::new(1, &[0.0], "sum").unwrap();
                    let args = [
                        w.arg(Access::Read, None),
                        x_here.arg(Access::Inc, &ring.ends),
                        y.arg(Access::Read, &ring.ends),
                        twice_here.arg(Access::Write, None),
                        sum_here.arg(Access::Inc),
                    ];
                    ring.run(&kernel, &over, &args, &context, Way { scheme, lanes, ordered: true });
                    let at = format!("{scheme:?} {lanes} {name}");
                    assert_eq!(x_here.to_vec::<f64>().unwrap(), x, "{at}");
                    assert_eq!(twice_here.to_vec::<f64>().unwrap(), twice, "{at}");
                    assert_eq!(sum_here.to_vec::<f64>().unwrap(), [sum], "{at}");
                }
            }
        }
    }

    #[test]
    fn elements_that_never_meet_are_ordered_too() {
        let ring = Ring::new();
        let kernel = Kernel::c("void mid(double *m, const double *y[2]) { m[0] = y[0][0] + y[1][0]; }", "mid", &KernelOptions::default());
        let expected: Vec<f64> = ring.values.chunks(2).map(|pair| f64::from(pair[0] + pair[1])).collect();
        for lanes in [false, true] {
            let context = Context::open("cpu:3").unwrap();
            let numbers: Vec<f64> = (0..N).map(|i| i as f64).collect();
            let m = Dat::new(&ring.edges.data(1).unwrap(), &vec![0.0; N], "m").unwrap();
            let y = Dat::new(&ring.ends.to().data(1).unwrap(), &numbers, "y").unwrap();
            let args = [m.arg(Access::Write, None), y.arg(Access::Read, &ring.ends)];
            let way = Way { scheme: Scheme::Free, lanes, ordered: true };
            ring.run(kernel.as_ref().unwrap(), &ring.edges, &args, &context, way);
            assert_eq!(m.to_vec::<f64>().unwrap(), expected, "lanes {lanes}");
        }
    }
}
