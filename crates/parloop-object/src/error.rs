//! What can go wrong with types, buffers and objects, as data.

/// A type cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum TypeError {
    #[error("`{name}` cannot name a {kind}: C names have letters, digits and underscores, and begin with no digit")]
    Name { kind: &'static str, name: String },
    #[error("struct `{name}` has two fields `{field}`")]
    FieldTwice { name: String, field: String },
    #[error("array `{name}` has {axes} axes; 1 to 16 are possible")]
    Axes { name: String, axes: usize },
    #[error("array `{name}`: the order {order:?} is no permutation of its {axes} axes")]
    Order { name: String, order: Vec<usize>, axes: usize },
    #[error("array `{name}` has more bytes than can be addressed")]
    TooLarge { name: String },
    #[error("union reference `{name}` has two members `{member}`")]
    MemberTwice { name: String, member: String },
    #[error("union reference `{name}` cannot have the reference `{member}` as a member")]
    Member { name: String, member: String },
    #[error("two types are named `{name}`: {first}, and {second}; give one of them another name")]
    SameName { name: String, first: String, second: String },
}
