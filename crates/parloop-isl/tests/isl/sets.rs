//! Random sets over `i`, `j` with parameter `n`, all inside a small box, and the points of that box.

use std::ops::RangeInclusive;

use parloop_isl::{Affine, Constraint, Name, Set};
use proptest::prelude::*;

/// The range of `n`, `i` and `j` in every random set.
pub const BOX: RangeInclusive<i64> = -4..=4;

pub fn name(text: &str) -> Name {
    Name::from(text)
}

/// All points `(n, i, j)` of the box.
pub fn points() -> impl Iterator<Item = [i64; 3]> {
    BOX.flat_map(|n| BOX.flat_map(move |i| BOX.map(move |j| [n, i, j])))
}

/// A point as names with values.
pub fn at([n, i, j]: [i64; 3]) -> impl Fn(&Name) -> Option<i64> {
    move |name| match name.as_str() {
        "n" => Some(n),
        "i" => Some(i),
        "j" => Some(j),
        _ => None,
    }
}

pub fn has(set: &Set, point: [i64; 3]) -> bool {
    set.contains(&at(point)).expect("all names have values")
}

fn affine() -> impl Strategy<Value = Affine> {
    let plain = ([-3i64..=3, -3i64..=3, -2i64..=2], -6i64..=6).prop_map(|([i, j, n], constant)| {
        let scaled = |name: &str, factor| Affine::name(name).scale(factor).unwrap();
        scaled("i", i).add(&scaled("j", j)).unwrap().add(&scaled("n", n)).unwrap().add(&Affine::constant(constant)).unwrap()
    });
    let floored = (plain.clone(), 2i64..=5, -3i64..=3, plain.clone())
        .prop_map(|(inner, divisor, factor, rest)| rest.plus(&Affine::floor(&inner, divisor).unwrap(), factor).unwrap());
    let nested = (plain.clone(), 2i64..=3, 2i64..=3, plain.clone()).prop_map(|(inner, first, second, rest)| {
        let floor = Affine::floor(&inner, first).unwrap().add(&Affine::name("j")).unwrap();
        rest.add(&Affine::floor(&floor, second).unwrap()).unwrap()
    });
    prop_oneof![6 => plain, 3 => floored, 1 => nested]
}

fn constraint() -> impl Strategy<Value = Constraint> {
    (affine(), prop::bool::weighted(0.2))
        .prop_map(|(affine, equal)| if equal { Constraint::zero(affine) } else { Constraint::not_negative(affine) })
}

/// The box as constraints on those names.
pub fn boxed(names: &[&str]) -> Vec<Constraint> {
    let limit =
        |name: &str, sign: i64| Constraint::not_negative(Affine::name(name).scale(sign).unwrap().add(&Affine::constant(4)).unwrap());
    names.iter().flat_map(|name| [limit(name, 1), limit(name, -1)]).collect()
}

/// Sets over `i` and `j`: of up to two pieces with floors, or of one without.
pub fn set() -> impl Strategy<Value = Set> {
    prop_oneof![pieces(), plain_set()]
}

fn pieces() -> impl Strategy<Value = Set> {
    let piece = prop::collection::vec(constraint(), 0..4);
    prop::collection::vec(piece, 1..3).prop_map(|pieces| {
        let dims = [name("i"), name("j")];
        let sets = pieces.into_iter().map(|piece| Set::bounded(&dims, piece).constrain(&boxed(&["n", "i", "j"])).unwrap());
        sets.reduce(|a, b| a.union(&b).unwrap()).unwrap()
    })
}

/// Sets of one piece that has no floors.
pub fn plain_set() -> impl Strategy<Value = Set> {
    prop::collection::vec(constraint(), 0..5).prop_map(|piece| {
        let piece = piece.into_iter().filter(|constraint| !constraint.affine.has_floors()).collect();
        Set::bounded(&[name("i"), name("j")], piece).constrain(&boxed(&["n", "i", "j"])).unwrap()
    })
}
