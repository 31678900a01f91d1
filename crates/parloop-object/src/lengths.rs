//! How long the arrays of an object are, and which bytes hold them, by the fields that lead to them: what a kernel needs before it runs over them.

use parloop_device::forked::Lock;
use parloop_device::once::Once;
use parloop_kernel::Extent;
use smallvec::SmallVec;

use crate::error::ObjectError;
use crate::types::Type;
use crate::view::{Result, View};

/// Lengths along axes.
pub type Lengths = SmallVec<[usize; 4]>;

/// The object where a path begins, and those that references lead to, in the order of the path.
pub type Extents = SmallVec<[Extent; 2]>;

impl View {
    /// The lengths along the axes on a path of fields (`x`, `inner.y`), as far as they are the same for all items: an array inside of an
    /// array whose items have sizes of their own ends them, and so does a reference inside of an array. None for a single number.
    ///
    /// ```
    /// use parloop_kernel::Context;
    /// use parloop_object::{Object, PlaceObjects};
    ///
    /// #[derive(Object)]
    /// struct Beam { charge: f64, x: Vec<f64> }
    ///
    /// let beam = Context::open("cpu:1")?.place(&Beam { charge: 1.0, x: vec![0.0; 5] })?;
    /// assert_eq!(beam.view().lengths("x")?[..], [5]);
    /// assert!(beam.view().lengths("charge")?.is_empty());
    /// # Ok::<(), parloop_object::ObjectError>(())
    /// ```
    ///
    /// # Errors
    /// [`ObjectError::NullOnPath`], [`ObjectError::NoSuchField`]; memory that was freed or makes no sense.
    pub fn lengths(&self, path: &str) -> Result<Lengths> {
        let mut here = self.clone().followed(path)?;
        let mut rest = path.split('.');
        for field in rest.by_ref() {
            here = here.field(field)?.followed(path)?;
            if let Type::Array(array) = here.ty() {
                let mut lengths = here.array_shape()?.shape;
                fixed_lengths(&array.item, &mut rest, &mut lengths);
                return Ok(lengths);
            }
        }
        Ok(Lengths::new())
    }

    /// The bytes of this object, and of those that references on a path of fields lead to. An array ends the path, as in
    /// [`lengths`](Self::lengths).
    ///
    /// # Errors
    /// As [`lengths`](Self::lengths).
    pub fn extents(&self, path: &str) -> Result<Extents> {
        let extent = |view: &View, fields: usize| {
            let start = view.offset() as i64 - self.offset() as i64;
            Ok::<Extent, ObjectError>(Extent { start, bytes: view.size()?, fields })
        };
        let mut found = Extents::from_iter([extent(self, 0)?]);
        let mut here = self.clone();
        let mut names = path.split('.');
        for fields in 0.. {
            while let Type::Ref(_) = here.ty() {
                here = here.referent(path)?;
                found.push(extent(&here, fields)?);
            }
            match names.next() {
                Some(name) if matches!(here.ty(), Type::Struct(_)) => here = here.field(name)?,
                _ => break,
            }
        }
        Ok(found)
    }

    /// What references lead to in the end.
    fn followed(self, path: &str) -> Result<View> {
        let mut here = self;
        while let Type::Ref(_) = here.ty() {
            here = here.referent(path)?;
        }
        Ok(here)
    }

    /// What a reference on a path leads to.
    fn referent(&self, path: &str) -> Result<View> {
        self.target()?.ok_or_else(|| ObjectError::NullOnPath { ty: self.ty().name().into(), path: path.into() })
    }
}

/// Adds the lengths that every instance of a type has along the rest of a path.
fn fixed_lengths<'p>(ty: &Type, rest: &mut impl Iterator<Item = &'p str>, lengths: &mut Lengths) {
    match ty {
        Type::Array(array) if let Some(shape) = array.static_shape() => {
            lengths.extend(shape);
            fixed_lengths(&array.item, rest, lengths);
        }
        Type::Struct(structure) => {
            if let Some((_, field)) = rest.next().and_then(|name| structure.field(name)) {
                fixed_lengths(&field.ty, rest, lengths);
            }
        }
        _ => {}
    }
}

/// The lengths of an object that were requested, and its size: they never change, so the device is queried once. References are read again.
#[derive(Debug, Default)]
pub struct KnownLengths {
    known: Lock<Vec<(String, Lengths)>>,
    size: Once<usize>,
}

impl KnownLengths {
    /// [`View::extents`] of the object that these belong to.
    ///
    /// # Errors
    /// As there.
    pub fn extents(&self, view: &View, path: &str) -> Result<Extents> {
        view.check_alive()?;
        if view.ty().has_refs() {
            return view.extents(path);
        }
        let bytes = match self.size.get() {
            Some(&bytes) => bytes,
            None => {
                let bytes = view.size()?;
                *self.size.get_or_init(|| bytes)
            }
        };
        Ok(Extents::from_iter([Extent { start: 0, bytes, fields: 0 }]))
    }

    /// [`View::lengths`] of the object that these belong to.
    ///
    /// # Errors
    /// As there.
    pub fn of(&self, view: &View, path: &str) -> Result<Lengths> {
        view.check_alive()?;
        if view.ty().has_refs() {
            return view.lengths(path);
        }
        let mut known = self.known.lock_or(Vec::new);
        if let Some((_, lengths)) = known.iter().find(|(name, _)| name == path) {
            return Ok(lengths.clone());
        }
        let lengths = view.lengths(path)?;
        known.push((path.to_owned(), lengths.clone()));
        Ok(lengths)
    }
}
