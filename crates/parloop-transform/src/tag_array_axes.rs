//! `tag_array_axes`: sets the memory layout of array axes.

use parloop_analysis::dependence::elements_share_memory;
use parloop_analysis::facts::Facts;
use parloop_ir::layout::LayoutError;
use parloop_ir::parse::{DimTagError, parse_dim_tag_list};
use parloop_ir::syntax::{DimTag, Layout, LoopKernel};
use parloop_isl::Name;

use super::arrays::{UnknownArray, layout_of, set_layout};

/// Axis tags, as data or as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisTags {
    /// One tag for each axis.
    Given(Vec<DimTag>),
    /// One text for each axis: `N0`, `N1`, `c`, `f`, `stride:n`, `sep`, `vec`.
    Text(Vec<String>),
    /// The same, keyed by axis name.
    ByName(Vec<(Name, String)>),
}

impl AxisTags {
    /// Tags separated by commas, such as `N1,N0`.
    pub fn parse(text: &str) -> AxisTags {
        AxisTags::Text(text.split(',').map(|tag| tag.trim().to_owned()).collect())
    }
}

/// Why axes cannot be tagged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TagArrayAxesError {
    /// A temporary is a single block of memory.
    #[error(
        "`{array}` is a temporary, which is a single block of memory, and `sep` axes are for arguments only; split the temporary instead"
    )]
    Separate {
        /// The array.
        array: Name,
    },
    /// Elements share memory, before or after.
    #[error(
        "elements of `{array}` share memory through its strides {which} the change, and the kernel writes to it, so other axis tags would change the results; make another array with that layout and copy"
    )]
    SharedElements {
        /// The array.
        array: Name,
        /// `before` or `after`.
        which: &'static str,
    },
    /// Unknown array.
    #[error("{0}")]
    UnknownArray(#[from] UnknownArray),
    /// The text is not a list of tags.
    #[error("array `{array}`: {reason}")]
    Tags {
        /// The array.
        array: Name,
        /// What is wrong.
        reason: DimTagError,
    },
    /// The number of tags does not match the number of axes.
    #[error("array `{array}` has {axes} axes, but {tags} tags were given")]
    WrongCount {
        /// The array.
        array: Name,
        /// Its axes.
        axes: usize,
        /// The tags.
        tags: usize,
    },
    /// The tags are given by names, but the axes have none.
    #[error("the axes of array `{array}` have no names; give one tag for each axis, or use set_array_axis_names first")]
    NoNames {
        /// The array.
        array: Name,
    },
    /// A name that no axis has, or an axis whose name is not given.
    #[error("array `{array}` has axes {}, so exactly these need tags", listed(.has))]
    OtherNames {
        /// The array.
        array: Name,
        /// The names of its axes.
        has: Vec<Name>,
    },
    /// The tags describe no layout.
    #[error("{0}")]
    Layout(#[from] LayoutError),
}

fn listed(names: &[Name]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<String>>().join(", ")
}

/// Sets the axis tags of those arrays.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::syntax::{DimTag, Stride};
/// use parloop_loop::transform::{AxisTags, tag_array_axes};
/// let program = make_kernel("{[i, j]: 0<=i<n and 0<=j<3}", "<>t[i, j] = a[j, i]\nb[i, j] = t[i, 2 - j]")?;
/// let kernel = tag_array_axes(program.entry().unwrap(), &["t".into()], &AxisTags::parse("N0, N1"))?;
/// assert_eq!(kernel.temporaries["t"].layout.dim_tags[0], DimTag::Stride(Stride::Nested { level: 0, pad_to: 1 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`TagArrayAxesError`].
pub fn tag_array_axes(kernel: &LoopKernel, arrays: &[Name], tags: &AxisTags) -> Result<LoopKernel, TagArrayAxesError> {
    let mut result = kernel.clone();
    for array in arrays {
        let old = layout_of(kernel, array)?;
        let axes = old.axis_count();
        let dim_tags = tags.read(array, old, axes)?;
        if let Some(axes) = axes.filter(|&axes| axes != dim_tags.len()) {
            return Err(TagArrayAxesError::WrongCount { array: array.clone(), axes, tags: dim_tags.len() });
        }
        if kernel.temporaries.contains_key(array) && dim_tags.contains(&DimTag::Separate) {
            return Err(TagArrayAxesError::Separate { array: array.clone() });
        }
        let layout = Layout { dim_tags, ..old.clone() };
        // Lengths may be inferred later; any other invalid layout is an error here.
        match layout.axes(array) {
            Err(LayoutError::UnknownLength { .. }) | Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let is_other = layout.dim_tags != old.dim_tags;
        set_layout(&mut result, array, layout);
        let shares = |kernel: &LoopKernel| is_other && elements_share_memory(&Facts::of(kernel), array);
        for (kernel, which) in [(kernel, "before"), (&result, "after")] {
            if shares(kernel) {
                return Err(TagArrayAxesError::SharedElements { array: array.clone(), which });
            }
        }
    }
    Ok(result)
}

impl AxisTags {
    fn read(&self, array: &Name, layout: &Layout, axes: Option<usize>) -> Result<Vec<DimTag>, TagArrayAxesError> {
        let parse =
            |tags: Vec<&str>| parse_dim_tag_list(&tags, axes).map_err(|reason| TagArrayAxesError::Tags { array: array.clone(), reason });
        match self {
            AxisTags::Given(tags) => Ok(tags.clone()),
            AxisTags::Text(tags) => parse(tags.iter().map(String::as_str).collect()),
            AxisTags::ByName(tags) => {
                let names = layout.axis_names.as_ref().ok_or_else(|| TagArrayAxesError::NoNames { array: array.clone() })?;
                let tag_of = |name: &Name| tags.iter().find(|(known, _)| known == name).map(|(_, tag)| tag.as_str());
                let found: Option<Vec<&str>> = names.iter().map(tag_of).collect();
                let fits = tags.len() == names.len();
                parse(found.filter(|_| fits).ok_or_else(|| TagArrayAxesError::OtherNames { array: array.clone(), has: names.clone() })?)
            }
        }
    }
}
