//! The language of kernels, read from text: expressions, instructions with their options, queries for instructions.

mod block;
pub mod draft;
mod error;
mod expression;
mod function;
mod lex;
mod lines;
mod literal;
mod options;
mod query;
mod statement;
mod types;

pub use block::instructions;
pub use draft::{Draft, Parsed, Which, Within};
pub use error::{Mistake, ParseError};
pub use expression::expression;
pub use query::query;
pub use types::type_name;

pub(crate) use expression::Level;
pub(crate) use function::{REDUCTIONS, operand_count};
pub(crate) use lex::is_name;
