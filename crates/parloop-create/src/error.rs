//! Errors and warnings of creating a kernel.

use std::fmt;

use parloop_ir::callable::CallableError;
use parloop_ir::names::Near;
use parloop_ir::parse::{DimTagError, ParseError};
use parloop_ir::substitution::ExpandSubstError;
use parloop_ir::syntax::{AddressSpace, Argument, ArgumentKind, Expr, Temporary};
use parloop_isl::{IslError, Name};
use parloop_transform::FixParametersError;

/// Why a kernel cannot be created.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum CreateError {
    // ---- text ----
    /// An instruction cannot be parsed.
    #[error(transparent)]
    Instructions(#[from] ParseError),
    /// A domain is not a set.
    #[error("domain {number}: {error}")]
    Domain { number: usize, error: IslError },
    /// The assumptions are not conditions.
    #[error("assumptions `{text}`: {error}")]
    Assumptions { text: String, error: IslError },
    #[error("assumptions are about parameters, but `{iname}` is an iname; put the condition into its domain")]
    AssumptionOnIname { iname: Name },
    /// A solver query failed.
    #[error("{what}: {error}")]
    Solver { what: String, error: IslError },

    // ---- names ----
    #[error("`{name}` is not a valid name; names consist of letters, digits and `_`, and do not begin with a digit")]
    BadName { name: String },
    #[error("domain {number} has the iname `{iname}`, which is already in domain {first}; rename one of them")]
    InameTwice { iname: Name, first: usize, number: usize },
    #[error("`{name}` is {second} but also {first}; rename one of them")]
    NameTwice { name: Name, first: NameKind, second: NameKind },
    #[error("two instructions have the id `{id}`; ids must differ (`id_prefix={id}` chooses a unique one)")]
    IdTwice { id: Name },
    #[error("instruction `{instruction}` uses `{name}`, which is not declared (add `...` to the data to infer arguments){near}")]
    UndefinedName { instruction: Name, name: Name, near: Near },
    #[error(
        "the shape, strides or offset of `{array}` uses `{name}`, which is not declared (add `...` to the data to infer arguments){near}"
    )]
    UndefinedInLayout { array: Name, name: Name, near: Near },
    #[error("instruction `{instruction}` runs in iname `{iname}`, but no domain has it{near}")]
    UnknownIname { instruction: Name, iname: Name, near: Near },
    #[error("instruction `{instruction}` reduces over `{iname}`, but no domain has that iname{near}")]
    UnknownReductionIname { instruction: Name, iname: Name, near: Near },
    #[error("instruction `{instruction}` sweeps a sub-array with `{iname}`, but no domain has that iname{near}")]
    UnknownSweepIname { instruction: Name, iname: Name, near: Near },
    #[error("instruction `{instruction}` reduces over `{iname}`, but also runs in that iname; reduce over another one")]
    ReducesOverOwn { instruction: Name, iname: Name },
    #[error("a loop priority names the iname `{iname}`, but no domain has it{near}")]
    UnknownPriorityIname { iname: Name, near: Near },
    #[error("instruction `{instruction}` depends on `{pattern}`, but no instruction has that id{near}")]
    UnknownDependency { instruction: Name, pattern: String, near: Near },
    #[error("instruction `{instruction}` has `nosync` with `{pattern}`, but no instruction has that id{near}")]
    UnknownNosync { instruction: Name, pattern: String, near: Near },
    #[error("instruction `{instruction}` depends on itself")]
    DependsOnItself { instruction: Name },
    #[error("instruction `{instruction}` duplicates `{iname}` (`dup=`), but does not run in that iname")]
    DuplicateOutside { instruction: Name, iname: Name },
    #[error("instruction `{instruction}` cannot have a copy of `{iname}` (`dup=`): {reason}")]
    Duplicate { instruction: Name, iname: Name, reason: String },

    // ---- data ----
    #[error("cannot parse the shape `{text}` of `{name}`: {reason}")]
    Shape { name: Name, text: String, reason: String },
    #[error("cannot parse the strides `{text}` of `{name}`: {reason}")]
    Strides { name: Name, text: String, reason: String },
    #[error("cannot parse the offset `{text}` of `{name}`: {reason}")]
    Offset { name: Name, text: String, reason: String },
    #[error("`{name}`: {error}")]
    DimTags { name: Name, error: DimTagError },
    #[error("`{name}` has {axes} axes, but strides, dim tags or axis names for {found}")]
    AxesDiffer { name: Name, found: usize, axes: usize },
    #[error("two axes of `{name}` are called `{axis}`")]
    DoubleAxisName { name: Name, axis: Name },
    #[error("image `{name}` needs a shape of one to three axes")]
    ImageShape { name: Name },
    #[error("unknown type `{ty}` of `{name}`; use a NumPy name such as `float32`")]
    UnknownType { name: Name, ty: String },
    #[error("`{name}` is {kind}, which cannot have {property}")]
    NoSuchProperty { name: Name, kind: NameKind, property: &'static str },
    #[error("the values of `{name}` are {found} bytes, but its shape and type need {needed}")]
    InitializerSize { name: Name, found: usize, needed: u128 },
    #[error("`{name}` has shape ({given}), but its values have shape ({found})")]
    InitializerShape { name: Name, given: String, found: String },
    #[error("the index type must be `int32` or `int64`, not `{dtype}`")]
    IndexType { dtype: &'static str },
    #[error("argument `{name}` is neither input nor output; it must be one of them")]
    NoDirection { name: Name },

    // ---- what is written ----
    #[error("instruction `{instruction}` writes `{lhs}`, which is not a variable, subscript, sub-array or field")]
    BadLeftSide { instruction: Name, lhs: Expr },
    #[error("instruction `{instruction}` writes `{name}`, which is {kind}; only arrays and temporaries can be written")]
    BadDestination { instruction: Name, name: Name, kind: NameKind },
    #[error("instruction `{instruction}` writes `{name}`, which is not declared (`<>{name} = …` declares a temporary){near}")]
    UndeclaredDestination { instruction: Name, name: Name, near: Near },
    #[error("instruction `{instruction}` declares the temporary `{name}`, which is already {kind}; leave out the `<>`")]
    DeclaredTwice { instruction: Name, name: Name, kind: NameKind },
    #[error("`{name}` bounds a loop, so exactly one instruction must write it, not {}", Count(.writers))]
    LoopBoundWriters { name: Name, writers: Vec<Name> },

    // ---- how data is used ----
    #[error("`{name}` is used with {first} and with {second} indices (instruction `{instruction}`)")]
    IndexCounts { name: Name, first: usize, second: usize, instruction: Name },
    #[error("`{name}` has {axes} axes, but instruction `{instruction}` uses it with {found} indices: `{access}`")]
    IndexCount { name: Name, axes: usize, found: usize, instruction: Name, access: Expr },
    #[error("`{name}` is an array of {axes} axes, but instruction `{instruction}` uses it without indices")]
    NoIndices { name: Name, axes: usize, instruction: Name },
    #[error(
        "cannot infer the shape of `{name}`: the index of `{access}` in instruction `{instruction}` is not affine in inames and parameters; give `{name}` a shape"
    )]
    ShapeNotAffine { name: Name, access: Expr, instruction: Name },
    #[error(
        "cannot infer the shape of `{name}`: `{access}` in instruction `{instruction}` addresses memory directly; give `{name}` a shape"
    )]
    ShapeOfLinear { name: Name, access: Expr, instruction: Name },
    #[error(
        "cannot infer the shape of `{name}`: axis {axis} has no single largest index over its accesses ({reason}); give `{name}` a shape"
    )]
    ShapeNotStatic { name: Name, axis: usize, reason: String },

    // ---- calls, slices, rules ----
    #[error(
        "instruction `{instruction}`: the slice `{slice}` is not an argument of a call; write a loop: an iname with a domain, and `{name}[i]`"
    )]
    SliceOutsideCall { instruction: Name, name: Name, slice: Expr },
    #[error("instruction `{instruction}`: `{name}` is sliced, so its shape must be known; give `{name}` a shape")]
    SliceOfUnknown { instruction: Name, name: Name },
    #[error("instruction `{instruction}`: the step of slice `{slice}` must be a nonzero integer")]
    SliceStep { instruction: Name, slice: Expr },
    #[error(
        "instruction `{instruction}`: slice `{slice}` ends at a negative index; count from the beginning (`n - 1` to leave out the last element)"
    )]
    SliceNegative { instruction: Name, slice: Expr },
    #[error("instruction `{instruction}`: the limits of slice `{slice}` (axis length `{length}`) are not affine in parameters")]
    SliceNotAffine { instruction: Name, slice: Expr, length: Expr },
    #[error("instruction `{instruction}` assigns to an array, but its right side is not a call; write a loop over the elements")]
    ArrayAssignment { instruction: Name },
    #[error("substitution rule `{rule}` is defined twice")]
    RuleTwice { rule: Name },
    #[error("substitution rule `{rule}` has two parameters called `{parameter}`")]
    RuleParameterTwice { rule: Name, parameter: Name },
    /// A rule is used wrongly.
    #[error(transparent)]
    Rule(#[from] ExpandSubstError),
    #[error("instruction `{instruction}` has both `dup=` and `cse(…)`; move the common subexpression out of it by hand")]
    DuplicateWithCse { instruction: Name },
    /// A look-up of functions failed.
    #[error(transparent)]
    Callable(#[from] Box<CallableError>),
    /// A parameter cannot be fixed.
    #[error(transparent)]
    FixedParameters(#[from] Box<FixParametersError>),
}

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum NameKind {
    Iname,
    ValueArgument,
    ConstantArgument,
    Argument,
    Object,
    Temporary,
    ReadOnlyTemporary,
    Substitution,
    Parameter,
}

impl NameKind {
    pub(super) fn of_argument(argument: &Argument) -> NameKind {
        match &argument.kind {
            ArgumentKind::Value => NameKind::ValueArgument,
            ArgumentKind::Array { space: AddressSpace::Constant, .. } => NameKind::ConstantArgument,
            _ => NameKind::Argument,
        }
    }

    pub(super) fn of_temporary(temporary: &Temporary) -> NameKind {
        if temporary.read_only { NameKind::ReadOnlyTemporary } else { NameKind::Temporary }
    }
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NameKind::Iname => "an iname",
            NameKind::ValueArgument => "an argument passed by value",
            NameKind::ConstantArgument => "an argument in constant memory",
            NameKind::Argument => "an argument",
            NameKind::Object => "an object",
            NameKind::Temporary => "a temporary",
            NameKind::ReadOnlyTemporary => "a read-only temporary",
            NameKind::Substitution => "a substitution rule",
            NameKind::Parameter => "a parameter of a domain",
        })
    }
}

/// A possible mistake in a kernel.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Warning {
    #[error("instruction `{instruction}` runs in {}, inferred from what it reads; state this with a `for` block or `inames=`", Names(.inames))]
    InferredInames { instruction: Name, inames: Vec<Name> },
    #[error("temporary `{name}` is read, but never written")]
    ReadNotWritten { name: Name },
    #[error("`{name}` is a parameter of a domain, but not an argument (add `...` to the data to infer arguments)")]
    UndeclaredParameter { name: Name },
    #[error("the tag of `{name}` is dropped: it is the same name without the tag")]
    TagDropped { name: Name },
    #[error("no instruction uses iname `{iname}`")]
    UnusedIname { iname: Name },
}

impl Warning {
    /// The name by which it can be silenced ([`KernelOptions::silenced`](parloop_ir::syntax::KernelOptions::silenced)).
    pub fn name(&self) -> String {
        match self {
            Warning::InferredInames { .. } => "inferred_iname".to_owned(),
            Warning::ReadNotWritten { name } => format!("read_no_write({name})"),
            Warning::UndeclaredParameter { name } => format!("undeclared_parameter({name})"),
            Warning::TagDropped { .. } => "tag_dropped".to_owned(),
            Warning::UnusedIname { .. } => "unused_inames".to_owned(),
        }
    }
}

struct Names<'a>(&'a [Name]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            write!(f, "{}`{name}`", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

struct Count<'a>(&'a [Name]);

impl fmt::Display for Count<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("none"),
            writers => write!(f, "{}: {}", writers.len(), Names(writers)),
        }
    }
}
