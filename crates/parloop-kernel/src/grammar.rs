//! The trees that tree-sitter makes of sources, by their language.

use parloop_device::Language;
use tree_sitter::{Parser, Range, Tree};

/// The tree of a text whose macros are blanked.
pub(crate) fn tree(text: &[u8], language: Language) -> Tree {
    parser(language).parse(text, None).expect("invariant: a parser with a language and no time limit returns a tree")
}

/// The tree of some parts of such a text; `None` where they are not in order.
pub(crate) fn tree_of(parts: &[Range], text: &[u8], language: Language) -> Option<Tree> {
    let mut parser = parser(language);
    parser.set_included_ranges(parts).ok()?;
    parser.parse(text, None)
}

fn parser(language: Language) -> Parser {
    let mut parser = Parser::new();
    let grammar = match language {
        Language::C => tree_sitter_c::LANGUAGE,
        Language::Cpp => tree_sitter_cpp::LANGUAGE,
    };
    parser.set_language(&grammar.into()).expect("invariant: the grammars are built for this tree-sitter");
    parser
}
