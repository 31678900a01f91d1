//! Calls, and expressions that look like calls: reductions, `cast`, `cse`, `if`, `minimum`, `maximum`, `np.float32(…)`.

use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::Name;

use super::error::{Mistake, ParseError};
use super::expression::{Node, Parser};
use super::lex::Kind;
use super::types::{nearest_type, type_name};
use crate::syntax::{Call, Expr, Literal, OpaqueType, RecordField, RecordType, Reduction, ReductionOp, Type};

/// The type that a text names: `float32`, `float32x4`, `record("point", 8, x: float32 at 0, y: float32 at 4)`.
///
/// ```
/// use parloop_loop::parse::type_text;
/// assert_eq!(type_text("uint2")?.to_string(), "uint32x2");
/// assert_eq!(type_text("record(\"p\", 4, x: float32 at 0)")?.size(), Some(4));
/// # Ok::<(), parloop_loop::parse::ParseError>(())
/// ```
///
/// # Errors
/// [`ParseError`] for a text that is not a type.
pub fn type_text(text: &str) -> Result<Type, ParseError> {
    let mut parser = Parser::new(text, 0..text.len())?;
    let ty = parser.type_argument()?;
    parser.end()?;
    Ok(ty)
}

/// The named reductions.
pub(crate) const REDUCTIONS: [(&str, ReductionOp); 10] = [
    ("sum", ReductionOp::Sum),
    ("product", ReductionOp::Product),
    ("max", ReductionOp::Max),
    ("min", ReductionOp::Min),
    ("any", ReductionOp::Any),
    ("all", ReductionOp::All),
    ("argmax", ReductionOp::ArgMax),
    ("argmin", ReductionOp::ArgMin),
    ("segmented_sum", ReductionOp::SegmentedSum),
    ("segmented_product", ReductionOp::SegmentedProduct),
];

/// The number of expressions a reduction takes, if fixed.
pub(crate) fn operand_count(op: &ReductionOp) -> Option<usize> {
    match op {
        ReductionOp::Sum | ReductionOp::Product | ReductionOp::Max | ReductionOp::Min | ReductionOp::Any | ReductionOp::All => Some(1),
        ReductionOp::ArgMax | ReductionOp::ArgMin | ReductionOp::SegmentedSum | ReductionOp::SegmentedProduct => Some(2),
        ReductionOp::Custom(_) => None,
    }
}

fn reduction_named(name: &str) -> Option<ReductionOp> {
    REDUCTIONS.iter().find(|(known, _)| *known == name).map(|(_, op)| op.clone())
}

type Keywords = Vec<(Name, Expr)>;

impl Parser<'_> {
    /// `name(…)`; the current token is the name.
    pub(super) fn function(&mut self, name: &str) -> Result<Node, ParseError> {
        match name {
            "cast" => self.cast(),
            "cse" => self.common_subexpression(),
            "if" => self.choice(),
            "minimum" | "maximum" => {
                let first = self.at;
                let args = self.positional(name)?;
                if args.is_empty() {
                    return Err(self.argument_count(first, name, "at least one argument", 0));
                }
                Ok(extremum(name == "maximum", args))
            }
            "max" | "min" => self.max_or_min(name),
            "reduce" | "simul_reduce" => self.reduce(name == "simul_reduce"),
            _ => match reduction_named(name) {
                Some(op) => self.named_reduction(name, op),
                None => {
                    self.advance();
                    self.plain_call(name.into(), false)
                }
            },
        }
    }

    /// `(…)` after the name of a function.
    pub(super) fn plain_call(&mut self, function: Name, resolved: bool) -> Result<Node, ParseError> {
        let (args, keywords, height) = self.arguments()?;
        Ok(Node { expr: Expr::Call(Arc::new(Call { function, resolved, args, keywords })), height: height + 1 })
    }

    fn arguments(&mut self) -> Result<(Vec<Expr>, Keywords, usize), ParseError> {
        self.expect("(")?;
        let (mut args, mut keywords, mut height) = (Vec::new(), Keywords::new(), 0);
        while !self.accept(")") {
            if let Some(keyword) = self.name_ahead(0).filter(|_| self.is_ahead(1, "=")) {
                if keywords.iter().any(|(name, _)| name == keyword) {
                    return Err(self.mistake(self.token().span.clone(), Mistake::Twice { what: "argument", name: keyword.to_owned() }));
                }
                self.advance();
                self.advance();
                let value = self.one()?;
                height = height.max(value.height);
                keywords.push((keyword.into(), value.expr));
            } else if keywords.is_empty() {
                let value = self.one()?;
                height = height.max(value.height);
                args.push(value.expr);
            } else {
                return Err(self.expected("a keyword argument, since the one before it is a keyword argument"));
            }
            if !self.accept(",") && !self.is(")") {
                return Err(self.expected("`,` or `)`"));
            }
        }
        Ok((args, keywords, height))
    }

    /// Positional arguments of a function that takes no others; the current token is its name.
    fn positional(&mut self, name: &str) -> Result<Vec<Node>, ParseError> {
        let first = self.at;
        self.advance();
        self.expect("(")?;
        self.positional_rest(first, name)
    }

    /// The arguments from here to `)`, of a function whose name is at the token `first`.
    fn positional_rest(&mut self, first: usize, name: &str) -> Result<Vec<Node>, ParseError> {
        let mut args = Vec::new();
        while !self.accept(")") {
            if self.name_ahead(0).is_some() && self.is_ahead(1, "=") {
                return Err(self.mistake(
                    self.tokens[first].span.clone(),
                    Mistake::Arguments {
                        function: name.to_owned(),
                        expected: "positional arguments only".to_owned(),
                        found: format!("`{}` as a keyword", self.source(self.token())),
                    },
                ));
            }
            args.push(self.one()?);
            if !self.accept(",") && !self.is(")") {
                return Err(self.expected("`,` or `)`"));
            }
        }
        Ok(args)
    }

    fn argument_count(&self, first: usize, function: &str, expected: &str, found: usize) -> ParseError {
        let mistake = Mistake::Arguments { function: function.to_owned(), expected: expected.to_owned(), found: found.to_string() };
        self.mistake(self.span_from(first), mistake)
    }

    /// `if(condition, a, b)`.
    fn choice(&mut self) -> Result<Node, ParseError> {
        let first = self.at;
        let args = self.positional("if")?;
        let height = max_height(&args) + 1;
        match <[Node; 3]>::try_from(args) {
            Ok([condition, yes, no]) => Ok(Node { expr: Expr::choose(condition.expr, yes.expr, no.expr), height }),
            Err(args) => Err(self.argument_count(first, "if", "3 arguments: condition, value, other value", args.len())),
        }
    }

    /// `cast(float32, e)`.
    fn cast(&mut self) -> Result<Node, ParseError> {
        self.advance();
        self.expect("(")?;
        let ty = self.type_argument()?;
        self.expect(",")?;
        let value = self.one()?;
        self.accept(",");
        self.expect(")")?;
        Ok(Node { expr: Expr::Cast(ty, Arc::new(value.expr)), height: value.height + 1 })
    }

    /// `record("point", 16, x: float64 at 0, y: float64 at 8)`.
    fn record(&mut self) -> Result<Type, ParseError> {
        let start = self.token().span.start;
        self.advance();
        self.expect("(")?;
        let name = match &self.token().kind {
            Kind::Text(content) => Name::from(content.as_str()),
            _ => return Err(self.expected("the name of the record in quotes")),
        };
        self.advance();
        self.expect(",")?;
        let size = self.byte_count()?;
        let mut fields = Vec::new();
        while self.accept(",") {
            let name = self.expect_name("the name of a field")?;
            self.expect(":")?;
            let token = self.token().clone();
            let ty = self.type_argument()?;
            let Some(dtype) = ty.scalar() else {
                return Err(self.mistake(token.span, Mistake::Record { reason: format!("field `{name}` must be a number, not {ty}") }));
            };
            if self.name_ahead(0) != Some("at") {
                return Err(self.expected("`at` and the byte at which the field begins"));
            }
            self.advance();
            fields.push(RecordField { name, dtype, offset: self.byte_count()? });
        }
        let end = self.token().span.end;
        self.expect(")")?;
        let record = RecordType::new(name, fields, size);
        let record = record.map_err(|error| self.mistake(start..end, Mistake::Record { reason: error.to_string() }))?;
        Ok(Type::Record(Arc::new(record)))
    }

    /// A number of bytes.
    fn byte_count(&mut self) -> Result<usize, ParseError> {
        let found = self.source(self.token()).parse().ok();
        let found = found.ok_or_else(|| self.expected("a number of bytes"))?;
        self.advance();
        Ok(found)
    }

    /// `float32`, `np.float32`, `"float32"`, `opaque("name")`, `record("name", …)`.
    pub(super) fn type_argument(&mut self) -> Result<Type, ParseError> {
        if self.name_ahead(0) == Some("record") && self.is_ahead(1, "(") {
            return self.record();
        }
        if self.name_ahead(0) == Some("opaque") && self.is_ahead(1, "(") {
            self.advance();
            self.advance();
            let ty = match &self.token().kind {
                Kind::Text(content) => OpaqueType::new(content.as_str()),
                _ => None,
            };
            let ty = ty.ok_or_else(|| self.expected("the name of a type in quotes: words, which `::` may join"))?;
            self.advance();
            self.expect(")")?;
            return Ok(Type::Opaque(ty));
        }
        if self.name_ahead(0) == Some("np") && self.is_ahead(1, ".") {
            self.advance();
            self.advance();
        }
        // As NumPy's types print: `np:dtype('float32')`.
        if self.name_ahead(0) == Some("np") && self.is_ahead(1, ":") && self.name_ahead(2) == Some("dtype") && self.is_ahead(3, "(") {
            (0..4).for_each(|_| self.advance());
            let ty = self.type_argument()?;
            self.expect(")")?;
            return Ok(ty);
        }
        let token = self.token();
        let name = match &token.kind {
            Kind::Name => self.source(token).to_owned(),
            Kind::Text(content) => content.clone(),
            _ => return Err(self.expected("a type such as `float32`")),
        };
        let Some(ty) = type_name(&name) else {
            let nearest = nearest_type(&name);
            return Err(self.mistake(token.span.clone(), Mistake::Type { name, nearest }));
        };
        self.advance();
        Ok(ty)
    }

    /// `cse(e)`, `cse(e, name)`, `cse(e, "name")`.
    fn common_subexpression(&mut self) -> Result<Node, ParseError> {
        let first = self.at;
        let args = self.positional("cse")?;
        let count = args.len();
        let mut args = args.into_iter();
        let (value, prefix) = match (count, args.next(), args.next()) {
            (1, Some(value), None) => (value, None),
            (2, Some(value), Some(prefix)) => match prefix.expr {
                Expr::Variable(name) | Expr::Literal(Literal::Text(name)) => (value, Some(name)),
                _ => return Err(self.argument_count(first, "cse", "an expression and a name", count)),
            },
            _ => return Err(self.argument_count(first, "cse", "an expression and at most a name", count)),
        };
        Ok(Node { expr: Expr::CommonSubexpression(Arc::new(value.expr), prefix), height: value.height + 1 })
    }

    // ---- reductions ----

    /// `max(i, e)` and `max((i, j), e)` are reductions; `max(a[i], b)` and `max(a, b, c)` are the largest of those values.
    fn max_or_min(&mut self, name: &str) -> Result<Node, ParseError> {
        let op = if name == "max" { ReductionOp::Max } else { ReductionOp::Min };
        let first = self.at;
        let Some(inames) = self.inames_ahead() else {
            let args = self.positional(name)?;
            if args.len() < 2 {
                return Err(self.argument_count(first, name, "inames and an expression, or at least 2 expressions", args.len()));
            }
            return Ok(extremum(name == "max", args));
        };
        self.skip_inames();
        let args = self.positional_rest(first, name)?;
        match (<[Node; 1]>::try_from(args), &inames[..]) {
            (Ok([operand]), _) => Ok(reduction(op, inames, vec![operand], false)),
            (Err(args), [one]) if !args.is_empty() => {
                let one = Node { expr: Expr::Variable(one.clone()), height: 1 };
                Ok(extremum(name == "max", std::iter::once(one).chain(args).collect()))
            }
            (Err(args), _) => Err(self.argument_count(first, name, "inames and 1 expression", args.len())),
        }
    }

    /// The inames of `name(i, …` or `name((i, j), …`, if that is what comes.
    fn inames_ahead(&self) -> Option<Vec<Name>> {
        let (close, mut at) = match (self.is_ahead(2, "("), self.is_ahead(2, "[")) {
            (true, _) => (")", 3),
            (_, true) => ("]", 3),
            _ => return self.name_ahead(2).filter(|_| self.is_ahead(3, ",")).map(|name| vec![name.into()]),
        };
        let mut inames = Vec::new();
        while !self.is_ahead(at, close) {
            inames.push(self.name_ahead(at)?.into());
            at += 1;
            if self.is_ahead(at, ",") {
                at += 1;
            } else if !self.is_ahead(at, close) {
                return None;
            }
        }
        // `(i)` alone is an expression in parentheses.
        self.is_ahead(at + 1, ",").then_some(inames)
    }

    /// Skips what [`inames_ahead`](Self::inames_ahead) found, and the comma after it.
    fn skip_inames(&mut self) {
        self.advance();
        self.advance();
        if self.is("(") || self.is("[") {
            while !self.is(")") && !self.is("]") {
                self.advance();
            }
        }
        self.advance();
        self.advance();
    }

    /// `i`, `(i, j)` or `[i, j]`, and the comma after it.
    fn inames(&mut self) -> Result<Vec<Name>, ParseError> {
        const WHAT: &str = "the name of an iname, or several as `(i, j)`";
        let inames = if self.accept("(") {
            self.names_until(")", "the name of an iname")?
        } else if self.accept("[") {
            self.names_until("]", "the name of an iname")?
        } else {
            vec![self.expect_name(WHAT)?]
        };
        self.expect(",")?;
        Ok(inames)
    }

    /// `sum(i, e)`.
    fn named_reduction(&mut self, name: &str, op: ReductionOp) -> Result<Node, ParseError> {
        let first = self.at;
        self.advance();
        self.expect("(")?;
        let inames = self.inames()?;
        self.operands(first, name, op, inames, false)
    }

    /// `reduce(sum, i, e)`.
    fn reduce(&mut self, simultaneous: bool) -> Result<Node, ParseError> {
        let first = self.at;
        self.advance();
        self.expect("(")?;
        let name = self.expect_name("the name of a reduction")?;
        let op = if name == "segmented" && self.is("(") {
            self.advance();
            let inner = self.expect_name("`sum` or `product`")?;
            self.expect(")")?;
            reduction_named(&format!("segmented_{inner}")).ok_or_else(|| {
                self.mistake(
                    self.span_from(first),
                    Mistake::Other(format!("unknown segmented reduction `{inner}`: use `sum` or `product`")),
                )
            })?
        } else {
            reduction_named(&name).unwrap_or_else(|| ReductionOp::Custom(name.clone()))
        };
        self.expect(",")?;
        let inames = self.inames()?;
        self.operands(first, &name, op, inames, simultaneous)
    }

    fn operands(&mut self, first: usize, name: &str, op: ReductionOp, inames: Vec<Name>, simultaneous: bool) -> Result<Node, ParseError> {
        let operands = self.positional_rest(first, name)?;
        let count = operand_count(&op);
        // A reduction of pairs returns pairs.
        let is_pair = matches!(&operands[..], [only] if matches!(&only.expr, Expr::Reduction(inner) if Some(operand_count(&inner.op)) == Some(count)))
            && count == Some(2);
        if operands.is_empty() || count.is_some_and(|count| operands.len() != count) && !is_pair {
            let expected = match count {
                Some(1) => "inames and 1 expression",
                Some(_) => "inames and 2 expressions",
                None => "inames and at least 1 expression",
            };
            let found = format!("inames and {}", operands.len());
            let mistake = Mistake::Arguments { function: name.to_owned(), expected: expected.to_owned(), found };
            return Err(self.mistake(self.span_from(first), mistake));
        }
        Ok(reduction(op, inames, operands, simultaneous))
    }

    // ---- numbers with a type ----

    /// `np.int8(5)`, `np.inf`, `np.nan`; anything else after `np` is a field of a variable of that name.
    pub(super) fn numpy_literal(&mut self) -> Result<Node, ParseError> {
        let literal = match self.name_ahead(2) {
            Some("inf") => Literal::Float(f64::INFINITY.to_bits(), None),
            Some("nan") => Literal::Float(f64::NAN.to_bits(), None),
            Some(name) if self.is_ahead(3, "(") => match DType::from_name(name) {
                Some(dtype) => return self.typed_number(dtype),
                None => {
                    let mistake =
                        Mistake::Type { name: format!("np.{name}"), nearest: nearest_type(name).map(|near| format!("np.{near}")) };
                    return Err(self.mistake(self.ahead(2).span.clone(), mistake));
                }
            },
            _ => {
                self.advance();
                return Ok(Node { expr: Expr::var("np"), height: 1 });
            }
        };
        (0..3).for_each(|_| self.advance());
        Ok(Node { expr: Expr::Literal(literal), height: 1 })
    }

    fn typed_number(&mut self, dtype: DType) -> Result<Node, ParseError> {
        let first = self.at;
        (0..4).for_each(|_| self.advance());
        let inner = self.one()?;
        self.expect(")")?;
        let typed = match inner.expr {
            Expr::Literal(Literal::Int(value, None)) if dtype.is_integer() => {
                let (least, largest) = dtype.integer_range().unwrap_or((0, 0));
                (least..=largest).contains(&value).then_some(Literal::Int(value, Some(dtype)))
            }
            // Not every large integer is a double; one that is not would silently become another number.
            Expr::Literal(Literal::Int(value, None)) if dtype != DType::Bool && value.unsigned_abs() <= 1 << 53 => {
                Some(Literal::Float((value as f64).to_bits(), Some(dtype)))
            }
            Expr::Literal(Literal::Float(bits, None)) if dtype.is_float() || dtype.is_complex() => Some(Literal::Float(bits, Some(dtype))),
            Expr::Literal(Literal::Imaginary(bits, None)) if dtype.is_complex() => Some(Literal::Imaginary(bits, Some(dtype))),
            _ => None,
        };
        match typed {
            Some(literal) => Ok(Node { expr: Expr::Literal(literal), height: 1 }),
            None => Err(self.mistake(
                self.span_from(first),
                Mistake::Other(format!("`np.{dtype}(…)` takes one number that fits; write `cast({dtype}, …)` to convert a value")),
            )),
        }
    }
}

fn max_height(nodes: &[Node]) -> usize {
    nodes.iter().map(|node| node.height).max().unwrap_or(0)
}

fn extremum(largest: bool, args: Vec<Node>) -> Node {
    let height = max_height(&args) + 1;
    let values = args.into_iter().map(|arg| arg.expr).collect();
    Node { expr: if largest { Expr::Max(values) } else { Expr::Min(values) }, height }
}

fn reduction(op: ReductionOp, inames: Vec<Name>, operands: Vec<Node>, simultaneous: bool) -> Node {
    let height = max_height(&operands) + 1;
    let operands = operands.into_iter().map(|operand| operand.expr).collect();
    Node { expr: Expr::Reduction(Arc::new(Reduction { op, inames, operands, simultaneous })), height }
}
