//! The owner of each element: by coordinates, and for other sets through the maps between them.

use super::PlanError;

/// A table from one set to another, as parts of a mesh are made of it. Sets are known by their places in a list.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// The set it leads from.
    pub from: usize,
    /// The set it leads to.
    pub to: usize,
    /// How many columns a row has.
    pub arity: usize,
    /// Row by row; each is an element of `to`.
    pub values: &'a [i32],
}

impl Link<'_> {
    /// The targets of an element.
    pub fn row(&self, element: usize) -> &[i32] {
        &self.values[element * self.arity..][..self.arity]
    }
}

/// Which part each point belongs to: halves across the longest side, again and again (recursive coordinate bisection). Parts have as many points,
/// or one more. Points are rows of `dim` numbers.
///
/// ```
/// use parloop_mesh::plan::by_coordinates;
/// assert_eq!(by_coordinates(&[0.0, 3.0, 1.0, 2.0], 1, 2)?, [0, 1, 0, 1]);
/// # Ok::<(), parloop_mesh::plan::PlanError>(())
/// ```
///
/// # Errors
/// [`PlanError::Shape`]: the numbers are not rows.
pub fn by_coordinates(points: &[f64], dim: usize, parts: usize) -> Result<Vec<u32>, PlanError> {
    if dim == 0 || !points.len().is_multiple_of(dim) {
        return Err(PlanError::Shape { table: 0, values: points.len(), arity: dim });
    }
    let mut part_of = vec![0; points.len() / dim];
    let mut indices: Vec<usize> = (0..part_of.len()).collect();
    bisect(&Points { values: points, dim }, &mut indices, 0, parts.max(1), &mut part_of);
    Ok(part_of)
}

struct Points<'a> {
    values: &'a [f64],
    dim: usize,
}

impl Points<'_> {
    fn at(&self, point: usize, axis: usize) -> f64 {
        self.values[point * self.dim + axis]
    }

    /// The axis along which these points are the farthest apart.
    fn longest_axis(&self, points: &[usize]) -> usize {
        let extent = |axis: usize| {
            let along = || points.iter().map(|&point| self.at(point, axis));
            along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
        };
        // The first of equal ones.
        (0..self.dim).rev().max_by(|&a, &b| extent(a).total_cmp(&extent(b))).unwrap_or(0)
    }
}

fn bisect(points: &Points<'_>, indices: &mut [usize], first: usize, parts: usize, part_of: &mut [u32]) {
    if parts == 1 || indices.is_empty() {
        indices.iter().for_each(|&point| part_of[point] = first as u32);
        return;
    }
    let (left, axis) = (parts / 2, points.longest_axis(indices));
    let cut = indices.len() * left / parts;
    if cut < indices.len() {
        // Points at the same place are told apart by their numbers, so that every process finds the same parts.
        indices.select_nth_unstable_by(cut, |&a, &b| points.at(a, axis).total_cmp(&points.at(b, axis)).then(a.cmp(&b)));
    }
    let (low, high) = indices.split_at_mut(cut);
    bisect(points, low, first, left, part_of);
    bisect(points, high, first + left, parts - left, part_of);
}

/// The owners of the elements of every set, given those of one set: an element that a map leads to belongs to the owner of the first that
/// leads to it, and one that leads on to that of its first target. Elements that nothing leads to or from are dealt out evenly. `None` for
/// sets that no map connects with the given one.
///
/// # Errors
/// [`PlanError::Shape`]: other than one owner for each element.
pub fn follow(
    sizes: &[usize],
    links: &[Link<'_>],
    given: usize,
    owners: Vec<u32>,
    parts: usize,
) -> Result<Vec<Option<Vec<u32>>>, PlanError> {
    if owners.len() != sizes[given] {
        return Err(PlanError::Shape { table: given, values: owners.len(), arity: sizes[given] });
    }
    let mut found: Vec<Option<Vec<u32>>> = vec![None; sizes.len()];
    found[given] = Some(owners);
    // Sets next to known ones first.
    while let Some((set, of_set)) = next(sizes, links, &found, parts) {
        found[set] = Some(of_set);
    }
    Ok(found)
}

/// The owners of a set that a map connects with one whose owners are known.
fn next(sizes: &[usize], links: &[Link<'_>], found: &[Option<Vec<u32>>], parts: usize) -> Option<(usize, Vec<u32>)> {
    const NOBODY: u32 = u32::MAX;
    for link in links {
        let (set, mut owners) = match (&found[link.from], &found[link.to]) {
            (Some(known), None) => {
                let mut owners = vec![NOBODY; sizes[link.to]];
                for (element, &owner) in known.iter().enumerate() {
                    for &target in link.row(element) {
                        let place = &mut owners[target as usize];
                        *place = if *place == NOBODY { owner } else { *place };
                    }
                }
                (link.to, owners)
            }
            (None, Some(known)) => (
                link.from,
                (0..sizes[link.from]).map(|element| link.row(element).first().map_or(NOBODY, |&first| known[first as usize])).collect(),
            ),
            _ => continue,
        };
        let count = owners.len();
        for (element, owner) in owners.iter_mut().enumerate().filter(|(_, owner)| **owner == NOBODY) {
            *owner = (element * parts / count) as u32;
        }
        return Some((set, owners));
    }
    None
}
