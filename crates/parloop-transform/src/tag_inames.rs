//! `tag_inames` and `untag_inames`: set how inames run.

use std::str::FromStr;

use parloop_ir::matching::Glob;
use parloop_ir::syntax::{Iname, InameTag, LoopKernel, TagError};
use parloop_isl::Name;

use super::replace::{self, InameError};

/// What an iname is tagged with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagChoice {
    /// No tag.
    None,
    /// That tag.
    Tag(InameTag),
    /// `like.i`: the tags that another iname has.
    Like(Name),
    /// `unused.g`: the first group axis that no iname has.
    UnusedGroup,
    /// `unused.l`: the first local axis that no iname has.
    UnusedLocal,
}

impl From<InameTag> for TagChoice {
    fn from(tag: InameTag) -> TagChoice {
        TagChoice::Tag(tag)
    }
}

/// Tags for inames, in order. Read from text as `i:g.0, j_*:l.0`, where names may have `*` and `?` in them.
///
/// ```
/// use parloop_loop::{syntax::InameTag, transform::Tags};
/// let tags: Tags = "i:g.0, j:l.0".parse()?;
/// assert_eq!(tags, Tags::default().with("i", InameTag::Group(0)).with("j", InameTag::Local(0)));
/// # Ok::<(), parloop_loop::transform::TagInamesError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    choices: Vec<(Glob, TagChoice)>,
    missing_ok: bool,
}

impl Tags {
    /// With one more.
    pub fn with(mut self, inames: impl Into<Name>, tag: impl Into<TagChoice>) -> Tags {
        self.choices.push((Glob::new(inames), tag.into()));
        self
    }

    /// With one more, from its text: `g.0`, `like.i`, `unused.l`; an empty text is not a tag.
    ///
    /// # Errors
    /// If the text is not a tag.
    pub fn with_text(self, inames: impl Into<Name>, tag: &str) -> Result<Tags, TagInamesError> {
        let choice = match (tag, tag.strip_prefix("like.")) {
            ("", _) => TagChoice::None,
            ("unused.g", _) => TagChoice::UnusedGroup,
            ("unused.l", _) => TagChoice::UnusedLocal,
            (_, Some(other)) => TagChoice::Like(other.into()),
            _ => TagChoice::Tag(tag.parse()?),
        };
        Ok(self.with(inames, choice))
    }

    /// Ignores unknown inames instead of reporting them.
    pub fn missing_ok(mut self) -> Tags {
        self.missing_ok = true;
        self
    }
}

impl FromStr for Tags {
    type Err = TagInamesError;

    fn from_str(text: &str) -> Result<Tags, TagInamesError> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        entries.into_iter().try_fold(Tags::default(), |tags, entry| match entry.split_once(':') {
            Some((iname, tag)) => tags.with_text(iname.trim(), tag.trim()),
            None => Err(TagInamesError::NoColon { entry: entry.to_owned() }),
        })
    }
}

/// Why inames cannot be tagged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TagInamesError {
    /// Text of tags without a colon.
    #[error("`{entry}` has no tag: write `iname:tag`, such as `{entry}:g.0`")]
    NoColon {
        /// The part of the text.
        entry: String,
    },
    /// An invalid tag.
    #[error(transparent)]
    Text(#[from] TagError),
    /// Two tags that both place the iname.
    #[error("iname `{iname}` is already tagged `{present}` and cannot also be tagged `{tag}`; untag it first")]
    Conflict {
        /// The iname.
        iname: Name,
        /// The tag it has.
        present: InameTag,
        /// The tag it should get.
        tag: InameTag,
    },
    /// An axis beyond what any device has.
    #[error("all {kind} axes up to 255 are in use")]
    NoAxisLeft {
        /// `group` or `local`.
        kind: &'static str,
    },
    /// Unknown iname.
    #[error(transparent)]
    Iname(#[from] InameError),
}

/// Adds tags to inames. Any other tag replaces a plain `for`; an iname has at most one tag that places it.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, syntax::InameTag, transform::tag_inames};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("out[i] = 2*a[i]").build_kernel()?;
/// let kernel = tag_inames(&kernel, &"i:g.0".parse()?)?;
/// assert!(kernel.inames["i"].tags.contains(&InameTag::Group(0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such iname (a pattern may match none), or it already has a conflicting tag.
pub fn tag_inames(kernel: &LoopKernel, tags: &Tags) -> Result<LoopKernel, TagInamesError> {
    let mut result = kernel.clone();
    for (pattern, choice) in &tags.choices {
        let matching: Vec<Name> = match pattern.as_name() {
            Some(name) if kernel.inames.contains_key(name) => vec![name.clone()],
            Some(_) if tags.missing_ok => Vec::new(),
            Some(name) => return Err(replace::known(kernel, name).expect_err("invariant: the name is not there").into()),
            None => kernel.inames.keys().filter(|iname| pattern.matches(iname)).cloned().collect(),
        };
        for iname in matching {
            for tag in choose(&result, choice)? {
                add_tag(result.inames.entry(iname.clone()).or_default(), &iname, &tag)?;
            }
        }
    }
    Ok(result)
}

/// Removes the tags for which `unwanted` holds from an iname.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, syntax::InameTag, transform::{tag_inames, untag_inames}};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("out[i] = 2*a[i]").build_kernel()?;
/// let tagged = tag_inames(&kernel, &"i:g.0".parse()?)?;
/// assert_eq!(untag_inames(&tagged, "i", &InameTag::is_parallel)?, kernel);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such iname.
pub fn untag_inames(kernel: &LoopKernel, iname: &str, unwanted: &dyn Fn(&InameTag) -> bool) -> Result<LoopKernel, InameError> {
    replace::known(kernel, iname)?;
    let mut result = kernel.clone();
    if let Some(entry) = result.inames.get_mut(iname) {
        entry.tags.retain(|tag| !unwanted(tag));
    }
    Ok(result)
}

fn choose(kernel: &LoopKernel, choice: &TagChoice) -> Result<Vec<InameTag>, TagInamesError> {
    let unused = |kind: &'static str, of: &dyn Fn(u8) -> InameTag| {
        let used = |tag: &InameTag| kernel.inames.values().any(|iname| iname.tags.contains(tag));
        (0..=u8::MAX).map(of).find(|tag| !used(tag)).ok_or(TagInamesError::NoAxisLeft { kind })
    };
    Ok(match choice {
        TagChoice::None => Vec::new(),
        TagChoice::Tag(tag) => vec![tag.clone()],
        TagChoice::Like(other) => {
            replace::known(kernel, other)?;
            kernel.inames[other].tags.iter().cloned().collect()
        }
        TagChoice::UnusedGroup => vec![unused("group", &InameTag::Group)?],
        TagChoice::UnusedLocal => vec![unused("local", &InameTag::Local)?],
    })
}

/// Adds a tag to an iname.
pub(super) fn add_tag(entry: &mut Iname, iname: &Name, tag: &InameTag) -> Result<(), TagInamesError> {
    if tag.is_placing() {
        entry.tags.remove(&InameTag::Loop);
        if let Some(present) = entry.tags.iter().find(|present| present.is_placing() && *present != tag) {
            return Err(TagInamesError::Conflict { iname: iname.clone(), present: present.clone(), tag: tag.clone() });
        }
    }
    entry.tags.insert(tag.clone());
    Ok(())
}
