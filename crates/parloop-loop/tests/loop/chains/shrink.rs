//! Minimises a failing case while it still fails in the same way.

use super::case::Case;
use super::verify::Outcome;
use super::worker::Worker;

/// A smaller case that fails as the given one does, and how. When the chain is as short as it can be, `is_known` is asked whether there
/// are enough like it.
pub fn shrink(worker: &mut Worker, case: &Case, outcome: &Outcome, is_known: &dyn Fn(&Case, &Outcome) -> bool) -> (Case, Outcome) {
    let only = outcome.device().filter(|_| !is_crash(outcome)).map(str::to_owned);
    let (mut best, mut how) = (case.clone(), outcome.clone());
    let mut left = 400;
    loop {
        let before = best.clone();
        for candidates in [fewer_steps, plainer_steps, fewer_sizes, fewer_lines, plainer_lines] {
            let mut at = 0;
            while let Some(candidate) = candidates(&best).get(at).cloned() {
                left -= 1;
                let found = if candidate == best { Outcome::Same } else { worker.case(&candidate, only.as_deref()) };
                match is_alike(&found, &how) {
                    // The next candidate has moved to this place.
                    true => (best, how) = (candidate, found),
                    false => at += 1,
                }
                if left == 0 {
                    return (best, how);
                }
            }
            if before == *case && is_known(&best, &how) {
                return (best, how);
            }
        }
        if best == before {
            return (best, how);
        }
    }
}

fn is_crash(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed { what, .. } if what == "crash")
}

fn is_alike(one: &Outcome, other: &Outcome) -> bool {
    match (one, other) {
        (Outcome::Wrong { .. }, Outcome::Wrong { .. }) => true,
        (Outcome::Failed { what: one, message: first, .. }, Outcome::Failed { what: other, message: second, .. }) => {
            one == other && (one != "panic" || first.rsplit(" at ").next() == second.rsplit(" at ").next())
        }
        _ => false,
    }
}

fn fewer_steps(case: &Case) -> Vec<Case> {
    (0..case.steps.len())
        .map(|at| {
            let mut fewer = case.clone();
            fewer.steps.remove(at);
            fewer
        })
        .collect()
}

/// Without one of the arguments by name.
fn plainer_steps(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    for (at, step) in case.steps.iter().enumerate() {
        let Ok(read) = parloop_loop::parse::step(step) else { continue };
        for keyword in 0..read.keywords.len() {
            let mut plainer = read.clone();
            plainer.keywords.remove(keyword);
            let mut next = case.clone();
            next.steps[at] = plainer.to_string();
            all.push(next);
        }
    }
    all
}

fn fewer_sizes(case: &Case) -> Vec<Case> {
    let mut all: Vec<Case> = Vec::new();
    if case.sizes.len() > 1 {
        all.extend(case.sizes.iter().map(|size| Case { sizes: vec![*size], ..case.clone() }));
    } else if case.steps.iter().all(|step| !step.starts_with("fix_parameters") && !step.starts_with("assume")) {
        all.extend((1..case.sizes[0]).map(|size| Case { sizes: vec![size], ..case.clone() }));
    }
    all
}

fn of_units(case: &Case, units: Vec<String>) -> Case {
    Case { kernel: units.into_iter().filter(|unit| !unit.is_empty()).map(|unit| unit + "\n").collect::<String>() + "\n", ..case.clone() }
}

/// Without one line; no other depends on it then.
fn fewer_lines(case: &Case) -> Vec<Case> {
    let units = case.units();
    // What a function does is said in two places, so that it goes as a whole or not at all.
    let functions = units.iter().position(|unit| unit.starts_with("function")).unwrap_or(units.len());
    let removable =
        |unit: &String| unit.starts_with("domain") || unit.starts_with("  ") || unit.starts_with(';') || unit.starts_with("function");
    let mut all = Vec::new();
    for at in (0..units.len()).rev().filter(|&at| removable(&units[at]) && (at < functions || units[at].starts_with("function"))) {
        let mut fewer = units.clone();
        let end = if units[at].starts_with("function") {
            (at + 1..units.len()).find(|&end| units[end].starts_with("function")).unwrap_or(units.len())
        } else {
            at + 1
        };
        let removed: Vec<String> = fewer.drain(at..end).collect();
        if let Some(id) = removed[0].split("id=").nth(1).and_then(|rest| rest.split([',', '}']).next()) {
            fewer = fewer.into_iter().map(|unit| without_dependency(&unit, id)).collect();
        }
        all.push(of_units(case, fewer));
    }
    all
}

fn without_dependency(unit: &str, id: &str) -> String {
    let change = |line: &str| {
        let Some((before, rest)) = line.split_once("dep=*") else { return line.to_owned() };
        let end = rest.find([',', '}']).unwrap_or(rest.len());
        let kept: Vec<&str> = rest[..end].split(':').filter(|known| *known != id).collect();
        format!("{before}dep=*{}{}", kept.join(":"), &rest[end..])
    };
    unit.split('\n').map(change).collect::<Vec<_>>().join("\n")
}

/// With less in one line: a condition, a term, a part of a domain.
fn plainer_lines(case: &Case) -> Vec<Case> {
    let units = case.units();
    let mut all = Vec::new();
    for (at, unit) in units.iter().enumerate().take_while(|(_, unit)| !unit.starts_with("function")) {
        for plainer in plainer(unit) {
            let mut next = units.clone();
            next[at] = plainer;
            all.push(of_units(case, next));
        }
    }
    all
}

fn plainer(line: &str) -> Vec<String> {
    if line.contains('\n') || line.starts_with("function") || line.starts_with("index_type") {
        return Vec::new();
    }
    let mut all = Vec::new();
    if let Some((head, inner)) = line.split_once(": ").filter(|_| line.starts_with("domain")) {
        let parts: Vec<&str> = inner.trim_end_matches('}').split(" and ").collect();
        for at in 0..parts.len() {
            let fewer: Vec<&str> = parts.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, part)| *part).collect();
            all.push(format!("{head}: {}}}", fewer.join(" and ")));
        }
        return all;
    }
    let Some((lhs, rest)) = line.split_once(" = ") else {
        let float = |line: &str| line.replace("int64", "int32").replace("float64", "int32");
        return if float(line) == line { Vec::new() } else { vec![float(line)] };
    };
    let Some((rhs, options)) = rest.rsplit_once(" {") else { return all };
    if let Some((before, _)) = options.split_once(", if=") {
        all.push(format!("{lhs} = {rhs} {{{before}}}"));
    }
    // Values between brackets that belong together, or terms of a sum.
    for part in ["1", "2"].iter().map(|text| text.to_string()).chain(operands(rhs)) {
        if part.len() < rhs.len() {
            all.push(format!("{lhs} = {part} {{{options}"));
        }
    }
    all
}

/// The parts of an expression: what stands between brackets, and sides of the outermost operators.
fn operands(expr: &str) -> Vec<String> {
    let mut depth = 0;
    let mut found = Vec::new();
    for (at, c) in expr.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '+' | '-' | '%' if depth == 0 && at > 0 => {
                found.push(expr[..at].trim().to_owned());
                found.push(expr[at + 1..].trim().to_owned());
            }
            _ => {}
        }
    }
    if let Some(open) = expr.find('(') {
        let mut depth = 0;
        for (at, c) in expr[open..].char_indices() {
            depth += i32::from(c == '(') - i32::from(c == ')');
            if depth == 0 {
                let inner = &expr[open + 1..open + at];
                found.push(inner.to_owned());
                let bare = inner.split(" if ").next().unwrap_or(inner);
                found.push(bare.to_owned());
                found.extend(inner.split_once(", ").map(|(_, value)| value.to_owned()));
                break;
            }
        }
    }
    found.retain(|part| !part.is_empty());
    found.sort_by_key(String::len);
    found.dedup();
    found
}
