//! The arguments of a call, laid out as the transformed kernel takes them.

use std::collections::BTreeMap;

use parloop_device::{DType, Memory};
use parloop_kernel::{Arg, Context};
use parloop_loop::error::LoopError;
use parloop_loop::layout::Axis;
use parloop_loop::run::{Executable, LoopArg};
use parloop_loop::syntax::{ArgumentKind, BinaryOp, Expr, LoopKernel, Program, Type, UnaryOp};
use parloop_loop::transform::{StepValue, TransformStep};

use super::case::{Case, FAR, NEAR};
use super::oracle::{Numbers, arrays, before, length};

/// What a chain changed about how the kernel is called.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// For each array its name as created, and how many axes it had.
    names: BTreeMap<String, (String, usize)>,
    /// For each array as created the axes that were split.
    splits: BTreeMap<String, Vec<AxisSplit>>,
    /// The only size that it still has.
    pub fixed: Option<i64>,
}

#[derive(Clone, Copy, Debug)]
struct AxisSplit {
    axis: usize,
    inner: usize,
    inner_first: bool,
}

impl Changes {
    pub fn of(program: &Program) -> Changes {
        let known = program.entry().map(arrays).unwrap_or_default();
        Changes { names: known.into_iter().map(|(name, _, axes)| (name.clone(), (name, axes))).collect(), ..Changes::default() }
    }

    /// Takes note of a step that was done.
    pub fn add(&mut self, step: &TransformStep) {
        let text = |at: usize| step.args.get(at).and_then(StepValue::as_text).unwrap_or_default();
        let int = |at: usize| step.args.get(at).and_then(StepValue::as_int).unwrap_or_default();
        let keyword = |name: &str| step.keywords.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        match step.name.as_str() {
            "rename_argument" => {
                if let Some(known) = self.names.remove(text(0)) {
                    self.names.insert(text(1).to_owned(), known);
                }
            }
            "split_array_axis" => {
                let inner_first = keyword("order").and_then(StepValue::as_text) == Some("F");
                let split = AxisSplit { axis: int(1) as usize, inner: int(2) as usize, inner_first };
                for name in step.args.first().and_then(StepValue::as_names).unwrap_or_default() {
                    if let Some((created, _)) = self.names.get(name.as_str()) {
                        self.splits.entry(created.clone()).or_default().push(split);
                    }
                }
            }
            "fix_parameters" => self.fixed = keyword("n").and_then(StepValue::as_int).or(self.fixed),
            _ => {}
        }
    }

    /// The index of an element, or the lengths (rounded up), after the axes were split.
    fn split(&self, created: &str, indices: &mut Vec<usize>, are_lengths: bool) {
        for split in self.splits.get(created).into_iter().flatten() {
            let index = indices[split.axis];
            let (outer, inner) = match are_lengths {
                true => (index.div_ceil(split.inner), split.inner),
                false => (index / split.inner, index % split.inner),
            };
            let both = if split.inner_first { [inner, outer] } else { [outer, inner] };
            indices.splice(split.axis..=split.axis, both);
        }
    }
}

/// Memory of an array, of any type.
macro_rules! memory {
    ($($kind:ident $rust:ty),*) => {
        enum ArrayMemory {
            $($kind(parloop_kernel::Array<$rust>)),*,
            /// Bytes of which those at some places matter.
            Sparse(Context, Memory, Vec<usize>),
        }

        impl ArrayMemory {
            fn new(context: &Context, dtype: DType, values: &[f64]) -> Result<ArrayMemory, String> {
                match dtype {
                    $(DType::$kind => {
                        let values: Vec<$rust> = values.iter().map(|&value| value as $rust).collect();
                        Ok(ArrayMemory::$kind(context.array(&values).map_err(|error| error.to_string())?))
                    })*
                    _ => Err(format!("no kernel has {dtype}")),
                }
            }

            fn argument(&self, shape: &[i64], strides: &[i64]) -> LoopArg<'_> {
                let (memory, dtype) = match self {
                    ArrayMemory::Sparse(_, memory, _) => (memory, DType::U8),
                    $(ArrayMemory::$kind(array) => (array.memory(), DType::$kind),)*
                };
                let arg = Arg::Memory { memory, dtype: Some(dtype), writable: true };
                let strides = strides.iter().map(|stride| stride * dtype.size() as i64).collect();
                LoopArg::Array { arg, shape: shape.to_vec(), strides: Some(strides) }
            }

            fn values(&self) -> Vec<f64> {
                match self {
                    ArrayMemory::Sparse(context, memory, places) => {
                        let mut byte = [0];
                        let read = |&place: &usize| {
                            context.stream().read(memory, place, &mut byte).unwrap();
                            f64::from(byte[0])
                        };
                        places.iter().map(read).collect()
                    }
                    $(ArrayMemory::$kind(array) => array.to_vec().unwrap().into_iter().map(|value| value as f64).collect(),)*
                }
            }
        }
    };
}
memory!(F64 f64, I64 i64, I32 i32, I16 i16, I8 i8);

/// Behind each array, and in what padding leaves open, stand numbers that nothing may change.
const UNTOUCHED: f64 = 77.0;
const BEHIND: usize = 16;

struct Array {
    name: String,
    created: String,
    shape: Vec<i64>,
    strides: Vec<i64>,
    /// Where each element is, in the order of the array as created.
    places: Vec<usize>,
    held: ArrayMemory,
    length: usize,
}

pub struct Arguments {
    arrays: Vec<Array>,
    /// The array whose memory is passed for another one too, and the one of these that is written.
    same: Option<Same>,
}

struct Same {
    one: usize,
    other: usize,
    written: usize,
}

impl Arguments {
    pub fn new(context: &Context, case: &Case, kernel: &LoopKernel, changes: &Changes, size: i64) -> Result<Arguments, String> {
        let mut all = Vec::new();
        for argument in &kernel.arguments {
            let (ArgumentKind::Array { layout, .. }, Some(Type::Scalar(dtype))) = (&argument.kind, &argument.ty) else { continue };
            let name = argument.name.to_string();
            if name == "h" {
                all.push(huge(context, size)?);
                continue;
            }
            let (created, axes) = changes.names.get(&name).ok_or_else(|| format!("argument `{name}` is not known"))?;
            let mut shape = vec![length(size); *axes];
            changes.split(created, &mut shape, true);
            let strides = layout.axes(&argument.name).map_err(|error| error.to_string())?;
            let strides: Option<Vec<i64>> = strides
                .iter()
                .map(|axis| match axis {
                    Axis::Stride(stride) => evaluate(stride, size),
                    Axis::Vector => Some(1),
                    Axis::Separate => None,
                })
                .collect();
            let strides = strides.ok_or_else(|| format!("argument `{name}` does not lie in one piece of memory"))?;
            let place = |indices: &[usize]| indices.iter().zip(&strides).map(|(&index, &stride)| index * stride as usize).sum::<usize>();
            let last: Vec<usize> = shape.iter().map(|length| length - 1).collect();
            let numbers = before(case.source(created), *axes, size);
            let mut memory = vec![UNTOUCHED; place(&last) + 1 + BEHIND];
            let mut places = Vec::with_capacity(numbers.len());
            for (at, number) in numbers.iter().enumerate() {
                let mut indices = indices_of(at, length(size), *axes);
                changes.split(created, &mut indices, false);
                places.push(place(&indices));
                memory[place(&indices)] = *number;
            }
            let shape = shape.into_iter().map(|length| length as i64).collect();
            let (length, held) = (memory.len(), ArrayMemory::new(context, *dtype, &memory)?);
            all.push(Array { name, created: created.clone(), shape, strides, places, held, length });
        }
        let same = same(case, kernel, &all)?;
        Ok(Arguments { arrays: all, same })
    }

    pub fn call(&mut self, executable: &Executable, size: i64) -> Result<(), LoopError> {
        let takes = |name: &str| executable.plan().position(name).is_some();
        let mut args: Vec<(&str, LoopArg<'_>)> = Vec::new();
        for (at, array) in self.arrays.iter().enumerate().filter(|(_, array)| takes(&array.name)) {
            args.push((&array.name, self.arrays[self.holder(at)].held.argument(&array.shape, &array.strides)));
        }
        if takes("n") {
            args.push(("n", LoopArg::from(i32::try_from(size).unwrap())));
        }
        executable.call(&mut args)
    }

    /// The array whose memory one has.
    fn holder(&self, at: usize) -> usize {
        self.same.as_ref().filter(|same| same.other == at).map_or(at, |same| same.one)
    }

    /// Says which number is not as expected.
    pub fn compare(&self, expected: &Numbers) -> Result<(), String> {
        for (at, array) in self.arrays.iter().enumerate() {
            // Of two that are one, the one that is written says what is there.
            if self.same.as_ref().is_some_and(|same| (at == same.one || at == same.other) && at != same.written) {
                continue;
            }
            let (found, created) = (self.arrays[self.holder(at)].held.values(), &array.created);
            let Some(expected) = expected.get(created) else { continue };
            let expected: Vec<f64> = expected.iter().copied().cycle().take(array.places.len()).collect();
            let expected = &expected;
            let values: Vec<f64> = array.places.iter().map(|&place| found[place]).collect();
            let same = |(one, other): (&f64, &f64)| one.to_bits() == other.to_bits();
            if !values.iter().zip(expected).all(same) {
                return Err(format!("`{created}`\n  expected {}\n  found    {}", listed(expected, &values), listed(&values, expected)));
            }
            let used: std::collections::BTreeSet<usize> = array.places.iter().copied().collect();
            if (0..array.length).any(|place| !used.contains(&place) && found[place] != UNTOUCHED) {
                return Err(format!("`{created}` is written outside of its elements"));
            }
        }
        Ok(())
    }
}

/// Two arrays that are passed as one, where they still lie alike.
fn same(case: &Case, kernel: &LoopKernel, arrays: &[Array]) -> Result<Option<Same>, String> {
    let Some((one, other)) = case.same() else { return Ok(None) };
    let find = |created: &str| arrays.iter().position(|array| array.created == created);
    let (Some(one), Some(other)) = (find(one), find(other)) else { return Ok(None) };
    let lies = |at: usize| (&arrays[at].shape, &arrays[at].strides, arrays[at].length);
    if lies(one) != lies(other) {
        return Err("the two arrays that are passed as one do not lie alike".to_owned());
    }
    let is_written = |at: usize| kernel.instructions.iter().any(|instruction| instruction.writes().contains(arrays[at].name.as_str()));
    Ok(Some(Same { one, other, written: if is_written(one) { one } else { other } }))
}

/// The array of which few elements are touched: its memory is there when it is used.
fn huge(context: &Context, size: i64) -> Result<Array, String> {
    let numbers = before("h", 1, size);
    let places: Vec<usize> = (0..numbers.len()).map(|at| at / NEAR * FAR + at % NEAR).collect();
    let bytes = FAR * (size as usize + 1) + NEAR + 16;
    let memory = context.device().allocate(bytes).map_err(|error| error.to_string())?;
    for (place, number) in places.iter().zip(&numbers) {
        context.stream().write(&memory, *place, &[*number as u8]).map_err(|error| error.to_string())?;
    }
    let (length, shape) = (numbers.len(), vec![FAR as i64 * size + 16]);
    let held = ArrayMemory::Sparse(context.clone(), memory, places);
    Ok(Array { name: "h".to_owned(), created: "h".to_owned(), shape, strides: vec![1], places: (0..length).collect(), held, length })
}

/// Numbers with their places, of those that differ.
fn listed(own: &[f64], others: &[f64]) -> String {
    let different: Vec<String> = own
        .iter()
        .zip(others)
        .enumerate()
        .filter(|(_, (own, other))| own.to_bits() != other.to_bits())
        .map(|(at, (own, _))| format!("[{at}]={own}"))
        .collect();
    different.iter().take(12).cloned().collect::<Vec<_>>().join(" ")
}

fn indices_of(mut place: usize, length: usize, axes: usize) -> Vec<usize> {
    let mut indices = vec![0; axes];
    for index in indices.iter_mut().rev() {
        *index = place % length;
        place /= length;
    }
    indices
}

/// The value of a length or a stride.
fn evaluate(expr: &Expr, size: i64) -> Option<i64> {
    use parloop_loop::syntax::Literal;
    Some(match expr {
        Expr::Literal(Literal::Int(value, _)) => i64::try_from(*value).ok()?,
        Expr::Variable(name) if name == "n" => size,
        Expr::Unary(UnaryOp::Negate, inner) => -evaluate(inner, size)?,
        Expr::Binary(op, left, right) => {
            let (left, right) = (evaluate(left, size)?, evaluate(right, size)?);
            match op {
                BinaryOp::Add => left + right,
                BinaryOp::Subtract => left - right,
                BinaryOp::Multiply => left * right,
                BinaryOp::FloorDivide => left.div_euclid(right),
                BinaryOp::Modulo => left.rem_euclid(right),
                _ => return None,
            }
        }
        _ => return None,
    })
}
