//! `parloop.mesh.par_loop` and `parloop.mesh.ParLoop`.

use std::time::Duration;

use parloop_kernel as ker;
use parloop_loop::parse::nearest;
use parloop_mesh as mesh;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyComplex, PyDict, PyFloat, PyInt, PyTuple};

use super::arg::Arg;
use super::extruded::Region;
use super::global::Global;
use super::kernel::Kernel;
use super::set::Set;
use super::values::storage;
use crate::context::{Context, current_context};
use crate::error::Result;
use crate::exceptions::Exception;
use crate::html::html;
use crate::number::{describe, plain_number};
use crate::recording::check_storage;
use crate::released::released;

/// How a loop is run, as Python says it.
struct LoopArguments<'a, 'py> {
    plan: Option<&'a str>,
    deterministic: bool,
    checked: Option<bool>,
    lanes: Option<bool>,
    context: Option<&'a Bound<'py, PyAny>>,
    iteration_region: Option<&'a Bound<'py, PyAny>>,
    pass_layer_arg: bool,
}

fn options(said: &LoopArguments<'_, '_>) -> Result<mesh::LoopOptions> {
    let plan = match said.plan {
        None => mesh::PlanChoice::Auto,
        Some(name) => mesh::PlanChoice::from_name(name).ok_or_else(|| {
            let plans = mesh::PlanChoice::ALL.map(mesh::PlanChoice::name);
            let near = nearest(name, plans).map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
            PyValueError::new_err(format!("unknown plan {name:?}{near} (plans: {})", plans.join(", ")))
        })?,
    };
    let checked = said.checked.unwrap_or_else(|| mesh::LoopOptions::default().checked);
    let lanes = match said.lanes {
        None => mesh::Lanes::Auto,
        Some(false) => mesh::Lanes::Never,
        Some(true) => mesh::Lanes::Always,
    };
    let region = Region::of(said.iteration_region)?;
    Ok(mesh::LoopOptions { plan, deterministic: said.deterministic, checked, lanes, region, pass_layer: said.pass_layer_arg })
}

fn arguments(kernel: &mesh::Kernel, args: &Bound<'_, PyTuple>) -> Result<Vec<mesh::Arg>> {
    let mut found = Vec::with_capacity(args.len());
    for (index, arg) in args.iter().enumerate() {
        found.push(match arg.cast::<Arg>() {
            Ok(arg) => arg.get().inner.clone(),
            Err(_) => number(kernel, index, &arg)?,
        });
    }
    Ok(found)
}

/// A number that the kernel reads, in the type of its parameter. It is data, not code: another number needs no compilation.
fn number(kernel: &mesh::Kernel, index: usize, value: &Bound<'_, PyAny>) -> Result<mesh::Arg> {
    let is_plain = value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() || value.is_instance_of::<PyComplex>();
    if !is_plain && (value.is_instance_of::<Global>() || plain_number(value).is_none()) {
        let message = format!("argument {index} is {}, not a number or data with an access, such as dat(op2.READ)", describe(value));
        return Err(Exception::DatTypeError.error(message).into());
    }
    let dtype = kernel.dtype(index);
    let storage = storage(value.py(), Some(value), dtype, 1, 1).map_err(|error| match dtype {
        Some(dtype) => {
            let (name, shown) = (kernel.name(), value.repr().map_or_else(|_| describe(value), |text| text.to_string()));
            Exception::DataValueError
                .error(format!("argument {index} of kernel `{name}` has type {dtype}, which cannot hold {shown}"))
                .into()
        }
        None => error,
    })?;
    let global = mesh::Global::around(1, storage, format!("argument {index}"), true)?;
    Ok(mesh::Arg::global(&global, mesh::Access::Read))
}

/// Runs a kernel for each element of a set.
///
/// Parameters
/// ----------
/// kernel : Kernel
///     What is done for each element.
/// iterset : Set
///     The elements.
/// *args : Arg or number
///     The data, each with an access: ``dat(op2.READ)`` directly, ``dat(op2.INC, map)`` through a map. A number is read by every element,
///     in the type of the kernel's parameter, which is ``double dt`` or ``const double *dt``; another number needs no compilation.
/// plan : str, optional
///     How writes are kept apart: sequential, owner, strips, colour, gather, atomic or shared. By default auto: those that apply are timed
///     in the first runs, and the fastest is kept.
/// deterministic : bool
///     Whether results are the same bit for bit in every run.
/// checked : bool, optional
///     Whether indices are checked; by default what ``PARLOOP_CHECKED`` says.
/// lanes : bool, optional
///     Whether a CPU runs several elements at a time, in the lanes of its vectors; by default where that is faster.
/// context : Context or str, optional
///     Where it runs; by default the innermost ``with ctx:``.
/// iteration_region : optional
///     Which cells of the columns of an extruded set: ``ALL``, ``ON_BOTTOM``, ``ON_TOP`` or ``ON_INTERIOR_FACETS``.
/// pass_layer_arg : bool
///     Whether the kernel gets the number of the layer of an extruded set, an ``int``, behind all arguments.
///
/// Examples
/// --------
/// >>> import parloop.mesh as op2
/// >>> cells, nodes = op2.Set(2, "cells"), op2.Set(4, "nodes")
/// >>> corners = op2.Map(cells, nodes, 3, [[0, 1, 2], [1, 3, 2]])
/// >>> count = op2.Dat(nodes, dtype="int32")
/// >>> add = op2.Kernel("void add(int *n) { for (int i = 0; i < 3; i++) n[i] += 1; }", "add")
/// >>> op2.par_loop(add, cells, count(op2.INC, corners))
/// >>> count.data_ro
/// array([1, 2, 2, 1], dtype=int32)
/// >>> x = op2.Dat(nodes, [1.0, 2.0, 3.0, 4.0])
/// >>> scale = op2.Kernel("void scale(double *x, double by) { x[0] *= by; }", "scale")
/// >>> op2.par_loop(scale, nodes, x(op2.RW), 0.5)
/// >>> x.data_ro
/// array([0.5, 1. , 1.5, 2. ])
#[pyfunction]
#[pyo3(name = "_par_loop", signature = (kernel, iterset, *args, plan=None, deterministic=false, checked=None, lanes=None, context=None, iteration_region=None, pass_layer_arg=false))]
#[allow(clippy::too_many_arguments)] // they are the parameters of Python's function
pub fn par_loop<'py>(
    py: Python<'py>,
    kernel: &Bound<'py, PyAny>,
    iterset: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    plan: Option<&str>,
    deterministic: bool,
    checked: Option<bool>,
    lanes: Option<bool>,
    context: Option<&Bound<'py, PyAny>>,
    iteration_region: Option<&Bound<'py, PyAny>>,
    pass_layer_arg: bool,
) -> Result<()> {
    let options = options(&LoopArguments { plan, deterministic, checked, lanes, context, iteration_region, pass_layer_arg })?;
    let made = made(py, kernel, iterset, args, options)?;
    match context.filter(|context| !context.is_none()) {
        None => run(py, &made, &current_context(py)?.get().inner),
        Some(context) => run(py, &made, &Context::of(Some(context), py)?.inner),
    }
}

/// The loop. Places in matrices may have to be found, which takes its time.
fn made<'py>(
    py: Python<'py>,
    kernel: &Bound<'py, PyAny>,
    iterset: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    options: mesh::LoopOptions,
) -> Result<mesh::ParLoop> {
    let kernel = &Kernel::of(kernel)?.get().inner;
    let (set, args) = (Set::of(iterset)?.get().mesh(), arguments(kernel, args)?);
    Ok(py.detach(|| mesh::ParLoop::new(kernel, set, args, options))?)
}

/// Runs a loop while the data has the memory that it shares with NumPy's arrays.
fn run(py: Python<'_>, made: &mesh::ParLoop, context: &ker::Context) -> Result<()> {
    for storage in made.parts().iter().map(mesh::Part::storage).filter(|storage| storage.owner().is_some()) {
        check_storage(py, storage)?;
        // Looked at again before each replay.
        context.stream().keep_recorded(|| std::sync::Arc::new(storage.clone()));
    }
    Ok(released(py, || made.run(context))?)
}

/// A kernel over a set with its arguments, checked once and run as often as it is called.
///
/// The parameters are those of `par_loop`. Without a context it runs on that of the innermost ``with ctx:`` at each call.
///
/// Examples
/// --------
/// >>> import parloop.mesh as op2
/// >>> cells = op2.Set(3, "cells")
/// >>> x = op2.Dat(cells, [1, 2, 3], dtype=float)
/// >>> step = op2.ParLoop(op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice"), cells, x(op2.RW))
/// >>> step(); step()
/// >>> x.data_ro
/// array([ 4.,  8., 12.])
#[pyclass(frozen, subclass, weakref, module = "parloop.mesh")]
pub struct ParLoop {
    inner: mesh::ParLoop,
    kernel: Py<PyAny>,
    iterset: Py<PyAny>,
    args: Py<PyTuple>,
    context: Option<ker::Context>,
}

impl ParLoop {
    /// The context that was named, or its own, or that of the innermost ``with ctx:``.
    fn context_or_own(&self, py: Python<'_>, context: Option<&Bound<'_, PyAny>>) -> Result<ker::Context> {
        match (context.filter(|context| !context.is_none()), &self.context) {
            (None, Some(own)) => Ok(own.clone()),
            (context, _) => Ok(Context::of(context, py)?.inner),
        }
    }
}

#[pymethods]
impl ParLoop {
    #[new]
    #[pyo3(signature = (kernel, iterset, *args, plan=None, deterministic=false, checked=None, lanes=None, context=None, iteration_region=None, pass_layer_arg=false))]
    #[allow(clippy::too_many_arguments)] // they are the parameters of Python's class
    fn new<'py>(
        py: Python<'py>,
        kernel: &Bound<'py, PyAny>,
        iterset: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        plan: Option<&str>,
        deterministic: bool,
        checked: Option<bool>,
        lanes: Option<bool>,
        context: Option<&Bound<'py, PyAny>>,
        iteration_region: Option<&Bound<'py, PyAny>>,
        pass_layer_arg: bool,
    ) -> Result<ParLoop> {
        let said = LoopArguments { plan, deterministic, checked, lanes, context, iteration_region, pass_layer_arg };
        let inner = made(py, kernel, iterset, args, options(&said)?)?;
        let context = match said.context.filter(|context| !context.is_none()) {
            Some(context) => Some(Context::of(Some(context), py)?.inner),
            None => None,
        };
        let (kernel, iterset, args) = (kernel.clone().unbind(), iterset.clone().unbind(), args.clone().unbind());
        Ok(ParLoop { inner, kernel, iterset, args, context })
    }

    /// Runs it.
    fn __call__(&self, py: Python<'_>) -> Result<()> {
        match &self.context {
            Some(context) => run(py, &self.inner, context),
            None => run(py, &self.inner, &current_context(py)?.get().inner),
        }
    }

    /// Runs it.
    fn compute(&self, py: Python<'_>) -> Result<()> {
        self.__call__(py)
    }

    /// The source that it launches on a context, one kernel after another.
    #[pyo3(signature = (context=None))]
    fn code(&self, py: Python<'_>, context: Option<&Bound<'_, PyAny>>) -> Result<String> {
        let context = self.context_or_own(py, context)?;
        Ok(py.detach(|| self.inner.code(&context))?.join("\n"))
    }

    /// How it runs on a context: the plan, the alternatives with their times, GB/s and the share of the memory bandwidth.
    ///
    /// The time is that of the last run on a CPU; elsewhere it is the shortest of the runs that were waited for, or the median of trial runs. Bytes are those that a run moves at least.
    ///
    /// >>> import parloop.mesh as op2
    /// >>> cells = op2.Set(1000, "cells")
    /// >>> x = op2.Dat(cells, dtype=float)
    /// >>> step = op2.ParLoop(op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice"), cells, x(op2.RW), context="cpu:1")
    /// >>> step()
    /// >>> report = step.report()
    /// >>> report.plan, report.runs, report.bytes
    /// ('free', 1, 16000)
    #[pyo3(signature = (context=None))]
    fn report<'py>(&self, py: Python<'py>, context: Option<&Bound<'py, PyAny>>) -> Result<Bound<'py, PyAny>> {
        static MADE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let context = self.context_or_own(py, context)?;
        let report = py.detach(|| self.inner.report(&context))?;
        let (described, seconds) = (PyDict::new(py), |time: Option<Duration>| time.map(|time| time.as_secs_f64()));
        let plans: Vec<_> = report.plans.iter().map(|plan| (&*plan.name, plan.state.to_string(), seconds(plan.time))).collect();
        described.set_item("kernel", report.kernel)?;
        described.set_item("set", report.set)?;
        described.set_item("elements", report.elements)?;
        described.set_item("device", report.device)?;
        described.set_item("bytes", report.bytes)?;
        described.set_item("plans", plans)?;
        described.set_item("last", seconds(report.last))?;
        described.set_item("runs", report.runs)?;
        Ok(MADE.import(py, "parloop.mesh._report", "made")?.call1((described,))?)
    }

    /// The kernel.
    #[getter]
    fn kernel<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.kernel.bind(py).clone()
    }

    /// The set.
    #[getter]
    fn iterset<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.iterset.bind(py).clone()
    }

    /// The arguments.
    #[getter]
    fn args<'py>(&self, py: Python<'py>) -> Bound<'py, PyTuple> {
        self.args.bind(py).clone()
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.py(), "par_loop", (slf,))
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let args: Vec<String> = self.args.bind(py).iter().map(|arg| arg.repr().map(|text| text.to_string())).collect::<PyResult<_>>()?;
        Ok(format!("<ParLoop {} over {}: {}>", self.inner.kernel().name(), self.inner.set().name(), args.join(", ")))
    }
}
