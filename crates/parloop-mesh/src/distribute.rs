//! From one process to many: each keeps its part of a mesh, with all sets, maps and data that are tied to it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use parloop_device::forked::Turn;
use parloop_mpi::Comm;

use crate::Result;
use crate::declare::dat::Dat;
use crate::declare::dataset::DataSet;
use crate::declare::halo::Halo;
use crate::declare::map::Map;
use crate::declare::set::{Set, SetKind};
use crate::error::MeshError;
use crate::plan::{Graph, Link, Share, by_coordinates, follow, renumber, shares};
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
    /// How many pairs of neighbours are owned by different processes.
    pub cut: usize,
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
/// [`MeshError::Distribute`]: a set that is not plain or has been distributed, extruded sets among those connected, processes with different
/// meshes, owners that do not exist; what METIS and MPI say.
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
    let sizes: Vec<usize> = mesh.sets.iter().map(|set| set.sizes().total).collect();
    let values = mesh.maps.iter().map(Map::values).collect::<Result<Vec<_>>>()?;
    let links: Vec<Link<'_>> = mesh.maps.iter().zip(&values).map(|(map, values)| mesh.link(map, values)).collect();
    let owners = owners(&mesh, by, &links, comm)?;
    let counted = |rank: usize| owners.iter().filter(|&&owner| owner as usize == rank).count();
    let mut report = Report { owned: (0..comm.size()).map(counted).collect(), cut: 0, neighbours: 0, ghosts: 0 };
    if comm.size() == 1 {
        return Ok(report);
    }
    mesh.check_alike(set, &values, comm)?;
    report.cut = Graph::of(0, sizes[0], &links)?.cut(&owners);
    let owners = follow(&sizes, &links, 0, owners, comm.size())?;
    let owners: Vec<Vec<u32>> = owners.into_iter().map(|of_set| of_set.expect("invariant: maps connect all of these sets")).collect();
    let slices: Vec<&[u32]> = owners.iter().map(|of_set| &of_set[..]).collect();
    let mut shares = shares(&slices, &links, comm.rank() as u32);
    renumber(&mut shares, &slices, &links)?;
    let parts = mesh.parts(&shares, &owners, &links, comm)?;
    mesh.replace(parts, &shares, &owners)?;
    let halo = set.current().halo().expect("invariant: it has just been distributed");
    (report.neighbours, report.ghosts) = (halo.neighbours().len(), shares[0].numbers.len() - shares[0].owned);
    Ok(report)
}

/// The owners of the elements of the set, as computed by one process or as given.
fn owners(mesh: &Tied, by: By<'_>, links: &[Link<'_>], comm: &Comm) -> Result<Vec<u32>> {
    let set = &mesh.sets[0];
    let wrong = |reason: String| Err(MeshError::Distribute { set: set.name().to_owned(), reason });
    let size = set.sizes().total;
    let found = match by {
        By::Ranks(ranks) if ranks.len() != size => return wrong(format!("{} ranks were given for {size} elements", ranks.len())),
        By::Ranks(ranks) => match ranks.iter().position(|&rank| rank as usize >= comm.size()) {
            Some(element) => {
                return wrong(format!("element {element} is assigned to rank {}, but there are {} processes", ranks[element], comm.size()));
            }
            None => ranks.to_vec(),
        },
        By::Graph => Graph::of(0, size, links)?.partition(comm.size())?,
        By::Coordinates(dat) => {
            let dim = dat.dataset().count();
            let points = coordinates(mesh, dat, links)?;
            by_coordinates(&points, dim, comm.size())?
        }
    };
    // Others may round differently.
    let bytes: Vec<u8> = found.iter().flat_map(|owner| owner.to_le_bytes()).collect();
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("invariant: four bytes"));
    Ok(comm.broadcast(&bytes, 0)?.chunks_exact(4).map(number).collect())
}

/// The coordinates of each element: its own, or the mean of those that a map leads to.
fn coordinates(mesh: &Tied, dat: &Dat, links: &[Link<'_>]) -> Result<Vec<f64>> {
    let (set, on, dim) = (&mesh.sets[0], dat.dataset().set(), dat.dataset().count());
    let wrong = |reason: String| Err(MeshError::Distribute { set: set.name().to_owned(), reason });
    if dat.dtype() != parloop_device::DType::F64 {
        return wrong(format!("coordinates must be of type float64, not {}", dat.dtype()));
    }
    let values = dat.to_vec::<f64>()?;
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

/// All that is tied to a set: plain sets with the given one first, maps, subsets, data.
struct Tied {
    sets: Vec<Set>,
    maps: Vec<Map>,
    subsets: Vec<Set>,
    dats: Vec<Dat>,
}

/// What takes the place of it.
struct Parts {
    sets: Vec<Set>,
    maps: Vec<Map>,
}

impl Tied {
    fn to(set: &Set) -> Result<Tied> {
        let mut found = Tied { sets: vec![set.clone()], maps: Vec::new(), subsets: Vec::new(), dats: Vec::new() };
        let mut next = 0;
        while next < found.sets.len() {
            for tie in found.sets[next].ties() {
                if let Some(map) = Map::tied(&tie) {
                    found.add_map(set, map)?;
                } else if let Some(dat) = Dat::tied(&tie) {
                    found.dats.push(dat);
                } else if let Some(part) = Set::tied(&tie) {
                    found.add_set(set, part)?;
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
        let reason = if map.is_to_first() {
            Some("maps all elements to one; use a Global")
        } else if map.moves().is_some() {
            Some("has offsets along the columns of an extruded set, which cannot be distributed")
        } else {
            None
        };
        if let Some(reason) = reason {
            return Err(MeshError::Distribute { set: set.name().to_owned(), reason: format!("map `{}` {reason}", map.name()) });
        }
        for end in [map.from().plain(), map.to().plain()] {
            if !self.sets.contains(end) {
                self.sets.push(end.clone());
            }
        }
        self.maps.push(map);
        Ok(())
    }

    fn add_set(&mut self, set: &Set, part: Set) -> Result<()> {
        if part.layers().is_some() {
            let reason = format!("extruded sets such as `{}` cannot be distributed", part.name());
            return Err(MeshError::Distribute { set: set.name().to_owned(), reason });
        }
        self.subsets.push(part);
        Ok(())
    }

    fn place(&self, set: &Set) -> usize {
        self.sets.iter().position(|known| known == set.plain()).expect("invariant: it is tied")
    }

    fn link<'a>(&self, map: &Map, values: &'a [i32]) -> Link<'a> {
        Link { from: self.place(map.from()), to: self.place(map.to()), arity: map.arity(), values }
    }

    /// Refuses processes whose meshes differ.
    fn check_alike(&self, set: &Set, values: &[Vec<i32>], comm: &Comm) -> Result<()> {
        let sets = self.sets.iter().map(|set| (format!("set `{}`", set.name()), hash(&set.sizes())));
        let maps = self.maps.iter().zip(values).map(|(map, values)| (format!("map `{}`", map.name()), hash(&(map.arity(), values))));
        let own: Vec<(String, u64)> = sets.chain(maps).collect();
        let told = |(name, hash): &(String, u64)| format!("{name}\t{hash:x}");
        let text = own.iter().map(told).collect::<Vec<_>>().join("\n");
        for (rank, other) in comm.gather_all(text.as_bytes())?.iter().enumerate() {
            let other = String::from_utf8_lossy(other);
            if other == text {
                continue;
            }
            let differs = own.iter().zip(other.lines()).find(|(own, other)| told(own) != *other);
            let what = differs.map_or_else(|| "the number of sets and maps".to_owned(), |((name, _), _)| name.clone());
            let reason =
                format!("{what} differs between rank {} and rank {rank}; all processes must start with the same mesh", comm.rank());
            return Err(MeshError::Distribute { set: set.name().to_owned(), reason });
        }
        Ok(())
    }

    /// The sets and maps of this process.
    fn parts(&self, shares: &[Share], owners: &[Vec<u32>], links: &[Link<'_>], comm: &Comm) -> Result<Parts> {
        let mut sets = Vec::with_capacity(self.sets.len());
        for ((set, share), owners) in self.sets.iter().zip(shares).zip(owners) {
            let sizes = Sizes { core: share.core, owned: share.owned, total: share.numbers.len() };
            sets.push(set.with_halo(sizes, Halo::new(comm, share.clone(), owners)?));
        }
        let places: Vec<Vec<i32>> = shares.iter().zip(owners).map(|(share, owners)| share.places(owners.len())).collect();
        let mut maps: Vec<Option<Map>> = vec![None; self.maps.len()];
        for (index, (map, link)) in self.maps.iter().zip(links).enumerate().filter(|(_, (map, _))| map.has_table()) {
            let values = shares[link.from].localised(link, &places[link.to]);
            maps[index] = Some(map.between(&sets[link.from], &sets[link.to], &values)?);
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
        Ok(Parts { sets, maps: maps.into_iter().map(|map| map.expect("invariant: all were made")).collect() })
    }

    /// Replaces everything by its local part, while the data is not in use.
    fn replace(&self, parts: Parts, shares: &[Share], owners: &[Vec<u32>]) -> Result<()> {
        let mut storages: Vec<&Storage> = self.dats.iter().map(Dat::storage).collect();
        storages.sort_by_key(|storage| storage.rank());
        storages.dedup_by(|a, b| a.is_same(b));
        let _turns: Vec<Turn<'_>> = storages.iter().map(|storage| storage.turn(true)).collect::<Result<_, _>>()?;
        // Data that shares its numbers goes on to do so.
        let mut known: HashMap<usize, Storage> = HashMap::new();
        let mut dats = Vec::with_capacity(self.dats.len());
        for dat in &self.dats {
            let (place, storage) = (self.place(dat.dataset().set()), dat.storage());
            let own = match known.get(&storage.rank()) {
                Some(own) => own.clone(),
                None => {
                    let (mut bytes, rows) = (Vec::new(), &shares[place].numbers);
                    storage.pack(rows, &mut bytes)?;
                    Storage::with_bytes(storage.dtype(), rows.len(), storage.count(), &bytes)?
                }
            };
            known.insert(storage.rank(), own.clone());
            let part = Dat::around(&DataSet::new(&parts.sets[place], dat.dataset().axes())?, own, dat.name())?;
            // Every process had all numbers, but they may have differed: those of the owner count.
            part.storage().set_ghosts_fresh(false);
            dats.push(part);
        }
        let mut subsets = Vec::with_capacity(self.subsets.len());
        for subset in &self.subsets {
            let place = self.place(subset);
            let here = shares[place].places(owners[place].len());
            let indices = subset.indices().unwrap_or(&[]).iter().map(|&element| i64::from(here[element as usize]));
            subsets.push(parts.sets[place].subset(&indices.filter(|&element| element >= 0).collect::<Vec<_>>())?);
        }
        // Nothing fails from here on.
        self.dats.iter().zip(dats).for_each(|(dat, part)| dat.set_part(part));
        self.subsets.iter().zip(subsets).for_each(|(subset, part)| subset.set_part(part));
        self.maps.iter().zip(parts.maps).for_each(|(map, part)| map.set_part(part));
        self.sets.iter().zip(parts.sets).for_each(|(set, part)| set.set_part(part));
        storages.iter().for_each(|storage| storage.replace());
        Ok(())
    }
}

/// The same for the same value in every process of a program.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
