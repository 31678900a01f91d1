//! What kernels do, and how fast the last call did it, as numbers for Python.

use std::collections::{BTreeMap, BTreeSet};

use parloop_device::profile::Work as CallWork;
use parloop_loop::lower::tree::{For, Statement};
use parloop_loop::prepare::prepare;
use parloop_loop::schedule::{Node, Schedule, ScheduleItem};
use parloop_loop::stats::{Count, Direction, Selection, Strides, Tally, Work, turns};
use parloop_loop::syntax::{AddressSpace, InameTag, Instruction, Program, SyncScope};
use parloop_loop::{Name, run::target_of};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use super::compiled::{lock, with_types};
use super::program::LoopProgram;
use super::repeat::PreparedCall;
use crate::error::Result;
use crate::ndarray::numpy_dtype;

/// Seconds, sizes, the device, and the program with its types.
type LastCall<'py> = (f64, BTreeMap<String, i64>, String, Bound<'py, LoopProgram>);

fn work_of(program: &Program, entry: &Name) -> Result<Work> {
    let mut only = program.clone();
    only.entrypoints.retain(|name| name == entry);
    let prepared = prepare(&only, program.target.unwrap_or(parloop_loop::syntax::Target::C))?;
    let kernel = prepared.kernel(entry).ok_or_else(|| parloop_loop::error::LoopError::NoEntry { names: Vec::new() })?;
    Ok(Work::of(&prepared, kernel)?)
}

/// The number for these sizes, and whether it is exact; without sizes only its text.
fn counted<'py>(py: Python<'py>, count: &Count, sizes: Option<&BTreeMap<String, i64>>) -> Result<Bound<'py, PyAny>> {
    let numbers = match sizes {
        Some(sizes) => {
            let found = count.evaluate(&|name| sizes.get(name.as_str()).copied()).map_err(parloop_loop::error::LoopError::from)?;
            Some((found.value, found.exact))
        }
        None => None,
    };
    Ok((count.to_string(), numbers).into_pyobject(py)?.into_any())
}

/// A number in terms of the sizes of a kernel.
#[pyclass(frozen, name = "_LoopCount", module = "parloop._parloop")]
pub struct LoopCount {
    inner: Count,
}

#[pymethods]
impl LoopCount {
    /// The number for these sizes, and whether it is exact.
    fn evaluate(&self, sizes: BTreeMap<String, i64>) -> Result<(u128, bool)> {
        let found = self.inner.evaluate(&|name| sizes.get(name.as_str()).copied()).map_err(parloop_loop::error::LoopError::from)?;
        Ok((found.value, found.exact))
    }

    fn __add__(&self, other: &LoopCount) -> LoopCount {
        let mut inner = self.inner.clone();
        inner.add(other.inner.clone());
        LoopCount { inner }
    }

    fn __mul__(&self, factor: i64) -> LoopCount {
        LoopCount { inner: self.inner.scaled(factor) }
    }

    fn __str__(&self) -> String {
        self.inner.to_string()
    }
}

/// How many points a set has.
#[pyfunction]
#[pyo3(name = "_count_loop_points")]
pub fn count_loop_points(set: &str) -> Result<LoopCount> {
    let set = parloop_loop::Set::parse(set).map_err(parloop_loop::error::LoopError::from)?;
    Ok(LoopCount { inner: Count::points(&set, 1).map_err(parloop_loop::error::LoopError::from)? })
}

/// The kernel of that name after all passes, with the kernels that it calls in the place of their calls.
fn inlined(program: &Program, entry: &Name) -> Result<Program> {
    let mut only = program.clone();
    only.entrypoints.retain(|name| name == entry);
    let others: Vec<Name> = only
        .callables
        .iter()
        .filter(|(name, callable)| *name != entry && callable.kernel().is_some())
        .map(|(name, _)| name.clone())
        .collect();
    for name in others {
        only = parloop_loop::transform::inline_callable_kernel(&only, &name)?;
    }
    Ok(prepare(&only, program.target.unwrap_or(parloop_loop::syntax::Target::C))?)
}

type Strided = Vec<(u8, Option<String>)>;

#[pymethods]
impl LoopProgram {
    /// Operations as `(kind, dtype, count)`, accesses as `((space, dtype, array, direction, granularity), (strides along l, along g), count)`.
    #[allow(clippy::too_many_arguments)] // they are the parameters of Python's method
    #[pyo3(signature = (entry, subgroup, redundant, operations, subscripts, within))]
    fn _tally<'py>(
        &self,
        py: Python<'py>,
        entry: &str,
        subgroup: Option<u64>,
        redundant: bool,
        operations: bool,
        subscripts: bool,
        within: Option<&str>,
    ) -> Result<Bound<'py, PyDict>> {
        let entry = Name::from(entry);
        let query = within.map(parloop_loop::parse::query).transpose()?;
        let program = py.detach(|| inlined(&self.inner, &entry))?;
        let kernel = program.kernel(&entry).ok_or_else(|| parloop_loop::error::LoopError::NoEntry { names: Vec::new() })?;
        let only = |instruction: &Instruction| query.as_ref().is_none_or(|query| query.matches(kernel, instruction));
        let selection = Selection { subgroup, redundant, operations, subscripts, only: &only };
        let tally = Tally::of(&program, kernel, &selection).map_err(parloop_loop::error::LoopError::from)?;
        let said = PyDict::new(py);
        let mut operations = Vec::new();
        for ((operation, dtype), count) in tally.operations {
            operations.push((operation.to_string(), numpy_dtype(py, dtype)?, Bound::new(py, LoopCount { inner: count })?));
        }
        let strided = |strides: &Strides| -> Strided {
            strides.iter().map(|(axis, stride)| (*axis, stride.as_ref().map(ToString::to_string))).collect()
        };
        let mut accesses = Vec::new();
        for (access, count) in tally.accesses {
            let way = if access.direction == Direction::Load { "load" } else { "store" };
            let (space, variable) = (access.space.to_string(), access.variable.to_string());
            let key = (space, numpy_dtype(py, access.dtype)?, variable, way, access.granularity.to_string());
            accesses.push((key, (strided(&access.local), strided(&access.group)), Bound::new(py, LoopCount { inner: count })?));
        }
        said.set_item("operations", operations)?;
        said.set_item("accesses", accesses)?;
        Ok(said)
    }

    /// The barriers and launches of a schedule as `(kind, count)`.
    fn _synchronizations(&self, py: Python<'_>, entry: &str) -> Result<Vec<(&'static str, LoopCount)>> {
        let target = self.inner.target.unwrap_or(parloop_loop::syntax::Target::C);
        let generated = py.detach(|| parloop_loop::prepare::generate(&self.inner, entry, target))?;
        let schedule = &generated.schedule;
        let mut found: Vec<(&'static str, Vec<Name>)> = Vec::new();
        steps(schedule, &schedule.steps, &mut Vec::new(), &mut found);
        let counted = |(kind, loops): (&'static str, Vec<Name>)| {
            let inner = turns(&schedule.kernel, &loops).map_err(parloop_loop::error::LoopError::from)?;
            Ok((kind, LoopCount { inner }))
        };
        found.into_iter().map(counted).collect()
    }

    /// The elements of arrays that are touched, as `(array, direction, set)`; no set where indices are not affine.
    fn _touched(&self, entry: &str) -> Result<Vec<(String, &'static str, Option<String>)>> {
        let work = work_of(&self.inner, &entry.into())?;
        let way = |direction: &Direction| if *direction == Direction::Load { "read" } else { "write" };
        let touched = work.touched.iter();
        Ok(touched.map(|((array, direction), set)| (array.to_string(), way(direction), set.as_ref().map(ToString::to_string))).collect())
    }

    /// Operations as `(kind, dtype, (text, numbers))`, accesses and footprints as `(array, dtype, direction, (text, numbers))`.
    #[pyo3(signature = (sizes=None))]
    fn _work<'py>(&self, py: Python<'py>, sizes: Option<BTreeMap<String, i64>>) -> Result<Bound<'py, PyDict>> {
        let work = work_of(&self.inner, self.inner.only_entry()?)?;
        let said = PyDict::new(py);
        let mut operations = Vec::new();
        for ((operation, dtype), count) in &work.operations {
            operations.push((operation.to_string(), dtype.name(), counted(py, count, sizes.as_ref())?));
        }
        let way = |direction: &Direction| if *direction == Direction::Load { "load" } else { "store" };
        let (mut accesses, mut footprints) = (Vec::new(), Vec::new());
        for ((array, direction), count) in &work.accesses {
            accesses.push((array.to_string(), work.types[array].name(), way(direction), counted(py, count, sizes.as_ref())?));
        }
        for ((array, direction), count) in &work.footprints {
            let count = count.as_ref().map(|count| counted(py, count, sizes.as_ref())).transpose()?;
            footprints.push((array.to_string(), work.types[array].name(), way(direction), count));
        }
        said.set_item("operations", operations)?;
        said.set_item("accesses", accesses)?;
        said.set_item("footprints", footprints)?;
        Ok(said)
    }

    /// On a CPU, the inames on local axes, and the sequential loops around those over the items of a group: values that each item has of its own
    /// are arrays in memory there. Nothing if there are none such.
    fn _loops_over_items(&self, py: Python<'_>) -> Result<Option<(Vec<String>, Vec<String>)>> {
        if self.inner.target.is_some_and(|target| target != parloop_loop::syntax::Target::C) {
            return Ok(None);
        }
        let entry = self.inner.only_entry()?.clone();
        let generated = py.detach(|| parloop_loop::prepare::generate(&self.inner, &entry, parloop_loop::syntax::Target::C))?;
        let kernel = &generated.kernel;
        let mut arrays = BTreeSet::new();
        generated.lowered.functions.iter().for_each(|function| private_arrays(&function.body, &mut arrays));
        let is_number = |name: &Name| {
            kernel.temporaries.get(name).is_some_and(|known| known.layout.lengths().is_some_and(|lengths| lengths.is_empty()))
        };
        arrays.retain(is_number);
        let writers = kernel
            .instructions
            .iter()
            .filter(|instruction| instruction.lhs().into_iter().filter_map(|lhs| lhs.written_name()).any(|name| arrays.contains(name)));
        let (mut items, mut loops) = (BTreeSet::new(), BTreeSet::new());
        for iname in writers.flat_map(|instruction| &instruction.within_inames) {
            let tags = kernel.inames.get(iname).map(|iname| &iname.tags);
            match tags.and_then(|tags| tags.iter().find(|tag| matches!(tag, InameTag::Local(_)))) {
                Some(_) => _ = items.insert(iname.to_string()),
                None if tags.is_none_or(BTreeSet::is_empty) => _ = loops.insert(iname.to_string()),
                None => {}
            }
        }
        let is_found = !items.is_empty() && !loops.is_empty();
        Ok(is_found.then(|| (items.into_iter().collect(), loops.into_iter().collect())))
    }

    /// The last call: seconds, sizes, the device, and the program with the types it was called with; `None` before the first.
    fn _last_call<'py>(&self, py: Python<'py>) -> Result<Option<LastCall<'py>>> {
        let last = lock(&self.last);
        let Some(last) = &*last else { return Ok(None) };
        let seconds = match &last.events {
            None => last.took.as_secs_f64(),
            Some((start, end)) => {
                end.wait().map_err(parloop_kernel::KernelError::from)?;
                end.since(start).map_err(parloop_kernel::KernelError::from)?
            }
        };
        let (sizes, typed) = self.as_called(py, &last.known)?;
        Ok(Some((seconds, sizes, last.known.compiled.context().device().id().to_string(), typed)))
    }
}

/// The private arrays that statements declare.
fn private_arrays(statements: &[Statement], found: &mut BTreeSet<Name>) {
    for statement in statements {
        match statement {
            Statement::Declare(declared) if declared.space == AddressSpace::Private && !declared.lengths.is_empty() => {
                found.insert(declared.name.clone());
            }
            Statement::For(For { body, .. }) | Statement::Groups { body, .. } | Statement::Block(body) => private_arrays(body, found),
            Statement::If(_, yes, no) => {
                private_arrays(yes, found);
                private_arrays(no, found);
            }
            _ => {}
        }
    }
}

impl LoopProgram {
    /// The sizes of a call, and the program with the types it was called with.
    fn as_called<'py>(&self, py: Python<'py>, known: &PreparedCall) -> Result<(BTreeMap<String, i64>, Bound<'py, LoopProgram>)> {
        let compiled = &known.compiled;
        let sizes = compiled.executable().plan().sizes(&known.sizes).map(|(name, value)| (name.to_string(), value)).collect();
        let kernel = self.inner.kernel(compiled.entry());
        let mut typed = kernel.map_or_else(|| (*self.inner).clone(), |kernel| with_types(&self.inner, kernel, compiled.types()));
        typed.entrypoints.retain(|name| name == compiled.entry());
        typed.target = Some(target_of(compiled.context().device().kind()));
        Ok((sizes, Bound::new(py, LoopProgram::new(typed))?))
    }

    /// What a call does, counted once for each kind of call; nothing where it cannot be counted.
    pub fn work(&self, py: Python<'_>, known: &PreparedCall) -> Result<CallWork> {
        static COUNTS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        if let Some(work) = known.work.get() {
            return Ok(*work);
        }
        let (sizes, typed) = self.as_called(py, known)?;
        let counts = COUNTS.import(py, "parloop.loops._report", "known_counts")?.call1((typed, sizes))?;
        let (bytes, flops): (Option<u64>, Option<u64>) = counts.extract()?;
        Ok(*known.work.get_or_init(|| CallWork { bytes, flops }))
    }
}

/// Launches, and the barriers in them, with the loops around each.
fn steps(schedule: &Schedule, each: &[ScheduleItem], around: &mut Vec<Name>, found: &mut Vec<(&'static str, Vec<Name>)>) {
    for step in each {
        match step {
            ScheduleItem::Launch(index) => {
                found.push(("kernel_launch", around.clone()));
                barriers(&schedule.launches[*index].body, around, found);
            }
            ScheduleItem::Loop { iname, body } => {
                around.push(iname.clone());
                steps(schedule, body, around, found);
                around.pop();
            }
        }
    }
}

fn barriers(nodes: &[Node], around: &mut Vec<Name>, found: &mut Vec<(&'static str, Vec<Name>)>) {
    for node in nodes {
        match node {
            Node::Loop { iname, body } => {
                around.push(iname.clone());
                barriers(body, around, found);
                around.pop();
            }
            Node::Barrier { scope, .. } => {
                found.push((if *scope == SyncScope::Local { "barrier_local" } else { "barrier_global" }, around.clone()));
            }
            Node::Run(_) => {}
        }
    }
}
