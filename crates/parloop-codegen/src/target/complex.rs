//! Complex numbers for languages without them: pairs, and functions on pairs.

use parloop_device::DType;

use super::dialect::Dialect;

/// The functions of one complex type.
pub(super) fn functions(dialect: &dyn Dialect, dtype: DType, both: bool) -> String {
    let part = part_of(dtype);
    let (pair, number) = (dialect.scalar(dtype), dialect.scalar(part));
    let function = |name: &str| dialect.real_function(name, part);
    let prefix = if dtype == DType::C64 { "pl_c64" } else { "pl_c128" };
    let head = dialect.routine();
    let mut text = format!("{head}{pair} {prefix}_make({number} re, {number} im) {{ {pair} z; z.x = re; z.y = im; return z; }}\n");
    let mut add = |name: &str, params: &str, result: &str| {
        text.push_str(&format!("{head}{pair} {prefix}_{name}({params}) {{ return {prefix}_make({result}); }}\n"));
    };
    let two = format!("{pair} a, {pair} b");
    add("add", &two, "a.x + b.x, a.y + b.y");
    add("sub", &two, "a.x - b.x, a.y - b.y");
    add("mul", &two, "a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x");
    add("neg", &format!("{pair} a"), "-a.x, -a.y");
    // The larger part of the divisor is divided by, so that its square does not overflow.
    let (abs, exp, log, sqrt) = (function("fabs"), function("exp"), function("log"), function("hypot"));
    let (sin, cos, atan2) = (function("sin"), function("cos"), function("atan2"));
    text.push_str(&format!(
        "{head}{pair} {prefix}_div({two}) {{\n  if ({abs}(b.x) >= {abs}(b.y)) {{\n    {number} const r = b.y / b.x, d = b.x + b.y * r;\n    \
         return {prefix}_make((a.x + a.y * r) / d, (a.y - a.x * r) / d);\n  }}\n  {number} const r = b.x / b.y, d = b.x * r + b.y;\n  \
         return {prefix}_make((a.x * r + a.y) / d, (a.y * r - a.x) / d);\n}}\n"
    ));
    text.push_str(&format!("{head}int {prefix}_eq({two}) {{ return a.x == b.x && a.y == b.y; }}\n"));
    text.push_str(&format!(
        "{head}{pair} {prefix}_power({two}) {{\n  if (b.x == 0 && b.y == 0) return {prefix}_make(1, 0);\n  \
         if (a.x == 0 && a.y == 0) return {prefix}_make(0, 0);\n  {number} const l = {log}({sqrt}(a.x, a.y)), t = {atan2}(a.y, a.x);\n  \
         {number} const r = {exp}(b.x * l - b.y * t), u = b.y * l + b.x * t;\n  return {prefix}_make(r * {cos}(u), r * {sin}(u));\n}}\n"
    ));
    if both {
        let other = if dtype == DType::C64 { DType::C128 } else { DType::C64 };
        let other = dialect.scalar(other);
        text.push_str(&format!("{head}{pair} {prefix}_from({other} a) {{ return {prefix}_make(({number})a.x, ({number})a.y); }}\n"));
    }
    text
}

/// The type of the parts of a complex number.
pub(super) fn part_of(dtype: DType) -> DType {
    if dtype == DType::C64 { DType::F32 } else { DType::F64 }
}

/// The name of a function of complex numbers.
pub(super) fn complex_name(dtype: DType, function: &str) -> String {
    format!("pl_{}_{function}", if dtype == DType::C64 { "c64" } else { "c128" })
}
