//! Running a loop on threads: groups of elements between bounds, each of which one thread runs in order.

use std::ops::Range;
use std::sync::Arc;

use parloop_device::as_bytes;

use super::{Maker, Source};
use crate::Result;
use crate::lower::{Apart, Array, Batches, Form, Number, Visits};
use crate::plan::{Blocks, Elements, Owned, Rank};
use crate::run::scheme::Order;
use crate::shape::{MASK_BITS, PartShape};

/// Elements that a thread runs at a time, where any order will do. It depends on the number of elements alone, since sums are cut there.
fn chunk(elements: usize) -> usize {
    (elements / 256).clamp(64, 8192)
}

/// How many parts an owner-computes plan may have. Many share the work well, few have few elements in common; it depends on the number of
/// elements alone where sums are cut there and every bit counts.
fn parts(elements: usize, threads: usize, deterministic: bool) -> Vec<usize> {
    match deterministic {
        true => vec![(elements / 16384).clamp(2, 64)],
        false => [8, 4, 2].map(|each| (each * threads).min(elements / 32).clamp(2, 1024)).to_vec(),
    }
}

/// How many colours strips may have, and how many strips of each a thread gets, the best first. Many strips share the work well, and few need no
/// third colour where each must be at least as thick as an element is wide.
pub(super) const COUNTS_OF_STRIPS: [(usize, usize); 5] = [(2, 4), (2, 2), (2, 1), (3, 2), (3, 1)];

/// How often elements may be run, in the mean, if there are still parts to do without.
const LITTLE_TWICE: f64 = 1.015;

/// The longest run of a part's elements with numbers one after another, whose targets it owns all: their places in the list.
fn longest_run(owned: &Owned, part: Range<usize>, whole: &[u32]) -> Range<usize> {
    let (mut longest, mut run) = (part.start..part.start, part.start..part.start);
    for place in part {
        let follows = run.end == place && place > run.start && owned.list[place] == owned.list[place - 1] + 1;
        run = if owned.mask(place) != whole {
            place + 1..place + 1
        } else if follows {
            run.start..place + 1
        } else {
            place..place + 1
        };
        if run.len() > longest.len() {
            longest = run.clone();
        }
    }
    longest
}

/// The bits of this many slots, as far as one word has them.
fn word_of_slots(slots: usize) -> u32 {
    if slots >= MASK_BITS { u32::MAX } else { (1 << slots) - 1 }
}

/// Elements of a block of one colour.
const COLOUR_BLOCK: usize = 256;

/// Which elements a launch visits.
#[derive(Clone, Copy)]
enum Visited<'a> {
    Range,
    List(&'a [i32]),
    ListWithMaps(&'a [i32]),
}

impl Visited<'_> {
    fn visits(self) -> Visits {
        match self {
            Visited::Range => Visits::Range,
            Visited::List(_) => Visits::List,
            Visited::ListWithMaps(_) => Visits::ListWithMaps,
        }
    }
}

impl Maker<'_> {
    /// Groups of elements between bounds, all at the same time or some after others: `launches` are ranges of groups.
    fn groups(&mut self, bounds: &[i32], launches: &[i32], visited: Visited<'_>, apart: Apart, masks: &[u32]) -> Result<()> {
        let pairs: Vec<i32> = bounds.windows(2).flatten().copied().collect();
        self.group_pairs(&pairs, launches, visited, apart, masks)
    }

    /// The same, each group from the first to the second bound of a pair.
    fn group_pairs(&mut self, pairs: &[i32], launches: &[i32], visited: Visited<'_>, apart: Apart, masks: &[u32]) -> Result<()> {
        self.groups = pairs.len() / 2;
        let executable = self.executable(&Form::Elements { visits: visited.visits(), apart, batches: self.batches })?;
        let mut arrays = self.visited(visited)?;
        arrays.push((Array::Bounds, self.upload(pairs)?));
        match apart {
            Apart::Mask => arrays.push((Array::Masks, self.upload_bytes(as_bytes(masks))?)),
            Apart::Last => arrays.extend(self.last_writers()?),
            Apart::Order | Apart::Atomic | Apart::Shared => {}
        }
        for pair in launches.windows(2) {
            let integers = [(Number::First, pair[0].into()), (Number::Groups, (pair[1] - pair[0]).into())];
            self.step(&executable, &integers, &arrays)?;
        }
        Ok(())
    }

    /// What a launch reads to know its elements.
    fn visited(&mut self, visited: Visited<'_>) -> Result<Vec<(Array, Source)>> {
        let mut arrays = Vec::new();
        if let Visited::List(list) | Visited::ListWithMaps(list) = visited {
            arrays.push((Array::List, self.upload(list)?));
        }
        if let Visited::ListWithMaps(list) = visited {
            for number in 0..self.making.maps().len() {
                arrays.push((Array::Map(number), self.upload_rows(number, list)?));
            }
        }
        Ok(arrays)
    }

    pub(super) fn chunks(&mut self, order: Order) -> Result<()> {
        let size = self.making.iteration.count();
        let bounds: Vec<i32> = (0..size).step_by(chunk(size)).chain([size]).map(|bound| bound as i32).collect();
        self.all_elements(&bounds, order)
    }

    pub(super) fn one_group(&mut self, order: Order) -> Result<()> {
        self.all_elements(&[0, self.making.iteration.count() as i32], order)
    }

    /// All elements, as they are numbered or in a better order.
    fn all_elements(&mut self, bounds: &[i32], order: Order) -> Result<()> {
        let order = if order == Order::Given { None } else { self.making.order()? };
        let visited = match (&order, self.making.iteration.list()) {
            (Some(order), _) => Visited::ListWithMaps(order),
            (None, Some(list)) => Visited::List(list),
            (None, None) => Visited::Range,
        };
        self.groups(bounds, &[0, bounds.len() as i32 - 1], visited, Apart::Order, &[])
    }

    pub(super) fn owned(&mut self) -> Result<()> {
        let making = self.making;
        let threads = making.context.device().properties().compute_units as usize;
        let parts = parts(making.iteration.count(), threads, making.deterministic);
        let (maps, meeting) = (making.maps(), making.shape.meeting_maps());
        let owned = self.touched(&meeting, |incidence, tables| {
            // A numbering without locality would have every part run most elements.
            let mut places: Vec<(usize, Arc<[i32]>)> = Vec::new();
            for (table, &number) in tables.iter().zip(&meeting) {
                let is_numbered_well = making.shape.layers.is_some() || maps[number].is_local()?;
                if !is_numbered_well && !self.renumbered.contains_key(&number) && !places.iter().any(|(set, _)| *set == table.set) {
                    places.push((table.set, maps[number].reverse_cuthill_mckee()?));
                }
            }
            let ranks: Vec<Rank<'_>> = places.iter().map(|(set, places)| Rank { set: *set, places }).collect();
            let mut owned = Owned::new(incidence, parts[0], &ranks)?;
            for &fewer in parts[1..].iter().skip_while(|&&fewer| fewer == parts[0]) {
                if owned.redundancy <= LITTLE_TWICE {
                    break;
                }
                owned = Owned::new(incidence, fewer, &ranks)?;
            }
            Ok(owned)
        })?;
        // Rounding and last writers depend on the order.
        match making.deterministic || making.shape.parts.iter().any(PartShape::last_decides) {
            true => self.groups(&owned.bounds, &[0, owned.parts() as i32], Visited::List(&owned.list), Apart::Mask, &owned.masks),
            false => self.inside_then_border(&owned),
        }
    }

    pub(super) fn strips(&mut self) -> Result<()> {
        let making = self.making;
        let strips = making.strips()?.expect("invariant: the scheme was found possible");
        let (visited, first) = match making.elements() {
            Elements::Range(range) => (Visited::Range, range.start),
            Elements::List(list) => (Visited::List(list), 0),
        };
        let pairs: Vec<i32> = strips.by_colour().flat_map(|(begin, end)| [first + begin, first + end]).map(|bound| bound as i32).collect();
        let each = strips.count() / strips.colours;
        let launches: Vec<i32> = (0..=strips.colours).map(|colour| (colour * each) as i32).collect();
        self.group_pairs(&pairs, &launches, visited, Apart::Order, &[])
    }

    /// Runs first, part by part, elements whose targets the part owns all, which need no masks; then the others. Where nearly all of a part
    /// are elements one after another, they need no list either. Sums are not in the order of the elements any more.
    fn inside_then_border(&mut self, owned: &Owned) -> Result<()> {
        let slots: usize = self.making.shape.meeting_maps().iter().map(|&map| self.making.shape.maps[map].slots).sum();
        let whole: Vec<u32> = (0..owned.words).map(|word| word_of_slots(slots - (word * MASK_BITS).min(slots))).collect();
        let parts: Vec<Range<usize>> = owned.bounds.windows(2).map(|pair| pair[0] as usize..pair[1] as usize).collect();
        let runs: Vec<Range<usize>> = parts.iter().map(|part| longest_run(owned, part.clone(), &whole)).collect();
        let in_runs: usize = runs.iter().map(Range::len).sum();
        let listed = self.making.iteration.list().is_some() || 10 * in_runs < 9 * owned.list.len();
        let turns = if listed { self.turns()? } else { None };
        let has_border = match listed {
            true => owned.masks.chunks(owned.words).any(|mask| mask != whole),
            false => in_runs < owned.list.len(),
        };
        let (mut list, mut masks, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
        for inside in [true, false] {
            for (number, part) in parts.iter().enumerate() {
                if inside && !listed {
                    let first = owned.list.get(runs[number].start).copied().unwrap_or(0);
                    pairs.extend([first, first + runs[number].len() as i32]);
                    continue;
                }
                let is_inside = |place: usize| match listed {
                    true => owned.mask(place) == whole,
                    false => runs[number].contains(&place),
                };
                let mut places: Vec<usize> = part.clone().filter(|&place| is_inside(place) == inside).collect();
                if let Some(turns) = &turns {
                    places.sort_unstable_by_key(|&place| turns[owned.list[place] as usize]);
                }
                pairs.push(list.len() as i32);
                list.extend(places.iter().map(|&place| owned.list[place]));
                masks.extend(places.iter().flat_map(|&place| owned.mask(place)).copied());
                pairs.push(list.len() as i32);
            }
        }
        let launches = if has_border { 2 } else { 1 };
        self.groups = launches * parts.len();
        let visited = if turns.is_some() && !self.making.checked { Visited::ListWithMaps(&list) } else { Visited::List(&list) };
        let mut arrays = self.visited(visited)?;
        arrays.push((Array::Bounds, self.upload(&pairs)?));
        arrays.push((Array::Masks, self.upload_bytes(as_bytes(&masks))?));
        let inside =
            Form::Elements { visits: if listed { visited.visits() } else { Visits::Range }, apart: Apart::Order, batches: self.batches };
        let border = Form::Elements { visits: visited.visits(), apart: Apart::Mask, batches: Batches::Single };
        for (first, form) in [(0, inside), (parts.len(), border)].into_iter().take(launches) {
            let executable = self.executable(&form)?;
            self.step(&executable, &[(Number::First, first as i64), (Number::Groups, parts.len() as i64)], &arrays)?;
        }
        Ok(())
    }

    /// For each element of the base set the turn in which it is best run, if that is not as they are numbered.
    fn turns(&self) -> Result<Option<Vec<u32>>> {
        Ok(self.making.order()?.map(|order| {
            let mut turns = vec![0; self.making.iteration.total()];
            for (turn, &element) in order.iter().enumerate() {
                turns[element as usize] = turn as u32;
            }
            turns
        }))
    }

    pub(super) fn blocks(&mut self) -> Result<()> {
        let blocks = self.touched(&self.making.shape.meeting_maps(), |incidence, _| Ok(Blocks::new(incidence, None, COLOUR_BLOCK)?))?;
        let elements = self.making.elements();
        let (mut list, mut bounds) = (Vec::with_capacity(elements.len()), vec![0]);
        for &block in &blocks.blocks {
            let (begin, end) = (blocks.block_bounds[block as usize], blocks.block_bounds[block as usize + 1]);
            for place in begin..end {
                let place = place as usize;
                list.push(match (&blocks.order, &elements) {
                    (Some(order), _) => order[place],
                    (None, Elements::Range(range)) => (range.start + place) as i32,
                    (None, Elements::List(list)) => list[place],
                });
            }
            bounds.push(list.len() as i32);
        }
        let apart = self.apart_by_order();
        self.groups(&bounds, &blocks.colour_bounds, Visited::List(&list), apart, &[])
    }
}
