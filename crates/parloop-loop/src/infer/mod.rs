//! What is not written down: types of all names and calls, and what callees must know of the arrays they are given.

mod callee;
mod descriptors;
mod error;
mod kernel_types;
mod order;
mod promote;
mod reader;
mod rules;
mod spaces;
mod specialise;
mod sub_array;
mod types;

pub use callee::{CalleeNames, callee_assumptions};
pub use descriptors::descriptors;
pub use error::InferError;
pub use promote::{as_float, combine, is_signed, promote, promote_division, real_of};
pub(crate) use promote::{meet, rank};
pub use reader::{TypeReader, type_of};
pub use spaces::{SpaceError, address_spaces};
pub use sub_array::{Extent, Part, extent, part, same_place};
pub use types::{types, types_so_far};
