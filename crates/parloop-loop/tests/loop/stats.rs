//! Counts of points against brute force.

use parloop_isl::Set;
use parloop_loop::stats::Count;

fn counted(text: &str, values: &[(&str, i64)]) -> (u128, bool) {
    let count = Count::points(&Set::parse(text).unwrap(), 1).unwrap();
    let counted = count.evaluate(&|name| values.iter().find(|(known, _)| name == known).map(|(_, value)| *value)).unwrap();
    (counted.value, counted.exact)
}

#[test]
fn boxes_and_simplices_are_polynomials() {
    let printed = |text: &str| Count::points(&Set::parse(text).unwrap(), 1).unwrap().to_string();
    assert_eq!(printed("{[i]: 0<=i<n}"), "n");
    assert_eq!(printed("{[i,j]: 0<=i<n and 0<=j<m}"), "m*n");
    assert_eq!(printed("{[i,j]: 0<=i<n and 0<=j<=i}"), "n^2/2 + n/2");
    assert_eq!(printed("{[i,j,k]: 0<=i<n and 0<=j<=i and 0<=k<=j}"), "n^3/6 + n^2/2 + n/3");
}

#[test]
fn tiles_that_do_not_divide_are_counted_exactly() {
    for n in [1, 15, 16, 17, 100] {
        let tiles = "{[io,ii,jo,ji]: 0<=ii<16 and 0<=16*io+ii<n and 0<=ji<8 and 0<=8*jo+ji<n}";
        assert_eq!(counted(tiles, &[("n", n)]), ((n * n) as u128, true), "n = {n}");
    }
}

#[test]
fn sets_with_strides_and_of_several_pieces_are_counted() {
    assert_eq!(counted("{[i]: 0<=i<n and i mod 3 = 1}", &[("n", 10)]), (3, true));
    assert_eq!(counted("{[i]: 0<=i<n}", &[("n", 0)]), (0, true));
    assert_eq!(counted("{[i]: 0<=i<n}", &[("n", -5)]), (0, true));
    assert_eq!(counted("{[i,j]: 0<=i<n and 0<=j<n and j<=2*i}", &[("n", 10)]).0, (0..10).map(|i: i64| (2 * i).min(9) as u128 + 1).sum());
}

#[test]
fn a_size_without_a_value_is_named() {
    let count = Count::points(&Set::parse("{[i]: 0<=i<n}").unwrap(), 1).unwrap();
    assert!(count.evaluate(&|_| None).unwrap_err().to_string().contains("the value of n"));
}
