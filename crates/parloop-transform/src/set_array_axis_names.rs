//! `set_array_axis_names`: names for the axes of arrays.

use parloop_ir::syntax::{Layout, LoopKernel};
use parloop_isl::Name;

use super::arrays::{UnknownArray, layout_of, set_layout};

/// Why axes cannot be named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetArrayAxisNamesError {
    /// Unknown array.
    #[error("{0}")]
    UnknownArray(#[from] UnknownArray),
    /// The number of names does not match the number of axes.
    #[error("array `{array}` has {axes} axes, but {names} names were given")]
    WrongCount {
        /// The array.
        array: Name,
        /// Its axes.
        axes: usize,
        /// The names.
        names: usize,
    },
    /// A name is there twice.
    #[error("two axes of array `{array}` would be called `{name}`")]
    SameName {
        /// The array.
        array: Name,
        /// The name.
        name: Name,
    },
}

/// Names the axes of those arrays.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::set_array_axis_names;
/// let program = make_kernel("{[i, j]: 0<=i,j<n}", "a[i, j] = i + j")?;
/// let kernel = set_array_axis_names(program.entry().unwrap(), &["a".into()], &["row".into(), "column".into()])?;
/// # let _ = kernel;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SetArrayAxisNamesError`].
pub fn set_array_axis_names(kernel: &LoopKernel, arrays: &[Name], names: &[Name]) -> Result<LoopKernel, SetArrayAxisNamesError> {
    let mut result = kernel.clone();
    for array in arrays {
        let old = layout_of(kernel, array)?;
        if let Some(axes) = old.axis_count().filter(|&axes| axes != names.len()) {
            return Err(SetArrayAxisNamesError::WrongCount { array: array.clone(), axes, names: names.len() });
        }
        if let Some((_, name)) = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
            return Err(SetArrayAxisNamesError::SameName { array: array.clone(), name: name.clone() });
        }
        set_layout(&mut result, array, Layout { axis_names: Some(names.to_vec()), ..old.clone() });
    }
    Ok(result)
}
