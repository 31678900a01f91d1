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
    /// Neighbours are elements to which one row leads, of a map to several of them; where there is no such map, elements that share targets. Of more than
    /// 128 elements at one target, those with numbers far apart are found at the other targets that they share, if at all.
    ///
    /// Which targets count is that of the maps with most targets for an element: where those have more than two, elements that share at least two are
    /// neighbours, and if no elements do, as where cells lead to their sides, those that share one. Of maps with as many targets, that with most
    /// pairs of neighbours is taken.
    ///
    /// # Errors
    /// There are more pairs than can be counted.
    pub fn of(set: usize, size: usize, links: &[Link<'_>]) -> Result<Graph, PlanError> {
        let joining = |link: &&Link<'_>| link.to == set && link.from != set && link.arity > 1;
        if links.iter().any(|link| joining(&link)) {
            let mut rows = Rows::new(size);
            links.iter().filter(joining).for_each(|link| link.values.chunks(link.arity).for_each(|elements| rows.join(elements)));
            return rows.graph(|_, _| true);
        }
        let leading = || links.iter().filter(|link| link.from == set && link.to != set);
        let arity = leading().map(|link| link.arity).max().unwrap_or(0);
        let mut best = Graph { starts: vec![0; size + 1], list: Vec::new() };
        for enough in if arity > 2 { vec![2, 1] } else { vec![1] } {
            for link in leading().filter(|link| link.arity == arity) {
                let graph = Graph::sharing(size, link, enough)?;
                if graph.list.len() > best.list.len() {
                    best = graph;
                }
            }
            if !best.list.is_empty() {
                break;
            }
        }
        Ok(best)
    }

    /// Neighbours are elements that share this many targets.
    fn sharing(size: usize, link: &Link<'_>, enough: usize) -> Result<Graph, PlanError> {
        let targets = link.values.iter().max().map_or(0, |&last| last as usize + 1);
        let mut touching: Vec<Vec<i32>> = vec![Vec::new(); targets];
        for element in 0..size {
            for &target in link.row(element) {
                let touching = &mut touching[target as usize];
                // A row may lead to one target several times.
                if touching.last() != Some(&(element as i32)) {
                    touching.push(element as i32);
                }
            }
        }
        let mut rows = Rows::new(size);
        touching.iter().for_each(|elements| rows.join(elements));
        rows.graph(|one, other| enough == 1 || shared(link.row(one), link.row(other)) >= enough)
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

/// Elements that may be neighbours of each, in any order, and some several times.
struct Rows(Vec<Vec<i32>>);

impl Rows {
    fn new(size: usize) -> Rows {
        Rows(vec![Vec::new(); size])
    }

    /// Adds pairs of elements that meet.
    fn join(&mut self, elements: &[i32]) {
        for (place, &element) in elements.iter().enumerate() {
            let near = match elements.len() <= MOST_TOGETHER {
                true => elements,
                false => &elements[place.saturating_sub(MOST_TOGETHER / 2)..elements.len().min(place + MOST_TOGETHER / 2 + 1)],
            };
            self.0[element as usize].extend(near.iter().filter(|&&other| other != element));
        }
    }

    /// The graph of those pairs that are neighbours, which must be so for both.
    fn graph(self, are_neighbours: impl Fn(usize, usize) -> bool) -> Result<Graph, PlanError> {
        let (mut starts, mut list) = (vec![0], Vec::new());
        for (element, mut row) in self.0.into_iter().enumerate() {
            row.sort_unstable();
            row.dedup();
            list.extend(row.into_iter().filter(|&other| are_neighbours(element, other as usize)));
            starts.push(fits("the number of pairs of neighbours", list.len())?);
        }
        Ok(Graph { starts, list })
    }
}

/// How many different targets two rows have in common.
fn shared(one: &[i32], other: &[i32]) -> usize {
    let is_first = |place: usize| !one[..place].contains(&one[place]);
    (0..one.len()).filter(|&place| is_first(place) && other.contains(&one[place])).count()
}
