//! Neighbours of elements as a graph, and its partition by METIS.

use super::partition::Link;
use super::{PlanError, incidence::fits};

/// Elements that meet at one place are all neighbours of each other if there are at most this many; of more, which a mesh has only where everything
/// leads to a few targets, each is a neighbour of those next to it. The number of pairs is then at most this many times the number of entries.
const MOST_TOGETHER: usize = 128;

/// Which elements of a set are neighbours: those of `e` are `list[starts[e]..starts[e + 1]]`, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where the neighbours of each element begin, and the end of all.
    pub starts: Vec<i32>,
    /// The neighbours.
    pub list: Vec<i32>,
}

impl Graph {
    /// Neighbours are elements to which one row leads, of a map to several of them; where there is no such map, elements that share targets: at
    /// least two where they have more than two each. Of more than 128 elements at one target, those with numbers far apart are not.
    ///
    /// # Errors
    /// There are more pairs than can be counted.
    pub fn of(set: usize, size: usize, links: &[Link<'_>]) -> Result<Graph, PlanError> {
        let mut rows: Vec<Vec<i32>> = vec![Vec::new(); size];
        let mut join = |elements: &[i32]| {
            for (place, &element) in elements.iter().enumerate() {
                let near = match elements.len() <= MOST_TOGETHER {
                    true => elements,
                    false => &elements[place.saturating_sub(MOST_TOGETHER / 2)..elements.len().min(place + MOST_TOGETHER / 2 + 1)],
                };
                rows[element as usize].extend(near.iter().filter(|&&other| other != element));
            }
        };
        let joining = |link: &&Link<'_>| link.to == set && link.from != set && link.arity > 1;
        let mut enough = 1;
        if links.iter().any(|link| joining(&link)) {
            links.iter().filter(joining).for_each(|link| link.values.chunks(link.arity).for_each(&mut join));
        } else if let Some(link) = links.iter().filter(|link| link.from == set && link.to != set).max_by_key(|link| link.arity) {
            enough = if link.arity > 2 { 2 } else { 1 };
            let targets = link.values.iter().max().map_or(0, |&last| last as usize + 1);
            let mut touching: Vec<Vec<i32>> = vec![Vec::new(); targets];
            for element in 0..size {
                link.row(element).iter().for_each(|&target| touching[target as usize].push(element as i32));
            }
            touching.iter().for_each(|elements| join(elements));
        }
        let (mut starts, mut list) = (vec![0], Vec::new());
        for mut row in rows {
            row.sort_unstable();
            list.extend(row.chunk_by(|a, b| a == b).filter(|same| same.len() >= enough).map(|same| same[0]));
            starts.push(fits("the number of pairs of neighbours", list.len())?);
        }
        Ok(Graph { starts, list })
    }

    /// Which part each element belongs to: about as many in each, and as few neighbours as possible in different ones (METIS's k-way partition; where
    /// there are fewer than two elements for each part, they are dealt out in order).
    ///
    /// # Errors
    /// [`PlanError::Metis`].
    pub fn partition(&self, parts: usize) -> Result<Vec<u32>, PlanError> {
        let size = self.starts.len() - 1;
        // METIS prints complaints where there are more parts than elements.
        if size < 2 * parts {
            return Ok((0..size).map(|element| (element * parts / size) as u32).collect());
        }
        let mut part_of = vec![0i32; size];
        if parts > 1 {
            let wrong = |reason: String| PlanError::Metis { reason };
            let graph = metis::Graph::new(1, fits("the number of parts", parts)?, &self.starts, &self.list);
            graph.map_err(|error| wrong(error.to_string()))?.part_kway(&mut part_of).map_err(|error| wrong(error.to_string()))?;
        }
        Ok(part_of.into_iter().map(|part| part as u32).collect())
    }

    /// How many pairs of neighbours are in different parts.
    pub fn cut(&self, part_of: &[u32]) -> usize {
        let neighbours = |element: usize| &self.list[self.starts[element] as usize..self.starts[element + 1] as usize];
        let across = |element: usize| neighbours(element).iter().filter(|&&other| part_of[other as usize] != part_of[element]).count();
        (0..part_of.len()).map(across).sum::<usize>() / 2
    }
}
