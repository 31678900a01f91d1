//! The command `parloop`, as a process.

use std::process::Command;

#[test]
fn variables_of_ours_are_known_and_others_are_a_warning() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parloop"));
    // Tests have variables of their own.
    std::env::vars_os().map(|(name, _)| name).filter(|name| name.to_string_lossy().starts_with("PARLOOP_")).for_each(|name| {
        command.env_remove(name);
    });
    let output =
        command.args(["cache", "path"]).envs([("PARLOOP_LEAKS", "10"), ("PARLOOP_CHECKED", "0"), ("PARLOOP_TYPO", "1")]).output().unwrap();
    let told = "parloop: warning: unknown environment variable PARLOOP_TYPO; it has no effect\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), told);
}
