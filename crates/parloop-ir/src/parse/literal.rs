//! Numbers as written: `12`, `0x1f`, `1.5`, `1e-3`, `1.5f`, `2j`, `2.5jf`.

use parloop_device::DType;

use crate::syntax::Literal;

/// The value of a number token, or why it is invalid.
pub(super) fn number(text: &str) -> Result<Literal, String> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err("only the digits 0-9 and a-f may follow `0x`".to_owned());
        }
        return i128::from_str_radix(digits, 16).map(|value| Literal::Int(value, None)).map_err(|_| too_large());
    }
    let (digits, suffix) = text.split_at(suffix_start(text));
    match suffix {
        "" if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().map(|value| Literal::Int(value, None)).map_err(|_| too_large())
        }
        "" => Ok(Literal::Float(double(digits)?, None)),
        "d" => Ok(Literal::Float(double(digits)?, Some(DType::F64))),
        "f" => Ok(Literal::Float(single(digits)?, Some(DType::F32))),
        "j" => Ok(Literal::Imaginary(double(digits)?, None)),
        "jf" | "fj" => Ok(Literal::Imaginary(single(digits)?, Some(DType::C64))),
        _ => Err(format!("unknown suffix `{suffix}`: `f` is float32, `d` float64, `j` imaginary, `jf` imaginary in complex64")),
    }
}

fn suffix_start(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = bytes.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    if matches!(bytes.get(at), Some(b'e' | b'E'))
        && bytes.get(at + 1).is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-'))
    {
        at += 2;
        at += bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    }
    at
}

fn double(digits: &str) -> Result<u64, String> {
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value.to_bits()),
        Ok(_) => Err(too_large()),
        Err(error) => Err(error.to_string()),
    }
}

/// Rounded to single precision, by its bits as a double.
fn single(digits: &str) -> Result<u64, String> {
    match digits.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(f64::from(value).to_bits()),
        Ok(_) => Err("it is larger than any float32".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn too_large() -> String {
    "it is too large".to_owned()
}

/// The negated number; `None` if it has no sign or the result does not fit.
pub(super) fn negated(literal: &Literal) -> Option<Literal> {
    let flip = |bits: u64| {
        let value = f64::from_bits(bits);
        (!value.is_nan()).then_some((-value).to_bits())
    };
    Some(match *literal {
        Literal::Int(value, dtype) => {
            let value = value.checked_neg()?;
            if let Some((least, largest)) = dtype.and_then(DType::integer_range) {
                (least..=largest).contains(&value).then_some(())?;
            }
            Literal::Int(value, dtype)
        }
        Literal::Float(bits, dtype) => Literal::Float(flip(bits)?, dtype),
        Literal::Imaginary(bits, dtype) => Literal::Imaginary(flip(bits)?, dtype),
        Literal::Bool(_) | Literal::Text(_) => return None,
    })
}
