//! Pointers of OpenCL kernels. A kernel receives a buffer and an offset for each of them, so that any part of any memory can be
//! passed: the parameter becomes two, and the pointer a variable at the beginning of the body. No line moves.

use std::ops::Range;

use tree_sitter::Node;

use crate::ctype::words;
use crate::edit::{Edit, Mistake};
use crate::mask::{Mark, MarkKind, Masked};

/// A pointer parameter as two parameters.
pub(crate) struct Pair {
    /// Puts the two in the place of the one.
    pub(crate) edit: Edit,
    /// The declaration of the pointer, for the body.
    pub(crate) local: String,
}

/// What is known of the parameter.
pub(crate) struct Pointer<'a> {
    pub(crate) node: Node<'a>,
    /// Where the text before it begins: a blanked macro there is not part of the node.
    pub(crate) gap: usize,
    pub(crate) name: &'a str,
    pub(crate) function: &'a str,
    /// Whether it promises not to write.
    pub(crate) constant: bool,
    /// Whether its type is a pointer by name, which says its address space itself.
    pub(crate) is_class: bool,
    /// Whether `GPUGLMEM` says no address space: the kernel receives a global pointer, and the body sees a plain one.
    pub(crate) one_space: bool,
}

impl Pointer<'_> {
    pub(crate) fn pair(&self, original: &str, masked: &Masked) -> Result<Pair, Mistake> {
        let Pointer { node, name, .. } = *self;
        let range = node.byte_range();
        let marks = masked.marks_in(self.gap..range.end);
        let space = marks.iter().find(|mark| mark.kind == MarkKind::Space);
        let space_word = space.map_or("GPUGLMEM", |mark| word_at(original, mark.at));
        if matches!(space_word, "__local" | "__private") {
            let function = self.function;
            let reason =
                format!("parameter `{name}` of `{function}` is `{space_word}`, which a caller cannot pass; declare it in the body");
            return Err(Mistake { at: range.start, reason });
        }
        let outer = if space.is_some_and(|mark| mark.at < range.start) { String::new() } else { format!("{space_word} ") };
        let (outer, through) = match self.one_space && space_word == "GPUGLMEM" {
            true => ("__global ".to_owned(), "(size_t)"),
            false => (outer, ""),
        };
        let constant = if self.constant && !self.is_class { "const " } else { "" };
        let is_restricted = words(&original[range.clone()]).iter().any(|word| word.trim_matches('_').eq_ignore_ascii_case("restrict"));
        let restrict = if is_restricted { "restrict " } else { "" };
        let lines = "\n".repeat(original[range.clone()].matches('\n').count());
        let insert = format!("{outer}{constant}char *{restrict}{name}__base, long {name}__offset{lines}");
        let declaration = self.declaration(original, marks);
        let own_space = if self.is_class { String::new() } else { format!("{space_word} ") };
        let local = format!("{own_space}{declaration} = ({space_word} {constant}void *){through}({name}__base + {name}__offset);");
        Ok(Pair { edit: Edit { at: range.start, remove: range.len(), insert: insert.into() }, local })
    }

    /// The parameter's own text on one line, without address space and comments, and arrays as what they are to a function.
    fn declaration(&self, original: &str, marks: &[Mark]) -> String {
        let range = self.node.byte_range();
        let mut left_out: Vec<(Range<usize>, String)> = Vec::new();
        for mark in marks.iter().filter(|mark| mark.at >= range.start && matches!(mark.kind, MarkKind::Space | MarkKind::SecondLong)) {
            left_out.push((mark.at..mark.at + word_at(original, mark.at).len(), String::new()));
        }
        let mut open = vec![self.node];
        while let Some(node) = open.pop() {
            let inner = node.child_by_field_name("declarator");
            if node.kind() == "comment" {
                left_out.push((node.byte_range(), String::new()));
            } else if node.kind() == "array_declarator" && inner.is_some_and(|inner| inner.kind() == "identifier") {
                left_out.push((node.byte_range(), format!("(*{})", self.name)));
            } else {
                open.extend((0..node.child_count()).filter_map(|index| node.child(index)));
            }
        }
        left_out.sort_by_key(|(range, _)| range.start);
        let (mut out, mut done) = (String::new(), range.start);
        for (gap, instead) in left_out {
            out.push_str(&original[done.min(gap.start)..gap.start]);
            out.push_str(&instead);
            done = gap.end;
        }
        out.push_str(&original[done..range.end]);
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The word that begins there.
fn word_at(text: &str, at: usize) -> &str {
    let end = text[at..].find(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(text.len(), |len| at + len);
    &text[at..end]
}

#[cfg(test)]
mod tests {
    use parloop_device::{DeviceKind, Language};

    use crate::error::Result;
    use crate::parse::{Dialect, Parsed, parse};
    use crate::source::Joined;

    fn parsed(text: &str) -> Result<Parsed> {
        parse(
            &Joined::from(text),
            Dialect {
                target: DeviceKind::OpenCl,
                language: Language::C,
                classes: &["Cells".into()],
                checked: false,
                arguments: &[],
                wanted: &[],
            },
        )
    }

    fn opencl(text: &str) -> String {
        parsed(text).unwrap().text
    }

    #[test]
    fn with_one_address_space_a_kernel_still_receives_global_pointers() {
        let text = "GPUKERN void k(GPUGLMEM double *x, Cells c) {}";
        let arguments = ["-DPARLOOP_ONE_SPACE".into()];
        let dialect = Dialect {
            target: DeviceKind::OpenCl,
            language: Language::C,
            classes: &["Cells".into()],
            checked: false,
            arguments: &arguments,
            wanted: &[],
        };
        assert_eq!(
            parse(&Joined::from(text), dialect).unwrap().text,
            "GPUKERN void k(GPUGLMEM __global char *x__base, long x__offset, __global char *c__base, long c__offset) \
             { GPUGLMEM double *x = (GPUGLMEM void *)(size_t)(x__base + x__offset); \
             Cells c = (GPUGLMEM void *)(size_t)(c__base + c__offset);}"
        );
    }

    #[test]
    fn a_pointer_becomes_a_buffer_and_an_offset() {
        assert_eq!(
            opencl("GPUKERN void k(GPUGLMEM const double *x, int n, float *RESTRICT y) { y[n] = x[n]; }"),
            "GPUKERN void k(GPUGLMEM const char *x__base, long x__offset, int n, GPUGLMEM char *restrict y__base, long y__offset) \
             { GPUGLMEM const double *x = (GPUGLMEM const void *)(x__base + x__offset); \
             GPUGLMEM float *RESTRICT y = (GPUGLMEM void *)(y__base + y__offset); y[n] = x[n]; }"
        );
    }

    #[test]
    fn every_spelling_keeps_its_meaning_and_its_lines() {
        for (declared, base, local) in [
            ("double v[3]", "GPUGLMEM char *v__base, long v__offset", "GPUGLMEM double (*v) = (GPUGLMEM void *)"),
            ("double v[2][3]", "GPUGLMEM char *v__base, long v__offset", "GPUGLMEM double (*v)[3] = (GPUGLMEM void *)"),
            ("double (*v)[3]", "GPUGLMEM char *v__base, long v__offset", "GPUGLMEM double (*v)[3] = (GPUGLMEM void *)"),
            ("char const GPUGLMEM *v", "GPUGLMEM const char *v__base, long v__offset", "GPUGLMEM char const *v = (GPUGLMEM const void *)"),
            ("__constant float *v", "__constant char *v__base, long v__offset", "__constant float *v = (__constant void *)"),
            ("long long *const v", "GPUGLMEM char *v__base, long v__offset", "GPUGLMEM long *const v = (GPUGLMEM void *)"),
            ("const Cells v", "GPUGLMEM char *v__base, long v__offset", "const Cells v = (GPUGLMEM void *)"),
            ("Cells RESTRICT v", "GPUGLMEM char *restrict v__base, long v__offset", "Cells RESTRICT v = (GPUGLMEM void *)"),
            ("int *  // why\n v", "GPUGLMEM char *v__base, long v__offset\n", "GPUGLMEM int * v = (GPUGLMEM void *)"),
        ] {
            let text = opencl(&format!("GPUKERN void k({declared})\n{{\n}}"));
            assert_eq!(text, format!("GPUKERN void k({base})\n{{ {local}(v__base + v__offset);\n}}"), "{declared}");
        }
        assert_eq!(opencl("GPUKERN void k(int *);"), "GPUKERN void k(GPUGLMEM char *arg0__base, long arg0__offset);");
    }

    #[test]
    fn memory_that_no_caller_can_give_is_refused() {
        let error = parsed("#line 1 \"k.c\"\nGPUKERN void k(__local float *s) {}").unwrap_err();
        assert_eq!(error.to_string(), "k.c:1: parameter `s` of `k` is `__local`, which a caller cannot pass; declare it in the body");
    }
}
