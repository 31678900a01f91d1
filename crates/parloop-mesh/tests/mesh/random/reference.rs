//! The same loops in Rust: for each element in order, rows are fetched, the kernel is applied, and what it leaves is kept.

use parloop_device::DType;
use parloop_mesh::Access;

use super::mesh::Mesh;
use super::number::kept;
use super::spec::{ArgSpec, Spec};

/// The values of all tables after this many runs of the loop.
pub fn after(spec: &Spec, mesh: &Mesh, runs: usize) -> Vec<Vec<i64>> {
    let maps: Vec<Vec<i32>> = mesh.maps.iter().map(|map| map.values().unwrap()).collect();
    let mut tables = mesh.values.clone();
    let elements = mesh.elements();
    for _ in 0..runs {
        for &element in &elements {
            let places: Vec<Vec<usize>> = spec.args.iter().map(|arg| places(spec, arg, &maps, element)).collect();
            let mut private: Vec<Vec<i64>> = spec.args.iter().zip(&places).map(|(arg, places)| fetch(arg, &tables, places)).collect();
            apply(spec, &mut private);
            for ((arg, places), left) in spec.args.iter().zip(&places).zip(&private) {
                let dtype = spec.tables[arg.table].dtype;
                for (&place, &left) in places.iter().zip(left) {
                    let there = &mut tables[arg.table][place];
                    *there = keep(arg.access, dtype, *there, left);
                }
            }
        }
    }
    tables
}

/// Where the numbers of an argument stand in its table, row by row.
fn places(spec: &Spec, arg: &ArgSpec, maps: &[Vec<i32>], element: usize) -> Vec<usize> {
    let (arity, numbers) = spec.extent(arg);
    let table = &spec.tables[arg.table];
    let mut places = Vec::new();
    for slot in 0..arity {
        let row = match (table.on, arg.map) {
            (None, _) => 0,
            (Some(_), None) => element,
            (Some(_), Some(map)) => maps[map][element * arity + slot] as usize,
        };
        places.extend((0..numbers).map(|number| row * table.count() + arg.component.unwrap_or(0) + number));
    }
    places
}

fn fetch(arg: &ArgSpec, tables: &[Vec<i64>], places: &[usize]) -> Vec<i64> {
    let value = |&place: &usize| if arg.access == Access::Inc { 0 } else { tables[arg.table][place] };
    places.iter().map(value).collect()
}

fn keep(access: Access, dtype: DType, there: i64, left: i64) -> i64 {
    match access {
        Access::Read => there,
        Access::Write | Access::Rw => left,
        Access::Inc => kept(dtype, there + left),
        Access::Min => there.min(left),
        Access::Max => there.max(left),
    }
}

/// The kernel.
fn apply(spec: &Spec, private: &mut [Vec<i64>]) {
    let mut s = 1i64;
    for (index, (arg, values)) in spec.args.iter().zip(&*private).enumerate() {
        if arg.access == Access::Read {
            let numbers = spec.extent(arg).1;
            s += values.iter().enumerate().map(|(z, value)| ((z / numbers + 2 * (z % numbers) + index + 1) as i64) * value).sum::<i64>();
        }
    }
    let s = s.rem_euclid(7);
    for (index, (arg, values)) in spec.args.iter().zip(private).enumerate() {
        let (numbers, dtype) = (spec.extent(arg).1, spec.tables[arg.table].dtype);
        for (z, value) in values.iter_mut().enumerate() {
            let (i, d) = ((z / numbers) as i64, (z % numbers) as i64);
            *value = match arg.access {
                Access::Read => *value,
                Access::Write => s + 3 * i + d + index as i64,
                Access::Rw => kept(dtype, *value + s + d),
                Access::Inc => *value + s + i + 2 * d,
                Access::Min => (2 * s + i + d).min(*value),
                Access::Max => (3 * s + i + d).max(*value),
            };
        }
    }
}
