//! Reading files: sections by their first word, indented blocks, transformations, and expected text.

use std::ops::Range;

use parloop_device::DType;
use parloop_ir::parse::{Mistake, ParseError, data_line, is_name, quoted_text, scalar_name, step_within, trimmed};
use parloop_ir::step::{StepValue, TransformStep};
use parloop_ir::syntax::{Iname, KernelOptions, Phase, Preamble, Target, TrustedC};
use parloop_ir::text::{InstructionText, KernelText, read_option, read_trusted_option};
use parloop_isl::Name;

use super::{Expected, LoopFile};

/// Which indented lines may come.
enum Block {
    None,
    Data,
    Instructions { start: usize, body: String },
}

struct Reader<'t> {
    text: &'t str,
    file: LoopFile,
    block: Block,
    trusted: Option<Trusted>,
}

pub(super) fn file(text: &str) -> Result<LoopFile, ParseError> {
    read(text, None)
}

/// # Safety
/// As [`LoopFile::parse_trusted`].
pub(super) unsafe fn trusted_file(text: &str) -> Result<LoopFile, ParseError> {
    let trusted = Trusted {
        // SAFETY: the caller guarantees the preambles of this text.
        preamble: |key, text| unsafe { Preamble::new(key, text) },
        // SAFETY: the caller guarantees the options of this text.
        option: |options, words| unsafe { read_trusted_option(options, words) },
        // SAFETY: the caller guarantees the instructions of this text.
        c: unsafe { TrustedC::promise() },
    };
    read(text, Some(trusted))
}

/// Parsers for trusted text.
struct Trusted {
    /// Creates a preamble from its key and text.
    preamble: fn(String, String) -> Preamble,
    /// Reads the words of an option.
    option: fn(&mut KernelOptions, &[String]) -> Result<(), &'static str>,
    /// Allows C code among instructions.
    c: TrustedC,
}

fn read(text: &str, trusted: Option<Trusted>) -> Result<LoopFile, ParseError> {
    let (head, expected) = split(text);
    let mut reader = Reader { text, file: LoopFile { expected, ..LoopFile::default() }, block: Block::None, trusted };
    let mut at = 0;
    for (index, line) in head.split_inclusive('\n').enumerate() {
        reader.line(index + 1, at, line)?;
        at += line.len();
    }
    reader.close_block()?;
    Ok(reader.file)
}

/// The text before the first line `---- what`, and the parts after each.
pub(super) fn split(text: &str) -> (&str, Vec<Expected>) {
    let head = if text.starts_with("----") { 0 } else { text.find("\n----").map_or(text.len(), |newline| newline + 1) };
    let mut parts: Vec<Expected> = Vec::new();
    for line in text[head..].split_inclusive('\n') {
        match (line.strip_prefix("----"), parts.last_mut()) {
            (None, Some(part)) => part.text.push_str(line),
            (what, _) => parts.push(Expected { what: what.unwrap_or_default().trim().to_owned(), text: String::new() }),
        }
    }
    (&text[..head], parts)
}

impl Reader<'_> {
    fn mistake(&self, span: Range<usize>, mistake: Mistake) -> ParseError {
        ParseError::at(self.text, span, mistake)
    }

    fn expected(&self, span: Range<usize>, expected: &str) -> ParseError {
        let found = &self.text[span.clone()];
        let found = if found.is_empty() { "nothing".to_owned() } else { format!("`{found}`") };
        self.mistake(span, Mistake::Expected { expected: expected.to_owned(), found })
    }

    fn kernel(&mut self, span: &Range<usize>) -> Result<&mut KernelText, ParseError> {
        match self.file.kernels.last_mut() {
            Some(kernel) => Ok(kernel),
            None => Err(ParseError::at(
                self.text,
                span.clone(),
                Mistake::Expected { expected: "`kernel NAME` first".to_owned(), found: format!("`{}`", &self.text[span.clone()]) },
            )),
        }
    }

    fn line(&mut self, number: usize, at: usize, line: &str) -> Result<(), ParseError> {
        let span = trimmed(self.text, at..at + line.len());
        let is_comment = line.starts_with(';');
        let is_indented = line.starts_with([' ', '\t']) || span.is_empty();
        if let Block::Instructions { body, .. } = &mut self.block
            && (is_comment || is_indented)
        {
            // Comments become spaces, so that places in the body are places in the file.
            if is_comment {
                body.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            } else {
                body.push_str(line);
            }
            return Ok(());
        }
        if is_comment || span.is_empty() || (is_indented && self.text[span.clone()].starts_with(';')) {
            return Ok(());
        }
        if is_indented {
            return match self.block {
                Block::Data => self.data(span),
                _ => Err(self.expected(span, "a line that is not indented: only `data` and `instructions` have indented lines")),
            };
        }
        self.close_block()?;
        self.section(number, span)
    }

    fn data(&mut self, span: Range<usize>) -> Result<(), ParseError> {
        if &self.text[span.clone()] == "..." {
            self.kernel(&span)?.rest = true;
            return Ok(());
        }
        let data = data_line(self.text, span.clone())?;
        self.kernel(&span)?.data.extend(data);
        Ok(())
    }

    fn close_block(&mut self) -> Result<(), ParseError> {
        if let Block::Instructions { start, body } = std::mem::replace(&mut self.block, Block::None) {
            let c = self.trusted.as_ref().map(|trusted| trusted.c);
            let parsed = InstructionText::parsed(&body, c).map_err(|error| error.within(self.text, start))?;
            self.kernel(&(start..start))?.instructions = parsed;
        }
        Ok(())
    }

    /// A line that is not indented.
    fn section(&mut self, number: usize, span: Range<usize>) -> Result<(), ParseError> {
        let line = &self.text[span.clone()];
        let length = line.find(char::is_whitespace).unwrap_or(line.len());
        let word = span.start..span.start + length;
        let rest = trimmed(self.text, word.end..span.end);
        let in_header = self.file.steps.is_empty();
        match &line[..length] {
            "kernel" | "function" => {
                if !in_header {
                    return Err(self.mistake(span, Mistake::Other("kernels come before transformations".to_owned())));
                }
                let name = self.name(rest)?;
                self.file.kernels.push(KernelText { is_function: line.starts_with('f'), ..KernelText::named(name) });
                Ok(())
            }
            keyword if in_header && SECTIONS.contains(&keyword) => {
                self.kernel(&word)?;
                self.header(keyword, word, rest)
            }
            "data" | "instructions" => {
                Err(self.mistake(word, Mistake::Other("data and instructions come before transformations".to_owned())))
            }
            _ => {
                self.kernel(&word)?;
                // A condition needs no quotes: it is all of the line.
                let is_condition = &line[..length] == "assume" && !rest.is_empty() && !self.text[rest.clone()].starts_with(['"', '\'']);
                let step = if is_condition {
                    let condition = StepValue::Text(self.text[rest].to_owned());
                    TransformStep { name: "assume".into(), args: vec![condition], keywords: Vec::new() }
                } else {
                    step_within(self.text, span)?
                };
                self.file.steps.push((number, step));
                Ok(())
            }
        }
    }

    fn header(&mut self, keyword: &str, word: Range<usize>, rest: Range<usize>) -> Result<(), ParseError> {
        let source = self.text[rest.clone()].to_owned();
        let takes_nothing = matches!(keyword, "data" | "instructions" | "sequential");
        if takes_nothing != rest.is_empty() {
            let expected = if takes_nothing { "the end of the line" } else { "a value" };
            return Err(self.expected(if rest.is_empty() { word } else { rest }, expected));
        }
        match keyword {
            "domain" => self.kernel(&word)?.domains.push(source),
            "assume" => {
                // The quotes of the transformation of that name are accepted too.
                let condition = if source.starts_with(['"', '\'']) {
                    let [text] = <[String; 1]>::try_from(self.words(rest.clone())?).map_err(|_| self.expected(rest, "one condition"))?;
                    text
                } else {
                    source
                };
                self.kernel(&word)?.assumptions.push(condition);
            }
            "data" => self.block = Block::Data,
            "instructions" => {
                if !self.kernel(&word)?.instructions.text().is_empty() {
                    return Err(self.mistake(word, Mistake::Twice { what: "block", name: "instructions".to_owned() }));
                }
                let start = self.text[word.end..].find('\n').map_or(self.text.len(), |newline| word.end + newline + 1);
                self.block = Block::Instructions { start, body: String::new() };
            }
            "sequential" => self.kernel(&word)?.sequential = true,
            "iname" => {
                let iname = self.iname(rest)?;
                self.kernel(&word)?.inames.push(iname);
            }
            "priority" => {
                let names = self.names(rest)?;
                self.kernel(&word)?.priorities.push(names);
            }
            "index_type" => self.kernel(&word)?.index_type = Some(self.dtype(rest)?),
            "default_type" => self.kernel(&word)?.default_type = Some(self.dtype(rest)?),
            "phase" => self.kernel(&word)?.phase = Some(self.phase(rest)?),
            "target" => self.kernel(&word)?.target = Some(self.target(rest)?),
            "option" => {
                let words = self.words(rest.clone())?;
                let read = self.trusted.as_ref().map_or(read_option as fn(&mut _, &[_]) -> _, |trusted| trusted.option);
                let read = read(&mut self.kernel(&word)?.options, &words);
                read.map_err(|expected| self.expected(rest, expected))?;
            }
            _ => {
                let [key, text] =
                    <[String; 2]>::try_from(self.words(rest.clone())?).map_err(|_| self.expected(rest, "`\"KEY\" \"TEXT\"`"))?;
                let make = self.trusted.as_ref().map(|trusted| trusted.preamble).ok_or_else(|| {
                    self.expected(word.clone(), "no C code, which only trusted files may have (see `LoopFile::parse_trusted`)")
                })?;
                self.kernel(&word)?.preambles.push(make(key, text));
            }
        }
        Ok(())
    }

    fn name(&self, span: Range<usize>) -> Result<Name, ParseError> {
        let name = &self.text[span.clone()];
        if is_name(name) { Ok(name.into()) } else { Err(self.expected(span, "a name")) }
    }

    fn names(&self, span: Range<usize>) -> Result<Vec<Name>, ParseError> {
        let mut at = span.start;
        let mut names = Vec::new();
        for part in self.text[span].split(',') {
            names.push(self.name(trimmed(self.text, at..at + part.len()))?);
            at += part.len() + 1;
        }
        Ok(names)
    }

    /// `i: g.0, @name {slabs=1:0}`.
    fn iname(&self, span: Range<usize>) -> Result<(Name, Iname), ParseError> {
        let source = &self.text[span.clone()];
        let open = source.find('{').map_or(span.end, |at| span.start + at);
        let colon = self.text[span.start..open].find(':').map_or(open, |at| span.start + at);
        let name = self.name(trimmed(self.text, span.start..colon))?;
        let mut iname = Iname::default();
        let mut at = (colon + 1).min(open);
        for part in self.text[at..open].split(',') {
            let tag = trimmed(self.text, at..at + part.len());
            at += part.len() + 1;
            if !tag.is_empty() {
                let parsed = self.text[tag.clone()].parse().map_err(|error| self.mistake(tag, Mistake::Other(format!("{error}"))))?;
                iname.tags.insert(parsed);
            }
        }
        if open < span.end {
            let slabs = self.text[open..span.end]
                .strip_prefix("{slabs=")
                .and_then(|rest| rest.strip_suffix('}'))
                .and_then(|rest| rest.split_once(':'));
            let slabs = slabs.and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
            iname.slabs = slabs.ok_or_else(|| self.expected(open..span.end, "`{slabs=FIRST:LAST}`"))?;
        }
        Ok((name, iname))
    }

    fn dtype(&self, span: Range<usize>) -> Result<DType, ParseError> {
        scalar_name(&self.text[span.clone()]).ok_or_else(|| self.expected(span, "a type such as `int32`"))
    }

    fn phase(&self, span: Range<usize>) -> Result<Phase, ParseError> {
        let phases = [Phase::Parsed, Phase::Resolved, Phase::Typed, Phase::Described, Phase::Realised];
        let word = &self.text[span.clone()];
        let found = phases.into_iter().find(|phase| phase.to_string() == word);
        found.ok_or_else(|| self.expected(span, "`parsed`, `resolved`, `typed`, `described` or `realised`"))
    }

    fn target(&self, span: Range<usize>) -> Result<Target, ParseError> {
        let targets = [Target::C, Target::OpenCl, Target::Cuda, Target::Hip, Target::Ispc];
        let word = &self.text[span.clone()];
        let found = targets.into_iter().find(|target| target.to_string() == word);
        found.ok_or_else(|| self.expected(span, "`c`, `opencl`, `cuda`, `hip` or `ispc`"))
    }

    /// Words and quoted texts.
    fn words(&self, span: Range<usize>) -> Result<Vec<String>, ParseError> {
        let mut words = Vec::new();
        let mut at = span.start;
        while at < span.end {
            let rest = &self.text[at..span.end];
            if rest.starts_with(char::is_whitespace) {
                at += rest.len() - rest.trim_start().len();
            } else if rest.starts_with(['"', '\'']) {
                let (content, end) = quoted_text(self.text, at..span.end)?;
                words.push(content);
                at = end;
            } else {
                let length = rest.find(|c: char| c.is_whitespace() || c == '"' || c == '\'').unwrap_or(rest.len());
                words.push(rest[..length].to_owned());
                at += length;
            }
        }
        Ok(words)
    }
}

const SECTIONS: [&str; 13] = [
    "domain",
    "assume",
    "data",
    "instructions",
    "sequential",
    "iname",
    "priority",
    "index_type",
    "default_type",
    "phase",
    "target",
    "option",
    "preamble",
];
