//! Transformations of data: rules, address spaces, axes, shared memory.

use parloop_loop::Name;
use parloop_loop::create::make_kernel;
use parloop_loop::fold;
use parloop_loop::matching::{Glob, Query};
use parloop_loop::parse;
use parloop_loop::syntax::{AddressSpace, ArgumentKind, DimTag, Expr, LoopKernel, Stride};
use parloop_loop::transform::{
    Aliases, AssignmentToSubst, AxisSplit, AxisTags, BaseStorage, ExtractSubst, ReductionArgToSubstRule, alias_temporaries,
    allocate_temporaries_for_base_storage, assignment_to_subst, expand_subst, extract_subst, reduction_arg_to_subst_rule,
    set_array_axis_names, set_temporary_address_space, simplify_indices, split_array_axis, tag_array_axes,
};

fn kernel(domain: &str, instructions: &str) -> LoopKernel {
    make_kernel(domain, instructions).unwrap().entry().unwrap().clone()
}

fn names(list: &[&str]) -> Vec<Name> {
    list.iter().map(|&name| name.into()).collect()
}

fn expr(text: &str) -> Expr {
    parse::expression(text).unwrap()
}

fn rhs(kernel: &LoopKernel, index: usize) -> String {
    kernel.instructions[index].rhs()[0].to_string()
}

#[test]
fn rules_are_expanded_through_each_other() {
    let kernel = kernel("{[i]: 0<=i<n}", "f(x) := 2*x\ng(x, y) := f(x) + y\nb[i] = g(a[i], f(3))");
    let expanded = expand_subst(&kernel, &Query::All).unwrap();
    assert_eq!(rhs(&expanded, 0), "2*a[i] + 2*3");
    assert!(expanded.substitutions.is_empty());
}

#[test]
fn rules_stay_where_they_are_not_expanded() {
    let kernel = kernel("{[i]: 0<=i<n}", "f(x) := 2*x\nb[i] = f(a[i]) {id=one}\nc[i] = f(a[i]) {id=two}");
    let expanded = expand_subst(&kernel, &Query::Id(Glob::new("one"))).unwrap();
    assert_eq!((rhs(&expanded, 0), rhs(&expanded, 1)), ("2*a[i]".to_owned(), "f(a[i])".to_owned()));
    assert_eq!(expanded.substitutions.len(), 1);
}

#[test]
fn calls_that_do_not_fit_a_rule_say_so() {
    let mut bad = kernel("{[i]: 0<=i<n}", "f(x) := 2*x\nb[i] = f(a[i])");
    bad.substitutions.get_mut("f").unwrap().parameters.push("y".into());
    let id = bad.instructions[0].id.clone();
    assert_eq!(
        expand_subst(&bad, &Query::All).unwrap_err().to_string(),
        format!("substitution rule `f` takes 2 arguments, but is called with 1 in `{id}`")
    );
    let mut bad = kernel("{[i]: 0<=i<n}", "f(x) := 2*x\ng(x) := f(x)\nb[i] = g(a[i])");
    bad.substitutions.get_mut("f").unwrap().body = expr("g(x)");
    assert_eq!(
        expand_subst(&bad, &Query::All).unwrap_err().to_string(),
        "substitution rule `g` calls itself: `g` → `f` → `g`; define one of them without the others"
    );
}

#[test]
fn a_template_is_found_in_values_predicates_and_indices() {
    let kernel = kernel("{[i]: 0<=i<n}", "b[2*i + 1] = a[i]*2 + 2*a[i + 3] {if=2*a[i] < 4}");
    let extracted = extract_subst(&kernel, &ExtractSubst::new("twice", expr("2*a[x]"), names(&["x"]))).unwrap();
    assert_eq!(rhs(&extracted, 0), "twice(i) + twice(i + 3)");
    assert_eq!(extracted.instructions[0].rhs()[1].to_string(), "twice(i) < 4");
    assert_eq!(expand_subst(&extracted, &Query::All).unwrap().instructions[0].rhs()[0], &expr("2*a[i] + 2*a[i + 3]"));
    let indices = extract_subst(&kernel, &ExtractSubst::new("odd", expr("2*x + 1"), names(&["x"]))).unwrap();
    assert_eq!(indices.instructions[0].lhs()[0].to_string(), "b[odd(i)]");
}

#[test]
fn a_parameter_stands_for_one_expression_in_a_template() {
    let kernel = kernel("{[i]: 0<=i<n}", "b[i] = a[i]*a[i] + a[i]*a[i + 1]");
    let extracted = extract_subst(&kernel, &ExtractSubst::new("square", expr("a[x]*a[x]"), names(&["x"]))).unwrap();
    assert_eq!(rhs(&extracted, 0), "square(i) + a[i]*a[i + 1]");
}

#[test]
fn what_is_written_is_no_value() {
    let kernel = kernel("{[i]: 0<=i<n}", "a[i] = a[i] + 1");
    let extracted = extract_subst(&kernel, &ExtractSubst::new("get", expr("a[x]"), names(&["x"]))).unwrap();
    assert_eq!(extracted.instructions[0].lhs()[0].to_string(), "a[i]");
    assert_eq!(rhs(&extracted, 0), "get(i) + 1");
}

#[test]
fn a_rule_that_cannot_be_extracted_says_why() {
    let kernel = kernel("{[i]: 0<=i<n}", "b[i] = 2*a[i]");
    let message = |what: ExtractSubst| extract_subst(&kernel, &what).unwrap_err().to_string();
    assert_eq!(
        message(ExtractSubst::new("a", expr("2*x"), names(&["x"]))),
        format!("`a` is already a name in kernel `{}`; choose another name for the rule", kernel.name)
    );
    assert_eq!(
        message(ExtractSubst::new("f", expr("2*x"), names(&["x", "y"]))),
        "parameter `y` of `f` is not in its template; leave it out"
    );
    assert_eq!(
        message(ExtractSubst::new("f", expr("3*x"), names(&["x"]))),
        format!("no expression of kernel `{}` matches the template of `f`", kernel.name)
    );
}

#[test]
fn an_assignment_becomes_a_rule_and_is_gone() {
    let kernel =
        kernel("{[i, j]: 0<=i<=n and 0<=j<n}", "<>s = 2 {id=first}\n<>t[i] = s*a[i] {id=fill}\nb[j] = t[j] + t[j + 1] {id=use, dep=fill}");
    let done = assignment_to_subst(&kernel, &AssignmentToSubst::of("t")).unwrap();
    assert_eq!(rhs(&done, 1), "t_subst(j) + t_subst(j + 1)");
    assert!(!done.temporaries.contains_key("t") && !done.inames.contains_key("i"));
    assert_eq!(done.instructions[1].depends_on, ["first".into()].into());
    let expanded = expand_subst(&done, &Query::All).unwrap();
    assert_eq!(rhs(&expanded, 1), "s*a[j] + s*a[j + 1]");
}

#[test]
fn an_assignment_that_others_read_stays() {
    let kernel = kernel("{[i]: 0<=i<n}", "<>t = a[i] {id=fill}\nb[i] = t {id=one, dep=fill}\nc[i] = t {id=two, dep=fill}");
    let what = AssignmentToSubst { within: Query::Id(Glob::new("one")), ..AssignmentToSubst::of("t") };
    let done = assignment_to_subst(&kernel, &what).unwrap();
    assert_eq!((rhs(&done, 1), rhs(&done, 2)), ("t_subst".to_owned(), "t".to_owned()));
    assert!(done.temporaries.contains_key("t"));
}

#[test]
fn an_assignment_that_is_no_rule_says_why() {
    let message =
        |domain: &str, text: &str| assignment_to_subst(&kernel(domain, text), &AssignmentToSubst::of("t")).unwrap_err().to_string();
    let i = "{[i]: 0<=i<n}";
    assert_eq!(message(i, "b[i] = a[i]"), "no instruction of kernel `loopy_kernel` assigns `t`");
    assert_eq!(
        message(i, "<>t[i] = a[i] {id=fill}\nt[i] = a[i] + 1 {id=again, dep=fill}\nb[i] = t[i] {id=use, dep=*fill:again}"),
        "instruction `use` depends on two assignments to `t`, `again` and `fill`"
    );
    assert_eq!(
        message(i, "<>t[2*i] = a[i] {id=fill}\nb[i] = t[i] {id=use, dep=fill}"),
        "in `fill` the index `2*i` of `t` is not a separate variable; use map_domain to make it one"
    );
    assert_eq!(
        message(i, "<>t[i] = a[i] {id=fill, if=a[i] > 0}\nb[i] = t[i] {id=use, dep=fill}"),
        "instruction `fill` is conditional, so `t` cannot be replaced by its value"
    );
    assert_eq!(
        message("{[i, j]: 0<=i,j<n}", "<>t = a[i] {id=fill}\nb[j] = t {id=use, dep=fill, inames=j}"),
        "the value of `t` in `fill` depends on `i`, but `use` does not run in it"
    );
    assert_eq!(
        message("{[i, j, k]: 0<=i,j<n and 0<=k<=i}", "<>t[i] = sum(k, a[k]) {id=fill}\nb[j] = t[j] {id=use, dep=fill}"),
        "in `fill`, `i`, an index of `t`, bounds a reduction, so a rule cannot take it as a parameter"
    );
    assert_eq!(
        message(i, "<>t = a[i] {id=fill}\na[i] = 0 {id=clear, dep=fill}\nb[i] = t {id=use, dep=fill}"),
        "`clear` writes `a`, from which `fill` computes `t`, between the assignment and its use"
    );
}

#[test]
fn a_temporary_lives_where_it_is_put() {
    let kernel = kernel("{[i]: 0<=i<16}", "<>t[i] = 2*a[i] {id=fill}\nb[i] = t[15 - i] {dep=fill}");
    let local = set_temporary_address_space(&kernel, &names(&["t"]), AddressSpace::Local).unwrap();
    assert_eq!(local.temporaries["t"].space, Some(AddressSpace::Local));
    let message = |name: &str, space| set_temporary_address_space(&kernel, &names(&[name]), space).unwrap_err().to_string();
    assert_eq!(message("u", AddressSpace::Local), "kernel `loopy_kernel` has no temporary `u`; available: `t`");
    assert_eq!(message("t", AddressSpace::Constant), "`t` is written by `fill`, so it cannot be in constant memory; choose global");
}

#[test]
fn axes_are_tagged_by_place_and_by_name() {
    let kernel = kernel("{[i, j]: 0<=i<n and 0<=j<3}", "a[i, j] = i + j");
    let level = |level| DimTag::Stride(Stride::Nested { level, pad_to: 1 });
    let tags_of = |kernel: &LoopKernel| match &kernel.arguments.iter().find(|argument| argument.name == "a").unwrap().kind {
        ArgumentKind::Array { layout, .. } => layout.dim_tags.clone(),
        kind => panic!("{kind:?}"),
    };
    let tagged = tag_array_axes(&kernel, &names(&["a"]), &AxisTags::parse("N0,N1")).unwrap();
    assert_eq!(tags_of(&tagged), [level(0), level(1)]);
    let named = set_array_axis_names(&kernel, &names(&["a"]), &names(&["row", "column"])).unwrap();
    let by_name = AxisTags::ByName(vec![("column".into(), "N1".into()), ("row".into(), "N0".into())]);
    assert_eq!(tags_of(&tag_array_axes(&named, &names(&["a"]), &by_name).unwrap()), [level(0), level(1)]);
}

#[test]
fn axes_that_cannot_be_tagged_say_why() {
    let kernel = kernel("{[i, j]: 0<=i<n and 0<=j<5}", "a[i, j] = i + j");
    let message = |array: &str, tags: &AxisTags| tag_array_axes(&kernel, &names(&[array]), tags).unwrap_err().to_string();
    assert_eq!(message("c", &AxisTags::parse("c,c")), "kernel `loopy_kernel` has no array `c`; available: `a`");
    assert_eq!(message("a", &AxisTags::parse("c,c,c")), "array `a`: dim tags `c,c,c` describe 3 axes, but the array has 2");
    assert_eq!(message("a", &AxisTags::Given(vec![DimTag::Separate])), "array `a` has 2 axes, but 1 tags were given");
    assert_eq!(
        message("a", &AxisTags::ByName(vec![])),
        "the axes of array `a` have no names; give one tag for each axis, or use set_array_axis_names first"
    );
    assert_eq!(
        message("a", &AxisTags::parse("N0,vec")),
        "array `a`: vector axis 1 has length `5`, but vectors have 2, 3, 4, 8 or 16 lanes"
    );
    let named = set_array_axis_names(&kernel, &names(&["a"]), &names(&["row", "column"])).unwrap();
    let by_name = AxisTags::ByName(vec![("colum".into(), "N1".into()), ("row".into(), "N0".into())]);
    assert_eq!(
        tag_array_axes(&named, &names(&["a"]), &by_name).unwrap_err().to_string(),
        "array `a` has axes `row`, `column`, so exactly these need tags"
    );
    let message = |list: &[&str]| set_array_axis_names(&kernel, &names(&["a"]), &names(list)).unwrap_err().to_string();
    assert_eq!(message(&["row"]), "array `a` has 2 axes, but 1 names were given");
    assert_eq!(message(&["row", "row"]), "two axes of array `a` would be called `row`");
}

#[test]
fn temporaries_that_share_memory_keep_out_of_each_others_way() {
    let text = "<>s = a[i] {id=s1}\nb[i] = s {id=s2, dep=s1}\n<>t = 2*a[i] {id=t1, dep=s2}\nc[i] = t {id=t2, dep=t1}";
    let kernel = kernel("{[i]: 0<=i<n}", text);
    let shared = alias_temporaries(&kernel, &Aliases::of(names(&["s", "t"]))).unwrap();
    assert_eq!(shared.temporaries["s"].base_storage, Some("temp_storage".into()));
    assert_eq!(shared.temporaries["t"].base_storage, shared.temporaries["s"].base_storage);
    assert_eq!(shared.instructions[0].groups, ["tmpgrp_s".into()].into());
    assert_eq!(shared.instructions[0].conflicts, ["tmpgrp_t".into()].into());
    assert_eq!(shared.instructions[3].conflicts, ["tmpgrp_s".into()].into());
    let message = |kernel: &LoopKernel, list: &[&str]| alias_temporaries(kernel, &Aliases::of(names(list))).unwrap_err().to_string();
    assert_eq!(message(&kernel, &["u"]), "kernel `loopy_kernel` has no temporary `u`; available: `s`, `t`");
    assert_eq!(message(&shared, &["s"]), "`s` already shares the memory `temp_storage`; leave it out");
    let together = self::kernel("{[i]: 0<=i<n}", "<>s = a[i] {id=s1}\n<>t = a[i] {id=t1}\nb[i] = s + t {id=both, dep=s1:t1}");
    assert_eq!(message(&together, &["s", "t"]), "instruction `both` uses both `s` and `t`, so they cannot share memory");
}

#[test]
fn what_a_reduction_takes_becomes_a_rule() {
    let kernel = kernel("{[i, j]: 0<=i,j<n}", "s = sum(i, a[i]) + sum(i, b[i]) + sum(j, b[j]) {id=sums}");
    let done = reduction_arg_to_subst_rule(&kernel, &ReductionArgToSubstRule::over(names(&["i"]))).unwrap();
    assert_eq!(rhs(&done, 0), "sum(i, red_i_arg(i)) + sum(i, red_i_arg_0(i)) + sum(j, b[j])");
    let expanded = expand_subst(&done, &Query::All).unwrap();
    assert_eq!(rhs(&expanded, 0), rhs(&kernel, 0));
    let message = |what: &ReductionArgToSubstRule| reduction_arg_to_subst_rule(&kernel, what).unwrap_err().to_string();
    assert_eq!(message(&ReductionArgToSubstRule::over(names(&["k"]))), "kernel `loopy_kernel` has no iname `k`; available: `i`, `j`");
    assert_eq!(
        message(&ReductionArgToSubstRule::over(names(&["i", "j"]))),
        "no selected instruction of kernel `loopy_kernel` has a reduction over exactly `i`, `j`"
    );
    let twice = ReductionArgToSubstRule { rule: Some("f".into()), ..ReductionArgToSubstRule::over(names(&["i"])) };
    assert_eq!(message(&twice), "`f` is already a name in kernel `loopy_kernel`; choose another name for the rule, or none");
}

#[test]
fn divisions_that_the_domains_answer_are_gone_from_indices() {
    let kernel = kernel("{[o, i]: 0<=o<n and 0<=i<16}", "b[(16*o + i)//16, (16*o + i) % 16] = a[(i + 3)//4] + a[(i - 1)//32]");
    let simple = simplify_indices(&kernel).unwrap();
    assert_eq!(simple.instructions[0].lhs()[0].to_string(), "b[o, i]");
    assert_eq!(rhs(&simple, 0), "a[(i + 3) // 4] + a[(i - 1) // 32]");
}

#[test]
fn an_axis_is_split_with_its_elements_where_they_were() {
    let kernel = kernel("{[i, j]: 0<=i<6 and 0<=j<10}", "a[i, j] = i + j");
    let layout = |kernel: &LoopKernel| match &kernel.arguments[0].kind {
        ArgumentKind::Array { layout, .. } => layout.clone(),
        kind => panic!("{kind:?}"),
    };
    let index = |kernel: &LoopKernel, indices: &[i64]| {
        let indices: Vec<Expr> = indices.iter().map(|&index| Expr::int(index)).collect();
        fold::as_int(&layout(kernel).place(&"a".into(), &indices).unwrap().index).unwrap()
    };
    for inner_first in [false, true] {
        for axis in [0, 1] {
            let split = split_array_axis(&kernel, &names(&["a"]), &AxisSplit { axis, length: 5 - 3 * axis as i64, inner_first }).unwrap();
            for (i, j) in [(0, 1), (1, 0), (4, 3)] {
                let (length, mut parts) = (5 - 3 * axis as i64, vec![i, j]);
                let pair = [parts[axis] / length, parts[axis] % length];
                parts.splice(axis..=axis, if inner_first { [pair[1], pair[0]] } else { pair });
                assert_eq!(index(&split, &parts), index(&kernel, &[i, j]), "axis {axis}, inner first: {inner_first}");
            }
        }
    }
    let split = split_array_axis(&kernel, &names(&["a"]), &AxisSplit { axis: 1, length: 4, inner_first: false }).unwrap();
    assert_eq!(split.instructions[0].lhs()[0].to_string(), "a[i, j // 4, j % 4]");
    let message = |array: &str, axis, length| {
        split_array_axis(&kernel, &names(&[array]), &AxisSplit { axis, length, inner_first: false }).unwrap_err().to_string()
    };
    assert_eq!(message("b", 0, 2), "kernel `loopy_kernel` has no array `b`; available: `a`");
    assert_eq!(message("a", 2, 2), "array `a` has no axis 2; it has 2, counted from 0");
    assert_eq!(message("a", 0, 0), "the inner axis of `a` would have length 0; it must be at least 1");
}

#[test]
fn temporaries_share_memory_or_have_their_own() {
    let text = "<>s = a[i] {id=s1}\nb[i] = s {id=s2, dep=s1}\n<>t = 2*a[i] {id=t1, dep=s2}\nc[i] = t {id=t2, dep=t1}";
    let shared = alias_temporaries(&kernel("{[i]: 0<=i<n}", text), &Aliases::of(names(&["s", "t"]))).unwrap();
    assert_eq!(allocate_temporaries_for_base_storage(&shared, BaseStorage::default()).unwrap(), shared);
    let apart = allocate_temporaries_for_base_storage(&shared, BaseStorage { aliased: false, ..BaseStorage::default() }).unwrap();
    assert_eq!(apart.temporaries["s"].base_storage, None);
    let mut differ = shared;
    differ.temporaries.get_mut("s").unwrap().space = Some(AddressSpace::Local);
    differ.temporaries.get_mut("t").unwrap().space = Some(AddressSpace::Private);
    assert_eq!(
        allocate_temporaries_for_base_storage(&differ, BaseStorage::default()).unwrap_err().to_string(),
        "`s` and `t` are parts of `temp_storage`, but are in different address spaces"
    );
}
