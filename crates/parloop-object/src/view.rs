//! Views: an object, or a part of one, in a buffer. Reading goes through here; writing is in `image.rs` (new objects) and `edit.rs`.

use std::fmt;
use std::sync::Arc;

use parloop_device::Element;
use parloop_kernel::Scalar;
use smallvec::SmallVec;

use crate::buffer::{Allocation, Buffer};
use crate::error::ObjectError;
use crate::path::Path;
use crate::scalar;
use crate::types::{ArrayType, FieldPlace, MAX_BYTES, NULL_OFFSET, SLOT, StructType, Type, count_of, strides_of};

pub(crate) type Result<T, E = ObjectError> = std::result::Result<T, E>;

/// An object in a buffer, or a part of one. Clones see the same bytes; the memory lives as long as one of them.
#[derive(Clone)]
pub struct View {
    buffer: Buffer,
    offset: usize,
    ty: Type,
    owner: Option<Arc<Allocation>>,
}

/// The shape of an array instance, and how its items lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayShape {
    /// Its dimensions.
    pub shape: SmallVec<[usize; 4]>,
    /// The distance between items, or between the words that hold their offsets, along each axis.
    pub strides: SmallVec<[usize; 4]>,
    /// Where the first of them is, from the array's beginning.
    pub data: usize,
}

impl ArrayShape {
    /// The number of items.
    pub fn count(&self) -> usize {
        count_of(&self.shape)
    }

    /// Where the item, or the word with its offset, is; `None` for an index outside.
    pub fn position(&self, index: &[usize]) -> Option<usize> {
        if index.len() != self.shape.len() || index.iter().zip(&self.shape).any(|(i, dim)| i >= dim) {
            return None;
        }
        Some(self.data + index.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum::<usize>())
    }
}

impl View {
    /// What is at this offset of a buffer, taken as an object of this type.
    ///
    /// # Errors
    /// When it does not fit into the buffer.
    pub fn at(buffer: &Buffer, offset: usize, ty: &Type) -> Result<View> {
        let owner = buffer.owner(offset);
        View { buffer: buffer.clone(), offset, ty: ty.clone(), owner }.checked()
    }

    pub(crate) fn new(buffer: Buffer, offset: usize, ty: Type, owner: Option<Arc<Allocation>>) -> View {
        View { buffer, offset, ty, owner }
    }

    fn checked(self) -> Result<View> {
        self.fits(self.size()?)?;
        Ok(self)
    }

    /// Whether this many bytes of it are inside its buffer; what is read of a size is not to be trusted before.
    fn fits(&self, size: usize) -> Result<()> {
        match self.offset.checked_add(size) {
            Some(end) if end <= self.buffer.capacity() => Ok(()),
            _ => Err(self.corrupt("it extends past the end of its buffer")),
        }
    }

    fn corrupt(&self, what: &'static str) -> ObjectError {
        ObjectError::Corrupt { path: self.ty.name().into(), what }
    }

    /// The buffer that holds it.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Where in the buffer it begins.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Its type.
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// The allocation of the object of which it is a part; `None` if the memory has no owner.
    pub fn owner(&self) -> Option<&Arc<Allocation>> {
        self.owner.as_ref()
    }

    /// Whether both are the same bytes.
    pub fn same(&self, other: &View) -> bool {
        self.offset == other.offset && self.buffer.same(&other.buffer)
    }

    /// Fails when its memory was freed explicitly.
    ///
    /// # Errors
    /// [`ObjectError::Freed`].
    pub fn check_alive(&self) -> Result<()> {
        match &self.owner {
            Some(owner) if owner.is_freed() => Err(ObjectError::Freed { ty: self.ty.name().into() }),
            _ => Ok(()),
        }
    }

    /// Its bytes, counted.
    ///
    /// # Errors
    /// When its memory was freed or its bytes are invalid.
    pub fn size(&self) -> Result<usize> {
        match self.ty.size() {
            Some(size) => Ok(size),
            None => {
                let size = self.word(0)?;
                let least = self.ty.least_size();
                let size = usize::try_from(size).ok().filter(|&size| size >= least).ok_or_else(|| self.corrupt("its size"))?;
                self.fits(size).map(|()| size)
            }
        }
    }

    /// The word at this offset from its beginning.
    pub(crate) fn word(&self, at: usize) -> Result<i64> {
        let mut bytes = [0; SLOT];
        self.read(at, &mut bytes)?;
        Ok(i64::from_le_bytes(bytes))
    }

    /// Bytes of it, from this offset on.
    ///
    /// # Errors
    /// When its memory was freed, or the device fails.
    pub fn read(&self, at: usize, bytes: &mut [u8]) -> Result<()> {
        self.check_alive()?;
        Ok(self.buffer.read(self.offset.checked_add(at).ok_or_else(|| self.corrupt("an offset"))?, bytes)?)
    }

    /// All its bytes.
    ///
    /// # Errors
    /// When its memory was freed, or the device fails.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.size()?];
        self.read(0, &mut bytes)?;
        Ok(bytes)
    }

    fn part(&self, at: usize, ty: &Type) -> View {
        View { buffer: self.buffer.clone(), offset: self.offset + at, ty: ty.clone(), owner: self.owner.clone() }
    }

    /// The offset of a part, read from the word at this offset.
    fn offset_word(&self, at: usize) -> Result<usize> {
        usize::try_from(self.word(at)?).ok().filter(|&at| at < MAX_BYTES).ok_or_else(|| self.corrupt("an offset"))
    }

    /// A part with a size of its own, stored in its first word, which must be inside this object.
    fn dynamic_part(&self, at: usize, ty: &Type) -> Result<View> {
        let size = self.size()?;
        if at.checked_add(ty.least_size()).is_none_or(|end| end > size) {
            return Err(self.corrupt("an offset"));
        }
        let part = self.part(at, ty);
        if part.size()? > size - at {
            return Err(part.corrupt("it extends past the end of the object that contains it"));
        }
        Ok(part)
    }

    fn wrong(&self, wanted: &str) -> ObjectError {
        ObjectError::WrongType { path: "the view".into(), ty: self.ty.name().into(), given: wanted.into() }
    }

    fn structure(&self) -> Result<&StructType> {
        if let Type::Struct(ty) = &self.ty { Ok(ty) } else { Err(self.wrong("a field")) }
    }

    pub(crate) fn array_type(&self) -> Result<&ArrayType> {
        if let Type::Array(ty) = &self.ty { Ok(ty) } else { Err(self.wrong("an index")) }
    }

    /// The field of that name.
    ///
    /// # Errors
    /// [`ObjectError::NoSuchField`], [`ObjectError::WrongType`] for what is not a struct.
    pub fn field(&self, name: &str) -> Result<View> {
        let ty = self.structure()?;
        match ty.field(name) {
            Some((index, _)) => self.field_at(index),
            None => {
                let fields = ty.fields.iter().map(|field| field.name.clone()).collect();
                Err(ObjectError::NoSuchField { path: ty.name.clone(), field: name.into(), fields })
            }
        }
    }

    /// The field at that position.
    ///
    /// # Errors
    /// [`ObjectError::WrongType`] for what is not a struct.
    pub fn field_at(&self, index: usize) -> Result<View> {
        self.check_alive()?;
        let field = self.structure()?.fields.get(index).ok_or_else(|| self.wrong("a field"))?;
        match field.place {
            FieldPlace::At(at) if !field.ty.is_dynamic() => Ok(self.part(at, &field.ty)),
            FieldPlace::At(at) => self.dynamic_part(at, &field.ty),
            FieldPlace::Indirect(at) => {
                let at = self.offset_word(at)?;
                self.dynamic_part(at, &field.ty)
            }
        }
    }

    /// The shape of an array and the layout of its items.
    ///
    /// # Errors
    /// [`ObjectError::WrongType`] for what is not an array; invalid bytes.
    pub fn array_shape(&self) -> Result<ArrayShape> {
        let ty = self.array_type()?;
        self.check_alive()?;
        if let (Some(shape), Some(strides)) = (ty.static_shape(), &ty.strides) {
            return Ok(ArrayShape { shape: shape.into(), strides: strides.as_slice().into(), data: ty.data_offset });
        }
        let mut words: SmallVec<[u8; 128]> = smallvec::smallvec![0; ty.data_offset];
        self.read(0, &mut words)?;
        let words: SmallVec<[i64; 16]> =
            words.chunks_exact(SLOT).map(|word| i64::from_le_bytes(std::array::from_fn(|i| word[i]))).collect();
        let mut dims = words[1..].iter().copied();
        let dim = |dim: &Option<usize>| match dim {
            Some(dim) => Some(*dim),
            None => dims.next().and_then(|dim| usize::try_from(dim).ok()),
        };
        let shape: Option<SmallVec<[usize; 4]>> = ty.shape.iter().map(dim).collect();
        let shape = shape.ok_or_else(|| self.corrupt("its shape"))?;
        let strides = strides_of(&shape, &ty.order, ty.item.size().unwrap_or(SLOT)).ok_or_else(|| self.corrupt("its shape"))?;
        let shape = ArrayShape { shape, strides: strides.into(), data: ty.data_offset };
        let needed = shape.count().checked_mul(ty.item.size().unwrap_or(SLOT)).and_then(|bytes| bytes.checked_add(ty.data_offset));
        let size = self.size()?;
        if needed.is_none_or(|needed| needed > size) {
            return Err(self.corrupt("its shape"));
        }
        Ok(shape)
    }

    /// The item with that index.
    ///
    /// # Errors
    /// [`ObjectError::Index`], [`ObjectError::WrongType`] for what is not an array.
    pub fn item(&self, index: &[usize]) -> Result<View> {
        let shape = self.array_shape()?;
        self.item_in(&shape, index)
    }

    /// The item with that index, in an array of known shape.
    ///
    /// # Errors
    /// As [`item`](Self::item).
    pub fn item_in(&self, shape: &ArrayShape, index: &[usize]) -> Result<View> {
        let ty = self.array_type()?;
        let outside =
            || ObjectError::Index { path: ty.name.clone(), index: index.iter().map(|&i| i as i64).collect(), bounds: shape.shape.to_vec() };
        let at = shape.position(index).ok_or_else(outside)?;
        if ty.item.size().is_some() {
            return Ok(self.part(at, &ty.item));
        }
        let at = self.offset_word(at)?;
        self.dynamic_part(at, &ty.item)
    }

    /// What a reference refers to; `None` for null.
    ///
    /// # Errors
    /// [`ObjectError::WrongType`] for what is not a reference; [`ObjectError::Freed`] where what it refers to was freed explicitly; invalid
    /// bytes.
    pub fn target(&self) -> Result<Option<View>> {
        let (distance, ty) = match &self.ty {
            Type::Ref(ty) => (self.word(0)?, &ty.target),
            Type::Union(ty) => {
                let (distance, id) = (self.word(0)?, self.word(SLOT)?);
                if distance == NULL_OFFSET {
                    return Ok(None);
                }
                let member = usize::try_from(id).ok().and_then(|id| ty.members.get(id));
                (distance, member.ok_or_else(|| self.corrupt("its type id"))?)
            }
            _ => return Err(self.wrong("what it refers to")),
        };
        if distance == NULL_OFFSET {
            return Ok(None);
        }
        let offset = (self.offset as i64).checked_add(distance).and_then(|offset| usize::try_from(offset).ok());
        let offset = offset.ok_or_else(|| self.corrupt("its distance"))?;
        // Another object may be there by now.
        if self.owner.as_ref().is_some_and(|owner| owner.refers_to_freed(self.offset, offset)) {
            return Err(ObjectError::Freed { ty: ty.name().into() });
        }
        View::at(&self.buffer, offset, ty).map(Some)
    }

    /// Checks what a kernel relies on, its size, offsets and shapes, as reading does: overwritten bytes could lead a kernel out of bounds.
    /// Fields that are at known offsets cost nothing; items of arrays, and what references refer to, are looked at where `whole` says so.
    ///
    /// # Errors
    /// [`ObjectError::Freed`], [`ObjectError::Corrupt`], or when the device fails.
    pub fn check_headers(&self, whole: bool) -> Result<()> {
        self.check_alive()?;
        let is_looked_at = |ty: &Type| ty.is_dynamic() || whole && ty.has_refs();
        if !is_looked_at(&self.ty) {
            return Ok(());
        }
        match &self.ty {
            Type::Scalar(_) => Ok(()),
            Type::String(_) => self.size().map(drop),
            Type::Ref(_) | Type::Union(_) => self.target()?.map_or(Ok(()), |target| target.check_headers(whole)),
            Type::Struct(ty) => {
                self.size()?;
                let mut fields = ty.fields.iter().enumerate().filter(|(_, field)| is_looked_at(&field.ty));
                fields.try_for_each(|(index, _)| self.field_at(index)?.check_headers(whole))
            }
            Type::Array(ty) => {
                let shape = self.array_shape()?;
                if !whole || !is_looked_at(&ty.item) {
                    return Ok(());
                }
                indices(&shape.shape).try_for_each(|index| self.item_in(&shape, &index)?.check_headers(whole))
            }
        }
    }

    /// The type id of a union reference, -1 for null.
    ///
    /// # Errors
    /// [`ObjectError::WrongType`] for a view of another type.
    pub fn typeid(&self) -> Result<i64> {
        if let Type::Union(_) = self.ty { self.word(SLOT) } else { Err(self.wrong("a type id")) }
    }

    /// The number.
    ///
    /// # Errors
    /// [`ObjectError::WrongType`] for a view of another type.
    pub fn scalar(&self) -> Result<Scalar> {
        let Type::Scalar(dtype) = self.ty else { return Err(self.wrong("a number")) };
        let mut bytes = [0; 16];
        self.read(0, &mut bytes[..dtype.size()])?;
        Ok(scalar::from_bytes(&bytes, dtype))
    }

    /// The text.
    ///
    /// # Errors
    /// [`ObjectError::WrongType`] for a view of another type; [`ObjectError::NotText`].
    pub fn text(&self) -> Result<String> {
        let mut bytes = self.text_bytes()?;
        let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        bytes.truncate(end);
        String::from_utf8(bytes).map_err(|_| ObjectError::NotText { path: self.ty.name().into() })
    }

    /// The bytes of a text with its padding.
    ///
    /// # Errors
    /// [`ObjectError::WrongType`] for a view of another type.
    pub fn text_bytes(&self) -> Result<Vec<u8>> {
        let Type::String(_) = self.ty else { return Err(self.wrong("text")) };
        let mut bytes = vec![0; self.text_room()?];
        self.read(SLOT, &mut bytes)?;
        Ok(bytes)
    }

    /// The bytes that a text may have, its closing NUL included.
    pub(crate) fn text_room(&self) -> Result<usize> {
        Ok(self.size()?.saturating_sub(SLOT))
    }

    /// The numbers of an array, with the last axis the fastest whatever its order in memory.
    ///
    /// # Errors
    /// [`ObjectError::WrongType`] for what is not an array of `T`.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if self.array_type()?.item != Type::Scalar(T::DTYPE) {
            return Err(self.wrong(&format!("an array of {}", T::DTYPE)));
        }
        let shape = self.array_shape()?;
        self.check_alive()?;
        let raw: Vec<T> = self.buffer.read_numbers(self.offset + shape.data, shape.count())?;
        let order = &self.array_type()?.order;
        if order.iter().copied().eq(0..order.len()) {
            return Ok(raw);
        }
        let place = |index: SmallVec<[usize; 4]>| index.iter().zip(&shape.strides).map(|(i, stride)| i * stride).sum::<usize>();
        Ok(indices(&shape.shape).map(|index| raw[place(index) / size_of::<T>()]).collect())
    }

    /// The path by which messages call it.
    pub(crate) fn path(&self) -> Path<'_> {
        Path::root(self.ty.name())
    }
}

/// Every index of a shape, with the last axis the fastest.
pub(crate) fn indices(shape: &[usize]) -> impl Iterator<Item = SmallVec<[usize; 4]>> + use<> {
    let order: SmallVec<[usize; 4]> = (0..shape.len()).collect();
    indices_in(shape, &order)
}

/// Every index of a shape, with the axes from the slowest to the fastest in `order`.
pub(crate) fn indices_in(shape: &[usize], order: &[usize]) -> impl Iterator<Item = SmallVec<[usize; 4]>> + use<> {
    let (shape, order): (SmallVec<[usize; 4]>, SmallVec<[usize; 4]>) = (shape.into(), order.into());
    let mut next: Option<SmallVec<[usize; 4]>> = (!shape.contains(&0)).then(|| shape.iter().map(|_| 0).collect());
    std::iter::from_fn(move || {
        let current = next.clone()?;
        let index = next.as_mut()?;
        let advanced = order.iter().rev().any(|&axis| {
            index[axis] += 1;
            let done = index[axis] < shape[axis];
            if !done {
                index[axis] = 0;
            }
            done
        });
        if !advanced {
            next = None;
        }
        Some(current)
    })
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} at {}>", self.ty, self.offset)
    }
}
