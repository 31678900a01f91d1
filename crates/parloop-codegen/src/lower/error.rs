//! Why code cannot be generated for a kernel.

use parloop_analysis::sequence::Names;
use parloop_device::DType;
use parloop_ir::callable::CallableError;
use parloop_ir::layout::LayoutError;
use parloop_ir::syntax::Target;
use parloop_isl::{IslError, Name};

/// Why a kernel cannot be lowered, or written for a target.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// A query about domains failed.
    #[error("cannot generate the loops of this kernel: {0}")]
    Isl(#[from] IslError),
    /// A layout does not determine where elements are.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A function cannot be called in this way.
    #[error(transparent)]
    Callable(#[from] CallableError),
    /// Unrolled loops make more code than a compiler can handle.
    #[error(
        "iname `{iname}` is unrolled ({how}) for {times} values, which makes {statements} statements or private copies, but a kernel can have at most {most}; split it and tag only the inner part, such as `split_iname {iname} 16 inner_tag=unr`"
    )]
    TooManyCopies {
        /// The iname.
        iname: Name,
        /// Its tag, or slabs.
        how: String,
        /// How many values it has there.
        times: i128,
        /// The statements that this makes.
        statements: i128,
        /// The maximum.
        most: u64,
    },
    /// A name that is reserved in the target's language.
    #[error("{what} `{name}` cannot have that name, which is reserved in {target}; rename it")]
    ReservedName {
        /// The name.
        name: Name,
        /// `argument`, `temporary`, `field`, `iname` or `kernel`.
        what: &'static str,
        /// The target.
        target: Target,
    },
    /// A temporary that does not fit on the stack.
    #[error(
        "temporary `{name}` takes {bytes} bytes of each thread's private memory{}, but at most {most} are available; make it smaller by splitting the loops along which it is copied, or put it in global memory with `set_temporary_address_space {name} global`",
        if all > bytes { format!(", {all} with the others") } else { String::new() }
    )]
    TooMuchPrivate {
        /// The temporary.
        name: Name,
        /// Its size in bytes.
        bytes: u64,
        /// Its size together with those before it.
        all: u64,
        /// The maximum size.
        most: u64,
    },
    /// The program has no kernel of that name, or no schedule for it.
    #[error("kernel `{kernel}` is not scheduled; prepare the program before generating code")]
    NotScheduled {
        /// The kernel.
        kernel: Name,
    },
    /// A name is neither an iname in scope nor data.
    #[error("instruction `{instruction}`: `{name}` is not an argument, a temporary or an iname around it")]
    UnknownName {
        /// The instruction.
        instruction: Name,
        /// The name.
        name: Name,
    },
    /// A name has no type.
    #[error("`{name}` has no type; infer types before generating code")]
    Untyped {
        /// The name.
        name: Name,
    },
    /// Two classes have one name.
    #[error("two different classes of objects are named `{name}`; their C functions would have the same names; rename one of them")]
    SameClass {
        /// The name.
        name: Name,
    },
    /// Two records have one name.
    #[error("two different records are named `{name}`; rename one of them")]
    SameRecord {
        /// The name.
        name: Name,
    },
    /// A field that a class does not have.
    #[error("instruction `{instruction}`: class `{class}` has no field `{field}`; its fields are {}", Names(.fields))]
    NoField {
        /// The instruction.
        instruction: Name,
        /// The class.
        class: Name,
        /// The field.
        field: Name,
        /// The fields it has.
        fields: Vec<Name>,
    },
    /// An expression that should not exist after preparation.
    #[error("instruction `{instruction}`: cannot generate code for {what}")]
    NotLowerable {
        /// The instruction.
        instruction: Name,
        /// What it is.
        what: String,
    },
    /// A loop that is to be unrolled has no constant number of iterations.
    #[error("iname `{iname}` is unrolled ({tag}), but its bounds are not constants; fix its parameters, or choose another tag")]
    NotConstantLoop {
        /// The iname.
        iname: Name,
        /// Its tag.
        tag: String,
    },
    /// An unbounded loop.
    #[error("iname `{iname}` has no {which} in its domain")]
    Unbounded {
        /// The iname.
        iname: Name,
        /// `largest value` or `smallest value`.
        which: &'static str,
    },
    /// The size of a variable is not a constant.
    #[error("temporary `{name}` is in {space} memory, but its size is not a constant; fix its parameters, or place it in global memory")]
    NotConstantSize {
        /// The temporary.
        name: Name,
        /// Which memory.
        space: &'static str,
    },
    /// An index that chooses an array is not a constant.
    #[error("instruction `{instruction}`: the index of `sep` axis {axis} of `{array}` must be a constant; unroll its iname")]
    NotConstantSeparate {
        /// The instruction.
        instruction: Name,
        /// The array.
        array: Name,
        /// The axis.
        axis: usize,
    },
    /// The target has no such atomic update.
    #[error("{target} has no atomic update of type {ty}")]
    NoAtomic {
        /// The type.
        ty: DType,
        /// The target.
        target: Target,
    },
    /// The target lacks something.
    #[error("{target}: {what}")]
    Unsupported {
        /// The target.
        target: Target,
        /// What it lacks, and what to do.
        what: String,
    },
}
