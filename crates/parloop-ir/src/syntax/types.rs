//! Types of values in a kernel.

use std::collections::BTreeMap;
use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::Name;

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// A number or truth value.
    Scalar(DType),
    /// A vector of that many numbers, like OpenCL's `float4`.
    Vector(DType, u8),
    /// A typed object, accessed only through the functions of its class.
    Class(Arc<ClassType>),
    /// A type that only the target knows, by its name in the target.
    Opaque(Name),
}

/// A class of typed objects, as far as kernels see it: `p.x[i]` is a call to `get` of field `x`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassType {
    name: Name,
    fields: BTreeMap<Name, ClassField>,
    sources: Vec<ClassSource>,
}

impl ClassType {
    /// The class of that name in C, with these fields by name, nested ones with dots (`x`, `inner.y`), and its C functions and those of its
    /// member classes, each after those that it needs.
    ///
    /// # Safety
    /// Each function that a field or an axis names is one of the sources, takes and returns what [`ClassField`] and [`ClassAxis`] say, and
    /// stays inside the object for all indices below the lengths that the axes give.
    pub unsafe fn new(name: impl Into<Name>, fields: BTreeMap<Name, ClassField>, sources: Vec<ClassSource>) -> ClassType {
        ClassType { name: name.into(), fields, sources }
    }

    /// Its name in C.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Its fields by name, nested ones with dots: `x`, `inner.y`.
    pub fn fields(&self) -> &BTreeMap<Name, ClassField> {
        &self.fields
    }

    /// Its C functions and those of its member classes, each after those that it needs.
    pub fn sources(&self) -> &[ClassSource] {
        &self.sources
    }
}

/// The C functions of a class, in portable C.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassSource {
    class: Name,
    text: Arc<str>,
}

impl ClassSource {
    /// The functions of the class of that name: one text for each in a program.
    ///
    /// # Safety
    /// The text is valid portable C, and its functions stay inside the object that they receive.
    pub unsafe fn new(class: impl Into<Name>, text: impl Into<Arc<str>>) -> ClassSource {
        ClassSource { class: class.into(), text: text.into() }
    }

    /// The name of the class.
    pub fn class(&self) -> &Name {
        &self.class
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A number, or an array of numbers, in an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassField {
    /// The type of its elements.
    pub dtype: DType,
    /// The axes, one for each index that it takes; none for a number.
    pub axes: Vec<ClassAxis>,
    /// The function `get(object, i, …)`.
    pub getter: Name,
    /// The function `set(object, i, …, value)`.
    pub setter: Name,
}

/// An axis of a field: how to get its length.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassAxis {
    /// The function `length(object, i, …, axis)`.
    pub length: Name,
    /// How many of the preceding indices it takes.
    pub indices: usize,
    /// The axis number to pass.
    pub axis: usize,
}

impl Type {
    /// The scalar type, if it is one.
    pub fn scalar(&self) -> Option<DType> {
        match self {
            Type::Scalar(dtype) => Some(*dtype),
            _ => None,
        }
    }
}

impl From<DType> for Type {
    fn from(dtype: DType) -> Type {
        Type::Scalar(dtype)
    }
}
