//! Patterns of sparse matrices against sets of pairs, counted one by one.

use std::collections::BTreeSet;

use parloop_mesh::plan::{Elements, Flat, Merged, Pair, Pattern, PatternSize, PlanError, Positions, Table, merge};
use proptest::prelude::*;

use super::Owning;

/// Row targets and column targets of the same elements.
#[derive(Debug, Clone)]
struct OwningPair {
    elements: Option<Vec<i32>>,
    count: usize,
    sides: [Owning; 2],
}

impl OwningPair {
    fn list(&self) -> Vec<i32> {
        self.elements.clone().unwrap_or_else(|| (0..self.count as i32).collect())
    }

    fn elements(&self) -> Elements<'_> {
        self.elements.as_deref().map_or(Elements::Range(0..self.count), Elements::List)
    }

    /// The targets of one side, element by element, by the definition.
    fn targets(&self, side: usize) -> Vec<Vec<i32>> {
        let table = &self.sides[side];
        self.list().into_iter().map(|element| table.values[element as usize * table.arity..][..table.arity].to_vec()).collect()
    }

    fn with_pair<R>(&self, with: impl FnOnce(Pair<'_>) -> R) -> R {
        let [rows, columns] = &self.sides;
        let rows = Flat::new(self.elements(), rows.table()).expect("a sound table");
        let columns = Flat::new(self.elements(), columns.table()).expect("a sound table");
        with(Pair::new(&rows, &columns).expect("the same elements"))
    }
}

/// Calls `with` with all pairs.
fn with_pairs<R>(owning: &[OwningPair], pairs: &mut Vec<Pair<'_>>, with: &mut dyn FnMut(&[Pair<'_>]) -> R) -> R {
    match owning {
        [] => with(pairs),
        [first, rest @ ..] => first.with_pair(|pair| {
            let mut more: Vec<Pair<'_>> = pairs.clone();
            more.push(pair);
            with_pairs(rest, &mut more, with)
        }),
    }
}

fn pattern(size: PatternSize, owning: &[OwningPair], threads: usize) -> Pattern {
    with_pairs(owning, &mut Vec::new(), &mut |pairs| Pattern::new(size, pairs, threads).expect("sound pairs"))
}

/// The rows of a pattern by the definition.
fn model(size: PatternSize, owning: &[OwningPair]) -> Vec<BTreeSet<i32>> {
    let mut rows = vec![BTreeSet::new(); size.rows];
    for pair in owning {
        for (row_targets, column_targets) in pair.targets(0).into_iter().zip(pair.targets(1)) {
            for row in row_targets.into_iter().filter(|&row| row >= 0) {
                rows[row as usize].extend(column_targets.iter().filter(|&&column| column >= 0));
            }
        }
    }
    if size.diagonal {
        for (row, columns) in rows.iter_mut().enumerate().take(size.columns) {
            columns.insert(row as i32);
        }
    }
    rows
}

fn rows_of(pattern: &Pattern) -> Vec<BTreeSet<i32>> {
    (0..pattern.rows()).map(|row| pattern.row(row).iter().copied().collect()).collect()
}

/// A table with this many targets.
fn sides(targets: usize, count: usize) -> impl Strategy<Value = Owning> {
    (0usize..5, any::<bool>()).prop_flat_map(move |(arity, drops)| {
        let value = (0..targets as i32, any::<u8>()).prop_map(move |(value, dropped)| if drops && dropped < 50 { -1 } else { value });
        prop::collection::vec(value, count * arity).prop_map(move |values| Owning { values, arity, set: 0, targets, drops })
    })
}

fn pairs(rows: usize, columns: usize) -> impl Strategy<Value = OwningPair> {
    (0usize..20).prop_flat_map(move |count| {
        let listed = prop::option::of(prop::collection::vec(any::<bool>(), count));
        (sides(rows, count), sides(columns, count), listed).prop_map(move |(row, column, listed)| {
            let elements = listed.map(|listed| (0..count as i32).filter(|&element| listed[element as usize]).collect());
            OwningPair { elements, count, sides: [row, column] }
        })
    })
}

fn matrices() -> impl Strategy<Value = (PatternSize, Vec<OwningPair>)> {
    (1usize..40, 1usize..40, any::<bool>()).prop_flat_map(|(rows, columns, diagonal)| {
        let size = PatternSize { rows, columns, diagonal };
        prop::collection::vec(pairs(rows, columns), 0..4).prop_map(move |pairs| (size, pairs))
    })
}

proptest! {
    #[test]
    fn a_pattern_has_exactly_the_pairs_that_meet((size, owning) in matrices()) {
        let found = pattern(size, &owning, 1);
        prop_assert_eq!((found.rows(), found.width()), (size.rows, size.columns));
        prop_assert_eq!(rows_of(&found), model(size, &owning));
        for row in 0..found.rows() {
            prop_assert!(found.row(row).is_sorted_by(|before, after| before < after), "row {row} is {:?}", found.row(row));
        }
        prop_assert_eq!(found.starts()[0], 0);
        prop_assert_eq!(found.starts()[size.rows] as usize, found.stored());
    }

    #[test]
    fn a_pattern_does_not_depend_on_the_threads((size, owning) in matrices(), threads in 0usize..9) {
        prop_assert_eq!(pattern(size, &owning, threads), pattern(size, &owning, 1));
    }

    #[test]
    fn positions_are_where_the_columns_are((size, owning) in matrices(), threads in 0usize..5) {
        let found = pattern(size, &owning, 1);
        for pair in &owning {
            let positions = pair.with_pair(|pair| found.positions(pair, threads)).expect("a pair of the pattern");
            let mut number = 0;
            for (rows, columns) in pair.targets(0).into_iter().zip(pair.targets(1)) {
                for (&row, &column) in rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column))) {
                    let stored = (row >= 0 && column >= 0).then(|| {
                        found.starts()[row as usize] as usize + found.row(row as usize).binary_search(&column).expect("in the pattern")
                    });
                    prop_assert_eq!(positions.get(number), stored);
                    number += 1;
                }
            }
            prop_assert_eq!(positions.len(), number);
        }
    }

    #[test]
    fn a_merged_pattern_has_the_blocks_of_a_grid_where_its_positions_say((grid, diagonal) in grids()) {
        let patterns: Vec<Vec<Pattern>> = grid
            .iter()
            .map(|of_row| of_row.iter().map(|&(rows, columns, ref pair)| pattern(PatternSize { rows, columns, diagonal }, std::slice::from_ref(pair), 1)).collect())
            .collect();
        let borrowed: Vec<Vec<&Pattern>> = patterns.iter().map(|of_row| of_row.iter().collect()).collect();
        let blocks: Vec<&[&Pattern]> = borrowed.iter().map(Vec::as_slice).collect();
        let Merged { pattern: merged, positions } = merge(&blocks).expect("a sound grid");
        let mut expected = Vec::new();
        let mut seen = vec![false; merged.stored()];
        for (of_row, positions) in patterns.iter().zip(&positions) {
            let first_row = expected.len();
            expected.resize(first_row + of_row[0].rows(), BTreeSet::new());
            let mut shift = 0;
            for (pattern, positions) in of_row.iter().zip(positions) {
                prop_assert_eq!(positions.len(), pattern.stored());
                for row in 0..pattern.rows() {
                    for (place, &column) in pattern.row(row).iter().enumerate() {
                        expected[first_row + row].insert(shift + column);
                        let position = positions.get(pattern.starts()[row] as usize + place).expect("a position");
                        prop_assert!((merged.starts()[first_row + row]..merged.starts()[first_row + row + 1]).contains(&(position as i64)));
                        prop_assert_eq!(merged.columns()[position], shift + column);
                        prop_assert!(!std::mem::replace(&mut seen[position], true));
                    }
                }
                shift += pattern.width() as i32;
            }
            prop_assert_eq!(merged.width() as i32, shift);
        }
        prop_assert!(seen.into_iter().all(|seen| seen));
        prop_assert_eq!(rows_of(&merged), expected);
        prop_assert!((0..merged.rows()).all(|row| merged.row(row).is_sorted()));
    }
}

/// Rows, columns and a pair for each place of a grid.
type Grid = Vec<Vec<(usize, usize, OwningPair)>>;

fn grids() -> impl Strategy<Value = (Grid, bool)> {
    (prop::collection::vec(1usize..9, 1..4), prop::collection::vec(1usize..9, 1..4)).prop_flat_map(|(heights, widths)| {
        let of_row = |rows: usize| -> Vec<_> { widths.iter().map(|&columns| (Just(rows), Just(columns), pairs(rows, columns))).collect() };
        (heights.iter().map(|&rows| of_row(rows)).collect::<Vec<_>>(), any::<bool>())
    })
}

fn table(values: &[i32], arity: usize, targets: usize) -> Table<'_> {
    Table { values, arity, set: 0, targets, drops: false }
}

fn flat(values: &[i32], arity: usize, targets: usize) -> Flat<'_> {
    Flat::new(Elements::Range(0..values.len() / arity), table(values, arity, targets)).expect("a sound table")
}

fn size(rows: usize, columns: usize) -> PatternSize {
    PatternSize { rows, columns, diagonal: false }
}

fn says<T: std::fmt::Debug>(result: Result<T, PlanError>, message: &str) {
    assert_eq!(result.expect_err("a refusal").to_string(), message);
}

#[test]
fn long_rows_and_many_elements_are_found_by_several_threads() {
    // More elements than are passed over at a time, in an order without locality, and a row that all elements lead to.
    let values: Vec<i32> = super::shuffled(5000).into_iter().flat_map(|node| [0, node, (node * 7) % 5000]).collect();
    let vertices = flat(&values, 3, 5000);
    let pairs = [Pair::new(&vertices, &vertices).expect("the same elements")];
    let one = Pattern::new(size(5000, 5000), &pairs, 1).expect("a sound pair");
    assert_eq!(one.row(0), (0..5000).collect::<Vec<i32>>());
    for threads in [2, 3, 64] {
        assert_eq!(Pattern::new(size(5000, 5000), &pairs, threads).expect("a sound pair"), one);
    }
    let positions = one.positions(pairs[0], 1).expect("a pair of the pattern");
    assert_eq!(one.positions(pairs[0], 3).expect("a pair of the pattern"), positions);
    let columns = values.chunks(3).flat_map(|row| [row, row, row].concat());
    assert!(columns.enumerate().all(|(number, column)| one.columns()[positions.get(number).expect("stored")] == column));
}

#[test]
fn many_rows_with_near_columns_are_those_of_the_definition() {
    // Far more rows than are looked at together. Some targets lead nowhere; columns are marked where they are near, and hashed where not.
    let (rows, columns, count) = (30_000usize, 100_000usize, 40_000usize);
    let near = |targets: usize, arity: usize| {
        let of = |element: usize, slot: usize| match (element + slot) % 17 {
            0 => -1,
            _ => ((element * targets / count + 5 * slot * slot) % targets) as i32,
        };
        let values = (0..count).flat_map(|element| (0..arity).map(move |slot| of(element, slot))).collect();
        Owning { values, arity, set: 0, targets, drops: true }
    };
    let far = |targets: usize| {
        let values = (0..count).map(|element| (element * 7919 % targets) as i32).collect();
        Owning { values, arity: 1, set: 0, targets, drops: true }
    };
    let pair = |sides: [Owning; 2]| OwningPair { elements: None, count, sides };
    let skipping = OwningPair { elements: Some((0..count as i32).step_by(3).collect()), ..pair([near(rows, 3), near(columns, 2)]) };
    let cases = [
        vec![pair([near(rows, 3), near(columns, 4)])],
        vec![pair([near(rows, 3), far(columns)]), skipping.clone()],
        vec![pair([far(rows), near(columns, 2)]), skipping],
    ];
    for owning in cases {
        let size = PatternSize { rows, columns, diagonal: true };
        let expected = model(size, &owning);
        for threads in [1, 2, 3] {
            let found = pattern(size, &owning, threads);
            assert!(rows_of(&found) == expected && (0..rows).all(|row| found.row(row).is_sorted()), "{threads} threads");
        }
    }
}

#[test]
fn a_matrix_of_nothing_has_no_blocks() {
    let empty = Pattern::new(size(0, 0), &[], 4).expect("a size");
    assert_eq!((empty.starts(), empty.columns()), (&[0i64][..], &[][..]));
    let no_columns = Pattern::new(PatternSize { diagonal: true, ..size(3, 0) }, &[], 2).expect("a size");
    assert_eq!(no_columns.starts(), [0; 4]);
    let nowhere = flat(&[], 3, 0);
    let pair = Pair::new(&nowhere, &nowhere).expect("the same elements");
    assert!(empty.positions(pair, 2).expect("no elements").is_empty());
    assert_eq!(merge(&[]).expect("an empty grid"), Merged { pattern: empty.clone(), positions: vec![] });
    assert_eq!(merge(&[&[], &[]]).expect("an empty grid"), Merged { pattern: empty, positions: vec![vec![], vec![]] });
}

#[test]
fn positions_of_dropped_targets_are_negative() {
    let values = [0, -1];
    let dropping = Flat::new(Elements::Range(0..1), Table { drops: true, ..table(&values, 2, 1) }).expect("a sound table");
    let pair = Pair::new(&dropping, &dropping).expect("the same elements");
    let pattern = Pattern::new(size(1, 1), &[pair], 1).expect("a sound pair");
    assert_eq!(pattern.positions(pair, 1).expect("a pair of the pattern"), Positions::Narrow(vec![0, -1, -1, -1]));
}

#[test]
fn sources_of_targets_are_checked() {
    let message = "table 0: entry [0, 1] is 3, but the target set has 3 elements";
    says(Flat::new(Elements::Range(0..1), table(&[0, 3], 2, 3)), message);
    says(Flat::new(Elements::Range(0..2), table(&[0], 1, 3)), "element 1 has no row in table 0, which has 1 rows");
    says(
        Flat::new(Elements::List(&[0, 0]), table(&[0, 0], 1, 3)),
        "a list of elements must have non-negative entries without repeats, but entry 1 is 0",
    );
}

#[test]
fn pairs_must_fit_each_other_and_the_matrix() {
    let (two, three) = (flat(&[0, 1], 1, 2), flat(&[0, 1, 2], 1, 3));
    let message = "the row targets of a pair have 2 elements, but its column targets have 3; both must have the same elements";
    says(Pair::new(&two, &three), message);
    let pair = Pair::new(&two, &two).expect("the same elements");
    let message = "pair 0: the row targets are of a set of 2 elements, but the matrix has 3 rows";
    says(Pattern::new(size(3, 2), &[pair], 1), message);
    let message = "pair 1: the column targets are of a set of 2 elements, but the matrix has 3 columns";
    let wide = flat(&[0, 1], 1, 3);
    says(Pattern::new(size(2, 3), &[Pair::new(&two, &wide).expect("the same elements"), pair], 1), message);
    let other = Pattern::new(size(3, 3), &[], 1).expect("a size");
    says(other.positions(pair, 1), "pair 0: the row targets are of a set of 2 elements, but the matrix has 3 rows");
}

#[test]
fn blocks_that_are_not_stored_have_no_position() {
    let edge = flat(&[2, 0], 2, 3);
    let pair = Pair::new(&edge, &edge).expect("the same elements");
    let diagonal = Pattern::new(PatternSize { diagonal: true, ..size(3, 3) }, &[], 1).expect("a size");
    says(diagonal.positions(pair, 2), "the pattern has no block in row 2 and column 0; build it from this pair of maps as well");
}

#[test]
fn sizes_of_matrices_fit_in_32_bits() {
    let message = "the number of rows would be 3000000000, but an index has 32 bits, up to 2147483647";
    says(Pattern::new(size(3_000_000_000, 1), &[], 1), message);
    let message = "the number of columns would be 3000000000, but an index has 32 bits, up to 2147483647";
    says(Pattern::new(size(1, 3_000_000_000), &[], 1), message);
    let half = Pattern::new(size(0, 1 << 30), &[], 1).expect("a size");
    let message = "the number of columns would be 2147483648, but an index has 32 bits, up to 2147483647";
    says(merge(&[&[&half, &half]]), message);
}

#[test]
fn grids_must_be_whole_and_their_patterns_fit() {
    let [square, tall, wide] = [(2, 2), (3, 2), (2, 3)].map(|(rows, columns)| Pattern::new(size(rows, columns), &[], 1).expect("a size"));
    says(merge(&[&[&square, &square], &[&square]]), "row 1 of the grid has 1 patterns, but row 0 has 2");
    says(merge(&[&[&square, &tall]]), "pattern [0, 1] of the grid has 3 rows, but the first one there has 2");
    says(merge(&[&[&square], &[&wide]]), "pattern [1, 0] of the grid has 3 columns, but the first one there has 2");
}

#[test]
fn a_thread_that_does_not_start_is_an_error() {
    let error = PlanError::NoThread { reason: std::io::ErrorKind::WouldBlock };
    assert_eq!(error.to_string(), "a thread could not be started (operation would block); use fewer threads");
}
