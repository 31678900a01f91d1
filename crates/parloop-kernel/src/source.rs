//! Sources: text or files, joined to one text in portable C for one target. Comment marks become macros, the user's own headers are
//! put in place, and every line keeps its file and number.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use parloop_device::DeviceKind;

use crate::directive::{CommentMark, Directive};
use crate::error::{KernelError, Result};
use crate::files::Files;
use crate::scan::{Piece, PieceKind, Pieces, without_comments};

/// One piece of a program's source.
///
/// ```
/// use parloop_kernel::Source;
/// let source = Source::text("GPUKERN void f(void) {}");
/// assert_eq!(source.name(), "<source>");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    name: String,
    text: String,
    folder: Option<PathBuf>,
    is_api: bool,
}

impl Source {
    /// Source given as text.
    pub fn text(text: impl Into<String>) -> Source {
        Source::named("<source>", text)
    }

    /// Source given as text, with the name that compiler messages show.
    pub fn named(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into(), folder: None, is_api: false }
    }

    /// Source read from a file; `#include "…"` looks in its folder first.
    ///
    /// # Errors
    /// [`KernelError::SourceFile`].
    pub fn file(path: impl AsRef<Path>) -> Result<Source> {
        let path = path.as_ref();
        let text = read_text(path, &Files::default())?;
        Ok(Source { name: path.display().to_string(), text, folder: path.parent().map(Path::to_owned), is_api: false })
    }

    /// The same source as the API of classes: of its many functions only those that are described can be called from outside.
    ///
    /// ```
    /// use parloop_kernel::{CompileOptions, Context, KernelDescription, Scalar, Source, args};
    /// let api = Source::named("api.h", "GPUFUN double twice(double x) { return 2 * x; }\ndouble thrice(double x) { return 3 * x; }").api();
    /// let kernels = vec![KernelDescription { name: "twice".into(), ..Default::default() }];
    /// let options = CompileOptions { kernels, ..Default::default() };
    /// // SAFETY: the functions use no memory.
    /// let prog = unsafe { Context::open("cpu:1")?.compile_with(&[api], &options)? };
    /// assert_eq!(prog.kernel("twice")?.call(args![4.0])?, Some(Scalar::Float(8.0)));
    /// assert!(prog.kernel("thrice").is_err());
    /// # Ok::<(), parloop_kernel::KernelError>(())
    /// ```
    pub fn api(self) -> Source {
        Source { is_api: true, ..self }
    }

    /// Whether it is the [`api`](Self::api) of classes.
    pub fn is_api(&self) -> bool {
        self.is_api
    }

    /// The folder of the file it was read from.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The name that compiler messages show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its text.
    pub(crate) fn content(&self) -> &str {
        &self.text
    }

    /// The same source with its text changed.
    pub fn map_text(self, change: impl FnOnce(&str) -> String) -> Source {
        Source { text: change(&self.text), ..self }
    }
}

/// Headers nested deeper than this include each other in a circle.
const DEEPEST_INCLUDE: usize = 64;

fn read_text(path: &Path, files: &Files) -> Result<String> {
    files.text(path).map_err(|e| KernelError::SourceFile { path: path.display().to_string(), reason: e.to_string() })
}

/// All sources as one text.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    pub(crate) text: String,
    /// The parts of it that come from the API of classes.
    pub(crate) api: Vec<Range<usize>>,
}

/// All sources as one text for `target`. `folders` are searched for the user's headers, which are read through `files`.
pub(crate) fn join(sources: &[Source], target: DeviceKind, folders: &[PathBuf], files: &Files) -> Result<Joined> {
    let mut joiner = Joiner {
        target,
        folders,
        files,
        places: HashMap::new(),
        headers: HashMap::new(),
        seen: HashMap::new(),
        open: Vec::new(),
        conditions: 0,
        defined: HashSet::new(),
        undefined: HashSet::new(),
        out: String::new(),
    };
    let mut api = Vec::new();
    // Unnamed sources of each of the two kinds are counted.
    let mut unnamed = [0, 0];
    for source in sources {
        let name = if source.name == "<source>" {
            let count = &mut unnamed[usize::from(source.is_api)];
            *count += 1;
            let kind = if source.is_api { "api" } else { "source" };
            if *count == 1 { format!("<{kind}>") } else { format!("<{kind} {count}>") }
        } else {
            source.name.clone()
        };
        let start = joiner.out.len();
        joiner.add(&name, &source.text, source.folder.as_deref(), 0)?;
        if source.is_api {
            api.push(start..joiner.out.len());
        }
    }
    Ok(Joined { text: joiner.out, api })
}

struct Joiner<'a> {
    target: DeviceKind,
    folders: &'a [PathBuf],
    files: &'a Files,
    /// Where files were found that are included from a folder, or from anywhere.
    places: HashMap<(Option<PathBuf>, String), Option<PathBuf>>,
    /// What was read, by its path.
    headers: HashMap<PathBuf, Rc<Header>>,
    /// Headers that are to be read once.
    seen: HashMap<PathBuf, IncludedOnce>,
    /// Headers in which the place at hand is.
    open: Vec<PathBuf>,
    /// How many conditions of the preprocessor are around the place at hand, guards of headers aside.
    conditions: isize,
    /// Names that the text so far defines as macros, and those that it takes back, on some condition at least.
    defined: HashSet<String>,
    undefined: HashSet<String>,
    out: String,
}

/// A file that is included.
struct Header {
    /// Its path without links.
    name: PathBuf,
    text: String,
    guard: Option<String>,
    has_once: bool,
}

impl Header {
    fn read(path: &Path, files: &Files) -> Result<Header> {
        let text = read_text(path, files)?;
        Ok(Header { name: files.real(path), guard: guard(&text), has_once: has_once(&text), text })
    }
}

/// A header that is to be read once.
struct IncludedOnce {
    /// The name that is defined where it was read.
    guard: String,
    /// Whether it was read under no condition.
    is_in_place: bool,
}

impl Joiner<'_> {
    fn add(&mut self, name: &str, text: &str, folder: Option<&Path>, depth: usize) -> Result<()> {
        self.mark_line(1, name);
        let lines = Lines::of(text);
        let mut start = 0;
        // Where a directive ends of which nothing is left.
        let mut replaced_to = 0;
        for (index, whole) in text.split_inclusive('\n').enumerate() {
            let place = SourceLine { name, line: index + 1, folder, depth };
            let line = whole.strip_suffix('\n').unwrap_or(whole);
            let line = line.strip_suffix('\r').unwrap_or(line);
            let line_start = start;
            start += whole.len();
            if line_start < replaced_to {
                self.push_line("");
                continue;
            }
            let directive = lines.directive_in(line_start..start);
            let comment = if lines.begins_inside(line_start) { None } else { line_comment(line) };
            match comment.and_then(|at| Some((at, CommentMark::read(&line[at..])?))) {
                Some((_, CommentMark::OnlyFor { contexts })) if self.is_for(contexts) => {}
                Some((_, CommentMark::OnlyFor { .. })) => {
                    self.push_line("");
                    continue;
                }
                Some((at, mark)) if !mark.replaces(line[..at].trim()) => {
                    return Err(place.error(format!("`{}` follows code; write it on its own line", line[at..].trim())));
                }
                Some((_, mark)) => {
                    self.mark(mark, &place)?;
                    continue;
                }
                None => {}
            }
            let Some(directive) = directive else {
                self.push_line(&replace_marks(line));
                continue;
            };
            let bare = without_comments(&text[directive.clone()]);
            match Directive::read(&bare) {
                Directive::Include { file, system } => {
                    // The end of a comment, perhaps.
                    self.out.push_str(&text[line_start..directive.start]);
                    self.include(bare.trim_end(), file, system, &place)?;
                    replaced_to = directive.end;
                }
                Directive::Once => {
                    self.push_line(&text[line_start..directive.start]);
                    replaced_to = directive.end;
                }
                other => {
                    match other {
                        Directive::If => self.conditions += 1,
                        Directive::EndIf => self.conditions -= 1,
                        Directive::Define(name) => _ = self.defined.insert(name.to_owned()),
                        Directive::Undefine(name) => _ = self.undefined.insert(name.to_owned()),
                        _ => {}
                    }
                    self.push_line(&replace_marks(line));
                }
            }
        }
        Ok(())
    }

    fn mark(&mut self, mark: CommentMark, place: &SourceLine) -> Result<()> {
        match mark {
            CommentMark::IncludeFile { file, contexts } => return self.include_file(file, contexts, place),
            CommentMark::Vectorize { rest } => match *rest.split_whitespace().collect::<Vec<_>>() {
                [index, count] => self.push_line(&format!("VECTORIZE_OVER({index}, {count})")),
                _ => return Err(place.error(format!("`//vectorize_over` takes an index and a count, not `{}`", rest.trim()))),
            },
            CommentMark::EndVectorize => self.push_line("END_VECTORIZE"),
            CommentMark::OnlyFor { .. } => {}
        }
        Ok(())
    }

    fn push_line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn mark_line(&mut self, line: usize, name: &str) {
        let quoted = name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
        self.out.push_str(&format!("#line {line} \"{quoted}\"\n"));
    }

    /// A header of the user's is put in place, so that it is part of what is compiled and cached on every target. A system header
    /// is the compiler's business on the CPU; on the other targets the prelude stands for the C library's.
    fn include(&mut self, line: &str, file: &str, system: bool, place: &SourceLine) -> Result<()> {
        if let Some(path) = self.find(file, place.folder.filter(|_| !system), system) {
            return self.add_header(&path, place);
        }
        if self.target == DeviceKind::Cpu {
            self.push_line(line);
        } else if C_HEADERS.contains(&file) {
            self.push_line("");
        } else if system {
            self.push_line(line);
        } else {
            // The compiler tells it, unless a condition or a comment hides the line.
            self.push_line(&format!("#error header \"{file}\" was not found; add its folder to the include folders"));
        }
        Ok(())
    }

    /// Where a file is that is included from a folder, or as a header of the system's.
    fn find(&mut self, file: &str, folder: Option<&Path>, system: bool) -> Option<PathBuf> {
        let (folders, files) = (self.folders, self.files);
        let place = self.places.entry((folder.map(Path::to_owned), if system { format!("<{file}>") } else { file.to_owned() }));
        let look = || {
            let found = folder.into_iter().chain(folders.iter().map(PathBuf::as_path)).map(|f| f.join(file)).find(|p| files.is_file(p));
            found.or_else(|| Some(PathBuf::from(file)).filter(|p| !system && files.is_file(p)))
        };
        place.or_insert_with(look).clone()
    }

    fn include_file(&mut self, file: &str, contexts: &str, place: &SourceLine) -> Result<()> {
        if !self.is_for(contexts) {
            self.push_line("");
            return Ok(());
        }
        let folders = self.folders.iter().map(PathBuf::as_path).chain(place.folder);
        let found = [Path::new(".")].into_iter().chain(folders).map(|f| f.join(file)).find(|path| self.files.is_file(path));
        match found {
            Some(path) => self.add_header(&path, place),
            None => Err(place.error(format!("`//include_file`: {file} was not found; add its folder to the include folders"))),
        }
    }

    fn add_header(&mut self, path: &Path, place: &SourceLine) -> Result<()> {
        if place.depth >= DEEPEST_INCLUDE {
            return Err(place.error(format!("headers are nested more than {DEEPEST_INCLUDE} deep")));
        }
        let header = match self.headers.get(path) {
            Some(header) => header.clone(),
            None => self.headers.entry(path.to_owned()).or_insert(Rc::new(Header::read(path, self.files)?)).clone(),
        };
        let Header { name, text, guard: own_guard, has_once } = &*header;
        if self.open.contains(name) && own_guard.is_some() {
            // Its guard leaves out what it would include of itself.
            self.push_line("");
            return Ok(());
        }
        let is_conditional = self.conditions > 0;
        let number = self.seen.len();
        let mut new_guard = None;
        if *has_once || own_guard.is_some() {
            let is_known = self.seen.contains_key(name);
            let new_name = || own_guard.clone().unwrap_or_else(|| format!("PARLOOP_ONCE_{number}"));
            let seen = self.seen.entry(name.clone()).or_insert_with(|| IncludedOnce { guard: new_name(), is_in_place: false });
            if seen.is_in_place && !self.undefined.contains(&seen.guard) {
                self.push_line("");
                return Ok(());
            }
            seen.is_in_place |= !is_conditional;
            // Which of the places is compiled first, the compiler finds out.
            new_guard = (own_guard.is_none() && (is_conditional || is_known)).then(|| seen.guard.clone());
        }
        if let Some(guard) = &new_guard {
            self.push_line(&format!("#ifndef {guard}\n#define {guard}"));
        }
        let around = self.conditions;
        // The guard of a header is not a condition for what it includes, unless its name was defined elsewhere.
        self.conditions -= isize::from(own_guard.as_ref().is_some_and(|guard| !self.defined.contains(guard)));
        self.open.push(name.clone());
        let added = self.add(&path.display().to_string(), text, path.parent(), place.depth + 1);
        self.open.pop();
        self.conditions = around;
        added?;
        if new_guard.is_some() {
            self.push_line("#endif");
        }
        self.mark_line(place.line + 1, place.name);
        Ok(())
    }

    fn is_for(&self, contexts: &str) -> bool {
        let names: &[&str] = match self.target {
            DeviceKind::Cpu => &["cpu_serial", "cpu_openmp", "cpu"],
            DeviceKind::OpenCl => &["opencl"],
            DeviceKind::Cuda => &["cuda"],
            DeviceKind::Hip => &["hip", "cuda"],
        };
        contexts.split_whitespace().any(|context| names.contains(&context))
    }
}

struct SourceLine<'a> {
    name: &'a str,
    line: usize,
    folder: Option<&'a Path>,
    depth: usize,
}

impl SourceLine<'_> {
    fn error(&self, reason: String) -> KernelError {
        KernelError::Source { file: self.name.to_owned(), line: self.line, reason }
    }
}

/// The name by which a header guards itself: `#ifndef NAME`, `#define NAME` and the last `#endif` hold all of it.
fn guard(text: &str) -> Option<String> {
    let mut pieces = Pieces::of(text.as_bytes());
    let mut directive = || {
        let piece = pieces.token()?;
        let line = without_comments(&text[piece.range]);
        let mut words = line.strip_prefix('#').filter(|_| piece.kind == PieceKind::Directive)?.split_whitespace().map(str::to_owned);
        Some((words.next()?, words.next().unwrap_or_default()))
    };
    let (first, name) = directive()?;
    let is_defined = directive().is_some_and(|(word, defined)| word == "define" && defined == name);
    if first != "ifndef" || !is_defined {
        return None;
    }
    let mut depth = 1;
    while let Some(token) = pieces.token() {
        if depth == 0 {
            return None;
        }
        if token.kind == PieceKind::Directive {
            match Directive::read(&without_comments(&text[token.range])) {
                Directive::If => depth += 1,
                Directive::EndIf => depth -= 1,
                Directive::Else if depth == 1 => return None,
                _ => {}
            }
        }
    }
    (depth == 0).then_some(name)
}

/// Whether a header says `#pragma once` under no condition.
fn has_once(text: &str) -> bool {
    let mut depth = 0;
    for piece in Pieces::of(text.as_bytes()).filter(|piece| piece.kind == PieceKind::Directive) {
        match Directive::read(&without_comments(&text[piece.range])) {
            Directive::If => depth += 1,
            Directive::EndIf => depth -= 1,
            Directive::Once if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// Where directives stand in a text, and what its lines may begin inside of.
struct Lines {
    directives: Vec<Range<usize>>,
    /// Comments, literals and directives of several lines.
    long: Vec<Range<usize>>,
}

impl Lines {
    fn of(text: &str) -> Lines {
        let mut lines = Lines { directives: Vec::new(), long: Vec::new() };
        for Piece { kind, range } in Pieces::of(text.as_bytes()) {
            let may_be_long = matches!(kind, PieceKind::Comment | PieceKind::Literal | PieceKind::Directive);
            if may_be_long && text.as_bytes()[range.clone()].contains(&b'\n') {
                lines.long.push(range.clone());
            }
            if kind == PieceKind::Directive {
                lines.directives.push(range);
            }
        }
        lines
    }

    /// The directive that begins in a line.
    fn directive_in(&self, line: Range<usize>) -> Option<Range<usize>> {
        let place = self.directives.partition_point(|range| range.start < line.start);
        self.directives.get(place).filter(|range| range.start < line.end).cloned()
    }

    /// Whether a line that begins here begins inside of something.
    fn begins_inside(&self, start: usize) -> bool {
        let place = self.long.partition_point(|range| range.end <= start);
        self.long.get(place).is_some_and(|range| range.start < start)
    }
}

/// Where the comment of a line begins that goes to its end.
fn line_comment(line: &str) -> Option<usize> {
    if !line.contains("//") {
        return None;
    }
    let is_one = |piece: &Piece| piece.kind == PieceKind::Comment && line[piece.range.clone()].starts_with("//");
    Pieces::inside(line.as_bytes()).find(is_one).map(|piece| piece.range.start)
}

/// The older comment marks, as macros of the same meaning; shorter ones are padded so that columns stay.
fn replace_marks(line: &str) -> String {
    if !line.contains("/*") {
        return line.to_owned();
    }
    line.replace("/*gpukern*/", "GPUKERN    ")
        .replace("/*gpufun*/", "GPUFUN    ")
        .replace("/*gpuglmem*/", "GPUGLMEM    ")
        .replace("/*restrict*/", "RESTRICT    ")
}

/// Headers whose contents the prelude provides on targets without a C library.
const C_HEADERS: [&str; 24] = [
    "assert.h",
    "cassert",
    "cerrno",
    "cfloat",
    "cinttypes",
    "climits",
    "cmath",
    "cstddef",
    "cstdint",
    "cstdlib",
    "cstring",
    "complex.h",
    "errno.h",
    "float.h",
    "inttypes.h",
    "limits.h",
    "math.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "tgmath.h",
];

#[cfg(test)]
mod tests {
    use super::*;

    impl From<&str> for Joined {
        fn from(text: &str) -> Joined {
            Joined { text: text.into(), api: vec![] }
        }
    }

    fn join(sources: &[Source], target: DeviceKind, folders: &[PathBuf]) -> Result<Joined> {
        super::join(sources, target, folders, &Files::default())
    }

    fn joined(text: &str, target: DeviceKind) -> String {
        join(&[Source::text(text)], target, &[]).unwrap().text
    }

    #[test]
    fn comment_marks_become_macros_on_the_same_line_and_column() {
        let text = "/*gpukern*/ void f(/*gpuglmem*/ double* /*restrict*/ x, int n) {\n//vectorize_over i n\nx[i] = 1;\n//end_vectorize\n}";
        let expected = "#line 1 \"<source>\"\nGPUKERN     void f(GPUGLMEM     double* RESTRICT     x, int n) {\n\
                        VECTORIZE_OVER(i, n)\nx[i] = 1;\nEND_VECTORIZE\n}\n";
        assert_eq!(joined(text, DeviceKind::Cuda), expected);
    }

    #[test]
    fn lines_for_other_contexts_are_left_empty() {
        let text = "a //only_for_context cpu_serial cpu_openmp\nb //only_for_context opencl\nc //only_for_context cuda";
        assert_eq!(joined(text, DeviceKind::OpenCl), "#line 1 \"<source>\"\n\nb //only_for_context opencl\n\n");
        assert!(joined(text, DeviceKind::Cpu).contains("\na //only"));
        assert!(joined(text, DeviceKind::Hip).contains("\nc //only"));
    }

    #[test]
    fn a_directive_of_several_lines_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.h"), "int from_header;\n").unwrap();
        for (directive, before) in [
            ("#include \\\n<mine.h>", ""),
            ("# \\\ninclude \"mine.h\"", ""),
            ("#include \"mine.h\" /* one\ntwo */", ""),
            ("/* one\ntwo */ #include <mine.h>", "/* one\ntwo */ "),
        ] {
            let source = Source::text(format!("{directive}\nint after;"));
            let text = join(&[source], DeviceKind::Cuda, &[folder.path().to_owned()]).unwrap().text;
            let header = folder.path().join("mine.h");
            let begin = format!("#line 1 \"<source>\"\n{before}#line 1 \"{}\"\nint from_header;\n#line ", header.display());
            let end = if before.is_empty() { "2 \"<source>\"\n\nint after;\n" } else { "3 \"<source>\"\nint after;\n" };
            assert_eq!(text, begin + end, "{directive}");
        }
        assert_eq!(joined("#include \\\n<math.h>\nint after;", DeviceKind::Cuda), "#line 1 \"<source>\"\n\n\nint after;\n");
        assert_eq!(joined("#pragma \\\nonce\nint after;", DeviceKind::Cuda), "#line 1 \"<source>\"\n\n\nint after;\n");
    }

    #[test]
    fn own_headers_are_put_in_place_and_lines_keep_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.h"), "int from_header;\n").unwrap();
        let source = Source::text("#include \"mine.h\"\nint after;");
        let text = join(std::slice::from_ref(&source), DeviceKind::OpenCl, &[folder.path().to_owned()]).unwrap().text;
        let header = folder.path().join("mine.h");
        assert_eq!(
            text,
            format!("#line 1 \"<source>\"\n#line 1 \"{}\"\nint from_header;\n#line 2 \"<source>\"\nint after;\n", header.display())
        );
        let text = join(&[source], DeviceKind::OpenCl, &[]).unwrap().text;
        let told = "#error header \"mine.h\" was not found; add its folder to the include folders";
        assert_eq!(text, format!("#line 1 \"<source>\"\n{told}\nint after;\n"));
    }

    #[test]
    fn a_header_that_wants_to_be_read_once_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let header = folder.path().join("once.h");
        std::fs::write(&header, "#pragma once\nint x;\n").unwrap();
        let source = Source::text("#include \"once.h\"\n#include \"once.h\"\nint after;");
        let text = join(&[source], DeviceKind::Cpu, &[folder.path().to_owned()]).unwrap().text;
        let expected = format!("#line 1 \"<source>\"\n#line 1 \"{}\"\n\nint x;\n#line 2 \"<source>\"\n\nint after;\n", header.display());
        assert_eq!(text, expected);
    }

    fn joined_with(headers: &[(&str, &str)], text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in headers {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        join(&[Source::text(text)], DeviceKind::Cpu, &[folder.path().to_owned()]).unwrap().text
    }

    #[test]
    fn a_header_that_is_read_once_is_there_wherever_it_is_compiled_first() {
        let header = [("cfg.h", "#pragma once\n#define SCALE 2.0\n")];
        let text = joined_with(&header, "#ifdef GPU\n#include \"cfg.h\"\n#endif\n#include \"cfg.h\"\n#include \"cfg.h\"\nint after;");
        assert_eq!(text.matches("#define SCALE").count(), 2, "{text}");
        assert_eq!(text.matches("#ifndef PARLOOP_ONCE_0\n#define PARLOOP_ONCE_0\n").count(), 2, "{text}");
        assert_eq!(text.matches("#endif").count(), 3, "{text}");
    }

    #[test]
    fn an_include_in_a_comment_or_a_string_is_none() {
        let header = [("c.h", "/* doc */\nint from_header;\n")];
        for text in ["/* old:\n#include \"c.h\"\n*/\nint x;", "const char *s = R\"(\n#include \"c.h\"\n)\";\n"] {
            assert!(joined_with(&header, text).ends_with(&format!("{}\n", text.trim_end())), "{text}");
        }
        assert!(joined_with(&header, "/* old\n*/\n#include \"c.h\"\n").contains("from_header"));
    }

    #[test]
    fn headers_under_guards_are_put_in_place_once_where_no_condition_decides() {
        let headers: Vec<(String, String)> = (0..40)
            .map(|at: usize| {
                let includes: String = (at.saturating_sub(2)..at).map(|other| format!("#include \"h{other}.h\"\n")).collect();
                (format!("h{at}.h"), format!("#ifndef H{at}\n#define H{at}\n{includes}int g{at};\n#endif\n"))
            })
            .collect();
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, text)| (&name[..], &text[..])).collect();
        let text = joined_with(&headers, "#include \"h39.h\"\n");
        assert_eq!(text.matches("int g0;").count(), 1);
        let header = [("g.h", "#ifndef G\n#define G\nint g;\n#endif\n")];
        let twice = "#if X\n#include \"g.h\"\n#endif\n#include \"g.h\"\n#include \"g.h\"\n";
        assert_eq!(joined_with(&header, twice).matches("int g;").count(), 2);
        let undefined = "#include \"g.h\"\n#undef G\n#include \"g.h\"\n";
        assert_eq!(joined_with(&header, undefined).matches("int g;").count(), 2);
        for open in ["#ifndef G\n#define G\nint g;\n#endif\nint g;\n", "#ifndef G\n#define G\nint g;\n#else\nint h;\n#endif\n"] {
            assert_eq!(guard(open), None, "{open}");
        }
        assert_eq!(guard("// about\n#ifndef G /* x */\n#define G\n#if A\n#else\n#endif\n#endif // G\n").as_deref(), Some("G"));
    }

    #[test]
    fn a_header_is_left_out_only_where_it_was_compiled_before() {
        let headers = [
            ("once.h", "/* again and again, so no\n#pragma once\nhere */\n#if 0\n#pragma once\n#endif\nint x;\n"),
            ("guard.h", "#ifndef G\n#define G\nint x;\n#endif\n"),
            ("other.h", "#ifndef G\n#define G\n#include \"real.h\"\n#endif\n"),
            ("real.h", "#pragma once\nint x;\n"),
        ];
        let count = |text: &str| joined_with(&headers, text).matches("int x;").count();
        assert_eq!(count("#include \"once.h\"\n#include \"once.h\"\n"), 2);
        for undef in ["#undef  G", "#undef\tG", "#undef /* c */ G", "# undef G"] {
            assert_eq!(count(&format!("#include \"guard.h\"\n{undef}\n#include \"guard.h\"\n")), 2, "{undef}");
        }
        // What is inside of a guard that another header has taken is not compiled there.
        assert_eq!(count("#include \"guard.h\"\n#include \"other.h\"\n#include \"real.h\"\n"), 3);
        for condition in ["/* maybe */ #ifdef A", "/* a\n b */ #ifdef A", "#ifdef A //only_for_context cpu"] {
            assert_eq!(count(&format!("{condition}\n#include \"real.h\"\n#endif\n#include \"real.h\"\n")), 2, "{condition}");
        }
        for hidden in ["// see C:\\inc\\\n#include \"real.h\"\n", "#define S 1 /* see\n#include \"real.h\"\n*/\n"] {
            assert_eq!(count(hidden), 0, "{hidden}");
        }
    }

    #[test]
    fn marks_are_comments_of_their_own() {
        for line in
            ["x = 1; //vectorize_over i n", "x = 1; //end_vectorize", "x = 1; } //end_vectorize", "for (;;) { x = 1; //vectorize_over i n"]
        {
            let error = join(&[Source::text(line)], DeviceKind::Cpu, &[]).unwrap_err().to_string();
            assert!(error.contains("follows code; write it on its own line"), "{error}");
        }
        let plain = joined("for (int i = 0; i < n; i++) { //vectorize_over i n\nx;\n} //end_vectorize\n", DeviceKind::Cpu);
        assert_eq!(plain, "#line 1 \"<source>\"\nVECTORIZE_OVER(i, n)\nx;\nEND_VECTORIZE\n");
        for index in ["int i = 0; //vectorize_over i n", "i=0 //vectorize_over i n"] {
            assert!(joined(index, DeviceKind::Cpu).ends_with("\nVECTORIZE_OVER(i, n)\n"), "{index}");
        }
        for line in ["x = 1; // see //only_for_context cuda", "const char *s = \"//end_vectorize\";"] {
            assert!(joined(line, DeviceKind::Cpu).contains(line));
        }
    }

    #[test]
    fn sources_without_a_name_are_counted_and_those_of_an_api_by_themselves() {
        let sources =
            [Source::text("a").api(), Source::named("b.h", "b").api(), Source::text("c"), Source::text("d").api(), Source::text("e")];
        let joined = join(&sources, DeviceKind::Cpu, &[]).unwrap();
        let names: Vec<&str> = joined.text.lines().filter_map(|line| line.strip_prefix("#line 1 ")).collect();
        assert_eq!(names, ["\"<api>\"", "\"b.h\"", "\"<source>\"", "\"<api 2>\"", "\"<source 2>\""]);
        let parts: Vec<&str> = joined.api.iter().filter_map(|part| joined.text[part.clone()].lines().last()).collect();
        assert_eq!(parts, ["a", "b", "d"]);
    }

    #[test]
    fn headers_that_include_themselves_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("loop.h"), "#include \"loop.h\"\n").unwrap();
        let error = join(&[Source::text("#include \"loop.h\"")], DeviceKind::Cpu, &[folder.path().to_owned()]).unwrap_err();
        assert!(error.to_string().ends_with("headers are nested more than 64 deep"), "{error}");
    }

    #[test]
    fn a_header_may_include_itself_under_its_guard() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("own.h"), "#ifndef OWN_H\n#define OWN_H\n#include \"own.h\"\nint x;\n#endif\n").unwrap();
        let source = Source::text("#include \"own.h\"");
        let text = join(&[source], DeviceKind::Cpu, &[folder.path().to_owned()]).unwrap().text;
        assert_eq!(text.matches("int x;").count(), 1, "{text}");
    }

    #[test]
    fn headers_of_the_c_library_are_left_out_where_there_is_none() {
        assert_eq!(joined("#include <math.h>\nx", DeviceKind::Cuda), "#line 1 \"<source>\"\n\nx\n");
        assert_eq!(joined("#include <math.h>\nx", DeviceKind::Cpu), "#line 1 \"<source>\"\n#include <math.h>\nx\n");
    }

    #[test]
    fn a_loop_mark_without_a_count_is_an_error_at_its_line() {
        let error = join(&[Source::text("x\n//vectorize_over i")], DeviceKind::Cpu, &[]).unwrap_err();
        assert_eq!(error.to_string(), "<source>:2: `//vectorize_over` takes an index and a count, not `i`");
    }
}
