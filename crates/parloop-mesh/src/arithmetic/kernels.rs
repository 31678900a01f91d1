//! The loop kernels of arithmetic: each is made once for its operation, types and number of components.

use std::collections::HashMap;

use parloop_device::DType;
use parloop_device::forked::Lock;
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::error::LoopError;

use super::{Operation, Rounding, rank};
use crate::Result;
use crate::kernel::Kernel;

/// What a kernel does. `y` is the data that is changed or comes first, `x` what is combined with it, `z` the result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    Zero,
    Copy,
    Negate,
    Update(Operator),
    Combine(Operator),
    Axpy {
        is_self: bool,
        factor: DType,
    },
    Inner {
        is_self: bool,
        result: DType,
    },
    /// The sum of the squares of the numbers times a factor.
    Squares {
        result: DType,
    },
}

/// An operation and where its sides come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operator {
    pub operation: Operation,
    pub kind: Kind,
    /// Whether the other side comes first.
    pub is_turned: bool,
    pub rounding: Rounding,
}

/// What the other side of an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The same data.
    Own,
    /// A number for each component.
    Each,
    /// One number for all.
    One,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    form: Form,
    dtype: DType,
    other: DType,
    count: usize,
}

/// The kernel of that form for data of a type, combined with numbers of another type, with this many numbers for each element.
pub fn kernel(form: &Form, dtype: DType, other: DType, count: usize) -> Result<Kernel> {
    static KNOWN: Lock<Option<HashMap<Key, Kernel>>> = Lock::new(None);
    let key = Key { form: form.clone(), dtype, other, count };
    if let Some(kernel) = KNOWN.lock_or(|| None).get_or_insert_default().get(&key) {
        return Ok(kernel.clone());
    }
    let made = make(&key)?;
    Ok(KNOWN.lock_or(|| None).get_or_insert_default().entry(key).or_insert(made).clone())
}

fn make(key: &Key) -> Result<Kernel> {
    let Key { form, dtype, other, count } = key;
    let (name, instruction, arguments) = match form {
        Form::Zero => ("zero", "y[i] = 0".to_owned(), vec![("y", *dtype, *count)]),
        Form::Copy => ("copy", "z[i] = y[i]".to_owned(), vec![("z", *dtype, *count), ("y", *other, *count)]),
        Form::Negate => ("negate", "z[i] = -y[i]".to_owned(), vec![("z", *dtype, *count), ("y", *dtype, *count)]),
        Form::Update(operator) => {
            let mut arguments = vec![("y", *dtype, *count)];
            arguments.extend(operator.argument(*other, *count));
            (operator.name(), format!("y[i] = {}", operator.expression(*dtype, *other)), arguments)
        }
        Form::Combine(operator) => {
            let mut arguments = vec![("z", *dtype, *count), ("y", *dtype, *count)];
            arguments.extend(operator.argument(*other, *count));
            (operator.name(), format!("z[i] = {}", operator.expression(*dtype, *other)), arguments)
        }
        Form::Axpy { is_self: true, factor } => {
            ("axpy", "y[i] = y[i] + a[0]*y[i]".to_owned(), vec![("y", *dtype, *count), ("a", *factor, 1)])
        }
        Form::Axpy { is_self: false, factor } => {
            let arguments = vec![("y", *dtype, *count), ("a", *factor, 1), ("x", *other, *count)];
            ("axpy", "y[i] = y[i] + a[0]*x[i]".to_owned(), arguments)
        }
        Form::Inner { is_self, result } => {
            let (second, second_type) = if *is_self { ("y", *dtype) } else { ("x", *other) };
            let conjugate = if second_type.is_complex() { format!("conj({second}[i])") } else { format!("{second}[i]") };
            let product = format!("{}*{conjugate}", converted("y[i]", *dtype, *result));
            let mut arguments = vec![("r", *result, 1), ("y", *dtype, *count)];
            if !is_self {
                arguments.push(("x", *other, *count));
            }
            ("inner", format!("r[0] = r[0] + {product}"), arguments)
        }
        Form::Squares { result } => {
            let number = format!("(a[0]*{})", converted("y[i]", *dtype, *result));
            let conjugate = if result.is_complex() { format!("conj{number}") } else { number.clone() };
            let arguments = vec![("r", *result, 1), ("a", *result, 1), ("y", *dtype, *count)];
            ("squares", format!("r[0] = r[0] + {number}*{conjugate}"), arguments)
        }
    };
    let mut builder = KernelBuilder::new().domain(format!("{{[i]: 0<=i<{count}}}").as_str()).instructions(&instruction).name(name);
    for (argument, dtype, length) in arguments {
        builder = builder.data(Data::global(argument).dtype(dtype.name()).shape(length.to_string()));
    }
    let program = builder.build().map_err(LoopError::from)?;
    Kernel::from_program(program, name)
}

impl Operator {
    fn name(&self) -> &'static str {
        match self.operation {
            Operation::Add => "add",
            Operation::Subtract => "subtract",
            Operation::Multiply => "multiply",
            Operation::Divide => "divide",
        }
    }

    fn argument(&self, dtype: DType, count: usize) -> Option<(&'static str, DType, usize)> {
        match self.kind {
            Kind::Own => None,
            Kind::Each => Some(("x", dtype, count)),
            Kind::One => Some(("x", dtype, 1)),
        }
    }

    fn expression(&self, dtype: DType, other: DType) -> String {
        let sign = match self.operation {
            Operation::Add => "+",
            Operation::Subtract => "-",
            Operation::Multiply => "*",
            Operation::Divide => "/",
        };
        let (own, other_name) = match self.kind {
            Kind::Own => ("y[i]", "y[i]"),
            Kind::Each => ("y[i]", "x[i]"),
            Kind::One => ("y[i]", "x[0]"),
        };
        let (left, right) = if self.is_turned { (other_name, own) } else { (own, other_name) };
        let is_cut = self.rounding == Rounding::Truncate && rank(dtype) < rank(DType::F32);
        match is_cut && (self.operation == Operation::Divide || rank(other) >= rank(DType::F32)) {
            // Integers are divided as numbers with a point; the assignment cuts what is behind it.
            true => format!("cast({}, cast(float64, {left}) {sign} cast(float64, {right}))", dtype.name()),
            false => format!("{left} {sign} {right}"),
        }
    }
}

/// A number in the type of the sum that it is a part of.
fn converted(text: &str, from: DType, to: DType) -> String {
    if from == to || to.is_complex() { text.to_owned() } else { format!("cast({}, {text})", to.name()) }
}
