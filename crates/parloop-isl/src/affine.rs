//! Affine expressions over named integers, with integer divisions inside.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::name::Name;

/// What a coefficient multiplies.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A named integer: a parameter or a dimension of a set.
    Name(Name),
    /// `floor(affine / divisor)`; the divisor is at least 2.
    Floor(Arc<Affine>, i64),
}

/// `constant + sum of coefficient * atom`; no coefficient is zero, atoms are in order, each once.
///
/// ```
/// use parloop_isl::Affine;
/// let i = Affine::name("i");
/// let e = i.clone().scale(16).unwrap().add(&Affine::constant(3)).unwrap();
/// assert_eq!(e.to_string(), "16*i + 3");
/// assert_eq!(e.sub(&e).unwrap(), Affine::constant(0));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Affine {
    terms: BTreeMap<Atom, i64>,
    constant: i64,
}

use std::collections::BTreeSet;
use std::fmt;

use crate::error::Result;

impl Affine {
    /// That number.
    pub fn constant(value: i64) -> Affine {
        Affine { terms: BTreeMap::new(), constant: value }
    }

    /// That named integer.
    pub fn name(name: impl Into<Name>) -> Affine {
        Affine { terms: BTreeMap::from([(Atom::Name(name.into()), 1)]), constant: 0 }
    }

    /// `floor(affine / divisor)`, with what the divisor divides taken out; the divisor is at least 1.
    pub fn floor(_affine: &Affine, _divisor: i64) -> Result<Affine> {
        todo!()
    }

    /// `affine - divisor * floor(affine / divisor)`.
    pub fn modulo(_affine: &Affine, _divisor: i64) -> Result<Affine> {
        todo!()
    }

    /// Its atoms with their coefficients, in order.
    pub fn terms(&self) -> impl Iterator<Item = (&Atom, i64)> {
        self.terms.iter().map(|(atom, &coefficient)| (atom, coefficient))
    }

    /// The number beside the terms.
    pub fn constant_term(&self) -> i64 {
        self.constant
    }

    /// The number that it is, if it has no terms.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The name that it is, if it is nothing else.
    pub fn as_name(&self) -> Option<&Name> {
        todo!()
    }

    /// The coefficient of a name, not counting those inside floors.
    pub fn coefficient(&self, _name: &str) -> i64 {
        todo!()
    }

    /// All names in it, those inside floors too.
    pub fn names(&self) -> BTreeSet<Name> {
        todo!()
    }

    /// Whether the name is anywhere in it.
    pub fn mentions(&self, _name: &str) -> bool {
        todo!()
    }

    /// `self + other`.
    pub fn add(&self, _other: &Affine) -> Result<Affine> {
        todo!()
    }

    /// `self - other`.
    pub fn sub(&self, _other: &Affine) -> Result<Affine> {
        todo!()
    }

    /// `factor * self`.
    pub fn scale(&self, _factor: i64) -> Result<Affine> {
        todo!()
    }

    /// With an expression in place of a name, inside floors too.
    pub fn substitute(&self, _name: &str, _by: &Affine) -> Result<Affine> {
        todo!()
    }

    /// With other names; `None` keeps one.
    pub fn rename(&self, _new: &dyn Fn(&Name) -> Option<Name>) -> Affine {
        todo!()
    }

    /// Its value where each name has one; `None` when one has none or the value does not fit.
    pub fn evaluate(&self, _value: &dyn Fn(&Name) -> Option<i64>) -> Option<i64> {
        todo!()
    }
}

impl fmt::Display for Affine {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
