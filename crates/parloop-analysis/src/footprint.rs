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
    /// The indices; none for a linear index.
    pub indices: Option<&'a [Expr]>,
    /// The inames in which it happens.
    pub inames: BTreeSet<Name>,
    /// The affine constraints under which it happens.
    pub conditions: Vec<Constraint>,
}

/// The accesses of an instruction to those arrays.
pub fn accesses<'a>(instruction: &'a Instruction, arrays: &BTreeSet<Name>, found: &mut BTreeMap<Name, Vec<Access<'a>>>) {
    let mut conditions = Vec::new();
    for predicate in &instruction.predicates {
        add_conditions(predicate, true, &mut conditions);
    }
    let mut walk = Walk { instruction: &instruction.id, arrays, found, inames: instruction.within_inames.clone(), conditions: Vec::new() };
    // A predicate is evaluated unconditionally.
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

/// Adds the affine constraints under which a condition is true (or false).
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

/// Computes the largest index; the solver is only used where ranges depend on each other.
pub struct Ranges<'a> {
    kernel: &'a LoopKernel,
    home: HashMap<&'a Name, usize>,
    /// Names that have one value in the whole kernel: parameters and numbers that are passed.
    constants: BTreeSet<Name>,
}

impl<'a> Ranges<'a> {
    /// For a kernel; `constants` have one value throughout.
    pub fn of(kernel: &'a LoopKernel, constants: BTreeSet<Name>) -> Ranges<'a> {
        let home =
            kernel.domains.iter().enumerate().flat_map(|(index, domain)| domain.dims().iter().map(move |dim| (dim, index))).collect();
        Ranges { kernel, home, constants }
    }

    /// An index as an affine expression of the given inames and constants, if possible.
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
    /// Conditions keep a guarded access (`a[i+1] if i < n-1`) within what other accesses reach. If every access is guarded, conditions are
    /// ignored: an array that is used where `i % 2 == 0` is as long as the loop, not as its last even number.
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

    /// The largest value if each iname has one constant bound on the relevant side: that bound holds whatever else bounds it.
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

/// The largest of these, if they differ only by constants.
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
