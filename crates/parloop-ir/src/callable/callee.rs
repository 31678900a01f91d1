//! What a called kernel learns from its caller: shapes and strides in its own names, and what holds for the numbers passed to it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parloop_isl::{Affine, Constraint, IslError, Name, Set};

use super::InferError;
use crate::affine::to_affine;
use crate::callable::{CallSite, CallableError, Inference, KernelArgs};
use crate::names::UniqueNames;
use crate::syntax::{Argument, ArgumentKind, DimTag, Expr, Layout, LoopKernel, Shape, Stride, Type};

/// The caller's names that the callee's shapes and strides use, and their names in the callee.
#[derive(Clone, Debug)]
pub struct CalleeNames {
    names: BTreeMap<Name, Name>,
    free: UniqueNames,
    added: Vec<(Name, Name)>,
}

impl CalleeNames {
    /// The names that the call passes unchanged: `f(n, …)`.
    pub fn of(callee: &LoopKernel, places: &KernelArgs, site: &CallSite<'_>) -> CalleeNames {
        let passed = site.args.iter().zip(&places.inputs).filter_map(|(arg, place)| match (arg, &callee.arguments[*place].kind) {
            (Expr::Variable(name), ArgumentKind::Value) => Some((name.clone(), callee.arguments[*place].name.clone())),
            _ => None,
        });
        CalleeNames { names: passed.collect(), free: UniqueNames::of_variables(callee), added: Vec::new() }
    }

    /// A layout of the caller in the callee's names; names that are not passed yet become additional arguments.
    pub fn translate(&mut self, layout: &Layout) -> Layout {
        let mut layout = layout.clone();
        if let Shape::Known(lengths) = &mut layout.shape {
            lengths.iter_mut().for_each(|length| *length = self.translate_expr(length));
        }
        for tag in &mut layout.dim_tags {
            if let DimTag::Stride(Stride::Fixed(stride)) = tag {
                *stride = self.translate_expr(stride);
            }
        }
        layout
    }

    fn translate_expr(&mut self, expr: &Expr) -> Expr {
        let variables = expr.variables();
        for name in &variables {
            if !self.names.contains_key(name) {
                let there = self.free.make(name);
                self.names.insert(name.clone(), there.clone());
                self.added.push((name.clone(), there));
            }
        }
        expr.substitute(&variables.into_iter().map(|name| (name.clone(), Expr::Variable(self.names[&name].clone()))).collect())
    }

    /// The callee's additional arguments for names that were not passed, and those names.
    pub fn added(&self, site: &CallSite<'_>) -> (Vec<Argument>, Vec<Name>) {
        if self.added.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let types = variables_of(site.kernel);
        let argument = |(here, there): &(Name, Name)| Argument {
            name: there.clone(),
            ty: Some(types.get(here).cloned().flatten().unwrap_or_else(|| site.kernel.index_type.into())),
            kind: ArgumentKind::Value,
            is_input: Some(true),
            is_output: Some(false),
            tags: BTreeSet::new(),
        };
        (self.added.iter().map(argument).collect(), self.added.iter().map(|(here, _)| here.clone()).collect())
    }

    /// The translated names: the caller's, then the callee's.
    pub fn names(&self) -> &BTreeMap<Name, Name> {
        &self.names
    }
}

/// What the callee may assume: what holds in the caller for the numbers that are passed, and its own assumptions if they follow from that
/// or the caller's own callers must satisfy them.
///
/// # Errors
/// If the solver fails.
pub fn callee_assumptions(
    callee: &LoopKernel,
    places: &KernelArgs,
    site: &CallSite<'_>,
    names: &CalleeNames,
    inference: &mut dyn Inference,
) -> Result<Set, CallableError> {
    let values = site.args.iter().zip(&places.inputs).filter(|(_, place)| matches!(callee.arguments[**place].kind, ArgumentKind::Value));
    let mut equal: Vec<(Name, Affine)> =
        values.filter_map(|(arg, place)| Some((callee.arguments[*place].name.clone(), to_affine(arg)?))).collect();
    equal.extend(names.added.iter().map(|(here, there)| (there.clone(), Affine::name(here.clone()))));
    let inside = |error: InferError| CallableError::Inside { function: callee.name.clone(), error: Box::new(error) };
    let facts = passed_facts(site.kernel, &equal).map_err(inside)?;
    if callee.assumptions.pieces().iter().any(Vec::is_empty) {
        return Ok(facts);
    }
    let mut holds = facts.is_subset(&callee.assumptions).map_err(|error| inside(error.into()))?;
    if !holds && let Some(here) = in_caller(callee, site.kernel, &equal).map_err(|error| inside(error.into()))? {
        holds = inference.assume(&here);
    }
    if holds { facts.join(&callee.assumptions).map_err(|error| inside(error.into())) } else { Ok(facts) }
}

/// The callee's assumptions in terms of the caller's parameters; `None` if they involve other numbers of the caller.
fn in_caller(callee: &LoopKernel, caller: &LoopKernel, equal: &[(Name, Affine)]) -> Result<Option<Set>, IslError> {
    // Arguments first get unique names, since the passed expressions may use the same names.
    let apart = |name: &Name| Name::from(format!("pl_passed_{name}"));
    let is_parameter = |name: &Name| caller.arguments.iter().any(|known| known.name == *name && known.kind == ArgumentKind::Value);
    let mut assumed = callee.assumptions.drop_unused_params().rename(&|name| Some(apart(name)))?;
    for param in callee.assumptions.used_params() {
        match equal.iter().find(|(name, _)| *name == param) {
            Some((_, value)) if value.names().iter().all(is_parameter) => assumed = assumed.substitute(&apart(&param), value)?,
            _ => return Ok(None),
        }
    }
    Ok(Some(assumed))
}

fn passed_facts(caller: &LoopKernel, equal: &[(Name, Affine)]) -> Result<Set, InferError> {
    let (constant, varying): (Vec<_>, Vec<_>) = equal.iter().partition(|(_, value)| value.as_constant().is_some());
    let mut facts = Set::universe(&[], &[]);
    if !constant.is_empty() {
        let zero = |(name, value): &&(Name, Affine)| Ok(Constraint::zero(Affine::name(name.clone()).sub(value)?));
        facts = facts.constrain(&constant.iter().map(zero).collect::<Result<Vec<_>, InferError>>()?)?;
    }
    let used: BTreeSet<Name> = varying.iter().flat_map(|(_, value)| value.names()).collect();
    let is_bound = |name: &Name| caller.inames.contains_key(name) || caller.assumptions.params().contains(name);
    if varying.is_empty() || (varying.len() == 1 && !used.iter().any(is_bound)) {
        return Ok(facts);
    }
    // The caller's names are kept apart from the callee's.
    let apart = |name: &Name| Name::from(format!("caller_{name}"));
    let mut here = caller.assumptions.clone();
    for domain in caller.domains.iter().filter(|domain| used.iter().any(|name| domain.has_dim(name))) {
        here = here.join(&domain.to_params(domain.dims()))?;
    }
    let here = here.rename(&|name| Some(apart(name)))?;
    let zero =
        |(name, value): &&(Name, Affine)| Ok(Constraint::zero(Affine::name(name.clone()).sub(&value.rename(&|name| Some(apart(name)))?)?));
    let both = here.constrain(&varying.iter().map(zero).collect::<Result<Vec<_>, InferError>>()?)?;
    let theirs: Vec<Name> = both.params().iter().filter(|param| !varying.iter().any(|(name, _)| name == *param)).cloned().collect();
    Ok(facts.join(&both.project_out(&theirs)?)?)
}

/// The types of arguments, temporaries, inames and parameters, as far as they are known.
pub fn variables_of(kernel: &LoopKernel) -> HashMap<Name, Option<Type>> {
    let index = || Some(Type::Scalar(kernel.index_type));
    let mut found: HashMap<Name, Option<Type>> = HashMap::new();
    found.extend(kernel.domains.iter().flat_map(|domain| domain.params()).map(|name| (name.clone(), index())));
    found.extend(kernel.arguments.iter().flat_map(|argument| {
        match &argument.kind {
            ArgumentKind::Array { layout, .. } => layout.hidden_parameters(&argument.name),
            _ => Vec::new(),
        }
        .into_iter()
        .map(|(name, _)| (name, index()))
    }));
    found.extend(kernel.temporaries.values().map(|temporary| (temporary.name.clone(), temporary.ty.clone())));
    found.extend(kernel.arguments.iter().map(|argument| (argument.name.clone(), argument.ty.clone())));
    found.extend(kernel.inames.keys().map(|name| (name.clone(), index())));
    found
}
