//! Initial values of temporaries: `int32[2, 2](1, 2, 3, 4)`, or the bytes in hexadecimal where decimal numbers are not exact:
//! `float32[1]("0000c07f")`.

use std::fmt::Write as _;
use std::ops::Range;

use parloop_device::DType;

use super::error::{Mistake, ParseError};
use super::expression::Parser;
use super::lex::Kind;
use crate::syntax::{Expr, Initializer, Literal, Type};

pub(super) fn read(text: &str, span: Range<usize>) -> Result<Initializer, ParseError> {
    let wrong = |why: &str| ParseError::at(text, span.clone(), Mistake::Other(format!("initial values of a temporary: {why}")));
    let mut parser = Parser::new(text, span.clone())?;
    let Type::Scalar(dtype) = parser.type_argument()? else { return Err(wrong("their type must be a scalar")) };
    parser.expect("[")?;
    let mut shape: Vec<usize> = Vec::new();
    while !parser.accept("]") {
        match parser.one()?.expr {
            Expr::Literal(Literal::Int(length, None)) => {
                shape.push(usize::try_from(length).map_err(|_| wrong("lengths must not be negative"))?)
            }
            _ => return Err(wrong("lengths must be numbers")),
        }
        if !parser.accept(",") && !parser.is("]") {
            return Err(parser.expected("`,` or `]`"));
        }
    }
    parser.expect("(")?;
    let mut bytes = Vec::new();
    if let Kind::Text(digits) = &parser.token().kind {
        bytes = from_hex(digits).ok_or_else(|| wrong("bytes must be pairs of hexadecimal digits (0-9, a-f)"))?;
        parser.advance();
        parser.expect(")")?;
    } else {
        while !parser.accept(")") {
            let value = parser.one()?.expr;
            let Expr::Literal(value) = value else { return Err(wrong("they must be numbers")) };
            put(&value, dtype, &mut bytes).ok_or_else(|| wrong(&format!("`{value}` is not a {dtype}")))?;
            if !parser.accept(",") && !parser.is(")") {
                return Err(parser.expected("`,` or `)`"));
            }
        }
    }
    parser.end()?;
    let count = shape.iter().try_fold(dtype.size(), |size, &length| size.checked_mul(length));
    if count != Some(bytes.len()) {
        return Err(wrong(&format!("there are {} of them, which does not match the lengths", bytes.len() / dtype.size())));
    }
    Ok(Initializer { dtype, shape, bytes: bytes.into() })
}

/// In the form that [`read`] parses.
pub(crate) fn print(values: &Initializer) -> String {
    let lengths: Vec<String> = values.shape.iter().map(ToString::to_string).collect();
    let numbers: Option<Vec<String>> = values.bytes.chunks(values.dtype.size()).map(|bytes| number(bytes, values.dtype)).collect();
    let content = match numbers {
        Some(numbers) => numbers.join(", "),
        None => {
            let mut digits = String::from("\"");
            for byte in &*values.bytes {
                // Writing to a string does not fail.
                let _ = write!(digits, "{byte:02x}");
            }
            digits + "\""
        }
    };
    format!("{}[{}]({content})", values.dtype, lengths.join(", "))
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some((digit(*high)? * 16 + digit(*low)?) as u8),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}

/// Appends the bytes of a number of that type.
fn put(value: &Literal, dtype: DType, bytes: &mut Vec<u8>) -> Option<()> {
    match (value, dtype) {
        (Literal::Bool(value), DType::Bool) => bytes.push(u8::from(*value)),
        (Literal::Int(value, None), _) if dtype.is_integer() => {
            let (least, largest) = dtype.integer_range()?;
            (least..=largest).contains(value).then_some(())?;
            bytes.extend_from_slice(&integer_bytes(*value, dtype.size()));
        }
        (Literal::Float(bits, None), DType::F32) => bytes.extend_from_slice(&(f64::from_bits(*bits) as f32).to_ne_bytes()),
        (Literal::Float(bits, None), DType::F64) => bytes.extend_from_slice(&f64::from_bits(*bits).to_ne_bytes()),
        (Literal::Int(value, None), DType::F32) => bytes.extend_from_slice(&(*value as f32).to_ne_bytes()),
        (Literal::Int(value, None), DType::F64) => bytes.extend_from_slice(&(*value as f64).to_ne_bytes()),
        _ => return None,
    }
    Some(())
}

/// The lowest bytes of an integer, in the machine's order.
fn integer_bytes(value: i128, size: usize) -> Vec<u8> {
    let all = value.to_ne_bytes();
    if cfg!(target_endian = "big") { all[16 - size..].to_vec() } else { all[..size].to_vec() }
}

/// A number from its bytes, if its text is exact.
fn number(bytes: &[u8], dtype: DType) -> Option<String> {
    let literal = match dtype {
        DType::Bool => match bytes {
            [0] => Literal::Bool(false),
            [1] => Literal::Bool(true),
            _ => return None,
        },
        DType::F32 => Literal::Float(f64::from(f32::from_ne_bytes(bytes.try_into().ok()?)).to_bits(), None),
        DType::F64 => Literal::Float(f64::from_ne_bytes(bytes.try_into().ok()?).to_bits(), None),
        DType::C64 | DType::C128 => return None,
        _ => {
            let (least, _) = dtype.integer_range()?;
            let mut wide = [if least < 0 && sign_bit(bytes) { 0xff } else { 0 }; 16];
            if cfg!(target_endian = "big") {
                wide[16 - bytes.len()..].copy_from_slice(bytes);
            } else {
                wide[..bytes.len()].copy_from_slice(bytes);
            }
            Literal::Int(i128::from_ne_bytes(wide), None)
        }
    };
    if matches!(literal, Literal::Float(bits, _) if !f64::from_bits(bits).is_finite()) {
        return None;
    }
    Some(literal.to_string())
}

fn sign_bit(bytes: &[u8]) -> bool {
    let highest = if cfg!(target_endian = "big") { bytes.first() } else { bytes.last() };
    highest.is_some_and(|byte| byte & 0x80 != 0)
}
