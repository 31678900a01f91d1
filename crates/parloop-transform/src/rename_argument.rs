//! `rename_argument`: renames an argument everywhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use parloop_ir::names::{Near, UniqueNames};
use parloop_ir::syntax::{Argument, ArgumentKind, Expr, InstructionKind, Layout, LoopKernel, SubArray, Temporary};
use parloop_isl::Name;

use super::layouts::in_layout;
use super::rewrite::{self, Scope};

/// Why an argument cannot be renamed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RenameArgumentError {
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
    /// The name is already taken.
    #[error("`{name}` is already a name in kernel `{kernel}`; choose another one")]
    Taken {
        /// The kernel.
        kernel: Name,
        /// The name.
        name: Name,
    },
    /// C code names the argument.
    #[error("the C text of instruction `{instruction}` names `{argument}`, which cannot be renamed there; bind the name to an expression")]
    InText {
        /// The instruction.
        instruction: Name,
        /// The argument.
        argument: Name,
    },
    /// A query about the domains failed.
    #[error(transparent)]
    Isl(#[from] parloop_isl::IslError),
}

/// Renames an argument: in the list of arguments, in all expressions, shapes, strides, domains and assumptions.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, transform::rename_argument};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("out[i] = 2*a[i]").build_kernel()?;
/// let kernel = rename_argument(&kernel, "a", "x")?;
/// assert_eq!(kernel.instructions[0].rhs()[0].to_string(), "2*x[i]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such argument, the name is in use, or C code names the argument.
pub fn rename_argument(kernel: &LoopKernel, old: &str, new: &str) -> Result<LoopKernel, RenameArgumentError> {
    check(kernel, old, new)?;
    let (old, new) = (Name::from(old), Name::from(new));
    let by = BTreeMap::from([(old.clone(), Expr::Variable(new.clone()))]);
    let mut result = rewrite::rewrite(kernel, &Scope::whole(kernel), &mut |expr, _| {
        Ok::<_, RenameArgumentError>(match &expr {
            Expr::Variable(name) if *name == old => Expr::Variable(new.clone()),
            Expr::SubArray(part) if part.array == old => Expr::SubArray(Arc::new(SubArray { array: new.clone(), ..(**part).clone() })),
            _ => expr,
        })
    })?;
    let rename = |set: &parloop_isl::Set| set.rename(&|name| (*name == old).then(|| new.clone()));
    result.domains = kernel.domains.iter().map(rename).collect::<Result<_, _>>()?;
    result.assumptions = rename(&kernel.assumptions)?;
    for instruction in &mut result.instructions {
        let origin = instruction.origin.map(&|expr| expr.substitute(&by));
        Arc::make_mut(instruction).origin = Arc::new(origin);
    }
    let layout = |layout: &Layout| in_layout(layout, &|expr| expr.substitute(&by));
    let argument = |argument: &Argument| {
        let kind = match &argument.kind {
            ArgumentKind::Array { space, layout: old, alignment } => {
                ArgumentKind::Array { space: *space, layout: layout(old), alignment: *alignment }
            }
            kind => kind.clone(),
        };
        let name = if argument.name == old { new.clone() } else { argument.name.clone() };
        Argument { name, kind, ..argument.clone() }
    };
    result.arguments = kernel.arguments.iter().map(argument).collect();
    let temporary = |temporary: &Temporary| Temporary { layout: layout(&temporary.layout), ..temporary.clone() };
    result.temporaries = kernel.temporaries.iter().map(|(name, old)| (name.clone(), temporary(old))).collect();
    Ok(result)
}

fn check(kernel: &LoopKernel, old: &str, new: &str) -> Result<(), RenameArgumentError> {
    if !kernel.arguments.iter().any(|argument| argument.name == old) {
        let near = Near::of(old, kernel.arguments.iter().map(|argument| &argument.name));
        return Err(RenameArgumentError::Unknown { kernel: kernel.name.clone(), argument: old.into(), near });
    }
    if !UniqueNames::of_variables(kernel).take(&new.into()) {
        return Err(RenameArgumentError::Taken { kernel: kernel.name.clone(), name: new.into() });
    }
    for instruction in &kernel.instructions {
        if let InstructionKind::C(code) = &instruction.kind
            && (code.reads.contains(old) || code.writes.iter().any(|lhs| lhs.variables().contains(old)))
        {
            return Err(RenameArgumentError::InText { instruction: instruction.id.clone(), argument: old.into() });
        }
    }
    Ok(())
}
