//! Portable C kernels: signatures and argument checks, compilation with a cache, and launch, on every device of `parloop-device`.
//!
//! Data flow: [`Source`] → joined text → parsed signatures and added qualifiers → compiled module (from the [`Cache`] or
//! the device's compiler) → [`Kernel`] → launch on the [`Context`]'s stream.

mod arg;
mod array;
mod cache;
mod check;
mod codec;
mod context;
mod count;
mod ctype;
mod definition;
mod description;
mod directive;
mod division;
mod edit;
mod error;
mod explain;
mod fft;
mod files;
mod grammar;
mod grid;
mod kernel;
mod loops;
mod macros;
mod mask;
mod names;
mod options;
mod order;
mod pair;
mod param;
mod parse;
mod plain;
mod prelude;
mod prepare;
mod program;
mod qualifiers;
mod recalled;
mod record;
mod recording;
mod reserved;
mod saved;
mod scan;
mod settle;
mod signature;
mod source;
mod staging;
mod trust;
mod unread;
mod version;

pub use parloop_device::{DeviceKind, KeepAlive, Language};

pub use arg::{Arg, Checker, Extent, PlacedObject, Scalar, ScalarMisfit, Slot, encode};
pub use array::Array;
pub use cache::{Cache, CacheInfo, Key, Origin};
pub use context::Context;
pub use description::{DescribedParam, KernelDescription};
pub use error::{KernelError, Result};
pub use fft::{FftPlan, describe_array};
pub use grid::Grid;
pub use kernel::{BoundKernel, Items, Kernel, Slots, decode, wrong_count};
pub use options::{CompileOptions, SourceHook, checked_by_environment};
pub use order::{Gap, Order, dense_strides, first_gap};
pub use plain::{LaneParam, PlainC};
pub use program::{Program, compile_for, signatures, signatures_in};
pub use recording::{BeforeReplay, Recording, Replay};
pub use saved::SavedProgram;
pub use signature::{Param, ParamType, Pointee, Signature};
pub use source::Source;
pub use staging::{HostBytes, Staging};
