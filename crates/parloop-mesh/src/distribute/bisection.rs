//! Recursive coordinate bisection of points of which each process has some: the parts of [`by_coordinates`](crate::plan::by_coordinates), where no process
//! has all points.

use parloop_mpi::Comm;

use super::homes::words;
use crate::Result;

/// Points that become several parts, from part `first` on.
#[derive(Clone, Copy)]
struct Group {
    first: usize,
    parts: usize,
}

/// The part of each point of this process. Points are rows of `dim` numbers; the first of this process is number `first` of all. All processes must call
/// it.
///
/// # Errors
/// What MPI says.
pub fn bisected(points: &[f64], dim: usize, first: usize, parts: usize, comm: &Comm) -> Result<Vec<u32>> {
    let size = points.len() / dim;
    let mut groups = vec![Group { first: 0, parts }];
    let mut group_of = vec![0usize; size];
    while groups.iter().any(|group| group.parts > 1) {
        let boxes = boxes(points, dim, &group_of, groups.len(), comm)?;
        let cuts: Vec<u64> =
            groups.iter().zip(&boxes).map(|(group, found)| found.count * (group.parts / 2) as u64 / group.parts as u64).collect();
        // Points at the same place are told apart by their numbers.
        let key = |point: usize| {
            let along = points[point * dim + boxes[group_of[point]].longest_axis()];
            u128::from(ascending(along)) << 32 | (first + point) as u128
        };
        let mut keys: Vec<Vec<u128>> = vec![Vec::new(); groups.len()];
        (0..size).for_each(|point| keys[group_of[point]].push(key(point)));
        keys.iter_mut().for_each(|keys| keys.sort_unstable());
        let limits = limits(&keys, &cuts, comm)?;
        let (mut next, mut low) = (Vec::new(), Vec::with_capacity(groups.len()));
        for &Group { first, parts } in &groups {
            low.push(next.len());
            let left = parts / 2;
            let halves = [Group { first, parts: left }, Group { first: first + left, parts: parts - left }];
            next.extend(halves.into_iter().filter(|half| half.parts > 0));
        }
        let is_high = |point: usize, group: usize| groups[group].parts > 1 && key(point) >= limits[group];
        group_of = group_of.iter().enumerate().map(|(point, &group)| low[group] + usize::from(is_high(point, group))).collect();
        groups = next;
    }
    Ok(group_of.into_iter().map(|group| groups[group].first as u32).collect())
}

/// How many points a group has, and for each axis the least of all numbers and the least of their negatives.
struct Extent {
    count: u64,
    least: Vec<[f64; 2]>,
}

impl Extent {
    /// The axis along which the points are the farthest apart; the first of equal ones.
    fn longest_axis(&self) -> usize {
        let extent = |axis: usize| -self.least[axis][1] - self.least[axis][0];
        (0..self.least.len()).rev().max_by(|&a, &b| extent(a).total_cmp(&extent(b))).unwrap_or(0)
    }
}

/// The extent of each group, over all processes.
fn boxes(points: &[f64], dim: usize, group_of: &[usize], groups: usize, comm: &Comm) -> Result<Vec<Extent>> {
    let mut own: Vec<Extent> = (0..groups).map(|_| Extent { count: 0, least: vec![[f64::INFINITY; 2]; dim] }).collect();
    for (point, &group) in points.chunks_exact(dim).zip(group_of) {
        own[group].count += 1;
        own[group].least.iter_mut().zip(point).for_each(|(least, &x)| *least = [least[0].min(x), least[1].min(-x)]);
    }
    let counts = comm.combine_all(own.iter().flat_map(|extent| extent.count.to_le_bytes()).collect(), add)?;
    let least = own.iter().flat_map(|extent| extent.least.as_flattened()).flat_map(|least| least.to_le_bytes());
    let least = comm.combine_all(least.collect(), |own, other| {
        for (own, other) in own.chunks_exact_mut(8).zip(words::<8>(other)) {
            let least = f64::from_le_bytes((&*own).try_into().expect("invariant: eight bytes")).min(f64::from_le_bytes(other));
            own.copy_from_slice(&least.to_le_bytes());
        }
    })?;
    let least: Vec<f64> = words::<8>(&least).map(f64::from_le_bytes).collect();
    let of_group = |(group, count): (usize, [u8; 8])| Extent {
        count: u64::from_le_bytes(count),
        least: least[2 * dim * group..][..2 * dim].as_chunks::<2>().0.to_vec(),
    };
    Ok(words::<8>(&counts).enumerate().map(of_group).collect())
}

/// For each group the key of the point at place `cuts[group]` of all its points in the order of their keys, of which each process has some, ascending.
fn limits(keys: &[Vec<u128>], cuts: &[u64], comm: &Comm) -> Result<Vec<u128>> {
    const BITS: u32 = 96;
    let mut found = vec![0u128; keys.len()];
    for bit in (0..BITS).rev() {
        let tried: Vec<u128> = found.iter().map(|limit| limit | 1 << bit).collect();
        let below = keys.iter().zip(&tried).flat_map(|(keys, &limit)| (keys.partition_point(|&key| key < limit) as u64).to_le_bytes());
        let below = comm.combine_all(below.collect(), add)?;
        for (group, below) in words::<8>(&below).enumerate() {
            // The largest limit below which no more than that many are.
            if u64::from_le_bytes(below) <= cuts[group] {
                found[group] = tried[group];
            }
        }
    }
    Ok(found)
}

/// Adds counts.
pub fn add(own: &mut [u8], other: &[u8]) {
    for (own, other) in own.chunks_exact_mut(8).zip(words::<8>(other)) {
        let sum = u64::from_le_bytes((&*own).try_into().expect("invariant: eight bytes")) + u64::from_le_bytes(other);
        own.copy_from_slice(&sum.to_le_bytes());
    }
}

/// A number that grows as `x` does, in the order of `total_cmp`.
fn ascending(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
