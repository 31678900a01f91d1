//! Any text is read as a `.loop` file or refused, and what is read is printed so that it reads back:
//! `cargo fuzz run --sanitizer none loop_file -- -max_total_time=60`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use parloop_loop::file::LoopFile;

fuzz_target!(|text: &str| {
    match LoopFile::parse(text) {
        Ok(mut file) => {
            let printed = file.to_string();
            let mut again = LoopFile::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
            // Printing leaves out comments, so steps stand in other lines.
            file.steps.iter_mut().chain(&mut again.steps).for_each(|(line, _)| *line = 0);
            assert_eq!(again, file, "printed as\n{printed}");
        }
        Err(error) => drop(error.to_string()),
    }
});
