//! Parts of sets: which elements, and the algebra of them.

use std::sync::Arc;

use super::set::{Set, SetKind};
use crate::Result;
use crate::error::MeshError;
use crate::sizes::Sizes;

impl Set {
    /// The elements with these numbers, sorted, each once. Numbers of a subset count its own elements.
    ///
    /// # Errors
    /// [`MeshError::SubsetIndex`].
    pub fn subset(&self, indices: &[i64]) -> Result<Set> {
        let limit = self.sizes().total;
        let mut chosen = Vec::with_capacity(indices.len());
        for &index in indices {
            let place = usize::try_from(index).ok().filter(|&place| place < limit);
            let place = place.ok_or_else(|| MeshError::SubsetIndex { set: self.name().to_owned(), index, size: limit })?;
            chosen.push(self.indices().map_or(place as i32, |own| own[place]));
        }
        chosen.sort_unstable();
        chosen.dedup();
        Ok(self.with_indices(chosen))
    }

    /// The part of the base with these ascending numbers.
    fn with_indices(&self, indices: Vec<i32>) -> Set {
        let base = self.base();
        let below = |limit: usize| indices.partition_point(|&index| (index as usize) < limit);
        let sizes = Sizes { core: below(base.sizes().core), owned: below(base.sizes().owned), total: indices.len() };
        Set::of(format!("{}_subset", base.name()), sizes, SetKind::Subset { of: base.clone(), indices: Arc::from(indices) })
    }

    /// The elements that are in either.
    ///
    /// # Errors
    /// [`MeshError::SubsetsOfDifferentSets`].
    pub fn union(&self, other: &Set) -> Result<Set> {
        self.merged(other, |_, _| true)
    }

    /// The elements that are in both.
    ///
    /// # Errors
    /// [`MeshError::SubsetsOfDifferentSets`].
    pub fn intersection(&self, other: &Set) -> Result<Set> {
        self.merged(other, |here, there| here && there)
    }

    /// The elements that are in this one and not in the other.
    ///
    /// # Errors
    /// [`MeshError::SubsetsOfDifferentSets`].
    pub fn difference(&self, other: &Set) -> Result<Set> {
        self.merged(other, |here, there| here && !there)
    }

    /// The elements that are in just one of the two.
    ///
    /// # Errors
    /// [`MeshError::SubsetsOfDifferentSets`].
    pub fn symmetric_difference(&self, other: &Set) -> Result<Set> {
        self.merged(other, |here, there| here != there)
    }

    /// Merges both in order; `keep` is told which of the two contains an element.
    fn merged(&self, other: &Set, keep: impl Fn(bool, bool) -> bool) -> Result<Set> {
        if self.base() != other.base() {
            return Err(MeshError::SubsetsOfDifferentSets { first: self.base().name().into(), second: other.base().name().into() });
        }
        let mut left = self.elements().peekable();
        let mut right = other.elements().peekable();
        let mut kept = Vec::new();
        loop {
            let next = match (left.peek(), right.peek()) {
                (Some(a), Some(b)) => *a.min(b),
                (Some(a), None) => *a,
                (None, Some(b)) => *b,
                (None, None) => break,
            };
            let here = left.next_if_eq(&next).is_some();
            let there = right.next_if_eq(&next).is_some();
            if keep(here, there) {
                kept.push(next);
            }
        }
        Ok(self.with_indices(kept))
    }

    /// The numbers of its elements in the base, ascending.
    fn elements(&self) -> Box<dyn Iterator<Item = i32> + '_> {
        match self.indices() {
            Some(indices) => Box::new(indices.iter().copied()),
            None => Box::new(0..self.sizes().total as i32),
        }
    }
}
