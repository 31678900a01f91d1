//! Questions about sets that take solving.

use std::collections::{BTreeMap, BTreeSet};

use crate::affine::Affine;
use crate::constraint::{Constraint, ConstraintKind};
use crate::error::{IslError, Result};
use crate::name::Name;
use crate::set::{Bound, Bounds, Piecewise, Place, Set};
use crate::solver::{Names, Question, SetHandle, Solver, ask, ask_once};

/// Which end of a range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Smallest,
    Largest,
}

impl Set {
    fn names(&self) -> Names<'_> {
        Names { params: self.params(), dims: self.dims() }
    }

    fn question<'a>(&'a self, kind: &'static str, names: &'a [Name]) -> Question<'a> {
        Question { kind, set: self, other: None, names }
    }

    /// Itself after some operations of isl's, which `kind` names.
    fn ask_for(
        &self,
        kind: &'static str,
        names: &[Name],
        operations: impl for<'s> FnOnce(SetHandle<'s>) -> Result<SetHandle<'s>>,
    ) -> Result<Set> {
        ask_once(self.question(kind, names), |solver| solver.store(operations(solver.load(self)?)?, self.names()))
    }

    /// Both with the same parameters, and dimensions in the same order.
    fn aligned(&self, other: &Set) -> Result<(Set, Set)> {
        if self.dims().len() != other.dims().len() || !self.dims().iter().all(|dim| other.has_dim(dim)) {
            return Err(IslError::DifferentDims { left: self.to_string(), right: other.to_string() });
        }
        Ok((self.add_params(other.params()), other.add_params(self.params()).reorder_dims(self.dims())))
    }

    /// A set of isl's making of two sets over the same dimensions.
    fn ask_with(
        &self,
        kind: &'static str,
        other: &Set,
        operation: impl for<'s> FnOnce(SetHandle<'s>, SetHandle<'s>) -> Result<SetHandle<'s>>,
    ) -> Result<Set> {
        let (left, right) = self.aligned(other)?;
        let question = Question { kind, set: &left, other: Some(&right), names: &[] };
        ask_once(question, |solver| solver.store(operation(solver.load(&left)?, solver.load(&right)?)?, left.names()))
    }

    /// The points that are in one or the other, over the same dimensions.
    ///
    /// # Errors
    /// [`IslError::DifferentDims`]; [`IslError::Missing`] without libisl, as for all questions.
    pub fn union(&self, other: &Set) -> Result<Set> {
        self.ask_with("union", other, |left, right| left.union(right).coalesce())
    }

    /// The points that are not in `other`, over the same dimensions.
    ///
    /// # Errors
    /// As [`Set::union`].
    pub fn subtract(&self, other: &Set) -> Result<Set> {
        self.ask_with("subtract", other, |left, right| left.subtract(right).coalesce())
    }

    /// Without those dimensions (or parameters): the points that some value of them completes.
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
                Place::Dim(place) => dims.insert(place),
                Place::Param(place) => params.insert(place),
            };
        }
        let without = |names: &[Name], gone: &BTreeSet<usize>| -> Vec<Name> {
            names.iter().enumerate().filter(|(place, _)| !gone.contains(place)).map(|(_, name)| name.clone()).collect()
        };
        let (left_params, left_dims) = (without(self.params(), &params), without(self.dims(), &dims));
        ask_once(self.question("project_out", names), |solver| {
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
    }

    /// With those dimensions alone, in that order.
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

    /// A set with fewer constraints that is the same wherever `context` holds. Names mean the same in both: dimensions of the context
    /// that are none of this set count as parameters.
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
        let result = ask_once(question, |solver| solver.store(solver.load(&set)?.gist(solver.load(&context)?), set.names()))?;
        Ok(result.drop_unused_params().add_params(self.params()))
    }

    /// The same set with fewer pieces and no redundant constraints.
    ///
    /// # Errors
    /// [`IslError::Missing`], [`IslError::Isl`].
    pub fn simplify(&self) -> Result<Set> {
        self.ask_for("simplify", &[], |set| Ok(set.coalesce()?.detect_equalities().remove_redundancies()))
    }

    /// A set of one piece that contains it, bounded by constraints of its pieces.
    ///
    /// # Errors
    /// [`IslError::Missing`], [`IslError::Isl`].
    pub fn hull(&self) -> Result<Set> {
        self.ask_for("hull", &[], |set| Ok(set.simple_hull().remove_redundancies()))
    }

    /// Whether no values of the parameters give it a point.
    ///
    /// # Errors
    /// [`IslError::Missing`], [`IslError::Isl`].
    pub fn is_empty(&self) -> Result<bool> {
        match self.pieces() {
            [] => Ok(true),
            pieces if pieces.iter().any(Vec::is_empty) => Ok(false),
            _ => ask_once(self.question("is_empty", &[]), |solver| solver.load(self)?.is_empty()),
        }
    }

    /// Whether each of its points is one of `other`.
    ///
    /// # Errors
    /// [`IslError::DifferentDims`]; [`IslError::Missing`], [`IslError::Isl`].
    pub fn is_subset(&self, other: &Set) -> Result<bool> {
        let (left, right) = self.aligned(other)?;
        if left.pieces().is_empty() || left == right || right.pieces().iter().any(Vec::is_empty) {
            return Ok(true);
        }
        let question = Question { kind: "is_subset", set: &left, other: Some(&right), names: &[] };
        ask_once(question, |solver| solver.load(&left)?.is_subset(&solver.load(&right)?))
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
        ask_once(question, |solver| solver.load(&left)?.is_equal(&solver.load(&right)?))
    }

    /// Whether it has finitely many points for each value of the parameters.
    ///
    /// # Errors
    /// [`IslError::Missing`], [`IslError::Isl`].
    pub fn is_bounded(&self) -> Result<bool> {
        ask_once(self.question("is_bounded", &[]), |solver| solver.load(self)?.is_bounded())
    }

    /// The limits of a dimension in its hull, in terms of the other dimensions and the parameters; redundant ones are left out. An
    /// equality gives a limit on both sides; an empty set the limits 0 and -1. A condition such as `i mod 4 = 1`, which has the dimension
    /// inside a floor, gives the limits that follow from it and no more.
    ///
    /// ```
    /// # use parloop_isl::Set;
    /// let bounds = Set::parse("{[i, j]: 0 <= i <= j and 3*i < n}")?.bounds("i")?;
    /// assert_eq!(bounds.lower.iter().map(ToString::to_string).collect::<Vec<_>>(), ["0"]);
    /// assert_eq!(bounds.upper.iter().map(ToString::to_string).collect::<Vec<_>>(), ["(n - 1)/3", "j"]);
    /// # Ok::<(), parloop_isl::IslError>(())
    /// ```
    ///
    /// # Errors
    /// [`IslError::UnknownName`] when the name is no dimension.
    pub fn bounds(&self, name: &str) -> Result<Bounds> {
        let place = self.dim_place(name)? as u32;
        let hull =
            self.ask_for("bounds", &[Name::from(name)], |set| Ok(set.simple_hull().remove_divs_of_dim(place).remove_redundancies()))?;
        let mut bounds = Bounds::default();
        match hull.pieces() {
            [] => {
                bounds.lower.push(Bound { affine: Affine::constant(0), divisor: 1 });
                bounds.upper.push(Bound { affine: Affine::constant(-1), divisor: 1 });
            }
            pieces => pieces.iter().flatten().try_for_each(|constraint| add_bound(&mut bounds, constraint, name))?,
        }
        Ok(bounds)
    }

    /// The smallest value of a dimension, in terms of the parameters (make the outer dimensions parameters first).
    ///
    /// # Errors
    /// [`IslError::Unbounded`]; [`IslError::UnknownName`] when the name is no dimension.
    pub fn dim_min(&self, name: &str) -> Result<Piecewise> {
        self.extreme(name, End::Smallest)
    }

    /// The largest value of a dimension, in terms of the parameters.
    ///
    /// ```
    /// # use parloop_isl::Set;
    /// let max = Set::parse("{[i]: 0 <= i < n and i < 16}")?.dim_max("i")?;
    /// assert_eq!(max.to_string(), "n - 1 on [n] -> { [] : n <= 15 and n >= 1 }; 15 on [n] -> { [] : n >= 16 }");
    /// # Ok::<(), parloop_isl::IslError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Set::dim_min`].
    pub fn dim_max(&self, name: &str) -> Result<Piecewise> {
        self.extreme(name, End::Largest)
    }

    fn extreme(&self, name: &str, end: End) -> Result<Piecewise> {
        let place = self.dim_place(name)?;
        let of_params = Names { params: self.params(), dims: &[] };
        let read = |solver: &Solver| {
            let pieces = solver.load(self)?.dim_extreme(place as i32, end == End::Largest)?;
            // One part for each expression.
            let mut parts: BTreeMap<Affine, SetHandle<'_>> = BTreeMap::new();
            for (set, affine) in pieces {
                let affine = solver.read_affine(&affine, of_params)?;
                let part = match parts.remove(&affine) {
                    Some(part) => part.union(set),
                    None => set,
                };
                parts.insert(affine, part);
            }
            let read = |(affine, set): (Affine, SetHandle<'_>)| Ok((solver.store(set.coalesce()?, of_params)?, affine));
            let pieces = parts.into_iter().map(read).collect::<Result<Vec<_>>>()?;
            Ok(Piecewise(pieces))
        };
        let kind = if end == End::Largest { "dim_max" } else { "dim_min" };
        ask_once(self.question(kind, &[Name::from(name)]), read).map_err(|error| match error {
            IslError::Isl { message, .. } if message.contains("unbounded") => self.unbounded(name, end, false),
            error => error,
        })
    }

    fn unbounded(&self, name: &str, end: End, as_one_expression: bool) -> IslError {
        let which = match (end, as_one_expression) {
            (End::Smallest, false) => "smallest value",
            (End::Largest, false) => "largest value",
            (End::Smallest, true) => "smallest value that one expression of the parameters gives",
            (End::Largest, true) => "largest value that one expression of the parameters gives",
        };
        IslError::Unbounded { name: name.to_string(), which, set: self.to_string() }
    }

    /// One expression of parameters that the dimension never exceeds, as close as one expression can be, under `context` (a set without
    /// dimensions). Of several that no context tells apart, a number is preferred.
    ///
    /// ```
    /// # use parloop_isl::Set;
    /// let tile = Set::parse("{[i, o]: 0 <= i < 16 and 0 <= 16*o + i < n}")?;
    /// assert_eq!(tile.static_max("i", &Set::parse("{ : n >= 1 }")?)?.to_string(), "15");
    /// # Ok::<(), parloop_isl::IslError>(())
    /// ```
    ///
    /// # Errors
    /// [`IslError::Unbounded`] when there is none.
    pub fn static_max(&self, name: &str, context: &Set) -> Result<Affine> {
        self.static_extreme(name, context, End::Largest)
    }

    /// One expression of parameters below which the dimension never is.
    ///
    /// # Errors
    /// As [`Set::static_max`].
    pub fn static_min(&self, name: &str, context: &Set) -> Result<Affine> {
        self.static_extreme(name, context, End::Smallest)
    }

    fn static_extreme(&self, name: &str, context: &Set, end: End) -> Result<Affine> {
        let inside = self.join(context)?;
        let mut candidates: Vec<Affine> = inside.extreme(name, end)?.0.into_iter().map(|(_, affine)| affine).collect();
        candidates.sort_by_key(|affine| affine.as_constant().is_none());
        candidates.dedup();
        // Nothing is largest in an empty set; zero is as good as any.
        if candidates.is_empty() {
            return Ok(Affine::constant(0));
        }
        if let [only] = &candidates[..] {
            return Ok(only.clone());
        }
        let dimension = Affine::name(name);
        let space = context.add_params(inside.params());
        let mut best: Option<Affine> = None;
        for candidate in candidates {
            let holds = inside.constrain(&[beyond(&dimension, &candidate, end)?])?.is_empty()?;
            // Numbers come first and stay, unless another number is closer.
            let closer = match &best {
                None => true,
                Some(best) if best.as_constant().is_some() && candidate.as_constant().is_none() => false,
                Some(best) => space.constrain(&[beyond(&candidate, best, end)?])?.is_empty()?,
            };
            if holds && closer {
                best = Some(candidate);
            }
        }
        best.ok_or_else(|| self.unbounded(name, end, true))
    }

    /// The largest number that the dimension has for any values of the parameters in `context`; `None` when there is none.
    ///
    /// # Errors
    /// [`IslError::UnknownName`] when the name is no dimension.
    pub fn constant_max(&self, name: &str, context: &Set) -> Result<Option<i64>> {
        self.constant_extreme(name, context, End::Largest)
    }

    /// The smallest number that the dimension has for any values of the parameters in `context`; `None` when there is none.
    ///
    /// # Errors
    /// [`IslError::UnknownName`] when the name is no dimension.
    pub fn constant_min(&self, name: &str, context: &Set) -> Result<Option<i64>> {
        self.constant_extreme(name, context, End::Smallest)
    }

    fn constant_extreme(&self, name: &str, context: &Set, end: End) -> Result<Option<i64>> {
        self.dim_place(name)?;
        let inside = self.join(context)?;
        let numbers = match inside.add_dims(inside.params()).extreme(name, end) {
            Ok(pieces) => pieces.0.into_iter().filter_map(|(_, affine)| affine.as_constant()),
            Err(IslError::Unbounded { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(if end == End::Largest { numbers.max() } else { numbers.min() })
    }

    /// `(m, r)` when each value of the dimension is `r` modulo `m`, for the largest such `m`; `(1, 0)` otherwise.
    ///
    /// # Errors
    /// [`IslError::UnknownName`] when the name is no dimension.
    pub fn stride(&self, name: &str) -> Result<(i64, Affine)> {
        let place = self.dim_place(name)?;
        let (stride, offset) = ask_once(self.question("stride", &[Name::from(name)]), |solver| {
            let (stride, offset) = solver.load(self)?.stride(place as i32)?;
            Ok((stride, solver.read_affine(&offset, self.names())?))
        })?;
        if stride <= 1 || offset.mentions(name) { Ok((1, Affine::constant(0))) } else { Ok((stride, offset)) }
    }

    /// What a dimension is equal to, in terms of the other dimensions and the parameters, if it has one value for each of theirs that one
    /// expression gives.
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
    /// [`IslError::UnknownName`] when the name is no dimension.
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
    /// [`IslError::SameName`] when two of the new names are the same, or one is a parameter.
    pub fn image(&self, functions: &[(Name, Affine)]) -> Result<Set> {
        let mut seen: BTreeSet<&Name> = self.params().iter().collect();
        if let Some((name, _)) = functions.iter().find(|(name, _)| !seen.insert(name)) {
            return Err(IslError::SameName { name: name.to_string(), set: self.to_string() });
        }
        // A sign that no name in text has keeps old dimensions apart from new ones.
        let apart = |name: &Name| self.has_dim(name).then(|| Name::from(format!("{name}'")));
        let old = self.try_rename(&apart)?;
        let new: Vec<Name> = functions.iter().map(|(name, _)| name.clone()).collect();
        let mut constraints = Vec::new();
        for (name, affine) in functions {
            constraints.push(Constraint::zero(affine.rename(&apart).sub(&Affine::name(name))?));
        }
        old.add_dims(&new).constrain(&constraints)?.project_out(old.dims())
    }

    /// Some point: values of all parameters and dimensions.
    ///
    /// # Errors
    /// [`IslError::Missing`], [`IslError::Isl`].
    pub fn sample(&self) -> Result<Option<BTreeMap<Name, i64>>> {
        let all = self.add_dims(self.params());
        let point = ask(|solver| solver.load(&all)?.sample(all.dims().len()))?;
        Ok(point.map(|values| all.dims().iter().cloned().zip(values).collect()))
    }
}

/// Where `a` is beyond `b`: larger than it, or smaller.
fn beyond(a: &Affine, b: &Affine, end: End) -> Result<Constraint> {
    let difference = if end == End::Largest { a.sub(b)? } else { b.sub(a)? };
    Ok(Constraint::not_negative(difference.add(&Affine::constant(-1))?))
}

/// What a constraint says about a name.
fn add_bound(bounds: &mut Bounds, constraint: &Constraint, name: &str) -> Result<()> {
    let coefficient = constraint.affine.coefficient(name);
    if coefficient == 0 {
        return Ok(());
    }
    // coefficient*name + rest is zero, or at least zero.
    let rest = constraint.affine.substitute(name, &Affine::constant(0))?;
    let divisor = coefficient.checked_abs().ok_or_else(|| IslError::Overflow { what: constraint.to_string() })?;
    let affine = if coefficient > 0 { rest.scale(-1)? } else { rest };
    let bound = Bound { affine, divisor };
    match (constraint.kind, coefficient > 0) {
        (ConstraintKind::NotNegative, true) => bounds.lower.push(bound),
        (ConstraintKind::NotNegative, false) => bounds.upper.push(bound),
        (ConstraintKind::Zero, _) => {
            bounds.lower.push(bound.clone());
            bounds.upper.push(bound);
        }
    }
    Ok(())
}

/// What an equality with a coefficient of 1 or -1 gives for a name.
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
