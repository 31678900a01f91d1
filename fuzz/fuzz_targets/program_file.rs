//! Any bytes are read as a saved program without a panic, with and without the hash that a damaged file lacks:
//! `cargo fuzz run --sanitizer none program_file -- -max_total_time=60`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use parloop_kernel::SavedProgram;

fuzz_target!(|bytes: &[u8]| {
    let _ = SavedProgram::from_bytes(bytes, "fuzzed");
    let _ = SavedProgram::from_bytes(&SavedProgram::seal(bytes), "fuzzed");
});
