//! The memory of the interpreter: arrays by index, each element known or not yet written.

use std::collections::BTreeMap;

use parloop_device::DType;
use parloop_ir::syntax::{InameTag, Initializer, Type, lane};
use parloop_isl::Name;

use super::error::InterpretError;
use super::number::Number;

/// One argument or temporary.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// The types of the numbers of an element: one, the lanes of a vector, or the fields of a record.
    pub(super) dtypes: Vec<DType>,
    /// Whether an element has components.
    pub(super) has_components: bool,
    pub(super) shape: Vec<usize>,
    /// The axes along which each work item, or each group, has a copy of its own.
    pub(super) axes: Vec<InameTag>,
    /// What each copy is made of at first.
    start: Vec<Option<Number>>,
    copies: BTreeMap<Vec<i64>, Vec<Option<Number>>>,
}

impl Variable {
    /// With those numbers in C order, the components of an element side by side; nothing is written yet where there are none.
    pub(super) fn new(ty: &Type, shape: Vec<usize>, axes: Vec<InameTag>, numbers: Option<Vec<Number>>) -> Option<Variable> {
        let dtypes = parts_of(ty)?;
        let length = shape.iter().product::<usize>() * dtypes.len();
        let start = numbers.map_or_else(|| vec![None; length], |numbers| numbers.into_iter().map(Some).collect());
        Some(Variable { dtypes, has_components: ty.has_components(), shape, axes, start, copies: BTreeMap::new() })
    }

    /// The place of an element, with the indices in bounds; the first axis that they leave, and its index, otherwise.
    pub(super) fn place(&self, indices: &[i128]) -> Result<usize, (usize, i128)> {
        let mut place = 0;
        for (axis, (&index, &length)) in indices.iter().zip(&self.shape).enumerate() {
            let inside = usize::try_from(index).ok().filter(|&index| index < length).ok_or((axis, index))?;
            place = place * length + inside;
        }
        Ok(place)
    }

    /// One of the numbers of an element.
    pub(super) fn read(&self, copy: &[i64], place: usize, part: usize) -> Option<Number> {
        self.copies.get(copy).unwrap_or(&self.start)[place * self.dtypes.len() + part]
    }

    pub(super) fn write(&mut self, copy: Vec<i64>, place: usize, part: usize, number: Number) {
        let at = place * self.dtypes.len() + part;
        self.copies.entry(copy).or_insert_with(|| self.start.clone())[at] = Some(number);
    }

    /// The numbers of the only copy, where all are known.
    pub(super) fn numbers(&self) -> Option<Vec<Number>> {
        self.copies.get(&[][..]).unwrap_or(&self.start).iter().copied().collect()
    }
}

/// The types of the numbers that an element of a type consists of.
pub(super) fn parts_of(ty: &Type) -> Option<Vec<DType>> {
    match ty {
        Type::Scalar(dtype) => Some(vec![*dtype]),
        Type::Vector(dtype, lanes) => Some(vec![*dtype; usize::from(*lanes)]),
        Type::Record(record) => Some(record.fields().iter().map(|field| field.dtype).collect()),
        Type::Class(_) | Type::Opaque(_) => None,
    }
}

/// The place of a component among the numbers of an element.
pub(super) fn part_of(ty: &Type, field: &str) -> Option<usize> {
    match ty {
        Type::Vector(_, lanes) => lane(field, *lanes).map(usize::from),
        Type::Record(record) => record.fields().iter().position(|known| known.name == field),
        _ => None,
    }
}

/// The numbers of an initializer.
pub(super) fn initial(name: &Name, initializer: &Initializer) -> Result<Vec<Number>, InterpretError> {
    let elements = initializer.bytes.chunks(initializer.dtype.size());
    let numbers = elements.map(|bytes| Number::from_bytes(initializer.dtype, bytes)).collect::<Option<Vec<_>>>();
    numbers.ok_or_else(|| InterpretError::NoValue { name: name.clone() })
}
