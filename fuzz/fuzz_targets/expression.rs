//! Any text is read as an expression or refused, and what is read is printed so that it reads back:
//! `cargo fuzz run --sanitizer none expression -- -max_total_time=60`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use parloop_loop::parse::expression;

fuzz_target!(|text: &str| {
    match expression(text) {
        Ok(expr) => {
            let printed = expr.to_string();
            assert_eq!(expression(&printed).as_ref(), Ok(&expr), "printed as {printed}");
        }
        Err(error) => drop(error.to_string()),
    }
});
