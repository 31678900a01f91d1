//! Generated C in which work-groups, and the items of each, run from the last to the first. Their order must not matter, so the numbers are
//! the same.

/// The text in reverse order; none if it has neither groups nor items.
pub fn reversed(text: &str) -> Option<String> {
    let mut found = false;
    let mut of_items = false;
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let changed = if of_items && !line.trim_start().starts_with('#') { backwards(line) } else { groups(line) };
        of_items = line.contains("ivdep") || (of_items && line.trim_start().starts_with('#'));
        found |= changed.is_some();
        lines.push(changed.unwrap_or_else(|| line.to_owned()));
    }
    // Neighbours are not combined in an order of the compiler's own.
    lines.retain(|line| !line.contains("#pragma GCC ivdep"));
    found.then(|| lines.join("\n") + "\n")
}

/// `VECTORIZE_OVER(group, COUNT)`, the groups counted from the last.
fn groups(line: &str) -> Option<String> {
    let count = line.trim().strip_prefix("VECTORIZE_OVER(group, ")?.strip_suffix(')')?;
    Some(format!("VECTORIZE_OVER(group_before, {count})\n    int64_t const group = (int64_t)({count}) - 1 - group_before;"))
}

/// `for (int32_t l = 0; l < 16; ++l)`, from the last to the first.
fn backwards(line: &str) -> Option<String> {
    let inner = line.trim().strip_prefix("for (")?.strip_suffix(')')?;
    let [start, end, step] = inner.split("; ").collect::<Vec<_>>()[..] else { return None };
    if !step.starts_with("++") {
        return None;
    }
    let (declared, first) = start.split_once(" = ")?;
    let name = declared.split(' ').next_back()?;
    let last = match (end.strip_prefix(&format!("{name} < ")), end.strip_prefix(&format!("{name} <= "))) {
        (Some(end), _) => format!("({end}) - 1"),
        (_, Some(last)) => last.to_owned(),
        _ => return None,
    };
    Some(format!("for ({declared} = {last}; {name} >= {first}; --{name})"))
}

#[test]
fn groups_and_items_are_counted_down() {
    let text = "VECTORIZE_OVER(group, (int64_t)n)\n#pragma GCC ivdep\n#pragma GCC unroll 1\n  for (int32_t l = 0; l < 4; ++l)\n    a;\n";
    let expected = "VECTORIZE_OVER(group_before, (int64_t)n)\n    int64_t const group = (int64_t)((int64_t)n) - 1 - group_before;\n\
                    #pragma GCC unroll 1\nfor (int32_t l = (4) - 1; l >= 0; --l)\n    a;\n";
    assert_eq!(reversed(text).unwrap(), expected);
    assert_eq!(reversed("for (int32_t i = 0; i < n; ++i)\n"), None);
}
