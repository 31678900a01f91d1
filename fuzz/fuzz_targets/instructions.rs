//! Any text is read as instructions or refused, and each instruction is printed so that it reads back:
//! `cargo fuzz run --sanitizer none instructions -- -max_total_time=60`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use parloop_loop::parse::{Draft, Which, Within, instructions, query};
use parloop_loop::syntax::Instruction;

fuzz_target!(|text: &str| {
    let parsed = match instructions(text) {
        Ok(parsed) => parsed,
        Err(error) => return drop(error.to_string()),
    };
    for rule in &parsed.substitutions {
        let printed = rule.to_string();
        let again = instructions(&printed).unwrap_or_else(|error| panic!("{error}")).substitutions;
        assert_eq!(again.as_slice(), std::slice::from_ref(rule), "printed as {printed}");
    }
    parsed.drafts.iter().for_each(check);
});

/// What a draft says, but for what is to be looked up, as an instruction.
fn check(draft: &Draft) {
    for which in draft.depends_on.iter().chain(draft.nosync.iter().map(|(which, _)| which)) {
        if let Which::Query(wanted) = which {
            assert_eq!(query(&wanted.to_string()).as_ref(), Ok(wanted));
        }
    }
    let mut instruction = Instruction::bare("x", draft.kind.clone());
    instruction.predicates = draft.predicates.clone();
    instruction.tags = draft.tags.clone();
    instruction.groups = draft.groups.clone();
    instruction.conflicts = draft.conflicts.clone();
    instruction.priority = draft.priority;
    instruction.depends_on_is_final = draft.depends_on_is_final;
    match &draft.within {
        Within::Auto => {}
        Within::Added(inames) => instruction.within_inames = inames.clone(),
        Within::Final(inames) => {
            instruction.within_inames = inames.clone();
            instruction.within_inames_is_final = true;
        }
    }
    let printed = instruction.to_string();
    let again = instructions(&printed).unwrap_or_else(|error| panic!("{error}")).drafts;
    assert_eq!(again.iter().map(Draft::exact).collect::<Vec<_>>(), [Some(instruction)], "printed as {printed}");
}
