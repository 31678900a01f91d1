//! From one process to many: each keeps its part of a mesh, with all sets, maps and data that are tied to it.

mod alike;
mod bisection;
mod homes;
pub(crate) mod slices;

use std::collections::HashMap;

use parloop_device::forked::Turn;
use parloop_mpi::Comm;

use self::alike::{Described, Difference};
use crate::Result;
use crate::declare::dat::Dat;
use crate::declare::dataset::DataSet;
use crate::declare::halo::Halo;
use crate::declare::iteration::Iteration;
use crate::declare::layers::Region;
use crate::declare::map::Map;
use crate::declare::moves::Moves;
use crate::declare::set::{Set, SetKind};
use crate::error::MeshError;
use crate::plan::{Graph, Link, Runs, Share, between_runs, by_coordinates, follow, renumber, shares};
use crate::sizes::Sizes;
use crate::storage::Storage;

/// By what elements are dealt out.
#[derive(Clone, Copy, Debug)]
pub enum By<'a> {
    /// Neighbours stay together: METIS's partition of their graph.
    Graph,
    /// Keeps nearby elements together: recursive bisection of these coordinates, on the set itself or on one that a map leads to.
    Coordinates(&'a Dat),
    /// The rank of each element is given.
    Ranks(&'a [u32]),
}

/// How well a set was dealt out.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How many elements each process owns.
    pub owned: Vec<usize>,
    /// How many pairs of neighbours are owned by different processes, where they were counted.
    pub cut: Option<usize>,
    /// With how many others this process exchanges ghosts.
    pub neighbours: usize,
    /// How many ghosts of the set this process has.
    pub ghosts: usize,
}

impl Report {
    /// The most elements that a process owns, over the mean: 1 is perfect.
    pub fn imbalance(&self) -> f64 {
        let (most, all) = (self.owned.iter().max().copied().unwrap_or(0), self.owned.iter().sum::<usize>());
        if all == 0 { 1.0 } else { (most * self.owned.len()) as f64 / all as f64 }
    }
}

/// Deals the elements of a set out to processes, with all sets that maps connect with it, the maps, their subsets and all data on them. Every
/// process has the whole mesh before, and its part of it afterwards: sets, maps and data that it holds stand for the part from then on. Matrices
/// and loops are made afterwards. One process alone keeps everything as it is.
///
/// All processes must call it.
///
/// ```
/// use parloop_kernel::Context;
/// use parloop_mesh::{Access, By, Comm, Dat, Kernel, Map, Set, distribute, par_loop};
/// let (edges, nodes) = (Set::new(3, "edges")?, Set::new(4, "nodes")?);
/// let ends = Map::new(&edges, &nodes, 2, &[0, 1, 1, 2, 2, 3], "ends")?;
/// let degree = Dat::new(&nodes.data(1)?, &[0.0; 4], "degree")?;
/// distribute(&edges, By::Graph, &Comm::world()?)?;
/// // SAFETY: the map leads to two nodes.
/// let count = unsafe { Kernel::new("void count(double *degree) { degree[0] += 1; degree[1] += 1; }", "count")? };
/// par_loop(&count, &edges, vec![degree.arg(Access::Inc, &ends)], &Context::open("cpu")?)?;
/// assert_eq!(degree.gather::<f64>()?, [1.0, 2.0, 2.0, 1.0], "on any number of processes");
/// # Ok::<(), parloop_mesh::MeshError>(())
/// ```
///
/// # Errors
/// [`MeshError::Distribute`]: a set that is not plain or has been distributed, maps that lead all elements to one among those connected, processes
/// with different meshes, owners that do not exist, or several for one column of an extruded set; what METIS and MPI say.
pub fn distribute(set: &Set, by: By<'_>, comm: &Comm) -> Result<Report> {
    let wrong = |reason: String| Err(MeshError::Distribute { set: set.name().to_owned(), reason });
    if !matches!(set.kind(), SetKind::Plain) {
        return wrong("it is not a plain set; distribute the set that it was made from".to_owned());
    }
    if set.is_replaced() || set.halo().is_some() {
        return wrong("it is already distributed".to_owned());
    }
    let mesh = Tied::to(set)?;
    if let Some(part) = mesh.sets.iter().find(|set| set.sizes().owned < set.sizes().total) {
        return wrong(format!("set `{}` has ghosts; every process must start with the whole mesh", part.name()));
    }
    let values = mesh.maps.iter().map(Map::values).collect::<Result<Vec<_>>>()?;
    let links: Vec<Link<'_>> = mesh.maps.iter().zip(&values).map(|(map, values)| mesh.link(map, values)).collect();
    if comm.size() > 1 {
        mesh.check_alike(set, &values, comm)?;
    }
    // What columns lead through is dealt out as whole runs.
    let runs = mesh.runs(&links)?;
    // A process needs all that its elements lead through, too.
    let through = mesh.maps.iter().map(|map| Ok((map, map.leads_through()?))).collect::<Result<Vec<_>>>()?;
    let through = through.iter().flat_map(|(map, through)| through.iter().map(|(to, arity, values)| (*map, to, *arity, values)));
    let through = through.map(|(map, to, arity, values)| Link { from: mesh.place(map.from()), to: mesh.place(to), arity, values });
    let all_links: Vec<Link<'_>> = links.iter().copied().chain(through).collect();
    let of_runs: Vec<_> = all_links.iter().map(|link| between_runs(link, runs[link.from].as_ref(), runs[link.to].as_ref())).collect();
    let run_links: Vec<Link<'_>> =
        all_links.iter().zip(&of_runs).map(|(link, (arity, values))| Link { arity: *arity, values, ..*link }).collect();
    let counts: Vec<usize> = mesh.sets.iter().zip(&runs).map(|(set, runs)| runs.as_ref().map_or(set.sizes().total, Runs::count)).collect();
    let owners = owners(&mesh, by, Links { elements: &links, runs: &run_links, of_set: runs[0].as_ref() }, comm)?;
    let mut report = Report { owned: vec![0; comm.size()], cut: Some(0), neighbours: 0, ghosts: 0 };
    for (run, &owner) in owners.iter().enumerate() {
        report.owned[owner as usize] += runs[0].as_ref().map_or(1, |runs| runs.elements(run).count());
    }
    if comm.size() == 1 {
        return Ok(report);
    }
    report.cut = Some(Graph::of(0, counts[0], &run_links)?.cut(&owners));
    let owners = follow(&counts, &run_links, 0, owners, comm.size())?;
    let owners: Vec<Vec<u32>> = owners.into_iter().map(|of_set| of_set.expect("invariant: maps connect all of these sets")).collect();
    let slices: Vec<&[u32]> = owners.iter().map(|of_set| &of_set[..]).collect();
    let mut shares = shares(&slices, &run_links, comm.rank() as u32);
    renumber(&mut shares, &slices, &run_links)?;
    let division = Division::new(shares, owners, runs);
    let parts = mesh.parts(&division, &links, comm)?;
    mesh.replace(parts, &division)?;
    let halo = set.current().halo().expect("invariant: it has just been distributed");
    let share = &division.shares[0];
    (report.neighbours, report.ghosts) = (halo.neighbours().len(), share.numbers.len() - share.owned);
    Ok(report)
}

/// Maps between elements, and the same between runs.
struct Links<'a> {
    elements: &'a [Link<'a>],
    runs: &'a [Link<'a>],
    /// The runs of the set that is dealt out, if it has any.
    of_set: Option<&'a Runs>,
}

/// What this process has of each set.
struct Division {
    /// Elements of the whole sets.
    shares: Vec<Share>,
    /// The owner of each element.
    owners: Vec<Vec<u32>>,
    /// The run of each element of a share, of sets that have runs.
    local_runs: Vec<Option<Vec<i32>>>,
    /// How far it is from an element of a run to the next in the whole set.
    steps: Vec<usize>,
}

impl Division {
    /// Given what this process has of the runs of each set, and their owners.
    fn new(shares: Vec<Share>, owners: Vec<Vec<u32>>, runs: Vec<Option<Runs>>) -> Division {
        let mut division = Division { shares: Vec::new(), owners: Vec::new(), local_runs: Vec::new(), steps: Vec::new() };
        for ((share, owners), runs) in shares.into_iter().zip(owners).zip(runs) {
            division.steps.push(runs.as_ref().map_or(1, Runs::step));
            division.local_runs.push(runs.as_ref().map(|runs| runs.local(&share)));
            division.owners.push(match &runs {
                Some(runs) => runs.all().iter().map(|&run| owners[run as usize]).collect(),
                None => owners,
            });
            division.shares.push(match &runs {
                Some(runs) => runs.elements_of(&share),
                None => share,
            });
        }
        division
    }

    /// For each element of a whole set its number here, or -1.
    fn places(&self, set: usize) -> Vec<i32> {
        self.shares[set].places(self.owners[set].len())
    }
}

/// The owners of the runs of the set, as computed by one process or as given for its elements.
fn owners(mesh: &Tied, by: By<'_>, links: Links<'_>, comm: &Comm) -> Result<Vec<u32>> {
    let set = &mesh.sets[0];
    let wrong = |reason: String| Err(MeshError::Distribute { set: set.name().to_owned(), reason });
    let size = set.sizes().total;
    let found = match by {
        By::Ranks(ranks) if ranks.len() != size => return wrong(format!("{} ranks were given for {size} elements", ranks.len())),
        By::Ranks(ranks) => match ranks.iter().position(|&rank| rank as usize >= comm.size()) {
            Some(element) => {
                return wrong(format!("element {element} is assigned to rank {}, but there are {} processes", ranks[element], comm.size()));
            }
            None => match links.of_set {
                None => ranks.to_vec(),
                Some(runs) => ranks_of_runs(runs, ranks).or_else(wrong)?,
            },
        },
        By::Graph => Graph::of(0, links.of_set.map_or(size, Runs::count), links.runs)?.partition(comm.size())?,
        By::Coordinates(dat) => {
            let dim = dat.dataset().count();
            let mut points = coordinates(mesh, dat, links.elements)?;
            if let Some(runs) = links.of_set {
                // Those of the first element.
                let firsts = (0..runs.count()).flat_map(|run| runs.elements(run).take(1));
                points = firsts.flat_map(|first| &points[first as usize * dim..][..dim]).copied().collect();
            }
            by_coordinates(&points, dim, comm.size())?
        }
    };
    // Others may round differently.
    let bytes: Vec<u8> = found.iter().flat_map(|owner| owner.to_le_bytes()).collect();
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("invariant: four bytes"));
    Ok(comm.broadcast(&bytes, 0)?.chunks_exact(4).map(number).collect())
}

/// The rank of each run, which all of its elements must have.
fn ranks_of_runs(runs: &Runs, ranks: &[u32]) -> Result<Vec<u32>, String> {
    let of_run = |run: usize| {
        let mut elements = runs.elements(run);
        let first = elements.next().expect("invariant: a run has elements");
        let rank = ranks[first as usize];
        match elements.find(|&element| ranks[element as usize] != rank) {
            None => Ok(rank),
            Some(other) => Err(format!(
                "elements {first} and {other} are in one column of an extruded set, but are assigned to ranks {rank} and {}",
                ranks[other as usize]
            )),
        }
    };
    (0..runs.count()).map(of_run).collect()
}

/// The coordinates of each element: its own, or the mean of those that a map leads to.
fn coordinates(mesh: &Tied, dat: &Dat, links: &[Link<'_>]) -> Result<Vec<f64>> {
    let (set, on, dim) = (&mesh.sets[0], dat.dataset().set(), dat.dataset().count());
    let wrong = |reason: String| Err(MeshError::Distribute { set: set.name().to_owned(), reason });
    if dat.dtype() != parloop_device::DType::F64 {
        return wrong(format!("coordinates must be of type float64, not {}", dat.dtype()));
    }
    let values = dat.to_vec::<f64>()?;
    if let Some(place) = values.iter().position(|x| !x.is_finite()) {
        return wrong(format!("coordinates `{}`: row {} has a number that is not finite", dat.name(), place / dim.max(1)));
    }
    if on == set {
        return Ok(values);
    }
    let Some(link) = links.iter().find(|link| link.from == 0 && mesh.sets[link.to] == *on) else {
        return wrong(format!("no map leads from it to set `{}`, on which the coordinates `{}` are", on.name(), dat.name()));
    };
    let mean = |element: usize, axis: usize| {
        let along = link.row(element).iter().map(|&target| values[target as usize * dim + axis]);
        along.sum::<f64>() / link.arity as f64
    };
    Ok((0..set.sizes().total)
        .flat_map(|element| (0..dim).map(move |axis| (element, axis)))
        .map(|(element, axis)| mean(element, axis))
        .collect())
}

/// All that is tied to a set: plain sets with the given one first, extruded ones, maps, subsets, data.
struct Tied {
    sets: Vec<Set>,
    extruded: Vec<Set>,
    maps: Vec<Map>,
    subsets: Vec<Set>,
    dats: Vec<Dat>,
}

/// What takes the place of it.
struct Parts {
    sets: Vec<Set>,
    extruded: Vec<Set>,
    maps: Vec<Map>,
}

impl Tied {
    fn to(set: &Set) -> Result<Tied> {
        let mut found = Tied { sets: vec![set.clone()], extruded: Vec::new(), maps: Vec::new(), subsets: Vec::new(), dats: Vec::new() };
        let mut next = 0;
        while next < found.sets.len() {
            for tie in found.sets[next].ties() {
                if let Some(map) = Map::tied(&tie) {
                    found.add_map(set, map)?;
                } else if let Some(dat) = Dat::tied(&tie) {
                    found.dats.push(dat);
                } else if let Some(part) = Set::tied(&tie) {
                    match part.kind() {
                        SetKind::Extruded { .. } => found.extruded.push(part),
                        SetKind::Subset { .. } | SetKind::Plain => found.subsets.push(part),
                    }
                }
            }
            next += 1;
        }
        Ok(found)
    }

    fn add_map(&mut self, set: &Set, map: Map) -> Result<()> {
        if self.maps.contains(&map) {
            return Ok(());
        }
        if map.is_to_first() {
            let reason = format!("map `{}` maps all elements to one; use a Global", map.name());
            return Err(MeshError::Distribute { set: set.name().to_owned(), reason });
        }
        for end in [map.from().plain(), map.to().plain()] {
            if !self.sets.contains(end) {
                self.sets.push(end.clone());
            }
        }
        self.maps.push(map);
        Ok(())
    }

    fn place(&self, set: &Set) -> usize {
        self.sets.iter().position(|known| known == set.plain()).expect("invariant: it is tied")
    }

    fn link<'a>(&self, map: &Map, values: &'a [i32]) -> Link<'a> {
        Link { from: self.place(map.from()), to: self.place(map.to()), arity: map.arity(), values }
    }

    /// The runs of each set that columns lead through: none where no map has offsets.
    fn runs(&self, links: &[Link<'_>]) -> Result<Vec<Option<Runs>>> {
        let mut runs = Vec::with_capacity(self.sets.len());
        for (place, set) in self.sets.iter().enumerate() {
            let moving = || self.maps.iter().zip(links).filter(|(map, link)| link.to == place && map.moves().is_some());
            let offsets = moving().flat_map(|(map, _)| map.moves().into_iter().flat_map(Moves::offsets));
            let step = offsets.fold(0, |step, offset| common_divisor(step, offset.unsigned_abs() as usize));
            if step == 0 {
                runs.push(None);
                continue;
            }
            let (mut chains, mut is_layered) = (Vec::new(), true);
            for (map, link) in moving() {
                let mut columns = self.extruded.iter().filter(|columns| begins_below(map, columns)).peekable();
                is_layered &= columns.peek().is_some();
                for columns in columns {
                    Iteration::new(columns, Region::All)?.add_chains(map, link.values, &mut chains);
                }
            }
            if !is_layered {
                let starts = moving().flat_map(|(_, link)| link.values).copied().collect();
                chains.extend(chains_without_layers(starts, step, set.sizes().total));
            }
            runs.push(Some(Runs::new(set.sizes().total, step, chains)));
        }
        Ok(runs)
    }

    /// Refuses processes whose meshes differ.
    fn check_alike(&self, set: &Set, values: &[Vec<i32>], comm: &Comm) -> Result<()> {
        let mut described = Described::default();
        for set in &self.sets {
            described.add(format!("set `{}`", set.name()), &set.sizes());
        }
        for (set, layers) in self.extruded.iter().filter_map(|set| Some((set, set.layers()?))) {
            described.add(format!("set `{}`", set.name()), &(layers.cells(), layers.bounds(), layers.is_periodic()));
        }
        for (map, values) in self.maps.iter().zip(values) {
            let moves = map.moves().map(|moves| (moves.offsets(), moves.quotients()));
            described.add(format!("map `{}`", map.name()), &(map.arity(), values, moves));
        }
        for subset in &self.subsets {
            described.add_content(format!("a subset of `{}`", subset.base().name()), &subset.indices());
        }
        self.dats.iter().try_for_each(|dat| described.add_data(dat))?;
        match described.difference(comm)? {
            None => Ok(()),
            Some(Difference { what, rank }) => {
                let reason = format!(
                    "{what} differs between rank {} and rank {rank}; all processes must start with the same mesh and the same numbers on it",
                    comm.rank()
                );
                Err(MeshError::Distribute { set: set.name().to_owned(), reason })
            }
        }
    }

    /// The sets and maps of this process.
    fn parts(&self, division: &Division, links: &[Link<'_>], comm: &Comm) -> Result<Parts> {
        let mut sets = Vec::with_capacity(self.sets.len());
        for (place, set) in self.sets.iter().enumerate() {
            let share = &division.shares[place];
            let sizes = Sizes { core: share.core, owned: share.owned, total: share.numbers.len() };
            let owners = &division.owners[place];
            let ghosts = share.numbers[share.owned..].iter().map(|&number| owners[number as usize]).collect();
            let halo = Halo::new(comm, share.clone(), ghosts, owners.len())?;
            let halo = match &division.local_runs[place] {
                Some(runs) => halo.with_runs(runs.clone()),
                None => halo,
            };
            sets.push(Set::part_of_mesh(set.name().to_owned(), sizes, halo));
        }
        let extruded = self.extruded.iter().map(|set| set.over(&sets[self.place(set)])).collect::<Result<Vec<_>>>()?;
        let mut parts = Parts { sets, extruded, maps: Vec::new() };
        let places: Vec<Vec<i32>> = (0..self.sets.len()).map(|set| division.places(set)).collect();
        let mut maps: Vec<Option<Map>> = vec![None; self.maps.len()];
        for (index, (map, link)) in self.maps.iter().zip(links).enumerate().filter(|(_, (map, _))| map.has_table()) {
            let values = division.shares[link.from].localised(link, &places[link.to]);
            let (from, to) = (self.part(&parts, map.from()), self.part(&parts, map.to()));
            maps[index] = Some(map.between(from, to, &values, division.steps[link.to])?);
        }
        // Maps that are made of others follow these.
        while let Some(index) = maps.iter().position(Option::is_none) {
            let mut found = false;
            for index in index..maps.len() {
                if maps[index].is_none() {
                    let of = |other: &Map| self.maps.iter().position(|known| known == other).and_then(|place| maps[place].clone());
                    let made = self.maps[index].made_of(&of)?;
                    found |= made.is_some();
                    maps[index] = made;
                }
            }
            assert!(found, "invariant: maps are made of maps that are tied to the same sets");
        }
        parts.maps = maps.into_iter().map(|map| map.expect("invariant: all were made")).collect();
        Ok(parts)
    }

    /// What takes the place of a set that is not a subset.
    fn part<'a>(&self, parts: &'a Parts, set: &Set) -> &'a Set {
        match self.extruded.iter().position(|extruded| extruded == set) {
            Some(place) => &parts.extruded[place],
            None => &parts.sets[self.place(set)],
        }
    }

    /// Replaces everything by its local part, while the data is not in use.
    fn replace(&self, parts: Parts, division: &Division) -> Result<()> {
        let mut storages: Vec<&Storage> = self.dats.iter().map(Dat::storage).collect();
        storages.sort_by_key(|storage| storage.rank());
        storages.dedup_by(|a, b| a.is_same(b));
        let _turns: Vec<Turn<'_>> = storages.iter().map(|storage| storage.turn(true)).collect::<Result<_, _>>()?;
        // Data that shares its numbers goes on to do so.
        let mut known: HashMap<usize, Storage> = HashMap::new();
        let mut dats = Vec::with_capacity(self.dats.len());
        for dat in &self.dats {
            let (set, storage) = (self.part(&parts, dat.dataset().set()), dat.storage());
            let own = match known.get(&storage.rank()) {
                Some(own) => own.clone(),
                None => {
                    let (mut bytes, rows) = (Vec::new(), set.row_halo().expect("invariant: it is distributed").numbers());
                    storage.pack(rows, &mut bytes)?;
                    Storage::with_bytes(storage.dtype(), rows.len(), storage.count(), &bytes)?
                }
            };
            known.insert(storage.rank(), own.clone());
            let part = Dat::around(&DataSet::new(set, dat.dataset().axes())?, own, dat.name())?;
            // Data that only some processes had was not compared: the numbers of the owner count.
            part.storage().set_ghosts_fresh(false);
            dats.push(part);
        }
        let mut subsets = Vec::with_capacity(self.subsets.len());
        for subset in &self.subsets {
            let here = division.places(self.place(subset));
            let indices = subset.indices().unwrap_or(&[]).iter().map(|&element| i64::from(here[element as usize]));
            subsets.push(self.part(&parts, subset.base()).subset(&indices.filter(|&element| element >= 0).collect::<Vec<_>>())?);
        }
        // Nothing fails from here on.
        self.dats.iter().zip(dats).for_each(|(dat, part)| dat.set_part(part));
        self.subsets.iter().zip(subsets).for_each(|(subset, part)| subset.set_part(part));
        self.maps.iter().zip(parts.maps).for_each(|(map, part)| map.set_part(part));
        self.extruded.iter().zip(parts.extruded).for_each(|(set, part)| set.set_part(part));
        self.sets.iter().zip(parts.sets).for_each(|(set, part)| set.set_part(part));
        storages.iter().for_each(|storage| storage.replace());
        Ok(())
    }
}

/// Whether loops over columns may take a map: it begins at them, or at the set below them.
fn begins_below(map: &Map, columns: &Set) -> bool {
    map.from() == columns || map.from() == columns.plain()
}

/// As far as columns can go that are not known yet: from each target of the lowest cells up to the next one that is not part of the same cell.
fn chains_without_layers(mut starts: Vec<i32>, step: usize, size: usize) -> Vec<[i32; 2]> {
    starts.sort_unstable_by_key(|&start| (start as usize % step, start));
    starts.dedup();
    let last = |class: usize| class + (size - 1 - class) / step * step;
    let chain = |place: usize, start: i32| match starts.get(place + 1) {
        Some(&next) if next as usize % step == start as usize % step => {
            let before = next - step as i32;
            [start, if before == start { next } else { before }]
        }
        _ => [start, last(start as usize % step) as i32],
    };
    starts.iter().enumerate().map(|(place, &start)| chain(place, start)).collect()
}

fn common_divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { common_divisor(other, one % other) }
}
