//! Arguments and temporaries as lines: `a, b: global float32[n, n] {order=f, offset=auto}`, `t: local float32[16]`, `n: value int32`.
//!
//! `global`, `constant`, `value`, `object`, `image2` are arguments, as is `arg local` of a function; `temp`, `private`, `local`,
//! `temp global` are temporaries. Without brackets, the shape of an argument is inferred from its use and a temporary is a scalar.

use std::ops::Range;

use parloop_isl::Name;

use super::error::{Mistake, ParseError, nearest};
use super::expression::Parser;
use super::initializer;
use super::lex::Kind;
use super::lines::{find, split, trimmed};
use crate::syntax::{AddressSpace, Argument, ArgumentKind, DimTag, Expr, Layout, Literal, Offset, Shape, Stride, Temporary};

/// One line of data.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// An argument.
    Argument(Argument),
    /// A temporary.
    Temporary(Temporary),
    /// An argument of which only the position is given.
    Named(Name),
}

/// The role of a name.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Array(AddressSpace),
    Value,
    Object,
    Image(u8),
    Temporary(Option<AddressSpace>),
}

const OPTIONS: [&str; 11] = ["order", "dim_tags", "offset", "align", "in", "out", "tags", "axes", "read_only", "base", "init"];

/// Parses one line of data, which may declare several names.
pub fn data_line(text: &str, line: Range<usize>) -> Result<Vec<Datum>, ParseError> {
    let open = find(text, line.clone(), b'{')?;
    let head = trimmed(text, line.start..open.unwrap_or(line.end));
    let mut parser = Parser::new(text, head)?;
    let mut names = Vec::new();
    loop {
        names.push(parser.expect_name("the name of an argument or a temporary")?);
        if !parser.accept(",") {
            break;
        }
    }
    if parser.token().kind == Kind::End && open.is_none() {
        return Ok(names.into_iter().map(Datum::Named).collect());
    }
    parser.expect(":")?;
    let role = role(&mut parser)?;
    let is_type = parser.name_ahead(0).is_some() || matches!(parser.token().kind, Kind::Text(_));
    let ty = if is_type { Some(parser.type_argument()?) } else { None };
    let shape = shape(&mut parser, role)?;
    parser.end().map_err(|_| parser.expected("a type, `[lengths]`, `{options}` or the end of the line"))?;
    let argument = match role {
        Role::Array(space) => Some(ArgumentKind::Array { space, layout: Layout::c_order(shape.clone()), alignment: None }),
        Role::Value => Some(ArgumentKind::Value),
        Role::Object => Some(ArgumentKind::Object),
        Role::Image(axes) => Some(ArgumentKind::Image(axes)),
        Role::Temporary(_) => None,
    };
    let name = Name::from("");
    let mut datum = match (argument, role) {
        (Some(kind), _) => Datum::Argument(Argument { name, ty, kind, is_input: None, is_output: None, tags: Default::default() }),
        (None, role) => Datum::Temporary(Temporary {
            name,
            ty,
            layout: Layout::c_order(shape),
            space: if let Role::Temporary(space) = role { space } else { None },
            initializer: None,
            read_only: false,
            base_storage: None,
            tags: Default::default(),
        }),
    };
    if let Some(open) = open {
        let inside = braces(text, open..line.end)?;
        for option in split(text, inside, b',')? {
            read_option(text, option, &mut datum)?;
        }
    }
    Ok(names.into_iter().map(|name| named(&datum, name)).collect())
}

fn named(datum: &Datum, name: Name) -> Datum {
    match datum.clone() {
        Datum::Argument(argument) => Datum::Argument(Argument { name, ..argument }),
        Datum::Temporary(temporary) => Datum::Temporary(Temporary { name, ..temporary }),
        Datum::Named(_) => Datum::Named(name),
    }
}

/// The text between braces that close at the end of the range.
fn braces(text: &str, within: Range<usize>) -> Result<Range<usize>, ParseError> {
    let span = trimmed(text, within);
    if !text[span.clone()].ends_with('}') || span.len() < 2 {
        let mistake = Mistake::Unclosed { open: "{".to_owned(), close: "}".to_owned() };
        return Err(ParseError::at(text, span.start..span.start + 1, mistake));
    }
    Ok(span.start + 1..span.end - 1)
}

fn role(parser: &mut Parser<'_>) -> Result<Role, ParseError> {
    const WHAT: &str = "`global`, `constant`, `value`, `object`, `image2`, `arg`, `temp`, `private` or `local`";
    let space = |word: Option<&str>| match word {
        Some("private") => Some(AddressSpace::Private),
        Some("local") => Some(AddressSpace::Local),
        Some("global") => Some(AddressSpace::Global),
        Some("constant") => Some(AddressSpace::Constant),
        _ => None,
    };
    let second = space(parser.name_ahead(1));
    let role = match parser.name_ahead(0) {
        Some("value") => Role::Value,
        Some("object") => Role::Object,
        Some("image1") => Role::Image(1),
        Some("image2") => Role::Image(2),
        Some("image3") => Role::Image(3),
        Some("arg") => {
            parser.advance();
            Role::Array(second.ok_or_else(|| parser.expected("`private`, `local`, `global` or `constant`"))?)
        }
        Some("temp") => {
            if second.is_some() {
                parser.advance();
            }
            Role::Temporary(second)
        }
        word => match space(word) {
            Some(space @ (AddressSpace::Global | AddressSpace::Constant)) => Role::Array(space),
            Some(space) => Role::Temporary(Some(space)),
            None => return Err(parser.expected(WHAT)),
        },
    };
    parser.advance();
    Ok(role)
}

fn shape(parser: &mut Parser<'_>, role: Role) -> Result<Shape, ParseError> {
    if !parser.accept("[") {
        return Ok(match role {
            Role::Array(_) => Shape::Auto,
            _ => Shape::Known(Vec::new()),
        });
    }
    if !matches!(role, Role::Array(_) | Role::Temporary(_)) {
        let span = parser.token().span.clone();
        return Err(parser.mistake(span, Mistake::Other("values, objects and images take no lengths in brackets".to_owned())));
    }
    let special = match parser.name_ahead(0).filter(|_| parser.is_ahead(1, "]")) {
        Some("auto") => Some(Shape::Auto),
        Some("unknown") => Some(Shape::Unknown),
        _ => None,
    };
    if let Some(shape) = special {
        parser.advance();
        parser.advance();
        return Ok(shape);
    }
    Ok(Shape::Known(expressions_until(parser, "]")?))
}

fn expressions_until(parser: &mut Parser<'_>, close: &str) -> Result<Vec<Expr>, ParseError> {
    let mut found = Vec::new();
    while !parser.accept(close) {
        found.push(parser.one()?.expr);
        if !parser.accept(",") && !parser.is(close) {
            return Err(parser.expected(&format!("`,` or `{close}`")));
        }
    }
    Ok(found)
}

fn read_option(text: &str, option: Range<usize>, datum: &mut Datum) -> Result<(), ParseError> {
    let source = &text[option.clone()];
    let (name, value) = match source.find('=') {
        Some(equals) => (source[..equals].trim_end(), trimmed(text, option.start + equals + 1..option.end)),
        None => (source, option.end..option.end),
    };
    let key = option.start..option.start + name.len();
    let word = &text[value.clone()];
    let wrong = |expected| {
        let mistake = Mistake::OptionValue { option: name.to_owned(), expected, found: word.to_owned() };
        ParseError::at(text, if value.is_empty() { key.clone() } else { value.clone() }, mistake)
    };
    let flag = || match word {
        "yes" => Ok(Some(true)),
        "no" => Ok(Some(false)),
        _ => Err(wrong("`yes` or `no`")),
    };
    let names = || word.split(':').map(str::trim).filter(|name| !name.is_empty()).map(Name::from);
    match (name, &mut *datum) {
        ("in", Datum::Argument(argument)) => argument.is_input = flag()?,
        ("out", Datum::Argument(argument)) => argument.is_output = flag()?,
        ("tags", Datum::Argument(Argument { tags, .. }) | Datum::Temporary(Temporary { tags, .. })) => *tags = names().collect(),
        ("align", Datum::Argument(Argument { kind: ArgumentKind::Array { alignment, .. }, .. })) => {
            *alignment = Some(word.parse().map_err(|_| wrong("a number of bytes"))?);
        }
        ("read_only", Datum::Temporary(temporary)) if value.is_empty() => temporary.read_only = true,
        ("base", Datum::Temporary(temporary)) if !word.is_empty() => temporary.base_storage = Some(word.into()),
        ("init", Datum::Temporary(temporary)) => temporary.initializer = Some(initializer::read(text, value)?),
        ("order" | "dim_tags" | "offset" | "axes", datum) => {
            let Some(layout) = layout_of(datum) else { return Err(misplaced(text, key, name)) };
            match (name, word) {
                ("order", "c") => layout.fortran_order = false,
                ("order", "f") => layout.fortran_order = true,
                ("order", _) => return Err(wrong("`c` or `f`")),
                ("axes", _) => layout.axis_names = Some(names().collect()),
                ("offset", "auto") => layout.offset = Offset::Auto,
                ("offset", _) => layout.offset = Offset::Given(expression(text, value)?),
                _ => layout.dim_tags = dim_tags(text, value)?,
            }
        }
        _ if OPTIONS.contains(&name) => return Err(misplaced(text, key, name)),
        _ => {
            let mistake = Mistake::Option { name: name.to_owned(), nearest: nearest(name, OPTIONS) };
            let span = if key.is_empty() { key.start..key.start + 1 } else { key };
            return Err(ParseError::at(text, span, mistake));
        }
    }
    Ok(())
}

fn misplaced(text: &str, span: Range<usize>, name: &str) -> ParseError {
    ParseError::at(text, span, Mistake::OptionPlace { option: name.to_owned(), place: "for this kind of data" })
}

fn layout_of(datum: &mut Datum) -> Option<&mut Layout> {
    match datum {
        Datum::Argument(Argument { kind: ArgumentKind::Array { layout, .. }, .. }) => Some(layout),
        Datum::Temporary(temporary) => Some(&mut temporary.layout),
        _ => None,
    }
}

fn expression(text: &str, span: Range<usize>) -> Result<Expr, ParseError> {
    let mut parser = Parser::new(text, span)?;
    let expr = parser.one()?.expr;
    parser.end()?;
    Ok(expr)
}

/// `[N1, N0, sep, vec, auto, stride(e), nested(level, padding)]`.
fn dim_tags(text: &str, span: Range<usize>) -> Result<Vec<DimTag>, ParseError> {
    let mut parser = Parser::new(text, span.clone())?;
    parser.expect("[")?;
    let tags = expressions_until(&mut parser, "]")?;
    parser.end()?;
    tags.iter().map(|tag| dim_tag(tag).ok_or_else(|| ParseError::at(text, span.clone(), no_tag(tag)))).collect()
}

fn no_tag(tag: &Expr) -> Mistake {
    Mistake::Expected {
        expected: "dim tags `N0`, `N1` …, `nested(level, padding)`, `stride(e)`, `auto`, `sep` or `vec`".to_owned(),
        found: format!("`{tag}`"),
    }
}

fn dim_tag(tag: &Expr) -> Option<DimTag> {
    let nested = |level, pad_to| DimTag::Stride(Stride::Nested { level, pad_to });
    Some(match tag {
        Expr::Variable(name) if name == "sep" => DimTag::Separate,
        Expr::Variable(name) if name == "vec" => DimTag::Vector,
        Expr::Variable(name) if name == "auto" => DimTag::Stride(Stride::Auto),
        Expr::Variable(name) => nested(name.strip_prefix('N')?.parse().ok()?, 1),
        Expr::Call(call) if call.function == "stride" => match &call.args[..] {
            [stride] => DimTag::Stride(Stride::Fixed(stride.clone())),
            _ => return None,
        },
        Expr::Call(call) if call.function == "nested" => match &call.args[..] {
            [Expr::Literal(Literal::Int(level, None)), Expr::Literal(Literal::Int(pad, None))] => {
                nested(usize::try_from(*level).ok()?, u64::try_from(*pad).ok()?)
            }
            _ => return None,
        },
        _ => return None,
    })
}
