//! `buffer_array`: some instructions use a temporary instead of part of an array; it is filled before and stored afterwards.

use std::collections::BTreeSet;
use std::sync::Arc;

use parloop_analysis::dependence::elements_may_share_memory;
use parloop_analysis::facts::Facts;
use parloop_ir::affine::from_affine;
use parloop_ir::matching::Query;
use parloop_ir::names::UniqueNames;
use parloop_ir::syntax::{
    AddressSpace, Argument, Expr, Iname, InameTag, Instruction, Layout, LoopKernel, Origin, Shape, Temporary, TimeStep, primed,
    without_primes,
};
use parloop_isl::{Affine, IslError, Name, Set};

use super::arrays::{ElementIndex, UnknownArray, layout_of};
use super::precompute::footprint::{Footprint, FootprintError, Question};
use super::precompute::uses::affine_arguments;

/// What is buffered, for which sweep, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The array.
    pub array: Name,
    /// The inames over which the buffer is live.
    pub inames: BTreeSet<Name>,
    /// The initial value of the buffer; `None`: the values of the array. Every element must be assigned, so that the
    /// initial value is never seen.
    pub init: Option<Expr>,
    /// The instructions that use the buffer.
    pub within: Query,
    /// How the loops that fill and store it run.
    pub default_tag: Option<InameTag>,
    /// The memory of the buffer; `None`: inferred from its use.
    pub space: Option<AddressSpace>,
    /// Its name; `None`: `a_buf`.
    pub temporary: Option<Name>,
    /// Whether the whole bounding box may be stored if the accessed part is not convex.
    pub bounding_box: bool,
}

impl Buffer {
    /// All uses of an array over a sweep, with defaults for everything else.
    pub fn of(array: impl Into<Name>, inames: impl IntoIterator<Item = impl Into<Name>>) -> Buffer {
        Buffer {
            array: array.into(),
            inames: inames.into_iter().map(Into::into).collect(),
            init: None,
            within: Query::All,
            default_tag: None,
            space: None,
            temporary: None,
            bounding_box: false,
        }
    }
}

/// Why an array cannot be buffered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BufferArrayError {
    /// Unknown array.
    #[error("{0}")]
    UnknownArray(#[from] UnknownArray),
    /// Unknown iname.
    #[error("kernel `{kernel}` has no iname `{iname}`")]
    UnknownIname {
        /// The kernel.
        kernel: Name,
        /// The iname.
        iname: Name,
    },
    /// No instruction uses it.
    #[error("no selected instruction of kernel `{kernel}` uses `{array}`")]
    NotUsed {
        /// The kernel.
        kernel: Name,
        /// The array.
        array: Name,
    },
    /// A use of unknown elements.
    #[error("`{access}` in `{instruction}` is not an element with affine indices, so the part of `{array}` to buffer is unknown")]
    NotAffine {
        /// The array.
        array: Name,
        /// The instruction, or the rule.
        instruction: Name,
        /// The use.
        access: String,
    },
    /// The elements have no box.
    #[error("the accessed part of `{array}` {what}; sweep other inames, or allow the bounding box")]
    NoBox {
        /// The array.
        array: Name,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The name of the buffer is in use.
    #[error("`{name}` is already a name in kernel `{kernel}`; choose another one for the buffer")]
    Taken {
        /// The kernel.
        kernel: Name,
        /// The name.
        name: Name,
    },
    /// A write to one element is seen in another, but not in the buffer.
    #[error(
        "elements of `{array}` share memory through its strides, so a buffer cannot hold them separately; give the array its own layout"
    )]
    SharedElements {
        /// The array.
        array: Name,
    },
    /// An element that the buffer holds but no instruction accesses.
    #[error(
        "the buffer would hold `{array}{element}`, which no selected instruction accesses, and its stale value would overwrite what `{writer}` may have written; sweep other inames"
    )]
    Untouched {
        /// The array.
        array: Name,
        /// The element.
        element: ElementIndex,
        /// The instruction that writes it.
        writer: Name,
    },
    /// The initial value of the buffer would be seen.
    #[error(
        "the buffer of `{array}` cannot be initialized to `{init}`: {why}, so this value would be seen instead of the one in `{array}`; leave it out"
    )]
    Init {
        /// The array.
        array: Name,
        /// The initial value.
        init: String,
        /// Why it would be seen.
        why: String,
    },
    /// An instruction that was precomputed, or stands for several.
    #[error("`{instruction}` stands for several instances of the kernel as created, so it cannot be buffered")]
    Several {
        /// The instruction.
        instruction: Name,
    },
    /// The solver failed.
    #[error(transparent)]
    Isl(#[from] IslError),
}

/// Makes instructions use a temporary instead of an array: it is filled with what they access over a sweep, and stored after them.
///
/// ```
/// use parloop_loop::create::make_kernel;
/// use parloop_loop::transform::{Buffer, buffer_array};
/// let program = make_kernel("{[o, i, j]: 0<=o<n and 0<=i<16 and 0<=j<m}", "b[16*o + i] = b[16*o + i] + a[16*o + i, j]")?;
/// let kernel = buffer_array(program.entry().unwrap(), &Buffer::of("b", ["i"]))?;
/// let texts: Vec<String> = kernel.instructions.iter().map(|instruction| instruction.kind.to_string()).collect();
/// assert_eq!(texts, ["b_buf[b_init_0] = b[b_init_0 + 16*o]", "b_buf[i] = b_buf[i] + a[16*o + i, j]", "b[b_store_0 + 16*o] = b_buf[b_store_0]"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BufferArrayError`].
pub fn buffer_array(kernel: &LoopKernel, what: &Buffer) -> Result<LoopKernel, BufferArrayError> {
    layout_of(kernel, &what.array)?;
    if elements_may_share_memory(&Facts::of(kernel), &what.array) {
        return Err(BufferArrayError::SharedElements { array: what.array.clone() });
    }
    if let Some(name) = what.temporary.as_ref().filter(|name| !UniqueNames::of_variables(kernel).take(name)) {
        return Err(BufferArrayError::Taken { kernel: kernel.name.clone(), name: name.clone() });
    }
    if let Some(iname) = what.inames.iter().find(|iname| !kernel.inames.contains_key(*iname)) {
        return Err(BufferArrayError::UnknownIname { kernel: kernel.name.clone(), iname: iname.clone() });
    }
    let buffering = Buffering::plan(kernel, what)?;
    buffering.check_untouched()?;
    buffering.check_init()?;
    buffering.build()
}

struct Buffering<'a> {
    kernel: &'a LoopKernel,
    what: &'a Buffer,
    /// The inames around the buffer.
    outer: BTreeSet<Name>,
    /// The uses: positions of instructions, and their indices.
    uses: Vec<(usize, Vec<Affine>)>,
    users: BTreeSet<Name>,
    footprint: Footprint,
    axes: Vec<Name>,
    names: UniqueNames,
}

impl<'a> Buffering<'a> {
    fn plan(kernel: &'a LoopKernel, what: &'a Buffer) -> Result<Buffering<'a>, BufferArrayError> {
        let mut uses = Vec::new();
        if let Some(rule) = kernel.substitutions.values().find(|rule| rule.body.variables().contains(&what.array)) {
            let (array, instruction, access) = (what.array.clone(), rule.name.clone(), rule.body.to_string());
            return Err(BufferArrayError::NotAffine { array, instruction, access });
        }
        for (at, instruction) in kernel.instructions.iter().enumerate() {
            if what.within.matches(kernel, instruction) {
                for indices in indices_of(kernel, instruction, &what.array)? {
                    uses.push((at, indices));
                }
            }
        }
        if uses.is_empty() {
            return Err(BufferArrayError::NotUsed { kernel: kernel.name.clone(), array: what.array.clone() });
        }
        let users: BTreeSet<Name> = uses.iter().map(|(at, _)| kernel.instructions[*at].id.clone()).collect();
        if let Some(user) = kernel.instructions.iter().find(|user| users.contains(&user.id) && user.origin.times.len() > 1) {
            return Err(BufferArrayError::Several { instruction: user.id.clone() });
        }
        let is_outer = |name: &Name| kernel.inames.contains_key(name) && !what.inames.contains(name);
        let outer: BTreeSet<Name> = uses.iter().flat_map(|(_, indices)| indices.iter().flat_map(Affine::names)).filter(is_outer).collect();
        let mut names = UniqueNames::of_variables(kernel);
        let axes: Vec<Name> = (0..uses[0].1.len()).map(|axis| names.make(&format!("box_{axis}"))).collect();
        let accesses: Vec<Vec<Affine>> = uses.iter().map(|(_, indices)| indices.clone()).collect();
        let question = Question { kernel, sweep: &what.inames, outer: &outer, axes: &axes, accesses: &accesses };
        let footprint = question.answer().map_err(|error| no_box(&what.array, error))?;
        let names = UniqueNames::of_variables(kernel);
        Ok(Buffering { kernel, what, outer, uses, users, footprint, axes, names })
    }

    /// The elements that the instructions access at some indices, in each iteration of the loops around, or in any.
    fn touched<'i>(&self, uses: impl Iterator<Item = (usize, &'i [Affine])>, outer: &BTreeSet<Name>) -> Result<Set, IslError> {
        let question = Question { kernel: self.kernel, sweep: &self.what.inames, outer, axes: &self.axes, accesses: &[] };
        let mut touched = Set::empty(&[], &self.axes);
        for (at, indices) in uses {
            touched = touched.union(&question.image_within(indices, &self.kernel.instructions[at].within_inames)?)?;
        }
        Ok(touched)
    }

    /// Elements that no instruction accesses in an iteration are stored as they were filled: no one may write them meanwhile.
    fn check_untouched(&self) -> Result<(), BufferArrayError> {
        let array = &self.what.array;
        let filled = self.footprint.filled(&self.axes, self.what.bounding_box).map_err(|error| no_box(array, error))?;
        let touched = self.touched(self.uses.iter().map(|(at, indices)| (*at, &indices[..])), &self.outer)?;
        let rest = filled.join(self.footprint.context())?.subtract(&touched)?;
        if !self.is_written() || rest.is_empty()? {
            return Ok(());
        }
        for (at, instruction) in self.kernel.instructions.iter().enumerate() {
            for lhs in instruction.lhs().into_iter().filter(|lhs| lhs.written_name() == Some(array)) {
                let lost = match lhs {
                    Expr::Subscript(_, indices) => match affine_arguments(self.kernel, indices) {
                        Some(indices) => rest.join(&self.touched([(at, &indices[..])].into_iter(), &BTreeSet::new())?)?,
                        None => rest.clone(),
                    },
                    _ => rest.clone(),
                };
                if let Some(point) = lost.sample()? {
                    let element = ElementIndex(self.axes.iter().map(|axis| point.get(axis).copied()).collect());
                    return Err(BufferArrayError::Untouched { array: array.clone(), element, writer: instruction.id.clone() });
                }
            }
        }
        Ok(())
    }

    /// Whether the buffer is stored.
    fn is_written(&self) -> bool {
        self.kernel.instructions.iter().any(|user| self.users.contains(&user.id) && user.writes().contains(&self.what.array))
    }

    /// Checks that the initial value is never seen: each element is assigned, and none is read.
    fn check_init(&self) -> Result<(), BufferArrayError> {
        let array = &self.what.array;
        let Some(init) = self.what.init.as_ref().filter(|_| !self.kernel.options.is_lenient()) else { return Ok(()) };
        let seen = |why: String| Err(BufferArrayError::Init { array: array.clone(), init: init.to_string(), why });
        let users = || self.kernel.instructions.iter().filter(|user| self.users.contains(&user.id));
        if let Some(user) = users().find(|user| user.reads().contains(array)) {
            return seen(format!("`{}` reads it", user.id));
        }
        let sets_component = |user: &Instruction| user.lhs().iter().any(|lhs| matches!(lhs, Expr::Lookup(..)));
        if let Some(user) = users().find(|user| user.writes().contains(array) && sets_component(user)) {
            return seen(format!("`{}` assigns a component of it", user.id));
        }
        if let Some(user) = users().find(|user| !user.predicates.is_empty()) {
            return seen(format!("`{}` is conditional", user.id));
        }
        let filled = self.footprint.filled(&self.axes, self.what.bounding_box).map_err(|error| no_box(array, error))?;
        let assigned = self.touched(self.uses.iter().map(|(at, indices)| (*at, &indices[..])), &self.outer)?;
        match filled.join(self.footprint.context())?.is_subset(&assigned)? {
            true => Ok(()),
            false => seen("some elements are not assigned".to_owned()),
        }
    }

    fn build(mut self) -> Result<LoopKernel, BufferArrayError> {
        let mut result = self.kernel.clone();
        let buffer = match &self.what.temporary {
            Some(name) => name.clone(),
            None => self.names.make(&format!("{}_buf", self.what.array)),
        };
        let wide: Vec<usize> = (0..self.axes.len()).filter(|&axis| self.footprint.is_wide(axis)).collect();
        let lengths = wide.iter().map(|&axis| from_affine(&self.footprint.lengths[axis])).collect();
        let temporary = Temporary {
            name: buffer.clone(),
            ty: self.element_type(),
            layout: Layout::c_order(Shape::Known(lengths)),
            space: self.what.space,
            initializer: None,
            read_only: false,
            base_storage: None,
            tags: BTreeSet::new(),
        };
        result.temporaries.insert(buffer.clone(), temporary);
        let mut ids = UniqueNames::of_instructions(self.kernel);
        let array = self.what.array.clone();
        let (init, store) = (ids.make(&format!("init_{array}")), ids.make(&format!("store_{array}")));
        let fill = self.copy(&mut result, &buffer, &wide, (&init, "init"), -1)?;
        let keep = if self.is_written() { Some(self.copy(&mut result, &buffer, &wide, (&store, "store"), 1)?) } else { None };
        for instruction in &mut result.instructions {
            if self.users.contains(&instruction.id) {
                let changed = self.user(instruction, &buffer, &wide, &init)?;
                *instruction = Arc::new(changed);
            } else if keep.is_some() && !instruction.depends_on.is_disjoint(&self.users) {
                Arc::make_mut(instruction).depends_on.insert(store.clone());
            }
        }
        let is_user = |instruction: &Arc<Instruction>| self.users.contains(&instruction.id);
        let (first, last) = (result.instructions.iter().position(is_user), result.instructions.iter().rposition(is_user));
        if let Some(keep) = keep {
            result.instructions.insert(last.map_or(0, |last| last + 1), Arc::new(keep));
        }
        result.instructions.insert(first.unwrap_or(0), Arc::new(fill));
        Ok(result)
    }

    fn element_type(&self) -> Option<parloop_ir::syntax::Type> {
        let argument = self.kernel.arguments.iter().find(|argument: &&Argument| argument.name == self.what.array);
        argument.map_or_else(|| self.kernel.temporaries.get(&self.what.array)?.ty.clone(), |argument| argument.ty.clone())
    }

    /// The instruction that fills or stores the buffer, in its own loops.
    fn copy(
        &mut self,
        result: &mut LoopKernel,
        buffer: &Name,
        wide: &[usize],
        (id, what): (&Name, &str),
        place: i64,
    ) -> Result<Instruction, BufferArrayError> {
        let array = &self.what.array;
        let loops: Vec<(usize, Name)> = wide.iter().map(|&axis| (axis, self.names.make(&format!("{array}_{what}_{axis}")))).collect();
        if !loops.is_empty() {
            let domain = self.footprint.loops(&self.axes, &loops, self.what.bounding_box).map_err(|error| no_box(array, error))?;
            result.domains.push(domain);
            for (_, name) in &loops {
                let tags = self.what.default_tag.iter().cloned().collect();
                result.inames.insert(name.clone(), Iname { tags, ..Iname::default() });
            }
        }
        let mut places = self.footprint.bases.clone();
        for (axis, name) in &loops {
            places[*axis] = places[*axis].add(&Affine::name(name.clone()))?;
        }
        let theirs = element(array, places.iter().map(from_affine).collect());
        let own = element(buffer, loops.iter().map(|(_, name)| Expr::var(name)).collect());
        let (lhs, rhs) = match (place < 0, &self.what.init) {
            (true, Some(value)) => (own, value.clone()),
            (true, None) => (own, theirs),
            (false, _) => (theirs, own),
        };
        let users = || self.kernel.instructions.iter().filter(|user| self.users.contains(&user.id));
        let depends_on = match place < 0 {
            true => users().flat_map(|user| &user.depends_on).filter(|id| !self.users.contains(*id)).cloned().collect(),
            false => self.users.clone(),
        };
        let mut origin = self.origin(&places, place);
        let steps = self.steps(if place < 0 { 0 } else { 2 }, &[]);
        origin.of.insert(buffer.clone(), steps.clone());
        origin.copies.insert(buffer.clone(), (self.what.array.clone(), steps));
        Ok(Instruction {
            depends_on,
            within_inames: self.outer.iter().cloned().chain(loops.into_iter().map(|(_, name)| name)).collect(),
            within_inames_is_final: true,
            origin: Arc::new(origin),
            ..Instruction::assign(id.clone(), lhs, rhs)
        })
    }

    /// When the array was accessed: whenever an instruction accessed the element.
    fn origin(&self, places: &[Affine], place: i64) -> Origin {
        let of_user = |expr: &Expr| {
            let is_other =
                |name: &Name| without_primes(name).1 > 0 || (self.kernel.inames.contains_key(name) && !self.outer.contains(name));
            expr.substitute(
                &expr.variables().into_iter().filter(is_other).map(|name| (name.clone(), Expr::Variable(primed(&name)))).collect(),
            )
        };
        let mut origin = Origin::default();
        for (at, indices) in &self.uses {
            for time in &self.kernel.instructions[*at].origin.times {
                let mut time = time.map(&of_user).then([TimeStep::At(place)]);
                time.given.extend(indices.iter().zip(places).map(|(index, place)| (of_user(&from_affine(index)), from_affine(place))));
                if !origin.times.contains(&time) {
                    origin.times.push(time);
                }
            }
        }
        origin
    }

    /// When the buffer is accessed: in each iteration of the loops around it, first filled, then used in the order of its users, then
    /// stored.
    fn steps(&self, place: i64, inside: &[TimeStep]) -> Vec<TimeStep> {
        let around = self.outer.iter().map(|iname| TimeStep::Loop(Expr::Variable(iname.clone())));
        around.chain([TimeStep::At(place)]).chain(inside.iter().cloned()).collect()
    }

    fn user(&self, user: &Instruction, buffer: &Name, wide: &[usize], init: &Name) -> Result<Instruction, BufferArrayError> {
        let array = Expr::var(&self.what.array);
        let mut changed = user.try_map_exprs(&mut |expr| {
            expr.try_rewrite(&mut |part| match part {
                Expr::Subscript(aggregate, indices) if **aggregate == array => {
                    let mut own = Vec::with_capacity(wide.len());
                    let indices = affine_arguments(self.kernel, indices).expect("invariant: the indices of all uses are affine");
                    for &axis in wide {
                        own.push(from_affine(&indices[axis].sub(&self.footprint.bases[axis])?));
                    }
                    Ok::<_, BufferArrayError>(Some(element(buffer, own)))
                }
                part if *part == array => Ok(Some(Expr::var(buffer))),
                _ => Ok(None),
            })
        })?;
        changed.depends_on.insert(init.clone());
        let own = user.origin.times.first().map(|time| time.steps.clone()).unwrap_or_default();
        Arc::make_mut(&mut changed.origin).of.insert(buffer.clone(), self.steps(1, &own));
        Ok(changed)
    }
}

fn element(array: &Name, indices: Vec<Expr>) -> Expr {
    if indices.is_empty() { Expr::var(array) } else { Expr::subscript(array, indices) }
}

/// The indices of all uses of an array in an instruction.
fn indices_of(kernel: &LoopKernel, instruction: &Instruction, array: &Name) -> Result<Vec<Vec<Affine>>, BufferArrayError> {
    let (mut found, mut wrong, mut inside) = (Vec::new(), None, 0);
    for expr in instruction.exprs() {
        expr.visit(&mut |part| match part {
            Expr::Subscript(aggregate, indices) if **aggregate == Expr::var(array) => {
                inside += 1;
                match affine_arguments(kernel, indices) {
                    Some(indices) => found.push(indices),
                    None => wrong = Some(part.to_string()),
                }
            }
            Expr::LinearSubscript(aggregate, _) if **aggregate == Expr::var(array) => wrong = Some(part.to_string()),
            Expr::SubArray(sub) if sub.array == *array => wrong = Some(part.to_string()),
            Expr::Variable(name) if name == array => {
                // The aggregate of an element is visited after it.
                if inside > 0 { inside -= 1 } else { found.push(Vec::new()) }
            }
            _ => {}
        });
    }
    match wrong {
        Some(access) => Err(BufferArrayError::NotAffine { array: array.clone(), instruction: instruction.id.clone(), access }),
        None => Ok(found),
    }
}

fn no_box(array: &Name, error: FootprintError) -> BufferArrayError {
    let what = match error {
        FootprintError::Solver(error) => return error.into(),
        FootprintError::Unbounded(_) => "has no bounds in terms of the parameters",
        FootprintError::Empty => "is empty",
        FootprintError::NotConvex(_) => "is not convex",
    };
    BufferArrayError::NoBox { array: array.clone(), what }
}
