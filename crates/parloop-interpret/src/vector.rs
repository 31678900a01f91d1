//! Functions of vectors, as the reference defines them.

use parloop_device::DType;
use parloop_ir::syntax::BinaryOp;

use crate::number::{Datum, Fault, Number, Value, binary};
use crate::random123;

/// The results of a function of vectors; `None` for other functions. Arguments have the types that it takes.
pub(super) fn call(name: &str, args: &[Datum]) -> Result<Option<Vec<Datum>>, Fault> {
    if name.starts_with("make_") && name != "make_tuple" {
        let lanes = args.iter().map(|arg| arg.part(0).ok_or(Fault::NoOperation)).collect::<Result<_, _>>()?;
        return Ok(Some(vec![Datum::Many(lanes)]));
    }
    if let [Datum::Many(counter), Datum::Many(key)] = args
        && let Some(results) = random(name, counter, key)?
    {
        return Ok(Some(results));
    }
    match (name, args) {
        ("dot", [Datum::Many(left), Datum::Many(right)]) => {
            let products = left.iter().zip(right).map(|(&left, &right)| binary(BinaryOp::Multiply, left, right));
            let sum = products.reduce(|sum, product| binary(BinaryOp::Add, sum?, product?)).ok_or(Fault::NoOperation)??;
            Ok(Some(vec![Datum::One(sum)]))
        }
        _ => Ok(None),
    }
}

/// The numbers of a random generator and the next counter; `None` for other functions.
fn random(name: &str, counter: &[Value], key: &[Value]) -> Result<Option<Vec<Datum>>, Fault> {
    let (generator, kind) = name.split_once('_').unwrap_or((name, ""));
    let integers = |values: &[Value]| {
        let integers = values.iter().map(|value| value.number.integer().and_then(|integer| u128::try_from(integer).ok()));
        integers.collect::<Option<Vec<u128>>>().ok_or(Fault::NoOperation)
    };
    let (Some(word), Ok(counter), Ok(key)) = (counter.first().map(|value| value.dtype), integers(counter), integers(key)) else {
        return Ok(None);
    };
    let bits = 8 * word.size() as u32;
    let Some(first) = random123::generate(generator, &counter, &key) else { return Ok(None) };
    let next = random123::next(&counter, bits);
    let of = |dtype: DType, number: Number| Ok::<Value, Fault>(Value::strong(dtype, number.to(dtype).ok_or(Fault::TooLarge)?));
    let whole = |words: &[u128]| words.iter().map(|&word_of| of(word, Number::Int(word_of as i128))).collect::<Result<Vec<_>, _>>();
    let scaled = |dtype: DType, words: &[u128], bits: u32| {
        let scale = Value::strong(dtype, Number::Float(0.5f64.powi(bits as i32)));
        words.iter().map(|&word| binary(BinaryOp::Multiply, of(dtype, Number::Int(word as i128))?, scale)).collect::<Result<Vec<_>, _>>()
    };
    let (values, next) = match (kind, bits) {
        ("", _) => (whole(&first)?, next),
        ("f32", bits) => (scaled(DType::F32, &first, bits)?, next),
        ("f64", 32) => {
            let second = random123::generate(generator, &next, &key).ok_or(Fault::NoOperation)?;
            let (upper, lower) = (scaled(DType::F64, &first, 32)?, scaled(DType::F64, &second, 64)?);
            let sums = upper.into_iter().zip(lower).map(|(upper, lower)| binary(BinaryOp::Add, upper, lower));
            (sums.collect::<Result<Vec<_>, _>>()?, random123::next(&next, bits))
        }
        ("f64", bits) => (scaled(DType::F64, &first, bits)?, next),
        _ => return Ok(None),
    };
    Ok(Some(vec![Datum::Many(values), Datum::Many(whole(&next)?)]))
}
