//! `reduction_arg_to_subst_rule`: turns the operand of a reduction into a substitution rule, for [`precompute`](super::precompute) to
//! compute ahead.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_ir::matching::Query;
use parloop_ir::names::{Near, UniqueNames};
use parloop_ir::syntax::{Expr, LoopKernel, Reduction, SubstitutionRule};
use parloop_isl::Name;

use super::extract_subst::call_of;

/// Why the operand cannot become a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReductionArgToSubstRuleError {
    /// Unknown iname.
    #[error("kernel `{kernel}` has no iname `{iname}`{near}")]
    UnknownIname {
        /// The kernel.
        kernel: Name,
        /// The name.
        iname: Name,
        /// Names that may have been meant.
        near: Near,
    },
    /// No reduction is over just these.
    #[error("no selected instruction of kernel `{kernel}` has a reduction over exactly {inames}")]
    NoReduction {
        /// The kernel.
        kernel: Name,
        /// The inames.
        inames: String,
    },
    /// The name is in use, perhaps by the first of two such reductions.
    #[error("`{name}` is already a name in kernel `{kernel}`; choose another name for the rule, or none")]
    Taken {
        /// The kernel.
        kernel: Name,
        /// The name.
        name: Name,
    },
}

/// Which reductions, and what the rule is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionArgToSubstRule {
    /// The inames that the reductions run over, in the order of the rule's parameters.
    pub inames: Vec<Name>,
    /// The name of the rule; `None`: `red_i_j_arg`.
    pub rule: Option<Name>,
    /// The instructions to search.
    pub within: Query,
}

impl ReductionArgToSubstRule {
    /// All reductions over those inames.
    pub fn over(inames: impl IntoIterator<Item = Name>) -> ReductionArgToSubstRule {
        ReductionArgToSubstRule { inames: inames.into_iter().collect(), rule: None, within: Query::All }
    }
}

/// Turns the operands of reductions over exactly those inames into a rule.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::{ReductionArgToSubstRule, reduction_arg_to_subst_rule};
/// let program = make_kernel("{[i]: 0<=i<n}", "s = sum(i, a[i]*b[i])")?;
/// let kernel = reduction_arg_to_subst_rule(program.entry().unwrap(), &ReductionArgToSubstRule::over(["i".into()]))?;
/// assert_eq!(kernel.instructions[0].rhs()[0].to_string(), "sum(i, red_i_arg(i))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ReductionArgToSubstRuleError`].
pub fn reduction_arg_to_subst_rule(
    kernel: &LoopKernel,
    what: &ReductionArgToSubstRule,
) -> Result<LoopKernel, ReductionArgToSubstRuleError> {
    if let Some(iname) = what.inames.iter().find(|iname| !kernel.inames.contains_key(*iname)) {
        let near = Near::of(iname, kernel.inames.keys());
        return Err(ReductionArgToSubstRuleError::UnknownIname { kernel: kernel.name.clone(), iname: iname.clone(), near });
    }
    let mut maker = Maker { kernel, what, names: UniqueNames::of_variables(kernel), rules: Vec::new() };
    let mut result = kernel.clone();
    for instruction in result.instructions.iter_mut().filter(|instruction| what.within.matches(kernel, instruction)) {
        *instruction = Arc::new(instruction.try_map_exprs(&mut |expr| maker.change(expr))?);
    }
    if maker.rules.is_empty() {
        let inames: Vec<String> = what.inames.iter().map(|iname| format!("`{iname}`")).collect();
        return Err(ReductionArgToSubstRuleError::NoReduction { kernel: kernel.name.clone(), inames: inames.join(", ") });
    }
    result.substitutions.extend(maker.rules.into_iter().map(|rule| (rule.name.clone(), rule)));
    Ok(result)
}

struct Maker<'a> {
    kernel: &'a LoopKernel,
    what: &'a ReductionArgToSubstRule,
    names: UniqueNames,
    rules: Vec<SubstitutionRule>,
}

impl Maker<'_> {
    fn change(&mut self, expr: &Expr) -> Result<Expr, ReductionArgToSubstRuleError> {
        let changed = expr.try_map_children(&mut |child| self.change(child))?;
        let Expr::Reduction(reduction) = &changed else { return Ok(changed) };
        let (over, asked): (BTreeSet<&Name>, BTreeSet<&Name>) = (reduction.inames.iter().collect(), self.what.inames.iter().collect());
        if over != asked {
            return Ok(changed);
        }
        let operands = reduction.operands.iter().map(|operand| self.rule(operand)).collect::<Result<_, _>>()?;
        Ok(Expr::Reduction(Arc::new(Reduction { operands, ..(**reduction).clone() })))
    }

    fn rule(&mut self, operand: &Expr) -> Result<Expr, ReductionArgToSubstRuleError> {
        let name = match &self.what.rule {
            Some(name) if self.names.take(name) => name.clone(),
            Some(name) => {
                return Err(ReductionArgToSubstRuleError::Taken { kernel: self.kernel.name.clone(), name: name.clone() });
            }
            None => self.names.make(&format!("red_{}_arg", self.what.inames.iter().map(Name::as_str).collect::<Vec<_>>().join("_"))),
        };
        let parameters = self.what.inames.clone();
        self.rules.push(SubstitutionRule { name: name.clone(), parameters, body: operand.clone() });
        Ok(call_of(&name, self.what.inames.iter().map(Expr::var).collect()))
    }
}
