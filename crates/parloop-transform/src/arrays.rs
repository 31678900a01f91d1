//! Arrays of a kernel by name, whether arguments or temporaries: finding one, replacing its layout, and naming an element.

use std::fmt;

use parloop_analysis::infer;
use parloop_ir::names::Near;
use parloop_ir::program::Program;
use parloop_ir::syntax::{Argument, ArgumentKind, Layout, LoopKernel, Target, Type};
use parloop_isl::Name;

/// Unknown array.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}` has no array `{array}`{near}")]
pub struct UnknownArray {
    /// The kernel.
    pub kernel: Name,
    /// The name.
    pub array: Name,
    /// Names that may have been meant.
    pub near: Near,
}

/// The indices of an element, `None` where unknown: `[1, 2]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementIndex(pub Vec<Option<i64>>);

impl fmt::Display for ElementIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indices: Vec<String> = self.0.iter().map(|index| index.map_or_else(|| "…".to_owned(), |index| index.to_string())).collect();
        if indices.is_empty() { Ok(()) } else { write!(f, "[{}]", indices.join(", ")) }
    }
}

/// The layout of an array.
pub(super) fn layout_of<'a>(kernel: &'a LoopKernel, array: &Name) -> Result<&'a Layout, UnknownArray> {
    if let Some(temporary) = kernel.temporaries.get(array) {
        return Ok(&temporary.layout);
    }
    let argument = kernel.arguments.iter().find(|argument| argument.name == *array);
    if let Some(Argument { kind: ArgumentKind::Array { layout, .. }, .. }) = argument {
        return Ok(layout);
    }
    let is_array = |argument: &&Argument| matches!(argument.kind, ArgumentKind::Array { .. });
    let arrays = kernel.arguments.iter().filter(is_array).map(|argument| &argument.name);
    let near = Near::of(array, arrays.chain(kernel.temporaries.keys()));
    Err(UnknownArray { kernel: kernel.name.clone(), array: array.clone(), near })
}

/// The type of a temporary's elements: as declared, or as inferred from the kernel alone.
pub(super) fn type_of_temporary(kernel: &LoopKernel, temporary: &Name) -> Option<Type> {
    let declared = kernel.temporaries.get(temporary).and_then(|temporary| temporary.ty.clone());
    declared.or_else(|| {
        let typed = infer::types_so_far(&Program::of(kernel.clone()), Target::C).ok()?;
        typed.kernel(&kernel.name)?.temporaries.get(temporary)?.ty.clone()
    })
}

/// Replaces the layout of an array.
pub(super) fn set_layout(kernel: &mut LoopKernel, array: &Name, new: Layout) {
    if let Some(temporary) = kernel.temporaries.get_mut(array) {
        temporary.layout = new;
        return;
    }
    for argument in kernel.arguments.iter_mut().filter(|argument| argument.name == *array) {
        if let ArgumentKind::Array { layout, .. } = &mut argument.kind {
            *layout = new.clone();
        }
    }
}
