//! Bounds of dimensions, and their smallest and largest values.

use std::collections::BTreeMap;

use crate::affine::Affine;
use crate::constraint::{Constraint, ConstraintKind, Piece, normalise};
use crate::error::{IslError, Result};
use crate::local;
use crate::name::Name;
use crate::set::{Bound, Bounds, Piecewise, Set};
use crate::solver::{Names, Question, SetHandle, Solver, ask, once};

/// Which end of a range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Smallest,
    Largest,
}

impl Set {
    /// The bounds of a dimension in its hull, in terms of the other dimensions and the parameters, without redundant ones. An equality
    /// gives a bound on both sides; an empty set has the bounds 0 and -1. A condition such as `i mod 4 = 1`, which has the dimension inside
    /// a floor, contributes only the bounds that follow from it.
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
    /// [`IslError::UnknownName`] if the name is not a dimension.
    pub fn bounds(&self, name: &str) -> Result<Bounds> {
        let place = self.dim_place(name)? as u32;
        let hull = once(self.question("bounds", &[Name::from(name)]), || {
            if let [piece] = self.pieces()
                && !piece.iter().any(|constraint| local::is_inside_floor(&constraint.affine, name))
                && let Some(empty) = local::is_empty(piece)
            {
                let needed = |constraint: &Constraint| constraint.affine.coefficient(name) != 0;
                let tight = || local::without_implied(&local::tighten(piece, name), &Piece::new(), needed);
                return Ok(self.with_piece((!empty).then(tight)));
            }
            self.ask_for(|set| Ok(set.simple_hull().remove_divs_of_dim(place).remove_redundancies()))
        })?;
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
    /// [`IslError::Unbounded`]; [`IslError::UnknownName`] if the name is not a dimension.
    pub fn dim_min(&self, name: &str) -> Result<Piecewise> {
        self.extreme(name, End::Smallest)
    }

    /// The largest value of a dimension, in terms of the parameters.
    ///
    /// ```
    /// # use parloop_isl::Set;
    /// let max = Set::parse("{[i]: 0 <= i < n and i < 16}")?.dim_max("i")?;
    /// assert_eq!(max.to_string(), "15 on [n] -> { [] : n >= 16 }; n - 1 on [n] -> { [] : n <= 15 and n >= 1 }");
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
        let kind = if end == End::Largest { "dim_max" } else { "dim_min" };
        once(self.question(kind, &[Name::from(name)]), || match self.extreme_here(name, end)? {
            Some(pieces) => Ok(pieces),
            None => ask(|solver| self.extreme_by_isl(solver, place, end)),
        })
        .map_err(|error| match error {
            IslError::Isl { message, .. } if message.contains("unbounded") => self.unbounded(name, end, false),
            error => error,
        })
    }

    fn extreme_by_isl(&self, solver: &Solver, place: usize, end: End) -> Result<Piecewise> {
        let of_params = Names { params: self.params(), dims: &[] };
        // One part for each expression.
        let mut parts: BTreeMap<Affine, SetHandle<'_>> = BTreeMap::new();
        for (set, affine) in solver.load(self)?.dim_extreme(place as i32, end == End::Largest)? {
            let affine = solver.read_affine(&affine, of_params)?;
            let part = match parts.remove(&affine) {
                Some(part) => part.union(set),
                None => set,
            };
            parts.insert(affine, part);
        }
        let read = |(affine, set): (Affine, SetHandle<'_>)| Ok((solver.store(set.coalesce()?, of_params)?, affine));
        parts.into_iter().map(read).collect::<Result<_>>().map(Piecewise)
    }

    /// The bounds of a dimension on one side in terms of the parameters, if all other dimensions can be eliminated exactly, and the
    /// remaining piece; `None` if isl is needed. An empty set leaves no piece.
    fn limits_here(&self, name: &str, end: End) -> Option<(Option<Piece>, Vec<Affine>)> {
        let others: Vec<Name> = self.dims().iter().filter(|dim| *dim != name).cloned().collect();
        let Some(alone) = local::project_out(self.plain_piece()?, &others)? else { return Some((None, Vec::new())) };
        if local::is_empty(&alone)? {
            return Some((None, Vec::new()));
        }
        let mut bounds = Bounds::default();
        alone.iter().try_for_each(|constraint| add_bound(&mut bounds, constraint, name)).ok()?;
        let limit = |bound: Bound| match end {
            End::Largest => Affine::floor(&bound.affine, bound.divisor),
            End::Smallest => Affine::floor(&bound.affine.scale(-1)?, bound.divisor)?.scale(-1),
        };
        let bounds = if end == End::Largest { bounds.upper } else { bounds.lower };
        let mut limits = bounds.into_iter().map(limit).collect::<Result<Vec<Affine>>>().ok()?;
        limits.sort_unstable();
        limits.dedup();
        Some((Some(alone), limits))
    }

    /// The extreme value, if it can be found without isl: each bound, where it is the tightest.
    fn extreme_here(&self, name: &str, end: End) -> Result<Option<Piecewise>> {
        let Some((alone, limits)) = self.limits_here(name, end) else { return Ok(None) };
        let Some(alone) = alone else { return Ok(Some(Piecewise(Vec::new()))) };
        if limits.is_empty() {
            return Err(self.unbounded(name, end, false));
        }
        let Some(Some(domain)) = local::project_out(&alone, &[Name::from(name)]) else { return Ok(None) };
        let mut pieces = Vec::new();
        for (place, limit) in limits.iter().enumerate() {
            let mut piece = domain.clone();
            for (other_place, other) in limits.iter().enumerate().filter(|(other, _)| *other != place) {
                // Of two equal bounds, the first is used.
                let closer = if end == End::Largest { other.sub(limit)? } else { limit.sub(other)? };
                let strictly = i64::from(other_place < place);
                piece.push(Constraint::not_negative(closer.add(&Affine::constant(-strictly))?));
            }
            let Some(piece) = normalise(piece) else { continue };
            match local::is_empty(&piece) {
                Some(true) => {}
                Some(false) => pieces.push((piece, limit.clone())),
                None => return Ok(None),
            }
        }
        let set = |piece: Piece| Set::from_pieces(self.params().to_vec(), Vec::new(), vec![local::simplify(&piece)]);
        Ok(Some(Piecewise(pieces.into_iter().map(|(piece, limit)| (set(piece), limit)).collect())))
    }

    fn unbounded(&self, name: &str, end: End, as_one_expression: bool) -> IslError {
        let which = match (end, as_one_expression) {
            (End::Smallest, false) => "smallest value",
            (End::Largest, false) => "largest value",
            (End::Smallest, true) => "smallest value that is a single expression in the parameters",
            (End::Largest, true) => "largest value that is a single expression in the parameters",
        };
        IslError::Unbounded { name: name.to_string(), which, set: self.to_string() }
    }

    /// One expression of parameters that is an upper bound of the dimension, as tight as a single expression can be, under `context` (a set
    /// without dimensions). Among several incomparable bounds, a number is preferred.
    ///
    /// ```
    /// # use parloop_isl::Set;
    /// let tile = Set::parse("{[i, o]: 0 <= i < 16 and 0 <= 16*o + i < n}")?;
    /// assert_eq!(tile.static_max("i", &Set::parse("{ : n >= 1 }")?)?.to_string(), "15");
    /// # Ok::<(), parloop_isl::IslError>(())
    /// ```
    ///
    /// # Errors
    /// [`IslError::Unbounded`] if there is none.
    pub fn static_max(&self, name: &str, context: &Set) -> Result<Affine> {
        self.static_extreme(name, context, End::Largest)
    }

    /// One expression of parameters that is a lower bound of the dimension.
    ///
    /// # Errors
    /// As [`Set::static_max`].
    pub fn static_min(&self, name: &str, context: &Set) -> Result<Affine> {
        self.static_extreme(name, context, End::Smallest)
    }

    fn static_extreme(&self, name: &str, context: &Set, end: End) -> Result<Affine> {
        self.dim_place(name)?;
        let kind = if end == End::Largest { "static_max" } else { "static_min" };
        let question = Question { kind, set: self, other: Some(context), names: &[Name::from(name)] };
        once(question, || self.find_static_extreme(name, context, end))
    }

    fn find_static_extreme(&self, name: &str, context: &Set, end: End) -> Result<Affine> {
        let inside = self.join(context)?;
        // All bounds of one piece hold; of several pieces, any may be the extreme.
        let (mut candidates, all_hold) = match inside.limits_here(name, end) {
            Some((Some(_), limits)) if limits.is_empty() => return Err(self.unbounded(name, end, false)),
            Some((_, limits)) => (limits, true),
            None => {
                let values: Vec<Affine> = inside.extreme(name, end)?.0.into_iter().map(|(_, affine)| affine).collect();
                let single = values.len() == 1;
                (values, single)
            }
        };
        // An empty set has no largest value; any will do.
        if candidates.is_empty() {
            return Ok(Affine::constant(0));
        }
        candidates.sort_by_key(|affine| affine.as_constant().is_none());
        let dimension = Affine::name(name);
        let params = inside.to_params(inside.dims());
        let mut best: Option<Affine> = None;
        for candidate in candidates {
            if !all_hold && !inside.constrain(&[beyond(&dimension, &candidate, end)?])?.is_empty()? {
                continue;
            }
            // Numbers come first and stay, unless another number is tighter.
            let closer = match &best {
                None => true,
                Some(best) if best.as_constant().is_some() && candidate.as_constant().is_none() => false,
                Some(best) => params.constrain(&[beyond(&candidate, best, end)?])?.is_empty()?,
            };
            if closer {
                best = Some(candidate);
            }
        }
        best.ok_or_else(|| self.unbounded(name, end, true))
    }

    /// The largest value of the dimension over all values of the parameters in `context`; `None` if there is none.
    ///
    /// # Errors
    /// [`IslError::UnknownName`] if the name is not a dimension.
    pub fn constant_max(&self, name: &str, context: &Set) -> Result<Option<i64>> {
        self.constant_extreme(name, context, End::Largest)
    }

    /// The smallest value of the dimension over all values of the parameters in `context`; `None` if there is none.
    ///
    /// # Errors
    /// [`IslError::UnknownName`] if the name is not a dimension.
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
}

/// Where `a` is beyond `b`: larger than it, or smaller.
fn beyond(a: &Affine, b: &Affine, end: End) -> Result<Constraint> {
    let difference = if end == End::Largest { a.sub(b)? } else { b.sub(a)? };
    Ok(Constraint::not_negative(difference.add(&Affine::constant(-1))?))
}

/// The bound that a constraint puts on a name.
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
