//! Any text is read as a set and as a relation without a panic, and what was read prints as text that is read the same:
//! `cargo fuzz run --sanitizer none domain -- -max_total_time=60`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use parloop_isl::{Relation, Set};

fuzz_target!(|text: &str| {
    if let Ok(set) = Set::parse(text) {
        assert_eq!(Set::parse(&set.to_string()), Ok(set));
    }
    let _ = Relation::parse(text);
});
