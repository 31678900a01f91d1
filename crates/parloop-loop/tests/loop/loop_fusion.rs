//! Which loops can be fused, and that the fused kernel accesses the same elements.

use std::collections::{BTreeMap, BTreeSet};

use parloop_loop::Name;
use parloop_loop::create::KernelBuilder;
use parloop_loop::syntax::LoopKernel;
use parloop_loop::transform::{get_kennedy_unweighted_fusion_candidates, rename_inames_in_batch, tag_inames};

use crate::points::{touched, values};

fn kernel(domain: &str, instructions: &str) -> LoopKernel {
    KernelBuilder::new().domain(domain).instructions(instructions).sequential_dependencies(true).build_kernel().unwrap()
}

fn groups(kernel: &LoopKernel, candidates: &[&str]) -> Result<Vec<Vec<Name>>, String> {
    let candidates: BTreeSet<Name> = candidates.iter().map(|name| Name::from(*name)).collect();
    let batches = get_kennedy_unweighted_fusion_candidates(kernel, &candidates, "ifused").map_err(|error| error.to_string())?;
    let fused = rename_inames_in_batch(kernel, &batches).map_err(|error| error.to_string())?;
    let sizes = values([("n", 5)]);
    assert_eq!(touched(kernel, &sizes), touched(&fused, &sizes));
    Ok(batches.into_values().collect())
}

/// The groups of a kernel whose instructions follow each other.
#[track_caller]
fn assert_groups(domain: &str, instructions: &str, candidates: &[&str], expected: &[&[&str]]) {
    let found = groups(&kernel(domain, instructions), candidates).unwrap();
    let found: BTreeSet<Vec<&str>> = found.iter().map(|group| group.iter().map(Name::as_str).collect()).collect();
    assert_eq!(found, expected.iter().map(|group| group.to_vec()).collect());
}

#[test]
fn loops_that_use_values_of_the_same_iteration_are_fused() {
    assert_groups("{[i,j]: 0<=i,j<n}", "a[i] = 1\nb[j] = 2*a[j]", &["i", "j"], &[&["i", "j"]]);
}

#[test]
fn loops_that_use_values_of_earlier_iterations_are_fused() {
    assert_groups("{[i,j]: 1<=i,j<n}", "x[i] = i\nx[j-1] = 2*j", &["i", "j"], &[&["i", "j"]]);
}

#[test]
fn loops_that_use_values_of_later_iterations_stay_apart() {
    assert_groups("{[i,j]: 1<=i,j<n}", "x[i-1] = i\nx[j] = 2*j", &["i", "j"], &[&["i"], &["j"]]);
}

#[test]
fn loops_that_share_a_number_stay_apart() {
    assert_groups("{[i,j]: 0<=i,j<n}", "<> s = a[i] {id=s}\nb[j] = s {inames=j}", &["i", "j"], &[&["i"], &["j"]]);
}

#[test]
fn loops_over_data_dependent_places_stay_apart() {
    assert_groups("{[i,j]: 0<=i,j<n}", "x[i] = i\ny[j] = 0\n", &["i", "j"], &[&["i", "j"]]);
    let indirect = kernel("{[i,j]: 0<=i,j<n}", "x[i] = 1\nx[map[j]] = 2");
    let candidates = BTreeSet::from(["i".into(), "j".into()]);
    assert_eq!(get_kennedy_unweighted_fusion_candidates(&indirect, &candidates, "f").unwrap().len(), 2);
}

#[test]
fn an_instruction_that_must_run_between_loops_keeps_them_apart() {
    assert_groups("{[i,j]: 0<=i,j<n}", "a[i] = 1\nb = 2\nc[j] = 2*a[j]", &["i", "j"], &[&["i"], &["j"]]);
}

#[test]
fn a_loop_that_must_run_between_loops_keeps_them_apart() {
    let text = "<> t[i] = i {id=t}\n<> u[k] = t[k] {id=u}\n<> v[k] = k {id=v, dep=*}\nout[j] = v[j] {id=out, dep=v}";
    let kernel = KernelBuilder::new().domain("{[i,j,k]: 0<=i,j,k<n}").instructions(text).build_kernel().unwrap();
    assert_eq!(groups(&kernel, &["i", "j"]).unwrap().len(), 2);
}

#[test]
fn loops_inside_of_different_loops_stay_apart() {
    assert_groups("{[i,j,k]: 0<=i,j,k<n}", "a[i] = 1\nb[i,j] = 2\nc[k] = 3", &["j", "k"], &[&["j"], &["k"]]);
    assert_groups("{[i,j,k]: 0<=i,j,k<n}", "b[i,j] = 2\nc[k] = 3", &["j", "k"], &[&["j", "k"]]);
}

#[test]
fn loops_of_reductions_are_fused_if_they_are_inside_of_the_same_loops() {
    let text = "y[i] = sum(j, sum(k, a[i,j,k]))\nz[i] = sum(j, sum(l, a[i,j,l]))";
    assert_groups("{[i,j,k,l]: 0<=i,j,k,l<n}", text, &["k", "l"], &[&["k", "l"]]);
    let text = "y[i] = sum(j, sum(k, a[i,j,k]))\nz[i] = sum(m, sum(l, a[i,m,l]))";
    assert_groups("{[i,j,k,l,m]: 0<=i,j,k,l,m<n}", text, &["k", "l"], &[&["k"], &["l"]]);
}

#[test]
fn three_loops_give_two_groups_when_the_last_needs_all_of_the_first() {
    let text = "a[i] = 1\nb[j] = a[j]\nc[k] = a[n-1-k] + b[k]";
    assert_groups("{[i,j,k]: 0<=i,j,k<n}", text, &["i", "j", "k"], &[&["i", "j"], &["k"]]);
}

#[test]
fn candidates_of_one_parallel_tag_are_one_group() {
    let tagged = tag_inames(&kernel("{[i,j]: 0<=i,j<n}", "a[i] = 1\nb[j] = 2"), &"i:g.0, j:g.0".parse().unwrap()).unwrap();
    assert_eq!(groups(&tagged, &["i", "j"]).unwrap(), [[Name::from("i"), Name::from("j")]]);
}

#[test]
fn groups_have_names_that_are_free() {
    let before = kernel("{[i,j,ifused]: 1<=i,j,ifused<n}", "x[i-1] = i\nx[j] = 2*j\ny[ifused] = 1");
    let found = get_kennedy_unweighted_fusion_candidates(&before, &BTreeSet::from(["i".into(), "j".into()]), "ifused").unwrap();
    assert_eq!(found, BTreeMap::from([("ifused_0".into(), vec!["i".into()]), ("ifused_1".into(), vec!["j".into()])]));
}

#[test]
fn misuse_of_loop_fusion_is_named() {
    let nest = kernel("{[i,j]: 0<=i,j<n}", "a[i,j] = 1");
    assert_eq!(groups(&nest, &["i", "j"]).unwrap_err(), "`i` and `j` are nested around instruction `insn`, so they cannot be fused");
    assert_eq!(groups(&nest, &["k"]).unwrap_err(), "kernel `loopy_kernel` has no iname `k`; available: `i`, `j`");
    let mixed = kernel("{[i,j]: 0<=i,j<n}", "a[i] = sum(j, b[i,j])");
    assert_eq!(
        groups(&mixed, &["i", "j"]).unwrap_err(),
        "`j` is a reduction iname and `i` is a loop; fuse reductions and loops separately"
    );
    let circle = kernel("{[i,j]: 0<=i,j<n}", "a[i] = 1\nb[j] = 1\nc[i] = 1");
    assert_eq!(groups(&circle, &["i", "j"]).unwrap_err(), "the loops `i`, `j` form a dependency cycle, so none of them can come first");
}
