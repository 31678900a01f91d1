//! Sets in isl's notation: parsing, printing and error messages.

use parloop_isl::{IslError, Relation, Set};
use proptest::prelude::*;

fn same(text: &str, as_text: &str) {
    let (a, b) = (Set::parse(text).unwrap(), Set::parse(as_text).unwrap());
    assert!(a.is_equal(&b).unwrap(), "{text} is {a}, not {b}");
    assert_eq!(Set::parse(&a.to_string()).unwrap(), a);
}

fn error(text: &str) -> String {
    match Set::parse(text) {
        Err(error) => error.to_string(),
        Ok(set) => panic!("{text} was read as {set}"),
    }
}

#[test]
fn names_that_are_no_dimensions_are_parameters() {
    let set = Set::parse("{[i, j]: 0 <= i < n and m <= j < 3*n}").unwrap();
    assert_eq!(set.params(), ["m", "n"]);
    assert_eq!(set.dims(), ["i", "j"]);
    assert_eq!(Set::parse("[q, n] -> {[i]: 0 <= i < n}").unwrap().params(), ["n", "q"]);
    assert_eq!(Set::parse("{[i]: exists e: i = 2*e + n}").unwrap().params(), ["n"]);
    assert_eq!(Set::parse("{ : n > 0 }").unwrap(), Set::parse("[n] -> { [] : n >= 1 }").unwrap());
}

#[test]
fn comparisons_are_chained_and_take_lists() {
    same("{[i,j]: 0<=i,j<n}", "{[i,j]: 0<=i and i<n and j>=0 and j<n}");
    same("{[i,j]: 0 <= i < j != 3 < n}", "{[i,j]: 0 <= i and i < j and (j < 3 or j > 3) and 3 < n}");
    same("{[i]: i>=0, i<4}", "{[i]: 0 <= i <= 3}");
}

#[test]
fn both_ways_to_write_each_operator_mean_the_same() {
    same("{[i]: i == 3 || i = 5 && i != 7}", "{[i]: i = 3 or i = 5}");
    same("{[i]: 0 ≤ i ∧ ¬(i ≥ 9)}", "{[i]: not (i < 0) and i < 9}");
    same("{[i]: i % 3 = 1}", "{[i]: i mod 3 = 1}");
    same("{[i]: 2i + 4floor(i/4) < n}", "{[i]: 2*i + 4*floord(i, 4) < n}");
    same("{[i]: [i/4] = ceil(n/2)}", "{[i]: floor(i/4) = ceild(n, 2)}");
}

#[test]
fn min_and_max_are_read_by_cases() {
    same("{[i]: 0 <= i < min(n, m, 7)}", "{[i]: 0 <= i and i < n and i < m and i < 7}");
    same("{[i]: 0 <= i < max(n, m)}", "{[i]: 0 <= i and (i < n or i < m)}");
    same(
        "{[i]: max(2*i, n) - min(i, m) = 4}",
        "{[i]: exists (a, b: a - b = 4 and (a = 2*i and 2*i >= n or a = n and n > 2*i) and (b = i and i <= m or b = m and m < i))}",
    );
}

#[test]
fn exists_binds_its_names_inside_alone() {
    same("{[i]: exists e: i = 2e and 0 <= e < n}", "{[i]: i mod 2 = 0 and 0 <= i < 2*n}");
    same("{[i]: (exists e: i = 2e) and (exists e: i = 3e)}", "{[i]: i mod 6 = 0}");
    same("{[i]: exists (e = floor(i/2), f = i - 2*e: f = 1)}", "{[i]: i mod 2 = 1}");
    same("{[i]: not exists e: i = 2e}", "{[i]: i mod 2 = 1}");
    same("{[i]: exists i: i = 3}", "{[i]}");
}

#[test]
fn parts_and_dimensions_with_values_are_read() {
    same("{[i]: 0<=i<5; [i]: 6<=i<7}", "{[i]: 0 <= i <= 4 or i = 6}");
    same("[n] -> { [i, j = 2i + n] : i > 0 }", "{[i, j]: j = 2*i + n and i >= 1}");
    same("{[i]: }", "{[i]}");
    same("{[i]: false}", "{[i]: 0 <= i <= -1}");
    same("{[i]: 1 = 2 or (true and i > 1)}", "{[i]: i >= 2}");
    assert_eq!(Set::parse("{ : }").unwrap(), Set::universe(&[], &[]));
}

#[test]
fn constraints_print_in_one_form() {
    let printed = |text: &str| Set::parse(text).unwrap().to_string();
    assert_eq!(printed("{[i]: 2*i >= 3 and 4*i < 4*n and i < n}"), "[n] -> { [i] : i < n and i >= 2 }");
    assert_eq!(printed("{[i]: 0 <= i <= 0}"), "{ [i] : i = 0 }");
    assert_eq!(printed("{[i]: 2*i = 3}"), "{ [i] : false }");
    assert_eq!(printed("{[i]: i mod 4 >= 0 and i mod 4 <= 3}"), "{ [i] }");
    assert_eq!(printed("{[i]: i < 0 or i > n + 2}"), "[n] -> { [i] : i <= -1 or n + 3 <= i }");
    assert_eq!(printed("{[i]: i = -n - 2}"), "[n] -> { [i] : i + n + 2 = 0 }");
}

#[test]
fn relations_are_read_applied_and_turned_round() {
    let split = Relation::parse("{[i] -> [o, r]: i = 4*o + r and 0 <= r < 4}").unwrap();
    assert_eq!(Relation::parse(&split.to_string()).unwrap(), split);
    assert_eq!((split.inputs(), split.outputs()), (&["i".into()][..], &["o".into(), "r".into()][..]));
    let tiles = split.apply(&Set::parse("{[i, j]: 0 <= i < n and 0 <= j < i}").unwrap()).unwrap();
    assert!(tiles.is_equal(&Set::parse("{[j, o, r]: 0 <= 4*o + r < n and 0 <= r < 4 and 0 <= j < 4*o + r}").unwrap()).unwrap());
    assert!(!Relation::parse("{[i] -> [o]: 4*o <= i < 4*o + 4}").unwrap().is_bijective().unwrap());
    assert!(Relation::parse("{[i, j] -> [t, p]: t = i + j and p = j}").unwrap().is_bijective().unwrap());
    let skew = Relation::parse("{[i, j] -> [t, p]: t = i + j and p = j}").unwrap().inputs_of_outputs().unwrap().unwrap();
    assert_eq!(skew.iter().map(ToString::to_string).collect::<Vec<_>>(), ["t - p", "p"]);
    assert_eq!(Relation::parse("{[i] -> [o]: 4*o <= i < 4*o + 4}").unwrap().inputs_of_outputs().unwrap(), None);
    let missing = split.apply(&Set::parse("{[k]: 0 <= k < n}").unwrap());
    assert!(matches!(missing, Err(IslError::UnknownName { name, .. }) if name == "i"));
}

#[test]
fn a_mistake_is_shown_with_its_place() {
    assert_eq!(
        error("{[i]: 0 <= i < n*m}"),
        "`n*m` is a product of two names; a domain must be affine: make the product a separate parameter, `nm`\n  {[i]: 0 <= i < n*m}\n                 ^"
    );
    assert_eq!(
        error("{[i]:\n  0 <= i < (n+1)*m}"),
        "`(n+1)*m` is a product of two expressions with names; a domain must be affine: make the product a separate parameter\n    0 <= i < (n+1)*m}\n             ^"
    );
    assert_eq!(error("{[i]: 0 <= i < n"), "`{` is not closed\n  {[i]: 0 <= i < n\n  ^");
    assert_eq!(error("{[i]: 0 <= i < n)}"), "`{` is closed by `)`\n  {[i]: 0 <= i < n)}\n  ^");
    assert_eq!(error("{[i] 0 <= i}"), "expected `:` before the conditions, or `}`; found `0`\n  {[i] 0 <= i}\n       ^");
    assert_eq!(error("{[i]: 0 <= i $ 3}"), "unexpected character `$`\n  {[i]: 0 <= i $ 3}\n               ^");
    assert_eq!(error("{[i]: 0 <= }"), "expected a number, a name or an expression in brackets; found `}`\n  {[i]: 0 <= }\n             ^");
    assert_eq!(error("{[i]: i}"), "expected a comparison: one of `<`, `<=`, `=`, `>=`, `>`, `!=`; found `}`\n  {[i]: i}\n         ^");
    assert_eq!(error("{[i, i]}"), "`i` is already a dimension or parameter\n  {[i, i]}\n       ^");
    assert_eq!(error("{[0]}"), "expected a name: each dimension has one, and conditions on it go after the `:`; found `0`\n  {[0]}\n    ^");
    assert_eq!(error("{[i] -> [j]}"), "this is a relation between points; a set has dimensions on one side only\n  {[i] -> [j]}\n       ^");
    assert_eq!(error(""), "expected `{`: a set is written `{[i]: 0 <= i < n}`; the text ends\n  \n  ^");
}

#[test]
fn what_languages_disagree_on_is_refused() {
    assert!(error("{[i]: 2*i % 4 = 0}").starts_with("`2*i % 4` is ambiguous; put the operand before `mod` in brackets"));
    assert!(error("{[i]: -i mod 4 = 0}").starts_with("`-i mod 4` is ambiguous"));
    assert!(error("{[i]: i/2 < n}").starts_with("`i/2` may not be an integer: write `floor(i/2)` or `ceil(i/2)`, or multiply both sides"));
    assert!(error("{[i]: i % n = 0}").starts_with("cannot divide by `n`; a divisor must be an integer of at least 1"));
    assert!(error("{[i]: i < a[3]}").starts_with("`a[…]`: the bounds of a set cannot read arrays"));
    assert!(error("{[i]: i < f(3)}").starts_with("unknown function `f`; sets can use floor, ceil, min and max"));
    assert!(error("{[i]: i < 99999999999999999999}").starts_with("this number does not fit into 64 bits"));
}

#[test]
fn deep_and_wide_text_is_refused_and_not_followed() {
    assert!(error(&format!("{{[i]: {}i{} < 3}}", "(".repeat(5000), ")".repeat(5000))).contains("brackets are nested more than"));
    assert!(error(&format!("{{[i]: i = {}3}}", "-".repeat(5000))).contains("brackets are nested more than"));
    let wide = format!("{{[i]: {}}}", (0..12).map(|k| format!("i != p{k}")).collect::<Vec<_>>().join(" and "));
    assert!(error(&wide).contains("more than 1024 parts"));
}

#[test]
fn sets_that_are_asked_about_together_must_have_the_same_dimensions() {
    let (a, b) = (Set::parse("{[i]: i > 0}").unwrap(), Set::parse("{[j]: j > 0}").unwrap());
    assert_eq!(
        a.is_subset(&b).unwrap_err().to_string(),
        "`{ [i] : i >= 1 }` and `{ [j] : j >= 1 }` have different dimensions; give both the same names in brackets"
    );
    assert_eq!(a.bounds("k").unwrap_err().to_string(), "`k` is not a dimension or a parameter of `{ [i] : i >= 1 }`");
    assert_eq!(a.dim_max("i").unwrap_err().to_string(), "`i` has no largest value in `{ [i] : i >= 1 }`; add a bound");
    assert_eq!(a.rename(&|_| Some("n".into())).unwrap().dims(), ["n"]);
    let two = Set::parse("{[i, j]: i > j}").unwrap();
    assert_eq!(
        two.rename(&|_| Some("n".into())).unwrap_err().to_string(),
        "two names of `{ [i, j] : j < i }` would both become `n`; choose different names"
    );
    assert!(two.is_equal(&Set::parse("{[j, i]: i > j}").unwrap()).unwrap());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".*") {
        let _ = Set::parse(&text);
        let _ = Relation::parse(&text);
    }

    #[test]
    fn any_sequence_of_tokens_is_read_or_refused(tokens in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", "(", ")", "i", "j", "n", "0", "3", "<", "<=", "=", "!=", "and", "or", "not", "exists", "e", ":", ";", ",", "+", "-", "*", "/",
        "%", "floor", "ceil", "floord", "min", "max", "mod", "->", "true", "false",
    ]), 0..30)) {
        let text = format!("{{[i, j]: {}}}", tokens.join(" "));
        if let Ok(set) = Set::parse(&text) {
            prop_assert_eq!(Set::parse(&set.to_string()).unwrap(), set);
        }
        let _ = Set::parse(&tokens.join(" "));
    }
}

#[test]
fn a_point_whose_coordinates_do_not_fit_into_64_bits_is_an_error() {
    let set = Set::parse("{ [i, j] : i = 4*j and j = 4611686018427387904 }").unwrap();
    assert!(!set.is_empty().unwrap());
    let message = set.sample().unwrap_err().to_string();
    let expected = "could not find a point of `{ [i, j] : i = 4*j and j = 4611686018427387904 }`: a number in the answer does not fit \
                    into 64 bits; fix sizes with `fix_parameters`, or write its bounds, indices and conditions with fewer divisions, remainders and alternatives";
    assert_eq!(message, expected);
    let fits = Set::parse("{ [i, j] : i = 2*j and j = -4611686018427387904 }").unwrap();
    let point = fits.sample().unwrap().unwrap();
    assert_eq!((point["i"], point["j"]), (i64::MIN, i64::MIN / 2));
}
