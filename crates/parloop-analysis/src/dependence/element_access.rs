//! Accesses as relations: which elements an instance touches. Exact where indices and conditions are affine in inames and parameters;
//! elsewhere the relation is an over-approximation, marked as such.

use std::collections::{BTreeMap, BTreeSet};

use parloop_device::DType;
use parloop_ir::affine::to_affine;
use parloop_ir::layout::Axis;
use parloop_ir::program::Program;
use parloop_ir::syntax::{AddressSpace, ArgumentKind, BinaryOp, CompareOp, Expr, Instruction, InstructionKind, MemoryKind, UnaryOp};
use parloop_isl::{Affine, Constraint, Name};

use super::opaque::Opaque;
use super::overlap;
use crate::access::{Access, accesses, constraints_of};
use crate::facts::Facts;
use crate::infer;
use crate::wrap::{exact_where, may_wrap};

/// One access of an instruction.
#[derive(Clone, Debug)]
pub struct ElementAccess<'k> {
    /// The instruction.
    pub at: usize,
    /// As written.
    pub access: Access<'k>,
    /// The value of each index, `None` if it depends on the data; `None` for a whole variable.
    pub indices: Option<Vec<Option<Affine>>>,
    /// Whether the indices along strides are replaced by the position in memory: different ones may refer to the same memory.
    pub by_place: bool,
    /// The constraints under which it happens.
    pub constraints: Vec<Constraint>,
    /// Other conditions, which depend on data, or whose numbers may wrap around: `(condition, value)`.
    pub open: Vec<(&'k Expr, bool)>,
    /// All constraints at points where no number wraps around, if only these conditions are open and it is exact there.
    pub(super) unwrapped: Option<Vec<Constraint>>,
    /// The inames around it whose bounds the kernel computes.
    pub computed: BTreeSet<Name>,
    /// Whether it happens at all points of the instruction at which the constraints hold, and every index is known.
    pub is_exact: bool,
    /// The variable that shares memory with others, or is the object of a field.
    pub root: Name,
}

/// The accesses to what some instruction writes, by storage; fields of objects by `object.field`.
pub(super) fn collect<'k>(facts: &Facts<'k>, opaque: &Opaque) -> BTreeMap<Name, Vec<ElementAccess<'k>>> {
    let written: BTreeSet<Name> = facts.writers.keys().map(|name| storage(facts, name)).collect();
    let mut found: BTreeMap<Name, Vec<ElementAccess<'k>>> = BTreeMap::new();
    let mut shared: BTreeMap<Name, Option<Vec<Axis>>> = BTreeMap::new();
    for (at, instruction) in facts.kernel.instructions.iter().enumerate() {
        for mut access in accesses(facts.kernel, instruction) {
            if access.update.is_some() && rounds(facts, instruction) {
                access.update = None;
            }
            let root = root(&access.name);
            let storage = storage(facts, &root);
            if !written.contains(&storage) {
                continue;
            }
            let key = if root == access.name { storage } else { access.name.clone() };
            let axes = shared.entry(access.name.clone()).or_insert_with(|| overlap::shared_axes(facts, &access.name));
            let touch = ElementAccess::of(facts, opaque, at, access, root);
            found.entry(key).or_default().push(match axes {
                Some(axes) => touch.by_place(axes),
                None => touch,
            });
        }
    }
    for (at, instruction) in facts.kernel.instructions.iter().enumerate() {
        // A loop reads its bounds.
        let bounds: BTreeSet<&Name> = instruction.within_inames.iter().flat_map(|iname| facts.bound_names(iname)).collect();
        for name in bounds.into_iter().filter(|name| facts.kernel.temporaries.contains_key(*name)) {
            let access = Access {
                name: name.clone(),
                indices: Some(&[]),
                component: None,
                swept: &[],
                write: false,
                atomic: false,
                update: None,
                conditions: Vec::new(),
                expr: None,
            };
            found.entry(storage(facts, name)).or_default().push(ElementAccess::of(facts, opaque, at, access, name.clone()));
        }
    }
    found.retain(|_, touches| touches.iter().any(|touch| touch.access.write));
    found
}

impl<'k> ElementAccess<'k> {
    fn of(facts: &Facts<'k>, opaque: &Opaque, at: usize, access: Access<'k>, root: Name) -> ElementAccess<'k> {
        let is_known = |affine: &Affine| affine.names().iter().all(|name| facts.is_integer(name));
        let indices: Option<Vec<Option<Affine>>> =
            access.indices.map(|indices| indices.iter().map(|index| opaque.affine(index).filter(is_known)).collect());
        let mut constraints = Vec::new();
        let mut open = Vec::new();
        let mut unwrapped = Some(Vec::new());
        for &(condition, value) in &access.conditions {
            let named = opaque.named(condition);
            let (is_affine, may_wrap) = (is_affine(facts, &named, value), wraps(facts, at, access.swept, &named));
            if !may_wrap {
                constraints_of(&named, value, &mut constraints);
            }
            if may_wrap || !is_affine {
                open.push(without_not(condition, value));
            }
            unwrapped = unwrapped.filter(|_| is_affine).zip(exact_where(facts, &named).ok()).map(|(mut known, exact)| {
                constraints_of(&named, value, &mut known);
                known.extend(exact);
                known
            });
        }
        let is_known_element = indices.as_ref().is_some_and(|indices| indices.iter().all(Option::is_some));
        constraints.retain(|constraint| is_known(&constraint.affine));
        let is_computed = |iname: &&Name| facts.bound_names(iname).iter().any(|name| facts.kernel.temporaries.contains_key(name));
        let computed: BTreeSet<Name> = facts.kernel.instructions[at].within_inames.iter().filter(is_computed).cloned().collect();
        let is_exact = open.is_empty() && is_known_element && computed.is_empty();
        let unwrapped = unwrapped.filter(|_| !open.is_empty() && is_known_element && computed.is_empty());
        ElementAccess { at, access, indices, by_place: false, constraints, open, unwrapped, computed, is_exact, root }
    }

    /// The access where no number in its conditions wraps around, if it is exact there.
    pub(super) fn where_nothing_wraps(&self) -> Option<ElementAccess<'k>> {
        if self.is_exact {
            return Some(self.clone());
        }
        let constraints = self.unwrapped.clone()?;
        Some(ElementAccess { constraints, open: Vec::new(), unwrapped: None, is_exact: true, ..self.clone() })
    }

    /// Uses the position in memory as an index.
    fn by_place(self, axes: &[Axis]) -> ElementAccess<'k> {
        let Some(indices) = self.indices.filter(|indices| indices.len() == axes.len()) else {
            return ElementAccess { indices: None, unwrapped: None, ..self };
        };
        let mut place = Some(Affine::constant(0));
        let mut others = Vec::new();
        for (axis, index) in axes.iter().zip(indices) {
            match axis {
                Axis::Stride(stride) => {
                    let stride = to_affine(stride).and_then(|stride| stride.as_constant());
                    let step = index.zip(stride).and_then(|(index, stride)| index.scale(stride).ok());
                    place = place.zip(step).and_then(|(place, step)| place.add(&step).ok());
                }
                Axis::Separate | Axis::Vector => others.push(index),
            }
        }
        let is_exact = self.is_exact && place.is_some();
        let unwrapped = self.unwrapped.filter(|_| place.is_some());
        others.push(place);
        ElementAccess { indices: Some(others), by_place: true, is_exact, unwrapped, ..self }
    }

    /// The inames over whose points it happens: those around the instruction, and those that reductions and calls sweep.
    pub(super) fn inames(&self, facts: &Facts<'k>) -> BTreeSet<Name> {
        let mut inames = facts.kernel.instructions[self.at].within_inames.clone();
        inames.extend(self.access.swept.iter().cloned());
        let names = self.indices.iter().flatten().flatten().flat_map(Affine::names);
        let conditions = self.constraints.iter().flat_map(|constraint| constraint.affine.names());
        inames.extend(names.chain(conditions).filter(|name| facts.kernel.inames.contains_key(name)));
        inames
    }

    /// The indices, if all of them are known.
    pub(super) fn known_indices(&self) -> Option<Vec<&Affine>> {
        self.indices.as_ref()?.iter().map(Option::as_ref).collect()
    }
}

/// Whether an update truncates to an integer, so that the previous value matters: `x = x + 0.5` with an integer `x`.
fn rounds(facts: &Facts<'_>, instruction: &Instruction) -> bool {
    let InstructionKind::Assign(assignment) = &instruction.kind else { return false };
    let is_integer = |dtype: DType| dtype.is_integer() || dtype == DType::Bool;
    let nothing = Program::empty();
    let type_of = |expr: &Expr| infer::type_of(facts.program.unwrap_or(&nothing), facts.kernel, expr).ok()?.scalar();
    type_of(&assignment.lhs).is_some_and(is_integer) && !type_of(&assignment.rhs).is_some_and(is_integer)
}

/// Whether what a condition in an instruction computes may wrap around, so that it has another value than its constraints.
fn wraps(facts: &Facts<'_>, at: usize, swept: &[Name], condition: &Expr) -> bool {
    let domain = facts.domain(facts.kernel.instructions[at].within_inames.iter().chain(swept));
    domain.and_then(|domain| may_wrap(facts, condition, &domain)).unwrap_or(true)
}

/// Whether the constraints express a condition exactly.
fn is_affine(facts: &Facts<'_>, condition: &Expr, value: bool) -> bool {
    let is_known = |expr: &Expr| to_affine(expr).is_some_and(|affine| affine.names().iter().all(|name| facts.is_integer(name)));
    match (condition, value) {
        (Expr::Unary(UnaryOp::Not, operand), _) => is_affine(facts, operand, !value),
        (Expr::Binary(BinaryOp::And, left, right), true) | (Expr::Binary(BinaryOp::Or, left, right), false) => {
            is_affine(facts, left, value) && is_affine(facts, right, value)
        }
        (Expr::Compare(op, left, right), _) => {
            let is_gap = matches!((op, value), (CompareOp::NotEqual, true) | (CompareOp::Equal, false));
            !is_gap && is_known(left) && is_known(right)
        }
        _ => false,
    }
}

fn without_not(condition: &Expr, value: bool) -> (&Expr, bool) {
    match condition {
        Expr::Unary(UnaryOp::Not, operand) => without_not(operand, !value),
        _ => (condition, value),
    }
}

/// The variable that a field belongs to.
fn root(name: &Name) -> Name {
    name.split_once('.').map_or_else(|| name.clone(), |(root, _)| root.into())
}

/// The name of the memory that the variable shares with others.
pub(super) fn storage(facts: &Facts<'_>, name: &Name) -> Name {
    let base = facts.kernel.temporaries.get(name).and_then(|temporary| temporary.base_storage.clone());
    base.unwrap_or_else(|| name.clone())
}

/// The address space of a variable.
pub(super) fn space(facts: &Facts<'_>, name: &Name) -> AddressSpace {
    match facts.kernel.temporaries.get(name) {
        Some(temporary) => temporary.space.unwrap_or(AddressSpace::Private),
        None => match facts.arguments.get(name).map(|argument| &argument.kind) {
            Some(ArgumentKind::Array { space, .. }) => *space,
            Some(ArgumentKind::Value) | None => AddressSpace::Private,
            Some(ArgumentKind::Object | ArgumentKind::Image(_)) => AddressSpace::Global,
        },
    }
}

/// The memory of a variable, if work items share it.
pub(super) fn shared_memory(facts: &Facts<'_>, name: &Name) -> Option<MemoryKind> {
    match space(facts, name) {
        AddressSpace::Local => Some(MemoryKind::Local),
        AddressSpace::Global => Some(MemoryKind::Global),
        AddressSpace::Private | AddressSpace::Constant => None,
    }
}
