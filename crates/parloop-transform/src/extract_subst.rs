//! `extract_subst`: turns expressions that match a template into calls to a substitution rule.

use std::collections::BTreeMap;
use std::sync::Arc;

use parloop_ir::matching::Query;
use parloop_ir::names::UniqueNames;
use parloop_ir::syntax::{BinaryOp, Call, Expr, LoopKernel, SubstitutionRule};
use parloop_isl::Name;

/// What is extracted, and what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractSubst {
    /// The name of the rule.
    pub name: Name,
    /// The body of the rule; each parameter matches any expression, the same one wherever it occurs.
    pub template: Expr,
    /// The rule's parameters.
    pub parameters: Vec<Name>,
    /// The instructions to search.
    pub within: Query,
}

/// Why a rule cannot be extracted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractSubstError {
    /// The name is already taken.
    #[error("`{name}` is already a name in kernel `{kernel}`; choose another name for the rule")]
    Taken {
        /// The kernel.
        kernel: Name,
        /// The name.
        name: Name,
    },
    /// A parameter that does not occur in the template, so calls could not determine it.
    #[error("parameter `{parameter}` of `{name}` is not in its template; leave it out")]
    UnusedParameter {
        /// The rule.
        name: Name,
        /// The parameter.
        parameter: Name,
    },
    /// Nothing matches the template.
    #[error("no expression of kernel `{kernel}` matches the template of `{name}`")]
    NoMatch {
        /// The kernel.
        kernel: Name,
        /// The rule.
        name: Name,
    },
}

impl ExtractSubst {
    /// In all instructions.
    pub fn new(name: impl Into<Name>, template: Expr, parameters: impl IntoIterator<Item = Name>) -> ExtractSubst {
        ExtractSubst { name: name.into(), template, parameters: parameters.into_iter().collect(), within: Query::All }
    }
}

/// Adds a rule with that template, which is called wherever an expression matches it: right sides, predicates, indices of left sides, and
/// other rules.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::parse;
/// use parloop_loop::transform::{ExtractSubst, extract_subst};
/// let program = make_kernel("{[i]: 0<=i<n}", "b[i] = 2*a[i] + 2*a[i+1]")?;
/// let what = ExtractSubst::new("twice", parse::expression("2*a[x]")?, ["x".into()]);
/// let kernel = extract_subst(program.entry().unwrap(), &what)?;
/// assert_eq!(kernel.instructions[0].rhs()[0].to_string(), "twice(i) + twice(i + 1)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ExtractSubstError`].
pub fn extract_subst(kernel: &LoopKernel, what: &ExtractSubst) -> Result<LoopKernel, ExtractSubstError> {
    if !UniqueNames::of_variables(kernel).take(&what.name) {
        return Err(ExtractSubstError::Taken { kernel: kernel.name.clone(), name: what.name.clone() });
    }
    let used = what.template.variables();
    if let Some(parameter) = what.parameters.iter().find(|parameter| !used.contains(*parameter)) {
        return Err(ExtractSubstError::UnusedParameter { name: what.name.clone(), parameter: parameter.clone() });
    }
    let mut found = false;
    let mut result = kernel.clone();
    for instruction in &mut result.instructions {
        if !what.within.matches(kernel, instruction) {
            continue;
        }
        let lhs: Vec<Expr> = instruction.lhs().into_iter().cloned().collect();
        let mut seen = 0;
        let changed = instruction.map_exprs(&mut |expr| {
            // Left sides come first, and are not values: only their indices are looked at.
            if seen < lhs.len() && *expr == lhs[seen] {
                seen += 1;
                return expr.map_children(&mut |child| if is_place(child) { child.clone() } else { what.replace(child, &mut found) });
            }
            what.replace(expr, &mut found)
        });
        *instruction = Arc::new(changed);
    }
    for rule in result.substitutions.values_mut() {
        rule.body = what.replace(&rule.body, &mut found);
    }
    if !found {
        return Err(ExtractSubstError::NoMatch { kernel: kernel.name.clone(), name: what.name.clone() });
    }
    let rule = SubstitutionRule { name: what.name.clone(), parameters: what.parameters.clone(), body: what.template.clone() };
    result.substitutions.insert(what.name.clone(), rule);
    Ok(result)
}

/// Whether a child of a left side is the array itself, not an index.
fn is_place(child: &Expr) -> bool {
    matches!(child, Expr::Variable(_) | Expr::Lookup(..))
}

impl ExtractSubst {
    fn replace(&self, expr: &Expr, found: &mut bool) -> Expr {
        expr.rewrite(&mut |inner| {
            let mut bound = BTreeMap::new();
            if !self.unify(&self.template, inner, &mut bound) {
                return None;
            }
            *found = true;
            let args: Vec<Expr> = self.parameters.iter().filter_map(|parameter| bound.remove(parameter)).collect();
            Some(call_of(&self.name, args))
        })
    }

    /// Whether the expression is the template for some values of the parameters, which are put into `bound`; left as it was if not.
    fn unify(&self, template: &Expr, expr: &Expr, bound: &mut BTreeMap<Name, Expr>) -> bool {
        match (template, expr) {
            (Expr::Variable(name), _) if self.parameters.contains(name) => match bound.get(name) {
                Some(value) => value == expr,
                None => {
                    bound.insert(name.clone(), expr.clone());
                    true
                }
            },
            (Expr::Binary(op, a, b), Expr::Binary(other, c, d)) => {
                let commutes = matches!(op, BinaryOp::Add | BinaryOp::Multiply);
                op == other && (self.unify_all(&[a, b], &[c, d], bound) || (commutes && self.unify_all(&[a, b], &[d, c], bound)))
            }
            _ => {
                let (children, others) = (template.children(), expr.children());
                children.len() == others.len() && same_node(template, expr) && self.unify_all(&children, &others, bound)
            }
        }
    }

    fn unify_all(&self, templates: &[&Expr], exprs: &[&Expr], bound: &mut BTreeMap<Name, Expr>) -> bool {
        let before = bound.clone();
        let all = templates.iter().zip(exprs).all(|(template, expr)| self.unify(template, expr, bound));
        if !all {
            *bound = before;
        }
        all
    }
}

/// Whether both are the same apart from what is inside them. A call in a template is not resolved; one in a kernel may be.
fn same_node(left: &Expr, right: &Expr) -> bool {
    let hollow = |expr: &Expr| match expr.map_children(&mut |_| Expr::int(0)) {
        Expr::Call(call) => Expr::Call(Arc::new(Call { resolved: false, ..(*call).clone() })),
        other => other,
    };
    hollow(left) == hollow(right)
}

/// A call of a rule, or its plain name if it takes nothing.
pub(super) fn call_of(rule: &Name, args: Vec<Expr>) -> Expr {
    match args.is_empty() {
        true => Expr::var(rule.clone()),
        false => Expr::Call(Arc::new(Call { function: rule.clone(), resolved: false, args, keywords: Vec::new() })),
    }
}
