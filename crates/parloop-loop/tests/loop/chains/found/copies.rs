//! Cases with copies of values: buffers, fetches, entries for iterations, packed arguments, joined arrays.

use super::super::verify::Outcome;
use super::{outcome, refusal};

#[test]
fn elements_that_share_memory_get_no_buffer() {
    let message = refusal(
        "; sizes 2
kernel f
domain {[i, j]: 0 <= i, j < n}
domain {[k]: i < k < n}
data
;= w: global float64[2*n + 16]
  w: global float64[2*n + 16, 2*n + 16] {dim_tags=[stride(0), stride(1)]}
  x: global int32[2*n + 16]
  n: value int32
instructions
;= w[i + 2] = w[i + 2] + 1.5 + x[j + k + 2] {id=add, dep=*, inames=i:j:k}
  w[j + 3, i + 2] = w[j + 3, i + 2] + 1.5 + x[j + k + 2] {id=add, dep=*, inames=i:j:k}

; chain
buffer_array w [i, j]
",
    );
    let expected = "buffer_array: elements of `w` share memory through its strides, so a buffer cannot hold them separately; give the array its own layout";
    assert_eq!(message, expected);
}

#[test]
fn buffers_are_filled_and_stored_in_the_order_of_their_turns() {
    let kernel = |step: &str| {
        format!(
            "; sizes 2 5
kernel f
domain {{[i]: 0 <= i < n}}
data
  x: global int32[2*n + 16]
  n: value int32
instructions
  x[i + 2] = x[i + 1] {{id=move, dep=*, inames=i}}

; chain
{step}
"
        )
    };
    for step in ["buffer_array x []", "buffer_array x [i]", "split_iname i 2\nbuffer_array x [i_inner]"] {
        assert_eq!(outcome(&kernel(step)), Outcome::Same, "{step}");
    }
    let message = refusal(&kernel("map_domain \"{[i] -> [h]: h = -i}\"\nbuffer_array x []"));
    assert!(message.contains("`store_x` at `") && message.contains("`init_x` at `"), "{message}");
    for step in ["tag_inames i=g.0", "split_iname i 2 inner_tag=l.0", "map_domain \"{[i] -> [h]: h = n - i}\""] {
        refusal(&kernel(&format!("{step}\nbuffer_array x []")));
    }
}

#[test]
fn buffers_do_not_store_what_other_turns_wrote_to_elements_that_nobody_touches() {
    let kernel = |bound: &str, index: &str, from: &str, step: &str| {
        format!(
            "; sizes 3 5
kernel f
domain {{[o, i]: 0 <= o < 2 and 0 <= i < n}}
domain {{[k]: 0 <= k < {bound}}}
data
  x, y: global int32[2*n + 16]
  n: value int32
instructions
  x[{index}] = x[{from}] + y[k] {{id=add, dep=*, inames=o:i:k}}

; chain
tag_inames o=g.0
{step}
"
        )
    };
    assert_eq!(outcome(&kernel("2", "8*o + i % 8", "8*o + i % 8", "buffer_array x [i]")), Outcome::Same);
    for (bound, index, from, step) in
        [("2", "o", "o + 4", "buffer_array x [i] fetch_bounding_box=True"), ("1 - i", "o + i", "o + i", "buffer_array x [i]")]
    {
        let expected = "buffer_array: the buffer would hold `x[1]`, which no selected instruction accesses, and its stale value would overwrite what `add` may have written; sweep other inames";
        assert_eq!(refusal(&kernel(bound, index, from, step)), expected);
    }
}

#[test]
fn a_buffer_begins_with_what_nobody_sees() {
    let kernel = |set: &str, step: &str| {
        format!(
            "; sizes 3 5
kernel f
domain {{[i]: 0 <= i < n}}
data
  x, y: global int32[2*n + 16]
  n: value int32
instructions
  {set}

; chain
{step}
"
        )
    };
    let step = "buffer_array x [i] init_expression=3";
    assert_eq!(outcome(&kernel("x[i] = y[i] {id=set, dep=*, inames=i}", step)), Outcome::Same);
    for (set, why) in [
        ("x[i] = x[i] + y[i] {id=set, dep=*, inames=i}", "`set` reads it"),
        ("x[i] = y[i] {id=set, dep=*, inames=i, if=y[i] > 1}", "`set` is conditional"),
    ] {
        let expected = format!(
            "buffer_array: the buffer of `x` cannot be initialized to `3`: {why}, so this value would be seen instead of the one in `x`; leave it out"
        );
        assert_eq!(refusal(&kernel(set, step)), expected);
    }
    let expected = "buffer_array: the buffer of `x` cannot be initialized to `3`: some elements are not assigned, so this value would be seen instead of the one in `x`; leave it out";
    let both = "x[i] = y[i] {id=set, dep=*, inames=i}\n  x[i + n + 2] = y[i] {id=also, dep=*, inames=i}";
    let message = refusal(&kernel(both, &format!("{step} fetch_bounding_box=True")));
    assert_eq!(message, expected);
    let taken = refusal(&kernel("x[i] = y[i] {id=set, dep=*, inames=i}", "buffer_array x [i] temporary_name=y"));
    assert_eq!(taken, "buffer_array: `y` is already a name in kernel `f`; choose another one for the buffer");
}

#[test]
fn what_is_fetched_and_not_used_says_nothing_about_order() {
    let message = refusal(
        "; sizes 2
kernel f
domain {[i]: 0 <= i < n}
domain {[c]: 0 <= c < 6}
data
  t: private int32[6]
  w: global int32[2*n + 16]
  x: global int32[2*n + 16]
  n: value int32
instructions
  t[c] = 2 {id=first, dep=*, inames=c}
  x[i + 1] = t[1] + t[2] + t[i % 6] {id=use, dep=*first, inames=i}
  t[i % 6] = w[3] {id=set, dep=*first:use, inames=i}

; chain
map_domain \"{[i] -> [h]: h = n - 1 - i}\"
add_prefetch t [] fetch_bounding_box=True
",
    );
    assert!(message.contains("`set` at `h = ") && message.contains("`t_fetch_rule` at `"), "{message}");
}

#[test]
fn a_loop_that_fetches_does_not_fetch_everything_in_each_turn() {
    let kernel = |index: &str| {
        format!(
            "; sizes 2 5
kernel f
domain {{[i]: 0 <= i < n}}
data
  x, y: global int32[2*n + 16]
  n: value int32
instructions
  y[i] = x[{index}] {{id=set, dep=*, inames=i}}

; chain
add_prefetch x [i] dim_arg_names=[d]
rename_iname d i existing_ok=True
"
        )
    };
    assert_eq!(outcome(&kernel("i + 2")), Outcome::Same);
    let message = refusal(&kernel("n + 6 - i"));
    assert!(message.contains("`x_fetch_rule` at `i = ") && message.contains("`set` at `i = "), "{message}");
}

#[test]
fn an_entry_for_each_turn_is_needed_where_turns_of_another_loop_go_on_from_it() {
    let kernel = |priority: &str, zero: &str, step: &str| {
        format!(
            "; sizes 3
kernel f
domain {{[i, k]: 0 <= i, k < n}}
priority {priority}
data
  x, y: global int32[2*n + 16]
  t: temp int32[2*n]
  n: value int32
instructions
  t[i] = 0 {{id=zero, dep=*, inames={zero}}}
  t[i] = t[i] + x[k + i] {{id=add, dep=*zero, inames=i:k}}
  y[i] = t[i] {{id=use, dep=*add, inames=i:k}}

; chain
{step}
"
        )
    };
    let step = "unprivatize_temporaries_with_inames [i]";
    assert_eq!(outcome(&kernel("k, i", "i:k, if=k == 0", "")), Outcome::Same);
    for zero in ["i", "i:k, if=k == 0"] {
        assert_eq!(outcome(&kernel("i, k", zero, step)), Outcome::Same, "{zero}");
    }
    let message = refusal(&kernel("k, i", "i:k, if=k == 0", step));
    let expected = "lost order: `add` at `i = 0, k = 1` writes `t`, which `zero` at `i = 1, k = 0` overwrites; the loop over `k` runs the second instance first; order these loops so that the first instance still comes first";
    assert_eq!(message, expected);
}

#[test]
fn what_a_call_leaves_alone_is_kept_by_its_copy() {
    for (length, condition) in [("6", ""), ("3", ""), ("6", ", if=l > 2")] {
        let text = format!(
            "; sizes 3
kernel f
domain {{[i]: 0 <= i < n}}
domain {{[from, to, l]: 0 <= from, to < 6 and 0 <= l < {length}}}
data
  b, z: global int32[2*n + 16, 2*n + 16]
  n: value int32
instructions
;= z[i + 1, l + 1] = b[i, 5 - l] {{id=call, dep=*, inames=i:l{condition}}}
  [to]: z[i + 1, to + 1] = some([from]: b[i, from]) {{id=call, dep=*, inames=i}}
function some
domain {{[l]: 0 <= l < {length}}}
data
  from, to: global int32[6]
instructions
  to[l] = from[5 - l] {{id=set, inames=l{condition}}}

; chain
pack_and_unpack_args_for_call some
"
        );
        assert_eq!(outcome(&text), Outcome::Same, "{length} {condition}");
    }
}

#[test]
fn arrays_become_one_where_their_types_and_layouts_allow_it() {
    let kernel = |second: &str, tags: &str, axis: usize| {
        format!(
            "; sizes 3
kernel f
domain {{[i]: 0 <= i < n}}
domain {{[c, d]: 0 <= c, d < 6}}
data
  x, y: global int32[2*n + 16]
  s: temp int32[6, 6]{tags}
  t: temp {second}[6, 6]{tags}
  n: value int32
instructions
  s[c, d] = 3*c + x[d] {{id=one, dep=*, inames=c:d}}
  t[c, d] = 5*d + x[c] {{id=two, dep=*one, inames=c:d}}
  y[i] = s[i % 6, 1] - t[2, i % 6] {{id=use, dep=*one:two, inames=i}}

; chain
concatenate_arrays [s, t] u axis_nr={axis}
"
        )
    };
    for axis in [0, 1] {
        assert_eq!(outcome(&kernel("int32", "", axis)), Outcome::Same);
        assert_eq!(outcome(&kernel("int32", " {dim_tags=[N0, N1]}", axis)), Outcome::Same);
        let message = refusal(&kernel("int32", " {dim_tags=[stride(6), stride(1)]}", axis));
        assert_eq!(message, "concatenate_arrays: `s` is used with explicit strides, so it cannot be joined with another array");
        let message = refusal(&kernel("int64", "", axis));
        assert_eq!(message, "concatenate_arrays: `s` and `t` differ in their types; only arrays of the same kind can be joined");
    }
}

#[test]
fn a_call_knows_the_memory_of_temporaries_whose_lengths_only_a_call_knows() {
    let found = outcome(
        "; sizes 1 3
kernel f
domain {[i]: 0 <= i < n}
domain {[from, to, l]: 0 <= from, to, l < 6}
data
  b, z: global float64[2*n + 16, 2*n + 16]
  n: value int32
instructions
;= z[i + 1, l + 1] = b[i, 5 - l] {id=call, dep=*, inames=i:l}
  [to]: z[i + 1, to + 1] = reversed([from]: b[i, from]) {id=call, dep=*, inames=i}
function reversed
domain {[l]: 0 <= l < 6}
data
  from, to: global float64[6]
instructions
  to[l] = from[5 - l] {id=set, inames=l}

; chain
pack_and_unpack_args_for_call reversed
privatize_temporaries_with_inames [i]
",
    );
    assert_eq!(found, Outcome::Same);
}
