//! `create` completes kernels as people write them: it infers what they leave out.
//!
//! Creates kernels: from domains, instructions and data as a user writes them to a [`LoopKernel`] in a [`Program`].
//!
//! [`KernelBuilder`] collects; `steps.rs` lists what happens then, one file for each step. Nothing here looks at types or targets.

mod arguments;
mod builder;
mod checks;
mod common_subexpressions;
mod data;
mod declare;
mod dependencies;
mod domains;
mod duplicate;
mod empty_reductions;
mod error;
mod extremes;
mod identify;
mod inames;
mod making;
mod rules;
mod shapes;
mod slices;
mod steps;
mod tagged_names;

use parloop_ir::program::Program;
use parloop_ir::syntax::LoopKernel;

pub use builder::{Built, KernelBuilder};
pub use data::{Data, Order, TypeName};
pub use error::{CreateError, NameKind, Warning};
pub use making::DomainText;
pub use parloop_ir::parse::{DimTagError, parse_dim_tag_list, parse_dim_tags};

/// Creates a kernel from its domain and its instructions; everything else is inferred.
///
/// ```
/// let program = parloop_loop::create::make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")?;
/// let kernel = program.entry().unwrap();
/// assert_eq!(kernel.arguments.iter().map(|argument| &*argument.name).collect::<Vec<_>>(), ["a", "n", "out"]);
/// # Ok::<(), parloop_loop::create::CreateError>(())
/// ```
pub fn make_kernel(domain: impl Into<DomainText>, instructions: &str) -> Result<Program, CreateError> {
    KernelBuilder::new().domain(domain).instructions(instructions).build()
}

/// Creates a kernel from its domain and its instructions; everything else is inferred. [`KernelBuilder`] takes more.
///
/// ```
/// use parloop_loop::create::parse_kernel;
/// let kernel = parse_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]")?;
/// assert_eq!(kernel.instructions[0].within_inames, ["i".into()].into());
/// # Ok::<(), parloop_loop::create::CreateError>(())
/// ```
///
/// # Errors
/// As [`KernelBuilder::build`].
pub fn parse_kernel(domain: impl Into<DomainText>, instructions: &str) -> Result<LoopKernel, CreateError> {
    KernelBuilder::new().domain(domain).instructions(instructions).build_kernel()
}
