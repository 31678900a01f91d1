//! Meshes that no process holds as a whole: each gives consecutive elements of every set, and gets its part of the mesh.

use std::collections::BTreeSet;

use parloop_device::{DType, Element, as_bytes};
use parloop_mpi::Comm;

use super::Report;
use super::bisection::{add, bisected};
use super::homes::{Homes, words};
use crate::Result;
use crate::declare::dat::Dat;
use crate::declare::dataset::DataSet;
use crate::declare::halo::Halo;
use crate::declare::map::Map;
use crate::declare::set::Set;
use crate::error::MeshError;
use crate::plan::{Link, Share, renumber, shares};
use crate::sizes::Sizes;
use crate::storage::Storage;

/// A mesh of which each process has a slice of every set: consecutive elements, those of rank 0 first. Maps have rows for the elements of the slice, with
/// numbers of the whole sets, and data has their numbers. Sets, maps and data are known by their places, in the order in which they were added; all processes
/// add the same.
///
/// ```
/// use parloop_mesh::{Comm, MeshSlices, SlicesBy};
/// // A line of nodes, and edges between them: this process reads its own of each from a file.
/// let comm = Comm::world()?;
/// let slice = |count: usize| count * comm.rank() / comm.size()..count * (comm.rank() + 1) / comm.size();
/// let (edges, nodes) = (slice(99), slice(100));
/// let mut mesh = MeshSlices::new(&comm);
/// let (edge_set, node_set) = (mesh.add_set(edges.len(), "edges"), mesh.add_set(nodes.len(), "nodes"));
/// mesh.add_map(edge_set, node_set, 2, edges.flat_map(|edge| [edge as i32, edge as i32 + 1]).collect(), "ends");
/// let x = mesh.add_data(node_set, &[1], &nodes.map(|node| node as f64).collect::<Vec<_>>(), "x");
/// let part = mesh.distribute(edge_set, SlicesBy::Coordinates(x))?;
/// assert_eq!(part.report.owned.iter().sum::<usize>(), 99);
/// assert_eq!(part.data[x].gather::<f64>()?.len(), 100);
/// # Ok::<(), parloop_mesh::MeshError>(())
/// ```
#[derive(Debug)]
pub struct MeshSlices {
    comm: Comm,
    sets: Vec<SetSlice>,
    maps: Vec<MapSlice>,
    data: Vec<DataSlice>,
}

#[derive(Debug)]
struct SetSlice {
    name: String,
    size: usize,
}

#[derive(Debug)]
struct MapSlice {
    name: String,
    from: usize,
    to: usize,
    arity: usize,
    values: Vec<i32>,
}

#[derive(Debug)]
struct DataSlice {
    name: String,
    set: usize,
    axes: Vec<usize>,
    dtype: DType,
    bytes: Vec<u8>,
}

/// By what the elements of a slice are dealt out.
#[derive(Clone, Copy, Debug)]
pub enum SlicesBy<'a> {
    /// Recursive bisection of these coordinates, the place of data on the set itself or on one that a map leads to.
    Coordinates(usize),
    /// The rank of each element of the slice is given.
    Ranks(&'a [u32]),
}

/// What a process has of a mesh that was given in slices: sets, maps and data in the order in which they were added.
#[derive(Debug)]
pub struct MeshPart {
    /// The sets.
    pub sets: Vec<Set>,
    /// The maps.
    pub maps: Vec<Map>,
    /// The data.
    pub data: Vec<Dat>,
    /// How well the set was dealt out. Pairs of neighbours are not counted.
    pub report: Report,
}

impl MeshSlices {
    /// A mesh without sets.
    pub fn new(comm: &Comm) -> MeshSlices {
        MeshSlices { comm: comm.clone(), sets: Vec::new(), maps: Vec::new(), data: Vec::new() }
    }

    /// Adds a set, of which this process has that many elements.
    pub fn add_set(&mut self, size: usize, name: impl Into<String>) -> usize {
        self.sets.push(SetSlice { name: name.into(), size });
        self.sets.len() - 1
    }

    /// Adds a map between two sets.
    pub fn add_map(&mut self, from: usize, to: usize, arity: usize, values: Vec<i32>, name: impl Into<String>) -> usize {
        self.maps.push(MapSlice { name: name.into(), from, to, arity, values });
        self.maps.len() - 1
    }

    /// Adds data on a set: for each element numbers along these axes.
    pub fn add_data<T: Element>(&mut self, set: usize, axes: &[usize], values: &[T], name: impl Into<String>) -> usize {
        self.add_data_bytes(set, axes, T::DTYPE, as_bytes(values).to_vec(), name)
    }

    /// The same with numbers of a type that is not known here, as their bytes.
    pub fn add_data_bytes(&mut self, set: usize, axes: &[usize], dtype: DType, bytes: Vec<u8>, name: impl Into<String>) -> usize {
        self.data.push(DataSlice { name: name.into(), set, axes: axes.to_vec(), dtype, bytes });
        self.data.len() - 1
    }

    /// Deals the elements of a set out to processes, with all other sets: an element that a map leads to belongs to the owner of the first that leads to it,
    /// and one that leads on to that of its first target, as [`distribute`](super::distribute) has it. No process has more of the mesh at any time than its slices and its
    /// part. All processes must call it.
    ///
    /// # Errors
    /// [`MeshError::Distribute`], on all processes: places that do not exist, slices whose lengths do not fit, targets that do not exist, sets that no map
    /// connects with the given one, processes that added different things; what MPI says.
    pub fn distribute(self, set: usize, by: SlicesBy<'_>) -> Result<MeshPart> {
        self.check_alike(set, by)?;
        self.agree(set, self.wrong_structure(set, by))?;
        let homes = self.sets.iter().map(|set| Homes::new(set.size, &self.comm)).collect::<Result<Vec<_>>>()?;
        self.agree(set, self.wrong_numbers(&homes))?;
        if self.comm.size() == 1 {
            return self.alone(set);
        }
        let dealt = match by {
            SlicesBy::Ranks(ranks) => ranks.to_vec(),
            SlicesBy::Coordinates(data) => {
                let points = self.points(set, &self.data[data], &homes)?;
                let dim = self.data[data].count();
                bisected(&points, dim, homes[set].here().start, self.comm.size(), &self.comm)?
            }
        };
        let mut owned = vec![0u64; self.comm.size()];
        dealt.iter().for_each(|&owner| owned[owner as usize] += 1);
        let owned = self.comm.combine_all(owned.iter().flat_map(|count| count.to_le_bytes()).collect(), add)?;
        let owned = words::<8>(&owned).map(|count| u64::from_le_bytes(count) as usize).collect();
        let owners = self.owners(set, dealt, &homes)?;
        let nearby = self.nearby(&owners, &homes)?;
        let (sets, maps, data) = self.part(&nearby, &homes)?;
        let halo = sets[set].halo().expect("invariant: it has just been distributed");
        let (neighbours, ghosts) = (halo.neighbours().len(), halo.numbers().len() - sets[set].size());
        let report = Report { owned, cut: None, neighbours, ghosts };
        Ok(MeshPart { sets, maps, data, report })
    }

    /// Refuses processes that added different things.
    fn check_alike(&self, set: usize, by: SlicesBy<'_>) -> Result<()> {
        let sets: Vec<String> = self.sets.iter().map(|set| format!("set `{}`", set.name)).collect();
        let map = |map: &MapSlice| format!("map `{}` from `{}` to {} of `{}`", map.name, self.name(map.from), map.arity, self.name(map.to));
        let data = |data: &DataSlice| {
            format!("data `{}` of {:?} numbers of type {} on `{}`", data.name, data.axes, data.dtype, self.name(data.set))
        };
        let by = match by {
            SlicesBy::Coordinates(place) => self.data.get(place).map_or_else(|| place.to_string(), |data| format!("`{}`", data.name)),
            SlicesBy::Ranks(_) => "ranks".to_owned(),
        };
        let parts: Vec<String> = sets.into_iter().chain(self.maps.iter().map(map)).chain(self.data.iter().map(data)).collect();
        let own = format!("{}, and deals out `{}` by {by}", parts.join(", "), self.name(set));
        let all = self.comm.gather_all(own.as_bytes())?;
        let Some(rank) = all.iter().position(|other| *other != all[0]) else { return Ok(()) };
        let text = |rank: usize| String::from_utf8_lossy(&all[rank]).into_owned();
        let reason = format!("rank 0 has {}, but rank {rank} has {}; all processes must add the same", text(0), text(rank));
        Err(MeshError::Distribute { set: self.name(set), reason })
    }

    fn name(&self, set: usize) -> String {
        self.sets.get(set).map_or_else(|| set.to_string(), |set| set.name.clone())
    }

    /// What one of the processes has to say against the mesh is an error of all.
    fn agree(&self, set: usize, wrong: Option<String>) -> Result<()> {
        let all = self.comm.gather_all(wrong.unwrap_or_default().as_bytes())?;
        let Some(rank) = all.iter().position(|text| !text.is_empty()) else { return Ok(()) };
        let reason = String::from_utf8_lossy(&all[rank]).into_owned();
        let reason = if self.comm.size() == 1 { reason } else { format!("{reason} (on rank {rank})") };
        Err(MeshError::Distribute { set: self.name(set), reason })
    }

    /// What is wrong with the slices of this process.
    fn wrong_structure(&self, set: usize, by: SlicesBy<'_>) -> Option<String> {
        let sets = self.sets.len();
        if set >= sets {
            return Some(format!("there is no set {set} among {sets}"));
        }
        if let Some(large) = self.sets.iter().find(|set| set.size > i32::MAX as usize) {
            return Some(format!("set `{}` has {} elements; {} are possible", large.name, large.size, i32::MAX));
        }
        for MapSlice { name, from, to, arity, values } in &self.maps {
            if let Some(wrong) = [from, to].into_iter().find(|&&place| place >= sets) {
                return Some(format!("map `{name}` has set {wrong}, but there are {sets}"));
            }
            let rows = self.sets[*from].size;
            if *arity == 0 || Some(values.len()) != rows.checked_mul(*arity) {
                let from = &self.sets[*from].name;
                return Some(format!("map `{name}` has {} values, not {rows} rows of {arity} for its slice of set `{from}`", values.len()));
            }
        }
        for DataSlice { name, set, axes, dtype, bytes } in &self.data {
            if *set >= sets {
                return Some(format!("data `{name}` is on set {set}, but there are {sets}"));
            }
            let (rows, count) = (self.sets[*set].size, axes.iter().try_fold(dtype.size(), |bytes, &length| bytes.checked_mul(length)));
            if axes.contains(&0) || count.and_then(|count| count.checked_mul(rows)) != Some(bytes.len()) {
                let on = &self.sets[*set].name;
                return Some(format!(
                    "data `{name}` has {} bytes, which are not {rows} rows of {axes:?} numbers of type {dtype} for its slice of set `{on}`",
                    bytes.len()
                ));
            }
        }
        match by {
            SlicesBy::Ranks(ranks) if ranks.len() != self.sets[set].size => {
                Some(format!("{} ranks were given for {} elements", ranks.len(), self.sets[set].size))
            }
            SlicesBy::Ranks(ranks) => ranks.iter().position(|&rank| rank as usize >= self.comm.size()).map(|element| {
                format!(
                    "element {element} of its slice is assigned to rank {}, but there are {} processes",
                    ranks[element],
                    self.comm.size()
                )
            }),
            SlicesBy::Coordinates(data) => match self.data.get(data) {
                None => Some(format!("there is no data {data} among {}", self.data.len())),
                Some(data) if data.dtype != DType::F64 => Some(format!("coordinates must be of type float64, not {}", data.dtype)),
                Some(data) if data.set != set && !self.maps.iter().any(|map| map.from == set && map.to == data.set) => Some(format!(
                    "no map leads from it to set `{}`, on which the coordinates `{}` are",
                    self.sets[data.set].name, data.name
                )),
                Some(data) => words::<8>(&data.bytes).position(|x| !f64::from_le_bytes(x).is_finite()).map(|place| {
                    format!("coordinates `{}`: row {} of its slice has a number that is not finite", data.name, place / data.count())
                }),
            },
        }
        .or_else(|| self.first_apart(set).map(|apart| format!("no map connects it with set `{}`", self.sets[apart].name)))
    }

    /// A set that maps do not connect with the given one.
    fn first_apart(&self, set: usize) -> Option<usize> {
        let mut known: BTreeSet<usize> = BTreeSet::from([set]);
        loop {
            let before = known.len();
            for map in &self.maps {
                if known.contains(&map.from) || known.contains(&map.to) {
                    known.extend([map.from, map.to]);
                }
            }
            if known.len() == before {
                return (0..self.sets.len()).find(|set| !known.contains(set));
            }
        }
    }

    /// What is wrong when all slices are put together.
    fn wrong_numbers(&self, homes: &[Homes]) -> Option<String> {
        for (set, homes) in self.sets.iter().zip(homes) {
            if homes.whole() > i32::MAX as usize {
                return Some(format!("set `{}` has {} elements; {} are possible", set.name, homes.whole(), i32::MAX));
            }
        }
        for MapSlice { name, from, to, arity, values } in &self.maps {
            let limit = homes[*to].whole();
            if let Some(place) = values.iter().position(|&value| value < 0 || value as usize >= limit) {
                let (row, column) = (homes[*from].here().start + place / arity, place % arity);
                let set = &self.sets[*to].name;
                return Some(format!("map `{name}`: entry [{row}, {column}] is {}, but set `{set}` has {limit} elements", values[place]));
            }
        }
        None
    }

    /// One process has everything as it is.
    fn alone(self, set: usize) -> Result<MeshPart> {
        let sets = self.sets.iter().map(|set| Set::new(set.size, set.name.clone())).collect::<Result<Vec<_>>>()?;
        let map = |map: &MapSlice| Map::new(&sets[map.from], &sets[map.to], map.arity, &map.values, map.name.clone());
        let maps = self.maps.iter().map(map).collect::<Result<Vec<_>>>()?;
        let data = self.data.iter().map(|data| data.on(&sets[data.set], &data.bytes)).collect::<Result<Vec<_>>>()?;
        let report = Report { owned: vec![sets[set].size()], cut: None, neighbours: 0, ghosts: 0 };
        Ok(MeshPart { sets, maps, data, report })
    }

    /// The coordinates of each element of this process: its own, or the mean of those that a map leads to.
    fn points(&self, set: usize, data: &DataSlice, homes: &[Homes]) -> Result<Vec<f64>> {
        let numbers = |bytes: &[u8]| words::<8>(bytes).map(f64::from_le_bytes).collect::<Vec<f64>>();
        if data.set == set {
            return Ok(numbers(&data.bytes));
        }
        let map = self.maps.iter().find(|map| map.from == set && map.to == data.set).expect("invariant: there is one");
        let (targets, dim) = (ascending(&map.values), data.count());
        let there = numbers(&homes[data.set].ask(&targets, |element, answer| answer.extend(data.row(element)))?);
        let mean = |row: &[i32], axis: usize| {
            let along = row.iter().map(|target| there[place_of(&targets, *target) * dim + axis]);
            along.sum::<f64>() / map.arity as f64
        };
        Ok(map
            .values
            .chunks_exact(map.arity)
            .flat_map(|row| (0..dim).map(move |axis| (row, axis)))
            .map(|(row, axis)| mean(row, axis))
            .collect())
    }

    /// The owner of each element of this process, set by set, given those of one set.
    fn owners(&self, set: usize, dealt: Vec<u32>, homes: &[Homes]) -> Result<Vec<Vec<u32>>> {
        let mut found: Vec<Option<Vec<u32>>> = vec![None; self.sets.len()];
        found[set] = Some(dealt);
        // Sets next to known ones first.
        while let Some(map) = self.maps.iter().find(|map| found[map.from].is_some() != found[map.to].is_some()) {
            let (next, owners) = match (&found[map.from], &found[map.to]) {
                (Some(known), _) => (map.to, self.owners_of_targets(map, known, homes)?),
                (None, known) => (map.from, self.owners_by_targets(map, known.as_deref().unwrap_or(&[]), homes)?),
            };
            found[next] = Some(owners);
        }
        Ok(found.into_iter().map(|of_set| of_set.expect("invariant: maps connect all sets")).collect())
    }

    /// That of the first element that leads to each; those that nothing leads to are dealt out evenly.
    fn owners_of_targets(&self, map: &MapSlice, known: &[u32], homes: &[Homes]) -> Result<Vec<u32>> {
        let first = homes[map.from].here().start;
        let mut leading: Vec<(i32, u32, u32)> = Vec::with_capacity(map.values.len());
        for ((element, row), &owner) in map.values.chunks_exact(map.arity).enumerate().zip(known) {
            leading.extend(row.iter().map(|&target| (target, (first + element) as u32, owner)));
        }
        leading.sort_unstable();
        leading.dedup_by_key(|(target, ..)| *target);
        let records =
            leading.into_iter().map(|(target, element, owner)| (target, u64::to_le_bytes(u64::from(element) << 32 | u64::from(owner))));
        let size = homes[map.to].here().len();
        let mut least = vec![u64::MAX; size];
        for (target, record) in homes[map.to].tell(records)? {
            least[target] = least[target].min(u64::from_le_bytes(record));
        }
        let (start, whole, parts) = (homes[map.to].here().start, homes[map.to].whole(), self.comm.size());
        let owner = |(element, least): (usize, u64)| match least {
            u64::MAX => ((start + element) * parts / whole) as u32,
            known => known as u32,
        };
        Ok(least.into_iter().enumerate().map(owner).collect())
    }

    /// That of the first target of each.
    fn owners_by_targets(&self, map: &MapSlice, known: &[u32], homes: &[Homes]) -> Result<Vec<u32>> {
        let firsts: Vec<i32> = map.values.chunks_exact(map.arity).map(|row| row[0]).collect();
        let targets = ascending(&firsts);
        let answers = homes[map.to].ask(&targets, |element, answer| answer.extend(known[element].to_le_bytes()))?;
        let owners: Vec<u32> = words::<4>(&answers).map(u32::from_le_bytes).collect();
        Ok(firsts.iter().map(|first| owners[place_of(&targets, *first)]).collect())
    }

    /// What this process must know of each set: elements that it owns or that lead to some that it owns, and all that these lead to.
    fn nearby(&self, owners: &[Vec<u32>], homes: &[Homes]) -> Result<Vec<Nearby>> {
        let mut nearby = Vec::with_capacity(self.sets.len());
        for set in 0..self.sets.len() {
            let runners = self.runners(set, owners, homes)?;
            let mut letters = vec![Vec::new(); self.comm.size()];
            for (element, ranks) in runners.iter().enumerate() {
                for &rank in ranks {
                    letters[rank as usize].extend(((homes[set].here().start + element) as i32).to_le_bytes());
                    self.describe(set, element, owners, &mut letters[rank as usize]);
                }
            }
            let mut known = Nearby::new(self.maps.iter().map(|map| if map.from == set { map.arity } else { 0 }).collect());
            self.comm.exchange_all(letters)?.iter().for_each(|letter| known.learn(letter));
            nearby.push(known);
        }
        let targets = |nearby: &[Nearby], set: usize| {
            let led_to = self.maps.iter().zip(0..).filter(|(map, _)| map.to == set).flat_map(|(map, index)| &nearby[map.from].rows[index]);
            let mut unknown: Vec<i32> = led_to.copied().filter(|target| nearby[set].elements.binary_search(target).is_err()).collect();
            unknown.sort_unstable();
            unknown.dedup();
            unknown
        };
        // Before any is added: ghosts of ghosts are not needed.
        let ghosts: Vec<Vec<i32>> = (0..self.sets.len()).map(|set| targets(&nearby, set)).collect();
        for (set, ghosts) in ghosts.iter().enumerate() {
            self.look_up(set, ghosts, &mut nearby[set], owners, homes)?;
        }
        // A row that leads out of what is here needs somewhere to lead.
        loop {
            let missing = self.maps.iter().enumerate().find_map(|(index, map)| {
                let target = nearby[map.from].rows[index].first().filter(|_| nearby[map.to].elements.is_empty());
                target.map(|&target| (map.to, target))
            });
            let count = self.comm.combine_all(u64::from(missing.is_some()).to_le_bytes().to_vec(), add)?;
            if count.iter().all(|&byte| byte == 0) {
                return Ok(nearby);
            }
            for (set, nearby) in nearby.iter_mut().enumerate() {
                let wanted: Vec<i32> = missing.iter().filter(|(to, _)| *to == set).map(|&(_, target)| target).collect();
                self.look_up(set, &wanted, nearby, owners, homes)?;
            }
        }
    }

    /// The processes that run each element of a set of this process: its owner, and those that own some of what it leads to.
    fn runners(&self, set: usize, owners: &[Vec<u32>], homes: &[Homes]) -> Result<Vec<Vec<u32>>> {
        let mut runners: Vec<Vec<u32>> = owners[set].iter().map(|&owner| vec![owner]).collect();
        for map in self.maps.iter().filter(|map| map.from == set) {
            let targets = ascending(&map.values);
            let answers = homes[map.to].ask(&targets, |element, answer| answer.extend(owners[map.to][element].to_le_bytes()))?;
            let of_targets: Vec<u32> = words::<4>(&answers).map(u32::from_le_bytes).collect();
            for (ranks, row) in runners.iter_mut().zip(map.values.chunks_exact(map.arity)) {
                for target in row {
                    let owner = of_targets[place_of(&targets, *target)];
                    if !ranks.contains(&owner) {
                        ranks.push(owner);
                    }
                }
            }
        }
        Ok(runners)
    }

    /// Appends the owner of an element of this process, and its rows of all maps.
    fn describe(&self, set: usize, element: usize, owners: &[Vec<u32>], to: &mut Vec<u8>) {
        to.extend(owners[set][element].to_le_bytes());
        for map in self.maps.iter().filter(|map| map.from == set) {
            to.extend(map.values[element * map.arity..][..map.arity].iter().flat_map(|target| target.to_le_bytes()));
        }
    }

    /// Asks for elements, ascending, that are not known yet.
    fn look_up(&self, set: usize, elements: &[i32], nearby: &mut Nearby, owners: &[Vec<u32>], homes: &[Homes]) -> Result<()> {
        let first = homes[set].here().start;
        let answers = homes[set].ask(elements, |element, answer| {
            answer.extend(((first + element) as i32).to_le_bytes());
            self.describe(set, element, owners, answer);
        })?;
        nearby.learn(&answers);
        nearby.sort();
        Ok(())
    }

    /// The sets, maps and data of this process.
    fn part(&self, nearby: &[Nearby], homes: &[Homes]) -> Result<(Vec<Set>, Vec<Map>, Vec<Dat>)> {
        const NOBODY: u32 = u32::MAX;
        // Behind the elements that are known stands one for all others, which rows of ghosts may lead to.
        let owners: Vec<Vec<u32>> = nearby.iter().map(|nearby| nearby.owners.iter().copied().chain([NOBODY]).collect()).collect();
        let values: Vec<Vec<i32>> = self
            .maps
            .iter()
            .enumerate()
            .map(|(index, map)| {
                let (targets, rows) = (&nearby[map.to].elements, &nearby[map.from].rows[index]);
                let local = |target: &i32| targets.binary_search(target).unwrap_or(targets.len()) as i32;
                rows.iter().map(local).chain(std::iter::repeat_n(targets.len() as i32, map.arity)).collect()
            })
            .collect();
        let links: Vec<Link<'_>> =
            self.maps.iter().zip(&values).map(|(map, values)| Link { from: map.from, to: map.to, arity: map.arity, values }).collect();
        let slices: Vec<&[u32]> = owners.iter().map(|of_set| &of_set[..]).collect();
        let mut shares = shares(&slices, &links, self.comm.rank() as u32);
        renumber(&mut shares, &slices, &links)?;
        let mut sets = Vec::with_capacity(self.sets.len());
        for (set, share) in shares.iter().enumerate() {
            let sizes = Sizes { core: share.core, owned: share.owned, total: share.numbers.len() };
            let numbers = share.numbers.iter().map(|&local| nearby[set].elements[local as usize]).collect();
            let ghosts = share.numbers[share.owned..].iter().map(|&local| nearby[set].owners[local as usize]).collect();
            let halo = Halo::new(&self.comm, Share { numbers, ..share.clone() }, ghosts, homes[set].whole())?;
            sets.push(Set::part_of_mesh(self.sets[set].name.clone(), sizes, halo));
        }
        let mut maps = Vec::with_capacity(self.maps.len());
        for (map, link) in self.maps.iter().zip(&links) {
            let places = shares[map.to].places(owners[map.to].len());
            let values = shares[map.from].localised(link, &places);
            maps.push(Map::between_parts(&sets[map.from], &sets[map.to], map.arity, &values, map.name.clone())?);
        }
        let mut data = Vec::with_capacity(self.data.len());
        for slice in &self.data {
            let numbers = sets[slice.set].halo().expect("invariant: it is distributed").numbers();
            let sorted = ascending(numbers);
            let (answers, length) =
                (homes[slice.set].ask(&sorted, |element, answer| answer.extend(slice.row(element)))?, slice.row_bytes());
            let bytes: Vec<u8> =
                numbers.iter().flat_map(|number| &answers[place_of(&sorted, *number) * length..][..length]).copied().collect();
            data.push(slice.on(&sets[slice.set], &bytes)?);
            data[data.len() - 1].storage().set_ghosts_fresh(true);
        }
        Ok((sets, maps, data))
    }
}

impl DataSlice {
    /// How many numbers an element has.
    fn count(&self) -> usize {
        self.axes.iter().product()
    }

    fn row_bytes(&self) -> usize {
        self.count() * self.dtype.size()
    }

    /// The bytes of an element of this process.
    fn row(&self, element: usize) -> &[u8] {
        &self.bytes[element * self.row_bytes()..][..self.row_bytes()]
    }

    /// Data of this kind.
    fn on(&self, set: &Set, bytes: &[u8]) -> Result<Dat> {
        let storage = Storage::with_bytes(self.dtype, set.rows(), self.count(), bytes)?;
        Dat::around(&DataSet::new(set, &self.axes[..])?, storage, self.name.clone())
    }
}

/// Elements of a set that this process must know, ascending.
struct Nearby {
    elements: Vec<i32>,
    owners: Vec<u32>,
    /// The rows of each map: none of those that begin elsewhere.
    rows: Vec<Vec<i32>>,
    arities: Vec<usize>,
}

impl Nearby {
    fn new(arities: Vec<usize>) -> Nearby {
        Nearby { elements: Vec::new(), owners: Vec::new(), rows: vec![Vec::new(); arities.len()], arities }
    }

    /// Appends elements as they were described.
    fn learn(&mut self, described: &[u8]) {
        let length = 2 + self.arities.iter().sum::<usize>();
        for element in described.chunks_exact(4 * length) {
            let mut numbers = words::<4>(element).map(i32::from_le_bytes);
            let mut next = || numbers.next().expect("invariant: each has that many numbers");
            self.elements.push(next());
            self.owners.push(next() as u32);
            for (rows, &arity) in self.rows.iter_mut().zip(&self.arities) {
                rows.extend((0..arity).map(|_| next()));
            }
        }
    }

    /// Puts all in the order of their numbers.
    fn sort(&mut self) {
        if self.elements.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..self.elements.len()).collect();
        order.sort_unstable_by_key(|&place| self.elements[place]);
        self.elements = order.iter().map(|&place| self.elements[place]).collect();
        self.owners = order.iter().map(|&place| self.owners[place]).collect();
        for (rows, &arity) in self.rows.iter_mut().zip(&self.arities) {
            *rows = order.iter().flat_map(|&place| &rows[place * arity..][..arity]).copied().collect();
        }
    }
}

/// Each number once, ascending.
fn ascending(numbers: &[i32]) -> Vec<i32> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}

/// Where a number is among those that are there.
fn place_of(sorted: &[i32], number: i32) -> usize {
    sorted.binary_search(&number).expect("invariant: it is one of them")
}
