//! The call from Python to a kernel, at once (`parloop.CompiledKernel`) or prepared (`parloop.BoundKernel`). Its arguments are sorted and
//! checked in `argument.rs`.

use std::ffi::CString;
use std::sync::Arc;

use parloop_device::DType;
use parloop_kernel as ker;
use parloop_kernel::{Items, KeepAlive, ParamType, Pointee, Scalar, Slots, Staging};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyTuple, PyType};

use crate::argument::{ArgumentObjects, Call, CallOwner};
use crate::array::Array;
use crate::error::Result;
use crate::grid::{GridRule, grid_of};
use crate::html::html;
use crate::kernel::Kernel;
use crate::memory::Memory;
use crate::objects::argument::Objects;
use crate::objects::object::Object;
use crate::recording::{Kind, Watched};
use crate::released::released;
use crate::runtime_class::{Arguments, Handoff, RuntimeClass, Slot, run};
use crate::stream::Stream;

/// The classes through which Python calls kernels and bound kernels.
struct Classes {
    kernel: RuntimeClass,
    bound: RuntimeClass,
}

fn classes(py: Python<'_>) -> PyResult<&'static Classes> {
    static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();
    CLASSES.get_or_try_init(py, || {
        Ok(Classes {
            kernel: RuntimeClass::new(py.get_type::<Kernel>(), c"parloop.CompiledKernel", Slot::Call(call_kernel))?,
            bound: RuntimeClass::new(py.get_type::<BoundKernel>(), c"parloop.BoundKernel", Slot::Call(call_bound))?,
        })
    })
}

/// Puts the classes into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let classes = classes(module.py())?;
    module.add("CompiledKernel", classes.kernel.class(module.py()))?;
    module.add("BoundKernel", classes.bound.class(module.py()))
}

unsafe extern "C" fn call_kernel(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: Python calls us by its protocol; the arguments live until we return.
    unsafe { run::<Kernel>(callable, |kernel| Ok(Kernel::call(kernel, Arguments::new(args, count, names))?)) }
}

unsafe extern "C" fn call_bound(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as above.
    unsafe { run::<BoundKernel>(callable, |bound| Ok(bound.get().call(bound.py(), Arguments::new(args, count, names))?)) }
}

impl Kernel {
    /// The kernel as an object that Python can call.
    pub fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        classes(py)?.kernel.make(py, self)
    }

    fn call(slf: &Bound<'_, Kernel>, arguments: Arguments<'_>) -> Result<Py<PyAny>> {
        let py = slf.py();
        if slf.get().inner.stream().is_recorded() {
            Arc::new(Kernel::bound(slf, arguments)?).record(py)?;
            return Ok(py.None());
        }
        slf.get().call_at_once(py, arguments)
    }

    fn call_at_once(&self, py: Python<'_>, arguments: Arguments<'_>) -> Result<Py<PyAny>> {
        // Made here and lent on: moving them about would cost a tenth of the call.
        let mut given = ArgumentObjects::new();
        let mut call = Call::default();
        self.sort(py, arguments, &mut given)?;
        // Functions of Python's come first: they may move the memory that arguments are in.
        self.check_given(&given)?;
        let items = self.items(py, &given)?;
        self.fill(&given, &mut call)?;
        if call.objects.has_copies() {
            call.objects.check_copies()?;
        }
        let returned = self.run(py, &mut call.slots, items, &call.staging, &mut call.objects)?;
        if call.objects.has_copies() {
            py.detach(|| call.objects.take_back())?;
        }
        Ok(self.to_python(py, returned)?)
    }

    /// The call with these arguments, checked and kept for later.
    fn bound(slf: &Bound<'_, Kernel>, arguments: Arguments<'_>) -> Result<BoundCall> {
        let (this, py) = (slf.get(), slf.py());
        let (mut given, mut call) = (ArgumentObjects::new(), Call::default());
        this.sort(py, arguments, &mut given)?;
        // Functions of Python's come first: they may move the memory that arguments are in.
        this.check_given(&given)?;
        let items = this.items(py, &given)?;
        let mut held = BoundOwners::default();
        let mut watched = Watched::default();
        for (value, param) in given.iter().zip(&this.inner.signature().params) {
            let Some(value) = value else { continue };
            // As they are before their addresses are taken.
            watched.add_array(&param.name, value)?;
            // The addresses in the slots must stay good.
            if let Ok(array) = value.cast::<Array>() {
                array.get().hold(py)?;
            } else if let Ok(memory) = value.cast::<Memory>() {
                let memory = &memory.get().inner;
                held._exports.extend(py.detach(|| memory.export())?);
            }
        }
        this.fill(&given, &mut call)?;
        let direct = given.iter().flatten().filter_map(|value| value.cast::<Object>().ok().map(|object| Bound::clone(&object)));
        for object in direct.chain(call.inside.iter().map(|(_, object)| object.clone())) {
            let view = &object.get().body()?.view;
            held._exports.push(py.detach(|| view.buffer().export())?);
            watched.views.push(view.clone());
        }
        let params = &this.inner.signature().params;
        let argument = |index: usize| format!("argument `{}` of kernel `{}`", params[index].name, this.inner.signature().name);
        if let Some(index) = call.objects.first_copied() {
            let what = argument(index);
            let reason = format!(
                "{what} is an object of another device, which cannot be bound, because each call would copy it; copy it there first"
            );
            return Err(PyValueError::new_err(reason).into());
        }
        if let Some(index) = call.staging.first() {
            let what = argument(index);
            let reason = format!(
                "{what} is a host array, which cannot be bound on a GPU, because each call would copy it; copy it once with ctx.array(…)"
            );
            return Err(PyValueError::new_err(reason).into());
        }
        // The exports keep the addresses from here on.
        py.detach(|| call.objects.hold(&mut call.slots, &this.inner).map(drop))?;
        for (index, seen) in call.offered {
            watched.add_seen(&this.inner.signature().params[index].name, seen);
        }
        watched.check(py, Kind::Bound)?;
        held.owners.extend(call.inside.into_iter().map(|(_, object)| object.into_any().unbind()));
        let objects = given.iter().flatten().map(|value| Bound::clone(value).unbind()).collect();
        for keep in call.kept {
            match keep {
                CallOwner::Object(object) => held.owners.push(object.unbind()),
                CallOwner::Text(text) => held.texts.push(text),
            }
        }
        Ok(BoundCall { kernel: slf.clone().unbind(), slots: call.slots, items, watched: Arc::new(watched), _objects: objects, _held: held })
    }

    /// What a call gives back.
    fn to_python(&self, py: Python<'_>, value: Option<Scalar>) -> PyResult<Py<PyAny>> {
        Ok(match value {
            None => py.None(),
            Some(Scalar::Bool(value)) => PyBool::new(py, value).to_owned().into_any().unbind(),
            Some(Scalar::Int(value)) => value.into_pyobject(py)?.into_any().unbind(),
            Some(Scalar::Float(value)) => PyFloat::new(py, value).into_any().unbind(),
            Some(Scalar::Complex(value)) => PyComplex::from_doubles(py, value.re, value.im).into_any().unbind(),
            Some(Scalar::Address(address)) => self.pointer_object(py, address)?,
        })
    }

    /// A `parloop.Pointer` to what the kernel says that it returns.
    fn pointer_object(&self, py: Python<'_>, address: u64) -> PyResult<Py<PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let class = CLASS.import(py, "parloop._pointer", "Pointer")?;
        let (dtype, name) = match &self.inner.signature().returns {
            Some(ParamType::Pointer { to: Pointee::Scalar(dtype), .. }) => (Some(dtype.name()), None),
            Some(ParamType::Pointer { to: Pointee::Char, .. }) => (Some(DType::I8.name()), None),
            Some(ParamType::Pointer { to: Pointee::Class(name) | Pointee::Other(name), .. }) => (None, Some(name)),
            _ => (None, None),
        };
        Ok(class.call1((address, dtype, name))?.unbind())
    }

    fn run(
        &self,
        py: Python<'_>,
        slots: &mut Slots,
        items: Option<Items>,
        staging: &Staging,
        objects: &mut Objects,
    ) -> Result<Option<Scalar>> {
        let kernel = &self.inner;
        let staging = Detached(staging);
        let work = move || {
            let staging = staging;
            // Held while Python is not, which may have to wait for a buffer that grows, and let go before Python is held again.
            let _holds = objects.hold(slots, kernel)?;
            // SAFETY: `fill` made a slot of the right type for each parameter; the objects behind them are borrowed until the call is
            // over, and memory of a GPU is freed in the order of its stream.
            let returned = unsafe {
                match items {
                    Some(items) => kernel.launch_over(slots, items)?,
                    None => kernel.launch(slots)?,
                }
            };
            if !staging.0.is_empty() {
                // SAFETY: the arrays are borrowed from the caller's arguments until this returns.
                unsafe { staging.0.read_back(kernel.stream())? };
            }
            Ok::<_, ker::KernelError>(returned)
        };
        Ok(released(py, work)?)
    }
}

/// Staged host data, used while Python is detached.
struct Detached<'a>(&'a Staging);
// SAFETY: the objects that lend the host data are borrowed for the whole call.
unsafe impl Send for Detached<'_> {}

#[pymethods]
impl Kernel {
    #[new]
    fn new_object(handoff: &Bound<'_, PyAny>) -> PyResult<Kernel> {
        Handoff::take(handoff)
    }

    /// Checks the arguments once and returns a call that repeats at almost no cost.
    #[pyo3(signature = (*args, **named))]
    fn bind<'py>(slf: &Bound<'py, Self>, args: &Bound<'py, PyTuple>, named: Option<&Bound<'py, PyDict>>) -> Result<Bound<'py, PyAny>> {
        let py = slf.py();
        let mut values: Vec<Bound<'_, PyAny>> = args.iter().collect();
        let mut names = Vec::new();
        for (name, value) in named.into_iter().flatten() {
            names.push(name);
            values.push(value);
        }
        let pointers: Vec<*mut ffi::PyObject> = values.iter().map(Bound::as_ptr).collect();
        let names = PyTuple::new(py, names)?;
        // SAFETY: laid out as a vectorcall lays out its arguments; `values` and `names` live to the end.
        let arguments = unsafe { Arguments::new(pointers.as_ptr(), args.len(), names.as_ptr()) };
        let call = Arc::new(Kernel::bound(slf, arguments)?);
        Ok(classes(py)?.bound.make(py, BoundKernel { call })?)
    }

    /// The same kernel with another grid: an integer, an argument's name, a tuple, or a function of the arguments.
    #[pyo3(signature = (grid, block=None))]
    fn with_grid<'py>(&self, py: Python<'py>, grid: &Bound<'py, PyAny>, block: Option<u32>) -> Result<Bound<'py, PyAny>> {
        let (grid, rule) = grid_of(grid)?;
        Ok(Kernel::new(py, self.inner.with_grid(grid, block)?, rule, self.classes.clone()).into_object(py)?)
    }

    /// The same kernel, launched on another stream of its device.
    fn on<'py>(&self, py: Python<'py>, stream: &Stream) -> Result<Bound<'py, PyAny>> {
        let rule = match &self.rule {
            GridRule::Own => GridRule::Own,
            GridRule::Function(function) => GridRule::Function(function.clone_ref(py)),
            GridRule::Axes(axes) => GridRule::Axes(axes.iter().map(|axis| axis.clone_ref(py)).collect()),
        };
        Ok(Kernel::new(py, self.inner.on(&stream.inner)?, rule, self.classes.clone()).into_object(py)?)
    }

    /// The kernel's name in the source.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.signature().name
    }

    /// The kernel's declaration, as it was read from the source.
    #[getter]
    fn signature(&self) -> String {
        self.inner.signature().to_string()
    }

    /// The names of its arguments, in order.
    #[getter]
    fn argument_names(&self) -> Vec<String> {
        self.inner.signature().params.iter().map(|param| param.name.clone()).collect()
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.py(), "kernel", (slf,))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }
}

/// A kernel bound to its arguments, ready for repeated launches.
#[pyclass(frozen, subclass, module = "parloop")]
pub struct BoundKernel {
    call: Arc<BoundCall>,
}

/// A call whose arguments were checked and are kept.
struct BoundCall {
    kernel: Py<Kernel>,
    slots: Slots,
    items: Option<Items>,
    watched: Arc<Watched>,
    _objects: Vec<Py<PyAny>>,
    _held: BoundOwners,
}

impl BoundCall {
    /// Adds it to the recording that is in progress.
    fn record(self: Arc<Self>, py: Python<'_>) -> Result<()> {
        self.watched.check(py, Kind::Bound)?;
        let kernel = &self.kernel.get().inner;
        let kept: Vec<KeepAlive> = vec![self.watched.clone(), self.clone()];
        let mut slots = self.slots.clone();
        // SAFETY: the slots were checked when they were made; the call keeps what owns the memory in them, and what could change where
        // it is, is looked at before each replay.
        unsafe {
            match self.items {
                Some(items) => kernel.record_over(&mut slots, items, kept)?,
                None => kernel.record(&mut slots, kept)?,
            }
        }
        Ok(())
    }
}

/// What a bound call holds beside the objects it was given.
#[derive(Default)]
#[allow(dead_code)] // held for its destructor
struct BoundOwners {
    owners: Vec<Py<PyAny>>,
    texts: Vec<CString>,
    _exports: Vec<parloop_device::Export>,
}

impl BoundKernel {
    fn call(&self, py: Python<'_>, arguments: Arguments<'_>) -> Result<Py<PyAny>> {
        if !arguments.is_empty() {
            return Err(PyTypeError::new_err("a bound kernel already has its arguments").into());
        }
        let call = &self.call;
        if call.kernel.get().inner.stream().is_recorded() {
            call.clone().record(py)?;
            return Ok(py.None());
        }
        call.watched.check(py, Kind::Bound)?;
        let kernel = call.kernel.get();
        let returned = kernel.run(py, &mut call.slots.clone(), call.items, &Staging::default(), &mut Objects::default())?;
        Ok(kernel.to_python(py, returned)?)
    }
}

#[pymethods]
impl BoundKernel {
    #[new]
    fn new_object(handoff: &Bound<'_, PyAny>) -> PyResult<BoundKernel> {
        Handoff::take(handoff)
    }

    fn __repr__(&self) -> String {
        format!("<bound {:?}>", self.call.kernel.get().inner)
    }
}
