//! The language of kernels, read from text: expressions, instructions with their options, queries for instructions.

pub mod draft;
mod error;
mod expression;
mod function;
mod lex;
mod literal;
mod types;

pub use draft::{Draft, Parsed, Which, Within};
pub use error::{Mistake, ParseError};
pub use expression::expression;
pub use types::type_name;

pub(crate) use expression::Level;
pub(crate) use function::{REDUCTIONS, operand_count};
pub(crate) use lex::is_name;
