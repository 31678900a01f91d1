//! The data of the compiler: expressions, instructions, kernels and programs. Plain, comparable, printable values; nothing here computes
//! more than a look at its own fields.

mod data;
mod expr;
mod instruction;
mod kernel;
mod operators;
mod options;
mod origin;
mod tag;
mod target;
mod types;

pub use data::{AddressSpace, Argument, ArgumentKind, DimTag, Initializer, Layout, Offset, Shape, Stride, Temporary};
pub use expr::{BinaryOp, Call, Chain, CompareOp, Expr, LONGEST_NEST, Literal, Reduction, ReductionOp, SubArray, UnaryOp};
pub use instruction::{
    Assignment, Atomicity, CCode, CInstruction, CallInstruction, Instruction, InstructionKind, MemoryKind, SyncScope, TemporaryType,
    TrustedC,
};
pub use kernel::{Iname, LoopKernel, Phase, Preamble, SubstitutionRule};
pub use options::{BuildOptionError, KernelOptions, Promised};
pub use origin::{Origin, Time, TimeStep, primed, without_primes};
pub use tag::{InameTag, TagError};
pub use target::Target;
pub use types::{ClassAxis, ClassField, ClassSource, ClassType, OpaqueType, RecordError, RecordField, RecordType, Type, lane, lane_name};
