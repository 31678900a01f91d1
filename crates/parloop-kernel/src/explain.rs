//! Compiler messages, with the user's own source lines under them.

use std::collections::HashMap;

use crate::qualifiers::without_heads;

/// Adds the line of `source` to every line of `log` that names one and is not followed by it already.
pub(crate) fn with_source_lines(log: &str, source: &str) -> String {
    let log = &own_places(log, source);
    let lines = numbered(source);
    let mut out = String::with_capacity(log.len() * 2);
    let mut messages = log.lines().peekable();
    while let Some(message) = messages.next() {
        let Some(place) = MessageLocation::find(message, &lines) else {
            out.push_str(message);
            out.push('\n');
            continue;
        };
        let (text, column) = without_heads(lines[&(place.file.to_owned(), place.line)], place.column);
        match (place.column, column) {
            (Some(found), Some(own)) => {
                let (file, line) = (place.file, place.line);
                out.push_str(&message.replacen(&format!("{file}:{line}:{found}"), &format!("{file}:{line}:{own}"), 1));
            }
            _ => out.push_str(message),
        }
        out.push('\n');
        if messages.peek().is_some_and(|next| next.contains(text.trim()) && !text.trim().is_empty()) {
            continue;
        }
        out.push_str(&format!("{:>5} | {text}\n", place.line));
        if let Some(column) = column.filter(|&column| column > 0 && column <= text.len() + 1) {
            out.push_str(&format!("      | {}^\n", " ".repeat(column - 1)));
        }
    }
    out
}

/// NVIDIA's OpenCL compiler counts the lines of the whole text, whatever `#line` says; its places become those of the sources.
fn own_places(log: &str, source: &str) -> String {
    let translate = |line: &str| {
        let rest = line.strip_prefix("<kernel>:")?;
        let (row, rest) = rest.split_once(':')?;
        let (file, number) = crate::edit::place_of(source, row.parse::<usize>().ok()?.checked_sub(1)?);
        (!file.is_empty()).then(|| format!("{file}:{number}:{rest}"))
    };
    log.lines().map(|line| translate(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

/// Every line of a joined source, by file and number.
fn numbered(source: &str) -> HashMap<(String, usize), &str> {
    let mut lines = HashMap::new();
    let (mut file, mut number) = (String::new(), 1);
    for text in source.lines() {
        if let Some((line, name)) = text.strip_prefix("#line ").and_then(|rest| rest.split_once(' '))
            && let Ok(line) = line.parse()
        {
            (file, number) = (name.trim_matches('"').to_owned(), line);
            continue;
        }
        if !file.is_empty() {
            lines.insert((file.clone(), number), text);
        }
        number += 1;
    }
    lines
}

struct MessageLocation<'a> {
    file: &'a str,
    line: usize,
    column: Option<usize>,
}

impl<'a> MessageLocation<'a> {
    /// Reads `file:line:column: …` (C compilers), `file(line): …` (NVRTC) and `error: file:line:column: …` (PoCL).
    fn find(message: &'a str, lines: &HashMap<(String, usize), &str>) -> Option<MessageLocation<'a>> {
        let known = |place: MessageLocation<'a>| lines.contains_key(&(place.file.to_owned(), place.line)).then_some(place);
        if let Some((file, rest)) = message.split_once('(')
            && let Some((line, _)) = rest.split_once("):")
            && let Ok(line) = line.parse()
        {
            return known(MessageLocation { file, line, column: None });
        }
        const SEVERITIES: [&str; 3] = ["error:", "warning:", "note:"];
        if let Some(rest) = SEVERITIES.iter().find_map(|word| message.strip_prefix(word)) {
            // The file's name may have colons; the first place that is in the source is the one.
            let rest = rest.trim_start();
            return rest.match_indices(':').find_map(|(end, _)| {
                let mut parts = rest[end + 1..].splitn(3, ':');
                let (line, column) = (parts.next()?.parse().ok()?, parts.next().and_then(|column| column.parse().ok()));
                known(MessageLocation { file: &rest[..end], line, column })
            });
        }
        let severity = SEVERITIES.iter().filter_map(|word| message.find(word)).min()?;
        let place = message[..severity].trim_end().trim_end_matches(':').trim_end_matches("fatal").trim_end().trim_end_matches(':');
        let mut parts = place.rsplitn(3, ':');
        let (last, middle, first) = (parts.next()?, parts.next()?, parts.next());
        match (first, middle.parse(), last.parse()) {
            (Some(file), Ok(line), Ok(column)) => known(MessageLocation { file, line, column: Some(column) }),
            (_, _, Ok(line)) => known(MessageLocation { file: place.rsplit_once(':')?.0, line, column: None }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SOURCE: &str = "prelude\n#line 1 \"<source>\"\nint a;\nint b = ;\n";

    #[test]
    fn messages_of_c_compilers_get_their_line_and_a_caret() {
        let log = "<source>:2:9: error: expected expression before ';' token\n";
        assert_eq!(with_source_lines(log, SOURCE), format!("{log}    2 | int b = ;\n      |         ^\n"));
    }

    #[test]
    fn columns_are_those_of_the_source_without_what_is_put_in_front_of_functions() {
        let head = crate::qualifiers::head(parloop_device::DeviceKind::Cpu, true);
        let source = format!("#line 1 \"k.c\"\n{head}int f() {{ return y; }} {head}int g() {{ return z; }}\n");
        let column = |name: &str| source.lines().nth(1).unwrap().find(name).unwrap() + 1;
        let log = format!("k.c:1:{}: error: no y\nk.c:1:{}: error: no z\n", column("y;"), column("z;"));
        let line = "    1 | int f() { return y; } int g() { return z; }\n";
        let expected =
            format!("k.c:1:18: error: no y\n{line}      | {}^\nk.c:1:40: error: no z\n{line}      | {}^\n", " ".repeat(17), " ".repeat(39));
        assert_eq!(with_source_lines(&log, &source), expected);
    }

    #[test]
    fn messages_that_begin_with_their_severity_get_their_line() {
        let log = "error: <source>:2:9: expected expression\n";
        assert_eq!(with_source_lines(log, SOURCE), format!("{log}    2 | int b = ;\n      |         ^\n"));
    }

    #[test]
    fn messages_of_nvrtc_get_their_line() {
        let log = "<source>(2): error: expected an expression\n";
        assert_eq!(with_source_lines(log, SOURCE), format!("{log}    2 | int b = ;\n"));
    }

    #[test]
    fn messages_of_pocl_get_their_line_and_a_caret() {
        let log = "error: <source>:2:9: expected expression\nwarning: elsewhere:1:2: x\n";
        let expected = "error: <source>:2:9: expected expression\n    2 | int b = ;\n      |         ^\nwarning: elsewhere:1:2: x\n";
        assert_eq!(with_source_lines(log, SOURCE), expected);
    }

    #[test]
    fn places_counted_over_the_whole_text_become_those_of_the_source() {
        let log = "<kernel>:4:9: error: expected expression\nint b = ;\n";
        assert_eq!(with_source_lines(log, SOURCE), "<source>:2:9: error: expected expression\nint b = ;\n");
    }

    #[test]
    fn lines_that_are_shown_already_are_not_repeated() {
        let log = "<source>:2:9: error: expected expression\n    int b = ;\n";
        assert_eq!(with_source_lines(log, SOURCE), log);
    }

    proptest! {
        #[test]
        fn any_log_is_explained_without_a_panic(log in "(<source>|error:|[:()0-9\n a]){0,30}") {
            prop_assert!(with_source_lines(&log, SOURCE).len() >= log.trim_end().len());
        }
    }
}
