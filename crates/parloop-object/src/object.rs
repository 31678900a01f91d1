//! Making objects: from a type and a value to a view of what was placed.

use parloop_kernel::Context;

use crate::buffer::{Buffer, Placement};
use crate::error::ObjectError;
use crate::image::Builder;
use crate::path::Path;
use crate::types::Type;
use crate::value::Value;
use crate::view::{Result, View};

/// Where a new object goes.
#[derive(Clone, Copy)]
pub enum Home<'a> {
    /// A buffer of its own, of just its size.
    Own(&'a Context),
    /// A place in this buffer.
    In(&'a Buffer, Placement),
}

impl Type {
    /// Makes an object of these bytes, which must be those of the type: of static size and without references.
    ///
    /// # Errors
    /// Bytes for a type that has no fixed bytes, or not as many as it has; a buffer that cannot grow.
    pub fn make_of_bytes(&self, bytes: &[u8], home: Home<'_>) -> Result<View> {
        if self.size() != Some(bytes.len()) || self.has_refs() {
            let (ty, given) = (self.name().to_owned(), format!("{} bytes", bytes.len()));
            return Err(ObjectError::WrongType { path: "the object".into(), ty, given });
        }
        let (buffer, allocation) = match home {
            Home::Own(context) => Buffer::filled_by_one(context, bytes.len())?,
            Home::In(buffer, placement) => (buffer.clone(), buffer.place(bytes.len(), placement)?),
        };
        buffer.write(allocation.offset(), bytes)?;
        Ok(View::new(buffer, allocation.offset(), self.clone(), Some(allocation)))
    }

    /// Makes an object with this value. It lives until its last view is dropped and nothing refers to it.
    ///
    /// ```
    /// use parloop_device::DType;
    /// use parloop_kernel::Context;
    /// use parloop_object::{ArrayType, Home, Type};
    /// let ctx = Context::open("cpu")?;
    /// let array = ArrayType::c_order(Type::Scalar(DType::F64), vec![None])?;
    /// let object = array.make([1.0, 2.0].as_slice().into(), Home::Own(&ctx))?;
    /// assert_eq!(object.to_vec::<f64>()?, [1.0, 2.0]);
    /// assert_eq!(object.size()?, 32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The part that does not fit, and where; no buffer is modified. A buffer that cannot grow.
    pub fn make(&self, value: Value<'_>, home: Home<'_>) -> Result<View> {
        let buffer = if let Home::In(buffer, _) = home { Some(buffer.clone()) } else { None };
        let mut builder = Builder::new(buffer);
        builder.object(self, value, &Path::root(self.name()))?;
        match home {
            Home::Own(context) => builder.place_alone(context),
            Home::In(buffer, placement) => {
                let placed = builder.place(buffer, placement)?;
                Ok(placed.views.into_iter().next().expect("invariant: the builder was given an object"))
            }
        }
    }
}
