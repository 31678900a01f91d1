//! How the targets of a map move from one layer of an extruded set to the next.

/// For each slot of a map, how far its target moves from a layer to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moves {
    offsets: Vec<i32>,
    /// Of periodic columns: by how many layers the target of a slot is above the cell, where not by none.
    quotients: Option<Vec<i32>>,
}

impl Moves {
    pub(super) fn new(offsets: &[i32], quotients: Option<&[i32]>) -> Moves {
        let quotients = quotients.filter(|quotients| quotients.iter().any(|&quotient| quotient != 0));
        Moves { offsets: offsets.to_vec(), quotients: quotients.map(<[i32]>::to_vec) }
    }

    /// With the slots in another order.
    pub(super) fn permuted(&self, order: &[i32]) -> Moves {
        let in_order = |list: &Vec<i32>| order.iter().map(|&slot| list[slot as usize]).collect();
        Moves { offsets: in_order(&self.offsets), quotients: self.quotients.as_ref().map(in_order) }
    }

    /// Where targets that were so far apart follow one another.
    pub(crate) fn divided(&self, step: usize) -> Moves {
        Moves { offsets: self.offsets.iter().map(|offset| offset / step as i32).collect(), quotients: self.quotients.clone() }
    }

    /// How far the target of a slot moves from a layer to the next.
    pub fn offset(&self, slot: usize) -> i32 {
        self.offsets[slot]
    }

    /// How far the target of each slot moves from a layer to the next.
    pub fn offsets(&self) -> &[i32] {
        &self.offsets
    }

    /// By how many layers the target of each slot is above the cell, if any is.
    pub fn quotients(&self) -> Option<&[i32]> {
        self.quotients.as_deref()
    }

    /// How far the target of a slot is from that of the lowest layer.
    pub(crate) fn at(&self, slot: usize, layer: i32, cells: i32, periodic: bool) -> i32 {
        self.offsets[slot] * self.factor(slot, layer, cells, periodic)
    }

    /// How often a target has moved. Layers of a periodic column are counted around it.
    fn factor(&self, slot: usize, layer: i32, cells: i32, periodic: bool) -> i32 {
        let quotient = self.quotients.as_ref().map_or(0, |quotients| quotients[slot]);
        if periodic { (layer + quotient).rem_euclid(cells) - quotient.rem_euclid(cells) } else { layer }
    }

    /// The least and the most that a target moves in a column of this many cells.
    pub(crate) fn range(&self, slot: usize, cells: i32, periodic: bool) -> [i32; 2] {
        let quotient = self.quotients.as_ref().filter(|_| periodic).map_or(0, |quotients| quotients[slot].rem_euclid(cells));
        [-quotient, cells - 1 - quotient]
    }
}
