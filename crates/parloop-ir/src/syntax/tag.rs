//! Iname tags: how a loop runs, and the notation.

use std::fmt;
use std::str::FromStr;

use parloop_isl::Name;

/// How an iname runs. An iname has at most one tag that places it (all but hints and user-defined tags); none means a plain loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InameTag {
    /// `g.N`: the index of the work-group along axis N.
    Group(u8),
    /// `l.N`: the index of the work item in its group along axis N.
    Local(u8),
    /// `l.auto`: a local axis that the compiler chooses.
    LocalAuto,
    /// `unr`: the loop is unrolled.
    Unroll,
    /// `unr_hint`: the target's compiler is asked to unroll it.
    UnrollHint,
    /// `vec`: lanes of a vector.
    Vector,
    /// `ilp`, `ilp.unr`: unrolled innermost, with a private copy of what depends on it.
    Ilp,
    /// `ilp.seq`: as `ilp`, as a loop.
    IlpSequential,
    /// `for`: a loop.
    Loop,
    /// `ord`: a loop whose order matters.
    Ordered,
    /// A user-defined tag, which the compiler ignores.
    Name(Name),
}

impl InameTag {
    /// Whether different values run on different work items.
    pub fn is_parallel(&self) -> bool {
        matches!(self, InameTag::Group(_) | InameTag::Local(_) | InameTag::LocalAuto)
    }

    /// Whether different values run concurrently: on different work items or lanes, or with instruction-level parallelism.
    pub fn is_concurrent(&self) -> bool {
        self.is_parallel() || matches!(self, InameTag::Vector | InameTag::Ilp | InameTag::IlpSequential)
    }

    /// Whether it places the iname: all but hints and user-defined tags.
    pub fn is_placing(&self) -> bool {
        !matches!(self, InameTag::UnrollHint | InameTag::Name(_))
    }
}

/// An invalid tag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an iname tag: use for, ord, unr, unr_hint, vec, ilp, ilp.seq, g.N, l.N, l.auto, or @name for a custom tag")]
pub struct TagError {
    /// The text.
    pub text: String,
}

/// Parses `g.0`, `l.auto`, `unr` …; a user-defined tag has a leading `@`.
///
/// ```
/// use parloop_loop::syntax::InameTag;
/// assert_eq!("g.1".parse(), Ok(InameTag::Group(1)));
/// assert_eq!(InameTag::Local(0).to_string(), "l.0");
/// assert!("g.x".parse::<InameTag>().is_err());
/// ```
impl FromStr for InameTag {
    type Err = TagError;

    fn from_str(text: &str) -> Result<InameTag, TagError> {
        let axis = |prefix: &str| {
            let digits = text.strip_prefix(prefix)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u8>().ok()).flatten()
        };
        let tag = match text {
            "for" => InameTag::Loop,
            "ord" => InameTag::Ordered,
            "unr" => InameTag::Unroll,
            "unr_hint" => InameTag::UnrollHint,
            "vec" => InameTag::Vector,
            "ilp" | "ilp.unr" => InameTag::Ilp,
            "ilp.seq" => InameTag::IlpSequential,
            "l.auto" => InameTag::LocalAuto,
            _ => match (axis("g."), axis("l."), text.strip_prefix('@')) {
                (Some(axis), _, _) => InameTag::Group(axis),
                (_, Some(axis), _) => InameTag::Local(axis),
                (_, _, Some(name)) if !name.is_empty() => InameTag::Name(name.into()),
                _ => return Err(TagError { text: text.to_owned() }),
            },
        };
        Ok(tag)
    }
}

impl fmt::Display for InameTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InameTag::Group(axis) => write!(f, "g.{axis}"),
            InameTag::Local(axis) => write!(f, "l.{axis}"),
            InameTag::LocalAuto => f.write_str("l.auto"),
            InameTag::Unroll => f.write_str("unr"),
            InameTag::UnrollHint => f.write_str("unr_hint"),
            InameTag::Vector => f.write_str("vec"),
            InameTag::Ilp => f.write_str("ilp"),
            InameTag::IlpSequential => f.write_str("ilp.seq"),
            InameTag::Loop => f.write_str("for"),
            InameTag::Ordered => f.write_str("ord"),
            InameTag::Name(name) => write!(f, "@{name}"),
        }
    }
}
