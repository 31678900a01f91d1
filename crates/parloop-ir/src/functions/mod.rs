//! The functions that every program may call, by target and by library, and how names are resolved to them.

mod complex;
mod library;
mod random123;
mod scalar;
mod scope;
mod symbol;
mod target;
mod vector;
mod words;

pub use library::{IndexOf, MakeTuple};
pub use random123::RandomFunction;
pub use scalar::{Mangler, ScalarFunction};
pub use scope::{find, known_names, scope, scope_for};
pub use symbol::{is_constant, symbol};
pub use target::{TargetFunction, target_knows};
pub use vector::VectorFunction;
pub use words::{vector_alignment, vector_definition, vector_maker, vector_type};
