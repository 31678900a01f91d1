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
    /// A vector of 2, 3, 4, 8 or 16 integers or real numbers, like OpenCL's `float4`. One of three has the memory of four.
    Vector(DType, u8),
    /// Named numbers at fixed places, like a struct in C.
    Record(Arc<RecordType>),
    /// A typed object, accessed only through the functions of its class.
    Class(Arc<ClassType>),
    /// A type that only the target knows.
    Opaque(OpaqueType),
}

/// A type by its name in the target: words, as in `unsigned long` and `std::size_t`, so that it is no other code. A pointer needs a name too.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpaqueType(Name);

impl OpaqueType {
    /// The type of that name; `None` if there are other characters than letters, digits, `_`, `::` and single spaces in it.
    pub fn new(name: impl Into<Name>) -> Option<OpaqueType> {
        let name = name.into();
        name.split(' ').flat_map(|part| part.split("::")).all(is_c_word).then_some(OpaqueType(name))
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.0
    }
}

/// Whether the text is a name in C.
fn is_c_word(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Named numbers at fixed places: a struct of C, or a structured dtype of NumPy.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordType {
    name: Name,
    fields: Vec<RecordField>,
    size: usize,
}

/// A number in a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordField {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub dtype: DType,
    /// Where it begins, in bytes.
    pub offset: usize,
}

/// The most bytes of a record.
const MOST_RECORD_BYTES: usize = 1 << 16;

/// Why fields do not make a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum RecordError {
    #[error("record `{record}` has no fields")]
    Empty { record: Name },
    #[error("record `{record}`: `{name}` is not a name in C; rename it")]
    NotAName { record: Name, name: Name },
    #[error("record `{record}` has two fields `{field}`")]
    Twice { record: Name, field: Name },
    #[error("record `{record}` has fields `{field}` and `{other}`, which both name the same lane of vectors; rename one of them")]
    SameLane { record: Name, field: Name, other: Name },
    #[error("record `{record}`: field `{field}` begins at byte {offset}, inside field `{other}`")]
    Overlap { record: Name, field: Name, other: Name, offset: usize },
    #[error("record `{record}` has {size} bytes, but at most {MOST_RECORD_BYTES} are possible; use arrays of numbers")]
    TooLarge { record: Name, size: usize },
    #[error("record `{record}`: field `{field}` ends at byte {end}, behind the {size} bytes of the record")]
    TooSmall { record: Name, field: Name, end: usize, size: usize },
}

impl RecordType {
    /// The record of these fields, which has that many bytes. Fields are put into the order of their places.
    ///
    /// # Errors
    /// [`RecordError`]: fields that overlap or do not fit, names that C does not take.
    pub fn new(name: impl Into<Name>, mut fields: Vec<RecordField>, size: usize) -> Result<RecordType, RecordError> {
        let name = name.into();
        let record = || name.clone();
        if let Some(wrong) = std::iter::once(&name).chain(fields.iter().map(|field| &field.name)).find(|word| !is_c_word(word)) {
            return Err(RecordError::NotAName { record: record(), name: wrong.clone() });
        }
        fields.sort_by_key(|field| field.offset);
        for (place, field) in fields.iter().enumerate() {
            if fields[..place].iter().any(|other| other.name == field.name) {
                return Err(RecordError::Twice { record: record(), field: field.name.clone() });
            }
            // Accesses know lanes by one name.
            let is_same = |other: &&RecordField| lane(&field.name, 16).is_some() && lane(&field.name, 16) == lane(&other.name, 16);
            if let Some(other) = fields[..place].iter().find(is_same) {
                return Err(RecordError::SameLane { record: record(), field: field.name.clone(), other: other.name.clone() });
            }
        }
        if size > MOST_RECORD_BYTES {
            return Err(RecordError::TooLarge { record: record(), size });
        }
        let end = |field: &RecordField| field.offset.saturating_add(field.dtype.size());
        let last = fields.last().ok_or_else(|| RecordError::Empty { record: record() })?;
        if end(last) > size {
            return Err(RecordError::TooSmall { record: record(), field: last.name.clone(), end: end(last), size });
        }
        for pair in fields.windows(2) {
            let [one, other] = pair else { continue };
            if end(one) > other.offset {
                let (field, offset, other) = (other.name.clone(), other.offset, one.name.clone());
                return Err(RecordError::Overlap { record: record(), field, other, offset });
            }
        }
        Ok(RecordType { name, fields, size })
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Its fields, in the order of their places.
    pub fn fields(&self) -> &[RecordField] {
        &self.fields
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&RecordField> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Its bytes, with all padding.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The alignment of its memory: that of its fields if each lies on a multiple of its size, as C places them; else 1.
    pub fn alignment(&self) -> usize {
        let most = self.fields.iter().map(|field| field.dtype.size()).max().unwrap_or(1);
        let is_natural = self.fields.iter().all(|field| field.offset.is_multiple_of(field.dtype.size())) && self.size.is_multiple_of(most);
        if is_natural { most } else { 1 }
    }
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
    /// Whether a reference leads there, which may be changed between calls.
    pub is_behind_reference: bool,
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

    /// The vector of that many numbers, if there is one.
    ///
    /// ```
    /// use parloop_device::DType;
    /// use parloop_loop::syntax::Type;
    /// assert_eq!(Type::vector(DType::F32, 4), Some(Type::Vector(DType::F32, 4)));
    /// assert_eq!(Type::vector(DType::C64, 4), None);
    /// ```
    pub fn vector(dtype: DType, lanes: u8) -> Option<Type> {
        let is_number = dtype.is_integer() || dtype.is_float();
        (is_number && matches!(lanes, 2 | 3 | 4 | 8 | 16)).then_some(Type::Vector(dtype, lanes))
    }

    /// The numbers that the memory of an element consists of: the lanes of a vector with their padding, the bytes of a record. `None` for
    /// classes and types that only a target knows.
    pub fn numbers(&self) -> Option<(DType, usize)> {
        match self {
            Type::Scalar(dtype) => Some((*dtype, 1)),
            Type::Vector(dtype, lanes) => Some((*dtype, usize::from(*lanes).next_power_of_two())),
            Type::Record(record) => Some((DType::U8, record.size())),
            Type::Class(_) | Type::Opaque(_) => None,
        }
    }

    /// The bytes of an element, if they are known.
    pub fn size(&self) -> Option<usize> {
        self.numbers().map(|(dtype, count)| dtype.size() * count)
    }

    /// Whether its values are vectors or records.
    pub fn has_components(&self) -> bool {
        matches!(self, Type::Vector(..) | Type::Record(_))
    }
}

/// The lane of a vector that a name denotes: `x y z w`, or `s0` … `sf`.
///
/// ```
/// use parloop_loop::syntax::lane;
/// assert_eq!(lane("y", 4), Some(1));
/// assert_eq!(lane("sa", 16), Some(10));
/// assert_eq!(lane("w", 3), None);
/// ```
pub fn lane(name: &str, lanes: u8) -> Option<u8> {
    let lane = match name {
        "x" => 0,
        "y" => 1,
        "z" => 2,
        "w" => 3,
        _ => u8::from_str_radix(name.strip_prefix(['s', 'S']).filter(|digit| digit.len() == 1)?, 16).ok()?,
    };
    (lane < lanes).then_some(lane)
}

/// The name of a lane: `x y z w` in vectors of up to four, else `s0` … `sf`.
pub fn lane_name(lane: u8, lanes: u8) -> Name {
    match ["x", "y", "z", "w"].get(usize::from(lane)).filter(|_| lanes <= 4) {
        Some(name) => (*name).into(),
        None => format!("s{lane:x}").into(),
    }
}

impl From<DType> for Type {
    fn from(dtype: DType) -> Type {
        Type::Scalar(dtype)
    }
}
