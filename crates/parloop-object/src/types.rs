//! Types of objects: data only. A type is made once, is checked then, and knows every offset that does not depend on values.
//!
//! Header words are 64-bit little-endian integers. A slot is 8 bytes; struct fields start on slots.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parloop_device::DType;
use parloop_device::forked::Lock;

use crate::error::TypeError;

/// The size of a slot.
pub const SLOT: usize = 8;
/// The offset stored in a null reference.
pub const NULL_OFFSET: i64 = i64::MIN;
/// The type id stored in a null union reference.
pub const NULL_TYPEID: i64 = -1;
/// Array types have at most this many axes.
pub const MAX_AXES: usize = 16;

/// Types are nested at most so deep, so that whoever walks through one does not run out of stack.
pub const MAX_DEPTH: usize = 256;

/// No object has this many bytes, so that sums of a few sizes never overflow.
pub const MAX_BYTES: usize = 1 << 60;

/// `size`, rounded up to whole slots.
pub const fn slots(size: usize) -> usize {
    (size + (SLOT - 1)) & !(SLOT - 1)
}

/// The items of a shape, or the largest number if they cannot be counted.
pub(crate) fn count_of(shape: &[usize]) -> usize {
    if shape.contains(&0) { 0 } else { shape.iter().fold(1, |count: usize, &dim| count.saturating_mul(dim)) }
}

/// The type of an object or of a part of one. Clones are cheap and the same type.
#[derive(Clone, PartialEq, Eq)]
pub enum Type {
    /// A number.
    Scalar(DType),
    /// Text in UTF-8; with a size, every instance takes just this many bytes.
    String(Option<usize>),
    /// Named fields.
    Struct(Arc<StructType>),
    /// Items of one type along axes.
    Array(Arc<ArrayType>),
    /// Where an object of one type is, in the same buffer.
    Ref(Arc<RefType>),
    /// Where an object of one of several types is, in the same buffer, and which.
    Union(Arc<UnionType>),
}

impl Type {
    /// The name, which is also the prefix of the C functions for it.
    pub fn name(&self) -> &str {
        match self {
            Type::Scalar(dtype) => scalar_name(*dtype),
            Type::String(None) => "String",
            Type::String(Some(size)) => fixed_string_name(*size),
            Type::Struct(ty) => &ty.name,
            Type::Array(ty) => &ty.name,
            Type::Ref(ty) => &ty.name,
            Type::Union(ty) => &ty.name,
        }
    }

    /// The bytes of every instance; `None` when each instance has its own size, stored in its first word.
    pub fn size(&self) -> Option<usize> {
        match self {
            Type::Scalar(dtype) => Some(dtype.size()),
            Type::String(size) => *size,
            Type::Struct(ty) => ty.size,
            Type::Array(ty) => ty.size,
            Type::Ref(_) => Some(SLOT),
            Type::Union(_) => Some(2 * SLOT),
        }
    }

    /// The fewest bytes that an instance has: all that is at offsets which do not depend on values.
    pub fn least_size(&self) -> usize {
        match self {
            Type::Struct(ty) => ty.least,
            Type::Array(ty) => ty.least,
            _ => self.size().unwrap_or(SLOT),
        }
    }

    /// Whether instances of it differ in size.
    pub fn is_dynamic(&self) -> bool {
        self.size().is_none()
    }

    /// Whether it holds references, so that its bytes alone do not make a copy of it.
    pub fn has_refs(&self) -> bool {
        match self {
            Type::Scalar(_) | Type::String(_) => false,
            Type::Struct(ty) => ty.has_refs,
            Type::Array(ty) => ty.item.has_refs(),
            Type::Ref(_) | Type::Union(_) => true,
        }
    }

    /// How deep types are nested in it, references among them; a number or a text is 0 deep.
    pub fn depth(&self) -> usize {
        match self {
            Type::Scalar(_) | Type::String(_) => 0,
            Type::Struct(ty) => ty.depth,
            Type::Array(ty) => ty.depth,
            Type::Ref(ty) => ty.depth,
            Type::Union(ty) => ty.depth,
        }
    }

    /// Itself, unless it is nested too deep.
    ///
    /// # Errors
    /// [`TypeError::TooDeep`].
    pub fn of_fair_depth(self) -> Result<Type, TypeError> {
        let (depth, most) = (self.depth(), MAX_DEPTH);
        if depth <= most { Ok(self) } else { Err(TypeError::TooDeep { name: self.name().into(), depth, most }) }
    }

    /// The type of texts that all take just `size` bytes: 8 for the size itself, the text, and its closing NUL.
    ///
    /// # Errors
    /// A size without room for any of them, or one that cannot be addressed.
    pub fn fixed_string(size: usize) -> Result<Type, TypeError> {
        if (1..MAX_BYTES).contains(&size) { Ok(Type::String(Some(size))) } else { Err(TypeError::StringSize { size }) }
    }

    /// The scalar type, if it is one.
    pub fn scalar(&self) -> Option<DType> {
        if let Type::Scalar(dtype) = self { Some(*dtype) } else { None }
    }

    /// All that decides its bytes, as (path, type) of itself and of every part, in order: what a pickle must agree with. The path of
    /// items ends in `[]`, that of what a reference refers to in `->`.
    pub fn layout(&self) -> Vec<(String, String)> {
        let mut parts = Vec::new();
        self.lay_out(String::new(), &mut parts);
        parts
    }

    fn lay_out(&self, path: String, parts: &mut Vec<(String, String)>) {
        parts.push((path.clone(), self.described()));
        match self {
            Type::Scalar(_) | Type::String(_) => {}
            Type::Struct(ty) => ty.fields.iter().for_each(|field| field.ty.lay_out(format!("{path}.{}", field.name), parts)),
            Type::Array(ty) => ty.item.lay_out(format!("{path}[]"), parts),
            Type::Ref(ty) => ty.target.lay_out(format!("{path}->"), parts),
            Type::Union(ty) => ty.members.iter().for_each(|member| member.lay_out(format!("{path}->{}", member.name()), parts)),
        }
    }

    /// Its name, and what else decides its bytes.
    fn described(&self) -> String {
        match self {
            Type::Scalar(_) | Type::String(_) | Type::Struct(_) => self.name().to_owned(),
            Type::Array(ty) => {
                let dims: Vec<String> = ty.shape.iter().map(|dim| dim.map_or_else(|| ":".to_owned(), |dim| dim.to_string())).collect();
                let in_order = ty.order.iter().copied().eq(0..ty.order.len());
                let order = if in_order { String::new() } else { format!(" in order {:?}", ty.order) };
                format!("{}[{}]{order}", ty.item.described(), dims.join(", "))
            }
            Type::Ref(ty) => format!("Ref({})", ty.target.described()),
            Type::Union(ty) => {
                let members: Vec<&str> = ty.members.iter().map(Type::name).collect();
                format!("{}({})", ty.name, members.join(", "))
            }
        }
    }

    /// The types that it is made of.
    pub fn inner(&self) -> Vec<Type> {
        match self {
            Type::Scalar(_) | Type::String(_) => Vec::new(),
            Type::Struct(ty) => ty.fields.iter().map(|field| field.ty.clone()).collect(),
            Type::Array(ty) => vec![ty.item.clone()],
            Type::Ref(ty) => vec![ty.target.clone()],
            Type::Union(ty) => ty.members.clone(),
        }
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of a scalar type in class names: NumPy's, capitalised.
pub fn scalar_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "Bool",
        DType::I8 => "Int8",
        DType::I16 => "Int16",
        DType::I32 => "Int32",
        DType::I64 => "Int64",
        DType::U8 => "Uint8",
        DType::U16 => "Uint16",
        DType::U32 => "Uint32",
        DType::U64 => "Uint64",
        DType::F32 => "Float32",
        DType::F64 => "Float64",
        DType::C64 => "Complex64",
        DType::C128 => "Complex128",
    }
}

/// Names of strings of fixed size are few and live as long as the program.
fn fixed_string_name(size: usize) -> &'static str {
    static NAMES: Lock<BTreeMap<usize, &'static str>> = Lock::new(BTreeMap::new());
    let mut names = NAMES.lock_or(BTreeMap::new);
    names.entry(size).or_insert_with(|| Box::leak(format!("String{size}").into_boxed_str()))
}

/// A struct: named fields, each on a slot.
///
/// All of static size: the fields in order. Otherwise `[size][static fields][offsets of dynamic fields 2…n][dynamic 1][dynamic 2]…`.
#[derive(Debug, PartialEq, Eq)]
pub struct StructType {
    /// Its name.
    pub name: String,
    /// Its fields, in the order of declaration.
    pub fields: Vec<Field>,
    /// The bytes of every instance, if all have the same.
    pub size: Option<usize>,
    /// The bytes of an instance before the content of its second dynamic field: where the first one begins, or all of it.
    pub head: usize,
    /// The fewest bytes that an instance has.
    pub least: usize,
    /// Whether it holds references.
    pub has_refs: bool,
    /// See [`Type::depth`].
    pub depth: usize,
}

/// A field of a struct.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it is.
    pub place: FieldPlace,
}

/// Where a field is, from the beginning of its struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldPlace {
    /// At this offset.
    At(usize),
    /// At the offset stored in the word at this one.
    Indirect(usize),
}

impl StructType {
    /// A struct with these fields.
    ///
    /// # Errors
    /// A name that C does not allow or that appears twice; [`TypeError::TooDeep`].
    pub fn with_fields(name: &str, fields: Vec<(String, Type)>) -> Result<Type, TypeError> {
        check_name("struct", name)?;
        for (index, (field, _)) in fields.iter().enumerate() {
            check_name("field", field)?;
            if fields[..index].iter().any(|(other, _)| other == field) {
                return Err(TypeError::FieldTwice { name: name.into(), field: field.clone() });
            }
        }
        let dynamic = fields.iter().filter(|(_, ty)| ty.is_dynamic()).count();
        let mut next = if dynamic > 0 { SLOT } else { 0 };
        let too_large = || TypeError::TooLarge { kind: "struct", name: name.into() };
        let mut places = vec![FieldPlace::At(0); fields.len()];
        for (place, (_, ty)) in places.iter_mut().zip(&fields) {
            if let Some(size) = ty.size() {
                *place = FieldPlace::At(next);
                next = slots(size).checked_add(next).filter(|&next| next < MAX_BYTES).ok_or_else(too_large)?;
            }
        }
        let dynamic_places = places.iter_mut().zip(&fields).filter(|(_, (_, ty))| ty.is_dynamic()).map(|(place, _)| place);
        let mut first = None;
        for place in dynamic_places {
            if first.is_none() {
                first = Some(place);
            } else {
                *place = FieldPlace::Indirect(next);
                next += SLOT;
            }
        }
        if let Some(first) = first {
            *first = FieldPlace::At(next);
        }
        let has_refs = fields.iter().any(|(_, ty)| ty.has_refs());
        let least_dynamic: usize =
            fields.iter().filter(|(_, ty)| ty.is_dynamic()).map(|(_, ty)| ty.least_size()).fold(0, usize::saturating_add);
        let least = next.checked_add(least_dynamic).filter(|&least| least < MAX_BYTES).ok_or_else(too_large)?;
        let depth = depth_around(fields.iter().map(|(_, ty)| ty));
        let fields = fields.into_iter().zip(places).map(|((name, ty), place)| Field { name, ty, place }).collect();
        let size = (dynamic == 0).then_some(next);
        Type::Struct(Arc::new(StructType { name: name.into(), fields, size, head: next, least, has_refs, depth })).of_fair_depth()
    }

    /// The field of that name and its position.
    pub fn field(&self, name: &str) -> Option<(usize, &Field)> {
        self.fields.iter().enumerate().find(|(_, field)| field.name == name)
    }

    /// The fields that differ in size from instance to instance, in order.
    pub fn dynamic_fields(&self) -> impl Iterator<Item = (usize, &Field)> {
        self.fields.iter().enumerate().filter(|(_, field)| field.ty.is_dynamic())
    }
}

/// An array: items of one type along axes.
///
/// `[size, unless all is static][dynamic dimensions][strides of all axes, if any dimension is dynamic and there is more than one axis]
/// [offsets of the items, if they are dynamic][items]`.
#[derive(Debug, PartialEq, Eq)]
pub struct ArrayType {
    /// Its name.
    pub name: String,
    /// The type of its items.
    pub item: Type,
    /// Its dimensions; `None` is a dimension that each instance chooses.
    pub shape: Vec<Option<usize>>,
    /// The axes from the slowest to the fastest.
    pub order: Vec<usize>,
    /// The bytes of every instance, if all have the same.
    pub size: Option<usize>,
    /// The fewest bytes that an instance has.
    pub least: usize,
    /// Where the table of item offsets (dynamic items) or the first item is.
    pub data_offset: usize,
    /// The distance between items along each axis, where it is the same for every instance.
    pub strides: Option<Vec<usize>>,
    /// See [`Type::depth`].
    pub depth: usize,
}

impl ArrayType {
    /// An array of `item` with the usual name, such as `Arr2x3Float64` or `ArrNxMInt8`.
    ///
    /// # Errors
    /// As [`named`](Self::named).
    pub fn in_order(item: Type, shape: Vec<Option<usize>>, order: Vec<usize>) -> Result<Type, TypeError> {
        let name = array_name(&item, &shape);
        ArrayType::named(&name, item, shape, order)
    }

    /// An array in C order: the last axis is the fastest.
    ///
    /// # Errors
    /// As [`named`](Self::named).
    pub fn c_order(item: Type, shape: Vec<Option<usize>>) -> Result<Type, TypeError> {
        let order = (0..shape.len()).collect();
        ArrayType::in_order(item, shape, order)
    }

    /// An array of `item` under a name of its own.
    ///
    /// # Errors
    /// No axes or too many, an order that is not a permutation of the axes, more bytes than can be addressed; [`TypeError::TooDeep`].
    pub fn named(name: &str, item: Type, shape: Vec<Option<usize>>, order: Vec<usize>) -> Result<Type, TypeError> {
        check_name("array", name)?;
        let axes = shape.len();
        if axes == 0 || axes > MAX_AXES {
            return Err(TypeError::Axes { name: name.into(), axes });
        }
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..axes) {
            return Err(TypeError::Order { name: name.into(), order, axes });
        }
        let dynamic_axes = shape.iter().filter(|dim| dim.is_none()).count();
        let stride = item.size().unwrap_or(SLOT);
        let too_large = || TypeError::TooLarge { kind: "array", name: name.into() };
        let fixed: Option<Vec<usize>> = shape.iter().copied().collect();
        let strides = match &fixed {
            Some(shape) => Some(strides_of(shape, &order, stride).ok_or_else(too_large)?),
            None if axes == 1 => Some(vec![stride]),
            None => None,
        };
        let size = match (&fixed, item.size()) {
            (Some(shape), Some(item)) => Some(bytes_of(shape, item).ok_or_else(too_large)?),
            _ => None,
        };
        let words = usize::from(size.is_none()) + dynamic_axes + if dynamic_axes > 0 && axes > 1 { axes } else { 0 };
        let data_offset = words * SLOT;
        let table = fixed.as_ref().map_or(0, |shape| count_of(shape).saturating_mul(SLOT));
        let least = size.or_else(|| table.checked_add(data_offset)).filter(|&least| least < MAX_BYTES).ok_or_else(too_large)?;
        let depth = depth_around([&item]);
        let ty = ArrayType { name: name.into(), item, shape, order, size, least, data_offset, strides, depth };
        Type::Array(Arc::new(ty)).of_fair_depth()
    }

    /// Whether every instance has the same shape.
    pub fn is_static_shape(&self) -> bool {
        self.shape.iter().all(Option::is_some)
    }

    /// The shape, where every instance has the same.
    pub fn static_shape(&self) -> Option<Vec<usize>> {
        self.shape.iter().copied().collect()
    }

    /// The number of dimensions that each instance chooses.
    pub fn dynamic_axes(&self) -> usize {
        self.shape.iter().filter(|dim| dim.is_none()).count()
    }

    /// Whether instances hold their strides.
    pub fn stores_strides(&self) -> bool {
        self.strides.is_none()
    }
}

/// The bytes of this many items, in whole slots.
fn bytes_of(shape: &[usize], item: usize) -> Option<usize> {
    let bytes = shape.iter().try_fold(item, |bytes, &dim| bytes.checked_mul(dim))?;
    (bytes < MAX_BYTES).then(|| slots(bytes))
}

/// The strides of an array of this shape whose axes go from the slowest to the fastest in `order`; `None` if they overflow.
pub fn strides_of(shape: &[usize], order: &[usize], item: usize) -> Option<Vec<usize>> {
    let mut strides = vec![0; shape.len()];
    let mut stride = item;
    for &axis in order.iter().rev() {
        strides[axis] = stride;
        // An empty axis must not hide the overflow of the others.
        stride = stride.checked_mul(shape[axis]).filter(|&bytes| bytes < MAX_BYTES)?;
    }
    Some(strides)
}

fn array_name(item: &Type, shape: &[Option<usize>]) -> String {
    const LETTERS: &[u8] = b"NMOPQRSTUVWXYZABCDEFGHIJKL";
    let mut letters = LETTERS.iter().cycle().map(|&letter| char::from(letter));
    let dims: Vec<String> = shape
        .iter()
        .map(|dim| match dim {
            Some(dim) => dim.to_string(),
            None => letters.next().map(String::from).unwrap_or_default(),
        })
        .collect();
    format!("Arr{}{}", dims.join("x"), item.name())
}

/// A reference: one word, the distance from itself to an object in the same buffer.
#[derive(Debug, PartialEq, Eq)]
pub struct RefType {
    /// Its name.
    pub name: String,
    /// The type of what it refers to.
    pub target: Type,
    /// See [`Type::depth`].
    pub depth: usize,
}

impl RefType {
    /// A reference to objects of this type.
    pub fn to(target: Type) -> Type {
        Type::Ref(Arc::new(RefType { name: format!("Ref{}", target.name()), depth: depth_around([&target]), target }))
    }
}

/// A reference to objects of several types: the distance, then the position of the type.
#[derive(Debug, PartialEq, Eq)]
pub struct UnionType {
    /// Its name.
    pub name: String,
    /// The types, by their ids.
    pub members: Vec<Type>,
    /// See [`Type::depth`].
    pub depth: usize,
}

impl UnionType {
    /// A reference to objects of these types.
    ///
    /// # Errors
    /// A name that C does not allow, or members of the same name; [`TypeError::TooDeep`].
    pub fn with_members(name: &str, members: Vec<Type>) -> Result<Type, TypeError> {
        check_name("union reference", name)?;
        for (index, member) in members.iter().enumerate() {
            if members[..index].iter().any(|other| other.name() == member.name()) {
                return Err(TypeError::MemberTwice { name: name.into(), member: member.name().into() });
            }
            if matches!(member, Type::Ref(_) | Type::Union(_)) {
                return Err(TypeError::Member { name: name.into(), member: member.name().into() });
            }
        }
        let depth = depth_around(&members);
        Type::Union(Arc::new(UnionType { name: name.into(), members, depth })).of_fair_depth()
    }

    /// The id of a member type.
    pub fn typeid(&self, ty: &Type) -> Option<usize> {
        self.members.iter().position(|member| member == ty)
    }
}

fn depth_around<'a>(parts: impl IntoIterator<Item = &'a Type>) -> usize {
    1 + parts.into_iter().map(Type::depth).max().unwrap_or(0)
}

fn check_name(kind: &'static str, name: &str) -> Result<(), TypeError> {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') { Ok(()) } else { Err(TypeError::Name { kind, name: name.into() }) }
}
