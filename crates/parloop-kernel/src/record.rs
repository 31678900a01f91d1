//! Checked mode on OpenCL, whose programs need not have variables: the record of the first failed check is a buffer that a kernel
//! receives behind its own arguments and passes on to every function that may fail. No line moves.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::edit::Edit;
use crate::scan::{Scanned, next_sign};

/// A function that the source defines or declares.
#[derive(Debug)]
pub(crate) struct DeclaredFunction {
    pub(crate) name: String,
    /// Where its name stands.
    pub(crate) at: usize,
    /// Its parameters, with their parentheses.
    pub(crate) list: Range<usize>,
    /// The first of them; `None` when there are none.
    pub(crate) first: Option<Range<usize>>,
    /// Whether the first is `void` and stands for none.
    pub(crate) is_void: bool,
    /// Empty for a prototype.
    pub(crate) body: Range<usize>,
    pub(crate) is_kernel: bool,
}

const CHECK: &str = "PARLOOP_CHECK";
const PARAMETER: &str = "__global long *parloop_record";
const ARGUMENT: &str = "parloop_record";

/// The changes, and the names of the functions (kernels among them) that receive the record: those which check, or use what does.
pub(crate) fn pass_record(text: &str, declared: &[DeclaredFunction]) -> (Vec<Edit>, HashSet<String>) {
    let scanned = Scanned::of(text);
    let receivers = users(text, &scanned, declared, &[CHECK]);
    let places: HashMap<usize, &DeclaredFunction> = declared.iter().map(|function| (function.at, function)).collect();
    let helpers: HashSet<&str> = declared.iter().filter(|function| !function.is_kernel).map(|function| function.name.as_str()).collect();
    let mut edits = Vec::new();
    for word in &scanned.words {
        let name = &text[word.clone()];
        if !receivers.contains(name) {
            continue;
        }
        if let Some(function) = places.get(&word.start) {
            edits.push(function.with_record());
        } else if helpers.contains(name) {
            edits.extend(call_with_record(text, word.end));
        }
    }
    (edits, receivers)
}

impl DeclaredFunction {
    fn with_record(&self) -> Edit {
        match &self.first {
            None => Edit { at: self.list.start + 1, remove: 0, insert: PARAMETER.into() },
            Some(void) if self.is_void => Edit { at: void.start, remove: void.len(), insert: PARAMETER.into() },
            // The host counts the arguments of a kernel, so that there it comes last.
            Some(_) if self.is_kernel => Edit { at: self.list.end - 1, remove: 0, insert: format!(", {PARAMETER}").into() },
            Some(_) => Edit { at: self.list.start + 1, remove: 0, insert: format!("{PARAMETER}, ").into() },
        }
    }
}

/// `None` where the name is not called.
fn call_with_record(text: &str, end: usize) -> Option<Edit> {
    let open = next_sign(text, end).filter(|&at| text.as_bytes()[at] == b'(')?;
    let is_empty = next_sign(text, open + 1).is_some_and(|at| text.as_bytes()[at] == b')');
    let insert = if is_empty { ARGUMENT.into() } else { format!("{ARGUMENT}, ").into() };
    Some(Edit { at: open + 1, remove: 0, insert })
}

/// The functions and macros that use one of some names, themselves or by a function or a macro that does.
pub(crate) fn users(text: &str, scanned: &Scanned, declared: &[DeclaredFunction], used: &[impl AsRef<str>]) -> HashSet<String> {
    let functions = declared.iter().map(|function| (function.name.as_str(), function.body.clone()));
    let macros = scanned.macros.iter().map(|(name, range)| (&text[name.clone()], range.clone()));
    let mut users: HashMap<&str, Vec<&str>> = HashMap::new();
    for (user, range) in functions.chain(macros) {
        for word in scanned.words_in(range) {
            users.entry(&text[word.clone()]).or_default().push(user);
        }
    }
    let (mut found, mut open): (HashSet<&str>, Vec<&str>) = (HashSet::new(), used.iter().map(AsRef::as_ref).collect());
    while let Some(used) = open.pop() {
        for user in users.get(used).into_iter().flatten() {
            if found.insert(*user) {
                open.push(user);
            }
        }
    }
    found.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use parloop_device::{DeviceKind, Language};
    use proptest::prelude::*;

    use crate::parse::{Dialect, Parsed, parse};
    use crate::source::Joined;

    fn parsed(text: &str, checked: bool) -> Parsed {
        parse(
            &Joined::from(text),
            Dialect { target: DeviceKind::OpenCl, language: Language::C, classes: &[], checked, arguments: &[], wanted: &[] },
        )
        .unwrap()
    }

    const RECORD: &str = "__global long *parloop_record";

    #[test]
    fn what_checks_receives_the_record_and_what_does_not_stays_as_it_is() {
        let text = "int get(int i);\n\
                    GPUFUN int get(int i) { return PARLOOP_CHECK(i < 3, 0, i, 3) ? i : 0; }\n\
                    int plain(int i) { return i; } // get(1)\n\
                    int none(void) { return get (plain(\"get(\"[0])); }\n\
                    GPUKERN void k(const int n) { none( /* nothing */ ); plain(n); }\n\
                    GPUKERN void other(const int n) { plain(n); }\n\
                    GPUKERN void empty() { VECTORIZE_OVER(i, get(7)) END_VECTORIZE }\n";
        let expected = format!(
            "GPUFUN int get({RECORD}, int i);\n\
             GPUFUN int get({RECORD}, int i) {{ return PARLOOP_CHECK(i < 3, 0, i, 3) ? i : 0; }}\n\
             int plain(int i) {{ return i; }} // get(1)\n\
             int none({RECORD}) {{ return get (parloop_record, plain(\"get(\"[0])); }}\n\
             GPUKERN void k(const int n, {RECORD}) {{ none(parloop_record /* nothing */ ); plain(n); }}\n\
             GPUKERN void other(const int n) {{ plain(n); }}\n\
             GPUKERN void empty({RECORD}) {{ VECTORIZE_OVER(i, get(parloop_record, 7)) END_VECTORIZE }}\n"
        );
        let checked = parsed(text, true);
        assert_eq!(checked.text, expected);
        let recorded: Vec<&str> = checked.functions.iter().filter(|f| f.is_kernel && f.is_recorded).map(|f| f.name.as_str()).collect();
        assert_eq!(recorded, ["k", "empty"]);
        assert_eq!(parsed(text, false).text, text.replacen("int get", "GPUFUN int get", 1));
    }

    #[test]
    fn macros_that_check_are_followed() {
        let text = "#define AT(i) \\\n    (get(i) + 1)\n#define MORE(i) AT(i)\n#define get_not 1\n\
                    int get(int i) { return PARLOOP_CHECK(i, 0, i, 3); }\n\
                    int use(int i) { return MORE(i); }\nint idle(int i) { return get_not; }\n";
        let expected = format!(
            "#define AT(i) \\\n    (get(parloop_record, i) + 1)\n#define MORE(i) AT(i)\n#define get_not 1\n\
             int get({RECORD}, int i) {{ return PARLOOP_CHECK(i, 0, i, 3); }}\n\
             int use({RECORD}, int i) {{ return MORE(i); }}\nint idle(int i) {{ return get_not; }}\n"
        );
        assert_eq!(parsed(text, true).text, expected);
    }

    proptest! {
        #[test]
        fn any_text_is_rewritten_without_a_panic_and_keeps_its_lines(
            text in "(#define |GPUKERN|void |int |f|g|PARLOOP_CHECK|[(){}*,;\\\\#\n é=/\"']){0,60}"
        ) {
            let dialect = Dialect { target: DeviceKind::OpenCl, language: Language::C, classes: &[], checked: true, arguments: &[], wanted: &[] };
            if let Ok(parsed) = parse(&Joined::from(&*text), dialect) {
                prop_assert_eq!(parsed.text.matches('\n').count(), text.matches('\n').count());
            }
        }
    }
}
