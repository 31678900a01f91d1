//! `pack_and_unpack_args_for_call`: copies array parts that are passed to a call into temporaries of the callee's shape, and back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_ir::affine::{from_affine, to_affine};
use parloop_ir::callable::{InferError, extent, kernel_args};
use parloop_ir::fold;
use parloop_ir::names::UniqueNames;
use parloop_ir::program::Program;
use parloop_ir::syntax::{
    ArgumentKind, BinaryOp, Call, CallInstruction, Expr, Iname, Instruction, InstructionKind, Layout, LoopKernel, Origin, Shape, SubArray,
    Temporary, TimeStep,
};
use parloop_isl::{Affine, Constraint, IslError, Name, Set};

use super::precompute::domain_of;
use super::precompute::uses::affine_arguments;
use super::simplify_indices::simplified;

/// Why arguments cannot be packed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// Unknown kernel.
    #[error("the program has no kernel `{function}`, so its arguments cannot be packed; merge or register it first")]
    NoKernel {
        /// The name.
        function: Name,
    },
    /// Nobody calls it with parts of arrays.
    #[error("kernel `{kernel}` does not call `{function}` with parts of arrays")]
    NoCall {
        /// The caller.
        kernel: Name,
        /// The callee.
        function: Name,
    },
    /// The shape of an argument, or of a part, is not a constant.
    #[error("the shape of `{name}` is not a constant, so a temporary cannot have that shape; fix its parameters")]
    NotConstant {
        /// The argument or the array.
        name: Name,
    },
    /// The part has fewer or more elements than the argument.
    #[error("`{part}` has {found} elements, but argument `{argument}` of `{function}` has {expected}")]
    Elements {
        /// What is passed.
        part: String,
        /// How many elements it has.
        found: i64,
        /// The callee.
        function: Name,
        /// Its argument.
        argument: Name,
        /// How many elements that has.
        expected: i64,
    },
    /// What is known of a part is not enough.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// The solver failed.
    #[error(transparent)]
    Isl(#[from] IslError),
}

/// Passes temporaries of the declared shapes to every call of a kernel: array parts are copied into them before the call, element by
/// element in C order, and results are copied back after it. So a part may have other axes than the argument, if it has as many elements.
///
/// ```
/// use parloop_loop::create::KernelBuilder;
/// use parloop_loop::transform::{merge, pack_and_unpack_args_for_call};
/// let twice = KernelBuilder::new().name("twice").domain("{[k]: 0<=k<6}").instructions("y[k] = 2*x[k]").build_function()?;
/// let caller = KernelBuilder::new()
///     .domain("{[i, j]: 0<=i<3 and 0<=j<2}")
///     .instructions("[i, j]: b[i, j] = twice([i, j]: a[i, j])")
///     .build()?;
/// let name = caller.entry().unwrap().name.clone();
/// let packed = pack_and_unpack_args_for_call(&merge([&caller, &twice])?, &name, "twice")?;
/// let kernel = packed.kernel(&name).unwrap();
/// assert_eq!(kernel.instructions[0].kind.to_string(), "x_pack[2*i_pack + j_pack] = a[i_pack, j_pack]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`PackError`].
pub fn pack_and_unpack_args_for_call(program: &Program, caller: &str, function: &str) -> Result<Program, PackError> {
    let (Some(callee), Some(kernel)) = (program.kernel(function), program.kernel(caller)) else {
        return Err(PackError::NoKernel { function: if program.kernel(caller).is_none() { caller.into() } else { function.into() } });
    };
    let mut kernel = kernel.clone();
    let mut is_any = false;
    for id in kernel.instructions.iter().map(|instruction| instruction.id.clone()).collect::<Vec<_>>() {
        let at = kernel.instructions.iter().position(|instruction| instruction.id == id).unwrap_or_default();
        let instruction = kernel.instructions[at].clone();
        if let Some((lhs, call)) = call_of(&instruction, function) {
            kernel = Packing::of(&kernel, callee, &instruction).pack(at, &lhs, &call)?;
            is_any = true;
        }
    }
    if !is_any {
        return Err(PackError::NoCall { kernel: kernel.name, function: function.into() });
    }
    Ok(program.with_kernel(kernel))
}

/// The results and the call, if an instruction calls the function with a part of an array.
fn call_of(instruction: &Instruction, function: &str) -> Option<(Vec<Expr>, Arc<Call>)> {
    let (lhs, rhs) = match &instruction.kind {
        InstructionKind::Call(call) => (call.lhs.clone(), &call.rhs),
        InstructionKind::Assign(assignment) => (vec![assignment.lhs.clone()], &assignment.rhs),
        _ => return None,
    };
    let Expr::Call(call) = rhs else { return None };
    let is_part = |expr: &Expr| matches!(expr, Expr::SubArray(_));
    (call.function == *function && (lhs.iter().any(is_part) || call.args.iter().any(is_part))).then(|| (lhs, call.clone()))
}

struct Packing<'k> {
    kernel: LoopKernel,
    callee: &'k LoopKernel,
    call: &'k Instruction,
    names: UniqueNames,
    ids: UniqueNames,
    /// For each argument of the callee its temporary, and what was passed.
    packed: BTreeMap<usize, (Name, Arc<SubArray>)>,
    before: Vec<Arc<Instruction>>,
    after: Vec<Arc<Instruction>>,
}

impl<'k> Packing<'k> {
    fn of(kernel: &LoopKernel, callee: &'k LoopKernel, call: &'k Instruction) -> Packing<'k> {
        let (names, ids) = (UniqueNames::of_variables(kernel), UniqueNames::of_instructions(kernel));
        Packing { kernel: kernel.clone(), callee, call, names, ids, packed: BTreeMap::new(), before: Vec::new(), after: Vec::new() }
    }

    fn pack(mut self, at: usize, lhs: &[Expr], call: &Call) -> Result<LoopKernel, PackError> {
        let places = kernel_args(self.callee);
        let mut args = call.args.clone();
        for (arg, &place) in args.iter_mut().zip(&places.inputs) {
            if let Expr::SubArray(part) = arg.clone() {
                *arg = self.stand_in(place, &part, true)?;
            }
        }
        let mut results = lhs.to_vec();
        for (result, &place) in results.iter_mut().zip(&places.outputs) {
            if let Expr::SubArray(part) = result.clone() {
                let is_filled = !self.writes_all(place)?;
                *result = self.stand_in(place, &part, is_filled)?;
                let copy = self.copy(place, &part, false)?;
                self.after.push(copy);
            }
        }
        let rhs = Expr::Call(Arc::new(Call { args, ..call.clone() }));
        let declares = vec![None; results.len()];
        let mut changed = Instruction { kind: InstructionKind::Call(CallInstruction { lhs: results, rhs, declares }), ..self.call.clone() };
        changed.depends_on.extend(self.before.iter().map(|copy| copy.id.clone()));
        let behind: Vec<Name> = self.after.iter().map(|copy| copy.id.clone()).collect();
        // Dependents of the call depend on what it wrote.
        for instruction in &mut self.kernel.instructions {
            if instruction.depends_on.contains(&self.call.id) {
                Arc::make_mut(instruction).depends_on.extend(behind.iter().cloned());
            }
        }
        let all = self.before.into_iter().chain([Arc::new(changed)]).chain(self.after);
        self.kernel.instructions.splice(at..=at, all);
        Ok(self.kernel)
    }

    /// Whether the callee writes every element of an argument, whatever its data is, and reads none.
    fn writes_all(&self, place: usize) -> Result<bool, PackError> {
        let (callee, name, lengths) = (self.callee, &self.callee.arguments[place].name, self.lengths(place)?);
        let is_in_rule = callee.substitutions.values().any(|rule| rule.body.variables().contains(name));
        if is_in_rule || callee.instructions.iter().any(|instruction| instruction.reads().contains(name)) {
            return Ok(false);
        }
        let axes: Vec<Name> = (0..lengths.len()).map(|axis| Name::from(format!("axis@{axis}"))).collect();
        let mut bounds = Vec::with_capacity(2 * axes.len());
        for (axis, &length) in axes.iter().zip(&lengths) {
            let index = Affine::name(axis.clone());
            bounds.push(Constraint::not_negative(Affine::constant(length - 1).sub(&index)?));
            bounds.push(Constraint::not_negative(index));
        }
        let mut left = Set::bounded(&axes, bounds);
        for instruction in callee.instructions.iter().filter(|instruction| instruction.predicates.is_empty()) {
            for lhs in instruction.lhs().into_iter().filter(|lhs| lhs.written_name() == Some(name)) {
                let indices = match lhs {
                    Expr::Subscript(_, indices) => affine_arguments(callee, indices),
                    Expr::Variable(_) => Some(Vec::new()),
                    _ => None,
                };
                let Some(indices) = indices.filter(|indices| indices.len() == axes.len()) else { continue };
                let inames: Vec<Name> = instruction.within_inames.iter().cloned().collect();
                let functions: Vec<(Name, Affine)> = axes.iter().cloned().zip(indices).collect();
                left = left.subtract(&domain_of(callee, &inames)?.image(&functions)?)?;
            }
        }
        Ok(left.is_empty()?)
    }

    /// What is passed in place of a part: a temporary of the argument's shape, filled if it is asked for.
    fn stand_in(&mut self, place: usize, part: &Arc<SubArray>, is_filled: bool) -> Result<Expr, PackError> {
        let argument = &self.callee.arguments[place];
        let lengths = self.lengths(place)?;
        if !self.packed.contains_key(&place) {
            let name = self.names.make(&format!("{}_pack", argument.name));
            let shape = lengths.iter().map(|&length| Expr::int(length)).collect();
            let own = self.kernel.temporaries.get(&part.array).and_then(|temporary| temporary.ty.clone());
            let known = self.kernel.arguments.iter().find(|known| known.name == part.array).and_then(|known| known.ty.clone());
            let temporary = Temporary {
                name: name.clone(),
                ty: own.or(known).or_else(|| argument.ty.clone()),
                layout: Layout::c_order(Shape::Known(shape)),
                space: None,
                initializer: None,
                read_only: false,
                base_storage: None,
                tags: BTreeSet::new(),
            };
            self.kernel.temporaries.insert(name.clone(), temporary);
            self.packed.insert(place, (name, part.clone()));
            if is_filled {
                let copy = self.copy(place, part, true)?;
                self.before.push(copy);
            }
        }
        let name = self.packed[&place].0.clone();
        if lengths.is_empty() {
            return Ok(Expr::Variable(name));
        }
        let mut inames = Vec::with_capacity(lengths.len());
        for (axis, &length) in lengths.iter().enumerate() {
            inames.push(self.iname(&format!("{name}_{axis}"), length));
        }
        let indices = inames.iter().map(Expr::var).collect();
        Ok(Expr::SubArray(Arc::new(SubArray { inames, array: name, indices })))
    }

    /// The lengths of an argument of the callee's.
    fn lengths(&self, place: usize) -> Result<Vec<i64>, PackError> {
        let argument = &self.callee.arguments[place];
        let lengths = match &argument.kind {
            ArgumentKind::Array { layout, .. } => layout.static_lengths(),
            _ => None,
        };
        let lengths = lengths.ok_or_else(|| PackError::NotConstant { name: argument.name.clone() })?;
        Ok(lengths.into_iter().map(|length| i64::try_from(length).unwrap_or(i64::MAX)).collect())
    }

    fn iname(&mut self, base: &str, length: i64) -> Name {
        let iname = self.names.make(base);
        let value = Affine::name(iname.clone());
        let below = Affine::constant(length - 1).sub(&value).unwrap_or_else(|_| Affine::constant(-1));
        let constraints = vec![Constraint::not_negative(value), Constraint::not_negative(below)];
        self.kernel.domains.push(Set::bounded(std::slice::from_ref(&iname), constraints));
        self.kernel.inames.insert(iname.clone(), Iname::default());
        iname
    }

    /// The instruction that copies between a part and its temporary, in loops over the part.
    fn copy(&mut self, place: usize, part: &SubArray, is_pack: bool) -> Result<Arc<Instruction>, PackError> {
        let (name, lengths) = (self.packed[&place].0.clone(), self.lengths(place)?);
        let mut by = BTreeMap::new();
        let mut flat = Expr::int(0);
        let (mut elements, mut loops) = (1i64, Vec::new());
        for iname in &part.inames {
            let of = extent(&self.kernel, iname, &part.array)?;
            let length = to_affine(&of.length).and_then(|length| length.as_constant());
            let length = length.ok_or_else(|| PackError::NotConstant { name: part.array.clone() })?;
            let copy = self.iname(&format!("{iname}_{}", if is_pack { "pack" } else { "unpack" }), length);
            by.insert(iname.clone(), fold::add(of.start.clone(), Expr::var(&copy)));
            flat = fold::add(fold::multiply(Expr::int(length), flat), Expr::var(&copy));
            elements = elements.saturating_mul(length);
            loops.push(copy);
        }
        let expected = lengths.iter().product::<i64>();
        if elements != expected {
            let (function, argument) = (self.callee.name.clone(), self.callee.arguments[place].name.clone());
            let part = Expr::SubArray(Arc::new(part.clone())).to_string();
            return Err(PackError::Elements { part, found: elements, function, argument, expected });
        }
        let flat = to_affine(&flat).map_or(flat, |flat| from_affine(&flat));
        let mut inside = expected;
        let mut indices = Vec::with_capacity(lengths.len());
        for (axis, &length) in lengths.iter().enumerate() {
            inside /= length.max(1);
            let whole = fold::floor_divide(flat.clone(), Expr::int(inside.max(1)));
            let index = if axis == 0 { whole } else { Expr::binary(BinaryOp::Modulo, whole, Expr::int(length)) };
            indices.push(simplified(&self.kernel, &index).unwrap_or(index));
        }
        let here = part.indices.iter().map(|index| plain(index.substitute(&by))).collect::<Vec<_>>();
        let of = |array: &Name, indices: Vec<Expr>| if indices.is_empty() { Expr::var(array) } else { Expr::subscript(array, indices) };
        let (theirs, own) = (of(&part.array, here), of(&name, indices));
        let (lhs, rhs) = if is_pack { (own, theirs) } else { (theirs, own) };
        let id = self.ids.make(&format!("{}_{}", self.call.id, if is_pack { "pack" } else { "unpack" }));
        let steps =
            std::iter::once(TimeStep::At(if is_pack { -1 } else { 1 })).chain(loops.iter().map(|iname| TimeStep::Loop(Expr::var(iname))));
        let steps: Vec<TimeStep> = steps.collect();
        let times = self.call.origin.times.iter().map(|time| time.then(steps.clone())).collect();
        let depends_on = if is_pack { self.call.depends_on.clone() } else { BTreeSet::from([self.call.id.clone()]) };
        Ok(Arc::new(Instruction {
            depends_on,
            within_inames: self.call.within_inames.iter().cloned().chain(loops).collect(),
            within_inames_is_final: true,
            predicates: self.call.predicates.clone(),
            tags: self.call.tags.clone(),
            origin: Arc::new(Origin { times, ..Origin::default() }),
            ..Instruction::assign(id, lhs, rhs)
        }))
    }
}

fn plain(expr: Expr) -> Expr {
    to_affine(&expr).map_or(expr, |affine| from_affine(&affine))
}
