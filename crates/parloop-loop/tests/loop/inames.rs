//! Transformations of inames and domains: the same points are touched, in other loops; and errors of misuse.

use std::collections::{BTreeMap, BTreeSet};

use parloop_isl::Relation;
use parloop_loop::create::KernelBuilder;
use parloop_loop::parse;
use parloop_loop::syntax::{Expr, InameTag, LoopKernel};
use parloop_loop::transform::*;
use parloop_loop::{Name, Set};

use crate::points::{touched, values};

pub fn kernel(domains: &[&str], instructions: &str) -> LoopKernel {
    KernelBuilder::new().domains(domains.iter().copied()).instructions(instructions).build_kernel().unwrap()
}

fn scale() -> LoopKernel {
    kernel(&["{[i]: 0<=i<n}"], "out[i] = 2*a[i]")
}

fn row_sums() -> LoopKernel {
    kernel(&["{[i,j]: 0<=i<n and 0<=j<=i}"], "out[i] = sum(j, a[i,j])")
}

fn names(names: &[&str]) -> Vec<Name> {
    names.iter().map(|name| Name::from(*name)).collect()
}

fn within(kernel: &LoopKernel, id: &str) -> Vec<String> {
    let found = kernel.instructions.iter().find(|instruction| instruction.id == id).unwrap();
    found.within_inames.iter().map(Name::to_string).collect()
}

fn rhs(kernel: &LoopKernel, id: &str) -> String {
    let found = kernel.instructions.iter().find(|instruction| instruction.id == id).unwrap();
    found.rhs()[0].to_string()
}

/// Both touch the same places, for many sizes.
#[track_caller]
fn assert_same(before: &LoopKernel, after: &LoopKernel) {
    for n in [0, 1, 2, 3, 4, 5, 7, 8, 11] {
        let sizes = values([("n", n), ("m", 3)]);
        assert_eq!(touched(before, &sizes), touched(after, &sizes), "n = {n}");
    }
    let dims: BTreeSet<&Name> = after.domains.iter().flat_map(Set::dims).collect();
    assert_eq!(dims, after.inames.keys().collect(), "the table of inames is that of the domains");
}

// ---- split_iname ----

#[test]
fn splitting_touches_the_same_elements_for_sizes_that_do_not_divide() {
    for (before, iname) in [(scale(), "i"), (row_sums(), "i"), (row_sums(), "j")] {
        for length in [1, 2, 3, 4, 16] {
            let after = split_iname(&before, iname, &Split::by(length)).unwrap();
            assert_same(&before, &after);
        }
    }
}

#[test]
fn a_split_domain_has_one_piece_with_the_parts_in_the_place_of_the_iname() {
    let before = kernel(&["{[i,j]: 0<=i<n and 0<=j<m}"], "out[i,j] = 1");
    let after = split_iname(&before, "i", &Split::by(16)).unwrap();
    assert_eq!(after.domains.len(), 1);
    assert_eq!(after.domains[0].dims(), ["i_outer", "i_inner", "j"]);
    assert_eq!(after.domains[0].pieces().len(), 1);
    assert_eq!(after.domains[0].pieces()[0].len(), 6);
    assert_eq!(within(&after, "insn"), ["i_inner", "i_outer", "j"]);
}

#[test]
fn splitting_writes_the_iname_as_a_sum_and_a_reduction_over_both_parts() {
    let after = split_iname(&scale(), "i", &Split::by(16)).unwrap();
    assert_eq!(rhs(&after, "insn"), "2*a[i_inner + i_outer*16]");
    let after = split_iname(&row_sums(), "j", &Split::by(4)).unwrap();
    assert_eq!(rhs(&after, "insn"), "sum((j_outer, j_inner), a[i, j_inner + j_outer*4])");
    assert_eq!(within(&after, "insn"), ["i"]);
}

#[test]
fn parts_have_the_tags_names_and_slabs_that_are_given() {
    let split = Split::by(8).outer(InameTag::Group(0)).inner(InameTag::Local(1)).outer_name("block").inner_name("lane").slabs(0, 1);
    let after = split_iname(&scale(), "i", &split).unwrap();
    assert_eq!(after.inames["block"].tags, BTreeSet::from([InameTag::Group(0)]));
    assert_eq!(after.inames["block"].slabs, (0, 1));
    assert_eq!(after.inames["lane"].tags, BTreeSet::from([InameTag::Local(1)]));
    assert_eq!(after.inames.len(), 2);
}

#[test]
fn names_of_parts_avoid_those_in_use() {
    let once = split_iname(&scale(), "i", &Split::by(8).inner_name("i_outer_inner")).unwrap();
    let twice = split_iname(&once, "i_outer", &Split::by(2)).unwrap();
    assert_eq!(twice.inames.keys().map(Name::as_str).collect::<Vec<_>>(), ["i_outer_inner", "i_outer_inner_0", "i_outer_outer"]);
    assert_same(&scale(), &twice);
}

#[test]
fn splitting_within_a_query_leaves_the_iname_to_the_others() {
    let before = kernel(&["{[i,j]: 0<=i<n and 0<=j<m}"], "a[i,j] = 1 {id=first}\nb[i,j] = a[i,j] {id=second, dep=first}");
    let after = split_iname(&before, "i", &Split::by(4).within(parse::query("id:second").unwrap())).unwrap();
    assert_eq!(within(&after, "first"), ["i", "j"]);
    assert_eq!(within(&after, "second"), ["i_inner", "i_outer", "j"]);
    assert_same(&before, &after);
    let untouched = split_iname(&before, "i", &Split::by(4).within(parse::query("id:third").unwrap())).unwrap();
    assert_eq!(untouched, before);
}

#[test]
fn a_domain_of_its_own_is_copied_for_the_others_and_not_joined() {
    let before = kernel(&["{[i]: 0<=i<n}"], "a[i] = 1 {id=first}\nb[i] = 2 {id=second}");
    let after = split_iname(&before, "i", &Split::by(4).within(parse::query("id:second").unwrap())).unwrap();
    assert_eq!(after.domains.iter().map(|domain| domain.dims().len()).collect::<Vec<_>>(), [1, 2]);
    assert_same(&before, &after);
}

#[test]
fn bounds_that_depend_on_a_split_iname_are_written_in_its_parts() {
    let before = kernel(&["{[i]: 0<=i<n}", "{[j]: 0<=j<i}"], "out[i,j] = 1");
    let after = split_iname(&before, "i", &Split::by(3)).unwrap();
    assert_eq!(after.domains[1].params(), ["i_inner", "i_outer"]);
    assert_same(&before, &after);
}

#[test]
fn priorities_name_the_parts_of_a_split_iname() {
    let before = prioritize_loops(&kernel(&["{[i,j]: 0<=i,j<n}"], "out[i,j] = 1"), &names(&["i", "j"])).unwrap();
    let after = split_iname(&before, "i", &Split::by(3)).unwrap();
    assert_eq!(after.priorities, BTreeSet::from([names(&["i_outer", "i_inner", "j"])]));
}

#[test]
fn rules_follow_a_split_but_not_in_their_parameters() {
    let before = kernel(&["{[i]: 0<=i<n}"], "f(x) := a[x + i]\ng(i) := b[i]\nout[i] = f(1) + g(2)");
    let after = split_iname(&before, "i", &Split::by(4)).unwrap();
    assert_eq!(after.substitutions["f"].body.to_string(), "a[x + (i_inner + i_outer*4)]");
    assert_eq!(after.substitutions["g"].body.to_string(), "b[i]");
}

#[test]
fn a_rule_that_both_kinds_of_instructions_use_is_copied() {
    let text = "f(x) := a[x + i]\ng := 2*f(0)\nh(x) := 3*x\nfirst[i] = g + h(1) {id=first}\nsecond[i] = g + h(1) {id=second}";
    let before = kernel(&["{[i]: 0<=i<n}"], text);
    let after = split_iname(&before, "i", &Split::by(4).within(parse::query("id:second").unwrap())).unwrap();
    assert_eq!(rhs(&after, "first"), "g + h(1)");
    assert_eq!(rhs(&after, "second"), "g_0 + h(1)");
    assert_eq!(after.substitutions["g_0"].body.to_string(), "2*f_0(0)");
    assert_eq!(after.substitutions["f_0"].body.to_string(), "a[x + (i_inner + i_outer*4)]");
    assert_eq!(after.substitutions["f"], before.substitutions["f"]);
}

#[test]
fn predicates_follow_a_split() {
    let before = kernel(&["{[i]: 0<=i<n}"], "out[i] = 1 {if=i > 2}");
    let after = split_iname(&before, "i", &Split::by(4)).unwrap();
    assert_same(&before, &after);
}

#[test]
fn misuse_of_split_iname_is_named() {
    let message = |kernel: &LoopKernel, iname: &str, split: Split| split_iname(kernel, iname, &split).unwrap_err().to_string();
    let two = kernel(&["{[row,col]: 0<=row,col<n}"], "out[row,col] = 1");
    assert_eq!(message(&two, "rows", Split::by(2)), "kernel `loopy_kernel` has no iname `rows`; did you mean `row`?");
    assert_eq!(message(&two, "x", Split::by(2)), "kernel `loopy_kernel` has no iname `x`; available: `col`, `row`");
    assert_eq!(message(&two, "row", Split::by(0)), "iname `row` cannot be split by 0: the length must be at least 1");
    assert_eq!(message(&two, "row", Split::by(2).outer_name("n")), "`n` is already a name in kernel `loopy_kernel`; choose another one");
    let tagged = tag_inames(&two, &"row:l.0".parse().unwrap()).unwrap();
    assert_eq!(message(&tagged, "row", Split::by(2)), "iname `row` is tagged `l.0` and cannot be split; split it first and tag its parts");
    assert!(split_iname(&tagged, "row", &Split::by(2).of_any_tag()).is_ok());
    assert_eq!(
        message(&two, "row", Split::by(2).inner(InameTag::Local(0)).inner(InameTag::Unroll)),
        "iname `row_inner` is already tagged `l.0` and cannot also be tagged `unr`; untag it first"
    );
    let call = kernel(&["{[i]: 0<=i<4}"], "[i]: out[i] = f([i]: a[i])");
    assert_eq!(
        message(&call, "i", Split::by(2)),
        "iname `i` sweeps array `out` for a call, whose axes would change; split, join or map inames of the called kernel instead"
    );
    let nested = kernel(&["{[i]: 0<=i<n}", "{[j]: 0<=j<i}"], "a[i,j] = 1 {id=first}\nb[i,j] = 1 {id=second}");
    assert_eq!(
        message(&nested, "i", Split::by(2).within(parse::query("id:first").unwrap())),
        "the bounds of `j` depend on `i`, and instructions inside and outside the query use `j`; duplicate `j` for one of them first"
    );
}

// ---- tags, priorities, assumptions, parameters ----

#[test]
fn tags_are_given_by_name_pattern_and_text() {
    let before = kernel(&["{[i_outer,i_inner,j]: 0<=i_outer,i_inner,j<n}"], "out[i_outer,i_inner,j] = 1");
    let after = tag_inames(&before, &"i_*:unr, j : g.0".parse().unwrap()).unwrap();
    assert_eq!(after.inames["i_outer"].tags, BTreeSet::from([InameTag::Unroll]));
    assert_eq!(after.inames["i_inner"].tags, BTreeSet::from([InameTag::Unroll]));
    assert_eq!(after.inames["j"].tags, BTreeSet::from([InameTag::Group(0)]));
    let like = tag_inames(&before, &"i_outer:l.0, i_inner:unused.l, j:like.i_outer".parse().unwrap()).unwrap();
    assert_eq!(like.inames["i_inner"].tags, BTreeSet::from([InameTag::Local(1)]));
    assert_eq!(like.inames["j"].tags, BTreeSet::from([InameTag::Local(0)]));
    assert_eq!(tag_inames(&before, &"z:g.0".parse::<Tags>().unwrap().missing_ok()).unwrap(), before);
    let plain = tag_inames(&tag_inames(&before, &"j:for".parse().unwrap()).unwrap(), &"j:g.0, j:@mine".parse().unwrap()).unwrap();
    assert_eq!(plain.inames["j"].tags, BTreeSet::from([InameTag::Group(0), InameTag::Name("mine".into())]));
    let bare = untag_inames(&plain, "j", &InameTag::is_parallel).unwrap();
    assert_eq!(bare.inames["j"].tags, BTreeSet::from([InameTag::Name("mine".into())]));
}

#[test]
fn misuse_of_tag_inames_is_named() {
    let before = scale();
    let message = |text: &str| text.parse::<Tags>().and_then(|tags| tag_inames(&before, &tags)).unwrap_err().to_string();
    assert_eq!(message("i"), "`i` has no tag: write `iname:tag`, such as `i:g.0`");
    assert_eq!(
        message("i:g.x"),
        "`g.x` is not an iname tag: use for, ord, unr, unr_hint, vec, ilp, ilp.seq, g.N, l.N, l.auto, or @name for a custom tag"
    );
    assert_eq!(message("j:g.0"), "kernel `loopy_kernel` has no iname `j`; available: `i`");
    assert_eq!(message("i:g.0, i:l.0"), "iname `i` is already tagged `g.0` and cannot also be tagged `l.0`; untag it first");
    assert_eq!(untag_inames(&before, "j", &|_| true).unwrap_err().to_string(), "kernel `loopy_kernel` has no iname `j`; available: `i`");
}

#[test]
fn priorities_add_up_and_must_not_contradict_each_other() {
    let before = kernel(&["{[i,j,k]: 0<=i,j,k<n}"], "out[i,j,k] = 1");
    let once = prioritize_loops(&before, &names(&["i", "j"])).unwrap();
    let twice = prioritize_loops(&once, &names(&["j", "k"])).unwrap();
    assert_eq!(twice.priorities, BTreeSet::from([names(&["i", "j"]), names(&["j", "k"])]));
    assert_eq!(
        prioritize_loops(&twice, &names(&["k", "i"])).unwrap_err().to_string(),
        "loops cannot nest as `i`, `j`, `k`, `i`: this and earlier priorities put each outside the next"
    );
    assert_eq!(
        prioritize_loops(&before, &names(&["l"])).unwrap_err().to_string(),
        "kernel `loopy_kernel` has no iname `l`; available: `i`, `j`, `k`"
    );
}

#[test]
fn assumptions_add_up_and_must_not_contradict_each_other() {
    let once = assume(&scale(), "n >= 4").unwrap();
    let twice = assume(&once, "n mod 4 = 0").unwrap();
    assert!(twice.assumptions.is_equal(&Set::parse("{ : n >= 4 and n mod 4 = 0}").unwrap()).unwrap());
    assert_eq!(
        assume(&twice, "n <= 3").unwrap_err().to_string(),
        format!(
            "kernel `loopy_kernel` already assumes `{}`; no values of the parameters also satisfy `{}`",
            twice.assumptions,
            Set::parse("{ : n <= 3}").unwrap()
        )
    );
    assert_eq!(
        assume(&once, "i <= 3").unwrap_err().to_string(),
        "`i` is not a parameter of the domains of kernel `loopy_kernel`, so nothing can be assumed about it; available: `n`"
    );
    assert!(assume(&once, "n *").is_err());
    assert_eq!(
        assume_set(&once, &Set::parse("{[n] : n >= 1}").unwrap()).unwrap_err().to_string(),
        "an assumption must be a set without dimensions, such as `{ : n >= 1}`, not `{ [n] : n >= 1 }`"
    );
}

#[test]
fn fixed_parameters_are_gone_from_domains_shapes_and_arguments() {
    let before = kernel(&["{[i,j]: 0<=i,j<n}"], "out[i,j] = alpha*n*a[i*n + j]");
    let after = fix_parameters(&before, &BTreeMap::from([("n".into(), Fixed::Int(5)), ("alpha".into(), Fixed::Float(1.5))])).unwrap();
    assert!(after.domains[0].is_equal(&Set::parse("{[i,j]: 0<=i,j<5}").unwrap()).unwrap());
    assert_eq!(after.arguments.iter().map(|argument| argument.name.as_str()).collect::<Vec<_>>(), ["a", "out"]);
    assert_eq!(after.domains[0].params(), [] as [Name; 0]);
    assert!(!after.instructions[0].exprs().iter().any(|expr| expr.variables().contains("n") || expr.variables().contains("alpha")));
}

#[test]
fn misuse_of_fix_parameters_is_named() {
    let before = assume(&scale(), "n >= 4").unwrap();
    let message = |name: &str, value: Fixed| fix_parameters(&before, &BTreeMap::from([(name.into(), value)])).unwrap_err().to_string();
    assert_eq!(message("m", Fixed::Int(3)), "kernel `loopy_kernel` has no parameter or scalar argument `m`; available: `n`");
    assert_eq!(message("a", Fixed::Int(3)), "`a` is an array of kernel `loopy_kernel`, which cannot be fixed");
    assert_eq!(message("i", Fixed::Int(3)), "`i` is an iname of kernel `loopy_kernel`, which cannot be fixed");
    assert_eq!(message("n", Fixed::Float(2.5)), "`n` bounds a loop or has an integer type, so it must be fixed to an integer, not to 2.5");
    assert_eq!(message("n", Fixed::Int(3)), format!("kernel `loopy_kernel` assumes `{}`, so `n` cannot be 3", before.assumptions));
}

// ---- chunk_iname, join_inames, map_domain ----

#[test]
fn chunks_touch_the_same_elements_and_differ_in_length_by_one_at_most() {
    for before in [scale(), kernel(&["{[i]: 2<=i<n}"], "out[i] = a[i]"), kernel(&["{[i,j]: 0<=i<n and 0<=j<m}"], "out[i,j] = 1")] {
        for chunks in [1, 2, 3, 4] {
            let after = chunk_iname(&before, "i", &Split::by(chunks)).unwrap();
            assert_same(&before, &after);
        }
    }
    let after = chunk_iname(&scale(), "i", &Split::by(3)).unwrap();
    let lengths = |n| {
        let points = crate::points::points(&after.domains[0], &values([("n", n)]));
        (0..3).map(|chunk| points.iter().filter(|point| point["i_outer"] == chunk).count()).collect::<Vec<_>>()
    };
    assert_eq!([lengths(9), lengths(10), lengths(11)], [[3, 3, 3], [4, 3, 3], [4, 4, 3]]);
}

#[test]
fn chunks_of_a_constant_length_that_divides_need_no_minimum() {
    let before = kernel(&["{[i]: 0<=i<12}"], "out[i] = a[i]");
    let after = chunk_iname(&before, "i", &Split::by(3)).unwrap();
    assert_eq!(rhs(&after, "insn"), "a[i_inner + 4*i_outer]");
    assert_same(&before, &after);
}

#[test]
fn inames_whose_bounds_depend_on_others_cannot_be_chunked() {
    let triangle = kernel(&["{[i,j]: 0<=i<n and 0<=j<=i}"], "out[i,j] = 1");
    assert_eq!(
        chunk_iname(&triangle, "i", &Split::by(2)).unwrap_err().to_string(),
        format!(
            "iname `i` cannot be divided into chunks: its values in `{}` are not a contiguous range whose bounds depend only on parameters",
            triangle.domains[0]
        )
    );
    assert!(chunk_iname(&kernel(&["{[i]: 0<=i<n}", "{[j]: 0<=j<i}"], "out[i,j] = 1"), "i", &Split::by(2)).is_err());
    assert_eq!(
        chunk_iname(&scale(), "i", &Split::by(0)).unwrap_err().to_string(),
        "iname `i` cannot be split by 0: the length must be at least 1"
    );
    assert_eq!(
        chunk_iname(&scale(), "x", &Split::by(2)).unwrap_err().to_string(),
        "kernel `loopy_kernel` has no iname `x`; available: `i`"
    );
}

#[test]
fn joining_touches_the_same_elements() {
    for domain in ["{[i,j]: 0<=i<n and 0<=j<3}", "{[i,j]: 1<=i<n and 2<=j<5}", "{[i,j]: 0<=i<n and 0<=j<=i and j<3}"] {
        let before = kernel(&[domain], "out[i,j] = a[j,i]");
        let after = join_inames(&before, &Join::of(["i", "j"])).unwrap();
        assert_eq!(within(&after, "insn"), ["j_and_i"]);
        for n in [0, 1, 2, 4] {
            assert_eq!(touched(&before, &values([("n", n)])), touched(&after, &values([("n", n)])), "{domain}, n = {n}");
        }
    }
}

#[test]
fn joined_inames_are_quotient_and_remainder() {
    let before = kernel(&["{[i,j]: 0<=i<n and 0<=j<16}"], "out[i,j] = a[i,j]");
    let after = join_inames(&before, &Join::of(["i", "j"]).named("ij").tag(InameTag::Local(0))).unwrap();
    assert_eq!(rhs(&after, "insn"), "a[ij // 16, ij % 16]");
    assert!(after.domains[0].is_equal(&Set::parse("{[ij]: 0<=ij<16*n}").unwrap()).unwrap());
    assert_eq!(after.inames["ij"].tags, BTreeSet::from([InameTag::Local(0)]));
    let sums = kernel(&["{[i,j]: 0<=i<n and 0<=j<16}"], "out = sum((i, j), a[i,j])");
    assert_eq!(rhs(&join_inames(&sums, &Join::of(["i", "j"])).unwrap(), "insn"), "sum(j_and_i, a[j_and_i // 16, j_and_i % 16])");
}

#[test]
fn misuse_of_join_inames_is_named() {
    let message = |kernel: &LoopKernel, join: Join| join_inames(kernel, &join).unwrap_err().to_string();
    let square = kernel(&["{[i,j]: 0<=i,j<n}"], "out[i,j] = 1");
    assert_eq!(
        message(&square, Join::of(["i", "j"])),
        format!(
            "iname `j` does not have a constant number of values in `{}`; only the first of the joined inames, which varies slowest, may have a variable number",
            square.domains[0]
        )
    );
    assert_eq!(message(&square, Join::of(["i", "i"])), "iname `i` cannot be joined with itself");
    assert_eq!(message(&square, Join::of([] as [&str; 0])), "no inames to join were given");
    let apart = kernel(&["{[i]: 0<=i<4}", "{[j]: 0<=j<4}"], "out[i,j] = 1");
    assert_eq!(message(&apart, Join::of(["i", "j"])), "inames `i` and `j` are in different domains and cannot be joined");
    let partly = kernel(&["{[i,j]: 0<=i,j<4}"], "a[i] = 1 {id=row, inames=i}\nout[i,j] = 1 {id=all}");
    assert_eq!(
        message(&partly, Join::of(["i", "j"])),
        "instruction `row` runs in `i` but not in `j`; inames that are replaced together must be used together"
    );
    let reduced = kernel(&["{[i,j]: 0<=i,j<4}"], "out[i] = sum(j, a[i,j])");
    assert_eq!(
        message(&reduced, Join::of(["i", "j"])),
        "a reduction is over `j` but not over `i`; inames that are replaced together must be reduced together"
    );
}

#[test]
fn a_map_changes_the_inames_of_a_domain() {
    let before = kernel(&["{[i,j]: 0<=i<n and 0<=j<m}"], "out[i,j] = a[i,j]");
    let skewed = map_domain(&before, &Relation::parse("{[i,j] -> [t,x]: t = i + j and x = j}").unwrap()).unwrap();
    assert_same(&before, &skewed);
    let split = map_domain(&before, &Relation::parse("{[i] -> [o,r]: i = 4*o + r and 0 <= r < 4}").unwrap()).unwrap();
    assert_same(&before, &split);
    assert_eq!(within(&split, "insn"), ["j", "o", "r"]);
}

#[test]
fn misuse_of_map_domain_is_named() {
    let before = kernel(&["{[i,j]: 0<=i<n and 0<=j<m}"], "out[i,j] = a[i,j]");
    let relation = |text: &str| Relation::parse(text).unwrap();
    let message = |map: &Relation| map_domain(&before, map).unwrap_err().to_string();
    let many = relation("{[i] -> [k]: 0 <= k < 2 and i >= 0}");
    assert_eq!(message(&many), format!("`{many}` does not pair each value of `i` with one of `k` and back"));
    let part = relation("{[i] -> [k]: k = i and i < 3}");
    assert_eq!(message(&part), format!("`{part}` leaves out points of the domain `{}`", before.domains[0]));
    assert_eq!(message(&relation("{[x] -> [k]: k = x}")), "kernel `loopy_kernel` has no iname `x`; available: `i`, `j`");
    assert_eq!(message(&relation("{[i] -> [a]: a = i}")), "`a` is already a name in kernel `loopy_kernel`; choose another one");
    let prioritized = prioritize_loops(&before, &names(&["i", "j"])).unwrap();
    assert_eq!(
        map_domain(&prioritized, &relation("{[i] -> [k]: k = i}")).unwrap_err().to_string(),
        "the priority i, j names `i`, which is mapped; prioritize loops after the map"
    );
    let apart = kernel(&["{[i]: 0<=i<4}", "{[j]: 0<=j<4}"], "out[i,j] = 1");
    assert_eq!(
        map_domain(&apart, &relation("{[i,j] -> [k,l]: k = j and l = i}")).unwrap_err().to_string(),
        "no domain of kernel `loopy_kernel` has all of the inames `i, j`"
    );
}

// ---- duplicate_inames, rename_inames, remove_unused_inames ----

fn two_loops() -> LoopKernel {
    kernel(&["{[i,j]: 0<=i<n and 0<=j<=i}"], "a[i,j] = 1 {id=first}\nb[i,j] = a[i,j] {id=second, dep=first}")
}

#[test]
fn duplicated_inames_run_over_the_same_values() {
    let before = two_loops();
    let second = parse::query("id:second").unwrap();
    let after = duplicate_inames(&before, &Duplicate::of(["j"]).within(second.clone())).unwrap();
    assert_eq!((within(&after, "first"), within(&after, "second")), (vec!["i".into(), "j".into()], vec!["i".into(), "j_0".into()]));
    assert_same(&before, &after);
    let both =
        duplicate_inames(&before, &Duplicate::of(["i", "j"]).within(second.clone()).suffix("_b").tag("i", InameTag::Group(0))).unwrap();
    assert_eq!(within(&both, "second"), ["i_b", "j_b"]);
    assert_eq!(both.domains.len(), 2, "the copies share no iname with the rest");
    assert_eq!(both.inames["i_b"].tags, BTreeSet::from([InameTag::Group(0)]));
    assert_same(&before, &both);
    let sums = row_sums();
    assert_eq!(rhs(&duplicate_inames(&sums, &Duplicate::of(["j"]).named(["k"])).unwrap(), "insn"), "sum(k, a[i, k])");
}

#[test]
fn misuse_of_duplicate_inames_is_named() {
    let message = |duplicate: Duplicate| duplicate_inames(&two_loops(), &duplicate).unwrap_err().to_string();
    assert_eq!(message(Duplicate::of(["k"])), "kernel `loopy_kernel` has no iname `k`; available: `i`, `j`");
    assert_eq!(message(Duplicate::of(["i"]).named(["j"])), "`j` is already a name in kernel `loopy_kernel`; choose another one");
    assert_eq!(
        message(Duplicate::of(["i", "j"]).named(["k"])),
        "2 inames are duplicated, but 1 names were given for the copies; give one for each"
    );
}

#[test]
fn a_renamed_iname_keeps_its_place_its_tags_and_its_priority() {
    let before = tag_inames(&kernel(&["{[i,j]: 0<=i<n and 0<=j<m}"], "out[i,j] = a[i,j]"), &"i:g.0".parse().unwrap()).unwrap();
    let before = prioritize_loops(&before, &names(&["i", "j"])).unwrap();
    let after = rename_iname(&before, "i", "row", &Rename::default()).unwrap();
    assert_eq!(after.domains[0].dims(), ["row", "j"]);
    assert_eq!(after.inames["row"].tags, BTreeSet::from([InameTag::Group(0)]));
    assert_eq!(after.priorities, BTreeSet::from([names(&["row", "j"])]));
    assert_same(&before, &after);
    let bare = rename_iname(&before, "i", "row", &Rename::default().without_tags()).unwrap();
    assert!(bare.inames["row"].tags.is_empty());
}

#[test]
fn inames_over_the_same_values_become_one() {
    for domains in [&["{[i,k]: 0<=i,k<n}"][..], &["{[i]: 0<=i<n}", "{[k]: 0<=k<n}"]] {
        let before = kernel(domains, "a[i] = 1 {id=first}\nb[k] = a[k] {id=second, dep=first}");
        let after = rename_inames(&before, &names(&["k"]), "i", &Rename::default().existing_ok()).unwrap();
        assert_eq!(within(&after, "second"), ["i"]);
        assert_eq!(after.domains.len(), 1);
        assert_same(&before, &after);
        let fresh = rename_inames(&before, &names(&["i", "k"]), "both", &Rename::default()).unwrap();
        assert_eq!((within(&fresh, "first"), within(&fresh, "second")), (vec!["both".into()], vec!["both".into()]));
        assert_same(&before, &fresh);
    }
}

#[test]
fn what_else_a_domain_has_depends_on_the_iname_that_is_left() {
    let before = kernel(&["{[i,j]: 0<=j<i<n}", "{[k,l]: 0<k<n and 0<=l<=k}"], "a[i,j] = 1 {id=first}\nb[k,l] = 1 {id=second}");
    let after = rename_iname(&before, "k", "i", &Rename::default().existing_ok()).unwrap();
    assert_eq!(after.domains[1].dims(), ["l"]);
    assert_same(&before, &after);
}

#[test]
fn misuse_of_rename_inames_is_named() {
    let before = kernel(&["{[i,k,l]: 0<=i<n and 0<=k<n and 0<=l<m}"], "a[i] = 1 {id=first}\nb[k] = 1 {id=second}\nc[i,l] = 1 {id=third}");
    let message = |old: &[&str], new: &str, rename: Rename| rename_inames(&before, &names(old), new, &rename).unwrap_err().to_string();
    assert_eq!(message(&["x"], "y", Rename::default()), "kernel `loopy_kernel` has no iname `x`; available: `i`, `k`, `l`");
    assert_eq!(message(&["i"], "i", Rename::default()), "`i` cannot be renamed to itself");
    assert_eq!(message(&["k"], "i", Rename::default()), "`i` is already a name in kernel `loopy_kernel`; choose another one");
    assert_eq!(message(&["k"], "a", Rename::default().existing_ok()), "`a` is already a name in kernel `loopy_kernel`; choose another one");
    assert_eq!(message(&["i", "l"], "x", Rename::default()), "instruction `third` uses both `i` and `l`, which cannot become one iname");
    let apart = kernel(&["{[i]: 0<=i<n}", "{[k]: 0<=k<m}"], "a[i] = 1\nb[k] = 1");
    assert_eq!(
        rename_iname(&apart, "k", "i", &Rename::default().existing_ok()).unwrap_err().to_string(),
        format!("`k` and `i` do not run over the same values: `{}` versus `{}`", apart.domains[1], apart.domains[0])
    );
    let batches = BTreeMap::from([("x".into(), names(&["i"])), ("y".into(), names(&["i"]))]);
    assert_eq!(rename_inames_in_batch(&before, &batches).unwrap_err().to_string(), "`i` cannot be renamed to both `x` and `y`");
}

#[test]
fn unused_inames_leave_the_domains_and_used_bounds_stay() {
    let before = kernel(&["{[i,k]: 0<=i,k<n}", "{[j]: 0<=j<i}", "{[l]: 0<=l<n}"], "out[i,j] = 1");
    let after = remove_unused_inames(&before, None).unwrap();
    assert_eq!(after.inames.keys().map(Name::as_str).collect::<Vec<_>>(), ["i", "j"]);
    assert_eq!(after.domains.len(), 2);
    assert_same(&before, &after);
    assert_eq!(remove_unused_inames(&before, Some(&names(&["l"]))).unwrap().inames.len(), 3);
    assert_eq!(
        remove_unused_inames(&before, Some(&names(&["x"]))).unwrap_err().to_string(),
        "kernel `loopy_kernel` has no iname `x`; available: `i`, `j`, `k`, `l`"
    );
}

#[test]
fn no_transformation_leaves_an_iname_behind_that_is_gone() {
    let mut kernel = kernel(&["{[i,j,k]: 0<=i,j,k<n}"], "c[i,j] = sum(k, a[i,k]*b[k,j])");
    for iname in ["i", "j", "k"] {
        kernel = split_iname(&kernel, iname, &Split::by(16)).unwrap();
    }
    let used: BTreeSet<Name> = kernel.instructions.iter().flat_map(|instruction| instruction.exprs()).flat_map(Expr::variables).collect();
    assert!(["i", "j", "k"].iter().all(|iname| !used.contains(*iname)));
    assert_eq!(kernel.domains[0].pieces()[0].len(), 12);
}

// ---- reductions and instructions ----

#[test]
fn split_reductions_nest_in_both_ways() {
    let before = kernel(&["{[i,j,k]: 0<=i,j,k<n}"], "out = sum((i, j, k), a[i,j,k])");
    let all = parloop_loop::matching::Query::All;
    let inward = split_reduction_inward(&before, &names(&["j"]), &all).unwrap();
    assert_eq!(rhs(&inward, "insn"), "sum((i, k), sum(j, a[i, j, k]))");
    let outward = split_reduction_outward(&before, &names(&["k", "j"]), &all).unwrap();
    assert_eq!(rhs(&outward, "insn"), "sum((j, k), sum(i, a[i, j, k]))");
    assert_eq!(split_reduction_inward(&before, &names(&["i", "j", "k"]), &all).unwrap(), before);
    assert_eq!(
        split_reduction_inward(&before, &names(&["l"]), &all).unwrap_err().to_string(),
        "kernel `loopy_kernel` has no iname `l`; available: `i`, `j`, `k`"
    );
}

#[test]
fn reductions_that_share_an_iname_get_one_each() {
    let before = kernel(&["{[i,j]: 0<=i<n and 0<=j<=i}"], "a[i] = sum(j, x[i,j]) + sum(j, y[i,j])\nb[i] = sum(j, z[j])");
    let all = parloop_loop::matching::Query::All;
    let after = make_reduction_inames_unique(&before, None, &all).unwrap();
    assert_eq!(rhs(&after, "insn"), "sum(j_0, x[i, j_0]) + sum(j_1, y[i, j_1])");
    assert_eq!(rhs(&after, "insn_0"), "sum(j_2, z[j_2])");
    assert!(!after.inames.contains_key("j"));
    let only = split_iname(&after, "j_2", &Split::by(2)).unwrap();
    assert_eq!(only.inames.len(), 5);
    let child = kernel(&["{[i]: 0<=i<n}", "{[j]: 0<=j<i}"], "a = sum(i, sum(j, x[i,j])) + sum(i, y[i])");
    assert_eq!(
        make_reduction_inames_unique(&child, None, &all).unwrap_err().to_string(),
        "the bounds of `j` depend on `i`, so reductions over `i` cannot get copies of it; duplicate both for one of them first"
    );
}

#[test]
fn instructions_move_into_and_out_of_inames_that_they_do_not_use() {
    let before = kernel(&["{[i,j]: 0<=i,j<n}"], "a[i] = 1 {id=one}");
    let query = parse::query("id:one").unwrap();
    let inside = add_inames_to_insn(&before, &names(&["j"]), &query).unwrap();
    assert_eq!(within(&inside, "one"), ["i", "j"]);
    assert_eq!(remove_inames_from_insn(&inside, &names(&["j"]), &query).unwrap().as_written(), before.as_written());
    let message = |iname: &str| remove_inames_from_insn(&before, &names(&[iname]), &query).unwrap_err().to_string();
    assert_eq!(message("j"), "instruction `one` does not run in `j`");
    assert_eq!(message("i"), "instruction `one` uses `i`, so it must run in it");
    assert_eq!(set_instruction_priority(&before, &query, 7).instructions[0].priority, 7);
    assert!(tag_instructions(&before, &"mine".into(), &query).instructions[0].tags.contains("mine"));
}

#[test]
fn many_nests_are_split_in_little_time() {
    let domains: Vec<String> = (0..500).map(|index| format!("{{[i{index}]: 0<=i{index}<n}}")).collect();
    let text: String = (0..500).map(|index| format!("a{index}[i{index}] = {index}\n")).collect();
    let mut kernel = KernelBuilder::new().domains(domains.iter().map(String::as_str)).instructions(text).build_kernel().unwrap();
    let start = std::time::Instant::now();
    for index in 0..50 {
        kernel = split_iname(&kernel, &format!("i{index}"), &Split::by(16)).unwrap();
    }
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(kernel.inames.len(), 550);
    assert!(seconds < 10.0, "50 splits of 500 nests took {seconds} s");
}

// ---- any sequence ----

/// One transformation of the iname at that place among the kernel's, if it is possible.
fn any_step(kernel: &LoopKernel, kind: u8, place: usize, length: i64) -> Option<LoopKernel> {
    let inames: Vec<Name> = kernel.inames.keys().cloned().collect();
    let iname = inames[place % inames.len()].clone();
    let other = inames[(place + 1) % inames.len()].clone();
    match kind {
        0 => split_iname(kernel, &iname, &Split::by(length)).ok(),
        1 => split_iname(kernel, &iname, &Split::by(length).within(parse::query("id:second").unwrap())).ok(),
        2 => chunk_iname(kernel, &iname, &Split::by(length)).ok(),
        3 => join_inames(kernel, &Join::of([iname, other])).ok(),
        4 => duplicate_inames(kernel, &Duplicate::of([iname]).within(parse::query("id:first").unwrap())).ok(),
        5 => rename_iname(kernel, &iname, &other, &Rename::default().existing_ok()).ok(),
        _ => remove_unused_inames(kernel, None).ok(),
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(256))]
    #[test]
    fn any_sequence_of_transformations_touches_the_same_elements(
        domain in 0usize..4,
        steps in proptest::collection::vec((0u8..7, 0usize..4, 1i64..5), 1..5),
        n in 0i64..9,
    ) {
        let domains = [
            &["{[i,j]: 0<=i<n and 0<=j<3}"][..],
            &["{[i,j]: 0<=i<n and 0<=j<=i}"],
            &["{[i]: 1<=i<n}", "{[j]: 0<=j<4}"],
            &["{[i]: 0<=i<n}", "{[j]: 0<=j<i}"],
        ][domain];
        let before = kernel(domains, "a[i,j] = 1 {id=first}\nb[i,j] = a[i,j] {id=second, dep=first}");
        let after = steps.iter().fold(before.clone(), |kernel, (kind, place, length)| {
            any_step(&kernel, *kind, *place, *length).unwrap_or(kernel)
        });
        let sizes = values([("n", n)]);
        proptest::prop_assert_eq!(touched(&before, &sizes), touched(&after, &sizes), "{}", after);
    }
}
