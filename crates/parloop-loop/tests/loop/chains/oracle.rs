//! What a kernel means: the numbers that the interpreter gives for it as created.

use std::collections::BTreeMap;

use parloop_device::DType;
use parloop_interpret::{Number, interpret};
use parloop_loop::file::LoopFile;
use parloop_loop::syntax::{ArgumentKind, LoopKernel, Type};

use super::case::{Case, NEAR};

/// The numbers of each array, in C order.
pub type Numbers = BTreeMap<String, Vec<f64>>;

/// Numbers beyond these are not computed: sums of them would no longer be exact in every type.
const LIMIT: f64 = (1 << 30) as f64;

/// The arrays that a kernel takes: name, type and number of axes.
pub fn arrays(kernel: &LoopKernel) -> Vec<(String, DType, usize)> {
    let array = |argument: &parloop_loop::syntax::Argument| match (&argument.kind, &argument.ty) {
        (ArgumentKind::Array { layout, .. }, Some(Type::Scalar(dtype))) => {
            Some((argument.name.to_string(), *dtype, layout.axis_count().unwrap_or(0)))
        }
        _ => None,
    };
    kernel.arguments.iter().filter_map(array).collect()
}

/// The length of every axis of an argument.
pub fn length(size: i64) -> usize {
    usize::try_from(2 * size + 16).unwrap()
}

/// What an array holds before the call: a permutation, indices of which some are the same, or small numbers.
pub fn before(name: &str, axes: usize, size: i64) -> Vec<f64> {
    let length = if name == "h" { NEAR * (size as usize + 2) } else { length(size) };
    let factor = [7, 5, 3, 11].into_iter().find(|factor| length % factor != 0).unwrap_or(1);
    let count = length.pow(u32::try_from(axes).unwrap());
    let spread = usize::from(name.as_bytes()[0]);
    let number = |place: usize| match name {
        "p" => (place * factor + 3) % length,
        "q" => (place * place + 1) % length,
        // All of its rows are one.
        "w" => (place % length * 7 + place % length / 3) % 9,
        _ => (place * 7 + place / 3 + spread * 5) % 9,
    };
    let lowest = if "pqh".contains(name) { 0.0 } else { 4.0 };
    (0..count).map(|place| number(place) as f64 - lowest).collect()
}

/// What the kernel of a case makes of its arrays, for each size.
pub fn meaning(case: &Case) -> Result<Vec<Numbers>, String> {
    let file = LoopFile::parse(&case.meaning()).map_err(|error| error.to_string())?;
    let program = file.untransformed().map_err(|error| error.to_string())?;
    let kernel = program.entry().ok_or("no kernel")?;
    let one = |&size: &i64| {
        let number = |dtype: DType, value: f64| if dtype == DType::F64 { Number::Float(value) } else { Number::Int(value as i128) };
        let mut given = BTreeMap::from([("n".into(), vec![Number::Int(size.into())])]);
        for (name, dtype, axes) in arrays(kernel) {
            let numbers = before(case.source(&name), axes, size).into_iter().map(|value| number(dtype, value)).collect();
            given.insert(name.as_str().into(), numbers);
        }
        let found = interpret(&program, &given).map_err(|error| error.to_string())?;
        let found: Numbers =
            found.into_iter().map(|(name, numbers)| (name.to_string(), numbers.into_iter().map(Number::real).collect())).collect();
        match found.values().flatten().all(|value: &f64| value.abs() < LIMIT) {
            true => Ok(found),
            false => Err("the numbers are too large".to_owned()),
        }
    };
    case.sizes.iter().map(one).collect()
}
