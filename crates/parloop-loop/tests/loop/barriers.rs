//! Barriers, launches and sizes of kernels from text.

use parloop_loop::create::KernelBuilder;
use parloop_loop::infer::address_spaces;
use parloop_loop::schedule::{Schedule, ScheduleError, schedule};
use parloop_loop::syntax::{AddressSpace, InameTag, LoopKernel, Program};
use parloop_loop::transform::{Tags, tag_inames};

/// A kernel of one domain, with tags `i=g.0 j=l.0`, after the address spaces are found.
pub fn kernel(domains: &[&str], instructions: &str, tags: &str) -> LoopKernel {
    let kernel = KernelBuilder::new().domains(domains.to_vec()).instructions(instructions).build_kernel().unwrap();
    let mut all = Tags::default();
    for (iname, tag) in tags.split_whitespace().map(|each| each.split_once('=').unwrap()) {
        all = all.with(iname, tag.parse::<InameTag>().unwrap());
    }
    address_spaces(&tag_inames(&kernel, &all).unwrap()).unwrap()
}

fn run(kernel: &LoopKernel) -> Result<Schedule, ScheduleError> {
    schedule(&Program::of(kernel.clone()), kernel)
}

fn tree(kernel: &LoopKernel) -> String {
    let schedule = run(kernel).unwrap();
    parloop_loop::check::after_schedule(&Program::of(kernel.clone()), &schedule).unwrap();
    schedule.to_string()
}

#[test]
fn local_memory_that_others_read_needs_a_barrier() {
    let made = kernel(
        &["{[g,l]: 0<=g<n and 0<=l<16}"],
        "<>s[l] = a[g, l] {id=put}
         out[g, l] = s[15 - l] {id=get, dep=put}",
        "g=g.0 l=l.0",
    );
    assert_eq!(made.temporaries["s"].space, Some(AddressSpace::Local));
    assert_eq!(tree(&made), "launch loopy_kernel\n  run put\n  barrier local, local memory\n  run get\n");
}

#[test]
fn local_memory_that_each_reads_for_itself_needs_none() {
    let made = kernel(
        &["{[g,l]: 0<=g<n and 0<=l<16}"],
        "<>s[l] = a[g, l] {id=put}
         out[g, l] = s[l] {id=get, dep=put}",
        "g=g.0 l=l.0",
    );
    assert_eq!(tree(&made), "launch loopy_kernel\n  run put\n  run get\n");
}

#[test]
fn a_loop_that_fills_and_uses_local_memory_has_two_barriers() {
    let made = kernel(
        &["{[g,l,k]: 0<=g<n and 0<=l<16 and 0<=k<m}"],
        "<>acc = 0 {id=init, inames=g:l}
         <>s[l] = a[g, k, l] {id=put, inames=g:l:k}
         acc = acc + s[15 - l] {id=add, dep=put:init, inames=g:l:k}
         out[g, l] = acc {id=store, dep=add, inames=g:l}",
        "g=g.0 l=l.0",
    );
    assert_eq!(
        tree(&made),
        "launch loopy_kernel\n  run init\n  for k\n    barrier local, local memory\n    run put\n    barrier local, local memory\n    run add\n  run store\n"
    );
}

#[test]
fn global_memory_within_a_group_needs_a_local_barrier_only() {
    let made = kernel(
        &["{[g,l,m]: 0<=g<n and 0<=l<16 and 0<=m<16}"],
        "b[g, l] = a[g, l] {id=put}
         out[g, m] = b[g, 15 - m] {id=get, dep=put}",
        "g=g.0 l=l.0 m=l.0",
    );
    assert_eq!(tree(&made), "launch loopy_kernel\n  run put\n  barrier local, global memory\n  run get\n");
}

#[test]
fn split_inames_are_seen_as_one() {
    let made = kernel(
        &["{[g,l]: 0<=l<16 and 0<=16*g + l<n}"],
        "b[16*g + l] = a[16*g + l] {id=put}
         out[16*g + l] = b[16*g + l] {id=get, dep=put}",
        "g=g.0 l=l.0",
    );
    assert_eq!(tree(&made), "launch loopy_kernel\n  run put\n  run get\n");
}

#[test]
fn global_memory_between_groups_splits_the_launch() {
    let text = "b[16*g + l] = a[16*g + l] {id=put}
         out[16*h + m] = b[n - 1 - 16*h - m] {id=get, dep=put}";
    let domains = &["{[g,l]: 0<=l<16 and 0<=16*g + l<n}", "{[h,m]: 0<=m<16 and 0<=16*h + m<n}"];
    let tags = "g=g.0 l=l.0 h=g.0 m=l.0";
    let mut made = kernel(domains, text, tags);
    assert_eq!(tree(&made), "launch loopy_kernel\n  run put\nlaunch loopy_kernel_0\n  run get\n");
    made.options.insert_global_barriers = false;
    assert_eq!(
        run(&made).unwrap_err().to_string(),
        "`get` depends on how other work-groups change `b` in `put`; put a global barrier between them (`... gbarrier`), or `nosync=put@global` if none is needed"
    );
    let text = text.replace("dep=put", "dep=put, nosync=put@global");
    let made = kernel(domains, &text, tags);
    assert_eq!(tree(&made), "launch loopy_kernel\n  run put\n  run get\n");
}

#[test]
fn private_values_are_kept_across_a_global_barrier() {
    let made = kernel(
        &["{[g,l]: 0<=l<16 and 0<=g<n}"],
        "<>t = a[g, l] {id=load, inames=g:l}
         ... gbarrier {id=bar, dep=load}
         out[g, l] = t {id=store, dep=bar:load, inames=g:l}",
        "g=g.0 l=l.0",
    );
    assert_eq!(tree(&made), "launch loopy_kernel\n  run load\n  run t_save\nlaunch loopy_kernel_0\n  run t_reload\n  run store\n");
    let schedule = run(&made).unwrap();
    let slot = &schedule.kernel.temporaries["t_save_slot"];
    assert_eq!(slot.space, Some(AddressSpace::Global));
    let lines: Vec<String> = schedule.kernel.instructions.iter().map(|each| each.kind.to_string()).collect();
    assert!(lines.contains(&"t_save_slot[t_save_g0, t_save_l0] = t".to_owned()), "{lines:?}");
    assert_eq!(schedule.launches[0].groups, schedule.launches[1].groups);
}

#[test]
fn a_loop_around_a_global_barrier_is_run_by_the_host() {
    let made = kernel(
        &["{[t]: 0<=t<steps}", "{[g,l]: 0<=l<16 and 1<=16*g + l<n-1}", "{[h,m]: 0<=m<16 and 1<=16*h + m<n-1}"],
        "u[16*g + l] = v[16*g + l - 1] + v[16*g + l + 1] {id=one, dep=*, inames=t:g:l}
         v[16*h + m] = u[16*h + m] {id=two, dep=one, inames=t:h:m}",
        "g=g.0 l=l.0 h=g.0 m=l.0",
    );
    // `one` reads what other groups overwrite in `two`, and what they wrote there in the turn before.
    let text = tree(&made);
    assert_eq!(text, "on the host: for t\n  launch loopy_kernel\n    run one\n  launch loopy_kernel_0\n    run two\n");
    assert_eq!(run(&made).unwrap().launches[1].host_inames, ["t"]);
}

#[test]
fn sizes_are_the_largest_extents_of_an_axis() {
    let made = kernel(
        &["{[g,l,m]: 0<=g<n and 0<=l<16 and 2<=m<10}"],
        "<>s[l] = a[g, l] {id=put}
         out[g, m] = s[m] {id=get, dep=put}",
        "g=g.0 l=l.0 m=l.0",
    );
    let schedule = run(&made).unwrap();
    let launch = &schedule.launches[0];
    assert_eq!(launch.groups.iter().map(ToString::to_string).collect::<Vec<_>>(), ["n"]);
    assert_eq!(launch.group_size, [parloop_loop::syntax::Expr::int(16)]);
    // Item 0 of the second has m = 2: what it reads another one wrote.
    assert!(launch.body.len() == 3, "{:?}", launch.body);
}

#[test]
fn a_local_axis_may_have_a_length_that_calls_tell() {
    let made = kernel(&["{[i]: 0<=i<n}"], "out[i] = 2*a[i]", "i=l.0");
    let schedule = run(&made).unwrap();
    assert_eq!(schedule.launches[0].group_size.iter().map(ToString::to_string).collect::<Vec<_>>(), ["maximum(1, n)"]);
}

#[test]
fn a_barrier_in_a_loop_of_different_lengths_is_an_error() {
    let made = kernel(
        &["{[g,l]: 0<=g<n and 0<=l<16}", "{[k]: 0<=k<len}"],
        "<int32>len = lens[g, l] {id=len, inames=g:l}
         <>s[l] = a[g, l] + k {id=put, inames=g:l:k, dep=len}
         out[g, l] = s[15 - l] {id=get, dep=put, inames=g:l:k}",
        "g=g.0 l=l.0",
    );
    assert!(matches!(run(&made), Err(ScheduleError::DivergentBarrier { iname, bound }) if iname == "k" && bound == "len"));
}

#[test]
fn bounds_that_are_computed_come_before_their_loop() {
    let made = kernel(
        &["{[i]: 0<=i<n}", "{[k]: 0<=k<len}"],
        "out[i] = 0 {id=zero, inames=i}
         out[i] = out[i] + a[i] {id=add, inames=i:k, dep=zero}
         <int32>len = lens[i] {id=len, inames=i}",
        "",
    );
    assert_eq!(tree(&made), "launch loopy_kernel\n  for i\n    run zero\n    run len\n    for k\n      run add\n");
}
