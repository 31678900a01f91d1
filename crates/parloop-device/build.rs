//! Compiles the one file in C: leaving a kernel from a signal handler needs `sigsetjmp`, which Rust cannot call.

fn main() {
    println!("cargo::rerun-if-changed=src/interrupt/leave.c");
    cc::Build::new().file("src/interrupt/leave.c").std("c11").warnings(true).extra_warnings(true).compile("parloop_leave");
}
