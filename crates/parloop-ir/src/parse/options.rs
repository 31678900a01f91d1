//! Options of instructions: `{id=a, dep=b:c*, inames=i:j, if=n > 3}`, and what blocks around them add.

use std::collections::BTreeSet;
use std::ops::Range;

use parloop_isl::Name;

use super::draft::{Draft, Which, Within};
use super::error::{Mistake, ParseError, nearest};
use super::expression::Parser;
use super::lines::{split, trimmed};
use super::query::query_within;
use crate::matching::Glob;
use crate::syntax::{Atomicity, Expr, InstructionKind, MemoryKind, SyncScope};

/// Where options appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionPosition {
    With,
    Assignment,
    Call,
    Barrier,
    Nop,
    C,
}

const NAMES: [&str; 18] = [
    "id",
    "id_prefix",
    "priority",
    "dup",
    "dep",
    "dep_query",
    "nosync",
    "nosync_query",
    "groups",
    "conflicts",
    "inames",
    "if",
    "tags",
    "atomic",
    "mem_kind",
    "reads",
    "writes",
    "bind",
];

/// The options read so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    id: Option<Name>,
    id_prefix: Option<Name>,
    depends_on: Vec<Which>,
    depends_on_is_final: bool,
    nosync: Vec<(Which, SyncScope)>,
    groups: BTreeSet<Name>,
    conflicts: BTreeSet<Name>,
    pub within: Within,
    priority: i32,
    pub predicates: BTreeSet<Expr>,
    tags: BTreeSet<Name>,
    duplicate: Vec<(Name, Option<Name>)>,
    pub atomic: Option<Atomicity>,
    pub memory: Option<MemoryKind>,
    pub reads: BTreeSet<Name>,
    pub writes: Vec<Expr>,
    pub bindings: Vec<(Name, Expr)>,
}

impl Options {
    /// The draft of an instruction with these options.
    pub fn draft(self, span: Range<usize>, kind: InstructionKind) -> Draft {
        Draft {
            span,
            // An explicit id overrides the prefix of an enclosing block.
            id_prefix: if self.id.is_some() { None } else { self.id_prefix },
            id: self.id,
            kind,
            depends_on: self.depends_on,
            depends_on_is_final: self.depends_on_is_final,
            nosync: self.nosync,
            groups: self.groups,
            conflicts: self.conflicts,
            within: self.within,
            priority: self.priority,
            predicates: self.predicates,
            tags: self.tags,
            duplicate: self.duplicate,
        }
    }

    /// Puts the instructions into loops over additional inames.
    pub fn add_loops(&mut self, inames: BTreeSet<Name>) {
        let mut all = match std::mem::take(&mut self.within) {
            Within::Auto => BTreeSet::new(),
            Within::Added(outer) | Within::Final(outer) => outer,
        };
        all.extend(inames);
        self.within = Within::Final(all);
    }

    /// Parses the options in those bytes and adds them to the existing ones: dependencies, `nosync` and conditions are added, others are
    /// replaced.
    pub fn read(&mut self, text: &str, within: Range<usize>, place: OptionPosition) -> Result<(), ParseError> {
        for option in split(text, within.clone(), b',')? {
            if option.is_empty() {
                let nothing = text[within.clone()].trim().is_empty();
                let span = if nothing { within.start - 1..within.end + 1 } else { option.start..option.start + 1 };
                let mistake = Mistake::Expected { expected: "an option".to_owned(), found: "nothing".to_owned() };
                return Err(ParseError::at(text, span, mistake));
            }
            let source = &text[option.clone()];
            let (name, value) = match source.find('=') {
                Some(equals) => (source[..equals].trim_end(), Some(trimmed(text, option.start + equals + 1..option.end))),
                None => (source, None),
            };
            let one = One { text, name, span: option.start..option.start + name.len(), value };
            self.one(&one, place)?;
        }
        Ok(())
    }

    fn one(&mut self, option: &One<'_>, place: OptionPosition) -> Result<(), ParseError> {
        option.check_place(place)?;
        match option.name {
            "id" => self.id = Some(option.single()?),
            "id_prefix" => self.id_prefix = Some(option.single()?),
            "priority" => self.priority = option.number()?,
            "dup" => self.duplicate.extend(option.duplicates()?),
            "dep" => self.add_dependencies(option)?,
            "dep_query" => self.depends_on.push(Which::Query(query_within(option.text, option.value()?)?)),
            "nosync" => {
                for entry in option.entries()? {
                    let (which, scope) = option.scope(entry)?;
                    self.nosync.push((Which::Named(option.glob(which)?), scope));
                }
            }
            "nosync_query" => {
                let (which, scope) = option.scope(option.value()?)?;
                self.nosync.push((Which::Query(query_within(option.text, which)?), scope));
            }
            "groups" => self.groups = option.names()?,
            "conflicts" => self.conflicts = option.names()?,
            "inames" => self.within = option.within(&self.within)?,
            "if" => self.predicates.extend(option.expressions()?),
            "tags" => self.tags = option.names()?,
            "atomic" => self.atomic = Some(option.atomicity()?),
            "mem_kind" => self.memory = Some(option.memory()?),
            "reads" => self.reads = option.names()?,
            "writes" => self.writes = option.expressions()?,
            "bind" => self.bindings = option.bindings()?,
            _ => {
                let mistake = Mistake::Option { name: option.name.to_owned(), nearest: nearest(option.name, NAMES) };
                return Err(option.mistake(option.span.clone(), mistake));
            }
        }
        Ok(())
    }

    /// `dep=a:b*`; with a leading `*`, or `*` alone, the list is final.
    fn add_dependencies(&mut self, option: &One<'_>) -> Result<(), ParseError> {
        for (position, mut entry) in option.entries()?.into_iter().enumerate() {
            let source = &option.text[entry.clone()];
            if (position == 0 && source.starts_with('*')) || source == "*" {
                self.depends_on_is_final = true;
                entry = trimmed(option.text, entry.start + 1..entry.end);
                if entry.is_empty() {
                    continue;
                }
            }
            self.depends_on.push(Which::Named(option.glob(entry)?));
        }
        Ok(())
    }
}

/// One option as written.
struct One<'t> {
    text: &'t str,
    name: &'t str,
    span: Range<usize>,
    value: Option<Range<usize>>,
}

impl One<'_> {
    fn check_place(&self, place: OptionPosition) -> Result<(), ParseError> {
        let only = |fits: bool, why: &'static str| if fits { None } else { Some(why) };
        let wrong = match self.name {
            "id" | "priority" | "dup" | "nosync" | "nosync_query" => {
                only(place != OptionPosition::With, "in a `with` block: it belongs to a single instruction")
            }
            "atomic" => only(place == OptionPosition::Assignment, "here: it applies only to an assignment with one left side"),
            "mem_kind" => only(place == OptionPosition::Barrier, "here: it applies only to barriers"),
            "reads" | "writes" | "bind" => only(place == OptionPosition::C, "here: it applies only to C instructions"),
            _ => None,
        };
        match wrong {
            Some(place) => Err(self.mistake(self.span.clone(), Mistake::OptionPlace { option: self.name.to_owned(), place })),
            None => Ok(()),
        }
    }

    fn mistake(&self, span: Range<usize>, mistake: Mistake) -> ParseError {
        ParseError::at(self.text, span, mistake)
    }

    fn wrong_value(&self, span: Range<usize>, expected: &'static str) -> ParseError {
        let found = self.text[span.clone()].to_owned();
        let shown = if span.is_empty() { self.span.clone() } else { span };
        self.mistake(shown, Mistake::OptionValue { option: self.name.to_owned(), expected, found })
    }

    fn value(&self) -> Result<Range<usize>, ParseError> {
        self.value.clone().ok_or_else(|| self.wrong_value(self.span.end..self.span.end, "a value after `=`"))
    }

    /// The nonempty parts between colons.
    fn entries(&self) -> Result<Vec<Range<usize>>, ParseError> {
        Ok(split(self.text, self.value()?, b':')?.into_iter().filter(|part| !part.is_empty()).collect())
    }

    fn word(&self, span: Range<usize>, extra: &[char]) -> Result<Name, ParseError> {
        let word = &self.text[span.clone()];
        let odd = |c: char| c.is_whitespace() || c.is_control() || ("*?,:=@{}()[]\"'#".contains(c) && !extra.contains(&c));
        if word.is_empty() || word.contains(odd) { Err(self.wrong_value(span, "names")) } else { Ok(word.into()) }
    }

    fn single(&self) -> Result<Name, ParseError> {
        self.word(self.value()?, &[])
    }

    fn glob(&self, span: Range<usize>) -> Result<Glob, ParseError> {
        self.word(span, &['*', '?', '[', ']']).map(Glob::new)
    }

    fn names(&self) -> Result<BTreeSet<Name>, ParseError> {
        self.entries()?.into_iter().map(|entry| self.word(entry, &[])).collect()
    }

    fn number(&self) -> Result<i32, ParseError> {
        let value = self.value()?;
        self.text[value.clone()].parse().map_err(|_| self.wrong_value(value, "a 32-bit integer"))
    }

    fn expressions(&self) -> Result<Vec<Expr>, ParseError> {
        self.entries()?.into_iter().map(|entry| self.expression(entry)).collect()
    }

    fn expression(&self, span: Range<usize>) -> Result<Expr, ParseError> {
        let mut parser = Parser::new(self.text, span)?;
        let node = parser.one()?;
        parser.end()?;
        Ok(node.expr)
    }

    /// `i->j:k`.
    fn duplicates(&self) -> Result<Vec<(Name, Option<Name>)>, ParseError> {
        let mut found = Vec::new();
        for entry in self.entries()? {
            found.push(match self.text[entry.clone()].find("->") {
                Some(arrow) => {
                    let old = trimmed(self.text, entry.start..entry.start + arrow);
                    let copy = trimmed(self.text, entry.start + arrow + 2..entry.end);
                    (self.word(old, &[])?, Some(self.word(copy, &[])?))
                }
                None => (self.word(entry, &[])?, None),
            });
        }
        Ok(found)
    }

    /// `name->expression`.
    fn bindings(&self) -> Result<Vec<(Name, Expr)>, ParseError> {
        let mut found = Vec::new();
        for entry in self.entries()? {
            let arrow = self.text[entry.clone()].find("->").ok_or_else(|| self.wrong_value(entry.clone(), "entries such as `x->a[i]`"))?;
            let name = trimmed(self.text, entry.start..entry.start + arrow);
            found.push((self.word(name, &[])?, self.expression(entry.start + arrow + 2..entry.end)?));
        }
        Ok(found)
    }

    /// `which@scope`, or `which` for any.
    fn scope(&self, span: Range<usize>) -> Result<(Range<usize>, SyncScope), ParseError> {
        let Some(at) = self.text[span.clone()].rfind('@') else {
            return Ok((span, SyncScope::Any));
        };
        let which = trimmed(self.text, span.start..span.start + at);
        let scope = trimmed(self.text, span.start + at + 1..span.end);
        match &self.text[scope.clone()] {
            "local" => Ok((which, SyncScope::Local)),
            "global" => Ok((which, SyncScope::Global)),
            "any" => Ok((which, SyncScope::Any)),
            _ => Err(self.wrong_value(scope, "`local`, `global` or `any` after `@`")),
        }
    }

    fn within(&self, outer: &Within) -> Result<Within, ParseError> {
        let value = self.value()?;
        if !self.text[value.clone()].starts_with('+') {
            return Ok(Within::Final(self.names()?));
        }
        let rest = trimmed(self.text, value.start + 1..value.end);
        let rest = One { text: self.text, name: self.name, span: self.span.clone(), value: Some(rest) };
        let mut inames = rest.names()?;
        if let Within::Added(outer) | Within::Final(outer) = outer {
            inames.extend(outer.iter().cloned());
        }
        Ok(Within::Added(inames))
    }

    fn atomicity(&self) -> Result<Atomicity, ParseError> {
        let Some(value) = self.value.clone() else { return Ok(Atomicity::Update) };
        match &self.text[value.clone()] {
            "init" => Ok(Atomicity::Init),
            _ => Err(self.wrong_value(value, "`init` or no value")),
        }
    }

    fn memory(&self) -> Result<MemoryKind, ParseError> {
        let value = self.value()?;
        match &self.text[value.clone()] {
            "local" => Ok(MemoryKind::Local),
            "global" => Ok(MemoryKind::Global),
            _ => Err(self.wrong_value(value, "`local` or `global`")),
        }
    }
}
