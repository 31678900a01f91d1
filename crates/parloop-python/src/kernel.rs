//! `parloop.CompiledKernel` and `parloop.BoundKernel`: the call from Python to the kernel. This is the hottest path of the package:
//! no allocation, no dictionary look-up and no attribute access for NumPy arrays, floats and integers.

use std::ffi::CString;
use std::sync::Mutex;

use parloop_device::{Complex64, DType, DeviceKind};
use parloop_kernel as ker;
use parloop_kernel::{Checker, HostBytes, Items, ParamType, Pointee, Scalar, Slot, Slots, Staging};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyString, PyTuple};
use smallvec::SmallVec;

use crate::array::Array;
use crate::error::Result;
use crate::foreign::Foreign;
use crate::memory::Memory;
use crate::ndarray::NdArray;
use crate::program::grid_of;
use crate::stream::Stream;
use crate::vectorcall::{Arguments, CallableClass, run};

/// How a call finds its grid.
#[derive(Default)]
pub enum GridRule {
    /// As the kernel itself says.
    #[default]
    Own,
    /// A Python function of the arguments, by name.
    Function(Py<PyAny>),
    /// Integers or names of arguments, an axis each.
    Axes(Vec<Py<PyAny>>),
}

/// A compiled kernel; call it with its arguments by position or by name.
#[pyclass(frozen, subclass, name = "CompiledKernel", module = "parloop")]
pub struct Kernel {
    inner: ker::Kernel,
    names: Vec<Py<PyString>>,
    rule: GridRule,
}

/// An object on its way from Rust into the class that Python calls it through.
#[pyclass(frozen)]
struct Handoff(Mutex<Option<Arrival>>);

enum Arrival {
    Kernel(Kernel),
    Bound(Box<BoundKernel>),
}

impl Handoff {
    fn make<'py>(py: Python<'py>, class: &CallableClass, arrival: Arrival) -> PyResult<Bound<'py, PyAny>> {
        class.make(py, Bound::new(py, Handoff(Mutex::new(Some(arrival))))?.into_any())
    }

    fn take(object: &Bound<'_, PyAny>) -> PyResult<Arrival> {
        let handoff = object.cast::<Handoff>().ok();
        let arrival = handoff.and_then(|handoff| handoff.get().0.lock().unwrap_or_else(|e| e.into_inner()).take());
        arrival.ok_or_else(|| PyTypeError::new_err("kernels are made by Context.compile and by bind"))
    }
}

/// The classes through which Python calls kernels and bound kernels.
struct Classes {
    kernel: CallableClass,
    bound: CallableClass,
}

fn classes(py: Python<'_>) -> PyResult<&'static Classes> {
    static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();
    CLASSES.get_or_try_init(py, || {
        Ok(Classes {
            kernel: CallableClass::new(py.get_type::<Kernel>(), c"parloop.CompiledKernel", call_kernel)?,
            bound: CallableClass::new(py.get_type::<BoundKernel>(), c"parloop.BoundKernel", call_bound)?,
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
    unsafe { run::<Kernel>(callable, |kernel| Ok(kernel.get().call(kernel.py(), Arguments::new(args, count, names))?)) }
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

/// One borrowed argument for each parameter.
type Given<'a, 'py> = SmallVec<[Option<pyo3::Borrowed<'a, 'py, PyAny>>; 20]>;

/// What must live until a call is over.
type Kept<'py> = SmallVec<[Keep<'py>; 2]>;

#[allow(dead_code)] // held for its destructor
enum Keep<'py> {
    Object(Bound<'py, PyAny>),
    Text(CString),
    Memory(parloop_device::Memory),
}

impl Kernel {
    pub fn new(py: Python<'_>, inner: ker::Kernel, rule: GridRule) -> Kernel {
        let names = inner.signature().params.iter().map(|param| PyString::intern(py, &param.name).unbind()).collect();
        Kernel { inner, names, rule }
    }

    /// The kernel as an object that Python can call.
    pub fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Handoff::make(py, &classes(py)?.kernel, Arrival::Kernel(self))
    }

    fn call(&self, py: Python<'_>, arguments: Arguments<'_>) -> Result<Py<PyAny>> {
        let given = self.sort(py, arguments)?;
        let (mut staging, mut kept) = (Staging::default(), Kept::new());
        let slots = self.fill(&given, &mut staging, &mut kept)?;
        let items = self.items(py, &given)?;
        let returned = self.run(py, slots, items, &staging)?;
        Ok(to_python(py, returned)?)
    }

    /// Sorts positional and named arguments into the order of the parameters.
    fn sort<'a, 'py>(&self, py: Python<'py>, arguments: Arguments<'a>) -> Result<Given<'a, 'py>> {
        let count = self.names.len();
        let positional = arguments.positional();
        if positional.len() > count {
            return Err(ker::wrong_count(self.inner.signature(), positional.len()).into());
        }
        // SAFETY: the arguments of a call and their names are live objects, borrowed for `'a`.
        let borrow = |value| unsafe { pyo3::Borrowed::from_ptr(py, value) };
        let mut given: Given<'a, 'py> = positional.iter().map(|&value| Some(borrow(value))).collect();
        given.resize(count, None);
        // Names usually come in the order of the parameters, and are the very same interned strings.
        let mut expected = positional.len();
        for (name, value) in arguments.named() {
            let same = |known: &Py<PyString>| known.as_ptr() == name;
            let index = match self.names.get(expected).filter(|known| same(known)) {
                Some(_) => expected,
                None => match self.names.iter().position(same) {
                    Some(index) => index,
                    None => self.position_by_text(&borrow(name), expected)?,
                },
            };
            expected = index + 1;
            if given[index].replace(borrow(value)).is_some() {
                return Err(self.given_twice(index).into());
            }
        }
        Ok(given)
    }

    /// For a name that is not interned (as after `**`), or not known.
    fn position_by_text(&self, name: &Bound<'_, PyAny>, expected: usize) -> Result<usize> {
        let signature = self.inner.signature();
        let name = name.cast::<PyString>()?.to_str()?;
        if signature.params.get(expected).is_some_and(|param| param.name == name) {
            return Ok(expected);
        }
        let unknown = || {
            let (kernel, signature) = (signature.name.clone(), signature.params_text());
            ker::KernelError::UnknownArgument { kernel, name: name.to_owned(), signature }
        };
        Ok(signature.position(name).ok_or_else(unknown)?)
    }

    fn given_twice(&self, index: usize) -> ker::KernelError {
        let signature = self.inner.signature();
        ker::KernelError::GivenTwice { kernel: signature.name.clone(), name: signature.params[index].name.clone() }
    }

    fn fill<'py>(&self, given: &Given<'_, 'py>, staging: &mut Staging, kept: &mut Kept<'py>) -> Result<Slots> {
        let signature = self.inner.signature();
        let mut slots = Slots::new();
        for (index, value) in given.iter().enumerate() {
            let Some(value) = value else {
                let (kernel, param) = (signature.name.clone(), &signature.params[index]);
                let missing = ker::KernelError::MissingArgument { kernel, name: param.name.clone(), declared: param.ty.to_string() };
                return Err(missing.into());
            };
            let slot = match &signature.params[index].ty {
                ParamType::Scalar(dtype) => self.scalar(index, *dtype, value)?,
                ParamType::Pointer { to, constant } => self.pointer(index, to, *constant, value, staging, kept)?,
            };
            slots.push(slot);
        }
        Ok(slots)
    }

    fn checker(&self, index: usize) -> Checker<'_> {
        Checker { signature: self.inner.signature(), index }
    }

    fn scalar(&self, index: usize, dtype: DType, value: &Bound<'_, PyAny>) -> Result<Slot> {
        if dtype == DType::F64 && value.is_exact_instance_of::<PyFloat>() {
            // SAFETY: it is a float.
            return Ok([unsafe { ffi::PyFloat_AsDouble(value.as_ptr()) }.to_bits(), 0]);
        }
        if dtype == DType::I64 && value.is_exact_instance_of::<PyInt>() {
            let mut overflow = 0;
            // SAFETY: it is an int.
            let found = unsafe { ffi::PyLong_AsLongLongAndOverflow(value.as_ptr(), &mut overflow) };
            if overflow == 0 {
                return Ok([found as u64, 0]);
            }
        }
        Ok(self.checker(index).scalar(self.scalar_value(index, value)?)?)
    }

    fn scalar_value(&self, index: usize, value: &Bound<'_, PyAny>) -> Result<Scalar> {
        if value.is_instance_of::<PyBool>() {
            return Ok(Scalar::Bool(value.is_truthy()?));
        }
        if value.is_instance_of::<PyInt>() {
            return self.integer_value(index, value);
        }
        if value.is_instance_of::<PyFloat>() {
            return Ok(Scalar::Float(value.extract()?));
        }
        if let Ok(value) = value.cast::<PyComplex>() {
            use pyo3::types::PyComplexMethods;
            return Ok(Scalar::Complex(Complex64::new(value.real(), value.imag())));
        }
        match plain_number(value) {
            Some(number) => self.scalar_value(index, &number),
            None => Err(self.checker(index).wrong_type(describe(value), "pass a single value").into()),
        }
    }

    fn integer_value(&self, index: usize, value: &Bound<'_, PyAny>) -> Result<Scalar> {
        if let Ok(value) = value.extract::<i128>() {
            return Ok(Scalar::Int(value));
        }
        let takes_floats = matches!(self.inner.signature().params[index].ty, ParamType::Scalar(dtype) if !dtype.is_integer());
        match value.extract::<f64>() {
            Ok(value) if takes_floats => Ok(Scalar::Float(value)),
            _ => Err(self.too_large(index, value)),
        }
    }

    fn too_large(&self, index: usize, value: &Bound<'_, PyAny>) -> crate::error::Error {
        let signature = self.inner.signature();
        let param = &signature.params[index];
        let ParamType::Scalar(dtype) = param.ty else { return self.checker(index).wrong_type(describe(value), "").into() };
        let (kernel, name, declared) = (signature.name.clone(), param.name.clone(), param.ty.to_string());
        ker::KernelError::OutOfRange { kernel, name, declared, value: value.to_string(), dtype }.into()
    }

    fn pointer<'py>(
        &self,
        index: usize,
        to: &Pointee,
        constant: bool,
        value: &Bound<'py, PyAny>,
        staging: &mut Staging,
        kept: &mut Kept<'py>,
    ) -> Result<Slot> {
        // Each kind by its very class first: asking whether it is a subclass costs more than all the rest.
        if let Some(array) = NdArray::exactly(value)? {
            return self.ndarray_slot(index, to, constant, array, staging);
        }
        if let Ok(array) = value.cast::<Array>() {
            return self.array_slot(index, array.get(), kept);
        }
        if let Some(array) = NdArray::of(value)? {
            return self.ndarray_slot(index, to, constant, array, staging);
        }
        if value.is_none() {
            return Ok([0, 0]);
        }
        self.other_pointer(index, to, constant, value, staging, kept)
    }

    fn ndarray_slot(&self, index: usize, to: &Pointee, constant: bool, array: NdArray<'_, '_>, staging: &mut Staging) -> Result<Slot> {
        let Some(dtype) = array.dtype() else {
            return Err(self.checker(index).wrong_type(format!("an array of {}", array.dtype_name()), "convert it first").into());
        };
        let writeable = array.is_writeable();
        if *to != Pointee::Scalar(dtype) || !(writeable || constant) {
            self.checker(index).elements(Some(dtype), writeable)?;
        }
        if !array.is_contiguous() {
            return Err(self.checker(index).not_contiguous().into());
        }
        self.check_alignment(index, array.pointer() as u64, dtype)?;
        let host = HostBytes::new(array.pointer(), array.size() * dtype.size(), !constant);
        Ok(self.inner.host_slot(index, host, staging)?)
    }

    /// Compilers rely on elements at multiples of their size. Copies on a GPU are at such addresses always.
    fn check_alignment(&self, index: usize, address: u64, dtype: DType) -> Result<()> {
        let alignment = dtype.size().min(8) as u64;
        if address & (alignment - 1) != 0 && self.inner.is_cpu() { Err(self.checker(index).unaligned().into()) } else { Ok(()) }
    }

    fn array_slot(&self, index: usize, array: &Array, kept: &mut Kept<'_>) -> Result<Slot> {
        self.checker(index).elements(Some(array.dtype), array.writeable)?;
        if !array.layout.is_dense() {
            return Err(self.checker(index).not_contiguous().into());
        }
        if array.layout.offset == 0 {
            let slot = self.inner.memory_slot(&array.memory)?;
            self.check_alignment(index, slot[0], array.dtype)?;
            return Ok(slot);
        }
        let bytes = array.layout.size() * array.dtype.size();
        if array.memory.device().kind() == DeviceKind::OpenCl {
            // The part is an object of its own, which must be there when the kernel is queued; then the driver holds it.
            let part = array.memory.slice(array.layout.offset, bytes)?;
            let slot = self.inner.memory_slot(&part)?;
            kept.push(Keep::Memory(part));
            return Ok(slot);
        }
        let [handle, rest] = self.inner.memory_slot(&array.memory)?;
        self.check_alignment(index, handle + array.layout.offset as u64, array.dtype)?;
        Ok([handle + array.layout.offset as u64, rest])
    }

    fn other_pointer<'py>(
        &self,
        index: usize,
        to: &Pointee,
        constant: bool,
        value: &Bound<'py, PyAny>,
        staging: &mut Staging,
        kept: &mut Kept<'py>,
    ) -> Result<Slot> {
        if let Ok(memory) = value.cast::<Memory>() {
            return Ok(self.inner.memory_slot(&memory.get().inner)?);
        }
        let is_text = matches!(to, Pointee::Char | Pointee::Void | Pointee::Scalar(DType::I8 | DType::U8));
        if let Ok(text) = value.cast::<PyString>() {
            if !is_text || !constant {
                return Err(self.checker(index).wrong_type("text", "declare it `const char *`").into());
            }
            let text =
                CString::new(text.to_str()?).map_err(|_| PyValueError::new_err("text for a C kernel cannot hold a NUL character"))?;
            let bytes = text.as_bytes_with_nul();
            let slot = self.inner.host_slot(index, HostBytes::new(bytes.as_ptr().cast_mut(), bytes.len(), false), staging)?;
            kept.push(Keep::Text(text));
            return Ok(slot);
        }
        if let Ok(bytes) = value.cast::<PyBytes>()
            && is_text
            && constant
        {
            // The bytes of a Python object are followed by a NUL, as C expects.
            let bytes = bytes.as_bytes();
            return Ok(self.inner.host_slot(index, HostBytes::new(bytes.as_ptr().cast_mut(), bytes.len() + 1, false), staging)?);
        }
        let Some(foreign) = Foreign::of(value)? else {
            return Err(self.checker(index).wrong_type(describe(value), "pass an array").into());
        };
        self.checker(index).elements(Some(foreign.dtype), foreign.writeable)?;
        if !foreign.is_contiguous() {
            return Err(self.checker(index).not_contiguous().into());
        }
        self.check_alignment(index, foreign.pointer, foreign.dtype)?;
        let bytes = foreign.size() * foreign.dtype.size();
        let slot = match &foreign.device {
            None => self.inner.host_slot(index, HostBytes::new(foreign.pointer as *mut u8, bytes, !constant), staging)?,
            Some(device) if device.same(self.inner.function().device()) => [foreign.pointer, 0],
            Some(device) => {
                return Err(self
                    .checker(index)
                    .wrong_type(format!("an array on {}", device.id()), "copy it to the kernel's device")
                    .into());
            }
        };
        kept.push(Keep::Object(foreign.owner));
        Ok(slot)
    }

    /// How many items a call has whose grid Python decides; `None` leaves it to the kernel.
    fn items<'py>(&self, py: Python<'py>, given: &Given<'_, 'py>) -> Result<Option<Items>> {
        let value_of = |index: usize| given[index].map(|value| value.to_owned());
        match &self.rule {
            GridRule::Own => Ok(None),
            GridRule::Function(function) => {
                let named = PyDict::new(py);
                for (index, name) in self.names.iter().enumerate() {
                    named.set_item(name, value_of(index))?;
                }
                items_of(&function.bind(py).call((), Some(&named))?).map(Some)
            }
            GridRule::Axes(axes) => {
                let mut items = [1; 3];
                for (axis, wanted) in axes.iter().enumerate() {
                    let wanted = wanted.bind(py);
                    let value = match wanted.extract::<String>() {
                        Ok(name) => {
                            let index = self.inner.signature().position(&name);
                            index
                                .and_then(value_of)
                                .ok_or_else(|| PyValueError::new_err(format!("the grid names `{name}`, which is no argument")))?
                        }
                        Err(_) => wanted.clone(),
                    };
                    items[axis] = value.extract::<u64>()?;
                }
                Ok(Some(Items::Axes(items)))
            }
        }
    }

    fn run(&self, py: Python<'_>, slots: Slots, items: Option<Items>, staging: &Staging) -> Result<Option<Scalar>> {
        let kernel = &self.inner;
        let staging = Detached(staging);
        let work = move || {
            let (mut slots, staging) = (slots, staging);
            // SAFETY: `fill` made a slot of the right type for each parameter; the objects behind them are borrowed until the call is
            // over, and memory of a GPU is freed in the order of its stream.
            let returned = unsafe {
                match items {
                    Some(items) => kernel.launch_over(&mut slots, items)?,
                    None => kernel.launch(&mut slots)?,
                }
            };
            if !staging.0.is_empty() {
                // SAFETY: the arrays are borrowed from the caller's arguments until this returns.
                unsafe { staging.0.read_back(kernel.stream())? };
            }
            Ok::<_, ker::KernelError>(returned)
        };
        Ok(py.detach(work)?)
    }
}

/// Staged host data, used while Python is detached.
struct Detached<'a>(&'a Staging);
// SAFETY: the objects that lend the host data are borrowed for the whole call.
unsafe impl Send for Detached<'_> {}

/// The Python number that an object of another type stands for: a NumPy scalar, an array of one element without axes, or an object
/// that converts itself.
fn plain_number<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let is_number = |number: &Bound<'py, PyAny>| {
        number.is_instance_of::<PyInt>() || number.is_instance_of::<PyFloat>() || number.is_instance_of::<PyComplex>()
    };
    let axes = value.getattr("ndim").and_then(|ndim| ndim.extract::<usize>()).ok();
    let methods: &[&str] = match axes {
        // A date's item is an integer, and text becomes a float, but neither is a number.
        Some(0) if value.getattr("dtype").and_then(|dtype| dtype.getattr("kind")).is_ok_and(|kind| is_numeric(&kind)) => {
            &["item", "__index__", "__float__"]
        }
        Some(_) => &[],
        None => &["__index__", "__float__"],
    };
    methods.iter().find_map(|method| value.call_method0(*method).ok().filter(is_number))
}

/// Whether this letter stands for truth values, integers, floats or complex numbers.
fn is_numeric(kind: &Bound<'_, PyAny>) -> bool {
    kind.extract::<String>().is_ok_and(|kind| "biufc".contains(&*kind))
}

fn items_of(value: &Bound<'_, PyAny>) -> Result<Items> {
    if let Ok(items) = value.extract::<u64>() {
        return Ok(Items::Line(items));
    }
    let axes: Vec<u64> =
        value.extract().map_err(|_| PyTypeError::new_err(format!("a grid is an integer or a tuple of integers, not {value}")))?;
    match *axes {
        [x] => Ok(Items::Line(x)),
        [x, y] => Ok(Items::Axes([x, y, 1])),
        [x, y, z] => Ok(Items::Axes([x, y, z])),
        _ => Err(PyValueError::new_err(format!("a grid has one to three axes, not {}", axes.len())).into()),
    }
}

fn describe(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "this".into(), |name| format!("an object of type {name}"))
}

fn to_python(py: Python<'_>, value: Option<Scalar>) -> PyResult<Py<PyAny>> {
    Ok(match value {
        None => py.None(),
        Some(Scalar::Bool(value)) => PyBool::new(py, value).to_owned().into_any().unbind(),
        Some(Scalar::Int(value)) => value.into_pyobject(py)?.into_any().unbind(),
        Some(Scalar::Float(value)) => PyFloat::new(py, value).into_any().unbind(),
        Some(Scalar::Complex(value)) => PyComplex::from_doubles(py, value.re, value.im).into_any().unbind(),
    })
}

#[pymethods]
impl Kernel {
    #[new]
    fn new_object(handoff: &Bound<'_, PyAny>) -> PyResult<Kernel> {
        match Handoff::take(handoff)? {
            Arrival::Kernel(kernel) => Ok(kernel),
            Arrival::Bound(_) => Err(PyTypeError::new_err("a bound kernel is no kernel")),
        }
    }

    /// Checks the arguments once and returns a call that repeats at almost no cost.
    #[pyo3(signature = (*args, **named))]
    fn bind<'py>(slf: &Bound<'py, Self>, args: &Bound<'py, PyTuple>, named: Option<&Bound<'py, PyDict>>) -> Result<Bound<'py, PyAny>> {
        let this = slf.get();
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
        let given = this.sort(py, unsafe { Arguments::new(pointers.as_ptr(), args.len(), names.as_ptr()) })?;
        let (mut staging, mut kept) = (Staging::default(), Kept::new());
        let slots = this.fill(&given, &mut staging, &mut kept)?;
        if !staging.is_empty() {
            let reason = "host arrays cannot be bound on a GPU, since each call would copy them; put them there with ctx.array(…)";
            return Err(PyValueError::new_err(reason).into());
        }
        let items = this.items(py, &given)?;
        let mut arrays = Vec::new();
        for (index, value) in given.iter().enumerate() {
            if let Some(value) = value
                && let Some(array) = NdArray::of(value)?
            {
                arrays.push(BoundArray { index, address: array.pointer() as usize, size: array.size() });
            }
        }
        let objects = given.iter().flatten().map(|value| Bound::clone(value).unbind()).collect();
        let mut held = Held::default();
        for keep in kept {
            match keep {
                Keep::Object(object) => held.owners.push(object.unbind()),
                Keep::Text(text) => held.texts.push(text),
                Keep::Memory(memory) => held.memories.push(memory),
            }
        }
        let bound = BoundKernel { kernel: slf.clone().unbind(), slots, items, arrays, objects, _held: held };
        Ok(Handoff::make(py, &classes(py)?.bound, Arrival::Bound(Box::new(bound)))?)
    }

    /// The same kernel with another grid: an integer, an argument's name, a tuple, or a function of the arguments.
    #[pyo3(signature = (grid, block=None))]
    fn with_grid<'py>(&self, py: Python<'py>, grid: &Bound<'py, PyAny>, block: Option<u32>) -> Result<Bound<'py, PyAny>> {
        let (grid, rule) = grid_of(grid)?;
        Ok(Kernel::new(py, self.inner.with_grid(grid, block)?, rule).into_object(py)?)
    }

    /// The same kernel, launched on another stream of its device.
    fn on<'py>(&self, py: Python<'py>, stream: &Stream) -> Result<Bound<'py, PyAny>> {
        let rule = match &self.rule {
            GridRule::Own => GridRule::Own,
            GridRule::Function(function) => GridRule::Function(function.clone_ref(py)),
            GridRule::Axes(axes) => GridRule::Axes(axes.iter().map(|axis| axis.clone_ref(py)).collect()),
        };
        Ok(Kernel::new(py, self.inner.on(&stream.inner)?, rule).into_object(py)?)
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

    fn __repr__(&self) -> String {
        format!("{:?}", self.inner)
    }
}

/// A NumPy array of a bound call, as it was when it was bound.
struct BoundArray {
    index: usize,
    address: usize,
    size: usize,
}

/// A kernel with its arguments, ready to run again and again.
#[pyclass(frozen, subclass, module = "parloop")]
pub struct BoundKernel {
    kernel: Py<Kernel>,
    slots: Slots,
    items: Option<Items>,
    arrays: Vec<BoundArray>,
    objects: Vec<Py<PyAny>>,
    _held: Held,
}

/// What a bound call holds beside the objects it was given.
#[derive(Default)]
#[allow(dead_code)] // held for its destructor
struct Held {
    owners: Vec<Py<PyAny>>,
    texts: Vec<CString>,
    memories: Vec<parloop_device::Memory>,
}

impl BoundKernel {
    fn call(&self, py: Python<'_>, arguments: Arguments<'_>) -> Result<Py<PyAny>> {
        if !arguments.is_empty() {
            return Err(PyTypeError::new_err("a bound kernel has its arguments already").into());
        }
        for bound in &self.arrays {
            let object = self.objects[bound.index].bind(py);
            let unchanged =
                NdArray::of(object)?.is_some_and(|array| array.pointer() as usize == bound.address && array.size() == bound.size);
            if !unchanged {
                let name = &self.kernel.get().inner.signature().params[bound.index].name;
                return Err(PyValueError::new_err(format!("array `{name}` was resized after it was bound; bind it again")).into());
            }
        }
        let returned = self.kernel.get().run(py, self.slots.clone(), self.items, &Staging::default())?;
        Ok(to_python(py, returned)?)
    }
}

#[pymethods]
impl BoundKernel {
    #[new]
    fn new_object(handoff: &Bound<'_, PyAny>) -> PyResult<BoundKernel> {
        match Handoff::take(handoff)? {
            Arrival::Bound(bound) => Ok(*bound),
            Arrival::Kernel(_) => Err(PyTypeError::new_err("a kernel is not bound yet")),
        }
    }

    fn __repr__(&self) -> String {
        format!("<bound {:?}>", self.kernel.get().inner)
    }
}
