//! Changing objects in place. A value is fully checked before the first byte is written.

use std::collections::HashSet;
use std::sync::Arc;

use parloop_device::DType;
use smallvec::SmallVec;

use crate::buffer::{Allocation, Placement};
use crate::elements::{convert, gather, out_of_range};
use crate::error::ObjectError;
use crate::image::{Builder, Target, distance, items_of, shape_for, wrong};
use crate::path::Path;
use crate::scalar;
use crate::types::{NULL_TYPEID, SLOT, StructType, Type};
use crate::value::{Elements, Value};
use crate::view::{Result, View, indices};

impl View {
    /// Gives it another value of the same size: numbers, texts that fit, arrays of the same shape, fields, references.
    ///
    /// # Errors
    /// The part that does not fit, and where; nothing is changed.
    pub fn set(&self, value: Value<'_>) -> Result<()> {
        self.check_alive()?;
        let mut edit = Edit { builder: Builder::new(Some(self.buffer().clone())), steps: Vec::new(), links: Vec::new() };
        edit.plan(self, value, &self.path())?;
        edit.apply(self)
    }
}

impl View {
    /// Takes over all that is in a copy of it, made by [`Type::make`] on another device: its own bytes, and those of what it refers to.
    ///
    /// # Errors
    /// When the copy is of another size, or a device fails.
    pub fn take_back(&self, copy: &View) -> Result<()> {
        self.take_back_once(copy, &mut HashSet::new())
    }

    fn take_back_once(&self, copy: &View, seen: &mut HashSet<(usize, String)>) -> Result<()> {
        self.check_alive()?;
        // A struct may begin with another: the offset alone does not tell them apart.
        let can_come_again = matches!(self.ty(), Type::Struct(_) | Type::Array(_)) && self.ty().has_refs();
        if can_come_again && !seen.insert((copy.offset(), self.ty().name().to_owned())) {
            return Ok(());
        }
        match self.ty() {
            ty if !ty.has_refs() => {
                let (has, needs) = (self.size()?, copy.size()?);
                if has != needs {
                    return Err(ObjectError::Size { path: self.path().to_string(), has, needs });
                }
                Ok(self.buffer().copy_from(self.offset(), copy.buffer(), copy.offset(), has)?)
            }
            Type::Struct(ty) => (0..ty.fields.len()).try_for_each(|i| self.field_at(i)?.take_back_once(&copy.field_at(i)?, seen)),
            Type::Array(_) => {
                let shape = self.array_shape()?;
                indices(&shape.shape).try_for_each(|i| self.item_in(&shape, &i)?.take_back_once(&copy.item(&i)?, seen))
            }
            _ => match (self.target()?, copy.target()?) {
                (Some(ours), Some(theirs)) if ours.ty() == theirs.ty() => ours.take_back_once(&theirs, seen),
                _ => Ok(()),
            },
        }
    }
}

/// What is to be written, in order.
struct Edit<'a> {
    builder: Builder<'a>,
    steps: Vec<(usize, PendingWrite<'a>)>,
    links: Vec<SetLink>,
}

enum PendingWrite<'a> {
    Bytes(SmallVec<[u8; 16]>),
    Elements(Elements<'a>),
    Object(View, usize),
}

/// A reference to be set: its slot, its target, and for unions the type id.
struct SetLink {
    slot: usize,
    owner: Option<Arc<Allocation>>,
    target: Option<Target>,
    typeid: Option<i64>,
}

impl<'a> Edit<'a> {
    fn plan(&mut self, view: &View, value: Value<'a>, path: &Path<'_>) -> Result<()> {
        match (view.ty(), value) {
            (_, Value::Default) => Ok(()),
            (_, Value::Object(given)) if given.same(view) && given.ty() == view.ty() => Ok(()),
            (Type::Scalar(dtype), value) => self.number(view, *dtype, value, path),
            (Type::String(_), value) => self.text(view, value, path),
            (Type::Struct(ty), Value::Fields(fields)) => {
                for (index, value) in fields {
                    let name = ty.fields.get(index).map_or("?", |field| &field.name);
                    self.plan(&view.field_at(index)?, value, &path.field(name))?;
                }
                Ok(())
            }
            (Type::Struct(ty), Value::Object(given)) if given.ty() == view.ty() => {
                given.check_alive()?;
                let (has, needs) = (view.size()?, given.size()?);
                if !ty.has_refs && has == needs && same_layout(view, &given)? {
                    self.steps.push((view.offset(), PendingWrite::Object(given, needs)));
                    return Ok(());
                }
                for (index, field) in ty.fields.iter().enumerate() {
                    self.plan(&view.field_at(index)?, Value::Object(given.field_at(index)?), &path.field(&field.name))?;
                }
                Ok(())
            }
            (Type::Struct(ty), Value::Object(given)) if matches!(given.ty(), Type::Struct(other) if shares_names(ty, other)) => {
                for (index, field) in ty.fields.iter().enumerate() {
                    if let Ok(value) = given.field(&field.name) {
                        self.plan(&view.field_at(index)?, Value::Object(value), &path.field(&field.name))?;
                    }
                }
                Ok(())
            }
            (Type::Array(_), value) => self.array(view, value, path),
            (Type::Ref(ty), value) => {
                let target = self.builder.target(&ty.target, value, path)?;
                self.links.push(SetLink { slot: view.offset(), owner: view.owner().cloned(), target, typeid: None });
                Ok(())
            }
            (Type::Union(ty), value) => {
                let (target, id) = self.builder.member(ty, value, path)?;
                self.links.push(SetLink { slot: view.offset(), owner: view.owner().cloned(), target, typeid: Some(id) });
                Ok(())
            }
            (ty, other) => Err(wrong(ty, &other, path)),
        }
    }

    fn number(&mut self, view: &View, dtype: DType, value: Value<'_>, path: &Path<'_>) -> Result<()> {
        let value = match value {
            Value::Scalar(value) => value,
            Value::Object(given) if matches!(given.ty(), Type::Scalar(_)) => given.scalar()?,
            other => return Err(wrong(view.ty(), &other, path)),
        };
        let bytes = scalar::to_bytes(value, dtype).map_err(|_| out_of_range(path, value, dtype))?;
        self.steps.push((view.offset(), PendingWrite::Bytes(bytes[..dtype.size()].into())));
        Ok(())
    }

    fn text(&mut self, view: &View, value: Value<'_>, path: &Path<'_>) -> Result<()> {
        let text = match value {
            Value::Text(text) => text.into_owned(),
            Value::Object(given) if matches!(given.ty(), Type::String(_)) => given.text()?,
            other => return Err(wrong(view.ty(), &other, path)),
        };
        let room = view.text_room()?;
        if text.len() + 1 > room {
            return Err(ObjectError::TextTooLong { path: path.to_string(), given: text.len(), room: room.saturating_sub(1) });
        }
        let mut bytes: SmallVec<[u8; 16]> = text.as_bytes().into();
        bytes.resize(room, 0);
        self.steps.push((view.offset() + SLOT, PendingWrite::Bytes(bytes)));
        Ok(())
    }

    fn array(&mut self, view: &View, value: Value<'a>, path: &Path<'_>) -> Result<()> {
        let Type::Array(ty) = view.ty() else { return Err(wrong(view.ty(), &value, path)) };
        let (ty, shape) = (ty.clone(), view.array_shape()?);
        let value = match value {
            Value::Object(given) if given.ty() == view.ty() && ty.item.scalar().is_some() => {
                let other = given.array_shape()?;
                if other == shape {
                    let bytes = shape.count() * ty.item.size().unwrap_or(0);
                    let data = View::new(given.buffer().clone(), given.offset() + shape.data, ty.item.clone(), given.owner().cloned());
                    self.steps.push((view.offset() + shape.data, PendingWrite::Object(data, bytes)));
                    return Ok(());
                }
                items_of(&ty, given, view.ty(), path)?
            }
            Value::Object(given) => items_of(&ty, given, view.ty(), path)?,
            other => other,
        };
        let given = shape_for(&ty, &value, view.ty(), path)?;
        if given != shape.shape {
            let expected = shape.shape.iter().map(|&dim| Some(dim)).collect();
            return Err(ObjectError::Shape { path: path.to_string(), expected, given: given.to_vec() });
        }
        match (value, &ty.item) {
            (Value::Elements(elements), Type::Scalar(dtype)) => {
                let elements = if elements.dtype == *dtype { elements } else { convert(elements, *dtype, path)? };
                self.steps.push((view.offset() + shape.data, PendingWrite::Elements(gather(elements, &ty.order))));
                Ok(())
            }
            (Value::Items { items, .. }, _) => {
                for (index, value) in indices(&shape.shape).zip(items) {
                    self.plan(&view.item_in(&shape, &index)?, value, &path.item(&index))?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn apply(mut self, view: &View) -> Result<()> {
        let buffer = view.buffer();
        if self.steps.len() > 1 {
            // A part of this buffer is taken as it is before the first step, which may write to it.
            for (_, step) in &mut self.steps {
                if let PendingWrite::Object(given, bytes) = step
                    && given.buffer().same(buffer)
                {
                    let mut copy: SmallVec<[u8; 16]> = smallvec::smallvec![0; *bytes];
                    given.read(0, &mut copy)?;
                    *step = PendingWrite::Bytes(copy);
                }
            }
        }
        // New objects first: only they can fail for want of room.
        let placed = self.builder.place(buffer, Placement::Aligned)?;
        for (offset, step) in &self.steps {
            match step {
                PendingWrite::Bytes(bytes) => buffer.write(*offset, bytes)?,
                PendingWrite::Elements(elements) => buffer.write(*offset, elements.dense_bytes())?,
                PendingWrite::Object(given, bytes) => buffer.copy_from(*offset, given.buffer(), given.offset(), *bytes)?,
            }
        }
        for link in self.links {
            let target = link.target.map(|target| match target {
                Target::Existing(view) => view,
                Target::New(number) => placed.views[number].clone(),
                Target::Copied(member) => placed.copied[member].clone(),
            });
            let word = distance(link.slot, target.as_ref().map(View::offset));
            buffer.write(link.slot, &word.to_le_bytes())?;
            if let Some(id) = link.typeid {
                let id = if target.is_some() { id } else { NULL_TYPEID };
                buffer.write(link.slot + SLOT, &id.to_le_bytes())?;
            }
            if let Some(owner) = link.owner {
                let target = target.and_then(|target| target.owner().cloned());
                owner.refer(link.slot, target.filter(|target| !Arc::ptr_eq(target, &owner)));
            }
        }
        Ok(())
    }
}

/// Whether a struct can take fields of another one: some have the same names.
fn shares_names(ty: &StructType, other: &StructType) -> bool {
    ty.fields.iter().any(|field| other.field(&field.name).is_some())
}

/// Whether two structs of the same size have all their dynamic parts at the same places with the same sizes and shapes.
fn same_layout(view: &View, given: &View) -> Result<bool> {
    match view.ty() {
        Type::Scalar(_) | Type::Ref(_) | Type::Union(_) => Ok(true),
        Type::String(_) => Ok(view.size()? == given.size()?),
        Type::Array(ty) => {
            let shape = view.array_shape()?;
            if shape != given.array_shape()? {
                return Ok(false);
            }
            if ty.size.is_some() || ty.item.size().is_some() {
                return Ok(true);
            }
            for index in indices(&shape.shape) {
                let (ours, theirs) = (view.item_in(&shape, &index)?, given.item_in(&shape, &index)?);
                if ours.offset() - view.offset() != theirs.offset() - given.offset() || !same_layout(&ours, &theirs)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Type::Struct(ty) => {
            for (index, _) in ty.dynamic_fields() {
                let (ours, theirs) = (view.field_at(index)?, given.field_at(index)?);
                if ours.offset() - view.offset() != theirs.offset() - given.offset() || !same_layout(&ours, &theirs)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}
