//! Functions in plain C as a part of generated code, for every target: each is static, of the device and put in the place of its calls;
//! the C library's functions mean what they mean in C. No line moves.

mod lanes;
mod library;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;

use parloop_device::{DeviceKind, Language};
use tree_sitter::Node;

use crate::edit::{Edit, LineMap, apply};
use crate::error::{KernelError, Result};
use crate::files::Files;
use crate::grammar::tree;
use crate::mask::{MarkKind, Masked, mask};
use crate::parse::{DEEPEST_BLOCK, Dialect, find, parse};
use crate::qualifiers::head;
use crate::reserved::is_reserved;
use crate::scan::{Scanned, next_sign};
use crate::signature::Signature;
use crate::source::{Joined, Source, join};

pub use lanes::LaneParam;

/// Functions in plain C or C++, read once, as each target takes them in the middle of generated code.
///
/// ```
/// use parloop_kernel::{DeviceKind, Language, PlainC, Source};
/// let source = Source::text("double twice(double x) { return 2 * x; }\nvoid f(double *x[2]) { x[0][0] = twice(x[1][0]); }");
/// let functions = PlainC::read(&[source], &[], &[], Language::C)?;
/// assert_eq!(functions.signature("f")?.to_string(), "void f(double ** x)");
/// assert!(functions.text(DeviceKind::Cuda).contains("static __device__ __forceinline__ double twice(double x)"));
/// assert_eq!(functions.signature("g").unwrap_err().to_string(), "the source has no function `g`; it has twice, f");
/// # Ok::<(), parloop_kernel::KernelError>(())
/// ```
///
/// A pointer parameter on OpenCL points to private memory, so that a table of constants at file scope cannot be passed to a function
/// there, only read in place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainC {
    signatures: Vec<Signature>,
    refused: Vec<Refused>,
    /// Functions with another name in the text.
    renamed: Vec<String>,
    texts: Vec<(DeviceKind, String)>,
}

/// A function that cannot be called, and why.
#[derive(Clone, Debug, PartialEq)]
struct Refused {
    name: String,
    file: String,
    line: usize,
    reason: String,
}

impl PlainC {
    /// Reads sources, in order; `folders` are searched for the headers that they include. `arguments` are those of the compiler of a CPU,
    /// which may give a type another meaning (`-Dreal=float`); a function that uses it cannot be called then.
    ///
    /// # Errors
    /// A mistake in a source, at its line; a file that cannot be read.
    pub fn read(sources: &[Source], folders: &[PathBuf], arguments: &[String], language: Language) -> Result<PlainC> {
        let joined = join(sources, DeviceKind::Cpu, folders, &Files::default())?;
        let parsed = parse(&joined, Dialect { target: DeviceKind::Cpu, language, classes: &[], checked: false, arguments, wanted: &[] })?;
        let refused = parsed.refused.into_iter().map(|(name, mistake)| {
            let (file, line) = LineMap::of(&joined.text).place(joined.text[..mistake.at].matches('\n').count());
            Refused { name, file: file.to_owned(), line, reason: mistake.reason }
        });
        let refused = refused.collect();
        let (mut texts, mut renamed) = (Vec::new(), Vec::new());
        for target in DeviceKind::ALL {
            let joined = join(sources, target, folders, &Files::default())?;
            let (text, names) = match language {
                Language::C => ready(&joined, target),
                Language::Cpp => (inlined(&joined, target), Vec::new()),
            };
            texts.push((target, text));
            renamed.extend(names);
        }
        Ok(PlainC { signatures: parsed.functions, refused, renamed, texts })
    }

    /// The functions that it has, in order.
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// The function of that name.
    ///
    /// # Errors
    /// [`KernelError::NoSuchFunction`]; [`KernelError::Source`] for one that other code cannot call.
    pub fn signature(&self, name: &str) -> Result<&Signature> {
        if let Some(signature) = self.signatures.iter().find(|signature| signature.name == name) {
            if signature.is_kernel {
                let reason = format!("`{name}` is a kernel, which other code cannot call; remove GPUKERN");
                return Err(KernelError::Source { file: "<source>".into(), line: signature.line, reason });
            }
            return Ok(signature);
        }
        if let Some(Refused { file, line, reason, .. }) = self.refused.iter().find(|refused| refused.name == name).cloned() {
            return Err(KernelError::Source { file, line, reason });
        }
        let found = self.signatures.iter().map(|signature| signature.name.clone()).collect();
        Err(KernelError::NoSuchFunction { asked: name.into(), found })
    }

    /// What the function of that name is called in the text: a name that some target's language has already gives way.
    pub fn name_in_text(&self, name: &str) -> String {
        if self.renamed.iter().any(|renamed| renamed == name) { own_name(name) } else { name.to_owned() }
    }

    /// The text for that target; its lines have their files and numbers by `#line`.
    pub fn text(&self, target: DeviceKind) -> &str {
        self.texts.iter().find(|(kind, _)| *kind == target).map_or("", |(_, text)| text)
    }
}

/// Blanks in the place of a word: the columns of messages stay those of the source.
fn blank(word: Range<usize>) -> Edit {
    Edit { at: word.start, remove: word.len(), insert: " ".repeat(word.len()).into() }
}

/// What a function is called instead of a name that a target's language has.
fn own_name(name: &str) -> String {
    format!("parloop_own_{name}")
}

/// The text of sources as the target takes it, and the functions that have another name in it.
fn ready(joined: &Joined, target: DeviceKind) -> (String, Vec<String>) {
    let masked = mask(&joined.text, &[]);
    let functions = functions_in(&masked, Language::C);
    let scanned = Scanned::of(&joined.text);
    let recursive = recursive(&joined.text, &scanned, &functions);
    let defined: HashSet<&str> =
        functions.iter().filter(|function| !function.body.is_empty()).map(|function| function.name.as_str()).collect();
    let mut edits = Vec::new();
    for function in functions.iter().filter(|function| !function.is_kernel && defined.contains(function.name.as_str())) {
        let inlined = !recursive.contains(function.name.as_str()) && !joined.text[function.list.clone()].contains("...");
        edits.push(Edit { at: function.start, remove: 0, insert: head(target, inlined).into() });
        edits.extend(function.repeated.iter().cloned().map(blank));
        match target {
            DeviceKind::OpenCl => edits.extend(static_locals(&joined.text, &scanned, function.body.clone())),
            DeviceKind::Cuda | DeviceKind::Hip => edits.extend(bracket_words(&joined.text, &scanned, function.list.clone())),
            DeviceKind::Cpu => {}
        }
    }
    // Arrays of 64-bit integers are arrays of `long` in generated code, and a compiler may take `long long` for other memory.
    let seconds = masked.marks.iter().filter(|mark| mark.kind == MarkKind::SecondLong);
    edits.extend(seconds.map(|mark| blank(mark.at..mark.end)));
    let renamed: HashSet<&str> = functions.iter().filter(|function| function.is_renamed()).map(|function| function.name.as_str()).collect();
    let mut stand_ins = BTreeMap::new();
    for word in calls(&joined.text, &scanned) {
        let name = &joined.text[word.clone()];
        if renamed.contains(name) {
            edits.push(Edit { at: word.start, remove: word.len(), insert: own_name(name).into() });
        } else if defined.contains(name) {
            continue;
        } else if let Some(text) = library::stand_in(target, name) {
            edits.push(Edit { at: word.start, remove: word.len(), insert: library::own_name(name).into() });
            stand_ins.insert(name, text);
        }
    }
    let stand_ins: String = stand_ins.into_values().collect();
    let text = library::around(target, &apply(&joined.text, edits), &stand_ins);
    (text, renamed.into_iter().map(str::to_owned).collect())
}

/// The text of sources in C++, in which functions outside of classes, templates, namespaces and `extern "C"` are put in the place of their
/// calls. C++ has the rest itself: overloads take the types that are passed.
fn inlined(joined: &Joined, target: DeviceKind) -> String {
    if target != DeviceKind::Cpu {
        // Compilers of GPUs do so by themselves.
        return joined.text.clone();
    }
    let masked = mask(&joined.text, &[]);
    let functions = functions_in(&masked, Language::Cpp);
    let recursive = recursive(&joined.text, &Scanned::of(&joined.text), &functions);
    let defined: HashSet<&str> =
        functions.iter().filter(|function| !function.body.is_empty()).map(|function| function.name.as_str()).collect();
    let mut edits = Vec::new();
    for function in functions.iter().filter(|function| !function.is_kernel && defined.contains(function.name.as_str())) {
        edits.push(Edit { at: function.start, remove: 0, insert: head(target, !recursive.contains(function.name.as_str())).into() });
        edits.extend(function.repeated.iter().cloned().map(blank));
    }
    apply(&joined.text, edits)
}

/// The functions that can be given words in front.
fn functions_in(masked: &Masked, language: Language) -> Vec<PlainFunction> {
    let mut functions = Vec::new();
    collect(tree(&masked.text, language).root_node(), Around { gap: 0, conditional: false, depth: 1, language }, masked, &mut functions);
    functions
}

/// The names of functions where they are declared, defined and called.
fn calls<'s>(text: &str, scanned: &'s Scanned) -> impl Iterator<Item = &'s Range<usize>> {
    scanned.words.iter().filter(|word| {
        let is_called = next_sign(text, word.end).is_some_and(|at| text.as_bytes()[at] == b'(');
        let before = text[..word.start].trim_end();
        is_called && !before.ends_with('.') && !before.ends_with("->")
    })
}

/// A function that is defined or declared.
struct PlainFunction {
    name: String,
    start: usize,
    /// The words that `head` says, in this target's way.
    repeated: Vec<Range<usize>>,
    list: Range<usize>,
    /// Empty for a prototype.
    body: Range<usize>,
    is_kernel: bool,
    /// Whether the preprocessor decides if this is compiled at all.
    conditional: bool,
}

impl PlainFunction {
    /// Whether it is called otherwise in the text. A function that only some targets define may stand for what the others have.
    fn is_renamed(&self) -> bool {
        let is_taken = || DeviceKind::ALL.into_iter().any(|target| is_reserved(&self.name, target));
        !self.is_kernel && !self.conditional && !self.body.is_empty() && is_taken()
    }
}

/// What is around the nodes at hand.
#[derive(Clone, Copy)]
struct Around {
    /// Where the text before the first of them begins.
    gap: usize,
    conditional: bool,
    depth: usize,
    language: Language,
}

/// The functions of a file, also those in conditional blocks. What is nested too deep is told where the text is parsed to be compiled.
fn collect(node: Node, around: Around, masked: &Masked, functions: &mut Vec<PlainFunction>) {
    let Around { gap: mut previous_end, conditional, depth, language } = around;
    if depth > DEEPEST_BLOCK {
        return;
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "function_definition" | "declaration" => {
                functions.extend(function(child, Around { gap: previous_end, ..around }, masked));
            }
            // What has the linkage of C cannot be static in C++.
            "linkage_specification" | "declaration_list" if language == Language::Cpp => {}
            "linkage_specification" | "declaration_list" => {
                collect(child, Around { gap: child.start_byte(), conditional, depth: depth + 1, language }, masked, functions);
            }
            kind if kind.starts_with("preproc_") => {
                collect(child, Around { gap: child.start_byte(), conditional: true, depth: depth + 1, language }, masked, functions);
            }
            _ => {}
        }
        previous_end = child.end_byte();
    }
}

fn function(node: Node, around: Around, masked: &Masked) -> Option<PlainFunction> {
    let text = |node: Node| String::from_utf8_lossy(&masked.text[node.byte_range()]).into_owned();
    let function = find(node.child_by_field_name("declarator")?, "function_declarator")?;
    let name = function.child_by_field_name("declarator").filter(|name| name.kind() == "identifier")?;
    let list = function.child_by_field_name("parameters")?.byte_range();
    let body = node.child_by_field_name("body").map_or(0..0, |body| body.byte_range());
    let marks = masked.marks_in(around.gap..function.start_byte());
    let is_kernel = marks.iter().any(|mark| mark.kind == MarkKind::Kernel);
    let mut cursor = node.walk();
    let storage = node.children(&mut cursor).filter(|child| child.kind() == "storage_class_specifier");
    let mut repeated: Vec<Range<usize>> = storage.map(|child| child.byte_range()).collect();
    let marks = marks.iter().filter(|mark| matches!(mark.kind, MarkKind::Function | MarkKind::Other));
    repeated.extend(marks.map(|mark| mark.at..mark.end));
    // Attributes of C++ stand in front of all words.
    let mut cursor = node.walk();
    let start = node
        .children(&mut cursor)
        .find(|child| child.kind() != "attribute_declaration")
        .map_or(node.start_byte(), |child| child.start_byte());
    Some(PlainFunction { name: text(name), start, repeated, list, body, is_kernel, conditional: around.conditional })
}

/// The functions that may call themselves, directly or by way of others and of macros.
fn recursive<'f>(text: &str, scanned: &Scanned, functions: &'f [PlainFunction]) -> HashSet<&'f str> {
    let bodies = functions.iter().map(|function| (function.name.as_str(), function.body.clone()));
    let macros = scanned.macros.iter().map(|(name, range)| (&text[name.clone()], range.clone()));
    let mut uses: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (user, range) in bodies.chain(macros) {
        let words = scanned.words_in(range).iter().map(|word| &text[word.clone()]);
        uses.entry(user).or_default().extend(words);
    }
    let reaches_itself = |name: &str| {
        let (mut seen, mut open) = (HashSet::new(), vec![name]);
        while let Some(next) = open.pop() {
            for used in uses.get(next).into_iter().flatten() {
                if *used == name {
                    return true;
                }
                if uses.contains_key(used) && seen.insert(*used) {
                    open.push(used);
                }
            }
        }
        false
    };
    functions.iter().map(|function| function.name.as_str()).filter(|name| reaches_itself(name)).collect()
}

/// OpenCL has no static variables in functions; one that is `const` is as good without the word.
fn static_locals(text: &str, scanned: &Scanned, body: Range<usize>) -> Vec<Edit> {
    let words = scanned.words_in(body.clone());
    let is_constant = |word: &Range<usize>| {
        let end = text[word.end..body.end].find(['=', ';', '[', '{', '(']).map_or(body.end, |at| word.end + at);
        let before = words.iter().rfind(|other| other.end <= word.start).filter(|other| text[other.end..word.start].trim().is_empty());
        let after = scanned.words_in(word.end..end);
        before.into_iter().chain(after).any(|other| &text[other.clone()] == "const")
    };
    let statics = words.iter().filter(|word| &text[(*word).clone()] == "static" && is_constant(word));
    statics.map(|word| Edit { at: word.start, remove: word.len(), insert: "".into() }).collect()
}

/// C++ has no words between the brackets of a parameter: `double x[restrict static 2]`.
fn bracket_words(text: &str, scanned: &Scanned, list: Range<usize>) -> Vec<Edit> {
    let mut open = None;
    let mut edits = Vec::new();
    for word in scanned.words_in(list) {
        let begins = text[..word.start].trim_end().ends_with('[');
        let continues = open.is_some_and(|end| next_sign(text, end) == Some(word.start));
        let is_qualifier = matches!(&text[word.clone()], "static" | "restrict" | "const" | "volatile" | "__restrict__" | "__restrict");
        if (begins || continues) && is_qualifier {
            edits.push(Edit { at: word.start, remove: word.len(), insert: "".into() });
            open = Some(word.end);
        } else {
            open = None;
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> PlainC {
        PlainC::read(&[Source::text(text)], &[], &[], Language::C).unwrap()
    }

    /// The user's own lines.
    fn own(functions: &PlainC, target: DeviceKind) -> String {
        functions.text(target).split_once("#line 1 \"<source>\"\n").unwrap().1.trim_end().to_owned()
    }

    #[test]
    fn every_form_of_a_parameter_is_read() {
        let text = "#define DIM 2\n\
            void f(double *a, const double *b, double c[2], double **d, double *e[2], const double *const *f, double g[3][2],\n\
            double (*h)[2], double i[][DIM], const double *restrict j, double k[2][3][4], unsigned char *l, const _Bool *m, int8_t *n,\n\
            float complex *o, double * __restrict__ const p, int q, double complex r, double s[][N], float t[restrict static 3]) {}";
        let expected = "void f(double * a, const double * b, double * c, double ** d, double ** e, const double ** f, double (*g)[2], \
            double (*h)[2], double (*i)[2], const double * j, double (*k)[3][4], uint8_t * l, const bool * m, int8_t * n, \
            float _Complex * o, double * p, int32_t q, double _Complex r, double * s, float * t)";
        assert_eq!(read(text).signature("f").unwrap().to_string(), expected);
    }

    #[test]
    fn functions_become_static_and_are_inlined_unless_they_call_themselves() {
        let functions = read(
            "double sq(double x);\nextern double outside(double);\nstatic inline double sq(double x) { return x * x; }\n\
             GPUFUN int fac(int n) { return n ? n * fac(n - 1) : 1; }\n#define ODD(n) odd(n)\nint odd(int n);\n\
             int even(int n) { return n == 0 || ODD(n - 1); }\nint odd(int n) { return n && even(n - 1); }",
        );
        let inlined = "static inline __attribute__((always_inline))";
        assert_eq!(
            own(&functions, DeviceKind::Cpu),
            format!(
                "{inlined} double sq(double x);\nextern double outside(double);\n{inlined}               double sq(double x) {{ return x * x; }}\n\x20      \
                 static inline/**/ int fac(int n) {{ return n ? n * fac(n - 1) : 1; }}\n#define ODD(n) odd(n)\nstatic inline/**/ int odd(int n);\n\
                 static inline/**/ int even(int n) {{ return n == 0 || ODD(n - 1); }}\nstatic inline/**/ int odd(int n) {{ return n && even(n - 1); }}"
            )
        );
        let text = functions.text(DeviceKind::Hip);
        assert!(text.contains("static __device__ inline/**/ int fac(int n)"), "{text}");
        assert!(text.contains("static __device__ __forceinline__               double sq(double x) {"), "{text}");
    }

    #[test]
    fn words_that_a_target_lacks_are_left_out() {
        let functions =
            read("void f(double x[static restrict 2]) {\n  static const double w[2] = {1, 2}; const static int n = 1; x[0] = w[n];\n}");
        assert!(functions.text(DeviceKind::Cuda).contains("f(double x[  2]) {\n  static const double w[2]"));
        assert_eq!(own(&read("unsigned long long f(long long int x) { return x; }"), DeviceKind::Cpu).matches("long").count(), 2);
        let opencl = functions.text(DeviceKind::OpenCl);
        assert!(opencl.contains("f(double x[static restrict 2]) {\n   const double w[2] = {1, 2}; const  int n = 1;"), "{opencl}");
    }

    #[test]
    fn functions_of_the_c_library_take_the_type_that_they_have_in_c() {
        let functions = read(
            "#define ROOT(x) sqrt(x)\ndouble cbrt(double x) { double max = x; return max; }\ndouble f(int exp) { return ROOT(exp) + s.log(2) + cbrt (2) + fabsf(1); }",
        );
        assert_eq!(own(&functions, DeviceKind::Cpu).lines().next(), Some("#define ROOT(x) sqrt(x)"));
        let opencl = functions.text(DeviceKind::OpenCl);
        assert!(opencl.contains("#define ROOT(x) parloop_c_sqrt(x)\n"), "{opencl}");
        assert!(opencl.contains("{ return ROOT(exp) + s.log(2) + parloop_own_cbrt (2) + parloop_c_fabsf(1); }"), "{opencl}");
        assert!(opencl.contains("static inline PARLOOP_C_DOUBLE parloop_c_sqrt(PARLOOP_C_DOUBLE x) { return sqrt(x); }"), "{opencl}");
        assert!(opencl.contains("static inline float parloop_c_fabsf(float x) { return fabs(x); }"), "{opencl}");
        assert!(own(&functions, DeviceKind::Cuda).contains("+ fabsf(1)"));
        assert!(opencl.contains("double parloop_own_cbrt(double x) { double max = x; return max; }"), "{opencl}");
        assert_eq!([functions.name_in_text("cbrt"), functions.name_in_text("f")], ["parloop_own_cbrt", "f"]);
    }

    #[test]
    fn what_cannot_be_called_says_why() {
        let functions = read("void f(int n, ...) {}\nGPUKERN void k(void) {}");
        assert_eq!(functions.signature("f").unwrap_err().to_string(), "<source>:1: `f` takes a variable number of arguments");
        let expected = "<source>:2: `k` is a kernel, which other code cannot call; remove GPUKERN";
        assert_eq!(functions.signature("k").unwrap_err().to_string(), expected);
        assert_eq!(functions.signature("g").unwrap_err().to_string(), "the source has no function `g`; it has k");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(
            text in "(GPUKERN|GPUFUN|void|int|double|f|x|const|static|restrict|#define|[(){}*,;\\[\\]\n é=\"'/]){0,40}"
        ) {
            let _ = PlainC::read(&[Source::text(text)], &[], &[], Language::C);
        }
    }
}
