//! New objects: a value is laid out on the host as the bytes of its type, then placed in a buffer. Everything is checked before a
//! buffer is touched, so that a value that does not fit changes nothing.

use std::sync::Arc;

use smallvec::SmallVec;

use parloop_kernel::Context;

use crate::buffer::{Allocation, Buffer, Placement};
use crate::elements::{convert, gather, out_of_range};
use crate::error::ObjectError;
use crate::graph::{Graph, GraphPiece, references};
use crate::path::Path;
use crate::scalar;
use crate::types::{
    ArrayType, FieldPlace, MAX_BYTES, NULL_OFFSET, NULL_TYPEID, SLOT, StructType, Type, UnionType, count_of, slots, strides_of,
};
use crate::value::{Elements, Value};
use crate::view::{Result, View, indices, indices_in};

/// Elements longer than this are copied to the buffer from where they are.
const BORROW_FROM: usize = 4096;

/// The bytes that an object of no fixed size is expected to have.
const EXPECTED: usize = 128;

/// The bytes of one object to be.
#[derive(Default)]
struct Image<'a> {
    /// What was put together here.
    bytes: Vec<u8>,
    /// What comes from elsewhere, each before the byte of `bytes` at the given position.
    pieces: Vec<(usize, Piece<'a>)>,
    /// The bytes of all pieces.
    piece_bytes: usize,
    links: Vec<Link>,
}

enum Piece<'a> {
    Elements(Elements<'a>),
    Zeros(usize),
    /// All bytes of an object that holds no references.
    Object(View, usize),
}

impl Piece<'_> {
    fn len(&self) -> usize {
        match self {
            Piece::Elements(elements) => elements.count() * elements.dtype.size(),
            Piece::Zeros(len) | Piece::Object(_, len) => *len,
        }
    }
}

/// A reference to be set when its target has a place.
pub(crate) struct Link {
    /// Where its slot is in the bytes put together, and in the whole.
    position: usize,
    offset: usize,
    target: Target,
}

/// What a reference will refer to.
#[derive(Clone)]
pub(crate) enum Target {
    /// An object that is in the buffer.
    Existing(View),
    /// The object to be with this number.
    New(usize),
    /// The copy of the object of another buffer that has this number in the graph.
    Copied(usize),
}

impl<'a> Image<'a> {
    fn len(&self) -> usize {
        self.bytes.len() + self.piece_bytes
    }

    fn word(&mut self, word: i64) -> usize {
        let position = self.bytes.len();
        self.bytes.extend_from_slice(&word.to_le_bytes());
        position
    }

    fn patch(&mut self, position: usize, word: i64) {
        self.bytes[position..position + SLOT].copy_from_slice(&word.to_le_bytes());
    }

    fn piece(&mut self, piece: Piece<'a>) {
        if piece.len() > 0 {
            self.piece_bytes += piece.len();
            self.pieces.push((self.bytes.len(), piece));
        }
    }

    /// Fills up with zeros to a whole number of slots from `start`.
    fn pad(&mut self, start: usize) {
        let len = self.len() - start;
        self.bytes.extend(std::iter::repeat_n(0, slots(len) - len));
    }

    /// The bytes of a piece of a graph: on the host around its references, where they are elsewhere.
    fn of_piece(piece: &GraphPiece) -> Result<Image<'a>> {
        let mut image = Image::default();
        let mut slots = piece.slots.iter().peekable();
        let (mut done, mut known) = (piece.start, piece.start);
        while done < piece.end {
            let next = slots.peek().map_or(piece.end, |(slot, _)| **slot);
            if next - known >= BORROW_FROM {
                image.host_bytes(piece, done, known)?;
                let part = View::new(piece.view.buffer().clone(), known, piece.view.ty().clone(), piece.view.owner().cloned());
                image.piece(Piece::Object(part, next - known));
                done = next;
            }
            let Some((slot, target)) = slots.next() else {
                image.host_bytes(piece, done, piece.end)?;
                break;
            };
            let position = image.bytes.len() + (slot - done);
            image.links.push(Link { position, offset: slot - piece.start, target: Target::Copied(*target) });
            known = slot + SLOT;
        }
        Ok(image)
    }

    fn host_bytes(&mut self, piece: &GraphPiece, start: usize, end: usize) -> Result<()> {
        let before = self.bytes.len();
        self.bytes.resize(before + (end - start), 0);
        Ok(piece.view.buffer().read(start, &mut self.bytes[before..])?)
    }

    /// Copies it to its place.
    fn write(&self, buffer: &Buffer, offset: usize) -> Result<()> {
        let (mut written, mut at) = (0, offset);
        for (position, piece) in &self.pieces {
            buffer.write(at, &self.bytes[written..*position])?;
            at += position - written;
            written = *position;
            match piece {
                Piece::Elements(elements) => buffer.write(at, elements.dense_bytes())?,
                Piece::Zeros(len) => buffer.fill(at, *len, 0)?,
                Piece::Object(view, len) => buffer.copy_from(at, view.buffer(), view.offset(), *len)?,
            }
            at += piece.len();
        }
        Ok(buffer.write(at, &self.bytes[written..])?)
    }
}

/// Objects to be, for one buffer.
#[derive(Default)]
pub(crate) struct Builder<'a> {
    images: SmallVec<[Image<'a>; 1]>,
    types: SmallVec<[Type; 1]>,
    /// The buffer that they are for, if it is there already.
    buffer: Option<Buffer>,
    /// Objects of other buffers that are copied because a reference needs them.
    graph: Graph,
}

/// Objects copied together with everything that they refer to.
pub(crate) struct PlacedImages {
    /// By their numbers.
    pub views: Vec<View>,
    /// Copies, by the numbers of the originals in the graph.
    pub copied: Vec<View>,
}

/// Where the copy of an object is: in the image with this number, from this byte on.
#[derive(Clone, Copy)]
struct CopyPosition {
    number: usize,
    at: usize,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(buffer: Option<Buffer>) -> Builder<'a> {
        Builder { buffer, ..Builder::default() }
    }

    /// Lays out an object; its number.
    pub(crate) fn object(&mut self, ty: &Type, value: Value<'a>, path: &Path<'_>) -> Result<usize> {
        let number = self.images.len();
        self.images.push(Image::default());
        self.types.push(ty.clone());
        if let Value::Object(view) = &value
            && view.ty() == ty
            && ty.has_refs()
        {
            self.copy(number, view)?;
            return Ok(number);
        }
        let mut image = Image { bytes: Vec::with_capacity(ty.size().map_or(EXPECTED, |size| size.min(BORROW_FROM))), ..Image::default() };
        self.put(&mut image, ty, value, path)?;
        self.images[number] = image;
        Ok(number)
    }

    /// Makes an object to be of the bytes of another, whose references are found in its type. In its own buffer what it refers to is
    /// shared; elsewhere it is a part of the graph that is copied.
    fn copy(&mut self, number: usize, view: &View) -> Result<()> {
        if !self.is_for(view) {
            self.graph.start_with(view, number);
            return Ok(());
        }
        let image = &mut self.images[number];
        image.bytes = view.to_bytes()?;
        for (slot, target) in references(view)? {
            let offset = slot - view.offset();
            image.links.push(Link { position: offset, offset, target: Target::Existing(target) });
        }
        Ok(())
    }

    fn is_for(&self, view: &View) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.same(view.buffer()))
    }

    /// Makes images of the objects that are copied; where each of them is. Objects that overlap are in one image, so that they do so in
    /// the copy.
    fn copy_graph(&mut self, first: Placement) -> Result<Vec<CopyPosition>> {
        let apart = matches!(first, Placement::At(_)).then_some(0);
        let pieces = self.graph.pieces(apart)?;
        let mut spots = vec![CopyPosition { number: 0, at: 0 }; self.graph.len()];
        for piece in pieces {
            let number = piece.number.unwrap_or(self.images.len());
            if number == self.images.len() {
                self.images.push(Image::default());
                self.types.push(piece.view.ty().clone());
            }
            for &(member, start) in &piece.members {
                spots[member] = CopyPosition { number, at: start - piece.start };
            }
            self.images[number] = Image::of_piece(&piece)?;
        }
        Ok(spots)
    }

    /// The bytes of a buffer that has just room for all objects.
    fn size(&self) -> usize {
        let (last, others) = self.images.split_last().map_or((0, [].as_slice()), |(last, others)| (last.len(), others));
        others.iter().map(|image| slots(image.len())).sum::<usize>() + last
    }

    /// Places all objects in a new buffer of just their size; the first of them.
    pub(crate) fn place_alone(mut self, context: &Context) -> Result<View> {
        let spots = self.copy_graph(Placement::Aligned)?;
        if let ([image], [ty]) = (&*self.images, &*self.types)
            && image.links.is_empty()
        {
            let (buffer, allocation) = Buffer::filled_by_one(context, image.len())?;
            image.write(&buffer, 0)?;
            return Ok(View::new(buffer, 0, ty.clone(), Some(allocation)));
        }
        let buffer = Buffer::for_one(context, self.size())?;
        let placed = self.place_images(&buffer, Placement::Aligned, &spots)?;
        Ok(placed.views.into_iter().next().expect("invariant: the builder was given an object"))
    }

    /// Places all objects in a buffer and sets their references. On failure nothing is kept.
    pub(crate) fn place(mut self, buffer: &Buffer, first: Placement) -> Result<PlacedImages> {
        let spots = self.copy_graph(first)?;
        self.place_images(buffer, first, &spots)
    }

    fn place_images(mut self, buffer: &Buffer, first: Placement, spots: &[CopyPosition]) -> Result<PlacedImages> {
        let mut allocations: Vec<Arc<Allocation>> = Vec::with_capacity(self.images.len());
        for (number, image) in self.images.iter().enumerate() {
            let placement = if number == 0 { first } else { Placement::Aligned };
            allocations.push(buffer.place(image.len(), placement)?);
        }
        for (image, allocation) in self.images.iter_mut().zip(&allocations) {
            for link in std::mem::take(&mut image.links) {
                let slot = allocation.offset() + link.offset;
                let (target, owner) = match &link.target {
                    Target::Existing(view) => (view.offset(), view.owner().cloned()),
                    Target::New(number) => (allocations[*number].offset(), Some(allocations[*number].clone())),
                    Target::Copied(member) => {
                        let CopyPosition { number, at } = spots[*member];
                        (allocations[number].offset() + at, Some(allocations[number].clone()))
                    }
                };
                image.patch(link.position, target as i64 - slot as i64);
                if owner.as_ref().is_none_or(|owner| !Arc::ptr_eq(owner, allocation)) {
                    allocation.refer(slot, owner);
                }
            }
            image.write(buffer, allocation.offset())?;
        }
        let view = |spot: CopyPosition, ty: &Type| {
            let allocation = &allocations[spot.number];
            View::new(buffer.clone(), allocation.offset() + spot.at, ty.clone(), Some(allocation.clone()))
        };
        let start = |number: usize| self.graph.member_of(number).map_or(CopyPosition { number, at: 0 }, |member| spots[member]);
        let views = self.types.iter().enumerate().map(|(number, ty)| view(start(number), ty)).collect();
        let copied = self.graph.views().zip(spots).map(|(original, spot)| view(*spot, original.ty())).collect();
        Ok(PlacedImages { views, copied })
    }

    fn put(&mut self, image: &mut Image<'a>, ty: &Type, value: Value<'a>, path: &Path<'_>) -> Result<()> {
        match ty {
            Type::Scalar(dtype) => {
                let value = match value {
                    Value::Scalar(value) => value,
                    Value::Default => parloop_kernel::decode([0, 0], *dtype),
                    Value::Object(view) if view.ty() == ty => view.scalar()?,
                    other => return Err(wrong(ty, &other, path)),
                };
                let bytes = scalar::to_bytes(value, *dtype).map_err(|_| out_of_range(path, value, *dtype))?;
                image.bytes.extend_from_slice(&bytes[..dtype.size()]);
                Ok(())
            }
            Type::String(size) => put_text(image, *size, value, path),
            Type::Struct(structure) => self.put_struct(image, ty, structure, value, path),
            Type::Array(array) => self.put_array(image, ty, array, value, path),
            Type::Ref(reference) => {
                let target = self.target(&reference.target, value, path)?;
                put_link(image, target);
                Ok(())
            }
            Type::Union(union) => {
                let (target, id) = self.member(union, value, path)?;
                put_link(image, target);
                image.word(id);
                Ok(())
            }
        }
    }

    /// What a reference to `ty` shall refer to.
    pub(crate) fn target(&mut self, ty: &Type, value: Value<'a>, path: &Path<'_>) -> Result<Option<Target>> {
        match value {
            Value::Null | Value::Default => Ok(None),
            // What is referred to may be a reference itself.
            Value::Object(view) if view.ty() == ty => {
                view.check_alive()?;
                let shared = self.is_for(&view);
                Ok(Some(if shared { Target::Existing(view) } else { Target::Copied(self.graph.reach(view)) }))
            }
            Value::Object(view) if matches!(view.ty(), Type::Ref(_) | Type::Union(_)) => match view.target()? {
                Some(target) => self.target(ty, Value::Object(target), path),
                None => Ok(None),
            },
            other => self.object(ty, other, path).map(|number| Some(Target::New(number))),
        }
    }

    /// What a union reference shall refer to, and its type id.
    pub(crate) fn member(&mut self, union: &UnionType, value: Value<'a>, path: &Path<'_>) -> Result<(Option<Target>, i64)> {
        let not_a_member = |given: String| ObjectError::NotAMember {
            path: path.to_string(),
            members: union.members.iter().map(|member| member.name().to_owned()).collect(),
            given,
        };
        let value = match value {
            Value::Object(view) if matches!(view.ty(), Type::Ref(_) | Type::Union(_)) => view.target()?.map_or(Value::Null, Value::Object),
            other => other,
        };
        let (id, value) = match value {
            Value::Null | Value::Default => return Ok((None, NULL_TYPEID)),
            Value::Member(id, value) if id < union.members.len() => (id, *value),
            Value::Object(view) => {
                let id = union.typeid(view.ty()).ok_or_else(|| not_a_member(format!("an object of {}", view.ty())))?;
                (id, Value::Object(view))
            }
            other => return Err(not_a_member(other.describe())),
        };
        let target = self.target(&union.members[id], value, path)?;
        Ok((target, id as i64))
    }

    fn put_struct(&mut self, image: &mut Image<'a>, ty: &Type, structure: &StructType, value: Value<'a>, path: &Path<'_>) -> Result<()> {
        let mut given = match value {
            Value::Fields(fields) => fields,
            Value::Default => Vec::new(),
            Value::Object(view) if view.ty() == ty => {
                view.check_alive()?;
                if !structure.has_refs {
                    let size = view.size()?;
                    image.piece(Piece::Object(view, size));
                    return Ok(());
                }
                let fields: Result<_> = (0..structure.fields.len()).map(|i| Ok((i, Value::Object(view.field_at(i)?)))).collect();
                fields?
            }
            other => return Err(wrong(ty, &other, path)),
        };
        if let Some((_, value)) = given.iter().find(|(index, _)| *index >= structure.fields.len()) {
            return Err(wrong(ty, value, path));
        }
        let mut take = |index: usize| {
            let found = given.iter_mut().find(|(at, _)| *at == index);
            found.map_or(Value::Default, |(_, value)| std::mem::replace(value, Value::Default))
        };
        let start = image.len();
        let size = structure.size.is_none().then(|| image.word(0));
        for (index, field) in structure.fields.iter().enumerate().filter(|(_, field)| !field.ty.is_dynamic()) {
            let at = image.len();
            self.put(image, &field.ty, take(index), &path.field(&field.name))?;
            image.pad(at);
        }
        let mut words: SmallVec<[(usize, usize); 8]> = SmallVec::new();
        for (index, field) in structure.dynamic_fields() {
            if let FieldPlace::Indirect(_) = field.place {
                words.push((index, image.word(0)));
            }
        }
        for (index, field) in structure.dynamic_fields() {
            let at = image.len();
            if let Some(&(_, word)) = words.iter().find(|(of, _)| *of == index) {
                image.patch(word, (at - start) as i64);
            }
            self.put(image, &field.ty, take(index), &path.field(&field.name))?;
            image.pad(at);
        }
        if let Some(position) = size {
            let size = (image.len() - start) as i64;
            image.patch(position, size);
        }
        Ok(())
    }

    fn put_array(&mut self, image: &mut Image<'a>, ty: &Type, array: &ArrayType, value: Value<'a>, path: &Path<'_>) -> Result<()> {
        let value = match value {
            Value::Object(view) if view.ty() == ty && !array.item.has_refs() => {
                view.check_alive()?;
                let size = view.size()?;
                image.piece(Piece::Object(view, size));
                return Ok(());
            }
            Value::Object(view) => items_of(array, view, ty, path)?,
            other => other,
        };
        let shape = shape_for(array, &value, ty, path)?;
        let start = image.len();
        let size = array.size.is_none().then(|| image.word(0));
        for (_, &dim) in array.shape.iter().zip(&shape).filter(|(declared, _)| declared.is_none()) {
            image.word(dim as i64);
        }
        let stride = array.item.size().unwrap_or(SLOT);
        if array.stores_strides() {
            let strides = strides_of(&shape, &array.order, stride).ok_or_else(|| too_large(array))?;
            for stride in strides {
                image.word(stride as i64);
            }
        }
        let count = shape.iter().try_fold(1usize, |count, &dim| count.checked_mul(dim)).ok_or_else(|| too_large(array))?;
        count.checked_mul(stride).filter(|&bytes| bytes < MAX_BYTES).ok_or_else(|| too_large(array))?;
        if array.item.size().is_some() {
            self.put_items(image, array, &shape, value, path)?;
        } else {
            self.put_dynamic_items(image, array, &shape, (start, count), value, path)?;
        }
        image.pad(start);
        if let Some(position) = size {
            let size = (image.len() - start) as i64;
            image.patch(position, size);
        }
        Ok(())
    }

    /// Items that all have the same size: side by side, in the order of the array.
    fn put_items(&mut self, image: &mut Image<'a>, array: &ArrayType, shape: &[usize], value: Value<'a>, path: &Path<'_>) -> Result<()> {
        match (value, &array.item) {
            (Value::Elements(elements), Type::Scalar(dtype)) => {
                let elements = if elements.dtype == *dtype { elements } else { convert(elements, *dtype, path)? };
                let elements = gather(elements, &array.order);
                if elements.count() * dtype.size() >= BORROW_FROM {
                    image.piece(Piece::Elements(elements));
                } else {
                    image.bytes.extend_from_slice(elements.dense_bytes());
                }
                Ok(())
            }
            (Value::Items { items, .. }, item) => {
                let mut items: Vec<Option<Value<'a>>> = items.into_iter().map(Some).collect();
                for index in indices_in(shape, &array.order) {
                    let value = items[flat(shape, &index)].take().unwrap_or(Value::Default);
                    self.put(image, item, value, &path.item(&index))?;
                }
                Ok(())
            }
            (_, Type::Scalar(dtype)) => {
                image.piece(Piece::Zeros(shape.iter().product::<usize>() * dtype.size()));
                Ok(())
            }
            (_, item) => {
                for index in indices_in(shape, &array.order) {
                    self.put(image, item, Value::Default, &path.item(&index))?;
                }
                Ok(())
            }
        }
    }

    /// Items that differ in size: a table of their offsets, then each on a slot.
    fn put_dynamic_items(
        &mut self,
        image: &mut Image<'a>,
        array: &ArrayType,
        shape: &[usize],
        (start, count): (usize, usize),
        value: Value<'a>,
        path: &Path<'_>,
    ) -> Result<()> {
        let mut items: Vec<Option<Value<'a>>> = match value {
            Value::Items { items, .. } => items.into_iter().map(Some).collect(),
            _ => (0..count).map(|_| None).collect(),
        };
        let table = image.bytes.len();
        image.bytes.extend(std::iter::repeat_n(0, count * SLOT));
        for (number, index) in indices_in(shape, &array.order).enumerate() {
            let at = image.len() - start;
            image.patch(table + number * SLOT, at as i64);
            let value = items[flat(shape, &index)].take().unwrap_or(Value::Default);
            self.put(image, &array.item, value, &path.item(&index))?;
            image.pad(start);
        }
        Ok(())
    }
}

/// Sets the word of a link to a target that is there already; for editing objects in place.
pub(crate) fn distance(slot: usize, target: Option<usize>) -> i64 {
    target.map_or(NULL_OFFSET, |target| target as i64 - slot as i64)
}

fn put_link(image: &mut Image<'_>, target: Option<Target>) {
    let offset = image.len();
    let position = image.word(NULL_OFFSET);
    if let Some(target) = target {
        image.links.push(Link { position, offset, target });
    }
}

fn put_text(image: &mut Image<'_>, fixed: Option<usize>, value: Value<'_>, path: &Path<'_>) -> Result<()> {
    let text = match value {
        Value::Text(text) => text.into_owned(),
        Value::Default => String::new(),
        Value::Object(view) if matches!(view.ty(), Type::String(_)) => match fixed {
            // The copy has the room that the original has.
            None => {
                let mut bytes = vec![0; view.size()?];
                view.read(0, &mut bytes)?;
                image.bytes.extend_from_slice(&bytes);
                return Ok(());
            }
            Some(_) => view.text()?,
        },
        Value::Capacity(room) if fixed.is_none() => {
            let size = room.checked_add(SLOT).filter(|&size| size < MAX_BYTES).ok_or(crate::BufferError::TooLarge)?;
            image.word(size as i64);
            image.bytes.extend(std::iter::repeat_n(0, room));
            return Ok(());
        }
        other => return Err(wrong(&Type::String(fixed), &other, path)),
    };
    let size = fixed.unwrap_or_else(|| slots(text.len() + 1 + SLOT));
    let room = size.saturating_sub(SLOT);
    if text.len() + 1 > room {
        return Err(ObjectError::TextTooLong { path: path.to_string(), given: text.len(), room: room.saturating_sub(1) });
    }
    image.word(size as i64);
    image.bytes.extend_from_slice(text.as_bytes());
    image.bytes.extend(std::iter::repeat_n(0, room - text.len()));
    Ok(())
}

/// The items of an object that is an array, to be copied one by one.
pub(crate) fn items_of<'a>(array: &ArrayType, view: View, ty: &Type, path: &Path<'_>) -> Result<Value<'a>> {
    let given = match view.ty() {
        Type::Array(given) if given.item == array.item => given,
        _ => return Err(wrong(ty, &Value::Object(view), path)),
    };
    let shape = view.array_shape()?;
    if let Type::Scalar(dtype) = given.item {
        let mut bytes = vec![0; shape.count() * dtype.size()];
        view.read(shape.data, &mut bytes)?;
        let strides = shape.strides.iter().map(|&stride| stride as isize).collect();
        return Ok(Value::Elements(Elements { bytes: bytes.into(), start: 0, dtype, shape: shape.shape, strides }));
    }
    let items: Result<_> = indices(&shape.shape).map(|index| Ok(Value::Object(view.item_in(&shape, &index)?))).collect();
    Ok(Value::Items { items: items?, shape: shape.shape })
}

/// The shape that an array gets from a value.
pub(crate) fn shape_for(array: &ArrayType, value: &Value<'_>, ty: &Type, path: &Path<'_>) -> Result<SmallVec<[usize; 4]>> {
    let misfit = |given: &[usize]| ObjectError::Shape { path: path.to_string(), expected: array.shape.clone(), given: given.to_vec() };
    let whole = |given: &SmallVec<[usize; 4]>| {
        let fits =
            given.len() == array.shape.len() && array.shape.iter().zip(given).all(|(dim, given)| dim.is_none_or(|dim| dim == *given));
        if fits { Ok(given.clone()) } else { Err(misfit(given)) }
    };
    match value {
        Value::Elements(elements) if array.item.scalar().is_some() && elements.is_sound() => whole(&elements.shape),
        Value::Items { shape, items } if items.len() == count_of(shape) => whole(shape),
        Value::Shape(dims) if dims.len() == array.dynamic_axes() => {
            let mut dims = dims.iter();
            Ok(array.shape.iter().map(|dim| dim.unwrap_or_else(|| dims.next().copied().unwrap_or(0))).collect())
        }
        Value::Shape(dims) => whole(dims),
        Value::Default => match array.static_shape() {
            Some(shape) => Ok(shape.into()),
            None => Err(ObjectError::Missing { path: path.to_string() }),
        },
        other => Err(wrong(ty, other, path)),
    }
}

/// The number of an index, with the last axis the fastest.
fn flat(shape: &[usize], index: &[usize]) -> usize {
    shape.iter().zip(index).fold(0, |number, (dim, i)| number * dim + i)
}

pub(crate) fn wrong(ty: &Type, value: &Value<'_>, path: &Path<'_>) -> ObjectError {
    ObjectError::WrongType { path: path.to_string(), ty: ty.name().into(), given: value.describe() }
}

fn too_large(array: &ArrayType) -> ObjectError {
    crate::TypeError::TooLarge { kind: "array", name: array.name.clone() }.into()
}
