//! Expressions: what each is for vectors.

use tree_sitter::Node;

use super::{Holder, Kind, Refusal, Scalar, Value, Writer, field, parts, scalar_type};

/// Functions of the C library of one number and of two; `fabs` is written out.
const OF_ONE: [&str; 25] = [
    "fabs", "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "cbrt", "erf", "erfc", "floor", "ceil", "trunc", "round",
];
const OF_TWO: [&str; 7] = ["pow", "atan2", "fmin", "fmax", "hypot", "fmod", "copysign"];

/// Constants of the C library: those that are `double`, and those that are `float`.
const CONSTANTS: [&str; 14] = [
    "M_PI",
    "M_PI_2",
    "M_PI_4",
    "M_1_PI",
    "M_2_PI",
    "M_E",
    "M_LN2",
    "M_LN10",
    "M_SQRT2",
    "M_SQRT1_2",
    "DBL_EPSILON",
    "DBL_MAX",
    "DBL_MIN",
    "HUGE_VAL",
];
const FLOAT_CONSTANTS: [&str; 2] = ["INFINITY", "NAN"];

impl Writer<'_> {
    pub(super) fn expression(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        self.deeper(|writer| writer.any(node))
    }

    fn any(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        match node.kind() {
            "number_literal" => {
                let text = self.text_of(node);
                Ok(Value::same(literal(text).ok_or("it has a number of a type that is not known for vectors")?, text))
            }
            "true" | "false" => Ok(Value::same(Scalar::Integer, self.text_of(node))),
            "parenthesized_expression" => match parts(node)[..] {
                [inner] => {
                    let Value { kind, text } = self.expression(inner)?;
                    Ok(Value { kind, text: format!("({text})") })
                }
                _ => Err("its text cannot be parsed"),
            },
            "identifier" => self.name(node),
            "subscript_expression" => self.element(node),
            "unary_expression" => self.unary(node),
            "binary_expression" => self.binary(node),
            "conditional_expression" => self.choice(node),
            "cast_expression" => self.cast(node),
            "call_expression" => self.call(node),
            _ => Err("it has an expression that is not known for vectors"),
        }
    }

    /// The type of the numbers of a variable.
    fn kind_of(&self, name: &str, holder: Holder) -> Kind {
        match holder {
            Holder::Shared(scalar) => Kind::Same(scalar),
            Holder::Integer => Kind::Same(Scalar::Integer),
            Holder::Double if !self.vectors.contains(name) => Kind::Same(Scalar::Double),
            Holder::Double | Holder::Lanes { .. } => Kind::Vector,
        }
    }

    fn name(&self, node: Node<'_>) -> Result<Value, Refusal> {
        let name = self.text_of(node);
        match self.variable(name) {
            Some(variable) if variable.lengths.is_empty() => Ok(Value { kind: self.kind_of(name, variable.holder), text: name.to_owned() }),
            Some(_) => Err("it uses the address of numbers"),
            None if CONSTANTS.contains(&name) => Ok(Value::same(Scalar::Double, name)),
            None if FLOAT_CONSTANTS.contains(&name) => Ok(Value::same(Scalar::Float, name)),
            None => Err("it uses a name that its source does not declare"),
        }
    }

    /// A number of an array.
    fn element(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        self.place(node, |lanes, name, index| format!("pl_read({name} + {lanes} * ({index}))"))
    }

    /// What is assigned to: a variable, or a number of an array.
    pub(super) fn target(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        match node.kind() {
            "subscript_expression" => self.place(node, |lanes, name, index| format!("(*(pl_place *)({name} + {lanes} * ({index})))")),
            _ => self.name(node),
        }
    }

    /// A number of an array; `of_lanes` writes one of a parameter with numbers of all lanes.
    fn place(&mut self, node: Node<'_>, of_lanes: impl FnOnce(usize, &str, &str) -> String) -> Result<Value, Refusal> {
        let (mut array, mut nodes) = (node, Vec::new());
        while array.kind() == "subscript_expression" {
            nodes.push(field(array, "index")?);
            array = field(array, "argument")?;
        }
        nodes.reverse();
        if array.kind() != "identifier" {
            return Err("it uses the address of numbers");
        }
        let name = self.text_of(array);
        let Some(variable) = self.variable(name).cloned() else { return Err("it uses a name that its source does not declare") };
        if variable.lengths.len() != nodes.len() {
            return Err("it uses the address of numbers");
        }
        let mut indices = Vec::new();
        for (index, length) in nodes.into_iter().zip(&variable.lengths) {
            if self.guarded && !length.is_some_and(|length| integer(self.text_of(index)).is_some_and(|index| index < length)) {
                return Err("an index that may be valid only in some lanes stands behind a condition");
            }
            indices.push(self.expression(index)?.uniform()?);
        }
        let text = match (variable.holder, &indices[..]) {
            (Holder::Lanes { .. }, [index]) => of_lanes(self.lanes, name, index),
            _ => format!("{name}{}", indices.iter().map(|index| format!("[{index}]")).collect::<String>()),
        };
        Ok(Value { kind: self.kind_of(name, variable.holder), text })
    }

    fn unary(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        let operator = self.text_of(field(node, "operator")?);
        let Value { kind, text } = self.expression(field(node, "argument")?)?;
        match (kind, operator) {
            (Kind::Same(_), "!" | "~") => Ok(Value::same(Scalar::Integer, format!("({operator} {text})"))),
            (Kind::Same(_) | Kind::Vector, "-" | "+") => Ok(Value { kind, text: format!("({operator} {text})") }),
            (Kind::Truth, "!") => Ok(Value { kind, text: format!("(~{text})") }),
            _ => Err("it has an operation that is not known for vectors"),
        }
    }

    fn binary(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        let operator = self.text_of(field(node, "operator")?);
        let left = self.expression(field(node, "left")?)?;
        if matches!(operator, "&&" | "||") {
            return self.both(operator, left, field(node, "right")?);
        }
        let right = field(node, "right")?;
        let is_safe = right.kind() == "number_literal" && integer(self.text_of(right)) != Some(0);
        if self.guarded && matches!(operator, "/" | "%") && !is_safe && matches!(left.kind, Kind::Same(_)) {
            return Err("a quotient that is the same in all lanes stands behind a condition");
        }
        let right = self.expression(right)?;
        if let (Kind::Same(first), Kind::Same(second)) = (left.kind, right.kind) {
            let scalar = if matches!(operator, "+" | "-" | "*" | "/") { first.max(second) } else { Scalar::Integer };
            return Ok(Value::same(scalar, format!("({} {operator} {})", left.text, right.text)));
        }
        let kind = match operator {
            "+" | "-" | "*" | "/" => Kind::Vector,
            "<" | ">" | "<=" | ">=" | "==" | "!=" => Kind::Truth,
            _ => return Err("it has an operation that is not known for vectors"),
        };
        let text = format!("({} {operator} {})", left.vector()?, right.vector()?);
        Ok(Value { kind, text: if kind == Kind::Truth { format!("((pl_truth){text})") } else { text } })
    }

    /// Two conditions. What C leaves out depends on the left one, so that the right one may need it.
    fn both(&mut self, operator: &str, left: Value, right: Node<'_>) -> Result<Value, Refusal> {
        let in_lanes = !matches!(left.kind, Kind::Same(_));
        let right = self.guarded(in_lanes, |writer| writer.expression(right))?;
        let text = match (left.kind, right.kind, operator) {
            (Kind::Same(_), Kind::Same(_), _) => {
                return Ok(Value::same(Scalar::Integer, format!("({} {operator} {})", left.text, right.text)));
            }
            (Kind::Truth, Kind::Truth, "&&") => format!("({} & {})", left.text, right.text),
            (Kind::Truth, Kind::Truth, _) => format!("({} | {})", left.text, right.text),
            (Kind::Same(_), Kind::Truth, "&&") => format!("(({}) ? {} : pl_known(0))", left.text, right.text),
            (Kind::Same(_), Kind::Truth, _) => format!("(({}) ? pl_known(1) : {})", left.text, right.text),
            _ => return Err("it has a condition that is not known for vectors"),
        };
        Ok(Value { kind: Kind::Truth, text })
    }

    fn choice(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        let condition = self.expression(field(node, "condition")?)?;
        let in_lanes = !matches!(condition.kind, Kind::Same(_));
        let (first, second) = self.guarded(in_lanes, |writer| {
            Ok((writer.expression(field(node, "consequence")?)?, writer.expression(field(node, "alternative")?)?))
        })?;
        match (condition.kind, first.kind, second.kind) {
            (Kind::Same(_), Kind::Same(one), Kind::Same(other)) => {
                Ok(Value::same(one.max(other), format!("(({}) ? {} : {})", condition.text, first.text, second.text)))
            }
            (Kind::Same(_), ..) => {
                let text = format!("(({}) ? {} : {})", condition.text, first.vector()?, second.vector()?);
                Ok(Value { kind: Kind::Vector, text })
            }
            (Kind::Truth, one, other) => {
                // C goes on with the type of both, which is not that of a vector.
                if !one.is_double() && !other.is_double() {
                    return Err("a condition chooses between numbers that are not double");
                }
                let text = format!("pl_pick({}, {}, {})", condition.text, first.vector()?, second.vector()?);
                Ok(Value { kind: Kind::Vector, text })
            }
            (Kind::Vector, ..) => Err("it has a condition that is not known for vectors"),
        }
    }

    fn guarded<R>(&mut self, in_lanes: bool, write: impl FnOnce(&mut Self) -> Result<R, Refusal>) -> Result<R, Refusal> {
        let before = self.guarded;
        self.guarded |= in_lanes;
        let written = write(self);
        self.guarded = before;
        written
    }

    fn cast(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        let ty = self.text_of(field(node, "type")?).trim();
        let value = self.expression(field(node, "value")?)?;
        match (value.kind, scalar_type(ty)) {
            (Kind::Same(_), Some(scalar)) => Ok(Value::same(scalar, format!("(({ty}){})", value.text))),
            (Kind::Vector, Some(Scalar::Double)) => Ok(value),
            _ => Err("it converts numbers to a type that is not known for vectors"),
        }
    }

    /// A call of a function of the C library.
    fn call(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        let name = self.text_of(field(node, "function")?);
        let mut args = Vec::new();
        for arg in parts(field(node, "arguments")?) {
            args.push(self.expression(arg)?);
        }
        let is_known = match args.len() {
            1 => OF_ONE.contains(&name),
            2 => OF_TWO.contains(&name),
            _ => false,
        };
        if !is_known || self.variable(name).is_some() {
            return Err("it calls a function that is not known for vectors");
        }
        if args.iter().all(|arg| matches!(arg.kind, Kind::Same(_))) {
            // There a function may return what it takes.
            if self.text.contains("tgmath") {
                return Err("it uses tgmath.h");
            }
            let args = args.into_iter().map(|arg| arg.text).collect::<Vec<_>>().join(", ");
            return Ok(Value::same(Scalar::Double, format!("{name}({args})")));
        }
        let args = args.into_iter().map(Value::vector).collect::<Result<Vec<_>, _>>()?;
        if name != "fabs" {
            self.calls.insert(of_each(name, args.len()));
        }
        Ok(Value { kind: Kind::Vector, text: format!("pl_each_{name}({})", args.join(", ")) })
    }
}

/// The type of a number, unless it is one that C++ or an extension of C has, or wider than `double`.
fn literal(text: &str) -> Option<Scalar> {
    let text = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    let is_hexadecimal = text.starts_with("0x");
    let is_floating = text.contains(['.', 'p']) || (!is_hexadecimal && text.contains('e'));
    let digits: &[char] = &['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.'];
    let suffix = match (is_hexadecimal, is_floating) {
        (true, false) => text[2..].trim_start_matches(|letter: char| letter.is_ascii_hexdigit()),
        (true, true) => text.rsplit('p').next()?.trim_start_matches(['+', '-']).trim_start_matches(digits),
        (false, true) if text.contains('e') => text.rsplit('e').next()?.trim_start_matches(['+', '-']).trim_start_matches(digits),
        (false, true) => text.trim_start_matches(digits),
        (false, false) => text.strip_prefix("0b").unwrap_or(&text).trim_start_matches(digits),
    };
    match (is_floating, suffix) {
        (true, "") => Some(Scalar::Double),
        (true, "f") => Some(Scalar::Float),
        (false, "" | "u" | "l" | "ll" | "ul" | "ull" | "lu" | "llu") => Some(Scalar::Integer),
        _ => None,
    }
}

/// The value of a decimal number.
pub(super) fn integer(text: &str) -> Option<u64> {
    if text.len() > 1 && text.starts_with('0') { None } else { text.parse().ok() }
}

/// The function that calls another for each lane.
fn of_each(name: &str, count: usize) -> String {
    let (params, args) = match count {
        1 => ("pl_vector a", "(A)[LANE]"),
        _ => ("pl_vector a, pl_vector b", "(A)[LANE], (B)[LANE]"),
    };
    let other = if count == 1 { "0" } else { "b" };
    format!(
        "#ifndef PL_EACH_{name}\n#define PL_EACH_{name}(A, B, LANE) {name}({args})\n\
         PL_VECTOR pl_each_{name}({params}) {{ return (pl_vector)PL_LANES(PL_EACH_{name}, a, {other}); }}\n#endif\n"
    )
}
