//! Running kernels: sizes from shapes (`formula`, `call`) and from the fields of objects (`fields`), assumptions about them (`assumption`),
//! index bounds (`reach`), shared memory (`overlap`), index widths (`width`), compilation and launches.

mod args;
mod assumption;
mod call;
mod executable;
mod fields;
mod formula;
mod overlap;
mod planned;
mod reach;
mod repeat;
mod width;

pub use args::{Compile, with_checks};
pub use call::CallPlan;
pub use executable::{EachLaunch, Executable, Feed, LoopArg, ReadyLaunch, target_of};
pub use fields::PlannedField;
pub use formula::{Formula, FormulaOp, Values};
pub use overlap::Location;
pub use planned::{GivenArgument, GivenArray, GivenObject, PlannedArg, PlannedKind};
pub use repeat::Repeat;

pub use crate::error::RunError;
