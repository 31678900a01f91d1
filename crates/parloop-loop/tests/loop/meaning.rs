//! Transformations keep the numbers that a kernel has as created, or are refused with two instances that show why.

use parloop_kernel::Context;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::loop_args;
use parloop_loop::parse;
use parloop_loop::prelude::*;
use parloop_loop::syntax::{Program, Target};
use parloop_loop::transform::apply;

/// A kernel over int64 arrays, and steps by name.
fn transformed(domains: &[&str], text: &str, data: &str, steps: &[&str]) -> Result<Program, String> {
    let mut builder = KernelBuilder::new();
    for domain in domains {
        builder = builder.domain(*domain);
    }
    builder = builder.instructions(text);
    for each in data.split(';').filter(|each| !each.is_empty()) {
        let (names, shape) = each.split_once(':').unwrap();
        builder = builder.data(Data::global(names.trim()).dtype("int64").shape(shape.trim()));
    }
    let mut program = builder.rest().build().unwrap();
    for step in steps {
        program = apply(&program, &parse::step(step).unwrap()).map_err(|error| error.to_string())?;
    }
    Ok(program)
}

/// Why a chain of steps is refused, when it is applied or when code is written.
fn refusal(domains: &[&str], text: &str, data: &str, steps: &[&str]) -> String {
    let generated =
        transformed(domains, text, data, steps).and_then(|program| program.generate(Target::C).map_err(|error| error.to_string()));
    match generated {
        Ok(generated) => panic!("accepted: {}", generated.schedule),
        Err(message) => message,
    }
}

fn accepted(domains: &[&str], text: &str, data: &str, steps: &[&str]) -> Vec<String> {
    let program = transformed(domains, text, data, steps).unwrap();
    let generated = program.generate(Target::C).unwrap_or_else(|error| panic!("{error}"));
    generated.doubts.iter().map(ToString::to_string).collect()
}

#[test]
fn a_recurrence_is_not_run_by_work_groups() {
    let found = refusal(&["{[i]: 1<=i<64}"], "a[i] = a[i-1] + 1", "a: 64", &["tag_inames i=g.0"]);
    assert_eq!(
        found,
        "race: instruction `insn`: `i = 1` writes `a[1]`, which `i = 2` reads; running `i` in parallel does not keep that order; run it sequentially, let each instance write its own elements, make the update atomic, or silence write_race(insn)"
    );
}

#[test]
fn loops_that_carry_a_diagonal_are_not_interchanged() {
    let found = refusal(&["{[i,j]: 1<=i<8 and 0<=j<7}"], "a[i,j] = a[i-1,j+1] + 1", "a: 8, 8", &["prioritize_loops [j, i]"]);
    assert!(found.starts_with("lost order: instruction `insn`: `i = 1, j = "), "{found}");
    assert!(found.contains("the loop over `j` runs the second instance first"), "{found}");
    assert_eq!(accepted(&["{[i,j]: 1<=i<8 and 0<=j<7}"], "a[i,j] = a[i-1,j] + 1", "a: 8, 8", &["prioritize_loops [j, i]"]).len(), 0);
}

#[test]
fn loops_that_run_in_opposite_directions_are_not_fused() {
    let domains = ["{[i]: 0<=i<8}", "{[j]: 0<=j<8}"];
    let text = "a[i] = x[i] {id=p}\nb[j] = a[7-j] {id=q, dep=p}";
    let found = refusal(&domains, text, "a, b, x: 8", &["rename_iname j i existing_ok=True"]);
    assert!(found.contains("writes `a[") && found.contains("`q` at `i = "), "{found}");
    let text = "a[i] = x[i] {id=p}\nb[j] = a[j] {id=q, dep=p}";
    assert_eq!(accepted(&domains, text, "a, b, x: 8", &["rename_iname j i existing_ok=True"]).len(), 0);
}

#[test]
fn the_parts_of_a_split_recurrence_stay_in_order() {
    let steps = ["split_iname i 8", "prioritize_loops [i_inner, i_outer]"];
    let found = refusal(&["{[i]: 1<=i<64}"], "a[i] = a[i-1] + 1", "a: 64", &steps);
    assert!(found.contains("the loop over `i_inner` runs the second instance first"), "{found}");
    assert_eq!(accepted(&["{[i]: 1<=i<64}"], "a[i] = a[i-1] + 1", "a: 64", &steps[..1]).len(), 0);
}

#[test]
fn scatters_through_data_have_a_barrier_between_turns_and_a_doubt() {
    let program = transformed(&["{[t,l]: 0<=t<5 and 0<=l<16}"], "x[p[t,l]] = 2*x[p[t,l]] + l", "x: 16; p: 5, 16", &["tag_inames l=l.0"]);
    let generated = program.unwrap().generate(Target::C).unwrap();
    assert_eq!(generated.schedule.to_string(), "launch loopy_kernel\n  for t\n    barrier local, global memory\n    run insn\n");
    let doubts: Vec<String> = generated.doubts.iter().map(ToString::to_string).collect();
    assert_eq!(doubts, ["instances of `insn` may access the same elements of `x` in a different order along `l`"]);
}

#[test]
fn names_of_the_user_do_not_meet_those_of_the_analysis() {
    let text = "<>s[l] = a[l] {id=put}\nb[m] = s[15 - m] {id=get, dep=put, inames=m}\nc[l__first] = 1";
    let domains = ["{[l]: 0<=l<16}", "{[m]: 0<=m<16}", "{[l__first]: 0<=l__first<16}"];
    let program = transformed(&domains, text, "a, b, c: 16", &["tag_inames l=l.0 m=l.0 l__first=l.0"]).unwrap();
    let schedule = program.generate(Target::C).unwrap().schedule.to_string();
    assert!(schedule.contains("run put\n  barrier local, local memory\n  run get"), "{schedule}");
}

#[test]
fn a_value_stands_only_where_it_was_assigned() {
    let text = "v[i] = 2*a[i] {id=set}\nb[j] = v[j] {id=get, dep=set}";
    let found = refusal(&["{[i]: 0<=i<4}", "{[j]: 0<=j<8}"], text, "v, a, b: 8", &["assignment_to_subst v"]);
    assert!(found.contains("instruction `get` reads `v[4]`, which `set` does not assign"), "{found}");
    let text = "v[i] = 2*a[i] {id=set}\na[k] = 0 {id=clear, dep=set}\nb[j] = v[j] {id=get, dep=set:clear}";
    let domains = ["{[i]: 0<=i<8}", "{[j]: 0<=j<8}", "{[k]: 0<=k<8}"];
    let found = refusal(&domains, text, "v, a, b: 8", &["assignment_to_subst v"]);
    assert!(found.contains("`clear` writes `a`, from which `set` computes `v`, between the assignment and its use"), "{found}");
}

#[test]
fn a_recurrence_is_not_reversed() {
    let reverse = ["map_domain \"{[i] -> [k]: k = 63 - i}\""];
    let found = refusal(&["{[i]: 0<=i<64}"], "x[i+1] = x[i] + b[i]", "x: 65; b: 64", &reverse);
    assert!(found.contains("the loop over `k` runs the second instance first"), "{found}");
    assert_eq!(accepted(&["{[i]: 0<=i<64}"], "x[i+1] = b[i]", "x: 65; b: 64", &reverse).len(), 0);
}

#[test]
fn a_neighbour_is_read_before_it_changes_whatever_runs_at_once() {
    let text = "x[i] = b[i] {id=set}\ny[i] = x[i+1] + x[i] {id=get, dep=set}";
    for tag in ["ilp", "vec", "l.0", "g.0"] {
        let found = refusal(&["{[i]: 0<=i<16}"], text, "x: 17; y, b: 16", &[&format!("tag_inames i={tag}")]);
        assert!(found.contains("`get` at `i = ") && found.contains("overwrites"), "{tag}: {found}");
    }
    assert_eq!(accepted(&["{[i]: 0<=i<16}"], text, "x: 17; y, b: 16", &["tag_inames i=unr"]).len(), 0);
}

#[test]
fn what_changes_is_not_fetched_ahead() {
    let text = "x[i//2] = x[i//2]*5 + b[i]";
    let found = refusal(&["{[i]: 0<=i<16}"], text, "x: 8; b: 16", &["add_prefetch x [i]"]);
    assert!(found.contains("`x`"), "{found}");
    let text = "x[i+1] = x[i] + b[i]";
    let found = refusal(&["{[i]: 0<=i<16}"], text, "x: 17; b: 16", &["add_prefetch x [i] fetch_outer_inames=[]"]);
    assert!(found.contains("`x"), "{found}");
}

#[test]
fn tiles_and_reuse_are_no_matter_of_order() {
    let text = "c[i,j] = sum(k, a[i,k]*b[k,j])";
    let steps = [
        "split_iname i 16 outer_tag=g.0 inner_tag=l.1",
        "split_iname j 16 outer_tag=g.1 inner_tag=l.0",
        "split_iname k 16",
        "add_prefetch a [k_inner, i_inner] default_tag=l.auto",
        "add_prefetch b [j_inner, k_inner] default_tag=l.auto",
    ];
    assert_eq!(accepted(&["{[i,j,k]: 0<=i,j,k<n}"], text, "a, b, c: n, n", &steps).len(), 0);
    let chunk = ["chunk_iname i 4 outer_tag=g.0"];
    assert_eq!(accepted(&["{[i]: 0<=i<n}"], "c[i] = 2*a[i]", "a, c: n", &chunk).len(), 0);
}

#[test]
fn an_instruction_that_goes_on_from_what_it_wrote_stays_in_its_loops() {
    let domain = ["{[i,j]: 0<=i<4 and 0<=j<8}"];
    let steps = ["remove_inames_from_insn i s"];
    let found = refusal(&domain, "y[j] = 3*y[j] {id=s, inames=i:j}", "y: 8", &steps);
    assert!(found.contains("instruction `s` reads `y`, which it also writes"), "{found}");
    let behind_a_rule = ["extract_subst old \"y[u]\" [u]", steps[0]];
    let found = refusal(&domain, "y[j] = 3*y[j] {id=s, inames=i:j}", "y: 8", &behind_a_rule);
    assert!(found.contains("instruction `s` reads `y`, which it also writes"), "{found}");
    assert_eq!(accepted(&domain, "y[j] = 3*x[j] {id=s, inames=i:j}", "x, y: 8", &steps).len(), 0);
}

#[test]
fn a_loop_limit_is_not_read_ahead_of_what_changes_it() {
    let domains = ["{[i]: 0<=i<4}", "{[j]: 0<=j<4}", "{[k]: 0<=k<e}"];
    let text = "<int64>e = z[i, 0] % 4 {id=s, dep=*, inames=i:j}\nz[i, j] = k {id=t, dep=*s, inames=i:j:k}";
    let found = refusal(&domains, text, "z: 4, 4", &["remove_inames_from_insn j s"]);
    assert!(found.contains("`t`") && found.contains("`z[0, 0]`"), "{found}");
}

#[test]
fn a_number_of_one_turn_is_not_read_in_another_however_the_turns_are_cut() {
    let text = "<>t = x[i] {id=set}\ny[7 - i] = t {id=get, dep=set}";
    for within in ["id:set", "id:get"] {
        let chunk = format!("chunk_iname i 3 within={within}");
        let found = refusal(&["{[i]: 0<=i<8}"], text, "x, y: 8", &[&chunk]);
        assert!(found.contains("`set`") && found.contains("`get`"), "{found}");
    }
    assert_eq!(accepted(&["{[i]: 0<=i<8}"], text, "x, y: 8", &["chunk_iname i 3"]).len(), 0);
    let text = "<>t = 0 {id=start}\nt = 1 {id=set, dep=start, inames=i, if=a[i] > 1}\ny[i] = t {id=get, dep=start:set}";
    let found = refusal(&["{[i]: 0<=i<8}"], text, "a, y: 8", &["duplicate_inames [i] within=id:get"]);
    assert!(found.contains("`t`"), "{found}");
}

#[test]
fn an_iname_does_not_bring_the_constraints_of_another_to_an_instruction() {
    let domains = ["{[i,j]: 0<=i,j<8 and i-1<=j<=i+1}", "{[k]: 0<=k<8}", "{[l]: 0<=l<8}"];
    let steps = ["rename_iname l j existing_ok=True", "rename_iname i k existing_ok=True"];
    let found = refusal(&domains, "z[l, k] = 1 {id=s}", "z: 8, 8", &steps);
    assert!(found.contains("with `k` in place of `i`, instruction `s` would run for"), "{found}");
    assert_eq!(accepted(&domains[1..], "z[l, k] = 1 {id=s}\ny[k] = 2", "z: 8, 8; y: 8", &["rename_iname k i"]).len(), 0);
}

#[test]
fn a_scan_has_all_steps_and_steady_summands() {
    let scan = ["realize_reduction force_scan=True"];
    let domains = ["{[i]: 0<=i<9 and i mod 2 = 0}", "{[r]: 0<=r<=i}"];
    let found = refusal(&domains, "y[i] = sum(r, x[r])", "x, y: 9", &scan);
    assert!(found.contains("`i` has gaps"), "{found}");
    let domains = ["{[i]: 0<=i<9}", "{[r]: 0<=r<=i}"];
    let text = "y[i] = sum(r, x[r//2 + 1]) {id=s}\nx[i + 1] = 1 {id=t, dep=s}";
    let found = refusal(&domains, text, "x, y: 10", &scan);
    assert!(found.contains("`t` changes its operand from one value of `i` to the next"), "{found}");
    assert_eq!(accepted(&domains, "y[i] = sum(r, x[r//2 + 1])", "x, y: 10", &scan).len(), 0);
}

#[test]
fn lanes_do_not_scatter_through_data() {
    let found = refusal(&["{[i]: 0<=i<4}"], "x[p[i]] = x[i] + 1 {id=s}", "x: 8; p: 4", &["tag_inames i=vec"]);
    assert!(found.contains("running `i` in parallel does not keep that order"), "{found}");
}

#[test]
fn a_fetch_is_not_put_into_a_loop_that_may_not_run() {
    let domains = ["{[i]: 0<=i<4}", "{[j]: i<j<4}"];
    let found = refusal(&domains, "y[i] = x[i + 1]\nz[j] = 1 {inames=i:j}", "x, y, z: 5", &["add_prefetch x [] fetch_outer_inames=[i, j]"]);
    assert!(found.contains("`j` has no values for `i = 3`"), "{found}");
}

#[test]
fn an_axis_without_values_makes_a_group_that_does_nothing() {
    let program = transformed(&["{[i]: 1<=i<n}"], "x[i] = 1", "x: 8", &["assume \"n <= 8\"", "fix_parameters n=1", "tag_inames i=l.0"]);
    let generated = program.unwrap().generate(Target::OpenCl).unwrap();
    assert_eq!(generated.schedule.launches[0].group_size, [parloop_loop::syntax::Expr::int(1)]);
}

#[test]
fn a_reduction_over_the_loop_of_others_runs_in_it() {
    let domains = ["{[t]: 0<=t<4}", "{[b]: 0<=b<3}", "{[s]: 0<=s<count}"];
    let text = "for t\nfor b\n<>count = counts[b]\nend\na[t] = sum((b, s), 1)\nend";
    let schedule = transformed(&domains, text, "a: 4; counts: 3", &[]).unwrap().generate(Target::C).unwrap().schedule.to_string();
    let [loop_b, set, sum, result] = ["for b", "run insn\n", "update", "run insn_0\n"].map(|part| schedule.find(part).unwrap());
    assert!(loop_b < set && set < sum && sum < result, "{schedule}");
    let text = "for t\nfor b\n<>v = x[b] + t {id=set}\nend\na[t] = sum(b, v) {id=total}\nend";
    assert_eq!(accepted(&domains[..2], text, "a: 4; x: 3", &[]).len(), 0);
    assert_eq!(accepted(&domains[..2], text, "a: 4; x: 3", &["tag_inames t=g.0"]).len(), 0);
    let found = refusal(&domains[..2], text, "a: 4; x: 3", &["duplicate_inames [b] within=id:set"]);
    assert!(found.contains("`set`") && found.contains("`v`"), "{found}");
}

#[test]
fn a_fetch_that_is_done_again_in_each_turn_has_no_order_between_turns() {
    let steps = ["add_prefetch a", "add_prefetch b", "prioritize_loops [i, j]", "add_inames_to_insn i writes:b_fetch"];
    let program = transformed(&["{[i,j]: 0<=i,j<8}"], "c[i, j] = a[i]*b[j] {id=product}", "a, b: 8; c: 8, 8", &steps).unwrap();
    assert_eq!(program.generate(Target::C).unwrap().doubts.len(), 0);
}

#[test]
fn a_table_that_is_whole_in_each_turn_is_read_anywhere() {
    let domains = ["{[i]: 0<=i<16}", "{[k]: 0<=k<4}"];
    let text = "<>table[k] = k*i {id=fill}\n<>at = x[i] % 4 {id=find}\ny[i] = table[at] {id=get, dep=fill:find}";
    assert_eq!(accepted(&domains, text, "x, y: 16", &["tag_inames i=g.0"]).len(), 0);
    let text = text.replace("table[k] = k*i {id=fill}", "table[k] = k*i {id=fill, if=k<3}");
    assert!(refusal(&domains, &text, "x, y: 16", &["tag_inames i=g.0"]).contains("`table"));
}

#[test]
fn a_limit_of_a_loop_gets_no_axis() {
    let domains = ["{[i]: 0<=i<8}", "{[k]: 0<=k<e}"];
    let text = "<int64>e = x[i] % 4 {id=set}\ny[i] = y[i] + k {id=add, dep=set, inames=i:k}";
    for steps in [&["privatize_temporaries_with_inames [i] e"][..], &["split_iname i 4 inner_tag=vec"]] {
        let found = refusal(&domains, text, "x, y: 8", steps);
        assert!(found.contains("is a bound of the loop over `k`, which is a single number"), "{found}");
    }
}

/// gcc 12 and 13 lose this store at `-O2`, unless integers wrap.
#[test]
fn stores_at_falling_indices_in_nested_loops_are_made() {
    let program = KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .domain("{[j]: 0<=j<n - i}")
        .domain("{[r]: j<=r<n}")
        .instructions("<>t = x[j % 3 + 3] {id=set, dep=*, inames=i:j}\nx[n + 6 - j] = sum(r, x[j + 3]) + t {dep=*set, inames=i:j}")
        .data(Data::global("x").dtype("int32").shape("2*n + 16"))
        .rest()
        .build()
        .unwrap();
    let program = apply(&program, &parse::step("split_iname r 2").unwrap()).unwrap();
    for device in ["cpu:1", "cpu:2"] {
        let context = Context::open(device).unwrap();
        let mut expected: Vec<i32> = (0..18).map(|i| -i).collect();
        let mut x = context.array(&expected).unwrap();
        program.compile(&context).unwrap().call(loop_args! { x: &mut x, n: 1 }).unwrap();
        expected[7] = -6;
        assert_eq!(x.to_vec().unwrap(), expected, "{device}");
    }
}

#[test]
fn a_value_that_goes_from_one_turn_to_the_next_gets_no_copies() {
    let ways = [
        "split_iname i 4 inner_tag=ilp",
        "split_iname i 4 inner_tag=ilp.seq",
        "split_iname i 4 inner_tag=vec",
        "privatize_temporaries_with_inames [i] t",
    ];
    let texts = [
        // Read before it is written.
        "o[i] = t {id=get, dep=*, if=i>0}\n<>t = a[i] {id=set, dep=get}",
        "o[i] = t if i > 0 else -1 {id=get, dep=*}\n<>t = a[i] {id=set, dep=get}",
        // Written in some turns.
        "<>t = a[i] {id=set, if=a[i]>5}\no[i] = t {id=get, dep=set}",
        "<>t = a[i] {id=set, if=i%2 == 0}\no[i] = t {id=get, dep=set}",
        // What decides changes in between.
        "<>t = a[i] {id=set, dep=*, if=a[i]>5}\na[i] = 9 {id=change, dep=*set}\no[i] = t {id=get, dep=*set:change, if=a[i]>5}",
    ];
    for (text, way) in texts.iter().flat_map(|text| ways.iter().map(move |way| (text, way))) {
        let found = refusal(&["{[i]: 0<=i<8}"], text, "a, o: 8", &[way]);
        assert!(found.contains("temporary `t` cannot have one entry for each value of"), "{text}, {way}: {found}");
        assert!(found.contains("`set` at") && found.contains("writes `t`, which `get` at"), "{text}, {way}: {found}");
    }
    let text = "<>t = a[i] {id=set}\nt = t + 1 {id=add, dep=set, if=a[i]>3}\no[i] = t + sum(j, a[j]) {id=get, dep=add}";
    for way in ways {
        assert_eq!(accepted(&["{[i]: 0<=i<8}", "{[j]: 0<=j<8}"], text, "a, o: 8", &[way]).len(), 0, "{way}");
    }
}

#[test]
fn a_value_under_a_condition_is_read_under_the_same_one_in_parallel() {
    let text = "<>t = a[i]*2 {id=set, if=a[i]>5}\nb[i] = t {id=get, dep=set, if=a[i]>5}\nc[i] = sum(j, a[j]) {if=a[i]>3}";
    for tag in ["g.0", "ilp"] {
        assert_eq!(accepted(&["{[i]: 0<=i<8}", "{[j]: 0<=j<8}"], text, "a, b, c: 8", &[&format!("tag_inames i={tag}")]).len(), 0, "{tag}");
    }
    // The second condition may hold where the first did not.
    let text = "<>t = a[i]*2 {id=set, dep=*, if=a[i]>5}\na[i] = 9 {id=change, dep=*set}\nb[i] = t {id=get, dep=*set:change, if=a[i]>5}";
    let found = refusal(&["{[i]: 0<=i<8}"], text, "a, b: 8", &["tag_inames i=g.0"]);
    assert!(found.contains("writes `t`"), "{found}");
    let text = "<>t = 1 {id=set, dep=*, if=a[i]>5}\na[i] = 9 {id=change, dep=*set}\nt = 2 {id=again, dep=*change, if=not (a[i]>5)}\n\
                b[i] = t {id=get, dep=*again}";
    let found = refusal(&["{[i]: 0<=i<8}"], text, "a, b: 8", &["tag_inames i=g.0"]);
    assert!(found.contains("`t`"), "{found}");
}

/// What `o` is after a kernel with int64 arrays ran, of which `o` and `a` are as given.
fn ran(program: &Program, a: &[i64], o: &[i64]) -> Vec<i64> {
    let context = Context::open("cpu:1").unwrap();
    let (a, mut o) = (context.array(a).unwrap(), context.array(o).unwrap());
    program.compile(&context).unwrap_or_else(|error| panic!("{error}")).call(loop_args! { a: &a, o: &mut o }).unwrap();
    o.to_vec().unwrap()
}

#[test]
fn an_empty_sum_has_a_value_whatever_is_done_to_its_inames() {
    let (domain, text, data) = (["{[i,j]: 0<=i<5 and 3<=j<=i}"], "o[i] = sum(j, a[j]) + 1", "a, o: 5");
    let chains: [&[&str]; 6] = [
        &[],
        &["affine_map_inames [i] [r] [\"r = 4 - i\"]"],
        &["affine_map_inames [j] [q] [\"q = j + 1\"]"],
        &["map_domain \"{[j] -> [p]: p = 2*j}\""],
        &["split_iname i 2", "affine_map_inames [i_outer] [q] [\"q = -i_outer\"]"],
        &["realize_reduction force_scan=True"],
    ];
    for steps in chains {
        let program = transformed(&domain, text, data, steps).unwrap();
        assert_eq!(ran(&program, &[1, 2, 3, 4, 5], &[-7; 5]), [1, 1, 1, 5, 10], "{steps:?}");
    }
    let pieces = ["{[i,j]: 0<=i<5 and 0<=j<5 and (j + 4 <= i or j > i + 2)}"];
    for steps in [&[][..], &["affine_map_inames [i] [r] [\"r = 4 - i\"]"], &["affine_map_inames [j] [q] [\"q = j + 1\"]"]] {
        let program = transformed(&pieces, text, data, steps).unwrap();
        assert_eq!(ran(&program, &[1, 2, 3, 4, 5], &[-7; 5]), [10, 6, 1, 1, 2], "{steps:?}");
    }
    // An exclusive scan, and one that adds two points at a time.
    for (domain, expected) in [("{[i,j]: 0<=i<5 and 0<=j<i}", [0, 1, 3, 6, 10]), ("{[i,j]: 0<=i<5 and 0<=j<2*i - 3}", [0, 0, 1, 6, 15])] {
        let program = transformed(&[domain], "o[i] = sum(j, a[j])", data, &["realize_reduction force_scan=True"]).unwrap();
        assert_eq!(ran(&program, &[1, 2, 3, 4, 5], &[-7; 5]), expected);
    }
    let found =
        refusal(&["{[i,j]: 0<=i<5 and 0<=j<i}"], "o[i] = sum(j, a[j])", data, &["tag_inames i=l.0", "realize_reduction force_scan=True"]);
    assert!(found.contains("each value of `i` must add one point, starting with the first"), "{found}");
}

#[test]
fn a_reduction_inside_another_one_has_an_iname_of_its_own() {
    let nested = KernelBuilder::new().domain("{[i,j]: 0<=i,j<5}").instructions("o[i] = sum(j, sum(j, a[j])*a[j])").rest().build();
    let message = nested.unwrap_err().to_string();
    assert_eq!(message, "instruction `insn` reduces over `j`, but also runs in that iname; reduce over another one");
    let a = [1, 2, 3, 4, 5];
    let data = "a, o: 5";
    // A rule that reduces over what it is given, or is called in a reduction over the same iname.
    let called = [
        ("f(x) := sum(j, a[j]*x)\no[i] = sum(j, f(j)*a[i])", [150, 300, 450, 600, 750]),
        ("f(x) := sum(j, a[j]) + x\no[i] = sum(j, f(1))", [80; 5]),
        ("f(x) := sum(j, a[j]*x)\no[j] = f(j)", [0, 15, 30, 45, 60]),
        ("f := sum(j, a[j])\ng(x) := sum(j, x*f)\no[i] = g(i)", [0, 75, 150, 225, 300]),
    ];
    for (text, expected) in called {
        let program = transformed(&["{[i]: 0<=i<5}", "{[j]: 0<=j<5}"], text, data, &[]).unwrap();
        assert_eq!(ran(&program, &a, &[-1; 5]), expected, "{text}");
    }
    let text = "<>t[j] = sum(k, a[k]*j) {id=t}\no[m] = sum(k, t[k]*m) {dep=t}";
    let domains = ["{[j,k]: 0<=j,k<5}", "{[m]: 0<=m<5}"];
    let program = transformed(&domains, text, data, &["assignment_to_subst t"]).unwrap();
    assert_eq!(ran(&program, &a, &[-1; 5]), [0, 150, 300, 450, 600]);
    let text = "<>t[j] = sum(k, a[k]*j) {id=t}\no[k] = t[k]*a[k] {dep=t}";
    let program = transformed(&domains[..1], text, data, &["assignment_to_subst t"]).unwrap();
    assert_eq!(ran(&program, &a, &[-1; 5]), [0, 30, 90, 180, 300]);
    // Two calls of one rule, one inside the other, cannot both have it.
    let text = "f(x) := sum(j, a[j]*x)\no[i] = f(f(i))";
    let twice = KernelBuilder::new().domain("{[i]: 0<=i<5}").domain("{[j]: 0<=j<5}").instructions(text).rest().build();
    let message = twice.unwrap_err().to_string();
    assert!(message.contains("but also runs in that iname; reduce over another one"), "{message}");
}

#[test]
fn atomic_updates_that_do_not_commute_keep_their_order() {
    let reversed = ["affine_map_inames [i] [r] [\"r = 9 - i\"]"];
    let parallel = ["tag_inames i=g.0"];
    let ordered = ["h[0] = w[i]", "h[0] = 2*h[0] + w[i]", "h[0] = w[i] - h[0]", "h[0] = h[0] + h[0]*w[i]", "h[0] = h[0] / w[i] * 2"];
    for (update, steps) in ordered.iter().flat_map(|update| [(update, &reversed), (update, &parallel)]) {
        let found = refusal(&["{[i]: 0<=i<10}"], &format!("{update} {{atomic}}"), "h: 1; w: 10", steps);
        assert!(found.contains("`h[0]`"), "{update}: {found}");
    }
    let free = ["h[0] = h[0] + w[i]", "h[0] = w[i] + h[0] - 1", "h[0] = w[i]*h[0]", "h[0] = max(w[i], h[0])", "h[0] = h[0] | w[i]"];
    for (update, steps) in free.iter().flat_map(|update| [(update, &reversed), (update, &parallel)]) {
        assert_eq!(accepted(&["{[i]: 0<=i<10}"], &format!("{update} {{atomic}}"), "h: 1; w: 10", steps).len(), 0, "{update}");
    }
    // A sum and a product; a condition on what is changed; a scatter.
    let both = "h[0] = h[0] + w[i] {id=add, atomic}\nh[0] = h[0]*w[i] {id=scale, atomic, dep=add}";
    assert!(refusal(&["{[i]: 0<=i<10}"], both, "h: 1; w: 10", &reversed).contains("`h[0]`"));
    let bounded = "h[0] = h[0] + w[i] {atomic, if=h[0] < 5}";
    let found = refusal(&["{[i]: 0<=i<10}"], bounded, "h: 1; w: 10", &parallel);
    assert!(found.contains("writes `h`, which its own condition uses"), "{found}");
    let scatter = "h[p[i]] = 2*h[p[i]] + 1 {atomic}";
    let found = refusal(&["{[i]: 0<=i<10}"], scatter, "h: 10; p: 10", &parallel);
    assert!(found.contains("`h`"), "{found}");
}

#[test]
fn updates_that_round_keep_their_order() {
    let kernel = |update: &str, h: &str| {
        let builder = KernelBuilder::new().domain("{[i]: 0<=i<10}").instructions(format!("{update} {{atomic}}"));
        let builder = builder.data(Data::global("h").dtype(h).shape("1")).data(Data::global("w").dtype("float64").shape("10"));
        builder.data(Data::global("k").dtype("int64").shape("10")).rest().build().unwrap()
    };
    let refused = |program: &Program, step: &str| {
        let done = apply(program, &parse::step(step).unwrap()).unwrap();
        done.generate(Target::C).err().map(|error| error.to_string())
    };
    let steps = ["affine_map_inames [i] [r] [\"r = 9 - i\"]", "tag_inames i=g.0"];
    // 0 + 0.5 + 2.75 is 2 or 3, as the steps are rounded.
    let rounded = ["h[0] = h[0] + w[i]", "h[0] = h[0]*w[i]", "h[0] = h[0] + sin(w[i])", "h[0] = h[0] + k[i]/2", "h[0] = h[0] - 0.5*i"];
    for (update, step) in rounded.iter().flat_map(|update| steps.iter().map(move |step| (update, step))) {
        let found = refused(&kernel(update, "int32"), step);
        assert!(found.as_ref().is_some_and(|found| found.contains("`h[0]`")), "{update}: {found:?}");
        assert_eq!(refused(&kernel(update, "float32"), step), None, "{update}");
    }
    let whole = ["h[0] = h[0] + k[i]", "h[0] = h[0] - cast(np.int32, w[i])", "h[0] = h[0] + k[i]//2", "h[0] = h[0] + abs(k[i])"];
    for (update, step) in whole.iter().flat_map(|update| steps.iter().map(move |step| (update, step))) {
        assert_eq!(refused(&kernel(update, "int32"), step), None, "{update}");
    }
}

#[test]
fn elements_that_share_memory_are_one_element() {
    let kernel = |text: &str, data: [Data; 2], steps: &[&str]| -> Result<usize, String> {
        let builder = KernelBuilder::new().domain("{[i,j]: 0<=i<3 and 0<=j<4}").instructions(text).data(data[0].clone());
        let mut program = builder.data(data[1].clone()).rest().build().unwrap();
        for step in steps {
            program = apply(&program, &parse::step(step).unwrap()).map_err(|error| error.to_string())?;
        }
        program.generate(Target::C).map(|generated| generated.doubts.len()).map_err(|error| error.to_string())
    };
    let array = |name: &str, strides: &str| Data::global(name).dtype("int64").shape("3, 4").strides(strides);
    let x = || Data::global("x").dtype("int64").shape("3, 4");
    let (reversed, parallel) = (["affine_map_inames [i] [r] [\"r = 2 - i\"]"], ["tag_inames i=g.0"]);
    let interchanged = ["prioritize_loops [j, i]"];
    for strides in ["0, 1", "1, 1", "1, 2", "2, 1"] {
        let steps = if strides == "0, 1" { &[&reversed, &parallel][..] } else { &[&reversed, &parallel, &interchanged] };
        for steps in steps {
            let found = kernel("b[i,j] = x[i,j] {id=s}", [array("b", strides), x()], *steps);
            assert!(found.as_ref().is_err_and(|found| found.contains("writes `b`, which")), "{strides}, {steps:?}: {found:?}");
        }
    }
    // Elements of their own: rows with room between them, columns, back to front, and steps that pass each other by.
    for strides in ["4, 1", "5, 1", "1, 3", "-4, 1", "8, 2", "1, -3", "4, 3"] {
        for steps in [&reversed, &parallel, &interchanged] {
            assert_eq!(kernel("b[i,j] = x[i,j] {id=s}", [array("b", strides), x()], steps), Ok(0), "{strides}, {steps:?}");
        }
    }
    // Reads as well.
    let found = kernel("b[i,j] = b[i,3] + 1 {id=s}", [array("b", "3, 1"), x()], &parallel);
    assert!(found.as_ref().is_err_and(|found| found.contains("writes `b`, which")), "{found:?}");
    let temporary = Data::temporary("t").dtype("int64").shape("3, 4").strides("1, 1");
    let text = "t[i,j] = x[i,j] {id=put}\ny[i,j] = t[i,j] {id=get, dep=put}";
    let found = kernel(text, [temporary, x()], &["duplicate_inames [i, j] within=id:put"]);
    assert!(found.as_ref().is_err_and(|found| found.contains("`put`") && found.contains("`get`")), "{found:?}");
    // Strides that only a call knows.
    let wide = |strides: &str| Data::global("b").dtype("int64").shape("n, m").strides(strides);
    let sized = |strides: &str, assumptions: &str| {
        let builder = KernelBuilder::new()
            .domain("{[i,j]: 0<=i<n and 0<=j<m}")
            .instructions("b[i,j] = 1")
            .data(wide(strides))
            .data(Data::value("ld").dtype("int32"))
            .rest();
        let program = builder.assumptions(assumptions).build().unwrap();
        let program = apply(&program, &parse::step("tag_inames i=g.0").unwrap()).unwrap();
        program.generate(Target::C).map(|generated| generated.doubts.len()).map_err(|error| error.to_string())
    };
    assert_eq!(sized("m, 1", ""), Ok(0));
    assert_eq!(sized("2*m, 2", ""), Ok(0));
    assert_eq!(sized("1, n", ""), Ok(0));
    assert_eq!(sized("ld, 1", "ld >= m"), Ok(0));
    assert_eq!(sized("ld, 1", ""), Ok(1));
}

#[test]
fn a_reduction_in_a_condition_is_computed_before_it() {
    let domains = ["{[i]: 0<=i<5}", "{[j]: 0<=j<5}"];
    let a = [1, 2, 3, 4, 5];
    let texts = [
        ("o[i] = a[i] {if=sum(j, a[j]) > 14}", a),
        ("o[i] = a[i] {if=sum(j, a[j]*i) > 31}", [-1, -1, -1, 4, 5]),
        ("o[i] = sum(j, a[j]) {if=i > 1 and sum(j, a[j]*i) > 31}", [-1, -1, -1, 15, 15]),
        ("f(x) := any(j, a[j] > x)\no[i] = a[i] {if=f(2*i)}", [1, 2, 3, -1, -1]),
        ("if sum(j, a[j]) > 14\n  o[i] = a[i]\nend", a),
        ("o[i] = sum(j, a[j]) if sum(j, a[j]*i) > 31 else max(j, a[j])", [5, 5, 5, 15, 15]),
    ];
    for (text, expected) in texts {
        for steps in [&[][..], &["tag_inames i=g.0"], &["split_iname i 2 inner_tag=ilp"]] {
            let program = transformed(&domains, text, "a, o: 5", steps).unwrap();
            assert_eq!(ran(&program, &a, &[-1; 5]), expected, "{text}, {steps:?}");
        }
    }
}

#[test]
fn the_first_of_equal_values_stays_the_first() {
    let (domains, text) = (["{[i]: 0<=i<1}", "{[j]: 0<=j<8}"], "<>m, o[i] = argmax(j, a[j], j)");
    let a = [1, 7, 2, 7, 0, 7, 7, 3];
    let kept: [&[&str]; 6] = [
        &[],
        &["split_iname j 4"],
        &["affine_map_inames [j] [q] [\"q = j + 1\"]"],
        &["tag_inames j=l.0"],
        &["split_iname j 2 outer_tag=l.0"],
        &["split_iname j 4 inner_tag=unr"],
    ];
    for steps in kept {
        let program = transformed(&domains, text, "a: 8; o: 1", steps).unwrap();
        assert_eq!(ran(&program, &a, &[-1]), [1], "{steps:?}");
        assert_eq!(ran(&program, &[7; 8], &[-1]), [0], "{steps:?}");
        assert_eq!(ran(&program, &[0, 0, 0, 0, 7, 0, 0, 7], &[-1]), [4], "{steps:?}");
    }
    let lost: [&[&str]; 4] = [
        &["affine_map_inames [j] [r] [\"r = 7 - j\"]"],
        &["split_iname j 4", "prioritize_loops [j_inner, j_outer]"],
        &["split_iname j 4 inner_tag=l.0"],
        &["split_iname j 4", "map_domain \"{[j_outer, j_inner] -> [p, q]: p = j_inner and q = j_outer}\""],
    ];
    for steps in lost {
        let found = refusal(&domains, text, "a: 8; o: 1", steps);
        assert!(found.contains("takes the first of equal values") || found.contains("lost order"), "{steps:?}: {found}");
    }
    // Of several inames the first counts most.
    for (inames, expected) in [("j, k", 1), ("k, j", 10)] {
        let text = format!("<>m, o[i] = argmax(({inames}), a[3*j + k], 10*j + k)");
        let program = transformed(&["{[i]: 0<=i<1}", "{[j,k]: 0<=j<2 and 0<=k<3}"], &text, "a: 8; o: 1", &[]).unwrap();
        assert_eq!(ran(&program, &[0, 7, 0, 7, 0, 0, 0, 0], &[-1]), [expected], "{inames}");
    }
    // A sum has no first.
    let text = "o[i] = sum(j, a[j])";
    for steps in lost {
        let program = transformed(&domains, text, "a: 8; o: 1", steps).unwrap();
        assert_eq!(ran(&program, &a, &[-1]), [34], "{steps:?}");
    }
    let text = "o[i] = sum(j, a[j]) + max(j, a[j]) + sum(k, a[k])";
    let program =
        transformed(&["{[i]: 0<=i<1}", "{[j]: 0<=j<8}", "{[k]: 0<=k<5}"], text, "a: 8; o: 1", &["tag_inames j=l.0 k=l.0"]).unwrap();
    assert_eq!(ran(&program, &a, &[-1]), [58]);
}

#[test]
fn an_update_in_no_order_is_not_done_again_for_each_value_of_an_iname() {
    let domains = ["{[i]: 0<=i<8}", "{[j]: 0<=j<3}"];
    for instruction in [
        "a[2] = a[2] + 1 {id=s, atomic, inames=i}",
        "a[2] = a[b[i]] + 1 {id=s, inames=i}",
        "a[b[i]] = a[2] + 1 {id=s, inames=i}",
        "a[2] = max(k, a[b[k]]) + 1 {id=s, inames=i}",
    ] {
        let domains = if instruction.contains('k') { &["{[i]: 0<=i<8}", "{[j]: 0<=j<3}", "{[k]: 0<=k<2}"][..] } else { &domains };
        let found = refusal(domains, &format!("{instruction}\nc[j] = 1"), "a, b, c: 8", &["add_inames_to_insn j s"]);
        let expected = "add_inames_to_insn: instruction `s` updates what it reads, conditionally, atomically, or in a way that depends on the data, so it cannot be repeated for each value of `j`";
        assert_eq!(found, expected, "{instruction}");
    }
}
