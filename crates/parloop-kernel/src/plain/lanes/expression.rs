//! Expressions: what each is for vectors.

use tree_sitter::Node;

use super::{Kind, Refusal, Value, Variable, Writer, field, parts};

/// Functions of the C library of one number and of two; `fabs` is written out.
const OF_ONE: [&str; 25] = [
    "fabs", "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "cbrt", "erf", "erfc", "floor", "ceil", "trunc", "round",
];
const OF_TWO: [&str; 7] = ["pow", "atan2", "fmin", "fmax", "hypot", "fmod", "copysign"];

/// Constants of the C library.
const CONSTANTS: [&str; 16] = [
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
    "INFINITY",
    "NAN",
    "DBL_EPSILON",
    "DBL_MAX",
    "DBL_MIN",
    "HUGE_VAL",
];

impl Writer<'_> {
    pub(super) fn expression(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        self.deeper(|writer| writer.any(node))
    }

    fn any(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        match node.kind() {
            "number_literal" | "true" | "false" => Ok(Value::same(self.text_of(node))),
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

    fn kind_of(&self, name: &str) -> Kind {
        if self.vectors.contains(name) { Kind::Vector } else { Kind::Same }
    }

    fn name(&self, node: Node<'_>) -> Result<Value, Refusal> {
        let name = self.text_of(node);
        match self.variable(name) {
            Some(Variable::Same | Variable::SameParam) => Ok(Value::same(name)),
            Some(Variable::Number { axes: 0 }) => Ok(Value { kind: self.kind_of(name), text: name.to_owned() }),
            Some(_) => Err("it uses the address of numbers"),
            None if CONSTANTS.contains(&name) => Ok(Value::same(name)),
            None => Err("it uses a name that its source does not declare"),
        }
    }

    /// A number of an array.
    fn element(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        let (mut array, mut indices) = (node, Vec::new());
        while array.kind() == "subscript_expression" {
            let index = field(array, "index")?;
            if self.guarded && index.kind() != "number_literal" {
                return Err("an index that may be valid only in some lanes stands behind a condition");
            }
            indices.push(self.expression(index)?.uniform()?);
            array = field(array, "argument")?;
        }
        if array.kind() != "identifier" {
            return Err("it uses the address of numbers");
        }
        let name = self.text_of(array);
        let subscripts: String = indices.iter().rev().map(|index| format!("[{index}]")).collect();
        match self.variable(name) {
            Some(Variable::Same | Variable::SameParam) => Ok(Value::same(format!("{name}{subscripts}"))),
            Some(Variable::Number { axes }) if axes == indices.len() => {
                Ok(Value { kind: self.kind_of(name), text: format!("{name}{subscripts}") })
            }
            Some(Variable::Param { constant }) if indices.len() == 1 => {
                let constant = if constant { "const " } else { "" };
                let text = format!("(*({constant}pl_place *)({name} + {} * ({})))", self.lanes, indices[0]);
                Ok(Value { kind: Kind::Vector, text })
            }
            Some(_) => Err("it uses the address of numbers"),
            None => Err("it uses a name that its source does not declare"),
        }
    }

    fn unary(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        let operator = self.text_of(field(node, "operator")?);
        let Value { kind, text } = self.expression(field(node, "argument")?)?;
        match (kind, operator) {
            (Kind::Same, "-" | "+" | "!" | "~") | (Kind::Vector, "-" | "+") => Ok(Value { kind, text: format!("({operator} {text})") }),
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
        if self.guarded && matches!(operator, "/" | "%") && right.kind() != "number_literal" && left.kind == Kind::Same {
            return Err("a quotient that is the same in all lanes stands behind a condition");
        }
        let right = self.expression(right)?;
        let kind = match operator {
            _ if left.kind == Kind::Same && right.kind == Kind::Same => Kind::Same,
            "+" | "-" | "*" | "/" => Kind::Vector,
            "<" | ">" | "<=" | ">=" | "==" | "!=" => Kind::Truth,
            _ => return Err("it has an operation that is not known for vectors"),
        };
        if kind == Kind::Same {
            return Ok(Value::same(format!("({} {operator} {})", left.text, right.text)));
        }
        let text = format!("({} {operator} {})", left.vector()?, right.vector()?);
        Ok(Value { kind, text: if kind == Kind::Truth { format!("((pl_truth){text})") } else { text } })
    }

    /// Two conditions. What C leaves out depends on the left one, so that the right one may need it.
    fn both(&mut self, operator: &str, left: Value, right: Node<'_>) -> Result<Value, Refusal> {
        let in_lanes = left.kind != Kind::Same;
        let right = self.guarded(in_lanes, |writer| writer.expression(right))?;
        let text = match (left.kind, right.kind, operator) {
            (Kind::Same, Kind::Same, _) => return Ok(Value::same(format!("({} {operator} {})", left.text, right.text))),
            (Kind::Truth, Kind::Truth, "&&") => format!("({} & {})", left.text, right.text),
            (Kind::Truth, Kind::Truth, _) => format!("({} | {})", left.text, right.text),
            (Kind::Same, Kind::Truth, "&&") => format!("(({}) ? {} : pl_known(0))", left.text, right.text),
            (Kind::Same, Kind::Truth, _) => format!("(({}) ? pl_known(1) : {})", left.text, right.text),
            _ => return Err("it has a condition that is not known for vectors"),
        };
        Ok(Value { kind: Kind::Truth, text })
    }

    fn choice(&mut self, node: Node<'_>) -> Result<Value, Refusal> {
        let condition = self.expression(field(node, "condition")?)?;
        let in_lanes = condition.kind != Kind::Same;
        let (first, second) = self.guarded(in_lanes, |writer| {
            Ok((writer.expression(field(node, "consequence")?)?, writer.expression(field(node, "alternative")?)?))
        })?;
        match condition.kind {
            Kind::Same if first.kind == Kind::Same && second.kind == Kind::Same => {
                Ok(Value::same(format!("(({}) ? {} : {})", condition.text, first.text, second.text)))
            }
            Kind::Same => {
                let text = format!("(({}) ? {} : {})", condition.text, first.vector()?, second.vector()?);
                Ok(Value { kind: Kind::Vector, text })
            }
            Kind::Truth => {
                let text = format!("pl_pick({}, {}, {})", condition.text, first.vector()?, second.vector()?);
                Ok(Value { kind: Kind::Vector, text })
            }
            Kind::Vector => Err("it has a condition that is not known for vectors"),
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
        let ty = self.text_of(field(node, "type")?).trim().to_owned();
        let value = self.expression(field(node, "value")?)?;
        match value.kind {
            Kind::Same => Ok(Value::same(format!("(({ty}){})", value.text))),
            Kind::Vector if ty == "double" => Ok(value),
            _ => Err("it converts floating-point numbers to another type"),
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
        if args.iter().all(|arg| arg.kind == Kind::Same) {
            let args = args.into_iter().map(|arg| arg.text).collect::<Vec<_>>().join(", ");
            return Ok(Value::same(format!("{name}({args})")));
        }
        let args = args.into_iter().map(Value::vector).collect::<Result<Vec<_>, _>>()?;
        if name != "fabs" {
            self.calls.insert(of_each(name, args.len()));
        }
        Ok(Value { kind: Kind::Vector, text: format!("pl_each_{name}({})", args.join(", ")) })
    }
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
