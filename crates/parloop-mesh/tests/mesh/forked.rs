//! Children of a process whose other threads hold locks: they get an error or go on, and never wait. Each test is a process of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use parloop_forking::ends_well_in_a_child;
use parloop_kernel::Context;
use parloop_mesh::{Access, Dat, LoopOptions, ParLoop, Set};

use crate::kernels::kernel_of;

/// Runs one of the ignored tests of this file in a process of its own.
fn in_own_process(test: &str) {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", &format!("forked::{test}"), "--ignored", "--nocapture"]).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{test}: {:?}\n{text}", output.status);
}

fn data() -> (Set, Dat, ParLoop) {
    let cells = Set::new(100, "cells").unwrap();
    let x = Dat::new(&cells.data(1).unwrap(), &[1.0; 100], "x").unwrap();
    let twice = kernel_of("void twice(double *x) { x[0] *= 2; }", "twice").unwrap();
    let twice = ParLoop::new(&twice, &cells, vec![x.arg(Access::Rw, None)], LoopOptions::default()).unwrap();
    (cells, x, twice)
}

/// Forks while another thread has the numbers, to read or to write; says whether `work` went well in the child.
fn while_held(x: &Dat, writes: bool, work: impl FnOnce() -> bool) -> bool {
    let ((held, is_held), (end, ends)) = (channel(), channel::<()>());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let storage = x.storage();
            let _numbers = if writes { storage.host_mut().unwrap() } else { storage.host().unwrap() };
            held.send(()).unwrap();
            let _ = ends.recv();
        });
        is_held.recv().unwrap();
        let well = ends_well_in_a_child(work);
        drop(end);
        well
    })
}

#[test]
#[ignore = "forks"]
fn while_another_thread_reads() {
    let (context, (_, x, twice)) = (Context::open("cpu:1").unwrap(), data());
    twice.run(&context).unwrap();
    let child = || {
        twice.run(&context).unwrap();
        let doubled = x.to_vec::<f64>().unwrap() == [4.0; 100];
        x.write(&[7.0; 100]).unwrap();
        doubled && x.to_vec::<f64>().unwrap() == [7.0; 100]
    };
    assert!(while_held(&x, false, child));
    assert_eq!(x.to_vec::<f64>().unwrap(), [2.0; 100]);
}

#[test]
fn a_child_uses_data_that_another_thread_was_reading() {
    in_own_process("while_another_thread_reads");
}

#[test]
#[ignore = "forks"]
fn while_another_thread_writes() {
    let (context, (_, x, twice)) = (Context::open("cpu:1").unwrap(), data());
    twice.run(&context).unwrap();
    let words =
        "another thread was using this data when this process was forked; create it again in the child, or start processes with spawn";
    let child = || {
        let errors = [x.to_vec::<f64>().map(drop), x.write(&[7.0; 100]), twice.run(&context), x.storage().host().map(drop)];
        errors.into_iter().all(|result| result.unwrap_err().to_string() == words)
    };
    assert!(while_held(&x, true, child));
    assert_eq!(x.to_vec::<f64>().unwrap(), [2.0; 100]);
}

#[test]
fn a_child_is_refused_data_that_another_thread_was_writing() {
    in_own_process("while_another_thread_writes");
}

#[test]
#[ignore = "forks"]
fn while_other_threads_make_kernels_and_loops() {
    let (context, stop) = (Context::open("cpu:1").unwrap(), AtomicBool::new(false));
    let (cells, x, twice) = data();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (context, stop, cells, twice) = (&context, &stop, &cells, &twice);
            scope.spawn(move || {
                let mine = Dat::new(&cells.data(1).unwrap(), &[1.0; 100], "mine").unwrap();
                let source = format!("void add{thread}(double *x) {{ x[0] += {thread}; }}");
                while !stop.load(Ordering::Relaxed) {
                    let add = kernel_of(&source, &format!("add{thread}")).unwrap();
                    let add = ParLoop::new(&add, cells, vec![mine.arg(Access::Rw, None)], LoopOptions::default()).unwrap();
                    add.run(context).unwrap();
                    add.code(context).unwrap();
                    twice.code(context).unwrap();
                }
            });
        }
        let own = Dat::new(&cells.data(1).unwrap(), &[1.0; 100], "own").unwrap();
        let well = (0..60).all(|_| {
            ends_well_in_a_child(|| {
                let three = kernel_of("void three(double *x) { x[0] += 3; }", "three").unwrap();
                let three = ParLoop::new(&three, &cells, vec![own.arg(Access::Rw, None)], LoopOptions::default()).unwrap();
                twice.code(&context).is_ok() && three.run(&context).is_ok() && own.to_vec::<f64>().unwrap() == [4.0; 100]
            })
        });
        stop.store(true, Ordering::Relaxed);
        assert!(well);
    });
    assert_eq!(x.to_vec::<f64>().unwrap(), [1.0; 100]);
}

#[test]
fn children_of_a_parent_that_makes_kernels_and_loops_find_nothing_locked() {
    in_own_process("while_other_threads_make_kernels_and_loops");
}
