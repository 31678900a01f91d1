//! A text of instructions: statements and the blocks `for`, `if`, `with` around them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use parloop_isl::Name;

use super::draft::Parsed;
use super::error::{Mistake, ParseError};
use super::expression::Parser;
use super::lex::is_name_byte;
use super::lines::{Line, lines};
use super::options::{OptionPosition, Options};
use super::statement::{Statement, no_tail, statement};
use crate::syntax::{Expr, TrustedC, UnaryOp};

/// The maximum nesting depth of blocks.
const MAX_BLOCKS: usize = 100;

/// Parses instructions, one per line. A line continues while a bracket is open; `#` begins a comment.
///
/// ```
/// let parsed = parloop_loop::parse::instructions("
///     for i
///         <> x = 2*a[i]    {id=double}
///         if x > limit
///             a[i] = limit {dep=double}
///         end
///     end
/// ")?;
/// assert_eq!(parsed.drafts.len(), 2);
/// assert_eq!(parsed.drafts[1].predicates.first().unwrap().to_string(), "x > limit");
/// # Ok::<(), parloop_loop::parse::ParseError>(())
/// ```
///
/// # Errors
/// Reports what was expected and what was found, with the line and a caret. C code is refused; see [`instructions_with`].
pub fn instructions(text: &str) -> Result<Parsed, ParseError> {
    instructions_with(text, None)
}

/// Parses instructions, which may be C code where that is promised to be right.
///
/// # Errors
/// As [`instructions`].
pub fn instructions_with(text: &str, c: Option<TrustedC>) -> Result<Parsed, ParseError> {
    let lines = lines(text)?;
    let mut reader = Reader { text: &lines.clean, c, parsed: Parsed::default(), options: Options::default(), blocks: Vec::new() };
    // Errors are shown in the original text with its comments.
    lines.lines.iter().try_for_each(|line| reader.line(line)).map_err(|error| error.within(text, 0))?;
    match reader.blocks.pop() {
        Some(block) => {
            Err(ParseError::at(text, block.span, Mistake::Unclosed { open: block.kind.word().to_owned(), close: "end".to_owned() }))
        }
        None => Ok(reader.parsed),
    }
}

enum BlockKind {
    For,
    With,
    /// With the conditions that are false where its current branch runs.
    If {
        tried: Vec<Expr>,
    },
    Else,
}

impl BlockKind {
    fn word(&self) -> &'static str {
        match self {
            BlockKind::For => "for",
            BlockKind::With => "with",
            BlockKind::If { .. } => "if",
            BlockKind::Else => "else",
        }
    }
}

struct Block {
    kind: BlockKind,
    span: Range<usize>,
    /// The options around it.
    outer: Options,
}

struct Reader<'t> {
    text: &'t str,
    c: Option<TrustedC>,
    parsed: Parsed,
    options: Options,
    blocks: Vec<Block>,
}

impl Reader<'_> {
    fn line(&mut self, line: &Line) -> Result<(), ParseError> {
        let head = &self.text[line.head.clone()];
        let length = head.bytes().take_while(is_name_byte).count();
        let (word, rest) = head.split_at(length);
        let rest_span = line.head.start + length..line.head.end;
        match word {
            "with" if rest.is_empty() && line.options.is_some() => self.with(line),
            "for" if rest.trim_start().is_empty() || rest.starts_with([' ', '\t']) && !rest.contains('=') => self.for_loop(line, rest_span),
            "if" => self.if_block(line, rest_span),
            "elif" => self.elif_block(line, rest_span),
            "else" if rest.trim().is_empty() => self.else_block(line),
            "end" if rest.is_empty() => self.end_block(line),
            _ => self.statement(line),
        }
    }

    fn mistake(&self, span: Range<usize>, mistake: Mistake) -> ParseError {
        ParseError::at(self.text, span, mistake)
    }

    fn statement(&mut self, line: &Line) -> Result<(), ParseError> {
        match statement(self.text, line, &self.options, self.c)? {
            Statement::Instruction(draft) => self.parsed.drafts.push(*draft),
            Statement::Substitution(rule, span) => {
                if self.parsed.substitutions.iter().any(|other| other.name == rule.name) {
                    return Err(self.mistake(span, Mistake::Twice { what: "substitution rule", name: rule.name.to_string() }));
                }
                self.parsed.substitutions.push(rule);
            }
        }
        Ok(())
    }

    fn open(&mut self, kind: BlockKind, line: &Line) -> Result<(), ParseError> {
        if self.blocks.len() == MAX_BLOCKS {
            let mistake = Mistake::Other(format!("blocks are nested more than {MAX_BLOCKS} levels deep"));
            return Err(self.mistake(line.head.clone(), mistake));
        }
        self.blocks.push(Block { kind, span: line.head.clone(), outer: self.options.clone() });
        Ok(())
    }

    /// A line of a block other than `with` takes no options.
    fn no_options(&self, line: &Line) -> Result<(), ParseError> {
        match &line.options {
            Some(options) => {
                let mistake = Mistake::Other("this line takes no options; put a `with {…}` block around it".to_owned());
                Err(self.mistake(options.start - 1..options.end + 1, mistake))
            }
            None => Ok(()),
        }
    }

    fn with(&mut self, line: &Line) -> Result<(), ParseError> {
        no_tail(self.text, line)?;
        self.open(BlockKind::With, line)?;
        let options = line.options.clone().unwrap_or(line.head.end..line.head.end);
        self.options.read(self.text, options, OptionPosition::With)
    }

    fn for_loop(&mut self, line: &Line, rest: Range<usize>) -> Result<(), ParseError> {
        self.no_options(line)?;
        let mut parser = Parser::new(self.text, rest)?;
        let mut inames: BTreeSet<Name> = BTreeSet::new();
        loop {
            inames.insert(parser.expect_name("the name of an iname")?);
            if !parser.accept(",") {
                break;
            }
        }
        parser.end().map_err(|_| parser.expected("`,` or the end of the line"))?;
        self.open(BlockKind::For, line)?;
        self.options.add_loops(inames);
        Ok(())
    }

    fn condition(&self, line: &Line, rest: Range<usize>) -> Result<Expr, ParseError> {
        self.no_options(line)?;
        let mut parser = Parser::new(self.text, rest)?;
        let condition = parser.one()?.expr;
        parser.end()?;
        Ok(condition)
    }

    fn if_block(&mut self, line: &Line, rest: Range<usize>) -> Result<(), ParseError> {
        let condition = self.condition(line, rest)?;
        self.open(BlockKind::If { tried: vec![condition.clone()] }, line)?;
        self.options.predicates.insert(condition);
        Ok(())
    }

    fn elif_block(&mut self, line: &Line, rest: Range<usize>) -> Result<(), ParseError> {
        let condition = self.condition(line, rest)?;
        let mut tried = self.next_part("elif", line)?;
        self.options.predicates.insert(condition.clone());
        tried.push(condition);
        if let Some(block) = self.blocks.last_mut() {
            block.kind = BlockKind::If { tried };
        }
        Ok(())
    }

    fn else_block(&mut self, line: &Line) -> Result<(), ParseError> {
        self.no_options(line)?;
        self.next_part("else", line)?;
        Ok(())
    }

    /// Moves from one branch of an `if` to the next, where all conditions before are false; returns those.
    fn next_part(&mut self, word: &'static str, line: &Line) -> Result<Vec<Expr>, ParseError> {
        let (text, head) = (self.text, line.head.clone());
        let no_if = |inside| ParseError::at(text, head, Mistake::NoIf { word, inside });
        let Some(block) = self.blocks.last_mut() else { return Err(no_if("none")) };
        let tried = match std::mem::replace(&mut block.kind, BlockKind::Else) {
            BlockKind::If { tried } => tried,
            BlockKind::For => return Err(no_if("`for`")),
            BlockKind::With => return Err(no_if("`with`")),
            BlockKind::Else => return Err(no_if("`else`")),
        };
        self.options = block.outer.clone();
        self.options.predicates.extend(tried.iter().map(|condition| Expr::Unary(UnaryOp::Not, Arc::new(condition.clone()))));
        Ok(tried)
    }

    fn end_block(&mut self, line: &Line) -> Result<(), ParseError> {
        self.no_options(line)?;
        match self.blocks.pop() {
            Some(block) => {
                self.options = block.outer;
                Ok(())
            }
            None => Err(self.mistake(line.head.clone(), Mistake::Unopened { close: "end".to_owned() })),
        }
    }
}
