//! The kernel language, parsed from text: expressions, instructions with their options, queries for instructions.

mod block;
mod data;
mod dim_tags;
pub mod draft;
mod error;
mod expression;
mod extremes;
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

pub use block::{instructions, instructions_with};
pub use data::Datum;
pub use dim_tags::{DimTagError, parse_dim_tag_list, parse_dim_tags, split_at_commas};
pub use draft::{Draft, Parsed, Which, Within};
pub use error::{Mistake, ParseError};
pub use expression::expression;
pub use extremes::{is_extreme, settled};
pub use function::type_text;
pub use query::query;
pub use step::step;
pub use types::type_name;

pub use data::data_line;
pub use error::nearest;
pub(crate) use expression::Level;
pub(crate) use function::{REDUCTIONS, operand_count};
pub(crate) use initializer::print as print_initializer;
pub use lex::{is_name, quoted as quoted_text};
pub use lines::trimmed;
pub use step::step_within;
pub(crate) use step::{SPECIAL_IN_MAP, plain};
pub use types::scalar_name;
