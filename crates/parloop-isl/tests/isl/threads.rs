//! Each thread has its own solver, which stays usable after errors.

use std::thread;

use parloop_isl::{Affine, Constraint, IslError, Set};

fn triangle(size: i64) -> Set {
    Set::parse(&format!("{{[i, j]: 0 <= i < {size} and 0 <= j <= i}}")).unwrap()
}

#[test]
fn several_threads_ask_at_once_and_agree() {
    let ask = |seed: i64| {
        (0..200)
            .map(|round| {
                let set = triangle((seed + round) % 7 + 1);
                (set.project_out(&["i".into()]).unwrap(), set.dim_max("j").unwrap(), set.is_empty().unwrap())
            })
            .collect::<Vec<_>>()
    };
    let expected = ask(0);
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(move || ask(0))).collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), expected);
    }
}

#[test]
fn threads_that_end_leave_nothing_behind_that_others_need() {
    for _ in 0..20 {
        let set = thread::spawn(|| triangle(5).project_out(&["j".into()]).unwrap()).join().unwrap();
        assert!(set.is_equal(&Set::parse("{[i]: 0 <= i < 5}").unwrap()).unwrap());
    }
}

#[test]
fn more_sets_than_are_remembered_are_answered_all_the_same() {
    for size in 1..5000 {
        let set = Set::bounded(
            &["i".into()],
            vec![
                Constraint::not_negative(Affine::name("i")),
                Constraint::not_negative(Affine::constant(size).sub(&Affine::name("i")).unwrap()),
            ],
        );
        assert_eq!(set.constant_max("i", &Set::universe(&[], &[])).unwrap(), Some(size));
    }
}

#[test]
fn the_solver_goes_on_after_errors() {
    let open = Set::parse("{[i]: 0 <= i}").unwrap();
    for _ in 0..3 {
        assert!(matches!(open.dim_max("i"), Err(IslError::Unbounded { .. })));
        assert_eq!(open.dim_min("i").unwrap().to_string(), "0 on { [] }");
    }
}

#[test]
fn numbers_that_do_not_fit_are_errors_and_not_wrong() {
    let big = i64::MAX / 3;
    let set = Set::parse(&format!("{{[i, j]: {big}*i = {}*j and 0 <= i}}", big - 1)).unwrap();
    // i is a multiple of big - 1, j of big: both fit, their product does not.
    let image = set.image(&[("a".into(), Affine::name("i").scale(big).unwrap())]);
    assert!(matches!(image, Err(IslError::Overflow { .. } | IslError::Isl { .. }) | Ok(_)));
    let image = set.constrain(&[Constraint::not_negative(Affine::name("i").add(&Affine::constant(-1)).unwrap())]).unwrap();
    assert!(!image.is_empty().unwrap());
}

#[test]
fn a_question_without_end_is_given_up() {
    // A knapsack with coprime weights of similar size in many dimensions.
    let weights = [12223, 12224, 36674, 61119, 85569, 45763, 45792, 73257, 91377, 53847];
    let names: Vec<String> = (0..weights.len()).map(|place| format!("x{place}")).collect();
    let sum: Vec<String> = weights.iter().zip(&names).map(|(weight, name)| format!("{weight}*{name}")).collect();
    let text = format!("{{[{}]: {} = 89643481 + n and 0 <= {} <= m}}", names.join(", "), sum.join(" + "), names.join(", "));
    let set = Set::parse(&text).unwrap();
    match set.dim_max("x0") {
        Ok(_) => {}
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("could not find the largest value of `x0` in `[m, n] -> { [x0, "), "{message}");
            assert!(message.contains(" …`: it takes too long; fix sizes with `fix_parameters`, or write"), "{message}");
        }
    }
    assert!(!triangle(3).is_empty().unwrap());
}
