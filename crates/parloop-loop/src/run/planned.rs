//! The arguments of a kernel as calls see them, and what a caller passes for them.

use std::sync::Arc;

use parloop_device::DType;
use parloop_ir::syntax::{ClassType, Type};
use parloop_isl::Name;
use parloop_kernel::Extent;
use smallvec::SmallVec;

use super::RunError;
use super::fields::PlannedField;
use super::formula::Formula;

/// One argument.
#[derive(Clone, Debug)]
pub struct PlannedArg {
    /// Its name.
    pub name: Name,
    /// What it is.
    pub kind: PlannedKind,
    /// Whether its value on entry matters.
    pub is_input: bool,
    /// Whether it is written.
    pub is_output: bool,
    /// Whether an instruction of the kernel writes to it.
    pub is_written: bool,
    /// Whether an instruction of the kernel reads it.
    pub is_read: bool,
    /// The type of its elements, if these are vectors or records.
    pub components: Option<Type>,
}

/// What an argument is.
#[derive(Clone, Debug)]
pub enum PlannedKind {
    /// A number; the place of its value among the integers, if formulas use it.
    Value {
        /// Its type.
        dtype: DType,
        /// Its place.
        place: Option<usize>,
    },
    /// An array.
    Array {
        /// The type of its numbers.
        dtype: DType,
        /// How many of them an element consists of: the lanes of a vector with their padding, the bytes of a record.
        numbers: usize,
        /// Elements side by side that are one index apart along no axis: the lanes of its vector axis.
        shape: Option<Vec<Formula>>,
        /// For each axis the stride it must have, in elements; `None` is any, which the call passes along.
        strides: Vec<Option<Formula>>,
        /// The axes whose indices are arrays of their own.
        separate: Vec<usize>,
        /// How many elements behind what is passed it begins.
        offset: Option<Formula>,
    },
    /// A typed object.
    Object {
        /// Its class.
        class: Arc<ClassType>,
        /// What the kernel uses of it.
        fields: Vec<PlannedField>,
        /// Whether a call asks where its memory is.
        is_located: bool,
    },
}

impl PlannedKind {
    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self, PlannedKind::Array { .. })
    }

    /// The class whose object it is.
    pub fn class(&self) -> Option<&Arc<ClassType>> {
        match self {
            PlannedKind::Object { class, .. } => Some(class),
            _ => None,
        }
    }
}

/// What a caller passes for an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenArgument {
    /// Nothing: a size that shapes determine, or an output to allocate.
    Missing,
    /// An integer.
    Int(i64),
    /// Another number, which no formula uses.
    Number,
    /// An array.
    Array(GivenArray),
    /// A typed object of the expected class.
    Object(GivenObject),
}

/// What a call must know of an object that is passed.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenObject {
    /// The lengths of the fields that the kernel uses, in the order of [`PlannedKind::Object`]. An axis whose length is not the same
    /// everywhere, and those behind it, are left out.
    pub(super) lengths: Vec<SmallVec<[i64; 4]>>,
    /// The bytes that hold these fields, if the call asks.
    pub(super) parts: SmallVec<[ObjectPart; 1]>,
}

/// The bytes of an object, or of one that a reference inside leads to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ObjectPart {
    /// The fields that lead there, with dots between them; empty for the object itself.
    path: Name,
    /// Where they begin, from the beginning of the object itself.
    pub(super) start: i64,
    /// How many there are.
    pub(super) bytes: usize,
    /// Whether the kernel writes to one of its fields.
    pub(super) is_written: bool,
    /// The place of a field there among those that the kernel uses; one that is written, if there is any.
    pub(super) field: usize,
}

impl GivenObject {
    /// Of the fields that a kernel uses, which two functions look up by their paths.
    ///
    /// # Errors
    /// Those of the two functions.
    pub fn of<E>(
        fields: &[PlannedField],
        is_located: bool,
        lengths: impl Fn(&PlannedField) -> Result<SmallVec<[i64; 4]>, E>,
        extents: impl Fn(&PlannedField) -> Result<SmallVec<[Extent; 2]>, E>,
    ) -> Result<GivenObject, E> {
        let lengths = fields.iter().map(lengths).collect::<Result<_, E>>()?;
        let mut parts: SmallVec<[ObjectPart; 1]> = SmallVec::new();
        for (place, field) in fields.iter().enumerate().filter(|_| is_located) {
            let found = extents(field)?;
            for (index, extent) in found.iter().enumerate() {
                let path = Name::from(field.path.split('.').take(extent.fields).collect::<Vec<_>>().join("."));
                let is_written = field.is_written && index + 1 == found.len();
                match parts.iter_mut().find(|part| part.path == path && part.start == extent.start) {
                    Some(part) if is_written && !part.is_written => (part.is_written, part.field) = (true, place),
                    Some(_) => {}
                    None => {
                        let Extent { start, bytes, .. } = *extent;
                        parts.push(ObjectPart { path, start, bytes, is_written, field: place });
                    }
                }
            }
        }
        Ok(GivenObject { lengths, parts })
    }
}

/// The shape of an array that is passed.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenArray {
    /// The type of its numbers.
    pub dtype: DType,
    /// How many of them an element consists of.
    pub numbers: usize,
    /// The lengths of its axes.
    pub shape: SmallVec<[i64; 4]>,
    /// Strides in bytes.
    pub strides: SmallVec<[i64; 4]>,
    /// How many elements its memory has from its beginning on, where that is more than its shape says.
    pub room: Option<i64>,
}

impl GivenArray {
    /// The bytes of an element.
    pub fn size(&self) -> usize {
        self.dtype.size() * self.numbers
    }

    /// An array of numbers as one of elements that consist of several: the last axis is that of the numbers of an element, which lie side by
    /// side.
    ///
    /// # Errors
    /// [`RunError::Components`] if the last axis does not have that many numbers.
    pub fn in_elements(mut self, kernel: &Name, planned: &PlannedArg) -> Result<GivenArray, RunError> {
        let PlannedKind::Array { numbers, dtype, .. } = &planned.kind else { return Ok(self) };
        if planned.components.is_none() || self.dtype != *dtype {
            return Ok(self);
        }
        let is_whole = self.shape.last() == Some(&(*numbers as i64));
        let is_dense = self.strides.last() == Some(&(dtype.size() as i64)) || self.shape.contains(&0);
        if !is_whole || !is_dense {
            let (kernel, argument, shape) = (kernel.clone(), planned.name.clone(), self.shape.to_vec());
            return Err(RunError::Components { kernel, argument, numbers: *numbers, dtype: *dtype, shape });
        }
        self.shape.pop();
        self.strides.pop();
        self.room = self.room.map(|room| room / *numbers as i64);
        self.numbers = *numbers;
        Ok(self)
    }
}
