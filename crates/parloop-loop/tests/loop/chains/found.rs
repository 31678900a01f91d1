//! Cases that random chains found, minimised: each must be refused, or keep its numbers.

mod copies;

use super::case::Case;
use super::oracle::{length, meaning};
use super::verify::{Outcome, TestDevice, verify};

/// Why a case is refused on every device.
fn refusal(text: &str) -> String {
    match outcome(text) {
        Outcome::Refused { message, .. } => message,
        other => panic!("{other:?}"),
    }
}

/// What becomes of a case on every device.
fn outcome(text: &str) -> Outcome {
    verify(&Case::parse(text).unwrap(), &TestDevice::all(), None)
}

#[test]
fn lanes_keep_the_limits_of_their_loops_behind_a_barrier() {
    let found = outcome(
        "; sizes 2 5
kernel f
domain {[i]: 0 <= i < n}
domain {[j]: 0 <= j < e}
data
  b: global int32[2*n + 16, 2*n + 16]
  e: temp int32
  n: value int32
instructions
  e = b[i + 3, i] % 4 {id=limit, dep=*, inames=i}
  b[i + 2, j] = 1 {id=set, dep=*limit, inames=i:j}

; chain
split_iname i 3 inner_tag=l.0
",
    );
    assert_eq!(found, Outcome::Same);
}

#[test]
fn an_instruction_runs_where_its_sum_is_empty_whatever_is_fixed() {
    for step in ["", "fix_parameters n=5", "split_iname j 2"] {
        let text = format!(
            "; sizes 5
kernel f
domain {{[i, r]: 0 <= i < n and (i < 2 or i > 2) and i < r < n - 1}}
domain {{[j]: i < j < n}}
data
  y: global int32[2*n + 16]
  z: global int32[2*n + 16, 2*n + 16]
  n: value int32
instructions
  z[n + 6 - i, j + 3] = 5 + sum(r, y[j + r]) {{id=set, dep=*, inames=i:j}}

; chain
{step}
"
        );
        // `i = 3, j = 4` has no value of `r`.
        let numbers = meaning(&Case::parse(&text).unwrap()).unwrap();
        assert_eq!(numbers[0]["z"][8 * length(5) + 7], 5.0);
        assert_eq!(outcome(&text), Outcome::Same, "{step}");
    }
}

#[test]
fn checked_runs_see_what_a_call_writes_to_a_part_that_it_reads() {
    let message = refusal(
        "; sizes 7
kernel f
domain {[i]: 0 <= i < n}
domain {[from, to, l, m]: 0 <= from, to, l < 6 and 0 <= m < 5}
data
  b, z: global int32[2*n + 16, 2*n + 16]
  y: global int32[2*n + 16]
  n: value int32
instructions
;= z[i + 1, l + 1] = b[i, 5 - l] {id=reversed, dep=*, inames=i:l}
;= z[i + 1, m + 2] = (z[i + 1, m + 1] + b[i, m + 1]) % 89 {id=call, dep=*reversed, inames=i:m}
  [to]: z[i + 1, to + 1] = sums([from]: b[i, from], [to]: z[i + 1, to + 1]) {id=call, dep=*, inames=i}
  y[i + 4] = z[i + 2, 2*i + 4] {id=get, dep=*call, inames=i, if=b[2*i, i % 3 + 2] % 2 == 1}
function sums
domain {[l, m]: 0 <= l < 6 and 0 <= m < 5}
data
  from, to: global int32[6]
instructions
  to[l] = from[5 - l] {id=reversed, inames=l}
  to[m + 1] = (to[m] + from[m + 1]) % 89 {id=add, dep=*reversed, inames=m}

; chain
map_domain \"{[i] -> [h]: h = n - 1 - i}\"
",
    );
    assert!(message.contains("`z[") && message.contains("`call`") && message.contains("`get`"), "{message}");
}

#[test]
fn a_value_that_is_substituted_is_rounded_as_it_was_stored() {
    let bodies = [
        ("t: temp int32", "t = 0.5*i", "a[i] = y[i] + t"),
        ("t: temp int32", "t = sum(r, y[i + r])", "a[i] = y[i] + t"),
        ("t: temp float64", "t = y[i] // 2", "a[i] = t / 4"),
    ];
    for (data, set, get) in bodies {
        let text = format!(
            "; sizes 5
kernel f
domain {{[i]: 0 <= i < n}}
domain {{[r]: 0 <= r < 3}}
data
  a: global float64[2*n + 16]
  {data}
  y: global int32[2*n + 16]
  n: value int32
instructions
  {set} {{id=set, dep=*, inames=i}}
  {get} {{id=get, dep=*set, inames=i}}

; chain
assignment_to_subst t
"
        );
        assert_eq!(outcome(&text), Outcome::Same, "{set}");
    }
}

#[test]
fn elements_that_share_memory_go_on_to_do_so() {
    let kernel = |strides: &str, step: &str| {
        format!(
            "; sizes 3
kernel f
domain {{[i, j]: 0 <= i, j < n}}
data
;= w: global int32[2*n + 16]
  w: global int32[2*n + 16, 2*n + 16] {{dim_tags=[{strides}]}}
  x: global int32[2*n + 16]
  n: value int32
instructions
;= w[j + 1] = w[j] + x[i] {{id=set, dep=*, inames=i:j}}
  w[i, j + 1] = w[i + 1, j] + x[i] {{id=set, dep=*, inames=i:j}}

; chain
{step}
"
        )
    };
    let rows = "stride(0), stride(1)";
    for step in ["", "split_array_axis w 0 4", "tag_array_axes w \"stride:0, stride:1\"", "tag_array_axes x \"stride:1\""] {
        assert_eq!(outcome(&kernel(rows, step)), Outcome::Same, "{step}");
    }
    for (strides, step, which) in
        [(rows, "N1, N0", "before"), ("N1, N0", "stride:0, stride:1", "after"), ("N1, N0", "stride:1, stride:1", "after")]
    {
        let message = refusal(&kernel(strides, &format!("tag_array_axes w \"{step}\"")));
        let expected = format!(
            "tag_array_axes: elements of `w` share memory through its strides {which} the change, and the kernel writes to it, so other axis tags would change the results; make another array with that layout and copy"
        );
        assert_eq!(message, expected);
    }
}

#[test]
fn an_atomic_update_of_an_integer_rounds_the_sum() {
    for update in ["y[q[i]] + 0.5*i", "y[q[i]] - 0.5*i", "0.5 + y[q[i]] + 1", "y[q[i]] + 1 + q[i]"] {
        let text = format!(
            "; sizes 2 7
kernel f
domain {{[i]: 0 <= i < n}}
data
  q: global int32[2*n + 16]
  y: global int32[2*n + 16]
  n: value int32
instructions
  y[q[i]] = {update} {{id=set, dep=*, inames=i, atomic}}

; chain
"
        );
        assert_eq!(outcome(&text), Outcome::Same, "{update}");
    }
}

#[test]
fn temporaries_whose_elements_share_memory_get_no_copies_and_no_rule() {
    let kernel = |step: &str| {
        format!(
            "; sizes 3 5
kernel f
domain {{[i]: 0 <= i < n}}
domain {{[c, d]: 0 <= c, d < 6}}
data
  x: global int32[2*n + 16]
  y: global int32[2*n + 16]
;= t: temp int32[6]
  t: temp int32[6, 6] {{dim_tags=[stride(0), stride(1)]}}
  n: value int32
instructions
;= t[d] = 3*c + x[d + i] {{id=set, dep=*, inames=i:c:d}}
  t[c, d] = 3*c + x[d + i] {{id=set, dep=*, inames=i:c:d}}
;= y[i] = t[1] + t[i % 6] {{id=get, dep=*set, inames=i}}
  y[i] = t[0, 1] + t[5, i % 6] {{id=get, dep=*set, inames=i}}

; chain
{step}
"
        )
    };
    for step in ["", "split_iname i 2 inner_tag=l.0", "tag_inames i=g.0"] {
        assert_eq!(outcome(&kernel(step)), Outcome::Same, "{step}");
    }
    for step in ["privatize_temporaries_with_inames i", "split_iname i 2 inner_tag=ilp", "split_iname i 4 inner_tag=vec"] {
        let message = refusal(&kernel(step));
        let expected = "elements of temporary `t` share memory through its strides, so it cannot have an entry for each value of an iname; give it its own layout";
        assert!(message.ends_with(expected), "{message}");
    }
    let expected = "assignment_to_subst: elements of `t` share memory through its strides, so an element may hold a value assigned to another, which a rule cannot express";
    assert_eq!(refusal(&kernel("assignment_to_subst t")), expected);
}

#[test]
fn a_number_in_local_memory_is_watched_where_only_the_data_orders_it() {
    let message = refusal(
        "; sizes 2
kernel f
domain {[i]: 0 <= i < 6}
data
  t: temp int32
  x: global int32[2*n + 16]
  z: global int32[2*n + 16, 2*n + 16]
  n: value int32
instructions
  t = 2 {id=first, dep=*}
  x[n + 6 - i] = t {id=use, dep=*first, inames=i}
  t = 1 {id=set, dep=*first:use, inames=i, if=z[i, i] > 2}

; chain
set_temporary_address_space t local
duplicate_inames [i] within=\"id:set\"
",
    );
    assert!(message.contains("`set` at `i_0 = 0` writes `t`, which `use` at"), "{message}");
}

#[test]
fn a_loop_of_the_host_has_the_gaps_of_its_domain() {
    let found = outcome(
        "; sizes 5
kernel f
domain {[i, j]: 0 <= i and (i < 2 or i > 3) and i < j < n}
domain {[c]: 0 <= c < 6}
data
  t: temp int32[6]
  w: global int64[2*n + 16, 2*n + 16]
  n: value int32
instructions
  t[c] = 1 {id=first, dep=*, inames=c}
  w[j, i] = 1 + t[5 - j % 6] {id=use, dep=*first, inames=i:j}

; chain
assume \"1 <= n and n < 6\"
split_iname c 5 outer_tag=g.0
",
    );
    assert_eq!(found, Outcome::Same);
}

#[test]
fn what_is_added_up_is_not_added_again() {
    let message = refusal(
        "; sizes 2
kernel f
domain {[i]: 0 <= i < n}
domain {[j]: i - 1 <= j <= i + 1}
domain {[r]: i <= r < n}
data
  x: global int32[2*n + 16]
  n: value int32
instructions
  x[i + 1] = sum(r, r + 1) {id=set, dep=*, inames=i}

; chain
realize_reduction
add_inames_to_insn j set_r_update
",
    );
    assert!(message.contains("`set_r_update`"), "{message}");
}

#[test]
fn a_sum_whose_rule_depends_on_the_sweep_is_no_scan() {
    let found = outcome(
        "; sizes 1
kernel f
domain {[i]: 0 <= i < 3}
domain {[c]: 0 <= c < 6}
domain {[r]: 0 <= r <= i}
data
  a: global int32[2*n + 16]
  b: global int16[2*n + 16, 2*n + 16]
  t: temp int32[6]
  n: value int32
instructions
  t[c] = b[i + 4, 2*i + 2] {id=set, dep=*, inames=i:c}
  a[2*i + 1] = sum(r, t[r % 6]) {id=use, dep=*set, inames=i}

; chain
assignment_to_subst t
realize_reduction automagic_scans_ok=True
",
    );
    assert_eq!(found, Outcome::Same);
}

#[test]
fn chunks_that_a_map_moved_are_written_before_they_are_read() {
    let message = refusal(
        "; sizes 0
kernel f
domain {[i]: 0 <= i < 5}
domain {[c]: 0 <= c < 6}
data
  t: private int32[6]
  x: global int32[2*n + 16]
  n: value int32
instructions
  t[c] = 0 {id=set, dep=*, inames=c}
  x[n + 6 - i] = t[5 - i % 6] {id=use, dep=*set, inames=i}

; chain
chunk_iname c 5
affine_map_inames [c_outer, c_inner] [h, v] [\"h = c_outer\", \"v = c_inner - c_outer\"]
rename_inames [h, i] w
",
    );
    assert!(message.contains("`set`"), "{message}");
}

/// PoCL 3.1 ends the process over the barrier that stood here.
#[test]
fn an_item_that_is_alone_in_its_group_waits_for_nobody() {
    let found = outcome(
        "; sizes 1
kernel f
domain {[i, j]: 0 <= i < n and 0 <= j < n}
domain {[p, q, l, m]: 0 <= p, q, l < 6 and 0 <= m < 5}
domain {[k]: 0 <= k < n}
data
  b: global float64[2*n + 16, 2*n + 16]
  y: global int32[2*n + 16]
  z: global int32[2*n + 16, 2*n + 16]
  n: value int32
instructions
  y[j + 2] = 1 {id=first, dep=*, inames=i:j, if=z[3, j % 3 + 2] > 0.5, atomic}
;= z[i + 1, l + 1] = b[i, 5 - l] {id=call_first, dep=*first, inames=l:i}
;= z[i + 1, m + 2] = (z[i + 1, m + 1] + b[i, m + 1]) % 89 {id=call, dep=*call_first:first, inames=m:i}
  [q]: z[i + 1, q + 1] = g([p]: b[i, p], [q]: z[i + 1, q + 1]) {id=call, dep=*first, inames=i}
  y[k + 4] = 1 {id=last, dep=*first, inames=k}
function g
domain {[l, m]: 0 <= l < 6 and 0 <= m < 5}
data
  from: global float64[6]
  to: global int32[6]
instructions
  to[l] = from[5 - l] {id=first, inames=l}
  to[m + 1] = (to[m] + from[m + 1]) % 89 {id=second, dep=*first, inames=m}

; chain
add_barrier first last synchronization_kind=local
",
    );
    assert_eq!(found, Outcome::Same);
}

#[test]
fn chunks_whose_lengths_differ_from_turn_to_turn_overlap() {
    let kernel = |length: &str| {
        format!(
            "; sizes 3 6
kernel f
domain {{[i, j]: 0 <= i, j < n}}
domain {{[k]: 0 <= k < {length}}}
data
  b: global int32[2*n + 16, 2*n + 16]
  n: value int32
instructions
  b[k, n + 6 - i] = j {{id=set, dep=*, inames=i:j:k}}

; chain
chunk_iname k 2 outer_tag=g.0
"
        )
    };
    // The loop over `j` is around what is parallel.
    for length in ["n - i", "n - j"] {
        assert_eq!(outcome(&kernel(length)), Outcome::Same, "{length}");
    }
}

#[test]
fn sums_of_what_the_turns_write_are_scans_if_no_turn_changes_what_another_one_added() {
    let kernel = |place: &str| {
        format!(
            "; sizes 6
kernel f
domain {{[i]: 0 <= i < n}}
domain {{[j, k]: 0 <= j, k <= i}}
data
  x, y: global int32[2*n + 16]
  n: value int32
instructions
  x[{place}] = sum(k, k + 1) {{id=set, dep=*, inames=i}}
  y[i] = sum(j, x[j]) {{id=add, dep=*set, inames=i}}

; chain
realize_reduction force_scan=True
"
        )
    };
    for place in ["i", "i + 1", "n + i"] {
        assert_eq!(outcome(&kernel(place)), Outcome::Same, "{place}");
    }
    for place in ["0", "n - 1 - i", "i - i % 2"] {
        let message = refusal(&kernel(place));
        assert!(
            message.ends_with("the reduction over `j` is not a scan: `set` changes its operand from one value of `i` to the next"),
            "{message}"
        );
    }
}

#[test]
fn factors_are_those_of_all_terms_of_a_sum() {
    let kernel = |sum: &str, zero: &str, factor: &str| {
        format!(
            "; sizes 4
kernel f
domain {{[i, j]: 0 <= i, j < n}}
data
  s: temp {sum}
  a: global float64[2*n + 16]
  x, y: global int32[2*n + 16]
  n: value int32
instructions
  s = 0 {{id=zero, dep=*{zero}}}
  s = s + {factor}*x[j] {{id=add, dep=*zero, inames=i:j}}
  y[i] = s {{id=use, dep=*add, inames=i}}

; chain
collect_common_factors_on_increment s
"
        )
    };
    let taken = |text: &str| {
        let case = Case::parse(text).unwrap();
        let file = parloop_loop::file::LoopFile::parse(&format!("{}\n{}", case.kernel, case.steps.join("\n"))).unwrap();
        let program = file.program().unwrap();
        program.entry().unwrap().instructions[1].kind.to_string()
    };
    // What every turn of `i` begins anew, and what goes on from turn to turn.
    for (sum, zero, factor, expected) in [
        ("int32", ", inames=i", "x[i]", "s = s + x[j]"),
        ("int32", "", "x[i]", "s = s + x[i]*x[j]"),
        ("int32", ", inames=i", "a[i]", "s = s + a[i]*x[j]"),
        ("float64", ", inames=i", "a[i]", "s = s + x[j]"),
        ("int32", "", "x[3]", "s = s + x[j]"),
    ] {
        let text = kernel(sum, zero, factor);
        assert_eq!(taken(&text), expected, "{sum} {zero} {factor}");
        assert_eq!(outcome(&text), Outcome::Same, "{sum} {zero} {factor}");
    }
}

#[test]
fn temporaries_that_share_memory_move_to_global_memory_together() {
    for chain in [
        "privatize_temporaries_with_inames [i] t\nalias_temporaries [e, t]",
        "alias_temporaries [t, u, e]\nprivatize_temporaries_with_inames [i] t",
        "alias_temporaries [t, u, e]\nprivatize_temporaries_with_inames [i]",
    ] {
        let text = format!(
            "; sizes 1 4
kernel f
domain {{[i, j]: 0 <= i < n and 0 <= j < 5}}
data
  e: temp int32
  t: private int32
  u: temp int32
  y: global int32[2*n + 16]
  n: value int32
instructions
  t = 1 + i + j {{id=set, dep=*, inames=i:j}}
  y[i + j] = t {{id=use, dep=*set, inames=i:j}}

; chain
{chain}
"
        );
        assert_eq!(outcome(&text), Outcome::Same, "{chain}");
    }
}

#[test]
fn a_store_under_a_condition_keeps_its_order_where_a_compiler_distributes_loops() {
    let found = outcome(
        "; sizes 3
kernel f
domain {[i]: 0 <= i < n}
domain {[j]: 0 <= j <= i}
domain {[k]: 0 <= k < e}
data
  a: global int32[2*n + 16]
  e: temp int32
  t: private int32
  x: global int8[2*n + 16]
  n: value int32
instructions
  t = 0 {id=zero, dep=*}
  x[i] = t {id=keep, dep=*zero, inames=i:j}
  t = a[j + 2] - x[j + 1] {id=take, dep=*zero:keep, inames=i:j}
  e = x[n + 1] {id=limit, dep=*keep, inames=i:j}
  x[j] = 1 {id=set, dep=*keep:take:limit, inames=i:j:k, if=j > 1}

; chain
",
    );
    assert_eq!(found, Outcome::Same);
}

#[test]
fn a_value_that_groups_may_hand_on_in_local_memory_is_refused() {
    let message = refusal(
        "; sizes 3
kernel f
domain {[i]: 0 <= i < n}
data
  t: temp int32
  x: global int32[2*n + 16]
  n: value int32
instructions
  t = 2 {id=set, dep=*}
  t = 2*t {id=double, dep=*set, inames=i, if=x[i + 3] > 0}
  x[i + 3] = t {id=store, dep=*set:double, inames=i}

; chain
set_temporary_address_space t local
tag_inames i=g.0
",
    );
    assert!(message.contains("`i = 0` writes `t`, which `i = 1` reads; each value of `i` has its own copy of `t`"), "{message}");
}
