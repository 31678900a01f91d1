//! Relations between points, such as the change of dimensions `{[i] -> [o, r]: i = 4*o + r and 0 <= r < 4}`.

use crate::affine::Affine;
use crate::error::{IslError, Result};
use crate::name::Name;
use crate::set::Set;
use crate::solver::ask;

/// A set of pairs of points. Names of inputs, outputs and parameters are distinct.
///
/// ```
/// use parloop_isl::{Relation, Set};
/// let split = Relation::parse("{[i] -> [o, r]: i = 4*o + r and 0 <= r < 4}")?;
/// assert!(split.is_bijective()?);
/// assert_eq!(split.apply(&Set::parse("{[i]: 0 <= i < 8}")?)?, Set::parse("{[o, r]: 0 <= o <= 1 and 0 <= r <= 3}")?);
/// assert_eq!(split.inputs_of_outputs()?.expect("a function")[0].to_string(), "4*o + r");
/// # Ok::<(), parloop_isl::IslError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Relation {
    inputs: Vec<Name>,
    outputs: Vec<Name>,
    /// Over the inputs, then the outputs.
    pairs: Set,
}

impl Relation {
    /// From a set over the inputs, then the outputs.
    pub(crate) fn of(inputs: Vec<Name>, outputs: Vec<Name>, pairs: Set) -> Relation {
        Relation { inputs, outputs, pairs }
    }

    /// Its names.
    pub fn inputs(&self) -> &[Name] {
        &self.inputs
    }

    /// Its names.
    pub fn outputs(&self) -> &[Name] {
        &self.outputs
    }

    /// As a set over inputs and outputs.
    pub fn pairs(&self) -> &Set {
        &self.pairs
    }

    /// Whether it is one to one.
    ///
    /// # Errors
    /// [`IslError::Missing`], [`IslError::Isl`].
    pub fn is_bijective(&self) -> Result<bool> {
        ask(|solver| solver.load(&self.pairs)?.into_map(self.inputs.len()).is_bijective())
            .map_err(|error| self.pairs.question("is_bijective", &[]).about(error))
    }

    /// The image of a set over the inputs; other dimensions of the set stay, before the outputs.
    ///
    /// # Errors
    /// [`IslError::UnknownName`] if the set lacks an input; [`IslError::SameName`] if it has a name that is one of the outputs.
    pub fn apply(&self, set: &Set) -> Result<Set> {
        for name in &self.inputs {
            set.dim_place(name)?;
        }
        if let Some(name) = self.outputs.iter().find(|name| set.has_dim(name) || set.has_param(name)) {
            return Err(IslError::SameName { name: name.to_string(), set: set.to_string() });
        }
        set.join(&self.pairs)?.project_out(&self.inputs)
    }

    /// Each input as an expression of the outputs and parameters, if possible.
    ///
    /// # Errors
    /// [`IslError::Missing`], [`IslError::Isl`].
    pub fn inputs_of_outputs(&self) -> Result<Option<Vec<Affine>>> {
        let mut affines = Vec::new();
        for input in &self.inputs {
            let others: Vec<Name> = self.inputs.iter().filter(|other| *other != input).cloned().collect();
            match self.pairs.project_out(&others)?.solve_for(input)? {
                Some(affine) => affines.push(affine),
                None => return Ok(None),
            }
        }
        Ok(Some(affines))
    }
}
