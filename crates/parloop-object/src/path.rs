//! Where in a value something is, for messages; put into words only when it is needed.

use std::fmt;

/// A step from an object to a part of it, with the steps before.
#[derive(Clone, Copy)]
pub(crate) struct Path<'p> {
    before: Option<&'p Path<'p>>,
    step: PathSegment<'p>,
}

#[derive(Clone, Copy)]
enum PathSegment<'p> {
    Name(&'p str),
    Index(&'p [usize]),
}

impl<'p> Path<'p> {
    pub(crate) fn root(name: &'p str) -> Path<'p> {
        Path { before: None, step: PathSegment::Name(name) }
    }

    pub(crate) fn field(&'p self, name: &'p str) -> Path<'p> {
        Path { before: Some(self), step: PathSegment::Name(name) }
    }

    pub(crate) fn item(&'p self, index: &'p [usize]) -> Path<'p> {
        Path { before: Some(self), step: PathSegment::Index(index) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(before) = self.before {
            before.fmt(f)?;
        }
        match self.step {
            PathSegment::Name(name) if self.before.is_some() => write!(f, ".{name}"),
            PathSegment::Name(name) => f.write_str(name),
            PathSegment::Index(index) => {
                let index: Vec<String> = index.iter().map(usize::to_string).collect();
                write!(f, "[{}]", index.join(", "))
            }
        }
    }
}
