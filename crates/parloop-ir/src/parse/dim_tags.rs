//! The text of dim tags: the memory layout of each axis of an array (`"c,c"`, `"N1,N0"`, `"stride:3,sep"`, `"N0(pad=16),N1"`,
//! `"N0,N1,vec"`).

use std::collections::BTreeSet;

use super::expression;
use super::extremes::settled;
use crate::syntax::{DimTag, Stride};

/// Why a text is not a list of dim tags.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DimTagError {
    /// Unknown tag.
    #[error("`{tag}` is not a dim tag; use `c`, `f`, `N0`, `N1`, …, `stride:EXPR`, `stride:auto`, `sep` or `vec`")]
    Unknown {
        /// The word.
        tag: String,
    },
    /// The stride is not an expression.
    #[error("the stride in dim tag `{tag}` is not an expression: {reason}")]
    BadStride {
        /// The tag.
        tag: String,
        /// The parser's message.
        reason: String,
    },
    /// The padding is not a positive number.
    #[error("the padding in dim tag `{tag}` must be a whole number of elements, at least 1")]
    BadPadding {
        /// The tag.
        tag: String,
    },
    /// Two notations for the order are mixed.
    #[error("dim tags `{tags}` mix an order (`c`, `f`) with nesting levels (`N0`, `N1`); use one of the two")]
    MixedLevels {
        /// The text.
        tags: String,
    },
    /// Two axes have the same level.
    #[error("dim tags `{tags}` use nesting level {level} twice; each axis needs its own level")]
    DoubleLevel {
        /// The text.
        tags: String,
        /// The level.
        level: i64,
    },
    /// A level is missing.
    #[error("dim tags `{tags}` skip nesting level {level}; levels must be consecutive")]
    MissingLevel {
        /// The text.
        tags: String,
        /// The level.
        level: i64,
    },
    /// A computed stride would depend on a given one.
    #[error(
        "dim tags `{tags}`: the stride of level {level} cannot be computed from the given stride of a lower level; give both or neither"
    )]
    AboveFixed {
        /// The text.
        tags: String,
        /// The level whose stride is computed.
        level: i64,
    },
    /// More than one vector axis.
    #[error("dim tags `{tags}` have more than one `vec` axis")]
    DoubleVector {
        /// The text.
        tags: String,
    },
    /// Only images have more than one axis in memory.
    #[error("dim tag `{tag}` names an axis of an image; arrays have one axis in memory, so leave out the `->`")]
    TargetAxis {
        /// The tag.
        tag: String,
    },
    /// The number of tags does not match the number of axes.
    #[error("dim tags `{tags}` describe {found} axes, but the array has {axes}")]
    WrongCount {
        /// The text.
        tags: String,
        /// How many tags there are.
        found: usize,
        /// How many axes there are.
        axes: usize,
    },
}

/// Parses dim tags, one for each axis, separated by commas; `axes` is the number of axes, if known.
///
/// `c` puts an axis inside all axes before it, `f` outside. `N0` varies fastest. A tag with `?` at its end is left out where there are
/// fewer axes than tags. The padding of an axis rounds up the stride of the axis one level above.
///
/// ```
/// use parloop_loop::create::parse_dim_tags;
/// use parloop_loop::syntax::{DimTag, Stride};
/// let tags = parse_dim_tags("c,c", Some(2))?;
/// assert_eq!(tags[0], DimTag::Stride(Stride::Nested { level: 1, pad_to: 1 }));
/// assert_eq!(parse_dim_tags("N1,N0", Some(2))?, tags);
/// # Ok::<(), parloop_loop::create::DimTagError>(())
/// ```
pub fn parse_dim_tags(text: &str, axes: Option<usize>) -> Result<Vec<DimTag>, DimTagError> {
    parse_dim_tag_list(&split_at_commas(text), axes)
}

/// Parses dim tags that are already separated; see [`parse_dim_tags`].
pub fn parse_dim_tag_list(tags: &[&str], axes: Option<usize>) -> Result<Vec<DimTag>, DimTagError> {
    let text = tags.iter().map(|tag| tag.trim()).collect::<Vec<_>>().join(",");
    let mut read = Vec::new();
    for (index, tag) in tags.iter().enumerate() {
        let tag = tag.trim();
        let optional = tag.strip_suffix('?');
        let remaining = tags.len() - index;
        if optional.is_some() && axes.is_some_and(|axes| read.len() + remaining > axes) {
            continue;
        }
        read.push(read_tag(optional.unwrap_or(tag), &read)?);
    }
    if let Some(axes) = axes
        && axes != read.len()
    {
        return Err(DimTagError::WrongCount { tags: text, found: read.len(), axes });
    }
    place(&read, &text)
}

/// One tag as written.
enum Written {
    Level { level: Level, pad_to: u64 },
    Fixed { level: Option<i64>, stride: Stride },
    Separate,
    Vector,
}

/// A level, given by `c` or `f` or explicitly.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Order(i64),
    Number(i64),
}

fn read_tag(tag: &str, before: &[Written]) -> Result<Written, DimTagError> {
    match tag {
        "sep" => return Ok(Written::Separate),
        "vec" => return Ok(Written::Vector),
        _ => {}
    }
    if tag.contains("->") {
        return Err(DimTagError::TargetAxis { tag: tag.to_owned() });
    }
    let unknown = || DimTagError::Unknown { tag: tag.to_owned() };
    let (level, rest) = match tag.strip_prefix('N') {
        Some(rest) => {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
            let level: i64 = rest[..end].parse().map_err(|_| unknown())?;
            (Some(level), rest[end..].strip_prefix(':').unwrap_or(&rest[end..]).trim())
        }
        None => (None, tag),
    };
    if let Some(stride) = rest.strip_prefix("stride:") {
        return Ok(Written::Fixed { level, stride: read_stride(stride.trim(), tag)? });
    }
    let (order, pad_to) = match rest.split_once("(pad=") {
        Some((order, padding)) => {
            let padding = padding.strip_suffix(')').and_then(|padding| padding.trim().parse().ok()).filter(|&padding: &u64| padding > 0);
            (order.trim(), padding.ok_or_else(|| DimTagError::BadPadding { tag: tag.to_owned() })?)
        }
        None => (rest, 1),
    };
    let levels = before.iter().filter_map(Written::order_level);
    let level = match (level, order) {
        (Some(level), "") => Level::Number(level),
        (None, "c" | "C") => Level::Order(levels.min().map_or(0, |least| least - 1)),
        (None, "f" | "F") => Level::Order(levels.max().map_or(0, |most| most + 1)),
        (Some(_), "c" | "C" | "f" | "F") => return Err(DimTagError::MixedLevels { tags: tag.to_owned() }),
        _ => return Err(unknown()),
    };
    Ok(Written::Level { level, pad_to })
}

fn read_stride(text: &str, tag: &str) -> Result<Stride, DimTagError> {
    if text == "auto" {
        return Ok(Stride::Auto);
    }
    let bad = |reason: String| DimTagError::BadStride { tag: tag.to_owned(), reason };
    expression(text).map(|stride| Stride::Fixed(settled(&stride, &BTreeSet::new()))).map_err(|error| bad(error.to_string()))
}

impl Written {
    fn order_level(&self) -> Option<i64> {
        match self {
            Written::Level { level: Level::Order(level), .. } => Some(*level),
            _ => None,
        }
    }

    fn any_level(&self) -> Option<i64> {
        match self {
            Written::Level { level: Level::Order(level) | Level::Number(level), .. } => Some(*level),
            Written::Fixed { level, .. } => *level,
            _ => None,
        }
    }
}

/// Numbers levels from 0 and gives each axis the padding of the axis below it.
fn place(read: &[Written], text: &str) -> Result<Vec<DimTag>, DimTagError> {
    check(read, text)?;
    let least = read.iter().filter_map(Written::any_level).min().unwrap_or(0);
    let padding_below = |level: i64| {
        read.iter().find_map(|tag| match tag {
            Written::Level { level: Level::Order(below) | Level::Number(below), pad_to } if below.checked_add(1) == Some(level) => {
                Some(*pad_to)
            }
            _ => None,
        })
    };
    Ok(read
        .iter()
        .map(|tag| match tag {
            Written::Separate => DimTag::Separate,
            Written::Vector => DimTag::Vector,
            Written::Fixed { stride, .. } => DimTag::Stride(stride.clone()),
            Written::Level { level: Level::Order(level) | Level::Number(level), .. } => {
                let pad_to = padding_below(*level).unwrap_or(1);
                DimTag::Stride(Stride::Nested {
                    level: usize::try_from(level - least).expect("invariant: the least level is subtracted"),
                    pad_to,
                })
            }
        })
        .collect())
}

fn check(read: &[Written], text: &str) -> Result<(), DimTagError> {
    let tags = || text.to_owned();
    if read.iter().filter(|tag| matches!(tag, Written::Vector)).count() > 1 {
        return Err(DimTagError::DoubleVector { tags: tags() });
    }
    let by_order = read.iter().any(|tag| tag.order_level().is_some());
    let by_number = read.iter().any(|tag| tag.any_level().is_some() && tag.order_level().is_none());
    if by_order && by_number {
        return Err(DimTagError::MixedLevels { tags: tags() });
    }
    let mut levels: Vec<i64> = read.iter().filter_map(Written::any_level).collect();
    levels.sort_unstable();
    for pair in levels.windows(2) {
        if pair[0] == pair[1] {
            return Err(DimTagError::DoubleLevel { tags: tags(), level: pair[0] });
        }
        if pair[0] + 1 != pair[1] {
            return Err(DimTagError::MissingLevel { tags: tags(), level: pair[0] + 1 });
        }
    }
    let fixed = read.iter().filter_map(|tag| if let Written::Fixed { level, .. } = tag { *level } else { None }).min();
    let highest = read.iter().filter_map(|tag| if let Written::Level { .. } = tag { tag.any_level() } else { None }).max();
    match (fixed, highest) {
        (Some(fixed), Some(level)) if fixed < level => Err(DimTagError::AboveFixed { tags: tags(), level }),
        _ => Ok(()),
    }
}

/// The parts of a text between commas outside brackets.
pub fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}
