//! Compares answers with those of islpy, in one Python process. A missing islpy is a printed skip; in CI it is a failure.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use parloop_isl::{Affine, Constraint, Piecewise, Set};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::sets::{name, set};

const SCRIPT: &str = include_str!("oracle.py");

/// A query for islpy, and our answer.
struct Case {
    question: String,
    ours: Answer,
}

enum Answer {
    Set(Set),
    Text(String),
}

/// An interpreter that has islpy.
fn python() -> Option<PathBuf> {
    let named = env::var_os("PARLOOP_ISLPY_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python"));
    let found = Command::new(&python).args(["-c", "import islpy"]).stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    found.then_some(python)
}

fn ask(python: &Path, cases: &[Case]) -> Vec<String> {
    let mut child = Command::new(python).args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let text: String = cases.iter().map(|case| case.question.clone() + "\n").collect();
    let writer = thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect()
}

/// `{[i]: i is the value}`.
fn as_set(pieces: &Piecewise) -> Set {
    let empty = Set::empty(&[name("n")], &[name("i")]);
    pieces.0.iter().fold(empty, |union, (domain, value)| {
        let is_value = Constraint::zero(Affine::name("i").sub(value).unwrap());
        union.union(&domain.add_dims(&[name("i")]).constrain(&[is_value]).unwrap()).unwrap()
    })
}

fn cases_of(a: &Set, b: &Set) -> Vec<Case> {
    let set = |kind: &str, second: &str, ours: Set| Case { question: format!("{kind}\t{a}\t{second}"), ours: Answer::Set(ours) };
    let truth =
        |kind: &str, second: &str, ours: bool| Case { question: format!("{kind}\t{a}\t{second}"), ours: Answer::Text(ours.to_string()) };
    let text = b.to_string();
    vec![
        set("read", "", a.clone()),
        set("union", &text, a.union(b).unwrap()),
        set("subtract", &text, a.subtract(b).unwrap()),
        set("intersect", &text, a.join(b).unwrap()),
        set("project_out", "1", a.project_out(&[name("j")]).unwrap()),
        set("max", "", as_set(&a.dim_max("i").unwrap())),
        set("min", "", as_set(&a.dim_min("i").unwrap())),
        truth("is_empty", "", a.is_empty().unwrap()),
        truth("is_bounded", "", a.is_bounded().unwrap()),
        truth("is_subset", &text, a.is_subset(b).unwrap()),
        truth("is_equal", &text, a.is_equal(b).unwrap()),
    ]
}

/// Handwritten text, and what we parse.
fn written() -> Vec<Case> {
    let texts = [
        "[n] -> {[i,j]: 0<=i,j<n}",
        "[n,m] -> {[i]: 0 <= i < n and not (i = m or i = 3)}",
        "[n] -> {[i]: exists e: i = 2e and 0 <= e < n}",
        "[n] -> {[i]: exists (e0 = floor((i)/2), e1: 2e0 = i and 3e1 <= n + i and e1 > 4)}",
        "[n] -> {[i]: (i + 3) mod 4 = 1 and i % 3 != 2}",
        "[n] -> {[i]: floord(i, 3) = 1 or ceild(n, 4) = i or [i/5] = 2}",
        "[n,m] -> {[i]: 0 <= i < min(n, m, 7) or i = max(n, 2*m) + 1}",
        "[n] -> {[i]: i < 3 and not i < 1 or i = 7 && n > 2 || i = n}",
        "[n] -> {[i]: 0<=i<5; [i]: 6<=i<n}",
        "[n] -> {[i, j = 2i + n]: i > 0}",
        "[n] -> {[i]: i>=0, i<4}",
        "[n] -> {[i]: 1 - i % 3 = 1 and 3*(i + 1) < 5*n - -2}",
        "[n] -> {[i]: not exists e: i = 2e and i > n}",
        "[n] -> {[i]: floor((i+1)/2 + 1) = n}",
    ];
    texts.iter().map(|text| Case { question: format!("read\t{text}\t"), ours: Answer::Set(Set::parse(text).unwrap()) }).collect()
}

#[test]
fn answers_are_those_of_islpy() {
    let Some(python) = python() else {
        assert!(env::var_os("CI").is_none_or(|ci| ci != "true"), "CI has islpy");
        println!("skipped: no Python with islpy; name one in PARLOOP_ISLPY_PYTHON");
        return;
    };
    let mut runner = TestRunner::deterministic();
    let mut random = || set().new_tree(&mut runner).unwrap().current();
    let mut cases = written();
    for _ in 0..40 {
        cases.extend(cases_of(&random(), &random()));
    }
    let answers = ask(&python, &cases);
    assert_eq!(answers.len(), cases.len());
    for (case, theirs) in cases.iter().zip(answers) {
        match &case.ours {
            Answer::Text(ours) => assert_eq!(*ours, theirs, "{}", case.question),
            Answer::Set(ours) => {
                assert!(ours.is_equal(&Set::parse(&theirs).unwrap()).unwrap(), "{}: {ours} is not {theirs}", case.question)
            }
        }
    }
    println!("{} answers agree with islpy", cases.len());
}
