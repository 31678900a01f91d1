//! Sets: unions of pieces, each bounded by affine constraints, over named dimensions and parameters.

use std::collections::BTreeMap;
use std::fmt;

use crate::affine::Affine;
use crate::error::Result;
use crate::name::Name;

/// What must hold for the expression of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConstraintKind {
    /// It is zero.
    Zero,
    /// It is zero or more.
    NotNegative,
}

/// `affine = 0` or `affine >= 0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct Constraint {
    pub kind: ConstraintKind,
    pub affine: Affine,
}

/// The points at which all of its constraints hold.
pub type Piece = Vec<Constraint>;

/// A set of integer points: for each value of its parameters, the values of its dimensions. Names are unique among both.
///
/// ```
/// use parloop_isl::Set;
/// let triangle = Set::parse("{[i,j]: 0<=i<n and 0<=j<=i}")?;
/// assert_eq!(triangle.params(), ["n"]);
/// assert_eq!(triangle.project_out(&["j".into()])?, Set::parse("{[i]: 0<=i<n}")?);
/// # Ok::<(), parloop_isl::IslError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Set {
    params: Vec<Name>,
    dims: Vec<Name>,
    pieces: Vec<Piece>,
}

/// A value that is given by one expression in each of some parts of the parameters' space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piecewise(pub Vec<(Set, Affine)>);

/// One limit of a dimension: `ceil(affine / divisor)` from below, `floor(affine / divisor)` from above; the divisor is at least 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Bound {
    pub affine: Affine,
    pub divisor: i64,
}

/// The limits of a dimension in a set of one piece: it is at least each of `lower` and at most each of `upper`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Bounds {
    pub lower: Vec<Bound>,
    pub upper: Vec<Bound>,
}

impl Constraint {
    /// `affine = 0`.
    pub fn zero(affine: Affine) -> Constraint {
        Constraint { kind: ConstraintKind::Zero, affine }
    }

    /// `affine >= 0`.
    pub fn not_negative(affine: Affine) -> Constraint {
        Constraint { kind: ConstraintKind::NotNegative, affine }
    }
}

impl Set {
    /// Reads isl's notation. `[n] -> ` in front may be left out: every name that is not a dimension or bound by `exists` is a parameter.
    pub fn parse(_text: &str) -> Result<Set> {
        todo!()
    }

    /// All points.
    pub fn universe(params: &[Name], dims: &[Name]) -> Set {
        Set { params: params.to_vec(), dims: dims.to_vec(), pieces: vec![Vec::new()] }
    }

    /// The points at which all constraints hold; names in them that are no dimensions become parameters.
    pub fn bounded(_dims: &[Name], _constraints: Vec<Constraint>) -> Set {
        todo!()
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

    // ---- making others of it, without solving ----

    /// The points of both, by name: what is a dimension in either is one of the result. Sets over the same dimensions are intersected;
    /// a set without dimensions restricts the parameters.
    pub fn join(&self, _other: &Set) -> Result<Set> {
        todo!()
    }

    /// With further constraints, whose unknown names become parameters.
    pub fn constrain(&self, _constraints: &[Constraint]) -> Result<Set> {
        todo!()
    }

    /// With further dimensions, without bounds; parameters of that name become dimensions.
    pub fn add_dims(&self, _names: &[Name]) -> Set {
        todo!()
    }

    /// With those dimensions as parameters.
    pub fn to_params(&self, _names: &[Name]) -> Set {
        todo!()
    }

    /// With other names for dimensions and parameters; `None` keeps one.
    pub fn rename(&self, _new: &dyn Fn(&Name) -> Option<Name>) -> Set {
        todo!()
    }

    /// With an expression in the place of a dimension or parameter, which is gone from the result.
    pub fn substitute(&self, _name: &str, _by: &Affine) -> Result<Set> {
        todo!()
    }

    // ---- questions for the solver ----

    /// The points that are in one or the other, over the same dimensions.
    pub fn union(&self, _other: &Set) -> Result<Set> {
        todo!()
    }

    /// The points that are not in `other`, over the same dimensions.
    pub fn subtract(&self, _other: &Set) -> Result<Set> {
        todo!()
    }

    /// Without those dimensions (or parameters): the points that some value of them completes.
    pub fn project_out(&self, _names: &[Name]) -> Result<Set> {
        todo!()
    }

    /// With those dimensions alone.
    pub fn project_onto(&self, _names: &[Name]) -> Result<Set> {
        todo!()
    }

    /// A set with fewer constraints that is the same wherever `context` holds.
    pub fn gist(&self, _context: &Set) -> Result<Set> {
        todo!()
    }

    /// The same set with fewer pieces and no redundant constraints.
    pub fn simplify(&self) -> Result<Set> {
        todo!()
    }

    /// A set of one piece that contains it, bounded by constraints of its pieces.
    pub fn hull(&self) -> Result<Set> {
        todo!()
    }

    /// Whether no values of the parameters give it a point.
    pub fn is_empty(&self) -> Result<bool> {
        todo!()
    }

    /// Whether each of its points is one of `other`.
    pub fn is_subset(&self, _other: &Set) -> Result<bool> {
        todo!()
    }

    /// Whether they have the same points.
    pub fn is_equal(&self, _other: &Set) -> Result<bool> {
        todo!()
    }

    /// Whether it has finitely many points for each value of the parameters.
    pub fn is_bounded(&self) -> Result<bool> {
        todo!()
    }

    /// The limits of a dimension in its hull, in terms of the other dimensions and the parameters; redundant ones are left out. An
    /// equality gives a limit on both sides.
    pub fn bounds(&self, _name: &str) -> Result<Bounds> {
        todo!()
    }

    /// The smallest value of a dimension, in terms of the parameters (make the outer dimensions parameters first).
    pub fn dim_min(&self, _name: &str) -> Result<Piecewise> {
        todo!()
    }

    /// The largest value of a dimension, in terms of the parameters.
    pub fn dim_max(&self, _name: &str) -> Result<Piecewise> {
        todo!()
    }

    /// One expression of parameters that the dimension never exceeds, as close as one expression can be, under `context` (a set without dimensions).
    pub fn static_max(&self, _name: &str, _context: &Set) -> Result<Affine> {
        todo!()
    }

    /// One expression of parameters below which the dimension never is.
    pub fn static_min(&self, _name: &str, _context: &Set) -> Result<Affine> {
        todo!()
    }

    /// `(m, r)` when each value of the dimension is `r` modulo `m`, for the largest such `m`; `(1, 0)` otherwise.
    pub fn stride(&self, _name: &str) -> Result<(i64, Affine)> {
        todo!()
    }

    /// What a dimension is equal to, in terms of the other dimensions and the parameters, if an equality says so.
    pub fn solve_for(&self, _name: &str) -> Result<Option<Affine>> {
        todo!()
    }

    /// The values of the new dimensions over the points of the set: `{[a]: exists i: a = e(i), i in self}`.
    pub fn image(&self, _functions: &[(Name, Affine)]) -> Result<Set> {
        todo!()
    }

    /// Some point: values of all parameters and dimensions.
    pub fn sample(&self) -> Result<Option<BTreeMap<Name, i64>>> {
        todo!()
    }

    /// Whether the point (values of all parameters and dimensions) is in it; asks nobody.
    pub fn contains(&self, _point: &dyn Fn(&Name) -> Option<i64>) -> Option<bool> {
        todo!()
    }
}

impl fmt::Display for Set {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
