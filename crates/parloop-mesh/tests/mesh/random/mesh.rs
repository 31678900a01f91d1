//! Random meshes for a loop: sets with ghosts, maps with repeated and shared targets, subsets, and data of small integers.

use parloop_mesh::{Arg, Dat, Global, Map, Set, Sizes, Storage};

use super::number::{Random, dat, gathered, global, values_of};
use super::spec::{LEADS_TO, OVER, SPARSE, Spec};

#[derive(Debug)]
pub struct Mesh {
    pub sets: Vec<Set>,
    pub maps: Vec<Map>,
    /// What the loop is over: all of the first set, or some of it.
    pub over: Set,
    /// The values of each table before the loop.
    pub values: Vec<Vec<i64>>,
}

/// The tables of a loop with their data.
pub struct Data(Vec<Held>);

enum Held {
    Dat(Dat),
    Global(Global),
}

impl Mesh {
    pub fn random(random: &mut Random, spec: &Spec, elements: usize) -> Mesh {
        let ghosts = if random.chance(2) { random.below(5) } else { 0 };
        Mesh::with_ghosts(random, spec, elements, Some(ghosts))
    }

    /// Without ghosts, so that it can be distributed.
    pub fn whole(random: &mut Random, spec: &Spec, elements: usize) -> Mesh {
        Mesh::with_ghosts(random, spec, elements, None)
    }

    fn with_ghosts(random: &mut Random, spec: &Spec, elements: usize, ghosts: Option<usize>) -> Mesh {
        let (is_whole, ghosts, core) = (ghosts.is_none(), ghosts.unwrap_or(0), random.below(elements + 1));
        let over = Set::with_sizes(Sizes { core, owned: elements, total: elements + ghosts }, "over").unwrap();
        let total = elements + ghosts;
        // Few targets are shared heavily; many are mostly not touched at all.
        let mut targets = |most: usize| 1 + if random.chance(2) { random.below(8) } else { random.below(most) };
        let near = Set::new(targets(2 * total + 1), "near").unwrap();
        let size = targets(total + 1);
        let far = Set::with_sizes(Sizes { core: 0, owned: if is_whole { size } else { size / 2 }, total: size }, "far").unwrap();
        let sparse = Set::new(total * spec.arities[4] + 3, "sparse").unwrap();
        let sets = vec![over, near, far, sparse];
        let maps = (0..LEADS_TO.len()).map(|map| random_map(random, &sets, map, spec.arities[map])).collect();
        let over = match random.below(3) {
            0 if elements > 0 => {
                let chosen: Vec<i64> = (0..total as i64).filter(|_| !random.chance(3)).collect();
                sets[OVER].subset(&chosen).unwrap()
            }
            _ => sets[OVER].clone(),
        };
        let values = spec.tables.iter().map(|table| {
            let rows = table.on.map_or(1, |on| sets[on].sizes().total);
            (0..rows * table.count()).map(|_| random.below(20) as i64).collect()
        });
        let values = values.collect();
        Mesh { sets, maps, over, values }
    }

    /// Data with the values before the loop.
    pub fn data(&self, spec: &Spec) -> Data {
        let held = spec.tables.iter().zip(&self.values).enumerate().map(|(index, (table, values))| match table.on {
            Some(on) => Held::Dat(dat(&self.sets[on].data(&table.axes[..]).unwrap(), table.dtype, values, &format!("dat{index}"))),
            None => Held::Global(global(&table.axes, table.dtype, values, &format!("global{index}"))),
        });
        Data(held.collect())
    }

    /// The elements of the loop, in order.
    pub fn elements(&self) -> Vec<usize> {
        match self.over.indices() {
            Some(indices) => indices[..self.over.size()].iter().map(|&index| index as usize).collect(),
            None => (0..self.over.size()).collect(),
        }
    }
}

fn random_map(random: &mut Random, sets: &[Set], map: usize, arity: usize) -> Map {
    let (rows, to) = (sets[OVER].sizes().total, &sets[LEADS_TO[map]]);
    let size = to.sizes().total;
    let values: Vec<i32> = match LEADS_TO[map] {
        // A stride without a common divisor goes to every target at most once.
        SPARSE => (0..rows * arity).map(|place| ((place + 1) % size) as i32).collect(),
        _ => {
            let (local, spread) = (random.chance(2), size.min(1 + random.below(9)));
            let place = |random: &mut Random, row: usize| match local {
                true => (row * size / rows.max(1) + random.below(spread)) % size,
                false => random.below(size),
            };
            (0..rows * arity).map(|entry| place(random, entry / arity) as i32).collect()
        }
    };
    Map::new(&sets[OVER], to, arity, &values, format!("map{map}")).unwrap()
}

impl Data {
    pub fn args(&self, spec: &Spec, mesh: &Mesh) -> Vec<Arg> {
        let args = spec.args.iter().map(|arg| {
            let map = arg.map.map(|map| &mesh.maps[map]);
            match (&self.0[arg.table], arg.component) {
                (Held::Dat(dat), Some(component)) => Arg::component(dat, component, arg.access, map),
                (Held::Dat(dat), None) => dat.arg(arg.access, map),
                (Held::Global(global), _) => global.arg(arg.access),
            }
        });
        args.collect()
    }

    /// The numbers of all processes, in the order of the whole set.
    pub fn gathered(&self, table: usize) -> Vec<i64> {
        match &self.0[table] {
            Held::Dat(dat) => gathered(dat),
            Held::Global(_) => self.values(table),
        }
    }

    fn storage(&self, table: usize) -> &Storage {
        match &self.0[table] {
            Held::Dat(dat) => dat.storage(),
            Held::Global(global) => global.storage(),
        }
    }

    pub fn values(&self, table: usize) -> Vec<i64> {
        values_of(self.storage(table))
    }
}
