//! Running a loop on a GPU: a work item for each element, or for each target.

use parloop_device::{DType, Element};

use super::Maker;
use crate::Result;
use crate::declare::set::Set;
use crate::lower::{Apart, Array, BLOCK, Batches, EACH, Form, Number, Visits};
use crate::plan::threads::available;
use crate::plan::{BlockSums, Coloured, Elements, Incidence, Inverse, Offset, Table, patches};
use crate::shape::PartShape;

impl Maker<'_> {
    /// A work item for each element.
    pub(super) fn items(&mut self, apart: Apart) -> Result<()> {
        let size = self.making.iteration.count();
        let list = self.making.iteration.list().map(<[i32]>::to_vec);
        self.launches(&[0, size as i32], list.as_deref(), apart)
    }

    pub(super) fn colours(&mut self) -> Result<()> {
        let coloured = self.touched(&self.making.shape.meeting_maps(), |incidence, _| Ok(Coloured::new(incidence)))?;
        let apart = self.apart_by_order();
        self.launches(&coloured.bounds, Some(&coloured.order), apart)
    }

    fn launches(&mut self, bounds: &[i32], list: Option<&[i32]>, apart: Apart) -> Result<()> {
        let each = if self.making.shape.parts.iter().any(PartShape::is_reduced) { EACH } else { 1 };
        let blocks = |pair: &[i32]| ((pair[1] - pair[0]) as usize).div_ceil(BLOCK * each);
        self.groups = bounds.windows(2).map(blocks).sum();
        let executable = self.executable(&Form::Elements { visits: list.is_some().into(), apart, batches: self.batches })?;
        let mut arrays = if apart == Apart::Last { self.last_writers()? } else { vec![] };
        if let Some(list) = list {
            arrays.push((Array::List, self.upload(list)?));
        }
        let mut first = 0;
        for pair in bounds.windows(2) {
            let integers = [(Number::Begin, pair[0].into()), (Number::Count, (pair[1] - pair[0]).into()), (Number::First, first)];
            self.step(&executable, &integers, &arrays)?;
            first += blocks(pair) as i64;
        }
        Ok(())
    }

    /// A work item for each element; those of a block are near together, and add up what they have for a target.
    pub(super) fn block_sums(&mut self) -> Result<()> {
        let making = self.making;
        let order = self.patches()?;
        let (visits, list) = match (&order, making.iteration.list()) {
            (Some(order), _) => (Visits::ListWithMaps, Some(&order[..])),
            (None, Some(list)) => (Visits::List, Some(list)),
            (None, None) => (Visits::Range, None),
        };
        let form = Form::Elements { visits, apart: Apart::Shared, batches: Batches::Single };
        let mut arrays = Vec::new();
        if let Some(list) = list {
            arrays.push((Array::List, self.upload(list)?));
        }
        if visits == Visits::ListWithMaps {
            for number in form.followed_maps(making.shape) {
                arrays.push((Array::Map(number), self.upload_rows(number, list.unwrap_or(&[]))?));
            }
        }
        for number in making.shape.meeting_maps() {
            let elements = list.map_or_else(|| making.elements(), Elements::List);
            let sums = self.touched_by(elements, &[number], |incidence, _| Ok(BlockSums::new(incidence, BLOCK, available())?))?;
            for (width, sums) in BlockSums::WIDTHS.into_iter().zip(&sums.sums) {
                arrays.push((Array::SumBounds(number, width), self.upload(&sums.bounds)?));
                arrays.push((Array::SumTargets(number, width), self.upload(&sums.targets)?));
                arrays.push((Array::SumEntries(number, width), self.upload(&sums.pairs())?));
            }
        }
        let executable = self.executable(&form)?;
        let numbers = [(Number::Begin, 0), (Number::Count, making.iteration.count() as i64), (Number::First, 0)];
        self.step(&executable, &numbers, &arrays)
    }

    /// The elements patch by patch, where maps say which are neighbours. Columns of an extruded set are visited one after another.
    fn patches(&self) -> Result<Option<Vec<i32>>> {
        let making = self.making;
        let mut met = making.parts.iter().zip(&making.shape.parts).filter(|(_, shape)| shape.can_meet()).map(|(part, _)| part);
        let Some(part) = met.next().filter(|_| making.shape.is_flat()) else { return Ok(None) };
        // The blocks of a matrix have fewer elements in common than its rows.
        let Some(map) = part.meeting().map(|meeting| &meeting.rows).or(part.map.as_ref()) else { return Ok(None) };
        let values = making.iteration.targets(map)?;
        let (arity, targets) = (map.slots(making.iteration.height()), map.to().sizes().total);
        let near = making.order()?;
        let elements = near.as_deref().map_or_else(|| making.elements(), Elements::List);
        let incidence = Incidence::new(elements, &[Table { values: &values, arity, set: 0, targets, drops: map.drops() }])?;
        Ok(Some(patches(&incidence, BLOCK, available())?))
    }

    /// A work item for each target, set by set.
    pub(super) fn targets(&mut self) -> Result<()> {
        let all = self.making.shape.meeting_maps();
        let maps: Vec<Set> = self.making.maps().iter().map(|map| map.to().clone()).collect();
        let mut done: Vec<&Set> = Vec::new();
        for &number in &all {
            let set = &maps[number];
            if done.contains(&set) {
                continue;
            }
            let together: Vec<usize> = all.iter().copied().filter(|&other| maps[other] == *set).collect();
            match self.making.shape.offsets {
                DType::I64 => self.gather::<i64>(together, done.is_empty())?,
                _ => self.gather::<i32>(together, done.is_empty())?,
            }
            done.push(set);
        }
        Ok(())
    }

    /// A work item for each target of maps to one set, with offsets of that width.
    fn gather<T: Offset + Element>(&mut self, maps: Vec<usize>, writes_direct: bool) -> Result<()> {
        let inverse: Inverse<T> = self.touched(&maps, |incidence, _| Ok(Inverse::of(incidence)?))?;
        let executable = self.executable(&Form::Targets { maps, listed: inverse.targets.is_some(), writes_direct })?;
        let mut arrays = vec![(Array::Starts, self.upload(&inverse.starts)?), (Array::Entries, self.upload(&inverse.entries)?)];
        if let Some(targets) = &inverse.targets {
            arrays.push((Array::List, self.upload(targets)?));
        }
        self.step(&executable, &[(Number::Count, inverse.rows() as i64)], &arrays)
    }
}
