//! Checked mode: the program overrides the environment.

use parloop_kernel::Context;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::prelude::*;
use parloop_loop::run::with_checks;
use parloop_loop::syntax::{KernelOptions, Program};

fn copy(checked: Option<bool>) -> Program {
    KernelBuilder::new()
        .domain("{[i]: 0<=i<n}")
        .instructions("out[i] = a[i]")
        .data(Data::global("a").dtype("float64").shape("n"))
        .data(Data::global("out").dtype("float64").shape("n"))
        .options(KernelOptions { checked, ..KernelOptions::default() })
        .rest()
        .build()
        .unwrap()
}

#[test]
#[ignore = "tells what its environment says"]
fn what_is_checked_here() {
    let context = Context::open("cpu:1").unwrap();
    let has_checks = |program: &Program| {
        let generated = program.generate_for(program.only_entry().unwrap(), &context).unwrap();
        generated.code.text.contains("PARLOOP_CHECK")
    };
    let own = [None, Some(true), Some(false)].map(|checked| has_checks(&copy(checked)));
    let call = [true, false].map(|checked| has_checks(&with_checks(&copy(Some(!checked)), checked)));
    println!("CHECKED {own:?} {call:?}");
}

#[test]
fn the_environment_decides_where_the_program_does_not() {
    for (value, unsaid) in [(None, false), (Some("0"), false), (Some("1"), true)] {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "environment::what_is_checked_here", "--ignored", "--nocapture"]).env_remove("PARLOOP_CHECKED");
        command.envs(value.map(|value| ("PARLOOP_CHECKED", value)));
        let output = command.output().unwrap();
        let told = format!("CHECKED [{unsaid}, true, false] [true, false]");
        assert!(String::from_utf8_lossy(&output.stdout).contains(&told), "{value:?}: {output:?}");
    }
}
