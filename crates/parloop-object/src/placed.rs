//! Objects of Rust types on a device: placed, read, changed, copied, and given to kernels.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

use parloop_device::{DeviceError, DeviceKind, Memory};
use parloop_kernel::{Arg, Context, Extent, PlacedObject, Program, Source};

use crate::buffer::{Buffer, Placement};
use crate::lengths::KnownLengths;
use crate::object::Home;
use crate::sources::{ObjectOptions, class_sources};
use crate::typed::Object;
use crate::types::Type;
use crate::value::Value;
use crate::view::{Result, View};

/// An object of the Rust type `T` in the memory of a device. It lives as long as this, views of it, and what refers to it.
///
/// A kernel gets it by `args![&placed]` where its parameter is const, and by `args![&mut placed]` otherwise.
///
/// ```
/// use parloop_kernel::{Context, args};
/// use parloop_object::{Object, ObjectOptions, PlaceObjects};
///
/// #[derive(Object, Debug, PartialEq)]
/// struct Wave { phase: f64, samples: Vec<f64> }
///
/// let ctx = Context::open("cpu")?;
/// let source = "GPUKERN void shift(Wave wave, const double by) {
///     VECTORIZE_OVER(i, Wave_len_samples(wave))
///         Wave_set_samples(wave, i, Wave_get_samples(wave, i) + by);
///     END_VECTORIZE
/// }";
/// // SAFETY: the kernel stays inside of the samples.
/// let program = unsafe { ctx.compile_with_objects(source, &[Wave::object_type()], &ObjectOptions::default())? };
/// let mut wave = ctx.place(&Wave { phase: 0.5, samples: vec![1.0, 2.0] })?;
/// program.kernel("shift")?.call(args![&mut wave, 10.0])?;
/// assert_eq!(wave.get()?, Wave { phase: 0.5, samples: vec![11.0, 12.0] });
/// # Ok::<(), parloop_object::ObjectError>(())
/// ```
pub struct Placed<T> {
    view: View,
    /// As long as the buffer was when the object was placed, or longer.
    memory: Memory,
    lengths: KnownLengths,
    kind: PhantomData<fn() -> T>,
}

impl<T: Object> Placed<T> {
    /// An object that is there already.
    ///
    /// # Errors
    /// [`ObjectError::WrongType`](crate::ObjectError::WrongType) for an object of another type; one that was freed.
    pub fn from_view(view: View) -> Result<Placed<T>> {
        crate::typed::check::<T>(&view)?;
        let memory = view.buffer().own_memory();
        Ok(Placed { view, memory, lengths: KnownLengths::default(), kind: PhantomData })
    }

    fn make(value: Value<'_>, home: Home<'_>) -> Result<Placed<T>> {
        let view = T::object_type().make(value, home)?;
        let memory = view.buffer().own_memory();
        Ok(Placed { view, memory, lengths: KnownLengths::default(), kind: PhantomData })
    }

    /// Reads it.
    ///
    /// # Errors
    /// Memory that was freed or is invalid; null where the Rust type cannot be null.
    pub fn get(&self) -> Result<T> {
        if self.view.buffer().host_pointer().is_some() {
            return T::from_view(&self.view);
        }
        // One copy to the host instead of one for each part.
        let host = Context::open("cpu:1")?;
        T::from_view(&self.view.ty().make(Value::Object(self.view.clone()), Home::Own(&host))?)
    }

    /// Gives it another value of the same sizes.
    ///
    /// # Errors
    /// The part that does not fit, and where; nothing is changed.
    pub fn set(&mut self, value: &T) -> Result<()> {
        self.view.set(value.to_value())
    }

    /// It, field by field.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// A copy of it, and of all that it refers to, in the memory of another context, or of the same.
    ///
    /// # Errors
    /// Memory that was freed; a device without room.
    pub fn copy_to(&self, context: &Context) -> Result<Placed<T>> {
        Placed::make(Value::Object(self.view.clone()), Home::Own(context))
    }
}

impl<T> fmt::Debug for Placed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{:?} on {}>", self.view, self.view.buffer().context().device().id())
    }
}

impl<T> PlacedObject for Placed<T> {
    fn memory(&self) -> &Memory {
        &self.memory
    }

    fn offset(&self) -> usize {
        self.view.offset()
    }

    fn class(&self) -> &str {
        self.view.ty().name()
    }

    fn lengths(&self, path: &str) -> std::result::Result<Vec<usize>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.lengths.of(&self.view, path)?.into_vec())
    }

    fn extents(&self, path: &str) -> std::result::Result<Vec<Extent>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.lengths.extents(&self.view, path)?.into_vec())
    }

    fn is_alive(&self) -> bool {
        self.view.check_alive().is_ok()
    }

    fn hold(&self) {
        self.view.buffer().hold_here();
    }

    fn release(&self) {
        self.view.buffer().release();
    }

    fn keep(&self) -> parloop_kernel::Result<Box<dyn Any + Send + Sync>> {
        let export = self.view.buffer().export().map_err(|error| match error {
            crate::BufferError::Device(error) => error,
            other => DeviceError::Unsupported { device: self.memory.device().id().to_string(), what: other.to_string() },
        })?;
        Ok(Box::new((export, self.view.clone())))
    }
}

impl<'a, T> From<&'a Placed<T>> for Arg<'a> {
    fn from(object: &'a Placed<T>) -> Self {
        Arg::Placed { object, writable: false }
    }
}

impl<'a, T> From<&'a mut Placed<T>> for Arg<'a> {
    fn from(object: &'a mut Placed<T>) -> Self {
        Arg::Placed { object, writable: true }
    }
}

/// Objects of Rust types in a context: placing them, and compiling kernels that take them.
pub trait PlaceObjects {
    /// Places a value in a buffer of its own.
    ///
    /// # Errors
    /// When the device is out of memory.
    fn place<T: Object>(&self, value: &T) -> Result<Placed<T>>;

    /// Places a value in this buffer, which grows if it must.
    ///
    /// # Errors
    /// A buffer of another device; one that cannot grow.
    fn place_in<T: Object>(&self, buffer: &Buffer, value: &T) -> Result<Placed<T>>;

    /// Compiles portable C that may use the C functions of these classes, and of all that they are made of.
    ///
    /// # Errors
    /// Two classes of one name; a mistake in the source at its line, with the compiler's words.
    ///
    /// # Safety
    /// As [`Context::compile`].
    unsafe fn compile_with_objects(&self, source: &str, classes: &[Type], options: &ObjectOptions) -> Result<Program>;
}

impl PlaceObjects for Context {
    fn place<T: Object>(&self, value: &T) -> Result<Placed<T>> {
        Placed::make(value.to_value(), Home::Own(self))
    }

    fn place_in<T: Object>(&self, buffer: &Buffer, value: &T) -> Result<Placed<T>> {
        let (own, theirs) = (self.device(), buffer.context().device());
        let is_host = own.kind() == DeviceKind::Cpu && theirs.kind() == DeviceKind::Cpu;
        if !own.same(theirs) && !is_host {
            let (expected, found) = (own.id().to_string(), theirs.id().to_string());
            return Err(DeviceError::OtherDevice { operation: "place", expected, found }.into());
        }
        Placed::make(value.to_value(), Home::In(buffer, Placement::Aligned))
    }

    unsafe fn compile_with_objects(&self, source: &str, classes: &[Type], options: &ObjectOptions) -> Result<Program> {
        let (mut sources, options) = class_sources(classes, options)?;
        sources.push(Source::text(source));
        // SAFETY: what is promised here; the functions of classes stay inside of their objects.
        Ok(unsafe { self.compile_with(&sources, &options)? })
    }
}
