//! `assume`: assumptions about the parameters of the domains.

use std::collections::BTreeSet;

use parloop_ir::names::Near;
use parloop_ir::syntax::LoopKernel;
use parloop_isl::{IslError, Name, Set};

/// Why something cannot be assumed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssumeError {
    /// The assumption is about something that is not a parameter.
    #[error("`{name}` is not a parameter of the domains of kernel `{kernel}`, so nothing can be assumed about it{near}")]
    NoParameter {
        /// The kernel.
        kernel: Name,
        /// The name.
        name: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// A set with dimensions.
    #[error("an assumption must be a set without dimensions, such as `{{ : n >= 1}}`, not `{set}`")]
    Dimensions {
        /// The set.
        set: String,
    },
    /// The assumptions contradict each other.
    #[error("kernel `{kernel}` already assumes `{present}`; no values of the parameters also satisfy `{added}`")]
    Contradiction {
        /// The kernel.
        kernel: Name,
        /// The existing assumptions.
        present: String,
        /// The added assumption.
        added: String,
    },
    /// The text is not a condition.
    #[error(transparent)]
    Isl(#[from] IslError),
}

/// Adds an assumption about the parameters, such as `n mod 4 = 0 and n >= 4`, in isl's notation for conditions. Bounds become simpler, and
/// every call is checked against it.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, transform::assume};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("out[i] = 2*a[i]").build_kernel()?;
/// let kernel = assume(&kernel, "n >= 16 and n mod 16 = 0")?;
/// assert!(assume(&kernel, "n = 17").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the text is not a condition, uses names other than parameters, or contradicts the existing assumptions.
pub fn assume(kernel: &LoopKernel, condition: &str) -> Result<LoopKernel, AssumeError> {
    assume_set(kernel, &Set::parse(&format!("{{ : {condition} }}"))?)
}

/// [`assume`] with a set without dimensions.
///
/// # Errors
/// As [`assume`].
pub fn assume_set(kernel: &LoopKernel, assumption: &Set) -> Result<LoopKernel, AssumeError> {
    if !assumption.dims().is_empty() {
        return Err(AssumeError::Dimensions { set: assumption.to_string() });
    }
    let parameters = parameters(kernel);
    if let Some(name) = assumption.params().iter().find(|name| !parameters.contains(*name)) {
        let (kernel, near) = (kernel.name.clone(), Near::of(name, &parameters));
        return Err(AssumeError::NoParameter { kernel, name: name.clone(), near });
    }
    let assumptions = kernel.assumptions.join(assumption)?;
    if assumptions.is_empty()? {
        let (present, added) = (kernel.assumptions.to_string(), assumption.to_string());
        return Err(AssumeError::Contradiction { kernel: kernel.name.clone(), present, added });
    }
    Ok(LoopKernel { assumptions, ..kernel.clone() })
}

/// The parameters of the domains that are not inames, and the numbers that the kernel is called with.
fn parameters(kernel: &LoopKernel) -> BTreeSet<Name> {
    let of_domains = kernel.domains.iter().flat_map(|domain| domain.params());
    let passed =
        kernel.arguments.iter().filter(|argument| argument.kind == parloop_ir::syntax::ArgumentKind::Value).map(|argument| &argument.name);
    of_domains.chain(passed).filter(|name| !kernel.inames.contains_key(*name)).cloned().collect()
}
