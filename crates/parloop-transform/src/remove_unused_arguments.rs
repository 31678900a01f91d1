//! `remove_unused_arguments`: removes unused arguments.

use std::collections::BTreeSet;

use parloop_ir::syntax::{ArgumentKind, Expr, Layout, LoopKernel};
use parloop_isl::Name;

use super::layouts::in_layout;

/// Removes the arguments that no instruction, rule, domain, assumption, or shape of another used array names.
///
/// ```
/// use parloop_loop::{create::KernelBuilder, matching::Query, parse, transform::{remove_instructions, remove_unused_arguments}};
/// let kernel = KernelBuilder::new().domain("{[i]: 0<=i<n}").instructions("a[i] = 1 {id=one}\nb[i] = 2").build_kernel()?;
/// let kernel = remove_unused_arguments(&remove_instructions(&kernel, &parse::query("id:one")?));
/// assert_eq!(kernel.arguments.iter().map(|argument| argument.name.as_str()).collect::<Vec<_>>(), ["b", "n"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn remove_unused_arguments(kernel: &LoopKernel) -> LoopKernel {
    let mut used: BTreeSet<Name> = kernel.parameters();
    for instruction in &kernel.instructions {
        used.extend(instruction.reads());
        used.extend(instruction.writes());
    }
    used.extend(kernel.substitutions.values().flat_map(|rule| rule.body.variables()));
    kernel.temporaries.values().for_each(|temporary| names_in(&temporary.layout, &mut used));
    // Sizes that the shapes of used arrays name are used too.
    let mut with_sizes = used.clone();
    for argument in kernel.arguments.iter().filter(|argument| used.contains(&argument.name)) {
        if let ArgumentKind::Array { layout, .. } = &argument.kind {
            names_in(layout, &mut with_sizes);
        }
    }
    let arguments = kernel.arguments.iter().filter(|argument| with_sizes.contains(&argument.name)).cloned().collect();
    LoopKernel { arguments, ..kernel.clone() }
}

fn names_in(layout: &Layout, names: &mut BTreeSet<Name>) {
    let found = std::cell::RefCell::new(BTreeSet::new());
    in_layout(layout, &|expr: &Expr| {
        found.borrow_mut().extend(expr.variables());
        expr.clone()
    });
    names.extend(found.into_inner());
}
