//! Values that are fetched or computed ahead of their use.

use std::collections::BTreeSet;

use parloop_device::DType;
use parloop_loop::create::{Data, KernelBuilder, make_kernel};
use parloop_loop::infer::address_spaces;
use parloop_loop::matching::{Glob, Query};
use parloop_loop::parse;
use parloop_loop::prelude::*;
use parloop_loop::reduce::{Realization, realize};
use parloop_loop::schedule::{assign_automatic_axes, schedule};
use parloop_loop::syntax::{AddressSpace, Expr, InameTag, Instruction, InstructionKind, LoopKernel, Program, Shape, Target};
use parloop_loop::transform::{FetchTag, Precompute, Prefetch, Split, add_prefetch, precompute, split_iname};
use parloop_loop::{Name, Set};

fn kernel(domain: &str, instructions: &str) -> LoopKernel {
    make_kernel(domain, instructions).unwrap().entry().unwrap().clone()
}

fn names(list: &[&str]) -> Vec<Name> {
    list.iter().map(|&name| name.into()).collect()
}

fn set_of(list: &[&str]) -> BTreeSet<Name> {
    names(list).into_iter().collect()
}

fn instruction<'a>(kernel: &'a LoopKernel, id: &str) -> &'a Instruction {
    kernel.instructions.iter().find(|instruction| instruction.id == id).unwrap()
}

fn text(kernel: &LoopKernel, id: &str) -> String {
    let instruction = instruction(kernel, id);
    format!("{} = {}", instruction.lhs()[0], instruction.rhs()[0])
}

fn shape(kernel: &LoopKernel, temporary: &str) -> Vec<String> {
    match &kernel.temporaries[temporary].layout.shape {
        Shape::Known(lengths) => lengths.iter().map(Expr::to_string).collect(),
        shape => panic!("{shape:?}"),
    }
}

fn is_domain(kernel: &LoopKernel, index: usize, expected: &str) {
    let (domain, expected) = (&kernel.domains[index], Set::parse(expected).unwrap());
    let context = Set::universe(&[], domain.dims());
    assert!(domain.join(&context).unwrap().is_equal(&expected).unwrap(), "{domain} is not {expected}");
}

fn prefetch(array: &str, sweep: &[&str]) -> Prefetch {
    Prefetch::new(array, names(sweep))
}

fn matmul() -> LoopKernel {
    let kernel = KernelBuilder::new()
        .domain("{[i,j,k]: 0<=i,j,k<n}")
        .instructions("c[i,j] = sum(k, a[i,k]*b[k,j]) {id=product}")
        .data(Data::global("a,b,c").dtype("float32").shape("n,n"))
        .rest()
        .build_kernel()
        .unwrap();
    let kernel = split_iname(&kernel, "i", &Split::by(16).outer(InameTag::Group(0)).inner(InameTag::Local(1))).unwrap();
    let kernel = split_iname(&kernel, "j", &Split::by(16).outer(InameTag::Group(1)).inner(InameTag::Local(0))).unwrap();
    split_iname(&kernel, "k", &Split::by(16)).unwrap()
}

#[test]
fn tiles_of_a_matrix_product_are_fetched() {
    let kernel = add_prefetch(&matmul(), &prefetch("a", &["k_inner", "i_inner"])).unwrap();
    let kernel = add_prefetch(&kernel, &prefetch("b", &["j_inner", "k_inner"])).unwrap();
    assert_eq!(text(&kernel, "a_fetch_rule"), "a_fetch[a_dim_0, a_dim_1] = a[a_dim_0 + 16*i_outer, a_dim_1 + 16*k_outer]");
    assert_eq!(text(&kernel, "b_fetch_rule"), "b_fetch[b_dim_0, b_dim_1] = b[b_dim_0 + 16*k_outer, b_dim_1 + 16*j_outer]");
    let product = instruction(&kernel, "product");
    assert_eq!(product.rhs()[0].to_string(), "sum((k_outer, k_inner), a_fetch[i_inner, k_inner]*b_fetch[k_inner, j_inner])");
    assert_eq!(product.depends_on, set_of(&["a_fetch_rule", "b_fetch_rule"]));
    assert_eq!(instruction(&kernel, "a_fetch_rule").within_inames, set_of(&["a_dim_0", "a_dim_1", "i_outer", "k_outer"]));
    assert_eq!(shape(&kernel, "a_fetch"), ["16", "16"]);
    // Only what the matrix has is fetched, where 16 does not divide n.
    is_domain(&kernel, 1, "{[a_dim_0, a_dim_1]: 0<=a_dim_0,a_dim_1<16 and 16*i_outer + a_dim_0 < n and 16*k_outer + a_dim_1 < n}");
    assert!(kernel.substitutions.is_empty());
}

#[test]
fn work_items_of_a_group_share_a_fetch_along_memory() {
    let kernel = add_prefetch(&matmul(), &prefetch("a", &["k_inner", "i_inner"])).unwrap();
    assert_eq!(kernel.inames["a_dim_0"].tags, [InameTag::LocalAuto].into());
    let kernel = assign_automatic_axes(&kernel).unwrap();
    // Neighbours in a row are neighbours in memory, so they are fetched by neighbours of the group.
    assert_eq!(kernel.inames["a_dim_1"].tags, [InameTag::Local(0)].into());
    assert_eq!(kernel.inames["a_dim_0"].tags, [InameTag::Local(1)].into());
}

#[test]
fn an_automatic_axis_that_is_too_long_is_split() {
    let kernel = kernel("{[g, l]: 0<=g<n and 0<=l<16}", "b[g, l] = a[16*g + l] + a[16*g + l + 3]");
    let kernel = split_iname(&kernel, "g", &Split::by(1).outer(InameTag::Group(0))).unwrap();
    let mut kernel = kernel;
    kernel.inames.get_mut("l").unwrap().tags.insert(InameTag::Local(0));
    let kernel = add_prefetch(&kernel, &prefetch("a", &["l"])).unwrap();
    assert_eq!(shape(&kernel, "a_fetch"), ["19"]);
    let kernel = assign_automatic_axes(&kernel).unwrap();
    assert_eq!(kernel.inames["a_dim_0_inner"].tags, [InameTag::Local(0)].into());
    assert!(kernel.inames["a_dim_0_outer"].tags.is_empty());
}

#[test]
fn an_automatic_axis_without_local_axes_is_a_loop() {
    let kernel = kernel("{[i, j]: 0<=i<n and 0<=j<8}", "b[i, j] = a[i, 7 - j]");
    let what = Prefetch { default_tag: FetchTag::Given(InameTag::LocalAuto), ..prefetch("a", &["j"]) };
    let kernel = assign_automatic_axes(&add_prefetch(&kernel, &what).unwrap()).unwrap();
    assert!(kernel.inames["a_dim_1"].tags.is_empty());
}

#[test]
fn the_values_of_a_stencil_are_fetched_once() {
    let kernel = kernel("{[o, i]: 0<=o<n and 0<=i<16}", "b[o, i] = a[16*o + i] + a[16*o + i + 1] + a[16*o + i + 2] {id=use}");
    let kernel = add_prefetch(&kernel, &prefetch("a", &["i"])).unwrap();
    assert_eq!(text(&kernel, "use"), "b[o, i] = a_fetch[i] + a_fetch[i + 1] + a_fetch[i + 2]");
    assert_eq!(text(&kernel, "a_fetch_rule"), "a_fetch[a_dim_0] = a[a_dim_0 + 16*o]");
    is_domain(&kernel, 1, "{[a_dim_0]: 0<=a_dim_0<18}");
    assert_eq!(shape(&kernel, "a_fetch"), ["18"]);
}

#[test]
fn corners_of_a_star_are_fetched_only_when_asked_for() {
    let star = kernel("{[i, j]: 2<=i,j<10}", "b[i, j] = a[i-2, j] + a[i, j] + a[i+2, j] + a[i, j-2] + a[i, j+2] {id=use}");
    let error = add_prefetch(&star, &prefetch("a", &["j"])).unwrap_err().to_string();
    assert!(error.starts_with("fetching `a`: rule `a_fetch_rule`: the values needed, `"), "{error}");
    assert!(error.ends_with("`, are not convex; request their bounding box"), "{error}");
    let boxed = add_prefetch(&star, &Prefetch { bounding_box: true, ..prefetch("a", &["i", "j"]) }).unwrap();
    is_domain(&boxed, 1, "{[a_dim_0, a_dim_1]: 0<=a_dim_0,a_dim_1<12}");
    assert_eq!(instruction(&boxed, "use").rhs()[0].to_string().matches("a_fetch[").count(), 5);
}

#[test]
fn axes_of_one_value_are_left_out() {
    let kernel = kernel("{[i, j]: 0<=i<n and 0<=j<8}", "b[i, j] = a[i, 7 - j] {id=use}");
    let kernel = add_prefetch(&kernel, &prefetch("a", &["j"])).unwrap();
    assert_eq!(text(&kernel, "a_fetch_rule"), "a_fetch[a_dim_1] = a[i, a_dim_1]");
    assert_eq!(text(&kernel, "use"), "b[i, j] = a_fetch[-j + 7]");
    assert_eq!(shape(&kernel, "a_fetch"), ["8"]);
}

#[test]
fn a_fetch_without_a_sweep_is_a_number() {
    let kernel = kernel("{[i, j]: 0<=i<n and 0<=j<8}", "b[i, j] = a[i] {id=use}");
    let kernel = add_prefetch(&kernel, &prefetch("a", &[])).unwrap();
    assert_eq!(text(&kernel, "a_fetch_rule"), "a_fetch = a[i]");
    assert_eq!(text(&kernel, "use"), "b[i, j] = a_fetch");
    assert_eq!(instruction(&kernel, "a_fetch_rule").within_inames, set_of(&["i"]));
    assert_eq!(kernel.domains.len(), 1);
}

#[test]
fn a_whole_axis_is_fetched_by_a_slice() {
    let kernel = KernelBuilder::new()
        .domain("{[i, j]: 0<=i,j<n}")
        .instructions("b[i, j] = a[j, i] + a[j, 0] {id=use}")
        .data(Data::global("a").shape("n,n"))
        .rest()
        .build_kernel()
        .unwrap();
    let slice = Expr::Slice(std::sync::Arc::new([None, None, None]));
    let what = Prefetch { footprint: vec![vec![Expr::var("j"), slice]], ..prefetch("a", &[]) };
    let kernel = add_prefetch(&kernel, &what).unwrap();
    assert_eq!(text(&kernel, "use"), "b[i, j] = a_fetch[i] + a_fetch[0]");
    is_domain(&kernel, 1, "{[a_dim_1]: 0<=a_dim_1<n}");
    assert_eq!(kernel.inames.keys().cloned().collect::<Vec<Name>>(), names(&["a_dim_1", "i", "j"]));
}

#[test]
fn reads_outside_of_a_given_footprint_stay() {
    let kernel = kernel("{[i, j]: 0<=i<n and 0<=j<8}", "b[i, j] = a[i, j] + a[i + 1, j] {id=use}");
    let what = Prefetch { footprint: vec![vec![Expr::var("i"), Expr::var("j")]], ..prefetch("a", &["j"]) };
    let kernel = add_prefetch(&kernel, &what).unwrap();
    assert_eq!(text(&kernel, "use"), "b[i, j] = a_fetch[j] + a[i + 1, j]");
    assert!(kernel.substitutions.is_empty());
}

#[test]
fn only_selected_instructions_read_what_was_fetched() {
    let kernel = kernel("{[i, j]: 0<=i<n and 0<=j<8}", "b[i, j] = a[i, j] {id=one}\nc[i, j] = a[i, j] {id=two}");
    let what = Prefetch { within: Query::Id(Glob::new("one")), ..prefetch("a", &["j"]) };
    let kernel = add_prefetch(&kernel, &what).unwrap();
    assert_eq!(text(&kernel, "one"), "b[i, j] = a_fetch[j]");
    assert_eq!(text(&kernel, "two"), "c[i, j] = a[i, j]");
    assert!(instruction(&kernel, "two").depends_on.is_empty());
}

#[test]
fn reads_with_indices_that_are_read_themselves_stay() {
    let kernel = kernel("{[i]: 0<=i<16}", "b[i] = a[index[i]] + a[i] {id=use}");
    let kernel = add_prefetch(&kernel, &prefetch("a", &["i"])).unwrap();
    assert_eq!(text(&kernel, "use"), "b[i] = a[index[i]] + a_fetch[i]");
}

#[test]
fn a_fetch_waits_for_who_writes_what_it_fetches() {
    let text = "<>t[i] = 2*a[i] {id=fill}\n<>s = 1 {id=other}\nb[j] = t[15 - j] + s {id=use, dep=fill:other}";
    let kernel = kernel("{[i, j]: 0<=i,j<16}", text);
    let kernel = add_prefetch(&kernel, &prefetch("t", &["j"])).unwrap();
    assert_eq!(instruction(&kernel, "t_fetch_rule").depends_on, set_of(&["fill"]));
    assert_eq!(instruction(&kernel, "use").depends_on, set_of(&["fill", "other", "t_fetch_rule"]));
}

#[test]
fn a_fetch_of_what_changes_in_a_loop_is_inside_of_the_loop() {
    let mut kernel = kernel("{[t, i, j]: 0<=t<10 and 0<=i,j<8}", "b[t, i] = a[7 - i] {id=use}\na[j] = a[j] + 1 {id=change, dep=use}");
    for instruction in &mut kernel.instructions {
        std::sync::Arc::make_mut(instruction).within_inames.insert("t".into());
    }
    let what = Prefetch { within: Query::Id(Glob::new("use")), ..prefetch("a", &["i"]) };
    let kernel = add_prefetch(&kernel, &what).unwrap();
    assert_eq!(instruction(&kernel, "a_fetch_rule").within_inames, set_of(&["a_dim_0", "t"]));
}

#[test]
fn a_rule_that_is_called_by_another_is_computed_ahead_too() {
    let kernel = kernel("{[i, j]: 0<=i<n and 0<=j<16}", "f(x) := 2*a[x]\ng(x) := f(x) + f(x + 1)\nb[i, j] = g(i + j) {id=use}");
    let kernel = precompute(&kernel, &Precompute::new("f", names(&["j"]))).unwrap();
    assert_eq!(text(&kernel, "use"), "b[i, j] = f_0[j] + f_0[j + 1]");
    assert_eq!(text(&kernel, "f"), "f_0[x] = 2*a[i + x]");
    assert!(kernel.substitutions.is_empty());
    assert_eq!(shape(&kernel, "f_0"), ["17"]);
}

#[test]
fn a_swept_iname_inside_of_a_rule_becomes_an_axis() {
    let kernel = kernel("{[i, j]: 0<=i<n and 0<=j<16}", "f(x) := a[x, j]\nb[i, j] = f(i) {id=use}");
    let kernel = precompute(&kernel, &Precompute::new("f", names(&["j"]))).unwrap();
    assert_eq!(text(&kernel, "f"), "f_0[f_j] = a[i, f_j]");
    assert_eq!(text(&kernel, "use"), "b[i, j] = f_0[j]");
}

#[test]
fn existing_inames_may_do_the_work_if_they_have_the_values() {
    let kernel = kernel("{[i, j, p]: 0<=i<n and 0<=j<16 and 0<=p<16}", "f(x) := 2*a[x]\nb[i, j] = f(16*i + j) {id=use}\nc[p] = p");
    let what = Precompute { inames: vec![Some("p".into())], ..Precompute::new("f", names(&["j"])) };
    let done = precompute(&kernel, &what).unwrap();
    assert_eq!(text(&done, "f"), "f_0[p] = 2*a[16*i + p]");
    assert_eq!(done.domains.len(), 1);
    let what = Precompute { inames: vec![Some("i".into())], ..Precompute::new("f", names(&["j"])) };
    let error = precompute(&kernel, &what).unwrap_err().to_string();
    assert!(error.starts_with("rule `f`: its values are needed for `"), "{error}");
    assert!(error.ends_with("`; use names that do not exist yet"), "{error}");
}

#[test]
fn values_in_global_memory_are_seen_after_a_barrier() {
    let kernel = kernel("{[i, j]: 0<=i<n and 0<=j<16}", "f(x) := 2*a[x]\nb[i, j] = f(j) {id=use}");
    let what = Precompute { space: Some(AddressSpace::Global), ..Precompute::new("f", names(&["j"])) };
    let kernel = precompute(&kernel, &what).unwrap();
    assert!(matches!(instruction(&kernel, "f_barrier").kind, InstructionKind::Barrier { .. }));
    assert_eq!(instruction(&kernel, "use").depends_on, set_of(&["f", "f_barrier"]));
}

#[test]
fn names_are_those_given() {
    let kernel = kernel("{[i, j]: 0<=i<n and 0<=j<8}", "b[i, j] = a[i, j] {id=use}");
    let what = Prefetch {
        inames: vec![None, Some("p".into())],
        temporary: Some("tile".into()),
        instruction_id: Some("get".into()),
        outer_inames: Some(set_of(&["i"])),
        space: Some(AddressSpace::Private),
        default_tag: FetchTag::Given(InameTag::Unroll),
        ..prefetch("a", &["j"])
    };
    let kernel = add_prefetch(&kernel, &what).unwrap();
    assert_eq!(text(&kernel, "get"), "tile[p] = a[i, p]");
    assert_eq!(kernel.inames["p"].tags, [InameTag::Unroll].into());
    assert_eq!(kernel.temporaries["tile"].space, Some(AddressSpace::Private));
}

#[test]
fn a_fetch_that_cannot_be_says_why() {
    let kernel = kernel("{[i, j]: 0<=i<n and 0<=j<8}", "f(x) := x + 1\nb[i, j] = a[i, j] + f(j) + f(index[i])\nc[i] = a[index[i], 0]");
    let message = |what: Prefetch| add_prefetch(&kernel, &what).unwrap_err().to_string();
    assert_eq!(
        message(prefetch("aa", &["j"])),
        "kernel `loopy_kernel` has no array `aa`; available: `a`, `b`, `c`, `index`".replace("loopy_kernel", &kernel.name)
    );
    assert_eq!(message(prefetch("b", &["j"])), format!("no selected instruction of kernel `{}` reads `b`", kernel.name));
    let index = |indices: &[&str]| vec![indices.iter().map(|text| parse::expression(text).unwrap()).collect::<Vec<Expr>>()];
    assert_eq!(message(Prefetch { footprint: index(&["i"]), ..prefetch("a", &["j"]) }), "`a` has 2 axes, but a footprint has 1 indices");
    assert_eq!(
        message(Prefetch { inames: vec![None, None, None], ..prefetch("a", &["j"]) }),
        "`a` has 2 axes, but 3 loop names were given"
    );
    assert_eq!(
        message(prefetch("a", &["k"])),
        format!("fetching `a`: rule `a_fetch_rule`: kernel `{}` has no iname `k`; available: `i`, `j`", kernel.name)
    );
    assert_eq!(
        message(Prefetch { temporary: Some("i".into()), ..prefetch("a", &["j"]) }),
        format!("fetching `a`: rule `a_fetch_rule`: `i` is already a name in kernel `{}`; choose another one", kernel.name)
    );
    let ahead = |what: Precompute| precompute(&kernel, &what).unwrap_err().to_string();
    assert_eq!(
        ahead(Precompute::new("g", names(&["j"]))),
        format!("kernel `{}` has no substitution rule `g`; available: `f`", kernel.name)
    );
    assert_eq!(
        ahead(Precompute::new("f", names(&["i"]))),
        "rule `f`: sweep iname `i` is neither in the arguments of its calls nor in the rule; leave it out"
    );
    assert_eq!(
        ahead(Precompute { storage_axes: Some(names(&["y"])), ..Precompute::new("f", names(&["j"])) }),
        "rule `f`: storage axis `y` is neither a parameter of the rule nor an iname of the kernel"
    );
    assert_eq!(
        ahead(Precompute { storage_axes: Some(vec![]), ..Precompute::new("f", names(&["j"])) }),
        "rule `f`: its parameter `x` varies within one sweep, so it must be a storage axis"
    );
    assert_eq!(
        ahead(Precompute { footprint: index(&["index[i]"]), ..Precompute::new("f", names(&["j"])) }),
        "rule `f`: argument 0 of the footprint is not affine in inames and parameters"
    );
}

#[test]
fn the_tiles_of_a_product_are_fetched_between_barriers() {
    let kernel = add_prefetch(&matmul(), &prefetch("a", &["k_inner", "i_inner"])).unwrap();
    let kernel = add_prefetch(&kernel, &prefetch("b", &["j_inner", "k_inner"])).unwrap();
    let kernel = realize(&kernel, &Realization::default(), &|_, _| Ok(DType::F32.into())).unwrap();
    let kernel = address_spaces(&assign_automatic_axes(&kernel).unwrap()).unwrap();
    assert_eq!(kernel.temporaries["a_fetch"].space, Some(AddressSpace::Local));
    let schedule = schedule(&Program::of(kernel.clone()), &kernel).unwrap();
    let expected = "\
launch loopy_kernel
  run product_k_outer_k_inner_init
  for k_outer
    barrier local, local memory
    run a_fetch_rule
    run b_fetch_rule
    barrier local, local memory
    for k_inner
      run product_k_outer_k_inner_update
  run product
";
    assert_eq!(schedule.to_string(), expected);
    assert_eq!(schedule.launches[0].group_size, [16, 16].map(Expr::int));
}

#[test]
fn a_swept_iname_in_arguments_and_in_the_rule_becomes_an_axis() {
    let kernel = kernel("{[i, j]: 0<=i<n and 0<=j<4}", "f(x) := a[x]*c[j]\nb[i, j] = f(i + j) {id=use}");
    let kernel = precompute(&kernel, &Precompute::new("f", names(&["j"]))).unwrap();
    assert_eq!(text(&kernel, "f"), "f_0[f_j, x] = a[i + x]*c[f_j]");
    assert_eq!(text(&kernel, "use"), "b[i, j] = f_0[j, j]");
    is_domain(&kernel, 1, "{[f_j, x]: 0<=f_j<4 and x = f_j}");
}

#[test]
fn reductions_that_a_sweep_bounds_are_bounded_by_the_fetch() {
    let text = "f(x) := sum(k, a[x, k])\nb[i] = f(i) {id=use}";
    let kernel = kernel("{[i, k]: 0<=i<16 and 0<=k<=i}", text);
    let kernel = precompute(&kernel, &Precompute::new("f", names(&["i"]))).unwrap();
    assert_eq!(self::text(&kernel, "f"), "f_0[x] = sum(k_0, a[x, k_0])");
    is_domain(&kernel, 2, "{[k_0]: 0<=k_0<=x and x<=15}");
}

#[test]
fn reductions_that_an_iname_around_bounds_stay_inside_of_it() {
    let text = "f(x) := sum(k, a[x, k])\nb[i, j] = f(j) {id=use}";
    let kernel = kernel("{[i, j, k]: 0<=i<n and 0<=j<8 and 0<=k<=i}", text);
    let kernel = precompute(&kernel, &Precompute::new("f", names(&["j"]))).unwrap();
    assert_eq!(instruction(&kernel, "f").within_inames, set_of(&["i", "x"]));
}

#[test]
fn what_changes_in_the_swept_loop_is_not_fetched_ahead_of_it() {
    let made = KernelBuilder::new().domain("{[i]: 1<=i<16}").instructions("a[i] = a[i - 1] + 1 {id=step}");
    let running = made.data(Data::global("a").dtype("int64").shape("16")).build_kernel().unwrap();
    let ahead = add_prefetch(&running, &prefetch("a", &["i"])).unwrap();
    assert_eq!(
        Program::of(ahead).generate(Target::C).unwrap_err().to_string(),
        "lost order: `step` at `i = 1` writes `a[1]`, which `a_fetch_rule` at `a_dim_0 = 1` reads; `a_fetch_rule` is placed before `step`; order these loops so that the first instance still comes first"
    );
    let again = kernel("{[i, j]: 0<=i,j<16}", "a[j] = a[j] + i {id=step}");
    let outside = Prefetch { outer_inames: Some(BTreeSet::new()), ..prefetch("a", &["j"]) };
    assert_eq!(
        add_prefetch(&again, &outside).unwrap_err().to_string(),
        "fetching `a`: rule `a_fetch_rule`: `step` writes `a` inside the swept loops, before it may be read, so it cannot be read ahead of them"
    );
    let own = kernel("{[i]: 1<=i<16}", "a[i] = a[i] + 1 {id=step}");
    assert_eq!(text(&add_prefetch(&own, &prefetch("a", &["i"])).unwrap(), "step"), "a[i] = a_fetch[i - 1] + 1");
}

#[test]
fn what_other_work_items_wrote_before_can_be_fetched() {
    let mut kernel = kernel("{[i]: 0<=i<16}", "<>t[i] = a[i] {id=fill}\nb[i] = t[15 - i] {id=use, dep=fill}");
    kernel.inames.get_mut("i").unwrap().tags.insert(InameTag::Local(0));
    let kernel = add_prefetch(&kernel, &prefetch("t", &["i"])).unwrap();
    assert_eq!(instruction(&kernel, "t_fetch_rule").depends_on, set_of(&["fill"]));
}
