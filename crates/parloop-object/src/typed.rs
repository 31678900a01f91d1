//! Rust types as types of objects: numbers, texts, lists, arrays and references here; structs and enums by `#[derive(Object)]`.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::BTreeMap;

use parloop_device::forked::Lock;
#[doc(hidden)]
pub use parloop_device::once::Once;
use parloop_device::{Complex32, Complex64, DType, Element, as_bytes, as_bytes_mut};
use parloop_kernel::Scalar;
use smallvec::SmallVec;

use crate::error::ObjectError;
use crate::types::{ArrayType, MAX_AXES, MAX_BYTES, RefType, SLOT, StructType, Type, UnionType, slots};
use crate::value::{Elements, Value};
use crate::view::{Result, View, indices};

/// A Rust type whose values are objects of one [`Type`].
///
/// | Rust | object |
/// | --- | --- |
/// | `i8` … `u64`, `f32`, `f64`, `bool`, `Complex32`, `Complex64` | a number |
/// | `String` | text; the room for it is fixed when it is placed |
/// | `Vec<T>` | an array whose length is fixed when it is placed |
/// | `[T; N]`, `[[T; M]; N]` | an array of fixed shape; arrays of arrays are one array with more axes |
/// | `Option<Box<T>>` | a reference, `None` being null |
/// | a struct with `#[derive(Object)]` | a struct |
/// | an enum with `#[derive(Object)]`, or `Option` of it | a reference to objects of several types |
///
/// ```
/// use parloop_kernel::Context;
/// use parloop_object::{Object, PlaceObjects};
///
/// #[derive(Object, Debug, PartialEq)]
/// struct Multipole { order: i64, knl: Vec<f64>, name: String }
///
/// let ctx = Context::open("cpu")?;
/// let multipole = Multipole { order: 1, knl: vec![0.5, 0.25], name: "mq.1".into() };
/// let placed = ctx.place(&multipole)?;
/// assert_eq!(placed.get()?, multipole);
/// assert_eq!(placed.view().field("knl")?.to_vec::<f64>()?, [0.5, 0.25]);
/// # Ok::<(), parloop_object::ObjectError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an object type",
    label = "not an object type",
    note = "objects are numbers, `bool`, `String`, `Vec<T>`, `[T; N]`, `Option<Box<T>>`, and structs and enums with `#[derive(Object)]`"
)]
pub trait Object: Sized + 'static {
    /// At least the bytes of every instance that do not depend on its value. Types that contain themselves have no such number, and
    /// do not compile.
    #[doc(hidden)]
    const BYTES: usize;

    /// The axes that it adds to an array of it.
    #[doc(hidden)]
    const AXES: usize = 0;

    /// The type of its objects; always the same one.
    fn object_type() -> Type;

    /// The value, for an object of that type. Lists of numbers are borrowed, not copied.
    fn to_value(&self) -> Value<'_>;

    /// Reads an object of that type.
    ///
    /// # Errors
    /// [`ObjectError::WrongType`] for an object of another type; [`ObjectError::Null`]; memory that was freed or makes no sense.
    fn from_view(view: &View) -> Result<Self>;

    /// The items of an array of this shape.
    #[doc(hidden)]
    fn items_value<'a>(items: &'a [Self], shape: SmallVec<[usize; 4]>) -> Value<'a> {
        Value::Items { shape, items: items.iter().map(Object::to_value).collect() }
    }

    /// All items of an array, with the last axis the fastest.
    #[doc(hidden)]
    fn read_items(view: &View) -> Result<Vec<Self>> {
        let shape = view.array_shape()?;
        indices(&shape.shape).map(|index| Self::from_view(&view.item_in(&shape, &index)?)).collect()
    }

    /// An array type of fixed shape; arrays add their axis to it.
    #[doc(hidden)]
    fn fixed_type(shape: Vec<usize>) -> Type {
        let shape = shape.into_iter().map(Some).collect();
        ArrayType::c_order(Self::object_type(), shape).expect("invariant: axes and bytes were checked when it was compiled")
    }

    /// As [`items_value`](Self::items_value), where arrays add their axis.
    #[doc(hidden)]
    fn fixed_value<'a>(items: &'a [Self], shape: SmallVec<[usize; 4]>) -> Value<'a> {
        Self::items_value(items, shape)
    }

    /// The `count` parts of an array of fixed shape.
    #[doc(hidden)]
    fn read_fixed(view: &View, count: usize) -> Result<Vec<Self>> {
        let items = Self::read_items(view)?;
        debug_assert_eq!(items.len(), count);
        Ok(items)
    }
}

/// A type whose `Option` is a reference: `Box<T>`, and enums with `#[derive(Object)]`.
#[diagnostic::on_unimplemented(
    message = "`Option<{Self}>` is not an object type",
    label = "no reference",
    note = "a reference that may be null is an `Option<Box<T>>`, or an `Option` of an enum with `#[derive(Object)]`"
)]
pub trait Nullable: Sized + 'static {
    /// As [`Object::BYTES`].
    #[doc(hidden)]
    const BYTES: usize;
    /// The type of the reference.
    fn reference_type() -> Type;
    /// The value to which the reference is set.
    fn reference_value(&self) -> Value<'_>;
    /// Reads what the reference refers to; `None` for null.
    ///
    /// # Errors
    /// As [`Object::from_view`].
    fn from_reference(view: &View) -> Result<Option<Self>>;
}

/// A struct with `#[derive(Object)]`: what an enum's variants may hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a variant of an enum of objects",
    label = "not a struct with `#[derive(Object)]`",
    note = "each variant must hold one struct with `#[derive(Object)]`"
)]
pub trait StructObject: Object {
    /// The name of its class.
    const NAME: &'static str;
}

/// Fails for a view of another type.
#[doc(hidden)]
pub fn check<T: Object>(view: &View) -> Result<()> {
    let ty = T::object_type();
    if *view.ty() == ty {
        return view.check_alive();
    }
    Err(ObjectError::WrongType { path: "the view".into(), ty: view.ty().name().into(), given: format!("a Rust type for {ty}") })
}

/// One type for each Rust type, made once.
fn cached<T: 'static>(make: impl FnOnce() -> Type) -> Type {
    static TYPES: Lock<BTreeMap<TypeId, Type>> = Lock::new(BTreeMap::new());
    if let Some(ty) = TYPES.lock_or(BTreeMap::new).get(&TypeId::of::<T>()) {
        return ty.clone();
    }
    let ty = make(); // without the lock: it asks for types of its parts
    TYPES.lock_or(BTreeMap::new).entry(TypeId::of::<T>()).or_insert(ty).clone()
}

/// The bytes of a struct whose fields have these.
#[doc(hidden)]
pub const fn struct_bytes(fields: &[usize]) -> usize {
    let (mut sum, mut at) = (SLOT, 0);
    while at < fields.len() {
        // Each field is on a slot, and dynamic ones have a word besides.
        sum += slots(fields[at]) + SLOT;
        at += 1;
    }
    assert!(sum < MAX_BYTES / 16, "a struct is too large to address");
    sum
}

/// The type of a derived struct.
#[doc(hidden)]
pub fn struct_type(name: &str, fields: Vec<(&str, Type)>) -> Type {
    let fields = fields.into_iter().map(|(name, ty)| (name.to_owned(), ty)).collect();
    StructType::with_fields(name, fields).expect("invariant: names and bytes were checked when it was compiled")
}

/// The type of a derived enum.
#[doc(hidden)]
pub fn union_type(name: &str, members: Vec<Type>) -> Type {
    UnionType::with_members(name, members).expect("invariant: names and members were checked when it was compiled")
}

/// The error for a null where a value must be.
#[doc(hidden)]
pub fn null(view: &View) -> ObjectError {
    ObjectError::Null { ty: view.ty().name().into() }
}

/// Whether all names are different; for an enum's variants.
#[doc(hidden)]
pub const fn are_different(names: &[&str]) -> bool {
    let mut first = 0;
    while first < names.len() {
        let mut second = first + 1;
        while second < names.len() {
            if is_same(names[first].as_bytes(), names[second].as_bytes()) {
                return false;
            }
            second += 1;
        }
        first += 1;
    }
    true
}

const fn is_same(first: &[u8], second: &[u8]) -> bool {
    let mut at = 0;
    while at < first.len() && at < second.len() && first[at] == second[at] {
        at += 1;
    }
    at == first.len() && at == second.len()
}

macro_rules! numbers {
    ($($rust:ty),*) => { $(
        impl Object for $rust {
            const BYTES: usize = size_of::<$rust>();

            fn object_type() -> Type {
                Type::Scalar(<$rust>::DTYPE)
            }

            fn to_value(&self) -> Value<'_> {
                scalar_value(*self)
            }

            fn from_view(view: &View) -> Result<Self> {
                check::<Self>(view)?;
                let mut value = [<$rust>::ZERO];
                view.read(0, as_bytes_mut(&mut value))?;
                Ok(value[0])
            }

            fn items_value<'a>(items: &'a [Self], shape: SmallVec<[usize; 4]>) -> Value<'a> {
                Value::Elements(Elements::dense(Cow::Borrowed(as_bytes(items)), <$rust>::DTYPE, shape))
            }

            fn read_items(view: &View) -> Result<Vec<Self>> {
                view.to_vec()
            }
        }
    )* };
}
numbers!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, Complex32, Complex64);

/// The number, in the widest type of its kind; none of its value is lost.
fn scalar_value<T: Element>(value: T) -> Value<'static> {
    let mut slot = [0u8; 16];
    let bytes = [value];
    let bytes = as_bytes(&bytes);
    slot[..bytes.len()].copy_from_slice(bytes);
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| slot[at + i]));
    Value::Scalar(parloop_kernel::decode([word(0), word(8)], T::DTYPE))
}

impl Object for bool {
    const BYTES: usize = 1;

    fn object_type() -> Type {
        Type::Scalar(DType::Bool)
    }

    fn to_value(&self) -> Value<'_> {
        Value::Scalar(Scalar::Bool(*self))
    }

    fn from_view(view: &View) -> Result<Self> {
        check::<Self>(view)?;
        let mut byte = [0];
        view.read(0, &mut byte)?;
        Ok(byte[0] != 0)
    }

    fn items_value<'a>(items: &'a [Self], shape: SmallVec<[usize; 4]>) -> Value<'a> {
        // SAFETY: a `bool` is one byte, 0 or 1, and the borrow keeps `items` alive for the returned lifetime.
        let bytes = unsafe { std::slice::from_raw_parts(items.as_ptr().cast::<u8>(), items.len()) };
        Value::Elements(Elements::dense(Cow::Borrowed(bytes), DType::Bool, shape))
    }

    fn read_items(view: &View) -> Result<Vec<Self>> {
        let shape = view.array_shape()?;
        let mut bytes = vec![0; shape.count()];
        view.read(shape.data, &mut bytes)?;
        Ok(bytes.into_iter().map(|byte| byte != 0).collect())
    }
}

impl Object for String {
    const BYTES: usize = SLOT;

    fn object_type() -> Type {
        Type::String(None)
    }

    fn to_value(&self) -> Value<'_> {
        Value::from(self.as_str())
    }

    fn from_view(view: &View) -> Result<Self> {
        check::<Self>(view)?;
        view.text()
    }
}

impl<T: Object> Object for Vec<T> {
    const BYTES: usize = {
        let _ = T::BYTES;
        2 * SLOT
    };

    fn object_type() -> Type {
        let make = || ArrayType::c_order(T::object_type(), vec![None]).expect("invariant: one axis is possible");
        cached::<Self>(make)
    }

    fn to_value(&self) -> Value<'_> {
        T::items_value(self, SmallVec::from_slice(&[self.len()]))
    }

    fn from_view(view: &View) -> Result<Self> {
        check::<Self>(view)?;
        T::read_items(view)
    }
}

impl<T: Object, const N: usize> Object for [T; N] {
    const BYTES: usize = {
        let bytes = slots(T::BYTES).saturating_mul(N);
        assert!(bytes < MAX_BYTES / 16, "an array is too large to address");
        bytes + 2 * SLOT
    };
    const AXES: usize = {
        assert!(T::AXES < MAX_AXES, "an array of objects has at most 16 axes");
        T::AXES + 1
    };

    fn object_type() -> Type {
        const { assert!(Self::AXES <= MAX_AXES && Self::BYTES < MAX_BYTES) };
        cached::<Self>(|| T::fixed_type(vec![N]))
    }

    fn to_value(&self) -> Value<'_> {
        T::fixed_value(self, SmallVec::from_slice(&[N]))
    }

    fn from_view(view: &View) -> Result<Self> {
        check::<Self>(view)?;
        let items = T::read_fixed(view, N)?;
        <[T; N]>::try_from(items).map_err(|_| null(view))
    }

    fn fixed_type(mut shape: Vec<usize>) -> Type {
        shape.push(N);
        T::fixed_type(shape)
    }

    fn fixed_value<'a>(items: &'a [Self], mut shape: SmallVec<[usize; 4]>) -> Value<'a> {
        shape.push(N);
        T::fixed_value(items.as_flattened(), shape)
    }

    fn read_fixed(view: &View, count: usize) -> Result<Vec<Self>> {
        let mut parts = T::read_fixed(view, count * N)?.into_iter();
        (0..count).map(|_| <[T; N]>::try_from(parts.by_ref().take(N).collect::<Vec<T>>()).map_err(|_| null(view))).collect()
    }
}

impl<T: Object> Nullable for Box<T> {
    const BYTES: usize = {
        let _ = T::BYTES;
        SLOT
    };

    fn reference_type() -> Type {
        cached::<Self>(|| RefType::to(T::object_type()))
    }

    fn reference_value(&self) -> Value<'_> {
        T::to_value(self)
    }

    fn from_reference(view: &View) -> Result<Option<Self>> {
        view.target()?.map(|target| T::from_view(&target).map(Box::new)).transpose()
    }
}

impl<R: Nullable> Object for Option<R> {
    const BYTES: usize = R::BYTES;

    fn object_type() -> Type {
        R::reference_type()
    }

    fn to_value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, R::reference_value)
    }

    fn from_view(view: &View) -> Result<Self> {
        check::<Self>(view)?;
        R::from_reference(view)
    }
}
