//! Running kernels: sizes from shapes (`formula`, `call`) and from the fields of objects (`fields`), compilation and launches.

mod args;
mod call;
mod executable;
mod fields;
mod formula;
mod repeat;

pub use args::Compile;
pub use call::{CallPlan, Given, GivenArray, PlannedArg, PlannedKind, Values};
pub use executable::{EachLaunch, Executable, Feed, LoopArg, ReadyLaunch, target_of};
pub use fields::PlannedField;
pub use formula::{Formula, FormulaOp};
pub use repeat::Repeat;

pub use crate::error::RunError;
