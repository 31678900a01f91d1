//! The work of a kernel by granularity: operations per subgroup, and accesses to memory with their strides along the axes of the hardware.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use parloop_device::DType;
use parloop_ir::affine::to_affine;
use parloop_ir::fold;
use parloop_ir::layout::Axis;
use parloop_ir::program::Program;
use parloop_ir::syntax::{AddressSpace, ArgumentKind, Expr, Instruction, Layout, LoopKernel};
use parloop_isl::{Name, Set};

use super::count::Count;
use super::error::{StatsError, only_numbers};
use super::work::{Direction, Operation, operations};
use crate::axis;
use crate::facts::{Facts, Placement};
use crate::infer::TypeReader;

/// The granularity of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Granularity {
    /// Once per work item.
    WorkItem,
    /// Once per subgroup.
    Subgroup,
    /// Once per work-group.
    WorkGroup,
}

impl fmt::Display for Granularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Granularity::WorkItem => "workitem",
            Granularity::Subgroup => "subgroup",
            Granularity::WorkGroup => "workgroup",
        })
    }
}

/// The stride in elements between neighbours along each hardware axis; `None` if the index is not affine.
pub type Strides = BTreeMap<u8, Option<Expr>>;

/// A memory access pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// Local or global memory.
    pub space: AddressSpace,
    /// The type of the elements.
    pub dtype: DType,
    /// The array.
    pub variable: Name,
    /// Whether it is read or written.
    pub direction: Direction,
    /// Along the axes of a work-group.
    pub local: Strides,
    /// Along the axes of groups.
    pub group: Strides,
    /// What is counted.
    pub granularity: Granularity,
}

/// What is counted.
pub struct Selection<'a> {
    /// The subgroup size. Needed if groups have more than one item.
    pub subgroup: Option<u64>,
    /// Whether work that several items or groups repeat is counted for each of them.
    pub redundant: bool,
    /// Whether operations are counted.
    pub operations: bool,
    /// Whether operations in indices are counted.
    pub subscripts: bool,
    /// Which instructions are counted.
    pub only: &'a dyn Fn(&Instruction) -> bool,
}

/// Operations and accesses of a kernel, each number in terms of its sizes.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Operations by kind and type, for each subgroup.
    pub operations: BTreeMap<(Operation, DType), Count>,
    /// Accesses to local and global memory.
    pub accesses: BTreeMap<Access, Count>,
}

impl Tally {
    /// Counts the work of a kernel, after types are inferred and reductions are realised.
    ///
    /// # Errors
    /// If a type is missing, if the size of a subgroup or of a group is needed but unknown, or if the solver fails.
    pub fn of(program: &Program, kernel: &LoopKernel, selection: &Selection<'_>) -> Result<Tally, StatsError> {
        only_numbers(kernel)?;
        let facts = Facts::of(kernel);
        let mut axes: BTreeMap<Placement, Name> = BTreeMap::new();
        for iname in kernel.instructions.iter().flat_map(|instruction| &instruction.within_inames) {
            let placement = facts.placement(iname);
            if placement.is_parallel() {
                axes.entry(placement).or_insert_with(|| iname.clone());
            }
        }
        let mut counter =
            Counter { program, facts: &facts, reader: TypeReader::new(program, kernel), selection, axes, tally: Tally::default() };
        for instruction in kernel.instructions.iter().filter(|instruction| (selection.only)(instruction)) {
            counter.instruction(instruction)?;
        }
        Ok(counter.tally)
    }
}

/// How often an instruction runs.
struct Runs {
    within: BTreeSet<Name>,
    by_items: Count,
    by_subgroups: Option<Count>,
}

struct Counter<'a> {
    program: &'a Program,
    facts: &'a Facts<'a>,
    reader: TypeReader<'a>,
    selection: &'a Selection<'a>,
    /// The axes of the hardware that are used, with an iname of each.
    axes: BTreeMap<Placement, Name>,
    tally: Tally,
}

impl Counter<'_> {
    fn instruction(&mut self, instruction: &Instruction) -> Result<(), StatsError> {
        let runs = self.runs(instruction)?;
        for expr in instruction.rhs() {
            self.expr(expr, &runs)?;
        }
        for lhs in instruction.lhs() {
            self.place(lhs, Direction::Store, &runs)?;
        }
        Ok(())
    }

    fn runs(&self, instruction: &Instruction) -> Result<Runs, StatsError> {
        let within: Vec<Name> = instruction.within_inames.iter().cloned().collect();
        let forest = &self.facts.forest;
        let mut domain = forest.domain_of(&within)?.project_onto(&within)?.join(&self.facts.kernel.assumptions)?;
        let used: BTreeSet<Placement> = within.iter().map(|iname| self.facts.placement(iname)).collect();
        let mut items = 1;
        if self.selection.redundant {
            for (placement, iname) in self.axes.iter().filter(|(placement, _)| !used.contains(placement)) {
                match placement {
                    Placement::Local(_) => items *= self.length(*placement, iname)?,
                    _ => domain = domain.join(&alone(&self.facts.forest, iname)?)?,
                }
            }
        }
        let locals: Vec<Name> = within.iter().filter(|iname| matches!(self.facts.placement(iname), Placement::Local(_))).cloned().collect();
        let by_items = Count::points(&domain, items as i64)?;
        let by_subgroups = match self.subgroups()? {
            None => None,
            Some(subgroups) => Some(Count::points(&domain.project_out(&locals)?, subgroups as i64)?),
        };
        Ok(Runs { within: instruction.within_inames.clone(), by_items, by_subgroups })
    }

    /// The number of subgroups in a group, if known.
    fn subgroups(&self) -> Result<Option<u64>, StatsError> {
        let mut items = 1;
        for (placement, iname) in &self.axes {
            if let Placement::Local(_) = placement {
                match self.length(*placement, iname) {
                    Ok(length) => items *= length,
                    Err(_) => return Ok(None),
                }
            }
        }
        Ok(match self.selection.subgroup {
            Some(size) => Some(items.div_ceil(size.max(1))),
            None => (items == 1).then_some(1),
        })
    }

    /// The maximum number of items along a group axis.
    fn length(&self, placement: Placement, first: &Name) -> Result<u64, StatsError> {
        let inames = self.facts.kernel.inames.keys().filter(|iname| self.facts.placement(iname) == placement);
        let lengths = inames.map(|iname| self.facts.constant_length(iname)).collect::<Option<Vec<_>>>();
        let longest = lengths.and_then(|lengths| lengths.into_iter().max()).and_then(|length| u64::try_from(length).ok());
        longest.ok_or_else(|| StatsError::GroupSize { iname: first.clone() })
    }

    fn expr(&mut self, expr: &Expr, runs: &Runs) -> Result<(), StatsError> {
        let found = if self.selection.operations { operations(expr) } else { Vec::new() };
        if !found.is_empty()
            && let Some(dtype) = self.reader.type_of(expr)?.scalar()
        {
            for operation in found {
                let operation = self.as_written(operation);
                let runs = self.by_subgroups(runs)?;
                self.tally.operations.entry((operation, dtype)).or_insert_with(Count::zero).add(runs);
            }
        }
        match expr {
            Expr::Variable(_) | Expr::Subscript(..) | Expr::LinearSubscript(..) | Expr::SubArray(_) => {
                self.place(expr, Direction::Load, runs)
            }
            _ => expr.children().into_iter().try_for_each(|child| self.expr(child, runs)),
        }
    }

    /// Functions by the names used in calls, not those of their specialisations.
    fn as_written(&self, operation: Operation) -> Operation {
        match operation {
            Operation::Call(name) => {
                let callable = self.program.callables.get(&name);
                Operation::Call(callable.map_or_else(|| name.clone(), |callable| callable.name().clone()))
            }
            other => other,
        }
    }

    fn by_subgroups(&self, runs: &Runs) -> Result<Count, StatsError> {
        let first = self.axes.iter().find(|(placement, _)| matches!(placement, Placement::Local(_)));
        match (&runs.by_subgroups, self.selection.subgroup) {
            (Some(count), _) => Ok(count.clone()),
            (None, None) => Err(StatsError::SubgroupSize),
            (None, Some(_)) => Err(StatsError::GroupSize { iname: first.map_or_else(|| "?".into(), |(_, iname)| iname.clone()) }),
        }
    }

    /// Counts an access to an element and its indices.
    fn place(&mut self, place: &Expr, direction: Direction, runs: &Runs) -> Result<(), StatsError> {
        let indices: Vec<&Expr> = match place {
            Expr::Subscript(_, indices) => indices.iter().collect(),
            Expr::Variable(_) => Vec::new(),
            _ => place.children(),
        };
        for index in &indices {
            if self.selection.subscripts {
                self.expr(index, runs)?;
            } else {
                let mut inner = Vec::new();
                index.visit(&mut |expr| {
                    if matches!(expr, Expr::Subscript(..)) {
                        inner.push(expr);
                    }
                });
                inner.into_iter().try_for_each(|access| self.place(access, Direction::Load, runs))?;
            }
        }
        let Some(variable) = place.written_name() else { return Ok(()) };
        let Some((space, dtype, layout)) = self.memory(variable) else { return Ok(()) };
        let layout = layout.clone();
        let (local, group) = match place {
            Expr::Subscript(..) => self.strides(variable, &layout, &indices, runs),
            _ => (Strides::new(), Strides::new()),
        };
        // All items of a subgroup read an element together unless it depends on the axis along which they are neighbours.
        let granularity = match space == AddressSpace::Global && local.contains_key(&0) {
            true => Granularity::WorkItem,
            false => Granularity::Subgroup,
        };
        let count = if granularity == Granularity::WorkItem { runs.by_items.clone() } else { self.by_subgroups(runs)? };
        let access = Access { space, dtype, variable: variable.clone(), direction, local, group, granularity };
        self.tally.accesses.entry(access).or_insert_with(Count::zero).add(count);
        Ok(())
    }

    /// Local and global arrays.
    fn memory(&self, name: &Name) -> Option<(AddressSpace, DType, &Layout)> {
        let kernel = self.facts.kernel;
        let (space, ty, layout) = match kernel.temporaries.get(name) {
            Some(temporary) => (temporary.space?, temporary.ty.as_ref(), &temporary.layout),
            None => {
                let argument = kernel.arguments.iter().find(|argument| argument.name == *name)?;
                let ArgumentKind::Array { space, layout, .. } = &argument.kind else { return None };
                (*space, argument.ty.as_ref(), layout)
            }
        };
        let space = match space {
            AddressSpace::Private => return None,
            AddressSpace::Local => AddressSpace::Local,
            _ => AddressSpace::Global,
        };
        Some((space, ty?.scalar()?, layout))
    }

    fn strides(&self, array: &Name, layout: &Layout, indices: &[&Expr], runs: &Runs) -> (Strides, Strides) {
        let (mut local, mut group) = (Strides::new(), Strides::new());
        let axes = layout.axes(array).unwrap_or_default();
        for iname in &runs.within {
            let (strides, axis) = match self.facts.placement(iname) {
                Placement::Local(axis) => (&mut local, axis),
                Placement::Group(axis) => (&mut group, axis),
                _ => continue,
            };
            let mut total = Some(Expr::int(0));
            for (index, lies) in indices.iter().zip(&axes) {
                let Axis::Stride(stride) = lies else { continue };
                let coefficient = match to_affine(index) {
                    Some(affine) if affine.has_floors() && affine.mentions(iname) => None,
                    Some(affine) => Some(affine.coefficient(iname)),
                    None => (!index.any(&mut |part| matches!(part, Expr::Variable(name) if name == iname))).then_some(0),
                };
                total = match (total, coefficient) {
                    (Some(total), Some(coefficient)) => Some(fold::add(total, fold::multiply(Expr::int(coefficient), stride.clone()))),
                    _ => None,
                };
            }
            if total != Some(Expr::int(0)) {
                strides.insert(axis, total);
            }
        }
        (local, group)
    }
}

/// The values of an iname, for all values of the inames in its bounds.
fn alone(forest: &parloop_ir::domain::Forest<'_>, iname: &Name) -> Result<Set, StatsError> {
    Ok(axis::alone(forest, iname)?)
}

/// The number of iterations of a loop nest over these inames.
///
/// # Errors
/// If the solver fails.
pub fn turns(kernel: &LoopKernel, inames: &[Name]) -> Result<Count, StatsError> {
    let domain = Facts::of(kernel).forest.domain_of(inames)?.project_onto(inames)?.join(&kernel.assumptions)?;
    Ok(Count::points(&domain, 1)?)
}
