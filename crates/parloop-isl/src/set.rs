//! Sets: unions of pieces, each bounded by affine constraints, over named dimensions and parameters. This module has the operations that
//! need no solver; `question.rs` has the others.

use std::collections::BTreeSet;
use std::sync::Arc;

pub use crate::constraint::{Constraint, ConstraintKind, Piece};

use crate::affine::Affine;
use crate::constraint::{normalise, normalise_pieces};
use crate::error::{IslError, Result};
use crate::name::Name;

/// A join with more pieces than this is refused: the number of pieces is the product of those of the operands.
const MAX_PIECES: usize = 4096;

/// A set of integer points: for each value of its parameters, the values of its dimensions. Names are unique among both.
///
/// `==` compares the representation: constraints are sorted and divided by common factors, and each expression has at most one bound on
/// either side, but no solver is used. [`Set::is_equal`] compares the points. Parameters are in alphabetical order.
///
/// ```
/// use parloop_isl::Set;
/// let triangle = Set::parse("{[i,j]: 0<=i<n and 0<=j<=i}")?;
/// assert_eq!(triangle.params(), ["n"]);
/// assert_eq!(triangle.project_out(&["j".into()])?, Set::parse("{[i]: 0<=i<n}")?);
/// assert_eq!(triangle.to_string(), "[n] -> { [i, j] : i < n and i >= 0 and j <= i and j >= 0 }");
/// # Ok::<(), parloop_isl::IslError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Set {
    params: Vec<Name>,
    dims: Vec<Name>,
    pieces: Arc<[Piece]>,
}

/// A value given by one expression in each of several parts of the parameter space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piecewise(pub Vec<(Set, Affine)>);

/// One bound of a dimension: `ceil(affine / divisor)` from below, `floor(affine / divisor)` from above; the divisor is at least 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Bound {
    pub affine: Affine,
    pub divisor: i64,
}

/// The bounds of a dimension in a set of one piece: it is at least each of `lower` and at most each of `upper`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Bounds {
    pub lower: Vec<Bound>,
    pub upper: Vec<Bound>,
}

impl Set {
    /// All points.
    pub fn universe(params: &[Name], dims: &[Name]) -> Set {
        Set::from_pieces(params.to_vec(), dims.to_vec(), vec![Piece::new()])
    }

    /// No points.
    pub fn empty(params: &[Name], dims: &[Name]) -> Set {
        Set::from_pieces(params.to_vec(), dims.to_vec(), Vec::new())
    }

    /// The points at which all constraints hold; names in them that are not dimensions become parameters.
    pub fn bounded(dims: &[Name], constraints: Vec<Constraint>) -> Set {
        Set::from_raw(Vec::new(), dims.to_vec(), [constraints])
    }

    /// From normalised pieces whose names are all parameters or dimensions.
    pub(crate) fn from_pieces(mut params: Vec<Name>, dims: Vec<Name>, pieces: Vec<Piece>) -> Set {
        params.retain(|name| !dims.contains(name));
        params.sort_unstable();
        params.dedup();
        Set { params, dims, pieces: normalise_pieces(pieces).into() }
    }

    /// From any pieces; names in them that are not dimensions become parameters.
    pub(crate) fn from_raw(params: Vec<Name>, dims: Vec<Name>, pieces: impl IntoIterator<Item = Piece>) -> Set {
        let mut names: BTreeSet<Name> = params.into_iter().collect();
        let mut normal = Vec::new();
        for piece in pieces {
            piece.iter().for_each(|constraint| constraint.affine.collect_names(&mut names));
            normal.extend(normalise(piece));
        }
        Set::from_pieces(names.into_iter().collect(), dims, normal)
    }

    /// Its parameters, in order.
    pub fn params(&self) -> &[Name] {
        &self.params
    }

    /// Its dimensions, in order.
    pub fn dims(&self) -> &[Name] {
        &self.dims
    }

    /// Its pieces; none for the empty set, one without constraints for the universe.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Whether the name is one of its dimensions.
    pub fn has_dim(&self, name: &str) -> bool {
        self.dims.iter().any(|dim| dim == name)
    }

    /// Whether the name is one of its parameters.
    pub fn has_param(&self, name: &str) -> bool {
        self.params.iter().any(|param| param == name)
    }

    /// The parameters that some constraint mentions.
    pub fn used_params(&self) -> BTreeSet<Name> {
        let mut names = BTreeSet::new();
        self.pieces.iter().flatten().for_each(|constraint| constraint.affine.collect_names(&mut names));
        names.retain(|name| !self.dims.contains(name));
        names
    }

    /// Its points and others: it has no constraint that mentions such a parameter.
    pub fn without(&self, is_unknown: &dyn Fn(&Name) -> bool) -> Set {
        let is_dropped = |name: &Name| is_unknown(name) && !self.dims.contains(name);
        let keeps = |constraint: &&Constraint| !constraint.affine.names().iter().any(&is_dropped);
        let pieces = self.pieces.iter().map(|piece| piece.iter().filter(keeps).cloned().collect()).collect();
        let params = self.params.iter().filter(|param| !is_unknown(param)).cloned().collect();
        Set::from_pieces(params, self.dims.clone(), pieces)
    }

    /// The points of both, by name: a dimension of either is a dimension of the result. Sets over the same dimensions are intersected; a
    /// set without dimensions restricts the parameters.
    ///
    /// # Errors
    /// [`IslError::TooLarge`] for more than some thousand pieces.
    pub fn join(&self, other: &Set) -> Result<Set> {
        if self.pieces.len().saturating_mul(other.pieces.len()) > MAX_PIECES {
            return Err(IslError::TooLarge { what: "join sets", limit: MAX_PIECES });
        }
        let mut dims = self.dims.clone();
        dims.extend(other.dims.iter().filter(|dim| !self.dims.contains(dim)).cloned());
        let params = [&self.params[..], &other.params].concat();
        let is_universe = |set: &Set| matches!(set.pieces(), [piece] if piece.is_empty());
        // If one has no constraints, the other is already the normal form.
        let pieces = if is_universe(other) {
            self.pieces.to_vec()
        } else if is_universe(self) {
            other.pieces.to_vec()
        } else {
            let pairs = self.pieces.iter().flat_map(|a| other.pieces.iter().map(move |b| (a, b)));
            pairs.filter_map(|(a, b)| normalise(a.iter().chain(b).cloned())).collect()
        };
        Ok(Set::from_pieces(params, dims, pieces))
    }

    /// Adds constraints, whose unknown names become parameters.
    ///
    /// # Errors
    /// As [`Set::join`].
    pub fn constrain(&self, constraints: &[Constraint]) -> Result<Set> {
        self.join(&Set::bounded(&[], constraints.to_vec()))
    }

    /// Adds unbounded dimensions; parameters of the same name become dimensions.
    pub fn add_dims(&self, names: &[Name]) -> Set {
        let mut result = self.clone();
        for name in names {
            if !result.has_dim(name) {
                result.dims.push(name.clone());
            }
        }
        result.params.retain(|name| !result.dims.contains(name));
        result
    }

    /// Turns those dimensions into parameters.
    pub fn to_params(&self, names: &[Name]) -> Set {
        let (moved, dims): (Vec<Name>, Vec<Name>) = self.dims.iter().cloned().partition(|dim| names.contains(dim));
        Set { params: sorted([&self.params[..], &moved].concat()), dims, pieces: self.pieces.clone() }
    }

    /// Adds unbounded parameters; existing names stay what they are.
    pub fn add_params(&self, names: &[Name]) -> Set {
        let mut params = [&self.params[..], names].concat();
        params.retain(|name| !self.dims.contains(name));
        Set { params: sorted(params), dims: self.dims.clone(), pieces: self.pieces.clone() }
    }

    /// Removes the parameters that no constraint mentions.
    pub fn drop_unused_params(&self) -> Set {
        Set { params: self.used_params().into_iter().collect(), dims: self.dims.clone(), pieces: self.pieces.clone() }
    }

    /// Reorders its dimensions; those that are not named come last.
    pub fn reorder_dims(&self, order: &[Name]) -> Set {
        let mut dims: Vec<Name> = order.iter().filter(|name| self.has_dim(name)).cloned().collect();
        dims.extend(self.dims.iter().filter(|dim| !order.contains(dim)).cloned());
        Set { params: self.params.clone(), dims, pieces: self.pieces.clone() }
    }

    /// Renames dimensions and parameters; `None` keeps a name.
    ///
    /// # Errors
    /// [`IslError::SameName`] if two names would become one; [`IslError::Overflow`].
    pub fn rename(&self, new: &dyn Fn(&Name) -> Option<Name>) -> Result<Set> {
        let renamed = |names: &[Name]| names.iter().map(|name| new(name).unwrap_or_else(|| name.clone())).collect::<Vec<Name>>();
        let (params, dims) = (renamed(&self.params), renamed(&self.dims));
        let mut seen = BTreeSet::new();
        if let Some(name) = params.iter().chain(&dims).find(|name| !seen.insert(*name)) {
            return Err(IslError::SameName { name: name.to_string(), set: self.to_string() });
        }
        let rename = |constraint: &Constraint| Ok(Constraint { kind: constraint.kind, affine: constraint.affine.rename(new)? });
        let pieces = self.pieces.iter().map(|piece| piece.iter().map(rename).collect()).collect::<Result<Vec<Piece>>>()?;
        Ok(Set::from_raw(params, dims, pieces))
    }

    /// Replaces a dimension or parameter by an expression. The name is removed unless the expression mentions it. Unknown names of the
    /// expression become parameters.
    ///
    /// # Errors
    /// [`IslError::UnknownName`]; [`IslError::Overflow`].
    pub fn substitute(&self, name: &str, by: &Affine) -> Result<Set> {
        self.place_of(name)?;
        let substitute =
            |constraint: &Constraint| Ok(Constraint { kind: constraint.kind, affine: constraint.affine.substitute(name, by)? });
        let pieces = self.pieces.iter().map(|piece| piece.iter().map(substitute).collect()).collect::<Result<Vec<Piece>>>()?;
        let without = |names: &[Name]| names.iter().filter(|n| *n != name || by.mentions(name)).cloned().collect::<Vec<Name>>();
        let mut params = without(&self.params);
        params.extend(by.names());
        Ok(Set::from_raw(params, without(&self.dims), pieces))
    }

    /// Whether the point (values of all parameters and dimensions) is in it; needs no solver. `None` if a value is missing.
    pub fn contains(&self, point: &dyn Fn(&Name) -> Option<i64>) -> Option<bool> {
        for piece in self.pieces.iter() {
            let mut all = true;
            for constraint in piece {
                all &= constraint.holds(point)?;
            }
            if all {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The position of a name among the dimensions (`Ok(position)`) or the parameters (`Err(position)`).
    pub(crate) fn place_of(&self, name: &str) -> Result<NamePosition> {
        if let Some(place) = self.dims.iter().position(|dim| dim == name) {
            return Ok(NamePosition::Dim(place));
        }
        match self.params.iter().position(|param| param == name) {
            Some(place) => Ok(NamePosition::Param(place)),
            None => Err(IslError::UnknownName { name: name.to_string(), set: self.to_string() }),
        }
    }

    /// The position of a name among the dimensions.
    pub(crate) fn dim_place(&self, name: &str) -> Result<usize> {
        match self.place_of(name)? {
            NamePosition::Dim(place) => Ok(place),
            NamePosition::Param(_) => Err(IslError::UnknownName { name: name.to_string(), set: self.to_string() }),
        }
    }
}

/// The position of a name in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamePosition {
    Dim(usize),
    Param(usize),
}

fn sorted(mut names: Vec<Name>) -> Vec<Name> {
    names.sort_unstable();
    names.dedup();
    names
}
