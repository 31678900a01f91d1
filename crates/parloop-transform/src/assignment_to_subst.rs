//! `assignment_to_subst`: turns an assignment into a substitution rule, so that its value is computed where it is used.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use parloop_analysis::dependence::{Dependences, Mover, elements_may_share_memory};
use parloop_analysis::facts::Facts;
use parloop_analysis::infer;
use parloop_ir::affine::to_affine;
use parloop_ir::matching::Query;
use parloop_ir::names::UniqueNames;
use parloop_ir::program::Program;
use parloop_ir::substitution::{ExpandSubstError, called_rules, expand_calls, expand_subst};
use parloop_ir::syntax::{Expr, Instruction, InstructionKind, LoopKernel, SubstitutionRule};
use parloop_isl::{IslError, Name};

use super::arrays::ElementIndex;
use super::extract_subst::call_of;
use super::precompute::inames_that_bound;
use super::remove_unused_inames::remove_unused_inames;
use super::replace::InameError;
use super::rule_inames::separate_rule_inames;

/// Which assignment, and where its value is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignmentToSubst {
    /// The variable that is assigned.
    pub variable: Name,
    /// Inames that the rule takes in addition to the indices of the left side.
    pub extra_arguments: Vec<Name>,
    /// The instructions whose reads are replaced; if others read the variable, the assignment stays.
    pub within: Query,
    /// Whether an unused argument stays.
    pub force_retain_argument: bool,
}

impl AssignmentToSubst {
    /// All reads of a variable.
    pub fn of(variable: impl Into<Name>) -> AssignmentToSubst {
        AssignmentToSubst { variable: variable.into(), extra_arguments: Vec::new(), within: Query::All, force_retain_argument: false }
    }
}

/// Why an assignment cannot become a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssignmentToSubstError {
    /// No instruction assigns it.
    #[error("no instruction of kernel `{kernel}` assigns `{variable}`")]
    NotAssigned {
        /// The kernel.
        kernel: Name,
        /// The variable.
        variable: Name,
    },
    /// A reader has no assignment before it.
    #[error("instruction `{instruction}` reads `{variable}`, but does not depend on an assignment to it")]
    NoDefinition {
        /// The variable.
        variable: Name,
        /// The reader.
        instruction: Name,
    },
    /// A reader has several.
    #[error("instruction `{instruction}` depends on two assignments to `{variable}`, `{first}` and `{second}`")]
    TwoDefinitions {
        /// The variable.
        variable: Name,
        /// The reader.
        instruction: Name,
        /// An assignment.
        first: Name,
        /// Another one.
        second: Name,
    },
    /// The definition is not a plain assignment.
    #[error("instruction `{instruction}` is {what}, so `{variable}` cannot be replaced by its value")]
    NotPlain {
        /// The variable.
        variable: Name,
        /// The instruction.
        instruction: Name,
        /// What it is.
        what: &'static str,
    },
    /// An index of the left side is not a separate iname.
    #[error("in `{instruction}` the index `{index}` of `{variable}` is not a separate variable; use map_domain to make it one")]
    Index {
        /// The variable.
        variable: Name,
        /// The instruction.
        instruction: Name,
        /// The index.
        index: Box<Expr>,
    },
    /// The value depends on an iname in which a reader does not run.
    #[error("the value of `{variable}` in `{definition}` depends on `{iname}`, but `{instruction}` does not run in it")]
    OtherIname {
        /// The variable.
        variable: Name,
        /// The assignment.
        definition: Name,
        /// The iname.
        iname: Name,
        /// The reader.
        instruction: Name,
    },
    /// A reader sees the value before the assignment.
    #[error(
        "instruction `{instruction}` reads `{variable}{index}`, which `{definition}` does not assign, so the value read is not that of the assignment"
    )]
    Uncovered {
        /// The variable.
        variable: Name,
        /// The assignment.
        definition: Name,
        /// The reader.
        instruction: Name,
        /// The indices of the element, if known.
        index: ElementIndex,
    },
    /// A value assigned to one element may be read from another.
    #[error(
        "elements of `{variable}` share memory through its strides, so an element may hold a value assigned to another, which a rule cannot express"
    )]
    SharedElements {
        /// The variable.
        variable: Name,
    },
    /// An input of the value may change before it is used.
    #[error("`{writer}` writes `{read}`, from which `{definition}` computes `{variable}`, between the assignment and its use")]
    Changes {
        /// The variable.
        variable: Name,
        /// The assignment.
        definition: Name,
        /// What it reads.
        read: Name,
        /// The instruction that writes that.
        writer: Name,
    },
    /// A reduction in the value runs over inames that an index of the left side bounds.
    #[error("in `{instruction}`, `{iname}`, an index of `{variable}`, bounds a reduction, so a rule cannot take it as a parameter")]
    BoundsReduction {
        /// The variable.
        variable: Name,
        /// The instruction.
        instruction: Name,
        /// The index.
        iname: Name,
    },
    /// The solver failed.
    #[error(transparent)]
    Solver(#[from] IslError),
    /// A call does not match its rule.
    #[error(transparent)]
    Rule(#[from] ExpandSubstError),
    /// The inames of the assignment cannot be removed.
    #[error("{0}")]
    Inames(#[from] InameError),
}

fn value_at(index: &Expr, point: &BTreeMap<Name, i64>) -> Option<i64> {
    to_affine(index)?.evaluate(&|name| point.get(name).copied())
}

/// Turns an assignment into a substitution rule and calls it where the variable is read. A value of another type is converted to that of
/// the variable, as the assignment did.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::{AssignmentToSubst, assignment_to_subst};
/// let program = make_kernel("{[i, j]: 0<=i,j<n}", "<>t[i] = 2*a[i] {id=fill}\nb[j] = t[j] + 1 {dep=fill}")?;
/// let kernel = assignment_to_subst(program.entry().unwrap(), &AssignmentToSubst::of("t"))?;
/// assert_eq!(kernel.instructions[0].rhs()[0].to_string(), "t_subst(j) + 1");
/// assert!(kernel.temporaries.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`AssignmentToSubstError`].
pub fn assignment_to_subst(kernel: &LoopKernel, what: &AssignmentToSubst) -> Result<LoopKernel, AssignmentToSubstError> {
    let mut result = read_directly(kernel, &what.variable)?;
    let before = result.clone();
    let change = Change { kernel: &before, what, by_id: before.instructions.iter().map(|known| (&known.id, known)).collect() };
    if !before.instructions.iter().any(|instruction| change.is_definition(instruction)) {
        return Err(AssignmentToSubstError::NotAssigned { kernel: kernel.name.clone(), variable: what.variable.clone() });
    }
    if elements_may_share_memory(&Facts::of(&before), &what.variable) {
        return Err(AssignmentToSubstError::SharedElements { variable: what.variable.clone() });
    }
    let mut names = UniqueNames::of_variables(&before);
    let mut rules: BTreeMap<Name, SubstitutionRule> = BTreeMap::new();
    let mut kept: BTreeSet<Name> = BTreeSet::new();
    for instruction in &mut result.instructions {
        if change.is_definition(instruction) || !instruction.reads().contains(&what.variable) {
            continue;
        }
        let definition = change.definition_of(instruction)?;
        if !what.within.matches(kernel, instruction) {
            kept.insert(definition.id.clone());
            continue;
        }
        if !rules.contains_key(&definition.id) {
            rules.insert(definition.id.clone(), change.rule(definition, &mut names)?);
        }
        change.check_inames(definition, instruction)?;
        change.check_moves(definition, instruction)?;
        let rule = &rules[&definition.id].name;
        let mut changed = instruction.map_exprs(&mut |expr| change.replace(expr, rule));
        changed.depends_on.extend(definition.depends_on.iter().cloned());
        if changed.reads().contains(&what.variable) {
            // Parts of arrays that are passed to a call are not values.
            kept.insert(definition.id.clone());
        }
        *instruction = Arc::new(changed);
    }
    let gone: BTreeSet<Name> = rules.keys().filter(|id| !kept.contains(*id)).cloned().collect();
    remove_definitions(&mut result, &gone);
    if !result.instructions.iter().any(|instruction| instruction.writes().contains(&what.variable)) {
        result.temporaries.remove(&what.variable);
        result.arguments.retain(|argument| what.force_retain_argument || argument.name != what.variable);
    }
    result.substitutions.extend(rules.into_values().map(|rule| (rule.name.clone(), rule)));
    // A reduction in the value may run over an iname that is around a use.
    drop_lost_inames(&before, separate_rule_inames(&result)?)
}

/// Inames in which only the assignment ran are removed with it.
fn drop_lost_inames(before: &LoopKernel, result: LoopKernel) -> Result<LoopKernel, AssignmentToSubstError> {
    let used = |kernel: &LoopKernel| -> BTreeSet<Name> {
        kernel.instructions.iter().flat_map(|known| known.within_inames.iter().cloned().chain(known.reduction_inames())).collect()
    };
    let after = used(&result);
    let lost: Vec<Name> = used(before).difference(&after).cloned().collect();
    Ok(remove_unused_inames(&result, Some(&lost))?)
}

/// A kernel whose instructions read the variable directly, not through rules.
fn read_directly(kernel: &LoopKernel, variable: &Name) -> Result<LoopKernel, ExpandSubstError> {
    let rules = &kernel.substitutions;
    let reads = |rule: &SubstitutionRule| rule.body.variables().contains(variable) && !rule.parameters.contains(variable);
    let direct: BTreeSet<&Name> = rules.values().filter(|rule| reads(rule)).map(|rule| &rule.name).collect();
    let is_reader =
        |name: &Name| direct.contains(name) || called_rules(&rules[name].body, rules).iter().any(|called| direct.contains(called));
    let mut result = kernel.clone();
    if !direct.is_empty() {
        for instruction in &mut result.instructions {
            let expand = &mut |expr: &Expr| expand_calls(expr, rules, &instruction.id, &is_reader);
            *instruction = Arc::new(instruction.try_map_exprs(expand)?);
        }
        result.substitutions.retain(|name, _| !is_reader(name));
    }
    Ok(result)
}

struct Change<'a> {
    kernel: &'a LoopKernel,
    what: &'a AssignmentToSubst,
    by_id: HashMap<&'a Name, &'a Arc<Instruction>>,
}

impl<'a> Change<'a> {
    fn is_definition(&self, instruction: &Instruction) -> bool {
        instruction.writes().contains(&self.what.variable)
    }

    /// The assignment that a reader sees: the nearest one it depends on, which must be unique.
    fn definition_of(&self, reader: &Instruction) -> Result<&'a Instruction, AssignmentToSubstError> {
        let variable = &self.what.variable;
        let mut found: BTreeSet<&'a Name> = BTreeSet::new();
        let mut seen: BTreeSet<Name> = BTreeSet::new();
        let mut open: Vec<Name> = reader.depends_on.iter().cloned().collect();
        while let Some(id) = open.pop() {
            let Some((&id, instruction)) = self.by_id.get_key_value(&id) else { continue };
            if !seen.insert(id.clone()) {
                continue;
            }
            match self.is_definition(instruction) {
                true => drop(found.insert(id)),
                false => open.extend(instruction.depends_on.iter().cloned()),
            }
        }
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some(id), None) => Ok(self.by_id[id]),
            (None, _) => Err(AssignmentToSubstError::NoDefinition { variable: variable.clone(), instruction: reader.id.clone() }),
            (Some(first), Some(second)) => Err(AssignmentToSubstError::TwoDefinitions {
                variable: variable.clone(),
                instruction: reader.id.clone(),
                first: first.clone(),
                second: second.clone(),
            }),
        }
    }

    fn rule(&self, definition: &Instruction, names: &mut UniqueNames) -> Result<SubstitutionRule, AssignmentToSubstError> {
        let variable = &self.what.variable;
        let not_plain = |what| AssignmentToSubstError::NotPlain { variable: variable.clone(), instruction: definition.id.clone(), what };
        let InstructionKind::Assign(assignment) = &definition.kind else { return Err(not_plain("not a plain assignment")) };
        if assignment.atomic.is_some() {
            return Err(not_plain("an atomic update"));
        }
        if matches!(assignment.lhs, Expr::Lookup(..)) {
            return Err(not_plain("an assignment of a component"));
        }
        if !definition.predicates.is_empty() {
            return Err(not_plain("conditional"));
        }
        if definition.reads().contains(variable) {
            return Err(not_plain("an update of its own value"));
        }
        let mut arguments = self.indices(definition, &assignment.lhs)?;
        arguments.extend(self.what.extra_arguments.iter().cloned());
        let indices: BTreeSet<Name> = arguments.iter().cloned().collect();
        let linked = inames_that_bound(self.kernel, &assignment.rhs.reduction_inames(), &indices)?;
        if let Some(iname) = linked.into_iter().next() {
            return Err(AssignmentToSubstError::BoundsReduction { variable: variable.clone(), instruction: definition.id.clone(), iname });
        }
        let name = names.make(&format!("{variable}_subst"));
        let parameters: Vec<Name> = arguments.iter().map(|argument| names.make(argument)).collect();
        let by = arguments.into_iter().zip(parameters.iter().map(Expr::var)).collect();
        Ok(SubstitutionRule { name, parameters, body: self.as_stored(definition, &assignment.rhs).substitute(&by) })
    }

    /// The value as the variable holds it: converted to its type, unless it already has that type.
    fn as_stored(&self, definition: &Instruction, rhs: &Expr) -> Expr {
        let variable = &self.what.variable;
        let argument =
            || self.kernel.arguments.iter().find(|argument| argument.name == *variable).and_then(|argument| argument.ty.as_ref());
        let declared = self.kernel.temporaries.get(variable).map_or_else(argument, |temporary| temporary.ty.as_ref());
        let Some(ty) = declared else { return rhs.clone() };
        let (program, only) = (Program::empty(), BTreeSet::from([definition.id.clone()]));
        let widened = infer::wide_sums(&program, self.kernel, Some(&only));
        let widened = widened.as_ref().and_then(|kernel| kernel.instructions.iter().find(|instruction| instruction.id == definition.id));
        let value = widened.and_then(|instruction| instruction.rhs().first().map(|&value| value.clone())).unwrap_or_else(|| rhs.clone());
        match infer::strong_type_of(&program, self.kernel, &value) {
            Some(own) if own == *ty => value,
            _ => Expr::Cast(ty.clone(), Arc::new(value)),
        }
    }

    fn indices(&self, definition: &Instruction, lhs: &Expr) -> Result<Vec<Name>, AssignmentToSubstError> {
        let bad = |index: &Expr| AssignmentToSubstError::Index {
            variable: self.what.variable.clone(),
            instruction: definition.id.clone(),
            index: Box::new(index.clone()),
        };
        let indices = match lhs {
            Expr::Variable(_) => return Ok(Vec::new()),
            Expr::Subscript(_, indices) => indices,
            lhs => return Err(bad(lhs)),
        };
        let mut found: Vec<Name> = Vec::with_capacity(indices.len());
        for index in indices.iter() {
            match index {
                Expr::Variable(name) if !found.contains(name) => found.push(name.clone()),
                index => return Err(bad(index)),
            }
        }
        Ok(found)
    }

    /// Whether a variable has no values before the kernel assigns them.
    fn begins_unset(&self, variable: &Name) -> bool {
        let is_output = |argument: &&parloop_ir::syntax::Argument| argument.name == *variable && argument.is_input == Some(false);
        let temporary = self.kernel.temporaries.get(variable);
        temporary.is_some_and(|temporary| temporary.initializer.is_none())
            || self.kernel.arguments.iter().any(|argument| is_output(&argument))
    }

    /// The inputs of the value must be unchanged at the use, and the value must be assigned by then.
    fn check_moves(&self, definition: &Instruction, reader: &Instruction) -> Result<(), AssignmentToSubstError> {
        // The bodies of rules are read too.
        let expanded = expand_subst(self.kernel, &Query::All)?;
        let (variable, facts) = (&self.what.variable, Facts::of(&expanded));
        let dependences = Dependences::of(&facts);
        let names = match definition.lhs()[..] {
            [lhs] => self.indices(definition, lhs)?,
            _ => Vec::new(),
        };
        for used in self.uses(reader) {
            let indices: BTreeMap<Name, Expr> = names.iter().cloned().zip(used).collect();
            let mover = Mover { definition: facts.position[&definition.id], user: facts.position[&reader.id], indices: &indices };
            // An unassigned variable has no value that could change.
            let is_unset = self.kernel.options.is_lenient() && self.begins_unset(variable);
            if !is_unset && let Some(point) = dependences.uncovered(&mover)? {
                let index = indices.values().map(|index| value_at(index, &point)).collect();
                let (variable, definition, instruction) = (variable.clone(), definition.id.clone(), reader.id.clone());
                return Err(AssignmentToSubstError::Uncovered { variable, definition, instruction, index: ElementIndex(index) });
            }
            if let Some((read, writer)) = dependences.changed_between(&mover)? {
                let writer = self.kernel.instructions[writer].id.clone();
                return Err(AssignmentToSubstError::Changes {
                    variable: variable.clone(),
                    definition: definition.id.clone(),
                    read,
                    writer,
                });
            }
        }
        Ok(())
    }

    /// The indices of each read of the variable.
    fn uses(&self, reader: &Instruction) -> Vec<Vec<Expr>> {
        let mut found: Vec<Vec<Expr>> = Vec::new();
        let is_variable = |expr: &Expr| *expr == Expr::var(&self.what.variable);
        for expr in reader.exprs() {
            expr.visit(&mut |inner| match inner {
                Expr::Subscript(array, indices) if is_variable(array) => found.push(indices.to_vec()),
                _ => {}
            });
        }
        if found.is_empty() { vec![Vec::new()] } else { found }
    }

    /// Inames in the value that are not arguments of the rule must be around the reader too.
    fn check_inames(&self, definition: &Instruction, reader: &Instruction) -> Result<(), AssignmentToSubstError> {
        let indices: BTreeSet<Name> = definition.lhs().into_iter().flat_map(Expr::variables).collect();
        let values = definition.rhs().into_iter().flat_map(Expr::variables);
        let around: BTreeSet<Name> = reader.within_inames.union(&reader.reduction_inames()).cloned().collect();
        let is_free =
            |name: &Name| self.kernel.inames.contains_key(name) && !indices.contains(name) && !self.what.extra_arguments.contains(name);
        match values.into_iter().find(|name| is_free(name) && !around.contains(name)) {
            None => Ok(()),
            Some(iname) => Err(AssignmentToSubstError::OtherIname {
                variable: self.what.variable.clone(),
                definition: definition.id.clone(),
                iname,
                instruction: reader.id.clone(),
            }),
        }
    }

    fn replace(&self, expr: &Expr, rule: &Name) -> Expr {
        let extra = || self.what.extra_arguments.iter().map(Expr::var);
        let is_variable = |expr: &Expr| *expr == Expr::var(&self.what.variable);
        expr.rewrite(&mut |inner| match inner {
            Expr::Subscript(array, indices) if is_variable(array) => {
                let args = indices.iter().map(|index| self.replace(index, rule)).chain(extra()).collect();
                Some(call_of(rule, args))
            }
            inner if is_variable(inner) => Some(call_of(rule, extra().collect())),
            _ => None,
        })
    }
}

/// Removes assignments; their dependents depend on what they depended on.
fn remove_definitions(kernel: &mut LoopKernel, gone: &BTreeSet<Name>) {
    let waited: BTreeMap<Name, BTreeSet<Name>> = (kernel.instructions.iter())
        .filter(|instruction| gone.contains(&instruction.id))
        .map(|instruction| (instruction.id.clone(), instruction.depends_on.clone()))
        .collect();
    kernel.instructions.retain(|instruction| !gone.contains(&instruction.id));
    for instruction in kernel.instructions.iter_mut().filter(|instruction| !instruction.depends_on.is_disjoint(gone)) {
        let changed = Arc::make_mut(instruction);
        let mut seen: BTreeSet<Name> = BTreeSet::new();
        while let Some(id) = changed.depends_on.intersection(gone).next().cloned() {
            changed.depends_on.remove(&id);
            seen.insert(id.clone());
            changed.depends_on.extend(waited[&id].iter().filter(|before| !seen.contains(*before)).cloned());
        }
        changed.nosync.retain(|(id, _)| !gone.contains(id));
    }
}
