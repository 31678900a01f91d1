//! Objects of other buffers that are copied with the references between them, so that the copy is the same graph.
//!
//! A reference may lead to an object, to a part of one, or to both: a struct and its first field have one offset and two types. So what
//! is copied are ranges of bytes: objects that overlap go together, and a reference into a range leads to the same byte of its copy.

use std::collections::BTreeMap;

use crate::types::Type;
use crate::view::{Result, View, indices};

/// The objects that are reached, each with its number.
#[derive(Default)]
pub(crate) struct Graph {
    members: Vec<Member>,
    /// Members by buffer and offset; several types can begin at one offset.
    known: BTreeMap<(usize, usize), Vec<usize>>,
}

struct Member {
    view: View,
    /// The number of the image that shall be its copy, if there is one already.
    number: Option<usize>,
}

/// Bytes that are copied together.
pub(crate) struct GraphPiece {
    /// One of the members in it.
    pub view: View,
    pub start: usize,
    pub end: usize,
    /// The number of the image that they are for, if there is one already.
    pub number: Option<usize>,
    /// The references in it: where they are, and which member they lead to.
    pub slots: BTreeMap<usize, usize>,
    /// The members in it, and where they begin.
    pub members: Vec<(usize, usize)>,
}

impl Graph {
    /// The number of an object that a reference leads to.
    pub(crate) fn reach(&mut self, view: View) -> usize {
        let known = self.known.entry((view.buffer().id(), view.offset())).or_default();
        if let Some(&member) = known.iter().find(|&&member| self.members[member].view.ty() == view.ty()) {
            return member;
        }
        known.push(self.members.len());
        self.members.push(Member { view, number: None });
        self.members.len() - 1
    }

    /// Begins with an object whose copy is the image with this number.
    pub(crate) fn start_with(&mut self, view: &View, number: usize) {
        let member = self.reach(view.clone());
        self.members[member].number = Some(number);
    }

    /// The number of members.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// The member whose copy is the image with this number.
    pub(crate) fn member_of(&self, number: usize) -> Option<usize> {
        self.members.iter().position(|member| member.number == Some(number))
    }

    /// The originals, by their numbers.
    pub(crate) fn views(&self) -> impl Iterator<Item = &View> {
        self.members.iter().map(|member| &member.view)
    }

    /// Follows all references, and cuts what was reached into pieces that do not overlap. The piece of the image `apart` has the bytes of
    /// its own member only.
    pub(crate) fn pieces(&mut self, apart: Option<usize>) -> Result<Vec<GraphPiece>> {
        let mut slots: Vec<Vec<(usize, usize)>> = Vec::new();
        while let Some(member) = self.members.get(slots.len()) {
            member.view.check_alive()?;
            let found = references(&member.view)?;
            slots.push(found.into_iter().map(|(slot, target)| (slot, self.reach(target))).collect());
        }
        let mut ranges: Vec<(usize, usize, usize, usize)> = Vec::with_capacity(self.members.len());
        for (member, Member { view, .. }) in self.members.iter().enumerate() {
            ranges.push((view.buffer().id(), view.offset(), view.offset() + view.size()?, member));
        }
        // The longest of those that begin at one offset comes first, so that an empty one is in the same piece.
        ranges.sort_unstable_by_key(|&(buffer, start, end, member)| (buffer, start, std::cmp::Reverse(end), member));
        let stands_apart = |member: usize| apart.is_some() && self.members[member].number == apart;
        let mut pieces: Vec<GraphPiece> = Vec::new();
        let mut alone: Vec<GraphPiece> = Vec::new();
        for (buffer, start, end, member) in ranges {
            let Member { view, number } = &self.members[member];
            let fits = |piece: &&mut GraphPiece| {
                let same_start = start == piece.start && (start == end || piece.end == piece.start);
                piece.view.buffer().id() == buffer && (start < piece.end || same_start)
            };
            let list = if stands_apart(member) { &mut alone } else { &mut pieces };
            let piece = match list.last_mut().filter(fits) {
                Some(piece) => piece,
                None => {
                    let (slots, members) = (BTreeMap::new(), Vec::new());
                    list.push(GraphPiece { view: view.clone(), start, end, number: None, slots, members });
                    list.last_mut().expect("invariant: it was just added")
                }
            };
            piece.end = piece.end.max(end);
            piece.number = piece.number.or(*number);
            piece.slots.extend(slots[member].iter().copied());
            piece.members.push((member, start));
        }
        // References into what stands apart lead to its copy, where it has all that they lead to.
        for alone in &mut alone {
            let buffer = alone.view.buffer().id();
            for piece in &mut pieces {
                let inside = piece.view.buffer().id() == buffer && alone.start <= piece.start && piece.end <= alone.end;
                if inside && piece.start < alone.end {
                    alone.slots.append(&mut piece.slots);
                    alone.members.append(&mut piece.members);
                }
            }
        }
        pieces.retain(|piece| !piece.members.is_empty());
        pieces.extend(alone);
        Ok(pieces)
    }
}

/// The references in an object that are not null: where they are in the buffer, and what they refer to.
pub(crate) fn references(view: &View) -> Result<Vec<(usize, View)>> {
    let mut found = Vec::new();
    collect(view, &mut found)?;
    Ok(found)
}

fn collect(view: &View, found: &mut Vec<(usize, View)>) -> Result<()> {
    match view.ty() {
        ty if !ty.has_refs() => Ok(()),
        Type::Struct(ty) => {
            let fields = ty.fields.iter().enumerate().filter(|(_, field)| field.ty.has_refs());
            fields.map(|(index, _)| index).try_for_each(|index| collect(&view.field_at(index)?, found))
        }
        Type::Array(_) => {
            let shape = view.array_shape()?;
            indices(&shape.shape).try_for_each(|index| collect(&view.item_in(&shape, &index)?, found))
        }
        _ => {
            found.extend(view.target()?.map(|target| (view.offset(), target)));
            Ok(())
        }
    }
}
