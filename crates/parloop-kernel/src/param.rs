//! One parameter of a function: its name and type, and what OpenCL needs instead of it. And the type of what is returned.

use parloop_device::{DType, DeviceKind, Language};
use tree_sitter::Node;

use crate::ctype::{Scalar, integer, words};
use crate::edit::{Edit, Mistake};
use crate::pair::Pointer;
use crate::parse::Reader;
use crate::scan::{Piece, PieceKind, Pieces, without_comments};
use crate::signature::{Param, ParamType, Pointee};

/// A declarator has fewer pointers, arrays and parentheses, one inside the other.
const DEEPEST_DECLARATOR: usize = 256;

impl Reader<'_> {
    /// `kernel_gap` is where the text before a kernel's parameter begins.
    pub(crate) fn param(&mut self, node: Node, function: &str, index: usize, kernel_gap: Option<usize>) -> Result<Param, Mistake> {
        let declarator = node.child_by_field_name("declarator");
        let specifiers_end = declarator.map_or(node.end_byte(), |d| d.start_byte());
        let specifiers = without_comments(&String::from_utf8_lossy(&self.masked.text[node.start_byte()..specifiers_end]));
        let specifiers = without_attributes(&specifiers);
        let mut specifiers = words(&specifiers);
        specifiers.retain(|word| !self.typedefs.is_empty_macro(word));
        specifiers.iter_mut().filter(|word| self.typedefs.is_const_macro(word)).for_each(|word| *word = "const".into());
        let constant = specifiers.iter().any(|word| word == "const");
        let (name, layers) = match declarator.map(|d| self.declarator(d, function)) {
            Some(found) => found?.map_or((String::new(), None), |(name, layers)| (name, Some(layers))),
            None => (String::new(), Some(Vec::new())),
        };
        let Some(layers) = layers else {
            let reason = format!("parameter `{}` of `{function}` is neither a scalar nor a pointer", nth(index));
            return Err(Mistake { at: node.start_byte(), reason });
        };
        let is_named = !name.is_empty();
        let name = if is_named { name } else { nth(index) };
        let spelled = specifiers.join(" ");
        let class = self.class(&specifiers).filter(|_| layers.is_empty());
        let scalar = self.scalar(&specifiers, node, function)?;
        let ty = match (scalar, layers.as_slice()) {
            _ if let Some(class) = &class => ParamType::Pointer { to: Pointee::Class(class.clone()), constant },
            (Some(Scalar::Value(dtype)), []) => ParamType::Scalar(dtype),
            (Some(Scalar::Char), []) => ParamType::Scalar(DType::I8),
            (None, []) if let Some(dtype) = self.complex_pair(&specifiers) => ParamType::Scalar(dtype),
            (Some(Scalar::Void), []) | (None, []) => {
                // A class is one word, so that other types need no hint.
                let hint = match *unqualified(&specifiers).collect::<Vec<_>>() {
                    [name] if name != "void" => "; name it among the classes if it is a pointer to an opaque struct",
                    _ => "",
                };
                let reason =
                    format!("parameter `{name}` of `{function}` has type `{spelled}`, which is neither a scalar type nor a pointer{hint}");
                return Err(Mistake { at: node.start_byte(), reason });
            }
            (scalar, [_, inner @ ..]) => {
                let to = match pointee(scalar, inner, &specifiers) {
                    Pointee::Other(name) if self.is_struct(&specifiers) && !name.ends_with('*') => Pointee::Struct(name),
                    to => to,
                };
                ParamType::Pointer { to, constant }
            }
        };
        if let Some(gap) = kernel_gap
            && self.target == DeviceKind::OpenCl
        {
            match &ty {
                ParamType::Scalar(_) => self.replace_refused_type(node.start_byte(), specifiers_end),
                ParamType::Pointer { to, constant } => {
                    let is_class = matches!(to, Pointee::Class(_));
                    let pointer = Pointer { node, gap, name: &name, function, constant: *constant, is_class, one_space: self.one_space };
                    let pair = pointer.pair(self.joined, self.masked)?;
                    self.edits.push(pair.edit);
                    if is_named {
                        self.locals.push(' ');
                        self.locals.push_str(&pair.local);
                    }
                }
            }
        }
        if let Some(Scalar::Value(dtype)) = scalar.filter(|_| class.is_none())
            && specifiers.iter().any(|word| self.typedefs.has(word))
        {
            self.confirmations.push_str(&confirmation(&specifiers, dtype, &format!("{name}_of_{function}")));
        }
        Ok(Param { name, ty })
    }

    /// Whether these specifiers say a struct of the source. In C++ its name does by itself.
    fn is_struct(&self, specifiers: &[String]) -> bool {
        let is_tag = |name: &String| {
            let text = &String::from_utf8_lossy(&self.masked.text);
            let tokens: Vec<_> = Pieces::of(text.as_bytes()).filter(|piece| piece.kind == PieceKind::Word).collect();
            let is_keyword = |piece: &Piece| matches!(&text[piece.range.clone()], "struct" | "class" | "union");
            tokens.windows(2).any(|pair| is_keyword(&pair[0]) && text[pair[1].range.clone()] == **name)
        };
        self.typedefs.is_struct(specifiers) || self.language == Language::Cpp && unqualified(specifiers).last().is_some_and(is_tag)
    }

    /// OpenCL has no complex numbers; a pair of parts is one there.
    fn complex_pair(&self, specifiers: &[String]) -> Option<DType> {
        let mut words = unqualified(specifiers).filter(|_| self.target == DeviceKind::OpenCl);
        match (words.next().map(|word| &**word), words.next()) {
            (Some("float2"), None) => Some(DType::C64),
            (Some("double2"), None) => Some(DType::C128),
            _ => None,
        }
    }

    /// What a function returns; `None` is void.
    pub(crate) fn returned(&self, node: Node, declarator: Node, function: &str) -> Result<Option<ParamType>, Mistake> {
        let specifiers = node.child_by_field_name("type").map(|ty| words(&without_comments(&self.text(ty)))).unwrap_or_default();
        let mut cursor = node.walk();
        let constant = node.children(&mut cursor).any(|child| child.kind() == "type_qualifier" && self.text(child) == "const");
        let (mut depth, mut inner) = (0, declarator);
        while inner.kind() == "pointer_declarator" {
            let Some(next) = inner.child_by_field_name("declarator") else { break };
            (depth, inner) = (depth + 1, next);
        }
        let class = self.class(&specifiers).filter(|_| depth == 0);
        match (self.scalar(&specifiers, node, function)?, depth) {
            _ if inner.kind() != "function_declarator" => {
                Err(Mistake { at: node.start_byte(), reason: format!("`{function}` returns neither a scalar nor a plain pointer") })
            }
            _ if let Some(class) = class => Ok(Some(ParamType::Pointer { to: Pointee::Class(class), constant })),
            (Some(Scalar::Void), 0) => Ok(None),
            (Some(Scalar::Value(dtype)), 0) => Ok(Some(ParamType::Scalar(dtype))),
            (Some(Scalar::Char), 0) => Ok(Some(ParamType::Scalar(DType::I8))),
            (None, 0) => {
                let reason = format!("`{function}` returns `{}`, which is not a scalar type", specifiers.join(" "));
                Err(Mistake { at: node.start_byte(), reason })
            }
            (scalar, depth) => {
                let to = pointee(scalar, &vec![Layer::Pointer; depth - 1], &specifiers);
                Ok(Some(ParamType::Pointer { to, constant }))
            }
        }
    }

    /// The type that the specifiers of a parameter or of a function say.
    fn scalar(&self, specifiers: &[String], at: Node, function: &str) -> Result<Option<Scalar>, Mistake> {
        self.typedefs.scalar(specifiers).map_err(|name| {
            if self.typedefs.is_pointer(name) {
                let reason = format!("`{function}` uses `{name}`, a macro that stands for a pointer; write the `*` in the parameter, or use a typedef");
                return Mistake { at: at.start_byte(), reason };
            }
            let reason = format!(
                "`{function}` uses the type `{name}`, which has more than one definition, and preprocessor conditions or compiler arguments select one; use a type with one definition"
            );
            Mistake { at: at.start_byte(), reason }
        })
    }

    /// The class that these specifiers say.
    pub(crate) fn class(&self, specifiers: &[String]) -> Option<String> {
        let mut names = unqualified(specifiers);
        names.next().filter(|name| names.next().is_none() && self.classes.contains(name)).cloned()
    }

    /// OpenCL kernels take no truth values and no types whose size is the device's business; others of the same size do as well.
    fn replace_refused_type(&mut self, from: usize, to: usize) {
        const REFUSED: [(&str, &str); 6] = [
            ("bool", "uchar"),
            ("_Bool", "uchar"),
            ("size_t", "ulong"),
            ("uintptr_t", "ulong"),
            ("ptrdiff_t", "long"),
            ("intptr_t", "long"),
        ];
        let specifiers = String::from_utf8_lossy(&self.masked.text[from..to]).into_owned();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        for (refused, insert) in REFUSED {
            let mut found = specifiers.match_indices(refused);
            let whole = |at: usize| !specifiers[..at].ends_with(is_word) && !specifiers[at + refused.len()..].starts_with(is_word);
            if let Some((at, _)) = found.find(|(at, _)| whole(*at)) {
                self.edits.push(Edit { at: from + at, remove: refused.len(), insert: insert.into() });
                return;
            }
        }
    }

    /// The name, and what must be followed from it to the elements; `None` for what is neither pointer nor array.
    fn declarator(&self, outermost: Node, function: &str) -> Result<Option<(String, Vec<Layer>)>, Mistake> {
        let mut layers = Vec::new();
        let mut next = Some(outermost);
        for _ in 0..DEEPEST_DECLARATOR {
            let Some(node) = next else {
                layers.reverse();
                return Ok(Some((String::new(), layers)));
            };
            next = match node.kind() {
                "identifier" => {
                    layers.reverse();
                    return Ok(Some((self.text(node), layers)));
                }
                "pointer_declarator" | "abstract_pointer_declarator" => {
                    layers.push(Layer::Pointer);
                    node.child_by_field_name("declarator")
                }
                "array_declarator" | "abstract_array_declarator" => {
                    layers.push(Layer::Array(node.child_by_field_name("size").and_then(|size| self.length(&self.text(size)))));
                    node.child_by_field_name("declarator")
                }
                "parenthesized_declarator" | "abstract_parenthesized_declarator" => match node.named_child(0) {
                    Some(inner) => Some(inner),
                    None => return Ok(None),
                },
                _ => return Ok(None),
            };
        }
        let reason = format!(
            "a parameter of `{function}` is declared with more than {DEEPEST_DECLARATOR} levels; use a typedef for a part of its type"
        );
        Err(Mistake { at: outermost.start_byte(), reason })
    }

    /// The length that an array is declared with: a number, or a name that `#define` gives to one.
    fn length(&self, text: &str) -> Option<u64> {
        let text = text.trim();
        let number = integer(text).and_then(|number| u64::try_from(number).ok());
        number.or_else(|| self.typedefs.number(text)).filter(|length| *length > 0)
    }
}

/// What makes a compiler stop that reads another type than we do: a name of the source's may have another meaning for it. It stands behind
/// the function, as near as possible.
fn confirmation(specifiers: &[String], dtype: DType, what: &str) -> String {
    if dtype.is_complex() {
        return String::new();
    }
    let ty = unqualified(specifiers).map(String::as_str).collect::<Vec<_>>().join(" ");
    // An array has a constant number of elements, and only sizes tell a floating-point number from an integer in one.
    let kind = match dtype {
        DType::Bool => format!("({ty})2 == ({ty})1"),
        DType::F32 => format!("sizeof(({ty})0 + (int64_t)0) == 4"),
        DType::F64 => format!("sizeof(({ty})0 + 0.0f) == 8"),
        _ => {
            let is_signed = dtype.integer_range().is_some_and(|(least, _)| least < 0);
            let is_integer = if dtype.size() == 8 { "0.0f) == 4" } else { "(int64_t)0) == 8" };
            format!("sizeof(({ty})0 + {is_integer}) & ((({ty})-1 < ({ty})1) == {}", u8::from(is_signed))
        }
    };
    format!(" typedef char parloop_{what}_is_not_{dtype}[(sizeof({ty}) == {}) & ({kind}) ? 1 : -1];", dtype.size())
}

/// Specifiers without the attributes of GNU C and of C++.
fn without_attributes(text: &str) -> String {
    let mut text = text.to_owned();
    while let Some(at) = text.find("[[").filter(|at| text[*at..].contains("]]")) {
        let end = text[at..].find("]]").map_or(text.len(), |end| at + end + 2);
        text.replace_range(at..end, " ");
    }
    while let Some(at) = text.find("__attribute__") {
        let (mut depth, mut end) = (0usize, text.len());
        for (place, byte) in text.bytes().enumerate().skip(at + "__attribute__".len()) {
            match byte {
                b'(' => depth += 1,
                b')' if depth <= 1 => {
                    end = place + 1;
                    break;
                }
                b')' => depth -= 1,
                _ => {}
            }
        }
        text.replace_range(at..end, " ");
    }
    text
}

/// A step from a declared name to the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Pointer,
    /// With its length, where the source says a number.
    Array(Option<u64>),
}

/// What is called what has no name.
fn nth(index: usize) -> String {
    format!("arg{index}")
}

/// What a pointer leads to from which these layers lead to what the specifiers say.
fn pointee(scalar: Option<Scalar>, inner: &[Layer], specifiers: &[String]) -> Pointee {
    let lengths = || inner.iter().map(|layer| if let Layer::Array(length) = layer { *length } else { None }).collect::<Option<Vec<u64>>>();
    match (scalar, inner) {
        (Some(Scalar::Value(dtype)), []) => Pointee::Scalar(dtype),
        (Some(Scalar::Char), []) => Pointee::Char,
        (Some(Scalar::Void), []) => Pointee::Void,
        (Some(Scalar::Value(dtype)), [Layer::Pointer]) => Pointee::Pointers(dtype),
        (Some(Scalar::Value(dtype)), _) if let Some(lengths) = lengths() => Pointee::Rows(dtype, lengths),
        _ => {
            let mut name = specifiers.iter().filter(|word| *word != "const").cloned().collect::<Vec<_>>().join(" ");
            // Rows of a length that the source leaves open lie one after the other, as the numbers of an array.
            if inner.contains(&Layer::Pointer) {
                name.push(' ');
                name.extend(inner.iter().map(|_| '*'));
            }
            Pointee::Other(name)
        }
    }
}

/// The words of a type without its qualifiers.
fn unqualified(specifiers: &[String]) -> impl Iterator<Item = &String> {
    specifiers.iter().filter(|word| !matches!(word.as_str(), "const" | "volatile" | "restrict"))
}

#[cfg(test)]
mod tests {
    use parloop_device::{DeviceKind, Language};

    use crate::parse::{Dialect, Parsed, parse};
    use crate::signature::{ParamType, Pointee};
    use crate::source::Joined;

    fn parsed(text: &str, language: Language, target: DeviceKind) -> Parsed {
        let dialect = Dialect { target, language, classes: &[], checked: false, arguments: &[], wanted: &[] };
        parse(&Joined::from(text), dialect).unwrap()
    }

    fn signature(text: &str, language: Language) -> String {
        let parsed = parsed(text, language, DeviceKind::Cpu);
        parsed.functions.first().map_or_else(|| parsed.refused[0].1.reason.clone(), ToString::to_string)
    }

    #[test]
    fn types_by_names_of_the_source_are_confirmed_by_the_compiler() {
        let text = "typedef float real;\nGPUKERN void f(const real x, double *y) { }\nint after;";
        let found = parsed(text, Language::C, DeviceKind::Cuda).text;
        let check = "typedef char parloop_x_of_f_is_not_float32[(sizeof(real) == 4) & (sizeof((real)0 + (int64_t)0) == 4) ? 1 : -1];";
        assert_eq!(found, text.replacen("{ }", &format!("{{ }} {check}"), 1));
        let plain = "GPUKERN void f(const float x, double *y) { }";
        assert_eq!(parsed(plain, Language::C, DeviceKind::Cuda).text, plain);
        let found = parsed("typedef unsigned whole;\nGPUKERN void f(whole *x) { }", Language::C, DeviceKind::Cpu).text;
        let check = "(sizeof(whole) == 4) & (sizeof((whole)0 + (int64_t)0) == 8) & (((whole)-1 < (whole)1) == 0) ? 1 : -1]";
        assert!(found.contains(check), "{found}");
    }

    #[test]
    fn attributes_empty_macros_and_namespaces_leave_a_type_what_it_is() {
        for (text, language) in [
            ("void f(__attribute__((unused)) double *x) {}", Language::C),
            ("#define IN\nvoid f(IN double *x) {}", Language::C),
            ("void f([[maybe_unused]] double *x) {}", Language::Cpp),
        ] {
            assert_eq!(signature(text, language), "void f(double * x)", "{text}");
        }
        assert_eq!(
            signature("void f(std::int32_t *x, std::complex<double> *y) {}", Language::Cpp),
            "void f(int32_t * x, double _Complex * y)"
        );
    }

    #[test]
    fn comments_are_no_part_of_a_type() {
        let text = "unsigned /* short */ int f(double /*const*/ *x, int /*long*/ *a, const double /* metres */ *m, int /*unsigned*/ n) {}";
        assert_eq!(signature(text, Language::C), "uint32_t f(double * x, int32_t * a, const double * m, int32_t n)");
    }

    #[test]
    fn only_structs_of_the_source_are_known_as_such() {
        let is_struct = |before: &str, ty: &str, language| {
            let parsed = parsed(&format!("{before}\nvoid f({ty} *x) {{}}"), language, DeviceKind::Cpu);
            matches!(parsed.functions[0].params[0].ty, ParamType::Pointer { to: Pointee::Struct(_), .. })
        };
        for (before, ty) in [
            ("struct P { double x; };", "struct P"),
            ("typedef struct { double x; } P;", "P"),
            ("typedef union U U;\ntypedef U V;", "const V"),
            ("#define P struct Q", "P"),
        ] {
            assert!(is_struct(before, ty, Language::C), "{before} {ty}");
        }
        assert!(is_struct("struct P { double x; };", "P", Language::Cpp));
        assert!(is_struct("namespace a { class P {}; }", "a::P", Language::Cpp));
        for (before, ty) in [("", "int_fast32_t"), ("enum c { A };", "enum c"), ("typedef double row[2];", "row"), ("", "P")] {
            assert!(!is_struct(before, ty, Language::C), "{before} {ty}");
        }
        assert!(!is_struct("struct S { typedef float real; };", "S::real", Language::Cpp));
    }

    #[test]
    fn lengths_of_rows_are_numbers_of_c_and_gone_where_they_are_undefined() {
        let rows = |define: &str| signature(&format!("{define}\nvoid f(double x[][N]) {{}}"), Language::C);
        assert_eq!(rows("#define N 010"), "void f(double (*x)[8])");
        assert_eq!(rows("#define N 0x10u"), "void f(double (*x)[16])");
        assert_eq!(rows("#define N 4\n#undef N\nenum { N = 6 };"), "void f(double * x)");
    }

    #[test]
    fn a_function_beside_a_template_of_its_name_is_not_called() {
        let text = "template <class T> void f(T x, int n) { }\nvoid f(double *x, int n) { }";
        assert!(signature(text, Language::Cpp).contains("as a template"));
    }
}
