//! Checked mode on a CPU decides data-dependent cases: accesses that race, or whose order a transformation changed.

use parloop_kernel::{Context, KernelError};
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::error::LoopError;
use parloop_loop::prelude::*;
use parloop_loop::run::LoopArg;
use parloop_loop::syntax::{ArgumentKind, KernelOptions, Program, Target};
use parloop_loop::transform::{apply, merge};
use parloop_loop::{fold, loop_args, parse};

const N: usize = 64;

/// A kernel named `k` over arrays of int64, and steps by name.
fn transformed(domain: &str, text: &str, data: &str, steps: &[&str], checked: bool) -> Program {
    let mut builder = domain.split(';').fold(KernelBuilder::new().name("k"), KernelBuilder::domain).instructions(text);
    for each in data.split(';') {
        let (names, shape) = each.split_once(':').unwrap();
        builder = builder.data(Data::global(names.trim()).dtype("int64").shape(shape.trim()));
    }
    let options = KernelOptions { checked: Some(checked), ..KernelOptions::default() };
    let mut program = builder.rest().options(options).build().unwrap();
    for step in steps {
        program = apply(&program, &parse::step(step).unwrap()).unwrap();
    }
    program
}

/// What a program leaves in `x`, or what its checks say, on a CPU with that many threads.
fn ran(program: &Program, threads: &str, x: &[i64], p: &[i64], q: &[i64]) -> Result<Vec<i64>, String> {
    let context = Context::open(threads).unwrap();
    let executable = program.compile(&context).unwrap();
    let mut x = context.array(x).unwrap();
    let (p, q) = (context.array(p).unwrap(), context.array(q).unwrap());
    let kernel = program.kernel("k").unwrap();
    let mut args = vec![("x", LoopArg::from(&mut x)), ("p", LoopArg::from(&p)), ("q", LoopArg::from(&q))];
    args.retain_mut(|(name, arg)| {
        let Some(argument) = kernel.arguments.iter().find(|argument| argument.name == *name) else { return false };
        if let (LoopArg::Array { shape, .. }, ArgumentKind::Array { layout, .. }) = (arg, &argument.kind) {
            *shape = layout.lengths().unwrap().iter().map(|length| fold::as_int(length).unwrap()).collect();
        }
        true
    });
    let called = executable.call(&mut args);
    drop(args);
    match called {
        Ok(()) => Ok(x.to_vec().unwrap()),
        Err(LoopError::Kernel(KernelError::Conflict { kernel, what })) => {
            assert!(kernel.starts_with('k'), "{kernel}");
            Err(what)
        }
        Err(other) => panic!("{other}"),
    }
}

const CPUS: [&str; 2] = ["cpu:1", "cpu:2"];

/// `i * 7 mod 64`, which has each value once.
fn permutation() -> Vec<i64> {
    (0..N as i64).map(|i| i * 7 % N as i64).collect()
}

const SCATTER: &str = "x[p[i]] = 2*x[p[i]] + i {id=scatter}";

const PARALLEL: [&[&str]; 4] = [
    &["tag_inames i=g.0"],
    &["tag_inames i=l.0"],
    &["split_iname i 8 outer_tag=g.0 inner_tag=l.0"],
    &["split_iname i 8 outer_tag=l.0 inner_tag=g.0"],
];

#[test]
fn a_scatter_through_a_permutation_is_fine() {
    let p = permutation();
    let mut expected = vec![1i64; N];
    for (i, &at) in p.iter().enumerate() {
        expected[at as usize] = 2 + i as i64;
    }
    for steps in PARALLEL {
        for checked in [false, true] {
            let program = transformed("{[i]: 0<=i<64}", SCATTER, "x, p: 64", steps, checked);
            assert_eq!(program.generate(Target::C).unwrap().doubts.len(), 1, "{steps:?}");
            for cpu in CPUS {
                assert_eq!(ran(&program, cpu, &[1; N], &p, &p), Ok(expected.clone()), "{steps:?} on {cpu}");
            }
        }
    }
}

#[test]
fn a_scatter_through_a_repeated_entry_is_found_every_time() {
    for (first, second) in [(0, 63), (2, 7), (30, 31)] {
        let mut p = permutation();
        p[second] = p[first];
        for steps in PARALLEL {
            let program = transformed("{[i]: 0<=i<64}", SCATTER, "x, p: 64", steps, true);
            for cpu in CPUS {
                for _ in 0..5 {
                    let what = ran(&program, cpu, &[1; N], &p, &p).unwrap_err();
                    assert!(what.starts_with("instruction `scatter`: `i"), "{what}");
                    assert!(what.contains(&format!(" `x[{}]`, which `i", p[first])), "{what}");
                    assert!(what.contains(&format!(" = {first}` ")) && what.contains(&format!(" = {second}` ")), "{what}");
                }
            }
        }
        // In any other mode it is a doubt and no error.
        let unchecked = transformed("{[i]: 0<=i<64}", SCATTER, "x, p: 64", PARALLEL[0], false);
        assert!(CPUS.iter().all(|cpu| ran(&unchecked, cpu, &[1; N], &p, &p).is_ok()));
    }
}

#[test]
fn messages_name_both_instances_the_element_and_the_cause() {
    let mut p = permutation();
    p[7] = p[2];
    let found = |steps: &[&str]| {
        let program = transformed("{[i]: 0<=i<64}", "x[p[i]] = i {id=scatter}", "x, p: 64", steps, true);
        ran(&program, "cpu:1", &[1; N], &p, &p).unwrap_err()
    };
    assert_eq!(found(PARALLEL[0]), "instruction `scatter`: `i = 2` writes `x[14]`, which `i = 7` overwrites; work-groups run in any order");
    assert_eq!(
        found(PARALLEL[1]),
        "instruction `scatter`: `i = 2` writes `x[14]`, which `i = 7` overwrites; work items run in any order between barriers"
    );
    assert_eq!(
        found(&["map_domain \"{[i] -> [r]: r = 63 - i}\""]),
        "instruction `scatter`: `-r + 63 = 2` writes `x[14]`, which `-r + 63 = 7` overwrites; the second one runs first"
    );
}

#[test]
fn a_reversed_recurrence_is_found_if_the_data_makes_it_one() {
    let text = "x[p[i]] = x[q[i]] + 1 {id=chain}";
    let reverse: &[&str] = &["map_domain \"{[i] -> [r]: r = 31 - i}\""];
    let program = transformed("{[i]: 0<=i<32}", text, "x, p, q: 64", reverse, true);
    let forward = transformed("{[i]: 0<=i<32}", text, "x, p, q: 64", &[], true);
    let p: Vec<i64> = (0..N as i64).map(|i| (i + 1) % 64).collect();
    let q: Vec<i64> = (0..N as i64).collect();
    let apart: Vec<i64> = (0..N as i64).map(|i| 63 - i % 31).collect();
    let start: Vec<i64> = (0..N as i64).map(|i| i * i).collect();
    for cpu in CPUS {
        let what = ran(&program, cpu, &start, &p, &q).unwrap_err();
        assert!(what.contains("writes `x[") && what.contains(" reads; the second one runs first") || what.contains("overwrites"), "{what}");
        let mut expected = start.clone();
        (0..32).for_each(|i| expected[p[i] as usize] = expected[apart[i] as usize] + 1);
        assert_eq!(ran(&program, cpu, &start, &p, &apart), Ok(expected));
        // As created, every order is right.
        assert!(ran(&forward, cpu, &start, &p, &q).is_ok());
    }
}

#[test]
fn interchanged_loops_are_found_if_the_data_needs_their_order() {
    let text = "x[p[i, j]] = x[q[i, j]] + 1 {id=step}";
    let program = transformed("{[i, j]: 0<=i,j<8}", text, "x: 64; p, q: 8, 8", &["prioritize_loops [j, i]"], true);
    assert_eq!(program.generate(Target::C).unwrap().doubts.len(), 1);
    let p: Vec<i64> = (0..N as i64).collect();
    // Each reads what the row before wrote one to the right, or nothing that another one writes.
    let diagonal: Vec<i64> = (0..N as i64).map(|at| if at >= 8 { (at - 7).min(63) } else { at }).collect();
    let own = p.clone();
    let above: Vec<i64> = (0..N as i64).map(|at| if at >= 8 { at - 8 } else { at }).collect();
    let what = ran(&program, "cpu:1", &[1; N], &p, &diagonal).unwrap_err();
    assert!(what.starts_with("instruction `step`: `i = ") && what.ends_with("; the second one runs first"), "{what}");
    for (q, expected) in [(own, vec![2; N]), (above, (0..N as i64).map(|at| 2 + at / 8).collect())] {
        assert_eq!(ran(&program, "cpu:2", &[1; N], &p, &q), Ok(expected));
    }
}

#[test]
fn a_read_that_runs_at_once_with_a_write_is_found_in_either_order() {
    let text = "x[p[i]] = x[q[i]] + 1 {id=move}";
    let p: Vec<i64> = (0..N as i64).map(|i| i % 32).collect();
    for steps in [&["tag_inames i=g.0"], &["tag_inames i=l.0"]] {
        let program = transformed("{[i]: 0<=i<32}", text, "x, p, q: 64", steps, true);
        for cpu in CPUS {
            for (reader, writer) in [(3, 20), (20, 3), (0, 31), (31, 0)] {
                let mut q: Vec<i64> = (0..N as i64).map(|i| 32 + i % 32).collect();
                assert!(ran(&program, cpu, &[1; N], &p, &q).is_ok());
                q[reader] = writer as i64;
                let what = ran(&program, cpu, &[1; N], &p, &q).unwrap_err();
                let (first, second, does, then) =
                    if reader < writer { (reader, writer, "reads", "overwrites") } else { (writer, reader, "writes", "reads") };
                let expected = format!("instruction `move`: `i = {first}` {does} `x[{writer}]`, which `i = {second}` {then}; work");
                assert!(what.starts_with(&expected), "{what} is not {expected}");
            }
        }
    }
}

#[test]
fn readers_in_several_groups_are_all_remembered() {
    let program = transformed("{[i]: 0<=i<32}", "x[p[i]] = x[q[i]] {id=move}", "x, p, q: 64", &["tag_inames i=g.0"], true);
    let p: Vec<i64> = (0..N as i64).map(|i| if i == 17 { 0 } else { i + 1 }).collect();
    for cpu in CPUS {
        let what = ran(&program, cpu, &[1; N], &p, &[0; N]).unwrap_err();
        assert!(what.contains(" `x[0]`, which `i = ") && what.contains("i = 17` "), "{what}");
        let mut q = vec![50; N];
        q[17] = 0;
        assert!(ran(&program, cpu, &[1; N], &p, &q).is_ok());
    }
}

#[test]
fn barriers_order_work_items() {
    let text = "x[p[t, l]] = 2*x[p[t, l]] + l {id=scatter}";
    let program = transformed("{[t, l]: 0<=t<4 and 0<=l<16}", text, "x: 64; p: 4, 16", &["tag_inames l=l.0"], true);
    // The same elements in each turn, each once, or one of them twice in the last.
    let mut p: Vec<i64> = (0..N as i64).map(|at| at * 3 % 16).collect();
    for cpu in CPUS {
        ran(&program, cpu, &[1; N], &p, &p).unwrap();
    }
    p[60] = p[50];
    for cpu in CPUS {
        let what = ran(&program, cpu, &[1; N], &p, &p).unwrap_err();
        assert!(what.starts_with("instruction `scatter`: `t = 3, l = 2` "), "{what}");
        assert!(what.contains("which `t = 3, l = 12` ") && what.ends_with("; work items run in any order between barriers"), "{what}");
    }
}

#[test]
fn launches_order_work_groups() {
    let text = "x[p[t, i]] = 2*x[p[t, i]] + i {id=scatter}";
    let program = transformed("{[t, i]: 0<=t<4 and 0<=i<16}", text, "x: 64; p: 4, 16", &["tag_inames i=g.0"], true);
    let mut p: Vec<i64> = (0..N as i64).map(|at| at * 3 % 16).collect();
    for cpu in CPUS {
        ran(&program, cpu, &[1; N], &p, &p).unwrap();
    }
    p[60] = p[50];
    for cpu in CPUS {
        let what = ran(&program, cpu, &[1; N], &p, &p).unwrap_err();
        assert!(what.contains(" `t = 3, i = 2` ") && what.ends_with("; work-groups run in any order"), "{what}");
    }
}

#[test]
fn atomic_updates_do_not_conflict_with_each_other() {
    let repeated = vec![5; N];
    let mut apart = vec![5; N];
    apart[9] = 6;
    let update = transformed("{[i]: 0<=i<64}", "x[p[i]] = x[p[i]] + 1 {id=count, atomic}", "x, p: 64", PARALLEL[2], true);
    let mut expected = vec![1; N];
    expected[5] = 65;
    for cpu in CPUS {
        assert_eq!(ran(&update, cpu, &[1; N], &repeated, &repeated), Ok(expected.clone()));
    }
    let text = "x[p[i]] = x[p[i]] + 1 {id=count, atomic}\nx[32 + j] = x[q[j]] {id=get, dep=count}";
    let read = transformed("{[i]: 0<=i<16}; {[j]: 0<=j<16}", text, "x, p, q: 64", &["tag_inames i=l.0 j=l.0"], true);
    for cpu in CPUS {
        // There is a barrier between the two.
        ran(&read, cpu, &[1; N], &repeated, &apart).unwrap();
    }
    let text = "x[p[i]] = x[p[i]] + x[q[i]] {id=count, atomic}";
    let both = transformed("{[i]: 0<=i<16}", text, "x, p, q: 64", &["tag_inames i=g.0"], true);
    for cpu in CPUS {
        assert!(ran(&both, cpu, &[1; N], &repeated, &[7; N]).is_ok());
        let mut one = vec![7; N];
        one[9] = 5;
        let what = ran(&both, cpu, &[1; N], &repeated, &one).unwrap_err();
        assert!(what.starts_with("instruction `count`: ") && what.contains(" `x[5]`, which "), "{what}");
    }
}

#[test]
fn local_memory_is_watched_in_each_group() {
    let text = "<>s[c] = 0 {id=clear, inames=g:c}\ns[p[g, l]] = l + 1 {id=put, dep=clear}\nx[g, m] = s[m] {id=get, dep=put}";
    let steps = ["set_temporary_address_space s local", "tag_inames g=g.0 c=l.0 l=l.0 m=l.0"];
    let domains = "{[g]: 0<=g<4}; {[l]: 0<=l<16}; {[m]: 0<=m<16}; {[c]: 0<=c<16}";
    let program = transformed(domains, text, "x, p: 4, 16", &steps, true);
    let doubts = program.generate(Target::C).unwrap().doubts;
    assert!(doubts.iter().all(|doubt| doubt.variable == "s") && !doubts.is_empty(), "{doubts:?}");
    let mut p: Vec<i64> = (0..N as i64).map(|at| at * 3 % 16).collect();
    for cpu in CPUS {
        ran(&program, cpu, &[1; N], &p, &p).unwrap();
    }
    p[20] = p[30];
    for cpu in CPUS {
        let what = ran(&program, cpu, &[1; N], &p, &p).unwrap_err();
        assert!(what.starts_with("instruction `put`: `g = 1, l = 4` writes `s["), "{what}");
    }
}

#[test]
fn races_on_purpose_are_left_alone() {
    let mut program = transformed("{[i]: 0<=i<64}", "x[p[i]] = 5 {id=mark}", "x, p: 64", PARALLEL[0], true);
    let mut kernel = program.kernel("k").unwrap().clone();
    kernel.options.silenced.insert("write_race(mark)".into());
    program = program.with_kernel(kernel);
    assert!(!program.generate(Target::C).unwrap().code.text.contains("PARLOOP_TOUCH"));
    assert!(ran(&program, "cpu:2", &[1; N], &[3; N], &[]).is_ok());
}

#[test]
fn nothing_is_left_of_one_call_in_the_next() {
    let program = transformed("{[i]: 0<=i<64}", SCATTER, "x, p: 64", PARALLEL[2], true);
    for cpu in CPUS {
        let context = Context::open(cpu).unwrap();
        let executable = program.compile(&context).unwrap();
        let mut x = context.array(&[1i64; N]).unwrap();
        let p = context.array(&permutation()).unwrap();
        let reversed = context.array(&permutation().into_iter().rev().collect::<Vec<_>>()).unwrap();
        let repeated = context.array(&[3i64; N]).unwrap();
        for _ in 0..3 {
            executable.call(loop_args! { x: &mut x, p: &p }).unwrap();
            executable.call(loop_args! { x: &mut x, p: &reversed }).unwrap();
            let error = executable.call(loop_args! { x: &mut x, p: &repeated }).unwrap_err();
            assert!(matches!(error, LoopError::Kernel(KernelError::Conflict { .. })), "{error}");
        }
    }
}

#[test]
fn kernels_without_doubts_have_no_shadow() {
    let kernels = [
        transformed("{[i]: 0<=i<64}", "x[i] = 2*p[i]", "x, p: 64", PARALLEL[2], true),
        transformed("{[i]: 0<=i<64}", SCATTER, "x, p: 64", &[], true),
        transformed("{[i]: 0<=i<64}", SCATTER, "x, p: 64", PARALLEL[2], false),
    ];
    for program in kernels {
        let generated = program.generate(Target::C).unwrap();
        assert!(generated.code.shadow.is_none());
        assert!(!generated.code.text.contains("SHADOW") && !generated.code.text.contains("TOUCH"), "{}", generated.code.text);
    }
    let watched = transformed("{[i]: 0<=i<64}", SCATTER, "x, p: 64", PARALLEL[2], true);
    assert!(watched.generate(Target::C).unwrap().code.text.contains("PARLOOP_TOUCH(1, &x["));
    assert!(!watched.generate(Target::OpenCl).unwrap().code.text.contains("TOUCH"));
}

#[test]
fn what_a_called_kernel_is_passed_counts_as_touched() {
    let callee = KernelBuilder::new()
        .name("g")
        .domain("{[l]: 0<=l<2}")
        .instructions("to[l] = from[l] + 1")
        .data(Data::global("from, to").dtype("int64").shape("2"))
        .build_function()
        .unwrap();
    let caller = KernelBuilder::new()
        .name("k")
        .domain("{[i,j,m]: 0<=i<4 and 0<=j,m<2}")
        .instructions("x[i] = q[i] {id=own, inames=i, if=p[i] > 0}\n[j]: x[i + 2 + j] = g([m]: q[m]) {id=call, dep=own, inames=i}")
        .data(Data::global("x, p, q").dtype("int64").shape("64"))
        .options(KernelOptions { checked: Some(true), ..KernelOptions::default() })
        .build()
        .unwrap();
    let program = merge([&caller, &callee]).unwrap();
    let program = apply(&program, &parse::step("duplicate_inames [i] within=id:own").unwrap()).unwrap();
    let (x, q) = (vec![0i64; N], (0..N as i64).collect::<Vec<_>>());
    let mut p = vec![0i64; N];
    assert!(ran(&program, "cpu:1", &x, &p, &q).is_ok());
    // As created, turn 2 overwrites `x[2]`, which the call of turn 0 has written.
    p[2] = 1;
    let what = ran(&program, "cpu:1", &x, &p, &q).unwrap_err();
    assert!(what.contains("x[2]"), "{what}");
}
