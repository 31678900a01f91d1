//! Named constants of every target.

use parloop_device::DType;

use crate::callable::{CallableError, Symbol};
use crate::program::Program;
use crate::syntax::{Target, Type};

/// Constants of the C headers, as text that needs no header.
const CONSTANTS: &[(&str, DType, &str)] = &[
    ("NAN", DType::F32, "(0.0f / 0.0f)"),
    ("INFINITY", DType::F32, "(1.0f / 0.0f)"),
    ("HUGE_VAL", DType::F64, "(1.0 / 0.0)"),
    ("INT_MAX", DType::I32, "2147483647"),
    ("INT_MIN", DType::I32, "(-2147483647 - 1)"),
    ("FLT_EPSILON", DType::F32, "1.1920929e-7f"),
    ("FLT_MAX", DType::F32, "3.40282347e+38f"),
    ("FLT_MIN", DType::F32, "1.17549435e-38f"),
    ("DBL_EPSILON", DType::F64, "2.220446049250313e-16"),
    ("DBL_MAX", DType::F64, "1.7976931348623157e+308"),
    ("DBL_MIN", DType::F64, "2.2250738585072014e-308"),
    ("M_E", DType::F64, "2.718281828459045"),
    ("M_LN2", DType::F64, "0.6931471805599453"),
    ("M_PI", DType::F64, "3.141592653589793"),
    ("M_PI_2", DType::F64, "1.5707963267948966"),
    ("M_PI_4", DType::F64, "0.7853981633974483"),
    ("M_1_PI", DType::F64, "0.3183098861837907"),
    ("M_2_PI", DType::F64, "0.6366197723675814"),
    ("M_SQRT2", DType::F64, "1.4142135623730951"),
    ("M_SQRT1_2", DType::F64, "0.7071067811865476"),
];

/// The value of a name that is not a variable of the kernel: from the user's look-ups, else a C constant.
///
/// # Errors
/// Any error of the look-up.
pub fn symbol(program: &Program, target: Option<Target>, name: &str) -> Result<Option<Symbol>, CallableError> {
    for lookup in program.lookups.iter().rev() {
        if let Some(symbol) = lookup.symbol(target, name)? {
            return Ok(Some(symbol));
        }
    }
    let found = CONSTANTS.iter().find(|(constant, _, _)| *constant == name);
    Ok(found.map(|(_, dtype, text)| Symbol { ty: Type::Scalar(*dtype), text: (*text).into() }))
}

/// Whether a name is a C constant, unless a kernel declares it.
pub fn is_constant(name: &str) -> bool {
    CONSTANTS.iter().any(|(constant, _, _)| *constant == name)
}
