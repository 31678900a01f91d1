//! Expressions as text: parsing, printing, and round trips.

use parloop_device::DType;
use parloop_loop::parse::expression;
use parloop_loop::syntax::{BinaryOp, Call, CompareOp, Expr, Literal, OpaqueType, Reduction, ReductionOp, SubArray, Type, UnaryOp};
use proptest::prelude::*;
use std::sync::Arc;

/// The text, read and printed.
fn canonical(text: &str) -> String {
    let expr = expression(text).unwrap_or_else(|error| panic!("{error}"));
    let printed = expr.to_string();
    assert_eq!(expression(&printed).unwrap_or_else(|error| panic!("{error}")), expr, "{text} was printed as {printed}");
    printed
}

/// The text with all parentheses that its meaning has.
fn grouped(text: &str) -> String {
    fn group(expr: &Expr) -> String {
        match expr {
            Expr::Binary(op, a, b) => {
                let whole = Expr::binary(*op, Expr::var("x"), Expr::var("y")).to_string();
                format!("({}{}{})", group(a), whole.trim_start_matches('x').trim_end_matches('y').trim(), group(b))
            }
            Expr::Compare(op, a, b) => {
                let whole = Expr::compare(*op, Expr::var("x"), Expr::var("y")).to_string();
                format!("({}{}{})", group(a), whole.trim_start_matches('x').trim_end_matches('y').trim(), group(b))
            }
            Expr::Unary(op, a) => format!("{op:?}({})", group(a)),
            Expr::If(parts) => format!("if({},{},{})", group(&parts[0]), group(&parts[1]), group(&parts[2])),
            other => other.to_string(),
        }
    }
    group(&expression(text).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn operators_bind_as_in_python_and_bit_operators_as_in_c() {
    for (text, meaning) in [
        ("a + b*c - d", "((a+(b*c))-d)"),
        ("a - b - c", "((a-b)-c)"),
        ("a*b/c", "((a*b)/c)"),
        ("a*b%c", "((a*b)%c)"),
        ("a // b * c", "((a//b)*c)"),
        ("-a**2", "Negate((a**2))"),
        ("a**b**c", "(a**(b**c))"),
        ("2**-i", "(2**Negate(i))"),
        ("a < b | c < d", "((a<b)|(c<d))"),
        ("a | b ^ c & d", "(a|(b^(c&d)))"),
        ("a & b << c + 1", "(a&(b<<(c+1)))"),
        ("not a < b and c", "(Not((a<b))andc)"),
        ("a or b and not c", "(aor(bandNot(c)))"),
        ("a if b else c if d else e", "if(b,a,if(d,c,e))"),
        ("if(a, b, c + 1)", "if(a,b,(c+1))"),
        ("a < b < c", "((a<b)and(b<c))"),
        ("a < b == c", "((a<b)and(b==c))"),
        ("(a < b) == c", "((a<b)==c)"),
        ("~a*b", "(BitNot(a)*b)"),
        ("a--b", "(a-Negate(b))"),
        ("+a", "a"),
    ] {
        assert_eq!(grouped(text), meaning, "{text}");
        canonical(text);
    }
}

#[test]
fn numbers_keep_their_type_and_their_sign() {
    let literal = |text: &str| match expression(text).unwrap() {
        Expr::Literal(literal) => literal,
        other => panic!("{text} is {other:?}"),
    };
    let bits = f64::to_bits;
    for (text, value, printed) in [
        ("12", Literal::Int(12, None), "12"),
        ("-12", Literal::Int(-12, None), "-12"),
        ("0x1F", Literal::Int(31, None), "31"),
        ("1.", Literal::Float(bits(1.0), None), "1.0"),
        (".5", Literal::Float(bits(0.5), None), "0.5"),
        ("-1e-3", Literal::Float(bits(-1e-3), None), "-0.001"),
        ("1.5d", Literal::Float(bits(1.5), Some(DType::F64)), "1.5d"),
        ("0.1f", Literal::Float(bits(f64::from(0.1f32)), Some(DType::F32)), "0.1f"),
        ("1f", Literal::Float(bits(1.0), Some(DType::F32)), "1.0f"),
        ("1.5e3f", Literal::Float(bits(1500.0), Some(DType::F32)), "1500.0f"),
        ("2j", Literal::Imaginary(bits(2.0), None), "2.0j"),
        ("2.5jf", Literal::Imaginary(bits(2.5), Some(DType::C64)), "2.5jf"),
        ("np.int8(-5)", Literal::Int(-5, Some(DType::I8)), "np.int8(-5)"),
        ("np.float32(1.5)", Literal::Float(bits(1.5), Some(DType::F32)), "1.5f"),
        ("-np.inf", Literal::Float(bits(f64::NEG_INFINITY), None), "-np.inf"),
        ("True", Literal::Bool(true), "True"),
        ("'a b'", Literal::Text("a b".into()), "\"a b\""),
    ] {
        assert_eq!(literal(text), value, "{text}");
        assert_eq!(canonical(text), printed);
    }
    assert_eq!(canonical("-(3)"), "-(3)");
    assert_eq!(canonical("(-3)**2"), "(-3)**2");
    assert_eq!(grouped("-3**2"), "Negate((3**2))");
}

#[test]
fn every_form_reads_and_prints() {
    for (text, printed) in [
        ("a[ i,j ]", "a[i, j]"),
        ("a[(i, j)]", "a[i, j]"),
        ("a[i,]", "a[i]"),
        ("a[()]", "a[()]"),
        ("a[[i+1]]", "a[[i + 1]]"),
        ("a[b[c[i]]]", "a[b[c[i]]]"),
        ("[i,j]: a[i, k, j]", "[i, j]: a[i, k, j]"),
        ("[]: a[0]", "[]: a[0]"),
        ("f([i]:a[i], b[:, 3:-1:-1], c[::2], d[i:], e[:n])", "f([i]: a[i], b[:, 3:-1:-1], c[::2], d[i:], e[:n])"),
        ("p.x[i].y", "p.x[i].y"),
        ("f(x, key=2, other=y)", "f(x, key=2, other=y)"),
        ("@f_0(x)", "@f_0(x)"),
        ("f()", "f()"),
        ("f(a,)", "f(a)"),
        ("cast(np.float32, x)", "cast(float32, x)"),
        ("cast(np:dtype('float64'), x)", "cast(float64, x)"),
        ("cast(int, x)", "cast(int64, x)"),
        ("cast(float32x4, x)", "cast(float32x4, x)"),
        ("cast(opaque('fftw_plan'), x)", "cast(opaque(\"fftw_plan\"), x)"),
        ("cse(a+b)", "cse(a + b)"),
        ("cse(a, 'n')", "cse(a, n)"),
        ("cse(a, 'n 1')", "cse(a, \"n 1\")"),
        ("(a,b)", "(a, b)"),
        ("a, b", "(a, b)"),
        ("(a,)", "(a,)"),
        ("()", "()"),
        ("sum(i, a[i])", "sum(i, a[i])"),
        ("sum([i,j], a)", "sum((i, j), a)"),
        ("sum((i,), a)", "sum(i, a)"),
        ("reduce(sum, i, a)", "sum(i, a)"),
        ("simul_reduce(max, (i,j), a)", "simul_reduce(max, (i, j), a)"),
        ("reduce(mine, i, a, b)", "reduce(mine, i, a, b)"),
        ("argmax(i, a[i], i)", "argmax(i, a[i], i)"),
        ("reduce(segmented(sum), i, a[i], s[i])", "segmented_sum(i, a[i], s[i])"),
        ("max(i, a[i])", "max(i, a[i])"),
        ("max((i,j), a[i,j])", "max((i, j), a[i, j])"),
        ("max(a[i], b)", "maximum(a[i], b)"),
        ("min(a, b, c)", "minimum(a, b, c)"),
        ("minimum(x, y)", "minimum(x, y)"),
        ("max((a + b), c)", "maximum(a + b, c)"),
        ("a\n + b", "a + b"),
    ] {
        assert_eq!(canonical(text), printed, "{text}");
    }
}

#[test]
fn max_of_a_name_and_an_expression_is_a_reduction() {
    let Expr::Reduction(reduction) = expression("max(i, a[i])").unwrap() else { panic!() };
    assert_eq!((&reduction.op, &reduction.inames[..]), (&ReductionOp::Max, &["i".into()][..]));
    assert!(matches!(expression("max(x, y, z)").unwrap(), Expr::Max(values) if values.len() == 3));
}

#[test]
fn mistakes_show_the_line_and_the_place() {
    for (text, message) in [
        ("a[i", "line 1, column 4: expected `,` or `]`, found the end\n  a[i\n     ^"),
        ("a +\n  * b", "line 2, column 3: expected an expression, found `*`\n    * b\n    ^"),
        ("a b", "line 1, column 3: expected an operator or the end, found `b`\n  a b\n    ^"),
        ("a ? b", "line 1, column 3: unexpected character `?`\n  a ? b\n    ^"),
        (
            "cast(flot32, x)",
            "line 1, column 6: `flot32` is not a type (did you mean `float32`?): use a NumPy name such as `float32` or `int64`\n  cast(flot32, x)\n       ^^^^^^",
        ),
        ("sum(i)", "line 1, column 6: expected `,`, found `)`\n  sum(i)\n       ^"),
        (
            "argmax(i, a[i])",
            "line 1, column 1: `argmax` takes inames and 2 expressions, but is given inames and 1\n  argmax(i, a[i])\n  ^^^^^^^^^^^^^^^",
        ),
        (
            "1.5q",
            "line 1, column 1: `1.5q` is not a number: unknown suffix `q`: `f` is float32, `d` float64, `j` imaginary, `jf` imaginary in complex64\n  1.5q\n  ^^^^",
        ),
        ("'abc", "line 1, column 1: the string has no closing `'`\n  'abc\n  ^"),
        ("a.b(c)", "line 1, column 4: only functions can be called, by name: `f(x)`\n  a.b(c)\n     ^"),
        ("a if b", "line 1, column 7: expected `else`, found the end\n  a if b\n        ^"),
        (
            "f(k=1, 2)",
            "line 1, column 8: expected a keyword argument, since the one before it is a keyword argument, found `2`\n  f(k=1, 2)\n         ^",
        ),
        ("f(k=1, k=2)", "line 1, column 8: argument `k` already exists\n  f(k=1, k=2)\n         ^"),
        ("if(a, b)", "line 1, column 1: `if` takes 3 arguments: condition, value, other value, but is given 2\n  if(a, b)\n  ^^^^^^^^"),
        (
            "np.int8(300)",
            "line 1, column 1: `np.int8(…)` takes one number that fits; write `cast(int8, …)` to convert a value\n  np.int8(300)\n  ^^^^^^^^^^^^",
        ),
        ("", "line 1, column 1: expected an expression, found the end\n  \n  ^"),
        ("é", "line 1, column 1: unexpected character `é`\n  é\n  ^"),
    ] {
        assert_eq!(expression(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn nesting_beyond_the_limit_is_an_error() {
    for (open, close) in
        [("(", ")"), ("-", ""), ("not ", ""), ("f(", ")"), ("a[", "]"), ("x if y else ", ""), ("2**", ""), ("max(i, ", ")"), ("~", "")]
    {
        let text = format!("{}a{}", open.repeat(100_000), close.repeat(100_000));
        assert!(expression(&text).unwrap_err().to_string().contains("nested more than 100 levels deep"), "{open}");
        canonical(&format!("{}a{}", open.repeat(90), close.repeat(90)));
    }
    for chain in [" + a", " - a", "*a", " / a"] {
        canonical(&format!("a{}", chain.repeat(100_000)));
    }
    for chain in ["[i]", ".x", " < a", " and a"] {
        assert!(
            expression(&format!("a{}", chain.repeat(100_000))).unwrap_err().to_string().contains("nested more than 500 levels deep"),
            "{chain}"
        );
        canonical(&format!("a{}", chain.repeat(400)));
    }
}

#[test]
fn nested_max_takes_linear_time() {
    let text = format!("{}a{}", "max(x, ".repeat(90), ", b)".repeat(90));
    canonical(&text);
}

pub fn name() -> impl Strategy<Value = parloop_loop::Name> {
    prop_oneof!["[a-z]{1,3}", "[a-z]_[0-9]", Just("np".to_owned()), Just("sum".to_owned())]
        .prop_filter("no word", |name| !["if", "or", "and", "not"].contains(&name.as_str()))
        .prop_map(parloop_loop::Name::from)
}

fn function() -> impl Strategy<Value = parloop_loop::Name> {
    "f_[a-z0-9]{1,3}".prop_map(parloop_loop::Name::from)
}

fn literal() -> impl Strategy<Value = Literal> {
    let float = prop_oneof![any::<f64>(), Just(f64::INFINITY), Just(-0.0), any::<f32>().prop_map(f64::from)]
        .prop_filter("a number", |value| !value.is_nan());
    let finite = any::<f64>().prop_filter("finite", |value| value.is_finite());
    prop_oneof![
        any::<i64>().prop_map(|value| Literal::Int(value.into(), None)),
        any::<i8>().prop_map(|value| Literal::Int(value.into(), Some(DType::I8))),
        (float, prop_oneof![Just(None), Just(Some(DType::F32)), Just(Some(DType::F64)), Just(Some(DType::C64))])
            .prop_map(|(value, dtype)| Literal::Float(value.to_bits(), dtype)),
        (finite, prop_oneof![Just(None), Just(Some(DType::C64)), Just(Some(DType::C128))])
            .prop_map(|(value, dtype)| Literal::Imaginary(value.to_bits(), dtype)),
        any::<bool>().prop_map(Literal::Bool),
        ".{0,4}".prop_map(|text| Literal::Text(text.into())),
    ]
}

fn scalar_type() -> impl Strategy<Value = Type> {
    prop_oneof![
        proptest::sample::select(&DType::ALL[..]).prop_map(Type::Scalar),
        Just(Type::Vector(DType::F32, 4)),
        "[a-z_][a-z0-9_]{0,3}( [a-z]{1,2}|::[a-z]{1,2})?".prop_map(|name| Type::Opaque(OpaqueType::new(name.as_str()).unwrap())),
    ]
}

/// Any expression that text can say.
pub fn any_expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![literal().prop_map(Expr::Literal), name().prop_map(Expr::Variable)];
    leaf.prop_recursive(5, 60, 4, |inner| {
        let arc = || inner.clone().prop_map(Arc::new);
        let some = || proptest::collection::vec(inner.clone(), 1..4);
        let binary = proptest::sample::select(vec![
            BinaryOp::Add,
            BinaryOp::Subtract,
            BinaryOp::Multiply,
            BinaryOp::Divide,
            BinaryOp::FloorDivide,
            BinaryOp::Modulo,
            BinaryOp::Power,
            BinaryOp::ShiftLeft,
            BinaryOp::ShiftRight,
            BinaryOp::BitAnd,
            BinaryOp::BitOr,
            BinaryOp::BitXor,
            BinaryOp::And,
            BinaryOp::Or,
        ]);
        let compare = proptest::sample::select(vec![
            CompareOp::Equal,
            CompareOp::NotEqual,
            CompareOp::Less,
            CompareOp::LessEqual,
            CompareOp::Greater,
            CompareOp::GreaterEqual,
        ]);
        let index = prop_oneof![
            4 => inner.clone(),
            1 => proptest::array::uniform3(proptest::option::of(inner.clone())).prop_map(|parts| Expr::Slice(Arc::new(parts))),
        ];
        let indices = proptest::collection::vec(index, 0..3).prop_filter("one tuple is several indices", |list| !matches!(list[..], [Expr::Tuple(_)]));
        prop_oneof![
            4 => (binary, arc(), arc()).prop_map(|(op, a, b)| Expr::Binary(op, a, b)),
            2 => (compare, arc(), arc()).prop_map(|(op, a, b)| Expr::Compare(op, a, b)),
            2 => (proptest::sample::select(vec![UnaryOp::Negate, UnaryOp::Not, UnaryOp::BitNot]), arc()).prop_map(|(op, a)| Expr::Unary(op, a)),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| Expr::choose(a, b, c)),
            2 => (arc(), indices.clone()).prop_map(|(a, list)| Expr::Subscript(a, list.into())),
            1 => (arc(), arc()).prop_map(|(a, b)| Expr::LinearSubscript(a, b)),
            1 => (proptest::collection::vec(name(), 0..3), name(), indices)
                .prop_map(|(inames, array, indices)| Expr::SubArray(Arc::new(SubArray { inames, array, indices }))),
            1 => (arc(), name()).prop_map(|(a, field)| Expr::Lookup(a, field)),
            1 => some().prop_map(|list| Expr::Min(list.into())),
            1 => some().prop_map(|list| Expr::Max(list.into())),
            1 => (scalar_type(), arc()).prop_map(|(ty, a)| Expr::Cast(ty, a)),
            1 => (arc(), proptest::option::of(".{0,3}")).prop_map(|(a, prefix)| Expr::CommonSubexpression(a, prefix.map(Into::into))),
            1 => proptest::collection::vec(inner.clone(), 0..3).prop_map(|list| Expr::Tuple(list.into())),
            1 => (function(), any::<bool>(), proptest::collection::vec(inner.clone(), 0..3), proptest::collection::btree_map(name(), inner.clone(), 0..2))
                .prop_map(|(function, resolved, args, keywords)| {
                    Expr::Call(Arc::new(Call { function, resolved, args, keywords: keywords.into_iter().collect() }))
                }),
            1 => (proptest::sample::select(vec![ReductionOp::Sum, ReductionOp::Max, ReductionOp::Custom("mine".into())]), proptest::collection::vec(name(), 0..3), inner.clone(), any::<bool>())
                .prop_map(|(op, inames, operand, simultaneous)| Expr::Reduction(Arc::new(Reduction { op, inames, operands: vec![operand], simultaneous }))),
            1 => (name(), inner.clone(), inner.clone())
                .prop_map(|(iname, a, b)| Expr::Reduction(Arc::new(Reduction { op: ReductionOp::ArgMin, inames: vec![iname], operands: vec![a, b], simultaneous: false }))),
        ]
    })
}

proptest! {
    #[test]
    fn any_expression_reads_back_as_it_was_printed(expr in any_expr()) {
        let text = expr.to_string();
        match expression(&text) {
            Ok(read) => prop_assert_eq!(read, expr, "printed as {}", text),
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[a-c0-9.()\\[\\]{}:,<>=+*/%&|^~ \n'\"@-]{0,40}|.{0,30}") {
        if let Ok(expr) = expression(&text) {
            let printed = expr.to_string();
            prop_assert_eq!(expression(&printed).map_err(|error| error.to_string()), Ok(expr), "printed as {}", printed);
        }
    }
}
