//! Any text is read as portable C for every target without a panic:
//! `cargo fuzz run --sanitizer none signatures -- -max_total_time=60`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use parloop_kernel::{DeviceKind, Source, signatures};

fuzz_target!(|text: &str| {
    // A header named in the text must not be read from this machine.
    if !text.contains("include") {
        for target in DeviceKind::ALL {
            let _ = signatures(&[Source::text(text)], target, &[]);
        }
    }
});
