//! One statement: an assignment, a call, a substitution rule, a barrier, a no-op, or C code.

use std::ops::Range;

use parloop_isl::Name;

use super::error::{Mistake, ParseError, nearest};
use super::expression::{Level, Parser};
use super::lex::{Kind, quoted};
use super::lines::{Line, trimmed};
use super::options::{OptionPosition, Options};
use crate::syntax::{
    Assignment, CCode, CInstruction, CallInstruction, Expr, InstructionKind, MemoryKind, SubstitutionRule, SyncScope, TemporaryType,
    TrustedC,
};

use super::draft::Draft;

/// The kind of a statement.
pub(super) enum Statement {
    Instruction(Box<Draft>),
    Substitution(SubstitutionRule, Range<usize>),
}

/// Parses a statement with those enclosing options. C code needs the promise that it is right.
pub(super) fn statement(text: &str, line: &Line, options: &Options, c: Option<TrustedC>) -> Result<Statement, ParseError> {
    if text[line.head.clone()].starts_with("...") {
        return special(text, line, options, c).map(|draft| Statement::Instruction(Box::new(draft)));
    }
    no_tail(text, line)?;
    let mut parser = Parser::new(text, line.head.clone())?;
    match top_level_sign(&parser) {
        Some(":=") => {
            if let Some(given) = &line.options {
                let mistake = Mistake::Other("a substitution rule takes no options".to_owned());
                return Err(ParseError::at(text, given.start - 1..given.end + 1, mistake));
            }
            let (rule, span) = substitution(&mut parser)?;
            Ok(Statement::Substitution(rule, span))
        }
        sign => {
            let (kind, place) = assignment(&mut parser, sign.is_some())?;
            Ok(Statement::Instruction(Box::new(finish(text, line, options, kind, place)?)))
        }
    }
}

fn finish(text: &str, line: &Line, options: &Options, kind: InstructionKind, place: OptionPosition) -> Result<Draft, ParseError> {
    let mut options = options.clone();
    if let Some(given) = &line.options {
        options.read(text, given.clone(), place)?;
    }
    let kind = match kind {
        InstructionKind::Assign(assignment) => InstructionKind::Assign(Assignment { atomic: options.atomic, ..assignment }),
        InstructionKind::Barrier { scope, memory } => InstructionKind::Barrier { scope, memory: options.memory.unwrap_or(memory) },
        InstructionKind::C(code) => InstructionKind::C(CInstruction {
            reads: std::mem::take(&mut options.reads),
            writes: std::mem::take(&mut options.writes),
            bindings: std::mem::take(&mut options.bindings),
            ..code
        }),
        other => other,
    };
    Ok(options.draft(line.span.clone(), kind))
}

/// Nothing may follow the options.
pub(super) fn no_tail(text: &str, line: &Line) -> Result<(), ParseError> {
    if line.tail.is_empty() {
        return Ok(());
    }
    let found = format!("`{}`", &text[line.tail.clone()]);
    Err(ParseError::at(text, line.tail.clone(), Mistake::Expected { expected: "the end of the line after the options".to_owned(), found }))
}

/// The first `=` or `:=` outside brackets.
fn top_level_sign(parser: &Parser<'_>) -> Option<&'static str> {
    let mut depth = 0usize;
    for token in &parser.tokens {
        match token.kind {
            Kind::Symbol("(" | "[") => depth += 1,
            Kind::Symbol(")" | "]") => depth = depth.saturating_sub(1),
            Kind::Symbol(sign @ ("=" | ":=")) if depth == 0 => return Some(sign),
            _ => {}
        }
    }
    None
}

/// `f(x) := e`, `f := e`.
fn substitution(parser: &mut Parser<'_>) -> Result<(SubstitutionRule, Range<usize>), ParseError> {
    let first = parser.at;
    let name = parser.expect_name("the name of a substitution rule")?;
    let parameters: Vec<Name> = if parser.accept("(") { parser.names_until(")", "the name of a parameter")? } else { Vec::new() };
    let span = parser.span_from(first);
    if let Some(twice) = parameters.iter().enumerate().find(|(at, name)| parameters[..*at].contains(name)) {
        return Err(parser.mistake(span, Mistake::Twice { what: "parameter", name: twice.1.to_string() }));
    }
    parser.expect(":=")?;
    let body = parser.one()?.expr;
    parser.end()?;
    Ok((SubstitutionRule { name, parameters, body }, span))
}

/// `lhs, lhs = rhs`, or just a call.
fn assignment(parser: &mut Parser<'_>, has_left: bool) -> Result<(InstructionKind, OptionPosition), ParseError> {
    let mut lhs = Vec::new();
    let mut declares = Vec::new();
    while has_left && !parser.accept("=") {
        let (left, declared) = left_side(parser)?;
        lhs.push(left);
        declares.push(declared);
        if !parser.accept(",") && !parser.is("=") {
            return Err(wrong_sign(parser));
        }
    }
    let first = parser.at;
    let rhs = parser.one()?.expr;
    if parser.token().kind != Kind::End && lhs.is_empty() {
        return Err(wrong_sign(parser));
    }
    parser.end()?;
    let single = lhs.len() == 1 && !takes_or_gives_arrays(&lhs[0], &rhs);
    if single && let (Some(lhs), Some(declares)) = (lhs.pop(), declares.pop()) {
        return Ok((InstructionKind::Assign(Assignment { lhs, rhs, atomic: None, declares }), OptionPosition::Assignment));
    }
    if !matches!(rhs, Expr::Call(_) | Expr::Reduction(_)) {
        let count = match lhs.len() {
            0 => return Err(parser.mistake(parser.span_from(first), missing_left(&rhs))),
            1 => "parts of an array",
            _ => "several left sides",
        };
        let found = parser.text[parser.span_from(first)].to_owned();
        return Err(parser.mistake(parser.span_from(first), Mistake::NotACall { count, found }));
    }
    if lhs.is_empty() && matches!(rhs, Expr::Reduction(_)) {
        return Err(parser.mistake(parser.span_from(first), missing_left(&rhs)));
    }
    Ok((InstructionKind::Call(CallInstruction { lhs, rhs, declares }), OptionPosition::Call))
}

fn missing_left(rhs: &Expr) -> Mistake {
    Mistake::Other(format!("`{rhs}` is not an instruction: expected `variable = expression`, or a call"))
}

/// The error for a missing `=`, with a hint for operators of other languages.
fn wrong_sign(parser: &Parser<'_>) -> ParseError {
    if let Kind::Symbol(sign @ ("+" | "-" | "*" | "/" | "//" | "%" | "**" | "&" | "|" | "^")) = parser.token().kind
        && parser.is_ahead(1, "=")
    {
        let span = parser.token().span.start..parser.ahead(1).span.end;
        return parser.mistake(span, Mistake::Other(format!("`{sign}=` is not supported: write `a = a {sign} b`")));
    }
    parser.expected("`=`, `,` or the end")
}

/// `a[i]`, `<>a`, `<float32> a`.
fn left_side(parser: &mut Parser<'_>) -> Result<(Expr, Option<TemporaryType>), ParseError> {
    let declared = if parser.accept("<") {
        let ty = if parser.is(">") {
            TemporaryType::Inferred
        } else if matches!(parser.name_ahead(0), Some("auto" | "to_be_inferred")) {
            parser.advance();
            TemporaryType::Inferred
        } else {
            TemporaryType::Given(parser.type_argument()?)
        };
        parser.expect(">")?;
        Some(ty)
    } else {
        None
    };
    let first = parser.at;
    let left = parser.operation(Level::Postfix)?.expr;
    if !is_place(&left) {
        let span = parser.span_from(first);
        let found = parser.text[span.clone()].to_owned();
        return Err(parser.mistake(span, Mistake::LeftSide { found }));
    }
    Ok((left, declared))
}

fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Variable(_) | Expr::SubArray(_) => true,
        Expr::Subscript(aggregate, _) | Expr::LinearSubscript(aggregate, _) | Expr::Lookup(aggregate, _) => {
            !matches!(**aggregate, Expr::SubArray(_)) && is_place(aggregate)
        }
        _ => false,
    }
}

/// Whether a call reads or writes parts of arrays as a whole.
fn takes_or_gives_arrays(lhs: &Expr, rhs: &Expr) -> bool {
    let is_part = |expr: &Expr| match expr {
        Expr::SubArray(_) => true,
        Expr::Subscript(_, indices) => indices.iter().any(|index| matches!(index, Expr::Slice(_))),
        _ => false,
    };
    match rhs {
        Expr::Call(call) => is_part(lhs) || call.args.iter().chain(call.keywords.iter().map(|(_, value)| value)).any(is_part),
        _ => matches!(lhs, Expr::SubArray(_)),
    }
}

/// `... gbarrier {options}` and similar statements.
fn special(text: &str, line: &Line, options: &Options, c: Option<TrustedC>) -> Result<Draft, ParseError> {
    let word = trimmed(text, line.head.start + 3..line.head.end);
    let barrier = |scope, memory| InstructionKind::Barrier { scope, memory };
    let (kind, place) = match &text[word.clone()] {
        "gbarrier" => (barrier(SyncScope::Global, MemoryKind::Global), OptionPosition::Barrier),
        "lbarrier" | "barrier" => (barrier(SyncScope::Local, MemoryKind::Local), OptionPosition::Barrier),
        "nop" => (InstructionKind::Nop, OptionPosition::Nop),
        source if first_word(source) == "c" => {
            let code = c_text(text, line, word.start)?;
            let Some(promise) = c else {
                let mistake = Mistake::Expected { expected: NO_C.to_owned(), found: "`... c`".to_owned() };
                return Err(ParseError::at(text, line.head.clone(), mistake));
            };
            let code =
                CInstruction { code: CCode::new(code, promise), bindings: Vec::new(), reads: Default::default(), writes: Vec::new() };
            return finish(text, line, options, InstructionKind::C(code), OptionPosition::C);
        }
        other => {
            let hint =
                nearest(other, ["gbarrier", "lbarrier", "nop", "c"]).map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
            let expected = format!("`gbarrier`, `lbarrier`, `nop` or `c` after `...`{hint}");
            let found = if other.is_empty() { "nothing".to_owned() } else { format!("`{other}`") };
            let span = if word.is_empty() { line.head.clone() } else { word };
            return Err(ParseError::at(text, span, Mistake::Expected { expected, found }));
        }
    };
    no_tail(text, line)?;
    finish(text, line, options, kind, place)
}

const NO_C: &str = "no C code, which only trusted text may have (see `LoopFile::parse_trusted` and `KernelBuilder::trusted_c`)";

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The quoted text after `... c {options}`.
fn c_text(text: &str, line: &Line, word: usize) -> Result<String, ParseError> {
    // Without options the text is part of the head.
    let place = if line.options.is_some() { line.tail.clone() } else { trimmed(text, word + 1..line.head.end) };
    let stray = line.options.is_some() && !trimmed(text, word + 1..line.head.end).is_empty();
    if stray || !text[place.clone()].starts_with(['"', '\'']) {
        let mistake = Mistake::Expected {
            expected: "`... c {options} \"\"\"text\"\"\"`".to_owned(),
            found: format!("`{}`", &text[line.span.clone()]),
        };
        return Err(ParseError::at(text, line.span.clone(), mistake));
    }
    let (code, end) = quoted(text, place.clone())?;
    if end != place.end {
        let found = format!("`{}`", &text[end..place.end]);
        return Err(ParseError::at(text, end..place.end, Mistake::Expected { expected: "the end of the line".to_owned(), found }));
    }
    Ok(code)
}
