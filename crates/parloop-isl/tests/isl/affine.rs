//! Arithmetic of expressions.

use parloop_isl::{Affine, IslError};
use proptest::prelude::*;

fn sum(terms: &[(&str, i64)], constant: i64) -> Affine {
    terms.iter().fold(Affine::constant(constant), |sum, (name, factor)| sum.plus(&Affine::name(*name), *factor).unwrap())
}

proptest! {
    #[test]
    fn floors_and_remainders_have_the_values_of_their_definition([a, b, c] in [-40i64..40, -40i64..40, -40i64..40], d in 1i64..20, e in 1i64..6, [x, y] in [-50i64..50, -50i64..50]) {
        let at = |name: &parloop_isl::Name| Some(if name == "x" { x } else { y });
        let affine = sum(&[("x", a), ("y", b)], c);
        let value = a * x + b * y + c;
        let floor = Affine::floor(&affine, d).unwrap();
        prop_assert_eq!(floor.evaluate(&at), Some(value.div_euclid(d)));
        prop_assert_eq!(Affine::modulo(&affine, d).unwrap().evaluate(&at), Some(value.rem_euclid(d)));
        let nested = Affine::floor(&floor.add(&affine).unwrap(), e).unwrap();
        prop_assert_eq!(nested.evaluate(&at), Some((value.div_euclid(d) + value).div_euclid(e)));
        let negated = Affine::floor(&affine.scale(-1).unwrap(), d).unwrap().scale(-1).unwrap();
        prop_assert_eq!(negated.evaluate(&at), Some(-(-value).div_euclid(d)));
    }

    #[test]
    fn equal_floors_are_written_alike([a, b, c] in [-9i64..9, -9i64..9, -9i64..9], d in 2i64..9, k in 1i64..5, m in -3i64..3) {
        let affine = sum(&[("x", a), ("y", b)], c);
        let floor = Affine::floor(&affine, d).unwrap();
        prop_assert_eq!(&Affine::floor(&affine.scale(k).unwrap(), d * k).unwrap(), &floor);
        let shifted = Affine::floor(&affine.plus(&Affine::name("x"), m * d).unwrap(), d).unwrap();
        prop_assert_eq!(shifted, floor.plus(&Affine::name("x"), m).unwrap());
        let simple = sum(&[("x", 1)], c);
        prop_assert_eq!(Affine::floor(&Affine::floor(&simple, d).unwrap(), k).unwrap(), Affine::floor(&simple, d * k).unwrap());
    }
}

#[test]
fn a_ceiling_is_a_floor_of_what_is_rounded_up() {
    let ceiling = Affine::floor(&sum(&[("n", -1)], 0), 16).unwrap().scale(-1).unwrap();
    assert_eq!(ceiling.to_string(), "floor((n + 15)/16)");
}

#[test]
fn numbers_that_do_not_fit_are_errors() {
    let large = sum(&[("x", i64::MAX)], i64::MIN);
    assert!(matches!(large.add(&large), Err(IslError::Overflow { .. })));
    assert!(matches!(large.scale(2), Err(IslError::Overflow { .. })));
    assert!(matches!(large.scale(-1), Err(IslError::Overflow { .. })));
    assert_eq!(large.evaluate(&|_| Some(3)), None);
    assert_eq!(large.evaluate(&|_| Some(1)), Some(-1));
    assert_eq!(Affine::floor(&large, i64::MAX).unwrap().to_string(), "x - 2");
    assert!(matches!(Affine::floor(&large, 0), Err(IslError::Divisor { divisor: 0, .. })));
}

#[test]
fn names_are_found_replaced_and_counted_inside_floors_too() {
    let floor = Affine::floor(&sum(&[("x", 1), ("y", 2)], 0), 5).unwrap().plus(&Affine::name("y"), 3).unwrap();
    assert_eq!(floor.names().len(), 2);
    assert!(floor.mentions("x") && floor.mentions("y") && !floor.mentions("z"));
    assert_eq!((floor.coefficient("x"), floor.coefficient("y")), (0, 3));
    assert_eq!(floor.substitute("x", &sum(&[("z", 5)], 1)).unwrap().to_string(), "3*y + z + floor((2*y + 1)/5)");
    assert_eq!(floor.rename(&|name| (name == "x").then(|| "y".into())).unwrap().to_string(), "4*y - floor((2*y + 4)/5)");
    assert_eq!(Affine::name("x").as_name().map(|name| name.as_str()), Some("x"));
    assert_eq!(sum(&[("x", 1)], 1).as_name(), None);
}
