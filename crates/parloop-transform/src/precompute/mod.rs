//! `precompute`: computes values of a substitution rule ahead of their use and stores them in a temporary.
//!
//! `footprint` determines which values, `uses` finds and replaces the calls to the rule, `order` determines when; this module combines
//! them.

mod error;
pub(crate) mod footprint;
mod hidden;
mod nested;
mod order;
pub(crate) mod uses;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parloop_analysis::dependence::Dependences;
use parloop_analysis::facts::Facts;
use parloop_analysis::infer::{self, SUM_TAG};
use parloop_ir::affine::from_affine;
use parloop_ir::fold;
use parloop_ir::matching::Query;
use parloop_ir::names::{Near, UniqueNames};
use parloop_ir::program::Program;
use parloop_ir::substitution::{expand_calls, expand_subst, used_rules};
use parloop_ir::syntax::{
    AddressSpace, Expr, Iname, InameTag, Instruction, InstructionKind, Layout, LoopKernel, MemoryKind, Origin, ReductionOp, Shape,
    SubstitutionRule, SyncScope, Temporary, TimeStep, Type, primed, without_primes,
};
use parloop_isl::{Affine, Name, Set};

use crate::edit_instructions::check_values;
pub use error::PrecomputeError;
pub use footprint::domain_of;
use footprint::{Footprint, FootprintError, Question};
pub(crate) use hidden::inames_that_bound;

/// How the loops that precompute run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FetchTag {
    /// As plain loops.
    #[default]
    Untagged,
    /// `l.auto` where a swept iname runs on a local axis, so that the work items of a group share the work; else as plain loops.
    AsSweep,
    /// With that tag.
    Given(InameTag),
}

/// What to precompute, for which sweep, and where to store it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Precompute {
    /// The rule whose values are computed.
    pub rule: Name,
    /// The inames over which the calls of the rule are swept.
    pub sweep_inames: Vec<Name>,
    /// Arguments of calls that select what is computed; empty: those of all calls in the selected instructions.
    pub footprint: Vec<Vec<Expr>>,
    /// The axes of the temporary: parameters of the rule, and inames. `None`: swept inames that are in no argument, then all parameters.
    pub storage_axes: Option<Vec<Name>>,
    /// Names for the loops that compute, one for each storage axis; those that are not given are chosen. Existing inames must have the
    /// values that are needed.
    pub inames: Vec<Option<Name>>,
    /// The inames around these loops. `None`: those that the values depend on.
    pub outer_inames: Option<BTreeSet<Name>>,
    /// Tags for loops, by storage axis or by the loop's name.
    pub axis_tags: BTreeMap<Name, InameTag>,
    /// The tag for all others.
    pub default_tag: FetchTag,
    /// Whether the whole bounding box may be computed if the footprint is not convex.
    pub bounding_box: bool,
    /// The name of the temporary; an existing one is reused if it fits.
    pub temporary: Option<Name>,
    /// The type of the temporary; `None`: inferred.
    pub ty: Option<Type>,
    /// The memory of the temporary; `None`: inferred from its use.
    pub space: Option<AddressSpace>,
    /// The id of the instruction that computes.
    pub instruction_id: Option<Name>,
    /// The instructions whose calls of the rule are replaced.
    pub within: Query,
}

impl Precompute {
    /// The values of a rule over a sweep, with defaults for everything else.
    pub fn new(rule: impl Into<Name>, sweep_inames: impl IntoIterator<Item = Name>) -> Precompute {
        Precompute {
            rule: rule.into(),
            sweep_inames: sweep_inames.into_iter().collect(),
            footprint: Vec::new(),
            storage_axes: None,
            inames: Vec::new(),
            outer_inames: None,
            axis_tags: BTreeMap::new(),
            default_tag: FetchTag::Untagged,
            bounding_box: false,
            temporary: None,
            ty: None,
            space: None,
            instruction_id: None,
            within: Query::All,
        }
    }
}

/// Computes the values of a substitution rule ahead of their use.
///
/// All calls to the rule are swept over the sweep inames; the values they need, the footprint, are computed by separate loops into a
/// temporary the size of its bounding box, and the calls read that. Axes of length one are left out.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::{Precompute, precompute};
/// let text = "f(x) := 2*a[x]\nb[i, j] = f(i + j) + f(i + j + 1)";
/// let program = make_kernel("{[i, j]: 0<=i<n and 0<=j<16}", text)?;
/// let kernel = precompute(program.entry().unwrap(), &Precompute::new("f", ["j".into()]))?;
/// assert_eq!(kernel.instructions[1].rhs()[0].to_string(), "f_0[j] + f_0[j + 1]");
/// assert_eq!(kernel.instructions[0].rhs()[0].to_string(), "2*a[i + x]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`PrecomputeError`].
pub fn precompute(kernel: &LoopKernel, what: &Precompute) -> Result<LoopKernel, PrecomputeError> {
    let Some(rule) = kernel.substitutions.get(&what.rule) else {
        let near = Near::of(&what.rule, kernel.substitutions.keys());
        return Err(PrecomputeError::UnknownRule { kernel: kernel.name.clone(), rule: what.rule.clone(), near });
    };
    let direct = uses::call_directly(kernel, &what.rule, &what.within)?;
    let job = Job::plan(&direct, what, rule)?;
    let question = job.question();
    let footprint = question.answer().map_err(|error| job.footprint_error(error))?;
    let mut result = job.build(&footprint)?;
    let (before, after) = (used_rules(kernel), used_rules(&result));
    result.substitutions.retain(|name, _| after.contains(name) || !before.contains(name));
    Ok(result)
}

/// What an axis of the temporary stands for.
enum Source {
    /// A parameter of the rule.
    Parameter(usize),
    /// An iname in what the rule stands for.
    Iname(Name),
}

struct Job<'a> {
    kernel: &'a LoopKernel,
    what: &'a Precompute,
    rule: &'a SubstitutionRule,
    sweep: BTreeSet<Name>,
    outer: BTreeSet<Name>,
    /// The calls that make the footprint, by the rule's parameters.
    calls: Vec<Vec<Affine>>,
    sources: Vec<Source>,
    /// Names of the axes in sets.
    axes: Vec<Name>,
    /// What the calls take along the axes.
    accesses: Vec<Vec<Affine>>,
    /// What the value is made of: arrays, temporaries, inames.
    reads: BTreeSet<Name>,
    /// The swept inames that the value depends on beside its arguments.
    hidden: BTreeSet<Name>,
    /// The inames of reductions inside the value that these bound.
    copied: BTreeSet<Name>,
}

impl<'a> Job<'a> {
    fn plan(kernel: &'a LoopKernel, what: &'a Precompute, rule: &'a SubstitutionRule) -> Result<Job<'a>, PrecomputeError> {
        let all_inames = what.sweep_inames.iter().chain(what.outer_inames.iter().flatten());
        for iname in all_inames {
            if !kernel.inames.contains_key(iname) {
                let near = Near::of(iname, kernel.inames.keys());
                let (kernel, rule) = (kernel.name.clone(), rule.name.clone());
                return Err(PrecomputeError::UnknownIname { kernel, rule, iname: iname.clone(), near });
            }
        }
        let calls = calls(kernel, what, rule)?;
        let body = expand_calls(&rule.body, &kernel.substitutions, &rule.name, &|_| true)?;
        let mut reads = body.variables();
        reads.retain(|name| !rule.parameters.contains(name));
        let is_user = |user: &&Arc<Instruction>| {
            what.within.matches(kernel, user) && user.exprs().into_iter().any(|expr| calls_rule(expr, kernel, &rule.name))
        };
        let users: Vec<&Arc<Instruction>> = kernel.instructions.iter().filter(is_user).collect();

        let is_iname = |name: &Name| kernel.inames.contains_key(name);
        let in_arguments: BTreeSet<Name> = calls.iter().flatten().flat_map(Affine::names).filter(is_iname).collect();
        let bound = body.reduction_inames();
        let around: BTreeSet<Name> = users.iter().flat_map(|user| order::around(user)).collect();
        let linked = inames_that_bound(kernel, &bound, &around.difference(&bound).cloned().collect())?;
        let mut in_value: BTreeSet<Name> = reads.iter().filter(|name| is_iname(name)).cloned().collect();
        in_value.extend(linked.iter().cloned());
        let sweep: BTreeSet<Name> = what.sweep_inames.iter().cloned().collect();
        if let Some(iname) = what.sweep_inames.iter().find(|iname| !in_arguments.contains(*iname) && !in_value.contains(*iname)) {
            return Err(PrecomputeError::UnusedSweep { rule: rule.name.clone(), iname: iname.clone() });
        }
        let hidden: BTreeSet<Name> = sweep.intersection(&in_value).cloned().collect();
        let sources = sources(kernel, what, rule, &calls, &hidden)?;
        let outer = what.outer_inames.clone().unwrap_or_else(|| {
            let shared = order::inames_of_writers(kernel, &reads, &users);
            in_arguments.union(&in_value).chain(&shared).filter(|iname| !sweep.contains(*iname)).cloned().collect()
        });
        // A loop around the fetch alone must run, or nothing is fetched.
        for user in &users {
            let around: BTreeSet<Name> = order::around(user).collect();
            let mut within = around.clone();
            for iname in outer.difference(&around) {
                check_values(kernel, &user.id, &within, iname)?;
                within.insert(iname.clone());
            }
        }
        // Only where what is swept bounds a reduction must that run over inames of its own.
        let copied = if linked.is_disjoint(&sweep) { BTreeSet::new() } else { bound };
        let mut names = UniqueNames::of_variables(kernel);
        let axes = (0..sources.len()).map(|axis| names.make(&format!("box_{axis}"))).collect();
        let mut job = Job { kernel, what, rule, sweep, outer, calls, sources, axes, accesses: Vec::new(), reads, hidden, copied };
        job.accesses = job.calls.iter().map(|call| job.access(call)).collect();
        Ok(job)
    }

    fn question(&self) -> Question<'_> {
        Question { kernel: self.kernel, sweep: &self.sweep, outer: &self.outer, axes: &self.axes, accesses: &self.accesses }
    }

    /// What a call takes along the axes.
    fn access(&self, call: &[Affine]) -> Vec<Affine> {
        let along = |source: &Source| match source {
            Source::Parameter(index) => call[*index].clone(),
            Source::Iname(iname) => Affine::name(iname.clone()),
        };
        self.sources.iter().map(along).collect()
    }

    fn footprint_error(&self, error: FootprintError) -> PrecomputeError {
        let rule = self.rule.name.clone();
        match error {
            FootprintError::Solver(error) => PrecomputeError::Solver(error),
            FootprintError::Unbounded(axis) => PrecomputeError::Unbounded { rule, axis },
            FootprintError::Empty => PrecomputeError::Empty { rule },
            FootprintError::NotConvex(footprint) => PrecomputeError::NotConvex { rule, footprint: Box::new(footprint) },
        }
    }

    fn taken(&self, name: &Name) -> PrecomputeError {
        PrecomputeError::Taken { kernel: self.kernel.name.clone(), rule: self.rule.name.clone(), name: name.clone() }
    }

    fn build(&self, footprint: &Footprint) -> Result<LoopKernel, PrecomputeError> {
        let mut result = self.kernel.clone();
        // The loops are called after the rule's parameters. Those of rules are not names of the kernel, so they are free for that.
        result.substitutions.values_mut().for_each(|rule| rule.parameters.clear());
        let mut names = UniqueNames::of_variables(&result);
        result.substitutions.clone_from(&self.kernel.substitutions);
        let loops = self.loops(footprint, &mut names)?;
        self.add_loops(&mut result, footprint, &loops)?;

        let temporary = match &self.what.temporary {
            Some(name) => name.clone(),
            None => names.make(&self.rule.name),
        };
        let lengths: Vec<Expr> = loops.iter().map(|(axis, _)| from_affine(&footprint.lengths[*axis])).collect();
        let stored = self.temporary(&temporary, &loops, lengths)?;
        result.temporaries.insert(temporary.clone(), stored);

        let mut ids = UniqueNames::of_instructions(self.kernel);
        let id = match &self.what.instruction_id {
            Some(id) if ids.take(id) => id.clone(),
            Some(id) => return Err(self.taken(id)),
            None => ids.make(&self.rule.name),
        };
        let users = self.replace_calls(&mut result, footprint, &loops, &temporary)?;
        if let Some(stored) = result.temporaries.get_mut(&temporary).filter(|stored| stored.ty.is_none())
            && self.has_sum()?
        {
            stored.ty = self.sum_type(&users)?;
            stored.tags.insert(SUM_TAG.into());
        }
        let values = self.values(footprint, &loops)?;
        let copies = self.copy_reductions(&mut result, &mut names, &values)?;
        let lhs = place_of(&temporary, loops.iter().map(|(_, name)| Expr::var(name)).collect());
        let by: BTreeMap<Name, Expr> = values.iter().map(|(name, value)| (name.clone(), from_affine(value))).collect();
        let body = match self.copied.is_empty() {
            true => nested::at_place(&mut result, self.rule, &by, &mut names)?,
            false => self.rule.body.clone(),
        };
        let compute = self.compute(&id, lhs, &loops, (body, &by), &copies)?;
        let depends_on = order::dependencies(self.kernel, &users, &self.reads);
        let origin = self.origin(&values, &users, &temporary);
        let mut added = vec![Arc::new(Instruction { depends_on, origin: Arc::new(origin), ..compute })];
        if self.what.space == Some(AddressSpace::Global) {
            let kind = InstructionKind::Barrier { scope: SyncScope::Global, memory: MemoryKind::Global };
            let barrier = Instruction::bare(ids.make(&format!("{}_barrier", self.rule.name)), kind);
            added.push(Arc::new(Instruction { depends_on: BTreeSet::from([id.clone()]), ..barrier }));
        }
        insert_before_users(&mut result, &users, added);
        for instruction in result.instructions.iter_mut().filter(|instruction| users.contains(&instruction.id)) {
            let mut origin = (*instruction.origin).clone();
            origin.of.insert(temporary.clone(), self.steps(&temporary, 1));
            Arc::make_mut(instruction).origin = Arc::new(origin);
        }
        self.check_place(&result, &id)?;
        Ok(result)
    }

    /// There must be a place for the computation at which it reads what its users would have read.
    fn check_place(&self, result: &LoopKernel, id: &Name) -> Result<(), PrecomputeError> {
        // The bodies of rules are read too.
        let expanded = expand_subst(result, &Query::All)?;
        let facts = Facts::of(&expanded);
        match Dependences::of(&facts).without_place(facts.position[id])? {
            None => Ok(()),
            Some((array, writer)) => {
                let (rule, writer) = (self.rule.name.clone(), result.instructions[writer].id.clone());
                Err(PrecomputeError::Changes { rule, array, writer })
            }
        }
    }

    /// When the values were computed: wherever they are used, since what is read must be what the users would have read.
    fn origin(&self, values: &BTreeMap<Name, Affine>, users: &BTreeSet<Name>, temporary: &Name) -> Origin {
        let own = |name: &Name| self.outer.contains(name);
        let by_name = |names: BTreeSet<Name>| -> BTreeMap<Name, Expr> {
            let is_other = |name: &Name| without_primes(name).1 > 0 || (self.kernel.inames.contains_key(name) && !own(name));
            names.into_iter().filter(is_other).map(|name| (name.clone(), Expr::Variable(primed(&name)))).collect()
        };
        let of_user = |expr: &Expr| expr.substitute(&by_name(expr.variables()));
        let mut origin = Origin::default();
        for user in self.kernel.instructions.iter().filter(|user| users.contains(&user.id)) {
            for call in uses::calls_in(self.kernel, user, &self.rule.name) {
                let arguments = self.rule.parameters.iter().cloned().zip(call.iter().map(from_affine));
                let hidden = self.hidden.iter().map(|iname| (iname.clone(), Expr::Variable(iname.clone())));
                let given: Vec<(Expr, Expr)> =
                    (arguments.chain(hidden)).filter_map(|(name, used)| Some((of_user(&used), from_affine(values.get(&name)?)))).collect();
                for time in &user.origin.times {
                    let mut time = time.map(&of_user).then([TimeStep::At(-1)]);
                    time.given.extend(given.iter().cloned());
                    if !origin.times.contains(&time) {
                        origin.times.push(time);
                    }
                }
            }
        }
        // What it reads of other temporaries that were computed ahead, it reads when its users would have.
        for user in self.kernel.instructions.iter().filter(|user| users.contains(&user.id)) {
            for (name, steps) in user.origin.of.iter().filter(|(name, _)| self.reads.contains(*name)) {
                let is_own = |step: &TimeStep| match step {
                    TimeStep::At(_) => true,
                    TimeStep::Loop(value) => value.variables().iter().all(own),
                };
                if steps.iter().all(is_own) {
                    origin.of.insert(name.clone(), steps.clone());
                }
            }
        }
        origin.of.insert(temporary.clone(), self.steps(temporary, 0));
        origin
    }

    /// When the temporary is touched: in each turn of the loops around its computation first written, then read. One that is used again
    /// comes after what it was used for before.
    fn steps(&self, temporary: &Name, place: i64) -> Vec<TimeStep> {
        let mut steps: Vec<TimeStep> = self.outer.iter().map(|iname| TimeStep::Loop(Expr::Variable(iname.clone()))).collect();
        let known = self.kernel.instructions.iter().filter_map(|instruction| instruction.origin.of.get(temporary)?.last());
        let places = known.filter_map(|step| match step {
            TimeStep::At(place) => Some(*place + 1),
            TimeStep::Loop(_) => None,
        });
        steps.push(TimeStep::At(places.max().unwrap_or(0) + place));
        steps
    }

    /// The loops that compute: the axis, and the iname, of each axis that is longer than one.
    fn loops(&self, footprint: &Footprint, names: &mut UniqueNames) -> Result<Vec<(usize, Name)>, PrecomputeError> {
        let mut loops = Vec::new();
        for (axis, source) in self.sources.iter().enumerate() {
            let given = self.what.inames.get(axis).and_then(Option::as_ref);
            if !footprint.is_wide(axis) {
                match given.filter(|iname| self.kernel.inames.contains_key(*iname)) {
                    Some(iname) => return Err(PrecomputeError::ShortAxis { rule: self.rule.name.clone(), axis, iname: iname.clone() }),
                    None => continue,
                }
            }
            let name = match (given, source) {
                (Some(name), _) if self.kernel.inames.contains_key(name) || names.take(name) => name.clone(),
                (Some(name), _) => return Err(self.taken(name)),
                (None, Source::Parameter(index)) => names.make(&self.rule.parameters[*index]),
                (None, Source::Iname(iname)) => names.make(&format!("{}_{iname}", self.rule.name)),
            };
            loops.push((axis, name));
        }
        Ok(loops)
    }

    /// Gives the kernel the inames of the loops, with their domain and their tags.
    fn add_loops(&self, result: &mut LoopKernel, footprint: &Footprint, loops: &[(usize, Name)]) -> Result<(), PrecomputeError> {
        if loops.is_empty() {
            return Ok(());
        }
        let (old, new): (Vec<Name>, Vec<Name>) =
            loops.iter().map(|(_, name)| name.clone()).partition(|name| self.kernel.inames.contains_key(name));
        // Existing inames may be around the loops too: within sets the loops have names of their own until they are compared.
        let mut names = UniqueNames::of_variables(self.kernel);
        let mut inner: BTreeMap<Name, Name> = BTreeMap::new();
        for name in &old {
            inner.insert(names.make("loop"), name.clone());
        }
        let alias = |name: &Name| inner.iter().find(|(_, old)| *old == name).map_or_else(|| name.clone(), |(alias, _)| alias.clone());
        let aliased: Vec<(usize, Name)> = loops.iter().map(|(axis, name)| (*axis, alias(name))).collect();
        let needed = footprint.loops(&self.axes, &aliased, self.what.bounding_box).map_err(|error| self.footprint_error(error))?;
        if !old.is_empty() {
            self.check_existing(footprint, &needed, &inner)?;
        }
        if !new.is_empty() {
            let aliases: Vec<Name> = inner.keys().cloned().collect();
            result.domains.push(needed.to_params(&aliases).rename(&|name| inner.get(name).cloned())?);
        }
        for (axis, name) in loops.iter().filter(|(_, name)| new.contains(name)) {
            // A loop of any length fits no axis of a group.
            let fits = |tag: &InameTag| *tag != InameTag::LocalAuto || footprint.lengths[*axis].as_constant().is_some();
            let tags = self.tag(*axis, name).into_iter().filter(fits).collect();
            result.inames.insert(name.clone(), Iname { tags, ..Iname::default() });
        }
        Ok(())
    }

    /// Existing inames must have just the values that are needed.
    fn check_existing(&self, footprint: &Footprint, needed: &Set, inner: &BTreeMap<Name, Name>) -> Result<(), PrecomputeError> {
        let aliases: Vec<Name> = inner.keys().cloned().collect();
        let needed = needed.project_onto(&aliases)?;
        let old: Vec<Name> = inner.values().cloned().collect();
        let around: Vec<Name> = self.outer.iter().filter(|name| !self.sweep.contains(*name) && !old.contains(name)).cloned().collect();
        let wanted: Vec<Name> = old.iter().chain(&around).cloned().collect();
        let has = domain_of(self.kernel, &wanted)?.project_onto(&wanted)?.to_params(&around);
        let has = has.rename(&|name| inner.iter().find(|(_, old)| *old == name).map(|(alias, _)| alias.clone()))?;
        let context = footprint.context().add_dims(&aliases);
        if needed.join(&context)?.is_equal(&has.join(&context)?)? {
            return Ok(());
        }
        let named = |set: &Set| set.drop_unused_params().rename(&|name| inner.get(name).cloned());
        let (needed, has) = (named(&needed)?, named(&has)?);
        Err(PrecomputeError::OtherDomain { rule: self.rule.name.clone(), needed: Box::new(needed), has: Box::new(has) })
    }

    fn tag(&self, axis: usize, name: &Name) -> Option<InameTag> {
        let source = match &self.sources[axis] {
            Source::Parameter(index) => &self.rule.parameters[*index],
            Source::Iname(iname) => iname,
        };
        let given = self.what.axis_tags.get(name).or_else(|| self.what.axis_tags.get(source));
        given.cloned().or_else(|| match &self.what.default_tag {
            FetchTag::Untagged => None,
            FetchTag::Given(tag) => Some(tag.clone()),
            FetchTag::AsSweep => {
                let is_local = |tag: &InameTag| matches!(tag, InameTag::Local(_) | InameTag::LocalAuto);
                let tags = self.sweep.iter().filter_map(|iname| self.kernel.inames.get(iname)).flat_map(|iname| &iname.tags);
                tags.into_iter().any(is_local).then_some(InameTag::LocalAuto)
            }
        })
    }

    /// What the rule computes, with the rules that it calls expanded.
    fn body(&self) -> Result<Expr, PrecomputeError> {
        Ok(expand_calls(&self.rule.body, &self.kernel.substitutions, &self.rule.name, &|_| true)?)
    }

    fn has_sum(&self) -> Result<bool, PrecomputeError> {
        let is_sum = |part: &Expr| matches!(part, Expr::Reduction(sum) if matches!(sum.op, ReductionOp::Sum | ReductionOp::Product));
        Ok(self.body()?.any(&mut |part| is_sum(part)))
    }

    /// The type of a sum of integers: it is as wide as what its users assign it to. `None` for other values, whose types are inferred.
    fn sum_type(&self, users: &BTreeSet<Name>) -> Result<Option<Type>, PrecomputeError> {
        let body = self.body()?;
        let nothing = Program::empty();
        let integer = |expr: &Expr| infer::type_of(&nothing, self.kernel, expr).ok()?.scalar().filter(|dtype| dtype.is_integer());
        let at_zero = self.rule.parameters.iter().map(|parameter| (parameter.clone(), Expr::int(0))).collect();
        let Some(own) = integer(&body.substitute(&at_zero)) else { return Ok(None) };
        let users = self.kernel.instructions.iter().filter(|user| users.contains(&user.id));
        let widest = users.flat_map(|user| user.lhs()).filter_map(integer).max_by_key(|dtype| dtype.size());
        Ok(widest.filter(|widest| widest.size() > own.size()).map(Type::from))
    }

    fn temporary(&self, name: &Name, loops: &[(usize, Name)], lengths: Vec<Expr>) -> Result<Temporary, PrecomputeError> {
        let Some(old) = self.kernel.temporaries.get(name) else {
            if self.what.temporary.is_some() && !UniqueNames::of_variables(self.kernel).take(name) {
                return Err(self.taken(name));
            }
            let axis_names = Some(loops.iter().map(|(_, name)| name.clone()).collect());
            return Ok(Temporary {
                name: name.clone(),
                ty: self.what.ty.clone(),
                layout: Layout { axis_names, ..Layout::c_order(Shape::Known(lengths)) },
                space: self.what.space,
                initializer: None,
                read_only: false,
                base_storage: None,
                tags: BTreeSet::new(),
            });
        };
        self.widened(old, lengths)
    }

    /// A temporary that is there, large enough for both uses.
    fn widened(&self, old: &Temporary, lengths: Vec<Expr>) -> Result<Temporary, PrecomputeError> {
        let (rule, temporary) = (self.rule.name.clone(), old.name.clone());
        let known = match &old.layout.shape {
            Shape::Known(known) => known.clone(),
            _ => return Err(PrecomputeError::TemporaryShape { rule, temporary }),
        };
        if known.len() != lengths.len() {
            return Err(PrecomputeError::TemporaryAxes { rule, temporary, has: known.len(), needed: lengths.len() });
        }
        let longer = |(old, new): (&Expr, &Expr)| match (fold::as_int(old), fold::as_int(new)) {
            (Some(a), Some(b)) => Some(Expr::int(a.max(b))),
            _ => (old == new).then(|| old.clone()),
        };
        let Some(shape) = known.iter().zip(&lengths).map(longer).collect::<Option<Vec<Expr>>>() else {
            return Err(PrecomputeError::TemporaryShape { rule, temporary });
        };
        let ty = match (&old.ty, &self.what.ty) {
            (Some(old), Some(new)) if old != new => return Err(PrecomputeError::TemporaryType { rule, temporary }),
            (old, new) => old.clone().or_else(|| new.clone()),
        };
        let space = match (old.space, self.what.space) {
            (Some(has), Some(wanted)) if has != wanted => {
                return Err(PrecomputeError::TemporarySpace { rule, temporary, has, wanted });
            }
            (old, new) => old.or(new),
        };
        Ok(Temporary { ty, space, layout: Layout { shape: Shape::Known(shape), ..old.layout.clone() }, ..old.clone() })
    }

    /// `temporary[loops] = the rule at the box's beginning plus the loops`.
    fn compute(
        &self,
        id: &Name,
        lhs: Expr,
        loops: &[(usize, Name)],
        (mut body, by): (Expr, &BTreeMap<Name, Expr>),
        copies: &BTreeMap<Name, Name>,
    ) -> Result<Instruction, PrecomputeError> {
        if !self.copied.is_empty() {
            body = expand_calls(&body, &self.kernel.substitutions, &self.rule.name, &|_| true)?;
            body = hidden::rename_reductions(&body, copies);
        }
        let rhs = body.substitute(by);
        let mut within_inames = self.outer.clone();
        within_inames.extend(loops.iter().map(|(_, name)| name.clone()));
        Ok(Instruction { within_inames, ..Instruction::assign(id.clone(), lhs, rhs) })
    }

    /// What parameters of the rule, and hidden inames, are at a place of the box.
    fn values(&self, footprint: &Footprint, loops: &[(usize, Name)]) -> Result<BTreeMap<Name, Affine>, PrecomputeError> {
        let mut values: BTreeMap<Name, Affine> = BTreeMap::new();
        for (axis, source) in self.sources.iter().enumerate() {
            let base = &footprint.bases[axis];
            let value = match loops.iter().find(|(wide, _)| *wide == axis) {
                Some((_, name)) => base.add(&Affine::name(name.clone()))?,
                None => base.clone(),
            };
            let name = match source {
                Source::Parameter(index) => &self.rule.parameters[*index],
                Source::Iname(iname) => iname,
            };
            values.insert(name.clone(), value);
        }
        for (index, parameter) in self.rule.parameters.iter().enumerate() {
            if !values.contains_key(parameter) {
                values.insert(parameter.clone(), self.only_value(index, parameter)?);
            }
        }
        for iname in &self.hidden {
            if let Some(index) = argument_that_is(&self.calls, self.rule, iname)
                && !values.contains_key(iname)
            {
                values.insert(iname.clone(), values[&self.rule.parameters[index]].clone());
            }
        }
        Ok(values)
    }

    /// Gives the kernel inames of their own for reductions that swept inames bound.
    fn copy_reductions(
        &self,
        result: &mut LoopKernel,
        names: &mut UniqueNames,
        values: &BTreeMap<Name, Affine>,
    ) -> Result<BTreeMap<Name, Name>, PrecomputeError> {
        let copies: BTreeMap<Name, Name> = self.copied.iter().map(|iname| (iname.clone(), names.make(iname))).collect();
        if !copies.is_empty() {
            let mut around: BTreeMap<Name, Affine> =
                self.outer.difference(&self.sweep).map(|iname| (iname.clone(), Affine::name(iname.clone()))).collect();
            around.extend(self.hidden.iter().filter_map(|iname| Some((iname.clone(), values.get(iname)?.clone()))));
            result.domains.push(hidden::domain_of_copies(self.kernel, &copies, &around)?);
        }
        for (iname, copy) in &copies {
            result.inames.insert(copy.clone(), self.kernel.inames.get(iname).cloned().unwrap_or_default());
        }
        Ok(copies)
    }

    /// The value of a parameter that is not a storage axis: the same in all calls, and not swept.
    fn only_value(&self, index: usize, parameter: &Name) -> Result<Affine, PrecomputeError> {
        let mut values = self.calls.iter().map(|call| &call[index]);
        let first = values.next().filter(|first| first.names().is_disjoint(&self.sweep) && values.all(|value| value == *first));
        let missing = || PrecomputeError::MissingStorageAxis { rule: self.rule.name.clone(), parameter: parameter.clone() };
        first.cloned().ok_or_else(missing)
    }

    /// Puts stored values in place of calls; gives the ids of their instructions.
    fn replace_calls(
        &self,
        result: &mut LoopKernel,
        footprint: &Footprint,
        loops: &[(usize, Name)],
        temporary: &Name,
    ) -> Result<BTreeSet<Name>, PrecomputeError> {
        // Calls that made the footprint are inside it; others are asked for, each once.
        let mut inside: BTreeMap<Vec<Affine>, bool> = self.accesses.iter().map(|access| (access.clone(), true)).collect();
        let question = self.question();
        for call in uses::affine_calls(self.kernel, &self.rule.name, &self.what.within) {
            if let Entry::Vacant(entry) = inside.entry(self.access(&call)) {
                let covered = question.covers(footprint, entry.key())?;
                entry.insert(covered);
            }
        }
        let stored = |call: &[Affine]| {
            let access = self.access(call);
            if !inside.get(&access).copied().unwrap_or(false) {
                return None;
            }
            let index = |(axis, _): &(usize, Name)| access[*axis].sub(&footprint.bases[*axis]).ok().map(|index| from_affine(&index));
            Some(place_of(temporary, loops.iter().map(index).collect::<Option<Vec<Expr>>>()?))
        };
        Ok(uses::replace_calls(result, &self.rule.name, &self.what.within, &stored))
    }
}

/// The calls that make the footprint, by the rule's parameters.
fn calls(kernel: &LoopKernel, what: &Precompute, rule: &SubstitutionRule) -> Result<Vec<Vec<Affine>>, PrecomputeError> {
    let mut calls = Vec::new();
    for args in &what.footprint {
        let (takes, given) = (rule.parameters.len(), args.len());
        if takes != given {
            return Err(PrecomputeError::FootprintArguments { rule: rule.name.clone(), takes, given });
        }
        calls.push(uses::affine_arguments(kernel, args).ok_or_else(|| {
            let is_bad = |arg: &Expr| uses::affine_arguments(kernel, std::slice::from_ref(arg)).is_none();
            PrecomputeError::FootprintNotAffine { rule: rule.name.clone(), argument: args.iter().position(is_bad).unwrap_or(0) }
        })?);
    }
    if calls.is_empty() {
        calls = uses::affine_calls(kernel, &rule.name, &what.within);
    }
    match calls.is_empty() {
        true => Err(PrecomputeError::NoUses { kernel: kernel.name.clone(), rule: rule.name.clone() }),
        false => Ok(calls),
    }
}

/// What the axes of the temporary stand for. Of the hidden inames, those that are an argument need no axis.
fn sources(
    kernel: &LoopKernel,
    what: &Precompute,
    rule: &SubstitutionRule,
    calls: &[Vec<Affine>],
    hidden: &BTreeSet<Name>,
) -> Result<Vec<Source>, PrecomputeError> {
    let needed = |iname: &&Name| hidden.contains(*iname) && argument_that_is(calls, rule, iname).is_none();
    let Some(axes) = &what.storage_axes else {
        let extra = what.sweep_inames.iter().filter(needed).cloned().map(Source::Iname);
        return Ok(extra.chain((0..rule.parameters.len()).map(Source::Parameter)).collect());
    };
    if let Some(iname) = hidden.iter().filter(needed).find(|iname| !axes.contains(*iname)) {
        return Err(PrecomputeError::HiddenAxis { rule: rule.name.clone(), iname: iname.clone() });
    }
    let source = |axis: &Name| match rule.parameters.iter().position(|parameter| parameter == axis) {
        Some(index) => Ok(Source::Parameter(index)),
        None if kernel.inames.contains_key(axis) => Ok(Source::Iname(axis.clone())),
        None => Err(PrecomputeError::UnknownStorageAxis { rule: rule.name.clone(), axis: axis.clone() }),
    };
    axes.iter().map(source).collect()
}

/// The parameter that stands for just this iname in all calls.
fn argument_that_is(calls: &[Vec<Affine>], rule: &SubstitutionRule, iname: &Name) -> Option<usize> {
    (0..rule.parameters.len()).find(|&index| calls.iter().all(|call| call[index].as_name() == Some(iname)))
}

fn calls_rule(expr: &Expr, kernel: &LoopKernel, rule: &Name) -> bool {
    expr.any(&mut |inner| parloop_ir::substitution::rule_call(inner, &kernel.substitutions).is_some_and(|(called, _)| called.name == *rule))
}

fn place_of(temporary: &Name, indices: Vec<Expr>) -> Expr {
    match indices.is_empty() {
        true => Expr::var(temporary.clone()),
        false => Expr::subscript(temporary.clone(), indices),
    }
}

/// Puts instructions in front of the first user and lets all users wait for them.
fn insert_before_users(kernel: &mut LoopKernel, users: &BTreeSet<Name>, added: Vec<Arc<Instruction>>) {
    let ids: Vec<Name> = added.iter().map(|instruction| instruction.id.clone()).collect();
    let first = kernel.instructions.iter().position(|instruction| users.contains(&instruction.id)).unwrap_or(0);
    for instruction in kernel.instructions.iter_mut().filter(|instruction| users.contains(&instruction.id)) {
        Arc::make_mut(instruction).depends_on.extend(ids.iter().cloned());
    }
    kernel.instructions.splice(first..first, added);
}
