//! Scalar types in C: every spelling of each, through the source's own names for them.

use std::collections::HashMap;

use parloop_device::DType;

/// Names that the source gives to types, by `typedef` and `#define`.
#[derive(Debug, Default)]
pub(crate) struct TypeNames(HashMap<String, Vec<String>>);

impl TypeNames {
    /// From here on `name` stands for the words of `ty`.
    pub(crate) fn add(&mut self, name: String, ty: &str) {
        self.0.insert(name, words(ty));
    }

    /// The number that `name` stands for.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        match self.0.get(name)?.as_slice() {
            [word] => word.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok(),
            _ => None,
        }
    }

    /// The type that these specifiers say; `None` when it is no scalar.
    pub(crate) fn scalar(&self, specifiers: &[String]) -> Option<Scalar> {
        self.scalar_within(specifiers, 16)
    }

    /// `steps` ends names that stand for each other in a circle.
    fn scalar_within(&self, specifiers: &[String], steps: usize) -> Option<Scalar> {
        const IGNORED: [&str; 8] = ["const", "volatile", "restrict", "static", "inline", "register", "extern", "int"];
        let mut names: Vec<&str> = specifiers.iter().map(String::as_str).filter(|word| !IGNORED.contains(word)).collect();
        if names.is_empty() {
            return specifiers.iter().any(|word| word == "int").then_some(Scalar::Value(DType::I32));
        }
        // The source's own meaning of a word goes before that of C, as in `#define double float`.
        if let [name] = *names
            && steps > 0
            && let Some(found) = self.0.get(name).and_then(|words| self.scalar_within(words, steps - 1))
        {
            return Some(found);
        }
        names.sort_unstable();
        let dtype = match *names {
            ["void"] => return Some(Scalar::Void),
            ["char"] => return Some(Scalar::Char),
            ["bool"] | ["_Bool"] => DType::Bool,
            ["int8_t"] | ["char", "signed"] => DType::I8,
            ["int16_t"] | ["short"] | ["short", "signed"] => DType::I16,
            ["int32_t"] | ["signed"] => DType::I32,
            ["int64_t"] | ["long"] | ["long", "long"] | ["long", "signed"] | ["long", "long", "signed"] => DType::I64,
            ["ssize_t"] | ["ptrdiff_t"] | ["intptr_t"] => DType::I64,
            ["uint8_t"] | ["char", "unsigned"] | ["uchar"] => DType::U8,
            ["uint16_t"] | ["short", "unsigned"] | ["ushort"] => DType::U16,
            ["uint32_t"] | ["unsigned"] | ["uint"] => DType::U32,
            ["uint64_t"] | ["long", "unsigned"] | ["long", "long", "unsigned"] | ["ulong"] => DType::U64,
            ["size_t"] | ["uintptr_t"] => DType::U64,
            ["float"] => DType::F32,
            ["double"] => DType::F64,
            [name] if is_complex(name, "float") => DType::C64,
            [name] if is_complex(name, "double") => DType::C128,
            _ => return None,
        };
        Some(Scalar::Value(dtype))
    }
}

/// Whether this is the one word that `mask` makes of the two of a complex type.
fn is_complex(name: &str, part: &str) -> bool {
    let rest = name.strip_prefix(part).or_else(|| name.strip_suffix(part));
    rest.is_some_and(|rest| matches!(rest.trim_matches('_'), "complex" | "Complex") && rest.contains("_"))
}

/// What a type is to a caller.
#[derive(Debug, PartialEq)]
pub(crate) enum Scalar {
    Void,
    Char,
    Value(DType),
}

/// The identifiers, keywords and numbers of a text.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
