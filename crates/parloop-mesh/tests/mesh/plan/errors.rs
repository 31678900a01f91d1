//! What plans refuse, word for word.

use parloop_mesh::plan::{Blocks, Elements, Incidence, Inverse, Owned, PlanError, Rank, Table, cuthill_mckee, element_order};

use super::Loop;

fn table(values: &[i32], arity: usize, targets: usize) -> Table<'_> {
    Table { values, arity, set: 0, targets, drops: false }
}

fn says<T: std::fmt::Debug>(result: Result<T, PlanError>, message: &str) {
    assert_eq!(result.expect_err("a refusal").to_string(), message);
}

#[test]
fn tables_must_have_whole_rows_for_all_elements() {
    let ragged = Incidence::new(Elements::Range(0..1), &[table(&[0, 1, 2], 2, 3)]);
    says(ragged, "table 0 has 3 values, which is not a multiple of its arity 2; give `rows * arity` values");
    let none = Incidence::new(Elements::Range(0..1), &[table(&[0], 0, 3)]);
    says(none, "table 0 has 1 values, which is not a multiple of its arity 0; give `rows * arity` values");
    let short = Incidence::new(Elements::List(&[0, 2]), &[table(&[0, 1], 1, 3)]);
    says(short, "element 2 has no row in table 0, which has 2 rows");
}

#[test]
fn values_must_be_targets() {
    let message = "table 1: entry [1, 0] is 3, but the target set has 3 elements";
    says(Incidence::new(Elements::Range(0..2), &[table(&[0, 1], 1, 3), table(&[0, 3], 1, 3)]), message);
    let message = "table 0: entry [0, 1] is -1, but the target set has 3 elements";
    says(Incidence::new(Elements::Range(0..1), &[table(&[0, -1], 2, 3)]), message);
    let message = "table 0: entry [0, 0] is 0, but the target set has 0 elements";
    says(Incidence::new(Elements::Range(0..1), &[table(&[0], 1, 0)]), message);
}

#[test]
fn a_table_that_drops_takes_negative_values_and_no_others_out_of_range() {
    let dropping = |values| Table { drops: true, ..table(values, 2, 3) };
    assert!(Incidence::new(Elements::Range(0..1), &[dropping(&[i32::MIN, 2])]).is_ok());
    let message = "table 0: entry [0, 1] is 3, but the target set has 3 elements";
    says(Incidence::new(Elements::Range(0..1), &[dropping(&[-1, 3])]), message);
}

#[test]
fn values_outside_of_the_loop_do_not_matter() {
    let outside = [7, 0, -1];
    assert!(Incidence::new(Elements::Range(1..2), &[table(&outside, 1, 1)]).is_ok());
    assert!(Incidence::new(Elements::List(&[1]), &[table(&outside, 1, 1)]).is_ok());
}

#[test]
fn one_set_has_one_size() {
    let message = "table 1 needs 4 elements in set 0, but an earlier table needs 3";
    says(Incidence::new(Elements::Range(0..1), &[table(&[0], 1, 3), table(&[0], 1, 4)]), message);
}

#[test]
fn lists_of_elements_must_ascend() {
    let rows = table(&[0, 0, 0], 1, 1);
    says(
        Incidence::new(Elements::List(&[1, 0, 1]), &[rows]),
        "a list of elements must have non-negative entries without repeats, but entry 2 is 1",
    );
    says(
        Incidence::new(Elements::List(&[1, 1]), &[rows]),
        "a list of elements must have non-negative entries without repeats, but entry 1 is 1",
    );
    says(
        Incidence::new(Elements::List(&[-1, 1]), &[rows]),
        "a list of elements must have non-negative entries without repeats, but entry 0 is -1",
    );
    says(
        Incidence::new(Elements::List(&[1, -1]), &[rows]),
        "a list of elements must have non-negative entries without repeats, but entry 1 is -1",
    );
}

#[test]
fn what_does_not_fit_in_32_bits_is_refused() {
    let many = Elements::Range(0..3_000_000_000);
    says(Incidence::new(many, &[]), "the number of elements would be 3000000000, but an index has 32 bits, up to 2147483647");
    let large = Table { values: &[], arity: 1, set: 0, targets: 3_000_000_000, drops: false };
    let message = "the number of targets would be 3000000000, but an index has 32 bits, up to 2147483647";
    says(Incidence::new(Elements::Range(0..0), &[large]), message);
    // The last element of a short list is large, and so is its entry.
    let values = vec![0; 70_000_000];
    let tables = [table(&values, 1, 1); 32];
    let incidence = Incidence::new(Elements::List(&[69_999_999]), &tables).expect("a sound loop");
    let message = "the largest entry of an inverse would be 2240000000, but an index has 32 bits, up to 2147483647";
    says(Inverse::new(&incidence), message);
}

#[test]
fn plans_of_one_set_refuse_several() {
    let tables = [table(&[0], 1, 1), Table { set: 9, ..table(&[0], 1, 1) }];
    let incidence = Incidence::new(Elements::Range(0..1), &tables).expect("a sound loop");
    says(Inverse::new(&incidence), "an inverse needs tables that lead to one set, but these lead to 2 sets; make one for each set");
    says(cuthill_mckee(&incidence), "a rank needs tables that lead to one set, but these lead to 2 sets; make one for each set");
    says(
        element_order(&incidence, None),
        "an element order needs tables that lead to one set, but these lead to 2 sets; make one for each set",
    );
}

#[test]
fn ranks_and_orders_must_be_permutations() {
    let of = Loop::grid(1);
    let incidence = of.incidence();
    let twice = "the rank must be a permutation of 4 numbers, but it has 4 entries and entry 2 is wrong";
    says(element_order(&incidence, Some(&[0, 1, 1, 2])), twice);
    says(Owned::new(&incidence, 2, &[Rank { set: 0, places: &[0, 1, 4, 2] }]), twice);
    let short = "the rank must be a permutation of 4 numbers, but it has 1 entries and entry 1 is wrong";
    says(element_order(&incidence, Some(&[3])), short);
    let negative = "the order must be a permutation of 2 numbers, but it has 2 entries and entry 1 is wrong";
    says(Blocks::new(&incidence, Some(&[1, -1]), 1), negative);
    let unknown = "a rank was given for set 5, but no table of the loop leads to it";
    says(Owned::new(&incidence, 2, &[Rank { set: 5, places: &[] }]), unknown);
}

#[test]
fn owner_computes_has_at_least_one_part() {
    let incidence = Incidence::new(Elements::Range(0..1), &[table(&[0], 1, 1)]).expect("a sound loop");
    says(Owned::new(&incidence, 0, &[]), "0 parts were requested; the number must be 1 to 16777216");
}

#[test]
fn blocks_are_not_empty() {
    says(Blocks::new(&Loop::grid(1).incidence(), None, 0), "blocks of 0 elements were requested; a block needs at least 1");
}
