//! Accesses to arrays, and the largest index over the points at which they are made.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parloop_ir::affine::to_affine;
use parloop_ir::syntax::{BinaryOp, CompareOp, Expr, Instruction, LoopKernel, UnaryOp};
use parloop_isl::{Affine, Atom, Constraint, ConstraintKind, IslError, Name, Set};

/// One access to an array.
pub struct Access<'a> {
    /// The instruction that makes it.
    pub instruction: &'a Name,
    /// The whole of it.
    pub expr: &'a Expr,
    /// The indices; none for one by place in memory.
    pub indices: Option<&'a [Expr]>,
    /// The inames at each point of which it is made.
    pub inames: BTreeSet<Name>,
    /// What holds where it is made, as far as it is affine.
    pub conditions: Vec<Constraint>,
}

/// The accesses of an instruction to those arrays.
pub fn accesses<'a>(instruction: &'a Instruction, arrays: &BTreeSet<Name>, found: &mut BTreeMap<Name, Vec<Access<'a>>>) {
    let mut conditions = Vec::new();
    for predicate in &instruction.predicates {
        add_conditions(predicate, true, &mut conditions);
    }
    let mut walk = Walk { instruction: &instruction.id, arrays, found, inames: instruction.within_inames.clone(), conditions: Vec::new() };
    // A predicate is looked at before it holds.
    instruction.predicates.iter().for_each(|predicate| walk.visit(predicate));
    walk.conditions = conditions;
    let sides = instruction.exprs();
    sides[..sides.len() - instruction.predicates.len()].iter().for_each(|expr| walk.visit(expr));
}

struct Walk<'a, 'b> {
    instruction: &'a Name,
    arrays: &'b BTreeSet<Name>,
    found: &'b mut BTreeMap<Name, Vec<Access<'a>>>,
    inames: BTreeSet<Name>,
    conditions: Vec<Constraint>,
}

impl<'a> Walk<'a, '_> {
    fn visit(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Subscript(array, indices) => {
                self.note(array.written_name().filter(|_| matches!(**array, Expr::Variable(_))), expr, Some(indices))
            }
            Expr::LinearSubscript(array, _) => self.note(array.written_name(), expr, None),
            Expr::SubArray(part) => {
                return self.within(&part.inames, &mut |walk| {
                    walk.note(Some(&part.array), expr, Some(&part.indices));
                    part.indices.iter().for_each(|index| walk.visit(index));
                });
            }
            Expr::Reduction(reduction) => {
                return self.within(&reduction.inames, &mut |walk| reduction.operands.iter().for_each(|operand| walk.visit(operand)));
            }
            Expr::If(parts) => return self.choice(parts),
            _ => {}
        }
        expr.children().into_iter().for_each(|child| self.visit(child));
    }

    fn note(&mut self, array: Option<&Name>, expr: &'a Expr, indices: Option<&'a [Expr]>) {
        if let Some(array) = array.filter(|array| self.arrays.contains(*array)) {
            let access =
                Access { instruction: self.instruction, expr, indices, inames: self.inames.clone(), conditions: self.conditions.clone() };
            self.found.entry(array.clone()).or_default().push(access);
        }
    }

    fn within(&mut self, inames: &[Name], inside: &mut dyn FnMut(&mut Self)) {
        let added: Vec<Name> = inames.iter().filter(|iname| self.inames.insert((*iname).clone())).cloned().collect();
        inside(self);
        self.inames.retain(|iname| !added.contains(iname));
    }

    fn choice(&mut self, parts: &'a [Expr; 3]) {
        self.visit(&parts[0]);
        for (holds, part) in [(true, &parts[1]), (false, &parts[2])] {
            let before = self.conditions.len();
            add_conditions(&parts[0], holds, &mut self.conditions);
            self.visit(part);
            self.conditions.truncate(before);
        }
    }
}

/// Adds what holds where a condition does (or does not), as far as it is affine.
fn add_conditions(condition: &Expr, holds: bool, found: &mut Vec<Constraint>) {
    match condition {
        Expr::Binary(BinaryOp::And, left, right) if holds => {
            add_conditions(left, true, found);
            add_conditions(right, true, found);
        }
        Expr::Binary(BinaryOp::Or, left, right) if !holds => {
            add_conditions(left, false, found);
            add_conditions(right, false, found);
        }
        Expr::Unary(UnaryOp::Not, inner) => add_conditions(inner, !holds, found),
        Expr::Compare(op, left, right) => found.extend(compared(*op, left, right, holds)),
        _ => {}
    }
}

fn compared(op: CompareOp, left: &Expr, right: &Expr, holds: bool) -> Option<Constraint> {
    let (left, right) = (to_affine(left)?, to_affine(right)?);
    // What is at least zero, and whether zero itself is excluded.
    let (difference, strict) = match (op, holds) {
        (CompareOp::Equal, true) | (CompareOp::NotEqual, false) => return Some(Constraint::zero(left.sub(&right).ok()?)),
        (CompareOp::Equal, false) | (CompareOp::NotEqual, true) => return None,
        (CompareOp::Less, true) | (CompareOp::GreaterEqual, false) => (right.sub(&left).ok()?, true),
        (CompareOp::LessEqual, true) | (CompareOp::Greater, false) => (right.sub(&left).ok()?, false),
        (CompareOp::Greater, true) | (CompareOp::LessEqual, false) => (left.sub(&right).ok()?, true),
        (CompareOp::GreaterEqual, true) | (CompareOp::Less, false) => (left.sub(&right).ok()?, false),
    };
    Some(Constraint::not_negative(if strict { difference.sub(&Affine::constant(1)).ok()? } else { difference }))
}

/// Answers what the largest index is; the solver is only asked where ranges depend on each other.
pub struct Ranges<'a> {
    kernel: &'a LoopKernel,
    home: HashMap<&'a Name, usize>,
    /// Names that have one value in the whole kernel: parameters and numbers that are passed.
    constants: BTreeSet<Name>,
}

impl<'a> Ranges<'a> {
    /// Of that kernel; `constants` have one value in all of it.
    pub fn of(kernel: &'a LoopKernel, constants: BTreeSet<Name>) -> Ranges<'a> {
        let home =
            kernel.domains.iter().enumerate().flat_map(|(index, domain)| domain.dims().iter().map(move |dim| (dim, index))).collect();
        Ranges { kernel, home, constants }
    }

    /// An index as an affine expression of the inames at hand and of constants, if it is one.
    pub fn index(&self, index: &Expr, inames: &BTreeSet<Name>) -> Option<Affine> {
        let affine = to_affine(index)?;
        affine.names().iter().all(|name| inames.contains(name) || self.constants.contains(name)).then_some(affine)
    }

    /// Whether an expression has one value in the whole kernel.
    pub fn is_constant(&self, affine: &Affine) -> bool {
        affine.names().iter().all(|name| self.constants.contains(name))
    }

    /// The largest value of any of these indices at their accesses, as one expression of constants; `None` if it depends on more.
    ///
    /// Conditions keep a guarded access (`a[i+1] if i < n-1`) inside of what other accesses reach. Where every access is guarded they
    /// are not looked at: an array that is used where `i % 2 == 0` is as long as the loop, not as its last even number.
    pub fn largest(&self, indices: &[(&Access<'_>, Affine)]) -> Result<Option<Affine>, IslError> {
        let guards_count = indices.iter().any(|(access, _)| access.conditions.is_empty());
        let plain = indices.iter().map(|(access, index)| {
            let guards = if guards_count { access.conditions.as_slice() } else { &[] };
            self.plain_largest(access, guards, index)
        });
        let plain = plain.collect::<Option<Vec<Affine>>>();
        let largest = match plain.and_then(|values| largest_of(&values)) {
            Some(largest) => largest,
            None => self.solved_largest(indices, guards_count)?,
        };
        Ok(self.is_constant(&largest).then_some(largest))
    }

    /// The largest value where each iname has one limit of constants on the side that matters: that one holds whatever else bounds it.
    fn plain_largest(&self, access: &Access<'_>, guards: &[Constraint], index: &Affine) -> Option<Affine> {
        let domains = self.domains_of(&access.inames);
        let mut largest = Affine::constant(index.constant_term());
        for (atom, coefficient) in index.terms() {
            let value = match atom {
                Atom::Name(name) if self.constants.contains(name) => Affine::name(name),
                Atom::Name(name) if guards.iter().all(|guard| !guard.affine.mentions(name)) => {
                    self.plain_limit(name, coefficient > 0, &domains)?
                }
                _ => return None,
            };
            largest = largest.add(&value.scale(coefficient).ok()?).ok()?;
        }
        Some(largest)
    }

    fn plain_limit(&self, iname: &Name, upper: bool, domains: &BTreeSet<usize>) -> Option<Affine> {
        let mut found = None;
        for domain in domains.iter().map(|&index| &self.kernel.domains[index]).filter(|domain| domain.has_dim(iname)) {
            let [piece] = domain.pieces() else { return None };
            for constraint in piece.iter().filter(|constraint| constraint.affine.mentions(iname)) {
                let coefficient = constraint.affine.coefficient(iname);
                if constraint.kind != ConstraintKind::NotNegative || !matches!(coefficient, 1 | -1) {
                    return None;
                }
                let rest = constraint.affine.sub(&Affine::name(iname).scale(coefficient).ok()?).ok()?;
                let limit = rest.scale(-coefficient).ok()?;
                if (coefficient < 0) == upper && self.is_constant(&limit) && found.replace(limit).is_some() {
                    return None;
                }
            }
        }
        found
    }

    /// The domains of these inames and of those that bound them.
    fn domains_of(&self, inames: &BTreeSet<Name>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open: Vec<usize> = inames.iter().filter_map(|iname| self.home.get(iname).copied()).collect();
        while let Some(index) = open.pop() {
            if found.insert(index) {
                open.extend(self.kernel.domains[index].params().iter().filter_map(|param| self.home.get(param).copied()));
            }
        }
        found
    }

    fn solved_largest(&self, indices: &[(&Access<'_>, Affine)], guards_count: bool) -> Result<Affine, IslError> {
        let axis = Name::from("_index");
        let mut all: Option<Set> = None;
        for (access, index) in indices {
            let mut points = Set::universe(&[], &[]);
            for domain in self.domains_of(&access.inames) {
                points = points.join(&self.kernel.domains[domain])?;
            }
            let known = |name: &Name| access.inames.contains(name) || self.constants.contains(name);
            let guards = access.conditions.iter().filter(|guard| guards_count && guard.affine.names().iter().all(known));
            let guards: Vec<Constraint> = guards.cloned().collect();
            let values = points.constrain(&guards)?.image(&[(axis.clone(), index.clone())])?;
            all = Some(match all {
                Some(all) => all.union(&values)?,
                None => values,
            });
        }
        match all {
            Some(all) => all.static_max(&axis, &self.kernel.assumptions),
            None => Ok(Affine::constant(-1)),
        }
    }
}

/// The largest of these, where they differ by numbers alone.
fn largest_of(values: &[Affine]) -> Option<Affine> {
    let (first, rest) = values.split_first()?;
    let mut largest = first;
    for value in rest {
        if value.sub(largest).ok()?.as_constant()? > 0 {
            largest = value;
        }
    }
    Some(largest.clone())
}
