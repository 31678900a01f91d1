//! `set_argument_order`: the order in which a kernel takes its arguments.

use parloop_ir::names::Near;
use parloop_ir::syntax::LoopKernel;
use parloop_isl::Name;

/// Why arguments cannot be ordered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentOrderError {
    /// Unknown argument.
    #[error("kernel `{kernel}` has no argument `{argument}`{near}")]
    Unknown {
        /// The kernel.
        kernel: Name,
        /// The argument.
        argument: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// An argument is named twice.
    #[error("argument `{argument}` appears twice in the argument order")]
    Twice {
        /// The argument.
        argument: Name,
    },
    /// An argument is not named.
    #[error("the argument order of kernel `{kernel}` leaves out {}", missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))]
    Missing {
        /// The kernel.
        kernel: Name,
        /// Those that are left out.
        missing: Vec<Name>,
    },
}

/// Orders the arguments as named, each exactly once.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, transform::set_argument_order};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("out[i] = 2*a[i]").build_kernel()?;
/// let kernel = set_argument_order(&kernel, &["n".into(), "out".into(), "a".into()])?;
/// assert_eq!(kernel.arguments[0].name, "n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a name is not an argument, is there twice, or an argument is not named.
pub fn set_argument_order(kernel: &LoopKernel, order: &[Name]) -> Result<LoopKernel, ArgumentOrderError> {
    let mut arguments = Vec::with_capacity(order.len());
    for (index, name) in order.iter().enumerate() {
        if order[..index].contains(name) {
            return Err(ArgumentOrderError::Twice { argument: name.clone() });
        }
        let found = kernel.arguments.iter().find(|argument| argument.name == *name);
        let near = || Near::of(name, kernel.arguments.iter().map(|argument| &argument.name));
        arguments.push(found.cloned().ok_or_else(|| ArgumentOrderError::Unknown {
            kernel: kernel.name.clone(),
            argument: name.clone(),
            near: near(),
        })?);
    }
    let missing: Vec<Name> = kernel.arguments.iter().map(|argument| argument.name.clone()).filter(|name| !order.contains(name)).collect();
    if !missing.is_empty() {
        return Err(ArgumentOrderError::Missing { kernel: kernel.name.clone(), missing });
    }
    Ok(LoopKernel { arguments, ..kernel.clone() })
}
