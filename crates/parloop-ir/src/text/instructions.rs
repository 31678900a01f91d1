//! The instructions of a kernel as text, together with the promise for C code among them.

use crate::parse::{ParseError, Parsed, instructions_with};
use crate::syntax::{InstructionKind, LoopKernel, TrustedC};

/// Instructions and substitution rules as text. A promise that was made for C code among them holds for this text alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstructionText {
    text: String,
    c: Option<TrustedC>,
}

impl InstructionText {
    /// Parses text, with a promise if there is C code in it. The space that all lines begin with is dropped.
    ///
    /// # Errors
    /// As [`instructions_with`].
    pub fn parsed(text: &str, c: Option<TrustedC>) -> Result<InstructionText, ParseError> {
        let has_c = instructions_with(text, c)?.drafts.iter().any(|draft| matches!(draft.kind, InstructionKind::C(_)));
        Ok(InstructionText { text: dedent(text), c: c.filter(|_| has_c) })
    }

    pub(super) fn of(kernel: &LoopKernel) -> InstructionText {
        let mut lines: Vec<String> = kernel.substitutions.values().map(ToString::to_string).collect();
        lines.extend(kernel.instructions.iter().map(ToString::to_string));
        InstructionText { text: lines.join("\n"), c: kernel.instructions.iter().find_map(|instruction| instruction.kind.promise()) }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it says.
    ///
    /// # Errors
    /// As [`instructions_with`].
    pub fn parse(&self) -> Result<Parsed, ParseError> {
        instructions_with(&self.text, self.c)
    }
}

/// The text without the space that all its lines begin with, and without empty lines around it.
fn dedent(body: &str) -> String {
    let lines: Vec<&str> = body.split('\n').collect();
    let is_blank = |line: &str| line.trim().is_empty();
    let Some(first) = lines.iter().position(|line| !is_blank(line)) else { return String::new() };
    let last = lines.iter().rposition(|line| !is_blank(line)).unwrap_or(first);
    let lines = &lines[first..=last];
    let indent = |line: &str| line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let common = lines.iter().filter(|line| !is_blank(line)).map(|line| indent(line)).min().unwrap_or(0);
    lines.iter().map(|line| &line[common.min(indent(line))..]).collect::<Vec<_>>().join("\n")
}
