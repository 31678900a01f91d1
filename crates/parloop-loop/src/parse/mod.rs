//! The language of kernels, read from text: expressions, instructions with their options, queries for instructions.

mod block;
mod data;
pub mod draft;
mod error;
mod expression;
mod function;
mod initializer;
mod lex;
mod lines;
mod literal;
mod options;
mod query;
mod statement;
mod step;
mod types;

pub use block::instructions;
pub use data::Datum;
pub use draft::{Draft, Parsed, Which, Within};
pub use error::{Mistake, ParseError};
pub use expression::expression;
pub use query::query;
pub use step::step;
pub use types::type_name;

pub(crate) use data::data_line;
pub(crate) use error::nearest;
pub(crate) use expression::Level;
pub(crate) use function::{REDUCTIONS, operand_count};
pub(crate) use initializer::print as print_initializer;
pub(crate) use lex::{is_name, quoted as quoted_text};
pub(crate) use lines::trimmed;
pub(crate) use step::step_within;
pub(crate) use types::scalar_name;
