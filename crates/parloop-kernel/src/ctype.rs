//! Scalar types in C: every spelling of each, through the source's own names for them.

use std::collections::{HashMap, HashSet};

use parloop_device::DType;

/// Names that the source gives to types, by `typedef` and `#define`.
#[derive(Debug, Default)]
pub(crate) struct TypeNames(HashMap<String, Meanings>);

/// What a name stands for: more than one thing where conditions of the preprocessor decide.
#[derive(Debug, Default)]
struct Meanings {
    /// By the arguments of the compiler.
    given: Option<Vec<String>>,
    /// By the source: words, none of them for what is not a name of a scalar type.
    found: Vec<Vec<String>>,
    /// Whether the source defines it in every case.
    is_certain: bool,
}

/// Where a definition of a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefinitionKind {
    /// In the source.
    Certain,
    /// In the source, in a block that may not be compiled.
    Conditional,
    /// Among the arguments of the compiler.
    Argument,
}

impl TypeNames {
    /// The names that arguments of the compiler define: `-Dreal=float`.
    pub(crate) fn given(arguments: &[String]) -> TypeNames {
        let mut names = TypeNames::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let definition = match argument.strip_prefix("-D") {
                Some("") => arguments.next().map(String::as_str),
                definition => definition,
            };
            if let Some((name, value)) = definition.map(|text| text.split_once('=').unwrap_or((text, "1"))) {
                names.add_macro(name.to_owned(), value, DefinitionKind::Argument);
            }
        }
        names
    }

    /// From here on `name` stands for the words of `ty`, or may do so.
    pub(crate) fn add(&mut self, name: String, ty: &str, place: DefinitionKind) {
        self.add_words(name, words(ty), place);
    }

    /// As [`add`](Self::add), of a macro, which may stand for a pointer.
    pub(crate) fn add_macro(&mut self, name: String, value: &str, place: DefinitionKind) {
        let star = value.contains('*').then(|| POINTER.to_owned());
        let star = star.or_else(|| value.trim().is_empty().then(|| NOTHING.to_owned()));
        self.add_words(name, words(value).into_iter().chain(star).collect(), place);
    }

    fn add_words(&mut self, name: String, words: Vec<String>, place: DefinitionKind) {
        let meanings = self.0.entry(name).or_default();
        match place {
            DefinitionKind::Argument => meanings.given = Some(words),
            DefinitionKind::Certain => (meanings.found, meanings.is_certain) = (vec![words], true),
            DefinitionKind::Conditional if meanings.found.contains(&words) => {}
            DefinitionKind::Conditional => meanings.found.push(words),
        }
    }

    /// The number that `name` stands for; `None` where there is more than one.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        let number = |words: &Vec<String>| match words.as_slice() {
            [word] => integer(word).and_then(|number| u64::try_from(number).ok()),
            _ => None,
        };
        let meanings = self.0.get(name)?;
        let mut all = meanings.given.iter().chain(&meanings.found).map(number);
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)?
    }

    /// From here on `name` stands for nothing that is known.
    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(meanings) = self.0.get_mut(name) {
            meanings.found = vec![Vec::new()];
        }
    }

    /// Whether the source or an argument gives a name a meaning.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether a name is a macro that stands for `const`, wherever it is used.
    pub(crate) fn is_const_macro(&self, name: &str) -> bool {
        let is_const = |words: &Vec<String>| matches!(&words[..], [word] if word == "const");
        self.0.get(name).is_some_and(|meanings| meanings.is_certain && meanings.given.iter().chain(&meanings.found).all(is_const))
    }

    /// Whether a name is a macro that stands for nothing at all, wherever it is used.
    pub(crate) fn is_empty_macro(&self, name: &str) -> bool {
        let is_empty = |words: &Vec<String>| matches!(&words[..], [word] if word == NOTHING);
        self.0.get(name).is_some_and(|meanings| meanings.is_certain && meanings.given.iter().chain(&meanings.found).all(is_empty))
    }

    /// Whether a name stands for a pointer, or may do so.
    pub(crate) fn is_pointer(&self, name: &str) -> bool {
        let meanings = self.0.get(name).into_iter().flat_map(|meanings| meanings.given.iter().chain(&meanings.found));
        meanings.flatten().any(|word| word == POINTER)
    }

    /// Whether these specifiers say a struct or union of the source, in every case.
    pub(crate) fn is_struct(&self, specifiers: &[String]) -> bool {
        let is_word = |word: &String| matches!(word.as_str(), "struct" | "union" | "class");
        let (mut seen, mut open) = (HashSet::new(), vec![specifiers]);
        while let Some(words) = open.pop() {
            if words.iter().any(is_word) {
                continue;
            }
            let mut names = unqualified(words);
            let meanings = names.next().filter(|name| names.next().is_none() && seen.insert(*name)).and_then(|name| self.0.get(name));
            let Some(meanings) = meanings.filter(|meanings| meanings.is_certain) else { return false };
            open.extend(meanings.given.iter().chain(&meanings.found).map(Vec::as_slice));
        }
        true
    }

    /// The type that these specifiers say; `None` when it is not a scalar.
    ///
    /// # Errors
    /// The name of a type that conditions give more than one meaning, or of a macro that stands for a pointer.
    pub(crate) fn scalar<'s>(&self, specifiers: &'s [String]) -> Result<Option<Scalar>, &'s str> {
        let mut all = Vec::new();
        let (mut seen, mut open) = (HashSet::new(), vec![(specifiers, None)]);
        while let Some((words, fallback)) = open.pop() {
            let own = plain(words).or(fallback);
            // The source's own meaning of a word goes before that of C, as in `#define double float`.
            let mut names = unqualified(words);
            let meanings = names.next().filter(|name| names.next().is_none() && seen.insert(*name)).and_then(|name| self.0.get(name));
            let Some(meanings) = meanings else {
                all.push(own);
                continue;
            };
            open.extend(meanings.given.iter().chain(&meanings.found).map(|words| (words.as_slice(), own)));
            if !meanings.is_certain && own.is_some() {
                all.push(own);
            }
        }
        if let Some(name) = unqualified(specifiers).find(|name| self.is_pointer(name)) {
            return Err(name);
        }
        let first = all.first().copied().flatten();
        match all.iter().all(|other| *other == first) {
            true => Ok(first),
            false => Err(unqualified(specifiers).next().unwrap_or("int")),
        }
    }
}

/// The names of integer types, word by word.
pub(crate) const INTEGERS: [&str; 24] = [
    "char",
    "short",
    "int",
    "long",
    "unsigned",
    "signed",
    "bool",
    "_Bool",
    "size_t",
    "ptrdiff_t",
    "intptr_t",
    "uintptr_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint",
    "ulong",
    "uchar",
    "ushort",
];

/// The word of a macro that stands for nothing.
const NOTHING: &str = "";

/// The word of a macro that stands for a pointer.
const POINTER: &str = "*";

/// The words of a type that say which it is.
fn unqualified(specifiers: &[String]) -> impl Iterator<Item = &str> {
    const IGNORED: [&str; 9] = ["const", "volatile", "restrict", "static", "inline", "register", "extern", "int", "std"];
    specifiers.iter().map(String::as_str).filter(|word| !IGNORED.contains(word))
}

/// What these specifiers say in C.
pub(crate) fn plain(specifiers: &[String]) -> Option<Scalar> {
    let mut names: Vec<&str> = unqualified(specifiers).collect();
    if names.is_empty() {
        return specifiers.iter().any(|word| word == "int").then_some(Scalar::Value(DType::I32));
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
        ["complex", "float"] => DType::C64,
        ["complex", "double"] => DType::C128,
        _ => return None,
    };
    Some(Scalar::Value(dtype))
}

/// Whether this is the one word that `mask` makes of the two of a complex type.
fn is_complex(name: &str, part: &str) -> bool {
    let rest = name.strip_prefix(part).or_else(|| name.strip_suffix(part));
    rest.is_some_and(|rest| matches!(rest.trim_matches('_'), "complex" | "Complex") && rest.contains("_"))
}

/// What a type is to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Void,
    Char,
    Value(DType),
}

/// A number in C: decimal, octal or hexadecimal.
pub(crate) fn integer(word: &str) -> Option<i64> {
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None if digits.len() > 1 && digits.starts_with('0') => i64::from_str_radix(digits, 8).ok(),
        None => digits.parse().ok(),
    }
}

/// The identifiers, keywords and numbers of a text.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
