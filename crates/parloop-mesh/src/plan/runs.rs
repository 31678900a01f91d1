//! Runs: elements of a set that the layers of columns lead to one after another. A map gives the lowest of them and how far it is to the next, so
//! that a process that has one of a run has all of it, in the same order.

use std::borrow::Cow;

use super::partition::Link;
use super::share::Share;

/// The elements of a set as runs: each is `first`, `first + step`, `first + 2 step` and so on. Elements that no column leads through are runs of
/// one. Runs are numbered in the order of their first elements.
///
/// ```
/// use parloop_mesh::plan::Runs;
/// // Two columns of three nodes each, layer by layer: 0, 2, 4 and 1, 3, 5.
/// let runs = Runs::new(6, 2, [[0, 2], [2, 4], [1, 3], [3, 5]]);
/// assert_eq!(runs.count(), 2);
/// assert_eq!(runs.elements(1).collect::<Vec<_>>(), [1, 3, 5]);
/// assert_eq!(runs.of(4), 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    step: usize,
    /// The first element of each, and how many it has.
    runs: Vec<(i32, i32)>,
    /// The run of each element.
    of: Vec<i32>,
}

impl Runs {
    /// The runs of a set of `size` elements that join chains: the first and the last element of each, which are a multiple of `step` apart. Chains that
    /// have an element in common are in one run.
    ///
    /// # Panics
    /// A chain leaves the set, or `step` is 0.
    pub fn new(size: usize, step: usize, chains: impl IntoIterator<Item = [i32; 2]>) -> Runs {
        assert!(step > 0, "invariant: steps go forward");
        let mut reach: Vec<i32> = (0..size as i32).collect();
        for [first, last] in chains {
            let reached = &mut reach[first as usize];
            *reached = (*reached).max(last);
        }
        let (mut runs, mut of): (Vec<(i32, i32)>, Vec<i32>) = (Vec::new(), Vec::with_capacity(size));
        // How far each run goes, as far as it is known.
        let mut ends: Vec<i32> = Vec::new();
        for (element, reach) in reach.into_iter().enumerate() {
            let before = element.checked_sub(step).map(|before| of[before] as usize);
            let run = before.filter(|&run| ends[run] >= element as i32).unwrap_or_else(|| {
                runs.push((element as i32, 0));
                ends.push(reach);
                runs.len() - 1
            });
            ends[run] = ends[run].max(reach);
            runs[run].1 += 1;
            of.push(run as i32);
        }
        Runs { step, runs, of }
    }

    /// How far it is from an element to the next.
    pub fn step(&self) -> usize {
        self.step
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.runs.len()
    }

    /// The run of an element.
    pub fn of(&self, element: usize) -> i32 {
        self.of[element]
    }

    /// The run of each element.
    pub fn all(&self) -> &[i32] {
        &self.of
    }

    /// The elements of a run.
    pub fn elements(&self, run: usize) -> impl Iterator<Item = i32> + use<> {
        let ((first, length), step) = (self.runs[run], self.step as i32);
        (0..length).map(move |place| first + step * place)
    }

    /// What a process has of the set, given what it has of its runs.
    pub fn elements_of(&self, share: &Share) -> Share {
        let length = |runs: usize| share.numbers[..runs].iter().map(|&run| self.runs[run as usize].1 as usize).sum();
        let numbers = share.numbers.iter().flat_map(|&run| self.elements(run as usize)).collect();
        Share { numbers, core: length(share.core), owned: length(share.owned), exec: length(share.exec) }
    }

    /// For each element of a share of runs its run, numbered as in the share.
    pub fn local(&self, share: &Share) -> Vec<i32> {
        let numbered = share.numbers.iter().enumerate();
        numbered.flat_map(|(place, &run)| std::iter::repeat_n(place as i32, self.runs[run as usize].1 as usize)).collect()
    }
}

/// The rows of a link between runs: the runs of all targets of all elements, each once, in rows of one length.
pub fn between_runs<'a>(link: &Link<'a>, from: Option<&Runs>, to: Option<&Runs>) -> (usize, Cow<'a, [i32]>) {
    if from.is_none() && to.is_none() {
        return (link.arity, Cow::Borrowed(link.values));
    }
    let target = |&element: &i32| to.map_or(element, |runs| runs.of(element as usize));
    let targets = link.values.iter().map(target).max().map_or(0, |last| last as usize + 1);
    // The last row that each target was added to.
    let mut last_row = vec![usize::MAX; targets];
    let mut rows: Vec<Vec<i32>> = vec![Vec::new(); from.map_or(link.values.len() / link.arity, Runs::count)];
    for (number, row) in rows.iter_mut().enumerate() {
        let mut add = |element: usize| {
            let fresh =
                link.row(element).iter().map(target).filter(|&target| std::mem::replace(&mut last_row[target as usize], number) != number);
            row.extend(fresh);
        };
        match from {
            None => add(number),
            Some(runs) => runs.elements(number).for_each(|element| add(element as usize)),
        }
    }
    let arity = rows.iter().map(Vec::len).max().unwrap_or(1);
    let filled = |row: &Vec<i32>| row.iter().copied().chain(std::iter::repeat_n(row[0], arity - row.len())).collect::<Vec<_>>();
    (arity, Cow::Owned(rows.iter().flat_map(filled).collect()))
}
