//! Ways to run a loop on a GPU: a work item for each element, or for each target.

use parloop_device::{DType, Element};

use super::Maker;
use crate::Result;
use crate::declare::set::Set;
use crate::lower::{Apart, Array, BLOCK, EACH, Form, Number};
use crate::plan::{Coloured, Inverse, Offset};
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
        let executable = self.executable(&Form::Elements { visits: list.is_some().into(), apart, lanes: self.lanes })?;
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
