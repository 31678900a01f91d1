//! Complex functions for targets without complex numbers: two numbers, `x` and `y`, in a `float2` or `double2`.

use parloop_device::DType;

use super::words::{function_words, native_type};
use crate::promote::real_of;
use crate::syntax::Target;

/// The name of our function.
pub(super) fn helper_name(function: &str, dtype: DType) -> String {
    format!("pl_{function}_{}", if dtype == DType::C64 { "c64" } else { "c128" })
}

/// The text of our function. Each function is self-contained, so that none depends on another.
pub(super) fn helper(function: &str, dtype: DType, target: Target) -> String {
    let (complex, real) = (native_type(dtype, target), native_type(real_of(dtype), target));
    let gives = if matches!(function, "abs" | "real" | "imag") { real } else { complex };
    let second = if function == "pow" { format!(", {complex} w") } else { String::new() };
    let number = |text: &str| if real == "float" { format!("{text}f") } else { text.to_owned() };
    let (zero, one, two) = (number("0.0"), number("1.0"), number("2.0"));
    let body = match function {
        "abs" => "return hypot(z.x, z.y);".to_owned(),
        "real" => "return z.x;".to_owned(),
        "imag" => "return z.y;".to_owned(),
        "conj" => parts(complex, "z.x", "-z.y"),
        "exp" => format!("{real} e = exp(z.x); {}", parts(complex, "e * cos(z.y)", "e * sin(z.y)")),
        "log" => parts(complex, "log(hypot(z.x, z.y))", "atan2(z.y, z.x)"),
        "sin" => parts(complex, "sin(z.x) * cosh(z.y)", "cos(z.x) * sinh(z.y)"),
        "cos" => parts(complex, "cos(z.x) * cosh(z.y)", "-sin(z.x) * sinh(z.y)"),
        "sinh" => parts(complex, "sinh(z.x) * cos(z.y)", "cosh(z.x) * sin(z.y)"),
        "cosh" => parts(complex, "cosh(z.x) * cos(z.y)", "sinh(z.x) * sin(z.y)"),
        "tan" => format!(
            "{real} t = tan(z.x), h = tanh(z.y), d = {one} + t * t * h * h; {}",
            parts(complex, &format!("t * ({one} - h * h) / d"), &format!("h * ({one} + t * t) / d"))
        ),
        "tanh" => format!(
            "{real} h = tanh(z.x), t = tan(z.y), d = {one} + t * t * h * h; {}",
            parts(complex, &format!("h * ({one} + t * t) / d"), &format!("t * ({one} - h * h) / d"))
        ),
        "sqrt" => format!(
            "{real} m = hypot(z.x, z.y), t = sqrt((fabs(z.x) + m) / {two}); {complex} r; \
             if (m == {zero}) {{ r.x = {zero}; r.y = z.y; }} \
             else if (z.x >= {zero}) {{ r.x = t; r.y = z.y / ({two} * t); }} \
             else {{ r.x = fabs(z.y) / ({two} * t); r.y = copysign(t, z.y); }} return r;"
        ),
        // `pow`: exp(w log z); zero to any power but zero is zero.
        _ => format!(
            "{complex} r; {real} m = hypot(z.x, z.y); \
             if (m == {zero}) {{ r.x = w.x == {zero} && w.y == {zero} ? {one} : {zero}; r.y = {zero}; return r; }} \
             {real} l = log(m), a = atan2(z.y, z.x), e = exp(w.x * l - w.y * a), p = w.x * a + w.y * l; \
             r.x = e * cos(p); r.y = e * sin(p); return r;"
        ),
    };
    format!("{} {gives} {}({complex} z{second}) {{ {body} }}", function_words(target), helper_name(function, dtype))
}

fn parts(complex: &str, x: &str, y: &str) -> String {
    format!("{complex} r; r.x = {x}; r.y = {y}; return r;")
}
