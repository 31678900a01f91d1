//! The callables that need code: those that entry points call, directly or indirectly.

use std::collections::{BTreeMap, BTreeSet};

use parloop_isl::Name;

use crate::callable::RecursiveCall;
use crate::program::Program;
use crate::syntax::{Expr, LoopKernel};

/// All expressions of a kernel that may contain calls: those of instructions and the bodies of substitution rules.
pub fn kernel_exprs(kernel: &LoopKernel) -> impl Iterator<Item = &Expr> {
    let instructions = kernel.instructions.iter().flat_map(|instruction| instruction.exprs());
    instructions.chain(kernel.substitutions.values().map(|rule| &rule.body))
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

/// The entries that the entry points reach, including themselves: each after everything it calls.
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
    /// Whether everything it calls has been visited.
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
