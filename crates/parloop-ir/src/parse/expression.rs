//! Expressions, by operator precedence:
//! `if else` < `or` < `and` < `not` < `|` < `^` < `&` < comparisons < shifts < `+ -` < `* / // %` < unary `- ~` < `**` < calls and indices.
//!
//! This is Python's order, but bit operators bind as loosely as in C (`a < b | c < d` joins two comparisons). `a < b < c` means `a < b and b < c`.

use std::ops::Range;
use std::sync::Arc;

use parloop_isl::Name;

use super::error::{Mistake, ParseError};
use super::lex::{Kind, Token, is_word, lex};
use super::literal;
use crate::syntax::{BinaryOp, CompareOp, Expr, Literal, SubArray, UnaryOp};

/// Precedence levels; an operator binds tighter than those of a lower level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    If,
    Or,
    And,
    Not,
    BitOr,
    BitXor,
    BitAnd,
    Compare,
    Shift,
    Sum,
    Product,
    Unary,
    Power,
    Postfix,
    Atom,
}

/// The maximum nesting depth of brackets and prefix operators.
const MAX_DEPTH: usize = 100;
/// The maximum depth of an expression tree. A sum or product counts each operator until it is long enough to be kept flat.
const MAX_HEIGHT: usize = 500;

/// An expression, and how deep its tree is.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub expr: Expr,
    pub height: usize,
}

impl Node {
    fn leaf(expr: Expr) -> Node {
        Node { expr, height: 1 }
    }

    fn over(expr: Expr, children: &[usize]) -> Node {
        Node { expr, height: 1 + children.iter().copied().max().unwrap_or(0) }
    }
}

/// Parses an expression.
///
/// ```
/// use parloop_loop::parse::expression;
/// assert_eq!(expression("2*a[i, j+1] if i < n else 0")?.to_string(), "2*a[i, j + 1] if i < n else 0");
/// # Ok::<(), parloop_loop::parse::ParseError>(())
/// ```
///
/// # Errors
/// Reports what was expected and what was found, with the line and a caret.
pub fn expression(text: &str) -> Result<Expr, ParseError> {
    let mut parser = Parser::new(text, 0..text.len())?;
    let node = parser.tuple_or_one()?;
    parser.end()?;
    Ok(node.expr)
}

/// Parses expressions from the tokens of part of a text.
pub(super) struct Parser<'t> {
    pub text: &'t str,
    pub tokens: Vec<Token>,
    pub at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    pub fn new(text: &'t str, within: Range<usize>) -> Result<Parser<'t>, ParseError> {
        Ok(Parser { text, tokens: lex(text, within)?, at: 0, depth: 0 })
    }

    // ---- tokens ----

    pub fn token(&self) -> &Token {
        self.ahead(0)
    }

    pub fn ahead(&self, count: usize) -> &Token {
        self.tokens.get(self.at + count).unwrap_or_else(|| self.tokens.last().expect("invariant: the last token is the end"))
    }

    pub fn source(&self, token: &Token) -> &'t str {
        &self.text[token.span.clone()]
    }

    pub fn is(&self, symbol: &str) -> bool {
        self.is_ahead(0, symbol)
    }

    pub fn is_ahead(&self, count: usize, symbol: &str) -> bool {
        matches!(self.ahead(count).kind, Kind::Symbol(found) if found == symbol)
    }

    fn is_keyword(&self, word: &str) -> bool {
        self.token().kind == Kind::Name && self.source(self.token()) == word
    }

    /// The name at that distance ahead, if it is a name and not a keyword.
    pub fn name_ahead(&self, count: usize) -> Option<&'t str> {
        let token = self.ahead(count);
        (token.kind == Kind::Name).then(|| self.source(token)).filter(|name| !is_word(name))
    }

    pub fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    pub fn accept(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, symbol: &str) -> Result<(), ParseError> {
        if self.accept(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    pub fn expect_name(&mut self, what: &str) -> Result<Name, ParseError> {
        let name = self.name_ahead(0).ok_or_else(|| self.expected(what))?;
        self.advance();
        Ok(name.into())
    }

    pub fn end(&self) -> Result<(), ParseError> {
        if self.token().kind == Kind::End { Ok(()) } else { Err(self.expected("an operator or the end")) }
    }

    pub fn expected(&self, expected: &str) -> ParseError {
        let token = self.token();
        let found = if token.kind == Kind::End { "the end".to_owned() } else { format!("`{}`", self.source(token)) };
        self.mistake(token.span.clone(), Mistake::Expected { expected: expected.to_owned(), found })
    }

    pub fn mistake(&self, span: Range<usize>, mistake: Mistake) -> ParseError {
        ParseError::at(self.text, span, mistake)
    }

    /// The bytes from a token to the one before the current token.
    pub fn span_from(&self, first: usize) -> Range<usize> {
        let start = self.tokens[first].span.start;
        let end = if self.at > first { self.tokens[self.at - 1].span.end } else { start };
        start..end
    }

    fn check_height(&self, node: Node, first: usize) -> Result<Node, ParseError> {
        if node.height > MAX_HEIGHT { Err(self.mistake(self.span_from(first), Mistake::TooDeep { limit: MAX_HEIGHT })) } else { Ok(node) }
    }

    // ---- expressions ----

    /// `a` or `a, b`.
    pub fn tuple_or_one(&mut self) -> Result<Node, ParseError> {
        let first = self.one()?;
        if !self.is(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.accept(",") {
            if matches!(self.token().kind, Kind::End | Kind::Symbol(")" | "]" | "=")) {
                break;
            }
            items.push(self.one()?);
        }
        Ok(tuple(items))
    }

    /// An expression without a comma at its top.
    pub fn one(&mut self) -> Result<Node, ParseError> {
        self.operation(Level::If)
    }

    /// An expression whose operators bind at least that tight.
    pub fn operation(&mut self, least: Level) -> Result<Node, ParseError> {
        if self.depth == MAX_DEPTH {
            return Err(self.mistake(self.token().span.clone(), Mistake::TooDeep { limit: MAX_DEPTH }));
        }
        self.depth += 1;
        let first = self.at;
        let mut left = self.prefix()?;
        while let Some((level, operator)) = self.operator() {
            if level < least {
                break;
            }
            left = self.infix(left, operator)?;
            left = self.check_height(left, first)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operator(&self) -> Option<(Level, Infix)> {
        let token = self.token();
        let word = match token.kind {
            Kind::Symbol(symbol) => symbol,
            Kind::Name => self.source(token),
            _ => return None,
        };
        infix_operator(word)
    }

    fn infix(&mut self, left: Node, operator: Infix) -> Result<Node, ParseError> {
        match operator {
            Infix::Binary(op, right_level) => {
                self.advance();
                let right = self.operation(right_level)?;
                Ok(binary(op, left, right))
            }
            Infix::Compare(_) => self.comparison(left),
            Infix::If => {
                self.advance();
                let condition = self.operation(Level::Or)?;
                if !self.is_keyword("else") {
                    return Err(self.expected("`else`"));
                }
                self.advance();
                let no = self.operation(Level::If)?;
                let heights = [left.height, condition.height, no.height];
                Ok(Node::over(Expr::choose(condition.expr, left.expr, no.expr), &heights))
            }
            Infix::Index => self.subscript(left),
            Infix::Field => {
                self.advance();
                let field = self.expect_name("the name of a field")?;
                Ok(Node::over(Expr::Lookup(Arc::new(left.expr), field), &[left.height]))
            }
            Infix::Call => {
                Err(self.mistake(self.token().span.clone(), Mistake::Other("only functions can be called, by name: `f(x)`".to_owned())))
            }
        }
    }

    /// `a < b`, and `a < b < c` as `a < b and b < c`.
    fn comparison(&mut self, left: Node) -> Result<Node, ParseError> {
        let first = self.at;
        let mut left = left;
        let mut all: Option<Node> = None;
        while let Some((Level::Compare, Infix::Compare(op))) = self.operator() {
            self.advance();
            let right = self.operation(Level::Shift)?;
            let heights = [left.height, right.height];
            let one = Node::over(Expr::compare(op, left.expr, right.expr.clone()), &heights);
            let joined = match all {
                Some(before) => binary(BinaryOp::And, before, one),
                None => one,
            };
            all = Some(self.check_height(joined, first)?);
            left = right;
        }
        Ok(all.unwrap_or(left))
    }

    fn prefix(&mut self) -> Result<Node, ParseError> {
        let token = self.token();
        let source = self.source(token);
        match &token.kind {
            Kind::Number => {
                let number = literal::number(source);
                let number =
                    number.map_err(|reason| self.mistake(token.span.clone(), Mistake::Number { text: source.to_owned(), reason }))?;
                self.advance();
                Ok(Node::leaf(Expr::Literal(number)))
            }
            Kind::Text(content) => {
                let literal = Literal::Text(content.as_str().into());
                self.advance();
                Ok(Node::leaf(Expr::Literal(literal)))
            }
            Kind::Name => self.named(source),
            Kind::Symbol("-") => self.negative(),
            Kind::Symbol("+") => {
                self.advance();
                self.operation(Level::Unary)
            }
            Kind::Symbol("~") => self.unary(UnaryOp::BitNot, Level::Unary),
            Kind::Symbol("(") => self.parenthesis(),
            Kind::Symbol("[") => self.sub_array(),
            Kind::Symbol("@") => {
                self.advance();
                let name = self.expect_name("the name of a function")?;
                if !self.is("(") {
                    return Err(self.expected("`(`"));
                }
                self.plain_call(name, true)
            }
            _ => Err(self.expected("an expression")),
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: Level) -> Result<Node, ParseError> {
        self.advance();
        let operand = self.operation(operand)?;
        Ok(Node::over(Expr::Unary(op, Arc::new(operand.expr)), &[operand.height]))
    }

    /// `-e`; in front of a bare number it is the number's sign.
    fn negative(&mut self) -> Result<Node, ParseError> {
        let bare = !matches!(self.ahead(1).kind, Kind::Symbol(_));
        let node = self.unary(UnaryOp::Negate, Level::Unary)?;
        if bare
            && let Expr::Unary(_, operand) = &node.expr
            && let Expr::Literal(number) = &**operand
            && let Some(negated) = literal::negated(number)
        {
            return Ok(Node::leaf(Expr::Literal(negated)));
        }
        Ok(node)
    }

    /// An expression that begins with a word.
    fn named(&mut self, source: &'t str) -> Result<Node, ParseError> {
        match source {
            "True" | "False" => {
                self.advance();
                Ok(Node::leaf(Expr::Literal(Literal::Bool(source == "True"))))
            }
            "not" => self.unary(UnaryOp::Not, Level::Not),
            "if" if self.is_ahead(1, "(") => self.function("if"),
            "and" | "or" | "else" | "if" => Err(self.expected("an expression")),
            _ if self.is_ahead(1, "(") => self.function(source),
            "np" if self.is_ahead(1, ".") => self.numpy_literal(),
            _ => {
                self.advance();
                Ok(Node::leaf(Expr::var(source)))
            }
        }
    }

    /// `(e)`, `(a, b)`, `(a,)`, `()`.
    fn parenthesis(&mut self) -> Result<Node, ParseError> {
        self.advance();
        if self.accept(")") {
            return Ok(tuple(Vec::new()));
        }
        let inner = self.tuple_or_one()?;
        self.expect(")")?;
        Ok(inner)
    }

    /// `[i, j]: a[i, j]`.
    fn sub_array(&mut self) -> Result<Node, ParseError> {
        self.advance();
        let inames = self.names_until("]", "the name of an iname")?;
        if !self.is(":") {
            return Err(self.expected("`:` and a part of an array, as in `[i, j]: a[i, j]`"));
        }
        self.advance();
        let first = self.at;
        let array = self.expect_name("the name of an array")?;
        if !self.is("[") || self.is_linear() {
            return Err(self.expected("`[` and one index for each axis"));
        }
        let element = self.subscript(Node::leaf(Expr::Variable(array.clone())))?;
        match element.expr {
            Expr::Subscript(_, indices) => {
                let part = SubArray { inames, array, indices: indices.to_vec() };
                Ok(Node { expr: Expr::SubArray(Arc::new(part)), height: element.height })
            }
            _ => Err(self.mistake(self.span_from(first), Mistake::Other("a part of an array is written `[i]: a[i, j]`".to_owned()))),
        }
    }

    /// Names separated by commas, up to and including the closing symbol.
    pub fn names_until(&mut self, close: &str, what: &str) -> Result<Vec<Name>, ParseError> {
        let mut names = Vec::new();
        while !self.accept(close) {
            names.push(self.expect_name(what)?);
            if !self.accept(",") && !self.is(close) {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
        Ok(names)
    }

    /// Whether `[[` follows, without a space.
    fn is_linear(&self) -> bool {
        self.is("[") && self.is_ahead(1, "[") && self.token().span.end == self.ahead(1).span.start
    }

    /// `a[i, j]`, `a[[e]]`.
    fn subscript(&mut self, aggregate: Node) -> Result<Node, ParseError> {
        if self.is_linear() {
            self.advance();
            self.advance();
            let index = self.one()?;
            self.expect("]")?;
            self.expect("]")?;
            let heights = [aggregate.height, index.height];
            return Ok(Node::over(Expr::LinearSubscript(Arc::new(aggregate.expr), Arc::new(index.expr)), &heights));
        }
        self.advance();
        if self.is("]") {
            return Err(self.expected("an index"));
        }
        let mut height = aggregate.height;
        let mut indices = Vec::new();
        while !self.accept("]") {
            let index = self.index()?;
            height = height.max(index.height);
            indices.push(index.expr);
            if !self.accept(",") && !self.is("]") {
                return Err(self.expected("`,` or `]`"));
            }
        }
        // As in Python, `a[(i, j)]` is `a[i, j]`; `a[()]` is the element of an array without axes.
        if let [Expr::Tuple(items)] = &indices[..] {
            indices = items.to_vec();
        }
        Ok(Node { expr: Expr::Subscript(Arc::new(aggregate.expr), indices.into()), height: height + 1 })
    }

    /// `e` or `start:stop:step`.
    fn index(&mut self) -> Result<Node, ParseError> {
        if !self.is(":") {
            let first = self.one()?;
            return if self.is(":") { self.slice(Some(first)) } else { Ok(first) };
        }
        self.slice(None)
    }

    /// `:stop:step` after a start.
    fn slice(&mut self, start: Option<Node>) -> Result<Node, ParseError> {
        let mut height = start.as_ref().map_or(0, |start| start.height);
        let mut parts: [Option<Expr>; 3] = [start.map(|start| start.expr), None, None];
        for part in &mut parts[1..] {
            if self.accept(":") && !matches!(self.token().kind, Kind::Symbol(":" | "," | "]")) {
                let node = self.one()?;
                height = height.max(node.height);
                *part = Some(node.expr);
            }
        }
        Ok(Node { expr: Expr::Slice(Arc::new(parts)), height: height + 1 })
    }
}

fn binary(op: BinaryOp, left: Node, right: Node) -> Node {
    let (heights, was_chain) = ([left.height, right.height], matches!(left.expr, Expr::Chain(_)));
    let expr = Expr::binary(op, left.expr, right.expr);
    match &expr {
        Expr::Chain(_) if was_chain => Node { expr, height: heights[0].max(heights[1] + 1) },
        Expr::Chain(_) => Node { height: height(&expr), expr },
        _ => Node::over(expr, &heights),
    }
}

fn height(expr: &Expr) -> usize {
    1 + expr.children().into_iter().map(height).max().unwrap_or(0)
}

fn tuple(items: Vec<Node>) -> Node {
    let height = items.iter().map(|item| item.height).max().unwrap_or(0) + 1;
    Node { expr: Expr::Tuple(items.into_iter().map(|item| item.expr).collect()), height }
}

/// What can follow an operand.
#[derive(Clone, Copy)]
enum Infix {
    /// With the minimum level of its right operand.
    Binary(BinaryOp, Level),
    Compare(CompareOp),
    If,
    Index,
    Field,
    Call,
}

fn infix_operator(word: &str) -> Option<(Level, Infix)> {
    use BinaryOp::*;
    Some(match word {
        "if" => (Level::If, Infix::If),
        "or" => (Level::Or, Infix::Binary(Or, Level::And)),
        "and" => (Level::And, Infix::Binary(And, Level::Not)),
        "|" => (Level::BitOr, Infix::Binary(BitOr, Level::BitXor)),
        "^" => (Level::BitXor, Infix::Binary(BitXor, Level::BitAnd)),
        "&" => (Level::BitAnd, Infix::Binary(BitAnd, Level::Compare)),
        "==" => (Level::Compare, Infix::Compare(CompareOp::Equal)),
        "!=" => (Level::Compare, Infix::Compare(CompareOp::NotEqual)),
        "<" => (Level::Compare, Infix::Compare(CompareOp::Less)),
        "<=" => (Level::Compare, Infix::Compare(CompareOp::LessEqual)),
        ">" => (Level::Compare, Infix::Compare(CompareOp::Greater)),
        ">=" => (Level::Compare, Infix::Compare(CompareOp::GreaterEqual)),
        "<<" => (Level::Shift, Infix::Binary(ShiftLeft, Level::Sum)),
        ">>" => (Level::Shift, Infix::Binary(ShiftRight, Level::Sum)),
        "+" => (Level::Sum, Infix::Binary(Add, Level::Product)),
        "-" => (Level::Sum, Infix::Binary(Subtract, Level::Product)),
        "*" => (Level::Product, Infix::Binary(Multiply, Level::Unary)),
        "/" => (Level::Product, Infix::Binary(Divide, Level::Unary)),
        "//" => (Level::Product, Infix::Binary(FloorDivide, Level::Unary)),
        "%" => (Level::Product, Infix::Binary(Modulo, Level::Unary)),
        "**" => (Level::Power, Infix::Binary(Power, Level::Unary)),
        "[" => (Level::Postfix, Infix::Index),
        "." => (Level::Postfix, Infix::Field),
        "(" => (Level::Postfix, Infix::Call),
        _ => return None,
    })
}
