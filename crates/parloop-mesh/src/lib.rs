//! Parallel loops over unstructured meshes: sets, maps between them, data on them, and kernels that are run for each element.
//!
//! The way of the data: [`Set`], [`Map`], [`Dat`] and [`Global`] are declared → a [`ParLoop`] of a [`Kernel`] over a set checks its
//! arguments → a plan says in which order and by whom elements are visited so that no two writes meet → `lower` makes a loop kernel
//! that calls the user's kernel → the loop compiler makes code of it → it is launched on a context. No C is written here.

mod access;
mod arg;
mod arithmetic;
mod base64;
mod dat;
mod dataset;
mod error;
mod global;
mod identity;
mod job;
mod kernel;
mod lower;
mod map;
mod matching;
mod par_loop;
mod passing;
pub mod plan;
mod scheme;
mod set;
mod shape;
mod storage;
mod subset;
mod tune;
pub mod vtk;

pub use access::Access;
pub use arg::{Arg, ArgData};
pub use arithmetic::{Operand, Operation, Rounding, Sides};
pub use dat::Dat;
pub use dataset::DataSet;
pub use error::MeshError;
pub use global::Global;
pub use kernel::{Kernel, KernelOptions};
pub use map::Map;
pub use par_loop::{Lanes, LoopOptions, ParLoop, par_loop};
pub use scheme::PlanChoice;
pub use set::{Set, SetKind, Sizes};
pub use storage::{Layout, Storage};

/// What came out, or why not.
pub type Result<T, E = MeshError> = std::result::Result<T, E>;
