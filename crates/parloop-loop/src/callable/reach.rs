//! Which callables code is made for: those that entry points call, directly or through others.

use std::collections::{BTreeMap, BTreeSet};

use parloop_isl::Name;

use super::scope::kernel_exprs;
use crate::syntax::{Expr, LoopKernel, Program};

/// A kernel calls itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}` calls itself: {}", path.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" calls "))]
pub struct RecursiveCall {
    /// The kernel.
    pub kernel: Name,
    /// Through which kernels.
    pub path: Vec<Name>,
}

/// The names of resolved functions that a kernel calls.
pub fn called_by(kernel: &LoopKernel) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    for expr in kernel_exprs(kernel) {
        expr.visit(&mut |expr| {
            if let Expr::Call(call) = expr
                && call.resolved
            {
                found.insert(call.function.clone());
            }
        });
    }
    found
}

/// The entries that the entry points reach, themselves included: each behind all that it calls.
///
/// # Errors
/// [`RecursiveCall`].
pub fn reachable(program: &Program) -> Result<Vec<Name>, RecursiveCall> {
    let mut walk = Walk { program, state: BTreeMap::new(), path: Vec::new(), order: Vec::new() };
    for entry in &program.entrypoints {
        walk.visit(entry)?;
    }
    Ok(walk.order)
}

struct Walk<'a> {
    program: &'a Program,
    /// Whether all it calls has been seen.
    state: BTreeMap<Name, bool>,
    path: Vec<Name>,
    order: Vec<Name>,
}

impl Walk<'_> {
    fn visit(&mut self, name: &Name) -> Result<(), RecursiveCall> {
        match self.state.get(name) {
            Some(true) => return Ok(()),
            Some(false) => {
                let start = self.path.iter().position(|on_path| on_path == name).unwrap_or(0);
                let mut path = self.path[start..].to_vec();
                path.push(name.clone());
                return Err(RecursiveCall { kernel: name.clone(), path });
            }
            None => {}
        }
        let Some(callable) = self.program.callables.get(name) else { return Ok(()) };
        self.state.insert(name.clone(), false);
        self.path.push(name.clone());
        if let Some(kernel) = callable.kernel() {
            for called in called_by(kernel) {
                self.visit(&called)?;
            }
        }
        self.path.pop();
        self.state.insert(name.clone(), true);
        self.order.push(name.clone());
        Ok(())
    }
}
