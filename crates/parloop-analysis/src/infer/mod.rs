//! Inference: types of all names and calls, and what callees must know about their array arguments.

mod descriptors;
mod kernel_types;
mod order;
mod reader;
mod rules;
mod session;
mod spaces;
mod specialise;
mod types;
mod wide_sums;

pub use descriptors::descriptors;
pub use reader::{TypeReader, strong_type_of, type_of};
pub use spaces::{SpaceError, address_spaces, open_temporaries};
pub use types::{types, types_so_far};
pub use wide_sums::{SUM_TAG, wide_sums};

pub use parloop_ir::callable::{CalleeNames, Extent, InferError, Part, callee_assumptions, extent, part, same_place};
pub use parloop_ir::promote::{as_float, combine, is_signed, promote, promote_division, real_of};
