//! Tidies the tree: merges equal conditions, hoists conditions out of loops that they do not depend on, and declares variables where they
//! get their value.

use std::collections::{BTreeSet, HashMap};

use parloop_ir::syntax::AddressSpace;
use parloop_isl::Name;

use super::number;
use super::tree::{AtomicChange, Declaration, For, Op, Routine, Statement, Value, ValueKind, mentions};

/// The statements, where all of the conditions hold.
pub(super) fn guarded(conditions: Vec<Value>, statements: Vec<Statement>) -> Vec<Statement> {
    match number::join(Op::And, conditions) {
        None => statements,
        Some(condition) => vec![Statement::If(condition, statements, Vec::new())],
    }
}

/// Merges equal conditions of neighbours.
pub(super) fn merge_conditions(statements: Vec<Statement>) -> Vec<Statement> {
    let mut merged: Vec<Statement> = Vec::with_capacity(statements.len());
    for statement in statements {
        let (Some(Statement::If(before, first, none)), Statement::If(condition, second, no)) = (merged.last(), &statement) else {
            merged.push(statement);
            continue;
        };
        let (before_all, all) = (conjuncts(before), conjuncts(condition));
        let changed = written(first);
        // A part that may only be asked where those in front of it hold stays behind them.
        let same = before_all.iter().zip(&all).take_while(|(one, other)| one == other && !depends_on(one, &changed)).count();
        let is_shared = |(place, part): &(usize, &Value)| {
            *place < same || is_harmless(part) && before_all.contains(part) && !depends_on(part, &changed)
        };
        let shared: Vec<Value> = all.iter().copied().enumerate().filter(is_shared).map(|(_, part)| part.clone()).collect();
        if shared.is_empty() || !none.is_empty() || !no.is_empty() {
            merged.push(statement);
            continue;
        }
        let rest = |parts: &[&Value], body: &[Statement]| match number::join(
            Op::And,
            parts.iter().filter(|part| !shared.contains(part)).map(|part| (*part).clone()),
        ) {
            None => body.to_vec(),
            Some(condition) => vec![Statement::If(condition, body.to_vec(), Vec::new())],
        };
        let mut body = rest(&before_all, first);
        body.extend(rest(&all, second));
        let condition = number::join(Op::And, shared.clone());
        merged.pop();
        match condition {
            Some(condition) => merged.push(Statement::If(condition, merge_conditions(body), Vec::new())),
            None => merged.extend(body),
        }
    }
    merged
}

/// The loop, inside those of its conditions that do not change in it.
pub(super) fn hoist_conditions(mut loop_: For) -> Vec<Statement> {
    let [Statement::If(condition, body, no)] = loop_.body.as_slice() else { return vec![Statement::For(loop_)] };
    if !no.is_empty() {
        return vec![Statement::For(loop_)];
    }
    let mut changed = written(body);
    changed.insert(loop_.name.clone());
    let parts = conjuncts(condition);
    // A condition that reads memory is evaluated where the loop would evaluate it: not if it has no iterations, nor before preceding
    // conditions.
    let is_run = matches!((loop_.first.as_int(), loop_.limit.as_int()), (Some(first), Some(limit)) if first < limit || loop_.inclusive && first == limit);
    let certain = if is_run { parts.iter().take_while(|part| !depends_on(part, &changed)).count() } else { 0 };
    let is_fixed = |place: usize, part: &Value| place < certain || is_harmless(part) && !depends_on(part, &changed);
    let (mut fixed, mut varying) = (Vec::new(), Vec::new());
    for (place, part) in parts.into_iter().enumerate() {
        if is_fixed(place, part) { fixed.push(part.clone()) } else { varying.push(part.clone()) }
    }
    let body = body.clone();
    loop_.body = match number::join(Op::And, varying) {
        None => body,
        Some(condition) => vec![Statement::If(condition, body, Vec::new())],
    };
    match number::join(Op::And, fixed) {
        None => vec![Statement::For(loop_)],
        Some(condition) => vec![Statement::If(condition, vec![Statement::For(loop_)], Vec::new())],
    }
}

/// The conditions that must all hold.
fn conjuncts(condition: &Value) -> Vec<&Value> {
    match &condition.kind {
        ValueKind::Binary(Op::And, left, right) => {
            let mut all = conjuncts(left);
            all.extend(conjuncts(right));
            all
        }
        _ => vec![condition],
    }
}

/// Whether a condition may be asked where it would not have been: it reads no memory, calls nothing, and does not divide by what may be zero.
pub(super) fn is_harmless(value: &Value) -> bool {
    let divides = match &value.kind {
        ValueKind::Binary(Op::Divide | Op::Remainder, _, divisor) => Some(&**divisor),
        ValueKind::Routine(Routine::FloorDivide | Routine::Modulo, args) => args.get(1),
        _ => None,
    };
    let is_whole = value.ty.scalar().is_some_and(|dtype| dtype.is_integer());
    let itself = match &value.kind {
        ValueKind::Int(_) | ValueKind::Float(_) | ValueKind::Complex(..) | ValueKind::Bool(_) => true,
        ValueKind::Name(_) | ValueKind::Axis(_) => true,
        ValueKind::Unary(..) | ValueKind::Binary(..) | ValueKind::Compare(..) | ValueKind::Choose(_) => true,
        ValueKind::Cast(_) | ValueKind::Member(..) | ValueKind::Part { .. } | ValueKind::Vector(_) => true,
        ValueKind::Routine(routine, _) => *routine != Routine::Power,
        ValueKind::Element(..) | ValueKind::Pointer(..) | ValueKind::Address(_) => false,
        ValueKind::Call(..) | ValueKind::Check { .. } | ValueKind::Divisor { .. } => false,
        ValueKind::ShadowAccess(_) | ValueKind::Text(_) => false,
    };
    itself
        && divides.is_none_or(|divisor| !is_whole || divisor.as_int().is_some_and(|divisor| divisor > 0))
        && value.children().into_iter().all(is_harmless)
}

/// How many reads are inside one another; 0 for what may be asked anywhere.
pub(super) fn read_depth(value: &Value) -> usize {
    let inside = value.children().into_iter().map(read_depth).max().unwrap_or(0);
    let reads = matches!(value.kind, ValueKind::Element(..) | ValueKind::Call(..) | ValueKind::Text(_));
    if reads { inside + 1 } else { inside.max(usize::from(!is_harmless(value))) }
}

pub(super) fn depends_on(value: &Value, changed: &BTreeSet<Name>) -> bool {
    let mut found = matches!(value.kind, ValueKind::Call(..) | ValueKind::ShadowAccess(_));
    value.visit_names(&mut |name| found |= changed.contains(name));
    found || value.children().into_iter().any(|child| depends_on(child, changed))
}

/// The names that statements may change.
pub(super) fn written(statements: &[Statement]) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    statements.iter().for_each(|statement| collect_written(statement, &mut found));
    found
}

fn collect_written(statement: &Statement, found: &mut BTreeSet<Name>) {
    match statement {
        Statement::Declare(Declaration { name, .. }) | Statement::Alias { name, .. } => drop(found.insert(name.clone())),
        Statement::Assign(place, value) => {
            root(place, found);
            called(value, found);
        }
        Statement::AtomicUpdate { place, change, .. } => {
            root(place, found);
            let (AtomicChange::Add(value) | AtomicChange::Compute { result: value, .. }) = change;
            called(value, found);
        }
        Statement::Call(value) => called(value, found),
        Statement::For(loop_) => {
            found.insert(loop_.name.clone());
            loop_.body.iter().for_each(|inner| collect_written(inner, found));
        }
        Statement::If(_, yes, no) => yes.iter().chain(no).for_each(|inner| collect_written(inner, found)),
        Statement::Groups { body, .. } | Statement::Block(body) => body.iter().for_each(|inner| collect_written(inner, found)),
        // What C text changes is not known: all that it names.
        Statement::Text(_) => statement.visit_names(&mut |name| {
            found.insert(name.into());
        }),
        Statement::Launch { args, .. } => found.extend(args.iter().cloned()),
        Statement::Barrier(_) | Statement::Comment(_) => {}
    }
}

fn root(place: &Value, found: &mut BTreeSet<Name>) {
    match &place.kind {
        ValueKind::Name(name) | ValueKind::Element(name, _) => drop(found.insert(name.clone())),
        ValueKind::Member(inner, _) => root(inner, found),
        ValueKind::Part { whole, .. } => root(whole, found),
        _ => place.visit_names(&mut |name| {
            found.insert(name.into());
        }),
    }
}

/// What functions may change through pointers.
fn called(value: &Value, found: &mut BTreeSet<Name>) {
    match &value.kind {
        ValueKind::Pointer(name, _) => drop(found.insert(name.clone())),
        ValueKind::Address(inner) => root(inner, found),
        _ => {}
    }
    value.children().into_iter().for_each(|child| called(child, found));
}

/// Declares each variable that is used where it gets its first value, if it is a private number and no turn of a loop sees the value of
/// the turn before; else in front of the statements.
pub(super) fn declare(statements: &mut Vec<Statement>, declarations: Vec<Declaration>) {
    let mut users: HashMap<Name, Vec<usize>> = declarations.iter().map(|declaration| (declaration.name.clone(), Vec::new())).collect();
    for (index, statement) in statements.iter().enumerate() {
        statement.visit_names(&mut |name| {
            if let Some(found) = users.get_mut(name).filter(|found| found.last() != Some(&index)) {
                found.push(index);
            }
        });
    }
    let mut front = Vec::new();
    let mut behind: Vec<(usize, Statement)> = Vec::new();
    for declaration in declarations {
        let Some(users) = users.get(&declaration.name).filter(|users| !users.is_empty()) else { continue };
        let is_number = declaration.lengths.is_empty() && declaration.space == AddressSpace::Private;
        if !(is_number && declare_among(statements, users, &declaration, &mut behind)) {
            front.push(Statement::Declare(declaration));
        }
    }
    insert_behind(statements, behind);
    statements.splice(0..0, front);
}

fn insert_behind(statements: &mut Vec<Statement>, mut behind: Vec<(usize, Statement)>) {
    behind.sort_by_key(|(index, _)| std::cmp::Reverse(*index));
    for (index, statement) in behind {
        statements.insert(index + 1, statement);
    }
}

fn declare_inside(statements: &mut Vec<Statement>, declaration: &Declaration) -> bool {
    let users: Vec<usize> = (0..statements.len()).filter(|&index| mentions(&statements[index], &declaration.name)).collect();
    let mut behind = Vec::new();
    let is_placed = declare_among(statements, &users, declaration, &mut behind);
    insert_behind(statements, behind);
    is_placed
}

/// Declares a number in one of the statements, of which `users` use it; what must stand behind one of them goes to `behind`.
fn declare_among(statements: &mut [Statement], users: &[usize], declaration: &Declaration, behind: &mut Vec<(usize, Statement)>) -> bool {
    let name = &declaration.name;
    let Some(&first) = users.first() else { return false };
    if let Statement::Assign(place, value) = &statements[first]
        && place.kind == ValueKind::Name(name.clone())
        && !value.mentions(name)
    {
        let constant = !users[1..].iter().any(|&index| written(std::slice::from_ref(&statements[index])).contains(name));
        let value = Some(value.clone());
        statements[first] = Statement::Declare(Declaration { constant, value, ..declaration.clone() });
        if users.len() == 1 {
            behind.push((first, Statement::Text(format!("(void){name};"))));
        }
        return true;
    }
    if users.len() > 1 {
        return false;
    }
    match &mut statements[first] {
        Statement::Block(body) | Statement::Groups { body, .. } => declare_inside(body, declaration),
        Statement::For(loop_) if !loop_.first.mentions(name) && !loop_.limit.mentions(name) => declare_inside(&mut loop_.body, declaration),
        Statement::If(condition, yes, no) if !condition.mentions(name) => {
            let in_no = no.iter().any(|inner| mentions(inner, name));
            let in_yes = yes.iter().any(|inner| mentions(inner, name));
            match (in_yes, in_no) {
                (true, false) => declare_inside(yes, declaration),
                (false, true) => declare_inside(no, declaration),
                _ => false,
            }
        }
        _ => false,
    }
}
