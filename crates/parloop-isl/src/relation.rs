//! Relations between points, such as the change of dimensions `{[i] -> [o, r]: i = 4*o + r and 0 <= r < 4}`.

use std::fmt;

use crate::affine::Affine;
use crate::error::Result;
use crate::name::Name;
use crate::set::Set;

/// Pairs of points. Names of inputs, outputs and parameters are distinct.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Relation {
    inputs: Vec<Name>,
    outputs: Vec<Name>,
    /// Over the inputs, then the outputs.
    pairs: Set,
}

impl Relation {
    /// Reads isl's notation for maps.
    pub fn parse(_text: &str) -> Result<Relation> {
        todo!()
    }

    /// Those names.
    pub fn inputs(&self) -> &[Name] {
        &self.inputs
    }

    /// Those names.
    pub fn outputs(&self) -> &[Name] {
        &self.outputs
    }

    /// As a set over inputs and outputs.
    pub fn pairs(&self) -> &Set {
        &self.pairs
    }

    /// Whether each input goes with one output and each output with one input.
    pub fn is_bijective(&self) -> Result<bool> {
        todo!()
    }

    /// The outputs that go with the points of a set over the inputs; further dimensions of the set stay.
    pub fn apply(&self, _set: &Set) -> Result<Set> {
        todo!()
    }

    /// Each input as an expression of the outputs and parameters, if it is one.
    pub fn inputs_of_outputs(&self) -> Result<Option<Vec<Affine>>> {
        todo!()
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
