//! Queries about sets that need a solver: parts, projections, comparisons. Bounds and extremes are in `extreme.rs`.
//!
//! Queries about a piece with small numbers are answered in `local`; everything else goes to libisl.

use std::collections::{BTreeMap, BTreeSet};

use crate::affine::Affine;
use crate::constraint::{Constraint, ConstraintKind, Piece};
use crate::error::{IslError, Result};
use crate::local;
use crate::name::Name;
use crate::set::{NamePosition, Piecewise, Set};
use crate::solver::{Names, Question, SetHandle, ask, once};

impl Set {
    pub(crate) fn names(&self) -> Names<'_> {
        Names { params: self.params(), dims: self.dims() }
    }

    pub(crate) fn question<'a>(&'a self, kind: &'static str, names: &'a [Name]) -> Question<'a> {
        Question { kind, set: self, other: None, names }
    }

    /// Applies operations of isl to the set.
    pub(crate) fn ask_for(&self, operations: impl for<'s> FnOnce(SetHandle<'s>) -> Result<SetHandle<'s>>) -> Result<Set> {
        ask(|solver| solver.store(operations(solver.load(self)?)?, self.names()))
    }

    /// Its piece, if it has exactly one and that has no floors.
    pub(crate) fn plain_piece(&self) -> Option<&Piece> {
        match self.pieces() {
            [piece] if !piece.iter().any(|constraint| constraint.affine.has_floors()) => Some(piece),
            _ => None,
        }
    }

    /// Replaces its piece; `None` gives the empty set.
    pub(crate) fn with_piece(&self, piece: Option<Piece>) -> Set {
        Set::from_pieces(self.params().to_vec(), self.dims().to_vec(), piece.into_iter().collect())
    }

    /// Both sets with the same parameters, and dimensions in the same order.
    fn aligned(&self, other: &Set) -> Result<(Set, Set)> {
        if self.dims().len() != other.dims().len() || !self.dims().iter().all(|dim| other.has_dim(dim)) {
            return Err(IslError::DifferentDims { left: self.to_string(), right: other.to_string() });
        }
        Ok((self.add_params(other.params()), other.add_params(self.params()).reorder_dims(self.dims())))
    }

    /// Combines two sets over the same dimensions with isl.
    fn ask_with(
        &self,
        kind: &'static str,
        other: &Set,
        operation: impl for<'s> FnOnce(SetHandle<'s>, SetHandle<'s>) -> Result<SetHandle<'s>>,
    ) -> Result<Set> {
        let (left, right) = self.aligned(other)?;
        let question = Question { kind, set: &left, other: Some(&right), names: &[] };
        once(question, || ask(|solver| solver.store(operation(solver.load(&left)?, solver.load(&right)?)?, left.names())))
    }

    /// The points that are in one or the other, over the same dimensions.
    ///
    /// # Errors
    /// [`IslError::DifferentDims`]; [`IslError::Missing`] without libisl, as for all queries.
    pub fn union(&self, other: &Set) -> Result<Set> {
        // If one side is empty, there is nothing to solve.
        let (left, right) = self.aligned(other)?;
        match (left.pieces(), right.pieces()) {
            ([], _) => return Ok(right),
            (_, []) => return Ok(left),
            _ => {}
        }
        self.ask_with("union", other, |left, right| left.union(right).coalesce())
    }

    /// The points that are not in `other`, over the same dimensions.
    ///
    /// # Errors
    /// As [`Set::union`].
    pub fn subtract(&self, other: &Set) -> Result<Set> {
        self.ask_with("subtract", other, |left, right| left.subtract(right).coalesce())
    }

    /// Projects out those dimensions (or parameters).
    ///
    /// ```
    /// # use parloop_isl::Set;
    /// let even = Set::parse("{[i, j]: 0 <= i = 2*j}")?.project_out(&["j".into()])?;
    /// assert_eq!(even.to_string(), "{ [i] : i = 2*floor(i/2) and i >= 0 }");
    /// # Ok::<(), parloop_isl::IslError>(())
    /// ```
    ///
    /// # Errors
    /// [`IslError::UnknownName`].
    pub fn project_out(&self, names: &[Name]) -> Result<Set> {
        if names.is_empty() {
            return Ok(self.clone());
        }
        let mut dims = BTreeSet::new();
        let mut params = BTreeSet::new();
        for name in names {
            match self.place_of(name)? {
                NamePosition::Dim(place) => dims.insert(place),
                NamePosition::Param(place) => params.insert(place),
            };
        }
        let without = |names: &[Name], gone: &BTreeSet<usize>| -> Vec<Name> {
            names.iter().enumerate().filter(|(place, _)| !gone.contains(place)).map(|(_, name)| name.clone()).collect()
        };
        let (left_params, left_dims) = (without(self.params(), &params), without(self.dims(), &dims));
        once(self.question("project_out", names), || {
            if let [piece] = self.pieces()
                && let Some(projected) = local::project_out(piece, names)
            {
                return Ok(Set::from_pieces(left_params, left_dims, projected.into_iter().collect()));
            }
            ask(|solver| {
                let mut set = solver.load(self)?;
                for &place in dims.iter().rev() {
                    set = set.project_out_dims(place as u32, 1);
                }
                for &place in params.iter().rev() {
                    set = set.project_out_params(place as u32, 1);
                }
                let set = set.compute_divs().coalesce()?.detect_equalities().remove_redundancies();
                solver.store(set, Names { params: &left_params, dims: &left_dims })
            })
        })
    }

    /// Projects onto those dimensions, in that order.
    ///
    /// # Errors
    /// [`IslError::UnknownName`].
    pub fn project_onto(&self, names: &[Name]) -> Result<Set> {
        for name in names {
            self.dim_place(name)?;
        }
        let others: Vec<Name> = self.dims().iter().filter(|dim| !names.contains(dim)).cloned().collect();
        Ok(self.project_out(&others)?.reorder_dims(names))
    }

    /// A set with fewer constraints that equals this one wherever `context` holds. Names are shared: dimensions of the context that this
    /// set does not have count as parameters.
    ///
    /// ```
    /// # use parloop_isl::Set;
    /// let tile = Set::parse("{[i]: 0 <= i < 16 and 16*o + i < n}")?;
    /// let context = Set::parse("[n] -> {[i, o]: 0 <= i < 16}")?;
    /// assert_eq!(tile.gist(&context)?.to_string(), "[n, o] -> { [i] : i + 16*o < n }");
    /// # Ok::<(), parloop_isl::IslError>(())
    /// ```
    ///
    /// # Errors
    /// [`IslError::Missing`], [`IslError::Isl`].
    pub fn gist(&self, context: &Set) -> Result<Set> {
        let further: Vec<Name> = context.params().iter().chain(context.dims()).filter(|name| !self.has_dim(name)).cloned().collect();
        let set = self.add_params(&further);
        let context = Set::from_pieces(set.params().to_vec(), self.dims().to_vec(), context.pieces().to_vec());
        let question = Question { kind: "gist", set: &set, other: Some(&context), names: &[] };
        let result = once(question, || {
            if let ([piece], [known]) = (set.pieces(), context.pieces())
                && let Some(gist) = local::gist(piece, known)
            {
                return Ok(set.with_piece(Some(gist)));
            }
            ask(|solver| solver.store(solver.load(&set)?.gist(solver.load(&context)?), set.names()))
        })?;
        Ok(result.drop_unused_params().add_params(self.params()))
    }

    /// The same set with fewer pieces and no redundant constraints.
    ///
    /// # Errors
    /// [`IslError::Missing`], [`IslError::Isl`].
    pub fn simplify(&self) -> Result<Set> {
        once(self.question("simplify", &[]), || match self.plain_piece() {
            Some(piece) => {
                let empty = local::is_empty(piece) == Some(true);
                Ok(self.with_piece((!empty).then(|| local::simplify(piece))))
            }
            None => self.ask_for(|set| Ok(set.coalesce()?.detect_equalities().remove_redundancies())),
        })
    }

    /// A set of one piece that contains it, bounded by constraints of its pieces.
    ///
    /// # Errors
    /// [`IslError::Missing`], [`IslError::Isl`].
    pub fn hull(&self) -> Result<Set> {
        match self.plain_piece() {
            Some(_) => self.simplify(),
            None => once(self.question("hull", &[]), || self.ask_for(|set| Ok(set.simple_hull().remove_redundancies()))),
        }
    }

    /// Whether it is empty for all values of the parameters.
    ///
    /// # Errors
    /// [`IslError::Missing`], [`IslError::Isl`].
    pub fn is_empty(&self) -> Result<bool> {
        match self.pieces() {
            [] => Ok(true),
            pieces if pieces.iter().any(Vec::is_empty) => Ok(false),
            pieces => once(self.question("is_empty", &[]), || {
                let mut known = true;
                for piece in pieces {
                    match local::is_empty(piece) {
                        Some(false) => return Ok(false),
                        Some(true) => {}
                        None => known = false,
                    }
                }
                if known { Ok(true) } else { ask(|solver| solver.load(self)?.is_empty()) }
            }),
        }
    }

    /// Whether each of its points is in `other`.
    ///
    /// # Errors
    /// [`IslError::DifferentDims`]; [`IslError::Missing`], [`IslError::Isl`].
    pub fn is_subset(&self, other: &Set) -> Result<bool> {
        let (left, right) = self.aligned(other)?;
        if left.pieces().is_empty() || left == right || right.pieces().iter().any(Vec::is_empty) {
            return Ok(true);
        }
        let question = Question { kind: "is_subset", set: &left, other: Some(&right), names: &[] };
        once(question, || match is_within(&left, &right) {
            Some(known) => Ok(known),
            None => ask(|solver| solver.load(&left)?.is_subset(&solver.load(&right)?)),
        })
    }

    /// Whether they have the same points.
    ///
    /// # Errors
    /// As [`Set::is_subset`].
    pub fn is_equal(&self, other: &Set) -> Result<bool> {
        let (left, right) = self.aligned(other)?;
        if left == right {
            return Ok(true);
        }
        let question = Question { kind: "is_equal", set: &left, other: Some(&right), names: &[] };
        once(question, || match (is_within(&left, &right), is_within(&right, &left)) {
            (Some(false), _) | (_, Some(false)) => Ok(false),
            (Some(true), Some(true)) => Ok(true),
            _ => ask(|solver| solver.load(&left)?.is_equal(&solver.load(&right)?)),
        })
    }

    /// Whether it has finitely many points for each value of the parameters.
    ///
    /// # Errors
    /// [`IslError::Missing`], [`IslError::Isl`].
    pub fn is_bounded(&self) -> Result<bool> {
        once(self.question("is_bounded", &[]), || ask(|solver| solver.load(self)?.is_bounded()))
    }

    /// `(m, r)` when each value of the dimension is `r` modulo `m`, for the largest such `m`; `(1, 0)` otherwise.
    ///
    /// # Errors
    /// [`IslError::UnknownName`] if the name is not a dimension.
    pub fn stride(&self, name: &str) -> Result<(i64, Affine)> {
        let place = self.dim_place(name)?;
        // Without equalities and floors, all remainders occur.
        if self.plain_piece().is_some_and(|piece| piece.iter().all(|constraint| constraint.kind == ConstraintKind::NotNegative)) {
            return Ok((1, Affine::constant(0)));
        }
        let (stride, offset) = once(self.question("stride", &[Name::from(name)]), || {
            ask(|solver| {
                let (stride, offset) = solver.load(self)?.stride(place as i32)?;
                Ok((stride, solver.read_affine(&offset, self.names())?))
            })
        })?;
        if stride <= 1 || offset.mentions(name) { Ok((1, Affine::constant(0))) } else { Ok((stride, offset)) }
    }

    /// The value of a dimension in terms of the other dimensions and the parameters, if they determine it by a single expression.
    ///
    /// ```
    /// # use parloop_isl::Set;
    /// let tiles = Set::parse("{[i, o]: 4*o <= i <= 4*o + 3}")?;
    /// assert_eq!(tiles.solve_for("o")?.map(|o| o.to_string()).as_deref(), Some("floor(i/4)"));
    /// assert_eq!(tiles.solve_for("i")?, None);
    /// # Ok::<(), parloop_isl::IslError>(())
    /// ```
    ///
    /// # Errors
    /// [`IslError::UnknownName`] if the name is not a dimension.
    pub fn solve_for(&self, name: &str) -> Result<Option<Affine>> {
        self.dim_place(name)?;
        let others: Vec<Name> = self.dims().iter().filter(|dim| *dim != name).cloned().collect();
        let alone = self.to_params(&others);
        if let [piece] = self.pieces()
            && let Some(affine) = piece.iter().find_map(|constraint| solved(constraint, name))
        {
            return affine.map(Some);
        }
        if !ask(|solver| solver.load(&alone)?.into_map(0).is_single_valued())? {
            return Ok(None);
        }
        match alone.dim_max(name) {
            Ok(Piecewise(pieces)) => match <[_; 1]>::try_from(pieces) {
                Ok([(_, affine)]) => Ok(Some(affine)),
                Err(_) => Ok(None),
            },
            Err(IslError::Unbounded { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The values of the new dimensions over the points of the set: `{[a]: exists i: a = e(i), i in self}`.
    ///
    /// ```
    /// # use parloop_isl::{Affine, Set};
    /// let reads = Set::parse("{[i, j]: 0 <= i < 4 and 0 <= j < n}")?;
    /// let footprint = reads.image(&[("a".into(), Affine::name("i").add(&Affine::name("j"))?)])?;
    /// assert!(footprint.is_equal(&Set::parse("{[a]: 0 <= a < n + 3 and n >= 1}")?)?);
    /// # Ok::<(), parloop_isl::IslError>(())
    /// ```
    ///
    /// # Errors
    /// [`IslError::SameName`] if two of the new names are the same, or one is a parameter.
    pub fn image(&self, functions: &[(Name, Affine)]) -> Result<Set> {
        let mut seen: BTreeSet<&Name> = self.params().iter().collect();
        if let Some((name, _)) = functions.iter().find(|(name, _)| !seen.insert(name)) {
            return Err(IslError::SameName { name: name.to_string(), set: self.to_string() });
        }
        // A character that names cannot contain keeps old dimensions apart from new ones.
        let apart = |name: &Name| self.has_dim(name).then(|| Name::from(format!("{name}'")));
        let old = self.rename(&apart)?;
        let new: Vec<Name> = functions.iter().map(|(name, _)| name.clone()).collect();
        let mut constraints = Vec::new();
        for (name, affine) in functions {
            constraints.push(Constraint::zero(affine.rename(&apart)?.sub(&Affine::name(name))?));
        }
        old.add_dims(&new).constrain(&constraints)?.project_out(old.dims())
    }

    /// Some point: values of all parameters and dimensions.
    ///
    /// # Errors
    /// [`IslError::Missing`], [`IslError::Isl`].
    pub fn sample(&self) -> Result<Option<BTreeMap<Name, i64>>> {
        let all = self.add_dims(self.params());
        let point = ask(|solver| solver.load(&all)?.sample(all.dims().len())).map_err(|error| self.question("sample", &[]).about(error))?;
        Ok(point.map(|values| all.dims().iter().cloned().zip(values).collect()))
    }
}

/// Whether each piece of a set is inside a piece of another, as far as can be decided without isl.
fn is_within(set: &Set, other: &Set) -> Option<bool> {
    let mut all = Some(true);
    for piece in set.pieces() {
        let inside = match other.pieces() {
            // A piece that is inside none of several can still be inside their union.
            [] => local::is_empty(piece),
            [only] => local::is_within(piece, only),
            several => several.iter().any(|other| local::is_within(piece, other) == Some(true)).then_some(true),
        };
        match inside {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }
    all
}

/// The value that an equality with a coefficient of 1 or -1 gives for a name.
fn solved(constraint: &Constraint, name: &str) -> Option<Result<Affine>> {
    let coefficient = constraint.affine.coefficient(name);
    if constraint.kind != ConstraintKind::Zero || coefficient.abs() != 1 {
        return None;
    }
    let rest = match constraint.affine.plus(&Affine::name(name), -coefficient) {
        Ok(rest) => rest,
        Err(error) => return Some(Err(error)),
    };
    (!rest.mentions(name)).then(|| rest.scale(-coefficient))
}
