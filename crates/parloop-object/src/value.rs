//! Values to be stored in objects, as the caller gives them, before they are checked.

use std::borrow::Cow;

use parloop_device::{DType, Element, as_bytes};
use parloop_kernel::Scalar;
use smallvec::SmallVec;

use crate::types::{MAX_BYTES, count_of};
use crate::view::View;

/// A value for an object or a part of one.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// Nothing was given: zero, the empty string, null; an error for an array whose shape is not known.
    Default,
    /// A number.
    Scalar(Scalar),
    /// Text.
    Text(Cow<'a, str>),
    /// The number of bytes that a string shall have room for, its closing NUL included.
    Capacity(usize),
    /// Numbers for an array.
    Elements(Elements<'a>),
    /// The dimensions that an array's type leaves open (or all of them); its items get their default.
    Shape(SmallVec<[usize; 4]>),
    /// Items for an array, with the last axis the fastest.
    Items {
        /// The shape.
        shape: SmallVec<[usize; 4]>,
        /// As many items as the shape says.
        items: Vec<Value<'a>>,
    },
    /// Fields of a struct, by their positions; fields left out get their default.
    Fields(Vec<(usize, Value<'a>)>),
    /// Another object: copied, or referred to where a reference in the same buffer is to be set.
    Object(View),
    /// A new object of this member type of a union, by its type id.
    Member(usize, Box<Value<'a>>),
    /// The null reference.
    Null,
}

/// Numbers in host memory, with any distance between them.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    /// The bytes in which the numbers lie.
    pub bytes: Cow<'a, [u8]>,
    /// Where the number with index 0 along all axes is.
    pub start: usize,
    /// The type of the numbers.
    pub dtype: DType,
    /// The shape.
    pub shape: SmallVec<[usize; 4]>,
    /// The distance in bytes along each axis; it may be negative.
    pub strides: SmallVec<[isize; 4]>,
}

impl<'a> Elements<'a> {
    /// Numbers that lie side by side with the last axis the fastest.
    pub fn dense(bytes: Cow<'a, [u8]>, dtype: DType, shape: SmallVec<[usize; 4]>) -> Elements<'a> {
        let mut strides: SmallVec<[isize; 4]> = shape.iter().map(|_| 0).collect();
        let mut stride = dtype.size() as isize;
        for axis in (0..shape.len()).rev() {
            strides[axis] = stride;
            stride = stride.saturating_mul(isize::try_from(shape[axis]).unwrap_or(isize::MAX));
        }
        Elements { bytes, start: 0, dtype, shape, strides }
    }

    /// The number of numbers.
    pub fn count(&self) -> usize {
        count_of(&self.shape)
    }

    /// The bytes of numbers that lie side by side in order.
    pub(crate) fn dense_bytes(&self) -> &[u8] {
        match self.count() * self.dtype.size() {
            0 => &[],
            len => &self.bytes[self.start..self.start + len],
        }
    }

    /// Where the number with this index is.
    pub(crate) fn position(&self, index: &[usize]) -> usize {
        let distance: isize = index.iter().zip(&self.strides).map(|(&i, &stride)| i as isize * stride).sum();
        (self.start as isize + distance) as usize
    }

    /// Whether each number lies inside `bytes`.
    pub(crate) fn is_sound(&self) -> bool {
        self.shape.len() == self.strides.len() && (self.count() == 0 || self.count() < MAX_BYTES / 16 && self.reaches())
    }

    fn reaches(&self) -> bool {
        let (mut low, mut high) = (self.start as i128, self.start as i128);
        for (&dim, &stride) in self.shape.iter().zip(&self.strides) {
            let reach = (dim as i128 - 1) * stride as i128;
            if reach < 0 { low += reach } else { high += reach }
        }
        low >= 0 && high + self.dtype.size() as i128 <= self.bytes.len() as i128
    }
}

impl<'a, T: Element> From<&'a [T]> for Value<'a> {
    fn from(values: &'a [T]) -> Self {
        let shape = SmallVec::from_slice(&[values.len()]);
        Value::Elements(Elements::dense(Cow::Borrowed(as_bytes(values)), T::DTYPE, shape))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

macro_rules! scalar_values {
    ($($rust:ty => $variant:ident as $wide:ty),* $(,)?) => { $(
        impl From<$rust> for Value<'_> {
            fn from(value: $rust) -> Self {
                Value::Scalar(Scalar::$variant(value as $wide))
            }
        }
    )* };
}
scalar_values! {
    bool => Bool as bool, i8 => Int as i128, i16 => Int as i128, i32 => Int as i128, i64 => Int as i128,
    u8 => Int as i128, u16 => Int as i128, u32 => Int as i128, u64 => Int as i128, f32 => Float as f64, f64 => Float as f64,
    parloop_device::Complex64 => Complex as parloop_device::Complex64,
}

impl Value<'_> {
    /// In a few words, for messages.
    pub fn describe(&self) -> String {
        match self {
            Value::Default => "nothing".into(),
            Value::Scalar(value) => format!("the number {value}"),
            Value::Text(text) => format!("the text {text:?}"),
            Value::Capacity(room) => format!("the capacity {room}"),
            Value::Elements(elements) => format!("an array of {}", elements.dtype),
            Value::Shape(shape) => format!("the shape {shape:?}"),
            Value::Items { items, .. } => format!("a list of {} items", items.len()),
            Value::Fields(_) => "a set of fields".into(),
            Value::Object(view) => format!("an object of {}", view.ty()),
            Value::Member(..) => "a member of a union".into(),
            Value::Null => "null".into(),
        }
    }
}
