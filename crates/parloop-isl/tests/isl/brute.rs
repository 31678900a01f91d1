//! Compares each query with enumeration of a small box.

use parloop_isl::{Affine, Bound, Set};
use proptest::prelude::*;

use crate::sets::{BOX, at, boxed, has, name, plain_set, points, set};

fn projected(set: &Set, n: i64, i: i64) -> bool {
    BOX.into_iter().any(|j| has(set, [n, i, j]))
}

/// The values of `i` for that `n`.
fn values(set: &Set, n: i64) -> Vec<i64> {
    BOX.filter(|&i| projected(set, n, i)).collect()
}

fn holds(bound: &Bound, point: [i64; 3], below: bool) -> bool {
    let limit = bound.affine.evaluate(&at(point)).unwrap();
    if below { point[1] * bound.divisor >= limit } else { point[1] * bound.divisor <= limit }
}

/// Fewer cases than usual, since each checks hundreds of points; PROPTEST_CASES sets another number.
fn config() -> ProptestConfig {
    if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default() } else { ProptestConfig::with_cases(64) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn joins_unions_and_differences_hold_the_points_they_should(a in set(), b in set()) {
        let (join, union, difference) = (a.join(&b).unwrap(), a.union(&b).unwrap(), a.subtract(&b).unwrap());
        for point in points() {
            prop_assert_eq!(has(&join, point), has(&a, point) && has(&b, point));
            prop_assert_eq!(has(&union, point), has(&a, point) || has(&b, point));
            prop_assert_eq!(has(&difference, point), has(&a, point) && !has(&b, point));
        }
        prop_assert_eq!(a.is_subset(&b).unwrap(), points().all(|point| !has(&a, point) || has(&b, point)));
        prop_assert_eq!(a.is_equal(&b).unwrap(), points().all(|point| has(&a, point) == has(&b, point)));
        prop_assert!(join.is_subset(&a).unwrap() && a.is_subset(&union).unwrap());
    }

    #[test]
    fn projections_hold_what_some_value_completes(a in set()) {
        let no_j = a.project_out(&[name("j")]).unwrap();
        prop_assert_eq!(no_j.dims(), [name("i")]);
        let only_j = a.project_onto(&[name("j")]).unwrap();
        let no_n = a.project_out(&[name("n")]).unwrap();
        let nothing = a.project_out(&[name("i"), name("j")]).unwrap();
        for point in points() {
            let [n, i, j] = point;
            prop_assert_eq!(has(&no_j, point), projected(&a, n, i), "{} without j is not {}", a, no_j);
            prop_assert_eq!(has(&only_j, point), BOX.into_iter().any(|i| has(&a, [n, i, j])));
            prop_assert_eq!(has(&no_n, point), BOX.into_iter().any(|n| has(&a, [n, i, j])), "{} without n is not {}", a, no_n);
            prop_assert_eq!(has(&nothing, point), BOX.into_iter().any(|i| projected(&a, n, i)));
        }
    }

    #[test]
    fn a_gist_is_the_same_where_its_context_holds(a in set(), context in set()) {
        let gist = a.gist(&context).unwrap();
        let params = context.project_out(&[name("i"), name("j")]).unwrap();
        let gist_of_params = a.gist(&params).unwrap();
        let context_of_params = context.to_params(&[name("j")]);
        let gist_of_mixed = a.gist(&context_of_params).unwrap();
        for point in points() {
            prop_assert!(!has(&context, point) || has(&gist, point) == has(&a, point));
            prop_assert!(!has(&params, point) || has(&gist_of_params, point) == has(&a, point));
            prop_assert!(!has(&context, point) || has(&gist_of_mixed, point) == has(&a, point));
        }
        prop_assert!(a.is_empty().unwrap() || a.gist(&a).unwrap() == Set::universe(a.params(), a.dims()));
    }

    #[test]
    fn simplifying_changes_no_point_and_a_hull_has_all(a in set()) {
        let (simple, hull) = (a.simplify().unwrap(), a.hull().unwrap());
        prop_assert!(hull.pieces().len() <= 1);
        for point in points() {
            prop_assert_eq!(has(&simple, point), has(&a, point));
            prop_assert!(!has(&a, point) || has(&hull, point));
        }
        prop_assert!(simple.is_equal(&a).unwrap() && a.is_bounded().unwrap());
        prop_assert_eq!(simple.simplify().unwrap(), a.simplify().unwrap().simplify().unwrap());
    }

    #[test]
    fn an_empty_set_has_no_sample_and_any_other_has_one_inside(a in set()) {
        let empty = points().all(|point| !has(&a, point));
        prop_assert_eq!(a.is_empty().unwrap(), empty);
        match a.sample().unwrap() {
            None => prop_assert!(empty),
            Some(values) => prop_assert_eq!(a.contains(&|name| values.get(name).copied()), Some(true)),
        }
    }

    #[test]
    fn bounds_let_all_points_through(a in set()) {
        let bounds = a.bounds("i").unwrap();
        for point in points().filter(|&point| has(&a, point)) {
            prop_assert!(bounds.lower.iter().all(|bound| holds(bound, point, true)));
            prop_assert!(bounds.upper.iter().all(|bound| holds(bound, point, false)));
        }
    }

    #[test]
    fn bounds_of_a_plain_piece_are_exact_where_the_other_conditions_hold(a in plain_set()) {
        let bounds = a.bounds("i").unwrap();
        let others = a.project_out(&[name("i")]).unwrap();
        for point in points() {
            let inside = bounds.lower.iter().all(|bound| holds(bound, point, true)) && bounds.upper.iter().all(|bound| holds(bound, point, false));
            prop_assert_eq!(has(&a, point), inside && has(&others, point), "{} {:?} {:?}", a, bounds, point);
        }
    }

    #[test]
    fn extremes_are_attained_and_never_exceeded(a in set(), context in set()) {
        let (least, most) = (a.dim_min("i").unwrap(), a.dim_max("i").unwrap());
        let context = context.project_out(&[name("i"), name("j")]).unwrap();
        for n in BOX {
            let value = |pieces: &parloop_isl::Piecewise| {
                let here: Vec<i64> = pieces.0.iter().filter(|(set, _)| has(set, [n, 0, 0])).map(|(_, e)| e.evaluate(&at([n, 0, 0])).unwrap()).collect();
                assert!(here.iter().all(|value| *value == here[0]), "pieces that overlap agree");
                here.first().copied()
            };
            let all = values(&a, n);
            prop_assert_eq!(value(&least), all.first().copied(), "{}: {}", a, least);
            prop_assert_eq!(value(&most), all.last().copied());
        }
        let inside = |n: i64| has(&context, [n, 0, 0]);
        let all: Vec<(i64, i64)> = BOX.filter(|&n| inside(n)).flat_map(|n| values(&a, n).into_iter().map(move |i| (n, i))).collect();
        if let (Ok(low), Ok(high)) = (a.static_min("i", &context), a.static_max("i", &context)) {
            for &(n, i) in &all {
                prop_assert!(low.evaluate(&at([n, 0, 0])).unwrap() <= i && i <= high.evaluate(&at([n, 0, 0])).unwrap());
            }
        }
        prop_assert_eq!(a.constant_max("i", &context).unwrap(), all.iter().map(|(_, i)| *i).max(), "{} in {}", a, context);
        prop_assert_eq!(a.constant_min("i", &context).unwrap(), all.iter().map(|(_, i)| *i).min(), "{} in {}", a, context);
    }

    #[test]
    fn values_lie_on_the_stride(a in set()) {
        let (stride, offset) = a.stride("i").unwrap();
        prop_assert!(stride >= 1 && !offset.mentions("i"));
        for point in points().filter(|&point| has(&a, point)) {
            prop_assert_eq!((point[1] - offset.evaluate(&at(point)).unwrap()).rem_euclid(stride), 0);
        }
    }

    #[test]
    fn a_solution_holds_everywhere_and_is_found_where_there_is_one_value(a in plain_set()) {
        let solved = a.solve_for("i").unwrap();
        let several = BOX.flat_map(|n| BOX.map(move |j| (n, j))).any(|(n, j)| BOX.filter(|&i| has(&a, [n, i, j])).count() > 1);
        match solved {
            Some(value) => {
                prop_assert!(!value.mentions("i"));
                for point in points().filter(|&point| has(&a, point)) {
                    prop_assert_eq!(value.evaluate(&at(point)).unwrap(), point[1]);
                }
            }
            None => prop_assert!(several || a.to_params(&[name("j")]).dim_max("i").unwrap().0.len() != 1),
        }
    }

    #[test]
    fn an_image_has_the_values_of_the_functions(a in set(), [x, y, z] in [-2i64..=2, -2i64..=2, -2i64..=2]) {
        let value = Affine::name("i").scale(x).unwrap().plus(&Affine::name("j"), y).unwrap().plus(&Affine::name("n"), z).unwrap();
        let image = a.image(&[(name("i"), value.clone())]).unwrap();
        prop_assert_eq!(image.dims(), [name("i")]);
        for n in BOX {
            let expected: Vec<i64> = points().filter(|&point| point[0] == n && has(&a, point)).map(|point| value.evaluate(&at(point)).unwrap()).collect();
            for i in -30..=30 {
                prop_assert_eq!(has(&image, [n, i, 0]), expected.contains(&i));
            }
        }
    }

    #[test]
    fn substitution_puts_an_expression_in_the_place_of_a_name(a in set(), [x, c] in [-2i64..=2, -3i64..=3]) {
        let value = Affine::name("j").scale(x).unwrap().add(&Affine::constant(c)).unwrap();
        let gone = a.substitute("i", &value).unwrap();
        prop_assert!(!gone.has_dim("i"));
        let shifted = a.substitute("i", &Affine::name("i").add(&Affine::constant(c)).unwrap()).unwrap();
        for point in points() {
            let [n, i, j] = point;
            prop_assert_eq!(has(&gone, point), has(&a, [n, x * j + c, j]));
            prop_assert_eq!(has(&shifted, point), has(&a, [n, i + c, j]));
        }
        prop_assert!(a.constrain(&boxed(&["i"])).unwrap().is_equal(&a).unwrap());
    }

    #[test]
    fn text_is_read_back_as_the_same_value(a in set()) {
        prop_assert_eq!(Set::parse(&a.to_string()).unwrap(), a);
    }
}
