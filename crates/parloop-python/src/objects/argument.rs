//! Objects as arguments of kernels: in place where the kernel's device holds them, copied there and back otherwise.

use parloop_device::{DeviceKind, Memory};
use parloop_kernel as ker;
use parloop_kernel::{Pointee, Slot};
use parloop_object as obj;
use parloop_object::{Hold, Home, Value, View};
use pyo3::prelude::*;
use smallvec::SmallVec;

use super::object::{Body, Object};
use crate::error::Result;
use crate::exceptions::Exception;
use crate::kernel::Kernel;

/// What a call does with its objects.
#[derive(Default)]
pub struct Objects {
    /// The arguments that are objects of the kernel's device, with their buffers and their offsets in them.
    placed: SmallVec<[(usize, obj::Buffer, usize); 2]>,
    /// The arguments that are other parts of buffers, with the memory and where they begin in it.
    parts: SmallVec<[(usize, obj::Buffer, Memory, usize); 1]>,
    /// Objects of other devices, with the copies that the kernel gets.
    copies: Vec<Copied>,
}

struct Copied {
    /// The first argument that needs it.
    index: usize,
    original: View,
    copy: View,
    written: bool,
}

impl Objects {
    /// Takes over what a kernel wrote to copies.
    pub fn take_back(&self) -> Result<()> {
        for copied in self.copies.iter().filter(|copied| copied.written) {
            copied.original.take_back(&copied.copy)?;
        }
        Ok(())
    }

    /// Fails where two copies are of overlapping objects and the kernel writes to one of them: the other would take it back.
    pub fn check_copies(&self) -> Result<()> {
        for (index, one) in self.copies.iter().enumerate() {
            for other in &self.copies[..index] {
                if (one.written || other.written) && overlap(&one.original, &other.original)? {
                    let (one, other) = (one.original.ty(), other.original.ty());
                    let reason = format!(
                        "the {other} and the {one} of another device overlap, and the kernel writes to them; copy the whole object to its device first"
                    );
                    return Err(Exception::ArgumentValueError.error(reason).into());
                }
            }
        }
        Ok(())
    }

    /// Puts the addresses of the objects into the slots and keeps their memory there. No code of Python may run before they are let go:
    /// it could grow the buffers, which waits for them.
    #[inline]
    pub fn hold(&mut self, slots: &mut [Slot], kernel: &ker::Kernel) -> Result<SmallVec<[Hold; 2]>, ker::KernelError> {
        let kind = kernel.function().device().kind();
        let hold = |(index, buffer, offset): (usize, obj::Buffer, usize)| {
            let hold = buffer.into_hold();
            let handle = hold.buffer().handle();
            slots[index] = if kind == DeviceKind::OpenCl { [handle, offset as u64] } else { [handle + offset as u64, 0] };
            hold
        };
        let mut holds: SmallVec<[Hold; 2]> = self.placed.drain(..).map(hold).collect();
        for (index, buffer, memory, offset) in self.parts.drain(..) {
            holds.push(buffer.into_hold());
            slots[index] = kernel.pointer_slot(&memory, offset)?;
        }
        Ok(holds)
    }

    /// An argument that is a part of a buffer, which may move until it is held.
    pub fn add_part(&mut self, index: usize, buffer: &obj::Buffer, memory: &Memory, offset: usize) {
        self.parts.push((index, buffer.clone(), memory.clone(), offset));
    }

    /// The first argument that is an object of another device, or has one inside, by its index.
    pub fn first_copied(&self) -> Option<usize> {
        self.copies.iter().map(|copied| copied.index).min()
    }

    /// Whether objects had to be copied.
    pub fn has_copies(&self) -> bool {
        !self.copies.is_empty()
    }
}

impl Kernel {
    /// The slot of an object, which is filled when its memory is held.
    pub fn object_slot(
        &self,
        index: usize,
        to: &Pointee,
        constant: bool,
        object: &Bound<'_, Object>,
        objects: &mut Objects,
    ) -> Result<Slot> {
        let (py, body) = (object.py(), object.get().body()?);
        body.view.check_alive()?;
        self.check_headers(py, &body.view)?;
        let at = self.object_part(index, to, body)?;
        let device = body.view.buffer().context().device();
        let own = self.inner.function().device();
        let view = if device.same(own) || (self.inner.is_cpu() && device.kind() == DeviceKind::Cpu) {
            &body.view
        } else {
            self.copied(py, index, body, !constant, objects)?
        };
        let buffer = view.buffer();
        let placed = (index, buffer.clone(), view.offset() + at);
        if self.inner.stream().is_foreign() {
            py.detach(|| buffer.note_foreign_use());
        }
        objects.placed.push(placed);
        Ok([0, 0])
    }

    /// Fails where the bytes that a kernel relies on were overwritten: the size of an object on the host, and in checked mode also the shapes
    /// and offsets of its parts, and on the host those of what it refers to.
    #[inline]
    fn check_headers(&self, py: Python<'_>, view: &View) -> Result<()> {
        let is_host = || view.buffer().context().device().kind() == DeviceKind::Cpu;
        if self.inner.is_checked() {
            py.detach(|| view.check_headers(is_host()))?;
        } else if view.ty().is_dynamic() && is_host() {
            view.size()?;
        }
        Ok(())
    }

    /// Checks that the object may be passed; where what is passed begins in it.
    #[inline]
    fn object_part(&self, index: usize, to: &Pointee, body: &Body) -> Result<usize> {
        let ty = &body.ty.get().ty;
        match (to, &self.classes[index]) {
            (Pointee::Class(_), Some(expected)) if ty == expected => Ok(0),
            (Pointee::Class(name), Some(_)) if name == ty.name() => {
                let hint = "it is another class of that name; add the kernel again with the current one";
                Err(self.checker(index).wrong_type(format!("an object of class `{ty}`"), hint).into())
            }
            (Pointee::Class(_), _) => {
                self.checker(index).object(ty.name(), true)?;
                Ok(0)
            }
            _ => self.array_part(index, to, body),
        }
    }

    /// An array of numbers for a pointer to them, a string for text.
    fn array_part(&self, index: usize, to: &Pointee, body: &Body) -> Result<usize> {
        match (&body.ty.get().ty, to) {
            (obj::Type::Array(array), _) if let Some(dtype) = array.item.scalar() => {
                self.checker(index).elements(Some(dtype), true)?;
                Ok(array.data_offset)
            }
            (obj::Type::String(_), Pointee::Char | Pointee::Void) => Ok(obj::SLOT),
            (_, Pointee::Void | Pointee::Other(_)) => Ok(0),
            (ty, _) => Err(self.checker(index).wrong_type(format!("an object of class `{ty}`"), "").into()),
        }
    }

    /// A copy of the object on the kernel's device; the same object given twice is copied once.
    fn copied<'a>(&self, py: Python<'_>, argument: usize, body: &Body, written: bool, objects: &'a mut Objects) -> Result<&'a View> {
        let known = objects.copies.iter().position(|copied| copied.original.same(&body.view) && copied.original.ty() == body.view.ty());
        let index = match known {
            Some(index) => index,
            None => {
                let context = ker::Context::on(self.inner.stream().clone());
                let copy = py.detach(|| body.view.ty().make(Value::Object(body.view.clone()), Home::Own(&context)))?;
                objects.copies.push(Copied { index: argument, original: body.view.clone(), copy, written: false });
                objects.copies.len() - 1
            }
        };
        objects.copies[index].written |= written;
        Ok(&objects.copies[index].copy)
    }
}

/// Whether two objects share bytes.
fn overlap(one: &View, other: &View) -> Result<bool> {
    let (first, second) = (one.offset()..one.offset() + one.size()?, other.offset()..other.offset() + other.size()?);
    Ok(one.buffer().same(other.buffer()) && first.start < second.end && second.start < first.end)
}

/// The object behind an argument: itself, or the struct inside a hybrid.
pub fn object_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, Object>>> {
    if let Ok(object) = value.cast::<Object>() {
        return Ok(Some(object.clone()));
    }
    match value.getattr_opt(pyo3::intern!(value.py(), "_xobject"))? {
        Some(inner) => Ok(inner.cast_into::<Object>().ok()),
        None => Ok(None),
    }
}
