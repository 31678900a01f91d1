//! Errors of the checks.

use std::fmt;

use parloop_analysis::dependence::Violation;
use parloop_analysis::sequence::Names;
use parloop_isl::{IslError, Name};

/// An error in a kernel.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// Unknown function.
    #[error("`{instruction}` calls the unknown function `{function}`; register it, or correct its name")]
    UnresolvedFunction {
        /// The function.
        function: Name,
        /// The instruction that calls it.
        instruction: Name,
    },
    /// A name that would be other code.
    #[error(
        "kernel `{kernel}` contains the name `{name}`, which is not an identifier; use letters, digits and `_`, beginning with a letter"
    )]
    NotAName {
        /// The name.
        name: Name,
        /// The kernel.
        kernel: Name,
    },
    /// An assumption that no call can check.
    #[error(
        "kernel `{kernel}` makes an assumption about `{name}`, which is not a number passed to it; add it to the arguments, or drop the assumption"
    )]
    UncheckedAssumption {
        /// What it is about.
        name: Name,
        /// The kernel.
        kernel: Name,
    },
    /// Memory whose size is not known.
    #[error(
        "`{name}` in kernel `{kernel}` is an array of an opaque type, whose size is unknown; only private and local temporaries without `base` can be opaque"
    )]
    OpaqueMemory {
        /// The array.
        name: Name,
        /// The kernel.
        kernel: Name,
    },
    /// Initial values that are not those of the array.
    #[error("the temporary `{name}` is {declared}, but its initial values are {found}")]
    InitialValues {
        /// The temporary.
        name: Name,
        /// Its type and shape.
        declared: String,
        /// Those of the values.
        found: String,
    },
    /// An index can be outside its array.
    #[error(
        "`{access}` in `{instruction}` is out of bounds: index {} can be {value} (for {}), but the axis has {length} elements",
        .axis + 1,
        Point(.point)
    )]
    OutOfBounds {
        /// As written in the instruction.
        access: String,
        /// The instruction.
        instruction: Name,
        /// The axis, counted from 0.
        axis: usize,
        /// The length of the axis.
        length: String,
        /// The index at the point.
        value: i64,
        /// Values of inames and parameters for which this happens.
        point: Vec<(Name, i64)>,
    },
    /// The index of a field can be negative; each call checks its length.
    #[error("`{access}` in `{instruction}` is out of bounds: index {} can be {value} (for {})", .axis + 1, Point(.point))]
    NegativeIndex {
        /// As written in the instruction.
        access: String,
        /// The instruction.
        instruction: Name,
        /// The axis, counted from 0.
        axis: usize,
        /// The index at the point.
        value: i64,
        /// Values of inames and parameters for which this happens.
        point: Vec<(Name, i64)>,
    },
    /// An access has too many or too few indices.
    #[error("`{access}` in `{instruction}` has {found} indices, but `{array}` has {expected} axes")]
    WrongRank {
        /// As written in the instruction.
        access: String,
        /// The instruction.
        instruction: Name,
        /// The array.
        array: Name,
        /// How many indices there are.
        found: usize,
        /// How many there must be.
        expected: usize,
    },
    /// Instances that depend on each other run concurrently.
    #[error(
        "race: {violation}; run it sequentially, let each instance write its own elements, make the update atomic, or silence write_race({})",
        violation.first.instruction
    )]
    Race {
        /// The two instances.
        violation: Box<Violation>,
    },
    /// Variables that share memory overwrite each other.
    #[error("{violation}; give each its own memory, or use one only after the last use of the other")]
    Overwritten {
        /// The two instances.
        violation: Box<Violation>,
    },
    /// Instances that depend on each other run in another order than in the kernel as created.
    #[error("lost order: {violation}; order these loops so that the first instance still comes first")]
    Reordered {
        /// The two instances.
        violation: Box<Violation>,
    },
    /// An instruction is repeated for each work item along an axis.
    #[error(
        "`{instruction}` writes to shared memory but does not use hardware axis {axis}, which other instructions of `{launch}` use; add an iname with \
         that tag: `inames=+NAME` in its options, or add_inames_to_insn"
    )]
    UnusedAxis {
        /// The instruction.
        instruction: Name,
        /// `g.0`, `l.1` …
        axis: String,
        /// The launch.
        launch: Name,
    },
    /// Two inames of an instruction are on the same axis.
    #[error("`{instruction}` runs in `{first}` and `{second}`, which are both tagged {axis}; give one of them another axis")]
    DoubleAxis {
        /// The instruction.
        instruction: Name,
        /// An iname.
        first: Name,
        /// The other.
        second: Name,
        /// `g.0`, `l.1` …
        axis: String,
    },
    /// A called kernel uses the axis of an iname around the call.
    #[error("`{instruction}` runs in `{iname}`, tagged {axis}, and calls a kernel that uses {axis} itself; give one of them another axis")]
    CalleeAxis {
        /// The instruction.
        instruction: Name,
        /// The iname.
        iname: Name,
        /// `g.0`, `l.1` …
        axis: String,
    },
    /// The order of two accesses is not specified.
    #[error(
        "`{writer}` writes `{variable}`, which `{other}` also uses, and their order is not specified; add a dependency between them, or `nosync` to both if none is needed"
    )]
    VariableAccessNotOrdered {
        /// The instruction that writes.
        writer: Name,
        /// The other instruction.
        other: Name,
        /// The variable.
        variable: Name,
    },
    /// A temporary is read and never written before.
    #[error("`{instruction}` reads `{variable}` before it is written; assign it first, or give it an initializer")]
    MissingDefinition {
        /// The instruction.
        instruction: Name,
        /// The temporary.
        variable: Name,
    },
    /// A temporary is only written from its own value.
    #[error("`{instruction}` computes `{variable}` from itself, and it has no initial value; assign it first")]
    UninitialisedSelfReference {
        /// The instruction.
        instruction: Name,
        /// The temporary.
        variable: Name,
    },
    /// An instruction uses an iname that it does not run in.
    #[error("`{instruction}` uses iname `{iname}` but does not run in it; add it to its inames: inames=+{iname}")]
    InactiveIname {
        /// The instruction.
        instruction: Name,
        /// The iname.
        iname: Name,
    },
    /// A name that the kernel does not have.
    #[error("`{instruction}` uses `{name}`, which is not an iname, argument, temporary or parameter of kernel `{kernel}`")]
    UnknownName {
        /// The instruction.
        instruction: Name,
        /// The name.
        name: Name,
        /// The kernel.
        kernel: Name,
    },
    /// An iname that sweeps a sub-array is a loop too.
    #[error("iname `{iname}` sweeps a sub-array in `{instruction}` and is also a loop of `{other}`; use another iname for the sub-array")]
    SweptIname {
        /// The iname.
        iname: Name,
        /// The instruction with the sub-array.
        instruction: Name,
        /// The instruction in the loop.
        other: Name,
    },
    /// Tags of an iname contradict each other.
    #[error("iname `{iname}` is tagged both {first} and {second}; untag one")]
    TagConflict {
        /// The iname.
        iname: Name,
        /// A tag.
        first: String,
        /// Another.
        second: String,
    },
    /// The destination cannot be written.
    #[error("`{instruction}` writes `{variable}`, which is {what}")]
    BadDestination {
        /// The instruction.
        instruction: Name,
        /// What it writes.
        variable: Name,
        /// Why it cannot.
        what: &'static str,
    },
    /// An instruction's condition uses what the instruction writes.
    #[error("`{instruction}` writes `{variable}`, which its own condition uses; store the condition in a separate temporary")]
    PredicateWritten {
        /// The instruction.
        instruction: Name,
        /// The variable.
        variable: Name,
    },
    /// An index is not an integer.
    #[error("index `{index}` in `{instruction}` is of type {found}; indices are integers: use cast(int32, …)")]
    IndexType {
        /// The index.
        index: String,
        /// The instruction.
        instruction: Name,
        /// Its type.
        found: String,
    },
    /// A number of a domain or an assumption is not an integer.
    #[error(
        "{place} uses `{name}`, which is of type {found}; domains and assumptions take integers: declare it as int64, or make it a condition (`if=`)"
    )]
    NumberType {
        /// The number.
        name: Name,
        /// `a domain` or `an assumption`.
        place: &'static str,
        /// Its type.
        found: String,
    },
    /// A bound of a parallel iname is computed inside the kernel.
    #[error("`{iname}` runs on different work items, but its bounds need `{bound}`, which is computed inside the kernel")]
    ParallelBound {
        /// The iname.
        iname: Name,
        /// What its bounds need.
        bound: Name,
    },
    /// A call does not match the kernel that it calls.
    #[error("`{instruction}` calls kernel `{function}` with {found} as its {place}; expected {expected}")]
    CallSite {
        /// The instruction.
        instruction: Name,
        /// The kernel.
        function: Name,
        /// `1st argument` …
        place: String,
        /// What is there.
        found: String,
        /// What it takes.
        expected: String,
    },
    /// Two instructions have the same id.
    #[error("two instructions have the id `{id}`")]
    DuplicateId {
        /// The id.
        id: Name,
    },
    /// An instruction names one that does not exist.
    #[error("`{instruction}` {relation} `{other}`, which is not an instruction in the kernel")]
    UnknownInstruction {
        /// The instruction.
        instruction: Name,
        /// `depends on` or `needs no barrier with`.
        relation: &'static str,
        /// The name.
        other: Name,
    },
    /// Instructions form a dependency cycle.
    #[error("instructions {} form a dependency cycle; remove one of the dependencies", Names(.instructions))]
    DependencyCycle {
        /// The instructions.
        instructions: Vec<Name>,
    },
    /// The schedule has an instruction twice, or not at all. This is a bug in the compiler.
    #[error("the schedule of `{kernel}` has `{instruction}` {count} times; this is a bug in the compiler, please report it")]
    Misplaced {
        /// The kernel.
        kernel: Name,
        /// The instruction.
        instruction: Name,
        /// How often it is there.
        count: usize,
    },
    /// The solver failed.
    #[error("cannot check this kernel: {0}")]
    Isl(#[from] IslError),
}

/// `i = 1, n = 4`.
struct Point<'a>(&'a [(Name, i64)]);

impl fmt::Display for Point<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("all inames");
        }
        for (at, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name} = {value}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
