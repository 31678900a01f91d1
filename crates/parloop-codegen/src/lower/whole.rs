//! Checks of indices that are the variable of a loop. A comparison in front of the loop covers all of its iterations, and compilers make
//! two loops of it: one without the check, and one with it for when the comparison fails.

use parloop_device::DType;
use parloop_ir::syntax::{CompareOp, Expr};
use parloop_isl::Name;

use super::number::{self, Typed};
use super::scope::{OpenLoop, Scope};
use super::tidy;
use super::tree::{For, Op, Statement, Value, ValueKind, constant};

impl Scope<'_> {
    pub(super) fn open_loop(&mut self, iname: &Name) {
        self.open_loops.push(OpenLoop { iname: iname.clone(), lengths: Vec::new() });
    }

    /// The check of an index, unless it was made for the whole loop.
    pub(super) fn unless_whole(&mut self, index: &Expr, length: &Value, check: Value) -> Value {
        let Expr::Variable(name) = index else { return check };
        if self.kernel.options.is_checked() || !tidy::is_harmless(length) {
            return check;
        }
        let Some(open) = self.open_loops.iter_mut().rev().find(|open| open.iname == *name) else { return check };
        let known = open.lengths.iter().find(|(known, _)| known == length).map(|(_, flag)| flag.clone());
        let flag = known.unwrap_or_else(|| {
            let flag = self.names.make(&format!("all_{name}"));
            open.lengths.push((length.clone(), flag.clone()));
            flag
        });
        number::binary(Op::Or, Value::name(DType::Bool, flag), check)
    }

    /// The loop that was opened last, with the comparisons that its checks use in front of it.
    pub(super) fn close_loop(&mut self, loop_: For) -> Vec<Statement> {
        let lengths = self.open_loops.pop().map(|open| open.lengths).unwrap_or_default();
        if loop_.body.is_empty() {
            return Vec::new();
        }
        let changed = tidy::written(&loop_.body);
        let is_fixed = |value: &Value| tidy::is_harmless(value) && !tidy::depends_on(value, &changed);
        let (first, limit) = (loop_.first.clone(), loop_.limit.clone());
        let mut statements = Vec::new();
        for (length, flag) in lengths {
            let is_comparable = is_fixed(&first) && is_fixed(&limit) && is_fixed(&length);
            let inside = is_comparable.then(|| {
                let not_negative = number::compare(CompareOp::GreaterEqual, first.clone(), number::zero(&first.ty));
                // A limit below the first value, be it negative, is that of a loop without iterations.
                let (limit, length, _) = number::unify(Typed::strong(limit.clone()), Typed::strong(length));
                number::binary(Op::And, not_negative, number::compare(CompareOp::LessEqual, limit, length))
            });
            let inside = inside.unwrap_or_else(|| Value::new(DType::Bool, ValueKind::Bool(false)));
            statements.push(constant(&flag, &DType::Bool.into(), inside));
        }
        let mut hoisted = tidy::hoist_conditions(loop_);
        if statements.is_empty() {
            return hoisted;
        }
        // Limits may be variables that only those work items set for which the conditions hold.
        let inside = match hoisted.as_mut_slice() {
            [Statement::If(_, body, _)] => body,
            _ => &mut hoisted,
        };
        statements.append(inside);
        inside.push(Statement::Block(statements));
        hoisted
    }
}
