//! Instructions and substitution rules as text: one statement, with all options that are not the default.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use parloop_isl::Name;

use crate::syntax::{Atomicity, CInstruction, Expr, Instruction, InstructionKind, MemoryKind, SubstitutionRule, SyncScope, TemporaryType};

impl Display for SyncScope {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SyncScope::Local => "local",
            SyncScope::Global => "global",
            SyncScope::Any => "any",
        })
    }
}

impl Display for SubstitutionRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.parameters.is_empty() {
            write!(f, "({})", joined(self.parameters.iter(), ", "))?;
        }
        write!(f, " := {}", self.body)
    }
}

impl Display for InstructionKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            InstructionKind::Assign(assignment) => {
                declared(f, assignment.declares.as_ref())?;
                write!(f, "{} = {}", assignment.lhs, assignment.rhs)
            }
            InstructionKind::Call(call) => {
                for (position, lhs) in call.lhs.iter().enumerate() {
                    f.write_str(if position > 0 { ", " } else { "" })?;
                    declared(f, call.declares.get(position).and_then(Option::as_ref))?;
                    write!(f, "{lhs}")?;
                }
                f.write_str(if call.lhs.is_empty() { "" } else { " = " })?;
                write!(f, "{}", call.rhs)
            }
            InstructionKind::C(_) => f.write_str("... c"),
            InstructionKind::Barrier { scope: SyncScope::Local, .. } => f.write_str("... lbarrier"),
            InstructionKind::Barrier { .. } => f.write_str("... gbarrier"),
            InstructionKind::Nop => f.write_str("... nop"),
        }
    }
}

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {{{}}}", self.kind, options(self).join(", "))?;
        if let InstructionKind::C(code) = &self.kind {
            let text = code.code.text().replace('\\', "\\\\").replace('"', "\\\"");
            write!(f, " \"\"\"{text}\"\"\"")?;
        }
        Ok(())
    }
}

fn declared(f: &mut Formatter<'_>, ty: Option<&TemporaryType>) -> fmt::Result {
    match ty {
        Some(TemporaryType::Inferred) => f.write_str("<> "),
        Some(TemporaryType::Given(ty)) => write!(f, "<{ty}> "),
        None => Ok(()),
    }
}

pub(crate) fn joined<'a>(names: impl Iterator<Item = &'a Name>, separator: &str) -> String {
    let mut out = String::new();
    for name in names {
        if !out.is_empty() {
            out.push_str(separator);
        }
        out.push_str(name);
    }
    out
}

/// Each option as `name=value`.
fn options(instruction: &Instruction) -> Vec<String> {
    let mut out = vec![format!("id={}", instruction.id)];
    let names = |key: &str, names: &BTreeSet<Name>| (!names.is_empty()).then(|| format!("{key}={}", joined(names.iter(), ":")));
    match (instruction.depends_on_is_final, joined(instruction.depends_on.iter(), ":")) {
        (true, ids) => out.push(format!("dep=*{ids}")),
        (false, ids) if ids.is_empty() => {}
        (false, ids) => out.push(format!("dep={ids}")),
    }
    if !instruction.nosync.is_empty() {
        let entries: Vec<String> = instruction.nosync.iter().map(|(id, scope)| format!("{id}@{scope}")).collect();
        out.push(format!("nosync={}", entries.join(":")));
    }
    out.extend(names("groups", &instruction.groups));
    out.extend(names("conflicts", &instruction.conflicts));
    match (instruction.within_inames_is_final, joined(instruction.within_inames.iter(), ":")) {
        (true, inames) => out.push(format!("inames={inames}")),
        (false, inames) if inames.is_empty() => {}
        (false, inames) => out.push(format!("inames=+{inames}")),
    }
    if instruction.priority != 0 {
        out.push(format!("priority={}", instruction.priority));
    }
    if !instruction.predicates.is_empty() {
        out.push(format!("if={}", expressions(&mut instruction.predicates.iter())));
    }
    out.extend(names("tags", &instruction.tags));
    match &instruction.kind {
        InstructionKind::Assign(assignment) => match assignment.atomic {
            Some(Atomicity::Update) => out.push("atomic".to_owned()),
            Some(Atomicity::Init) => out.push("atomic=init".to_owned()),
            None => {}
        },
        InstructionKind::Barrier { scope: SyncScope::Local, memory: MemoryKind::Global } => out.push("mem_kind=global".to_owned()),
        InstructionKind::Barrier { scope: SyncScope::Global | SyncScope::Any, memory: MemoryKind::Local } => {
            out.push("mem_kind=local".to_owned())
        }
        InstructionKind::C(code) => c_options(code, &mut out),
        _ => {}
    }
    out
}

fn c_options(code: &CInstruction, out: &mut Vec<String>) {
    if !code.reads.is_empty() {
        out.push(format!("reads={}", joined(code.reads.iter(), ":")));
    }
    if !code.writes.is_empty() {
        out.push(format!("writes={}", expressions(&mut code.writes.iter())));
    }
    if !code.bindings.is_empty() {
        let entries: Vec<String> = code.bindings.iter().map(|(name, expr)| format!("{name}->{}", without_colon(expr))).collect();
        out.push(format!("bind={}", entries.join(":")));
    }
}

fn expressions(exprs: &mut dyn Iterator<Item = &Expr>) -> String {
    exprs.map(without_colon).collect::<Vec<_>>().join(":")
}

/// The expression, in parentheses where its colon would end it.
fn without_colon(expr: &Expr) -> String {
    if matches!(expr, Expr::SubArray(_)) { format!("({expr})") } else { expr.to_string() }
}
