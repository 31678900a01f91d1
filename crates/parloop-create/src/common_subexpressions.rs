//! `cse(e)`: a common subexpression becomes a temporary, assigned before the instruction.

use std::collections::BTreeMap;

use parloop_ir::matching::Glob;
use parloop_ir::names::UniqueNames;
use parloop_ir::parse::{Draft, Which, Within};
use parloop_ir::syntax::{Assignment, Expr, InstructionKind, Layout, Temporary};
use parloop_isl::Name;

use super::error::CreateError;
use super::making::{Datum, Making};

/// Replaces each `cse(e, "name")` of a right side by a temporary `cse_name`; equal ones in one instruction share it. Elsewhere `cse(e)`
/// is `e`.
pub(super) fn expand(making: &mut Making) -> Result<(), CreateError> {
    making.rules.iter_mut().for_each(|rule| rule.body = plain(&rule.body));
    let has_any = |draft: &Draft| right_side(&draft.kind).is_some_and(has_common);
    if !making.drafts.iter().any(has_any) {
        return Ok(());
    }
    let mut names = UniqueNames::of(used_names(making));
    for mut draft in std::mem::take(&mut making.drafts) {
        draft.predicates = draft.predicates.iter().map(plain).collect();
        if !has_any(&draft) {
            making.drafts.push(draft);
            continue;
        }
        if !draft.duplicate.is_empty() {
            return Err(CreateError::DuplicateWithCse { instruction: draft.id.unwrap_or_else(|| "insn".into()) });
        }
        let Some(rhs) = right_side(&draft.kind).cloned() else { continue };
        let mut extraction = Extraction { names: &mut names, seen: BTreeMap::new(), found: Vec::new() };
        let rhs = extraction.replace(&rhs, &[]);
        for (name, value, inames) in extraction.found {
            making.drafts.push(assignment(&draft, &name, value, inames));
            draft.depends_on.push(Which::Named(Glob::new(&name)));
            making.data.push(Datum::Temporary(scalar(name)));
        }
        match &mut draft.kind {
            InstructionKind::Assign(assignment) => assignment.rhs = rhs,
            InstructionKind::Call(call) => call.rhs = rhs,
            _ => {}
        }
        making.drafts.push(draft);
    }
    Ok(())
}

struct Extraction<'a> {
    names: &'a mut UniqueNames,
    /// What is computed already, with the inames of the reductions around it.
    seen: BTreeMap<(Expr, Vec<Name>), Name>,
    found: Vec<(Name, Expr, Vec<Name>)>,
}

impl Extraction<'_> {
    fn replace(&mut self, expr: &Expr, inames: &[Name]) -> Expr {
        match expr {
            Expr::CommonSubexpression(inner, prefix) => {
                let value = self.replace(inner, inames);
                if matches!(value, Expr::Variable(_) | Expr::Literal(_)) {
                    return value;
                }
                let key = (value, inames.to_vec());
                if let Some(name) = self.seen.get(&key) {
                    return Expr::var(name);
                }
                let name = self.names.make(&format!("cse_{}", prefix.as_deref().unwrap_or("expr")));
                self.found.push((name.clone(), key.0.clone(), inames.to_vec()));
                self.seen.insert(key, name.clone());
                Expr::var(name)
            }
            Expr::Reduction(reduction) => {
                let inside: Vec<Name> = inames.iter().chain(&reduction.inames).cloned().collect();
                expr.map_children(&mut |child| self.replace(child, &inside))
            }
            _ => expr.map_children(&mut |child| self.replace(child, inames)),
        }
    }
}

fn has_common(expr: &Expr) -> bool {
    expr.any(&mut |inner| matches!(inner, Expr::CommonSubexpression(..)))
}

fn plain(expr: &Expr) -> Expr {
    expr.rewrite(&mut |inner| match inner {
        Expr::CommonSubexpression(value, _) => Some(plain(value)),
        _ => None,
    })
}

fn right_side(kind: &InstructionKind) -> Option<&Expr> {
    match kind {
        InstructionKind::Assign(assignment) => Some(&assignment.rhs),
        InstructionKind::Call(call) => Some(&call.rhs),
        _ => None,
    }
}

/// The assignment is done where the instruction is, and for each point of the reductions around the subexpression.
fn assignment(draft: &Draft, name: &Name, value: Expr, inames: Vec<Name>) -> Draft {
    let within = match draft.within.clone() {
        Within::Final(mut within) => {
            within.extend(inames);
            Within::Final(within)
        }
        Within::Added(mut within) => {
            within.extend(inames);
            Within::Added(within)
        }
        Within::Auto if inames.is_empty() => Within::Auto,
        Within::Auto => Within::Added(inames.into_iter().collect()),
    };
    let kind = InstructionKind::Assign(Assignment { lhs: Expr::var(name), rhs: value, atomic: None, declares: None });
    Draft {
        id: Some(name.clone()),
        depends_on: draft.depends_on.clone(),
        within,
        predicates: draft.predicates.clone(),
        tags: draft.tags.clone(),
        ..Draft::bare(draft.span.clone(), kind)
    }
}

fn scalar(name: Name) -> Temporary {
    Temporary {
        name,
        ty: None,
        layout: Layout::scalar(),
        space: None,
        initializer: None,
        read_only: false,
        base_storage: None,
        tags: Default::default(),
    }
}

fn used_names(making: &Making) -> Vec<Name> {
    let mut used: Vec<Name> = making.kernel.inames.keys().cloned().collect();
    for draft in &making.drafts {
        used.extend(draft.id.clone());
        let probe = parloop_ir::syntax::Instruction {
            predicates: draft.predicates.clone(),
            ..parloop_ir::syntax::Instruction::bare("", draft.kind.clone())
        };
        used.extend(probe.reads());
        used.extend(probe.writes());
    }
    let rules: Vec<&Expr> = making.rules.iter().map(|rule| &rule.body).collect();
    used.extend(rules.into_iter().flat_map(Expr::variables));
    used
}
